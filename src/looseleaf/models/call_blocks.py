"""Blocks: tool calls written in text, read and written.

Two forms. `json`: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, or the same in a fence called `tool_call` or
`json`; one call, several, or a list of them. `xml`: `<tool name="…"><arg name="…">…</arg></tool>`, or the same with
`invoke` and `parameter`. We write the first of each, and read all of them.

Everything takes time linear in the text, and nothing that a model writes makes it fail.
"""

from __future__ import annotations

import json
import re

from looseleaf.base.errors import Invalid
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypeAlias

    from looseleaf.base.replies import ToolSpec

    Form = Literal["json", "xml"]
    Call: TypeAlias = "tuple[str, Any]"
    """A name, and arguments: an object, or the text that came instead."""

    Found: TypeAlias = "tuple[list[Call], str, str]"
    """Calls (or none), the text they stand in, and the text behind it."""

MALFORMED = "malformed"
"""The result for a call that cannot be read."""

NAMELESS = "nameless"
"""The name of a call without one: the answer to such a call lists the tools."""

UNENDED = "unended"
"""The result for a block that seems to end inside a string: its end may come later."""

_GAP = r"\s{0,64}"
_BLANKS = r"[ \t]{0,16}"
_NAME = r"[\w.:/-]{1,128}"


@frozen
class Opener:
    """The beginning of a block. `whole` matches it (the body begins behind group 1, a name is group 2), `partly` a text
    that may still become it. `tag` is the closing tag; None: it ends as a fence does. `is_sure`: only a call looks like
    this, so an unreadable one is malformed."""

    form: Form
    whole: re.Pattern[str]
    partly: re.Pattern[str]
    tag: str | None
    is_sure: bool = True


def _build_opener(
    form: Form, parts: Sequence[str], head: Sequence[str], tag: str | None, *, is_sure: bool = True
) -> Opener:
    """Build an opener. `head` is how the body must begin: a block that is only mentioned is not a call."""
    whole = re.compile(f"({''.join(parts)})(?={''.join(head)})")
    nested = ""
    for part in reversed((*parts, *head)):
        plain = part.replace("(", "(?:") if not part.startswith("(?") else part
        nested = f"{plain}(?:\\Z|{nested})" if nested else plain
    return Opener(form, whole, re.compile(nested), tag, is_sure)


def _named_opener(tag: str) -> Opener:
    parts = [*f"<{tag}", r"\s{1,64}", *"name", _GAP, "=", _GAP, "[\"']", f"({_NAME})", "[\"']", _GAP, ">"]
    return _build_opener("xml", parts, (_GAP, "[<{]"), tag)


def _fence_opener(*words: str, is_sure: bool) -> Opener:
    letters = sorted({letter for word in words for letter in word})
    whole = f"(?:{'|'.join(words)})"
    keys = r"(?:name|arguments|parameters|id)\""
    head = (_GAP,) if is_sure else (_GAP, r"\[?", _GAP, r"\{", _GAP, '"', keys)
    opener = _build_opener(
        "json", ("(?:`{3,16}|~{3,16})", _BLANKS, whole, _BLANKS, r"\r?\n"), head, None, is_sure=is_sure
    )
    loose = f"[{''.join(letters)}]{{1,12}}"
    partly = opener.partly.pattern.replace(whole, loose).replace(keys, "[a-z]{1,12}")
    return Opener("json", opener.whole, re.compile(partly), None, is_sure)


OPENERS: dict[str, tuple[Opener, ...]] = {
    "json": (
        _build_opener("json", [*"<tool_call>"], (_GAP, r"[{\[]"), "tool_call"),
        _build_opener("json", [*"<tool_calls>"], (_GAP, r"[{\[]"), "tool_calls"),
        _fence_opener("tool_call", "tool_calls", is_sure=True),
        _fence_opener("json", is_sure=False),
    ),
    "xml": (
        _named_opener("tool"),
        _named_opener("invoke"),
        _build_opener("xml", [*"<function_calls>"], (_GAP, "<"), "function_calls"),
        _build_opener("xml", [*"<tool_calls>"], (_GAP, "<"), "tool_calls"),
    ),
}


