"""JSON read from a stream, one member at a time: a file of a gigabyte takes the memory of its longest member.

A member that is not JSON, is nested too deeply or is too long is passed over and noted, and reading goes on after it.
Where the outer array or object breaks off, all whole members before that have been yielded.
"""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    from looseleaf.transfer.source import ImportSource, Note

LONGEST = 32 * 1024 * 1024
"""Characters of one member, or bytes of one line, that are read: no real talk is longer."""

_PIECE = 256 * 1024
_SPACE = re.compile(r"[ \t\r\n﻿]*")
_MARKS = re.compile(r'"|[{}\[\]]')
_IN_STRING = re.compile(r'["\\]')
_AFTER_SCALAR = re.compile(r"[,\]}]")
_NEAR = 16
"""Characters at the end of the text read so far, where an error may only mean that more is to come."""


def is_utf_16(head: bytes) -> bool:
    """True for the first bytes of JSON in UTF-16, with or without its mark."""
    return head[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(head) > 3 and head[:2].count(0) == 1)


class _Bad(Exception):
    """A value cannot be read; it has been passed over."""


class _Ended(Exception):
    """The stream ended, or is not JSON from here on."""


class JsonReader:
    """A reader of single values. `under`: the path of names to the array or object whose members are wanted."""

    def __init__(self, stream: BinaryIO, longest: int = LONGEST) -> None:
        self._stream = stream
        self._longest = longest
        self._decode = getincrementaldecoder("utf-8-sig")(errors="replace").decode
        self._scan = json.JSONDecoder(parse_constant=lambda _: None).raw_decode
        self._text = ""
        self._at = 0
        self._is_over = False
        self.is_utf_16: bool | None = None

    def members(self, under: tuple[str, ...] = ()) -> Iterator[tuple[str, Any, str | None]]:
        """Yield each member: its name (or number), its value, and its fault."""
        opening = self.opening()
        if opening not in (("{",) if under else ("{", "[")):
            raise _Ended
        self._at += 1
        number = 0
        while opening == "[" and self._has_more("]", is_first=number == 0):
            yield (str(number), *self._read_or_skip())
            number += 1
        for name in self._read_names() if opening == "{" else ():
            if not under:
                yield (name, *self._read_or_skip())
            elif name == under[0]:
                yield from self.members(under[1:])
                return
            else:
                self._skip_value()

    def _read_names(self) -> Iterator[str]:
        is_first = True
        while self._has_more("}", is_first=is_first):
            is_first = False
            name, wrong = self._read_or_skip()
            if wrong is not None or not isinstance(name, str) or self.opening() != ":":
                raise _Ended
            self._at += 1
            yield name

    def _has_more(self, closing: str, *, is_first: bool) -> bool:
        mark = self.opening()
        if mark == closing:
            self._at += 1
            return False
        if is_first and mark:
            return True
        if mark != ",":
            raise _Ended
        self._at += 1
        if self.opening() == closing:  # handmade files have a comma too many
            self._at += 1
            return False
        return True

    def opening(self) -> str:
        """Return the next character that is not white space; "" at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found is not None else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read_more(_PIECE):
                return ""

    def _read_more(self, size: int) -> bool:
        """Read on, and drop the text before this place."""
        if self._is_over:
            return False
        data = self._stream.read(size)
        self._is_over = not data
        if self.is_utf_16 is None:
            self.is_utf_16 = is_utf_16(data[:4])
        self._text = self._text[self._at :] + self._decode(data, not data)
        self._at = 0
        return True

    def _read_or_skip(self) -> tuple[Any, str | None]:
        try:
            return self._read_value(), None
        except _Bad as bad:
            self._skip_value()
            return None, str(bad)

    def _read_value(self) -> Any:
        self.opening()
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _NEAR
                if not is_cut or self._is_over:
                    raise _Bad(f"is not JSON ({error.msg})") from error
            except RecursionError as error:
                raise _Bad("is nested too deeply") from error
            except ValueError as error:
                raise _Bad("has a number that is too long") from error
            else:
                # A number may go on in the next piece: `1`, `1.`, `1.5e+`.
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                is_whole = self._is_over or not is_number or end <= len(self._text) - _NEAR
                if is_whole and end - self._at > self._longest:
                    break
                if is_whole:
                    self._at = end
                    return value
            held = len(self._text) - self._at
            if held > self._longest:
                break
            self._read_more(max(_PIECE, held))
        raise _Bad(f"is longer than {self._longest:,} characters")

    def _skip_value(self) -> None:
        """Skip to the end of a value by its brackets and strings alone, and keep nothing of it."""
        depth = 0
        first = self.opening()
        if first and first not in '{["':
            while self._at < len(self._text) or self._read_more(_PIECE):
                end = _AFTER_SCALAR.search(self._text, self._at)
                self._at = end.start() if end is not None else len(self._text)
                if end is not None:
                    return
            return
        while True:
            mark = _MARKS.search(self._text, self._at)
            if mark is None:
                self._at = len(self._text)
                if not self._read_more(_PIECE):
                    raise _Ended
                continue
            self._at = mark.end()
            if mark[0] == '"':
                self._skip_string()
            else:
                depth += 1 if mark[0] in "{[" else -1
            if depth <= 0:
                return

    def _skip_string(self) -> None:
        while True:
            mark = _IN_STRING.search(self._text, self._at)
            if mark is None or (mark[0] == "\\" and mark.end() == len(self._text)):
                self._at = len(self._text) if mark is None else mark.start()
                if not self._read_more(_PIECE):
                    raise _Ended
                continue
            self._at = mark.end() + (mark[0] == "\\")
            if mark[0] == '"':
                return


def members(
    stream: BinaryIO, note: Note, name: str, under: tuple[str, ...] = (), longest: int = LONGEST
) -> Iterator[tuple[str, Any]]:
    """Yield each member of the array or object in a stream (or of the one that `under` leads to) with its number or
    name. `name` is the file's, for the notes."""
    reader = JsonReader(stream, longest)
    try:
        yield from _valid_members(reader.members(under), note, name)
        if not under and reader.opening() not in ("", "\0"):
            note(f"{name} was not read to its end: more follows after the first array or object.")
    except _Ended:
        _note_end(reader, note, name)


