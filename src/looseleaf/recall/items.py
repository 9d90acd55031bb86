"""Items: what is to be found, as the index takes it. Loaded only when something is new."""

from __future__ import annotations

import re

from looseleaf.base.errors import Refused
from looseleaf.base.hashing import text_hash
from looseleaf.base.origins import level_of
from looseleaf.index.protocol import Item
from looseleaf.language.relations import relation_term
from looseleaf.language.terms import terms
from looseleaf.text.diff import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Fact, Position
    from looseleaf.log.entries import Entry
    from looseleaf.store.protocol import Store


# Passages: a long text in parts that can each be found and shown, cut where a paragraph, a line or a
# sentence ends.

LONGEST = 1600
"""Characters that stay one passage: an answer of some paragraphs is best found and shown as a whole."""

AIM = 1000
"""Characters of a passage of what is longer."""

_BREAK = re.compile(r"\n\s*\n|\n|(?<=[.!?;])\s|(?<=[。！？；])|\s")
_ENDS = frozenset(".!?;。！？；")


def passages(text: str) -> Iterator[tuple[int, int]]:
    """Where each begins and ends; none of a text that says nothing. What lies between them is blank."""
    begin, end = 0, len(text)
    while end - begin > LONGEST:
        cut = begin + _cut(text[begin : begin + LONGEST])
        if text[begin:cut].strip():
            yield begin, cut
        begin = cut
    if text[begin:].strip():
        yield begin, end


