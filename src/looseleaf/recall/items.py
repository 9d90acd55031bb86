"""Items: what is to be found, as the index takes it. Loaded only when something is new."""

from __future__ import annotations

import re

from looseleaf.core.levels import level_of
from looseleaf.core.passages import passages
from looseleaf.core.terms import terms
from looseleaf.errors import Refused
from looseleaf.hashing import text_hash
from looseleaf.index.protocol import Item
from looseleaf.recall.texts import RAW, SUMMARY, decoded, fact_text, summary_text, trace_text, writable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.store.protocol import Store
    from looseleaf.talk import Trace
    from looseleaf.values import Fact, Position

_SPEAKER = "speaker:"
_NAMED = r"([^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}): (?=\S)"
"""How somebody is named before what he says, in a talk of several."""

_ROLES = {"user": "user", "assistant": "assistant", "tool_call": "tool", "tool_result": "tool"}


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
            role=_ROLES[trace.trace_type],
            ts=trace.ts,
            level=level_of(trace.origin),
            segment=position.segment,
            byte=position.offset,
            first=first,
            last=last,
        )


def speaker_of(trace: Trace) -> str:
    """Who speaks, by name: as its tag says (`speaker:Ann`), or as the text begins (`Ann: …`)."""
    for tag in trace.tags:
        if tag.startswith(_SPEAKER):
            return tag.removeprefix(_SPEAKER).strip().casefold()
    if trace.trace_type in ("user", "assistant"):
        named = re.match(_NAMED, trace.content)
        if named is not None:
            return named[1].casefold()
    return ""


def page_items(path: str, data: bytes | None, ts: float | None) -> list[Item]:
    """Prose by paragraphs, each episode as one; facts come from what is known of them."""
    from looseleaf.core.grammar import parse

    text = decoded(data)
    topic = path.removesuffix(".md").removeprefix("facts/") if path.startswith("facts/") else ""
    items: list[Item] = []

    def add(kind: str, part: str, first: int, last: int, at: float | None = ts, session: str = path) -> None:
        if part.strip():
            items.append(
                Item(
                    kind,
                    path,
                    terms(part),
                    text_hash(part),
                    session=session,
                    ts=at,
                    topic=topic,
                    first=first,
                    last=last,
                )
            )

    lines = text.splitlines(keepends=True)
    if path.startswith("days/"):
        at = _day(path.removeprefix("days/").removesuffix(".md"))
        for first, last in _paragraphs(lines, 1, len(lines), by_bullet=True):
            add("day", "".join(lines[first - 1 : last]), first, last, at if at is not None else ts)
        return items
    page = parse(path, text)
    for episode in page.episodes:
        at = _day(episode.get("Date") or "")
        part = "".join(lines[episode.line - 1 : episode.end])
        add("episode", part, episode.line, episode.end, at if at is not None else ts, "")
    for prose in page.prose:
        for first, last in _paragraphs(lines, prose.line, prose.end):
            add("prose", "".join(lines[first - 1 : last]), first, last)
    return items


def _paragraphs(
    lines: Sequence[str], first: int, last: int, *, by_bullet: bool = False
) -> Iterator[tuple[int, int]]:
    """Runs of lines that are not blank, from `first` to `last` (both from 1)."""
    begin = None
    for number in range(first, last + 1):
        line = lines[number - 1]
        is_blank = not line.strip() or line.startswith("#")
        if begin is not None and (is_blank or (by_bullet and line.startswith("- "))):
            yield begin, number - 1
            begin = None
        if begin is None and not is_blank:
            begin = number
    if begin is not None:
        yield begin, last


def fact_items(facts: Sequence[Fact]) -> list[Item]:
    """What is true now, and what was: both can be found, the second only by who asks for the past."""
    from looseleaf.core.identity import true_at

    now = {fact.id for fact in true_at(facts)}
    items: list[Item] = []
    for fact in facts:
        if fact.id is None or fact.status in ("pending", "forgotten"):
            continue
        text = fact_text(fact)
        # A page says "Home: Lyon"; who asks says "live", as the quote does.
        words = f"{text}\n{fact.quote}" if fact.quote else text
        about = fact.topic.replace("/", " ")
        items.append(
            Item(
                "fact",
                fact.id,
                terms(f"{about}\n{words}" if about != "user" else words),
                text_hash(text),
                ts=fact.said_at or _day(fact.valid_from or "") or fact.recorded_at,
                level=fact.level or "",
                status="current" if fact.id in now else "superseded",
                topic=fact.topic,
            )
        )
    return items


def over(facts: Sequence[Fact]) -> tuple[tuple[str, str], ...]:
    """Traces that say what was superseded, and nothing that is true; each with the fact and its topic."""
    true = {source for fact in facts if fact.status == "current" for source in fact.sources}
    return tuple(
        (source, f"{fact.id} {fact.topic}")
        for fact in facts
        if fact.status == "superseded" and fact.id is not None
        for source in fact.sources
        if source not in true
    )


def entry_items(store: Store, reference: str) -> list[Item]:
    """Its summary, and its text if that stands in no trace."""
    from looseleaf.entries import FOLDER, read_entry

    try:
        entry = read_entry(store, reference)
        raw = store.get(f"{FOLDER}/{reference}/raw.md") if not entry.meta.get("traces") else None
    except Refused:
        return []  # somebody removed or broke it; `check` says so
    ts = entry.meta.get("ts")
    at = float(ts) if isinstance(ts, (int, float)) else None
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
    from looseleaf.core.moments import moment

    return moment(text)
