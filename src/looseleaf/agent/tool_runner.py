"""Functions offered to a model as tools, and calls of them that run side by side.

A function's schema is read from its signature (names, types, defaults), its description from the first part of its
docstring. Whatever a tool raises or returns, its call has a result that the log can hold.
"""

from __future__ import annotations

import json
import re
import time
from functools import partial

from looseleaf.agent.events import ToolReturned
from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.replies import ToolSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from queue import SimpleQueue
    from typing import Any

    from looseleaf.base.messages import ToolCallSpec
    from looseleaf.memory import Memory
    from looseleaf.tools.tool import Tool


_LONGEST = 2000
"""Characters of a tool's error message."""

_DEEPEST = 100
"""Nesting levels of a result that is kept as a value; a deeper one is kept as text."""

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')


class OfferedTools:
    """The tools of an agent, by name."""

    def __init__(self, tools: Sequence[OfferedTool]) -> None:
        self._tools = {each.spec.name: each for each in tools}
        if len(self._tools) < len(tools):
            names = [each.spec.name for each in tools]
            twice = next(name for name in names if names.count(name) > 1)
            raise Invalid(f"No agent was made: two tools are called {twice}. Give one of them another name.")
        self._validators: dict[str, Any] = {}
        self.specs = tuple(each.spec for each in tools)

    def run(self, call: ToolCallSpec) -> ToolReturned:
        """Run one call."""
        tool = self._tools.get(call.name)
        try:
            if tool is None:
                known = ", ".join(self._tools) or "none"
                raise NotFound(f"Nothing was done: there is no tool {call.name!r}. There are: {known}.")
            fault = self._find_fault(tool, call)
            if fault is not None:
                return ToolReturned(call, error=fault)
            return ToolReturned(call, writable(_await_result(tool.run(**call.arguments))), is_own=tool.own)
        except Refused as refused:
            return ToolReturned(call, error=str(refused), is_own=self.is_own(call))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and self.is_own(call):
                raise  # meant for the agent: the memory's tools run in its thread
            return ToolReturned(call, error=_error_text(error))

    def is_own(self, call: ToolCallSpec) -> bool:
        return call.name in self._tools and self._tools[call.name].own

    def _find_fault(self, tool: OfferedTool, call: ToolCallSpec) -> str | None:
        """Return why a call cannot run, in a sentence that a model can act on; None if it can."""
        if not isinstance(call.arguments, dict):
            return (
                f"Nothing was done: the arguments of {call.name} are not a JSON object. Call it again with one that "
                f"keeps to its schema: {json.dumps(tool.spec.parameters, ensure_ascii=False)}"
            )
        try:
            error = next(iter(self._load_validator(tool.spec).iter_errors(call.arguments)), None)
        except (ValueError, RecursionError):  # half a character, a number beyond all others
            return f"Nothing was done: the arguments of {call.name} are not JSON. Call it again with others."
        if error is None:
            return None
        where = ".".join(str(part) for part in error.instance_path)
        said = f"{where}: {error.message}" if where else error.message
        wrong = f"{call.name} was called wrongly: {said[:_LONGEST]}"
        return f"Nothing was done: {wrong}. Call it again as its schema says."

    def _load_validator(self, spec: ToolSpec) -> Any:
        if spec.name not in self._validators:
            from jsonschema_rs import Draft202012Validator

            self._validators[spec.name] = Draft202012Validator(spec.parameters)
        return self._validators[spec.name]


class Running:
    """Calls that run side by side. Iterating yields their results as they come, until all are there, the time is up, or
    `wake` is called; `left` are then the calls without a result."""

    def __init__(
        self, tools: OfferedTools, calls: Sequence[ToolCallSpec], seconds: float, late: SimpleQueue[Any]
    ) -> None:
        from queue import SimpleQueue
        from threading import Lock

        self._tools = tools
        self._late = late
        self._until = time.monotonic() + seconds
        self._is_over = False
        self.left: list[ToolCallSpec] = list(calls)
        self._came: SimpleQueue[ToolReturned | None] = SimpleQueue()
        self._ending = Lock()

    def start(self) -> None:
        from threading import Thread

        for call in self.left:
            if not self._tools.is_own(call):
                Thread(target=self._work, args=(call,), name=f"tool {call.name}", daemon=True).start()

    def _work(self, call: ToolCallSpec) -> None:
        returned = self._tools.run(call)
        with self._ending:
            (self._late if self._is_over else self._came).put(returned)

    def wake(self) -> None:
        """End the wait."""
        self._came.put(None)

    def __iter__(self) -> Iterator[ToolReturned]:
        from queue import Empty

        for call in [each for each in self.left if self._tools.is_own(each)]:
            returned = self._tools.run(call)
            self.left.remove(call)
            yield returned
        while self.left:
            try:
                came = self._came.get(timeout=max(0.0, self._until - time.monotonic()))
            except Empty:
                break
            if came is None:
                break
            self.left.remove(came.call)
            yield came
        yield from self._drain()

    def _drain(self) -> Iterator[ToolReturned]:
        """End the wait and yield what just came; later results are late."""
        with self._ending:
            self._is_over = True
        while not self._came.empty():
            came = self._came.get()
            if came is not None:
                self.left.remove(came.call)
                yield came

    def give_up(self) -> list[ToolReturned]:
        """End the wait and return the results that came and were not yielded."""
        return list(self._drain())


