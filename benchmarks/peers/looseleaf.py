"""looseleaf: each text recorded as a message of the user, as a program does it, and found by `recall`."""

from __future__ import annotations

from benchmarks.peers.wire import Peer, Vectors, serve

from looseleaf import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.policy import Policy
    from looseleaf.recall.hits import Recalled


class Looseleaf(Peer):
    def __init__(self, folder: str, vectors: Vectors) -> None:
        self._memory = Memory(f"{folder}/memory", policy=self.policy())
        self._texts: dict[str, str] = {}

    def policy(self) -> Policy | None:
        return None

    def add(self, text: str) -> None:
        self._memory.record(user=text)

    def search(self, query: str, k: int) -> Recalled:
        return self._memory.recall(query, k)

    def texts(self, found: Recalled) -> list[str]:
        """A hit may be shortened: its message is read where it stands."""
        if any(hit.where not in self._texts for hit in found):
            self._texts = self._said()
        return [self._texts[hit.where] for hit in found]

    def all(self) -> list[str]:
        return list(self._said().values())

    def close(self) -> None:
        self._memory.close()

    def _said(self) -> dict[str, str]:
        lines = self._memory.parts.context.store.read("traces/main")
        return {str(line.record["id"]): str(line.record["content"]) for line in lines}


if __name__ == "__main__":
    serve(Looseleaf)
