"""The Anthropic SDK's local memory tool: lines inserted into notes, as a model keeps them. It has no search."""

from __future__ import annotations

import os
from hashlib import sha256
from importlib import import_module

from benchmarks.peers.wire import Peer, Vectors, serve
from benchmarks.peers.words import lines_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NOTES = 16
"""Files that all texts go to: about sixty lines in each of a thousand."""


class MemoryTool(Peer):
    def __init__(self, folder: str, vectors: Vectors) -> None:
        tools: Any = import_module("anthropic.tools.memory")
        self._folder = f"{folder}/memories"
        self._tool = tools.BetaLocalFilesystemMemoryTool(folder)

    def add(self, text: str) -> None:
        name = f"notes-{int(sha256(text.encode()).hexdigest(), 16) % NOTES:02d}.md"
        path = f"/memories/{name}"
        if not os.path.exists(f"{self._folder}/{name}"):
            try:
                self._tool.call({"command": "create", "path": path, "file_text": f"{text}\n"})
            except import_module("anthropic.lib.tools").ToolError:  # another process made it first
                pass
            else:
                return
        self._tool.call({"command": "insert", "path": path, "insert_line": 0, "insert_text": text})

    def all(self) -> list[str]:
        return lines_in(self._folder)


if __name__ == "__main__":
    serve(MemoryTool)
