"""The agent's loop: memory makes the prompt, a model answers, tools run, all is recorded; until there is an answer.

Each request is made anew from memory, after any compaction that is due. Nothing is kept between two calls: only the
memory knows the conversation. The prompt, the tools and the message after tools share one budget.

Invariants: whatever happens, the conversation is recorded, whole or as far as it came; a recorded call never runs a
second time, not even in another process after a crash; a run ends with `Done`, `Interrupted` or `FailedEvent` (errors
of custom processors and models are raised to the caller, and leave nothing open).
"""

from __future__ import annotations

import json
import os
from itertools import count

from looseleaf.agent.events import (
    AnswerEvent,
    Compacted,
    Done,
    FailedEvent,
    Interrupted,
    Prompted,
    Reflected,
    RunRecorder,
    ToolReturned,
    UserMessage,
)
from looseleaf.agent.tool_runner import OfferedTools, Running, offer, tools_of, writable
from looseleaf.base.errors import (
    BudgetTooSmall,
    Cancelled,
    Invalid,
    ModelFailed,
    NotFound,
    Outdated,
    PromptTooLong,
    Refused,
)
from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.messages import Message, ToolCallPayload, ToolCallSpec, ToolResultPayload
from looseleaf.base.replies import Called, Reply, Retrying, TextDelta, Thought, Usage, time_limit
from looseleaf.log.turns import MESSAGE_TOKENS
from looseleaf.models.costs import CallCosts
from looseleaf.models.stream_parts import add_usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from looseleaf.agent.events import Event, Processor
    from looseleaf.agent.tool_runner import OfferedTool
    from looseleaf.base.replies import CancelFlag, Model, ToolSpec
    from looseleaf.base.values import Edition
    from looseleaf.memory import Memory
    from looseleaf.place.placer import Placed
    from looseleaf.prompt.manifest import Manifest
    from looseleaf.window.compaction_plan import Loss


# --- an agent's arguments ----------------------------------------------------------------

_LONGEST_WAIT = 86_400
"""Seconds: a day."""

_OPTIONS = ("temperature", "max_tokens", "schema", "effort", "seconds", "extra", "calls")


def check_arguments(memory: Any, model: Any, tools: Any, processors: Any, options: dict[str, Any]) -> None:
    """Refuse arguments that a program may have mixed up."""
    if not hasattr(memory, "prompt"):
        raise Invalid(f"No agent was made: {memory!r} is not a memory. Give it Memory(folder).")
    if not callable(getattr(model, "stream", None)) or not isinstance(getattr(model, "name", None), str):
        raise Invalid(
            f"No agent was made: {model!r} is not a model. Give it one of looseleaf.models, such as "
            "Anthropic(name), or any object with a name and stream(messages, tools, **options)."
        )
    for name, given in (("tools", tools), ("processors", processors)):
        if callable(given) or isinstance(given, str) or not hasattr(given, "__iter__"):
            raise Invalid(f"No agent was made: {name} must be a list. Put the one you have into brackets.")
    for each in processors:
        if not isinstance(getattr(each, "order", None), int) or not callable(getattr(each, "process", None)):
            raise Invalid(
                f"No agent was made: {each!r} is not a processor. A processor has an order, and process(event)."
            )
    unknown = sorted(options.keys() - set(_OPTIONS))
    if unknown:
        raise Invalid(
            f"No agent was made: there is no option {unknown[0]!r}. Besides its own arguments, an agent takes those of "
            f"a model's calls: {', '.join(_OPTIONS)}."
        )


def check_limits(steps: object, tool_seconds: object) -> None:
    if steps is not None and (type(steps) is not int or steps < 1):
        raise Invalid(f"No agent was made: steps must be a whole number of at least 1, not {steps!r}.")
    is_number = isinstance(tool_seconds, int | float) and 0 < tool_seconds <= _LONGEST_WAIT
    if tool_seconds is not None and not is_number:
        raise Invalid(
            f"No agent was made: tool_seconds must be above 0 and at most {_LONGEST_WAIT:,}, not {tool_seconds!r}."
        )


# --- attached files: a provider cannot open them, so a request carries their bytes -----------

MOST_BYTES = 20 * 1024 * 1024
"""Of all files in one request: more than most providers take. The last ones count first."""

