"""Machines that share a memory come to the same pages and facts, whichever hears of what first; nothing is lost, and no
level rises."""

from __future__ import annotations

import shutil
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drawing import few
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.store.records import whole
from machines import FIRST, NAMES, Machines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SAID = (
    "My name is Ana.",
    "My name is Bea.",
    "I live in Lyon.",
    "I live in Rome.",
    "I like tea.",
    "I work at Acme.",
    "My sister is Zoe.",
    "Never use tabs.",
)
ACTS = ("remember", "say", "edit", "delete", "undo", "agent", "pin", "goal", "task")
acts = st.tuples(st.sampled_from(NAMES), st.sampled_from(ACTS), st.integers(0, 7))
carried = st.tuples(st.sampled_from(NAMES), st.just("carry"), st.sampled_from(NAMES))
stories = st.lists(st.one_of(acts, acts, acts, carried), max_size=12)
Story = list[tuple[str, str, int | str]]


@pytest.fixture
def machines(place: Path) -> Iterator[Machines]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", FIRST)
        yield Machines(place)


def act(machines: Machines, name: str, what: str, number: int) -> None:
    page = machines[name] / "USER.md"
    with machines.open(name) as memory:
        try:
            _act(memory, page, what, number)
            memory.facts()
        except Refused:
            pass  # nothing to undo, say


def _act(memory: Memory, page: Path, what: str, number: int) -> None:
    match what:
        case "remember":
            memory.remember(SAID[number])
        case "say":
            memory.record(user=SAID[number])
            memory.record(assistant="I see.")
            memory.record(user="Bye.")
            memory.distill()
        case "edit" | "delete":
            memory.pages.absorb()
            lines = page.read_text().splitlines() if page.exists() else []
            facts = [at for at, line in enumerate(lines) if line.startswith("- ")]
            if what == "edit":
                lines.insert(len(lines) - number % 3, f"- Likes: rain {number}-{len(lines)}")
            elif facts and len(lines) > 1:  # an emptied page is held
                del lines[facts[number % len(facts)]]
            page.write_text("".join(f"{line}\n" for line in lines))
        case "undo":
            memory.history.undo()
        case "agent":
            text = f"- Tool: {'abc'[number % 3]}\n"

            def add(
                old: str | None,
            ) -> str:  # a page that says a line twice has two facts of which either may end
                page = old or "# Work\n\n"
                return page if text in page else page + text

            memory.pages.edit("facts/work.md", add, author="agent:main", reason="x")
        case "pin":
            if facts_now := memory.facts():
                memory.review.pin(facts_now[number % len(facts_now)].id or "")
        case "goal":
            memory.state.update(goal=SAID[number])
        case "task":
            memory.state.add_task(SAID[number])


def play(machines: Machines, story: Story) -> None:
    for name, what, more in story:
        if isinstance(more, str):
            if more != name:
                machines.carry(name, more)
        else:
            act(machines, name, what, more)


def check_story(story: Story) -> None:
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", FIRST)
        try:
            machines = Machines(folder)
            play(machines, story)
            for _ in range(3):  # what one says when it hears of another, all hear of
                machines.carry_all()
                for name in NAMES:
                    with machines.open(name) as memory:
                        memory.facts()
            first = machines.pages(FIRST), machines.facts(FIRST)
            for name in NAMES[1:]:
                assert (machines.pages(name), machines.facts(name)) == first
            for name in NAMES:
                with machines.open(name) as memory:
                    assert [each for each in memory.check() if each.severity == "error"] == []
            levels = {fact[3] for fact in first[1] if fact[1] == "Tool"}
            assert levels <= {"inferred", "tainted"}, "no machine has proof of more"
        finally:
            shutil.rmtree(folder)


