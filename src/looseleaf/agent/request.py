"""A request to the model, made from memory before every call (seed 004: the request assembler).

A due compaction runs first. The prompt, the tools and the message after tools share one budget. Nothing is kept between
two calls: only the memory knows the conversation.
"""

from __future__ import annotations

import json
import os

from looseleaf.base.errors import BudgetTooSmall, Invalid, NotFound
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
            members = {name: getattr(message, name) for name in Message.__match_args__}
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


CONTINUE = "All tools finished. Continue."
"""Sent when all tools of an answer are done (seed 004, phase C)."""

TOOL_TOKENS = 12
"""Tokens that a provider adds around each tool."""

_TRIES = 4


@frozen
class Request:
    """Messages for the model. `loss`: what a compaction before it lost."""

    messages: tuple[Message, ...]
    manifest: Manifest
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
        return Request(messages, prompt.manifest, loss if loss is not before else None)

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
