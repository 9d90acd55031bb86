"""The tool that asks to forget: it says what is true of its proposal, and reads no more than what its words name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from looseleaf.memory import Memory
from looseleaf.place import placer as review_page
from looseleaf.tools.tool import WAITS
from looseleaf.tools.toolset import call
from tables import check_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from looseleaf.tools.tool import ToolAnswer

PAGES = {
    "facts/tea.md": "# Tea\n\n- Likes: green tea\n- Kettle: blue\n",
    "facts/guests.md": "# Guests\n\n- Likes: green tea\n- 好き: 緑茶\n",
    "facts/bike.md": "# Bike\n\n- Colour: red\n",
}


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory") as memory:
        for path, text in PAGES.items():
            memory.pages.edit(path, text, reason="a page", author="person")
        yield memory


def forget(memory: Memory, what: str) -> ToolAnswer:
    return call(memory, "memory_forget", {"what": what})


def pending(memory: Memory) -> list[str]:
    return [fact.object for fact in memory.facts(status="pending")]


def refused(memory: Memory, what: str) -> str:
    before = memory.pages.read(review_page.PATH).data
    answer = forget(memory, what)
    assert answer.is_error
    assert answer.data["success"] is False
    assert "waits" not in answer.data
    assert memory.pages.read(review_page.PATH).data == before
    return answer.text


@pytest.mark.parametrize(
    "what", ["Colour: red", "red", "colour RED", "facts/bike.md:3", "id", "id, shortened"]
)
def test_a_fact_is_named_by_its_words_its_place_or_its_id(memory: Memory, what: str) -> None:
    [name] = [fact.id or "" for fact in memory.facts(topic="bike")]
    answer = forget(memory, {"id": name, "id, shortened": name[:10]}.get(what, what))
    expected: dict[str, Any] = {"success": True, "fact": name, "waits": True, "note": WAITS}
    assert answer.data == expected | {"receipt": next(memory.history.edits(review_page.PATH)).id}
    assert pending(memory) == ["Colour: red"]
    text = memory.pages.read(review_page.PATH).text
    memory.pages.edit(review_page.PATH, text.replace("[ ]", "[x]"), reason="yes", author="person")
    assert memory.facts(topic="bike") == []


def test_what_no_fact_says_is_not_proposed(memory: Memory) -> None:
    def check(what: str) -> None:
        assert f"no fact says “{what}”" in refused(memory, what)

    check_rows(check, ["the moon", "f_0123", "facts/bike.md:1", "facts/none.md:1", "blue tea", "the"])


def test_words_of_another_script_name_a_fact(memory: Memory) -> None:
    assert not forget(memory, "緑茶").is_error
    assert pending(memory) == ["好き: 緑茶"]


def test_facts_that_say_the_same_on_two_pages_are_both_named(memory: Memory) -> None:
    for what in ("Likes: green tea", "green tea", "tea"):
        said = refused(memory, what)
        assert "facts/tea.md:3" in said
        assert "facts/guests.md:3" in said


def test_a_value_that_is_past_is_not_proposed(memory: Memory) -> None:
    memory.review.correct("facts/bike.md:3", "green")
    past = next(fact for fact in memory.facts(status="superseded") if fact.object == "red")
    assert "no fact says" in refused(memory, "Colour: red")
    assert "no fact says" in refused(memory, past.id or "")


def test_what_waits_already_is_said_to_wait_and_is_asked_once(memory: Memory) -> None:
    forget(memory, "Kettle: blue")
    before = memory.pages.read(review_page.PATH).data
    again = forget(memory, "Kettle: blue")
    assert "was proposed before" in again.text
    assert (again.data["waits"], again.data["receipt"]) == (True, "")
    assert memory.pages.read(review_page.PATH).data == before


@pytest.mark.parametrize("way", ["rejected", "deleted"])
def test_what_the_user_has_said_no_to_is_not_asked_again(memory: Memory, way: str) -> None:
    forget(memory, "Kettle: blue")
    if way == "rejected":
        memory.review.reject(memory.facts(status="pending")[0].id or "")
    else:
        name = memory.facts(status="pending")[0].id or ""
        memory.pages.edit(
            review_page.PATH,
            review_page.without(memory.pages.read(review_page.PATH).text, [name]),
            reason="no",
            author="person",
        )
    assert "said no" in refused(memory, "Kettle: blue")
    assert pending(memory) == []
    assert not forget(memory, "Colour: red").is_error


def test_where_review_is_full_nothing_is_said_to_wait(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_page, "MOST", 2)
    forget(memory, "Kettle: blue")
    said = refused(memory, "Colour: red")
    assert "1 proposal waits in review/pending.md already" in said
    assert "Ask the user" in said
    memory.review.reject(memory.facts(status="pending")[0].id or "")
    assert not forget(memory, "Colour: red").is_error


def test_only_topics_in_which_the_words_stand_are_read(memory: Memory) -> None:
    memory.views.build_index()
    memory.close()
    with Memory(memory.path) as other:
        forget(other, "Kettle: blue")
        assert {"bike", "guests"}.isdisjoint(other.parts.known._placed)
        forget(other, "facts/bike.md:3")
        assert "guests" not in other.parts.known._placed
