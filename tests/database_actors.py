"""What other processes do in tests of memories in a database, and what must hold of what they wrote."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import signal
import sys
import time
from collections import Counter
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from actors import say, sha256, wait_to_be_let_go
from forking import start_child
from looseleaf.base.errors import Refused, Stale
from looseleaf.base.ids import new_id
from looseleaf.base.policy import Policy
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.folder_view import check_hashes
from looseleaf.store.postgres.places import pack
from looseleaf.store.postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from looseleaf.store.postgres.embedded import EmbeddedServer

STREAM = "traces/main"
PAGE = "facts/tea.md"
SMALL = Policy(segment_bytes=20_000, body_bytes=3000)
ENTRY = ("raw.md", "summary.json", "meta.json")


class DatabaseActor:
    """A child that does one of the functions below; see `Actor`, whose processes take long to start."""

    ours: ClassVar[set[int]] = set()
    """Our ends of all pipes: a child that kept one would keep another's input open."""

    def __init__(self, function: Callable[..., None], *arguments: object) -> None:
        (given, self._give), (self._told, tell) = os.pipe(), os.pipe()

        self.ours.update({self._give, self._told})

        def act() -> None:
            for each in self.ours:
                os.close(each)
            os.dup2(given, 0)
            os.dup2(tell, 1)
            sys.stdin = os.fdopen(0, "r", closefd=False)
            function(*arguments)

        self.child = start_child(act)
        os.close(given)
        os.close(tell)
        self._heard = os.fdopen(self._told, "rb")
        self.is_over = False

    @property
    def pid(self) -> int:
        return self.child.pid

    def hear(self) -> Any:
        """The next thing it says."""
        line = self._heard.readline()
        if not line.endswith(b"\n"):
            self.child.wait()
        return json.loads(line)

    def rest(self) -> list[Any]:
        """All that it still says."""
        return [json.loads(line) for line in self._heard if line.endswith(b"\n")]

    def tell(self, line: str) -> None:
        os.write(self._give, line.encode() + b"\n")

    def end_input(self) -> None:
        if self._give in self.ours:
            self.ours.remove(self._give)
            os.close(self._give)

    def let_go(self) -> Any:
        """Close its standard input, and hear its last word, if any."""
        self.end_input()
        said = self.rest()
        assert self.wait() == 0, self.child.trouble
        return said[-1] if said else None

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def wait(self) -> int:
        """Wait for its end; return its code. What it raised, if that is no refusal, is a failure."""
        self.is_over = True
        code = self.child.end()
        assert not self.child.trouble or "base.errors" in self.child.trouble, self.child.trouble
        return code

    def __enter__(self) -> DatabaseActor:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.is_over:
            self.kill()
        self.end_input()
        self.ours.remove(self._told)
        self._heard.close()


def open_store(where: str, **more: Any) -> PostgresStore:
    return PostgresStore.open(parse_address(where), SMALL, make=True, **more)


# --- a server that is killed -----------------------------------------------------------------


def kill_server(server: EmbeddedServer) -> int:
    """End all processes of a server at once, as a crash does; return how many."""
    parent = server.pid
    assert parent is not None
    os.kill(parent, signal.SIGSTOP)  # it starts no more
    pids = [parent, *children(parent)]
    for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that none sees another one die
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
    while any(is_alive(pid) for pid in pids):
        time.sleep(0.005)
    return len(pids)


