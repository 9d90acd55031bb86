"""The ledger: whatever people and programs do to pages, its facts are the lines of the pages, each with one id, and
nothing but a person's act makes more of a line than its author was worth."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from drawing import core, few
from growth import LINEAR, growth
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.paths import TICKED
from looseleaf.base.policy import Policy
from looseleaf.base.values import Edit, Fact, Hunk
from looseleaf.facts.known_facts import Facts
from looseleaf.facts.ledger import FactLedger, fact_id, true_at
from looseleaf.facts.page_lines import MovedLines, Shard, Sheet
from looseleaf.log.journal import make_edit, record_of
from looseleaf.pages.grammar import parse, topic_of
from looseleaf.pages.pages import Pages, Rewritten
from looseleaf.store.files import FileStore
from looseleaf.text.times import clock, day, written
from page_texts import page_texts
from tables import check_rows
from wiring import lone_pages

HASTY = Policy(settle_seconds=0.01, quiet_seconds=0.001)
WARY = Policy(settle_seconds=0.01, quiet_seconds=0.001, trust_external_edits=False)
PAGES = ("USER.md", "facts/user.md", "facts/work.md", "facts/new.md")
REVIEW = "review/pending.md"
ROUGH = (
    b"",
    b"\xff- A: b\n- C: \xe4\n",
    b"- A: b\n\xe4\xb8\n- C: d",
    b"- A: b\r\n\x00\n",
    b"\xef\xbb\xbf- A: b\n",
)


def in_memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


# --- a store whose views of facts lie beside it ----------------------------------------


class Beside:
    """A store whose views of facts are kept in a dict; so one journal is folded in several ways."""

    def __init__(self, store: FileStore) -> None:
        self.store = store
        self.views: dict[str, bytes] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def get(self, path: str, limit: int | None = None) -> Any:
        from looseleaf.base.values import Document

        if path.startswith("views/facts"):
            return Document(path, self.views[path]) if path in self.views else None
        return self.store.get(path, limit)

    def view(self, path: str, data: bytes, *, of: object = ()) -> None:
        self.views[path] = data


def folded(beside: Beside, pages: Pages, *, trusts: bool = True) -> Facts:
    facts = Facts(beside, pages.absorb.head_bytes, trusts=trusts)
    facts.catch_up()
    facts.all()
    return facts


# --- any sequence ----------------------------------------------------------------------

AGENTS = tuple(f"- Agent {name}: says it" for name in "abc")
PERSONS = ("- Name: Zhang San", "- Likes: tea", "- a bare bullet", "## Preferences", "# Title", "plain words")
REGIONS = ("```", "~~~", "<!--", "-->", "## Constraints", "---", "")
TOLD = tuple(f"Told {name}" for name in "xyz")


class AnySequence(RuleBasedStateMachine):
    """Lines that begin with `Agent` only agents write, lines that begin with `Told` only the program; people write
    others, and move, cover, uncover and remove whatever stands there."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=in_memory()))
        (self.folder / "memory").mkdir()
        self.store = FileStore(self.folder / "memory", HASTY)
        self.pages = lone_pages(self.store, HASTY)
        self.where = self.folder / "memory"
        self.kept_beside, self.fresh_beside = Beside(self.store), Beside(self.store)
        self.kept = folded(self.kept_beside, self.pages)
        self.number = 0

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    def text(self, path: str) -> str:
        return self.pages.page(path).text

    def lines(self, path: str) -> list[str]:
        return self.text(path).splitlines()

    def save_outside(self, path: str, lines: list[str], end: str = "\n") -> None:
        file = self.where / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes("".join(line + end for line in lines).encode())
        self.pages.absorb()

    # --- programs and agents ---

    @rule(
        path=st.sampled_from(PAGES),
        line=st.sampled_from((*AGENTS, *REGIONS)),
        at=st.integers(0, 6),
        author=st.sampled_from(["agent:main", "program"]),
    )
    def an_agent_adds(self, path: str, line: str, at: int, author: str) -> None:
        lines = self.lines(path)
        lines.insert(at, line)
        self.pages.edit(path, "\n".join(lines) + "\n", reason="adds", author=author)

    @rule(
        path=st.sampled_from(PAGES),
        relation=st.sampled_from(TOLD),
        level=st.sampled_from(["said", "inferred"]),
        same=st.booleans(),
        twice=st.booleans(),
    )
    def the_program_tells(self, path: str, relation: str, level: str, same: bool, twice: bool) -> None:
        self.number += 1
        name = fact_id(topic_of(path), relation, "" if same else str(self.number))
        told = {"id": name, "relation": relation, "object": "it", "level": level, "quote": "a quote"}

        def change(text: str) -> Rewritten:
            return Rewritten(f"- {relation}: it\n" * (1 + twice) + text, (told,) * (1 + twice))

        self.pages.rewrite(path, change, reason="tells")

    @rule(path=st.sampled_from(PAGES), author=st.sampled_from(["agent:main", "person"]))
    def undo(self, path: str, author: str) -> None:
        try:
            self.pages.undo(path, author=author)
        except Refused:
            pass

    @rule(path=st.sampled_from(PAGES), author=st.sampled_from(["agent:main", "person"]))
    def delete(self, path: str, author: str) -> None:
        self.pages.delete(path, reason="not needed", author=author)

    # --- people ---

    @rule(
        path=st.sampled_from(PAGES),
        line=st.sampled_from((*PERSONS, *REGIONS)),
        at=st.integers(0, 6),
        outside=st.booleans(),
    )
    def a_person_adds(self, path: str, line: str, at: int, outside: bool) -> None:
        lines = self.lines(path)
        lines.insert(at, line)
        if outside:
            self.save_outside(path, lines)
        else:
            self.pages.edit(path, "\n".join(lines), reason="adds", author="person")

    @rule(path=st.sampled_from(PAGES), data=st.data(), end=st.sampled_from(["\n", "\r\n"]))
    def a_person_rearranges(self, path: str, data: st.DataObject, end: str) -> None:
        lines = self.lines(path)
        if lines:
            kept = data.draw(st.permutations(lines))[: data.draw(st.integers(1, len(lines)))]
            self.save_outside(path, kept, end)

    @rule(path=st.sampled_from(PAGES), data=st.data())
    def a_person_drops_a_mark(self, path: str, data: st.DataObject) -> None:
        lines = self.lines(path)
        marks = [at for at, line in enumerate(lines) if line in REGIONS]
        if marks:
            del lines[data.draw(st.sampled_from(marks))]
        if marks and any(line.strip() for line in lines):  # a page without words is held, and not edited
            self.save_outside(path, lines)

    @rule(path=st.sampled_from(PAGES), to=st.sampled_from(PAGES))
    def a_person_moves_a_page(self, path: str, to: str) -> None:
        if (self.where / path).exists():
            (self.where / to).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.where / path, self.where / to)
            self.pages.absorb()

    # --- review, and words ---

    @rule(topic=st.sampled_from(["user", "work"]), relation=st.sampled_from(["Asked a", "Asked b"]))
    def the_program_asks(self, topic: str, relation: str) -> None:
        self.number += 1
        name = fact_id(topic, relation, str(self.number))
        waiting = {"id": name, "topic": topic, "relation": relation, "object": "it", "level": "tainted"}
        item = f"- [ ] {relation}: it\n  {name} · for facts/{topic}.md\n"
        self.pages.rewrite(REVIEW, lambda text: Rewritten(text + item, (waiting,)), reason="asks")

    @rule(
        data=st.data(),
        how=st.sampled_from(["tick", "untick", "delete", "rename"]),
        author=st.sampled_from([None, "person", "agent:main"]),
    )
    def somebody_answers(self, data: st.DataObject, how: str, author: str | None) -> None:
        lines = self.lines(REVIEW)
        items = [at for at, line in enumerate(lines) if line.startswith("- [")]
        if not items:
            return
        self.kept.catch_up()
        before = self.answers()
        at = data.draw(st.sampled_from(items))
        if how == "delete":
            del lines[at : at + 2]
        else:
            boxes = {"tick": ("[ ]", "[x]"), "untick": ("[x]", "[ ]"), "rename": ("it", "that")}
            lines[at] = lines[at].replace(*boxes[how])
        if author is None:
            self.save_outside(REVIEW, lines)
        else:
            self.pages.edit(REVIEW, "".join(f"{line}\n" for line in lines), reason="answers", author=author)
        if author == "agent:main":
            self.kept.catch_up()
            assert self.answers() == before

    def answers(self) -> list[tuple[str | None, tuple[str, ...], str]]:
        return [(fact.id, fact.tags, fact.status) for fact in self.kept.all() if "Asked" in fact.relation]

    @rule(data=st.data(), score=st.integers(0, 10))
    def a_person_scores(self, data: st.DataObject, score: int) -> None:
        self.kept.catch_up()
        known = {fact.id: fact for fact in self.kept.all()}
        if known:
            fact = known[data.draw(st.sampled_from(sorted(known, key=str)))]
            record = word(fact, user_fact_score=float(score)) | {"schema": "journal.v1", "id": f"w{score}"}
            restated = {"kind": "placed", "topic": "work", "entry": "e", "id": "p", "schema": "journal.v1"}
            self.store.append(
                "journal", [record, restated | {"restated": [[fact.topic, fact.id, f"t{score}"]]}]
            )

    # --- the views ---

    @rule(data=st.data())
    def a_view_is_lost_or_damaged(self, data: st.DataObject) -> None:
        views = self.fresh_beside.views
        if views:
            path = data.draw(st.sampled_from(sorted(views)))
            how = data.draw(st.sampled_from(["lost", "cut", "empty", "all"]))
            if how == "all":
                views.clear()
            elif how == "lost":
                del views[path]
            else:
                views[path] = views[path][: len(views[path]) // 2] if how == "cut" else b""

    @rule()
    def the_one_that_is_kept_reads(self) -> None:
        self.kept.catch_up()

    # --- what holds ---

    @invariant()
    def every_way_of_folding_gives_the_same_bytes(self) -> None:
        anew = Beside(self.store)
        facts = folded(anew, self.pages)
        folded(self.fresh_beside, self.pages)
        assert self.fresh_beside.views == anew.views
        self.lines_are_facts(facts)
        self.levels_are_right(facts)

    def teardown_check(self) -> None:
        anew = Beside(self.store)
        folded(anew, self.pages)
        self.kept.catch_up()
        assert self.kept_beside.views == anew.views

    def lines_are_facts(self, facts: Facts) -> None:
        known = [fact for fact in facts.all() if fact.line is not None]
        found = sorted((fact.path or "", fact.line or 0, fact.relation, fact.object) for fact in known)
        wanted = [
            (path, fact.line or 0, fact.relation, fact.object)
            for path in PAGES
            for fact in parse(path, self.text(path)).facts
        ]
        assert found == sorted(wanted)
        ids = [fact.id for fact in facts.all()]
        assert len(ids) == len(set(ids))
        standing = [each for path in PAGES if (sheet := facts.sheet(path)) for each in sheet.ids if each]
        assert len(standing) == len(set(standing)) == len(known)
        assert all(fact.status == "current" for fact in known)
        assert all(fact.status != "current" for fact in facts.all() if fact.line is None)
        kinds = {
            (path, fact.line): fact.kind
            for path in PAGES
            for fact in parse(path, self.text(path)).facts
            if fact.kind is not None
        }
        assert {place: fact.kind for fact in known if (place := (fact.path, fact.line)) in kinds} == kinds

    def levels_are_right(self, facts: Facts) -> None:
        for fact in facts.all():
            if fact.relation.startswith("Agent"):
                assert fact.level == "inferred", fact
            elif fact.relation.startswith("Told"):
                assert fact.level in ("said", "inferred"), fact


class AnySequenceToItsEnd(AnySequence):
    def teardown(self) -> None:
        try:
            self.teardown_check()
        finally:
            super().teardown()


def test_any_sequence_of_edits_moves_and_undos_gives_the_lines_of_the_pages() -> None:
    run_state_machine_as_test(
        AnySequenceToItsEnd,
        settings=settings(max_examples=6, stateful_step_count=12, deadline=None, derandomize=True),
    )


@pytest.mark.long
def test_any_long_sequence_of_edits_moves_and_undos_gives_the_lines_of_the_pages() -> None:
    run_state_machine_as_test(
        AnySequenceToItsEnd, settings=settings(max_examples=60, stateful_step_count=25, deadline=None)
    )


# --- one page, line by line ------------------------------------------------------------


@core
@given(
    path=st.sampled_from(["USER.md", "facts/work.md"]),
    pages=st.lists(
        st.one_of(page_texts().map(str.encode), st.sampled_from(ROUGH), st.binary(max_size=30)),
        min_size=1,
        max_size=5,
    ),
    whole=st.booleans(),
)
def test_reading_only_what_changed_finds_what_reading_the_page_finds(
    path: str, pages: list[bytes], whole: bool
) -> None:
    sheet = Sheet(path)
    before: bytes | None = None
    number = 0
    for data in pages:
        text = data.decode("utf-8", "replace")
        lost = sheet.sha256 if whole else None
        old = None if lost else before
        edit = make_edit(f"e{number}", 0.0, path, "person", "", old, data, lost_base=lost)
        assert sheet.fits(edit)
        kept = set(filter(None, sheet.ids))
        change = sheet.take(edit)
        found = {fact.line: fact for fact in parse(path, text).facts}
        for at, fact, _ in change.added:
            assert sheet.ids[at] is None
            assert (fact.relation, fact.object, fact.kind) == (
                found[at + 1].relation,
                found[at + 1].object,
                found[at + 1].kind,
            )
            number += 1
            sheet.ids[at] = f"f{number}"
        assert sheet.text == text
        assert {at + 1 for at, name in enumerate(sheet.ids) if name} == set(found)
        assert set(change.gone) == kept - set(filter(None, sheet.ids))
        before = data


def test_what_reaches_over_lines_is_seen_however_it_is_written() -> None:
    def check(before: str, after: str) -> None:
        sheet = Sheet("facts/work.md")
        sheet.take(make_edit("1", 0.0, "facts/work.md", "person", "", None, before.encode()))
        for fact in parse("facts/work.md", before).facts:
            sheet.ids[(fact.line or 1) - 1] = f"f{fact.line}"
        edit = make_edit("2", 0.0, "facts/work.md", "person", "", before.encode(), after.encode())
        change = sheet.take(edit)
        kept = {at: "" for at, name in enumerate(sheet.ids) if name}
        added = {at: fact.kind or "" for at, fact, _ in change.added}
        found = parse("facts/work.md", after).facts
        assert kept | added == {(fact.line or 1) - 1: fact.kind or "" for fact in found}

    check_rows(
        check,
        [
            ("plain", "## Preferences\n- Likes: tea"),
            ("---\r\n- A: b\r\n---\r\n", "---\r\n- A: b\r\n- C: d\r\n---\r\n"),
            ("---\u2003\n- A: b\n---\n", "---\u2003\n- A: b\n- C: d\n---\n"),
            ("- A: b\n- C: d\n", "```\n- A: b\n- C: d\n"),
            ("- A: b\n```\n- C: d\n", "- A: b\n- C: d\n"),
        ],
    )


def bare_edit(hunks: tuple[Hunk, ...], **more: Any) -> Edit:
    return Edit("e", 0.0, "USER.md", "person", "", None, "new", hunks, **more)


def test_an_edit_that_makes_no_lines_of_the_page_does_not_fit() -> None:
    def check(edit: Edit) -> None:
        assert not Sheet("USER.md").fits(edit)

    check_rows(
        check,
        [
            bare_edit((Hunk(1, (), ("a\n",)),)),
            bare_edit((Hunk(0, ("x\n",), ("a\n",)),)),
            bare_edit((Hunk(0, (), ("a\nb\n",)),)),
            bare_edit((Hunk(0, (), ("a", "b\n")),)),
            bare_edit((Hunk(0, (), ("\u4e00\n",)),), encoding="latin-1"),
            bare_edit((Hunk(2, (), ("a\n",)),), whole=True),
            Edit("e", 0.0, "USER.md", "person", "", "other", "new", ()),
        ],
    )


def test_a_sheet_that_is_none_is_not_read() -> None:
    with pytest.raises(ValueError, match="for each line"):
        Sheet.from_list(["USER.md", None, None, ["a\n"], [], []])


def test_a_summary_is_by_rule_only_where_the_program_wrote_it() -> None:
    def check(author: str, facts: tuple[dict[str, Any], ...], by: str) -> None:
        sheet = Sheet("facts/work.md")
        sheet.take(make_edit("1", 0.0, sheet.path, author, "", None, b"# W\n> Summary: x\n", facts=facts))
        assert sheet.summary_by == by
        assert sheet.is_summary_by_rule == (by == "program")
        sheet.take(make_edit("2", 0.0, sheet.path, author, "", b"# W\n> Summary: x\n", None))
        assert sheet.summary_by is None

    check_rows(
        check,
        [
            ("program", ({"id": "f"},), "program"),
            ("person", ({"id": "f"},), "program"),
            ("person", (), "person"),
            ("agent:main", ({"id": "f"},), "agent:main"),
            ("external", (), "external"),
        ],
    )


# --- a ledger by hand ------------------------------------------------------------------


class Book:
    """A ledger without a store: edits are given as texts, at times of the test's choosing."""

    def __init__(self, *, trusts: bool = True, made: type[FactLedger] = FactLedger) -> None:
        self.shards: dict[str, Shard] = {}
        self.texts: dict[str, bytes | None] = {}
        self.now = 1_700_000_000.0
        self.number = 0
        self.ledger = made(self.shard, self.before, trusts=trusts)

    def shard(self, name: str) -> Shard:
        return self.shards.setdefault(name, Shard(name))

    def before(self, edit: Edit) -> bytes | None:
        raise Refused("Nothing was done: nobody knows.")

    def edit(self, path: str, text: str | None, author: str = "external", **more: Any) -> Edit:
        self.number += 1
        new = None if text is None else text.encode()
        edit = make_edit(f"e{self.number}", self.now, path, author, "", self.texts.get(path), new, **more)
        self.texts[path] = new
        self.ledger.take(record_of(edit))
        return edit

    def facts(self, topic: str = "work") -> list[Fact]:
        return self.shard(topic).placed()

    def said(self, topic: str = "work") -> list[tuple[str, str | None, str]]:
        return [(fact.object, fact.level, fact.status) for fact in self.facts(topic)]

    def standing(self, topic: str = "work") -> dict[str, str | None]:
        return {fact.object: fact.level for fact in self.facts(topic) if fact.line is not None}


def told(relation: str, said: str, level: str, **more: Any) -> dict[str, Any]:
    return {"id": fact_id(relation, said), "relation": relation, "object": said, "level": level, **more}


def test_a_moved_page_keeps_what_was_known_of_its_lines_whichever_side_is_seen_first() -> None:
    for order in ((0, 1), (1, 0)):
        book = Book()
        book.edit("facts/work.md", "- A: x\n- A: x\n", "agent:main")
        book.edit("facts/other.md", "- B: mine\n", "person")
        book.now += 3600
        steps = [("facts/work.md", None), ("facts/new.md", "- A: x\n- A: x\n")]
        for at in order:
            book.edit(*steps[at])
        assert [(fact.level, fact.status) for fact in book.facts("new")] == [("inferred", "current")] * 2
        assert {fact.status for fact in book.facts("work")} == {"superseded"}
        assert {fact.superseded_by for fact in book.facts("work")} == {fact.id for fact in book.facts("new")}
        then = true_at([*book.facts("work"), *book.facts("new")], book.now - 1800)
        assert [fact.topic for fact in then] == ["new", "new"]  # it has held all the time, once each


@pytest.mark.parametrize("first", ["USER.md", "facts/user.md"])
def test_a_page_moved_within_its_topic_does_not_rise(first: str) -> None:
    book = Book()
    book.edit("facts/user.md", "- Home: Rome\n", "agent:main")
    for path in sorted(["USER.md", "facts/user.md"], key=lambda path: path != first):
        book.edit(path, "- Home: Rome\n" if path == "USER.md" else None)
    assert book.standing("user") == {"Rome": "inferred"}
    assert all(fact.status != "rejected" for fact in book.facts("user"))


def test_a_page_of_more_lines_than_anybody_counts_does_not_rise_when_it_is_moved() -> None:
    book = Book()
    text = "".join(f"- Line {number}: x\n" for number in range(1000))
    book.edit("facts/work.md", text, "agent:main")
    book.edit("facts/new.md", text)
    book.edit("facts/work.md", None)
    assert {fact.level for fact in book.facts("new")} == {"inferred"}


def test_what_is_written_again_long_after_it_was_removed_is_its_authors() -> None:
    book = Book()
    book.edit("facts/work.md", "- A: x\n", "agent:main")
    book.edit("facts/work.md", "")
    book.now += 600
    book.edit("facts/work.md", "- A: x\n")
    assert sorted(book.said()) == [("x", "confirmed", "current"), ("x", "inferred", "rejected")]
    assert len(book.ledger.moves.to_list()) == 1


def test_a_line_that_was_cut_and_pasted_in_two_saves_is_what_it_was() -> None:
    book = Book()
    book.edit("facts/work.md", "- A: x\n- B: y\n", "agent:main")
    name = book.facts()[0].id
    book.edit("facts/work.md", "- B: y\n")
    book.now += 60
    book.edit("facts/work.md", "- B: y\n- A: x\n")
    assert book.standing() == {"x": "inferred", "y": "inferred"}
    assert name in {fact.id for fact in book.facts()}
    book.edit("facts/work.md", "- B: y\n- A: x\n- A: x\n")  # a copy is a line of its own
    assert len(book.facts()) == 3


def test_a_line_that_only_moved_is_not_what_a_new_one_replaces() -> None:
    book = Book()
    book.edit("USER.md", "- Home: Paris\n- Name: Li\n", "agent:main")
    book.edit("USER.md", "- Home: Oslo\n- Name: Li\n- Home: Paris\n", "person")
    assert book.standing("user") == {"Oslo": "confirmed", "Li": "inferred", "Paris": "inferred"}


def test_a_fence_taken_away_makes_nobodys_lines_a_persons() -> None:
    book = Book()
    book.edit("facts/work.md", "```\n- A: hidden\n", "agent:main")
    assert book.facts() == []
    book.edit("facts/work.md", "- A: hidden\n", "person")
    assert book.standing() == {"hidden": "inferred"}
    book.edit("facts/work.md", "~~~\n- A: hidden\n", "person")
    book.now += 3600
    book.edit("facts/work.md", "- A: hidden\n", "external")
    assert book.said() == [("hidden", "inferred", "current")]


def test_under_another_heading_a_line_is_of_another_kind() -> None:
    book = Book()
    book.edit("facts/work.md", "## Preferences\n- A: x\n", "person")
    book.edit("facts/work.md", "## Constraints\n- A: x\n", "person")
    assert [(fact.kind, fact.line) for fact in book.facts()] == [("constraint", 2)]


def test_what_a_persons_edit_took_is_rejected_and_what_an_agents_took_is_over() -> None:
    for author, status in (("person", "rejected"), ("external", "rejected"), ("agent:a", "superseded")):
        book = Book()
        book.edit("facts/work.md", "- Likes: a\n- Likes: b\n", "program")
        book.edit("facts/work.md", "- Likes: b\n", author)
        assert [fact.status for fact in book.facts() if fact.object == "a"] == [status]


def test_of_many_values_only_the_one_that_went_alone_is_replaced() -> None:
    book = Book()
    book.edit("USER.md", "- Likes: a\n- Likes: b\n- Likes: c\n", "person")
    book.edit("USER.md", "- Likes: a\n- Likes: b\n- Likes: d\n", "person")
    assert [fact.status for fact in book.facts("user") if fact.object == "c"] == ["superseded"]
    book.edit("USER.md", "- Likes: e\n", "person")
    assert [fact.status for fact in book.facts("user") if fact.object in "abd"] == ["rejected"] * 3


def test_what_is_told_belongs_to_a_line_that_the_edit_wrote() -> None:
    book = Book()
    book.edit("facts/work.md", "```\n- A: x\n", "agent:main")
    book.edit("facts/work.md", "- A: x\n- B: y\n", "program", facts=(told("A", "x", "confirmed"),))
    assert book.standing() == {"x": "inferred", "y": "inferred"}


def test_what_is_told_twice_under_one_id_stands_under_two() -> None:
    book = Book()
    book.edit("facts/work.md", "- A: x\n- A: x\n", "agent:a", facts=(told("A", "x", "said"),) * 2)
    assert len({fact.id for fact in book.facts()}) == 2
    assert book.standing() == {"x": "said"}


def test_a_fact_that_is_told_without_an_id_gets_one() -> None:
    book = Book()
    book.edit(
        "facts/work.md", "- A: x\n", "program", facts=({"relation": "A", "object": "x", "level": "said"},)
    )
    assert [(fact.level, bool(fact.id)) for fact in book.facts()] == [("said", True)]


# --- a line on its way to the other page of its topic ---------------------------------------

LINE = "- Home: Rome\n"
HOME = told("Home", "Rome", "said", quote="I live in Rome", sources=["t1"], kind="identity")


def on_both() -> tuple[Book, list[Fact], Edit]:
    """A fact of USER.md that the program told of on the other page too; and what it was before that."""
    book = Book()
    book.edit("USER.md", LINE, "program", facts=(HOME,))
    before = book.facts("user")
    book.now += 1000
    return book, before, book.edit("facts/user.md", LINE, "program", facts=(HOME,))


def everywhere(facts: list[Fact]) -> list[Fact]:
    return [fact.but(path=None, line=None) for fact in facts]


def test_whichever_line_of_a_fact_goes_it_stays_on_the_other_page() -> None:
    def check(author: str, leaves: str, stays: str) -> None:
        book, before, _ = on_both()
        assert len(book.facts("user")) == 2
        book.edit(leaves, "", author)
        assert everywhere(book.facts("user")) == everywhere(before)
        assert [(fact.path, fact.line) for fact in book.facts("user")] == [(stays, 1)]
        assert book.shard("user").like(before[0]) == [book.shard("user").facts[before[0].id or ""]]

    check_rows(
        check,
        [
            (author, leaves, stays)
            for author in ["program", "external", "agent:main"]
            for leaves, stays in [("USER.md", "facts/user.md"), ("facts/user.md", "USER.md")]
        ],
    )


def test_a_move_that_is_undone_was_none() -> None:
    book, before, arrival = on_both()
    departure = book.edit("USER.md", "", "program")
    book.now += 1000
    book.edit("USER.md", LINE, "agent:main", undoes=departure.id)
    assert {fact.path for fact in book.facts("user")} == {"USER.md", "facts/user.md"}
    book.edit("facts/user.md", None, "agent:main", undoes=arrival.id)
    assert book.facts("user") == before


def test_a_line_that_ended_after_the_same_was_written_elsewhere_comes_back_itself() -> None:
    book = Book()
    book.edit("facts/user.md", LINE, "agent:main")
    book.now += 1000
    book.edit("USER.md", LINE, "program", facts=(HOME,))
    book.now += 1000
    edit = book.edit("USER.md", "", "agent:main")
    book.now += 1000
    book.edit("USER.md", LINE, "agent:main", undoes=edit.id)
    assert {fact.path: fact.level for fact in book.facts("user")} == {
        "USER.md": "said",
        "facts/user.md": "inferred",
    }


def test_a_persons_no_is_to_the_fact_and_not_to_one_of_its_lines() -> None:
    book, _, _ = on_both()
    book.edit("USER.md", "", "person")
    assert {fact.status for fact in book.facts("user")} == {"rejected"}
    book.edit("facts/user.md", "", "program")
    assert [fact.status for fact in book.facts("user")] == ["rejected"]


def test_what_replaces_a_fact_ends_both_of_its_lines() -> None:
    book, _, _ = on_both()
    book.edit("USER.md", "- Home: Oslo\n", "person")
    assert sorted(book.said("user")) == [
        ("Oslo", "confirmed", "current"),
        ("Rome", "said", "superseded"),
        ("Rome", "said", "superseded"),
    ]
    book.edit("facts/user.md", "", "program")
    assert len(book.facts("user")) == 2


@pytest.mark.parametrize(("level", "becomes"), [("inferred", "said"), ("confirmed", "confirmed")])
def test_a_fact_comes_to_stand_on_the_line_of_one_that_it_is_said_to_replace(
    level: str, becomes: str
) -> None:
    book = Book()
    there = told("home", "rome", level, sources=["t2"], tags=["pinned"])
    book.edit("USER.md", LINE, "program", facts=(HOME,))
    book.edit("facts/user.md", "- home: rome\n", "program", facts=(there,))
    ended = ((there["id"], written(book.now), HOME["id"]),)
    book.edit("USER.md", "", "program", ended=ended)
    [fact] = [each for each in book.facts("user") if each.status == "current"]
    assert (fact.id, fact.path, fact.line, fact.level) == (HOME["id"], "facts/user.md", 1, becomes)
    assert (fact.object, fact.sources, fact.tags) == ("rome", ("t1", "t2"), ("pinned",))
    [over] = [each for each in book.facts("user") if each.status == "superseded"]
    assert (over.id, over.superseded_by, over.line) == (there["id"], HOME["id"], None)


def test_a_fact_does_not_take_the_line_of_one_that_says_something_else() -> None:
    book = Book()
    there = told("Home", "Oslo", "said")
    book.edit("USER.md", LINE, "program", facts=(HOME,))
    book.edit("facts/user.md", "- Home: Oslo\n", "program", facts=(there,))
    book.edit("USER.md", "", "program", ended=((there["id"], written(book.now), HOME["id"]),))
    assert {fact.status for fact in book.facts("user")} == {"superseded"}


# --- words on facts, and entries ---------------------------------------------------------


def word(fact: Fact, **new: Any) -> dict[str, Any]:
    return {"kind": "fact", "ts": 5.0, "fact": fact.id, "topic": fact.topic, "set": new}


def test_a_word_changes_only_what_a_word_may() -> None:
    book = Book()
    book.edit("facts/work.md", "- A: x\n", "agent:main")
    book.ledger.take(word(book.facts()[0], user_fact_score=9.0, tags=["pinned"], object="forged", id="f"))
    fact = book.facts()[0]
    assert (fact.object, fact.user_fact_score, fact.tags) == ("x", 9.0, ("pinned",))
    book.ledger.take(word(fact, tags=None, level="confirmed"))
    assert (book.facts()[0].tags, book.facts()[0].level) == ((), "confirmed")
    book.ledger.take(word(fact.but(id="f_unknown"), level="confirmed"))
    book.ledger.take({"kind": "fact"})
    assert len(book.facts()) == 1


def test_a_fact_keeps_its_first_source_and_the_latest() -> None:
    book = Book()
    book.edit("facts/work.md", "- A: x\n", "agent:main")
    name = book.facts()[0].id
    for number in range(30):
        restated = [["work", name, f"t{number}"], ["work", "f_unknown", "t"]]
        book.ledger.take({"kind": "placed", "topic": "work", "entry": f"work/{number}", "restated": restated})
    sources = book.facts()[0].sources
    assert (len(sources), sources[0], sources[-1]) == (20, "facts/work.md@e1", "t29")
    book.ledger.take({"kind": "placed", "agent": "main", "through": [0, 9]})
    book.ledger.take({"kind": "placed", "topic": "work", "entry": "work/new", "instead": "work/3"})
    entries = book.shard("work").entries
    assert "work/3" not in entries
    assert "work/new" in entries


def test_what_was_only_ever_history_stands_on_no_page() -> None:
    book = Book()
    past = told("Home", "Rome", "said", topic="user", status="superseded", valid_to="2020")
    book.ledger.take({"kind": "placed", "topic": "user", "entry": "user/1", "history": [past]})
    assert [(fact.object, fact.status, fact.line) for fact in book.facts("user")] == [
        ("Rome", "superseded", None)
    ]


# --- true at a time ----------------------------------------------------------------------


def homes(book: Book, when: float | None) -> list[str]:
    return [fact.object for fact in true_at(book.facts("user"), when)]


@settings(max_examples=few(40), deadline=None)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["Rome", "Oslo", "Lyon", None]),
            st.sampled_from(["person", "external", "agent:main", "program"]),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_each_value_holds_from_its_edit_to_the_next(steps: list[tuple[str | None, str]]) -> None:
    book = Book()
    history: list[tuple[float, str | None]] = [(book.now - 1000, None)]
    for home, author in steps:
        book.now += 1000
        facts: tuple[dict[str, Any], ...] = ()
        ended: tuple[tuple[str, str, str | None], ...] = ()
        if author == "program" and home is not None and home != history[-1][1]:
            facts = (told("Home", home, "said", id=fact_id(str(book.now)), valid_from=written(book.now)),)
            current = [fact.id or "" for fact in true_at(book.facts("user"))]
            ended = tuple((name, written(book.now), fact_id(str(book.now))) for name in current)
        text = "# User\n" if home is None else f"# User\n- Home: {home}\n"
        book.edit("USER.md", text, author, facts=facts, ended=ended)
        history.append((book.now, home))
    for number, (since, home) in enumerate(history):
        until = history[number + 1][0] if number + 1 < len(history) else book.now + 1000
        for when in (since, (since + until) / 2, until - 0.001):
            assert homes(book, when) == ([home] if home else [])
    assert homes(book, None) == ([history[-1][1]] if history[-1][1] else [])


