"""Editors that save a page at the very moment the program changes it: no save is ever lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused, Stale
from looseleaf.base.policy import Policy
from looseleaf.base.values import sha256
from looseleaf.log.journal import forward
from looseleaf.store.disk import Disk
from looseleaf.store.documents import Exchange
from looseleaf.store.files import FileStore
from tables import check_rows
from wiring import use_store

SCRIPT = str(Path(__file__).parents[1] / "scripts" / "editing.py")
PAGE = "facts/work.md"
TOKEN = re.compile(rb"(?:save|edit)-\d{6}")


# --- what is left of it all ------------------------------------------------------------


def every_text(memory: Memory) -> Iterator[bytes]:
    """Whatever can still be had of a page: as it is, as it ever was by the journal, and what is kept aside."""
    yield memory.pages.read(PAGE).data
    page = None
    for edit in list(memory.history.edits(PAGE))[::-1]:
        page = forward(edit, page)
        yield page or b""
    for file in (Path(memory.path) / "log/aside").rglob("*"):
        if file.is_file():
            yield file.read_bytes()


def replays(memory: Memory) -> bool:
    """Whether the journal, from nothing, gives the page."""
    page = None
    for edit in list(memory.history.edits(PAGE))[::-1]:
        page = forward(edit, page)
    file = Path(memory.path) / PAGE
    return page == (file.read_bytes() if file.exists() else None)


def collisions(memory: Memory) -> list[dict[str, object]]:
    records = (line.record for line in memory.parts.context.store.read("journal"))
    return [record for record in records if record["kind"] in ("void", "late")]


def kept_aside(memory: Memory) -> list[bytes]:
    """What the journal says is aside; each of it is there."""
    paths = [path for record in collisions(memory) for path in record.get("aside", [])]  # type: ignore[attr-defined]
    return [(Path(memory.path) / path).read_bytes() for path in paths]


def errors(memory: Memory) -> list[str]:
    return [str(problem) for problem in memory.check() if problem.severity == "error"]


# --- two processes at one page ---------------------------------------------------------


def start(*args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, SCRIPT, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=1800)
    assert process.returncode == 0, err
    return out


def race(folder: Path, saves: int, edits: int, seed: int) -> str:
    """The figures of an editor and a program that met at one page so many times."""
    where = folder / "memory"
    with Memory(where) as memory:
        memory.pages.edit(PAGE, "# Work\n\n- Likes: tea\n", reason="a page")
    saved, edited = folder / "saved", folder / "edited"
    editor = start("save", where / PAGE, saved, edited, saves, edits, seed)
    program = start("edit", where, PAGE, edited, saved, saves, edits)
    finish(program)
    finish(editor)
    with Memory(where, policy=Policy(late_seconds=0.001)) as memory:
        memory.pages.absorb()
        found = {token for text in every_text(memory) for token in TOKEN.findall(text)}
        done = saved.read_bytes().split() + edited.read_bytes().split()
        assert len(done) == saves + edits
        lost = sorted(set(done) - found)
        assert replays(memory)
        assert errors(memory) == []
        happened = {edit.reason for edit in memory.history.edits(PAGE)}
        assert set(edited.read_text().split()) <= happened
        assert len(kept_aside(memory)) >= sum(record["kind"] == "late" for record in collisions(memory))
        return (
            f"saves={saves} edits={edits} unrecoverable={len(lost)} collisions={len(collisions(memory))}"
            + "".join(f" {token.decode()}" for token in lost)
        )


def test_an_editor_and_a_program_at_one_page_lose_nothing(place: Path) -> None:
    figures = race(place, 30, 60, seed=1)
    print(figures)
    assert "unrecoverable=0" in figures


@pytest.mark.long
def test_a_thousand_saves_against_two_thousand_edits_lose_nothing(tmp_path: Path) -> None:
    figures = race(tmp_path, 1000, 2000, seed=2)
    print(figures)
    assert "unrecoverable=0" in figures


FIRST = "- Likes: tea\n"
LINE = "- Edit: edit-000000\n"

# --- the moments at which they can meet ------------------------------------------------


class EditorDisk(Disk):
    """Does what an editor does at chosen moments of the store's work on a page."""

    def __init__(self, *, exchange: bool = True) -> None:
        super().__init__()
        if not exchange:
            self._lacking = {1, 2}  # a system that can neither exchange names nor refuse to replace one
        self.acts: list[tuple[str, Callable[[], None]]] = []

    def moment(self, name: str) -> None:
        if self.acts and self.acts[0][0] == name:
            self.acts.pop(0)[1]()

    def exchange(self, source: int, old: str, target: int, new: str) -> None:
        self.moment("before exchange")
        super().exchange(source, old, target, new)
        self.moment("after exchange")

    def rename_new(self, source: int, old: str, target: int, new: str) -> None:
        self.moment("before making")
        super().rename_new(source, old, target, new)
        self.moment("after making")

    def rename(self, source: int, old: str, target: int, new: str) -> None:
        is_retired = new.startswith(old.removesuffix(".edit") + "-")
        moment = "removing" if new.endswith(".edit") else "retiring" if is_retired else ""
        self.moment(f"before {moment}")
        super().rename(source, old, target, new)
        self.moment(f"after {moment}")

    def rename_plainly(self, source: int, old: str, target: int, new: str) -> None:
        """For the mutant: the same moments, and no exchange."""
        self.moment("before exchange")
        super().rename(source, old, target, new)
        self.moment("after exchange")


