"""What goes into the state: words as somebody gave them, made into one clean line each, or Refused in one sentence.

Invariant: nothing here changes anything. What was cut is said; what is no text where one belongs is not guessed at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from looseleaf.base.errors import Refused
from looseleaf.base.page_paths import STATE
from looseleaf.state.rules import TITLE, WORD, blocker_text, short
from looseleaf.text.lines import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SENTENCE = 300
"""Characters of a goal, a reason, a convention."""


class Words:
    """Of one change. `clean` takes secrets out of a text; `said` gets a sentence for each text that was cut."""

    def __init__(self, clean: Callable[[Any], Any]) -> None:
        self._clean = clean
        self.said: list[str] = []

    def line(self, text: object, what: str, most: int = SENTENCE) -> str:
        """One line without secrets, cut where it is too long."""
        line = escape(self._clean(_text(text, what)))
        if len(line) > most:
            self.said.append(
                f"The {what} was cut after {most} characters: it had {len(line)}, and {STATE} is in every prompt. "
                "Write the rest on a page."
            )
        return short(line, most)

    def title(self, title: object, what: str) -> str:
        line = self.line(title, what, TITLE)
        if not line:
            raise Refused(f"{STATE} was not changed: the {what} says nothing. Say it in a few words.")
        return line

    def word(self, text: object, what: str) -> str:
        return short(self._clean(_text(text, what)), WORD)

    def which(self, name: object, what: str) -> str:
        """What is meant by a name, as a journal may say it."""
        return short(self._clean(_text(name, what)))

    def conventions(self, given: object) -> dict[str, str | int | float | bool | None]:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise Refused(
                f"{STATE} was not changed: conventions are {_kind(given)}. Give them by name, as in "
                '{"branch": "main"}.'
            )
        return {self._name(name): self._value(name, value) for name, value in given.items()}

    def _name(self, name: object) -> str:
        line = escape(self._clean(_text(name, "name of a convention")))
        if not line or len(line) > WORD:
            raise Refused(
                f"{STATE} was not changed: {short(line, WORD)!r} is no name for a convention. Give a word or two."
            )
        return line

    def _value(self, name: str, value: object) -> str | int | float | bool | None:
        if isinstance(value, str):
            return self.line(value, f"convention {short(name, WORD)}")
        if value is None or isinstance(value, (bool, int, float)):
            return value
        raise Refused(
            f"{STATE} was not changed: the convention {short(name, WORD)!r} is {_kind(value)}. Give a text, a number, "
            "or true or false."
        )

    def blockers(self, given: object) -> list[Any] | None:
        if given is None:
            return None
        if not isinstance(given, Sequence) or isinstance(given, (str, bytes, bytearray)):
            raise Refused(
                f'{STATE} was not changed: blockers are {_kind(given)}. Give a list of them, as in ["no access"].'
            )
        return [self._blocker(each) for each in given]

    def _blocker(self, blocker: object) -> Any:
        if not isinstance(blocker, Mapping):
            return self.line(blocker, "blocker", TITLE)
        kept: dict[str, Any] = self._clean(dict(blocker))
        return kept | {"title": self.title(blocker_text(kept), "blocker")}


def author_of(author: object) -> str | None:
    if author is None or isinstance(author, str):
        return author
    raise Refused(
        f"{STATE} was not changed: the author is {_kind(author)}. Use person, program or agent:<name>."
    )


def _text(text: object, what: str) -> str:
    if isinstance(text, str):
        return text
    raise Refused(f"{STATE} was not changed: the {what} is {_kind(text)}. Give a text.")


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"
