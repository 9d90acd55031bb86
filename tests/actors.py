"""What other processes do in tests: each function runs in a process of its own, started by `start`.

An actor says what it did in lines of JSON on its standard output, and may wait for its standard input to close.
Nothing here imports pytest: eight actors must be there at once, not one after the other.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from looseleaf.base.errors import Refused, Stale
from looseleaf.base.ids import new_id
from looseleaf.base.policy import Policy
from looseleaf.base.values import START, Position
from looseleaf.store.disk import Disk, Lock
from looseleaf.store.files import FileStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.base.values import LogLine, Problem

STREAM = "traces/main"
PAGE = "facts/tea.md"


# --- starting and listening ------------------------------------------------------------


class Actor:
    """A process that runs one function of this module; of a kind of its own, one of another."""

    script = __file__

    def __init__(self, function: Callable[..., None], *arguments: object) -> None:
        # Their coverage is measured in the tests that are not about speed and interleaving.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
        self.process = subprocess.Popen(
            [sys.executable, self.script, function.__name__, json.dumps(arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    def hear(self) -> Any:
        """The next thing it says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), f"the actor ended with {self.process.wait()} and said {line!r}"
        return json.loads(line)

    def let_go(self) -> Any:
        """Close its standard input, and hear its last word, if any."""
        out, _ = self.process.communicate()
        assert self.process.returncode == 0
        return json.loads(out.splitlines()[-1]) if out else None

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> Actor:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()


def say(value: object) -> None:
    os.write(1, json.dumps(value).encode() + b"\n")


def wait_to_be_let_go() -> None:
    sys.stdin.read()


class Lockless(Disk):
    """A disk whose locks hold nobody: what every store without one has."""

    def try_lock(self, fd: int) -> bool:
        return True

    def unlock(self, fd: int) -> None:
        pass


class Share(Disk):
    """A disk that says it is a network share, and perhaps that this is another host."""

    def __init__(self, kind: str = "nfs4", host: str = "") -> None:
        super().__init__()
        self._kind = kind
        self._host = host

    def network_type(self, root: int) -> str | None:
        return self._kind

    def host(self) -> str:
        return self._host or super().host()


# --- the lock --------------------------------------------------------------------------


def hold(path: str) -> None:
    """Take the lock, say so, and keep it until let go."""
    with FileStore(path) as store, store.lock():
        say("held")
        wait_to_be_let_go()


def take_in_turns(path: str, turnstile: bool, seconds: float, pause: float) -> None:
    """Take the lock, hold it for `pause`, let go and come straight back, for a while."""
    if not turnstile:
        Lock._acquire = _acquire_at_once  # type: ignore[method-assign]
    store = FileStore(path)
    say("ready")
    wait_to_be_let_go()
    taken, longest = 0, 0.0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        asked = time.monotonic()
        with store.lock():
            longest = max(longest, time.monotonic() - asked)
            time.sleep(pause)
            taken += 1
    say([taken, longest])


def _acquire_at_once(self: Lock, deadline: float) -> None:
    """The lock without its turnstile."""
    if self._lock < 0:
        self._lock = self._open("log/lock")
    self._wait_for(self._lock, 0.002, deadline)


# --- eight writers and their readers ---------------------------------------------------


