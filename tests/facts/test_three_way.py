"""Two changes of one page become one, as git asks for it: facts stand once, no word is lost, there are no markers."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from shutil import which

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawing import core
from facts.test_woven import facts, with_fact, without_fact
from looseleaf.facts.ledger import address_of
from looseleaf.facts.three_way import merge_pages
from looseleaf.pages.grammar import new_page, parse
from looseleaf.pages.held import find_markers
from looseleaf.text.lines import undoubted
from looseleaf.text.weave import joined

TODAY = "2026-04-01"
PATH = "USER.md"


def merge(base: str, ours: str, theirs: str, path: str = PATH) -> str:
    return merge_pages(path, base, ours, theirs, TODAY)


acts = st.lists(st.one_of(facts, facts, facts, st.integers(0, 5)), max_size=4)


def acted(text: str, story: Sequence[tuple[str, str, str, bool, int] | int]) -> str:
    for act in story:
        if isinstance(act, int):
            text = without_fact(text, act)
        else:
            relation, value, day, *_ = act
            if (relation, value) not in {(fact.relation, fact.object) for fact in parse(PATH, text).facts}:
                text = with_fact(text, relation, value, day)
    return text


@st.composite
def pages(draw: st.DrawFn) -> tuple[str, str, str]:
    """A page of facts and two changes of it."""
    base = acted(new_page(PATH), draw(acts))
    return base, acted(base, draw(acts)), acted(base, draw(acts))


lines = [
    "a\n",
    "b\n",
    "c\n",
    "- x: 1\n",
    "- x: 2\n",
    "## H\n",
    "\n",
    "```\n",
    "# T\n",
    "- City: Lyon\n",
    "end",
]
texts = st.lists(st.sampled_from(lines), max_size=7).map(joined)
any_texts = st.tuples(texts, texts, texts)
distinct = st.lists(st.sampled_from([f"word {n}\n" for n in range(12)]), unique=True, max_size=9)


@core
@given(st.one_of(pages(), any_texts))
def test_a_side_that_changed_nothing_leaves_the_other_as_it_is(three: tuple[str, str, str]) -> None:
    base, ours, theirs = three
    assert merge(base, base, theirs) == theirs
    assert merge(base, ours, base) == ours
    assert merge(base, ours, ours) == ours


@core
@given(st.one_of(pages(), any_texts))
def test_both_directions_give_the_same_bytes(three: tuple[str, str, str]) -> None:
    base, ours, theirs = three
    assert merge(base, ours, theirs) == merge(base, theirs, ours)


@core
@given(pages())
def test_merging_what_is_merged_changes_nothing(three: tuple[str, str, str]) -> None:
    base, ours, theirs = three
    # A line that one side moved and the other took away is, the second time, only taken away.
    assume(not has_moved(base, ours) and not has_moved(base, theirs))
    merged = merge(base, ours, theirs)
    assert merge(base, merged, theirs) == merged
    assert merge(base, ours, merged) == merged
    assert merge(ours, merged, theirs if ours == base else merged) == merged


@core
@given(pages())
def test_a_fact_that_a_side_added_stands_and_one_that_a_side_removed_is_gone(
    three: tuple[str, str, str],
) -> None:
    base, ours, theirs = (values(each) for each in three)
    merged = values(merge(*three))
    assert merged >= (ours | theirs) - base
    assert merged >= base & ours & theirs
    if not any(has_moved(three[0], each) for each in three[1:]):  # that takes a line away, and adds it
        assert not merged & (base - (ours & theirs))


@core
@given(pages())
def test_a_fact_stands_once(three: tuple[str, str, str]) -> None:
    """Once, unless a side had it twice."""
    merged = addresses(merge(*three))
    assert all(merged.count(at) <= max(addresses(each).count(at) for each in three) for at in merged)


@core
@given(distinct, st.data())
def test_lines_of_text_are_merged_as_sets_are(base: list[str], data: st.DataObject) -> None:
    """Each side takes some lines out and puts new ones in, anywhere."""
    sides = []
    for name in ("ours", "theirs"):
        kept = [line for line in base if data.draw(st.booleans())]
        for number in range(data.draw(st.integers(0, 3))):
            kept.insert(data.draw(st.integers(0, len(kept))), f"{name} {number}\n")
        sides.append(kept)
    texts = ["".join(side) for side in sides]
    merged = merge("".join(base), texts[0], texts[1], path="PROJECT.md").splitlines(keepends=True)
    ours, theirs = map(set, sides)
    assert sorted(merged) == sorted((ours & theirs) | ((ours | theirs) - set(base)))


@core
@given(any_texts)
def test_no_line_is_lost_that_a_side_added(three: tuple[str, str, str]) -> None:
    base, *sides = three
    merged = merge(*three, path="PROJECT.md")
    words = {line.strip() for line in merged.split("\n")}
    for side in sides:
        added = {line.strip() for line in side.split("\n")} - {line.strip() for line in base.split("\n")}
        assert {line for line in added if line and not line.startswith("#")} <= words


@core
@given(st.one_of(pages(), any_texts))
def test_there_are_never_markers(three: tuple[str, str, str]) -> None:
    assert find_markers(merge(*three).encode()) == []


def addresses(text: str) -> list[tuple[str, str, str]]:
    found = (address_of(fact.but(object=undoubted(fact.object))) for fact in parse(PATH, text).facts)
    return [(at.slot, at.within, at.key) for at in found]


def values(text: str) -> set[tuple[str, str, str]]:
    return set(addresses(text))


def has_moved(base: str, side: str) -> bool:
    before, now = addresses(base), addresses(side)
    return [at for at in before if at in now] != [at for at in now if at in before]


# --- examples ------------------------------------------------------------------------------

BASE = "# User Facts\n\n- Name: Ada\n- City: Paris\n- Updated: 2026-03-01\n"
OURS = "# User Facts\n\n- Name: Ada\n- City: Rome\n- Likes: tea\n- Updated: 2026-03-02\n"
THEIRS = "# User Facts\n\n- Name: Ada\n- City: Lyon\n- Likes: tea\n- Likes: the sea\n- Updated: 2026-03-03\n"


def test_two_values_stay_with_the_version_of_the_page_and_its_day() -> None:
    assert merge(BASE, OURS, THEIRS) == (
        "# User Facts\n\n- Name: Ada\n- City: Rome (from git-74a97f0e15 on 2026-03-02)\n"
        "- City: Lyon (from git-c6e890869f on 2026-03-03)\n- Likes: tea\n- Likes: the sea\n- Updated: 2026-03-03\n"
    )


@pytest.mark.skipif(which("git") is None, reason="git is not installed")
def test_the_mark_is_the_name_that_git_has_for_that_version() -> None:
    done = subprocess.run(
        ["git", "hash-object", "--stdin"], input=OURS.encode(), capture_output=True, check=True
    )
    assert done.stdout.decode()[:10] == "74a97f0e15"


def test_a_page_without_its_day_is_marked_with_this_one() -> None:
    merged = merge("- City: Paris\n", "- City: Rome\n", "- City: Lyon\n", "facts/user.md")
    assert merged.count(f" on {TODAY})\n") == 2


def test_a_value_that_one_side_left_is_not_contested() -> None:
    assert "- City: Lyon\n- Name" in merge(
        "- City: Paris\n- Name: Ada\n", "- City: Paris\n- Name: Eve\n", "- City: Lyon\n- Name: Ada\n"
    )


def test_what_a_person_decided_about_a_contested_value_stays() -> None:
    merged = merge(BASE, OURS, THEIRS)
    decided = merged.replace("- City: Rome (from git-74a97f0e15 on 2026-03-02)\n", "").replace(
        " (from git-c6e890869f on 2026-03-03)", ""
    )
    assert merge(merged, decided, merged + "- Role: driver\n") == decided + "- Role: driver\n"


def test_a_changed_line_outlives_its_removal() -> None:
    assert merge("- City: Paris\n- Name: Ada\n", "- Name: Ada\n", "- City: Lyon\n- Name: Ada\n") == (
        "- City: Lyon\n- Name: Ada\n"
    )


def test_a_blank_line_that_moves_makes_no_line_another() -> None:
    """The first fact goes, and with it the place of the blank line before it."""
    base = "# User Facts\n\n- Name: Ada\n- City: Paris\n"
    ours, theirs = base.replace("- Name: Ada\n", ""), base.replace("Paris", "Lyon")
    assert merge(base, ours, theirs) == "# User Facts\n\n- City: Lyon\n"
    ours, theirs = base.replace("- Name: Ada\n", ""), base.replace("- City: Paris\n", "")
    assert merge(base, ours, theirs) == "# User Facts\n"


def test_a_line_that_both_took_away_is_gone_also_where_both_end_in_a_blank_line() -> None:
    assert merge("end", "\n", "a\n\n", "PROJECT.md").strip() == "a"


def test_two_pages_that_were_begun_apart_become_one() -> None:
    one = "# Garden\n\n> Summary: soil\n\n- Soil: clay\n- Updated: 2026-03-01\n"
    two = "# Garden\n\n> Summary: pond\n\n- Pond: small\n- Updated: 2026-03-04\n"
    merged = merge("", one, two, "facts/garden.md")
    assert (
        merged.count("# Garden") == merged.count("> Summary:") == merged.count("- Updated: 2026-03-04") == 1
    )
    assert merged.count("- Updated:") == merged.count("- Soil: clay") == merged.count("- Pond: small") == 1


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_are_changes_of_their_own(mark: str) -> None:
    """One side was saved by an editor that ends lines otherwise; no line counts as changed for that."""
    saved = mark + BASE.replace("\n", "\r\n")
    changed = BASE.replace("Paris", "Lyon")
    assert merge(BASE, saved, changed) == merge(BASE, changed, saved) == mark + changed.replace("\n", "\r\n")


def test_lines_that_end_in_two_ways_keep_their_ends() -> None:
    base = "a\r\nb\nc\n"
    assert merge(base, "x\n" + base, base + "y\r\n", "PROJECT.md") == f"x\n{base}y\r\n"
