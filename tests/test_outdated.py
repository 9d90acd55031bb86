"""What was taken back is not told for ever: neither on pages nor in the window after a compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory
from looseleaf.policy import Policy

if TYPE_CHECKING:
    from pathlib import Path

POLICY = Policy(context_tokens=3000, max_tokens=200, safety_margin_tokens=0, tail_turns=1)
FILLING = "Then we talked about the weather, the garden and the long way home. "


def told(memory: Memory) -> tuple[str, ...]:
    mark = memory.window().mark
    return mark.semantic if mark is not None else ()


def talk(memory: Memory, *said: str) -> None:
    for text in said:
        memory.record(user=text)
        memory.record(assistant=FILLING)
    for _ in range(2):
        memory.record(user=FILLING)
        memory.record(assistant=FILLING)


@pytest.mark.parametrize("at_once", [True, False], ids=["in one compaction", "in the one after"])
def test_a_decision_that_was_replaced_is_not_told_after_a_compaction(tmp_path: Path, at_once: bool) -> None:
    with Memory(tmp_path / "m", policy=POLICY) as memory:
        talk(memory, "We decided to use MySQL for the database.")
        if not at_once:
            memory.compact()
            assert any("MySQL for the database" in line for line in told(memory)), "it holds so far"
        talk(memory, "Let's use Postgres instead of MySQL.")
        loss = memory.compact()
        assert loss is not None
        assert any("Postgres" in line for line in told(memory))
        assert not any("MySQL for the database" in line for line in told(memory))
        assert all("MySQL for" not in text for kept in loss.kept for text in kept.missing), "nor is it missed"


def test_a_decision_that_still_holds_is_told(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", policy=POLICY) as memory:
        talk(memory, "We decided to use MySQL for the database.", "We decided to release on Fridays.")
        memory.compact()
        talk(memory, "My name is Zhang San.")
        memory.compact()
        assert any("MySQL" in line for line in told(memory))
        assert any("Fridays" in line for line in told(memory))


def test_a_rule_that_a_person_rejected_is_not_told_after_the_next_compaction(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", policy=POLICY) as memory:
        talk(memory, "Never deploy on a Friday.")
        memory.compact()
        assert any("Friday" in line for line in told(memory))
        [rule] = [fact for fact in memory.facts() if fact.relation == "Rule"]
        memory.reject(rule.id or "")
        talk(memory, "What is the time?")
        memory.compact()
        assert not any("Friday" in line for line in told(memory))
