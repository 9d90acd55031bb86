"""Distilling in the background: the hook returns at once, and whatever is killed half-way is made up by the next one.

The processes are real ones: the hook's, the one that it starts, and the program that is asked as a model.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from forking import run_in_child
from hooking import Agent
from looseleaf import Memory
from looseleaf.base.messages import Trace
from looseleaf.base.policy import Policy
from looseleaf.cli.verbs.setup import patient
from looseleaf.integrations import detached
from looseleaf.integrations.hook_session import read_view
from looseleaf.log.entries import read_entry
from looseleaf.place import redistill
from programs import BY_CLAUDE, BY_RULES, Program, fact, is_alive, of_claude, path_with, until

QUINCES = "In the garden we put quinces along the wall."
NO_LOGIN = of_claude(None, is_error=True, result="Not logged in · Please run /login")


def answer(value: str, quote: str) -> str:
    return of_claude({"summary": f"They planted {value}.", "facts": [fact(value, quote)]})


@pytest.fixture
def claude(folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """It distills, as the settings say."""
    (folder / "looseleaf.toml").write_text('distiller = "claude-code"\n', encoding="utf-8")
    monkeypatch.setenv("PATH", path_with(place / "bin"))
    return Program(place / "bin", "claude")


@pytest.fixture
def agent(run: Run, place: Path, folder: Path) -> Iterator[Agent]:
    def hook(event: str, data: bytes) -> Any:
        code, out, err = run("hook", event, stdin=data)
        assert (code, err) == (0, "")
        return json.loads(out) if out else None

    yield Agent(hook, place / "one.jsonl")
    until(lambda: not workers(folder), "no process is left")


def workers(folder: Path) -> list[int]:
    """The processes that distill this memory in the background."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            command = (each / "cmdline").read_bytes().split(b"\0") if each.name.isdecimal() else []
        except OSError:
            continue
        if str(folder).encode() in command and command[-3:-1] == [b"hook", b"distill"]:
            found += [int(each.name)] if is_alive(int(each.name)) else []
    return found


def entries(folder: Path) -> list[dict[str, Any]]:
    """What each entry says of itself, in the order in which they were made."""
    metas = [json.loads(path.read_text()) for path in (folder / "log/entries").glob("*/*/meta.json")]
    return sorted(metas, key=lambda meta: meta["ts"])


def is_distilled(folder: Path) -> bool:
    with Memory(folder) as memory:
        view = read_view(memory.parts.context.store, "main")
        return bool(view["distilled"] == list(memory.parts.context.store.end("traces/main")))


def planted(folder: Path) -> set[str]:
    with Memory(folder) as memory:
        return {each.object for each in memory.facts() if each.relation == "Plants"}


def tell(agent: Agent, text: str) -> Any:
    agent.ask(text)
    return agent.say("Fine.")


# --- detached ----------------------------------------------------------------------------


def test_a_hook_returns_while_the_model_still_thinks_and_what_it_says_is_there_later(
    claude: Program, agent: Agent, folder: Path
) -> None:
    claude.plan(out=answer("quinces", QUINCES), wait=True)
    assert tell(agent, QUINCES) is None
    until(lambda: claude.calls, "the model is asked")
    assert entries(folder) == []  # the hook is back, and nobody has answered yet
    (worker,) = workers(folder)
    assert os.getsid(worker) == worker
    assert os.getsid(worker) != os.getsid(0)
    for stream in (0, 1, 2):
        assert os.readlink(f"/proc/{worker}/fd/{stream}") == os.devnull
    with Memory(folder, policy=Policy(lock_seconds=5.0)) as memory:
        memory.record(user="Nobody holds the lock while the model thinks.")
    claude.go()
    until(lambda: is_distilled(folder), "it is distilled")
    assert planted(folder) == {"quinces"}
    assert entries(folder)[0]["distiller"] == BY_CLAUDE


def test_the_rules_distill_in_the_background_too(claude: Program, agent: Agent, folder: Path) -> None:
    (folder / "looseleaf.toml").unlink()
    assert tell(agent, "I live in Lyon now.") is None
    until(lambda: is_distilled(folder), "it is distilled")
    assert [meta["distiller"] for meta in entries(folder)] == [BY_RULES]
    assert claude.calls == []


def test_a_session_begins_with_what_the_rules_learn_from_the_one_before(agent: Agent, folder: Path) -> None:
    """Also where that one was killed, and nothing is at work."""
    agent.ask("I live in Lyon now.")
    assert not is_distilled(folder)
    assert "- Home: Lyon" in agent.start()
    assert is_distilled(folder)
    with Memory(folder) as memory, memory.parts.files.alone(detached.CHORE):
        agent.ask("I live in Oslo now.")
        assert "- Home: Lyon" in agent.start(), "another process works on it, and takes too long"
    assert "- Home: Oslo" in agent.start()


