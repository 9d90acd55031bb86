"""TOML changed by text: a table goes in at the end and out again, and every other byte stays."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import core
from looseleaf.integrations.toml_edit import parse, with_key, with_table, without_tables

ROWS = st.sampled_from(
    [
        "# a comment",
        "",
        "n{0} = 1",
        "s{0} = '''\n[mcp.ours]\n'''",
        'q{0} = "[x]"',
        "[t{0}]",
        "[[list]]",
        "  [in.{0}]  # beside",
        '["q.{0}"]',
        "[mcp.other{0}]",
    ]
)
TEXTS = st.tuples(st.lists(ROWS, max_size=6), st.sampled_from(["\n", "\r\n"]), st.booleans()).map(
    lambda drawn: drawn[1].join(
        [*(row.format(at) for at, row in enumerate(drawn[0])), *([""] if drawn[2] else [])]
    )
)
NAMES = st.sampled_from([("mcp", "ours"), ("hooks", "state", "/a b/h.json:stop:0:0"), ("mcp", "ours", "é")])
TABLES = st.dictionaries(
    NAMES, st.dictionaries(st.sampled_from(["command", "args"]), st.text(max_size=5), min_size=1), max_size=3
)


@core
@given(text=st.none() | TEXTS, tables=TABLES)
def test_tables_go_in_at_the_end_and_out_again_to_the_byte(
    text: str | None, tables: dict[tuple[str, ...], dict[str, str]]
) -> None:
    before = tomllib.loads(text or "")
    made = text
    for name, values in tables.items():
        made = with_table(made, name, values)
        assert with_table(made, name, values) == made
    for name, values in tables.items():
        value = tomllib.loads(made or "")
        for each in name:
            value = value[each]
        assert {key: value[key] for key in values} == values
    assert made is None or made.startswith(text or "")
    back = without_tables(made, tables.__contains__) if made is not None else None
    assert back == text
    assert tomllib.loads(back or "") == before


def test_what_the_program_wrote_behind_a_table_stays() -> None:
    made = with_table("model = 'x'", ("mcp", "ours"), {"command": "a", "args": ["b"]})
    later = f'{made}timeout = 5\n\n# mine\n[projects."/p"]\ntrust = true\n'
    assert with_table(later, ("mcp", "ours"), {"command": "c"}) == later.replace('"a"', '"c"')
    added = with_table(later, ("mcp", "ours"), {"cwd": "/"})
    assert added == later.replace("timeout = 5\n", 'timeout = 5\ncwd = "/"\n')
    assert without_tables(added, {("mcp", "ours")}.__contains__) == (
        "model = 'x'\n# mine\n[projects.\"/p\"]\ntrust = true\n"
    )


def test_a_file_that_has_nothing_else_goes_whichever_of_ours_goes_first() -> None:
    made = with_table(with_table(None, ("a",), {"n": 1}), ("b",), {"n": 1})
    for first, second in (("a", "b"), ("b", "a")):
        left = without_tables(made, lambda name, first=first: name == (first,))  # type: ignore[misc]
        assert left is not None
        assert without_tables(left + "\n", lambda name, second=second: name == (second,)) is None  # type: ignore[misc]
    assert without_tables(f"\n{made}", lambda name: True) == ""


@pytest.mark.parametrize("text", ["mcp = {}\n", "mcp = 1\n", "a = ", "[mcp]\nours = {x = 1}\n", "[[mcp]]\n"])
def test_a_table_that_cannot_be_put_in_safely_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        with_table(text, ("mcp", "ours"), {"command": "a"})


def test_a_table_that_cannot_be_taken_out_safely_is_refused() -> None:
    text = "# it'''s\ns = '''\n[ours]\nn = 1\n'''\n"
    with pytest.raises(ValueError, match="layout"):
        without_tables(text, {("ours",)}.__contains__)
    with pytest.raises(ValueError, match="layout"):
        with_table("[ours]\na = [\n1]\n", ("ours",), {"a": 2})


def test_a_key_at_the_top_is_set_and_taken_away() -> None:
    assert with_key("[t]\nn = 1\n", "k", "v") == 'k = "v"\n\n[t]\nn = 1\n'
    assert with_key('a = 1\nk = "v"\n', "k", None) == "a = 1\n"
    assert with_key('k = "v"', "k", "v") == 'k = "v"'
    assert parse("\ufeffa = 1") == {"a": 1}
    with pytest.raises(ValueError, match="layout"):
        with_key('m = """\nk = "v"\n"""\n', "k", "w")
