"""Open a hit: show the talk, page or entry around it. Retrieve: collect hits for a snapshot."""

from __future__ import annotations

import re

from looseleaf.base.errors import Invalid, NotFound, check_count
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.paths import page_path
from looseleaf.index.protocol import Only
from looseleaf.text.diff import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from looseleaf.base.messages import Trace
    from looseleaf.pages.pages import Pages
    from looseleaf.place.notebook import Notebook
    from looseleaf.recall.hits import Hit
    from looseleaf.recall.question import Question
    from looseleaf.recall.recall import Recall
    from looseleaf.store.context import Context
    from looseleaf.window.conversation import Conversation

    class Needs(Protocol):
        context: Context

        @property
        def conversation(self) -> Conversation: ...
        @property
        def notebook(self) -> Notebook: ...
        @property
        def pages(self) -> Pages: ...
        @property
        def recall(self) -> Recall: ...


_LINES = re.compile(r"(.+\.md)#([0-9]{1,7})(?:-([0-9]{1,7}))?")
_AROUND = 5
"""Lines of a page to show before and after the hit."""


@frozen
class Opened:
    """A hit with its surroundings. `kind`: trace, fact, page or entry."""

    where: str
    kind: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        return members_of(self)


def open_hit(parts: Needs, where: object) -> Opened:
    """Open a hit by its name: a trace's or a fact's id, `page.md#5-9`, `topic/entry`."""
    from looseleaf.base.ids import is_id

    if not isinstance(where, str) or not where.strip():
        raise Invalid("No hit was named. Give what recall calls it, as `where` or after the └.")
    where = where.strip()
    if (lines := _LINES.fullmatch(where)) is not None:
        return Opened(where, "page", _show_page(parts, lines[1], int(lines[2]), int(lines[3] or lines[2])))
    if where.endswith(".md"):
        return Opened(where, "page", _show_page(parts, where))
    if where.startswith("f_"):
        return Opened(where, "fact", _show_fact(parts, where))
    if is_id(where):
        found = parts.recall.trace(where)
        if found is not None:
            return Opened(where, "trace", _show_turn(parts, *found))
        return Opened(where, "entry", _show_entry(parts, where))
    if is_id(where.rpartition("/")[2]):
        return Opened(where, "entry", _show_entry(parts, where))
    raise Invalid(
        f"{where!r:.80} is not a hit. Give what recall calls it: an id, `topic/entry`, or `page.md#5-9`."
    )


def _show_page(parts: Needs, path: str, first: int | None = None, last: int | None = None) -> str:
    page = parts.pages.page(page_path(path))
    if not page.exists:
        raise NotFound(f"There is no page {path}. `looseleaf index` lists them.")
    lines = [line.rstrip("\r\n") for line in split_lines(page.text)]
    if first is None or last is None:
        return page.text.rstrip("\n")
    if not 1 <= first <= last <= len(lines):
        count = f"{len(lines)} line{'s' * (len(lines) != 1)}"
        raise NotFound(f"{path} has no lines {first} to {last}; it has {count}. Recall it again.")
    shown = range(max(first - _AROUND, 1), min(last + _AROUND, len(lines)) + 1)
    width = len(str(shown[-1]))
    return "\n".join(
        f"{'>' if first <= number <= last else ' '} {number:>{width}}  {lines[number - 1]}"
        for number in shown
    )


def _show_fact(parts: Needs, name: str) -> str:
    from looseleaf.recall.items import fact_text

    fact = parts.notebook.find(name)
    place = f"{fact.path}:{fact.line}" if fact.path and fact.line else "on no page now"
    sources = (f"  {each.source} ({each.origin}): {each.text}" for each in parts.notebook.sources(fact))
    known = f"  {fact.status}, {fact.level or 'of no known level'}, {place}"
    return "\n".join((fact_text(fact), known, *sources))


def _show_turn(parts: Needs, trace: Trace, stream: str) -> str:
    """Show the turn of a trace, of any agent on any machine."""
    from looseleaf.log.talk_streams import machine_of
    from looseleaf.log.turns import LABELS, one_turn, trace_text

    turn = one_turn(parts.context.store, stream, trace.turn_id)
    traces = turn.traces if turn is not None else ()
    if all(each.id != trace.id for each in traces):
        traces = (trace,)  # another turn has the same name
    machine = machine_of(stream)
    place = f" on {machine}" if machine else ""
    lines = [f"{trace.turn_id} of session {trace.session_id or '?'}{place}"]
    for each in traces:
        text = "\n    ".join(trace_text(each).split("\n"))
        lines.append(f"{'>' if each.id == trace.id else ' '} {LABELS[each.trace_type]}: {text}")
    return "\n".join(lines)


def _show_entry(parts: Needs, name: str) -> str:
    from looseleaf.recall.items import summary_text

    entry = parts.conversation.entry(name)
    document = parts.context.store.get(f"{entry.folder}/raw.md")
    raw = document.data.decode("utf-8", "replace").strip() if document is not None else ""
    return "\n\n".join(part for part in (summary_text(entry.summary), raw) if part)


# --- retrieve: what was done last and what is known ----------------------------------------

EPISODIC = ("episode", "entry")
SEMANTIC = ("fact",)

_LOOKED_AT = 400
"""The newest items of a kind, among which the weightiest are chosen."""

_HALF_LIFE_DAYS = 60.0
"""Days after which novelty counts half: about as long as people stay busy with something."""

_DAY = 86_400.0
_SALIENCE = 0.5
"""The salience of an unweighed item."""


@frozen
class Bundle:
    """The material of a snapshot: what was done, newest last, and what is known, weightiest first."""

    episodic: tuple[Hit, ...]
    semantic: tuple[Hit, ...]

    def to_dict(self) -> dict[str, Any]:
        return {name: [hit.to_dict() for hit in getattr(self, name)] for name in ("episodic", "semantic")}


def retrieve(
    recall: Recall, question: Question | None, max_episodic: int, max_semantic: int, now: float
) -> Bundle:
    check_count("max_episodic", max_episodic)
    check_count("max_semantic", max_semantic)
    asked = recall(question) if question is not None else ()
    episodic = _fill_kinds(recall, asked, EPISODIC, max_episodic, now)
    semantic = _fill_kinds(recall, asked, SEMANTIC, max_semantic, now)
    return Bundle(tuple(sorted(episodic, key=lambda hit: (hit.ts or 0.0, hit.where))), tuple(semantic))


def _fill_kinds(
    recall: Recall, asked: Sequence[Hit], kinds: tuple[str, ...], most: int, now: float
) -> list[Hit]:
    """Return the hits asked for, then the weightiest others."""
    found = [hit for hit in asked if hit.kind in kinds][:most]
    have = {hit.where for hit in found}
    if len(found) < most:
        newest = [hit for hit in recall.newest(Only(kinds=kinds), _LOOKED_AT) if hit.where not in have]
        newest.sort(key=lambda hit: (-weigh_hit(hit, now), hit.where))
        found += newest[: most - len(found)]
    return found


def weigh_hit(hit: Hit, now: float) -> float:
    """Return how much a hit matters, by salience and novelty; a fact's salience is the user's score, if any."""
    age = max(now - hit.ts, 0.0) / _DAY if hit.ts is not None else _HALF_LIFE_DAYS * 4
    salience = hit.parts.get("salience", _SALIENCE)
    return float(salience + 0.5 ** (age / _HALF_LIFE_DAYS))
