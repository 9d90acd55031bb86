"""What a model answers when it distills: the schema, and how answers that keep to it, or do not, are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.base.messages import NOTED, Trace
from looseleaf.distill.make_entry import _find_fault
from looseleaf.distill.model import SCHEMA, AnswerWords, read_answer
from looseleaf.facts.gate import proposal_of
from tables import check_rows
from talking import trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.messages import Distilled

SAID = [
    trace("user", "I'm Zhang San and I prefer tabs over spaces."),
    trace("assistant", "Noted. We will use tabs."),
]
FIRST, SECOND = (each.id for each in SAID)
FACT = {
    "topic": "user",
    "relation": "Name",
    "object": "Zhang San",
    "quote": "I'm Zhang San",
}
ANSWER: dict[str, Any] = {
    "summary": "Zhang San introduced himself.",
    "facts": [FACT],
    "work": {
        "goal": "I prefer tabs over spaces.",
        "decided": [{"text": "We will use tabs.", "replaces": "We will use spaces."}],
        "open": ["nobody said this"],
        "done": ["Noted."],
    },
    "episode": {"title": "Tabs", "outcome": "use tabs", "files": ["a.py", "b.py"], "lesson": "ask first"},
    "found": [{"topic": "project", "relation": "Editor", "object": "tabs", "quote": "We will use tabs."}],
}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*ANSWER, *FACT, *ANSWER["work"], "was", "from", "private", "text", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def test_the_schema_is_one_and_takes_what_it_describes() -> None:
    jsonschema_rs.meta.validate(SCHEMA)
    assert jsonschema_rs.is_valid(SCHEMA, ANSWER)


def test_a_model_has_no_word_for_how_sure_it_is_or_whose_words_it_reports() -> None:
    def check(name: str, member: str) -> None:
        assert jsonschema_rs.is_valid(SCHEMA, ANSWER | {name: [FACT]})
        for value in (1, "said"):
            assert not jsonschema_rs.is_valid(SCHEMA, ANSWER | {name: [FACT | {member: value}]})
        unsure = _read(ANSWER | {name: [FACT | {member: 1}]})
        assert unsure.facts == _read(ANSWER | {name: [FACT]}).facts, "nothing of the kind is read"

    check_rows(
        check,
        [
            (name, member)
            for name in ["facts", "found"]
            for member in ["confidence", "id", "level", "source", "kind", "salience"]
        ],
    )


def test_what_an_agent_found_has_no_word_for_a_change() -> None:
    """Nothing that a tool said replaces or ends anything."""
    changed: dict[str, Any] = {"was": "Li Si", "ended": True, "from": "2026-01-01", "until": "2026-02-01"}
    for member, value in changed.items():
        assert jsonschema_rs.is_valid(SCHEMA, ANSWER | {"facts": [FACT | {member: value}]})
        assert not jsonschema_rs.is_valid(SCHEMA, ANSWER | {"found": [FACT | {member: value}]})


@pytest.mark.parametrize("member", list(FACT))
def test_a_fact_needs_each_of_its_four_words(member: str) -> None:
    less = {name: value for name, value in FACT.items() if name != member}
    for name in ("facts", "found"):
        assert not jsonschema_rs.is_valid(SCHEMA, ANSWER | {name: [less]})
        assert not jsonschema_rs.is_valid(SCHEMA, ANSWER | {name: [FACT | {member: ""}]})
    assert len(FACT) == 4


def _read(answer: dict[str, Any], said: Sequence[Trace] = SAID) -> Distilled:
    made = read_answer(answer, said)
    assert made is not None
    assert _find_fault(made) is None
    return made


def test_an_answer_becomes_what_a_distiller_makes_with_its_sources_looked_up() -> None:
    made = _read(ANSWER)
    fact, found = made.facts
    assert (fact["relation"], fact["object"], fact["source"]) == ("Name", "Zhang San", FIRST)
    assert (found["topic"], found["object"], found["source"]) == ("project", "tabs", SECOND)
    [decided] = made.decisions
    assert (decided.text, decided.source, decided.replaces) == (
        "We will use tabs.",
        SECOND,
        "We will use spaces.",
    )
    assert [(each.text, each.source) for each in made.goals] == [("I prefer tabs over spaces.", FIRST)]
    assert [(each.text, each.source) for each in made.done] == [("Noted.", SECOND)]
    assert [each.source for each in made.tasks] == [""], "words that stand nowhere have no source"
    assert made.episode == {
        "title": "Tabs",
        "outcome": "use tabs",
        "files": "a.py, b.py",
        "lesson": "ask first",
    }


def test_a_change_is_told_with_the_value_that_it_replaces_and_its_days() -> None:
    more = {"was": "Li Si", "ended": True, "from": "2026-01-01", "until": "2026-02-01"}
    plain, changed, wrong = _read(
        ANSWER | {"facts": [FACT, FACT | more, FACT | {"was": " ", "ended": "yes", "from": 7}], "found": []}
    ).facts
    assert changed["was"] == "Li Si"
    assert changed["correction"] is changed["ended"] is True
    proposal = proposal_of(changed)
    assert proposal is not None
    assert (proposal.valid_from, proposal.valid_to) == ("2026-01-01", "2026-02-01")
    for each in map(proposal_of, (plain, wrong)):
        assert each is not None
        assert (each.was, each.ended, each.correction, each.valid_from) == (None, False, False, None)


def test_nothing_is_taken_of_what_the_user_asked_not_to_remember() -> None:
    said = [*SAID, trace("user", "Keep this to yourself: I am pregnant. My cat is Tom.")]
    secret = {"topic": "user", "relation": "Health", "object": "pregnant", "quote": "I am pregnant"}
    cat = {"topic": "user", "relation": "Pet", "object": "Tom", "quote": "My cat is Tom"}
    answer = {
        "summary": "The user said: I am pregnant.",
        "facts": [secret, cat],
        "found": [secret | {"object": "with child", "quote": "i  AM pregnant"}],
        "work": {"goal": "I am pregnant.", "decided": [{"text": "I am pregnant"}], "open": ["pregnant"]},
        "episode": {"title": "My cat is Tom", "outcome": "I am pregnant"},
        "private": ["I am pregnant."],
    }
    made = _read(answer, said)
    told = json.dumps(
        [made.summary, made.episode, made.facts]
        + [[each.text for each in getattr(made, name)] for name in NOTED]
    )
    assert "pregnant" not in told
    assert "with child" not in told
    assert [fact["object"] for fact in made.facts] == ["Tom"]
    assert made.episode == {"title": "My cat is Tom"}
    assert made.private == (said[-1].id,)
    open_ = _read({name: value for name, value in answer.items() if name != "private"}, said)
    assert [fact["object"] for fact in open_.facts] == ["pregnant", "Tom", "with child"]


@pytest.mark.parametrize("quote", ["I'm  Zhang\nSan", "i’m zhang san", " I'm Zhang San "])
def test_a_quote_is_found_in_another_spelling(quote: str) -> None:
    made = read_answer(ANSWER | {"facts": [FACT | {"quote": quote}]}, SAID)
    assert made is not None
    assert made.facts[0]["source"] == FIRST


def test_of_several_who_said_it_the_one_is_named_who_can_be_believed() -> None:
    tool = trace("tool_result", "", call="c", tool_result="I'm Zhang San")
    tool = Trace(**{name: getattr(tool, name) for name in Trace.__match_args__} | {"origin": "tool"})
    words = AnswerWords([tool, *SAID])
    assert words.where("I'm Zhang San") == FIRST
    assert AnswerWords([tool]).where("I'm Zhang San") == tool.id, "a tool's answer is looked at as well"
    assert words.where("nobody said this") == ""


def test_looking_quotes_up_takes_time_linear_in_what_was_said() -> None:
    def work(size: int) -> Any:
        said = [trace("user", "so it goes on " * 10) for _ in range(size)]
        return lambda: [AnswerWords(said).where(f"nobody said {number}") for number in range(3)]

    assert growth(work, 40) < LINEAR


@given(values)
def test_whatever_a_model_answers_is_read_without_harm(answer: Any) -> None:
    made = read_answer(answer, SAID)
    assert made is None or (_find_fault(made) is None and all(map(proposal_of, made.facts)))


@given(values)
def test_whatever_stands_in_an_answer_beside_its_summary_is_read_without_harm(rest: Any) -> None:
    answer = ANSWER | {"facts": [FACT, rest], "episode": rest, "found": rest, "private": rest}
    for work in (rest, dict.fromkeys(ANSWER["work"], rest), {"decided": [rest, {"text": rest}]}):
        made = _read(answer | {"work": work, "private": []})
        assert made.facts[0]["object"] == "Zhang San"
        assert all(map(proposal_of, made.facts))
        _read(answer | {"work": work})
