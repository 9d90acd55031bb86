"""A sync that ends anywhere is finished by the next; nothing is lost, and then all are equal."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from forking import run_in_child
from killing import CHANGES, end_at, sites_of, states
from looseleaf.sync import git_remote, programs, rsync_target
from machines import FIRST, Machines
from scripts import sync_work
from scripts.sync_work import FLAWS
from syncing import make_place, objects, pages_at, say, sync, sync_all

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")


@pytest.fixture(autouse=True)
def made_anew() -> Iterator[None]:
    before = os.environ["LOOSELEAF_MACHINE"]
    sync_work._made.clear()
    yield
    os.environ["LOOSELEAF_MACHINE"] = before


def test_a_sync_that_ends_around_some_changes_is_finished_by_the_next(place: Path) -> None:
    where = [site for site in sites_of(sync_work, place) if site.call in CHANGES]
    assert end_at(sync_work, where[3 :: len(where) // 5], place) == []


@pytest.mark.long
def test_a_sync_that_ends_around_any_change_is_finished_by_the_next(place: Path) -> None:
    assert end_at(sync_work, states(sites_of(sync_work, place)), place) == []


@pytest.mark.long
@pytest.mark.parametrize("flaw", [flaw for flaw in FLAWS if flaw])
def test_a_sync_with_a_flaw_fails_the_sweep(place: Path, flaw: str) -> None:
    where = [site for site in sites_of(sync_work, place, flaw) if site.call in ("write", "truncate")]
    assert end_at(sync_work, where[::-1], place, flaw, until_wrong=True)


# --- between the programs that carry -----------------------------------------------------------


@pytest.fixture
def machines(place: Path) -> Iterator[Machines]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", FIRST)
        yield Machines(place)


def dies_before(machines: Machines, where: str, number: int) -> bool:
    """Sync in a child that ends before it runs a program for the n-th time. False: it ran fewer."""
    left = [number]
    real = programs.run

    def run(*args: Any, **more: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            os._exit(99)
        return real(*args, **more)

    def sync_and_die() -> None:
        git_remote.run = rsync_target.run = run  # type: ignore[attr-defined]
        sync(machines, FIRST, where)

    code = run_in_child(sync_and_die)
    assert code in (0, 99)
    return code == 99


def end_between(machines: Machines, place: Path, where: str, numbers: range) -> int:
    """Sync, and end before each of these programs is run, each time with new words. Return how often that happened."""
    met = 0
    sync_all(machines, where, (FIRST, "lap"))
    for number in numbers:
        say(machines, FIRST, f"I like the colour number {number}.")
        say(machines, "lap", f"I like the river number {number}.")
        sync(machines, "lap", where)
        if not dies_before(machines, where, number):
            break
        met += 1
    sync_all(machines, where, (FIRST, "lap"))
    assert machines.pages(FIRST) == machines.pages("lap") == pages_at(place, where)
    wanted = {f"number {number}" for number in numbers[:met]}
    said = " ".join(objects(machines, "lap"))
    assert all(said.count(each) >= 2 for each in wanted)
    for name in (FIRST, "lap"):
        with machines.open(name) as memory:
            assert memory.check() == []
            assert memory.sync(where).is_nothing
    return met


@pytest.mark.parametrize(("kind", "numbers"), [("git", range(2, 20, 6)), ("rsync", range(1, 6, 2))])
def test_a_sync_that_ends_between_some_programs_is_finished_by_the_next(
    machines: Machines, place: Path, kind: str, numbers: range
) -> None:
    assert end_between(machines, place, make_place(kind, place), numbers) >= 2


@pytest.mark.long
@pytest.mark.parametrize("kind", ["git", "rsync"])
def test_a_sync_that_ends_between_any_programs_is_finished_by_the_next(
    machines: Machines, place: Path, kind: str
) -> None:
    met = end_between(machines, place, make_place(kind, place), range(40))
    assert 3 < met < 40