def test_what_was_undone_has_held_all_the_time() -> None:
    book = Book()
    book.edit("USER.md", "- Home: Rome\n", "agent:main")
    start = book.now
    book.now += 1000
    edit = book.edit("USER.md", "- Home: Oslo\n", "person")
    book.now += 1000
    book.edit("USER.md", "- Home: Rome\n", "person", undoes=edit.id)
    assert homes(book, None) == homes(book, start + 1500) == ["Rome"]
    assert book.standing("user") == {"Rome": "inferred"}


def test_every_number_is_written_as_a_time() -> None:
    def check(ts: float, text: str) -> None:
        assert written(ts) == text
        assert (day(ts), clock(ts)) == (text[:10], text[11:16])

    check_rows(
        check,
        [
            (0.0, "1970-01-01T00:00:00.000000Z"),
            (1_700_000_000.25, "2023-11-14T22:13:20.250000Z"),
            (-62_135_596_800.0, "0001-01-01T00:00:00.000000Z"),
            (1e300, "9999-12-31T23:59:59.000000Z"),
            (float("-inf"), "0001-01-01T00:00:00.000000Z"),
            (float("nan"), "0001-01-01T00:00:00.000000Z"),
        ],
    )


@given(st.floats(-62e9, 253e9), st.floats(-62e9, 253e9))
def test_texts_of_times_sort_as_the_times_do(one: float, other: float) -> None:
    if round(one, 6) != round(other, 6):
        assert (written(one) < written(other)) == (one < other) or abs(one - other) < 1e-4


