"""The chat on a real terminal, with a provider on this machine: the story of two sittings, Ctrl-C, a paste."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Memory
from providing import Answer, Asked, Provider, Stall

pexpect = pytest.importorskip("pexpect", reason="terminals are opened with pexpect")

Sitting = Callable[..., Any]
SECONDS = 60
PROMPT = "\r?> "
BEGINNING = "Once there was a garden.\n\n"
STORY = BEGINNING + "It had roses. " * 200


def brain(asked: Asked) -> Answer:
    """Knows nothing but what it reads: a name is said only if the memory in the prompt has it as a fact."""
    if "A task is over." in asked.everything:
        if asked.results:
            return Answer("The user said who he is.")
        name = re.search(r"I'm (Zhang San)", asked.everything)
        entry = f"- Name: {name[1]}" if name else "- Note: nothing"
        return Answer(calls=[("memory_append", {"path": "USER.md", "entry": entry})])
    known = re.search(r"\bName: (\w+ \w+)", asked.everything)
    if "Who am I?" in asked.said:
        return Answer(f"You are **{known[1]}**." if known else "I do not know you.")
    if "lines?" in asked.said:
        return Answer(f"It has {len(asked.said.splitlines())} lines.")
    if "story" in asked.said:
        return Answer(STORY)
    return Answer("\x1b]0;owned\x07Nice to *meet* you.\n\n- tea\n- cake\n")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(brain) as made:
        yield made


@pytest.fixture
def sitting(folder: Path, provider: Provider) -> Iterator[Sitting]:
    """A chat in a process of its own, on a terminal of its own."""
    opened: list[Any] = []

    def open_chat(*options: str) -> Any:
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder.parent),
            "LOOSELEAF_MACHINE": "here",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "OLLAMA_HOST": provider.address,
        }
        child = pexpect.spawn(
            sys.executable,
            ["-m", "looseleaf", "--memory", str(folder), "chat", "--model", "ollama/tea-1", *options],
            env=environment,
            encoding="utf-8",
            timeout=SECONDS,
            dimensions=(24, 80),
            use_poll=True,  # select() knows no descriptor over 1023
        )
        opened.append(child)
        child.expect(PROMPT)
        return child

    yield open_chat
    for child in opened:
        child.close(force=True)


def ended(child: Any) -> str:
    """All that was still shown, once it has ended by itself."""
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    return bare(child.before)


def bare(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "")


def test_who_said_his_name_in_one_sitting_is_known_in_the_next(sitting: Sitting, folder: Path) -> None:
    first = sitting()
    first.sendline("Who am I?")
    first.expect("I do not know you")
    first.expect(PROMPT)
    first.sendline("I'm Zhang San. Write code in English, please.")
    first.expect("cake")
    shown = first.before
    first.expect(PROMPT)
    # What the model said cannot name the window; what is Markdown is shown as such.
    assert "\x1b]0;" not in shown
    assert "\\x1b]0;owned\\x07Nice to meet you." in bare(shown)
    assert " • tea\n" in bare(shown)
    first.sendeof()
    assert "added: Name: Zhang San  (said)\n" in ended(first)
    assert "- Name: Zhang San\n" in (folder / "USER.md").read_text()

    second = sitting()
    second.sendline("Who am I?")
    second.expect(r"You are .*Zhang San")
    second.expect(PROMPT)
    second.sendline("/forget zhang")
    second.expect(r"Forget it\? \[y/N\] ")
    second.sendline("y")
    second.expect("forgotten: f_")
    second.expect(PROMPT)
    second.send("\x1b[A\r")  # the arrow up: what was typed before, but not the answer to the question
    second.expect("no fact says 'zhang'")
    second.expect(PROMPT)
    second.sendline("/quit")
    ended(second)
    assert "Zhang San" not in (folder / "USER.md").read_text()
    home = [path.name for path in folder.parent.iterdir()]
    assert home == ["memory"]  # no history of what was typed is left anywhere


@pytest.mark.long
def test_ctrl_c_ends_an_answer_and_what_was_said_is_kept(
    sitting: Sitting, folder: Path, provider: Provider
) -> None:
    child = sitting("--no-tools")
    provider.faults.append(Stall(4000))
    child.sendline("Tell me a story.")
    assert provider.stalled.wait(SECONDS)
    child.expect("Once there was a garden.")
    child.sendintr()
    child.expect("Interrupted: the user interrupted. What was said is kept.")
    child.expect(PROMPT)
    assert provider.fired
    assert provider.hung_up.wait(SECONDS)
    child.send("half a thought")
    child.expect("half a thought")
    child.sendintr()  # takes back what was typed
    if child.expect([PROMPT, pexpect.TIMEOUT], timeout=10):
        child.sendintr()  # one that comes just before readline waits is seen with the next one only
        child.expect(PROMPT)
    child.sendline("Who am I?")
    child.expect("I do not know you")
    child.expect(PROMPT)
    child.sendintr()  # where nothing was typed, it ends
    ended(child)
    with Memory(folder) as memory:
        traces = [trace for turn in memory.talk.turns() for trace in turn.traces]
    assert [trace.content for trace in traces if trace.trace_type == "user"] == [
        "Tell me a story.",
        "Who am I?",
    ]
    cut = traces[1]
    assert cut.tags == ("interrupted",)
    assert cut.content.startswith(BEGINNING)
    assert STORY.startswith(cut.content)


def test_what_is_pasted_or_goes_on_is_one_message(sitting: Sitting, folder: Path) -> None:
    child = sitting("--no-tools")
    child.send("\x1b[200~How many lines?\none\ntwo\x1b[201~")
    child.send("\r")
    child.expect("It has 3 lines")
    child.expect(PROMPT)
    child.sendline("How many lines?\\")
    child.expect("… ")
    child.sendline("two")
    child.expect("It has 2 lines")
    child.expect(PROMPT)
    child.sendeof()
    ended(child)
    with Memory(folder) as memory:
        asked = [turn.traces[0].content for turn in memory.talk.turns()]
    assert asked == ["How many lines?\none\ntwo", "How many lines?\ntwo"]
