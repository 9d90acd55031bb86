"""The screen Talk: sessions, turns with an address each, calls folded, each compaction where it happened."""

from __future__ import annotations

import json
import re
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from compacted_story import looking_at, make_compacted
from looseleaf import Memory
from looseleaf.pages.folder import init
from looseleaf.serve.web.render import day, long_day
from looseleaf.serve.web.screens.talk import LONGEST, SESSIONS, TURNS
from paging import SCRIPT, UNSEEN, Person, addresses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Server

FEBRUARY = "/talk/session/heron-february"


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Person]]:
    with looking_at(tmp_path_factory) as found:
        make_long(found[0].root / "long")
        yield found


@pytest.fixture(scope="module")
def person(visit: tuple[Server, Person]) -> Person:
    return visit[1]


@pytest.fixture(scope="module")
def long(visit: tuple[Server, Person]) -> Iterator[Person]:
    with Person(visit[0], "long") as found:
        yield found


def make_long(path: Path) -> None:
    """Make a memory with many sessions, a long one, one that is forgotten, and all that a trace may have."""
    init(str(path))
    for number in range(SESSIONS + 3):
        with Memory(path, session=f"s{number:02}") as memory:
            memory.record(user=f"Message {number}.")
    with Memory(path, session="endless") as memory, memory.batch() as batch:
        for number in range(TURNS + 5):
            batch.record(user=f"Question {number}.")
            batch.record(assistant=f"Answer {number}.")
    with Memory(path, session="odd") as memory:
        memory.record(user=f"{SCRIPT} {UNSEEN}", media={"images": ["https://pictures.example/a.png"]})
        memory.record(tool_call="bash", tool_args="ls", tool_call_id="a", content="I look.")
        memory.record(tool_error="No such folder.", tool_call_id="a")
        memory.record(tool_call="read", tool_args={"path": "p" * 100}, tool_call_id="b")
        memory.record(tool_result="w" * (LONGEST + 7), tool_call_id="b")
        memory.record(tool_call="wait", tool_args={}, tool_call_id="c")
        memory.record(tool_result="Nobody asked for this.", tool_call_id="x", tool_name="bash")
        memory.record(assistant="a" * (LONGEST + 9), reasoning="I wondered.")
    with Memory(path, agent="codex", session="codex-1") as memory:
        memory.record(user="Codex, hello.")
    with Memory(path, session="secret") as memory:
        memory.record(user="The vault is under the garden.")
        memory.forget(session="secret")


def test_sessions_are_listed_newest_first(person: Person) -> None:
    words = person.get("/talk").words
    names = ("heron-september", "heron-may", "heron-february")
    assert sorted(names, key=words.index) == list(names)
    assert "4 turns" in words
    assert "16 messages and calls" in words


def test_older_sessions_are_a_page_further(long: Person) -> None:
    newest = long.get("/talk")
    older = long.get("/talk", page="2")
    assert "s00" not in newest.words
    assert "s00" in older.words
    assert any("page=2" in each for each in newest.links)
    assert any("page=1" in each for each in older.links)
    assert "There are no older sessions." in long.get("/talk", page="99").words
    assert long.get("/talk", page="0").words == long.get("/talk", page="x").words == newest.words


def test_a_memory_without_talk_says_how_to_record_it(visit: tuple[Server, Person]) -> None:
    init(str(visit[0].root / "silent"))
    with Person(visit[0], "silent") as person:
        assert "Nobody has talked here yet." in person.get("/talk").words


def test_each_turn_has_an_address(person: Person) -> None:
    session = person.get(FEBRUARY)
    turns = [each for each in addresses(session) if "/talk/turn/" in each]
    assert len(turns) == 4
    for each, name in zip(turns, ("turn_0001", "turn_0002", "turn_0003", "turn_0004"), strict=True):
        assert name in each
        shown = person.get(f"/talk/turn/{name}")
        assert shown.status == 200
        assert shown.headings == [1]
        assert "heron-february" in shown.words


def test_a_call_is_folded_with_its_result(person: Person) -> None:
    shown = person.get(FEBRUARY)
    assert [tag for tag, given in shown.tags if tag == "details" and given.get("class") == "call"]
    assert "read_file heron/store.py 2,158 characters" in shown.words
    assert "def load_access" in shown.words


def test_a_compaction_stands_after_what_it_followed_with_its_report(person: Person) -> None:
    words = person.get(FEBRUARY).words
    assert words.index("All 14 tests pass") < words.index("Compacted") < words.index("Expand")
    assert "1,033 to 507 tokens; dropped 2 turns, 6 traces." in words
    assert "decisions 1 in, 1 out" in words
    assert "Compacted" not in person.get("/talk/session/heron-may").words


def test_what_was_compacted_is_still_there(person: Person) -> None:
    link = next(each for each in person.get(FEBRUARY).links if "/talk/trace/" in each)
    expanded = person.get(link.removeprefix(person.home))
    assert "What was distilled" in expanded.words
    assert "Never push to main without a review." in expanded.words
    assert "def load_event" in expanded.words


def test_one_message_has_an_address_and_a_call_is_shown_with_its_result(person: Person) -> None:
    ids = [given["id"] for _, given in person.get(FEBRUARY).tags if given.get("class") == "row"]
    assert "Hi, I'm Mira Okafor." in person.get(f"/talk/trace/{ids[0]}").words
    call = person.get(f"/talk/trace/{ids[3]}").words
    assert "read_file heron/store.py" in call
    assert "def load_event" in call


