"""Forgetting what a person put in the place of something else, and pages that are not what they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from forgetting import Op, holding, live, open_memory
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.facts.known_facts import Facts

CANARY = "Zebrafish"


def is_sound(memory: Memory, folder: Path) -> None:
    assert [*map(str, memory.check())] == []
    assert holding(folder, CANARY) == []


@pytest.mark.parametrize("way", ["correct", "editor", "approve", "undone", "twice"])
def test_what_a_person_put_another_value_for_is_true_again_without_it(tmp_path: Path, way: str) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", ("I live in Lisbon. I am allergic to tea.",)), Op("distill")])
        page = memory.pages.read("USER.md").text
        [home] = [fact.id or "" for fact in memory.facts() if fact.relation == "Home"]
        if way == "approve":
            memory.distill(f"I live in {CANARY}.", topic="garden")[0]
            memory.review.approve(memory.facts(status="pending")[0].id or "")
        elif way == "editor":
            (tmp_path / "m/USER.md").write_text(page.replace("Lisbon", CANARY))
            memory.pages.absorb()
        else:
            new = memory.review.correct(home, CANARY)
            if way == "undone":
                memory.history.undo(author="person")
            if way == "twice":
                memory.review.correct(new.id or "", "Berlin")
        memory.forget(origin="document") if way == "approve" else memory.forget(match=CANARY)
        values = {fact.object: fact.status for fact in memory.history.fact(home)}
        if way == "twice":
            assert values == {"Lisbon": "superseded", "Berlin": "current"}
        else:
            assert values == {"Lisbon": "current"}
            assert (
                memory.pages.read("USER.md").text.partition("- Updated")[0] == page.partition("- Updated")[0]
            )
        is_sound(memory, tmp_path / "m")


def test_the_summary_names_what_a_person_put_for_what_went(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (f"I live in {CANARY}. I am allergic to tea.",)), Op("distill")])
        memory.review.correct(
            next(fact.id or "" for fact in memory.facts() if fact.relation == "Home"), "Berlin"
        )
        page = memory.pages.read("USER.md").text
        memory.forget(match=CANARY)
        assert memory.pages.read("USER.md").text == page
        assert "Summary: user home, allergy" in page
        is_sound(memory, tmp_path / "m")


@pytest.mark.parametrize("way", ["remember", "correct"])
def test_what_was_undone_stays_undone_when_what_came_back_goes(tmp_path: Path, way: str) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.remember(f"I live in {CANARY}. I am allergic to tea.")
        home = next(fact.id or "" for fact in memory.facts() if fact.relation == "Home")
        memory.remember("I live in Rome.") if way == "remember" else memory.review.correct(home, "Rome")
        memory.history.undo(author="person")
        memory.forget(fact=home)
        assert [f"{fact.relation}: {fact.object}" for fact in memory.facts()] == ["Allergy: tea"]
        assert "Rome" not in memory.pages.read("USER.md").text
        is_sound(memory, tmp_path / "m")


def test_an_undo_does_not_make_what_it_brought_back_a_persons_own(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (f"I live in {CANARY}.",)), Op("distill")])
        memory.remember("I live in Rome.")
        memory.history.undo(author="person")
        memory.forget(session="a")
        assert memory.facts() == []
        assert not (tmp_path / "m/USER.md").exists()
        is_sound(memory, tmp_path / "m")


def test_what_was_remembered_and_undone_is_not_there_without_who_said_it_first(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(
            memory,
            [Op("talk", "a", (f"I am allergic to {CANARY} tea. I am allergic to garlic.",)), Op("distill")],
        )
        memory.remember(
            f"I am allergic to {CANARY} tea."
        )  # it stands there already: only the day is told of it
        memory.history.undo(author="person")
        memory.forget(session="a")
        assert memory.facts() == []
        assert CANARY not in "".join(memory.pages.read(path).text for path in memory.pages.list())
        assert [*map(str, memory.check())] == []


def test_an_undo_brings_back_what_stood_there_without_what_went(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", ("I live in Berlin.",)), Op("distill")])
        live(memory, [Op("talk", "b", (f"I moved to {CANARY}.",)), Op("distill")])
        memory.remember("I live in Lisbon.")
        memory.history.undo(author="person")
        memory.forget(session="b")
        assert [fact.object for fact in memory.facts()] == ["Berlin"]
        is_sound(memory, tmp_path / "m")


def test_of_values_that_an_edit_made_fewer_none_comes_back(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.pages.edit("facts/tea.md", "- Sort: green\n- Sort: black\n", reason="mine", author="person")
        memory.pages.edit("facts/tea.md", f"- Sort: {CANARY}\n", reason="mine", author="person")
        memory.forget(match=CANARY)
        assert memory.pages.read("facts/tea.md").text == ""


def test_a_page_that_was_made_for_what_went_goes_with_its_head(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.distill(f"I am allergic to {CANARY} tea.", topic="garden")[0]
        memory.review.approve(memory.facts(status="pending")[0].id or "")
        assert "Summary" in memory.pages.read("USER.md").text
        memory.forget(origin="document")
        assert not (tmp_path / "m/USER.md").exists()
        is_sound(memory, tmp_path / "m")


NOTED = "We usually deploy Kafka on fridays"


@pytest.mark.parametrize("by", ["match", "session"])
def test_a_doubt_goes_with_who_raised_it_and_the_line_stays(tmp_path: Path, by: str) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (f"{NOTED}.",)), Op("distill")])
        live(memory, [Op("talk", "b", (f"Actually we deploy the {CANARY} on mondays.",)), Op("distill")])
        assert f"- {NOTED} (may have changed on " in memory.pages.read("facts/project.md").text
        memory.forget(match=CANARY) if by == "match" else memory.forget(session="b")
        assert [fact.object for fact in memory.facts()] == [NOTED]
        assert memory.facts(status="superseded") == []
        is_sound(memory, tmp_path / "m")


def test_a_line_that_was_struck_while_it_was_in_doubt_does_not_come_back_without_the_doubt(
    tmp_path: Path,
) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (f"{NOTED}.",)), Op("distill")])
        live(memory, [Op("talk", "b", (f"Actually we deploy the {CANARY} on mondays.",)), Op("distill")])

        def struck(text: str) -> str:
            return "".join(line for line in text.splitlines(keepends=True) if NOTED not in line)

        memory.pages.edit("facts/project.md", struck, reason="not so", author="person")
        memory.forget(session="b")
        assert memory.facts() == []
        is_sound(memory, tmp_path / "m")


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_where_a_page_is_no_file_nothing_is_begun(tmp_path: Path, kind: str) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(
            memory,
            [Op("talk", "a", (f"I am allergic to {CANARY} tea. I am allergic to garlic.",)), Op("distill")],
        )
        page = tmp_path / "m/USER.md"
        page.rename(tmp_path / "away.md")
        page.symlink_to(tmp_path / "away.md") if kind == "link" else page.mkdir()
        with pytest.raises(Refused, match=r"USER\.md is"):
            memory.forget(match=CANARY)
        assert not (tmp_path / "m/log/forgetting.json").exists()
        assert any(CANARY in fact.object for fact in memory.facts())
        page.unlink() if kind == "link" else page.rmdir()
        (tmp_path / "away.md").rename(page)
        memory.forget(match=CANARY)
        is_sound(memory, tmp_path / "m")


def test_history_is_read_on_and_not_anew_while_it_is_lived_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    anew = Facts._begin_anew

    def counted(facts: Facts) -> None:
        begun.append("anew")
        anew(facts)

    monkeypatch.setattr(Facts, "_begin_anew", counted)
    with open_memory(tmp_path / "m") as memory:
        for number in range(4):
            live(memory, [Op("talk", f"s{number}", (f"I am allergic to tea {number}.",)), Op("distill")])
        begun.clear()
        assert memory.forget(session="s0", dry_run=True).counts["facts"] == 1
        assert begun == []
