"""Absorb: what people change outside is journaled once, and never before they have finished."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Memory
from looseleaf.base.policy import Policy
from looseleaf.base.values import Document, Stat, sha256
from looseleaf.pages import outside_edits as absorb
from looseleaf.store import records
from looseleaf.store.disk import Disk
from looseleaf.store.files import FileStore
from tables import check_rows
from wiring import use_store

PATIENT = Policy(settle_seconds=60.0)
"""For editors that are done long before: what they do hangs on how often the page was looked at, not on time."""

BRIEF = Policy(settle_seconds=0.4)
"""For pages that do not change: these are waited for to the end."""

HASTY = Policy(settle_seconds=0.01, quiet_seconds=0.001)
PAGE = "facts/work.md"
TEXT = b"- Likes: tea\n"


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with memory_of(place, PATIENT) as memory:
        yield memory


@contextmanager
def memory_of(place: Path, policy: Policy) -> Iterator[Memory]:
    with Memory(place / "memory", policy=policy) as memory:
        memory.pages.edit(PAGE, TEXT.decode(), reason="a page")
        yield memory


def file_of(memory: Memory, path: str = PAGE) -> Path:
    return Path(memory.path) / path


@contextmanager
def before_each_look(memory: Memory, act: Callable[[int], object]) -> Iterator[list[int]]:
    """Run `act` right before each read of a page, with the number of the read; yield the numbers so far.

    The first look is whether there is anything to absorb, the second whether it may be believed: who has a third
    has doubts.
    """
    looks: list[int] = []
    look = memory.parts.pages.absorb._read_file

    def act_and_look(path: str) -> tuple[Document | None, Stat | None]:
        looks.append(len(looks) + 1)
        act(looks[-1])
        return look(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory.parts.pages.absorb, "_read_file", act_and_look)
        yield looks


def at_third_look(memory: Memory, act: Callable[[], object]) -> AbstractContextManager[list[int]]:
    return before_each_look(memory, lambda look: act() if look == 3 else None)


def took(act: Callable[[], object]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began


# --- an editor at work -----------------------------------------------------------------


@pytest.mark.parametrize("blank", [b"", b"\n", b" \t\r\n\n"])
def test_a_page_that_is_suddenly_empty_is_looked_at_again_before_it_is_believed(
    memory: Memory, blank: bytes
) -> None:
    file_of(memory).write_bytes(blank)
    with at_third_look(memory, lambda: file_of(memory).write_bytes(b"- Likes: coffee\n")):
        (edit,) = memory.pages.absorb()
    assert (edit.base, edit.new) == (sha256(TEXT), sha256(b"- Likes: coffee\n"))


def test_a_page_that_is_suddenly_gone_is_looked_at_again_before_it_is_believed(memory: Memory) -> None:
    file_of(memory).rename(file_of(memory, "facts/work.md~"))
    with at_third_look(memory, lambda: file_of(memory).write_bytes(TEXT)):
        assert memory.pages.absorb() == []
    assert memory.pages.read(PAGE).data == TEXT


@pytest.mark.parametrize("gone", [True, False])
def test_a_page_that_stays_gone_is_believed_and_one_that_stays_empty_is_held(place: Path, gone: bool) -> None:
    with memory_of(place, BRIEF) as memory:
        edits: list[Any] = []

        def empty_and_absorb() -> None:
            if gone:
                file_of(memory).unlink()
            else:
                file_of(memory).write_bytes(b"")
            edits.extend(memory.pages.absorb())

        assert took(empty_and_absorb) > BRIEF.settle_seconds / 2
        assert [(edit.new, edit.removed) for edit in edits] == ([(None, 1)] if gone else [])
        assert [held.path for held in memory.review.held()] == ([] if gone else [PAGE])
        assert memory.pages.read(PAGE).exists is not gone


def test_a_page_that_was_emptied_a_while_ago_is_held_at_once_and_without_the_lock(place: Path) -> None:
    with memory_of(place, BRIEF) as memory:

        def empty_and_absorb() -> None:
            file_of(memory).write_bytes(b"")
            os.utime(file_of(memory), (1, 1))  # what a program says of a file's age counts for nothing
            memory.pages.absorb()

        assert took(empty_and_absorb) > BRIEF.settle_seconds / 2
        memory.review.settle(PAGE, "keep")
        file_of(memory).write_bytes(b"")
        time.sleep(BRIEF.settle_seconds)
        with before_each_look(memory, lambda look: None) as looks:
            assert memory.pages.absorb() == []
        assert looks == [1]
        assert [held.path for held in memory.review.held()] == [PAGE]


def test_a_new_page_may_be_empty(memory: Memory) -> None:
    file_of(memory, "facts/new.md").write_bytes(b"")
    assert [(edit.path, edit.base, edit.added) for edit in memory.pages.absorb()] == [
        ("facts/new.md", None, 0)
    ]


def test_a_page_that_is_being_written_is_taken_when_it_is_left_alone(place: Path) -> None:
    with (
        memory_of(place, Policy(settle_seconds=60.0, quiet_seconds=1.0)) as memory,
        file_of(memory).open("wb", buffering=0) as file,
    ):

        def write_on(look: int) -> None:
            if look <= 8:
                file.write(b"- Number: %d\n" % look)

        with before_each_look(memory, write_on):
            edits = memory.pages.absorb()
        assert [edit.added for edit in edits] == [8]


def test_a_page_that_is_written_all_the_time_is_taken_as_it_is(place: Path) -> None:
    policy = Policy(settle_seconds=0.4, quiet_seconds=60.0)
    with memory_of(place, policy) as memory:

        def write(look: int) -> None:
            assert look <= policy.settle_seconds / absorb._LOOK_AGAIN + 3, "it is waited for without end"
            file_of(memory).write_bytes(TEXT + b"- Number: %d\n" % look)

        with before_each_look(memory, write) as looks:
            assert len(memory.pages.absorb()) == 1
        assert len(looks) > 2
        assert next(memory.history.edits(PAGE)).author == "external"


def test_a_page_that_is_emptied_again_and_again_is_never_believed(place: Path) -> None:
    with memory_of(place, Policy(settle_seconds=0.1)) as memory:

        def empty(look: int) -> None:
            file_of(memory).write_bytes(b"\n" * (look % 2))

        with before_each_look(memory, empty):
            assert memory.pages.absorb() == []
            assert memory.parts.pages.absorb.read(PAGE) == TEXT
            assert memory.parts.pages.absorb.held == {}
        file_of(memory).write_bytes(b"")
        assert [held.path for held in memory.review.held()] == [PAGE]  # now that it stays so


def test_a_page_that_is_saved_after_it_was_absorbed_is_read_as_it_is(memory: Memory) -> None:
    reader = memory.parts.pages.absorb.read

    def save_before(path: str) -> bytes | None:
        file_of(memory).write_bytes(b"- Likes: coffee\n")
        return reader(path)

    memory.parts.pages.absorb.read = save_before  # type: ignore[method-assign]
    page = memory.pages.read(PAGE)
    assert page.data == b"- Likes: coffee\n"
    assert memory.pages.edit(PAGE, "- Likes: water\n", base=page.sha256, reason="from what was read").changed


def test_a_page_that_is_emptied_after_it_was_absorbed_is_waited_for(memory: Memory) -> None:
    reader = memory.parts.pages.absorb.read

    def empty_before(path: str) -> bytes | None:
        file_of(memory).write_bytes(b"")
        with at_third_look(memory, lambda: file_of(memory).write_bytes(TEXT)):
            return reader(path)

    memory.parts.pages.absorb.read = empty_before  # type: ignore[method-assign]
    assert memory.pages.read(PAGE).data == TEXT


def test_a_page_that_becomes_unreadable_while_it_is_looked_at_is_left_alone(memory: Memory) -> None:
    file_of(memory).unlink()
    with at_third_look(memory, lambda: file_of(memory).mkdir()):
        assert memory.pages.absorb() == []


# --- once ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_bytes(b"- Likes: coffee\n"),
        Path.unlink,
        lambda file: file.with_name("b.md").touch(),
    ],
)
def test_a_look_tells_that_something_changed_and_journals_nothing(
    memory: Memory, change: Callable[[Path], object]
) -> None:
    outside = memory.parts.pages.absorb
    before = outside.heads.position
    assert outside.is_current()
    file_of(memory).write_bytes(TEXT)  # as it was
    assert outside.is_current()
    change(file_of(memory))
    assert not outside.is_current()
    assert outside.heads.position == before


def test_absorbing_twice_journals_once_whoever_does_it(place: Path) -> None:
    with Memory(place / "m", policy=HASTY) as one:
        for number in range(20):
            file_of(one, f"facts/{number}.md").write_text(f"- Number: {number}\n")
        memories = [Memory(place / "m", policy=HASTY) for _ in range(4)]
        threads = [threading.Thread(target=memory.pages.absorb) for memory in memories]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(edit.path for edit in one.history.edits()) == sorted(
            f"facts/{number}.md" for number in range(20)
        )
        assert one.pages.absorb() == []
        for memory in memories:
            assert memory.pages.absorb() == []
            memory.close()


class WatchfulDisk(Disk):
    """Remembers which files were opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
        self.opened.append(path)
        return super().open(root, path, flags, mode)


