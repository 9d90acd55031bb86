"""Random histories of several machines, merged in every direction: `histories` says what must hold.

`LOOSELEAF_HISTORIES` says how many the long form plays (2,000 for the full form), `LOOSELEAF_HISTORIES_FROM` the first.
"""

from __future__ import annotations

import os

import pytest

import histories


@pytest.mark.parametrize(
    "seed", [116, 375, 400489, 410209, 410310, 500470, 500855]
)  # they lost a title, a line, and differed
def test_it_does_not_matter_which_copy_is_merged_into_which(seed: int) -> None:
    log, wrong = histories.play(seed)
    assert not wrong, histories.tell(seed, log, wrong)


@pytest.mark.long
@pytest.mark.timeout(0)
def test_after_thousands_of_histories_nothing_is_lost_and_no_level_rose() -> None:
    first = int(os.environ.get("LOOSELEAF_HISTORIES_FROM", "0"))
    seeds = range(first, first + int(os.environ.get("LOOSELEAF_HISTORIES", "100")))
    failed = [
        histories.tell(seed, log, wrong) for seed in seeds for log, wrong in [histories.play(seed)] if wrong
    ]
    print(f"\nhistories={len(seeds)} wrong={len(failed)}")
    assert not failed, "\n".join(failed)


@pytest.mark.long
def test_a_merge_that_raises_a_level_or_loses_a_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from looseleaf.place import woven_page

    monkeypatch.setattr(woven_page.WovenPage, "latest", lambda page, weave: next(iter(page._logs.values())))
    assert any("LOST" in each or "DIFFERENT" in each for each in histories.play(375)[1])
