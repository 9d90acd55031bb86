"""Logs of other machines that lack what was taken in of them (FORMAT §20.2): gone from the folder, or an older file is
in their place. What pages have of them would be lost, so nothing is taken in until they are back, or `repair` goes on
without them."""

from __future__ import annotations

from looseleaf.base.values import Position
from looseleaf.pages.outside_edits import is_same_log
from looseleaf.store import JOURNAL
from looseleaf.store.machines import stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from looseleaf.base.values import Record
    from looseleaf.store.protocol import Store

WITHOUT = "without"
"""The kind of the record that goes on without what some logs lack."""


def find_behind(
    store: Store, own: str, taken: Mapping[str, Sequence[object]] | None = None
) -> dict[str, str]:
    """Return the machines whose logs lack what was taken in of them, each with the id of the last edit of it. `own`:
    this machine. `taken`: where each log ended then, if that is known."""
    machines = store.machines()
    if taken and all(name in machines and _is_longer(store, name, *place) for name, place in taken.items()):
        return {}
    known = _find_seen(store)
    return {
        name: last for name, last in known.items() if name != own and not _has(store, name, last, machines)
    }


def told_behind(machine: str) -> str:
    return (
        f"The log of {machine} is gone from this folder, or is older than it was. Until it is back, nothing of other "
        "machines is taken in. If it will not come back, `looseleaf repair` goes on without it; the pages stay as they "
        "are."
    )


def _is_longer(store: Store, machine: str, segment: object, offset: object, last: object) -> bool:
    place = Position(int(str(segment)), int(str(offset)))
    return is_same_log(store, place, last, stream_of(machine, JOURNAL))


def _find_seen(store: Store) -> dict[str, str]:
    """Return, by machine, the last of its edits that this one took in."""
    seen: dict[str, str] = {}
    given_up: dict[str, str] = {}
    for line in store.read(JOURNAL):
        if line.record.get("kind") == WITHOUT:
            _add(given_up, line.record.get("machines"))
        merge = line.record.get("merge")
        if isinstance(merge, dict):
            _add(seen, merge.get("seen"))
    return {name: last for name, last in seen.items() if last > given_up.get(name, "")}


def _add(found: dict[str, str], told: object) -> None:
    for name, last in told.items() if isinstance(told, dict) else ():
        found[name] = max(str(last), found.get(name, ""))


def _has(store: Store, machine: str, last: str, machines: Sequence[str]) -> bool:
    """True if a log has an edit, or its machine has forgotten something since: then that may have gone on purpose."""
    if machine not in machines:
        return False
    records = (line.record for line in store.read(stream_of(machine, JOURNAL)))
    return any(_is_since(each, last) for each in records)


def _is_since(record: Record, last: str) -> bool:
    name = str(record.get("id"))
    return name == last or (record.get("kind") == "forgotten" and name > last)