def records(source: ImportSource, name: str, note: Note) -> Iterator[tuple[str, Any]]:
    """Yield the members of a file's list with their numbers; of one object, itself or its `conversations`."""
    with source.open(name) as stream:
        is_one = JsonReader(stream).opening() == "{"
    with source.open(name) as stream:
        if not is_one:
            yield from members(stream, note, name)
            return
        own = dict(members(stream, note, name))
    inner = own.get("conversations")
    if isinstance(inner, list):
        yield from ((str(number), each) for number, each in enumerate(inner))
    else:
        yield "", own


def concatenated(stream: BinaryIO, note: Note, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects that follow each other in a stream, numbered from 1: mostly one; many for JSON lines in a
    `.json` file."""
    reader = JsonReader(stream)
    number = 0
    while reader.opening() not in ("", "\0"):
        number += 1
        found: dict[str, Any] = {}
        try:
            found.update(_valid_members(reader.members(), note, name))
        except _Ended:
            _note_end(reader, note, name)
            if found:  # the whole members of an object that breaks off
                yield str(number), found
            return
        yield str(number), found


def _valid_members(
    found: Iterator[tuple[str, Any, str | None]], note: Note, name: str
) -> Iterator[tuple[str, Any]]:
    for key, value, wrong in found:
        if wrong is None:
            yield key, value
        else:
            note(f"{name}: {key[:80]!r} was passed over: it {wrong}.")
        del value  # it may be long, and so may the next


def _note_end(reader: JsonReader, note: Note, name: str) -> None:
    why = "it is UTF-16; save it as UTF-8" if reader.is_utf_16 else "it breaks off, or is not JSON there"
    note(f"{name} was not read to its end: {why}.")


def json_lines(stream: BinaryIO, note: Note, name: str, longest: int = LONGEST) -> Iterator[tuple[int, Any]]:
    """Yield the value of each line of JSON lines with its number, from 1, without empty lines."""
    for number, line in enumerate(raw_lines(stream, longest), 1):
        if line is None:
            note(f"{name}:{number} was passed over: the line is longer than {longest:,} bytes.")
        elif line.strip(b" \t\r\n\0"):
            try:
                yield number, json.loads(line.decode("utf-8-sig", "replace"), parse_constant=lambda _: None)
            except RecursionError:
                note(f"{name}:{number} was passed over: it is nested too deeply.")
            except ValueError:
                note(f"{name}:{number} was passed over: it is not JSON.")


def raw_lines(stream: BinaryIO, longest: int = LONGEST) -> Iterator[bytes | None]:
    """Yield lines without their ends; None for one that is too long."""
    held, is_over = b"", False
    while piece := stream.read(_PIECE):
        *whole, held = (held + piece).split(b"\n")
        for line in whole:
            yield None if is_over or len(line) > longest else line
            is_over = False
        if len(held) > longest:
            held, is_over = b"", True
    if held or is_over:
        yield None if is_over else held