class PlainRename(Exchange):
    """The mutant: renames the new page over the old, and does not look at what it displaced."""

    def replace(self, path: str, staged: str, base: str | None, new: str | None, edit: str) -> None:
        disk = self._disk
        assert isinstance(disk, EditorDisk)
        with self._root.parent(staged) as (source, old), self._root.parent(path) as (target, name):
            disk.rename_plainly(source, old, target, name)
            disk.sync(target)


class NotWatched(Exchange):
    """The mutant: drops a displaced file as soon as it has looked at it."""

    def retire(self, staged: str, edit: str, known: str) -> None:
        disk = self._disk
        assert isinstance(disk, EditorDisk)
        self._root.discard(staged)
        disk.moment("before retiring")


class WatchedTooLate(Exchange):
    """The mutant: watches a displaced file from when it is put away, and not from when it was looked at."""

    def retire(self, staged: str, edit: str, known: str) -> None:
        disk = self._disk
        assert isinstance(disk, EditorDisk)
        disk.moment("before retiring")
        super().retire(staged, edit, sha256(self._root.read(staged) or b""))


@dataclass
class Desk:
    """A page, an editor that has it open, and a program whose edits the editor disturbs."""

    memory: Memory
    disk: EditorDisk
    saved: list[bytes] = field(default_factory=list)
    seen: bytes = b""
    opened: list[int] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return Path(self.memory.path) / PAGE

    def at(self, moment: str, act: Callable[[], None]) -> None:
        self.disk.acts.append((moment, act))

    def text(self) -> bytes:
        data = f"- Save: save-{len(self.saved):06d}\n".encode()
        self.saved.append(data)
        return data

    # --- what editors do ---

    def write_in_place(self) -> None:
        self.file.write_bytes(self.text())

    def read(self) -> None:
        self.seen = self.file.read_bytes()

    def save_what_was_read(self) -> None:
        self.saved.append(self.seen + self.text())
        self.file.write_bytes(self.saved[-1])

    def rename(self) -> None:
        beside = self.file.with_name(".new")
        beside.write_bytes(self.text())
        os.replace(beside, self.file)

    make = write_in_place

    def nothing(self) -> None:
        pass

    def delete(self) -> None:
        self.file.unlink()

    def rename_away_and_make(self) -> None:
        os.replace(self.file, self.file.with_name("work.md~"))
        self.file.write_bytes(self.text())

    def rename_away(self) -> None:
        os.replace(self.file, self.file.with_name("work.md~"))

    def truncate(self) -> None:
        """And write a moment later, into the same file, wherever it is by then."""
        fd = os.open(self.file, os.O_WRONLY | os.O_TRUNC)
        data = self.text()

        def write() -> None:
            time.sleep(0.1)
            os.write(fd, data)
            os.close(fd)

        thread = threading.Thread(target=write)
        thread.start()
        self.threads.append(thread)

    def open(self) -> None:
        self.opened.append(os.open(self.file, os.O_RDWR))

    def write_opened(self) -> None:
        fd = self.opened.pop()
        data = self.text()
        os.write(fd, data)
        os.ftruncate(fd, len(data))
        os.close(fd)

    # --- what must be true then ---

    def settle(self) -> None:
        for thread in self.threads:
            thread.join()
        assert self.disk.acts == []  # every moment came
        self.memory.pages.absorb()
        time.sleep(0.01)
        with Memory(self.memory.path, policy=Policy(late_seconds=0.001)) as other:
            # The displaced files' time is over: what was written into them is kept, the rest dropped.
            other.pages.absorb()
            assert list((Path(other.path) / "log/aside").glob("late/*")) == []

    def meant(self, letters: str) -> bytes:
        """S, T, U: the editor's saves; +: the program's line; 0: the page as it was."""
        known = dict(zip("STU", self.saved, strict=False)) | {"+": LINE.encode(), "0": FIRST.encode()}
        return b"".join(known[letter] for letter in letters)

    def nothing_is_lost(self) -> None:
        everything = list(every_text(self.memory))
        for data in self.saved:
            assert any(data in each for each in everything), data
        assert replays(self.memory)
        assert errors(self.memory) == []
        assert list((Path(self.memory.path) / "log/staged").iterdir()) == []