def _await_result(result: Any) -> Any:
    """Return the result of an asynchronous tool: each call has its own thread, and may wait there."""
    from inspect import iscoroutine

    if not iscoroutine(result):
        return result
    import asyncio

    return asyncio.run(result)


def writable(value: Any) -> Any:
    """Return a value that the log can hold: the value itself, or its text."""
    try:
        written = json.dumps(value, allow_nan=False)
        if _is_shallow(written):
            return json.loads(written)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return str(value)
    except RecursionError:
        return "(nested too deeply to be written down)"


def _is_shallow(written: str) -> bool:
    """True if JSON nests little enough for the log."""
    depth = 0
    for each in _BRACKETS.findall(written):
        depth += 1 if each in "[{" else -1 if each in "]}" else 0
        if depth > _DEEPEST:
            return False
    return True


def _error_text(error: BaseException) -> str:
    try:
        said = " ".join(str(error).split())[:_LONGEST]
    except BaseException:  # noqa: BLE001 - even this is foreign code
        said = "it cannot say what"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


@frozen
class OfferedTool:
    """A function with the schema that a model sees. `run(**arguments)` returns the result, or raises. `own`: a tool of
    the memory, which runs in the agent's thread and whose answer is no news."""

    spec: ToolSpec
    run: Callable[..., Any]
    own: bool = False


def offer(given: Callable[..., Any] | OfferedTool) -> OfferedTool:
    """Return a given tool as an `OfferedTool`. A docstring describes it up to its first empty line."""
    if isinstance(given, OfferedTool):
        return given
    if not str(getattr(given, "__name__", "")).isidentifier() or not callable(given):
        raise Invalid(
            f"No agent was made: {given!r} is not a tool. Give a function with a name, or an OfferedTool with a schema."
        )
    about = " ".join((given.__doc__ or "").strip().partition("\n\n")[0].split())
    return OfferedTool(ToolSpec(given.__name__, about, schema_of(given)), given)


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the JSON Schema of a function's arguments."""
    from inspect import Parameter, signature
    from typing import get_type_hints

    hints = get_type_hints(function)
    members: dict[str, Any] = {}
    needed: list[str] = []
    is_open = False
    for name, parameter in signature(function).parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            is_open = True
        elif parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL):
            raise Invalid(
                f"No agent was made: {function.__name__} takes {name} by position, and a model gives arguments by "
                "name. Make it a keyword argument."
            )
        else:
            members[name] = _type_schema(hints.get(name))
            if parameter.default is Parameter.empty:
                needed.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": members}
    schema |= {"required": needed} if needed else {}
    return schema if is_open else schema | {"additionalProperties": False}


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", list: "array"}


def _type_schema(hint: Any) -> dict[str, Any]:
    """Return the schema of a type; an empty one where a schema cannot express it."""
    from types import NoneType, UnionType
    from typing import Annotated, Literal, Union, get_args, get_origin

    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        notes = [each for each in inside[1:] if isinstance(each, str)]
        return _type_schema(inside[0]) | ({"description": notes[0]} if notes else {})
    if origin is Literal:
        return {"enum": list(inside)}
    if origin in (Union, UnionType):
        kinds = [_type_schema(each) for each in inside if each is not NoneType]
        if len(kinds) < len(inside):
            kinds.append({"type": "null"})
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if origin in (list, tuple, set, frozenset) or hint in (tuple, set, frozenset):
        items = [each for each in inside if each is not Ellipsis]
        return {"type": "array"} | ({"items": _type_schema(items[0])} if items else {})
    if origin is dict:
        return {"type": "object"} | ({"additionalProperties": _type_schema(inside[1])} if inside else {})
    return {"type": _PLAIN[hint]} if hint in _PLAIN else {}


def offer_memory_tool(tool: Tool, run: Callable[..., Any]) -> OfferedTool:
    return OfferedTool(ToolSpec(tool.name, tool.description, tool.parameters), run, own=True)


def tools_of(memory: Memory) -> list[OfferedTool]:
    """Return the memory's own tools."""
    from looseleaf.tools.catalogue import TOOLS
    from looseleaf.tools.toolset import call

    def run(tool: str, /, **arguments: Any) -> str:
        answer = call(memory, tool, arguments)
        if answer.is_error:
            raise Refused(answer.text)
        return answer.text

    return [offer_memory_tool(each, partial(run, each.name)) for each in TOOLS.values()]
