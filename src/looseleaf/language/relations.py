"""The relations that have a name of their own: how a page writes them, whether they hold one value or many.

A relation that is not in this table is a label like any other: it is told apart by its words, and holds one value.
What the words of people and distillers call a relation ("I'm", "full name", "姓名") is normalised to the label here by
`facts/identity.py`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.base.immutable import frozen
from looseleaf.language.tables import read_names
from looseleaf.language.words import american, fold, plain, singular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.base.values import Kind


# What people and distillers call the relations of `language/relations.py`, in several languages.


SYNONYMS: dict[str, str] = read_names("relation_names", "relations")
SYNONYMS |= {label.casefold(): label for label in set(SYNONYMS.values())}

WHOSE: dict[str, str] = read_names("relation_names", "owners")
"""Whose relation it is, in "<Whose>'s home"."""

ME = frozenset({"me", "myself", "i", "the user", "user", "my", "用户", "我"})
"""Topics that are the user."""


# What a question calls the relation it asks for: who asks where somebody lives means his home.

if TYPE_CHECKING:
    Names = dict[str, tuple[str, ...]]


_OWN, _ANOTHERS = "¶", "¶¶"
"""What such terms begin with: of the topic itself, and of somebody else ("Sister's home")."""

_LIKELY, _POSSIBLE = 0.8, 0.6
_LITTLE = frozenset(
    "a an and as at be by code current de for from goes has how in is la main me my now of on the their they to user "
    "we what where which with work works working name number no status".split()
)
"""Words of a name that do not tell which relation it is."""


def relation_term(relation: str) -> str:
    """The term of a fact's relation; "" for one that nobody calls otherwise."""

    whose, _, name = relation_name(relation).rpartition("'s ")
    label = SYNONYMS.get(name, "")
    return (_ANOTHERS if whose else _OWN) + _plain(label) if label else ""


def asked_relations(query: str, words: Iterable[str]) -> dict[str, tuple[tuple[str, float], ...]]:
    """Of the words of a question, those that name relations, each with the terms of these."""
    single, several, wide = _names()
    said = {word.casefold() for word in words}
    folded = query.casefold()
    found: dict[str, dict[str, float]] = {}
    for word in said:
        for label in single.get(word, ()):
            found.setdefault(word, {}).update({_OWN + label: _LIKELY, _ANOTHERS + label: _POSSIBLE})
        for rest, label in several.get(word, ()):
            if rest <= said:
                found.setdefault(word, {}).update({_OWN + label: _LIKELY, _ANOTHERS + label: _POSSIBLE})
    if not folded.isascii():
        for name, label in wide:
            if name in folded:
                for word in sorted(each for each in said if each in name or name in each)[:1]:
                    found.setdefault(word, {})[_OWN + label] = _LIKELY
    return {word: tuple(sorted(terms.items())) for word, terms in found.items()}


@lru_cache(maxsize=1)
def _names() -> tuple[Names, dict[str, list[tuple[frozenset[str], str]]], tuple[tuple[str, str], ...]]:
    """By a word: the relations that it names by itself, and with others; and names of scripts without spaces."""
    single: dict[str, list[str]] = {}
    several: dict[str, list[tuple[frozenset[str], str]]] = {}
    wide: list[tuple[str, str]] = []
    plain = {label: _plain(label) for label in set(SYNONYMS.values())}
    for name, label in SYNONYMS.items():
        term = plain[label]
        if name[0] >= "⺀":
            wide.append((name, term))
            continue
        telling = [word for word in name.split() if word not in _LITTLE]
        if len(telling) == 1:
            if term not in single.setdefault(telling[0], []):
                single[telling[0]].append(term)
        elif telling:
            several.setdefault(telling[0], []).append((frozenset(telling[1:]), term))
    return {word: tuple(terms) for word, terms in single.items()}, several, tuple(wide)


def _plain(label: str) -> str:
    return "".join(letter for letter in label.casefold() if letter.isalnum())


@frozen
class Relation:
    """`many`: it holds several values at once, so that a new one is added. `kind` is what it is unless told."""

    label: str
    kind: Kind
    many: bool = False


def _one(kind: Kind, *labels: str) -> tuple[Relation, ...]:
    return tuple(Relation(label, kind) for label in labels)


def _many(kind: Kind, *labels: str) -> tuple[Relation, ...]:
    return tuple(Relation(label, kind, many=True) for label in labels)


RELATIONS: tuple[Relation, ...] = (
    *_one("identity", "Name", "Pronouns", "Age", "Birthday", "Gender", "Nationality"),
    *_one("identity", "Home", "Hometown", "Address", "Time zone"),
    *_one("identity", "Role", "Employer", "Education", "Email", "Phone"),
    *_one("identity", "Marital status", "Partner", "Manager", "Religion"),
    *_many("identity", "Child", "Sibling", "Parent", "Pet", "Friend", "Colleague", "Speaks"),
    *_one("preference", "Language", "Code language", "Diet"),
    *_one("constraint", "Answers"),
    *_many("preference", "Likes", "Dislikes", "Prefers", "Favourite"),
    *_many("trait", "Trait", "Skill", "Hobby", "Allergy", "Condition", "Owns", "Uses", "Works on"),
    *_many("constraint", "Rule"),
    *_many("commitment", "Plan", "Goal", "Appointment"),
    *_one("commitment", "Deadline"),
    *_many("event", "Event"),
    *_many("decision", "Decision"),
    *_one("decision", "Database", "Programming language", "Framework", "Test runner", "Package manager"),
    *_one("decision", "Hosting", "Licence", "Repository", "Branch", "Version", "Port"),
    *_one("decision", "Project", "CI", "Formatter", "Editor"),
    *_one("decision", "Test command", "Build command", "Run command", "Deploy command"),
    *_many("identity", "Client"),
    *_one("commitment", "Release"),
    *_many("trait", "note"),
)

BY_LABEL: dict[str, Relation] = {relation.label.casefold(): relation for relation in RELATIONS}

SALIENCE: dict[Kind, float] = {
    "constraint": 0.95,
    "identity": 0.9,
    "commitment": 0.85,
    "preference": 0.8,
    "decision": 0.8,
    "trait": 0.6,
    "event": 0.5,
}
"""How much a fact of a kind matters, where nothing better is known: what one must obey most, what happened least."""

OPPOSITES = {"likes": "dislikes", "dislikes": "likes"}
"""Saying the one of a thing ends the other."""


# The address of a fact: its topic and its relation, each in one form whatever they were called.

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
