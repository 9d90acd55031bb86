"""Ends: what a stream had once is missed when it is gone, as far as a process remembered it (FORMAT §4.5)."""

from __future__ import annotations

import errno
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults import FaultyDisk
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.policy import Policy
from looseleaf.base.values import Position
from looseleaf.store import records as codec
from looseleaf.store.disk import Disk
from looseleaf.store.ends import Point, thin
from looseleaf.store.files import FileStore
from looseleaf.store.streams import stream_files
from store_contract import record_of

if TYPE_CHECKING:
    from looseleaf.base.values import Record

STREAMS = ("journal", "calls", "imports", "traces/main", "traces/other", "prompts/main")


def filled(folder: Path, stream: str = "traces/main", processes: int = 3, records: int = 10) -> list[Record]:
    """A stream that several processes wrote to, one after another."""
    made = [[record_of(f"word {at}") for at in range(records)] for _ in range(processes)]
    for own in made:
        with FileStore(folder) as store:
            for each in own:
                store.append(stream, [each])
    return [each for own in made for each in own]


def file_of(folder: Path, stream: str) -> Path:
    return folder / stream_files(stream)[0]


def told(folder: Path, stream: str = "traces/main") -> list[str]:
    """What opening says."""
    said: list[str] = []
    with FileStore(folder) as store:
        store.compare((stream,), said.append)
    return said


def errors(folder: Path) -> list[str]:
    with FileStore(folder) as store:
        return [str(each) for each in store.check() if each.severity == "error"]


def backs(folder: Path) -> list[Record]:
    with FileStore(folder) as store:
        return [line.record for line in store.read("journal") if line.record.get("kind") == "back"]


# --- what is noticed ---------------------------------------------------------------------


@pytest.mark.parametrize("stream", STREAMS)
def test_each_stream_that_loses_its_last_records_is_told_with_their_number(
    tmp_path: Path, stream: str
) -> None:
    filled(tmp_path, stream)
    assert (told(tmp_path, stream), errors(tmp_path)) == ([], [])
    file = file_of(tmp_path, stream)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-7]))
    (said,) = told(tmp_path, stream)
    assert said.startswith(
        f"{stream_files(stream)[0]} is older than before: 7 records are missing, recorded between "
    )
    (problem,) = errors(tmp_path)
    assert problem.startswith(
        f"{stream_files(stream)[0]}: this log is older than before: 7 records are missing"
    )


def test_a_log_that_is_deleted_is_told_though_nothing_of_it_is_there(tmp_path: Path) -> None:
    filled(tmp_path)
    shutil.rmtree(tmp_path / "log/traces")
    assert "30 records are missing" in told(tmp_path)[0]
    assert "30 records are missing" in errors(tmp_path)[0]


def test_a_record_removed_from_the_middle_is_told_though_the_end_is_there(tmp_path: Path) -> None:
    filled(tmp_path)
    file = file_of(tmp_path, "traces/main")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:4] + lines[5:]))
    assert "1 record is missing" in told(tmp_path)[0]
    assert "1 record is missing" in errors(tmp_path)[0]


def test_an_older_copy_is_told_though_new_records_made_it_longer_than_before(tmp_path: Path) -> None:
    filled(tmp_path, processes=1)
    file = file_of(tmp_path, "traces/main")
    old = file.read_bytes()
    filled(tmp_path, processes=1)
    size = file.stat().st_size
    file.write_bytes(old)
    (tmp_path / "views").rename(tmp_path / "aside")  # a program that knows nothing of this writes on
    filled(tmp_path, processes=2)
    shutil.rmtree(tmp_path / "views")
    (tmp_path / "aside").rename(tmp_path / "views")
    assert file.stat().st_size > size
    assert "10 records are missing" in told(tmp_path)[0]
    assert "10 records are missing" in errors(tmp_path)[0]


