"""Obeying: what the user says to forget leaves pages, days, episodes and the state at once, and is offered for
forgetting.

The words stay in the log, which only `forget` rewrites: a note says how. Doing it again changes nothing.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import islice

from looseleaf.base.ids import now
from looseleaf.base.paths import USER
from looseleaf.distill.forbidding import bears_on, cut_forbidden, forbidden_by, telling_terms
from looseleaf.distill.slot_tables import lexicon
from looseleaf.facts.erasing import MEANT, SURELY_MEANT, HeldLine, find_meant, told_by
from looseleaf.facts.ledger import fact_id
from looseleaf.facts.replacing import cut_clauses
from looseleaf.language.relations import asked_relations, relation_term
from looseleaf.log.journal import OBEYED, PERSON
from looseleaf.log.recorder import stream_of
from looseleaf.log.turns import traces_back
from looseleaf.pages.grammar import replace_fact
from looseleaf.pages.pages import Rewritten, try_to
from looseleaf.place.placer import find_line_on, known
from looseleaf.state.rules import StateChange, items_of, title_of
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import NOTE, as_written
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Fact
    from looseleaf.distill.forbidding import Forbidden
    from looseleaf.facts.erasing import Order
    from looseleaf.place.placer import PlacerNeeds
    from looseleaf.state.rules import State as Values
    from looseleaf.store.context import Context

_MADE = lazy(r" \([^()]*entry \w+\)\s*\Z")
"""The program's own words at the end of a day's line: no order means them."""

_LOOKED_BACK = 50
"""The number of traces before a prohibition in which the user's earlier messages are looked up."""


class Obey:
    """Obeys a message that forbids. `note` gets a report, and how to remove it from the log as well."""

    def __init__(self, context: Context, parts: PlacerNeeds) -> None:
        self._store, self._note = context.store, context.note
        self._stream = stream_of(context.agent)
        self._parts = parts

    def __call__(self, trace: Trace) -> int:
        """Remove the lines that a message forbids, and return their number."""
        found = forbidden_by(trace)
        if found is None or found.order is None:
            return 0  # in doubt nothing is learned from it, and nothing goes
        with self._parts.pages.absorb.threads, self._store.lock():
            self._parts.placer.catch_up()
            back = islice(traces_back(self._store, self._stream), _LOOKED_BACK)
            earlier = [each for each in back if each.trace_type == "user" and each.id < trace.id]
            meant = _Target(trace, found, found.order, earlier)
            held = [fact for fact in self._parts.known.all() if _can_be_meant(fact, trace)]
            pages = self._parts.pages
            diary = (path for path in pages.paths() if path.startswith(("days/", "episodes/")))
            days = {path: split_lines(pages.page(path).text) for path in diary}
            every = [line for lines in days.values() for line in lines]
            meant.look(held, every, _texts_in(self._parts.state.shown()))
            done = 0
            for fact in meant.facts:
                done += try_to(partial(self._remove_line, fact, meant), self._note) or 0
            for path, lines in days.items():
                done += try_to(partial(self._clean_page, path, lines, meant), self._note) or 0
            try_to(partial(self._clean_state, meant), self._note)
        if done:
            self._note(
                f"{done} line{'s' * (done != 1)} removed from the pages, as the user asked (`looseleaf log` shows "
                "which). The log still has the words; `looseleaf forget --match WORD` removes them for good."
            )
        return done

    def _remove_line(self, fact: Fact, meant: _Target) -> int:
        """Remove a line; of one that only shares words with the target, only that clause."""
        rest = ""
        if fact.relation == NOTE and not meant.is_source(fact):
            rest = cut_clauses(fact.object, meant.is_named)
        if not rest:
            self._parts.placer.remove(fact, OBEYED)
            return 1
        path = fact.path or ""
        label, said = as_written(fact.relation, rest)
        new = fact.but(id=fact_id(fact.id or "", said), object=said, relation=label)

        def change(text: str) -> Rewritten:
            text = replace_fact(text, path, find_line_on(fact, path, text), label, said)
            text = self._parts.placer.summarised(path, text, (known(new),))
            return Rewritten(text, (known(fact), known(new)))

        self._parts.pages.rewrite(path, change, reason=OBEYED, author=PERSON)
        self._parts.known.catch_up()
        return 1

    def _clean_page(self, path: str, lines: Sequence[str], meant: _Target) -> int:
        """Remove the lines about it."""
        kept = [line for line in lines if not meant.is_told(line)]
        if len(kept) == len(lines):
            return 0
        page, rest = "".join(lines), "".join(kept)
        self._parts.pages.rewrite(path, lambda old: Rewritten(rest if old == page else old), reason=OBEYED)
        return len(lines) - len(kept)

    def _clean_state(self, meant: _Target) -> None:
        def change(state: Values, **_: object) -> StateChange:
            new = {
                name: "" if isinstance(value, str) and meant.is_told(value) else value
                for name, value in state.items()
            }
            for name in ("decisions_recent", "tasks_open"):
                if items_of(state, name):
                    new[name] = [each for each in items_of(state, name) if not meant.is_told(title_of(each))]
            return StateChange(new)

        state = self._parts.state
        if any(map(meant.is_told, _texts_in(state.shown()))):
            state.move(change, now(), OBEYED, [])


