"""What other machines recorded is explained, and looked up, like one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from two_machines import DESK, LAP, TwoMachines


@pytest.fixture
def both(tmp_path: Path) -> TwoMachines:
    return TwoMachines(tmp_path)


@pytest.mark.parametrize(("teller", "asker"), [(DESK, LAP), (LAP, DESK)])
def test_a_fact_that_another_machine_heard_shows_its_words(
    both: TwoMachines, teller: str, asker: str
) -> None:
    with both.memory(teller) as memory:
        memory.record(user="I live in Lyon, near the river.")
        memory.distill()
        memory.remember("My name is Ana.")
        memory.pages.edit("USER.md", lambda text: f"{text}- Pet: a cat\n", reason="typed", author="person")
        told = {fact.object: memory.explain.sources(fact) for fact in memory.facts()}
        names = [each.source for sources in told.values() for each in sources]
        assert {"@" in name for name in names} == {True, False}
        assert any("/raw.md#" in name for name in names)
        assert all(each.text for sources in told.values() for each in sources)
    both.carry()
    with both.memory(asker) as memory:
        assert {fact.object: memory.explain.sources(fact) for fact in memory.facts()} == told
        told_of = [str(memory.explain.why(value)) for value in ("Lyon", "Ana", "cat")]
        assert "near the river" in told_of[0]
        assert not any("no longer in the log" in each for each in told_of)
        assert memory.notes == []


def test_words_said_on_another_machine_are_told_to_be_there(both: TwoMachines) -> None:
    with both.memory(LAP) as memory:
        trace = memory.record(user="The pomegranate is ripe.")
    both.carry()
    with both.memory(DESK) as memory:
        memory.prompt("now", budget=4000)
        (chain,) = memory.explain.why("pomegranate").chains
        where, said = chain.steps[-2:]
        assert (where.what, where.where) == ("another_machine", LAP)
        assert said.where == trace.id
        assert "pomegranate" not in memory.prompt("now", budget=4000, dry_run=True).text


def test_sessions_of_all_machines_are_listed_and_opened(both: TwoMachines) -> None:
    with both.memory(LAP) as memory:
        trace = memory.record(user="Good evening, we plan the trip.")
        entry_of = memory.talk.session
    both.carry()
    with both.memory(DESK) as memory:
        first, second = memory.talk.sessions()
        assert (first.machine, second.machine) == ("", LAP)
        assert ("machine" in first.to_dict(), second.to_dict()["machine"]) == (False, LAP)
        assert second.session_id == entry_of
        (turn,) = memory.talk.turns(session=second.session_id)
        assert [each.id for each in turn.traces] == [trace.id]
        assert memory.talk.traces(trace.id) == [trace]
        assert [each.session_id for each in memory.talk.sessions(1)] == [second.session_id]
        assert trace.id not in {each.id for each in memory.talk.tail()}  # the window is this machine's own
        assert memory.talk.agents() == ["main"]
    with both.memory(LAP, agent="cook") as memory:
        memory.record(user="Soup.")
    both.carry()
    with both.memory(DESK) as memory:
        assert memory.talk.agents() == ["cook", "main"]
