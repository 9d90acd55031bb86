"""Settings: laid over the defaults, and refused with a sentence where they make no sense."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf.base.errors import Refused
from looseleaf.base.policy import SETTINGS, Policy, policy_from
from tables import check_rows


def test_no_settings_are_the_defaults() -> None:
    assert policy_from({}) == Policy()


def test_a_setting_changes_itself_and_nothing_else() -> None:
    policy = policy_from({"page_bytes": 5, "quiet_seconds": 0.5})
    assert (policy.page_bytes, policy.quiet_seconds) == (5, 0.5)
    assert policy == Policy(page_bytes=5, quiet_seconds=0.5)


def test_every_default_is_a_setting_that_its_own_file_may_say() -> None:
    default = Policy()
    said = {name: getattr(default, name) for name in sorted(SETTINGS)}
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in said.items() if value is not None)
    assert policy_from(tomllib.loads(text)) == default


def test_seconds_may_be_whole() -> None:
    policy = policy_from({"lock_seconds": 5, "settle_seconds": 86_400})
    assert (policy.lock_seconds, type(policy.lock_seconds)) == (5.0, float)
    assert policy.settle_seconds == 86_400.0


def test_a_setting_that_makes_no_sense_is_refused_with_what_to_do() -> None:
    def check(settings: dict[str, Any], sentence: str) -> None:
        whole = re.sub(
            "^(`.*) <(.*)>$",
            r"The memory was not opened: in looseleaf.toml, \1 Fix that line, or delete it to use the default, \2.",
            sentence,
        )
        with pytest.raises(Refused) as refused:
            policy_from(settings)
        assert str(refused.value) == whole

    check_rows(
        check,
        [
            (
                {"page_byte": 5},
                (
                    "The memory was not opened: looseleaf.toml sets 'page_byte', which is not a setting. Did you mean "
                    "`page_bytes`? Fix that line, or delete it."
                ),
            ),
            (
                {"weather": 5},
                (
                    "The memory was not opened: looseleaf.toml sets 'weather', which is not a setting. "
                    "Delete that line, "
                    f"or use one of: {', '.join(sorted(SETTINGS | {'agents'}))}."
                ),
            ),
            ({"page_bytes": "5"}, "`page_bytes` must be a whole number, not '5'. <1048576>"),
            ({"page_bytes": 5.0}, "`page_bytes` must be a whole number, not 5.0. <1048576>"),
            ({"page_bytes": True}, "`page_bytes` must be a whole number, not True. <1048576>"),
            ({"page_bytes": [5]}, "`page_bytes` must be a whole number, not [5]. <1048576>"),
            ({"page_bytes": {"of": 5}}, "`page_bytes` must be a whole number, not {'of': 5}. <1048576>"),
            ({"page_bytes": 0}, "`page_bytes` must be greater than zero, not 0. <1048576>"),
            ({"page_bytes": -5}, "`page_bytes` must be greater than zero, not -5. <1048576>"),
            ({"lock_seconds": "soon"}, "`lock_seconds` must be a number, not 'soon'. <60.0>"),
            ({"lock_seconds": True}, "`lock_seconds` must be a number, not True. <60.0>"),
            ({"lock_seconds": 0.0}, "`lock_seconds` must be greater than zero, not 0.0. <60.0>"),
            ({"lock_seconds": math.nan}, "`lock_seconds` must be greater than zero, not nan. <60.0>"),
            ({"lock_seconds": math.inf}, "`lock_seconds` must be at most 86,400 seconds, not inf. <60.0>"),
            ({"lock_seconds": 86_401}, "`lock_seconds` must be at most 86,400 seconds, not 86401. <60.0>"),
        ],
    )


def test_the_refusal_names_the_file() -> None:
    with pytest.raises(Refused, match=r"in /m/looseleaf\.toml, `page_bytes`"):
        policy_from({"page_bytes": "x"}, "/m/looseleaf.toml")


DOLLARS = ("day_cost", "price_input", "price_cached", "price_output")

numbers = st.integers() | st.floats() | st.booleans() | st.integers(10**300, 10**400)


@given(st.dictionaries(st.sampled_from(sorted(SETTINGS)), numbers | st.text() | st.none(), max_size=3))
def test_every_policy_that_is_taken_can_be_waited_for_and_counted_with(settings: dict[str, Any]) -> None:
    try:
        policy = policy_from(settings)
    except Refused:
        return
    default = Policy()
    for name in SETTINGS:
        value = getattr(policy, name)
        if getattr(default, name) is not None:
            assert type(value) is type(getattr(default, name))
        if name in ("compaction_ratio", "compact_to", "prepare_ratio", "tidy_to"):
            assert value is None or 0 < value <= 1
        elif name in DOLLARS:
            assert value is None or 0 <= value < math.inf
        elif isinstance(value, float):
            assert 0 < value <= 86_400
        elif isinstance(value, int) and not isinstance(value, bool):
            assert value > 0 or (value == 0 and name == "model_retries")


def test_an_agents_own_settings_are_laid_over_those_of_all() -> None:
    settings = tomllib.loads(
        'model = "gpt-4o"\ntail_turns = 2\n[agents.coder]\ncontext_tokens = 8000\ntail_turns = 6\n[agents.other]\n'
    )
    assert policy_from(settings) == Policy(model="gpt-4o", tail_turns=2)
    assert policy_from(settings, agent="coder") == Policy(model="gpt-4o", tail_turns=6, context_tokens=8000)
    assert policy_from(settings, agent="other") == Policy(model="gpt-4o", tail_turns=2)


def test_an_agents_setting_that_makes_no_sense_is_refused_whoever_opens_the_memory() -> None:
    def check(text: str, sentence: str) -> None:
        with pytest.raises(Refused, match=re.escape(sentence)):
            policy_from(tomllib.loads(text), agent="somebody else")

    check_rows(
        check,
        [
            ("agents = 5", "`agents` must be tables, as in [agents.main]"),
            ("[agents]\nmain = 5", "`agents` must be tables, as in [agents.main]"),
            ("[agents.main]\npage_bytes = 5", "sets 'main.page_bytes', which is not a setting"),
            (
                '[agents.main]\nmax_tokens = "x"',
                "`max_tokens` must be a whole number, not 'x'. Fix that line",
            ),
            ("compaction_ratio = 1.5", "`compaction_ratio` must be at most 1, not 1.5"),
            ("model = 5", "`model` must be text, not 5"),
            ("max_tokens = 0", "or delete it to use the default, which the model decides."),
        ],
    )


def test_a_misspelt_setting_is_told_what_it_may_have_meant_and_not_all_there_are() -> None:
    def check(text: str, advice: str) -> None:
        with pytest.raises(Refused) as refused:
            policy_from(tomllib.loads(text))
        assert advice in str(refused.value)
        assert "use one of" not in str(refused.value)

    check_rows(
        check,
        [
            ('provder = "openai"', "sets 'provder', which is not a setting. Did you mean `provider`?"),
            ('Model = "gpt-5"', "sets 'Model', which is not a setting. Did you mean `model`?"),
            ("retries = 2", "Did you mean `model_retries`?"),
            (
                '[agent.main]\nmodel = "gpt-5"',
                "sets 'agent', which is not a setting. Did you mean `[agents.main]`?",
            ),
            (
                '[agents.main]\nmodle = "gpt-5"',
                "sets 'main.modle', which is not a setting. Did you mean `model`?",
            ),
        ],
    )


def test_a_setting_in_the_wrong_table_is_not_misspelt() -> None:
    # It is one letter away from nothing: what an agent may have of its own is told instead.
    with pytest.raises(Refused, match="use one of: base_url, compaction_ratio, context_tokens") as refused:
        policy_from({"agents": {"main": {"day_tokens": 5}}})
    assert "Did you mean" not in str(refused.value)


def test_what_finds_misspellings_is_not_loaded_for_who_makes_none() -> None:
    code = (
        "import sys; from looseleaf.base.policy import policy_from\n"
        "policy_from({'model': 'm'}); print('difflib' in sys.modules)"
    )
    bare = {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    told = subprocess.run(
        [sys.executable, "-S", "-c", code], check=True, capture_output=True, text=True, env=bare
    )
    assert told.stdout.strip() == "False"


# --- models, and what may be spent on them -----------------------------------------------


def test_an_amount_may_be_nothing_and_more_than_the_seconds_of_a_day() -> None:
    def check(name: str) -> None:
        for amount in (0, 0.0, 0.15, 100_000, 1e9):
            value = getattr(policy_from({name: amount}), name)
            assert (value, type(value)) == (amount, float)

    check_rows(check, DOLLARS)


def test_a_setting_of_models_that_makes_no_sense_is_refused() -> None:
    def check(settings: dict[str, Any], sentence: str) -> None:
        with pytest.raises(Refused, match=re.escape(sentence)):
            policy_from(settings)

    check_rows(
        check,
        [
            ({"day_cost": -1}, "must be an amount in US dollars, 0 or more, not -1"),
            ({"price_input": math.nan}, "must be an amount in US dollars, 0 or more, not nan"),
            ({"price_cached": 10**400}, "must be an amount in US dollars, 0 or more, not 1000"),
            ({"price_output": math.inf}, "or delete it to use the default, what the table of prices says."),
            (
                {"day_cost": "5"},
                "must be a number, not '5'. Fix that line, or delete it to use the default, no ceiling.",
            ),
            ({"day_tokens": 0}, "must be greater than zero, not 0"),
            ({"day_tokens": 1.5}, "must be a whole number, not 1.5"),
            (
                {"distiller": "gpt-5"},
                "rules, model, claude-code, codex, gemini-cli, or a model as in `ollama/llama3.2`, not 'gpt-5'",
            ),
            ({"distiller": "ollama/"}, "not 'ollama/'"),
            ({"distiller": "claude/opus"}, "not 'claude/opus'"),
            (
                {"provider": "OpenAI"},
                (
                    "openai, openai-chat, gemini, openrouter, deepseek, ollama, claude-code, codex, "
                    "gemini-cli, not 'OpenAI'"
                ),
            ),
            ({"provider": None}, "must be text, not None"),
        ],
    )


def test_a_call_may_be_made_once_and_not_again() -> None:
    assert policy_from({"model_retries": 0}).model_retries == 0
    for value in (-1, -(10**30)):
        with pytest.raises(Refused, match=f"`model_retries` must be 0 or more, not {value}"):
            policy_from({"model_retries": value})


def test_each_provider_may_be_named_also_for_one_agent() -> None:
    def check(provider: str) -> None:
        settings = tomllib.loads(f'provider = "openai"\n[agents.coder]\nprovider = "{provider}"\n')
        assert policy_from(settings, agent="coder").provider == provider
        assert policy_from(settings).provider == "openai"

    check_rows(check, ["openai", "openai-chat", "anthropic", "gemini", "openrouter", "deepseek", "ollama"])


@pytest.mark.parametrize(
    "address", ["https://api.example.org/v1", "http://127.0.0.1:8080", "HTTP://[::1]:11434/", "https://x"]
)
def test_an_address_is_one_of_the_web(address: str) -> None:
    assert policy_from({"base_url": address}).base_url == address


def test_any_other_address_is_refused_and_not_repeated() -> None:
    def check(address: str) -> None:
        with pytest.raises(Refused) as refused:
            policy_from({"base_url": address})
        assert "`base_url` must be an address that begins with https:// or http://" in str(refused.value)
        assert "secret" not in str(refused.value)

    check_rows(
        check,
        [
            "",
            "api.example.org",
            "localhost:8080",
            "file:///etc/passwd",
            "ftp://key:secret@example.org",
            "https://",
            "https:///v1",
            "http://:80",
            "https://?x=1",
            " https://example.org",
            "https://example.org\n",
            "https://exa mple.org",
            "https://example.org\u202e",
            "javascript://secret",
        ],
    )


@pytest.mark.parametrize(
    ("over", "named"), [(["~/.looseleaf", ""], "not ''"), (["~/.looseleaf", 5], "not 5")]
)
def test_a_list_names_the_part_of_it_that_is_wrong(over: list[object], named: str) -> None:
    with pytest.raises(Refused, match=re.escape(named)):
        policy_from({"over": over})
