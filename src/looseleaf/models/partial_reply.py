"""One attempt's reply so far: enough to report it if it is cut short, with its usage as far as it is known."""

from __future__ import annotations

from _thread import allocate_lock

from looseleaf.base.replies import Called, Reply, TextDelta, Thought, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message, ToolCallSpec
    from looseleaf.base.replies import Event, ToolSpec


class PartialReply:
    """The reply of one attempt so far. `is_answered`: the provider began to answer, or may have, so it may charge. The
    messages and tools are for estimates; `model` names a reply without a name."""

    def __init__(self, messages: Sequence[Message], tools: Sequence[ToolSpec], model: str) -> None:
        self.is_answered = False
        self._messages, self._tools, self._model = messages, tools, model
        self._said: list[str] = []
        self._thought: list[str] = []
        self._calls: list[ToolCallSpec] = []
        self._reported: dict[str, Any] = {}

    def chunks(self, chunks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the chunks and note their counts."""
        for chunk in chunks:
            self.is_answered = True
            self._reported |= _usage_in(chunk)
            yield chunk

    def hear(self, event: Event) -> None:
        self.is_answered = True
        if isinstance(event, TextDelta):
            self._said.append(event.text)
        elif isinstance(event, Thought):
            self._thought.append(event.text)
        elif isinstance(event, Called):
            self._calls.append(event.call)

    @property
    def anything(self) -> bool:
        """True if the caller has received anything."""
        return any(self._said) or any(self._thought) or bool(self._calls)

    def cut(self) -> Reply:
        """Return the reply so far, marked as cut."""
        said, thought = "".join(self._said), "".join(self._thought)
        return self.whole(Reply(said, thought, tuple(self._calls), _reported_usage(self._reported), "cut"))

    def whole(self, reply: Reply) -> Reply:
        """Return the reply with what its provider left out: a name, and token counts."""
        usage = reply.usage
        if usage.is_estimated:
            read = usage.prompt_tokens or tokens_of(self._messages, self._tools)
            usage = _estimate_usage(reply, read, usage.cost)
        named = reply.model or self._model
        return Reply(reply.text, reply.reasoning, reply.calls, usage, reply.stop, named, reply.opaque)


def _usage_in(chunk: dict[str, Any]) -> dict[str, Any]:
    """Return the counts in a chunk, wherever its provider puts them."""
    found: dict[str, Any] = {}
    for place in (chunk, chunk.get("message"), chunk.get("response")):
        for name in ("usage", "usageMetadata", "usage_metadata"):
            told = place.get(name) if isinstance(place, dict) else None
            found |= told if isinstance(told, dict) else {}
    return found


def _reported_usage(reported: dict[str, Any]) -> Usage:
    """Return the usage of a cut answer: some providers report the prompt at the start; the output grows, so its last
    report is a lower bound."""

    def told(*names: str) -> int:
        return next((reported[name] for name in names if type(reported.get(name)) is int), 0)

    apart = ("cache_read_input_tokens", "cache_creation_input_tokens")
    prompt = told("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_token_count")
    cached = told(apart[0], "cachedContentTokenCount", "cached_content_token_count")
    written = told(apart[1])
    if any(name in reported for name in apart):
        prompt += cached + written  # Anthropic counts these apart
    output = told("completion_tokens", "output_tokens", "candidatesTokenCount", "candidates_token_count")
    thought = told("thoughtsTokenCount", "thoughts_token_count")
    return Usage(prompt, cached, written, output + thought, thought, is_estimated=True)


def tokens_of(messages: Iterable[Message], tools: Iterable[ToolSpec] = ()) -> int:
    """Estimate the tokens that a model reads."""
    from looseleaf.models.tokens import estimate

    of_tools = (text for tool in tools for text in (tool.name, tool.description, _as_text(tool.parameters)))
    return sum(map(estimate, (*texts_of(messages), *of_tools)))


def tokens_in(reply: Reply) -> int:
    """Estimate the tokens that a model wrote."""
    from looseleaf.models.tokens import estimate

    called = (text for call in reply.calls for text in (call.name, _as_text(call.arguments)))
    return sum(map(estimate, (reply.text, reply.reasoning, *called)))


def texts_of(messages: Iterable[Message]) -> Iterator[str]:
    """Yield all texts that a model reads in messages."""
    for message in messages:
        yield message.content or ""
        yield message.reasoning_content or ""
        if message.tool_payload is not None:
            yield from map(_as_text, message.tool_payload.to_dict().values())


def _as_text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    import json

    return json.dumps(value, ensure_ascii=False, default=str)


# --- an extension of models (seed 004, phase D) ----------------------------------------------


class TokenUsage:
    """The tokens that each model took.

    The provider's report counts. Without one, the given messages are counted with `counter` (None: an estimate). No
    message is kept, only sums; any number of threads may add.
    """

    def __init__(self, counter: Callable[[str], int] | None = None) -> None:
        self._counter = counter
        self._totals: dict[str, Usage] = {}
        self._calls: dict[str, int] = {}
        self._turn = allocate_lock()

    def before_invoke(self, messages: Sequence[Message], payload: dict[str, Any], **about: Any) -> None:
        """Do nothing: no usage is known yet."""

    def after_invoke(self, messages: Sequence[Message], response: Reply, **about: Any) -> None:
        took = response.usage
        if took.is_estimated and self._counter is not None:
            took = _estimate_usage(response, sum(self._counter(text) for text in texts_of(messages) if text))
        model = str(about.get("model") or response.model)
        with self._turn:
            self._totals[model] = add_usage(self._totals.get(model, Usage()), took)
            self._calls[model] = self._calls.get(model, 0) + 1

    @property
    def by_model(self) -> dict[str, Usage]:
        """The sums by model; `is_estimated` if a part of the sum is."""
        with self._turn:
            return dict(self._totals)

    @property
    def calls(self) -> dict[str, int]:
        """The number of answers of each model, with cut ones."""
        with self._turn:
            return dict(self._calls)

    @property
    def total(self) -> Usage:
        sums = Usage()
        for took in self.by_model.values():
            sums = add_usage(sums, took)
        return sums


def _estimate_usage(reply: Reply, read: int, cost: float | None = None) -> Usage:
    """Return the usage of a reply that read so many tokens, with an estimate of what it wrote."""
    told = reply.usage
    output = max(told.output_tokens, tokens_in(reply))
    return Usage(read, told.cached_tokens, told.written_tokens, output, told.reasoning_tokens, True, cost)


def add_usage(one: Usage, other: Usage) -> Usage:
    names = [name for name in Usage.__match_args__ if name.endswith("_tokens")]
    sums = {name: getattr(one, name) + getattr(other, name) for name in names}
    return Usage(**sums, is_estimated=one.is_estimated or other.is_estimated)
