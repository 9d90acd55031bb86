"""The import itself: once, only what is new, as data unless the user vouches for it."""

from __future__ import annotations

import json
import threading
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importing import (
    HELLO,
    KEY,
    SAMPLES,
    TALKS,
    Made,
    bring,
    broken_off,
    conversation,
    export,
    ledger,
    log_of,
    open_memory,
    take,
    talk,
    traces_of,
)
from looseleaf.base.errors import Refused
from looseleaf.base.origins import is_imported, level_of
from looseleaf.integrations.hook_session import HookSession
from looseleaf.memory import Memory
from looseleaf.transfer import import_run as run_module
from looseleaf.transfer import place_items as news
from looseleaf.transfer.import_ledger import SCHEMA
from looseleaf.transfer.import_run import run
from looseleaf.transfer.source import (
    BrokenArchive,
    ImportClaim,
    ImportDocument,
    ImportMessage,
    ImportSource,
    Talk,
)
from secret_kinds import numbers, tokens
from tables import check_rows, in_folders
from wiring import untyped

# --- once ------------------------------------------------------------------------------------


def test_a_second_import_changes_no_byte(place: Path) -> None:
    def check(place: Path, sample: str, mine: bool) -> None:
        with open_memory(place / "m") as memory:
            looked = take(memory, SAMPLES / sample, mine=mine, dry_run=True)
            assert traces_of(memory) == []
            first = take(memory, SAMPLES / sample, mine=mine)
            before = log_of(memory)
            second = take(memory, SAMPLES / sample, mine=mine)
            assert log_of(memory) == before
            assert not first.is_nothing
            assert second.is_nothing
            assert (looked.talks, looked.documents, looked.traces) == (
                first.talks,
                first.documents,
                first.traces,
            )
            assert (looked.since, looked.until, looked.titles) == (first.since, first.until, first.titles)
            assert second.talks.known == first.talks.new
            assert [str(each) for each in memory.check()] == []
        with open_memory(place / "m") as memory:
            assert take(memory, SAMPLES / sample, mine=mine).is_nothing
            assert log_of(memory) == before

    check_rows(check, in_folders(place, product(TALKS, [False, True])))


def test_a_look_leaves_nothing_behind(place: Path) -> None:
    with open_memory(place / "m") as memory:
        before = log_of(memory)
        assert take(memory, SAMPLES / "chatgpt", dry_run=True).traces == 13
        assert log_of(memory) == before


