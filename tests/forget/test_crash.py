"""A forgetting that is killed, or whose disk fails, is either done or not begun; repeated, it is done.

With strace, a real SIGKILL before system calls of the work of `forget_work`; on every system, a disk that ends the
process before, after or in the middle of a call, and one whose calls fail.
"""

from __future__ import annotations

import errno
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from killing import CHANGES, FaultyChanges, end_at, kill_everywhere, orders_for, sites_of, states
from looseleaf.base.errors import Refused
from scripts import forget_work
from scripts.forget_work import FLAWS, judge, make, open_memory

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")

# --- strace ----------------------------------------------------------------------------


orders = orders_for(forget_work)


@pytest.mark.long
def test_a_sigkill_before_every_change_leaves_the_old_memory_or_the_new_one(place: Path) -> None:
    kill_everywhere(place)


# --- a disk that ends the process --------------------------------------------------------


def test_a_process_that_ends_after_some_changes_leaves_the_old_memory_or_the_new_one(place: Path) -> None:
    where = [site for site in sites_of(forget_work, place) if site.call in CHANGES and site.how == "after"]
    assert end_at(forget_work, where[5::97], place) == []


@pytest.mark.long
def test_a_process_that_ends_around_every_change_leaves_the_old_memory_or_the_new_one(place: Path) -> None:
    assert end_at(forget_work, states(sites_of(forget_work, place)), place) == []


@pytest.mark.parametrize("flaw", [flaw for flaw in FLAWS if flaw])
def test_a_switch_with_a_flaw_fails_the_sweep(place: Path, flaw: str) -> None:
    where = [
        site for site in sites_of(forget_work, place, flaw) if site.call == "rename" and site.how == "after"
    ]
    wrong = end_at(forget_work, where, place, flaw, until_wrong=True)
    assert wrong
    print(wrong[0][:300])


# --- a disk whose calls fail ---------------------------------------------------------------


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
