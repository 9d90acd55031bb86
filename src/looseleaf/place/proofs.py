"""What the logs of all machines prove of a fact: none is believed beyond what their records bear out (FORMAT §20.4).

A person's record, in any log, vouches for words. Beyond that, a fact rests on talk: on an entry or a trace that some
log has. What names nothing that is there is at most a conclusion.
"""

from __future__ import annotations

import json
import re

from looseleaf.base.errors import Refused
from looseleaf.base.origins import CONFIDENCE, LEVELS, is_at_least, level_of, lowest
from looseleaf.base.paths import STATE
from looseleaf.base.values import Fact
from looseleaf.facts.ledger import address_of
from looseleaf.language.words import fold
from looseleaf.log.journal import AGENT, DISTILLED, EXTERNAL, MERGED, PERSON, PROGRAM, UNKNOWN
from looseleaf.log.talk_streams import journals, own_talk, talk_elsewhere
from looseleaf.pages.grammar import parse
from looseleaf.store.machines import log_of
from looseleaf.text.lines import undoubted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.base.values import Level, Record
    from looseleaf.store.protocol import Store

    Said = tuple[str, str, str]

_WRITERS = (None, "", "user", "assistant", PERSON, PROGRAM, EXTERNAL, UNKNOWN)
"""Origins of words that came from nowhere else: what they conclude is at most inferred."""


