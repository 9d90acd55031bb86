"""Real coding agents in a project of their own: a home, a folder with a memory, our hooks and our server, a provider.

    with project(place, clients) as garden:
        garden.script({"list it": [shell("ls"), "I listed it."]})
        garden.claude("Please list it.")
        assert garden.user_words() == ["Please list it."]

`looseleaf` in it is the source under test, run by the interpreter of the tests.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clients.script import Rules, Script, Step, shell
from programs import is_alive, until
from providing import Provider
from wires.terms import Asked

SOURCE = Path(__file__).parents[2] / "src"
SECONDS = 120
"""Far longer than a client takes on a busy machine: past it, it hangs."""

KEY = "sk-ant-dummy-00000000000000000000"

_PROGRAM = """#!{python}
import os, sys

os.environ["PYTHONPATH"] = {source!r}
sys.path.insert(1, {source!r})
from looseleaf.cli.main import run

sys.exit(run())
"""
"""As pip writes it, but of the source under test. Not every client hands on the environment that it was given."""

_PACKAGES = {
    "claude": ("@anthropic-ai/claude-code-*/claude",),
    "codex": ("@openai/codex-*/vendor/*/bin/codex", "@openai/codex-*/vendor/*/codex/codex"),
    "opencode": ("opencode-*/bin/opencode",),
    "gemini": (".bin/gemini",),
    "qwen": (".bin/qwen",),
}
"""Where each program is. Some have a binary in a package of its own for each platform, which a script of npm would
link: no scripts are run here."""


def found(name: str, folder: Path) -> Path | None:
    """The program in a folder into which npm has installed it, or None."""
    modules = folder / "node_modules"
    for pattern in _PACKAGES[name]:
        # Of two builds for the same platform, the one with the shorter name needs no older processor.
        for path in sorted(modules.glob(pattern), key=lambda each: len(str(each))):
            return path
    return None


class Project:
    """`hooks`: for which clients our hooks are installed; `server`: the command of our MCP server, None for none."""

    def __init__(
        self,
        place: Path,
        clients: Path,
        provider: Provider,
        *,
        hooks: Sequence[str] = ("claude",),
        server: Sequence[str] | None = ("looseleaf", "mcp"),
    ) -> None:
        self.provider, self.clients = provider, clients
        self.home, self.folder, self.memory = place / "home", place / "project", place / "project/.looseleaf"
        for path in (self.home, self.folder, place / "bin"):
            path.mkdir(parents=True)
        program = place / "bin/looseleaf"
        program.write_text(_PROGRAM.format(python=sys.executable, source=str(SOURCE)))
        program.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not _is_theirs(name)}
        self.environment = kept | {
            "LOOSELEAF_MACHINE": "here",
            "HOME": str(self.home),
            "PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PWD": str(self.folder),
            "TERM": "xterm-256color",
            "TMUX_TMPDIR": str(place),
            "ANTHROPIC_BASE_URL": provider.address,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
            "DISABLE_AUTOUPDATER": "1",
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": provider.base_url("openai"),
            "OPENAI_MODEL": "tea-1",
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": provider.address,
        }
        self._running: list[subprocess.Popen[str]] = []
        self.run("git", "init", "--quiet")
        self.looseleaf("init")
        _configure(self, server)
        for client in hooks:
            self.looseleaf(
                "hook", "install", f"--{client}", "--yes", *(["--user"] if client == "codex" else [])
            )

    # --- what the model does ---------------------------------------------------------------

    def script(self, rules: Rules) -> None:
        self.provider.brain = Script(rules)

    def held(self, say: str = "") -> Step:
        """A call that runs until `let_go`."""
        began, go = self.folder.parent / "began", self.folder.parent / "go"
        is_over = (
            f"[ -e {go} ] || [ ! -e {began} ]"  # the call outlives a client that is killed, not the project
        )
        return shell(f"touch {began}; until {is_over}; do sleep 0.1; done; echo let-go", say)

    def until_held(self) -> None:
        self.until((self.folder.parent / "began").exists, "the tool runs")

    def let_go(self) -> None:
        (self.folder.parent / "go").touch()

    def hold_again(self) -> None:
        """What was held has gone by now: the next call is held again."""
        for name in ("go", "began"):
            (self.folder.parent / name).unlink()

    def requests(self) -> list[Asked]:
        """What the clients asked the provider, without their questions on the side, which offer no tools."""
        return [asked for asked in self.provider.asked if asked.tools]

    # --- the clients -----------------------------------------------------------------------

    def program(self, name: str) -> str:
        path = found(name, self.clients)
        assert path is not None, name
        return str(path)

    def run(self, *command: str, given: str = "", **environment: str) -> str:
        """The output of a command in the project's folder."""
        done = subprocess.run(
            command,
            input=given,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self.environment | environment,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{shlex.join(command)}: {done.stdout}{done.stderr}"
        return done.stdout

    def looseleaf(self, *arguments: str) -> str:
        return self.run("looseleaf", *arguments)

    def claude(self, prompt: str, *options: str, **environment: str) -> str:
        """One session of Claude Code, or one turn of a session that it resumes."""
        return self.run(*self._claude(*options), given=prompt, **environment)

    def codex(self, prompt: str, *options: str) -> str:
        return self.run(*self._codex(*options), "-", given=prompt)

    def gemini(self, prompt: str) -> str:
        return self.run(self.program("gemini"), "--yolo", "--prompt", prompt, "--model", "gemini-2.5-pro")

    def qwen(self, prompt: str) -> str:
        return self.run(self.program("qwen"), "--yolo", "--prompt", prompt)

    def opencode(self, prompt: str) -> str:
        return self.run(self.program("opencode"), "run", "--model", "scripted/tea-1", prompt)

    def _claude(self, *options: str) -> list[str]:
        allowed = ("--allowedTools", "mcp__looseleaf", "Bash", "Agent")
        return [self.program("claude"), "-p", *options, *allowed]

    def _codex(self, *options: str) -> list[str]:
        trust = ("--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust")
        return [self.program("codex"), "exec", *trust, *options]

    @contextmanager
    def started(self, client: str, prompt: str, *options: str) -> Iterator[subprocess.Popen[str]]:
        """A session that runs meanwhile; its end is waited for, unless it was killed."""
        command = self._claude(*options) if client == "claude" else [*self._codex(*options), "-"]
        process = self._start(command)
        assert process.stdin is not None
        process.stdin.write(prompt)
        process.stdin.close()
        yield process
        assert process.wait(SECONDS) in (0, -signal.SIGKILL)

    @contextmanager
    def stream(self, *options: str) -> Iterator[Stream]:
        """A session that is told its prompts one by one, in Claude Code's own stream of JSON."""
        form = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        process = self._start(self._claude(*form, *options))
        yield Stream(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(SECONDS) in (0, -signal.SIGKILL)

    def _start(self, command: Sequence[str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=self.folder,
            env=self.environment,
            start_new_session=True,
        )
        self._running.append(process)
        return process

    @contextmanager
    def terminal(self, client: str = "claude") -> Iterator[Terminal]:
        """An interactive session, in tmux."""
        command = {
            "claude": [self.program("claude"), "--allowedTools", "mcp__looseleaf", "Bash", "Agent"],
            "codex": [each for each in self._codex() if each != "exec"],
        }[client]
        terminal = Terminal(self, command)
        try:
            terminal.wait_for("for shortcuts")
            yield terminal
        finally:
            terminal.close()

    def close(self) -> None:
        self.let_go()
        for process in self._running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    # --- what is remembered ----------------------------------------------------------------

    def transcripts(self) -> list[Path]:
        """What the clients wrote themselves, without their sub-agents' own."""
        claude = self.home.glob(".claude/projects/*/*.jsonl")
        return sorted([*claude, *self.home.glob(".codex/sessions/**/*.jsonl")])

    def let_an_hour_pass(self) -> None:
        """Since anything was written by a client: what it left in a queue, it will not take up any more."""
        then = time.time() - 3600
        for path in self.transcripts():
            os.utime(path, (then, then))

    def traces(self) -> list[dict[str, Any]]:
        """All that is recorded, in its order."""
        files = sorted(self.memory.glob("log/traces/*/raw_traces.jsonl"))
        return [json.loads(line) for path in files for line in path.read_text().splitlines()]

    def user_words(self) -> list[str]:
        return [each["content"] for each in self.traces() if each["trace_type"] == "user"]

    def answers(self) -> list[str]:
        return [each["content"] for each in self.traces() if each["trace_type"] == "assistant"]

    def results(self) -> list[str]:
        """What tools answered, in the log."""
        kept = [each for each in self.traces() if each["trace_type"] == "tool_result"]
        return [str(each.get("tool_result") or each.get("tool_error")) for each in kept]

    def pages(self) -> str:
        """Every page at the top of the folder and under facts."""
        paths = sorted([*self.memory.glob("*.md"), *self.memory.glob("facts/**/*.md")])
        return "\n".join(path.read_text() for path in paths)

    def everywhere(self) -> str:
        """Every text in the folder but the log: also what waits in review, and what agents found."""
        paths = [
            path for path in self.memory.rglob("*.md") if "log" not in path.relative_to(self.memory).parts
        ]
        return "\n".join(path.read_text() for path in sorted(paths))

    def told(self) -> str:
        """All that is recorded, a line for each, for a person to read."""
        texts = ("content", "tool_name", "tool_args", "tool_result", "tool_error")
        return "\n".join(
            f"{each['session_id'][-4:]} {each['origin']:9} {each['trace_type']:11} "
            + " ".join(str(each[name]) for name in texts if each.get(name))
            for each in self.traces()
        )

    def until(self, is_so: Callable[[], Any], what: str) -> None:
        """Wait for something that a client or a hook does."""
        end = time.monotonic() + SECONDS
        while not is_so():
            assert time.monotonic() < end, f"waited in vain: {what}\n{self.told()}\n{self.pages()}"
            time.sleep(0.05)

    def until_known(self, words: str) -> None:
        self.until(lambda: words in self.pages(), f"{words!r} is in the folder")


def _is_theirs(name: str) -> bool:
    theirs = ("CLAUDE", "ANTHROPIC", "OPENAI", "CODEX", "GEMINI", "GOOGLE", "QWEN", "OPENCODE")
    return name.startswith((*theirs, "LOOSELEAF", "PYTHON", "XDG_"))


def _configure(project: Project, server: Sequence[str] | None) -> None:
    """What each client is told once: the provider, our server, and that there is nothing to be asked."""
    servers = {"looseleaf": {"command": server[0], "args": list(server[1:])}} if server else {}
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    claude = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "mcpServers": servers,
        "projects": {str(project.folder): trusted},
    }
    _write(project.home / ".claude.json", json.dumps(claude))
    codex = f"""
model = "tea-1"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{project.provider.base_url("openai")}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
[projects."{project.folder}"]
trust_level = "trusted"
"""
    for name, entry in servers.items():
        codex += f"[mcp_servers.{name}]\n"
        codex += "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items())
    _write(project.home / ".codex/config.toml", codex)
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}}
    _write(project.home / ".gemini/settings.json", json.dumps(auth | {"mcpServers": servers}))
    auth = {"security": {"auth": {"selectedType": "openai"}}}
    _write(project.home / ".qwen/settings.json", json.dumps(auth | {"mcpServers": servers}))
    scripted = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": project.provider.base_url("openai-chat"), "apiKey": KEY},
        "models": {"tea-1": {}},
    }
    local = {name: {"type": "local", "command": server} for name in servers}
    told = {"provider": {"scripted": scripted}, "mcp": local, "autoupdate": False}
    _write(project.home / ".config/opencode/opencode.json", json.dumps(told))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Stream:
    """A session of Claude Code that reads prompts from standard input."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        told = {"type": "user", "message": {"role": "user", "content": text}}
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """As a machine does that has no memory left: nothing is said to it before."""
        self.process.kill()
        self.process.wait()


class Terminal:
    """An interactive session in tmux, on a socket of its own."""

    def __init__(self, project: Project, command: Sequence[str]) -> None:
        self._project, self._socket = project, f"looseleaf-{uuid.uuid4().hex[:8]}"
        size = ("-x", "150", "-y", "50")
        self._tmux(
            "-f", "/dev/null", "new-session", "-d", *size, "-c", str(project.folder), shlex.join(command)
        )

    def _tmux(self, *arguments: str) -> str:
        return self._project.run("tmux", "-L", self._socket, *arguments)

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-S", "-500")

    def wait_for(self, pattern: str) -> None:
        end = time.monotonic() + SECONDS
        while not re.search(pattern, self.screen):
            assert time.monotonic() < end, f"no {pattern!r} on\n{self.screen}"
            time.sleep(0.1)

    def key(self, name: str) -> None:
        self._tmux("send-keys", name)

    def type(self, text: str) -> None:
        """Type a line and send it, once it stands on the screen."""
        self._tmux("send-keys", "-l", text)
        self.wait_for(re.escape(text[:40]))
        time.sleep(0.3)  # a burst of keys with Enter in it counts as a paste
        self.key("Enter")

    def paste(self, text: str) -> None:
        self._tmux("set-buffer", text)
        self._tmux("paste-buffer", "-p")

    def close(self) -> None:
        """End the client, which then writes its last lines: wait for it."""
        pid = int(self._tmux("display-message", "-p", "#{pane_pid}"))
        self._tmux("kill-server")
        until(lambda: not is_alive(pid), "the client is gone")


NewProject = Callable[..., Project]
Needs = Callable[[str], Path]


@contextmanager
def project(clients: Path, **settings: Any) -> Iterator[Project]:
    """A project with a provider of its own; both end with it."""
    place = Path(tempfile.mkdtemp(prefix="looseleaf-clients-"))
    with Provider(Script()) as provider:
        made = Project(place, clients, provider, **settings)
        try:
            yield made
        finally:
            made.close()
            _remove(place)


def _remove(place: Path) -> None:
    """The folder, in which a server or a hook may still write its last lines."""
    for _ in range(100):
        shutil.rmtree(place, ignore_errors=True)
        if not place.exists():
            return
        time.sleep(0.1)
    raise AssertionError(f"{place} is still written to")
