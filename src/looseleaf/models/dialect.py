"""Dialects: how to speak to one provider, as two pure functions, and the parts that all dialects share.

Invariants: the same messages give the same bytes (keys in a fixed order, no clock or chance); what a provider would
refuse is repaired without losing content, and each repair is reported; whatever a provider streams, reading it ends in
one `Reply` or raises `ModelFailed`.
"""

from __future__ import annotations

import json
import re

from looseleaf.base.errors import ModelFailed, PromptTooLong
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.messages import ToolCallSpec
from looseleaf.base.replies import Called, Reply, ToolSpec
from looseleaf.base.values import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message
    from looseleaf.base.replies import Event


# --- names and ids: those that a provider would refuse are changed, each always in the same way ---


@frozen
class Spelling:
    """A provider's rules for names: `beyond` matches what they may not contain, `chars` is the longest, `begins`
    matches how they may begin."""

    beyond: str | None = None
    chars: int = 64
    begins: str | None = None

    def fit(self, name: str) -> str:
        """Return the name if it fits; else its allowed part and a hash, so that two names never become one."""
        fit = re.sub(self.beyond, "_", name) if self.beyond else name
        if self.begins and not re.match(self.begins, fit):
            fit = f"_{fit}"
        if fit == name and 0 < len(name) <= self.chars:
            return name
        mark = sha256(name.encode("utf-8", "surrogatepass"))[:8]
        return f"{fit[: self.chars - 9]}_{mark}"


def restore_names(events: Iterable[Event], names: Iterable[tuple[str, str]]) -> Iterator[Event]:
    """Yield the events with the tools' own names, where they were offered under others (`Rendered.names`)."""
    own = dict(names)

    def restore(call: ToolCallSpec) -> ToolCallSpec:
        return ToolCallSpec(call.id, own.get(call.name, call.name), call.arguments, call.opaque)

    for event in events:
        if isinstance(event, Called):
            yield Called(restore(event.call))
        elif isinstance(event, Reply) and event.calls:
            members = members_of(event)
            yield Reply(**members | {"calls": tuple(map(restore, event.calls))})
        else:
            yield event


TOO_LONG = re.compile(
    r"context_length_exceeded|context[ _](?:length|window|size|limit)|exceed_context_size|prompt is too long|"
    r"(?:maximum|max) (?:number of )?(?:input )?tokens|input token count|too many (?:input )?tokens|"
    r"request_too_large|input is too long|string_above_max_length",
    re.IGNORECASE,
)
"""How providers, and servers that speak like them, say that a prompt does not fit."""

MAY_PASS = re.compile(
    r"overload|rate.?limit|server.?error|internal|unavailable|timeout|timed out|api_error|exhausted|"
    r"\b(?:408|409|429|5\d\d)\b",
    re.IGNORECASE,
)

KEY = re.compile(r"(?i)\b(?:sk|pk|rk|gsk|xai|hf|AIza|Bearer )[-_A-Za-z0-9*.]{8,}")

QUOTED_CHARS = 400
"""Characters to quote from a provider's message; some send a whole page."""


class Passing(ModelFailed):
    """A failure that may pass: the line was cut, the provider is overloaded."""


def provider_error(message: str, code: str = "") -> ModelFailed:
    """Return the error for a provider's report."""
    said = KEY.sub("[key]", " ".join(message.split()))[:QUOTED_CHARS] or "it gave no reason"
    known = f"{code} {message}"
    if TOO_LONG.search(known):
        return PromptTooLong(
            f"The model did not answer: what it was sent is longer than it takes ({said}). Compact the conversation, "
            "or send less of it."
        )
    named = f"{code[:80]}: {said}" if code else said
    if MAY_PASS.search(known):
        return Passing(
            f"The model did not answer: the provider reports a fault of its own ({named}). Ask again later."
        )
    return ModelFailed(
        f"The model did not answer: the provider reports {named}. Change what is asked, or the settings."
    )


def cut_error() -> Passing:
    """Return the error for a stream that broke off."""
    return Passing("The model did not finish its answer: the line was cut before the end came. Ask again.")


# --- values: what JSON or UTF-8 cannot express becomes text ----------------------------------

DEPTH = 64
"""Values nested deeper than this become text: clients and servers have limits, some of a hundred."""

HELD = 90
"""How deep a call's arguments may nest: a log takes a hundred levels, and the record itself needs some."""


