"""A process that is killed at any moment loses nothing that it was told is written, and leaves a folder that opens.

Twice: with strace, a real SIGKILL before every system call of the work; and, on every system, with a disk that ends
the process before, after or in the middle of every call. Killed *after* a call is killed before the next one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from faults import CountedDisk, DyingDisk
from killing import NamesOfCalls, Site, ends, states
from looseleaf.store.disk import Disk
from looseleaf.store.documents import Documents
from looseleaf.store.files import FileStore
from looseleaf.store.records import encode
from looseleaf.store.streams import Streams
from scripts.crash_work import InPlaceDocuments
from traced import carry_out, count_calls, kill_sites, killed_by, sites
from workload import (
    JOURNAL,
    SECOND,
    STEPS,
    TINY,
    TRACES,
    Verdict,
    Work,
    judge,
    make_folder,
    placed,
    tell_to,
    trace,
)

ACTIVE = "log/traces/main/raw_traces.jsonl"


@dataclass
class Tally:
    """What a sweep found; prints as its figures."""

    sites: int = 0
    lost: int = 0
    failed_opens: int = 0
    sentences: list[str] = field(default_factory=list)

    def count(self, where: str, verdict: Verdict) -> None:
        self.sites += 1
        self.lost += bool(verdict.lost)
        self.failed_opens += bool(verdict.shut)
        self.sentences += [f"{where}: {sentence}" for sentence in verdict.sentences]

    def __str__(self) -> str:
        return f"sites={self.sites} lost={self.lost} failed_opens={self.failed_opens}"


# --- strace ------------------------------------------------------------------------------


def kill_at(where: Iterable[tuple[str, int]], place: Path, **how: str) -> Tally:
    orders = [
        {"trace": name, "inject": f"{name}:signal=SIGKILL:when={number}", **how} for name, number in where
    ]
    tally = Tally()
    for order, answer in killed_by(orders, place):
        tally.count(order["inject"], Verdict(answer["lost"], answer["shut"]))
    return tally


def test_strace_kills_before_the_call_has_happened(place: Path) -> None:
    [(_, answer)] = carry_out([{"trace": "/^mkdir", "inject": "/^mkdir:signal=SIGKILL:when=1"}], place)
    assert answer["killed"]
    assert answer["top"] == ["log"] * bool(os.environ.get(SECOND))  # the very first folder was not made


def test_a_sigkill_before_some_system_calls_loses_nothing(place: Path) -> None:
    tally = kill_at(sites(count_calls(place))[::389], place)
    print(tally)
    assert not tally.sentences


@pytest.mark.long
def test_a_sigkill_before_every_change_loses_nothing(place: Path) -> None:
    where = kill_sites(count_calls(place))
    tally = kill_at(where, place)
    print(f"\n{tally}")
    assert not tally.sentences
    assert tally.sites > 0.75 * len(where)


@pytest.mark.long
def test_a_store_that_writes_pages_in_place_fails_the_sigkill_sweep(place: Path) -> None:
    where = sites(count_calls(place, store="in place"))
    writes = [site for site in where if site[0] == "write"]
    tally = kill_at(writes, place, store="in place")
    assert tally.lost > 0


# --- a disk that ends the process -----------------------------------------------------------

Open = Callable[[str, Disk], FileStore]


def open_plain(folder: str, disk: Disk) -> FileStore:
    return FileStore(folder, TINY, disk)


def do_all(memory: Path, told: Path, open_store: Open, disk: Disk) -> None:
    fd = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    work = Work(lambda: open_store(str(memory), disk), tell_to(fd))
    for step in STEPS:
        step(work)
    work.reopen()
    os.close(fd)


def dying_sites(place: Path, open_store: Open = open_plain, *, exchange: bool = True) -> list[Site]:
    """Every call of the undisturbed work."""
    memory, told = place / "whole", place / "told-whole"
    make_folder(memory)
    disk = NamesOfCalls(exchange=exchange)
    do_all(memory, told, open_store, disk)
    shutil.rmtree(memory)
    told.unlink()
    return disk.sites()


def end_at(
    where: Iterable[Site],
    place: Path,
    open_store: Open = open_plain,
    *,
    exchange: bool = True,
    again: int = 0,
    until_lost: bool = False,
) -> Tally:
    """End the work at each site and judge what is left; with `again`, end the recovery too, at every so many calls."""
    tally = Tally()
    memory, told = place / "memory", place / "told"

    def healthy(folder: str) -> FileStore:
        return open_store(folder, CountedDisk(exchange=exchange))

    for number, _, how in where:
        make_folder(memory)
        disk = DyingDisk(number, how, exchange=exchange)
        assert ends(partial(do_all, memory, told, open_store, disk)), f"{number} {how} did not fire"
        text = told.read_text()
        if again:
            for second, verdict in end_recovery(memory, text, again, exchange=exchange, first=number % again):
                tally.count(f"{number} {how}, then {second} before", verdict)
        else:
            tally.count(f"{number} {how}", judge(memory, text, healthy))
        shutil.rmtree(memory)
        told.unlink()
        if until_lost and tally.lost:
            break
    return tally


def end_recovery(
    memory: Path, told: str, step: int, *, exchange: bool, first: int
) -> Iterable[tuple[int, Verdict]]:
    """The process that comes after the killed one is killed too."""
    copy = memory.with_name("copy")
    number = first + 1
    while True:
        shutil.copytree(memory, copy)
        disk = DyingDisk(number, "before", exchange=exchange)

        def open_again(disk: Disk = disk) -> None:
            with open_plain(str(copy), disk) as store:
                store.recover()
                store.rotate(TRACES)  # looks at the ends of both, and mends what is torn
                store.rotate(JOURNAL)

        died = ends(open_again)
        if died:
            yield number, judge(copy, told, lambda folder: open_plain(folder, CountedDisk(exchange=exchange)))
        shutil.rmtree(copy)
        if not died:
            return
        number += step


def test_a_process_that_ends_around_some_calls_loses_nothing(place: Path) -> None:
    tally = end_at(dying_sites(place)[::503], place)
    print(tally)
    assert not tally.sentences


def test_a_process_that_ends_in_the_middle_of_many_a_write_loses_nothing(place: Path) -> None:
    tally = end_at([site for site in dying_sites(place) if site.how == "half"][::11], place)
    print(tally)
    assert not tally.sentences


def test_where_names_cannot_be_exchanged_a_crash_loses_nothing_either(place: Path) -> None:
    tally = end_at(dying_sites(place, exchange=False)[::397], place, exchange=False)
    print(tally)
    assert not tally.sentences


def test_a_crash_of_the_recovery_from_a_crash_loses_nothing(place: Path) -> None:
    tally = end_at(dying_sites(place)[::1601], place, again=167)
    print(tally)
    assert not tally.sentences


@pytest.mark.long
@pytest.mark.parametrize("exchange", [True, False])
def test_a_process_that_ends_around_every_change_loses_nothing(place: Path, exchange: bool) -> None:
    where = states(dying_sites(place, exchange=exchange))
    tally = end_at(where, place, exchange=exchange)
    print(f"\n{tally}")
    assert not tally.sentences
    assert tally.sites == len(where)


@pytest.mark.long
@pytest.mark.parametrize("exchange", [True, False])
def test_a_crash_anywhere_in_the_recovery_from_many_crashes_loses_nothing(
    place: Path, exchange: bool
) -> None:
    where = states(dying_sites(place, exchange=exchange))
    tally = end_at(where[::7], place, exchange=exchange, again=5)
    print(f"\n{tally}")
    assert not tally.sentences


# --- mutants: stores that must fail the same sweep ---------------------------------------------


class TrustingStreams(Streams):
    """Takes an unfinished end for a whole one."""

    def _cut_torn_end(self, active: Any, path: str, size: int, *, trusting: bool) -> int:
        return size


class ForgetfulDocuments(Documents):
    """Never finishes what a crash interrupted."""

    def recover(self) -> None:
        pass


def open_trusting(folder: str, disk: Disk) -> FileStore:
    store = FileStore(folder, TINY, disk)
    store._streams.__class__ = TrustingStreams
    return store


def open_forgetful(folder: str, disk: Disk) -> FileStore:
    store = FileStore(folder, TINY, disk)
    store._documents.__class__ = ForgetfulDocuments
    return store


def open_in_place(folder: str, disk: Disk) -> FileStore:
    store = FileStore(folder, TINY, disk)
    store._documents.__class__ = InPlaceDocuments
    return store


@pytest.mark.parametrize("open_mutant", [open_trusting, open_forgetful, open_in_place])
def test_a_store_without_these_guards_fails_the_sweep(place: Path, open_mutant: Open) -> None:
    where = dying_sites(place, open_mutant)
    halves = [site for site in where if site.how == "half"]
    tally = end_at(halves + where[::7], place, open_mutant, until_lost=True)
    assert tally.lost > 0
    print(tally.sentences[0])


def test_the_judge_sees_a_record_that_is_lost_doubled_changed_or_from_nowhere(place: Path) -> None:
    told, memory = place / "told", place / "memory"
    make_folder(memory)
    do_all(memory, told, open_plain, Disk())
    whole = (memory / placed(ACTIVE)).read_bytes()
    *_, last = whole.splitlines(keepends=True)
    for damaged in (
        whole[: -len(last)],
        whole + last,
        whole.replace(b"the last", b"the lust"),
        whole + encode(trace("from nowhere")),
    ):
        copy = place / "copy"
        shutil.copytree(memory, copy)
        (copy / placed(ACTIVE)).write_bytes(damaged)
        assert judge(copy, told.read_text()).lost
        shutil.rmtree(copy)
    assert judge(memory, told.read_text()).sentences == []
