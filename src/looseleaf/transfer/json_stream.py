"""JSON from a stream, one member at a time: a file of a gigabyte takes the memory of its longest member.

A member that is no JSON, nests too deep or is longer than is read is passed over and told; what follows it is read.
Where the outer array or object breaks off, what was whole before it has been given.
"""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    from looseleaf.transfer.source import Note

LONGEST = 32 * 1024 * 1024
"""Characters of one member, or bytes of one line, that are read; no talk that people have is longer."""

_PIECE = 256 * 1024
_SPACE = re.compile(r"[ \t\r\n﻿]*")
_MARKS = re.compile(r'"|[{}\[\]]')
_IN_STRING = re.compile(r'["\\]')
_NEAR = 16
"""Characters at the end of what is there, in which an error may only mean that more is to come."""


def is_utf_16(head: bytes) -> bool:
    """Whether bytes begin as JSON does in UTF-16, with or without its mark."""
    return head[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(head) > 3 and head[:2].count(0) == 1)


class _Bad(Exception):
    """The value that was asked for could not be read; it has been passed over."""


class _Ended(Exception):
    """The stream ended, or is no JSON from here on."""


class Reader:
    """Pulls values out of a stream. `under` names the way to the array or object whose members are wanted."""

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
        """Each member: its name (or number), its value, and what was wrong with it."""
        opening = self._next()
        if under:
            if opening != "{":
                raise _Ended
            self._at += 1
            for name in self._names():
                if name == under[0]:
                    yield from self.members(under[1:])
                    return
                self._pass_over()
            return
        if opening == "[":
            self._at += 1
            for number in self._numbers():
                yield (str(number), *self._value())
        elif opening == "{":
            self._at += 1
            for name in self._names():
                yield (name, *self._value())
        else:
            raise _Ended

    def opening(self) -> str:
        """The first character that is not white space; "" at the end."""
        return self._next()

    # --- structure ---------------------------------------------------------------------

    def _numbers(self) -> Iterator[int]:
        number = 0
        while self._more("]", is_first=number == 0):
            yield number
            number += 1

    def _names(self) -> Iterator[str]:
        is_first = True
        while self._more("}", is_first=is_first):
            is_first = False
            name, wrong = self._value()
            if wrong is not None or not isinstance(name, str) or self._next() != ":":
                raise _Ended
            self._at += 1
            yield name

    def _more(self, closing: str, *, is_first: bool) -> bool:
        mark = self._next()
        if mark == closing:
            self._at += 1
            return False
        if is_first and mark:
            return True
        if mark != ",":
            raise _Ended
        self._at += 1
        if self._next() == closing:  # a comma too many is what hand-made files have
            self._at += 1
            return False
        return True

    def _next(self) -> str:
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found is not None else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill(_PIECE):
                return ""

    def _fill(self, size: int) -> bool:
        """Read on; what lies behind is let go."""
        if self._is_over:
            return False
        data = self._stream.read(size)
        self._is_over = not data
        if self.is_utf_16 is None:
            self.is_utf_16 = is_utf_16(data[:4])
        self._text = self._text[self._at :] + self._decode(data, not data)
        self._at = 0
        return True

    # --- one value ---------------------------------------------------------------------

    def _value(self) -> tuple[Any, str | None]:
        try:
            return self._read_value(), None
        except _Bad as bad:
            self._pass_over()
            return None, str(bad)

    def _read_value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _NEAR
                if not is_cut or self._is_over:
                    raise _Bad(f"is no JSON ({error.msg})") from error
            except RecursionError as error:
                raise _Bad("nests too deep") from error
            except ValueError as error:
                raise _Bad("has a number that is too long") from error
            else:
                # A number may go on in what was not read yet: `1`, `1.`, `1.5e+`.
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                if self._is_over or not is_number or end <= len(self._text) - _NEAR:
                    if end - self._at > self._longest:
                        raise self._too_long()
                    self._at = end
                    return value
            held = len(self._text) - self._at
            if held > self._longest:
                raise self._too_long()
            self._fill(max(_PIECE, held))

    def _too_long(self) -> _Bad:
        return _Bad(f"is longer than {self._longest:,} characters")

    def _pass_over(self) -> None:
        """To where the value ends, by its brackets and strings alone; nothing of it is kept."""
        depth = 0
        first = self._next()
        if first and first not in '{["':
            self._pass_scalar()
            return
        while True:
            mark = _MARKS.search(self._text, self._at)
            if mark is None:
                self._at = len(self._text)
                if not self._fill(_PIECE):
                    raise _Ended
                continue
            self._at = mark.end()
            if mark[0] == '"':
                self._pass_string()
            else:
                depth += 1 if mark[0] in "{[" else -1
            if depth <= 0:
                return

    def _pass_string(self) -> None:
        while True:
            mark = _IN_STRING.search(self._text, self._at)
            if mark is None or (mark[0] == "\\" and mark.end() == len(self._text)):
                self._at = len(self._text) if mark is None else mark.start()
                if not self._fill(_PIECE):
                    raise _Ended
                continue
            self._at = mark.end() + (mark[0] == "\\")
            if mark[0] == '"':
                return

    def _pass_scalar(self) -> None:
        while self._at < len(self._text) or self._fill(_PIECE):
            while self._at < len(self._text):
                if self._text[self._at] in ",]}":
                    return
                self._at += 1


