"""The measure of REST: its table is whole, and what was asked was answered."""

from __future__ import annotations

import re

import pytest

from benchmarks.test_measures import benchmark

rest = benchmark("rest")


@pytest.mark.long
def test_the_table_has_a_figure_for_each_verb(capsys: pytest.CaptureFixture[str]) -> None:
    rest.main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["| what | measured | goal |", "|---|---|---|"]
    assert all(re.fullmatch(r"\| .+ \| .+ \| (≤ [0-9.]+|–) \|", line) for line in lines[2:])
    assert len(lines) == 2 + 3 + 2
