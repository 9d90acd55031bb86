"""Views of what each agent's compactions kept (FORMAT §11.6), in `views/agents/<agent>/`: `episodic.jsonl` has a line
for each compaction, `semantic.jsonl` one for each kept sentence, and for each fact that no such sentence states.

Invariant: no outdated line is shown. A sentence goes when its fact is replaced or rejected, and comes back with it. The
cache `kept.json` has what was read so far: the journal is read from there, and only the facts of changed topics are
checked, unless a compaction came in between.
"""

from __future__ import annotations

import json

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.values import START, Position
from looseleaf.language.topic_words import wording
from looseleaf.log.entries import read_entry
from looseleaf.pages.outside_edits import is_same_log, load_view
from looseleaf.store import JOURNAL, records
from looseleaf.views.essentials import shown_bullet

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
"""The lists of an entry that become lines, their tag, and their salience."""

_SHOWN = "id ts fact tags confidence salience source".split()
_EPISODE_SALIENCE = 0.5
_CONFIDENCE = 0.8
"""How sure it is that the rules understood a sentence; that it was said is certain."""


def build_agent(store: Store, agent: str) -> None:
    """Add what an agent's compactions kept since; `build_agents` checks what became of the facts."""
    try:
        _write(store, agent, _catch_up(store, agent, _load(store, agent)))
    except Refused:
        pass  # only a cache, rebuilt later


def build_agents(store: Store, facts: Facts, changed: Collection[str], *, full: bool = False) -> None:
    """Update the views of all agents; `changed`: the topics whose facts changed."""
    try:
        for stream in store.streams():
            kind, _, agent = stream.partition("/")
            if kind == "traces":
                _build_one(store, agent, facts, changed, full=full)
    except Refused:
        pass


def _build_one(store: Store, agent: str, facts: Facts, changed: Collection[str], *, full: bool) -> None:
    before = _EMPTY if full else _load(store, agent)
    kept = _catch_up(store, agent, before)
    names = [name for name in (facts.topics if kept.is_unlooked else changed) if "/" not in name]
    if kept.episodic:
        sources = {line["source"] for line in kept.noted}
        entries = {line["entry"].rpartition("/")[2] for line in kept.episodic}
        topics = {} if kept.is_unlooked else dict(kept.topics)

        def is_relevant(fact: Fact) -> bool:
            is_ours = fact.entry_id in entries or not sources.isdisjoint(fact.sources)
            return is_ours and fact.level != "tainted" and fact.status != "pending"

        for name in names:
            looked = [_fact_line(fact) for fact in facts.of(name) if is_relevant(fact)]
            topics[name] = sorted(looked, key=lambda each: (each["ts"], each["id"]))
        topics = {name: topics[name] for name in sorted(topics) if topics[name]}
        kept = kept.but(topics=topics)
    _write(store, agent, kept.but(is_unlooked=False))


@frozen
class _Kept:
    """How far the journal was read, the lines of all compactions, and by topic what became of their facts.

    `is_unlooked`: the facts of some sentences have not been checked.
    """

    position: Position
    last: str | None
    episodic: list[Line]
    noted: list[Line]
    topics: dict[str, list[Line]]
    is_unlooked: bool

    def but(self, **others: Any) -> _Kept:
        return _Kept(**members_of(self) | others)


_EMPTY = _Kept(START, None, [], [], {}, False)


def _load(store: Store, agent: str) -> _Kept:
    """Load the cache of the last build; empty if it is missing or unreadable."""
    raw = load_view(store, f"{FOLDER}/{agent}/kept.json", SCHEMA)
    try:
        members = {name: raw[name] for name in ("last", "episodic", "noted", "topics", "is_unlooked")}
        return _Kept(position=Position(*map(int, raw["position"])), **members)
    except (KeyError, TypeError, ValueError):
        return _EMPTY