def test_what_was_remembered_before_a_forgetting_is_no_loss_when_older_views_are_put_back(
    place: Path,
) -> None:
    def talk(word: str) -> None:
        with Memory(place / "memory") as memory:
            memory.record(user=f"My {word} is called Nightingale.")
            memory.record(user=f"I like my {word}.")
            memory.distill()

    talk("boat")
    shutil.copytree(place / "memory/views", place / "older")
    shutil.copytree(place / "memory/log", place / "log")
    with Memory(place / "memory") as memory:
        assert memory.forget(match="Nightingale").id
    talk("horse")
    shutil.copytree(place / "memory/views", place / "newer")
    shutil.rmtree(place / "memory/views")
    shutil.copytree(place / "older", place / "memory/views")
    with Memory(place / "memory") as memory:
        assert memory.notes == []
        assert [str(each) for each in memory.check() if each.severity == "error"] == []
    for name, kept in (("log", "log"), ("views", "newer")):  # but that the log went back is told
        shutil.rmtree(place / f"memory/{name}")
        shutil.copytree(place / kept, place / f"memory/{name}")
    assert any("is older than before" in each for each in errors(place / "memory"))


def test_another_text_of_the_same_length_is_found_by_check(tmp_path: Path) -> None:
    filled(tmp_path)
    file = file_of(tmp_path, "traces/main")
    first, *rest = file.read_bytes().splitlines(keepends=True)
    record, _ = codec.decode(first[:-1])
    other = codec.encode({name: "WORD 0" if value == "word 0" else value for name, value in record.items()})
    assert (len(other), other != first) == (len(first), True)
    file.write_bytes(b"".join([other, *rest]))
    assert told(tmp_path) == []  # opening compares one line
    (problem,) = errors(tmp_path)
    assert "are not the ones that were there" in problem
    with FileStore(tmp_path) as store:
        assert len(store.repair()) == 1
    assert errors(tmp_path) == []


def sealed(folder: Path) -> Path:
    """A stream of three segments; its archive."""
    for _ in range(2):
        filled(folder, processes=1)
        with FileStore(folder) as store:
            store.rotate("traces/main")
    filled(folder, processes=1)
    return folder / "log/traces/main/archive"


@pytest.mark.parametrize("number", [1, 2])
def test_a_missing_sealed_segment_is_told_as_such(tmp_path: Path, number: int) -> None:
    (sealed(tmp_path) / f"00000{number}.jsonl").unlink()
    (said,) = told(tmp_path)
    assert (
        said.startswith("Segments are missing in log/traces/main/archive") or "is older than before" in said
    )
    assert any("missing" in each for each in errors(tmp_path))
    with FileStore(tmp_path) as store:
        store.repair()
    assert (told(tmp_path), errors(tmp_path)) == ([], [])


def test_an_archive_that_is_gone_with_its_seals_is_told(tmp_path: Path) -> None:
    shutil.rmtree(sealed(tmp_path))
    assert "log/traces/main/raw_traces.jsonl is older than before: records are missing" in told(tmp_path)[0]
    assert any("is older than before" in each for each in errors(tmp_path))


# --- what is not told --------------------------------------------------------------------


def test_records_of_several_processes_rotation_and_deleted_views_are_no_loss(tmp_path: Path) -> None:
    small = Policy(segment_bytes=600)
    for turn in range(12):
        with FileStore(tmp_path, small) as first, FileStore(tmp_path, small) as second:
            for store in (first, second, first):
                store.append("traces/main", [record_of(f"turn {turn}")])
        assert (told(tmp_path), errors(tmp_path)) == ([], [])
        if turn == 7:
            shutil.rmtree(tmp_path / "views")


def test_a_folder_that_nothing_was_remembered_of_is_taken_as_it_is(tmp_path: Path) -> None:
    filled(tmp_path)
    shutil.rmtree(tmp_path / "views")
    file = file_of(tmp_path, "traces/main")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-7]))
    assert (told(tmp_path), errors(tmp_path)) == ([], [])
    filled(tmp_path, processes=1, records=1)
    assert (tmp_path / "views/ends/traces/main.json").exists()


# --- told once, accepted once ------------------------------------------------------------


