"""The chat, in this process: what goes where in a pipe, its commands, and Markdown that comes piece by piece."""

from __future__ import annotations

import io
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conftest import Run
from looseleaf import Memory
from looseleaf.agent.events import AnswerEvent, ToolReturned
from looseleaf.base.errors import Cancelled, ModelFailed, Refused, package_of, to_get
from looseleaf.base.messages import Message, ToolCallSpec
from looseleaf.base.replies import Reply, Retrying, TextDelta, ToolSpec, Usage
from looseleaf.cli import chat_commands as cli_commands
from looseleaf.cli.arguments import parse
from looseleaf.cli.chat import NO_MODEL, Chat
from looseleaf.cli.chat_commands import COMMANDS
from looseleaf.cli.chat_faces import Pipe, event_line
from looseleaf.cli.chat_terminal import Blocks, RenderedBlocks, Terminal
from looseleaf.cli.main import main
from looseleaf.models import ScriptedModel

if TYPE_CHECKING:
    from looseleaf.base.replies import Event

Talk = Callable[..., tuple[int, str, str]]


class Priced(ScriptedModel):
    """A scripted model runs here and costs nothing; this one is paid for like its provider's."""

    dialect = "openai"


USAGE = Usage(prompt_tokens=1000, cached_tokens=250, output_tokens=40)


class Asked(Pipe):
    """A pipe with somebody at its end who answers questions."""

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.answers = list(answers)
        self.questions: list[str] = []

    def ask(self, question: str) -> str | None:
        self.questions.append(question)
        return self.answers.pop(0)


@pytest.fixture
def talk(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Talk:
    """A chat with a model that has a script, or is a function: its code, and what it printed."""

    def call(replies: Any, *lines: str, face: Pipe | None = None, tools: bool = True) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        capsys.readouterr()
        with Memory(folder) as memory:
            model = replies if hasattr(replies, "stream") else Priced(replies, name="gpt-4o")
            code = Chat(memory, model, face or Pipe(), main, tools=tools).run()
        out, err = capsys.readouterr()
        return code, out, err

    return call


def reflecting(answer: str, *kept: str) -> Callable[[Sequence[Message], Sequence[ToolSpec]], Reply]:
    """A model that answers the same to everything, and keeps lines on USER.md when it is asked to look back."""

    def reply(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        if "A task is over." not in (messages[0].content or ""):
            return Reply(answer, usage=USAGE)
        if not kept or messages[-1].role == "tool":
            return Reply("The user said something.", usage=USAGE)
        entry = "\n".join(f"- {line}" for line in kept)
        call = ToolCallSpec("c1", "memory_append", {"path": "USER.md", "entry": entry})
        return Reply(calls=(call,), usage=USAGE)

    return reply


# --- a pipe ----------------------------------------------------------------------------


def test_a_line_is_a_question_and_only_answers_go_to_standard_output(talk: Talk, folder: Path) -> None:
    code, out, err = talk(reflecting("Yes."), "Is tea good?", "", "   ", "Is coffee?")
    assert (code, out) == (0, "Yes.\nYes.\n")
    first, *rest = err.splitlines()
    assert first == f"gpt-4o, with the memory {folder}. /help lists the commands; /quit ends."
    status = "1,000 tokens read (25 % cached) · 40 written · 1 % of the window (110,336) · $0.0026"
    assert rest == [status, status, "Making memory of what was said …", "Nothing new."]
    with Memory(folder) as memory:
        said = [(trace.trace_type, trace.content) for turn in memory.talk.turns() for trace in turn.traces]
    assert said == [
        ("user", "Is tea good?"),
        ("assistant", "Yes."),
        ("user", "Is coffee?"),
        ("assistant", "Yes."),
    ]


def test_at_the_end_what_was_said_becomes_memory(talk: Talk, folder: Path) -> None:
    said = "I'm Zhang San, and I write code in English."
    _, _, err = talk(reflecting("Nice to meet you.", "Name: Zhang San"), said)
    assert "added: Name: Zhang San  (said)" in err.splitlines()
    assert "- Name: Zhang San\n" in (folder / "USER.md").read_text()


def test_a_chat_in_which_nothing_was_asked_asks_no_model(talk: Talk) -> None:
    code, out, err = talk([], "/quit", "Never read.")
    assert (code, out, len(err.splitlines())) == (0, "", 1)


def test_no_model_and_no_tool_steers_the_terminal_that_reads_a_pipe(talk: Talk) -> None:
    hostile = "\x1b]0;owned\x07\x9b31m\u202erm -rf\r\nnext\ttab"
    call = ToolCallSpec("c1", "memory_read\x1b[2J", {"path": f"{hostile}"})
    _, out, err = talk([Reply(calls=(call,)), Reply(hostile), Reply(hostile)], "Read it to me, I am tired.")
    assert out == "\\x1b]0;owned\\x07\\x9b31m\\u202erm -rf\nnext\ttab\n"
    assert "· memory_read\\x1b[2J" in err
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out + err)


def test_a_tool_call_is_one_line_beside_the_answer(talk: Talk, folder: Path) -> None:
    (folder / "USER.md").write_text("# User\n\n- Name: Zhang San\n- Home: Lyon\n")
    read = ToolCallSpec("c1", "memory_read", {"path": "USER.md"})
    gone = ToolCallSpec("c2", "memory_read", {"path": "facts/no.md"})
    _, out, err = talk([Reply("Let me look.", calls=(read, gone)), Reply("In Lyon.")], "Where do I live?")
    assert out == "Let me look.\nIn Lyon.\n"
    first, second = (line for line in err.splitlines() if line.startswith("· "))
    assert first.startswith('· memory_read {"path": "USER.md"} → ')
    assert second.startswith('· memory_read {"path": "facts/no.md"} → failed: ')
    assert "Zhang San" in first


def test_without_tools_the_model_is_offered_none(talk: Talk) -> None:
    offered: list[int] = []

    def count(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> str:
        offered.append(len(tools))
        return "Yes."

    talk(count, "Is tea good?", tools=False)
    talk(count, "Is tea good?")
    assert offered[0] == 0 < offered[-1]


class Stumbling:
    """A model whose first attempt breaks off."""

    name, dialect = "gpt-4o", "openai"

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **options: Any
    ) -> Iterator[Event]:
        yield TextDelta("This is vo")
        yield Retrying("the connection was cut", 0.0, 2)
        yield TextDelta("This holds.")
        yield Reply("This holds.", usage=USAGE)

    def send(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **options: Any) -> Reply:
        return Reply("Nothing came of it.")


class Endless(Stumbling):
    """A model that goes on until it is told to stop."""

    def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **options: Any
    ) -> Iterator[Event]:
        while not options["cancel"].is_set():
            yield TextDelta("on ")
        raise Cancelled("The call was ended.")


