"""Anthropic's memory tool over the pages of a memory, for its SDK.

    with Memory() as memory:
        client.beta.messages.tool_runner(tools=[LooseleafMemoryTool(memory)], …)

The commands are in `looseleaf.integrations.anthropic_commands`, with `DEFINITION` and `run` for a loop without the SDK.

Invariant: every command gets a sentence, as a result or as the SDK's `ToolError`.
"""

from __future__ import annotations

from threading import Lock

from looseleaf.base.errors import Refused, to_get
from looseleaf.integrations.anthropic_commands import run

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anyio.to_thread import run_sync
except ImportError:
    raise Refused(
        f"The memory tool needs Anthropic's SDK, which is not installed. Run {to_get('anthropic')}, and try again."
    ) from None

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from looseleaf.memory import Memory


class _Commands:
    """A memory that runs one command at a time, from any thread."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._one = Lock()

    def __call__(self, input: object) -> str:
        asked: Mapping[str, Any] = input if isinstance(input, dict) else {}
        if hasattr(input, "to_dict"):  # a command of the SDK
            asked = input.to_dict(mode="json")
        with self._one:
            answer = run(self._memory, asked)
        if answer.is_error:
            raise ToolError(answer.text)
        return answer.text


class LooseleafMemoryTool(BetaAbstractMemoryTool):  # type: ignore[misc]
    """The memory tool for a synchronous client. `cache_control` goes into the tool's definition."""

    def __init__(self, memory: Memory, *, cache_control: Any = None) -> None:
        super().__init__(cache_control=cache_control)
        self._commands = _Commands(memory)

    def call(self, input: object) -> str:
        return self._commands(input)

    def _run(self, command: Any) -> str:
        return self._commands(command)

    view = create = str_replace = insert = delete = rename = _run


class LooseleafAsyncMemoryTool(BetaAsyncAbstractMemoryTool):  # type: ignore[misc]
    """The memory tool for an async client: each command runs in a thread."""

    def __init__(self, memory: Memory, *, cache_control: Any = None) -> None:
        super().__init__(cache_control=cache_control)
        self._commands = _Commands(memory)

    async def call(self, input: object) -> str:
        return await self._run(input)

    async def _run(self, command: Any) -> str:
        # A started command is finished, even if the caller is gone.
        done: str = await run_sync(self._commands, command)
        return done

    view = create = str_replace = insert = delete = rename = _run
