"""An import that is killed or fails anywhere, and is repeated, is the same as one that was not.

With strace, a real SIGKILL before system calls of the work of `import_work`; on every system, a disk that ends the
process around a call, and one that is full for a while.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import traced
from faults import CountedDisk, DyingDisk, FaultyDisk
from looseleaf.errors import Refused
from scripts import import_work
from scripts.import_work import FLAWS, expected, judge, mend, open_memory, steps, work

if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.store.disk import Disk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and signals")

CHANGES = frozenset("write truncate sync_data sync mkdir unlink rmdir rename rename_new exchange".split())
SHARES = 8
"""A long test sweeps so many-th part of all places."""


# --- strace ----------------------------------------------------------------------------


@pytest.fixture
def orders_for_importing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traced, "SCRIPT", Path(import_work.__file__))


def kill_at(where: Iterable[tuple[str, int]], place: Path, **how: str) -> tuple[int, list[str]]:
    orders = [
        {"trace": name, "inject": f"{name}:signal=SIGKILL:when={number}", **how} for name, number in where
    ]
    sites, wrong = 0, []
    for order, answer in traced.killed_by(orders, place):
        sites += 1
        wrong += [f"{order['inject']}: {sentence}" for sentence in answer["lost"] + answer["shut"]]
    return sites, wrong


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
    ways = {"write": ("before", "half", "after")}
    return [
        Site(number, name, how)
        for number, name in enumerate(disk.seen, 1)
        for how in ways.get(name, ("before", "after"))
    ]


def ends(folder: Path, disk: Disk, flaw: str = "") -> bool:
    """Whether the work, done in a child, was ended by its disk. Anything that flies there is a failure here."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            FLAWS[flaw]()
            list(work(folder, disk))
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, DyingDisk.EXIT), f"the child ended with {code}"
    return code == DyingDisk.EXIT


def end_at(where: Iterable[Site], place: Path, flaw: str = "", *, until_wrong: bool = False) -> list[str]:
    wrong: list[str] = []
    fired = count = 0
    folder = place / "memory"
    for site in where:
        count += 1
        fired += ends(folder, DyingDisk(site.number, site.how), flaw)
        try:
            FLAWS[flaw]()  # whoever goes on has it too
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


class FaultyChanges(FaultyDisk):
    """What is there can be read. A full disk is like that."""

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return super().called(name, real, args) if name in CHANGES else self._watched(name, real, args)


def fail_at(where: Iterable[int], place: Path, *, lasting: bool) -> Iterator[str]:
    """The work, refused at a change; the same process then does the rest, if the disk is well again."""
    folder = place / "memory"
    for at in where:
        disk = FaultyChanges()
        memory = open_memory(folder, disk)
        disk.arm(errno.ENOSPC, at, lasting=lasting)
        try:
            list(steps(memory))
        except Refused:
            pass
        disk.heal()
        list(steps(memory))
        memory.close()
        yield from (f"change {at}: {sentence}" for sentence in judge(folder).sentences)
        shutil.rmtree(folder)
        if not disk.fired:
            assert at > 50, "the work makes more changes than that"
            break


@pytest.mark.parametrize("lasting", [False, True])
def test_what_a_full_disk_refused_is_imported_later(place: Path, lasting: bool) -> None:
    assert list(fail_at(range(9, 400, 67), place, lasting=lasting)) == []


@pytest.mark.long
@pytest.mark.parametrize("lasting", [False, True])
def test_what_a_full_disk_refused_at_any_change_is_imported_later(place: Path, lasting: bool) -> None:
    assert list(fail_at(range(1, 2000), place, lasting=lasting)) == []


def test_the_judge_sees_what_is_lost_or_doubled(place: Path) -> None:
    folder = place / "memory"
    list(work(folder))
    assert judge(folder).sentences == []
    with open_memory(folder) as memory:
        memory.record(user="one more")
    assert any("traces" in each for each in judge(folder).sentences)
