"""The guard at the pages: an agent's change is looked at before it is journaled, and what is held back is asked for."""

from __future__ import annotations

import re

from looseleaf.core.diff import diff, split_lines
from looseleaf.core.gate import UNVERIFIED
from looseleaf.core.grammar import as_written, drawer, parse, set_summary, summary_of, topic_of
from looseleaf.core.guard import Guarded, Owned, guarded
from looseleaf.core.heads import EXTERNAL, PERSON
from looseleaf.core.keys import key
from looseleaf.core.ledger import fact_id
from looseleaf.core.levels import CONFIDENCE, is_at_least, is_trusted
from looseleaf.core.lines import body
from looseleaf.core.paths import STATE, TOP_PAGES, same_name
from looseleaf.core.placing import PROFILE, PROJECT
from looseleaf.core.relations import SALIENCE
from looseleaf.core.signing import signed, unsigned
from looseleaf.core.slots import relation_of, slot
from looseleaf.core.times import written
from looseleaf.errors import Refused
from looseleaf.values import Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.core.spoken import Spoken
    from looseleaf.place.facts import Facts
    from looseleaf.place.place import Place
    from looseleaf.values import Record

    Said = tuple[str, str]

_PLAIN = re.compile(r"[^\W_]{1,20}(?:(?:[-_. ]|--)[^\W_]{1,20}){0,3}")
_MONTH = re.compile(r"episodes/[0-9]{4}-[0-9]{2}\.md", re.ASCII)


