"""Forgetting: afterwards the memory is what it would have been had the source never been there, and nothing is left."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from forgetting import (
    FIRMS,
    PLACES,
    POLICY,
    STATUSES,
    THEN,
    THINGS,
    Op,
    a_history,
    differences,
    every_file,
    holding,
    live,
    lived_twice,
    open_memory,
    seen,
    without_ids,
    without_words,
)
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.ids import at, is_id, new_id
from looseleaf.facts.known_facts import FILE
from looseleaf.store import JOURNAL, records
from placing import RULES, Stub
from tables import check_rows

if TYPE_CHECKING:
    from looseleaf.base.values import Fact

CANARY = "Zebrafish"
SECRET = f"I am allergic to {CANARY} tea."


# --- a memory that never saw it ----------------------------------------------------------


def left_of(tmp_path: Path, seed: int) -> tuple[list[str], list[str]]:
    """A history lived whole, of which a session is forgotten, beside the same one lived without it: what differs, and
    what is wrong."""
    ops = a_history(seed)
    victim = random.Random(seed).choice(sorted({op.session for op in ops if op.session}))
    memory, other = lived_twice(tmp_path, ops, ops, without={victim})
    with memory, other:
        done = memory.forget(session=victim)
        assert done.probe is not None
        wrong = [*map(str, memory.check()), *done.probe.hits]
        return differences(seen(memory), seen(other)), wrong


@pytest.mark.parametrize("seed", [1, 5])
def test_what_is_left_of_a_history_is_the_history_without_it(tmp_path: Path, seed: int) -> None:
    assert left_of(tmp_path, seed) == ([], [])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_what_is_left_of_any_history_is_the_history_without_it(tmp_path: Path, seed: int) -> None:
    assert left_of(tmp_path, seed) == ([], [])


def left_by(tmp_path: Path, seed: int, by: str) -> tuple[list[str], list[str]]:
    """The same for an origin, and for words. Entries that lose a part keep their ids, where others would have been
    made: so ids are not compared."""
    words = random.Random(seed).choice((*THINGS, *PLACES, *FIRMS))
    ops = a_history(seed, compacts=by != "match")
    if by == "match":  # a call stays where its result went, and is open then
        ops = [op for op in ops if op.kind not in ("tool", "answer") or words not in op.texts[0]]
        memory, other = lived_twice(tmp_path, ops, without_words(ops, words))
    else:
        memory, other = lived_twice(tmp_path, ops, ops, origins=("assistant",))
    with memory, other:
        try:
            done = memory.forget(match=words) if by == "match" else memory.forget(origin="assistant")
        except Refused:
            return [], []  # nobody said it in this history
        assert done.probe is not None
        wrong = [*map(str, memory.check()), *done.probe.hits]
        return differences(without_ids(seen(memory)), without_ids(seen(other))), wrong


@pytest.mark.parametrize("by", ["origin", "match"])
def test_what_is_left_is_the_same_by_origin_and_by_words(tmp_path: Path, by: str) -> None:
    assert left_by(tmp_path, 303, by) == ([], [])


@pytest.mark.long
@pytest.mark.parametrize("by", ["origin", "match"])
@pytest.mark.parametrize("seed", range(2000, 2025))
def test_what_is_left_of_any_history_is_the_same_by_origin_and_by_words(
    tmp_path: Path, seed: int, by: str
) -> None:
    assert left_by(tmp_path, seed, by) == ([], [])


def test_a_value_that_the_forgotten_source_had_replaced_is_true_again(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", ("I live in Berlin.",)), Op("distill")])
        live(memory, [Op("talk", "b", ("I moved to Paris.",)), Op("distill")])
        assert said(memory) == ["Home: Paris"]
        memory.forget(session="b")
        assert said(memory) == ["Home: Berlin"]
        assert [fact.status for fact in memory.facts(status="superseded")] == []


def test_what_was_said_elsewhere_too_keeps_its_other_source(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        ops = [Op("talk", "a", (SECRET,)), Op("distill"), Op("talk", "b", (SECRET,)), Op("distill")]
        live(memory, ops)
        [fact] = memory.facts()
        assert len(fact.sources) == 2
        memory.review.pin(fact.id or "")
        done = memory.forget(session="a")
        [fact] = memory.facts()
        assert len(fact.sources) == 1
        assert "pinned" in fact.tags
        assert memory.explain.sources(fact)[0].text == SECRET
        assert done.probe is not None
        assert not done.probe.hits


def test_what_a_person_wrote_himself_stays(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", ("I live in Paris.",)), Op("distill")])
        live(
            memory,
            [Op("append", "", ("facts/places.md", "- Visited: Paris")), Op("goal", "", ("see Paris",))],
        )
        memory.forget(session="a")
        assert said(memory) == ["Visited: Paris"]
        assert memory.state.goal == "see Paris"


def said(memory: Memory, status: str = "current") -> list[str]:
    return [f"{fact.relation}: {fact.object}" for fact in memory.facts(status=status)]


# --- nothing is left ---------------------------------------------------------------------


def planted(folder: Path) -> Memory:
    """A memory that holds the canary wherever a memory can hold anything."""
    memory = open_memory(folder)
    live(memory, [Op("talk", "old", ("I live in Berlin. I am allergic to latex.",)), Op("distill")])
    memory.parts.conversation.recorder.session = "secret"
    with at(THEN + 5000, "secret"):
        memory.record(user=f"{SECRET} Caf\u00e9 {CANARY} \ud800.", ts=THEN + 5000)
        memory.record(assistant=f"So you like {CANARY} tea.", ts=THEN + 5001)
        memory.record(
            tool_call="web", tool_args={"query": f"about {CANARY} tea"}, tool_call_id="c1", ts=THEN + 5002
        )
        memory.record(tool_result=f"Buy {CANARY} tea. " + "x" * 300_000, tool_call_id="c1", ts=THEN + 5003)
        memory.record(user=f"TODO: brew {CANARY} tea. We decided to use {CANARY} cups.", ts=THEN + 5004)
        memory.distill()
    memory.parts.context.store.rotate("traces/main")
    live(memory, [Op("talk", "new", ("I work at Acme.",))])
    with at(THEN + 9000, "late"):
        memory.prompt("What do I drink?", budget=8000)
        memory.window.compact()
        memory.distill()
        memory.prompt("And now?", budget=8000)
        memory.recall(f"{CANARY} tea")
        memory.pages.edit(
            "USER.md",
            lambda text: text.replace(f"- Allergy: {CANARY} tea\n", ""),
            reason="x",
            author="person",
        )
    root = memory.parts.files._root
    root.put_aside(f"- {SECRET}\n".encode(), "collision-USER.md")
    (folder / "log/staged").mkdir(exist_ok=True)
    (folder / f"log/staged/{new_id()}.put").write_text(f"half of {SECRET}")
    memory.record(user="I use vim.")
    lines = (folder / "log/traces/main/raw_traces.jsonl").read_bytes()
    broken = f' {{"id":"x","content":"{SECRET} and","crc":"00000000"}}\n'.encode()
    short = json.dumps({"content": f"{CANARY}"}).encode() + b"\n"
    (folder / "log/traces/main/raw_traces.jsonl").write_bytes(broken + short + lines)
    memory.close()
    return open_memory(folder)


def test_the_canary_is_where_a_memory_can_hold_anything(tmp_path: Path) -> None:
    """Else the tests below would prove nothing."""
    planted(tmp_path / "m").close()
    paths = "\n".join(holding(tmp_path / "m", CANARY))
    kinds = [
        "traces/main/archive",
        "traces/main/raw",
        "journal",
        "prompts",
        "entries",
        "bodies",
        "aside",
        "staged",
    ]
    kinds += ["days/", "state.json", "views/topics", "views/facts", "views/heads"]
    assert [kind for kind in kinds if kind not in paths] == []


def test_words_are_nowhere_afterwards(tmp_path: Path) -> None:
    with planted(tmp_path / "m") as memory:
        lengths = {path: len(data) for path, data in every_file(tmp_path / "m") if "log/traces" in path}
        done = memory.forget(match=CANARY.lower())
        assert holding(tmp_path / "m", CANARY) == []
        assert done.probe is not None
        assert (done.probe.hits, done.probe.theirs) == ((), ())
        assert done.probe.files > 30
        assert all(done.counts.values())
        after = {path: len(data) for path, data in every_file(tmp_path / "m") if "log/traces" in path}
        assert after == {path: size for path, size in lengths.items() if path in after}
        assert [str(each) for each in memory.check() if each.severity == "error"] == []
        assert said(memory)[:3] == ["Home: Berlin", "Employer: Acme", "Allergy: latex"]
        assert not memory.recall(f"{CANARY} tea")


def test_a_session_is_nowhere_afterwards(tmp_path: Path) -> None:
    with planted(tmp_path / "m") as memory:
        done = memory.forget(session="secret")
        left = holding(tmp_path / "m", CANARY)
        # A line that somebody made by hand, and that is no trace, is of no session.
        assert left == ["log/traces/main/raw_traces.jsonl"]
        assert done.counts["traces"] == 5
        assert done.probe is not None
        assert done.probe.hits == ()
        assert said(memory)[:3] == ["Home: Berlin", "Employer: Acme", "Allergy: latex"]
        assert [each.session_id for each in memory.talk.sessions()] == ["old", "new"]


def test_an_origin_is_nowhere_afterwards(tmp_path: Path) -> None:
    with planted(tmp_path / "m") as memory:
        assert any("300" in str(path) or data.count(b"x" * 1000) for path, data in every_file(tmp_path / "m"))
        done = memory.forget(origin="tool")
        assert done.counts["traces"] == 1
        assert not any(data.count(b"x" * 1000) for _, data in every_file(tmp_path / "m"))
        assert "Allergy: latex" in said(memory)
        assert [str(each) for each in memory.check() if each.severity == "error"][1:] == []


def test_a_fact_goes_with_its_line_and_its_quotes_and_other_mentions_are_counted(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(
            memory,
            [
                Op("talk", "a", ("I live in Quillan. I am allergic to latex.", "Quillan has a market.")),
                Op("distill"),
            ],
        )
        fact = next(fact for fact in memory.facts() if fact.object == "Quillan")
        dry = memory.forget(fact=fact.id, dry_run=True)
        assert len(dry.mentions) == 1
        assert dry.first["facts"] == ("Home: Quillan",)
        assert "Home: Quillan" in said(memory)
        memory.forget(fact=fact.id)
        assert said(memory) == ["Allergy: latex"]
        [first, second] = [trace.content for turn in memory.talk.turns() for trace in turn.traces]
        assert (first, second) == ("[forgotten]. I am allergic to latex.", "Quillan has a market.")
        assert "Quillan" not in "".join(
            json.dumps(line.record) for line in memory.parts.context.store.read(JOURNAL)
        )


def test_a_topic_goes_with_its_page_its_history_and_its_entries(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("write", "", (f"We decided to use {CANARY}. Soil is clay.",))])
        live(memory, [Op("append", "", ("facts/garden.md", f"- Grows: {CANARY} roses"))])
        assert (tmp_path / "m/facts/garden.md").exists()
        done = memory.forget(topic="garden")
        assert not (tmp_path / "m/facts/garden.md").exists()
        assert holding(tmp_path / "m", CANARY) == []
        assert done.probe is not None
        assert done.probe.hits == ()
        assert list((tmp_path / "m/log/entries").iterdir()) == []
        assert [str(each) for each in memory.check()] == []


def test_what_waits_in_review_goes_with_its_document(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.distill(f"I am allergic to {CANARY} cake. I live in Oslo.", topic="cake")[0]
        memory.distill("I am allergic to latex.", topic="gloves")[0]
        assert f"Allergy: {CANARY} cake" in said(memory, "pending")
        memory.forget(match=CANARY)
        assert said(memory, "pending") == ["Home: Oslo", "Allergy: latex"]
        assert holding(tmp_path / "m", CANARY) == []
        memory.forget(origin="document")
        assert said(memory, "pending") == []
        assert [str(each) for each in memory.check()] == []


def test_files_of_the_user_are_named_and_left_alone(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (SECRET,)), Op("distill")])
        own = tmp_path / "m/recall.tests.toml"
        own.write_text(f'[[test]]\nquestion = "what tea?"\ncontains = ["{CANARY}"]\n')
        done = memory.forget(match=CANARY)
        assert done.probe is not None
        assert (done.probe.hits, done.probe.theirs) == ((), ("recall.tests.toml",))
        assert CANARY in own.read_text()


# --- it does not come back ---------------------------------------------------------------


def test_a_fact_that_was_forgotten_does_not_come_back_from_words_before(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (SECRET,)), Op("distill"), Op("talk", "b", ("Yes. " + SECRET,))])
        memory.forget(fact=memory.facts()[0].id)
        memory.distill()
        assert said(memory) == []
        memory.record(user=SECRET)
        memory.distill()
        assert said(memory) == [f"Allergy: {CANARY} tea"]


def test_a_document_that_was_forgotten_is_not_written_again_unless_a_person_says_so(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        text = f"The garden grows {CANARY} roses."
        memory.distill(text, topic="garden")[0]
        memory.forget(origin="document")
        with pytest.raises(Refused, match="was forgotten"):
            memory.distill(text, topic="garden")[0]
        memory.distill(text, topic="garden", author="person")[0]


def test_what_was_imported_and_forgotten_is_not_imported_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from looseleaf.cli.main import main

    source = tmp_path / "talk.jsonl"
    lines = [
        {"role": "user", "content": f"{SECRET} And I live in Oslo."},
        {"role": "assistant", "content": "I see."},
    ]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    open_memory(tmp_path / "m").close()
    command = ["--memory", str(tmp_path / "m"), "import", str(source), "--as", "messages"]
    assert main(command) == 0
    assert holding(tmp_path / "m", CANARY)
    with open_memory(tmp_path / "m") as memory:
        memory.forget(origin="import")
    assert holding(tmp_path / "m", CANARY) == []
    assert main(command) == 0
    assert holding(tmp_path / "m", CANARY) == []
    capsys.readouterr()


def test_the_tombstone_holds_no_word_of_it(tmp_path: Path) -> None:
    with planted(tmp_path / "m") as memory:
        done = memory.forget(match=CANARY)
        [line] = memory.parts.context.store.read("tombstones")
        assert line.record["id"] == done.id
        members = {"schema", "id", "ts", "kind", "by", "counts", "key", "hashes", "gone", "words"}
        assert set(line.record) == members
        assert line.record["words"] == [len(CANARY.split())]
        assert all(map(is_id, line.record["gone"]))
        assert all(len(each) == 32 for each in line.record["hashes"])
        [record] = [
            line.record
            for line in memory.parts.context.store.read(JOURNAL)
            if line.record["kind"] == "forgotten"
        ]
        assert record["id"] == done.id


def test_forgetting_twice_finds_nothing_more_and_says_so(tmp_path: Path) -> None:
    with planted(tmp_path / "m") as memory:
        memory.forget(match=CANARY)
        files = {path: data for path, data in every_file(tmp_path / "m") if not path.startswith("views/")}
        again = memory.forget(match=CANARY)
        assert again.is_nothing
        assert again.probe is not None
        assert again.probe.hits == ()
        assert {
            path: data for path, data in every_file(tmp_path / "m") if not path.startswith("views/")
        } == files


def test_what_means_nothing_is_refused(tmp_path: Path) -> None:
    numbers = count()

    def check(given: dict[str, Any], why: str) -> None:
        fresh = tmp_path / str(next(numbers))
        fresh.mkdir()
        with open_memory(fresh / "m") as memory:
            live(memory, [Op("talk", "a", (SECRET,)), Op("distill")])
            files = dict(every_file(fresh / "m/log"))
            with pytest.raises(Refused, match=why):
                memory.forget(**given)
            assert {path: files[path] for path in files if "jsonl" in path} == {
                path: data for path, data in every_file(fresh / "m/log") if "jsonl" in path
            }

    check_rows(
        check,
        [
            ({}, "by one of `--fact`, `--topic`, `--session`, `--origin` or `--match`."),
            ({"fact": "f_1", "topic": "x"}, "say what to forget"),
            ({"match": "  "}, "say what to forget"),
            ({"match": "ab"}, "too short"),
            ({"fact": "f_123456"}, "there is no fact"),
            ({"topic": "nowhere"}, "there is no topic"),
            ({"session": "nobody"}, "holds nothing"),
            ({"origin": "nobody"}, "holds nothing"),
            ({"match": "nobody said that"}, "holds nothing"),
        ],
    )


def test_only_what_one_agent_recorded_goes_if_that_is_asked(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory, open_memory(tmp_path / "m", agent="other") as other:
        live(memory, [Op("talk", "a", (SECRET,)), Op("distill")])
        live(other, [Op("talk", "a", (f"I drink {CANARY} tea daily.",))])
        memory.forget(session="a", agent="other")
        assert said(memory) == [f"Allergy: {CANARY} tea"]
        assert other.talk.turns() == []


# --- others that have it open --------------------------------------------------------------


def test_another_that_was_open_sees_the_new_memory_and_goes_on(tmp_path: Path) -> None:
    with planted(tmp_path / "m") as memory, open_memory(tmp_path / "m", session="here") as other:
        other.record(user="I use vim.")
        before = json.dumps([message.content for message in other.window.messages()])
        assert CANARY in before
        assert other.prompt("What do I drink?", budget=8000).messages
        assert other.recall(f"{CANARY} tea")
        assert any(CANARY in fact.object for status in STATUSES for fact in other.facts(status=status))
        memory.forget(match=CANARY)
        assert CANARY not in json.dumps([message.content for message in other.window.messages()])
        told = other.prompt("What do I drink?", budget=8000)
        assert CANARY not in json.dumps([message.content for message in told.messages])
        assert not other.recall(f"{CANARY} tea")
        assert not any(CANARY in fact.object for status in STATUSES for fact in other.facts(status=status))
        other.record(user="I live in Oslo.")
        other.distill()
        assert "Home: Oslo" in said(other)
        assert [str(each) for each in other.check() if each.severity == "error"] == []
    assert holding(tmp_path / "m", CANARY) == []


def test_another_process_sees_the_new_memory(tmp_path: Path) -> None:
    script = """
