"""What of an item is new: its parts, without those that are recorded.

Of an item that was done before, the beginning is held back until as much of it is read as was taken in then. Mostly it
is the same, and nothing has to be looked up; else the log is asked which parts it has.
"""

from __future__ import annotations

from looseleaf.facts.tombstones import Tombstones, fact_text, sentence_text
from looseleaf.text.lines import NOTE
from looseleaf.text.spellings import MASK, each_text, is_nothing_else, sentences_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from looseleaf.log.record_request import Asked
    from looseleaf.store.protocol import Store
    from looseleaf.transfer.import_ledger import ImportChain, Prior
    from looseleaf.transfer.source import ImportClaim, ImportMessage


# What of a source was forgotten here, and stays so: by its name, by all of its text, and sentence by
# sentence, in whichever file and under whichever name it comes again.

_SAID = ("content", "tool_args", "tool_result", "tool_error", "reasoning")


class ForgottenFilter:
    """`clean` takes the secrets out of a text."""

    def __init__(self, store: Store, clean: Callable[[str], str]) -> None:
        self._stones = Tombstones(store)
        self._clean = clean
        self.is_any = self._stones.are_there

    def has_item(self, name: str) -> bool:
        return self.is_any and self._stones.holds("item", name)

    def has_session(self, name: str) -> bool:
        return self.is_any and self._stones.holds("session", name)

    def has_claim(self, claim: ImportClaim) -> bool:
        """Half of a claim would be another one: it is gone if one sentence of it is."""
        if not self.is_any:
            return False
        text = self._clean(claim.text)
        fact = fact_text(claim.topic, claim.relation or NOTE, text)
        return (
            self._stones.holds("fact", fact) or self._is_forgotten_text(text) or self.strip_text(text) != text
        )

    def has_document(self, text: str) -> bool:
        """Whether nothing of a document is left."""
        if not self.is_any:
            return False
        text = self._clean(text)
        left = self.strip_text(text)
        return self._is_forgotten_text(text) or (left != text and is_nothing_else(left))

    def strip_page(self, text: str) -> str:
        """What is left of a cleaned text that becomes a page: lines of which nothing is left go."""
        left = self.strip_text(text)
        if left == text:
            return text
        was = text.split("\n")
        lines = left.split("\n")
        return "\n".join(
            line for old, line in zip(was, lines, strict=True) if line == old or not is_nothing_else(line)
        )

    def strip_request(self, asked: Asked) -> Asked | None:
        """What is left of something that was cleaned and is to be recorded; None: nothing."""
        if not self.is_any:
            return asked
        given = {name: getattr(asked, name) for name in _SAID}
        if any(
            self._is_forgotten_text(text)
            for name in ("content", "tool_result", "tool_error")
            if (text := given[name])
        ):
            return None
        left = {name: self._strip_value(value) for name, value in given.items()}
        if left == given:
            return asked
        if all(is_nothing_else(text) for value in left.values() for text in each_text(value)):
            return None
        return type(asked)(**{name: getattr(asked, name) for name in type(asked).__match_args__} | left)

    def strip_text(self, text: str) -> str:
        """The text without the sentences that were forgotten; line ends stay."""
        if not self.is_any:
            return text
        parts: list[str] = []
        at = 0
        for sentence in sentences_in(text):
            start = text.index(sentence, at)
            end = start + len(sentence)
            parts += [text[at:start], MASK if self._is_forgotten_sentence(sentence) else text[start:end]]
            at = end
        return "".join((*parts, text[at:]))

    def _is_forgotten_text(self, text: object) -> bool:
        return isinstance(text, str) and bool(text.strip()) and self._stones.holds("text", text)

    def _is_forgotten_sentence(self, sentence: str) -> bool:
        text = sentence_text(sentence)
        return bool(text) and self._stones.holds("sentence", text)

    def _strip_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.strip_text(value)
        if isinstance(value, dict):
            return {self.strip_text(name): self._strip_value(inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._strip_value(inner) for inner in value]
        return value


if TYPE_CHECKING:
    Marked = tuple[ImportMessage, str]


HELD = 20_000_000
"""Characters of a beginning that are held at most; of a longer one the log is asked."""


class NewParts:
    """Goes through the parts of an item once, each with its mark, and gives those that are new. `chain` takes in the
    marks of all. `recorded` asks the log. `is_loose`, at the end: the log has parts that the item has not."""

    def __init__(
        self,
        said: Iterable[Marked],
        chain: ImportChain,
        prior: Prior | None,
        recorded: Callable[[], set[str]],
    ) -> None:
        self._said = said
        self._chain = chain
        self._prior = prior
        self._recorded = recorded
        self._seen: set[str] = set()
        self._left: set[str] = set()
        """Of what the log has, the marks that did not come yet."""

    @property
    def is_loose(self) -> bool:
        return bool(self._left)

    def __iter__(self) -> Iterator[Marked]:
        held: list[Marked] | None = None if self._prior is None else []
        size = 0
        for each, mark in self._said:
            self._chain.add(mark)
            if held is None:
                yield from self._take_unseen([(each, mark)])
                continue
            held.append((each, mark))
            size += len(each.text) + 100
            if not self._is_too_soon(size):
                self._compare(held)
                yield from self._take_unseen(held)
                held = None
        if held:  # it is shorter than it was
            self._read_recorded()
            yield from self._take_unseen(held)

    def _is_too_soon(self, size: int) -> bool:
        """Whether it is too soon to say."""
        prior = self._prior
        return prior is not None and prior.is_done and self._chain.count < prior.count and size < HELD

    def _compare(self, held: list[Marked]) -> None:
        prior = self._prior
        is_same = (
            prior is not None
            and prior.is_done
            and (self._chain.content, self._chain.count) == (prior.content, prior.count)
        )
        if is_same and prior is not None and not prior.is_loose:
            self._seen = {mark for _, mark in held}
        else:
            self._read_recorded()

    def _read_recorded(self) -> None:
        self._seen = self._recorded()
        self._left = set(self._seen)

    def _take_unseen(self, held: list[Marked]) -> Iterator[Marked]:
        for each, mark in held:
            self._left.discard(mark)
            if mark not in self._seen:
                self._seen.add(mark)
                yield each, mark
