"""Relations with a name of their own: how a page writes them, and whether they hold one value or many.

Any other relation is a label, known by its words, with one value. The names that people and distillers use ("I'm",
"full name", "姓名") are normalized to these labels; a question's words lead to them too.
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


SYNONYMS: dict[str, str] = read_names("relation_names", "relations")
SYNONYMS |= {label.casefold(): label for label in set(SYNONYMS.values())}

WHOSE: dict[str, str] = read_names("relation_names", "owners")
"""Owners of a relation, as in "<owner>'s home": the canonical name of each."""

ME = frozenset({"me", "myself", "i", "the user", "user", "my", "用户", "我"})
"""Topics that mean the user."""


# --- relations in questions: "where" asks for Home ---

_OWN, _OTHERS = "¶", "¶¶"
"""Prefixes of relation terms: for the topic itself, and for another person ("Sister's home")."""

_LIKELY, _POSSIBLE = 0.8, 0.6
_VAGUE = frozenset(
    "a an and as at be by code current de for from goes has how in is la main me my now of on the their they to user "
    "we what where which with work works working name number no status".split()
)
"""Words of a name that do not identify the relation."""


def relation_term(relation: str) -> str:
    """Return the term of a fact's relation; "" for one without other names."""
    whose, _, name = relation_name(relation).rpartition("'s ")
    label = SYNONYMS.get(name, "")
    return (_OTHERS if whose else _OWN) + _letters_of(label) if label else ""


def asked_relations(query: str, words: Iterable[str]) -> dict[str, tuple[tuple[str, float], ...]]:
    """Return the words of a question that name relations, each with the terms of these."""
    single, several, wide = _relations_by_word()
    said = {word.casefold() for word in words}
    folded = query.casefold()
    found: dict[str, dict[str, float]] = {}
    for word in said:
        joined = (label for rest, label in several.get(word, ()) if rest <= said)
        for label in (*single.get(word, ()), *joined):
            found.setdefault(word, {}).update({_OWN + label: _LIKELY, _OTHERS + label: _POSSIBLE})
    if not folded.isascii():
        for name, label in wide:
            if name in folded:
                for word in sorted(each for each in said if each in name or name in each)[:1]:
                    found.setdefault(word, {})[_OWN + label] = _LIKELY
    return {word: tuple(sorted(terms.items())) for word, terms in found.items()}


@lru_cache(maxsize=1)
def _relations_by_word() -> tuple[
    dict[str, list[str]], dict[str, list[tuple[frozenset[str], str]]], list[tuple[str, str]]
]:
    """Return, by word, the relations it names alone and with others; and the names in scripts without spaces."""
    single: dict[str, list[str]] = {}
    several: dict[str, list[tuple[frozenset[str], str]]] = {}
    wide: list[tuple[str, str]] = []
    plain = {label: _letters_of(label) for label in set(SYNONYMS.values())}
    for name, label in SYNONYMS.items():
        term = plain[label]
        if name[0] >= "⺀":
            wide.append((name, term))
            continue
        telling = [word for word in name.split() if word not in _VAGUE]
        if len(telling) == 1:
            if term not in single.setdefault(telling[0], []):
                single[telling[0]].append(term)
        elif telling:
            several.setdefault(telling[0], []).append((frozenset(telling[1:]), term))
    return single, several, wide


def _letters_of(label: str) -> str:
    return "".join(letter for letter in label.casefold() if letter.isalnum())


@frozen
class Relation:
    """A relation. `many`: it holds several values, so a new one is added. `kind` is the default kind."""

    label: str
    kind: Kind
    many: bool = False


def _single_valued(kind: Kind, *labels: str) -> tuple[Relation, ...]:
    return tuple(Relation(label, kind) for label in labels)


def _many_valued(kind: Kind, *labels: str) -> tuple[Relation, ...]:
    return tuple(Relation(label, kind, many=True) for label in labels)


