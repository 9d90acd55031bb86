"""Recall tests that people write: what a file may say, what passes, and how a failure is told."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looseleaf.base.errors import Refused
from looseleaf.memory import Memory
from looseleaf.recall.hits import Hit
from looseleaf.recall.recall_tests import NAME, Expectation, judge, load, report, run
from tables import check_rows

Run = Callable[..., tuple[int, str, str]]


def hit(text: str, where: str = "USER.md#5-5", score: float = 0.8) -> Hit:
    return Hit(where, "fact", text, score, {}, "USER.md#5-5", "", None, None, "current")


ENGLISH = hit("Code is written in English.")
BERLIN = hit("Lives in Berlin\nsince 2024", "01ABC", 0.61)


def test_a_whole_file_is_read() -> None:
    tests = load(
        """
        [[test]]
        question = "Which language for code?"
        contains = ["English", ["comments", "identifiers"]]
        not_contains = "Java"
        as_of = 2026-03-01
        now = "2026-03-02T10:00"
        k = 3
        budget = 200
        topic = "code"
        kind = ["fact", "trace"]
        agent = "main"

        [[test]]
        question = "What is the capital of Peru?"
        abstains = true
        """,
        "tests.toml",
    )
    assert tests == [
        Expectation(
            "Which language for code?",
            (("English",), ("comments", "identifiers")),
            ("Java",),
            None,
            "2026-03-01",
            "2026-03-02T10:00",
            3,
            200,
            "code",
            ("fact", "trace"),
            "main",
            "tests.toml:2",
        ),
        Expectation("What is the capital of Peru?", abstains=True, where="tests.toml:14"),
    ]


def test_a_place_that_is_not_a_line_is_a_number() -> None:
    text = '"test" = [{question = "a", abstains = true}, {question = "b", abstains = false}]'
    assert [test.where for test in load(text, "t.toml")] == ["t.toml, test 1", "t.toml, test 2"]


FAULTS = r"""
 => it holds no test
