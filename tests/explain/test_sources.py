"""Who wrote which line: the walk back through a page's edits, against a walk forwards that carries authors along."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf import Memory, Policy, Refused
from looseleaf.base.values import Edit, Hunk, sha256_or_none
from looseleaf.explain.sources import find_edits
from looseleaf.log.journal import forward, make_edit
from looseleaf.text.diff import diff, split_lines
from looseleaf.text.lines import body

LINES = st.sampled_from(["- tea\n", "- cake\n", "- jazz\n", "\n", "# Title\n", "- tea\r\n", "last"])
TEXTS = st.lists(LINES, max_size=8).map("".join)


def history(*texts: str | None, encoding: str = "utf-8") -> list[Edit]:
    """The edits that made these texts, one after the other."""
    pages = [None, *(text.encode(encoding) if text is not None else None for text in texts)]
    return [
        make_edit(f"e{number}", float(number), "USER.md", f"agent:a{number}", "test", old, new)
        for number, (old, new) in enumerate(pairwise(pages), 1)
        if old != new
    ]


def signers(
    text: str, edits: list[Edit], after: Callable[[Edit], str | None] | None = None
) -> list[str | None]:
    found = find_edits(text, sha256_or_none(text.encode()), reversed(edits), after or (lambda edit: None))
    assert len(found) == len(split_lines(text))
    return [edit.id if edit is not None else None for edit in found]


def carried(texts: list[str]) -> list[str]:
    """The same, forwards: each edit's new lines are its own, but for those that it only moved."""
    authors: list[str] = []
    old = ""
    for number, new in enumerate(texts, 1):
        made: list[str] = []
        pools: dict[str, list[str]] = {}
        hunks = diff(old, new)
        for hunk in hunks:
            for line, author in zip(hunk.removed, authors[hunk.at :], strict=False):
                pools.setdefault(body(line), []).append(author)
        done = 0
        for hunk in hunks:
            made += authors[done : hunk.at]
            for line in hunk.added:
                pool = pools.get(body(line))
                made.append(pool.pop(0) if pool else f"e{number}")
            done = hunk.at + len(hunk.removed)
        authors, old = made + authors[done:], new
    return authors


@given(st.lists(TEXTS, min_size=1, max_size=12))
def test_the_walk_back_finds_what_a_walk_forwards_carries_along(texts: list[str]) -> None:
    assert signers(texts[-1], history(*texts)) == carried(texts)


@given(st.lists(st.one_of(TEXTS, st.none()), min_size=1, max_size=12))
def test_a_page_that_was_gone_begins_anew(texts: list[str | None]) -> None:
    *before, last = texts
    if last is None:
        return
    gone = max((at + 1 for at, text in enumerate(before) if text is None), default=0)
    edits = history(*texts)
    found = signers(last, edits)
    since = [str(text) for text in texts[gone:]]
    assert found == [f"e{int(name[1:]) + gone}" for name in carried(since)]


@given(st.lists(TEXTS, min_size=3, max_size=8), st.data())
def test_a_lost_record_hides_only_the_lines_that_it_wrote(texts: list[str], data: st.DataObject) -> None:
    """Where a record is missing, the text before it comes from the other side; the rest is signed as ever."""
    edits = history(*texts)
    if len(edits) < 3:
        return
    at = data.draw(st.integers(1, len(edits) - 2))
    left = edits[:at] + edits[at + 1 :]
    pages: dict[str, str] = {}
    page: bytes | None = None
    for edit in edits:
        page = forward(edit, page)
        pages[edit.id] = (page or b"").decode()
    found = signers(texts[-1], left, lambda edit: pages[edit.id])
    whole = signers(texts[-1], edits)
    assert edits[at].id not in found
    for mine, true in zip(found, whole, strict=True):
        assert mine == true or mine is None or true == edits[at].id or int(mine[1:]) < int(str(true)[1:])


def test_without_the_text_before_a_hole_older_lines_are_nobodys() -> None:
    edits = history("- a\n", "- a\n- b\n", "- a\n- b\n- c\n")
    assert signers("- a\n- b\n- c\n", [edits[0], edits[2]]) == [None, None, "e3"]


