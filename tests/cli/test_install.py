"""The settings of coding agents, written and taken back by the command line: one agent, or all on this machine."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Run
from looseleaf.base.errors import Refused
from looseleaf.cli.main import main
from looseleaf.integrations import settings_files
from looseleaf.integrations.agent_settings import AGENTS
from looseleaf.integrations.codex_trust import trusted_hashes
from looseleaf.integrations.trial import try_hooks, try_server
from tables import check_rows

HOOKS = AGENTS["claude"].hooks
assert HOOKS is not None
EVENTS = HOOKS.events


def commands(text: str) -> dict[str, list[str]]:
    """What is called at each event."""
    hooks = json.loads(text).get("hooks", {})
    return {
        event: [entry["command"] for group in groups for entry in group["hooks"] if "command" in entry]
        for event, groups in hooks.items()
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
            *('{"hooks": {"Stop": [{"hooks": 7}]}}', "// only a comment", "[" * 100_000),
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
    with pytest.raises(Refused, match="changed in the meantime"):
        settings_files.write(str(path), "{}", '{"b": 2}')
    assert path.read_text() == '{"a": 1}'
    (place / "file").write_text("")
    with pytest.raises(Refused, match="not changed"):
        settings_files.write(str(place / "file/.claude/settings.json"), None, "{}")
    staged = f"{path}.looseleaf-{os.getpid()}"
    os.mkdir(staged)
    with pytest.raises(Refused, match="not changed"):
        settings_files.write(str(path), '{"a": 1}', "{}")
    os.rmdir(staged)
    with pytest.raises(UnicodeEncodeError):
        settings_files.write(str(path), '{"a": 1}', "\ud800")
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
        ("tidy = ", "cannot be changed safely"),
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


# --- Codex and Gemini CLI -----------------------------------------------------------------


def test_each_agent_gets_its_own_events_in_its_own_file(run: Run, place: Path) -> None:
    code, out, _ = run("--json", "hook", "install", "--codex", "--gemini", "--yes")
    assert code == 0
    assert [each["path"] for each in json.loads(out)["settings"]] == [
        str(place / ".codex/hooks.json"),
        str(place / ".gemini/settings.json"),
    ]
    assert set(commands((place / ".codex/hooks.json").read_text())) == set(EVENTS)
    assert "BeforeAgent" in commands((place / ".gemini/settings.json").read_text())
    assert run("hook", "remove", "--codex", "--gemini", "--yes")[0] == 0
    assert not (place / ".codex").exists()
    assert not (place / ".gemini").exists()


# --- all on this machine ------------------------------------------------------------------

CODEX = """#!{python}
import json, os, sys
path = os.path.join(os.environ["CODEX_HOME"], "hooks.json")
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        print(json.dumps({{"method": "news"}}))
        print(json.dumps({{"id": asked["id"], "result": {{}}}}), flush=True)
    elif asked["method"] == "hooks/list":
        rows = [
            {{"key": f"{{path}}:stop:{{at}}:0", "currentHash": f"sha256:{{at}}"}}
            for at, _ in enumerate(json.load(open(path))["hooks"]["Stop"])
        ]
        print(json.dumps({{"id": asked["id"], "result": {{"data": [{{"hooks": rows}}]}}}}), flush=True)
"""
"""A Codex that knows hooks of one event: what it calls a hook is its own affair."""


@pytest.fixture
def home(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with three agents, and a program of ours on PATH."""
    home = place / "home"
    bin = place / "bin"
    bin.mkdir()
    source = str(Path(settings_files.__file__).parents[2])
    ours = (
        f'#!/bin/sh\nPYTHONPATH={shlex.quote(source)} exec {shlex.quote(sys.executable)} -m looseleaf "$@"\n'
    )
    for name, text in (("looseleaf", ours), ("codex", CODEX.format(python=sys.executable))):
        (bin / name).write_text(text)
        (bin / name).chmod(0o755)
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "LOOSELEAF_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{bin}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(home))
    texts = {
        ".claude/settings.json": '{\r\n  "cleanupPeriodDays": 20\r\n}',
        ".claude.json": '{"mcpServers": {}, "numStartups": 3}',
        ".codex/config.toml": 'model = "x"\n\n[analytics]\nenabled = false',
        ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n',
        ".gemini/settings.json": '{\n  // mine\n  "ui": {},\n}\n',
        ".config/zed/settings.json": "",
        ".config/opencode/opencode.jsonc": "{ /* none */ }",
        ".cursor/extensions/x": "",
    }
    for name, text in texts.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    (home / ".qwen").mkdir()
    return home


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in folder.rglob("*")
        if ".looseleaf" not in path.parts
    }


