"""A hand: something that an agent can do, offered to a model as a tool. A plain function becomes one.

The schema is read off the function's signature: names, types, defaults; its description is the docstring's first part.
"""

from __future__ import annotations

import json
import re
import time
from functools import partial
from itertools import islice

from looseleaf.agent.events import ToolReturned
from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.replies import ToolSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from queue import SimpleQueue
    from typing import Any

    from looseleaf.base.messages import ToolCallSpec
    from looseleaf.base.replies import ToolSpec
    from looseleaf.memory import Memory


# Hands: the tools of an agent, and calls of them that run side by side.

_LONGEST = 2000
"""Characters of what a tool said when it failed."""

_DEEPEST = 100
"""Levels of a result that is kept as a value; a deeper one is kept as its text."""

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')


class Hands:
    def __init__(self, hands: Sequence[Hand]) -> None:
        self._hands = {each.name: each for each in hands}
        if len(self._hands) < len(hands):
            names = [each.name for each in hands]
            twice = next(name for name in names if names.count(name) > 1)
            raise Refused(f"No agent was made: two tools are called {twice}. Give one of them another name.")
        self._validators: dict[str, Any] = {}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(each.spec for each in self._hands.values())

    def run(self, call: ToolCallSpec) -> ToolReturned:
        """Carry one call out."""
        hand = self._hands.get(call.name)
        try:
            fault = self._fault(call)
            if fault is not None:
                return ToolReturned(call, error=fault)
            assert hand is not None
            return ToolReturned(call, writable(_awaited(hand.run(**call.arguments))), is_own=hand.own)
        except Refused as refused:
            return ToolReturned(call, error=str(refused), is_own=hand is not None and hand.own)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and hand is not None and hand.own:
                raise  # it was for us: own tools run in the agent's thread
            return ToolReturned(call, error=_told(error))

    def is_own(self, call: ToolCallSpec) -> bool:
        return call.name in self._hands and self._hands[call.name].own

    def _fault(self, call: ToolCallSpec) -> str | None:
        """Why a call cannot be carried out, in a sentence that a model can act on."""
        hand = self._hands.get(call.name)
        if hand is None:
            known = ", ".join(self._hands) or "none"
            return f"Nothing was done: there is no tool {call.name!r}. There are: {known}."
        if not isinstance(call.arguments, dict):
            return (
                f"Nothing was done: the arguments of {call.name} are no JSON object. Call it again, with one that "
                f"keeps to its schema: {json.dumps(hand.spec.parameters, ensure_ascii=False)}"
            )
        try:
            errors = list(islice(self._validator(hand).iter_errors(call.arguments), 1))
        except (ValueError, RecursionError):  # half a character, a number beyond all others
            return f"Nothing was done: the arguments of {call.name} are no JSON. Call it again with others."
        for error in errors:
            where = ".".join(str(part) for part in error.instance_path)
            said = f"{where}: {error.message}" if where else error.message
            wrong = f"{call.name} was called wrongly: {said[:_LONGEST]}"
            return f"Nothing was done: {wrong}. Call it again as its schema says."
        return None

    def _validator(self, hand: Hand) -> Any:
        if hand.name not in self._validators:
            from jsonschema_rs import Draft202012Validator

            self._validators[hand.name] = Draft202012Validator(hand.spec.parameters)
        return self._validators[hand.name]


class Running:
    """Calls that run side by side. Iterating gives what comes of them, as it comes, until all are answered, the time is
    over, or `wake` is called; `left` are then those that nothing has come of."""

    def __init__(
        self, hands: Hands, calls: Sequence[ToolCallSpec], seconds: float, late: SimpleQueue[Any]
    ) -> None:
        self._hands = hands
        self._late = late
        self._until = time.monotonic() + seconds
        self._is_over = False
        self.left: list[ToolCallSpec] = list(calls)
        from queue import SimpleQueue
        from threading import Lock

        self._came: SimpleQueue[ToolReturned | None] = SimpleQueue()
        self._ending = Lock()

    def start(self) -> None:
        from threading import Thread

        for call in self.left:
            if not self._hands.is_own(call):
                Thread(target=self._work, args=(call,), name=f"tool {call.name}", daemon=True).start()

    def _work(self, call: ToolCallSpec) -> None:
        returned = self._hands.run(call)
        with self._ending:
            (self._late if self._is_over else self._came).put(returned)

    def wake(self) -> None:
        """End the waiting."""
        self._came.put(None)

    def __iter__(self) -> Iterator[ToolReturned]:
        from queue import Empty

        for call in [each for each in self.left if self._hands.is_own(each)]:
            returned = self._hands.run(call)
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
        yield from self._end()

    def _end(self) -> Iterator[ToolReturned]:
        """From now on what comes is late; what came in this moment is not."""
        with self._ending:
            self._is_over = True
        while not self._came.empty():
            came = self._came.get()
            if came is not None:
                self.left.remove(came.call)
                yield came

    def give_up(self) -> list[ToolReturned]:
        """Nobody waits any more: what had come by then, and was not asked for."""
        return list(self._end())


