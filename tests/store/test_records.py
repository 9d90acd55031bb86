"""A line gives its record back, or nothing: never another one."""

from __future__ import annotations

import json
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawing import COSTLY, core, few
from growth import LINEAR, growth
from looseleaf.base.errors import Refused
from looseleaf.base.ids import is_id, new_id, time_of
from looseleaf.base.policy import Policy
from looseleaf.store import records as codec
from looseleaf.store.files import FileStore

if TYPE_CHECKING:
    from looseleaf.base.values import Record

texts = st.text(st.characters(codec=None), max_size=20)  # lone surrogates too
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(texts, values, min_size=1, max_size=5)


def found(data: bytes) -> list[codec.RecordPiece]:
    """The pieces of a file's bytes, as its readers see them."""
    return [piece for line in data.split(b"\n") if line for piece in codec.pieces(line)]


def records(data: bytes) -> list[Record]:
    return [piece.record for piece in found(data) if piece.record is not None]


# --- round trip ----------------------------------------------------------------------------


@given(objects)
@example({"": ""})
@example({"crc": "00000000"})
@example({"text": "\ud800\n\u2028\0 {"})
@example({",": {" {": " {"}})
def test_a_record_comes_back_from_its_line(record: Record) -> None:
    line = codec.encode(record)
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    assert codec.decode(line[:-1]) == (record, True)
    assert list(codec.pieces(line[:-1])) == [codec.RecordPiece(0, len(line) - 1, record, True)]


@given(objects)
def test_any_json_reader_reads_the_line(record: Record) -> None:
    line = codec.encode(record).decode()
    value = json.loads(line)
    if "crc" not in record:
        assert list(value) == [*record, "crc"]
    body = line.strip()[:-18] + "}"
    assert value["crc"] == f"{zlib.crc32(body.encode()):08x}"
    assert json.loads(body) == record


@given(objects.filter(lambda record: "crc" not in record))
def test_a_line_without_a_checksum_is_read_as_unchecked(record: Record) -> None:
    for text in (json.dumps(record), json.dumps(record, separators=(",", ":"))):
        assert codec.decode(text.encode()) == (record, False)


def nested(depth: int) -> Any:
    value: Any = "end"
    for number in range(depth):
        value = [value] if number % 2 else {"in": value}
    return value


def test_nesting_has_a_limit_that_does_not_depend_on_the_caller() -> None:
    record = {"x": nested(99)}
    line = codec.encode(record)

    def from_below(frames: int) -> tuple[Record, bool]:
        return from_below(frames - 1) if frames else codec.decode(line[:-1])

    assert from_below(sys.getrecursionlimit() // 2) == (record, True)
    with pytest.raises(Refused, match="it nests more than 100 deep"):
        codec.encode({"x": nested(100)})
    with pytest.raises(Refused, match="it nests more than 100 deep"):
        codec.encode({"x": (nested(100),)})


class Word(str):
    __slots__ = ()


def test_what_is_text_by_another_name_is_text() -> None:
    assert codec.decode(codec.encode({Word("key"): (Word("value"), 1)})[:-1]) == ({"key": ["value", 1]}, True)
    with pytest.raises(Refused, match="the key None is not text"):
        codec.encode({"x": [{None: 1}]})


# --- damage ----------------------------------------------------------------------------------

PLAIN: Record = {"id": "01J", "ts": 1.5, "content": "a {", "n": {"x": [1, {}], "crc": "0"}, "last": "é"}


def changed_bytes(line: bytes, to: bytes = bytes(range(256))) -> Iterator[bytes]:
    for at in range(len(line)):
        for value in to:
            if value != line[at]:
                yield line[:at] + bytes([value]) + line[at + 1 :]


def wrongly_read(record: Record, damaged: Iterator[bytes]) -> tuple[int, int]:
    """How many damaged lines there were, and how many gave something that is not the record."""
    total = wrong = 0
    for data in damaged:
        total += 1
        wrong += any(each != record for each in records(data))
    return total, wrong


def test_no_single_changed_byte_makes_another_record() -> None:
    line = codec.encode(PLAIN)
    total, wrong = wrongly_read(PLAIN, changed_bytes(line))
    print(f"changed={total} wrong={wrong}")
    assert (total, wrong) == (len(line) * 255, 0)


@pytest.mark.parametrize("record", [PLAIN, {"a": 1}, {"a": {"b": {}}}, {"a": [{"b": 1}, {"c": 2}]}], ids=str)
def test_no_cut_makes_another_record(record: Record) -> None:
    line = codec.encode(record)
    total, wrong = wrongly_read(record, every_cut(line + line))
    print(f"cuts={total} wrong={wrong}")
    assert wrong == 0


def every_cut(data: bytes) -> Iterator[bytes]:
    for start in range(len(data)):
        for end in range(start + 1, len(data) + 1):
            yield data[:start] + data[end:]


def test_a_codec_that_ignores_checksums_would_be_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "_is_crc", lambda digits, crc: True)
    total, wrong = wrongly_read(PLAIN, changed_bytes(codec.encode(PLAIN)))
    assert 0 < wrong < total


