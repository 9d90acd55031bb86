"""Recall over two layers finds what one memory with the same content would, in the same order."""

from __future__ import annotations

import random

from layering import Layered
from looseleaf import Memory

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
