"""What each of the machines that share a memory has forgotten (FORMAT §20.6).

A tombstone holds hashes, and the ids of what went. What one machine forgot counts on all: words of another machine that
have such a hash are not shown, and once that machine has heard of it, they are gone from its log.
"""

from __future__ import annotations

import json

from looseleaf.base.immutable import Replaceable, frozen
from looseleaf.base.paths import STATE
from looseleaf.facts.known_facts import (
    FILE,
    TOMBSTONES_SCHEMA,
    fact_text,
    key_fingerprint,
    keys_of,
    sentence_text,
    tombstone_hash,
)
from looseleaf.log.talk_streams import talk_elsewhere
from looseleaf.pages.grammar import parse, topic_of
from looseleaf.store import TOMBSTONES, records
from looseleaf.store.machines import log_of, stream_of
from looseleaf.text.spellings import MASK, each_text, fold_text, sentences_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from looseleaf.base.values import Record
    from looseleaf.store.protocol import Store

SAID = ("content", "tool_args", "tool_result", "tool_error", "reasoning", "media", "opaque")
"""The members of a trace without which it says nothing."""

GONE = "gone.v1"
HEARD = "heard"
"""How a machine forgot that only carried out what others forgot."""


def filler(record: Record) -> Record:
    """Return the stand-in for a removed line: its id, and its turn number, which stays used."""
    kept = {name: record[name] for name in ("id", "turn_id") if isinstance(record.get(name), str)}
    return {"schema": GONE, "kind": "gone", **kept}


def names_of(source: str) -> tuple[str, ...]:
    """Return the ids by which the source of a fact is known: of a trace, or of an entry and its text."""
    name = source.partition("#")[0]
    return (name, name.split("/")[-2]) if name.endswith("/raw.md") and name.count("/") > 1 else (name,)


def origins_of(origin: str) -> Iterator[str]:
    """Yield an origin and the wider ones that it is of: `import:chatgpt`, `import`."""
    while origin:
        yield origin
        origin = origin.rpartition(":")[0]


_ENDS = ".,;:!?\"'()[]{}…。！？“”‘’"
_LEAST = 3
_WIDE = "\u2e80"
"""From this character on, scripts do not put blanks between words."""


def phrases(text: str, count: int) -> Iterator[str]:
    """Yield the phrases of so many words in a folded text. Of one word, its parts too; of several, the last may be
    cut."""
    words = text.split()
    for at in range(len(words) - count + 1):
        run = words[at : at + count]
        inner = " ".join(run)
        yield inner
        first, last = len(inner) - len(inner.lstrip(_ENDS)), len(inner.rstrip(_ENDS))
        yield inner[first:last]
        if count == 1:
            least = 2 if max(inner, default="") >= _WIDE else _LEAST
            yield from (
                inner[start:end]
                for start in range(len(inner) - least + 1)
                for end in range(start + least, min(len(inner), start + 40) + 1)
            )
        else:
            tail = len(run[-1])
            yield from (inner[first:end] for end in range(len(inner) - tail + _LEAST, len(inner)))


@frozen
class Stone:
    """One forgetting, as its machine tells it. `of`: what somebody asked for that it carries out, by id: itself, or the
    tombstones that its machine heard. `echoes`: hashes that it only repeats, of what another machine found in its log
    when it heard. `gone`: the ids of traces and entries that went. `counts`: how many words each phrase had, where
    phrases were asked for."""

    id: str
    ts: float
    of: frozenset[str]
    hashes: frozenset[str]
    gone: frozenset[str]
    counts: frozenset[int]
    echoes: frozenset[str]

    @property
    def is_asked(self) -> bool:
        """True if somebody asked for it on that machine."""
        return self.id in self.of


