"""Another distiller reads the same sources: the difference is shown, and nothing is switched before it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf import Memory
from placing import (
    THEN,
    Stub,
    entries,
    fact,
    journal,
    log_files,
    one,
    pages,
    stub,
    tell,
    text_of,
    tool_says,
    values,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

OTHER: dict[str, list[dict[str, Any]]] = {
    "live in Berlin": [fact("Home", "Berlin"), fact("Owns", "a boat")],
    "Zhang San": [fact("Name", "Zhang")],
    "like tea": [fact("Likes", "tea")],
}
"""Sees a boat more, less of a name, and neither jazz nor any database."""


def other(name: str = "other/1") -> Stub:
    return Stub(OTHER, name)


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", distiller=stub()) as memory:
        tell(memory, "I live in Berlin on a boat.", "I'm Zhang San.")
        tell(memory, "I like jazz.", "I like tea.", at=THEN + 10)
        tell(memory, "We use Postgres.", at=THEN + 20)
        yield memory


def changes(
    memory: Memory, distiller: Stub, *, apply: bool = False
) -> list[tuple[str, str, str, str | None]]:
    found = memory.review.redistill(distiller, apply=apply).changes
    return [(each.what, each.relation, each.object, each.was) for each in found]


DIFFERENCE = [
    ("gained", "Owns", "a boat", None),
    ("changed", "Name", "Zhang", "Zhang San"),
    ("lost", "Likes", "jazz", None),
    ("lost", "Database", "Postgres", None),
]


def test_the_difference_is_shown_and_nothing_is_changed(memory: Memory) -> None:
    before, log = pages(memory), log_files(memory.path)
    assert sorted(changes(memory, other())) == sorted(DIFFERENCE)
    assert (pages(memory), log_files(memory.path)) == (before, log)


def test_what_was_read_is_not_read_again(memory: Memory) -> None:
    distiller = other()
    first, second = memory.review.redistill(distiller), memory.review.redistill(distiller)
    assert (first.read, second.read) == (3, 0)
    assert first.changes == second.changes
    assert len(distiller.read) == 3
    tell(memory, "I live in Paris.", at=THEN + 99)
    assert memory.review.redistill(distiller).read == 1
    assert memory.review.redistill(distiller, apply=True).read == 0
    assert memory.review.redistill(other("third/1")).read == 4
    for view in Path(memory.path, "views/redistill").iterdir():
        view.write_bytes(view.read_bytes()[:-9])
    assert memory.review.redistill(stub(name="fourth/1")).read == 4


def test_progress_is_told_entry_by_entry(memory: Memory) -> None:
    told: list[tuple[int, int]] = []
    memory.review.redistill(other(), progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_applying_switches_and_the_old_entries_stay(memory: Memory) -> None:
    old = entries(memory)
    assert sorted(changes(memory, other(), apply=True)) == sorted(DIFFERENCE)
    assert values(memory) == [("Home", "Berlin"), ("Likes", "tea"), ("Name", "Zhang"), ("Owns", "a boat")]
    assert set(old) < set(entries(memory))
    assert len(entries(memory)) == 2 * len(old)
    placed = [record for record in journal(memory, "placed") if record.get("instead")]
    assert sorted(record["instead"] for record in placed) == old
    assert "jazz" not in text_of(memory, "USER.md")
    names = memory.history.fact(one(memory, "Name").id or "")
    assert {(each.object, each.status) for each in names} == {
        ("Zhang San", "superseded"),
        ("Zhang", "current"),
    }
    assert ("Likes", "jazz") not in values(memory, as_of=THEN + 15), (
        "no source says any more that it ever held"
    )
    assert memory.check() == []


def test_applying_again_changes_nothing(memory: Memory) -> None:
    memory.review.redistill(other(), apply=True)
    before, log = pages(memory), log_files(memory.path)
    again = memory.review.redistill(other(), apply=True)
    assert (again.entries, again.read, again.changes) == (0, 0, ())
    memory.distill()
    memory.views.build(full=True)
    assert (pages(memory), log_files(memory.path)) == (before, log), (
        "also what is replaced is not placed again"
    )


def test_a_text_that_was_redistilled_is_not_placed_again_when_it_is_written_again(memory: Memory) -> None:
    memory.distill("I like jazz most.", author="person", topic="music")[0]
    memory.review.redistill(other(), apply=True)
    before, log = pages(memory), log_files(memory.path)
    memory.distill("I like jazz most.", author="person", topic="music")[0]
    memory.views.build(full=True)
    assert (pages(memory), log_files(memory.path)) == (before, log)
    assert ("Likes", "jazz") not in values(memory)


def test_back_and_forth_ends_where_it_began(memory: Memory) -> None:
    before = values(memory)
    memory.review.redistill(other(), apply=True)
    memory.review.redistill(stub(name="stub/2"), apply=True)
    assert values(memory) == before
    assert memory.check() == []


def test_what_a_person_wrote_or_confirmed_stays(memory: Memory) -> None:
    jazz = next(each for each in memory.facts() if each.object == "jazz")
    memory.review.approve(jazz.id or "")
    memory.review.correct(one(memory, "Name").id or "", "Li Si")
    memory.pages.edit("facts/project.md", lambda text: f"{text}- Port: 8080\n", reason="so", author="person")
    memory.review.redistill(other(), apply=True)
    assert [each for each in values(memory) if each[0] in ("Likes", "Name", "Port")] == [
        ("Likes", "jazz"),
        ("Likes", "tea"),
        ("Name", "Li Si"),
        ("Port", "8080"),
    ]


def test_what_rests_on_other_sources_too_stays(memory: Memory) -> None:
    """The other distiller does not see jazz in the first text; it does in the second."""
    tell(memory, "Yes, I like jazz a lot.", at=THEN + 30)
    assert len(next(each for each in memory.facts() if each.object == "jazz").sources) == 2
    seeing = Stub(OTHER | {"jazz a lot": [fact("Likes", "jazz")]}, "seeing/1")
    memory.review.redistill(seeing, apply=True)
    assert ("Likes", "jazz") in values(memory)


def test_what_rests_on_no_words_goes_with_the_entry_that_brought_it(place: Path) -> None:
    invented = {"live in Berlin": [fact("Home", "Berlin"), fact("Owns", "a boat", quote="my boat")]}
    with Memory(place / "memory", distiller=Stub(invented, "dreaming/1")) as memory:
        tell(memory, "I live in Berlin.")
        assert [each.sources for each in memory.facts() if each.object == "a boat"] == [()]
        memory.review.redistill(Stub({"live in Berlin": [fact("Home", "Berlin")]}, "awake/1"), apply=True)
        assert values(memory) == [("Home", "Berlin")]


def test_what_was_said_twice_and_is_seen_nowhere_goes(memory: Memory) -> None:
    tell(memory, "Yes, I like jazz a lot.", at=THEN + 30)
    memory.review.redistill(other(), apply=True)
    assert ("Likes", "jazz") not in values(memory)


def test_what_rests_on_a_source_that_could_not_be_read_stays(memory: Memory) -> None:
    tell(memory, "Yes, I like jazz a lot.", at=THEN + 30)

    class Failing(Stub):
        def distill(self, material: Any, tokens: int) -> Any:
            if any("a lot" in trace.content for trace in material.traces()):
                raise ValueError("too much")
            return super().distill(material, tokens)

    made = memory.review.redistill(Failing(OTHER, "failing/1"), apply=True)
    assert len(made.failures) == 1
    assert made.to_dict()["failures"]
    assert ("Likes", "jazz") in values(memory)
    assert memory.review.redistill(Failing(OTHER, "failing/1")).entries == 1


def test_a_crash_while_switching_is_made_good_by_doing_it_again(memory: Memory) -> None:
    memory.review.redistill(other(), apply=True)
    wanted = values(memory)
    for at in range(1, 8):
        path = Path(memory.path).with_name(f"crash{at}")
        with Memory(path, distiller=stub()) as again:
            tell(again, "I live in Berlin on a boat.", "I'm Zhang San.")
            tell(again, "I like jazz.", "I like tea.", at=THEN + 10)
            tell(again, "We use Postgres.", at=THEN + 20)
            left = [at]

            def counted(real: Any, left: list[int] = left) -> Any:
                def call(*args: Any, **more: Any) -> Any:
                    left[0] -= 1
                    if not left[0]:
                        raise InterruptedError
                    return real(*args, **more)

                return call

            for name in ("append", "put"):
                setattr(again.parts.context.store, name, counted(getattr(again.parts.context.store, name)))
            try:
                again.review.redistill(other(), apply=True)
            except InterruptedError:
                pass
        with Memory(path, distiller=stub()) as again:
            again.review.redistill(other(), apply=True)
            assert values(again) == wanted, at


def test_the_rules_can_redistill_what_a_model_made(memory: Memory) -> None:
    made = memory.review.redistill()
    assert made.distiller.startswith("rules/")
    assert made.entries == 3


def test_what_was_found_stays_where_the_other_distiller_finds_it_too_and_goes_where_not(place: Path) -> None:
    with Memory(place / "memory", distiller=stub()) as memory:
        tool_says(memory, "I like jazz.")
        tool_says(memory, "I like tea.", at=THEN + 10)
        before = text_of(memory, "facts/user.md")
        assert changes(memory, other(), apply=True) == [("lost", "Likes", "jazz", None)]
        assert values(memory) == [("Likes", "tea (found by main on 2025-10-09, from web)")]
        assert "jazz" not in text_of(memory, "facts/user.md")
        assert changes(memory, stub(name="third/1"), apply=True) == [("gained", "Likes", "jazz", None)]
        assert sorted(text_of(memory, "facts/user.md").splitlines()) == sorted(before.splitlines())
        assert (values(memory, "pending"), [*memory.check()]) == ([], [])
