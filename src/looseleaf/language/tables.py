"""Word tables: the words and patterns of each language, in text files under `data/language/`.

A file has `[sections]`, each after an empty line. A line that begins with four blanks continues the one above; one that
begins with `#` is a comment. Only this module reads the files, each on first use and once.
"""

from __future__ import annotations

import os
from functools import cache

from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "language")


def read_lines(file: str, section: str, joined_by: str = " ") -> list[str]:
    """Return the lines of a section, each with the lines that continue it."""
    body = _read_sections(file)[section].replace("\n    ", joined_by)
    return [line for line in body.split("\n") if line and line[0] != "#"]


def read_words(file: str, section: str) -> list[str]:
    """Return all words of a section."""
    return " ".join(read_lines(file, section)).split()


@cache
def word_set(file: str, section: str) -> frozenset[str]:
    """Return all words of a section, as a set."""
    return frozenset(read_words(file, section))


@cache
def read_pairs(file: str, section: str) -> dict[str, str]:
    """Return `one/other` as {one: other}."""
    return dict(pair.split("/") for pair in read_words(file, section))


def read_keys(file: str, section: str) -> list[str]:
    """Return the keys of a section whose lines are `key: words`."""
    return [line[: line.index(":")] for line in read_lines(file, section)]


def read_rows(file: str, section: str) -> dict[str, list[str]]:
    """Return `key: words` as {key: words}."""
    rows = (line.partition(":") for line in read_lines(file, section))
    return {key: words.split() for key, _, words in rows}


def read_names(file: str, section: str) -> dict[str, str]:
    """Return `label: name | name` as {name: label}."""
    names: dict[str, str] = {}
    for line in read_lines(file, section):
        label, _, others = line.partition(":")
        names.update({name.strip(): label for name in others.casefold().split("|")})
    return names


@cache
def pattern_of(file: str, section: str, flags: int = 0) -> re.Pattern[str]:
    """Return a section as a pattern, read and compiled on first use."""
    return lazy(lambda: read_pattern(file, section), flags)


def read_pattern(file: str, section: str) -> str:
    """Return the lines of a section as alternatives, each `{name}` replaced by the pattern of that section."""
    return "|".join(read_patterns(file, section))


@cache
def read_patterns(file: str, section: str) -> list[str]:
    """Return each line of a section as a pattern of its own."""
    sections = _read_sections(file)

    def filled(line: str) -> str:
        first, *parts = line.split("{")
        for part in parts:
            name, _, rest = part.partition("}")
            first += read_pattern(file, name) + rest if name and name in sections else "{" + part
        return first

    return [filled(line) if "{" in line else line for line in read_lines(file, section, joined_by="")]


@cache
def _read_sections(file: str) -> dict[str, str]:
    """Return the text of each section; what comes before the first is under ""."""
    with open(os.path.join(_FOLDER, f"{file}.txt"), encoding="utf-8") as stream:
        head, *sections = f"\n\n{stream.read()}".split("\n\n[")
    parts = (section.partition("]\n") for section in sections)
    return {"": head} | {name: body for name, _, body in parts}
