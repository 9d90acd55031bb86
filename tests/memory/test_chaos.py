"""Eight processes at one memory, killed again and again: nothing acknowledged is lost, nothing forgotten is in any
byte, and no level rises.

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
from scripts import chaos_work

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


def rage(place: Path, seconds: float, seed: int) -> tuple[dict[str, int], list[str]]:
    """Let eight processes work for a while, kill one of them again and again, and judge what is left."""
    memory, told = place / "memory", place / "told"
    init(str(memory))
    told.mkdir()
    chance = random.Random(seed)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    numbers = iter(range(seed * 1_000_000, (seed + 1) * 1_000_000))

    def start(trade: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, chaos_work.__file__, str(memory), str(told), trade, str(next(numbers))]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment)

    running = {trade: start(trade) for trade in chaos_work.TRADES}
    kills = 0
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            time.sleep(chance.uniform(0.5, 3.0))
            trade = chance.choice(list(running))
            running[trade].kill()
            running[trade].wait()
            kills += 1
            running[trade] = start(trade)
        (told / "stop").touch()
        for process in running.values():
            process.wait()
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    counts, faults = chaos_work.judge(memory, told)
    return counts | {"killed": kills}, faults


@pytest.mark.long
def test_eight_processes_that_are_killed_lose_nothing_and_bring_nothing_back(place: Path) -> None:
    seconds = float(os.environ.get("LOOSELEAF_CHAOS_SECONDS", "60"))
    counts, faults = rage(place, seconds, seed=random.SystemRandom().randrange(1_000))
    print(counts)
    assert not faults, "\n".join(faults)
    worked = (
        "recorded",
        "noted",
        "written",
        "saved",
        "distilled",
        "prompted",
        "recalled",
        "forgotten",
        "looked",
    )
    assert all(counts.get(name) for name in (*worked, "killed")), counts
