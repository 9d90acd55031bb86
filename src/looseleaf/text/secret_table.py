"""The table of secrets, `data/secrets.txt`: which rows a text calls for, found without trying each one."""

from __future__ import annotations

import os
from functools import cache, cached_property

_FILE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "secrets.txt")

Row = tuple[str, str, str, str, str]
"""What it is (`prefixes`, `shapes`, `near` a word, `words`, `told`), kind, what must be there, pattern (of a prefix:
the characters that follow, and how many), conditions."""

Span = tuple[int, int, str]
"""Where a secret stands in a text, and its kind."""

_SPACE = "(?:[ +]|%20)"
_TYPED = r"(?:\\?[\"']([^\s\"'\\]{4,128})|(?=\S{0,60}?\d)([^\s\"'\\-][^\s\"'\\]{5,128}))"
_EDGE = (
    r"(?:(?<![\w-]%s)(?<![0-9a-f]{6}\]%s)|(?<=\\[nrt]%s)|(?<=%%[0-9A-Fa-f]{2}%s)|(?<=\\u[0-9A-Fa-f]{4}%s)"
    r"|(?<=\x1b\[\dm%s)|(?<=\x1b\[\d\dm%s))"
)
_GIVEN = (  # what stands between a word and a number that it gives
    r"(?:\s(?:for|of|to|on|für|zum|zur|der|des|von|pour|de|du|del|della|da|do|van|voor|dla|для|от)\s"
    r"[^\n:=,;\"'?!\[\d]{1,40}?)?(?:[\\\"'`\]*)]|&quot;|%22){0,4}(?:\s{0,3}(?::=|[:：=#]|%3[AaDd]|[–—-](?=\s))\s{0,3}"
    r"|\s{1,3}(?:is|was|are|equals|ist|lautet|war|est|es|era|é|è|to|jest|это)"
    r"(?:\s{1,3}(?:now|still|just|again|jetzt|nun|ahora|ora|agora|teraz))?:?\s{1,3}"
    r"|\s{0,2}(?:是|为|為|は|が|은|는)[:：]?\s{0,2})(?:[\\\"'`*“‘«「『(]|&quot;|%22){0,4}"
)
_DIGITS, _UPPER, _LOWER = b"0123456789", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz"
_ASCII = bytes(range(128))
_DULL = _LOWER + _DIGITS + b" \n\r\t\"',"
_CLASSES = bytes.maketrans(_DIGITS + _UPPER + _LOWER, b"0" * 10 + b"A" * 26 + b"a" * 26)
_TOKEN = _DIGITS + _UPPER + _LOWER + b"_-"
_TOKENS = bytes(ord("a") if sign in _TOKEN else ord(" ") for sign in range(256))
SIGNED = bytes(
    ord("!") if sign in b"!#$%&*?@^~" else ord("a") if sign in _TOKEN + b"." or sign > 127 else ord(" ")
    for sign in range(256)
)
"""For an outline of a text: the signs that password rules ask for, what else a password is made of, all others."""

_RUNS = bytes.maketrans(_DIGITS + _UPPER + _LOWER, b"a" * 62)
_SHORTEST = "a" * 16
"""No secret that is known by its prefix is shorter, with it."""

_DIGITLESS = 29
"""No secret that is known by its prefix is as short without a digit, unless it is all capitals, as keys of AWS are."""

_HALF = "a" * 8
"""A token as at random has such a run, whatever signs are in it."""


