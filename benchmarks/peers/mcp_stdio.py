"""The least of an MCP client over standard input and output: enough to call the tools of a server that is a peer."""

from __future__ import annotations

import json
import os
import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class ToolFailed(Exception):
    """The server answered that it did not do it."""


class Server:
    """A server that was started, and its tools."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: str) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=folder,
            env={**os.environ, **environment},
        )
        self._number = 0
        client = {"name": "benchmark", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._tell({"jsonrpc": "2.0", "method": "notifications/initialized"})

    @property
    def pid(self) -> int:
        return self._process.pid

    def call(self, tool: str, **arguments: Any) -> str:
        """The text that a tool answers."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(part.get("text", "") for part in result.get("content", ()))
        if result.get("isError"):
            raise ToolFailed(text)
        return text

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._tell({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number and "method" not in answer:
                if "error" in answer:
                    raise ToolFailed(answer["error"].get("message", ""))
                return dict(answer["result"])
        raise ToolFailed("the server ended")

    def _tell(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
