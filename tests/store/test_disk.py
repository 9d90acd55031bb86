"""The calls to the operating system: a walk that opens what the kernel would, and what stands in for missing calls."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import threading
import time
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import pytest

from forking import start_child
from looseleaf.base.errors import Refused
from looseleaf.store.disk import PRIVATE_FILE, Disk, refuse_upward
from looseleaf.store.files import FileStore
from tables import check_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOREPLACE, EXCHANGE = 1, 2


class Kernel(Disk):
    """Opens by the call that Linux has for it, which knows no link: what a walk is held against."""

    def open(self, root: int, path: str, flags: int, mode: int = PRIVATE_FILE) -> int:
        refuse_upward(path)
        if "\0" in path:
            raise ValueError("embedded null byte")
        flags |= os.O_CLOEXEC | os.O_NONBLOCK
        no_magic_links, no_links, beneath, openat2 = 0x02, 0x04, 0x08, 437
        how = (ctypes.c_uint64 * 3)(
            flags, mode if flags & os.O_CREAT else 0, no_magic_links | no_links | beneath
        )
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall.restype = ctypes.c_long
        while True:
            fd = libc.syscall(
                ctypes.c_long(openat2), root, os.fsencode(path), ctypes.byref(how), ctypes.c_size_t(24)
            )
            number = ctypes.get_errno()
            if fd >= 0:
                return int(fd)
            if number in (errno.ENOSYS, errno.EPERM):
                pytest.skip("this system has no openat2")
            if number != errno.EINTR:
                raise OSError(number, os.strerror(number), path)


class Plain(Disk):
    """A file system that can rename, and nothing more about names."""

    def __init__(self) -> None:
        super().__init__()
        self._lacking = {NOREPLACE, EXCHANGE}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    folder = tmp_path / "memory"
    folder.mkdir()
    fd = os.open(folder, os.O_RDONLY)
    yield fd
    os.close(fd)


@pytest.fixture
def memory(root: int, tmp_path: Path) -> Path:
    """A folder with every kind of trap in it, and an outside that they lead to."""
    folder = tmp_path / "memory"
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (folder / "a/b").mkdir(parents=True)
    (folder / "file").write_text("top")
    (folder / "a/b/file").write_text("deep")
    (folder / "link").symlink_to("file")
    (folder / "a/link").symlink_to("b/file")
    (folder / "out").symlink_to(outside)
    (folder / "a/out").symlink_to(outside)
    (folder / "a/up").symlink_to("..")
    (folder / "a/self").symlink_to("self")
    (folder / "a/nowhere").symlink_to("not there")
    (folder / "a/root").symlink_to(f"/proc/self/fd/{root}")
    os.mkfifo(folder / "a/fifo")
    return folder


def outcome(disk: Disk, root: int, path: str, flags: int) -> str:
    """What comes of opening: the number of the file, or the name of the error."""
    try:
        fd = disk.open(root, path, flags)
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    except ValueError as error:
        return str(error)
    found = os.fstat(fd)
    os.close(fd)
    return f"inode {found.st_ino} of type {found.st_mode >> 12:o}"


TRAPS = {
    "link": "ELOOP",
    "a/link": "ELOOP",
    "out": "ELOOP",
    "out/secret": "ELOOP",
    "a/out": "ELOOP",
    "a/out/secret": "ELOOP",
    "a/up/file": "ELOOP",
    "a/self": "ELOOP",
    "a/self/file": "ELOOP",
    "a/nowhere": "ELOOP",
    "a/root/file": "ELOOP",
    "file/file": "ENOTDIR",
    "a/b/file/x": "ENOTDIR",
    "a/fifo/x": "ENOTDIR",
    "none/file": "ENOENT",
    "a/none/file": "ENOENT",
    "a/b\0/file": "embedded null byte",
    "fi\0le": "embedded null byte",
}


def test_the_kernel_and_the_walk_open_the_same_and_follow_nothing(root: int, memory: Path) -> None:
    def check(path: str, flags: int) -> None:
        by_kernel = outcome(Kernel(), root, path, flags)
        if flags & os.O_CREAT and path.endswith("new"):
            (memory / path).unlink()
            by_walk = outcome(Disk(), root, path, flags)
            assert by_kernel[:6] == by_walk[:6] == "inode "
            assert (memory / path).stat().st_mode & 0o777 == 0o600
            (memory / path).unlink()
        else:
            assert outcome(Disk(), root, path, flags) == by_kernel
        if path in TRAPS:
            wanted = {TRAPS[path]}
            if flags & os.O_EXCL and path in ("link", "out", "a/link", "a/out", "a/self", "a/nowhere"):
                wanted = {"EEXIST"}  # which is as good
            assert by_kernel in wanted
        assert os.listdir(memory.parent / "outside") == ["secret"]

    check_rows(
        check,
        product(
            [*TRAPS, "file", "a/b/file", "a/b", "a", "a/fifo", "a/new", "new", "a/b/new"],
            [
                os.O_RDONLY,
                os.O_RDONLY | os.O_DIRECTORY,
                os.O_RDWR | os.O_CREAT,
                os.O_WRONLY | os.O_CREAT | os.O_EXCL,
            ],
        ),
    )


def test_a_folder_that_is_swapped_for_a_link_all_the_time_never_leads_outside(
    root: int, memory: Path
) -> None:
    disk = Disk()
    secret = (memory.parent / "outside/secret").stat().st_ino
    (memory / "a/b/secret").write_text("mine")
    mine = (memory / "a/b/secret").stat().st_ino
    (memory / "a/trap").symlink_to(memory.parent / "outside")
    stop = threading.Event()

    def swap() -> None:
        swapper = Disk()
        fd = os.open(memory / "a", os.O_RDONLY)
        while not stop.is_set():
            swapper.exchange(fd, "trap", fd, "b")
        os.close(fd)

    thread = threading.Thread(target=swap)
    thread.start()
    seen: Counter[str | int] = Counter()
    try:
        give_up = time.monotonic() + 120
        while seen.total() < 20_000 or min(seen[mine], seen["ELOOP"]) < 500:
            assert time.monotonic() < give_up, f"the race was never on: {seen}"
            try:
                fd = disk.open(root, "a/b/secret", os.O_RDONLY)
            except OSError as error:
                seen[errno.errorcode[error.errno or 0]] += 1
            else:
                seen[os.fstat(fd).st_ino] += 1
                os.close(fd)
    finally:
        stop.set()
        thread.join()
    assert seen[secret] == 0
    assert set(seen) <= {mine, "ELOOP", "ENOTDIR"}


def test_a_file_that_somebody_has_a_lease_on_is_an_error_and_no_endless_wait(root: int, memory: Path) -> None:
    holder = os.open(memory / "a/b/file", os.O_RDONLY)
    try:
        fcntl.fcntl(holder, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError:
        pytest.skip("this file system has no leases")
    # The kernel tells the holder of a lease by SIGIO, which would end this process.
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    try:
        # Had it waited, it would have been let in: the kernel ends a lease that is in somebody's way.
        assert outcome(Disk(), root, "a/b/file", os.O_WRONLY) == "EAGAIN"
    finally:
        fcntl.fcntl(holder, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        os.close(holder)
        signal.signal(signal.SIGIO, before)
    assert outcome(Disk(), root, "a/b/file", os.O_WRONLY).startswith("inode")


# --- names -----------------------------------------------------------------------------


@pytest.mark.parametrize("disk", [Disk(), Plain()])
def test_a_rename_to_a_name_that_is_taken_is_refused_and_changes_nothing(
    root: int, memory: Path, disk: Disk
) -> None:
    with pytest.raises(FileExistsError):
        disk.rename_new(root, "file", root, "a")
    (memory / "other").write_text("other")
    with pytest.raises(FileExistsError):
        disk.rename_new(root, "file", root, "other")
    with pytest.raises(FileExistsError):
        disk.rename_new(root, "file", root, "link")
    assert (memory / "file").read_text() == "top"
    assert (memory / "other").read_text() == "other"
    disk.rename_new(root, "file", root, "moved")
    disk.rename_new(root, "a", root, "z")
    assert (memory / "moved").read_text() == "top"
    assert (memory / "z/b/file").read_text() == "deep"
    with pytest.raises(FileNotFoundError):
        disk.rename_new(root, "file", root, "anything")


class Linkless(Plain):
    """A file system on which a file has one name: FAT, and some shares."""


@pytest.mark.parametrize("disk", [Disk(), Plain(), Linkless()])
def test_an_exchange_swaps_two_files(
    root: int, memory: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(disk, Linkless):

        def refuse(*_: object, **__: object) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", refuse)
    (memory / "other").write_bytes(b"other" * 500_000)
    disk.exchange(root, "file", root, "other")
    assert (memory / "other").read_text() == "top"
    assert (memory / "file").read_bytes() == b"other" * 500_000
    assert not (memory / "file.was").exists()
    assert (memory / "file").stat().st_nlink == (memory / "other").stat().st_nlink == 1
    with pytest.raises(FileNotFoundError):
        disk.exchange(root, "file", root, "not there")
    assert sorted(os.listdir(memory)) == ["a", "file", "link", "other", "out"]


def test_what_one_rename_lacks_the_other_may_have(root: int, memory: Path) -> None:
    """exFAT and CIFS can refuse to replace, and cannot exchange."""
    disk = Disk()
    disk._lacking.add(EXCHANGE)
    (memory / "other").write_text("other")
    disk.exchange(root, "file", root, "other")
    assert (memory / "file").read_text() == "other"
    with pytest.raises(FileExistsError):
        disk.rename_new(root, "file", root, "other")
    assert disk._lacking == {EXCHANGE}


@pytest.mark.parametrize("path", ["a\0b", "\0"])
def test_a_name_with_a_nul_is_refused_and_not_cut_short(root: int, memory: Path, path: str) -> None:
    disk = Disk()
    for act in (disk.rename_new, disk.exchange, disk.rename):
        with pytest.raises(ValueError, match="null"):
            act(root, "file", root, path)
        with pytest.raises(ValueError, match="null"):
            act(root, path, root, "file")


# --- what is durable -------------------------------------------------------------------


class Watched(Disk):
    """Notes which folders and files were synced."""

    def __init__(self) -> None:
        super().__init__()
        self.synced: list[str] = []

    def sync(self, fd: int) -> None:
        self.synced.append(os.readlink(f"/proc/self/fd/{fd}"))
        super().sync(fd)


def test_a_new_memory_is_synced_into_the_folders_above_it(tmp_path: Path) -> None:
    disk = Watched()
    FileStore.make(tmp_path / "x/y/.looseleaf", disk=disk).close()
    assert disk.synced == [str(tmp_path), str(tmp_path / "x"), str(tmp_path / "x/y")]
    assert (tmp_path / "x/y/.looseleaf").stat().st_mode & 0o777 == 0o700
    disk.synced.clear()
    FileStore.make(f"{tmp_path}/x/y/.looseleaf/", disk=disk).close()
    assert disk.synced == []


def test_a_memory_is_not_made_where_a_file_stands(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "file/memory"):
        with pytest.raises(Refused, match="was not written"):
            FileStore.make(path)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_that_cannot_be_synced_at_all_is_no_error_and_a_file_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    (tmp_path / "file").write_text("")
    folder, file = os.open(tmp_path, os.O_RDONLY), os.open(tmp_path / "file", os.O_RDONLY)
    monkeypatch.setattr(os, "fsync", refuse)
    Disk().sync(folder)
    with pytest.raises(OSError, match="Invalid argument"):
        Disk().sync(file)
    os.close(folder)
    os.close(file)


def test_a_process_is_alive_until_it_is_gone() -> None:
    disk = Disk()
    assert disk.is_alive(os.getpid())
    assert disk.is_alive(1)
    child = start_child(int)
    assert child.wait() == 0
    assert not disk.is_alive(child.pid)
    assert not disk.is_alive(10**30)
