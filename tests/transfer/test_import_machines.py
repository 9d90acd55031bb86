"""The same history, imported on several machines, is there once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from importing import open_memory, take
from looseleaf import Memory
from looseleaf.base.paths import IMPORTER
from looseleaf.transfer.export_rows import message_lines
from two_machines import DESK, LAP, TwoMachines, on

TALK = ("My boat is called Marigold.", "A lovely name.", "It needs paint.", "Blue, perhaps.")


@pytest.fixture
def both(tmp_path: Path) -> TwoMachines:
    return TwoMachines(tmp_path)


def chat(folder: Path, parts: int) -> Path:
    path = folder / "chat.jsonl"
    said = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(TALK[:parts])]
    path.write_text(json.dumps({"id": "boat", "messages": said}) + "\n")
    return path


def bring_in(both: TwoMachines, machine: str, parts: int = 4) -> int:
    """Import the talk on a machine; return how many lines were new."""
    with on(machine), open_memory(both.folder / machine) as memory:
        return take(memory, chat(both.folder, parts), "messages").traces


def shown(memory: Memory) -> Iterator[str]:
    for line in b"".join(message_lines(memory, IMPORTER)).splitlines():
        yield from (message["content"] for message in json.loads(line)["messages"])


@pytest.mark.parametrize(("first", "second"), [(DESK, LAP), (LAP, DESK)])
def test_what_another_machine_imported_is_not_imported_again(
    both: TwoMachines, first: str, second: str
) -> None:
    assert bring_in(both, first, 2) == 2
    both.carry()
    assert bring_in(both, second, 2) == 0
    assert bring_in(both, second, 4) == 2
    both.carry()
    assert bring_in(both, first, 4) == 0


def test_a_talk_that_both_imported_before_they_met_is_shown_once(both: TwoMachines) -> None:
    assert (bring_in(both, DESK), bring_in(both, LAP)) == (4, 4)
    both.carry()
    for machine in (DESK, LAP):
        with both.memory(machine, agent=IMPORTER) as memory:
            assert len(memory.talk.sessions()) == 1
            assert sorted(shown(memory)) == sorted(TALK)
            assert len(memory.recall("What is my boat called?")) == 1
        assert bring_in(both, machine) == 0


def test_a_talk_that_went_on_before_the_second_machine_imported_it_is_shown_whole(both: TwoMachines) -> None:
    assert (bring_in(both, DESK, 2), bring_in(both, LAP, 4)) == (2, 4)
    both.carry()
    for machine in (DESK, LAP):
        with both.memory(machine, agent=IMPORTER) as memory:
            assert set(shown(memory)) == set(TALK)
            assert max(session.traces for session in memory.talk.sessions()) == 4
        assert bring_in(both, machine) == 0
