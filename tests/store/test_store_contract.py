"""The store in a folder keeps the contract, and its files are what FORMAT says they are."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf.base.errors import Refused, Unwritten
from looseleaf.base.policy import Policy
from looseleaf.base.values import Position, Problem
from looseleaf.forget.replay import World
from looseleaf.store import JOURNAL, records
from looseleaf.store import streams as segments
from looseleaf.store.check_repair import MISSING_FILE
from looseleaf.store.disk import Disk
from looseleaf.store.files import FileStore
from looseleaf.store.losses import TO_DO
from store_contract import (
    PAGE,
    NewMemory,
    OpenStore,
    StoreContract,
    edit_of,
    hash_of,
    new_folders,
    record_of,
)
from tables import check_rows, some

if TYPE_CHECKING:
    from looseleaf.base.values import Record
    from looseleaf.store.protocol import Store


class TestFileStore(StoreContract):
    @pytest.fixture
    def new_memory(self, tmp_path: Path) -> NewMemory:
        return new_folders(tmp_path, FileStore)


class TestFileStoreOfTinySegments(StoreContract):
    """Almost every append rotates, and most texts become bodies."""

    @pytest.fixture
    def new_memory(self, tmp_path: Path) -> NewMemory:
        return new_folders(
            tmp_path, lambda folder: FileStore(folder, Policy(segment_bytes=200, body_bytes=300))
        )


class TestWorld(StoreContract):
    """The store in memory in which forgetting replays a memory. What it does not do is overridden here:

    - it writes the journal only; other streams are read from the store below (`streams`, `log`);
    - it publishes no entry: nothing is distilled while something is forgotten;
    - it seals nothing: its journal is one segment, however often it is rotated;
    - it lives in one object, so closing and opening again is that object.
    """

    streams = (JOURNAL,)
    log = JOURNAL

    @pytest.fixture
    def new_memory(self, tmp_path: Path) -> NewMemory:
        def open_world(folder: Path) -> World:
            return World(FileStore(folder), lambda stream, record: record, {})

        new_folder = new_folders(tmp_path, open_world)

        def new_memory() -> OpenStore:
            world = new_folder()()
            return lambda: world

        return new_memory

    def test_streams_are_named_and_kept_apart(self, tmp_path: Path) -> None:  # type: ignore[override]
        below = FileStore(tmp_path)
        world = World(below, lambda stream, record: record, {})
        for stream in ("prompts/a b", "traces/main", JOURNAL):
            below.append(stream, [record_of(f"below: {stream}")])
        assert world.streams() == ["traces/main", "prompts/a b"]
        world.append(JOURNAL, [record_of("in memory")])
        assert world.streams() == [JOURNAL, "traces/main", "prompts/a b"]
        found = [line.record["content"] for stream in world.streams() for line in world.read(stream)]
        assert found == ["in memory", "below: traces/main", "below: prompts/a b"]
        with pytest.raises(Refused, match="is being forgotten"):
            world.append("traces/main", [record_of("x")])
        below.close()

    def test_a_rotated_stream_reads_the_same_and_goes_on_in_a_new_segment(self, store: Store) -> None:
        given = [record_of(number) for number in range(3)]
        for record in given:
            assert store.append(JOURNAL, [record])[0].segment == 1
            store.rotate(JOURNAL)
        assert [line.record for line in store.read(JOURNAL)] == given

    def test_a_folder_is_published_whole_and_once(self, store: Store) -> None:
        with pytest.raises(Refused, match="nothing is distilled"):
            store.publish("log/entries/tea/e1", {"raw.md": b"x"})
        assert store.list("log/entries/tea/e1") == []

    test_a_folder_that_is_published_again_stays_as_it_is = None  # type: ignore[assignment]
    test_a_folder_with_a_hostile_name_in_it_is_not_published_at_all = None  # type: ignore[assignment]

    def test_the_folders_in_a_folder_are_listed_by_name(self, tmp_path: Path) -> None:  # type: ignore[override]
        below = FileStore(tmp_path)
        for entry in ("tea/e2", "tea/e1", "coffee/e3"):
            below.publish(f"log/entries/{entry}", {"meta.json": b"{}"})
        world = World(below, lambda stream, record: record, {"log/entries/tea/e2/meta.json": None})
        assert world.folders("log/entries") == ("coffee", "tea")
        assert world.folders("log/entries/tea") == ("e1",)  # the other one is gone
        below.close()


# --- what is on disk ---------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    with FileStore(tmp_path) as store:
        yield store


def filled(path: Path, disk: Disk | None = None) -> FileStore:
    """A store with something of everything: two sealed segments and an open end, a body, pages, an entry."""
    store = FileStore(path, disk=disk)
    for stream in ("journal", "traces/main", "prompts/main"):
        for number in range(3):
            store.append(stream, [record_of(f"{stream} {number}"), record_of("and another")])
            if number < 2:
                store.rotate(stream)
    store.append("traces/main", [record_of("long " * 100_000)])
    base = store.put(PAGE, b"# Tea\n", base=None, record=edit_of(PAGE, None, b"# Tea\n"))
    store.put(PAGE, b"# Green tea\n", base=base, record=edit_of(PAGE, base, b"# Green tea\n"))
    store.put("state.json", b"{}", base=None)
    store.view("views/state.toon", b"")
    meta, summary = b'{"schema":"entry.v1"}', b'{"schema":"entry_summary.v1"}'
    store.publish("log/entries/tea/e1", {"raw.md": b"raw", "meta.json": meta, "summary.json": summary})
    return store


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def errors(store: FileStore) -> list[str]:
    return [str(problem) for problem in store.check() if problem.severity == "error"]


def notes(store: FileStore) -> list[str]:
    return [str(problem) for problem in store.check() if problem.severity == "note"]


def test_each_file_has_the_name_that_the_format_gives_it(tmp_path: Path) -> None:
    filled(tmp_path).close()
    digest = hash_of(b"long " * 100_000)
    names = {name for name in files_of(tmp_path) if not name.startswith("log/aside/late/")}
    assert names - {"views/gate.lock"} == {
        "facts/tea.md",
        "views/heads/facts/tea.md",
        "log/archive/000001.jsonl",
        "log/archive/000002.jsonl",
        "log/archive/SHA256SUMS",
        f"log/bodies/{digest}",
        "log/entries/tea/e1/meta.json",
        "log/entries/tea/e1/raw.md",
        "log/entries/tea/e1/summary.json",
        "log/journal.jsonl",
        "log/lock",
        "log/machine",
        "log/prompts/archive/main/000001.jsonl",
        "log/prompts/archive/main/000002.jsonl",
        "log/prompts/archive/main/SHA256SUMS",
        "log/prompts/main.jsonl",
        "log/traces/main/archive/000001.jsonl",
        "log/traces/main/archive/000002.jsonl",
        "log/traces/main/archive/SHA256SUMS",
        "log/traces/main/raw_traces.jsonl",
        "log/turn",
        "state.json",
        "views/state.toon",
        "views/ends/journal.json",
        "views/ends/prompts/main.json",
        "views/ends/traces/main.json",
    }


def test_files_and_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        filled(tmp_path).close()
    finally:
        os.umask(before)
    modes = {(path.is_dir(), path.stat().st_mode & 0o777) for path in tmp_path.rglob("*") if path != tmp_path}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_every_line_is_json_and_its_crc_is_of_the_object_without_it(tmp_path: Path) -> None:
    filled(tmp_path).close()
    lines = [
        line
        for name, data in files_of(tmp_path).items()
        if name.endswith(".jsonl")
        for line in data.splitlines(keepends=True)
    ]
    assert len(lines) == 21
    for line in lines:
        value = json.loads(line)
        assert list(value)[-1] == "crc"
        # From the bytes, and again from the values alone: a program of another language can do either.
        start, member, rest = line.strip().rpartition(b',"crc":"')
        assert (member, rest) == (b',"crc":"', b'%08x"}' % zlib.crc32(start + b"}"))
        crc = value.pop("crc")
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        assert crc == f"{zlib.crc32(body):08x}"
        assert line == b" " + body[:-1] + f',"crc":"{crc}"}}\n'.encode()


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="this machine has no sha256sum")
def test_sha256sum_reads_the_seals(tmp_path: Path) -> None:
    filled(tmp_path).close()
    for archive in ("log/archive", "log/traces/main/archive", "log/prompts/archive/main"):
        run = ["sha256sum", "--strict", "--check", "SHA256SUMS"]
        done = subprocess.run(run, cwd=tmp_path / archive, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "000001.jsonl: OK\n000002.jsonl: OK\n")


def test_a_long_text_is_a_file_that_a_person_can_read(store: FileStore, tmp_path: Path) -> None:
    text, listed, broken = "tea and toast\n" * 30_000, ["x" * 1000] * 300, "\ud800" + "y" * 300_000
    given = [record_of(text), record_of(listed), record_of(broken), record_of(text, also="z" * 2000)]
    store.append("traces/main", given)
    lines = (tmp_path / "log/traces/main/raw_traces.jsonl").read_bytes().splitlines()
    forms = []
    for line in lines:
        (body,) = json.loads(line)["bodies"].values()
        data = (tmp_path / "log/bodies" / body["sha256"]).read_bytes()
        assert (len(data), hash_of(data)) == (body["bytes"], body["sha256"])
        forms.append(body["as"])
    assert forms == ["text", "json", "json", "text"]
    assert "also" in json.loads(lines[-1])  # what fits stays in the line
    assert (tmp_path / "log/bodies" / hash_of(text.encode())).read_text() == text
    assert len(list((tmp_path / "log/bodies").iterdir())) == 3  # the same text twice is one file
    assert [line.record for line in store.read("traces/main")] == given


def test_a_damaged_body_is_written_anew_when_its_text_is_said_again(store: FileStore, tmp_path: Path) -> None:
    text = "x" * 300_000
    store.append("traces/main", [record_of(text)])
    (tmp_path / "log/bodies" / hash_of(text.encode())).write_bytes(b"damage")
    assert list(store.read("traces/main")) == []
    store.append("traces/main", [record_of(text)])
    assert [line.record["content"] for line in store.read("traces/main")] == [text, text]


def test_hand_made_lines_are_read_and_counted(store: FileStore, tmp_path: Path) -> None:
    mine = record_of("mine")
    store.append("traces/main", [mine])
    active = tmp_path / "log/traces/main/raw_traces.jsonl"
    with active.open("ab") as file:
        file.write(b'{"id": "by hand", "content": "caf\xc3\xa9"}\n\n{"id":"jq"}\r\n')
    after = record_of("after")
    store.append("traces/main", [after])
    problems: list[Problem] = []
    lines = list(store.read("traces/main", on_problem=problems.append))
    by_hand: list[Record] = [{"id": "by hand", "content": "café"}, {"id": "jq"}]
    assert [line.record for line in lines] == [mine, *by_hand, after]
    assert [line.checked for line in lines] == [True, False, False, True]
    assert list(store.read_back("traces/main")) == lines[::-1]
    name = "log/traces/main/raw_traces.jsonl"
    assert problems == []
    assert notes(store) == [
        f"{name}:2: note: this record has no checksum",
        f"{name}:3: note: this line is empty",
        f"{name}:4: note: this record has no checksum",
    ]
    assert errors(store) == store.repair() == []


def test_a_line_that_makes_no_sense_is_skipped_and_told(tmp_path: Path) -> None:
    def check(line: bytes, why: str) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        with FileStore(folder) as store:
            given = [record_of("one"), record_of("two")]
            active = folder / "log/traces/main/raw_traces.jsonl"
            store.append("traces/main", given[:1])
            with active.open("ab") as file:
                file.write(line + b"\n")
            store.append("traces/main", given[1:])
            problems: list[Problem] = []
            assert [line.record for line in store.read("traces/main", on_problem=problems.append)] == given
            assert [line.record for line in store.read_back("traces/main")] == given[::-1]
            (problem,) = problems
            assert (problem.path, problem.line) == ("log/traces/main/raw_traces.jsonl", 2)
            assert problem.message.startswith("this record is damaged: ")
            assert why in problem.message
            assert errors(store) == [str(problem)]

    check_rows(
        check,
        [
            (b"[]", "it is not a JSON object"),
            (b'{"id":NaN}', "it is not JSON"),
            (b'{"id":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "it is not JSON"),
            (b'{"id":"\xff"}', "it is not JSON"),
            (b'{"id":"x","crc":"0","y":1}', "its checksum is not the last member"),
            (b'{"id":"x","crc":"00000000"}', "its checksum does not match"),
            (b' {"id":"x"}', "its checksum is gone"),
            (b'{"id":"x","bodies":{"y":{"sha256":"../../../etc/passwd"}}}', "something that is not a hash"),
            (b'{"id":"x","bodies":{"y":{"sha256":"' + b"0" * 64 + b'","as":"text"}}}', "0 is missing"),
            (b'{"id":"x","bodies":[]}', "its list of bodies makes no sense"),
            (b'{"id":"x","bodies":{"y":1}}', "its list of bodies makes no sense"),
        ],
    )


def test_the_journal_is_the_program_s_own(store: FileStore, tmp_path: Path) -> None:
    given = record_of("mine")
    store.append("journal", [given])
    journal = tmp_path / "log/journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'\n{"id":"by hand"}\n')
    assert errors(store) == [
        "log/journal.jsonl:2: this line is empty",
        "log/journal.jsonl:3: this record has no checksum",
    ]
    (done,) = store.repair()
    assert done.startswith(
        "log/journal.jsonl: 1 damaged record set aside; the original file is kept as log/aside/"
    )
    assert (tmp_path / done.rpartition(" ")[2]).read_bytes() == whole + b'\n{"id":"by hand"}\n'
    first, lost = (line.record for line in store.read("journal"))
    assert first == given
    assert {name: lost[name] for name in ("schema", "kind", "bytes", "sha256")} == {
        "schema": "lost.v1",
        "kind": "lost",
        "bytes": 16,
        "sha256": hash_of(b'{"id":"by hand"}'),
    }
    assert errors(store) == store.repair() == []


def test_a_log_that_went_through_jq_is_still_read(store: FileStore, tmp_path: Path) -> None:
    given = [record_of("one"), record_of("two")]
    store.append("traces/main", given)
    active = tmp_path / "log/traces/main/raw_traces.jsonl"
    whole = active.read_bytes()
    active.write_bytes(whole.replace(b" {", b"{"))
    lines = list(store.read("traces/main"))
    assert [(line.record, line.checked) for line in lines] == [(given[0], True), (given[1], True)]
    message = "the beginning of this record is damaged; the record itself is whole"
    assert errors(store) == [f"log/traces/main/raw_traces.jsonl:{number}: {message}" for number in (1, 2)]
    store.repair()
    assert active.read_bytes() == whole


def test_a_missing_segment_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    store = filled(tmp_path)
    given = [line.record for line in store.read("traces/main")]
    sealed = (tmp_path / "log/traces/main/archive/000001.jsonl").read_bytes()
    (tmp_path / "log/traces/main/archive/000001.jsonl").unlink()
    (tmp_path / "log/archive/000002.jsonl").unlink()  # the newest
    problems: list[Problem] = []
    start = Position(1, 0)
    assert [line.record for line in store.read("traces/main", start, problems.append)] == given[2:]
    assert [line.record for line in store.read_back("traces/main")] == given[2:][::-1]
    gone = "log/traces/main/archive/000001.jsonl: this segment is missing"
    assert [str(problem) for problem in problems] == [gone]
    assert errors(store) == ["log/archive/000002.jsonl: this segment is missing", gone]
    assert store.repair() == [
        "log/archive/000002.jsonl: missing; a `lost` record stands in its place",
        "log/archive/000002.jsonl: sealed as it is now",
        "log/traces/main/archive/000001.jsonl: missing; a `lost` record stands in its place",
        "log/traces/main/archive/000001.jsonl: sealed as it is now",
    ]
    lost, *rest = (line.record for line in store.read("traces/main"))
    assert (lost["kind"], lost["segment"], lost["sha256"]) == ("lost", "000001.jsonl", hash_of(sealed))
    assert rest == given[2:]
    assert errors(store) == store.repair() == []
    store.close()


def test_a_lost_seal_is_told_and_not_quietly_made_again(tmp_path: Path) -> None:
    store = filled(tmp_path)
    sums = tmp_path / "log/archive/SHA256SUMS"
    whole = sums.read_bytes()
    first, second, _ = whole.split(b"\n")
    sums.write_bytes(first[:-1] + b"\n" + second)
    store.close()
    store = FileStore(tmp_path)
    store.append("journal", [record_of("more")])
    assert errors(store) == [
        "log/archive/SHA256SUMS:1: this line is not a seal",
        "log/archive/SHA256SUMS:2: this line is not finished",
        "log/archive/000001.jsonl: the seal of this segment is missing",
    ]
    assert store.repair() == ["log/archive/000001.jsonl: sealed as it is now"]
    assert sums.read_bytes() == whole
    (kept,) = (data for name, data in files_of(tmp_path).items() if name.endswith("archive.SHA256SUMS"))
    assert kept == first[:-1] + b"\n" + second
    assert errors(store) == []
    sums.write_bytes(whole + b"\n")
    assert errors(store) == ["log/archive/SHA256SUMS:3: this line is not a seal"]
    assert store.repair() == ["log/archive/SHA256SUMS: written again"]
    assert sums.read_bytes() == whole
    store.close()


def test_a_seal_of_a_wrong_name_makes_no_segments(tmp_path: Path) -> None:
    store = filled(tmp_path)
    given = [line.record for line in store.read("journal")]
    sums = tmp_path / "log/archive/SHA256SUMS"
    whole = sums.read_bytes()
    sums.write_bytes(whole.replace(b"000001.jsonl", b"400001.jsonl"))
    assert errors(store) == [
        "log/archive/400001.jsonl: a seal names this segment, which never existed",
        "log/archive/000001.jsonl: the seal of this segment is missing",
    ]
    assert store.repair() == ["log/archive/000001.jsonl: sealed as it is now"]
    assert sums.read_bytes() == whole
    assert [line.record for line in store.read("journal")] == given
    assert errors(store) == store.repair() == []
    store.close()


def test_a_file_of_a_wrong_number_does_not_hide_the_others(tmp_path: Path) -> None:
    store = filled(tmp_path)
    given = [line.record for line in store.read("journal")]
    stray = tmp_path / "log/archive/900000000.jsonl"
    stray.write_bytes(b"")
    problems: list[Problem] = []
    sealed = [line.record for line in store.read("journal", on_problem=problems.append)]
    assert sealed == given
    assert [line.record for line in store.read_back("journal")] == given[::-1]
    gone = "log/archive/000003.jsonl: this segment and the 899999996 after it are missing"
    assert [str(problem) for problem in problems] == [gone]
    assert gone in errors(store)
    (sentence,) = store.repair()
    assert sentence.startswith("log/journal.jsonl: not repaired. 899999997 segments are missing before")
    stray.unlink()
    assert errors(store) == store.repair() == []
    store.close()


def test_a_segment_that_a_crash_left_without_a_seal_is_sealed_by_the_next_append(tmp_path: Path) -> None:
    store = filled(tmp_path)
    given = [line.record for line in store.read("journal")]
    (tmp_path / "log/journal.jsonl").rename(tmp_path / "log/archive/000003.jsonl")
    assert notes(store) == [
        "log/archive/000003.jsonl: note: this segment has no seal yet; the next append seals it"
    ]
    assert errors(store) == []
    assert [line.record for line in store.read("journal")] == given
    new = record_of("new")
    assert store.append("journal", [new]) == [Position(4, 0)]
    assert [line.record for line in store.read("journal")] == [*given, new]
    assert list(store.check()) == []
    store.close()


def test_a_torn_end_is_not_there_and_is_kept_before_it_is_cut(tmp_path: Path) -> None:
    def check(again: bool, torn: bytes) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        store = FileStore(folder)
        given = [record_of("one"), record_of("two")]
        store.append("traces/main", given[:1])
        active = folder / "log/traces/main/raw_traces.jsonl"
        with active.open("ab") as file:
            file.write(torn)
        if again:
            store.close()
            store = FileStore(folder)
        assert [line.record for line in store.read("traces/main")] == given[:1]
        assert [line.record for line in store.read_back("traces/main")] == given[:1]
        unfinished = "this record is not finished; the next append keeps a copy and cuts it"
        assert errors(store) == [f"log/traces/main/raw_traces.jsonl:{2 + torn.count(10)}: {unfinished}"]
        store.append("traces/main", given[1:])
        assert [line.record for line in store.read("traces/main")] == given
        (aside,) = (folder / "log/aside").iterdir()
        assert aside.read_bytes() == torn.lstrip(b"\n")
        assert errors(store) == []
        kept = "log/aside: note: a copy of displaced or cut bytes, kept for you; you may delete what you do not miss"
        assert notes(store)[-1:] == [kept]
        store.close()

    check_rows(
        check,
        product(
            [False, True],
            [
                b"garbage",
                b"\0" * 5000,
                b' {"id":"x"',
                b'{"id":"by hand"}',
                records.encode({"id": "whole"})[:-1],
                b"\n\n{",
            ],
        ),
    )


def test_a_damaged_last_record_is_cut_but_a_whole_one_glued_to_it_is_not(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    given = [record_of(number) for number in range(4)]
    store.append("traces/main", given[:3])
    store.close()
    active = tmp_path / "log/traces/main/raw_traces.jsonl"
    one, two, three, _ = active.read_bytes().split(b"\n")
    active.write_bytes(one + b"\n" + two + b"?" + three + b"\n")
    with FileStore(tmp_path) as store:
        store.append("traces/main", given[3:])
        assert [line.record for line in store.read("traces/main")] == given
        lines = list(store.read("traces/main"))
        for at, line in enumerate(lines):
            assert [each.record for each in store.read("traces/main", line.end)] == given[at + 1 :]
            assert [each.record for each in store.read_back("traces/main", line.position)] == given[:at][::-1]
    active.write_bytes(one + b"\n" + two + b"\n" + three[:-2] + b"?}\n")
    with FileStore(tmp_path) as store:
        store.append("traces/main", given[3:])
        assert [line.record for line in store.read("traces/main")] == [*given[:2], given[3]]
        assert [path.read_bytes() for path in (tmp_path / "log/aside").iterdir()] == [three[:-2] + b"?}\n"]


# --- what cannot be read is not empty --------------------------------------------------------


class UnreadableDisk(Disk):
    """A disk with bad sectors: nothing that is opened while `bad` is set can be read."""

    bad = False

    def __init__(self) -> None:
        super().__init__()
        self.read = self._read

    def _read(self, fd: int, count: int, /) -> bytes:
        if self.bad:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return os.read(fd, count)

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        if self.bad:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().pread(fd, count, offset)


def test_a_disk_that_cannot_be_read_is_never_an_empty_memory(tmp_path: Path) -> None:
    disk = UnreadableDisk()
    store = filled(tmp_path, disk)
    before = files_of(tmp_path)
    disk.bad = True
    for act in (
        lambda: store.get(PAGE),
        lambda: list(store.read("journal")),
        lambda: list(store.read_back("journal")),
        lambda: store.end("journal"),
        lambda: store.put(PAGE, b"x", base=None),
        lambda: FileStore(tmp_path, disk=disk).append("journal", [record_of("x")]),
    ):
        with pytest.raises(Refused, match=r"Input/output error"):
            act()
    problems = errors(store)
    for name in before:
        if name.startswith("log/") and name.endswith((".jsonl", ".json", ".md")):
            assert any(problem.startswith(f"{name}: {name} could not be read") for problem in problems), name
    assert all("Input/output error" in problem for problem in problems)
    repaired = store.repair()
    assert repaired
    assert all("not repaired" in sentence for sentence in repaired)
    disk.bad = False
    assert files_of(tmp_path) == before
    assert errors(store) == []
    store.close()


def swap(path: Path, kind: str) -> None:
    away = path.with_name(path.name + ".away")
    path.rename(away)
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(away)
    elif kind == "file":
        path.write_bytes(b"")
    else:
        os.mkfifo(path)


def test_something_else_in_the_place_of_a_log_file_is_told(tmp_path: Path) -> None:
    def check(kind: str, name: str) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        store = filled(folder)
        name = name.replace("BODY", hash_of(b"long " * 100_000))
        swap(folder / name, kind)
        before = files_of(folder)
        assert any(name in problem for problem in errors(store))
        if name.endswith(".jsonl"):
            for read in (store.read, store.read_back):
                with pytest.raises(Refused, match=r"symbolic link|not a regular file"):
                    list(read("journal"))
        store.repair()
        kept = files_of(folder)
        assert {path: kept.get(path) for path in before} == before
        assert any(name in problem for problem in errors(store))
        store.close()

    check_rows(
        check,
        some(
            [
                *product(
                    ["folder", "link", "fifo"],
                    [
                        "log/journal.jsonl",
                        "log/archive/000001.jsonl",
                        "log/archive/SHA256SUMS",
                        "log/bodies/BODY",
                        "log/entries/tea/e1/meta.json",
                    ],
                )
            ],
            6,
        ),
    )


def test_something_else_in_the_place_of_a_log_folder_is_told(tmp_path: Path) -> None:
    def check(kind: str, name: str) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        store = filled(folder)
        swap(folder / name, kind)
        stream = "journal" if name == "log/archive" else "traces/main"
        with pytest.raises(Refused, match=r"symbolic link|not a folder"):
            list(store.read(stream))
        assert any(problem.path.startswith(name) for problem in store.check())
        assert any("not repaired" in sentence for sentence in store.repair()) or name == "log/traces/main"
        store.close()

    check_rows(
        check, product(["file", "link"], ["log/archive", "log/traces/main", "log/traces/main/archive"])
    )


def test_a_check_goes_on_past_a_folder_that_is_none(tmp_path: Path) -> None:
    def check(kind: str, name: str) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        store = filled(folder)
        swap(folder / name, kind)
        with (folder / "log/journal.jsonl").open("ab") as file:
            file.write(b"torn")
        (folder / "log/staged/left.put").write_bytes(b"")
        problems = list(store.check())
        assert any(problem.severity == "error" and name in str(problem) for problem in problems)
        assert any(problem.path == "log/staged/left.put" for problem in problems)
        assert any("not finished" in problem.message for problem in problems)
        store.close()

    check_rows(
        check,
        product(["file", "link"], ["log/traces", "log/prompts", "log/entries", "log/bodies", "log/aside"]),
    )


def test_what_is_no_stream_is_passed_over(store: FileStore, tmp_path: Path) -> None:
    store.append("traces/main", [record_of("x")])
    store.append("prompts/main", [record_of("x")])
    for name in (
        "traces/.DS_Store",
        "traces/README.txt",
        "prompts/.hidden.jsonl",
        "prompts/archive/.DS_Store",
    ):
        path = tmp_path / "log" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    assert store.streams() == ["traces/main", "prompts/main"]
    assert notes(store) == [
        f"log/traces/{name}: note: this is not an agent's log, so it is not read"
        for name in (".DS_Store", "README.txt")
    ]
    assert errors(store) == store.repair() == []


# --- where the system can do less --------------------------------------------------------------


class OldDisk(Disk):
    """A kernel without renameat2."""

    def __init__(self) -> None:
        super().__init__()
        self._lacking = {1, 2}


class TestFileStoreOnAnOldKernel(StoreContract):
    @pytest.fixture
    def new_memory(self, tmp_path: Path) -> NewMemory:
        return new_folders(tmp_path, lambda folder: FileStore(folder, disk=OldDisk()))


@pytest.mark.parametrize("disk", [Disk, OldDisk])
def test_a_link_on_the_way_is_not_followed(tmp_path: Path, disk: type[Disk]) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "memory"
    outside.mkdir()
    inside.mkdir()
    (outside / "tea.md").write_bytes(b"secret")
    (inside / "facts").symlink_to(outside)
    (inside / "days").mkdir()
    (inside / "days/tea.md").symlink_to(outside / "tea.md")
    with FileStore(inside, disk=disk()) as store:
        for path in ("facts/tea.md", "days/tea.md"):
            for act in (
                lambda path=path: store.get(path),
                lambda path=path: store.put(path, b"x", base=hash_of(b"secret")),
                lambda path=path: store.delete(path, base=hash_of(b"secret")),
            ):
                with pytest.raises(Refused, match=r"symbolic link|not a folder"):
                    act()
    assert (outside / "tea.md").read_bytes() == b"secret"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("facts/Tea.md", "facts/tea.md"),
        ("facts/straße.md", "facts/STRASSE.md"),
        ("facts/ﬁ.md", "facts/fi.md"),
    ],
)
def test_a_name_that_some_systems_take_for_another_is_refused(store: FileStore, one: str, other: str) -> None:
    base = store.put(one, b"first", base=None)
    for record in (None, edit_of(other, None, b"second")):
        with pytest.raises(Refused, match="some systems take the two names for one"):
            store.put(other, b"second", base=None, record=record)
    assert [stat.path for stat in store.list("facts")] == [one]
    store.delete(one, base=base)
    store.put(other, b"second", base=None)


def test_both_spellings_of_an_accent_are_one_name(store: FileStore) -> None:
    store.put("facts/cafe\u0301.md", b"coffee", base=None)
    found = store.get("facts/caf\u00e9.md")
    assert found is not None
    assert (found.path, found.data) == ("facts/caf\u00e9.md", b"coffee")


# --- group commit ------------------------------------------------------------------------------


class CountingDisk(Disk):
    """Counts its syncs."""

    syncs = 0

    def sync_data(self, fd: int) -> None:
        self.syncs += 1
        super().sync_data(fd)


def test_threads_that_wait_share_one_sync(tmp_path: Path) -> None:
    disk = CountingDisk()
    with FileStore(tmp_path, disk=disk) as store:

        def write(writer: int, number: int) -> None:
            store.append("traces/main", [record_of([writer, number])])

        for number in range(10):
            before = disk.syncs
            writers = [threading.Thread(target=write, args=(writer, number)) for writer in range(8)]
            with store.lock():
                for thread in writers:
                    thread.start()
                while len(store._streams._waiting.get("traces/main", ())) < 8:
                    time.sleep(0.001)
            for thread in writers:
                thread.join()
            assert disk.syncs == before + 1
        found = sorted(line.record["content"] for line in store.read("traces/main"))
        assert found == sorted(record_of([w, n])["content"] for w in range(8) for n in range(10))
        before = disk.syncs
        store.append("traces/main", [record_of(number) for number in range(100)])
        assert disk.syncs == before + 1
        for number in range(10):
            store.append("traces/main", [record_of(number)])
        assert disk.syncs == before + 11


# --- a reader meets a writer ---------------------------------------------------------------------


class MeddlingDisk(Disk):
    """Lets somebody else do something in the middle: before its call number `at`."""

    def __init__(self, at: int, meddle: list[partial[None]]) -> None:
        super().__init__()
        self.calls = 0
        self.at = at
        self.meddle = meddle

    def _step(self) -> None:
        self.calls += 1
        if self.calls == self.at:
            for act in self.meddle:
                act()

    def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
        self._step()
        return super().open(root, path, flags, mode)

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        self._step()
        return super().pread(fd, count, offset)

    def fstat(self, fd: int) -> os.stat_result:
        self._step()
        return super().fstat(fd)

    def names(self, folder: int) -> list[str]:
        self._step()
        return super().names(folder)


def rotate(store: FileStore) -> None:
    store.rotate("journal")


def append(store: FileStore) -> None:
    store.append("journal", [record_of("new")])


MEDDLING: dict[str, list[Callable[[FileStore], None]]] = {
    "rotates": [rotate],
    "rotates and appends": [rotate, append],
    "rotates twice": [rotate, append, rotate],
    "cuts a torn end": [append],
}


@pytest.mark.parametrize("what", MEDDLING)
@pytest.mark.parametrize("back", [False, True], ids=["forwards", "backwards"])
def test_a_reader_sees_every_record_once_whatever_a_writer_does_meanwhile(
    tmp_path: Path, what: str, back: bool
) -> None:
    for at in itertools.count(1):
        folder = tmp_path / str(at)
        folder.mkdir()
        writer = FileStore(folder)
        given = [record_of(number) for number in range(4)]
        writer.append("journal", given[:2])
        writer.rotate("journal")
        writer.append("journal", given[2:])
        if what == "cuts a torn end":
            with (folder / "log/journal.jsonl").open("ab") as file:
                file.write(b"torn" * 20_000)
        disk = MeddlingDisk(at, [partial(act, writer) for act in MEDDLING[what]])
        with FileStore(folder, disk=disk) as reader:
            problems: list[Problem] = []
            lines = list(reader.read_back("journal"))[::-1] if back else None
            lines = lines or list(reader.read("journal", on_problem=problems.append))
        fired = disk.calls >= at
        assert [line.record for line in lines][:4] == given, f"call {at}"
        assert [line.record["content"] for line in lines][4:] in ([], ["new"]), f"call {at}"
        positions = {line.position: line.record for line in writer.read("journal")}
        assert {line.position: line.record for line in lines}.items() <= positions.items(), f"call {at}"
        assert problems == []
        writer.close()
        if not fired:
            break
    assert at > 10


def test_a_check_that_meets_a_rotation_finds_nothing_wrong(tmp_path: Path) -> None:
    for at in itertools.count(1):
        folder = tmp_path / str(at)
        folder.mkdir()
        writer = FileStore(folder)
        writer.append("journal", [record_of("one")])
        disk = MeddlingDisk(at, [partial(act, writer) for act in (rotate, append, rotate)])
        with FileStore(folder, disk=disk) as checker:
            assert errors(checker) == [], f"call {at}"
        writer.close()
        if disk.calls < at:
            break
    assert at > 10


# --- entries, and a repair that cannot be written ----------------------------------------------------


def test_an_entry_that_is_not_whole_is_told(tmp_path: Path) -> None:
    store = filled(tmp_path)
    entry = tmp_path / "log/entries/tea/e1"
    (entry / "raw.md").unlink()
    (entry / "meta.json").write_bytes(b'{"schema":\n"entry.v1"')
    (entry / "summary.json").write_bytes(b'["entry_summary.v1"]')
    assert errors(store) == [
        f"log/entries/tea/e1/raw.md: {MISSING_FILE}. {TO_DO[:-1]}",
        "log/entries/tea/e1/meta.json:2: this file is not JSON",
        "log/entries/tea/e1/summary.json: the schema of this file is not entry_summary.v1",
    ]
    store.close()


class FullDisk(Disk):
    full = False

    def __init__(self) -> None:
        super().__init__()
        self.write = self._write

    def _write(self, fd: int, data: Any, /) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(fd, data)


def test_a_repair_on_a_full_disk_changes_nothing_and_says_so(tmp_path: Path) -> None:
    disk = FullDisk()
    store = filled(tmp_path, disk)
    journal = tmp_path / "log/journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"another", b"changed"))
    before = files_of(tmp_path)
    disk.full = True
    with pytest.raises(Unwritten, match="No space left on device"):
        store.repair()
    assert files_of(tmp_path) == before
    disk.full = False
    assert store.repair() != []
    assert errors(store) == []
    store.close()


def test_a_stray_file_among_the_bodies_is_left_alone(tmp_path: Path) -> None:
    store = filled(tmp_path)
    stray = tmp_path / "log/bodies/.DS_Store"
    stray.write_bytes(b"stray")
    assert notes(store) == ["log/bodies/.DS_Store: note: this is not a body, so it is not read"]
    assert errors(store) == store.repair() == []
    assert stray.read_bytes() == b"stray"
    store.close()


@pytest.fixture
def remembering(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is in use; sweeps through faults switch it off (tests/workload.py)."""
    monkeypatch.setattr(segments, "RACY_NS", 100_000_000)


