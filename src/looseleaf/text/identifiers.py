"""Identifiers in a tool's result: what a later call could need, and few other words.

Invariant: `identifiers` is deterministic and takes time linear in its input; each identifier comes once, where it
first occurs, on one visible line, so that no tool result can begin a line of its own. No pattern here backtracks
further than a fixed number of characters.
"""

from __future__ import annotations

import json

from looseleaf.text.lines import escape, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from looseleaf.base.messages import Trace

LONGEST = 256
"""A longer token is a blob, not an argument of a later call."""

_LEAF = (40, 3)
_NAMING_LEAF = (60, 6)
"""The characters and words up to which a string in a structure is kept whole; longer ones are read as text."""

_INHERITED = "."
"""The mark before a table's key, passed on to its values."""

_NESTED = 3
"""How deep to look for JSON inside JSON strings: gateways wrap it once or twice."""

_NAMING = lazy(r"(?i)(?:name|title|city|town|street|address[0-9]?|label|subject|company|product)\Z")
_COUNTING = lazy(
    r"(?i)(?:id|nr|no|num|number|code|price|amount|cost|total|sum|balance|fee|port|year|version|line|page|index|"
    r"offset|score|quantity)s?\Z"
)
"""Keys under which a number below a hundred stands for itself; elsewhere it means nothing without its key."""

_FIELD = lazy(r"[A-Za-z]+[0-9]{0,3}(?:[_-][A-Za-z]+[0-9]{0,3})*(?:[_-][0-9]{1,2})?\Z")
_CODE_KEY = lazy(r"(?:[A-Z]{3,5}|(?=[A-Z]*[0-9])[A-Z0-9]{3,32}|[0-9]{2,32})\Z")
_TITLED = lazy(r"[^\W\d_a-z][\w.'-]*(?: [\w.'-]+){0,3}\Z")

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
# Characters that end a token: in ASCII; and beyond it, punctuation and the scripts written without spaces.
_APART = r"\s\x00-\x1f\"'`<>(){}\[\],;|"
_WIDE = r"\u00a0-\u00bf\u2010-\u206f\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef"


# Runs of plain words, most of most texts, are skipped in one step.
def _token_pattern(apart: str) -> str:
    return (
        rf"(?:(?!{_MONTH}\b)[A-Z]?[a-z]++[,.;:!?]*+(?:\s++|\Z))+"
        rf"|(\b{_MONTH} [0-9]{{1,2}}(?:st|nd|rd|th)?\b(?:,? [0-9]{{4}}\b)?"
        rf"|\b[0-9]{{1,2}}\.? {_MONTH}(?![a-z])(?: [0-9]{{4}}\b)?"
        r"|[0-9]{1,4}年(?:[0-9]{1,2}月(?:[0-9]{1,2}日)?)?|[0-9]{1,2}月[0-9]{1,2}日"
        r"|\+[0-9][0-9 ().-]{5,18}[0-9]|\([0-9]{2,5}\) ?[0-9][0-9 -]{4,12}[0-9]"
        r"|[$€£¥]?(?<![0-9])[0-9]{1,3}(?:,[0-9]{3}){1,6}(?![0-9])(?:\.[0-9]{1,9})?"
        rf"|[$€£¥]?[^{apart}*][^{apart}]*)"
    )