def openers(form: str) -> tuple[Opener, ...]:
    found = OPENERS.get(form)
    if found is None:
        raise Invalid(f"Nothing was asked: {form!r} is not a form of calls in text. Use json or xml.")
    return found


_SPACE = re.compile(r"[\s,]*")
_SAID_NAME = re.compile(r'"name"\s{0,64}:\s{0,64}"([^"\\\n]{1,128})"')
_KEYS = frozenset({"name", "arguments", "parameters", "id", "type"})


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse)


def read_json_calls(body: str, opener: Opener) -> list[Call] | str | None:
    """Return the calls in a block; `UNENDED`, `MALFORMED`; or None for other JSON."""
    is_call = opener.is_sure or '"arguments"' in body
    try:
        values, _ = _read_values(body)
    except json.JSONDecodeError as error:
        if is_call and error.msg.startswith("Unterminated string"):
            return UNENDED
        values = []
    except (ValueError, RecursionError):
        values = []
    calls = _read_calls(values, opener)
    return calls or (MALFORMED if opener.is_sure or (is_call and not values) else None)


def read_unclosed_json(body: str, opener: Opener) -> tuple[list[Call], str] | None:
    """Return the calls of a block that was never closed, and the text behind them, if its JSON is whole."""
    try:
        values, end = _read_values(body, first=True)
    except (ValueError, RecursionError):
        return None
    calls = _read_calls(values, opener)
    return (calls, body[end:]) if calls else None


def _read_values(body: str, *, first: bool = False) -> tuple[list[Any], int]:
    """Return the values in a body, lists flattened, and where they end."""
    found: list[Any] = []
    at = end = _skip_space(body, 0)
    while at < len(body) and not (first and found):
        value, end = _DECODER.raw_decode(body, at)
        found += value if isinstance(value, list) else [value]
        at = _skip_space(body, end)
    return found, end


def _skip_space(body: str, at: int) -> int:
    space = _SPACE.match(body, at)
    return space.end() if space else at


def _read_calls(values: list[Any], opener: Opener) -> list[Call]:
    """Return the call that each value is; none if one is not a call."""
    calls = [_read_call(value, opener) for value in values]
    return [call for call in calls if call is not None] if all(calls) else []


def _read_call(value: Any, opener: Opener) -> Call | None:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or not value["name"]:
        return None
    if not opener.is_sure and (not value.keys() <= _KEYS or not value.keys() & {"arguments", "parameters"}):
        return None
    given = value.get("arguments", value.get("parameters", {}))
    if isinstance(given, str):
        try:
            given = _DECODER.decode(given)
        except (ValueError, RecursionError):
            return value["name"], given
    return (value["name"], given) if isinstance(given, dict) else None


def malformed_call(body: str, name: str = "") -> list[Call]:
    """Return an unreadable block as the call that it was meant to be."""
    said = None if name else _SAID_NAME.search(body)
    return [(name or (said[1] if said else NAMELESS), body.strip())]


_ARGUMENT = re.compile(
    r"\s*<(arg|parameter)\s{1,64}name\s{0,64}=\s{0,64}(?:\"([^\"<>]{0,256})\"|'([^'<>]{0,256})')\s{0,64}>"
)
_INNER = re.compile(rf"\s*<(tool|invoke)\s{{1,64}}name\s{{0,64}}=\s{{0,64}}[\"']({_NAME})[\"']\s{{0,64}}>")
CDATA, END_OF_CDATA = "<![CDATA[", "]]>"
_END = {tag: re.compile(f"{tag}|<!\\[CDATA\\[") for tag in ("</tool>", "</invoke>", "</arg>", "</parameter>")}
_ENTITY = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#x([0-9a-fA-F]{1,6}));")
_EDGES = re.compile(r"\A\r?\n|\r?\n\Z")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


def read_xml_calls(body: str, name: str | None, tools: Mapping[str, ToolSpec]) -> list[Call]:
    """Return the calls in a block. `name`: of the tag around it, where that is a call itself."""
    if name is not None:
        given = read_xml_arguments(body, tools.get(name))
        return malformed_call(body, name) if given is None else [(name, given)]
    calls: list[Call] = []
    at = 0
    while inner := _INNER.match(body, at):
        end = find_end(body, f"</{inner[1]}>", inner.end())
        if end < 0:
            break
        calls += read_xml_calls(body[inner.end() : end], inner[2], tools)
        at = end + len(inner[1]) + 3
    return calls if calls and not body[at:].strip() else malformed_call(body)


