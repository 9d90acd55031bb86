"""A coding agent's program that a test writes: a real one on PATH, which keeps what it was asked and answers by a plan.

claude = Program(place / "bin", "claude")
claude.plan(out=of_claude({"summary": "…", "facts": []}))
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from looseleaf.distill.model import SCHEMA, VERSION
from looseleaf.distill.rules import Rules

_SOURCE = """#!{python} -IS
import json, os, subprocess, sys, time

here = {here!r}
plan = json.load(open(os.path.join(here, "plan.json")))
started = [subprocess.Popen(["sleep", "600"]).pid] if plan.get("child") else []
call = dict(
    argv=sys.argv[1:],
    folder=os.getcwd(),
    files=sorted(os.listdir()),
    inside=os.environ.get("LOOSELEAF_INSIDE"),
    environ=sorted(os.environ),
    said=sys.stdin.read(),
    pids=[os.getpid(), *started],
)
for name in ("--system-prompt-file", "--output-schema"):
    if name in sys.argv:
        call[name] = open(sys.argv[sys.argv.index(name) + 1]).read()
with open(os.path.join(here, "calls.jsonl"), "a") as file:
    file.write(json.dumps(call) + "\\n")
while plan.get("wait") and not os.path.exists(os.path.join(here, "go")):
    time.sleep(0.01)
for command in plan.get("runs", ()):
    subprocess.run(command, input=plan["given"].encode(), check=True)
sys.stdout.write(plan.get("out", ""))
sys.stderr.write(plan.get("err", ""))
sys.exit(plan.get("code", 0))
"""


class Program:
    """One that is called `name`, in a folder that is to be on PATH."""

    def __init__(self, folder: Path, name: str) -> None:
        self._here = folder / f"{name}.d"
        self._here.mkdir(parents=True)
        self.path = folder / name
        self.path.write_text(_SOURCE.format(python=sys.executable, here=str(self._here)), encoding="utf-8")
        self.path.chmod(0o755)
        self.plan()

    def plan(self, **plan: Any) -> None:
        """`out`, `err`, `code`: how it answers; `wait`: until `go`; `child`: it starts another, which never ends;
        `runs`: commands that it calls, with `given` on their standard input."""
        staged = self._here / "plan.new"
        staged.write_text(json.dumps(plan), encoding="utf-8")
        staged.replace(self._here / "plan.json")

    def go(self) -> None:
        (self._here / "go").touch()

    @property
    def calls(self) -> list[dict[str, Any]]:
        file = self._here / "calls.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]


def of_claude(answer: dict[str, Any] | None, **more: Any) -> str:
    """What Claude Code prints, with what is always in it."""
    usage = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 3,
        "output_tokens": 40,
    }
    told = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": json.dumps(answer),
        "structured_output": answer,
        "total_cost_usd": 0.0125,
        "usage": usage,
        "modelUsage": {"claude-opus-4-8[1m]": {"costUSD": 0.0125}},
    }
    return json.dumps(told | more)


def fact(value: str, quote: str) -> dict[str, Any]:
    """A fact as a model is asked for it."""
    told = {"topic": "garden", "relation": "Plants", "object": value, "kind": "event", "quote": quote}
    taken = SCHEMA["properties"]["facts"]["items"]["properties"]
    return {name: text for name, text in told.items() if name in taken}


BY_CLAUDE = f"model/claude-code/{VERSION}"
BY_RULES = Rules.name
"""Who made an entry, as it says itself."""


PATIENCE = 60.0
"""Far longer than any of this takes on a busy machine: past it, it hangs."""


def until(is_so: Callable[[], Any], what: str) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process is there, and not only its name."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def path_with(folder: Path) -> str:
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
