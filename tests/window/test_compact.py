"""Compaction: the window fits, nothing said is lost, and what was dropped is said."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drawing import COSTLY, core, few
from looseleaf import Memory, Refused
from looseleaf.base.messages import (
    Distilled,
    Material,
    Message,
    Noted,
    ToolCallPayload,
    ToolResultPayload,
    Trace,
)
from looseleaf.base.policy import Policy
from looseleaf.log.turns import EPISODIC, RECENT, SEMANTIC, interactions, turn_number
from looseleaf.window.compaction_plan import CompactPlan, Loss, PlanItem, count_kept, plan
from secret_lines import planted
from tables import check_rows, some
from talking import Words, conversations, spelt_out

SMALL: dict[str, Any] = {"max_tokens": 1, "safety_margin_tokens": 1}


def count(text: str) -> int:
    """A plain counter: the properties hold for any."""
    return (len(text) + 3) // 4


def opened(folder: Path, budget: int, **more: Any) -> Memory:
    policy = Policy(context_tokens=budget + 2, **SMALL, **more.pop("policy", {}))
    return Memory(folder, policy=policy, counter=more.pop("counter", count), **more)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "memory", 2000) as made:
        yield made


def talk(memory: Memory, turns: int, size: int = 100) -> None:
    for number in range(turns):
        memory.record(user=f"Question {number}: what about item_{number}?")
        memory.record(tool_call="look", tool_args={"at": f"item_{number}"}, tool_call_id=f"call_{number}")
        memory.record(tool_result=f"It is order_{number}. " + "word " * size, tool_call_id=f"call_{number}")
        memory.record(assistant=f"Answer {number}.")


def all_traces(memory: Memory) -> list[Trace]:
    found = (
        Trace.from_record(line.record) for line in memory.parts.context.store.read(f"traces/{memory.agent}")
    )
    return [trace for trace in found if trace is not None]


def calls_of(messages: list[Message]) -> list[str]:
    payloads = [message.tool_payload for message in messages]
    return [call.id for each in payloads if isinstance(each, ToolCallPayload) for call in each.tool_calls]


# --- what must always be true ----------------------------------------------------------


def judge(memory: Memory, recorded: list[Trace], budget: int, system: str | None) -> None:
    """Everything that the memory promises of a window, whatever was said and however often it was compacted."""
    messages = memory.window.messages(system)
    window = memory.window.read()
    assert memory.window.tokens(system) <= budget
    assert sum(4 + sum(map(count, _texts(message))) for message in messages) <= budget  # counted by ourselves
    assert all_traces(memory) == recorded  # nothing is missing from log and archive, nothing is there twice
    shown = [*window.tail, *window.traces]
    ids = [trace.id for trace in shown]
    order = [trace.id for trace in recorded]
    assert len(set(ids)) == len(ids)  # nothing is told twice
    for part in (window.tail, window.traces):
        assert [trace.id for trace in part] == [
            each for each in order if each in {trace.id for trace in part}
        ]
    pending = {each.tool_call_id for each in interactions(recorded) if each.status == "PENDING"}
    assert pending <= set(calls_of(messages))  # no open call was summarised away
    open_now: set[str] = set()
    for message in messages:
        payload = message.tool_payload
        if isinstance(payload, ToolCallPayload):
            open_now.update(call.id for call in payload.tool_calls)
        elif isinstance(payload, ToolResultPayload):
            flagged = any(each.flag and each.tool_call_id == payload.tool_call_id for each in window.traces)
            assert payload.tool_call_id in open_now or flagged  # every result still follows its call
    distilled: list[str] = []
    for topic in memory.parts.context.store.folders("log/entries"):
        for entry in memory.parts.context.store.folders(f"log/entries/{topic}"):
            distilled += [trace.id for trace in memory.talk.traces(entry)]
    assert len(set(distilled)) == len(distilled)  # nothing was distilled twice
    assert not set(distilled) & set(ids)
    assert set(distilled) | set(ids) == set(order)  # everything is either told or can be expanded
    assert not [problem for problem in memory.check() if problem.severity == "error"]


def _texts(message: Message) -> list[str]:
    payload = message.tool_payload
    found = [text for text in (message.content, message.reasoning_content) if text]
    if isinstance(payload, ToolCallPayload):
        for call in payload.tool_calls:
            arguments = call.arguments if isinstance(call.arguments, str) else _compact_json(call.arguments)
            found.append(f"{call.id} {call.name} {arguments}")
    elif isinstance(payload, ToolResultPayload):
        result = payload.tool_result
        name = payload.tool_name
        found.append(
            f"{payload.tool_call_id} {name} {result if isinstance(result, str) else _compact_json(result)}"
        )
        found += [payload.tool_error] if payload.tool_error is not None else []
    return found


def _compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


SIZES = (0, 3, 40, 400, 3000, 20_000)
words = st.sampled_from(
    ["word ", "order_17 ", "Never delete it. ", "我们决定用它。", "a\n", "x", "[MEMORY:SEMANTIC]\n- "]
)


def cases(max_turns: int, budgets: list[int], most: int = SIZES[-1]) -> dict[str, st.SearchStrategy[Any]]:
    sizes = st.sampled_from([size for size in SIZES if size <= most])
    return {
        "asked": conversations(st.builds(Words, words, sizes), max_turns=max_turns),
        "budget": st.sampled_from(budgets),
        "system": st.sampled_from([None, "You are kind. " * 10]),
        "steps": st.lists(st.integers(1, 6), min_size=1, max_size=6),
        "tail_turns": st.integers(1, 4),
    }


@settings(core, max_examples=few(100, COSTLY))
@given(**cases(2, [500, 900], most=400))
def test_after_a_short_conversation_the_window_fits_and_nothing_is_lost(
    tmp_path_factory: pytest.TempPathFactory, **case: Any
) -> None:
    test_after_any_conversation_the_window_fits_and_nothing_is_lost.hypothesis.inner_test(  # type: ignore[attr-defined]
        tmp_path_factory, **case
    )


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(**cases(6, [900, 2500, 8000]))
def test_after_any_conversation_the_window_fits_and_nothing_is_lost(
    tmp_path_factory: pytest.TempPathFactory,
    asked: list[dict[str, Any]],
    budget: int,
    system: str | None,
    steps: list[int],
    tail_turns: int,
) -> None:
    with opened(tmp_path_factory.mktemp("m") / "m", budget, policy={"tail_turns": tail_turns}) as memory:
        recorded: list[Trace] = []
        for number, each in enumerate(asked):
            recorded.append(memory.record(**spelt_out(each)))
            if number % 7 in steps:
                judged(memory, recorded, budget, system)
        judged(memory, recorded, budget, system)
        memory.window.request_compaction()
        is_told = judged(memory, recorded, budget, system)
        assert memory.window.compaction_requested is None or not is_told


def judged(memory: Memory, recorded: list[Trace], budget: int, system: str | None) -> bool:
    """More open calls than a budget can hold are the one thing that is refused. Return whether it was not."""
    pending = sum(each.status == "PENDING" for each in interactions(recorded))
    try:
        judge(memory, recorded, budget, system)
    except Refused as refused:
        if f"{pending} open tool calls" not in str(refused) or pending * 80 < budget // 2:
            raise
        return False
    return True


@pytest.mark.long
@settings(max_examples=few(600), deadline=None, suppress_health_check=list(HealthCheck))
@given(**cases(14, [700, 900, 2500, 8000]))
def test_after_many_conversations_the_window_fits_and_nothing_is_lost(
    tmp_path_factory: pytest.TempPathFactory, **case: Any
) -> None:
    test_after_any_conversation_the_window_fits_and_nothing_is_lost.hypothesis.inner_test(  # type: ignore[attr-defined]
        tmp_path_factory, **case
    )


def test_one_turn_larger_than_the_whole_budget_fits(memory: Memory) -> None:
    recorded = [memory.record(user="Read all of it.")]
    for number in range(30):
        call = f"call_{number}"
        recorded.append(memory.record(tool_call="read", tool_args={"part": number}, tool_call_id=call))
        recorded.append(memory.record(tool_result=f"part_{number} " + "word " * 200, tool_call_id=call))
        judge(memory, recorded, 2000, None)
    messages = memory.window.messages()
    assert "Read all of it." in [
        message.content for message in messages
    ]  # the request itself stays as it was
    assert "call_29" in calls_of(messages)


def test_a_result_of_a_megabyte_that_the_model_has_not_seen_is_told_as_far_as_it_fits(memory: Memory) -> None:
    recorded = [
        memory.record(user="Read it."),
        memory.record(tool_call="read", tool_call_id="c"),
        memory.record(tool_result="begins here " + "middle " * 150_000 + "ends here", tool_call_id="c"),
    ]
    judge(memory, recorded, 2000, None)
    [told] = [
        each.tool_payload
        for each in memory.window.messages()
        if isinstance(each.tool_payload, ToolResultPayload)
    ]
    assert told.tool_result.startswith("begins here")
    assert told.tool_result.endswith("ends here")
    assert f"looseleaf expand {recorded[2].id}" in told.tool_result
    assert memory.talk.traces(recorded[2].id) == [recorded[2]]


def test_a_user_who_says_more_than_fits_is_told_in_part(memory: Memory) -> None:
    recorded = [memory.record(user="please " + "x" * 100_000 + " thanks")]
    judge(memory, recorded, 2000, None)
    [message] = memory.window.messages()
    assert (message.content or "").startswith("please")
    assert (message.content or "").endswith("thanks")


def test_arguments_of_an_open_call_that_are_too_long_are_shortened(memory: Memory) -> None:
    recorded = [memory.record(user="x"), memory.record(tool_call="put", tool_args={"text": "y" * 100_000})]
    judge(memory, recorded, 2000, None)


# --- the order of giving things up -----------------------------------------------------


def items(*turns: list[tuple[Any, int]]) -> list[PlanItem]:
    made: list[PlanItem] = []
    for turn, own in enumerate(turns, 1):
        for number, (kind, tokens) in enumerate(own):
            call = f"{turn}.{number // 2}" if kind.startswith("tool") else None
            item_id = f"{turn}-{number}"
            place = len(made)
            turn_id = f"turn_{turn:04d}"
            made.append(
                PlanItem(item_id, turn_id, kind, call, None, tokens, 0, 0, (1, place), place + 1, 0.0)
            )
    return made


PAIR: list[tuple[Any, int]] = [("user", 10), ("assistant", 10)]
TOOL: list[tuple[Any, int]] = [("tool_call", 10), ("tool_result", 1000)]


def planned(*turns: list[tuple[Any, int]], target: int, room: int = 10_000, tail: int = 2) -> CompactPlan:
    return plan(items(*turns), current=f"turn_{len(turns):04d}", tail_turns=tail, target=target, room=room)


def test_turns_before_the_tail_are_distilled_even_when_all_would_fit() -> None:
    made = planned(PAIR, PAIR, PAIR, PAIR, target=10_000)
    assert made.gone == ("1-0", "1-1")
    assert made.tail == ("2-0", "2-1", "3-0", "3-1")
    assert made.held == ("4-0", "4-1")
    assert made.short == ()


def test_results_within_the_tail_become_pointers_before_its_turns_are_distilled() -> None:
    made = planned([*TOOL, *PAIR], [*TOOL, *PAIR], PAIR, target=1410)
    assert made.gone == ()
    assert made.short == (("1-1", 250),)
    made = planned([*TOOL, *PAIR], [*TOOL, *PAIR], PAIR, target=700)
    assert made.gone == ()
    assert made.short == (("1-1", 250), ("2-1", 250))
    made = planned([*TOOL, *PAIR], [*TOOL, *PAIR], PAIR, target=500)
    assert set(made.gone) == {"1-0", "1-1", "1-2", "1-3"}


def test_within_the_current_turn_only_what_the_model_has_answered_to_is_given_up() -> None:
    current = [("user", 10), *TOOL, *TOOL, *TOOL]
    made = plan(
        [
            PlanItem(
                item.id,
                item.turn_id,
                item.trace_type,
                f"{(number - 1) // 2}" if number else None,
                None,
                item.tokens,
                0,
                0,
                item.place,
                item.end,
                0.0,
            )
            for number, item in enumerate(items(current))
        ],
        current="turn_0001",
        tail_turns=4,
        target=100,
        room=10_000,
    )
    assert made.gone == ("1-1", "1-2", "1-3", "1-4")
    assert made.held == ("1-0", "1-5", "1-6")
    assert made.short == ()


def test_what_may_not_go_is_shortened_to_one_level_when_it_does_not_fit() -> None:
    made = planned([("user", 5000), ("tool_call", 3000), ("user", 20)], target=100, room=1000)
    assert made.fits
    limits = dict(made.short)
    assert limits["1-0"] == limits["1-1"]
    assert sum(limits.values()) + 20 <= 1000


def test_a_plan_that_cannot_fit_says_so() -> None:
    many = [
        PlanItem(f"{n}", "turn_0001", "tool_call", f"{n}", None, 50, 0, 0, (1, n), n + 1, 0.0)
        for n in range(100)
    ]
    assert not plan(many, current="turn_0001", tail_turns=4, target=100, room=1000).fits


def test_more_open_calls_than_fit_are_refused_with_what_to_do(memory: Memory) -> None:
    memory.record(user="x")
    for number in range(300):
        memory.record(tool_call="look", tool_args={"n": number})
    with pytest.raises(Refused, match=r"300 open tool calls.*memory.talk.interrupt\(\)"):
        memory.window.messages()
    memory.talk.interrupt()
    assert memory.window.tokens() > 2000
    memory.window.messages()
    assert memory.window.tokens() <= 2000


def test_a_system_prompt_that_leaves_no_room_is_refused(memory: Memory) -> None:
    memory.record(user="x" * 10_000)
    with pytest.raises(Refused, match="no room is left"):
        memory.window.messages("y" * 8000)


def test_a_small_model_after_a_large_one_gets_a_smaller_past(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 100_000) as memory:
        for part in range(3):
            for number in range(27):
                memory.record(user=f"We must never use option {part}-{number} in /a/b{number}.py. " * 9)
                memory.record(assistant="done now " * 50)
            assert memory.window.compact() is not None
        assert memory.window.compact() is not None or memory.window.read().mark is not None
        assert memory.window.tokens() > 2500  # more past than the small one has room for
        recorded = all_traces(memory)
    with opened(tmp_path / "m", 2500) as memory:
        judge(memory, recorded, 2500, None)


def test_few_tokens_of_many_characters_are_told_whole(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 8000, counter=lambda text: len(text.split()) + 1) as memory:
        memory.record(user="look:" + " " * 300_000 + "end")
        assert memory.window.messages()[0].content == "look:" + " " * 300_000 + "end"


def test_open_calls_that_fit_are_told_whatever_that_costs_the_past(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 8000) as memory:
        talk(memory, 30)
        memory.record(user="all of these")
        for number in range(200):
            memory.record(tool_call="look", tool_args={"at": f"a place that has the number {number}"})
        judge(memory, all_traces(memory), 8000, None)


def test_pictures_of_the_current_message_are_kept_and_the_rest_makes_room(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 8000) as memory:
        talk(memory, 10)
        memory.record(user="what is this?", media={"images": ["a.png"] * 5})
        memory.record(tool_call="look", tool_call_id="c")
        memory.record(tool_result="word " * 10_000, tool_call_id="c")
        messages = memory.window.messages()
        assert [len(each.image_urls) for each in messages if each.image_urls] == [5]
        assert memory.window.tokens() <= 8000
        memory.record(user="and these?", media={"images": ["a.png"] * 9})
        with pytest.raises(Refused, match=r"the current turn with its pictures.*Use a larger context"):
            memory.window.messages()


def test_a_counter_that_never_says_less_than_three_ends_all_the_same(tmp_path: Path) -> None:
    with opened(
        tmp_path / "m", 2000, policy={"summary_tokens": 2}, counter=lambda text: len(text) // 4 + 3
    ) as memory:
        talk(memory, 20)
        assert memory.window.compact() is not None


# --- the snapshot ----------------------------------------------------------------------


def test_after_a_compaction_the_window_is_system_summaries_what_to_keep_and_the_last_turns(
    memory: Memory,
) -> None:
    memory.record(user="We decided to use vitest. Never touch the generated files.")
    memory.record(assistant="Good.")
    talk(memory, 12)
    first, second, *rest = memory.window.messages("You are kind.")
    assert first == Message("system", "You are kind.")
    assert second.role == "user"
    parts = (second.content or "").split("\n\n")
    assert [part.partition("\n")[0] for part in parts] == [EPISODIC, SEMANTIC, RECENT]
    assert "We decided to use vitest." in parts[1]
    assert "Never touch the generated files." in parts[1]
    assert "item_11" in str(rest)


def test_the_same_log_gives_the_same_bytes(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 2000) as memory:
        talk(memory, 20)
        told = json.dumps([each.to_dict() for each in memory.window.messages()])
    for name in ("tokens.sqlite", "heads.json", "agents/main/turns.json"):
        (tmp_path / "m/views" / name).unlink(missing_ok=True)
    with opened(tmp_path / "m", 2000) as memory:
        assert json.dumps([each.to_dict() for each in memory.window.messages()]) == told


def test_decisions_and_constraints_outlive_many_compactions(memory: Memory) -> None:
    memory.record(user="From now on, never push to main.")
    memory.record(assistant="Understood.")
    for _ in range(6):
        talk(memory, 10)
        memory.window.request_compaction()
        assert "never push to main" in str(memory.window.messages()[0].content)
    mark = memory.window.read().mark
    assert mark is not None
    assert len(mark.episodic) == memory.policy.max_episodic_items


def test_the_active_log_is_rotated_and_the_window_reads_on_from_the_archive(memory: Memory) -> None:
    talk(memory, 20)
    memory.window.messages()
    folder = Path(memory.path) / "log/traces/main"
    assert [path.name for path in sorted((folder / "archive").glob("*.jsonl"))] == ["000001.jsonl"]
    assert (folder / "archive/SHA256SUMS").exists()
    talk(memory, 1)
    assert "item_0" in str(memory.window.messages()[-4:])


def test_a_compaction_that_has_nothing_to_do_takes_the_flag_back(memory: Memory) -> None:
    memory.record(user="short")
    memory.window.request_compaction()
    assert memory.window.compact() is None
    assert memory.window.compaction_requested is None
    assert memory.window.read().mark is None


def test_a_dry_run_says_what_would_be_lost_and_changes_nothing(memory: Memory) -> None:
    talk(memory, 20)
    before = {path: path.read_bytes() for path in Path(memory.path, "log").rglob("*") if path.is_file()}
    would = memory.window.compact(dry_run=True)
    assert {
        path: path.read_bytes() for path in Path(memory.path, "log").rglob("*") if path.is_file()
    } == before
    did = memory.window.compact()
    assert would is not None
    assert did is not None
    assert would.to_dict() == did.to_dict()


def test_late_results_of_a_call_from_long_ago_follow_it(memory: Memory) -> None:
    memory.record(user="start it")
    call = memory.record(tool_call="build", tool_call_id="slow")
    recorded = [*memory.talk.turns()[0].traces]
    for _ in range(3):
        before = len(all_traces(memory))
        talk(memory, 12)
        recorded += all_traces(memory)[before:]
        memory.window.request_compaction()
        judge(memory, recorded, 2000, None)
    mark = memory.window.read().mark
    assert mark is not None
    assert [trace_id for _, _, trace_id in mark.far] == [call.id]
    recorded.append(memory.record(tool_result="built", tool_call_id="slow"))
    judge(memory, recorded, 2000, None)
    talk(memory, 12)
    recorded = all_traces(memory)
    memory.window.request_compaction()
    judge(memory, recorded, 2000, None)
    assert "slow" not in calls_of(memory.window.messages())


def test_a_mark_survives_a_log_that_was_mended(memory: Memory) -> None:
    memory.record(user="start it")
    memory.record(tool_call="build", tool_call_id="slow")
    talk(memory, 20)
    memory.window.messages()
    told = memory.window.read().messages[:]
    archive = Path(memory.path, "log/traces/main/archive/000001.jsonl")
    data = archive.read_bytes()
    archive.write_bytes(data.replace(b"Answer 1.", b"Bnswer 1.", 1))
    memory.repair()
    with opened(Path(memory.path), 2000) as again:
        assert again.window.messages() == told
        assert again.talk.traces(again.window.read().mark.entry)  # type: ignore[union-attr, arg-type]


def test_a_mark_that_makes_no_sense_is_named(memory: Memory) -> None:
    memory.parts.context.store.append(
        "journal", [{"schema": "journal.v1", "id": "x", "ts": 1.0, "kind": "mark", "agent": "main"}]
    )
    with pytest.raises(Refused, match="The window was not read: its mark"):
        memory.window.messages()
    assert "log/journal.jsonl: the mark x makes no sense" in map(str, memory.check())


def test_an_entry_that_somebody_removed_is_missed(memory: Memory) -> None:
    talk(memory, 20)
    loss = memory.window.compact()
    assert loss is not None
    shutil.rmtree(Path(memory.path, f"log/entries/{loss.entry}"))
    [problem] = memory.check()
    assert str(problem).startswith(f"log/entries/{loss.entry}: this entry is gone; the journal names it")
    assert (
        memory.window.messages()
    )  # what it was made of is still in the log, and what is told of it in the mark


# --- the loss report -------------------------------------------------------------------


def test_the_loss_report_is_stored_in_the_entry_and_says_how_to_expand_it(memory: Memory) -> None:
    memory.record(
        user="We decided to use vitest. Never touch the generated files. We still need to fix the parser."
    )
    memory.record(tool_call="build", tool_call_id="slow")
    talk(memory, 20)
    loss = memory.window.compact()
    assert isinstance(loss, Loss)
    assert loss.entry is not None
    entry = memory.talk.entry(loss.entry)
    assert entry.meta["loss"] == json.loads(json.dumps(loss.to_dict()))
    assert Loss.from_dict(entry.meta["loss"]) == loss
    assert str(loss) == loss.text
    found = {each.what: (each.before, each.after) for each in loss.kept}
    assert found["open tool calls"] == (1, 1)
    assert all(before == after for before, after in found.values())
    assert found["decisions"][0] >= 1
    assert found["constraints"][0] >= 1
    assert found["unresolved work"][0] >= 1
    assert loss.tokens_after < loss.tokens_before
    assert loss.traces == len(memory.talk.traces(loss.entry))
    assert f"looseleaf expand {loss.entry.rpartition('/')[2]}" in loss.text
    raw = Path(memory.path, f"log/entries/{loss.entry}/raw.md").read_text()
    assert "Never touch the generated files." in raw


def test_what_stood_only_in_a_summary_is_missed_when_the_summary_goes(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 20_000, policy={"max_semantic_items": 5}) as memory:
        for number in range(12):
            memory.record(user=f"Never use module number {number}.")
            memory.record(assistant="Understood.")
        missed: set[str] = set()
        for _ in range(6):
            talk(memory, 8)
            loss = memory.window.compact()
            assert loss is not None
            missed |= {text for each in loss.kept for text in each.missing}
            told = memory.window.messages()[0].content or ""
            for number in range(12):
                sentence = f"Never use module number {number}."
                assert (sentence in told) != (sentence in missed), sentence


def test_what_no_longer_has_room_is_listed_as_missing(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 2000, policy={"max_semantic_items": 1}) as memory:
        for letter in "abcdefghijklmnopqrstuvwxyzäöüß":
            memory.record(user=f"Never touch the file {letter * 4}.py, whoever asks for it.")
        talk(memory, 12)
        loss = memory.window.compact()
        assert loss is not None
        report = next(each for each in loss.kept if each.what == "constraints")
        assert report.before == 30
        assert 1 <= report.after < 30
        assert len(report.missing) == 30 - report.after
        assert "no longer mentioned: " in loss.text


def test_what_is_told_is_found_by_its_words_whatever_the_spacing() -> None:
    told = "x\n- Constraint: Never   push\nto MAIN.\n"
    assert count_kept("constraints", [Noted("never push to main.", "t")], told).missing == ()
    assert count_kept("constraints", [Noted("never pull", "t")], told).missing == ("never pull",)


# --- distillers ------------------------------------------------------------------------


class Given:
    """A distiller whose answer the test decides."""

    name = "given/1"

    def __init__(self, answer: Callable[[Material, int], Any]) -> None:
        self._answer = answer
        self.calls = 0

    def distill(self, material: Material, tokens: int) -> Distilled:
        self.calls += 1
        made: Distilled = self._answer(material, tokens)
        return made


def test_a_distillers_summary_is_what_the_window_tells(tmp_path: Path) -> None:
    distiller = Given(lambda material, _: Distilled(f"Read {sum(1 for _ in material.traces())} traces."))
    with opened(tmp_path / "m", 2000, distiller=distiller) as memory:
        memory.record(user="Never push to main.")
        talk(memory, 20)
        loss = memory.window.compact()
        assert loss is not None
        assert (loss.level, loss.distiller) == ("distiller", "given/1")
        told = memory.window.messages()[0].content or ""
        assert f"Read {loss.traces} traces." in told
        assert "Constraint: Never push to main." in told  # the distiller forgot it; the memory did not
        assert memory.notes == []


def raising(material: Material, tokens: int) -> Distilled:
    raise ConnectionError("no\nroute to host")


def exiting(material: Material, tokens: int) -> Distilled:
    raise SystemExit(3)


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def unspeakable(material: Material, tokens: int) -> Distilled:
    raise Unspeakable


def hanging(material: Material, tokens: int) -> Distilled:
    threading.Event().wait(30)
    return Distilled("too late")


WRONG: Any = 5

FAULTS: dict[str, tuple[Callable[[Material, int], Any], str]] = {
    "exits": (exiting, "given/1 raised SystemExit: 3"),
    "raises what cannot be told": (unspeakable, "given/1 raised Unspeakable: it cannot say what"),
    "raises": (raising, "given/1 raised ConnectionError: no route to host"),
    "hangs": (hanging, "given/1 took longer than 0.05 s"),
    "none": (lambda *_: None, "given/1 returned NoneType, which is not a Distilled"),
    "text": (lambda *_: "a summary", "given/1 returned str, which is not a Distilled"),
    "empty": (lambda *_: Distilled(" \n"), "given/1 returned no summary"),
    "number": (lambda *_: Distilled(WRONG), "given/1 returned no summary"),
    "notes": (
        lambda *_: Distilled("x", decisions=(WRONG,)),
        "given/1 returned decisions that are not a tuple of Noted",
    ),
    "numbers": (
        lambda *_: Distilled("x", tasks=(Noted(WRONG, "x"),)),
        "given/1 returned tasks that are not a tuple of Noted",
    ),
    "facts": (
        lambda *_: Distilled("x", facts=({"x": {1}},)),
        "given/1 returned facts or an episode that JSON cannot hold",
    ),
    "no facts": (
        lambda *_: Distilled("x", facts=WRONG),
        "given/1 returned facts or an episode that JSON cannot hold",
    ),
}


def test_a_distiller_that_fails_is_replaced_by_the_rules_and_the_report_says_why(tmp_path: Path) -> None:
    numbers = iter(range(len(FAULTS)))

    def check(fault: str) -> None:
        fresh = tmp_path / str(next(numbers))
        fresh.mkdir()
        answer, sentence = FAULTS[fault]
        distiller = Given(answer)
        with opened(fresh / "m", 2000, distiller=distiller, policy={"distill_seconds": 0.05}) as memory:
            talk(memory, 20)
            memory.window.request_compaction()
            messages = memory.window.messages()
            assert distiller.calls == 1
            assert memory.window.tokens() <= 2000
            assert EPISODIC in (messages[0].content or "")
            assert memory.notes == [f"The last compaction did without its distiller: {sentence}."]
            entry = memory.talk.entry(memory.window.read().mark.entry)  # type: ignore[union-attr, arg-type]
            assert entry.meta["loss"]["failures"] == [sentence]
            assert (entry.meta["level"], entry.meta["distiller"]) == ("rules", "rules/1")

    check_rows(check, some(FAULTS, 5))


def test_a_distiller_that_is_never_done_holds_nobody_up(tmp_path: Path) -> None:
    """Not the compaction, not another recorder, not the end of the process."""
    script = (
        "import sys, threading\nfrom looseleaf import Memory, Policy\n"
        "class D:\n    name = 'd/1'\n    def distill(self, material, tokens): threading.Event().wait()\n"
        "m = Memory(sys.argv[1], policy=Policy(context_tokens=1002, max_tokens=1, safety_margin_tokens=1,"
        " distill_seconds=0.05), distiller=D(), counter=lambda text: len(text) // 4)\n"
        "for n in range(40): m.record(user='word ' * 60)\n"
        "assert m.window.compact().level == 'rules'\nm.close()\n"
    )
    import subprocess
    import sys

    assert (
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "m")], timeout=60, check=False
        ).returncode
        == 0
    )


def test_junk_that_is_long_is_cut_to_its_budget(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 2000, distiller=Given(lambda *_: Distilled("blah " * 100_000))) as memory:
        talk(memory, 20)
        memory.window.messages()
        assert memory.window.tokens() <= 2000


def test_a_distiller_works_without_the_lock(tmp_path: Path) -> None:
    recorded: list[str] = []

    def record_meanwhile(material: Material, tokens: int) -> Distilled:
        with Memory(tmp_path / "m", policy=Policy(lock_seconds=5)) as other:
            recorded.append(other.record(user="meanwhile").id)
        return Distilled("fine")

    with opened(tmp_path / "m", 2000, distiller=Given(record_meanwhile)) as memory:
        talk(memory, 20)
        assert memory.window.compact() is not None
        assert memory.window.messages()[-1].content == "meanwhile"
        assert memory.window.read().traces[-1].id == recorded[0]


def test_a_compaction_that_comes_second_is_dropped(tmp_path: Path) -> None:
    def compact_meanwhile(material: Material, tokens: int) -> Distilled:
        with opened(tmp_path / "m", 2000) as other:
            assert other.window.compact() is not None
        return Distilled("second")

    with opened(tmp_path / "m", 2000, distiller=Given(compact_meanwhile)) as memory:
        talk(memory, 20)
        assert memory.window.compact() is None
        marks = [
            line for line in memory.parts.context.store.read("journal") if line.record.get("kind") == "mark"
        ]
        assert len(marks) == 1
        assert len(memory.parts.context.store.folders("log/entries/sessions")) == 1


def test_an_entry_that_a_crash_left_without_its_mark_is_used_again(memory: Memory) -> None:
    talk(memory, 20)

    class Died(BaseException):
        pass

    append = memory.parts.context.store.append

    def die(stream: str, records: Any) -> Any:
        if stream == "journal":
            raise Died
        return append(stream, records)

    memory.parts.context.store.append = die  # type: ignore[method-assign]
    with pytest.raises(Died):
        memory.window.compact()
    memory.parts.context.store.append = append  # type: ignore[method-assign]
    [left] = memory.parts.context.store.folders("log/entries/sessions")
    memory.record(assistant="one more")
    loss = memory.window.compact()
    assert loss is not None
    assert loss.entry == f"sessions/{left}"


def test_secrets_that_a_distiller_brings_in_do_not_reach_the_disk(tmp_path: Path) -> None:
    secret = next(text for kind, text, _ in planted() if kind == "github")
    made = Distilled(
        f"It said {secret}.", {"Title": secret}, ({"x": [secret]},), (Noted(f"Use {secret}.", "t"),)
    )
    with opened(tmp_path / "m", 2000, distiller=Given(lambda *_: made)) as memory:
        talk(memory, 20)
        loss = memory.window.compact()
        assert loss is not None
        assert loss.level == "distiller"
    held = b"".join(path.read_bytes() for path in (tmp_path / "m").rglob("*") if path.is_file())
    assert secret.encode() not in held
    assert b"It said [redacted github" in held


@pytest.mark.parametrize(
    "distiller", [lambda *_: None, object(), type("D", (), {"name": 5, "distill": print})()]
)
def test_what_is_no_distiller_is_refused(tmp_path: Path, distiller: Any) -> None:
    with pytest.raises(Refused, match="A distiller needs a name"):
        opened(tmp_path / "m", 2000, distiller=distiller)


# --- in the background -----------------------------------------------------------------


def test_what_was_prepared_makes_the_compaction_instant(tmp_path: Path) -> None:
    distiller = Given(lambda *_: Distilled("Prepared."))
    with opened(tmp_path / "m", 4000, distiller=distiller) as memory:
        talk(memory, 20)
        memory.window.prepare()
        memory.parts.conversation._compact.wait()
        assert distiller.calls == 1
        assert memory.window.read().mark is None
        talk(memory, 1)
        loss = memory.window.compact()
        assert distiller.calls == 1
        assert loss is not None
        assert loss.level == "distiller"
        assert "Prepared." in (memory.window.messages()[0].content or "")
        judge(memory, all_traces(memory), 4000, None)


def test_what_was_prepared_for_too_little_is_not_used(tmp_path: Path) -> None:
    distiller = Given(lambda *_: Distilled("Prepared."))
    with opened(tmp_path / "m", 2000, distiller=distiller) as memory:
        talk(memory, 8)
        memory.window.prepare()
        memory.parts.conversation._compact.wait()
        talk(memory, 40)
        memory.window.messages()
        assert distiller.calls == 2
        judge(memory, all_traces(memory), 2000, None)


def test_usage_begins_to_prepare_before_the_flag_is_reached(tmp_path: Path) -> None:
    distiller = Given(lambda *_: Distilled("Prepared."))
    with opened(tmp_path / "m", 10_000, distiller=distiller) as memory:
        talk(memory, 20)
        assert memory.window.report_usage(prompt_tokens=5000) is None
        memory.parts.conversation._compact.wait()
        assert distiller.calls == 0
        assert memory.window.report_usage(prompt_tokens=7000) is None
        memory.parts.conversation._compact.wait()
        assert distiller.calls == 1
        memory.window.prepare()
        memory.parts.conversation._compact.wait()
        assert distiller.calls == 1  # once an epoch


# --- the flag --------------------------------------------------------------------------


def test_the_flag_is_early_at_the_ratio_and_hard_at_the_budget(memory: Memory) -> None:
    budget = memory.window.budget()
    assert (budget.input, budget.early) == (2000, 1600)
    assert memory.window.report_usage(prompt_tokens=1600) is None
    assert memory.window.compaction_requested is None
    assert memory.window.report_usage(prompt_tokens=1601) == "early"
    assert memory.window.compaction_requested == "early"
    assert memory.window.report_usage(prompt_tokens=2001) == "hard"
    assert memory.window.report_usage(prompt_tokens=1700) == "early"
    assert memory.window.compaction_requested == "hard"  # not weakened
    memory.window.cancel_request()
    assert memory.window.compaction_requested is None


def test_a_flag_is_for_its_agent(tmp_path: Path) -> None:
    with opened(tmp_path / "m", 2000) as memory, opened(tmp_path / "m", 2000, agent="other") as other:
        memory.window.request_compaction()
        assert other.window.compaction_requested is None


def test_a_model_in_the_settings_decides_the_budget_and_an_agent_may_differ(tmp_path: Path) -> None:
    Memory(tmp_path / "m").close()
    (tmp_path / "m/looseleaf.toml").write_text(
        'model = "gpt-4o"\n[agents.small]\ncontext_tokens = 8000\nmax_tokens = 1000\nsafety_margin_tokens = 100\n'
        "compaction_ratio = 0.5\n"
    )
    with Memory(tmp_path / "m") as memory, Memory(tmp_path / "m", agent="small") as small:
        assert memory.window.budget().max_context_tokens == 128_000
        assert memory.window.budget("a model nobody knows").max_context_tokens == 8192
        assert (small.window.budget().input, small.window.budget().early) == (6900, 3450)


def test_a_window_that_is_full_is_compacted_without_being_asked(memory: Memory) -> None:
    talk(memory, 30)
    assert memory.window.tokens() > 2000
    memory.window.messages()
    assert memory.window.read().mark is not None


def test_a_quick_look_loads_no_vocabulary(tmp_path: Path) -> None:
    import subprocess
    import sys

    with Memory(tmp_path / "m") as memory:
        memory.record(user="word " * 1000)
    script = (
        "import sys\nfrom looseleaf import Memory\nm = Memory(sys.argv[1])\n"
        "assert m.window.tokens(quick=True) > 500\nassert m.window.messages()\nassert 'splintr' not in sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", script, str(tmp_path / "m")], check=False).returncode == 0


def test_times_are_no_part_of_what_is_told(memory: Memory) -> None:
    talk(memory, 20)
    memory.window.messages()
    mark = memory.window.read().mark
    assert mark is not None
    assert str(int(time.time()))[:6] not in str([mark.episodic, mark.semantic])
    assert turn_number(memory.talk.turns(1)[0].turn_id) == 20
