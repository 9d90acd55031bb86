"""The plugin for Claude Code: its hooks are those that we install, and its commands name tools that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

from looseleaf.base.origins import PREFIXES, bare_name
from looseleaf.base.version import VERSION
from looseleaf.integrations.agent_settings import AGENTS, with_hooks
from looseleaf.tools.catalogue import TOOLS

TOP = Path(__file__).parents[2] / "integrations"
PLUGIN = TOP / "claude-plugin"


def test_its_hooks_are_those_that_are_installed() -> None:
    hooks = AGENTS["claude"].hooks
    assert hooks is not None
    assert (PLUGIN / "hooks/hooks.json").read_text() == with_hooks(None, hooks, "looseleaf")


def test_its_server_is_ours_and_its_version_is_that_of_the_package() -> None:
    servers = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]
    assert servers == {"looseleaf": {"command": "looseleaf", "args": ["mcp"], "alwaysLoad": True}}
    about = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text())
    assert (about["name"], about["version"]) == ("looseleaf", VERSION)
    assert f"mcp__plugin_{about['name']}_looseleaf__" in PREFIXES
    [offered] = json.loads((TOP / ".claude-plugin/marketplace.json").read_text())["plugins"]
    assert (TOP / offered["source"]).resolve() == PLUGIN


def test_its_commands_may_call_tools_that_there_are() -> None:
    commands = {path.stem: path.read_text() for path in (PLUGIN / "commands").glob("*.md")}
    assert set(commands) == {"remember", "recall", "memory"}
    for text in commands.values():
        allowed = re.findall(r"mcp__\w+", text.split("---")[1])
        assert {bare_name(name) for name in allowed} <= set(TOOLS)
        assert any(name.startswith(PREFIXES[1]) for name in allowed)