def test_all_agents_are_found_connected_tried_and_disconnected_to_the_byte(run: Run, home: Path) -> None:
    before = tree(home)
    code, out, _ = run("setup", "--dry-run")
    assert code == 0
    assert tree(home) == before
    assert "+++" in out
    for title in ("Claude Code", "Codex", "Gemini CLI", "Qwen Code", "opencode", "Cursor", "Zed"):
        assert f"{title}: " in out
    assert "VS Code" not in out
    assert "you trust these" in out
    code, out, err = run("setup", "--yes")
    assert (code, err) == (0, "")
    assert out.count(": ok\n") == 7
    servers = json.loads((home / ".claude.json").read_text())["mcpServers"]
    assert servers["looseleaf"]["args"][-1] == "mcp"
    config = (home / ".codex/config.toml").read_text()
    assert "[mcp_servers.looseleaf]" in config
    assert f'[hooks.state."{home}/.codex/hooks.json:stop:1:0"]\ntrusted_hash = "sha256:1"' in config
    assert "There is nothing to do." in run("setup", "--yes")[1]
    found = json.loads(run("doctor", "--json")[1])["findings"]
    told = {each["name"]: each["says"] for each in found}
    assert told["server"] == "set up for Claude Code, Codex, Gemini CLI, Qwen Code, opencode, Cursor, Zed"
    assert told["hooks"].count(" runs ") == 3
    code, out, _ = run("setup", "--remove", "--yes")
    assert code == 0
    assert tree(home) == before


def test_chosen_agents_of_a_project_are_connected_there(run: Run, home: Path, place: Path) -> None:
    before, outside = tree(home), tree(place)
    code, out, _ = run("setup", "claude", "codex", "vscode", "windsurf", "--project", "--yes", "--json")
    told = json.loads(out)
    assert (code, told["written"], told["refused"]) == (0, True, [])
    assert {each["agent"]: each["files"] for each in told["agents"]} == {
        "claude": {"hooks": str(place / ".claude/settings.local.json"), "server": str(home / ".claude.json")},
        "codex": {
            "hooks": str(place / ".codex/hooks.json"),
            "trust": str(home / ".codex/config.toml"),
            "server": str(place / ".codex/config.toml"),
        },
        "vscode": {"server": str(place / ".vscode/mcp.json")},
        "windsurf": {},
    }
    local = json.loads((home / ".claude.json").read_text())["projects"][str(place)]["mcpServers"]
    assert set(local) == {"looseleaf"}
    code, out, _ = run("setup", "--remove", "--project", "--yes", "--json")
    assert (code, tree(home), tree(place)) == (0, before, outside)


def test_a_file_that_cannot_be_changed_safely_is_told_and_the_others_are_written(
    run: Run, home: Path
) -> None:
    (home / ".gemini/settings.json").write_text('{"hooks": [], "mcpServers": 7')
    (home / ".codex/config.toml").write_text("mcp_servers = {}\n")
    (home / ".codex/hooks.json").write_text("{")
    (home / ".cursor/mcp.json").symlink_to(home / "elsewhere")
    code, out, _ = run("setup", "gemini", "codex", "cursor", "qwen", "--yes")
    assert code == 1
    assert "Gemini CLI: The settings were not changed: " in out
    assert "Name the server in it yourself: the command is `" in out
    assert "it is a link" in out
    assert f"Codex: The settings were not changed: {home}/.codex/hooks.json: it is not JSON" in out
    assert "Qwen Code: tried the server: ok" in out
    assert (home / ".gemini/settings.json").read_text() == '{"hooks": [], "mcpServers": 7'
    assert "[mcp_servers" not in (home / ".codex/config.toml").read_text()


def test_a_person_is_asked_once_and_a_memory_is_made_with_the_same_yes(
    home: Path, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home)
    assert main(["setup", "claude"]) == 2
    out, err = capsys.readouterr()
    assert "There is no memory at ~/.looseleaf yet: it will be made" in out
    assert "--yes" in err
    assert not (home / ".looseleaf").exists()
    assert main(["setup", "claude", "--yes"]) == 0
    assert (home / ".looseleaf/log").is_dir()
    assert main(["setup", "--remove", "--yes"]) == 0
    assert (home / ".looseleaf/log").is_dir()
    assert "The memory itself stays." in capsys.readouterr().out
    assert main(["setup", "claude", "cluade"]) == 2
    assert "'cluade'" in capsys.readouterr().err


