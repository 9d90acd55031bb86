"""The import itself: once, only what is new, as data unless the user vouches for it, nothing forgotten."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importing import SAMPLES, TALKS, conversation, export, log_of, open_memory, take, traces_of
from looseleaf.core.levels import is_imported, level_of
from looseleaf.errors import Refused
from looseleaf.forget.tombstones import SCHEMA as TOMBSTONES_SCHEMA
from looseleaf.forget.tombstones import fact_text, hashed
from looseleaf.importers import news
from looseleaf.importers import run as run_module
from looseleaf.importers.items import Claim, Document, Said, Talk
from looseleaf.importers.ledger import SCHEMA
from looseleaf.importers.run import run
from looseleaf.importers.source import Broken, Source
from looseleaf.importers.summary import Imported
from looseleaf.memory import Memory
from looseleaf.store.ulid import new_id

KEY = "sk-ant-api03-" + "Ab3" * 30 + "-AAAAAAAA"
HELLO = (("user", "hello there"), ("assistant", "good day"))


class Made:
    """A format whose items the test makes."""

    NAME = "made"
    ABOUT = "what a test makes"

    def __init__(self, *items: Talk | Document | Claim) -> None:
        self._items = items

    def detect(self, source: Source) -> float:
        return 1.0

    def read(self, source: Source, note: Any) -> Any:
        yield from self._items


def bring(memory: Memory, *items: Talk | Document | Claim, **how: Any) -> Imported:
    with Source(SAMPLES / "mem0.json") as source:
        return run(memory, source, Made(*items), **how)  # type: ignore[arg-type]


def talk(key: str, *texts: str) -> Talk:
    roles = ("user", "assistant")
    said = [
        Said(f"{key}{at}", roles[at % 2], text, 1_760_000_000.0 + at)  # type: ignore[arg-type]
        for at, text in enumerate(texts)
    ]
    return Talk(key, key, said)


def ledger(memory: Memory) -> list[dict[str, Any]]:
    return [line.record for line in memory.store.read("imports")]


def forget(memory: Memory, *what: tuple[str, str]) -> None:
    """As a forgetting leaves it."""
    key = (Path(memory.path) / "log/key").read_bytes()
    hashes = [hashed(key, kind, text) for kind, text in what]
    record = {"schema": TOMBSTONES_SCHEMA, "id": new_id(), "ts": 1.0, "kind": "forgotten", "hashes": hashes}
    memory.store.append("tombstones", [record])


# --- once ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mine", [False, True])
@pytest.mark.parametrize("sample", TALKS)
def test_a_second_import_changes_no_byte(sample: str, mine: bool, place: Path) -> None:
    with open_memory(place / "m") as memory:
        looked = take(memory, SAMPLES / sample, mine=mine, dry_run=True)
        assert traces_of(memory) == []
        first = take(memory, SAMPLES / sample, mine=mine)
        before = log_of(memory)
        second = take(memory, SAMPLES / sample, mine=mine)
        assert log_of(memory) == before
        assert not first.is_nothing
        assert second.is_nothing
        assert (looked.talks, looked.documents, looked.traces) == (first.talks, first.documents, first.traces)
        assert (looked.since, looked.until, looked.titles) == (first.since, first.until, first.titles)
        assert second.talks.known == first.talks.new
        assert [str(each) for each in memory.check()] == []
    with open_memory(place / "m") as memory:
        assert take(memory, SAMPLES / sample, mine=mine).is_nothing
        assert log_of(memory) == before


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
    twice = Talk("a", "a", [Said("x", "user", "same"), Said("x", "user", "same"), Said("y", "user", "same")])
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

    def once(said: list[Said]) -> Any:
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


def test_a_session_that_hooks_recorded_is_there_already(place: Path) -> None:
    name = "3f0c8a52-7d0e-4a49-9a3c-1f2e3d4c5b6a"
    with Memory(place / "m", session=name) as memory:
        memory.record(user="Write a watering plan; we always use Python 3.12 here.")
    with open_memory(place / "m") as memory:
        done = take(memory, SAMPLES / "claude_code")
        assert (done.talks.known, done.talks.new) == (1, 1)
        assert "Write a watering plan" not in {trace.content[:21] for trace in traces_of(memory)}


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
        assert memory.pages() == []
        [hit] = memory.recall("Which tomatoes need least sun on a balcony?")[:1]
        assert (hit.level, "Stupice" in hit.text or "tomatoes" in hit.text) == ("tainted", True)
    with Memory(place / "m") as memory:
        assert memory.messages() == []  # nobody's window is flooded
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
        assert [(fact.relation, fact.object, fact.level) for fact in memory.facts(topic="user")] == [
            ("Name", "Ada", "said")
        ]


def test_what_was_data_is_not_distilled_with_what_is_vouched_for(place: Path) -> None:
    with open_memory(place / "m") as memory:
        bring(memory, talk("a", "My name is Eve."))
        bring(memory, talk("b", "My name is Ada."), mine=True)
        done = bring(memory, talk("a", "My name is Eve.", "Noted.", "I live in Lyon."), mine=True)
        assert (done.as_data, done.talks.grown) == (1, 1)
        memory.distill()
        facts = {(fact.relation, fact.object) for fact in memory.facts()}
        assert facts == {("Name", "Ada"), ("Home", "Lyon")}
        assert memory.facts(status="pending") == []


@pytest.mark.parametrize("name", ["origin", "session"])
def test_no_caller_can_claim_where_a_trace_comes_from(place: Path, name: str) -> None:
    with Memory(place / "m") as memory:
        with pytest.raises(Refused, match=f"a trace has no '{name}'"):
            memory.record(user="hello", **{name: "user"})
        with pytest.raises(Refused, match=f"a trace has no '{name}'"), memory.batch() as batch:
            batch.record(user="hello", **{name: "import"})


@pytest.mark.parametrize(
    ("origin", "found"),
    [("import", True), ("import:chatgpt", True), ("imports", False), ("user", False), ("", False)],
)
def test_what_was_imported_is_told_by_its_origin(origin: str, found: bool) -> None:
    assert is_imported(origin) is found


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
        [call] = memory.interactions(second[0].turn_id)
        assert (call.tool_name, call.result, call.status) == ("python", "5.0", "SUCCESS")


def test_calls_of_other_talks_are_not_answered(place: Path) -> None:
    def with_call(key: str, *said: Said) -> Talk:
        return Talk(key, key, [Said("u", "user", "go"), *said])

    call = Said("c", "tool_call", name="f", call_id="call_1")
    result = Said("r", "tool_result", call_id="call_1", result="late")
    with open_memory(place / "m") as memory:
        bring(memory, with_call("a", call), with_call("b", result), with_call("c", call, result))
        results = [trace for trace in traces_of(memory) if trace.trace_type == "tool_result"]
        assert [(trace.turn_id, trace.flag) for trace in results] == [
            ("turn_0002", "no_call"),
            ("turn_0003", None),
        ]


def test_secrets_are_redacted_as_in_all_that_is_recorded(place: Path) -> None:
    with open_memory(place / "m") as memory:
        secret = Said("r", "tool_result", call_id="c", result={"token": KEY})
        said = [Said("u", "user", f"my key is {KEY}"), secret]
        bring(memory, Talk("a", KEY, said), Document("d", f"{KEY}\n", "d", page="facts/d.md"))
        bring(
            memory,
            Document("e", f"- Key: {KEY}\n", "e", page="facts/e.md"),
            Claim("c", "keys", KEY),
            mine=True,
        )
        assert memory.page("facts/e.md").text.startswith("- Key: [redacted")
    for path in (place / "m").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


# --- documents and claims ------------------------------------------------------------------------


def test_documents_and_claims_that_nobody_vouches_for_are_found_by_recall(place: Path) -> None:
    with open_memory(place / "m") as memory:
        items = (
            Document("d", "The kiln fires at 1240 degrees.", "Pottery", 1_760_000_000.0, "USER.md"),
            Claim("c", "ceramics", "Prefers celadon glazes", 1_760_000_000.0),
            Claim("r", "ceramics", "Jingdezhen", None, "Learned in"),
        )
        done = bring(memory, *items)
        assert (done.documents.new, done.claims.new, done.traces, done.waiting) == (1, 2, 3, 2)
        assert memory.pages() == ["review/pending.md"]
        assert {trace.origin for trace in traces_of(memory)} == {"import:made"}
        assert "1240" in memory.recall("At which temperature does the kiln fire?")[0].text
        waiting = memory.facts(status="pending")
        assert [(fact.topic, fact.relation, fact.object, fact.level) for fact in waiting] == [
            ("ceramics", "note", "Prefers celadon glazes", "tainted"),
            ("ceramics", "Learned in", "Jingdezhen", "tainted"),
        ]
        assert [source.origin for fact in waiting for source in memory.sources(fact)] == ["import:made"] * 2
        before = log_of(memory)
        assert bring(memory, *items).is_nothing
        assert log_of(memory) == before


def test_a_document_that_is_vouched_for_is_its_page_byte_for_byte(place: Path) -> None:
    text = "# Soul\r\n\r\nYou are *kind*.\n\n- Name: Pip"
    with open_memory(place / "m") as memory:
        done = bring(memory, Document("s", text, "Soul", page="SOUL.md"), mine=True)
        assert done.pages == ("SOUL.md",)
        assert (place / "m/SOUL.md").read_bytes() == text.encode()
        [edit] = list(memory.log("SOUL.md"))
        assert (edit.author, edit.reason) == ("person", "imported from made")


def test_nobodys_page_is_overwritten(place: Path) -> None:
    def note(text: str, key: str = "n") -> Document:
        return Document(key, text, "Notes", page="USER.md")

    with open_memory(place / "m") as memory:
        memory.edit("USER.md", "# Mine\n", reason="mine", author="person")
        assert bring(memory, note("one\n"), mine=True).pages == ("facts/user-imported.md",)
        assert bring(memory, note("two\n", "other"), mine=True).pages == ("facts/user-imported-2.md",)
        assert memory.page("USER.md").text == "# Mine\n"
        # An import's own page follows its document, until somebody writes on it.
        assert bring(memory, note("one more\n"), mine=True).pages == ("facts/user-imported.md",)
        assert memory.page("facts/user-imported.md").text == "one more\n"
        memory.edit("facts/user-imported.md", "touched\n", reason="mine", author="person")
        done = bring(memory, note("one last\n"), mine=True)
        assert done.pages == ("facts/user-imported-3.md",)
        assert memory.page("facts/user-imported.md").text == "touched\n"
        # What is there already is no second page.
        assert bring(memory, note("touched\n", "third"), mine=True).pages == ("facts/user-imported.md",)


def test_a_document_for_which_there_is_no_place_is_named(place: Path) -> None:
    with open_memory(place / "m") as memory:
        for number in range(11):
            done = bring(
                memory, Document(str(number), f"text {number}\n", "Same", page="facts/same.md"), mine=True
            )
        assert done.documents.bad == 1
        assert "facts/same.md and the pages beside it are there" in done.notes[0]
        done = bring(memory, Document("long", "x" * 2_000_000, "Long", page="facts/long.md"), mine=True)
        assert (done.documents.bad, done.pages) == (1, ())
        assert "'Long' was passed over" in done.notes[0]


@pytest.mark.parametrize(
    ("document", "page"),
    [
        (Document("k", "text\n", "A title", page="../evil.md"), "facts/a-title.md"),
        (Document("k", "text\n", "A title", page="log/key"), "facts/a-title.md"),
        (Document("k", "text\n", "list.md"), "facts/list.md"),
        (Document("k", "text\n", "", topic="Herbs"), "facts/herbs.md"),
        (Document("k", "text\n", ""), "facts/imported.md"),
        (Document("k", "text\n", "x", page="days/2026-01-05.md"), "days/2026-01-05.md"),
    ],
)
def test_a_place_that_is_none_is_made_a_page_of_facts(document: Document, page: str, place: Path) -> None:
    with open_memory(place / "m") as memory:
        assert bring(memory, document, mine=True, dry_run=True).pages == (page,)
        assert bring(memory, document, mine=True).pages == (page,)
        assert memory.page(page).text == "text\n"


def test_claims_that_are_vouched_for_are_lines_of_one_edit(place: Path) -> None:
    claims = [Claim(str(number), "user", f"Likes tea {number}") for number in range(30)]
    more = (Claim("r", "user", "Oban", None, "Home"), Claim("e", "evil/../x", "harmless"))
    with open_memory(place / "m") as memory:
        looked = bring(memory, *claims, *more, mine=True, dry_run=True)
        done = bring(memory, *claims, *more, mine=True)
        assert (done.claims.new, done.facts) == (looked.claims.new, looked.facts) == (32, 32)
        assert done.pages == looked.pages
        assert done.pages[0] == "facts/user.md"
        assert len(list(memory.log("facts/user.md"))) == 1
        lines = memory.page("facts/user.md").text.splitlines()
        assert lines[2:] == [*(f"- Likes tea {number}" for number in range(30)), "- Home: Oban"]
        assert {fact.level for fact in memory.facts(topic="user")} == {"confirmed"}
        assert bring(memory, *claims, *more, mine=True).is_nothing


def test_a_claim_that_was_reworded_takes_its_old_line(place: Path) -> None:
    with open_memory(place / "m") as memory:
        bring(memory, Claim("a", "user", "Likes tea"), Claim("b", "user", "Sings"), mine=True)
        done = bring(memory, Claim("a", "user", "Likes coffee"), Claim("b", "user", "Sings"), mine=True)
        assert (done.claims.grown, done.claims.known) == (1, 1)
        assert memory.page("facts/user.md").text.splitlines()[2:] == ["- Likes coffee", "- Sings"]


def test_what_was_data_may_be_vouched_for_later(place: Path) -> None:
    items = (Claim("a", "user", "Likes tea"), Document("d", "text\n", "Doc", page="facts/doc.md"))
    with open_memory(place / "m") as memory:
        bring(memory, *items)
        done = bring(memory, *items, mine=True)
        assert (done.claims.new, done.documents.new) == (1, 1)
        assert bring(memory, *items, mine=True).is_nothing
        assert bring(memory, *items).is_nothing


def test_claims_that_cannot_be_written_are_named(place: Path) -> None:
    with open_memory(place / "m") as memory:
        memory.edit("facts/user.md", "x" * 1_048_000, reason="full", author="person")
        done = bring(
            memory, *(Claim(str(each), "user", f"{each} {'y' * 300}") for each in range(9)), mine=True
        )
        assert done.claims.bad == 9
        assert "What is claimed of 'user' was passed over" in done.notes[0]


# --- what stops nothing ----------------------------------------------------------------------------


def broken_off(*said: Said) -> Any:
    yield from said
    raise Broken("it.zip: talk was not read to its end: Bad CRC.")


def test_a_talk_that_breaks_off_gives_what_was_read_and_the_rest_later(place: Path) -> None:
    one, two = Said("1", "user", "one"), Said("2", "assistant", "two")
    with open_memory(place / "m") as memory:
        done = bring(
            memory, Talk("a", "a", broken_off(one)), Talk("z", "z", broken_off()), talk("b", "whole")
        )
        assert (done.talks.new, done.talks.bad, done.passed_over) == (2, 1, 2)
        assert bring(memory, Talk("a", "a", [one, two])).traces == 1
        assert [trace.content for trace in traces_of(memory)] == ["one", "whole", "two"]


def test_a_source_that_breaks_off_gives_what_was_read(place: Path) -> None:
    class Breaking(Made):
        def read(self, source: Source, note: Any) -> Any:
            yield talk("a", "one")
            raise Broken("it.zip was not read to its end: Bad CRC.")

    with open_memory(place / "m") as memory, Source(SAMPLES / "mem0.json") as source:
        done = run(memory, source, Breaking())  # type: ignore[arg-type]
        assert done.notes == ("it.zip was not read to its end: Bad CRC. What follows it was not read.",)
        assert [trace.content for trace in traces_of(memory)] == ["one"]


def test_a_message_that_cannot_be_written_is_named_and_the_others_are_taken(place: Path) -> None:
    deep: Any = "x"
    for _ in range(400):
        deep = [deep]
    said = [
        Said("1", "user", "one"),
        Said("2", "tool_call", name="f", args=deep, call_id="c"),
        Said("3", "tool_result", call_id="c", result={1, 2}),
        Said("4", "user", "late", ts=1e30),
        Said("5", "user", "lone \ud800 half"),
        Said("6", "tool_call", name="n" * 5000, call_id="i" * 5000),
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
        def read(self, source: Source, note: Any) -> Any:
            yield talk("a", "one")
            raise KeyboardInterrupt

    with open_memory(place / "m") as memory, Source(SAMPLES / "mem0.json") as source:
        with pytest.raises(KeyboardInterrupt):
            run(memory, source, Failing())  # type: ignore[arg-type]
        assert [trace.content for trace in traces_of(memory)] == ["one"]
        assert bring(memory, talk("a", "one")).is_nothing


def test_progress_is_told_item_by_item(place: Path) -> None:
    seen: list[tuple[int, int]] = []
    with open_memory(place / "m") as memory:
        bring(memory, talk("a", "1"), talk("b", "2"), step=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 0), (2, 0)]


# --- forgotten -------------------------------------------------------------------------------------


def test_what_was_forgotten_does_not_come_back(place: Path) -> None:
    items = (
        talk("gone", "one", "two"),
        talk("by session", "three"),
        talk("in part", "four", "five", "six"),
        Document("d", "a text to forget", "Doc"),
        Claim("c", "user", "Likes tea"),
    )
    with open_memory(place / "m") as memory:
        bring(memory, *items)
        records = {record["session"]: record for record in ledger(memory) if record["kind"] == "done"}
        by_text = {trace.content: trace for trace in traces_of(memory)}
        part = by_text["five"]
        forget(
            memory,
            ("item", records[by_text["one"].session_id]["item"]),
            ("session", by_text["three"].session_id),
            ("item", part.correlation_id or ""),
            ("text", "six"),
            ("text", "a text to forget"),
        )
    # The log without any of it, and an import that knows of nothing.
    for name in ("log/traces", "log/imports.jsonl"):
        path = place / "m" / name
        path.rename(place / path.name)
    with open_memory(place / "m") as memory:
        gone = Talk("gone", "gone", broken_off(Said("gone0", "user", "one")))
        done = bring(memory, gone, *items[1:])
        assert [trace.content for trace in traces_of(memory)] == ["four", ""]
        assert (done.talks.forgotten, done.documents.forgotten, done.claims.new) == (2, 1, 1)
        assert done.passed_over == 1
        forget(memory, ("fact", fact_text("user", "note", "Likes tea")))
        done = bring(memory, items[-1], mine=True)
        assert (done.claims.forgotten, done.pages) == (1, ())


def test_a_real_export_that_went_on_is_told_by_its_conversation(place: Path) -> None:
    path = place / "conversations.json"
    with open_memory(place / "m") as memory:
        take(memory, export(path, conversation("a", *HELLO), conversation("b", *HELLO)))
        done = take(
            memory, export(path, conversation("b", *HELLO, ("user", "more")), conversation("c", *HELLO))
        )
        assert (done.talks.new, done.talks.grown, done.traces) == (1, 1, 3)
        assert done.titles == ("more", "hello there")


def test_what_a_person_forgot_is_in_no_byte_after_another_import(place: Path) -> None:
    path = place / "conversations.json"
    first = (("user", "I saw the nightingale at dawn."), ("assistant", "How lovely."))
    with open_memory(place / "m") as memory:
        take(
            memory,
            export(path, conversation("a", *first), conversation("b", *HELLO), conversation("c", *first)),
        )
        by_text = {trace.content: trace for trace in traces_of(memory)}
        memory.forget(session=by_text["hello there"].session_id)
        memory.forget(match="nightingale")
        more = ("user", "Another bird came.")
        done = take(
            memory,
            export(
                path,
                conversation("a", *first[::-1], more),
                conversation("b", *HELLO, more),
                conversation("c", *first),
            ),
        )
        assert (done.talks.forgotten, done.talks.grown, done.talks.known) == (1, 1, 1)
        assert "hello there" not in {trace.content for trace in traces_of(memory)}
        assert [str(each) for each in memory.check()] == []
    for file in (place / "m").rglob("*"):
        assert not file.is_file() or b"nightingale" not in file.read_bytes()
