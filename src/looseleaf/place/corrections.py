"""Corrections: a person's decisions on facts. They outrank every distiller, are journaled, and can be undone."""

from __future__ import annotations

from contextlib import contextmanager

from looseleaf.base import ids as clock
from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.ids import new_id
from looseleaf.base.paths import PINNED
from looseleaf.base.values import Edit, Receipt
from looseleaf.facts.ledger import HIGHEST
from looseleaf.facts.page_lines import is_same_fact
from looseleaf.log.journal import EXTERNAL, PERSON, PROGRAM, SCHEMA, is_housekeeping
from looseleaf.pages.grammar import as_written, remove_line, replace_fact, set_updated
from looseleaf.pages.pages import Rewritten
from looseleaf.place import entry_pages as review_page
from looseleaf.place.placer import find_line_on, json_member, known
from looseleaf.store import JOURNAL
from looseleaf.text.lines import NOTE, is_found, statement, undoubted
from looseleaf.text.times import day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from looseleaf.base.values import Fact, Record
    from looseleaf.place.placer import PlacerNeeds
    from looseleaf.store.context import Context


class Corrector:
    def __init__(self, context: Context, parts: PlacerNeeds) -> None:
        self._store = context.store
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
            raise Invalid(f"Nothing was scored: {score!r} is no score. Give a number from 0 to {HIGHEST}.")
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
            new = {"level": "confirmed", "confidence": 1.0}
            return self._journal_decision(name, "approved", lambda fact: new)

    def _vouch(self, fact: Fact, relation: str, said: str, reason: str) -> Fact:
        """Turn an agent's finding into a person's word, on the page for such words."""
        from looseleaf.facts.placement import PlacePlan  # imported late: readers of facts never load it

        facts = self._parts.known
        plan = PlacePlan(fact.entry_id or "", fact.entry_ts or 0.0, facts.of, lambda proposal: fact.topic)
        new = plan.vouch(fact, relation, said, clock.now())
        edits = self._parts.placer.carry_out(plan, reason=reason, author=PERSON)
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

    def correct(self, name: str, text: str) -> Fact:
        """Say what is right: `Paris`, or `Home: Paris`. The old value stays in the history."""
        if type(text) is not str or not text.strip():
            raise Invalid(f"{name} was not corrected: there are no words in it. Say what is right.")
        with self._find_locked(name) as fact:
            relation, said = statement(text) or (NOTE, "")
            if relation == NOTE:
                relation, said = fact.relation, _read_value(text, fact)
            relation, said = as_written(relation, said)
            if (relation, said) == (fact.relation, fact.object):
                return self.approve(name)  # it was right
            if fact.status == "pending":
                return self._approve_fact(*self._reword_waiting(fact, relation, said))
            if fact.status == "current" and is_found(fact.object):
                return self._vouch(fact, relation, undoubted(said), "corrected")
            path = fact.path
            if fact.status != "current" or path is None:
                why = f"it is {fact.status}. Correct the one that is current."
                raise Refused(f"{fact.id} was not corrected: {why}")

            def change(old: str) -> Rewritten:
                new = replace_fact(old, path, find_line_on(fact, path, old), relation, said)
                for note in notes:
                    new = remove_line(new, find_line_on(note, path, new))
                new = set_updated(new, path, day(clock.now()))
                trusted = {"relation": relation, "object": said, "level": "confirmed"}
                text = self._parts.placer.summarised(path, new, [trusted])
                # The record of the old value marks the summary as the program's; the new one is the person's.
                return Rewritten(text, tuple(map(known, (fact, *notes))))

            notes = self._parts.placer.retold(fact)
            self._parts.pages.rewrite(path, change, reason="corrected", author=PERSON)
            self._parts.known.catch_up()
            there = (
                each
                for each in self._parts.known.of(fact.topic)
                if (each.path, each.relation, each.object, each.status) == (path, relation, said, "current")
            )
            return min(there, key=lambda each: abs((each.line or 0) - (fact.line or 0)))

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
            is_own = is_housekeeping(record.get("author"), record.get("path"))
            if record.get("id") not in undone and not is_own:
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
            for each in reversed(edits):
                _, receipt = self._parts.pages.undo(paths[each], author=author)
            self._parts.known.catch_up()
        reason = f"distilled from {entry}"
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
            for each in reversed(edits):
                self._parts.pages.undo(paths[each], author=PERSON)
            if edits:
                self._untick(fact)
            record: Record = {"schema": SCHEMA, "id": new_id(), "ts": clock.now(), "kind": "fact"}
            record |= {
                "fact": fact,
                "topic": str(word["topic"]),
                "author": PERSON,
                "reason": f"undo: {reason}",
            }
            record |= {"set": word["was"], "was": word["set"], "undoes": str(word["id"])}
            self._store.append(JOURNAL, [record])
            self._parts.known.catch_up()
        edit = Edit(str(word["id"]), float(word["ts"]), fact, PERSON, reason, None, None, ())
        return edit, Receipt(str(record["id"]), fact, None, None, 0, 0)

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


def _read_value(text: str, fact: Fact) -> str:
    """Return the value in a person's words: the value itself, or a sentence that says nothing else."""
    if len(text.split()) < 3:  # "Paris", "green tea"
        return text.strip()
    from looseleaf.distill.statements import statements
    from looseleaf.language.relations import slot

    address = slot(fact.topic, fact.relation)
    read = statements(text, clock.now(), everything=True)
    here = [each for each in read if slot(fact.topic, each.relation) == address]
    if any(each.ended for each in here):
        raise Invalid(
            f"{fact.id} was not corrected: this says what is no longer so. Say what is right, or "
            f"`looseleaf reject {fact.id}`."
        )
    return here[0].object if len(here) == len(read) == 1 else text.strip()