class Guard:
    """`spoken` says what was said in this session; `clean` takes secrets out of a text."""

    def __init__(
        self, facts: Facts, spoken: Callable[[], Spoken], place: Place, clean: Callable[[str], str]
    ) -> None:
        self._clean = clean
        self._facts = facts
        self._spoken = spoken
        self._place = place

    def look(
        self, path: str, author: str, old: str | None, new: str | None
    ) -> tuple[Guarded, tuple[Record, ...]]:
        """What the change comes to, and what is known of the facts among its lines."""
        _refuse_charter(path)
        self._facts.catch_up()
        spoken, owned = self._spoken(), self._owned(path, old or "")
        if new is None:
            is_kept = spoken.is_doubtful or path == PROFILE
            others = unsigned(parse(path, old or "")).episodes
            if owned.persons or owned.lines or others or (is_kept and owned.users):
                raise Refused(
                    f"{path} was not removed: a person, the user or the program put lines on it. "
                    "Propose that to the user instead."
                )
            return Guarded(""), ()
        new = self._without_secrets(old or "", new)
        made = guarded(path, old or "", new, spoken, owned)
        made = made.but(text=signed(path, old or "", made.text, author, spoken.has))
        if old is None and (made.text or not new.strip()) and not self._may_name(path, spoken):
            return _nothing(path, made), ()
        before = {
            (fact.relation, fact.object) for fact in self._facts.of(topic_of(path)) if fact.path == path
        }
        told = tuple(
            {"id": fact_id(path, relation, said, new), "relation": relation, "object": said}
            | {"level": "said", "origin": "user", "confidence": CONFIDENCE["said"]}
            | {"salience": SALIENCE[relation_of(relation).kind]}
            for relation, said in made.said
            if (relation, said) not in before
        )
        return made, told

    def _without_secrets(self, old: str, new: str) -> str:
        """What a model adds is redacted, as what is recorded is; what stands there is its writer's."""
        lines, made, at = split_lines(old), [], 0
        for hunk in diff(old, new):
            made += [*lines[at : hunk.at], self._clean("".join(hunk.added))]
            at = hunk.at + len(hunk.removed)
        return "".join((*made, *lines[at:]))

    def _owned(self, path: str, text: str) -> Owned:
        here = [fact for fact in self._facts.of(topic_of(path)) if fact.path == path]
        persons = {(fact.relation, fact.object) for fact in here if is_at_least(fact.level, "confirmed")}
        users = {(fact.relation, fact.object) for fact in here if fact.level == "said"}
        sheet = self._facts.sheet(path)
        lines = sheet.people if sheet is not None else self._place.people(path)
        return Owned(persons, users, lines & set(map(body, split_lines(text))))

    def _may_name(self, path: str, spoken: Spoken) -> bool:
        """Whether an agent may make a page of this name, which prompts will show: one that the user said; in a drawer,
        where no tool spoke, also a short one of its own."""
        if path == PROFILE or _MONTH.fullmatch(path):
            return True
        name = topic_of(path)
        words = re.sub(r"[-_/]+", " ", name)
        if "/" not in path or drawer(path) != "facts":
            return spoken.has(words)
        is_plain = _PLAIN.fullmatch(name) is not None and not spoken.tools
        return is_plain or self._is_known(name) or spoken.has(words)

    def _is_known(self, topic: str) -> bool:
        """Whether somebody who may has put a fact there. What only waits makes no name known."""
        return any(fact.status == "current" and is_trusted(fact.level) for fact in self._facts.of(topic))

    def summarised(self, path: str, text: str, told: tuple[Record, ...], wanted: str) -> tuple[str, str]:
        """The page with the summary that a model wants it to have, or with one by rule; and why it is not the former.
        A person's own stays."""
        page, sheet = parse(path, text), self._facts.sheet(path)
        by = sheet.summary_by if sheet is not None else None
        if page.summary and by in (PERSON, EXTERNAL):
            why = f"stays, as a person wrote it: the summary “{page.summary}”" if wanted else ""
            return text, why
        # Of a page of facts an index line shows no summary that an agent wrote; of others it is not known whose it is.
        is_own = drawer(path) == "facts" and "/" in path and not self._spoken().tools
        if wanted and (is_own or self._spoken().has(wanted)):
            return set_summary(text, wanted), ""
        why = f"was left out, as an index line would show it: the summary “{wanted}”" if wanted else ""
        if drawer(path) == "facts" and "/" in path:
            return set_summary(text, summary_of(page)), why
        return set_summary(text, self._place.summary_of(path, page, told)), why

    def ask(
        self, path: str, agent: str, made: Guarded, ts: float, *, exists: bool = True
    ) -> tuple[str, dict[Said, str]]:
        """Put what was held back before a person, once; what was turned down stays so. The edit of review, if any, and
        what became of each line (`core.guard.FATES`). `exists`: there is such a page."""
        spoken = self._spoken()
        # A name that an agent may not give a page is no name of a topic either; a month is none at all.
        is_topic = (exists or self._may_name(path, spoken)) and drawer(path) != "episodes"
        topic = topic_of(path) if is_topic else PROJECT
        level = "tainted" if spoken.tools else "inferred"
        decided = self._decided(topic) if made.held else {}
        fates: dict[Said, str] = {}
        ids: dict[Said, str] = {}
        waiting: list[tuple[Fact, str]] = []
        for held in dict.fromkeys(made.held):
            relation, said = as_written(*held)
            fate = decided.get((slot(topic, relation), key(said, relation)))
            fates[held] = fate or "asked"
            if fate is not None:
                continue
            fact = Fact(
                topic,
                topic,
                relation,
                said,
                relation_of(relation).kind,
                id=fact_id(topic, path, relation, said),
                confidence=CONFIDENCE[level],
                salience=SALIENCE[relation_of(relation).kind],
                tags=(UNVERIFIED,),
                origin=agent,
                level=level,  # type: ignore[arg-type]
                valid_from=written(ts),
                recorded_at=ts,
                status="pending",
            )
            ids[held] = fact.id or ""
            why = (
                "a tool had spoken, and the user did not say it"
                if spoken.tools
                else "the user did not say it"
            )
            waiting.append((fact, f"{agent} wants it on {path}; {why}"))
        if not waiting:
            return "", fates
        asked = self._place.ask(waiting, f"held back from {path}")
        fates |= {held: "full" for held, name in ids.items() if name in asked.full}
        fates |= {held: "rejected" for held, name in ids.items() if name in asked.rejected}
        return asked.edit, fates

    def _decided(self, topic: str) -> dict[tuple[str, str], str]:
        """What is known of a topic, waits or was turned down, by address and value."""
        return {
            (slot(fact.topic, fact.relation), key(fact.object, fact.relation)): fact.status
            for fact in self._facts.of(topic)
            if fact.status in ("pending", "rejected", "current")
        }


def _refuse_charter(path: str) -> None:
    """Pages that are one file with one of ours on a system that ignores case; of ours, an agent writes USER.md only."""
    for own in (*TOP_PAGES, STATE):
        if same_name(path, own) and path != PROFILE:
            hint = f"Use {PROFILE}." if own == PROFILE else "Propose the change to the user instead."
            raise Refused(f"{path} was not changed: only people write it, or it has another name. {hint}")


def _nothing(path: str, made: Guarded) -> Guarded:
    """All of a page waits for a person that may not be made."""
    page = parse(path, made.text)
    facts = [(fact.relation, fact.object) for fact in page.facts]
    notes = [("note", run.text.strip()) for run in page.prose] if drawer(path) != "episodes" else []
    return Guarded("", (), (*made.held, *facts, *notes), made.kept, (*made.left, path))
