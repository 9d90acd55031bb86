"""Hunks give back both texts, whatever the texts are, and quickly."""

from __future__ import annotations

import difflib
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from timeit import repeat

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drawing import core
from growth import LINEAR, growth
from looseleaf.base.values import Hunk
from looseleaf.text.diff import apply, changed_stretch, diff, invert, split_lines, unified
from tables import check_rows, some

line_texts = st.sampled_from(["a", "b", "c", "", "- Name: x", "d\r", "e\u2028f", "g\x0bh\x0c", "\ufeff# T"])
repetitive = st.builds(
    lambda lines, tail: "".join(line + "\n" for line in lines) + tail,
    st.lists(line_texts, max_size=30),
    st.sampled_from(["", "", "tail", "tail\r"]),
)
texts = st.one_of(repetitive, st.text(max_size=60))


@core
@given(texts, texts)
@example("a\nb", "a\nb\n")
@example("x\nfoo\n", "yyfoo\n")
@example("a\na\n", "a\na\na\n")
def test_the_stretch_that_changed_is_whole_lines_and_no_line_more_than_it_must_be(old: str, new: str) -> None:
    begin, old_end, new_end = changed_stretch(old, new)
    assert old[:begin] == new[:begin]
    assert old[old_end:] == new[new_end:]
    for text, end in ((old, old_end), (new, new_end)):
        assert begin <= end <= len(text)
        assert all(at in (0, len(text)) or text[at - 1] == "\n" for at in (begin, end))
    a, b = split_lines(old[begin:old_end]), split_lines(new[begin:new_end])
    assert not (a and b) or (a[0] != b[0] and a[-1] != b[-1])


@given(texts)
@example("")
@example("\n")
@example("a")
@example("a\r\nb\u2028c\x85d\x0be\x0cf\rg\n\n")
def test_lines_joined_are_the_text_and_only_a_line_feed_ends_one(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines[:-1])
    assert all(line and "\n" not in line[:-1] for line in lines)


@core
@given(texts, texts)
@example("a", "a\n")
@example("", "a")
@example("a\n", "")
def test_a_diff_applied_gives_the_new_text_and_inverted_the_old_one(old: str, new: str) -> None:
    hunks = diff(old, new)
    assert apply(old, hunks) == new
    assert apply(new, invert(hunks)) == old
    assert invert(invert(hunks)) == hunks
    assert tuple(Hunk.from_dict(hunk.to_dict()) for hunk in hunks) == hunks


@given(texts)
def test_equal_texts_have_no_hunks(text: str) -> None:
    assert diff(text, text) == ()
    assert apply(text, ()) == text
    assert unified(text, text, "a", "b") == ""


@given(texts, texts)
def test_hunks_are_ordered_apart_and_without_lines_that_stay(old: str, new: str) -> None:
    ends = 0
    for n, hunk in enumerate(diff(old, new)):
        assert hunk.removed or hunk.added
        assert hunk.at > ends or (n == 0 and hunk.at == 0)
        assert hunk.removed[:1] != hunk.added[:1]
        assert hunk.removed[-1:] != hunk.added[-1:]
        ends = hunk.at + len(hunk.removed)


def test_a_change_at_the_top_and_one_at_the_bottom_are_two_small_hunks() -> None:
    lines = [f"- Fact {n}: value\n" for n in range(500)]
    changed = ["- New: first\n", *lines[:250], *lines[251:499], "- Fact 499: other\n"]
    assert diff("".join(lines), "".join(changed)) == (
        Hunk(0, (), ("- New: first\n",)),
        Hunk(250, ("- Fact 250: value\n",), ()),
        Hunk(499, ("- Fact 499: value\n",), ("- Fact 499: other\n",)),
    )


def test_a_line_that_moves_is_removed_at_one_place_and_added_at_the_other() -> None:
    assert diff("a\nb\nc\nd\n", "b\nc\nd\na\n") == (Hunk(0, ("a\n",), ()), Hunk(4, (), ("a\n",)))


def test_lines_that_are_unique_only_between_two_anchors_anchor_there() -> None:
    old = "x\n1\ny\nmiddle\nx\n2\ny\n"
    new = "0\nx\ny\nmiddle\nx\ny\n3\n"
    assert diff(old, new) == (
        Hunk(0, (), ("0\n",)),
        Hunk(1, ("1\n",), ()),
        Hunk(5, ("2\n",), ()),
        Hunk(7, (), ("3\n",)),
    )


def test_hunks_that_do_not_fit_the_text_are_refused() -> None:
    def check(hunks: tuple[Hunk, ...]) -> None:
        with pytest.raises(ValueError, match="does not hold, at line"):
            apply("a\nb\n", hunks)

    check_rows(
        check,
        [
            (row,)
            for row in [
                (Hunk(0, ("b\n",), ()),),
                (Hunk(1, ("b\n", "c\n"), ()),),
                (Hunk(3, (), ("c\n",)),),
                (Hunk(-1, ("b\n",), ()),),
                (Hunk(0, ("a",), ()),),
                (Hunk(1, ("b\n",), ()), Hunk(0, (), ("z\n",))),
                (Hunk(0, ("a\n",), ()), Hunk(0, ("a\n",), ())),
            ]
        ],
    )


