"""The measure of the page: its table has every screen, and each was answered."""

from __future__ import annotations

import re

import pytest

from benchmarks.test_measures import benchmark
from looseleaf.serve.web.routes import SCREENS

page = benchmark("page")


@pytest.mark.long
def test_the_table_has_a_figure_for_every_screen(capsys: pytest.CaptureFixture[str]) -> None:
    page.main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["| what | measured | goal |", "|---|---|---|"]
    assert all(re.fullmatch(r"\| .+ \| .+ \| (≤ [0-9.]+|–) \|", line) for line in lines[2:])
    assert len(lines) > 2 + len(SCREENS)
