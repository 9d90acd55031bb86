"""What is left of a sentence from which facts were read."""

from __future__ import annotations

import pytest

from looseleaf.core.unread import Read, unread_in

GATE = "I live in Oslo and the gate code is 4411."


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("I prefer green tea.", [("I prefer green tea", "green tea")]),
        ("By the way, I live in Graz now, thanks!", [("I live in Graz now", "Graz")]),
        ("I like nuts and fish.", [("I like nuts and fish", "nuts"), ("I like nuts and fish", "fish")]),
        ("Call me Sam, please.", [("Call me Sam", "Sam")]),
        ("Remember that I hate coriander.", [("I hate coriander", "coriander")]),
        ("Ich wohne in Wien und arbeite bei BMW.", [("Ich wohne in Wien", "Wien"), ("arbeite bei BMW", "BMW")]),
        ("I speak a bit of French.", [("I speak a bit of French", "French")]),
        ("我叫李雷，我住在上海", [("我叫李雷", "李雷"), ("我住在上海", "上海")]),
        ("My dog is called Rex.", [("My dog is called Rex", "Rex (dog)")]),
        ("Mein Hund heißt Rex.", [("Mein Hund heißt Rex", "Rex (dog)")]),
        ("My son Tom works at Acme.", [("My son Tom works at Acme", "Tom"), ("My son Tom works at Acme", "Acme")]),
        ("I'm 42 years old.", [("I'm 42 years old", "42")]),
    ],
)  # fmt: skip
def test_a_sentence_that_says_no_more_than_its_facts_is_read(
    sentence: str, facts: list[tuple[str, str]]
) -> None:
    assert unread_in(sentence, [Read(*fact) for fact in facts]) == []


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("I prefer tea, but only in the morning.", [("I prefer tea", "tea")]),
        ("I don't like meetings before 10am.", [("I don't like meetings before 10am", "meetings")]),
        ("My sister Ana lives in Porto, and her birthday is 4 June.", [("My sister Ana lives in Porto", "Porto")]),
        ("I was born on 4 May 1990 in Lima.", [("I was born on 4 May 1990 in Lima", "4 May 1990")]),
        ("My dog Rex is a beagle.", [("My dog Rex is a beagle", "Rex (dog)")]),
        ("我叫李雷，喜欢用中文讨论", [("我叫李雷", "李雷")]),
        ("The gate code is 4411.", []),
        ("I'm vegan, but no soy.", [("I'm vegan", "vegan")]),
        ("I'm vegetarian, no car, no van.", [("I'm vegetarian", "vegetarian")]),
        ("I am a nurse at Acme and the boss is Bob and the code is 4411.", [("I am a nurse at Acme", "Acme")]),
    ],
)  # fmt: skip
def test_a_sentence_that_says_more_is_given_whole(sentence: str, facts: list[tuple[str, str]]) -> None:
    assert unread_in(sentence, [Read(*fact) for fact in facts]) == [sentence]


def test_a_last_part_that_stands_alone_is_given_without_the_rest() -> None:
    assert unread_in(GATE, [Read("I live in Oslo", "Oslo")]) == ["the gate code is 4411."]
    assert unread_in(GATE, [Read(GATE.rstrip("."), "Oslo")]) == ["the gate code is 4411."]
    assert unread_in(GATE, [Read("the gate code is 4411", "4411")]) == [GATE]
    noted = Read("the gate code is 4411.", "the gate code is 4411.", is_note=True)
    assert unread_in(GATE, [Read(GATE.rstrip("."), "Oslo"), noted]) == []
    assert unread_in(GATE, []) == [GATE]


def test_a_date_that_the_fact_has_is_no_more() -> None:
    moved = "I moved to Berlin in March 2026."
    assert unread_in(moved, [Read(moved.rstrip("."), "Berlin", is_dated=True)]) == []
    assert unread_in(moved, [Read(moved.rstrip("."), "Berlin")]) == [moved]


def test_each_sentence_is_judged_by_itself_and_given_once() -> None:
    text = "I live in Oslo. The fence is red. I live in Oslo. The fence is red."
    assert unread_in(text, [Read("I live in Oslo", "Oslo")]) == ["The fence is red."]