_BEGINNINGS = (
    ((b"\x89PNG\r\n\x1a\n",), "image/png"),
    ((b"\xff\xd8\xff",), "image/jpeg"),
    ((b"GIF87a", b"GIF89a"), "image/gif"),
    ((b"ID3\x03", b"ID3\x04", b"\xff\xfb"), "audio/mpeg"),
    ((b"fLaC\x00",), "audio/flac"),
    ((b"OggS\x00",), "audio/ogg"),
)


def check_media(given: Sequence[str] | str | None, kind: str) -> tuple[str, ...]:
    """Return addresses as they are recorded. A path is checked now, so that the user learns of a missing file."""
    found: list[str] = []
    is_one = isinstance(given, str | bytes) or not hasattr(given or (), "__iter__")
    addresses: Any = (given,) if is_one else given or ()
    for address in addresses:
        if not isinstance(address, str):
            raise Invalid(
                f"Nothing was asked: {kind} must be paths, web addresses or data: addresses, as text, not "
                f"{type(address).__name__}. Write the bytes to a file, and give its path."
            )
        if "://" not in address and not address.startswith("data:"):
            address = os.path.abspath(os.path.expanduser(address))
            if not os.path.isfile(address):
                raise NotFound(
                    f"Nothing was asked: there is no file {address}. Give the path of one, or an address."
                )
        found.append(address)
    return tuple(found)


def attach_files(messages: Sequence[Message], given: Collection[str]) -> list[Message]:
    """Return the messages with the files' bytes in place of the given paths."""
    import base64

    left = MOST_BYTES
    found: list[Message] = []
    for message in reversed(messages):
        if given and (message.image_urls or message.audio_urls):
            members = members_of(message)
            for name in ("image_urls", "audio_urls"):
                addresses = []
                for address in members[name]:
                    held = _read_media(address, left) if address in given else None
                    if held is not None:
                        kind, data = held
                        left -= len(data)
                        address = f"data:{kind};base64,{base64.b64encode(data).decode()}"
                    addresses.append(address)
                members[name] = tuple(addresses)
            message = Message(**members)
        found.append(message)
    return found[::-1]


def _read_media(path: str, most: int) -> tuple[str, bytes] | None:
    """Return the type and bytes of an image or sound file that is not too large; None for any other."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > most:
            return None
        with open(path, "rb") as file:
            held = file.read(most)
    except OSError:
        return None
    if held[:4] == b"RIFF":
        kind = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(held[8:12])
    else:
        kind = next((kind for begins, kind in _BEGINNINGS if held.startswith(begins)), None)
    return (kind, held) if kind is not None else None


# --- requests to the model (seed 004: the request assembler) ----------------------------

CONTINUE = "All tools finished. Continue."
"""Sent when all tools of an answer are done (seed 004, phase C)."""

TOOL_TOKENS = 12
"""Tokens that a provider adds around each tool."""

_TRIES = 4


@frozen
class Request:
    """Messages for the model. `edition`: the memory's when they were read; `loss`: what a compaction before it lost."""

    messages: tuple[Message, ...]
    manifest: Manifest
    edition: Edition
    loss: Loss | None = None