def test_one_message_is_shown_in_its_turn_under_a_heading_for_people(person: Person) -> None:
    ids = [given["id"] for _, given in person.get(FEBRUARY).tags if given.get("class") == "row"]
    shown = person.get(f"/talk/trace/{ids[0]}")
    assert re.search(r"<h1>You, \d+ February 2025</h1>", shown.html)
    marked = [each["id"] for _, each in shown.tags if each.get("aria-current") == "true" and "id" in each]
    assert marked == [ids[0]]
    rows = [given["id"] for _, given in shown.tags if given.get("class") == "row"]
    assert len(rows) > 1
    tool = person.get(f"/talk/trace/{ids[3]}")
    assert "<h1>The tool read_file, " in tool.html
    assert [
        each for tag, each in tool.tags if tag == "details" and each.get("class") == "call" and "open" in each
    ]


def test_sessions_are_titled_by_their_first_sentence(person: Person, long: Person) -> None:
    shown = person.get("/talk")
    title = re.search(r'<a class="words" href="[^"]*heron-february[^"]*">([^<]+)</a>', shown.html)
    assert title is not None
    assert title[1].startswith("Hi, I&#39;m Mira Okafor.")
    assert '<span class="id">heron-february</span>' in shown.html
    assert f"<h1>{title[1]}</h1>" in person.get(FEBRUARY).html
    assert "<h1>Question 0.</h1>" in long.get("/talk/session/endless").html


def test_a_long_session_is_shown_in_parts(long: Person) -> None:
    last = long.get("/talk/session/endless")
    first = long.get("/talk/session/endless", page="2")
    assert f"Question {TURNS + 4}." in last.words
    assert "Question 4." not in last.words
    assert "Question 4." in first.words
    assert "Question 5." not in first.words
    assert "earlier turns" in last.words
    assert "later turns" in first.words


def test_all_that_a_trace_may_have_is_shown(long: Person) -> None:
    words = long.get("/talk/session/odd").words
    assert SCRIPT in words
    assert "<U+202E>admin" in words
    assert "https://pictures.example/a.png" in words
    assert "bash ls failed" in words
    assert "No such folder." in words
    assert "I look." in words
    assert "wait no result" in words
    assert "Nobody asked for this." in words
    assert "I wondered." in words
    assert "7 characters more" in words
    assert "9 characters more" in words


def test_a_long_text_is_whole_at_its_own_address(long: Person) -> None:
    links = [each for each in long.get("/talk/session/odd").links if "/talk/trace/" in each]
    for each in links:
        whole = long.get(each.removeprefix(long.home)).words
        assert whole.count("characters more") == len(links) - 1  # the other long text of the turn
        assert "w" * (LONGEST + 7) in whole or "a" * (LONGEST + 9) in whole


def test_a_forgotten_session_says_when_it_went(long: Person) -> None:
    shown = long.get("/talk/session/secret")
    assert shown.status == 404
    assert f"This session was forgotten on {long_day(day(time.time()))}" in shown.words


def test_what_is_not_there_is_said_and_looking_makes_no_agent(
    visit: tuple[Server, Person], person: Person
) -> None:
    assert "There is no session of this name." in person.get("/talk/session/nope").words
    assert "There is no turn turn_9999." in person.get("/talk/turn/turn_9999").words
    assert person.get("/talk/trace/nope").status == 404
    assert person.get("/talk/session/codex-1").status == 404
    assert "There is no agent of this name here." in person.get("/talk", agent="codex").words
    assert not (visit[0].root / "mira/log/traces/codex").exists()


def test_other_agents_talk_is_a_link_away(long: Person) -> None:
    assert "Codex, hello." not in long.get("/talk").words
    assert "Codex, hello." in long.get("/talk", agent="codex").words
    assert "Codex, hello." in long.get("/talk/session/codex-1", agent="codex").words


def test_a_compaction_says_what_it_lost_or_why_nobody_knows(visit: tuple[Server, Person]) -> None:
    path = make_compacted(visit[0].root / "lost")
    meta = next(each for each in path.glob("log/entries/*/*/meta.json") if '"loss"' in each.read_text())
    told = json.loads(meta.read_text())
    told["loss"]["kept"][1] |= {"out": 0, "missing": ["We use SQLite."]}
    told["loss"] |= {"failures": ["the model was away"], "shortened": [{"trace": "x", "tokens": 9}]}
    meta.write_text(json.dumps(told))
    with Person(visit[0], "lost") as person:
        words = person.get(FEBRUARY).words
        assert "decisions 1 in, 0 out no longer mentioned: We use SQLite." in words
        assert "Failed: the model was away" in words
        assert "1 trace shortened" in words
        meta.write_text(json.dumps({**told, "loss": {}}))
        assert "It left no report." in person.get(FEBRUARY).words
        meta.write_text("{")
        assert "was not read" in person.get(FEBRUARY).words
        shutil.rmtree(meta.parent)
        assert "What it was made of was forgotten." in person.get(FEBRUARY).words
        with Memory(path) as memory:
            store = memory.parts.context.store
            mark = next(line.record for line in store.read("journal") if line.record.get("kind") == "mark")
            store.append("journal", [{**mark, "id": "01K4PS2J20BZQAAQ50E3MEF5P6", "entry": None}])
        assert "The window had become too long, and was cut here." in person.get(FEBRUARY).words
        with Memory(path) as memory:
            memory.forget(match="pytest")
        assert "Compacted" in person.get(FEBRUARY).words