def test_what_is_void_after_a_retry_never_gets_out(talk: Talk) -> None:
    code, out, err = talk(Stumbling(), "Is tea good?")
    assert (code, out) == (0, "This holds.\n")
    assert "Asking again in 0 s (attempt 2): the connection was cut. What was said so far is void.\n" in err


@pytest.mark.parametrize("why", ["the line is busy", "The line is busy."])
def test_nothing_is_void_where_nothing_was_said(talk: Talk, why: str) -> None:
    class Busy(Stumbling):
        def stream(self, *asked: Any, **options: Any) -> Iterator[Event]:
            yield Retrying(why, 0.0, 2)
            yield Reply("Yes.", usage=USAGE)

    _, out, err = talk(Busy(), "Is tea good?")
    assert out == "Yes.\n"
    assert f"Asking again in 0 s (attempt 2): {why.rstrip('.')}.\n" in err
    assert "void" not in err


def test_on_a_terminal_too_only_what_was_said_is_void(capsys: pytest.CaptureFixture[str]) -> None:
    face = Terminal()
    retrying = Retrying("the line is busy", 0.0, 2)
    line = "Asking again in 0 s (attempt 2): the line is busy."
    for said, told in (
        ([], line),
        ([TextDelta("Once")], f"{line} What was said so far is void."),
        ([], line),
        ([TextDelta("Once"), AnswerEvent(Reply("Once"))], line),
    ):
        capsys.readouterr()
        for event in (*said, retrying):
            face.hear(event)
        assert capsys.readouterr().out.splitlines()[-1].removeprefix("\x1b[2K") == told


