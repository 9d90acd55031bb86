"""The coding agents that we know: where their settings stand, and how our hooks and our server stand in them.

Pure: texts in, texts out. Invariant: what is added can be removed again to the byte, which is checked before it is
added; a change that cannot promise this raises ValueError.
"""

from __future__ import annotations

import re

from looseleaf.base.immutable import frozen
from looseleaf.base.origins import NAMES, WRITERS
from looseleaf.integrations import json_edit, toml_edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal


NAME = "looseleaf"
"""Of our server: by that name the hooks recognize our tools."""

SECONDS = 30
"""The time limit of a hook. Most take a tenth of a second; the first of a long transcript takes a few."""

_WRITING = f"({'|'.join(name for name in NAMES if name in WRITERS)})"

_CLAUDE_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt",
    "PreToolUse": "pre-tool",
    "PreCompact": "pre-compact",
    "Stop": "stop",
    "SessionEnd": "stop",
}
"""The end of a session calls `stop` again: the transcript is often written after the last answer."""

_GEMINI_EVENTS = {
    "SessionStart": "session-start",
    "BeforeAgent": "user-prompt",
    "BeforeTool": "pre-tool",
    "AfterAgent": "stop",
    "SessionEnd": "stop",
}
"""Not `PreCompress`: it fires before every request, whether or not anything is shortened."""

_CLAUDE_MATCHER = {"PreToolUse": f"mcp__(plugin_{NAME}_)?{NAME}__{_WRITING}"}


@frozen
class Hooks:
    """How an agent calls hooks. Places are of the user and of a project; `last_limit` is for the last event.
    Matchers: the tools that `pre-tool` covers are only ours that write, since the agent waits for a hook."""

    user: str
    project: str
    events: Mapping[str, str]
    matchers: Mapping[str, str]
    limit: int = SECONDS
    last_limit: int | None = None


@frozen
class Server:
    """How an agent names an MCP server: the places, the members above it, and the form of the command."""

    user: str
    project: str | None
    above: tuple[str, ...] = ("mcpServers",)
    """In the user's file; in the project's, `project_above` if that is another."""
    project_above: tuple[str, ...] | None = None
    form: Literal["plain", "stdio", "at once", "local", "env"] = "plain"


@frozen
class CodingAgent:
    """A program that can use a memory. It is on this machine if `program` is on PATH, or `folder` is there."""

    name: str
    title: str
    program: str
    folder: str
    server: Server
    hooks: Hooks | None = None


AGENTS = {
    each.name: each
    for each in (
        CodingAgent(
            "claude",
            "Claude Code",
            "claude",
            "{claude}",
            Server(
                "{claude_json}",
                "{claude_json}",
                project_above=("projects", "{here}", "mcpServers"),  # what it calls the local scope
                form="at once",
            ),
            Hooks(
                "{claude}/settings.json",
                "{here}/.claude/settings.local.json",
                _CLAUDE_EVENTS,
                _CLAUDE_MATCHER,
            ),
        ),
        CodingAgent(
            "codex",
            "Codex",
            "codex",
            "{codex}",
            Server("{codex}/config.toml", "{here}/.codex/config.toml", ("mcp_servers",)),
            Hooks(
                "{codex}/hooks.json",
                "{here}/.codex/hooks.json",
                _CLAUDE_EVENTS,
                _CLAUDE_MATCHER,
                last_limit=3,  # the most that Codex allows at the end
            ),
        ),
        CodingAgent(
            "gemini",
            "Gemini CLI",
            "gemini",
            "{home}/.gemini",
            Server("{home}/.gemini/settings.json", "{here}/.gemini/settings.json"),
            Hooks(
                "{home}/.gemini/settings.json",
                "{here}/.gemini/settings.json",
                _GEMINI_EVENTS,
                {"BeforeTool": f"mcp_{NAME}_{_WRITING}"},
                limit=SECONDS * 1000,
            ),
        ),
        CodingAgent(
            "qwen",
            "Qwen Code",
            "qwen",
            "{home}/.qwen",
            Server("{home}/.qwen/settings.json", "{here}/.qwen/settings.json"),
        ),
        CodingAgent(
            "opencode",
            "opencode",
            "opencode",
            "{config}/opencode",
            Server("{config}/opencode/opencode.json", "{here}/opencode.json", ("mcp",), form="local"),
        ),
        CodingAgent(
            "cursor",
            "Cursor",
            "cursor",
            "{home}/.cursor",
            Server("{home}/.cursor/mcp.json", "{here}/.cursor/mcp.json"),
        ),
        CodingAgent(
            "zed",
            "Zed",
            "zed",
            "{config}/zed",
            Server(
                "{config}/zed/settings.json", "{here}/.zed/settings.json", ("context_servers",), form="env"
            ),
        ),
        CodingAgent(
            "vscode",
            "VS Code",
            "code",
            "{code}",
            Server("{code}/mcp.json", "{here}/.vscode/mcp.json", ("servers",), form="stdio"),
        ),
        CodingAgent(
            "windsurf",
            "Windsurf",
            "windsurf",
            "{home}/.codeium/windsurf",
            Server("{home}/.codeium/windsurf/mcp_config.json", None),
        ),
    )
}


