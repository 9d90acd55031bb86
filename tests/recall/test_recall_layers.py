"""Recall over two layers finds what one memory with the same content would, in the same order."""

from __future__ import annotations

import random
import time

from layering import Layered
from looseleaf import Memory
from looseleaf.tools.toolset import call

THINGS = ("ferry", "kettle", "violin", "ledger", "orchard", "lantern", "harbour", "compass")
PLACES = ("Lyon", "Oslo", "Rome", "Ghent", "Porto", "Basel")


def _sentences(seed: int) -> list[str]:
    draw = random.Random(seed)
    return [
        f"The {draw.choice(THINGS)} number {number} went to {draw.choice(PLACES)} by pier {draw.randrange(40)}."
        for number in range(160)
    ]


def test_the_best_hits_of_two_layers_are_those_of_one_memory(layered: Layered) -> None:
    lines = _sentences(7)
    alone = layered.place / "alone"
    with Memory(alone) as memory, layered.home() as home, layered.project() as near:
        for number, line in enumerate(lines):
            for each in (memory, home if number % 2 else near):
                each.record(user=line, ts=1.7e9 + 9_000 * number)
                each.record(assistant="Noted.", ts=1.7e9 + 9_000 * number + 1)
    same = asked = 0
    with Memory(alone) as memory, layered.project() as near:
        for line in lines[::8]:
            words = line.replace("The ", "Where did the ").replace(" went to", " go, to").rstrip(".") + "?"
            one, two = memory.recall(words, 3), near.recall(words, 3)
            assert one
            assert two
            assert two[0].text == one[0].text
            assert abs(two.best - one.best) < 0.1
            asked += 1
            same += two[0].layer == ("home" if lines.index(line) % 2 else "")
    assert same == asked


def test_a_question_that_has_no_answer_gets_none_from_layers(layered: Layered) -> None:
    with layered.home() as home, layered.project() as near:
        for number, line in enumerate(_sentences(3)):
            (home if number % 2 else near).record(user=line)
    with layered.project() as near:
        found = near.recall("Who composed the fourth symphony of Brahms?")
        assert not found
        assert found.why


def _recall_rows(memory: Memory, question: str) -> list[tuple[str, str, str, str]]:
    return [(hit.layer, hit.text, hit.status, hit.now) for hit in memory.recall(question)]


def test_what_another_layer_knows_better_is_not_given_as_true(layered: Layered) -> None:
    with layered.project() as near:
        near.remember("We use pytest. We use ruff. We deploy with Docker.", where="here")
        near.remember("I live in Rome.", where="here")
        near.review.correct(near.facts(topic="user")[-1].id or "", "Oslo")
    time.sleep(0.01)
    with layered.home() as home:
        home.remember("I live in Tokyo.")
    with layered.project() as near:
        assert [fact.object for fact in near.facts() if fact.relation == "Home"] == ["Tokyo"]
        rows = _recall_rows(near, "Where do I live?")
        assert ("home", "Home: Tokyo", "", "") in [(*row[:2], "", "") for row in rows]
        assert not [row for row in rows if row[1] == "Home: Oslo"]
        said = [row for row in rows if "Rome" in row[1] and row[2] == "superseded"]
        assert said
        assert {row[3] for row in said} == {"Home: Tokyo"}
        answer = call(near, "recall", {"query": "Where do I live?"})
        assert "Home: Oslo" not in answer.text


def test_talk_below_is_no_longer_so_where_the_nearer_knows_better(layered: Layered) -> None:
    with layered.home() as home:
        home.record(user="I live in Tokyo.")
        home.record(assistant="Noted.")
        home.distill()
    time.sleep(0.01)
    with layered.project() as near:
        near.remember("I live in Madrid.", where="here")
        rows = _recall_rows(near, "Tokyo")
        assert rows
        assert [row for row in rows if "Tokyo" in row[1] and not row[2].endswith("superseded")] == []
        assert {row[3] for row in rows if "Tokyo" in row[1]} == {"Home: Madrid"}
    with layered.home() as home:  # by itself it knows no better
        assert {row[2] for row in _recall_rows(home, "Tokyo") if "I live" in row[1]} == {""}
