"""Held pages: what no person can have meant is not believed, the last good version goes on, and no byte is lost."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from killing import CHANGES, Site, end_at, sites_of
from looseleaf import Memory
from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.base.policy import Policy
from looseleaf.base.values import sha256
from looseleaf.pages import outside_edits
from looseleaf.pages import settle as settling
from looseleaf.pages.folder import begin_again
from looseleaf.pages.held import find_markers, take_side, why_held, with_lines
from looseleaf.pages.settle import both_texts
from looseleaf.serve.page_list import list_resources
from looseleaf.store import files, records
from looseleaf.store.disk import Disk
from looseleaf.tools.toolset import call
from looseleaf.transfer.export_rows import fact_lines
from tables import check_rows
from workload import Verdict

HASTY = Policy(settle_seconds=0.01, quiet_seconds=0.0)
CARS = "# Cars\n\n- Color: red\n- Brand: Saab\n- Wheels: four\n"
USER = "# User\n\n- Home: Lyon\n- Tea: green\n"
CONFLICT = CARS.replace(
    "- Color: red\n", "<<<<<<< HEAD\n- Color: blue\n=======\n- Color: green\n>>>>>>> laptop\n"
)
COPY = "facts/cars (conflicted copy 2026-01-02).md"
COPIED = CARS.replace("red", "blue") + "- Seats: five\n"


@contextmanager
def open_cars(where: Path, policy: Policy = HASTY) -> Iterator[Memory]:
    with Memory(where / "memory", policy=policy) as memory:
        if not memory.pages.list():
            memory.pages.edit("USER.md", USER, reason="a page", author="person")
            memory.pages.edit("facts/cars.md", CARS, reason="a page", author="person")
        yield memory


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with open_cars(place) as memory:
        yield memory


def file_of(memory: Memory, path: str = "facts/cars.md") -> Path:
    return Path(memory.path) / path


def known(memory: Memory) -> list[tuple[str | None, str, str, str | None]]:
    return [(fact.path, fact.relation, fact.object, fact.level) for fact in memory.facts()]


def errors(memory: Memory) -> list[str]:
    return [str(each) for each in memory.check() if each.severity == "error"]


def aside(memory: Memory) -> list[bytes]:
    return [each.read_bytes() for each in file_of(memory, "log/aside").glob("*-held-*")]


# --- what is held: the whole of it looks as if nothing had happened ----------------------------

BAD: dict[str, tuple[str, bytes, str]] = {
    "emptied": ("facts/cars.md", b"", "emptied"),
    "white space": ("facts/cars.md", b" \r\n\t\n", "emptied"),
    "zeros of a power cut": ("facts/cars.md", b"\0" * len(CARS), "emptied"),
    "a byte order mark": ("facts/cars.md", b"\xef\xbb\xbf", "emptied"),
    "emptied by PowerShell": ("facts/cars.md", b"\xff\xfe\r\0\n\0", "emptied"),
    "the profile": ("USER.md", b"", "emptied"),
    "saved in UTF-16": ("facts/cars.md", CARS.replace("\n", "\r\n").encode("utf-16"), "garbled"),
    "saved in Latin-1": ("facts/cars.md", CARS.replace("red", "foncé").encode("latin-1"), "garbled"),
    "random bytes": ("facts/cars.md", bytes(range(256)), "garbled"),
    "half zeros": ("facts/cars.md", CARS.encode()[:25] + b"\0" * 27, "garbled"),
    "a conflict": ("facts/cars.md", CONFLICT.encode(), "conflict"),
    "a conflict with a base": (
        "facts/cars.md",
        CONFLICT.replace("=======", "||||||| 1a2b\n- Color: red\n=======").encode(),
        "conflict",
    ),
    "the beginning of a conflict": ("facts/cars.md", (CARS + "<<<<<<< HEAD\n").encode(), "conflict"),
    "the end of a conflict": ("facts/cars.md", (CARS + ">>>>>>> laptop\n").encode(), "conflict"),
    "the middle of a conflict": (
        "facts/cars.md",
        CARS.replace("- Brand", "=======\n- Brand").encode(),
        "conflict",
    ),
    "the base of a conflict": ("facts/cars.md", (CARS + "||||||| 1a2b3c\n").encode(), "conflict"),
    "a conflict of Windows": ("facts/cars.md", CONFLICT.replace("\n", "\r\n").encode(), "conflict"),
    "a conflict under code in a line": (
        "facts/cars.md",
        CONFLICT.replace("# Cars", "# Cars\n\n```x``` is code.").encode(),
        "conflict",
    ),
    "a conflict under a fence that shows a fence": (
        "facts/cars.md",
        CONFLICT.replace("# Cars", "# Cars\n\n````\n```\n````").encode(),
        "conflict",
    ),
    "a conflict under a fence that never ends": (
        "facts/cars.md",
        CONFLICT.replace("# Cars", "# Cars\n\n```").encode(),
        "conflict",
    ),
    "a conflict in a comment": (
        "facts/cars.md",
        CONFLICT.replace("# Cars", "# Cars\n\n<!--\n```").encode(),
        "conflict",
    ),
    "a new page in conflict": ("facts/boats.md", CONFLICT.encode(), "conflict"),
    "cut in a line": ("facts/cars.md", CARS.encode()[:14], "cut"),
    "cut in its last line": ("facts/cars.md", CARS.encode()[:-3], "cut"),
    "cut in a letter": ("facts/cars.md", b"# Cars\n\n- Color: ro\xc3", "cut"),
    "a copy": (COPY, COPIED.encode(), "copy"),
    "a likely copy": ("facts/cars 2.md", COPIED.encode(), "copy"),
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", BAD)
def test_the_last_good_version_goes_on_being_used(place: Path, name: str) -> None:
    path, data, why = BAD[name]
    with open_cars(place) as memory:
        before, pages, prompt = known(memory), memory.pages.list(), memory.prompt("red?", dry_run=True).text
        answer = [hit.where for hit in memory.recall("color of the car?")]
        assert answer
        good = memory.pages.read(path).data
        shown = call(memory, "memory_read", {"path": path}).text
        exported = list(fact_lines(memory))
        edits = len(list(memory.history.edits()))
        file_of(memory, path).write_bytes(data)
        assert memory.pages.absorb() == []
        assert [(held.path, held.why) for held in memory.review.held()] == [(path, why)]
        assert (known(memory), memory.pages.list()) == (before, pages)
        assert memory.pages.read(path).data == good
        assert call(memory, "memory_read", {"path": path}).text == shown
        assert list(fact_lines(memory)) == exported
        assert COPY not in [each["name"] for each in list_resources(memory.path)]
        assert memory.prompt("red?", dry_run=True).text == prompt
        assert [hit.where for hit in memory.recall("color of the car?")] == answer
        assert "<<<<<<<" not in str([hit.text for hit in memory.recall("HEAD laptop color", sure=0.0)])
        memory.views.build(full=True)
        assert len(list(memory.history.edits())) == edits
        assert [each for each in errors(memory) if path in each and "settle" in each] == errors(memory) != []
        assert len(memory.notes) == 1
        assert path not in memory.notes[0] or why != "copy"  # a copy's name may say anything
        assert file_of(memory, path).read_bytes() == data
    with open_cars(place) as memory:  # another process
        assert known(memory) == before
        assert [held.path for held in memory.review.held()] == [path]


def test_a_page_that_the_person_repairs_in_the_editor_is_taken_as_saved(place: Path) -> None:
    def repair(path: str, data: bytes, why: str) -> None:
        shutil.rmtree(place / "memory", ignore_errors=True)
        with open_cars(place) as memory:
            file_of(memory, path).write_bytes(data)
            assert len(memory.review.held()) == 1
            text = CARS.replace("red", "green")
            file_of(memory, path).write_text(text)
            if why == "copy":
                file_of(memory, path).rename(file_of(memory, "facts/cars.md"))
                path = "facts/cars.md"
            (edit,) = memory.pages.absorb()
            assert (edit.path, edit.author, edit.new) == (path, "external", sha256(text.encode()))
            assert memory.review.held() == []
            assert errors(memory) == []
            memory.pages.edit(path, lambda text: text + "- Seats: five\n", reason="a line")

    check_rows(repair, BAD.values())


WRITES: dict[str, Callable[[Memory], object]] = {
    "edit": lambda memory: memory.pages.edit("USER.md", "new", reason="r"),
    "edit by a person": lambda memory: memory.pages.edit("USER.md", "new", reason="r", author="person"),
    "propose": lambda memory: memory.pages.propose("USER.md", lambda text: text + "- A: b\n", reason="r"),
    "patch": lambda memory: memory.pages.patch("USER.md", [("Lyon", "Paris")], reason="r"),
    "delete": lambda memory: memory.pages.delete("USER.md", reason="r"),
    "remember": lambda memory: memory.remember("I live in Paris."),
    "remember a note": lambda memory: memory.remember("The moon is far away."),
    "correct": lambda memory: memory.review.correct("USER.md:3", "Paris"),
    "reject": lambda memory: memory.review.reject("USER.md:3"),
    "undo": lambda memory: memory.history.undo("USER.md"),
    "tidy": lambda memory: memory.review.tidy(),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("held", [b"", CONFLICT.encode()])
def test_no_write_changes_a_held_page(memory: Memory, name: str, held: bytes) -> None:
    file_of(memory, "USER.md").write_bytes(held)
    edits = len(list(memory.history.edits()))
    with pytest.raises(Refused, match=r"USER.md was not changed.*`looseleaf settle`"):
        WRITES[name](memory)
    assert file_of(memory, "USER.md").read_bytes() == held
    assert len(list(memory.history.edits())) == edits
    assert memory.review.held() != []


# --- what is not held ---------------------------------------------------------------------------

GOOD = {
    "lines deleted": "# Cars\n",
    "all but one line": "- Color: red\n",
    "a heading with seven lines under it": "Cars\n=======\n\n- Color: red\n",
    "a divider": "# Cars\n\n=======\n\n- Color: red\n",
    "a letter that was quoted seven times": "# Mail\n\n>>>>>> so you said\n>>>>>>> and so did I\n>>>>>> well\n",
    "a table with empty cells": "| a |\n|---|\n|||||||\n",
    "a fence that shows a conflict": f"# Git\n\n```\n{CONFLICT}```\n",
    "a long fence that shows a short one and a conflict": f"# Git\n\n````\n```\n{CONFLICT}```\n````\n",
    "an indented conflict": "# Git\n\n    <<<<<<< HEAD\n    >>>>>>> other\n",
    "arrows": "# Arrows\n\n<<<<<<<< eight\n<<<<<< six\n<<<<<<<x\n",
    "no line end": "# Cars\n\n- Color: red",
    "one whole line without its end": "# Cars",
    "less, in other words": "# Cars\n\n- no",
    "the first lines": "# Cars\n\n- Color: red\n",
}


def test_what_a_person_may_have_meant_is_believed(place: Path) -> None:
    def believe(name: str, text: str) -> None:
        shutil.rmtree(place / "memory", ignore_errors=True)
        with open_cars(place) as memory:
            data = text.encode()
            file_of(memory).write_bytes(data)
            (edit,) = memory.pages.absorb()
            assert edit.new == sha256(data), name
            assert memory.review.held() == []
            assert memory.notes == []

    check_rows(believe, GOOD.items())


LONG = "# Cars\n\n" + "".join(f"- Label {number}: {'x' * (number % 50)}\n" for number in range(200))
PAGE = 4096
EVEN = LONG[: PAGE - 1].encode() + b"\n" + LONG[PAGE:].encode()

BYTES: list[tuple[bytes, bytes | None, str | None]] = [
    (LONG.encode()[:6002], LONG.encode(), "cut"),
    (EVEN[:PAGE], EVEN, "cut"),
    (EVEN[:PAGE].rstrip(b"\n"), EVEN, None),
    (b"- Color: dark", b"- Color: dark red", None),  # its last line has no end, as before
    (b"- Color: dark", b"- Color: dark  \n", None),
    (b"- Color: dark", b"- Color: dark\r\n- A: b\r\n", None),
    (b"- A: b\n- Color: da", b"- A: b\r\n- Color: dark", None),
    (b"- Color: fonc\xe9\n", b"- Farbe: fonc\xe9\n", None),  # it was so before
    (b"- A: b\0\n", b"- A: c\0\n", None),
    (b"- Color: fonc\xe9\n", None, None),
    (b"\xef\xbb\xbf- A: b\n", b"- A: b\n", None),
]


def test_a_page_is_told_from_what_a_power_cut_or_another_encoding_left_of_it() -> None:
    def judge(data: bytes, head: bytes | None, why: str | None) -> None:
        held = why_held("facts/cars.md", data, lambda: head)
        assert (held.why if held else None) == why

    check_rows(judge, BYTES)


def test_a_page_that_had_a_marker_before_is_not_held_for_it(memory: Memory) -> None:
    memory.pages.edit("facts/git.md", CONFLICT, reason="about git", author="person")
    file_of(memory, "facts/git.md").write_text(CONFLICT + "- Tool: mergetool\n")
    assert len(memory.pages.absorb()) == 1
    for more in ("<<<<<<< ours\n", CONFLICT):  # other labels, and the same ones once more
        file_of(memory, "facts/git.md").write_text(CONFLICT + more)
        assert memory.pages.absorb() == []
        assert [held.why for held in memory.review.held()] == ["conflict"]


@given(st.lists(st.sampled_from(["- a: b", "text", "", "# T", "> q", "=======", "```", "- "]), max_size=12))
def test_a_text_without_arrows_holds_no_page_but_for_a_divider_between_bullets(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = find_markers(text.encode())
    assert all(line == b"=======" for _, line in found)
    assert not found or "\n=======\n- " in text


# --- all pages gone at once -----------------------------------------------------------------------


def take_away(memory: Memory) -> None:
    for path in memory.pages.list():
        file_of(memory, path).unlink()


def test_pages_that_vanish_all_at_once_are_held(place: Path) -> None:
    with open_cars(place) as memory:
        before, pages = known(memory), memory.pages.list()
        take_away(memory)
        assert memory.pages.absorb() == []
        assert [(held.path, held.why) for held in memory.review.held()] == [(path, "gone") for path in pages]
        assert known(memory) == before
        assert all("settle" in each for each in errors(memory))
        assert len(errors(memory)) == 2
        assert memory.parts.pages.absorb.is_current()
        with pytest.raises(Refused, match="settle"):
            memory.remember("I live in Paris.")
    with open_cars(place) as memory:
        memory.pages.edit("facts/new.md", "- New: page\n", reason="another page may be written")
        assert known(memory)[:5] == before
        file_of(memory).write_text(CARS)  # one is back
        assert [held.path for held in memory.review.held()] == ["USER.md"]
        memory.review.settle("USER.md", "keep")
        assert file_of(memory, "USER.md").read_text() == USER
        assert memory.review.held() == []
        assert errors(memory) == []


def test_pages_that_are_really_gone_go_by_a_persons_word(memory: Memory) -> None:
    take_away(memory)
    for held in memory.review.held():
        memory.review.settle(held.path, "accept")
    assert memory.facts() == []
    assert memory.pages.list() == []
    assert {edit.author for edit in list(memory.history.edits())[:2]} == {"person"}
    memory.history.undo("USER.md")
    assert file_of(memory, "USER.md").read_text() == USER


def test_a_page_that_is_deleted_is_deleted(memory: Memory) -> None:
    file_of(memory).unlink()
    assert [(edit.path, edit.new) for edit in memory.pages.absorb()] == [("facts/cars.md", None)]
    file_of(memory, "USER.md").unlink()  # the last one
    assert [(edit.path, edit.new) for edit in memory.pages.absorb()] == [("USER.md", None)]
    assert memory.review.held() == []


def test_many_pages_that_are_deleted_are_looked_for_once_each(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(60):
        memory.pages.edit(f"facts/{number}.md", "- A: b\n", reason="a page")
    for number in range(30):
        file_of(memory, f"facts/{number}.md").unlink()
    looks: list[str] = []
    real = outside_edits.OutsideEdits._is_there

    def look(self: outside_edits.OutsideEdits, path: str) -> bool:
        looks.append(path)
        return real(self, path)

    monkeypatch.setattr(outside_edits.OutsideEdits, "_is_there", look)
    assert len(memory.pages.absorb()) == 30
    assert len(looks) < 4 * 30


def test_an_unreadable_page_is_not_gone(memory: Memory) -> None:
    take_away(memory)
    file_of(memory, "USER.md").symlink_to(file_of(memory, "log/key"))
    assert [edit.path for edit in memory.pages.absorb()] == ["facts/cars.md"]


# --- pages that are there under another name -------------------------------------------------------

SPELT: list[tuple[str, str, str, list[str]]] = [
    ("facts/cars.md", "facts/.cars.md.icloud", "evicted", []),
    ("USER.md", ".USER.md.icloud", "evicted", []),
    ("USER.md", "user.md", "renamed", ["user.md"]),
    ("facts/cars.md", "facts/Cars.md", "renamed", ["facts/Cars.md"]),
    ("facts/café.md", "facts/cafe\u0301.md", "renamed", []),
]


def test_a_page_whose_name_is_spelt_otherwise_is_not_deleted(place: Path) -> None:
    def rename(old: str, new: str, why: str, pages: list[str]) -> None:
        shutil.rmtree(place / "memory", ignore_errors=True)
        with open_cars(place) as memory:
            memory.pages.edit("facts/café.md", "- Tea: green\n", reason="a page", author="person")
            before, text = known(memory), file_of(memory, old).read_text()
            file_of(memory, old).rename(file_of(memory, new))
            assert memory.pages.absorb() == []
            assert known(memory) == before
            held = {(each.path, each.why) for each in memory.review.held()}
            assert held == {(old, why)}
            assert any(each.startswith(old) and "settle" in each for each in errors(memory))
            if why == "evicted":
                memory.review.settle(old, "keep")
                assert file_of(memory, old).read_text() == text
            file_of(memory, new).rename(file_of(memory, old))
            assert errors(memory) == []
            file_of(memory, old).rename(file_of(memory, new))
            memory.review.settle(old, "accept")
            assert next(memory.history.edits(old)).new is None
            assert memory.review.held() == []
            assert {*pages} <= {*memory.pages.list()}  # a page of its own

    check_rows(rename, SPELT)


def test_a_page_that_cannot_be_read_is_told_while_its_last_version_is_used(place: Path) -> None:
    def link(file: Path) -> None:
        file.rename(place / "elsewhere.md")
        file.symlink_to(place / "elsewhere.md")

    def grow(file: Path) -> None:
        file.write_text(CARS * 200)

    def replace(act: Callable[[Path], None]) -> None:
        shutil.rmtree(place / "memory", ignore_errors=True)
        with open_cars(place, Policy(settle_seconds=0.01, quiet_seconds=0.0, page_bytes=4096)) as memory:
            before = known(memory)
            act(file_of(memory))
            assert known(memory) == before
            assert [(held.path, held.why) for held in memory.review.held()] == [("facts/cars.md", "unread")]
            assert "facts/cars.md (a link, too large, or not readable)" in memory.notes[0]
            assert len(errors(memory)) == 1
            with pytest.raises(Refused, match="can be read"):
                memory.review.settle("facts/cars.md", "keep")
            assert both_texts(memory.parts, memory.review.held()[0]) == (CARS, CARS)
            memory.remember("I like tea.")
            forgotten = memory.forget(match="I like tea").probe
            assert forgotten is not None
            assert forgotten.hits == ()
            file_of(memory).unlink()
            file_of(memory).write_text(CARS)
            assert memory.review.held() == []
            assert errors(memory) == []

    check_rows(replace, [link, grow])


def test_two_spellings_of_one_file_are_its_page(memory: Memory) -> None:
    os.link(file_of(memory, "USER.md"), file_of(memory, "user.md"))  # as if the file system ignored case
    assert memory.pages.absorb() == []
    assert [(held.path, held.why) for held in memory.review.held()] == [("USER.md", "unread")]  # two names
    assert memory.pages.list() == ["USER.md", "facts/cars.md"]


def test_a_journal_that_is_not_downloaded_is_not_lost(place: Path) -> None:
    with open_cars(place) as memory:
        memory.record(user="I live in Lyon.")
    journal = place / "memory/log/journal.jsonl"
    journal.rename(journal.with_name(".journal.jsonl.icloud"))
    for act in (Memory, begin_again):
        with pytest.raises(Refused, match="not downloaded"):
            act(str(place / "memory"))
    assert not journal.exists()


# --- settling ---------------------------------------------------------------------------------------

BLUE, GREEN = CARS.replace("red", "blue"), CARS.replace("red", "green")
BOTH = CARS.replace("- Color: red\n", "- Color: blue\n- Color: green\n")

SHOWN = f"# Git\n\n```\n{CONFLICT}```\n\n"
FENCED = CONFLICT.replace("- Color: blue\n", "```\nblue\n```\n").replace("- Color: green\n", "```\ngreen\n")

SETTLED: list[tuple[str, bytes, str, str | None, bool]] = [
    ("facts/cars.md", b"", "keep", CARS, False),
    ("facts/cars.md", b"", "accept", "", False),
    ("facts/cars.md", CARS.encode()[:14], "keep", CARS, True),
    ("facts/cars.md", CARS.encode()[:14], "accept", CARS[:14], False),
    ("facts/cars.md", BLUE.encode("utf-16"), "keep", CARS, True),
    ("facts/cars.md", BLUE.encode("utf-16"), "accept", BLUE, True),
    ("facts/cars.md", BLUE.encode("utf-16-le"), "accept", BLUE.encode("utf-16-le").decode(), False),
    ("facts/cars.md", CONFLICT.encode(), "keep", CARS, True),
    ("facts/cars.md", CONFLICT.encode(), "ours", BLUE, True),
    ("facts/cars.md", CONFLICT.encode(), "theirs", GREEN, True),
    ("facts/cars.md", CONFLICT.encode(), "both", BOTH, True),
    ("facts/cars.md", CONFLICT.encode(), "accept", CONFLICT, False),
    ("facts/cars.md", CONFLICT.replace("blue", "red").encode(), "ours", CARS, True),
    ("facts/cars.md", (SHOWN + CONFLICT).encode(), "ours", SHOWN + BLUE, True),
    ("facts/cars.md", (SHOWN + CONFLICT).encode(), "both", SHOWN + BOTH, True),
    ("facts/cars.md", FENCED.encode(), "ours", CARS.replace("- Color: red", "```\nblue\n```"), True),
    ("facts/cars.md", (CARS + "<<<<<<< HEAD\n").encode(), "both", CARS, True),
    ("facts/cars.md", (BLUE + ">>>>>>> laptop\n").encode(), "both", BLUE, True),
]


def test_a_persons_word_settles_a_page_and_keeps_the_held_bytes(place: Path) -> None:
    def decide(path: str, data: bytes, take: str, text: str | None, is_kept: bool) -> None:
        shutil.rmtree(place / "memory", ignore_errors=True)
        with open_cars(place) as memory:
            file_of(memory, path).write_bytes(data)
            settled = memory.review.settle(path, take)
            assert file_of(memory, path).read_text() == text
            assert aside(memory) == ([data] if is_kept else [])
            assert (settled.aside is not None) == is_kept
            assert (settled.path, settled.take) == (path, take)
            last = next(memory.history.edits(path))
            if text == CARS:
                assert settled.edit is None
            else:
                assert (last.id, last.author) == (settled.edit, "person")
            assert memory.review.held() == []
            assert errors(memory) == []
            assert memory.pages.absorb() == []
            memory.pages.edit(path, lambda text: text + "\n- Seats: five\n", reason="it can be changed again")
            memory.history.undo(path)
            assert memory.pages.read(path).text == text

    check_rows(decide, SETTLED)


def test_a_new_page_in_conflict_can_be_dropped_or_taken(memory: Memory) -> None:
    for take, text in (("keep", None), ("theirs", GREEN)):
        file_of(memory, "facts/boats.md").write_text(CONFLICT)
        memory.review.settle("facts/boats.md", take)
        page = memory.pages.read("facts/boats.md")
        assert (page.text if page.exists else None) == text
    assert errors(memory) == []


def test_a_copy_is_dropped_taken_or_read_line_by_line(place: Path) -> None:
    more = CARS.replace("- Color: red\n", "- Color: red\n- Color: blue\n") + "- Seats: five\n"
    for take, lines, text in (
        ("keep", None, CARS),
        ("theirs", None, COPIED),
        ("both", None, more),
        ("both", ["- Seats: five"], CARS + "- Seats: five\n"),
        ("both", [], CARS),
    ):
        shutil.rmtree(place / "memory", ignore_errors=True)
        with open_cars(place) as memory:
            file_of(memory, COPY).write_text(COPIED)
            memory.review.settle(COPY, take, lines=lines)
            assert file_of(memory).read_text() == text
            assert not file_of(memory, COPY).exists()
            assert aside(memory) == [COPIED.encode()]
            assert memory.pages.list() == ["USER.md", "facts/cars.md"]
            assert errors(memory) == []


LIKELY = "facts/cars 2.md"
MOVES: dict[str, Callable[[Memory], object]] = {
    "the page is edited": lambda memory: memory.pages.edit("facts/cars.md", "- Sail: white\n", reason="r"),
    "the page is saved": lambda memory: file_of(memory).write_text("- Sail: white\n"),
    "the page is deleted": lambda memory: memory.pages.delete("facts/cars.md", reason="r"),
    "the copy is saved": lambda memory: file_of(memory, LIKELY).write_text("- Sail: white\n"),
    "the lines are forgotten": lambda memory: memory.forget(match="Saab"),
    "the journal is repaired": lambda memory: memory.repair(),
}


@pytest.mark.parametrize("is_new", [False, True], ids=["open", "views deleted"])
def test_what_was_once_a_copy_stays_one_until_it_is_settled(place: Path, is_new: bool) -> None:
    def move_on(name: str) -> None:
        shutil.rmtree(place / "memory", ignore_errors=True)
        with open_cars(place) as other, open_cars(place) as memory:
            other.facts()
            file_of(memory, LIKELY).write_text(COPIED)
            assert [held.of for held in memory.review.held()] == ["facts/cars.md"]
            MOVES[name](memory)
            if is_new:
                shutil.rmtree(file_of(memory, "views"))
            with open_cars(place) as later:
                for each in (memory, other, later):
                    assert "facts/cars 2.md" not in {fact.path for fact in each.facts()}
                    assert [held.path for held in each.review.held()] == [LIKELY]
                    assert [each for each in errors(later) if "cars 2.md" in each]
            memory.review.settle(LIKELY, "keep")
            file_of(memory, LIKELY).write_text("- Own: page\n")
            assert "facts/cars 2.md" in {fact.path for fact in memory.facts()}
            assert memory.review.held() == []

    check_rows(move_on, MOVES)


def test_a_page_that_an_editor_is_saving_has_its_copies(place: Path) -> None:
    with open_cars(place, Policy(settle_seconds=5.0, quiet_seconds=0.0)) as memory:
        file_of(memory).rename(file_of(memory, "facts/.saving"))
        file_of(memory, LIKELY).write_text(COPIED)
        looks: list[str] = []
        look = memory.parts.pages.absorb._read_file

        def look_and_save(path: str) -> Any:
            looks.append(path)
            if len(looks) == 3:
                file_of(memory, "facts/.saving").rename(file_of(memory))
            return look(path)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(memory.parts.pages.absorb, "_read_file", look_and_save)
            assert memory.pages.absorb() == []
        assert len(looks) >= 3
        assert [held.path for held in memory.review.held()] == [LIKELY]


def test_lines_that_a_person_moves_to_a_new_page_are_no_copy(memory: Memory) -> None:
    file_of(memory).write_text("# Cars\n\n- Doors: two\n")
    file_of(memory, "facts/cars-old.md").write_text(CARS)
    assert len(memory.pages.absorb()) == 2
    file_of(memory, "facts/cars-older.md").write_text(CARS)
    assert memory.pages.absorb() != []  # its name has no page's
    file_of(memory, "facts/cars-old-x.md").write_text(CARS)
    assert [held.of for held in memory.review.held()] == ["facts/cars-old.md"]


def test_a_copy_in_another_encoding_is_read_or_refused_and_never_guessed(memory: Memory) -> None:
    old = COPIED.replace("blue", "foncé").encode("latin-1")
    file_of(memory, COPY).write_bytes(old)
    for take in ("theirs", "both"):
        with pytest.raises(Refused, match="not UTF-8 text"):
            memory.review.settle(COPY, take)
    assert (file_of(memory).read_text(), file_of(memory, COPY).read_bytes()) == (CARS, old)
    file_of(memory, COPY).write_bytes(COPIED.encode("utf-16"))
    memory.review.settle(COPY, "theirs")
    assert file_of(memory).read_text() == COPIED


def test_what_only_looks_like_a_copy_becomes_a_page_by_a_persons_word(memory: Memory) -> None:
    file_of(memory, "facts/cars 2.md").write_text(COPIED)
    assert memory.pages.read("facts/cars 2.md").exists is False
    with pytest.raises(Refused, match=r"conflict copy of facts/cars\.md"):
        memory.pages.edit("facts/cars 2.md", "x", reason="r")
    memory.review.settle("facts/cars 2.md", "accept")
    assert memory.pages.list() == ["USER.md", "facts/cars 2.md", "facts/cars.md"]
    assert "cars 2" in memory.views.topics()
    file_of(memory, "facts/cars 2.md").write_text(COPIED + "- Doors: two\n")
    assert len(memory.pages.absorb()) == 1  # once a page, always a page


def test_a_page_that_is_renamed_is_no_copy(memory: Memory) -> None:
    file_of(memory).rename(file_of(memory, "facts/cars 2.md"))
    assert {edit.path for edit in memory.pages.absorb()} == {"facts/cars.md", "facts/cars 2.md"}


def test_the_copy_of_a_held_page_waits_for_that_page(memory: Memory) -> None:
    file_of(memory).write_bytes(b"")
    file_of(memory, COPY).write_text(COPIED)
    with pytest.raises(Refused, match=r"facts/cars.md was not changed: it was emptied"):
        memory.review.settle(COPY, "theirs")
    assert file_of(memory, COPY).read_text() == COPIED
    memory.review.settle("facts/cars.md", "keep")
    memory.review.settle(COPY, "theirs")
    assert memory.pages.read("facts/cars.md").text == COPIED


def test_what_cannot_be_settled_so_is_refused_and_left_alone(memory: Memory) -> None:
    half = CARS + "<<<<<<< HEAD\n- Color: blue\n"
    file_of(memory).write_text(half)
    for take in ("ours", "theirs"):
        with pytest.raises(Refused, match="do not pair"):
            memory.review.settle("facts/cars.md", take)
    with pytest.raises(Invalid, match="keep, ours, theirs, both, accept"):
        memory.review.settle("facts/cars.md", "burn")
    with pytest.raises(NotFound, match="not held"):
        memory.review.settle("USER.md", "keep")
    assert file_of(memory).read_text() == half
    assert aside(memory) == []


def test_a_page_that_is_saved_while_it_is_settled_is_left_alone(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_of(memory).write_bytes(b"")
    real = outside_edits.OutsideEdits.__call__

    def absorb_and_save(self: outside_edits.OutsideEdits, *folders: Any) -> Any:
        edits = real(self, *folders)
        file_of(memory).write_text(GREEN)
        return edits

    monkeypatch.setattr(outside_edits.OutsideEdits, "__call__", absorb_and_save)
    with pytest.raises(Refused, match="saved meanwhile"):
        memory.review.settle("facts/cars.md", "keep")
    monkeypatch.undo()
    assert memory.pages.read("facts/cars.md").text == GREEN
    assert memory.review.held() == []


def test_a_page_whose_last_version_is_lost_is_not_overwritten(place: Path) -> None:
    with open_cars(place) as memory:
        pass
    shutil.rmtree(place / "memory/views")
    journal = place / "memory/log/journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    record = records.decode(lines[2].rstrip())[0]
    record["diff"] = []
    journal.write_bytes(b"".join([*lines[:2], records.encode(record)]))
    (place / "memory/facts/cars.md").write_text(CONFLICT)
    with open_cars(place) as memory:
        with pytest.raises(Refused, match="cannot be rebuilt"):
            memory.review.settle("facts/cars.md", "keep")
        assert file_of(memory).read_text() == CONFLICT
        memory.review.settle("facts/cars.md", "theirs")
        assert memory.pages.read("facts/cars.md").text == GREEN


def test_a_state_in_conflict_is_held_and_an_empty_one_has_its_own_rule(memory: Memory) -> None:
    memory.state.update(goal="Build the boat", author="person")
    good = file_of(memory, "state.json").read_text()
    bad = f"<<<<<<< HEAD\n{good}=======\n{good.replace('boat', 'house')}>>>>>>> laptop\n"
    file_of(memory, "state.json").write_text(bad)
    assert memory.state.goal == "Build the boat"
    with pytest.raises(Refused, match="settle"):
        memory.state.update(goal="Swim", author="person")
    with pytest.raises(Refused, match="do not pair up, or it would not"):
        memory.review.settle("state.json", "both")
    assert file_of(memory, "state.json").read_text() == bad
    memory.review.settle("state.json", "theirs")
    assert memory.state.goal == "Build the house"
    file_of(memory, "state.json").write_bytes(b"")
    assert memory.review.held() == []
    assert memory.state.shown()["goal"] == "Build the house"


def test_settings_in_conflict_are_named_as_such(place: Path) -> None:
    with open_cars(place) as memory:
        file_of(memory, "looseleaf.toml").write_text(
            "<<<<<<< HEAD\nlock_seconds = 5\n=======\n>>>>>>> laptop\n"
        )
    with pytest.raises(Invalid, match="conflict markers, from line 1"):
        Memory(memory.path)


sides = st.lists(st.sampled_from(["- a: b\n", "- c: d\n", "text\n", "\n", "# T\n"]), max_size=4)


@given(st.lists(st.tuples(sides, sides, sides, st.booleans()), min_size=1, max_size=3), sides)
def test_a_side_of_each_conflict_is_what_its_author_wrote(
    conflicts: list[tuple[list[str], list[str], list[str], bool]], end: list[str]
) -> None:
    def text_of(take: Callable[[list[str], list[str]], list[str]]) -> str:
        return "".join(
            line for before, ours, theirs, _ in conflicts for line in [*before, *take(ours, theirs)]
        )

    whole = ""
    for before, ours, theirs, has_base in conflicts:
        base = "||||||| 1a2b\n- old: c\n" if has_base else ""
        whole += "".join([*before, "<<<<<<< HEAD\n", *ours, base, "=======\n", *theirs, ">>>>>>> other\n"])
    whole += "".join(end)
    assert take_side(whole, "ours") == text_of(lambda ours, theirs: ours) + "".join(end)
    assert take_side(whole, "theirs") == text_of(lambda ours, theirs: theirs) + "".join(end)
    both = take_side(whole, "both") or ""
    assert set(both.splitlines()) == set(text_of(lambda ours, theirs: ours + theirs).splitlines()) | set(
        "".join(end).splitlines()
    )
    assert why_held("a.md", both.encode() or b"x", lambda: b"") is None


@given(sides, sides)
def test_lines_of_a_copy_are_added_and_none_of_the_page_goes(page: list[str], copy: list[str]) -> None:
    chosen = {line.strip() for line in copy if line.strip()} - {line.strip() for line in page}
    made = with_lines("".join(page), "".join(copy), chosen)
    lines = made.splitlines(keepends=True)
    left = iter(lines)
    assert all(line in left for line in page)  # in their order
    assert len(lines) == len(page) + len(chosen)


# --- a settling that is ended at any of its calls ----------------------------------------------------

THEIRS = "theirs"


class _Settling:
    """A person settles a conflict, an emptied page and a copy."""

    FLAWS: ClassVar[dict[str, Callable[[], None]]] = {
        "": lambda: None,
        "no copy": lambda: setattr(settling, "_set_aside", lambda *_: None),
    }
    real = settling._set_aside

    @classmethod
    def mend(cls) -> None:
        settling._set_aside = cls.real

    @staticmethod
    def make(folder: Path) -> None:
        with open_cars(folder) as memory:
            file_of(memory).write_text(CONFLICT)
            file_of(memory, "USER.md").write_bytes(USER.encode()[:16])
            file_of(memory, "facts/USER_LOCAL_1.md").write_text("- A: b\n")
            for each in ("facts/cars.md", "USER.md"):
                os.utime(file_of(memory, each), (1, 1))

    @staticmethod
    def work(folder: Path, disk: Disk | None = None) -> Iterator[object]:
        real = vars(files)["this_disk"]
        if disk is not None:
            vars(files)["this_disk"] = lambda: disk
        try:
            memory = Memory(folder / "memory", policy=HASTY)
        finally:
            vars(files)["this_disk"] = real
        yield memory.review.settle("facts/cars.md", THEIRS)
        yield memory.review.settle("USER.md", "keep")
        yield memory.review.settle("facts/USER_LOCAL_1.md", "keep")
        memory.close()

    @staticmethod
    def judge(folder: Path) -> Verdict:
        verdict = Verdict()
        with open_cars(folder) as memory:
            held = {each.path for each in memory.review.held()}
            wanted = {
                "facts/cars.md": (CONFLICT, GREEN),
                "USER.md": (USER[:16], USER),
                "facts/USER_LOCAL_1.md": ("- A: b\n", None),
            }
            for path, (bad, good) in wanted.items():
                file = file_of(memory, path)
                text = file.read_text() if file.exists() else None
                if text != (bad if path in held else good):
                    verdict.lost.append(f"{path} is neither held nor settled: {text!r}")
                elif path not in held and bad.encode() not in aside(memory):
                    verdict.lost.append(f"the held bytes of {path} are nowhere")
            relation = {fact.relation: fact.object for fact in memory.facts()}
            color = "red" if "facts/cars.md" in held else "green"
            if relation != {
                "Home": "Lyon",
                "Tea": "green",
                "Color": color,
                "Brand": "Saab",
                "Wheels": "four",
            }:
                verdict.lost.append(f"facts: {relation}")
            for path in held:
                memory.review.settle(path, "keep")
            memory.pages.edit("facts/new.md", "- New: page\n", reason="the log goes on")
            verdict.lost += errors(memory)
        return verdict


SCRIPT: Any = _Settling


def changes(place: Path, flaw: str = "") -> list[Site]:
    return [site for site in sites_of(SCRIPT, place, flaw) if site.call in CHANGES]


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_settling_that_ends_around_some_changes_leaves_a_page_held_or_settled(place: Path) -> None:
    assert end_at(SCRIPT, changes(place)[::23], place) == []


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_settling_that_ends_around_every_change_leaves_a_page_held_or_settled(place: Path) -> None:
    where = changes(place)
    assert len(where) > 60
    assert end_at(SCRIPT, where, place) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_settling_that_keeps_no_copy_fails_the_sweep(place: Path) -> None:
    assert end_at(SCRIPT, reversed(changes(place, "no copy")), place, "no copy", until_wrong=True)