def test_lines_that_were_written_whole_over_lost_ones_keep_their_authors_where_they_are_the_same() -> None:
    first = history("- a\n- b\n")
    text = "- a\n- new\n"
    whole = make_edit("w", 9.0, "USER.md", "unknown", "found", None, text.encode(), lost_base="0" * 64)
    assert signers(text, [*first, whole], lambda edit: "- a\n- b\n") == ["e1", "w"]
    assert signers(text, [whole]) == ["w", "w"]
    assert signers(text, [*first, whole]) == ["w", "w"]


def test_what_an_undo_brings_back_is_its_authors() -> None:
    one, two = "- a\n- b\n", "- a\n- evil\n"
    edits = history(one, two)
    undo = make_edit("u", 9.0, "USER.md", "person", "undo", two.encode(), one.encode(), undoes="e2")
    assert signers(one, [*edits, undo]) == ["e1", "e1"]
    gone = make_edit("d", 9.0, "USER.md", "agent:x", "removed", one.encode(), None)
    back = make_edit("u", 10.0, "USER.md", "person", "undo", None, one.encode(), undoes="d")
    assert signers(one, [*history(one), gone, back]) == ["e1", "e1"]


def test_an_undo_of_what_is_not_there_signs_what_it_wrote() -> None:
    edits = history("- a\n")
    undo = make_edit("u", 9.0, "USER.md", "person", "undo", b"- a\n", b"- a\n- b\n", undoes="elsewhere")
    assert signers("- a\n- b\n", [*edits, undo]) == ["e1", "u"]


def test_hunks_that_do_not_fit_are_believed_in_nothing() -> None:
    text = "- a\n"
    good = history(text)[0]
    forged = Edit("f", 1.0, "USER.md", "x", "x", None, good.new, (Hunk(0, (), ("- a\n", "- b\n", "- c\n")),))
    assert signers(text, [forged]) == [None]


def test_pages_that_are_no_text_are_signed_too() -> None:
    pages = [None, b"- caf\xe9\n", b"- caf\xe9\n- b\n", b"- caf\xe9\n- tea\n", b"- caf\xe9\n- tea\n- c\n"]
    edits = [
        make_edit(f"e{number}", 1.0, "USER.md", "a", "x", old, new)
        for number, (old, new) in enumerate(pairwise(pages), 1)
    ]
    texts = {f"e{number}": (page or b"").decode("utf-8", "replace") for number, page in enumerate(pages)}

    def found(edits: list[Edit]) -> list[str | None]:
        signed = find_edits(texts["e4"], edits[-1].new, reversed(edits), lambda edit: texts[edit.id])
        return [edit.id if edit is not None else None for edit in signed]

    assert found(edits) == ["e1", "e3", "e4"]
    assert found([edits[0], *edits[2:]]) == ["e1", "e3", "e4"]


def test_no_more_edits_are_read_than_are_needed() -> None:
    edits = history("- a\n", "- b\n", "- c\n")
    read: list[str] = []

    def newest_first() -> object:
        for edit in reversed(edits):
            read.append(edit.id)
            yield edit

    find_edits("- c\n", edits[-1].new, newest_first(), lambda edit: None)  # type: ignore[arg-type]
    assert read == ["e3"]


def test_the_cost_is_that_of_the_history() -> None:
    def work(size: int) -> Callable[[], object]:
        edits: list[Edit] = []
        for number in range(size):
            old, new = f"h{number}" if number else None, f"h{number + 1}"
            edits.append(Edit(f"e{number}", 1.0, "x.md", "a", "r", old, new, (Hunk(number, (), ("- x\n",)),)))
        text = "- x\n" * size
        return lambda: find_edits(text, f"h{size}", reversed(edits), lambda edit: None)

    assert growth(work, 200) < LINEAR


# --- of a memory -----------------------------------------------------------------------


def signed(memory: Memory, path: str = "USER.md") -> dict[str, tuple[str | None, str | None]]:
    return {each.text: (each.author, each.level) for each in memory.explain.who(path) if each.text}


