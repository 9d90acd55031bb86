"""The memory as its users see it: through the names of `looseleaf.__all__`, and the files of the folder."""

from __future__ import annotations

import ast
import inspect
import sys
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pytest

import looseleaf
from looseleaf import (
    Agent,
    AsyncMemory,
    Distilled,
    Invalid,
    Memory,
    NotFound,
    Policy,
    Refused,
    Reply,
    ScriptedModel,
    Stale,
)
from secret_kinds import numbers, tokens

TraceFunction = Callable[[FrameType, str, Any], Any]

FRONT = {
    *(
        "record",
        "batch",
        "remember",
        "distill",
        "recall",
        "open",
        "prompt",
        "facts",
        "fact",
        "forget",
        "merge",
        "sync",
        "check",
    ),
    *("repair", "close", "name", "where", "path", "agent", "policy", "notes", "state", "costs"),
}
GROUPS = {"talk", "window", "pages", "history", "review", "explain", "views"}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "memory")


def values(memory: Memory) -> dict[str, str]:
    return {fact.relation: fact.object for fact in memory.facts()}


def test_this_suite_uses_public_names_only() -> None:
    tree = ast.parse(Path(__file__).read_text("utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert {name for name in modules if name.startswith("looseleaf")} == {"looseleaf"}
    private = {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr[0] == "_"
    }
    assert private <= {"__all__", "__doc__", "__name__"}


# --- the shape of the API ------------------------------------------------------------------


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_the_front_fits_on_a_screen() -> None:
    assert public(Memory) == FRONT | GROUPS


def test_every_verb_says_what_it_does(memory: Memory) -> None:
    objects = [memory, *(getattr(memory, name) for name in GROUPS)]
    silent = [
        f"{type(each).__name__}.{name}"
        for each in objects
        for name in public(type(each))
        if not (inspect.getattr_static(type(each), name).__doc__ or "").strip()
    ]
    assert silent == []


def test_every_keyword_has_a_type() -> None:
    untyped = [
        f"{name}({parameter.name})"
        for name in public(Memory)
        if inspect.isfunction(verb := inspect.getattr_static(Memory, name))
        for parameter in inspect.signature(verb).parameters.values()
        if parameter.name != "self" and parameter.annotation is inspect.Parameter.empty
    ]
    assert untyped == []


def test_every_type_that_a_verb_returns_is_exported(memory: Memory) -> None:
    returned = set()
    for each in (memory, memory.state, memory.costs, *(getattr(memory, name) for name in GROUPS)):
        for name in public(type(each)):
            member = inspect.getattr_static(type(each), name)
            function = getattr(member, "fget", None) or getattr(member, "func", None) or member
            text = str(getattr(function, "__annotations__", {}).get("return", ""))
            returned |= {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    ours = {name for name in returned if name[:1].isupper()} - {"Any", "Iterator", "List", "Values", "Item"}
    assert sorted(ours - set(looseleaf.__all__)) == []


def test_async_memory_has_the_same_verbs(tmp_path: Path) -> None:
    memory = AsyncMemory(tmp_path / "memory")
    assert [name for name in sorted(FRONT | GROUPS) if not hasattr(memory, name)] == []


# --- recording and learning ----------------------------------------------------------------


def test_what_is_said_becomes_lines_that_people_can_read(memory: Memory) -> None:
    memory.record(user="I'm Zhang San. I live in Lyon.")
    memory.record(assistant="Nice to meet you.")
    memory.distill()
    text = (Path(memory.path) / "USER.md").read_text("utf-8")
    assert "- Name: Zhang San\n" in text
    assert "- Home: Lyon\n" in text


def test_a_change_of_mind_replaces_the_value_and_keeps_the_old_one(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.remember("I moved to Paris.")
    home = next(fact for fact in memory.facts() if fact.relation == "Home")
    assert home.object == "Paris"
    assert [fact.object for fact in memory.history.fact(home.id or "")] == ["Lyon", "Paris"]


def test_an_edit_with_any_editor_is_a_person_s_word(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    page = Path(memory.path) / "USER.md"
    page.write_text(page.read_text("utf-8").replace("Lyon", "Lisbon"), "utf-8")
    assert values(memory)["Home"] == "Lisbon"


def test_an_unknown_keyword_names_the_nearest_right_one(memory: Memory) -> None:
    wrong: dict[str, str] = {"asistant": "Hello."}
    with pytest.raises(Invalid, match="Did you mean 'assistant'"):
        memory.record(**wrong)  # type: ignore[arg-type]
    assert memory.talk.turns() == []


def test_secrets_are_redacted_before_anything_is_written(memory: Memory) -> None:
    secret = "sk-ant-api03-" + "Ab1" * 30
    memory.record(user=f"The key is {secret}.")
    assert not any(
        secret.encode() in file.read_bytes() for file in Path(memory.path).rglob("*") if file.is_file()
    )


def test_a_batch_is_written_when_its_block_ends(memory: Memory) -> None:
    with memory.batch() as batch:
        batch.record(user="One.")
        batch.record(assistant="Two.")
    assert [trace.content for trace in memory.talk.turns()[0].traces] == ["One.", "Two."]


def test_text_from_elsewhere_waits_for_a_person(memory: Memory) -> None:
    memory.distill("The user lives in Berlin.")
    assert "Home" not in values(memory)
    assert memory.review.pending() == memory.facts(status="pending")


# --- asking --------------------------------------------------------------------------------


def test_recall_finds_it_and_open_shows_where_it_stands(memory: Memory) -> None:
    memory.remember("I prefer green tea.")
    hit = memory.recall("Which tea?")[0]
    assert "green" in hit.text
    assert "green" in memory.open(hit.where).text


def test_recall_says_why_it_found_nothing(memory: Memory) -> None:
    memory.remember("I prefer green tea.")
    found = memory.recall("the boiling point of tungsten")
    assert list(found) == []
    assert found.why


def test_a_prompt_stays_within_its_budget_and_renders_for_each_provider(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.record(user="Hello.")
    prompt = memory.prompt("Plan my evening.", budget=600)
    assert prompt.manifest.total_tokens <= 600
    assert "Lyon" in prompt.text
    assert "Lyon" in str(prompt.to_openai()["messages"])
    assert "Lyon" in str(prompt.to_anthropic()["messages"])
    assert "Lyon" in str(prompt.to_gemini()["contents"])
    assert memory.explain.replay(prompt.manifest.id).text == prompt.text


def test_why_leads_back_to_the_words(memory: Memory) -> None:
    memory.record(user="I live in Lyon.")
    memory.distill()
    memory.prompt("Plan my evening.")
    assert "I live in Lyon." in str(memory.explain.why("Lyon").to_dict())


def test_what_does_not_exist_is_a_lookup_error(memory: Memory) -> None:
    for act in (lambda: memory.fact("f_nothing"), lambda: memory.views.topic("nothing")):
        with pytest.raises(NotFound) as caught:
            act()
        assert isinstance(caught.value, LookupError)
        assert isinstance(caught.value, Refused)


# --- changing, forgetting, care ------------------------------------------------------------


def test_a_stale_page_is_not_overwritten(memory: Memory) -> None:
    memory.pages.edit("facts/tea.md", "# Tea\n\n- Sort: green\n", reason="a page")
    seen = memory.pages.read("facts/tea.md").sha256
    memory.pages.edit("facts/tea.md", "# Tea\n\n- Sort: black\n", reason="another")
    with pytest.raises(Stale):
        memory.pages.edit("facts/tea.md", "x", base=seen, reason="late")
    memory.history.undo()
    assert "green" in memory.pages.read("facts/tea.md").text


def test_what_is_forgotten_is_nowhere_in_the_folder(memory: Memory) -> None:
    memory.record(user="I collect porcelain herons.")
    memory.distill()
    memory.forget(match="porcelain")
    files = [file for file in Path(memory.path).rglob("*") if file.is_file()]
    assert not any(b"porcelain" in file.read_bytes() for file in files)
    assert memory.check() == []


def test_a_memory_survives_its_views(memory: Memory, tmp_path: Path) -> None:
    memory.remember("I live in Lyon.")
    memory.close()
    for file in (tmp_path / "memory/views").rglob("*"):
        if file.is_file():
            file.unlink()
    with Memory(tmp_path / "memory") as again:
        assert values(again)["Home"] == "Lyon"
        assert again.recall("Where do I live?")[0].text.endswith("Lyon")


def test_settings_are_given_in_code_or_in_the_folder(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", policy=Policy(tail_turns=3)) as memory:
        assert memory.policy.tail_turns == 3


def test_an_agent_runs_with_a_script_in_place_of_a_model(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    model = ScriptedModel([Reply("You live in Lyon.")])
    events = list(Agent(memory, model, [], reflect=False).run("Where do I live?"))
    assert type(events[-1]).__name__ == "Done"
    assert memory.talk.turns(1)[0].traces[-1].content == "You live in Lyon."


# --- what a hostile or careless caller tries --------------------------------------------------


def test_recording_works_under_a_tracer_that_reads_local_names(memory: Memory) -> None:
    def trace(frame: FrameType, event: str, argument: object) -> TraceFunction:
        assert frame.f_locals is not None
        return trace

    before = sys.gettrace()  # a run that measures coverage has one
    sys.settrace(trace)
    try:
        memory.record(user="Hello.")
    finally:
        sys.settrace(before)
    assert memory.talk.turns(1)[0].traces[0].content == "Hello."


def test_secrets_in_a_model_s_summary_reason_or_held_line_are_not_written(memory: Memory) -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    memory.record(user="We talk about cooking.")
    memory.pages.propose(
        "facts/cooking.md", "# C\n\n- Cat: Tom\n", reason=f"x {secret}", summary=f"my {secret}"
    )
    memory.parts.hold("USER.md", [("Token", secret)])
    home = memory.remember("I live in Lyon.").placed
    assert home is not None
    memory.review.correct(memory.facts(topic="user")[0].id or "", f"Home: {secret}")
    files = [file for file in Path(memory.path).rglob("*") if file.is_file()]
    assert [str(file) for file in files if secret.encode() in file.read_bytes()] == []


def test_no_entrance_lets_a_secret_through_that_stands_alone(memory: Memory) -> None:
    rng = Random(3)
    secrets = [secret for _, secret in tokens(rng) + numbers(rng)]
    lines = [f"- Note {number}: {secret}\n" for number, secret in enumerate(secrets)]
    memory.record(user="We talk about notes.")
    memory.pages.propose(
        "facts/notes.md", "# Notes\n\n" + "".join(lines), reason="it was said", summary="notes"
    )
    memory.remember(f"I noted {secrets[0]} and {secrets[1]}.")
    for secret in secrets[::10]:
        memory.state.add_task(f"rotate {secret}")
        memory.record(tool_result={"stdout": [secret]}, tool_name="run")
    held = b"\n".join(file.read_bytes() for file in Path(memory.path).rglob("*") if file.is_file())
    assert b"- Note 5: [redacted " in held
    assert [secret for secret in secrets if secret.encode() in held] == []


def test_a_text_is_distilled_by_the_distiller_that_is_given(memory: Memory) -> None:
    class Own:
        name = "own/1"

        def distill(self, material: object, tokens: int) -> Distilled:
            return Distilled(summary="read by its own")

    placed = memory.distill("My cat is Bob.", distiller=Own())
    entry = memory.talk.entry(placed[0].entry)
    assert entry.summary["summary"] == "read by its own"
    with pytest.raises(Invalid):
        memory.distill(author="person")


def test_what_is_forbidden_in_a_batch_is_obeyed(memory: Memory) -> None:
    memory.record(user="I like tea.")
    memory.distill()
    with memory.batch() as batch:
        batch.record(user="Forget that I like tea. Don't remember that I like tea.")
    assert "tea" not in str(values(memory))


def test_another_agent_s_prompt_is_refused_after_close(memory: Memory) -> None:
    memory.close()
    with pytest.raises(Refused, match="closed"):
        memory.prompt("x", agent="carl")


class Word(StrEnum):
    TOPIC = "work"
    WHY = "cleanup"
    WHO = "agent:bob"
    SAID = "I live in Porto."


def test_text_and_counts_of_a_kind_of_one_s_own_are_text_and_counts(memory: Memory) -> None:
    class Count(int):
        pass

    memory.remember(Word.SAID)
    memory.remember("The build is red.", topic=Word.TOPIC)
    assert [fact.object for fact in memory.facts(topic=Word.TOPIC)] == ["The build is red."]
    memory.pages.edit("facts/notes.md", "# Notes\n", reason=Word.WHY, author=Word.WHO)
    memory.record(user="Hello.")
    assert len(memory.talk.turns(Count(1))) == 1
    assert memory.window.count(deque(["a", "b"])) == memory.window.count(["a", "b"])
    memory.state.revise(tasks={"Ship it"})  # type: ignore[arg-type]
    assert [task["title"] for task in memory.state.shown()["tasks_open"]] == ["Ship it"]


def test_arguments_of_the_wrong_kind_are_named(memory: Memory) -> None:
    wrong: Any = None
    calls: list[Callable[[], object]] = [
        lambda: memory.talk.turn(wrong),
        lambda: memory.talk.entry(wrong),
        lambda: memory.talk.traces(wrong),
        lambda: memory.talk.sessions(wrong),
        lambda: memory.history.versions(wrong),
        lambda: memory.review.ask(wrong, "why"),
        lambda: memory.explain.sources(wrong),
        lambda: memory.explain.receipts(10**30),
        lambda: memory.window.count("text"),
        lambda: memory.state.revise(tasks="text"),
    ]
    for call in calls:
        with pytest.raises(Invalid):
            call()
