"""The state of a memory on disk: it stays sound and small, loses nothing, and a broken file is left alone."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.test_main import modules_after
from drawing import few
from faults import CountedDisk, DyingDisk
from forking import start_child
from killing import FaultyChanges, ends
from looseleaf import Memory
from looseleaf.base.errors import Refused, Stale
from looseleaf.base.policy import Policy
from looseleaf.models.tokens import load
from looseleaf.pages.pages import Pages
from looseleaf.place import tidy as promote
from looseleaf.place.tidy import Promotion
from looseleaf.state import file as state_file
from looseleaf.state.file import SOUND
from looseleaf.state.rules import compact, for_prompt
from looseleaf.state.state import State
from looseleaf.store import files
from looseleaf.store.disk import Disk
from placing import THEN, Stub, journal, stub, tell, tool_says
from tables import check_rows

SCHEMA = json.loads(state_file.schema_text())
HASTY = Policy(settle_seconds=0.01, quiet_seconds=0.001)
LONG = "about the long and winding way in which things of this kind are mostly decided by people such as us"


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", policy=HASTY) as memory:
        yield memory


def file_of(memory: Memory, path: str = "state.json") -> Path:
    return Path(memory.path, path)


def titles(memory: Memory) -> dict[str, list[str]]:
    """What was decided and taken on, by where it is now."""
    state = memory.state.to_dict()
    pages = [memory.pages.read(path) for path in memory.pages.list() if path.startswith("episodes/")]
    return {
        "decisions": [each["title"] for each in state["decisions_recent"]],
        "tasks": [each["title"] for each in state["tasks_open"]],
        "episodes": [str(each.get("Task")) for page in pages for each in page.episodes],
        "facts": [fact.object.partition(" (")[0] for fact in memory.facts(topic="project")],
    }


def size(memory: Memory) -> int:
    return load()(compact(memory.state.to_dict()))


# --- the schema --------------------------------------------------------------------------


def test_the_schema_is_one_and_holds_for_what_the_program_writes(memory: Memory) -> None:
    jsonschema_rs.meta.validate(SCHEMA)
    memory.state.update(
        goal="Ship", conventions={"tabs": False, "width": 110}, blockers=["x", {"title": "y", "by": 1}]
    )
    memory.state.add_task("write")
    memory.state.decide("use tea", "hot")
    assert jsonschema_rs.Draft202012Validator(SCHEMA).is_valid(json.loads(file_of(memory).read_text()))


def test_a_broken_file_is_named_by_its_line_and_left_alone(memory: Memory) -> None:
    def check(text: str, line: int, why: str) -> None:
        memory.notes.clear()
        memory.state.update(goal="Ship")
        memory.state.add_task("write")
        good = file_of(memory).read_text()
        file_of(memory).write_text(text)
        assert memory.state.shown() == for_prompt(json.loads(good))
        [note] = memory.notes
        assert f"line {line}, column " in note
        assert why in note
        assert "`looseleaf state restore`" in note
        attempts: list[Callable[[], object]] = [
            lambda: memory.state.update(goal="x"),
            lambda: memory.state.add_task("x"),
            lambda: memory.state.done("write"),
            lambda: memory.state.decide("x"),
            lambda: memory.state.block("x"),
            lambda: memory.state.unblock("x"),
            memory.state.to_dict,
            lambda: memory.state.goal,
        ]
        for attempt in attempts:
            with pytest.raises(Refused, match=r"state\.json was left as it is: in line") as refused:
                attempt()
            assert why in str(refused.value)
            assert str(refused.value).count("\n") == 0
        assert file_of(memory).read_text() == text
        problems = [each for each in memory.check() if each.severity == "error"]
        assert [(each.path, each.line) for each in problems] == [("state.json", line)]
        receipt = memory.state.restore(author="person")
        assert receipt.id
        assert file_of(memory).read_text() == good
        assert memory.state.goal == "Ship"
        with pytest.raises(Refused, match="is sound"):
            memory.state.restore()
        assert not [each for each in memory.check() if each.severity == "error"]

    check_rows(
        check,
        [
            ('{\n"goal": 3}', 2, "`goal`"),
            ('{"now": null}', 1, "`now`"),
            ('{"tasks_open": [\n{"title": "a"},\n{"id": "T-1"}]}', 3, "`tasks_open[1]`"),
            ('{"tasks_open": [{\n"title": 1}]}', 2, "`tasks_open[0].title`"),
            ('{"decisions_recent": "none"}', 1, "`decisions_recent`"),
            ('{"conventions": {"a": 1,\n"b c": []}}', 2, '`conventions."b c"`'),
            ('{"blockers": [\n3]}', 2, "`blockers[0]`"),
            ('{"schema_version": "1"}', 1, "`schema_version`"),
            ('{"schema_version": 2}', 1, "version 2"),
            ("{no JSON", 1, "not JSON"),
            ('{"goal": "a", "goal": "b"}', 1, "twice"),
        ],
    )


@pytest.mark.parametrize("data", [b"\xff\xfe", b"[" * 100_000, b'{"a": 1e999}', b'{"a": "\\udc00"}'])
def test_whatever_is_no_text_and_no_json_is_never_taken_for_an_empty_state(
    memory: Memory, data: bytes
) -> None:
    file_of(memory).write_bytes(data)
    assert memory.state.shown() == {}
    assert any("no version of it was sound" in note for note in memory.notes)
    with pytest.raises(Refused, match=r"was left as it is: in line 1.* Fix it with an editor\."):
        memory.state.decide("x")
    with pytest.raises(Refused, match="no earlier version"):
        memory.state.restore()
    assert file_of(memory).read_bytes() == data
    memory.views.build()
    assert not file_of(memory, "views/state.toon").exists()


def test_a_file_that_is_too_large_must_be_moved_away_first(memory: Memory) -> None:
    memory.state.update(goal="Ship")
    file_of(memory).write_bytes(b" " * 10_000_000)
    assert memory.state.shown() == {"goal": "Ship"}
    attempts: list[Callable[[], object]] = [lambda: memory.state.decide("x"), memory.state.restore]
    for attempt in attempts:
        with pytest.raises(
            Refused, match=r"larger than .* Move that file away; then `looseleaf state restore`"
        ):
            attempt()
    file_of(memory).unlink()
    assert memory.state.shown() == {}
    memory.state.restore()
    assert memory.state.goal == "Ship"


def test_of_several_broken_versions_the_last_good_one_is_found(memory: Memory) -> None:
    memory.state.update(goal="first")
    memory.state.update(goal="second")
    for text in ("{", '{"goal": 1}', "", "[]"):
        file_of(memory).write_text(text)
        memory.pages.absorb()
    assert memory.state.shown() == {"goal": "second"}
    memory.state.restore()
    assert memory.state.goal == "second"


def test_an_empty_file_is_written_like_a_missing_one(memory: Memory) -> None:
    assert memory.state.to_dict()["tasks_open"] == []
    assert "updated_at" not in memory.state.to_dict()
    assert not file_of(memory).exists()
    file_of(memory).write_text(" \n")
    assert memory.state.shown() == {}
    memory.state.update(goal="Ship")
    assert json.loads(file_of(memory).read_text())["goal"] == "Ship"


def test_members_that_nobody_knows_stay(memory: Memory) -> None:
    mine = {"mine": {"a": [1, 2.5, None]}, "tasks_open": [{"title": "x", "points": 3}], "goal": "é"}
    file_of(memory).write_text(f"\ufeff{json.dumps(mine)}")
    memory.state.decide("use tea")
    now = json.loads(file_of(memory).read_text())
    assert (now["mine"], now["tasks_open"], now["goal"]) == (mine["mine"], mine["tasks_open"], "é")
    assert "mine" not in memory.state.shown()


def test_without_the_schemas_library_reading_goes_on_and_says_so(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    state_file._load_validator.cache_clear()
    try:
        memory.state.update(goal="Ship")
        file_of(memory).write_text('{"goal": "Ship more"}')
        assert memory.state.goal == "Ship more"
        assert [note for note in memory.notes if "jsonschema-rs is not installed" in note]
    finally:
        monkeypatch.undo()
        state_file._load_validator.cache_clear()


# --- what is not loaded -------------------------------------------------------------------

HEAVY = {"jsonschema_rs", "toons", "splintr", "looseleaf.place.tidy", "dataclasses", "decimal"}
SHOWN = "from looseleaf import Memory\nwith Memory(sys.argv[1]) as memory: memory.state.shown()"


def test_a_state_that_is_known_to_be_sound_is_shown_without_anything_heavy(memory: Memory) -> None:
    memory.state.update(goal="Ship", now="now")
    memory.close()
    assert not HEAVY & modules_after(SHOWN, memory.path)
    view = file_of(memory, SOUND)
    for damage in ("", "{}", '{"sha256": 1}'):
        view.write_text(damage)
        assert "jsonschema_rs" in modules_after(SHOWN, memory.path)
        assert "jsonschema_rs" not in modules_after(SHOWN, memory.path)
    view.unlink()
    assert "jsonschema_rs" in modules_after(SHOWN, memory.path)


def test_a_view_that_cannot_be_written_refuses_nothing(memory: Memory) -> None:
    memory.state.update(goal="Ship")
    shutil.rmtree(file_of(memory, "views"))
    file_of(memory, "views").write_text("in the way")
    memory.state.update(goal="Ship more")
    file_of(memory).write_text('{"goal": "by hand"}')
    assert memory.state.shown() == {"goal": "by hand"}


# --- saying things -------------------------------------------------------------------------


def test_saying_the_same_again_changes_nothing(memory: Memory) -> None:
    state = memory.state
    acts: list[Callable[[], Any]] = [
        lambda: state.update(goal="Ship", now="test", conventions={"a": "b"}, blockers=["x"]),
        lambda: state.add_task("Write"),
        lambda: state.decide("Use tea", "hot"),
        lambda: state.block("no power"),
        lambda: state.add_task("Read", "blocked"),
    ]
    for act in acts:
        first = act()
        assert first.changed
        assert first.id
        data = file_of(memory).read_bytes()
        again = act()
        assert not again.changed
        if act is not acts[0]:
            assert file_of(memory).read_bytes() == data
    assert not state.add_task(" write ").changed
    assert not state.add_task("READ").changed, "the status that it has is kept"
    assert state.add_task("read", "waiting").changed
    assert state.tasks_open[1]["status"] == "waiting"
    assert [each["id"] for each in state.tasks_open] == ["T-1", "T-2"]
    assert state.blockers == ["x", "no power"]
    assert not state.update().changed


def test_what_is_cleared_is_gone(memory: Memory) -> None:
    state = memory.state
    state.update(
        goal="Ship", now="test", conventions={"a": "b", "c": 1}, blockers=["x", {"id": "B-1", "title": "y"}]
    )
    state.update(goal="", conventions={"a": None}, blockers=[])
    assert (state.goal, state.now, state.conventions, state.blockers) == ("", "test", {"c": 1}, [])
    state.update(now="", conventions={"c": ""})
    assert state.shown() == {}
    assert not file_of(memory, "views/state.toon").exists()
    state.block("a")
    state.unblock("1")
    assert state.blockers == []
    assert "State({})" in repr(state)


def test_the_author_is_the_agent_unless_somebody_else_says_it(memory: Memory) -> None:
    memory.state.update(goal="Ship")
    memory.state.update(goal="Ship more", author="person")
    assert [edit.author for edit in memory.history.edits("state.json")] == ["person", "agent:main"]
    edit, _ = memory.history.undo("state.json")
    assert edit.author == "person"
    assert memory.state.goal == "Ship"
    with pytest.raises(Refused, match="the author"):
        memory.state.update(goal="x", author="somebody")


def test_what_goes_in_is_one_clean_line(memory: Memory) -> None:
    secret = "sk-ant-api03-" + "Ab1" * 30
    receipt = memory.state.add_task(f"rotate\n# {secret}\x1b " + "x" * 300)
    [task] = memory.state.tasks_open
    assert secret[:20] not in file_of(memory).read_text()
    assert "[redacted" in task["title"]
    assert len(task["title"]) == 160
    assert "\x1b" not in task["title"]
    assert [each.startswith("The task was cut after 160 characters") for each in receipt.held] == [True]
    assert receipt.held[0] in memory.notes
    memory.state.update(goal=f"a\nb {secret}")
    assert memory.state.goal.startswith("a b [redacted")
    for act in (memory.state.add_task, memory.state.decide, memory.state.block):
        with pytest.raises(Refused, match="is empty"):
            act(" \n")
    with pytest.raises(Refused, match="not a name for a convention"):
        memory.state.update(conventions={" ": "x"})
    with pytest.raises(Refused, match="is a list"):
        memory.state.update(conventions={"a": []})  # type: ignore[dict-item]
    with pytest.raises(Refused, match="is the status of a closed task"):
        memory.state.add_task("x", "done")
    strange: list[tuple[Any, str]] = [
        ({"id": 3}, "this is not a state"),
        ({"by": float("nan")}, "NaN is not a number"),
        ({"by": {1, 2}}, "is not valid JSON"),
        ({"by": 10**400}, "is not a number"),
    ]
    data = file_of(memory).read_bytes()
    for more, why in strange:
        with pytest.raises(Refused, match=why):
            memory.state.update(blockers=[{"title": "x"} | more])
    with pytest.raises(Refused, match="is not a number"):
        memory.state.update(conventions={"a": float("inf")})
    assert file_of(memory).read_bytes() == data


# --- promotion ------------------------------------------------------------------------------


def test_a_task_that_is_done_becomes_an_episode(memory: Memory) -> None:
    memory.state.add_task("Write: the importer")
    memory.state.add_task("###")
    memory.state.done("t-1")
    memory.state.done("###")
    [path] = [path for path in memory.pages.list() if path.startswith("episodes/")]
    first, second = memory.pages.read(path).episodes
    assert (first.title, first.get("Task"), first.get("Id")) == (
        "Write: the importer",
        "Write: the importer",
        "T-1",
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", first.get("Date") or "")
    assert second.title == "A task"
    assert memory.pages.read(path).summary
    assert memory.state.tasks_open == []
    assert [edit.reason for edit in memory.history.edits(path)] == ["settled: moved from state.json"] * 2


def test_a_task_that_a_person_marks_as_done_becomes_an_episode_with_the_next_change(memory: Memory) -> None:
    tasks = [{"title": "a", "status": "cancelled"}, {"title": "b"}]
    file_of(memory).write_text(json.dumps({"tasks_open": tasks}))
    memory.state.update(goal="Ship")
    assert titles(memory)["tasks"] == ["b"]
    [path] = [path for path in memory.pages.list() if path.startswith("episodes/")]
    [episode] = memory.pages.read(path).episodes
    assert (episode.get("Task"), episode.get("Status")) == ("a", "cancelled")


def test_a_task_done_before_midnight_is_no_second_episode_after_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    last_second = 1_769_903_999.0  # 2026-01-31 23:59:59 UTC
    monkeypatch.setattr("looseleaf.base.ids.time.time", lambda: last_second)
    memory.state.add_task("write")
    with pytest.MonkeyPatch.context() as crash:
        crash.setattr(memory.parts.pages, "edit", _die)
        with pytest.raises(InterruptedError):
            memory.state.done("write")
    monkeypatch.setattr("looseleaf.base.ids.time.time", lambda: last_second + 5)
    memory.state.done("write")
    assert titles(memory)["episodes"] == ["write"]
    assert memory.pages.read("episodes/2026-01.md").exists
    assert not memory.pages.read("episodes/2026-02.md").exists


def _die(*given: object, **named: object) -> Any:
    raise InterruptedError


def test_decisions_that_are_settled_become_facts_and_say_whose_they_are(place: Path) -> None:
    small = Policy(state_tokens=200, state_least_tokens=60, settle_seconds=0.01, quiet_seconds=0.001)
    rules = Stub({}, notes=[("use Postgres", "decisions", "use Postgres")])
    with Memory(place / "memory", policy=small, distiller=rules) as memory:
        tell(memory, "We use Postgres from now on.")
        memory.state.decide(f"by an agent {LONG}", "it is so")
        memory.state.decide(f"by a person {LONG}", author="person")
        state = json.loads(file_of(memory).read_text())
        state["decisions_recent"].append({"id": "ADR-7", "title": f"by hand {LONG}", "ts": "2026-01-31"})
        file_of(memory).write_text(json.dumps(state, indent=2))
        for number in range(5):
            memory.state.decide(f"filler {number} {LONG}")
        facts = {fact.object.split(" about")[0]: fact for fact in memory.facts(topic="project")}
        levels = {
            name: facts[name].level for name in ("use Postgres", "by an agent", "by a person", "by hand")
        }
        assert levels == {
            "use Postgres": "said",
            "by an agent": "inferred",
            "by a person": "confirmed",
            "by hand": "confirmed",
        }
        assert {fact.kind for fact in facts.values()} == {"decision"}
        assert {fact.relation for fact in facts.values()} == {"Decision"}
        assert {fact.path for fact in facts.values()} == {"facts/project.md"}
        assert facts["by an agent"].object.endswith("(why: it is so)")
        assert facts["by hand"].object.endswith("(ADR-7)")
        assert facts["by hand"].valid_from == "2026-01-31T00:00:00.000000Z"
        assert size(memory) <= 200
        reasons = {edit.reason for edit in memory.history.edits("facts/project.md")}
        assert reasons == {"settled: moved from state.json"}


def test_open_tasks_for_which_there_is_no_room_become_plans(memory: Memory) -> None:
    for number in range(24):
        memory.state.add_task(f"task {number} {LONG}")
    found = titles(memory)
    assert len(found["tasks"]) < 24
    assert found["tasks"][-1].startswith("task 23")
    assert {fact.relation for fact in memory.facts(topic="project")} == {"Plan"}
    assert len({*found["tasks"], *found["facts"]}) == 24
    assert 250 <= size(memory) <= 750


def test_what_cannot_be_moved_is_refused_and_what_makes_it_smaller_is_not(memory: Memory) -> None:
    with pytest.raises(Refused, match=r"would take \d+ tokens, and every prompt has room for 750"):
        memory.state.update(conventions={f"name {number}": "some words " * 20 for number in range(25)})
    assert not file_of(memory).exists()
    file_of(memory).write_text(
        json.dumps({"goal": "word " * 900, "blockers": ["x"], "tasks_open": [{"title": "t"}, {"title": "u"}]})
    )
    memory.state.unblock("x")
    memory.state.done("t")
    assert titles(memory)["episodes"] == ["t"]
    with pytest.raises(Refused, match="every prompt has room"):
        memory.state.block("another")


def test_a_decision_that_a_fact_says_already_or_that_was_taken_back_is_not_written_again(place: Path) -> None:
    small = Policy(state_tokens=150, state_least_tokens=10)
    rules = stub(
        notes=[("use Postgres", "decisions", "use Postgres"), ("deploy", "decisions", "deploy on Fridays")]
    )
    with Memory(place / "memory", policy=small, distiller=rules) as memory:
        tell(memory, "We use Postgres.")
        tell(memory, "We deploy on Fridays.", at=THEN + 5)
        for number in range(4):
            memory.state.decide(f"filler {number} {LONG}")
        found = [
            (fact.relation, fact.object)
            for fact in memory.facts(topic="project")
            if "filler" not in fact.object
        ]
        assert sorted(found) == [("Database", "Postgres"), ("Decision", "deploy on Fridays")]
        [fact] = [fact for fact in memory.facts(topic="project") if fact.object == "deploy on Fridays"]
        memory.review.reject(fact.id or "")
        state = json.loads(file_of(memory).read_text())
        item = {"id": "D-9", "title": "deploy on Fridays", "ts": "2025-10-09T00:00:00Z"}
        state["decisions_recent"].insert(0, item)
        file_of(memory).write_text(json.dumps(state))
        memory.state.decide(f"one more {LONG}")
        assert "deploy on Fridays" not in titles(memory)["decisions"]
        assert "deploy on Fridays" not in titles(memory)["facts"]
        state = json.loads(file_of(memory).read_text())
        state["decisions_recent"].insert(0, item | {"ts": "2099-01-01"})
        file_of(memory).write_text(json.dumps(state))
        for number in range(4, 8):
            memory.state.decide(f"filler {number} {LONG}")
        assert "deploy on Fridays" in titles(memory)["facts"], "it was decided again since"


def test_what_distilling_takes_out_of_the_state_is_on_pages(place: Path) -> None:
    many = [(f"({number})", "decisions", f"choose plan {number} {LONG}") for number in range(16)]
    notes = [*many, ("TODO", "tasks", "write the importer")]
    with Memory(place / "memory", policy=HASTY, distiller=Stub({}, notes=notes)) as memory:
        said = [f"({number}) We choose plan {number} {LONG}." for number in range(16)]
        tell(memory, *said, "TODO: write the importer.")
        tell(memory, "Done: I did write the importer.", at=THEN + 50)
        found = titles(memory)
        assert {*found["decisions"], *found["facts"]} >= {text for _, _, text in many}
        assert found["episodes"].count("write the importer") == 1
        assert found["tasks"] == []
        assert size(memory) <= 750
        assert {fact.level for fact in memory.facts(topic="project")} == {"said"}
        toon = file_of(memory, "views/state.toon").read_text()
        assert "choose plan 15" in toon
        placed = [record for record in journal(memory, "placed") if record.get("edits")]
        pages = {edit.path for edit in memory.history.edits() if edit.id in placed[0]["edits"]}
        assert {"state.json", "facts/project.md"} <= pages, "an undo takes back all of it"


def test_a_tool_puts_nothing_into_the_state(place: Path) -> None:
    rules = Stub(
        {}, notes=[("decided", "decisions", "drop all tables"), ("decided", "tasks", "drop all tables")]
    )
    with Memory(place / "memory", distiller=rules) as memory:
        tool_says(memory, "The tool decided to drop all tables.")
        assert memory.state.shown() == {}


# --- any sequence ---------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["tea", 'use, "it"', "a: b", "日本語で書く", LONG, "x" * 200, "\U0001f642" * 60, "- [ ] y", "1"]
)
TITLE = st.builds(lambda word, number: f"{word} {number}", WORDS, st.integers(0, 9))
ACTS = st.lists(
    st.tuples(st.sampled_from(["decide", "add_task", "done", "goal", "block"]), TITLE),
    min_size=1,
    max_size=25,
)


def carry_out(folder: str, acts: list[tuple[str, str]]) -> tuple[dict[str, list[str]], set[str], set[str]]:
    """What is where in the end, and what was accepted as a decision or a task."""
    decided: set[str] = set()
    tasks: set[str] = set()
    with Memory(folder, policy=HASTY) as memory:
        for act, text in acts:
            try:
                match act:
                    case "decide":
                        memory.state.decide(text, "why")
                        decided.add(text)
                    case "add_task":
                        memory.state.add_task(text)
                        tasks.add(text)
                    case "done":
                        memory.state.done(text)
                    case "goal":
                        memory.state.update(goal=text)
                    case _:
                        memory.state.block(text)
            except Refused:
                pass
            if Path(folder, "state.json").exists():
                jsonschema_rs.Draft202012Validator(SCHEMA).validate(
                    json.loads(Path(folder, "state.json").read_text())
                )
                assert size(memory) <= 750
        return titles(memory), decided, tasks


@settings(max_examples=6, deadline=None)
@given(ACTS)
def test_any_sequence_keeps_the_state_sound_and_small_and_loses_nothing(acts: list[tuple[str, str]]) -> None:
    def key(text: str) -> str:
        return re.sub(r"\W", "", text[:120]).casefold()

    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shm) as first, tempfile.TemporaryDirectory(dir=shm) as second:
        found, decided, tasks = carry_out(f"{first}/m", acts)
        held = {name: {key(each) for each in texts} for name, texts in found.items()}
        assert {key(each) for each in decided} <= held["decisions"] | held["facts"]
        assert {key(each) for each in tasks} <= held["tasks"] | held["episodes"] | held["facts"]
        assert carry_out(f"{second}/m", acts)[0] == found


@pytest.mark.long
@settings(max_examples=few(200), deadline=None)
@given(ACTS)
def test_very_many_sequences_keep_the_state_sound_and_small_and_lose_nothing(
    acts: list[tuple[str, str]],
) -> None:
    test_any_sequence_keeps_the_state_sound_and_small_and_loses_nothing.hypothesis.inner_test(acts)  # type: ignore[attr-defined]


# --- crashes --------------------------------------------------------------------------------

SMALL = Policy(state_tokens=160, state_least_tokens=40, settle_seconds=0.01, quiet_seconds=0.001)
DECIDED = [f"decision {number} {LONG}" for number in range(4)]


def open_small(folder: Path, disk: Disk | None = None) -> Memory:
    real = vars(files)["this_disk"]
    if disk is not None:
        vars(files)["this_disk"] = lambda: disk
    try:
        return Memory(folder, policy=SMALL)
    finally:
        vars(files)["this_disk"] = real


def prepare(folder: Path) -> None:
    with open_small(folder) as memory:
        memory.state.decide(DECIDED[0])
        memory.state.decide(DECIDED[1])
        memory.state.add_task("write")


def promote_all(memory: Memory) -> None:
    """A task is done and two decisions are pushed out; what was done before is not done again."""
    if "write" in titles(memory)["tasks"]:
        memory.state.done("write")
    for title in DECIDED[2:]:
        if title not in titles(memory)["facts"]:
            memory.state.decide(title)


def lost(memory: Memory) -> list[str]:
    found = titles(memory)
    gone = [each for each in DECIDED[:2] if each not in found["decisions"] + found["facts"]]
    return gone + (["write"] if "write" not in found["tasks"] + found["episodes"] else [])


def doubled(memory: Memory) -> list[str]:
    found = titles(memory)
    everywhere = found["decisions"] + found["facts"] + found["tasks"] + found["episodes"]
    return [each for each in {*everywhere} if everywhere.count(each) > 1]


def promote_until(at: int, folder: Path) -> None:
    """Promote on a disk that ends the process after this call."""
    dying = DyingDisk(-1, "after")
    with open_small(folder, dying) as memory:
        dying._at = dying.count + at
        promote_all(memory)


def sweep(place: Path, sites: int, until: str = "") -> list[str]:
    """End the process around calls of its disk; say what is lost then, or doubled after the rest was done.

    A sweep that is to find something ends where it does.
    """
    wrong: list[str] = []
    prepare(place / "whole")
    shutil.copytree(place / "whole", place / "counted")
    disk = CountingDisk()
    with open_small(place / "counted", disk) as memory:
        disk.count = 0
        promote_all(memory)
    fired = tried = 0
    step = max(1, disk.count // sites)
    for at in range(1, disk.count, step):
        if until and any(until in each for each in wrong):
            break
        tried += 1
        folder = place / f"at {at}"
        shutil.copytree(place / "whole", folder)
        fired += ends(partial(promote_until, at, folder))
        with open_small(folder) as memory:
            wrong += [f"{at}: lost {each}" for each in lost(memory)]
            promote_all(memory)
            wrong += [f"{at}: lost later {each}" for each in lost(memory)]
            wrong += [f"{at}: doubled {each}" for each in doubled(memory)]
            wrong += [f"{at}: {each}" for each in memory.check() if each.severity == "error"]
        shutil.rmtree(folder)
    print(f"sites={tried} of {disk.count}, fired={fired}")
    assert fired > 0.7 * tried
    return wrong


class CountingDisk(CountedDisk):
    def __init__(self) -> None:
        self.count = 0
        super().__init__()

    def called(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        self.count += 1
        return real(*args)


def late(patch: pytest.MonkeyPatch) -> None:
    """A flaw: the state shrinks first."""
    waiting: list[Callable[[], None]] = []
    real_call, real_edit = Promotion.__call__, Pages.edit

    def edit(self: Pages, path: str, *given: Any, **named: Any) -> Any:
        receipt = real_edit(self, path, *given, **named)
        while waiting:
            waiting.pop()()
        return receipt

    patch.setattr(
        Promotion, "__call__", lambda self, change, ts: waiting.append(lambda: real_call(self, change, ts))
    )
    patch.setattr(Pages, "edit", edit)


def forgetful(patch: pytest.MonkeyPatch) -> None:
    """A flaw: what was written is not recognized."""
    patch.setattr(promote, "_has_episode", lambda *given: False)


needs_fork = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")


@needs_fork
def test_a_process_that_ends_between_promotion_and_state_loses_and_doubles_nothing(place: Path) -> None:
    assert sweep(place, 6) == []


@needs_fork
@pytest.mark.long
def test_a_process_that_ends_after_any_call_loses_and_doubles_nothing(place: Path) -> None:
    assert sweep(place, 10_000) == []


@needs_fork
@pytest.mark.parametrize(("flaw", "what"), [(late, "lost"), (forgetful, "doubled")])
def test_promotion_with_a_flaw_fails_the_sweep(
    place: Path, monkeypatch: pytest.MonkeyPatch, flaw: Callable[[pytest.MonkeyPatch], None], what: str
) -> None:
    flaw(monkeypatch)
    wrong = sweep(place, 30, until=what)
    assert any(what in each for each in wrong)


@pytest.mark.parametrize("at", range(1, 40, 5))
def test_what_a_full_disk_refused_is_done_later(place: Path, at: int) -> None:
    prepare(place / "memory")
    disk = FaultyChanges()
    with open_small(place / "memory", disk) as memory:
        disk.arm(errno.ENOSPC, at, lasting=True)
        try:
            promote_all(memory)
        except Refused:
            pass
        disk.heal()
        promote_all(memory)
        assert disk.fired
        assert lost(memory) == doubled(memory) == []


@needs_fork
def test_processes_that_change_it_at_once_lose_nothing_of_each_other(place: Path) -> None:
    def add(number: int) -> None:
        with Memory(place / "memory", policy=HASTY) as memory:
            for each in range(4):
                memory.state.add_task(f"{number} {each}")

    children = [start_child(partial(add, number)) for number in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    with Memory(place / "memory", policy=HASTY) as memory:
        tasks = memory.state.tasks_open
    assert sorted(each["title"] for each in tasks) == [
        f"{number} {each}" for number in range(3) for each in range(4)
    ]
    assert len({each["id"] for each in tasks}) == 12


def test_somebody_who_saves_in_the_same_moment_is_not_overwritten(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.state.add_task("write")
    real = Promotion.__call__
    saves = iter(['{"goal": "by hand", "tasks_open": [{"title": "write"}]}'])

    def racing(self: Promotion, *given: Any) -> None:
        real(self, *given)
        for text in saves:
            file_of(memory).write_text(text)

    monkeypatch.setattr(Promotion, "__call__", racing)
    memory.state.done("write")
    assert (memory.state.goal, memory.state.tasks_open) == ("by hand", [])


def test_one_who_never_stops_saving_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stale(*given: object, **named: object) -> Any:
        raise Stale("state.json", None, None)

    rules = stub(notes=[("use Postgres", "decisions", "use Postgres")])
    with Memory(place / "memory", policy=HASTY, distiller=rules) as memory:
        monkeypatch.setattr(memory.parts.pages, "edit", stale)
        with pytest.raises(Refused, match="something else keeps saving it"):
            memory.state.update(goal="x")
        tell(memory, "We use Postgres.")
        assert any("was not changed: something else keeps saving it" in note for note in memory.notes)
        assert [fact.object for fact in memory.facts()] == ["Postgres"], "a fact does not wait for the state"


def test_distilling_leaves_a_broken_state_alone_and_says_so(place: Path) -> None:
    rules = stub(notes=[("use Postgres", "decisions", "use Postgres")])
    with Memory(place / "memory", policy=HASTY, distiller=rules) as memory:
        file_of(memory).write_text('{\n"goal": 3}')
        tell(memory, "We use Postgres.")
        assert any("state.json was left as it is: in line 2" in note for note in memory.notes)
        assert file_of(memory).read_text() == '{\n"goal": 3}'


# --- views -----------------------------------------------------------------------------------


def test_the_views_of_the_state_are_made_again_byte_for_byte(memory: Memory) -> None:
    memory.state.update(goal="Ship", conventions={"a": "b"})
    names = ("views/state.toon", "views/state.schema.json")
    before = [file_of(memory, name).read_bytes() for name in names]
    assert before == [b"goal: Ship\nconventions:\n  a: b", state_file.schema_text()]
    damages: list[Callable[[Path], object]] = [Path.unlink, lambda path: path.write_text("stale")]
    for damage in damages:
        for name in names:
            damage(file_of(memory, name))
        memory.views.build()
        assert [file_of(memory, name).read_bytes() for name in names] == before
    file_of(memory).write_text('{"goal": "by hand"}')
    memory.views.build()
    assert file_of(memory, names[0]).read_text() == "goal: by hand"
    file_of(memory).write_text("broken")
    memory.views.build()
    assert file_of(memory, names[0]).read_text() == "goal: by hand"
    file_of(memory).unlink()
    memory.views.build()
    assert not file_of(memory, names[0]).exists()
    assert file_of(memory, names[1]).exists()


@pytest.mark.long
def test_the_schema_and_what_was_learnt_are_in_the_wheel(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)], cwd=root, check=True
    )
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        assert held.read("looseleaf/data/state/state.schema.json") == state_file.schema_text()
        data = root / "src/looseleaf/data/distill"
        for path in (each for each in data.rglob("*") if each.is_file()):
            assert held.read(f"looseleaf/data/distill/{path.relative_to(data)}") == path.read_bytes()


def test_memory_state_is_a_state(memory: Memory) -> None:
    assert isinstance(memory.state, State)
    assert memory.state is memory.state
