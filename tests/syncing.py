"""Syncing machines with a place of each kind, and what is there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from looseleaf.store.machines import stream_of
from machines import NAMES

if TYPE_CHECKING:
    from looseleaf.sync.sync import Synced
    from machines import Machines


def make_place(kind: str, place: Path) -> str:
    target = place / "target"
    if kind != "folder":
        needs(kind)
    if kind == "git":
        git(place, "init", "-q", "--bare", str(target))
        return str(target)
    return f"rsync:{target}" if kind == "rsync" else str(target)


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def git(cwd: Path, *words: str) -> str:
    done = subprocess.run(("git", *words), cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout


def sync(machines: Machines, name: str, where: str) -> Synced:
    with machines.open(name) as memory:
        return memory.sync(where)


def sync_all(machines: Machines, where: str, names: tuple[str, ...] = NAMES) -> None:
    for _ in range(2):
        for name in names:
            sync(machines, name, where)


def say(machines: Machines, name: str, words: str) -> None:
    with machines.open(name) as memory:
        memory.remember(words)
        memory.record(user=f"{words} I said on {name}.")


def files_at(place: Path, where: str) -> dict[str, bytes]:
    """The files of the target, without what is of the moment."""
    target = place / "target"
    if (target / "HEAD").is_file():
        names = git(target, "ls-tree", "-r", "--name-only", "main").split("\n")[:-1]
        show = ("git", "cat-file", "blob")
        return {
            name: subprocess.run((*show, f"main:{name}"), cwd=target, check=True, capture_output=True).stdout
            for name in names
        }
    files = (file for file in target.rglob("*") if file.is_file())
    found = {str(file.relative_to(target)): file.read_bytes() for file in files}
    return {name: data for name, data in found.items() if Path(name).name not in ("lock", "turn")}


def pages_at(place: Path, where: str) -> dict[str, bytes]:
    return {path: data for path, data in files_at(place, where).items() if not path.startswith("log/")}


def edit_at(place: Path, where: str, path: str, text: str) -> None:
    """A person changes a page there, by hand."""
    target = place / "target"
    if not (target / "HEAD").is_file():
        (target / path).write_text(text, "utf-8")
        return
    shutil.rmtree(place / "clone", ignore_errors=True)
    git(place, "clone", "-q", "-b", "main", str(target), "clone")
    (place / "clone" / path).write_text(text, "utf-8")
    by = ("-c", "user.name=Ana", "-c", "user.email=ana@localhost")
    git(place / "clone", *by, "commit", "-qam", "by hand")
    git(place / "clone", "push", "-q")


def objects(machines: Machines, name: str) -> set[str]:
    with machines.open(name) as memory:
        return {fact.object for fact in memory.facts()}


def talk(machines: Machines, name: str) -> list[str]:
    """What was said, on all machines."""
    with machines.open(name) as memory:
        files = memory.parts.files
        streams = ["traces/main", *(stream_of(each, "traces/main") for each in files.machines())]
        return sorted(str(line.record["content"]) for stream in streams for line in files.read(stream))