def read_xml_arguments(body: str, tool: ToolSpec | None) -> dict[str, Any] | None:
    """Return the arguments in a block; None if it holds something else."""
    if body.lstrip().startswith("{"):
        try:
            value = _DECODER.decode(body)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None
    given: dict[str, Any] = {}
    at = 0
    while argument := _ARGUMENT.match(body, at):
        end = find_end(body, f"</{argument[1]}>", argument.end())
        if end < 0:
            return None
        name = _unescape(argument[2] if argument[2] is not None else argument[3])
        given[name] = _convert_value(_read_value(body[argument.end() : end]), name, tool)
        at = end + len(argument[1]) + 3
    return None if body[at:].strip() else given


def find_end(text: str, tag: str, at: int = 0) -> int:
    """Return the position of a closing tag outside CDATA; -1 if there is none."""
    while found := _END[tag].search(text, at):
        if found[0] == tag:
            return found.start()
        over = text.find(END_OF_CDATA, found.end())
        if over < 0:
            return -1
        at = over + len(END_OF_CDATA)
    return -1


def _read_value(text: str) -> str:
    """Return a value without the line breaks around one on its own lines."""
    text = _EDGES.sub("", text)
    made: list[str] = []
    at = 0
    while (data := text.find(CDATA, at)) >= 0:
        over = text.find(END_OF_CDATA, data)  # `find_end` saw it
        made += (_unescape(text[at:data]), text[data + len(CDATA) : over])
        at = over + len(END_OF_CDATA)
    return "".join((*made, _unescape(text[at:])))


