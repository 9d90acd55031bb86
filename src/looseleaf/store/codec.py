"""A record as one line of JSON that carries its own checksum (FORMAT §3).

The last member of the object is `"crc"`: CRC-32 of the object's bytes without that member. The line stays
plain JSONL. A line that cannot be trusted is never guessed at; but records that stand whole beside damage
are found again, so that a hit costs the record it hit and no other.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

from looseleaf.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.values import Record

_CRC = b',"crc":"'
_TAIL_BYTES = len(_CRC) + 8 + 2  # ,"crc":"xxxxxxxx"}
_TAIL = re.compile(rb',"crc":"[0-9a-f]{8}"\}')
_HEX = re.compile(rb"[0-9a-f]{8}")

_options: dict[str, Any] = {"separators": (",", ":"), "allow_nan": False, "check_circular": False}
_readable = json.JSONEncoder(ensure_ascii=False, **_options)
_escaped = json.JSONEncoder(ensure_ascii=True, **_options)


class Damaged(Exception):
    """This line is no record; the message says what is wrong with it."""


def to_json(value: object) -> bytes:
    """Compact JSON. Text that is no valid Unicode (a lone surrogate) is escaped, so that it survives."""
    try:
        try:
            return _readable.encode(value).encode()
        except UnicodeEncodeError:
            return _escaped.encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(
            f"The record was not written: it holds something JSON cannot ({error}). "
            "Use text, finite numbers, true, false, null, lists and objects with text keys."
        ) from error


def encode(record: Record) -> bytes:
    """A record as a line with its checksum."""
    if not record:
        raise Refused("The record was not written: it is empty. Give it at least an id.")
    body = to_json(record)
    return b'%b,"crc":"%08x"}\n' % (body[:-1], crc32(body))


def decode(line: bytes) -> tuple[Record, bool]:
    """The record of a line (without its line end), and whether a checksum vouches for it."""
    if (
        line[-_TAIL_BYTES:-10] == _CRC
        and line[-2:] == b'"}'
        and _HEX.fullmatch(line, len(line) - 10, len(line) - 2)
    ):
        body = line[:-_TAIL_BYTES] + b"}"
        if crc32(body) != int(line[-10:-2], 16):
            raise Damaged("its checksum does not match")
        return _object(body), True
    record = _object(line)
    if "crc" in record:
        raise Damaged("its checksum is not the last member")
    return record, False


def _object(body: bytes) -> Record:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Damaged("it is not JSON") from error
    if not isinstance(value, dict):
        raise Damaged("it is not a JSON object")
    return value


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line: a record, or damage with its reason."""

    start: int
    end: int
    record: Record | None
    checked: bool
    reason: str = ""


def pieces(line: bytes) -> Iterator[Piece]:
    """What can be read of a line: normally one record; around damage, whatever stands whole.

    A line end that was hit glues two records; a cut glues the rest of one to the next. Only a record that
    begins where the last one ended, or that ends where the line ends, is believed: an object *inside* a
    record is somebody's content and never a record.
    """
    try:
        record, checked = decode(line)
    except Damaged as damage:
        yield from _salvage(line, str(damage))
    else:
        yield Piece(0, len(line), record, checked)


def _salvage(line: bytes, reason: str) -> Iterator[Piece]:
    begin = 0
    while True:
        front = _whole_front(line, begin)
        if front is None:
            break
        yield front
        begin = front.end
    back = _whole_back(line, begin)
    end = back.start if back is not None else len(line)
    if begin < end:
        yield Piece(begin, end, None, False, reason)
    if back is not None:
        yield back


def _whole_front(line: bytes, begin: int) -> Piece | None:
    for match in _TAIL.finditer(line, begin):
        piece = _try(line, begin, match.end())
        if piece is not None:
            return piece
    return None


def _whole_back(line: bytes, begin: int) -> Piece | None:
    if not _TAIL.fullmatch(line, max(begin, len(line) - _TAIL_BYTES)):
        return None
    start = line.find(b'{"', begin + 1)
    while start != -1:
        piece = _try(line, start, len(line))
        if piece is not None:
            return piece
        start = line.find(b'{"', start + 1)
    return None


def _try(line: bytes, start: int, end: int) -> Piece | None:
    try:
        record, checked = decode(line[start:end])
    except Damaged:
        return None
    return Piece(start, end, record, checked)
