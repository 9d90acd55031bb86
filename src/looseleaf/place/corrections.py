"""Corrections: a person's decisions on facts, and a user's wish not to remember. They outrank every distiller.

A decision is journaled and can be undone. What the user says to forget leaves pages, days, episodes and the state at
once, and is offered for forgetting; the words stay in the log, which only `forget` rewrites: a note says how. Obeying
again changes nothing.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import partial
from itertools import dropwhile, islice, takewhile

from looseleaf.base import ids as clock
from looseleaf.base.errors import Invalid, Refused, is_text
from looseleaf.base.ids import new_id, now
from looseleaf.base.paths import PINNED, USER
from looseleaf.base.values import Edit, Receipt
from looseleaf.distill.forbidding import bears_on, cut_forbidden, forbidden_by, telling_terms
from looseleaf.distill.slot_tables import lexicon
from looseleaf.facts.ledger import HIGHEST, address_of, fact_id
from looseleaf.facts.page_lines import is_same_fact
from looseleaf.facts.replacing import MEANT, SURELY_MEANT, HeldLine, cut_clauses, find_meant, told_by
from looseleaf.language.relations import asked_relations, relation_term, slot
from looseleaf.log.journal import (
    DISTILLED,
    EXTERNAL,
    OBEYED,
    PERSON,
    PROGRAM,
    SCHEMA,
    is_first_sight,
    is_housekeeping,
)
from looseleaf.log.recorder import stream_of
from looseleaf.log.turns import traces_back
from looseleaf.pages.grammar import remove_line, replace_fact, set_updated, topic_of
from looseleaf.pages.pages import Rewritten, try_to
from looseleaf.place import placer as review_page
from looseleaf.place.notebook import is_unexplained
from looseleaf.place.placer import find_line_on, json_member, known
from looseleaf.state.rules import StateChange, items_of, title_of
from looseleaf.store import JOURNAL
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import NOTE, as_written, is_found, is_said_on, lazy, statement, undoubted, worded
from looseleaf.text.times import day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Fact, Record
    from looseleaf.distill.forbidding import Forbidden
    from looseleaf.facts.replacing import Order
    from looseleaf.place.placer import PlacerNeeds
    from looseleaf.state.rules import State as Values
    from looseleaf.store.context import Context


# --- a person's decisions ---------------------------------------------------------------


class Corrections:
    def __init__(self, context: Context, parts: PlacerNeeds) -> None:
        self._store, self._note = context.store, context.note
        self._parts = parts

    @contextmanager
    def _find_locked(self, name: str) -> Iterator[Fact]:
        """Yield a fact to decide on, under the lock, from the pages as they are now."""
        with self._parts.pages.absorb.threads, self._store.lock():
            self._parts.placer.catch_up()
            yield self._parts.known.find(name)

    def score(self, name: str, score: float) -> Fact:
        """Set how much a fact matters to a person, from 0 to 10: it outranks any rule."""
        if type(score) not in (int, float) or not 0 <= score <= HIGHEST:
            raise Invalid(f"Nothing was scored: {score!r} is not a score. Give a number from 0 to {HIGHEST}.")
        return self._journal_decision(name, "scored", lambda fact: {"user_fact_score": float(score)})

    def pin(self, name: str, *, pinned: bool = True) -> Fact:
        """Keep a fact among what must not be forgotten; or no longer."""

        def tags(fact: Fact) -> dict[str, Any]:
            others = [tag for tag in fact.tags if tag != PINNED]
            return {"tags": [*others, PINNED] if pinned else others}

        return self._journal_decision(name, "pinned" if pinned else "unpinned", tags)

    def approve(self, name: str) -> Fact:
        """Say yes: a fact in review goes to its page; a fact that an agent wrote counts as a person's from now on."""
        with self._find_locked(name) as fact:
            if fact.status == "pending":
                return self._approve_fact(fact, "approved")
            if fact.status != "current":
                raise Refused(
                    f"{fact.id} was not approved: it is {fact.status}. `looseleaf history {fact.id}` shows what "
                    "stands in its place; write the fact on its page to have it again."
                )
            if is_found(fact.object):
                return self._vouch(fact, fact.relation, undoubted(fact.object), "approved")
            if undoubted(fact.object) != fact.object:
                return self._rewrite(fact, fact.relation, undoubted(fact.object), "approved")
            new = {"level": "confirmed", "confidence": 1.0}
            return self._journal_decision(name, "approved", lambda fact: new)

    def vouch(self, names: Sequence[str]) -> list[Fact]:
        """Say that lines which the journal does not explain are a person's own: one act, undone as one."""
        if is_text(names) or not all(map(is_text, names)):
            raise Invalid("Nothing was vouched for: `names` must be a list of ids or places of facts.")
        with self._parts.pages.absorb.threads, self._store.lock():
            self._parts.placer.catch_up()
            facts = {fact.id or "": fact for fact in map(self._parts.known.find, names)}
            for name, fact in facts.items():
                if not is_unexplained(fact):
                    raise Refused(
                        f"Nothing was vouched for: {name} is not a line that the journal leaves unexplained. "
                        f"`looseleaf why {name}` shows whose it is; `looseleaf approve {name}` says yes to it."
                    )
            new = {"level": "confirmed", "confidence": 1.0}
            reason = f"vouched for {len(facts):,} line{'s' * (len(facts) != 1)}"
            self._parts.placer.say_of_all(list(facts.values()), new, reason)
            return [self._parts.known.find(name) for name in facts]

    def _vouch(self, fact: Fact, relation: str, said: str, reason: str) -> Fact:
        """Turn an agent's finding into a person's word, on the page for such words."""
        from looseleaf.facts.placement import PlacePlan  # imported late: readers of facts never load it

        facts = self._parts.known
        plan = PlacePlan(fact.entry_id or "", fact.entry_ts or 0.0, facts.of, lambda proposal: fact.topic)
        new = plan.vouch(fact, relation, said, clock.now())
        edits = self._parts.placer.apply(plan, reason=reason, author=PERSON)
        facts.catch_up()
        # The same may be held already: then the person says yes to that fact.
        held = (each for each in facts.of(new.topic) if each.status == "current")
        found = next(each for each in held if is_same_fact(each, new))
        self._parts.placer.say(found, {"level": "confirmed"}, ("level",), reason, edits=edits)
        return facts.find(found.id or "")

    def _approve_fact(self, fact: Fact, reason: str, edits: tuple[str, ...] = ()) -> Fact:
        self._parts.placer.approve(fact, reason=reason, edits=edits)
        return self._parts.known.find(fact.id or "")

    def reject(self, name: str) -> Fact:
        """Say no: the fact goes from its page, or from review, and does not come back by itself."""
        with self._find_locked(name) as fact:
            if fact.status == "pending":
                edits = self._parts.placer.clear([fact.id or ""], "rejected")
                self._parts.placer.say(fact, {"status": "rejected"}, ("status",), "rejected", edits)
            elif fact.status == "current" and fact.path is not None:
                self._parts.placer.remove(fact, "rejected")
            else:
                raise Refused(f"{fact.id} was not rejected: it is {fact.status} already.")
            return self._parts.known.find(fact.id or "")

    def correct(self, name: str, text: str, *, here: bool = False) -> Fact:
        """Say what is right: `Paris`, or `Home: Paris`. The old value stays in the history. `here`: even if it is
        private, where git tracks the folder."""
        if not is_text(text) or not text.strip():
            raise Invalid(f"{name} was not corrected: there are no words in it. Say what is right.")
        with self._find_locked(name) as fact:
            text = _drop_old_dates(text, fact.object)
            relation, said = statement(text) or (NOTE, "")
            if relation == NOTE:
                relation, said = fact.relation, _read_value(text, fact)
            relation, said = as_written(relation, said)
            if (relation, said) == (fact.relation, fact.object):
                return self.approve(name)  # it was right
            if not here:
                self._refuse_private(fact, worded(relation, said))
            if fact.status == "pending":
                return self._approve_fact(*self._reword_waiting(fact, relation, said))
            if fact.status == "current" and is_found(fact.object):
                return self._vouch(fact, relation, undoubted(said), "corrected")
            return self._rewrite(fact, relation, said, "corrected")

    def _rewrite(self, fact: Fact, relation: str, said: str, reason: str) -> Fact:
        """Write a person's words in place of a line; other values that machines noted go with it."""
        path = fact.path
        if fact.status != "current" or path is None:
            why = f"it is {fact.status}. Correct the one that is current."
            raise Refused(f"{fact.id} was not {reason}: {why}")

        def change(old: str) -> Rewritten:
            new = replace_fact(old, path, find_line_on(fact, path, old), relation, said)
            for each in beside:
                new = remove_line(new, find_line_on(each, path, new))
            new = set_updated(new, path, day(clock.now()))
            trusted = {"relation": relation, "object": said, "level": "confirmed"}
            text = self._parts.placer.summarised(path, new, [trusted])
            # The record of the old value marks the summary as the program's; the new one is the person's.
            return Rewritten(text, tuple(map(known, (fact, *beside))))

        beside = (*self._parts.placer.retold(fact), *self._find_rivals(fact))
        self._parts.pages.rewrite(path, change, reason=reason, author=PERSON)
        self._parts.known.catch_up()
        there = (
            each
            for each in self._parts.known.of(fact.topic)
            if (each.path, each.relation, each.object, each.status) == (path, relation, said, "current")
        )
        return min(there, key=lambda each: abs((each.line or 0) - (fact.line or 0)))

    def settle_noted(self, noted: Receipt, reason: str) -> None:
        """Settle what a person's own line decides: the same waits no longer, and no machine contests it. It is undone
        with the line."""
        edits = [noted.id]
        with self._parts.pages.absorb.threads, self._store.lock():
            self._parts.known.catch_up()
            waiting = [each for each in self._parts.known.waiting() if review_page.FORGET not in each.tags]
            for fact in self._parts.known.of(topic_of(noted.path)):
                if fact.status != "current" or f"{noted.path}@{noted.id}" not in fact.sources:
                    continue
                if gone := [self._parts.placer.remove(each, reason) for each in self._find_rivals(fact)]:
                    new = {"level": fact.level}
                    self._parts.placer.say(fact, new, ("level",), reason, edits=[*edits, *gone])
                    edits = []
                for each in waiting:
                    if is_same_fact(each, fact):
                        self._parts.placer.approve(each, reason=reason, edits=edits)
                        edits = []

    def _refuse_private(self, fact: Fact, said: str) -> None:
        """Refuse a new value of a private kind that the old one is not of, if git tracks the folder."""
        kinds = self._parts.kept_out(fact.topic, [said])
        held = self._parts.kept_out(fact.topic, [worded(fact.relation, fact.object)]) if kinds else ""
        if not set(kinds.split(", ")) <= {"", *held.split(", ")}:
            raise Refused(
                f"{fact.id} was not corrected: this is private ({kinds}), and git tracks the folder. `looseleaf "
                "remember --home` keeps it in the home memory; `--here` corrects it here all the same."
            )

    def _find_rivals(self, fact: Fact) -> list[Fact]:
        """Return the other values of a slot on the same page that machines noted apart: a person's word settles it."""
        at = address_of(fact)
        return [
            each
            for each in self._parts.known.of(fact.topic)
            if each.id != fact.id
            and (each.status, each.path) == ("current", fact.path)
            and is_said_on(each.object)
            and (address_of(each).slot, address_of(each).within) == (at.slot, at.within)
        ]

    def _reword_waiting(self, fact: Fact, relation: str, said: str) -> tuple[Fact, str, tuple[str, ...]]:
        """Reword a waiting fact: on its line in review first, so that all of it can be undone."""

        def change(text: str) -> Rewritten:
            at = review_page.line_of(text, fact.id or "")
            return Rewritten(text if at is None else replace_fact(text, review_page.PATH, at, relation, said))

        receipt = self._parts.pages.rewrite(review_page.PATH, change, reason="corrected", author=PERSON)
        self._parts.known.catch_up()
        return fact.but(relation=relation, object=said), "corrected", (receipt.id,) if receipt.id else ()

    def _journal_decision(self, name: str, reason: str, make: Callable[[Fact], dict[str, Any]]) -> Fact:
        with self._find_locked(name) as fact:
            if fact.status not in ("current", "pending"):
                raise Refused(
                    f"{fact.id} was not {reason}: it is {fact.status}. `looseleaf facts` lists what is current."
                )
            new = make(fact)
            if all(json_member(fact, member) == value for member, value in new.items()):
                return fact
            self._parts.placer.say(fact, new, tuple(new), reason)
            return self._parts.known.find(fact.id or "")

    def undo(self, author: str) -> tuple[Edit, Receipt] | None:
        """Undo the last decision on a fact, if nothing else was done since. None: the last change was an edit."""
        undone: set[str] = set()
        for line in self._store.read_back(JOURNAL):
            record = line.record
            kind = record.get("kind")
            if kind == "void":
                undone.add(str(record.get("edit")))
            if kind == "placed" and not undone.issuperset(record.get("edits", ())):
                return self._undo_entry(record, undone, author)
            if kind not in ("edit", "fact"):
                continue
            if record.get("undoes") is not None:
                undone.add(str(record["undoes"]))
                continue
            whose = record.get("author")
            is_left = is_housekeeping(whose, record.get("path")) or is_first_sight(whose, record.get("base"))
            is_left = is_left or record.get("merge") is not None
            if str(record.get("id")) not in undone and not is_left:
                return self._undo_decision(record) if kind == "fact" else None
        return None

    def _undo_entry(self, placed: Record, undone: set[str], author: str) -> tuple[Edit, Receipt] | None:
        """Undo all that an entry brought onto pages. None: a page changed since, or its parts cannot be told apart."""
        entry = str(placed.get("entry"))
        with self._parts.pages.absorb.threads, self._store.lock():
            self._parts.pages.absorb()
            edits = [str(each) for each in placed.get("edits", ()) if each not in undone]
            paths, changed = self._paths_of(edits)
            if changed:
                return None
            self._parts.pages.absorb.refuse_held(*paths.values())
            for each in reversed(edits):
                _, receipt = self._parts.pages.undo(paths[each], author=author)
            self._parts.known.catch_up()
        if placed.get("home"):
            self._note(
                "What went to the home memory from it stays. `looseleaf --memory ~/.looseleaf log` shows it there."
            )
        reason = f"{DISTILLED}{entry}"
        edit = Edit(str(placed["id"]), float(placed["ts"]), entry, PROGRAM, reason, None, None, ())
        return edit, Receipt(receipt.id, entry, None, None, 0, 0)

    def _paths_of(self, edits: list[str]) -> tuple[dict[str, str], list[str | None]]:
        """Return the pages that these edits changed, and those of them whose last edit is not one of these."""
        log = self._parts.pages.log() if edits else ()
        paths = {edit.id: edit.path for edit in log if edit.id in edits}
        changed: list[str | None] = []
        for path, each in {paths.get(each): each for each in edits}.items():
            last = self._parts.pages.history.last_to_undo(path) if path is not None else None
            if last is None or last.id != each:
                changed.append(path)
        return paths, changed

    def _undo_decision(self, word: Record) -> tuple[Edit, Receipt]:
        """Undo the edits made for a decision, the last one first; then the decision."""
        fact, reason = str(word["fact"]), str(word["reason"])
        with self._parts.pages.absorb.threads, self._store.lock():
            self._parts.pages.absorb()
            edits = [str(each) for each in word.get("edits", ())]
            paths, changed = self._paths_of(edits)
            if changed:
                raise Refused(f"“{reason}” was not undone: {changed[0]} was changed since. Undo that first.")
            self._parts.pages.absorb.refuse_held(*paths.values())
            for each in reversed(edits):
                self._parts.pages.undo(paths[each], author=PERSON)
            if edits:
                self._untick(fact)
            records = [_undoing(each) for each in self._act_of(word)]
            self._store.append(JOURNAL, records)
            self._parts.known.catch_up()
        name = fact if len(records) == 1 else f"{len(records):,} facts"
        edit = Edit(str(word["id"]), float(word["ts"]), name, PERSON, reason, None, None, ())
        return edit, Receipt(str(records[-1]["id"]), name, None, None, 0, 0)

    def _act_of(self, word: Record) -> list[Record]:
        """Return the decisions of the same act, newest first: they stand side by side in the journal."""
        if word.get("act") is None:
            return [word]
        back = (line.record for line in self._store.read_back(JOURNAL))
        same = dropwhile(lambda record: record.get("act") != word["act"], back)
        return list(takewhile(lambda record: record.get("act") == word["act"], same))

    def _untick(self, name: str) -> None:
        """Clear the tick of a line that is back in review. If nothing but the tick was saved, undo that edit; else
        remove only the tick."""
        before = self._parts.pages.page(review_page.PATH).text
        after = review_page.untick(before, name)
        if after == before:
            return
        last = self._parts.pages.history.last_to_undo(review_page.PATH)
        if last is not None and last.added == last.removed == 1 and last.author == EXTERNAL:
            self._parts.pages.undo(review_page.PATH, author=PERSON)
        else:
            self._parts.pages.rewrite(
                review_page.PATH, lambda text: Rewritten(review_page.untick(text, name)), reason="undone"
            )


