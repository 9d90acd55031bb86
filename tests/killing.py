"""Ending work at any of its calls: by a signal (`traced`), by a disk that ends the process, or by one that fails."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import pytest

import traced
from faults import CountedDisk, DyingDisk, FaultyDisk
from forking import run_in_child
from looseleaf.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from looseleaf.store.disk import Disk
    from workload import Verdict

CHANGES = frozenset("write truncate sync_data sync mkdir unlink rmdir rename rename_new exchange".split())
"""Calls of a disk that change something, or make it last."""

LEAVING = CHANGES - {"sync_data", "sync"}
"""Calls of a disk that leave other bytes or names on it."""


class Script(Protocol):
    """A module of `scripts` whose work is ended. `FLAWS[""]` sets none, `mend` takes them all back."""

    @property
    def FLAWS(self) -> Mapping[str, Callable[[], None]]: ...

    def mend(self) -> None: ...

    def make(self, folder: Path) -> None:
        """What there is before the work. Whatever the judge compares with is made before a flaw is set."""

    def work(self, folder: Path, disk: Disk | None = None) -> Iterator[object]: ...

    def judge(self, folder: Path) -> Verdict: ...


# --- a signal --------------------------------------------------------------------------


def orders_for(script: ModuleType) -> Any:
    """A fixture for a module of tests: its orders are carried out by this script."""

    @pytest.fixture(autouse=True)
    def script_of_orders(monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(traced, "SCRIPT", Path(script.__file__ or ""))

    return script_of_orders


def killed_at(
    where: Iterable[tuple[str, int]], place: Path, **how: str
) -> Iterator[tuple[str, list[str], list[str]]]:
    """SIGKILL before each of these system calls, in a process each: which were met, what was lost, what is shut."""
    orders = [
        {"trace": name, "inject": f"{name}:signal=SIGKILL:when={number}", **how} for name, number in where
    ]
    for order, answer in traced.killed_by(orders, place):
        yield order["inject"], answer["lost"], answer["shut"]


def kill_at(where: Iterable[tuple[str, int]], place: Path, **how: str) -> tuple[int, list[str]]:
    """How many of these system calls were met, and what was wrong after it."""
    sites, wrong = 0, []
    for site, lost, shut in killed_at(where, place, **how):
        sites += 1
        wrong += [f"{site}: {sentence}" for sentence in lost + shut]
    return sites, wrong


def kill_everywhere(place: Path) -> None:
    """The sweep over every state that a kill can leave: nothing is wrong after any."""
    where = traced.kill_sites(traced.count_calls(place))
    sites, wrong = kill_at(where, place)
    print(f"\nsites={sites} of {len(where)}")
    assert not wrong
    assert sites > 0.75 * len(where)


# --- a disk that ends the process --------------------------------------------------------


class Site(NamedTuple):
    """A call of the work: its number, its name, and how the process ends there."""

    number: int
    call: str
    how: str


class NamesOfCalls(CountedDisk):
    """Writes down which calls there are."""

    def __init__(self, *, exchange: bool = True) -> None:
        self.seen: list[str] = []
        super().__init__(exchange=exchange)

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


class Ending(Protocol):
    """A site of any sweep."""

    @property
    def call(self) -> str: ...

    @property
    def how(self) -> str: ...


S = TypeVar("S", bound=Ending)


def states(sites: Sequence[S]) -> list[S]:
    """A site for every state that a process can leave: before and in the middle of every change, and after the last.
    Between two changes it leaves what it leaves before the second; so some of the other calls are enough."""
    changes = [site for site in sites if site.call in LEAVING]
    others = [site for site in sites if site.call not in LEAVING]
    return [*(site for site in changes if site.how != "after"), changes[-1], *others[48::97]]


def ends(work: Callable[[], object]) -> bool:
    """Whether the work, done in a child, was ended by its disk. Anything that flies there is a failure here."""
    code = run_in_child(work)
    assert code in (0, DyingDisk.EXIT), f"the child ended with {code}"
    return code == DyingDisk.EXIT


def sites_of(script: Script, place: Path, flaw: str = "") -> list[Site]:
    """Every call of the undisturbed work."""
    disk = NamesOfCalls()
    script.make(place / "whole")
    try:
        script.FLAWS[flaw]()
        list(script.work(place / "whole", disk))
    finally:
        script.mend()
    if not flaw:
        assert script.judge(place / "whole").sentences == []
    shutil.rmtree(place / "whole")
    return disk.sites()


def end_at(
    script: Script,
    where: Iterable[Site],
    place: Path,
    flaw: str = "",
    *,
    next_has: str = "",
    until_wrong: bool = False,
) -> list[str]:
    """What is wrong after the work was ended at each of these calls. `next_has`: the flaw of whoever goes on."""
    wrong: list[str] = []
    fired = count = 0
    folder = place / "memory"
    for site in where:
        count += 1
        script.make(folder)
        fired += ends(partial(_with_flaw, script, flaw, folder, DyingDisk(site.number, site.how)))
        try:
            script.FLAWS[next_has]()
            wrong += [f"{site}: {sentence}" for sentence in script.judge(folder).sentences]
        finally:
            script.mend()
        shutil.rmtree(folder)
        if until_wrong and wrong:
            break
    print(f"sites={count} fired={fired} {flaw}")
    assert fired > 0.7 * count  # a run makes a few calls less than another
    return wrong


def _with_flaw(script: Script, flaw: str, folder: Path, disk: Disk) -> None:
    script.FLAWS[flaw]()
    list(script.work(folder, disk))


# --- a disk whose calls fail ---------------------------------------------------------------


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
