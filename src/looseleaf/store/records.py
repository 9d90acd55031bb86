"""A record as one line of JSON that carries its own checksum (FORMAT §3).

The program writes a line as a space, then a JSON object whose last member is `"crc"`: CRC-32 of the object's bytes
without that member. This is plain JSONL: a JSON reader ignores the space. Here it means "this line had a checksum",
so that a line which lost it (and perhaps half its content) never passes for one written by hand. A damaged line is
never guessed at, but whole records beside the damage are found: damage costs only the records it hits.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from zlib import crc32

from looseleaf.base.errors import Invalid
from looseleaf.base.immutable import frozen
from looseleaf.base.values import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.store.root import Root

_KEY = b',"crc":"'
_TAIL_BYTES = 18  # ,"crc":"xxxxxxxx"}
_TAIL = rb',"crc":"[0-9a-f]{8}"\}'
# Compact JSON has a space only inside a string, where a quote ends the string and one of these four characters
# follows. So this matches where a record begins, and never inside a whole one.
_START = rb' \{"(?![,:\]}])'

_MAX_DEPTH = 100
"""How deep lists and objects may nest: fixed, because the depth that Python can read depends on its caller."""

_TEXT = frozenset({str})
_PLAIN = frozenset({str, int, float, bool, type(None)})

_options: dict[str, Any] = {"separators": (",", ":"), "allow_nan": False, "check_circular": False}
_readable = json.JSONEncoder(ensure_ascii=False, **_options)
_escaped = json.JSONEncoder(ensure_ascii=True, **_options)


class DamagedRecord(Exception):
    """This line is not a record; the message says why."""


def to_json(value: object) -> bytes:
    """Return compact JSON. Invalid Unicode (a lone surrogate) is escaped, so that it survives."""
    fault = _find_fault(value)
    if fault:
        raise _not_json_error(fault)
    return _to_json(value)


def _to_json(value: object) -> bytes:
    try:
        try:
            return _readable.encode(value).encode()
        except UnicodeEncodeError:
            return _escaped.encode(value).encode()
    except (TypeError, ValueError) as error:
        raise _not_json_error(str(error)) from error


def _find_fault(value: object) -> str | None:
    """Return what JSON would change or could not give back: keys that are not text, endless nesting."""
    waiting = [(value, 1)]
    while waiting:
        each, depth = waiting.pop()
        if depth > _MAX_DEPTH:
            return f"it nests more than {_MAX_DEPTH} deep"
        if isinstance(each, dict):
            if not _TEXT.issuperset(map(type, each)):
                for key in each:
                    if not isinstance(key, str):
                        return f"the key {key!r} is not text"
            each = list(each.values())
        if isinstance(each, (list, tuple)) and not _PLAIN.issuperset(map(type, each)):
            waiting += [(inner, depth + 1) for inner in each]
    return None


def _not_json_error(why: str) -> Invalid:
    return Invalid(
        f"The record was not written: JSON cannot hold it ({why}). "
        "Use text, finite numbers, true, false, null, lists and objects with text keys."
    )


def encode_new(record: Record) -> bytes:
    """Encode a caller's record; refuse the members that belong to the log."""
    if "crc" in record or "bodies" in record:
        raise Invalid("The record was not written: the members `crc` and `bodies` belong to the log itself.")
    return encode(record)


def encode(record: Record, length: int = 0) -> bytes:
    """Return the record as a line with its checksum, padded with spaces to `length` if shorter (FORMAT §17.2)."""
    if not record:
        raise Invalid("The record was not written: it is empty. Give it at least an id.")
    return _encode(to_json(record), length)


def encode_own(record: Record) -> bytes:
    """Encode a record of a view, which the program made of what it read: it is long, and not looked through first."""
    return _encode(_to_json(record))


def _encode(body: bytes, length: int = 0) -> bytes:
    if _KEY in body:  # an inner object could pass for a record: spell its key another way
        body = body.replace(_KEY, b',"\\u0063rc":"')
    missing = length - len(body) - _TAIL_BYTES - 1  # plus the space and the line end, minus the brace
    if missing > 0:
        body = body[:-1] + b" " * missing + b"}"
    return b' %b,"crc":"%08x"}\n' % (body[:-1], crc32(body))


def decode(line: bytes) -> tuple[Record, bool]:
    """Return the record of a line (without its line end), and whether it has a checksum."""
    ours = line.startswith(b" ")
    if line[-_TAIL_BYTES:-10] == b',"crc":"' and line[-2:] == b'"}':
        body = line[ours:-_TAIL_BYTES] + b"}"
        if not _is_crc(line[-10:-2], crc32(body)):
            raise DamagedRecord("its checksum does not match")
        return _parse_object(body), True
    if ours:
        raise DamagedRecord("its checksum is gone")
    record = _parse_object(line)
    if "crc" in record:
        raise DamagedRecord("its checksum is not the last member")
    return record, False