def test_that_something_is_void_is_said_once_also_where_the_model_says_it() -> None:
    told = Retrying("The line was cut. What was said so far is void.", 2.0, 3)
    line = "Asking again in 2 s (attempt 3): The line was cut. What was said so far is void."
    assert event_line(told) == event_line(told, has_text=True) == line


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a" * 39, "a" * 39),
        ("a" * 40, f"{'a' * 12}…"),
        (f"sha256:{'0f' * 32}.", f"sha256:{'0f' * 6}…."),
        ("no" * 30, "no" * 30),
        (f"x{'a' * 64}", f"x{'a' * 64}"),
    ],
)
def test_of_a_hash_a_person_sees_the_beginning(said: str, shown: str) -> None:
    call = ToolCallSpec("c1", "remember", {"base": said})
    line = f'· remember {{"base": "{shown}"}} → {shown}'
    assert event_line(ToolReturned(call, said)) == line
    assert event_line(ToolReturned(call, error=said)) == line.replace("→ ", "→ failed: ")


def test_a_model_that_fails_is_told_of_and_the_next_question_is_asked(talk: Talk) -> None:
    failure = ModelFailed("The model did not answer: it is asleep. Ask again.")
    code, out, err = talk([failure, Reply("Awake.", usage=USAGE)], "Is tea good?", "And now?")
    assert (code, out) == (1, "Awake.\n")
    lines = err.splitlines()
    at = lines.index("The model did not answer: it is asleep. Ask again.")
    assert lines[at + 1] == STAYS
    assert lines.count(STAYS) == 1


STAYS = "Your question stays in the conversation, and is sent again with the next one."
ASLEEP = ModelFailed("The model did not answer: it is asleep. Ask again.")


