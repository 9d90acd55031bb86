"""The parts of forgetting that look at texts: words, needles, lines that are followed, the state."""

from __future__ import annotations

import json
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf.forget.cut import Cut
from looseleaf.forget.probe import Needles, telling_sentences
from looseleaf.forget.rebase_edits import cut_state, merge_page, merge_state, merge_text
from looseleaf.pages.grammar import find_covered_lines
from looseleaf.text.diff import split_lines
from looseleaf.text.spellings import (
    MASK,
    drop_sentences_with,
    each_text,
    fold_text,
    is_nothing_else,
    masked_value,
    places,
    sentences_in,
    unescaped,
)
from tables import check_rows

SHORT = st.text(alphabet="abÅßİ .\n", max_size=30)


_LINES = (
    "```",
    "```py NIGHT",
    "````",
    "<!-- a night",
    "<!-- night -->",
    "night -->",
    "-->",
    "---",
    "night",
    "# Night",
)


# --- words -----------------------------------------------------------------------------


def test_the_sentence_goes_that_says_it() -> None:
    def check(text: str, left: str) -> None:
        assert drop_sentences_with(text, ["paris"]) == left

    check_rows(
        check,
        [
            ("I live in Paris. I like tea.", "[forgotten]. I like tea."),
            ("I like tea. I live in PARIS!", "I like tea. [forgotten]!"),
            ("Paris\nis nice", "[forgotten]\nis nice"),
            ("Is it Paris? Yes, Paris. No.", "[forgotten]? No."),
            ("我住在Paris。我喜欢茶。", "[forgotten]。我喜欢茶。"),
            ("nothing here", "nothing here"),
            ("one paris", "[forgotten]"),
            ("", ""),
        ],
    )


def test_words_over_the_end_of_a_line_take_both_lines_and_keep_their_number() -> None:
    text = "one\ntwo words\nare here\nfour"
    assert drop_sentences_with(text, [fold_text("words\nare")]) == "one\n[forgotten]\n\nfour"


def test_a_fence_or_a_comment_goes_on_where_its_first_or_last_line_goes() -> None:
    def check(text: str, left: str) -> None:
        assert Cut("match", "night", words=("night",)).cut_page("facts/cars.md", text) == left

    check_rows(
        check,
        [
            ("```night\ncode\n```\n- A: b\n", "```\ncode\n```\n- A: b\n"),
            ("<!-- night\n- Old: c\n-->\n- A: b\n", "<!--\n- Old: c\n-->\n- A: b\n"),
            ("<!-- see\n- Old: c\nnight -->\n- A: b\n", "<!-- see\n- Old: c\n-->\n- A: b\n"),
            ("<!-- night -->\n- A: b\n", "- A: b\n"),
            ("````\n```night\n- Old: c\n````\n- A: b\n", "````\n- Old: c\n````\n- A: b\n"),
            ("night\n---\n- A: b\n---\n", "\n---\n- A: b\n---\n"),
        ],
    )


@given(st.lists(st.sampled_from(_LINES), max_size=9))
def test_lines_that_stay_are_read_as_they_were(lines: list[str]) -> None:
    text = "".join(f"{line}\n- Brand: Audi\n" for line in lines)
    left = Cut("match", "night", words=("night",)).cut_page("facts/cars.md", text)
    was, now = (
        [
            (line, is_covered)
            for line, is_covered in zip(split_lines(each), find_covered_lines(each), strict=True)
        ]
        for each in (text, left)
    )
    assert "night" not in left.lower()
    assert [each for each in now if "Brand" in each[0]] == [each for each in was if "Brand" in each[0]]


@given(SHORT, st.text(alphabet="abÅß", min_size=1, max_size=3))
def test_what_was_masked_does_not_hold_the_words(text: str, words: str) -> None:
    needle = fold_text(words)
    left = drop_sentences_with(text, [needle])
    assert needle not in fold_text(left.replace(MASK, ""))
    assert left.count("\n") == unicodedata.normalize("NFC", text).count("\n") or needle not in fold_text(text)
    assert (left == text) == (needle not in fold_text(text))


@given(SHORT, st.text(alphabet="abßi", min_size=1, max_size=3))
def test_places_are_those_of_the_text_itself(text: str, words: str) -> None:
    plain = unicodedata.normalize("NFC", text)
    for start, end in places(plain, fold_text(words)):
        assert fold_text(words) in fold_text(plain[start:end])


def test_words_are_found_however_they_are_escaped() -> None:
    def check(spelt: str) -> None:
        words = fold_text("Café Zorn")
        assert drop_sentences_with(f"So it is. He went to {spelt} then. I like tea.", [words]) == (
            "So it is. [forgotten]. I like tea."
        )
        assert Needles(["Café Zorn"]).hits(json.dumps(f"He went to {spelt}.").encode()) == {words}
        assert Cut("match", "Café Zorn", words=(words,)).holds({"reason": spelt})

    check_rows(
        check,
        [
            r"Caf\u00e9 Zorn",
            r"Cafe\u0301 Zorn",
            r"Caf\\u00e9\\nZorn",
            "Caf&eacute; Zorn",
            "Caf&#233;&nbsp;Zorn",
            "Caf%C3%A9%20Zorn",
            r"Caf\xe9 Zo\u202arn",
            "Cafe\u200b\u0301 Zo\ufe0frn",
            "Caf\u00e9 Zo\u2066rn",
        ],
    )