def test_where_there_is_no_agent_nothing_is_done(
    run: Run, home: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(place / "bin"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    code, out, err = run("setup", "--yes")
    assert (code, "No coding agent was found." in out) == (0, True)
    assert err == "Next: name the one that you use: `looseleaf setup claude`, for example.\n"


def test_a_codex_that_does_not_answer_will_ask_itself(home: Path, place: Path) -> None:
    hooks = AGENTS["codex"].hooks
    assert hooks is not None
    check_rows(
        lambda text: _answers_nothing(place, text, hooks),
        ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho no\n", "#!/bin/sh\necho '{\"id\": 1}'\n", "no program"],
    )


def _answers_nothing(place: Path, text: str, hooks: object) -> None:
    (place / "bin/codex").write_text(text)
    assert trusted_hashes('{"hooks": {}}', "/c/hooks.json", hooks) == {}  # type: ignore[arg-type]


def test_a_trial_says_what_is_wrong(place: Path) -> None:
    rows = [
        ("/gone/looseleaf hook stop;:", "recorded nothing"),
        ("exit 3;", "ended with 3"),
        ("echo no;:", "printed no JSON"),
        ("""echo '{"systemMessage": "looseleaf: broken"}';:""", "says: looseleaf: broken"),
    ]
    check_rows(lambda command, why: _says(try_hooks([command]), why), rows)
    servers = [
        (["/gone"], "could not be asked"),
        (["/bin/false"], "offers no tools"),
        (["/bin/echo", '{"id": 2, "result": {"tools": [{"name": "recall"}]}}\n{}'], "offers no tools"),
        (
            ["/bin/sh", "-c", """echo '{"id": 2, "result": {"tools": [{"name": "recall"}]}}'"""],
            "does not offer",
        ),
        (["/bin/sh", "-c", "echo so >&2"], "(so)"),
    ]
    check_rows(lambda command, why: _says(try_server(command), why), servers)


def _says(told: str | None, why: str) -> None:
    assert told is not None
    assert why in told, told


def test_folders_that_were_made_go_with_the_file_and_others_stay(place: Path) -> None:
    path = place / "a/b/c.json"
    (place / "a").mkdir()
    settings_files.write(str(path), None, "{}\n")
    assert path.read_text() == "{}\n\n"
    settings_files.write(str(path), "{}\n\n", None)
    assert (place / "a").is_dir()
    assert not (place / "a/b").exists()
    settings_files.write(str(path), None, "{}\n")
    (place / "a/b/other").write_text("")
    settings_files.write(str(path), "{}\n\n", None)
    assert (place / "a/b/other").exists()


# --- a memory that is elsewhere --------------------------------------------------------

ADDRESS = "postgresql://db.example.org/memories?namespace=acme/agent-7"
AT = "https://memory.example/m/acme:agent-7"


def test_for_a_database_the_way_through_a_server_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(home)
    says = (
        "is in a database, and coding agents reach it through a server. Start one (looseleaf serve --postgres "
        "postgresql://db.example.org/memories), set LOOSELEAF_SERVER to its address with /m/NAME and LOOSELEAF_TOKEN "
        "to a token, and repeat this without the address of the database; docs/HOOKS.md has the steps."
    )

    def check(*words: str) -> None:
        assert main(words) == 2
        assert says in capsys.readouterr().err

    check("--memory", ADDRESS, "setup", "claude", "--yes")
    check("--memory", ADDRESS, "hook", "install", "--claude", "--user", "--yes")
    monkeypatch.setenv("LOOSELEAF_HOME", ADDRESS)
    check("setup", "--dry-run")
    check("hook", "install", "--claude", "--distill-with", "claude-code", "--yes")
    assert tree(home) == before
    assert main(["setup", "--remove", "--yes"]) == 0


def test_with_a_server_hooks_are_installed_and_name_no_memory(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(home)
    monkeypatch.setenv("LOOSELEAF_SERVER", AT)
    monkeypatch.setenv("LOOSELEAF_HOME", ADDRESS)
    monkeypatch.delenv("LOOSELEAF_TOKEN", raising=False)
    assert main(["hook", "install", "--claude", "--user", "--yes"]) == 0
    out = capsys.readouterr().out
    assert out.endswith(
        "The hooks record for acme/agent-7 at https://memory.example, where LOOSELEAF_SERVER and LOOSELEAF_TOKEN are "
        "set: set both where the agent starts.\n"
        "LOOSELEAF_TOKEN is not set here. `looseleaf token new NAME` makes a token, on the server.\n"
        "The model itself reads and writes it through the server, which you add to the agent's settings as an MCP "
        "server of the name `looseleaf`, with that token (docs/HOOKS.md):\n"
        "  https://memory.example/mcp/acme:agent-7\n"
    )
    written = commands((home / ".claude/settings.json").read_text())
    assert set(written) == set(EVENTS)
    assert "--memory" not in str(written)
    assert main(["hook", "remove", "--claude", "--user", "--yes"]) == 0
    assert tree(home) == before


def test_with_a_server_setup_connects_no_second_memory(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(home)
    monkeypatch.setenv("LOOSELEAF_SERVER", AT)
    for words in (["setup", "--dry-run"], ["setup", "claude", "--yes"]):
        assert main(words) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "is https://memory.example/mcp/acme:agent-7 (docs/HOOKS.md)" in err
    for words in (["setup", "claude"], ["hook", "install", "--claude"]):
        assert main(["--memory", str(folder), *words, "--yes"]) == 2
        assert "Leave out --memory, or unset LOOSELEAF_SERVER." in capsys.readouterr().err
    assert main(["hook", "install", "--claude", "--distill-with", "rules", "--yes"]) == 2
    assert "Leave out --distill-with." in capsys.readouterr().err
    assert tree(home) == before
    assert not (home / ".looseleaf").exists()
    assert main(["--memory", str(folder), "setup", "--remove", "--yes"]) == 0
