"""Streaming replies: their parts in order, their events, the layout that `opaque` keeps of them, and their usage.

Text comes out twice and is the same: piece by piece as events, and whole in the `Reply`. How a provider cuts it into
pieces changes neither. Of a reply that breaks off, what came is reported, with its usage as far as it is known.
"""

from __future__ import annotations

import json
import re
from _thread import allocate_lock

from looseleaf.base.ids import new_id
from looseleaf.base.messages import ToolCallPayload, ToolCallSpec
from looseleaf.base.replies import Called, Reply, TextDelta, Thought, Usage
from looseleaf.base.values import sha256
from looseleaf.models.dialect import cut_error, fix_surrogates, is_loggable, loggable_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event, Stop, ToolSpec

    Laid = tuple[str, Any, dict[str, Any]]
    """Kind, text (or the call), marks."""


# --- layout: with it a provider gets back its reply exactly as it was -----------------------

TEXT, THOUGHT, CALL = "text", "thought", "call"
LEFT_OUT = "The model's thoughts were left out: their text is no longer the signed one."
NATURAL = (THOUGHT, TEXT, CALL)
"""The default order of parts."""


def pack_layout(
    dialect: str, parts: Sequence[Part], reasoning: str, more: dict[str, Any]
) -> dict[str, Any] | None:
    """Return the layout of a reply to keep; None if its text says it all."""
    order = [part.kind == CALL for part in parts if part.kind != THOUGHT]
    has_marks = any(part.marks for part in parts if part.kind != CALL)
    if not has_marks and order == sorted(order):
        return {"dialect": dialect} | more if more else None
    told: list[dict[str, Any]] = []
    for part in parts:
        if part.kind == CALL:
            told.append({"kind": CALL})
        elif part.pieces or part.marks:
            length = {"chars": len(part.text)} | ({"gap": part.gap} if part.gap else {})
            told.append({"kind": part.kind} | length | part.marks)
    return {"dialect": dialect, "thoughts": hash_of(reasoning), "parts": told} | more


def of_dialect(opaque: Any, dialect: str) -> dict[str, Any]:
    """Return the data of this dialect; empty if another one wrote it."""
    return opaque if isinstance(opaque, dict) and opaque.get("dialect") == dialect else {}


def lay_out(message: Message, dialect: str, keeps_changed: bool = False) -> tuple[list[Laid], bool]:
    """Return the parts of an assistant's message as they came, and whether thoughts were left out because their text
    has changed. Thoughts without a mark of this dialect are left out: no provider takes them. `keeps_changed`: the
    marks hold the whole thought, and are given back without a text that no longer fits."""
    payload = message.tool_payload
    calls = payload.tool_calls if isinstance(payload, ToolCallPayload) else ()
    told = of_dialect(message.opaque, dialect)
    parts = [part for part in list_at(told, "parts") if at(part, "kind") in NATURAL]
    reasoning, content = message.reasoning_content or "", message.content or ""
    thoughts = _slices(reasoning, [part for part in parts if part["kind"] == THOUGHT])
    if thoughts is not None and told.get("thoughts") != hash_of(reasoning):
        thoughts = None
    if thoughts is None and keeps_changed:
        thoughts = ["" for part in parts if part["kind"] == THOUGHT]
    texts = _slices(content, [part for part in parts if part["kind"] == TEXT])
    has_calls = len(calls) == sum(part["kind"] == CALL for part in parts)
    waiting: dict[str, list[Any]] = {
        THOUGHT: thoughts or [],
        TEXT: texts if texts is not None else [content] if content else [],
        CALL: list(calls),
    }
    laid: list[Laid] = []
    for part in parts:
        kind = part["kind"]
        if waiting[kind] and (kind != CALL or has_calls):
            marks = {name: value for name, value in part.items() if name not in ("kind", "chars", "gap")}
            laid.append((kind, waiting[kind].pop(0), marks))
    laid.extend((TEXT, text, {}) for text in waiting[TEXT])
    laid.extend((CALL, call, {}) for call in waiting[CALL])
    lost = thoughts is None and any(part["kind"] == THOUGHT for part in parts)
    return [part for part in laid if part[0] != THOUGHT or part[2]], lost


