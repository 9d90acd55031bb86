"""The guard of the pages: it checks an agent's change before it is journaled, and asks about what it holds back."""

from __future__ import annotations

import re

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Proposal
from looseleaf.base.origins import CONFIDENCE, is_at_least, is_trusted
from looseleaf.base.paths import STATE, TOP_PAGES, page_path, same_name, why_sealed
from looseleaf.base.values import ANY, Fact, PageText
from looseleaf.facts.gate import UNVERIFIED
from looseleaf.facts.ledger import fact_id
from looseleaf.facts.placement import MOST_FOUND, MOST_FOUND_A_DAY, PROFILE, PROJECT, USER, PlacePlan
from looseleaf.facts.team import person_topic, why_it_waits
from looseleaf.language.relations import SALIENCE, relation_of, slot
from looseleaf.language.value_keys import key
from looseleaf.log.journal import AGENT, EXTERNAL, PERSON
from looseleaf.pages.grammar import (
    add_fact,
    as_written,
    drawer,
    parse,
    set_summary,
    sign_episodes,
    summary_of,
    topic_of,
    without_agents_episodes,
)
from looseleaf.pages.pages import NOTHING_SAID, Rewritten, encode_page
from looseleaf.place.guard_rules import Guarded, Owned, check_page_change, fate_words, sentences_of
from looseleaf.store.streams import ASKER
from looseleaf.text.diff import diff, split_lines
from looseleaf.text.lines import body, is_found, signed_as_found, undoubted
from looseleaf.text.times import day, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from looseleaf.base.values import Level, Receipt, Record
    from looseleaf.facts.gate import Spoken
    from looseleaf.place.placer import PlacerNeeds
    from looseleaf.store.context import Context

    Said = tuple[str, str]
    Told = tuple[Record, ...]

    class Needs(PlacerNeeds, Protocol):
        def spoken(self) -> Spoken:
            """Return the words of the session being recorded."""


_PLAIN = re.compile(r"[^\W_]{1,20}(?:(?:[-_. ]|--)[^\W_]{1,20}){0,3}")
_FATES = {"review": "asked", "restate": "current", "drop": "crowded"}
"""The fate of a line, by the decision on it."""
_WHY = "the user did not say it"
_MONTH = re.compile(r"episodes/[0-9]{4}-[0-9]{2}\.md", re.ASCII)


