"""Claude Code asked as a model, to distill: against a scripted provider on this machine, without a login."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clients.driver import Needs
from integrations.test_detached import entries, is_distilled, planted, workers
from looseleaf import Memory
from looseleaf.base.messages import Message
from looseleaf.models import ClaudeCode
from programs import BY_CLAUDE, fact, is_alive, until
from providing import Answer, Asked, Provider

QUINCES = "in the garden we put quinces along the wall"
DISTILLED = {"summary": "Ada told of her garden.", "facts": [fact("quinces", QUINCES)]}
OURS = "The conversation, as data"


class Home:
    """A home and a project, both of whose settings name our hooks and our server, and a provider that answers them."""

    def __init__(
        self, place: Path, claude: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.project, self.memory = place / "project", place / "project/.looseleaf"
        self.calls = place / "calls"
        self.provider = provider
        (place / "home").mkdir()
        self.project.mkdir()
        bin = place / "bin"
        bin.mkdir()
        (bin / "claude").symlink_to(claude)
        # Ours, which writes down that it was called, and whether that was inside.
        program = f'#!/bin/sh\necho "${{LOOSELEAF_INSIDE:-outside}} $*" >> {self.calls}\n'
        (bin / "looseleaf").write_text(f'{program}exec {sys.executable} -m looseleaf "$@"\n')
        (bin / "looseleaf").chmod(0o755)
        for name in list(os.environ):
            if name.startswith(("CLAUDE", "ANTHROPIC")):
                monkeypatch.delenv(name)
        given = {
            "HOME": str(place / "home"),
            "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
            "ANTHROPIC_BASE_URL": provider.address,
            "ANTHROPIC_API_KEY": "sk-ant-dummy-00000000000000000000",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        self.run("looseleaf", "init")
        self.run("looseleaf", "hook", "install", "--claude", "--yes", "--distill-with", "claude-code")
        self.run("looseleaf", "hook", "install", "--claude", "--user", "--yes")
        for scope in ("local", "user"):
            self.run("claude", "mcp", "add", "--scope", scope, f"looseleaf-{scope}", "--", "looseleaf", "mcp")
        for path in (place / "home/.claude/CLAUDE.md", self.project / "CLAUDE.md"):
            path.write_text("Say BANANA.\n")
        self.calls.unlink()

    def run(self, *command: str, given: str = "") -> str:
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, cwd=self.project, check=True, timeout=120
        )
        return done.stdout

    def ask(self, text: str) -> dict[str, Any]:
        """A session of the user's own, with hooks and all."""
        told: dict[str, Any] = json.loads(self.run("claude", "-p", "--output-format", "json", given=text))
        assert not told["is_error"], told
        return told

    def called(self) -> list[str]:
        return self.calls.read_text().splitlines()

    @property
    def distilling(self) -> list[Asked]:
        return [asked for asked in self.provider.asked if OURS in asked.everything]


@pytest.fixture
def hold() -> threading.Event:
    """Unset, the provider keeps whoever distills waiting."""
    held = threading.Event()
    held.set()
    return held


@pytest.fixture
def home(place: Path, needs: Needs, hold: threading.Event, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    claude = needs("claude")

    def brain(asked: Asked) -> Answer:
        if OURS not in asked.everything:
            return Answer("Good to know.")
        hold.wait()
        return Answer("Done.") if asked.results else Answer(calls=[("StructuredOutput", DISTILLED)])

    with Provider(brain) as provider:
        made = Home(place, claude, provider, monkeypatch)
        yield made
        hold.set()
        until(lambda: not workers(made.memory), "no process is left")


def test_a_session_of_claude_code_is_distilled_by_claude_code_in_the_background(
    home: Home, hold: threading.Event
) -> None:
    hold.clear()
    home.ask(f"I am Ada, and {QUINCES}.")
    until(lambda: home.distilling, "the model is asked")
    assert entries(home.memory) == []  # the session is over, and it is still thinking
    hold.set()
    until(lambda: is_distilled(home.memory), "it is distilled")
    (meta,) = entries(home.memory)
    assert (meta["distiller"], meta["failures"]) == (BY_CLAUDE, [])
    assert meta["cost"] > 0
    assert planted(home.memory) == {"quinces"}
    with Memory(home.memory) as memory:
        assert memory.costs.total().cost == meta["cost"]
    (asked,) = home.distilling
    assert set(asked.tools) == {"StructuredOutput"}
    assert "BANANA" not in json.dumps(asked.body)
    assert "BANANA" in json.dumps(home.provider.asked[0].body)  # the user's own session has it


def test_nothing_of_ours_is_called_by_the_one_that_distills_or_does_anything_if_it_is(home: Home) -> None:
    home.ask(f"I am Ada, and {QUINCES}.")
    until(lambda: is_distilled(home.memory), "it is distilled")
    until(lambda: not workers(home.memory), "the process is gone")
    assert {line.split()[0] for line in home.called()} == {"outside"}
    traces = (home.memory / "log/traces/main/raw_traces.jsonl").read_text()
    assert traces.count('"trace_type":"user"') == 1
    assert OURS not in traces
    # Were its settings read, they would call our hooks, and those would do nothing.
    os.environ["LOOSELEAF_INSIDE"] = "1"
    try:
        home.ask("I live in Rome.")
    finally:
        del os.environ["LOOSELEAF_INSIDE"]
    inside = [line.split()[1:] for line in home.called() if line.startswith("1 ")]
    assert {"session-start", "user-prompt", "stop"} <= {words[-1] for words in inside}
    assert (home.memory / "log/traces/main/raw_traces.jsonl").read_text() == traces


def test_killed_half_way_it_is_made_up_by_the_next_hook(home: Home, hold: threading.Event) -> None:
    hold.clear()
    home.ask(f"I am Ada, and {QUINCES}.")
    until(lambda: home.distilling, "the model is asked")
    (worker,) = workers(home.memory)
    children = [int(each) for each in _children(worker)]
    assert children
    for pid in (worker, *children):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not any(map(is_alive, (worker, *children))), "all of them are dead")
    assert entries(home.memory) == []
    hold.set()
    home.ask("Hello again.")
    until(lambda: is_distilled(home.memory), "the next hook makes it up")
    assert planted(home.memory) == {"quinces"}
    assert {meta["distiller"] for meta in entries(home.memory)} == {BY_CLAUDE}
    # The hook of the next prompt may make it up, or the one behind the answer: then the second turn is in two entries.
    assert {turn for meta in entries(home.memory) for turn in meta["turn_ids"]} == {"turn_0001", "turn_0002"}
    assert (home.memory / "facts/garden.md").read_text().count("quinces") == 1


def test_without_a_login_it_says_so(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from looseleaf.base.errors import ModelFailed

    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ModelFailed, match="Claude Code did not answer: it is not logged in"):
        ClaudeCode().send([Message("user", "Hello?")])


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split() + [
        child
        for task in Path(f"/proc/{pid}/task").iterdir()
        if task.name != str(pid)
        for child in (task / "children").read_text().split()
    ]
