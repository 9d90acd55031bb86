from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.base.errors import Refused
from looseleaf.models import model_table
from looseleaf.models.model_table import MODELS, UNKNOWN, Budget, Model, budget, model
from looseleaf.models.tokens import VOCABULARIES

ROWS = st.sampled_from(sorted(MODELS))
BEFORE = st.sampled_from(
    ["", "openai/", "models/", "us.anthropic.", "bedrock/eu.meta.", "accounts/x/models/", "ft:"]
)
BEHIND = st.sampled_from(
    ["", "-2025-08-07", "-20250929", "@20240620", "-latest", ":latest", "-20250514-v1:0", ":free", "-q4_K_M"]
)


# --- the table -----------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_row_leaves_room_for_a_prompt(name: str) -> None:
    row = MODELS[name]
    room = row.max_context_tokens - row.max_output_tokens - row.default_safety_margin_tokens
    assert room >= row.max_context_tokens / 5
    assert budget(row) == Budget(
        row.max_context_tokens, row.max_output_tokens, row.default_safety_margin_tokens, 0.8
    )
    assert budget(row).input == room


def test_the_margin_is_a_hundredth_of_the_window_and_never_tiny() -> None:
    for row in (*MODELS.values(), UNKNOWN):
        assert row.default_safety_margin_tokens == max(256, row.max_context_tokens // 100)


def test_every_row_is_counted_in_a_vocabulary_that_exists() -> None:
    assert {row.vocabulary for row in MODELS.values()} <= set(VOCABULARIES)
    assert all(1 <= row.count_margin < 2 for row in MODELS.values())
    assert all(row.name == name for name, row in MODELS.items())


def test_no_two_rows_read_the_same_and_none_is_too_long_to_be_found() -> None:
    parts = [model_table._parts(name) for name in MODELS]
    assert len(set(parts)) == len(MODELS)
    assert max(map(len, parts)) <= model_table._MOST_PARTS


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


@given(st.text(max_size=40))
def test_any_name_gives_a_model(name: str) -> None:
    found = model(name)
    if found not in MODELS.values() and found is not UNKNOWN:
        assert found.name == name
        assert found.max_context_tokens == 200_000
        assert found.count_margin > 1
    assert budget(found).input > 0


@given(ROWS, st.from_regex(r"[a-z]{1,6}", fullmatch=True))
def test_a_whole_part_must_fit(name: str, more: str) -> None:
    """`gpt-4` is no `gpt-4o`: letters that run on make another name, of the family at most."""
    found = model(name + more)
    assert found is not MODELS[name] or model_table._parts(name + more)[-1] == model_table._parts(name)[-1]


@pytest.mark.parametrize(
    ("name", "known"),
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
def test_names_as_they_are_met(name: str, known: str) -> None:
    assert model(name).name == known


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
        Model,
        st.just("m"),
        st.integers(2, 10_000),
        st.integers(1, 20_000),
        st.just(0.8),
        st.integers(0, 20_000),
    ),
)


@given(MODEL, TOKENS, TOKENS, TOKENS, st.one_of(st.none(), st.floats(0.01, 1)))
def test_a_budget_keeps_what_was_given_and_leaves_room_or_is_refused(
    row: Model, context: int | None, output: int | None, margin: int | None, ratio: float | None
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
        with pytest.raises(Refused, match=f"a window of {window:,} tokens"):
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


OWN = "Leave it out to have the model's own."


@pytest.mark.parametrize(
    ("given", "sentence"),
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
            "compaction_ratio must be above 0 and at most 1, not nan. Leave it out to have 0.8.",
        ),
        (
            {"compaction_ratio": 80},
            "compaction_ratio must be above 0 and at most 1, not 80. Leave it out to have 0.8.",
        ),
    ],
)
def test_numbers_that_mean_nothing_are_refused(given: dict[str, int], sentence: str) -> None:
    with pytest.raises(Refused) as refused:
        budget(MODELS["gpt-4o"], **given)
    assert str(refused.value) == f"No budget was made: {sentence}"


def test_numbers_that_leave_no_room_are_refused() -> None:
    with pytest.raises(Refused) as refused:
        budget(MODELS["gpt-4o"], context_tokens=4096, max_tokens=4000, safety_margin_tokens=96)
    assert str(refused.value) == (
        "No budget was made: of a window of 4,096 tokens, 4,000 for the answer and 96 of safety margin leave nothing "
        "for the prompt. Give a smaller max_tokens or safety_margin_tokens, or a larger context_tokens."
    )