class Requests:
    """Makes the requests of one agent to one model. `goes_on` is the message after tools; None: no message."""

    def __init__(
        self, memory: Memory, model: Model, tools: Sequence[ToolSpec], goes_on: str | None = CONTINUE
    ) -> None:
        self._memory = memory
        self._model = model.name
        self._form = str(getattr(model, "calls", "native"))
        self._tools = tools
        self._goes_on = goes_on
        self._tool_tokens: int | None = None

    def prepare(self, most: int | None = None) -> Request:
        """Return the next request, within the model's budget, with at most `most` tokens of prompt."""
        memory = self._memory
        edition = memory.parts.context.store.edition()
        before = memory.window.last_loss
        if memory.window.compaction_requested:
            memory.window.compact(model=self._model)
        if self._tool_tokens is None:  # counted once: they do not change
            texts = list(self._describe_tools())
            counted = memory.window.count(texts, model=self._model) if texts else []
            self._tool_tokens = self._in_model_tokens(sum(counted) + TOOL_TOKENS * len(texts))
        room = memory.window.budget(self._model).input - self._tool_tokens
        room = room if most is None else min(room, most)
        each = 0  # tokens of one message after tools, as counted here
        if self._goes_on is not None:
            each = memory.window.count([self._goes_on], model=self._model)[0] + MESSAGE_TOKENS
        said = 0
        for _ in range(_TRIES):
            if room - said < 1:
                raise BudgetTooSmall(max(room, 0), said + 1, "the tools and the prompt")
            prompt = memory.prompt(budget=room - said, model=self._model)
            messages = tuple(insert_continue(prompt.messages, self._goes_on))
            needed = self._in_model_tokens((len(messages) - len(prompt.messages)) * each)
            if prompt.manifest.total_tokens + needed <= room:
                break
            said = needed
        loss = memory.window.last_loss
        return Request(messages, prompt.manifest, edition, loss if loss is not before else None)

    def _describe_tools(self) -> Iterator[str]:
        """Yield the texts that describe the tools to the model."""
        if self._form != "native" and self._tools:
            from looseleaf.models.text_calls import describe

            yield describe(self._tools, self._form)
            return
        for each in self._tools:
            yield f"{each.name} {each.description} {json.dumps(each.parameters, ensure_ascii=False)}"

    def _in_model_tokens(self, tokens: int) -> int:
        """Convert to the model's own tokens, in which the budget is."""
        from looseleaf.models.model_table import model

        return -int(-tokens * model(self._model).count_margin // 1)


def insert_continue(messages: Sequence[Message], text: str | None) -> Iterator[Message]:
    """Yield the messages, with `text` from the user behind each run of results that leaves no call open.

    What follows a message depends only on the messages before it: as a prompt grows, its beginning stays.
    """
    waiting: set[str] = set()
    for message in messages:
        yield message
        payload = message.tool_payload
        if isinstance(payload, ToolCallPayload):
            waiting |= {call.id for call in payload.tool_calls}
        elif isinstance(payload, ToolResultPayload) and payload.tool_call_id in waiting:
            waiting.discard(payload.tool_call_id)
            if not waiting and text is not None:
                yield Message("user", text)


# --- the loop ---------------------------------------------------------------------------

CHAT = "chat"
"""The purpose of the loop's own calls, in the ledger of costs."""

MOST_CALLS = 64
"""Calls of one answer that run: each has a thread of its own."""

_RETRY_PART = 0.6
"""The part of a prompt to try when its provider finds it too long: it may count half as much again as we do, or serve
the model with a smaller context."""

_ASKED = 4
"""How often to ask the model while things are forgotten that it was told."""

_TOO_MANY = f"Nothing was done: at most {MOST_CALLS} calls are carried out at once. Call it again, by itself."
_UNFINISHED = {
    stop: f"Nothing was done: the answer that asked for this {why}. Call it again, in a whole answer."
    for stop, why in (
        ("length", "was longer than it may be"),
        ("refused", "was held back by its provider"),
        ("cut", "was cut short"),
    )
}
"""Why calls of an incomplete answer do not run: something may be missing in them."""

_LATE = "No result came in {:g} s. It may still come; do something else, or ask the user."
_SILENT = {
    "length": "The model said nothing: thinking used up all its output tokens. Give it more: max_tokens.",
    "refused": "The model said nothing: its provider held the answer back. Ask in other words.",
}


class Agent:
    """An agent. `tools` are functions, or `OfferedTool`s with their own schemas; the memory's tools are added unless
    `memory_tools` is False. `reflect`: distill each run afterwards (seed 002). `goes_on` is sent to the model when its
    tools are done. `options` go to the model with every call."""

    def __init__(
        self,
        memory: Memory,
        model: Model,
        tools: Sequence[Callable[..., Any] | OfferedTool] = (),
        *,
        memory_tools: bool = True,
        processors: Sequence[Processor] = (),
        reflect: bool = True,
        goes_on: str | None = CONTINUE,
        steps: int | None = None,
        tool_seconds: float | None = None,
        **options: Any,
    ) -> None:
        from threading import Event as Stop
        from threading import Lock

        check_arguments(memory, model, tools, processors, options)
        check_limits(steps, tool_seconds)
        policy = memory.policy
        self.memory = memory
        self.model = model
        self._tools = OfferedTools([*map(offer, tools), *(tools_of(memory) if memory_tools else ())])
        self._recorder = RunRecorder(memory, processors)
        self._requests = Requests(memory, model, self._tools.specs, goes_on)
        self._steps = policy.agent_steps if steps is None else steps
        self._tool_seconds = policy.tool_seconds if tool_seconds is None else tool_seconds
        self._reflects = reflect
        seconds = time_limit(model, policy.model_seconds)
        self._options = {"seconds": seconds, "max_tokens": policy.max_tokens} | options
        self._alone = Lock()
        self._stop = Stop()
        self._why = ""
        self._running: Running | None = None
        self._edition: Edition = None
        """The memory's edition that the last reply was made of."""
        self._given: set[str] = set()
        """Files that the program attached: no other file leaves this machine by its name."""
        memory.parts.distill_with(model, self._options["seconds"])
        memory.costs.warn(model.name, model.dialect, memory.parts.note)

    def run(
        self,
        text: str,
        *,
        images: Sequence[str] | str = (),
        audio: Sequence[str] | str = (),
        video: Sequence[str] | str = (),
    ) -> Generator[Event, None, None]:
        """Ask the agent and yield what happens. Ending the iteration early interrupts the run. Images, audio and video
        are paths, web addresses or `data:` addresses."""
        given: object = text
        if not isinstance(given, str) or not (given.strip() or images or audio or video):
            raise Invalid("Nothing was asked: the message is empty. Give the request itself, as text.")
        media = [
            check_media(each, name) for each, name in ((images, "images"), (audio, "audio"), (video, "video"))
        ]
        self._given.update(*media)
        return self._run(UserMessage(text, *media))

    def interrupt(self, why: str = "the user interrupted") -> None:
        """End the current run, if there is one, from any thread; what was said is kept."""
        if self._alone.locked():
            self._why = why
            self._stop.set()
            running = self._running
            if running is not None:
                running.wake()

    def reflect(self) -> list[Placed]:
        """Distill the talk that is not distilled yet: by the reflector, or by the rules where there is little to
        reflect on or the reflector fails."""
        return self._reflect(None)

    def _reflect(self, cancel: CancelFlag | None) -> list[Placed]:
        from looseleaf.agent.reflector import Reflector

        reflector = Reflector(self.memory, self.model, seconds=self._options["seconds"], cancel=cancel)
        return self.memory.distill(distiller=reflector)

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
            if _is_abandoned(refused):  # the caller is gone: note it instead
                self.memory.parts.note(str(refused))
                return
            yield FailedEvent(str(refused))
        finally:
            self._running = None
            self._alone.release()

    def _loop(self, message: UserMessage) -> Iterator[Event]:
        self._recorder.end_open_calls(max(self._tool_seconds, self.memory.policy.tool_seconds))
        yield self._recorder.process(message)
        total = Usage()
        for step in range(1, self._steps + 1):
            yield from self._recorder.record_late()
            reply = yield from self._ask(step)
            if reply is None:
                return
            total = add_usage(total, reply.usage)
            if reply.calls:
                yield from self._run_calls(reply.calls, _UNFINISHED.get(reply.stop))
                if self._stop.is_set():
                    yield Interrupted(self._why)
                    return
            elif not reply.text.strip():
                yield FailedEvent(
                    _SILENT.get(reply.stop, "The model said nothing. Ask again, or in other words.")
                )
                return
            if step == self._steps or not reply.calls:
                ended = reply.stop if reply.stop in ("length", "refused") else "end"
                yield Done(reply.text, step, total, "steps" if reply.calls else ended)
                break
        if self._reflects:
            try:
                placed, why = tuple(self._reflect(self._stop)), ""
            except Refused as refused:
                placed, why = (), str(refused)
            yield Reflected(placed, why)

    # --- asking the model --------------------------------------------------------------

    def _ask(self, step: int) -> Generator[Event, None, Reply | None]:
        """Return the recorded reply; None if the run is over. A prompt that the provider finds too long is shortened,
        once. A reply that may rest on what was forgotten meanwhile is dropped, and the model is asked again."""
        most: int | None = None
        for attempt in count(1):
            request = self._requests.prepare(most)
            if request.loss is not None:
                yield Compacted(request.loss)
            yield Prompted(step, request.manifest)
            try:
                return (yield from self._stream_reply(request))
            except PromptTooLong as too_long:
                if most is not None:
                    yield FailedEvent(str(too_long))
                    return None
                most = int(_RETRY_PART * request.manifest.total_tokens)
                self.memory.window.request_compaction()
            except Cancelled:
                yield Interrupted(self._why)
                return None
            except Outdated as outdated:
                if attempt >= _ASKED:
                    yield FailedEvent(str(outdated))
                    return None
                yield Retrying("Something was forgotten meanwhile, and the answer was dropped.", 0.0, attempt)
        raise AssertionError

    def _stream_reply(self, request: Request) -> Generator[Event, None, Reply]:
        said: list[str] = []
        thought: list[str] = []
        reply: Reply | None = None
        messages = tuple(attach_files(request.messages, self._given))
        costs = CallCosts(self.memory.costs, self.model, CHAT)
        costs.check(messages)
        about: dict[str, Any] = {"cancel": self._stop, "purpose": CHAT, "extensions": (costs,)}
        stream = self.model.stream(messages, self._tools.specs, **about, **self._options)
        try:
            for event in stream:
                if isinstance(event, Reply):
                    reply = event
                    continue
                if isinstance(event, TextDelta):
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
                try:
                    with self._reading(request.edition):
                        self._recorder.process(AnswerEvent(cut))
                except Outdated:
                    pass  # it may say what was forgotten
            close = getattr(stream, "close", None)
            if close is not None:
                close()
        costs.count(messages, reply)
        if not reply.usage.is_estimated and reply.usage.prompt_tokens:
            self.memory.window.report_usage(prompt_tokens=reply.usage.prompt_tokens, model=self.model.name)
        with self._reading(request.edition):
            answered = self._recorder.record_answer(_fix_calls(reply))
        self._edition = request.edition
        yield answered
        return answered.reply

    def _reading(self, edition: Edition) -> AbstractContextManager[bool]:
        """Begin a block that writes what was made of the memory when it had this edition."""
        return self.memory.parts.context.store.reading(edition)

    def _run_calls(self, calls: Sequence[ToolCallSpec], why_not: str | None) -> Iterator[Event]:
        """Run calls side by side; or, given a reason, none of them. All are recorded before the first one runs, and
        each gets a recorded result, however this ends."""
        recorder, running = self._recorder, None
        try:
            wanted: list[ToolCallSpec] = []
            for call in calls:
                try:
                    with self._reading(self._edition):
                        called = recorder.record_call(call)
                except Outdated:
                    break  # it may name what was forgotten: the model is asked again
                wanted.append(called.call)
                yield called
            allowed = [] if why_not else wanted[:MOST_CALLS]
            for call in wanted[len(allowed) :]:
                yield recorder.record_result(ToolReturned(call, error=why_not or _TOO_MANY))
            running = self._running = Running(self._tools, allowed, self._tool_seconds, recorder.late)
            if not self._stop.is_set():
                running.start()
                for returned in running:
                    yield recorder.record_result(returned, self._edition)
            if not self._stop.is_set():
                while running.left:
                    left = running.left.pop(0)
                    yield recorder.record_result(ToolReturned(left, error=_LATE.format(self._tool_seconds)))
        finally:
            self._running = None
            if self._stop.is_set():
                recorder.interrupt_calls(self._why)
            for came in running.give_up() if running is not None else ():
                recorder.keep_result(came)
            recorder.record_open()


def _is_abandoned(error: BaseException) -> bool:
    """True if the error was raised while the caller left the run."""
    before = error.__context__
    while before is not None:
        if isinstance(before, GeneratorExit):
            return True
        before = before.__context__
    return False


def _fix_calls(reply: Reply) -> Reply:
    """Give an id to each call without one, or with one that is taken; arguments that no log can hold become text."""
    seen: set[str] = set()
    calls: list[ToolCallSpec] = []
    for call in reply.calls:
        name = call.id if call.id and call.id not in seen else f"call_{new_id()}"
        seen.add(name)
        calls.append(ToolCallSpec(name, call.name, writable(call.arguments), call.opaque))
    members = members_of(reply)
    return Reply(**members | {"calls": tuple(calls)})
