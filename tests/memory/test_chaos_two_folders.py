"""Two machines that work on copies of one memory, are killed again and again, and have their folders carried to each
other all the time: in the end both know the same, and nothing acknowledged is lost.

`LOOSELEAF_CHAOS_SECONDS` says for how long (600 for the full form).
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from looseleaf.pages.folder import init
from looseleaf.store.this_machine import VARIABLE
from scripts import two_folders_work
from scripts.two_folders_work import CARRIERS, NAMES, as_machine, judge

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


def rage(place: Path, how: str, seconds: float, seed: int) -> tuple[dict[str, int], list[str]]:
    folders = {name: place / name / ".looseleaf" for name in NAMES}
    told = place / "told"
    told.mkdir()
    folders["desk"].parent.mkdir()
    with as_machine("desk", folders["desk"]) as memory:
        init(str(folders["desk"]))
        memory.remember("I like green tea.")
    chance = random.Random(seed)
    carrier = CARRIERS[how](folders, chance)
    carrier.prepare()
    numbers = iter(range(seed * 1_000_000, (seed + 1) * 1_000_000))

    def start(name: str) -> subprocess.Popen[bytes]:
        script = two_folders_work.__file__ or ""
        command = [sys.executable, script, str(folders[name]), str(told), str(next(numbers))]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), VARIABLE: name}
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment)

    carrier.processes = {name: start(name) for name in NAMES}
    kills = carried = 0
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            time.sleep(chance.uniform(0.5, 3.0))
            carried += carrier.carry()
            if chance.random() < 0.4:
                name = chance.choice(NAMES)
                carrier.processes[name].kill()
                carrier.processes[name].wait()
                kills += 1
                carrier.processes[name] = start(name)
        (told / "stop").touch()
        for process in carrier.processes.values():
            process.wait()
    finally:
        for process in carrier.processes.values():
            process.kill()
            process.wait()
        carrier.processes = {}
    counts, faults = judge(carrier, told)
    return counts | {"killed": kills, "carried": carried}, faults


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("how", CARRIERS)
def test_two_machines_that_are_killed_and_carried_know_the_same_and_lose_nothing(
    place: Path, how: str
) -> None:
    seconds = float(os.environ.get("LOOSELEAF_CHAOS_SECONDS", "60"))
    seed = int(os.environ.get("LOOSELEAF_CHAOS_SEED", random.SystemRandom().randrange(1_000)))
    counts, faults = rage(place, how, seconds, seed)
    print(f"\n{how}, seed {seed}: {counts}")
    assert not faults, "\n".join(faults)
    worked = (
        "recorded",
        "noted",
        "written",
        "saved",
        "distilled",
        "prompted",
        "recalled",
        "looked",
        "undone",
    )
    if seconds >= 60:
        assert all(counts.get(name) for name in (*worked, "killed", "carried")), counts
