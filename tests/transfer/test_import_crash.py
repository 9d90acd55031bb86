"""An import that is killed or fails anywhere, and is repeated, is the same as one that was not.

With strace, a real SIGKILL before system calls of the work of `import_work`; on every system, a disk that ends the
process around a call, and one that is full for a while.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import traced
from killing import CHANGES, end_at, fail_at, kill_at, kill_everywhere, orders_for, sites_of, states
from scripts import import_work
from scripts.import_work import FLAWS, judge, open_memory, work

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")

# --- strace ----------------------------------------------------------------------------


orders = orders_for(import_work)


@pytest.mark.long
def test_a_sigkill_before_some_system_calls_changes_nothing_in_the_end(place: Path) -> None:
    where = traced.sites(traced.count_calls(place))
    sites, wrong = kill_at(where[5 :: len(where) // 5], place)
    print(f"sites={sites} of {len(where)}")
    assert sites >= 4
    assert not wrong


@pytest.mark.long
def test_a_sigkill_before_every_change_makes_no_difference_in_the_end(place: Path) -> None:
    kill_everywhere(place)


@pytest.mark.long
def test_an_import_that_does_not_say_what_it_began_fails_the_sigkill_sweep(place: Path) -> None:
    where = traced.sites(traced.count_calls(place, flaw="begun unsaid"))
    writes = [site for site in where if site[0] in ("write", "pwrite64")]
    _, wrong = kill_at(writes, place, flaw="begun unsaid")
    assert wrong


# --- a disk that ends the process --------------------------------------------------------


def test_an_import_that_ends_around_some_changes_is_made_whole_by_the_next(place: Path) -> None:
    where = [site for site in sites_of(import_work, place) if site.call in CHANGES]
    assert end_at(import_work, where[2 :: len(where) // 3], place) == []


@pytest.mark.long
def test_an_import_that_ends_around_any_change_is_made_whole_by_the_next(place: Path) -> None:
    assert end_at(import_work, states(sites_of(import_work, place)), place) == []


@pytest.mark.parametrize("flaw", [flaw for flaw in FLAWS if flaw])
def test_an_import_with_a_flaw_fails_the_sweep(place: Path, flaw: str) -> None:
    where = [
        site for site in sites_of(import_work, place, flaw) if site.call == "write" and site.how == "after"
    ]
    wrong = end_at(import_work, where[4:], place, flaw, next_has=flaw, until_wrong=True)
    assert wrong


# --- a disk whose calls fail ---------------------------------------------------------------


@pytest.mark.parametrize("lasting", [False, True])
def test_what_a_full_disk_refused_is_imported_later(place: Path, lasting: bool) -> None:
    assert list(fail_at(import_work, range(9, 400, 131), place, lasting=lasting)) == []


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
