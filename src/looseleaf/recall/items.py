"""Items: texts as the index takes them. Loaded only when something is new."""

from __future__ import annotations

import re

from looseleaf.base.errors import Refused
from looseleaf.base.origins import level_of
from looseleaf.base.values import text_hash
from looseleaf.index.protocol import IndexItem
from looseleaf.language.relations import relation_term
from looseleaf.language.terms import terms
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import lazy
from looseleaf.text.times import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Fact, Position
    from looseleaf.log.entries import Entry
    from looseleaf.store.protocol import Store


def trace_items(trace: Trace, position: Position, stream: str) -> Iterator[IndexItem]:
    """Return a trace as items: several, if its text is long."""
    return _passage_items(
        "trace",
        escape_surrogates(trace.id),
        trace_text(trace),
        session=escape_surrogates(trace.session_id or stream),
        speaker=escape_surrogates(speaker_of(trace)),
        role=ROLES[trace.trace_type],
        ts=trace.ts,
        level=level_of(trace.origin),
        segment=position.segment,
        byte=position.offset,
    )


def _passage_items(kind: str, name: str, text: str, **about: Any) -> Iterator[IndexItem]:
    for first, last in passages(text):
        part = text[first:last]
        yield IndexItem(kind, name, terms(part), text_hash(part), first=first, last=last, **about)


def page_items(path: str, data: bytes | None, ts: float | None) -> list[IndexItem]:
    """Return a page's prose by paragraph, and each episode whole; facts come from the ledger."""
    from looseleaf.pages.grammar import parse

    text = decode(data)
    lines = split_lines(text)
    headings, numbers = _read_headings(lines)
    name = "" if path.startswith("days/") else path.rpartition("/")[2].removesuffix(".md").replace("-", " ")
    topic = path.removesuffix(".md").removeprefix("facts/") if path.startswith("facts/") else ""
    items: list[IndexItem] = []

    def add(kind: str, part: str, first: int, last: int, at: float | None = ts, session: str = path) -> None:
        if part.strip():
            about = dict.fromkeys((*terms(name), *terms(headings[first - 1])))
            own = terms(part)
            every = [*own, *(term for term in about if term not in own)]
            where: dict[str, Any] = {"session": session, "topic": topic, "first": first, "last": last}
            items.append(IndexItem(kind, path, every, text_hash(part), ts=at, **where))

    if path.startswith("days/"):
        at = moment(path.removeprefix("days/").removesuffix(".md"))
        for first, last in _split_paragraphs(lines, 1, len(lines), numbers, by_bullet=True):
            add("day", "".join(lines[first - 1 : last]), first, last, at if at is not None else ts)
        return items
    page = parse(path, text)
    for episode in page.episodes:
        at = moment(episode.get("Date") or "")
        part = "".join(lines[episode.line - 1 : episode.end])
        add("episode", part, episode.line, episode.end, at if at is not None else ts, "")
    for prose in page.prose:
        for first, last in _split_paragraphs(lines, prose.line, prose.end, numbers):
            add("prose", "".join(lines[first - 1 : last]), first, last)
    return items


_HEADING = lazy(r"#{1,6}[ \t]+(.*)")
_FENCE = ("```", "~~~")
_MOST_LINES = 40
"""Lines of one item: about a screen."""


def _read_headings(lines: Sequence[str]) -> tuple[list[str], set[int]]:
    """Return each line's headings (the page's first and the nearest), and the numbers (from 1) of the heading lines,
    without those inside code."""
    found: list[str] = []
    numbers: set[int] = set()
    first = nearest = fence = ""
    for number, line in enumerate(lines, 1):
        found.append(f"{first} {nearest}" if nearest != first else first)
        mark = line.lstrip()[:3]
        if mark in _FENCE and fence in ("", mark):
            fence = "" if fence else mark
        heading = _HEADING.match(line) if not fence else None
        if heading is not None:
            numbers.add(number)
            nearest = heading[1].strip("# \r\n")
            first = first or nearest
    return found, numbers