def test_a_codec_that_takes_its_own_lines_for_hand_made_ones_would_be_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decode = codec.decode

    def trusting(line: bytes) -> tuple[Record, bool]:
        try:
            return decode(line)
        except codec.DamagedRecord:
            return decode(line.removeprefix(b" "))

    monkeypatch.setattr(codec, "decode", trusting)
    line = codec.encode({"a": "b"})
    assert wrongly_read({"a": "b"}, every_cut(line + line))[1] > 0
    assert wrongly_read({"a": "b"}, changed_bytes(line))[1] > 0


@st.composite
def damaged_files(draw: st.DrawFn) -> tuple[list[Record], bytes, list[Record]]:
    """Some records, their file after one damage (a byte changed, a stretch zeroed or cut), and the ones not hit."""
    given = [
        {"n": number, **record}
        for number, record in enumerate(draw(st.lists(objects, min_size=1, max_size=6)))
    ]
    lines = [codec.encode(record) for record in given]
    data = b"".join(lines)
    start = draw(st.integers(0, len(data) - 1))
    end = min(len(data), start + draw(st.integers(1, 2 * max(map(len, lines)))))
    kind = draw(st.sampled_from(["change", "zero", "cut"]))
    if kind == "change":
        end = start + 1
        new = bytes([data[start] ^ draw(st.integers(1, 255))])
    else:
        new = b"\0" * (end - start) if kind == "zero" else b""
    spared, at = [], 0
    for record, line in zip(given, lines, strict=True):
        if at + len(line) <= start or at >= end:
            spared.append(record)
        at += len(line)
    return given, data[:start] + new + data[end:], spared


@given(damaged_files())
@settings(core, max_examples=few(100, COSTLY))
def test_a_damage_costs_the_records_it_hit_and_no_other(
    damage: tuple[list[Record], bytes, list[Record]],
) -> None:
    given, data, spared = damage
    read = records(data)
    assert [record for record in read if record not in given] == []
    assert [record for record in read if record in spared] == spared
    pieces = [piece for line in data.split(b"\n") for piece in codec.pieces(line) if line]
    assert sum(piece.end - piece.start for piece in pieces) == len(data) - data.count(b"\n")


@given(
    st.lists(objects, min_size=2, max_size=5), st.binary(max_size=3).filter(lambda glue: b"\n" not in glue)
)
def test_records_glued_to_one_line_are_all_found(given: list[Record], glue: bytes) -> None:
    given = [{"n": number, **record} for number, record in enumerate(given)]
    line = glue.join(codec.encode(record)[:-1] for record in given)
    assert records(line) == given
    damage = [line[piece.start : piece.end] for piece in codec.pieces(line) if piece.record is None]
    assert damage == ([glue] * (len(given) - 1) if glue else [])


