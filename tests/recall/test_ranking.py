"""The ranking: an order that follows from what is asked, and a score that says whether there is an answer at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.base.policy import Ranking
from looseleaf.index.protocol import Corpus, Doc
from looseleaf.language.terms import Word
from looseleaf.recall.ranking import Query, Scored, rank, strip_speakers
from tables import check_rows

WEIGHTS = Ranking()
DAY = 86_400.0
FILLER = "lorem ipsum dolor"


def doc(
    item: int,
    terms: str,
    session: int | None = None,
    seq: int = 0,
    *,
    speaker: str = "",
    role: str = "user",
    kind: str = "trace",
    ts: float | None = None,
) -> Doc:
    return Doc(item, terms, session, seq, speaker, role, kind, ts, None)


def asked(*words: str, speakers: Sequence[str] = (), span: tuple[float, float, float] | None = None) -> Query:
    return Query(tuple(Word(word, ((word, 1.0),), 1.0) for word in words), frozenset(speakers), span)


def corpus(docs: Sequence[Doc], items: int = 1000) -> Corpus:
    """As if these were the only ones of so many that have the asked terms."""
    df = Counter(term for each in docs for term in set(each.terms.split()))
    lengths: dict[tuple[str, str], list[int]] = {}
    for each in docs:
        lengths.setdefault((each.kind, each.role), []).append(len(each.terms.split()))
    means = {sort: sum(found) / len(found) for sort, found in lengths.items()}
    total = sum(sum(found) for found in lengths.values())
    return Corpus(items, total * items // max(len(docs), 1), df, means)


def ranked(question: Query, docs: Sequence[Doc], **more: Any) -> list[Scored]:
    return rank(question, docs, corpus(docs), more.pop("weights", WEIGHTS), **more)


def told(found: Sequence[Scored]) -> list[tuple[Any, ...]]:
    return [(each.id, each.score, each.parts) for each in found]


def order(question: Query, docs: Sequence[Doc], **more: Any) -> list[int]:
    return [each.id for each in ranked(question, docs, **more)]


def talk(*texts: str, session: int = 1, **more: Any) -> list[Doc]:
    return [doc(session * 100 + seq, text, session, seq, **more) for seq, text in enumerate(texts)]


# --- properties ----------------------------------------------------------------------------

terms = st.lists(st.sampled_from("tea milk sugar boat sail wind home".split()), max_size=6).map(" ".join)
moments = st.none() | st.floats(0, 1e9)


@st.composite
def memories(draw: st.DrawFn) -> list[Doc]:
    made = []
    for session in range(draw(st.integers(1, 3))):
        for seq, text in enumerate(draw(st.lists(terms, max_size=5))):
            speaker, role = draw(
                st.sampled_from([("", "user"), ("ann", "user"), ("bob", "assistant"), ("", "tool")])
            )
            made.append(
                doc(session * 100 + seq, text, session, seq, speaker=speaker, role=role, ts=draw(moments))
            )
    for number, text in enumerate(draw(st.lists(terms, max_size=4))):
        kind = draw(st.sampled_from("fact prose episode day entry".split()))
        made.append(doc(1000 + number, text, kind=kind, role="", ts=draw(moments)))
    return made


@st.composite
def questions(draw: st.DrawFn) -> Query:
    words = draw(st.lists(st.sampled_from("tea milk sugar boat rain ann".split()), max_size=4, unique=True))
    first, length = draw(st.floats(0, 1e9)), draw(st.floats(0, 1e8))
    span = draw(st.none() | st.just((first, first + length, draw(st.floats(0, 1)))))
    return asked(*words, speakers=draw(st.sampled_from([(), ("ann",), ("ann", "bob")])), span=span)


def likenesses(docs: Sequence[Doc]) -> st.SearchStrategy[dict[int, float] | None]:
    if not docs:
        return st.none()
    return st.none() | st.dictionaries(st.sampled_from([each.id for each in docs]), st.floats(-1, 1))


@given(st.data(), memories(), questions())
def test_scores_fall_from_the_first_to_the_last_between_0_and_1(
    data: st.DataObject, docs: list[Doc], question: Query
) -> None:
    found = ranked(question, docs, cosines=data.draw(likenesses(docs)))
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert len({each.id for each in found}) == len(found)


@given(st.data(), memories(), questions())
def test_the_order_of_the_items_handed_in_does_not_matter(
    data: st.DataObject, docs: list[Doc], question: Query
) -> None:
    like = data.draw(likenesses(docs))
    shuffled = data.draw(st.permutations(docs))
    one, other = (rank(question, each, corpus(docs), WEIGHTS, like, limit=5) for each in (docs, shuffled))
    assert [each.id for each in one] == [each.id for each in other]
    assert [each.score for each in one] == pytest.approx([each.score for each in other])


@given(st.data(), memories(), questions())
def test_the_parts_of_two_items_stand_to_each_other_as_their_scores_do(
    data: st.DataObject, docs: list[Doc], question: Query
) -> None:
    found = ranked(question, docs, cosines=data.draw(likenesses(docs)))
    for each in found:
        share = sum(each.parts.values()) / sum(found[0].parts.values())
        assert each.score == pytest.approx(found[0].score * share, abs=1e-6)


@given(memories(), questions(), st.integers(0, 10))
def test_a_limit_cuts_the_end_off_and_changes_nothing_else(
    docs: list[Doc], question: Query, limit: int
) -> None:
    assert told(ranked(question, docs, limit=limit)) == told(ranked(question, docs)[:limit])


@given(memories())
def test_what_shares_nothing_with_the_question_is_not_found(docs: list[Doc]) -> None:
    assert ranked(asked("volcano"), docs) == []


@given(memories(), st.sampled_from("tea milk boat".split()))
def test_what_has_the_word_is_found(docs: list[Doc], word: str) -> None:
    assert {each.id for each in docs if word in each.terms.split()} <= set(order(asked(word), docs))


# --- words ---------------------------------------------------------------------------------


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    docs = [
        doc(1, f"zebra {FILLER}"),
        doc(2, f"tea {FILLER}"),
        *(doc(n, f"tea {FILLER} x") for n in range(3, 9)),
    ]
    assert order(asked("tea", "zebra"), docs)[0] == 1


def test_two_words_found_once_count_more_than_one_found_often() -> None:
    docs = [doc(1, "tea tea tea tea dolor"), doc(2, "tea milk lorem ipsum dolor"), doc(3, "milk lorem")]
    assert order(asked("tea", "milk"), docs)[0] == 2


def test_a_doubtful_form_of_a_word_counts_less() -> None:
    question = Query((Word("colour", (("colour", 1.0), ("color", 0.6)), 1.0),), frozenset(), None)
    assert order(question, [doc(1, f"color {FILLER}"), doc(2, f"colour {FILLER}")]) == [2, 1]


def test_a_word_asked_twice_counts_once() -> None:
    docs = [doc(1, f"win {FILLER}"), doc(2, f"race {FILLER}"), doc(3, f"race {FILLER} x")]
    twice = Query(
        (
            Word("win", (("win", 1.0),), 1.0),
            Word("won", (("win", 1.0),), 1.0),
            Word("race", (("race", 1.0),), 1.0),
        ),
        frozenset(),
        None,
    )
    once = twice._replace(words=(twice.words[0], twice.words[2]))
    assert told(ranked(twice, docs)) == told(ranked(once, docs))


def test_a_compound_may_be_all_that_was_asked_for() -> None:
    words = (
        Word("sleutel", (("sleutel", 1.0), ("fietssleutel", 0.6)), 1.0),
        Word("fiets", (("fiets", 1.0), ("fietssleutel", 0.6)), 1.0),
    )
    docs = [doc(1, f"fietssleutel {FILLER}")]
    both, one = (ranked(Query(each, frozenset(), None), docs)[0] for each in (words, words[:1]))
    assert both.parts["words"] == pytest.approx(2 * one.parts["words"])
    assert both.score > WEIGHTS.abstain


def test_a_word_that_matters_less_is_worth_less() -> None:
    docs = [doc(1, f"may {FILLER}"), doc(2, f"boat {FILLER}")]
    question = asked("may", "boat")
    may, boat = question.words
    assert order(question._replace(words=(may._replace(weight=0.5), boat)), docs) == [2, 1]
    assert order(question._replace(words=(may, boat._replace(weight=0.5))), docs) == [1, 2]


def test_length_counts_more_where_items_are_long() -> None:
    """What an item twice as long as usual is left of one half as long."""

    def left(usual: int) -> float:
        docs = [doc(1, "tea" + " x" * (usual // 2)), doc(2, "tea" + " x" * (2 * usual))]
        whole = Corpus(1000, 1000 * usual, {"tea": 2}, {("trace", "user"): float(usual)})
        short, long = rank(asked("tea"), docs, whole, Ranking(substance=0.0))
        assert (short.id, long.id) == (1, 2)
        return long.score / short.score

    assert left(500) == pytest.approx(left(150), abs=0.02)
    assert left(150) + 0.02 < left(40) < left(12) - 0.02
    assert left(6) == pytest.approx(left(12), abs=0.02)


# --- around --------------------------------------------------------------------------------


def test_an_answer_is_found_by_its_question() -> None:
    docs = [
        *talk(f"which boat {FILLER}", "the red one", "thanks"),
        *talk("the blue one", "thanks", session=2),
    ]
    assert order(asked("boat"), docs)[:2] == [100, 101]
    assert 200 not in order(asked("boat"), docs)


def test_words_around_an_item_count_with_its_own() -> None:
    docs = [*talk(f"boat {FILLER}", f"harbour {FILLER}"), *talk(f"harbour {FILLER}", "lorem", session=2)]
    found = ranked(asked("boat", "harbour"), docs)
    assert {found[0].id, found[1].id} == {100, 101}
    assert found[0].parts["neighbours"] > 0


def test_the_nearer_the_neighbour_the_more_it_counts() -> None:
    docs = talk("lorem ipsum", "lorem ipsum", "boat ipsum", "lorem ipsum", "lorem ipsum", "lorem ipsum")
    scores = {each.id: each.score for each in ranked(asked("boat"), docs)}
    assert scores[102] > scores[103] > scores[104]
    assert scores[102] > scores[101] > scores[100]
    assert 105 not in scores


def test_the_last_item_of_a_session_is_no_neighbour_of_the_next() -> None:
    docs = [*talk("lorem", "boat"), *talk("ipsum", "dolor", session=2)]
    assert set(order(asked("boat"), docs)) == {100, 101}


def test_items_without_a_session_are_nobodys_neighbours() -> None:
    docs = [
        doc(1, "boat", kind="fact", role=""),
        doc(2, "lorem", kind="fact", role=""),
        *talk("ipsum", session=0),
    ]
    assert order(asked("boat"), docs) == [1]


def test_a_session_about_the_matter_speaks_for_its_items() -> None:
    about = talk("boat lorem", "x y", "x y", "x y", "harbour boat", "x y", "x y", "x y", "sail ipsum")
    aside = talk("lorem", "x", "x", "sail ipsum", session=2)
    found = order(asked("boat", "harbour", "sail"), [*about, *aside])
    assert found.index(108) < found.index(203)


def test_an_item_that_says_next_to_nothing_comes_after_one_that_does() -> None:
    docs = talk("thanks", "boat lorem ipsum", "red lorem ipsum dolor sit")
    weights = Ranking(before=0.4, after=0.4)
    assert order(asked("boat"), docs, weights=weights) == [101, 102, 100]


# --- who and when --------------------------------------------------------------------------


def test_what_the_named_speaker_said_comes_first() -> None:
    docs = [*talk(f"boat {FILLER}", speaker="ann"), *talk(f"boat {FILLER}", session=2, speaker="bob")]
    assert order(asked("boat", "ann", speakers=["ann"]), docs) == [100, 200]
    assert order(asked("boat", "bob", speakers=["bob"]), docs) == [200, 100]


def test_what_was_said_to_the_named_speaker_comes_second() -> None:
    with_ann = [doc(1, f"boat {FILLER}", 1, 0, speaker="bob"), doc(2, "lorem", 1, 5, speaker="ann")]
    without = [doc(3, f"boat {FILLER}", 2, 0, speaker="bob"), doc(4, "lorem", 2, 5, speaker="cid")]
    by_ann = [doc(5, f"boat {FILLER}", 3, 0, speaker="ann")]
    assert order(asked("boat", "ann", speakers=["ann"]), [*without, *with_ann, *by_ann])[:3] == [5, 1, 3]


def test_a_name_called_out_is_no_answer() -> None:
    docs = [doc(1, f"ann {FILLER}", 1, 0, speaker="bob"), doc(2, f"boat {FILLER}", 1, 9, speaker="ann")]
    assert order(asked("ann", "boat", speakers=["ann"]), docs) == [2, 1]


def test_nobody_is_the_speaker_without_a_name() -> None:
    docs = [doc(1, f"boat {FILLER}"), doc(2, f"boat {FILLER}")]
    assert all("speaker" not in each.parts for each in ranked(asked("boat", speakers=[""]), docs))


def test_what_is_of_the_asked_time_comes_first() -> None:
    docs = [doc(n, f"boat {FILLER}", ts=n * 100 * DAY) for n in (1, 2, 3)]
    assert order(asked("boat", span=(200 * DAY, 201 * DAY, 1.0)), docs)[0] == 2
    assert order(asked("boat", span=(100 * DAY, 101 * DAY, 1.0)), docs)[0] == 1


def test_what_is_of_the_asked_time_is_found_without_a_word() -> None:
    docs = [doc(1, FILLER, ts=DAY), doc(2, FILLER, ts=900 * DAY), doc(3, FILLER)]
    found = ranked(asked(span=(0.0, 2 * DAY, 1.0)), docs)
    assert found[0].id == 1
    assert found[0].score >= WEIGHTS.abstain
    assert 3 not in {each.id for each in found}


def test_a_time_said_less_plainly_counts_less() -> None:
    docs = [doc(1, FILLER, ts=DAY), doc(2, f"boat {FILLER}", ts=900 * DAY)]

    def dated(strength: float) -> float:
        found = {each.id: each for each in ranked(asked("boat", span=(0.0, 2 * DAY, strength)), docs)}
        return sum(found[1].parts.values())

    assert dated(0.3) < dated(1.0)


def test_people_tell_of_things_later_rather_than_before() -> None:
    docs = [doc(1, f"boat {FILLER}", ts=90 * DAY), doc(2, f"boat {FILLER}", ts=111 * DAY)]
    assert order(asked("boat", span=(100 * DAY, 101 * DAY, 1.0)), docs) == [2, 1]


def test_of_equals_the_newest_comes_first() -> None:
    docs = [doc(n, f"boat {FILLER}", ts=n * DAY) for n in (1, 3, 2)]
    assert order(asked("boat"), docs) == [3, 2, 1]


def test_equals_at_the_limit_are_chosen_by_what_they_are() -> None:
    docs = [doc(n, f"boat {FILLER}") for n in range(9)]
    assert order(asked("boat"), docs, limit=3) == order(asked("boat"), docs[::-1], limit=3) == [0, 1, 2]


# --- sorts of items ------------------------------------------------------------------------


def test_long_answers_count_less_than_what_the_user_said() -> None:
    docs = [doc(1, "boat" + " x" * 60, role="assistant"), doc(2, "boat" + " x" * 60, role="user")]
    means = {("trace", "user"): 20.0, ("trace", "assistant"): 200.0}
    found = rank(asked("boat"), docs, Corpus(1000, 110_000, {"boat": 2}, means), WEIGHTS)
    assert [each.id for each in found] == [2, 1]
    assert found[1].parts["kind"] < 0


def test_what_a_long_answer_mentions_counts_less_for_what_stands_beside_it() -> None:
    long = "boat" + " x" * 60
    docs = [
        doc(1, long, 1, 0, role="assistant"),
        doc(2, FILLER, 1, 1),
        doc(3, long, 2, 0),
        doc(4, FILLER, 2, 1),
    ]
    means = {("trace", "user"): 20.0, ("trace", "assistant"): 200.0}
    found = rank(asked("boat"), docs, Corpus(1000, 110_000, {"boat": 2}, means), WEIGHTS)
    parts = {each.id: each.parts for each in found}
    assert parts[2]["neighbours"] < parts[4]["neighbours"]
    assert parts[2]["session"] < parts[4]["session"]


def test_answers_as_short_as_what_the_user_said_count_alike() -> None:
    docs = [doc(1, f"boat {FILLER}", role="assistant"), doc(2, f"boat {FILLER}", role="user")]
    one, other = ranked(asked("boat"), docs)
    assert one.score == other.score


def test_the_output_of_a_tool_comes_after_what_was_said() -> None:
    docs = [doc(1, f"boat {FILLER}", role="tool"), doc(2, f"boat {FILLER}")]
    assert order(asked("boat"), docs) == [2, 1]


def test_a_fact_comes_before_the_talk_it_was_drawn_from() -> None:
    docs = [doc(1, "boat red"), doc(2, "boat red", kind="fact", role="")]
    assert order(asked("boat"), docs) == [2, 1]


# --- meaning -------------------------------------------------------------------------------


def test_what_means_the_same_is_found_without_a_word() -> None:
    docs = [doc(1, f"ship {FILLER}"), doc(2, f"boat {FILLER}"), doc(3, FILLER)]
    found = ranked(asked("boat"), docs, cosines={1: 0.8, 2: 0.7, 3: 0.1})
    assert [each.id for each in found] == [2, 1, 3]
    assert found[1].parts == {"meaning": pytest.approx(sum(found[1].parts.values()))}


def test_likeness_is_measured_from_the_least_to_the_most() -> None:
    docs = [doc(1, f"boat {FILLER}"), doc(2, f"boat {FILLER}")]
    near, far = {1: 0.81, 2: 0.80}, {1: 0.9, 2: 0.1}
    one, other = (ranked(asked("boat"), docs, cosines=each) for each in (near, far))
    assert [(each.id, each.parts) for each in one] == [(each.id, each.parts) for each in other]


def test_the_only_item_at_hand_is_the_likest() -> None:
    assert ranked(asked("boat"), [doc(1, FILLER)], cosines={1: 0.8})[0].score > 0.9


def test_the_likeness_of_neighbours_counts_with_an_items_own() -> None:
    docs = [*talk("lorem", "ipsum", "dolor"), *talk("lorem", "ipsum", "dolor", session=2)]
    like = {100: 0.5, 101: 0.6, 102: 0.5, 200: 0.1, 201: 0.6, 202: 0.1}
    assert order(asked("boat"), docs, cosines=like)[:1] == [101]


def test_what_the_named_speaker_said_is_likelier_meant() -> None:
    docs = [doc(1, FILLER, 1, 0, speaker="ann"), doc(2, FILLER, 1, 9, speaker="bob"), doc(3, FILLER)]
    question = asked("ann", speakers=["ann"])
    assert order(question, docs, cosines={1: 0.5, 2: 0.5, 3: 0.1}) == [1, 2, 3]
    assert order(asked("ann"), docs, cosines={1: 0.5, 2: 0.6, 3: 0.1}) == [2, 1, 3]


def test_likeness_alone_makes_an_answer_if_it_is_great() -> None:
    docs = [doc(1, FILLER), doc(2, FILLER)]
    assert ranked(asked("boat"), docs, cosines={1: 0.7, 2: 0.0})[0].score > WEIGHTS.abstain
    assert ranked(asked("boat"), docs, cosines={1: 0.1, 2: 0.0})[0].score < WEIGHTS.abstain


def test_likeness_to_items_that_are_not_at_hand_changes_nothing() -> None:
    docs = [doc(1, f"boat {FILLER}"), doc(2, f"boat {FILLER} x")]
    assert order(asked("boat"), docs, cosines={9: 0.5}) == order(asked("boat"), docs)


def test_a_question_is_about_something_else_than_the_names_in_it() -> None:
    def check(query: str, speakers: set[str], left: str) -> None:
        assert " ".join(strip_speakers(query, speakers).split()) == left

    check_rows(
        check,
        [
            ("What did Ann's boat cost?", {"ann"}, "What did boat cost?"),
            ("Where is Anna?", {"ann"}, "Where is Anna?"),
            ("Did ZHANG SAN call Ann’s mother?", {"zhang san", "ann"}, "Did call mother?"),
            ("Where is the boat?", set(), "Where is the boat?"),
            ("Ann?", {"ann"}, "Ann?"),
            ("What of C++ (x)?", {"c++"}, "What of (x)?"),
        ],
    )


# --- whether there is an answer ------------------------------------------------------------


def sure(question: Query, docs: Sequence[Doc], items: int = 1000) -> float:
    found = rank(question, docs, corpus(docs, items), WEIGHTS)
    return found[0].score if found else 0.0


def test_a_question_found_whole_has_an_answer_and_one_found_in_part_has_none() -> None:
    docs = talk(f"the red boat left the harbour {FILLER}", "lorem")
    assert sure(asked("red", "boat", "harbour"), docs) > 0.9
    assert sure(asked("red", "dwarf", "hydrogen", "fusion", "temperature"), docs) < WEIGHTS.abstain


def test_a_question_of_no_words_is_no_question() -> None:
    docs = talk(f"red boat {FILLER}")
    assert sure(asked(), docs) == 0.0
    assert ranked(asked(), docs, cosines={100: 0.05, 101: 0.01})[0].score < WEIGHTS.abstain


@given(st.integers(0, 4))
def test_the_more_of_a_question_is_unknown_the_less_sure_it_is(unknown: int) -> None:
    docs = talk(f"red boat {FILLER}")
    more = [f"word{number}" for number in range(unknown + 1)]
    assert sure(asked("red", "boat", *more), docs) < sure(asked("red", "boat", *more[1:]), docs)


def test_a_guessed_word_makes_less_sure_than_the_word_itself() -> None:
    """Another spelling that does stand somewhere is no proof that this was meant."""
    guess = Word("comet", (("comet", 1.0), ("come", 0.8)), 1.0)
    question = Query((guess, *asked("halley").words), frozenset(), None)
    guessed, found = talk(f"come {FILLER}"), talk(f"comet {FILLER}")
    assert sure(question, guessed) < sure(question, found)
    assert sure(question, talk(f"come comet {FILLER}")) == pytest.approx(sure(question, found), rel=0.05)
    longer = question._replace(words=(*question.words, *asked("tail").words))
    assert sure(longer, guessed) < WEIGHTS.abstain < sure(longer, talk(f"come halley {FILLER}"))


def test_the_same_finding_is_less_sure_among_more_items() -> None:
    docs = talk(f"red boat {FILLER}")
    question = asked("red", "boat", "sunk", "yesterday")
    assert sure(question, docs, 1_000_000) < sure(question, docs, 100)


def test_a_known_name_alone_is_no_answer() -> None:
    docs = [doc(1, f"ann {FILLER}", 1, 0, speaker="bob"), doc(2, f"hello {FILLER}", 1, 1, speaker="ann")]
    assert sure(asked("ann", "blood", "group", "donor", speakers=["ann"]), docs) < WEIGHTS.abstain


def test_a_question_that_says_who_speaks_is_surer_where_he_does() -> None:
    docs = talk(f"red boat {FILLER}", speaker="ann")
    unknown = asked("zed", "red", "boat", "harbour", "captain")
    known = asked("ann", "red", "boat", "harbour", "captain", speakers=["ann"])
    assert sure(known, docs) > sure(unknown, docs)


# --- time ----------------------------------------------------------------------------------


def test_time_grows_with_the_number_of_items_and_their_length() -> None:
    def many(size: int) -> Callable[[], object]:
        docs = [doc(n, f"boat {FILLER}", n // 20, n % 20, ts=float(n)) for n in range(size)]
        known = corpus(docs)
        return lambda: rank(asked("boat", "lorem"), docs, known, WEIGHTS)

    def long(size: int) -> Callable[[], object]:
        docs = [doc(n, "boat lorem x y " * size, 1, n) for n in range(10)]
        known = corpus(docs)
        return lambda: rank(asked("boat", "lorem"), docs, known, WEIGHTS)

    assert growth(many, 200) < LINEAR
    assert growth(long, 50) < LINEAR
