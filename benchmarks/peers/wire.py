"""How the driver talks with an adapter: JSON lines, the same for every peer.

An adapter runs in the environment of its peer, with nothing of ours but this file and the standard library:

    python -P benchmarks/peers/NAME.py FOLDER [VECTORS]             answers the lines below until its input ends
    python -P benchmarks/peers/NAME.py FOLDER VECTORS QUESTION      answers one question and ends: a cold start

    {"do": "add", "texts": [...]}       one by one: the seconds of each that was acknowledged, and what was refused
    {"do": "search", "query": q, "k": n}    the seconds, and the texts that were found, best first
    {"do": "all"}                       every text that can be read
    {"do": "rss"}                       resident memory of whatever holds the peer, in bytes
    {"do": "size"}                      what the folder takes on disk, in bytes
    {"do": "close"}                     closes it and ends

Seconds are taken here, around the peer's own call, so that nobody pays for the pipe. What a library prints goes to
standard error. Imports are few: they are part of every peer's cold start.
"""

from __future__ import annotations

import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    Answer = dict[str, Any]

DIGEST, DIMENSIONS = 16, 384
RECORD = DIGEST + 4 * DIMENSIONS


class Peer:
    """What an adapter fills in. `search` gives what the peer gives; `texts` reads the texts off it, untimed."""

    def __init__(self, folder: str, vectors: Vectors) -> None:
        raise NotImplementedError

    def add(self, text: str) -> None:
        raise NotImplementedError

    def search(self, query: str, k: int) -> Any:
        raise NotImplementedError

    def texts(self, found: Any) -> list[str]:
        return list(found)

    def all(self) -> list[str]:
        raise NotImplementedError

    def rss(self) -> int:
        return resident("self")

    def close(self) -> None:
        pass


class Vectors:
    """Vectors of texts that were made before, so that no embedder is in the times: a file of sorted digests."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._bytes: memoryview | None = None

    def __call__(self, text: str) -> list[float]:
        if self._bytes is None:
            import mmap

            with open(self._path, "rb") as file:
                self._bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        wanted, data = digest(text), self._bytes
        low, high = 0, len(data) // RECORD
        while low < high:
            middle = (low + high) // 2
            if bytes(data[middle * RECORD : middle * RECORD + DIGEST]) < wanted:
                low = middle + 1
            else:
                high = middle
        at = low * RECORD
        if bytes(data[at : at + DIGEST]) != wanted:
            raise LookupError(f"there is no vector of {text!r}")
        return list(map(float, data[at + DIGEST : at + RECORD].cast("f")))


def digest(text: str) -> bytes:
    from hashlib import blake2b

    return blake2b(text.encode(), digest_size=DIGEST).digest()


def resident(process: str | int) -> int:
    """Bytes that a process holds in memory, and those that it started."""
    with open(f"/proc/{process}/status") as status:
        kilobytes = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    return 1024 * kilobytes


def disk(folder: str) -> int:
    """What the files of a folder take on disk, not what they hold: many small ones take a block each."""
    return sum(
        os.stat(os.path.join(where, name)).st_blocks * 512
        for where, _, names in os.walk(folder)
        for name in names
    )


def told(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip()}"[:300]


def answers(peer: Peer, folder: str) -> dict[str, Callable[[Answer], Answer]]:
    def add(asked: Answer) -> Answer:
        took: list[float] = []
        kept: list[str] = []
        refused: list[str] = []
        for text in asked["texts"]:
            began = time.perf_counter()
            try:
                peer.add(text)
            except Exception as error:  # noqa: BLE001 - a peer's own refusal, whatever it is: it did not say yes
                refused.append(told(error))
            else:
                took.append(time.perf_counter() - began)
                kept.append(text)
        return {"took": took, "kept": kept, "refused": refused}

    def search(asked: Answer) -> Answer:
        began = time.perf_counter()
        found = peer.search(asked["query"], asked["k"])
        took = time.perf_counter() - began
        return {"took": took, "texts": peer.texts(found)[: asked["k"]]}

    return {
        "add": add,
        "search": search,
        "all": lambda asked: {"texts": peer.all()},
        "rss": lambda asked: {"bytes": peer.rss()},
        "size": lambda asked: {"bytes": disk(folder)},
    }


def serve(make: Callable[[str, Vectors], Peer], arguments: Sequence[str] | None = None) -> None:
    folder, vectors, *question = [*(sys.argv[1:] if arguments is None else arguments), ""][:3]
    out = _own_output()
    peer = make(folder, Vectors(vectors))
    if question and question[0]:
        print(json.dumps(peer.texts(peer.search(question[0], 10))), file=out, flush=True)
        peer.close()
        return
    known = answers(peer, folder)
    print(json.dumps({"ready": True}), file=out, flush=True)
    for asked in _lines():
        if asked["do"] == "close":
            peer.close()
            print(json.dumps({"closed": True}), file=out, flush=True)
            return
        try:
            answer = known[asked["do"]](asked)
        except Exception as error:  # noqa: BLE001 - what a peer raises is told to the driver, which says it
            answer = {"error": told(error)}
        print(json.dumps(answer), file=out, flush=True)


def _lines() -> Iterator[Answer]:
    for line in sys.stdin:
        yield json.loads(line)


def _own_output() -> Any:
    """Standard output for answers alone: whatever libraries print goes to standard error."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return own
