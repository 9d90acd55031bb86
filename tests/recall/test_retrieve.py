"""A bundle for a snapshot: what was done last, what matters most of what is known (seed 004)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory") as memory:
        yield furnished(memory)


def furnished(memory: Memory) -> Memory:
    facts = ("- Name: Ada", "- Likes: tea", "- Home: Lyon", "- Bike: red Peugeot")
    memory.pages.edit("USER.md", "".join(f"{each}\n" for each in facts), reason="known", author="person")
    memory.pages.edit(
        "episodes/2026-01.md",
        "# Episodes\n\n"
        "## Moved the parser\n- Summary: the parser is its own package\n- Date: 2026-01-05\n\n"
        "## Fixed the crash\n- Summary: the lock was never let go\n- Date: 2026-01-20\n",
        reason="done",
        author="person",
    )
    return memory


def test_the_last_episodes_come_and_the_newest_stands_last(memory: Memory) -> None:
    assert [hit.date for hit in memory.views.bundle(2, 0).episodic] == ["2026-01-05", "2026-01-20"]
    (last,) = memory.views.bundle(1, 0).episodic
    assert "the lock was never let go" in last.text


def test_what_a_person_scored_comes_first(memory: Memory) -> None:
    memory.review.score("USER.md:4", 10)
    assert memory.views.bundle(0, 1).semantic[0].text == "Bike: red Peugeot"


def test_what_bears_on_a_question_comes_before_what_weighs_more(memory: Memory) -> None:
    memory.review.score("USER.md:1", 10)
    bundle = memory.views.bundle(0, 2, query="does Ada like tea")
    assert "Likes: tea" in [hit.text for hit in bundle.semantic]
    assert memory.views.bundle(0, 1, query="red Peugeot bike").semantic[0].text == "Bike: red Peugeot"


def test_no_more_than_asked_for_and_each_once(memory: Memory) -> None:
    for most in range(6):
        bundle = memory.views.bundle(most, most, query="Lyon tea")
        assert len(bundle.episodic) == min(most, 2)
        assert len(bundle.semantic) == min(most, 4)
        places = [hit.where for hit in (*bundle.episodic, *bundle.semantic)]
        assert len(set(places)) == len(places)


def test_without_numbers_the_policy_says_how_many(memory: Memory) -> None:
    bundle = memory.views.bundle()
    assert (len(bundle.episodic), len(bundle.semantic)) == (2, 4)
    assert sorted(bundle.to_dict()) == ["episodic", "semantic"]


def test_what_is_no_longer_true_is_not_in_it(memory: Memory) -> None:
    memory.review.correct("USER.md:3", "Paris")
    texts = [hit.text for hit in memory.views.bundle(0, 10).semantic]
    assert "Home: Paris" in texts
    assert "Home: Lyon" not in texts


@pytest.mark.parametrize("wrong", [-1, True, 1.5, "3"])
def test_a_number_that_is_none_is_refused(memory: Memory, wrong: object) -> None:
    with pytest.raises(Refused, match="must be a whole number"):
        memory.views.bundle(wrong, 1)  # type: ignore[arg-type]
