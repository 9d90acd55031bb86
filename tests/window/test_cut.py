"""A window that is too long to be read is cut: its end stays, the rest is told by entries or waits, and nothing is
lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Memory, Policy
from looseleaf.base.messages import Distilled, Material, Noted, Trace
from looseleaf.integrations import detached
from looseleaf.log.turns import EARLIER, EPISODIC, SEMANTIC, Mark
from looseleaf.store.files import FileStore
from looseleaf.window import conversation

BUDGET = 2000
REACH = 8 * BUDGET


@pytest.fixture(autouse=True)
def _is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few hundred turns are long."""
    monkeypatch.setattr(conversation, "_AT_ONCE", REACH)
    monkeypatch.setattr(conversation, "_LONGEST_WINDOW", 2 * REACH)


class Counted:
    """A distiller that counts its calls."""

    name = "counted/1"

    def __init__(self) -> None:
        self.calls = 0

    def distill(self, material: Material, tokens: int) -> Distilled:
        self.calls += 1
        said = [trace for trace in material.traces() if trace.trace_type == "user"]
        kept = tuple(Noted(each.content, each.id) for each in said if "never" in each.content.lower())
        return Distilled(f"They talked from {said[0].content[:12]!r} on.", constraints=kept)


def opened(folder: Path, **more: Any) -> Memory:
    policy = Policy(context_tokens=BUDGET + 2, max_tokens=1, safety_margin_tokens=1)
    return Memory(folder, policy=policy, counter=lambda text: len(text) // 4, **more)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "m", distiller=Counted()) as made:
        yield made


def talk(memory: Memory, turns: int, first: int = 0) -> None:
    with memory.batch() as batch:
        for number in range(first, first + turns):
            batch.record(user=f"Question {number}: " + "word " * 20)
            batch.record(assistant=f"Answer {number}. " + "word " * 20)


def marks(memory: Memory) -> list[dict[str, Any]]:
    journal = memory.parts.context.store.read("journal")
    return [line.record for line in journal if line.record.get("kind") == "mark"]


def all_traces(memory: Memory) -> list[Trace]:
    lines = memory.parts.context.store.read("traces/main")
    return [trace for line in lines if (trace := Trace.from_record(line.record)) is not None]


def distilled(memory: Memory) -> list[str]:
    store = memory.parts.context.store
    return [
        trace.id
        for topic in store.folders("log/entries")
        for entry in store.folders(f"log/entries/{topic}")
        for trace in memory.talk.traces(entry)
    ]


def distiller_of(memory: Memory) -> Counted:
    found = memory.parts.own_distiller
    assert isinstance(found, Counted)
    return found


def test_the_first_prompt_reads_no_more_of_a_long_log_than_of_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    for name in ("read", "read_back"):
        real = getattr(FileStore, name)

        def counted(self: Any, stream: str, *more: Any, real: Any = real) -> Iterator[Any]:
            for line in real(self, stream, *more):
                read[-1] += stream.startswith("traces/")
                yield line

        monkeypatch.setattr(FileStore, name, counted)
    for turns in (400, 4000):
        read.append(0)
        with opened(tmp_path / str(turns)) as memory:
            talk(memory, turns)
        with opened(tmp_path / str(turns)) as memory:
            read[-1] = 0
            prompt = memory.prompt("What now?", budget=BUDGET)
            assert f"Answer {turns - 1}." in prompt.text
            assert prompt.manifest.total_tokens <= BUDGET
            assert len(memory.window.read().traces) < 100
    assert read[1] <= 1.2 * read[0]


def test_after_a_cut_everything_is_shown_in_an_entry_or_distilled_next(memory: Memory) -> None:
    talk(memory, 400)
    memory.window.messages()
    window = memory.window.read()
    shown = {trace.id for trace in (*window.tail, *window.traces)}
    recorded = [trace.id for trace in all_traces(memory)]
    waits = set(recorded) - shown - set(distilled(memory))
    assert waits
    assert window.mark is not None
    assert window.mark.left[:2] == (
        "turn_0001",
        max(each.turn_id for each in all_traces(memory) if each.id in waits),
    )
    assert memory.window.tokens() <= BUDGET
    memory.distill()
    found = distilled(memory)
    assert len(set(found)) == len(found)
    assert set(found) | shown == set(recorded)
    assert [problem for problem in memory.check() if problem.severity == "error"] == []
    assert memory.recall("Question 3")[0].text


def test_what_left_undistilled_is_named_until_it_is_distilled(memory: Memory) -> None:
    talk(memory, 400)
    prompt = memory.prompt("What now?", budget=BUDGET)
    first, last = memory.parts.conversation.window.mark.left[:2]  # type: ignore[union-attr,misc]
    assert f"{EARLIER}\nTurns 1 to {int(last[5:])} are in the log" in prompt.text
    [left] = [each for each in prompt.manifest.omitted if each.reason == "not_distilled"]
    assert left.of == (first, last)
    why = memory.explain.why("Question 7:")
    assert "waits in the log to be distilled" in str(why)
    memory.distill()
    talk(memory, 40, 400)
    later = memory.prompt("What now?", budget=BUDGET)
    assert EARLIER not in later.text
    assert marks(memory)[-1].get("left") is None


def test_prompts_after_a_cut_begin_with_the_one_before(memory: Memory) -> None:
    talk(memory, 400)
    first = memory.prompt(budget=BUDGET).messages
    memory.record(user="One more.")
    second = memory.prompt(budget=BUDGET).messages
    assert second[: len(first)] == first
    assert len(marks(memory)) == 2  # the cut, and the compaction


def test_where_all_was_distilled_the_cut_is_told_by_entries_and_costs_no_distilling(memory: Memory) -> None:
    memory.record(user="Never push to main.")
    talk(memory, 398)
    memory.record(user="Never feed the cat twice.")
    memory.record(assistant="I will not.")
    memory.distill()
    talk(memory, 4, 400)
    calls = distiller_of(memory).calls
    prompt = memory.prompt("What now?", budget=BUDGET)
    assert distiller_of(memory).calls == calls
    [mark] = marks(memory)
    assert mark["entry"] is None
    assert mark.get("left") is None
    assert 0 < len(mark["episodic"]) <= memory.policy.max_episodic_items
    assert "Constraint: Never feed the cat twice." in mark["semantic"]
    assert EPISODIC in prompt.text
    assert SEMANTIC in prompt.text
    assert "Answer 403." in prompt.text
    assert EARLIER not in prompt.text


def test_what_is_distilled_late_does_not_overrule_what_was_said_later(tmp_path: Path) -> None:
    with opened(tmp_path / "m") as memory:
        memory.record(user="I live in Lyon.", ts=1_600_000_000.0)
        memory.record(assistant="Fine.", ts=1_600_000_001.0)
        talk(memory, 400)
        memory.record(user="I live in Oslo now.")
        memory.record(assistant="Good.")
        talk(memory, 20, 400)
        memory.window.messages()
        assert [fact.object for fact in memory.facts(topic="user")] == ["Oslo"]
        memory.distill()
        assert [fact.object for fact in memory.facts(topic="user")] == ["Oslo"]
        assert "Lyon" in [fact.object for fact in memory.facts(topic="user", status="superseded")]


def test_open_calls_and_calls_whose_results_stay_are_kept(memory: Memory) -> None:
    memory.record(user="Look.")
    memory.record(tool_call="look", tool_args={"at": 1}, tool_call_id="old")
    memory.record(tool_call="look", tool_args={"at": 2}, tool_call_id="late")
    talk(memory, 400)
    memory.record(tool_result="It was there.", tool_call_id="late")
    memory.window.messages()
    talk(memory, 400, 400)
    memory.window.messages()
    calls = [trace.tool_call_id for trace in memory.window.read().traces if trace.trace_type == "tool_call"]
    assert "old" in calls
    memory.record(tool_result="At last.", tool_call_id="old")
    shown = [trace.trace_type for trace in memory.window.read().traces if trace.tool_call_id == "old"]
    assert shown == ["tool_call", "tool_result"]


def test_a_cut_through_a_turn_that_never_ends_keeps_the_call_of_each_result(tmp_path: Path) -> None:
    with opened(tmp_path / "m", session="one") as one, opened(tmp_path / "m", session="two") as two:
        one.record(user="Work.")
        one.record(tool_call="work", tool_args={}, tool_call_id="long")
        talk(two, 900)
        one.record(tool_result="Done.", tool_call_id="long")
        talk(two, 10, 900)
        assert two.parts.conversation.cut(None)
        window = two.window.read()
        assert len(window.traces) < 1000
        shown = [trace.trace_type for trace in window.traces if trace.tool_call_id == "long"]
        assert shown == ["tool_call", "tool_result"]


def test_a_current_turn_that_is_longer_than_the_reach_stays_whole_and_is_compacted(memory: Memory) -> None:
    talk(memory, 40)
    memory.record(user="Read it all.")
    for number in range(60):
        memory.record(tool_call="read", tool_args={"at": number}, tool_call_id=f"call_{number}")
        memory.record(tool_result=f"order_{number} " + "word " * 100, tool_call_id=f"call_{number}")
    messages = memory.window.messages()
    assert any(message.content == "Read it all." for message in messages)
    assert memory.window.tokens() <= BUDGET


def test_a_look_at_a_long_window_shows_its_end_and_writes_nothing(memory: Memory) -> None:
    talk(memory, 1000)
    before = list(memory.parts.context.store.read("journal"))
    window = memory.window.read()
    assert window.traces[-1].content.startswith("Answer 999.")
    assert 100 < len(window.traces) < 500
    assert memory.window.tokens() > BUDGET
    prompt = memory.prompt("What now?", budget=BUDGET, dry_run=True)
    assert "Answer 999." in prompt.text
    assert prompt.manifest.total_tokens <= BUDGET
    assert memory.talk.tool_calls() == []
    assert list(memory.parts.context.store.read("journal")) == before


def test_a_prompt_too_small_to_compact_for_cuts_only_what_no_model_could_see(tmp_path: Path) -> None:
    with opened(tmp_path / "m") as memory:
        talk(memory, 100)
        memory.prompt("What now?", budget=300)
        assert marks(memory) == []
        talk(memory, 1000, 100)
    with opened(tmp_path / "m") as memory:
        prompt = memory.prompt("What now?", budget=300)
        assert len(marks(memory)) == 1
        assert len(memory.window.read().traces) > 100
        assert memory.explain.replay(prompt.manifest.id) == prompt


def test_an_asked_for_compaction_of_a_long_window_is_made_and_the_request_is_settled(memory: Memory) -> None:
    talk(memory, 400)
    memory.window.request_compaction()
    memory.prompt("What now?", budget=BUDGET)
    assert memory.window.compaction_requested is None
    assert [mark["entry"] is None for mark in marks(memory)] == [True, False]


def test_a_read_only_memory_gives_the_end_of_a_long_window(memory: Memory, tmp_path: Path) -> None:
    talk(memory, 1000)
    journal = memory.parts.context.store.append

    def refuse(stream: str, records: Any) -> Any:
        from looseleaf.base.errors import Unwritten

        raise Unwritten("The disk is full.")

    memory.parts.context.store.append = refuse  # type: ignore[method-assign]
    assert memory.prompt("What now?", budget=300).manifest.total_tokens <= 300
    memory.parts.context.store.append = journal  # type: ignore[method-assign]
    assert marks(memory) == []


def test_the_background_of_hooks_cuts_a_window_that_gets_full_once_it_is_distilled(memory: Memory) -> None:
    talk(memory, 10)
    detached.work(memory)
    assert marks(memory) == []  # it fits
    for number in range(1, 6):
        talk(memory, 40, 40 * number)
        detached.work(memory)
        assert memory.window.tokens() <= BUDGET
    calls = distiller_of(memory).calls
    cuts = marks(memory)
    assert cuts
    assert all(mark["entry"] is None and mark.get("left") is None for mark in cuts)
    assert "Answer 239." in memory.prompt("What now?").text
    assert (distiller_of(memory).calls, len(marks(memory))) == (calls, len(cuts))


def test_the_background_leaves_talk_that_is_not_distilled_in_the_window(memory: Memory) -> None:
    talk(memory, 200)
    memory.parts.conversation.cut_ahead()
    assert marks(memory) == []


def test_a_mark_of_a_cut_is_read_back_and_one_without_its_member_left_nothing(memory: Memory) -> None:
    talk(memory, 400)
    assert memory.parts.conversation.cut(None)
    [record] = marks(memory)
    mark = Mark.from_record(record)
    assert mark.left == tuple(record["left"])
    assert mark.to_record().items() <= record.items()
    del record["left"]
    assert Mark.from_record(record) == mark.but(left=())


def test_an_entry_that_cannot_be_read_is_not_told(memory: Memory) -> None:
    talk(memory, 400)
    placed = memory.distill()
    last = Path(memory.path, "log/entries", placed[-1].entry, "meta.json")
    last.write_text("{}")
    talk(memory, 4, 400)
    assert memory.parts.conversation.cut(None)
    [mark] = marks(memory)
    assert mark["episodic"]
    assert placed[-1].entry not in dict(mark["episodic"])


def test_what_was_forgotten_while_a_cut_was_made_is_not_written_with_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.record(user="Never tell Mallory.")
    talk(memory, 400)
    memory.distill()
    parts = memory.parts.conversation
    real = parts._make_cut

    def forget_meanwhile(*given: Any) -> Any:
        mark = real(*given)
        if mark is not None and len(given) > 3 and memory.parts.context.store.edition() == before:
            memory.forget(match="Mallory")
        return mark

    before = memory.parts.context.store.edition()
    monkeypatch.setattr(parts, "_make_cut", forget_meanwhile)
    assert parts.cut(None)
    assert memory.parts.context.store.edition() != before
    assert marks(memory) == []
    assert parts.cut(None)
    assert len(marks(memory)) == 1
    assert "Mallory" not in str(marks(memory))


# --- a window that is too long, read and not cut -----------------------------------------


def test_a_long_window_that_is_read_again_is_as_if_it_was_read_for_the_first_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "_LONGEST_WINDOW", 1)
    path = tmp_path / "memory"
    with opened(path) as memory, opened(path) as other:
        talk(memory, 400)

        def check() -> None:
            told = memory.prompt("What now?", budget=BUDGET, dry_run=True)
            with opened(path) as afresh:
                assert afresh.prompt("What now?", budget=BUDGET, dry_run=True).messages == told.messages
                assert afresh.window.read().messages == memory.window.read().messages

        check()
        talk(memory, 3, 400)
        check()
        other.record(user="Another process.")
        other.record(tool_call="look", tool_call_id="c1")
        check()
        other.record(tool_result="seen", tool_call_id="c1")
        other.forget(match="Another process")
        check()
        memory.parts.context.store.rotate("traces/main")
        talk(other, 2, 403)
        check()
        other.prompt("Now.", budget=BUDGET)  # cuts it
        check()


def test_a_long_window_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "_LONGEST_WINDOW", 1)
    read: list[str] = []
    for name in ("read", "read_back"):
        real = getattr(FileStore, name)

        def counted(self: Any, stream: str, *more: Any, real: Any = real) -> Iterator[Any]:
            for line in real(self, stream, *more):
                read.extend([stream] * stream.startswith("traces/"))
                yield line

        monkeypatch.setattr(FileStore, name, counted)
    with opened(tmp_path / "memory") as memory:
        talk(memory, 400)
        memory.prompt("What now?", budget=BUDGET, dry_run=True)
        first = len(read)
        read.clear()
        memory.prompt("What now?", budget=BUDGET, dry_run=True)
        assert len(read) < first / 10
        read.clear()
        talk(memory, 1, 400)
        memory.prompt("What now?", budget=BUDGET, dry_run=True)
        assert len(read) < first / 10
