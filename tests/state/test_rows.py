"""The state as rows that several machines changed apart."""

from __future__ import annotations

import json

import pytest

from looseleaf.state.rows import state_of


def ids(*machines: str) -> list[str]:
    rows = [(json.dumps(["tasks_open[]", {"id": "T-2", "title": name}]) + "\n", name) for name in machines]
    return [row["id"] for row in json.loads(state_of(rows))["tasks_open"]]


def test_a_row_is_told_from_another_of_its_id_by_the_machine() -> None:
    assert ids("desk") == ["T-2"]
    assert ids("lap", "desk") == ["T-2", "T-2-desk"]
    assert ids("desk", "lap-4ab2", "phone") == ["T-2", "T-2-lap-4ab2", "T-2-phone"]


@pytest.mark.parametrize("machine", ["desk", "d" * 40, "lap-4ab2", "a" * 29 + "-bc", "desk-ddef01"])
def test_two_copies_that_one_machine_used_get_the_same_ids(machine: str) -> None:
    stem = machine[:30].rstrip("-")
    branch, other = f"{stem}-6502e3", f"{stem}-ddef01"
    found = [ids(*each) for each in ((machine, branch), (other, machine), (branch, other))]
    assert found[0] == found[1] == found[2]
    three = [ids(*each) for each in ((machine, branch, other), (branch, machine, other))]
    assert three[0] == three[1] == [*found[0], f"{found[0][1]}-2"]
    again = f"{branch[:30].rstrip('-')}-abcdef"  # a copy of a copy
    assert ids(machine, again) == found[0]
