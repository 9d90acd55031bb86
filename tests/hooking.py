"""A coding agent as its hooks see it: what it tells them, and the transcript that it writes meanwhile."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from looseleaf.text.times import written

Hook = Callable[[str, bytes], Any]
"""Calls the hook of an event with what is on standard input; what it answered, None if nothing."""


def line(kind: str, content: Any, uuid: str, ts: float, **more: Any) -> dict[str, Any]:
    """A line of a transcript, with what is always in it."""
    message = {"role": kind, "content": content}
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/somewhere",
        "sessionId": "s",
        "version": "2.1.145",
        "type": kind,
        "message": message,
        "uuid": uuid,
        "timestamp": written(ts)[:-4] + "Z",
    } | more


class Agent:
    """One session of it. `late`: as in life, the last lines of an answer are written after the hooks were called."""

    def __init__(
        self, hook: Hook, transcript: Path, session: str = "11111111-2222", *, late: bool = False
    ) -> None:
        self._hook = hook
        self.transcript = transcript
        self.session = session
        self._late = late
        self._number = 0
        self._call = ""
        self._held: list[dict[str, Any]] = []

    def tell(self, event: str, **more: Any) -> Any:
        given = {"session_id": self.session, "transcript_path": str(self.transcript), "cwd": "/somewhere"}
        return self._hook(event, json.dumps(given | more).encode())

    def write(self, kind: str, content: Any, **more: Any) -> dict[str, Any]:
        self._number += 1
        made = line(kind, content, f"{self.session[:4]}-{self._number:04d}", time.time()) | more
        self._put(made)
        return made

    def _put(self, *lines: dict[str, Any]) -> None:
        with self.transcript.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in lines)

    def start(self, source: str = "startup") -> str:
        told = self.tell("session-start", hook_event_name="SessionStart", source=source)
        return (
            str(told["hookSpecificOutput"]["additionalContext"])
            if told and "hookSpecificOutput" in told
            else ""
        )

    def ask(self, text: str) -> Any:
        self._put(*self._held)
        self._held = []
        prompt = f"{self.session[:4]}-prompt-{self._number:04d}"
        told = self.tell("user-prompt", hook_event_name="UserPromptSubmit", prompt=text, prompt_id=prompt)
        self.write("user", text, promptId=prompt, promptSource="typed", origin={"kind": "human"})
        return told

    def type_meanwhile(self, text: str) -> None:
        """The user types while the agent works: no hook hears it."""
        own = {"type": "queued_command", "prompt": text, "commandMode": "prompt", "origin": {"kind": "human"}}
        self.write("attachment", "", attachment=own)

    def use(self, name: str, arguments: Any, result: Any, *, is_error: bool = False) -> None:
        call = f"toolu_{self.session[:4]}_{self._number:04d}"
        self.write("assistant", [{"type": "thinking", "thinking": "Hm.", "signature": "x"}])
        self.write("assistant", [{"type": "tool_use", "id": call, "name": name, "input": arguments}])
        block = {"type": "tool_result", "tool_use_id": call, "content": result, "is_error": is_error}
        self.write("user", [block], toolUseResult={"stdout": result})

    def call(self, name: str, arguments: Any) -> None:
        """A tool's call as it begins; `end` is its result."""
        self._call = f"toolu_{self.session[:4]}_{self._number:04d}"
        self.write("assistant", [{"type": "tool_use", "id": self._call, "name": name, "input": arguments}])

    def before_tool(self) -> Any:
        return self.tell("pre-tool", hook_event_name="PreToolUse", tool_use_id=self._call)

    def end(self, result: str) -> None:
        self.write("user", [{"type": "tool_result", "tool_use_id": self._call, "content": result}])

    def say(self, text: str) -> Any:
        self._number += 1
        content = [{"type": "text", "text": text}]
        made = line("assistant", content, f"{self.session[:4]}-{self._number:04d}", time.time())
        if self._late:
            self._held.append(made)
        else:
            self._put(made)
        return self.stop(last_assistant_message=text)

    def stop(self, **more: Any) -> Any:
        return self.tell("stop", hook_event_name="Stop", stop_hook_active=False, **more)

    def compact(self) -> Any:
        return self.tell("pre-compact", hook_event_name="PreCompact", trigger="auto", custom_instructions="")
