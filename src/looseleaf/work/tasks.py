"""What each kind of job does. A second run finds what the first one made, and does nothing.

No lock of a memory is held while a model works: its verbs see to that.
"""

from __future__ import annotations

import os
import tempfile

from looseleaf.base.errors import NotFound
from looseleaf.base.immutable import frozen
from looseleaf.integrations.detached import has_answered
from looseleaf.log.recorder import stream_of
from looseleaf.work.queue import already_imported, drop_received, in_database, note_left, received

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from looseleaf.memory import Memory
    from looseleaf.store.postgres.database import Wire
    from looseleaf.store.postgres.store import PostgresStore

    Result = dict[str, Any]
    Step = Callable[[int, int], None]

PROBLEMS = 1_000
"""Problems that are named; the others are counted."""

LEFT = "10 minutes"
"""When talk that could not be distilled yet is looked at again: a tool has not answered."""

_AT_ONCE = 2_000
"""Items that get postings in one transaction."""


@frozen
class Asked:
    """What a job is about."""

    kind: str
    agent: str
    more: Mapping[str, Any]


def carry_out(memory: Memory, asked: Asked) -> Result:
    """Do a job, and return what came of it."""
    return _TASKS[asked.kind](memory, asked.more)


def give_up(store: PostgresStore, asked: Asked) -> None:
    """Keep nothing for a job that failed for good."""
    if asked.kind == "import":
        drop_received(store, str(asked.more.get("source")))


# --- what a server does by itself, too ---------------------------------------------------


def import_file(memory: Memory, path: str, more: Mapping[str, Any], step: Step | None = None) -> Result:
    """Import what is in a file; what is the user's own is distilled."""
    from looseleaf.integrations.detached import read_all_tails
    from looseleaf.transfer.formats import detect, format_named
    from looseleaf.transfer.import_run import run
    from looseleaf.transfer.source import ImportSource

    is_mine, is_here, is_dry = (bool(more.get(name)) for name in ("mine", "here", "dry_run"))
    with ImportSource(path) as source:
        given = more.get("format")
        format_ = format_named(given) if given is not None else detect(source).format
        if getattr(format_, "HOOKED", False) and not is_dry and not memory.parts.store.is_far:
            read_all_tails(memory)
        done = run(memory, source, format_, mine=is_mine, here=is_here, dry_run=is_dry, step=step)
    placed = len(memory.distill()) if is_mine and not is_dry else 0
    if not is_dry and not done.is_nothing:
        memory.views.build_index(progress=step)
    return done.to_dict() | {"entries": placed, "is_useless": done.is_useless}


def check(memory: Memory, more: Mapping[str, Any]) -> Result:
    """Read everything again and hash it."""
    problems = memory.check()
    errors = sum(each.severity == "error" for each in problems)
    numbers = {"errors": errors, "notes": len(problems) - errors}
    return numbers | {"problems": [each.to_dict() for each in problems[:PROBLEMS]]}


def make_index(memory: Memory, more: Mapping[str, Any], step: Step | None = None) -> Result:
    """Update the index of recall, or make it again (`full`)."""
    return {"vectors": memory.views.build_index(full=bool(more.get("full")), progress=step)}


def lasting(kind: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a result may be kept for ever: numbers and ids."""
    if kind == "import":
        words = ("titles", "pages", "notes")
        return {name: len(value) if name in words else value for name, value in result.items()}
    return {name: value for name, value in result.items() if isinstance(value, int | float)}


# --- the kinds ---------------------------------------------------------------------------


def _distill(memory: Memory, more: Mapping[str, Any]) -> Result:
    store = in_database(memory.parts.store)
    store.run("SELECT looseleaf_jobs.begin_distilling(%s, %s)", (store.memory, memory.agent))
    placed = memory.distill()
    if has_answered(memory, placed):
        memory.parts.making.redistill_failed()
    memory.parts.conversation.cut_ahead()
    memory.parts.recall.catch_up()
    if _is_left(memory):
        note_left(store, memory.agent, LEFT)
    return {"entries": [each.entry for each in placed]}


def _is_left(memory: Memory) -> bool:
    """True if the log goes on after what is distilled."""
    last = next(memory.parts.store.read_back(stream_of(memory.agent)), None)
    through = memory.parts.pages.absorb.agent(memory.agent).through
    return last is not None and (last.end.segment, last.end.offset) > tuple(through)


def _compact(memory: Memory, more: Mapping[str, Any]) -> Result:
    mark = memory.parts.pages.absorb.agent(memory.agent).mark
    if more.get("since") and more["since"] != mark:
        return {}  # it was compacted meanwhile
    loss = memory.window.compact(model=more.get("model"))
    return loss.to_dict() if loss is not None else {}


def _embed(memory: Memory, more: Mapping[str, Any]) -> Result:
    return {"vectors": memory.views.build_index()}


def _build(memory: Memory, more: Mapping[str, Any]) -> Result:
    built = memory.views.build(full=bool(more.get("full")))
    return {"made": len(built.made), "topics": built.topics}


def _import(memory: Memory, more: Mapping[str, Any]) -> Result:
    store = in_database(memory.parts.store)
    source = str(more.get("source"))
    try:
        name, document = received(store, source)
    except NotFound:
        done = already_imported(store, source)
        if done is None:
            raise
        return done
    with tempfile.TemporaryDirectory(prefix="looseleaf-") as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(document.data)
        told = import_file(memory, path, more)
    drop_received(store, source)
    return told


def _improve(memory: Memory, more: Mapping[str, Any]) -> Result:
    """Give postings to all items of a memory that has grown, so that a question reads no texts."""
    from looseleaf.index.postgres import FEW

    store = in_database(memory.parts.store)
    memory.parts.recall.catch_up()
    first = last = None
    while last is None or last[1] != first:
        with store.transaction() as wire:
            wire.execute("SELECT looseleaf.lock_index(%s)", (store.memory,))
            items, first = _posted(wire, store.memory)
            if first == 0 and items <= FEW:
                break
            wire.execute("SELECT looseleaf.post(%s, %s)", (store.memory, _AT_ONCE))
            last = _posted(wire, store.memory)
    return {"posted": first or 0}


def _posted(wire: Wire, memory: int) -> tuple[int, int]:
    """Return the number of the newest item, and of the newest one with postings."""
    row = wire.execute("SELECT item, posted FROM looseleaf.indexes WHERE memory = %s", (memory,)).fetchone()
    return (int(str(row[0])), int(str(row[1]))) if row is not None else (0, 0)


_TASKS: dict[str, Callable[[Memory, Mapping[str, Any]], Result]] = {
    "distill": _distill,
    "compact": _compact,
    "embed": _embed,
    "build": _build,
    "index": make_index,
    "import": _import,
    "check": check,
    "improve": _improve,
}
