"""Pages under the journal: whatever people and programs do to them, the journal replays to the bytes on disk."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from drawing import COSTLY, core, few
from looseleaf import Memory
from looseleaf.base.errors import Invalid, Refused, Stale, Unwritten
from looseleaf.base.policy import Policy
from looseleaf.base.values import Receipt, sha256, sha256_or_none
from looseleaf.log.journal import backward, forward
from looseleaf.pages.folder import init
from looseleaf.pages.held import why_held
from looseleaf.store.disk import Disk
from looseleaf.store.files import FileStore
from page_texts import FEBRUARY, USER, page_texts
from tables import check_rows
from wiring import use_store

HASTY = Policy(settle_seconds=0.01, quiet_seconds=0.001, page_bytes=200_000)
"""For tests in which no editor is at work: nothing is waited for."""

PAGES = ("USER.md", "facts/work.md")
ROUGH = (
    b"",
    b"\n",
    b" \r\n\t",
    b"no line end",
    b"one\r\ntwo\r\n",
    b"\xff\xfe not UTF-8\n- Name: x\n",
    b"\xe9t\xe9\n" * 3,
    b"\xef\xbb\xbf# With a mark\n",
    b"\x00\x01\n",
    b"x" * 70_000 + b"\n" + b"y" * 70_000,
    "- 姓名：张三\u2028\n".encode(),
)
outside_bytes = st.one_of(
    st.sampled_from(ROUGH), page_texts().map(str.encode), st.binary(max_size=40), st.just(USER.encode())
)
texts = st.one_of(page_texts(), st.sampled_from(["", "\n", USER, "a\r\nb", "x" * 70_000]))


# --- saving as editors do --------------------------------------------------------------


def save_in_place(file: Path, data: bytes) -> None:
    file.write_bytes(data)


def save_by_rename(file: Path, data: bytes) -> None:
    beside = file.with_name(f".{file.name}.swp")
    beside.write_bytes(data)
    os.replace(beside, file)


def save_beside_a_backup(file: Path, data: bytes) -> None:
    if file.exists():
        os.replace(file, file.with_name(f"{file.name}~"))
    file.write_bytes(data)


def save_into(file: Path, data: bytes) -> None:
    fd = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    os.write(fd, data)
    os.ftruncate(fd, len(data))
    os.close(fd)


SAVES: tuple[Callable[[Path, bytes], None], ...] = (
    save_in_place,
    save_by_rename,
    save_beside_a_backup,
    save_into,
)


# --- anything at all -------------------------------------------------------------------


class Change:
    """What the model knows of one edit."""

    def __init__(self, path: str, before: bytes | None, after: bytes | None, is_undo: bool) -> None:
        self.path, self.before, self.after, self.is_undo = path, before, after, is_undo
        self.undone = False


class AnySequence(RuleBasedStateMachine):
    """People and programs at two pages; the model is a list of what each page was, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
        self.where = self.folder / "memory"
        self.memory = Memory(self.where, policy=HASTY)
        self.now: dict[str, bytes | None] = dict.fromkeys(PAGES)
        self.changes: list[Change] = []
        self.has_views = True
        """False from when views were deleted: after that, no one can always tell whose a save is."""

    def teardown(self) -> None:
        self.memory.close()
        shutil.rmtree(self.folder)

    def became(self, path: str, data: bytes | None, *, is_undo: bool = False) -> bool:
        """Take a change into the model; False if it is none."""
        before = self.now[path]
        if data == before:
            return False
        self.changes.append(Change(path, before, data, is_undo))
        self.now[path] = data
        return True

    def receipt_is_right(self, receipt: Receipt, path: str, before: bytes | None, changed: bool) -> None:
        assert (receipt.path, receipt.base, receipt.new, receipt.changed) == (
            path,
            sha256_or_none(before),
            sha256_or_none(self.now[path]),
            changed,
        )
        assert bool(receipt.id) == changed

    # --- programs ---

    @rule(path=st.sampled_from(PAGES), text=texts, with_base=st.booleans())
    def edit(self, path: str, text: str, with_base: bool) -> None:
        before = self.now[path]
        base = {"base": sha256_or_none(before)} if with_base else {}
        receipt = self.memory.pages.edit(path, text, author="agent:main", reason="a text", **base)
        self.receipt_is_right(receipt, path, before, self.became(path, text.encode()))

    @rule(path=st.sampled_from(PAGES), word=st.text(min_size=1, max_size=5))
    def edit_by_function(self, path: str, word: str) -> None:
        before = self.now[path]
        try:
            receipt = self.memory.pages.edit(path, lambda text: f"{text}{word}\n", reason="a line more")
        except Refused:
            with pytest.raises(UnicodeDecodeError):
                (before or b"").decode()
        else:
            changed = self.became(path, (before or b"") + f"{word}\n".encode())
            self.receipt_is_right(receipt, path, before, changed)

    @precondition(lambda self: any(self.now.values()))
    @rule(data=st.data())
    def patch(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from([path for path in PAGES if self.now[path]]))
        text = (self.now[path] or b"").decode("latin-1")
        start = data.draw(st.integers(0, len(text) - 1))
        old = text[start : start + data.draw(st.integers(1, 20))]
        try:
            text = (self.now[path] or b"").decode()
        except UnicodeDecodeError:
            return
        once = [at for at in range(len(text)) if text.startswith(old, at)] if len(text) < 1000 else None
        before = self.now[path]
        try:
            receipt = self.memory.pages.patch(path, [(old, "new")], reason="a patch")
        except Refused:
            assert once is None or len(once) != 1
        else:
            assert once is None or len(once) == 1
            changed = self.became(path, text.replace(old, "new").encode())
            self.receipt_is_right(receipt, path, before, changed)

    @rule(path=st.sampled_from(PAGES))
    def delete(self, path: str) -> None:
        before = self.now[path]
        receipt = self.memory.pages.delete(path, reason="not needed")
        self.receipt_is_right(receipt, path, before, self.became(path, None))

    @rule(path=st.sampled_from(PAGES))
    def undo(self, path: str) -> None:
        wanted = [each for each in self.changes if each.path == path and not each.is_undo and not each.undone]
        before = self.now[path]
        if not wanted:
            with pytest.raises(Refused, match="no edit left to undo"):
                self.memory.history.undo(path)
            return
        last = wanted[-1]
        edit, receipt = self.memory.history.undo(path)
        last.undone = True
        assert (edit.base, edit.new) == (sha256_or_none(last.before), sha256_or_none(last.after))
        assert before == last.after
        self.receipt_is_right(receipt, path, before, self.became(path, last.before, is_undo=True))

    # --- people ---

    @rule(path=st.sampled_from(PAGES), data=outside_bytes, save=st.sampled_from(SAVES))
    def save_outside(self, path: str, data: bytes, save: Callable[[Path, bytes], None]) -> None:
        save(self.where / path, data)
        before = self.now[path]
        changed = self.became(path, data)
        edits, author = self.memory.pages.absorb(), "external"
        if changed and why_held(path, data, lambda: before) is not None:
            assert edits == []
            assert self.memory.parts.pages.absorb.read(path) == before
            edit = self.memory.review.settle(path, "accept").edit
            edits, author = [each for each in self.memory.history.edits(path) if each.id == edit], "person"
            self.memory.notes.clear()
        assert [(edit.path, edit.base, edit.new) for edit in edits] == (
            [(path, sha256_or_none(before), sha256(data))] if changed else []
        )
        authors = {author} if self.has_views else {author, "unknown"}
        assert authors.issuperset(edit.author for edit in edits)
        assert self.memory.pages.absorb() == []

    @precondition(lambda self: any(data is not None for data in self.now.values()))
    @rule(data=st.data())
    def delete_outside(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from([path for path in PAGES if self.now[path] is not None]))
        (self.where / path).unlink()
        self.became(path, None)
        assert [(edit.path, edit.new) for edit in self.memory.pages.absorb()] == [(path, None)]
        assert self.memory.pages.absorb() == []

    # --- the folder ---

    @rule(what=st.sampled_from(["views", "views/heads", "views/heads.json"]))
    def delete_views(self, what: str) -> None:
        self.has_views = False
        target = self.where / what
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)

    @rule(junk=st.sampled_from([b"", b"{}", b"[]", b"\xff", b" {"]))
    def damage_the_view(self, junk: bytes) -> None:
        self.has_views = False
        (self.where / "views").mkdir(exist_ok=True)
        (self.where / "views/heads.json").write_bytes(junk)

    @rule()
    def open_again(self) -> None:
        self.memory.close()
        self.memory = Memory(self.where, policy=HASTY)

    @rule()
    def rotate(self) -> None:
        self.memory.parts.context.store.rotate("journal")

    # --- what holds ---

    @invariant()
    def the_journal_replays_to_the_bytes_on_disk(self) -> None:
        edits = list(self.memory.history.edits())[::-1]
        for path in PAGES:
            mine = [edit for edit in edits if edit.path == path]
            wanted = [each for each in self.changes if each.path == path]
            file = self.where / path
            assert (file.read_bytes() if file.exists() else None) == self.now[path]
            assert [edit.new for edit in mine] == [sha256_or_none(each.after) for each in wanted]
            page = None
            for edit, each in zip(mine, wanted, strict=True):
                page = forward(edit, page)
                assert page == each.after
            for edit, each in zip(reversed(mine), reversed(wanted), strict=True):
                page = backward(edit, page)
                assert page == each.before
            assert page is None

    @invariant()
    def a_page_is_what_is_on_disk(self) -> None:
        for path in PAGES:
            page = self.memory.pages.read(path)
            assert (page.data if page.exists else None) == self.now[path]
            assert page.sha256 == sha256_or_none(self.now[path])
        assert self.memory.pages.list() == [path for path in PAGES if self.now[path] is not None]
        other = [note for note in self.memory.notes if "deleted outside the program" not in note.casefold()]
        assert not self.has_views or other == []

    @invariant()
    def every_version_is_there_as_of_its_time(self) -> None:
        for path in PAGES:
            edits = list(self.memory.history.edits(path))[::-1]
            wanted = [each for each in self.changes if each.path == path]
            for number, (edit, each) in enumerate(zip(edits, wanted, strict=True)):
                assert self.memory.history.versions(edit) == (each.before, each.after)
                until = edits[number + 1].ts if number + 1 < len(edits) else edit.ts + 3600
                for when in (edit.ts, (edit.ts + until) / 2):
                    then = self.memory.history.page_at(path, when)
                    assert (then.data if then.exists else None) == each.after
                assert self.memory.history.page_at(path, edits[0].ts - 1).exists is False

    @invariant()
    def nothing_is_wrong(self) -> None:
        problems = [problem for problem in self.memory.check() if problem.severity == "error"]
        assert all("UTF-8" in problem.message for problem in problems)