@contextmanager
def watched(where: str) -> Iterator[tuple[Memory, WatchfulDisk]]:
    with Memory(where, policy=HASTY) as memory:
        disk = WatchfulDisk()
        use_store(memory, FileStore(memory.path, HASTY, disk))
        yield memory, disk


def test_pages_that_look_as_they_did_are_not_read_again(place: Path) -> None:
    with Memory(place / "m", policy=HASTY) as memory:
        for number in range(3):
            memory.pages.edit(f"facts/{number}.md", f"{number}\n", reason="a page")
        time.sleep(0.2)
        memory.pages.absorb()
    with watched(memory.path) as (memory, disk):
        assert memory.pages.absorb() == []
        assert [path for path in disk.opened if path.endswith(".md")] == []
        assert "log/lock" not in disk.opened
        file_of(memory, "facts/1.md").write_text("one\n")
        assert [edit.path for edit in memory.pages.absorb()] == ["facts/1.md"]
        assert "facts/0.md" not in disk.opened


def test_a_page_that_was_changed_just_now_is_not_trusted_by_its_times(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(absorb, "_RACY_NS", 3600 * 10**9)  # so that it was just now on any machine
    with Memory(place / "m", policy=HASTY) as memory:
        memory.pages.edit(PAGE, "one\n", reason="a page")
        memory.pages.absorb()
        assert memory.parts.pages.absorb.heads.marks == {}
        times = file_of(memory).stat()
        file_of(memory).write_text("two\n")
        os.utime(file_of(memory), ns=(times.st_atime_ns, times.st_mtime_ns))
        assert memory.pages.read(PAGE).text == "two\n"


# --- the view of the heads -------------------------------------------------------------


def damage_in_silence(view: Path) -> None:
    """One digit of a hash: still JSON, still a hash."""
    data = view.read_bytes()
    at = data.index(sha256(TEXT).encode())
    view.write_bytes(data[:at] + (b"0" if data[at : at + 1] != b"0" else b"1") + data[at + 1 :])


def as_a_view(value: dict[str, object]) -> Callable[[Path], object]:
    return lambda view: view.write_bytes(records.encode(value))


def make_a_folder(view: Path) -> None:
    view.unlink()
    view.mkdir()


def make_a_link(view: Path) -> None:
    view.unlink()
    view.symlink_to("nowhere")


def without_checksum(view: Path) -> None:
    record, _ = records.decode(view.read_bytes().rstrip(b"\n"))
    record["pages"] = {PAGE: [sha256(b"wrong"), None, None]}
    view.write_bytes(records.to_json(record))


def of_another_journal(view: Path) -> None:
    record, _ = records.decode(view.read_bytes().rstrip(b"\n"))
    as_a_view(record | {"last": "another", "pages": {PAGE: [sha256(b"wrong"), None, None]}})(view)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "empty": lambda view: view.write_bytes(b""),
    "cut": lambda view: view.write_bytes(view.read_bytes()[:50]),
    "one digit of a hash": damage_in_silence,
    "no checksum": without_checksum,
    "no view": as_a_view({"schema": "other.v1"}),
    "of another journal": of_another_journal,
    "no sense": as_a_view({"schema": "heads.v2", "position": 7, "last": None, "pages": 7, "marks": None}),
    "no position": as_a_view(
        {"schema": "heads.v2", "position": [9, 9], "last": "x", "pages": {}, "marks": {}}
    ),
    "a folder": make_a_folder,
    "a link": make_a_link,
}


