"""The agent: memory makes the prompt, a model answers, tools run, everything is recorded; until there is an answer.

Invariants: whatever happens, what was said is recorded, whole or as far as it came; a call that was recorded is never
carried out a second time, also by another process after a crash; the run ends with `Done`, `Interrupted` or `Failed`
(what a processor or a model of somebody's own raises comes through, and nothing is left open by it).
"""

from __future__ import annotations

import time

from looseleaf.agent.events import (
    Answered,
    Compacted,
    Done,
    Failed,
    Ingest,
    Interrupted,
    Processors,
    Prompted,
    Reflected,
    ToolCalled,
    ToolReturned,
    UserMessage,
)
from looseleaf.agent.request import CONTINUE, Requests, absolute, carried, check, check_numbers
from looseleaf.agent.tool_runner import Hands, Running, hand, memory_hands, writable
from looseleaf.base.errors import Cancelled, ModelFailed, Refused, TooLong
from looseleaf.base.ids import new_id
from looseleaf.base.messages import ToolCallSpec
from looseleaf.base.replies import Called, Reply, Retrying, Said, Thought, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from queue import SimpleQueue
    from typing import Any

    from looseleaf.agent.events import Event, Processor
    from looseleaf.agent.request import Request
    from looseleaf.agent.tool_runner import Hand
    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Flag, Model, Reply
    from looseleaf.memory import Memory
    from looseleaf.models.costs import Costs
    from looseleaf.place.placer import Placed


# The ledger of costs as one call of the agent's is told to it.


class Ledger:
    """The ledger of costs, for one call. A model of somebody's own may tell its extensions nothing: then it is told
    here."""

    def __init__(self, costs: Costs, model: Model, purpose: str) -> None:
        self._costs = costs
        self._about = {"model": model.name, "dialect": str(getattr(model, "dialect", "")), "purpose": purpose}
        self._is_told = False

    def look(self, messages: Sequence[Message]) -> None:
        """Whether anything may be spent at all."""
        self._costs.before_invoke(messages, {}, **self._about)

    def before_invoke(self, messages: Sequence[Message], payload: dict[str, Any], **about: Any) -> None:
        self._is_told = True
        self._costs.before_invoke(messages, payload, **about)

    def after_invoke(self, messages: Sequence[Message], response: Reply, **about: Any) -> None:
        self._costs.after_invoke(messages, response, **about)

    def count(self, messages: Sequence[Message], reply: Reply) -> None:
        if not self._is_told:
            self._costs.after_invoke(messages, reply, **self._about)


CHAT = "chat"
"""The purpose of the loop's own calls, in the ledger of costs."""

_LESS = 0.6
"""The part of a prompt that is tried when its provider says that it was too long: it may count half as much again as we
do, or serve the model with a smaller context than it could have."""

MOST_CALLS = 64
"""Calls of one answer that are carried out: each has a thread of its own."""

