"""The model of a provider's cache: only what was sent before, in whole blocks, long enough and not too long ago."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.test_measures import benchmark

model = benchmark("cache_model")

TOKENS = st.lists(st.integers(0, 2), max_size=24)
SERIES = st.lists(st.tuples(st.integers(0, 40), TOKENS), max_size=8)


def slowly(prompts: list[tuple[float, list[int]]], block: int, least: int, seconds: float) -> list[int]:
    """The same by its definition: whether any earlier prompt, not too long ago, begins with the same blocks."""
    found = []
    for number, (now, tokens) in enumerate(prompts):
        sizes = range(0, len(tokens) + 1, block)
        known = max(
            size
            for size in sizes
            if size == 0
            or any(now - then <= seconds and old[:size] == tokens[:size] for then, old in prompts[:number])
        )
        found.append(known if known >= least else 0)
    return found


@given(SERIES, st.integers(1, 5), st.integers(1, 9), st.integers(1, 60))
def test_the_cache_knows_the_longest_beginning_that_was_sent_lately(
    steps: list[tuple[int, list[int]]], block: int, least: int, seconds: int
) -> None:
    now, prompts = 0.0, []
    for wait, tokens in steps:
        now += wait
        prompts.append((now, tokens))
    found = model.cached_tokens(prompts, block=block, least=least, seconds=seconds)
    assert found == slowly(prompts, block, least, seconds)


@pytest.mark.parametrize(
    ("wait", "second", "known"),
    [
        (40, list(range(3000)), 2944),  # the same again: all whole blocks
        (40, [*range(2000), 9, 9], 1920),  # up to where it differs
        (40, list(range(1100)), 1024),
        (40, list(range(1023)), 0),  # too short to be cached
        (40, [*range(1000), 9, *range(1001, 3000)], 0),  # the common beginning is too short
        (40, [9, *range(3000)], 0),
        (300, list(range(3000)), 2944),
        (301, list(range(3000)), 0),
    ],
)
def test_what_counts_as_cached(wait: float, second: list[int], known: int) -> None:
    assert model.cached_tokens([(0.0, list(range(3000))), (wait, second)]) == [0, known]


def test_each_use_renews_a_beginning_and_only_what_was_used() -> None:
    short, long = list(range(1280)), list(range(2560))
    prompts = [(0.0, long), (200.0, short), (400.0, long)]
    assert model.cached_tokens(prompts) == [0, 1280, 1280]
    assert model.cached_share(prompts) == 2560 / 6400
    assert model.cached_share([]) == 0
