"""An import that is killed or fails anywhere, and is repeated, is the same as one that was not.

With strace, a real SIGKILL before system calls of the work of `import_work`; on every system, a disk that ends the
process around a call, and one that is full for a while.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import traced
from faults import DyingDisk
from killing import CHANGES, NamesOfCalls, Site, ends, fail_at, kill_at
from scripts import import_work
from scripts.import_work import FLAWS, expected, judge, mend, open_memory, work

if TYPE_CHECKING:
    from looseleaf.store.disk import Disk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")

SHARES = 8
"""A long test sweeps so many-th part of all places."""


# --- strace ----------------------------------------------------------------------------


@pytest.fixture
def orders_for_importing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traced, "SCRIPT", Path(import_work.__file__))


@pytest.mark.long
@pytest.mark.usefixtures("orders_for_importing")
def test_a_sigkill_before_some_system_calls_changes_nothing_in_the_end(place: Path) -> None:
    where = traced.sites(traced.count_calls(place))
    sites, wrong = kill_at(where[5 :: len(where) // 5], place)
    print(f"sites={sites} of {len(where)}")
    assert sites >= 4
    assert not wrong


@pytest.mark.long
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.usefixtures("orders_for_importing")
def test_a_sigkill_before_every_system_call_changes_nothing_in_the_end(place: Path, share: int) -> None:
    where = traced.sites(traced.count_calls(place))[share::SHARES]
    count, wrong = kill_at(where, place)
    print(f"\nsites={count} of {len(where)}")
    assert not wrong
    assert count > 0.75 * len(where)


@pytest.mark.long
@pytest.mark.usefixtures("orders_for_importing")
def test_an_import_that_does_not_say_what_it_began_fails_the_sigkill_sweep(place: Path) -> None:
    where = traced.sites(traced.count_calls(place, flaw="begun unsaid"))
    writes = [site for site in where if site[0] in ("write", "pwrite64")]
    _, wrong = kill_at(writes, place, flaw="begun unsaid")
    assert wrong


# --- a disk that ends the process --------------------------------------------------------


def sites(place: Path, flaw: str = "") -> list[Site]:
    """Every call of the undisturbed work."""
    expected()
    disk = NamesOfCalls()
    try:
        FLAWS[flaw]()
        list(work(place / "whole", disk))
    finally:
        mend()
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
        fired += ends(partial(flawed, folder, DyingDisk(site.number, site.how), flaw))
        try:
            FLAWS[flaw]()  # the next process has it too
            wrong += [f"{site}: {sentence}" for sentence in judge(folder).sentences]
        finally:
            mend()
        shutil.rmtree(folder)
        if until_wrong and wrong:
            break
    print(f"sites={count} fired={fired} {flaw}")
    assert fired > 0.7 * count  # a run makes a few calls less than another
    return wrong


def test_an_import_that_ends_around_some_changes_is_made_whole_by_the_next(place: Path) -> None:
    where = [site for site in sites(place) if site.call in CHANGES]
    assert end_at(where[2 :: len(where) // 6], place) == []


@pytest.mark.long
@pytest.mark.parametrize("share", range(SHARES))
def test_an_import_that_ends_around_any_call_is_made_whole_by_the_next(place: Path, share: int) -> None:
    assert end_at(sites(place)[share::SHARES], place) == []


@pytest.mark.parametrize("flaw", [flaw for flaw in FLAWS if flaw])
def test_an_import_with_a_flaw_fails_the_sweep(place: Path, flaw: str) -> None:
    where = [site for site in sites(place, flaw) if site.call == "write" and site.how == "after"]
    wrong = end_at(where[4:], place, flaw, until_wrong=True)
    assert wrong


# --- a disk whose calls fail ---------------------------------------------------------------


@pytest.mark.parametrize("lasting", [False, True])
def test_what_a_full_disk_refused_is_imported_later(place: Path, lasting: bool) -> None:
    assert list(fail_at(import_work, range(9, 400, 67), place, lasting=lasting)) == []


@pytest.mark.long
@pytest.mark.parametrize("lasting", [False, True])
def test_what_a_full_disk_refused_at_any_change_is_imported_later(place: Path, lasting: bool) -> None:
    assert list(fail_at(import_work, range(1, 2000), place, lasting=lasting)) == []


def test_the_judge_sees_what_is_lost_or_doubled(place: Path) -> None:
    folder = place / "memory"
    list(work(folder))
    assert judge(folder).sentences == []
    with open_memory(folder) as memory:
        memory.record(user="one more")
    assert any("traces" in each for each in judge(folder).sentences)
