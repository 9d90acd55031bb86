"""Forget in place of another machine, which will never open this memory again: its log is changed as it would do it."""

from __future__ import annotations

from contextlib import closing

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.forget.forget import Forgotten, heed_others, look_for
from looseleaf.forget.probe import Probe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from looseleaf.forget.plan import Needs

    class Machine(Needs, Protocol):
        """A memory as one machine has it open."""

        def as_machine(self, machine: str, *, reads_only: bool) -> Machine:
            """Open the memory as another machine."""

        def deaf_branches(self) -> list[str]:
            """Return the logs that a merge made of this machine's own, where something is still to be forgotten."""

        def close(self) -> None: ...


_ROUNDS = 4
"""What one machine finds in its log, the others have to look for in theirs; mostly once is enough."""


def forget_in_place_of(parts: Machine, name: str, *, dry_run: bool = False) -> Forgotten:
    """Forget in the log of another machine what this one and others forgot. Return what went from that log."""
    machines = parts.store.machines()
    if name == parts.store.machine:
        raise Invalid(f"Nothing was forgotten: {name} is this machine itself, which forgets by itself.")
    if name not in machines:
        there = f"There are logs of {', '.join(machines)}." if machines else "No other machine has one."
        raise NotFound(f"Nothing was forgotten: no machine {name!r} has a log in this memory. {there}")
    counts: dict[str, int] = {}
    done = Forgotten("machine", name, {}, {}, (), "", None)
    if not dry_run:
        parts.pages.absorb()  # what people changed here is this machine's to journal
    for _ in range(_ROUNDS):
        with closing(parts.as_machine(name, reads_only=dry_run)) as other:
            buried = other.stones.unheard()
            if not buried:
                break
            if dry_run:
                return look_for(other, buried).but(by="machine", what=name)
            step = heed_others(other, buried)
        counts = {kind: counts.get(kind, 0) + step.counts.get(kind, 0) for kind in {*counts, *step.counts}}
        found = _found_there(parts, step.probe) if step.probe is not None else done.probe
        done = done.but(counts=counts, id=step.id, probe=found)
        parts.pages.absorb()
    if not dry_run:
        parts.store.drop_views_of(name)
    return done


def hear(parts: Machine) -> None:
    """Forget here what other machines forgot, and also in the logs that a merge made of this machine's own: nobody
    else does that. What is found there is looked for here, too."""
    for _ in range(_ROUNDS):
        buried = parts.stones.unheard()
        if buried:
            heed_others(parts, buried)
        branches = parts.deaf_branches()
        if not branches:
            return
        for name in branches:
            forget_in_place_of(parts, name)


def _found_there(parts: Machine, probe: Probe) -> Probe:
    """Return what was found, but not in this machine's own log: it has forgotten, so that was said since."""
    machines = tuple(name for name in probe.machines if name != parts.store.machine)
    elsewhere = tuple(path for path in probe.elsewhere if parts.store.owner(path))
    return Probe(probe.files, probe.bytes, probe.hits, probe.theirs, machines, elsewhere)
