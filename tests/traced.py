"""Orders for `scripts/crash_work.py`, and who carries them out: two processes, started clean."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from workload import SECOND

SCRIPT = Path(__file__).parent / "scripts" / "crash_work.py"
CHANGING = (
    "/^(open|openat|openat2|creat|write|pwrite64|writev|fsync|fdatasync|rename.*|mkdir.*|unlink.*|rmdir|link.*"
    "|ftruncate|truncate|flock|close)$"
)
"""Every system call that changes a file or a name, and those that begin and end the use of one."""

LEAVING = ("write", "pwrite", "rename", "mkdir", "unlink", "rmdir", "link", "ftruncate", "truncate")
"""How the names of those begin that leave other bytes or names on disk."""

Order = dict[str, Any]
Answer = dict[str, Any]


def carry_out(orders: Iterable[Order], place: Path) -> list[tuple[Order, Answer]]:
    """Each order with its answer. Skips the test where processes cannot be traced."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed here")
    waiting = list(orders)
    shares = [share for share in (waiting[0::2], waiting[1::2]) if share]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(_carry_out_share, shares, [place] * len(shares))
        return [pair for share in found for pair in share]


def _carry_out_share(orders: list[Order], place: Path) -> list[tuple[Order, Answer]]:
    # Nothing else of the environment: not the coverage that runs here, nor anybody's own settings.
    clean = {"PATH": os.environ.get("PATH", os.defpath), "LOOSELEAF_MACHINE": os.environ["LOOSELEAF_MACHINE"]}
    clean |= {SECOND: os.environ[SECOND]} if SECOND in os.environ else {}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", str(SCRIPT), str(place)],
        input="".join(json.dumps(order) + "\n" for order in orders),
        capture_output=True,
        text=True,
        env=clean,
        check=False,
    )
    if done.returncode and done.stderr.startswith("strace:"):
        pytest.skip(f"processes cannot be traced here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return list(zip(orders, map(json.loads, done.stdout.splitlines()), strict=True))


def count_calls(place: Path, **how: Any) -> dict[str, int]:
    """How often the undisturbed work makes each call. It must end by itself and keep every promise."""
    [(_, answer)] = carry_out([{"trace": CHANGING, **how}], place)
    assert not answer["broken"]
    assert not answer["lost"] + answer["shut"]
    calls: dict[str, int] = answer["calls"]
    return calls


def sites(calls: dict[str, int]) -> list[tuple[str, int]]:
    return [(name, number) for name, count in sorted(calls.items()) for number in range(1, count + 1)]


def kill_sites(calls: dict[str, int]) -> list[tuple[str, int]]:
    """A site for every state that a kill can leave: between two changes it leaves what it leaves before the second. And
    some of all other calls, which must not make a difference."""
    found = sites(calls)
    others = [site for site in found if not site[0].startswith(LEAVING)]
    return [site for site in found if site[0].startswith(LEAVING)] + others[48::97]


def killed_by(orders: Iterable[Order], place: Path) -> Iterator[tuple[Order, Answer]]:
    """The orders whose kill fired, and their answers.

    How many calls a run makes differs a little: a folder that has not changed for a moment is not listed again. So a
    run may end before the call at which it was to be killed; but not most of them.
    """
    fired = ended = 0
    for order, answer in carry_out(orders, place):
        name, number = order["trace"], int(order["inject"].rpartition("=")[2])
        if answer["code"] == 0 and answer["calls"].get(name, 0) < number:
            ended += 1
            continue
        assert answer["killed"], f"{order['inject']} did not fire: {answer}"
        fired += 1
        yield order, answer
    assert ended <= 1 + fired // 4, f"only {fired} of {fired + ended} kills fired"