def test_a_loss_is_told_once_and_a_problem_until_repair_accepts_it(tmp_path: Path) -> None:
    given = filled(tmp_path)
    file = file_of(tmp_path, "traces/main")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-7]))
    said: list[str] = []
    with FileStore(tmp_path) as store:
        store.compare(("traces/main",), said.append)
        store.append("traces/main", [record_of("said next")])
    assert len(said) == 1
    (loss,) = backs(tmp_path)
    assert (loss["stream"], loss["missing"], loss["was"][2]) == ("traces/main", 7, given[-1]["id"])
    assert told(tmp_path) == []
    assert len(errors(tmp_path)) == 1
    with FileStore(tmp_path) as store:
        assert store.repair() == [
            "log/traces/main/raw_traces.jsonl: what is missing is accepted; the log counts as it is now"
        ]
        assert store.repair() == []
    assert (errors(tmp_path), told(tmp_path), len(backs(tmp_path))) == ([], [], 1)


def test_a_log_that_is_put_back_is_no_problem_any_more(tmp_path: Path) -> None:
    filled(tmp_path)
    file = file_of(tmp_path, "traces/main")
    whole = file.read_bytes()
    file.write_bytes(b"".join(whole.splitlines(keepends=True)[:-7]))
    with FileStore(tmp_path) as store:
        store.compare(("traces/main",), lambda sentence: None)
        store.append("journal", [record_of("another")])
    assert len(errors(tmp_path)) == 1
    file.write_bytes(whole)
    assert errors(tmp_path) == []


def test_two_processes_that_see_the_same_loss_journal_it_once(tmp_path: Path) -> None:
    filled(tmp_path)
    file = file_of(tmp_path, "traces/main")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-7]))
    with FileStore(tmp_path) as first, FileStore(tmp_path) as second:
        for store in (first, second):
            store.compare(("traces/main",), lambda sentence: None)
        for store in (first, second):
            store.append("traces/main", [record_of("said next")])
    assert len(backs(tmp_path)) == 1


@pytest.mark.parametrize("how", ["deleted", "replaced", "cut"])
def test_a_process_that_has_the_log_open_notices_that_its_own_records_went(tmp_path: Path, how: str) -> None:
    said: list[str] = []
    with FileStore(tmp_path) as store:
        store.compare((), said.append)
        for at in range(10):
            store.append("traces/main", [record_of(f"word {at}")])
        file = file_of(tmp_path, "traces/main")
        lines = file.read_bytes().splitlines(keepends=True)
        if how != "cut":
            file.unlink()
        if how != "deleted":
            file.write_bytes(b"".join(lines[:4]))
        store.append("traces/main", [new := record_of("said next")])
        assert [line.record for line in store.read("traces/main")][-1] == new
    assert len(said) == 1
    assert len(backs(tmp_path)) == 1
    assert told(tmp_path) == []


# --- the checksum and the points ---------------------------------------------------------


def test_the_checksum_covers_the_seals_and_the_bytes_of_the_segment(tmp_path: Path) -> None:
    filled(tmp_path)
    with FileStore(tmp_path) as store:
        store.rotate("traces/main")
        store.append("traces/main", [record_of("after")])
        sums = (tmp_path / "log/traces/main/archive/SHA256SUMS").read_bytes()
        data = file_of(tmp_path, "traces/main").read_bytes()
        assert store.sum("traces/main", Position(2, len(data))) == f"{crc32(data, crc32(sums)):08x}"
        first = (tmp_path / "log/traces/main/archive/000001.jsonl").read_bytes()
        assert store.sum("traces/main", Position(1, 100)) == f"{crc32(first[:100]):08x}"
        assert store.sum("traces/main", Position(2, len(data) + 1)) is None
        assert store.sum("traces/main", Position(7, 0)) is None


@given(st.lists(st.integers(1, 1_000_000), min_size=1, unique=True).map(sorted))
def test_of_many_points_a_few_are_kept_and_one_is_near_each_place(offsets: list[int]) -> None:
    points = [Point(Position(1, each), str(each), None, each) for each in offsets]
    kept = [each.position.offset for each in thin(points)]
    assert kept[-1] == offsets[-1]
    assert [each for each in offsets if each in kept] == kept
    assert len(kept) <= 22
    for dropped in set(offsets) - set(kept):  # the next one kept is at least half as far from the end
        after = min(each for each in kept if each > dropped)
        assert offsets[-1] - dropped < 2 * (offsets[-1] - after)


