"""The agent: memory makes the prompt, a model answers, tools run, everything is recorded; until there is an answer.

Invariants: whatever happens, what was said is recorded, whole or as far as it came; a call that was recorded is never
carried out a second time, also by another process after a crash; the run ends with `Done`, `Interrupted` or `Failed`.
"""

from __future__ import annotations

import time

from looseleaf.agent.events import (
    Answered,
    Compacted,
    Done,
    Failed,
    Interrupted,
    Prompted,
    Reflected,
    ToolCalled,
    ToolReturned,
    UserMessage,
)
from looseleaf.agent.hand import hand
from looseleaf.agent.hands import Hands, Running
from looseleaf.agent.memory_hands import memory_hands
from looseleaf.agent.processors import Ingest, Processors
from looseleaf.agent.request import CONTINUE, Requests
from looseleaf.core.turns import open_calls
from looseleaf.errors import Busy, Cancelled, ModelFailed, Refused, TooLong, Unwritten
from looseleaf.reply import Called, Reply, Retrying, Said, Thought, Usage
from looseleaf.store.ulid import new_id
from looseleaf.talk import ToolCallSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from queue import SimpleQueue
    from typing import Any

    from looseleaf.agent.events import Event
    from looseleaf.agent.hand import Hand
    from looseleaf.agent.processors import Processor
    from looseleaf.agent.request import Request
    from looseleaf.memory import Memory
    from looseleaf.place.place import Placed
    from looseleaf.reply import Model

CHAT = "chat"
"""The purpose of the loop's own calls, in the ledger of costs."""

_LESS = 0.6
"""The part of a prompt that is tried when its provider says that it was too long: it may count half as much again as we
do, or serve the model with a smaller context than it could have."""

MOST_CALLS = 64
"""Calls of one answer that are carried out: each has a thread of its own."""

_TOO_MANY = f"Nothing was done: at most {MOST_CALLS} calls are carried out at once. Call it again, by itself."
_LEFT = "The program ended before a result came: it is not known whether this was carried out."
_LATE = "No result came in {:g} s. It may still come; do something else, or ask the user."