any_story = settings(max_examples=few(2000), deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.timeout(0)
@any_story
@given(stories)
def test_after_any_story_all_machines_have_the_same_pages_and_facts(story: Story) -> None:
    check_story(story)


def test_machines_that_know_all_write_nothing_more(machines: Machines) -> None:
    for number, name in enumerate(NAMES):
        act(machines, name, "remember", number)
    for _ in range(4):
        machines.carry_all()
        for name in NAMES:
            with machines.open(name) as memory:
                memory.facts()
    before = {name: sorted(_journals(machines, name)) for name in NAMES}
    machines.carry_all()
    for name in NAMES:
        with machines.open(name) as memory:
            memory.facts()
    assert {name: sorted(_journals(machines, name)) for name in NAMES} == before


def _journals(machines: Machines, name: str) -> Iterator[bytes]:
    return (file.read_bytes() for file in machines[name].glob("log/**/journal.jsonl"))


def test_a_machine_writes_to_no_log_but_its_own(machines: Machines) -> None:
    act(machines, FIRST, "remember", 0)
    before = machines.log(FIRST, FIRST) / "journal.jsonl"
    machines.carry(FIRST, "lap")
    theirs = before.read_bytes()
    act(machines, "lap", "remember", 2)
    act(machines, "lap", "say", 4)
    assert (machines.log("lap", FIRST) / "journal.jsonl").read_bytes() == theirs
    assert (machines.log("lap", "lap") / "journal.jsonl").exists()


@pytest.mark.parametrize("is_sealed", [False, True])
def test_a_log_whose_name_has_not_arrived_is_that_of_the_machine_that_began_it(
    machines: Machines, is_sealed: bool
) -> None:
    if is_sealed:
        with machines.open(FIRST) as memory:
            memory.parts.files.rotate("journal")
        machines.carry(FIRST, "lap")
        assert (machines["lap"] / "log/journal.jsonl").exists(), (
            "left over, as by a copier that takes nothing away"
        )
    (machines["lap"] / "log/machine").unlink()
    before = (machines["lap"] / "log/journal.jsonl").read_bytes()
    act(machines, "lap", "remember", 2)
    assert (machines["lap"] / "log/journal.jsonl").read_bytes() == before
    assert not (machines["lap"] / "log/machine").exists(), "it is the other's to write"
    machines.carry(FIRST, "lap")
    machines.carry("lap", FIRST)
    for name in (FIRST, "lap"):
        with machines.open(name) as memory:
            assert {"green tea", "Lyon"} <= {fact.object for fact in memory.facts()}
            assert memory.check() == []


def test_an_active_log_that_was_sealed_and_comes_back_is_not_read_twice_nor_written_to(
    machines: Machines,
) -> None:
    journal = machines[FIRST] / "log/journal.jsonl"
    old = journal.read_bytes()
    with machines.open(FIRST) as memory:
        facts = memory.facts()
        memory.parts.files.rotate("journal")
    assert not journal.exists()
    journal.write_bytes(old)
    with machines.open(FIRST) as memory:
        assert memory.facts() == facts
        memory.remember("I live in Lyon.")
    assert not journal.read_bytes().startswith(old)
    (kept,) = (machines[FIRST] / "log/aside").glob("*left-over*")
    assert kept.read_bytes() == old
    with machines.open(FIRST) as memory:
        assert {"green tea", "Lyon"} == {fact.object for fact in memory.facts()}
        assert {each.path for each in memory.check()} == {"log/aside"}


def test_a_machine_whose_name_went_lost_in_its_folder_goes_on_with_its_log(machines: Machines) -> None:
    (machines[FIRST] / "log/machine").unlink()
    act(machines, FIRST, "remember", 2)
    assert whole((machines[FIRST] / "log/machine").read_bytes())["id"] == FIRST
    assert not (machines[FIRST] / "log/on").exists()


def test_an_open_memory_hears_of_a_machine_and_of_each_of_its_words(machines: Machines) -> None:
    with machines.open(FIRST) as memory:
        assert memory.parts.files.machines() == []
        for number, said in ((2, "Lyon"), (5, "Acme"), (0, "Ana")):
            act(machines, "lap", "remember", number)
            time.sleep(0.15)  # what was looked at is left alone for longer than file times are coarse
            machines.carry("lap", FIRST)
            assert said in {fact.object for fact in memory.facts()}
            assert memory.parts.files.machines() == ["lap"]


def test_the_later_word_of_a_person_wins_and_the_other_is_history(machines: Machines) -> None:
    act(machines, FIRST, "remember", 0)
    act(machines, "lap", "remember", 1)
    machines.carry("lap", FIRST)
    with machines.open(FIRST) as memory:
        assert [fact.object for fact in memory.facts() if fact.relation == "Name"] == ["Bea"]
        assert [fact.object for fact in memory.facts(status="superseded") if fact.relation == "Name"] == [
            "Ana"
        ]


def test_values_that_no_person_said_are_both_shown_with_their_machine(machines: Machines) -> None:
    for name, value in ((FIRST, "Acme"), ("lap", "Beta")):
        with machines.open(name) as memory:
            text = f"# Work\n\n- Employer: {value}\n"
            memory.pages.edit("facts/work.md", text, author="agent:main", reason="found")
    machines.carry("lap", FIRST)
    with machines.open(FIRST) as memory:
        said = {fact.object for fact in memory.facts(topic="work")}
    days = {each.rpartition(" ")[2] for each in said}
    assert {each.rpartition(" on ")[0] for each in said} == {"Acme (from desk", "Beta (from lap"}
    assert len(days) == 1


def test_another_copy_is_merged_once_and_left_alone(machines: Machines) -> None:
    act(machines, FIRST, "remember", 2)
    act(machines, "lap", "remember", 5)
    before = {file: file.read_bytes() for file in machines["lap"].rglob("*") if file.is_file()}
    with machines.open(FIRST) as memory:
        merged = memory.merge(machines["lap"])
        assert [fact.object for fact in merged.added] == ["Acme"]
        assert merged.machines == ("lap",)
        assert memory.merge(machines["lap"]).machines == ()
    assert {file: file.read_bytes() for file in machines["lap"].rglob("*") if file.is_file()} == before


def test_a_folder_that_was_copied_and_used_twice_on_one_machine_becomes_one(machines: Machines) -> None:
    shutil.copytree(machines[FIRST], machines.folder / "twin")
    act(machines, FIRST, "say", 2)
    with machines.open(FIRST) as memory:
        memory.record(user="Here.")
    with Memory(machines.folder / "twin") as memory:
        memory.remember("I work at Acme.")
        memory.record(user="There.")
    with machines.open(FIRST) as memory:
        assert len(memory.merge(machines.folder / "twin").machines) == 1
        assert {"Acme", "Lyon", "green tea"} <= {fact.object for fact in memory.facts()}
        assert memory.check() == []
        assert memory.merge(machines.folder / "twin").machines == ()


def test_a_memory_is_not_merged_with_itself_nor_with_what_is_no_memory(
    machines: Machines, tmp_path: Path
) -> None:
    with machines.open(FIRST) as memory:
        with pytest.raises(Refused, match="this memory itself"):
            memory.merge(machines[FIRST])
        with pytest.raises(Refused, match="it has no log"):
            memory.merge(tmp_path)


# --- what random histories found ---------------------------------------------------------


def test_a_line_that_a_person_takes_back_is_gone_though_another_machine_had_that_version(
    machines: Machines,
) -> None:
    page = machines["lap"] / "USER.md"
    with machines.open("lap") as memory:
        memory.facts()
        before = page.read_bytes()
        page.write_bytes(before + b"- Likes: rain\n")
        memory.facts()
        page.write_bytes(before)
        memory.facts()
    act(machines, FIRST, "remember", 2)
    machines.carry("lap", FIRST)
    with machines.open(FIRST) as memory:
        assert "rain" not in {fact.object for fact in memory.facts()}


def test_a_line_that_a_person_takes_back_is_gone_though_another_machine_took_the_page_before_it(
    machines: Machines,
) -> None:
    act(machines, FIRST, "remember", 6)
    machines.carry(FIRST, "lap")
    act(machines, "lap", "remember", 7)
    page = machines[FIRST] / "USER.md"
    before = page.read_bytes()
    act(machines, FIRST, "remember", 5)
    page.write_bytes(before)
    with machines.open(FIRST) as memory:
        memory.facts()
    machines.carry("lap", FIRST)
    with machines.open(FIRST) as memory:
        said = [fact.object for fact in memory.facts()]
    assert "Acme" not in said
    assert len(said) == len(set(said))


def test_a_fact_that_waits_for_review_is_known_on_the_other_machine(machines: Machines) -> None:
    with machines.open("lap") as memory:
        memory.facts()
    act(machines, FIRST, "say", 4)  # much like what it likes already
    with machines.open(FIRST) as memory:
        waiting = [fact.id for fact in memory.review.pending()]
    assert waiting
    machines.carry(FIRST, "lap")
    with machines.open("lap") as memory:
        assert [fact.id for fact in memory.review.pending()] == waiting


def test_what_a_third_machine_said_is_kept_if_its_log_comes_last(machines: Machines) -> None:
    act(machines, "phone", "remember", 2)
    machines.carry("phone", FIRST)
    act(machines, FIRST, "remember", 0)
    act(machines, "lap", "remember", 5)
    machines.carry(FIRST, "lap")  # it tells of the phone, whose log is not there
    with machines.open("lap") as memory:
        memory.facts()
    machines.carry("phone", "lap")
    with machines.open("lap") as memory:
        assert {"Lyon", "Ana", "Acme"} <= {fact.object for fact in memory.facts()}


def test_a_value_that_is_marked_as_contested_is_the_same_fact_on_its_own_machine(machines: Machines) -> None:
    ids = {}
    for name, value in ((FIRST, "Acme"), ("lap", "Beta")):
        with machines.open(name) as memory:
            text = f"# Work\n\n- Employer: {value}\n"
            memory.pages.edit("facts/work.md", text, author="agent:main", reason="found")
            ids[value] = next(fact.id for fact in memory.facts(topic="work"))
    machines.carry("lap", FIRST)
    with machines.open(FIRST) as memory:
        assert {fact.object.partition(" ")[0]: fact.id for fact in memory.facts(topic="work")} == ids


def test_a_value_whose_rival_is_taken_away_stands_again_as_the_fact_it_was(machines: Machines) -> None:
    act(machines, "lap", "remember", 3)
    act(machines, FIRST, "remember", 2)
    with machines.open("lap") as memory:
        rome = next(fact for fact in memory.facts() if fact.object == "Rome")
    machines.carry(FIRST, "lap")
    with machines.open("lap") as memory:
        assert "Rome" not in {fact.object for fact in memory.facts()}
    with machines.open(FIRST) as memory:
        memory.review.reject(next(fact.id or "" for fact in memory.facts() if fact.object == "Lyon"))
    machines.carry(FIRST, "lap")
    with machines.open("lap") as memory:
        back = next(fact for fact in memory.facts() if fact.object == "Rome")
    assert (back.id, back.level) == (rome.id, rome.level)


def test_a_models_line_that_came_as_a_file_by_way_of_two_machines_is_a_models_once_the_logs_come(
    machines: Machines,
) -> None:
    act(machines, "phone", "agent", 0)
    for source, target in (("phone", FIRST), (FIRST, "lap")):
        (machines[target] / "facts").mkdir(exist_ok=True)
        shutil.copy(machines[source] / "facts/work.md", machines[target] / "facts/work.md")
        with machines.open(target) as memory:
            memory.facts()
    for _ in range(2):
        machines.carry_all()
        for name in NAMES:
            with machines.open(name) as memory:
                assert {fact.level for fact in memory.facts(topic="work")} == {"inferred"}


def test_lines_that_another_program_merged_into_a_file_are_not_a_persons(machines: Machines) -> None:
    """As git does with the merge driver: the file has both machines' lines, in an order of its own."""
    for name, number in ((FIRST, 0), ("lap", 1)):
        act(machines, name, "agent", number)
    machines.carry("lap", FIRST)
    page = machines[FIRST] / "facts/work.md"
    page.write_text("# Work\n\n- Tool: a\n- Tool: c\n- Tool: b\n")
    with machines.open(FIRST) as memory:
        facts = {fact.object: fact.level for fact in memory.facts(topic="work")}
    assert facts == {"a": "inferred", "b": "inferred", "c": "confirmed"}
    assert page.read_text().count("- Tool: b\n") == 1


def test_a_conflict_copy_of_the_state_that_a_log_explains_is_removed(machines: Machines) -> None:
    act(machines, FIRST, "task", 0)
    act(machines, "lap", "task", 1)
    copy = machines[FIRST] / "state.sync-conflict-20260301-100001-ABCDEF7.json"
    unknown = copy.with_name("state.sync-conflict-20260301-100002-ABCDEF7.json")
    shutil.copy(machines["lap"] / "state.json", copy)
    unknown.write_text('{"goal":"mine"}\n')
    machines.carry("lap", FIRST)
    with machines.open(FIRST) as memory:
        memory.facts()
        assert {task["title"] for task in memory.state.tasks_open} >= {SAID[0], SAID[1]}
    assert not copy.exists()
    assert unknown.exists()


@pytest.mark.parametrize(
    ("settle", "left"),
    [
        (lambda memory, fact: memory.review.approve(fact), "Beta"),
        (lambda memory, fact: memory.review.correct(fact, "Beta"), "Beta"),
        (lambda memory, fact: memory.review.correct(fact, "Gamma"), "Gamma"),
    ],
)
def test_a_persons_word_on_one_of_two_values_settles_which_it_is(
    tmp_path: Path, settle: Callable[[Memory, str], object], left: str
) -> None:
    machines = Machines(tmp_path)
    for name, employer in ((FIRST, "Acme"), ("lap", "Beta")):
        with machines.open(name) as memory:
            told = f"# Work\n\n- Employer: {employer}\n"
            memory.pages.edit("facts/work.md", partial(_told, told), author="agent:main", reason="told")
    let_all_hear(machines)
    with machines.open("phone") as memory:
        both = {fact.object.partition(" ")[0]: fact for fact in memory.facts() if fact.relation == "Employer"}
        assert set(both) == {"Acme", "Beta"}
        settle(memory, both["Beta"].id or "")
    let_all_hear(machines)
    for name in NAMES:
        with machines.open(name) as memory:
            found = [(fact.object, fact.level) for fact in memory.facts() if fact.relation == "Employer"]
        assert found == [(left, "confirmed")], name


def _told(text: str, page: str | None) -> str:
    return text


def let_all_hear(machines: Machines) -> None:
    for _ in range(3):
        machines.carry_all()
        for name in NAMES:
            with machines.open(name) as memory:
                memory.facts()


def test_a_copy_of_what_a_copier_wrote_over_stays_until_its_machine_has_said_so(machines: Machines) -> None:
    """The other machine hears of the version first, and must not remove the only sign that it was written over."""
    for name in NAMES[:2]:
        with machines.open(name) as memory:
            memory.facts()
    page, there = machines[FIRST] / "USER.md", machines["lap"] / "USER.md"
    before = page.read_bytes()
    page.write_bytes(before + b"- Likes: sun\n")
    with machines.open(FIRST) as memory:
        memory.facts()
    beside = "USER.sync-conflict-20260301-100001-ABCDEF7.md"
    for name in NAMES[:2]:
        shutil.copy(page, machines[name] / beside)
    page.write_bytes(before + b"- Likes: rain\n")
    there.write_bytes(before + b"- Likes: rain\n")
    machines.carry(FIRST, "lap")
    with machines.open("lap") as memory:
        memory.facts()
    assert (machines["lap"] / beside).exists()
    with machines.open(FIRST) as memory:
        memory.facts()
    machines.carry("lap", FIRST)
    machines.carry(FIRST, "lap")
    for name in NAMES[:2]:
        with machines.open(name) as memory:
            assert {"sun", "rain"} <= {fact.object for fact in memory.facts()}
        assert not (machines[name] / beside).exists()
