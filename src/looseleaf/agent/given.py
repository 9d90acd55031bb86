"""What an agent is made of, looked at before anything is asked: a program may have mixed it up."""

from __future__ import annotations

from looseleaf.base.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
