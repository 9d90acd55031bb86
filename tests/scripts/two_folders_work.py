"""Two machines, each with a copy of one memory that is carried to the other while both work and are killed; and the
judge of what is left.

    python two_folders_work.py MEMORY TOLD SEED    be a machine (`LOOSELEAF_MACHINE`) until told to stop, or killed

What was acknowledged is told as in `chaos_work`. A carrier brings each folder to the other, as people do: by copying
newer files, by git, or with a program that knows the version of each file and leaves conflict copies.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from looseleaf import Memory, Refused
from looseleaf.store.this_machine import VARIABLE
from machines import STATUSES
from scripts.chaos_work import GARDEN, MODEL_LEVELS, NOTED, SAVED, WRITTEN, Worker, read_told
from scripts.editing import SAVES

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

NAMES = ("desk", "lap")
NOT_CARRIED = {"views", "staged", "lock", "turn", "aside", "forgetter", ".git"}
"""What a carrier is told to leave out: it is of one machine, or only there for a moment."""

CONFLICT = ".sync-conflict-"


class Machine(Worker):
    """One process on one machine: it does everything, one after the other."""

    def __init__(self, memory: Path, told: Path, seed: int) -> None:
        super().__init__(memory, told, "machine", seed)

    def edit(self) -> None:
        """An editor adds a line to its page."""
        page = self.path / GARDEN
        # A person edits what the memory says, not what a killed editor or a carrier left there a moment ago.
        text = self.memory.pages.read(GARDEN).text or "# Garden\n"
        token = self.token(SAVED)
        page.parent.mkdir(exist_ok=True)
        whole = f"{text.rstrip()}\n- Likes: {token} from the garden\n"
        self.chance.choice(SAVES)(page, whole.encode(), self.chance.random() * 0.02)
        for _ in range(100):  # a file that was written just now may be half of one
            self.memory.pages.absorb()
            last = next(self.memory.history.edits(GARDEN), None)
            if last is not None and token in str(last.hunks):
                self.tell("saved", token=token)
                return
            time.sleep(0.05)

    def undo(self) -> None:
        self.memory.history.undo()
        self.tell("undone")

    def task(self) -> None:
        self.memory.state.add_task(self.token(NOTED))


ACTS: tuple[tuple[Callable[[Machine], None], int], ...] = (
    (Machine.record, 4),
    (Machine.note, 3),
    (Machine.distill, 2),
    (Machine.write, 2),
    (Machine.edit, 3),
    (Machine.look, 1),
    (Machine.undo, 1),
    (Machine.prompt, 1),
    (Machine.recall, 1),
    (Machine.task, 1),
)


def work(memory: Path, told: Path, seed: int) -> None:
    worker = Machine(memory, told, seed)
    acts = [act for act, weight in ACTS for _ in range(weight)]
    while not (told / "stop").exists():
        act = worker.chance.choice(acts)
        try:
            act(worker)
        except Refused as error:
            worker.tell("refused", by=act.__name__, kind=type(error).__name__, why=str(error)[:300])
        except Exception:  # noqa: BLE001 - the judge reports it
            worker.tell("broke", by=act.__name__, why=traceback.format_exc()[-3000:])
        time.sleep(worker.chance.random() * 0.2)
    worker.memory.close()
    worker.tell("stopped")


# --- carriers ----------------------------------------------------------------------------


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    """The files that are carried, with what tells that one was changed."""
    found: dict[str, tuple[int, int]] = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in NOT_CARRIED]
        for name in names:
            path = Path(root, name)
            if name in NOT_CARRIED or name.endswith((".tmp", "~", ".swp")) or name.startswith("."):
                continue
            try:
                stat = path.stat()
            except FileNotFoundError:
                continue
            found[str(path.relative_to(folder))] = stat.st_mtime_ns, stat.st_size
    return found


def bring(data: bytes, target: Path, mtime: int, was: tuple[int, int] | None) -> bool:
    """Put a file in place in one step, unless the one there was changed meanwhile."""
    target.parent.mkdir(parents=True, exist_ok=True)
    staged = target.with_name(f".{target.name}.carried")
    staged.write_bytes(data)
    os.utime(staged, ns=(mtime, mtime))
    try:
        stat = target.stat()
        now: tuple[int, int] | None = (stat.st_mtime_ns, stat.st_size)
    except FileNotFoundError:
        now = None
    if now != was:
        staged.unlink()
        return False
    staged.replace(target)
    return True


class Carrier:
    """Brings the folders of two machines to each other, when called. `faults` are promises that it saw broken."""

    is_whole = False
    """Whether all files come at once."""

    def __init__(self, folders: dict[str, Path], chance: random.Random) -> None:
        self.folders = folders
        self.chance = chance
        self.faults: list[str] = []
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def prepare(self) -> None:
        """Make the second machine's folder of the first one's."""
        shutil.copytree(self.folders["desk"], self.folders["lap"], ignore=shutil.ignore_patterns("views"))

    def carry(self) -> int:
        raise NotImplementedError


class Copying(Carrier):
    """The newer file wins, file by file."""

    def carry(self) -> int:
        count = 0
        for source, target in (NAMES, NAMES[::-1]):
            here, there = files_of(self.folders[source]), files_of(self.folders[target])
            paths = list(here)
            self.chance.shuffle(paths)
            for path in paths:
                if here[path] != there.get(path) and here[path][0] > there.get(path, (0, 0))[0]:
                    try:
                        data = (self.folders[source] / path).read_bytes()
                    except FileNotFoundError:
                        continue
                    count += bring(data, self.folders[target] / path, here[path][0], there.get(path))
        return count


class Vectors(Carrier):
    """Knows how often each machine changed each file. Of two that were changed at once, one is kept as a copy."""

    def __init__(self, folders: dict[str, Path], chance: random.Random) -> None:
        super().__init__(folders, chance)
        self._versions: dict[tuple[str, str], dict[str, int]] = {}
        self._last: dict[tuple[str, str], bytes | None] = {}
        self._count = 100_000

    def prepare(self) -> None:
        super().prepare()
        for name in NAMES:
            for path in files_of(self.folders[name]):
                self._versions[name, path] = {"desk": 1}
                self._last[name, path] = (self.folders[name] / path).read_bytes()

    def _look(self, name: str) -> dict[str, tuple[bytes, tuple[int, int]]]:
        found: dict[str, tuple[bytes, tuple[int, int]]] = {}
        for path, stat in files_of(self.folders[name]).items():
            try:
                found[path] = (self.folders[name] / path).read_bytes(), stat
            except FileNotFoundError:
                continue
        for path in {*found, *(path for machine, path in self._last if machine == name)}:
            data = found[path][0] if path in found else None
            if data != self._last.get((name, path)):
                version = self._versions.setdefault((name, path), {})
                version[name] = version.get(name, 0) + 1
                self._last[name, path] = data
        return found

    def _put(
        self, name: str, path: str, data: bytes | None, version: dict[str, int], was: tuple[int, int] | None
    ) -> int:
        target = self.folders[name] / path
        if data is None:
            target.unlink(missing_ok=True)
        elif not bring(data, target, time.time_ns(), was):
            return 0  # the next look sees a change of its own
        self._last[name, path], self._versions[name, path] = data, dict(version)
        return 1

    def carry(self) -> int:
        a, b = NAMES
        here, there = self._look(a), self._look(b)
        count = 0
        paths = sorted({path for _, path in self._versions})
        self.chance.shuffle(paths)
        for path in paths:
            one, other = self._versions.get((a, path), {}), self._versions.get((b, path), {})
            (x, x_was), (y, y_was) = here.get(path, (None, None)), there.get(path, (None, None))
            both = {name: max(one.get(name, 0), other.get(name, 0)) for name in {*one, *other}}
            if x == y:
                self._versions[a, path], self._versions[b, path] = dict(both), dict(both)
            elif one == both:
                count += self._put(b, path, x, one, y_was)
            elif other == both:
                count += self._put(a, path, y, other, x_was)
            elif x is None or y is None:  # a change outlives a deletion
                name, data, was = (b, x, y_was) if y is None else (a, y, x_was)
                count += self._put(name, path, data, both, was)
                self._versions[a, path], self._versions[b, path] = dict(both), dict(both)
            else:
                count += self._settle(path, (x, x_was), (y, y_was), both)
        return count

    def _settle(
        self,
        path: str,
        one: tuple[bytes, tuple[int, int] | None],
        other: tuple[bytes, tuple[int, int] | None],
        both: dict[str, int],
    ) -> int:
        if path.startswith("log/") and not path.endswith((".log", "key", "machine", "writer")):
            self.faults.append(f"two machines wrote {path}")
        a, b = NAMES
        wins_here = self.chance.random() < 0.5
        name, won, lost, was = (b, one[0], other[0], other[1]) if wins_here else (a, other[0], one[0], one[1])
        self._count += 1
        stem, dot, end = path.rpartition(".")
        beside = f"{stem}{CONFLICT}20260301-{self._count:06d}-ABCDEF7{dot}{end}"
        if not self._put(name, path, won, both, was):
            return 0
        self._versions[a, path], self._versions[b, path] = dict(both), dict(both)
        return 1 + self._put(name, beside, lost, {name: 1}, None)


class Git(Carrier):
    """Commits, merges and pushes, with the merge driver and the log in git. The processes stand still meanwhile."""

    is_whole = True

    def prepare(self) -> None:
        desk, hub = self.folders["desk"], self.folders["desk"].parent.parent / "hub"
        self._run("git", "init", "-q", "--bare", "-b", "main", str(hub))
        self._run("git", "-C", str(desk.parent), "init", "-q", "-b", "main")
        self._run("git", "-C", str(desk.parent), "remote", "add", "origin", str(hub))
        self._looseleaf("desk", "init", "--git-log")
        self._looseleaf("desk", "hook", "install", "--git", "--yes")
        self._leave_out("desk")
        self._commit("desk")
        self._run("git", "-C", str(desk.parent), "push", "-q", "origin", "main")
        self._run("git", "clone", "-q", str(hub), str(self.folders["lap"].parent))
        self._looseleaf("lap", "hook", "install", "--git", "--yes")
        self._leave_out("lap")

    def _leave_out(self, name: str) -> None:
        """What editors leave beside a page is in no commit."""
        (self.folders[name].parent / ".git/info/exclude").write_text("*~\n*.swp\n*.tmp\n*.bak\n")

    def _looseleaf(self, name: str, *arguments: str) -> None:
        environment = os.environ | {VARIABLE: name, "PYTHONPATH": os.pathsep.join(sys.path)}
        self._run(
            sys.executable, "-m", "looseleaf", *arguments, cwd=self.folders[name].parent, env=environment
        )

    def _run(self, *command: str, **how: object) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **how)  # type: ignore[call-overload]
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return str(done.stdout)

    def _git(self, name: str, *arguments: str) -> str:
        environment = os.environ | {VARIABLE: name, "PYTHONPATH": os.pathsep.join(sys.path)}
        who = ("-c", f"user.name={name}", "-c", f"user.email={name}@example.com")
        return self._run("git", "-C", str(self.folders[name].parent), *who, *arguments, env=environment)

    def _commit(self, name: str) -> None:
        self._git(name, "add", "-A")
        self._git(name, "commit", "-q", "--allow-empty", "-m", "carried")

    def carry(self) -> int:
        count = 0
        for name in NAMES:
            process = self.processes.get(name)
            if process is not None:
                process.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            try:
                self._commit(name)
                self._git(name, "fetch", "-q")
                before = self._git(name, "rev-parse", "HEAD^{tree}")
                if self._merge(name):
                    self._git(name, "push", "-q", "origin", "main")
                count += before != self._git(name, "rev-parse", "HEAD^{tree}")
            finally:
                if process is not None:
                    process.send_signal(signal.SIGCONT)
        return count

    def _merge(self, name: str) -> bool:
        if self._git(name, "status", "--porcelain"):
            return False  # something was written since the commit: the next time
        try:
            self._git(name, "merge", "-q", "--no-edit", "origin/main")
        except RuntimeError as error:
            sides = Counter(row.split("\t")[1] for row in self._git(name, "ls-files", "-u").splitlines())
            if not sides:
                self.faults.append(f"git ended halfway: {error}")
                self._git(name, "reset", "-q", "--hard")  # all was committed
                return False
            if max(sides.values()) > 2:
                self.faults.append(f"git did not merge: {error}")
            self._commit(name)  # one side deleted a page that the other changed: a person keeps it
        return True


CARRIERS: dict[str, type[Carrier]] = {"copy": Copying, "git": Git, "vectors": Vectors}


# --- the judge ---------------------------------------------------------------------------


def settle(carrier: Carrier) -> int:
    """Carry until nothing moves; return how many rounds that took."""
    for number in range(1, 13):
        for name in NAMES:
            with as_machine(name, carrier.folders[name]) as memory:
                memory.pages.absorb()
                memory.facts()
                for held in memory.review.held() if name == NAMES[0] else ():
                    memory.review.settle(held.path, "both")  # as a person does
        if not carrier.carry():
            return number
    return 99


class as_machine:
    def __init__(self, name: str, folder: Path) -> None:
        self._name, self._folder = name, folder

    def __enter__(self) -> Memory:
        self._before = os.environ.get(VARIABLE, "")
        os.environ[VARIABLE] = self._name
        self._memory = Memory(self._folder)
        return self._memory

    def __exit__(self, *_: object) -> None:
        self._memory.close()
        os.environ[VARIABLE] = self._before


def judge(carrier: Carrier, told: Path) -> tuple[dict[str, int], list[str]]:
    """Return what happened, in counts, and every broken promise."""
    rounds = settle(carrier)
    faults = list(carrier.faults)
    if rounds > 12:
        faults.append("the folders never come to rest")
    rows = list(read_told(told))
    counts = Counter(str(row["what"]) for row in rows)
    # A file that comes before the log which explains it looks like a person's until then.
    told_of = ("broke", "risen") if carrier.is_whole else ("broke",)
    faults += [f"{row['what']}: {row}" for row in rows if row["what"] in told_of]
    known: dict[str, tuple[dict[str, bytes], set[tuple[object, ...]]]] = {}
    for name in NAMES:
        with as_machine(name, carrier.folders[name]) as memory:
            memory.facts()
            faults += [f"check on {name}: {each}" for each in memory.check() if each.severity == "error"]
            pages = {path: memory.pages.read(path).data for path in memory.pages.list()}
            facts = [fact for status in STATUSES for fact in memory.facts(status=status)]
        state = carrier.folders[name] / "state.json"
        pages["state.json"] = state.read_bytes() if state.exists() else b""
        known[name] = (
            pages,
            {(fact.id, fact.relation, fact.object, fact.level, fact.status) for fact in facts},
        )
        faults += [
            f"a level rose on {name}: {fact.object} is {fact.level}"
            for fact in facts
            if WRITTEN in fact.object and fact.level not in MODEL_LEVELS
        ]
        faults += _lost(name, carrier.folders[name], rows, b"\n".join(pages.values()))
    faults += _differences(*(known[name] for name in NAMES))
    return dict(counts) | {"rounds": rounds}, faults


def _lost(name: str, folder: Path, rows: list[dict[str, object]], pages: bytes) -> Iterator[str]:
    bytes_of = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    every = b"\n".join(bytes_of.values())
    streams = {path: data for path, data in bytes_of.items() if "traces" in path.parts}
    sealed = b"\n".join(data for path, data in streams.items() if "archive" in path.parts)
    # An active file that a copier left where it was moved from is read by nobody (FORMAT, 4.3).
    traces = b"\n".join(
        data
        for path, data in streams.items()
        if "archive" in path.parts or not data or data.splitlines()[0] not in sealed
    )
    journals = b"\n".join(
        data for path, data in bytes_of.items() if "journal" in path.name or "archive" in path.parts
    )
    undone = b"\n".join(line for line in journals.splitlines() if b'"undoes":"' in line)
    for row in rows:
        token = str(row.get("token", "")).encode()
        if row["what"] == "recorded":
            times = traces.count(b'"id":"' + str(row["id"]).encode())
            if times != 1 or token not in traces:
                yield f"recorded, and on {name} {times} times: {row}"
        elif row["what"] in ("noted", "written", "saved"):
            if token not in every:
                yield f"{row['what']}, and nowhere on {name}: {row}"
            elif token not in pages and token not in undone:
                yield f"{row['what']}, and on no page of {name}: {row}"


def _differences(
    one: tuple[dict[str, bytes], set[tuple[object, ...]]],
    other: tuple[dict[str, bytes], set[tuple[object, ...]]],
) -> Iterator[str]:
    for path in sorted({*one[0], *other[0]}):
        here, there = (pages.get(path, b"").splitlines() for pages in (one[0], other[0]))
        if here != there:
            yield f"{path} is different: {[*({*here} ^ {*there})][:6]}, {len(here)} and {len(there)} lines"
    for fact in sorted(one[1] ^ other[1], key=str)[:8]:
        yield f"a fact of {'desk' if fact in one[1] else 'lap'} alone: {fact}"


if __name__ == "__main__":
    work(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
