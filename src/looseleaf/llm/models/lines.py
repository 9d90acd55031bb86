"""Lines of a response, as the formats of providers have them: ended by a newline, and by nothing else.

What HTTP libraries give as lines ends at every character that Unicode calls a line's end; some of these stand as they
are in the JSON of an answer, which would be torn there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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
