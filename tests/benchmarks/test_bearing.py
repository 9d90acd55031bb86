"""The measure of what hooks add: its sets are apart, its shares are shares, and it says so where it has no data."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.test_measures import benchmark
from looseleaf.prompt.bearing import Bearing

bearing = benchmark("bearing")


def test_what_was_held_back_is_not_what_was_tuned_on() -> None:
    tuned, held = bearing.prompts(tuned=True), bearing.prompts(tuned=False)
    assert (len(tuned), len(held)) == (100, 100)
    assert set(tuned).isdisjoint(held)


def test_shares_are_of_the_prompts_that_got_lines() -> None:
    sets = bearing.Sets()
    for found, share in (
        (Bearing(), 0.0),
        (Bearing("some words", ("1",)), 0.5),
        (Bearing("more", ("2",)), 0.0),
    ):
        sets[bearing.OWN].add(found, share)
    sets[bearing.UNRELATED].add(Bearing())
    rows = {what: figure for what, figure, _ in bearing.rows(sets)}
    assert rows["questions that the memory answers that get lines"] == "0.667 (2 of 3)"
    assert rows["evidence in them"] == "0.500 (all of it 0.250)"
    assert rows["unrelated questions that get lines"] == "0.000 (0 of 1)"


def test_without_the_conversations_nothing_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bearing, "DATA", Path("/nowhere/talks.json"))
    with pytest.raises(SystemExit):
        bearing.main([])
    assert capsys.readouterr().err == "nothing was measured: talks.json is not there\n"
