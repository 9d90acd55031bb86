"""The doctor: what it looks at, what it makes of that, and what it never says."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf.base.errors import Refused
from looseleaf.base.policy import Policy
from looseleaf.cli import doctor as examine
from looseleaf.cli import doctor as machine
from looseleaf.cli import doctor_checks as around
from looseleaf.cli import doctor_checks as looked_at
from looseleaf.cli.doctor_checks import Finding
from looseleaf.distill import selector
from looseleaf.memory import Memory
from looseleaf.pages.folder import init
from looseleaf.store.disk import Disk
from programs import Program

if TYPE_CHECKING:
    from conftest import Run

KEYS = "ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY GOOGLE_API_KEY OPENROUTER_API_KEY DEEPSEEK_API_KEY".split()
NAMES = (
    "python sqlite selector disk space memory settings permissions cloud lock index held sound clock machines git copy "
    "hooks server extras keys ollama model".split()
)


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key of this machine's, an address at which nobody answers, and the patience of a busy machine."""
    monkeypatch.setattr(examine, "SECONDS", 60.0)
    monkeypatch.setattr(examine, "SOUND_SECONDS", 60.0)
    for name in (*KEYS, "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "LOOSELEAF_BASE_URL", "LOOSELEAF_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{free.getsockname()[1]}")


def found(run: Run, *more: str) -> tuple[int, dict[str, dict[str, str]]]:
    code, out, _ = run("doctor", "--json", *more)
    told = json.loads(out)
    rows = {each["name"]: each for each in told["findings"]}
    for verdict in ("broken", "look"):
        assert told[verdict] == sum(each["verdict"] == verdict for each in rows.values())
    return code, rows


def test_a_sound_memory_is_looked_at_all_over(run: Run, folder: Path) -> None:
    run("record", "user", "I live in Lyon.")
    run("distill")
    code, rows = found(run)
    assert (code, list(rows)) == (0, NAMES)
    assert {name: row["says"] for name, row in rows.items() if row["verdict"] != "ok"} == {}
    assert rows["memory"]["says"] == f"{folder} (named by --memory)"
    assert rows["index"]["says"] == "not built yet; the first recall builds it"
    run("recall", "Lyon")
    assert found(run)[1]["index"]["says"].endswith("MB, up to date")
    run("record", "user", "I like tea.")
    assert found(run)[1]["index"]["says"].endswith("MB, behind; the next recall catches up")


def test_as_text_it_is_a_table_and_a_next_step(run: Run) -> None:
    code, out, err = run("doctor")
    assert code == 0
    assert [line.split()[1] for line in out.splitlines()[1:]] == NAMES
    assert err == "Next: nothing to do.\n"


def test_it_changes_nothing(run: Run, folder: Path) -> None:
    run("record", "user", "I live in Lyon.")
    run("recall", "Lyon")

    def everything() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = everything()
    found(run)
    assert everything() == before


# --- where --------------------------------------------------------------------------------


def test_why_it_is_this_memory_is_said(
    run: Run, folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from looseleaf.cli.main import main

    def memory() -> dict[str, str]:
        capsys.readouterr()
        main(["doctor", "--json"])
        rows: list[dict[str, str]] = json.loads(capsys.readouterr().out)["findings"]
        return next(each for each in rows if each["name"] == "memory")

    none = memory()
    assert (none["verdict"], none["then"]) == ("look", "`looseleaf init` makes one here.")
    Memory(place / "home" / ".looseleaf").close()
    assert memory()["says"].endswith("(the one at home)")
    Memory(place / ".looseleaf").close()
    (place / "deep").mkdir()
    monkeypatch.chdir(place / "deep")
    assert memory()["says"] == f"{place / '.looseleaf'} (the nearest one upward from here)"
    monkeypatch.setenv("LOOSELEAF_HOME", str(folder))
    assert memory()["says"] == f"{folder} (named by LOOSELEAF_HOME)"
    monkeypatch.setenv("LOOSELEAF_HOME", "nowhere")
    lost = memory()
    assert (lost["verdict"], "there is none at nowhere" in lost["says"]) == ("broken", True)


# --- what is broken, or to be looked at ---------------------------------------------------


def damaged(folder: Path) -> None:
    journal = folder / "log" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-10] + b'0000000"}\n' + journal.read_bytes())


