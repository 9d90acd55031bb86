"""Reading what was found where it stands: nothing that is shown comes from the index.

What is not there any more (the index is older than the memory for a moment, or is damaged) is not shown.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Trace
from looseleaf.base.origins import LEVELS, level_of
from looseleaf.base.values import Position
from looseleaf.recall.texts import (
    RAW,
    ROLES,
    decoded,
    fact_text,
    speaker_of,
    summary_text,
    trace_text,
    writable,
)
from looseleaf.text.diff import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.base.values import Fact, Level
    from looseleaf.facts.known_facts import Facts
    from looseleaf.index.protocol import Found
    from looseleaf.pages.pages import Pages
    from looseleaf.store.protocol import Store


@frozen
class Text:
    """What stands at a place, and is known of it there. `where` opens it, `path` says on which page or in which log."""

    text: str
    where: str
    path: str
    ts: float | None = None
    level: Level | None = None
    speaker: str = ""
    session: str = ""


class Read:
    """For one question: what it read once it does not read again."""

    def __init__(self, store: Store, pages: Pages, known: Callable[[], Facts]) -> None:
        self._store = store
        self._pages = pages
        self._known = known
        self._lines: dict[str, tuple[str, ...]] = {}
        self._facts: dict[str, dict[str | None, Fact]] = {}

    def __call__(self, found: Found) -> Text | None:
        """None: it is not there."""
        try:
            match found.kind:
                case "trace":
                    return self._trace(found)
                case "fact":
                    return self._fact(found)
                case "entry":
                    return self._entry(found)
            return self._page(found)
        except Refused:
            return None

    def trace(self, found: Found) -> Trace | None:
        line = next(self._store.read(found.source, Position(found.segment, found.byte)), None)
        trace = Trace.from_record(line.record) if line is not None else None
        return trace if trace is not None and writable(trace.id) == found.name else None

    def _trace(self, found: Found) -> Text | None:
        trace = self.trace(found)
        if trace is None:
            return None
        text = trace_text(trace)[found.first : found.last].strip()
        path = f"log/{found.source}"
        speaker = speaker_of(trace) or ROLES[trace.trace_type]
        return Text(text, trace.id, path, trace.ts, level_of(trace.origin), speaker, trace.session_id)

    def facts(self, topic: str) -> dict[str | None, Fact]:
        """All facts of a topic, by id."""
        if topic not in self._facts:
            known = self._known()
            known.catch_up()
            self._facts[topic] = {fact.id: fact for fact in known.of(topic)}
        return self._facts[topic]

    def fact(self, found: Found) -> Fact | None:
        return self.facts(found.topic).get(found.name)

    def salience(self, found: Found) -> float | None:
        """How much a fact matters, from 0 to 1: by a person's score, else by its own salience."""
        fact = self.fact(found) if found.kind == "fact" else None
        if fact is None:
            return None
        return fact.user_fact_score / 10 if fact.user_fact_score is not None else fact.salience

    def _fact(self, found: Found) -> Text | None:
        fact = self.fact(found)
        return Text(fact_text(fact), found.name, fact.path or "") if fact is not None else None

    def _entry(self, found: Found) -> Text | None:
        from looseleaf.log.entries import FOLDER, read_entry

        entry = read_entry(self._store, found.name)
        path = f"{FOLDER}/{entry.reference}/{'raw.md' if found.segment == RAW else 'summary.json'}"
        if found.segment == RAW:
            document = self._store.get(path)
            text = decoded(document.data if document is not None else None)
        else:
            text = summary_text(entry.summary)
        part = text[found.first : found.last].strip()
        level = next((each for each in LEVELS if each == entry.meta.get("trust")), LEVELS[0])
        return Text(part, entry.reference, path, found.ts, level) if part else None

    def _page(self, found: Found) -> Text | None:
        path = found.name
        if not path.endswith(".md") or path.startswith("review/"):
            return None  # whoever wrote the index, this is nothing to be found
        if path not in self._lines:
            self._lines[path] = split_lines(decoded(self._pages.absorb.head_bytes(path)))
        part = "".join(self._lines[path][max(found.first - 1, 0) : found.last]).strip()
        where = f"{path}#{found.first}-{found.last}"
        return Text(part, where, where, found.ts) if part else None
