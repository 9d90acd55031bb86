"""Cut the power of a file system while a store writes to it, and see whether anything acknowledged is lost.

    sudo python tests/powercut.py ext4 xfs --cuts 100

An image is mounted through a loop device. A writer in a process of its own works on a memory there and tells, through
a pipe that ends outside the image, what it asks and what was acknowledged. At a random moment FS_IOC_SHUTDOWN stops
the file system from writing anything more, as a power cut would; the writer is killed, the image is unmounted and
mounted again, which replays the file system's own journal, and the memory is judged. Some cuts hit a new memory, others
one that was cut before. Needs root, loop devices and the file system's mkfs; see `why_not`.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from looseleaf.base.errors import Refused
from looseleaf.base.policy import Policy
from looseleaf.store.disk import Disk
from looseleaf.store.files import FileStore
from workload import JOURNAL, PROMPTS, TRACES, Work, judge, make_folder, tell_to

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("ext4", "xfs")
IMAGE_BYTES = 512 * 1024 * 1024
"""XFS makes none smaller than 300 MB. The file is sparse: it takes what is written."""

FS_IOC_SHUTDOWN = 0x8004587D
NO_FLUSH, FLUSH_LOG, FLUSH_ALL = 2, 1, 0
CUTS = (NO_FLUSH, NO_FLUSH, NO_FLUSH, FLUSH_LOG, NO_FLUSH, NO_FLUSH, NO_FLUSH, FLUSH_ALL)
"""A real power cut flushes nothing. The other two leave other mixtures of old and new behind."""

CUTS_PER_MEMORY = 4
POLICY = Policy(segment_bytes=32 * 1024, body_bytes=12 * 1024, lock_seconds=5.0)


class Unsynced(Disk):
    """A disk on which nobody waits for the bytes to arrive: the mutant that must lose something."""

    def sync(self, fd: int) -> None:
        pass

    def sync_data(self, fd: int) -> None:
        pass


# --- the writer ------------------------------------------------------------------------


def write(folder: str, seed: int, unsynced: bool) -> None:
    """Work on a memory until the power is cut; tells on standard output."""
    chance = random.Random(seed)
    disk = Unsynced() if unsynced else None
    tell = tell_to(1)
    if not os.path.exists(folder):
        make_folder(folder)
        os.sync()
    work = Work(
        lambda: FileStore.make(folder, POLICY, disk), lambda line: tell(line | {"at": time.monotonic()})
    )
    try:
        while True:
            _step(work, chance)
    except Refused:
        time.sleep(60)  # the power is gone; so will this process be


def _step(work: Work, chance: random.Random) -> None:
    def text() -> str:
        return chance.randbytes(int(100 * 100 ** chance.random() ** 2)).hex()

    what = chance.random()
    if what < 0.5:
        work.append(TRACES, *(text() for _ in range(chance.choice((1, 1, 1, 4)))))
    elif what < 0.55:
        work.append(chance.choice((PROMPTS, JOURNAL)), text())
    elif what < 0.8:
        path = chance.choice(("USER.md", "facts/tea.md", "facts/coffee.md", "days/2030-01-01.md"))
        exists = work.store.get(path) is not None
        work.write_page(path, None if exists and chance.random() < 0.2 else f"# Page\n\n- Note: {text()}\n")
    elif what < 0.85:
        work.write_file("state.json", json.dumps({"goal": text()}))
    elif what < 0.95:
        work.publish(text())
    elif what < 0.98:
        work.rotate(chance.choice((TRACES, JOURNAL, PROMPTS)))
    else:
        work.reopen()


# --- the image -------------------------------------------------------------------------


def why_not(kind: str) -> str | None:
    """What this machine lacks for cutting the power of such a file system, or None."""
    if sys.platform != "linux":
        return "only Linux can shut a file system down"
    if os.geteuid() != 0:
        return "only root can mount an image and cut its power"
    for tool in (f"mkfs.{kind}", "losetup", "mount", "umount"):
        if shutil.which(tool) is None:
            return f"there is no {tool} here"
    try:
        with mounted(kind) as image:
            image.cut(NO_FLUSH)
    except (OSError, subprocess.CalledProcessError) as error:
        said = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else error
        return f"no {kind} image can be mounted and cut here: {said}"
    return None


def _run(*command: str | os.PathLike[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@dataclass
class Image:
    """A mounted file system whose power can be cut."""

    device: str
    mount_point: Path
    is_mounted: bool = False

    def mount(self) -> None:
        _run("mount", "-o", "noatime", self.device, self.mount_point)
        self.is_mounted = True

    def unmount(self) -> None:
        for left in range(100, -1, -1):
            try:
                _run("umount", self.mount_point)
            except subprocess.CalledProcessError:
                if not left:
                    raise
                time.sleep(0.05)  # a process that was killed has not let go of everything yet
            else:
                break
        self.is_mounted = False

    def cut(self, how: int) -> None:
        fd = os.open(self.mount_point, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, FS_IOC_SHUTDOWN, how.to_bytes(4, sys.byteorder))
        finally:
            os.close(fd)


@contextmanager
def mounted(kind: str) -> Iterator[Image]:
    """A new file system in an image. Whatever happens, neither mount nor loop device is left."""
    # In memory where there is such a place: then a cut costs what the store does, and not what this disk does.
    room = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=room) as folder:
        file, mount_point = Path(folder, "image"), Path(folder, "mounted")
        mount_point.mkdir()
        with file.open("wb") as image:
            image.truncate(IMAGE_BYTES)
        _run(f"mkfs.{kind}", "-q", file)
        device = _run("losetup", "--find", "--show", file)
        try:
            made = Image(device, mount_point)
            made.mount()
            try:
                yield made
            finally:
                if made.is_mounted:
                    made.unmount()
        finally:
            _run("losetup", "--detach", device)


# --- cutting ---------------------------------------------------------------------------


@dataclass
class Result:
    """What came of some cuts. `lost` are sentences, one for each promise that was broken."""

    kind: str
    cuts: int = 0
    acknowledged: int = 0
    idle: int = 0
    late: int = 0
    lost: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.kind}: cuts={self.cuts} acknowledged={self.acknowledged} lost={len(self.lost)} "
            f"cuts_before_the_first_acknowledgement={self.idle} acknowledged_without_power={self.late}"
        )


@dataclass
class Told:
    """Everything the writers of one memory told, with each call under a number of its own."""

    lines: list[str] = field(default_factory=list)
    calls: int = 0

    def add(self, text: str, cut_at: float) -> tuple[int, int]:
        """Add one writer's lines; how many calls were acknowledged before the cut, and how many after it began.

        Without power nobody hears an acknowledgement. Here the process outlives its disk by a moment, in which a
        sync that was under way may still say that all is well: a bare loop of write and fdatasync shows the same, on
        ext4 and on XFS. Such a call counts as one of which nothing was heard.
        """
        before, done, late = self.calls, 0, 0
        for line in text.splitlines(keepends=True):
            if not line.endswith("\n"):
                break  # killed while telling
            told = json.loads(line)
            for name in ("call", "done", "refused"):
                if name in told:
                    told[name] += before
                    self.calls = max(self.calls, told[name])
            if "done" in told:
                if told["at"] >= cut_at:
                    late += 1
                    continue
                done += 1
            self.lines.append(json.dumps(told) + "\n")
        return done, late


def cut_many(
    kind: str, cuts: int, *, unsynced: bool = False, seed: int = 0, stop_at_loss: bool = False
) -> Result:
    result = Result(kind)
    chance = random.Random(seed)
    told = Told()
    with mounted(kind) as image:
        while result.cuts < cuts and not (stop_at_loss and result.lost):
            number = result.cuts
            if number % CUTS_PER_MEMORY == 0:
                told = Told()
            memory = image.mount_point / f"memories/{number // CUTS_PER_MEMORY}/.looseleaf"
            moment = chance.choice((0.01, 0.1, 0.5)) * chance.random()
            text, cut_at = _write_until_cut(
                image, memory, CUTS[number % len(CUTS)], moment, seed + number, unsynced
            )
            done, late = told.add(text, cut_at)
            result.cuts += 1
            result.acknowledged += done
            result.late += late
            result.idle += done == 0
            result.lost += [f"{kind}, cut {number}: {sentence}" for sentence in _judge_copy(memory, told)]
    return result


def _write_until_cut(
    image: Image, memory: Path, how: int, moment: float, seed: int, unsynced: bool
) -> tuple[str, float]:
    """Let a writer work, cut the power in the middle, mount again; what the writer told, and when the cut began."""
    writer = subprocess.Popen(
        [sys.executable, __file__, "--write", memory, "--seed", str(seed), *["--unsynced"] * unsynced],
        stdout=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")},
    )
    assert writer.stdout is not None
    heard = [writer.stdout.readline()]
    listening = threading.Thread(target=lambda: heard.append(writer.stdout.read()))  # type: ignore[union-attr]
    listening.start()
    try:
        time.sleep(moment)
        cut_at = time.monotonic()
        image.cut(how)
    finally:
        writer.kill()
        writer.wait()
        listening.join()
        writer.stdout.close()
    image.unmount()
    image.mount()
    return b"".join(heard).decode(), cut_at


def _judge_copy(memory: Path, told: Told) -> list[str]:
    """The verdict on a copy: judging writes, and the next writer is to find what the power cut left."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "memory")
        if memory.is_dir():
            shutil.copytree(memory, copy, symlinks=True)
        else:
            copy.mkdir()  # fine, if nothing was acknowledged
        return judge(copy, "".join(told.lines), lambda path: FileStore(path, POLICY)).sentences


def main() -> int:
    parser = argparse.ArgumentParser(description="Cut the power of a file system while a store writes to it.")
    parser.add_argument("kinds", nargs="*", help=f"file systems: {', '.join(KINDS)} (default: all)")
    parser.add_argument("--cuts", type=int, default=100, help="cuts of each (default: 100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--unsynced", action="store_true", help="with a store that does not sync")
    parser.add_argument("--write", metavar="FOLDER", help="be the writer (used by the script itself)")
    given = parser.parse_args()
    if given.write:
        write(given.write, given.seed, given.unsynced)
        return 0
    lost = 0
    for kind in given.kinds or KINDS:
        lacking = why_not(kind)
        if lacking:
            print(f"{kind}: skipped: {lacking}")
            continue
        result = cut_many(kind, given.cuts, unsynced=given.unsynced, seed=given.seed)
        print(result, *result.lost, sep="\n  ", flush=True)
        lost += len(result.lost)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
