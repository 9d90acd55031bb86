"""What depends on forgotten sources: agents' writes, facts, sentences, and compaction marks (FORMAT §11.7)."""

from __future__ import annotations

import json
import re

from looseleaf.base.immutable import frozen
from looseleaf.base.origins import is_own
from looseleaf.explain.writes import ID
from looseleaf.facts.stones import names_of
from looseleaf.forget.probe import telling_sentences
from looseleaf.log.entries import FOLDER
from looseleaf.log.journal import AGENT, PROGRAM
from looseleaf.place.placer import HELP
from looseleaf.text.spellings import drop_sentences_with, each_text, fold_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from looseleaf.base.values import Edit, Record
    from looseleaf.forget.cut import Cut
    from looseleaf.forget.remake_entries import RemadeEntries


class Writes:
    """The writes of `gone` calls in these traces, oldest first: they go with the calls. Imported calls wrote nothing
    here."""

    def __init__(
        self, traces: Iterable[tuple[str, Record]] = (), is_gone: Callable[[str, Record], bool] | None = None
    ) -> None:
        self._receipts: set[str] = set()
        self._spans: list[tuple[str, float, float]] = []
        calls: dict[tuple[str, str], float] = {}
        for stream, record in traces:
            name = stream, str(record.get("tool_call_id"))
            kind, origin = record.get("trace_type"), str(record.get("origin"))
            if kind == "tool_call":
                calls.pop(name, None)
                is_ours = is_own(record.get("tool_name")) and not origin.startswith("import")
                if is_gone is not None and is_ours and is_gone(stream, record):
                    calls[name] = float(record.get("ts") or 0.0)
            elif kind == "tool_result" and name in calls:
                texts = each_text([record.get("tool_result"), record.get("content")])
                self._receipts.update(each for text in texts for each in ID.findall(text))
                agent = f"{AGENT}{stream.partition('/')[2]}"
                self._spans.append((agent, calls.pop(name), float(record.get("ts") or 0.0)))

    def has(self, edit: Edit) -> bool:
        """True if one of these calls made an edit: by the agent itself, or by the program on its request."""
        author = edit.author
        if author == PROGRAM and edit.path.startswith("review/") and edit.facts:
            asking = {str(each.get("origin")) for each in edit.facts}
            author = asking.pop() if len(asking) == 1 else ""
        if not author.startswith(AGENT):
            return False
        if edit.id in self._receipts:
            return True
        return any(agent == author and begin <= edit.ts <= end for agent, begin, end in self._spans)


class LostSources:
    """Sources that went, and what a fact rests on without them. `traces` are ids, `entries` references."""

    def __init__(self, traces: Iterable[str], entries: Iterable[str]) -> None:
        self._gone = set(traces)
        for reference in entries:
            self._gone |= {f"{FOLDER}/{reference}/raw.md", reference.rpartition("/")[2]}
        self._facts: set[str] = set()

    def add(self, facts: Iterable[str]) -> None:
        """Add the ids of facts that rested only on an agent's removed write."""
        self._facts.update(facts)

    def _sources_left(self, told: Record) -> list[str]:
        return [each for each in _sources_of(told) if self._gone.isdisjoint(names_of(each))]

    def are_gone(self, told: Record) -> bool:
        """True if all sources of a fact went: a person's approval alone does not keep it."""
        words = [each for each in _sources_of(told) if "@" not in each]
        if words:
            return not {*words} & {*self._sources_left(told)}
        if not told.get("entry_id") and told.get("id") in self._facts:
            return True
        return told.get("entry_id") in self._gone

    def has_lost(self, told: Record) -> bool:
        return self._sources_left(told) != _sources_of(told) or told.get("entry_id") in self._gone

    def without(self, told: Record) -> Record:
        """Return what is known of a fact, without what went; the quote's source is unknown, so it goes."""
        left = {name: value for name, value in told.items() if name != "quote"}
        return left | {"sources": self._sources_left(told)}


def _sources_of(told: Record) -> list[str]:
    return [str(each) for each in told.get("sources") or ()]


TOPICS = frozenset(("user", "project", "sessions"))
OWN_WORDS = (
    *"main assistant tool import document person program external agent nobody confirmed said inferred tainted".split(),
    *"current superseded pending rejected forgotten identity commitment constraint preference trait event".split(),
    *"short_term medium_term long_term future rules facts episodes days review entries traces prompts".split(),
    *"summary updated entry date problem task solution lesson waits held back distilled from".split(),
    HELP,
)
"""What the program itself writes into records and on pages."""

