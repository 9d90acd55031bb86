"""mem0, without a model: `infer=False` keeps what was said, in its default local store. Vectors are given."""

from __future__ import annotations

import os
from importlib import import_module

from benchmarks.peers.wire import DIMENSIONS, Peer, Vectors, serve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WHO = {"user_id": "user"}


class Embedder:
    """What mem0 asks an embedder for."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._vectors(text)


class Mem0(Peer):
    def __init__(self, folder: str, vectors: Vectors) -> None:
        os.environ |= {
            "MEM0_TELEMETRY": "False",
            "MEM0_DIR": f"{folder}/mem0",
            "OPENAI_API_KEY": "not called",
        }
        mem0: Any = import_module("mem0")
        store = {"path": f"{folder}/qdrant", "on_disk": True, "embedding_model_dims": DIMENSIONS}
        self._memory = mem0.Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": f"{folder}/history.sqlite",
            }
        )
        self._memory.embedding_model = Embedder(vectors)

    def add(self, text: str) -> None:
        kept = self._memory.add(text, infer=False, **WHO)["results"]
        assert kept, "nothing was kept"

    def search(self, query: str, k: int) -> list[str]:
        found = self._memory.search(query, top_k=k, filters=WHO, threshold=0.0)["results"]
        return [each["memory"] for each in found]

    def all(self) -> list[str]:
        return [each["memory"] for each in self._memory.get_all(filters=WHO, top_k=1_000_000)["results"]]


if __name__ == "__main__":
    serve(Mem0)