def _split_paragraphs(
    lines: Sequence[str], first: int, last: int, headings: set[int], *, by_bullet: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield runs of lines that are neither blank nor headings, `first` to `last` (from 1). Code is one run."""
    begin: int | None = None
    fence = ""
    for number in range(first, last + 1):
        line = lines[number - 1]
        is_gap = not fence and (not line.strip() or number in headings)
        is_full = begin is not None and number - begin >= _MOST_LINES
        if begin is not None and (is_gap or is_full or (by_bullet and line.startswith("- "))):
            yield begin, number - 1
            begin = None
        if begin is None and not is_gap:
            begin = number
        mark = line.lstrip()[:3]
        if mark in _FENCE and fence in ("", mark):
            fence = "" if fence else mark
    if begin is not None:
        yield begin, last


def fact_items(facts: Sequence[Fact]) -> list[IndexItem]:
    """Return facts as items, current and past ones; only questions about the past find the latter."""
    from looseleaf.facts.ledger import true_at

    now = {fact.id for fact in true_at(facts)}
    before: dict[str, list[Fact]] = {}
    for fact in facts:
        if fact.superseded_by is not None:
            before.setdefault(fact.superseded_by, []).append(fact)
    items: list[IndexItem] = []
    for fact in facts:
        if fact.id is None or fact.status in ("pending", "forgotten"):
            continue
        status = "current" if fact.id in now else "superseded"
        about: dict[str, Any] = {"ts": fact_time(fact), "level": fact.level or "", "topic": fact.topic}
        for role, words in _collect_fact_terms(fact, before.get(fact.id, ())):
            hashed = text_hash(fact_text(fact))
            items.append(IndexItem("fact", fact.id, words, hashed, role=role, status=status, **about))
    return items


def _collect_fact_terms(fact: Fact, before: Sequence[Fact]) -> Iterator[tuple[str, list[str]]]:
    """Yield a fact's own terms; then, as an item that counts less, the words in which it was said, and those of the
    facts it replaced: a page says "Home: Lyon", a question says "live". Each text is stemmed alone: a label is English,
    whatever the language of its quote."""
    texts = [fact.topic.replace("/", " ")] if fact.topic != "user" else []
    texts += [fact.relation] if fact.relation.casefold() != "note" else []
    said = [term for text in (*texts, fact.object) for term in terms(text)]
    yield "", [*said, *([term] if (term := relation_term(fact.relation)) else [])]
    quoted = terms(fact.quote or "")
    for old in before:
        gone = set(terms(old.object))
        quoted += [term for term in terms(old.quote or "") if term not in gone]
    if not set(quoted) <= set(said):
        yield "quote", list(dict.fromkeys(quoted))


def outdated_origins(facts: Sequence[Fact]) -> tuple[tuple[str, str], ...]:
    """Return the traces and entries of superseded or rejected facts, each with the fact and its topic; `+` marks those
    that also say something true."""
    true = {name for fact in facts if fact.status == "current" for name in origins_of(fact)}
    return tuple(
        (name, f"{fact.id} {fact.topic}{' +' if name in true else ''}")
        for fact in facts
        if fact.status in ("superseded", "rejected") and fact.id is not None
        for name in origins_of(fact)
    )


def origins_of(fact: Fact) -> tuple[str, ...]:
    """Return the ids of a fact's traces and entry."""
    return (*fact.sources, *([fact.entry_id.rpartition("/")[2]] if fact.entry_id is not None else []))


def entry_items(store: Store, reference: str) -> list[IndexItem]:
    """Return an entry's summary as items, and its text if no trace holds it."""
    from looseleaf.log.entries import read_entry

    try:
        entry = read_entry(store, reference)
        raw = store.get(f"{entry.folder}/raw.md") if not entry.meta.get("traces") else None
    except Refused:
        return []  # removed or broken; `check` reports it
    about: dict[str, Any] = {"ts": entry_time(store, entry), "topic": reference.rpartition("/")[0]}
    about["level"] = str(entry.meta.get("trust", "tainted"))
    items: list[IndexItem] = []
    for which, text in ((SUMMARY, summary_text(entry.summary)), (RAW, decode(raw.data if raw else b""))):
        if _is_forgotten(store, entry, text):
            continue
        session = reference if which == RAW else ""
        role = "summary" if which == SUMMARY and entry.meta.get("traces") else ""
        items += _passage_items("entry", reference, text, session=session, role=role, segment=which, **about)
    return items


def _is_forgotten(store: Store, entry: Entry, text: str) -> bool:
    """True if this is of another machine's entry, and forgotten; or all talk that the entry was made of."""
    from looseleaf.log.entries import traces_of

    if not entry.machine:
        return False
    record = {"id": entry.folder.rpartition("/")[2], "content": text}
    if store.shown(entry.machine, record) is not record:
        return True
    return bool(entry.meta.get("traces")) and next(traces_of(store, entry), None) is None


# --- texts, read from their source -------------------------------------------------------

SUMMARY, RAW = 0, 1
"""Which text of an entry an item is from."""

_SPEAKER = "speaker:"
_LONGEST_NAME = 60
_NAMED = r"([^\W\d_]\w{1,20}(?: [^\W\d_]\w{1,20})?): (?=\S)"
"""A speaker's name before the text, in a group talk."""

_LABELS = frozenset(
    "note noted notes correction update error warning question answer summary example todo fix result results reason "
    "subject reminder important attention plan goal idea task status step output input user assistant system rule "
    "edit yes no ok okay also and but so first second third finally today yesterday tomorrow".split()
)
"""Words before a colon that name no speaker."""

ROLES = {"user": "user", "assistant": "assistant", "tool_call": "tool", "tool_result": "tool"}


def trace_text(trace: Trace) -> str:
    if trace.trace_type in ("user", "assistant") and not trace.media:
        return trace.content  # the same as below for most traces, without that import
    from looseleaf.log.turns import trace_text

    return trace_text(trace)


def fact_text(fact: Fact) -> str:
    """Return a fact as its line says it, without the bullet."""
    return fact.object if fact.relation.casefold() == "note" else f"{fact.relation}: {fact.object}"


def summary_text(summary: dict[str, object]) -> str:
    """Return an entry's own words: its summary, and what it noted."""
    from looseleaf.base.messages import NOTED

    parts = [str(summary.get("summary") or "")]
    for name in NOTED:
        noted = summary.get(name)
        if isinstance(noted, list):
            parts += [f"- {each['text']}" for each in noted if isinstance(each, dict) and "text" in each]
    return "\n".join(part for part in parts if part.strip())


def decode(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def escape_surrogates(text: str) -> str:
    """Escape lone surrogates, which no database takes: another program's log may hold them."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def speaker_of(trace: Trace) -> str:
    """Return the speaker's name, from a tag (`speaker:Ann`) or the start of the text (`Ann: …`)."""
    for tag in trace.tags:
        if tag.startswith(_SPEAKER):
            return " ".join(tag.removeprefix(_SPEAKER).casefold().split())[:_LONGEST_NAME]
    if trace.trace_type in ("user", "assistant"):
        named = re.match(_NAMED, trace.content)
        words = named[1].split() if named is not None else []
        is_large = all(word[0].isupper() or word.upper() == word.lower() for word in words)
        if words and is_large and _LABELS.isdisjoint(word.casefold() for word in words):
            return " ".join(words).casefold()
    return ""


def fact_time(fact: Fact) -> float | None:
    """Return the time of a fact: last said, else valid from, else recorded."""
    return fact.said_at or moment(fact.valid_from or "") or fact.recorded_at


def entry_time(store: Store, entry: Entry) -> float | None:
    """Return the time of an entry: when the last of its traces was said, else when it was made."""
    from looseleaf.log.entries import traces_of

    try:
        said = [trace.ts for trace in traces_of(store, entry)] if entry.meta.get("traces") else []
    except Refused:
        said = []
    made = entry.meta.get("ts")
    return max(said) if said else float(made) if isinstance(made, (int, float)) else None


# --- passages: parts of a long text, cut where a paragraph, line or sentence ends -----------

LONGEST = 1600
"""Most characters of one passage: an answer of some paragraphs is best found and shown whole."""

AIM = 1000
"""Characters per passage of a longer text."""

_BREAK = lazy(r"\n\s*\n|\n|(?<=[.!?;])\s|(?<=[。！？；])|\s")
_ENDS = frozenset(".!?;。！？；")


def passages(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each passage; only blanks lie between them."""
    begin, end = 0, len(text)
    while end - begin > LONGEST:
        cut = begin + _find_cut(text[begin : begin + LONGEST])
        if text[begin:cut].strip():
            yield begin, cut
        begin = cut
    if text[begin:].strip():
        yield begin, end


def _find_cut(text: str) -> int:
    """Return the end of the strongest break in the second half; among equals, the one nearest to the aim."""
    best = (4, 0, len(text))
    for found in _BREAK.finditer(text, AIM // 2):
        lines = found[0].count("\n")
        rank = 0 if lines > 1 else 1 if lines else 2 if text[found.start() - 1] in _ENDS else 3
        best = min(best, (rank, abs(found.end() - AIM), found.end()))
    return best[2]
