"""What a command reads and writes grows with what it is about, not with all there is. Counted, not timed; the times are
in benchmarks/growth.py."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faults import CountedDisk
from index_contract import item
from looseleaf.base.errors import Refused
from looseleaf.base.messages import Distilled, Material, Proposal
from looseleaf.base.values import Fact
from looseleaf.facts.known_facts import FOLDER, Facts
from looseleaf.index.sqlite import SqliteIndex
from looseleaf.memory import Memory
from looseleaf.pages.outside_edits import OutsideEdits
from looseleaf.recall.index_sync import ItemSources
from looseleaf.store import JOURNAL, files
from looseleaf.store.files import FileStore
from looseleaf.store.streams import Segments
from looseleaf.transfer.export_rows import fact_lines


def counted(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[tuple[Any, ...]]:
    """The calls of a method from now on."""
    calls: list[tuple[Any, ...]] = []
    real: Callable[..., Any] = getattr(owner, name)

    def call(self: Any, *args: Any, **named: Any) -> Any:
        calls.append(args)
        return real(self, *args, **named)

    monkeypatch.setattr(owner, name, call)
    return calls


class Repeats:
    """Says in each entry what was said before its talk: sources that are not among the entry's own traces."""

    name = "repeats/1"

    def distill(self, material: Material, tokens: int) -> Distilled:
        said = [trace for trace in material.traces() if trace.trace_type == "user"]
        facts = (
            Proposal("note", each.content, each.content, "user", source=each.id).to_dict() for each in said
        )
        return Distilled("", None, tuple(facts))


