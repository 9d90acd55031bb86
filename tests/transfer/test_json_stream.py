"""JSON from a stream, one member at a time: the same as all at once, whatever the pieces are and whatever is wrong."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf.transfer import json_stream
from looseleaf.transfer.json_stream import JsonReader, json_lines, members, raw_lines
from tables import check_rows

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def read(data: bytes, **how: Any) -> tuple[list[tuple[str, Any]], list[str]]:
    told: list[str] = []
    return list(members(io.BytesIO(data), told.append, "file", **how)), told


@pytest.fixture(params=[1, 7, 1 << 18])
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Read in pieces of so many bytes, so that each one ends anywhere."""
    monkeypatch.setattr(json_stream, "_PIECE", request.param)
    return int(request.param)


@given(value=st.lists(VALUES, max_size=6), is_plain=st.booleans(), indent=st.sampled_from([None, 2]))
@pytest.mark.parametrize("size", [1, 5, 64])
def test_an_array_is_read_as_if_at_once(
    value: list[Any], is_plain: bool, indent: int | None, size: int
) -> None:
    data = json.dumps(value, ensure_ascii=is_plain, indent=indent).encode("utf-8", "surrogatepass")
    before, json_stream._PIECE = json_stream._PIECE, size
    try:
        found, told = read(data)
    finally:
        json_stream._PIECE = before
    data = data.decode("utf-8", "replace").encode()
    assert found == [(str(number), each) for number, each in enumerate(json.loads(data))]
    assert told == []


@pytest.mark.usefixtures("piece")
def test_a_number_is_not_cut_where_a_piece_ends() -> None:
    def check(number: str) -> None:
        data = f"[null, {number}, {number}]".encode()
        assert read(data) == ([("0", None), ("1", json.loads(number)), ("2", json.loads(number))], [])

    check_rows(check, ["10.0", "1e+16", "-0.5E-3", "12345678901234567890", "0"])


@given(value=st.dictionaries(st.text(max_size=6), VALUES, max_size=6))
def test_an_object_is_read_as_if_at_once(value: dict[str, Any]) -> None:
    data = json.dumps(value).encode()
    assert read(data) == (list(json.loads(data).items()), [])


@given(other=VALUES, wanted=st.lists(VALUES, max_size=4))
def test_what_stands_under_a_name_is_found_and_the_rest_is_passed_over(other: Any, wanted: list[Any]) -> None:
    data = json.dumps({"other": other, "a": {"x": other, "b": wanted}, "last": other}).encode()
    assert read(data, under=("a", "b"))[0] == [(str(number), each) for number, each in enumerate(wanted)]


@pytest.mark.usefixtures("piece")
def test_a_member_that_cannot_be_read_is_told_and_the_others_are_given() -> None:
    deep = b"[" * 5000 + b"]" * 5000
    parts = [b"1", b'{"a": }', b'"two"', b"tru", deep, b"9" * 5000, b'{"b": "}]\\"{"}', b"nul", b"-1.5e3"]
    found, told = read(b"[" + b",".join(parts) + b"]")
    assert found == [("0", 1), ("2", "two"), ("6", {"b": '}]"{'}), ("8", -1500.0)]
    assert [each.partition(" was passed over: it ")[2] for each in told] == [
        "is not JSON (Expecting value).",
        "is not JSON (Expecting value).",
        "is nested too deeply.",
        "has a number that is too long.",
        "is not JSON (Expecting value).",
    ]


@pytest.mark.usefixtures("piece")
def test_a_member_that_is_longer_than_is_read_is_passed_over() -> None:
    long = json.dumps({"text": 'a"b\\' * 500}).encode()
    found, told = read(b'["x", ' + long + b', "y"]', longest=1000)
    assert found == [("0", "x"), ("2", "y")]
    assert told == ["file: '1' was passed over: it is longer than 1,000 characters."]