def test_any_sequence_of_edits_saves_and_undos_replays_to_the_bytes_on_disk() -> None:
    run_state_machine_as_test(
        AnySequence, settings=settings(core, max_examples=few(100, COSTLY), stateful_step_count=5)
    )


@pytest.mark.long
def test_any_long_sequence_of_edits_saves_and_undos_replays_to_the_bytes_on_disk() -> None:
    run_state_machine_as_test(
        AnySequence, settings=settings(max_examples=300, stateful_step_count=30, deadline=None)
    )


# --- changing --------------------------------------------------------------------------


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place / "memory", policy=HASTY) as memory:
        yield memory


def file_of(memory: Memory, path: str) -> Path:
    return Path(memory.path) / path


def everything(memory: Memory) -> dict[str, bytes]:
    """All files of a memory that are not views."""
    root = Path(memory.path)
    found = (file for file in root.rglob("*") if file.is_file() and not file.is_symlink())
    names = {str(file.relative_to(root)): file for file in found}
    return {name: file.read_bytes() for name, file in names.items() if not name.startswith("views/")}


def test_a_receipt_says_what_a_write_did(memory: Memory) -> None:
    receipt = memory.pages.edit("USER.md", "- Name: Zhang San\n- Role: developer\n", reason="introduced")
    again = memory.pages.edit(
        "USER.md", "- Name: Zhang San\n- Role: tester\n", author="person", reason="moved"
    )
    same = memory.pages.edit("USER.md", lambda text: text, reason="nothing")
    gone = memory.pages.delete("USER.md", reason="moved out")
    (deleted, second, first) = memory.history.edits("USER.md")
    assert receipt.to_dict() == {
        "id": first.id,
        "path": "USER.md",
        "base": None,
        "new": sha256(b"- Name: Zhang San\n- Role: developer\n"),
        "added": 2,
        "removed": 0,
        "changed": True,
    }
    assert (again.id, again.base, again.added, again.removed) == (second.id, receipt.new, 1, 1)
    assert same == Receipt("", "USER.md", again.new, again.new, 0, 0, changed=False)
    assert (gone.id, gone.new, gone.removed) == (deleted.id, None, 2)
    assert [(edit.author, edit.reason) for edit in (first, second, deleted)] == [
        ("agent:main", "introduced"),
        ("person", "moved"),
        ("agent:main", "moved out"),
    ]