class Failing:
    """A model that answers some questions, and never looks back on them."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.reflected = 0

    def __call__(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        is_reflecting = "A task is over." in (messages[0].content or "")
        self.reflected += is_reflecting
        answer = None if is_reflecting else self.answers.pop(0)
        if answer is None:
            raise ASLEEP
        return Reply(answer, usage=USAGE)


def test_a_model_that_never_answered_is_not_asked_to_look_back(talk: Talk, folder: Path) -> None:
    model = Failing(None, None)
    code, out, err = talk(model, "I'm Zhang San.", "My name is Zhang San, I said.")
    assert (code, out, model.reflected) == (1, "", 0)
    assert err.count(str(ASLEEP)) == 2  # once for each question
    lines = err.splitlines()
    at = lines.index("Making memory of what was said …")
    assert lines[at + 1] == "The rules made memory of it."
    assert "added: Name: Zhang San  (said)" in lines[at + 2 :]
    assert "- Name: Zhang San\n" in (folder / "USER.md").read_text()


def test_why_a_model_could_not_be_asked_is_not_said_again_at_the_end(talk: Talk) -> None:
    model = Failing("Nice to meet you.", None)
    _, _, err = talk(model, "I'm Zhang San.", "And I live in Lyon.")
    assert model.reflected == 1
    assert (err.count("asleep"), err.count("The rules made memory of it.\n")) == (1, 1)


def test_why_only_the_looking_back_failed_is_said(talk: Talk) -> None:
    model = Failing("Nice to meet you.")
    _, _, err = talk(model, "I'm Zhang San.")
    assert model.reflected == 1
    assert "The rules distilled instead: reflector/gpt-4o/1 raised ModelFailed" in err
    assert "The rules made memory" not in err


class Waking(ScriptedModel):
    """A model that has something to load, and cannot."""

    def __init__(self, fault: Exception) -> None:
        super().__init__(["Yes."], "gpt-4o")
        self.fault = fault
        self.woken = threading.Event()
        self.woken_by = ""

    def ready(self) -> None:
        self.woken_by = threading.current_thread().name
        self.woken.set()
        raise self.fault


class Patient(Pipe):
    """Somebody who looks on, and asks nothing before the model has been woken."""

    is_watched = True

    def __init__(self, model: Waking) -> None:
        super().__init__()
        self.model = model

    def read(self) -> str | None:
        assert self.model.woken.wait(60)
        return super().read()


@pytest.mark.parametrize(
    "fault", [ASLEEP, ImportError("the SDK is away"), OSError("the disk is away"), ValueError("all is away")]
)
def test_while_a_person_types_the_model_is_made_ready_and_its_fault_is_left_for_the_question(
    talk: Talk, fault: Exception
) -> None:
    model = Waking(fault)
    code, out, err = talk(model, "Is tea good?", face=Patient(model))
    assert (code, out) == (0, "Yes.\n")
    assert model.woken_by not in ("", threading.main_thread().name)
    assert str(fault) not in err
    piped = Waking(fault)
    talk(piped, "Is tea good?")
    assert not piped.woken.is_set()


class Held(Pipe):
    """A pipe at whose end somebody presses Ctrl-C as soon as something is said."""

    def hear(self, event: Any) -> None:
        super().hear(event)
        if isinstance(event, TextDelta) and not self.is_pressed:
            self.is_pressed = True
            signal.raise_signal(signal.SIGINT)

    is_pressed = False


def test_ctrl_c_in_a_pipe_keeps_what_was_said_and_asks_no_more(talk: Talk, folder: Path) -> None:
    face = Held()
    before = signal.getsignal(signal.SIGINT)
    code, out, err = talk(Endless(), "Tell me a story.", "And another.", face=face)
    assert face.is_pressed
    assert signal.getsignal(signal.SIGINT) is before
    assert code == 130
    assert set(out.split()) == {"on"}
    assert err.endswith(
        "Interrupted: the user interrupted. What was said is kept.\n"
        "Ended. Nothing is lost: `looseleaf distill` makes memory of what was said.\n"
    )
    with Memory(folder) as memory:
        (turn,) = memory.talk.turns()
    assert [trace.trace_type for trace in turn.traces] == ["user", "assistant"]
    assert turn.traces[1].content.strip() == out.strip()


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Reply("A lon", stop="length"), "The answer ends here: it is as long as max_tokens allows."),
        (Reply("I must", stop="refused"), "The answer ends here: its provider held the rest back."),
    ],
)
def test_an_answer_that_is_not_whole_is_said_to_be_so(talk: Talk, reply: Reply, sentence: str) -> None:
    _, out, err = talk([reply], "Is tea good?")
    assert out == f"{reply.text}\n"
    assert sentence in err


def test_a_price_that_nobody_knows_is_not_made_up(talk: Talk) -> None:
    known = [Reply("Yes.", usage=USAGE)]
    for model in (
        Priced(known, "somebody-s-own"),
        Priced(["Yes."], "gpt-4o"),
        ScriptedModel(known, "gpt-4o"),
    ):
        _, _, err = talk(model, "Is tea good?")
        assert " tokens read" in err
        assert "$" not in err
    _, _, err = talk(Priced(known, "gpt-4o"), "Is tea good?")
    assert "$" in err


# --- which model -----------------------------------------------------------------------


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's key is in the environment, and no Ollama answers."""
    import os

    for name in os.environ:
        if name.endswith(("_API_KEY", "_AUTH_TOKEN", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")


@pytest.mark.usefixtures("alone")
def test_without_a_model_one_is_told_how_to_get_one(run: Run) -> None:
    code, out, err = run("chat", stdin=b"Hello?\n")
    assert (code, out, err) == (2, "", f"looseleaf: {NO_MODEL}\n")


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("variable", "package", "extra"),
    [
        ("OPENAI_API_KEY", "openai", "openai"),
        ("DEEPSEEK_API_KEY", "openai", "openai"),
        ("ANTHROPIC_API_KEY", "anthropic", "anthropic"),
        ("GEMINI_API_KEY", "google.genai", "gemini"),
    ],
)
def test_a_chat_whose_package_is_missing_fails_before_anything_is_asked(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, package: str, extra: str
) -> None:
    monkeypatch.setenv(variable, "k")
    monkeypatch.setitem(sys.modules, package, None)
    code, out, err = run("chat", stdin=b"Hello?\n")
    sentence = f"the package {package_of(extra)!r} is not installed. Install it with {to_get(extra)}."
    assert (code, out, err) == (2, "", f"looseleaf: No model was asked: {sentence}\n")
    with Memory(folder) as memory:
        assert memory.talk.turns() == []


@pytest.mark.usefixtures("alone")
def test_a_chat_is_no_document(run: Run) -> None:
    code, _, err = run("chat", "--json")
    assert (code, "Leave out --json" in err) == (2, True)


def test_help_of_chat_names_its_commands_and_what_it_looks_for_in_the_environment(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run("chat", "--help")
    words = capsys.readouterr().out.replace(",", " ").replace(";", " ").split()
    keys = ("ANTHROPIC", "OPENAI", "GEMINI", "OPENROUTER", "DEEPSEEK", "LOOSELEAF")
    places = ("OLLAMA_HOST", "OPENAI_BASE_URL", "LOOSELEAF_BASE_URL", "PROVIDER/NAME")
    named = {*(f"/{name}" for name in COMMANDS), *(f"{name}_API_KEY" for name in keys), *places}
    assert sorted(named - {*words}) == []


# --- commands --------------------------------------------------------------------------


def test_help_lists_every_command_and_each_is_one(talk: Talk) -> None:
    _, out, _ = talk([], "/help")
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("/")]
    assert listed == [f"/{name}" for name in COMMANDS]
    for name in COMMANDS:
        _, out, _ = talk([], f"/{name}")
        assert "there is no command" not in out
    for typed in ("/HELP", "/ help", "/", " / ", "/ Help"):
        assert talk([], typed)[1].startswith("/help "), typed


def test_an_unknown_command_is_asked_of_nobody_and_a_path_is_a_question(talk: Talk) -> None:
    _, out, _ = talk([], "/frget Lyon")
    assert out.startswith("Nothing was done: there is no command /frget.")
    _, out, _ = talk(reflecting("It is a program."), "/usr/bin/env: what is that?")
    assert out == "It is a program.\n"


def test_why_leads_from_a_word_in_the_prompt_to_who_said_it(talk: Talk) -> None:
    _, out, _ = talk(reflecting("Fine."), "I live in Lyon.", "/why Lyon", "/why", "/why Perth")
    assert "“Lyon” is in the prompt" in out
    assert "user, turn_0001" in out
    assert "/why needs words" in out
    assert "“Perth” is not in the prompt" in out


def test_memory_shows_the_user_and_the_pages(talk: Talk, folder: Path) -> None:
    (folder / "USER.md").write_text("# User\n\n- Home: Lyon\n")
    (folder / "facts/garden.md").write_text("# Garden\n\n> Summary: what grows\n\n- Roses: red\n")
    _, out, _ = talk([], "/memory")
    assert "- Home: Lyon\n" in out
    assert "facts/garden.md" in out
    assert "what grows" in out


def test_state_and_undo_are_the_command_lines_own(talk: Talk, folder: Path) -> None:
    _, out, err = talk([], '/state set goal "A quiet garden"', "/state", "/undo", "/state", "/undo no.md")
    assert "goal: A quiet garden\n" in out
    assert "Undone: set: goal (edit " in out
    assert "The state is empty. `/state goal TEXT` begins it.\n" in out
    assert "Nothing was undone: no.md has no edit left to undo." in err
    assert "looseleaf: " not in err


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("goal Ship it", "goal: Ship it"),
        ("GOAL don't panic", "goal: don't panic"),
        ("goal --toon is a flag", "goal: --toon is a flag"),
        ("set now Write the docs", "now:  Write the docs"),
        ("conventions.Style plain words", "  Style  plain words"),
        ("task Write docs", "  T-1  open  Write docs"),
        ("task add Write docs", "  T-1  open  Write docs"),
        ('task "Write docs"', "  T-1  open  Write docs"),
        ('task Say "hello" and "bye"', '  T-1  open  Say "hello" and "bye"'),
        ("block No key yet", "  1  No key yet"),
        ("decide Use Rust --why it is fast", "      why: it is fast"),
    ],
)
def test_what_stands_behind_state_is_text(talk: Talk, typed: str, shown: str) -> None:
    _, out, err = talk([], f"/state {typed}", "/state")
    assert shown in out.splitlines()
    assert len(err.splitlines()) == 1


