"""The OpenAI Agents SDK's SQLiteSession: a list of messages in a database. It has no search."""

from __future__ import annotations

import asyncio
from importlib import import_module

from benchmarks.peers.wire import Peer, Vectors, serve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Session(Peer):
    def __init__(self, folder: str, vectors: Vectors) -> None:
        agents: Any = import_module("agents")
        self._loop = asyncio.new_event_loop()
        self._session = agents.SQLiteSession("session", f"{folder}/session.sqlite")

    def add(self, text: str) -> None:
        self._loop.run_until_complete(self._session.add_items([{"role": "user", "content": text}]))

    def all(self) -> list[str]:
        items = self._loop.run_until_complete(self._session.get_items())
        return [item["content"] for item in items]

    def close(self) -> None:
        self._session.close()
        self._loop.close()


if __name__ == "__main__":
    serve(Session)