class SecretTable:
    """The rows, by what must be in a text for each."""

    def __init__(self, text: str) -> None:
        parts = text.split("\n[")[1:]
        sections = {name: body for name, _, body in (part.partition("]\n") for part in parts)}
        self.alphabets = dict(line.split(None, 1) for line in _lines(sections["alphabets"]))
        self._rows: list[tuple[str, Row]] = []
        self._prefixes = _lines(sections["prefixes"])
        self._ends: dict[str, list[Row]] = {}
        self._signs: dict[str, list[Row]] = {}
        self._runs: dict[str, list[Row]] = {}
        self._bare: dict[str, list[Row]] = {}
        self._gates: dict[str, list[Row]] = {}
        self._foreign: dict[int, list[tuple[str, Row]]] = {}
        self._numbers: dict[str, list[Row]] = {}
        for line in _lines(sections["shapes"]):
            kind, literals, check, pattern = line.split(None, 3)
            for each in literals.replace("␣", " ").split(","):
                gate, _, name = each.rpartition("&")
                section = "near" if name and gate[:1] == "~" else "shapes"
                self._add(gate, name, (section, kind, name, pattern, check))
        for line in _lines(sections["words"]):
            kind, each, pattern = line.split(None, 2)
            gate, _, name = each.rpartition("&")
            self._add(gate, name, ("words", kind, name, f"(?i){pattern}", ""))
        for line in _lines(sections["told"]):
            kind, literals = line.split()
            for each in literals.replace("␣", " ").split(","):
                gate, _, name = each.rpartition("&")
                self._add(gate, name, ("told", kind, name, "", ""))
        names = "|".join(" ".join(_lines(sections["services"])).split()).replace("␣", " ")
        self.services = rf"\b(?:{names})"
        self._token: Row = ("told", "token", "", "", "")
        self._password: Row = ("told", "password", "", "", "")

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """All kinds. Of two that claim the same text, the first names it."""
        return tuple(dict.fromkeys(row[1] for row in self.rows))

    @property
    def rows(self) -> list[Row]:
        """All rows, prefixes first; at the end the two that no word calls for, but the look of the text."""
        self._read_prefixes()
        rows = [row for _, row in self._rows] + [self._token, self._password]
        return sorted(rows, key=lambda row: row[0] != "prefixes")

    def rows_for(self, text: str) -> list[Row]:
        """Return what `find_suspects` must not miss, found slowly: all rows whose words are in the text."""
        both = text, text.lower()
        gates = {id(row): gate for gate, row in self._rows if gate.isalpha()}
        needed = ((row, (row[2], gates.get(id(row), ""))) for row in self.rows)
        return [row for row, words in needed if all(any(word in each for each in both) for word in words)]

    def _read_prefixes(self) -> None:
        """Read the rows that only long tokens need, on first use."""
        lines, self._prefixes = self._prefixes, []
        for line in lines:
            kind, literals, alphabet, size, *checks = line.split()
            for each in literals.split(","):
                self._add("#", each, ("prefixes", kind, each, f"{alphabet} {size}", " ".join(checks)))

    def _add(self, gate: str, name: str, row: Row) -> None:
        self._rows.append((gate, row))
        if gate[:1] == "~":
            self._numbers.setdefault(gate[1:], []).append(row)
        elif gate[:1] == "#" and gate != "#":
            self._runs.setdefault("a" * int(gate[1:]), []).append(row)
        elif not name.isascii():
            raw = name.encode()
            lead = next(byte for byte in raw if byte > 127)
            self._foreign.setdefault(lead, []).append((raw.decode("latin-1"), row))
        elif gate == "#" and name[-1] in "_-.":
            self._ends.setdefault(name[:-1].rsplit(name[-1], 1)[-1][-3:] + name[-1], []).append(row)
        else:
            sign = name.encode().translate(None, _DULL).decode()
            if gate == "#":
                self._signs.setdefault(sign, []).append(row)
            elif sign and not gate:
                self._bare.setdefault(sign, []).append(row)
            else:
                self._gates.setdefault(gate, []).append(row)

    def find_suspects(self, text: str) -> list[Row]:
        """Return the rows that the text calls for.

        Searching for each of some hundreds would take longer than all the rest. So most are looked up in the little of
        the text that is a long token with digits in it, or that stands before a number. All of it is done with a
        character for each byte: Python is slower with others.
        """
        data = text.encode("utf-8", "surrogatepass")
        low = data.lower().decode("latin-1")
        classes = data.translate(_CLASSES).decode("latin-1")
        rows = []
        for gate, gated in self._gates.items():
            if not gate or gate in (classes if gate[0] == "0" else low):
                rows += [row for row in gated if row[2] in low]
        bare = data.translate(None, _DULL).decode("latin-1")
        for sign, signed in self._bare.items():
            if sign in bare:
                rows += [row for row in signed if row[2] in text]
        if len(data) != len(text):
            for lead in {*data.translate(None, _ASCII)} & self._foreign.keys():
                rows += [row for name, row in self._foreign[lead] if name in low]
        if tokens := long_tokens(data):
            rows += self._find_in_tokens(tokens, low)
        if "000" in classes or "00 00" in classes:
            near, outlines = _around_numbers(data, classes)
            for gate, gated in self._numbers.items():
                if gate in outlines:
                    rows += [row for row in gated if row[2] in near]
        if "0" in classes and _has_signed(data):
            rows.append(self._password)
        return rows

    def _find_in_tokens(self, tokens: str, low: str) -> list[Row]:
        self._read_prefixes()
        ends = {part[-3:] + last for last in "_-." for part in tokens.split(last)[:-1]}
        ends |= {end[-3:] for end in ends}
        rows = [row for end in ends & self._ends.keys() for row in self._ends[end] if row[2] in tokens]
        data = tokens.encode()
        bare = data.translate(None, _DULL).decode()
        for sign, signed in self._signs.items():
            if sign in bare:
                rows += [row for row in signed if row[2] in (tokens if sign or row[0] == "prefixes" else low)]
        runs, small = data.translate(_RUNS).decode(), tokens.lower()
        for run, gated in self._runs.items():
            if run in runs:
                rows += [row for row in gated if row[2] in small]
        return [*rows, self._token] if _HALF in runs else rows