class _Target:
    """The target of an order: `facts`, and the lines for which `is_told` is true."""

    def __init__(self, trace: Trace, found: Forbidden, order: Order, earlier: list[Trace]) -> None:
        """`earlier`: the user's messages before it, the last one first. They are weighed together with the held lines:
        otherwise a second run could mistake another line for the one that is gone."""
        self.facts: list[Fact] = []
        self._order, self._is_all = order, found.is_all
        self._earlier = [each.content for each in earlier]
        last = next((each for each in earlier if each.session_id == trace.session_id), None)
        self._last = last.id if last is not None else ""
        self._last_said = _opening_of(last.content) if last is not None else ""
        self._own, self._rest = trace.id, _flatten(cut_forbidden(trace.content, found))
        self._asked = _relations_named(order)
        is_before = found.before and not self._asked
        self._before = {self._last} if is_before and self._last else set()
        if found.is_session:
            self._before |= {each.id for each in earlier if each.session_id == trace.session_id}
        self._openings = {_opening_of(trace.content[start:end]) for start, end in found.cut}
        self._openings |= {_opening_of(each.content) for each in earlier if each.id in self._before}
        self._lines: set[str] = set()

    def look(self, held: list[Fact], days: list[str], state: list[str]) -> None:
        """Find the target among facts, lines of days and texts of the state."""
        lines = [told_by(fact, is_last=self._last in fact.sources) for fact in held]
        texts = [*days, *state]
        lines += [self._held_line(_MADE.sub("", text)) for text in texts]
        lines += map(self._held_line, self._earlier)
        chances = find_meant(self._order, lines, lexicon()) if not self._asked else {}
        for at, fact in enumerate(held):
            is_meant = fact.topic == USER and (self._is_all or relation_term(fact.relation) in self._asked)
            bar = SURELY_MEANT if fact.level == "confirmed" else MEANT
            if self.is_source(fact) or is_meant or chances.get(at, 0.0) >= bar:
                self.facts.append(fact)
        self._openings |= {_opening_of(fact.quote) for fact in self.facts if fact.quote}
        self._openings = {each for each in self._openings if len(each) >= _LEAST_OPENING}
        self._lines = {
            text
            for at, text in enumerate(texts, len(held))
            if chances.get(at, 0.0) >= MEANT and not text.startswith("#")
        }

    def _held_line(self, text: str) -> HeldLine:
        return HeldLine(text, is_last=bool(self._last_said) and self._last_said in _flatten(text))

    def is_source(self, fact: Fact) -> bool:
        """Return True if a fact comes from a message meant as a whole, or from the forbidden part of this one."""
        if not self._before.isdisjoint(fact.sources):
            return True
        return self._own in fact.sources and not (fact.quote and _flatten(fact.quote) in self._rest)

    def is_named(self, clause: str) -> bool:
        return bears_on(clause, self._order.named)

    def is_told(self, text: str) -> bool:
        """Return True if a line or a text is about it."""
        said = _flatten(text)
        return text in self._lines or any(opening in said for opening in self._openings)


def _relations_named(order: Order) -> set[str]:
    """Return the user's own relations that an order names by an everyday word: "where I live" is Home. An order with
    terms of its own means those."""
    words = () if order.named else re.findall(r"\w+", order.said.casefold())
    return {term for terms in asked_relations(order.said, words).values() for term, _ in terms}


_OPENING = 40
_LEAST_OPENING = 6
"""The most first characters of a message or quote that identify a line; and the least: shorter openings are ignored."""


def _flatten(text: str) -> str:
    return " ".join(text.split()).casefold()


def _opening_of(text: str) -> str:
    return " ".join(text.split())[:_OPENING].casefold()


def _can_be_meant(fact: Fact, trace: Trace) -> bool:
    """Return True if a message can mean a fact: it is on a page, and was not first said later, or is confirmed."""
    is_later = fact.sources and fact.level != "confirmed" and min(fact.sources) > trace.id
    return fact.status == "current" and fact.path is not None and not is_later


def _texts_in(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if telling_terms(value) else []
    if isinstance(value, dict):
        value = list(value.values())
    return [text for each in value for text in _texts_in(each)] if isinstance(value, list) else []
