"""A request: what the model is asked with, made of memory before every call (seed 004: the request assembler).

Where a compaction is due, it runs first. The prompt, the tools and what is said after tools share one budget. Nothing
here is kept between two calls: the memory is the only one who knows what was said.
"""

from __future__ import annotations

import json
import os

from looseleaf.base.errors import BudgetTooSmall, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Message
from looseleaf.log.trace_messages import MESSAGE_TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

    from looseleaf.base.replies import Model, ToolSpec
    from looseleaf.memory import Memory
    from looseleaf.prompt.manifest import Manifest
    from looseleaf.window.compaction_plan import Loss


# What an agent is made of, looked at before anything is asked: a program may have mixed it up.

_LONGEST_WAIT = 86_400
"""Seconds: a day."""

_OPTIONS = ("temperature", "max_tokens", "schema", "effort", "seconds", "extra", "calls")


def check(memory: Any, model: Any, tools: Any, processors: Any, options: dict[str, Any]) -> None:
    """What a program may have mixed up, before anything is asked."""
    if not hasattr(memory, "prompt"):
        raise Refused(f"No agent was made: {memory!r} is no memory. Give it Memory(folder).")
    if not callable(getattr(model, "stream", None)) or not isinstance(getattr(model, "name", None), str):
        raise Refused(
            f"No agent was made: {model!r} is no model. Give it one of looseleaf.models, such as "
            "Anthropic(name), or whatever has a name and stream(messages, tools, **options)."
        )
    if callable(tools) or isinstance(tools, str):
        raise Refused("No agent was made: tools are a list. Put the one you have into brackets.")
    for each in processors:
        if not isinstance(getattr(each, "order", None), int) or not callable(getattr(each, "process", None)):
            raise Refused(
                f"No agent was made: {each!r} is no processor. It has an order, and process(event)."
            )
    unknown = sorted(options.keys() - set(_OPTIONS))
    if unknown:
        raise Refused(
            f"No agent was made: there is no {unknown[0]!r}. Beside its own arguments an agent takes those of a "
            f"model's calls: {', '.join(_OPTIONS)}."
        )


def check_numbers(steps: object, tool_seconds: object) -> None:
    if steps is not None and (type(steps) is not int or steps < 1):
        raise Refused(f"No agent was made: steps is a whole number from 1 on, not {steps!r}.")
    is_number = isinstance(tool_seconds, int | float) and 0 < tool_seconds <= _LONGEST_WAIT
    if tool_seconds is not None and not is_number:
        raise Refused(
            f"No agent was made: tool_seconds is a number of seconds, at most {_LONGEST_WAIT:,}, not {tool_seconds!r}."
        )


# Pictures and sounds that are files here: a provider cannot open them, so a request carries what they
# hold.

MOST_BYTES = 20 * 1024 * 1024
"""Of all files of one request: more than most providers take. The last ones count first."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"ID3\x03", "audio/mpeg"),
    (b"ID3\x04", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"fLaC\x00", "audio/flac"),
    (b"OggS\x00", "audio/ogg"),
)


def absolute(given: Sequence[str] | str | None, kind: str) -> tuple[str, ...]:
    """Addresses as they are recorded. A path is looked at now: who asks about a picture should know if it is not
    there."""
    addresses = (given,) if isinstance(given, str) else tuple(given or ())
    return tuple(_checked(each, kind) for each in addresses)


def _checked(address: object, kind: str) -> str:
    if not isinstance(address, str):
        raise Refused(
            f"Nothing was asked: {kind} are paths, web addresses or data: addresses, as text, not "
            f"{type(address).__name__}. Write the bytes to a file, and give its path."
        )
    if "://" in address or address.startswith("data:"):
        return address
    path = os.path.abspath(os.path.expanduser(address))
    if not os.path.isfile(path):
        raise Refused(f"Nothing was asked: there is no file {path}. Give the path of one, or an address.")
    return path


def carried(messages: Sequence[Message], given: Collection[str]) -> list[Message]:
    """The messages, with what files hold in place of the paths that were given."""
    left = MOST_BYTES
    found: list[Message] = []
    for message in reversed(messages):
        if given and (message.image_urls or message.audio_urls):
            members = {name: getattr(message, name) for name in Message.__match_args__}
            for name in ("image_urls", "audio_urls"):
                addresses = []
                for each in members[name]:
                    held = _held(each, left) if each in given else None
                    left -= len(held[1]) if held is not None else 0
                    addresses.append(_address(each, held))
                members[name] = tuple(addresses)
            message = Message(**members)
        found.append(message)
    return found[::-1]


def _held(path: str, most: int) -> tuple[str, bytes] | None:
    """The kind and the bytes of a file that is a picture or a sound, and not too large."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > most:
            return None
        with open(path, "rb") as file:
            held = file.read(most)
    except OSError:
        return None
    kind = _kind(held)
    return (kind, held) if kind is not None else None


