"""What the model of a coding agent does, by a script: rules that map what the user said to calls and texts.

    provider.brain = Script({"list the folder": [shell("ls"), "I listed it."]})

The rule that plays is the first whose pattern is found in what the user said last. Its steps are played one by one, one
for each request since then; a step is a text, which ends the turn, or a call. Without a rule the answer is a text that
no other request gets, so that none of them can be lost unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wires.terms import Answer, Asked

SHELLS = {"Bash": "command", "exec_command": "cmd", "run_shell_command": "command", "bash": "command"}
"""The tool that runs a command, in each client, and the argument that takes it."""

_WAITS, _SEARCHES = "WaitForMcpServers", ("ToolSearch", "tool_search")
"""Tools of Claude Code and Qwen Code: to wait for a server that still starts, and to ask for tools that they do not
offer at once."""
_OURS = "select:mcp__looseleaf__remember,mcp__looseleaf__recall"

_INJECTED = re.compile(
    r"<(system-reminder|environment_context|user_instructions|subagent_notification)>.*?</\1>|^Tool loaded\.$",
    re.DOTALL,
)
"""What clients say in the user's name."""
_COMPACTING = re.compile(r"Respond with TEXT ONLY|CONTEXT CHECKPOINT COMPACTION")
SUMMARY = "<analysis>a</analysis><summary>They talked about the garden.</summary>"


@dataclass(frozen=True)
class Call:
    """A call of the offered tool whose name the pattern matches; `say`: what the model says before it. Arguments may be
    made from the last result."""

    tool: str
    arguments: dict[str, Any] | Callable[[str], dict[str, Any]]
    say: str = ""


Step = str | Call
Rules = Mapping[str, Sequence[Step]]


def shell(command: str, say: str = "") -> Call:
    return Call("|".join(SHELLS), {"command": command}, say)


def remember(content: str, topic: str = "user", say: str = "") -> Call:
    return Call(r".*remember", {"topic": topic, "content": content}, say)


class Script:
    """Rules by pattern. Called in the threads of the provider, and keeps nothing."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = dict(rules or {})

    def __call__(self, asked: Asked) -> Answer:
        said, calls, result = _turn(asked)
        if _COMPACTING.search(said):
            return Answer(SUMMARY)
        steps = next((steps for pattern, steps in self.rules.items() if re.search(pattern, said)), None)
        if steps is None:
            return Answer(f"Understood, {asked.number}.")
        wanted = {step.tool for step in steps if isinstance(step, Call)}
        made = sum(name in wanted or name not in (_WAITS, *_SEARCHES) for name in calls)
        step = steps[min(made, len(steps) - 1)]
        if isinstance(step, str):
            return Answer(step.replace("{result}", result))
        return Answer(step.say, calls=[_call(asked, step, result)])


def _turn(asked: Asked) -> tuple[str, list[str], str]:
    """What the user said last, the calls since (of several at once, the first), and the last result."""
    said, calls, result, before = "", list[str](), "", ""
    for kind, text in asked.course:
        if kind == "user" and (own := _INJECTED.sub("", text).strip()):
            said, calls, result = own, [], ""
        elif kind == "result":
            result = text
        elif kind == "call" and before != "call":
            calls.append(text)
        before = kind
    return said, calls, result


def _call(asked: Asked, step: Call, result: str) -> tuple[str, dict[str, Any]]:
    arguments = step.arguments(result) if callable(step.arguments) else step.arguments
    name = next((each for each in asked.tools if re.fullmatch(step.tool, each)), None)
    if name is None:
        if _WAITS in asked.tools:
            return _WAITS, {}
        for search in _SEARCHES:
            if search in asked.tools and ("call", search) not in asked.course:
                return search, {"query": _OURS, "max_results": 5}
        return step.tool, arguments
    if name not in SHELLS:
        return name, arguments
    described = {"description": "A command"} if "description" in _members(asked.tools[name]) else {}
    return name, {SHELLS[name]: arguments["command"]} | described


def _members(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema.get("properties", {})
    return found
