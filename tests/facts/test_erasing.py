"""Which lines an order to forget means: by their words, by what they are about, by when they were said."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distill.test_forbidding import say, told
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.distill.forbidding import forbidden, named_terms, order_of
from looseleaf.distill.selector import Scores, is_formed, is_of_work, select
from looseleaf.distill.slot_tables import lexicon
from looseleaf.facts.replacing import MEANT, SURELY_MEANT, HeldLine, Order, erasing_signs, find_meant
from looseleaf.text.lines import undoubted
from placing import THEN
from tables import check_rows, in_folders

LINES = (
    "I play chess every tuesday at the club", "my sister Odile runs a bakery", "the PIN of mum's card is 3388",
    "I'm a Jehovah's Witness", "our staging server is called heron", "I prefer short answers", "用 postgres 数据库", "",
)  # fmt: skip
TEXTS = st.one_of(st.sampled_from(LINES), st.text(max_size=60))
CHANCES = st.floats(0, 1)


def order(
    said: str, *, forbid: float = 0.95, erase: float = 0.98, last: float = 0.05, rest: int = 0
) -> Order:
    return Order(said, forbid, erase, last, named_terms(said), rest)


def meant(said: Order | str, *lines: str | HeldLine) -> list[str]:
    given_lines = [each if isinstance(each, HeldLine) else HeldLine(each) for each in lines]
    found = find_meant(said if isinstance(said, Order) else order(said), given_lines, lexicon())
    return [given_lines[at].words for at, chance in sorted(found.items()) if chance >= MEANT]


# --- which lines ---------------------------------------------------------------------------


def test_a_line_is_meant_by_its_words_or_by_what_it_is_about() -> None:
    def check(said: str, line: int) -> None:
        assert meant(said, *LINES[:6]) == [LINES[line]]

    check_rows(
        check,
        [
            ("forget that I play chess", 0),
            ("anything about Odile, get rid of it", 1),
            ("wipe that PIN", 2),
            ("please delete my religion from your memory", 3),
            ("drop everything about heron", 4),
        ],
    )


def test_what_names_nothing_means_the_message_before() -> None:
    last = HeldLine("my salary is 93417", is_last=True)
    assert meant(order("scratch that, you never heard it", last=0.95), *LINES[:5], last) == [last.words]


def test_what_names_another_line_or_says_more_does_not_mean_the_message_before() -> None:
    last = HeldLine("my salary is 93417", is_last=True)
    assert last.words not in meant(order("forget that I play chess", last=0.95), *LINES[:5], last)
    assert meant(order("off you go", last=0.95, rest=9), *LINES[:5], last) == []
    assert meant(order("keep this between us", erase=0.1, last=0.95), *LINES[:5], last) == []


@settings(deadline=None)
@given(TEXTS, CHANCES, CHANCES, CHANCES, st.lists(st.tuples(TEXTS, st.booleans()), max_size=6))
def test_chances_lie_between_0_and_1_and_do_not_depend_on_the_order_of_the_lines(
    said: str, forbid: float, erase: float, last: float, lines: list[tuple[str, bool]]
) -> None:
    one = Order(said, forbid, erase, last, named_terms(said))
    every = [HeldLine(words, is_last=is_last) for words, is_last in lines]
    found = find_meant(one, every, lexicon())
    assert all(0 <= chance <= 1 and 0 <= at < len(every) for at, chance in found.items())
    turned = find_meant(one, every[::-1], lexicon())
    assert {len(every) - 1 - at: round(chance, 9) for at, chance in turned.items()} == {
        at: round(chance, 9) for at, chance in found.items()
    }


@given(TEXTS, st.lists(TEXTS, max_size=6))
def test_only_lines_that_share_something_can_be_meant(said: str, lines: list[str]) -> None:
    one = order(said)
    for at, signs in erasing_signs(one, [HeldLine(line) for line in lines], lexicon()):
        assert signs["shared"] > 0 or signs["aspects"] > 0 or one.named & named_terms(lines[at])


def test_the_time_grows_hardly_faster_than_the_number_of_lines() -> None:
    def took(count: int) -> float:
        lines = [HeldLine(f"line {number} tells of chess and of heron {number}") for number in range(count)]
        start = time.process_time()
        find_meant(order("forget that I play chess"), lines, lexicon())
        return time.process_time() - start

    took(10)
    assert took(8000) < 40 * took(800)


# --- orders --------------------------------------------------------------------------------


def scores(forbid: float, erase: float = 0.9) -> Scores:
    return Scores(0.0, 0.0, forbid, 0.0, (), erase, 0.1)


def test_an_order_that_names_nothing_is_about_the_sentences_around_it() -> None:
    said = ["You brought up the dolls in front of everybody.", "Delete that."]
    found = order_of([(said[1], scores(0.9))], said)
    assert found is not None
    assert found.named >= named_terms("dolls")
    assert order_of([], said) is None


def test_the_rest_of_a_long_message_is_not_what_an_order_names() -> None:
    said = [f"The heron server number {number} needs a new disk." for number in range(9)]
    found = order_of([("Forget that I play chess.", scores(0.9))], ["Forget that I play chess.", *said])
    assert found is not None
    assert found.named == named_terms("Forget that I play chess.")
    assert found.rest > 9


def test_a_form_of_forbidding_is_told_apart_from_work_and_from_what_is_not_to_be_forgotten() -> None:
    def check(said: str, is_so: bool) -> None:
        assert is_formed(said) is is_so

    check_rows(
        check,
        [
            ("off the record, I'm leaving", True),
            ("vergiss bitte, dass ich Schach spiele", True),
            ("不要记住这个", True),
            ("don't forget that I play chess", False),
            ("delete that function from the file", False),
            ("I play chess", False),
        ],
    )


def test_a_sentence_about_files_is_not_about_work_if_it_speaks_of_memory() -> None:
    assert is_of_work("delete the second file")
    assert not is_of_work("delete from your memory what I said about the file")


def test_a_clause_that_forbids_is_heard_in_a_long_sentence() -> None:
    long = "we went through the whole of last quarter's numbers with the people from the bank in the big room upstairs"
    assert select(long).forbid < 0.3 < 0.7 < select(f"off the record, {long}").forbid


# --- obeying -------------------------------------------------------------------------------


def test_a_line_that_a_person_confirmed_goes_only_if_it_is_surely_meant(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "looseleaf.place.corrections.find_meant",
        lambda order, lines, lexicon: dict.fromkeys(range(99), (MEANT + SURELY_MEANT) / 2),
    )
    with Memory(place / "memory") as memory:
        memory.remember("I live in Lyon.")
        say(memory, "My boss is called Molar.", THEN)
        say(memory, "Forget that I play chess.", THEN + 1000)
        facts = [each.object for each in memory.facts()]
        assert "Lyon" in facts
        assert "Molar" not in facts


@pytest.mark.parametrize("said", ["Forget that I play chess.", "wipe that PIN", "Forget what I just said."])
def test_obeying_twice_takes_nothing_more(place: Path, said: str) -> None:
    with Memory(place / "memory") as memory:
        for number, line in enumerate(LINES[:6]):
            say(memory, f"{line}.", THEN + 1000 * number)
        trace = say(memory, said, THEN + 50_000)
        assert forbidden(said) is not None
        once = told(memory)
        assert memory.parts.obey(trace) == 0
        assert told(memory) == once


def test_talk_of_forgetting_and_of_others_takes_nothing_away(place: Path) -> None:
    def check(place: Path, said: str) -> None:
        with Memory(place / "memory") as memory:
            say(memory, "My name is Ada.", THEN)
            say(memory, "I'm allergic to peanuts.", THEN + 500)
            say(memory, "I play chess every tuesday at the club.", THEN + 1000)
            before = {each.object for each in memory.facts()}
            assert before >= {"Ada", "peanuts"}
            say(memory, said, THEN + 2000)
            assert before <= {undoubted(each.object) for each in memory.facts()}
            assert "every tuesday at the club" in told(memory)

    check_rows(
        check,
        in_folders(
            place,
            [
                "Did you forget that I play chess?",
                "What if I asked you to forget that I play chess?",
                "How do I make git forget that I added chess.py?",
                "I told the club to forget my chess games.",
                "between us: the chess club is bankrupt",
                "Please don't ever lose my chess notes.",
                "My daughter forgets everything about chess.",
            ],
        ),
    )


@pytest.mark.parametrize("said", ["forget that I play chess", "forget that I have a cat"])
def test_an_order_leaves_what_else_its_message_before_says(place: Path, said: str) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "I play chess every sunday. I live in Oslo.", THEN)
        say(memory, said, THEN + 1000)
        assert "Oslo" in [each.object for each in memory.facts()]


def test_who_asks_to_remember_an_order_to_forget_is_told_how_to_forget(place: Path) -> None:
    with Memory(place / "memory") as memory:
        with pytest.raises(Refused, match="looseleaf forget"):
            memory.remember("Forget that I play chess.")
        memory.remember("Never forget to feed the cat.")
        assert "cat" in told(memory)


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("Our flour supplier is Moinho Velho. We deliver on Mondays.", "Forget what I said about my wife."),
        ("I live in Porto. I have two cats.", "Forget what I told you about the garage."),
    ],
)
def test_an_order_about_what_is_not_held_takes_nothing_of_the_message_before(
    place: Path, said: str, order: str
) -> None:
    with Memory(place / "memory") as memory:
        say(memory, said, THEN)
        before = {each.object for each in memory.facts()}
        assert before
        say(memory, order, THEN + 1000)
        assert {each.object for each in memory.facts()} == before


def test_an_order_without_a_name_still_means_the_message_before(place: Path) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "My brother Tom is in rehab since June.", THEN)
        assert memory.facts()
        say(memory, "forget what i just said", THEN + 1000)
        assert memory.facts() == []


def test_what_is_given_to_be_remembered_and_says_not_to_is_refused(place: Path) -> None:
    with Memory(place / "memory") as memory:
        with pytest.raises(Refused, match="not to remember it"):
            memory.remember("My bank PIN is 4821, but don't remember that.")
        assert memory.facts() == []
        memory.remember("Never log passwords in production.")
        assert memory.facts()
