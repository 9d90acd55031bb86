"""Ids: they sort by time, and follow the one they are made after."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from looseleaf.base.ids import at, id_of, is_id, new_id, time_of

LAST = id_of(2**48 / 1000 - 0.001, b"\xff" * 10)
"""The last id there can be."""


@given(st.floats(-1e9, 1e10), st.binary(min_size=10, max_size=10))
def test_an_id_is_larger_than_the_one_it_is_made_after(ahead: float, digest: bytes) -> None:
    after = id_of(time.time() + ahead, digest)
    made = new_id(after)
    assert is_id(made)
    assert made > after
    assert time_of(made) <= max(time.time(), time_of(after) + 0.101)


def test_so_it_is_within_one_millisecond() -> None:
    while True:
        after = f"{new_id()[:10]}{'Z' * 16}"
        made = new_id(after)
        if made[:9] == after[:9]:  # else a moment passed
            break
    assert made > after
    assert time_of(made) - time_of(after) < 1.0


def test_after_the_last_id_the_clock_counts() -> None:
    assert abs(time_of(new_id(LAST)) - time.time()) < 100


def test_after_what_is_no_id_it_is_as_any() -> None:
    assert is_id(new_id("no id"))


def test_at_a_fixed_time_ids_follow_from_it() -> None:
    def made(after: str) -> list[str]:
        with at(1_700_000_000.0, "story"):
            return [new_id(after) for _ in range(3)]

    plain = made("")
    assert made(plain[2]) == plain  # of the same millisecond
    behind = made(id_of(1_700_000_001.0, b"0" * 10))
    assert behind == made(id_of(1_700_000_001.0, b"0" * 10))
    assert {time_of(each) for each in behind} == {1_700_000_001.1}