def children(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if (
                folder.name.isdigit()
                and int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent
            ):
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --- writers, and what they were told ---------------------------------------------------------


def write_everything(where: str, writer: int, told: str) -> None:
    """Write in every way, over and over, until let go; note outside what was acknowledged."""
    fd = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    store = open_store(where)
    say("ready")
    base: str | None = None
    page = f"facts/{writer}.md"
    found = store.get(page)
    base = found.sha256 if found is not None else None
    for number in itertools.count():
        if os.path.exists(told + ".stop"):
            break
        try:
            base = _step(store, fd, writer, number, page, base)
        except Refused as refused:
            _tell(fd, ["refused", type(refused).__name__, str(refused), time.time()])
            found = store.get(page)  # a refused edit may have been the last one
            base = found.sha256 if found is not None else None
    store.close()
    say("done")


def _step(store: PostgresStore, fd: int, writer: int, number: int, page: str, base: str | None) -> str | None:
    began = time.monotonic()
    one = {"id": new_id(), "w": writer, "n": number, "text": "x" * (4000 if number % 50 == 7 else 50)}
    store.append(STREAM, [one])
    _tell(fd, ["record", one["id"], time.time(), time.monotonic() - began])
    many = [{"id": new_id(), "w": writer, "n": number, "k": k} for k in range(5)]
    store.append(STREAM, many)
    _tell(fd, ["records", *(each["id"] for each in many)])
    data = f"{writer} {number}\n".encode()
    edit = {"id": new_id(), "kind": "edit", "path": page, "base": base, "new": sha256(data)}
    base = store.put(page, data, base=base, record=edit)
    _tell(fd, ["record", edit["id"], time.time(), 0.0])
    if number % 5 == 0:
        folder = f"log/entries/tea/{new_id()}"
        store.publish(folder, {name: f'{{"schema":"{name}"}}'.encode() for name in ENTRY})
        _tell(fd, ["entry", folder])
    store.view(f"views/{writer}.md", data * 100)
    return base


def _tell(fd: int, what: object) -> None:
    os.write(fd, json.dumps(what).encode() + b"\n")


def read_told(paths: Iterable[Path]) -> list[list[Any]]:
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def judge(where: str, told: list[list[Any]]) -> list[str]:
    """Return what is wrong with a memory: lost, doubled, half, or out of order."""
    wrong: list[str] = []
    with open_store(where) as store:
        counts: Counter[str] = Counter()
        for stream in store.streams():
            end = None
            for line in store.read(stream, on_problem=lambda problem: wrong.append(str(problem))):
                counts[str(line.record["id"])] += 1
                at = pack(line.position)
                begins_segment = line.position.offset == 0
                if end is not None and at != end and not (begins_segment and at > end):
                    wrong.append(f"{stream}: a gap or an overlap at {line.position}")
                end = pack(line.end)
            if end is not None and end != pack(store.end(stream)):
                wrong.append(f"{stream}: its end is not where its last record ends")
        wrong += [f"{name} stands {times} times" for name, times in counts.items() if times != 1]
        for kind, *rest in told:
            names = rest[:1] if kind == "record" else rest if kind == "records" else []
            wrong += [f"acknowledged and lost: {name}" for name in names if name not in counts]
            if kind == "entry" and len(store.list(rest[0])) != len(ENTRY):
                wrong.append(f"acknowledged and lost: {rest[0]}")
        wrong += _judge_pages(store)
        for name in store.folders("log/entries/tea"):
            if {stat.path.rpartition("/")[2] for stat in store.list(f"log/entries/tea/{name}")} != set(ENTRY):
                wrong.append(f"half an entry: {name}")
        batches = Counter((r["w"], r["n"]) for r in (line.record for line in store.read(STREAM)) if "k" in r)
        wrong += [f"half a batch: {batch}" for batch, count in batches.items() if count % 5]
        for stat in store.list("views"):
            view = store.get(stat.path)
            lines = view.data.splitlines() if view is not None else []
            if len(lines) != 100 or len(set(lines)) != 1:
                wrong.append(f"half a view: {stat.path}")
        wrong += [str(problem) for problem in check_hashes(store)]
    return wrong


class Sweep:
    """Writers at work, and what they were told."""

    def __init__(self, where: str, place: Path, writers: int) -> None:
        self.where = where
        self.told = [place / f"told-{number}" for number in range(writers)]
        self.kills = 0
        self._held = ExitStack()
        self.actors = [self.start(number) for number in range(writers)]
        for actor in self.actors:
            assert actor.hear() == "ready"

    def start(self, number: int) -> DatabaseActor:
        return self._held.enter_context(
            DatabaseActor(write_everything, self.where, number, str(self.told[number]))
        )

    def join(self, actor: DatabaseActor, told: Path) -> None:
        """Have one more write."""
        self.actors.append(self._held.enter_context(actor))
        self.told.append(told)
        assert actor.hear() == "ready"

    def acknowledged(self) -> int:
        return sum(path.read_bytes().count(b"\n") for path in self.told if path.exists())

    def wait_for(self, more: int) -> float:
        """Wait until so much more was acknowledged; return how long that took."""
        began, before = time.monotonic(), self.acknowledged()
        while self.acknowledged() < before + more:
            assert time.monotonic() < began + 60, "nobody writes any more"
            time.sleep(0.01)
        return time.monotonic() - began

    def stop(self) -> None:
        for path in self.told:
            Path(f"{path}.stop").touch()
        for actor in self.actors:
            if not actor.is_over:
                assert actor.let_go() == "done"
        self._held.close()

    def __enter__(self) -> Sweep:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def judge(self) -> list[str]:
        told = read_told(self.told)
        wrong = judge(self.where, told)
        lost = sum("acknowledged and lost" in each for each in wrong)
        doubled = sum(" times" in each for each in wrong)
        refused = sum(each[0] == "refused" for each in told)
        print(f"\nkills={self.kills} told={len(told)} {lost=} {doubled=} wrong={len(wrong)} {refused=}")
        return wrong


def _judge_pages(store: PostgresStore) -> list[str]:
    wrong, heads = [], dict[str, Any]()
    for line in store.read("journal"):
        edit = line.record
        if edit.get("kind") == "edit":
            if edit["base"] != heads.get(edit["path"]):
                wrong.append(f"{edit['path']}: an edit does not begin where the one before it ended")
            heads[edit["path"]] = edit["new"]
    for path, head in heads.items():
        page = store.get(path)
        if page is None or hashlib.sha256(page.data).hexdigest() != head:
            wrong.append(f"{path} is not what the journal says")
    return wrong


# --- one page, one chore, the lock -------------------------------------------------------------


def append_in_order(where: str, writer: int, count: int) -> None:
    """Append as many records to one stream as fast as it goes."""
    store = open_store(where)
    say("ready")
    wait_to_be_let_go()
    for number in range(count):
        store.append(STREAM, [{"id": new_id(), "w": writer, "n": number}])
    say(count)


def edit_one_page(where: str, writer: int, count: int) -> None:
    """Add lines to a page that all change; try again when another was first."""
    store = open_store(where)
    say("ready")
    wait_to_be_let_go()
    done, stale = 0, 0
    while done < count:
        page = store.get(PAGE)
        base, data = (page.sha256, page.data) if page is not None else (None, b"")
        new = data + f"{writer} {done}\n".encode()
        try:
            store.put(
                PAGE,
                new,
                base=base,
                record={"id": new_id(), "kind": "edit", "path": PAGE, "base": base, "new": sha256(new)},
            )
            done += 1
        except Stale:
            stale += 1
    say([done, stale])


def do_chores(where: str, writer: int, count: int, lockless: bool) -> None:
    """Do each of many chores, unless another process does it or did: each is to be done once."""
    store = open_store(where)
    say("ready")
    wait_to_be_let_go()
    mine = 0
    for number in range(count):
        with store.claim(f"log/chore/{number}") as is_alone:
            if not (is_alone or lockless):
                continue
            if not any(line.record["n"] == number for line in store.read(STREAM)):
                store.append(STREAM, [{"id": new_id(), "w": writer, "n": number}])
                mine += 1
    say(mine)


def count_under_the_lock(where: str, writer: int, count: int, lockless: bool) -> None:
    """Read a number and write the next one, under the lock."""
    store = open_store(where)
    say("ready")
    wait_to_be_let_go()
    for _ in range(count):
        with nullcontext() if lockless else store.lock():
            last = next(iter(store.read_back(STREAM)), None)
            number = last.record["n"] + 1 if last is not None else 0
            store.append(STREAM, [{"id": new_id(), "w": writer, "n": number}])
    say(count)


def hold_lock(where: str) -> None:
    """Take the lock, say by which of the server's processes, and write each time a line comes."""
    store = open_store(where)
    with store.lock():
        assert store._lock.wire is not None
        say(store._lock.wire.server[0])
        for _ in sys.stdin:
            try:
                store.append(STREAM, [{"id": new_id(), "w": 0, "n": 0}])
                say("written")
            except Refused as refused:
                say(str(refused))


def forget_one_after_the_other(where: str, words: list[str]) -> None:
    """Forget words, each in records, in a page and in an entry; say each that is forgotten."""
    store = open_store(where)
    say("ready")
    for word in words:
        forget_word(store, word)
        say(word)


def forget_word(store: PostgresStore, word: str) -> None:
    from looseleaf.store.documents import Removal

    with store.lock():
        switch = store.switch(new_id())
        for number, (path, _, _) in store.segments(STREAM).items():
            switch.put(path, store.segment(STREAM, number).replace(word.encode(), b"-"))
        page = store.get(f"facts/{word}.md")
        if page is not None:
            switch.remove(Removal(page.path, page.sha256))
        switch.put("log/tombstones.jsonl", b"")
        switch.commit("log/tombstones.jsonl")
        store.adopt_ends()


def read_on(where: str) -> None:
    """Read the last record until let go; say when, and how long the longest read took."""
    import threading

    store = open_store(where)
    say("ready")
    stop = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        stop.set()

    threading.Thread(target=wait, daemon=True).start()
    longest, count, refused = 0.0, 0, 0
    while not stop.is_set():
        began = time.monotonic()
        try:
            next(iter(store.read_back(STREAM)), None)
            count += 1
        except Refused:
            refused += 1
        longest = max(longest, time.monotonic() - began)
        time.sleep(0.005)
    say([count, refused, longest])


def move_away(folder: str, where: str) -> None:
    from looseleaf.transfer.move import move

    say("ready")
    move(folder, where)
    say("moved")
