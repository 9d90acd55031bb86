"""Builds topic memories and the global memory (FORMAT §11.6): facts by topic, and the few not to be forgotten.

A topic is rebuilt only when its facts or entries changed or one of its files is missing: `views/topics.json` has, for
each topic, the journal record after which it was built. The global files are built from a shortlist
(`views/essentials.json`, a cache), so they cost what changed, not what there is.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import NOTED
from looseleaf.base.origins import level_of
from looseleaf.base.values import sha256
from looseleaf.facts.layered import unite
from looseleaf.facts.ledger import ENTRIES, true_at
from looseleaf.facts.placement import outdated_by, over_and_now
from looseleaf.log.entries import as_json, read_entry
from looseleaf.pages.outside_edits import load_view
from looseleaf.store import records
from looseleaf.store.reading import read_and_write
from looseleaf.views import essentials as short
from looseleaf.views.essentials import digest, global_md, global_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from looseleaf.base.values import Fact, Position
    from looseleaf.facts.known_facts import Facts
    from looseleaf.store.protocol import Store
    from looseleaf.views.essentials import Shortlist

    Known = dict[str, tuple[list[int], float | None]]

INDEX = "views/topics.json"
FOLDER = "views/topics"
GLOBAL = "views/GLOBAL_MEMORY"
SHORTLIST = "views/essentials.json"
SCHEMA = "topics.v1"
BY_RULES = "rules/1"

_TOPIC_FILES = {"topic_memory.json", "topic_memory.md"}


@frozen
class Built:
    """The result of a build: the topics rebuilt, and how many there are."""

    made: tuple[str, ...]
    topics: int


class Topics:
    """The topic memories and the global memory, read and built."""

    def __init__(self, store: Store, facts: Facts) -> None:
        self._store = store
        self._facts = facts
        self._essentials: tuple[Position, list[dict[str, Any]]] | None = None

    @property
    def names(self) -> list[str]:
        return self._facts.names

    # --- reading -----------------------------------------------------------------------

    def topic(self, name: str, as_of: float | None = None) -> dict[str, Any]:
        """Return the memory of a topic, now or as of a time."""
        return self._build_topic(name, as_of)[0]

    def whole(self, as_of: float | None = None) -> dict[str, Any]:
        """Return the global memory, now or as of a time. For now it is built, which costs what changed."""
        if as_of is None:
            try:
                return self._update()[1]()
            except Refused:
                pass  # nothing can be written, but all of it can be read
        return _cap_updated(as_of, global_memory(self._digest(name, as_of) for name in self.names))

    def essentials(self) -> list[dict[str, Any]]:
        """Return what must not be forgotten now. Does not check that each topic's files exist."""
        at = self._facts.position
        if self._essentials is None or self._essentials[0] != at:
            try:
                self._essentials = at, self._update(looks=False)[1]()["do_not_forget"]
            except Refused:
                return list(self.whole()["do_not_forget"])
        return self._essentials[1]

    def _build_topic(self, name: str, as_of: float | None = None) -> tuple[dict[str, Any], list[Fact]]:
        """Return the memory of a topic, and all its true facts."""
        return build_topic([("", self)], name, as_of)

    def true(self, name: str, as_of: float | None) -> list[Fact]:
        """Return the true facts of a topic."""
        facts = true_at(self._facts.of(name), as_of)
        if as_of is None:
            return facts
        # What was true then is current in that memory.
        return [fact.but(status="current", valid_to=None, superseded_by=None) for fact in facts]

    def _digest(self, name: str, as_of: float | None = None) -> dict[str, Any]:
        return digest(*self._build_topic(name, as_of))

    def entries(self, name: str, as_of: float | None, beaten: Collection[Fact] = ()) -> list[dict[str, Any]]:
        """Return the entries of a topic, newest first, without what is over. `beaten`: facts of this memory that
        another layer knows better."""
        placed = self._facts.entries_of(name)
        over, now = over_and_now(self._facts.of(name))
        if beaten:
            lost = {fact.id for fact in beaten}
            over, now = [*over, *beaten], [fact for fact in now if fact.id not in lost]
        is_outdated = outdated_by(over, now)
        found: list[dict[str, Any]] = []
        for ts, reference in sorted(((ts, name) for name, ts in placed.items()), reverse=True):
            if len(found) == ENTRIES:
                break
            if as_of is not None and ts > as_of:
                continue
            try:
                entry = read_entry(self._store, reference)
            except Refused:
                continue  # removed or broken; `check` reports it
            summary, trust = entry.summary, str(entry.meta.get("trust", "tainted"))
            if trust == "tainted":
                # Its summary may quote tools; what the user and the assistant noted does not.
                origins = entry.meta.get("sources") or {}
                trust = "inferred"
                summary = {"summary": ""} | {
                    name: [
                        each
                        for each in summary.get(name, ())
                        if level_of(str(origins.get(each.get("source"), ""))) != "tainted"
                    ]
                    for name in NOTED
                }
            elif over and as_of is None and summary.get("summary"):
                summary = {**summary, "summary": _drop_outdated(str(summary["summary"]), is_outdated)}
            name_of = reference.rpartition("/")[2]
            found.append({"entry_id": name_of, "ts": ts, "level": trust, "summary": summary})
        return found

    # --- building ------------------------------------------------------------------------

    def build(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> Built:
        """Update the views; `full`: rebuild all."""
        made, _ = self._update(full=full, progress=progress)
        return Built(tuple(made), len(self.names))

    def _update(
        self, *, full: bool = False, looks: bool = True, progress: Callable[[int, int], None] | None = None
    ) -> tuple[Collection[str], Callable[[], dict[str, Any]]]:
        """Update the views; return the rebuilt topics, and a function for the global memory. Without `looks`, deleted
        files are left for the next build."""
        return read_and_write(
            self._store, lambda: self._write_views(full=full, looks=looks, progress=progress)
        )

    def _write_views(
        self, *, full: bool, looks: bool, progress: Callable[[int, int], None] | None
    ) -> tuple[Collection[str], Callable[[], dict[str, Any]]]:
        self._facts.catch_up()
        if looks:
            self._facts.make_whole()
        made: dict[str, dict[str, Any]] = {}
        known, built = ({}, "") if full else self._load_index()
        now: Known = {}
        names = self.names
        for number, name in enumerate(names):
            mark = list(self._facts.topics[name])
            before = known.get(name)
            if before is not None and before[0] == mark and (not looks or self._has_files(name)):
                now[name] = before
                continue
            from looseleaf.views.topic_memory import topic_md

            memory, facts = self._build_topic(name)
            self._store.view(f"{FOLDER}/{name}/topic_memory.json", as_json(memory))
            self._store.view(f"{FOLDER}/{name}/topic_memory.md", topic_md(memory).encode())
            made[name] = digest(memory, facts)
            now[name] = mark, memory["updated_at"]
            if progress is not None:
                progress(number + 1, len(names))
        is_whole = all(self._store.stat(f"{GLOBAL}.{end}") is not None for end in ("json", "md"))
        if made or now != known or not is_whole:
            index = records.encode_own({"schema": SCHEMA, "topics": dict(sorted(now.items()))})
            listed, whole = self._make_shortlist(built, made, known.keys() - now.keys(), now)
            kept = {"schema": short.SHORTLIST_SCHEMA, "of": sha256(index)} | listed.to_record()
            self._store.view(SHORTLIST, records.encode_own(kept))
            self._store.view(f"{GLOBAL}.json", as_json(whole))
            self._store.view(f"{GLOBAL}.md", global_md(whole).encode())
            self._store.view(INDEX, index)
            built = sha256(index)
        if looks or made:
            from looseleaf.views.agents import build_agents

            build_agents(self._store, self._facts, made, full=full)
        return made, lambda: self._make_shortlist(built, {}, (), now)[1]

    def _make_shortlist(
        self, built: str, made: Mapping[str, dict[str, Any]], gone: Collection[str], now: Known
    ) -> tuple[Shortlist, dict[str, Any]]:
        """Return the shortlist and its global memory: from what changed, else from all topics."""
        updated_at = max((ts or 0.0 for _, ts in now.values()), default=0.0) or None
        before = self._load_shortlist(built)
        if before is not None:
            listed = short.update_shortlist(before, {*made, *gone}, made.values())
            whole = short.memory_from(listed, len(now), updated_at)
            if whole is not None:
                return listed, whole
        listed = short.make_shortlist(made[name] if name in made else self._digest(name) for name in now)
        whole = short.memory_from(listed, len(now), updated_at)
        return listed, whole if whole is not None else global_memory(map(self._digest, now))

    def _load_shortlist(self, built: str) -> Shortlist | None:
        """Load the shortlist made with the index of this hash."""
        raw = load_view(self._store, SHORTLIST, short.SHORTLIST_SCHEMA)
        try:
            return short.Shortlist.from_record(raw) if raw["of"] == built else None
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def _load_index(self) -> tuple[Known, str]:
        """Load the index (for each topic, after which record it was built and when it last changed) and its hash;
        empty if it is not whole."""
        try:
            document = self._store.get(INDEX)
            raw = records.whole(document.data if document else b"")
            topics = raw["topics"] if raw["schema"] == SCHEMA else {}
            known = {each: (mark, updated_at) for each, (mark, updated_at) in topics.items()}
            return known, document.sha256 if document else ""
        except (Refused, KeyError, TypeError, ValueError, AttributeError):
            return {}, ""

    def _has_files(self, name: str) -> bool:
        there = {stat.path.rpartition("/")[2] for stat in self._store.list(f"{FOLDER}/{name}")}
        return there >= _TOPIC_FILES


def _drop_outdated(summary: str, is_outdated: Callable[[str], bool]) -> str:
    """Return an entry's summary without the sentences that are no longer true."""
    from looseleaf.language.sentences import sentences

    lines = summary.split("\n")
    for at, line in enumerate(lines):
        found = sentences(line)
        kept = [each for each in found if not is_outdated(each)]
        if len(kept) < len(found):
            lines[at] = " ".join(kept)
    return "\n".join(lines)


def _cap_updated(as_of: float | None, memory: dict[str, Any]) -> dict[str, Any]:
    """Cap `updated_at` at `as_of`: nothing in that memory is later, whenever it was written down."""
    updated = memory["updated_at"]
    return memory if as_of is None or updated is None else memory | {"updated_at": min(updated, as_of)}


def build_topic(
    layers: Sequence[tuple[str, Topics]], name: str, as_of: float | None = None
) -> tuple[dict[str, Any], list[Fact]]:
    """Return the memory of a topic, and all its true facts, of several layers together, the nearest first. Its state
    is made from the entries of all."""
    from looseleaf.views.topic_memory import state_inputs_hash, topic_memory  # not loaded by readers

    true = [(layer, topics.true(name, as_of)) for layer, topics in layers]
    facts = unite(true)
    shown = {(fact.layer or "", fact.id) for fact in facts}
    entries = [
        entry
        for (layer, own), (_, topics) in zip(true, layers, strict=True)
        for entry in topics.entries(name, as_of, [fact for fact in own if (layer, fact.id) not in shown])
    ]
    made = topic_memory(name, facts, entries, as_of=as_of)
    inputs = state_inputs_hash(name, facts, entries, as_of=as_of)
    return _cap_updated(as_of, made) | {"state_by": BY_RULES, "state_inputs": inputs}, facts


def build_whole(layers: Sequence[tuple[str, Topics]], as_of: float | None = None) -> dict[str, Any]:
    """Return the global memory of several layers together."""
    names = sorted({name for _, topics in layers for name in topics.names})
    having = {name: [each for each in layers if name in each[1].names] for name in names}
    return _cap_updated(
        as_of, global_memory(digest(*build_topic(having[name], name, as_of)) for name in names)
    )