def folders(home: str, here: str, platform: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the folders that the places above begin with."""
    config = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    claude = environ.get("CLAUDE_CONFIG_DIR")
    return {
        "home": home,
        "here": here,
        "config": config,
        "code": f"{home}/Library/Application Support/Code/User"
        if platform == "darwin"
        else f"{config}/Code/User",
        "claude": claude or f"{home}/.claude",
        "claude_json": f"{claude or home}/.claude.json",
        "codex": environ.get("CODEX_HOME") or f"{home}/.codex",
    }


# --- our hooks ---------------------------------------------------------------------------

_OURS = re.compile(
    r"(?:^|[\s/\"'])looseleaf[\"']?\s.*?hook (?:session-start|user-prompt|pre-tool|pre-compact|stop)\s*$"
)


def with_hooks(text: str | None, hooks: Hooks, command: str) -> str:
    """Return the settings with our hooks: existing ones get this command, missing ones are added at the end."""
    made = text
    for event, ours in hooks.events.items():
        wanted = f"{command} hook {ours}"
        own = our_hooks(made, hooks, event)
        if own:
            group, entry = own[0]
            made = json_edit.add(made, ("hooks", event, group, "hooks", entry, "command"), wanted)
        else:
            made = json_edit.add(made, ("hooks", event), _group(hooks, event, wanted), is_element=True)
    assert made is not None
    if without_hooks(made, hooks) != without_hooks(text, hooks):
        raise ValueError("its layout is not supported")
    return made


def _group(hooks: Hooks, event: str, command: str) -> dict[str, Any]:
    group = {"matcher": hooks.matchers[event]} if event in hooks.matchers else {}
    is_last = hooks.last_limit is not None and event == [*hooks.events][-1]
    limit = hooks.last_limit if is_last else hooks.limit
    return group | {"hooks": [{"type": "command", "command": command, "timeout": limit}]}


def without_hooks(text: str | None, hooks: Hooks) -> str | None:
    """Return the settings without our hooks, and without groups that this leaves empty."""
    for event in [*hooks.events][::-1]:
        while own := our_hooks(text, hooks, event):
            assert text is not None
            group, entry = own[-1]
            node = json_edit.parse(text).member("hooks").member(event).parts[group]
            is_whole = len(node.member("hooks").parts) == 1 and node.value.keys() <= {"hooks", "matcher"}
            path = ("hooks", event, group)
            text = json_edit.remove(text, path if is_whole else (*path, "hooks", entry))
    return text


def our_hooks(text: str | None, hooks: Hooks, event: str) -> list[tuple[int, int]]:
    """Return where our hooks of an event stand: the number of the group, and of the entry in it."""
    return [
        (at, number)
        for at, group in enumerate(_groups(text, event))
        for number, entry in enumerate(group.get("hooks", ()))
        if isinstance(entry, dict) and _OURS.search(str(entry.get("command", "")))
    ]


def our_commands(text: str | None, hooks: Hooks) -> list[str]:
    """Return the commands at any of our events that seem to be ours, also broken ones."""
    entries = [
        entry for event in hooks.events for group in _groups(text, event) for entry in group.get("hooks", ())
    ]
    commands = [str(entry.get("command", "")) for entry in entries if isinstance(entry, dict)]
    return [each for each in commands if NAME in each and " hook " in each]


def _groups(text: str | None, event: str) -> list[dict[str, Any]]:
    """Return the groups of hooks of an event; ValueError where they do not have the form that agents read."""
    if text is None or json_edit.is_blank(text):
        return []
    root = json_edit.parse(text).value
    hooks = root.get("hooks", {}) if isinstance(root, dict) else None
    groups = hooks.get(event, []) if isinstance(hooks, dict) else None
    if isinstance(groups, list) and all(
        isinstance(group, dict) and isinstance(group.get("hooks", []), list) for group in groups
    ):
        return groups
    raise ValueError("its `hooks` do not have the form that the agent reads")


# --- our server --------------------------------------------------------------------------


def entry_of(server: Server, command: list[str]) -> dict[str, Any]:
    """Return what an agent is told about our server."""
    if server.form == "local":
        return {"type": "local", "command": command, "enabled": True}
    plain = {"command": command[0], "args": command[1:]}
    if server.form in ("stdio", "at once"):
        # With `alwaysLoad`, the first request has our tools also where the agent defers others.
        return {"type": "stdio"} | plain | ({"alwaysLoad": True} if server.form == "at once" else {})
    return plain | ({"env": {}} if server.form == "env" else {})


def with_server(text: str | None, above: tuple[str, ...], entry: dict[str, Any], *, is_toml: bool) -> str:
    """Return the settings with our server; one that is there gets this command and keeps the rest."""
    path = (*above, NAME)
    if is_toml:
        made = toml_edit.with_table(text, path, entry)
    elif _is_there(text, path):
        made = text or ""
        for key, value in entry.items():
            made = json_edit.add(made, (*path, key), value)
    else:
        made = json_edit.add(text, path, entry)
    if without_server(made, above, is_toml=is_toml) != without_server(text, above, is_toml=is_toml):
        raise ValueError("its layout is not supported")
    return made


def without_server(text: str | None, above: tuple[str, ...], *, is_toml: bool) -> str | None:
    path = (*above, NAME)
    if text is None or json_edit.is_blank(text):
        return text
    if is_toml:
        return toml_edit.without_tables(text, lambda name: name[: len(path)] == path)
    return json_edit.remove(text, path)


def has_server(text: str | None, above: tuple[str, ...], *, is_toml: bool) -> bool:
    path = (*above, NAME)
    if not is_toml or text is None:
        return _is_there(text, path)
    value: Any = toml_edit.parse(text)
    for each in path:
        value = value.get(each) if isinstance(value, dict) else None
    return value is not None


def _is_there(text: str | None, path: tuple[str, ...]) -> bool:
    if text is None or json_edit.is_blank(text):
        return False
    node = json_edit.parse(text)
    for each in path:
        node = node.member(each)
    return isinstance(node.value, dict)


# --- Codex asks whether a hook is trusted ------------------------------------------------


def trust_keys(text: str | None, path: str, hooks: Hooks) -> list[str]:
    """Return the names that Codex has for our hooks in its file of them."""
    return [
        f"{path}:{re.sub('(?<!^)(?=[A-Z])', '_', event).lower()}:{group}:{entry}"
        for event in hooks.events
        for group, entry in our_hooks(text, hooks, event)
    ]


def with_trust(text: str | None, hashes: Mapping[str, str]) -> str | None:
    """Return Codex's settings in which these hooks are trusted as they are now."""
    for key, value in hashes.items():
        text = toml_edit.with_table(text, ("hooks", "state", key), {"trusted_hash": value})
    return text


def without_trust(text: str | None, keys: list[str]) -> str | None:
    names = {("hooks", "state", key) for key in keys}
    return toml_edit.without_tables(text, names.__contains__) if text else text
