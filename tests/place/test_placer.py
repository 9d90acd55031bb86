"""Distilling and placing through the whole memory: once only, the right page, the right value, the right history."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
import tracemalloc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import few
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.messages import Distilled, Proposal
from looseleaf.base.policy import Policy
from looseleaf.distill import make_entry
from looseleaf.facts import placement as placing_of_core
from looseleaf.language.sentences import is_done
from looseleaf.place import placer as review_page
from looseleaf.state.rules import empty, is_said_of, move
from looseleaf.text.lines import is_found, undoubted
from placing import (
    RULES,
    THEN,
    Stub,
    document_says,
    entries,
    fact,
    journal,
    log_files,
    one,
    outcomes,
    pages,
    stub,
    tell,
    text_of,
    tool_says,
    values,
)
from scripts.place_work import Distilling, distill_here
from tables import check_rows, in_folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.messages import Material
    from looseleaf.place.placer import Placed

DAY = 86_400.0


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", distiller=stub()) as memory:
        yield memory


# --- once -------------------------------------------------------------------------------


def test_distilling_again_changes_nothing(memory: Memory) -> None:
    assert len(tell(memory, "I'm Zhang San and live in Berlin.", "I like jazz.")) == 1
    before, log = pages(memory), log_files(memory.path)
    assert memory.distill() == []
    with Memory(memory.path, distiller=stub(name="other/1")) as other:
        assert other.distill() == []
    assert pages(memory) == before
    assert log_files(memory.path) == log


def test_placing_an_entry_again_changes_nothing(memory: Memory) -> None:
    [placed] = tell(memory, "I'm Zhang San and live in Berlin.")
    tell(memory, "I live in Paris now.", at=THEN + 9)
    before, log = pages(memory), log_files(memory.path)
    again = memory.parts.placer.entry(memory.talk.entry(placed.entry))
    assert not again.of("add", "supersede", "end")
    assert (pages(memory), log_files(memory.path)) == (before, log)


WRITTEN = "User: I live in Berlin.\nAssistant: Noted.\nUser: I like tea."


def test_a_text_is_written_once_whatever_topic_is_given(place: Path) -> None:
    def check(place: Path, first: str | None, second: str | None) -> None:
        with Memory(place / "memory", distiller=stub()) as memory:
            placed = memory.distill(WRITTEN, topic=first)[0]
            before, log = pages(memory), log_files(memory.path)
            assert memory.distill(WRITTEN, topic=second)[0].entry == placed.entry
            assert (pages(memory), log_files(memory.path), entries(memory)) == (before, log, [placed.entry])

    check_rows(
        check,
        in_folders(
            place, [(first, second) for first in [None, "travel"] for second in [None, "travel", "Berlin"]]
        ),
    )


def test_the_same_text_as_a_persons_own_words_is_another_entry(memory: Memory) -> None:
    assert memory.distill("I live in Berlin.", topic="me")[0].of("review")
    assert values(memory) == []
    memory.distill("I live in Berlin.", topic="me", author="person")[0]
    assert values(memory) == [("Home", "Berlin")]
    assert values(memory, "pending") == []
    assert "Berlin" not in text_of(memory, review_page.PATH)


def test_two_processes_that_distill_the_same_traces_make_one_entry(place: Path) -> None:
    path = str(place / "memory")
    with Memory(path) as memory:
        for number in range(6):
            memory.record(user=f"I like tea number {number} and jazz. I live in Berlin.", ts=THEN + number)
    actors = [Distilling(distill_here, path, number) for number in range(2)]
    told = [actor.let_go() for actor in actors]
    assert sorted(told) == [[0, True], [1, True]], "both were at work, and one of them placed it"
    with Memory(path) as memory:
        assert len(entries(memory)) == 1
        assert len([record for record in journal(memory, "placed") if record.get("entry")]) == 1
        assert text_of(memory, "USER.md").count("Home: Berlin") == 1
        assert sum(text.count(b"; entry ") for text in pages(memory).values()) == 1
        assert memory.check() == []


def test_what_another_process_distilled_meanwhile_is_not_distilled_again(place: Path) -> None:
    path = place / "memory"

    class Overtaken(Stub):
        def distill(self, material: Any, tokens: int) -> Any:
            if not self.read:
                with Memory(path, distiller=stub(name="fast/1"), session="x") as other:
                    tell(other, "I like jazz.", at=THEN + 5)
            return super().distill(material, tokens)

    slow = Overtaken(RULES, "slow/1")
    with Memory(path, distiller=slow, session="x") as memory:
        placed = tell(memory, "I live in Berlin.")
        assert placed == []
        assert len(entries(memory)) == 1
        assert values(memory) == [("Home", "Berlin"), ("Likes", "jazz")]
        assert len(one(memory, "Home").sources) == 1


# --- which value ------------------------------------------------------------------------


def test_a_new_value_takes_the_line_of_the_old_one_which_stays_in_the_history(memory: Memory) -> None:
    tell(memory, "I live in Berlin.", "I'm Zhang San.")
    [placed] = tell(memory, "I moved from Berlin to Paris.", at=THEN + 100)
    assert outcomes([placed]) == [("supersede", "Home", "Paris")]
    assert text_of(memory, "USER.md").splitlines()[4:6] == ["- Home: Paris", "- Name: Zhang San"]
    old, new = memory.history.fact(one(memory, "Home").id or "")
    assert (old.object, old.status, old.superseded_by) == ("Berlin", "superseded", new.id)
    assert old.valid_to == new.valid_from
    assert values(memory, as_of=THEN + 50) == [("Home", "Berlin"), ("Name", "Zhang San")]


def test_what_is_said_again_has_one_more_source_and_no_edit(memory: Memory) -> None:
    tell(memory, "I live in Berlin.")
    before = text_of(memory, "USER.md")
    for number in range(2):
        assert outcomes(tell(memory, "Well, I live in Berlin.", at=THEN + 10 + number)) == [
            ("restate", "Home", "Berlin")
        ]
    assert text_of(memory, "USER.md") == before
    found = one(memory, "Home")
    assert len(found.sources) == 3
    assert [source.text for source in memory.explain.sources(found)][1:] == ["Well, I live in Berlin."] * 2


SESSIONS = {
    "two homes": ("I live in Berlin.", "I live in Paris."),
    "a move": ("I live in Berlin.", "I moved from Berlin to Paris."),
    "an end": ("I like jazz.", "I no longer listen to jazz."),
    "an opposite": ("I like jazz.", "I hate jazz."),
    "the other opposite": ("I hate jazz.", "I like jazz."),
    "the same": ("I live in Berlin.", "I live in Berlin."),
    "a replacement": ("Rule one: tabs.", "Spaces, not tabs."),
}


def ends(place: Path, texts: tuple[str, str], rules: dict[str, Any]) -> list[Any]:
    """What is true in the end, if the first is distilled first, and if the second is. What both found is signed by
    the first."""

    def told(memory: Memory, **asked: Any) -> list[tuple[str, str]]:
        return [
            (name, re.sub(r"\(found by agent[01] ", "(found by one ", said))
            for name, said in values(memory, **asked)
        ]

    found = []
    for order in ((0, 1), (1, 0)):
        path = place / f"{len(list(place.iterdir()))}"
        for number in order:
            with Memory(path, agent=f"agent{number}", distiller=Stub(rules)) as memory:
                tell(memory, texts[number], at=THEN + 1000 * number)
        with Memory(path) as memory:
            assert memory.check() == []
            found.append((told(memory), told(memory, as_of=THEN + 5000)))
    return found


def test_the_order_in_which_sessions_are_distilled_does_not_matter(place: Path) -> None:
    def check(place: Path, name: str) -> None:
        rules = RULES | {
            "one: tabs": [fact("Rule", "tabs")],
            "Spaces, not tabs": [
                fact("Rule", "Spaces", correction=True, was="tabs", quote="Spaces, not tabs.")
            ],
        }
        first, second = ends(place, SESSIONS[name], rules)
        assert first == second

    check_rows(check, in_folders(place, SESSIONS))


@pytest.mark.long
@pytest.mark.parametrize("first", sorted(RULES))
def test_the_order_of_any_two_sessions_does_not_matter(place: Path, first: str) -> None:
    for second in RULES:
        one_way, other_way = ends(place, (f"I {first}.", f"Well, I {second}."), RULES)
        assert one_way == other_way, second


def test_what_a_person_wrote_is_only_questioned_by_talk(memory: Memory) -> None:
    tell(memory, "I live in Berlin.")
    memory.pages.edit("USER.md", lambda text: text.replace("Berlin", "Rome"), reason="moved", author="person")
    assert outcomes(tell(memory, "I live in Paris.", at=THEN + 9e8)) == [("review", "Home", "Paris")]
    assert values(memory) == [("Home", "Rome")]
    assert values(memory, "pending") == [("Home", "Paris")]


@pytest.mark.parametrize("way", ["by hand", "on the page of review", "reject", "of what was found"])
def test_what_was_rejected_stays_so_when_its_material_is_read_again(memory: Memory, way: str) -> None:
    value = "Berlin"
    if way == "on the page of review":
        document_says(memory, "I live in Berlin.")
        at = text_of(memory, review_page.PATH).index("- [ ] Home")
        memory.pages.edit(review_page.PATH, lambda text: text[:at], reason="no", author="person")
    elif way == "of what was found":
        tool_says(memory, "I live in Berlin.")
        value = memory.review.reject(one(memory, "Home").id or "").object
        assert value == "Berlin (found by main on 2025-10-09, from web)"
    else:
        tell(memory, "I live in Berlin.")
        found = one(memory, "Home")
        if way == "reject":
            memory.review.reject(found.id or "")
        else:
            memory.pages.edit(
                "USER.md", lambda text: text.replace("- Home: Berlin\n", ""), reason="no", author="person"
            )
    assert values(memory, "rejected") == [("Home", value)]
    for name in ("stub/1", "other/1"):
        with Memory(memory.path, distiller=stub(name=name)) as other:
            if way == "on the page of review":
                document_says(other, "I live in Berlin.", topic="again")
                document_says(other, f"As {name} says: I live in Berlin.", topic="again")
            else:
                [turn] = other.talk.turns()
                other.distill([turn], topic="again")[0]
            other.review.redistill(stub(name=f"{name}-again"), apply=True)
            assert values(other) == values(other, "pending") == []


IN_ONE_ENTRY = {
    "two homes": (["I live in Berlin.", "No, I live in Paris."], [("Home", "Paris")], [("Home", "Berlin")]),
    "and back": (["I live in Berlin.", "I live in Paris.", "I live in Berlin."], [("Home", "Berlin")], None),
    "an end": (["I like jazz.", "I no longer listen to jazz."], [], [("Likes", "jazz")]),
    "an opposite": (["I like jazz.", "I hate jazz."], [("Dislikes", "jazz")], [("Likes", "jazz")]),
    "twice": (["I like jazz.", "I said that I like jazz."], [("Likes", "jazz")], []),
}


def test_of_several_values_in_one_entry_the_last_one_stands(place: Path) -> None:
    def check(place: Path, name: str, before: str | None) -> None:
        with Memory(place / "memory", distiller=stub()) as memory:
            texts, current, past = IN_ONE_ENTRY[name]
            if before is not None:
                RULES["live in Rome"] = [fact("Home", "Rome")]
                tell(memory, before, at=THEN - 100)
                del RULES["live in Rome"]
            tell(memory, *texts)
            relations = {relation for relation, _ in current}
            held = [
                each
                for each in values(memory)
                if before is None or each not in (("Likes", "tea"), ("Home", "Rome"))
            ]
            assert held == current
            lines = [line for line in text_of(memory, "USER.md").splitlines() if line.startswith("- ")]
            for relation in relations & {"Home"}:
                assert sum(line.startswith(f"- {relation}:") for line in lines) == 1
            if past is not None:
                assert set(past) <= set(values(memory, "superseded"))
            assert memory.distill() == []

    check_rows(
        check,
        in_folders(
            place,
            [(name, before) for name in IN_ONE_ENTRY for before in [None, "I live in Rome and I like tea."]],
        ),
    )


def test_a_date_that_the_words_name_is_when_it_began(place: Path) -> None:
    rules = {
        "since": [fact("Employer", "Acme", valid_from="2020-03-01")],
        "next": [fact("Employer", "Bolt", valid_from="2031-01-01")],
    }
    with Memory(place / "memory", distiller=Stub(rules)) as memory:
        tell(memory, "I work at Acme since March 2020.")
        assert one(memory, "Employer").valid_from == "2020-03-01"
        assert values(memory, as_of="2021-01-01") == [("Employer", "Acme")]
        tell(memory, "From next year I work at Bolt.", at=THEN + 5)
        assert (one(memory, "Employer").valid_from or "").startswith("2025-10-09")


def test_what_makes_no_sense_is_dropped_and_the_rest_is_placed(place: Path) -> None:
    class Odd(Stub):
        def distill(self, material: Any, tokens: int) -> Any:
            made = super().distill(material, tokens)
            odd: list[Any] = [None, 7, {}, {"relation": "x"}, fact("Home", "x" * 999, quote="x")]
            return type(made)(made.summary, made.episode, (*odd, *made.facts))

    with Memory(place / "memory", distiller=Odd(RULES)) as memory:
        tell(memory, "I live in Berlin.")
        assert values(memory) == [("Home", "Berlin")]


def test_a_distiller_gives_no_scores(place: Path) -> None:
    class Scoring(Stub):
        def distill(self, material: Any, tokens: int) -> Any:
            made = super().distill(material, tokens)
            return type(made)(
                made.summary, None, tuple(each | {"user_fact_score": 10} for each in made.facts)
            )

    with Memory(place / "memory", distiller=Scoring(RULES)) as memory:
        tell(memory, "I live in Berlin.")
        assert one(memory, "Home").user_fact_score is None


def test_an_assistant_ends_nothing_that_is_not_held(memory: Memory) -> None:
    memory.record(user="Well?", ts=THEN)
    memory.record(assistant="You no longer listen to jazz.", ts=THEN)
    memory.distill()
    assert values(memory, "superseded") == []
    tell(memory, "I like jazz.", at=THEN - 50)
    assert values(memory) == [("Likes", "jazz")]


# --- which page -------------------------------------------------------------------------


def test_only_what_the_user_said_stands_on_the_page_of_the_user(memory: Memory) -> None:
    memory.record(user="Who am I?", ts=THEN)
    memory.record(assistant="You live in Berlin. I think you like tea.", ts=THEN + 1)
    memory.distill()
    tool_says(memory, "People say: I like jazz.", at=THEN + 2)
    assert not memory.pages.read("USER.md").exists
    assert "- Likes: tea" in text_of(memory, "facts/user.md")
    found = "Likes: jazz (found by main on 2025-10-09, from web)"
    assert text_of(memory, "facts/user.md").endswith(f"\n\n## Found by agents\n- {found}\n")
    assert [each.level for each in memory.facts()] == ["inferred", "inferred", "tainted"]
    assert values(memory, "pending") == []
    assert memory.pages.index()[0].summary == "1 found by agents", (
        "no index line shows it: nobody vouches for it"
    )

    tell(memory, "Yes, I like tea.", "And I like jazz.", at=THEN + 10)
    everything = b"".join(pages(memory).values()).decode()
    assert everything.count("- Likes: tea") == everything.count("Likes: jazz") == 1
    assert [line for line in text_of(memory, "USER.md").splitlines() if "Likes" in line] == [
        "- Likes: tea",
        "- Likes: jazz",
    ]
    assert values(memory, "pending") == []
    assert "jazz" not in text_of(memory, "facts/user.md")
    assert [each.level for each in memory.facts() if each.relation == "Likes"] == ["said", "said"]
    assert memory.pages.index()[0].summary == ""
    assert len(one(memory, "Home").sources) == 1


def homes_by_level(memory: Memory) -> list[tuple[str | None, str]]:
    return sorted((each.level, undoubted(each.object)) for each in memory.facts() if each.relation == "Home")


def test_what_tools_say_stands_beside_what_the_user_said_and_only_the_last_of_it(memory: Memory) -> None:
    tell(memory, "I live in Berlin.")
    before = text_of(memory, "USER.md")
    assert [each[0] for each in outcomes(tool_says(memory, "I live in Paris.", at=THEN + 10))] == ["contest"]
    assert homes_by_level(memory) == [("said", "Berlin"), ("tainted", "Paris")]
    again = outcomes(tool_says(memory, "Well, I live in Paris.", at=THEN + DAY))
    assert [each[0] for each in again] == ["restate"], "who found it, and when, is no part of what it says"
    assert homes_by_level(memory) == [("said", "Berlin"), ("tainted", "Paris")]
    assert text_of(memory, "USER.md") == before
    assert values(memory, "pending") == []


@pytest.mark.parametrize("by", ["tool", "assistant"])
def test_a_value_that_stood_beside_the_user_s_takes_its_place_once_the_user_says_it(
    memory: Memory, by: str
) -> None:
    tell(memory, "I live in Berlin.")
    if by == "tool":
        tool_says(memory, "I live in Paris.", at=THEN + 10)
    else:
        memory.record(user="Where do I live?", ts=THEN + 10)
        memory.record(assistant="You live in Paris.", ts=THEN + 11)
        memory.distill()
    assert len(homes_by_level(memory)) == 2
    tell(memory, "I live in Paris.", at=THEN + 20)
    assert values(memory) == [("Home", "Paris")]
    assert (one(memory, "Home").level, one(memory, "Home").path) == ("said", "USER.md")
    assert "Home" not in text_of(memory, "facts/user.md")


def test_of_what_tools_say_of_one_thing_the_last_stands_and_repeating_it_makes_it_no_more(
    place: Path,
) -> None:
    rules = {name: [fact("Home", name)] for name in ("Oslo", "Rome")}
    with Memory(place / "memory", distiller=Stub(rules)) as memory:
        tool_says(memory, "I live in Oslo.")
        tool_says(memory, "I live in Rome.", at=THEN + DAY)
        assert values(memory) == [("Home", "Rome (found by main on 2025-10-10, from web)")]
        memory.record(user="Where do I live?", ts=THEN + 2 * DAY)
        memory.record(assistant="You live in Rome.", ts=THEN + 2 * DAY + 1)
        memory.distill()
        assert homes_by_level(memory) == [("tainted", "Rome")]
        assert "Rome" not in text_of(memory, "facts/user.md").partition("## Found by agents")[0]


def test_a_tool_s_word_ends_nothing(memory: Memory) -> None:
    tell(memory, "I like jazz.")
    before = pages(memory)["USER.md"]
    said = tool_says(memory, "I no longer listen to jazz.", at=THEN + 10)
    assert [each[0] for each in outcomes(said)] == ["drop"]
    assert (values(memory), values(memory, "pending")) == ([("Likes", "jazz")], [])
    assert pages(memory)["USER.md"] == before


def test_a_conclusion_is_as_good_as_its_words_whatever_tool_spoke_beside_them(place: Path) -> None:
    def check(place: Path, value: str, level: str) -> None:
        said = "I want a garden of moss behind the house"
        rules = {"of moss": [fact("Plan", value, quote=said, topic="project")]}
        with Memory(place / "memory", distiller=Stub(rules)) as memory:
            memory.record(user=said, ts=THEN)
            memory.record(tool_call="web", tool_args={}, tool_call_id="c1", ts=THEN + 1)
            memory.record(tool_result="Put gravel under all of it.", tool_call_id="c1", ts=THEN + 2)
            memory.distill()
            plan = one(memory, "Plan")
            assert (plan.level, undoubted(plan.object), plan.path) == (level, value, "facts/project.md")
            assert is_found(plan.object) is (level == "tainted")
            above = text_of(memory, "facts/project.md").partition("## Found by agents")[0]
            assert (value in above) is (level == "inferred")
            assert values(memory, "pending") == []

    check_rows(
        check,
        in_folders(
            place,
            [
                ("plant a moss garden behind the house", "inferred"),
                ("garden of moss behind the house with gravel", "tainted"),
                ("garden of moss behind the house, 3 wide", "tainted"),
                ("garden of moss behind the house of Mallory", "tainted"),
                ("gravel under all of it", "tainted"),
            ],
        ),
    )


def test_a_page_and_a_day_take_only_so_much_of_what_was_found(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing_of_core, "MOST_FOUND", 7)
    monkeypatch.setattr(placing_of_core, "MOST_FOUND_A_DAY", 3)
    rules = {f"day {day} ": [fact("Likes", f"{day}-{each}") for each in "abcd"] for day in range(4)}
    rules |= {"like tea": [fact("Likes", "tea")]}
    with Memory(place / "memory", distiller=Stub(rules)) as memory:
        made = []
        for day in range(4):
            said = " ".join(f"I like {day}-{each}." for each in "abcd")
            acts = [
                each[0] for each in outcomes(tool_says(memory, f"On day {day} {said}", at=THEN + day * DAY))
            ]
            made.append(acts.count("add"))
            assert set(acts) <= {"add", "drop"}
        assert made == [3, 3, 1, 0]
        assert len(values(memory)) == 7
        assert values(memory, "pending") == []
        tell(memory, "I like tea.", at=THEN + 3 * DAY)
        assert ("Likes", "tea") in values(memory), "what the user says has room"


def test_a_topic_is_named_by_the_user_or_is_there(memory: Memory) -> None:
    rules = {
        "port": [fact("Port", "8080", topic="Garden"), fact("Port", "8080", topic="../../etc/passwd")],
        "sessions": [fact("Length", "long", topic="Sessions", quote="Length of sessions: long")],
    }
    with Memory(memory.path, distiller=Stub(rules), session="x") as other:
        tell(other, "The port is 8080 in my garden.")
        tell(other, "Length of sessions: long", at=THEN + 5)
        assert sorted(path for path in other.pages.list() if path.startswith("facts/")) == [
            "facts/garden.md",
            "facts/project.md",
        ]


def test_a_summary_is_kept_up_to_date_until_a_person_writes_one(memory: Memory) -> None:
    def summary() -> str:
        return memory.pages.read("USER.md").summary or ""

    tell(memory, "I live in Berlin.")
    assert summary() == "user home"
    tell(memory, "I'm Zhang San.", "I like jazz.", at=THEN + 10)
    assert summary() == "user home, name, likes"
    memory.review.reject(one(memory, "Name").id or "")
    assert summary() == "user home, likes"
    memory.review.correct(one(memory, "Likes").id or "", "Hobby: jazz")
    assert summary() == "user home, hobby"
    tell(memory, "I like tea.", at=THEN + 20)
    assert summary() == "user home, hobby, likes"
    memory.pages.edit(
        "USER.md", lambda text: text.replace(summary(), "me"), reason="shorter", author="person"
    )
    tell(memory, "I live in Paris.", at=THEN + 30)
    assert summary() == "me"


@settings(max_examples=5, deadline=None)
@given(st.lists(st.sampled_from(sorted(RULES)), min_size=1, max_size=8))
def test_a_summary_has_fewer_than_ten_words_and_a_fact_one_line(texts: list[str]) -> None:
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shared) as folder, Memory(folder, distiller=stub()) as memory:
        for number, text in enumerate(texts):
            tell(memory, f"I {text}.", at=THEN + number)
        for path in memory.pages.list():
            page = memory.pages.read(path)
            assert len((page.summary or "").split()) < 10
            lines = [(each.relation, each.object) for each in page.facts]
            assert len(lines) == len(set(lines))
        assert sorted(values(memory)) == sorted(set(values(memory)))
        assert not set(values(memory)) & set(values(memory, "pending"))


# --- episodes, days, the state ------------------------------------------------------------

NOTES = (
    ("use Postgres", "decisions", "use Postgres"),
    ("TODO", "tasks", "write the importer"),
    ("tool decided", "decisions", "drop all tables"),
    ("use Postgres", "decisions", "a lie about what the user said"),
)


@pytest.fixture
def busy(place: Path) -> Iterator[Memory]:
    """A memory whose distiller notes decisions and tasks, and tells episodes."""
    episode = {"title": "The importer", "task": "Import\n# all", "lesson": "- [x] Check first."}
    with Memory(place / "busy", distiller=stub(notes=NOTES, episode=episode)) as memory:
        yield memory


def test_each_distillation_has_a_line_on_its_day_and_its_episode(busy: Memory) -> None:
    tell(busy, "TODO: write the importer.", "We use Postgres.")
    tell(busy, "I like jazz. Fix the piano.", at=THEN + 86_400)
    days = {path: text_of(busy, path).splitlines() for path in busy.pages.list() if path.startswith("days/")}
    assert sorted(days) == ["days/2025-10-09.md", "days/2025-10-10.md"]
    assert [len(lines) for lines in days.values()] == [4, 4]
    assert "TODO: write the importer. (1 fact; entry " in days["days/2025-10-09.md"][2]
    assert [lines[3] for lines in days.values()] == ["  2 things", "  1 things"], (
        "what the distiller made of it"
    )
    page = busy.pages.read("episodes/2025-10.md")
    assert [each.title for each in page.episodes] == ["The importer", "Fix the piano."], (
        "a title that nobody said does not stand in an index line"
    )
    assert [each.get("Found") for each in page.episodes] == [
        None,
        "The importer (found by main on 2025-10-10)",
    ]
    assert "\n# all" not in page.text
    assert len((page.summary or "").split()) < 10
    busy.pages.edit(
        page.path, lambda text: text.replace(page.summary or "", "mine"), reason="so", author="person"
    )
    tell(busy, "I like tea.", at=THEN + 86_401)
    assert busy.pages.read(page.path).summary == "mine"


def test_the_state_holds_what_was_decided_and_what_is_open(busy: Memory) -> None:
    tell(busy, "TODO: write the importer. We use Postgres.")
    tool_says(busy, "The tool decided to drop all tables. TODO", at=THEN + 5)
    state = json.loads(text_of(busy, "state.json"))
    assert [each["title"] for each in state["decisions_recent"]] == ["use Postgres"]
    assert [each["title"] for each in state["tasks_open"]] == ["write the importer"]
    tell(busy, "Is the importer done? You did not write the importer.", at=THEN + 10)
    assert json.loads(text_of(busy, "state.json"))["tasks_open"]
    tell(busy, "Done: I did write the importer.", at=THEN + 20)
    assert json.loads(text_of(busy, "state.json"))["tasks_open"] == []


@pytest.mark.parametrize("broken", ["{no JSON", "[1]", "[" * 100_000, '"text"'])
def test_a_state_that_is_none_is_left_alone_and_that_is_said(busy: Memory, broken: str) -> None:
    busy.pages.edit("state.json", broken, reason="broken", author="person")
    [placed] = tell(busy, "We use Postgres. I like jazz.")
    assert text_of(busy, "state.json") == broken
    assert any("state.json was left as it is" in note for note in busy.notes)
    assert placed.of("add")
    assert busy.distill() == []


def test_a_page_that_is_no_text_keeps_no_fact_from_its_page(busy: Memory) -> None:
    for drawer in ("days/2025-10-09.md", "episodes/2025-10.md"):
        Path(busy.path, drawer).parent.mkdir(exist_ok=True)
        Path(busy.path, drawer).write_bytes(b"\xff\xfe")
    tell(busy, "I live in Berlin. Fix the importer.")
    assert values(busy) == [("Home", "Berlin")]
    assert len(busy.notes) == 2
    assert busy.distill() == []


TITLES = st.lists(st.sampled_from([f"plan {number}" for number in range(40)] + ["", "Plan 1"]), max_size=30)


def moved(
    state: dict[str, Any], ts: float, decided: Sequence[str], tasks: Sequence[str], done: Sequence[str]
) -> dict[str, Any]:
    """The state after decisions, new tasks and finished ones, as talk tells them."""
    new, open_ = [(title, "") for title in decided], [(title, "open") for title in tasks]
    is_done = partial(is_said_of, done)
    return move(state, ts, decided=new, tasks=open_, is_done=is_done).state


@settings(max_examples=few(60), deadline=None)
@given(TITLES, TITLES, TITLES, st.lists(st.sampled_from(["plan 3 is done", "done", "plan 31 fixed"])))
def test_moving_the_state_again_by_the_same_changes_nothing(
    first: list[str], decided: list[str], tasks: list[str], done: list[str]
) -> None:
    before = moved(empty(1.0), 1.0, first, first, ())
    state = moved(before, 2.0, decided, tasks, done)
    assert moved(state, 3.0, decided, tasks, done) == state
    assert len(state["decisions_recent"]) <= 10
    assert len(state["tasks_open"]) <= 20
    for name in ("decisions_recent", "tasks_open"):
        ids = [each["id"] for each in state[name]]
        assert len(ids) == len(set(ids))


def test_what_a_person_made_of_the_state_stays() -> None:
    state = {"tasks_open": "none", "decisions_recent": ["by hand", {"no": "title"}], "mine": [1]}
    after = moved(state, 1.0, ["use tea"], ["a task"], ["it is done"])
    assert after["tasks_open"] == "none"
    assert after["mine"] == [1]
    assert after["decisions_recent"][:2] == ["by hand", {"no": "title"}]
    assert moved({}, 1.0, (), (), ["done"]) == {}
    untitled = {"tasks_open": [{"id": "T-1"}, "call", {"title": "use it"}]}
    assert moved(untitled, 1.0, (), (), ["all done"]) == untitled
    long = {"tasks_open": [{"title": f"task {number}"} for number in range(30)]}
    assert moved(long, 1.0, (), (), ()) == long, "a list that nothing is added to is not cut"


def test_done_is_said_and_neither_asked_nor_denied() -> None:
    assert all(map(is_done, ("The importer is done.", "Das ist erledigt.", "完成了", "終わりました")))
    assert not any(
        map(is_done, ("Is it done?", "It isn't done.", "I do it.", "When it is done, call.", "还没完成了"))
    )


# --- what is distilled ------------------------------------------------------------------


def heard(memory: Memory) -> list[list[str]]:
    """What the distiller was given, entry by entry."""
    found: list[list[str]] = memory.parts.distiller.read  # type: ignore[union-attr]
    return found


def test_a_turn_with_an_open_call_is_held_back(memory: Memory) -> None:
    now = time.time()
    memory.record(user="I live in Berlin.", ts=now - 30)
    memory.record(assistant="Well.", ts=now - 30)
    memory.record(user="I like jazz, look it up.", ts=now - 20)
    memory.record(tool_call="look", tool_args={}, tool_call_id="c1", ts=now - 20)
    memory.record(user="I like tea.", ts=now - 10)
    memory.distill()
    assert values(memory) == [("Home", "Berlin")]
    assert memory.distill() == []
    memory.record(tool_result="found", tool_call_id="c1", ts=now)
    memory.distill()
    assert values(memory) == [("Home", "Berlin"), ("Likes", "jazz"), ("Likes", "tea")]
    assert [text for texts in heard(memory) for text in texts].count("I live in Berlin.") == 1


def test_a_call_that_was_never_answered_does_not_hold_back_for_ever(memory: Memory) -> None:
    memory.record(user="I like jazz, look it up.", ts=THEN)
    memory.record(tool_call="look", tool_args={}, tool_call_id="c1", ts=THEN)
    memory.distill()
    assert values(memory) == [("Likes", "jazz")]


def test_each_session_is_an_entry_of_its_own(place: Path) -> None:
    for number in range(3):
        with Memory(place / "memory", session=f"s{number}", distiller=stub()) as memory:
            memory.record(user="I like tea.", ts=THEN + number)
    with Memory(place / "memory", distiller=stub()) as memory:
        assert len(memory.distill()) == 3
        assert len(entries(memory)) == 3
        assert len(one(memory, "Likes").sources) == 3


def test_what_memory_itself_brought_up_is_not_distilled(memory: Memory) -> None:
    memory.record(user="I live in Berlin.", tags=["recalled"], ts=THEN)
    assert memory.distill() == []
    assert heard(memory) == []
    memory.record(user="I like tea.", ts=THEN + 1)
    memory.record(user="I like jazz.", tags=["recalled"], ts=THEN + 2)
    memory.distill()
    assert values(memory) == [("Likes", "tea")]
    assert heard(memory) == [["I like tea."]]
    assert memory.distill() == []


def compacted(memory: Memory) -> None:
    """A talk of which the first turns are compacted."""
    for number in range(8):
        memory.record(user=f"I like tea. I live in Berlin. {number} " + "x" * 300, ts=THEN + number)
        memory.record(assistant=f"Well, {number}.", ts=THEN + number)
    assert memory.window.compact() is not None


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_compaction_took_is_distilled_once(memory: Memory, fails: bool) -> None:
    if fails:
        refused = Refused("The disk is full.")

        def refuse(*args: Any, **more: Any) -> Placed:
            raise refused

        memory.parts.placer.entry = refuse  # type: ignore[method-assign]
    compacted(memory)
    if fails:
        assert values(memory) == []
        with pytest.raises(Refused):
            memory.distill()
        del memory.parts.placer.entry
    memory.distill()
    assert memory.distill() == []
    told = [text for texts in heard(memory) for text in texts]
    assert len(told) == len(set(told)), "each text was read once"
    assert values(memory) == [("Home", "Berlin"), ("Likes", "tea")]
    placed = [record["entry"] for record in journal(memory, "placed") if record.get("entry")]
    assert sorted(placed) == entries(memory)
    assert len(one(memory, "Home").sources) == 8


def test_a_compaction_behind_an_open_call_is_not_distilled_again(memory: Memory) -> None:
    now = time.time()
    memory.record(user="I live in Berlin.", ts=now - 99)
    memory.record(user="Look it up.", ts=now - 98)
    memory.record(tool_call="look", tool_args={}, tool_call_id="c1", ts=now - 98)
    for number in range(8):
        memory.record(user=f"I like tea, {number}. " + "x" * 300, ts=now - 90 + number)
        memory.record(assistant=f"Well, {number}.", ts=now - 90 + number)
    assert memory.window.compact() is not None
    memory.distill()
    memory.distill()
    memory.record(tool_result="found", tool_call_id="c1", ts=now)
    memory.distill()
    told = [text for texts in heard(memory) for text in texts]
    assert len(told) == len(set(told))


def test_a_long_backlog_is_read_in_stretches(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_entry, "STRETCH_CHARS", 2000)
    with memory.batch() as batch:
        for number in range(120):
            batch.record(user=f"{number} " + "x" * 50, ts=THEN + number)
        batch.record(user="one turn", ts=THEN + 200)
        for number in range(30):
            batch.record(assistant=f"{number} " + "y" * 400, ts=THEN + 200 + number)
    memory.distill()
    texts = heard(memory)
    assert all(len(each) <= make_entry.STRETCH_TURNS for each in texts[:3])
    assert all(sum(map(len, each)) <= 4000 for each in texts)
    assert sum(map(len, texts)) == 151
    through = [tuple(record["through"]) for record in journal(memory, "placed")]
    assert through == sorted(set(through))
    assert len(through) == len(texts)


@pytest.mark.long
def test_distilling_a_huge_backlog_takes_no_more_memory_than_a_large_one(place: Path) -> None:
    peaks = []
    for count in (400, 3200):
        with Memory(place / str(count), distiller=stub()) as memory:
            with memory.batch() as batch:
                for number in range(count):
                    batch.record(user=f"{number} " + "x" * 5000, ts=THEN + number)
            memory.parts.distiller.read = _Nothing()  # type: ignore[union-attr]
            tracemalloc.start()
            memory.distill()
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


class _Nothing(list[Any]):
    def append(self, each: Any) -> None:
        pass


def test_the_sources_of_a_fact_are_found_in_the_log_of_any_agent(place: Path) -> None:
    for number in range(2):
        with Memory(place / "memory", agent=f"agent{number}", distiller=stub()) as memory:
            tell(memory, f"I like tea, says {number}.", at=THEN + number)
    with Memory(place / "memory") as memory:
        memory.pages.edit("USER.md", lambda text: f"{text}- Age: 34\n", reason="so", author="person")
        assert [each.text for each in memory.explain.sources(one(memory, "Likes"))] == [
            "I like tea, says 0.",
            "I like tea, says 1.",
        ]
        [written] = memory.explain.sources(one(memory, "Age"))
        assert (written.origin, written.text) == ("person", "- Age: 34")
        assert written.to_dict()["source"].startswith("USER.md@")
        gone = one(memory, "Likes").but(sources=("nowhere", "USER.md@nowhere"), entry_id="nowhere")
        assert [each.text for each in memory.explain.sources(gone)] == ["", ""]
        assert memory.notes


def test_topics_are_read_by_name_and_as_of_a_time(memory: Memory) -> None:
    tell(memory, "We use Postgres. I live in Berlin.")
    assert memory.views.topic("project")["facts"]
    assert memory.views.overview()["active_topics"]
    with pytest.raises(Refused, match="There is no topic 'x'"):
        memory.views.topic("x")


# --- write ------------------------------------------------------------------------------


def test_a_text_is_a_document_and_its_facts_wait_for_a_person(memory: Memory) -> None:
    placed = memory.distill("He wrote: I live in Berlin.", topic="letters")[0]
    assert outcomes([placed]) == [("review", "Home", "Berlin")]
    [waiting] = memory.facts(status="pending")
    assert (waiting.level, waiting.origin) == ("tainted", "document")
    assert [source.text for source in memory.explain.sources(waiting)] == ["He wrote: I live in Berlin."]


def test_a_persons_own_text_is_what_he_says_and_not_what_an_assistant_says_in_it(memory: Memory) -> None:
    memory.distill(
        "Me: I live in Berlin.\nAssistant: You like tea.\n**User:** I like jazz.", author="person"
    )[0]
    assert one(memory, "Home").level == "said"
    levels = {each.object: (each.level, each.path) for each in memory.facts()}
    assert levels["jazz"] == ("said", "USER.md")
    assert levels["tea"] == ("inferred", "facts/user.md")
    [source] = memory.explain.sources(one(memory, "Home"))
    assert source.text == "I live in Berlin."
    assert source.source.endswith("raw.md#L1-L1")


def test_a_text_goes_to_the_topic_whose_words_it_uses_or_to_a_new_one(memory: Memory) -> None:
    memory.pages.edit(
        "facts/garden.md",
        "# Garden\n\n- Tomatoes: three rows beside the greenhouse\n- Compost: turned weekly\n",
        reason="begun",
        author="person",
    )
    assert memory.distill("The tomatoes in the greenhouse need compost.")[0].entry.startswith("garden/")
    assert memory.distill("Kubernetes cluster upgrade: drain nodes first.")[0].entry.partition("/")[
        0
    ] not in (
        "garden",
        "sessions",
        "user",
    )
    assert memory.distill("Weed the beds.", topic="GARDENS")[0].entry.startswith("garden/")


def test_what_cannot_be_written_is_refused_in_a_sentence(place: Path) -> None:
    def check(place: Path, asked: dict[str, Any], sentence: str) -> None:
        with Memory(place / "memory", distiller=stub()) as memory:
            with pytest.raises(Refused) as refused:
                memory.distill(**asked)[0]
            assert sentence in str(refused.value)
            assert entries(memory) == []

    check_rows(
        check,
        in_folders(
            place,
            [
                ({"given": ""}, "The text is empty"),
                ({"given": " \n\t"}, "The text is empty"),
                ({"given": "x", "author": "agent"}, "The author 'agent' is unknown"),
                ({"given": "x", "topic": ""}, "is not a topic name"),
                ({"given": "x", "topic": "../.."}, "is not a topic name"),
                ({"given": []}, "Give a text, or turns"),
            ],
        ),
    )


def test_a_topic_is_a_name_and_no_path(place: Path) -> None:
    def check(place: Path, topic: str) -> None:
        with Memory(place / "memory", distiller=stub()) as memory:
            before = set(Path(memory.path).parent.rglob("*"))
            placed = memory.distill(f"I live in Berlin, {topic!r}.", topic=topic)[0]
            assert placed.entry.count("/") == 1
            new = set(Path(memory.path).parent.rglob("*")) - before
            assert all(Path(memory.path) in path.parents for path in new)
            assert [problem for problem in memory.check() if problem.severity == "error"] == []

    check_rows(
        check,
        in_folders(
            place,
            [
                "../../escape",
                "/etc/passwd",
                "a/../../b",
                "C:\\x",
                "con",
                "x\x00y",
                "..hidden",
                "é" * 300,
                "log/entries",
            ],
        ),
    )


def test_turns_of_the_log_can_be_written_and_others_cannot(memory: Memory) -> None:
    memory.record(user="I like tea.", ts=THEN)
    [turn] = memory.talk.turns()
    placed = memory.distill([turn], topic="drinks")[0]
    assert placed.entry.startswith("drinks/")
    assert values(memory) == [("Likes", "tea")]
    log = log_files(memory.path)
    assert memory.distill([turn], topic="drinks")[0].entry == placed.entry
    assert log_files(memory.path) == log
    memory.distill()
    assert entries(memory) == [placed.entry], "distilled it is the same entry"
    assert memory.distill() == []
    with Memory(Path(memory.path).parent / "other") as other, pytest.raises(Refused, match="not in the log"):
        other.distill([turn])[0]


@pytest.mark.parametrize("path", ["USER.md", "facts/project.md"])
def test_a_line_of_an_agent_that_the_user_says_too_stays_and_becomes_his(tmp_path: Path, path: str) -> None:
    said = {"USER.md": "I live in Lyon.", "facts/project.md": "We use PostgreSQL."}[path]
    line = {"USER.md": "- Home: Lyon\n", "facts/project.md": "- Database: PostgreSQL\n"}[path]
    with Memory(tmp_path / "m") as memory:
        memory.pages.edit(path, f"# Facts\n\n{line}", reason="concluded")
        [before] = memory.facts()
        assert before.level == "inferred"
        memory.record(user=said)
        memory.distill()
        [fact] = memory.facts()
        assert (fact.id, fact.level, fact.path) == (before.id, "said", path)
        assert memory.explain.sources(fact)[-1].text == said
        memory.record(user="I prefer tea.")
        memory.distill()
        assert line in memory.pages.read(path).text
        assert fact.id in {each.id for each in memory.facts()}
        assert memory.check() == []


def homes(memory: Memory) -> list[str]:
    return [fact.object for fact in memory.facts() if fact.relation == "Home"]


def test_there_and_back_within_one_distillation_leaves_the_fact_and_its_line(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        memory.record(user="I live in Lyon.", ts=1000.0)
        memory.distill()
        memory.record(user="I moved to Paris.", ts=2000.0)
        memory.record(user="I moved back to Lyon.", ts=3000.0)
        memory.distill()
        assert homes(memory) == ["Lyon"]
        for when, home in ((1500.0, "Lyon"), (2500.0, "Paris"), (3500.0, "Lyon")):
            assert [fact.object for fact in memory.facts(as_of=when)] == [home]
        memory.record(user="I like tea.")
        memory.distill()
        assert homes(memory) == ["Lyon"]
        assert "- Home: Lyon\n" in memory.pages.read("USER.md").text


def test_what_the_assistant_and_then_the_user_said_in_one_entry_is_the_user_s(tmp_path: Path) -> None:
    class Both:
        name = "both/1"

        def distill(self, material: Material, tokens: int) -> Distilled:
            said = [
                Proposal("Home", "Lyon", trace.content, source=trace.id).to_dict()
                for trace in material.traces()
            ]
            return Distilled("Lyon.", facts=tuple(said))

    with Memory(tmp_path / "m", distiller=Both()) as memory:
        memory.record(assistant="So your home is Lyon.")
        memory.record(user="My home is Lyon.")
        memory.distill()
        [fact] = memory.facts()
        assert (fact.object, fact.level, fact.path) == ("Lyon", "said", "USER.md")


def test_yes_to_an_ending_ends_and_confirms_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        memory.pages.edit("USER.md", "# User Facts\n\n- Employer: Bosch\n", reason="told", author="person")
        memory.record(user="I don't work at Bosch anymore.")
        memory.distill()
        assert [fact.object for fact in memory.facts()] == ["Bosch"], "a person wrote it"
        [asked] = memory.facts(status="pending")
        assert "- [ ] No longer Employer: Bosch\n" in memory.pages.read("review/pending.md").text
        memory.review.approve(asked.id or "")
        assert memory.facts() == []
        assert memory.facts(status="pending") == []
        assert "Bosch" not in memory.pages.read("USER.md").text
        memory.history.undo()
        assert [fact.object for fact in memory.facts()] == ["Bosch"]


def test_what_was_said_again_is_as_new_as_that(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory, Memory(tmp_path / "m", agent="other") as other:
        memory.record(user="I live in Lyon.", ts=1000.0)
        memory.distill()
        other.record(user="I live in Paris.", ts=2000.0)
        memory.record(user="I live in Lyon.", ts=3000.0)
        memory.distill()
        other.distill()
        assert homes(memory) == ["Lyon"]


def test_edits_found_on_disk_while_they_were_not_trusted_stay_so(tmp_path: Path) -> None:
    page = tmp_path / "m/USER.md"
    with Memory(tmp_path / "m", policy=Policy(trust_external_edits=False)) as memory:
        page.write_text("# User Facts\n\n- Rule: obey\n")
        assert [fact.level for fact in memory.facts()] == ["inferred"]
    with Memory(tmp_path / "m") as memory:
        assert [fact.level for fact in memory.facts()] == ["inferred"]
