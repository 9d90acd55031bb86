"""Values that machines noted differently can be found: each with its machine and day, and the commands that decide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run
from machines import FIRST, HASTY, Machines


@pytest.fixture
def contested(tmp_path: Path) -> Path:
    """A memory in which two machines noted another test runner, and no person said which."""
    machines = Machines(tmp_path)
    for name, said in ((FIRST, "tox"), ("lap", "nose")):
        with machines.open(name) as memory:
            page = f"# Project\n\n- Test runner: {said}\n"
            memory.pages.edit("facts/project.md", page, reason="noted", author="agent:main")
    machines.carry_all()
    with machines.open(FIRST) as memory:
        assert len(memory.facts(topic="project")) == 2
    assert HASTY.settle_seconds == 0.0
    return machines[FIRST]


def test_review_and_status_show_contested_values_until_a_person_decides(contested: Path, run: Run) -> None:
    at = ("--memory", str(contested))
    _, out, err = run(*at)
    assert "  review   nothing waiting for your yes, 1 contested value\n" in out
    assert "review` shows the contested values" in err
    assert json.loads(run(*at, "--json")[1])["contested"] == 1
    told = json.loads(run("review", "--json", *at)[1])
    assert [each["contested"] for each in told] == [[each["id"]] for each in reversed(told)]
    code, out, err = run("review", *at)
    assert code == 0
    assert "project: Test runner\n" in out
    for each, machine in zip(
        told, ("lap", FIRST) if "nose" in told[0]["object"] else (FIRST, "lap"), strict=True
    ):
        value = each["object"].partition(" ")[0]
        assert f"  {each['id']}  {value}  (from {machine} on 2" in out
    assert "approve ID` keeps a contested value" in err
    right = next(each["id"] for each in told if each["object"].startswith("tox"))
    assert run("approve", right, *at)[0] == 0
    assert run("review", *at)[1] == "Nothing waits for review.\n"
    assert "contested" not in run(*at)[1]


def test_the_mark_of_a_contested_value_stands_apart_from_the_value(contested: Path, run: Run) -> None:
    at = ("--memory", str(contested))
    out = run("facts", *at)[1]
    assert "  Test runner: tox  (inferred, from desk on 2" in out
    out = run("recall", "Which test runner?", *at)[1]
    assert "project: Test runner: tox\n   └ " in out
    assert "  from desk on 2" in out