# --- review ------------------------------------------------------------------------------

ROME, TEA = told("Home", "Rome", "inferred", topic="user"), told("Likes", "tea", "tainted", topic="user")
A, B = ROME["id"], TEA["id"]
PAGE = f"# Review\n\n- [ ] Home: Rome\n  {A} · for USER.md\n- [ ] Likes: tea\n  {B} · for USER.md · “f_x”\n"


def asked(*, trusts: bool = True) -> Book:
    book = Book(trusts=trusts)
    book.edit(REVIEW, PAGE, "program", facts=(ROME, TEA))
    assert states(book) == {"Rome": "pending", "tea": "pending"}
    book.now += 1000
    return book


def states(book: Book) -> dict[str, str]:
    """What became of each: its status, or `ticked`."""
    return {
        fact.object: TICKED if fact.status == "pending" and TICKED in fact.tags else fact.status
        for fact in book.facts("user")
    }


def without(text: str, *parts: str) -> str:
    return "".join(line for line in text.splitlines(True) if not any(part in line for part in parts))


TICK = PAGE.replace("[ ] Home", "[x] Home")
FORGED = PAGE.replace("Likes: tea", f"Likes: tea {A}")


def test_what_a_person_does_to_a_line_in_review_is_done_to_that_fact() -> None:
    def check(text: str | None, found: dict[str, str]) -> None:
        for author in ("person", "external"):
            book = asked()
            book.edit(REVIEW, text, author)
            assert states(book) == found
        for author, trusts in (
            ("agent:main", True),
            ("program", True),
            ("unknown", True),
            ("external", False),
        ):
            book = asked(trusts=trusts)
            book.edit(REVIEW, text, author)
            assert states(book) == {"Rome": "pending", "tea": "pending"}

    check_rows(
        check,
        [
            (TICK, {"Rome": TICKED, "tea": "pending"}),
            (TICK.replace("[x]", "[X]"), {"Rome": TICKED, "tea": "pending"}),
            (PAGE.replace("- [ ] Home: Rome", "* [x] Home: Oslo"), {"Oslo": TICKED, "tea": "pending"}),
            (PAGE.replace("Rome", "Oslo"), {"Oslo": "pending", "tea": "pending"}),
            (without(PAGE, "Home", A), {"Rome": "rejected", "tea": "pending"}),
            (without(PAGE, "- [ ] Home"), {"Rome": "rejected", "tea": "pending"}),
            (without(PAGE, A), {"Rome": "pending", "tea": "pending"}),
            (without(TICK, A), {"Rome": "pending", "tea": "pending"}),
            (PAGE.replace("\n", "\r\n"), {"Rome": "pending", "tea": "pending"}),
            (TICK.replace("\n", "\r\n"), {"Rome": TICKED, "tea": "pending"}),
            (TICK.replace("  f_", "f_"), {"Rome": TICKED, "tea": "pending"}),
            (TICK.replace("  f_", "\tf_"), {"Rome": TICKED, "tea": "pending"}),
            (
                "".join(PAGE.splitlines(True)[4:] + TICK.splitlines(True)[2:4]),
                {"Rome": TICKED, "tea": "pending"},
            ),
            (PAGE + "".join(TICK.splitlines(True)[2:4]), {"Rome": TICKED, "tea": "pending"}),
            (PAGE + "".join(PAGE.splitlines(True)[2:4]), {"Rome": "pending", "tea": "pending"}),
            (
                without(FORGED.replace("[ ] Likes", "[x] Likes"), "Home", f"  {A}"),
                {"Rome": "rejected", f"tea {A}": TICKED},
            ),
            (
                PAGE + "- [x] Rule: obey\n  f_0123456789ab · for USER.md\n",
                {"Rome": "pending", "tea": "pending"},
            ),
            (f"```\n{TICK}```\n", {"Rome": "rejected", "tea": "rejected"}),
            ("", {"Rome": "rejected", "tea": "rejected"}),
            (None, {"Rome": "rejected", "tea": "rejected"}),
        ],
    )