def unreadable_settings(folder: Path) -> None:
    (folder / "looseleaf.toml").write_text("page_byte = 5\n")


def open_to_all(folder: Path) -> None:
    folder.chmod(0o755)


def broken_index(folder: Path) -> None:
    with Memory(folder) as memory:
        memory.record(user="I live in Lyon.")
        memory.recall("Lyon")
    (folder / "views" / "index.sqlite").write_bytes(b"no database " * 400)


def emptied_page(folder: Path) -> None:
    with Memory(folder) as memory:
        memory.pages.edit("USER.md", "# User\n\n- Home: Lyon\n", reason="mine", author="person")
    (folder / "USER.md").write_bytes(b"")


def copied_journal(folder: Path) -> None:
    journal = (folder / "log" / "journal.jsonl").read_bytes()
    (folder / "log" / "journal (conflicted copy).jsonl").write_bytes(journal)


def shown_to_git(folder: Path) -> None:
    (folder.parent / ".git").mkdir()
    (folder / ".gitignore").write_text("views/\n")


def lost_hook(folder: Path) -> None:
    settings = folder.parent / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    hook = {"type": "command", "command": "/gone/looseleaf --memory x hook user-prompt"}
    settings.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}))


def no_json_there(folder: Path) -> None:
    settings = folder.parent / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text("{")


def other_hooks_there(folder: Path) -> None:
    settings = folder.parent / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": []}')


@pytest.mark.parametrize(
    ("change", "name", "verdict", "words"),
    [
        (damaged, "sound", "broken", "log/journal.jsonl:"),
        (unreadable_settings, "settings", "broken", "'page_byte', which is not a setting"),
        (open_to_all, "permissions", "look", "(0755)"),
        (broken_index, "index", "look", "damaged"),
        (emptied_page, "held", "look", "USER.md was emptied"),
        (copied_journal, "held", "look", "a conflict copy of log/journal.jsonl"),
        (shown_to_git, "git", "look", "would commit log, review, PROJECT.local.md"),
        (lost_hook, "hooks", "broken", "runs /gone/looseleaf, which does not exist"),
        (no_json_there, "hooks", "look", "it is not JSON"),
        (other_hooks_there, "hooks", "look", "its `hooks` do not have the form that the agent reads"),
    ],
)
def test_what_is_wrong_is_found_and_it_is_said_what_to_do(
    run: Run, folder: Path, change: Callable[[Path], None], name: str, verdict: str, words: str
) -> None:
    change(folder)
    code, rows = found(run)
    assert "not changed" not in rows[name]["says"]  # nobody asked for that
    text = run("doctor")[1]
    assert not re.search(r"(?<!\.)\.\.(?!\.)", text)  # one full stop each
    assert (rows[name]["verdict"], words in rows[name]["says"]) == (verdict, True), rows[name]
    assert rows[name]["then"]
    assert code == (1 if verdict == "broken" else 0)
    others = {each for each, row in rows.items() if row["verdict"] != "ok"} - {name}
    assert others <= ({"machines"} if change is copied_journal else set())  # two machines made the copy


def test_hooks_that_are_installed_are_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("hook", "install", "--claude", "--yes")
    assert found(run)[1]["hooks"]["says"].startswith("Claude Code runs ")


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("A=b /gone/looseleaf hook stop", None),
        ("/gone/looseleaf hook 'stop", None),
        ("LOOSELEAF_HOME=/x A='b c' {0} hook stop", "{0}"),
        ("env LOOSELEAF_HOME=/looseleaf {0} hook stop", "{0}"),
        ("cd /x && A=b {0} hook stop", "{0}"),
        ("~/looseleaf hook stop", "~/looseleaf"),
        ("$CLAUDE_PROJECT_DIR/looseleaf hook stop", "$CLAUDE_PROJECT_DIR/looseleaf"),
    ],
)
def test_the_program_of_a_hook_is_what_a_shell_would_start(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, program: str | None
) -> None:
    """Not a variable that is set before it, nor what is done before it."""
    there = folder.parent / "looseleaf"
    there.write_text("#!/bin/sh\n")
    there.chmod(0o700)
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    settings = folder.parent / ".claude" / "settings.local.json"
    settings.parent.mkdir(exist_ok=True)
    hook = {"type": "command", "command": command.format(there)}
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook, "no hook", {"type": "x"}]}]}}))
    seen = around.hooks()
    assert seen.verdict == ("broken" if program is None else "ok")
    if program is not None:
        assert seen.says == f"Claude Code runs {program.format(there)}"