def test_one_process_at_a_time_distills_a_memory_and_takes_what_came_meanwhile(
    claude: Program, agent: Agent, folder: Path
) -> None:
    claude.plan(out=answer("quinces", QUINCES), wait=True)
    tell(agent, QUINCES)
    until(lambda: claude.calls, "the model is asked")
    first = workers(folder)
    for number in range(3):
        tell(agent, f"Note {number} about the weather.")
    until(lambda: workers(folder) == first, "the others have gone again")
    assert len(claude.calls) == 1
    claude.go()
    until(lambda: is_distilled(folder), "all of it is distilled")
    assert len(claude.calls) == 2  # once for what came first, once for all that came meanwhile
    assert sum(len(meta["turn_ids"]) for meta in entries(folder)) == 4


def test_a_chore_is_nobodys_when_its_process_has_died(folder: Path) -> None:
    with Memory(folder) as one, Memory(folder) as other:
        with one.parts.files.alone(detached.CHORE) as is_alone:
            assert is_alone
            with other.parts.files.alone(detached.CHORE) as is_alone_too:
                assert not is_alone_too
        with other.parts.files.alone(detached.CHORE) as is_alone:
            assert is_alone

        def die_at_it() -> None:
            with one.parts.files.alone(detached.CHORE):
                os.kill(os.getpid(), signal.SIGKILL)

        assert run_in_child(die_at_it) == -signal.SIGKILL
        with other.parts.files.alone(detached.CHORE) as is_alone:
            assert is_alone


@pytest.mark.parametrize("event", ["stop", "session-start"])
def test_what_was_killed_half_way_is_made_up_by_the_next_hook_and_nothing_is_doubled(
    claude: Program, agent: Agent, folder: Path, event: str
) -> None:
    claude.plan(out=answer("quinces", QUINCES), wait=True, child=True)
    tell(agent, QUINCES)
    until(lambda: claude.calls, "the model is asked")
    (worker,) = workers(folder)
    killed = [worker, *claude.calls[0]["pids"]]
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not any(map(is_alive, killed)), "all of them are dead")
    assert entries(folder) == []
    assert not is_distilled(folder)
    claude.plan(out=answer("quinces", QUINCES))
    agent.tell(event, source="startup")
    until(lambda: is_distilled(folder), "the next hook makes it up")
    assert len(claude.calls) == 2
    assert [meta["distiller"] for meta in entries(folder)] == [BY_CLAUDE]
    assert planted(folder) == {"quinces"}
    page = (folder / "facts/garden.md").read_text()
    assert page.count("quinces") == 1
    with Memory(folder) as memory:
        assert [each for each in memory.check() if each.severity != "note"] == []


def test_in_the_background_a_model_has_as_long_as_a_call_of_it_may_take() -> None:
    assert patient(Policy(distill_seconds=5.0, model_seconds=9.0)).distill_seconds == 9.0
    assert patient(Policy(distill_seconds=9.0, model_seconds=5.0)).distill_seconds == 9.0
    assert patient(Policy(tidy=True)).tidy


def test_a_promise_is_told_by_the_next_hook_once(claude: Program, agent: Agent, folder: Path) -> None:
    claude.plan(out=of_claude({"summary": "They talked of monads.", "facts": []}))
    agent.ask("What is a monad?")
    assert agent.say("I've saved that to memory for you.") is None
    until(lambda: is_distilled(folder), "it is distilled")
    until(lambda: not workers(folder), "the process is gone")
    assert "saved" in agent.ask("Thanks.")["systemMessage"]
    assert agent.tell("user-prompt", prompt="And a functor?") is None


