"""The shape of a proposal: what follows from its relation alone, and an object that is short and stands on one line."""

from __future__ import annotations

import re

from looseleaf.base.messages import Proposal
from looseleaf.language.relations import BY_LABEL, SALIENCE
from looseleaf.text.lines import escape
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from looseleaf.base.values import Kind, TimeSpan

    T = TypeVar("T")

OBJECT_CHARS = 120
OBJECT_WORDS = 18
"""A longer object is a story, no fact."""

_OWN = {"likes": 0.6, "dislikes": 0.6, "favourite": 0.6, "allergy": 0.95, "condition": 0.9, "diet": 0.9}
"""Saliences that are not those of the kind: a taste matters less than a preference, and health more than a trait."""

_EDGES = lazy(r"\A[\s,;:.!?()\[\]*_~–—-]+|[\s,;:.!?(\[*_~–—-]+\Z")
_WRAPPED = lazy(r"([\"'“‘`])([^\"'“”‘’`]*)[\"'”’`]")


def kind_of(relation: str) -> Kind:
    known = BY_LABEL.get(relation.casefold())
    return known.kind if known else "identity"


def tidy(text: str) -> str:
    """One line without marks at its ends; nothing, if it is too long to be a fact or says nothing."""
    text = " ".join(escape(_EDGES.sub("", text[: 4 * OBJECT_CHARS])).split())
    text = text.replace(" ,", ",")
    if wrapped := _WRAPPED.fullmatch(text):
        text = wrapped[2].strip()
    if text.count('"') % 2 or text.count("“") != text.count("”"):
        text = re.sub(r"[\"“”]", "", text)
    if text.count("(") != text.count(")"):
        text = text.replace("(", "").replace(")", "")
    if len(text) > OBJECT_CHARS or len(text.split()) > OBJECT_WORDS or not any(map(str.isalnum, text)):
        return ""
    return text


def made(
    relation: str,
    object: str,
    quote: str,
    *,
    topic: str = "user",
    span: TimeSpan | None = None,
    first: str | None = None,
    last: str | None = None,
    correction: bool = False,
    was: str | None = None,
    ended: bool = False,
) -> Proposal:
    """A proposal of a relation of the table, with the weight and the time that relation has."""
    kind = kind_of(relation)
    return Proposal(
        relation,
        object,
        quote,
        topic=topic,
        kind=kind,
        time_span=span or ("future" if kind == "commitment" else "long_term"),
        salience=_OWN.get(relation.casefold(), SALIENCE[kind]),
        valid_from=first,
        valid_to=last,
        correction=correction or was is not None,
        was=was,
        ended=ended,
    )


def changed(value: T, **given: Any) -> T:
    """The same value with other members."""
    members: tuple[str, ...] = type(value).__match_args__  # type: ignore[attr-defined]
    return type(value)(**({name: getattr(value, name) for name in members} | given))
