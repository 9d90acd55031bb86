"""The gate: what may become memory, and where it may stand (docs/DESIGN.md, FORMAT §13).

A level follows from where words entered, never from what a distiller or a caller says of them. A derived thing takes
the lowest level of what it was made of, repeating raises nothing, and only a person promotes.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from looseleaf.core.relations import BY_LABEL
from looseleaf.frozen import frozen
from looseleaf.talk import Proposal
from looseleaf.values import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from looseleaf.values import Level

LEVELS: tuple[Level, ...] = ("tainted", "inferred", "said", "confirmed")
"""From the lowest to the highest."""

TIME_SPANS = ("short_term", "medium_term", "current", "long_term", "future")

RECALLED = "recalled"
"""The tag of text that memory itself put into a prompt: distilling it again would make memory of memory."""

UNVERIFIED = "unverified"
"""The tag of a fact whose quote is not found, or does not say it. It never supersedes."""

CONFIDENCE: dict[str, float] = {"confirmed": 1.0, "said": 0.9, "inferred": 0.6, "tainted": 0.3}
"""That a fact is true, by its level; less where its words were found only in another spelling, or not at all."""

_LESS_IF_SPELT_OTHERWISE = 0.1
_IF_UNVERIFIED = 0.3

_OF_ORIGINS: dict[str, Level] = {"person": "confirmed", "user": "said", "assistant": "inferred"}

LONGEST = 300
"""Characters of an object: what is longer is no fact but a text."""

_LONGEST_QUOTE = 1000
_MOST_TAGS = 8


def level_of(origin: str) -> Level:
    """What tools, the web, imports and other agents say is data: nobody vouches for it."""
    return _OF_ORIGINS.get(origin, "tainted")


def lowest(levels: Iterable[Level]) -> Level:
    """Of what was derived from several things; nothing at all vouches for nothing."""
    return min(levels, key=LEVELS.index, default="tainted")


def is_at_least(level: Level | None, least: Level) -> bool:
    return level is not None and LEVELS.index(level) >= LEVELS.index(least)


def is_trusted(level: Level | None) -> bool:
    """Whether it may stand at the top of the folder, among what must not be forgotten, and in index lines."""
    return is_at_least(level, "said")


# --- proposals -------------------------------------------------------------------------


def proposal_of(raw: Any) -> Proposal | None:
    """What a distiller proposes, as far as it makes sense. None: it has no relation, object or topic that could be
    written down. Nothing that it says of its own certainty is read."""
    if not isinstance(raw, dict):
        return None
    texts = {name: raw.get(name) for name in ("relation", "object", "quote", "topic", "source")}
    if raw.get("topic") is None:
        texts["topic"] = "user"
    for name in ("quote", "source"):
        texts[name] = texts[name] or ""
    if not all(type(text) is str for text in texts.values()):
        return None
    relation, said = str(texts["relation"]).strip(), str(texts["object"]).strip()
    if not said or len(said) > LONGEST or not relation:
        return None
    kind, span, tags = (raw.get(name) for name in ("kind", "time_span", "tags"))
    salience: Any = raw.get("salience")
    is_number = type(salience) in (int, float) and 0 <= salience <= 1
    return Proposal(
        relation,
        said,
        str(texts["quote"])[:_LONGEST_QUOTE],
        str(texts["topic"]).strip() or "user",
        kind if kind in KINDS else None,
        str(texts["source"]),
        span if span in TIME_SPANS else None,
        float(salience) if is_number else None,
        _date(raw.get("valid_from")),
        _date(raw.get("valid_to")),
        raw.get("correction") is True,
        raw["was"] if type(raw.get("was")) is str and raw["was"].strip() else None,
        raw.get("ended") is True,
        tuple(str(tag)[:40] for tag in tags[:_MOST_TAGS]) if isinstance(tags, (list, tuple)) else (),
    )


_DATE = re.compile(r"[12]\d{3}(?:-[01]\d(?:-[0-3]\d(?:T[\d:.]{5,15}Z?)?)?)?", re.ASCII)


def _date(value: object) -> str | None:
    return value if isinstance(value, str) and _DATE.fullmatch(value) else None


# --- evidence --------------------------------------------------------------------------


@frozen
class Witness:
    """One text of the material, with its source (a trace id, or path#lines), where it entered, and when."""

    source: str
    origin: str
    text: str
    ts: float


@frozen
class Judged:
    """What the evidence says of a proposal."""

    level: Level
    origin: str
    source: str
    ts: float
    confidence: float
    verified: bool


def judge(proposal: Proposal, witnesses: Sequence[Witness]) -> Judged:
    """The best witness that holds the quote, if the quote says what is proposed; else the worst of all of them.

    A quote alone proves nothing: a distiller may lean any claim on any words. So what is proposed must stand in them.
    """
    if proposal.quote.strip() and is_supported(proposal, proposal.quote):
        for spelt_otherwise in (False, True):
            quote = _plain(proposal.quote) if spelt_otherwise else proposal.quote
            found = [
                each
                for each in witnesses
                if quote and quote in (_plain(each.text) if spelt_otherwise else each.text)
            ]
            if found:
                best = max(
                    found,
                    key=lambda each: (LEVELS.index(level_of(each.origin)), each.source == proposal.source),
                )
                level = level_of(best.origin)
                less = _LESS_IF_SPELT_OTHERWISE if spelt_otherwise else 0.0
                return Judged(
                    level,
                    best.origin,
                    best.source,
                    best.ts,
                    round(CONFIDENCE[level] - less, 2),
                    verified=True,
                )
    worst = min(
        witnesses, key=lambda each: LEVELS.index(level_of(each.origin)), default=Witness("", "", "", 0.0)
    )
    # Nobody is known to have said it; that it was concluded is the most that can be believed.
    level = lowest((level_of(worst.origin), "inferred"))
    origin = worst.origin if level == "tainted" else "assistant"
    latest = max((each.ts for each in witnesses), default=0.0)
    return Judged(level, origin, worst.source, latest, _IF_UNVERIFIED, verified=False)


def _plain(text: str) -> str:
    """In one spelling: case, width, quotes and white space do not count."""
    text = normalize("NFKC", text).casefold().replace("’", "'").replace("“", '"').replace("”", '"')
    return " ".join(text.split())


_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_DATED = re.compile(r"\b[12]\d{3}(?:-[01]\d(?:-[0-3]\d)?)?\b", re.ASCII)
_NEGATIVE = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|without|avoid|stop|cannot|\w+n't|dont|nie|niemals|nicht|kein\w*|ohne|ne|pas"
    r"|jamais|sans|aucun\w*|nunca|jamás|sin|tampoco|ya no)\b|n't\b|不|别|別|没|沒|无|無|勿|禁|ない|ません|ず(?:に|、)"
)
_FREE = frozenset(
    "a an and answers are as at be by code comments discussion for from in instead into is it of on or over prefers "
    "since than the to until use uses using when with writes english german french spanish chinese japanese korean "
    "italian portuguese russian dutch arabic hindi polish turkish swedish cantonese mandarin dog cat "
    "always never not no do does don't name home age".split()
)
"""Words that a normalised object may hold though nobody said them: they claim nothing by themselves."""

_STEM = 4


def _content(text: str) -> set[str]:
    text = _DATED.sub(" ", _plain(text))
    words = {word if len(word) <= _STEM else word[:_STEM] for word in _WORD.findall(_WIDE.sub(" ", text))}
    return words | set(_WIDE.findall(text))


_FREE_STEMS = frozenset(word if len(word) <= _STEM else word[:_STEM] for word in _FREE)


def says(claim: str, text: str) -> bool:
    """Whether every word of the claim that means something stands in the text, and "not" in both or in neither."""
    if _NEGATIVE.search(_plain(claim)) and not _NEGATIVE.search(_plain(text)):
        return False
    return _content(claim) - _FREE_STEMS <= _content(text)


def is_supported(proposal: Proposal, text: str) -> bool:
    """Whether the words say it. A relation of its own name needs none of them; any other must be said as well."""
    is_known = proposal.relation.casefold() in BY_LABEL
    claim = proposal.object if is_known else f"{proposal.relation} {proposal.object}"
    return says(claim, text)
