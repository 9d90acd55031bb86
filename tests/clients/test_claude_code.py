"""Claude Code with our hooks and our server: no word of the user lost or doubled, no answer lost."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

from clients.driver import NewProject, Project
from clients.script import Call, Step, remember, shell

TEA, BUILD = "Prefers: green tea", "Build: uses Bazel"
NOTES_BUILD: dict[str, list[Step]] = {"make of the build": [remember(BUILD, "work"), "I noted it."]}


def understood(garden: Project) -> list[str]:
    """What the model answered wherever it had no rule."""
    return [f"Understood, {asked.number}." for asked in garden.requests()]


def session(garden: Project) -> str:
    return str(garden.traces()[0]["session_id"])


def until_queued(garden: Project, text: str) -> None:
    garden.until(
        lambda: any(text in path.read_text() for path in garden.transcripts()), f"{text!r} waits for its turn"
    )


# --- one session, and the next ----------------------------------------------------------------


def test_a_second_session_is_told_what_the_first_one_said(garden: Project) -> None:
    garden.claude("I'm Ada and I live in Lyon.")
    garden.until_known("Lyon")
    garden.claude("Hello there.")
    assert "Lyon" in garden.requests()[-1].everything


def test_each_thing_is_recorded_once(garden: Project) -> None:
    garden.script({"list the folder": [shell("echo kiln-1240"), "I listed it."]})
    garden.claude("Hello there.")
    garden.claude("Please list the folder.")
    assert garden.user_words() == ["Hello there.", "Please list the folder."]
    assert garden.answers() == ["Understood, 1.", "I listed it."]
    assert garden.results() == ["kiln-1240"]


def test_our_tools_are_in_the_first_request_of_every_session(garden: Project) -> None:
    firsts = []
    for number in range(5):
        before = len(garden.requests())
        garden.claude(f"Hello {number}.")
        firsts.append("mcp__looseleaf__remember" in garden.requests()[before].tools)
    assert firsts == [True] * 5


def test_two_sessions_at_once_are_recorded_once_each(garden: Project) -> None:
    garden.script({"work slowly": [garden.held(), "Slept."]})
    prompts = [f"Please work slowly on part {number}." for number in range(3)]
    with ExitStack() as stack:
        for prompt in prompts:
            stack.enter_context(garden.started("claude", prompt))
        garden.until(lambda: len(garden.requests()) == len(prompts), "all of them work")
        garden.let_go()
    assert sorted(garden.user_words()) == prompts
    assert garden.answers() == ["Slept."] * len(prompts)
    assert garden.results() == ["let-go"] * len(prompts)


# --- what the user types while the agent works -----------------------------------------------


@pytest.mark.usefixtures("tmux")
def test_a_prompt_typed_meanwhile_is_recorded_once_and_in_order(garden: Project) -> None:
    garden.script({"work slowly": [garden.held(), "Slept."]})
    prompts = [
        "Please work slowly on this.",
        "My dog is called Biscuit.",
        "My cat is called Crumb.",
        "Hello at last.",
    ]
    with garden.terminal() as terminal:
        terminal.type(prompts[0])
        garden.until_held()
        for prompt in prompts[1:3]:
            terminal.type(prompt)
            until_queued(garden, prompt)
        garden.let_go()
        garden.until(lambda: len(garden.answers()) == 1, "it has answered")
        terminal.type(prompts[3])
        garden.until(lambda: len(garden.answers()) == 2, "it has answered again")
    assert garden.user_words() == prompts
    assert garden.results() == ["let-go"]
    garden.until_known("Biscuit")


def test_a_prompt_sent_meanwhile_by_a_program_is_recorded_once_and_in_order(garden: Project) -> None:
    garden.script({"work slowly": [garden.held(), "Slept."]})
    with garden.stream() as stream:
        stream.say("Please work slowly on this.")
        garden.until_held()
        stream.say("My dog is called Biscuit.")
        until_queued(garden, "Biscuit")
        garden.let_go()
    assert garden.user_words() == ["Please work slowly on this.", "My dog is called Biscuit."]
    assert garden.results() == ["let-go"]


@pytest.mark.usefixtures("tmux")
def test_an_interrupted_turn_loses_and_doubles_nothing(garden: Project) -> None:
    garden.script({"work slowly": [garden.held("I begin."), "Slept."]})
    with garden.terminal() as terminal:
        terminal.type("Please work slowly on this.")
        garden.until_held()
        terminal.key("Escape")
        terminal.wait_for("Interrupted")
        terminal.type("Hello after it.")
        garden.until(lambda: len(garden.answers()) == 2, "it has answered")
    assert garden.user_words() == ["Please work slowly on this.", "Hello after it."]
    assert garden.answers()[0] == "I begin."


@pytest.mark.usefixtures("tmux")
def test_a_prompt_that_waits_when_the_turn_is_interrupted_is_recorded_once(garden: Project) -> None:
    garden.script({"work slowly": [garden.held(), "Slept."]})
    with garden.terminal() as terminal:
        terminal.type("Please work slowly on this.")
        garden.until_held()
        terminal.type("My dog is called Biscuit.")
        until_queued(garden, "Biscuit")
        terminal.key("Escape")
        terminal.wait_for("Interrupted")
        garden.until(lambda: len(garden.answers()) == 1, "it has answered")
    assert garden.user_words() == ["Please work slowly on this.", "My dog is called Biscuit."]


# --- sessions that are continued, copied, cleared, shortened ------------------------------------


def test_a_resumed_and_a_continued_session_repeat_nothing(garden: Project) -> None:
    garden.claude("Hello one.")
    garden.claude("Hello two.", "--resume", session(garden))
    garden.claude("Hello three.", "--continue")
    assert garden.user_words() == ["Hello one.", "Hello two.", "Hello three."]
    assert garden.answers() == understood(garden)


def test_a_forked_session_repeats_nothing(garden: Project) -> None:
    garden.claude("Hello one.")
    garden.claude("Hello fork.", "--resume", session(garden), "--fork-session")
    garden.claude("Hello again.", "--resume", session(garden))
    assert garden.user_words() == ["Hello one.", "Hello fork.", "Hello again."]
    assert garden.answers() == understood(garden)


@pytest.mark.usefixtures("tmux")
def test_a_cleared_session_loses_and_doubles_nothing(garden: Project) -> None:
    with garden.terminal() as terminal:
        terminal.type("Hello before.")
        garden.until(lambda: len(garden.answers()) == 1, "it has answered")
        terminal.type("/clear")
        garden.until(
            lambda: len(garden.transcripts()) == 2 or "Hello before" not in terminal.screen, "it is cleared"
        )
        terminal.type("Hello after.")
        garden.until(lambda: len(garden.answers()) == 2, "it has answered again")
    assert garden.user_words() == ["Hello before.", "Hello after."]
    assert garden.answers() == understood(garden)


@pytest.mark.usefixtures("tmux")
def test_a_compacted_session_is_told_again_and_loses_and_doubles_nothing(garden: Project) -> None:
    with garden.terminal() as terminal:
        terminal.type("I'm Ada and I live in Lyon.")
        garden.until(lambda: len(garden.answers()) == 1, "it has answered")
        terminal.type("Hello before.")
        garden.until(lambda: len(garden.answers()) == 2, "it has answered again")
        garden.until_known("Lyon")
        terminal.type("/compact")
        terminal.wait_for("Compacted")
        terminal.type("Hello after.")
        garden.until(lambda: len(garden.answers()) == 3, "it has answered at last")
    assert garden.user_words() == ["I'm Ada and I live in Lyon.", "Hello before.", "Hello after."]
    after = garden.requests()[-1].everything
    assert "[MEMORY:" in after
    assert "Home: Lyon" in after


# --- sessions that end badly -------------------------------------------------------------------


@pytest.fixture
def killed(garden: Project) -> Project:
    """A session was killed in a tool's call, when a prompt waited."""
    garden.script(
        {"Count the trees": [shell("echo 41-trees", "There are 41 pear trees."), garden.held(), "Counted."]}
    )
    with garden.stream() as stream:
        stream.say("Count the trees.")
        garden.until_held()
        stream.say("My dog is called Biscuit.")
        until_queued(garden, "Biscuit")
        stream.kill()
    assert garden.user_words() == ["Count the trees."]
    garden.let_an_hour_pass()
    return garden


