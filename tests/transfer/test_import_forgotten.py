"""What was forgotten does not come back by an import: under no name, in no other file, in no other case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from importing import (
    HELLO,
    KEY,
    bring,
    broken_off,
    conversation,
    export,
    ledger,
    open_memory,
    take,
    talk,
    traces_of,
)
from looseleaf.base.ids import new_id
from looseleaf.facts.known_facts import TOMBSTONES_SCHEMA, fact_text, tombstone_hash
from looseleaf.memory import Memory
from looseleaf.transfer.source import ImportClaim, ImportDocument, ImportMessage, Talk


def forget(memory: Memory, *what: tuple[str, str]) -> None:
    """As a forgetting leaves it."""
    key = (Path(memory.path) / "log/key").read_bytes()
    hashes = [tombstone_hash(key, kind, text) for kind, text in what]
    record = {"schema": TOMBSTONES_SCHEMA, "id": new_id(), "ts": 1.0, "kind": "forgotten", "hashes": hashes}
    memory.parts.context.store.append("tombstones", [record])


# --- forgotten -------------------------------------------------------------------------------------


def test_what_was_forgotten_does_not_come_back(place: Path) -> None:
    items = (
        talk("gone", "one", "two"),
        talk("by session", "three"),
        talk("in part", "four", "five", "six"),
        ImportDocument("d", "a text to forget", "Doc"),
        ImportClaim("c", "user", "Likes tea"),
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
        gone = Talk("gone", "gone", broken_off(ImportMessage("gone0", "user", "one")))
        done = bring(memory, gone, *items[1:])
        assert [trace.content for trace in traces_of(memory)] == ["four", ""]
        assert (done.talks.forgotten, done.documents.forgotten, done.claims.new) == (2, 1, 1)
        assert done.forgotten == 2
        assert done.passed_over == 1
        forget(memory, ("fact", fact_text("user", "note", "Likes tea")))
        done = bring(memory, items[-1], mine=True)
        assert (done.claims.forgotten, done.pages) == (1, ())


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
        assert done.forgotten == 2
        assert "hello there" not in {trace.content for trace in traces_of(memory)}
        assert [str(each) for each in memory.check()] == []
    for file in (place / "m").rglob("*"):
        assert not file.is_file() or b"nightingale" not in file.read_bytes()


def gone_from(folder: Path, word: str) -> bool:
    return not any(
        word.casefold().encode() in file.read_bytes().lower() for file in folder.rglob("*") if file.is_file()
    )


def test_a_message_that_held_a_secret_stays_forgotten(place: Path) -> None:
    def said(name: str) -> Talk:
        return Talk(
            name, name, [ImportMessage(f"{name}{KEY}", "user", f"The zebra opens with {KEY} at noon")]
        )

    with open_memory(place / "m") as memory:
        bring(memory, said("a"))
        assert memory.forget(match="zebra").counts["traces"] == 1
        for mine in (False, True):
            done = bring(memory, said("a"), said("b"), mine=mine)
            assert (done.talks.forgotten, done.traces) == (2, 0)
    assert gone_from(place / "m", "zebra")


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("mine", [False, True])
def test_a_forgotten_line_does_not_come_back_under_another_name(mine: bool, again: bool, place: Path) -> None:
    text = "# Notes\n\nThe kiln is hot.\n- The ZEBRA came by. It ate the hay.\n> zebra crossing\n\nThe end.\n"
    with open_memory(place / "m") as memory:
        bring(memory, ImportDocument("a.md", text, "Notes", page="facts/a.md"), mine=mine)
        memory.forget(match="zebra")
        same = bring(memory, ImportDocument("a.md", text, "Notes", page="facts/a.md"), mine=mine)
        assert same.is_nothing
        look = bring(
            memory, ImportDocument("b.md", text, "Notes", page="facts/b.md"), mine=again, dry_run=True
        )
        done = bring(memory, ImportDocument("b.md", text, "Notes", page="facts/b.md"), mine=again)
        assert (look.documents.new, done.documents.new, done.forgotten) == (1, 1, 1)
        assert bring(memory, ImportDocument("b.md", text, "Notes", page="facts/b.md"), mine=again).is_nothing
        left = memory.pages.read("facts/b.md").text if again else traces_of(memory)[-1].tool_result["text"]
        assert "The kiln is hot." in left
        assert "The end." in left
        only = ImportDocument("c.md", "zebra crossing\n", "c", page="facts/c.md")
        assert bring(memory, only, mine=again).documents.forgotten == 1
        assert [str(each) for each in memory.check()] == []
    assert gone_from(place / "m", "zebra")


@pytest.mark.parametrize("mine", [False, True])
def test_a_document_that_went_with_its_session_stays_gone_under_another_name(mine: bool, place: Path) -> None:
    text = "one\ntwo\nthree\nfour\nfive\nsix\n"
    with open_memory(place / "m") as memory:
        bring(memory, ImportDocument("a.md", text, "List", page="facts/a.md"))
        memory.forget(session=traces_of(memory)[0].session_id)
        done = bring(memory, ImportDocument("b.md", text, "Other", page="facts/b.md"), mine=mine)
        assert (done.documents.forgotten, traces_of(memory), memory.pages.list()) == (1, [], [])


@pytest.mark.parametrize("mine", [False, True])
def test_a_forgotten_claim_does_not_come_back_in_another_case_or_with_a_secret(
    mine: bool, place: Path
) -> None:
    def graph(name: str) -> Path:
        path = place / "memory.jsonl"
        entity = {"type": "entity", "name": name, "entityType": "person"}
        observed = ["Keeps a zebra at home", f"Opens the zebra gate with {KEY}"]
        path.write_text(json.dumps(entity | {"observations": observed}), encoding="utf-8")
        return path

    with open_memory(place / "m") as memory:
        assert take(memory, graph("Ada Lovelace"), mine=mine).claims.new == 3
        memory.forget(match="zebra")
        for vouched_for in (False, True):
            assert take(memory, graph("ADA lovelace"), mine=vouched_for).claims.forgotten == 2
    assert gone_from(place / "m", "zebra")


def test_a_fact_that_was_forgotten_is_no_claim_again(place: Path) -> None:
    with open_memory(place / "m") as memory:
        bring(memory, ImportClaim("a", "user", "Oban", None, "Home"), mine=True)
        [fact] = memory.facts(topic="user")
        memory.forget(fact=fact.id)
        for mine in (False, True):
            assert (
                bring(memory, ImportClaim("b", "user", "Oban", None, "Home"), mine=mine).claims.forgotten == 1
            )
        assert (memory.facts(), memory.facts(status="pending")) == ([], [])


def test_of_a_message_the_forgotten_sentence_is_left_out_and_the_rest_is_taken(place: Path) -> None:
    with open_memory(place / "m") as memory:
        bring(memory, talk("a", "The zebra came at noon. It rained."))
        memory.forget(match="zebra")
        args = {"q": ["The zebra came at noon.", 7]}
        said = [
            ImportMessage("1", "user", "Listen. The Zebra came at noon. Good night."),
            ImportMessage("2", "tool_call", name="f", args=args, call_id="c"),
            ImportMessage("3", "assistant", "The zebra came at noon."),
        ]
        done = bring(memory, Talk("b", "b", said))
        assert (done.traces, done.forgotten, done.talks.new) == (2, 3, 1)
        call, spoken = sorted(traces_of(memory)[-2:], key=lambda trace: trace.content)
        assert spoken.content == "Listen. [forgotten] Good night."
        assert call.tool_args == {"q": ["[forgotten]", 7]}
    assert gone_from(place / "m", "zebra")
