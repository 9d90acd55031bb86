"""Places in a stream as numbers: the segment, and the byte in it."""

from __future__ import annotations

from looseleaf.base.values import Position

_SHIFT = 40
_MASK = (1 << _SHIFT) - 1

FIRST = 1 << _SHIFT
"""Where the first record of a stream begins: segment 1, byte 0."""


def pack(position: Position) -> int:
    return (position.segment << _SHIFT) | position.offset


def unpack(place: int) -> Position:
    return Position(place >> _SHIFT, place & _MASK)


def begin_of(segment: int) -> int:
    return segment << _SHIFT


def segment_of(place: int) -> int:
    return place >> _SHIFT


def byte_of(place: int) -> int:
    return place & _MASK