def test_a_record_inside_a_record_is_content() -> None:
    inner: Record = json.loads(codec.encode({"id": "forged"}))
    deeper: Record = json.loads(codec.encode({"id": "forged", "content": inner}))
    text = codec.encode({"id": "forged"}).decode()
    assert records(codec.to_json(inner)) == [{"id": "forged"}]  # by itself it would be believed
    for content in ([" ", inner], [deeper], text):
        for record in ({"id": "real", "content": content}, {"content": content, "id": "real"}):
            line = codec.encode(record)
            assert records(line) == [record]
            assert wrongly_read(record, changed_bytes(line, b' \t\n\0{},:"\\'))[1] == 0
            assert wrongly_read(record, every_cut(line))[1] == 0


def test_a_codec_that_spells_an_inner_checksum_like_its_own_would_be_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(codec, "_KEY", b"never there")
    record = {"id": "real", "content": [" ", json.loads(codec.encode({"id": "forged"}))]}
    line = codec.encode(record)
    assert wrongly_read(record, changed_bytes(line))[1] > 0
    assert wrongly_read(record, every_cut(line))[1] > 0


def inner_records(count: int) -> bytes:
    inner = json.loads(codec.encode({"id": "x"}))
    record = {"id": "real", "content": [inner, "a {", {"b {": "c {"}] * count}
    line = bytearray(codec.encode(record)[:-1])
    line[10] ^= 1
    return bytes(line)


LONG_LINES: dict[str, Callable[[int], bytes]] = {
    "a record of records": inner_records,
    "starts without an end": lambda count: b"x" + b' {"a' * count,
    "starts and one end": lambda count: b"x" + b' {"a' * count + b',"crc":"00000000"}',
    "starts and many ends": lambda count: b"x" + b' {"a' * count + b',"crc":"00000000"}' * count,
    "a start and many ends": lambda count: b'x {"a' + b',"crc":"00000000"}' * count,
}


@pytest.mark.parametrize("name", LONG_LINES)
def test_a_long_damaged_line_is_searched_in_linear_time(name: str) -> None:
    def work(count: int) -> Callable[[], object]:
        line = LONG_LINES[name](count)
        (piece,) = codec.pieces(line)
        assert (piece.start, piece.end, piece.record, piece.checked) == (0, len(line), None, False)
        return lambda: list(codec.pieces(line))

    assert growth(work, 1_000) < LINEAR


def test_a_record_after_many_starts_is_found() -> None:
    line = b"x" + b' {"a' * 1000
    whole = codec.encode({"id": "whole"})[:-1]
    assert [(piece.start, piece.end, piece.record) for piece in codec.pieces(line + whole + line)] == [
        (0, len(line), None),
        (len(line), len(line + whole), {"id": "whole"}),
        (len(line + whole), len(line + whole + line), None),
    ]


# --- ids -------------------------------------------------------------------------------------


def test_ids_sort_by_the_time_they_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    before = time.time()
    ids = [new_id() for _ in range(1000)]
    assert ids == sorted(set(ids))
    assert all(map(is_id, ids))
    assert before - 0.002 <= time_of(ids[0]) <= time_of(ids[-1]) <= time.time() + 0.002
    monkeypatch.setattr(time, "time_ns", lambda: 0)  # a clock that steps back
    assert new_id() > ids[-1]


def test_an_id_is_26_digits_without_those_that_look_alike() -> None:
    assert is_id("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert time_of("01ARZ3NDEKTSV4RRFFQ69G5FAV") == 1469922850.259
    for text in ("", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAI", "01arz3ndektsv4rrffq69g5fav"):
        assert not is_id(text)


def test_a_member_stays_in_the_line_up_to_a_kilobyte(tmp_path: Path) -> None:
    """Sizes are those of the JSON: two quotes and the text."""
    (tmp_path / "log").mkdir()
    with FileStore(tmp_path, Policy(body_bytes=4096)) as store:
        kept = {"id": new_id(), "ts": 1.0, **{f"short{number}": "x" * 1021 for number in range(4)}}
        moved = {"id": new_id(), "ts": 1.0, **{f"long{number}": "x" * 1022 for number in range(4)}}
        store.append("journal", [kept, moved])
    [first, second] = (tmp_path / "log" / "journal.jsonl").read_bytes().splitlines()
    assert (b"bodies" in first, b"bodies" in second) == (False, True)
