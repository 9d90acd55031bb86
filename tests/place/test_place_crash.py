"""Recording, distilling, approving and correcting that is killed or fails loses no fact, doubles none, and goes on.

With strace, a real SIGKILL before system calls of the work of `place_work`; on every system, a disk that ends the
process before, after or in the middle of a call, and one whose calls fail. Afterwards another process does what is
left, and everything must be as if nothing had happened.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import traced
from killing import CHANGES, end_at, fail_at, kill_at, kill_everywhere, orders_for, sites_of, states
from looseleaf import Memory
from scripts import place_work
from scripts.place_work import FLAWS, judge, open_memory, work

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")

# --- strace ----------------------------------------------------------------------------


orders = orders_for(place_work)


def test_a_sigkill_before_some_system_calls_loses_and_doubles_no_fact(place: Path) -> None:
    sites, wrong = kill_at(traced.sites(traced.count_calls(place))[7::4201], place)
    print(f"sites={sites}")
    assert not wrong


@pytest.mark.long
def test_a_sigkill_before_every_change_loses_and_doubles_no_fact(place: Path) -> None:
    kill_everywhere(place)


@pytest.mark.long
def test_placing_that_is_journaled_before_it_is_done_fails_the_sigkill_sweep(place: Path) -> None:
    where = traced.sites(traced.count_calls(place, flaw="placed first"))
    renames = [site for site in where if site[0] == "renameat2"]  # a page is written
    _, wrong = kill_at(renames, place, flaw="placed first")
    assert wrong


# --- a disk that ends the process --------------------------------------------------------


def test_a_process_that_ends_around_some_calls_loses_and_doubles_no_fact(place: Path) -> None:
    assert end_at(place_work, sites_of(place_work, place)[11::3001], place) == []


def test_a_process_that_ends_after_some_changes_loses_and_doubles_no_fact(place: Path) -> None:
    where = [site for site in sites_of(place_work, place) if site.call in CHANGES and site.how == "after"]
    assert end_at(place_work, where[3::211], place) == []


@pytest.mark.long
def test_a_process_that_ends_around_every_change_loses_and_doubles_no_fact(place: Path) -> None:
    assert end_at(place_work, states(sites_of(place_work, place)), place) == []


@pytest.mark.parametrize(
    "flaw",
    [
        # This one is found after many sites, the others soon.
        pytest.param(flaw, marks=pytest.mark.long) if flaw == "left alone" else flaw
        for flaw in FLAWS
        if flaw
    ],
)
def test_placing_with_a_flaw_fails_the_sweep(place: Path, flaw: str) -> None:
    names = ("exchange", "rename_new")  # a page is changed, or is new; an entry becomes visible
    where = [site for site in sites_of(place_work, place, flaw) if site.call in names and site.how == "after"]
    wrong = end_at(place_work, where, place, flaw, next_has=flaw, until_wrong=True)
    assert wrong
    print(wrong[0])


# --- a disk whose calls fail ---------------------------------------------------------------


@pytest.mark.parametrize("lasting", [False, True])
def test_what_a_full_disk_refused_is_done_later(place: Path, lasting: bool) -> None:
    assert list(fail_at(place_work, range(5, 1000, 97), place, lasting=lasting)) == []


@pytest.mark.long
@pytest.mark.parametrize("lasting", [False, True])
def test_what_a_full_disk_refused_at_any_change_is_done_later(place: Path, lasting: bool) -> None:
    assert list(fail_at(place_work, range(1, 1000), place, lasting=lasting)) == []


def test_the_judge_sees_what_is_lost_or_doubled(place: Path) -> None:
    def damage(change: Callable[[str], str]) -> list[str]:
        folder = place / "memory"
        list(work(folder))
        with open_memory(folder) as memory:
            memory.pages.edit("USER.md", change, reason="damage", author="person")
        found = judge(folder).sentences
        shutil.rmtree(folder)
        return found

    assert damage(lambda text: text) == []
    assert any("pages" in each for each in damage(lambda text: text.replace("- Likes: tea\n", "")))
    assert any("twice" in each for each in damage(lambda text: text + "- Likes: tea\n"))


def test_an_approval_is_not_lost_between_the_page_and_review(place: Path) -> None:
    """The page comes first; the line left in review goes with the next look."""
    folder = place / "memory"
    with Memory(folder) as memory:
        memory.distill("I like jazz.")[0]
        place_of = memory.parts.placer
        place_of.clear = lambda ids, reason="": _die()  # type: ignore[method-assign]
        with pytest.raises(InterruptedError):
            memory.review.approve(memory.facts(status="pending")[0].id or "")
    with Memory(folder) as memory:
        assert memory.check() == []
        [jazz] = [each for each in memory.facts() if each.object == "jazz"]
        assert jazz.level == "confirmed"
        assert memory.facts(status="pending") == []


def _die() -> list[str]:
    raise InterruptedError