def test_the_unified_form_is_what_git_prints() -> None:
    old = "".join(f"{n}\n" for n in range(1, 31))
    new = old.replace("2\n", "two\n", 1).replace("\n9\n", "\n").replace("28\n29\n30\n", "28\n29\n30")
    assert unified(old, new, "a/facts/user.md", "b/facts/user.md") == (
        "--- a/facts/user.md\n"
        "+++ b/facts/user.md\n"
        "@@ -1,12 +1,11 @@\n"
        " 1\n-2\n+two\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n 10\n 11\n 12\n"
        "@@ -27,4 +26,4 @@\n"
        " 27\n 28\n 29\n-30\n+30\n"
        "\\ No newline at end of file\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("", "a\n", "@@ -0,0 +1 @@\n+a\n"),
        ("a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"),
        ("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        ("a\nb", "c\nb", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"),
    ],
)
def test_the_unified_form_of_small_texts(old: str, new: str, shown: str) -> None:
    assert unified(old, new, "x", "y") == "--- x\n+++ y\n" + shown


@given(st.integers(0, 40), st.lists(st.integers(0, 40), max_size=4))
def test_the_unified_form_is_the_standard_librarys_where_no_line_repeats(
    count: int, places: list[int]
) -> None:
    old = [f"line {n}\n" for n in range(count)]
    new = [f"changed {n}\n" if n in places else line for n, line in enumerate(old)]
    shown = unified("".join(old), "".join(new), "x", "y")
    assert shown == "".join(difflib.unified_diff(old, new, "x", "y"))


@pytest.mark.skipif(shutil.which("patch") is None, reason="no `patch` on this machine")
@pytest.mark.parametrize("seed", range(20))
def test_the_patch_command_takes_the_unified_form(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    old = [f"{chance.choice('abcdef')}\n" if chance.random() < 0.3 else f"line {n}\n" for n in range(60)]
    new = [line for line in old if chance.random() > 0.1]
    for _ in range(5):
        new.insert(chance.randrange(len(new)), f"new {chance.random()}\n")
    page = tmp_path / "page.md"
    page.write_text("".join(old))
    change = unified("".join(old), "".join(new), "page.md", "page.md")
    subprocess.run(["patch", "-s", page], input=change, text=True, check=True)
    assert page.read_text() == "".join(new)


# --- time -------------------------------------------------------------------------------


def test_one_changed_line_in_a_megabyte_takes_little_longer_than_splitting_it() -> None:
    lines = [f"- Fact {n}: {'word ' * 8}\n" for n in range(19_000)]
    changed = [*lines[:9_000], "- changed\n", *lines[9_001:]]
    old, new = "".join(lines), "".join(changed)
    assert len(old) > 1_000_000
    assert diff(old, new) == (Hunk(9_000, (lines[9_000],), ("- changed\n",)),)

    def seconds(act: Callable[[], object]) -> float:
        return min(repeat(act, timer=time.process_time, number=1, repeat=5))

    ratio = seconds(lambda: diff(old, new)) / seconds(lambda: (split_lines(old), split_lines(new)))
    assert ratio < 20


def large_texts(shape: str, count: int) -> tuple[str, str]:
    lines = [f"line {n}\n" for n in range(count)]
    chance = random.Random(1)
    if shape == "different":
        other = [f"other {n}\n" for n in range(count)]
    elif shape == "shuffled":
        other = chance.sample(lines, count)
    elif shape == "reversed":
        other = lines[::-1]
    elif shape == "same line":
        lines, other = ["x\n"] * count, ["y\n", *["x\n"] * (count - 7), "y\n"]
    elif shape == "two lines":
        lines, other = (["x\n" if chance.random() < 0.5 else "y\n" for _ in range(count)] for _ in "ab")
    else:  # each stretch holds one anchor, near its edge, that stands elsewhere outside it
        lines = [f"{n // 2}\n" for n in range(count)]
        other = [f"{(n + 1) // 2}\n" for n in chance.sample(range(count), count)]
    return "".join(lines), "".join(other)


def test_no_pair_of_large_texts_takes_quadratic_time() -> None:
    def check(shape: str) -> None:
        def work(count: int) -> Callable[[], object]:
            old, new = large_texts(shape, count)
            assert apply(old, diff(old, new)) == new
            return lambda: diff(old, new)

        assert growth(work, 1_250) < LINEAR

    check_rows(check, some(["different", "shuffled", "reversed", "same line", "two lines", "nested"], 3))
