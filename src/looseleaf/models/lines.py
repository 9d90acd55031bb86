"""Lines of a response, as the formats of providers have them: ended by a newline, and by nothing else.

What HTTP libraries give as lines ends at every character that Unicode calls a line's end; some of these stand as they
are in the JSON of an answer, which would be torn there.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """The lines of bytes that come in pieces, the last one too if it has no end. What is no UTF-8 shows as �."""
    held: list[bytes] = []
    for piece in pieces:
        first, *more = piece.split(b"\n")
        held.append(first)
        for part in more:
            yield _text(held)
            held = [part]
    if any(held):
        yield _text(held)


def _text(parts: list[bytes]) -> str:
    return b"".join(parts).decode("utf-8", "replace").removesuffix("\r")


_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)
_OBJECT = re.compile(r"\s*:\s*(?=\{)")


def with_text(line: str, name: str, stands_for: Callable[[str], object | None]) -> str:
    """The line with other values for the objects that are called `name`: each is given as the text that came, and
    what `stands_for` makes of it is put there; None leaves it. Nothing is parsed, so that whatever would stop a parser
    (numbers without end, nesting without end) stops nothing here."""
    if f'"{name}"' not in line:
        return line
    made: list[str] = []
    done = begin = depth = 0
    is_due = False
    for token in _TOKENS.finditer(line):
        sign = token[0]
        if depth:
            depth += (sign in "{[") - (sign in "}]")
            if not depth:
                other = stands_for(line[begin : token.end()])
                if other is not None:
                    made += (line[done:begin], json.dumps(other))
                    done = token.end()
        elif is_due and sign == "{":
            begin, depth = token.start(), 1
        is_due = not depth and sign == f'"{name}"' and _OBJECT.match(line, token.end()) is not None
    return "".join((*made, line[done:]))