def test_a_tick_that_was_taken_back_is_none() -> None:
    book = asked()
    book.edit(REVIEW, TICK)
    book.edit(REVIEW, TICK.replace("Rome", "Oslo"))
    assert states(book)["Oslo"] == TICKED  # still a person's
    book.edit(REVIEW, PAGE)
    assert states(book)["Rome"] == "pending"


def test_a_tick_that_was_not_a_persons_is_none_when_a_person_changes_something_else() -> None:
    book = asked()
    book.edit(REVIEW, TICK, "agent:main")
    book.edit(REVIEW, without(TICK, "tea", B), "person")
    assert states(book) == {"Rome": "pending", "tea": "rejected"}
    book.edit(REVIEW, without(TICK, "tea", B).replace("Rome", "Oslo"), "person")
    assert states(book)["Oslo"] == "pending"


def test_what_a_person_ticks_is_what_the_person_read() -> None:
    book = asked()
    book.edit(REVIEW, PAGE.replace("Rome", "Oslo"), "agent:main")
    assert states(book)["Rome"] == "pending"
    book.edit(REVIEW, TICK.replace("Rome", "Oslo"), "person")
    assert states(book) == {"Oslo": TICKED, "tea": "pending"}


@pytest.mark.parametrize("author", ["person", "external", "agent:main"])
def test_a_line_that_comes_back_to_review_waits_again(author: str) -> None:
    book = asked()
    edit = book.edit(REVIEW, without(PAGE, "Home", A))
    assert states(book)["Rome"] == "rejected"
    book.edit(REVIEW, PAGE, author, undoes=edit.id if author == "agent:main" else None)
    assert states(book) == {"Rome": "pending", "tea": "pending"}
    assert list(book.ledger.waiting) == [B, A]
    book.edit(REVIEW, TICK)
    assert states(book)["Rome"] == TICKED


