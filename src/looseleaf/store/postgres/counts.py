"""Token counts of a memory in a database, by the hash of the text. A view: what cannot be read is counted again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from looseleaf.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.store.postgres.database import Database

MOST = 1_000_000
"""Counts of a memory; past this they are begun again."""


class CountsTable:
    """The counts of one vocabulary (`KeptCounts` in `models/tokens.py`). Faults of the database end here."""

    def __init__(self, database: Database, memory: int, vocabulary: str) -> None:
        self._database, self._memory, self._vocabulary = database, memory, vocabulary

    def read(self, keys: Iterable[bytes]) -> dict[bytes, int] | None:
        query = (
            "SELECT text, tokens FROM looseleaf.counts "
            "WHERE memory = %s AND vocabulary = %s AND text = ANY (%s::bytea[])"
        )
        try:
            rows = self._database.run(self._memory, query, (self._memory, self._vocabulary, list(keys)))
        except Refused:
            return None
        return {bytes(text): int(tokens) for text, tokens in rows}

    def write(self, counts: dict[bytes, int]) -> None:
        if not counts:
            return
        values = self._memory, self._vocabulary, list(counts), list(counts.values()), MOST
        query = "SELECT looseleaf.keep_counts(%s, %s, %s::bytea[], %s::int[], %s)"
        try:
            self._database.run(self._memory, query, values)
        except Refused:
            pass  # they are counted again
