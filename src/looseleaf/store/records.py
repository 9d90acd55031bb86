"""A record as one line of JSON that carries its own checksum (FORMAT §3).

A line of the program is a space, then a JSON object whose last member is `"crc"`: CRC-32 of the object's bytes
without that member. It stays plain JSONL: to a JSON reader the space is nothing. To us it says "this line had a
checksum", so that a line which lost it (and perhaps half its content) is never taken for one that somebody made by
hand. A line that cannot be trusted is never guessed at; but records that stand whole beside damage are found
again, so that a hit costs the record it hit and no other.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from zlib import crc32

from looseleaf.base.errors import Refused
from looseleaf.base.hashing import sha256
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.store.root import Root

_KEY = b',"crc":"'
_TAIL_BYTES = 18  # ,"crc":"xxxxxxxx"}
_TAIL = rb',"crc":"[0-9a-f]{8}"\}'
# Compact JSON has a space only inside a string, and there a quote ends the string: what follows then is one of
# these four. So this finds where records begin, and nothing inside a whole one.
_START = rb' \{"(?![,:\]}])'

_MAX_DEPTH = 100
"""How deep lists and objects may nest. A fixed number, because how deep Python can read depends on its caller."""

_TEXT = frozenset({str})
_PLAIN = frozenset({str, int, float, bool, type(None)})

_options: dict[str, Any] = {"separators": (",", ":"), "allow_nan": False, "check_circular": False}
_readable = json.JSONEncoder(ensure_ascii=False, **_options)
_escaped = json.JSONEncoder(ensure_ascii=True, **_options)


class Damaged(Exception):
    """This line is no record; the message says what is wrong with it."""


# --- writing -----------------------------------------------------------------------------


def to_json(value: object) -> bytes:
    """Compact JSON. Text that is no valid Unicode (a lone surrogate) is escaped, so that it survives."""
    fault = _fault(value)
    if fault:
        raise _not_json(fault)
    try:
        try:
            return _readable.encode(value).encode()
        except UnicodeEncodeError:
            return _escaped.encode(value).encode()
    except (TypeError, ValueError) as error:
        raise _not_json(str(error)) from error


def _fault(value: object) -> str | None:
    """What JSON would change or could not give back: keys that are no text, nesting without end."""
    waiting = [(value, 1)]
    while waiting:
        each, depth = waiting.pop()
        if depth > _MAX_DEPTH:
            return f"it nests more than {_MAX_DEPTH} deep"
        if isinstance(each, dict):
            if not _TEXT.issuperset(map(type, each)):
                for key in each:
                    if not isinstance(key, str):
                        return f"the key {key!r} is no text"
            each = list(each.values())
        if isinstance(each, (list, tuple)) and not _PLAIN.issuperset(map(type, each)):
            waiting += [(inner, depth + 1) for inner in each]
    return None


def _not_json(why: str) -> Refused:
    return Refused(
        f"The record was not written: it holds something JSON cannot ({why}). "
        "Use text, finite numbers, true, false, null, lists and objects with text keys."
    )


def encode_new(record: Record) -> bytes:
    """Encode a caller's record; refuse the members that belong to the log."""
    if "crc" in record or "bodies" in record:
        raise Refused("The record was not written: the members `crc` and `bodies` belong to the log itself.")
    return encode(record)


def encode(record: Record, length: int = 0) -> bytes:
    """A record as a line with its checksum; with spaces before that, if the line is to be so long (FORMAT §17.2)."""
    if not record:
        raise Refused("The record was not written: it is empty. Give it at least an id.")
    body = to_json(record)
    if _KEY in body:  # an object within that could pass for a record: the same key, spelt in another way
        body = body.replace(_KEY, b',"\\u0063rc":"')
    missing = (
        length - len(body) - _TAIL_BYTES - 1
    )  # with the space before it and the line end, without its brace
    if missing > 0:
        body = body[:-1] + b" " * missing + b"}"
    return b' %b,"crc":"%08x"}\n' % (body[:-1], crc32(body))


# --- reading -----------------------------------------------------------------------------