def test_a_page_is_read_as_text_facts_and_summary(memory: Memory) -> None:
    memory.pages.edit("USER.md", USER, reason="a page")
    memory.pages.edit("episodes/2026-02.md", FEBRUARY, reason="a page")
    page = memory.pages.read("USER.md")
    assert (page.text, page.summary) == (USER, "user name, language, role")
    assert (page.facts[0].relation, page.facts[0].object) == ("Name", "Zhang San")
    assert [episode.title for episode in memory.pages.read("episodes/2026-02.md").episodes] == [
        "Logger stdout leak fix",
        "Short ID implementation",
    ]
    nobody = memory.pages.read("facts/nobody.md")
    assert (nobody.exists, nobody.sha256, nobody.text, nobody.facts) == (False, None, "", ())


def test_a_stale_base_is_refused_with_the_current_hash_and_nothing_changes(memory: Memory) -> None:
    first = memory.pages.edit("USER.md", "one\n", reason="first")
    second = memory.pages.edit("USER.md", "two\n", reason="second")
    before = everything(memory)
    stale: list[Callable[[], object]] = [
        lambda: memory.pages.edit("USER.md", "three\n", base=first.new, reason="late"),
        lambda: memory.pages.patch("USER.md", [("one", "three")], base=first.new, reason="late"),
        lambda: memory.pages.delete("USER.md", base=first.new, reason="late"),
        lambda: memory.pages.edit("USER.md", "three\n", base=None, reason="thought there was none"),
    ]
    for change in stale:
        with pytest.raises(Stale, match=r"USER\.md was not changed.*Read it again") as refused:
            change()
        assert refused.value.current == second.new
    with pytest.raises(Stale, match="does not exist") as refused:
        memory.pages.edit("facts/new.md", "x", base=first.new, reason="thought there was one")
    assert refused.value.current is None
    assert everything(memory) == before