class Agent:
    """`tools` are functions, or hands with schemas of their own; the memory's tools come along unless `memory_tools` is
    False. `reflect`: after each run, what it was is distilled (seed 002). `goes_on` is what the model is told when its
    tools are done. `options` go to the model with every call."""

    def __init__(
        self,
        memory: Memory,
        model: Model,
        tools: Sequence[Callable[..., Any] | Hand] = (),
        *,
        memory_tools: bool = True,
        processors: Sequence[Processor] = (),
        reflect: bool = True,
        goes_on: str | None = CONTINUE,
        steps: int | None = None,
        tool_seconds: float | None = None,
        **options: Any,
    ) -> None:
        from queue import SimpleQueue
        from threading import Event as Flag
        from threading import Lock

        self.memory = memory
        self.model = model
        self._hands = Hands([*map(hand, tools), *(memory_hands(memory) if memory_tools else ())])
        self._ingest = Ingest(memory)
        self._process = Processors(processors, self._ingest)
        self._requests = Requests(memory, model.name, self._hands.specs, goes_on)
        self._steps = memory.policy.agent_steps if steps is None else steps
        self._tool_seconds = memory.policy.tool_seconds if tool_seconds is None else tool_seconds
        self._reflects = reflect
        self._options = {
            "seconds": memory.policy.model_seconds,
            "max_tokens": memory.policy.max_tokens,
        } | options
        self._alone = Lock()
        self._stop = Flag()
        self._why = ""
        self._running: Running | None = None
        self._late: SimpleQueue[ToolReturned] = SimpleQueue()
        self._is_fresh = True
        memory.distill_with(model)

    # --- running -----------------------------------------------------------------------

    def run(
        self,
        text: str,
        *,
        images: Sequence[str] = (),
        audio: Sequence[str] = (),
        video: Sequence[str] = (),
    ) -> Iterator[Event]:
        """Ask the agent, and see what happens. Ending the iteration early interrupts the run."""
        given: object = text
        if not isinstance(given, str) or not (given.strip() or images or audio or video):
            raise Refused("Nothing was asked: the message is empty. Give the request itself, as text.")
        return self._run(UserMessage(text, tuple(images), tuple(audio), tuple(video)))

    def interrupt(self, why: str = "the user interrupted") -> None:
        """End the run that is going on, from any thread; what was said is kept. Nothing, where none is."""
        if self._alone.locked():
            self._why = why
            self._stop.set()
            running = self._running
            if running is not None:
                running.wake()

    def reflect(self) -> list[Placed]:
        """Distill what was said and is not distilled yet: by the reflector, or where there is little to reflect on, or
        it fails, by the rules."""
        from looseleaf.agent.reflector import Reflector

        return self.memory.distill(distiller=Reflector(self.memory, self.model))

    def _run(self, message: UserMessage) -> Iterator[Event]:
        if not self._alone.acquire(blocking=False):
            raise Refused(
                "Nothing was asked: this agent is still at work. Wait for its run to end, or interrupt it."
            )
        try:
            self._stop.clear()
            self._why = ""
            yield from self._loop(message)
        finally:
            self._running = None
            self._alone.release()

    def _loop(self, message: UserMessage) -> Iterator[Event]:
        if self._is_fresh:
            self._is_fresh = False
            self._end_calls_of_before()
        yield self._process(message)
        total, text = Usage(), ""
        for step in range(1, self._steps + 1):
            yield from self._hear_late()
            reply = yield from self._ask(step)
            if reply is None:
                return
            total, text = _sum(total, reply.usage), reply.text
            if not reply.calls:
                yield from self._over(reply, step, total)
                return
            yield from self._act(reply.calls)
            if self._stop.is_set():
                yield Interrupted(self._why)
                return
        yield Done(text, self._steps, total, "steps")
        yield from self._after()

    def _over(self, reply: Reply, step: int, total: Usage) -> Iterator[Event]:
        if not reply.text.strip():
            yield Failed(_nothing_said(reply))
            return
        stop = reply.stop if reply.stop in ("length", "refused") else "end"
        yield Done(reply.text, step, total, stop)
        yield from self._after()

    def _after(self) -> Iterator[Event]:
        if self._reflects:
            try:
                placed, why = tuple(self.reflect()), ""
            except Refused as refused:
                placed, why = (), str(refused)
            yield Reflected(placed, why)

    # --- asking the model --------------------------------------------------------------

    def _ask(self, step: int) -> Generator[Event, None, Reply | None]:
        """The reply, recorded; None if the run is over. What the provider finds too long is made shorter, once."""
        most: int | None = None
        while True:
            try:
                request = self._requests.prepare(most)
            except (Unwritten, Busy):
                raise
            except Refused as refused:
                yield Failed(str(refused))
                return None
            if request.loss is not None:
                yield Compacted(request.loss)
            yield Prompted(step, request.manifest)
            try:
                return (yield from self._reply(request))
            except TooLong as too_long:
                if most is not None:
                    yield Failed(str(too_long))
                    return None
                most = int(_LESS * request.manifest.total_tokens)
                self.memory.request_compaction()
            except Cancelled:
                yield Interrupted(self._why)
                return None
            except (Unwritten, Busy):
                raise
            except Refused as refused:
                yield Failed(str(refused))
                return None

    def _reply(self, request: Request) -> Generator[Event, None, Reply]:
        said: list[str] = []
        thought: list[str] = []
        reply: Reply | None = None
        stream = self.model.stream(
            request.messages,
            self._hands.specs,
            cancel=self._stop,
            purpose=CHAT,
            extensions=(self.memory.costs,),
            **self._options,
        )
        try:
            for event in stream:
                if isinstance(event, Reply):
                    reply = event
                    continue
                if isinstance(event, Said):
                    said.append(event.text)
                elif isinstance(event, Thought):
                    thought.append(event.text)
                elif isinstance(event, Retrying):
                    said, thought = [], []
                if not isinstance(event, Called):
                    yield event
            if reply is None:
                raise ModelFailed("The model did not answer: its reply has no end. Ask again.")
        finally:
            if reply is None and "".join(said).strip():
                cut = Reply("".join(said), "".join(thought), stop="cut", model=self.model.name)
                self._process(Answered(cut))
            close = getattr(stream, "close", None)
            if close is not None:
                close()
        reply = _with_ids(reply)
        if not reply.usage.is_estimated and reply.usage.prompt_tokens:
            self.memory.usage(prompt_tokens=reply.usage.prompt_tokens, model=self.model.name)
        answered = self._process(Answered(reply))
        assert isinstance(answered, Answered)
        yield answered
        return answered.reply

    # --- tools -------------------------------------------------------------------------

    def _act(self, calls: Sequence[ToolCallSpec]) -> Iterator[Event]:
        """Carry calls out, side by side. All of them are recorded before the first one runs."""
        called = [self._process(ToolCalled(call)) for call in calls]
        wanted = [each.call for each in called if isinstance(each, ToolCalled)]
        running = Running(self._hands, wanted[:MOST_CALLS], self._tool_seconds, self._late)
        self._running = running
        try:
            yield from called
            for call in wanted[MOST_CALLS:]:
                yield self._process(ToolReturned(call, error=_TOO_MANY))
            if not self._stop.is_set():
                running.start()
                for returned in running:
                    yield self._process(returned)
            if not self._stop.is_set():
                while running.left:
                    late = ToolReturned(running.left.pop(0), error=_LATE.format(self._tool_seconds))
                    yield self._process(late)
        finally:
            running.give_up()
            self._running = None
            for call in running.left:
                self._process(
                    ToolReturned(call, error=f"Interrupted: {self._why or 'nobody waits any more'}.")
                )

    def _hear_late(self) -> Iterator[Event]:
        """What tools returned after nobody waited for them any more."""
        while not self._late.empty():
            late = self._late.get()
            yield self._process(
                ToolReturned(late.call, late.result, late.error, is_late=True, is_own=late.is_own)
            )

    def _end_calls_of_before(self) -> None:
        """Calls that another process left open: whether they were carried out nobody knows, so they are not again. One
        that may still be waited for is left alone."""
        window = self.memory.window()
        traces = [*window.tail, *window.traces]
        waiting = open_calls(traces)
        for trace in traces:
            if trace.id in waiting and time.time() - trace.ts > 2 * self._tool_seconds:
                self.memory.record_tool_result(call_id=trace.tool_call_id, tool_error=_LEFT)


def _with_ids(reply: Reply) -> Reply:
    """With an id for each call that has none, or one that another of them has."""
    seen: set[str] = set()
    calls: list[ToolCallSpec] = []
    for call in reply.calls:
        name = call.id if call.id and call.id not in seen else f"call_{new_id()}"
        seen.add(name)
        calls.append(ToolCallSpec(name, call.name, call.arguments, call.opaque))
    members = {name: getattr(reply, name) for name in Reply.__match_args__}
    return Reply(**members | {"calls": tuple(calls)})


def _nothing_said(reply: Reply) -> str:
    if reply.stop == "length":
        return "The model said nothing: thinking took all the tokens that it may write. Give it more: max_tokens."
    if reply.stop == "refused":
        return "The model said nothing: its provider held the answer back. Ask in other words."
    return "The model said nothing. Ask again, or in other words."


def _sum(one: Usage, other: Usage) -> Usage:
    added = {name: getattr(one, name) + getattr(other, name) for name in _COUNTED}
    return Usage(**added, is_estimated=one.is_estimated or other.is_estimated)


_COUNTED = ("prompt_tokens", "cached_tokens", "written_tokens", "output_tokens", "reasoning_tokens")
