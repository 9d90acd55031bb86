"""The logs of other machines are checked, carried in exports, and never repaired here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run
from looseleaf import Memory
from looseleaf.transfer.export_folder import Copy, export_whole
from looseleaf.transfer.export_rows import message_lines
from looseleaf.transfer.import_ledger import recorded_lines
from two_machines import DESK, LAP, TwoMachines, on


@pytest.fixture
def both(tmp_path: Path) -> TwoMachines:
    """Two machines that have recorded, distilled and sealed, with a long text that is a body."""
    both = TwoMachines(tmp_path)
    for machine in (DESK, LAP):
        with both.memory(machine) as memory:
            memory.remember(f"My {machine} is called Ana.")
            memory.record(user=f"I live in Lyon, says {machine}.")
            memory.distill()
            memory.parts.context.store.rotate("traces/main")
            memory.record(user="x" * 300_000)  # a body
    both.carry()
    return both


def errors(memory: Memory) -> dict[str, str]:
    return {each.path: each.message for each in memory.check() if each.severity == "error"}


def path_of(log: Path, what: str) -> Path:
    found = {
        "journal": log / "journal.jsonl",
        "segment": log / "traces/main/archive/000001.jsonl",
        "body": next((log / "bodies").iterdir()),
        "entry": next((log / "entries").glob("*/*/meta.json")),
    }
    return found[what]


@pytest.mark.parametrize(("hurt", "here"), [(DESK, LAP), (LAP, DESK)])
@pytest.mark.parametrize("what", ["journal", "segment", "body", "entry"])
def test_damage_in_the_log_of_another_machine_is_named_by_its_path_and_left_to_that_machine(
    both: TwoMachines, hurt: str, here: str, what: str
) -> None:
    with both.memory(here) as memory:
        assert errors(memory) == {}
    folder = both.folder / here
    path = path_of(both.log(hurt, here), what)
    data = bytearray(path.read_bytes())
    data[1 if what == "entry" else 40] ^= 1
    path.write_bytes(data)
    before = both.bytes_of(hurt, here)
    with both.memory(here) as memory:
        found = errors(memory)
        assert str(path.relative_to(folder)) in found
        assert all(message.endswith(f"log of {hurt}: repair it there") for message in found.values())
        (told,) = memory.repair()
        log = both.log(hurt, here).relative_to(folder)
        assert told.startswith(f"{log}: not repaired (")
        assert told.endswith(f"it is the log of {hurt}. Repair it there.")
        assert errors(memory) == found
    assert both.bytes_of(hurt, here) == before


def test_a_record_of_another_machine_that_is_half_carried_is_no_fault(both: TwoMachines) -> None:
    path = both.log(LAP, DESK) / "traces/main/raw_traces.jsonl"
    path.write_bytes(path.read_bytes() + b'{"half')
    with both.memory(DESK) as memory:
        assert errors(memory) == {}
        assert "the rest of this record is not here yet" in {each.message for each in memory.check()}
        assert memory.repair() == []
    assert path.read_bytes().endswith(b'{"half')


def test_a_second_machine_s_own_damage_is_named_where_it_lies_and_repaired(both: TwoMachines) -> None:
    path = both.log(LAP, LAP) / "traces/main/archive/000001.jsonl"
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    with both.memory(LAP) as memory:
        assert "log/on/lap/traces/main/archive/000001.jsonl" in errors(memory)
        assert all(each.startswith("log/on/lap/") for each in errors(memory))
        assert memory.repair()
        assert errors(memory) == {}


@pytest.mark.parametrize("machine", [DESK, LAP])
def test_an_export_takes_the_logs_of_all_machines_and_opens_as_the_same_memory(
    both: TwoMachines, machine: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    with both.memory(machine) as memory:
        export_whole(memory, Copy(str(copy)))
        facts = [(fact.id, fact.object, fact.level) for fact in memory.facts()]
        found = [hit.where for hit in memory.recall("who lives in Lyon?", kinds=["trace"])]
    for log in (copy / "log", copy / "log/on/lap"):
        names = {each.name for each in log.iterdir()}
        assert {"journal.jsonl", "machine", "traces", "entries"} <= names
        assert names.isdisjoint({"lock", "turn", "staged"})
    with on(machine), Memory(copy) as memory:
        assert memory.parts.files.machine == machine
        assert [(fact.id, fact.object, fact.level) for fact in memory.facts()] == facts
        assert [hit.where for hit in memory.recall("who lives in Lyon?", kinds=["trace"])] == found
        assert errors(memory) == {}


def test_the_talk_of_all_machines_is_exported_and_known_to_be_recorded(both: TwoMachines) -> None:
    found = []
    for machine in (DESK, LAP):
        with both.memory(machine) as memory:
            rows = [json.loads(line) for line in b"".join(message_lines(memory, "main")).splitlines()]
            assert {row.get("machine", machine) for row in rows} == {DESK, LAP}
            found.append({row["session"]: len(row["messages"]) for row in rows})
            assert recorded_lines(memory.parts.context.store).keys() == found[-1].keys()
    assert found[0] == found[1]


def test_a_loss_of_a_second_machine_s_own_log_is_told_by_its_place(both: TwoMachines, run: Run) -> None:
    path = both.log(LAP, LAP) / "traces/main/raw_traces.jsonl"
    path.write_bytes(b"")
    with on(LAP):
        with both.memory(LAP) as memory:
            memory.record(user="Hello again.")
        said = run("--memory", str(both.folder / LAP))[1]
    assert "of log/on/lap/traces/main/raw_traces.jsonl\n" in said


def test_what_is_no_log_of_a_machine_stops_nothing(both: TwoMachines) -> None:
    machines = both.folder / DESK / "log" / "on"
    (machines / ".DS_Store").write_bytes(b"")
    (machines / "file").write_bytes(b"")
    (machines / "link").symlink_to(machines / LAP)
    (machines / "Not A Name").mkdir()
    (machines / "empty").mkdir()
    with both.memory(DESK) as memory:
        assert memory.parts.files.machines() == ["empty", LAP]
        assert memory.recall("who lives in Lyon?")
        assert {*errors(memory)} == {"log/on/file", "log/on/link"}  # a machine's log may be behind them
