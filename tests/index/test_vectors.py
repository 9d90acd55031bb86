"""Vectors on disk: an exact search, whatever was added, forgotten, torn or damaged, by whichever process."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf.base.errors import Busy, Refused, Unwritten
from looseleaf.base.values import sha256, text_hash
from looseleaf.index import nearest, vectors
from looseleaf.index.vectors import FileVectors, folder_name
from tables import check_rows
from vectors_contract import D, OpenVectors, VectorsContract, expected, some

numpy = pytest.importorskip("numpy", reason="the extra `semantic` is not installed")


def kept(folder: Path, count: int = 50) -> tuple[FileVectors, Any]:
    made, rows = FileVectors(str(folder), "model", D), some(count)
    assert made.add(range(1, count + 1), rows) == count
    return made, rows


def cosines_of(found: list[tuple[int, float]]) -> list[float]:
    return [score for _, score in found]


class TestVectorsInFiles(VectorsContract):
    @pytest.fixture
    def open_vectors(self, place: Path) -> OpenVectors:
        return lambda name="model", dimensions=None: FileVectors(str(place), name, dimensions)


# --- the hash ------------------------------------------------------------------------


@given(st.text())
def test_a_hash_of_a_text_is_64_bits_and_never_that_of_a_free_row(text: str) -> None:
    assert text_hash(text) != 0
    assert -(2**63) <= text_hash(text) < 2**63
    assert text_hash(text) == text_hash(text)


def test_half_a_surrogate_pair_has_a_hash_too() -> None:
    assert text_hash("\ud800") != text_hash("\ud801")


@given(st.text(), st.text())
def test_two_models_never_share_a_folder_and_no_name_leads_elsewhere(one: str, other: str) -> None:
    one, other = (name.encode("utf-8", "replace").decode() for name in (one, other))
    assert (folder_name(one) == folder_name(other)) == (one == other)
    assert not set(folder_name(one)) & set("/\\\0:")
    assert not folder_name(one).startswith(".")


# --- searching -----------------------------------------------------------------------


@given(st.integers(1, 300), st.integers(1, 40), st.integers(0, 9), st.booleans())
def test_a_search_finds_what_a_plain_product_finds(count: int, top: int, seed: int, scan: bool) -> None:
    rows = some(count, seed)
    rows[: count // 3] = rows[0]  # equal ones: the bounds are met exactly
    query = some(1, seed + 100)[0]
    coarse, marks = nearest.quantize(rows)
    marks["hash"] = numpy.arange(1, count + 1)
    table = nearest.Table(rows, coarse, marks, lambda *_: None)
    found = (
        nearest.scan_rows(table, query, top, plain_product) if scan else nearest.nearest(table, query, top)
    )
    assert found[1].tolist() == pytest.approx(expected(rows, query, top), abs=1e-5)
    assert (rows[found[0]] @ query).tolist() == pytest.approx(found[1].tolist(), abs=1e-5)
    assert len(set(found[0].tolist())) == min(top, count)


def plain_product(rows: Any, one: Any) -> Any:
    return rows.astype(numpy.int32) @ one[0].astype(numpy.int32)


@given(st.integers(0, 50))
def test_no_cosine_is_above_what_its_int8_row_allows(seed: int) -> None:
    rows, query = some(64, seed), some(1, seed + 1000)
    (scan, marks), (one, mark) = nearest.quantize(rows), nearest.quantize(query)
    about = plain_product(scan, one) * marks["scale"] * mark["scale"]
    margin = marks["slack"] * (1 + mark["slack"]) + mark["slack"] + nearest.ROUNDING
    assert (numpy.abs(rows @ query[0] - about) <= margin).all()


def test_int8_rows_spare_most_of_the_float32_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, query, read = some(20_000, dimensions=64), some(1, 1, 64)[0], []
    coarse, marks = nearest.quantize(rows)
    marks["hash"] = 1
    exactly = nearest.nearest_of

    def counted(table: Any, query: Any, top: int, places: Any) -> Any:
        read.append(len(places))
        return exactly(table, query, top, places)

    monkeypatch.setattr(nearest, "nearest_of", counted)
    nearest.scan_rows(nearest.Table(rows, coarse, marks, lambda *_: None), query, 10, plain_product)
    assert sum(read) < 1000


@pytest.mark.parametrize("scan", [False, True])
def test_the_best_of_many_blocks_are_found_and_free_rows_take_nobodys_place(scan: bool) -> None:
    rows, query = some(40_000, dimensions=8), some(1, 1, 8)[0]
    coarse, marks = nearest.quantize(rows)
    marks["hash"] = 1 + numpy.arange(len(rows))
    gone = rows @ query > 0
    rows[gone], coarse[gone], marks["hash"][gone] = 0, 0, 0
    table = nearest.Table(rows, coarse, marks, lambda *_: None)
    for top in (1, 20):
        found = (
            nearest.scan_rows(table, query, top, plain_product)
            if scan
            else nearest.nearest(table, query, top)
        )
        assert found[1].tolist() == pytest.approx(expected(rows[~gone], query, top), abs=1e-5)


def test_the_library_multiplies_as_numpy_does() -> None:
    pytest.importorskip("numkong", reason="the extra `semantic` is not installed")
    product = nearest.int8_product()
    assert product is not None
    rows = numpy.random.default_rng(0).integers(-127, 128, (500, 384)).astype(numpy.int8)
    assert (product(rows, rows[:1]) == plain_product(rows, rows[:1])).all()


def test_without_the_library_the_float32_rows_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, rows = kept(tmp_path)
    monkeypatch.setattr(nearest, "SCAN_FROM", 1)
    with_it = made.search(rows[7], 5)
    monkeypatch.setitem(sys.modules, "numkong", None)
    assert nearest.int8_product() is None
    assert cosines_of(made.search(rows[7], 5)) == pytest.approx(cosines_of(with_it), abs=1e-5)


# --- adding and forgetting -----------------------------------------------------------


def test_nothing_of_a_forgotten_row_stays_on_disk_and_its_place_is_used_again(tmp_path: Path) -> None:
    made, rows = kept(tmp_path)
    before = {name: os.path.getsize(os.path.join(made.path, name)) for name in ("rows", "scan", "marks")}
    assert made.forget([10, 11, 40]) == 3
    assert rows[9].tobytes() not in Path(made.path, "rows").read_bytes()
    assert (made.forget([0]), made.missing([0, 9, 10])) == (0, [0, 10])
    assert made.add([100, 101, 102], some(3, 5)) == 3
    assert before == {name: os.path.getsize(os.path.join(made.path, name)) for name in before}
    assert made.search(some(3, 5)[1], 1)[0][0] == 101


def test_rows_that_are_none_are_refused_and_change_nothing(tmp_path: Path) -> None:
    def check(hashes: list[int], matrix: list[Any], said: str) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        made, _ = kept(folder)
        before = {file.name: sha256(file.read_bytes()) for file in Path(made.path).iterdir()}
        with pytest.raises(Refused, match=said):
            made.add([each + 1000 for each in hashes], matrix)
        assert before == {file.name: sha256(file.read_bytes()) for file in Path(made.path).iterdir()}

    check_rows(
        check,
        [
            ([1], [[float("nan")] * D], "zero or not a number"),
            ([1], [[float("inf")] * D], "zero or not a number"),
            ([1], [[1e300] * D], "zero or not a number"),
            ([1], [[0.0] * D], "zero or not a number"),
            ([1, 2], [[1.0] * D], "a row for each of 2 texts"),
            ([1], [1.0] * D, "a row for each of 1 texts"),
            ([1], [[]], "a row for each of 1 texts"),
            ([1], [[1.0] * (D + 1)], "Give the other model another name"),
        ],
    )


def test_vectors_of_two_models_are_never_mixed(tmp_path: Path) -> None:
    made, _ = kept(tmp_path)
    other = FileVectors(str(tmp_path), "other")
    assert len(other) == 0
    os.rename(made.path, other.path)  # somebody renames the folder: its header knows better
    assert len(other) == 0
    assert other.add([1], some(1, 3, 8)) == 1
    assert other.dimensions == 8


# --- files ---------------------------------------------------------------------------


def test_the_files_are_the_owners_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = FileVectors(str(tmp_path / "vectors"), "model")
        made.add([1], some(1))
    finally:
        os.umask(before)
    for path in (Path(made.path).parent, Path(made.path), *Path(made.path).iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("torn", [1, 15, 4 * D + 3])
def test_a_torn_end_is_overwritten(tmp_path: Path, torn: int) -> None:
    made, rows = kept(tmp_path)
    for name in ("rows", "scan") + (("marks",) if torn < 16 else ()):
        with open(os.path.join(made.path, name), "ab") as file:
            file.write(b"\xff" * torn)
    again = FileVectors(str(tmp_path), "model", D)
    assert len(again) == 50
    assert again.add([51, 52], some(2, 9)) == 2
    assert len(again) == 52
    assert again.search(some(2, 9)[1], 1)[0][0] == 52
    assert again.search(rows[3], 1)[0][0] == 4


def shortened(path: Path, by: int | None) -> None:
    data = path.read_bytes()
    path.unlink()  # another file: the one that is mapped is never cut
    path.write_bytes(b"" if by is None else data[:-by])


def replaced(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data[:96]
    path.unlink()
    path.write_bytes(data[:96].replace(old, new) + data[96:])


def linked(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def without_size(path: Path) -> None:
    for name in ("rows", "scan", "marks"):
        replaced(path / name, D.to_bytes(4, "little"), bytes(4))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no marks": lambda path: (path / "marks").unlink(),
    "no rows": lambda path: (path / "rows").unlink(),
    "rows too short": lambda path: shortened(path / "rows", 4 * D),
    "int8 rows too short": lambda path: shortened(path / "scan", 1),
    "an empty file": lambda path: shortened(path / "marks", None),
    "another version": lambda path: replaced(path / "marks", b"vectors 1", b"vectors 2"),
    "another making": lambda path: (path / "rows").write_bytes(b"x" * 96 + (path / "rows").read_bytes()[96:]),
    "only half a header": lambda path: shortened(path / "marks", 50 * 16 + 50),
    "a link": lambda path: linked(path / "rows"),
    "no size": without_size,
}


def test_damage_is_dropped_and_made_again(tmp_path: Path) -> None:
    def check(damage: str) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        made, rows = kept(folder)
        DAMAGES[damage](Path(made.path))
        again = FileVectors(str(folder), "model", D)
        assert again.missing(range(1, 51)) == list(range(1, 51))
        assert (again.search(rows[0], 3), len(again)) == ([], 0)
        assert again.add(range(1, 51), rows) == 50
        assert again.search(rows[0], 1)[0][0] == 1
        assert made.search(rows[1], 1)[0][0] == 2  # also for who had the old ones open
        if damage == "a link":
            assert (folder / "elsewhere").stat().st_size == 96 + 50 * 4 * D  # what it led to was not touched

    check_rows(check, DAMAGES)


def test_a_damaged_row_is_not_found_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, rows = kept(tmp_path)
    with open(os.path.join(made.path, "rows"), "r+b") as file:
        file.seek(96 + 4 * D * 5)
        file.write(numpy.array([numpy.nan] * D + [numpy.inf] * D + [1e30] * D, dtype="<f4").tobytes())
    for scan_from in (1, 50_000):
        monkeypatch.setattr(nearest, "SCAN_FROM", scan_from)
        found = dict(made.search(numpy.abs(rows[0]), 50))
        assert set(found) == set(range(1, 51)) - {6, 7, 8}


DAMAGED_ROWS = {
    "rows": [b"\xff" * 4 * D, bytes(4 * D), numpy.full(D, 0.5, "<f4").tobytes()],
    "scan": [b"\x7f" * D],
    "marks": [numpy.array([(7, 1.0, 0.0)], dtype=nearest.MARK).tobytes()],
}


def test_a_damaged_row_counts_as_missing_and_is_overwritten(tmp_path: Path) -> None:
    def check(file: str, number: int) -> None:
        folder = Path(mkdtemp(dir=tmp_path))
        made, rows = kept(folder)
        damage = DAMAGED_ROWS[file][number]
        with open(os.path.join(made.path, file), "r+b") as opened:
            opened.seek(96 + len(damage) * 6)
            opened.write(damage)
        sizes = {name: os.path.getsize(os.path.join(made.path, name)) for name in ("rows", "scan", "marks")}
        assert made.missing(range(1, 51)) == [7]
        assert made.add(range(1, 51), rows) == 1
        assert made.missing(range(1, 51)) == []
        assert made.search(rows[6], 1)[0][0] == 7
        assert sorted(made.hashes()) == list(range(1, 51))
        assert sizes == {name: os.path.getsize(os.path.join(made.path, name)) for name in sizes}

    check_rows(check, [(file, each) for file, of in DAMAGED_ROWS.items() for each in range(len(of))])


def test_a_link_for_a_folder_is_refused(tmp_path: Path) -> None:
    made = FileVectors(str(tmp_path / "vectors"), "model")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "vectors").mkdir()
    os.symlink(tmp_path / "elsewhere", made.path)
    with pytest.raises(Refused, match="is a link"):
        made.add([1], some(1))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_disk_that_refuses_is_a_sentence(tmp_path: Path) -> None:
    made = FileVectors(str(tmp_path / "vectors"), "model")
    (tmp_path / "vectors").write_text("a file stands there", encoding="utf-8")
    for use in (lambda: made.add([1], some(1)), lambda: made.missing([1])):
        with pytest.raises(Unwritten, match="vectors is not a folder"):
            use()
    (tmp_path / "vectors").unlink()
    Path(made.path, "lock").mkdir(parents=True)
    with pytest.raises(Unwritten, match="Recall still searches by words"):
        made.add([1], some(1))
    assert made.missing([1]) == [1]


@pytest.mark.parametrize("which", ["views", "views/vectors"])
def test_a_link_anywhere_inside_is_refused_also_to_who_reads(tmp_path: Path, which: str) -> None:
    views = tmp_path / "views"
    made = FileVectors(str(views / "vectors"), "model", D, inside=str(views))
    made.add([1], some(1))
    os.rename(tmp_path / which, tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", tmp_path / which)
    for use in (lambda: made.add([2], some(1)), lambda: made.search(some(1)[0], 1), lambda: len(made)):
        with pytest.raises(Refused, match="is a link"):
            use()
    os.unlink(tmp_path / which)
    os.rename(tmp_path / "elsewhere", tmp_path / which)
    assert made.hashes() == [1]


def test_files_that_were_made_again_are_other_files(tmp_path: Path) -> None:
    made = FileVectors(str(tmp_path), "model")
    assert made.making == ""
    made.add([1], some(1))
    first = made.making
    made.add([2], some(1, 1))
    assert FileVectors(str(tmp_path), "model").making == made.making == first
    shutil.rmtree(made.path)
    assert made.making == ""
    made.add([1], some(1))
    assert made.making not in ("", first)


# --- at once -------------------------------------------------------------------------


def test_a_writer_waits_for_the_one_before_and_readers_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, rows = kept(tmp_path)
    with made._lock_files():
        assert made.search(rows[0], 1)[0][0] == 1
        monkeypatch.setattr(vectors, "_LOCK_SECONDS", 0.02)
        with pytest.raises(Busy, match="Another process has been writing"):
            FileVectors(str(tmp_path), "model", D).add([99], some(1))
    assert made.add([99], some(1)) == 1


WRITER = """
import sys, numpy
from looseleaf.index.vectors import FileVectors
made, number = FileVectors(sys.argv[1], "model", 16), int(sys.argv[2])
for each in range(30):
    row = numpy.zeros((1, 16)); row[0, number] = 1; row[0, 15] = 0.01 * each
    made.add([100 * number + each + 1], row)
"""


def test_what_processes_add_at_once_is_all_there_and_seen_by_who_reads(place: Path) -> None:
    made = FileVectors(str(place), "model", D)
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(place), str(number)]) for number in (1, 2)]
    seen = 0
    while any(process.poll() is None for process in running):
        assert len(made) >= seen
        seen = len(made)
    assert [process.returncode for process in running] == [0, 0]
    assert sorted(made.hashes()) == [100 * number + each + 1 for number in (1, 2) for each in range(30)]
    for number in (1, 2):
        query = numpy.zeros(D)
        query[number] = 1
        assert {each // 100 for each, _ in made.search(query, 30)} == {number}


FORKS = """
import os, signal, sys, time, numpy
from looseleaf.index import vectors
made = vectors.FileVectors(sys.argv[1], "model")
with made._lock_files():
    child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(0)
vectors._LOCK_SECONDS = 0.1
try:
    print(made.add([1], numpy.ones((1, 4))))
finally:
    os.kill(child, signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_that_was_forked_while_its_parent_wrote_keeps_nobody_from_writing(place: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS, place], capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("1\n", "")
