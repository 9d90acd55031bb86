"""The agent from end to end, over HTTP, with each provider's own SDK against a server that speaks its wire.

The server's model reads what it is sent and answers from that alone: what memory did not put into the prompt it cannot
know. Tests are named after what the seeds ask to be shown.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pytest

from looseleaf import Memory, models
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
)
from looseleaf.agent.loop import CONTINUE, Agent
from looseleaf.base.policy import Policy
from looseleaf.base.replies import Retrying, TextDelta, Usage
from providing import (
    KEY,
    WIRES,
    Answer,
    Asked,
    ContextExceeded,
    Cut,
    Fault,
    Malformed,
    Provider,
    Stall,
    Status,
)
from tables import check_rows, some

if TYPE_CHECKING:
    from looseleaf.agent.events import Event

ROOT = Path(__file__).parents[2]
MODELS = {"openai": "gpt-5", "openai-chat": "gpt-4o", "anthropic": "claude-sonnet-4-5"}
MODELS |= {"gemini": "gemini-2.5-flash", "ollama": "llama3.2"}
CLASSES = {"openai": "OpenAI", "openai-chat": "OpenAIChat", "anthropic": "Anthropic"}
CLASSES |= {"gemini": "Gemini", "ollama": "Ollama"}


def model_of(wire: str, provider: Provider, **more: Any) -> Any:
    given: dict[str, Any] = {"base_url": provider.base_url(wire), "pause": 0.01} | more
    if wire != "ollama":
        given["api_key"] = KEY
    return getattr(models, CLASSES[wire])(MODELS[wire], **given)


def run(agent: Agent, text: str) -> list[Event]:
    return list(agent.run(text))


def of(kind: type, events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def answer_to(agent: Agent, text: str) -> str:
    events = run(agent, text)
    assert not of(FailedEvent, events), of(FailedEvent, events)
    [done] = of(Done, events)
    return str(done.text)


def is_reflecting(asked: Asked) -> bool:
    return "memory_write" in asked.tools and "recall" not in asked.tools


# --- a model that knows only what it reads -------------------------------------------------

LOGGER = """## Fixed logger stdout leak
- Summary: The logger wrote to stdout and broke the protocol.
- Problem: Logger wrote to stdout
- Solution: Send the logger to stderr
- Lesson: Keep stdout for the protocol
"""


def reader(asked: Asked) -> Answer | str:
    """Talks, and reflects."""
    if is_reflecting(asked):
        return _reflects(asked)
    said = next((text for role, text in reversed(asked.texts) if role == "user" and text != CONTINUE), "")
    if "my name" in said:
        named = re.findall(r"Name: ([A-Z]\w+ [A-Z]\w+)", asked.everything)
        return f"Your name is {named[-1]}." if named else "I do not know your name."
    if "bug did we fix" in said:
        told = re.search(r"[Ll]ogger.{0,40}stdout.*", asked.everything)
        return f"We fixed this: {told[0]}" if told else "I do not know of any."
    return "Noted."


def _reflects(asked: Asked) -> Answer | str:
    if asked.results:
        return "What lasts is kept."
    if "Zhang San" in asked.everything and "- Name: Zhang San" not in asked.everything:
        return Answer(
            calls=[("memory_write", {"path": "facts/user.md", "content": "# User\n\n- Name: Zhang San\n"})]
        )
    if "logger" in asked.everything:
        return Answer(calls=[("memory_append", {"path": "episodes/2026-02.md", "entry": LOGGER})])
    return "Nothing lasts."


@pytest.fixture
def folder(place: Path) -> Path:
    return place / "m"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(reader) as made:
        yield made
        assert made.complaints == []


# --- 002, acceptance -----------------------------------------------------------------------


def test_002_criterion_1_remembers_user_info_across_restarts(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))
        with Provider(reader) as provider:
            with Memory(folder) as memory:
                agent = Agent(memory, model_of(wire, provider))
                assert answer_to(agent, "What's my name?") == "I do not know your name."
                events = run(agent, "I'm Zhang San, and we work on the parser together.")
                assert of(Reflected, events)[0].placed
            page = (folder / "USER.md").read_text()
            assert "- Name: Zhang San" in page
            with Memory(
                folder, agent="another"
            ) as memory:  # which has heard nothing: only the pages can tell it
                assert (
                    answer_to(Agent(memory, model_of(wire, provider)), "What's my name?")
                    == "Your name is Zhang San."
                )
                assert not [turn for turn in memory.talk.turns() if "Zhang San" in turn.traces[0].content]
            assert provider.complaints == []

    check_rows(check, WIRES)


def test_002_criterion_2_remembers_past_work(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))
        with Provider(reader) as provider:
            with Memory(folder) as memory:
                agent = Agent(memory, model_of(wire, provider))
                run(
                    agent,
                    "Fix the bug: the logger writes to stdout and breaks the protocol. Send the logger to stderr.",
                )
            [episodes] = (folder / "episodes").iterdir()
            assert "logger" in episodes.read_text()
            with Memory(folder, agent="another") as memory:
                told = answer_to(Agent(memory, model_of(wire, provider)), "What bug did we fix last time?")
                assert "logger" in told.casefold()
                assert "stdout" in told
            assert provider.complaints == []

    check_rows(check, some(WIRES, 2))


def test_002_criterion_3_human_readable_files(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))
        with Provider(reader) as provider:
            with Memory(folder) as memory:
                run(
                    Agent(memory, model_of(wire, provider)),
                    "I'm Zhang San, and we work on the parser together.",
                )
            lines = (folder / "USER.md").read_text().splitlines()
            assert lines[0].startswith("# ")
            assert any(line.startswith("> Summary: ") for line in lines)
            assert "- Name: Zhang San" in lines
            assert all(line == "" or line.startswith(("# ", "## ", "> ", "- ")) for line in lines)
            assert provider.complaints == []

    check_rows(check, some(WIRES, 2))


def test_002_criterion_4_human_editable(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))
        with Provider(reader) as provider:
            with Memory(folder) as memory:
                agent = Agent(memory, model_of(wire, provider))
                run(agent, "I'm Zhang San, and we work on the parser together.")
                page = folder / "USER.md"
                page.write_text(page.read_text().replace("Zhang San", "Zhang Wei"))
                assert answer_to(agent, "What's my name?") == "Your name is Zhang Wei."
            assert provider.complaints == []

    check_rows(check, some(WIRES, 2))


def test_002_criterion_6_test_coverage_of_95_percent_is_asked_for() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["coverage"]
    assert settings["report"]["fail_under"] >= 95
    assert settings["run"]["branch"] is True
    assert "--cov" in (ROOT / "Makefile").read_text().partition("\ncoverage:")[2].partition("\n\n")[0]


# --- 004, runtime simulation ---------------------------------------------------------------


def test_004_flow_16_1_simple_user_to_assistant(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))
        with Provider(reader) as provider:
            with Memory(folder) as memory:
                (folder / "SOUL.md").write_text("Answer briefly.\n")
                agent = Agent(memory, model_of(wire, provider), reflect=False)
                events = run(agent, "Hello there.")
                assert "".join(event.text for event in of(TextDelta, events)) == "Noted."
                [asked] = provider.asked
                assert "Answer briefly." in asked.system
                assert "Hello there." in asked.said
                assert [(trace.trace_type, trace.content) for trace in memory.talk.turns()[0].traces] == [
                    ("user", "Hello there."),
                    ("assistant", "Noted."),
                ]
                assert of(Done, events)[0].usage == provider.usage
            assert provider.complaints == []

    check_rows(check, some(WIRES, 2))


def test_004_flow_16_2_user_to_tool_call_to_result_to_assistant(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))

        def brain(asked: Asked) -> Answer | str:
            if not asked.results:
                calls = [("list_directory", {"path": "src"}), ("list_directory", {"path": 'ü\n"tests"'})]
                return Answer("I look.", "Two folders.", calls)
            return "Three files."

        seen: list[str] = []

        def list_directory(path: str) -> list[str]:
            """List a folder."""
            seen.append(path)
            return ["app.ts", "parser.ts"] if path == "src" else ["test_parser.ts"]

        with Provider(brain) as provider, Memory(folder) as memory:
            events = run(
                Agent(memory, model_of(wire, provider), [list_directory], reflect=False), "What is there?"
            )
            assert of(Done, events)[0].text == "Three files."
            assert sorted(seen) == ["src", 'ü\n"tests"']
            first, second = provider.asked
            assert "list_directory" in first.tools
            assert [name for name, _ in second.calls] == ["list_directory"] * 2
            assert {json.dumps(json.loads(text)) for _, text in second.results} == {
                '["app.ts", "parser.ts"]',
                '["test_parser.ts"]',
            } or all(word in second.everything for word in ("app.ts", "test_parser.ts"))
            assert second.texts[-1] == ("user", CONTINUE)
            types = [trace.trace_type for trace in memory.talk.turns()[0].traces]
            assert types == ["user", "assistant", *["tool_call"] * 2, *["tool_result"] * 2, "assistant"]
            assert provider.complaints == []

    check_rows(check, some(WIRES, 2))


def test_004_flow_16_3_compaction_boundary(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))
        words = " ".join(f"word{n}" for n in range(120))

        def brain(asked: Asked) -> Answer | str:
            if "distill_answer" in json.dumps(asked.body):
                return json.dumps({"summary": "They spoke of many words.", "facts": []})
            return Answer(f"Yes: {words}", usage=Usage(prompt_tokens=3400, output_tokens=100))

        policy = Policy(context_tokens=4500, max_tokens=300)
        with Provider(brain) as provider, Memory(folder, policy=policy) as memory:
            agent = Agent(memory, model_of(wire, provider), memory_tools=False, reflect=False)
            events = [event for n in range(10) for event in run(agent, f"Tell me of {n}.")]
            assert not of(FailedEvent, events)
            losses = of(Compacted, events)
            assert losses
            assert losses[0].loss.level == "distiller"
            assert "They spoke of many words." in provider.asked[-1].everything
            budget = memory.window.budget(MODELS[wire]).input
            assert all(each.manifest.total_tokens <= budget for each in of(Prompted, events))
            assert len(memory.talk.turns(100)) == 10
            assert provider.complaints == []

    check_rows(check, some(WIRES, 2))


def test_a_restart_in_the_middle_of_a_tool_call_loses_nothing_and_runs_nothing_twice(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))
        runs: list[str] = []

        def pay(bill: str) -> str:
            runs.append(bill)
            return "paid"

        def brain(asked: Asked) -> Answer | str:
            if "Pay the bill." in asked.said:
                return Answer("I pay.", calls=[("pay", {"bill": "rent"})])
            return "I do not know whether it was paid." if "Was it paid?" in asked.everything else "?"

        with Provider(brain) as provider:
            memory = Memory(folder)
            first = Agent(memory, model_of(wire, provider), [pay], reflect=False).run("Pay the bill.")
            while not isinstance(next(first), ToolCalled):
                pass  # and here the process dies: nobody closes anything
            with Memory(folder) as again:
                agent = Agent(again, model_of(wire, provider), [pay], reflect=False)
                assert answer_to(agent, "Was it paid?") == "I do not know whether it was paid."
                assert runs == []
                asked = provider.asked[-1]
                assert ("pay", {"bill": "rent"}) in asked.calls
                assert [name for name, _ in asked.results] == ["pay"]
                assert "I pay." in asked.everything
            assert provider.complaints == []
            del first

    check_rows(check, some(WIRES, 2))


# --- what goes wrong -----------------------------------------------------------------------

FAULTS: dict[str, Fault] = {
    "cut before anything": Cut(),
    "cut in the middle": Cut(150),
    "429 with Retry-After": Status(429, retry_after=0.05),
    "500": Status(500),
}


def test_a_fault_on_the_line_is_survived(place: Path) -> None:
    def check(wire: str, fault: str) -> None:
        folder = Path(mkdtemp(dir=place))
        with Provider(reader, faults=[FAULTS[fault]]) as provider, Memory(folder) as memory:
            events = run(Agent(memory, model_of(wire, provider), reflect=False), "Hello there.")
            assert provider.fired == [FAULTS[fault]]
            assert provider.requests == 2
            assert of(Retrying, events)
            assert of(Done, events)[0].text == "Noted."
            assert [trace.content for trace in memory.talk.turns()[0].traces] == ["Hello there.", "Noted."]

    check_rows(check, some([(wire, fault) for wire in WIRES for fault in FAULTS], 8))


def test_a_provider_that_stays_down_gives_a_sentence_and_loses_nothing(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))
        with Provider(reader, faults=[Status(500)] * 3) as provider, Memory(folder) as memory:
            agent = Agent(memory, model_of(wire, provider, retries=1), reflect=False)
            [failed] = of(FailedEvent, run(agent, "Hello there."))
            assert "500" in failed.sentence
            assert KEY not in failed.sentence
            assert [trace.content for trace in memory.talk.turns()[0].traces] == ["Hello there."]
            assert answer_to(agent, "And now?") == "Noted."
            assert "Hello there." in provider.asked[-1].everything

    check_rows(check, some(WIRES, 2))


def test_malformed_arguments_are_told_to_the_model_and_nothing_runs(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))

        runs: list[str] = []

        def pay(bill: str) -> str:
            runs.append(bill)
            return "paid"

        def brain(asked: Asked) -> Answer | str:
            return Answer(calls=[("pay", {"bill": "rent"})]) if not asked.results else "I see."

        with Provider(brain, faults=[Malformed()]) as provider, Memory(folder) as memory:
            events = run(Agent(memory, model_of(wire, provider), [pay], reflect=False), "Pay.")
            assert provider.fired == [Malformed()]
            assert "not a JSON object" in of(ToolReturned, events)[0].error
            assert "not a JSON object" in provider.asked[-1].everything
            assert runs == []
            assert of(Done, events)[0].text == "I see."
            assert provider.complaints == []

    # On the other wires arguments are JSON values, and cannot be malformed alone.
    check_rows(check, [wire for wire in WIRES if wire not in ("gemini", "ollama")])


def _raises(bill: str) -> str:
    raise ValueError(f"no money for {bill}")


def test_a_tool_that_is_unknown_or_raises_is_told_to_the_model(place: Path) -> None:
    def check(wire: str, what: str) -> None:
        folder = Path(mkdtemp(dir=place))

        def brain(asked: Asked) -> Answer | str:
            name = "_raises" if what == "raises" else "no_such_tool"
            return Answer(calls=[(name, {"bill": "rent"})]) if not asked.results else "I see."

        with Provider(brain) as provider, Memory(folder) as memory:
            events = run(Agent(memory, model_of(wire, provider), [_raises], reflect=False), "Pay.")
            words = "no money for rent" if what == "raises" else "there is no tool"
            assert words in provider.asked[-1].everything
            assert of(Done, events)[0].text == "I see."
            assert provider.complaints == []

    check_rows(check, [(wire, what) for wire in WIRES for what in ["unknown", "raises"]])


def test_a_prompt_that_the_provider_finds_too_long_is_compacted_and_asked_once_more(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))
        words = " ".join(f"word{n}" for n in range(100))
        with Memory(folder, policy=Policy(context_tokens=6000, max_tokens=300)) as memory:
            for n in range(14):
                memory.record(user=f"{n}: {words}")
                memory.record(assistant="Yes.")
            with Provider(reader, faults=[ContextExceeded()]) as provider:
                agent = Agent(memory, model_of(wire, provider), memory_tools=False, reflect=False)
                events = run(agent, "Hello there.")
                assert provider.fired == [ContextExceeded()]
                assert of(Compacted, events)
                assert of(Done, events)[0].text == "Noted."
                sizes = [
                    len(asked.everything) for asked in provider.asked if "distill" not in str(asked.body)
                ]
                assert sizes[-1] < sizes[0]
            assert len(memory.talk.turns(100)) == 15

    check_rows(check, some(WIRES, 2))


def test_an_interrupt_of_a_stream_that_hangs_keeps_what_was_said(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))
        import threading

        long = Answer(" ".join(f"word{n}" for n in range(2000)))
        with Provider(lambda asked: long, faults=[Stall(60_000)]) as provider, Memory(folder) as memory:
            agent = Agent(memory, model_of(wire, provider), reflect=False)
            heard = threading.Event()

            def ends() -> None:
                heard.wait(60)
                provider.stalled.wait(60)
                agent.interrupt("enough")

            waiter = threading.Thread(target=ends)
            waiter.start()
            events: list[Event] = []
            for event in agent.run("Count."):
                events.append(event)
                if len(of(TextDelta, events)) > 2:
                    heard.set()
            waiter.join()
            assert of(Interrupted, events) == [Interrupted("enough")]
            user, cut = memory.talk.turns()[0].traces
            assert cut.content.startswith("word0 word1")
            assert "interrupted" in cut.tags
            assert user.content == "Count."

    check_rows(check, some(WIRES, 2))


# --- costs ---------------------------------------------------------------------------------


def test_the_ledger_adds_up_to_the_servers_own_count(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))
        with Provider(reader) as provider:
            with Memory(folder) as memory:
                agent = Agent(memory, model_of(wire, provider))
                run(agent, "I'm Zhang San, and we work on the parser together.")
                run(agent, "What's my name?")
                total = memory.costs.total()
                assert total.calls == len(provider.answers) >= 4
                counted = ("prompt_tokens", "cached_tokens", "written_tokens", "output_tokens")
                assert [getattr(total, name) for name in counted] == [
                    getattr(provider.usage, name) for name in counted
                ]
            assert provider.complaints == []

    check_rows(check, some(WIRES, 2))


def test_at_the_ceiling_nobody_is_asked_and_the_rules_distill(folder: Path, provider: Provider) -> None:
    with Memory(folder, policy=Policy(day_tokens=300)) as memory:
        agent = Agent(memory, model_of("openai-chat", provider), reflect=False)
        answer_to(agent, "Hello there.")
        [failed] = of(FailedEvent, run(agent, "My name is Zhang San, and I prefer tabs over spaces."))
        assert "day_tokens" in failed.sentence
        agent.reflect()
        assert provider.requests == 1
        assert "- Name: Zhang San" in memory.pages.read("USER.md").text
    [day] = (folder / "days").iterdir()
    assert "ceiling" in day.read_text()


def test_reasoning_comes_back_to_its_provider_as_it_was(place: Path) -> None:
    def check(wire: str) -> None:
        folder = Path(mkdtemp(dir=place))

        def brain(asked: Asked) -> Answer | str:
            if not asked.results:
                return Answer("", "I should look first.", [("look", {})])
            return "Seen."

        def look() -> str:
            return "a tree"

        with Provider(brain) as provider, Memory(folder) as memory:
            events = run(Agent(memory, model_of(wire, provider), [look], reflect=False), "Look.")
            assert of(AnswerEvent, events)[0].reply.reasoning == "I should look first."
            opaque = json.dumps(
                [of(AnswerEvent, events)[0].reply.opaque, of(ToolCalled, events)[0].call.opaque]
            )
            sealed = re.findall(r'"(?:signature|encrypted_content|thought_?[sS]ignature)": "([^"]+)"', opaque)
            assert bool(sealed) is (wire in ("openai", "anthropic", "gemini"))
            assert all(each in json.dumps(provider.bodies[-1]) for each in sealed)
            assert provider.complaints == []

    check_rows(check, some(WIRES, 2))


# --- a provider that is slow -----------------------------------------------------------------


def test_the_time_limit_is_the_agents_else_the_models_else_the_settings(place: Path) -> None:
    def check(agents: float | None, models_own: float | None, settings: float) -> None:
        given: dict[str, Any] = {} if agents is None else {"seconds": agents}
        with (
            Provider(reader, faults=[Stall(None)]) as provider,
            Memory(Path(mkdtemp(dir=place)), policy=Policy(model_seconds=settings)) as memory,
        ):
            model = model_of("ollama", provider, seconds=models_own)
            [failed] = of(FailedEvent, run(Agent(memory, model, reflect=False, **given), "Hello there."))
            assert "did not answer within 0.1 seconds" in failed.sentence

    check_rows(check, [(0.1, 20.0, 30.0), (None, 0.1, 20.0), (None, None, 0.1), (0.1, None, 20.0)])


def test_the_time_limit_of_an_agent_holds_when_it_reflects(place: Path) -> None:
    slow = Answer("Too late.", fault=Stall(None))
    with (
        Provider(lambda asked: slow if is_reflecting(asked) else reader(asked)) as provider,
        Memory(place / "memory") as memory,
    ):
        agent = Agent(memory, model_of("ollama", provider, seconds=20.0), seconds=3.0)
        text = "My name is Zhang San. I live in Lyon and I work on the logger of our compiler."
        [reflected] = of(Reflected, run(agent, text))
        assert provider.stalled.is_set()
        assert any("within 3" in note for note in (reflected.why, *memory.notes)), (
            reflected.why,
            memory.notes,
        )
