"""Forget in place of another machine, which will never open this memory again: its log is changed as it would do it."""

from __future__ import annotations

from contextlib import closing

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.forget.forget import Forgotten, heed_others, look_for
from looseleaf.memory.parts import Parts

_ROUNDS = 4
"""What one machine finds in its log, the others have to look for in theirs; mostly once is enough."""


def forget_in_place_of(parts: Parts, name: str, *, dry_run: bool = False) -> Forgotten:
    """Forget in the log of another machine what this one and others forgot. Return what went from that log."""
    machines = parts.files.machines()
    if name == parts.files.machine:
        raise Invalid(f"Nothing was forgotten: {name} is this machine itself, which forgets by itself.")
    if name not in machines:
        there = f"There are logs of {', '.join(machines)}." if machines else "No other machine has one."
        raise NotFound(f"Nothing was forgotten: no machine {name!r} has a log in this memory. {there}")
    counts: dict[str, int] = {}
    done = Forgotten("machine", name, {}, {}, (), "", None)
    if not dry_run:
        parts.pages.absorb()  # what people changed here is this machine's to journal
    for _ in range(_ROUNDS):
        with closing(_open_as(parts, name, reads_only=dry_run)) as other:
            buried = other.stones.unheard()
            if not buried:
                break
            if dry_run:
                return look_for(other, buried).but(by="machine", what=name)
            step = heed_others(other, buried)
        counts = {kind: counts.get(kind, 0) + step.counts.get(kind, 0) for kind in {*counts, *step.counts}}
        done = done.but(counts=counts, id=step.id, probe=step.probe or done.probe)
        parts.pages.absorb()
    return done


def _open_as(parts: Parts, machine: str, *, reads_only: bool) -> Parts:
    context = parts.context
    return Parts(
        context.path,
        agent=context.agent,
        policy=context.policy,
        must_exist=True,
        reads_only=reads_only,
        machine=machine,
    )