RELATIONS: tuple[Relation, ...] = (
    *_single_valued("identity", "Name", "Pronouns", "Age", "Birthday", "Gender", "Nationality"),
    *_single_valued("identity", "Home", "Hometown", "Address", "Time zone"),
    *_single_valued("identity", "Role", "Employer", "Education", "Email", "Phone"),
    *_single_valued("identity", "Marital status", "Partner", "Manager", "Religion"),
    *_many_valued("identity", "Child", "Sibling", "Parent", "Pet", "Friend", "Colleague", "Speaks"),
    *_single_valued("preference", "Language", "Code language", "Diet"),
    *_single_valued("constraint", "Answers"),
    *_many_valued("preference", "Likes", "Dislikes", "Prefers", "Favourite"),
    *_many_valued("trait", "Trait", "Skill", "Hobby", "Allergy", "Condition", "Owns", "Uses", "Works on"),
    *_many_valued("constraint", "Rule"),
    *_many_valued("commitment", "Plan", "Goal", "Appointment"),
    *_single_valued("commitment", "Deadline"),
    *_many_valued("event", "Event"),
    *_many_valued("decision", "Decision"),
    *_single_valued(
        "decision", "Database", "Programming language", "Framework", "Test runner", "Package manager"
    ),
    *_single_valued("decision", "Hosting", "Licence", "Repository", "Branch", "Version", "Port"),
    *_single_valued("decision", "Project", "CI", "Formatter", "Editor"),
    *_single_valued("decision", "Test command", "Build command", "Run command", "Deploy command"),
    *_many_valued("identity", "Client"),
    *_single_valued("commitment", "Release"),
    *_many_valued("trait", "note"),
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
"""How much a fact matters by default, by kind: rules most, events least."""

OPPOSITES = {"likes": "dislikes", "dislikes": "likes"}
"""Stating the one of a thing ends the other."""


# --- the address of a fact: its topic and its relation, each in one form ---

_WHOSE = r"(?<=\w)'s (?=\S)|(?<=s)' (?=\S)"
_OF = r"([^']{1,40}?) of (?:my|the user's) (.+)"
_CHINESE_WHOSE = r"(?:我的?)?([一-鿿]{1,4})的([一-鿿]{1,8})"
_FAVOURITE = r"(?:my )?(?:favou?rite|preferred fave|fave) (.+)|最喜欢的(.+)"
_LEAD = r"(?:(?:the|my|a|an|user|user's|current|is|has|their|his|her) )+(?=\S)"
_MINE = r"^(?:(?:the )?user's |my (?=\S+$))"
_OWNED = r"^(?:my|the|our|das|die|der|mein|meine|ma|mon|mi) (?=\S)"
_MARKS = r"[\s_/:*`\"]+"


@lru_cache(32768)
def relation_of(label: str) -> Relation:
    """Return the relation that a label names. An unknown one is a trait with one value, under the label as written."""
    name = relation_name(label)
    if name.startswith("favorite "):
        return Relation(label.strip(), "preference")
    whose, _, relation = name.rpartition("'s ")
    known = BY_LABEL.get(relation)
    if not whose:
        return known or Relation(label.strip(), "trait")
    written = name[0].upper() + name[1:]
    return Relation(written, known.kind, many=known.many) if known else Relation(written, "trait")


@lru_cache(32768)
def slot(topic: str, relation: str) -> str:
    """Return the address of a fact: `user/home`, `user/sister's home`, `project/database`."""
    return f"{topic_of(topic)}/{relation_name(relation)}"


def topic_of(topic: str) -> str:
    name = fold(topic)
    return "user" if name in ME else re.sub(r"[\s_]+", "-", name)


@lru_cache(32768)
def relation_name(label: str) -> str:
    """Return the label in its one form, in lower case: `home`, `sister's home`, `favorite color`."""
    name = re.sub(_MARKS, " ", fold(label)).strip(" -.?!")
    name = re.sub(_MINE, "", name)
    if name in SYNONYMS:
        return SYNONYMS[name].casefold()
    favourite = re.fullmatch(_FAVOURITE, name)
    if favourite is not None:
        thing = _singular_name(favourite[1] or favourite[2])
        return "favorite " + thing if thing != "thing" else "favourite"
    owners = re.split(_WHOSE, name)
    if len(owners) > 1:
        return "'s ".join([*(_canonical_owner(owner) for owner in owners[:-1]), _canonical_name(owners[-1])])
    owned = re.fullmatch(_OF, name)
    if owned is not None and _canonical_name(owned[1]) in BY_LABEL:
        return f"{_canonical_owner(owned[2])}'s {_canonical_name(owned[1])}"
    owned = re.fullmatch(_CHINESE_WHOSE, name) if "的" in name else None
    if owned is not None and owned[2] in SYNONYMS:
        return f"{_canonical_owner(owned[1])}'s {_canonical_name(owned[2])}"
    return _canonical_name(name)


def _canonical_name(name: str) -> str:
    """Return the canonical name of a label without an owner, or its own words in one form."""
    bare = re.sub(_LEAD, "", name)
    every = " ".join(singular(word) for word in bare.split())
    for form in (name, bare, _singular_name(name), _singular_name(bare), every):
        if form in SYNONYMS:
            return SYNONYMS[form].casefold()
    return _singular_name(name)


def _singular_name(name: str) -> str:
    """Return every word without accent and in one spelling, the last in the singular."""
    words = [american(plain(word)) for word in name.replace("-", " ").split()]
    return " ".join([*words[:-1], *(singular(word) for word in words[-1:])])


def _canonical_owner(name: str) -> str:
    name = re.sub(_OWNED, "", name)
    single = _singular_name(name)
    return WHOSE.get(name) or WHOSE.get(single) or single
