"""The MCP reference memory server: an entity for each text, with the text as its observation."""

from __future__ import annotations

import json
import os
from hashlib import sha256

from benchmarks.peers.mcp_stdio import Server
from benchmarks.peers.wire import Peer, Vectors, resident, serve
from benchmarks.peers.words import by_words, telling

PACKAGE = "node_modules/@modelcontextprotocol/server-memory/dist/index.js"


class ServerMemory(Peer):
    def __init__(self, folder: str, vectors: Vectors) -> None:
        home = os.environ["PEER_HOME"]
        memory = {"MEMORY_FILE_PATH": f"{folder}/memory.jsonl"}
        self._server = Server(["node", f"{home}/{PACKAGE}"], memory, folder)

    def add(self, text: str) -> None:
        name = sha256(text.encode()).hexdigest()[:12]
        entity = {"name": name, "entityType": "note", "observations": [text]}
        self._server.call("create_entities", entities=[entity])

    def search(self, query: str, k: int) -> list[str]:
        found = [
            text for word in telling(query) for text in _texts(self._server.call("search_nodes", query=word))
        ]
        return by_words(query, found, k)

    def all(self) -> list[str]:
        return _texts(self._server.call("read_graph"))

    def rss(self) -> int:
        return resident(self._server.pid)

    def close(self) -> None:
        self._server.close()


def _texts(answer: str) -> list[str]:
    return [text for entity in json.loads(answer)["entities"] for text in entity["observations"]]


if __name__ == "__main__":
    serve(ServerMemory)