def decode(line: bytes) -> tuple[Record, bool]:
    """The record of a line (without its line end), and whether a checksum vouches for it."""
    ours = line.startswith(b" ")
    if line[-_TAIL_BYTES:-10] == b',"crc":"' and line[-2:] == b'"}':
        body = line[ours:-_TAIL_BYTES] + b"}"
        if not _vouches(line[-10:-2], crc32(body)):
            raise Damaged("its checksum does not match")
        return _object(body), True
    if ours:
        raise Damaged("its checksum is gone")
    record = _object(line)
    if "crc" in record:
        raise Damaged("its checksum is not the last member")
    return record, False


def _vouches(digits: bytes, crc: int) -> bool:
    return digits == b"%08x" % crc


def _object(body: bytes) -> Record:
    try:
        value = _decoder.decode(body.decode())
    except (ValueError, RecursionError) as error:
        raise Damaged("it is not JSON") from error
    if not isinstance(value, dict):
        raise Damaged("it is not a JSON object")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(name)  # NaN and its like: Python reads them, JSON has none


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)


@frozen
class Piece:
    """A stretch of a line: a record, or damage with its reason."""

    start: int
    end: int
    record: Record | None
    checked: bool
    reason: str = ""


def pieces(line: bytes) -> Iterator[Piece]:
    """What can be read of a line: normally one record; around damage, whatever stands whole.

    A line end that was hit glues two records; a cut glues the rest of one to the next. Only what begins as the
    program begins a line, and has its checksum, is believed there: an object *inside* a record is somebody's
    content and never a record. No such object ends as a record does, so the next end is the one that counts.
    """
    try:
        record, checked = decode(line)
    except Damaged as damage:
        yield from _salvage(line, str(damage))
    else:
        yield Piece(0, len(line), record, checked)


def _salvage(line: bytes, reason: str) -> Iterator[Piece]:
    """Each end belongs to the last beginning before it: nothing inside a whole record looks like a beginning."""
    begin, tried = 0, -1
    starts = [found.start() for found in re.finditer(_START, line)]
    for tail in re.finditer(_TAIL, line):
        at = bisect_left(starts, tail.start()) - 1
        if at == tried or starts[at] < begin:  # and to a beginning belongs the first end after it
            continue
        tried = at
        start, end = starts[at], tail.end()
        try:
            record, checked = decode(line[start:end])
        except Damaged:
            continue
        if begin < start:
            yield Piece(begin, start, None, False, reason)
        yield Piece(start, end, record, checked)
        begin = end
    if begin < len(line):
        yield Piece(begin, len(line), None, False, reason)


def whole(data: bytes) -> Record:
    """The record of a file of one line, such as a view; nothing if it is not whole, or has no checksum."""
    try:
        record, is_checked = decode(data.rstrip(b"\n"))
    except Damaged:
        return {}
    return record if is_checked else {}


# Long texts beside the log: a member too long for a line becomes a file named by its hash (FORMAT §3.4).

BODIES = "log/bodies"
HASH = r"[0-9a-f]{64}"
_SMALL = 1024
"""Members shorter than this stay in the line however long it is: ids and times must be readable there."""


class Bodies:
    def __init__(self, root: Root, limit: int) -> None:
        self._root = root
        self._limit = limit

    def take_out(self, record: Record) -> Record:
        """The record with its longest members moved to files, until the rest fits. Files are durable first."""
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
        else:  # whoever put it there may have died, or failed, before its name was on disk
            self._root.make(BODIES)
            self._root.sync(BODIES)
        return digest

    def put_in(self, record: Record) -> tuple[Record | None, str]:
        """The record as it was given; None and the reason when one of its bodies is missing or damaged.

        Refused when a body is there and cannot be read: that is not known to be a loss.
        """
        whole = {name: value for name, value in record.items() if name != "bodies"}
        try:
            for name, body in record["bodies"].items():
                digest = str(body["sha256"])
                if not re.fullmatch(HASH, digest):
                    return None, "it names a body by something that is no hash"
                data = self._root.read(f"{BODIES}/{digest}")
                if data is None:
                    return None, f"its body {digest} is missing"
                if sha256(data) != digest:
                    return None, f"its body {digest} is damaged"
                whole[name] = data.decode() if body["as"] == "text" else json.loads(data)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            return None, "its list of bodies makes no sense"
        return whole, ""


def _bytes_of(value: object) -> tuple[bytes, str]:
    """Text as itself, so that a person can read the file; anything else, or broken text, as JSON."""
    if isinstance(value, str):
        try:
            return value.encode(), "text"
        except UnicodeEncodeError:
            pass
    return to_json(value), "json"
