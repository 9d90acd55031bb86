"""Several machines that share a memory, each with a folder of its own; their logs, or all their files, are carried from
one to the other."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from looseleaf import Memory
from looseleaf.base.policy import Policy
from looseleaf.store.records import encode, whole
from looseleaf.store.this_machine import VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

    from looseleaf.base.values import Fact

FIRST = "desk"
NAMES = (FIRST, "lap", "phone")
HASTY = Policy(settle_seconds=0.0, quiet_seconds=0.0)
NOT_CARRIED = ("on", "staged", "aside", "lock", "turn", "forgetter")


class Machines:
    """Each machine's folder has its name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with self.open(FIRST) as memory:
            memory.remember("I like green tea.")
        for name in NAMES[1:]:
            shutil.copytree(self[FIRST], self[name], ignore=shutil.ignore_patterns("views"))

    def __getitem__(self, name: str) -> Path:
        return self.folder / name

    def open(self, name: str, folder: Path | None = None) -> Memory:
        os.environ[VARIABLE] = name
        return Memory(folder or self[name], policy=HASTY)

    def log(self, name: str, of: str) -> Path:
        """The log of one machine in the folder of another."""
        log = self[name] / "log"
        return log if of == FIRST else log / "on" / of

    def carry(self, source: str, target: str) -> None:
        """Carry a machine's own log to another one."""
        log = self.log(source, source)
        if log.is_dir():
            there = self.log(target, source)
            shutil.copytree(log, there, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*NOT_CARRIED))

    def carry_all(self, names: tuple[str, ...] = NAMES) -> None:
        for source in names:
            for target in names:
                if source != target:
                    self.carry(source, target)

    def pages(self, name: str) -> dict[str, bytes]:
        with self.open(name) as memory:
            return {path: memory.pages.read(path).data for path in memory.pages.list()}

    def facts(self, name: str) -> set[tuple[str | None, ...]]:
        """What the ledger of a machine says, of every fact."""
        with self.open(name) as memory:
            return {known(fact) for status in STATUSES for fact in memory.facts(status=status)}


def unname(folder: Path) -> None:
    """Leave a memory as it was before logs named their machine."""
    (folder / "log" / "machine").unlink()
    journal = folder / "log" / "journal.jsonl"
    first, _, rest = journal.read_bytes().partition(b"\n")
    record = {name: value for name, value in whole(first).items() if name != "machine"}
    journal.write_bytes(encode(record) + rest)
    shutil.rmtree(folder / "views", ignore_errors=True)  # it knows the bytes


STATUSES = ("current", "superseded", "rejected", "pending")


def known(fact: Fact) -> tuple[str | None, ...]:
    return fact.id, fact.relation, fact.object, fact.level, fact.status
