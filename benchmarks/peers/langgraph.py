"""LangGraph's SqliteStore with its vector index (sqlite-vec). Vectors are given."""

from __future__ import annotations

from contextlib import ExitStack
from importlib import import_module
from uuid import uuid4

from benchmarks.peers.wire import DIMENSIONS, Peer, Vectors, serve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACE = ("memories",)


class LangGraph(Peer):
    def __init__(self, folder: str, vectors: Vectors) -> None:
        sqlite: Any = import_module("langgraph.store.sqlite")
        self._open = ExitStack()
        index = {
            "dims": DIMENSIONS,
            "embed": lambda texts: [vectors(text) for text in texts],
            "fields": ["text"],  # as it is documented
            "text_fields": ["text"],  # as it is read
        }
        made = sqlite.SqliteStore.from_conn_string(f"{folder}/store.sqlite", index=index)
        self._store = self._open.enter_context(made)
        self._store.setup()

    def add(self, text: str) -> None:
        self._store.put(PLACE, uuid4().hex, {"text": text})

    def search(self, query: str, k: int) -> list[str]:
        return [item.value["text"] for item in self._store.search(PLACE, query=query, limit=k)]

    def all(self) -> list[str]:
        return [item.value["text"] for item in self._store.search(PLACE, limit=1_000_000)]

    def close(self) -> None:
        self._open.close()


if __name__ == "__main__":
    serve(LangGraph)