def _catch_up(store: Store, agent: str, kept: _Kept) -> _Kept:
    """Add the compactions since. One that a crash left without a mark does not count."""
    if not is_same_log(store, kept.position, kept.last):
        kept = _EMPTY  # the journal was rewritten
    position, last = kept.position, kept.last
    episodic, noted = list(kept.episodic), list(kept.noted)
    for line in store.read(JOURNAL, kept.position):
        position, last = line.end, line.record.get("id")
        is_ours = line.record.get("kind") == "mark" and line.record.get("agent") == agent
        if not is_ours or not line.record.get("entry"):
            continue
        try:
            entry = read_entry(store, str(line.record["entry"]))
            episode = _episode_line(entry, len(episodic) + 1)
            sentences = _sentence_lines(entry, len(noted) + 1)
        except (Refused, KeyError, TypeError):
            continue  # removed or broken; `check` reports it
        episodic.append(episode)
        noted += sentences
    is_unlooked = kept.is_unlooked or len(episodic) > len(kept.episodic)
    return _Kept(position, last, episodic, noted, kept.topics, is_unlooked)


def _episode_line(entry: Entry, number: int) -> Line:
    return {
        "id": f"ep_{number:04d}",
        "ts": entry.meta["ts"],
        "turn_ids": entry.meta["turn_ids"],
        "summary": entry.summary["summary"],
        "tags": ["compaction", entry.meta["level"]],
        "salience": _EPISODE_SALIENCE,
        "entry": entry.reference,
    }


def _sentence_lines(entry: Entry, number: int) -> list[Line]:
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


def _fact_line(fact: Fact) -> Line:
    return {
        "id": f"sem_{(fact.id or '').removeprefix('f_')}",
        "ts": fact.entry_ts or fact.recorded_at or 0.0,
        "fact": shown_bullet(fact.relation, fact.object),
        "tags": [each for each in (fact.kind, fact.topic) if each],
        "confidence": fact.confidence,
        "salience": fact.salience,
        "source": fact.sources[0] if fact.sources else None,
        "entry": fact.entry_id,
        "is_over": fact.status != "current",
        "sources": list(fact.sources),
        "words": [text for text in (wording(fact.quote or ""), wording(fact.object)) if text],
    }


def _semantic_lines(kept: _Kept) -> Iterator[Line]:
    looked = [each for name in sorted(kept.topics) for each in kept.topics[name]]
    by_source: dict[str, list[Line]] = {}
    for each in looked:
        for source in each["sources"]:
            by_source.setdefault(source, []).append(each)
    is_said: set[str] = set()
    for line in kept.noted:
        words = wording(line["fact"])
        of_it = [each for each in by_source.get(line["source"], ()) if _shares_words(words, each["words"])]
        if not any(each["is_over"] for each in of_it):
            is_said.update(each["id"] for each in of_it)
            yield line
    entries = {line["entry"].rpartition("/")[2]: line["entry"] for line in kept.episodic}
    for each in looked:
        if not each["is_over"] and each["entry"] in entries and each["id"] not in is_said:
            yield {name: each[name] for name in _SHOWN} | {"entry": entries[each["entry"]]}


def _shares_words(words: str, of_fact: Iterable[str]) -> bool:
    """True if a sentence contains the words of a fact, or they contain it."""
    padded = f" {words} "
    return any(f" {each} " in padded or padded in f" {each} " for each in of_fact)


def _write(store: Store, agent: str, kept: _Kept) -> None:
    folder = f"{FOLDER}/{agent}"
    record: Record = members_of(kept)
    record = {"schema": SCHEMA} | record | {"position": list(kept.position)}
    files = {
        "episodic.jsonl": _encode_lines(kept.episodic),
        "semantic.jsonl": _encode_lines(_semantic_lines(kept)),
        "kept.json": records.encode(record),
    }
    for name, data in files.items():
        there = store.get(f"{folder}/{name}")
        if there is None or there.data != data:
            store.view(f"{folder}/{name}", data)


def _encode_lines(lines: Iterable[Line]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()
