"""What has been synced when a call is acknowledged: every file with its bytes, every folder with its names.

Stricter than a power cut on ext4 or XFS, whose logs carry more to disk than POSIX promises: here a name is safe only
when the folder that holds it was synced after it appeared, and bytes only when their file was.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from looseleaf.store.disk import Disk
from looseleaf.store.files import FileStore
from workload import STEPS, TINY, Work

if TYPE_CHECKING:
    from pathlib import Path

HARMLESS = {
    "log/staged": "names that are gone and come back after a power cut are finished or removed by recovery",
    "log/aside/late": "displaced bytes that are watched for a while; the journal knows them",
    "views": "disposable",
}


class Books(Disk):
    """A disk that keeps the books: which folders have names, and which files bytes, that were not synced yet."""

    def __init__(self) -> None:
        super().__init__()
        self.unsynced_names: dict[tuple[int, int], str] = {}
        self.unsynced_bytes: dict[tuple[int, int], str] = {}
        self.syncs = 0

    def _note(self, books: dict[tuple[int, int], str], fd: int) -> None:
        found = os.fstat(fd)
        books[found.st_dev, found.st_ino] = os.readlink(f"/proc/self/fd/{fd}")

    def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
        folder, _, name = path.rpartition("/")
        if flags & os.O_CREAT:
            above = self.open_dir(root, folder)
            if name not in os.listdir(above):
                self._note(self.unsynced_names, above)
            os.close(above)
        return super().open(root, path, flags, mode)

    def mkdir(self, folder: int, name: str) -> None:
        super().mkdir(folder, name)
        if name != "views":  # it may be lost
            self._note(self.unsynced_names, folder)

    def unlink(self, folder: int, name: str) -> None:
        super().unlink(folder, name)
        self._note(self.unsynced_names, folder)

    def rename(self, source: int, old: str, target: int, new: str) -> None:
        super().rename(source, old, target, new)
        self._note(self.unsynced_names, source)
        self._note(self.unsynced_names, target)

    def rename_new(self, source: int, old: str, target: int, new: str) -> None:
        super().rename_new(source, old, target, new)
        self._note(self.unsynced_names, source)
        self._note(self.unsynced_names, target)

    def exchange(self, source: int, old: str, target: int, new: str) -> None:
        super().exchange(source, old, target, new)
        self._note(self.unsynced_names, source)
        self._note(self.unsynced_names, target)

    def write(self, fd: int, data: bytes | memoryview) -> int:  # type: ignore[override]
        self._note(self.unsynced_bytes, fd)
        return os.write(fd, data)

    def truncate(self, fd: int, length: int) -> None:
        self._note(self.unsynced_bytes, fd)
        os.ftruncate(fd, length)

    def sync_data(self, fd: int) -> None:
        super().sync_data(fd)
        self._clear(fd)

    def sync(self, fd: int) -> None:
        super().sync(fd)
        self._clear(fd)

    def _clear(self, fd: int) -> None:
        found = os.fstat(fd)
        books = self.unsynced_names if stat.S_ISDIR(found.st_mode) else self.unsynced_bytes
        books.pop((found.st_dev, found.st_ino), None)
        self.syncs += 1


class Careless(Books):
    """Syncs files and forgets their folders."""

    def sync(self, fd: int) -> None:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            super().sync(fd)


def is_harmless(path: str) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in HARMLESS)


def unsynced(memory: Path, disk: Books) -> list[str]:
    """Do every kind of work; what was not on disk at the moment in which a call was acknowledged."""
    found: list[str] = []
    asked: dict[str, Any] = {}

    def relative(path: str) -> str:
        return os.path.relpath(path, memory)

    def tell(line: dict[str, Any]) -> None:
        if "call" in line:
            asked.clear()
            asked.update(line)
        if "done" not in line or str(asked.get("path", "")).startswith("views/"):
            return
        names = map(relative, disk.unsynced_names.values())
        found.extend(f"{asked['do']}: the names in {path}" for path in names if not is_harmless(path))
        written = map(relative, disk.unsynced_bytes.values())
        found.extend(f"{asked['do']}: the bytes of {path}" for path in written if not is_harmless(path))

    work = Work(lambda: FileStore.make(memory, TINY, disk), tell)
    for step in STEPS:
        step(work)
    work.reopen()
    assert work.acknowledged > 20
    return found


def test_names_and_bytes_are_synced_before_a_call_is_acknowledged(tmp_path: Path) -> None:
    disk = Books()
    assert unsynced(tmp_path / "memory", disk) == []
    assert disk.syncs > 50


def test_a_disk_that_forgets_folders_is_found_out(tmp_path: Path) -> None:
    found = unsynced(tmp_path / "memory", Careless())
    assert {
        "append: the names in log/traces/main",
        "page: the names in facts",
        "publish: the names in log/entries/tea",
    } <= set(found)
