"""Forgetting reaches held pages and conflict copies, or says that it cannot; settling brings nothing back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from forgetting import POLICY
from looseleaf import Memory
from looseleaf.base.errors import Refused
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
    files = (path for path in Path(memory.path).rglob("*") if path.is_file())
    return [str(path.relative_to(memory.path)) for path in files if word in path.read_bytes().lower()]


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
    file_of(memory, COPY).write_text(CARS + "- Note: the winding\n  road home\n")
    memory.remember("The winding road home.")
    with pytest.raises(Refused, match="cannot be cut out"):
        memory.forget(match="winding road")
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