@given(
    first=st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=6),
    more=st.lists(st.text(min_size=1, max_size=4), max_size=4),
    batch=st.integers(min_value=1, max_value=4),
)
def test_a_talk_that_went_on_gets_only_what_is_new(
    first: list[str], more: list[str], batch: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before, run_module._TRACES = run_module._TRACES, batch
    try:
        with open_memory(tmp_path_factory.mktemp("m")) as memory:
            bring(memory, talk("a", *first), talk("b", *first))
            done = bring(memory, talk("a", *first, *more), talk("b", *first))
            own = [
                trace.content
                for trace in traces_of(memory)
                if trace.session_id.endswith(ledger(memory)[0]["item"][:16])
            ]
            assert own == [*first, *more]
            assert (done.traces, done.talks.grown, done.talks.known) == (
                len(more),
                bool(more),
                2 - bool(more),
            )
    finally:
        run_module._TRACES = before


def test_a_talk_that_was_changed_gets_what_is_not_there(place: Path) -> None:
    with open_memory(place / "m") as memory:
        bring(memory, talk("a", "one", "two", "three"))
        assert bring(memory, talk("a", "one", "TWO", "three", "four")).traces == 2
        assert bring(memory, talk("a", "one")).is_nothing  # shorter
        assert bring(memory, talk("a", "one", "TWO", "three", "four")).is_nothing  # and as before
        assert [trace.content for trace in traces_of(memory)] == ["one", "two", "three", "TWO", "four"]


def test_what_a_source_has_twice_is_there_once(place: Path) -> None:
    twice = Talk(
        "a",
        "a",
        [
            ImportMessage("x", "user", "same"),
            ImportMessage("x", "user", "same"),
            ImportMessage("y", "user", "same"),
        ],
    )
    with open_memory(place / "m") as memory:
        assert bring(memory, twice, talk("b", "one"), talk("b", "one")).traces == 3
        assert [trace.content for trace in traces_of(memory)] == ["same", "same", "one"]


def test_a_long_beginning_that_is_known_is_not_held_for_ever(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news, "HELD", 300)
    texts = [f"{number} {'x' * 90}" for number in range(12)]
    with open_memory(place / "m") as memory:
        bring(memory, talk("a", *texts))
        assert bring(memory, talk("a", *texts, "new")).traces == 1
        assert len(traces_of(memory)) == 13


def test_without_its_ledger_an_import_asks_the_log(place: Path) -> None:
    with open_memory(place / "m") as memory:
        take(memory, SAMPLES / "chatgpt")
        before = traces_of(memory)
    path = place / "m/log/imports.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], lines[2][:20] + b"?" + lines[2][21:], *lines[3:6]]))
    with open_memory(place / "m") as memory:
        done = take(memory, SAMPLES / "chatgpt")
        assert done.traces == 0
        assert traces_of(memory) == before
    path.write_bytes(b"")
    with open_memory(place / "m") as memory:
        assert take(memory, SAMPLES / "chatgpt").traces == 0
        assert traces_of(memory) == before


def test_the_ledger_holds_no_word(place: Path) -> None:
    with open_memory(place / "m") as memory:
        take(memory, SAMPLES / "chatgpt")
        take(memory, SAMPLES / "claude", mine=True)
        assert {record["schema"] for record in ledger(memory)} == {SCHEMA}
        assert {record["kind"] for record in ledger(memory)} == {"begun", "done"}
    text = (place / "m/log/imports.jsonl").read_text(encoding="utf-8")
    for word in ("omato", "67754c20", "Porto", "basil", "facts/", ".md"):
        assert word not in text


def test_two_imports_of_the_same_at_once_take_each_thing_in_once(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "_TRACES", 3)
    texts = [f"word {number}" for number in range(40)]
    talks = [talk(name, *texts) for name in "abc"]
    meet = threading.Barrier(2, timeout=60)

    def once(said: list[ImportMessage]) -> Any:
        meet.wait()
        yield from said

    def bring_all() -> None:
        with open_memory(place / "m") as memory:
            bring(memory, *(Talk(each.key, each.title, once(list(each.said))) for each in talks))

    open_memory(place / "m").close()
    threads = [threading.Thread(target=bring_all) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_memory(place / "m") as memory:
        assert sorted(trace.content for trace in traces_of(memory)) == sorted(texts * 3)
        assert [str(each) for each in memory.check()] == []


def test_of_a_session_that_hooks_recorded_only_what_they_missed_is_taken(place: Path) -> None:
    name = "3f0c8a52-7d0e-4a49-9a3c-1f2e3d4c5b6a"
    with open_memory(place / "all") as memory:
        take(memory, SAMPLES / "claude_code")
        everything = [trace.content for trace in traces_of(memory)]
    with Memory(place / "m", session=name) as memory:
        memory.record(user="Write a watering plan; we always use Python 3.12 here.")
    with open_memory(place / "m") as memory:
        assert take(memory, SAMPLES / "claude_code").talks.new == 2
        left = [trace.content for trace in traces_of(memory)]
        assert [each for each in everything if each not in left] == [
            "Write a watering plan; we always use Python 3.12 here."
        ]
        assert take(memory, SAMPLES / "claude_code").is_nothing


def test_a_session_that_hooks_recorded_whole_is_there_already(place: Path) -> None:
    name = "3f0c8a52-7d0e-4a49-9a3c-1f2e3d4c5b6a"
    path = next((SAMPLES / "claude_code").rglob(f"{name}.jsonl"))
    with Memory(place / "m", session=name) as memory:
        session = HookSession(memory, name)
        copy = place / f"{name}.jsonl"
        copy.write_bytes(path.read_bytes())
        with memory.parts.context.store.lock():
            session.catch_up(str(copy))
            session.save()
    with open_memory(place / "m") as memory:
        done = take(memory, SAMPLES / "claude_code")
        assert (done.talks.known, done.talks.new) == (1, 1)


# --- as what -----------------------------------------------------------------------------------


def test_what_is_imported_is_data(place: Path) -> None:
    with open_memory(place / "m") as memory:
        done = take(memory, SAMPLES / "chatgpt")
        traces = traces_of(memory)
        assert {trace.origin for trace in traces} == {"import:chatgpt"}
        assert {level_of(trace.origin) for trace in traces} == {"tainted"}
        assert {trace.source_event for trace in traces} == {"import"}
        assert (done.pages, done.waiting) == ((), 0)
        assert memory.distill() == []
        assert memory.facts() == memory.facts(status="pending") == []
        assert memory.pages.list() == []
        [hit] = memory.recall("Which tomatoes need least sun on a balcony?")[:1]
        assert (hit.level, "Stupice" in hit.text or "tomatoes" in hit.text) == ("tainted", True)
    with Memory(place / "m") as memory:
        assert memory.window.messages() == []  # nobody's window is flooded
        assert "tomato" not in json.dumps([each.to_dict() for each in memory.prompt("Hello?").messages])


def test_what_the_user_vouches_for_is_whose_it_was(place: Path) -> None:
    with open_memory(place / "m") as memory:
        take(memory, SAMPLES / "chatgpt", mine=True)
        found = {(trace.trace_type, trace.origin) for trace in traces_of(memory)}
        assert found == {
            ("user", "user"),
            ("assistant", "assistant"),
            ("tool_call", "assistant"),
            ("tool_result", "tool"),
        }
        memory.distill()
        facts = memory.facts(topic="user")
        assert ("Name", "Ada") in {(fact.relation, fact.object) for fact in facts}
        assert {fact.level for fact in facts} == {"said"}


def test_what_was_data_is_not_distilled_with_what_is_vouched_for(place: Path) -> None:
    with open_memory(place / "m") as memory:
        bring(memory, talk("a", "My name is Eve."))
        bring(memory, talk("b", "My name is Ada."), mine=True)
        memory.distill()
        assert {(fact.relation, fact.object) for fact in memory.facts()} == {("Name", "Ada")}
        assert memory.facts(status="pending") == []


def test_talk_that_was_data_may_be_vouched_for_later_once(place: Path) -> None:
    said = ("I live in Lyon.", "Noted.")
    with open_memory(place / "m") as memory:
        bring(memory, talk("a", *said))
        [copy] = {trace.session_id for trace in traces_of(memory)}
        looked = bring(memory, talk("a", *said), mine=True, dry_run=True)
        done = bring(memory, talk("a", *said), mine=True)
        assert looked.copies == done.copies == (copy,)
        assert (done.talks.new, done.traces) == (1, 2)
        before = log_of(memory)
        for mine in (True, False):
            again = bring(memory, talk("a", *said), mine=mine)
            assert (again.is_nothing, again.copies, log_of(memory) == before) == (True, (), True)
        assert bring(memory, talk("a", *said, "I work at Acme."), mine=True).traces == 1
        memory.distill()
        known = {(fact.relation, fact.object, fact.level) for fact in memory.facts()}
        assert ("Home", "Lyon", "said") in known
        # Without the first copy nothing is lost, and nothing comes again.
        memory.forget(session=copy)
        assert {(fact.relation, fact.object, fact.level) for fact in memory.facts()} == known
        assert {trace.origin for trace in traces_of(memory)} == {"user", "assistant"}
        assert bring(memory, talk("a", *said, "I work at Acme."), mine=True).talks.known == 1
        assert bring(memory, talk("a", *said, "I work at Acme.", "Ah."), mine=True).traces == 1


def test_a_vouched_talk_that_went_on_as_data_is_not_recorded_again(place: Path) -> None:
    with open_memory(place / "m") as memory:
        bring(memory, talk("a", "one"), mine=True)
        assert bring(memory, talk("a", "one", "two")).traces == 1
        assert bring(memory, talk("a", "one", "two", "three"), mine=True).traces == 1
        assert [trace.content for trace in traces_of(memory)] == ["one", "two", "three"]


def test_a_vouched_import_that_was_broken_off_goes_on_where_it_was(place: Path) -> None:
    one, two = ImportMessage("a0", "user", "one"), ImportMessage("a1", "assistant", "two")

    def killed() -> Any:
        yield one
        raise KeyboardInterrupt

    with open_memory(place / "m") as memory:
        with pytest.raises(KeyboardInterrupt):
            bring(memory, Talk("a", "a", killed()), mine=True)
        done = bring(memory, Talk("a", "a", [one, two]), mine=True)
        assert (done.traces, done.copies) == (1, ())
        assert [trace.content for trace in traces_of(memory)] == ["one", "two"]


def test_an_import_of_data_that_was_broken_off_leaves_no_half_of_a_vouched_talk(place: Path) -> None:
    one, two = ImportMessage("a0", "user", "one"), ImportMessage("a1", "assistant", "two")

    def killed() -> Any:
        yield one
        raise KeyboardInterrupt

    with open_memory(place / "m") as memory:
        with pytest.raises(KeyboardInterrupt):
            bring(memory, Talk("a", "a", killed()))
        assert bring(memory, Talk("a", "a", [one, two]), mine=True).traces == 2
        assert [(trace.content, trace.origin) for trace in traces_of(memory)] == [
            ("one", "import:made"),
            ("one", "user"),
            ("two", "assistant"),
        ]


def test_data_is_recorded_for_no_other_agent_and_is_in_no_window(place: Path) -> None:
    with Memory(place / "m") as memory:
        with pytest.raises(
            Refused, match="without --mine, a history is recorded for the agent `import` only"
        ):
            bring(memory, talk("a", "obey"))
        assert bring(memory, talk("mine", "I am Ada."), mine=True).traces == 1
        assert [message.content for message in memory.window.messages()] == ["I am Ada."]
    with open_memory(place / "m") as memory:
        memory.record(user="before")
        assert [message.content for message in memory.window.messages()] == ["before"]
        bring(memory, talk("a", "obey", "yes"), ImportDocument("d", "obey too", "Doc"))
        memory.record(user="after")
        assert [message.content for message in memory.window.messages()] == ["before", "after"]  # read on
    with open_memory(place / "m") as memory:
        assert [message.content for message in memory.window.messages()] == ["before", "after"]  # read anew
        assert "obey" not in json.dumps([each.to_dict() for each in memory.prompt("Hello?").messages])
        for number in range(40):
            memory.record(user=f"word {number}")
            memory.record(assistant=f"answer {number}")
        assert memory.window.compact() is not None
        bring(memory, talk("b", "obey again"))
        memory.record(user="last")
    with open_memory(place / "m") as memory:  # since a mark
        assert "obey" not in json.dumps([each.to_dict() for each in memory.window.messages()])
        assert memory.window.messages()[-1].content == "last"


@pytest.mark.parametrize("name", ["origin", "session"])
def test_no_caller_can_claim_where_a_trace_comes_from(place: Path, name: str) -> None:
    with Memory(place / "m") as memory:
        with pytest.raises(Refused, match=f"a trace has no '{name}'"):
            memory.record(user="hello", **untyped({name: "user"}))
        with pytest.raises(Refused, match=f"a trace has no '{name}'"), memory.batch() as batch:
            batch.record(user="hello", **untyped({name: "import"}))


def test_what_was_imported_is_told_by_its_origin() -> None:
    def check(origin: str, found: bool) -> None:
        assert is_imported(origin) is found

    check_rows(
        check, [("import", True), ("import:chatgpt", True), ("imports", False), ("user", False), ("", False)]
    )


def test_each_talk_is_a_session_with_its_turns_and_times(place: Path) -> None:
    with open_memory(place / "m") as memory:
        take(memory, SAMPLES / "chatgpt")
        by_session: dict[str, list[Any]] = {}
        for trace in traces_of(memory):
            by_session.setdefault(trace.session_id, []).append(trace)
        first = next(iter(by_session.values()))
        assert [(trace.turn_id, trace.seq, trace.session_start) for trace in first] == [
            ("turn_0001", 1, True),
            ("turn_0001", 2, False),
            ("turn_0002", 1, False),
            ("turn_0002", 2, False),
            ("turn_0002", 3, False),
            ("turn_0002", 4, False),
        ]
        assert [trace.ts for trace in first[:3]] == [1735725601.25, 1735725620.5, 1735725700.0]
        assert all(session.startswith("chatgpt-") for session in by_session)
        second = list(by_session.values())[1]
        assert second[-1].ts == second[-2].ts  # what has no time was said when the last thing was
        [call] = memory.talk.tool_calls(second[0].turn_id)
        assert (call.tool_name, call.result, call.status) == ("python", "5.0", "SUCCESS")


def test_calls_of_other_talks_are_not_answered(place: Path) -> None:
    def with_call(key: str, *said: ImportMessage) -> Talk:
        return Talk(key, key, [ImportMessage("u", "user", "go"), *said])

    call = ImportMessage("c", "tool_call", name="f", call_id="call_1")
    result = ImportMessage("r", "tool_result", call_id="call_1", result="late")
    with open_memory(place / "m") as memory:
        bring(memory, with_call("a", call), with_call("b", result), with_call("c", call, result))
        results = [trace for trace in traces_of(memory) if trace.trace_type == "tool_result"]
        assert [(trace.turn_id, trace.flag) for trace in results] == [
            ("turn_0002", "no_call"),
            ("turn_0003", None),
        ]


def test_secrets_are_redacted_as_in_all_that_is_recorded(place: Path) -> None:
    with open_memory(place / "m") as memory:
        secret = ImportMessage("r", "tool_result", call_id="c", result={"token": KEY})
        said = [ImportMessage("u", "user", f"my key is {KEY}"), secret]
        bring(memory, Talk("a", KEY, said), ImportDocument("d", f"{KEY}\n", "d", page="facts/d.md"))
        bring(
            memory,
            ImportDocument("e", f"- Key: {KEY}\n", "e", page="facts/e.md"),
            ImportClaim("c", "keys", KEY),
            mine=True,
        )
        assert memory.pages.read("facts/e.md").text.startswith("- Key: [redacted")
        alone = [secret for _, secret in tokens(Random(4)) + numbers(Random(4))]
        notes = "".join(f"- Note {number}: {secret}\n" for number, secret in enumerate(alone))
        talk = Talk(
            "b", "notes", [ImportMessage(f"n{at}", "user", secret) for at, secret in enumerate(alone)]
        )
        bring(memory, talk, ImportDocument("f", notes, "f", page="facts/f.md"), mine=True)
        assert "- Note 5: [redacted " in memory.pages.read("facts/f.md").text
    held = b"\n".join(path.read_bytes() for path in (place / "m").rglob("*") if path.is_file())
    assert [secret for secret in (KEY, *alone) if secret.encode() in held] == []


# --- what stops nothing ----------------------------------------------------------------------------


def test_a_talk_that_breaks_off_gives_what_was_read_and_the_rest_later(place: Path) -> None:
    one, two = ImportMessage("1", "user", "one"), ImportMessage("2", "assistant", "two")
    with open_memory(place / "m") as memory:
        done = bring(
            memory, Talk("a", "a", broken_off(one)), Talk("z", "z", broken_off()), talk("b", "whole")
        )
        assert (done.talks.new, done.talks.bad, done.passed_over) == (2, 1, 2)
        assert bring(memory, Talk("a", "a", [one, two])).traces == 1
        assert [trace.content for trace in traces_of(memory)] == ["one", "whole", "two"]


def test_a_source_that_breaks_off_gives_what_was_read(place: Path) -> None:
    class Breaking(Made):
        def read(self, source: ImportSource, note: Any) -> Any:
            yield talk("a", "one")
            raise BrokenArchive("it.zip was not read to its end: Bad CRC.")

    with open_memory(place / "m") as memory, ImportSource(SAMPLES / "mem0.json") as source:
        done = run(memory, source, Breaking())  # type: ignore[arg-type]
        assert done.notes == (
            "it.zip was not read to its end: Bad CRC. The rest of the source was not read.",
        )
        assert [trace.content for trace in traces_of(memory)] == ["one"]


def test_a_message_that_cannot_be_written_is_named_and_the_others_are_taken(place: Path) -> None:
    deep: Any = "x"
    for _ in range(400):
        deep = [deep]
    said = [
        ImportMessage("1", "user", "one"),
        ImportMessage("2", "tool_call", name="f", args=deep, call_id="c"),
        ImportMessage("3", "tool_result", call_id="c", result={1, 2}),
        ImportMessage("4", "user", "late", ts=1e30),
        ImportMessage("5", "user", "lone \ud800 half"),
        ImportMessage("6", "tool_call", name="n" * 5000, call_id="i" * 5000),
    ]
    with open_memory(place / "m") as memory:
        done = bring(memory, Talk("a", "A title", said))
        assert done.passed_over == 2
        assert all("A message of 'A title' was passed over" in note for note in done.notes)
        found = traces_of(memory)
        assert [trace.content for trace in found] == ["one", "late", "lone \ud800 half", ""]
        assert len(found[3].tool_name or "") == len(found[3].tool_call_id or "") == 200
        assert bring(memory, Talk("a", "A title", said)).traces == 0
        assert [str(each) for each in memory.check()] == []


def test_what_was_read_before_an_error_is_kept(place: Path) -> None:
    class Failing(Made):
        def read(self, source: ImportSource, note: Any) -> Any:
            yield talk("a", "one")
            raise KeyboardInterrupt

    with open_memory(place / "m") as memory, ImportSource(SAMPLES / "mem0.json") as source:
        with pytest.raises(KeyboardInterrupt):
            run(memory, source, Failing())  # type: ignore[arg-type]
        assert [trace.content for trace in traces_of(memory)] == ["one"]
        assert bring(memory, talk("a", "one")).is_nothing


def test_progress_is_told_item_by_item(place: Path) -> None:
    seen: list[tuple[int, int]] = []
    with open_memory(place / "m") as memory:
        bring(memory, talk("a", "1"), talk("b", "2"), step=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 0), (2, 0)]


def test_a_real_export_that_went_on_is_told_by_its_conversation(place: Path) -> None:
    path = place / "conversations.json"
    with open_memory(place / "m") as memory:
        take(memory, export(path, conversation("a", *HELLO), conversation("b", *HELLO)))
        done = take(
            memory, export(path, conversation("b", *HELLO, ("user", "more")), conversation("c", *HELLO))
        )
        assert (done.talks.new, done.talks.grown, done.traces) == (1, 1, 3)
        assert done.titles == ("more", "hello there")
