"""Promotion: what leaves the state goes to a page first. A task that is done becomes an episode, a decision that is
settled a fact, and so does an open task for which the state has no room.

Invariant: it is written before the state shrinks, so a crash in between leaves a copy and never a hole; written again,
it is there once. A fact has the level of whoever put the words into the state, and no higher.
"""

from __future__ import annotations

from looseleaf.base import clock
from looseleaf.base.origins import CONFIDENCE, LEVELS, is_trusted, level_of
from looseleaf.base.page_paths import STATE
from looseleaf.base.values import Fact
from looseleaf.facts.gate import LONGEST
from looseleaf.facts.ledger import fact_id
from looseleaf.facts.page_changes import Line, page_of
from looseleaf.facts.placement import PROJECT, Plan
from looseleaf.language.relations import SALIENCE
from looseleaf.language.slots import slot
from looseleaf.language.value_keys import key
from looseleaf.log.heads import EXTERNAL, PERSON, PROGRAM
from looseleaf.pages.grammar import add_episode, as_written, parse, set_summary, summary_of
from looseleaf.pages.page import Rewritten
from looseleaf.state.rules import short, title_of
from looseleaf.text.lines import heading_words
from looseleaf.text.moments import moment
from looseleaf.text.times import day, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.base.values import Kind
    from looseleaf.pages.pages import Pages
    from looseleaf.place.placer import Place
    from looseleaf.state.provenance import Provenance
    from looseleaf.state.rules import Change, Item

REASON = f"settled: moved from {STATE}"

_DAY = 86_400.0
_OWN_IDS = ("D-", "T-")


