"""The process of one job: it reads what is asked on standard input, and says how far it is in lines of JSON.

    python -m looseleaf.serve.job

It goes on without the server that started it, and itself writes down what became of the job. Invariant: of a
forget it writes down only numbers, ids and the places where something is left, never the words.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from looseleaf.base.errors import Refused
from looseleaf.serve.jobs import FOLDER, READS, edition_at, kept, remove_received
from looseleaf.serve.state import FolderState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, BinaryIO

    from looseleaf.forget.forget import Forgotten
    from looseleaf.memory import Memory
    from looseleaf.serve.state import State

    Done = tuple[dict[str, Any], dict[str, Any]]
    """What came of a job, and what may be kept of that for ever: numbers and ids."""

_OFTEN = 0.1
"""Seconds between two lines, at least."""
_NICE = 10
"""What only reads gives way to the server."""


class Ended(BaseException):
    """The job was cancelled."""


class Teller:
    """Tells the server how far the job is. The server may be gone."""

    def __init__(self, target: BinaryIO) -> None:
        self._target: BinaryIO | None = target
        self._last = 0.0
        self.is_ended = False

    def say(self, **told: Any) -> None:
        if self._target is None:
            return
        try:
            self._target.write(json.dumps(told).encode() + b"\n")
            self._target.flush()
        except OSError:
            self._target = None

    def step(self, done: int, total: int) -> None:
        """Say how much is done; end here if the job was cancelled."""
        if self.is_ended:
            raise Ended
        if (now := time.monotonic()) - self._last >= _OFTEN or done == total:
            self._last = now
            self.say(done=done, total=total)


def main() -> int:
    teller = Teller(_claim_output())
    spec = json.load(sys.stdin)
    state = _open_state(spec["state"])
    if state.is_shared:
        state.hold(f"{FOLDER}/{spec['head']['id']}").__enter__()  # until this process ends
    _heed_signals(spec["kind"], teller)
    said: dict[str, Any]
    try:
        said = _run(spec, teller)
    except Ended:
        said = {"state": "cancelled"}
    except Refused as refused:
        said = {"state": "refused", "error": str(refused), "problem": type(refused).__name__}
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    said["ended"] = time.time()
    is_kept = not (spec["kind"] == "forget" and spec.get("dry_run"))
    told = json.dumps(kept(spec["head"], said if is_kept else _bare(said))).encode() + b"\n"
    state.put(f"{FOLDER}/{spec['head']['id']}.json", told)
    if file := spec.get("file"):
        remove_received(file)
    teller.say(**said, is_written=True)
    return 0


def _open_state(told: Mapping[str, str]) -> State:
    if "folder" in told:
        return FolderState(told["folder"])
    from looseleaf.serve.shared import SharedState
    from looseleaf.store.postgres.address import parse_address

    return SharedState(parse_address(told["address"]))


def _bare(said: dict[str, Any]) -> dict[str, Any]:
    return {**said, "result": said.get("lasting")}


def _claim_output() -> BinaryIO:
    """Keep standard output for the server: what else is printed goes to standard error."""
    end = os.dup(1)
    os.dup2(2, 1)
    return open(end, "wb")


def _heed_signals(kind: str, teller: Teller) -> None:
    def end(*_: object) -> None:
        if kind in READS:
            raise Ended
        teller.is_ended = True  # an import ends after an item

    # A forget is carried out whole.
    signal.signal(signal.SIGTERM, signal.SIG_IGN if kind == "forget" else end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(spec: Mapping[str, Any], teller: Teller) -> dict[str, Any]:
    from looseleaf.base.paths import IMPORTER
    from looseleaf.memory import Memory
    from looseleaf.pages.folder import is_memory, settings
    from looseleaf.serve.pool import without_layers

    kind, path = spec["kind"], spec["path"]
    if kind in READS:
        os.nice(_NICE)
    if not is_memory(path):
        raise Refused("Nothing was done: the memory is gone.")
    agent = spec.get("agent") if kind != "forget" else None
    agent = agent or (IMPORTER if kind == "import" else "main")
    policy = without_layers(settings(path, agent)) if spec["alone"] else None
    with Memory(path, agent=agent, policy=policy) as memory:
        result, lasting = _ACTS[kind](memory, spec, teller)
        return {"state": "done", "result": result, "lasting": lasting, "edition": _edition(memory)}


def _edition(memory: Memory) -> list[Any]:
    """Return what a forget changes, and how it is."""
    store = memory.parts.store
    if store.is_far:
        return ["", list(store.edition() or ())]
    mark = store.locate("log/tombstones.jsonl")
    return [mark, edition_at(mark)]


# --- what is done ------------------------------------------------------------------------


def _forget(memory: Memory, spec: Mapping[str, Any], teller: Teller) -> Done:
    names = ("fact", "topic", "session", "origin", "match", "agent", "in_place_of")
    is_dry = bool(spec.get("dry_run"))
    done = memory.forget(**{name: spec.get(name) for name in names}, dry_run=is_dry)
    lasting = told_forgotten(done, places=False)
    return (done.to_dict() if is_dry else told_forgotten(done, places=True)), lasting


def told_forgotten(done: Forgotten, *, places: bool) -> dict[str, Any]:
    """Return what a forget did, without a word of it. `places`: also where something of it is left."""
    told: dict[str, Any] = {"by": done.by, "id": done.id, "counts": done.counts, "layer": done.layer}
    told |= {"is_complete": done.is_complete, "is_nothing": done.is_nothing}
    told |= {"mentions": len(done.mentions), "names": len(done.names)}
    told |= {"unwritten": len(done.unwritten), "unheard": list(done.unheard)}
    told["layers"] = [told_forgotten(each, places=places) for each in done.layers]
    if done.probe is not None:
        read = done.probe
        left = {name: list(getattr(read, name)) for name in ("hits", "theirs", "machines", "elsewhere")}
        named = [name.split(":")[0] for name in done.names]
        told["probe"] = {"files": read.files, "bytes": read.bytes, "left": len(read.hits)}
        if places:
            # A file whose name has the words in it is not named.
            told["probe"] |= {
                name: [each for each in found if not any(word in each for word in named)]
                for name, found in left.items()
            }
    return told


def _import(memory: Memory, spec: Mapping[str, Any], teller: Teller) -> Done:
    from looseleaf.work.tasks import import_file

    return _told("import", import_file(memory, spec["file"], spec, teller.step))


def _check(memory: Memory, spec: Mapping[str, Any], teller: Teller) -> Done:
    from looseleaf.work.tasks import check

    return _told("check", check(memory, spec))


def _analyze(memory: Memory, spec: Mapping[str, Any], teller: Teller) -> Done:
    return _told("analyze", memory.explain.costs(spec.get("last") or 20).to_dict())


def _index(memory: Memory, spec: Mapping[str, Any], teller: Teller) -> Done:
    from looseleaf.work.tasks import make_index

    return _told("index", make_index(memory, spec, teller.step))


def _told(kind: str, result: dict[str, Any]) -> Done:
    from looseleaf.work.tasks import lasting

    return result, lasting(kind, result)


_ACTS: dict[str, Callable[[Memory, Mapping[str, Any], Teller], Done]] = {
    "forget": _forget,
    "import": _import,
    "check": _check,
    "analyze": _analyze,
    "index": _index,
}


if __name__ == "__main__":
    raise SystemExit(main())
