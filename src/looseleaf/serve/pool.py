"""Many memories behind one server: each is opened when it is asked for, and closed when nobody has asked for a while.

A name is a folder's; `database_pool.py` has those of a database. Invariants: a memory is never made by asking for one
that is not there; no more are open than the process has files for; each memory has one thread, so what it is asked is
done one after another.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import time
from contextlib import suppress
from urllib.parse import quote, unquote

from looseleaf.base.errors import Busy, Invalid, NotFound, Refused
from looseleaf.memory import Memory
from looseleaf.memory.layers import nothing
from looseleaf.memory.thread import MemoryThread
from looseleaf.pages.folder import init, is_home, is_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from looseleaf.base.policy import Policy
    from looseleaf.serve.walls import Scope

    _T = TypeVar("_T")

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
ASIDE = ".removed"
"""The folder for removed memories, below the root."""
KEPT_SECONDS = 30 * 86_400.0
"""How long a removed memory is kept."""
IDLE_SECONDS = 300.0
"""A memory that nobody has asked for this long is closed."""
WAIT_SECONDS = 10.0
"""How long a request waits until one of the open memories can be closed for it."""
MOST = 128
_FILES_EACH = 12
"""Files that an open memory has: its log, its lock, its index."""
_FILES_KEPT = 32
"""Files for the rest of the process."""
_CLOSE_SECONDS = 5.0


def most_open() -> int:
    """Return how many memories may be open: connections have half of the process's files, these the other half."""
    from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit

    soft, _ = getrlimit(RLIMIT_NOFILE)
    if soft == RLIM_INFINITY:
        return MOST
    return max(2, min(MOST, (soft // 2 - _FILES_KEPT) // _FILES_EACH))


class _Open:
    """An open memory. `asked`: how many requests it has now. `since`: when the last one ended."""

    def __init__(self, keeper: MemoryThread) -> None:
        self.keeper = keeper
        self.asked = 0
        self.since = time.monotonic()


class Pool:
    """The memories of a `root`, or the one at `path`, which is then known by `name`."""

    def __init__(
        self,
        root: str | None = None,
        *,
        path: str = "",
        name: str = "",
        most: int | None = None,
        idle: float = IDLE_SECONDS,
    ) -> None:
        self.root = os.path.abspath(root) if root is not None else None
        self.only = name if root is None else ""
        """The name of the one memory; "" where there is a root."""
        self._path = path
        self._most = most or most_open()
        self._idle = idle
        self._open: dict[str, _Open] = {}
        self._closing: dict[str, asyncio.Future[None]] = {}
        self._freed = asyncio.Condition()
        self._sweeper: asyncio.Task[None] | None = None

    # --- which there are -------------------------------------------------------------------

    def names(self) -> list[str]:
        """Return the names of all memories."""
        if self.root is None:
            return [self.only]
        with os.scandir(self.root) as found:
            folders = [each.name for each in found if each.is_dir(follow_symlinks=False)]
        return sorted(name for name in folders if NAME.fullmatch(name) and self._is_there(name))

    def path(self, name: str) -> str:
        """Return the folder of a memory."""
        if self.root is None:
            if name == self.only:
                return self._path
        elif NAME.fullmatch(name) and self._is_there(name):
            return os.path.join(self.root, name)
        raise NotFound("There is no memory of this name.")

    def edition(self, name: str) -> list[int]:
        """Return the edition of a memory that is in a database."""
        raise NotFound("There is no memory of this name.")

    async def look_again(self) -> None:
        """Have `names` know also those that were made just now."""

    async def find(self, name: str) -> None:
        """Refuse a name that no memory has. After this, `path` knows it."""
        self.path(name)

    def _is_there(self, name: str) -> bool:
        folder = os.path.join(self.root or "", name)
        try:
            return not os.path.islink(folder) and is_memory(folder)
        except Refused:
            return True  # what is wrong with it is said when it is opened

    @property
    def open_names(self) -> list[str]:
        return sorted(self._open)

    # --- asking ----------------------------------------------------------------------------

    async def __call__(self, name: str, act: Callable[[Memory], _T]) -> _T:
        """Run `act` on a memory, in its thread, and return the result."""
        held = await self._take(name)
        try:
            return await held.keeper(act)
        finally:
            held.asked -= 1
            held.since = time.monotonic()
            async with self._freed:
                self._freed.notify_all()

    async def _take(self, name: str) -> _Open:
        await self.find(name)
        path = self.path(name)
        until = time.monotonic() + WAIT_SECONDS
        while (closing := self._closing.get(name)) is not None:
            # Not `shield`: what has just been closed is done, and waiting for that would never let the loop go on.
            await asyncio.wait((closing,))
        while name not in self._open and len(self._open) + len(self._closing) >= self._most:
            if not self._close_oldest():
                await self._wait_for_room(until)
            elif self._closing:
                await asyncio.wait([*self._closing.values()], return_when=asyncio.FIRST_COMPLETED)
        held = self._open.get(name)
        if held is None:
            held = self._open[name] = _Open(MemoryThread(lambda: self._open_memory(path)))
        held.asked += 1
        return held

    def _open_memory(self, path: str) -> Memory:
        if not is_memory(path):
            raise NotFound("There is no memory of this name.")
        memory = Memory(path)
        if self.root is not None:
            memory.parts.walls = nothing  # until a request says what its token may do
        return memory

    def name_of(self, where: str) -> str | None:
        """Return the name of the memory at a folder, or an address; None: it is none of this server."""
        folder, name = os.path.split(os.path.realpath(where))
        if self.root is None:
            return self.only if os.path.realpath(self._path) == os.path.realpath(where) else None
        return name if folder == os.path.realpath(self.root) and NAME.fullmatch(name) else None

    async def _wait_for_room(self, until: float) -> None:
        try:
            async with asyncio.timeout(until - time.monotonic()), self._freed:
                await self._freed.wait()
        except TimeoutError:
            raise Busy(
                f"Nothing was done: {len(self._open):,} memories are in use at this moment, and no more can be open. "
                "Try again soon."
            ) from None

    def _close_oldest(self) -> bool:
        """Begin to close the memory that waits longest for a request; False if all have one."""
        idle = [name for name, each in self._open.items() if not each.asked]
        if not idle:
            return bool(self._closing)
        self._close(min(idle, key=lambda name: self._open[name].since))
        return True

    def _close(self, name: str) -> asyncio.Future[None]:
        keeper = self._open.pop(name).keeper
        loop = asyncio.get_running_loop()
        closing = self._closing[name] = loop.run_in_executor(None, keeper.close, _CLOSE_SECONDS)
        closing.add_done_callback(lambda _: self._closing.pop(name, None))
        return closing

    # --- making and removing ---------------------------------------------------------------

    async def create(self, name: str) -> str:
        """Make a memory; return its folder."""
        root = self._root("made")
        if not NAME.fullmatch(name):
            raise Invalid(
                "No memory was made: a name has up to 64 of the characters a-z, 0-9, `.`, `_` and `-`, and begins with "
                "a letter or a digit."
            )
        folder = os.path.join(root, name)
        if os.path.lexists(folder):
            raise Taken(f"No memory was made: a memory or a file has the name {name} already.")
        await asyncio.to_thread(init, folder)
        return folder

    async def remove(self, name: str) -> str:
        """Put a memory aside, for 30 days; return where it is."""
        root, folder = self._root("removed"), self.path(name)
        while name in self._open and self._open[name].asked:
            await self._wait_for_room(time.monotonic() + WAIT_SECONDS)
        if name in self._open:
            self._close(name)
        if name in self._closing:
            await asyncio.wait((self._closing[name],))
        aside = os.path.join(root, ASIDE, f"{name}-{time.time_ns()}")
        os.makedirs(os.path.dirname(aside), mode=0o700, exist_ok=True)
        os.rename(folder, aside)
        return aside

    def _root(self, done: str) -> str:
        if self.root is None:
            raise Invalid(
                f"No memory was {done}: this server has one memory. `looseleaf serve --root` serves many."
            )
        return self.root

    # --- care --------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to close what is idle, and to clear what was removed long ago."""
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep())

    async def _sweep(self) -> None:
        while True:
            await asyncio.to_thread(self._clear_aside)
            for _ in range(120):
                now = time.monotonic()
                for name, each in list(self._open.items()):
                    if not each.asked and now - each.since > self._idle:
                        self._close(name)
                await asyncio.sleep(self._idle / 10)

    def _clear_aside(self) -> None:
        aside = os.path.join(self.root, ASIDE) if self.root is not None else ""
        for name in os.listdir(aside) if os.path.isdir(aside) else ():
            _, _, when = name.rpartition("-")
            if when.isdigit() and time.time() - int(when) / 1e9 > KEPT_SECONDS:
                shutil.rmtree(os.path.join(aside, name), ignore_errors=True)

    async def close(self) -> None:
        """Finish all requests, and close all memories."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeper
        for name in list(self._open):
            self._close(name)
        if self._closing:
            await asyncio.wait([*self._closing.values()])


def in_address(name: str) -> str:
    """Return the name of a memory as one part of an address: `acme/agent-7` is `acme:agent-7` there, as no name has a
    colon, and proxies pass no slash on unchanged."""
    return quote(name.replace("/", ":"), safe=":")


def name_in(part: str) -> str:
    """Return the name of a memory by a part of an address, decoded."""
    return part.replace(":", "/")


def with_whole_name(scope: Scope) -> Scope:
    """Return a request whose address may have a name with `%2F`, as programs write it that escape what they are given;
    with `:` in its place."""
    raw = scope.get("raw_path") or b""
    found = _ESCAPED.match(raw)
    if found is None or b"%2f" not in found[2].lower():
        return scope
    raw = found[1] + re.sub(b"%2[fF]", b":", found[2]) + raw[found.end() :]
    return {**scope, "raw_path": raw, "path": unquote(raw.partition(b"?")[0].decode("latin-1"))}


_ESCAPED = re.compile(rb"(/m/|/v1/memories/|/mcp/)([^/?]+)")


def name_for(path: str) -> str:
    """Return the name of a memory that is served alone: its folder's, or that of the project around it."""
    folder = os.path.realpath(path)
    name = os.path.basename(folder)
    if name == ".looseleaf":
        name = "home" if is_home(folder) else os.path.basename(os.path.dirname(folder))
    fitted = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("._-")[:64]
    return fitted or "memory"


class Taken(Refused):
    """A name that is in use."""


def without_layers(policy: Policy) -> Policy:
    """Return the policy of a memory that is one of many: it has no layers, which could be another's."""
    from looseleaf.base.policy import Policy

    own = {name: getattr(policy, name) for name in Policy.__match_args__}
    return Policy(**own | {"layers": False})
