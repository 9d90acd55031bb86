"""Power cuts on real file systems: what was acknowledged is there when the lights come back (FORMAT §3)."""

from __future__ import annotations

import pytest

from powercut import KINDS, cut_many, why_not

CUTS = 100


def need(kind: str) -> None:
    lacking = why_not(kind)
    if lacking:
        pytest.skip(lacking)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_power_cuts_lose_nothing_that_was_acknowledged(kind: str) -> None:
    need(kind)
    result = cut_many(kind, CUTS)
    print(f"\n{result}")
    assert result.lost == []
    assert result.cuts == CUTS
    assert result.acknowledged > 3 * CUTS  # how many depends on the machine


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_store_that_does_not_sync_loses_acknowledged_records_within_a_few_cuts(kind: str) -> None:
    need(kind)
    result = cut_many(kind, 10, unsynced=True, stop_at_loss=True)
    print(f"\nwithout sync: {result}")
    assert any("was acknowledged" in sentence for sentence in result.lost)
