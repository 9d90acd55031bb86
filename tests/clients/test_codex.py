"""Codex with our hooks and our server: the same promises as for Claude Code."""

from __future__ import annotations

import re

import pytest

from clients.driver import NewProject, Project
from clients.script import Call, remember, shell

TEA, BUILD = "Prefers: green tea", "Build: uses Bazel"
SPAWN = Call(r".*spawn_agent", {"message": "SUB: do your part."})
WAIT = Call(r".*wait_agent", lambda spawned: {"targets": re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", spawned)})


@pytest.fixture
def orchard(new: NewProject) -> Project:
    """A project with Codex in it."""
    return new("codex", hooks=("codex",))


def understood(orchard: Project) -> list[str]:
    return [f"Understood, {asked.number}." for asked in orchard.requests()]


def session(orchard: Project) -> str:
    return str(orchard.traces()[0]["session_id"])


def test_a_second_session_is_told_what_the_first_one_said(orchard: Project) -> None:
    orchard.codex("I'm Ada and I live in Lyon.")
    orchard.until_known("Lyon")
    orchard.codex("Hello there.")
    assert "Lyon" in orchard.requests()[-1].everything


def test_each_thing_is_recorded_once_tools_too(orchard: Project) -> None:
    orchard.script({"list the folder": [shell("echo kiln-1240"), "I listed it."]})
    orchard.codex("Hello there.")
    orchard.codex("Please list the folder.")
    assert orchard.user_words() == ["Hello there.", "Please list the folder."]
    assert orchard.answers() == ["Understood, 1.", "I listed it."]
    calls = [each for each in orchard.traces() if each["trace_type"] == "tool_call"]
    assert [each["tool_name"] for each in calls] == ["exec_command"]
    (result,) = orchard.results()
    assert "kiln-1240" in result


def test_our_tools_are_in_the_first_request_of_every_session(orchard: Project) -> None:
    firsts = []
    for number in range(5):
        before = len(orchard.requests())
        orchard.codex(f"Hello {number}.")
        firsts.append(any(name.endswith("remember") for name in orchard.requests()[before].tools))
    assert firsts == [True] * 5


def test_what_the_user_said_is_written_when_the_model_asks_for_it(orchard: Project) -> None:
    orchard.script({"green tea": [remember(TEA, say="I will."), "Saved."]})
    orchard.codex("Remember that I prefer green tea.")
    assert "green tea" in (orchard.memory / "USER.md").read_text()


def test_a_models_own_line_is_written_where_no_tool_spoke(orchard: Project) -> None:
    orchard.script({"make of the build": [remember(BUILD, "work"), "I noted it."]})
    orchard.codex("What do you make of the build?")
    assert f"- {BUILD}" in (orchard.memory / "facts/work.md").read_text().splitlines()


def test_a_resumed_and_a_forked_session_repeat_nothing(orchard: Project) -> None:
    orchard.codex("Hello one.")
    orchard.codex("Hello two.", "resume", session(orchard))
    orchard.codex("Hello fork.", "fork", session(orchard))
    orchard.codex("Hello last.", "resume", "--last")
    assert orchard.user_words() == ["Hello one.", "Hello two.", "Hello fork.", "Hello last."]
    assert orchard.answers() == understood(orchard)


@pytest.fixture
def killed(orchard: Project) -> Project:
    """A session was killed in a tool's call."""
    orchard.script(
        {"Count the trees": [shell("echo 41-trees", "There are 41 pear trees."), orchard.held(), "Counted."]}
    )
    with orchard.started("codex", "Count the trees.") as process:
        orchard.until_held()
        process.kill()
    assert orchard.user_words() == ["Count the trees."]
    return orchard


def is_whole(orchard: Project) -> bool:
    answers, results = orchard.answers(), "\n".join(orchard.results())
    return answers.count("There are 41 pear trees.") == 1 and results.count("41-trees") == 1


def test_what_a_killed_session_said_is_taken_up_by_the_next(killed: Project) -> None:
    killed.codex("Hello again.")
    killed.until(lambda: is_whole(killed), "all is there")
    assert killed.user_words() == ["Count the trees.", "Hello again."]


def test_what_a_killed_session_said_is_imported_and_not_recorded_again(killed: Project) -> None:
    for _ in range(2):
        killed.looseleaf("import", str(killed.home / ".codex/sessions"))
        assert is_whole(killed), killed.told()
    killed.codex("Hello again.")
    assert killed.user_words() == ["Count the trees.", "Hello again."]
    assert is_whole(killed), killed.told()


@pytest.mark.usefixtures("tmux")
def test_a_prompt_typed_meanwhile_is_recorded_once_and_in_order(orchard: Project) -> None:
    orchard.script({"work slowly": [orchard.held(), "Slept."]})
    with orchard.terminal("codex") as terminal:
        terminal.type("Please work slowly on this.")
        orchard.until_held()
        terminal.type("My dog is called Biscuit.")
        orchard.let_go()
        orchard.until(lambda: len(orchard.user_words()) == 2 and orchard.answers(), "both are there")
        terminal.type("Hello at last.")
        orchard.until(lambda: "Hello at last." in orchard.user_words(), "the last one is there")
    assert orchard.user_words() == [
        "Please work slowly on this.",
        "My dog is called Biscuit.",
        "Hello at last.",
    ]


@pytest.mark.usefixtures("tmux")
def test_an_interrupted_turn_loses_and_doubles_nothing(orchard: Project) -> None:
    orchard.script({"work slowly": [orchard.held("I begin."), "Slept."]})
    with orchard.terminal("codex") as terminal:
        terminal.type("Please work slowly on this.")
        orchard.until_held()
        terminal.key("Escape")
        terminal.wait_for("interrupted")
        terminal.type("Hello after it.")
        orchard.until(lambda: len(orchard.answers()) >= 2, "it has answered")
    assert orchard.user_words() == ["Please work slowly on this.", "Hello after it."]
    assert orchard.answers()[0] == "I begin."


@pytest.mark.usefixtures("tmux")
def test_a_compacted_session_is_told_again_and_loses_and_doubles_nothing(orchard: Project) -> None:
    with orchard.terminal("codex") as terminal:
        terminal.type("I'm Ada and I live in Lyon.")
        orchard.until(lambda: len(orchard.answers()) == 1, "it has answered")
        orchard.until_known("Lyon")
        terminal.type("/compact")
        terminal.wait_for("compacted")
        terminal.type("Hello after.")
        orchard.until(lambda: "Hello after." in orchard.requests()[-1].everything, "it is asked again")
        orchard.until(lambda: len(orchard.answers()) == 2, "it has answered again")
    assert orchard.user_words() == ["I'm Ada and I live in Lyon.", "Hello after."]
    assert "Home: Lyon" in orchard.requests()[-1].everything


def test_a_sub_agents_words_are_not_the_users(orchard: Project) -> None:
    """What a sub-agent is told stands in a rollout of its own."""
    orchard.script(
        {
            "^SUB": [remember(TEA), "The tea is noted."],
            "delegate": [SPAWN, WAIT, "I delegated it."],
        }
    )
    orchard.codex("I prefer green tea; delegate it.")
    assert orchard.user_words() == ["I prefer green tea; delegate it."]
    assert orchard.answers() == ["I delegated it."]


@pytest.mark.usefixtures("tmux")
def test_a_day_with_codex(orchard: Project) -> None:
    """Four sessions, one killed, one forked, one with a sub-agent, two at once, a prompt typed meanwhile."""
    orchard.script(
        {
            "^SUB": [shell("echo shed-7"), "The shed is dry."],
            "look at the shed": [SPAWN, WAIT, "The shed is fine."],
            "Water the roses": [orchard.held("I begin with the roses."), "Watered."],
            "Count the trees": [
                shell("echo 41-trees", "There are 41 pear trees."),
                orchard.held(),
                "Counted.",
            ],
            "make of the build": [remember(BUILD, "work"), "I noted it."],
        }
    )
    words = [
        "I'm Ada and I live in Lyon.",
        "Water the roses.",
        "My dog is called Biscuit.",
        "Count the trees.",
        "And the fork?",
        "Please look at the shed.",
        "What do you make of the build?",
        "Good evening.",
    ]
    with orchard.terminal("codex") as terminal:
        terminal.type(words[0])
        orchard.until(lambda: len(orchard.answers()) == 1, "it has answered")
        terminal.type(words[1])
        orchard.until_held()
        terminal.type(words[2])
        orchard.let_go()
        orchard.until(lambda: words[2] in orchard.user_words(), "it has been told")
        orchard.until(lambda: orchard.answers()[-1].startswith("Understood"), "it has answered to that")
    morning = session(orchard)
    orchard.hold_again()
    with orchard.started("codex", words[3]) as process:
        orchard.until_held()
        process.kill()
    orchard.codex(words[4], "fork", morning)
    with orchard.started("codex", words[5]), orchard.started("codex", words[6]):
        pass
    orchard.until_known(BUILD)
    orchard.until_known("Lyon")
    before = len(orchard.requests())
    orchard.codex(words[7])
    orchard.until(lambda: len(orchard.user_words()) >= len(words), "all words are there")
    assert sorted(orchard.user_words()) == sorted(words)
    scripted = (
        "I begin with the roses.",
        "There are 41 pear trees.",
        "The shed is fine.",
        "I noted it.",
    )
    for answer in scripted:
        assert orchard.answers().count(answer) == 1, (answer, orchard.answers())
    for result in ("let-go", "41-trees"):
        assert "\n".join(orchard.results()).count(result) == 1, (result, orchard.results())
    told = orchard.requests()[before].everything
    for known in ("Home: Lyon", "Biscuit"):
        assert known in told
