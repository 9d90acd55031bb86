"""chromadb: a persistent collection in this process. Vectors are given, so its own embedder downloads no model."""

from __future__ import annotations

from importlib import import_module
from uuid import uuid4

from benchmarks.peers.wire import Peer, Vectors, serve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Chroma(Peer):
    def __init__(self, folder: str, vectors: Vectors) -> None:
        self._vectors = vectors
        chromadb: Any = import_module("chromadb")
        settings = import_module("chromadb.config").Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(f"{folder}/chroma", settings=settings)
        self._said = self._client.get_or_create_collection(
            "said", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def add(self, text: str) -> None:
        self._said.add(ids=[uuid4().hex], documents=[text], embeddings=[self._vectors(text)])

    def search(self, query: str, k: int) -> list[str]:
        found = self._said.query(query_embeddings=[self._vectors(query)], n_results=k, include=["documents"])
        return [str(text) for text in found["documents"][0]]

    def all(self) -> list[str]:
        return [str(text) for text in self._said.get(include=["documents"])["documents"]]


if __name__ == "__main__":
    serve(Chroma)
