"""What each agent's compactions kept (FORMAT §11.6): `views/agents/<agent>/episodic.jsonl` has a line for each of them,
`semantic.jsonl` one for each sentence that had to be kept, and for each fact that no such sentence says.

Invariant: nothing that is over is told. A sentence goes with the fact that it said, whoever replaced or rejected it,
and comes back with it. What was read so far is kept beside them in `kept.json`, a cache: the journal is read from where
it was left, and of the facts only topics that changed are looked at, unless a compaction came in between.
"""

from __future__ import annotations

import json

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.values import START, Position
from looseleaf.language.topic_words import wording
from looseleaf.log.entries import read_entry
from looseleaf.pages.outside_edits import belongs
from looseleaf.store import JOURNAL, records
from looseleaf.views.essentials import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from looseleaf.base.values import Fact, Record
    from looseleaf.facts.known_facts import Facts
    from looseleaf.log.entries import Entry
    from looseleaf.store.protocol import Store

    Line = dict[str, Any]

FOLDER = "views/agents"
SCHEMA = "kept.v1"

_NOTED = (("constraints", "constraint", 0.9), ("decisions", "decision", 0.8), ("tasks", "task", 0.7))
"""What of an entry is a line of its own, its tag, and how much it matters (salience)."""

_TOLD = "id ts fact tags confidence salience source".split()
_EPISODE_SALIENCE = 0.5
_CONFIDENCE = 0.8
"""That the rules understood a sentence as it was meant; that it was said is certain."""


def build_agent(store: Store, agent: str) -> None:
    """Add what an agent's compactions kept since; what became of the facts is looked at by `build_agents`."""
    try:
        _write(store, agent, _read_on(store, agent, _load(store, agent)))
    except Refused:
        pass  # made again another time; nothing that was asked for rests on it


def build_agents(store: Store, facts: Facts, changed: Collection[str], *, full: bool = False) -> None:
    """Bring the views of all agents up to date; `changed`: the topics whose facts are not what they were."""
    try:
        for stream in store.streams():
            kind, _, agent = stream.partition("/")
            if kind == "traces":
                _build(store, agent, facts, changed, full=full)
    except Refused:
        pass


def _build(store: Store, agent: str, facts: Facts, changed: Collection[str], *, full: bool) -> None:
    before = _NOTHING if full else _load(store, agent)
    kept = _read_on(store, agent, before)
    names = [name for name in (facts.topics if kept.is_unlooked else changed) if "/" not in name]
    if kept.episodic:
        sources = {line["source"] for line in kept.noted}
        entries = {line["entry"].rpartition("/")[2] for line in kept.episodic}
        topics = {} if kept.is_unlooked else dict(kept.topics)
        for name in names:
            looked = [_looked(fact) for fact in facts.of(name) if _concerns(fact, sources, entries)]
            topics[name] = sorted(looked, key=lambda each: (each["ts"], each["id"]))
        topics = {name: topics[name] for name in sorted(topics) if topics[name]}
        kept = kept.but(topics=topics)
    _write(store, agent, kept.but(is_unlooked=False))


# --- what was kept -----------------------------------------------------------------------


@frozen
class _Kept:
    """How far the journal was read, the lines of all compactions, and by topic what became of their facts.

    `is_unlooked`: there are sentences whose facts have not been looked for.
    """

    position: Position
    last: str | None
    episodic: list[Line]
    noted: list[Line]
    topics: dict[str, list[Line]]
    is_unlooked: bool

    def but(self, **others: Any) -> _Kept:
        return _Kept(**{name: getattr(self, name) for name in _Kept.__match_args__} | others)


_NOTHING = _Kept(START, None, [], [], {}, False)


def _load(store: Store, agent: str) -> _Kept:
    """What was kept when this was last built, if the files beside it are what was made of it."""
    try:
        document = store.get(f"{FOLDER}/{agent}/kept.json")
        raw = records.whole(document.data if document else b"")
        if raw["schema"] != SCHEMA:
            return _NOTHING
        members = {name: raw[name] for name in ("last", "episodic", "noted", "topics", "is_unlooked")}
        return _Kept(position=Position(*map(int, raw["position"])), **members)
    except (Refused, KeyError, TypeError, ValueError):
        return _NOTHING


