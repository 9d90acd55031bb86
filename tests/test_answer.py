"""What a model answers when it distills: the schema, and how answers that keep to it, or do not, are read."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.core.gate import proposal_of
from looseleaf.distill.answer import SCHEMA, Words, read_answer
from looseleaf.distill.run import _fault
from looseleaf.talk import Trace
from talking import trace

SAID = [
    trace("user", "I'm Zhang San and I prefer tabs over spaces."),
    trace("assistant", "Noted. We will use tabs."),
]
FIRST, SECOND = (each.id for each in SAID)
FACT = {
    "topic": "user",
    "relation": "Name",
    "object": "Zhang San",
    "kind": "identity",
    "quote": "I'm Zhang San",
}
ANSWER: dict[str, Any] = {
    "summary": "Zhang San introduced himself.",
    "facts": [FACT],
    "decisions": ["We will use tabs."],
    "tasks": ["nobody said this"],
    "episode": {"title": "Tabs", "solution": "use tabs"},
}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*ANSWER, *FACT, "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def test_the_schema_is_one_and_takes_what_it_describes() -> None:
    jsonschema_rs.meta.validate(SCHEMA)
    assert jsonschema_rs.is_valid(SCHEMA, ANSWER)


@pytest.mark.parametrize("member", ["confidence", "id", "level", "source"])
def test_a_model_has_no_word_for_how_sure_it_is_or_whose_words_it_reports(member: str) -> None:
    assert not jsonschema_rs.is_valid(SCHEMA, ANSWER | {"facts": [FACT | {member: 1}]})


@pytest.mark.parametrize("member", list(FACT))
def test_a_fact_needs_each_of_its_five_words(member: str) -> None:
    less = {name: value for name, value in FACT.items() if name != member}
    assert not jsonschema_rs.is_valid(SCHEMA, ANSWER | {"facts": [less]})


def test_an_answer_becomes_what_a_distiller_makes_with_its_sources_looked_up() -> None:
    made = read_answer(ANSWER, SAID)
    assert made is not None
    assert _fault(made) is None
    [fact] = made.facts
    assert (fact["relation"], fact["object"], fact["source"]) == ("Name", "Zhang San", FIRST)
    assert [each.source for each in made.decisions] == [SECOND]
    assert [each.source for each in made.tasks] == [""], "words that stand nowhere have no source"
    assert made.episode == {"title": "Tabs", "solution": "use tabs"}


@pytest.mark.parametrize("quote", ["I'm  Zhang\nSan", "i’m zhang san", " I'm Zhang San "])
def test_a_quote_is_found_in_another_spelling(quote: str) -> None:
    made = read_answer(ANSWER | {"facts": [FACT | {"quote": quote}]}, SAID)
    assert made is not None
    assert made.facts[0]["source"] == FIRST


def test_of_several_who_said_it_the_one_is_named_who_can_be_believed() -> None:
    tool = trace("tool_result", "", call="c", tool_result="I'm Zhang San")
    tool = Trace(**{name: getattr(tool, name) for name in Trace.__match_args__} | {"origin": "tool"})
    words = Words([tool, *SAID])
    assert words.where("I'm Zhang San") == FIRST
    assert Words([tool]).where("I'm Zhang San") == tool.id, "a tool's answer is looked at as well"
    assert words.where("nobody said this") == ""


def test_looking_quotes_up_takes_time_linear_in_what_was_said() -> None:
    def work(size: int) -> Any:
        said = [trace("user", "so it goes on " * 10) for _ in range(size)]
        return lambda: [Words(said).where(f"nobody said {number}") for number in range(3)]

    assert growth(work, 40) < LINEAR


@given(values)
def test_whatever_a_model_answers_is_read_without_harm(answer: Any) -> None:
    made = read_answer(answer, SAID)
    assert made is None or (_fault(made) is None and all(map(proposal_of, made.facts)))


@given(values)
def test_whatever_stands_in_an_answer_beside_its_summary_is_read_without_harm(rest: Any) -> None:
    answer = ANSWER | {"facts": [rest, FACT], "episode": rest, "decisions": rest, "tasks": [rest]}
    made = read_answer(answer, SAID)
    assert made is not None
    assert _fault(made) is None
    assert made.facts[-1]["object"] == "Zhang San"
