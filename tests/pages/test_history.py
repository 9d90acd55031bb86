"""The journal of pages: any version from its edits, also around damage; undo; what a page was at a time."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import core
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.policy import Policy
from looseleaf.base.values import Edit, Problem, sha256
from looseleaf.cli import main as cli
from looseleaf.cli.output import REFUSED
from looseleaf.log.journal import (
    NO_PAGE,
    BrokenEdit,
    Head,
    backward,
    edit_of,
    edits_back,
    find_undo_target,
    fold,
    forward,
    make_edit,
    record_of,
    version,
)
from looseleaf.pages.folder import init
from looseleaf.store import records
from looseleaf.text.times import parse_when
from tables import check_rows

if TYPE_CHECKING:
    from looseleaf.base.values import Record

HASTY = Policy(settle_seconds=0.01, quiet_seconds=0.001)
PATH = "facts/work.md"

some_bytes = st.one_of(st.binary(max_size=30), st.text(max_size=30).map(str.encode))
versions = st.lists(st.one_of(st.none(), some_bytes), min_size=1, max_size=8).map(
    lambda found: [each for each, before in zip(found, [None, *found], strict=False) if each != before]
)


def edits_of(pages: list[bytes | None]) -> list[Edit]:
    """The edits that make these versions, each from the one before."""
    return [
        make_edit(f"e{number}", float(number), PATH, "person", "why", old, new)
        for number, (old, new) in enumerate(pairwise([None, *pages]))
    ]


# --- one edit --------------------------------------------------------------------------


@given(st.one_of(st.none(), some_bytes), st.one_of(st.none(), some_bytes))
def test_an_edit_leads_forwards_and_back(old: bytes | None, new: bytes | None) -> None:
    edit = make_edit("id", 1.5, PATH, "person", "why", old, new, undoes="other")
    assert forward(edit, old) == new
    assert backward(edit, new) == old
    assert edit_of(json.loads(json.dumps(record_of(edit)))) == edit


@given(some_bytes, some_bytes)
def test_an_edit_of_a_lost_text_holds_the_whole_new_one(old: bytes, new: bytes) -> None:
    edit = make_edit("id", 1.5, PATH, "person", "why", None, new, lost_base=sha256(old))
    assert (edit.base, edit.new, edit.whole, edit.removed) == (sha256(old), sha256(new), True, 0)
    assert forward(edit, b"whatever") == forward(edit, None) == new
    with pytest.raises(BrokenEdit):
        backward(edit, new)
    assert edit_of(json.loads(json.dumps(record_of(edit)))) == edit


def test_an_edit_that_does_not_fit_is_broken() -> None:
    edit = make_edit("id", 1.5, PATH, "person", "why", b"a\nb\n", b"a\nc\n")
    for text in (None, b"", b"a\nc\n", b"b\na\n"):
        with pytest.raises(BrokenEdit, match="does not start from this text"):
            forward(edit, text)
    with pytest.raises(BrokenEdit, match="does not lead to this text"):
        backward(edit, b"a\nb\n")
    record = record_of(edit)
    wrong = edit_of(record | {"diff": [{"at": 7, "del": ["x\n"], "add": []}]})
    with pytest.raises(BrokenEdit, match="does not fit"):
        forward(wrong or edit, b"a\nb\n")
    wrong = edit_of(record | {"diff": [{"at": 1, "del": ["b\n"], "add": ["d\n"]}]})
    with pytest.raises(BrokenEdit, match="does not give the text it records"):
        forward(wrong or edit, b"a\nb\n")
    wrong = edit_of(record | {"diff": [{"at": 1, "del": ["b\n"], "add": ["\ud800\n"]}]})
    with pytest.raises(BrokenEdit, match="does not fit"):
        forward(wrong or edit, b"a\nb\n")


def test_a_record_that_makes_no_sense_is_no_edit() -> None:
    record = record_of(make_edit("id", 1.5, PATH, "person", "why", None, b"x"))
    assert edit_of(record) is not None
    senseless: list[dict[str, Any]] = [{"kind": "void"}, {"ts": "yesterday"}, {"diff": 7}, {"diff": [{}]}]
    for changed in senseless:
        assert edit_of(record | changed) is None
    for missing in ("id", "ts", "path", "author", "reason", "base", "new", "diff"):
        assert edit_of({name: value for name, value in record.items() if name != missing}) is None


# --- many ------------------------------------------------------------------------------


@core
@given(versions)
def test_every_version_is_rebuilt_from_the_last(pages: list[bytes | None]) -> None:
    edits = edits_of(pages)
    for index, page in enumerate(pages):
        assert version(edits, index, pages[-1]) == page


@given(versions.filter(lambda pages: len(pages) > 2), st.data())
def test_a_lost_edit_hides_no_version_but_its_own(pages: list[bytes | None], data: st.DataObject) -> None:
    edits = edits_of(pages)
    lost = data.draw(st.integers(0, len(pages) - 2))
    left = edits[:lost] + edits[lost + 1 :]
    for index, edit in enumerate(left):
        assert version(left, index, pages[-1]) == pages[edits.index(edit)]
    # And what the lost one had made is what the next one starts from.
    following = edits[lost + 1]
    assert backward(following, version(left, lost, pages[-1])) == pages[lost]


def test_between_two_lost_edits_versions_are_hidden_unless_the_page_was_gone_there() -> None:
    pages: list[bytes | None] = [b"0", b"1", b"2", b"3", b"4", b"5"]
    edits = edits_of(pages)
    left = [edits[0], edits[2], edits[3], edits[5]]
    assert version(left, 0, b"5") == b"0"
    assert version(left, 3, b"5") == b"5"
    for hidden in (1, 2):
        with pytest.raises(BrokenEdit):
            version(left, hidden, b"5")
    pages = [b"0", b"1", b"2", b"3", None, b"5", b"6"]
    edits = edits_of(pages)
    left = [edits[0], edits[2], edits[3], edits[4], edits[6]]
    assert [version(left, index, b"6") for index in range(5)] == [b"0", b"2", b"3", None, b"6"]
    pages = [b"0", b"1", b"2"]
    edits = edits_of(pages)[1:]
    with pytest.raises(BrokenEdit, match="cannot be rebuilt"):
        version(edits, 0, b"unknown")


def test_an_edit_that_was_declared_void_did_not_happen() -> None:
    one, two = (record_of(edit) for edit in edits_of([b"1", b"2"]))
    void: Record = {"kind": "void", "path": PATH, "edit": "e1"}
    assert [edit.id for edit in edits_back([void, two, one])] == ["e0"]
    heads: dict[str, Head] = {}
    for record in (one, two):
        fold(heads, record)
    assert heads[PATH] == Head(sha256(b"2"), "e1", sha256(b"1"))
    fold(heads, void | {"edit": "another"})
    fold(heads, void | {"path": "facts/other.md"})
    assert heads[PATH].sha256 == sha256(b"2")
    fold(heads, void)
    assert heads == {PATH: Head(sha256(b"1"), None, sha256(b"2"))}
    fold(heads, {"kind": "init"})
    assert heads.get("facts/none.md", NO_PAGE) == Head(None)


def test_undo_means_the_newest_edit_that_is_not_undone_and_no_undo() -> None:
    edits = edits_of([b"1", b"2"])
    undo = make_edit("u", 9.0, PATH, "person", "undo", b"2", b"1", undoes="e1")
    assert find_undo_target([undo, edits[1], edits[0]]) == (edits[0], True)
    assert find_undo_target([edits[1], edits[0]]) == (edits[1], True)
    assert find_undo_target([]) == (None, True)
    assert find_undo_target([undo]) == (None, True)
    after_a_hole = make_edit("u2", 9.0, PATH, "person", "undo", b"9", b"8", undoes="e9")
    assert find_undo_target([after_a_hole, edits[1]]) == (edits[1], False)


# --- in a memory -----------------------------------------------------------------------


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", policy=HASTY) as memory:
        yield memory


def write(memory: Memory, *texts: str) -> list[Edit]:
    """One edit for each text; the edits."""
    for text in texts:
        memory.pages.edit(PATH, text, reason=f"to {text.strip()}")
    return list(memory.history.edits(PATH))[::-1][-len(texts) :]


def journal_of(memory: Memory) -> Path:
    return Path(memory.path) / "log/journal.jsonl"


def damage(memory: Memory, edit: Edit) -> None:
    """Flip a bit in the record of an edit."""
    data = journal_of(memory).read_bytes()
    at = data.index(f'"id":"{edit.id}"'.encode())
    flipped = data[: at + 7] + bytes([data[at + 7] ^ 1]) + data[at + 8 :]
    journal_of(memory).write_bytes(flipped)


def reopen(memory: Memory, *, views: bool = True) -> Memory:
    memory.close()
    if not views:
        shutil.rmtree(Path(memory.path) / "views")
    return Memory(memory.path, policy=HASTY)


def errors(memory: Memory) -> list[Problem]:
    return [problem for problem in memory.check() if problem.severity == "error"]


def test_undo_goes_further_back_each_time_and_is_an_edit_itself(memory: Memory) -> None:
    first, second, third = write(memory, "1\n", "2\n", "3\n")
    other = memory.pages.edit("USER.md", "me\n", reason="another page")
    seen = []
    for _ in range(3):
        edit, receipt = memory.history.undo(PATH, author="agent:main")
        newest = next(memory.history.edits())
        assert (newest.id, newest.undoes, newest.author) == (receipt.id, edit.id, "agent:main")
        assert newest.reason == f"undo: {edit.reason}"
        seen.append((edit.id, memory.pages.read(PATH).data))
    assert seen == [(third.id, b"2\n"), (second.id, b"1\n"), (first.id, b"")]
    assert not memory.pages.read(PATH).exists
    with pytest.raises(Refused, match="no edit left to undo"):
        memory.history.undo(PATH)
    assert memory.history.undo()[0].id == other.id
    with pytest.raises(Refused, match="Nothing was undone: this memory has no edit left"):
        memory.history.undo()
    assert len(list(memory.history.edits())) == 8


def test_after_an_undo_new_edits_are_undone_first(memory: Memory) -> None:
    write(memory, "1\n", "2\n")
    memory.history.undo(PATH)
    write(memory, "3\n")
    (Path(memory.path) / PATH).write_text("by hand\n")
    texts = []
    for _ in range(3):
        memory.history.undo(PATH)
        texts.append(memory.pages.read(PATH).text)
    assert texts == ["3\n", "1\n", ""]


def test_undo_without_a_page_takes_the_newest_edit_of_all(memory: Memory) -> None:
    write(memory, "1\n")
    (Path(memory.path) / "USER.md").write_text("by hand\n")
    edit, _ = memory.history.undo()
    assert (edit.path, edit.author) == ("USER.md", "external")
    assert not (Path(memory.path) / "USER.md").exists()
    assert memory.history.undo()[0].path == PATH


@pytest.mark.parametrize("views", [True, False])
@pytest.mark.parametrize("hole", [0, 1, 2, 3])
def test_a_damaged_record_hides_no_version_outside_the_hole(memory: Memory, hole: int, views: bool) -> None:
    texts = [f"{number}\nsame\n" for number in range(5)]
    edits = write(memory, *texts)
    damage(memory, edits[hole])
    with reopen(memory, views=views) as memory:
        assert memory.pages.read(PATH).text == texts[4]
        left = list(memory.history.edits(PATH))[::-1]
        assert [edit.id for edit in left] == [edit.id for edit in edits if edit is not edits[hole]]
        for number, edit in enumerate(edits):
            if number != hole:
                after = memory.history.versions(edit)[1]
                assert after == texts[number].encode()
                assert memory.history.page_at(PATH, edit.ts).data == after
        # The text that the lost edit made is the one that the next started from.
        assert memory.history.versions(edits[hole + 1])[0] == texts[hole].encode()
        assert any("does not follow" in problem.message for problem in errors(memory))
        assert memory.repair()
        assert errors(memory) == []
        assert memory.history.versions(edits[hole + 1])[0] == texts[hole].encode()
        memory.pages.edit(PATH, "more\n", reason="life goes on")
        assert errors(memory) == []
    with Memory(memory.path, policy=HASTY) as memory:
        assert memory.pages.absorb() == []


def test_the_last_record_is_made_again_from_the_page_when_it_is_lost(memory: Memory) -> None:
    edits = write(memory, "1\n", "2\n")
    memory.pages.edit("USER.md", "me\n", reason="so that it is not the last of all")
    damage(memory, edits[1])
    with reopen(memory, views=False) as memory:
        assert memory.pages.read(PATH).text == "2\n"
        newest = next(memory.history.edits(PATH))
        assert (newest.author, newest.base, newest.new) == ("unknown", edits[0].new, edits[1].new)


def test_a_time_within_a_hole_is_answered_with_a_note(memory: Memory) -> None:
    edits = write(memory, "1\n", "2\n", "3\n")
    damage(memory, edits[1])
    with reopen(memory) as memory:
        assert memory.history.page_at(PATH, edits[2].ts).text == "3\n"
        assert memory.notes == []
        assert memory.history.page_at(PATH, (edits[1].ts + edits[2].ts) / 2).text == "1\n"
        assert [note.partition(":")[0] for note in memory.notes] == [f"{PATH} may have been different then"]
        memory.notes.clear()
        assert not memory.history.page_at(PATH, edits[0].ts - 1).exists
        assert memory.notes == []
    damage(memory, edits[0])
    with Memory(memory.path, policy=HASTY) as memory:
        assert not memory.history.page_at(PATH, (edits[1].ts + edits[2].ts) / 2).exists
        assert len(memory.notes) == 1


def test_an_outside_edit_of_a_text_that_is_lost_is_journaled_whole(memory: Memory) -> None:
    edits = write(memory, "1\n", "2\n", "3\n")
    damage(memory, edits[1])
    memory.close()
    shutil.rmtree(Path(memory.path) / "views")
    (Path(memory.path) / PATH).write_text("by hand\n")
    with Memory(memory.path, policy=HASTY) as memory:
        (edit,) = memory.pages.absorb()
        assert (edit.whole, edit.base, edit.new) == (True, edits[2].new, sha256(b"by hand\n"))
        assert memory.history.versions(edits[0]) == (None, b"1\n")
        with pytest.raises(Refused, match=r"cannot be rebuilt.*looseleaf check"):
            memory.history.versions(edits[2])
        with pytest.raises(Refused, match="cannot be rebuilt"):
            memory.history.versions(edit)
        with pytest.raises(Refused, match="cannot be rebuilt"):
            memory.history.undo(PATH)
        assert memory.pages.read(PATH).text == "by hand\n"
        whole = journal_of(memory).read_bytes()
        damage(memory, edits[2])  # of the text it replaced not even the name is left
        with pytest.raises(Refused, match=r"before edit .* cannot be rebuilt"):
            memory.history.undo(PATH)
        journal_of(memory).write_bytes(whole)
        memory.pages.edit(PATH, "next\n", reason="life goes on")
        memory.history.undo(PATH)
        assert memory.pages.read(PATH).text == "by hand\n"
        assert [problem.message for problem in errors(memory)] == [
            "this record is damaged: its checksum does not match",
            f"the edit {edits[2].id} of {PATH} does not follow from the one before it: one is missing",
        ]
        memory.repair()
        assert errors(memory) == []


def test_a_text_that_an_earlier_edit_made_too_is_found_there(memory: Memory) -> None:
    edits = write(memory, "1\n", "2\n", "3\n", "1\n")
    damage(memory, edits[2])
    memory.close()
    shutil.rmtree(Path(memory.path) / "views")
    (Path(memory.path) / PATH).unlink()
    with Memory(memory.path, policy=HASTY) as memory:
        # The last text cannot be reached over the hole, but the first edit made the very same.
        (edit,) = memory.pages.absorb()
        assert (edit.whole, edit.removed, edit.new) == (False, 1, None)
        memory.history.undo(PATH)
        assert memory.pages.read(PATH).text == "1\n"


def test_a_whole_edit_is_undone_when_its_base_is_known_after_all(memory: Memory) -> None:
    (first,) = write(memory, "1\n")
    edit = make_edit(
        "01J00000000000000000000000", time.time(), PATH, "external", "x", None, b"2\n", lost_base=first.new
    )
    memory.parts.context.store.append("journal", [record_of(edit)])
    (Path(memory.path) / PATH).write_text("2\n")
    memory.history.undo(PATH)
    assert memory.pages.read(PATH).text == "1\n"


def test_undo_over_a_hole_is_refused_and_changes_nothing(memory: Memory) -> None:
    edits = write(memory, "1\n", "2\n", "3\n")
    damage(memory, edits[1])
    with reopen(memory) as memory:
        memory.history.undo(PATH)
        assert memory.pages.read(PATH).text == "2\n"
        before = journal_of(memory).read_bytes()
        with pytest.raises(Refused, match="by one whose record is damaged"):
            memory.history.undo(PATH)
        assert journal_of(memory).read_bytes() == before
        assert memory.pages.read(PATH).text == "2\n"


def test_an_edit_that_lies_about_its_text_is_refused_and_named(memory: Memory) -> None:
    write(memory, "1\n")
    lie = record_of(make_edit("01J00000000000000000000000", time.time(), PATH, "person", "x", b"1\n", b"2\n"))
    lie["diff"][0]["del"] = ["7\n"]
    memory.parts.context.store.append("journal", [lie])
    (Path(memory.path) / PATH).write_text("2\n")
    with pytest.raises(Refused, match="does not give the text it records"):
        memory.history.undo(PATH)
    assert memory.pages.read(PATH).text == "2\n"
    assert [problem.message for problem in errors(memory)] == [
        f"edit 01J00000000000000000000000 does not fit ({PATH})"
    ]
    memory.pages.edit(PATH, "3\n", reason="life goes on")
    memory.parts.context.store.append("journal", [lie | {"diff": 7, "id": "x"}])
    assert "the edit x makes no sense" in [problem.message for problem in errors(memory)]


@pytest.mark.parametrize("schema", ["journal.v2", None])
def test_a_journal_of_an_unknown_format_is_refused_and_nothing_is_changed(
    memory: Memory, schema: str | None
) -> None:
    write(memory, "1\n")
    memory.parts.context.store.append("journal", [{"schema": schema, "id": "x", "ts": 1.0, "kind": "edit"}])
    (Path(memory.path) / PATH).write_text("by hand\n")
    with reopen(memory) as memory:
        before = journal_of(memory).read_bytes()
        acts: list[Callable[[], object]] = [
            lambda: memory.pages.read(PATH),
            memory.pages.list,
            lambda: memory.history.page_at(PATH, 1.0),
            memory.history.edits,
            memory.pages.absorb,
            lambda: memory.pages.edit(PATH, "x", reason="y"),
            memory.history.undo,
        ]
        for act in acts:
            with pytest.raises(Refused, match="Nothing was done: the journal holds a record of the format"):
                act()
        assert [str(problem) for problem in errors(memory)] == [
            f"log/journal.jsonl: a record has the format {schema!r}, which is not known here"
        ]
        assert journal_of(memory).read_bytes() == before
        assert (Path(memory.path) / PATH).read_text() == "by hand\n"


def test_a_second_hole_is_an_error_again_after_the_first_was_repaired(memory: Memory) -> None:
    edits = write(memory, "1\n", "2\n", "3\n", "4\n", "5\n")
    damage(memory, edits[1])
    memory.repair()
    assert errors(memory) == []
    lines = journal_of(memory).read_bytes().splitlines(keepends=True)
    journal_of(memory).write_bytes(b"".join(line for line in lines if edits[3].id.encode() not in line))
    back, hole = (problem.message for problem in errors(memory))
    assert back.startswith("this log is older than before: 1 record is missing")
    assert hole == f"the edit {edits[4].id} of {PATH} does not follow from the one before it: one is missing"


def test_a_repair_by_another_process_leads_nobody_astray(place: Path) -> None:
    with Memory(place / "m", policy=HASTY) as one, Memory(place / "m", policy=HASTY) as other:
        long = "x" * 5000 + "\n"
        edits = write(one, "1\n", long, "3\n")
        assert other.pages.read(PATH).text == "3\n"
        damage(one, edits[1])
        one.repair()  # the journal is shorter now than what the other has read of it
        one.pages.edit(PATH, "4\n", reason="a short record")
        assert other.pages.read(PATH).text == "4\n"
        assert other.pages.absorb() == []
        other.pages.edit(PATH, "5\n", reason="and on")
        (place / "m" / PATH).write_text("by hand\n")
        assert len(other.pages.absorb()) == 1
        assert one.pages.read(PATH).text == "by hand\n"
        assert [edit.author for edit in one.history.edits(PATH)] == ["external", *["agent:main"] * 4]
        assert errors(one) == []


# --- as of -----------------------------------------------------------------------------


def test_show_as_of_prints_what_the_page_was(
    memory: Memory, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    pages = [b"\xff not UTF-8", b"one\n", b"two\r\n", "三\n".encode()]
    for page in pages:
        (Path(memory.path) / PATH).write_bytes(page)
        memory.pages.absorb()
    edits = list(memory.history.edits(PATH))[::-1]
    ends = [*(edit.ts for edit in edits[1:]), edits[-1].ts + 10]
    for edit, end, page in zip(edits, ends, pages, strict=True):
        when = datetime.fromtimestamp((edit.ts + end) / 2).astimezone().isoformat()
        assert cli.main(["--memory", memory.path, "show", PATH, "--as-of", when]) == 0
        assert capfdbinary.readouterr().out == page
    before = datetime.fromtimestamp(edits[0].ts - 1).astimezone().isoformat()
    assert cli.main(["--memory", memory.path, "show", PATH, "--as-of", before]) == REFUSED
    assert (
        capfdbinary.readouterr()
        .err.decode()
        .startswith(
            f"looseleaf: Nothing was shown: facts/work.md did not exist as of {before}; its edits are from "
        )
    )


def test_a_day_ends_with_its_last_moment(memory: Memory) -> None:
    write(memory, "now\n")
    today = datetime.now().astimezone().date().isoformat()
    assert memory.history.page_at(PATH, today).text == "now\n"
    assert not memory.history.page_at(PATH, "2001-01-01").exists


NOON = datetime(2026, 2, 24, 12, tzinfo=UTC).timestamp()
MOMENT = 1e-6


def test_a_time_with_its_zone_begins_and_ends_to_the_precision_given() -> None:
    def check(text: str, first: float, last: float) -> None:
        assert parse_when(text, start=True) - NOON == pytest.approx(first, abs=MOMENT / 2)
        assert parse_when(text) - NOON == pytest.approx(last, abs=MOMENT / 2)

    check_rows(
        check,
        [
            ("2026-02-24T12:00Z", 0, 60 - MOMENT),
            ("2026-02-24T12:00:00Z", 0, 1 - MOMENT),
            ("2026-02-24T12:00:00.25Z", 0.25, 0.25),
            ("2026-02-24T12:00:00.000250Z", 0.00025, 0.00025),
            ("2026-02-24T12:00+00:00", 0, 60 - MOMENT),
            ("2026-02-24T14:00+02:00", 0, 60 - MOMENT),
            ("2026-02-24T14:00:30+02:00", 30, 31 - MOMENT),
            ("2026-02-24T14:00:30.5+02:00", 30.5, 30.5),
            ("2026-02-25T01:45+13:45", 0, 60 - MOMENT),
            ("2026-02-24T07:00-05:00", 0, 60 - MOMENT),
            ("2026-02-24T08:30:07-03:30", 7, 8 - MOMENT),
            ("2026-02-24T08:30:07.125-03:30", 7.125, 7.125),
            ("2026-02-24 07:00-05:00", 0, 60 - MOMENT),
        ],
    )


def test_a_time_without_a_zone_is_one_of_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(text: str, lasts: float, zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        try:
            midnight = time.mktime((2026, 2, 24, 0, 0, 0, 0, 0, -1))
            assert parse_when(text, start=True) == midnight
            assert parse_when(text) - midnight == pytest.approx(lasts - MOMENT, abs=MOMENT / 2)
        finally:
            monkeypatch.undo()
            time.tzset()

    times = [
        ("2026-02-24", 86400),
        ("2026-02-24T00:00", 60),
        ("2026-02-24 00:00", 60),
        ("2026-02-24T00:00:00", 1),
        ("2026-02-24T00:00:00.000000", MOMENT),
    ]
    check_rows(check, [(*row, zone) for row in times for zone in ("UTC", "UTC-05:45", "UTC+08")])


def test_an_edit_of_a_second_is_part_of_that_second_and_not_of_the_one_before(memory: Memory) -> None:
    (edit,) = write(memory, "now\n")
    second = datetime.fromtimestamp(int(edit.ts)).astimezone()
    assert memory.history.page_at(PATH, second.isoformat()).text == "now\n"
    assert not memory.history.page_at(PATH, (second - timedelta(seconds=1)).isoformat()).exists


def test_a_date_that_is_none_is_refused(memory: Memory) -> None:
    def check(text: str) -> None:
        with pytest.raises(Refused, match=r"is not a date"):
            memory.history.page_at(PATH, text)

    check_rows(check, ["", "yesterday", "2026-02-30", "24.02.2026", "2026-02-24T99:00", "9999-12-31"])


def test_a_record_without_a_checksum_is_an_error_of_the_journal(memory: Memory) -> None:
    write(memory, "1\n")
    with open(journal_of(memory), "ab") as file:
        file.write(records.to_json({"schema": "journal.v1", "id": "x", "ts": 1.0, "kind": "note"}) + b"\n")
    assert [problem.message for problem in errors(memory)] == ["this record has no checksum"]
    memory.repair()
    assert errors(memory) == []
    assert memory.pages.read(PATH).text == "1\n"


def test_a_page_that_was_deleted_after_a_hole_is_known_again(memory: Memory) -> None:
    edits = write(memory, "1\n", "2\n", "3\n")
    memory.pages.delete(PATH, reason="not needed")
    write(memory, "4\n")
    damage(memory, edits[1])
    with reopen(memory, views=False) as memory:
        assert [memory.history.versions(edit)[1] for edit in memory.history.edits(PATH)] == [
            b"4\n",
            None,
            b"3\n",
            b"1\n",
        ]
        (problem,) = (problem for problem in errors(memory) if "follow" in problem.message)
        assert edits[2].id in problem.message
        lines = journal_of(memory).read_bytes().splitlines(keepends=True)
        journal_of(memory).write_bytes(b"".join(line for line in lines if edits[2].id.encode() not in line))
        deleted = list(memory.history.edits(PATH))[1]
        (problem,) = (problem for problem in errors(memory) if "follow" in problem.message)
        assert deleted.id in problem.message


def test_a_memory_whose_journal_was_emptied_is_no_memory_until_it_is_made_one(memory: Memory) -> None:
    write(memory, "1\n")
    memory.close()
    journal_of(memory).write_bytes(b"")
    with pytest.raises(Refused, match="a memory without its log"):
        Memory(memory.path)
    assert journal_of(memory).read_bytes() == b""
    assert init(memory.path)
    with Memory(memory.path, policy=HASTY) as memory:
        assert [(edit.base, edit.new) for edit in memory.pages.absorb()] == [(None, sha256(b"1\n"))]


def test_a_memory_whose_whole_journal_is_damaged_is_read_from_its_pages(memory: Memory) -> None:
    write(memory, "1\n")
    memory.close()
    journal_of(memory).write_bytes(b"damage\n" * 3)
    with Memory(memory.path, policy=HASTY) as memory:
        assert [(edit.base, edit.new) for edit in memory.pages.absorb()] == [(None, sha256(b"1\n"))]
        assert memory.pages.read(PATH).text == "1\n"
        assert (
            len(errors(memory)) == 3
        )  # two lines (the third was cut, and is kept aside), and what was there before
        assert memory.repair()
        assert errors(memory) == []


def test_a_change_found_where_the_journal_has_a_hole_is_nobody_s(place: Path) -> None:
    with Memory(place / "memory", agent="eve") as memory:
        memory.pages.edit(PATH, "- Name: Ada\n", reason="said so")
        memory.pages.edit("facts/tea.md", "- Sugar: none\n", reason="said so")
    journal = place / "memory/log/journal.jsonl"
    *kept, last, end = journal.read_bytes().split(b"\n")
    journal.write_bytes(b"\n".join([*kept, last.replace(b"Sugar", b"SugaR"), end]))
    for _ in range(2):
        with Memory(place / "memory") as memory:
            newest = next(memory.history.edits())
            assert (newest.path, newest.author) == ("facts/tea.md", "unknown")
    (place / "memory/facts/tea.md").write_text("- Sugar: two\n")
    (place / "memory" / PATH).write_text("- Name: Ada Lovelace\n")
    with Memory(place / "memory") as memory:
        authors = {edit.path: edit.author for edit in reversed(list(memory.history.edits()))}
    assert authors == {
        "facts/tea.md": "external",
        PATH: "unknown",
    }  # of the other page a record may be missing, too


def test_pages_without_copies_are_all_rebuilt_in_one_reading(place: Path) -> None:
    names = [f"facts/p{number:03d}.md" for number in range(150)]
    with Memory(place / "memory") as memory:
        for name in names:
            (place / "memory" / name).write_text(f"# {name}\n\n- Old: yes\n")
        memory.pages.absorb()
    shutil.rmtree(place / "memory/views")
    for name in names:
        (place / "memory" / name).write_text(f"# {name}\n\n- New: yes\n")
    with Memory(place / "memory") as memory:
        edits = memory.pages.absorb()
        assert sorted(edit.path for edit in edits) == names
        assert {(edit.added, edit.removed, edit.whole, edit.author) for edit in edits} == {
            (1, 1, False, "unknown")
        }
