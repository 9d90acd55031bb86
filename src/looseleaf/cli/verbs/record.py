"""The command `record`: what was said or done, from arguments, a file or standard input.

A command or a file is read whole before the first thing of it is recorded: all of it is, or nothing.
"""

from __future__ import annotations

import json
import sys

from looseleaf.base.errors import Refused
from looseleaf.cli.output import next_step, open_memory, print_json, print_notes, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.cli.arguments import Options

STDIN = "-"

_FOR = {
    "args": ("tool_call",),
    "result": ("tool_result",),
    "call_id": ("tool_call", "tool_result"),
    "name": ("tool_result",),
    "error": ("tool_result",),
}
"""Options of `record` that go with some of its roles only."""


def record(options: Options) -> int:
    for name, roles in _FOR.items():
        if getattr(options, name) not in (None, False) and options.role not in roles:
            option = f"--{name.replace('_', '-')}"
            raise Refused(f"Nothing was recorded: {option} goes with {' or '.join(roles)}. Leave it out.")
    with open_memory(options, options.session) as memory:
        many = options.role == "jsonl"
        asked = _lines(options) if many else [_asked(options)]
        if options.session is None:
            memory.resume()
        with memory.batch() as batch:
            for each in asked:
                batch.record(**each)
        options.done = "it was recorded; "
        if options.json:
            records = [trace.to_record() for trace in batch.traces]
            print_json(records if many else records[0])
        else:
            for trace in batch.traces:
                say(" ".join((trace.turn_id, trace.id, *([trace.flag] if trace.flag else []))))
            if sys.stderr.isatty():  # programs record too, and often
                next_step(options, "`looseleaf distill` makes facts of what was said.")
        print_notes(memory)
    return 0


def _asked(options: Options) -> dict[str, Any]:
    """The arguments of `Memory.record`, of the options of one command."""
    asked: dict[str, Any] = {"turn_id": options.turn} if options.turn is not None else {}
    given = {"tool_call_id": options.call_id, "tool_name": options.name}
    asked |= {name: value for name, value in given.items() if value is not None}
    if options.role == "tool_call":
        asked["tool_call"] = _text(options, options.args).strip()
        if options.args is not None:
            asked["tool_args"] = _value("--args", options.args)
    elif options.role == "tool_result":
        if options.error:
            asked["tool_error"] = _text(options, options.result)
        elif options.result is None:
            asked["tool_result"] = _text(options)
        elif options.text is not None:
            raise Refused(
                "Nothing was recorded: the result was given twice, as text and by --result. Leave one of them out."
            )
        if options.result is not None:
            asked["tool_result"] = _value("--result", options.result)
    else:
        asked[options.role] = _text(options)
        if not asked[options.role] and options.text != "":
            raise Refused(
                "Nothing was recorded: there was nothing on standard input. Give the text there, or as an argument."
            )
    return asked


def _lines(options: Options) -> list[dict[str, Any]]:
    """The arguments of `Memory.record`, one time a line. Every line is looked at before the first is recorded."""
    from looseleaf.log.record_request import ask

    found: list[dict[str, Any]] = []
    for number, line in enumerate(given_bytes(options.text).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            members = _loaded(decoded(line, "it"), "it")
            if not isinstance(members, dict):
                raise Refused('Nothing was recorded: it is no object. Write one such as {"user": "hello"}.')
            if options.turn is not None:
                members.setdefault("turn_id", options.turn)
            ask(**members)
        except Refused as refused:
            why = str(refused).removeprefix("Nothing was recorded: ")
            raise Refused(f"Nothing was recorded: line {number}: {why}") from refused
        found.append(members)
    return found


def _text(options: Options, other: str | None = None) -> str:
    """The text that was given. `other` is a second thing that may be asked to come from standard input."""
    if options.text not in (None, STDIN):
        return str(options.text)
    if other == STDIN:
        raise Refused(
            "Nothing was recorded: two things at once cannot come from standard input. Give one as an argument."
        )
    text = decoded(given_bytes(STDIN), "standard input")
    # The line end that `echo` and the like put behind everything was not said.
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def _value(option: str, given: str) -> Any:
    return _loaded(decoded(given_bytes(STDIN), option) if given == STDIN else given, option)


def given_bytes(path: str | None, done: str = "recorded") -> bytes:
    """Of a file; or of standard input. `done`: what was not, if it cannot be read."""
    name = "standard input" if path in (None, STDIN) else str(path)
    try:
        if path not in (None, STDIN):
            with open(name, "rb") as file:
                return file.read()
        if sys.stdin is not None:
            return sys.stdin.buffer.read()
        why = "it is closed"
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        why = getattr(error, "strerror", None) or str(error)
    raise Refused(
        f"Nothing was {done}: {name} could not be read ({why}). Give what is to be {done} another way."
    )


def decoded(data: bytes, what: str, done: str = "recorded") -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Refused(
            f"Nothing was {done}: {what} is no UTF-8 text (at byte {error.start + 1}). Convert it first."
        ) from error


def _loaded(text: str, what: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        why = f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1}"
    except RecursionError:
        why = "it nests too deep"
    except ValueError as error:
        why = str(error)
    raise Refused(
        f"Nothing was recorded: {what} is no JSON ({why}). Write texts, names too, in double quotes."
    )


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")
