"""Tidying: bring USER.md back to a length that every prompt can carry, by moving its less essential facts to
`facts/user.md`.

No fact changes, which is proved before anything is written. The page with additions is written first: a crash in
between leaves a fact on both pages, never on none, and the next tidying removes one of its lines.
"""

from __future__ import annotations

from functools import partial
from itertools import dropwhile, islice

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import CONFIDENCE, LEVELS, is_own, is_trusted, level_of
from looseleaf.base.paths import ARCHIVE, PINNED, PROFILE, PROJECT, STATE, USER
from looseleaf.base.values import Fact
from looseleaf.facts.gate import LONGEST
from looseleaf.facts.ledger import copy_id, fact_id
from looseleaf.facts.page_lines import is_same_fact
from looseleaf.facts.placement import LINES, PlacePlan, PlannedLine, is_passed, page_of
from looseleaf.language.relations import SALIENCE
from looseleaf.log.journal import EXTERNAL, PERSON, PROGRAM, make_edit
from looseleaf.log.recorder import stream_of
from looseleaf.log.turns import traces_back
from looseleaf.pages.grammar import add_fact, as_written, new_page, parse, remove_line, set_updated
from looseleaf.pages.pages import Rewritten, try_to
from looseleaf.place import tidy_plan
from looseleaf.place.placer import find_line_on, known, with_episode
from looseleaf.place.tidy_plan import PAGE
from looseleaf.state.rules import short, title_of
from looseleaf.store import JOURNAL
from looseleaf.store.reading import read_and_write
from looseleaf.text.lines import heading_words, is_found, undoubted
from looseleaf.text.times import day, moment, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from looseleaf.base.values import Edit, Kind, Receipt
    from looseleaf.pages.pages import Page
    from looseleaf.place.placer import PlacerNeeds
    from looseleaf.place.tidy_plan import TidyPlan
    from looseleaf.state.rules import Item, StateChange
    from looseleaf.store.context import Context

    Step = tuple[Page, Rewritten, str]
    """A page as it was read, its new text, and the reason."""


# --- promotion: items that leave the state go to a page first ---------------------------

SETTLED_REASON = f"settled: moved from {STATE}"

_DAY = 86_400.0
_OWN_IDS = ("D-", "T-")