class ListedDisk(Disk):
    """Counts how often a folder is read."""

    listed = 0

    def names(self, folder: int) -> list[str]:
        self.listed += 1
        return super().names(folder)


@pytest.mark.usefixtures("remembering")
def test_an_archive_that_has_not_changed_is_not_listed_for_every_record(tmp_path: Path) -> None:
    disk = ListedDisk()
    archive = tmp_path / "log/traces/main/archive"
    with FileStore(tmp_path, disk=disk) as store:
        for _ in range(3):
            store.append("traces/main", [record_of("x")])
            store.rotate("traces/main")
        list(store.read("traces/main"))
        then = time.time() - 3600
        os.utime(archive, (then, then))  # changed long ago, as far as anybody can see; its other time is now
        listed = {"before": disk.listed}
        time.sleep(0.15)
        list(store.read("traces/main"))
        listed["learnt"] = disk.listed
        assert len(list(store.read("traces/main"))) == 3
        assert disk.listed == listed["learnt"]


def missed_by(store: FileStore, other: FileStore) -> int:
    """How often `store` does not see what `other` appended and sealed."""
    missed = 0
    for number in range(24):
        other.append("traces/main", [record_of(f"{number}")])
        missed += len(list(store.read("traces/main"))) != number + 1
        if number % 3 == 0:
            other.rotate("traces/main")
            if number % 2:
                time.sleep(0.12)  # long enough for the list to be remembered
        missed += store.end("traces/main") != other.end("traces/main")
    return missed


@pytest.mark.usefixtures("remembering")
def test_a_segment_that_another_process_sealed_is_seen_although_the_archive_is_known(tmp_path: Path) -> None:
    with FileStore(tmp_path) as store, FileStore(tmp_path) as other:
        assert missed_by(store, other) == 0


@pytest.mark.usefixtures("remembering")
def test_a_store_that_believes_its_list_for_ever_misses_some(tmp_path: Path) -> None:
    with FileStore(tmp_path) as store, FileStore(tmp_path) as other:
        store._segments._stat_archive = lambda archive: (0, 0, 0, 0)  # type: ignore[method-assign]
        assert missed_by(store, other) > 0
