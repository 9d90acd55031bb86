"""An editor and a program at one page, each a process of its own, as the tests of collisions start them.

    python editing.py save PAGE TOLD PEER SAVES EDITS SEED    an editor saves, in all the ways editors do
    python editing.py edit MEMORY PAGE TOLD PEER SAVES EDITS  a program edits through `Memory.edit`
    python editing.py slowly FILE SECONDS SEED                an editor truncates, waits 200 ms, and writes
    python editing.py read MEMORY PAGE SECONDS SETTLE         a reader looks for the fact, again and again

`TOLD` gets one line of twelve bytes for each thing done, when it is done. `PEER` is the other's: neither runs ahead of
the other, so that they meet at the page all the time.
"""

from __future__ import annotations

import os
import random
import re
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "src"))

from looseleaf import Memory
from looseleaf.base.policy import Policy
from looseleaf.pages.outside_edits import OutsideEdits

_HASTE = 1e-6
"""Seconds: who settles faster is a mutant."""

HEADER = "# Work\n\n- Likes: tea\n"
FACT = ("Likes", "tea")
KEPT_LINES = 40
"""A page stays this long: what was on it before is in the journal."""

TOLD_BYTES = 12


def with_line(line: str, text: str) -> str:
    """The page with one line more at its end, and without the oldest if it is long."""
    lines = [
        each for each in text.splitlines() if re.fullmatch(r"- (?:Save|Edit): (?:save|edit)-\d{6}", each)
    ]
    return HEADER + "".join(f"{each}\n" for each in [*lines[-KEPT_LINES:], line])


def wait_for(peer: Path, count: int) -> None:
    """Until the other has done as much; not forever, because the other may be waiting too."""
    until = time.monotonic() + 1.0
    while time.monotonic() < until:
        if peer.exists() and peer.stat().st_size >= count * TOLD_BYTES:
            return
        time.sleep(0.0005)


def tell(told: Path, line: str) -> None:
    with told.open("a") as file:
        file.write(f"{line}\n")


# --- the editor ------------------------------------------------------------------------


def read(page: Path) -> str:
    """What an editor shows. A page that is gone in this moment is an empty one to it."""
    try:
        return page.read_text()
    except FileNotFoundError:
        return ""


def save_in_place(page: Path, data: bytes, pause: float) -> None:
    fd = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    time.sleep(pause)
    os.write(fd, data)
    os.close(fd)


def save_by_rename(page: Path, data: bytes, pause: float) -> None:
    beside = page.with_name(f".{page.name}.new")
    beside.write_bytes(data)
    time.sleep(pause)
    os.replace(beside, page)


def save_beside_a_backup(page: Path, data: bytes, pause: float) -> None:
    try:
        os.replace(page, page.with_name(f"{page.name}~"))
    except FileNotFoundError:
        pass
    time.sleep(pause)
    page.write_bytes(data)


def save_into(page: Path, data: bytes, pause: float) -> None:
    fd = os.open(page, os.O_RDWR | os.O_CREAT, 0o644)
    time.sleep(pause)
    os.write(fd, data)
    os.ftruncate(fd, len(data))
    os.close(fd)


SAVES = (save_in_place, save_by_rename, save_beside_a_backup, save_into)


def save_again_and_again(page: Path, told: Path, peer: Path, saves: int, edits: int, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(saves):
        wait_for(peer, number * edits // saves - 1)
        time.sleep(chance.choice([0, 0, 0.0005, 0.002]))
        line = f"save-{number:06d}"
        text = with_line(f"- Save: {line}", read(page))
        chance.choice(SAVES)(page, text.encode(), chance.choice([0, 0, 0.0002, 0.002]))
        tell(told, line)


def save_slowly(page: Path, seconds: float, seed: int) -> None:
    chance = random.Random(seed)
    until = time.monotonic() + seconds
    number = 0
    while time.monotonic() < until:
        with page.open("wb", buffering=0) as file:
            time.sleep(0.2)
            file.write(f"{HEADER}- Count: {number}\n".encode())
        number += 1
        time.sleep(chance.choice([0.001, 0.005, 0.02, 0.07]))
    print(number)


# --- the program -----------------------------------------------------------------------


def edit_again_and_again(memory: Memory, path: str, told: Path, peer: Path, saves: int, edits: int) -> None:
    for number in range(edits):
        wait_for(peer, number * saves // edits - 1)
        line = f"edit-{number:06d}"
        memory.pages.edit(path, partial(with_line, f"- Edit: {line}"), author="agent:main", reason=line)
        tell(told, line)


def look_again_and_again(memory: Memory, path: str, seconds: float) -> None:
    """Says how often it looked, and how often the fact was not there."""
    until = time.monotonic() + seconds
    looks = missing = 0
    while time.monotonic() < until:
        looks += 1
        facts = memory.pages.read(path).facts
        missing += FACT not in [(fact.relation, fact.object) for fact in facts]
        time.sleep(0.001)
    print(looks, missing)


def main(verb: str, *args: str) -> None:
    if verb == "save":
        page, told, peer = map(Path, args[:3])
        save_again_and_again(page, told, peer, *map(int, args[3:]))
    elif verb == "edit":
        told, peer = map(Path, args[2:4])
        with Memory(args[0]) as memory:
            edit_again_and_again(memory, args[1], told, peer, int(args[4]), int(args[5]))
    elif verb == "slowly":
        save_slowly(Path(args[0]), float(args[1]), int(args[2]))
    else:
        settle = float(args[3])
        policy = Policy(settle_seconds=settle, quiet_seconds=min(settle, Policy().quiet_seconds))
        if settle < _HASTE:  # it waits for nothing, and believes everything
            OutsideEdits.hold = lambda self, path, document: False  # type: ignore[method-assign]
        with Memory(args[0], policy=policy) as memory:
            look_again_and_again(memory, args[1], float(args[2]))


if __name__ == "__main__":
    main(*sys.argv[1:])