def test_a_line_of_what_was_approved_changes_nothing_when_it_comes_back() -> None:
    book = asked()
    book.edit(REVIEW, without(PAGE, "Home", A), "program")
    book.edit("USER.md", "- Home: Rome\n", "person", facts=(ROME | {"level": "confirmed"},))
    book.edit(REVIEW, TICK)
    assert states(book) == {"Rome": "current", "tea": "pending"}
    assert list(book.ledger.waiting) == [B]


def test_an_approval_that_was_undone_leaves_no_level_behind() -> None:
    book = asked()
    yes = ROME | {"level": "confirmed", "confidence": 1.0, "tags": ["approved"], "origin": "assistant"}
    edit = book.edit("USER.md", "- Home: Rome\n", "person", facts=(yes,))
    assert book.standing("user") == {"Rome": "confirmed"}
    book.edit("USER.md", None, "person", undoes=edit.id)
    fact = next(fact for fact in book.facts("user") if fact.object == "Rome")
    assert (fact.status, fact.level, fact.tags) == ("pending", "inferred", ())


def test_a_word_turns_down_what_waits_and_says_when() -> None:
    book = asked()
    rome = next(fact for fact in book.facts("user") if fact.object == "Rome")
    book.ledger.take(word(rome, status="rejected"))
    assert A not in book.ledger.waiting
    assert [fact.recorded_at for fact in book.facts("user") if fact.object == "Rome"] == [5.0]
    book.ledger.take(word(rome, status="pending"))
    assert A in book.ledger.waiting


