"""Identifiers are found wherever they stand, once, and what stands in place of a result names them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.base.messages import Trace
from looseleaf.text.identifiers import as_line, clipped, from_json, identifiers, joined, reduced
from tables import check_rows, some

RESERVATION = {
    "reservation_id": "4WQ150",
    "user_id": "mia_li_3668",
    "cabin": "basic_economy",
    "flights": [{"origin": "JFK", "flight_number": "HAT069", "date": "2026-05-20", "price": 523}],
    "payment_methods": {
        "credit_card_4421486": {"brand": "visa", "last_four": "7447"},
        "certificate_7504069": {"brand": "none", "last_four": "0001"},
    },
    "passenger": {"first_name": "Mia", "last_name": "Li", "city": "Santa Fe"},
    "seats": {"economy": 11, "business": 7},
    "prices": {"economy": 63, "business": 208},
    "total_baggages": 2,
    "is_late": False,
    "nothing": None,
    "remark": "Please call +1 555 010 7788 about order #A-17, or write to mia@example.com before it leaves.",
}


def test_a_result_is_walked_in_its_order() -> None:
    assert identifiers(RESERVATION) == [
        "4WQ150",
        "mia_li_3668",
        "basic_economy",
        "JFK",
        "HAT069",
        "2026-05-20",
        "523",
        "credit_card_4421486",
        "visa",
        "7447",
        "certificate_7504069",
        "none",
        "0001",
        "Mia",
        "Li",
        "Santa Fe",
        "economy",
        "business",
        "63",
        "208",
        "total_baggages=2",
        "+1 555 010 7788",
        "#A-17",
        "mia@example.com",
    ]


def test_json_in_a_string_is_a_structure() -> None:
    text = json.dumps(RESERVATION)
    assert identifiers(text) == identifiers(json.dumps({"body": text})) == identifiers(RESERVATION)
    assert identifiers('{"id": "a-1"}\n{"id": "b-2"}\nnot json: c-3\n{"id":') == [
        "a-1",
        "b-2",
        "not json: c-3",
        '{"id":',
    ]
    assert identifiers('{"id": "a-1"} {') == ["a-1"]


def test_an_identifier_is_found_in_the_middle_of_text() -> None:
    def check(name: str) -> None:
        for text in (f"We saw {name} there.", f"see **{name}**, then go", f"({name})", f"订单：{name}。好"):
            assert identifiers(text) == [name]

    check_rows(
        check,
        [
            "HAT069",
            "JFK",
            "mia_li_3668",
            "550e8400-e29b-41d4-a716-446655440000",
            "9f86d081884c7d65",
            "mia@example.com",
            "https://example.com/a?b=c&d=1",
            "src/looseleaf/text/lines.py:42",
            "./run.sh",
            "C:\\Temp\\a.txt",
            "README.md",
            "looseleaf.text.lines",
            "v1.2.3",
            "2026-05-20T13:00:00Z",
            "13:45",
            "May 20, 2026",
            "20 May 2026",
            "2026年5月20日",
            "+49 30 1234567",
            "(555) 123-4567",
            "$1,234.50",
            "12.5%",
            "4421486",
            "HTTPServer",
            "getUser",
            "snake_case",
            "--dry-run",
            "__init__",
        ],
    )


def test_plain_words_are_no_identifiers() -> None:
    def check(text: str) -> None:
        assert identifiers(text) == []

    check_rows(
        check,
        [
            "",
            "Plain words, e.g. these, and/or well-known ones. I said so!",
            "The 2nd of 12 tries.",
            "*** --- ... ???",
            "THIS TEXT SHOUTS FOR NO GOOD REASON AND SAYS NOTHING",
            "x" * 300,
            "1" * 300,
        ],
    )


def test_the_names_of_fields_are_no_identifiers() -> None:
    names = (
        "flight_number",
        "flightNumber",
        "address1",
        "sha256",
        "Content-Type",
        "@type",
        "$ref",
        "first name",
        "id",
    )
    assert identifiers([{name: None} for name in names]) == []


def test_keys_and_leaves_that_are_data_are_identifiers() -> None:
    def check(value: Any, expected: list[str]) -> None:
        assert identifiers(value) == expected

    check_rows(
        check,
        [
            (
                {"HAT069": None, "2026-05-20": None, "a/b/c": None, 4711: None},
                ["HAT069", "2026-05-20", "a/b/c", "4711"],
            ),
            ({"mia": {"x": None}, "bob": {"x": None}}, ["mia", "bob"]),
            (
                {"San Jose": "SJC", "Reno": "RNO", "Las Vegas": "LAS"},
                ["San Jose", "SJC", "Reno", "RNO", "Las Vegas", "LAS"],
            ),
            ({"City": "Bonn", "Country": "Federal Republic of Germany", "Zip": "53111"}, ["Bonn", "53111"]),
            ({"mia": {}, "bob": {}}, []),
            ({"seat": 7}, ["seat=7"]),
            ({"seat_number": 7}, ["7"]),
            ([7, 99, 100, -100, 0.5, float("nan"), float("inf"), 1 << 400], ["100", "-100", "0.5"]),
            (
                ("a b", {"title": "The name of a thing"}, {"text": "The name of a thing"}),
                ["a b", "The name of a thing"],
            ),
            ({"": "…", None: "x1", (1, 2): "x2"}, ["x1", "x2"]),
            ({"log": "Nothing to see, then user=abc_123, then again nothing. " * 9}, ["abc_123"]),
            (object(), []),
            ({"a\nb": 3, "text": "one\ntwo"}, ["a b=3", "one two"]),
        ],
    )


def test_no_more_than_were_asked_for_are_looked_for() -> None:
    assert identifiers(RESERVATION, 3) == identifiers(RESERVATION)[:3]
    assert identifiers(RESERVATION, 0) == []


codes = st.from_regex(r"[A-Z]{2,3}[0-9]{3,5}", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(codes, json_values, st.lists(st.sampled_from(["dict", "list", "key", "json", "text"]), max_size=8))
def test_an_identifier_is_found_however_deep_it_is_nested(code: str, other: Any, nesting: list[str]) -> None:
    value: Any = code
    texts = 0
    for step in nesting:
        if step == "dict":
            value = {"some_field": value, "other": other}
        elif step == "list":
            value = [other, value]
        elif step == "key":
            value = {code: value}
        elif step == "json" and texts < 3 and not isinstance(value, str):
            texts += 1
            value = json.dumps(value)
        elif step == "text" and isinstance(value, str) and from_json(value) is None:
            value = f"It says: {value}."
    found = identifiers(value)
    assert any(code == name or f" {code}." in name for name in found)


@given(json_values)
def test_each_identifier_comes_once_and_is_one_visible_line(value: Any) -> None:
    found = identifiers(value)
    assert len(found) == len(set(found))
    assert all(name and name == name.strip() and len(name.splitlines()) == 1 for name in found)
    assert not any("\ud800" <= mark <= "\udfff" for name in found for mark in name)


def test_looking_takes_linear_time() -> None:
    def check(unit: str) -> None:
        def work(size: int) -> Callable[[], object]:
            text = unit * size
            return lambda: identifiers(text)

        assert growth(work, 1000) < LINEAR

    check_rows(
        check,
        some(
            [
                "a",
                "1",
                "1,",
                "[",
                '{"a":',
                '{"HAT001":',
                "HAT069 ",
                "plain ",
                "Plain.",
                "May ",
                "Jan ",
                "+1 ",
                "\ud800",
                '{"a":1}\n',
                "1,111",
                "(123) ",
                "a/",
                "a.a",
            ],
            7,
        ),
    )


def test_looking_into_deep_nesting_takes_linear_time() -> None:
    def work(size: int) -> Callable[[], object]:
        value: Any = "HAT069"
        for _ in range(size):
            value = {"HAT001": [value]}
        held.append(value)
        return lambda: identifiers(value)

    held: list[Any] = []
    try:
        assert growth(work, 500) < LINEAR
    finally:
        for value in held:  # taken apart by hand: Python frees what is nested by recursion
            while isinstance(value, dict):
                value = value.popitem()[1].pop()


# --- lines -----------------------------------------------------------------------------


def test_a_comma_stands_only_beside_a_name_with_a_space() -> None:
    assert joined(["HAT069", "JFK", "Santa Fe", "Bonn", "x1", "y2"]) == "HAT069 JFK, Santa Fe, Bonn x1 y2"
    assert joined([]) == ""


def test_a_line_says_how_many_it_left_out() -> None:
    assert as_line(["a1", "b2", "c3"], 100) == "a1 b2 c3"
    assert as_line(["a1" * 10, "b2" * 10, "c3" * 10], 50) == "a1" * 10 + ", and 2 more"
    assert as_line(["a1" * 10], 5) == ""


@given(st.lists(st.text("ab 1", min_size=1, max_size=12)), st.integers(0, 80))
def test_a_line_is_no_longer_than_its_limit(names: list[str], limit: int) -> None:
    assert len(as_line(names, limit)) <= limit


def trace(**members: Any) -> Trace:
    given = {
        "id": "01J9",
        "ts": 0.0,
        "turn_id": "turn_0001",
        "seq": 2,
        "trace_type": "tool_result",
        "content": "",
    }
    return Trace(**{**given, "source_event": "", "session_id": "", "origin": "tool", **members})


def test_what_stands_in_place_of_a_result_points_to_it_and_names_what_it_named() -> None:
    pointer = "[tool result left out: 3,412 tokens; looseleaf expand 01J9]"
    assert reduced(trace(tool_result=[{"id": "HAT069"}]), 80, "3,412 tokens") == f"{pointer} It named: HAT069"
    assert reduced(trace(content="see HAT070"), 80, "3,412 tokens") == f"{pointer} It named: HAT070"
    assert reduced(trace(), 80, "3,412 tokens") == pointer
    failed = reduced(trace(tool_error="not\nfound"), 80, "3,412 tokens")
    assert failed == f"{pointer} It failed: not found"


@given(st.text("ab \n", max_size=300), st.integers(0, 120), st.text("p…", min_size=1, max_size=20))
def test_a_clipped_text_keeps_its_ends_and_its_limit(text: str, limit: int, pointer: str) -> None:
    short = clipped(text, limit, pointer)
    if len(text) <= limit:
        assert short == text
    else:
        assert short == pointer or len(short) <= limit
        head, mark, tail = short.partition(pointer)
        assert mark == pointer
        assert text.startswith(head.rstrip())
        assert text.endswith(tail.lstrip())


def test_a_text_is_clipped_between_words() -> None:
    text = " ".join(f"word{number}" for number in range(100))
    assert clipped(text, 60, "[…]") == "word0 word1 word2 word3 word4 word5 […] word98 word99"
    assert clipped("one\ntwo\n" * 50, 24, "[…]") == "one\ntwo\none\n[…]\ntwo\n"
    assert clipped("x" * 100, 13, "[…]") == "xxxxxx […] xx"
