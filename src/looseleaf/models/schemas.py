"""Tools and schemas as a provider takes them. What it would refuse of a schema is told in words beside it."""

from __future__ import annotations

import json

from looseleaf.base.immutable import frozen
from looseleaf.base.replies import ToolSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from looseleaf.models.naming import Spelling

NAMED = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
"""Keywords whose members have names that anybody chose, and are schemas."""
LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE = ("items", "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties")


@frozen
class Grammar:
    """What a provider reads of a schema.

    `known` keywords (None: all), others at its `top` (None: the same), and those that may stand `never` or
    `not_at_top`. `refuses` is off where the rest is only ignored, `deep` where only the properties themselves are
    read; `closed` is on where every object has to say that it takes no other members.
    """

    known: frozenset[str] | None = None
    top: frozenset[str] | None = None
    never: frozenset[str] = frozenset()
    not_at_top: frozenset[str] = frozenset()
    refuses: bool = True
    deep: bool = True
    closed: bool = False


def fitted_schema(
    schema: dict[str, Any], grammar: Grammar, is_top: bool = True
) -> tuple[dict[str, Any], list[str]]:
    """The schema as the grammar has it, and the keywords that had to become words."""
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
            kept["anyOf"], below = _below("anyOf", value, grammar)
            moved.extend(below)
        elif keyword == "$schema" and not is_known:
            moved.append(keyword)
        elif not is_known:
            words[keyword] = value
        else:
            kept[keyword], below = _below(keyword, value, grammar)
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


def _below(keyword: str, value: Any, grammar: Grammar) -> tuple[Any, list[str]]:
    moved: list[str] = []

    def fit(each: Any) -> Any:
        if not isinstance(each, dict):
            return each if grammar.deep else {}
        fitted, more = fitted_schema(each, grammar, is_top=False)
        moved.extend(more)
        return fitted

    if keyword in NAMED and isinstance(value, dict) and (grammar.deep or keyword == "properties"):
        return {name: fit(each) for name, each in value.items()}, moved
    if keyword in LISTED and isinstance(value, list) and grammar.deep:
        return [fit(each) for each in value], moved
    if keyword in SINGLE and grammar.deep:
        return fit(value), moved
    return value, moved


def fitted_tools(
    tools: Sequence[ToolSpec], spelling: Spelling, grammar: Grammar, provider: str
) -> tuple[list[ToolSpec], list[str], tuple[tuple[str, str], ...]]:
    """The tools as they are offered, what had to be changed, and the names that will come back for others."""
    offered: list[ToolSpec] = []
    repairs: list[str] = []
    names: list[tuple[str, str]] = []
    seen: set[str] = set()
    for tool in tools:
        name = spelling.fitted(tool.name)
        if name in seen:
            repairs.append(f"The tool {tool.name!r} is offered once, though it was given twice.")
            continue
        seen.add(name)
        if name != tool.name:
            names.append((name, tool.name))
            repairs.append(f"The tool {tool.name!r} is offered as {name!r}: {provider} takes no such name.")
        schema, moved = fitted_schema(tool.parameters, grammar)
        if schema.get("type") != "object":
            schema = {"type": "object"} | {key: value for key, value in schema.items() if key != "type"}
            moved.append("type")
        if not isinstance(schema.get("properties"), dict):
            schema["properties"] = {}
        if moved and grammar.refuses:
            told = ", ".join(dict.fromkeys(moved))
            repairs.append(
                f"The schema of the tool {tool.name!r} was changed: {provider} does not take its {told}."
            )
        description = tool.description
        if grammar.top is not None and "description" in schema:  # it is read beside the schema, not in it
            description = f"{description}\n\n{schema.pop('description')}"
        offered.append(ToolSpec(name, description, schema))
    return offered, repairs, tuple(names)


def is_strict(schema: Any) -> bool:
    """Whether OpenAI can hold an answer to this schema exactly: every object is closed and needs all its members."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if not schema.keys() <= STRICT:
        return False
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties")
        if schema.get("additionalProperties") is not False or not isinstance(properties, dict):
            return False
        if set(properties) != set(schema.get("required") or ()):
            return False
    named = [each for key in ("properties", "$defs") for each in (schema.get(key) or {}).values()]
    return all(map(is_strict, [*named, schema.get("items"), schema.get("anyOf")]))


STRICT = frozenset(
    "type properties required additionalProperties description title enum const items anyOf $ref $defs".split()
)