class Guard:
    """Judges a model's writing on pages by the words of its session."""

    def __init__(self, context: Context, parts: Needs) -> None:
        self._redact = context.redact
        self._is_shared = context.policy.shared
        self._parts = parts

    def propose(
        self,
        path: str,
        change: Callable[[str], str] | str | None,
        *,
        base: str | None = ANY,
        reason: str,
        summary: str | None = None,
        whole: bool = False,
    ) -> Receipt:
        """Change a page (None: remove it) as a model may: lines that it may not write there wait in review, and the
        receipt says so. Tools that a model calls use this door, not `Pages.edit`.

        With a `summary`, the same edit sets the page's summary line: to these words or, if there are none or they may
        not stand, to one made by rule. `whole`: leave the page alone unless all of the change may stand.
        """
        path = page_path(path)
        why = why_sealed(path)
        if why is not None:
            raise Refused(f"{path} was not changed: {why}.")
        door = _Door(self, self._redact(summary), whole)
        return self._parts.pages.edit_through(door, path, change, base=base, reason=self._redact(reason))

    def hold(self, path: str, author: str, lines: Sequence[Said]) -> tuple[str, tuple[str, ...]]:
        """Ask a person about lines, as (relation, object), that a model may not write on a page. Return the edit of
        review, and a sentence on each line."""
        held = Guarded("", held=tuple((relation, self._redact(said)) for relation, said in lines))
        asked, fates = self.ask(path, author, held, clock.now())
        return asked, tuple(sentences_of(held, fates))

    def look(
        self, path: str, author: str, old: str | None, new: str | None, summary: str | None = None
    ) -> tuple[Guarded, Told]:
        """Return what remains of the change, and the records of the facts among its lines. `summary`: the summary line
        that it wants."""
        _refuse_charter(path)
        self._parts.known.catch_up()
        spoken, owned = self._parts.spoken(), self._read_owned(path, old or "")
        if new is None:
            is_kept = spoken.is_doubtful or path == PROFILE
            others = without_agents_episodes(parse(path, old or "")).episodes
            if owned.persons or owned.lines or others or (is_kept and owned.users):
                raise Refused(
                    f"{path} was not removed: a person, the user or the program put lines on it. "
                    "Propose that to the user instead."
                )
            return Guarded(""), ()
        new = self._redact_additions(old or "", new)
        self._refuse_private(path, old or "", new, summary or "")
        made = check_page_change(path, old or "", new, spoken, owned, shared=self._is_shared)
        made = made.but(text=sign_episodes(path, old or "", made.text, author, spoken.has))
        is_new = old is None and (made.text or made.found or not new.strip())
        if is_new and not self._may_name(path, spoken):
            return _hold_all(path, made), ()
        made, found = self._add_findings(path, author, made)
        before = {(fact.relation, fact.object) for fact in self._facts_on(path)}
        fresh = [each for each in made.said if each not in before]
        told = tuple(_record(fact_id(path, *each, new), *each, "said", "user") for each in fresh)
        return made, (*told, *found)

    def _refuse_private(self, path: str, old: str, new: str, summary: str) -> None:
        """Refuse lines that are private, a private summary, and a new page with a private name, if git tracks the
        folder."""
        topic = topic_of(path)
        added = (line for hunk in diff(old, new) for line in split_lines("".join(hunk.added)))
        name = re.sub(r"[-_/]+", " ", topic) if not old else ""
        for what, lines in (("a line", added), ("the summary", (summary,)), ("the name", (name,))):
            kinds = self._parts.kept_out(topic if what == "a line" else "", lines)
            if kinds:
                raise Refused(
                    f"{path} was not changed: {what} is private ({kinds}), and git tracks this folder. What is "
                    "about the user belongs in the home memory: the user says it, or runs `looseleaf remember --home`."
                )

    def _facts_on(self, path: str) -> list[Fact]:
        return [fact for fact in self._parts.known.of(topic_of(path)) if fact.path == path]

    def _add_findings(self, path: str, author: str, made: Guarded) -> tuple[Guarded, Told]:
        """Add the agent's findings from tools to the page, signed, under a heading of their own; and return their
        records. A page holds only so many of them, and takes only so many a day."""
        if not made.found:
            return made, ()
        here = parse(path, made.text).facts
        there = {key(fact.object, fact.relation) for fact in here}
        found = [fact.object for fact in here if is_found(fact.object)]
        agent, tools = author.removeprefix(AGENT), [name for name, _ in self._parts.spoken().read]
        today = day(clock.now())
        text, told, placed, crowded = made.text, [], [], []
        for relation, said in made.found:
            label, said = as_written(relation, signed_as_found(said, agent, today, tools))
            if key(said, label) in there:
                continue
            today_s = sum(f" on {today}" in each for each in found)
            if len(found) >= MOST_FOUND or today_s >= MOST_FOUND_A_DAY:
                crowded.append((relation, undoubted(said)))
                continue
            placed.append((relation, undoubted(said)))
            text = add_fact(text, path, label, said, found=True)
            there.add(key(said, label))
            found.append(said)
            record = _record(fact_id(path, label, said), label, said, "tainted", author)
            told.append(record | {"tags": [UNVERIFIED]})
        return made.but(text=text, found=tuple(placed), crowded=tuple(crowded)), tuple(told)

    def _redact_additions(self, old: str, new: str) -> str:
        """Redact a model's additions, as records are redacted; existing lines stay as their author wrote them."""
        lines, made, at = split_lines(old), [], 0
        for hunk in diff(old, new):
            made += [*lines[at : hunk.at], self._redact("".join(hunk.added))]
            at = hunk.at + len(hunk.removed)
        return "".join((*made, *lines[at:]))

    def _read_owned(self, path: str, text: str) -> Owned:
        here = self._facts_on(path)
        persons = {(fact.relation, fact.object) for fact in here if is_at_least(fact.level, "confirmed")}
        users = {(fact.relation, fact.object) for fact in here if fact.level == "said"}
        sheet = self._parts.known.sheet(path)
        lines = sheet.people if sheet is not None else self._parts.state.provenance.people(path)
        return Owned(persons, users, lines & set(map(body, split_lines(text))))

    def _may_name(self, path: str, spoken: Spoken) -> bool:
        """Return True if an agent may create a page of this name, which prompts will show: a name that the user said;
        in a drawer also one ordinary word and, if no tool spoke, a short name of its own."""
        name = topic_of(path)
        if path == PROFILE or _MONTH.fullmatch(path) or path in (f"facts/{USER}.md", f"facts/{PROJECT}.md"):
            return True
        words = re.sub(r"[-_/]+", " ", name)
        if "/" not in path or drawer(path) != "facts":
            return spoken.has(words)
        from looseleaf.language.topic_words import plain_names  # not at the top: few changes make a page

        is_plain = name in plain_names() or (_PLAIN.fullmatch(name) is not None and not spoken.tools)
        # An allowed author put a fact there. A fact in review makes no name known.
        held = (fact for fact in self._parts.known.of(name) if fact.status == "current")
        return is_plain or any(is_trusted(fact.level) for fact in held) or spoken.has(words)

    def summarised(self, path: str, text: str, told: Told, wanted: str) -> tuple[str, str]:
        """Return the page with the wanted summary, or one by rule, and why it is not the former. A person's stays."""
        page, sheet = parse(path, text), self._parts.known.sheet(path)
        by = sheet.summary_by if sheet is not None else None
        if page.summary and by in (PERSON, EXTERNAL):
            why = f"stays, as a person wrote it: the summary “{page.summary}”" if wanted else ""
            return text, why
        # Index lines show no agent's summary of a page of facts; on other pages the author of a summary is unknown.
        is_own = drawer(path) == "facts" and "/" in path and not self._parts.spoken().tools
        if wanted and (is_own or self._parts.spoken().has(wanted)):
            return set_summary(text, wanted), ""
        why = f"was left out, as an index line would show it: the summary “{wanted}”" if wanted else ""
        if drawer(path) == "facts" and "/" in path:
            return set_summary(text, summary_of(_drop_findings(page))), why
        return set_summary(text, self._parts.placer.summary_of(path, page, told)), why

    def ask(
        self, path: str, agent: str, made: Guarded, ts: float, *, exists: bool = True
    ) -> tuple[str, dict[Said, str]]:
        """Put held-back lines into a drawer, or into review if they would change a person's line; rejected ones stay
        rejected. Return the edit, if any, and the fate of each line, in words. `exists`: the page exists."""
        if not made.held:
            return "", {}
        spoken = self._parts.spoken()
        # A name that an agent may not give a page is no topic name either; a month never is.
        is_topic = (exists or self._may_name(path, spoken)) and drawer(path) != "episodes"
        topic = topic_of(path) if is_topic else PROJECT
        if topic == USER and self._is_shared:
            topic = person_topic(person) if (person := ASKER.get()) else PROJECT
        facts, name = self._parts.known, agent.removeprefix(AGENT)
        # What is held, waits or was rejected, by address and value.
        decided: dict[Said, str] = {
            (slot(topic, fact.relation), key(fact.object, fact.relation)): fact.status
            for fact in facts.of(topic)
            if fact.status in ("pending", "rejected", "current")
        }
        entry = fact_id(topic, path, written(ts))
        needs_yes = why_it_waits if self._is_shared else None
        plan = PlacePlan(entry, ts, facts.of, lambda proposal: topic, agent=name, now=ts, needs_yes=needs_yes)
        fates: dict[Said, str] = {}
        names: dict[str, Said] = {}
        for held in dict.fromkeys(made.held):
            relation, said = as_written(*held)
            fate = decided.get((slot(topic, relation), key(said, relation)))
            if fate is None:
                fact = self._conclude_fact(topic, path, agent, relation, said, ts)
                names[fact.id or ""] = held
                outcome = plan.put(fact, Proposal(relation, said, "", topic))
                act = outcome.act if outcome is not None else "drop"
                fate = _FATES.get(act, "found" if fact.level == "tainted" else "noted")
            fates[held] = fate
        # This very page is being changed: lines meant for it wait for a person instead.
        lines = plan.lines.pop(path, [])
        added = [line.add for line in lines if line.add is not None]
        plan.review += [(each.but(status="pending", object=undoubted(each.object)), _WHY) for each in added]
        fates |= {held: "asked" for held in fates if lines and fates[held] in ("noted", "found")}
        drawers = {
            line.add.id: page for page, put in plan.lines.items() for line in put if line.add is not None
        }
        waits = [(fact, f"{agent} wants it on {path}; {why}") for fact, why in plan.review]
        plan.review = []
        edits = self._parts.placer.apply(plan, reason=f"noted by {agent}", author=agent)
        asked = self._parts.placer.ask(waits, f"held back from {path}")
        for fate, ids in (("full", asked.full), ("rejected", asked.rejected)):
            fates |= {names[each]: fate for each in ids if each in names}
        pages = {held: drawers[name] for name, held in names.items() if name in drawers}
        return asked.edit or (edits[0] if edits else ""), {
            held: fate_words(fate, pages.get(held)) for held, fate in fates.items()
        }

    def _conclude_fact(self, topic: str, path: str, agent: str, relation: str, said: str, ts: float) -> Fact:
        """Make a fact for a drawer from an agent's line that the user did not say: a conclusion from the user's words
        or, if the agent had read tool results, a finding."""
        spoken = self._parts.spoken()
        is_own = not spoken.tools or spoken.is_source_of(said, relation)
        level: Level = "inferred" if is_own else "tainted"
        name = fact_id(topic, path, relation, said)
        if not is_own:
            tools = [each for each, _ in spoken.read]
            said = as_written(relation, signed_as_found(said, agent.removeprefix(AGENT), day(ts), tools))[1]
        kind = relation_of(relation).kind
        raw = _record(name, relation, said, level, agent) | {"topic": topic, "subject": topic, "kind": kind}
        return Fact.from_dict(raw).but(tags=(UNVERIFIED,), valid_from=written(ts), recorded_at=ts)