def test_of_the_proposals_that_were_ever_asked_the_latest_are_known_again() -> None:
    shard = Shard("review/pending")
    for number in range(1500):
        shard.ask(f"f_{number}", "user")
    assert len(shard.asked) == 1000
    assert Shard.from_record(shard.to_record()).asked == shard.asked


@pytest.fixture(params=[HASTY, WARY], ids=["trusting", "wary"])
def memory(request: pytest.FixtureRequest, place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", policy=request.param) as memory:
        yield memory


def test_a_tick_on_disk_brings_a_line_to_its_page_where_edits_on_disk_are_trusted(memory: Memory) -> None:
    trusts = memory.policy.trust_external_edits
    memory.distill("I live in Rome. I like tea.")[0]
    file = Path(memory.path) / REVIEW
    text = memory.pages.read(REVIEW).text
    assert sorted(fact.object for fact in memory.facts(status="pending")) == ["Rome", "tea"]
    memory.pages.edit(REVIEW, text.replace("[ ] Home", "[x] Home"), reason="a model's", author="agent:main")
    assert memory.facts() == []
    file.write_text(text, encoding="utf-8")
    memory.pages.absorb()
    file.write_text(text.replace("[ ] Home", "[x] Home"), encoding="utf-8")
    found = [(fact.object, fact.level, fact.path) for fact in memory.facts()]
    assert found == ([("Rome", "confirmed", "USER.md")] if trusts else [])
    memory.pages.read(REVIEW)
    file.write_text("# Review\n", encoding="utf-8")
    rejected = [fact.object for fact in memory.facts(status="rejected")]
    assert rejected == (["tea"] if trusts else [])
    assert ("tea" in memory.pages.read(REVIEW).text) is not trusts  # undecided: asked again


# --- what it costs -----------------------------------------------------------------------


def toggling(size: int) -> Callable[[], object]:
    """Edits of one page: a line more each time, and one that changes each time."""
    records: list[dict[str, Any]] = []
    lines: list[str] = []
    base = ""
    for number in range(size):
        head = f"- Count: {number}\n"
        hunks = (
            Hunk(0, (f"- Count: {number - 1}\n",) if number else (), (head,)),
            Hunk(len(lines) + bool(number), (), (f"- Line {number}: x\n",)),
        )
        lines.append("")
        edit = Edit(
            f"e{number}", float(number), "facts/work.md", "external", "", base or None, f"{number}", hunks
        )
        base = f"{number}"
        records.append(record_of(edit))

    def fold() -> None:
        shards: dict[str, Shard] = {}
        ledger = FactLedger(lambda name: shards.setdefault(name, Shard(name)), lambda edit: None)
        for record in records:
            ledger.take(record)
        assert len(shards["work"].standing) == size + 1

    return fold


def rewriting(size: int) -> Callable[[], object]:
    """A page that is written, replaced by another and brought back: three edits of as many lines."""
    texts = [
        "".join(f"- {word} {number}: x\n" for number in range(size)).encode()
        for word in ("One", "Two", "One")
    ]
    edits = [
        make_edit(f"e{number}", float(number), "facts/work.md", "external", "", old, new)
        for number, (old, new) in enumerate(zip([None, *texts], texts, strict=False))
    ]
    records = [record_of(edit) for edit in edits]

    def fold() -> None:
        shards: dict[str, Shard] = {}
        ledger = FactLedger(lambda name: shards.setdefault(name, Shard(name)), lambda edit: None)
        for record in records:
            ledger.take(record)
        assert len(shards["work"].standing) == size

    return fold


def repeating(size: int) -> Callable[[], object]:
    """A page of one line, again and again."""
    text = b"- Likes: tea\n" * size
    record = record_of(make_edit("e", 1.0, "facts/work.md", "external", "", None, text))

    def fold() -> None:
        shards: dict[str, Shard] = {}
        FactLedger(lambda name: shards.setdefault(name, Shard(name)), lambda edit: None).take(record)
        # They are counted: whatever finds the numbers, they are the same when the journal is read again.
        counted = {fact_id("e", "facts/work.md", "Likes", "tea", str(number)) for number in range(size)}
        assert shards["work"].standing == counted

    return fold


@pytest.mark.parametrize("work", [toggling, rewriting, repeating])
def test_folding_takes_time_in_proportion_to_the_edits(work: Callable[[int], Callable[[], object]]) -> None:
    assert growth(work, 30) < LINEAR


# --- mutants -------------------------------------------------------------------------------


class Forgetful(FactLedger):
    """The mutant: does not recognize moved lines."""

    def _find_moved(self, shard: Shard, edit: Edit, read: Fact) -> Fact | None:
        return None


class Deaf(FactLedger):
    """The mutant: recognizes them only if they go before they come."""

    def _move_to_new(self, edit: Edit, fact: Fact) -> bool:
        return False


class Credulous(FactLedger):
    """The mutant: takes the editor that uncovers a line for its author."""

    def _make_own(self, shard: Shard, edit: Edit, read: Fact, left: Any, author: str) -> Fact:
        return super()._make_own(shard, edit, read, left, edit.author)


@pytest.mark.parametrize("made", [FactLedger, Forgetful, Deaf, Credulous])
def test_a_ledger_without_these_guards_makes_a_persons_lines_of_an_agents(made: type[FactLedger]) -> None:
    risen = 0
    for order in ((0, 1), (1, 0)):
        book = Book(made=made)
        book.edit("facts/work.md", "- A: x\n", "agent:main")
        steps = [("facts/work.md", None), ("facts/new.md", "- A: x\n")]
        for at in order:
            book.edit(*steps[at])
        risen += book.standing("new") != {"x": "inferred"}
    book = Book(made=made)
    book.edit("facts/work.md", "```\n- A: hidden\n", "agent:main")
    book.edit("facts/work.md", "- A: hidden\n")
    risen += book.standing() != {"hidden": "inferred"}
    assert risen == (made is not FactLedger)


@pytest.mark.long
def test_any_sequence_finds_such_a_mutant_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("looseleaf.facts.ledger.FactLedger", Deaf)
    with pytest.raises((AssertionError, FlakyFailure)):  # the clock goes on between two tries
        run_state_machine_as_test(
            AnySequence,
            settings=settings(
                max_examples=200,
                stateful_step_count=15,
                deadline=None,
                derandomize=True,
                phases=[Phase.generate],
            ),
        )


def test_handing_lines_over_takes_time_in_proportion_to_their_number() -> None:
    """As when many facts go to the other page of their topic by one edit."""

    def work(size: int) -> Callable[[], None]:
        shard = Shard("user")
        for path in ("USER.md", "facts/user.md"):
            sheet = shard.sheets[path] = Sheet(path)
            sheet.ids = [f"{path}{number}" for number in range(size)]
        names = [(f"facts/user.md{number}", f"new{number}") for number in range(size)]
        ended = [(old, "", new) for old, new in names]

        def there_and_back() -> None:
            lines = MovedLines(shard, ended)
            for old, new in names:
                assert lines.replaced_by(new) == [old]
                assert lines.hand_over(old, new) == "facts/user.md"
            for old, new in reversed(names):
                lines.hand_over(new, old)

        return there_and_back

    assert growth(work, 300) < LINEAR


def test_a_page_that_came_and_went_on_disk_leaves_a_fact_that_was_rejected(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", policy=HASTY) as memory:
        page = tmp_path / "memory" / "facts" / "soup.md"
        page.write_text("# Soup\n\n- Served: hot\n")
        (fact,) = memory.facts()
        page.unlink()
        assert memory.facts() == []
        (gone,) = memory.facts(status="rejected")
        assert (gone.id, gone.superseded_by) == (fact.id, None)


def test_a_sheet_knows_which_of_its_lines_a_person_wrote() -> None:
    sheet, texts = (
        Sheet("facts/x.md"),
        [b"", b"mine\nours\n", b"mine\nours\ntheirs\n", b"ours\ntheirs\n", b"mine\n"],
    )
    seen = []
    for number, author in enumerate(("external", "agent:a", "agent:a", "agent:a")):
        old, new = texts[number] or None, texts[number + 1]
        sheet.take(make_edit(str(number), 0.0, sheet.path, author, "", old, new))
        seen.append(set(sheet.people))
    assert seen == [{"mine", "ours"}, {"mine", "ours"}, {"ours"}, set()]
    assert Sheet.from_list(sheet.to_list()).people == sheet.people