@pytest.mark.usefixtures("piece")
def test_what_breaks_off_gives_what_was_whole() -> None:
    def check(data: bytes, count: int) -> None:
        found, told = read(data)
        assert len(found) == count
        assert told[-1] == "file was not read to its end: it breaks off, or is not JSON there."

    check_rows(
        check,
        [
            (b"", 0),
            (b"12", 0),
            (b'"text"', 0),
            (b"[1, 2", 2),
            (b'[1, "half', 1),
            (b'{"a": 1, "b', 1),
            (b'{"a" 1}', 0),
            (b"{7: 1}", 0),
            (b"[1 2]", 1),
            (b'[1, {"a": [', 1),
        ],
    )


def test_small_slips_of_a_hand_are_forgiven() -> None:
    assert read(b"\xef\xbb\xbf [1, 2,]") == ([("0", 1), ("1", 2)], [])
    assert read(b'{"a": NaN,}') == ([("a", None)], [])
    assert read(b'["\xff"]') == ([("0", "\ufffd")], [])
    assert read(b"[]") == ([], [])
    assert read(b'{"a": 1}', under=("b",)) == ([], [])
    assert read(b"[1]", under=("b",))[1] != []
    assert JsonReader(io.BytesIO(b" \n[")).opening() == "["


@pytest.mark.usefixtures("piece")
def test_lines_are_read_one_by_one_and_bad_ones_are_named() -> None:
    told: list[str] = []
    data = b'\xef\xbb\xbf{"a": 1}\n\n  \r\nno\n' + b"[" * 5000 + b'\n"' + b"x" * 300 + b'"\n[2]'
    found = list(json_lines(io.BytesIO(data), told.append, "file", longest=10_000))
    assert found == [(1, {"a": 1}), (6, "x" * 300), (7, [2])]
    assert told == [
        "file:4 was passed over: it is not JSON.",
        "file:5 was passed over: it is nested too deeply.",
    ]


@pytest.mark.usefixtures("piece")
def test_a_line_that_is_too_long_is_passed_over_wherever_it_stands() -> None:
    long = b"x" * 500
    assert list(raw_lines(io.BytesIO(b"a\n" + long + b"\nb"), 100)) == [b"a", None, b"b"]
    assert list(raw_lines(io.BytesIO(long), 100)) == [None]
    assert list(raw_lines(io.BytesIO(b""), 100)) == []
    told: list[str] = []
    assert list(json_lines(io.BytesIO(long + b"\n1"), told.append, "file", 100)) == [(2, 1)]
    assert told == ["file:1 was passed over: the line is longer than 100 bytes."]


# --- memory --------------------------------------------------------------------------------

MEASURE = """
import resource, sys
from looseleaf.transfer.json_stream import members
from importing import conversation
import json

class Sparse:
    '''A file of so many bytes that is nowhere: conversations one after the other.'''
    def __init__(self, size):
        one = conversation("c", *[("user", "word \\u00e9 " * 400)] * 40)
        self.one = (json.dumps(one) + ",\\n").encode()
        self.left, self.held = size, b"["
    def read(self, size):
        while len(self.held) < size and self.left > 0:
            self.held += self.one
            self.left -= len(self.one)
            if self.left <= 0:
                self.held = self.held[:-2] + b"]"
        piece, self.held = self.held[:size], self.held[size:]
        return piece

told = []
count = sum(1 for _ in members(Sparse(int(sys.argv[1])), told.append, "file"))
print(json.dumps([count, told, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024]))
"""


def resident(size: int) -> tuple[int, int]:
    """How many conversations a process read of a file of that size, and its memory at most, in megabytes."""
    here = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(size)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": f"{here}:{here.parent / 'src'}"},
    )
    count, told, peak = json.loads(done.stdout)
    assert told == []
    return count, peak


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="measures resident memory")
def test_a_gigabyte_takes_no_more_memory_than_some_megabytes() -> None:
    few, small = resident(10_000_000)
    many, large = resident(1_000_000_000)
    print(f"\n{few} conversations: {small} MB, {many}: {large} MB")
    assert many > 90 * few
    assert large <= 300
    assert large < 1.5 * small