def _undoing(word: Record) -> Record:
    record: Record = {"schema": SCHEMA, "id": new_id(), "ts": clock.now(), "kind": "fact"}
    record |= {"fact": str(word["fact"]), "topic": str(word["topic"]), "author": PERSON}
    record["reason"] = f"undo: {word['reason']}"
    return record | {"set": word["was"], "was": word["set"], "undoes": str(word["id"])}


def _read_value(text: str, fact: Fact) -> str:
    """Return the value in a person's words: the value itself, or a sentence that says nothing else."""
    if len(text.split()) < 3:  # "Paris", "green tea"
        return text.strip()
    from looseleaf.distill.statements import statements

    address = slot(fact.topic, fact.relation)
    read = statements(text, clock.now(), everything=True)
    here = [each for each in read if slot(fact.topic, each.relation) == address]
    if any(each.ended for each in here):
        raise Invalid(
            f"{fact.id} was not corrected: this says what is no longer so. Say what is right, or "
            f"`looseleaf reject {fact.id}`."
        )
    return here[0].object if len(here) == len(read) == 1 else text.strip()


_DATE = lazy(r" \[[^\[\]\n]{4,40}\]")
"""A date that the program wrote after words which mean another on another day."""


def _drop_old_dates(text: str, old: str) -> str:
    """Leave out dates of the old value that stand after other words now: "19 December [2026-12-12]"."""
    held, now = _words_before_dates(old), _words_before_dates(text)
    for date, words in now.items():
        if words != held.get(date, words):
            text = text.replace(date, "", 1)
    return text


def _words_before_dates(line: str) -> dict[str, str]:
    found = list(_DATE.finditer(line))
    if not found:
        return {}
    from looseleaf.language.dates import found as dates_in

    ends = {date.end: date.text for date in dates_in(line, clock.now())}
    return {match[0]: ends.get(match.start(), "") for match in found}


# --- obeying a wish not to remember -----------------------------------------------------

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
