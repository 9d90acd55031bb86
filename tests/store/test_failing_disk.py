"""A disk that fails makes a call fail, and no more: no false acknowledgement, no harm to the past, the next call works.

A `FaultyDisk` fails every call of every step of the work, in turn, once or from there on; the same work under strace
meets the same errors as real system calls return them; a limit on file size and a small disk are really full.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from faults import CountedDisk, FaultyDisk, InterruptedC
from looseleaf.base.errors import Unwritten
from looseleaf.store.disk import Disk
from looseleaf.store.files import FileStore
from looseleaf.store.streams import Streams, stream_files
from tables import check_rows
from traced import carry_out, count_calls, sites
from workload import STEPS, TINY, TRACES, Step, Work, edit_of, judge, make_folder, placed, trace

ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EINTR)
TOLD_KINDS = ("Refused", "Unwritten", "Unreadable")
Open = Callable[[str, Disk], FileStore]


def open_plain(folder: str, disk: Disk) -> FileStore:
    return FileStore(folder, TINY, disk)


@dataclass
class Sweep:
    """The work, with one fault in every step: at its first call, then at its second, until no step has that many.

    `lasting`: the fault stays until the step was tried twice. `anew`: then a new store goes on, not the same one.
    """

    number: int
    lasting: bool = False
    short: bool = False
    anew: bool = False
    exchange: bool = True
    open_store: Open = open_plain
    stride: int = 1
    last: int = 10**9
    until_wrong: bool = False
    sites: int = 0
    refused: int = 0
    sentences: list[str] = field(default_factory=list)

    def run(self, place: Path) -> Sweep:
        at = 1
        while at <= self.last and self._run_once(place, at) and not (self.until_wrong and self.sentences):
            at += self.stride
        return self

    def _run_once(self, place: Path, at: int) -> bool:
        """Whether the fault hit any step."""
        memory = place / "memory"
        make_folder(memory)
        disk = FaultyDisk(exchange=self.exchange)
        told: list[dict[str, Any]] = []
        work = Work(lambda: self.open_store(str(memory), disk), told.append, patient=True)
        hits = sum(self._do(step, work, disk, told, memory, at) for step in STEPS)
        self.sites += hits
        work.reopen()
        if disk.open_handles:
            self.sentences.append(f"call {at}: {len(disk.open_handles)} files were left open")
        text = "".join(json.dumps(line) + "\n" for line in told)
        verdict = judge(memory, text, refused_is_absent=not self.lasting and not self.short)
        self.sentences += [f"call {at}: {sentence}" for sentence in verdict.sentences]
        shutil.rmtree(memory)
        return hits > 0

    def _do(
        self, step: Step, work: Work, disk: FaultyDisk, told: list[dict[str, Any]], memory: Path, at: int
    ) -> bool:
        disk.arm(self.number, at, lasting=self.lasting, short=self.short)
        for _ in range(2 if self.lasting else 1):
            before = len(told)
            self._step(step, work)
            self._look(told[before:], disk, memory, at)
        fired = bool(disk.fired)
        disk.heal()
        if not fired:
            return False
        if self.anew:
            work.reopen()
            if self.lasting:
                # The disk did not even let the file be left behind, and what a process knew of it dies with it. The
                # next one has a handle of its own, and syncs what it writes itself.
                disk.failed.clear()
        before = len(told)
        self._step(step, work)
        after = told[before:]
        if any("refused" in line for line in after):
            self.sentences.append(f"call {at} ({disk.fired[0]}): the next call did not work: {after}")
        disk.written = set()
        return True

    def _step(self, step: Step, work: Work) -> None:
        try:
            step(work)
        except OSError as error:
            where = "".join(traceback.format_tb(error.__traceback__)[-4:])
            self.sentences.append(f"a bare {type(error).__name__} reached the caller: {error}\n{where}")

    def _look(self, told: list[dict[str, Any]], disk: FaultyDisk, memory: Path, at: int) -> None:
        for line in told:
            if "refused" in line:
                self.refused += 1
                if line["as"] not in TOLD_KINDS or not line["sentence"].endswith((".", ". ")):
                    self.sentences.append(f"call {at} ({disk.fired}): {line}")
        if any("done" in line for line in told):
            doubts = disk.doubts(str(memory), paths_of(told))
            if doubts and not any("views/" in str(line.get("path")) for line in told):
                self.sentences.append(f"call {at} ({disk.fired}): acknowledged {told[0]}, but {doubts}")

    @property
    def name(self) -> str:
        traits = {
            "from there on": self.lasting,
            "short writes": self.short,
            "a new store": self.anew,
            "no exchange": not self.exchange,
        }
        error = errno.errorcode.get(self.number, "no error")
        return ", ".join([error, *(trait for trait, has in traits.items() if has)])

    def __str__(self) -> str:
        return f"{self.name}: sites={self.sites} refused={self.refused} wrong={len(self.sentences)}"


def paths_of(told: list[dict[str, Any]]) -> list[str]:
    """The files on whose names an acknowledgement rests."""
    found: list[str] = []
    for line in told:
        if "stream" in line:
            found.append(stream_files(line["stream"])[0])
        if "page" in line:
            found.append(line["page"]["path"])
        if "path" in line:
            found.append(line["path"])
        if "folder" in line:
            found += [f"{line['folder']}/{name}" for name in line["files"]]
        found += [f"log/bodies/{digest}" for digest in line.get("bodies", ())]
    return [placed(path) for path in found]


def test_a_disk_that_works_leaves_no_doubt(place: Path) -> None:
    sweep = Sweep(errno.EIO)
    assert not sweep._run_once(place, 10**9)
    assert sweep.sentences == []


def test_an_error_of_the_disk_fails_one_call_and_harms_nothing(place: Path) -> None:
    def check(sweep: Sweep) -> None:
        folder = Path(mkdtemp(dir=place))
        sweep.run(folder)
        print(sweep)
        assert sweep.sentences == []
        assert sweep.sites > 0
        assert sweep.refused > 0 or (sweep.short and sweep.number == 0)

    check_rows(
        check,
        [
            Sweep(errno.ENOSPC, last=24, stride=3),  # the store is made
            Sweep(errno.ENOSPC, stride=101),
            Sweep(errno.EIO, anew=True, stride=137),
            Sweep(errno.EDQUOT, lasting=True, stride=241),
            Sweep(errno.EINTR, stride=103),
            Sweep(errno.EIO, lasting=True, anew=True, stride=283),
            Sweep(errno.EIO, exchange=False, stride=157),
            Sweep(0, short=True),
            Sweep(errno.ENOSPC, short=True),
            Sweep(errno.ENOSPC, short=True, anew=True),
        ],
    )


@pytest.mark.long
@pytest.mark.parametrize("number", ERRORS)
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("exchange", [True, False])
def test_an_error_at_every_call_harms_nothing(
    place: Path, number: int, lasting: bool, anew: bool, exchange: bool
) -> None:
    sweep = Sweep(number, lasting=lasting, anew=anew, exchange=exchange).run(place)
    print(f"\n{sweep}")
    assert sweep.sentences == []


# --- mutants -----------------------------------------------------------------------------


class DeafStreams(Streams):
    """Does not hear that a sync failed."""

    def _sync(self, active: Any) -> None:
        try:
            self._disk.sync_data(active.fd)
        except OSError:
            pass


class StubbornStreams(Streams):
    """Syncs again when a sync failed, and believes the second answer."""

    def _sync(self, active: Any) -> None:
        try:
            self._disk.sync_data(active.fd)
        except OSError:
            self._disk.sync_data(active.fd)


class CarelessStreams(Streams):
    """Leaves what a failed write left."""

    def _undo_write(self, active: Any, size: int) -> None:
        pass


def mutant(kind: type[Streams]) -> Open:
    def open_store(folder: str, disk: Disk) -> FileStore:
        store = FileStore(folder, TINY, disk)
        store._streams.__class__ = kind
        return store

    return open_store


@pytest.mark.parametrize("kind", [DeafStreams, StubbornStreams, CarelessStreams])
def test_a_store_that_is_careless_with_errors_fails_the_sweep(place: Path, kind: type[Streams]) -> None:
    sweep = Sweep(errno.EIO, open_store=mutant(kind), until_wrong=True).run(place)
    assert sweep.sentences
    print(sweep.sentences[0])


# --- a failed sync -------------------------------------------------------------------------


class UnsureDisk(CountedDisk):
    """Fails one sync of a log, when told to."""

    def __init__(self) -> None:
        self.unsure = False
        super().__init__()

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if name == "sync_data" and self.unsure:
            self.unsure = False
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(*args)


def test_after_a_failed_sync_the_next_record_goes_into_another_file(place: Path) -> None:
    disk = UnsureDisk()
    active = place / stream_files(TRACES)[0]
    first, second, third = trace("kept"), trace("refused"), trace("kept too")
    with open_plain(str(place), disk) as store:
        store.append(TRACES, [first])
        inode = active.stat().st_ino
        disk.unsure = True
        with pytest.raises(Unwritten, match="not written"):
            store.append(TRACES, [second])
        assert not disk.unsure
        store.append(TRACES, [third])
        assert active.stat().st_ino != inode
        assert (active.parent / "archive/000001.jsonl").stat().st_ino == inode
        assert [line.record for line in store.read(TRACES)] == [first, third]
        assert not [problem for problem in store.check() if problem.severity == "error"]


def test_a_torn_end_whose_cut_cannot_be_synced_is_left_behind_too(place: Path) -> None:
    disk = UnsureDisk()
    active = place / stream_files(TRACES)[0]
    first, second = trace("kept"), trace("kept too")
    with open_plain(str(place), disk) as store:
        store.append(TRACES, [first])
        with active.open("ab") as file:
            file.write(b' {"torn')
        inode = active.stat().st_ino
        disk.unsure = True
        store.append(TRACES, [second])
        assert not disk.unsure
        assert active.stat().st_ino != inode
        assert [line.record for line in store.read(TRACES)] == [first, second]


# --- interrupted calls ---------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="these calls are Linux's")
def test_calls_that_python_does_not_repeat_are_repeated_when_a_signal_interrupts_them(place: Path) -> None:
    """Python repeats its own calls after EINTR (PEP 475); those through ctypes are ours to repeat."""
    disk = Disk()
    with open_plain(str(place), disk) as store:
        page = b"# Tea\n"
        store.put("facts/tea.md", page, base=None, record=edit_of("facts/tea.md", None, page))
        libc = InterruptedC(disk._load_libc(), 40)
        disk._libc = libc
        found = store.get("facts/tea.md")
        assert found is not None
        text = b"# Tea\n\n- Sugar: none\n"
        store.put("facts/tea.md", text, base=found.sha256, record=edit_of("facts/tea.md", page, text))
        assert libc.fired == 40
        now = store.get("facts/tea.md")
        assert now is not None
        assert now.data == text


# --- real system calls -----------------------------------------------------------------------


def inject(where: list[tuple[str, int]], place: Path) -> int:
    """At each of these calls one error of the four, once, and another from there on. How many did fire.

    Every error at every call is the other sweep's; this one shows that real calls fail as that one says they do.
    """
    orders = []
    for index, (name, number) in enumerate(where):
        once, lasting = ERRORS[index % 4], ERRORS[(index + 1) % 4]
        # Python repeats a call that was interrupted, so one that is always interrupted never ends.
        onwards = f"{number}..{number + 9}" if lasting == errno.EINTR else f"{number}+"
        orders += [
            {"trace": name, "inject": f"{name}:error={errno.errorcode[error]}:when={when}", "patient": True}
            for error, when in ((once, str(number)), (lasting, onwards))
        ]
    fired = 0
    missed: list[str] = []
    for order, answer in carry_out(orders, place):
        missed += [] if answer["fired"] else [order["inject"]]
        assert answer["code"] == 0, f"{order['inject']}: {answer['broken']}"
        assert not answer["lost"] + answer["shut"], f"{order['inject']}: {answer['lost'] + answer['shut']}"
        fired += answer["fired"]
    print(f"\nsites={len(orders)} fired={fired} missed={len(missed)}")
    # A run closes some files more or fewer than the one that was counted: the last of them may not come.
    assert len(missed) <= len(orders) // 20, missed
    return fired


def failing_sites(place: Path) -> list[tuple[str, int]]:
    return [site for site in sites(count_calls(place, patient=True)) if site[0] != "writev"]


def test_errors_of_some_real_system_calls_harm_nothing(place: Path) -> None:
    assert inject(failing_sites(place)[::397], place) > 0


@pytest.mark.long
def test_errors_of_every_real_system_call_harm_nothing(place: Path) -> None:
    assert inject(failing_sites(place), place) > 0


# --- a disk that is really full --------------------------------------------------------------


def work_without_room(memory: Path, make_room: Callable[[], None]) -> int:
    """Do the work twice: while there is too little room, and when there is enough. How many calls were refused."""
    told: list[dict[str, Any]] = []
    work = Work(lambda: FileStore(memory, TINY), told.append, patient=True)
    for step in STEPS:
        step(work)
    refused = [line for line in told if "refused" in line]
    assert {line["as"] for line in refused} <= {"Unwritten"}
    make_room()
    before = len(told)
    for step in STEPS:
        step(work)
    assert not [line for line in told[before:] if "refused" in line]
    work.reopen()
    verdict = judge(memory, "".join(json.dumps(line) + "\n" for line in told), refused_is_absent=True)
    assert verdict.sentences == []
    return len(refused)


@contextmanager
def limit_of_file_size(size: int) -> Iterator[Callable[[], None]]:
    """No file may grow beyond `size`: the kernel writes what fits, then says EFBIG. Python ignores SIGXFSZ."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_files_that_may_not_grow_harm_nothing(place: Path) -> None:
    def check(size: int) -> None:
        folder = Path(mkdtemp(dir=place), "memory")
        make_folder(folder)
        with limit_of_file_size(size) as lift:
            assert work_without_room(folder, lift) > 0

    check_rows(check, [0, 1, 100, 250, 700, 1300, 4000])


