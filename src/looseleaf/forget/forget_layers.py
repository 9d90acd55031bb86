"""Forget in all layers: in this memory, and in those under it that have the same.

Each memory forgets by itself, with its own proof. One that cannot be written is named: then the forget is not complete.
"""

from __future__ import annotations

from looseleaf.base.errors import NotFound, Refused
from looseleaf.forget.cut import read_selector
from looseleaf.forget.forget import Forgotten, forget
from looseleaf.log.entries import FOLDER, read_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from looseleaf.forget.plan import Needs

    OpenLayer = Callable[[], Needs]


def forget_everywhere(
    parts: Needs,
    layers: Mapping[str, OpenLayer],
    given: dict[str, str | None],
    agent: str | None = None,
    *,
    dry_run: bool = False,
) -> Forgotten:
    """Forget here and in the layers, each opened by its function. A fact named by a place is of this memory alone."""
    by, what = read_selector(given, agent)
    is_place = by == "fact" and ".md:" in what
    sessions = _traces_of(parts, what) if by == "session" and layers else set()
    own: Forgotten | None = None
    nothing: NotFound | None = None
    try:
        own = forget(parts, given, agent, dry_run=dry_run)
    except NotFound as refused:
        nothing = refused
    done: list[Forgotten] = []
    unwritten: list[str] = []
    for name, open_layer in layers.items() if not is_place and agent is None else ():
        try:
            far = open_layer()
            chosen = [given] if by != "session" else list(_made_of(far, parts.context.path, sessions))
            done += [each.but(layer=name) for each in _forget_all(far, chosen, dry_run=dry_run)]
        except (Refused, OSError) as error:
            unwritten.append(f"{name}: {error}")
    if own is None and not done and nothing is not None and not unwritten:
        raise nothing
    if own is None:
        own = Forgotten(by, what, {}, {}, (), "", None)
    return own.but(layers=tuple(done), unwritten=tuple(unwritten))


def _forget_all(parts: Needs, chosen: list[dict[str, str | None]], *, dry_run: bool) -> Iterator[Forgotten]:
    for given in chosen:
        try:
            yield forget(parts, given, dry_run=dry_run)
        except NotFound:
            continue


def _traces_of(parts: Needs, session: str) -> set[str]:
    store = parts.context.store
    streams = (stream for stream in store.streams() if stream.startswith("traces/"))
    lines = (line.record for stream in streams for line in store.read(stream))
    return {str(record.get("id")) for record in lines if record.get("session_id") == session}


def _made_of(far: Needs, memory: str, traces: set[str]) -> Iterator[dict[str, str | None]]:
    """Yield the facts of a farther memory that came from these traces of this one."""
    far.known.catch_up()
    store = far.context.store
    for fact in far.known.all():
        if fact.entry_id is None or fact.id is None:
            continue
        topic = next(
            (
                each
                for each in store.folders(FOLDER)
                if store.stat(f"{FOLDER}/{each}/{fact.entry_id}/meta.json")
            ),
            None,
        )
        came = read_entry(store, f"{topic}/{fact.entry_id}").meta.get("from") if topic is not None else None
        if isinstance(came, dict) and came.get("memory") == memory and came.get("trace") in traces:
            yield {"fact": fact.id}