def _record(name: str, relation: str, said: str, level: Level, origin: str) -> Record:
    """Return the journal's record of a fact that an agent wrote."""
    record: Record = {"id": name, "relation": relation, "object": said, "level": level, "origin": origin}
    record |= {"person": person} if (person := ASKER.get()) else {}
    return record | {"confidence": CONFIDENCE[level], "salience": SALIENCE[relation_of(relation).kind]}


@frozen
class _Entering:
    """The outcome of a model's change: the text that may stand, the records of its facts, what was held back, and why
    the wanted summary was left out."""

    new: bytes | None
    said: Rewritten
    made: Guarded
    summary: str

    @property
    def is_held(self) -> bool:
        return bool(self.made.held or self.made.left)


@frozen
class _Door:
    """The door for a model's change. `summary`: the summary line it wants; `whole`: all of the change or nothing."""

    guard: Guard
    summary: str | None
    whole: bool

    def look(self, path: str, author: str, old: bytes | None, new: bytes | None) -> _Entering:
        made, told = self.guard.look(path, author, _decode(old), _decode(new), self.summary)
        if self.whole and (made.held or made.kept or made.left):
            return _Entering(old, NOTHING_SAID, made, "")
        text, why = made.text, ""
        is_changed = text != (_decode(old) or "")
        if new is not None and self.summary is not None and text and is_changed:
            text, why = self.guard.summarised(path, text, told, self.summary)
        return _Entering(
            encode_page(path, text) if new is not None else None, Rewritten(text, told), made, why
        )

    def ask(self, path: str, author: str, made: _Entering, old: bytes | None) -> tuple[str, tuple[str, ...]]:
        asked, fates = self.guard.ask(path, author, made.made, clock.now(), exists=old is not None)
        return asked, (*sentences_of(made.made, fates), *([made.summary] if made.summary else ()))


def _decode(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")


def _refuse_charter(path: str) -> None:
    """Refuse pages that are the same file as one of ours if case is ignored; an agent writes only USER.md of them."""
    for own in (*TOP_PAGES, STATE):
        if same_name(path, own) and path != PROFILE:
            hint = f"Use {PROFILE}." if own == PROFILE else "Propose the change to the user instead."
            raise Refused(f"{path} was not changed: only people write it, or it has another name. {hint}")


def _hold_all(path: str, made: Guarded) -> Guarded:
    """Hold back all of a page that may not be created."""
    page = parse(path, made.text)
    facts = [(fact.relation, fact.object) for fact in page.facts]
    notes = [("note", run.text.strip()) for run in page.prose] if drawer(path) != "episodes" else []
    return Guarded("", (), (*made.held, *made.found, *facts, *notes), made.kept, (*made.left, path))


def _drop_findings(page: PageText) -> PageText:
    """Return a page without agents' findings from tools: no word of them may stand in a summary."""
    kept = tuple(fact for fact in page.facts if not is_found(fact.object))
    texts = page.title, page.summary, page.updated
    prose = page.prose if kept == page.facts else ()
    return PageText(page.topic, page.lines, page.roles, *texts, kept, page.episodes, prose)
