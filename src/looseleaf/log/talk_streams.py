"""What all machines recorded: the streams of talk, and the edits of other machines."""

from __future__ import annotations

from looseleaf.base.paths import name_fault
from looseleaf.log.journal import edit_of
from looseleaf.store import JOURNAL
from looseleaf.store.machines import log_of
from looseleaf.store.machines import stream_of as stream_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.values import Edit
    from looseleaf.store.protocol import Store

TRACES = "traces/"
_ON = "on/"


def own_talk(store: Store) -> list[str]:
    """Return the streams of all agents on this machine. Skip folders that cannot be an agent's name."""
    if not store.edited_outside:
        return [each for each in store.streams() if each.startswith(TRACES)]
    return [f"{TRACES}{agent}" for agent in store.folders("log/traces") if name_fault(agent) is None]


def talk_elsewhere(store: Store, machines: Sequence[str] | None = None) -> list[str]:
    """Return the streams of all agents on other machines, or on these."""
    return [
        stream_on(machine, f"{TRACES}{agent}")
        for machine in (store.machines() if machines is None else machines)
        for agent in store.folders(f"{log_of(machine)}/traces")
        if name_fault(agent) is None
    ]


def agent_of(stream: str) -> str:
    """Return whose talk a stream is."""
    return stream.rpartition("/")[2]


def machine_of(stream: str) -> str:
    """Return the machine whose stream it is; "" for this one."""
    return stream.removeprefix(_ON).partition("/")[0] if stream.startswith(_ON) else ""


def is_imported(session: str) -> bool:
    """True for a session as imports name it: alike on all machines that imported the same item (FORMAT §18)."""
    digits = session.rpartition("-")[2]
    return len(digits) == 16 and all(each in "0123456789abcdef" for each in digits)


def talk_streams(store: Store, first: str) -> list[str]:
    """Return all streams of talk: an agent's first, then those of others here, then those of other machines."""
    return list(dict.fromkeys((f"{TRACES}{first}", *own_talk(store), *talk_elsewhere(store))))


def journals(store: Store) -> list[str]:
    """Return the journals of all machines, this one's first."""
    return [JOURNAL, *(stream_on(machine, JOURNAL) for machine in store.machines())]


def edits_elsewhere(store: Store) -> Iterator[Edit]:
    """Yield the edits that other machines made, newest first on each."""
    for stream in journals(store)[1:]:
        for line in store.read_back(stream):
            edit = edit_of(store.shown(machine_of(stream), line.record))
            if edit is not None:
                yield edit
