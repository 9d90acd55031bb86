"""What one server is made of: the page, the API and MCP are given this, and nothing else."""

from __future__ import annotations

import asyncio
import gc
import time
from collections import OrderedDict

from looseleaf.base.errors import NotFound, Refused
from looseleaf.memory.memory import as_agent, on_behalf, own_talk_only
from looseleaf.serve.access import Access, Token
from looseleaf.serve.audit import Audit
from looseleaf.serve.events import Events
from looseleaf.serve.jobs import Jobs
from looseleaf.serve.once import Once
from looseleaf.serve.pool import Pool
from looseleaf.serve.state import FORGOTTEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from looseleaf.memory import Memory
    from looseleaf.memory.layers import Walls
    from looseleaf.serve.database_pool import Joined
    from looseleaf.serve.shared import SharedAudit

    _T = TypeVar("_T")

RATE = 50.0
"""Requests a second, for one token."""
STREAMS = 8
"""Open streams of events, for one token."""
CLEAR_SECONDS = 5.0
"""How often a server looks for jobs of others that were killed."""
_ONCE = 256
"""Memories whose requests with a key are kept at hand."""
WARM = 4
"""Memories that are opened when the server starts."""


class TooMany(Refused):
    """More requests, or streams, than one token may have. `seconds`: until the next may come."""

    def __init__(self, what: str, seconds: float = 1.0) -> None:
        super().__init__(f"Nothing was done: {what}. Try again in a moment.")
        self.seconds = seconds


class Limits:
    """How much each asker does: a bucket of requests that fills again, and a count of open streams."""

    def __init__(self, rate: float = RATE, streams: int = STREAMS) -> None:
        self._rate, self._most = rate, streams
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._streams: dict[str, int] = {}

    def take(self, asker: str) -> None:
        """Count a request; refuse it if there were too many."""
        now = time.monotonic()
        left, then = self._left.pop(asker, (self._rate, now))
        left = min(self._rate, left + (now - then) * self._rate)
        self._left[asker] = (max(0.0, left - 1.0), now)
        if len(self._left) > 10_000:
            self._left.popitem(last=False)
        if left < 1.0:
            raise TooMany(
                f"there are more than {self._rate:.0f} requests a second", (1.0 - left) / self._rate
            )

    def open_stream(self, asker: str) -> None:
        if self._streams.get(asker, 0) >= self._most:
            raise TooMany(f"{self._most} streams are open already", 10.0)
        self._streams[asker] = self._streams.get(asker, 0) + 1

    def close_stream(self, asker: str) -> None:
        left = self._streams.get(asker, 0) - 1
        if left > 0:
            self._streams[asker] = left
        else:
            self._streams.pop(asker, None)


class Serving:
    """The memories of a server, who may come in, and what is written down of it. `is_https`: cookies are sent only over
    HTTPS. `warms`: the first memories are opened at the start. `joined`: what it shares with other servers of the same
    database."""

    def __init__(
        self,
        pool: Pool,
        access: Access,
        audit: Audit | SharedAudit,
        *,
        is_https: bool = False,
        warms: bool = False,
        joined: Joined | None = None,
    ) -> None:
        self.pool, self.access, self.audit, self.is_https = pool, access, audit, is_https
        self._warms = warms
        self._warming: asyncio.Task[None] | None = None
        self.limits = Limits()
        self.events = Events()
        self.jobs = Jobs(pool, access.state, audit)
        self.jobs.on_change.append(self.events.tell_job)
        self.is_stopping = False
        self._once: OrderedDict[str, Once] = OrderedDict()
        self.joined = joined
        self._cleared = time.monotonic()
        if joined is not None:
            joined.pool.on_left.append(self._forget_of)
            joined.listening.on_told.append(self._hear)
            joined.listening.on_beat.append(self._hear_all)
            joined.state.on_change.append(self.jobs.hear)

    @property
    def is_ready(self) -> bool:
        """True while requests can be answered."""
        return not self.is_stopping and (self.joined is None or self.joined.listening.is_well)

    def _hear(self, memory: int, path: str) -> None:
        if self.joined is None:
            return
        names = self.joined.pool.names_of(memory)
        self.events.tell_changed(names)
        if path == FORGOTTEN:
            for name in names:
                self.jobs.outdate(name)

    def _hear_all(self, is_new: bool) -> None:
        if is_new:
            self.events.tell_changed(self.events.followed)
            self._cleared = time.monotonic()  # others need a moment to say that they live, after a restart
        elif time.monotonic() - self._cleared > CLEAR_SECONDS:
            self._cleared = time.monotonic()
            self.jobs.clear_lost()

    def _forget_of(self, name: str) -> None:
        """Drop what was kept of a memory that is gone."""
        self._once.pop(name, None)
        self.events.end_of(name)

    async def ask(self, name: str, act: Callable[[Memory], _T], *, token: Token) -> _T:
        """Run `act` on a memory, as the agent of a token. A memory that the token does not see is not there; recall
        finds what other agents said only for one that decides as a person does."""
        if not token.sees(name):
            raise NotFound("There is no memory of this name.")
        own = token.at(name)

        def act_as_agent(memory: Memory) -> _T:
            memory = as_agent(memory, own.agent)
            with on_behalf(memory, own.person, self._walls(token)):
                if own.may("review"):
                    return act(memory)
                with own_talk_only(memory):
                    return act(memory)

        try:
            return await self.pool(name, act_as_agent)
        finally:
            if self.joined is not None:
                self.events.look_soon(name)

    def _walls(self, token: Token) -> Walls | None:
        """Return what a token may do in the memories under another: nothing, unless it names them too. None where one
        memory is served, with the layers that its settings name."""

        def may(where: str, scope: str) -> bool:
            name = self.pool.name_of(where)
            return name is not None and token.sees(name) and token.at(name).may(scope)

        return may if self.pool.root is not None else None

    def once(self, name: str) -> Once:
        """Return the marked requests of a memory; used in its thread."""
        found = self._once.setdefault(name, Once())
        self._once.move_to_end(name)
        if len(self._once) > _ONCE:
            self._once.popitem(last=False)  # it is made again from the log
        return found

    async def remove(self, name: str) -> None:
        """Put a memory aside, with what was kept of it here, and end the tokens that are for it alone."""
        self.jobs.drop(name)
        await self.pool.remove(name)
        self._forget_of(name)
        await asyncio.to_thread(self.access.leave, name)

    def start(self) -> None:
        """Begin what goes on beside the requests."""
        self.events.start()
        self.jobs.open()
        self.pool.start()
        if self._warms:
            self._warming = asyncio.get_running_loop().create_task(self._warm())

    async def _warm(self) -> None:
        """Open the first memories, and read what every screen needs, before a person waits for it."""
        for name in self.pool.names()[:WARM]:
            try:
                await self.pool(name, lambda memory: memory.facts())
            except Refused:
                continue  # who asks for it is told why
        gc.collect()
        gc.freeze()  # what is known by heart stays: a screen need not wait until all of it is looked through again

    def stop(self) -> None:
        """End all streams, and let answers under way finish."""
        self.is_stopping = True
        self.events.end()

    async def close(self) -> None:
        """End it, and close all memories."""
        self.stop()
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait([self._warming])
        await asyncio.to_thread(self.jobs.close)
        await self.pool.close()
        await asyncio.to_thread(self.audit.close)
        if self.joined is not None:
            await asyncio.to_thread(self.joined.listening.close)