@pytest.mark.parametrize("other", [r"Caf\u00e8 Zorn", "Caf%C3 Zorn", "Caf&nosuch; Zorn", r"Caf\Zorn"])
def test_what_is_escaped_and_says_something_else_stays(other: str) -> None:
    text = f"He went to {other} then. Half of it is 100%."
    assert drop_sentences_with(text, [fold_text("Café Zorn")]) == text


def test_what_is_folded_to_more_and_to_less_is_followed_back() -> None:
    assert [*places("ß\u00ad Zorn", "zorn")] == [(3, 7)]


def test_a_long_text_is_gone_through_once() -> None:
    begin = time.process_time()
    assert drop_sentences_with("Zorn is here. So it is. " * 20_000, ["zorn"]).startswith(
        "[forgotten]. So it is. [forgotten]"
    )
    assert drop_sentences_with("Zorn " * 40_000, ["zorn"]) == f"{MASK} "[: len(MASK)]
    assert time.process_time() - begin < 10


def test_texts_are_found_wherever_they_stand_in_a_value() -> None:
    value = {"a": ["Paris is here.", {"Paris": 1}], "b": 2, "c": None}
    assert sorted(each_text(value)) == ["Paris", "Paris is here.", "a", "b", "c"]
    assert masked_value(value, ("paris",)) == {"a": ["[forgotten].", {"[forgotten]": 1}], "b": 2, "c": None}
    assert is_nothing_else("[forgotten]. [forgotten]!")
    assert not is_nothing_else("[forgotten] a")
    assert sentences_in("One. Two!\nThree") == ["One.", "Two!", "Three"]


# --- needles ---------------------------------------------------------------------------


@given(st.lists(SHORT, max_size=6), SHORT)
def test_needles_find_what_a_plain_search_finds(texts: list[str], text: str) -> None:
    needles = Needles(texts)
    assert needles.find(fold_text(text)) == {
        fold_text(each) for each in texts if each and fold_text(each) in fold_text(text)
    }


def test_needles_are_found_in_every_spelling() -> None:
    needles = Needles(["Café zebra 🦓 stripes"])
    for data in (
        "café ZEBRA 🦓 stripes".encode(),
        unicodedata.normalize("NFD", "Café zebra 🦓 stripes").encode(),
        json.dumps("Café zebra 🦓 stripes").encode(),
        b"\x00\x01" + "Café zebra 🦓 stripes".encode() + b"\xff",
    ):
        assert needles.hits(data)
    assert not needles.hits(b"zebra stripes")
    assert unescaped(r"a\n\u00e9\"") == 'a\né"'


def test_what_stays_is_no_needle() -> None:
    needles = Needles(["said by one alone", "said by both of them"])
    assert needles.without(["He: SAID by both of them."]).texts == {"said by one alone"}
    assert list(telling_sentences(["Yes. A longer sentence.", "no"])) == ["A longer sentence."]
    assert not Needles([])


# --- lines that are followed -------------------------------------------------------------

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\n"]), max_size=6).map("".join)


@given(LINES, LINES)
def test_a_change_of_the_same_text_is_that_change(base: str, mine: str) -> None:
    assert merge_text(base, mine, base) == mine
    assert merge_text(base, base, mine) == mine


@given(LINES, LINES, LINES)
def test_no_line_comes_from_nowhere(base: str, mine: str, theirs: str) -> None:
    known = {*split_lines(mine), *split_lines(theirs)}
    assert set(split_lines(merge_text(base, mine, theirs))) <= known


def test_lines_go_where_they_are_and_come_behind_what_they_came_behind() -> None:
    assert merge_text("a\nx\nb\n", "a\nx\nnew\nb\n", "a\nb\n") == "a\nnew\nb\n"
    assert merge_text("a\nx\nb\n", "a\nb\n", "a\nx\nb\ny\n") == "a\nb\ny\n"
    assert merge_text("x\n", "x\nlast", "a\n") == "a\nlast"
    assert merge_text("x\n", "first\nx\n", "x\nb") == "first\nx\nb"
    assert merge_text("x", "x\ny\n", "a") == "a\ny\n"