def fix_surrogates(text: str) -> str:
    """Return text that can be encoded: surrogate pairs are joined, single surrogates replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def json_value(value: Any, depth: int = DEPTH) -> Any:
    """Return the value as JSON allows it: lists, objects with text keys, finite numbers, valid text."""
    if isinstance(value, str):
        return fix_surrogates(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if depth == 0:
        return fix_surrogates(_dump(value))
    if isinstance(value, dict):
        return {fix_surrogates(str(key)): json_value(each, depth - 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each, depth - 1) for each in value]
    return fix_surrogates(str(value))


def is_loggable(value: Any) -> bool:
    """True if a log can hold the value as it is: finite numbers, whole characters, text keys, not too deep."""
    waiting = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        if isinstance(each, str):
            if not each.isascii() and fix_surrogates(each) != each:
                return False
        elif isinstance(each, float):
            if each - each != 0:
                return False
        elif isinstance(each, dict | list | tuple):
            if depth >= HELD:
                return False
            if isinstance(each, dict):
                if not all(isinstance(key, str) for key in each):
                    return False
                waiting += [(key, depth + 1) for key in each]
                each = each.values()
            waiting += [(inner, depth + 1) for inner in each]
        elif each is not None and not isinstance(each, int):
            return False
    return True


def loggable_arguments(arguments: Any) -> Any:
    """Return a call's arguments as a log can hold them: as they are, or as text."""
    if isinstance(arguments, str):
        return fix_surrogates(arguments)
    return arguments if is_loggable(arguments) else written(arguments)


def written(value: Any) -> str:
    """Return a value as ASCII JSON, however deep it nests: the same text at any recursion depth."""
    try:
        return json.dumps(value)
    except RecursionError:
        return _dump_flat(value)
    except (TypeError, ValueError):  # not JSON, or contains itself
        return fix_surrogates(str(value))


def _dump_flat(value: Any) -> str:
    """Return what `json.dumps` writes, without recursion."""
    parts: list[str] = []
    waiting: list[tuple[bool, Any]] = [(True, value)]
    while waiting:
        is_value, each = waiting.pop()
        if not is_value:
            parts.append(each)
        elif isinstance(each, dict):
            waiting.append((False, "}"))
            for place, (key, inner) in reversed([*enumerate(each.items())]):
                gap = ", " if place else ""
                waiting += ((True, inner), (False, f"{gap}{json.dumps(key)}: "))
            parts.append("{")
        elif isinstance(each, list | tuple):
            waiting.append((False, "]"))
            for place, inner in reversed([*enumerate(each)]):
                waiting += ((True, inner), (False, ", " if place else ""))
            parts.append("[")
        else:
            parts.append(json.dumps(each, default=str))
    return "".join(parts)


def value_text(value: Any) -> str:
    """Return a value as a model reads it: text as it is, anything else as JSON."""
    return fix_surrogates(value) if isinstance(value, str) else _dump(json_value(value))


def _dump(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, TypeError, ValueError):
        return str(value)


NAMED = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
"""Keywords whose members are schemas with free names."""
LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE = ("items", "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties")


@frozen
class Grammar:
    """The part of JSON Schema that a provider reads.

    `known` keywords (None: all), other ones at the `top` (None: the same), and those allowed `never` or `not_at_top`.
    `refuses` is off if unknown keywords are only ignored, `deep` if only the properties themselves are read; `closed`
    is on if every object must forbid additional members.
    """

    known: frozenset[str] | None = None
    top: frozenset[str] | None = None
    never: frozenset[str] = frozenset()
    not_at_top: frozenset[str] = frozenset()
    refuses: bool = True
    deep: bool = True
    closed: bool = False


def fit_schema(
    schema: dict[str, Any], grammar: Grammar, is_top: bool = True
) -> tuple[dict[str, Any], list[str]]:
    """Return the schema that fits the grammar, and the keywords that became words in a description."""
    known = grammar.top if is_top and grammar.top is not None else grammar.known
    kept: dict[str, Any] = {}
    words: dict[str, Any] = {}
    moved: list[str] = []
    for keyword, value in schema.items():
        is_known = known is None or keyword in known or keyword == "description"
        is_known = is_known and not (keyword in grammar.never or (is_top and keyword in grammar.not_at_top))
        if keyword == "const" and not is_known and "enum" not in schema:
            kept["enum"] = [value]
            moved.append(keyword)
        elif keyword == "oneOf" and not is_known and known and "anyOf" in known and "anyOf" not in schema:
            kept["anyOf"], below = _fit_below("anyOf", value, grammar)
            moved.extend(below)
        elif keyword == "$schema" and not is_known:
            moved.append(keyword)
        elif not is_known:
            words[keyword] = value
        else:
            kept[keyword], below = _fit_below(keyword, value, grammar)
            moved.extend(below)
    if grammar.closed and kept.get("type") == "object":
        kept["additionalProperties"] = False
        words.pop("additionalProperties", None)
    if words:
        said = json.dumps(words, ensure_ascii=False)
        description = kept.get("description")
        kept["description"] = f"{description}\n\n{said}" if description else said
        moved.extend(words)
    return kept, moved