import sys
from looseleaf import Memory
memory = Memory(sys.argv[1], session="there")
memory.facts(), memory.window.messages(), memory.pages.read("USER.md")
print("ready", flush=True)
sys.stdin.readline()
memory.record(user="I use vim.")
memory.distill()
memory.pages.edit("USER.md", lambda text: text + "- Note: still here\\n", reason="x", author="person")
print([fact.object for fact in memory.facts()], [m.content for m in memory.window.messages()], flush=True)
memory.close()
"""
    with planted(tmp_path / "m") as memory:
        child = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "m")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        memory.forget(match=CANARY)
        told, _ = child.communicate("go\n", timeout=60)
        assert "vim" in told
        assert "still here" in told
        assert CANARY not in told
        assert [str(each) for each in memory.check() if each.severity == "error"] == []
    assert holding(tmp_path / "m", CANARY) == []


def test_a_page_that_is_saved_in_the_same_moment_stays_and_the_probe_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from looseleaf.store import documents as switch

    real = switch.finish

    def finish(root: Any) -> None:
        page = tmp_path / "m/USER.md"
        page.write_text(page.read_text() + f"- Note: {CANARY} for ever\n")
        real(root)

    monkeypatch.setattr(switch, "finish", finish)
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (SECRET,)), Op("distill")])
        done = memory.forget(match=CANARY)
        assert done.probe is not None
        assert "USER.md" in done.probe.hits
        assert f"{CANARY} for ever" in memory.pages.read("USER.md").text
        monkeypatch.undo()
        again = memory.forget(match=CANARY)
        assert again.probe is not None
        assert again.probe.hits == ()
    assert holding(tmp_path / "m", CANARY) == []


# --- what a model made -------------------------------------------------------------------


def test_what_a_model_made_is_kept_as_far_as_it_can_be_told_apart(tmp_path: Path) -> None:
    class Teller(Stub):
        def distill(self, material: Any, tokens: int) -> Any:
            made = super().distill(material, tokens)
            told = "The user lives in Berlin. He likes tea."
            return type(made)(told, {"title": "like tea", "summary": "tea in Berlin"}, made.facts)

    with Memory(tmp_path / "m", policy=POLICY, distiller=Teller(RULES), session="a") as memory:
        memory.record(user="I live in Berlin.", ts=THEN)
        memory.record(user="I like tea.", ts=THEN + 1)
        memory.distill()
        fact = next(fact for fact in memory.facts() if fact.object == "Berlin")
        memory.forget(fact=fact.id)
        assert said(memory) == ["Likes: tea"]
        [entry] = [Path(path) for path, _ in every_file(tmp_path / "m") if path.endswith("summary.json")]
        summary = json.loads((tmp_path / "m" / entry).read_text())
        assert summary["summary"] == "[forgotten]. He likes tea."
        assert [each["object"] for each in summary["facts"]] == ["tea"]
        assert json.loads((tmp_path / "m" / entry.parent / "meta.json").read_text())["distiller"] == "stub/1"
        assert "Berlin" not in "".join(data.decode() for path, data in every_file(tmp_path / "m/log/entries"))


def test_what_a_model_named_as_private_stays_off_the_pages_when_something_else_goes(tmp_path: Path) -> None:
    secret = "My salary is 70k, that one is only for you."

    class Teller(Stub):
        def distill(self, material: Any, tokens: int) -> Any:
            made = super().distill(material, tokens)
            private = tuple(trace.id for trace in material.traces() if trace.content == secret)
            return type(made)("They talked.", None, made.facts, private=private)

    with Memory(tmp_path / "m", policy=POLICY, distiller=Teller(RULES), session="a") as memory:
        memory.record(user=secret, ts=THEN)
        memory.record(user="I live in Berlin.", ts=THEN + 1)
        memory.record(user="I like tea.", ts=THEN + 2)
        memory.distill()
        memory.forget(fact=next(fact for fact in memory.facts() if fact.object == "Berlin").id)
        assert said(memory) == ["Likes: tea"]
        pages = {
            path: data for path, data in every_file(tmp_path / "m") if not path.startswith(("log/", "views/"))
        }
        assert any(path.startswith("days/") for path in pages)
        assert [path for path, data in pages.items() if b"70k" in data] == []


# --- prompts, undo, the key --------------------------------------------------------------


def test_a_prompt_that_told_of_it_cannot_be_rendered_again_and_the_next_one_begins_anew(
    tmp_path: Path,
) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", ("I live in Berlin.",)), Op("distill")])
        with at(THEN + 2500, "one"):
            first = memory.prompt("one", budget=8000).manifest.id
        live(memory, [Op("talk", "b", (SECRET,)), Op("distill")])
        second = memory.prompt("two", budget=8000).manifest.id
        memory.forget(session="b")
        with pytest.raises(Refused):
            memory.explain.replay(second)
        assert memory.explain.replay(first).messages
        assert CANARY not in json.dumps(
            [each.content for each in memory.prompt("three", budget=8000).messages]
        )


def test_an_edit_can_still_be_undone_afterwards(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (SECRET,)), Op("distill")])
        live(memory, [Op("append", "", ("USER.md", "- Note: latex again"))])
        memory.forget(session="a")
        assert said(memory) == ["note: latex again"]
        memory.history.undo("USER.md")
        assert said(memory) == []
        assert [str(each) for each in memory.check() if each.severity == "error"] == []


def test_numbers_of_turns_stay_used(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", ("I live in Berlin.",)), Op("talk", "b", (SECRET,))])
        last = memory.talk.turns()[-1].turn_id
        memory.forget(session="b")
        assert memory.record(user="And now?").turn_id > last


def _facts(memory: Memory) -> list[Fact]:
    return [fact for status in STATUSES for fact in memory.facts(status=status)]


def test_an_undo_of_what_went_goes_too(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", ("I live in Berlin.",)), Op("distill")])
        live(memory, [Op("talk", "b", ("I moved to Paris.",)), Op("distill")])
        memory.history.undo("USER.md")
        memory.forget(session="b")
        assert said(memory) == ["Home: Berlin"]
        assert [fact.status for fact in _facts(memory)] == ["current"]


def test_a_line_that_was_forgotten_is_as_long_as_it_was_and_whole(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (SECRET,)), Op("talk", "b", (f"Hi. I really do like {CANARY}!",))])
        path = tmp_path / "m/log/traces/main/raw_traces.jsonl"
        before = path.read_bytes().split(b"\n")
        memory.forget(match=CANARY)
        after = path.read_bytes().split(b"\n")
        assert list(map(len, before)) == list(map(len, after))
        gone, masked = (records.decode(line)[0] for line in after[:2])
        assert (gone["kind"], gone["schema"], set(gone)) == (
            "gone",
            "gone.v1",
            {"schema", "kind", "id", "turn_id"},
        )
        assert masked["content"] == "Hi. [forgotten]!"
        assert FILE in [name for name, _ in every_file(tmp_path / "m")]
