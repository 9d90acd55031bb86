"""basic-memory, as its MCP server: a note for each text, found by its search of words."""

from __future__ import annotations

import json
import os
from hashlib import sha256

from benchmarks.peers.mcp_stdio import Server
from benchmarks.peers.wire import Peer, Vectors, resident, serve


class BasicMemory(Peer):
    def __init__(self, folder: str, vectors: Vectors) -> None:
        self._folder = f"{folder}/notes"
        os.makedirs(self._folder, exist_ok=True)
        settings = {
            "HOME": folder,
            "BASIC_MEMORY_HOME": self._folder,
            "BASIC_MEMORY_CONFIG_DIR": f"{folder}/config",
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
            "BASIC_MEMORY_AUTO_UPDATE": "false",
            "BASIC_MEMORY_NO_PROMOS": "1",
        }
        program = os.environ["PEER_HOME"] + "/bin/basic-memory"
        self._server = Server([program, "mcp"], settings, folder)

    def add(self, text: str) -> None:
        name = sha256(text.encode()).hexdigest()[:12]
        said = self._server.call("write_note", title=name, content=text, directory="notes", project="main")
        if "Created note" not in said:
            raise RuntimeError(said)

    def search(self, query: str, k: int) -> str:
        return self._server.call(
            "search_notes",
            query=" OR ".join(query.replace("?", "").split()),
            page_size=k,
            project="main",
            output_format="json",
        )

    def texts(self, found: str) -> list[str]:
        return [_read(f"{self._folder}/{hit['file_path']}") for hit in json.loads(found)["results"]]

    def all(self) -> list[str]:
        notes = f"{self._folder}/notes"
        return [_read(f"{notes}/{name}") for name in os.listdir(notes) if name.endswith(".md")]

    def rss(self) -> int:
        return resident(self._server.pid)

    def close(self) -> None:
        self._server.close()


def _read(path: str) -> str:
    """The body of a note, below its front matter."""
    with open(path, encoding="utf-8") as file:
        return file.read().rpartition("\n---\n")[2].strip()


if __name__ == "__main__":
    serve(BasicMemory)