[[test => is not TOML
[[tests]] => `tests` is not known there
test = 3 => is not a list of tests
test = [3] => is not a list of tests
[test]\nquestion = "a" => is not a list of tests
[[test]]\nabstains = true => t.toml:1: there is no question
[[test]]\nquestion = "  "\nabstains = true => there is no question
[[test]]\nquestion = 3\nabstains = true => there is no question
[[test]]\nquestion = "a"\ncontain = "b" => `contain` is not known
[[test]]\nquestion = "a" => it expects nothing
[[test]]\nquestion = "a"\nabstains = "yes" => `abstains` is neither true nor false
[[test]]\nquestion = "a"\nabstains = true\ncontains = "b" => something must be
[[test]]\nquestion = "a"\ncontains = [3] => `contains` must hold only texts
[[test]]\nquestion = "a"\ncontains = [""] => `contains` must hold only texts
[[test]]\nquestion = "a"\ncontains = [[]] => an empty choice
[[test]]\nquestion = "a"\nnot_contains = [["b"]] => `not_contains` must hold only texts
[[test]]\nquestion = "a"\ncontains = "b"\nkind = "page" => there is no kind 'page'
[[test]]\nquestion = "a"\ncontains = "b"\nkind = 3 => `kind` must hold only texts
[[test]]\nquestion = "a"\ncontains = "b"\nas_of = "soon" => `as_of` is not a date: 'soon'
[[test]]\nquestion = "a"\ncontains = "b"\nnow = 3 => `now` is not a date: '3'
[[test]]\nquestion = "a"\ncontains = "b"\nk = 0 => `k` is not a whole number of at least 1
[[test]]\nquestion = "a"\ncontains = "b"\nbudget = "8" => `budget` is not a whole number of at least 1
[[test]]\nquestion = "a"\ncontains = "b"\nk = true => `k` is not a whole number of at least 1
[[test]]\nquestion = "a"\ncontains = "b"\ntopic = 3 => `topic` is not a name
[[test]]\nquestion = "a"\ncontains = "b"\nagent = "" => `agent` is not a name
"""


def test_every_fault_is_one_sentence_with_its_place() -> None:
    def check(line: str) -> None:
        text, _, message = line.partition(" => ")
        with pytest.raises(Refused) as refused:
            load(text.replace("\\n", "\n"), "t.toml")
        said = str(refused.value)
        assert message in said
        assert said.startswith("No test was run: t.toml")
        assert "\n" not in said
        assert said.endswith((".", '"'))

    check_rows(check, FAULTS.strip("\n").split("\n"))


@given(st.text(max_size=60) | st.from_regex(r"\[\[test\]\]\n[a-z_]+ = [\"\[\]0-9a-z]+", fullmatch=True))
def test_any_text_is_tests_or_is_refused(text: str) -> None:
    with suppress(Refused):
        assert load(text, "t.toml")


def test_what_is_contained_may_be_in_any_hit_in_any_case() -> None:
    assert judge(Expectation("q", (("english",), ("LIVES  IN berlin SINCE",))), [ENGLISH, BERLIN]).passed
    assert judge(Expectation("q", (("Paris", "Berlin"),)), [BERLIN]).passed
    assert judge(Expectation("q", (("Café",),)), [hit("the Cafe\u0301 there")]).passed


def test_each_of_what_must_be_contained_is_wanted() -> None:
    outcome = judge(Expectation("q", (("English",), ("Paris", "Rome"))), [ENGLISH])
    assert not outcome.passed
    assert outcome.missing == (("Paris", "Rome"),)


def test_what_must_not_be_there_is_named_with_its_place() -> None:
    outcome = judge(Expectation("q", not_contains=("berlin", "Rome")), [ENGLISH, BERLIN])
    assert not outcome.passed
    assert outcome.unwanted == (("berlin", "01ABC"),)
    assert judge(Expectation("q", not_contains=("berlin",)), []).passed


@pytest.mark.parametrize(
    ("abstains", "hits", "passed"), [(True, 0, True), (True, 1, False), (False, 0, False), (False, 1, True)]
)
def test_silence_is_expected_or_is_not(abstains: bool, hits: int, passed: bool) -> None:
    assert judge(Expectation("q", abstains=abstains), [ENGLISH] * hits).passed is passed


@given(
    st.lists(st.sampled_from(["a b", "b", "c", "B  A"]), max_size=4),
    st.lists(st.sampled_from("abcd"), max_size=3),
)
def test_a_text_is_missing_or_unwanted_but_never_both(texts: list[str], words: list[str]) -> None:
    hits = [hit(text) for text in texts]
    for word in words:
        wanted = judge(Expectation("q", ((word,),)), hits)
        unwanted = judge(Expectation("q", not_contains=(word,)), hits)
        assert wanted.passed != unwanted.passed


def test_a_report_tells_what_was_expected_and_what_was_found() -> None:
    outcomes = [
        judge(Expectation("Which language\nfor code?", (("English",),), where="t.toml:1"), [ENGLISH]),
        judge(
            Expectation("Where do I live?", (("Berlin",), ("Paris", "Rome")), ("since",), where="t.toml:5"),
            [BERLIN, ENGLISH, hit("x" * 200), ENGLISH, ENGLISH],
        ),
        judge(Expectation("Peru?", abstains=True, where="t.toml:9"), [ENGLISH]),
        judge(Expectation("Work?", (("Acme",),), abstains=False), []),
    ]
    assert report(outcomes) == (
        "ok    Which language for code?\n"
        "FAIL  Where do I live?  (t.toml:5)\n"
        '      "Berlin"\n'
        '    - "Paris" or "Rome"  is missing\n'
        '    + "since"  should not be there: 01ABC\n'
        "      found 5:\n"
        "        0.61  01ABC  Lives in Berlin\n"
        "        0.80  USER.md#5-5  Code is written in English.\n"
        f"        0.80  USER.md#5-5  {'x' * 99}…\n"
        "        … and 2 more\n"
        "FAIL  Peru?  (t.toml:9)\n"
        "    + nothing should be found\n"
        "      found 1:\n"
        "        0.80  USER.md#5-5  Code is written in English.\n"
        "FAIL  Work?\n"
        '    - "Acme"  is missing\n'
        "    - something should be found\n"
        "      found nothing.\n"
        "4 tests: 1 passed, 3 failed."
    )
    assert report(outcomes[:1]).endswith("\n1 test: 1 passed, 0 failed.")


def test_an_outcome_can_be_written_as_json() -> None:
    outcome = judge(Expectation("q", (("Rome",),), ("English",), where="t.toml:1"), [ENGLISH])
    assert outcome.to_dict() == {
        "question": "q",
        "where": "t.toml:1",
        "passed": False,
        "abstains": None,
        "missing": [["Rome"]],
        "unwanted": [{"text": "English", "where": "USER.md#5-5"}],
        "found": [{"where": "USER.md#5-5", "score": 0.8, "text": "Code is written in English."}],
        "hits": 1,
        "why": "",
    }


PASSES = """
[[test]]
question = "Is Anna's spare key under the blue flower pot?"
contains = [["flower pot", "flowerpot"]]
not_contains = ["garage"]
abstains = false
"""
FAILS = """
[[test]]
question = "Is Anna's spare key under the blue flower pot?"
contains = ["garage"]
not_contains = ["flower"]
"""


OTHER = ("The train to Hamburg leaves at nine.", "Water the tomatoes.", "The report has two tables.")


@pytest.fixture
def told(folder: Path) -> Path:
    with Memory(folder) as memory:
        memory.record(user="Anna keeps the spare key under the blue flower pot.")
        for number in range(12):
            memory.record(user=f"{OTHER[number % len(OTHER)]} ({number})")
    return folder


def test_a_memory_is_asked_through_and_through(told: Path) -> None:
    (told / NAME).write_text(
        PASSES + FAILS + '[[test]]\nquestion = "volcano eruptions on Jupiter"\nabstains = true'
    )
    with Memory(told) as memory:
        outcomes = run(memory.parts)
    assert [outcome.passed for outcome in outcomes] == [True, False, True]
    assert outcomes[1].missing == (("garage",),)
    assert "under the blue flower pot" in report(outcomes)


def test_a_file_may_be_named(told: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(b"\xef\xbb\xbf" + PASSES.encode())
    with Memory(told) as memory:
        assert [outcome.passed for outcome in run(memory.parts, str(file))] == [True]


def test_a_file_that_cannot_be_read_is_refused(told: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_bytes(b"\xff\xfe")
    with Memory(told) as memory:
        with pytest.raises(Refused, match=f"there is no {NAME} in"):
            run(memory.parts)
        with pytest.raises(Refused, match="is not a file"):
            run(memory.parts, str(tmp_path))
        with pytest.raises(Refused, match="is not UTF-8"):
            run(memory.parts, str(bad))


@pytest.mark.parametrize(("text", "code"), [(PASSES, 0), (FAILS, 1), ("[[tests]]", 2)])
def test_the_command_says_how_it_went(told: Path, run: Run, text: str, code: int) -> None:
    (told / NAME).write_text(text)
    assert run("test")[0] == code