class EditorsMemory(Memory):
    """A memory on a disk that the test watches."""

    def __init__(self, where: Path, disk: Disk, kind: type[Exchange] = Exchange) -> None:
        policy = Policy(settle_seconds=0.3, quiet_seconds=0.005)
        super().__init__(where, policy=policy)
        store = FileStore(self.path, policy, disk)
        store._documents.__dict__["_exchange"] = kind(store._root, store._streams)
        use_store(self, store)


@contextmanager
def a_desk(folder: Path, kind: type[Exchange] = Exchange, *, exchange: bool = True) -> Iterator[Desk]:
    disk = EditorDisk(exchange=exchange)
    with EditorsMemory(folder / "memory", disk, kind) as memory:
        memory.pages.edit(PAGE, FIRST, reason="a page")
        yield Desk(memory, disk)


@pytest.fixture
def desk(place: Path) -> Iterator[Desk]:
    with a_desk(place) as desk:
        yield desk


def add_line(text: str) -> str:
    return text + LINE


Acts = list[tuple[str, str]]


def disturb(desk: Desk, acts: Acts, change: Callable[[], object]) -> None:
    for moment, act in acts:
        desk.at(moment, getattr(desk, act))
    change()
    desk.settle()


EDITS: dict[str, tuple[Acts, str, int]] = {
    # What the editor does, and when; what the page is in the end (see `Desk.meant`); how many collisions are listed.
    "saves in place before": ([("before exchange", "write_in_place")], "S+", 1),
    "saves by rename before": ([("before exchange", "rename")], "S+", 1),
    "truncates before, and writes later": ([("before exchange", "truncate")], "S+", 1),
    "deletes before": ([("before exchange", "delete")], "+", 1),
    "renames away and makes anew before": ([("before exchange", "rename_away_and_make")], "S+", 1),
    "saves in place after": ([("after exchange", "write_in_place")], "S", 0),
    "saves by rename after": ([("after exchange", "rename")], "S", 0),
    "truncates after, and writes later": ([("after exchange", "truncate")], "S", 0),
    "deletes after": ([("after exchange", "delete")], "", 0),
    "renames away and makes anew after": ([("after exchange", "rename_away_and_make")], "S", 0),
    "opened before, writes before it is looked at": (
        [("before exchange", "open"), ("after exchange", "write_opened")],
        "S+",
        1,
    ),
    "opened before, writes when it was looked at": (
        [("before exchange", "open"), ("before retiring", "write_opened")],
        "0+",
        1,
    ),
    "opened before, writes when all is done": (
        [("before exchange", "open"), ("after retiring", "write_opened")],
        "0+",
        1,
    ),
    "saves before, and by rename while that is given back": (
        [("before exchange", "write_in_place"), ("before exchange", "rename")],
        "T+",
        1,
    ),
    "saves before, and in place while that is given back": (
        [("before exchange", "write_in_place"), ("before exchange", "write_in_place")],
        "T+",
        1,
    ),
    "saves before, and deletes while that is given back": (
        [("before exchange", "write_in_place"), ("before exchange", "delete")],
        "+",
        1,
    ),
    "saves before, and renames away while that is given back": (
        [("before exchange", "write_in_place"), ("before exchange", "rename_away")],
        "+",
        1,
    ),
    "saves before, reads the new text, and saves that over what was given back": (
        [
            ("before exchange", "write_in_place"),
            ("after exchange", "read"),
            ("after exchange", "save_what_was_read"),
        ],
        "0+T+",
        1,
    ),
    "saves three times": (
        [
            ("before exchange", "write_in_place"),
            ("before exchange", "rename"),
            ("before exchange", "rename"),
        ],
        "U+",
        1,
    ),
}


