"""TOON through the one door to it: what is encoded comes back the same, and the library does what the format asks."""

from __future__ import annotations

import json
import math
import re
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
import toon_format
import toons
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import core, few
from looseleaf.text.notation import decode, encode, normal
from tables import check_rows

FIXTURES = Path(__file__).parents[3] / "shared" / "data" / "toon-fixtures"
FACE = "\U0001f642"
AWKWARD = [
    *", : \" \\ \n \t - [ ] { } # | ' é 日本 true null 1 -0 1e5 01".split(" "),
    FACE,
    "",
    "- x",
    "a: b",
]

TEXTS = st.lists(st.sampled_from(AWKWARD), max_size=6).map("".join) | st.text(
    st.characters(codec="utf-8"), max_size=12
)
WHOLE = st.integers(-(2**60), 2**60)
ORDINARY = WHOLE | st.floats(-1e12, 1e12).map(lambda number: round(number, 5))
NUMBERS = WHOLE | st.floats(allow_nan=False, allow_infinity=False)


def values(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | numbers | TEXTS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
        max_leaves=20,
    )


VALUES = values(NUMBERS)
ROWS = st.lists(
    st.fixed_dictionaries({"id": TEXTS, "title": TEXTS, "ts": TEXTS | st.just("2026-01-31T12:00:00Z")})
)


def said(value: Any) -> str:
    """The JSON value, whatever the order of its members."""
    return json.dumps(normal(value), sort_keys=True)


@core
@given(VALUES | st.fixed_dictionaries({"rows": ROWS, "more": VALUES}))
def test_what_is_encoded_comes_back_the_same(value: Any) -> None:
    text = encode(value)
    assert text is not None
    assert said(decode(text)) == said(value)


@settings(max_examples=few(150), deadline=None)
@given(VALUES)
def test_the_official_package_reads_what_we_write_and_we_what_it_writes(value: Any) -> None:
    plain = normal(value)
    ours = encode(value)
    assert ours is not None
    assert said(toon_format.decode(ours)) == said(plain)
    assert said(decode(toon_format.encode(plain))) == said(plain)


@settings(max_examples=few(150), deadline=None)
@given(values(ORDINARY))
def test_the_official_package_writes_the_same(value: Any) -> None:
    """But for numbers near zero, which it writes with an exponent."""
    assert encode(value) == toon_format.encode(normal(value))


@settings(max_examples=few(100), deadline=None)
@given(ROWS)
def test_a_time_without_quotes_is_read_by_the_official_package_too(rows: list[dict[str, str]]) -> None:
    value = {"rows": rows}
    text = encode(value)
    assert text is not None
    assert toon_format.decode(text) == value
    assert ',"2026-01-31T12:00:00Z"' not in text


def test_quotes_stay_where_a_time_could_be_read_as_something_else() -> None:
    time = "2026-01-31T12:00:00-03:00"
    assert encode({"a": [{"t": time, "u": time}]}) == f'a[1]{{t,u}}:\n  "{time}",{time}'
    assert encode({"a": time}) == f'a: "{time}"'
    assert encode({"a": f'x,"{time}"'}) == f'a: "x,\\"{time}\\""'


def test_what_json_does_not_have_is_refused_and_not_changed() -> None:
    def check(value: Any) -> None:
        assert encode(value) is None
        assert encode([value]) is None

    check_rows(
        check,
        [
            {1, 2},
            {1: 2},
            math.nan,
            math.inf,
            {"a": -math.inf},
            uuid.UUID(int=7),
            b"x",
            "\ud800",
            {"\udfff": 1},
            10**2000,
            object(),
        ],
    )


def test_what_json_says_otherwise_is_encoded_as_json_says_it() -> None:
    def check(value: Any, same: Any) -> None:
        text = encode(value)
        assert text is not None
        assert decode(text) == same

    check_rows(
        check,
        [
            ((1, (2,)), [1, [2]]),
            (-0.0, 0),
            (1.0, 1),
            ({"a": -0.0}, {"a": 0}),
            (2**70, 2**70),
            (1e300, 10**300),
            (True, True),
        ],
    )


def test_what_is_nested_too_deeply_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert encode(deep) is None
    assert encode([[[[[[["x"]]]]]]]) is not None


def test_a_text_that_is_no_toon_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"\S"):
        decode("a[2]: 1")


def test_what_does_not_come_back_as_it_was_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for lossy in (lambda text: {"a": True}, lambda text: {"b": 1}, lambda text: {"a": math.nan}):
        monkeypatch.setattr(toons, "loads", lossy)
        assert encode({"a": 1}) is None
    monkeypatch.undo()
    assert encode({"a": 1}) == "a: 1"


def test_without_the_library_nothing_is_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toons", None)
    assert encode({"a": 1}) is None


# --- the fixtures of the format ----------------------------------------------------------


def cases(folder: str) -> list[dict[str, Any]]:
    files = sorted((FIXTURES / folder).glob("*.json"))
    if not files:
        pytest.skip(f"the fixtures of the format are not here: {FIXTURES}")
    return [case for file in files for case in json.loads(file.read_text("utf-8"))["tests"]]


def options_of(case: dict[str, Any]) -> dict[str, Any]:
    """Our names are snake_case."""
    return {re.sub("([A-Z])", r"_\1", name).lower(): value for name, value in case.get("options", {}).items()}


def test_the_library_writes_every_fixture_of_the_format() -> None:
    found = cases("encode")
    failed = [
        case["name"] for case in found if toons.dumps(case["input"], **options_of(case)) != case["expected"]
    ]
    print(f"encode: {len(found) - len(failed)} of {len(found)}")
    assert failed == []


def test_the_library_reads_every_fixture_of_the_format() -> None:
    found = cases("decode")
    failed: list[str] = []
    for case in found:
        try:
            is_right = json.dumps(normal(toons.loads(case["input"], **options_of(case)))) == json.dumps(
                normal(case.get("expected"))
            ) and not case.get("shouldError")
        except ValueError:
            is_right = bool(case.get("shouldError"))
        failed += [] if is_right else [case["name"]]
    print(f"decode: {len(found) - len(failed)} of {len(found)}")
    assert failed == []