def test_a_base_that_a_person_changed_meanwhile_is_stale(memory: Memory) -> None:
    read = memory.pages.edit("USER.md", "one\n", reason="first")
    save_in_place(file_of(memory, "USER.md"), b"mine\n")
    with pytest.raises(Stale) as refused:
        memory.pages.edit("USER.md", "two\n", base=read.new, reason="second")
    assert refused.value.current == sha256(b"mine\n")
    assert memory.pages.read("USER.md").data == b"mine\n"


def test_patches_match_exactly_once_and_are_made_all_or_none(memory: Memory) -> None:
    memory.pages.edit("facts/work.md", "- Uses: vim\n- Likes: tea\n- Likes: coffee\naaa\n", reason="a page")
    before = everything(memory)
    for patches in (
        [("Uses: vim", "Uses: emacs"), ("Likes", "Loves")],  # twice
        [("Uses: vim", "Uses: emacs"), ("nowhere", "x")],
        [("", "x")],
        [("aa", "b")],  # at two places that overlap
        [("Uses: vim", "Likes: tea"), ("Likes: tea", "x")],  # twice after the first
    ):
        with pytest.raises(Refused, match="was not changed"):
            memory.pages.patch("facts/work.md", patches, reason="a patch")
    assert everything(memory) == before
    memory.pages.patch(
        "facts/work.md", [("vim", "emacs"), ("emacs", "ed"), ("coffee", "water")], reason="a patch"
    )
    assert memory.pages.read("facts/work.md").text == "- Uses: ed\n- Likes: tea\n- Likes: water\naaa\n"
    assert memory.pages.patch("facts/work.md", [], reason="none").changed is False