def _awaited(result: Any) -> Any:
    """What an asynchronous tool gives in the end: each runs in a thread of its own, and may wait there."""
    from inspect import iscoroutine

    if not iscoroutine(result):
        return result
    import asyncio

    return asyncio.run(result)


def writable(value: Any) -> Any:
    """A value that can be written down: as it is, or as what it says of itself."""
    try:
        written = json.dumps(value, allow_nan=False)
        if _is_flat(written):
            return json.loads(written)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return str(value)
    except RecursionError:
        return "(what nests too deep to be written down)"


def _is_flat(written: str) -> bool:
    """Whether JSON nests so little that the log takes it."""
    depth = 0
    for each in _BRACKETS.findall(written):
        depth += 1 if each in "[{" else -1 if each in "]}" else 0
        if depth > _DEEPEST:
            return False
    return True


def _told(error: BaseException) -> str:
    try:
        said = " ".join(str(error).split())[:_LONGEST]
    except BaseException:  # noqa: BLE001 - even this is somebody else's code
        said = "it cannot say what"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


@frozen
class Hand:
    """`run(**arguments)` gives the result, or raises. `own`: a tool of the memory's, which is run in the agent's own
    thread, and whose answer is no news."""

    spec: ToolSpec
    run: Callable[..., Any]
    own: bool = False

    @property
    def name(self) -> str:
        return self.spec.name


def hand(given: Callable[..., Any] | Hand) -> Hand:
    """What was given as a tool, ready to be offered."""
    if isinstance(given, Hand):
        return given
    if not str(getattr(given, "__name__", "")).isidentifier() or not callable(given):
        raise Refused(
            f"No agent was made: {given!r} is no tool. Give a function with a name, or a Hand with a schema."
        )
    return Hand(ToolSpec(given.__name__, _described(given), schema_of(given)), given)


def _described(function: Callable[..., Any]) -> str:
    """The docstring up to its first empty line, on one line."""
    return " ".join((function.__doc__ or "").strip().partition("\n\n")[0].split())


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of a function's arguments."""
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
            raise Refused(
                f"No agent was made: {function.__name__} takes {name} by its place, and a model gives arguments by "
                "their names. Make it a keyword."
            )
        else:
            members[name] = _schema(hints.get(name))
            if parameter.default is Parameter.empty:
                needed.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": members}
    if needed:
        schema["required"] = needed
    return schema if is_open else schema | {"additionalProperties": False}


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", list: "array"}


def _schema(hint: Any) -> dict[str, Any]:
    """What of a type a schema can say; nothing, where it cannot."""
    from types import NoneType, UnionType
    from typing import Annotated, Literal, Union, get_args, get_origin

    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        notes = [each for each in inside[1:] if isinstance(each, str)]
        return _schema(inside[0]) | ({"description": notes[0]} if notes else {})
    if origin is Literal:
        return {"enum": list(inside)}
    if origin in (Union, UnionType):
        kinds = [_schema(each) for each in inside if each is not NoneType]
        if len(kinds) < len(inside):
            kinds.append({"type": "null"})
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if origin in (list, tuple, set, frozenset) or hint in (tuple, set, frozenset):
        items = [each for each in inside if each is not Ellipsis]
        return {"type": "array"} | ({"items": _schema(items[0])} if items else {})
    if origin is dict:
        return {"type": "object"} | ({"additionalProperties": _schema(inside[1])} if inside else {})
    return {"type": _PLAIN[hint]} if hint in _PLAIN else {}


# The memory's own tools, as an agent's hands.


def memory_hands(memory: Memory) -> list[Hand]:
    from looseleaf.tools.toolset import TOOLS

    return [
        Hand(
            ToolSpec(each.name, each.description, each.parameters),
            partial(_call, memory, each.name),
            own=True,
        )
        for each in TOOLS.values()
    ]


def _call(memory: Memory, tool: str, /, **arguments: Any) -> str:
    """What the tool says to a model; what it refuses is an error."""
    from looseleaf.tools.toolset import call

    answer = call(memory, tool, arguments)
    if answer.is_error:
        raise Refused(answer.text)
    return answer.text
