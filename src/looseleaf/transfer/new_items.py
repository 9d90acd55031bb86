"""The parts of an item that are new here, and not forgotten.

The beginning of an item that was imported before is held back until as many parts are read as it had then. Mostly they
are the same, and nothing is looked up; otherwise the log says which parts it has.
"""

from __future__ import annotations

from looseleaf.facts.tombstones import Tombstones, fact_text, sentence_text
from looseleaf.text.lines import NOTE
from looseleaf.text.spellings import MASK, each_text, is_nothing_else, sentences_in
from looseleaf.transfer.source import ImportDocument, Talk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from looseleaf.log.record_request import RecordRequest
    from looseleaf.store.protocol import Store
    from looseleaf.transfer.import_ledger import ImportChain, Prior
    from looseleaf.transfer.source import ImportMessage, Item

    Marked = tuple[ImportMessage, str]

_SAID = ("content", "tool_args", "tool_result", "tool_error", "reasoning")


class ForgottenFilter:
    """A filter for forgotten content: by name, by whole text and by sentence, in any file and under any name. `clean`
    takes the secrets out of a text."""

    def __init__(self, store: Store, clean: Callable[[str], str]) -> None:
        self._stones = Tombstones(store)
        self._clean = clean
        self.is_any = self._stones.are_there

    def has_item(self, name: str) -> bool:
        return self.is_any and self._stones.holds("item", name)

    def has(self, item: Item, name: str, session: str) -> bool:
        """True if an item is forgotten: of a document all, of a claim any sentence, since half a claim would be another
        claim."""
        if not self.is_any or self.has_item(name) or self._stones.holds("session", session):
            return self.is_any
        if isinstance(item, Talk):
            return False
        text = self._clean(item.text)
        left = self.strip_text(text)
        if self._is_forgotten_text(text):
            return True
        if isinstance(item, ImportDocument):
            return left != text and is_nothing_else(left)
        fact = fact_text(item.topic, item.relation or NOTE, text)
        return left != text or self._stones.holds("fact", fact)

    def strip_page(self, text: str) -> str:
        """Return a cleaned text for a page without its forgotten sentences, and without lines that are left empty."""
        left = self.strip_text(text)
        lines = zip(text.split("\n"), left.split("\n"), strict=True)
        return "\n".join(line for old, line in lines if line == old or not is_nothing_else(line))

    def strip_request(self, asked: RecordRequest) -> RecordRequest | None:
        """Return a cleaned request without its forgotten sentences; None if nothing is left."""
        if not self.is_any:
            return asked
        given = {name: getattr(asked, name) for name in _SAID}
        if any(self._is_forgotten_text(given[name]) for name in ("content", "tool_result", "tool_error")):
            return None
        left = {name: self._strip_value(value) for name, value in given.items()}
        if left == given:
            return asked
        if all(is_nothing_else(text) for value in left.values() for text in each_text(value)):
            return None
        return type(asked)(**{name: getattr(asked, name) for name in type(asked).__match_args__} | left)

    def strip_text(self, text: str) -> str:
        """Return the text without its forgotten sentences; line ends stay."""
        if not self.is_any:
            return text
        parts: list[str] = []
        at = 0
        for sentence in sentences_in(text):
            start = text.index(sentence, at)
            end = start + len(sentence)
            plain = sentence_text(sentence)
            is_gone = plain and self._stones.holds("sentence", plain)
            parts += [text[at:start], MASK if is_gone else sentence]
            at = end
        return "".join((*parts, text[at:]))

    def _is_forgotten_text(self, text: object) -> bool:
        return isinstance(text, str) and bool(text.strip()) and self._stones.holds("text", text)

    def _strip_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.strip_text(value)
        if isinstance(value, dict):
            return {self.strip_text(name): self._strip_value(inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._strip_value(inner) for inner in value]
        return value


HELD = 20_000_000
"""The most characters of a beginning that are held back; past that the log is read."""


class NewParts:
    """An iterator over the new parts of an item, each with its mark. `chain` collects all marks, `recorded` reads those
    in the log. `is_loose`, at the end: the log has parts that the item lacks."""

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
        """Marks in the log that did not come yet."""

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
            prior = self._prior
            if prior is not None and prior.is_done and self._chain.count < prior.count and size < HELD:
                continue  # too few to compare
            if prior is not None and self._chain.is_of(prior) and not prior.is_loose:
                self._seen = {mark for _, mark in held}
            else:
                self._read_recorded()
            yield from self._take_unseen(held)
            held = None
        if held:  # shorter than before
            self._read_recorded()
            yield from self._take_unseen(held)

    def _read_recorded(self) -> None:
        self._seen = self._recorded()
        self._left = set(self._seen)

    def _take_unseen(self, held: list[Marked]) -> Iterator[Marked]:
        for each, mark in held:
            self._left.discard(mark)
            if mark not in self._seen:
                self._seen.add(mark)
                yield each, mark
