"""Curate: what a person says of facts. A person's word outranks every distiller, is journaled, and can be undone."""

from __future__ import annotations

import time

from looseleaf.core.grammar import parse, remove_line, replace_fact, set_updated
from looseleaf.core.heads import PERSON, SCHEMA
from looseleaf.core.ledger import HIGHEST, PINNED
from looseleaf.core.lines import statement
from looseleaf.core.times import day
from looseleaf.errors import Refused
from looseleaf.page import Rewritten
from looseleaf.place import review
from looseleaf.store import JOURNAL
from looseleaf.store.ulid import new_id
from looseleaf.values import Edit, Receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.pages import Pages
    from looseleaf.place.facts import Facts
    from looseleaf.place.place import Place
    from looseleaf.store.protocol import Store
    from looseleaf.values import Fact, Record


class Curate:
    def __init__(self, store: Store, pages: Pages, facts: Facts, place: Place) -> None:
        self._store = store
        self._pages = pages
        self._facts = facts
        self._place = place

    def score(self, name: str, score: float) -> Fact:
        """How much a fact matters to a person, from 0 to 10: it outranks what any rule thinks of it."""
        if type(score) not in (int, float) or not 0 <= score <= HIGHEST:
            raise Refused(f"Nothing was scored: {score!r} is no score. Give a number from 0 to {HIGHEST}.")
        return self._say(name, "scored", lambda fact: {"user_fact_score": float(score)})

    def pin(self, name: str, *, pinned: bool = True) -> Fact:
        """Keep a fact among what must not be forgotten; or not any more."""

        def tags(fact: Fact) -> dict[str, Any]:
            others = [tag for tag in fact.tags if tag != PINNED]
            return {"tags": [*others, PINNED] if pinned else others}

        return self._say(name, "pinned" if pinned else "unpinned", tags)

    def approve(self, name: str) -> Fact:
        """Say yes: what waits in review goes to its page; what an agent wrote counts as a person's from now on."""
        with self._pages.absorb.threads, self._store.lock():
            self._place.catch_up()
            fact = self._facts.find(name)
            if fact.status == "pending":
                self._place.approve(fact, reason="approved")
                return self._facts.find(fact.id or "")
            if fact.status != "current":
                raise Refused(
                    f"{fact.id} was not approved: it is {fact.status}. `looseleaf history {fact.id}` shows what "
                    "stands in its place; write the fact on its page to have it again."
                )
        return self._say(name, "approved", lambda fact: {"level": "confirmed", "confidence": 1.0})

    def reject(self, name: str) -> Fact:
        """Say no: it goes from its page, or from review, and does not come back by itself."""
        with self._pages.absorb.threads, self._store.lock():
            self._place.catch_up()
            fact = self._facts.find(name)
            path = review.PATH if fact.status == "pending" else fact.path
            if fact.status not in ("pending", "current") or path is None:
                raise Refused(f"{fact.id} was not rejected: it is {fact.status} already.")

            def change(text: str) -> Rewritten:
                if path == review.PATH:
                    return Rewritten(review.without(text, [fact.id or ""]))
                return Rewritten(remove_line(text, _line(fact, path, text)))

            self._pages.rewrite(path, change, reason="rejected", author=PERSON)
            self._facts.catch_up()
            return self._facts.find(fact.id or "")

    def correct(self, name: str, text: str) -> Fact:
        """Say what is right: `Paris`, or `Home: Paris`. The old value stays in the history."""
        with self._pages.absorb.threads, self._store.lock():
            self._place.catch_up()
            fact = self._facts.find(name)
            stated = statement(text)
            relation, said = stated if stated and stated[0] != "note" else (fact.relation, text.strip())
            if fact.status == "pending":
                self._place.approve(fact.but(relation=relation, object=said), reason="corrected")
                return self._facts.find(fact.id or "")
            path = fact.path
            if fact.status != "current" or path is None:
                raise Refused(
                    f"{fact.id} was not corrected: it is {fact.status}. Correct the one that is current."
                )

            def change(old: str) -> Rewritten:
                new = replace_fact(old, path, _line(fact, path, old), relation, said)
                return Rewritten(set_updated(new, path, day(time.time())))

            line = fact.line
            self._pages.rewrite(path, change, reason="corrected", author=PERSON)
            self._facts.catch_up()
            return self._facts.find(f"{path}:{line}")

    # --- words on facts that change no page --------------------------------------------------

    def _say(self, name: str, reason: str, make: Any) -> Fact:
        with self._pages.absorb.threads, self._store.lock():
            self._place.catch_up()
            fact = self._facts.find(name)
            new = make(fact)
            if all(_plain(getattr(fact, member)) == value for member, value in new.items()):
                return fact
            was = {member: _plain(getattr(fact, member)) for member in new}
            self._append(fact.id or "", fact.topic, new, was, reason)
            return self._facts.find(fact.id or "")

    def _append(
        self, fact: str, topic: str, new: Any, was: Any, reason: str, undoes: str | None = None
    ) -> Record:
        record: Record = {"schema": SCHEMA, "id": new_id(), "ts": time.time(), "kind": "fact", "fact": fact}
        record |= {"topic": topic, "author": PERSON, "reason": reason, "set": new, "was": was}
        if undoes is not None:
            record["undoes"] = undoes
        self._store.append(JOURNAL, [record])
        self._facts.catch_up()
        return record

    def undo(self) -> tuple[Edit, Receipt] | None:
        """Take back the last word on a fact, if nothing else was done since. None: the last thing was an edit."""
        undone: set[str] = set()
        for line in self._store.read_back(JOURNAL):
            record = line.record
            kind = record.get("kind")
            if kind == "void":
                undone.add(str(record.get("edit")))
            if kind not in ("edit", "fact"):
                continue
            if record.get("undoes") is not None:
                undone.add(str(record["undoes"]))
            elif record.get("id") not in undone:
                return self._take_back(record) if kind == "fact" else None
        return None

    def _take_back(self, word: Record) -> tuple[Edit, Receipt]:
        fact, topic, reason = str(word["fact"]), str(word["topic"]), str(word["reason"])
        made = self._append(fact, topic, word["was"], word["set"], f"undo: {reason}", str(word["id"]))
        edit = Edit(str(word["id"]), float(word["ts"]), fact, PERSON, reason, None, None, ())
        return edit, Receipt(str(made["id"]), fact, None, None, 0, 0)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _line(fact: Fact, path: str, text: str) -> int:
    """Where the fact stands now: somebody may have saved the page a moment ago."""
    lines = [
        each.line or 0
        for each in parse(path, text).facts
        if (each.relation, each.object) == (fact.relation, fact.object)
    ]
    if not lines:
        raise Refused(f"{path} was not changed: “{fact.relation}: {fact.object}” is no longer on it.")
    return min(lines, key=lambda line: abs(line - (fact.line or 0)))
