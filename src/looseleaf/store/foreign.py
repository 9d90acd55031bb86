"""Records in the log of another machine, looked at before anything believes them (FORMAT §20.11).

A log can be copied from anywhere, and a checksum says only that a line is whole. A record is left out if a member that
is read has another type than its kind has, or if it speaks of a file that is no page: then a stand-in that says nothing
is read in its place. Unknown kinds and members stay: a newer program may write them, and nothing here reads them.
"""

from __future__ import annotations

import re

from looseleaf.base.origins import LEVELS
from looseleaf.base.paths import is_page, path_fault, quoted
from looseleaf.base.values import KINDS, are_texts
from looseleaf.store import IMPORTS, JOURNAL, JOURNAL_SCHEMA, TOMBSTONES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from looseleaf.base.values import Record

    Test = Callable[[Any], bool]

LEFT_OUT = "left out"
"""The kind of the stand-in for a record that is left out."""

SAYS = "this record is left out"
"""How the problem of such a record begins."""

_LOST = "lost.v1"
_NEWER = re.compile(r"journal\.v[0-9]{1,9}", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FARTHEST = 1e12
_LARGEST = 1 << 53
_NAME = 200
_TOPIC = 100
_SPANS = ("short_term", "medium_term", "current", "long_term", "future")
_STATUSES = ("current", "superseded", "pending", "rejected", "forgotten")


def stand_in(stream: str, record: Record) -> Record:
    """Return what is read in place of a record that is left out: with its id, by which its place is found again."""
    name = record.get("id")
    made: Record = {"kind": LEFT_OUT} | ({"schema": JOURNAL_SCHEMA} if stream == JOURNAL else {})
    return made | ({} if isinstance(name, (list, dict)) else {"id": name})


def fault_in(stream: str, record: Record) -> str | None:
    """Return what is wrong with a record of a stream of another machine, or None."""
    if stream == JOURNAL:
        return _fault_in_journal(record)
    tests = _TOMBSTONE if stream == TOMBSTONES else _IMPORT if stream == IMPORTS else _TALK
    return _fault_of(record, tests)


def stream_at(path: str) -> str:
    """Return the stream that a file of a log is of, by its path there: `log/archive/000001.jsonl`. Of the streams of
    agents, one name stands for all."""
    top, _, rest = path.removeprefix("log/").partition("/")
    return JOURNAL if top == "archive" else top.removesuffix(".jsonl") if not rest or top in _PLAIN else ""


_PLAIN = ("calls", TOMBSTONES, IMPORTS)


def is_newer(record: Record) -> bool:
    """True if a newer program wrote a record of a journal, in a format that this one does not know."""
    schema = record.get("schema")
    return isinstance(schema, str) and schema != JOURNAL_SCHEMA and _NEWER.fullmatch(schema) is not None


def _fault_in_journal(record: Record) -> str | None:
    if is_newer(record):
        return None  # who reads it refuses to go on
    schema, kind = record.get("schema"), record.get("kind")
    if schema not in (JOURNAL_SCHEMA, _LOST) or not isinstance(kind, str):
        return "it is no record of a journal"
    if schema == _LOST:
        return None if isinstance(record.get("id"), str) else "its member id makes no sense"
    for path in _paths_of(kind, record):
        if not is_page_path(path):
            return f"it is about {_shown(path)}, which is no page"
    return _fault_of(record, _ANY_RECORD) or _fault_of(record, _BY_KIND.get(kind, {}))


def _paths_of(kind: str, record: Record) -> list[Any]:
    """Return the files that a record is about."""
    if kind in ("edit", "void", "late", "copy"):
        of = record.get("of") if kind == "copy" else None
        return [record.get("path"), *([of] if of is not None else [])]
    paths = record.get("paths") if kind in ("gone", "found") else None
    return paths if isinstance(paths, list) else []


def is_page_path(path: object) -> bool:
    """True for the path of a page or of the state, in its canonical spelling: nothing else may follow from the log of
    another machine."""
    return isinstance(path, str) and _is_unicode(path) and path_fault(path) is None and is_page(path)


def _shown(path: object) -> str:
    return quoted(path) if isinstance(path, str) and _is_unicode(path) else "something"


def _fault_of(record: Mapping[str, Any], tests: Mapping[str, tuple[bool, Test]]) -> str | None:
    for name, (is_needed, test) in tests.items():
        if name not in record:
            if is_needed:
                return f"it has no member {name}"
        elif not test(record[name]):
            return f"its member {name} makes no sense"
    return None


# --- what a value may be ---------------------------------------------------------------


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_unicode(value: str) -> bool:
    """True without lone surrogates, which no file can hold."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_words(value: object) -> bool:
    return isinstance(value, str) and _is_unicode(value)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _NAME and value.isprintable()


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and -_FARTHEST <= value <= _FARTHEST  # type: ignore[operator]


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _LARGEST


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _is_topic(value: object) -> bool:
    is_short = isinstance(value, str) and len(value) <= _TOPIC
    return is_short and (value == "" or (path_fault(value) is None and value.count("/") < 2))  # type: ignore[arg-type,attr-defined]


def _is_reference(value: object) -> bool:
    """True for `<topic>/<id>` of an entry; of old ones, also the id alone."""
    return (
        isinstance(value, str) and _is_unicode(value) and path_fault(value) is None and value.count("/") < 3
    )


def _none_or(test: Test) -> Test:
    return lambda value: value is None or test(value)


def _each(test: Test) -> Test:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _tuple(*tests: Test, least: int | None = None) -> Test:
    """True for a list with these members, of which at least so many must be there."""
    fewest = len(tests) if least is None else least

    def test(value: object) -> bool:
        return (
            isinstance(value, list)
            and fewest <= len(value) <= len(tests)
            and all(each(part) for each, part in zip(tests, value, strict=False))
        )

    return test


def _one_of(values: tuple[str, ...]) -> Test:
    return lambda value: isinstance(value, str) and value in values


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_hunk(value: object) -> bool:
    if not isinstance(value, dict) or not _is_count(value.get("at")):
        return False
    return are_texts(value.get("del")) and are_texts(value.get("add"))


_TEXT_MEMBERS = (
    *("subject", "entry_id", "quote", "origin", "valid_from", "valid_to", "superseded_by", "layer", "person"),
    "decided_by",
)
_NUMBERS = (
    *(
        "confidence",
        "salience",
        "user_fact_score",
        "entry_ts",
        "recorded_at",
        "said_at",
        "order",
        "decided_at",
    ),
)
_FACT: dict[str, tuple[bool, Test]] = {
    **{name: (False, _none_or(_is_text)) for name in _TEXT_MEMBERS},
    **{name: (False, _none_or(_is_number)) for name in _NUMBERS},
    "topic": (False, _is_topic),
    "relation": (False, _is_words),
    "object": (False, _is_words),
    "id": (False, _is_name),
    "kind": (False, _none_or(_one_of(tuple(KINDS)))),
    "time_span": (False, _none_or(_one_of(_SPANS))),
    "level": (False, _none_or(_one_of(tuple(LEVELS)))),
    "status": (False, _one_of(_STATUSES)),
    "line": (False, _none_or(_is_count)),
    "path": (False, _none_or(is_page_path)),
    "tags": (False, are_texts),
    "sources": (False, are_texts),
}


def _fact(*needed: str) -> Test:
    tests = {name: (name in needed, test) for name, (_, test) in _FACT.items()}
    return lambda value: isinstance(value, dict) and _fault_of(value, tests) is None


_WHOLE = _fact("id", "topic", "subject", "relation", "object")
_KNOWN = _fact("id", "topic", "relation", "object")
_ENDED = _each(_tuple(_is_name, _is_text, _none_or(_is_name)))
_PART = _tuple(_is_name, _is_count)
_PLACE = _tuple(_is_count, _is_count)
_RETOLD = _each(_tuple(_is_name, _KNOWN))
_SEEN: Test = lambda value: isinstance(value, dict) and all(map(_is_name, value.values()))  # noqa: E731
_MERGE: dict[str, tuple[bool, Test]] = {
    "seen": (False, _SEEN),
    "as": (False, _none_or(_is_text)),
    "drops": (False, _each(_tuple(_PART, _PART))),
    "contests": (False, _each(_tuple(_PART, _PART))),
}
_SET: dict[str, tuple[bool, Test]] = {
    "user_fact_score": (False, _none_or(_is_number)),
    "confidence": (False, _none_or(_is_number)),
    "tags": (False, _none_or(are_texts)),
    "level": _FACT["level"],
    "status": _FACT["status"],
    "valid_to": (False, _none_or(_is_text)),
}

_ANY_RECORD: dict[str, tuple[bool, Test]] = {"id": (True, _is_name), "ts": (True, _is_number)}
_BY_KIND: dict[str, dict[str, tuple[bool, Test]]] = {
    "init": {"machine": (False, _is_text)},
    "edit": {
        "author": (True, _is_name),
        "reason": (True, _is_words),
        "base": (True, _none_or(_is_hash)),
        "new": (True, _none_or(_is_hash)),
        "diff": (True, _each(_is_hunk)),
        "encoding": (False, _is_text),
        "undoes": (False, _none_or(_is_name)),
        "whole": (False, _is_flag),
        "facts": (False, _each(_fact("relation", "object"))),
        "ended": (False, _ENDED),
        "merge": (False, lambda value: isinstance(value, dict) and _fault_of(value, _MERGE) is None),
        "taken": (False, _none_or(_is_text)),
        "cut": (False, _none_or(_is_name)),
    },
    "fact": {
        "fact": (True, _is_name),
        "topic": (True, _is_topic),
        "author": (False, _is_text),
        "reason": (False, _is_text),
        "set": (True, lambda value: isinstance(value, dict) and _fault_of(value, _SET) is None),
        "was": (False, _is_object),
        "undoes": (False, _none_or(_is_text)),
        "edits": (False, are_texts),
        "act": (False, _none_or(_is_text)),
    },
    "placed": {
        "agent": (False, _is_text),
        "entry": (False, _none_or(_is_reference)),
        "entry_ts": (False, _none_or(_is_number)),
        "topic": (False, _is_topic),
        "restated": (
            False,
            _each(_tuple(_is_topic, _is_name, _is_text, _none_or(_is_number), _none_or(_is_number), least=3)),
        ),
        "raised": (False, _each(_KNOWN)),
        "retold": (False, _RETOLD),
        "ended": (False, _ENDED),
        "history": (False, _each(_KNOWN)),
        "dropped": (False, _each(_is_object)),
        "edits": (False, are_texts),
        "instead": (False, _none_or(_is_text)),
        "through": (False, _none_or(_PLACE)),
        "last": (False, _none_or(_is_text)),
        "sum": (False, _none_or(_is_text)),
        "later": (False, _none_or(_is_text)),
    },
    "void": {"edit": (True, _is_name)},
    "late": {"edit": (False, _none_or(_is_text))},
    "gone": {"paths": (True, are_texts)},
    "found": {"paths": (True, are_texts)},
    "back": {
        "stream": (True, _is_text),
        "now": (True, _tuple(*[_is_count] * 2, *[lambda _: True] * 6, least=2)),
    },
    "accepted": dict.fromkeys(("losses", "entries", "keys"), (False, are_texts)),
    "merged": {"facts": (False, _each(_WHOLE)), "retold": (False, _RETOLD)},
    "flag": {"agent": (True, _is_text), "flag": (False, _none_or(_is_text))},
    "mark": {"agent": (True, _is_text)},
}

_TIMED: tuple[bool, Test] = (False, _none_or(_is_number))
_TALK: dict[str, tuple[bool, Test]] = {
    "ts": _TIMED,
    "trace_type": (False, _none_or(_is_text)),
    "kind": (False, _none_or(_is_text)),
}
_IMPORT: dict[str, tuple[bool, Test]] = {"ts": _TIMED}
_TOMBSTONE: dict[str, tuple[bool, Test]] = {
    "ts": _TIMED,
    "id": (True, _is_name),
    "key": (False, _none_or(_is_text)),
    "hashes": (False, _none_or(are_texts)),
    "gone": (False, _none_or(are_texts)),
    "of": (False, _none_or(are_texts)),
    "echoes": (False, _none_or(are_texts)),
    "words": (False, _none_or(_each(lambda value: type(value) is int and 0 < value <= 1000))),
}