ROLES = re.compile(
    r"\b(?:User|Assistant|Tool call|Tool result)(?: \([0-9A-Z]{26}\))?:|^# What entry .*$", re.MULTILINE
)
"""What the program puts before each message."""

_NOT_SAID = frozenset(
    "id ts turn_id seq trace_type source_event session_id origin tool_call_id correlation_id".split()
)


def said_members(record: Record) -> Record:
    return {name: value for name, value in record.items() if name not in _NOT_SAID}


def said_values(record: Record) -> list[object]:
    """Return what a trace says, without the names of its members."""
    return list(said_members(record).values())


def texts_of(record: Record) -> Iterator[str]:
    """Yield the texts of a trace; of member names in tool arguments and results, only those that are words."""
    names = {name for name in member_names(said_values(record)) if not any(map(str.isspace, name))}
    yield from (text for text in each_text(said_values(record)) if text not in names)


def member_names(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for inner in value:
            yield from member_names(inner)


def parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def words_of(record: Record) -> str:
    return " ".join(" ".join(each_text(said_values(record))).split())


def lost_sentences(old: Record, left: Record) -> list[str]:
    """Return the sentences of a trace that go."""
    kept = set(telling_sentences(texts_of(left)))
    return [each for each in telling_sentences(texts_of(old)) if each not in kept]


def names_one_of(words: set[str], texts: Iterable[str]) -> bool:
    said = fold_text(" ".join(texts))
    return any(word in said for word in words)


_HEAD = re.compile(r"\(turns? [0-9]+(?: to [0-9]+)?; looseleaf expand [0-9A-Z]+\)")


@frozen
class GoneTraces:
    """The traces that go: their ids, whether only they said some words, and what an agent wrote by them."""

    gone: Mapping[str, set[str]]
    masked: Mapping[str, set[str]]
    alone: Callable[[str], bool]
    writes: Writes


def clean_mark(record: Record, cut: Cut, made: RemadeEntries, told: GoneTraces) -> Record:
    """Return a mark as it would be; the same record if nothing of it went."""
    agent = str(record.get("agent"))
    gone, touched = told.gone.get(agent, set()), told.masked.get(agent, set())
    new = dict(record)
    try:
        for name in ("tail", "held"):
            new[name] = [each for each in record[name] if each not in gone]
        new["far"] = [each for each in record["far"] if each[2] not in gone]
        # A stand-in of a changed text may hold what went: the text's rest is shown instead.
        new["short"] = [each for each in record["short"] if each[0] not in gone | touched]
        rows = (_clean_summary(each, cut, made) for each in record["episodic"])
        new["episodic"] = [row for row in rows if row is not None]
        said = record["semantic"]
        new["semantic"] = [each for each in said if not told.alone(each) and not cut.holds(each)]
        if record["entry"] in made.gone:
            new["entry"] = None
    except (KeyError, TypeError, IndexError):
        return record  # makes no sense; `check` reports it
    return record if new == record else new


def _clean_summary(row: Any, cut: Cut, made: RemadeEntries) -> Any:
    entry, text = row
    if entry in made.gone:
        return None
    if entry not in made.again:
        return [entry, drop_sentences_with(text, cut.words)] if cut.holds(text) else row
    data = made.files.get(f"log/entries/{entry}/summary.json")
    summary = str(json.loads(data or b"{}").get("summary", ""))
    head = _HEAD.match(text)
    whole = f"{head[0] if head else ''} {summary}".strip()
    return [entry, whole[: max(len(text), len(head[0]) if head else 0)]]


def make_alone_test(
    sentences: Iterable[str], gone: str, kept: Callable[[], Iterable[str]]
) -> Callable[[str], bool]:
    """Return a test: was one of these sentences said by what goes (folded) and by nothing that stays? `kept` is read
    only if there is such a sentence."""

    def forms(sentence: str) -> tuple[str, str]:
        words = fold_text(sentence)
        return words, words.partition(": ")[2]

    found = {form for each in sentences for form in forms(each) if form and form in gone}
    for text in kept() if found else ():
        said = fold_text(text)
        found = {form for form in found if form not in said}
    return lambda sentence: not found.isdisjoint(forms(sentence))
