"""A process that forgets, and what must be true of a memory in which it was ended.

`python -I -S -B forget_work.py FOLDER` carries out the orders of `crash_work`, with the work below in place of its own;
`"flaw"` in an order names what it does wrong. Whoever looks at the memory next sees what it was, or what it is to be,
and nothing in between; and whoever repeats the command has it forgotten.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "src")]

if len(sys.argv) == 2:  # `-S` knows no installed package, and stemming is one
    import site

    site.main()

import ctypes  # noqa: E402

from forgetting import POLICY, THEN, Op, differences, holding, live, seen  # noqa: E402
from looseleaf import Memory  # noqa: E402
from looseleaf.base.errors import Refused  # noqa: E402
from looseleaf.base.ids import at  # noqa: E402
from looseleaf.store import documents as switch  # noqa: E402
from looseleaf.store import files  # noqa: E402
from looseleaf.store.root import PLAN  # noqa: E402
from scripts import crash_work  # noqa: E402
from workload import Verdict  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from looseleaf.store.disk import Disk

CANARY = "zebrafish"
HISTORY = (
    Op("talk", "kept", ("I live in Berlin. I am allergic to latex.",)),
    Op("distill"),
    Op(
        "talk",
        "gone",
        (f"I moved to Paris. I am allergic to {CANARY} tea.", "TODO: write the Kafka importer."),
    ),
    Op("distill"),
    Op("append", "", ("PROJECT.md", "- Rule: be kind")),
    Op("talk", "later", ("I work at Acme. The Kafka importer is done.",)),
    Op("distill"),
    Op("prompt"),
)

_made: dict[str, Path] = {}
_seen: dict[str, dict[str, Any]] = {}


def open_memory(folder: str | os.PathLike[str], disk: Disk | None = None) -> Memory:
    real = vars(files)["this_disk"]
    if disk is not None:
        vars(files)["this_disk"] = lambda: disk
    try:
        return Memory(folder, policy=POLICY, counter=len)
    finally:
        vars(files)["this_disk"] = real


def lived() -> Path:
    """A memory with something to be forgotten; made once, and copied."""
    if not _made:
        folder = Path(tempfile.mkdtemp(prefix="forget-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        with at(THEN, "init"), open_memory(folder / "memory") as memory:
            live(memory, HISTORY)
            _seen["before"] = seen(memory)
        shutil.copytree(folder / "memory", folder / "other")
        with open_memory(folder / "other") as memory:
            memory.forget(session="gone")
            _seen["after"] = seen(memory)
        _made["memory"] = folder / "memory"
    return _made["memory"]


def make(folder: str | os.PathLike[str]) -> None:
    shutil.copytree(lived(), folder, dirs_exist_ok=True)


def work(folder: str | os.PathLike[str], disk: Disk | None = None) -> Iterator[object]:
    memory = open_memory(folder, disk)
    yield memory.forget(session="gone")
    memory.close()


# --- the verdict -----------------------------------------------------------------------


def judge(folder: str | os.PathLike[str], told: str = "") -> Verdict:
    """What a new process sees; and what there is when the command was repeated."""
    verdict = Verdict()
    lived()
    if not Path(folder, "log").exists():
        make(folder)
    try:
        with open_memory(folder) as memory:
            found = seen(memory)
            which = [name for name, each in _seen.items() if not differences(found, each)]
            if not which:
                verdict.lost.append(f"a mixture: {differences(found, _seen['after'])}")
            verdict.lost += [str(each) for each in memory.check() if each.severity == "error"]
        with open_memory(folder) as memory:
            done = memory.forget(session="gone")
            verdict.lost += (
                [f"the probe found {each}" for each in done.probe.hits] if done.probe else ["no probe"]
            )
            verdict.lost += differences(seen(memory), _seen["after"])
            verdict.lost += [str(each) for each in memory.check() if each.severity == "error"]
        verdict.lost += [f"{path} holds it" for path in holding(Path(folder), CANARY)]
    except (OSError, Refused) as error:
        verdict.shut.append(f"the memory does not go on by itself: {type(error).__name__}: {error}")
    return verdict


# --- flaws -----------------------------------------------------------------------------

_commit, _finish = switch.Switch.commit, switch.finish


def _unplanned(self: Any, first: str) -> None:
    """The files are put in place without a word of what is to come."""
    for file in self._files:
        self._root.replace(file.path, self._root.read(f"{self._folder}/{file.name}"))
    for each in self._removals:
        switch._remove_file(self._root, each.path, each.base)
    switch.remove_tree(self._root, "views")


class _Remembers:
    """A folder whose plan is known, though its file is gone."""

    def __init__(self, root: Any, data: bytes) -> None:
        self._root, self._data = root, data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._root, name)

    def read(self, path: str) -> Any:
        return self._data if path == PLAN else self._root.read(path)


def _plan_first(root: Any) -> None:
    """The plan is taken away before what it says is done."""
    data = root.read(PLAN)
    root.discard(PLAN)
    with suppress(FileNotFoundError):
        _finish(_Remembers(root, data))  # type: ignore[arg-type]


FLAWS: dict[str, Callable[[], None]] = {
    "": lambda: None,
    "unplanned": lambda: setattr(switch.Switch, "commit", _unplanned),
    "plan first": lambda: setattr(switch, "finish", _plan_first),
}


def mend() -> None:
    """Without any flaw again."""
    switch.Switch.commit, switch.finish = _commit, _finish  # type: ignore[method-assign]


# --- orders ----------------------------------------------------------------------------


def do_the_work(memory: str, told: str, order: dict[str, Any], here: int, go: int) -> None:
    """In a child: get ready, say so, and begin when strace has hold of it."""
    ctypes.CDLL(None).prctl(crash_work._PR_SET_PTRACER, crash_work._ANY, 0, 0, 0)
    Path(told).touch()
    FLAWS[order.get("flaw", "")]()
    make(memory)
    os.write(here, b"!")
    os.read(go, 1)
    list(work(memory))


def warm_up(folder: str) -> None:
    lived()


def main() -> None:
    vars(crash_work).update(do_the_work=do_the_work, warm_up=warm_up, judge=judge)
    crash_work.main()


if __name__ == "__main__":
    main()
