"""Which terms of a vocabulary a word may be a misspelling of, a part of, or made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from looseleaf.recall import near_matches as typos
from tables import check_rows


def slow_distance(first: str, second: str) -> int:
    """The same by its definition: letters left out, put in, changed, or two neighbours swapped."""
    if not first or not second:
        return len(first) + len(second)
    best = min(
        slow_distance(first[1:], second) + 1,
        slow_distance(first, second[1:]) + 1,
        slow_distance(first[1:], second[1:]) + (first[0] != second[0]),
    )
    if first[:2] == second[1::-1] and len(first) > 1 < len(second):
        best = min(best, slow_distance(first[2:], second[2:]) + 1)
    return best


@given(st.text("ab", max_size=5), st.text("ab", max_size=5), st.integers(0, 3))
def test_the_distance_is_the_number_of_errors(first: str, second: str, most: int) -> None:
    assert typos.distance(first, second, most) == min(slow_distance(first, second), most + 1)


@given(st.text("abc", min_size=1, max_size=10), st.lists(st.text("abc", max_size=12), max_size=8))
def test_a_misspelling_is_near_and_never_the_word_itself(term: str, candidates: list[str]) -> None:
    found = typos.find_misspelled(term, candidates)
    assert {each for each, _ in found} <= set(candidates) - {term}
    assert all(0 < factor < 1 and typos.distance(term, each, 2) <= 2 for each, factor in found)
    assert found == sorted(found, key=lambda each: -each[1])
    assert not found or len(term) >= 4


def test_a_misspelt_term_is_known() -> None:
    def check(term: str, expected: str) -> None:
        assert [each for each, _ in typos.find_misspelled(term, [expected, "unrelated", term[:3]])] == [
            expected
        ]

    check_rows(
        check,
        [
            ("apointment", "appointment"),
            ("chemsitri", "chemistri"),
            ("lisbno", "lisbon"),
            ("vegitarian", "vegetarian"),
            ("phisiotherapist", "physiotherapist"),
            ("нвосибирск", "новосибирск"),
        ],
    )


def test_what_differs_in_meaning_is_no_misspelling() -> None:
    def check(term: str, other: str) -> None:
        assert typos.find_misspelled(term, [other]) == []

    check_rows(
        check,
        [
            ("cat", "car"),
            ("2023", "2024"),
            ("v12", "v13"),
            ("plane", "plenty"),
            ("猫", "犬"),
            ("ride", "side"),
        ],
    )


def test_a_part_finds_its_compounds() -> None:
    vocabulary = [
        "haftpflichtversicher",
        "versicherungsnumm",
        "versichert",
        "versicher",
        "pflicht",
        "x2versicher",
    ]
    assert typos.find_compounds("versicher", vocabulary) == [
        ("haftpflichtversicher", 0.7),
        ("versicherungsnumm", 0.6),
    ]
    assert typos.find_compounds("ver", vocabulary) == []


def test_a_long_part_may_stand_in_the_middle() -> None:
    museum = "donaudampfschifffahrtsmuseum"
    assert typos.find_compounds("dampfschifffahrt", [museum]) == [(museum, 0.5)]
    assert typos.find_compounds("museum", [museum]) == [(museum, 0.7)]
    assert typos.find_compounds("fahrt", [museum]) == []
    assert typos.find_compounds("onaudampf", [museum]) == []


@given(st.text("ab", max_size=9), st.lists(st.text("ab", max_size=16), max_size=8))
def test_a_compound_holds_its_part_and_more(term: str, candidates: list[str]) -> None:
    for compound, factor in typos.find_compounds(term, candidates):
        assert term in compound
        assert len(compound) - len(term) >= 3
        assert 0 < factor < 1


def test_a_compound_is_made_of_what_is_known() -> None:
    def check(word: str, known: set[str], expected: list[str]) -> None:
        found = typos.join_pieces(word, known)
        assert [term for term, _ in found] == expected
        assert {term for term, _ in found} <= set(typos.cut_pieces(word))
        assert sum(factor for _, factor in found) <= 1

    check_rows(
        check,
        [
            (
                "Haftpflichtversicherung",
                {"haftpflicht", "versicher", "pflicht"},
                ["haftpflicht", "versicher"],
            ),
            ("Arbeitsvertrag", {"arbeit", "vertrag", "trag"}, ["arbeit", "vertrag"]),
            ("Waschmaschinenreparatur", {"waschmaschin", "reparatur"}, ["waschmaschin", "reparatur"]),
            ("Donaudampfschifffahrt", {"donau", "dampf", "schifffahrt"}, ["donau", "dampf", "schifffahrt"]),
            ("Haftpflichtversicherung", {"haft"}, []),
            ("Haftpflichtversicherung", set(), []),
            ("Haus", {"haus"}, []),
        ],
    )
