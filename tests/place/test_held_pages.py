"""What is learnt while a page is held is kept, and placed when a person has settled it: nothing is lost or doubled."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.policy import Policy
from placing import RULES, THEN, Stub, document_says, fact, tell

HASTY = Policy(settle_seconds=0.01, quiet_seconds=0.0)
TALK = ("I live in Berlin.", "I like tea.", "I moved from Berlin to Paris.")
MARKED = "<<<<<<< HEAD\n- Name: Ann\n=======\n- Name: Anna\n>>>>>>> laptop\n"
SEES = RULES | {"is a Saab": [fact("Brand", "Saab", topic="cars")]}
NOTES = (("paint the boat", "tasks", "paint the boat"),)


def open_memory(where: Path) -> Memory:
    stub = Stub(SEES, notes=NOTES, episode={"title": "paint the boat", "task": "paint the boat"})
    memory = Memory(where, policy=HASTY, distiller=stub, counter=lambda text: len(text) // 4)
    if not memory.pages.list():
        memory.pages.edit("USER.md", "# User\n\n- Name: Ann\n", reason="a page", author="person")
        memory.pages.edit("facts/cars.md", "# Cars\n\n- Color: red\n", reason="a page", author="person")
    return memory


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with open_memory(place / "memory") as memory:
        yield memory


def file_of(memory: Memory, path: str = "USER.md") -> Path:
    return Path(memory.path) / path


def known(memory: Memory) -> list[tuple[str, str, str | None]]:
    """The facts, and of each who said it; those of the past too."""
    every = [*memory.facts(), *memory.facts(status="superseded")]
    return sorted((f"{each.status} {each.relation}", each.object, each.level) for each in every)


def in_a_world_where_nothing_was_held(place: Path) -> list[tuple[str, str, str | None]]:
    with open_memory(place / "other") as memory:
        tell(memory, *TALK[:2])
        tell(memory, *TALK[2:], at=THEN + 100)
        return known(memory)


def settle_elsewhere(memory: Memory) -> None:
    with open_memory(Path(memory.path)) as other:
        other.review.settle("USER.md", "keep")


def repair(memory: Memory) -> None:
    file_of(memory).write_text("# User\n\n- Name: Ann\n")
    memory.distill()


def settle_without_views(memory: Memory) -> None:
    shutil.rmtree(file_of(memory, "views"))
    settle_elsewhere(memory)


ENDS: dict[str, Callable[[Memory], object]] = {
    "settled": lambda memory: memory.review.settle("USER.md", "keep"),
    "repaired in an editor": repair,
    "settled in another process": settle_elsewhere,
    "settled without views": settle_without_views,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("held", [b"", MARKED.encode()], ids=["emptied", "conflict"])
@pytest.mark.parametrize("end", ENDS)
def test_facts_for_a_held_page_are_placed_when_it_is_settled(
    memory: Memory, place: Path, held: bytes, end: str
) -> None:
    before = known(memory)
    file_of(memory).write_bytes(held)
    assert tell(memory, *TALK[:2]) == []
    assert tell(memory, *TALK[2:], at=THEN + 100) == []
    assert known(memory) == before
    assert file_of(memory).read_bytes() == held
    assert any("are kept, and placed when it is settled" in note for note in memory.notes)
    assert memory.distill() == []  # nothing is distilled twice
    ENDS[end](memory)
    wanted = in_a_world_where_nothing_was_held(place)
    assert len(wanted) > len(before) + 2
    assert known(memory) == wanted
    assert memory.distill() == []
    assert known(memory) == wanted
    assert [each for each in memory.check() if each.severity == "error"] == []


def test_other_pages_learn_on_while_one_is_held(memory: Memory) -> None:
    file_of(memory, "facts/cars.md").write_bytes(b"")
    assert tell(memory, "My car is a Saab.") == []
    assert tell(memory, "I live in Berlin.", at=THEN + 100) != []
    assert ("current Home", "Berlin", "said") in known(memory)
    memory.review.settle("facts/cars.md", "keep")
    assert ("current Brand", "Saab") in [each[:2] for each in known(memory)]


@pytest.mark.parametrize("page", ["days", "episodes", "state.json"])
def test_an_entry_whose_day_month_or_state_is_held_waits_whole(memory: Memory, page: str) -> None:
    tell(memory, "I live in Berlin. TODO: paint the boat.")
    (path,) = [path for path in memory.pages.list() if path.startswith(page)]
    good = file_of(memory, path).read_text()
    file_of(memory, path).write_text(f"<<<<<<< HEAD\n{good}=======\n{good}>>>>>>> laptop\n")
    before = known(memory)
    assert tell(memory, "I like tea.", at=THEN + 100) == []
    assert known(memory) == before
    memory.review.settle(path, "keep")
    assert ("current Likes", "tea", "said") in known(memory)
    day = next(path for path in memory.pages.list() if path.startswith("days/"))
    assert "I like tea." in file_of(memory, day).read_text()


def test_a_text_for_a_held_page_is_kept_and_that_is_said(memory: Memory) -> None:
    file_of(memory, "facts/cars.md").write_text(MARKED)
    with pytest.raises(Refused, match=r"facts/cars\.md was not changed"):
        memory.remember("My car is blue.", topic="cars")
    with pytest.raises(Refused, match=r"The text is kept, and not placed yet: facts/cars\.md has conflict"):
        memory.distill("My car is a Saab.", topic="cars", author="person")
    memory.review.settle("facts/cars.md", "keep")
    assert ("current Brand", "Saab") in [each[:2] for each in known(memory)]
    assert "blue" not in str(known(memory))  # that was refused


def test_a_compaction_leaves_its_facts_for_later(memory: Memory) -> None:
    file_of(memory).write_bytes(b"")
    for number in range(12):
        memory.record(user=f"I like tea, cup {number}. " + "word " * 80, ts=THEN + number)
        memory.record(assistant="I see. " + "word " * 80, ts=THEN + number)
    assert memory.window.compact() is not None
    assert ("current Likes", "tea", "said") not in known(memory)
    memory.distill()
    memory.distill()
    memory.review.settle("USER.md", "keep")
    assert ("current Likes", "tea", "said") in known(memory)


def test_what_was_forgotten_meanwhile_does_not_come_back(memory: Memory) -> None:
    file_of(memory).write_bytes(b"")
    tell(memory, *TALK[:2])
    told = memory.forget(match="Berlin")
    assert told.probe is not None
    assert told.probe.hits == ()
    tell(memory, "I like jazz.", at=THEN + 100)
    memory.forget(session=next(iter(memory.talk.sessions(1))).session_id)
    memory.review.settle("USER.md", "keep")
    memory.distill()
    assert [each[:2] for each in known(memory)] == [("current Color", "red"), ("current Name", "Ann")]


@pytest.mark.parametrize("act", ["approve", "reject"])
def test_a_decision_waits_while_review_is_held(memory: Memory, act: str) -> None:
    document_says(memory, "I like jazz.", topic="user")
    (item,) = memory.review.pending()
    good = file_of(memory, "review/pending.md").read_text()
    file_of(memory, "review/pending.md").write_bytes(b"")
    before = known(memory)
    with pytest.raises(Refused, match="settle"):
        getattr(memory.review, act)(item.id or "")
    assert known(memory) == before
    assert [each.id for each in memory.review.pending()] == [item.id]
    memory.review.settle("review/pending.md", "keep")
    assert file_of(memory, "review/pending.md").read_text() == good
    getattr(memory.review, act)(item.id or "")
    assert memory.review.pending() == []


def test_an_undo_of_several_pages_is_refused_before_the_first(memory: Memory) -> None:
    tell(memory, "I live in Berlin. TODO: paint the boat.")
    before = {path: file_of(memory, path).read_bytes() for path in memory.pages.list() if path != "USER.md"}
    file_of(memory).write_bytes(b"")
    with pytest.raises(Refused, match="settle"):
        memory.history.undo(author="person")
    assert {path: file_of(memory, path).read_bytes() for path in before} == before
    memory.review.settle("USER.md", "keep")
    memory.history.undo(author="person")
    assert "Berlin" not in file_of(memory).read_text()