_TOO_MANY = f"Nothing was done: at most {MOST_CALLS} calls are carried out at once. Call it again, by itself."
_INTERRUPTED = "Interrupted: nobody waits for this any more."
_UNFINISHED = {
    stop: f"Nothing was done: the answer that asked for this {why}. Call it again, in a whole answer."
    for stop, why in (
        ("length", "was longer than it may be"),
        ("refused", "was held back by its provider"),
        ("cut", "was cut short"),
    )
}
"""Why calls of an answer that is not whole are not carried out: something may be missing in them."""

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
        from threading import Event as Stop
        from threading import Lock

        check(memory, model, tools, processors, options)
        check_numbers(steps, tool_seconds)
        self.memory = memory
        self.model = model
        self._hands = Hands([*map(hand, tools), *(memory_hands(memory) if memory_tools else ())])
        self._ingest = Ingest(memory)
        self._process = Processors(processors, self._ingest)
        self._requests = Requests(memory, model, self._hands.specs, goes_on)
        self._steps = memory.policy.agent_steps if steps is None else steps
        self._tool_seconds = memory.policy.tool_seconds if tool_seconds is None else tool_seconds
        self._reflects = reflect
        self._options = {
            "seconds": memory.policy.model_seconds,
            "max_tokens": memory.policy.max_tokens,
        } | options
        self._alone = Lock()
        self._stop = Stop()
        self._why = ""
        self._running: Running | None = None
        self._late: SimpleQueue[ToolReturned] = SimpleQueue()
        self._open: dict[str, ToolReturned] = {}
        """Calls that are recorded, and what is to be recorded of them if nothing else is."""
        self._unsaid: list[Answered] = []
        """Answers that could not be recorded."""
        self._given: set[str] = set()
        """Files that the program gave to be looked at: no other leaves this machine by its name."""
        memory.parts.distill_with(model)
        memory.costs.warn(model.name, model.dialect, memory.parts.note)

    # --- running -----------------------------------------------------------------------

    def run(
        self,
        text: str,
        *,
        images: Sequence[str] | str = (),
        audio: Sequence[str] | str = (),
        video: Sequence[str] | str = (),
    ) -> Generator[Event, None, None]:
        """Ask the agent, and see what happens. Ending the iteration early interrupts the run. Pictures and the like are
        paths, web addresses or `data:` addresses."""
        given: object = text
        if not isinstance(given, str) or not (given.strip() or images or audio or video):
            raise Refused("Nothing was asked: the message is empty. Give the request itself, as text.")
        media = [
            absolute(each, name) for each, name in ((images, "images"), (audio, "audio"), (video, "video"))
        ]
        self._given.update(*media)
        return self._run(UserMessage(text, *media))

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
        return self._reflect(None)

    def _reflect(self, cancel: Flag | None) -> list[Placed]:
        from looseleaf.agent.reflector import Reflector

        return self.memory.distill(distiller=Reflector(self.memory, self.model, cancel=cancel))

    def _run(self, message: UserMessage) -> Generator[Event, None, None]:
        if not self._alone.acquire(blocking=False):
            raise Refused(
                "Nothing was asked: this agent is still at work. Wait for its run to end, or interrupt it."
            )
        try:
            self._stop.clear()
            self._why = ""
            yield from self._loop(message)
        except Refused as refused:
            if _is_left(refused):  # nobody listens any more: what cannot be said is noted
                self.memory.parts.note(str(refused))
                return
            yield Failed(str(refused))
        finally:
            self._running = None
            self._alone.release()

    def _loop(self, message: UserMessage) -> Iterator[Event]:
        self._end_open_calls()
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
            yield from self._act(reply.calls, _UNFINISHED.get(reply.stop))
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
                placed, why = tuple(self._reflect(self._stop)), ""
            except Refused as refused:
                placed, why = (), str(refused)
            yield Reflected(placed, why)

    # --- asking the model --------------------------------------------------------------

    def _ask(self, step: int) -> Generator[Event, None, Reply | None]:
        """The reply, recorded; None if the run is over. What the provider finds too long is made shorter, once."""
        most: int | None = None
        while True:
            request = self._requests.prepare(most)
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
                self.memory.window.request_compaction()
            except Cancelled:
                yield Interrupted(self._why)
                return None

    def _reply(self, request: Request) -> Generator[Event, None, Reply]:
        said: list[str] = []
        thought: list[str] = []
        reply: Reply | None = None
        messages = tuple(carried(request.messages, self._given))
        ledger = Ledger(self.memory.costs, self.model, CHAT)
        ledger.look(messages)
        stream = self.model.stream(
            messages,
            self._hands.specs,
            cancel=self._stop,
            purpose=CHAT,
            extensions=(ledger,),
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
        ledger.count(messages, reply)
        reply = _with_ids(reply)
        if not reply.usage.is_estimated and reply.usage.prompt_tokens:
            self.memory.window.report_usage(prompt_tokens=reply.usage.prompt_tokens, model=self.model.name)
        try:
            answered = self._process(Answered(reply))
        except Refused:
            self._unsaid.append(
                Answered(reply)
            )  # the log takes nothing now; before the next run it is tried again
            raise
        assert isinstance(answered, Answered)
        yield answered
        return answered.reply

    # --- tools -------------------------------------------------------------------------

    def _act(self, calls: Sequence[ToolCallSpec], why_not: str | None) -> Iterator[Event]:
        """Carry calls out, side by side; or, with a reason, none of them. All of them are recorded before the first one
        runs, and something is recorded of each, however this ends."""
        running = None
        try:
            wanted: list[ToolCallSpec] = []
            for call in calls:
                called = self._process(ToolCalled(call))
                assert isinstance(called, ToolCalled)
                wanted.append(called.call)
                self._open[called.call.id] = ToolReturned(called.call, error=_INTERRUPTED)
                yield called
            may = [] if why_not else wanted[:MOST_CALLS]
            for call in wanted[len(may) :]:
                yield self._answered(ToolReturned(call, error=why_not or _TOO_MANY))
            running = self._running = Running(self._hands, may, self._tool_seconds, self._late)
            if not self._stop.is_set():
                running.start()
                for returned in running:
                    yield self._answered(returned)
            if not self._stop.is_set():
                while running.left:
                    left = running.left.pop(0)
                    yield self._answered(ToolReturned(left, error=_LATE.format(self._tool_seconds)))
        finally:
            self._running = None
            if self._stop.is_set():
                why = f"Interrupted: {self._why}."
                self._open = {name: ToolReturned(each.call, error=why) for name, each in self._open.items()}
            for came in running.give_up() if running is not None else ():
                self._open[came.call.id] = came
            self._record_open()

    def _answered(self, returned: ToolReturned) -> Event:
        """Recorded; what cannot be now is kept, and recorded before anything else is."""
        self._open[returned.call.id] = returned
        processed = self._process(returned)
        del self._open[returned.call.id]
        return processed

    def _record_open(self) -> None:
        """Whatever is still open, as far as it came."""
        while self._unsaid:
            self._process(self._unsaid[0])
            self._unsaid.pop(0)
        for name, returned in list(self._open.items()):
            self._process.at_last(returned)
            del self._open[name]

    def _hear_late(self) -> Iterator[Event]:
        """What tools returned after nobody waited for them any more."""
        while not self._late.empty():
            late = self._late.get()
            try:
                heard = ToolReturned(late.call, late.result, late.error, is_late=True, is_own=late.is_own)
                processed = self._process(heard)
            except Refused:
                self._late.put(late)  # the log takes nothing now; another time
                raise
            yield processed

    def _end_open_calls(self) -> None:
        """Calls that nobody waits for: our own, of a run that broke off; and those that another process left. Whether
        those were carried out nobody knows, so they are not again. One that may still be waited for is left alone."""
        self._record_open()
        for call_id, since in self.memory.talk.open_calls():
            if time.time() - since > 2 * max(self._tool_seconds, self.memory.policy.tool_seconds):
                self.memory.record(tool_call_id=call_id, tool_error=_LEFT)


def _is_left(error: BaseException) -> bool:
    """Whether something failed while a run was being left."""
    before = error.__context__
    while before is not None:
        if isinstance(before, GeneratorExit):
            return True
        before = before.__context__
    return False


def _with_ids(reply: Reply) -> Reply:
    """With an id for each call that has none, or one that another of them has; arguments that no log can hold are the
    text that they are."""
    seen: set[str] = set()
    calls: list[ToolCallSpec] = []
    for call in reply.calls:
        name = call.id if call.id and call.id not in seen else f"call_{new_id()}"
        seen.add(name)
        calls.append(ToolCallSpec(name, call.name, writable(call.arguments), call.opaque))
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
