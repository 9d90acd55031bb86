"""What any process has written is found by every other one as soon as the call that wrote it has returned."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory
from placing import THEN, tell
from recalling import INDEX, open_memory, recall, texts
from scripts.recall_work import Reader, find_for

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the lock of another process is waited for there"
)


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with open_memory(place / "memory") as memory:
        yield memory


@pytest.fixture
def reader(memory: Memory) -> Iterator[Reader]:
    """A process that lives for long, and is asked."""
    reader = Reader(find_for, memory.path)
    with reader:
        yield reader


def record_and_ask(memory: Memory, reader: Reader, count: int) -> int:
    """How often a record was not found at once, in the other process or in this one."""
    missed = 0
    for number in range(count):
        text = f"Parcel q{number}z waits at counter {number % 7}."
        memory.record(user=text, ts=THEN + number)
        missed += text not in reader.ask(f"parcel q{number}z")
        if number % 10 == 0:
            missed += text not in texts(memory, f"parcel q{number}z")
    return missed


def test_a_record_is_found_at_once_by_another_process(memory: Memory, reader: Reader) -> None:
    missed = record_and_ask(memory, reader, 100)
    print(f"records=100 missed={missed}")
    assert missed == 0


@pytest.mark.long
def test_a_thousand_records_are_each_found_at_once_by_another_process(memory: Memory, reader: Reader) -> None:
    missed = record_and_ask(memory, reader, 1000)
    print(f"\nrecords=1000 missed={missed}")
    assert missed == 0


def test_a_reader_that_never_looks_again_fails_the_same(
    memory: Memory, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts(memory, "nothing yet")
    sources = memory.parts.recall.sources
    monkeypatch.setattr(sources, "is_complete", lambda index: True)
    memory.record(user="Parcel q1z waits at counter 1.")
    assert texts(memory, "parcel q1z") == []
    assert reader.ask("parcel q1z") == ["Parcel q1z waits at counter 1."]


def test_each_of_a_batch_and_of_a_turn_with_tools_is_found(memory: Memory, reader: Reader) -> None:
    with memory.batch() as batch:
        for number in range(600):
            batch.record(user=f"Parcel q{number}z waits.", ts=THEN + number)
    memory.record(tool_call="search", tool_args={"query": "zebrafish genome"}, tool_call_id="c1")
    memory.record(tool_result={"found": "axolotl genome"}, tool_call_id="c1")
    for number in (0, 499, 500, 599):
        assert f"Parcel q{number}z waits." in reader.ask(f"parcel q{number}z")
    assert any("zebrafish" in text for text in reader.ask("zebrafish genome"))
    assert any("axolotl" in text for text in reader.ask("axolotl genome"))


def test_a_page_saved_by_an_editor_is_found_as_it_is_now(memory: Memory, reader: Reader) -> None:
    page = Path(memory.path, "facts", "garden.md")
    page.parent.mkdir(exist_ok=True)
    for number in range(5):
        old = f"The quince q{number - 1}z blooms.\n"
        new = f"The quince q{number}z blooms.\n"
        if number % 2:
            page.write_text(f"# Garden\n\n{new}")
        else:  # as most editors do
            beside = page.with_suffix(".tmp")
            beside.write_text(f"# Garden\n\n{new}")
            os.replace(beside, page)
        assert reader.ask(f"quince q{number}z")[:1] == [new.strip()]
        assert old.strip() not in reader.ask(f"quince q{number - 1}z")
        assert new.strip() in texts(memory, f"quince q{number}z")


def test_a_page_that_a_program_edits_takes_back_and_deletes_is_found_as_it_is(
    memory: Memory, reader: Reader
) -> None:
    memory.pages.edit(
        "facts/garden.md", "# Garden\n\nThe medlar ripens late.\n", reason="notes", author="person"
    )
    assert "The medlar ripens late." in reader.ask("medlar ripens late")
    memory.pages.edit(
        "facts/garden.md", "# Garden\n\nThe loquat ripens early.\n", reason="notes", author="person"
    )
    assert "The medlar ripens late." not in reader.ask("medlar ripens late")
    assert "The loquat ripens early." in reader.ask("loquat ripens early")
    memory.history.undo()
    assert "The medlar ripens late." in reader.ask("medlar ripens late")
    memory.pages.delete("facts/garden.md", reason="enough")
    assert "The medlar ripens late." not in reader.ask("medlar ripens late")


def test_facts_are_found_after_distilling_and_after_each_word_of_a_person(
    memory: Memory, reader: Reader
) -> None:
    assert "Home: Berlin" not in reader.ask("home Berlin")
    tell(memory, "I live in Berlin and I'm Zhang San.")
    assert "Home: Berlin" in reader.ask("home Berlin")
    [home] = [fact for fact in memory.facts() if fact.relation == "Home"]
    memory.review.correct(home.id or "", "Lyon")
    assert "Home: Lyon" in reader.ask("home Lyon")
    assert "Home: Berlin" not in reader.ask("home Berlin")
    memory.history.undo()
    assert "Home: Berlin" in reader.ask("home Berlin")
    [home] = [fact for fact in memory.facts() if fact.relation == "Home"]
    memory.review.reject(home.id or "")
    assert "Home: Berlin" not in reader.ask("home Berlin")


def test_what_is_said_to_one_agent_is_found_by_another(memory: Memory, reader: Reader) -> None:
    with open_memory(memory.path, agent="scout") as scout:
        for number, each in enumerate((memory, scout) * 3):
            text = f"Beacon q{number}z is lit."
            each.record(user=text, ts=THEN + number)
            assert text in reader.ask(f"beacon q{number}z")
            for other in (memory, scout):
                [hit] = [hit for hit in recall(other, f"beacon q{number}z") if hit.text == text]
                assert hit.agent == each.agent


def test_an_entry_is_found_when_it_is_written(memory: Memory, reader: Reader) -> None:
    memory.distill("The heron nests by the weir in spring.", topic="birds")[0]
    assert any("heron nests" in text for text in reader.ask("heron nests weir"))
    assert any(hit.kind == "entry" for hit in recall(memory, "heron nests weir"))


def test_what_was_compacted_is_still_found(memory: Memory, reader: Reader) -> None:
    for number in range(12):
        memory.record(user=f"The osprey q{number}z fishes in lake {number}.", ts=THEN + number)
        memory.record(assistant=f"Lake {number} it is.", ts=THEN + number)
    memory.window.compact()
    for number in (0, 11):
        assert f"The osprey q{number}z fishes in lake {number}." in reader.ask(f"osprey q{number}z")


def test_within_one_memory_each_write_is_found_by_the_next_question(memory: Memory) -> None:
    for number in range(20):
        memory.record(user=f"Lamp q{number}z burns.", ts=THEN + number)
        assert f"Lamp q{number}z burns." in texts(memory, f"lamp q{number}z")
    assert Path(memory.path, INDEX).exists()
    assert memory.notes == []


def test_an_index_is_brought_up_to_date_where_it_can_be_written(memory: Memory) -> None:
    keep = memory.parts.recall.keep
    memory.record(user="Parcel q1z waits.")
    memory.parts.recall.catch_up()
    assert keep.is_current()
    memory.record(user="Parcel q2z waits.")
    index = Path(memory.path, INDEX)
    keep.close()
    index.write_bytes(b"no database at all" * 100)
    memory.parts.recall.catch_up()  # removes it
    assert not index.exists()
    index.mkdir()
    memory.parts.recall.catch_up()  # cannot
    index.rmdir()
    memory.parts.recall.catch_up()
    assert keep.is_current()
