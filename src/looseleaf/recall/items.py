"""Items: what is to be found, as the index takes it. Loaded only when something is new."""

from __future__ import annotations

import re

from looseleaf.base.errors import Refused
from looseleaf.base.hashing import text_hash
from looseleaf.base.origins import level_of
from looseleaf.index.protocol import Item
from looseleaf.language.asked_relations import relation_term
from looseleaf.language.terms import terms
from looseleaf.recall.passages import passages
from looseleaf.recall.texts import (
    RAW,
    ROLES,
    SUMMARY,
    decoded,
    entry_time,
    fact_text,
    fact_time,
    speaker_of,
    summary_text,
    trace_text,
    writable,
)
from looseleaf.text.diff import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Fact, Position
    from looseleaf.store.protocol import Store


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
    from looseleaf.text.moments import moment

    return moment(text)