def _address(path: str, held: tuple[str, bytes] | None) -> str:
    """A `data:` address, or the path as it is."""
    if held is None:
        return path
    import base64

    return f"data:{held[0]};base64,{base64.b64encode(held[1]).decode()}"


def _kind(held: bytes) -> str | None:
    if held[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(held[8:12])
    return next((kind for begins, kind in _BEGINNINGS if held.startswith(begins)), None)


CONTINUE = "All tools finished. Continue."
"""What is said when all tools of an answer are done (seed 004, phase C)."""

TOOL_TOKENS = 12
"""What a provider writes around each tool that it is offered."""

_TRIES = 4


@frozen
class Request:
    """`loss`: what a compaction before it lost."""

    messages: tuple[Message, ...]
    manifest: Manifest
    loss: Loss | None = None


class Requests:
    """Of one agent with one model. `goes_on` is said after tools; None: nothing is."""

    def __init__(
        self, memory: Memory, model: Model, tools: Sequence[ToolSpec], goes_on: str | None = CONTINUE
    ) -> None:
        self._memory = memory
        self._model = model.name
        self._form = str(getattr(model, "calls", "native"))
        self._tools = tools
        self._goes_on = goes_on
        self._fixed: int | None = None

    def prepare(self, most: int | None = None) -> Request:
        """The next request, in the model's budget, and in at most so many tokens of prompt."""
        memory = self._memory
        before = memory.window.last_loss
        if memory.window.compaction_requested:
            memory.window.compact(model=self._model)
        room = memory.window.budget(self._model).input - self._tool_tokens()
        room = room if most is None else min(room, most)
        said = 0
        for _ in range(_TRIES):
            if room - said < 1:
                raise BudgetTooSmall(max(room, 0), said + 1, "the tools and the prompt")
            prompt = memory.prompt(budget=room - said, model=self._model)
            messages = tuple(continued(prompt.messages, self._goes_on))
            needed = self._cost((len(messages) - len(prompt.messages)) * self._each)
            if prompt.manifest.total_tokens + needed <= room:
                break
            said = needed
        loss = memory.window.last_loss
        return Request(messages, prompt.manifest, loss if loss is not before else None)

    @property
    def _each(self) -> int:
        """What it costs to say that tools are done, as tokens are counted here."""
        if self._goes_on is None:
            return 0
        return self._memory.window.count([self._goes_on], model=self._model)[0] + MESSAGE_TOKENS

    def _tool_tokens(self) -> int:
        """What the tools take: counted once, as they do not change."""
        if self._fixed is None:
            texts = list(self._told())
            counted = self._memory.window.count(texts, model=self._model) if texts else []
            self._fixed = self._cost(sum(counted) + TOOL_TOKENS * len(texts))
        return self._fixed

    def _told(self) -> Iterator[str]:
        """What the model is told of its tools."""
        if self._form != "native" and self._tools:
            from looseleaf.models.text_calls import describe

            yield describe(self._tools, self._form)
            return
        for each in self._tools:
            yield f"{each.name} {each.description} {json.dumps(each.parameters, ensure_ascii=False)}"

    def _cost(self, tokens: int) -> int:
        """In the model's own tokens, which the budget is of."""
        from looseleaf.models.model_table import model

        return -int(-tokens * model(self._model).count_margin // 1)


def continued(messages: Sequence[Message], text: str | None) -> Iterator[Message]:
    """The messages, with `text` from the user's side behind each run of results that leaves no call open.

    What stands behind a message follows from the messages before it alone: as a prompt grows, its beginning stays.
    """
    from looseleaf.base.messages import ToolCallPayload, ToolResultPayload

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
