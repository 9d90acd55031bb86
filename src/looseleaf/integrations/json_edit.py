"""A JSON text with a member or an element added or removed; comments and trailing commas may stand in it.

Invariant: `remove` takes out exactly what `add` put in, whatever stood around it. What is left empty goes too, also
where the agent wrote the file anew meanwhile; unless it was empty before: `add` marks that by writing right after the
bracket, without a space.
"""

from __future__ import annotations

import json
import re

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@frozen
class Node:
    """A value of a JSON text, and its place. `keys`: an object's, each with its start."""

    value: Any
    start: int
    end: int
    parts: tuple[Node, ...] = ()
    keys: tuple[tuple[str, int], ...] = ()

    def member(self, name: str) -> Node:
        """Return a member, ABSENT if there is none; of several, the last, as JSON readers do."""
        return self.parts[at] if (at := self.index(name)) is not None else ABSENT

    def index(self, name: str) -> int | None:
        return max((at for at, (key, _) in enumerate(self.keys) if key == name), default=None)

    def begin(self, number: int) -> int:
        """Return where a member or an element begins."""
        return self.keys[number][1] if self.keys else self.parts[number].start


ABSENT = Node(None, 0, 0)

_decoder = json.JSONDecoder()

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)

_BESIDE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/))*")
"""Comments on the same line."""

_BROKEN = re.compile(r"\r?\n[ \t]*\Z")


def is_blank(text: str | None) -> bool:
    return text is None or not text.removeprefix("\ufeff").strip(" \t\r\n")


def parse(text: str) -> Node:
    """Parse a text; ValueError says what is wrong with it."""
    node = _value_at(text, _skip(text, int(text.startswith("\ufeff"))))
    if (rest := _skip(text, node.end)) < len(text):
        raise json.JSONDecodeError("Extra data", text, rest)
    return node


def _value_at(text: str, at: int) -> Node:
    if text[at : at + 1] not in ("{", "["):
        value, end = _decoder.raw_decode(text, at)
        return Node(value, at, end)
    start, is_object, parts, keys = at, text[at] == "{", [], []
    close = "}" if is_object else "]"
    at = _skip(text, at + 1)
    while text[at : at + 1] != close:
        if is_object:
            key, end = _decoder.raw_decode(text, at)
            colon = _skip(text, end)
            if not isinstance(key, str) or text[colon : colon + 1] != ":":
                raise json.JSONDecodeError("Expecting a name and ':'", text, at)
            keys.append((key, at))
            at = _skip(text, colon + 1)
        parts.append(_value_at(text, at))
        at = _skip(text, parts[-1].end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != close:
            raise json.JSONDecodeError("Expecting ','", text, at)
    values = [part.value for part in parts]
    made = dict(zip((key for key, _ in keys), values, strict=True)) if is_object else values
    return Node(made, start, at + 1, tuple(parts), tuple(keys))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def add(text: str | None, path: tuple[str | int, ...], value: Any, *, is_element: bool = False) -> str:
    """Return the text with a value at a path, or at the end of the list there; missing containers are made.

    ValueError if something else than the expected container stands on the way.
    """
    steps: list[str | int | None] = [*path, None] if is_element else [*path]
    if is_blank(text):
        made = _made(steps, value, "\n", "  ")
        return f"{made}\n" if text is None else f"{text} {made}"
    assert text is not None
    node, depth = parse(text), 0
    while True:
        step = steps.pop(0)
        if not isinstance(node.value, dict if isinstance(step, str) else list):
            raise ValueError(f"{path[depth - 1] if depth else 'it'} does not have the expected form")
        found = node.member(step) if isinstance(step, str) else ABSENT if step is None else node.parts[step]
        if found is ABSENT:
            return _insert(text, node, depth, [step, *steps], value)
        if not steps:
            return text if found.value == value else text[: found.start] + _line(value) + text[found.end :]
        node, depth = found, depth + 1


def _insert(text: str, node: Node, depth: int, steps: list[str | int | None], value: Any) -> str:
    """Return the text with a new last part of a container; a comment beside the last one stays there."""
    unit = re.search(r"\n([ \t]+)", text)
    indent = unit[1] if unit is not None else "  "
    gap = ("\r\n" if "\r\n" in text else "\n") + indent * (depth + 1)
    if node.parts:
        broken = _BROKEN.search(text, node.start, node.begin(len(node.parts) - 1))
        gap = broken[0] if broken is not None else gap
    made = _made(steps, value, gap, indent, is_part=True)
    if not node.parts:
        return f"{text[: node.start + 1]}{made}{text[node.start + 1 :]}"
    last = node.parts[-1].end
    comma = _skip(text, last)
    if text[comma] == ",":
        at = _beside(text, comma + 1)
        return f"{text[:at]}{gap}{made},{text[at:]}"
    at = _beside(text, last)
    return f"{text[:last]},{text[last:at]}{gap}{made}{text[at:]}"


def _made(steps: list[str | int | None], value: Any, gap: str, indent: str, *, is_part: bool = False) -> str:
    """Return the text of a value in containers of its own: lists on one line, objects on several."""
    step, *rest = steps
    inner = (
        _made(rest, value, gap if is_part or step is None else gap + indent, indent) if rest else _line(value)
    )
    if step is not None:
        inner = f"{_line(step)}: {inner}"
    if is_part:
        return inner
    return f"[ {inner} ]" if step is None else f"{{{gap}{indent}{inner}{gap}}}"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _beside(text: str, at: int) -> int:
    found = _BESIDE.match(text, at)
    return found.end() if found is not None else at


def remove(text: str, path: tuple[str | int, ...]) -> str | None:
    """Return the text without the value at a path, and without containers that `add` made for it. None: no file."""
    nodes, numbers = [parse(text)], []
    for step in path:
        number = step if isinstance(step, int) else nodes[-1].index(step)
        if number is None or number >= len(nodes[-1].parts):
            return text
        numbers.append(number)
        nodes.append(nodes[-1].parts[number])
    nodes.pop()
    while len(nodes[-1].parts) == 1 and nodes[-1].begin(0) != nodes[-1].start + 1:
        made = nodes.pop()
        numbers.pop()
        if not nodes:
            before, after = text[: made.start], text[made.end :]
            return before[:-1] + after if before else None
    return _cut(text, nodes[-1], numbers[-1])


def _cut(text: str, node: Node, number: int) -> str:
    """Return the text without one part, its line break, and one comma."""
    begin, end = node.begin(number), node.parts[number].end
    if begin == node.start + 1 and len(node.parts) > 1:
        return text[:begin] + text[node.begin(1) :]  # the mark stays
    broken = _BROKEN.search(text, node.start, begin)
    start = broken.start() if broken is not None else begin
    comma = _skip(text, end)
    if text[comma] == ",":
        return text[:start] + text[end:comma] + text[comma + 1 :]
    if number == 0:
        return text[:start] + text[end:]
    comma = _skip(text, node.parts[number - 1].end)
    return text[:comma] + text[comma + 1 : start] + text[end:]