_TOKENS = lazy(_token_pattern(_APART + _WIDE), in_ascii=_token_pattern(_APART))
_ORDINAL = lazy(r"[0-9]{1,3}(?:st|nd|rd|th)\Z")
_DIGIT = lazy(r"[0-9]")
_FILE = lazy(r"[\w-]{2,}(?:\.[\w-]+)*\.[a-z][a-z0-9]{0,5}\Z")
_HUMPS = lazy(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_CAPITALS = lazy(r"[A-Z]{3,}\Z")
_CAPITAL_WORDS = lazy(r"\b[A-Z]{3,}\b")
_SAMPLE = 4000
_BREAK = lazy(r"\s")
_NEAR = 40


def identifiers(value: Any, most: int | None = None) -> list[str]:
    """Return the identifiers in a tool's result or a text, in order of first appearance; at most `most`."""
    found: dict[str, None] = {}
    inner = from_json(value) if isinstance(value, str) else value
    for name in _find_in_text(value) if inner is None and isinstance(value, str) else _walk_structure(inner):
        if most is not None and len(found) >= most:
            break
        found.setdefault(name)
    return list(found)


# --- structures ------------------------------------------------------------------------


def _walk_structure(value: Any) -> Iterator[str]:
    # An explicit stack: a hostile structure may nest deeper than Python can recurse.
    waiting: list[tuple[str, Any, int]] = [("", value, _NESTED)]
    while waiting:
        key, node, nested = waiting.pop()
        match node:
            case dict():
                waiting.extend(reversed([*_list_members(key, node, nested)]))
            case list() | tuple():
                waiting.extend((key, item, nested) for item in reversed(node))
            case str():
                inner = from_json(node) if nested else None
                if inner is not None:
                    waiting.append((key, inner, nested - 1))
                else:
                    yield from _find_in_leaf(key, node)
            case _Name():
                yield escape(node.text)
            case bool() | None:
                pass
            case int() if (abs(node) >= 100 or _COUNTING.search(key)) and node.bit_length() < 256:
                yield str(node)
            case int() if key[:1] not in ("", _INHERITED) and abs(node) < 100:
                yield f"{escape(key)}={node}"
            case float() if node - node == 0:  # neither infinite nor nan
                yield repr(node)


class _Name:
    """A key that is an identifier, during the walk."""

    def __init__(self, text: str) -> None:
        self.text = text


def _list_members(key: str, node: dict[Any, Any], nested: int) -> Iterator[tuple[str, Any, int]]:
    is_table = _is_table(node)
    for name, item in node.items():
        if not isinstance(name, str):
            name = str(name) if type(name) is int and abs(name) < 1 << 64 else ""
        if is_table or _is_name(name):
            if name.strip() and len(name) <= LONGEST:
                yield "", _Name(name), 0
            # Its keys are data, so the key above the table names the values.
            yield key if key[:1] == _INHERITED else _INHERITED + key, item, nested
        else:
            yield name[:LONGEST], item, nested


def _is_table(node: dict[Any, Any]) -> bool:
    """Return whether the keys are data, not the names of fields: prices by cabin, records by name, codes by city."""
    values = list(node.values())
    if len(values) < 2:
        return False
    if all(type(value) in (int, float) for value in values):
        return True
    if all(type(value) is dict for value in values):
        first = values[0].keys()
        return len(first) > 0 and all(value.keys() == first for value in values)
    return (
        len(values) > 2
        and all(type(value) is str and 0 < len(value) <= 8 and " " not in value for value in values)
        and all(type(name) is str and _TITLED.match(name) for name in node)
    )


def _is_name(key: str) -> bool:
    if _CODE_KEY.match(key):
        return True
    return not _FIELD.match(key) and _is_identifier(key)


def from_json(text: str) -> Any:
    """Return the structure that a string holds: JSON, or lines of JSON. None if it holds none."""
    start = text[:64].lstrip()[:1]
    if start not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    lines = text.splitlines()
    if start != "{" or len(lines) < 2 or not lines[0].rstrip().endswith("}"):
        return None
    found: list[Any] = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            found.append(line)
    return found


def _find_in_leaf(key: str, text: str) -> Iterator[str]:
    chars, words = _NAMING_LEAF if _NAMING.search(key) else _LEAF
    if len(text) <= 4 * chars:
        line = escape(text)
        if not line:
            return
        if len(line) <= chars and line.count(" ") < words and any(map(str.isalnum, line)):
            yield line
            return
    yield from _find_in_text(text)


# --- text ------------------------------------------------------------------------------


_REDACTED = "[redacted "
_MARKS = lazy(r"\[redacted [a-z-]{1,40} [0-9a-f]{6}\]")
"""A redacted secret identifies nothing usable."""


def _find_in_text(text: str) -> Iterator[str]:
    if _REDACTED in text:
        text = _MARKS.sub(" ", text)
    shouts = _is_shouted(text[:_SAMPLE])
    for seen in _TOKENS.finditer(text):
        token = seen[1]
        if token is None or len(token) > LONGEST:
            continue
        token = token.rstrip(".:!?*~=")
        if "=" in token and "://" not in token:
            token = token.rpartition("=")[2]
        if _is_identifier(token) and not (shouts and _CAPITALS.match(token)):
            yield escape(token)


def _is_shouted(text: str) -> bool:
    """Return whether a text is written in capitals, where they mean nothing."""
    capitals = len(_CAPITAL_WORDS.findall(text))
    return capitals > 3 and capitals > 0.3 * len(text.split())


def _is_identifier(token: str) -> bool:
    if not 2 <= len(token) <= LONGEST:
        return False
    if "://" in token or "@" in token[1:-1]:
        return True
    if _DIGIT.search(token):
        return not (_ORDINAL.match(token) or (len(token) < 3 and token.isdigit()))
    if not any(map(str.isalpha, token)):
        return False
    if "/" in token or "\\" in token:
        bars = token.count("/") + token.count("\\")
        return bars > 1 or token[0] in "/.~" or token[-1] in "/\\" or any(mark in token for mark in "._-")
    if "_" in token.strip("_") or (token.startswith("--") and len(token) > 3) or token.startswith("__"):
        return True
    return bool(_FILE.match(token) or _HUMPS.search(token) or _CAPITALS.match(token))


# --- lines -----------------------------------------------------------------------------


def as_line(found: Iterable[str], limit: int) -> str:
    """Join as many as fit into `limit` characters, in order; the number left out comes last.

    A space is the cheapest separator in tokens; commas go only next to an identifier with a space.
    """
    names = list(found)
    line = joined(names)
    if len(line) <= limit:
        return line
    kept = 0
    room = limit - len(f", and {len(names)} more")
    for name in names:
        room -= len(name) + 2
        if room < 0:
            break
        kept += 1
    return f"{joined(names[:kept])}, and {len(names) - kept} more" if kept else ""


def joined(names: Iterable[str]) -> str:
    parts: list[str] = []
    spaced = False
    for name in names:
        has_space = " " in name
        if parts:
            parts.append(", " if spaced or has_space else " ")
        parts.append(name)
        spaced = has_space
    return "".join(parts)


def reduced(trace: Trace, limit: int, size: str) -> str:
    """Return the replacement for a tool's result: where it is, and what it named, within `limit` characters."""
    pointer = f"[tool result left out: {size}; looseleaf expand {trace.id}]"
    value = trace.tool_result if trace.tool_result is not None else trace.content
    error = f" It failed: {clipped(escape(trace.tool_error), limit, '…')}" if trace.tool_error else ""
    line = as_line(identifiers(value), limit)
    return pointer + error + (f" It named: {line}" if line else "")


def clipped(text: str, limit: int, pointer: str) -> str:
    """Return `text` if it has at most `limit` characters, else its beginning and end around the pointer.

    The pointer is always whole: without it the rest cannot be found.
    """
    if len(text) <= limit:
        return text
    gap = "\n" if "\n" in text else " "
    room = limit - len(pointer) - 2 * len(gap)
    if room < 2:
        return pointer
    tail = room // 3
    head, end = text[: room - tail], text[len(text) - tail :]
    # A word cut in two goes, if a word ends near.
    if near := _BREAK.search(head[: -_NEAR - 1 : -1]):
        head = head[: len(head) - near.end()].rstrip()
    if near := _BREAK.search(end[:_NEAR]):
        end = end[near.end() :].lstrip()
    return f"{head}{gap}{pointer}{gap}{end}"
