"""What there is to be found, as items for the index: what was said, what pages say, what is known, what was distilled.

Each source has a mark that says how far it was taken: of a log the place behind the last line, of a page its hash, of a
topic the place in the journal where it last changed. So what is not in the index yet is known without reading the rest.
"""

from __future__ import annotations

import re

from looseleaf.absorb import belongs
from looseleaf.core.levels import level_of
from looseleaf.core.passages import passages
from looseleaf.core.paths import name_fault
from looseleaf.core.stems import edition
from looseleaf.core.terms import terms
from looseleaf.errors import Refused
from looseleaf.frozen import frozen
from looseleaf.index.protocol import Item
from looseleaf.store import JOURNAL
from looseleaf.talk import Trace
from looseleaf.values import START, Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from looseleaf.index.protocol import Marks
    from looseleaf.pages import Pages
    from looseleaf.place.facts import Facts
    from looseleaf.store.protocol import Store
    from looseleaf.values import Fact

TRACES, PAGE, TOPIC, ENTRY = "traces/", "page:", "topic:", "entry:"
TERMS = "terms"
"""The source of no items whose mark says how texts become terms."""

SUMMARY, RAW = 0, 1
"""Which text of an entry an item is of."""

_AT_ONCE = 500
"""Lines of a log that are taken before others have their turn."""

_SPEAKER = "speaker:"
_NAMED = r"([^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}): (?=\S)"
"""How somebody is named before what he says, in a talk of several. Compiled on use: who only asks needs it not."""

_ROLES = {"user": "user", "assistant": "assistant", "tool_call": "tool", "tool_result": "tool"}


@frozen
class Batch:
    """What is to be taken into the index at once. `items` None: the source is gone."""

    source: str
    mark: str
    items: list[Item] | None
    anew: bool = False
    over: tuple[tuple[str, str], ...] = ()