class Promotion:
    """Writes items that leave the state. Use it under the lock. `author`: the author of the change; `edits` receives
    the ids of its edits, even if it fails."""

    def __init__(self, context: Context, parts: PlacerNeeds, author: str, edits: list[str]) -> None:
        self._trusts = context.policy.trust_external_edits
        self._parts = parts
        self._author = author
        self.edits = edits

    def __call__(self, change: StateChange, ts: float) -> None:
        """Write the items that a change removes from the state, at the time of the change."""
        for task in change.done:
            self._write_episode(task, ts)
        if change.done:
            self._end_facts(change.done, ts)
        if change.settled or change.parked:
            self._write_facts(change)

    def _write_episode(self, task: Item, ts: float) -> None:
        path = f"episodes/{day(ts)[:7]}.md"
        title = title_of(task)
        own = {"Task": title, "Id": _member_of(task, "id"), "Since": _member_of(task, "updated_at")}
        status = _member_of(task, "status")
        status = status if status.casefold() not in ("open", "done") else ""
        fields = [("Date", day(ts)), ("Task", title), ("Status", status), *list(own.items())[1:]]
        # It may have been written just before midnight, and this is the next try.
        before = f"episodes/{day(ts - _DAY)[:7]}.md"
        if before != path and _has_episode(before, self._parts.pages.page(before).text, own):
            return

        def change(text: str) -> Rewritten:
            if _has_episode(path, text, own):
                return Rewritten(text)
            return Rewritten(with_episode(path, text, heading_words(title) or "A task", fields))

        receipt = self._parts.pages.rewrite(path, change, reason=SETTLED_REASON)
        self.edits += [receipt.id] if receipt.changed else []

    def _end_facts(self, tasks: Iterable[Item], ts: float) -> None:
        """End the fact of a done task: a crash may have left one for which there was no room."""
        titles = {title_of(task).casefold() for task in tasks}
        facts = self._parts.known
        facts.catch_up()
        plan = PlacePlan("", 0.0, facts.of, lambda proposal: PROJECT)
        for fact in facts.of(PROJECT):
            # It quotes a title, and no entry proposed it.
            is_promoted = fact.relation in ("Plan", "Decision") and fact.quote and fact.entry_id is None
            is_standing = fact.status == "current" and fact.path is not None
            if is_standing and is_promoted and (fact.quote or "").casefold() in titles:
                plan.lines.setdefault(fact.path or "", []).append(PlannedLine(remove=fact))
                plan.ended.setdefault(PROJECT, []).append((fact.id or "", written(ts), None))
        if plan.lines:
            self.edits += self._parts.placer.apply(plan, reason=SETTLED_REASON)

    def _write_facts(self, change: StateChange) -> None:
        facts = self._parts.known
        facts.catch_up()
        held = facts.of(PROJECT)
        made = [self._make_fact(item, "decisions_recent", "Decision", "decision") for item in change.settled]
        made += [self._make_fact(item, "tasks_open", "Plan", "commitment") for item in change.parked]
        plan = PlacePlan("", 0.0, facts.of, lambda proposal: PROJECT)
        for fact in made:
            if not any(_covers(each, fact) for each in held):
                plan.lines.setdefault(page_of(fact), []).append(PlannedLine(fact))
                held.append(fact)
        if plan.lines:
            self.edits += self._parts.placer.apply(plan, reason=SETTLED_REASON)

    def _make_fact(self, item: Item, where: str, relation: str, kind: Kind) -> Fact:
        title = title_of(item)
        name, why = _member_of(item, "id"), _member_of(item, "why")
        since = _member_of(item, "ts") or _member_of(item, "updated_at")
        name = name if name[:2] not in _OWN_IDS else ""
        said = "; ".join(each for each in (name, f"why: {why}" if why else "") if each)
        whole = f"{title} ({short(said, LONGEST)})" if said else title
        relation, said = as_written(relation, whole)
        values = self._parts.state.provenance.values()
        first = values.get((where, title))
        more = [(where, title, member, each) for member, each in (("id", name), ("why", why)) if each]
        # A fact made of several authors' words has their lowest level.
        by = (values[part].author if part in values else self._author for part in ((where, title), *more))
        origin = min(map(self._origin_of, by), key=lambda each: LEVELS.index(level_of(each)))
        level = level_of(origin)
        held_since = moment(since) if since else None
        fact = Fact(
            PROJECT, PROJECT, relation, said, kind, id=fact_id(STATE, relation, said, since), level=level
        )
        return fact.but(
            confidence=CONFIDENCE[level],
            salience=SALIENCE[kind],
            sources=(f"{STATE}@{first.edit}",) if first is not None else (),
            quote=title or None,
            origin=origin,
            valid_from=written(held_since if held_since is not None else clock.now()),
        )

    def _origin_of(self, author: str) -> str:
        """Return whose words they are. The program itself writes only the user's statements into the state."""
        if author == PERSON or (author == EXTERNAL and self._trusts):
            return "person"
        return "user" if author == PROGRAM else "assistant"


