"""Texts made up from a form of words: one way through its pattern, drawn at random."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from looseleaf.distill.slot_tables import families

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

_parser: Any = __import__("re._parser", fromlist=["parse"])
_c: Any = __import__("re._constants", fromlist=["LITERAL"])

VALUES = {
    "name": "Anna", "person": "Anna", "place": "Lyon", "org": "Acme", "trade": "nurse", "thing": "peanuts",
    "when": "friday at 9",
    "old": "Maven", "word": "blue", "people": "Anna and Bob", "date": "12 May", "zone": "UTC+2", "command": "make test",
    "rest": "more words",
}  # fmt: skip
_CATEGORIES = {_c.CATEGORY_DIGIT: "7", _c.CATEGORY_SPACE: " ", _c.CATEGORY_WORD: "w"}
_REPEATS = frozenset({_c.MAX_REPEAT, _c.MIN_REPEAT, _c.POSSESSIVE_REPEAT})


def made_up(form: str, random: Random) -> str:
    """A text that goes one way through a form; what must stand around it is left out, so not each matches."""

    def value(found: re.Match[str]) -> str:
        return re.escape(VALUES.get(found[1]) or random.choice(sorted(families()[found[1]])))

    return _walked(parsed(re.sub(r"\{([a-z_]+)\}", value, form)), random)


def parsed(pattern: str) -> Any:
    return _parser.parse(pattern, re.IGNORECASE)


def _walked(tree: Iterable[tuple[Any, Any]], random: Random) -> str:
    said = ""
    for what, given in tree:
        if what is _c.LITERAL:
            said += chr(given)
        elif what is _c.IN:
            said += _letter(given, random)
        elif what is _c.ANY or what is _c.NOT_LITERAL:
            said += "x"
        elif what is _c.BRANCH:
            said += _walked(random.choice([each for each in given[1] if not _is_never(each)] or [()]), random)
        elif what is _c.SUBPATTERN:
            said += _walked(given[3], random)
        elif what in _REPEATS:
            least, most, inner = given
            for _ in range(random.randint(least, min(int(most), least + 2))):
                said += _walked(inner, random)
    return said


def _is_never(tree: Any) -> bool:
    """`\\Z\\w`, an alternative that nothing matches."""
    return len(tree) > 1 and tree[0] == (_c.AT, _c.AT_END_STRING)


def _letter(choices: list[tuple[Any, Any]], random: Random) -> str:
    if choices[0][0] is _c.NEGATE:
        return "w"
    what, given = random.choice(choices)
    if what is _c.LITERAL:
        return chr(given)
    return chr(random.randint(*given)) if what is _c.RANGE else _CATEGORIES.get(given, "-")


def nested(tree: Iterable[tuple[Any, Any]], *, within: bool = False) -> Iterator[tuple[int, Any]]:
    """The unbounded repeats that stand within another one and give back what they took: they take exponential time."""
    for what, given in tree:
        if what in _REPEATS:
            least, most, inner = given
            is_endless = most is _c.MAXREPEAT
            if within and is_endless and what is not _c.POSSESSIVE_REPEAT:
                yield least, most
            yield from nested(inner, within=within or is_endless)
        elif what is _c.BRANCH:
            for each in given[1]:
                yield from nested(each, within=within)
        elif what is _c.SUBPATTERN:
            yield from nested(given[3], within=within)
        elif what in (_c.ASSERT, _c.ASSERT_NOT):
            yield from nested(given[1], within=within)
        elif what is _c.ATOMIC_GROUP:
            yield from nested(given, within=within)
