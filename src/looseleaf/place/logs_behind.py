"""Logs of other machines that lack what was taken in of them (FORMAT §20.2). One that is gone from the folder, or in
whose place an older file is, may be back: nothing is taken in until then, or until `repair` goes on without it. A log
that went on (its machine used a backup, or repaired it) has lost it. Lines of pages that rest on it stay."""

from __future__ import annotations

from looseleaf.base.immutable import frozen
from looseleaf.base.values import Position
from looseleaf.pages.outside_edits import is_same_log
from looseleaf.store import JOURNAL
from looseleaf.store.machines import stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from looseleaf.store.protocol import Store

WITHOUT = "without"
"""The kind of the record that goes on without what some logs lack."""


@frozen
class Behind:
    """What a log lacks: the edit with the id `last`, and maybe earlier ones. `went_on`: it has later records."""

    last: str
    went_on: bool


def find_behind(
    store: Store, own: str, taken: Mapping[str, Sequence[object]] | None = None
) -> dict[str, Behind]:
    """Return the logs that lack what was taken in of them, by machine. `own`: this machine. `taken`: where each log
    ended then, if that is known."""
    machines = store.machines()
    if taken and all(name in machines and _is_longer(store, name, *place) for name, place in taken.items()):
        return {}
    found: dict[str, Behind] = {}
    for name, seen in _find_seen(store).items():
        behind = _look(store, name, seen) if name in machines else Behind(max(seen), went_on=False)
        if name != own and behind is not None:
            found[name] = behind
    return found


def told_behind(machine: str) -> str:
    return (
        f"The log of {machine} is gone from this folder, or is older than it was. Until it is back, nothing of other "
        "machines is taken in. If it will not come back, `looseleaf repair` goes on without it; the pages stay as they "
        "are."
    )


def told_without(machine: str) -> str:
    return f"what the log of {machine} lacks is not waited for; the pages stay as they are"


def _is_longer(store: Store, machine: str, segment: object, offset: object, last: object) -> bool:
    place = Position(int(str(segment)), int(str(offset)))
    return is_same_log(store, place, last, stream_of(machine, JOURNAL))


def _find_seen(store: Store) -> dict[str, set[str]]:
    """Return, by machine, the edits that this one took in, as far as its own edits say so."""
    seen: dict[str, set[str]] = {}
    given_up: dict[str, str] = {}
    for line in store.read(JOURNAL):
        merge = line.record.get("merge")
        for name, last in _members(merge.get("seen") if isinstance(merge, dict) else None):
            seen.setdefault(name, set()).add(last)
        for name, last in _members(
            line.record.get("machines") if line.record.get("kind") == WITHOUT else None
        ):
            given_up[name] = max(last, given_up.get(name, ""))
    left = {name: {each for each in ids if each > given_up.get(name, "")} for name, ids in seen.items()}
    return {name: ids for name, ids in left.items() if ids}


def _members(told: object) -> Iterator[tuple[str, str]]:
    if isinstance(told, dict):
        yield from ((name, str(last)) for name, last in told.items())


def _look(store: Store, machine: str, seen: set[str]) -> Behind | None:
    """Return what a log lacks of these edits, without those before which its machine has forgotten something: they may
    have gone on purpose."""
    names: set[str] = set()
    forgotten = ""
    for line in store.read(stream_of(machine, JOURNAL)):
        name = str(line.record.get("id"))
        names.add(name)
        if line.record.get("kind") == "forgotten":
            forgotten = max(forgotten, name)
    lacks = {each for each in seen - names if each > forgotten}
    return Behind(max(lacks), went_on=max(names, default="") > max(lacks)) if lacks else None
