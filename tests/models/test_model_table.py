"""The table of models: found by name, whole, and what a call costs by it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.base.errors import Invalid
from looseleaf.base.policy import Policy
from looseleaf.base.replies import Usage
from looseleaf.models.choice import COMMAND_LINES, PROVIDERS
from looseleaf.models.model_table import (
    FREE,
    MILLION,
    UNKNOWN,
    Budget,
    LongPrices,
    ModelInfo,
    Price,
    apply_settings,
    budget,
    cost_of,
    known_models,
    known_prices,
    model,
    name_parts,
    price_of,
)
from looseleaf.models.tokens import VOCABULARIES
from tables import check_rows

MODELS = known_models()
PRICES = known_prices()
ROWS = st.sampled_from(sorted(MODELS))
BEFORE = st.sampled_from(
    ["", "openai/", "models/", "us.anthropic.", "bedrock/eu.meta.", "accounts/x/models/", "ft:"]
)
BEHIND = st.sampled_from(
    ["", "-2025-08-07", "-20250929", "@20240620", "-latest", ":latest", "-20250514-v1:0", ":free", "-q4_K_M"]
)


# --- the table -----------------------------------------------------------------------


def test_every_row_leaves_room_for_a_prompt() -> None:
    def check(name: str) -> None:
        row = MODELS[name]
        room = row.max_context_tokens - row.max_output_tokens - row.default_safety_margin_tokens
        assert room >= row.max_context_tokens / 5
        assert budget(row) == Budget(
            row.max_context_tokens, row.max_output_tokens, row.default_safety_margin_tokens, 0.8
        )
        assert budget(row).input == room

    check_rows(check, sorted(MODELS))


def test_the_margin_is_a_hundredth_of_the_window_and_never_tiny() -> None:
    for row in (*MODELS.values(), UNKNOWN):
        assert row.default_safety_margin_tokens == max(256, row.max_context_tokens // 100)


def test_every_row_is_counted_in_a_vocabulary_that_exists() -> None:
    assert {row.vocabulary for row in MODELS.values()} <= set(VOCABULARIES)
    assert all(1 <= row.count_margin < 2 for row in MODELS.values())
    assert all(row.name == name for name, row in MODELS.items())


def test_no_two_rows_read_the_same() -> None:
    assert len({name_parts(name) for name in MODELS}) == len(MODELS)
    assert len({name_parts(name) for name in PRICES}) == len(PRICES)


def test_a_vocabulary_that_is_not_the_models_own_has_a_margin() -> None:
    for name, row in MODELS.items():
        if name.startswith(("claude", "grok", "nova", "command", "minimax")):
            assert row.count_margin >= 1.2, name
    assert MODELS["claude-opus-4-7"].count_margin > MODELS["claude-opus-4-6"].count_margin


# --- names ---------------------------------------------------------------------------


@given(ROWS, BEFORE, BEHIND)
def test_vendors_in_front_and_dates_behind_do_not_matter(name: str, before: str, behind: str) -> None:
    assert model(before + name + behind) is MODELS[name]


@given(ROWS, st.sampled_from([str.upper, str.title, str]), st.sampled_from("-_. :"))
def test_spelling_does_not_matter(name: str, spell: type[str], separator: str) -> None:
    written = spell(name).replace(".", separator).replace("-", separator)
    assert model(written) is MODELS[name]


def test_a_model_that_is_only_known_to_its_server_has_a_small_context() -> None:
    for name in ("ollama/my-finetune", "my-finetune:8b", "Some_Model.Q4_K_M.gguf", "local-model"):
        shared = budget(model(name))
        assert shared.max_context_tokens == 8192
        assert shared.input > 4096
        assert budget(model(name), context_tokens=32_768).max_context_tokens == 32_768


def test_the_usual_names_of_command_lines_and_routers_are_known() -> None:
    for name in (*COMMAND_LINES, *(info.model for info in PROVIDERS.values() if info.model), "opus", "haiku"):
        assert model(name).max_context_tokens >= 100_000


@given(st.text(max_size=40))
def test_any_name_gives_a_model(name: str) -> None:
    found = model(name)
    if found not in MODELS.values() and found is not UNKNOWN:
        assert found.name == name
        assert found.max_context_tokens == 8192
        assert found.count_margin > 1
    assert budget(found).input > 0


@given(ROWS, st.from_regex(r"[a-z]{1,6}", fullmatch=True))
def test_a_whole_part_must_fit(name: str, more: str) -> None:
    """`gpt-4` is no `gpt-4o`: letters that run on make another name, of the family at most."""
    found = model(name + more)
    assert found is not MODELS[name] or name_parts(name + more)[-1] == name_parts(name)[-1]


def test_names_as_they_are_met() -> None:
    def check(name: str, known: str) -> None:
        assert model(name).name == known

    check_rows(
        check,
        [
            ("gpt-5-2025-08-07", "gpt-5"),
            ("gpt-5-mini", "gpt-5-mini"),
            ("openai/gpt-4o", "gpt-4o"),
            ("gpt-4o-mini-2024-07-18", "gpt-4o"),
            ("gpt-4-0613", "gpt-4"),
            ("gpt-4-1106-preview", "gpt-4-1106"),
            ("gpt-4.1-nano", "gpt-4.1"),
            ("gpt-6.1-sol", "gpt-6"),
            ("o3-mini-2025-01-31", "o3-mini"),
            ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
            ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("claude-opus-4-20250514", "claude-opus-4"),
            ("us.anthropic.claude-3-5-sonnet-20240620-v1:0", "claude-3-5-sonnet"),
            ("claude-opus-9", "claude"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            ("gemini-2.5-flash-lite-preview-06-17", "gemini-2.5-flash"),
            ("qwen3:8b", "qwen3"),
            ("Qwen/Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b-instruct-2507"),
            ("llama3.1:8b-instruct-q4_K_M", "llama-3.1"),
            ("meta-llama/Llama-3.3-70B-Instruct-Turbo", "llama-3.3"),
            ("meta.llama3-1-70b-instruct-v1:0", "llama-3.1"),
            ("deepseek-r1-distill-llama-70b", "deepseek-r1"),
            ("gpt-oss:20b", "gpt-oss-20b"),
            ("gemma3n:e4b", "gemma-3n"),
            ("grok-4-0709", "grok-4"),
            ("moonshotai/Kimi-K2-Instruct-0905", "kimi-k2-instruct-0905"),
            ("z-ai/glm-4.6", "glm-4.6"),
            ("phi4-mini:3.8b", "phi-4-mini"),
        ],
    )


@pytest.mark.parametrize("name", [None, "", "  "])
def test_no_name_is_counted_without_a_margin(name: str | None) -> None:
    assert model(name) is UNKNOWN
    assert UNKNOWN.count_margin == 1.0


def test_a_very_long_name_takes_time_in_proportion() -> None:
    assert growth(lambda size: lambda: model("no-7-" * size), 500) < LINEAR


# --- budgets -------------------------------------------------------------------------

TOKENS = st.one_of(st.none(), st.integers(1, 3_000_000), st.integers(1, 300))
MODEL = st.one_of(
    ROWS.map(model),
    st.builds(
        ModelInfo,
        st.just("m"),
        st.integers(2, 10_000),
        st.integers(1, 20_000),
        st.just(0.8),
        st.integers(0, 20_000),
    ),
)


@given(MODEL, TOKENS, TOKENS, TOKENS, st.one_of(st.none(), st.floats(0.01, 1)))
def test_a_budget_keeps_what_was_given_and_leaves_room_or_is_refused(
    row: ModelInfo, context: int | None, output: int | None, margin: int | None, ratio: float | None
) -> None:
    window = row.max_context_tokens if context is None else context

    def share() -> Budget:
        return budget(
            row,
            context_tokens=context,
            max_tokens=output,
            safety_margin_tokens=margin,
            compaction_ratio=ratio,
        )

    if (output or 1) + (margin or 0) >= window:
        with pytest.raises(Invalid, match=f"a context of {window:,} tokens"):
            share()
        return
    shared = share()  # not refused: a default never takes the room that the given numbers leave
    assert shared.max_context_tokens == window
    assert output in (None, shared.max_output_tokens)
    assert margin in (None, shared.safety_margin_tokens)
    assert shared.compaction_ratio == (0.8 if ratio is None else ratio)
    assert shared.max_output_tokens >= 1
    assert shared.safety_margin_tokens >= 0
    assert shared.input >= 1
    assert shared.input + shared.max_output_tokens + shared.safety_margin_tokens == window
    assert 0 <= shared.early <= shared.input


@given(ROWS, st.integers(2, 3_000_000))
def test_a_smaller_window_shrinks_what_is_not_given(name: str, context: int) -> None:
    row = MODELS[name]
    shared = budget(row, context_tokens=context)
    assert shared.max_output_tokens <= row.max_output_tokens
    assert shared.safety_margin_tokens <= row.default_safety_margin_tokens
    if context < row.max_context_tokens:
        assert shared.max_output_tokens <= max(1, context // 4)
        assert shared.input >= context // 2
    else:
        assert shared.max_output_tokens == row.max_output_tokens


@given(ROWS, st.integers(2, 2_000_000), st.integers(0, 100_000))
def test_a_larger_window_never_has_less_room(name: str, context: int, more: int) -> None:
    row = MODELS[name]
    more = min(
        more, max(0, row.max_context_tokens - 1 - context)
    )  # among windows that are smaller than the model's
    smaller, larger = budget(row, context_tokens=context), budget(row, context_tokens=context + more)
    assert larger.input >= smaller.input
    assert larger.early >= smaller.early


def test_a_local_server_with_eight_thousand_tokens() -> None:
    assert budget(model("llama3.1:8b"), context_tokens=8192) == Budget(8192, 2048, 256, 0.8)


OWN = "Leave it out to use the model's own."


def test_numbers_that_mean_nothing_are_refused() -> None:
    def check(given: dict[str, int], sentence: str) -> None:
        with pytest.raises(Invalid) as refused:
            budget(MODELS["gpt-4o"], **given)
        assert str(refused.value) == f"No budget was made: {sentence}"

    check_rows(
        check,
        [
            ({"context_tokens": 0}, f"context_tokens must be a whole number of at least 1, not 0. {OWN}"),
            ({"max_tokens": True}, f"max_tokens must be a whole number of at least 1, not True. {OWN}"),
            ({"max_tokens": 2.5}, f"max_tokens must be a whole number of at least 1, not 2.5. {OWN}"),
            (
                {"safety_margin_tokens": -1},
                f"safety_margin_tokens must be a whole number of at least 0, not -1. {OWN}",
            ),
            (
                {"compaction_ratio": math.nan},
                "compaction_ratio must be above 0 and at most 1, not nan. Leave it out to use 0.8.",
            ),
            (
                {"compaction_ratio": 80},
                "compaction_ratio must be above 0 and at most 1, not 80. Leave it out to use 0.8.",
            ),
        ],
    )


def test_numbers_that_leave_no_room_are_refused() -> None:
    with pytest.raises(Invalid) as refused:
        budget(MODELS["gpt-4o"], context_tokens=4096, max_tokens=4000, safety_margin_tokens=96)
    assert str(refused.value) == (
        "No budget was made: of a context of 4,096 tokens, 4,000 for the answer and 96 of safety margin leave nothing "
        "for the prompt. Give a smaller max_tokens or safety_margin_tokens, or a larger context_tokens."
    )


# --- prices -------------------------------------------------------------------------

PRICED = st.sampled_from(sorted(PRICES))
VENDORS = st.sampled_from(["", "openai/", "models/", "us.anthropic.", "bedrock/eu.", "accounts/x/models/"])
EDITIONS = st.sampled_from(
    ["", "-2025-08-07", "-20250929", "@20240620", "-latest", "-preview-05-20", "-20250514-v1:0"]
)
COUNTS = st.integers(0, 2_000_000)
USAGES = st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
FIGURES = st.floats(0, 1000)
PLAIN = st.builds(Price, FIGURES, FIGURES, FIGURES, FIGURES)


# --- the table of prices -----------------------------------------------------------------------


def test_no_row_is_cheaper_to_write_or_dearer_from_the_cache_than_to_read() -> None:
    def check(name: str) -> None:
        row = PRICES[name]
        assert 0 < row.cached <= row.input <= row.written <= 1.25 * row.input
        assert row.output > row.input
        assert row.long is None or (row.long.above >= 100_000 and min(row.long.input, row.long.output) > 1)

    check_rows(check, sorted(PRICES))


def test_what_claude_puts_into_its_cache_costs_a_quarter_more() -> None:
    rows = [row for name, row in PRICES.items() if name.startswith("claude") and name != "claude-3-haiku"]
    assert rows
    assert all(math.isclose(row.written, 1.25 * row.input) for row in rows)


# --- names of priced models ---------------------------------------------------------------------------


@given(PRICED, VENDORS, EDITIONS, st.sampled_from([str.upper, str.title, str]))
def test_vendors_and_dates_do_not_change_a_price(
    name: str, before: str, behind: str, spell: type[str]
) -> None:
    assert price_of(spell(before + name + behind)) == PRICES[name]


@given(PRICED, st.sampled_from("mini nano pro lite codex image audio free batch turbo 9 7b".split()))
def test_a_name_that_says_more_is_another_model_or_none_that_is_known(name: str, more: str) -> None:
    longer = f"{name}-{more}"
    assert price_of(longer) is PRICES.get(longer)


def test_a_name_that_no_row_has_has_no_price() -> None:
    def check(name: str | None) -> None:
        assert price_of(name) is None

    check_rows(
        check,
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


@given(st.text(max_size=40), st.sampled_from([None, "openai", "ollama"]))
def test_any_text_has_a_price_or_none(name: str, dialect: str | None) -> None:
    found = price_of(name, dialect)
    assert found is None or isinstance(found, Price)


def test_what_runs_here_costs_nothing_and_what_ollama_runs_elsewhere_nobody_knows() -> None:
    assert price_of("llama3.2:3b", "ollama") is FREE
    assert price_of("gpt-5", "ollama") is FREE
    assert price_of("gpt-oss:120b-cloud", "ollama") is None
    assert price_of("qwen3-coder:480b-cloud", "ollama") is None


# --- what the settings say -------------------------------------------------------------


def test_without_settings_the_table_holds() -> None:
    assert apply_settings(PRICES["gpt-5"], Policy()) is PRICES["gpt-5"]
    assert apply_settings(None, Policy()) is None


def test_settings_price_a_model_that_the_table_has_not_if_they_say_enough() -> None:
    def check(settings: dict[str, float], made: Price | None) -> None:
        assert apply_settings(None, Policy(**settings)) == made  # type: ignore[arg-type]

    check_rows(
        check,
        [
            ({"price_input": 4.0, "price_output": 9.0}, Price(4, 4, 5, 9)),
            ({"price_input": 4.0, "price_cached": 1.0, "price_output": 9.0}, Price(4, 1, 5, 9)),
            ({"price_input": 0.0, "price_output": 0.0}, FREE),
            ({"price_input": 4.0}, None),
            ({"price_output": 4.0, "price_cached": 4.0}, None),
        ],
    )


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        ({"price_cached": 0.5}, Price(2, 0.5, 2, 12, LongPrices(200_000, 2, 1.5))),
        ({"price_output": 1.0}, Price(2, 2, 2, 1)),
        ({"price_input": 1.0}, Price(1, 1, 1.25, 12)),
    ],
)
def test_a_setting_changes_its_own_part_of_a_known_price(settings: dict[str, float], made: Price) -> None:
    assert apply_settings(PRICES["gemini-3.1-pro"], Policy(**settings)) == made  # type: ignore[arg-type]


# --- what a call costs -------------------------------------------------------------------


def test_cached_and_written_tokens_are_priced_apart() -> None:
    usage = Usage(
        prompt_tokens=1_000_000, cached_tokens=600_000, written_tokens=300_000, output_tokens=10_000
    )
    # 100,000 read at 3, 600,000 from the cache at 0.30, 300,000 into it at 3.75, 10,000 written at 15
    assert math.isclose(cost_of(usage, PRICES["claude-sonnet-4-5"]), 0.3 + 0.18 + 1.125 + 0.15)


def test_reasoning_is_a_part_of_what_was_written_and_not_paid_twice() -> None:
    usage = Usage(prompt_tokens=100, output_tokens=1000, reasoning_tokens=900)
    assert cost_of(usage, PRICES["o3"]) == cost_of(Usage(prompt_tokens=100, output_tokens=1000), PRICES["o3"])


def test_a_prompt_that_is_too_long_for_the_low_price_pays_the_high_one_for_all_of_it() -> None:
    row = PRICES["gemini-2.5-pro"]
    assert cost_of(Usage(200_000, output_tokens=1000), row) == (200_000 * 1.25 + 1000 * 10) / MILLION
    assert cost_of(Usage(200_001, output_tokens=1000), row) == (200_001 * 2.5 + 1000 * 15) / MILLION


@given(USAGES, PLAIN)
def test_a_call_costs_no_less_than_nothing_and_no_more_than_all_of_it_at_the_highest_price(
    usage: Usage, row: Price
) -> None:
    dearest = max(row.input, row.cached, row.written)
    most = (usage.prompt_tokens * dearest + usage.output_tokens * row.output) / MILLION
    assert 0 <= cost_of(usage, row) <= most * (1 + 1e-9)


@given(USAGES, st.sampled_from(["prompt_tokens", "output_tokens"]), st.integers(1, 100_000), PRICED)
def test_more_tokens_never_cost_less(usage: Usage, name: str, more: int, row: str) -> None:
    larger = Usage(**usage.to_dict() | {name: getattr(usage, name) + more})
    assert cost_of(larger, PRICES[row]) >= cost_of(usage, PRICES[row]) * (1 - 1e-12)


@given(USAGES)
def test_what_is_free_costs_nothing(usage: Usage) -> None:
    assert cost_of(usage, FREE) == 0
