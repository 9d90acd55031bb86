"""The relations that have a name of their own: how a page writes them, whether they hold one value or many.

A relation that is not in this table is a label like any other: it is told apart by its words, and holds one value.
What the words of people and distillers call a relation ("I'm", "full name", "姓名") is normalised to the label here by
`facts/identity.py`.
"""

from __future__ import annotations

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Kind


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