def _is_crc(digits: bytes, crc: int) -> bool:
    return digits == b"%08x" % crc


def _parse_object(body: bytes) -> Record:
    try:
        value = _decoder.decode(body.decode())
    except (ValueError, RecursionError) as error:
        raise DamagedRecord("it is not JSON") from error
    if not isinstance(value, dict):
        raise DamagedRecord("it is not a JSON object")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(name)  # NaN and infinities: Python reads them, JSON has none


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)


@frozen
class RecordPiece:
    """A part of a line: a record, or damage with its reason."""

    start: int
    end: int
    record: Record | None
    checked: bool
    reason: str = ""


def pieces(line: bytes) -> Iterator[RecordPiece]:
    """Yield what can be read of a line: normally one record; in a damaged line, each whole record.

    A damaged line end joins two records; a cut joins the rest of one to the next. There a record must begin as the
    program begins a line, and have its checksum: an object *inside* a record is content and never a record. No such
    object ends as a record does, so the next end is the record's own.
    """
    try:
        record, checked = decode(line)
    except DamagedRecord as damage:
        yield from _salvage(line, str(damage))
    else:
        yield RecordPiece(0, len(line), record, checked)


def _salvage(line: bytes, reason: str) -> Iterator[RecordPiece]:
    """Match each end with the last beginning before it: nothing inside a whole record looks like a beginning."""
    begin, tried = 0, -1
    starts = [found.start() for found in re.finditer(_START, line)]
    for tail in re.finditer(_TAIL, line):
        at = bisect_left(starts, tail.start()) - 1
        if at == tried or starts[at] < begin:  # a beginning belongs to the first end after it
            continue
        tried = at
        start, end = starts[at], tail.end()
        try:
            record, checked = decode(line[start:end])
        except DamagedRecord:
            continue
        if begin < start:
            yield RecordPiece(begin, start, None, False, reason)
        yield RecordPiece(start, end, record, checked)
        begin = end
    if begin < len(line):
        yield RecordPiece(begin, len(line), None, False, reason)


def whole(data: bytes) -> Record:
    """Return the record of a one-line file, such as a view; {} if it is damaged or has no checksum."""
    try:
        record, is_checked = decode(data.rstrip(b"\n"))
    except DamagedRecord:
        return {}
    return record if is_checked else {}


# --- bodies: a member too long for a line becomes a file named by its hash (FORMAT §3.4) -----

BODIES = "log/bodies"
HASH = r"[0-9a-f]{64}"
_SMALL = 1024
"""Shorter members always stay in the line: ids and times must be readable there."""


class Bodies:
    def __init__(self, root: Root, limit: int) -> None:
        self._root = root
        self._limit = limit

    def take_out(self, record: Record) -> Record:
        """Move the longest members to files until the rest fits; return the rest. The files are durable first."""
        sizes = {name: len(to_json(value)) for name, value in record.items()}
        total = sum(sizes.values())
        kept = dict(record)
        bodies: dict[str, dict[str, object]] = {}
        for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
            if total <= self._limit or sizes[name] < _SMALL:
                break
            data, form = _bytes_of(kept.pop(name))
            bodies[name] = {"sha256": self._keep(data), "bytes": len(data), "as": form}
            total -= sizes[name]
        if bodies:
            kept["bodies"] = bodies
        return kept

    def _keep(self, data: bytes) -> str:
        digest = sha256(data)
        path = f"{BODIES}/{digest}"
        found = self._root.read(path)
        if found is None or sha256(found) != digest:
            self._root.replace(path, data)
        else:  # its writer may have failed before the name was on disk
            self._root.make(BODIES)
            self._root.sync(BODIES)
        return digest

    def put_in(self, record: Record, log: str = "log") -> tuple[Record | None, str]:
        """Return the record of a log with its bodies, or None and the reason if one is missing or damaged.

        Raise Refused if a body exists and cannot be read: that may be no loss.
        """
        whole = {name: value for name, value in record.items() if name != "bodies"}
        try:
            for name, body in record["bodies"].items():
                digest = str(body["sha256"])
                if not re.fullmatch(HASH, digest):
                    return None, "it names a body by something that is not a hash"
                data = self._root.read(f"{log}/bodies/{digest}")
                if data is None:
                    return None, f"its body {digest} is missing"
                if sha256(data) != digest:
                    return None, f"its body {digest} is damaged"
                whole[name] = data.decode() if body["as"] == "text" else json.loads(data)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            return None, "its list of bodies makes no sense"
        return whole, ""


def _bytes_of(value: object) -> tuple[bytes, str]:
    """Return text as it is, so that people can read the file; other values, and broken text, as JSON."""
    if isinstance(value, str):
        try:
            return value.encode(), "text"
        except UnicodeEncodeError:
            pass
    return to_json(value), "json"
