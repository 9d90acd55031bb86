"""What recovery does with each state that a crash, a failing disk and a person can leave between them (FORMAT §6.5)."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faults import CountedDisk
from looseleaf.base.errors import Refused, Unwritten
from looseleaf.store.disk import Disk
from looseleaf.store.files import FileStore
from workload import JOURNAL, TINY, digest, edit_of, entry

PAGE = "facts/tea.md"
OLD, NEW, THEIRS = b"# Tea\n", b"# Tea\n\n- Sugar: none\n", b"# Tea\n\n- Sugar: as you like\n"


def with_page(folder: Path) -> None:
    with FileStore(folder, TINY) as store:
        store.put(PAGE, OLD, base=None, record=edit_of(PAGE, None, OLD))


def interrupt(folder: Path, old: bytes | None, new: bytes | None, staged: bytes) -> str:
    """Journal an edit and leave its staged file, as a process does that is killed; the edit's id."""
    record = edit_of(PAGE, old, new)
    with FileStore(folder, TINY) as store:
        store.append(JOURNAL, [record])
    (folder / "log/staged").mkdir(exist_ok=True)
    (folder / f"log/staged/{record['id']}.edit").write_bytes(staged)
    return str(record["id"])


def recover(folder: Path, disk: Disk | None = None) -> list[dict[str, Any]]:
    """Open and recover; the `void` records that are then in the journal."""
    with FileStore(folder, TINY, disk) as store:
        store.recover()
        assert os.listdir(folder / "log/staged") == []
        return [line.record for line in store.read(JOURNAL) if line.record["kind"] == "void"]


def kept(folder: Path) -> list[bytes]:
    """What lies aside for people, without what only waits for late saves."""
    return [path.read_bytes() for path in (folder / "log/aside").iterdir() if path.is_file()]


def test_an_edit_that_was_made_stays_made_when_somebody_saved_after_it(tmp_path: Path) -> None:
    with_page(tmp_path)
    interrupt(tmp_path, OLD, NEW, staged=OLD)  # exchanged, but not yet retired
    (tmp_path / PAGE).write_bytes(THEIRS)
    assert recover(tmp_path) == []
    assert (tmp_path / PAGE).read_bytes() == THEIRS


def test_an_edit_that_was_not_made_is_void_when_somebody_saved_first(tmp_path: Path) -> None:
    with_page(tmp_path)
    edit = interrupt(tmp_path, OLD, NEW, staged=NEW)
    (tmp_path / PAGE).write_bytes(THEIRS)
    assert [void["edit"] for void in recover(tmp_path)] == [edit]
    assert (tmp_path / PAGE).read_bytes() == THEIRS


def test_a_displaced_save_is_kept_though_the_crash_came_right_after_the_void(tmp_path: Path) -> None:
    with_page(tmp_path)
    edit = interrupt(tmp_path, OLD, NEW, staged=THEIRS)
    void = edit_of(PAGE, None, None) | {"kind": "void", "edit": edit}
    with FileStore(tmp_path, TINY) as store:
        store.append(JOURNAL, [void])
    assert recover(tmp_path) == [void]
    assert kept(tmp_path) == [THEIRS]


def test_a_page_whose_folder_was_removed_meanwhile_is_made_all_the_same(tmp_path: Path) -> None:
    interrupt(tmp_path, None, NEW, staged=NEW)
    assert recover(tmp_path) == []
    assert (tmp_path / PAGE).read_bytes() == NEW


def test_a_folder_that_was_removed_with_its_page_does_not_stop_recovery(tmp_path: Path) -> None:
    with_page(tmp_path)
    edit = interrupt(tmp_path, OLD, NEW, staged=NEW)
    shutil.rmtree(tmp_path / "facts")
    assert [void["edit"] for void in recover(tmp_path)] == [edit]
    assert not (tmp_path / PAGE).exists()


class Meddling(CountedDisk):
    """Somebody acts, or the disk fails, right before the first call of one name, after so many `before` it."""

    def __init__(self, name: str, act: Callable[[], object], before: int = 0) -> None:
        self._name, self._act, self._before, self.fired = name, act, before, False
        super().__init__()

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        self._before -= name == self._name
        if name == self._name and self._before < 0 and not self.fired:
            self.fired = True
            self._act()
        return real(*args)


def fail() -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_save_in_the_moment_of_recovery_stands(tmp_path: Path) -> None:
    with_page(tmp_path)
    edit = interrupt(tmp_path, OLD, NEW, staged=NEW)
    disk = Meddling("exchange", lambda: (tmp_path / PAGE).write_bytes(THEIRS))
    assert [void["edit"] for void in recover(tmp_path, disk)] == [edit]
    assert disk.fired
    assert (tmp_path / PAGE).read_bytes() == THEIRS


