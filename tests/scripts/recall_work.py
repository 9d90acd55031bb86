"""Processes that bring the index up to date and are killed meanwhile, and what must be true afterwards.

Started by the tests in two ways. `python -I -S -B recall_work.py FOLDER` carries out the orders of `crash_work`, with
the work below in place of its own; `"flaw"` in an order names what it does wrong. `python recall_work.py FUNCTION
ARGUMENTS` runs one function of this module; see `actors`.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "src")]

if len(sys.argv) == 2:  # `-S` knows no installed package, and stemming and counting are some
    import site

    site.main()

import ctypes  # noqa: E402

from actors import Actor, say  # noqa: E402
from looseleaf.base.errors import Refused  # noqa: E402
from looseleaf.index.sqlite import SqliteIndex  # noqa: E402
from placing import THEN  # noqa: E402
from recalling import INDEX, answers, begin, go_on, made_afresh, open_memory, outside, recall  # noqa: E402
from scripts import crash_work  # noqa: E402
from workload import Verdict  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable


# --- the work --------------------------------------------------------------------------

_template: list[str] = []


def prepare(memory: str | os.PathLike[str]) -> None:
    """A memory whose index lacks much of what was written since."""
    with open_memory(memory) as opened:
        begin(opened)
        answers(opened)
    index = Path(memory, INDEX)
    kept = index.read_bytes()
    with open_memory(memory) as opened:
        go_on(opened)
    index.write_bytes(kept)


def work(memory: str | os.PathLike[str]) -> None:
    """Bring the index up to date, record and find that, and make the index anew."""
    with open_memory(memory) as opened:
        recall(opened, "violet lantern harbour")
        opened.record(user="The spare key of the cabin is at the baker's.", ts=THEN + 500)
        recall(opened, "spare key of the cabin")
    Path(memory, INDEX).unlink()
    with open_memory(memory) as opened:
        recall(opened, "violet lantern harbour")


def judge(memory: str | os.PathLike[str], told: str = "") -> Verdict:
    """The next command answers as if there had never been an index, and changes nothing but views."""
    verdict = Verdict()
    try:
        with open_memory(memory) as opened:
            opened.parts.context.store.recover()  # what recording left is not the index's matter
            opened.pages.absorb()
        before = outside(memory)
        with open_memory(memory) as opened:
            said = answers(opened)
            if opened.notes:
                verdict.shut += opened.notes
        if outside(memory) != before:
            after = outside(memory)
            changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
            verdict.lost.append(f"changed outside views/: {', '.join(sorted(changed))}")
        wanted = made_afresh(memory)
        verdict.lost += [
            f"{got} and not {want}" for got, want in zip(said, wanted, strict=True) if got != want
        ]
        if not all(wanted):
            verdict.lost.append("some question has no answer at all")
    except (OSError, Refused) as error:
        verdict.shut.append(f"{type(error).__name__}: {error}")
    return verdict


# --- flaws -----------------------------------------------------------------------------

_take = SqliteIndex.take


def _marks_first(self: SqliteIndex, source: str, mark: str, items: Any, **how: Any) -> None:
    """That a source was taken is written before it is."""
    depth = self._depth
    _take(self, source, mark, [], **how)
    for _ in range(depth):
        self.__exit__(None, None, None)
    for _ in range(depth):
        self.__enter__()
    _take(self, source, mark, items)


FLAWS: dict[str, Callable[[], None]] = {
    "": lambda: None,
    "marks first": lambda: setattr(SqliteIndex, "take", _marks_first),
}


# --- orders ----------------------------------------------------------------------------


def do_the_work(memory: str, told: str, order: dict[str, Any], here: int, go: int) -> None:
    """In a child: get ready, say so, and begin when strace has hold of it."""
    ctypes.CDLL(None).prctl(crash_work._PR_SET_PTRACER, crash_work._ANY, 0, 0, 0)
    Path(told).touch()
    shutil.copytree(_template[0], memory, dirs_exist_ok=True)
    FLAWS[order.get("flaw", "")]()
    os.write(here, b"!")
    os.read(go, 1)
    work(memory)


def warm_up(folder: str) -> None:
    _template.append(tempfile.mkdtemp(dir=folder))
    prepare(_template[0])
    with tempfile.TemporaryDirectory(dir=folder) as place:
        copy = os.path.join(place, "m")
        shutil.copytree(_template[0], copy)
        work(copy)
        judge(copy)


def main() -> None:
    vars(crash_work).update(do_the_work=do_the_work, warm_up=warm_up, judge=judge)
    crash_work.main()


# --- two at once -----------------------------------------------------------------------


class Reader(Actor):
    """A process that runs one function of this module, and is asked line by line."""

    script = __file__

    def __init__(self, function: Callable[..., None], *arguments: object) -> None:
        super().__init__(function, *arguments)
        assert self.hear() == "ready"

    def ask(self, query: str) -> list[str]:
        """The texts that it finds."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(query).encode() + b"\n")
        self.process.stdin.flush()
        told: list[str] = self.hear()
        return told


def find_for(path: str) -> None:
    """Answer each question with the texts found, for as long as somebody asks."""
    with open_memory(path) as memory:
        say("ready")
        for line in sys.stdin:
            say([hit.text for hit in recall(memory, json.loads(line))])


def record_and_find(path: str, who: int, count: int) -> None:
    """Record in turn with others, and look for each at once; say what was not found."""
    missing = []
    with open_memory(path, agent=f"agent{who}") as memory:
        say("ready")
        sys.stdin.read()
        for number in range(count):
            text = f"Parcel q{who}x{number}z waits at counter {number}."
            memory.record(user=text)
            if text not in [hit.text for hit in recall(memory, f"parcel q{who}x{number}z")]:
                missing.append(text)
        say(missing)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main()
    else:
        globals()[sys.argv[1]](*json.loads(sys.argv[2]))
