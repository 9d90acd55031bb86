"""The measure of a server's screens: its table is whole, and each act finds what the memory was filled with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.test_measures import benchmark
from looseleaf import Memory

screens = benchmark("screens")


@pytest.mark.long
def test_the_table_has_figures_of_each_screen(capsys: pytest.CaptureFixture[str]) -> None:
    screens.main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["| what | measured | goal |", "|---|---|---|"]
    assert all(re.fullmatch(r"\| .+ \| .+ \| (≤ [0-9.]+|–) \|", line) for line in lines[2:])
    assert len(lines) == 2 + 2 * 13 + 3


def test_each_act_finds_something(place: Path) -> None:
    screens.fill(place / "memory", 120, 50)
    with Memory(place / "memory") as memory:
        found = {name: act() for name, (act, *_) in screens.acts(memory).items()}
        assert len(found["all facts"]) == 50 + 1
        assert [len(found[name]) for name in found if "session" in name] == [3, 20, 50]
        assert not found["why a word stands nowhere"].is_in
        assert found["why a word of the prompt"].is_in