@frozen
class Buried(Replaceable):
    """Hashes of what is forgotten, ids of what went, how many words the phrases had that were asked for, and the ids of
    the tombstones that asked for it. `echoes`: hashes of what another machine found in its log when it heard of
    the same; a machine that has heard of that itself may have said such a thing since, but not taken it from there."""

    keys: tuple[bytes, ...]
    hashes: frozenset[str]
    gone: frozenset[str]
    counts: frozenset[int]
    of: frozenset[str] = frozenset()
    echoes: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.hashes or self.echoes)

    @property
    def with_echoes(self) -> Buried:
        """The same, with the echoes among the hashes."""
        return self.but(hashes=self.hashes | self.echoes, echoes=frozenset()) if self.echoes else self

    @property
    def members(self) -> Record:
        """The members of a tombstone's record."""
        found: Record = {"schema": TOMBSTONES_SCHEMA, "key": key_fingerprint(self.keys[0])}
        found["hashes"] = sorted(self.hashes)
        kept = {"gone": sorted(self.gone), "words": sorted(self.counts), "of": sorted(self.of)}
        kept |= {"echoes": sorted(self.echoes - self.hashes)}
        return found | {name: value for name, value in kept.items() if value}

    def with_all(self, other: Buried) -> Buried:
        return Buried(
            self.keys,
            self.hashes | other.hashes,
            self.gone | other.gone,
            self.counts | other.counts,
            self.of | other.of,
            self.echoes | other.echoes,
        )

    def holds(self, kind: str, text: str) -> bool:
        return any(tombstone_hash(key, kind, text) in self.hashes for key in self.keys)

    def has_sentence(self, text: str) -> bool:
        """True if a sentence or the summary in a text is forgotten, or a phrase in it."""
        plain = (sentence_text(each).removeprefix("summary: ") for each in sentences_in(text))
        return any(self.holds("sentence", each) for each in plain if each) or bool(self.words_in(text))

    def words_in(self, text: str, seen: set[str] | None = None) -> set[str]:
        """Return the forgotten words that a text has. `seen`: phrases that were looked at before, and are passed
        over."""
        seen = seen if seen is not None else set()
        found: set[str] = set()
        folded = fold_text(text) if self.counts else ""
        for phrase in {each for count in self.counts for each in phrases(folded, count)} - seen:
            seen.add(phrase)
            found |= {phrase} if self.holds("words", phrase) else set()
        return found

    def has_line(self, path: str, line: str) -> bool:
        """True if a line of a page is forgotten, or a row of the state."""
        if path == STATE:
            return self.has_sentence(line) or any(map(self.has_sentence, each_text(json.loads(line))))
        topic = topic_of(path)
        if self.holds("asked", f"topic\n{topic}"):
            return True
        said = (fact_text(topic, fact.relation, fact.object) for fact in parse(path, line).facts)
        return any(self.holds("fact", each) for each in said) or self.has_sentence(line)

    def is_in(self, data: bytes, topics: Collection[str] = ()) -> bool:
        """True if a file says what is forgotten: a page, lines of a log, or a part of these. `topics`: whose page it
        may be."""
        text = data.decode("utf-8", "replace")
        if self.words_in(text):
            return True
        for line in text.splitlines():
            record = records.whole(line.encode()) or None
            plain = sentence_text(line)
            if record is not None and any(map(self.has_sentence, each_text(record))):
                return True
            if plain and (self.holds("sentence", plain) or self.has_sentence(line)):
                return True
            for fact in parse("facts/a.md", line).facts:
                if any(self.holds("fact", fact_text(topic, fact.relation, fact.object)) for topic in topics):
                    return True
        return False

    def has_told(self, told: Record) -> bool:
        """True if a fact, as a record has it, is forgotten: it, the sentence that says it, or all that it rests on."""
        topic, relation, said = (str(told.get(name) or "") for name in ("topic", "relation", "object"))
        if self.holds("fact", fact_text(topic, relation, said)) or self.holds("asked", f"topic\n{topic}"):
            return True
        if self.has_sentence(str(told.get("quote") or "")) or self.words_in(f"{relation}: {said}"):
            return True
        sources = [str(each) for each in told.get("sources") or () if "@" not in str(each)]
        if not sources:
            return told.get("entry_id") in self.gone
        return all(not self.gone.isdisjoint(names_of(each)) for each in sources)

    def takes(self, record: Record) -> bool:
        """True if a record is forgotten whole: by its id, its session or its origin."""
        if record.get("id") in self.gone:
            return True
        session, origin = record.get("session_id"), str(record.get("origin") or "")
        if isinstance(session, str) and self.holds("session", session):
            return True
        return any(self.holds("asked", f"origin\n{name}") for name in origins_of(origin))

    def shown(self, record: Record) -> Record:
        """Return a trace without its forgotten sentences; of an edit that has such, a stand-in."""
        if self.takes(record):
            return filler(record)
        if record.get("kind") == "edit":
            buried = self.with_echoes if "merge" in record else self
            is_told = any(map(buried.has_sentence, each_text(record.get("diff"))))
            return filler(record) if is_told else record
        left = {name: self._masked(record[name]) for name in SAID if record.get(name)}
        return record if all(left[name] == record[name] for name in left) else record | left

    def _masked(self, value: object) -> object:
        if not isinstance(value, str):
            return MASK if any(map(self.has_sentence, each_text(value))) else value
        for sentence in sentences_in(value):
            if self.has_sentence(sentence):
                value = value.replace(sentence, MASK)
        return value


