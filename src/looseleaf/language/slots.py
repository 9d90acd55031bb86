"""The address of a fact: its topic and its relation, each in one form whatever they were called.

Invariant: a slot is its own slot. A label that nobody knows keeps its words, and holds one value.
"""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.language.relations import BY_LABEL, Relation
from looseleaf.language.synonyms import ME, SYNONYMS, WHOSE
from looseleaf.language.words import american, fold, plain, singular

_WHOSE = r"(?<=\w)'s (?=\S)|(?<=s)' (?=\S)"
_OF = r"([^']{1,40}?) of (?:my|the user's) (.+)"
_CHINESE_WHOSE = r"(?:我的?)?([一-鿿]{1,4})的([一-鿿]{1,8})"
_FAVOURITE = r"(?:my )?(?:favou?rite|preferred fave|fave) (.+)|最喜欢的(.+)"
_LEAD = r"(?:(?:the|my|a|an|user|user's|current|is|has|their|his|her) )+(?=\S)"
_MINE = r"^(?:(?:the )?user's |my (?=\S+$))"
_OWNED = r"^(?:my|the|our|das|die|der|mein|meine|ma|mon|mi) (?=\S)"
_MARKS = r"[\s_/:*`\"]+"


@lru_cache(2048)
def relation_of(label: str) -> Relation:
    """The relation that a label names. An unknown one is a trait with one value, under the label as written."""
    name = _name(label)
    if name.startswith("favorite "):
        return Relation(label.strip(), "preference")
    whose, relation = _halves(name)
    known = BY_LABEL.get(relation)
    if not whose:
        return known or Relation(label.strip(), "trait")
    written = name[0].upper() + name[1:]
    return Relation(written, known.kind, many=known.many) if known else Relation(written, "trait")


@lru_cache(2048)
def slot(topic: str, relation: str) -> str:
    """Where a fact lives: `user/home`, `user/sister's home`, `project/database`."""
    return f"{topic_of(topic)}/{_name(relation)}"


def topic_of(topic: str) -> str:
    name = fold(topic)
    return "user" if name in ME else re.sub(r"[\s_]+", "-", name)


def relation_name(label: str) -> str:
    """The label in its one form, in lower case: `home`, `sister's home`, `favorite color`."""
    return _name(label)


def _halves(name: str) -> tuple[str, str]:
    whose, found, relation = name.rpartition("'s ")
    return (whose, relation) if found else ("", name)


@lru_cache(2048)
def _name(label: str) -> str:
    name = re.sub(_MARKS, " ", fold(label)).strip(" -.?!")
    name = re.sub(_MINE, "", name)
    if name in SYNONYMS:
        return SYNONYMS[name].casefold()
    favourite = re.fullmatch(_FAVOURITE, name)
    if favourite is not None:
        thing = _single(favourite[1] or favourite[2])
        return "favorite " + thing if thing != "thing" else "favourite"
    owners = re.split(_WHOSE, name)
    if len(owners) > 1:
        return "'s ".join([*(_owner(owner) for owner in owners[:-1]), _known(owners[-1])])
    owned = re.fullmatch(_OF, name)
    if owned is not None and _known(owned[1]) in BY_LABEL:
        return f"{_owner(owned[2])}'s {_known(owned[1])}"
    owned = re.fullmatch(_CHINESE_WHOSE, name) if "的" in name else None
    if owned is not None and owned[2] in SYNONYMS:
        return f"{_owner(owned[1])}'s {_known(owned[2])}"
    return _known(name)


def _known(name: str) -> str:
    """The canonical name of a label without an owner, or its own words in one form."""
    bare = re.sub(_LEAD, "", name)
    every = " ".join(singular(word) for word in bare.split())
    for form in (name, bare, _single(name), _single(bare), every):
        if form in SYNONYMS:
            return SYNONYMS[form].casefold()
    return _single(name)


def _single(name: str) -> str:
    """Every word without accent and in one spelling, the last in the singular."""
    words = [american(plain(word)) for word in name.replace("-", " ").split()]
    return " ".join([*words[:-1], *(singular(word) for word in words[-1:])])


def _owner(name: str) -> str:
    name = re.sub(_OWNED, "", name)
    single = _single(name)
    return WHOSE.get(name) or WHOSE.get(single) or single
