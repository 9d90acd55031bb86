"""The server of a memory for HTTP (http.py): the official SDK speaks the protocol, in both of its eras.

What a client finds and gets is the same over standard input and output (stdio.py), where starting fast matters more
than all that the SDK can do.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused, to_get
from looseleaf.serve.answers import result_of
from looseleaf.serve.offered import (
    INFO,
    INSTRUCTIONS,
    PROMPTS,
    READING,
    TEMPLATES,
    WRITING,
    error_result,
    list_tools,
    offered_tools,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from looseleaf.memory import Memory

    Act = Callable[[Memory], dict[str, Any]]
    Keeper = Callable[[Act], Awaitable[dict[str, Any]]]
    """Runs an act on a memory, in that memory's thread."""

try:
    import mcp_types as types
    from mcp.server import Server
    from mcp.shared.exceptions import MCPError
except ImportError:  # also for an older version
    raise Refused(
        f"No server was started: over HTTP it needs the package mcp, which is missing or too old. Install it with "
        f"{to_get('mcp')}."
    ) from None


_RESULTS = {
    "tools/call": types.CallToolResult,
    "resources/list": types.ListResourcesResult,
    "resources/read": types.ReadResourceResult,
    "prompts/get": types.GetPromptResult,
}


def server(
    keeper_of: Callable[[Any], Keeper], *, read_only: bool = False, write_only: bool = False
) -> Server[Any]:
    """Return a server. `keeper_of` returns who keeps the memory that a request is for, from the context of the request.
    `read_only`: only with tools that change nothing; `write_only`: only with tools that tell nothing, and without
    resources and prompts."""
    tools = offered_tools(read_only=read_only, write_only=write_only)

    async def ask_memory(asked: Any, _: Any) -> Any:
        method, params, keeper = asked.method, asked.params or {}, keeper_of(asked)
        try:
            result = await keeper(
                lambda memory: result_of(memory, method, params, read_only=read_only, write_only=write_only)
            )
        except Refused as refused:
            if method != "tools/call":
                raise MCPError(types.INVALID_PARAMS, str(refused)) from refused
            result = error_result(str(refused))
        return _RESULTS[method].model_validate(result)

    def answer_with(result: Any) -> Any:
        async def answer(_: Any, __: Any) -> Any:
            return result

        return answer

    offered = list_tools(read_only=read_only, write_only=write_only)
    listed = types.ListToolsResult.model_validate({"tools": offered})
    templates = types.ListResourceTemplatesResult.model_validate({"resourceTemplates": TEMPLATES})
    prompts = types.ListPromptsResult.model_validate({"prompts": PROMPTS})
    telling: dict[str, Any] = {
        "on_list_resources": ask_memory,
        "on_list_resource_templates": answer_with(templates),
        "on_read_resource": ask_memory,
        "on_list_prompts": answer_with(prompts),
        "on_get_prompt": ask_memory,
    }
    return Server(
        INFO["name"],
        version=INFO["version"],
        title=INFO["title"],
        instructions=READING if read_only else WRITING if write_only else INSTRUCTIONS,
        get_tool_input_schema=lambda name: tools[name].parameters if name in tools else None,
        on_list_tools=answer_with(listed),
        on_call_tool=ask_memory,
        **({} if write_only else telling),
    )