@frozen
class Again:
    """What machines that had heard have said again since it was forgotten: it stays. Lines by page, facts as tombstones
    know them, and the texts of rows of the state."""

    lines: Mapping[str, frozenset[str]]
    facts: frozenset[str]
    texts: frozenset[str]

    def has(self, path: str, line: str) -> bool:
        return path in self.lines and sentence_text(line) in self.lines[path]

    def says(self, word: str) -> bool:
        """True if a folded word was said again."""
        texts = (self.texts, *self.lines.values())
        return any(word in each for found in texts for each in found)

    def has_row(self, texts: Iterable[str]) -> bool:
        """True if all these texts of the state were said again."""
        return bool(self.texts) and all(fold_text(each) in self.texts for each in texts)


NOTHING_AGAIN = Again({}, frozenset(), frozenset())


def said_again(told: Iterable[tuple[str, str]]) -> Again:
    """Return what these lines of pages say."""
    lines: dict[str, set[str]] = {}
    facts: set[str] = set()
    texts: set[str] = set()
    for path, line in told:
        if path == STATE:
            texts |= {fold_text(each) for each in each_text(json.loads(line))}
            continue
        lines.setdefault(path, set()).add(sentence_text(line))
        said = parse(path, line).facts
        facts |= {fact_text(topic_of(path), fact.relation, fact.object) for fact in said}
    return Again(
        {path: frozenset(found) for path, found in lines.items()}, frozenset(facts), frozenset(texts)
    )


