"""Review: one line never keeps the others waiting, and no source fills the page alone."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import few
from faults import FaultyDisk
from looseleaf import Memory
from looseleaf.base.errors import Unwritten
from looseleaf.base.policy import Policy
from looseleaf.base.values import Fact
from looseleaf.place import placer as review_page
from looseleaf.place.placer import ReviewResult, add_waiting
from looseleaf.tools.toolset import call
from placing import THEN, document_says, one, stub, tell, text_of, tool_says, values
from scripts.place_work import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PROJECT = "facts/project.md"
SMALL = Policy(page_bytes=4096)


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", policy=SMALL, distiller=stub()) as memory:
        yield memory


def fact(number: int, origin: str = "agent:main", said: str = "") -> Fact:
    said = said or f"thing {number}"
    return Fact("work", "work", "Note", said, id=f"f_{number:012x}", origin=origin, status="pending")


# --- what cannot be done ----------------------------------------------------------------


def too_large(memory: Memory) -> None:
    document_says(memory, "We use Postgres.", topic="project")
    memory.pages.edit(PROJECT, "# Project\n\n" + "x" * 4080 + "\n", reason="long", author="person")


def no_text(memory: Memory) -> None:
    document_says(memory, "We use Postgres.", topic="project")
    saved(memory, PROJECT, b"# Project\n\n\xff\n")


def to_forget(memory: Memory) -> None:
    memory.pages.edit(PROJECT, "# Project\n\n- Colour: red\n", reason="a fact", author="person")
    assert not call(memory, "memory_forget", {"what": "Colour: red"}).is_error
    saved(memory, PROJECT, b"# Project\n\n- Colour: red\n\xff\n")


def saved(memory: Memory, path: str, data: bytes) -> None:
    file = Path(memory.path, path)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    memory.pages.absorb()


def tick_all(memory: Memory) -> None:
    ticked = text_of(memory, review_page.PATH).replace("- [ ]", "- [x]")
    memory.pages.edit(review_page.PATH, ticked, reason="ticked", author="person")


@pytest.mark.parametrize("stuck", [too_large, no_text, to_forget])
def test_a_tick_that_cannot_be_done_keeps_nothing_else_waiting(
    memory: Memory, stuck: Callable[[Memory], None]
) -> None:
    stuck(memory)
    [first] = memory.facts(status="pending")
    document_says(memory, "I like jazz.")
    document_says(memory, "I live in Paris.")
    tick_all(memory)
    tell(memory, "I like tea.", at=THEN + 30)
    assert {("Home", "Paris"), ("Likes", "jazz"), ("Likes", "tea")} <= set(values(memory))
    assert [each.id for each in memory.facts(status="pending")] == [first.id]
    [note] = [note for note in memory.notes if first.id and first.id in note]
    assert PROJECT in note
    assert "tried again" in note
    assert not call(memory, "memory_list", {}).is_error
    assert text_of(memory, review_page.PATH).count("- [x]") == 1

    saved(memory, PROJECT, b"# Project\n\n- Colour: red\n")
    memory.distill()
    assert memory.facts(status="pending") == []
    assert ("[x]" in text_of(memory, review_page.PATH), "Forget" in text_of(memory, review_page.PATH)) == (
        False,
        False,
    )
    assert (("Database", "Postgres") in values(memory)) is (stuck is not to_forget)
    assert (("Colour", "red") in values(memory)) is (stuck is not to_forget)


def test_a_review_that_is_no_text_keeps_nobody_from_the_rest(memory: Memory) -> None:
    document_says(memory, "I like jazz.")
    document_says(memory, "We use Postgres.")
    text = memory.pages.read(review_page.PATH).data
    ticked = text.replace(b"[ ]", b"[x]")
    saved(memory, review_page.PATH, ticked + b"\n\xff\n")
    tell(memory, "I like tea.", at=THEN + 20)
    assert values(memory) == [("Likes", "tea")]
    assert [(held.path, held.why) for held in memory.review.held()] == [(review_page.PATH, "garbled")]
    saved(memory, review_page.PATH, ticked)
    assert values(memory) == [("Database", "Postgres"), ("Likes", "jazz"), ("Likes", "tea")]
    assert values(memory, "pending") == []
    assert "jazz" not in text_of(memory, review_page.PATH)


def test_a_disk_that_does_not_write_is_no_matter_of_one_line(place: Path) -> None:
    disk = FaultyDisk()
    memory = open_memory(place / "memory", disk)
    document_says(memory, "I like jazz.")
    tick_all(memory)
    placing = memory.parts.placer
    memory.parts.known.catch_up()
    disk.arm(errno.ENOSPC, 1, lasting=True, short=True)
    with pytest.raises(Unwritten):
        placing.settle()
    disk.heal()
    placing.settle()
    assert ("Likes", "jazz") in values(memory)
    memory.close()


# --- what is asked ----------------------------------------------------------------------


def test_an_id_among_the_words_of_a_proposal_is_no_proposal(memory: Memory) -> None:
    planted = fact(1, said=f"see {fact(2).id} and f_{3:012x}")
    asked = [memory.review.ask(each, "why") for each in (planted, fact(2), fact(3))]
    assert [each.added for each in asked] == [(planted.id,), (fact(2).id,), (fact(3).id,)]
    assert all(each.edit for each in asked)
    assert len(memory.facts(status="pending")) == 3


def test_what_was_asked_is_told_apart_by_what_became_of_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_page, "MOST", 4)
    yes, no, late = fact(1), fact(2), fact(3)
    assert memory.review.ask(yes, "why").added == (yes.id,)
    assert memory.review.ask(yes, "why") == ReviewResult(waiting=(yes.id or "",))
    memory.review.ask(no, "why")
    assert memory.review.ask(late, "why") == ReviewResult(full=(late.id or "",))
    memory.review.reject(no.id or "")
    assert memory.review.ask(no, "why") == ReviewResult(rejected=(no.id or "",))
    assert memory.review.ask(late, "why").added == (late.id,)
    assert {each.id for each in memory.facts(status="pending")} == {yes.id, late.id}


def test_a_session_that_somebody_steers_leaves_room_for_what_the_user_said(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_page, "MOST", 6)
    tell(memory, "I live in Berlin.")
    memory.review.correct(one(memory, "Home").id or "", "Lyon")
    asked = memory.parts.placer.ask([(fact(number), "why") for number in range(9)])
    assert (len(asked.added), len(asked.full)) == (3, 6)
    assert any("6 proposals were not put into review/pending.md" in note for note in memory.notes)
    document_says(memory, "We use Postgres.")
    assert ("Database", "Postgres") not in values(memory, "pending")
    tell(memory, "I live in Paris.", at=THEN + 9e8)
    assert ("Home", "Paris") in values(memory, "pending")


def test_what_tools_say_asks_nobody_and_takes_no_place_of_others(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_page, "MOST", 2)
    tell(memory, "I live in Berlin.")
    tool_says(memory, "I live in Paris. I like jazz. We use Postgres.", at=THEN + 10)
    assert not memory.pages.read(review_page.PATH).exists
    assert sorted(each.level or "" for each in memory.facts()) == ["said", "tainted", "tainted", "tainted"]
    document_says(memory, "I like tea.")
    assert values(memory, "pending") == [("Likes", "tea")]


def test_what_a_document_says_waits_though_a_tool_said_it_and_stands_once_it_is_ticked(
    memory: Memory,
) -> None:
    document_says(memory, "I like jazz.")
    tool_says(memory, "I like jazz.", at=THEN + 10)
    assert (values(memory), values(memory, "pending")) == ([], [("Likes", "jazz")])
    tick_all(memory)
    assert values(memory) == [("Likes", "jazz")]
    assert one(memory, "Likes").level == "confirmed"
    assert not memory.pages.read("facts/user.md").exists


ORIGINS = ("user", "agent:a", "agent:b", "tool:web")


@settings(max_examples=few(15))
@given(st.lists(st.integers(0, 30), max_size=25), st.lists(st.integers(1, 6)))
def test_everything_that_is_asked_is_put_there_waits_or_finds_no_place(
    given: list[int], cuts: Sequence[int]
) -> None:
    text, known, most = "", dict[str, Fact](), review_page.MOST
    review_page.MOST = 10
    try:
        items = [fact(number, ORIGINS[number % 4]) for number in given]
        for size in (*cuts, len(items) + 1):
            some, items = items[:size], items[size:]
            text, asked = add_waiting(text, [(each, "why") for each in some], known)
            assert sorted((*asked.added, *asked.waiting, *asked.full)) == sorted(
                each.id or "" for each in some
            )
            known |= {each.id or "": each for each in reversed(some) if each.id in asked.added}
            first = {each.id: each for each in reversed(some)}
            others = sum(each.origin != "user" for each in known.values())
            assert len(known) <= review_page.MOST
            assert others <= review_page.MOST // 2
            for name in asked.full:
                assert len(known) == review_page.MOST or first[name].origin != "user" or name in known
            assert all(review_page.line_of(text, name) for name in known)
    finally:
        review_page.MOST = most