def _slices(text: str, parts: Sequence[dict[str, Any]]) -> list[Any] | None:
    """Return the text of each part; None if their lengths do not add up to the text."""
    found, place = [], 0
    for part in parts:
        gap, chars = part.get("gap", 0), part.get("chars", 0)
        if type(gap) is not int or type(chars) is not int or gap < 0 or chars < 0:
            return None
        found.append(text[place + gap : place + gap + chars])
        place += gap + chars
    return found if place == len(text) else None


def hash_of(text: str) -> str:
    """Return a short hash, enough to see whether a text is still the same."""
    return sha256(text.encode("utf-8", "surrogatepass"))[:16]


GAP = "\n\n"
"""Between two texts of one reply that another part, or the provider, keeps apart."""


# --- members of chunks, which may have any shape --------------------------------------------


def at(value: Any, *names: str | int) -> Any:
    """Return the member at a path; None if there is none."""
    for name in names:
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and isinstance(name, int) and name < len(value):
            value = value[name]
        else:
            return None
    return value


def text_at(value: Any, *names: str | int) -> str:
    """Return the text at a path; empty if there is none."""
    found = at(value, *names)
    return found if isinstance(found, str) else ""


def list_at(value: Any, *names: str | int) -> list[Any]:
    found = at(value, *names)
    return found if isinstance(found, list) else []


def count_at(value: Any, *names: str | int) -> int | None:
    """Return the number of tokens at a path; None if there is none."""
    found = at(value, *names)
    return int(found) if type(found) in (int, float) and 0 <= found < 1e15 else None


def add_counts(usage: dict[str, Any], told: Any) -> None:
    """Update the counts: later reports include earlier ones."""
    if isinstance(told, dict):
        usage.update({name: value for name, value in told.items() if value is not None})


def usage_of(
    prompt: int | None,
    output: int | None,
    cached: int | None = None,
    written: int | None = None,
    reasoning: int | None = None,
) -> Usage:
    """Return a provider's counts; `is_estimated` if it leaves out the prompt or the output."""
    told = (prompt or 0, cached or 0, written or 0, output or 0, reasoning or 0)
    return Usage(*told, is_estimated=prompt is None or output is None)