def _read_on(store: Store, agent: str, kept: _Kept) -> _Kept:
    """With the compactions since. One that a crash left without a mark is none."""
    if not belongs(store, kept.position, kept.last):
        kept = _NOTHING  # the journal was written anew
    position, last = kept.position, kept.last
    episodic, noted = list(kept.episodic), list(kept.noted)
    for line in store.read(JOURNAL, kept.position):
        position, last = line.end, line.record.get("id")
        is_ours = line.record.get("kind") == "mark" and line.record.get("agent") == agent
        if not is_ours or not line.record.get("entry"):
            continue
        try:
            entry = read_entry(store, str(line.record["entry"]))
            episode, sentences = _episode(entry, len(episodic) + 1), _sentences(entry, len(noted) + 1)
        except (Refused, KeyError, TypeError):
            continue  # somebody removed or broke it; `check` says so
        episodic.append(episode)
        noted += sentences
    is_unlooked = kept.is_unlooked or len(episodic) > len(kept.episodic)
    return _Kept(position, last, episodic, noted, kept.topics, is_unlooked)


def _episode(entry: Entry, number: int) -> Line:
    return {
        "id": f"ep_{number:04d}",
        "ts": entry.meta["ts"],
        "turn_ids": entry.meta["turn_ids"],
        "summary": entry.summary["summary"],
        "tags": ["compaction", entry.meta["level"]],
        "salience": _EPISODE_SALIENCE,
        "entry": entry.reference,
    }


def _sentences(entry: Entry, number: int) -> list[Line]:
    found = [(each, tag, salience) for name, tag, salience in _NOTED for each in entry.summary.get(name, ())]
    return [
        {
            "id": f"sem_{number + offset:04d}",
            "ts": entry.meta["ts"],
            "fact": str(each["text"]),
            "tags": [tag],
            "confidence": _CONFIDENCE,
            "salience": salience,
            "source": str(each["source"]),
            "entry": entry.reference,
        }
        for offset, (each, tag, salience) in enumerate(found)
    ]


# --- what became of it -------------------------------------------------------------------


def _concerns(fact: Fact, sources: Collection[str], entries: Collection[str]) -> bool:
    if fact.level == "tainted" or fact.status == "pending":
        return False
    return fact.entry_id in entries or any(source in sources for source in fact.sources)


def _looked(fact: Fact) -> Line:
    return {
        "id": f"sem_{(fact.id or '').removeprefix('f_')}",
        "ts": fact.entry_ts or fact.recorded_at or 0.0,
        "fact": said(fact.relation, fact.object),
        "tags": [each for each in (fact.kind, fact.topic) if each],
        "confidence": fact.confidence,
        "salience": fact.salience,
        "source": fact.sources[0] if fact.sources else None,
        "entry": fact.entry_id,
        "is_over": fact.status != "current",
        "sources": list(fact.sources),
        "words": [text for text in (wording(fact.quote or ""), wording(fact.object)) if text],
    }


def _semantic(kept: _Kept) -> Iterator[Line]:
    looked = [each for name in sorted(kept.topics) for each in kept.topics[name]]
    by_source: dict[str, list[Line]] = {}
    for each in looked:
        for source in each["sources"]:
            by_source.setdefault(source, []).append(each)
    is_said: set[str] = set()
    for line in kept.noted:
        words = wording(line["fact"])
        of_it = [each for each in by_source.get(line["source"], ()) if _says(words, each["words"])]
        if not any(each["is_over"] for each in of_it):
            is_said.update(each["id"] for each in of_it)
            yield line
    entries = {line["entry"].rpartition("/")[2]: line["entry"] for line in kept.episodic}
    for each in looked:
        if not each["is_over"] and each["entry"] in entries and each["id"] not in is_said:
            told = {name: each[name] for name in _TOLD}
            yield told | {"entry": entries[each["entry"]]}


def _says(words: str, of_fact: Iterable[str]) -> bool:
    """Whether a sentence has the words of a fact, or is a part of them."""
    padded = f" {words} "
    return any(f" {each} " in padded or padded in f" {each} " for each in of_fact)


# --- the files -----------------------------------------------------------------------------


def _write(store: Store, agent: str, kept: _Kept) -> None:
    folder = f"{FOLDER}/{agent}"
    names = [name for name in _Kept.__match_args__ if name != "position"]
    record: Record = {"schema": SCHEMA, "position": list(kept.position)}
    record |= {name: getattr(kept, name) for name in names}
    files = {
        "episodic.jsonl": _jsonl(kept.episodic),
        "semantic.jsonl": _jsonl(_semantic(kept)),
        "kept.json": records.encode(record),
    }
    for name, data in files.items():
        there = store.get(f"{folder}/{name}")
        if there is None or there.data != data:
            store.view(f"{folder}/{name}", data)


def _jsonl(lines: Iterable[Line]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()
