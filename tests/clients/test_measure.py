"""The measure of what we add to a turn: it runs, and its table is whole."""

from __future__ import annotations

import re

import pytest

from benchmarks.test_measures import benchmark
from clients.driver import Needs


def test_the_table_has_figures_of_both_programs(needs: Needs, capsys: pytest.CaptureFixture[str]) -> None:
    for client in ("claude", "codex"):
        needs(client)
    benchmark("clients").main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["| what | measured | goal |", "|---|---|---|"]
    assert all(re.fullmatch(r"\| .+ \| -?[0-9].* \| (1|–) \|", line) for line in lines[2:])
    assert len(lines) == 2 + 2 * 3
