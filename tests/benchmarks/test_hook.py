"""The measure of hooks: its agent talks as one does, its reference runs beside each, and its table is whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.test_measures import benchmark
from looseleaf import Memory

hook = benchmark("hook")


@pytest.mark.long
def test_the_table_has_figures_of_every_hook_and_what_was_measured_was_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hook.main(["--quick", "--keep", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["| what | measured | goal |", "|---|---|---|"]
    assert all(re.fullmatch(r"\| .+ \| [0-9].* \| (≤ [0-9.]+|–) \|", line) for line in lines[2:])
    assert len(lines) == 2 + 5 * 2 + 2
    for event in ("user-prompt", "pre-tool", "session-start", "pre-compact", "stop"):
        assert any(f"`hook {event}`" in line for line in lines)
    [path] = [each for each in tmp_path.iterdir() if each.is_dir()]
    with Memory(path) as memory:
        told = [trace.trace_type for trace in memory.talk.turns(1)[-1].traces]
        assert told == ["user", *["tool_call", "tool_result"] * 2, *["assistant"] * 6]
        assert memory.check() == []


def test_it_measures_the_program_as_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert "PYTHONDONTWRITEBYTECODE" not in hook.environment()
    command: Any = hook.command()
    assert Path(command[0]).exists()
    assert command[1:] in ([], ["-m", "looseleaf"])