def long_tokens(data: bytes) -> str:
    """Return what is written without a break and could be random, with what stands before each."""
    classes = data.translate(_TOKENS).decode("latin-1")
    at, found = classes.find(_SHORTEST), []
    while at >= 0:
        end = classes.find(" ", at)
        end = end if end >= 0 else len(data)
        token = data[at:end]
        has_digits = len(token.translate(None, _DIGITS)) < len(token)
        if has_digits or token.isupper() or (end - at > _DIGITLESS and not token.islower()):
            found.append(data[max(0, at - 80) : end])
        at = classes.find(_SHORTEST, end)
    return b"\n".join(found).decode("ascii", "replace")


def _around_numbers(data: bytes, classes: str) -> tuple[str, str]:
    """Return what stands before each number, in small letters, and the outline of each."""
    words, outlines = [], []
    reach = 88 if data.isascii() else 200
    for number in ("000", "00 00"):
        at, done = classes.find(number), 0
        while at >= 0:
            words.append(data[max(done, at - reach) : at])
            outlines.append(classes[max(0, at - 20) : at + 24])
            done, at = at, classes.find(number, at + 4)
    return b"\n".join(words).decode("utf-8", "replace").lower(), "\n".join(outlines)


def _has_signed(data: bytes) -> bool:
    """Return quickly whether a sign stands within what could be a password."""
    outline, end = data.translate(SIGNED), 0
    while (at := outline.find(b"a!a", end)) >= 0:
        start, end = outline.rfind(b" ", end, at) + 1 or end, outline.find(b" ", at)
        end = end if end >= 0 else len(data)
        if end - start > 7 and data[start:end].translate(None, _DIGITS) != data[start:end]:
            return True
    return False


def _lines(body: str) -> list[str]:
    return [line for line in body.split("\n") if line and line[0] != "#"]


def expand(pattern: str) -> str:
    """Return the pattern of a shape as Python's `re` reads it."""
    start, edge, rest = pattern.partition("§")
    pattern = start + _EDGE % ((start,) * 7) + rest if edge else pattern
    return pattern.replace("␣", _SPACE).replace("¶", _TYPED).replace("⇒", _GIVEN)


@cache
def read_table() -> SecretTable:
    """Return the table, read on first use."""
    with open(_FILE, encoding="utf-8") as file:
        return SecretTable(file.read())
