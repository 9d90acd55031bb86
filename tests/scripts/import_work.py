"""A process that imports, and what must be true of a memory in which it was ended.

`python -I -S -B import_work.py FOLDER` carries out the orders of `crash_work`, with the work below in place of its own;
`"flaw"` in an order names what it does wrong.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "src")]

if len(sys.argv) == 2:  # `-S` knows no installed package, and stemming is one
    import site

    site.main()

import ctypes  # noqa: E402

from importing import SAMPLES, take, traces_of  # noqa: E402
from looseleaf import Memory  # noqa: E402
from looseleaf.base.errors import Refused  # noqa: E402
from looseleaf.base.ids import new_id  # noqa: E402
from looseleaf.base.paths import IMPORTER  # noqa: E402
from looseleaf.store import files  # noqa: E402
from looseleaf.transfer import import_run as run_module  # noqa: E402
from looseleaf.transfer.import_ledger import ImportLedger  # noqa: E402
from looseleaf.transfer.import_run import Import  # noqa: E402
from scripts import crash_work  # noqa: E402
from workload import Verdict  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from looseleaf.base.values import Record
    from looseleaf.store.disk import Disk

run_module._TRACES = 5
"""Small batches, so that there are many places between them."""

KEY = bytes(range(32))
WORK: tuple[tuple[str, bool], ...] = (("chatgpt", False), ("mem0.json", False), ("claude", True))
"""Samples, and whether the user vouches for them: talk and claims as data; talk, documents and pages as his."""


def open_memory(folder: str | os.PathLike[str], disk: Disk | None = None) -> Memory:
    real = vars(files)["this_disk"]
    if disk is not None:
        vars(files)["this_disk"] = lambda: disk
    try:
        return Memory(folder, agent=IMPORTER)
    finally:
        vars(files)["this_disk"] = real


def steps(memory: Memory) -> Iterator[object]:
    """All of it, or what is left of it. The key is given, so that two runs hash alike."""
    if memory.parts.context.store.get("log/key") is None:
        memory.parts.context.store.put("log/key", KEY, base=None)
    for sample, mine in WORK:
        yield take(memory, SAMPLES / sample, mine=mine)


def work(folder: str | os.PathLike[str], disk: Disk | None = None) -> Iterator[object]:
    memory = open_memory(folder, disk)
    yield from steps(memory)
    memory.close()


# --- the verdict -----------------------------------------------------------------------

_NEW = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b|\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?")


def seen(memory: Memory) -> dict[str, Any]:
    """What a memory says, without ids and times that are new in each run."""
    traces = [trace.to_record() | {"id": ""} for trace in traces_of(memory)]
    untimed = ("mem0-", "claude-")
    done = {
        str(record["item"]): [record.get(name) for name in ("content", "count", "mine", "page", "loose")]
        for record in (line.record for line in memory.parts.context.store.read("imports"))
        if record["kind"] == "done"
    }
    return {
        "traces": [
            each | ({"ts": 0} if str(each["session_id"]).startswith(untimed) else {}) for each in traces
        ],
        "pages": {path: _NEW.sub("<new>", memory.pages.read(path).text) for path in memory.pages.list()},
        "waiting": sorted(fact.object for fact in memory.facts(status="pending")),
        "done": done,
    }


_expected: dict[str, Any] = {}


def expected() -> dict[str, Any]:
    """What the undisturbed work leaves."""
    if not _expected:
        with tempfile.TemporaryDirectory() as folder:
            list(work(folder))
            with open_memory(folder) as memory:
                _expected.update(seen(memory))
    return _expected


def make(folder: str | os.PathLike[str]) -> None:
    """Nothing is there before the work; what it leaves is found out while nothing is wrong with it."""
    expected()


def judge(folder: str | os.PathLike[str], told: str = "") -> Verdict:
    """A new process imports the same again: then all must be as if nothing had happened."""
    verdict = Verdict()
    wanted = expected()
    try:
        with open_memory(folder) as memory:
            list(steps(memory))
            found = seen(memory)
            verdict.lost += [
                f"{name}: {found[name]} and not {wanted[name]}"
                for name in wanted
                if found[name] != wanted[name]
            ]
            before = (
                memory.parts.context.store.end("imports"),
                memory.parts.context.store.end(f"traces/{IMPORTER}"),
                memory.parts.context.store.end("journal"),
            )
            list(steps(memory))
            after = (
                memory.parts.context.store.end("imports"),
                memory.parts.context.store.end(f"traces/{IMPORTER}"),
                memory.parts.context.store.end("journal"),
            )
            if after != before:
                verdict.lost.append("importing again writes something")
            verdict.lost += [str(each) for each in memory.check() if each.severity == "error"]
    except (OSError, Refused) as error:
        verdict.shut.append(f"the memory does not go on by itself: {type(error).__name__}: {error}")
    return verdict


# --- flaws -----------------------------------------------------------------------------

_append, _mark, _flush = ImportLedger.append, Import._mark_of, Import._flush


def _forgets_what_it_began(self: ImportLedger, records: Sequence[Record]) -> None:
    """That an item was begun is not written down."""
    _append(self, [record for record in records if record["kind"] != "begun"])


def _done_before_it_is(self: Import) -> None:
    """Items are noted as done before they are recorded."""
    done, self._done = self._done, []
    self._ledger.append(done)
    _flush(self)


def _any_mark(self: Import, *_: object) -> str:
    """What is recorded is not known again."""
    return f"import-{new_id()}"


FLAWS: dict[str, Callable[[], None]] = {
    "": lambda: None,
    "begun unsaid": lambda: setattr(ImportLedger, "append", _forgets_what_it_began),
    "done first": lambda: setattr(Import, "_flush", _done_before_it_is),
    "any mark": lambda: setattr(Import, "_mark_of", _any_mark),
}


def mend() -> None:
    """Without any flaw again."""
    ImportLedger.append, Import._mark_of, Import._flush = _append, _mark, _flush  # type: ignore[method-assign]


# --- orders ----------------------------------------------------------------------------


def do_the_work(memory: str, told: str, order: dict[str, Any], here: int, go: int) -> None:
    """In a child: get ready, say so, and begin when strace has hold of it."""
    ctypes.CDLL(None).prctl(crash_work._PR_SET_PTRACER, crash_work._ANY, 0, 0, 0)
    Path(told).touch()
    FLAWS[order.get("flaw", "")]()
    os.write(here, b"!")
    os.read(go, 1)
    list(work(memory))


def warm_up(folder: str) -> None:
    expected()
    with tempfile.TemporaryDirectory(dir=folder) as place:
        judge(place)


def main() -> None:
    vars(crash_work).update(do_the_work=do_the_work, warm_up=warm_up, judge=judge)
    crash_work.main()


if __name__ == "__main__":
    main()
