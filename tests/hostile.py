"""Hostile paths, traps on a disk, and the secrets beside a memory that none of them may reach.

`Beside` is a folder with a memory in it and canaries all around. `escapes` says everything that a call gave away or
changed out there; it knows nothing of how the memory keeps its walls.
"""

from __future__ import annotations

import os
import signal
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from types import FrameType

from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.store.disk import Disk

SECRET = "canary-5d41402abc4b2a76"
"""Stands in every file outside, and in the name of some: whoever returns it has looked outside."""

HELD = "# Held\n\n- Held: inside\n"


class Beside:
    """A memory, and what lies beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memory = folder / "memory"
        self.outside = folder / "outside"
        init(str(self.memory))
        with Memory(self.memory) as memory:
            for path in ("USER.md", "facts/held.md", "facts/caf\u00e9.md"):
                memory.pages.edit(path, HELD, reason="to be there")
        for name in (
            "canary.md",
            "outside/canary.md",
            f"outside/{SECRET}.md",
            "outside/held.md",
            "outside/journal.jsonl",
            "outside/000001.jsonl",
            "outside/facts/held.md",
            "memory-evil/x.md",
            "memory.md",
            "etc/passwd",
        ):
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# {SECRET}\n", encoding="utf-8")
        self._before = self._look()

    def _look(self) -> dict[str, tuple[object, ...]]:
        """Every file beside the memory: kind, bytes, times, names."""
        found: dict[str, tuple[object, ...]] = {}
        for top, folders, files in os.walk(self.folder):
            if Path(top) == self.folder:
                folders.remove("memory")
                if "spare" in folders:
                    folders.remove("spare")
            for name in [*folders, *files]:
                path = Path(top, name)
                has = path.lstat()
                data = path.read_bytes() if stat.S_ISREG(has.st_mode) else b""
                times = () if stat.S_ISDIR(has.st_mode) else (has.st_mtime_ns, has.st_ino)
                found[str(path.relative_to(self.folder))] = (has.st_mode, data, *times)
        return found

    def escapes(self, *given: object) -> list[str]:
        """What was changed outside, and which of the given values hold something from there."""
        now = self._look()
        changed = [
            f"changed: {name}"
            for name in sorted(now.keys() | self._before.keys())
            if now.get(name) != self._before.get(name)
        ]
        return changed + [f"given: {value!r:.200}" for value in given if SECRET in repr(value)]


# --- paths -----------------------------------------------------------------------------


def never() -> list[str]:
    """Paths that name nothing in any memory, whoever asks."""
    return list(dict.fromkeys([*_traversals(), *_elsewhere(), *_characters(), *_names(), *_shapes()]))


def _traversals() -> Iterator[str]:
    ups = (
        "../|..\\|..%2f|..%5c|%2e%2e/|%2e%2e%2f|%2E%2E%2F|.%2e/|%2e./|%252e%252e%252f|%252e%252e/|..%252f|..%255c|"
        "..%c0%af|%c0%ae%c0%ae/|..%e0%80%af|%u002e%u002e/|.../../|..././|....//|.. /|. ./|..\t/|..\0/|..\r\n/|"
        ".\u200b./|"
        "..\u2215\u200b/|\u2024\u2024/|\u2025/|\uff0e\uff0e/|..\uff0f|..\uff3c|\u202e../|~/|~root/|-/../|\\..\\|..\xa0/"
    ).split("|")
    targets = ("canary.md", "outside/canary.md", "memory-evil/x.md")
    for up, target in product(ups, targets):
        yield up + target
        yield f"facts/{up}{up}{target}"
    for depth in (2, 3, 8, 40):
        yield "../" * depth + "etc/passwd"
        yield "facts/" + "../" * depth + "etc/passwd"
    yield from ("../memory/USER.md", "facts/../USER.md", "facts/../../memory/facts/held.md", "..", "facts/..")
    yield from ("./USER.md", "facts/./held.md", "facts//held.md", "/USER.md", "USER.md/", "facts/held.md/..")


def _elsewhere() -> Iterator[str]:
    yield from ("/etc/passwd", "//etc/passwd", "///etc/passwd", "/", "//", "/proc/self/environ", "/dev/fd/0")
    yield from ("/proc/self/root/etc/passwd", "file:///etc/passwd", "http://localhost/x.md", "/canary.md")
    for share in ("//server/share", r"\\server\share", r"\\?\UNC\server\share", r"\\?\C:", r"\\.\C:"):
        yield f"{share}/x.md"
        yield f"{share}\\x.md"
    for drive in ("C:", "c:", "Z:", "C:.", "C:.."):
        yield from (drive, f"{drive}\\x.md", f"{drive}/x.md", f"facts/{drive}x.md")
    yield from (r"\x.md", r"\\.\pipe\x.md", r"\\.\PhysicalDrive0", r"\Device\x.md", r"\??\C:\x.md")
    for stream in (":$DATA", "::$DATA", ":x", ":x:$DATA", ":$I30:$INDEX_ALLOCATION"):
        yield f"facts/held.md{stream}"
        yield f"facts{stream}/held.md"


def _characters() -> Iterator[str]:
    steering = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
    unseen = (
        "\xa0\xad\u061c\u180e\u2000\u2003\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
        "\u202f\u205f\u2060\u2061\u2066\u2067\u2068\u2069\u206a\u3000\ufeff\ufff9\ufffb\ue000\U000e0001\U000e0041"
        "\ud800\udcff\udfff\U0010ffff\u0378"
    )
    for each in (*steering, *unseen):
        yield f"facts/he{each}ld.md"
    for each in '*?"<>|:\\':
        yield f"facts/he{each}ld.md"
        yield f"fa{each}cts/held.md"


def _names() -> Iterator[str]:
    devices = "CON PRN AUX NUL CLOCK$ CONIN$ CONOUT$".split()
    devices += [f"{port}{n}" for port in ("COM", "LPT") for n in "0123456789\xb9\xb2\xb3"]
    for device in devices:
        yield f"facts/{device}.md"
        yield f"{device.lower()}.tar.md"
    yield from ("facts/NUL .md", "con  .x.md", "AUX/held.md", "nul", "facts/Com1.MD.md")
    for odd in (
        "held.md.",
        "held.md..",
        "held.md ",
        " held.md",
        "held.md\u3000",
        ".md",
        ".held.md",
        "..md",
        "~held.md",
    ):
        yield f"facts/{odd}"
    yield from ("facts /held.md", "facts./held.md", " facts/held.md", "-rf.md", "--help.md", "facts/-held.md")
    yield from (".git/config", ".gitignore", ".ssh/authorized_keys", "facts/.git/x.md", "~", "~/x.md", "-")


def _shapes() -> Iterator[str]:
    yield from (
        "",
        ".",
        "/",
        "facts/",
        "/facts",
        "facts//",
        "\0",
        " ",
        "\n",
        "facts/\0",
        "facts/held.md\0.txt",
    )
    for length in (118, 255, 256, 4096, 100_000):
        yield f"facts/{'a' * length}.md"
    yield "facts/" + "\u00e9" * 59 + ".md"
    yield "facts/" + "\U0001f4d6" * 30 + ".md"
    for depth in (16, 100, 3000):
        yield "a/" * depth + "x.md"
    yield "facts/" * 2000


NOT_PAGES = (
    "log/journal.jsonl|log/lock|log/staged/x.md|log/entries/t/e/raw.md|views/heads.json|views/GLOBAL_MEMORY.md|looseleaf.toml|"
    "facts|log|views|facts/sub/held.md|facts/held.txt|facts/held.md.bak|facts/held.MD|held.markdown|notes/held.md|FACTS/held.md|"
    "facts/state.json|state.json.md/x.md|held|README|facts/held.md/x.md|USER.md/x.md|%|facts/100%.txt|a&b;c|$(id)|`id`"
).split("|")
"""Paths that some file of a memory may have, and no page."""


# --- traps -----------------------------------------------------------------------------

Trap = Callable[[Path, Beside], object]


def _device(path: Path, beside: Beside) -> None:
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))


def _socket(path: Path, beside: Beside) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket has at most some hundred bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


TRAPS: dict[str, Trap] = {
    "link to a file outside": lambda path, beside: path.symlink_to(beside.outside / "canary.md"),
    "link to a folder outside": lambda path, beside: path.symlink_to(beside.outside),
    "relative link outside": lambda path, beside: path.symlink_to(
        os.path.relpath(beside.outside, path.parent)
    ),
    "link to nothing outside": lambda path, beside: path.symlink_to(beside.outside / "new"),
    "link to a page inside": lambda path, beside: path.symlink_to(beside.memory / "facts" / "caf\u00e9.md"),
    "link to a folder inside": lambda path, beside: path.symlink_to(beside.memory / "episodes"),
    "link to itself": lambda path, beside: path.symlink_to(path),
    "link to an endless file": lambda path, beside: path.symlink_to("/dev/zero"),
    "link to the process's own root": lambda path, beside: path.symlink_to(
        f"/proc/self/root{beside.outside}"
    ),
    "hard link to a file outside": lambda path, beside: path.hardlink_to(beside.outside / "canary.md"),
    "pipe": lambda path, beside: os.mkfifo(path),
    "folder": lambda path, beside: path.mkdir(),
    "socket": _socket,
}
if os.geteuid() == 0:
    TRAPS["device"] = _device

TRAPPED = (
    "facts/held.md|USER.md|state.json|facts/new.md|facts|review|looseleaf.toml|.gitignore|log|log/journal.jsonl|log/lock|log/turn|"
    "log/writer|log/staged|log/aside|log/aside/late|log/archive|log/archive/SHA256SUMS|log/traces|log/traces/main|"
    "log/traces/main/raw_traces.jsonl|log/bodies|log/entries|log/entries/t|log/prompts|views|views/heads.json|views/heads|"
    "views/heads/facts|views/heads/facts/held.md"
).split("|")


def lay(trap: str, at: str, beside: Beside) -> None:
    """Put a trap where a file or folder of the memory was, or would be."""
    path = beside.memory / at
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path.rename(beside.memory / ".moved")
    try:
        TRAPS[trap](path, beside)
    finally:
        beside._before = beside._look()  # a hard link counts as a change of the file it leads to


# --- walls -----------------------------------------------------------------------------


class FollowingDisk(Disk):
    """The mutant: opens like everybody else, and follows wherever a name leads."""

    def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
        return os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, mode, dir_fd=root)


class Hung(BaseException):
    """A call did not come back. No `Exception`: nobody may take it for a refusal."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise Hung

    before = signal.signal(signal.SIGALRM, ring)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before)
