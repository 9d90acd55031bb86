"""Redistilling: another distiller reads the same sources, and the difference is shown before anything is switched.

Its results lie in `views/redistill/`, by the hash of their sources and the distiller's name: unchanged sources are
never paid for twice. `apply` publishes new entries beside the old ones, which stay, and places them instead.
"""

from __future__ import annotations

import json
from functools import partial

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused
from looseleaf.base.ids import id_of, is_id, time_of
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.origins import is_at_least
from looseleaf.base.values import sha256
from looseleaf.distill.make_entry import MadeEntry, MaterialSources, distiller_level, sources_of
from looseleaf.facts.gate import proposal_of
from looseleaf.language.relations import relation_of, slot
from looseleaf.language.value_keys import key
from looseleaf.log.entries import FOLDER, Entry, distilled_of, meta_json, read_entry, summary_json
from looseleaf.pages.outside_edits import load_view
from looseleaf.store import records
from looseleaf.store.reading import read_and_write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from looseleaf.base.values import Fact
    from looseleaf.distill.make_entry import EntryWriter
    from looseleaf.facts.placement import PlacePlan
    from looseleaf.place.placer import PlacerNeeds
    from looseleaf.store.context import Context

SIDE = "views/redistill"
SCHEMA = "redistill.v1"

AT_ONCE = 8
"""The entries redone automatically at a time: after weeks without a model, the rest waits for the next runs."""

TRIES = 3
"""The number of tries for an entry: a model that refuses it would refuse, and be paid for, each time."""


@frozen
class FactDiff:
    """One fact that the other distiller sees differently: `gained`, `lost`, or `changed` from one value to another."""

    what: str
    entry: str
    topic: str
    relation: str
    object: str
    was: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return members_of(self)


@frozen
class Difference:
    """What a distiller would change, in how many entries; and how many of them it had to read for that."""

    distiller: str
    changes: tuple[FactDiff, ...]
    entries: int
    read: int
    failures: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "distiller": self.distiller,
            "entries": self.entries,
            "read": self.read,
            "failures": list(self.failures),
            "changes": [each.to_dict() for each in self.changes],
        }


