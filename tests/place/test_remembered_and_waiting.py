"""What a person remembers settles what waits: the same value is placed, and nobody is asked any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from layering import Layered, said
from looseleaf import Memory
from looseleaf.base.errors import Invalid, Refused
from looseleaf.place.remember_where import MOST
from machines import FIRST, Machines


@pytest.mark.parametrize("words", ["Home: Nantes", "I moved to Nantes.", "I live in Nantes."])
def test_a_persons_word_places_the_value_that_waits(tmp_path: Path, words: str) -> None:
    with Memory(tmp_path / "notes") as memory:
        memory.remember("I live in Lyon.")
        memory.record(user="I moved to Nantes last week.")
        memory.distill()
        waiting = memory.review.pending()
        assert [fact.object for fact in waiting] == ["Nantes"]
        memory.remember(words)
        assert said(memory) == [("", "Home", "Nantes")]
        assert memory.facts()[0].level == "confirmed"
        assert "Lyon" in [fact.object for fact in memory.facts(status="superseded")]
        assert memory.review.pending() == []
        assert "Nantes" not in memory.pages.read("review/pending.md").text
        memory.history.undo(author="person")
        assert said(memory) == [("", "Home", "Lyon")]


def test_what_the_talk_says_twice_still_waits(tmp_path: Path) -> None:
    with Memory(tmp_path / "notes") as memory:
        memory.remember("I live in Lyon.")
        for words in ("I moved to Nantes last week.", "I live in Nantes."):
            memory.record(user=words)
            memory.distill()
        assert said(memory) == [("", "Home", "Lyon")]
        assert [fact.object for fact in memory.review.pending()] == ["Nantes"]


def test_a_word_in_a_project_settles_what_waits_at_home(layered: Layered) -> None:
    with layered.home() as home:
        home.remember("Answer in German.")
    with layered.project() as memory:
        memory.record(user="From now on answer in French.")
        memory.distill()
        assert [fact.object for fact in memory.facts(status="pending")] == ["French"]
        memory.remember("Answer in French.")
        assert ("home", "Language", "French") in said(memory)
        assert ("home", "Language", "German") not in said(memory)
        assert memory.facts(status="pending") == []


def test_a_line_that_settles_what_waits_is_undone_with_that(tmp_path: Path) -> None:
    with Memory(tmp_path / "notes") as memory:
        memory.remember("Home: Lyon")
        memory.record(user="I moved to Nantes last week.")
        memory.distill()
        memory.remember("Home: Nantes")
        memory.history.undo(author="person")
        assert said(memory) == [("", "Home", "Lyon")]
        assert [fact.object for fact in memory.review.pending()] == ["Nantes"]


def test_a_line_that_settles_what_waits_at_home_is_undone_there(layered: Layered) -> None:
    with layered.home() as home:
        home.remember("Home: Lyon")
        home.record(user="I moved to Nantes last week.")
        home.distill()
    with layered.project() as memory:
        memory.remember("Home: Nantes")
        assert said(memory) == [("home", "Home", "Nantes")]
        assert memory.facts(status="pending") == []
        with pytest.raises(Refused, match=r"`looseleaf --memory ~/\.looseleaf undo` undoes it there"):
            memory.history.undo()


def test_a_persons_line_ends_a_contest(tmp_path: Path) -> None:
    machines = Machines(tmp_path)
    for name, value in ((FIRST, "tox"), ("lap", "nose")):
        with machines.open(name) as memory:
            page = f"# Project\n\n- Test runner: {value}\n"
            memory.pages.edit("facts/project.md", page, reason="noted", author="agent:main")
    machines.carry_all()
    with machines.open(FIRST) as memory:
        assert [len(values) for values in memory.review.contested()] == [2]
        memory.remember("Test runner: nose", topic="project")
        assert memory.review.contested() == []
        assert [fact.object for fact in memory.facts(topic="project")] == ["nose"]
        memory.history.undo(author="person")
        assert [len(values) for values in memory.review.contested()] == [2]


def test_forgetting_something_else_leaves_it_settled(tmp_path: Path) -> None:
    with Memory(tmp_path / "notes") as memory:
        memory.remember("I live in Lyon.")
        memory.record(user="I moved to Nantes last week.")
        memory.distill()
        memory.remember("I moved to Nantes.")
        memory.remember("My sister is called Quokka.")
        memory.forget(match="Quokka")
        assert said(memory) == [("", "Home", "Nantes")]
        assert memory.review.pending() == []
        memory.forget(match="I moved to Nantes")
        assert said(memory) == [("", "Home", "Lyon")]
        assert memory.review.pending() == []


def test_a_text_that_is_too_long_to_be_facts_is_refused_and_the_way_to_bring_it_is_named(place: Path) -> None:
    with Memory(place / "memory") as memory:
        with pytest.raises(Invalid, match=r"20,001 characters are too many.*looseleaf import"):
            memory.remember("a" * (MOST + 1))
        assert memory.facts() == []
