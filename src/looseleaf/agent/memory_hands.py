"""The memory's own tools, as an agent's hands."""

from __future__ import annotations

from functools import partial

from looseleaf.agent.tool_runner import Hand
from looseleaf.base.errors import Refused
from looseleaf.base.replies import ToolSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.memory import Memory


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
