"""Of the state, its words are forgotten and looked for; its form stands there again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import Run
from machines import FIRST, Machines

WORD = "quokka"


@pytest.fixture
def machines(tmp_path: Path) -> Machines:
    """Two of them have a goal of their own, and a task; one task is done."""
    made = Machines(tmp_path)
    for name in (FIRST, "lap"):
        with made.open(name) as memory:
            memory.state.update(goal=f"Feed the {WORD} of {name}", author="person")
            memory.state.add_task(f"Brush the {WORD} of {name}", author="person")
    made.carry_all()
    with made.open("lap") as memory:
        memory.state.done("T-1", author="person")
    made.carry_all()
    return made


def test_what_goes_of_the_state_is_told_in_words(machines: Machines) -> None:
    with machines.open(FIRST) as memory:
        lines = memory.forget(match=WORD, dry_run=True).first["lines"]
        assert [each for each in lines if WORD not in each or '"' in each] == []
        done = memory.forget(match=WORD)
    assert done.probe is not None
    assert (done.is_complete, done.probe.hits) == (True, ())


def test_what_this_machine_says_since_is_no_hit_in_the_log_of_another(machines: Machines, run: Run) -> None:
    with machines.open(FIRST) as memory:
        memory.forget(match=WORD)
        memory.state.add_task("Buy some paint", author="person")
        memory.state.add_task(f"Read about the {WORD} again", author="person")
    code, out, _ = run("forget", "--in-place-of", "lap", "--yes", "--memory", str(machines[FIRST]))
    assert code == 0
    assert "0 hits.\n" in out
    assert "still" not in out
    assert "--in-place-of" not in out
    log = machines.log(FIRST, "lap")
    texts = [each.read_text("utf-8") for each in log.rglob("*") if each.is_file()]
    said = [word for text in texts for word in re.findall(rf"[^\"\\]*{WORD}[^\"\\]*", text)]
    assert {*said} <= {f"Read about the {WORD} again"}  # taken in there in its name
    own = (machines[FIRST] / "log/journal.jsonl").read_text()
    assert f"the {WORD} again" in own
