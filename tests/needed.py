"""Which pieces of text a pattern needs: wherever it matches, one of them stands in the text, its letters made small.

    python tests/needed.py          writes core/needed.py anew, for all patterns of the package that are compiled late
    python tests/needed.py --check  ends with 1 if that would change it
    python tests/needed.py --list   all those patterns, as JSON

A pattern is taken apart by Python's own parser. Texts that it can only be as a whole are its pieces; of parts that
follow each other one set of pieces is enough, the one that is most telling; of alternatives all are needed. What may
be anything has none, and a set that is not sure is no set.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterable
from importlib import import_module
from itertools import product
from pathlib import Path
from pkgutil import walk_packages
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import looseleaf
from looseleaf.core.lazy import NOT_ASCII, SHORT, Lazy, name_of

Pieces = frozenset[str]

FILE = Path(looseleaf.__file__).parent / "core/needed.py"

HEAD = '''"""Which pieces of text the long patterns need (`core/lazy.py`). Written by tests/needed.py; not by hand."""

from __future__ import annotations

ROWS = """\\
'''

_TEXTS = 48
"""Texts that a part may be, for which it counts as known."""
_PIECES = 400
"""Pieces of one pattern: beyond, looking for them takes longer than compiling it."""
_LONGEST = 6
"""Letters of a piece: its beginning tells enough."""
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def needed(pattern: str, flags: int) -> Pieces | None:
    """The pieces, or None where none can be told."""
    return _needed(parser.parse(pattern, flags))


def _needed(parts: Iterable[tuple[Any, Any]]) -> Pieces | None:
    best: Pieces | None = None

    def offer(pieces: Pieces | None) -> None:
        nonlocal best
        if pieces and "" not in pieces:
            pieces = _fewest(pieces)
            if len(pieces) <= _PIECES and (best is None or _worth(pieces) > _worth(best)):
                best = pieces

    run = frozenset({""})
    for kind, value in parts:
        texts = _texts(kind, value)
        longer = frozenset(map("".join, product(run, texts))) if texts is not None else frozenset()
        if texts is not None and len(longer) <= _TEXTS:
            run = longer
        else:
            offer(run)
            run = texts if texts is not None else frozenset({""})
        if texts is None or kind is op.ASSERT:
            offer(_of_part(kind, value))
    offer(run)
    return best


def _of_part(kind: Any, value: Any) -> Pieces | None:
    if kind is op.SUBPATTERN:
        return _needed(value[3])
    if kind is op.ATOMIC_GROUP:
        return _needed(value)
    if kind is op.ASSERT:
        return _needed(value[1])
    if kind is op.BRANCH:
        found = [_needed(branch) for branch in value[1]]
        return None if None in found else frozenset[str]().union(*(each for each in found if each))
    if kind in _REPEATS and value[0] > 0:
        return _needed(value[2])
    if kind is op.IN and all(_is_foreign(*each) for each in value):
        return frozenset({NOT_ASCII})
    return None


def _texts(kind: Any, value: Any) -> frozenset[str] | None:
    """All that a part can be, its letters made small; None if that is much, or not to be told."""
    if kind is op.LITERAL:
        return frozenset({chr(value).lower()}) if _is_plain(value) else None
    if kind in (op.AT, op.ASSERT, op.ASSERT_NOT):
        return frozenset({""})
    if kind is op.SUBPATTERN:
        return _whole(value[3])
    if kind is op.ATOMIC_GROUP:
        return _whole(value)
    if kind is op.IN and all(each is op.LITERAL and _is_plain(letter) for each, letter in value):
        return frozenset(chr(letter).lower() for _, letter in value)
    if kind is op.BRANCH:
        found = [_whole(branch) for branch in value[1]]
        return None if None in found else _few(frozenset[str]().union(*(each for each in found if each)))
    if kind in _REPEATS and value[1] == 1:
        texts = _whole(value[2])
        return texts if texts is None or value[0] else texts | {""}
    return None


def _whole(parts: Iterable[tuple[Any, Any]]) -> frozenset[str] | None:
    found: frozenset[str] | None = frozenset({""})
    for kind, value in parts:
        texts = _texts(kind, value)
        if texts is None or found is None:
            return None
        found = _few(frozenset(map("".join, product(found, texts))))
    return found


def _few(texts: frozenset[str]) -> frozenset[str] | None:
    return texts if len(texts) <= _TEXTS else None


def _is_plain(letter: int) -> bool:
    """Whether a letter and the same one in another case are made small alike, and by nothing else."""
    return (
        letter < 0x80 or (0xA0 <= letter < 0x180 and chr(letter) not in "µſıİ") or 0x3000 <= letter < 0xD800
    )


def _is_foreign(kind: Any, value: Any) -> bool:
    """Whether it is no letter of ASCII, nor one that is taken for such where case does not count."""
    first, last = value if kind is op.RANGE else (value, value) if kind is op.LITERAL else (0, 0)
    return first >= 0x80 and not any(first <= ord(letter) <= last for letter in "ſıİ\u212a")


def _fewest(pieces: Pieces) -> Pieces:
    """Their beginnings, without those in which another one stands."""
    short = {piece[:_LONGEST] for piece in pieces}
    return frozenset(each for each in short if not any(other != each and other in each for other in short))


def _worth(pieces: Pieces) -> tuple[int, int]:
    """Long pieces are rare, and few are looked for quickly."""
    return min(map(len, pieces)), -len(pieces)


def patterns() -> set[tuple[str, int]]:
    """All lazy patterns of the package, in a process in which nothing else made any."""
    for module in walk_packages(looseleaf.__path__, "looseleaf."):
        if module.name.split(".")[1] in ("core", "distill", "recall", "place"):
            import_module(module.name)
    return {each.given for each in gc.get_objects() if isinstance(each, Lazy)}


def written(those: Iterable[tuple[str, int]]) -> str:
    """A row for each that is long and of which pieces are known: what it is called, a space, and the pieces."""
    rows = []
    for pattern, flags in those:
        pieces = needed(pattern, flags) if len(pattern) >= SHORT else None
        if pieces and not any(letter in piece for piece in pieces for letter in '|\\"\t\n'):
            rows.append(f"{name_of(pattern, flags)} {'|'.join(sorted(pieces))}")
    return HEAD + "\n".join(sorted(rows)) + '"""\n'


if __name__ == "__main__":
    if "--list" in sys.argv:
        sys.stdout.write(json.dumps(sorted(patterns())))
        sys.exit()
    now = written(patterns())
    if "--check" in sys.argv:
        sys.exit(now != FILE.read_text("utf-8"))
    FILE.write_text(now, encoding="utf-8")