class Promotion:
    """To be used under the lock. `author`: who makes this change. `trusts`: edits found on disk are a person's."""

    def __init__(
        self, pages: Pages, place: Place, provenance: Provenance, author: str, *, trusts: bool
    ) -> None:
        self._pages = pages
        self._place = place
        self._provenance = provenance
        self._author = author
        self._trusts = trusts
        self.edits: list[str] = []
        """The edits that were made."""

    def __call__(self, change: Change, ts: float) -> None:
        """Write what a change takes out of the state, at the time at which it does."""
        for task in change.done:
            self._episode(task, ts)
        if change.done:
            self._end(change.done, ts)
        if change.settled or change.parked:
            self._facts(change)

    # --- tasks that are done ------------------------------------------------------------------

    def _episode(self, task: Item, ts: float) -> None:
        path = f"episodes/{day(ts)[:7]}.md"
        title = title_of(task)
        own = {"Task": title, "Id": _member(task, "id"), "Since": _member(task, "updated_at")}
        status = _member(task, "status")
        fields = [("Date", day(ts)), ("Task", title)]
        fields += [("Status", status)] if status and status.casefold() not in ("open", "done") else []
        fields += [(name, said) for name, said in own.items() if said and name != "Task"]
        # It may have been written just before midnight, and this be the next try.
        before = f"episodes/{day(ts - _DAY)[:7]}.md"
        if before != path and _has_episode(before, self._pages.page(before).text, own):
            return

        def change(text: str) -> Rewritten:
            if _has_episode(path, text, own):
                return Rewritten(text)
            new = add_episode(text, path, heading_words(title) or "A task", fields)
            old = parse(path, text)
            if not old.summary or old.summary == summary_of(old):
                new = set_summary(new, summary_of(parse(path, new)))
            return Rewritten(new)

        receipt = self._pages.rewrite(path, change, reason=REASON)
        self.edits += [receipt.id] if receipt.changed else []

    def _end(self, tasks: Iterable[Item], ts: float) -> None:
        """A crash may have left a fact of a task for which there was no room, and which stayed: it ends with it."""
        titles = {title_of(task).casefold() for task in tasks}
        facts = self._place.facts
        facts.catch_up()
        plan = Plan("", 0.0, facts.of, lambda proposal: PROJECT)
        for fact in facts.of(PROJECT):
            is_it = fact.status == "current" and fact.path is not None and _is_promoted(fact)
            if is_it and (fact.quote or "").casefold() in titles:
                plan.lines.setdefault(fact.path or "", []).append(Line(remove=fact))
                plan.ended.setdefault(PROJECT, []).append((fact.id or "", written(ts), None))
        if plan.lines:
            self.edits += self._place.carry_out(plan, reason=REASON)

    # --- decisions that are settled, and tasks for which there is no room ------------------------

    def _facts(self, change: Change) -> None:
        facts = self._place.facts
        facts.catch_up()
        held = facts.of(PROJECT)
        made = [self._fact(item, "decisions_recent", "Decision", "decision") for item in change.settled]
        made += [self._fact(item, "tasks_open", "Plan", "commitment") for item in change.parked]
        plan = Plan("", 0.0, facts.of, lambda proposal: PROJECT)
        for fact in made:
            if not any(_covers(each, fact) for each in held):
                plan.lines.setdefault(page_of(fact), []).append(Line(fact))
                held.append(fact)
        if plan.lines:
            self.edits += self._place.carry_out(plan, reason=REASON)

    def _fact(self, item: Item, where: str, relation: str, kind: Kind) -> Fact:
        title = title_of(item)
        name, why = _member(item, "id"), _member(item, "why")
        since = _member(item, "ts") or _member(item, "updated_at")
        name = name if name[:2] not in _OWN_IDS else ""
        said = "; ".join((*([name] if name else ()), *([f"why: {why}"] if why else ())))
        whole = f"{title} ({short(said, LONGEST)})" if said else title
        relation, said = as_written(relation, whole)
        values = self._provenance.values()
        first = values.get((where, title))
        parts = [(where, title), *([(where, title, "id", name)] if name else [])]
        parts += [(where, title, "why", why)] if why else []
        # What is made of the words of several has the level of the lowest.
        by = (values[part].author if part in values else self._author for part in parts)
        origin = min(map(self._origin, by), key=lambda each: LEVELS.index(level_of(each)))
        level = level_of(origin)
        held_since = moment(since) if since else None
        return Fact(
            PROJECT,
            PROJECT,
            relation,
            said,
            kind,
            id=fact_id(STATE, relation, said, since),
            confidence=CONFIDENCE[level],
            salience=SALIENCE[kind],
            sources=(f"{STATE}@{first.edit}",) if first is not None else (),
            quote=title or None,
            origin=origin,
            level=level,
            valid_from=written(held_since if held_since is not None else clock.now()),
        )

    def _origin(self, author: str) -> str:
        """Whose words they are. The program itself writes only what the user said into the state."""
        if author == PERSON or (author == EXTERNAL and self._trusts):
            return "person"
        return "user" if author == PROGRAM else "assistant"


def _is_promoted(fact: Fact) -> bool:
    """Whether a fact came from the state: it quotes a title, and no entry proposed it."""
    return fact.relation in ("Plan", "Decision") and bool(fact.quote) and fact.entry_id is None


def _member(item: Item, name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _has_episode(path: str, text: str, own: dict[str, str]) -> bool:
    wanted = {name: short(value, len(value)) for name, value in own.items()}
    return any(
        all((each.get(name) or "") == value for name, value in wanted.items())
        for each in parse(path, text).episodes
    )


def _covers(held: Fact, fact: Fact) -> bool:
    """Whether nothing is to be written: it stands there, a better fact was made of the same sentence, or it was taken
    back since."""
    same = slot(held.topic, held.relation) == slot(fact.topic, fact.relation) and (
        key(held.object, held.relation) == key(fact.object, fact.relation)
    )
    title = (fact.quote or "").casefold()
    told = (
        bool(held.object)
        and is_trusted(held.level)
        and fact.object.casefold() == title  # else the fact says more: why
        and title in (held.quote or "").casefold()
        and held.object.casefold() in title
    )
    if not (same or told):
        return False
    if held.status == "current":
        return True
    ended = held.valid_to or written(held.recorded_at or 0.0)
    return held.status in ("rejected", "superseded") and ended >= (fact.valid_from or "")
