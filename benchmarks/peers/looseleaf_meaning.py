"""looseleaf with the extra `semantic`: by words and by meaning. Its vectors are made before the first question."""

from __future__ import annotations

from benchmarks.peers.looseleaf import Looseleaf
from benchmarks.peers.wire import serve

from looseleaf.base.policy import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.recall.hits import Recalled


class Meaning(Looseleaf):
    _is_ready = False

    def policy(self) -> Policy:
        return Policy(semantic="minilm")

    def search(self, query: str, k: int) -> Recalled:
        if not self._is_ready:
            self._is_ready = True
            self._memory.views.build_index()
        return super().search(query, k)


if __name__ == "__main__":
    serve(Meaning)
