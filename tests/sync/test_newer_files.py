"""A program that copies newer files over older ones (`cp -u`, `rsync -u`) may carry a memory between machines, beside
syncs and merges: nothing that a machine was told is kept gets lost."""

from __future__ import annotations

import os
import random
import shutil
import time
from pathlib import Path

import pytest

from machines import FIRST, NAMES, Machines
from syncing import make_place, objects, sync, sync_all

LAP, PHONE = "lap", "phone"


@pytest.fixture
def machines(place: Path) -> Machines:
    return Machines(place)


def copy_newer(source: Path, target: Path) -> None:
    """What `cp -au source/. target/` does, a moment after the last file was written."""
    time.sleep(0.05)
    for folder, _, names in os.walk(source):
        there = target / Path(folder).relative_to(source)
        there.mkdir(exist_ok=True)
        for name in names:
            old, new = Path(folder, name), there / name
            if not new.exists() or old.stat().st_mtime_ns > new.stat().st_mtime_ns:
                shutil.copy2(old, new)


@pytest.mark.parametrize("kind", ["folder", "git", "rsync", "merge"])
def test_a_copy_of_a_machines_log_never_takes_the_place_of_its_newer_one(
    machines: Machines, place: Path, kind: str
) -> None:
    where = make_place("folder" if kind == "merge" else kind, place)
    with machines.open(LAP) as memory:
        memory.remember("I work at Acme.")
    if kind != "merge":
        sync(machines, LAP, where)
    old = place / "old"
    shutil.copytree(machines[LAP], old)
    with machines.open(LAP) as memory:
        memory.remember("I live in Lyon.")
        memory.remember("I own a red boat.")
        before = {fact.object for fact in memory.facts()}
    if kind == "merge":
        with machines.open(FIRST) as memory:
            memory.merge(old)
    else:
        sync(machines, FIRST, where)
    assert "Acme" in objects(machines, FIRST)
    copy_newer(machines[FIRST], machines[LAP])
    with machines.open(LAP) as memory:
        assert before <= {fact.object for fact in memory.facts()}
        assert "Lyon" in memory.pages.read("USER.md").text
        assert [str(each) for each in memory.check() if each.severity == "error"] == []
    copy_newer(machines[LAP], machines[FIRST])
    assert before <= objects(machines, FIRST)


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.long][: seed not in (11, 13)]) for seed in range(40)]
)
def test_after_syncs_merges_and_copies_of_newer_files_nothing_acknowledged_is_lost(
    machines: Machines, place: Path, seed: int
) -> None:
    chance = random.Random(seed)
    where = make_place("folder", place)
    names = NAMES[: 2 + seed % 2]
    told: set[str] = set()
    done: list[tuple[str, ...]] = []
    for number in range(24):
        name = chance.choice(names)
        other = chance.choice([each for each in names if each != name])
        act = chance.choice(("say", "say", "page", "sync", "merge", "newer", "newer", "seal"))
        done.append((name, act, other))
        if act == "newer":
            copy_newer(machines[other], machines[name])
            continue
        with machines.open(name) as memory:
            if act == "say":
                memory.remember(f"I own a boat{number}.")
                told.add(f"boat{number}")
            elif act == "page":
                told.add(f"hand{number}")
                text = memory.pages.read("USER.md").text
                (machines[name] / "USER.md").write_text(f"{text}- Likes: hand{number}\n")
                memory.facts()
            elif act == "sync":
                memory.sync(where)
            elif act == "merge":
                memory.merge(machines[other])
            else:
                memory.parts.files.rotate("journal")
    sync_all(machines, where)
    for name in NAMES:
        known = " ".join(objects(machines, name))
        assert [each for each in sorted(told) if each not in known] == [], (name, done)
        with machines.open(name) as memory:
            assert [str(each) for each in memory.check() if each.severity == "error"] == [], done