class Redistill:
    def __init__(self, context: Context, parts: PlacerNeeds, write: EntryWriter) -> None:
        self._store = context.store
        self._parts = parts
        self._write = write

    def __call__(
        self, *, apply: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> Difference:
        """Compare the distiller's result for each entry's sources with the entry."""
        return read_and_write(self._store, lambda: self._compare(apply=apply, progress=progress))

    def _compare(self, *, apply: bool, progress: Callable[[int, int], None] | None) -> Difference:
        self._parts.placer.catch_up()
        name = self._write.distiller.name
        entries = list(self._placed_entries(name))
        changes: list[FactDiff] = []
        failures: list[str] = []
        made: list[Entry] = []
        read = 0
        for number, entry in enumerate(entries):
            summary, fresh, failed = self._distill_again(entry, name)
            read += fresh
            failures += failed
            if summary is not None:
                changes += _compare_facts(entry, summary)
                made.append(Entry(entry.reference, entry.meta, summary))
            if progress is not None:
                progress(number + 1, len(entries))
        if apply:
            self._switch(name, made)
        return Difference(name, tuple(changes), len(entries), read, tuple(failures))

    def failed(self) -> Difference:
        """Redo, and switch to, entries that the rules made because the distiller failed or was missing, as the entries
        themselves record; some of them, oldest first, until it fails again."""
        return read_and_write(self._store, self._redo_failed)

    def _redo_failed(self) -> Difference:
        self._parts.placer.catch_up()
        name = self._write.distiller.name
        changes: list[FactDiff] = []
        failures: tuple[str, ...] = ()
        made: list[Entry] = []
        for entry in self._placed_entries(name):
            if not entry.meta.get("failures") or not str(entry.meta.get("distiller")).startswith("rules/"):
                continue
            path = self._side_path(entry, name)
            tried = load_view(self._store, path, SCHEMA).get("tried")
            tries = tried if type(tried) is int else 0
            if tries >= TRIES:
                continue
            summary, _, failures = self._distill_again(entry, name)
            if summary is None:
                self._store.view(path, records.encode(_side_record(entry, name) | {"tried": tries + 1}))
                break
            changes += _compare_facts(entry, summary)
            made.append(Entry(entry.reference, entry.meta, summary))
            if len(made) == AT_ONCE:
                break
        self._switch(name, made)
        return Difference(name, tuple(changes), len(made), len(made), failures)

    def _placed_entries(self, name: str, *, others: bool = True) -> Iterator[Entry]:
        """Yield the placed entries of other distillers; or those of this one."""
        for reference in sorted(self._parts.known.placed()):
            try:
                entry = read_entry(self._store, reference)
            except Refused:
                continue  # `check` names it
            if (entry.meta.get("distiller") != name) == others:
                yield entry

    def _distill_again(self, entry: Entry, name: str) -> tuple[dict[str, Any] | None, int, tuple[str, ...]]:
        """Return (the distiller's result, 1 if it had to read the sources, failures)."""
        path = self._side_path(entry, name)
        found: dict[str, Any] | None = load_view(self._store, path, SCHEMA).get("summary")
        if found is not None:
            return found, 0, ()
        made, by, failures = self._write.make(MaterialSources(tuple(sources_of(self._store, entry))))
        if by != name:
            return None, 1, failures
        summary: dict[str, Any] = json.loads(summary_json(made))
        self._store.view(path, records.encode(_side_record(entry, name) | {"summary": summary}))
        return summary, 1, ()

    def _side_path(self, entry: Entry, name: str) -> str:
        """Return the path of the distiller's result for the sources of an entry."""
        traces = sources_of(self._store, entry)
        text = "\n".join((name, *(f"{trace.id} {trace.content}" for trace in traces)))
        return f"{SIDE}/{sha256(text.encode('utf-8', 'replace'))[:40]}.json"

    def _switch(self, name: str, made: list[Entry]) -> None:
        """Place each new entry instead of the old one. Lines that go with it go before it is journaled, so that a
        second run after a crash does the rest."""
        read: set[str] = set()
        said: set[tuple[str, str]] = set()
        known = {source for fact in self._parts.known.all() for source in fact.sources}
        for entry in (*made, *self._placed_entries(name, others=False)):
            said |= {_address_of(*each) for each in _facts_said(entry, entry.summary)}
            read |= known & {trace.id for trace in sources_of(self._store, entry)}
        for entry in made:
            own = {trace.id for trace in sources_of(self._store, entry)}
            own.add(entry.reference.rpartition("/")[2])
            lost = partial(self._find_lost, own=own, read=read, said=said)
            self._parts.placer.entry(self._publish(entry, name), lost=lost)

    def _publish(self, entry: Entry, name: str) -> Entry:
        topic, _, old = entry.reference.rpartition("/")
        digest = sha256(f"{name}\n{entry.reference}".encode())
        new = id_of(time_of(old) if is_id(old) else 0.0, bytes.fromhex(digest))
        raw = self._store.get(f"{FOLDER}/{entry.reference}/raw.md")
        meta = {key: value for key, value in entry.meta.items() if key not in ("schema", "loss", "upgraded")}
        meta |= {"id": new, "ts": clock.now(), "distiller": name, "instead": entry.reference}
        meta |= {"level": distiller_level(name), "failures": []}
        if "traces" not in meta:  # its sources are lines of the first entry's text
            meta["raw"] = str(entry.meta.get("raw") or entry.reference)
        files = {
            "raw.md": raw.data if raw is not None else b"",
            "summary.json": summary_json(distilled_of(entry.summary)),
            "meta.json": meta_json(meta),
        }
        return self._write.publish(MadeEntry(f"{topic}/{new}", files))

    def _find_lost(
        self, plan: PlacePlan, own: set[str], read: set[str], said: set[tuple[str, str]]
    ) -> list[Fact]:
        """Return the facts that rest on these sources, or on the entry alone, and on nothing that the distiller did not
        read; that it found nowhere, and no person confirmed."""
        again = {(each.fact.topic, each.fact.relation, each.fact.object) for each in plan.outcomes}
        return [
            fact
            for fact in self._parts.known.all()
            if fact.status == "current"
            and not is_at_least(fact.level, "confirmed")
            and own & (set(fact.sources) or {str(fact.entry_id).rpartition("/")[2]})
            and read.issuperset(fact.sources)
            and (fact.topic, fact.relation, fact.object) not in again
            and _address_of(fact.topic, fact.relation, fact.object) not in said
        ]


def _side_record(entry: Entry, name: str) -> dict[str, Any]:
    return {"schema": SCHEMA, "entry": entry.reference, "distiller": name}


def _facts_said(entry: Entry, summary: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    own = entry.reference.rpartition("/")[0]
    for raw in summary.get("facts", ()):
        proposal = proposal_of(raw)
        if proposal is not None and not proposal.ended:
            topic = proposal.topic if proposal.topic != "project" or own == "sessions" else own
            yield topic, proposal.relation, proposal.object


def _address_of(topic: str, relation: str, said: str) -> tuple[str, str]:
    return slot(topic, relation), key(said, relation)


def _compare_facts(entry: Entry, summary: dict[str, Any]) -> Iterator[FactDiff]:
    before = {_address_of(*each): each for each in _facts_said(entry, entry.summary)}
    after = {_address_of(*each): each for each in _facts_said(entry, summary)}
    replaced: set[tuple[str, str]] = set()
    for address, (topic, relation, said) in after.items():
        if address in before:
            continue
        same_slot = [each for each in before if each[0] == address[0] and each not in after]
        if same_slot and not relation_of(relation).many:
            replaced.add(same_slot[0])
            yield FactDiff("changed", entry.reference, topic, relation, said, before[same_slot[0]][2])
        else:
            yield FactDiff("gained", entry.reference, topic, relation, said)
    for address, (topic, relation, said) in before.items():
        if address not in after and address not in replaced:
            yield FactDiff("lost", entry.reference, topic, relation, said)