def test_that_no_process_can_be_started_is_told_and_loses_nothing(
    claude: Program, agent: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(sys, "executable", "/nowhere/python")
        told = tell(agent, QUINCES)
    assert "the process did not start" in told["systemMessage"]
    assert entries(folder) == []
    claude.plan(out=answer("quinces", QUINCES))
    agent.stop()
    until(lambda: is_distilled(folder), "the next hook makes it up")
    assert planted(folder) == {"quinces"}


# --- redistilled when it is there again ----------------------------------------------------


def test_where_the_model_fails_the_rules_distil_and_that_is_told_once(
    claude: Program, agent: Agent, folder: Path
) -> None:
    claude.plan(out=NO_LOGIN, code=1)
    tell(agent, "I live in Lyon now.")
    until(lambda: is_distilled(folder), "the rules have distilled")
    until(lambda: not workers(folder), "the process is gone")
    with Memory(folder) as memory:
        assert ("Home", "Lyon") in [(each.relation, each.object) for each in memory.facts()]
    (told,) = agent.ask("Go on.")["systemMessage"].splitlines()
    assert "The rules distilled instead" in told
    assert "Claude Code did not answer: it is not logged in" in told
    agent.say("Yes.")
    until(lambda: is_distilled(folder) and not workers(folder), "it has failed again")
    assert len(claude.calls) == 2
    assert agent.ask("And on.") is None


def test_what_the_rules_made_in_its_place_is_made_again_when_it_is_there(
    claude: Program, agent: Agent, folder: Path
) -> None:
    claude.plan(out=NO_LOGIN, code=1)
    tell(agent, QUINCES)
    until(lambda: is_distilled(folder) and not workers(folder), "the rules have distilled")
    (before,) = entries(folder)
    assert (before["distiller"], before["level"]) == (BY_RULES, "rules")
    assert "not logged in" in before["failures"][0]
    assert planted(folder) == set()
    claude.plan(out=answer("quinces", QUINCES))
    tell(agent, "The weather is fine.")
    until(lambda: is_distilled(folder) and not workers(folder), "all of it is distilled")
    made = [meta for meta in entries(folder) if meta.get("instead")]
    assert [(meta["distiller"], meta["level"], meta["failures"]) for meta in made] == [
        (BY_CLAUDE, "distiller", [])
    ]
    assert planted(folder) == {"quinces"}
    asked = len(claude.calls)
    tell(agent, "It rains.")
    until(lambda: is_distilled(folder) and not workers(folder), "all of it is distilled")
    assert len(claude.calls) == asked + 1  # what was made again is not made again


class Plain:
    """A distiller that says what it is told to, and counts."""

    name = "plain/1"

    def __init__(self) -> None:
        self.read: list[list[str]] = []
        self.fails = False

    def distill(self, material: Any, tokens: int) -> Any:
        from looseleaf.base.messages import Distilled

        traces: list[Trace] = list(material.traces())
        self.read.append([trace.content for trace in traces])
        if self.fails:
            raise OSError("It is down.")
        return Distilled(f"Read {len(traces)}.", None, ())


def failed_entries(memory: Memory, distiller: Plain, count: int) -> None:
    distiller.fails = True
    for number in range(count):
        memory.record(user=f"Note {number} about the weather.")
        memory.distill()
    distiller.fails = False
    distiller.read.clear()


def again(memory: Memory) -> Any:
    return memory.parts.making.redistill_failed()


def test_only_what_failed_is_made_again_by_itself(folder: Path) -> None:
    with Memory(folder) as memory:
        memory.record(user="The rules were asked for here.")
        memory.distill()
    plain = Plain()
    with Memory(folder, distiller=plain) as memory:
        memory.record(user="And this distiller here.")
        memory.distill()
        failed_entries(memory, plain, 1)
        assert again(memory).entries == 1
        assert plain.read == [["Note 0 about the weather."]]
        assert again(memory).entries == 0


def test_after_weeks_without_a_model_it_is_done_bit_by_bit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redistill, "AT_ONCE", 2)
    plain = Plain()
    with Memory(folder, distiller=plain) as memory:
        failed_entries(memory, plain, 5)
        assert [again(memory).entries for _ in range(4)] == [2, 2, 1, 0]
        assert len(plain.read) == 5


def test_an_entry_that_a_model_always_refuses_is_not_paid_for_again_and_again(folder: Path) -> None:
    plain = Plain()
    with Memory(folder, distiller=plain) as memory:
        failed_entries(memory, plain, 1)
        plain.fails = True
        for _ in range(redistill.TRIES + 3):
            again(memory)
        assert len(plain.read) == redistill.TRIES
        plain.fails = False
        assert memory.review.redistill(plain).read == 1  # a person may ask for it all the same


def test_that_no_model_was_found_is_a_failure_that_the_entry_tells(folder: Path) -> None:
    with Memory(folder, policy=Policy(distiller="claude-code/--bad")) as memory:
        memory.record(user="I live in Lyon now.")
        (placed,) = memory.distill()
        meta = read_entry(memory.parts.context.store, placed.entry).meta
        assert meta["distiller"] == BY_RULES
        assert "is not a model's name" in meta["failures"][0]
        assert "The rules distilled instead: No model was chosen" in memory.notes[0]
        assert again(memory) is None
    plain = Plain()
    with Memory(folder, distiller=plain) as memory:
        assert again(memory).entries == 1


def test_what_the_user_forbids_to_remember_is_not_shown_to_who_makes_it_again(folder: Path) -> None:
    plain = Plain()
    with Memory(folder, distiller=plain) as memory:
        plain.fails = True
        memory.record(user="I like quinces.")
        memory.record(user="My salary is 4711, but do not remember that.")
        memory.distill()
        shown = [list(each) for each in plain.read]
        plain.fails = False
        plain.read.clear()
        again(memory)
        assert shown == plain.read
        assert "4711" not in str(shown)