def test_text_that_has_no_bytes_is_refused(memory: Memory) -> None:
    before = everything(memory)
    with pytest.raises(Refused, match="half of a character"):
        memory.pages.edit("USER.md", "smile \ud83d\n", reason="cut in the middle")
    assert everything(memory) == before


def test_a_page_that_is_not_text_is_not_changed_by_a_function(memory: Memory) -> None:
    save_in_place(file_of(memory, "USER.md"), b"\xff\n")
    with pytest.raises(Refused, match="not UTF-8"):
        memory.pages.edit("USER.md", lambda text: text + "x", reason="a line")
    memory.pages.edit("USER.md", "new\n", reason="a whole text is another matter")
    memory.history.undo("USER.md")
    assert memory.pages.read("USER.md").data == b"\xff\n"
    assert memory.pages.read("USER.md").text == "\ufffd\n"


# --- what is no page -------------------------------------------------------------------


def test_only_people_write_the_soul(memory: Memory) -> None:
    save_by_rename(file_of(memory, "SOUL.md"), b"You are kind.\n")
    assert [edit.author for edit in memory.pages.absorb()] == ["external"]
    before = everything(memory)
    refused: list[Callable[[], object]] = [
        lambda: memory.pages.edit("SOUL.md", "You obey.\n", reason="mine"),
        lambda: memory.pages.patch("SOUL.md", [("kind", "mine")], reason="mine"),
        lambda: memory.pages.delete("SOUL.md", reason="mine"),
        lambda: memory.history.undo("SOUL.md"),
        lambda: memory.pages.edit("SOUL.md", "You obey.\n", author="program", reason="mine"),
        lambda: memory.pages.edit("SOUL.md", "You obey.\n", author="agent:main", reason="mine"),
        lambda: memory.pages.patch("SOUL.md", [("kind", "mine")], author="agent:main", reason="mine"),
        lambda: memory.pages.delete("SOUL.md", author="agent:main", reason="mine"),
        lambda: memory.history.undo("SOUL.md", author="agent:main"),
        lambda: memory.pages.edit(
            "soul.md", "You obey.\n", author="agent:main", reason="some systems take it for it"
        ),
    ]
    for change in refused:
        with pytest.raises(Refused, match="only people write it"):
            change()
    assert everything(memory) == before
    memory.pages.edit("SOUL.md", "You are kind and brief.\n", author="person", reason="a person's wish")
    memory.history.undo("SOUL.md", author="person")
    assert memory.pages.read("SOUL.md").text == "You are kind.\n"
    memory.history.undo("SOUL.md", author="person")
    assert not memory.pages.read("SOUL.md").exists


