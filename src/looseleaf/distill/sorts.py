"""What words are names of: databases, editors, diets; which aspect of life they tell of; and which are plain words."""

from __future__ import annotations

import json
from bisect import bisect_left
from functools import cache
from pathlib import Path

from looseleaf.facts.replacing import Lexicon

DATA = Path(__file__).parent / "data"


@cache
def families() -> dict[str, frozenset[str]]:
    """Names that are of one sort (databases, editors, diets): `sort: name, name`."""
    return _read_sorts("families.txt")


@cache
def family_of() -> dict[str, frozenset[str]]:
    """From a name to the sorts that it is of."""
    return _turned(families())


def _read_sorts(file: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in (DATA / file).read_text(encoding="utf-8").splitlines():
        name, colon, members = line.partition(":")
        if colon and not line.startswith("#"):
            known = {each.strip().lower() for each in members.split(",")} - {""}
            found[name.strip()] = found.get(name.strip(), frozenset()) | known
    return found


def _turned(sorts: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for sort, members in sorts.items():
        for member in members:
            found.setdefault(member, set()).add(sort)
    return {member: frozenset(each) for member, each in found.items()}


def sorts_of(name: str) -> frozenset[str]:
    """The sorts that a word is a name of, and the aspects of life that it tells of (`about_home`)."""
    return family_of().get(name, frozenset()) | aspects().get(name, frozenset())


@cache
def aspects() -> dict[str, frozenset[str]]:
    return _turned(_read_sorts("aspects.txt"))


def matters_of(name: str) -> frozenset[str]:
    """The aspects of life that a word tells of, and the private matters."""
    return (aspects().get(name, frozenset()) | matters().get(name, frozenset())) - _OF_MEMORY


_OF_MEMORY = frozenset({"about_answers", "about_notes", "about_logs", "about_database"})
"""Aspects that orders to a memory speak of, whatever they mean."""


@cache
def matters() -> dict[str, frozenset[str]]:
    """Matters that people want forgotten: codes, faith, money. Read for an order to forget only."""
    return _turned(_read_sorts("matters.txt"))


def is_name(term: str) -> bool:
    """Whether a term is probably a name: it begins no known word of everyday talk."""
    if not term.isascii():
        return True
    words = _common_in_order()
    at = bisect_left(words, term)
    return at == len(words) or not words[at].startswith(term)


@cache
def _common_in_order() -> list[str]:
    return sorted(common())


@cache
def common() -> frozenset[str]:
    """Words of everyday talk: none of them is a name, as long as it is written small. Made with the weights."""
    path = DATA / "common.txt"
    return frozenset(path.read_text(encoding="utf-8").split()) if path.is_file() else frozenset()


@cache
def plain_terms() -> tuple[frozenset[str], frozenset[str]]:
    """Terms that tell nothing apart, and those of forbidding."""
    plain, forbidding = (DATA / "plain_terms.txt").read_text(encoding="utf-8").splitlines()[:2]
    return frozenset(plain.split()), frozenset(forbidding.split())


LINKS = DATA / "links.json"
"""Weights of the signs that a change is about a line (`change`), and that an order to forget means it (`erase`)."""


@cache
def lexicon() -> Lexicon:
    weights = json.loads(LINKS.read_text(encoding="utf-8"))
    return Lexicon(sorts_of, plain_terms()[0], is_name, weights["change"], matters_of, weights["erase"])