def _member_of(item: Item, name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _has_episode(path: str, text: str, own: dict[str, str]) -> bool:
    wanted = {name: short(value, len(value)) for name, value in own.items()}
    there = ({name: each.get(name) or "" for name in wanted} for each in parse(path, text).episodes)
    return any(each == wanted for each in there)


def _covers(held: Fact, fact: Fact) -> bool:
    """Return True if nothing needs to be written: it stands there, a better fact was made of the same sentence, or it
    was removed since."""
    title = (fact.quote or "").casefold()
    # If its value is not its title, the fact says more: why.
    is_told = is_trusted(held.level) and fact.object.casefold() == title in (held.quote or "").casefold()
    is_told = is_told and bool(held.object) and held.object.casefold() in title
    if not (is_told or is_same_fact(held, fact)):
        return False
    if held.status == "current":
        return True
    ended = held.valid_to or written(held.recorded_at or 0.0)
    return held.status in ("rejected", "superseded") and ended >= (fact.valid_from or "")


# --- archive: agents' findings that went unused for a season move to an archive page, where they can still be found ---

UNUSED = 90 * 86_400.0
"""The seconds after which an unused finding is archived."""
ARCHIVED_REASON = "archived: not used for 90 days"


class Archive:
    """Archives unused findings."""

    def __init__(self, context: Context, parts: PlacerNeeds) -> None:
        self._store, self._note = context.store, context.note
        self._stream = stream_of(context.agent)
        self._parts = parts

    def __call__(self) -> int:
        """Move unused findings, and return the number of lines."""
        return read_and_write(self._store, self._move_unused)

    def _move_unused(self) -> int:
        self._parts.known.catch_up()
        since = clock.now() - UNUSED
        findings = [fact for fact in self._parts.known.all() if _is_finding(fact)]
        old = [fact for fact in findings if max(fact.recorded_at or 0.0, fact.said_at or 0.0) < since]
        if not old:
            return 0
        shown = self._shown_since(since)
        idle = [fact for fact in old if undoubted(fact.object).casefold() not in shown]
        moved = 0
        for topic in dict.fromkeys(fact.topic for fact in idle):
            some = [fact for fact in idle if fact.topic == topic]
            moved += try_to(partial(self._move, topic, some), self._note) or 0
        return moved

    def _shown_since(self, since: float) -> str:
        """Return what our tools showed since then."""
        found: list[str] = []
        for trace in traces_back(self._store, self._stream):
            if trace.ts < since:
                break
            if trace.trace_type == "tool_result" and is_own(trace.tool_name):
                found.append(f"{trace.content}{trace.tool_result or ''}".casefold())
        return "\n".join(found)

    def _move(self, topic: str, facts: Sequence[Fact]) -> int:
        target, source = f"facts/{topic}{ARCHIVE}.md", f"facts/{topic}.md"
        with self._parts.pages.absorb.threads, self._store.lock():
            self._parts.pages.absorb.refuse_held(target, source)
            self._parts.pages.rewrite(target, partial(_add_lines, target, facts), reason=ARCHIVED_REASON)
            self._parts.pages.rewrite(source, partial(_remove_lines, source, facts), reason=ARCHIVED_REASON)
            self._parts.known.catch_up()
        return len(facts)


def _is_finding(fact: Fact) -> bool:
    is_here = fact.path == f"facts/{fact.topic}.md" and not fact.topic.endswith(ARCHIVE)
    return fact.status == "current" and is_here and fact.level == "tainted" and is_found(fact.object)


def _add_lines(path: str, facts: Sequence[Fact], text: str) -> Rewritten:
    new = text or new_page(path)
    there = {(fact.relation, fact.object) for fact in parse(path, new).facts}
    topic = path.removeprefix("facts/").removesuffix(".md")
    told = []
    for fact in facts:
        if (fact.relation, fact.object) not in there:
            new = add_fact(new, path, fact.relation, fact.object, found=True)
            told.append(known(fact.but(id=fact_id(fact.id or "", path), topic=topic, subject=topic)))
    return Rewritten(new if told else text, tuple(told))


def _remove_lines(path: str, facts: Sequence[Fact], text: str) -> Rewritten:
    for fact in facts:
        text = remove_line(text, find_line_on(fact, path, text))
    return Rewritten(text)


# --- tidying ----------------------------------------------------------------------------

REASON = "tidy: "
"""The beginning of the reasons of these edits. They show when USER.md was last tidied."""

_TRIES = 20
"""The number of new plans if a page is saved meanwhile."""


@frozen
class Tidied:
    """The facts that moved to `facts/user.md`, or would move. `merged`: those of `moved` that stood there already;
    `note`: a sentence if USER.md is still too long."""

    moved: tuple[Fact, ...]
    merged: tuple[Fact, ...]
    before: int
    after: int
    limit: int
    note: str
    edits: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "moved": [fact.to_dict() for fact in self.moved],
            "merged": [fact.id for fact in self.merged],
            "tokens_before": self.before,
            "tokens_after": self.after,
            "limit": self.limit,
            "note": self.note,
            "edits": list(self.edits),
        }