def is_whole(garden: Project) -> bool:
    """Whether what the killed session said is there, all of it once."""
    words = garden.user_words()
    return (
        words[:2] == ["Count the trees.", "My dog is called Biscuit."]
        and len(set(words)) == len(words)
        and garden.answers().count("There are 41 pear trees.") == 1
        and garden.results().count("41-trees") == 1
    )


def test_what_a_killed_session_said_is_taken_up_by_the_next(killed: Project) -> None:
    killed.claude("Hello again.")
    killed.until(lambda: is_whole(killed), "all is there")
    assert killed.user_words()[2:] == ["Hello again."]


def test_what_a_killed_session_said_is_taken_up_when_it_is_resumed(killed: Project) -> None:
    killed.claude("Hello again.", "--resume", session(killed))
    killed.until(lambda: is_whole(killed), "all is there")
    assert killed.user_words()[2:] == ["Hello again."]


def test_what_a_killed_session_said_is_imported_and_not_recorded_again(killed: Project) -> None:
    (transcript,) = killed.transcripts()
    for _ in range(2):
        killed.looseleaf("import", str(transcript.parent))
        assert is_whole(killed), killed.told()
    killed.claude("Hello again.")
    assert killed.user_words()[2:] == ["Hello again."]
    assert is_whole(killed), killed.told()