@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "no exchange"])
def test_an_edit_and_a_save_in_one_moment(place: Path, exchange: bool) -> None:
    def check(name: str) -> None:
        acts, wanted, listed = EDITS[name]
        with a_desk(place / name, exchange=exchange) as desk:
            edit = partial(desk.memory.pages.edit, PAGE, add_line, author="agent:main", reason="a line")
            disturb(desk, acts, edit)
            desk.nothing_is_lost()
            assert any(LINE.encode() in text for text in every_text(desk.memory))
            assert "a line" in [edit.reason for edit in desk.memory.history.edits(PAGE)]
            assert desk.memory.pages.read(PAGE).data == desk.meant(wanted)
            assert len(collisions(desk.memory)) == listed
            kept_aside(desk.memory)

    check_rows(check, EDITS)


@pytest.mark.parametrize(
    "name",
    [
        "saves in place before",
        "saves by rename before",
        "truncates before, and writes later",
        "opened before, writes before it is looked at",
    ],
)
def test_a_store_that_does_not_look_at_what_it_displaces_loses_saves(place: Path, name: str) -> None:
    with a_desk(place, PlainRename) as desk:
        disturb(desk, EDITS[name][0], lambda: desk.memory.pages.edit(PAGE, add_line, reason="a line"))
        with pytest.raises(AssertionError, match="save-000000"):
            desk.nothing_is_lost()


@pytest.mark.parametrize("kind", [NotWatched, WatchedTooLate])
def test_a_store_that_does_not_watch_what_it_displaced_loses_saves(place: Path, kind: type[Exchange]) -> None:
    acts, _, _ = EDITS["opened before, writes when it was looked at"]
    with a_desk(place, kind) as desk:
        disturb(desk, acts, lambda: desk.memory.pages.edit(PAGE, add_line, reason="a line"))
        with pytest.raises(AssertionError, match="save-000000"):
            desk.nothing_is_lost()


DELETIONS: dict[str, tuple[Acts, str, int]] = {
    "saves in place before": ([("before removing", "write_in_place")], "", 1),
    "saves by rename before": ([("before removing", "rename")], "", 1),
    "truncates before, and writes later": ([("before removing", "truncate")], "", 1),
    "deletes before": ([("before removing", "delete")], "", 1),
    "makes it anew after": ([("after removing", "make")], "S", 0),
    "opened before, writes before it is looked at": (
        [("before removing", "open"), ("after removing", "write_opened")],
        "",
        1,
    ),
    "opened before, writes when all is done": (
        [("before removing", "open"), ("after retiring", "write_opened")],
        "",
        1,
    ),
    "saves before, and makes it anew while that is given back": (
        [("before removing", "write_in_place"), ("before making", "make")],
        "",
        1,
    ),
}


def test_a_deletion_and_a_save_in_one_moment(place: Path) -> None:
    def check(name: str) -> None:
        acts, wanted, listed = DELETIONS[name]
        with a_desk(place / name) as desk:
            disturb(desk, acts, partial(desk.memory.pages.delete, PAGE, reason="not needed"))
            desk.nothing_is_lost()
            page = desk.memory.pages.read(PAGE)
            assert (page.data, page.exists) == (desk.meant(wanted), bool(wanted))
            assert len(collisions(desk.memory)) == listed
            kept_aside(desk.memory)

    check_rows(check, DELETIONS)


CREATIONS: dict[str, tuple[Acts, str, int]] = {
    "makes it before": ([("before making", "make")], "S+", 1),
    "makes it by rename before": ([("before making", "rename")], "S+", 1),
    "saves in place after": ([("after making", "write_in_place")], "S", 0),
    "saves by rename after": ([("after making", "rename")], "S", 0),
    "deletes after": ([("after making", "delete")], "", 0),
}


