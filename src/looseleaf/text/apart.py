"""What is told in words where a provider only knows the user's voice: set apart, so that it cannot go on in that voice.

A result that has no place of its own, a call that nobody made, a note of the system: each stands between marks
with a word that is made of its own text. The text is known to whoever wrote it, so the word alone keeps nobody out:
what looks like a mark in the text is escaped as well.
"""

from __future__ import annotations

from looseleaf.base.hashing import sha256
from looseleaf.text.untrusted import fenced, inert, notice, word


def word_of(*texts: str) -> str:
    """The word of a fence around texts: the same for the same ones, so that a prompt can be rendered again."""
    return word("apart", *(sha256(text.encode("utf-8", "surrogatepass")) for text in texts))


def told_apart(head: str, text: str, *known: str) -> str:
    """A line of ours, how to read what follows, and the text between its marks. `known`: what else tells this text
    from another."""
    mark = word_of(text, *known)
    return f"{head}\n{notice(mark)}\n{fenced(text, mark)}"


def noted(text: str) -> str:
    """A note of the system: no data, so its marks are others. Its end is told, since the user may go on behind it."""
    mark = word_of(text)
    return f"[System note {mark}]\n{inert(text, mark)}\n[End of system note {mark}]"


def one_line(text: str, chars: int = 128) -> str:
    """A name as it can stand in a line of ours."""
    line = " ".join(text.split())[:chars]
    return inert(line, word_of(line))
