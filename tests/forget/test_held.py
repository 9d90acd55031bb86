"""Forgetting reaches held pages and conflict copies, or says that it cannot; settling brings nothing back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from forgetting import POLICY, Op, live
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.ids import random_id
from looseleaf.store import records

CARS = "# Cars\n\n- Color: red\n- Brand: Saab\n- Nickname: Wanderer\n- Wheels: four\n"
CONFLICT = CARS.replace(
    "- Color: red\n",
    "<<<<<<< HEAD\n- Color: blue\n- Plate: WAN 1, of the wanderer\n=======\n- Color: green\n>>>>>>> laptop\n",
)
COPY = "facts/cars (conflicted copy 2026-01-02).md"


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", policy=POLICY) as memory:
        memory.pages.edit("USER.md", "# User\n\n- Home: Lyon\n", reason="a page", author="person")
        memory.pages.edit("facts/cars.md", CARS, reason="a page", author="person")
        yield memory


def file_of(memory: Memory, path: str = "facts/cars.md") -> Path:
    return Path(memory.path) / path


def words_in(memory: Memory, word: bytes = b"wanderer") -> list[str]:
    files = {
        path: str(path.relative_to(memory.path)) for path in Path(memory.path).rglob("*") if path.is_file()
    }
    return [name for path, name in files.items() if word in path.read_bytes().lower() + name.lower().encode()]


def test_a_page_in_conflict_loses_the_words_and_stays_held(memory: Memory) -> None:
    file_of(memory).write_text(CONFLICT)
    told = memory.forget(match="wanderer")
    assert told.probe is not None
    assert told.probe.hits == ()
    assert words_in(memory) == []
    assert [held.why for held in memory.review.held()] == ["conflict"]
    assert "- Color: blue\n=======\n- Color: green\n" in file_of(memory).read_text()
    assert [(each.relation, each.object) for each in memory.facts(topic="cars")] == [
        ("Color", "red"),
        ("Brand", "Saab"),
        ("Wheels", "four"),
    ]
    memory.review.settle("facts/cars.md", "both")
    assert words_in(memory) == []


def test_words_in_conflict_markers_go_and_the_page_stays_in_conflict(memory: Memory) -> None:
    memory.remember("Nightingale is my boat.")
    file_of(memory).write_text(CONFLICT.replace("HEAD", "nightingale-a").replace("laptop", "nightingale-b"))
    assert memory.forget(match="nightingale").counts["facts"]
    assert words_in(memory, b"nightingale") == []
    assert [held.why for held in memory.review.held()] == ["conflict"]
    assert not [each for each in memory.facts(topic="cars") if each.object == "green"]
    memory.review.settle("facts/cars.md", "theirs")
    assert file_of(memory).read_text() == CARS.replace("red", "green")


def test_words_without_which_a_page_is_no_longer_in_conflict_are_refused(memory: Memory) -> None:
    memory.remember("Nightingale is my boat.")
    left = CARS + ">>>>>>> nightingale-b\n"  # of a merge that is half done
    file_of(memory).write_text(left)
    with pytest.raises(Refused, match=r"Nothing was forgotten: facts/cars\.md waits.*`looseleaf settle`"):
        memory.forget(match="nightingale")
    assert file_of(memory).read_text() == left
    assert memory.facts(topic="cars")


@pytest.mark.parametrize("blank", [b"", b"\n"])
def test_an_emptied_page_stays_held(memory: Memory, blank: bytes) -> None:
    file_of(memory).write_bytes(blank)
    assert memory.forget(match="wanderer").counts["lines"]
    assert words_in(memory) == []
    assert file_of(memory).read_bytes() == blank
    memory.review.settle("facts/cars.md", "keep")
    assert file_of(memory).read_text() == CARS.replace("- Nickname: Wanderer\n", "")


def test_pages_that_are_gone_come_back_without_the_words(memory: Memory) -> None:
    for path in memory.pages.list():
        file_of(memory, path).unlink()
    memory.forget(match="wanderer")
    for held in memory.review.held():
        memory.review.settle(held.path, "keep")
    assert words_in(memory) == []
    assert memory.pages.list() == ["USER.md", "facts/cars.md"]


def test_a_copy_loses_the_words_also_if_it_alone_has_them(memory: Memory) -> None:
    file_of(memory, COPY).write_text(CARS + "- Secret: hazelnut\n")
    told = memory.forget(match="hazelnut")
    assert told.counts["others"] == 1
    assert told.probe is not None
    assert told.probe.hits == ()
    assert words_in(memory, b"hazelnut") == []
    assert file_of(memory, COPY).read_text() == CARS
    assert [held.path for held in memory.review.held()] == [COPY]


@pytest.mark.parametrize("name", ["journal (conflicted copy).jsonl", "traces/main/raw_traces 2.jsonl"])
def test_a_copy_of_a_log_loses_the_words(memory: Memory, name: str) -> None:
    memory.record(user="I call my car Wanderer.")
    memory.record(user="I live in Lyon.")
    copy = file_of(memory, f"log/{name}")
    original = name.replace(" (conflicted copy)", "").replace(" 2", "")
    copy.write_bytes(file_of(memory, f"log/{original}").read_bytes())
    told = memory.forget(match="wanderer")
    assert told.probe is not None
    assert told.probe.hits == ()
    assert words_in(memory) == []
    lines = copy.read_bytes().splitlines()
    assert lines
    assert all(records.decode(line)[1] for line in lines)  # the others are whole


def test_a_copy_of_an_entry_goes_with_what_it_holds(memory: Memory) -> None:
    live(memory, [Op("talk", "a", ("I live in Quillan.",)), Op("distill")])
    live(memory, [Op("talk", "b", ("I work at Acme.",)), Op("distill")])
    entries = [path.parent for path in file_of(memory, "log/entries").rglob("meta.json")]
    for entry in entries:
        shutil.copytree(entry, f"{entry} (conflicted copy 2026-01-02)")
    told = memory.forget(session="a")
    assert told.probe is not None
    assert told.probe.hits == ()
    assert words_in(memory, b"quillan") == []
    assert len([*file_of(memory, "log/entries").rglob("* (conflicted copy 2026-01-02)")]) < len(entries)


def test_a_copy_of_a_log_loses_what_was_said_even_if_it_is_short(memory: Memory) -> None:
    live(memory, [Op("talk", "a", ("Hi Bob",)), Op("talk", "b", ("I work at Acme.",))])
    log = file_of(memory, "log/traces/main/raw_traces.jsonl")
    copy = log.with_name("raw_traces (conflicted copy).jsonl")
    shutil.copy(log, copy)
    memory.forget(session="a")
    assert b"Bob" not in copy.read_bytes()
    assert b"Acme" in copy.read_bytes()


def test_a_forgotten_topic_takes_its_held_page_and_its_copies_along(memory: Memory) -> None:
    file_of(memory).write_text(CONFLICT)
    file_of(memory, COPY).write_text(CARS + "- Lover: Ann\n")
    assert memory.forget(topic="cars", dry_run=True).counts["others"] == 2
    told = memory.forget(topic="cars")
    assert told.probe is not None
    assert told.probe.hits == ()
    assert list(file_of(memory, "facts").iterdir()) == []
    assert words_in(memory, b"ann") == []
    assert memory.review.held() == []
    assert memory.facts(topic="cars") == []


@pytest.mark.parametrize("name", ["facts/cars.md", COPY])
def test_a_forgotten_fact_goes_from_held_files_even_if_its_value_is_short(memory: Memory, name: str) -> None:
    memory.pages.edit("facts/cars.md", CARS + "- Age: 9\n", reason="a page", author="person")
    file_of(memory, name).write_text(CONFLICT + "- Age: 9\n- Doors: 5\n")
    memory.forget(fact=str(next(each.id for each in memory.facts(topic="cars") if each.relation == "Age")))
    assert words_in(memory, b"age: 9") == []
    assert "- Doors: 5\n" in file_of(memory, name).read_text()


def test_what_cannot_be_cut_out_is_refused_and_said(memory: Memory) -> None:
    half = CARS.encode()[: len(CARS) // 2 - 8]
    file_of(memory).write_bytes(half)
    assert [held.why for held in memory.review.held()] == ["cut"]
    before = {path: path.read_bytes() for path in Path(memory.path).rglob("*.md")}
    with pytest.raises(Refused, match=r"Nothing was forgotten: facts/cars\.md waits.*`looseleaf settle`"):
        memory.forget(match="wanderer")
    assert {path: path.read_bytes() for path in Path(memory.path).rglob("*.md")} == before
    memory.review.settle("facts/cars.md", "keep")
    memory.forget(match="wanderer")
    assert words_in(memory) == []


def test_words_across_two_lines_of_a_copy_are_refused(memory: Memory) -> None:
    file_of(memory, COPY).write_text(CARS + "- Note: the winding\n  road home.\n")
    live(memory, [Op("talk", "walk", ("The winding road home.",))])
    with pytest.raises(Refused, match="cannot be cut out"):
        memory.forget(session="walk")
    memory.review.settle(COPY, "keep")
    assert memory.forget(match="winding road").probe
    assert words_in(memory, b"winding") == []


@pytest.mark.parametrize("word", ["wanderer", "Lyon"])
@pytest.mark.parametrize("way", ["conflict", "emptied", "gone"])
@pytest.mark.parametrize("is_other", [True, False])
def test_what_a_person_makes_of_a_held_page_after_a_forget_is_the_person_s(
    memory: Memory, word: str, way: str, is_other: bool
) -> None:
    if way == "gone":
        for path in memory.pages.list():
            file_of(memory, path).unlink()
    else:
        file_of(memory).write_text(CONFLICT if way == "conflict" else "")
    memory.forget(match=word)
    assert "facts/cars.md" in [held.path for held in memory.review.held()]
    file_of(memory).write_text("# Cars\n\n- Color: green\n")
    if is_other:
        with Memory(memory.path, policy=POLICY) as other:
            (edit,) = other.pages.absorb()
    else:
        (edit,) = memory.pages.absorb()
    assert (edit.path, edit.author) == ("facts/cars.md", "external")
    assert [(fact.object, fact.level) for fact in memory.facts(topic="cars")] == [("green", "confirmed")]
    assert "inferred" not in str(memory.notes)


def test_a_held_page_of_which_nothing_was_proven_is_not_proven_by_a_forget(memory: Memory) -> None:
    file_of(memory).write_text(CONFLICT)
    assert len(memory.review.held()) == 1
    memory.close()
    shutil.rmtree(file_of(memory, "views"))
    with Memory(memory.path, policy=POLICY) as other:
        other.forget(match="Lyon")
        file_of(memory).write_text("# Cars\n\n- Color: green\n")
        (edit,) = other.pages.absorb()
        assert edit.author == "unknown"


@pytest.mark.parametrize("name", ["cars (Nightingale's conflicted copy 2026)", "cars-NIGHTINGALE"])
def test_a_copys_name_with_the_words_is_settled_first_and_leaves_no_trace(memory: Memory, name: str) -> None:
    memory.remember("Nightingale is my boat.")
    copy = f"facts/{name}.md"
    file_of(memory, copy).write_text(CARS + "- Top: x\n")
    with pytest.raises(Refused, match=r"Nothing was forgotten: the name of facts/cars.*`looseleaf settle`"):
        memory.forget(match="nightingale")
    assert memory.recall("boat")
    settled = memory.review.settle(copy, "keep")
    assert settled.aside is not None
    assert settled.aside.endswith("-held-facts.cars.md")
    told = memory.forget(match="nightingale")
    assert told.probe is not None
    assert told.probe.hits == ()
    assert words_in(memory, b"nightingale") == []
    assert memory.forget(topic="cars").counts["facts"]
    assert not file_of(memory, settled.aside).exists()


def test_what_a_killed_writer_left_is_forgotten_at_once(memory: Memory) -> None:
    memory.remember("I live in Quillan.")
    staged = file_of(memory, f"log/staged/{random_id()}.dir")
    staged.mkdir(parents=True)
    (staged / "raw.md").write_text("I live in Quillan.")
    told = memory.forget(match="quillan")
    assert told.probe is not None
    assert told.probe.hits == ()
    assert words_in(memory, b"quillan") == []


@pytest.mark.parametrize("name", ["journal.jsonl.orig", "the wanderer.txt"])
def test_a_file_in_the_log_that_is_not_ours_is_named_before_anything_changes(
    memory: Memory, name: str
) -> None:
    file = file_of(memory, f"log/{name}")
    file.write_bytes(file_of(memory, "log/journal.jsonl").read_bytes() if "orig" in name else b"")
    with pytest.raises(
        Refused, match=rf"Nothing was forgotten: log/{name} holds .* Delete it, or move it out"
    ):
        memory.forget(match="wanderer")
    assert file_of(memory).read_text() == CARS
    file.unlink()
    memory.forget(match="wanderer")
    assert words_in(memory) == []


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_a_copy_in_another_encoding_loses_the_words_or_is_settled_first(memory: Memory, order: str) -> None:
    cars = CARS + "- Alias: Странник\n"
    memory.pages.edit("facts/cars.md", cars, reason="a page", author="person")
    file_of(memory, COPY).write_bytes(f"\ufeff{cars}".encode(order))
    memory.forget(match="wanderer")
    assert file_of(memory, COPY).read_text("utf-16") == cars.replace("- Nickname: Wanderer\n", "")
    with pytest.raises(Refused, match="Nothing was forgotten"):
        memory.forget(match="странник")
    memory.review.settle(COPY, "keep")
    memory.forget(match="странник")
    assert not list(Path(memory.path).rglob("*-held-*"))


def test_an_empty_folder_with_the_words_in_its_name_is_a_hit(memory: Memory) -> None:
    file_of(memory, "notes").mkdir()
    file_of(memory, "notes/wanderer").mkdir()
    told = memory.forget(match="wanderer")
    assert told.probe is not None
    assert told.probe.theirs == ("notes/wanderer",)