def test_settings_that_cannot_be_read_are_told_with_what_to_do(folder: Path) -> None:
    no_json_there(folder)
    seen = around.hooks()
    assert (seen.verdict, seen.then) == ("look", "Fix it first.")
    assert seen.says.startswith(f"{folder.parent / '.claude' / 'settings.local.json'}: it is not JSON (")


def test_a_folder_that_cannot_be_looked_at_is_broken() -> None:
    seen = looked_at.where("x\0y", "--memory")
    assert (seen.verdict, "was not opened" in seen.says) == ("broken", True)


def test_where_the_system_does_not_tell_the_holder_is_another_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    fd = os.open(folder / "log" / "lock", os.O_RDWR | os.O_CREAT)
    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", fails)
        assert looked_at._holder(fd) == "another process"
    os.close(fd)


# --- a journal that is gone ---------------------------------------------------------------


def test_a_memory_whose_journal_is_gone_is_damaged_and_no_verb_takes_it_for_none(
    run: Run, folder: Path
) -> None:
    run("record", "user", "I live in Lyon.")
    run("distill")
    journal = folder / "log" / "journal.jsonl"
    whole = journal.read_bytes()
    for is_empty in (True, False):
        if is_empty:
            journal.write_bytes(b"")
        else:
            journal.unlink()
        before = sorted(folder.rglob("*"))
        for verb in (["facts"], ["init", str(folder)], ["remember", "I like tea."], ["check"]):
            code, out, err = run(*verb)
            assert (code, out) == (2, "")
            assert f"{folder} is a damaged memory: " in err
            assert "`looseleaf repair` begins a new journal" in err
        with pytest.raises(Refused, match="is a damaged memory"):
            Memory(folder)
        with pytest.raises(Refused, match="memories do not nest"):
            init(str(folder / "facts"))
        code, rows = found(run)
        assert (code, rows["memory"]["verdict"]) == (1, "broken")
        assert "is a damaged memory: " in rows["memory"]["says"]
        assert "looseleaf init" not in rows["memory"]["then"]
        assert sorted(folder.rglob("*")) == before
    journal.write_bytes(whole)  # a copy that was put back
    assert run("facts")[0] == 0


def test_repair_begins_a_new_journal_and_what_was_said_stays(run: Run, folder: Path) -> None:
    run("record", "user", "I live in Lyon.")
    run("distill")
    facts, turns = run("facts", "--json")[1], run("turns")[1]
    (folder / "log" / "journal.jsonl").unlink()
    code, out, _ = run("repair")
    assert (code, out.count("a new one is begun")) == (0, 1)
    assert run("repair")[1] == "Nothing to repair.\n"
    told = [
        [(each["relation"], each["object"]) for each in json.loads(text)]
        for text in (facts, run("facts", "--json")[1])
    ]
    assert told[0] == told[1] != []
    assert run("turns")[1] == turns
    assert run("check")[0] == 0


def test_a_memory_that_was_only_being_made_is_made(folder: Path) -> None:
    """A crash while it was made leaves an empty journal and empty folders: nothing was lost."""
    (folder / "log" / "journal.jsonl").write_bytes(b"")
    (folder / "log" / "traces" / "main").mkdir(parents=True)
    (folder / "log" / "traces" / "main" / "raw_traces.jsonl").touch()
    assert init(str(folder))


