"""A table that fails says so, row by row."""

from __future__ import annotations

import pytest

from tables import check_rows


def is_even(number: int) -> None:
    assert number % 2 == 0, f"{number} is odd"


def test_every_failing_row_is_listed_and_no_other() -> None:
    with pytest.raises(AssertionError) as caught:
        check_rows(is_even, [1, 2, 3])
    said = str(caught.value).splitlines()
    assert said[0] == "2 of 3 rows fail:"
    assert [line for line in said if "odd" in line] == ["1: 1 is odd", "3: 3 is odd"]


def test_an_empty_table_is_a_failure() -> None:
    with pytest.raises(AssertionError, match="the table is empty"):
        check_rows(is_even, [])


def test_a_row_may_be_several_arguments() -> None:
    check_rows(lambda one, other: is_even(one + other), [(1, 1), (2, 4)])
