"""A memory that was written before logs named machines opens as the log of the first one, and is shared from then on.

`older/memory` is such a folder: remembered, recorded and distilled, with a model's line, a task, a pin, a line of an
editor and an undo.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from looseleaf import Memory
from looseleaf.store.this_machine import VARIABLE

OLDER = Path(__file__).parents[1] / "older" / "memory"
FACTS = {("Likes", "green tea"), ("Home", "Lyon"), ("Name", "Ana"), ("Tool", "saw")}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, "desk")
    shutil.copytree(OLDER, tmp_path / "desk")
    return tmp_path / "desk"


def said(memory: Memory) -> set[tuple[str, str]]:
    return {(fact.relation, fact.object) for fact in memory.facts()}


def test_an_older_folder_opens_as_it_was_and_is_the_first_machines(desk: Path) -> None:
    before = (desk / "log/journal.jsonl").read_bytes()
    with Memory(desk) as memory:
        assert said(memory) == FACTS
        assert memory.check() == []
        assert (desk / "log/journal.jsonl").read_bytes() == before
        memory.remember("I work at Acme.")
    assert json.loads((desk / "log/machine").read_bytes())["id"] == "desk"
    assert (desk / "log/journal.jsonl").read_bytes().startswith(before)


@pytest.mark.parametrize("is_named", [True, False])
def test_it_is_carried_to_a_second_machine_and_merged_back(
    desk: Path, monkeypatch: pytest.MonkeyPatch, is_named: bool
) -> None:
    """Also if it was carried before the first machine had put its name there: then two go on with one log."""
    if is_named:
        with Memory(desk) as memory:
            memory.record(user="Here again.")
    shutil.copytree(desk, desk.parent / "lap")
    with Memory(desk) as memory:
        memory.remember("My sister is Zoe.")
    monkeypatch.setenv(VARIABLE, "lap")
    with Memory(desk.parent / "lap") as memory:
        assert said(memory) == FACTS
        memory.remember("I work at Acme.")
        memory.merge(desk)
        there, pages = said(memory), {path: memory.pages.read(path).data for path in memory.pages.list()}
        assert FACTS | {("Employer", "Acme")} <= there
        assert any("Zoe" in value for _, value in there)
        assert [each for each in memory.check() if each.severity == "error"] == []
    monkeypatch.setenv(VARIABLE, "desk")
    with Memory(desk) as memory:
        memory.merge(desk.parent / "lap")
        assert said(memory) == there
        assert {path: memory.pages.read(path).data for path in memory.pages.list()} == pages
        assert [each for each in memory.check() if each.severity == "error"] == []