def test_a_task_is_done_and_a_blocker_goes_by_what_it_is_called(talk: Talk) -> None:
    lines = (
        "/state task Write docs",
        "/state task done T-1",
        "/state block No key",
        "/state unblock No key",
    )
    _, out, _ = talk([], *lines, "/state")
    assert "It is done, and an episode now: T-1\n" in out
    assert out.endswith("The state is empty. `/state goal TEXT` begins it.\n")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (
            "/state dance",
            "Nothing was changed: there is no /state dance. After /state comes one of goal, now, ",
        ),
        ("/state goal", "Nothing was changed: write /state goal TEXT."),
        ("/state task", "Nothing was changed: write /state task TEXT, or /state task done ID."),
        ("/state task done", "Nothing was changed: write /state task TEXT, or /state task done ID."),
        ("/state restore it", "Nothing was changed: write /state restore."),
        ("/cost by weather", "Nothing was shown: write /cost, /cost by model (or day, purpose, agent), or "),
        ("/cost days -1", "Nothing was shown: write /cost, "),
        ("/cost --agent", "Nothing was shown: write /cost, "),
        ("/cost --help", "Nothing was shown: write /cost, "),
        ("/compact now", "Nothing was compacted: write /compact, or /compact --dry-run "),
    ],
)
def test_a_command_that_is_written_otherwise_is_answered_with_how_it_is_written(
    talk: Talk, folder: Path, typed: str, told: str
) -> None:
    before = (folder / "log").exists()
    _, out, err = talk([], typed)
    assert out.startswith(told)
    assert (out.count("\n"), err.count("\n"), (folder / "log").exists()) == (1, 1, before)


