"""Texts in columns of a terminal: how wide one is, cut to a width, filled up to one."""

from __future__ import annotations

from looseleaf.cli.output import plain

WIDTH = 100
"""Columns where nothing says how wide the terminal is."""
_NARROW, _WIDE = 60, 160


def columns(text: str) -> int:
    """The columns that a text takes: letters of East Asia take two, marks over a letter none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(each) else 1 + (east_asian_width(each) in "WF") for each in text)


def cell(text: str, width: int) -> str:
    """A text on one line, and in at most so many columns; it cannot steer the terminal."""
    line = plain(" ".join(text[: 8 * width].split()))
    if columns(line) <= width and len(text) <= 8 * width:
        return line
    left = width - 1
    for at, each in enumerate(line):
        left -= columns(each)
        if left < 0:
            return f"{line[:at]}…"
    return f"{line}…"


def filled(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def terminal_width() -> int:
    """Of a table that is made for it: one that is narrower or wider than these would not be read."""
    from shutil import get_terminal_size

    return min(max(get_terminal_size((WIDTH, 24)).columns, _NARROW), _WIDE)


def bar(part: int, whole: int, width: int = 24) -> str:
    """As long as a share: something that is there at all is seen."""
    return "━" * max(int(part > 0), round(width * part / whole)) if whole else ""