class Stones:
    """The tombstones of all machines, read again when one changes. This machine's own are those of ""."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._look: object = ()
        self._by_machine: dict[str, tuple[Stone, ...]] = {}
        self._unheard: dict[str, Buried] = {}
        self._talk: dict[str, tuple[object, frozenset[str]]] = {}
        """By machine, where its talk ended, and the ids of what of it is forgotten."""
        self._keys: tuple[bytes, ...] = ()

    def of(self, machine: str) -> tuple[Stone, ...]:
        self._read()
        return self._by_machine.get(machine, ())

    def heard(self, machine: str = "") -> Buried:
        """Return all that a machine forgot, by itself or because it heard of it."""
        return self._buried(self.of(machine))

    def gone_by(self, kind: str, text: str) -> frozenset[str]:
        """Return the ids of what went here whenever this was forgotten."""
        stones = self.of("")
        hashes = {tombstone_hash(key, kind, text) for key in self._keys}
        return frozenset(each for stone in stones if hashes & stone.hashes for each in stone.gone)

    def _buried(self, stones: Sequence[Stone]) -> Buried:
        return Buried(
            self._keys,
            frozenset(each for stone in stones for each in stone.hashes),
            frozenset(each for stone in stones for each in stone.gone),
            frozenset(each for stone in stones for each in stone.counts),
            frozenset(each for stone in stones for each in stone.of),
            frozenset(each for stone in stones for each in stone.echoes),
        )

    def unheard(self, machine: str = "") -> Buried:
        """Return what others forgot, and a machine has not; of another machine, with the ids of its talk that is
        forgotten."""
        found = self._news_for(machine)
        if not machine or not found:
            return found
        talk = talk_elsewhere(self._store, (machine,))
        ends = tuple(self._store.end(stream) for stream in talk)
        if self._talk.get(machine, (None,))[0] != ends:
            lines = (line.record for stream in talk for line in self._store.read(stream))
            hidden = {str(each.get("id")) for each in lines if each.get("kind") == "gone"}
            self._talk[machine] = ends, frozenset(hidden | self._entries_of(machine, hidden))
        return found.but(gone=found.gone | self._talk[machine][1])

    def _entries_of(self, machine: str, traces: set[str]) -> set[str]:
        """Return the ids of a machine's entries that were made of these traces."""
        folder, found = f"{log_of(machine)}/entries", set[str]()
        for topic in self._store.folders(folder) if traces else ():
            for name in self._store.folders(f"{folder}/{topic}"):
                document = self._store.get(f"{folder}/{topic}/{name}/meta.json")
                try:
                    runs = json.loads(document.data)["traces"] if document is not None else []
                    if runs and all({run[2], run[3]} <= traces for run in runs):
                        found.add(name)
                except (ValueError, KeyError, TypeError, IndexError):
                    continue  # made of a text, or damaged
        return found

    def _news_for(self, machine: str) -> Buried:
        self._read()
        if machine not in self._unheard:
            heard = self.heard(machine)
            others = [each for name, stones in self._by_machine.items() if name != machine for each in stones]
            # What was forgotten, said again, and forgotten again has the same hashes.
            asked = self._buried([stone for stone in others if stone.is_asked and not stone.of <= heard.of])
            known = heard.with_echoes.hashes
            told = [stone for stone in others if not stone.hashes | stone.echoes <= known]
            found = self._buried([stone for stone in told if not stone.of <= heard.of])
            echoed = self._buried([stone for stone in told if stone.of <= heard.of])
            self._unheard[machine] = asked.with_all(
                found.but(
                    hashes=found.hashes - known,
                    gone=found.gone | echoed.gone,
                    counts=found.counts | echoed.counts,
                    of=frozenset(),
                    echoes=(found.echoes | echoed.hashes | echoed.echoes)
                    - known
                    - found.hashes
                    - asked.hashes,
                )
            )
        return self._unheard[machine]

    def takes(self, machine: str, ts: float, path: str, line: str) -> bool:
        """True if a line that a machine wrote on a page is forgotten: it has not heard of that, or forgot it since."""
        since = (self._buried([stone]) for stone in self.of(machine) if ts <= stone.ts)
        return any(buried.has_line(path, line) for buried in (self._news_for(machine), *since))

    def veil(self, machine: str) -> Callable[[Record], Record]:
        """Return what shows a record of another machine: itself, or a stand-in if it is forgotten."""
        unheard = self._news_for(machine)
        # A file may be older than its machine's tombstones.
        own = [(stone.ts, self._buried([stone])) for stone in self.of(machine)]
        if not unheard and not own:
            return lambda record: record

        def show(record: Record) -> Record:
            ts = float(record.get("ts") or 0.0)
            for buried in (unheard, *(each for until, each in own if ts <= until)):
                record = buried.shown(record) if buried else record
            return record

        return show

    def _read(self) -> None:
        files = {"": FILE} | {
            name: f"{log_of(name)}/{FILE.removeprefix('log/')}" for name in self._store.machines()
        }
        stats = {name: self._store.stat(path) for name, path in files.items()}
        look = [(name, stat and stat.mark) for name, stat in stats.items()]
        if look == self._look:
            return
        self._look, self._by_machine, self._unheard, self._talk = look, {}, {}, {}
        if not any(stats.values()):
            return
        self._keys = keys_of(self._store)
        known = {None, *map(key_fingerprint, self._keys)}
        for name, stat in stats.items():
            if stat is not None:
                stream = stream_of(name, TOMBSTONES) if name else TOMBSTONES
                lines = (line.record for line in self._store.read(stream))
                self._by_machine[name] = tuple(_stone_of(each) for each in lines if each.get("key") in known)


def _stone_of(record: Record) -> Stone:
    hashes, gone, counts, of, echoes = (
        _listed(record, name) for name in ("hashes", "gone", "words", "of", "echoes")
    )
    name = str(record.get("id"))
    return Stone(
        name,
        float(record.get("ts") or 0.0),
        frozenset(map(str, of if record.get("by") == HEARD else (name,))),
        frozenset(map(str, hashes)),
        frozenset(map(str, gone)),
        frozenset(each for each in counts if isinstance(each, int)),
        frozenset(map(str, echoes)),
    )


def _listed(record: Record, name: str) -> list[object]:
    found = record.get(name)
    return found if isinstance(found, list) else []
