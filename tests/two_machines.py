"""Two machines that share a memory: each has a copy of the folder, and the logs are carried between them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from looseleaf import Memory
from looseleaf.store.this_machine import VARIABLE

DESK, LAP = "desk", "lap"
"""`desk` is the first machine: its log is `log/`."""


@contextmanager
def on(machine: str) -> Iterator[None]:
    """Be another machine for a while."""
    before = os.environ[VARIABLE]
    os.environ[VARIABLE] = machine
    try:
        yield
    finally:
        os.environ[VARIABLE] = before


class TwoMachines:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with self.memory(DESK) as memory:
            memory.record(user="A memory is made.")
        shutil.copytree(folder / DESK, folder / LAP)

    @contextmanager
    def memory(self, machine: str, **how: Any) -> Iterator[Memory]:
        with on(machine), Memory(self.folder / machine, **how) as memory:
            yield memory

    def log(self, machine: str, where: str) -> Path:
        """Return where the log of a machine is in the folder of another."""
        log = self.folder / where / "log"
        return log if machine == DESK else log / "on" / machine

    def carry(self) -> None:
        """Carry each machine's log to the other."""
        for machine, other in ((DESK, LAP), (LAP, DESK)):
            there = self.log(machine, other)
            if self.log(machine, machine).exists():
                for each in there.iterdir() if there.exists() else ():
                    if each.name != "on":
                        shutil.rmtree(each) if each.is_dir() else each.unlink()
                ignore = shutil.ignore_patterns("on") if machine == DESK else None
                shutil.copytree(self.log(machine, machine), there, dirs_exist_ok=True, ignore=ignore)

    def bytes_of(self, machine: str, where: str) -> dict[str, bytes]:
        """Return the files of a machine's log in the folder of another."""
        log = self.log(machine, where)
        others = log / "on"
        files = (each for each in log.rglob("*") if each.is_file() and others not in each.parents)
        return {str(each.relative_to(log)): each.read_bytes() for each in files}