def lines_read_by_an_export(place: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    with Memory(place / f"{count}", distiller=Repeats()) as memory:
        for number in range(count):
            memory.record(
                user=f"I keep box number {number} in the shed behind the house.", ts=1e9 + 90_000 * number
            )
        memory.distill()
        memory.pages.edit(
            "facts/shed.md", "".join(f"- Box: {n}\n" for n in range(count)), reason="a test", author="person"
        )
        memory.facts()
        with monkeypatch.context() as patch:
            read = counted(patch, Segments, "records")
            rows = list(fact_lines(memory))
        assert len(rows) >= 2 * count
        assert all(b'"text":""' not in row for row in rows), "every source was found"
    return len(read)


def test_the_words_behind_facts_are_exported_by_one_pass_through_the_logs(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (lines_read_by_an_export(place, count, monkeypatch) for count in (10, 40))
    assert many <= 5 * few


def bytes_viewed(place: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    with Memory(place / f"{count}") as memory, monkeypatch.context() as patch:
        views = counted(patch, FileStore, "view")
        for number in range(count):
            memory.remember(f"Shelf {number} holds box {number}.", topic="stock")
        written = sum(len(data) for path, data in views if path.startswith(FOLDER))
        assert len(memory.facts(topic="stock")) == count
    with Memory(place / f"{count}") as again:
        assert len(again.facts(topic="stock")) == count
    return written


@pytest.mark.long
def test_a_series_of_writes_to_one_page_does_not_write_its_views_each_time(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (bytes_viewed(place, count, monkeypatch) for count in (300, 1200))
    assert many <= 6 * few


def test_views_that_were_not_written_are_read_from_the_journal(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(place) as memory:
        lines = "".join(f"- Box: {number}\n" for number in range(3000))
        memory.pages.edit("facts/stock.md", lines, reason="a test", author="person")
        memory.facts(topic="stock")
        views = counted(monkeypatch, FileStore, "view")
        memory.remember("Lid: of tin", topic="stock")
        assert memory.facts(topic="stock")[-1].object == "of tin"
    assert [path for path, _ in views if path.startswith(FOLDER)] == []
    with Memory(place) as again:
        assert again.facts(topic="stock")[-1].object == "of tin"
        again.views.build()  # makes all views whole, without reading the journal from its beginning
    assert any(path == f"{FOLDER}/stock.json" for path, _ in views)


# --- pages -------------------------------------------------------------------------------


@pytest.fixture
def many(place: Path) -> Path:
    with Memory(place) as memory:
        memory.remember("My name is Ana.")
        for number in range(30):
            memory.pages.edit(
                f"facts/t{number}.md", f"- Colour: {number}\n", reason="a test", author="person"
            )
        time.sleep(0.12)  # so that each is trusted by its times
        memory.pages.absorb()
        memory.facts()
    return place


def test_a_page_that_did_not_change_is_read_without_a_look_at_the_others(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(many) as memory:
        memory.pages.read("facts/t3.md")
        looks = counted(monkeypatch, OutsideEdits, "__call__")
        assert "Colour: 3" in memory.pages.read("facts/t3.md").text
        assert [fact.object for fact in memory.facts(topic="t3")] == ["3"]
        assert looks == []
        (many / "facts/t3.md").write_text("- Colour: red\n")
        assert [fact.object for fact in memory.facts(topic="t3")] == ["red"]
        assert len(looks) == 1


def test_a_line_that_was_moved_keeps_its_level_though_only_one_page_is_read(many: Path) -> None:
    with Memory(many) as memory:
        memory.pages.edit("facts/t1.md", "- Guess: maybe\n", reason="a test", author="agent:main")
        assert memory.facts(topic="t1")[0].level == "inferred"
        (many / "facts/t1.md").write_text("# Empty\n\nNothing.\n")
        (many / "facts/t2.md").write_text("- Guess: maybe\n")
        memory.pages.read("USER.md")
        assert "Nothing" in memory.pages.read("facts/t1.md").text  # this one changed, so all are looked at
        assert memory.facts(topic="t2")[0].level == "inferred"


def test_a_tick_in_review_is_obeyed_before_a_page_is_read(many: Path) -> None:
    with Memory(many) as memory:
        memory.review.ask(
            Fact("t4", "t4", "Shed", "at the lake", id="f_000000000001", level="tainted"), "a test"
        )
        time.sleep(0.12)
        memory.pages.absorb()
        pending = many / "review/pending.md"
        pending.write_text(pending.read_text().replace("- [ ]", "- [x]"))
        assert "Shed: at the lake" in memory.pages.read("facts/t4.md").text


def test_a_status_reads_no_topic(
    many: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from looseleaf.cli.main import main

    read = counted(monkeypatch, Facts, "_read_shard")
    looks = counted(monkeypatch, OutsideEdits, "__call__")
    assert main(["--memory", str(many)]) == 0
    assert "31 in" in capsys.readouterr().out.replace("facts    ", "")
    assert len(read) <= 1  # the one of review, if there is one
    assert len(looks) == 1


class Listings(CountedDisk):
    def __init__(self) -> None:
        super().__init__()
        self.listed = 0

    def names(self, fd: int) -> list[str]:
        self.listed += os.path.basename(os.readlink(f"/proc/self/fd/{fd}")) == "facts"
        return super().names(fd)


def test_pages_made_in_a_row_do_not_list_their_folder_each_time(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Listings()
    monkeypatch.setattr(files, "this_disk", lambda: disk)
    with Memory(place) as memory:
        memory.parts.pages.in_a_row = True
        for number in range(40):
            memory.pages.edit(f"facts/p{number}.md", "- A: b\n", reason="a test")
        assert disk.listed <= 4
        (place / "facts/Cars.md").write_text("- A: c\n")
        with pytest.raises(Refused, match="some systems take the two names for one"):
            memory.pages.edit("facts/cars.md", "- A: b\n", reason="a test")
        with pytest.raises(Refused, match="some systems take the two names for one"):
            memory.pages.edit("facts/P3.md", "- A: b\n", reason="a test")


# --- the index ---------------------------------------------------------------------------


def steps_to_take_a_page(items: int) -> int:
    """What SQLite does for a page that is new, in an index of so many items."""
    index = SqliteIndex(None)
    assert index.open(make=True)
    for number in range(items):
        index.take(f"page:{number}", "1", [item(f"{number}", "tea", "prose")], anew=True)
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    assert index._connection is not None
    index._connection.set_progress_handler(step, 10)
    index.take("page:new", "1", [item("new", "pot", "prose")], anew=True)
    index.close()
    return steps


def test_a_new_page_is_indexed_without_a_look_at_all_items() -> None:
    few, many = steps_to_take_a_page(50), steps_to_take_a_page(800)
    assert many <= 3 * few + 20


def test_the_index_reads_the_journal_once_however_many_batches_it_takes(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("looseleaf.recall.index_sync._AT_ONCE", 5)
    with Memory(place) as memory:
        for number in range(30):
            memory.pages.edit(
                f"facts/t{number}.md", f"- Colour: {number}\n", reason="a test", author="person"
            )
        batches = counted(monkeypatch, ItemSources, "find_missing")
        read = counted(monkeypatch, Segments, "read")
        memory.views.build_index(full=True)
        assert len(batches) > 5
        whole = [args for args in read if args[0] == JOURNAL and (len(args) == 1 or args[1] == (0, 0))]
        assert len(whole) <= 3


def test_what_changed_since_is_all_that_an_index_looks_at(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(many) as memory:
        memory.recall("Which colour?")
        asked = counted(monkeypatch, SqliteIndex, "marks")
        memory.pages.edit("facts/t3.md", "- Colour: violet\n", reason="a test", author="person")
        assert memory.recall("violet colour")[0].kind == "fact"
        memory.pages.delete("facts/t4.md", reason="a test", author="person")
        assert all(hit.where != "facts/t4.md" for hit in memory.recall("colour 4", k=50))
        assert asked == []
