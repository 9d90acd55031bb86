"""Recall of what other machines recorded."""

from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.index.sqlite import VIEW
from two_machines import DESK, LAP, TwoMachines

WORDS = ("harbour", "orchard", "violin", "glacier", "lantern", "compass", "meadow", "anchor")


@pytest.fixture
def both(tmp_path: Path) -> TwoMachines:
    return TwoMachines(tmp_path)


def found_by(memory: Memory, question: str) -> list[str]:
    return [hit.text for hit in memory.recall(question)]


@pytest.mark.parametrize(("teller", "asker"), [(DESK, LAP), (LAP, DESK)])
def test_talk_of_another_machine_is_found_says_the_machine_and_opens(
    both: TwoMachines, teller: str, asker: str
) -> None:
    with both.memory(teller) as memory:
        memory.record(user="The violin is at the luthier in Cremona.")
        memory.record(assistant="Noted.")
    with both.memory(asker) as memory:
        assert not any("Cremona" in text for text in found_by(memory, "where is the violin?"))
    both.carry()
    with both.memory(asker) as memory:
        hit = next(hit for hit in memory.recall("where is the violin?") if hit.kind == "trace")
        assert "Cremona" in hit.text
        assert (hit.machine, hit.agent, hit.path) == (teller, "main", f"log/on/{teller}/traces/main")
        opened = memory.open(hit.where).text
        assert opened.startswith("turn_")
        assert f" on {teller}\n" in opened
        assert "Noted." in opened
    with both.memory(teller) as memory:
        own = next(hit for hit in memory.recall("where is the violin?") if hit.kind == "trace")
        assert (own.machine, own.path) == ("", "log/traces/main")


def test_the_score_does_not_depend_on_the_machine_that_said_it(both: TwoMachines) -> None:
    with both.memory(DESK) as memory:
        memory.record(user="The violin is at the luthier in Cremona.")
    with both.memory(LAP) as memory:
        memory.record(user="The anchor lies in the harbour of Genoa.")
    both.carry()
    rated = []
    for machine in (DESK, LAP):
        with both.memory(machine) as memory:
            hits = [
                hit for each in ("the violin", "the anchor") for hit in memory.recall(each, kinds=["trace"])
            ]
            rated.append([(hit.where, round(hit.score, 9)) for hit in hits])
    assert rated[0] == rated[1]
    assert len(rated[0]) >= 2


def test_only_what_an_agent_said_is_found_for_it_on_every_machine(both: TwoMachines) -> None:
    with both.memory(LAP, agent="cook") as memory:
        memory.record(user="The lantern hangs in the kitchen.")
    with both.memory(LAP) as memory:
        memory.record(user="The lantern hangs in the garage.")
    both.carry()
    with both.memory(DESK) as memory:
        said = {
            agent: {hit.text for hit in memory.recall("where is the lantern?", agent=agent, kinds=["trace"])}
            for agent in ("cook", "main", "ook")
        }
    assert said["cook"] == {"The lantern hangs in the kitchen."}
    assert "The lantern hangs in the garage." in said["main"]
    assert not said["main"] & said["cook"]
    assert said["ook"] == set()


def test_times_bound_the_talk_of_other_machines_too(both: TwoMachines) -> None:
    with both.memory(LAP) as memory:
        memory.record(user="The compass points to the meadow.")
    both.carry()
    when = time.time()
    with both.memory(DESK) as memory:
        question = "where does the compass point?"
        assert memory.recall(question, since=when - 60, until=when + 60, kinds=["trace"])
        assert not memory.recall(question, until=when - 60, kinds=["trace"])
        assert not memory.recall(question, since=when + 60, kinds=["trace"])


def test_a_log_that_another_machine_wrote_anew_is_read_again(both: TwoMachines, tmp_path: Path) -> None:
    with both.memory(LAP) as memory:
        memory.record(user="The violin is at the luthier in Cremona.")
    both.carry()
    with both.memory(DESK) as memory:
        assert any("Cremona" in text for text in found_by(memory, "the violin"))
    shutil.rmtree(both.folder / LAP)
    shutil.copytree(both.folder / DESK, both.folder / LAP)
    shutil.rmtree(both.log(LAP, LAP))
    with both.memory(LAP) as memory:
        memory.record(user="The anchor lies in the harbour of Genoa.")
        memory.record(user="The glacier melts above the meadow every year.")
    both.carry()
    with both.memory(DESK) as memory:
        assert any("Genoa" in text for text in found_by(memory, "the anchor"))
        assert not any("Cremona" in text for text in found_by(memory, "the violin"))


def test_an_entry_of_another_machine_is_found_and_opens(both: TwoMachines) -> None:
    with both.memory(LAP) as memory:
        memory.remember("I live in Lyon, beside the orchard.")
    both.carry()
    with both.memory(DESK) as memory:
        hits = memory.recall("who lives beside the orchard?", kinds=["entry"])
        assert [hit.machine for hit in hits] == [LAP]
        assert hits[0].path.startswith(f"log/on/{LAP}/entries/")
        assert "orchard" in memory.open(hits[0].where).text


@given(st.lists(st.tuples(st.sampled_from((DESK, LAP, "carry")), st.sampled_from(WORDS)), max_size=8))
def test_whatever_is_recorded_on_either_machine_is_found_on_both_and_no_reader_changes_a_byte_of_the_others_log(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, str]]
) -> None:
    both = TwoMachines(tmp_path_factory.mktemp("both"))
    said = ["A memory is made."]
    for number, (where, word) in enumerate(acts):
        if where == "carry":
            both.carry()
            continue
        said.append(f"The {word} number {number} was told on {where}.")
        with both.memory(where) as memory:
            memory.record(user=said[-1])
    both.carry()
    before = {machine: both.bytes_of(machine, other) for machine, other in ((DESK, LAP), (LAP, DESK))}
    for machine in (DESK, LAP):
        with both.memory(machine) as memory:
            for text in said:
                assert text in found_by(memory, text)
            assert [each for each in memory.check() if each.severity == "error"] == []
    assert before == {machine: both.bytes_of(machine, other) for machine, other in ((DESK, LAP), (LAP, DESK))}
    views = {each.name for each in (both.folder / LAP / "views").iterdir()}
    assert (both.folder / LAP / "views" / "on" / LAP / "index.sqlite").exists()
    assert "index.sqlite" not in views


@pytest.mark.parametrize("machine", [DESK, LAP])
def test_a_memory_that_is_deleted_is_not_made_again_by_who_has_it_open(
    both: TwoMachines, machine: str
) -> None:
    with both.memory(machine) as memory:
        memory.record(user="The heron nests in the oak.")
        index = Path(memory.parts.files.locate(VIEW))
        assert found_by(memory, "heron")
        assert index.exists()
        shutil.rmtree(memory.path)
        with contextlib.suppress(Refused, OSError):
            memory.recall("heron")
        with contextlib.suppress(Refused, OSError):
            memory.views.build_index(full=True)
        with contextlib.suppress(Refused, OSError):
            memory.window.tokens("a text that was not counted yet")
        assert not Path(memory.path).exists()


@pytest.mark.parametrize("machine", [DESK, LAP])
def test_views_that_lead_elsewhere_are_not_followed_on_any_machine(
    both: TwoMachines, machine: str, tmp_path: Path
) -> None:
    with both.memory(machine) as memory:
        memory.record(user="The heron nests in the oak.")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place = Path(memory.path) / ("views" if machine == DESK else "views/on")
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(elsewhere)
    with both.memory(machine) as memory:
        assert found_by(memory, "heron")
        memory.window.tokens()
    assert list(elsewhere.iterdir()) == []
