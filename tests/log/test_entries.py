"""Older entries are read as today's and never rewritten; those of a newer program are refused, reported, and kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused, Unreadable
from looseleaf.log.entries import entry_from_v0
from placing import entries, journal, log_files, one, pages, stub, tell, text_of, values

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[1] / "folders" / "entries-v0" / "memory"
TEA, GARDEN = "tea/01JPAGES000000000000000006", "garden/01JPAGES000000000000000007"


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    shutil.copytree(FOLDER, place / "memory")
    with Memory(place / "memory", distiller=stub()) as memory:
        yield memory


def entry_files(memory: Memory) -> dict[str, bytes]:
    return {path: data for path, data in log_files(memory.path).items() if "/entries/" in path}


def test_an_entry_of_version_0_is_read_as_one_of_today(memory: Memory) -> None:
    entry = memory.talk.entry(TEA)
    assert entry.meta["schema"] == "entry.v1"
    assert entry.summary["schema"] == "entry_summary.v1"
    assert (entry.meta["id"], entry.meta["ts"]) == (TEA.rpartition("/")[2], 1741600300.0)
    favourite, stock = entry.summary["facts"]
    assert favourite["topic"] == "user"
    assert (stock["topic"], stock["kind"]) == ("tea", "event")
    assert "confidence" not in favourite, "what a distiller thought of itself is not read"
    assert entry.summary["next_actions"] == [{"text": "ask for samples", "source": ""}]
    assert memory.talk.entry(GARDEN).summary["tasks"] == []


def test_a_memory_of_version_0_is_placed_and_built_and_its_files_are_not_touched(memory: Memory) -> None:
    files = entry_files(memory)
    assert memory.check() == []
    memory.views.build(full=True)
    assert entry_files(memory) == files
    scored = one(memory, "Favourite")
    assert (scored.object, scored.level, scored.user_fact_score) == ("tea: oolong", "confirmed", 8.0)
    assert scored.path == "USER.md"
    assert values(memory, "pending") == [("Stock", "a tin of sencha")], "the author of the rest is unknown"
    assert "tea" in memory.views.topics()
    assert json.loads(Path(memory.path, "views/topics/tea/topic_memory.json").read_text())
    assert memory.check() == []


def test_building_again_places_nothing_again(memory: Memory) -> None:
    memory.views.build(full=True)
    before, count = pages(memory), len(journal(memory))
    memory.views.build(full=True)
    memory.review.reject(one(memory, "Favourite").id or "")
    assert len(journal(memory)) == count + 1
    memory.views.build(full=True)
    assert pages(memory).keys() == before.keys()
    assert len(journal(memory)) == count + 1
    assert "oolong" not in text_of(memory, "USER.md")


def test_what_is_left_when_another_program_took_the_text_is_noted(memory: Memory) -> None:
    Path(memory.path, "log/entries", TEA, "raw.md").unlink()
    memory.views.build(full=True)
    assert any("raw.md is missing" in note for note in memory.notes)
    assert [record["entry"] for record in journal(memory, "placed")] == [GARDEN]


@pytest.mark.parametrize("odd", [{}, {"facts": 7}, {"facts": [None, {}, {"object": 3, "relation": []}]}])
def test_anything_in_an_entry_of_version_0_can_be_read(odd: dict[str, Any]) -> None:
    meta, summary = entry_from_v0("tea/x", {"entry_ts": "soon"}, odd)
    assert meta["ts"] == 0.0
    assert isinstance(summary["facts"], list)
    json.dumps([meta, summary])


# --- newer ------------------------------------------------------------------------------


@pytest.fixture
def newer(memory: Memory) -> Memory:
    """A memory with an entry that a newer program made."""
    folder = Path(memory.path, "log/entries/tea/01JPAGES000000000000000009")
    folder.mkdir()
    (folder / "raw.md").write_text("I like tea.\n")
    (folder / "meta.json").write_text('{"schema": "entry.v7", "id": "01JPAGES000000000000000009"}\n')
    (folder / "summary.json").write_text('{"schema": "entry_summary.v7", "facts": {"a": 1}}\n')
    return memory


def test_an_entry_of_a_newer_program_is_refused_in_a_clear_sentence(newer: Memory) -> None:
    with pytest.raises(Unreadable, match=r"was not read: its format is 'entry\.v7'.*knows entry\.v1"):
        newer.talk.entry("01JPAGES000000000000000009")


def test_an_entry_of_a_newer_program_is_reported_and_kept(newer: Memory) -> None:
    files = entry_files(newer)
    problems = [problem for problem in newer.check() if problem.severity == "error"]
    assert [problem.path.rpartition("/")[2] for problem in problems] == ["meta.json", "summary.json"]
    newer.views.build(full=True)
    newer.review.redistill(stub(name="other/1"))
    assert any("entry.v7" in note for note in newer.notes)
    assert {path: entry_files(newer)[path] for path in files} == files
    assert one(newer, "Favourite").level == "confirmed", "the others are placed"


@pytest.mark.parametrize("broken", ["[]", "{", '{"schema": 7}', '{"schema": "entry.v1"}'])
def test_an_entry_that_is_none_stops_nobody(memory: Memory, broken: str) -> None:
    Path(memory.path, "log/entries", GARDEN, "meta.json").write_text(broken)
    memory.views.build(full=True)
    assert [record["entry"] for record in journal(memory, "placed")] == [TEA]
    with pytest.raises(Refused):
        memory.talk.entry(GARDEN)
    assert [problem for problem in memory.check() if problem.severity == "error"]


# --- today's ----------------------------------------------------------------------------


def test_check_understands_entries_of_distilling_and_writing(place: Path) -> None:
    with Memory(place / "new", distiller=stub()) as memory:
        tell(memory, "I live in Berlin.")
        memory.distill("I like tea.", topic="drinks")[0]
        memory.distill("I like jazz.", author="person")[0]
        assert len(entries(memory)) == 3
        assert all("loss" not in memory.talk.entry(each).meta for each in entries(memory))
        assert memory.check() == []
        memory.review.redistill(stub(name="other/1"), apply=True)
        assert len(entries(memory)) == 6
        assert memory.check() == []
        assert memory.repair() == []
