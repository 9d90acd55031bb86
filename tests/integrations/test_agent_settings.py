"""Our hooks and our server in the settings of coding agents: put in and taken out, and all the rest is as it was."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import COSTLY, core, few
from looseleaf.base.origins import PREFIXES, WRITERS, bare_name, is_served
from looseleaf.integrations import agent_settings as forms
from looseleaf.integrations.agent_settings import (
    AGENTS,
    Hooks,
    with_hooks,
    with_server,
    without_hooks,
    without_server,
)
from looseleaf.integrations.json_edit import parse
from looseleaf.tools.catalogue import TOOLS

COMMAND = "/opt/some place/looseleaf --memory '/a b'"
OTHER = {"type": "command", "command": "say looseleaf hook stop it", "timeout": 5}
HOOKED = [agent for agent in AGENTS.values() if agent.hooks is not None]
CLAUDE, CODEX, GEMINI = (agent.hooks for agent in HOOKED if agent.hooks is not None)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
GROUPS = st.lists(
    st.fixed_dictionaries(
        {"hooks": st.lists(st.just(OTHER) | st.just({"type": "prompt", "prompt": "p"}), max_size=2)},
        optional={"matcher": st.sampled_from(["", "startup"]), "other": VALUES},
    ),
    max_size=2,
)
EVENTS = sorted({event for agent in HOOKED if agent.hooks for event in agent.hooks.events})
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": VALUES,
        "hooks": st.dictionaries(st.sampled_from([*EVENTS, "PostToolUse"]), GROUPS, max_size=3),
        "mcpServers": st.dictionaries(st.sampled_from(["files", "looseleaf2"]), VALUES, max_size=2),
    },
)
FORMS: Any = st.sampled_from(
    [{"indent": 2}, {"indent": "\t"}, {}, {"separators": (",", ":")}, {"indent": 0, "ensure_ascii": False}]
)
DRESSES = st.sampled_from(
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: f"\ufeff{text}\n",
        lambda text: f"// mine\n{text} /* end */",
        lambda text: (
            re.sub(r"\n( *)([}\]])", r", // last\n\1\2", text) if "{\n" in text and "[]" not in text else text
        ),
    ]
)


@settings(core, max_examples=few(100, COSTLY))
@given(value=SETTINGS, form=FORMS, dress=DRESSES, agent=st.sampled_from(HOOKED))
def test_hooks_and_server_are_put_in_and_taken_out_to_the_byte(
    value: dict[str, Any], form: dict[str, Any], dress: Any, agent: Any
) -> None:
    text = dress(json.dumps(value, **form))
    hooked = with_hooks(text, agent.hooks, COMMAND)
    hooks = parse(hooked).value["hooks"]
    for event, ours in agent.hooks.events.items():
        assert hooks[event][-1]["hooks"][-1]["command"] == f"{COMMAND} hook {ours}"
        assert hooks[event][:-1] == value.get("hooks", {}).get(event, [])
    both = with_server(hooked, ("mcpServers",), {"command": "x"}, is_toml=False)
    assert with_hooks(both, agent.hooks, COMMAND) == both
    assert parse(both).value.get("model") == value.get("model")
    left = without_server(both, ("mcpServers",), is_toml=False)
    assert left == hooked
    assert without_hooks(left, agent.hooks) == text
    assert without_hooks(text, agent.hooks) == text


def test_before_a_tool_only_ours_that_write_are_waited_for() -> None:
    assert {name for name, tool in TOOLS.items() if not tool.reads} == WRITERS
    for hooks in (CLAUDE, CODEX, GEMINI):
        [matcher] = hooks.matchers.values()
        matched = {
            bare_name(prefix + name)
            for prefix in PREFIXES
            for name in TOOLS
            if re.fullmatch(matcher, prefix + name)
        }
        assert matched == WRITERS
        assert not re.search(matcher, "Write")
    assert re.fullmatch(CLAUDE.matchers["PreToolUse"], "mcp__plugin_looseleaf_looseleaf__remember")


def test_a_tool_of_ours_is_known_by_the_name_that_each_agent_gives_it() -> None:
    for prefix in PREFIXES:
        assert is_served(f"{prefix}recall")
    assert not is_served("mcp__other__recall")
    assert not is_served("recall")


def test_limits_are_in_the_units_of_the_agent() -> None:
    def limits(hooks: Hooks) -> set[int]:
        groups = parse(with_hooks(None, hooks, "looseleaf")).value["hooks"].values()
        return {group["hooks"][0]["timeout"] for [group] in groups}

    assert limits(CLAUDE) == {30}
    assert limits(CODEX) == {30, 3}
    assert limits(GEMINI) == {30_000}


def test_another_command_takes_the_place_of_the_old_one_and_keeps_what_was_set_there() -> None:
    old = with_hooks(None, CLAUDE, "/old/looseleaf").replace('"timeout": 30', '"timeout": 7', 1)
    new = with_hooks(old, CLAUDE, "python -m looseleaf --agent x")
    assert new == old.replace("/old/looseleaf hook", "python -m looseleaf --agent x hook")
    assert without_hooks(new, CLAUDE) is None
    served = '{"mcpServers": {"looseleaf": {"command": "old", "env": {"A": "b"}}}}'
    assert with_server(served, ("mcpServers",), {"command": "new"}, is_toml=False) == served.replace(
        "old", "new"
    )


def test_a_group_that_says_more_than_its_hooks_is_left() -> None:
    own = {"type": "command", "command": "looseleaf hook stop"}
    text = json.dumps({"hooks": {"Stop": [{"note": "mine", "hooks": [own]}, {"hooks": [OTHER, own, own]}]}})
    left = without_hooks(text, CLAUDE)
    assert left is not None
    assert json.loads(left) == {"hooks": {"Stop": [{"note": "mine", "hooks": []}, {"hooks": [OTHER]}]}}


@pytest.mark.parametrize(
    "text",
    ["[]", "7", '{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"hooks": {"Stop": [{"hooks": 7}]}}', '{"a": 1'],
)
def test_settings_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        with_hooks(text, CLAUDE, "looseleaf")


def test_codex_trusts_exactly_our_hooks() -> None:
    text = with_hooks(json.dumps({"hooks": {"PreToolUse": [{"hooks": [OTHER]}]}}), CODEX, "looseleaf")
    keys = forms.trust_keys(text, "/c/hooks.json", CODEX)
    assert keys == [
        "/c/hooks.json:session_start:0:0",
        "/c/hooks.json:user_prompt_submit:0:0",
        "/c/hooks.json:pre_tool_use:1:0",
        "/c/hooks.json:pre_compact:0:0",
        "/c/hooks.json:stop:0:0",
        "/c/hooks.json:session_end:0:0",
    ]
    for held in ("model = 'x'\n", None, ""):
        trusted = forms.with_trust(held, dict.fromkeys(keys, "sha256:1"))
        assert forms.without_trust(trusted, keys) == held


def test_every_agent_is_told_the_command_in_its_own_words() -> None:
    told = {agent.name: forms.entry_of(agent.server, ["/bin/looseleaf", "mcp"]) for agent in AGENTS.values()}
    plain = {"command": "/bin/looseleaf", "args": ["mcp"]}
    assert told == {
        "claude": {"type": "stdio"} | plain | {"alwaysLoad": True},
        "codex": plain,
        "gemini": plain,
        "qwen": plain,
        "opencode": {"type": "local", "command": ["/bin/looseleaf", "mcp"], "enabled": True},
        "cursor": plain,
        "zed": plain | {"env": {}},
        "vscode": {"type": "stdio"} | plain,
        "windsurf": plain,
    }


def test_settings_are_where_the_environment_says() -> None:
    plain = forms.folders("/h", "/p", "linux", {})
    assert (plain["code"], plain["claude_json"], plain["codex"]) == (
        "/h/.config/Code/User",
        "/h/.claude.json",
        "/h/.codex",
    )
    assert forms.folders("/h", "/p", "darwin", {})["code"] == "/h/Library/Application Support/Code/User"
    moved = {"XDG_CONFIG_HOME": "/x", "CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/d"}
    other = forms.folders("/h", "/p", "linux", moved)
    assert (other["config"], other["claude"], other["claude_json"], other["codex"]) == (
        "/x",
        "/c",
        "/c/.claude.json",
        "/d",
    )
