"""Whatever is asked, there is an answer or a sentence; never a stack trace, and never much later than usual."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from time import process_time
from timeit import repeat
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.ids import new_id
from looseleaf.recall.hits import Recalled
from placing import THEN
from recalling import begin, go_on, open_memory, recall, texts
from tables import check_rows, some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FACTOR = 400
"""Times as long as a plain question that the worst of twenty thousand characters may take."""

LANTERN = "The violet lantern hangs in the harbour."

QUERIES: dict[str, str] = {
    "operators": "violet AND lantern OR NOT harbour NEAR kettle",
    "only operators": "AND OR NOT NEAR",
    "NEAR with parentheses": "NEAR(violet lantern, 5)",
    "a prefix": "lant*",
    "a column": "terms:lantern",
    "a column filter": "{terms} : lantern",
    "a caret": "^violet + lantern",
    "a minus": "-violet -lantern",
    "an open quote": 'violet "lantern',
    "quotes": "\"violet\" 'lantern' `harbour` ``''\"\"",
    "an open parenthesis": "((violet lantern",
    "SQL": "'; DROP TABLE item; -- violet",
    "a placeholder": "? :a @b $c %s {0} violet",
    "NUL": "\0violet\0lantern\0",
    "only NUL": "\0",
    "half a character": "violet \ud800 lantern \udfff",
    "only half a character": "\udc80",
    "a byte order mark": "\ufeff",
    "control characters": "".join(map(chr, range(32))) + "violet",
    "punctuation": "!?.,;:-_()[]{}<>/\\|@#$%^&*~`'\"",
    "stop words": "what is the of and to in a",
    "emoji": "🎉",
    "many emoji": "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪" * 500,
    "right to left": "\u202eviolet\u202c \u200flantern\u200e",
    "zero width": "vio\u200blet lan\u200dtern",
    "fullwidth": "ｖｉｏｌｅｔ　ｌａｎｔｅｒｎ",
    "marks": "\u0301" * 19_000,
    "a letter with many marks": "e" + "\u0301" * 15_000,
    "one long word": "x" * 19_999,
    "digits": "9" * 19_999,
    "many words": " ".join(f"w{number}" for number in range(3000)),
    "the same word": "lantern " * 2400,
    "Chinese": "漢字仮名交" * 3900,
    "a regex bomb": "(a+)+$ (.*a){20} ((a|a)*)* [a-z]{1,99999}" * 300,
    "nested parentheses": "(" * 9000 + "a" + ")" * 9000,
    "dates": "yesterday two weeks ago in March 2025 before the move " * 350,
    "strange dates": "2025-99-99 0000-00-00 31.02.9999 in 99999999999 years ago last last last " * 100,
    "paths": "a/b.c/" * 3000,
    "camels": "aB" * 9000,
    "apostrophes": "Ann's l'été don't " * 900,
    "hyphens": "a-" * 2000,
    "lines": "\n" * 9000 + "lantern" + "\r\n" * 900,
    "names": "Ann Bo Cy " * 1900,
    "a URL": "https://example.org/?q=violet&lantern=%00%ff#x " * 300,
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with open_memory(tmp_path_factory.mktemp("hostile") / "memory") as memory:
        begin(memory)
        go_on(memory)
        memory.record(user="Ann: the a/b.c/d path aB w17 漢字 is odd 🎉", ts=THEN + 400)
        texts(memory, "violet lantern")
        yield memory


def outcome(act: Callable[[], object]) -> str:
    """`answered`, or the sentence of a refusal."""
    try:
        act()
    except Refused as error:
        return str(error)
    return "answered"


def is_a_sentence(text: str) -> bool:
    """True for a refusal that can be printed as it is: not `answered`, whole, on one line, of a readable length."""
    return text[:1] != "a" and text.endswith(".") and "\n" not in text and len(text) < 1500


@pytest.fixture(scope="module")
def plain(memory: Memory) -> float:
    """Seconds of the processor that a plain question takes."""
    return (
        min(repeat(lambda: recall(memory, "violet lantern harbour"), timer=process_time, number=5, repeat=5))
        / 5
    )


def test_any_query_is_answered_and_about_as_soon_as_another(memory: Memory, plain: float) -> None:
    def check(query: str) -> None:
        began = process_time()
        assert isinstance(recall(memory, QUERIES[query]), Recalled)
        took = process_time() - began
        if took >= FACTOR * plain:  # perhaps something else was loaded meanwhile
            took = min(repeat(lambda: recall(memory, QUERIES[query]), timer=process_time, number=1, repeat=3))
        assert took < FACTOR * plain
        assert isinstance(memory.recall("violet " + QUERIES[query][:500], budget=50, quick=True), Recalled)

    check_rows(check, some(QUERIES, 12))


def test_what_is_no_word_does_not_hide_words(memory: Memory) -> None:
    def check(query: str) -> None:
        assert LANTERN in texts(memory, QUERIES[query])

    check_rows(
        check,
        [
            name
            for name in QUERIES
            if "violet" in QUERIES[name] and "lantern" in QUERIES[name] and name not in ("a URL", "operators")
        ],
    )


@pytest.mark.parametrize("query", ["x" * 1_000_000, "word " * 10_000, " ".join(map(str, range(10_000)))])
def test_a_document_is_no_question(memory: Memory, query: str) -> None:
    said = outcome(lambda: memory.recall(query))
    assert is_a_sentence(said)
    assert "characters" in said


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60))
def test_any_text_is_answered_or_refused_with_a_sentence(memory: Memory, query: str) -> None:
    said = outcome(lambda: recall(memory, query, k=3, budget=30))
    assert said == "answered" or (not query.strip() and is_a_sentence(said))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.lists(
        st.sampled_from(
            (
                "violet",
                "lantern",
                "AND",
                "OR",
                "NOT",
                "NEAR",
                "(",
                ")",
                '"',
                "'",
                "*",
                "^",
                ":",
                "-",
                "+",
                ",",
                "{",
                "}",
                "\0",
            )
        ),
        min_size=1,
        max_size=12,
    )
)
def test_no_operator_means_anything(memory: Memory, query: list[str]) -> None:
    found = texts(memory, " ".join(query))
    if {"violet", "lantern"} <= set(query) and not {"AND", "OR", "NOT", "NEAR"} & set(query):
        assert found[0] == LANTERN


def test_what_is_no_question_is_refused(memory: Memory) -> None:
    def check(query: Any) -> None:
        assert is_a_sentence(outcome(lambda: memory.recall(query)))

    check_rows(
        check, [None, b"lantern", 5, True, 1.5, ["lantern"], {"a": 1}, object(), "", " \n\t ", "\u3000"]
    )


NO_NUMBERS: tuple[Any, ...] = (0, -1, True, False, 1.0, "3", b"3", [3], float("nan"))
NO_KINDS: tuple[Any, ...] = ("nix", ["trace", "nix"], 5, b"fact", [None], [["fact"]], "", "fact,trace")
NO_NAMES: tuple[Any, ...] = (5, b"x", ["x"], True)
NO_DATES: tuple[Any, ...] = ("soon", "", "2025-13-01", "2025-02-30", "\0", "\ud800", "9" * 999)
NO_MOMENTS: tuple[Any, ...] = (b"2025-01-01", [1], {}, True, float("nan"), float("inf"), -1e300, 10**400)
CANNOT_BE_MEANT = {
    "k": NO_NUMBERS,
    "budget": NO_NUMBERS,
    "kinds": NO_KINDS,
    "topic": NO_NAMES,
    "agent": NO_NAMES,
    **dict.fromkeys(("as_of", "since", "until", "now"), NO_DATES + NO_MOMENTS),
}


def test_what_cannot_be_meant_is_refused_with_a_sentence(memory: Memory) -> None:
    def check(asked: dict[str, Any]) -> None:
        said = outcome(lambda: memory.recall("violet lantern harbour", **asked))
        assert is_a_sentence(said), said

    check_rows(check, [{name: value} for name, given in CANNOT_BE_MEANT.items() for value in given])


def test_what_can_be_meant_is_answered(memory: Memory) -> None:
    def check(asked: dict[str, Any]) -> None:
        found = memory.recall("violet lantern harbour last week", **asked)
        if "topic" in asked:
            assert len(found) == 0
        if "agent" in asked:
            assert all(hit.kind != "trace" for hit in found)

    check_rows(
        check,
        [
            {"k": 10**30},
            {"budget": 10**40},
            {"budget": 1},
            {"topic": "unheard of"},
            {"topic": "\ud800"},
            {"topic": "a\0b"},
            {"topic": "../../etc"},
            {"topic": "x" * 100_000},
            {"topic": "%"},
            {"agent": "nobody"},
            {"agent": "\udfff"},
            {"agent": "../main"},
            {"agent": "' OR 1=1 --"},
            {"kinds": []},
            {"kinds": ["trace"] * 3000},
            {"since": "2020-01-01", "until": "2030-01-01"},
            {"as_of": 0},
            {"as_of": -62_000_000_000.0},
            {"now": "1900-01-01"},
            {"now": 250_000_000_000.0},
        ],
    )


def test_what_is_no_hit_is_not_opened(memory: Memory) -> None:
    def check(where: Any) -> None:
        said = outcome(lambda: memory.open(where))
        assert is_a_sentence(said), said

    check_rows(
        check,
        [
            "",
            " ",
            None,
            5,
            b"x",
            ["x"],
            "x",
            "f_",
            "f_000000000000",
            "f_\0",
            "\0",
            "\ud800",
            "USER",
            "USER.md#0-0",
            "USER.md#9-2",
            "USER.md#1-9999999",
            "USER.md#99999999",
            "nope.md#1-1",
            "../x.md#1-1",
            "/etc/passwd.md#1",
            "review/pending.md#1-1",
            ".md#1-1",
            "log/journal.jsonl#1-1",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "x" * 100_000,
            "x/01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "../../01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "nope.md",
            "\ud800/01ARZ3NDEKTSV4RRFFQ69G5FAV",
        ],
    )


# --- what others wrote into the log ----------------------------------------------------------


def foreign(**more: Any) -> dict[str, Any]:
    return {
        "schema": "trace.v1",
        "id": new_id(),
        "ts": THEN,
        "turn_id": "turn_0001",
        "seq": 1,
        "trace_type": "user",
        "content": LANTERN,
        "source_event": "Event",
        "session_id": "s",
        "origin": "user",
        **more,
    }


def test_a_strange_record_harms_no_answer(place: Path) -> None:
    numbers = count()

    def check(record: dict[str, Any]) -> None:
        fresh = place / str(next(numbers))
        fresh.mkdir()
        with open_memory(fresh / "memory") as memory:
            memory.record(user="A copper kettle stands on the shelf.", ts=THEN)
            memory.parts.context.store.append("traces/main", [foreign(**record)])
            assert any(LANTERN in text for text in texts(memory, "violet lantern harbour"))
            memory.record(user="The spare key of the cabin is lost.", ts=THEN + 2)
            assert "The spare key of the cabin is lost." in texts(memory, "spare key cabin")
            assert "A copper kettle stands on the shelf." in texts(memory, "copper kettle shelf")
            assert memory.notes == []

    check_rows(
        check,
        [
            {"id": "\ud800"},
            {"id": "with a space"},
            {"session_id": "\udfff"},
            {"session_id": "x" * 100_000},
            {"tags": ["speaker:\ud800"]},
            {"tags": ["speaker:"]},
            {"tags": ["speaker:\0"]},
            {"content": "\ud800" + LANTERN + "\0"},
            {"content": LANTERN + "\u0301" * 30_000},
            {"content": '" OR terms:* NEAR( ' + LANTERN},
            {"ts": -1e9},
            {"origin": "\ud800"},
        ],
    )


def test_what_is_no_trace_is_passed_over(place: Path) -> None:
    numbers = count()

    def check(record: dict[str, Any]) -> None:
        fresh = place / str(next(numbers))
        fresh.mkdir()
        with open_memory(fresh / "memory") as memory:
            memory.parts.context.store.append("traces/main", [foreign(**record)])
            memory.record(user="The spare key of the cabin is lost.", ts=THEN + 2)
            assert "The spare key of the cabin is lost." in texts(memory, "spare key cabin")
            memory.record(user="The spare oar of the boat is lost.", ts=THEN + 3)
            assert "The spare oar of the boat is lost." in texts(memory, "spare oar boat")

    check_rows(
        check,
        [
            {"id": 5},
            {"id": None},
            {"session_id": 5},
            {"ts": "x"},
            {"ts": 10**30},
            {"ts": None},
            {"content": None},
            {"content": ["x"]},
            {"trace_type": "dream"},
            {"trace_type": None},
            {"tags": [5]},
            {"tags": "speaker:x"},
            {"origin": 5},
        ],
    )


def test_pages_of_any_bytes_are_searched(place: Path) -> None:
    with open_memory(place / "memory") as memory:
        texts(memory, "x")
        folder = Path(memory.path, "facts")
        folder.mkdir(exist_ok=True)
        (folder / "latin.md").write_bytes(b"# Caf\xe9\n\nThe violet lantern of the caf\xe9.\n")
        (folder / "nul.md").write_bytes(b"# Nul\n\nThe copper\0kettle of the harbour.\n")
        (folder / "empty.md").write_bytes(b"")
        (folder / "lines.md").write_bytes("# Lines\r\n\r\nThe medlar\u2028ripens\x0blate.\r\n".encode())
        assert any("violet lantern" in text for text in texts(memory, "violet lantern"))
        assert any("medlar" in text for text in texts(memory, "medlar ripens late"))
        for hit in recall(memory, "violet lantern copper kettle medlar ripens"):
            assert memory.open(hit.where).text


def test_a_question_that_begins_after_its_end_is_refused(memory: Memory) -> None:
    said = outcome(lambda: memory.recall("tea", since="2030-01-01", until="2020-01-01"))
    assert said.startswith("`since` is later than `until`.")
