"""Requests: the words that the user asks to remember ("remember that …"), and the shape of a proposal."""

from __future__ import annotations

import re

from looseleaf.base.messages import Proposal
from looseleaf.language.promises import asks_to_forget, is_request, place_of
from looseleaf.language.relations import BY_LABEL, SALIENCE
from looseleaf.text.lines import escape
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

# --- the shape of a proposal ------------------------------------------------------------

OBJECT_CHARS = 120
OBJECT_WORDS = 18
"""A longer object is a story, not a fact."""

_OWN = {"likes": 0.6, "dislikes": 0.6, "favourite": 0.6, "allergy": 0.95, "condition": 0.9, "diet": 0.9}
"""Saliences that differ from the kind's: a taste matters less than a preference, and health more than a trait."""

_EDGES = lazy(r"\A[\s,;:.!?()\[\]*_~–—-]+|[\s,;:.!?(\[*_~–—-]+\Z")
_WRAPPED = lazy(r"([\"'“‘`])([^\"'“”‘’`]*)[\"'”’`]")


def tidy_object(text: str) -> str:
    """Return one line without marks at its ends; empty if it is too long to be a fact or says nothing."""
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


def make_proposal(
    relation: str,
    object: str,
    quote: str,
    *,
    topic: str = "user",
    ended: bool = False,
) -> Proposal:
    """Make a proposal of a relation of the table, with the weight and time span of that relation."""
    known = BY_LABEL.get(relation.casefold())
    kind = known.kind if known else "identity"
    return Proposal(
        relation,
        object,
        quote,
        topic=topic,
        kind=kind,
        time_span="future" if kind == "commitment" else "long_term",
        salience=_OWN.get(relation.casefold(), SALIENCE[kind]),
        ended=ended,
    )


def with_members(value: T, **given: Any) -> T:
    """Return the same value with other members."""
    members: tuple[str, ...] = type(value).__match_args__  # type: ignore[attr-defined]
    return type(value)(**({name: getattr(value, name) for name in members} | given))


_HOLLOW = lazy(
    r"(?:it|this|these|those|that|so|what|how|why|when|me|es|das|dies|was|ça|cela|ce que|eso|esto|lo que|"
    r"isso|isto|questo|ciò|dit|dat|"
    r"to \w+|the (?:milk|alamo|output|answer|function|format)|de \w+er)\b|(?:这|那|它|これ|それ|이거|그거)",
    re.IGNORECASE,
)
"""Words that say nothing alone, or a piece of work: they point at something elsewhere."""

_LEAST = 8


def asked_to_keep(sentence: str) -> tuple[int, int] | None:
    """Return the place of the words that a sentence asks to remember."""
    if not is_request(sentence) or asks_to_forget(sentence):
        return None
    start, end = place_of(sentence)
    words = sentence[start:end]
    least = _LEAST // 2 if words and not words.isascii() else _LEAST
    if len(words) < least or (_HOLLOW.match(words) and len(words) < 40):
        return None
    return start, end
