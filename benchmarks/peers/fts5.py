"""Plain FTS5, the floor: what anybody would write first, each row synced before it is acknowledged."""

from __future__ import annotations

import re
import sqlite3

from benchmarks.peers.wire import Peer, Vectors, serve


class Fts5(Peer):
    def __init__(self, folder: str, vectors: Vectors) -> None:
        self._rows = sqlite3.connect(f"{folder}/said.sqlite", isolation_level=None, timeout=60)
        self._rows.execute("PRAGMA journal_mode = WAL")
        self._rows.execute("PRAGMA synchronous = FULL")
        self._rows.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS said USING fts5 (text, tokenize = 'porter unicode61')"
        )

    def add(self, text: str) -> None:
        self._rows.execute("INSERT INTO said VALUES (?)", (text,))

    def search(self, query: str, k: int) -> list[str]:
        every = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        asked = "SELECT text FROM said WHERE said MATCH ? ORDER BY rank LIMIT ?"
        return [row[0] for row in self._rows.execute(asked, (every, k))]

    def all(self) -> list[str]:
        return [row[0] for row in self._rows.execute("SELECT text FROM said")]

    def close(self) -> None:
        self._rows.close()


if __name__ == "__main__":
    serve(Fts5)