def test_a_lock_that_is_held_is_named_with_its_holder(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looked_at, "_LOCKED_SECONDS", 0.05)
    run("record", "user", "hello")
    held = (
        "import fcntl, sys\nfile = open(sys.argv[1], 'rb+')\nfcntl.flock(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", held, folder / "log" / "lock"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        seen = looked_at.lock(str(folder))
        other.communicate()
    assert (seen.verdict, seen.says) == ("look", f"held by process {other.pid} right now")
    assert looked_at.lock(str(folder)).says == "free"
    assert looked_at.lock(str(folder / "facts")).says == "nothing has been written here yet"


@pytest.mark.skipif(not shutil.which("git"), reason="there is no git on this machine")
def test_git_itself_is_asked_what_it_ignores(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert looked_at.git(str(folder)).says == "the memory is in no repository"
    subprocess.run(["git", "init", "-q", folder.parent], check=True)
    assert looked_at.git(str(folder)).says == "private files are ignored"
    (folder / ".gitignore").unlink()
    assert looked_at.git(str(folder)).verdict == "look"
    (folder.parent / ".gitignore").write_text("memory/\n")
    assert looked_at.git(str(folder)).verdict == "ok"
    monkeypatch.setenv("PATH", "")
    assert looked_at.git(str(folder)).verdict == "look"  # the file above is not read without git


def test_machines_that_are_not_enough_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class ShareDisk(Disk):
        def network_type(self, root: int) -> str | None:
            return "nfs4"

    monkeypatch.setattr("looseleaf.store.disk.this_disk", ShareDisk)
    assert machine.disk(str(folder / "not" / "there")).verdict == "look"
    assert machine.python((3, 10, 4)).verdict == "broken"
    usage = shutil.disk_usage("/")
    for free, verdict in ((1 << 20, "broken"), (1 << 28, "look"), (1 << 40, "ok")):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: usage._replace(free=free))
        assert machine.space(str(folder)).verdict == verdict

    class Bare:
        def execute(self, statement: str) -> None:
            raise sqlite3.OperationalError("no such module: fts5")

        def close(self) -> None:
            pass

    monkeypatch.setattr(sqlite3, "connect", lambda _: Bare())
    assert machine.sqlite().verdict == "broken"


def test_damaged_weights_of_the_selector_are_found(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = place / "selector.bin"
    damaged.write_bytes(selector.WEIGHTS.read_bytes()[:-1])
    monkeypatch.setattr(selector, "WEIGHTS", damaged)
    row = found(run)[1]["selector"]
    assert row["verdict"] == "broken"
    assert "install looseleaf again" in row["says"]


def test_a_folder_of_somebody_else_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = os.stat_result((0o40700, 1, 1, 1, 1234, 0, 0, 0, 0, 0))
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 4321)
        patch.setattr(os, "lstat", lambda path: other)
        seen = looked_at.permissions(str(folder))
    assert seen.says.endswith("belongs to another user")


# --- models -------------------------------------------------------------------------------

SECRET = "hunter2-and-no-known-shape-of-a-key"


def test_no_value_of_a_key_is_ever_said(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("OLLAMA_HOST", f"http://user:{SECRET}@127.0.0.1:1")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://user:{SECRET}@127.0.0.1:1/v1")
    (folder / "looseleaf.toml").write_text(f'base_url = "https://user:{SECRET}@example.org/v1"\n')
    seen = [*run("doctor"), *run("doctor", "--json")]
    assert SECRET not in "".join(map(str, seen))
    assert "ANTHROPIC_API_KEY, " in str(seen[1])


def test_a_key_that_is_empty_is_told() -> None:
    seen = around.keys({"OPENAI_API_KEY": "", "GEMINI_API_KEY": "x"})
    assert (seen.verdict, seen.says) == ("look", "OPENAI_API_KEY is set, but empty")
    assert around.keys({}).verdict == "ok"
    assert around.keys({"GEMINI_API_KEY": "x", "OLLAMA_HOST": "y"}).says == "GEMINI_API_KEY, OLLAMA_HOST"


class Ollama(BaseHTTPRequestHandler):
    """As much of one as is asked."""

    def do_GET(self) -> None:
        body = json.dumps({"models": [{"name": "qwen3:4b"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def ollama() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Ollama) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_an_ollama_on_this_machine_is_asked_and_another_one_is_not(
    ollama: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert around.ollama({"OLLAMA_HOST": ollama}).says == f"answers at {ollama}; its first model is qwen3:4b"
    assert (
        around.model(Policy(), {"OLLAMA_HOST": ollama}).says == "qwen3:4b would be asked; the rules distill"
    )
    assert around.model(Policy(distiller="model"), {"OLLAMA_HOST": ollama}).says.endswith("a model distills")
    asked: list[Any] = []
    monkeypatch.setattr(socket.socket, "connect", lambda *given: asked.append(given))
    far = {"OLLAMA_HOST": "http://192.0.2.7:11434"}
    assert "which was not asked" in around.ollama(far).says
    assert "was not asked" in around.model(Policy(), far).says
    assert asked == []


@pytest.mark.parametrize(
    "host", ["http://[bad", "::::", "http://", "not an address", "ftp://127.0.0.1", "box:99999"]
)
def test_what_is_no_address_is_told(host: str) -> None:
    for seen in (
        around.ollama({"OLLAMA_HOST": host}),
        around.model(Policy(), {"OLLAMA_HOST": host}),
        around.model(Policy(), {"LOOSELEAF_BASE_URL": "http://[bad", "OLLAMA_HOST": "127.0.0.1:1"}),
    ):
        assert seen.verdict == "look"
        assert seen.says.endswith(" is not an address")
        assert seen.then
    assert "which was not asked" in around.ollama({"OLLAMA_HOST": "http://me:secret@192.0.2.7:1"}).says


def test_what_would_be_asked_and_cannot_be_is_told() -> None:
    nobody = {"OLLAMA_HOST": "http://127.0.0.1:1"}
    assert around.model(Policy(), nobody).verdict == "ok"
    assert around.model(Policy(distiller="model"), nobody).verdict == "look"
    seen = around.model(Policy(provider="openai", model="gpt-5.5"), nobody)
    assert (seen.verdict, "there is no key" in seen.says) == ("look", True)


def test_a_model_whose_package_is_missing_would_not_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    seen = around.model(Policy(), {"OPENAI_API_KEY": "k", "OLLAMA_HOST": "http://127.0.0.1:1"})
    assert (seen.verdict, "`pip install 'openai>=3.49,<4'` (the extra `openai`)" in seen.says) == (
        "look",
        True,
    )


def test_a_coding_agent_that_distills_is_looked_for_and_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    seen = around.model(Policy(distiller="claude-code"), {})
    assert (seen.verdict, "the program `claude` of Claude Code is not on PATH" in seen.says) == ("look", True)
    claude = Program(tmp_path / "bin", "claude")
    seen = around.model(Policy(distiller="claude-code"), {})
    assert (seen.verdict, seen.says) == ("ok", "claude-code would be asked; a model distills")
    assert claude.calls == []


def test_extras_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(around, "EXTRAS", {"mcp": ("no-such-distribution-anywhere",), "test": ("pytest",)})
    seen = around.extras()
    assert (seen.says, seen.then) == (
        f"test ({pytest.__version__})",
        "for mcp: pip install 'mcp>=2.3,<3'",
    )


# --- its own patience ---------------------------------------------------------------------


def test_a_look_that_takes_too_long_is_left_and_the_others_go_on() -> None:
    go_on = threading.Event()

    def never() -> Finding:
        go_on.wait(60)
        return Finding("disk", "ok", "late")

    started = time.monotonic()
    seen = examine.within(0.05, "disk", never)
    assert time.monotonic() - started < 30
    go_on.set()
    assert (seen.verdict, seen.says) == ("look", "no answer within 0.05 seconds")
    go_on.clear()
    assert "looseleaf check" in examine.within(0.0, "sound", never).then
    go_on.set()


def test_a_look_that_is_refused_is_a_finding() -> None:
    def refused() -> Finding:
        raise Refused("It was not read.")

    def fails() -> Finding:
        raise PermissionError(13, "Permission denied")

    assert examine.within(9, "x", refused).to_dict() == {
        "name": "x",
        "verdict": "broken",
        "says": "It was not read.",
        "then": "Do what it says, and run this again.",
    }
    assert examine.within(9, "x", fails).says == "it could not be checked (Permission denied)"