def _cut(text: str) -> int:
    """Behind the strongest break of the second half, and of those alike the one nearest to the aim."""
    best = (4, 0, len(text))
    for found in _BREAK.finditer(text, AIM // 2):
        lines = found[0].count("\n")
        rank = 0 if lines > 1 else 1 if lines else 2 if text[found.start() - 1] in _ENDS else 3
        best = min(best, (rank, abs(found.end() - AIM), found.end()))
    return best[2]


# The texts of what can be found, read where they stand: what was said, what is known, what was distilled.

SUMMARY, RAW = 0, 1
"""Which text of an entry an item is of."""

_SPEAKER = "speaker:"
_LONGEST_NAME = 60
_NAMED = r"([^\W\d_]\w{1,20}(?: [^\W\d_]\w{1,20})?): (?=\S)"
"""How somebody is named before what he says, in a talk of several."""

_LABELS = frozenset(
    "note noted notes correction update error warning question answer summary example todo fix result results reason "
    "subject reminder important attention plan goal idea task status step output input user assistant system rule "
    "edit yes no ok okay also and but so first second third finally today yesterday tomorrow".split()
)
"""What stands before a colon as well, and is nobody."""

ROLES = {"user": "user", "assistant": "assistant", "tool_call": "tool", "tool_result": "tool"}


def trace_text(trace: Trace) -> str:
    if trace.trace_type in ("user", "assistant") and not trace.media:
        return trace.content  # as below, without loading how windows are made: most are such
    from looseleaf.log.trace_messages import said

    return said(trace)


def fact_text(fact: Fact) -> str:
    """As its line says it, without the bullet."""
    return fact.object if fact.relation.casefold() == "note" else f"{fact.relation}: {fact.object}"


def summary_text(summary: dict[str, object]) -> str:
    """What an entry says in its own words: the summary, and what it noted."""
    from looseleaf.base.messages import NOTED

    parts = [str(summary.get("summary") or "")]
    for name in NOTED:
        noted = summary.get(name)
        if isinstance(noted, list):
            parts += [f"- {each['text']}" for each in noted if isinstance(each, dict) and "text" in each]
    return "\n".join(part for part in parts if part.strip())


def decoded(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def writable(text: str) -> str:
    """Another program's log may hold halves of characters, which no database takes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def speaker_of(trace: Trace) -> str:
    """Who speaks, by name: as its tag says (`speaker:Ann`), or as the text begins (`Ann: …`)."""
    for tag in trace.tags:
        if tag.startswith(_SPEAKER):
            return " ".join(tag.removeprefix(_SPEAKER).casefold().split())[:_LONGEST_NAME]
    if trace.trace_type in ("user", "assistant"):
        named = re.match(_NAMED, trace.content)
        if named is not None and _is_name(named[1].split()):
            return named[1].casefold()
    return ""


def _is_name(words: Sequence[str]) -> bool:
    is_large = all(word[0].isupper() or word.upper() == word.lower() for word in words)
    return is_large and _LABELS.isdisjoint(word.casefold() for word in words)


def fact_time(fact: Fact) -> float | None:
    """The time that a fact is from: when it was last said, else since when it holds, else when it was recorded."""
    from looseleaf.text.times import moment

    return fact.said_at or moment(fact.valid_from or "") or fact.recorded_at


def entry_time(store: Store, entry: Entry) -> float | None:
    """The time that an entry is from: when the last of what it was made of was said, else when it was made."""
    from looseleaf.log.entries import traces_of

    try:
        said = [trace.ts for trace in traces_of(store, entry)] if entry.meta.get("traces") else []
    except Refused:
        said = []
    made = entry.meta.get("ts")
    return max(said) if said else float(made) if isinstance(made, (int, float)) else None


def trace_items(trace: Trace, position: Position, stream: str) -> Iterator[Item]:
    """A trace as items: several, if its text is long."""
    text = trace_text(trace)
    speaker = writable(speaker_of(trace))
    for first, last in passages(text):
        part = text[first:last]
        yield Item(
            "trace",
            writable(trace.id),
            terms(part),
            text_hash(part),
            session=writable(trace.session_id or stream),
            speaker=speaker,
            role=ROLES[trace.trace_type],
            ts=trace.ts,
            level=level_of(trace.origin),
            segment=position.segment,
            byte=position.offset,
            first=first,
            last=last,
        )


def page_items(path: str, data: bytes | None, ts: float | None) -> list[Item]:
    """Prose by paragraphs, each episode as one; facts come from what is known of them."""
    from looseleaf.pages.grammar import parse

    text = decoded(data)
    lines = split_lines(text)
    headings, numbers = _headings(lines)
    name = "" if path.startswith("days/") else path.rpartition("/")[2].removesuffix(".md").replace("-", " ")
    topic = path.removesuffix(".md").removeprefix("facts/") if path.startswith("facts/") else ""
    items: list[Item] = []

    def add(kind: str, part: str, first: int, last: int, at: float | None = ts, session: str = path) -> None:
        if part.strip():
            about = dict.fromkeys((*terms(name), *terms(headings[first - 1])))
            own = terms(part)
            items.append(
                Item(
                    kind,
                    path,
                    [*own, *(term for term in about if term not in own)],
                    text_hash(part),
                    session=session,
                    ts=at,
                    topic=topic,
                    first=first,
                    last=last,
                )
            )

    if path.startswith("days/"):
        at = _day(path.removeprefix("days/").removesuffix(".md"))
        for first, last in _paragraphs(lines, 1, len(lines), numbers, by_bullet=True):
            add("day", "".join(lines[first - 1 : last]), first, last, at if at is not None else ts)
        return items
    page = parse(path, text)
    for episode in page.episodes:
        at = _day(episode.get("Date") or "")
        part = "".join(lines[episode.line - 1 : episode.end])
        add("episode", part, episode.line, episode.end, at if at is not None else ts, "")
    for prose in page.prose:
        for first, last in _paragraphs(lines, prose.line, prose.end, numbers):
            add("prose", "".join(lines[first - 1 : last]), first, last)
    return items


_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_FENCE = ("```", "~~~")
_MOST_LINES = 40
"""Lines of one item: about a screen."""


def _headings(lines: Sequence[str]) -> tuple[list[str], set[int]]:
    """Of each line, the headings that it stands under: the page's own, and the nearest; and the numbers (from 1) of the
    lines that are headings, not what looks like one in a piece of code."""
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


def _paragraphs(
    lines: Sequence[str], first: int, last: int, headings: set[int], *, by_bullet: bool = False
) -> Iterator[tuple[int, int]]:
    """Runs of lines that are neither blank nor headings, from `first` to `last` (both from 1). Code is one run."""
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


def fact_items(facts: Sequence[Fact]) -> list[Item]:
    """What is true now, and what was: both can be found, the second only by who asks for the past."""
    from looseleaf.facts.truth import true_at

    now = {fact.id for fact in true_at(facts)}
    before: dict[str, list[Fact]] = {}
    for fact in facts:
        if fact.superseded_by is not None:
            before.setdefault(fact.superseded_by, []).append(fact)
    items: list[Item] = []
    for fact in facts:
        if fact.id is None or fact.status in ("pending", "forgotten"):
            continue
        for role, words in _fact_terms(fact, before.get(fact.id, ())):
            items.append(
                Item(
                    "fact",
                    fact.id,
                    words,
                    text_hash(fact_text(fact)),
                    role=role,
                    ts=fact_time(fact),
                    level=fact.level or "",
                    status="current" if fact.id in now else "superseded",
                    topic=fact.topic,
                )
            )
    return items


def _fact_terms(fact: Fact, before: Sequence[Fact]) -> Iterator[tuple[str, list[str]]]:
    """What it says and is called; and, as an item of its own that counts less, the words in which it was said, also of
    what it replaced: a page says "Home: Lyon", who asks says "live". Each text by itself: a label is English, whatever
    language its quote is in."""
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


def over(facts: Sequence[Fact]) -> tuple[tuple[str, str], ...]:
    """Traces and entries that say what was superseded or rejected, each with the fact and its topic; and `+` if they
    say what is true as well."""
    true = {name for fact in facts if fact.status == "current" for name in _told_by(fact)}
    return tuple(
        (name, f"{fact.id} {fact.topic}{' +' if name in true else ''}")
        for fact in facts
        if fact.status in ("superseded", "rejected") and fact.id is not None
        for name in _told_by(fact)
    )


def _told_by(fact: Fact) -> tuple[str, ...]:
    """Traces, and the entry, by their ids."""
    return (*fact.sources, *([fact.entry_id.rpartition("/")[2]] if fact.entry_id is not None else []))


def entry_items(store: Store, reference: str) -> list[Item]:
    """Its summary, and its text if that stands in no trace."""
    from looseleaf.log.entries import FOLDER, read_entry

    try:
        entry = read_entry(store, reference)
        raw = store.get(f"{FOLDER}/{reference}/raw.md") if not entry.meta.get("traces") else None
    except Refused:
        return []  # somebody removed or broke it; `check` says so
    at = entry_time(store, entry)
    level = str(entry.meta.get("trust", "tainted"))
    topic = reference.rpartition("/")[0]
    items: list[Item] = []
    for which, text in (
        (SUMMARY, summary_text(entry.summary)),
        (RAW, decoded(raw.data if raw else b"")),
    ):
        for first, last in passages(text):
            part = text[first:last]
            items.append(
                Item(
                    "entry",
                    reference,
                    terms(part),
                    text_hash(part),
                    session=reference if which == RAW else "",
                    role="summary" if which == SUMMARY and entry.meta.get("traces") else "",
                    ts=at,
                    level=level,
                    topic=topic,
                    segment=which,
                    first=first,
                    last=last,
                )
            )
    return items


def _day(text: str) -> float | None:
    from looseleaf.text.times import moment

    return moment(text)
