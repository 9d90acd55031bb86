"""Whether a value has the shape of its type: a common noun is not a name, a pronoun not a place, half a phrase not a
thing."""

from __future__ import annotations

import re

from looseleaf.distill.sorts import common, families, family_of
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.distill.slot_tables import Table

_I = re.IGNORECASE
_HOLLOW = frozenset(
    "it this that them these those him her me us you i we they he she there here what which who and or but "
    "so to of in on at "
    "my our your his their job es das ihn sie ihm ça cela le la les lo eso esto isso isto ciò questo dit "
    "dat het".split()
)
_TITLES = frozenset("dr mr mrs ms prof st sr jr mme mlle hr fr sra dott".split())
"""A value that ends in a title was cut short, and is no name."""
_NAME = lazy(r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*)*")
_TRADE = lazy(
    r".*(?:er|or|ist|ian|ant|ent|man|woman|nurse|chef|cook|vet|coach|clerk|judge|pilot|guide|intern|"
    r"trainee|apprentice|lead|"
    r"head|cto|ceo|cfo|pm|dev|sre|devops|po|qa|freelance|midwife|student|mechanic|analyst|smith|wright|"
    r"herd|guard|lawyer|"
    r"scientist|architect|professor|postdoc|phd|researcher|founder|manager|director|artist|designer|"
    r"butcher|baker)s?\Z",
    _I,
)
_NO_TRADE = frozenset(
    "er her other another beginner newcomer customer user fan supporter lover reader member owner sucker "
    "prayer number letter "
    "computer paper parent owner person winner loser killer hater believer different sort of kind man "
    "woman human".split()
)
_DATE_LIKE = lazy(
    r".*[0-9]|.*\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", _I
)
_ZONE = lazy(
    r"(?:utc|gmt)(?: ?[+-] ?\d{1,2}(?::?\d\d)?)?|(?:c|e|w|m|p|ak|h|b|i|j|k|s|hk|nz|ae|ac|aw|ms|br|ar|a|"
    r"n)[sd]?[est]?t|cest|"
    r"aest|aedt|acst|awst|nzst|nzdt|[a-z]+/[a-z_]+|(?:eastern|pacific|central|mountain|atlantic)(?: time)?",
    _I,
)
_COMMAND = lazy(
    r"`[^`]+`|(?:\./|(?:npm|npx|pnpm|yarn|bun|make|just|task|pytest|tox|nox|uv|poetry|pdm|hatch|cargo|go|"
    r"mvn|gradle|\./gradlew|"
    r"docker|docker-compose|podman|kubectl|helm|fly|flyctl|vercel|netlify|heroku|rake|bundle|bin/|mix|"
    r"dotnet|ctest|cmake|ninja|"
    r"bazel|sbt|php|composer|vitest|jest|rspec|deno|python|python3|sh|bash|terraform|ansible-playbook|git|"
    r"gcloud|aws|az)\b).*",
    _I,
)


def _is_plain(word: str, kept: Table) -> bool:
    """Whether a word is an everyday word, not a name."""
    return word.islower() and (word in common() or word in kept.words["plain"])


def _is_trade(word: str, kept: Table) -> bool:
    """Whether a word names what people do: by the table's `@trades`, words and endings (`-erin`), or else by the
    English endings."""
    known = kept.words.get("trades")
    if known is None:
        return _TRADE.fullmatch(word) is not None and word not in _NO_TRADE
    return word in known or any(each[0] == "-" and word.endswith(each[1:]) for each in known)


def is_sound(kind: str, value: str, kept: Table) -> bool:
    """Whether a value has the shape of its type."""
    if not value or not any(map(str.isalnum, value)):
        return False
    words = value.split()
    if kind in ("old", "thing") and kept.language not in ("zh", "ja"):
        return words[0].lower() not in _HOLLOW and words[-1].lower() not in kept.words["plain"]
    if kind == "" and words[0].lower() in _HOLLOW:
        return False
    if kind in families() or kind in ("", "rest", "when", "thing", "old", "word", "people"):
        return kind != "word" or value.isalnum()
    language, plain = kept.language, kept.words["plain"]
    if language in ("zh", "ja"):
        return (
            1 <= len(value) <= 20
            and value not in plain
            and not any(each in value for each in kept.words["never"])
        )
    if len(words) > 1 and words[0].lower() == "the" and words[1][0].isupper():
        words = words[1:]
    first, last = words[0].lower(), words[-1].lower()
    if kind == "date":
        return _DATE_LIKE.match(value) is not None
    if kind == "zone":
        return len(value) > 2 and _ZONE.fullmatch(value) is not None
    if kind == "command":
        return _COMMAND.fullmatch(value) is not None
    if kind == "trade":
        return last not in families()["diet"] and _is_trade(last, kept) and first not in kept.words["never"]
    if (
        first in plain
        or last in plain
        or last.rstrip(".") in _TITLES
        or (len(value) == 1 and value.isascii())
    ):
        return False
    if kind in ("name", "person"):
        return _NAME.fullmatch(value) is not None and not any(_is_plain(each, kept) for each in words)
    has_name = any(each[:1].isupper() or not _is_plain(each, kept) for each in words)
    # "We moved from MySQL to Postgres": what is a name of something else is no place.
    is_none = kind == "place" and (any(map(str.isdigit, value)) or value.lower() in family_of())
    return has_name and not is_none
