"""Conflict copies of logs, entries, the state and the settings are named with what is in them, and never read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from looseleaf import Memory
from looseleaf.base.policy import Policy
from looseleaf.store import records

HASTY = Policy(settle_seconds=0.01, quiet_seconds=0.0)


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", policy=HASTY) as memory:
        memory.record(user="I live in Lyon.")
        memory.remember("I like green tea.")
        memory.record(user="I have two cats.")
        yield memory


def file_of(memory: Memory, path: str) -> Path:
    return Path(memory.path) / path


def said(memory: Memory, path: str) -> list[str]:
    return [str(each).removeprefix(f"{path}: ") for each in memory.check() if each.path == path]


LOGS = {
    "log/journal (conflicted copy).jsonl": "log/journal.jsonl",
    "log/journal (Ann's conflicted copy 2026-01-02).jsonl": "log/journal.jsonl",
    "log/journal 2.jsonl": "log/journal.jsonl",
    "log/traces/main/raw_traces.sync-conflict-20260102-101010-ABCDEFG.jsonl": "log/traces/main/raw_traces.jsonl",
    "log/traces/main/raw_traces (1).jsonl": "log/traces/main/raw_traces.jsonl",
    "log/traces/main/raw_traces-LAPTOP-7F3K.jsonl": "log/traces/main/raw_traces.jsonl",
}


@pytest.mark.parametrize("path", LOGS)
def test_a_copy_of_a_log_is_named_with_how_many_records_only_it_has(memory: Memory, path: str) -> None:
    original = LOGS[path]
    data = file_of(memory, original).read_bytes()
    count = data.count(b"\n")
    file_of(memory, path).write_bytes(data)
    (same,) = said(memory, path)
    assert same == (
        f"note: this is a conflict copy of {original}, and is not read. The log has all of its records"
    )
    new = records.encode({"schema": "trace.v1", "id": "01ZZZZZZZZZZZZZZZZZZZZZZZZ", "content": "elsewhere"})
    file_of(memory, path).write_bytes(data + new + new.replace(b"01Z", b"02Z"))
    (more,) = said(memory, path)
    # The second new one is damaged.
    assert more == (
        f"this is a conflict copy of {original}, and is not read. The log lacks 1 of its {count + 1} records"
    )
    assert "elsewhere" not in str([hit.text for hit in memory.recall("elsewhere", sure=0.0)])


def test_copies_of_other_files_are_named_and_not_read(memory: Memory) -> None:
    entry = next(file_of(memory, "log/entries").glob("*/*"))
    others = {
        "state (conflicted copy 2026-01-02).json": "state.json",
        "looseleaf.sync-conflict-20260102-101010-ABCDEFG.toml": "looseleaf.toml",
        "log/key (conflicted copy 2026-01-02)": "log/key",
        f"{entry.relative_to(memory.path)}/meta (1).json": f"{entry.relative_to(memory.path)}/meta.json",
    }
    for path, original in others.items():
        file_of(memory, path).write_bytes(b"{}")
        (problem,) = said(memory, path)
        assert problem == (
            f"this is a conflict copy of {original}, and is not read. Compare the two, and move it away"
        )
    twin = f"{entry.relative_to(memory.path)} 2"
    file_of(memory, twin).mkdir()
    assert "this is a conflict copy of log/entries/" in said(memory, twin)[0]


@pytest.mark.parametrize("name", ["main 2", "main (conflicted copy)"])
def test_a_copy_of_an_agents_log_is_named_and_an_agent_with_such_a_name_is_not(
    memory: Memory, name: str
) -> None:
    with Memory(memory.path, agent=name) as other:
        other.record(user="I am another agent's user.")
    assert said(memory, f"log/traces/{name}") == []
    shutil.rmtree(file_of(memory, f"log/traces/{name}"))
    shutil.copytree(file_of(memory, "log/traces/main"), file_of(memory, f"log/traces/{name}"))
    (copy,) = said(memory, f"log/traces/{name}")
    assert copy.startswith(
        "this is a conflict copy of log/traces/main, and is read as the log of another agent."
    )


def test_names_that_people_give_are_no_copies(memory: Memory) -> None:
    with Memory(memory.path, agent="main 2", policy=HASTY) as other:
        other.record(user="I am another agent.")
        other.prompt("Who am I?")
    memory.prompt("Who am I?")
    memory.remember("The shed is red.", topic="shed")
    memory.distill("The shed is big.", topic="shed 2", author="person")
    assert [str(each) for each in memory.check() if "copy" in each.message] == []


def test_a_page_that_an_older_program_took_a_copy_for_is_noted(memory: Memory) -> None:
    path = "facts/cars (conflicted copy 2026-01-02).md"
    memory.pages.edit(path, "# Cars\n\n- Color: red\n", reason="taken for a page", author="person")
    assert "note: this looks like a conflict copy" in said(memory, path)[0]
    assert path in memory.pages.list()


def test_a_folder_of_the_log_that_cannot_be_read_stops_no_check(memory: Memory, place: Path) -> None:
    file_of(memory, "log/elsewhere").symlink_to(place)
    file_of(memory, "log/journal (conflicted copy).jsonl").write_bytes(b"")
    assert len(said(memory, "log/journal (conflicted copy).jsonl")) == 1