_WORDS = st.sampled_from(
    "goal now set task add done decide block unblock restore conventions.x --why --toon --json --help -- - -x ' = "
    '"'.split()
)


@given(words=st.lists(_WORDS | st.text("a-\"' \n", max_size=4), max_size=5))
@example(words=["decide", "x", "--why", "-y"])
@example(words=["decide", "--why", "--why", "--"])
@example(words=["set", "--", "--"])
def test_whatever_is_typed_behind_state_argparse_is_never_asked(words: list[str]) -> None:
    typed = " ".join(words).strip()
    try:
        arguments = cli_commands.state_arguments(typed)
    except Refused:
        return
    parse(["state", *arguments])  # which would end the program


def test_commands_of_the_shell_are_named_as_they_are_called_here() -> None:
    said = (
        "`looseleaf state set FIELD VALUE`, `looseleaf undo state.json`, `looseleaf state task add TITLE`, "
        "`looseleaf log`"
    )
    assert cli_commands.chat_spelling(said) == (
        "`/state set FIELD VALUE`, `/undo state.json`, `/state task TITLE`, `looseleaf log`"
    )


def test_compact_shows_what_it_lost(talk: Talk, folder: Path) -> None:
    with Memory(folder) as memory, memory.batch() as batch:
        for number in range(12):
            batch.record(user=f"Note {number}: I like roses. {'They are red. ' * 100}")
            batch.record(assistant="Noted.")
    _, out, _ = talk([], "/compact")
    assert "dropped: " in out
    assert "everything is still there: looseleaf expand" in out


def test_a_window_that_would_not_become_shorter_is_not_compacted(talk: Talk, folder: Path) -> None:
    with Memory(folder) as memory, memory.batch() as batch:
        for number in range(7):
            batch.record(user=f"I decided on rose {number}.")
            batch.record(assistant="Yes.")
    with Memory(folder) as memory:
        loss = memory.window.compact(model="gpt-4o", dry_run=True)
        assert loss is not None
        assert loss.tokens_after >= loss.tokens_before  # else this test shows nothing
        before = memory.window.read().messages
    _, out, _ = talk([], "/compact")
    assert out == (
        f"Nothing was compacted: there is nothing to gain. The window has {loss.tokens_before:,} tokens, and would "
        f"have {loss.tokens_after:,}.\n"
    )
    with Memory(folder) as memory:
        assert memory.window.read().messages == before
    assert talk([], "/compact --dry-run")[1].startswith("A dry run: nothing was written.")


