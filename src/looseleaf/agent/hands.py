"""Hands: the tools of an agent, and calls of them that run side by side.

Invariant: a call is run at most once, and something always comes of it: a result, or an error in words. A tool is
somebody else's code: it may raise anything, hang, or return what nobody can write down. One that hangs is not waited
for; what it returns in the end is heard later.
"""

from __future__ import annotations

import json
import re
import time
from itertools import islice

from looseleaf.agent.events import ToolReturned
from looseleaf.base.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from queue import SimpleQueue
    from typing import Any

    from looseleaf.agent.tool_runner import Hand
    from looseleaf.base.messages import ToolCallSpec
    from looseleaf.base.replies import ToolSpec

_LONGEST = 2000
"""Characters of what a tool said when it failed."""

_DEEPEST = 100
"""Levels of a result that is kept as a value; a deeper one is kept as its text."""

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')


class Hands:
    def __init__(self, hands: Sequence[Hand]) -> None:
        self._hands = {each.name: each for each in hands}
        if len(self._hands) < len(hands):
            names = [each.name for each in hands]
            twice = next(name for name in names if names.count(name) > 1)
            raise Refused(f"No agent was made: two tools are called {twice}. Give one of them another name.")
        self._validators: dict[str, Any] = {}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(each.spec for each in self._hands.values())

    def run(self, call: ToolCallSpec) -> ToolReturned:
        """Carry one call out."""
        hand = self._hands.get(call.name)
        try:
            fault = self._fault(call)
            if fault is not None:
                return ToolReturned(call, error=fault)
            assert hand is not None
            return ToolReturned(call, writable(_awaited(hand.run(**call.arguments))), is_own=hand.own)
        except Refused as refused:
            return ToolReturned(call, error=str(refused), is_own=hand is not None and hand.own)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and hand is not None and hand.own:
                raise  # it was for us: own tools run in the agent's thread
            return ToolReturned(call, error=_told(error))

    def is_own(self, call: ToolCallSpec) -> bool:
        return call.name in self._hands and self._hands[call.name].own

    def _fault(self, call: ToolCallSpec) -> str | None:
        """Why a call cannot be carried out, in a sentence that a model can act on."""
        hand = self._hands.get(call.name)
        if hand is None:
            known = ", ".join(self._hands) or "none"
            return f"Nothing was done: there is no tool {call.name!r}. There are: {known}."
        if not isinstance(call.arguments, dict):
            return (
                f"Nothing was done: the arguments of {call.name} are no JSON object. Call it again, with one that "
                f"keeps to its schema: {json.dumps(hand.spec.parameters, ensure_ascii=False)}"
            )
        try:
            errors = list(islice(self._validator(hand).iter_errors(call.arguments), 1))
        except (ValueError, RecursionError):  # half a character, a number beyond all others
            return f"Nothing was done: the arguments of {call.name} are no JSON. Call it again with others."
        for error in errors:
            where = ".".join(str(part) for part in error.instance_path)
            said = f"{where}: {error.message}" if where else error.message
            wrong = f"{call.name} was called wrongly: {said[:_LONGEST]}"
            return f"Nothing was done: {wrong}. Call it again as its schema says."
        return None

    def _validator(self, hand: Hand) -> Any:
        if hand.name not in self._validators:
            from jsonschema_rs import Draft202012Validator

            self._validators[hand.name] = Draft202012Validator(hand.spec.parameters)
        return self._validators[hand.name]


class Running:
    """Calls that run side by side. Iterating gives what comes of them, as it comes, until all are answered, the time is
    over, or `wake` is called; `left` are then those that nothing has come of."""

    def __init__(
        self, hands: Hands, calls: Sequence[ToolCallSpec], seconds: float, late: SimpleQueue[Any]
    ) -> None:
        self._hands = hands
        self._late = late
        self._until = time.monotonic() + seconds
        self._is_over = False
        self.left: list[ToolCallSpec] = list(calls)
        from queue import SimpleQueue
        from threading import Lock

        self._came: SimpleQueue[ToolReturned | None] = SimpleQueue()
        self._ending = Lock()

    def start(self) -> None:
        from threading import Thread

        for call in self.left:
            if not self._hands.is_own(call):
                Thread(target=self._work, args=(call,), name=f"tool {call.name}", daemon=True).start()

    def _work(self, call: ToolCallSpec) -> None:
        returned = self._hands.run(call)
        with self._ending:
            (self._late if self._is_over else self._came).put(returned)

    def wake(self) -> None:
        """End the waiting."""
        self._came.put(None)

    def __iter__(self) -> Iterator[ToolReturned]:
        from queue import Empty

        for call in [each for each in self.left if self._hands.is_own(each)]:
            returned = self._hands.run(call)
            self.left.remove(call)
            yield returned
        while self.left:
            try:
                came = self._came.get(timeout=max(0.0, self._until - time.monotonic()))
            except Empty:
                break
            if came is None:
                break
            self.left.remove(came.call)
            yield came
        yield from self._end()

    def _end(self) -> Iterator[ToolReturned]:
        """From now on what comes is late; what came in this moment is not."""
        with self._ending:
            self._is_over = True
        while not self._came.empty():
            came = self._came.get()
            if came is not None:
                self.left.remove(came.call)
                yield came

    def give_up(self) -> list[ToolReturned]:
        """Nobody waits any more: what had come by then, and was not asked for."""
        return list(self._end())


def _awaited(result: Any) -> Any:
    """What an asynchronous tool gives in the end: each runs in a thread of its own, and may wait there."""
    from inspect import iscoroutine

    if not iscoroutine(result):
        return result
    import asyncio

    return asyncio.run(result)


def writable(value: Any) -> Any:
    """A value that can be written down: as it is, or as what it says of itself."""
    try:
        written = json.dumps(value, allow_nan=False)
        if _is_flat(written):
            return json.loads(written)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return str(value)
    except RecursionError:
        return "(what nests too deep to be written down)"


def _is_flat(written: str) -> bool:
    """Whether JSON nests so little that the log takes it."""
    depth = 0
    for each in _BRACKETS.findall(written):
        depth += 1 if each in "[{" else -1 if each in "]}" else 0
        if depth > _DEEPEST:
            return False
    return True


def _told(error: BaseException) -> str:
    try:
        said = " ".join(str(error).split())[:_LONGEST]
    except BaseException:  # noqa: BLE001 - even this is somebody else's code
        said = "it cannot say what"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
