"""Our hooks in the settings of a coding agent: put in and taken out, and all the rest of the file is as it was."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from looseleaf.base.errors import Refused
from looseleaf.base.origins import PREFIX
from looseleaf.cli.main import main
from looseleaf.integrations import claude_settings as settings
from looseleaf.integrations.claude_settings import EVENTS, installed, parse_json, removed
from looseleaf.tools.catalogue import TOOLS
from tables import check_rows

COMMAND = "/opt/some place/looseleaf --memory '/a b'"
OTHER = {"type": "command", "command": "say looseleaf hook stop it", "timeout": 5}

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
GROUPS = st.lists(
    st.fixed_dictionaries(
        {
            "hooks": st.lists(
                st.just(OTHER) | st.just({"type": "prompt", "prompt": "p"}), min_size=1, max_size=2
            )
        },
        optional={"matcher": st.sampled_from(["", "startup"]), "other": VALUES},
    ),
    min_size=1,
    max_size=2,
)
HOOKS = st.dictionaries(st.sampled_from([*EVENTS, "PostToolUse"]), GROUPS, min_size=1, max_size=3)
SETTINGS = st.tuples(st.dictionaries(st.text(max_size=5), VALUES, max_size=3), st.none() | HOOKS).map(
    lambda both: both[0] | ({"hooks": both[1]} if both[1] is not None else {})
)
FORMS: Any = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {},
        {"separators": (",", ":")},
        {"indent": 0, "ensure_ascii": False},
    ]
)


def commands(text: str) -> dict[str, list[str]]:
    """What is called at each event."""
    hooks = json.loads(text).get("hooks", {})
    return {
        event: [entry["command"] for group in groups for entry in group["hooks"] if "command" in entry]
        for event, groups in hooks.items()
    }


@given(
    value=SETTINGS.filter(lambda value: "hooks" not in value or isinstance(value["hooks"], dict)), form=FORMS
)
def test_what_was_put_in_is_taken_out_and_nothing_else_changes(
    value: dict[str, Any], form: dict[str, Any]
) -> None:
    text = json.dumps(value, **form)
    new = installed(text, COMMAND)
    for event, ours in EVENTS.items():
        assert commands(new)[event][-1] == f"{COMMAND} hook {ours}"
    rest = json.loads(new)
    rest.pop("hooks")
    assert rest == {name: each for name, each in value.items() if name != "hooks"}
    assert installed(new, COMMAND) == new
    assert json.loads(removed(new)) == value
    assert removed(text) == text


@given(value=SETTINGS, form=FORMS)
def test_places_of_values_are_where_they_stand(value: dict[str, Any], form: dict[str, Any]) -> None:
    text = json.dumps(value, **form)

    def proves(node: settings.Node) -> None:
        assert json.loads(text[node.start : node.end]) == node.value
        for part in node.parts:
            proves(part)

    proves(parse_json(f" {text}"[1:]))


def test_before_a_tool_only_ours_that_write_are_waited_for() -> None:
    groups = json.loads(installed("", "looseleaf"))["hooks"]
    assert {event for event, [group] in groups.items() if "matcher" in group} == {"PreToolUse"}
    [group] = groups["PreToolUse"]
    matched = {name for name in TOOLS if re.fullmatch(group["matcher"], PREFIX + name)}
    assert matched == {name for name, tool in TOOLS.items() if not tool.reads}
    assert not re.search(group["matcher"], "Write")


def test_every_other_byte_stays_as_it_was() -> None:
    text = '{\r\n    "model":  "opus",\r\n    "n": 1.50,\r\n    "hooks": {"Stop": [ {"hooks": []} ]}\r\n}\r\n'
    new = installed(text, "looseleaf")
    assert new.startswith(
        '{\r\n    "model":  "opus",\r\n    "n": 1.50,\r\n    "hooks": {"Stop": [ {"hooks": []},'
    )
    assert removed(new).startswith(text[: text.index("]}")])
    assert "\n" not in new.replace("\r\n", "")
    assert json.loads(removed(new)) == json.loads(text)


def test_another_command_takes_the_place_of_the_old_one_and_keeps_what_was_set_there() -> None:
    old = installed("", "/old/looseleaf").replace('"timeout": 30', '"timeout": 7', 1)
    new = installed(old, "python -m looseleaf --agent x")
    assert new == old.replace("/old/looseleaf hook", "python -m looseleaf --agent x hook")
    assert json.loads(removed(new)) == {}


def test_a_group_that_says_more_than_its_hooks_is_left() -> None:
    own = {"type": "command", "command": "looseleaf hook stop"}
    text = json.dumps({"hooks": {"Stop": [{"note": "mine", "hooks": [own]}, {"hooks": [OTHER, own, own]}]}})
    assert json.loads(removed(text)) == {
        "hooks": {"Stop": [{"note": "mine", "hooks": []}, {"hooks": [OTHER]}]}
    }


# --- the command -----------------------------------------------------------------------


@pytest.fixture
def file(place: Path) -> Path:
    return place / ".claude/settings.local.json"


def test_the_settings_are_shown_first_and_written_only_with_a_yes(run: Run, file: Path) -> None:
    code, out, err = run("hook", "install", "--claude")
    assert code == 2
    assert '+  "hooks": {' in out
    assert "--yes" in err
    assert not file.exists()
    code, out, _ = run("hook", "install", "--claude", "--yes")
    assert code == 0
    assert "+++" in out
    assert set(commands(file.read_text())) == set(EVENTS)
    assert "nothing was changed" in run("hook", "install", "--claude", "--yes")[1]
    code, out, _ = run("hook", "remove", "--claude", "--yes")
    assert code == 0
    assert not file.parent.exists()
    assert "nothing was changed" in run("hook", "remove", "--claude", "--yes")[1]


def test_a_refusal_stands_behind_what_it_refuses_also_in_one_pipe(place: Path, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "looseleaf", "--memory", folder, "hook", "install", "--claude"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=place,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout.startswith("--- ")
    assert done.stdout.splitlines()[-1].startswith("looseleaf: The settings were not changed: ")


def test_a_person_is_asked(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(io, "TextIOWrapper", Terminal)
    assert run("hook", "install", "--claude", stdin=b"no\n")[0] == 2
    assert run("hook", "install", "--claude", stdin=b"")[0] == 2
    assert not file.exists()
    assert run("hook", "install", "--claude", stdin=b"y\n")[0] == 0
    assert file.exists()


def test_the_users_own_settings_keep_their_mode_and_what_is_in_them(run: Run, place: Path) -> None:
    own = place / "home/.claude/settings.json"
    own.parent.mkdir(parents=True)
    own.write_text('{"model": "opus"}')
    own.chmod(0o640)
    code, out, _ = run("--json", "hook", "install", "--claude", "--user", "--yes")
    assert (code, json.loads(out)["path"]) == (0, str(own))
    assert own.stat().st_mode & 0o777 == 0o640
    assert json.loads(own.read_text())["model"] == "opus"
    assert [path.name for path in own.parent.iterdir()] == ["settings.json"]
    assert run("hook", "remove", "--claude", "--user", "--yes")[0] == 0
    assert own.read_text() == '{"model": "opus"}'


def test_the_command_that_is_written_works_from_any_folder(
    run: Run, file: Path, folder: Path, place: Path
) -> None:
    run("hook", "install", "--claude", "--yes", "--agent", "helper")
    [command] = commands(file.read_text())["UserPromptSubmit"]
    assert shlex.split(command)[1:] == [
        "--memory",
        str(folder),
        "--agent",
        "helper",
        "hook",
        "user-prompt",
    ] or (shlex.split(command)[1:3] == ["-m", "looseleaf"])
    (place / "elsewhere").mkdir()
    given_ = b'{"session_id": "x", "prompt": "hello"}'
    done = subprocess.run(
        command, shell=True, input=given_, capture_output=True, cwd=place / "elsewhere", check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert (folder / "log/traces/helper").exists()


def test_the_program_is_called_as_it_was(
    run: Run, place: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = place / "bin dir/looseleaf"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    run("hook", "install", "--claude", "--yes")
    assert shlex.split(commands(file.read_text())["Stop"][0])[0] == str(program)
    monkeypatch.setattr(sys, "argv", ["pytest"])
    monkeypatch.setenv("PATH", str(place))
    run("hook", "install", "--claude", "--yes")
    assert shlex.split(commands(file.read_text())["Stop"][0])[:3] == [sys.executable, "-m", "looseleaf"]


def test_settings_that_are_not_understood_are_not_touched(run: Run, file: Path) -> None:
    file.parent.mkdir()

    def check(text: str) -> None:
        file.write_text(text)
        for event in ("install", "remove"):
            code, _, err = run("hook", event, "--claude", "--yes")
            assert code == 2
            assert "The settings were not changed" in err
        assert file.read_text() == text

    check_rows(
        check,
        [
            *('{"a": 1', "[]", "7", '{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"hooks": {"Stop": [7]}}'),
            *('{"hooks": {"Stop": [{"hooks": 7}]}}', "\ufeff{}", "[" * 100_000),
        ],
    )


def test_links_bytes_and_nobodys_settings_are_refused(run: Run, file: Path, place: Path) -> None:
    assert "--claude" in run("hook", "install", "--yes")[2]
    file.parent.mkdir()
    file.symlink_to(place / "real.json")
    assert "a link" in run("hook", "install", "--claude", "--yes")[2]
    assert not (place / "real.json").exists()
    file.unlink()
    file.write_bytes(b"\xff\xfe")
    assert "cannot be read" in run("hook", "install", "--claude", "--yes")[2]
    file.write_text(" \n")
    assert run("hook", "install", "--claude", "--yes")[0] == 0


def test_settings_that_somebody_changes_meanwhile_are_not_overwritten(place: Path) -> None:
    path = place / "settings.json"
    path.write_text('{"a": 1}')
    with pytest.raises(Refused, match="changed meanwhile"):
        settings.write(str(path), "{}", '{"b": 2}')
    assert path.read_text() == '{"a": 1}'
    (place / "file").write_text("")
    with pytest.raises(Refused, match="not changed"):
        settings.write(str(place / "file/.claude/settings.json"), None, "{}")
    staged = f"{path}.looseleaf-{os.getpid()}"
    os.mkdir(staged)
    with pytest.raises(Refused, match="not changed"):
        settings.write(str(path), '{"a": 1}', "{}")
    os.rmdir(staged)
    with pytest.raises(UnicodeEncodeError):
        settings.write(str(path), '{"a": 1}', "\ud800")
    assert path.read_text() == '{"a": 1}'
    assert not os.path.exists(staged)


# --- who distills -------------------------------------------------------------------------

WITH = ("hook", "install", "--yes", "--distill-with")


def test_who_distills_is_written_into_the_settings_and_what_is_sent_is_said_before(
    run: Run, folder: Path, file: Path
) -> None:
    settings = folder / "looseleaf.toml"
    code, out, err = run("hook", "install", "--distill-with", "claude-code")
    assert code == 2
    assert "is sent to Anthropic through `claude` on this machine, with the login that Claude Code has" in out
    assert '+distiller = "claude-code"' in out
    assert "--yes" in err
    assert not settings.exists()
    code, out, _ = run(*WITH, "claude-code/haiku", "--claude")
    assert code == 0
    assert settings.read_text() == 'distiller = "claude-code/haiku"\n'
    assert set(commands(file.read_text())) == set(EVENTS)
    assert "says so already" in run(*WITH, "claude-code/haiku")[1]
    code, out, _ = run(*WITH, "rules")
    assert code == 0
    assert "nothing leaves this machine" in out
    assert settings.read_text() == ""


def test_every_other_line_of_the_settings_stays(run: Run, folder: Path) -> None:
    def check(before: str, after: str) -> None:
        settings = folder / "looseleaf.toml"
        settings.write_text(before, encoding="utf-8")
        assert run(*WITH, "codex")[0] == 0
        assert settings.read_text(encoding="utf-8") == after

    check_rows(
        check,
        [
            ("# mine\nlock_seconds = 5\n", '# mine\nlock_seconds = 5\ndistiller = "codex"\n'),
            ("lock_seconds = 5", 'lock_seconds = 5\ndistiller = "codex"\n'),
            ('  distiller = "model"  # so\ntidy = true\n', 'distiller = "codex"\ntidy = true\n'),
            (
                "tidy = true\n\n[agents.main]\ntail_turns = 3\n",
                'tidy = true\ndistiller = "codex"\n\n[agents.main]\ntail_turns = 3\n',
            ),
            ("[agents.main]\ntail_turns = 3\n", 'distiller = "codex"\n\n[agents.main]\ntail_turns = 3\n'),
        ],
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tidy = ", "cannot be read"),
        ('model = """\ndistiller = "rules"\n"""\n', 'Write `distiller = "codex"` into it yourself'),
    ],
)
def test_settings_in_which_it_cannot_be_put_without_doubt_are_left(
    run: Run, folder: Path, text: str, sentence: str
) -> None:
    settings = folder / "looseleaf.toml"
    settings.write_text(text, encoding="utf-8")
    code, _, err = run(*WITH, "codex")
    assert code == 2
    assert sentence in err
    assert settings.read_text(encoding="utf-8") == text


def test_a_distiller_that_nobody_knows_and_a_memory_that_is_not_there_are_refused(
    run: Run, folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("claude", "gpt-5", 'ollama/x"y', ""):
        code, _, err = run(*WITH[:-1], f"--distill-with={name}")
        assert (code, "does not name a distiller" in err) == (2, True)
    code, _, err = run("hook", "remove", "--claude", "--distill-with", "rules")
    assert (code, "does not name a distiller" in err) == (2, True)
    monkeypatch.chdir(place)
    assert main([*WITH, "codex"]) == 2
    assert not list(place.rglob("looseleaf.toml"))


def test_that_a_program_is_not_there_yet_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    out = run(*WITH, "gemini-cli")[1]
    assert "`gemini` is not on PATH yet: until it is, the rules distill." in out
    assert "is sent to ollama/llama3.2." in run(*WITH, "ollama/llama3.2")[1]
    assert "to the model of the settings and the environment." in run(*WITH, "model")[1]


def test_what_was_written_is_told_as_json(run: Run, folder: Path) -> None:
    out = json.loads(run("--json", *WITH, "codex")[1])
    assert out == {"path": str(folder / "looseleaf.toml"), "event": "install", "written": True}
    both = json.loads(run("--json", *WITH, "codex", "--claude")[1])
    assert [each["written"] for each in both["settings"]] == [True, False]