def test_a_line_is_the_same_whatever_it_tells_of_its_entry_and_with_a_doubt_or_without() -> None:
    first, other = (f"entry 01K743R0J02AV7A8F5BQR346B{each}" for each in "45")
    base = f"# 2025\n\n- 09:43 One. (1 fact; {first})\n"
    theirs = f"# 2025\n\n- 09:26 One. (0 facts; {first})\n"
    line = f"- 10:16 Two. (1 fact; {other})\n"
    assert merge_text(base, base + line, theirs) == theirs + line
    assert merge_text(base, "# 2025\n\n", theirs) == "# 2025\n\n"
    doubted = "- Home: Paris (may have changed on 2025-10-09: “I am off.”)\n"
    assert merge_text(f"a\n{doubted}", "a\n", "a\n- Home: Paris\n") == "a\n"
    assert merge_text(f"a\n{doubted}", f"a\n{doubted}b\n", "a\n- Home: Paris\n") == "a\n- Home: Paris\nb\n"


def test_date_and_summary_of_a_page_are_what_they_were_or_what_the_edit_made_of_them() -> None:
    base = "# User\n\n> Summary: user home\n\n- Home: Paris\n- Updated: 2025-01-02\n"
    mine = "# User\n\n> Summary: user home\n\n- Home: Paris\n- Likes: tea\n- Updated: 2025-01-03\n"
    theirs = "# User\n\n> Summary: user name\n\n- Name: Ada\n- Updated: 2025-01-01\n"
    made = merge_page("USER.md", base, mine, theirs)
    assert made == "# User\n\n> Summary: user name\n\n- Name: Ada\n- Likes: tea\n- Updated: 2025-01-03\n"
    assert merge_page("PROJECT.md", "a\n", "a\nb\n", "c\n") == "c\nb\n"


# --- the state -------------------------------------------------------------------------


def state(**members: object) -> bytes:
    return json.dumps(members).encode()


def test_values_of_the_state_are_followed_one_by_one() -> None:
    base = state(goal="x", tasks_open=[{"id": "T-1", "title": "gone"}], conventions={"a": 1})
    mine = state(
        goal="y",
        tasks_open=[{"id": "T-1", "title": "gone"}, {"id": "T-2", "title": "new"}],
        conventions={"a": 2, "b": 3},
    )
    made = merge_state(base, mine, state(goal="x", now="here"), renumber=lambda name: 0)
    assert json.loads(made or b"") == {
        "goal": "y",
        "tasks_open": [{"id": "T-1", "title": "new"}],
        "conventions": {"a": 2, "b": 3},
        "now": "here",
    }
    assert merge_state(base, None, base, renumber=None) is None
    assert merge_state(base, b"{broken", base, renumber=None) == b"{broken"
    assert merge_state(base, mine, base, renumber=None) == mine
    removed = merge_state(mine, base, state(tasks_open=[{"id": "T-7", "title": "new"}]), renumber=None)
    assert json.loads(removed or b"")["tasks_open"] == []


def test_a_row_that_changed_keeps_the_id_it_has() -> None:
    base = state(tasks_open=[{"id": "T-2", "title": "a", "status": "open"}], blockers=["x"])
    mine = state(tasks_open=[{"id": "T-2", "title": "a", "status": "stuck"}], blockers=["x", "y"])
    theirs = state(tasks_open=[{"id": "T-1", "title": "a", "status": "open"}], blockers=["z"])
    made = json.loads(merge_state(base, mine, theirs, renumber=lambda name: 1) or b"")
    assert made == {"tasks_open": [{"id": "T-1", "title": "a", "status": "stuck"}], "blockers": ["z", "y"]}


def test_the_state_loses_values_and_never_its_form() -> None:
    cut = Cut("match", "Paris", words=("paris",))
    data = state(
        goal="see Paris", now="x", tasks_open=[{"title": "Paris"}, {"title": "b"}], conventions={"Paris": 1}
    )
    left = json.loads(cut_state(data, cut.holds, state(goal="old")))
    assert left == {"goal": "old", "now": "x", "tasks_open": [{"title": "b"}], "conventions": {}}
    broken = b'{"goal": "P\\u0061ris",\n"now": 1,,}\n'
    assert cut_state(broken, cut.holds) == b'"now": 1,,}\n'
    assert cut_state(state(goal="x"), cut.holds) == state(goal="x")


# --- the cut ---------------------------------------------------------------------------


def test_headings_stay_without_their_words_and_lines_go() -> None:
    cut = Cut("match", "Paris", words=("paris",))
    text = "# Paris\n\n## In Paris\n- Date: 2025\n- Paris again\nprose\n"
    assert (
        cut.cut_page("episodes/2025-01.md", text) == "# [forgotten]\n\n## [forgotten]\n- Date: 2025\nprose\n"
    )


def test_an_origin_means_all_of_its_formats() -> None:
    origins = frozenset({"import"})
    cut = Cut("origin", "import", origins=origins)
    assert cut.takes("s", "import", "main")
    assert cut.takes("s", "import:chatgpt", "main")
    assert not cut.takes("s", "importer", "main")
    assert not Cut("origin", "import", "other", origins=origins).takes("s", "import", "main")
    assert Cut("topic", "garden", topics=frozenset({"garden"})).cut_page("facts/garden.md", "# x\n") == ""
