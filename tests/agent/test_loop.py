"""The agent's loop, with a model that says what it is told to say and a real memory."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf import Memory
from looseleaf.agent.events import (
    AnswerEvent,
    Compacted,
    Done,
    FailedEvent,
    Interrupted,
    Prompted,
    Reflected,
    ToolCalled,
    ToolReturned,
    UserMessage,
)
from looseleaf.agent.loop import CONTINUE, MOST_CALLS, Agent, insert_continue
from looseleaf.agent.tool_runner import OfferedTool, offer, schema_of
from looseleaf.base.errors import Invalid, ModelFailed, PromptTooLong, Refused, Unwritten
from looseleaf.base.messages import Message, ToolCallPayload, ToolCallSpec, ToolResultPayload
from looseleaf.base.policy import Policy
from looseleaf.base.replies import Reply, TextDelta, ToolSpec, Usage
from looseleaf.distill.rules import Rules
from looseleaf.models import OpenAIChat, ScriptedModel
from tables import check_rows

if TYPE_CHECKING:
    from looseleaf.agent.events import Event, Recorded


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "m") as memory:
        yield memory


def calling(*calls: tuple[str, Any], text: str = "") -> Reply:
    specs = [ToolCallSpec(f"call_{name}_{at}", name, args) for at, (name, args) in enumerate(calls)]
    return Reply(text, calls=tuple(specs), stop="tools")


def told(messages: Sequence[Message]) -> str:
    return "\n".join(str(message.to_dict()) for message in messages)


def of(kind: type, events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def run(agent: Agent, text: str) -> list[Event]:
    return list(agent.run(text))


def kinds(memory: Memory) -> list[str]:
    return [trace.trace_type for turn in memory.talk.turns(100) for trace in turn.traces]


# --- the flows of seed 004 ---------------------------------------------------------------


def test_a_question_and_its_answer_are_recorded_in_their_turn(memory: Memory) -> None:
    agent = Agent(memory, ScriptedModel(["The parser reads tokens."]), reflect=False)
    events = run(agent, "What does the parser do?")
    assert [type(event).__name__ for event in events if not isinstance(event, TextDelta)] == [
        "UserMessage",
        "Prompted",
        "AnswerEvent",
        "Done",
    ]
    assert "".join(event.text for event in of(TextDelta, events)) == "The parser reads tokens."
    [turn] = memory.talk.turns()
    assert [(trace.trace_type, trace.content) for trace in turn.traces] == [
        ("user", "What does the parser do?"),
        ("assistant", "The parser reads tokens."),
    ]
    assert [trace.source_event for trace in turn.traces] == [
        "LLMUserMessageReadyEvent",
        "LLMCompleteResponseReceivedEvent",
    ]


def test_a_call_its_result_and_the_answer_after_it(memory: Memory) -> None:
    seen: list[list[Message]] = []

    def last(messages: Any, tools: Any) -> str:
        seen.append(list(messages))
        return "There are two files."

    def list_directory(path: str) -> list[str]:
        """List a folder."""
        return ["app.ts", "parser.ts"]

    model = ScriptedModel([calling(("list_directory", {"path": "src"}), text="I look."), last])
    events = run(Agent(memory, model, [list_directory], reflect=False), "What is in src?")
    assert of(ToolReturned, events)[0].result == ["app.ts", "parser.ts"]
    assert of(Done, events)[0].text == "There are two files."
    assert kinds(memory) == ["user", "assistant", "tool_call", "tool_result", "assistant"]
    [messages] = seen
    assert messages[-1] == Message("user", CONTINUE)
    payload = messages[-2].tool_payload
    assert isinstance(payload, ToolResultPayload)
    assert payload.tool_result == ["app.ts", "parser.ts"]
    assert isinstance(messages[-3].tool_payload, ToolCallPayload)


def test_memory_is_told_once_in_a_prompt_whatever_the_step(memory: Memory) -> None:
    memory.pages.edit("facts/tea.md", "# Tea\n\n- Kind: oolong\n", reason="a test", author="person")
    seen: list[str] = []

    def again(messages: Any, tools: Any) -> Reply | str:
        seen.append(told(messages))
        return calling(("noop", {})) if len(seen) < 3 else "Done."

    def noop() -> str:
        return "ok"

    run(Agent(memory, ScriptedModel([again] * 3), [noop], reflect=False), "Go.")
    assert [text.count("facts/tea.md") for text in seen] == [1, 1, 1]
    assert all(later.startswith(earlier) for earlier, later in pairwise(seen))


def test_token_pressure_compacts_before_the_next_call(place: Path) -> None:
    policy = Policy(context_tokens=6000, max_tokens=500)
    words = " ".join(f"word{n}" for n in range(300))
    with Memory(place / "m", policy=policy, distiller=Rules()) as memory:
        said = [Reply(f"{words} {n}", usage=Usage(prompt_tokens=5200)) for n in range(8)]
        agent = Agent(memory, ScriptedModel(said), reflect=False, memory_tools=False)
        events = [event for n in range(8) for event in run(agent, f"Tell me about {n}.")]
        assert of(Compacted, events)
        assert not of(FailedEvent, events)
        budget = memory.window.budget("scripted").input
        assert all(each.manifest.total_tokens <= budget for each in of(Prompted, events))
        assert len(memory.talk.turns(100)) == 8


# --- tools -------------------------------------------------------------------------------


def test_calls_of_one_answer_run_side_by_side(memory: Memory) -> None:
    both = threading.Barrier(2, timeout=60)

    def meet(who: str) -> str:
        both.wait()
        return f"{who} was here"

    model = ScriptedModel([calling(("meet", {"who": "a"}), ("meet", {"who": "b"})), "They met."])
    events = run(Agent(memory, model, [meet], reflect=False), "Meet.")
    assert sorted(each.result for each in of(ToolReturned, events)) == ["a was here", "b was here"]


FAULTY = {
    "unknown": ("nothing_like_it", {}, "there is no tool 'nothing_like_it'"),
    "malformed": ("add", '{"a": 1, "b', "not a JSON object"),
    "wrong": ("add", {"a": "one", "b": 2}, "called wrongly: a: "),
    "missing": ("add", {"a": 1}, "required"),
    "raises": ("add", {"a": 1, "b": 0}, "ZeroDivisionError"),
}


def test_a_faulty_call_is_told_to_the_model_which_goes_on(place: Path) -> None:
    def check(fault: str) -> None:
        with Memory(mkdtemp(dir=place)) as memory:
            name, arguments, sentence = FAULTY[fault]
            done: list[int] = []

            def add(a: int, b: int) -> float:
                done.append(a)
                return a / b

            seen: list[str] = []

            def last(messages: Any, tools: Any) -> str:
                seen.append(told(messages))
                return "I see."

            events = run(
                Agent(memory, ScriptedModel([calling((name, arguments)), last]), [add], reflect=False), "Add."
            )
            [returned] = of(ToolReturned, events)
            assert sentence in returned.error
            assert sentence in seen[0].replace("\\'", "'")
            assert len(done) == (fault == "raises")
            assert of(Done, events)

    check_rows(check, FAULTY)


def test_a_tool_that_hangs_is_not_waited_for_and_is_heard_later(memory: Memory) -> None:
    release = threading.Event()
    runs: list[str] = []

    def slow() -> str:
        runs.append("slow")
        release.wait(60)
        return "the slow result"

    def quick() -> str:
        return "the quick result"

    model = ScriptedModel(
        [calling(("slow", {}), ("quick", {})), "I go on.", lambda messages, _: told(messages)]
    )
    agent = Agent(memory, model, [slow, quick], tool_seconds=0.2, reflect=False)
    events = run(agent, "Do both.")
    results = {each.call.name: each for each in of(ToolReturned, events)}
    assert results["quick"].result == "the quick result"
    assert "No result came" in results["slow"].error
    assert of(Done, events)[0].text == "I go on."
    release.set()
    while agent._recorder.late.empty():
        pass
    events = run(agent, "And?")
    [late] = of(ToolReturned, events)
    assert (late.is_late, late.result) == (True, "the slow result")
    assert "the slow result" in of(Done, events)[0].text
    assert runs == ["slow"]


def test_a_result_that_cannot_be_written_down_is_told_as_what_it_says_of_itself(memory: Memory) -> None:
    def strange() -> object:
        return {1, 2}

    model = ScriptedModel([calling(("strange", {})), "Fine."])
    [returned] = of(ToolReturned, run(Agent(memory, model, [strange], reflect=False), "Go."))
    assert returned.result == "{1, 2}"


def test_calls_with_one_id_are_two_calls(memory: Memory) -> None:
    call = ToolCallSpec("same", "quick", {})
    reply = Reply(
        calls=(call, ToolCallSpec("same", "quick", {}), ToolCallSpec("", "quick", {})), stop="tools"
    )

    def quick() -> str:
        return "done"

    run(Agent(memory, ScriptedModel([reply, "Fine."]), [quick], reflect=False), "Go.")
    [turn] = memory.talk.turns()
    calls = memory.talk.tool_calls(turn.turn_id)
    assert [each.status for each in calls] == ["SUCCESS"] * 3
    assert len({each.tool_call_id for each in calls}) == 3


def test_more_calls_than_can_run_at_once_are_told_so_and_not_carried_out(memory: Memory) -> None:
    runs: list[int] = []

    def count(n: int) -> int:
        runs.append(n)
        return n

    model = ScriptedModel([calling(*(("count", {"n": n}) for n in range(MOST_CALLS + 3))), "Enough."])
    events = run(Agent(memory, model, [count], reflect=False), "Count.")
    assert sorted(runs) == list(range(MOST_CALLS))
    assert sum("at once" in (each.error or "") for each in of(ToolReturned, events)) == 3
    assert [each.status for each in memory.talk.tool_calls("turn_0001")].count("PENDING") == 0


def test_the_memorys_own_tools_answer_and_are_no_news(memory: Memory) -> None:
    memory.pages.edit("facts/tea.md", "# Tea\n\n- Kind: oolong\n", reason="a test", author="person")
    model = ScriptedModel([calling(("memory_read", {"path": "facts/tea.md"})), "Oolong."])
    [returned] = of(ToolReturned, run(Agent(memory, model, reflect=False), "Which tea?"))
    assert "oolong" in returned.result
    assert not memory.parts.spoken().tools


def test_without_the_memorys_tools_a_model_is_offered_only_the_others(memory: Memory) -> None:
    offered: list[str] = []

    def look(messages: Any, tools: Any) -> str:
        offered.extend(each.name for each in tools)
        return "Fine."

    def quick() -> str:
        return ""

    run(Agent(memory, ScriptedModel([look]), [quick], memory_tools=False, reflect=False), "Go.")
    assert offered == ["quick"]


def test_an_asynchronous_tool_is_waited_for(memory: Memory) -> None:
    async def later(n: int) -> int:
        await asyncio.sleep(0)
        return n + 1

    model = ScriptedModel([calling(("later", {"n": 1}), ("later", {"n": 5})), "Fine."])
    events = run(Agent(memory, model, [later], reflect=False), "Go.")
    assert sorted(each.result for each in of(ToolReturned, events)) == [2, 6]


# --- pictures ------------------------------------------------------------------------------

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


def test_a_picture_is_sent_as_what_its_file_holds_and_recorded_as_its_path(
    memory: Memory, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "a.png").write_bytes(PNG)
    (place / "secret.png").write_text("no picture at all")
    monkeypatch.chdir(place)
    seen: list[Message] = []

    def look(messages: Any, tools: Any) -> str:
        seen.extend(messages)
        return "A picture."

    memory.record(user="An older one.", media={"images": [str(place / "b.png")]})
    (place / "b.png").write_bytes(PNG)  # a path that stands in the log, and that this program did not give
    agent = Agent(memory, ScriptedModel([look], name="gpt-5"), reflect=False)
    list(agent.run("What is this?", images=["a.png", "secret.png", "https://example.org/b.png"]))
    data = "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert seen[-1].image_urls == (data, str(place / "secret.png"), "https://example.org/b.png")
    assert seen[-2].image_urls == (str(place / "b.png"),)
    media = memory.talk.turns()[-1].traces[0].media
    assert media is not None
    assert media["images"] == [str(place / "a.png"), str(place / "secret.png"), "https://example.org/b.png"]


def test_one_picture_may_be_given_by_itself(memory: Memory, place: Path) -> None:
    (place / "a.png").write_bytes(PNG)
    agent = Agent(memory, ScriptedModel(["A picture."]), reflect=False)
    assert of(UserMessage, list(agent.run("What?", images=str(place / "a.png"))))[0].images == (
        str(place / "a.png"),
    )


@pytest.mark.parametrize("given", ["nosuch.png", [b"bytes"], [3]])
def test_a_picture_that_cannot_be_sent_is_refused_before_anything_is_recorded(
    memory: Memory, given: Any
) -> None:
    with pytest.raises(Refused, match="Nothing was asked"):
        Agent(memory, ScriptedModel(["?"])).run("What is this?", images=given)
    assert kinds(memory) == []


# --- limits and failures -----------------------------------------------------------------


def test_a_run_ends_at_the_limit_of_its_steps(memory: Memory) -> None:
    def noop() -> str:
        return "ok"

    model = ScriptedModel([calling(("noop", {}))] * 5)
    events = run(Agent(memory, model, [noop], steps=3, reflect=False), "Go round.")
    [done] = of(Done, events)
    assert (done.stop, done.steps) == ("steps", 3)
    assert kinds(memory).count("tool_result") == 3


def test_a_model_that_fails_gives_the_user_a_sentence_and_loses_nothing(memory: Memory) -> None:
    agent = Agent(
        memory, ScriptedModel([ModelFailed("The model did not answer: no line."), "Now."]), reflect=False
    )
    events = run(agent, "Are you there?")
    assert of(FailedEvent, events) == [FailedEvent("The model did not answer: no line.")]
    assert kinds(memory) == ["user"]
    assert of(Done, run(agent, "And now?"))[0].text == "Now."


@pytest.mark.parametrize(
    ("stop", "words"), [("length", "max_tokens"), ("refused", "held"), ("end", "Ask again")]
)
def test_an_empty_answer_is_said_to_be_one(memory: Memory, stop: Any, words: str) -> None:
    [failed] = of(FailedEvent, run(Agent(memory, ScriptedModel([Reply(stop=stop)]), reflect=False), "Well?"))
    assert words in failed.sentence


def test_a_prompt_that_the_provider_finds_too_long_is_compacted_and_asked_once_more(place: Path) -> None:
    words = " ".join(f"word{n}" for n in range(200))
    sizes: list[int] = []

    def long(messages: Any, tools: Any) -> Any:
        sizes.append(len(told(messages)))
        return PromptTooLong("The prompt is longer than the model takes.") if len(sizes) == 1 else "It fits."

    policy = Policy(context_tokens=8000, max_tokens=500)
    with Memory(place / "m", policy=policy, distiller=Rules()) as memory:
        for n in range(12):
            memory.record(user=f"{n}: {words}")
            memory.record(assistant="Yes.")
        agent = Agent(memory, ScriptedModel([long, long]), reflect=False, memory_tools=False)
        events = run(agent, "Still there?")
        assert of(Compacted, events)
        assert of(Done, events)[0].text == "It fits."
        assert sizes[1] < sizes[0]
        assert kinds(memory).count("user") == 13


def test_what_is_too_long_twice_is_said_so(memory: Memory) -> None:
    model = ScriptedModel([PromptTooLong("Too long."), PromptTooLong("Still too long."), "never"])
    events = run(Agent(memory, model, reflect=False), "Hm?")
    assert of(FailedEvent, events) == [FailedEvent("Still too long.")]
    assert len(of(Prompted, events)) == 2


def test_an_interrupt_keeps_what_was_said(memory: Memory) -> None:
    agent = Agent(memory, ScriptedModel(["One two three four five six."]), reflect=False)
    heard = ""
    events: list[Event] = []
    for event in agent.run("Count."):
        events.append(event)
        if isinstance(event, TextDelta):
            heard += event.text
            agent.interrupt("the user pressed a key")
    assert of(Interrupted, events) == [Interrupted("the user pressed a key")]
    [_, cut] = memory.talk.turns()[0].traces
    assert "One two three four five six.".startswith(cut.content)
    assert cut.content.strip()
    assert "interrupted" in cut.tags


def test_leaving_the_iteration_early_keeps_what_was_said(memory: Memory) -> None:
    agent = Agent(memory, ScriptedModel(["One two three four five six.", "Yes."]), reflect=False)
    for event in agent.run("Count."):
        if isinstance(event, TextDelta):
            break
    [_, cut] = memory.talk.turns()[0].traces
    assert "interrupted" in cut.tags
    assert of(Done, run(agent, "Are you free again?"))


def test_an_interrupt_while_tools_run_ends_their_calls(memory: Memory) -> None:
    started = threading.Event()

    def forever() -> str:
        started.set()
        threading.Event().wait(60)
        return "never"

    agent = Agent(memory, ScriptedModel([calling(("forever", {})), "Next."]), [forever], reflect=False)

    def ends() -> None:
        started.wait(60)
        agent.interrupt("enough")

    stopper = threading.Thread(target=ends)
    stopper.start()
    events = run(agent, "Wait for it.")
    stopper.join()
    assert of(Interrupted, events) == [Interrupted("enough")]
    [turn] = memory.talk.turns()
    [call] = memory.talk.tool_calls(turn.turn_id)
    assert call.error == "Interrupted: enough."
    assert of(Done, run(agent, "Go on."))


def test_two_runs_at_once_are_refused(memory: Memory) -> None:
    agent = Agent(memory, ScriptedModel(["One two.", "Three."]), reflect=False)
    first = agent.run("One?")
    next(first)
    with pytest.raises(Refused, match="still at work"):
        next(agent.run("Two?"))
    list(first)
    assert of(Done, run(agent, "Three?"))


def test_a_call_that_a_dead_process_left_is_ended_and_not_carried_out_again(place: Path) -> None:
    runs: list[str] = []

    def pay() -> str:
        runs.append("paid")
        return "paid"

    with Memory(place / "m") as memory:
        memory.record(user="Pay the bill.")
        memory.record(tool_call="pay", tool_call_id="call_1")
    with Memory(place / "m", policy=Policy(tool_seconds=1e-9)) as memory:
        seen: list[str] = []

        def last(messages: Any, tools: Any) -> str:
            seen.append(told(messages))
            return "I do not know whether it was paid."

        run(Agent(memory, ScriptedModel([last]), [pay], reflect=False), "Was it paid?")
        assert runs == []
        assert "it is not known whether this was carried out" in seen[0]
        assert [each.status for each in memory.talk.tool_calls("turn_0001")] == ["ERROR"]


def test_a_call_that_may_still_be_waited_for_is_left_alone(place: Path) -> None:
    with Memory(place / "m") as memory:
        memory.record(user="Pay the bill.")
        memory.record(tool_call="pay", tool_call_id="call_1")
    with Memory(place / "m") as memory:
        run(Agent(memory, ScriptedModel(["Wait."]), reflect=False), "Was it paid?")
        assert [each.status for each in memory.talk.tool_calls("turn_0001")] == ["PENDING"]


@pytest.mark.parametrize("stop", ["length", "refused", "cut"])
def test_calls_of_an_answer_that_is_not_whole_are_not_carried_out(memory: Memory, stop: Any) -> None:
    runs: list[str] = []

    def delete(path: str, dry_run: bool = False) -> str:
        runs.append(path)
        return "gone"

    half = Reply(calls=(ToolCallSpec("c", "delete", {"path": "/home"}),), stop=stop)
    events = run(Agent(memory, ScriptedModel([half, "I see."]), [delete], reflect=False), "Tidy up.")
    assert runs == []
    assert "in a whole answer" in of(ToolReturned, events)[0].error
    assert of(Done, events)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "deep"])
def test_arguments_that_the_log_cannot_hold_are_told_to_the_model(memory: Memory, value: Any) -> None:
    deep: Any = []
    for _ in range(300):
        deep = [deep]

    def quick(x: Any = None) -> str:
        return "done"

    given = {"x": deep if value == "deep" else value}
    calls = (ToolCallSpec("a", "quick", {}), ToolCallSpec("b", "quick", given))
    model = ScriptedModel([Reply(calls=calls, stop="tools"), "Fine."])
    events = run(Agent(memory, model, [quick], reflect=False), "Go.")
    came = {each.call.id: each.error for each in of(ToolReturned, events)}
    assert came["a"] is None
    assert "not a JSON object" in came["b"]
    assert of(Done, events)
    assert memory.talk.open_calls() == []


def test_a_run_that_is_left_while_tools_end_keeps_what_they_returned(memory: Memory) -> None:
    both = threading.Barrier(2, timeout=60)
    ended = threading.Semaphore(0)

    def meet(who: str) -> str:
        both.wait()
        ended.release()
        return f"{who} was here"

    model = ScriptedModel([calling(("meet", {"who": "a"}), ("meet", {"who": "b"})), "They met."])
    agent = Agent(memory, model, [meet], reflect=False)
    for event in agent.run("Meet."):
        if isinstance(event, ToolReturned):
            assert agent._running is not None
            while agent._running._came.empty():
                pass
            break
    results = [each.result for each in memory.talk.tool_calls("turn_0001")]
    assert sorted(results) == ["a was here", "b was here"]


def test_a_processor_that_raises_leaves_no_call_open(memory: Memory) -> None:
    class Broken:
        order = 10

        def process(self, event: Recorded) -> Recorded | None:
            if isinstance(event, ToolReturned):
                raise ValueError("broken")
            return None

    def quick() -> str:
        return "done"

    model = ScriptedModel([calling(("quick", {}), ("quick", {})), "Never."])
    with pytest.raises(ValueError, match="broken"):
        run(Agent(memory, model, [quick], processors=[Broken()], reflect=False), "Go.")
    assert memory.talk.open_calls() == []
    assert all("a processor failed" in (each.error or "") for each in memory.talk.tool_calls("turn_0001"))


def test_what_comes_when_a_run_is_left_passes_the_processors_too(memory: Memory) -> None:
    """A processor may be there to keep something out of the log."""
    both = threading.Barrier(2, timeout=60)

    class Redacting:
        order = 10

        def process(self, event: Recorded) -> Recorded | None:
            if isinstance(event, ToolReturned) and event.error is None:
                return ToolReturned(event.call, str(event.result).replace("SECRET", "*"))
            return None

    def meet(who: str) -> str:
        both.wait()
        return f"SECRET {who}"

    model = ScriptedModel([calling(("meet", {"who": "a"}), ("meet", {"who": "b"}))])
    agent = Agent(memory, model, [meet], processors=[Redacting()], reflect=False)
    for event in agent.run("Meet."):
        if isinstance(event, ToolReturned):
            assert agent._running is not None
            while agent._running._came.empty():
                pass
            break
    assert sorted(str(each.result) for each in memory.talk.tool_calls("turn_0001")) == ["* a", "* b"]


class Full:
    """A processor after which the disk is full, for as long as it is."""

    order = 899

    def __init__(self, kind: type) -> None:
        self.kind, self.is_full = kind, True

    def process(self, event: Recorded) -> Recorded | None:
        if isinstance(event, self.kind) and self.is_full:
            raise Unwritten("The record was not written: the disk is full.")
        return None


def test_an_answer_that_the_disk_would_not_take_is_recorded_when_it_does(memory: Memory) -> None:
    disk = Full(AnswerEvent)
    agent = Agent(memory, ScriptedModel(["First.", "Second."]), processors=[disk], reflect=False)
    assert "disk is full" in of(FailedEvent, run(agent, "One?"))[0].sentence
    disk.is_full = False
    run(agent, "Two?")
    told = [(trace.trace_type, trace.content) for turn in memory.talk.turns() for trace in turn.traces]
    assert told == [("user", "One?"), ("assistant", "First."), ("user", "Two?"), ("assistant", "Second.")]


def test_leaving_a_run_while_the_disk_is_full_leaves_the_agent_free(memory: Memory) -> None:
    disk = Full(AnswerEvent)
    agent = Agent(memory, ScriptedModel(["One two three.", "Yes."]), processors=[disk], reflect=False)
    left = agent.run("Count.")
    while not isinstance(next(left), TextDelta):
        pass
    left.close()
    assert any("disk is full" in note for note in memory.notes)
    disk.is_full = False
    assert of(Done, run(agent, "Are you free?"))


def test_a_model_of_ones_own_is_counted_and_kept_to_the_ceiling(place: Path) -> None:
    class Own:
        name, dialect = "own", "mine"
        asked = 0

        def stream(self, messages: Any, tools: Any = (), **options: Any) -> Iterator[Any]:
            self.asked += 1
            yield TextDelta("Yes.")
            yield Reply("Yes.", usage=Usage(prompt_tokens=90, output_tokens=10))

        def send(self, messages: Any, tools: Any = (), **options: Any) -> Any:
            return [*self.stream(messages, tools)][-1]

    model = Own()
    with Memory(place / "m", policy=Policy(day_tokens=150)) as memory:
        agent = Agent(memory, model, reflect=False)
        run(agent, "One?")
        run(agent, "Two?")
        assert "ceiling" in of(FailedEvent, run(agent, "Three?"))[0].sentence
        assert model.asked == 2
        assert memory.costs.total().tokens == 200


def test_more_calls_than_run_at_once_and_an_early_end_leave_none_open(memory: Memory) -> None:
    def quick() -> str:
        return "done"

    model = ScriptedModel([calling(*[("quick", {})] * (MOST_CALLS + 20))])
    for event in Agent(memory, model, [quick], reflect=False).run("Go."):
        if isinstance(event, ToolCalled):
            break
    assert memory.talk.open_calls() == []


def test_a_result_that_nests_deep_is_told_as_text(memory: Memory) -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]

    def strange() -> Any:
        return deep

    model = ScriptedModel([calling(("strange", {})), "Fine."])
    events = run(Agent(memory, model, [strange], reflect=False), "Go.")
    assert "too deep" in of(ToolReturned, events)[0].result
    assert of(Done, events)


# --- processors --------------------------------------------------------------------------


class Note:
    """Marks the text of what passes, and remembers what it saw."""

    def __init__(self, order: int, mark: str = "") -> None:
        self.order, self.mark = order, mark
        self.seen: list[Recorded] = []

    def process(self, event: Recorded) -> Recorded | None:
        self.seen.append(event)
        return UserMessage(f"{event.text}{self.mark}") if isinstance(event, UserMessage) else None


def test_processors_run_in_their_order_and_the_memory_records_what_they_made(memory: Memory) -> None:
    first, second, after = Note(100, " a"), Note(899, " b"), Note(901, " c")
    agent = Agent(memory, ScriptedModel(["Yes."]), processors=[after, second, first], reflect=False)
    events = run(agent, "Say")
    assert of(UserMessage, events) == [UserMessage("Say a b")]
    assert memory.talk.turns()[0].traces[0].content == "Say a b"
    assert [each.text for each in after.seen if isinstance(each, UserMessage)] == ["Say a b"]
    assert [type(each) for each in first.seen] == [UserMessage, AnswerEvent]


def test_a_processor_that_cleans_a_result_decides_what_is_recorded_and_told(memory: Memory) -> None:
    class Short:
        order = 500

        def process(self, event: Recorded) -> Recorded | None:
            if isinstance(event, ToolReturned):
                return ToolReturned(event.call, str(event.result)[:4], event.error)
            return None

    def verbose() -> str:
        return "word" * 100

    seen: list[str] = []

    def last(messages: Any, tools: Any) -> str:
        seen.append(told(messages))
        return "Short."

    model = ScriptedModel([calling(("verbose", {})), last])
    run(Agent(memory, model, [verbose], processors=[Short()], reflect=False), "Go.")
    assert "wordword" not in seen[0]
    assert memory.talk.tool_calls("turn_0001")[0].result == "word"


def test_a_processor_that_makes_another_kind_of_thing_is_told_so(memory: Memory) -> None:
    class Wrong:
        order = 1

        def process(self, event: Recorded) -> Recorded | None:
            return ToolCalled(ToolCallSpec("x", "y", {}))

    with pytest.raises(TypeError, match="Wrong made ToolCalled of UserMessage"):
        run(Agent(memory, ScriptedModel(["Yes."]), processors=[Wrong()], reflect=False), "Go.")
    assert kinds(memory) == []


# --- reflecting --------------------------------------------------------------------------


def test_after_a_run_what_was_said_is_distilled(memory: Memory) -> None:
    agent = Agent(memory, ScriptedModel(["Hello, Zhang San."] + [ModelFailed("no more")] * 20))
    events = run(agent, "My name is Zhang San, and I prefer tabs over spaces.")
    assert of(Reflected, events)[0].placed
    assert "- Name: Zhang San" in memory.pages.read("USER.md").text


def test_usage_adds_up_over_the_steps(memory: Memory) -> None:
    def noop() -> str:
        return "ok"

    call = ToolCallSpec("c", "noop", {})
    first = Reply(calls=(call,), usage=Usage(100, 40, 5, 7, 2), stop="tools")
    model = ScriptedModel([first, Reply("End.", usage=Usage(130, 100, 0, 3, 1))])
    [done] = of(Done, run(Agent(memory, model, [noop], reflect=False), "Go."))
    assert done.usage == Usage(230, 140, 5, 10, 3)


# --- pure parts --------------------------------------------------------------------------


def test_what_is_said_after_tools_follows_from_what_stands_before_it() -> None:
    def call(*ids: str) -> Message:
        specs = tuple(ToolCallSpec(each, "t", {}) for each in ids)
        return Message("assistant", tool_payload=ToolCallPayload(specs))

    def result(name: str) -> Message:
        return Message("tool", tool_payload=ToolResultPayload(name, "t", "r"))

    talk = [
        Message("user", "a"),
        call("1", "2"),
        result("2"),
        result("1"),
        Message("assistant", "b"),
        call("3"),
        Message("user", "c"),
        result("3"),
        result("3"),
        result("9"),
    ]
    whole = list(insert_continue(talk, "Go on."))
    assert [at for at, message in enumerate(whole) if message.content == "Go on."] == [4, 9]
    for length in range(len(talk)):
        assert whole[: len(list(insert_continue(talk[:length], "Go on.")))] == list(
            insert_continue(talk[:length], "Go on.")
        )
    assert list(insert_continue(talk, None)) == talk


def test_the_schema_of_a_function_is_read_off_its_signature() -> None:
    def find(query: str, k: int = 10, kinds: list[str] | None = None, exact: bool = False) -> None:
        """Find things.

        More about it.
        """

    made = offer(find)
    assert (made.spec.name, made.spec.description) == ("find", "Find things.")
    assert made.spec.parameters == {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "k": {"type": "integer"},
            "kinds": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            "exact": {"type": "boolean"},
        },
        "required": ["query"],
        "additionalProperties": False,
    }


def test_a_function_that_takes_arguments_by_place_is_refused() -> None:
    def by_place(a: int, /) -> None: ...

    with pytest.raises(Refused, match="by position"):
        schema_of(by_place)


@pytest.mark.parametrize("given", [3, "add", lambda: None])
def test_what_has_no_name_to_be_called_by_is_no_tool(memory: Memory, given: Any) -> None:
    with pytest.raises(Refused, match="is not a tool"):
        Agent(memory, ScriptedModel([]), [given])


def test_two_tools_of_one_name_are_refused(memory: Memory) -> None:
    own = OfferedTool(ToolSpec("recall", "", {"type": "object"}), lambda: None)
    with pytest.raises(Refused, match="two tools are called recall"):
        Agent(memory, ScriptedModel([]), [own])


WRONG: dict[str, tuple[Any, ...]] = {
    "no memory": ("folder", ScriptedModel([])),
    "no model": (None, "gpt-5"),
    "one tool": (None, ScriptedModel([]), print),
    "a number": (None, ScriptedModel([]), 5),
    "one processor": (None, ScriptedModel([]), [], {"processors": 5}),
    "no processor": (None, ScriptedModel([]), [], {"processors": [object()]}),
    "no such": (None, ScriptedModel([]), [], {"reflct": False}),
    "steps": (None, ScriptedModel([]), [], {"steps": "3"}),
    "for ever": (None, ScriptedModel([]), [], {"tool_seconds": float("inf")}),
}


def test_what_a_program_mixed_up_is_said_when_the_agent_is_made(place: Path) -> None:
    def check(what: str) -> None:
        with Memory(mkdtemp(dir=place)) as memory:
            given, model, *rest = WRONG[what]
            tools = rest[0] if rest else []
            with pytest.raises(Invalid, match="No agent was made"):
                Agent(given or memory, model, tools, **(rest[1] if len(rest) > 1 else {}))

    check_rows(check, WRONG)


def test_a_ceiling_in_dollars_that_cannot_hold_is_told(place: Path) -> None:
    with Memory(place / "m", policy=Policy(day_cost=1.0)) as memory:
        Agent(memory, OpenAIChat("mystery-9", base_url="http://127.0.0.1:1/v1", api_key="x"))
        assert any("day_cost cannot hold" in note for note in memory.notes)


@pytest.mark.parametrize("text", ["", "  \n", None])
def test_an_empty_request_is_refused(memory: Memory, text: Any) -> None:
    with pytest.raises(Invalid, match="the message is empty"):
        Agent(memory, ScriptedModel([])).run(text)