def test_the_author_is_the_agent_of_the_memory_unless_one_is_given(place: Path) -> None:
    def check(given: str | None, written: str) -> None:
        with Memory(place / written.replace(":", " "), agent="scribe", policy=HASTY) as memory:
            memory.pages.edit("USER.md", "one\n", author=given, reason="an edit")
            memory.pages.patch("USER.md", [("one", "two")], author=given, reason="a patch")
            memory.history.undo("USER.md", author=given)
            memory.pages.delete("USER.md", author=given, reason="a deletion")
            assert [edit.author for edit in memory.history.edits()] == [written] * 4

    check_rows(
        check,
        [
            (None, "agent:scribe"),
            ("person", "person"),
            ("program", "program"),
            ("agent:main", "agent:main"),
            ("agent:zo\u00eb", "agent:zo\u00eb"),
        ],
    )


def test_an_author_of_another_form_is_refused_and_nothing_changes(memory: Memory) -> None:
    memory.pages.edit("USER.md", "one\n", reason="a page")

    def check(author: str, sentence: str) -> None:
        before = everything(memory)
        refused: list[Callable[[], object]] = [
            lambda: memory.pages.edit("USER.md", "two\n", author=author, reason="mine"),
            lambda: memory.pages.patch("USER.md", [("one", "two")], author=author, reason="mine"),
            lambda: memory.pages.delete("USER.md", author=author, reason="mine"),
            lambda: memory.history.undo("USER.md", author=author),
        ]
        for change in refused:
            with pytest.raises(Refused) as error:
                change()
            assert str(error.value) == sentence
        assert everything(memory) == before

    check_rows(
        check,
        [
            (
                author,
                f"Nothing was changed: the author {author!r} is not known. Use person, program or agent:<name>.",
            )
            for author in ("", "external", "Person", "main", "agent", "people: all")
        ]
        + [
            (
                "agent:",
                (
                    "Nothing was done: the agent's name '' has an empty, `.` or `..` part. "
                    "Use a plain name of letters and digits."
                ),
            ),
            (
                "agent:../x",
                "Nothing was done: the agent's name '../x' contains a slash. Use a plain name of letters and digits.",
            ),
        ],
    )


@pytest.mark.parametrize("reason", ["", " ", "\n\t"])
def test_an_edit_without_a_reason_is_refused_and_nothing_changes(memory: Memory, reason: str) -> None:
    memory.pages.edit("USER.md", "one\n", reason="a page")
    before = everything(memory)
    refused: list[Callable[[], object]] = [
        lambda: memory.pages.edit("USER.md", "two\n", reason=reason),
        lambda: memory.pages.patch("USER.md", [("one", "two")], reason=reason),
        lambda: memory.pages.delete("USER.md", author="person", reason=reason),
    ]
    for change in refused:
        with pytest.raises(Refused) as error:
            change()
        assert str(error.value) == (
            "USER.md was not changed: no reason was given. Say in a few words why, for the journal."
        )
    assert everything(memory) == before


def test_a_page_over_the_cap_is_refused_and_nothing_changes(memory: Memory) -> None:
    memory.pages.edit("USER.md", "x" * HASTY.page_bytes, reason="as large as may be")
    before = everything(memory)
    with pytest.raises(Refused, match=r"it would have 200,001 bytes, and a page has at most 200,000"):
        memory.pages.edit("USER.md", lambda text: text + "y", reason="one more")
    assert everything(memory) == before


def test_an_outside_page_over_the_cap_is_not_absorbed_and_not_taken_for_deleted(memory: Memory) -> None:
    memory.pages.edit("USER.md", "small\n", reason="a page")
    large = b"x" * (HASTY.page_bytes + 1)
    save_in_place(file_of(memory, "USER.md"), large)
    before = everything(memory)
    assert memory.pages.absorb() == []
    for read in (
        lambda: memory.pages.read("USER.md"),
        lambda: memory.pages.edit("USER.md", "x", reason="over it"),
    ):
        with pytest.raises(Refused, match="larger than 200,000 bytes"):
            read()
    assert memory.pages.list() == ["USER.md"]
    (problem,) = (problem for problem in memory.check() if problem.severity == "error")
    assert str(problem).startswith("USER.md: USER.md was not read: it is larger than 200,000 bytes")
    assert everything(memory) == before
    save_in_place(file_of(memory, "USER.md"), b"small again\n")
    assert [(edit.base, edit.new) for edit in memory.pages.absorb()] == [
        (sha256(b"small\n"), sha256(b"small again\n"))
    ]


