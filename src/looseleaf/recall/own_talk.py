"""An index as an agent sees it that may not see what others said: pages, facts, and its own talk.

Invariant: what others said changes nothing in an answer that tells whether they said it: neither the hits, nor how sure
the best is, nor which of the words asked for are known.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.index.protocol import Only
from looseleaf.log.entries import read_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from looseleaf.index.protocol import Corpus, Doc, Index
    from looseleaf.store.protocol import Store

_COMMON = 1_000
"""A word that stands in more items is no secret, and looking at them takes long."""
_FEW = 30
"""Items that are looked at for one that may be seen."""


class OwnTalk:
    """An index without other agents' talk, and without the entries that were made of it."""

    def __init__(self, index: Index, agent: str, store: Store) -> None:
        self._index, self._agent, self._store = index, agent, store
        self._entries: dict[str, bool] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def corpus(self, terms: Iterable[str]) -> Corpus:
        found = self._index.corpus(terms)
        df = {term: count for term, count in found.df.items() if count > _COMMON or self._has(term, count)}
        return found._replace(df=df)

    def _has(self, term: str, count: int) -> bool:
        return bool(self.candidates({term: count}, Only(past=True), _FEW))

    def candidates(self, terms: Mapping[str, int], only: Only, limit: int) -> list[Doc]:
        return self._seen(self._index.candidates(terms, self._narrowed(only), 2 * limit))[:limit]

    def within(self, first: float, last: float, only: Only, limit: int) -> list[Doc]:
        return self._seen(self._index.within(first, last, self._narrowed(only), 2 * limit))[:limit]

    def by_hash(self, hashes: Sequence[int], only: Only) -> list[Doc]:
        return self._seen(self._index.by_hash(hashes, self._narrowed(only)))

    def speakers(self, agent: str = "") -> list[str]:
        return self._index.speakers(agent or self._agent)

    def _narrowed(self, only: Only) -> Only:
        """Return the filter for talk of this agent; of two agents at once, there is none."""
        if only.agent in ("", self._agent):
            return only._replace(agent=self._agent)
        return only._replace(agent=f"{self._agent}/{only.agent}")

    def _seen(self, docs: Sequence[Doc]) -> list[Doc]:
        entries = {row.id: row.name for row in self._index.found([d.id for d in docs if d.kind == "entry"])}
        return [doc for doc in docs if doc.id not in entries or self._may_see(entries[doc.id])]

    def _may_see(self, entry: str) -> bool:
        if entry not in self._entries:
            try:
                about = read_entry(self._store, entry).meta
                is_talk = (
                    "traces" in about or "person" in about
                )  # what a person said, whose facts are on pages
                self._entries[entry] = not is_talk or about.get("agent") == self._agent
            except Refused:
                self._entries[entry] = False
        return self._entries[entry]