def test_each_line_has_its_author_and_its_level(place: Path) -> None:
    with Memory(place / "m") as memory:
        memory.record(user="I like green tea.")
        memory.pages.edit("USER.md", "# User\n\n- Home: Berlin\n", reason="typed", author="person")
        memory.pages.propose("USER.md", lambda old: f"{old}- Likes: green tea\n", reason="remember")
        memory.pages.propose("facts/garden.md", "- Soil: clay\n", reason="remember")
        found = signed(memory)
        assert found["- Home: Berlin"] == ("person", "confirmed")
        assert found["# User"] == ("person", "confirmed")
        assert found["- Likes: green tea"] == ("agent:main", "said")
        assert signed(memory, "facts/garden.md")["- Soil: clay"] == ("agent:main", "inferred")
        lines = memory.explain.who("USER.md")
        assert [each.line for each in lines] == list(range(1, len(lines) + 1))
        assert {each.level for each in lines if not each.text} == {None}
        edits = {edit.id: edit for edit in memory.history.edits("USER.md")}
        for each in lines:
            edit = edits[str(each.edit)]
            assert (each.author, each.ts, each.reason) == (edit.author, edit.ts, edit.reason)
        assert lines[0].to_dict() == {
            "line": 1,
            "text": "# User",
            "author": "person",
            "ts": lines[0].ts,
            "edit": lines[0].edit,
            "level": "confirmed",
            "reason": "typed",
        }


@pytest.mark.parametrize(
    ("trusts", "author", "level"), [(True, "external", "confirmed"), (False, "unknown", "inferred")]
)
def test_what_was_found_on_disk_is_worth_what_the_settings_say(
    place: Path, trusts: bool, author: str, level: str
) -> None:
    with Memory(place / "m", policy=Policy(trust_external_edits=trusts)) as memory:
        Path(memory.path, "facts").mkdir(exist_ok=True)
        Path(memory.path, "facts", "garden.md").write_text("# Garden\n\nRoses need sun.\n", encoding="utf-8")
        assert signed(memory, "facts/garden.md")["Roses need sun."] == (author, level)


def test_a_line_that_a_person_moved_is_still_whose_it_was(place: Path) -> None:
    with Memory(place / "m") as memory:
        memory.pages.edit("facts/garden.md", "- Soil: clay\n- Sun: south\n", reason="x")
        Path(memory.path, "facts", "garden.md").write_text(
            "- Sun: south\r\n- Roses: red\r\n- Soil: clay\r\n", encoding="utf-8", newline=""
        )
        found = signed(memory, "facts/garden.md")
        assert {line: author for line, (author, _) in found.items()} == {
            "- Sun: south": "agent:main",
            "- Roses: red": "external",
            "- Soil: clay": "agent:main",
        }


def test_what_was_distilled_is_the_programs_with_the_level_of_its_facts(place: Path) -> None:
    with Memory(place / "m") as memory:
        memory.record(user="My name is Zhang San and I live in Berlin.")
        memory.record(assistant="Hello.")
        memory.record(user="Bye.")
        memory.distill()
        facts = {line: each for line, each in signed(memory).items() if line.startswith("- ")}
        assert facts
        assert set(facts.values()) == {("program", "said")}
        [day] = [path for path in memory.pages.list() if path.startswith("days/")]
        assert set(signed(memory, day).values()) == {("program", "said")}


def test_a_page_with_a_hole_in_its_history_is_shown_all_the_same(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(place / "m") as memory:
        ids = [
            memory.pages.edit("facts/garden.md", text, reason="x").id
            for text in ("- a\n", "- a\n- b\n", "- a\n- b\n- c\n")
        ]
        edits = [edit for edit in memory.history.edits("facts/garden.md") if edit.id != ids[1]]
        pages = memory.parts.pages
        monkeypatch.setattr(pages, "log", lambda path: iter(edits))
        monkeypatch.setattr(pages.history, "back", lambda path=None: iter(edits))
        assert [each.edit for each in memory.explain.who("facts/garden.md")] == [ids[0], None, ids[2]]
        older = edits[1:]

        def hidden(*_: object) -> None:
            raise Refused("hidden")

        monkeypatch.setattr(pages.history, "after", hidden)
        assert older
        assert [each.edit for each in memory.explain.who("facts/garden.md")] == [None, None, ids[2]]
        assert memory.explain.who("facts/garden.md")[1].level == "inferred"


def test_a_page_that_is_not_there_has_no_lines(place: Path) -> None:
    with Memory(place / "m") as memory, pytest.raises(Refused, match=r"There is no page facts/none\.md"):
        memory.explain.who("facts/none.md")