class Proofs:
    """Reads the journals when a record claims a level for the first time, and talk only if that is all there is.
    `trusts`: edits found on disk are a person's."""

    def __init__(self, store: Store, *, trusts: bool) -> None:
        self._store = store
        self._persons = (PERSON, EXTERNAL) if trusts else (PERSON,)
        self._vouched: set[Said] = set()
        self._named: set[str] = set()
        """Ids of facts that a person vouched for, whose words no record has."""
        self._edits: dict[str, Record] = {}
        """The edits of the state, from which facts were moved to pages."""
        self._entries: dict[str, Level | None] = {}
        self._placed: set[str] = set()
        self._traces: set[str] | None = None
        self._talk: list[set[str]] = []
        """The words of each message of a user."""
        self._is_read = False
        self.doubted: set[str] = set()
        """The machines whose logs claim what is not proven: that may still come."""

    def _read_journals(self) -> None:
        if not self._is_read:
            self._is_read = True
            for stream in journals(self._store):
                self._read(stream)

    def _read(self, stream: str) -> None:
        words: dict[str, Said] = {}
        for line in self._store.read(stream):
            record, kind = line.record, line.record.get("kind")
            if kind == "edit":
                is_persons = record.get("author") in self._persons
                if record.get("path") == STATE:
                    self._edits[str(record.get("id"))] = record
                self._hear(_facts_in(record), words, is_persons=is_persons)
                for text in _added(record) if is_persons else ():
                    found = parse(str(record.get("path")), text).facts
                    self._vouched.update(_said(fact.relation, fact.object) for fact in found)
            elif kind in (MERGED, "placed"):
                self._hear(_facts_in(record), words, is_persons=False)
                if record.get("entry"):
                    self._placed.add(str(record["entry"]).rpartition("/")[2])
            elif kind == "fact" and record.get("author") == PERSON and _raises(record):
                name = str(record.get("fact"))
                self._vouched.update({words[name]} if name in words else ())
                self._named.update({name} - words.keys())

    def _hear(self, facts: Iterator[Record], words: dict[str, Said], *, is_persons: bool) -> None:
        for raw in facts:
            said = words[str(raw.get("id"))] = _said(str(raw.get("relation")), str(raw.get("object")))
            if is_persons:
                self._vouched.add(said)

    # --- what a record may claim -----------------------------------------------------------

    def capped(self, record: Record, machine: str) -> Record:
        """Return a record of another machine in which no fact has a higher level than is proven."""
        kind = record.get("kind")
        if kind == "edit" and record.get("author") not in self._persons:
            return self._with_facts(record, machine, "facts")
        if kind in (MERGED, "placed"):
            return self._with_facts(record, machine, "facts", "raised", "history", "retold")
        return without_levels(record)

    def capped_fact(self, fact: Fact, machine: str) -> Fact:
        """Return a fact as another machine knows it, with the highest level that is proven."""
        raw = fact.to_dict()
        made = self._capped(raw, machine)
        return fact if made is raw else fact.but(level=made["level"], confidence=made["confidence"])

    def _with_facts(self, record: Record, machine: str, *members: str) -> Record:
        changed: Record = {}
        for name in members:
            given: list[Any] = record.get(name) or []
            made = [
                self._capped(each, machine)
                if isinstance(each, dict)
                else [each[0], self._capped(each[1], machine)]
                for each in given
            ]
            if made != given:
                changed[name] = made
        return record | changed if changed else record

    def _capped(self, raw: Record, machine: str) -> Record:
        level = raw.get("level")
        if level in (None, "tainted"):
            return raw
        most = self._most(raw)
        if LEVELS.index(level) <= LEVELS.index(most):
            return raw
        self.doubted.add(machine)
        confidence = min(raw.get("confidence") or CONFIDENCE[most], CONFIDENCE[most])
        return raw | {"level": most, "confidence": confidence}

    def _most(self, raw: Record) -> Level:
        """Return the highest level that is proven for a fact."""
        self._read_journals()
        relation, said = str(raw.get("relation")), str(raw.get("object"))
        if raw.get("id") in self._named or _said(relation, said) in self._vouched:
            return "confirmed"
        origin = raw.get("origin")
        level = level_of(origin) if isinstance(origin, str) else "tainted"
        is_users = is_at_least(level, "said")
        most = self._level_there(raw, said if is_users else "")
        if most is not None:
            return lowest((level, most)) if is_users else "inferred"
        is_writer = origin in _WRITERS or str(origin).startswith(AGENT)
        return "inferred" if is_writer else "tainted"

    def _level_there(self, raw: Record, said: str) -> Level | None:
        """Return the highest level of what a fact rests on and some log has; None: nothing of it is there. `said`: the
        user's words, where it names nothing."""
        sources = [str(each) for each in raw.get("sources") or ()]
        entries = {str(raw["entry_id"])} if raw.get("entry_id") else set[str]()
        entries |= {
            each.partition("/raw.md")[0].partition("entries/")[2] for each in sources if "/raw.md" in each
        }
        found = [level for each in entries if each and (level := self._level_of_entry(each)) is not None]
        edits = [each.rpartition("@")[2] for each in sources if each.startswith(f"{STATE}@")]
        found += [level for each in edits if (level := self._level_of_edit(each)) is not None]
        if found:
            return max(found, key=LEVELS.index)
        traces = {each for each in sources if "/" not in each and "@" not in each}
        if not traces and (sources or entries or not said):
            return None
        self._read_talk()
        if traces:
            is_there = not traces.isdisjoint(self._traces or ())
        else:
            words = _words(undoubted(said))
            is_there = bool(words) and any(words <= each for each in self._talk)
        return "said" if is_there else None

    def _level_of_edit(self, name: str) -> Level | None:
        """Return the level of what an edit put into the state; None: no journal has it, or nothing bears it out."""
        edit = self._edits.get(name, {})
        author = edit.get("author")
        if author in self._persons:
            return "confirmed"
        if author == PROGRAM and edit.get("merge") is None:
            return self._level_of_entry(str(edit.get("reason")).removeprefix(DISTILLED))
        return "inferred" if author else None

    def _level_of_entry(self, reference: str) -> Level | None:
        """Return the level of what an entry was made of, given with or without its topic; None: no log has it. One that
        was placed and is still to be carried here counts as what the fact says of it."""
        topic, _, name = reference.rpartition("/")
        if name not in self._entries:
            found = [self._level_in(folder) for folder in self._folders_of(topic, name)]
            self._entries[name] = max(found, key=LEVELS.index, default=None)
        level = self._entries[name]
        return "confirmed" if level is None and name in self._placed else level

    def _folders_of(self, topic: str, name: str) -> Iterator[str]:
        for log in ("log", *map(log_of, self._store.machines())):
            for each in self._store.folders(f"{log}/entries"):
                if topic in ("", each) and name in self._store.folders(f"{log}/entries/{each}"):
                    yield f"{log}/entries/{each}/{name}"

    def _level_in(self, folder: str) -> Level:
        """Return the level that an entry says its text has; talk has at most the user's."""
        try:
            document = self._store.get(f"{folder}/meta.json")
            origin = json.loads(document.data).get("origin") if document is not None else None
        except (Refused, ValueError, AttributeError, RecursionError):
            return "tainted"
        return level_of(origin) if isinstance(origin, str) else "said"

    def _read_talk(self) -> None:
        if self._traces is not None:
            return
        self._traces = set()
        for stream in (*own_talk(self._store), *talk_elsewhere(self._store)):
            for line in self._store.read(stream):
                self._traces.add(str(line.record.get("id")))
                content = line.record.get("content")
                if line.record.get("trace_type") == "user" and isinstance(content, str):
                    self._talk.append(_words(content))


def without_levels(record: Record) -> Record:
    """Return a record without the level that it sets, if it is no person's: only a person promotes."""
    if record.get("kind") != "fact" or record.get("author") == PERSON or not _raises(record):
        return record
    kept = {name: value for name, value in record["set"].items() if name not in ("level", "confidence")}
    return record | {"set": kept}


def _words(text: str) -> set[str]:
    return {*re.findall(r"\w+", fold(text))}


def _said(relation: str, said: str) -> Said:
    """Return one form of the words of a fact, whatever marks it has, and whichever page it is on."""
    at = address_of(Fact("", "", relation, undoubted(said)))
    return at.slot, at.within, at.key


def _raises(record: Record) -> bool:
    given = record.get("set")
    return isinstance(given, dict) and given.get("level") is not None


def _facts_in(record: Record) -> Iterator[Record]:
    for name in ("facts", "raised", "history", "retold"):
        for each in record.get(name) or ():
            raw = each[1] if isinstance(each, list) and len(each) == 2 else each
            if isinstance(raw, dict):
                yield raw


def _added(record: Record) -> Iterator[str]:
    for hunk in record.get("diff") or ():
        yield from hunk.get("add", ()) if isinstance(hunk, dict) else ()