class Sources:
    """`known` gives the facts. Whoever asks has absorbed what people changed."""

    def __init__(self, store: Store, pages: Pages, known: Callable[[], Facts]) -> None:
        self._store = store
        self._pages = pages
        self._known = known

    def streams(self) -> list[str]:
        """Of all agents. What cannot be an agent's name is passed over."""
        return [
            f"{TRACES}{name}"
            for name in self._store.folders(f"log/{TRACES[:-1]}")
            if name_fault(name) is None
        ]

    def are_other(self, index: Marks) -> bool:
        """Whether what the index has was made by other rules: then nothing in it is found by ours."""
        return index.mark(TERMS) not in ("", edition())

    def are_in(self, index: Marks) -> bool:
        """Whether the index has all that there is. Looks at the last line of each log and reads nothing else."""
        heads = self._pages.absorb.heads
        return index.mark(JOURNAL) == _written(heads.position, heads.last) and all(
            index.mark(stream) == self._end(stream) for stream in self.streams()
        )

    def _end(self, stream: str) -> str:
        last = next(self._store.read_back(stream), None)
        return _written(last.end, last.record.get("id")) if last is not None else ""

    def size(self, segment_bytes: int) -> int:
        """About how many bytes there are to be taken."""
        return sum(_bytes(self._store.end(stream), segment_bytes) for stream in self.streams())

    def taken(self, index: Marks, segment_bytes: int) -> int:
        """About how many of them the index has."""
        return sum(_bytes(_read(index.mark(stream))[0], segment_bytes) for stream in self.streams())

    def behind(self, index: Marks) -> Iterator[Batch]:
        """What the index has not taken yet. The journal comes last: its mark says that all that it leads to is in."""
        if not index.mark(TERMS):
            yield Batch(TERMS, edition(), [])
        for stream in self.streams():
            yield from self._traces(stream, index.mark(stream))
        absorb = self._pages.absorb
        position, last = absorb.heads.position, absorb.heads.last
        now = _written(position, last)
        mark = index.mark(JOURNAL)
        if mark == now:
            return
        begin, before = _read(mark)
        if not belongs(self._store, begin, before):
            begin = START
        yield from self._of_pages(index.marks(PAGE))
        yield from self._of_topics(index.marks(TOPIC))
        yield from self._of_entries(begin, position, index.marks(ENTRY))
        yield Batch(JOURNAL, now, [])

    # --- what was said and done --------------------------------------------------------

    def _traces(self, stream: str, mark: str) -> Iterator[Batch]:
        position, last = _read(mark)
        anew = not belongs(self._store, position, last, stream)
        items: list[Item] = []
        lines = 0
        for line in self._store.read(stream, START if anew else position):
            trace = Trace.from_record(line.record)
            if trace is not None:
                items += trace_items(trace, line.position, stream)
            lines += 1
            mark = _written(line.end, line.record.get("id"))
            if lines >= _AT_ONCE:
                yield Batch(stream, mark, items, anew)
                items, lines, anew = [], 0, False
        if lines or anew:
            yield Batch(stream, mark if lines else "", items, anew)

    # --- what pages say ----------------------------------------------------------------

    def _of_pages(self, marks: dict[str, str]) -> Iterator[Batch]:
        heads = self._pages.absorb.heads.pages
        there = {
            f"{PAGE}{path}": head.sha256
            for path, head in heads.items()
            if head.sha256 is not None and path.endswith(".md") and not path.startswith("review/")
        }
        for source in sorted(marks.keys() - there.keys()):
            yield Batch(source, "", None)
        for source, sha256 in sorted(there.items()):
            if marks.get(source) != sha256:
                path = source.removeprefix(PAGE)
                data = self._pages.absorb.head_bytes(path)
                yield Batch(source, sha256, page_items(path, data, _made_at(heads[path].edit)), anew=True)

    # --- what is known -----------------------------------------------------------------

    def _of_topics(self, marks: dict[str, str]) -> Iterator[Batch]:
        known = self._known()
        known.catch_up()
        there = {f"{TOPIC}{name}": f"{place[0]} {place[1]}" for name, place in known.topics.items()}
        for source in sorted(marks.keys() - there.keys()):
            yield Batch(source, "", None)
        for source, mark in sorted(there.items()):
            if marks.get(source) != mark:
                facts = known.of(source.removeprefix(TOPIC))
                yield Batch(source, mark, fact_items(facts), anew=True, over=_over(facts))

    # --- what was distilled ------------------------------------------------------------

    def _of_entries(self, begin: Position, end: Position, marks: dict[str, str]) -> Iterator[Batch]:
        """Each entry is a source of its own. The journal names it when it is placed, or when a window moved past it;
        its mark is the last record that did. So of many, those that were taken before others had their turn are not
        taken again."""
        found: dict[str, str] = {}
        for line in self._store.read(JOURNAL, begin):
            if line.end > end:
                break
            entry = line.record.get("entry")
            if isinstance(entry, str) and line.record.get("kind") in ("placed", "mark"):
                found[f"{ENTRY}{entry}"] = writable(str(line.record.get("id")))
            if line.record.get("instead"):
                found[f"{ENTRY}{line.record['instead']}"] = ""
        if begin == START:
            for source in sorted(marks.keys() - found.keys()):
                yield Batch(source, "", None)
        for source, mark in found.items():
            if marks.get(source, "") != mark:
                items = self._entry(source.removeprefix(ENTRY)) if mark else None
                yield Batch(source, mark, items, anew=True)

    def _entry(self, reference: str) -> list[Item]:
        from looseleaf.entries import FOLDER, read_entry

        try:
            entry = read_entry(self._store, reference)
            raw = self._store.get(f"{FOLDER}/{reference}/raw.md") if not entry.meta.get("traces") else None
        except Refused:
            return []  # somebody removed or broke it; `check` says so
        ts = entry.meta.get("ts")
        at = float(ts) if isinstance(ts, (int, float)) else None
        level = str(entry.meta.get("trust", "tainted"))
        topic = reference.rpartition("/")[0]
        items: list[Item] = []
        for which, text in (
            (SUMMARY, summary_text(entry.summary)),
            (RAW, _decoded(raw.data if raw else b"")),
        ):
            for first, last in passages(text):
                part = text[first:last]
                items.append(
                    Item(
                        "entry",
                        reference,
                        terms(part),
                        hash_of(part),
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
            hash_of(part),
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


def trace_text(trace: Trace) -> str:
    if trace.trace_type in ("user", "assistant") and not trace.media:
        return trace.content  # as below, without loading how windows are made: most are such
    from looseleaf.core.window import said

    return said(trace)


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

    text = _decoded(data)
    topic = path.removesuffix(".md").removeprefix("facts/") if path.startswith("facts/") else ""
    items: list[Item] = []

    def add(kind: str, part: str, first: int, last: int, at: float | None = ts, session: str = path) -> None:
        if part.strip():
            items.append(
                Item(
                    kind,
                    path,
                    terms(part),
                    hash_of(part),
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
                hash_of(text),
                ts=fact.said_at or _day(fact.valid_from or "") or fact.recorded_at,
                level=fact.level or "",
                status="current" if fact.id in now else "superseded",
                topic=fact.topic,
            )
        )
    return items


def _over(facts: Sequence[Fact]) -> tuple[tuple[str, str], ...]:
    """Traces that say what was superseded, and nothing that is true; each with the fact and its topic."""
    true = {source for fact in facts if fact.status == "current" for source in fact.sources}
    return tuple(
        (source, f"{fact.id} {fact.topic}")
        for fact in facts
        if fact.status == "superseded" and fact.id is not None
        for source in fact.sources
        if source not in true
    )


def fact_text(fact: Fact) -> str:
    """As its line says it, without the bullet."""
    return fact.object if fact.relation.casefold() == "note" else f"{fact.relation}: {fact.object}"


def summary_text(summary: dict[str, object]) -> str:
    """What an entry says in its own words: the summary, and what it noted."""
    from looseleaf.talk import NOTED

    parts = [str(summary.get("summary") or "")]
    for name in NOTED:
        noted = summary.get(name)
        if isinstance(noted, list):
            parts += [f"- {each['text']}" for each in noted if isinstance(each, dict) and "text" in each]
    return "\n".join(part for part in parts if part.strip())


def hash_of(text: str) -> int:
    """A number that names a text: 64 bits, with a sign, as SQLite keeps them."""
    from hashlib import blake2b

    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _decoded(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _made_at(edit: str | None) -> float | None:
    from looseleaf.store.ulid import is_id, time_of

    return time_of(edit) if edit is not None and is_id(edit) else None


def _day(text: str) -> float | None:
    from looseleaf.core.moments import moment

    return moment(text)


def _bytes(position: Position, segment_bytes: int) -> int:
    return max(position.segment - 1, 0) * segment_bytes + position.offset


def _written(position: Position, last: object) -> str:
    return writable(f"{position.segment} {position.offset} {last}")


def writable(text: str) -> str:
    """Another program's log may hold halves of characters, which no database takes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _read(mark: str) -> tuple[Position, str]:
    segment, _, rest = mark.partition(" ")
    offset, _, last = rest.partition(" ")
    return (
        (Position(int(segment), int(offset)), last)
        if segment.isdecimal() and offset.isdecimal()
        else (START, "")
    )
