"""What of an item is new: its parts, without those that are recorded.

Of an item that was done before, the beginning is held back until as much of it is read as was taken in then. Mostly it
is the same, and nothing has to be looked up; else the log is asked which parts it has.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from looseleaf.transfer.import_ledger import Chain, Prior
    from looseleaf.transfer.items import Said

    Marked = tuple[Said, str]

HELD = 20_000_000
"""Characters of a beginning that are held at most; of a longer one the log is asked."""


class New:
    """Goes through the parts of an item once, each with its mark, and gives those that are new. `chain` takes in the
    marks of all. `recorded` asks the log. `is_loose`, at the end: the log has parts that the item has not."""

    def __init__(
        self, said: Iterable[Marked], chain: Chain, prior: Prior | None, recorded: Callable[[], set[str]]
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
                yield from self._unseen([(each, mark)])
                continue
            held.append((each, mark))
            size += len(each.text) + 100
            if not self._may_be_known(size):
                self._compare(held)
                yield from self._unseen(held)
                held = None
        if held:  # it is shorter than it was
            self._ask()
            yield from self._unseen(held)

    def _may_be_known(self, size: int) -> bool:
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
            self._ask()

    def _ask(self) -> None:
        self._seen = self._recorded()
        self._left = set(self._seen)

    def _unseen(self, held: list[Marked]) -> Iterator[Marked]:
        for each, mark in held:
            self._left.discard(mark)
            if mark not in self._seen:
                self._seen.add(mark)
                yield each, mark