# --- whose words they are ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt",
    [
        "Fix <my-button>Save the kiln</my-button> please",
        "<system-reminder>I typed this</system-reminder> and this",
        "Why does `<p><x:y>text</x:y></p>` fail?",
        "It says [MEMORY:PROFILE]\nand then this line.",
    ],
)
def test_nothing_that_the_user_typed_is_cut(garden: Project, prompt: str) -> None:
    garden.claude(prompt)
    assert garden.user_words() == [prompt]


@pytest.mark.usefixtures("tmux")
def test_a_long_paste_is_recorded_whole(garden: Project) -> None:
    lines = "\n".join(f"Line {number} of the letter." for number in range(60))
    with garden.terminal() as terminal:
        terminal.paste(lines)
        terminal.wait_for("Pasted text")
        terminal.key("Enter")
        garden.until(garden.answers, "it has answered")
    assert garden.user_words() == [lines]


def test_a_command_with_a_slash_is_recorded_as_it_was_typed(garden: Project) -> None:
    commands = garden.folder / ".claude/commands"
    commands.mkdir(parents=True, exist_ok=True)
    (commands / "greet.md").write_text("Say hello to $ARGUMENTS, and be kind.\n")
    garden.claude("/greet my aunt Mathilde")
    assert garden.user_words() == ["/greet my aunt Mathilde"]


def test_a_sub_agents_note_and_its_result_are_told_apart(garden: Project) -> None:
    asked = {"description": "A note", "prompt": "SUB: note the tea.", "subagent_type": "general-purpose"}
    garden.script(
        {
            "^SUB": [remember(TEA), "The tea is noted."],
            "delegate": [Call("Agent|Task", asked), "I delegated it."],
        }
    )
    garden.claude("I prefer green tea; delegate it.", MCP_CONNECTION_NONBLOCKING="0")
    calls = [each for each in garden.traces() if each["trace_type"] == "tool_call"]
    delegated = next(each["tool_call_id"] for each in calls if each["tool_name"] in ("Agent", "Task"))
    results = [
        each
        for each in garden.traces()
        if each["trace_type"] == "tool_result" and each["tool_call_id"] == delegated
    ]
    assert len(results) == 1, results
    assert results[0]["tool_result"].startswith("The tea is noted.")
    assert garden.user_words() == ["I prefer green tea; delegate it."]
    assert garden.answers() == ["I delegated it."]
    garden.until_known("green tea")


# --- what the model may write ------------------------------------------------------------------


def is_written(garden: Project) -> bool:
    """Whether the model's line stands where it wanted it, and not among what agents found."""
    page = garden.memory / "facts/work.md"
    return page.exists() and f"- {BUILD}" in page.read_text().splitlines()


def test_a_line_after_a_tool_that_spoke_is_what_an_agent_found(garden: Project) -> None:
    """Without this, the tests below could not fail."""
    rules: dict[str, list[Step]] = {
        "make of the build": [shell("echo It is Bazel."), remember(BUILD, "work"), "Done."]
    }
    garden.script(rules)
    garden.claude("What do you make of the build?", MCP_CONNECTION_NONBLOCKING="0")
    assert not is_written(garden)
    assert f"- {BUILD} (found by" in garden.pages()


def test_what_the_user_said_is_written_when_the_model_asks_for_it(garden: Project) -> None:
    garden.script({"green tea": [remember(TEA, say="I will."), "Saved."]})
    garden.claude("Remember that I prefer green tea.")
    garden.until_known("green tea")
    assert "green tea" in (garden.memory / "USER.md").read_text()