def test_a_record_with_a_strange_time_does_not_stop_recovery(tmp_path: Path) -> None:
    with_page(tmp_path)
    interrupt(tmp_path, OLD, NEW, staged=NEW)
    with (tmp_path / "log/journal.jsonl").open("ab") as file:
        file.write(b'{"schema":"journal.v1","id":"by hand","ts":"yesterday","kind":"note"}\n')
    assert recover(tmp_path) == []
    assert (tmp_path / PAGE).read_bytes() == NEW


def test_a_change_is_acknowledged_though_the_old_file_cannot_be_moved_away(tmp_path: Path) -> None:
    with_page(tmp_path)
    disk = Meddling("rename", fail, before=1)  # the first puts the copy in place
    with FileStore(tmp_path, TINY, disk) as store:
        store.put(PAGE, NEW, base=digest(OLD), record=edit_of(PAGE, OLD, NEW))
        assert disk.fired
        assert len(os.listdir(tmp_path / "log/staged")) == 1
    (tmp_path / PAGE).write_bytes(THEIRS)
    assert recover(tmp_path) == []
    assert (tmp_path / PAGE).read_bytes() == THEIRS


def test_a_change_that_the_disk_breaks_off_says_so_and_is_completed_by_the_next_command(
    tmp_path: Path,
) -> None:
    with_page(tmp_path)
    disk = Meddling("exchange", lambda: None)
    with FileStore(tmp_path, TINY, disk) as store:
        store._root.sync = lambda *_: fail() if disk.fired else None  # type: ignore[method-assign]
        with pytest.raises(Unwritten, match=r"may or may not have changed.*Read the page again"):
            store.put(PAGE, NEW, base=digest(OLD), record=edit_of(PAGE, OLD, NEW))
    assert recover(tmp_path) == []
    assert (tmp_path / PAGE).read_bytes() == NEW


def test_an_entry_whose_folder_cannot_be_synced_is_not_there_and_may_be_published_again(
    tmp_path: Path,
) -> None:
    folder, files = "log/entries/tea/one", entry("They talked about tea.")

    class Unsure(CountedDisk):
        renamed = fired = False

        def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
            if name == "sync" and self.renamed and not self.fired:
                self.fired = True
                fail()
            self.renamed = self.renamed or name == "rename_new"
            return real(*args)

    disk = Unsure()
    with FileStore(tmp_path, TINY, disk) as store:
        with pytest.raises(Unwritten):
            store.publish(folder, files)
        assert disk.fired
        assert store.list(folder) == []
        assert os.listdir(tmp_path / "log/staged") == []
        store.publish(folder, files)
        assert {stat.path for stat in store.list(folder)} == {f"{folder}/{name}" for name in files}


class LinkingDisk(Disk):
    """Somebody puts a link to a file outside in the page's place, just before the exchange."""

    def __init__(self, page: Path, outside: Path) -> None:
        super().__init__()
        self.page, self.outside, self.fired = page, outside, 0

    def exchange(self, source: int, old: str, target: int, new: str) -> None:
        if not self.fired:
            self.page.unlink()
            self.page.symlink_to(self.outside)
        self.fired += 1
        super().exchange(source, old, target, new)


def test_a_link_swapped_in_at_the_exchange_is_put_back_and_blocks_nothing(tmp_path: Path) -> None:
    folder, outside = tmp_path / "memory", tmp_path / "outside.md"
    folder.mkdir()
    outside.write_bytes(b"secret\n")
    with_page(folder)
    disk = LinkingDisk(folder / PAGE, outside)
    with FileStore(folder, TINY, disk) as store:
        with pytest.raises(Refused, match="symbolic link"):
            store.put(PAGE, NEW, base=digest(OLD), record=edit_of(PAGE, OLD, NEW))
        assert disk.fired == 2
        store.put("facts/other.md", NEW, base=None, record=edit_of("facts/other.md", None, NEW))
    assert (folder / PAGE).is_symlink()
    assert outside.read_bytes() == b"secret\n"
    assert len(recover(folder)) == 1
    assert b"secret\n" not in kept(folder)


def test_a_link_found_staged_after_a_crash_is_put_back_too(tmp_path: Path) -> None:
    with_page(tmp_path)
    edit = interrupt(tmp_path, OLD, NEW, staged=b"")
    staged = tmp_path / f"log/staged/{edit}.edit"
    staged.unlink()
    staged.symlink_to(tmp_path / "anything")
    (tmp_path / PAGE).write_bytes(NEW)
    assert [record["edit"] for record in recover(tmp_path)] == [edit]
    assert (tmp_path / PAGE).is_symlink()