def test_damage_to_a_view_never_reaches_the_journal(place: Path) -> None:
    def check(name: str) -> None:
        with memory_of(place / name, PATIENT) as memory:
            folder = Path(memory.path)
        before = (folder / "log/journal.jsonl").read_bytes()
        DAMAGE[name](folder / "views/heads.json")
        with Memory(folder, policy=HASTY) as again:
            assert again.pages.absorb() == []
            assert again.pages.read(PAGE).data == TEXT
            assert (folder / "log/journal.jsonl").read_bytes() == before
            again.pages.edit(PAGE, "- Likes: coffee\n", reason="corrected")
            assert [edit.removed for edit in again.history.edits(PAGE)] == [1, 0]
            assert [problem for problem in again.check() if problem.severity == "error"] == []

    check_rows(check, DAMAGE)


def test_an_outside_change_is_told_from_the_journal_where_the_copies_are_gone(memory: Memory) -> None:
    shutil.rmtree(Path(memory.path) / "views")
    file_of(memory).write_bytes(TEXT + b"- Likes: coffee\n")
    (edit,) = memory.pages.absorb()
    assert (edit.added, edit.removed, edit.whole) == (1, 0, False)


def test_a_copy_that_is_damaged_is_not_used(memory: Memory) -> None:
    copy = Path(memory.path) / "views/heads" / PAGE
    assert copy.read_bytes() == TEXT
    copy.write_bytes(b"something else\n")
    file_of(memory).write_bytes(TEXT + b"- Likes: coffee\n")
    (edit,) = memory.pages.absorb()
    assert (edit.added, edit.removed) == (1, 0)
    assert copy.read_bytes() == TEXT + b"- Likes: coffee\n"


def test_copies_that_are_gone_are_made_again_by_the_next_reading(memory: Memory) -> None:
    memory.close()
    shutil.rmtree(Path(memory.path) / "views")
    with Memory(memory.path, policy=HASTY) as again:
        again.pages.read(PAGE)
        assert (Path(memory.path) / "views/heads" / PAGE).read_bytes() == TEXT


def test_a_copy_that_cannot_be_read_is_no_hindrance(memory: Memory, place: Path) -> None:
    copy = Path(memory.path) / "views/heads" / PAGE
    copy.unlink()
    copy.symlink_to(place)
    file_of(memory).write_bytes(TEXT + b"- Likes: coffee\n")
    (edit,) = memory.pages.absorb()
    assert (edit.added, edit.removed) == (1, 0)
