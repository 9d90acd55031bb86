"""What a trace says, and what the program itself writes: the one is looked for when it went, the other never."""

from __future__ import annotations

import json
import re

from looseleaf.forget.needles import worth
from looseleaf.place.review_page import HELP
from looseleaf.text.spellings import folded
from looseleaf.text.words import each_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from looseleaf.base.values import Record

TOPICS = frozenset(("user", "project", "sessions"))
OWN_WORDS = (
    *"main assistant tool import document person program external agent nobody confirmed said inferred tainted".split(),
    *"current superseded pending rejected forgotten identity commitment constraint preference trait event".split(),
    *"short_term medium_term long_term future rules facts episodes days review entries traces prompts".split(),
    *"summary updated entry date problem task solution lesson waits held back distilled from".split(),
    HELP,
)
"""What the program itself writes into records and on pages."""

ROLES = re.compile(
    r"\b(?:User|Assistant|Tool call|Tool result)(?: \([0-9A-Z]{26}\))?:|^# What entry .*$", re.MULTILINE
)
"""What the program puts before what somebody said."""

_NOT_SAID = frozenset(
    "id ts turn_id seq trace_type source_event session_id origin tool_call_id correlation_id".split()
)


def said_in(record: Record) -> Record:
    return {name: value for name, value in record.items() if name not in _NOT_SAID}


def said_by(record: Record) -> list[object]:
    """What a trace says, without the names of its members."""
    return list(said_in(record).values())


def texts_of(record: Record) -> Iterator[str]:
    """The texts of a trace; the names of members in what tools were given and gave, only where they are words."""
    names = {name for name in member_names(said_by(record)) if not any(map(str.isspace, name))}
    yield from (text for text in each_text(said_by(record)) if text not in names)


def member_names(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for inner in value:
            yield from member_names(inner)


def json_of(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def words_of(record: Record) -> str:
    return " ".join(" ".join(each_text(said_by(record))).split())


def lost_of(old: Record, left: Record) -> str:
    """The sentences of a trace that go."""
    kept = set(worth(texts_of(left)))
    return " ".join(each for each in worth(texts_of(old)) if each not in kept) or words_of(old)


def names_one_of(words: set[str], texts: Iterable[str]) -> bool:
    said = folded(" ".join(texts))
    return any(word in said for word in words)
