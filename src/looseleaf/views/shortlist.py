"""The shortlist: what could stand in the global memory, so that one changed topic costs no look at all the others.

It holds the best of all topics, some more than there are places, and how good the best is that it left out. Invariant:
what it tells is what `essentials.global_memory` makes of all digests. When so much has left it that this is no longer
sure, it says so, and is made again of all of them.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen
from looseleaf.views.essentials import CAPS, Caps, activity, essentials, order_of, places, snapshots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

    from looseleaf.base.values import Record

SCHEMA = "shortlist.v1"
_ACTIVE = "active"

SPARE = 1.5
"""Times as many as there are places: so many may go before all topics are looked at again."""


@frozen
class Shortlist:
    """By the name of a place (`core/identity`, or `active` for topics themselves): those in front, the best first, and
    the order of the best one behind them; None if there is none."""

    front: dict[str, list[dict[str, Any]]]
    behind: dict[str, tuple[Any, ...] | None]

    def to_record(self) -> Record:
        return {
            "front": self.front,
            "behind": {name: each and list(each) for name, each in self.behind.items()},
        }

    @classmethod
    def from_record(cls, raw: Record) -> Shortlist:
        """KeyError, TypeError or ValueError for what is none."""
        names = _rooms(CAPS)
        front = {name: [dict(each) for each in raw["front"][name]] for name in names}
        behind = {name: tuple(each) if (each := raw["behind"][name]) else None for name in names}
        return cls(front, behind)


def shortlist(digests: Iterable[Mapping[str, Any]], *, caps: Caps = CAPS) -> Shortlist:
    """Of one digest per topic."""
    names = _rooms(caps)
    return _with(Shortlist({name: [] for name in names}, dict.fromkeys(names)), digests, caps)


def changed(
    before: Shortlist, gone: Collection[str], digests: Iterable[Mapping[str, Any]], *, caps: Caps = CAPS
) -> Shortlist:
    """When topics have changed or gone: without what it had of them, and with their digests as they are now."""
    front = {
        name: [each for each in kept if each["topic"] not in gone] for name, kept in before.front.items()
    }
    return _with(Shortlist(front, dict(before.behind)), digests, caps)


def told(
    listed: Shortlist, topics: int, updated_at: float | None, *, caps: Caps = CAPS
) -> dict[str, Any] | None:
    """The global memory of so many topics; None if some that it needs may have been left out."""
    chosen = essentials(
        [each for name, kept in listed.front.items() if name != _ACTIVE for each in kept], caps
    )
    counts: dict[str, int] = {_ACTIVE: len(listed.front[_ACTIVE])}
    for each in chosen:
        place = f"{each['tier']}/{each['type']}"
        counts[place] = counts.get(place, 0) + 1
    for name, most in _rooms(caps).items():
        if listed.behind[name] is not None and counts.get(name, 0) < most:
            return None
    return snapshots(listed.front[_ACTIVE], topics, updated_at, chosen, caps)


def _rooms(caps: Caps) -> dict[str, int]:
    return {f"{tier}/{kind}": most for tier, kind, most in places(caps)} | {_ACTIVE: caps.active_topics}


def _with(listed: Shortlist, digests: Iterable[Mapping[str, Any]], caps: Caps) -> Shortlist:
    coming: dict[str, list[dict[str, Any]]] = {name: [] for name in listed.front}
    for digest in digests:
        coming[_ACTIVE].append({name: value for name, value in digest.items() if name != "candidates"})
        for each in digest["candidates"]:
            coming[f"{each['tier']}/{each['type']}"].append(each)
    front, behind = {}, {}
    for name, most in _rooms(caps).items():
        key: Callable[[Mapping[str, Any]], tuple[Any, ...]] = activity if name == _ACTIVE else order_of
        bar = listed.behind[name]
        # What is behind the best one that was left out may have others before it: it is left out as well.
        ranked = sorted((*listed.front[name], *coming[name]), key=key)
        kept = [each for each in ranked if bar is None or key(each) < bar][: int(most * SPARE)]
        out = ranked[len(kept)] if len(kept) < len(ranked) else None
        bars = [each for each in (bar, key(out) if out is not None else None) if each is not None]
        front[name], behind[name] = kept, min(bars, default=None)
    return Shortlist(front, behind)
