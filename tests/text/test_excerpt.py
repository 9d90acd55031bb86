"""Texts shortened around what matched, and the best of them within a budget."""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import category

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.text.excerpt import LEAST, ceil, excerpt, floor, pack
from tables import check_rows, some

Count = Callable[[str], int]


def by_words(text: str) -> int:
    return len(text.split())


def by_thirds(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // 3)


def by_pairs(text: str) -> int:
    """Not additive: two texts together may cost less than each of them alone, and more."""
    return len(re.findall(r"\w{1,5}|\n\n.|\s+|[^\w\s]", text, re.DOTALL))


def with_start(text: str) -> int:
    return 2 + len(text)


COUNTERS = (len, by_words, by_thirds, by_pairs, with_start)
counters = st.sampled_from(COUNTERS)
ALPHABET = (
    *("one", "two", "budget", "tuna", " ", " ", " ", ". ", "\n", "\r\n", "!", "…", "word", "a" * 40),
    *(
        "预算",
        "金枪鱼",
        "。",
        "ปลา",
        "กำ",
        "é",
        "e\u0301",
        "\u0301",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    ),
    *("🇩🇪", "👍🏽", "नमस्ते", "\ud83d", "\ud83d\ude00", "각", "\u1100\u1161", "\uac00\u11a8"),
)
texts = st.lists(st.sampled_from(ALPHABET), max_size=60).map("".join)
wanteds = st.sets(st.sampled_from(["budget", "tuna", "预算", "ปลา", "absent", "one"]))

STORY = (
    "We met at the station. Anna said that the budget for the garden is 300 euros! Then we went home and slept. "
    "On Monday the plumber comes to repair the kitchen sink; he wants cash. Nothing else happened. The cat is called "
    "Mimi and she likes tuna."
)


def is_inside(text: str, at: int) -> bool:
    """Whether a cut there would part what is seen as one character, as far as simple rules tell."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    flags = re.search("[\U0001f1e6-\U0001f1ff]*$", text[:at])
    return (
        category(after)[0] == "M"
        or "\u200d" in (before, after)
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or (before, after) == ("\r", "\n")
        or (before == "\u1100" and after == "\u1161")
        or ("\U0001f1e6" <= after <= "\U0001f1ff" and flags is not None and len(flags[0]) % 2 == 1)
    )


@given(texts, wanteds, st.integers(-1, 80), counters)
@example("e\u0301" * 20, set(), 3, len)
@example("\U0001f468\u200d\U0001f469\u200d\U0001f467" * 5, set(), 6, len)
@example("\u0301" * 50, set(), 3, len)
def test_an_excerpt_never_costs_more_than_its_limit(
    text: str, wanted: set[str], limit: int, count: Count
) -> None:
    made = excerpt(text, wanted, limit, count)
    assert made == "" or count(made) <= limit


@given(texts, wanteds, st.integers(1, 80))
def test_something_is_always_shown(text: str, wanted: set[str], limit: int) -> None:
    made = excerpt(text, wanted, limit, by_words)
    assert bool(made.strip()) == bool(text.strip())


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=80), st.integers(1, 20))
def test_a_character_is_shown_where_one_fits(text: str, limit: int) -> None:
    assert bool(excerpt(text, (), limit, len).strip()) == bool(text.strip())


@given(texts, wanteds, st.integers(1, 80), counters)
def test_a_text_that_fits_is_shown_as_it_is(text: str, wanted: set[str], limit: int, count: Count) -> None:
    if count(text) <= limit and text.strip():
        assert excerpt(text, wanted, limit, count) == text


@given(
    texts.map(lambda text: text.replace("…", "")),
    wanteds,
    st.integers(4, 60),
    st.sampled_from([len, by_pairs]),
)
@example(" \u0301", set(), 4, len)
def test_an_excerpt_is_made_of_pieces_in_their_order_cut_between_characters(
    text: str, wanted: set[str], limit: int, count: Count
) -> None:
    made = excerpt(text, wanted, limit, count)
    at = 0
    # A blank with a mark on it is one character: it stays with its mark.
    for piece in filter(
        None, (re.sub(r"^\s+(?![\u0300-\u036f])|\s+$", "", part) for part in made.split("…"))
    ):
        places = [place for place in range(at, len(text)) if text.startswith(piece, place)]
        assert places
        assert any(not is_inside(text, place) and not is_inside(text, place + len(piece)) for place in places)
        at = places[0] + len(piece)


@given(
    st.lists(st.sampled_from(["one", "two", "budget", "tuna,", "end."]), min_size=4, max_size=60),
    st.integers(3, 30),
)
def test_words_are_not_cut_where_there_are_blanks(words: list[str], limit: int) -> None:
    made = excerpt(" ".join(words), {"budget", "tuna"}, limit, by_words)
    assert {word.strip("….,") for word in made.split()} - {""} <= {word.strip(".,") for word in words}


@given(texts, wanteds, st.integers(1, 60), counters)
def test_a_function_and_a_set_of_words_show_the_same(
    text: str, wanted: set[str], limit: int, count: Count
) -> None:
    text = re.sub("[\u0e00-\uffff]", "", text)
    assert excerpt(text, wanted, limit, count) == excerpt(
        text, lambda word: word.casefold() in wanted, limit, count
    )


def test_what_matched_is_shown() -> None:
    assert excerpt(STORY, {"budget", "tuna"}, 12, by_words) == (
        "… Anna said that the budget for the … likes tuna."
    )
    assert excerpt(STORY, {"PLUMBER"}, 14, by_words) == (
        "… On Monday the plumber comes to repair the kitchen sink; he wants …"
    )
    assert excerpt(STORY, {"budget"}, 1, by_words) == "budget…"


def test_the_window_with_most_different_words_is_taken_first() -> None:
    text = (
        "tuna tuna tuna tuna. "
        + "filler words stand here. " * 40
        + "The budget of the tuna. "
        + "More words. " * 40
    )
    assert "The budget of the tuna." in excerpt(text, {"budget", "tuna"}, 8, by_words)


def test_without_a_match_the_beginning_is_shown() -> None:
    assert excerpt(STORY, {"nothing like it"}, 6, by_words) == "We met at the station. …"


@pytest.mark.parametrize(
    "wanted", [{"金枪鱼"}, lambda word: word in ("金枪", "枪鱼")], ids=["set", "function"]
)
def test_a_script_without_blanks_is_shortened_around_its_match(
    wanted: set[str] | Callable[[str], bool],
) -> None:
    text = "我们昨天在车站见面。安娜说花园的预算是三百欧元。然后我们回家睡觉了。猫叫咪咪，它喜欢金枪鱼。"
    made = excerpt(text, wanted, 16, len)
    assert "金枪鱼" in made
    assert made.startswith("…")
    assert "ปลา" in excerpt("แมวชอบกินปลาทูน่าและนอนหลับในสวนทุกวัน", {"ปลา"}, 8, len)


def test_a_single_wide_character_is_asked_about() -> None:
    assert "猫" in excerpt("one two three four 猫 five six seven", lambda word: word == "猫", 3, by_words)


def test_nothing_is_shown_where_nothing_fits() -> None:
    assert excerpt("word", (), 1, with_start) == ""
    assert excerpt("word", (), 0, len) == ""
    assert excerpt("  ", (), 5, len) == ""
    assert (
        excerpt("e\u0301\u0301\u0301", (), 1, len) == "e" or excerpt("e\u0301\u0301\u0301", (), 1, len) == "…"
    )


def test_shortening_takes_linear_time() -> None:
    def check(text: str) -> None:
        def work(size: int) -> Callable[[], object]:
            long = text * (size // len(text)) + "budget"
            return lambda: excerpt(long, {"budget", "预算", "another"}, 40, len)

        assert growth(work, 8_000) < LINEAR

    check_rows(check, some(["word and another. ", "预算和金枪鱼。", "x", "e\u0301", "🇩🇪", "budget "], 3))


# --- several texts ---------------------------------------------------------------------


def shorten_for(count: Count) -> Callable[[str, int], str]:
    return lambda text, limit: excerpt(text, {"budget", "tuna"}, limit, count)


@given(st.lists(texts, max_size=12), st.integers(-1, 150), counters)
def test_packed_texts_never_cost_more_than_the_budget(many: list[str], budget: int, count: Count) -> None:
    packed = pack(many, budget, count, shorten_for(count))
    assert not packed or count("\n\n".join(text for _, text in packed)) <= budget
    assert [index for index, _ in packed] == sorted({index for index, _ in packed})
    assert all(text.strip() for _, text in packed)


@given(st.lists(texts, max_size=8), st.integers(1, 60))
def test_at_least_one_is_packed(many: list[str], budget: int) -> None:
    packed = pack(many, budget, by_words, shorten_for(by_words))
    assert bool(packed) == any(text.strip() for text in many)
    if packed:
        assert packed[0][0] == next(index for index, text in enumerate(many) if text.strip())


@given(st.lists(texts, max_size=8), st.integers(1, 90), counters)
def test_whatever_shortens_badly_does_no_harm(many: list[str], budget: int, count: Count) -> None:
    for shorten in (lambda text, limit: text, lambda text, limit: ""):
        packed = pack(many, budget, count, shorten)
        assert not packed or count("\n\n".join(text for _, text in packed)) <= budget


def test_all_are_whole_where_all_fit() -> None:
    many = [STORY, "short", "", "last"]
    assert pack(many, 1000, len, shorten_for(len)) == [(0, STORY), (1, "short"), (3, "last")]


def test_a_long_text_is_shortened_and_leaves_room_for_the_next() -> None:
    packed = pack([STORY * 4, "a short one", STORY * 3], 60, by_words, shorten_for(by_words))
    assert [index for index, _ in packed] == [0, 1, 2]
    assert "budget" in packed[0][1]
    assert packed[1][1] == "a short one"
    assert by_words("\n\n".join(text for _, text in packed)) > 50


def test_a_small_one_may_come_after_one_that_was_too_long() -> None:
    first = "word " * 40
    packed = pack([first, STORY, "small"], 40 + LEAST - 4, by_words, shorten_for(by_words))
    assert packed == [(0, first), (2, "small")]


def test_what_nobody_took_goes_back_to_what_was_shortened() -> None:
    packed = pack([STORY * 3, "one"], 80, by_words, shorten_for(by_words))
    assert by_words(packed[0][1]) > 60


# --- what a reader sees as one character -----------------------------------------------

CLUSTERS = (
    *(
        "e\u0301\u0302",
        "\r\n",
        "👍🏽",
        "🇩🇪",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "❤\ufe0f",
        "กำ",
        "नि",
        "स्ते",
    ),
    *(
        "\ud83d\ude00",
        "\u1100\u1161\u11a8",
        "\uac00\u11a8",
        "\U0001f3f4\U000e0067\U000e0062\U000e007f",
        "1\ufe0f\u20e3",
    ),
)


@given(st.lists(st.sampled_from((*CLUSTERS, "a", " ", "猫", "각")), max_size=8), st.integers(0, 60))
def test_a_place_is_moved_to_the_bounds_of_its_character(clusters: list[str], at: int) -> None:
    text = "".join(clusters)
    at = min(at, len(text))
    bounds = [len("".join(clusters[:number])) for number in range(len(clusters) + 1)]
    assert floor(text, at) == max(bound for bound in bounds if bound <= at)
    assert ceil(text, at) == min(bound for bound in bounds if bound >= at)