def _unescape(text: str) -> str:
    def decode(found: re.Match[str]) -> str:
        if found[1]:
            return _ENTITIES[found[1]]
        code = int(found[2]) if found[2] else int(found[3], 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else found[0]

    return _ENTITY.sub(decode, text)


def _convert_value(text: str, name: str, tool: ToolSpec | None) -> Any:
    """Read a value as JSON if the schema wants no text and it is JSON."""
    members = tool.parameters.get("properties") if tool is not None else None
    schema = members.get(name) if isinstance(members, dict) else None
    if not isinstance(schema, dict) or _takes_text(schema):
        return text
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return text


def _takes_text(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    if kinds is not None:
        return "string" in (kinds if isinstance(kinds, list) else [kinds])
    if "enum" in schema or "const" in schema:
        return any(isinstance(each, str) for each in schema.get("enum", [schema.get("const")]))
    choices = schema.get("anyOf", schema.get("oneOf", ()))
    return not choices or any(isinstance(each, dict) and _takes_text(each) for each in choices)


# --- a block while it comes -------------------------------------------------------------

_ENDS = 4
"""Ends to try for one block: the first may stand in a string of its JSON."""

_SEEN = 64
"""No end is longer."""


class CallBlock:
    """A block while it streams in. Its body grows until an end is found; `read` may want a later end."""

    def __init__(self, opener: Opener, found: re.Match[str]) -> None:
        self._opener, self._text = opener, found[1]
        self._name: str | None = found[2] if found.re.groups > 1 else None
        self._parts: list[str] = []
        self._size = 0
        self._ends: list[tuple[int, int]] = []
        # A fence is closed by a line of its own; its opening line ends with a line break.
        self._seen = "\n" if opener.tag is None else ""
        self._in_data = False
        if opener.tag is None:
            mark = found[1].lstrip()[0]
            run = len(found[1]) - len(found[1].lstrip(mark))
            line = f"\n[ \\t]{{0,16}}{mark}{{{run},16}}[ \\t]{{0,16}}"
            self._closes = re.compile(rf"{line}(?=\r?\n)")
            self._closes_all = re.compile(rf"{line}\Z")
        else:
            data = r"|<!\[CDATA\[" if opener.form == "xml" else ""
            self._closes = re.compile(f"</{opener.tag}>{data}")

    def take(self, text: str, at: int) -> int | None:
        """Return the place behind the block's next end; None if all of the text belongs to the block."""
        window, shift = self._seen + text[at:], at - len(self._seen)
        begin = self._size - len(self._seen)
        found = self._find_end(window)
        if found is None:
            self._add(text[at:])
            return None
        self._add(text[at : found.end() + shift])
        self._ends.append((begin + found.start(), self._size))
        self._seen = ""
        return found.end() + shift

    def _find_end(self, window: str) -> re.Match[str] | None:
        at = 0
        while True:
            if self._in_data:
                end = window.find(END_OF_CDATA, at)
                if end < 0:
                    break
                self._in_data, at = False, end + len(END_OF_CDATA)
            found = self._closes.search(window, at)
            if found is None:
                break
            if found[0] != CDATA:
                return found
            self._in_data, at = True, found.end()
        self._seen = window[max(at, len(window) - _SEEN) :]
        return None

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._size += len(text)

    def end(self) -> None:
        """Finish: no more comes. A fence may be closed by the last line, which has no line break."""
        if self._opener.tag is None and (found := self._closes_all.search(self._seen)):
            self._ends.append((self._size - len(self._seen) + found.start(), self._size))

    def read(
        self, tools: Mapping[str, ToolSpec], *, final: bool = False, is_whole: bool = True
    ) -> Found | None:
        """Return what the block holds; None: it may end later. `is_whole`: the text was not cut off behind it."""
        whole = "".join(self._parts)
        self._parts = [whole]
        if not self._ends:
            return self._read_unclosed(whole, tools) if is_whole else ([], self._text + whole, "")
        until, end = self._ends[-1]
        body = whole[: max(until, 0)]
        raw = self._text + whole[:end]
        if self._opener.form == "xml":
            return read_xml_calls(body, self._name, tools), raw, whole[end:]
        calls = read_json_calls(body, self._opener)
        if calls == UNENDED and len(self._ends) < _ENDS and not final:
            return None
        if isinstance(calls, list) or (calls is None and len(self._ends) == 1):
            return calls or [], raw, whole[end:]
        # The fault is not an end inside a string: so the first end was the real one.
        until, end = self._ends[0]
        return malformed_call(whole[: max(until, 0)]), self._text + whole[:end], whole[end:]

    def _read_unclosed(self, whole: str, tools: Mapping[str, ToolSpec]) -> Found:
        """Read a block without an end: a provider may take the end for its stop sign and swallow it, and whole JSON is
        still a call. (In a reply that was cut off, another argument may have been missing.)"""
        if self._opener.form == "json":
            found = read_unclosed_json(whole, self._opener)
            if found is not None:
                calls, rest = found
                return calls, self._text + whole[: len(whole) - len(rest)], rest
        elif self._name is not None and (given := read_xml_arguments(whole, tools.get(self._name))):
            return [(self._name, given)], self._text + whole, ""
        return [], self._text + whole, ""


def format_call(name: str, arguments: Any, form: str) -> str:
    """Return a call as a block. Nothing in it reads as the end of one."""
    given = {} if arguments is None else arguments
    given = given if isinstance(given, dict) else {"malformed": given}
    if form == "json":
        call = json.dumps({"name": name, "arguments": given}, ensure_ascii=False)
        call = call.replace("</", r"<\/").replace("<tool", r"\u003ctool")
        return f"<tool_call>\n{call}\n</tool_call>"
    lines = [f'<arg name="{_escape(key)}">{_format_value(value)}</arg>' for key, value in given.items()]
    return "\n".join((f'<tool name="{_escape(name)}">', *lines, "</tool>"))


def _format_value(value: Any) -> str:
    text = _escape(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    # A break at either end would be read as one that only sets the value apart.
    for mark in ("\r\n", "\n"):
        coded = mark.replace("\r", "&#13;").replace("\n", "&#10;")
        if text.startswith(mark):
            text = coded + text[len(mark) :]
        if text.endswith(mark):
            text = text[: -len(mark)] + coded
    return text


def _escape(text: str) -> str:
    return text.translate({ord(sign): f"&{name};" for name, sign in _ENTITIES.items() if name != "apos"})