def test_a_full_disk_harms_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    if shutil.which("mount") is None:
        pytest.skip("there is no mount here")
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here (root only): {mounted.stderr.strip()}")
    try:
        refused = 0
        for pages in range(0, 40, 3):
            refused += fill_and_work(disk, pages * 4096)
        assert refused > 0
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def fill_and_work(disk: Path, room: int) -> int:
    memory, filler = disk / "memory", disk / "filler"
    make_folder(memory)
    free = os.statvfs(disk)
    filler.write_bytes(b"x" * (free.f_bavail * free.f_frsize - room))
    try:
        return work_without_room(memory, filler.unlink)
    finally:
        filler.unlink(missing_ok=True)
        shutil.rmtree(memory)


class NoShares(FaultyDisk):
    """A disk on which no file can be locked together with others."""

    def try_share(self, fd: int) -> bool:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


def test_a_view_that_cannot_be_locked_is_refused_in_a_sentence_and_leaves_no_file_open(
    tmp_path: Path,
) -> None:
    disk = NoShares()
    with FileStore.make(tmp_path / "store", disk=disk) as store:
        store.append("journal", [{"id": "1"}])
        before = set(disk.open_handles)
        with pytest.raises(Unwritten, match=r"views/a\.json was not written \(No locks available\)"):
            store.view("views/a.json", b"{}")
        assert disk.open_handles == before
