"""A process that merges another copy, and what must be true of a memory in which it was ended."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.log.talk_streams import talk_streams
from looseleaf.store import files
from looseleaf.store.bring import LogTimes, OtherLogs, StreamBytes
from looseleaf.store.streams import SUMS, segment_name
from machines import FIRST, HASTY, Machines
from workload import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from looseleaf.store.disk import Disk
    from looseleaf.store.root import Root

LAP = "lap"
_made: dict[str, Any] = {}


def prepared() -> Machines:
    """Two machines that met once; since then one sealed parts of its log, and a person changed a page there."""
    if not _made:
        place = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        machines = Machines(place)
        for name, city in ((FIRST, "Lyon"), (LAP, "Rome")):
            with machines.open(name) as memory:
                memory.remember(f"I live in {city}.")
                memory.record(user=f"Good morning, {name}.")
        with machines.open(FIRST) as memory:
            memory.merge(machines[LAP])
            memory.remember("My name is Ana.")
        with machines.open(LAP) as memory:
            memory.record(user="Before the seal.")
            memory.remember("My boat is red.")
            for stream in ("traces/main", "journal"):
                memory.parts.files.rotate(stream)
            memory.record(user="After the seal.")
            memory.remember("My name is Bea.")
        (machines[LAP] / "SOUL.md").write_text("# Soul\n\nA line by hand, there.\n")
        _made["machines"] = machines
        make(place / "whole")
        list(work(place / "whole"))
        with open_memory(place / "whole") as memory:
            _made["seen"] = seen(memory)
    found: Machines = _made["machines"]
    return found


def open_memory(folder: str | os.PathLike[str], disk: Disk | None = None) -> Memory:
    real = vars(files)["this_disk"]
    if disk is not None:
        vars(files)["this_disk"] = lambda: disk
    os.environ["LOOSELEAF_MACHINE"] = FIRST
    try:
        return Memory(folder, policy=HASTY)
    finally:
        vars(files)["this_disk"] = real


def make(folder: str | os.PathLike[str]) -> None:
    shutil.copytree(prepared()[FIRST], folder)


def steps(memory: Memory) -> Iterator[object]:
    yield memory.merge(prepared()[LAP])


def work(folder: str | os.PathLike[str], disk: Disk | None = None) -> Iterator[object]:
    memory = open_memory(folder, disk)
    yield from steps(memory)
    memory.close()


def seen(memory: Memory) -> dict[str, Any]:
    store = memory.parts.context.store
    lines = (line.record for stream in talk_streams(store, "main") for line in store.read(stream))
    return {
        "said": sorted(str(record.get("content")) for record in lines),
        "pages": {path: memory.pages.read(path).text for path in memory.pages.list()},
        "facts": sorted((fact.relation, fact.object, fact.level) for fact in memory.facts()),
    }


def judge(folder: str | os.PathLike[str], told: str = "") -> Verdict:
    """A new process merges again: then all must be as if nothing had happened."""
    verdict = Verdict()
    try:
        with open_memory(folder) as memory:
            memory.facts()  # a reader may come first
            list(steps(memory))
            found, wanted = seen(memory), _made["seen"]
            verdict.lost += [
                f"{name}: {found[name]} and not {wanted[name]}"
                for name in wanted
                if found[name] != wanted[name]
            ]
            if not memory.merge(prepared()[LAP]).is_nothing:
                verdict.lost.append("merging again finds something")
            verdict.lost += [str(each) for each in memory.check() if each.severity == "error"]
    except (OSError, Refused) as error:
        verdict.shut.append(f"the memory does not go on by itself: {type(error).__name__}: {error}")
    return verdict


# --- flaws -----------------------------------------------------------------------------

_bring_files = OtherLogs._bring_files


def _copies_segments(
    self: OtherLogs, root: Root, theirs: StreamBytes, here: StreamBytes, times: LogTimes, *, anew: bool
) -> None:
    """A sealed segment is put beside the active file that has its beginning."""
    for number in theirs.numbers:
        name = segment_name(number)
        root.replace(f"{here.archive}/{name}", self._other.read(f"{theirs.archive}/{name}") or b"")
    for source, target in ((theirs.path, here.path), (f"{theirs.archive}/{SUMS}", f"{here.archive}/{SUMS}")):
        if (data := self._other.read(source)) is not None:
            root.replace(target, data)


def mend() -> None:
    OtherLogs._bring_files = _bring_files  # type: ignore[method-assign]


def _set_flaw() -> None:
    OtherLogs._bring_files = _copies_segments  # type: ignore[method-assign]


FLAWS: Mapping[str, Callable[[], None]] = {"": mend, "segments copied": _set_flaw}