def append_many(path: str, writer: int, count: int, segment_bytes: int, lockless: bool) -> None:
    """Append `count` records of 200 bytes to 20 kB, most of them small; some in one call with the next."""
    chance = random.Random(writer)
    store = FileStore(path, Policy(segment_bytes=segment_bytes), Lockless() if lockless else None)
    say("ready")
    wait_to_be_let_go()
    refused = 0
    number = 0
    while number < count:
        several = min(chance.choice((1, 1, 1, 2, 5)), count - number)
        records = []
        for _ in range(several):
            size = int(200 * 100 ** chance.random() ** 3)
            content = chance.randbytes(size // 2).hex()
            records.append({"writer": writer, "number": number, "content": content, "sum": _sum(content)})
            number += 1
        try:
            positions = store.append(STREAM, records)
        except Refused:  # without a lock the store meets what cannot be; with one it must not refuse
            refused += 1
            continue
        if positions != sorted(positions) or len(set(positions)) != several:
            refused += 1
    say(refused)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _sum(content: str) -> str:
    return sha256(content.encode())[:16]


def is_whole(line: LogLine) -> bool:
    return line.checked and _sum(str(line.record["content"])) == line.record["sum"]


class Watch:
    """What a reader holds against a stream: each writer's numbers without a gap, whole, and once."""

    def __init__(self, writers: int) -> None:
        self.next = [0] * writers
        self.bad: list[str] = []
        self.count = 0

    def see(self, line: LogLine) -> None:
        writer, number = line.record["writer"], line.record["number"]
        if not is_whole(line):
            self.bad.append(f"{line.position}: a record that is not whole")
        if number != self.next[writer]:
            self.bad.append(f"{line.position}: writer {writer} is at {self.next[writer]}, not {number}")
        self.next[writer] = number + 1
        self.count += 1

    def complain(self, problem: Problem) -> None:
        self.bad.append(str(problem))


def tail(path: str, writers: int, count: int) -> None:
    """Follow the stream from its beginning, from position to position, until each writer's last record."""
    store = FileStore(path)
    watch = Watch(writers)
    at: Position = START
    reads = 0
    say("ready")
    end = time.monotonic() + 600
    while min(watch.next) < count and len(watch.bad) < 5 and time.monotonic() < end:
        for line in store.read(STREAM, at, watch.complain):
            watch.see(line)
            at = line.end
        reads += 1
        time.sleep(0.001)
    say({"records": watch.count, "reads": reads, "bad": watch.bad})


def look_back(path: str, writers: int, depth: int) -> None:
    """Read the newest records backwards, again and again, until let go."""
    import threading

    store = FileStore(path)
    stop = threading.Event()

    def listen() -> None:
        wait_to_be_let_go()
        stop.set()

    threading.Thread(target=listen, daemon=True).start()
    bad: list[str] = []
    reads = records = 0
    say("ready")
    while not stop.is_set():
        last: dict[int, int] = {}
        before: Position | None = None
        for line in store.read_back(STREAM):
            writer, number = line.record["writer"], line.record["number"]
            if not is_whole(line):
                bad.append(f"{line.position}: a record that is not whole")
            if last.get(writer, number + 1) != number + 1:
                bad.append(f"{line.position}: writer {writer} has {number} before {last[writer]}")
            if before is not None and line.position >= before:
                bad.append(f"{line.position}: not before {before}")
            last[writer], before = number, line.position
            records += 1
            if records % depth == 0:
                break
        reads += 1
        time.sleep(0.001)
    say({"records": records, "reads": reads, "bad": bad[:5]})


# --- eight writers of one page ---------------------------------------------------------


def patch_many(path: str, writer: int, count: int, lockless: bool) -> None:
    """Add `count` lines to one page; every second patch is made on a base that is known to be old."""
    store = FileStore(path, disk=Lockless() if lockless else None)
    first = store.get(PAGE)
    assert first is not None
    say("ready")
    wait_to_be_let_go()
    told: dict[str, Any] = {"acknowledged": [], "stale": [], "taken": [], "raced": 0, "failed": 0}
    for number in range(count):
        line = f"- Writer {writer}: patch {number}\n"
        try:
            if number % 2:
                _patch_stale(store, first.sha256, first.data + line.encode(), line, told)
            else:
                _patch_fresh(store, line, told)
        except Refused:  # only a store without a lock comes here
            told["failed"] += 1
    say(told)


def _patch_fresh(store: FileStore, line: str, told: dict[str, Any]) -> None:
    """Patch what the page says now; when somebody was faster, read again, as the refusal asks."""
    while True:
        page = store.get(PAGE)
        assert page is not None
        data = page.data + line.encode()
        record = edit_record(page.sha256, data)
        try:
            store.put(PAGE, data, base=page.sha256, record=record)
        except Stale as stale:
            told["raced"] += 1
            told["stale"].append(stale.current)
        else:
            told["acknowledged"].append([line, record["id"]])
            return


def _patch_stale(store: FileStore, base: str, data: bytes, line: str, told: dict[str, Any]) -> None:
    with store.lock():  # so that nobody changes the page between the refusal and the look
        try:
            store.put(PAGE, data, base=base, record=edit_record(base, data))
        except Stale as stale:
            now = store.get(PAGE)
            told["stale"].append(stale.current)
            if now is None or stale.current != now.sha256:
                told["failed"] += 1
        else:
            told["taken"].append(line)


def edit_record(base: str | None, data: bytes) -> dict[str, Any]:
    return {
        "schema": "journal.v1",
        "id": new_id(),
        "ts": time.time(),
        "kind": "edit",
        "path": PAGE,
        "base": base,
        "new": sha256(data),
    }


# --- one writer on a share -------------------------------------------------------------


def write_on_share(path: str, host: str) -> None:
    """Append one record to a memory on a share, and stay until let go; a refusal is said."""
    store = FileStore(path, disk=Share(host=host))
    try:
        store.append(STREAM, [{"by": os.getpid()}])
    except Refused as refused:
        say(str(refused))
        return
    say("written")
    wait_to_be_let_go()
    store.close()


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parent)
    globals()[sys.argv[1]](*json.loads(sys.argv[2]))