def members(
    stream: BinaryIO, note: Note, name: str, under: tuple[str, ...] = (), longest: int = LONGEST
) -> Iterator[tuple[str, Any]]:
    """Each member of the array or object in a stream (or of the one that stands there `under` names) with its number or
    name. `name` is the file's, for the notes."""
    reader = Reader(stream, longest)
    try:
        yield from _sound(reader.members(under), note, name)
        if not under and reader.opening() not in ("", "\0"):
            note(f"{name} was not read to its end: what follows the first array or object is no part of it.")
    except _Ended:
        _tell_end(reader, note, name)


def in_a_row(stream: BinaryIO, note: Note, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a stream, one after the other, with their numbers, from 1: mostly it is one; JSON lines that are
    called JSON are many."""
    reader = Reader(stream)
    number = 0
    while reader.opening() not in ("", "\0"):
        number += 1
        found: dict[str, Any] = {}
        is_whole = False
        try:
            found.update(_sound(reader.members(), note, name))
            is_whole = True
        except _Ended:
            _tell_end(reader, note, name)
        if found or is_whole:  # of one that breaks off, what was whole
            yield str(number), found
        if not is_whole:
            return


def _sound(found: Iterator[tuple[str, Any, str | None]], note: Note, name: str) -> Iterator[tuple[str, Any]]:
    for key, value, wrong in found:
        if wrong is None:
            yield key, value
        else:
            note(f"{name}: {key[:80]!r} was passed over, it {wrong}.")
        del value  # it may be long, and the next one as well


def _tell_end(reader: Reader, note: Note, name: str) -> None:
    why = "it is UTF-16; save it as UTF-8" if reader.is_utf_16 else "it breaks off, or is no JSON there"
    note(f"{name} was not read to its end: {why}.")


def lines(stream: BinaryIO, note: Note, name: str, longest: int = LONGEST) -> Iterator[tuple[int, Any]]:
    """The value of each line of JSON lines, with the line's number, from 1; empty lines are none."""
    for number, line in enumerate(raw_lines(stream, longest), 1):
        if line is None:
            note(f"{name}:{number} was passed over, the line is longer than {longest:,} bytes.")
        elif line.strip(b" \t\r\n\0"):
            try:
                yield number, json.loads(line.decode("utf-8-sig", "replace"), parse_constant=lambda _: None)
            except RecursionError:
                note(f"{name}:{number} was passed over, it nests too deep.")
            except ValueError:
                note(f"{name}:{number} was passed over, it is no JSON.")


def raw_lines(stream: BinaryIO, longest: int = LONGEST) -> Iterator[bytes | None]:
    """Lines without their ends; None for one that is longer than is read."""
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