def test_cost_shows_what_the_chat_took(talk: Talk) -> None:
    for typed, name in (
        ("--by purpose", "chat"),
        ("by purpose", "chat"),
        ("by model", "gpt-4o"),
        ("model days 3", "gpt-4o"),
        ("by agent --days=3", "main"),
    ):
        _, out, _ = talk(reflecting("Yes."), "Is tea good?", f"/cost {typed}")
        assert re.search(rf" [1-9],000 .* {name}\n", out), typed
    assert "No model was called by bob in the last 7 days." in talk([], "/cost --agent bob")[1]


# --- forgetting ------------------------------------------------------------------------


@pytest.fixture
def known(folder: Path) -> Path:
    (folder / "USER.md").write_text("# User\n\n- Name: Zhang San\n- Home: Lyon\n- Likes: Lyon in spring\n")
    return folder


def test_a_fact_is_forgotten_when_a_person_says_yes(talk: Talk, known: Path) -> None:
    face = Asked("y")
    _, out, _ = talk([], "/forget zhang", "/undo", face=face)
    assert face.questions == ["Forget it? [y/N]"]
    shown, gone, undone, back = out.splitlines()
    assert shown.startswith("1. f_")
    assert gone.startswith("forgotten: f_")
    assert "Name: Zhang San" in gone
    assert undone.startswith("Undone: ")
    assert back == "USER.md says again: “Name: Zhang San”"
    assert "- Name: Zhang San\n" in (known / "USER.md").read_text()
    talk([], "/forget zhang", face=Asked("yes"))
    assert "Zhang San" not in (known / "USER.md").read_text()


@pytest.mark.parametrize(
    ("answer", "left"),
    [("1", ["Likes"]), ("2", ["Home"]), ("1, 2", []), ("all", []), ("2 2", ["Home", "Likes"])],
)
def test_of_several_facts_those_go_that_a_person_names(
    talk: Talk, known: Path, answer: str, left: list[str]
) -> None:
    talk([], "/forget lyon", face=Asked(answer))
    text = (known / "USER.md").read_text()
    assert [name for name in ("Home", "Likes") if f"- {name}:" in text] == left
    assert "- Name: Zhang San\n" in text


@pytest.mark.parametrize("answer", ["", "n", "no", "y", "3", "0", "1 3", "none", "1-2", "²", "all 1", "-1"])
def test_an_answer_that_is_not_clear_forgets_nothing(talk: Talk, known: Path, answer: str) -> None:
    before = (known / "USER.md").read_bytes()
    _, out, _ = talk([], "/forget lyon", face=Asked(answer))
    assert out.endswith("Nothing was forgotten.\n")
    assert (known / "USER.md").read_bytes() == before


def test_where_nobody_can_be_asked_nothing_is_forgotten(talk: Talk, known: Path) -> None:
    before = (known / "USER.md").read_bytes()
    _, out, _ = talk([], "/forget zhang", "/forget USER.md", "/forget", "/forget Perth")
    assert "`looseleaf reject ID` forgets one." in out
    assert "there is no terminal to ask at. Do this in a chat at a terminal." in out
    assert "/forget needs words" in out
    assert "no fact says 'Perth'" in out
    assert (known / "USER.md").read_bytes() == before


def test_a_page_is_removed_when_a_person_says_yes(talk: Talk, known: Path) -> None:
    page = known / "facts/garden.md"
    page.write_text("# Garden\n\n- Roses: red\n")
    talk([], "/forget facts/garden.md", face=Asked("no"))
    assert page.exists()
    _, out, _ = talk([], "/forget facts/garden.md", face=Asked("y"))
    assert out.startswith("facts/garden.md was removed (")
    assert not page.exists()


def test_so_many_facts_are_not_asked_about(talk: Talk, folder: Path) -> None:
    lines = "".join(f"- Colour {number}: red\n" for number in range(21))
    (folder / "facts/garden.md").write_text(f"# Garden\n\n{lines}")
    face = Asked()
    _, out, _ = talk([], "/forget red", face=face)
    assert "Nothing was forgotten: 21 facts say that." in out
    assert face.questions == []


# --- Markdown that streams -------------------------------------------------------------

PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            "# |## |- |* |1. |7) |  |    |\t|```|```py|~~~|> |---|***|**|`|_|[a](http://x.example/?q)|![i](x)|<b>|</b>"
            "|<script>|&#27;|&#x202e;|&lt;|[r]: http://y.example|\\|\x1b[31m|\x07|\x9b2J|\u202e|\r".split("|")
        ),
        st.just("| a | b |\n|---|---|\n| c | d |\n"),
        st.sampled_from(["\n", "\n\n", "\n", " "]),
        st.text("abcxyz", min_size=1, max_size=6),
    ),
    max_size=40,
).map("".join)
CUTS = st.lists(st.integers(1, 7), max_size=60)


def cut(text: str, sizes: Sequence[int]) -> Iterator[str]:
    for size in sizes:
        yield text[:size]
        text = text[size:]
    yield text


def streamed(text: str, sizes: Sequence[int]) -> list[Any]:
    blocks = Blocks()
    return [*(block for piece in cut(text, sizes) for block in blocks.feed(piece)), *blocks.end()]


def screen(text: str, sizes: Sequence[int] = (), width: int = 60) -> str:
    from rich.console import Console

    file = io.StringIO()
    shown = RenderedBlocks(
        Console(file=file, force_terminal=True, color_system="truecolor", width=width, highlight=False)
    )
    for piece in cut(text, sizes):
        shown.feed(piece)
    shown.end()
    return file.getvalue()


@given(text=PIECES, sizes=CUTS)
@example(text="- a\n\n    b\n- c\n~~~\n", sizes=[1] * 20)
def test_the_blocks_of_a_text_are_the_text_however_it_was_cut_up(text: str, sizes: list[int]) -> None:
    blocks = streamed(text, sizes)
    assert "".join(block.text for block in blocks) == text
    assert blocks == streamed(text, [])


@given(text=PIECES, sizes=CUTS)
@example(text="&#27;[31m <a href='&#x9b;'> &#x202e;", sizes=[])
@example(text="[\x1b]0;x\x07](http://x/\x1b[2J) `\x1b[31m`\n```\n\x1b[2J\n", sizes=[])
def test_whatever_an_answer_says_it_only_colours_its_own_words(text: str, sizes: list[int]) -> None:
    out = screen(text, sizes)
    assert out == screen(text)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", bare)


@given(text=PIECES)
@example(text="[abc]: http://x.example\n\n<xyz>\n![abc](xyz)")
@example(text="- ```py")
def test_every_word_of_an_answer_is_on_the_screen(text: str) -> None:
    bare = re.sub(r"\x1b\[[0-9;]*m", "", screen(text, width=4000))
    shown = re.sub(r"\s+", "", bare)
    # What a fence is called is not shown; links, HTML and entities are, as text.
    told = re.sub(r"(?m)^(?:[ \t]|[-*+>]|\d+[.)])*(```|~~~).*$", "", text)
    for word in re.findall("[abcxyz]+", re.sub(r"\x1b\[31m|\x9b2J", "", told)):
        assert word in shown


CODE = st.lists(st.text(" \tab{}*_#<>&[]-1.\\", max_size=12), min_size=1, max_size=8)


@given(lines=CODE, sizes=CUTS)
@example(lines=["def f():", "    if x:", "        return 1", "", "    y"], sizes=[])
def test_code_is_shown_as_it_was_written(lines: list[str], sizes: list[int]) -> None:
    out = screen("```py\n" + "\n".join(lines) + "\n```\n", sizes)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", out)
    *shown, after, end = bare.split("\n")
    assert shown == [f"    {line.expandtabs(4)}" for line in lines]
    assert (after, end) == ("", "")  # code stands apart


def test_blocks_look_as_they_should() -> None:
    text = (  # what an answer says, and what is to be seen of it
        "# Tea\nIt is *good*: see [here](http://tea.example/).\n\n- green\n- black\n  - Assam\n\n"
        "3. boil\n\n   wait\n4. pour\n"
        "```sh\nboil   --at 100  # °C\n\n\tpour\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> So it is.\n\nEnd."
    )
    bare = re.sub(r"\x1b\[[0-9;]*m", "", screen(text))
    assert bare == (
        "Tea\nIt is good: see here (http://tea.example/).\n\n • green\n • black\n    • Assam\n\n"
        " 3 boil\n\n   wait\n 4 pour\n"
        "\n    boil   --at 100  # °C\n    \n        pour\n\n a  b\n ────\n 1  2\n\n▌ So it is.\n\nEnd.\n"
    )
