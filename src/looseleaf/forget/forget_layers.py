"""Forget in all layers: in this memory, and in those under it that have the same content.

Each memory forgets by itself, with its own proof. A layer that cannot be written is named: the forget is then not
complete.
"""

from __future__ import annotations

from looseleaf.base.errors import NotFound, Refused
from looseleaf.facts.stones import Stones
from looseleaf.forget.cut import read_selector
from looseleaf.forget.forget import Forgotten, forget
from looseleaf.log.entries import entries_in, read_entry
from looseleaf.log.talk_streams import TRACES, agent_of, talk_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from looseleaf.forget.plan import Needs

    OpenLayer = Callable[[], Needs]


def forget_everywhere(
    parts: Needs,
    layers: Mapping[str, OpenLayer],
    given: dict[str, str | None],
    agent: str | None = None,
    *,
    missed: Sequence[str] = (),
    dry_run: bool = False,
) -> Forgotten:
    """Forget here and in the layers, each opened by its function. A fact named by a place is in this memory alone.
    `missed`: layers that cannot be read, each with the reason."""
    by, what = read_selector(given, agent)
    is_place = by == "fact" and ".md:" in what
    traces = _traces_of(parts, what, agent) if by == "session" and layers else set()
    own: Forgotten | None = None
    nothing: NotFound | None = None
    try:
        own = forget(parts, given, agent, dry_run=dry_run)
    except NotFound as refused:
        nothing = refused
    done: list[Forgotten] = []
    unwritten: list[str] = [*missed] if not is_place else []
    for name, open_layer in layers.items() if not is_place else ():
        try:
            far = open_layer()
            chosen: dict[str, str | None] | None = given
            if by == "session":  # it is of this memory: only what came from its talk goes
                found = " ".join(_made_of(far, traces))
                chosen = {"entries": found} if found else None
            if chosen is not None:
                whose = agent if by == "origin" else None
                done.append(forget(far, chosen, whose, dry_run=dry_run).but(layer=name, by=by, what=what))
        except NotFound:
            continue
        except (Refused, OSError) as error:
            unwritten.append(f"{name}: {error}")
    if own is None and not done and nothing is not None and not unwritten:
        raise nothing
    if own is None:
        own = Forgotten(by, what, {}, {}, (), "", None)
    return own.but(layers=tuple(done), unwritten=tuple(unwritten))


def _traces_of(parts: Needs, session: str, agent: str | None) -> set[str]:
    """Return the ids of a session's traces, also of those that are forgotten: what went home from them may be there
    still."""
    store = parts.context.store
    own = (stream for stream in store.streams() if stream.startswith(TRACES))
    streams = (each for each in (*own, *talk_elsewhere(store)) if agent in (None, agent_of(each)))
    lines = (line.record for stream in streams for line in store.read(stream))
    found = {str(record.get("id")) for record in lines if record.get("session_id") == session}
    return found | Stones(parts.store).gone_by("asked", f"session\n{session}")


def _made_of(far: Needs, traces: set[str]) -> Iterator[str]:
    """Yield the entries of a farther memory that are of the words of these traces. A trace's id is the same wherever
    the memory that has it lies, and by whatever path it was opened."""
    store = far.context.store
    for reference in entries_in(store):
        try:
            came = read_entry(store, reference).meta.get("from")
        except Refused:
            continue  # it cannot be read: `check` says so
        if isinstance(came, dict) and came.get("trace") in traces:
            yield reference
