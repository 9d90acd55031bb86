"""History lived again: whatever a journal may hold, what is left of it is whole and says nothing of what went."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from forgetting import (
    POLICY,
    THEN,
    Op,
    differences,
    every_file,
    holding,
    live,
    lived_twice,
    open_memory,
    seen,
)
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.ids import at, new_id, now
from looseleaf.base.values import START, Position
from looseleaf.forget.replay import World
from looseleaf.log.journal import make_edit, record_of
from looseleaf.store import JOURNAL
from placing import RULES, Stub, fact, tool_says

if TYPE_CHECKING:
    from collections.abc import Callable

CANARY = "Zebrafish"
SECRET = f"I am allergic to {CANARY} tea."


def kept(memory: Memory) -> list[str]:
    return [f"{fact.relation}: {fact.object}" for fact in memory.facts()]


def is_sound(memory: Memory, folder: Path) -> None:
    assert [str(each) for each in memory.check() if each.severity == "error"] == []
    assert holding(folder, CANARY) == []


def by_hand(
    memory: Memory, path: str, change: Callable[[bytes | None], bytes | None], author: str, **more: Any
) -> str:
    """An edit as the journal has it; the page is not touched."""
    document = memory.parts.context.store.get(path)
    old = document.data if document is not None else None
    edit = make_edit(new_id(), now(), path, author, "by hand", old, change(old), **more)
    memory.parts.context.store.append(JOURNAL, [record_of(edit)])
    return edit.id


@pytest.mark.parametrize("title", ["# Work", "# Work Facts", "# What we work with"])
def test_a_page_keeps_its_title_when_what_it_was_made_for_goes(tmp_path: Path, title: str) -> None:
    with open_memory(tmp_path) as memory:
        for said in (f"{title}\n- Tool: {CANARY}\n", "\n- Editor: vim\n"):
            memory.pages.edit(
                "facts/work.md",
                lambda old, said=said: f"{old or ''}{said}",  # type: ignore[misc]
                author="agent:main",
                reason="told",
            )
        memory.forget(match=CANARY)
        text = memory.pages.read("facts/work.md").text
        assert [line for line in text.splitlines() if line] == [title, "- Editor: vim"]
        is_sound(memory, tmp_path)


def test_a_journal_of_several_segments_is_rewritten_from_the_first_that_changes(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory, open_memory(tmp_path / "m") as other:
        live(memory, [Op("append", "", ("PROJECT.md", "- one"))])
        memory.parts.context.store.rotate(JOURNAL)
        first = (tmp_path / "m/log/archive/000001.jsonl").read_bytes()
        live(memory, [Op("talk", "a", (SECRET,)), Op("distill")])
        memory.parts.context.store.rotate(JOURNAL)
        live(memory, [Op("append", "", ("PROJECT.md", "- two"))])
        memory.parts.context.store.rotate(JOURNAL)
        live(memory, [Op("append", "", ("PROJECT.md", "- three"))])
        assert kept(other) == [f"Allergy: {CANARY} tea"]
        memory.forget(session="a")
        assert (tmp_path / "m/log/archive/000001.jsonl").read_bytes() == first
        kinds = [
            next(line.record["kind"] for line in memory.parts.context.store.read(JOURNAL, Position(each, 0)))
            for each in (3, 4)
        ]
        assert kinds == ["forgotten", "forgotten"]
        assert memory.pages.read("PROJECT.md").text == "- one\n- two\n- three\n"
        assert kept(other) == []
        is_sound(memory, tmp_path / "m")
        is_sound(other, tmp_path / "m")


def test_edits_that_never_happened_go_with_their_words(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("append", "", ("PROJECT.md", "- one")), Op("append", "", ("facts/x.md", "- y"))])
        void: dict[str, Any] = {"schema": "journal.v1", "ts": 1.0, "kind": "void", "reason": "a collision"}
        for path, text in (("PROJECT.md", f"- {SECRET}\n"), ("facts/x.md", "- fine\n")):
            edit = by_hand(memory, path, lambda old, text=text: (old or b"") + text.encode(), "person")  # type: ignore[misc]
            memory.parts.context.store.append(JOURNAL, [{**void, "id": new_id(), "path": path, "edit": edit}])
        live(memory, [Op("append", "", ("PROJECT.md", f"- {CANARY}"))])
        memory.forget(match=CANARY)
        voids = [
            line.record["path"]
            for line in memory.parts.context.store.read(JOURNAL)
            if line.record["kind"] == "void"
        ]
        assert "facts/x.md" in voids
        assert memory.pages.read("PROJECT.md").text == "- one\n"
        is_sound(memory, tmp_path / "m")


def test_where_a_record_is_lost_the_rest_of_a_page_stays(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("append", "", ("PROJECT.md", "- one"))])
        lost = {
            "schema": "lost.v1",
            "id": new_id(),
            "ts": 1.0,
            "kind": "lost",
            "bytes": 1,
            "sha256": "0",
            "aside": "x",
        }
        memory.parts.context.store.append(JOURNAL, [lost])
        page = tmp_path / "m/PROJECT.md"
        gap = by_hand(memory, "PROJECT.md", lambda old: b"- one\n- between\n- two\n", "person")
        lines = (tmp_path / "m/log/journal.jsonl").read_bytes().split(b"\n")
        whole = [line for line in lines if gap.encode() not in line]
        page.write_bytes(b"- one\n- between\n- two\n")
        after = make_edit(
            new_id(), 3.0, "PROJECT.md", "person", "x", b"- one\n- between\n", page.read_bytes()
        )
        (tmp_path / "m/log/journal.jsonl").write_bytes(b"\n".join(whole))
        memory.parts.context.store.append(JOURNAL, [record_of(after)])
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (SECRET,)), Op("distill")])
        memory.forget(session="a")
        assert memory.pages.read("PROJECT.md").text == "- one\n- between\n- two\n"
        assert holding(tmp_path / "m", CANARY) == []


def test_pages_that_are_no_text_lose_their_lines_too(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        page = tmp_path / "m/PROJECT.md"
        page.write_bytes(b"caf\xe9\n" + SECRET.encode() + b"\nend\n")
        memory.pages.absorb()
        page.write_bytes(b"caf\xe9\nmore\n" + SECRET.encode() + b"\nend\n")
        memory.pages.absorb()
        memory.forget(match=CANARY)
        assert page.read_bytes() == b"caf\xe9\nmore\nend\n"
        assert holding(tmp_path / "m", CANARY) == []


def test_a_page_that_was_deleted_and_brought_back_goes_with_its_past(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(
            memory,
            [
                Op("append", "", ("facts/tea.md", f"- Sort: {CANARY}")),
                Op("append", "", ("facts/tea.md", "- x")),
            ],
        )
        memory.pages.delete("facts/tea.md", reason="x", author="person")
        memory.history.undo("facts/tea.md", author="person")
        memory.pages.edit("facts/tea.md", lambda text: text + "- z\n", reason="x", author="agent:main")
        memory.forget(match=CANARY)
        assert memory.pages.read("facts/tea.md").text == "# Tea Facts\n\n- x\n- z\n"
        is_sound(memory, tmp_path / "m")


def test_what_another_distiller_made_instead_is_placed_again(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", policy=POLICY, distiller=Stub(RULES), session="a") as memory:
        memory.record(user="I live in Berlin and I like tea.", ts=THEN)
        memory.distill()
        memory.parts.conversation.recorder.session = "b"
        memory.record(user=f"I like jazz and {CANARY}.", ts=THEN + 10)
        memory.distill()
        less = {piece: facts for piece, facts in RULES.items() if piece != "like tea"}
        memory.review.redistill(Stub(less, name="stub/2"), apply=True)
        assert kept(memory) == ["Home: Berlin", "Likes: jazz"]
        memory.forget(session="b")
        assert kept(memory) == ["Home: Berlin"]
        is_sound(memory, tmp_path / "m")


def test_an_undo_of_an_edit_that_changed_undoes_it_as_it_is_now(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("append", "", ("facts/x.md", f"- A: {CANARY}\n- B: two"))])
        live(memory, [Op("append", "", ("facts/x.md", f"- C: three\n- D: {CANARY} four"))])
        memory.history.undo("facts/x.md", author="person")
        live(memory, [Op("append", "", ("facts/x.md", "- E: five"))])
        memory.forget(match=CANARY)
        assert memory.pages.read("facts/x.md").text == "# X Facts\n\n- B: two\n- E: five\n"
        is_sound(memory, tmp_path / "m")


def test_long_edits_and_their_bodies_go(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        long = "".join(f"- line {number} of a very long page\n" for number in range(12_000))
        live(memory, [Op("append", "", ("PROJECT.md", f"{long}- {SECRET}"))])
        bodies = {path for path, _ in every_file(tmp_path / "m") if path.startswith("log/bodies")}
        assert bodies
        live(memory, [Op("append", "", ("PROJECT.md", "- end"))])
        memory.forget(match=CANARY)
        assert memory.pages.read("PROJECT.md").text == f"{long}- end\n"
        assert not bodies & {path for path, _ in every_file(tmp_path / "m")}
        is_sound(memory, tmp_path / "m")


def test_a_mark_tells_nothing_of_what_went(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.parts.conversation.recorder.session = "a"
        for number in range(6):
            with at(THEN + number, f"n{number}"):
                memory.record(user=f"{SECRET} We decided to use {CANARY}{number}.", ts=THEN + number)
        memory.parts.conversation.recorder.session = "b"
        for number in range(6):
            with at(THEN + 50 + number, f"m{number}"):
                memory.record(
                    user=f"We decided to use Postgres {number}. I am allergic to latex.",
                    ts=THEN + 50 + number,
                )
        loss = memory.window.compact()
        assert loss is not None
        assert CANARY in json.dumps([message.content for message in memory.window.messages()])
        memory.forget(session="a")
        told = json.dumps([message.content for message in memory.window.messages()])
        assert CANARY not in told
        assert "Postgres" in told
        assert "[MEMORY:EPISODIC]" in told
        is_sound(memory, tmp_path / "m")
        memory.record(user="And then?")
        assert "And then?" in json.dumps([message.content for message in memory.window.messages()])


def test_what_recall_had_brought_up_goes_with_what_it_was_brought_up_of(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (SECRET,)), Op("distill")])
        memory.parts.conversation.recorder.session = "b"
        memory.record(user="What do I drink?")
        memory.record(tool_call="recall", tool_args={"query": "drink"}, tool_call_id="r")
        memory.record(tool_result=f"Found: {SECRET} Ask for more.", tool_call_id="r", tags=["recalled"])
        memory.forget(session="a")
        [result] = [
            trace.tool_result for turn in memory.talk.turns() for trace in turn.traces if trace.tool_result
        ]
        assert CANARY not in result
        assert "Ask for more." in result
        is_sound(memory, tmp_path / "m")


def test_an_entry_that_cannot_be_read_goes_only_if_it_holds_the_words(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (SECRET,)), Op("distill")])
        for name, text in (("one", f"{CANARY} {{"), ("two", "something {")):
            folder = tmp_path / "m/log/entries/broken" / name
            folder.mkdir(parents=True)
            for file in ("meta.json", "summary.json", "raw.md"):
                (folder / file).write_text(text)
        memory.forget(match=CANARY)
        assert [path.name for path in (tmp_path / "m/log/entries/broken").iterdir()] == ["two"]
        assert holding(tmp_path / "m", CANARY) == []


def test_a_memory_that_cannot_be_read_whole_has_no_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from looseleaf.forget import probe as module

    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (SECRET,)), Op("distill")])
        real = open

        def refuse(path: Any, *args: Any) -> Any:
            if str(path).endswith("journal.jsonl"):
                raise PermissionError(13, "Permission denied")
            return real(path, *args)

        monkeypatch.setattr(module, "open", refuse, raising=False)
        with pytest.raises(Refused, match=r"not proven gone: log/journal"):
            memory.forget(session="a")


def test_a_folder_that_cannot_be_read_has_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from looseleaf.forget import probe as module

    (tmp_path / "kept").mkdir()
    real = os.scandir

    def refuse(path: Any) -> Any:
        if str(path).endswith("kept"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(Refused, match=r"not proven gone: .*kept could not be read"):
        module.probe(str(tmp_path), module.Needles([SECRET]))


def test_a_world_is_written_only_where_pages_and_the_journal_are(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (SECRET,))])
        world = World(memory.parts.context.store, lambda stream, record: None, {})
        with pytest.raises(Refused):
            world.append("traces/main", [{"id": "x"}])
        with pytest.raises(Refused):
            world.publish("log/entries/a/b", {})
        [line] = world.read("traces/main")
        assert line.record["kind"] == "gone"
        assert [each.record for each in world.read_back("traces/main")] == [line.record]
        assert world.end("traces/main") == memory.parts.context.store.end("traces/main")
        world.put("USER.md", b"x", base=None, record={"id": "1"})
        assert world.end(JOURNAL) == Position(1, 1)
        assert [each.record for each in world.read(JOURNAL, START)] == [{"id": "1"}]
        with pytest.raises(Refused):
            world.put("USER.md", b"y", base=None)
        found = world.get("USER.md")
        assert found is not None
        world.delete("USER.md", base=found.sha256)
        assert world.stat("USER.md") is None
        assert world.stat("log/key") == memory.parts.context.store.stat("log/key")
        assert (world.list(), list(world.check()), world.repair(), world.edition()) == ([], [], [], None)
        assert world.streams() == memory.parts.context.store.streams()
        world.rotate(JOURNAL)
        world.close()


def test_what_a_person_did_in_between_is_done_to_the_memory_as_it_would_have_been(tmp_path: Path) -> None:
    ops = [
        Op("talk", "a", ("I live in Berlin.", "TODO: write the Kafka importer.")),
        Op("distill"),
        Op(
            "talk",
            "b",
            (SECRET, "I moved to Paris.", "TODO: write the Redis importer.", "I am allergic to latex."),
        ),
        Op("distill"),
        Op("task", "", ("water the plants",)),
        Op("decide", "", ("plant more",)),
        Op("write", "", ("I work at Acme. We decided to use SQLite.",)),
        Op("correct", "", ("Acme", "Initech")),
        Op("pin", "", ("Initech",)),
        Op("talk", "c", ("The Redis importer is done. I am allergic to latex. I live in Lisbon.",)),
        Op("distill"),
        Op("score", "", ("latex",)),
        Op("append", "", ("USER.md", "- Note: mine")),
        Op("reject", "", ("latex",)),
        Op("goal", "", ("a garden",)),
        Op("prompt"),
    ]
    memory, other = lived_twice(tmp_path, ops, ops, without={"b"})
    with memory, other:
        memory.recall("tea")
        memory.forget(session="b")
        assert differences(seen(memory), seen(other)) == []
        is_sound(memory, Path(memory.path))


def test_records_that_make_no_sense_are_left_alone_unless_they_hold_the_words(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("append", "", ("PROJECT.md", f"- {CANARY}"))])
        head = {"schema": "journal.v1", "ts": 1.0}
        strange: list[dict[str, Any]] = [
            {"kind": "mark", "agent": "main"},
            {"kind": "edit", "path": "../x"},
            {"kind": "mark", "agent": "main", "text": SECRET},
            {"kind": "late", "path": "PROJECT.md", "edit": "x", "reason": "y", "aside": ["log/aside/z"]},
            {"kind": "fact", "fact": "f_0", "topic": "nowhere", "set": {}, "was": {}},
            {"kind": "placed", "agent": "main", "entry": "sessions/none", "topic": "sessions", "edits": []},
        ]
        memory.parts.context.store.append(JOURNAL, [{**head, "id": new_id(), **each} for each in strange])
        with (tmp_path / "m/log/journal.jsonl").open("ab") as file:
            file.write(f' {{"broken": "{SECRET}"\n {{"other": 1\n'.encode())
        memory.parts.context.store.append(
            JOURNAL, [{**head, "id": new_id(), "kind": "flag", "agent": "main", "flag": None}]
        )
        memory.forget(match=CANARY)
        assert holding(tmp_path / "m", CANARY) == []
        kinds = [line.record["kind"] for line in memory.parts.context.store.read(JOURNAL)]
        assert kinds.count("mark") == 1
        assert kinds[-5:] == ["edit", "late", "fact", "placed", "flag"] or "flag" in kinds
        assert b'{"other": 1' in (tmp_path / "m/log/journal.jsonl").read_bytes()


def test_a_fact_that_was_forgotten_is_forgotten_when_it_is_asked_again(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", (SECRET,)), Op("distill")])
        name = memory.facts()[0].id
        memory.forget(fact=name)
        assert memory.forget(fact=name).is_nothing
        with pytest.raises(Refused, match="there is no fact"):
            memory.forget(fact="f_000000000000")


def test_a_plan_that_is_damaged_is_not_carried_out(tmp_path: Path) -> None:
    open_memory(tmp_path / "m").close()
    (tmp_path / "m/log/staged").mkdir(exist_ok=True)
    (tmp_path / "m/log/staged/x.forget").mkdir()
    (tmp_path / "m/log/forgetting.json").write_text("{}")
    with pytest.raises(Refused, match="is damaged, so an interrupted forget"):
        open_memory(tmp_path / "m")


def test_an_agents_own_lines_and_ticks_are_followed(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m", session="b") as memory:
        live(memory, [Op("talk", "a", ("I live in Berlin.",)), Op("distill")])
        memory.distill(f"I am allergic to {CANARY} cake. I am allergic to honey.", topic="cake")[0]
        memory.distill("I am allergic to wheat.", topic="bread")[0]
        live(memory, [Op("talk", "b", ("I am allergic to honey.", SECRET)), Op("distill")])
        memory.pages.propose(
            "facts/notes.md", lambda text: f"{text}- Allergy: {CANARY} and honey\n", reason="x"
        )
        for fact in memory.facts(status="pending"):
            if fact.object == "wheat":
                memory.review.approve(fact.id or "")
        memory.forget(match=CANARY)
        assert sorted(kept(memory)) == ["Allergy: honey", "Allergy: wheat", "Home: Berlin"]
        is_sound(memory, tmp_path / "m")


def test_a_fact_that_a_person_wrote_goes_from_his_page_and_from_its_past(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("append", "", ("facts/tea.md", f"- Sort: {CANARY} leaves\n- Pot: blue"))])
        live(memory, [Op("talk", "a", ("I am allergic to latex.",)), Op("distill")])
        fact = next(fact for fact in memory.facts() if CANARY in fact.object)
        memory.review.correct(fact.id or "", "green")
        memory.review.correct(
            next(each.id or "" for each in memory.facts() if each.object == "green"), fact.object
        )
        memory.review.pin(next(each.id or "" for each in memory.facts() if CANARY in each.object))
        memory.review.reject(next(each.id or "" for each in memory.facts() if each.object == "latex"))
        done = memory.forget(fact=next(each.id for each in memory.facts() if CANARY in each.object))
        assert "Pot: blue" in kept(memory)
        assert not any(CANARY in each for each in kept(memory))
        assert done.mentions == ()
        is_sound(memory, tmp_path / "m")


def test_a_yes_to_what_came_from_a_forgotten_source_goes_with_it(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", ("I live in Berlin.",)), Op("distill")])
        memory.distill(f"I am allergic to {CANARY} cake. I work at Acme.", topic="cake")[0]
        memory.distill("I am allergic to wheat.", topic="bread")[0]
        for fact in memory.facts(status="pending"):
            memory.review.approve(fact.id or "")
        assert f"Allergy: {CANARY} cake" in kept(memory)
        live(memory, [Op("append", "", ("USER.md", "- Note: mine"))])
        [entry] = [
            path for path, _ in every_file(tmp_path / "m") if "entries/bread" in path and "raw.md" in path
        ]
        memory.forget(topic="cake")
        assert sorted(kept(memory)) == ["Allergy: wheat", "Home: Berlin", "note: mine"]
        assert entry in dict(every_file(tmp_path / "m"))
        memory.forget(origin="document")
        assert sorted(kept(memory)) == ["Home: Berlin", "note: mine"]
        is_sound(memory, tmp_path / "m")


def test_a_fact_that_was_moved_rests_on_what_stays(tmp_path: Path) -> None:
    from looseleaf.base.policy import Policy

    small = Policy(settle_seconds=0.01, quiet_seconds=0.0, profile_tokens=40)
    with Memory(tmp_path / "m", policy=small, counter=len) as memory:
        live(
            memory,
            [
                Op(
                    "talk",
                    "a",
                    (f"I am allergic to {CANARY} tea. I am allergic to {CANARY} tea, and so is my aunt.",),
                )
            ],
        )
        memory.distill()
        live(
            memory,
            [Op("talk", "b", (f"I am allergic to {CANARY} tea.", "I live in Berlin.", "I work at Acme."))],
        )
        memory.distill()
        memory.review.tidy()
        assert (tmp_path / "m/facts/user.md").exists()
        memory.forget(session="a")
        assert sorted(kept(memory)) == [f"Allergy: {CANARY} tea", "Employer: Acme", "Home: Berlin"]
        [fact] = [fact for fact in memory.facts() if CANARY in fact.object]
        assert len(fact.sources) == 1
        assert "aunt" not in "".join(
            data.decode("utf-8", "replace") for _, data in every_file(tmp_path / "m")
        )
        assert [str(each) for each in memory.check() if each.severity == "error"] == []


def test_a_placing_that_stays_loses_only_what_it_told_of_facts_that_go(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        live(memory, [Op("talk", "a", ("I am allergic to tea.",)), Op("distill")])
        placed = [
            line.record
            for line in memory.parts.context.store.read(JOURNAL)
            if line.record["kind"] == "placed"
        ][-1]
        told = {"topic": "user", "relation": "Allergy", "object": CANARY}
        record = {**placed, "id": new_id(), "dropped": [told, {**told, "object": "garlic"}]}
        memory.parts.context.store.append(JOURNAL, [record])
        memory.forget(match=CANARY)
        last = [line.record for line in memory.parts.context.store.read(JOURNAL)][-1]
        assert (last["id"], last["edits"]) == (record["id"], placed["edits"])
        assert [each["object"] for each in last["dropped"]] == ["garlic"]
        assert kept(memory) == ["Allergy: tea"]
        is_sound(memory, tmp_path / "m")


@pytest.mark.parametrize("way", ["fact", "match"])
def test_what_was_found_and_forgotten_is_not_found_again_in_words_from_before(
    tmp_path: Path, way: str
) -> None:
    rules = {"allergic to": [fact("Allergy", f"{CANARY} tea")], "like tea": [fact("Likes", "tea")]}
    with Memory(tmp_path / "m", distiller=Stub(rules)) as memory:
        tool_says(memory, f"I like tea. {SECRET}")
        [found] = [each for each in memory.facts() if CANARY in each.object]
        assert found.object == f"{CANARY} tea (found by main on 2025-10-09, from web)"
        memory.forget(fact=found.id) if way == "fact" else memory.forget(match=CANARY)
        is_sound(memory, tmp_path / "m")
        assert all(CANARY not in each for each in kept(memory))
        if way == "fact":
            tool_says(memory, SECRET, at=THEN + 10)
            assert not any("Allergy" in each for each in kept(memory)), "said before it was forgotten"
        tool_says(memory, SECRET, at=now() + 10)
        assert any("Allergy" in each for each in kept(memory)), "said again since"