def test_a_new_page_and_a_save_in_one_moment(place: Path) -> None:
    def check(name: str) -> None:
        acts, wanted, listed = CREATIONS[name]
        with a_desk(place / name) as desk:
            desk.memory.pages.delete(PAGE, reason="so that it can be made")
            disturb(desk, acts, partial(desk.memory.pages.edit, PAGE, add_line, reason="a line"))
            desk.nothing_is_lost()
            assert any(LINE.encode() in text for text in every_text(desk.memory))
            assert desk.memory.pages.read(PAGE).data == desk.meant(wanted)
            assert len(collisions(desk.memory)) == listed

    check_rows(check, CREATIONS)


def test_an_edit_of_a_text_that_was_read_is_refused_when_a_save_comes_in_between(desk: Desk) -> None:
    read = desk.memory.pages.read(PAGE).sha256
    desk.at("before exchange", desk.write_in_place)
    with pytest.raises(Stale) as refused:
        desk.memory.pages.edit(PAGE, "- Likes: coffee\n", base=read, reason="as it was read")
    assert refused.value.current == sha256(desk.saved[0])
    desk.settle()
    desk.nothing_is_lost()
    assert desk.memory.pages.read(PAGE).data == desk.saved[0]
    (collision,) = collisions(desk.memory)
    assert (collision["kind"], collision["path"], collision["reason"]) == (
        "void",
        PAGE,
        "something else saved the page at the same moment",
    )
    assert kept_aside(desk.memory) == [desk.saved[0]]


def test_a_page_that_something_saves_all_the_time_is_not_changed(desk: Desk) -> None:
    for _ in range(200):
        desk.at("before exchange", desk.write_in_place)
        desk.at("before exchange", desk.nothing)  # while that is given back
    with pytest.raises(Refused, match="something else keeps saving it"):
        desk.memory.pages.edit(PAGE, add_line, reason="a line")
    desk.disk.acts.clear()
    desk.settle()
    desk.nothing_is_lost()
    assert desk.memory.pages.edit(PAGE, add_line, reason="a line").changed


# --- an editor that takes its time -----------------------------------------------------


def watch_a_slow_editor(folder: Path, seconds: float, settle: float) -> tuple[int, int, int, int]:
    """How often the editor saved, a reader looked, it missed the fact; how many edits took the fact away."""
    where = folder / "memory"
    with Memory(where) as memory:
        memory.pages.edit(PAGE, "# Work\n\n- Likes: tea\n", reason="a page")
    reader = start("read", where, PAGE, seconds, settle)
    editor = start("slowly", where / PAGE, seconds + 0.5, 1)
    looks, missing = map(int, finish(reader).split())
    saves = int(finish(editor))
    with Memory(where) as memory:
        page = memory.pages.read(PAGE)
        texts = [
            version for edit in memory.history.edits(PAGE) for version in memory.history.versions(edit)[1:]
        ]
        assert replays(memory)
        assert errors(memory) == []
        assert len(texts) > 1  # the reader did journal what it read
        assert page.data in texts
    return saves, looks, missing, sum(b"- Likes: tea\n" not in (text or b"") for text in texts)


def test_an_editor_that_truncates_waits_and_writes_never_makes_a_fact_disappear(place: Path) -> None:
    saves, looks, missing, removed = watch_a_slow_editor(place, 3.0, Policy().settle_seconds)
    print(f"saves={saves} looks={looks} missing={missing} removed={removed}")
    assert saves > 5
    assert looks > 5
    assert (missing, removed) == (0, 0)


@pytest.mark.long
def test_an_editor_that_does_so_for_a_minute_never_makes_a_fact_disappear(place: Path) -> None:
    saves, looks, missing, removed = watch_a_slow_editor(place, 60.0, Policy().settle_seconds)
    print(f"saves={saves} looks={looks} missing={missing} removed={removed}")
    assert (missing, removed) == (0, 0)


def test_an_absorb_that_does_not_wait_and_holds_nothing_makes_the_fact_disappear(place: Path) -> None:
    _, _, missing, removed = watch_a_slow_editor(place, 1.5, 1e-9)
    assert missing > 0
    assert removed > 0