def arguments_of(text: str) -> Any:
    """Return a call's arguments; the text itself if it is not an object that a log can hold."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) and is_loggable(value) else text


# --- a reply while it streams -----------------------------------------------------------------


class Part:
    """One part of a reply: a thought, a text or a call. `gap`: characters put before it to keep it apart."""

    __slots__ = ("arguments", "gap", "held", "id", "kind", "marks", "name", "pieces")

    def __init__(self, kind: str) -> None:
        self.kind, self.gap = kind, 0
        self.pieces: list[str] = []
        self.marks: dict[str, Any] = {}
        self.held = self.id = self.name = ""
        self.arguments: Any = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class StreamParts:
    """A reply as far as it came. `seed` is unique to the stream: calls without an id get one from it. A stream that
    names none gets a new one, as two replies must not share the ids of their calls."""

    def __init__(self, dialect: str) -> None:
        self.dialect, self.seed, self.model = dialect, "", ""
        self.parts: list[Part] = []
        self.by_key: dict[Hashable, Part] = {}
        self.usage: Usage | None = None
        self.stop: Stop | None = None
        self.opaque: dict[str, Any] = {}

    def part(self, kind: str, key: Hashable = None) -> Part:
        """Return the part of that key; without a key, the last part if it is of that kind. Create it if missing."""
        found = self.by_key.get(key) if key is not None else self.parts[-1] if self.parts else None
        if found is not None and found.kind == kind:
            return found
        found = Part(kind)
        self.parts.append(found)
        if key is not None:
            self.by_key[key] = found
        return found

    def say(self, text: Any, key: Hashable = None, apart: bool = False) -> Iterator[Event]:
        """Add a piece of the answer. `apart`: another key is another paragraph, even if nothing stands between."""
        return self._hear(TEXT, text, key, apart)

    def think(self, text: Any, key: Hashable = None, apart: bool = False) -> Iterator[Event]:
        return self._hear(THOUGHT, text, key, apart)

    def _hear(self, kind: str, text: Any, key: Hashable, apart: bool) -> Iterator[Event]:
        if not isinstance(text, str) or not text:
            return
        part = self.part(kind, key)
        text = part.held + text
        part.held = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
        text = fix_surrogates(text[:-1] if part.held else text)
        if not text:
            return
        event = TextDelta if kind == TEXT else Thought
        if not part.pieces:
            before = [other for other in self.parts if other is not part]
            same = [place for place, other in enumerate(before) if other.kind == kind and other.pieces]
            # Something stands between this part and the last one of its kind that has text.
            if same and (apart or same[-1] < len(before) - 1):
                part.gap = len(GAP)
                yield event(GAP)
        part.pieces.append(text)
        yield event(text)

    def call(self, key: Hashable) -> Part:
        return self.part(CALL, key)

    def add_call(self, id_: str, name: str, given: Any) -> Part:
        """Add a call that came whole. Arguments may be an object, or its text."""
        part = self.call(("call", len(self.parts)))
        part.id, part.name = id_, name
        if isinstance(given, str):
            part.pieces.append(given)
        else:
            part.arguments = given if isinstance(given, dict) else {}
        return part

    def calls(self) -> tuple[ToolCallSpec, ...]:
        """Return the calls in the order in which they began."""
        found: list[ToolCallSpec] = []
        self.seed = self.seed or new_id()
        for part in self.parts:
            if part.kind != CALL:
                continue
            given = loggable_arguments(part.arguments)
            if given is None:
                given = arguments_of(fix_surrogates(part.text))
            made = f"call_{sha256(self.seed.encode('utf-8', 'replace'))[:8]}_{len(found) + 1}"
            name = fix_surrogates(part.id) or made
            marks = {"dialect": self.dialect} | part.marks if part.marks and is_loggable(part.marks) else None
            found.append(ToolCallSpec(name, fix_surrogates(part.name), given, marks))
        return tuple(found)

    def end(self) -> Iterator[Event]:
        """Yield the calls and the whole reply. Raises if the end has not come."""
        if self.stop is None:
            raise cut_error()
        calls = self.calls()
        yield from map(Called, calls)
        stop = "tools" if calls and self.stop == "end" else self.stop
        text, reasoning = (
            "".join(GAP[: part.gap] + part.text for part in self.parts if part.kind == kind)
            for kind in (TEXT, THOUGHT)
        )
        opaque = pack_layout(self.dialect, self.parts, reasoning, self.opaque)
        if not is_loggable(opaque):
            opaque = None  # no log could keep it, and no provider wants it back
        usage = self.usage or Usage(is_estimated=True)
        yield Reply(text, reasoning, calls, usage, stop, fix_surrogates(self.model), opaque)


# --- lines of a response: ended by a newline, and by nothing else -----------------------


def split_lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of bytes that come in pieces, the last one even without an end. Invalid UTF-8 shows as �."""
    held: list[bytes] = []
    for piece in pieces:
        first, *more = piece.split(b"\n")
        held.append(first)
        for part in more:
            yield _decode_line(held)
            held = [part]
    if any(held):
        yield _decode_line(held)


def _decode_line(parts: list[bytes]) -> str:
    return b"".join(parts).decode("utf-8", "replace").removesuffix("\r")


_TOKENS = re.compile(r'"(?>(?:[^"\\]|\\.)*)"|[{}\[\]]', re.DOTALL)
_OBJECT = re.compile(r"\s*:\s*(?=\{)")


def replace_objects(line: str, name: str, stands_for: Callable[[str], object | None]) -> str:
    """Return the line with other values for the objects called `name`: `stands_for` gets the text of each and returns
    its replacement; None leaves it. Nothing is parsed, so what would stop a parser (endless numbers, endless nesting)
    stops nothing here."""
    if f'"{name}"' not in line:
        return line
    made: list[str] = []
    done = begin = depth = 0
    is_due = False
    for token in _TOKENS.finditer(line):
        sign = token[0]
        if depth:
            depth += (sign in "{[") - (sign in "}]")
            if not depth:
                other = stands_for(line[begin : token.end()])
                if other is not None:
                    made += (line[done:begin], json.dumps(other))
                    done = token.end()
        elif is_due and sign == "{":
            begin, depth = token.start(), 1
        is_due = not depth and sign == f'"{name}"' and _OBJECT.match(line, token.end()) is not None
    return "".join((*made, line[done:]))


# --- a reply that broke off -------------------------------------------------------------


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
    return json.dumps(value, ensure_ascii=False, default=str)


# --- usage, by model (an extension: seed 004, phase D) ----------------------------------


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
