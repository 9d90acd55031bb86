"""AsyncMemory: the verbs of `Memory`, awaited.

A memory belongs to one thread (an index's handle does), so each has a worker thread that runs its calls in turn. There
is one implementation: this passes every verb on. `docs/async_stub.py` makes the signatures in `aio.pyi` from those of
`Memory`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from inspect import getattr_static, isfunction

from looseleaf.base.errors import Unreadable
from looseleaf.log.recorder import ask, copy_of
from looseleaf.memory.memory import Memory

GROUPS = ("talk", "window", "pages", "history", "review", "explain", "views", "state", "costs")
"""Members of a memory whose own verbs are awaited."""

PLAIN = ("name", "where", "path", "agent", "policy", "notes")
"""Members that are values and are not awaited."""


class AsyncMemory:
    def __init__(self, where=None, **settings):
        self._thread = ThreadPoolExecutor(1, "looseleaf-memory")
        try:
            self._memory = self._thread.submit(Memory, where, **settings).result()
        except BaseException:
            self._thread.shutdown()
            raise

    def __repr__(self):
        return f"Async{self._memory!r}"

    def __getattr__(self, name):
        if name in PLAIN:
            return getattr(self._memory, name)
        if name in GROUPS:
            return _Group(self, name)
        return _awaited_verb(self, Memory, name, lambda: self._memory)

    def batch(self):
        return _Batch(self)

    async def close(self):
        try:
            await _run(self, self._memory.close)
        except Unreadable:
            return  # it was closed before
        finally:
            self._thread.shutdown(wait=False)

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, error, trace):
        await self.close()


class _Group:
    """One group of verbs, looked up in the memory's own thread, which may have to create it."""

    def __init__(self, memory, name):
        self._of = memory
        self._name = name

    def __getattr__(self, name):
        return _awaited_verb(
            self._of, _class_of(self._name), name, lambda: getattr(self._of._memory, self._name)
        )


class _Batch:
    """Traces written together, with one sync, when the block ends."""

    def __init__(self, memory):
        self._of = memory
        self._requests = []
        self.traces = []

    def record(self, **given):
        named = {name: value for name, value in given.items() if value is not None or name == "tool_result"}
        self._requests.append(ask(**copy_of(named)))

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, error, trace):
        requests, self._requests = self._requests, []

        def write():
            with self._of._memory.batch() as batch:
                batch.add(*requests)
            return batch.traces

        self.traces += await _run(self._of, write)


def _class_of(group):
    from looseleaf.memory.groups import (
        ExplainVerbs,
        HistoryVerbs,
        PageVerbs,
        ReviewVerbs,
        TalkVerbs,
        ViewVerbs,
        WindowVerbs,
    )
    from looseleaf.models.costs import Costs
    from looseleaf.state.state import State

    verbs = TalkVerbs, WindowVerbs, PageVerbs, HistoryVerbs, ReviewVerbs, ExplainVerbs, ViewVerbs
    return dict(zip(GROUPS, (*verbs, State, Costs), strict=True))[group]


def _awaited_verb(memory, kind, name, find):
    """Return a method of a group as a coroutine function, a property as an awaitable."""
    found = getattr_static(kind, name, None)
    if name.startswith("_") or found is None:
        raise AttributeError(f"{kind.__name__!r} has no {name!r}")
    if not isfunction(found):
        return _run(memory, lambda: getattr(find(), name))

    async def call(*given, **named):
        def act():
            answer = getattr(find(), name)(*given, **named)
            return list(answer) if isinstance(answer, Iterator) else answer  # here, in the memory's thread

        return await _run(memory, act)

    call.__name__, call.__doc__ = name, found.__doc__
    return call


def _finish(act):
    """A future cannot hold a StopIteration: the caller would wait for good."""
    try:
        return act()
    except StopIteration as error:
        raise RuntimeError("a function that was given raised StopIteration") from error


async def _run(memory, act):
    try:
        future = asyncio.wrap_future(memory._thread.submit(_finish, act))
    except RuntimeError:
        raise Unreadable("The memory was closed. Open it again.") from None
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        future.cancel()  # a call not begun is dropped; a running one is finished
        raise