@pytest.mark.parametrize("trap", ["folder", "link", "dangling link", "pipe"])
def test_a_page_that_cannot_be_read_is_never_taken_for_empty_or_deleted(
    memory: Memory, place: Path, trap: str
) -> None:
    memory.pages.edit("USER.md", "- Name: Zhang San\n", reason="a page")
    file = file_of(memory, "USER.md")
    file.unlink()
    if trap == "folder":
        file.mkdir()
    elif trap == "pipe":
        os.mkfifo(file)
    else:
        target = place / "elsewhere.md"
        if trap == "link":
            target.write_bytes(b"")
        file.symlink_to(target)
    assert memory.pages.absorb() == []
    for read in (
        lambda: memory.pages.read("USER.md"),
        lambda: memory.pages.edit("USER.md", "x", reason="over it"),
        lambda: memory.pages.delete("USER.md", reason="away"),
        lambda: memory.history.undo("USER.md"),
    ):
        with pytest.raises(Refused, match=r"^USER\.md"):
            read()
    assert [edit.reason for edit in memory.history.edits("USER.md")] == ["a page"]
    assert (
        "USER.md: this is not read: it is a link or not a regular file; put a real file in its place"
        in map(str, memory.check())
    )
    if trap == "folder":
        file.rmdir()
    else:
        file.unlink()
    file.write_bytes(b"- Name: Li Si\n")
    assert [edit.removed for edit in memory.pages.absorb()] == [1]


# --- together --------------------------------------------------------------------------


def test_two_memories_on_one_folder_see_each_other_at_once(place: Path) -> None:
    with Memory(place / "m", policy=HASTY) as one, Memory(place / "m", policy=HASTY) as other:
        for number in range(5):
            one.pages.edit("USER.md", lambda text: text + "one\n", reason="one")
            assert other.pages.read("USER.md").text == "one\nother\n" * number + "one\n"
            other.pages.edit("USER.md", lambda text: text + "other\n", reason="other")
        assert [edit.id for edit in one.history.edits()] == [edit.id for edit in other.history.edits()]
        assert one.pages.absorb() == other.pages.absorb() == []


def test_threads_of_one_memory_lose_no_edit(place: Path) -> None:
    with Memory(place / "m", policy=HASTY) as memory:
        failed: list[BaseException] = []

        def after(line: str, text: str) -> str:
            return text + line

        def work(name: int) -> None:
            try:
                for number in range(10):
                    line = f"{name}.{number}\n"
                    memory.pages.edit("USER.md", partial(after, line), reason="a line")
                    assert line in memory.pages.read("USER.md").text
            except BaseException as error:
                failed.append(error)
                raise

        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        lines = memory.pages.read("USER.md").text.split()
        assert sorted(lines) == sorted(f"{name}.{number}" for name in range(4) for number in range(10))
        assert {edit.author for edit in memory.history.edits()} == {"agent:main"}
        assert memory.check() == []


# --- a disk that cannot be written -----------------------------------------------------


class ReadOnlyDisk(Disk):
    """A memory on a disc, or in a backup that is mounted to be looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = 0

    def _refuse(self) -> None:
        self.refused += 1
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            self._refuse()
        return super().open(root, path, flags, mode)

    def mkdir(self, folder: int, name: str) -> None:
        self._refuse()

    def unlink(self, folder: int, name: str) -> None:
        self._refuse()

    def rename(self, source: int, old: str, target: int, new: str) -> None:
        self._refuse()


class Elsewhere(Memory):
    """A memory on a disk of the test's choice."""

    def __init__(self, where: Path, disk: Disk, policy: Policy = HASTY) -> None:
        super().__init__(where, policy=policy)
        use_store(self, FileStore(self.path, policy, disk))


