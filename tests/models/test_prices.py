"""Prices of models: found by name or not at all, and what a call costs by them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf.base.policy import Policy
from looseleaf.base.replies import Usage
from looseleaf.models import model_table
from looseleaf.models.prices import FREE, MILLION, PRICES, Long, Price, as_set, cost, price

ROWS = st.sampled_from(sorted(PRICES))
BEFORE = st.sampled_from(["", "openai/", "models/", "us.anthropic.", "bedrock/eu.", "accounts/x/models/"])
BEHIND = st.sampled_from(
    ["", "-2025-08-07", "-20250929", "@20240620", "-latest", "-preview-05-20", "-20250514-v1:0"]
)
COUNTS = st.integers(0, 2_000_000)
USAGES = st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
FIGURES = st.floats(0, 1000)
PLAIN = st.builds(Price, FIGURES, FIGURES, FIGURES, FIGURES)


# --- the table -----------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PRICES))
def test_no_row_is_cheaper_to_write_or_dearer_from_the_cache_than_to_read(name: str) -> None:
    row = PRICES[name]
    assert 0 < row.cached <= row.input <= row.written <= 1.25 * row.input
    assert row.output > row.input
    assert row.long is None or (row.long.above >= 100_000 and min(row.long.input, row.long.output) > 1)


def test_what_claude_puts_into_its_cache_costs_a_quarter_more() -> None:
    rows = [row for name, row in PRICES.items() if name.startswith("claude") and name != "claude-3-haiku"]
    assert rows
    assert all(math.isclose(row.written, 1.25 * row.input) for row in rows)


def test_no_two_rows_read_the_same() -> None:
    assert len({model_table._parts(name) for name in PRICES}) == len(PRICES)


# --- names ---------------------------------------------------------------------------


@given(ROWS, BEFORE, BEHIND, st.sampled_from([str.upper, str.title, str]))
def test_vendors_in_front_and_dates_behind_do_not_matter(
    name: str, before: str, behind: str, spell: type[str]
) -> None:
    assert price(spell(before + name + behind)) == PRICES[name]


@given(ROWS, st.sampled_from("mini nano pro lite codex image audio free batch turbo 9 7b".split()))
def test_a_name_that_says_more_is_another_model_or_none_that_is_known(name: str, more: str) -> None:
    longer = f"{name}-{more}"
    assert price(longer) is PRICES.get(longer)


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        " ",
        "/",
        "unheard-of",
        "gpt",
        "gpt-6",
        "my-gpt-5",
        "ft:gpt-4o-2024-08-06:org::id",
        "claude",
        "claude-opus-4-9",
        "claude-sonnet-6",
        "gpt-4o-audio-preview",
        "deepseek-r1-distill-llama-70b",
        "llama-3.3-70b",
    ],
)
def test_a_name_that_no_row_has_has_no_price(name: str | None) -> None:
    assert price(name) is None


@given(st.text(max_size=40), st.sampled_from([None, "openai", "ollama"]))
def test_any_text_has_a_price_or_none(name: str, dialect: str | None) -> None:
    found = price(name, dialect)
    assert found is None or isinstance(found, Price)


def test_what_runs_here_costs_nothing_and_what_ollama_runs_elsewhere_nobody_knows() -> None:
    assert price("llama3.2:3b", "ollama") is FREE
    assert price("gpt-5", "ollama") is FREE
    assert price("gpt-oss:120b-cloud", "ollama") is None
    assert price("qwen3-coder:480b-cloud", "ollama") is None


# --- what the settings say -------------------------------------------------------------


def test_without_settings_the_table_holds() -> None:
    assert as_set(PRICES["gpt-5"], Policy()) is PRICES["gpt-5"]
    assert as_set(None, Policy()) is None


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        ({"price_input": 4.0, "price_output": 9.0}, Price(4, 4, 5, 9)),
        ({"price_input": 4.0, "price_cached": 1.0, "price_output": 9.0}, Price(4, 1, 5, 9)),
        ({"price_input": 0.0, "price_output": 0.0}, FREE),
        ({"price_input": 4.0}, None),
        ({"price_output": 4.0, "price_cached": 4.0}, None),
    ],
)
def test_settings_price_a_model_that_the_table_has_not_if_they_say_enough(
    settings: dict[str, float], made: Price | None
) -> None:
    assert as_set(None, Policy(**settings)) == made  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        ({"price_cached": 0.5}, Price(2, 0.5, 2, 12, Long(200_000, 2, 1.5))),
        ({"price_output": 1.0}, Price(2, 2, 2, 1)),
        ({"price_input": 1.0}, Price(1, 1, 1.25, 12)),
    ],
)
def test_a_setting_changes_its_own_part_of_a_known_price(settings: dict[str, float], made: Price) -> None:
    assert as_set(PRICES["gemini-3.1-pro"], Policy(**settings)) == made  # type: ignore[arg-type]


# --- what a call costs -------------------------------------------------------------------


def test_cached_and_written_tokens_are_priced_apart() -> None:
    usage = Usage(
        prompt_tokens=1_000_000, cached_tokens=600_000, written_tokens=300_000, output_tokens=10_000
    )
    # 100,000 read at 3, 600,000 from the cache at 0.30, 300,000 into it at 3.75, 10,000 written at 15
    assert math.isclose(cost(usage, PRICES["claude-sonnet-4-5"]), 0.3 + 0.18 + 1.125 + 0.15)


def test_reasoning_is_a_part_of_what_was_written_and_not_paid_twice() -> None:
    usage = Usage(prompt_tokens=100, output_tokens=1000, reasoning_tokens=900)
    assert cost(usage, PRICES["o3"]) == cost(Usage(prompt_tokens=100, output_tokens=1000), PRICES["o3"])


def test_a_prompt_that_is_too_long_for_the_low_price_pays_the_high_one_for_all_of_it() -> None:
    row = PRICES["gemini-2.5-pro"]
    assert cost(Usage(200_000, output_tokens=1000), row) == (200_000 * 1.25 + 1000 * 10) / MILLION
    assert cost(Usage(200_001, output_tokens=1000), row) == (200_001 * 2.5 + 1000 * 15) / MILLION


@given(USAGES, PLAIN)
def test_a_call_costs_no_less_than_nothing_and_no_more_than_all_of_it_at_the_highest_price(
    usage: Usage, row: Price
) -> None:
    dearest = max(row.input, row.cached, row.written)
    most = (usage.prompt_tokens * dearest + usage.output_tokens * row.output) / MILLION
    assert 0 <= cost(usage, row) <= most * (1 + 1e-9)


@given(USAGES, st.sampled_from(["prompt_tokens", "output_tokens"]), st.integers(1, 100_000), ROWS)
def test_more_tokens_never_cost_less(usage: Usage, name: str, more: int, row: str) -> None:
    larger = Usage(**usage.to_dict() | {name: getattr(usage, name) + more})
    assert cost(larger, PRICES[row]) >= cost(usage, PRICES[row]) * (1 - 1e-12)


@given(USAGES)
def test_what_is_free_costs_nothing(usage: Usage) -> None:
    assert cost(usage, FREE) == 0
