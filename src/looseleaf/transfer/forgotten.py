"""What of a source was forgotten here, and stays so: by its name, by all of its text, and sentence by sentence, in
whichever file and under whichever name it comes again. The rest of it is taken (FORMAT §17.5).

Texts are asked for as they would be recorded, without their secrets: that is how the tombstones know them.
"""

from __future__ import annotations

from looseleaf.facts.tombstones import Tombstones, fact_text, sentence_text
from looseleaf.text.lines import NOTE
from looseleaf.text.words import MASK, each_text, is_nothing_else, sentences_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looseleaf.log.record_request import Asked
    from looseleaf.store.protocol import Store
    from looseleaf.transfer.items import Claim

_SAID = ("content", "tool_args", "tool_result", "tool_error", "reasoning")


class Forgotten:
    """`clean` takes the secrets out of a text."""

    def __init__(self, store: Store, clean: Callable[[str], str]) -> None:
        self._stones = Tombstones(store)
        self._clean = clean
        self.is_any = self._stones.are_there

    def item(self, name: str) -> bool:
        return self.is_any and self._stones.holds("item", name)

    def session(self, name: str) -> bool:
        return self.is_any and self._stones.holds("session", name)

    def claim(self, claim: Claim) -> bool:
        """Half of a claim would be another one: it is gone if one sentence of it is."""
        if not self.is_any:
            return False
        text = self._clean(claim.text)
        fact = fact_text(claim.topic, claim.relation or NOTE, text)
        return self._stones.holds("fact", fact) or self._all(text) or self.left(text) != text

    def document(self, text: str) -> bool:
        """Whether nothing of a document is left."""
        if not self.is_any:
            return False
        text = self._clean(text)
        left = self.left(text)
        return self._all(text) or (left != text and is_nothing_else(left))

    def page(self, text: str) -> str:
        """What is left of a cleaned text that becomes a page: lines of which nothing is left go."""
        left = self.left(text)
        if left == text:
            return text
        was = text.split("\n")
        lines = left.split("\n")
        return "\n".join(
            line for old, line in zip(was, lines, strict=True) if line == old or not is_nothing_else(line)
        )

    def asked(self, asked: Asked) -> Asked | None:
        """What is left of something that was cleaned and is to be recorded; None: nothing."""
        if not self.is_any:
            return asked
        given = {name: getattr(asked, name) for name in _SAID}
        if any(self._all(text) for name in ("content", "tool_result", "tool_error") if (text := given[name])):
            return None
        left = {name: self._left_of(value) for name, value in given.items()}
        if left == given:
            return asked
        if all(is_nothing_else(text) for value in left.values() for text in each_text(value)):
            return None
        return type(asked)(**{name: getattr(asked, name) for name in type(asked).__match_args__} | left)

    def left(self, text: str) -> str:
        """The text without the sentences that were forgotten; line ends stay."""
        if not self.is_any:
            return text
        parts: list[str] = []
        at = 0
        for sentence in sentences_in(text):
            start = text.index(sentence, at)
            end = start + len(sentence)
            parts += [text[at:start], MASK if self._said(sentence) else text[start:end]]
            at = end
        return "".join((*parts, text[at:]))

    def _all(self, text: object) -> bool:
        return isinstance(text, str) and bool(text.strip()) and self._stones.holds("text", text)

    def _said(self, sentence: str) -> bool:
        text = sentence_text(sentence)
        return bool(text) and self._stones.holds("sentence", text)

    def _left_of(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.left(value)
        if isinstance(value, dict):
            return {self.left(name): self._left_of(inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._left_of(inner) for inner in value]
        return value