def fit_answer(schema: dict[str, Any], grammar: Grammar, provider: str) -> tuple[dict[str, Any], list[str]]:
    """Return the schema of an answer that fits the grammar, and a sentence if that changed it."""
    fitted, moved = fit_schema(schema, grammar)
    said = f"The schema of the answer was changed: {provider} does not take its {', '.join(moved)}."
    return fitted, [said] if moved else []


def _fit_below(keyword: str, value: Any, grammar: Grammar) -> tuple[Any, list[str]]:
    moved: list[str] = []

    def fit(each: Any) -> Any:
        if not isinstance(each, dict):
            return each if grammar.deep else {}
        fitted, more = fit_schema(each, grammar, is_top=False)
        moved.extend(more)
        return fitted

    if keyword in NAMED and isinstance(value, dict) and (grammar.deep or keyword == "properties"):
        return {name: fit(each) for name, each in value.items()}, moved
    if keyword in LISTED and isinstance(value, list) and grammar.deep:
        return [fit(each) for each in value], moved
    if keyword in SINGLE and grammar.deep:
        return fit(value), moved
    return value, moved


def fit_tools(
    tools: Sequence[ToolSpec], spelling: Spelling, grammar: Grammar, provider: str
) -> tuple[list[ToolSpec], list[str], tuple[tuple[str, str], ...]]:
    """Return the tools to offer, sentences on the changes, and pairs of offered and own names that differ."""
    offered: list[ToolSpec] = []
    repairs: list[str] = []
    names: list[tuple[str, str]] = []
    seen: set[str] = set()
    for tool in tools:
        name = spelling.fit(tool.name)
        if name in seen:
            repairs.append(f"The tool {tool.name!r} is offered once, though it was given twice.")
            continue
        seen.add(name)
        if name != tool.name:
            names.append((name, tool.name))
            repairs.append(f"The tool {tool.name!r} is offered as {name!r}: {provider} takes no such name.")
        schema, moved = fit_schema(tool.parameters, grammar)
        if schema.get("type") != "object":
            schema = {"type": "object"} | {key: value for key, value in schema.items() if key != "type"}
            moved.append("type")
        if not isinstance(schema.get("properties"), dict):
            schema["properties"] = {}
        if moved and grammar.refuses:
            changed = ", ".join(dict.fromkeys(moved))
            repairs.append(
                f"The schema of the tool {tool.name!r} was changed: {provider} does not take its {changed}."
            )
        description = tool.description
        if grammar.top is not None and "description" in schema:  # read beside the schema, not in it
            description = f"{description}\n\n{schema.pop('description')}"
        offered.append(ToolSpec(name, description, schema))
    return offered, repairs, tuple(names)


def tool_members(tool: ToolSpec) -> dict[str, Any]:
    """Return a tool as OpenAI and Ollama name its members."""
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def is_strict(schema: Any) -> bool:
    """True if OpenAI can enforce this schema exactly: every object is closed and requires all its members."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if not schema.keys() <= STRICT:
        return False
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties")
        is_closed = schema.get("additionalProperties") is False and isinstance(properties, dict)
        if not is_closed or set(properties or ()) != set(schema.get("required") or ()):
            return False
    named = [each for key in ("properties", "$defs") for each in (schema.get(key) or {}).values()]
    return all(map(is_strict, [*named, schema.get("items"), schema.get("anyOf")]))


STRICT = frozenset(
    "type properties required additionalProperties description title enum const items anyOf $ref $defs".split()
)


@frozen
class CallOptions:
    """Options of a reply. `extra` are members of the payload, in the provider's names; they win."""

    max_tokens: int | None = None
    temperature: float | None = None
    schema: dict[str, Any] | None = None
    effort: str | None = None
    extra: dict[str, Any] | None = None


@frozen
class Rendered:
    """The arguments of the provider's call, and a sentence for each repair. `names` are pairs of offered and own names
    of renamed tools; `restore_names` puts the own names back."""

    payload: dict[str, Any]
    repairs: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()


@frozen
class Dialect:
    """`render(model, messages, tools, options)` makes the request; `read(chunks)` turns the provider's stream, JSON
    objects, into our events."""

    name: str
    render: Callable[[str, Sequence[Message], Sequence[ToolSpec], CallOptions], Rendered]
    read: Callable[[Iterable[dict[str, Any]]], Iterator[Event]]
