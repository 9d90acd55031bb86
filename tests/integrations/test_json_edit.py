"""JSON with comments, changed by text: what was added goes out again, and every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import core
from looseleaf.integrations.json_edit import Node, add, is_blank, parse, remove
from tables import check_rows

KEYS = st.sampled_from(["a", "b", "hooks", "mcpServers", "é", 'q"'])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4) | st.just("// no /* comment"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
SPACES = st.sampled_from(
    ["", "", " ", "\n  ", "\r\n\t", " // beside\n", "\n  // above \r\n  ", " /* in it */ ", "/* a\n b */"]
)


@st.composite
def texts(draw: Any, values: Any = VALUES) -> tuple[str, Any]:
    """A value, written with spaces, comments and trailing commas anywhere."""

    def written(value: Any) -> str:
        if not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        rows = [
            f"{draw(SPACES)}{f'{json.dumps(key)}{draw(SPACES)}:{draw(SPACES)}' if key is not None else ''}"
            f"{written(each)}{draw(SPACES)}"
            for key, each in (value.items() if isinstance(value, dict) else ((None, each) for each in value))
        ]
        inner = ",".join(rows) + ("," + draw(SPACES) if rows and draw(st.booleans()) else "")
        inner = inner or draw(SPACES)
        return f"{{{inner}}}" if isinstance(value, dict) else f"[{inner}]"

    value = draw(values)
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    return f"{mark}{draw(SPACES)}{written(value)}{draw(SPACES)}", value


@given(drawn=texts())
def test_comments_and_trailing_commas_are_no_part_of_the_value(drawn: tuple[str, Any]) -> None:
    text, value = drawn
    assert parse(text).value == value

    def check(node: Node) -> None:
        assert parse(text[node.start : node.end]).value == node.value
        for number, part in enumerate(node.parts):
            assert node.start < node.begin(number) <= part.start < part.end < node.end
            check(part)

    check(parse(text))


OBJECTS = texts(st.dictionaries(KEYS, VALUES, max_size=3))


@core
@given(
    drawn=st.tuples(st.none(), st.just({}))
    | st.tuples(st.sampled_from(["", " \n", "\ufeff"]), st.just({}))
    | OBJECTS,
    path=st.lists(KEYS, min_size=1, max_size=3),
    value=VALUES,
    is_element=st.booleans(),
)
def test_what_was_added_goes_out_again_to_the_byte(
    drawn: tuple[str | None, dict[str, Any]], path: list[str], value: Any, is_element: bool
) -> None:
    text, before = drawn
    found: Any = before
    for key in path:
        found = found.get(key, ...) if isinstance(found, dict) else None if found is not ... else ...
    if not (found is ... or (is_element and isinstance(found, list))):
        return  # it is there, or something else is
    made = add(text, tuple(path), value, is_element=is_element)
    where: list[str | int] = [*path]
    inner: Any = parse(made).value
    for key in path:
        inner = inner[key]
    if is_element:
        where.append(len(inner) - 1)
        inner = inner[-1]
    assert inner == value
    assert remove(made, tuple(where)) == text
    assert remove(made, (*where[:-1], "never")) == made if not is_element else True


@core
@given(
    drawn=OBJECTS,
    names=st.lists(st.sampled_from(["x", "y", "z"]), unique=True, min_size=2),
    last=st.randoms(),
)
def test_several_go_out_in_any_order_and_the_rest_means_the_same(
    drawn: tuple[str, dict[str, Any]], names: list[str], last: Any
) -> None:
    text, before = drawn
    made: str | None = text
    for name in names:
        made = add(made, ("more", name), {"n": name})
    last.shuffle(names)
    for name in names:
        assert made is not None
        made = remove(made, ("more", name))
    assert made is None or parse(made).value == before
    assert made is not None or before == {}


def test_the_layout_around_is_taken_over() -> None:
    rows = [
        (None, '{\n  "m": {\n    "x": {"n": 1}\n  }\n}\n'),
        ("{}", '{"m": {\n    "x": {"n": 1}\n  }}'),
        (
            '{\n\t"a": 1, // one\n}\n',
            '{\n\t"a": 1, // one\n\t"m": {\n\t\t"x": {"n": 1}\n\t},\n}\n',
        ),
        (
            '{\r\n    "a": 1 // one\r\n}\r\n',
            '{\r\n    "a": 1, // one\r\n    "m": {\r\n        "x": {"n": 1}\r\n    }\r\n}\r\n',
        ),
        ('{"m": {"a": 1}}', '{"m": {"a": 1,\n    "x": {"n": 1}}}'),
        ('{"m": { }}', '{"m": {"x": {"n": 1} }}'),
    ]
    check_rows(lambda text, wanted: _equal(add(text, ("m", "x"), {"n": 1}), wanted), rows)


def _equal(one: str, other: str) -> None:
    assert one == other


def test_a_value_that_is_there_is_replaced_in_its_place() -> None:
    text = '{"m": {"x": 1 /* so */, "y": [1, 2]}}'
    assert add(text, ("m", "x"), 2) == '{"m": {"x": 2 /* so */, "y": [1, 2]}}'
    assert add(text, ("m", "y", 1), "two") == '{"m": {"x": 1 /* so */, "y": [1, "two"]}}'
    assert add(text, ("m", "x"), 1) == text


def test_a_container_that_an_agent_wrote_anew_goes_when_it_is_empty() -> None:
    made = add('{"a": 1}', ("m", "x"), {"n": 1})
    anew = json.dumps(json.loads(made), indent=2)
    assert remove(anew, ("m", "x")) == '{\n  "a": 1\n}'
    assert remove('{\n  "m": {\n    "x": 1\n  }\n}\n', ("m", "x")) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"a" 1}',
        '{"a": 1 "b": 2}',
        "{",
        "[1 2]",
        "{1: 2}",
        "{} x",
        "{,}",
        '{"a": }',
        "// only",
        "[" * 100_000,
    ],
)
def test_what_is_no_json_is_told(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        parse(text)


def test_another_value_on_the_way_is_told() -> None:
    for text in ("[]", "7", '{"m": []}', '{"m": {"x": {}}}'):
        with pytest.raises(ValueError, match="form"):
            add(text, ("m", "x"), 1, is_element=True)
    assert is_blank(" \r\n")
    assert not is_blank("//")