class _PageChanged(Exception):
    """A page changed after planning: it was saved meanwhile, and that text counts."""


class Tidy:
    """Tidies USER.md."""

    def __init__(self, context: Context, parts: PlacerNeeds) -> None:
        self._store, self._policy = context.store, context.policy
        self._count, self._note = context.count, context.note
        self._parts = parts

    def __call__(self, *, dry_run: bool = False) -> Tidied:
        """Move less essential facts until USER.md is short enough. `dry_run` only reports what would move."""
        edits: list[str] = []
        first: int | None = None
        limit = self._policy.profile_tokens
        for _ in range(_TRIES):
            with self._parts.pages.absorb.threads, self._store.lock():
                self._parts.placer.catch_up()
                self._parts.pages.absorb.refuse_held(PROFILE, PAGE)
                profile, page = self._parts.pages.page(PROFILE), self._parts.pages.page(PAGE)
                facts, texts = self._parts.known.of(USER), (_decode(profile), _decode(page))
                limits = limit, int(limit * self._policy.tidy_to)
                today = day(clock.now())
                planned = tidy_plan.plan(facts, *texts, self._size, *limits, self._update_summary, today)
                first = planned.before if first is None else first
                try:
                    if not dry_run:
                        self._write(planned, profile, page, edits)
                except _PageChanged:
                    continue
                return self._report(planned, first, tuple(edits))
        raise Refused(
            f"{PROFILE} was not tidied: something else keeps saving it. Close the program that does, and repeat."
        )

    def _size(self, text: str) -> int:
        """Return its tokens; many short lines count like many words."""
        lines = len(parse(PROFILE, text).facts)
        return max(self._count(text), lines * self._policy.profile_tokens // LINES)

    def _update_summary(self, text: str) -> str:
        """Update a summary by rule to what is left; another author's stays, and a page without one gets none."""
        sheet = self._parts.known.sheet(PROFILE)
        if sheet is None or not sheet.is_summary_by_rule or not parse(PROFILE, text).summary:
            return text
        return self._parts.placer.summarised(PROFILE, text)

    def _report(self, planned: TidyPlan, before: int, edits: tuple[str, ...]) -> Tidied:
        limit, after = self._policy.profile_tokens, planned.after
        note = (
            f"{PROFILE} has {after:,} tokens without them, and should have at most {limit:,}: what is left is "
            "prose, headings and lines that others belong to, which only you may move. Shorten it by hand."
        )
        merged = tuple(fact for fact, _ in planned.merged)
        return Tidied(planned.moved, merged, before, after, limit, note if after > limit else "", edits)

    def _write(self, planned: TidyPlan, profile: Page, page: Page, edits: list[str]) -> None:
        """Write both pages, or nothing. The second page first."""
        now = clock.now()
        told = tuple(known(fact) for fact in planned.told)
        text = planned.page
        if text != page.text:
            text = self._parts.placer.summarised(PAGE, set_updated(text, PAGE, day(now)), told)
        count = len(planned.moved)
        number = f"{count} fact{'s' * (count != 1)}" if count else "second lines"
        profile_now = Rewritten(planned.profile, (), planned.ended(written(now)))
        steps = self._in_order(
            (page, Rewritten(text, told), f"{REASON}{number} from {PROFILE}"),
            (profile, profile_now, f"{REASON}{number} to {PAGE}"),
        )
        self._prove(planned, steps, now)
        for old, new, reason in steps:
            if new.text != old.text:
                change = self._change_only(old, profile, new)
                edits.append(self._parts.pages.rewrite(old.path, change, reason=reason).id)
                self._parts.known.catch_up()

    def _in_order(self, arrival: Step, departure: Step) -> tuple[Step, Step]:
        """Return the steps in order: a fact arrives before it departs."""
        return arrival, departure

    def _change_only(self, old: Page, profile: Page, new: Rewritten) -> Callable[[str], Rewritten]:
        """Return a change that applies only to the text that was read, and while USER.md is as it was read."""

        def change(text: str) -> Rewritten:
            if text != old.text or self._parts.pages.absorb.heads.get(PROFILE).sha256 != profile.sha256:
                raise _PageChanged
            return new

        return change

    def _prove(self, planned: TidyPlan, steps: tuple[Step, ...], now: float) -> None:
        """Fold both edits into a copy of the ledger: the facts after must be the facts before, or refuse."""
        edits = []
        for old, new, reason in steps:
            if new.text != old.text:
                made = partial(make_edit, f"{REASON}{old.path}", now, old.path, PROGRAM, reason)
                data = old.data if old.exists else None
                edits.append(made(data, new.text.encode(), facts=new.facts, ended=new.ended))
        sheets = [sheet for sheet in map(self._parts.known.sheet, (PROFILE, PAGE)) if sheet is not None]
        wrong = tidy_plan.find_changed(edits, self._parts.known.of(USER), sheets, planned)
        if wrong:
            raise Refused(
                f"{PROFILE} was not tidied: “{wrong[0].relation}: {wrong[0].object}” ({wrong[0].id}) would not be the "
                f"same fact afterwards. Move lines to {PAGE} by hand instead."
            )

    def undo(self, author: str | None) -> tuple[Edit, Receipt] | None:
        """Undo both edits of a tidying, if it was the last change; else return None."""
        with self._parts.pages.absorb.threads, self._store.lock():
            self._parts.pages.absorb()
            last = self._parts.pages.history.last_to_undo(None)
            first = self._find_first_edit(last) if last is not None and last.path == PROFILE else None
            if last is None or first is None:
                return None
            self._parts.pages.absorb.refuse_held(PROFILE, PAGE)
            self._parts.pages.undo(PROFILE, author=author)
            _, receipt = self._parts.pages.undo(PAGE, author=author)
            self._parts.known.catch_up()
        return last, receipt

    def _find_first_edit(self, last: Edit) -> Edit | None:
        """Return the other edit of the tidying that this one ended: right before it, and on a page unchanged since."""
        edits = dropwhile(lambda edit: edit.id != last.id, self._parts.pages.history.back())
        own = (edit for edit in islice(edits, 2) if edit.author == PROGRAM)
        pair = [edit for edit in own if edit.reason.startswith(REASON)]
        if len(pair) < 2 or pair[1].path != PAGE:
            return None
        there = self._parts.pages.history.last_to_undo(PAGE)
        return there if there is not None and there.id == pair[1].id else None

    def after_placing(self) -> None:
        """Finish what a crash interrupted; if configured, tidy once in a while. A failure is noted."""
        try:
            page = self._parts.pages.page(PROFILE)
            # A token is at least a byte: a short page needs no counting.
            is_long = self._policy.tidy and len(page.data) > self._policy.profile_tokens
            if self._is_unfinished() or len(page.facts) > LINES or (is_long and self._is_due()):
                self()
        except Refused as refused:
            self._note(str(refused))

    def _is_unfinished(self) -> bool:
        """Return True if a fact stands on both pages, or a plan on USER.md is over."""
        facts, today = self._parts.known.of(USER), day(clock.now())
        there = {fact.id for fact in facts if fact.path == PAGE}
        here = (fact for fact in facts if fact.path == PROFILE and fact.status == "current")
        is_twice = bool(there) and any(copy_id(fact.id or "") in there for fact in facts)
        return is_twice or any(is_passed(fact, today) and PINNED not in fact.tags for fact in here)

    def _is_due(self) -> bool:
        since = clock.now() - self._policy.tidy_days * 86_400
        for line in self._store.read_back(JOURNAL):
            record = line.record
            if float(record.get("ts") or 0.0) < since:
                break
            if record.get("author") == PROGRAM and str(record.get("reason")).startswith(REASON):
                return False
        return True


def _decode(page: Page) -> str:
    try:
        return page.data.decode()
    except UnicodeDecodeError:
        raise Refused(
            f"{PROFILE} was not tidied: {page.path} is not UTF-8 text. Save it as UTF-8 with an editor, and repeat."
        ) from None
