"""A forgetting that is killed, or whose disk fails, is either done or not begun; repeated, it is done.

With strace, a real SIGKILL before system calls of the work of `forget_work`; on every system, a disk that ends the
process before, after or in the middle of a call, and one whose calls fail.
"""

from __future__ import annotations

import errno
import shutil
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import traced
from faults import DyingDisk, FaultyDisk
from killing import CHANGES, NamesOfCalls, Site, ends, kill_at
from looseleaf.base.errors import Refused
from scripts import forget_work
from scripts.forget_work import FLAWS, judge, make, mend, open_memory, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.store.disk import Disk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")

SHARES = 8
"""A test of the long run sweeps so many-th part of all calls."""


# --- strace ----------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("share", range(SHARES))
def test_a_sigkill_before_every_system_call_leaves_the_old_memory_or_the_new_one(
    place: Path, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traced, "SCRIPT", Path(forget_work.__file__))
    where = traced.sites(traced.count_calls(place))[share::SHARES]
    sites, wrong = kill_at(where, place)
    print(f"sites={sites} of {len(where)}")
    assert not wrong
    assert sites > 0.75 * len(where)


# --- a disk that ends the process --------------------------------------------------------


def sites(place: Path, flaw: str = "") -> list[Site]:
    """Every call of the undisturbed work."""
    disk = NamesOfCalls()
    make(place / "whole")
    try:
        FLAWS[flaw]()
        list(work(place / "whole", disk))
    finally:
        mend()
    assert judge(place / "whole").sentences == []
    shutil.rmtree(place / "whole")
    return disk.sites()


def flawed(folder: Path, disk: Disk, flaw: str) -> None:
    FLAWS[flaw]()
    list(work(folder, disk))


def end_at(where: Iterable[Site], place: Path, flaw: str = "", *, until_wrong: bool = False) -> list[str]:
    wrong: list[str] = []
    fired = count = 0
    folder = place / "memory"
    for site in where:
        count += 1
        make(folder)
        fired += ends(partial(flawed, folder, DyingDisk(site.number, site.how), flaw))
        wrong += [f"{site}: {sentence}" for sentence in judge(folder).sentences]
        shutil.rmtree(folder)
        if until_wrong and wrong:
            break
    print(f"sites={count} fired={fired} {flaw}")
    assert fired > 0.7 * count  # a run makes a few calls less than another
    return wrong


def test_a_process_that_ends_after_some_changes_leaves_the_old_memory_or_the_new_one(place: Path) -> None:
    where = [site for site in sites(place) if site.call in CHANGES and site.how == "after"]
    assert end_at(where[5::41], place) == []


@pytest.mark.long
@pytest.mark.parametrize("share", range(SHARES))
def test_a_process_that_ends_around_every_call_leaves_the_old_memory_or_the_new_one(
    place: Path, share: int
) -> None:
    assert end_at(sites(place)[share::SHARES], place) == []


@pytest.mark.parametrize("flaw", [flaw for flaw in FLAWS if flaw])
def test_a_switch_with_a_flaw_fails_the_sweep(place: Path, flaw: str) -> None:
    where = [site for site in sites(place, flaw) if site.call == "rename" and site.how == "after"]
    wrong = end_at(where[1::2], place, flaw, until_wrong=True)
    assert wrong
    print(wrong[0][:300])


# --- a disk whose calls fail ---------------------------------------------------------------


class FaultyChanges(FaultyDisk):
    """What is there can be read. A full disk is like that."""

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return super().called(name, real, args) if name in CHANGES else self._watched(name, real, args)


def fail_at(where: Iterable[int], place: Path) -> tuple[int, list[str]]:
    """The work, refused at a change; afterwards the disk is well again, and somebody else looks."""
    folder = place / "memory"
    fired, wrong = 0, []
    for at in where:
        make(folder)
        disk = FaultyChanges()
        memory = open_memory(folder, disk)
        disk.arm(errno.ENOSPC, at, lasting=True)
        try:
            memory.forget(session="gone")
        except Refused:
            pass
        fired += bool(disk.fired)
        disk.heal()
        memory.close()
        wrong += [f"change {at}: {sentence}" for sentence in judge(folder).sentences]
        shutil.rmtree(folder)
    return fired, wrong


def test_a_full_disk_leaves_the_old_memory_or_the_new_one(place: Path) -> None:
    fired, wrong = fail_at((2, 40), place)
    assert not wrong
    assert fired == 2


@pytest.mark.long
def test_a_disk_that_fails_at_any_change_leaves_the_old_memory_or_the_new_one(place: Path) -> None:
    fired, wrong = fail_at(range(1, 400, 3), place)
    assert not wrong
    assert fired > 20