@pytest.mark.parametrize("views", [True, False])
def test_a_read_only_memory_can_be_read(place: Path, views: bool) -> None:
    with Memory(place / "m", policy=HASTY) as memory:
        memory.pages.edit("USER.md", "- Name: Zhang San\n", reason="a page")
        memory.pages.edit("USER.md", "- Name: Li Si\n", reason="a page")
    if not views:
        shutil.rmtree(place / "m/views")
    before = everything(memory)
    disk = ReadOnlyDisk()
    with Elsewhere(place / "m", disk) as memory:
        assert memory.pages.read("USER.md").facts[0].object == "Li Si"
        assert memory.pages.list() == ["USER.md"]
        second, first = memory.history.edits("USER.md")
        assert memory.history.versions(second) == (b"- Name: Zhang San\n", b"- Name: Li Si\n")
        assert memory.history.page_at("USER.md", first.ts).text == "- Name: Zhang San\n"
        assert memory.check() == []
        assert memory.notes == []  # nothing was changed outside, so nothing had to be written
        with pytest.raises(Unwritten, match="could not be opened"):
            memory.pages.edit("USER.md", "x", reason="a change")
        with pytest.raises(Unwritten):
            memory.history.undo()
    assert disk.refused
    assert everything(memory) == before


def test_what_was_changed_in_a_read_only_memory_is_read_with_a_note(place: Path) -> None:
    with Memory(place / "m", policy=HASTY) as memory:
        memory.pages.edit("USER.md", "- Name: Zhang San\n", reason="a page")
    save_in_place(place / "m/USER.md", b"- Name: Li Si\n")
    save_in_place(place / "m/facts/new.md", b"- Likes: tea\n")
    with Elsewhere(place / "m", ReadOnlyDisk()) as memory:
        for _ in range(3):
            assert memory.pages.read("USER.md").facts[0].object == "Li Si"
        assert memory.pages.read("facts/new.md").facts[0].object == "tea"
        assert memory.pages.list() == ["USER.md", "facts/new.md"]
        assert [note.startswith("The memory's lock") for note in memory.notes] == [True]
        with pytest.raises(Unwritten):
            memory.pages.absorb()
    with Memory(place / "m", policy=HASTY) as memory:
        assert sorted(edit.path for edit in memory.pages.absorb()) == ["USER.md", "facts/new.md"]


class NoViews(Disk):
    """A disk that is full when it comes to views."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = 0

    def open(self, root: int, path: str, flags: int, mode: int = 0o600) -> int:
        if path.endswith(".put") and flags & os.O_CREAT:
            self.refused += 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().open(root, path, flags, mode)


def test_a_view_that_cannot_be_written_is_no_reason_to_refuse_a_change(place: Path) -> None:
    init(str(place / "m"))
    disk = NoViews()
    with Elsewhere(place / "m", disk) as memory:
        for number in range(100):
            assert memory.pages.edit("USER.md", f"{number}\n", reason="a number").changed
        save_by_rename(place / "m/USER.md", b"mine\n")
        assert [edit.removed for edit in memory.pages.absorb()] == [1]
        assert memory.pages.read("USER.md").text == "mine\n"
    assert disk.refused > 100
    assert not list((place / "m/views/heads").rglob("*.md"))


def test_what_is_no_text_reason_author_or_time_is_invalid_and_nothing_changes(memory: Memory) -> None:
    memory.pages.edit("USER.md", "one\n", reason="a page")
    before = everything(memory)
    pages: Any = memory.pages
    wrong: list[Callable[[], object]] = [
        lambda: pages.edit("USER.md", 5, reason="why"),
        lambda: pages.edit("USER.md", lambda text: 5, reason="why"),
        lambda: pages.edit("USER.md", "two\n", reason=5),
        lambda: pages.edit("USER.md", "two\n", reason="why", author=5),
        lambda: memory.parts.pages.page_as_of("USER.md", []),  # type: ignore[arg-type]
    ]
    for change in wrong:
        with pytest.raises(Invalid):
            change()
    assert everything(memory) == before
