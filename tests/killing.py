"""Ending work at any of its calls: by a signal (`traced`), by a disk that ends the process, or by one that fails."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import traced
from faults import CountedDisk, DyingDisk, FaultyDisk
from looseleaf.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

CHANGES = frozenset("write truncate sync_data sync mkdir unlink rmdir rename rename_new exchange".split())
"""Calls of a disk that change something, or make it last."""


def kill_at(where: Iterable[tuple[str, int]], place: Path, **how: str) -> tuple[int, list[str]]:
    """SIGKILL before each of these system calls, in a process each: how many were met, and what was wrong after it."""
    orders = [
        {"trace": name, "inject": f"{name}:signal=SIGKILL:when={number}", **how} for name, number in where
    ]
    sites, wrong = 0, []
    for order, answer in traced.killed_by(orders, place):
        sites += 1
        wrong += [f"{order['inject']}: {sentence}" for sentence in answer["lost"] + answer["shut"]]
    return sites, wrong


class Site(NamedTuple):
    """A call of the work: its number, its name, and how the process ends there."""

    number: int
    call: str
    how: str


class NamesOfCalls(CountedDisk):
    """Writes down which calls there are."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        super().__init__()

    def called(self, name: str, real: Callable[..., object], args: tuple[object, ...]) -> object:
        self.seen.append(name)
        return real(*args)

    def sites(self) -> list[Site]:
        """Every way in which the process may end at one of them."""
        ways = {"write": ("before", "half", "after")}
        return [
            Site(number, name, how)
            for number, name in enumerate(self.seen, 1)
            for how in ways.get(name, ("before", "after"))
        ]


def ends(work: Callable[[], object]) -> bool:
    """Whether the work, done in a child, was ended by its disk. Anything that flies there is a failure here."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, DyingDisk.EXIT), f"the child ended with {code}"
    return code == DyingDisk.EXIT


class FaultyChanges(FaultyDisk):
    """What is there can be read. A full disk is like that."""

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return super().called(name, real, args) if name in CHANGES else self._watched(name, real, args)


def fail_at(script: Any, where: Iterable[int], place: Path, *, lasting: bool) -> Iterator[str]:
    """The work of a script, refused at a change; the same process then does the rest, if the disk is well again."""
    folder = place / "memory"
    for at in where:
        disk = FaultyChanges()
        memory = script.open_memory(folder, disk)
        disk.arm(errno.ENOSPC, at, lasting=lasting)
        try:
            list(script.steps(memory))
        except Refused:
            pass
        disk.heal()
        list(script.steps(memory))
        memory.close()
        yield from (f"change {at}: {sentence}" for sentence in script.judge(folder).sentences)
        shutil.rmtree(folder)
        if not disk.fired:
            assert at > 50, "the work makes more changes than that"
            break