def test_a_models_own_line_is_written_where_no_tool_spoke(garden: Project) -> None:
    garden.script(NOTES_BUILD)
    garden.claude("What do you make of the build?", MCP_CONNECTION_NONBLOCKING="0")
    assert is_written(garden)


def test_waiting_for_our_server_is_no_tool_that_spoke(new: NewProject) -> None:
    garden = new("claude", server=("sh", "-c", "sleep 4; exec looseleaf mcp"))
    garden.script(NOTES_BUILD)
    garden.claude("What do you make of the build?")
    assert any(name == "WaitForMcpServers" for asked in garden.requests() for name, _ in asked.calls)
    assert is_written(garden)


def test_looking_for_our_tools_is_no_tool_that_spoke(garden: Project) -> None:
    search = Call("ToolSearch", {"query": "select:mcp__looseleaf__memory_patch", "max_results": 5})
    garden.script({"make of the build": [search, remember(BUILD, "work"), "I noted it."]})
    garden.claude("What do you make of the build?", ENABLE_TOOL_SEARCH="true")
    assert any(name == "ToolSearch" for asked in garden.requests() for name, _ in asked.calls)
    assert is_written(garden)


def test_a_message_of_our_own_hooks_is_no_tool_that_spoke(garden: Project) -> None:
    garden.looseleaf("tool", "remember", json.dumps({"topic": "user", "content": "Role: administrator"}))
    garden.script(NOTES_BUILD)
    garden.claude("What do you make of the build?", MCP_CONNECTION_NONBLOCKING="0")
    assert is_written(garden)


def test_a_tool_of_another_session_is_no_tool_of_this_one(garden: Project) -> None:
    garden.script(NOTES_BUILD | {"list the folder": [shell("echo kiln-1240"), "I listed it."]})
    garden.claude("Please list the folder.")
    garden.claude("What do you make of the build?", MCP_CONNECTION_NONBLOCKING="0")
    assert is_written(garden)


def test_a_wish_without_hooks_is_no_error(new: NewProject) -> None:
    garden = new("claude", hooks=())
    garden.script({"green tea": [remember(TEA), "Saved."]})
    garden.claude("Remember that I prefer green tea.")
    assert '"is_error": true' not in json.dumps(garden.requests()[-1].body)
    assert "green tea" in garden.everywhere()


# --- a day -------------------------------------------------------------------------------------


def test_a_day_with_claude_code(garden: Project) -> None:
    """Four sessions, one killed, one forked, one with a sub-agent, two at once, prompts typed meanwhile."""
    asked = {"description": "A look", "prompt": "SUB: look at the shed.", "subagent_type": "general-purpose"}
    garden.script(
        {
            "^SUB": [shell("echo shed-7"), "The shed is dry."],
            "look at the shed": [Call("Agent|Task", asked), "The shed is fine."],
            "Water the roses": [garden.held("I begin with the roses."), "Watered."],
            "Count the trees": [
                shell("echo 41-trees", "There are 41 pear trees."),
                garden.held(),
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
        "My cat is called Crumb.",
        "And the fork?",
        "Please look at the shed.",
        "What do you make of the build?",
        "Good evening.",
    ]
    with garden.stream() as stream:
        stream.say(words[0])
        garden.until(lambda: len(garden.answers()) == 1, "it has answered")
        stream.say(words[1])
        garden.until_held()
        stream.say(words[2])
        until_queued(garden, words[2])
        garden.let_go()
    morning = session(garden)
    garden.hold_again()
    with garden.stream() as stream:
        stream.say(words[3])
        garden.until_held()
        stream.say(words[4])
        until_queued(garden, words[4])
        stream.kill()
    garden.let_go()
    garden.let_an_hour_pass()
    garden.claude(words[5], "--resume", morning, "--fork-session")
    with garden.started("claude", words[6]), garden.started("claude", words[7]):
        pass
    garden.until_known(BUILD)
    garden.until_known("Lyon")
    before = len(garden.requests())
    garden.claude(words[8])
    garden.until(lambda: len(garden.user_words()) >= len(words), "all words are there")
    assert sorted(garden.user_words()) == sorted(words)
    scripted = ("I begin with the roses.", "There are 41 pear trees.", "The shed is fine.", "I noted it.")
    for answer in scripted:
        assert garden.answers().count(answer) == 1, (answer, garden.answers())
    for result in ("let-go", "41-trees"):
        assert garden.results().count(result) == 1, (result, garden.results())
    told = garden.requests()[before].everything
    for known in ("Home: Lyon", "Biscuit"):
        assert known in told