class CountingDisk(Disk):
    """A disk that counts what is read of open files."""

    read_bytes = 0

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        data = super().pread(fd, count, offset)
        self.read_bytes += len(data)
        return data


def test_opening_reads_one_block_of_a_log_however_long_it_is(tmp_path: Path) -> None:
    def read_at_opening(records: int) -> int:
        folder = tmp_path / str(records)
        folder.mkdir()
        with FileStore(folder) as store:
            store.append("traces/main", [record_of(f"word {at}") for at in range(records)])
        disk = CountingDisk()
        with FileStore(folder, disk=disk) as store:
            store.compare(("traces/main",), lambda sentence: None)
        return disk.read_bytes

    assert 0 < read_at_opening(20_000) == read_at_opening(2_000) <= 1 << 12


# --- at the edges --------------------------------------------------------------------------


def test_a_process_that_never_closes_is_remembered_now_and_then(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    for at in range(300):
        store.append("traces/main", [record_of(f"word {at}")])
    file = file_of(tmp_path, "traces/main")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:200]))
    assert "56 records are missing" in told(tmp_path)[0]
    store.append("traces/main", [record_of("said next")])
    store.close()
    assert len(backs(tmp_path)) == 1


def test_records_that_go_before_their_process_closes_are_journaled_then(tmp_path: Path) -> None:
    filled(tmp_path, processes=1)
    file = file_of(tmp_path, "traces/main")
    old = file.read_bytes()
    said: list[str] = []
    with FileStore(tmp_path) as store:
        store.compare(("traces/main",), said.append)
        store.append("traces/main", [record_of("the last")])
        file.write_bytes(old)
    assert (len(said), len(backs(tmp_path))) == (1, 1)
    assert told(tmp_path) == []


@pytest.mark.parametrize("view", [b"", b"damage\n", codec.encode({"schema": "ends.v9", "points": []})])
def test_a_view_that_cannot_be_read_is_made_again(tmp_path: Path, view: bytes) -> None:
    filled(tmp_path)
    file = tmp_path / "views/ends/traces/main.json"
    file.write_bytes(view)
    assert (told(tmp_path), errors(tmp_path)) == ([], [])
    filled(tmp_path, processes=1)
    assert codec.whole(file.read_bytes())["schema"] == "ends.v1"
    assert (told(tmp_path), errors(tmp_path)) == ([], [])


def test_something_else_in_the_place_of_the_views_costs_no_record(tmp_path: Path) -> None:
    (tmp_path / "views").mkdir()
    (tmp_path / "views/ends").write_text("mine")
    filled(tmp_path)
    assert (told(tmp_path), errors(tmp_path)) == ([], [])
    with FileStore(tmp_path) as store:
        assert store.repair() == []
        assert len(list(store.read("traces/main"))) == 30
    assert (tmp_path / "views/ends").read_text() == "mine"


def test_a_place_behind_a_segment_without_a_seal_has_no_checksum(tmp_path: Path) -> None:
    sums = sealed(tmp_path) / "SHA256SUMS"
    sums.write_bytes(sums.read_bytes().splitlines(keepends=True)[0])
    with FileStore(tmp_path) as store:
        assert store.sum("traces/main", Position(3, 10)) is None
        assert store.sum("traces/main", Position(2, 10)) is not None


def test_a_file_among_the_ends_that_is_no_stream_s_is_left_alone(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "views/ends/unknown.json").write_text("mine")
    assert errors(tmp_path) == []


def test_a_disk_that_fails_while_a_checksum_is_made_is_refused_and_no_bare_error(tmp_path: Path) -> None:
    disk = FaultyDisk()
    with FileStore.make(tmp_path, disk=disk) as store:
        store.append("traces/main", [record_of("a")])
        position = Position(1, file_of(tmp_path, "traces/main").stat().st_size)
        whole = store.sum("traces/main", position)
        for call in range(1, 20):
            disk.arm(errno.EIO, call)
            with suppress(Refused):
                assert store.sum("traces/main", position) == whole
            fired = bool(disk.fired)
            disk.heal()
            if not fired:
                break
        assert call > 2
    assert not disk.open_handles
