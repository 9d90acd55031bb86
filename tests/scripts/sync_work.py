"""A process that syncs with a folder, and what must be true of both after it was ended anywhere."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from looseleaf import Memory
from looseleaf.base.policy import Policy
from looseleaf.pages.folder import is_memory
from looseleaf.store import files
from looseleaf.store.this_machine import VARIABLE
from looseleaf.sync import exchange
from workload import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.store.disk import Disk

HASTY = Policy(settle_seconds=0.0, quiet_seconds=0.0, segment_bytes=4000)
KNOWN = {"green tea", "Lyon", "Acme", "cello"}


def open_memory(folder: Path, name: str, disk: Disk | None = None) -> Memory:
    os.environ[VARIABLE] = name
    real = vars(files)["this_disk"]
    if disk is not None:
        vars(files)["this_disk"] = lambda: disk
    try:
        return Memory(folder / name, policy=HASTY)
    finally:
        vars(files)["this_disk"] = real


def make(folder: str | os.PathLike[str]) -> None:
    """Two machines that have synced once; since then both learnt something, as did a person at the target."""
    folder = Path(folder)
    if _made:
        shutil.copytree(_made[0], folder)
        return
    folder.mkdir(parents=True, exist_ok=True)
    with open_memory(folder, "desk") as memory:
        memory.remember("I like green tea.")
        memory.sync(folder / "target")
    with open_memory(folder, "lap") as memory:
        memory.sync(folder / "target")
        memory.remember("I work at Acme.")
        memory.record(user="Said on lap.")
        memory.sync(folder / "target")
    page = folder / "target" / "USER.md"
    page.write_text(page.read_text("utf-8") + "- Instrument: cello\n", "utf-8")
    with open_memory(folder, "desk") as memory:
        memory.remember("I live in Lyon.")
        for number in range(12):
            memory.record(user=f"Said on desk {number}.")
        memory.pages.edit("facts/boat.md", "# Boat\n\n- Name: Argo\n", author="person", reason="mine")
    kept = folder.parent / "made"
    shutil.copytree(folder, kept)
    _made.append(kept)


_made: list[Path] = []
"""The folder before the work, made once."""


def work(folder: str | os.PathLike[str], disk: Disk | None = None) -> Iterator[object]:
    with open_memory(Path(folder), "desk", disk) as memory:
        yield memory.sync(Path(folder) / "target")


def judge(folder: str | os.PathLike[str], told: str = "") -> Verdict:
    """The target is a memory, and the next syncs make all equal."""
    verdict, folder = Verdict(), Path(folder)
    target = folder / "target"
    if not is_memory(str(target)):
        verdict.lost.append("the target is no memory")
    shutil.copytree(target, folder / "visitor")
    with open_memory(folder, "visitor") as memory:
        if not {"green tea", "Acme"} <= {fact.object for fact in memory.facts()}:
            verdict.lost.append("what was there is gone")
    for name in ("lap", "desk", "lap", "desk"):
        with open_memory(folder, name) as memory:
            done = memory.sync(target)
            verdict.lost += (f"{name}: {each}" for each in done.left)
            verdict.lost += (
                f"{name}: {problem}" for problem in memory.check() if problem.severity == "error"
            )
            if name == "desk" and memory.parts.files.machines() != ["lap"]:
                verdict.lost.append(f"other machines: {memory.parts.files.machines()}")
    pages: list[dict[str, bytes]] = []
    for name in ("lap", "desk"):
        with open_memory(folder, name) as memory:
            if not memory.sync(target).is_nothing:
                verdict.lost.append(f"{name}: it goes on and on")
            pages.append({path: memory.pages.read(path).data for path in memory.pages.list()})
            lacks = KNOWN - {fact.object for fact in memory.facts()}
            if lacks:
                verdict.lost.append(f"{name} lacks {sorted(lacks)}")
    pages.append({path: (target / path).read_bytes() for path in pages[0] if (target / path).is_file()})
    if not pages[0] == pages[1] == pages[2]:
        verdict.lost.append("the pages are not equal")
    return verdict


# --- flaws -----------------------------------------------------------------------------------


def _write_in_place(self: exchange.Exchange, path: str, old: bytes | None, new: bytes | None) -> None:
    root = self._there
    root.make(path.rpartition("/")[0])
    fd = root.disk.open(root.fd, path, os.O_WRONLY | os.O_CREAT)
    try:
        root.disk.truncate(fd, 0)
        for line in (new or b"").splitlines(keepends=True):  # a page that is only empty is held
            root.write_all(fd, line)
    finally:
        root.disk.close(fd)
    self._files.names[path] = None


_real = exchange.Exchange._put_page

FLAWS = {
    "": lambda: None,
    "pages in place": lambda: setattr(exchange.Exchange, "_put_page", _write_in_place),
}


def mend() -> None:
    exchange.Exchange._put_page = _real  # type: ignore[method-assign]
