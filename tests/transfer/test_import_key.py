"""What was forgotten does not come back silently where the key of its tombstones is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from importing import bring, open_memory, talk, traces_of
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.cli import main as cli

TALK = "Xylofon is the name of the project."
OTHER = "The weather is fine in Graz today."


@pytest.fixture
def folder(place: Path) -> Path:
    """A memory in which something imported was forgotten."""
    with open_memory(place / "memory") as memory:
        assert bring(memory, talk("a", TALK), talk("b", OTHER)).to_dict()
        memory.forget(match="Xylofon")
        bring(memory, talk("a", TALK))
        assert [trace.content for trace in traces_of(memory)] == [OTHER]
    assert errors(place / "memory") == []
    return place / "memory"


def errors(folder: Path) -> list[str]:
    with Memory(folder) as memory:
        return [str(each) for each in memory.check() if each.severity == "error"]


@pytest.mark.parametrize("new", [None, bytes(range(32))], ids=["gone", "another one"])
def test_a_lost_key_is_an_error_and_no_import_brings_back_what_was_forgotten(
    folder: Path, new: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    key = folder / "log/key"
    old = key.read_bytes()
    key.unlink()
    if new is not None:
        key.write_bytes(new)
    (problem,) = errors(folder)
    assert problem.startswith("log/key: the key of 1 forgetting is gone, or another one is in its place")
    with open_memory(folder) as memory:
        memory.record(user="What is said goes on being recorded.")  # which makes a new key
        for dry_run in (True, False):
            with pytest.raises(Refused, match="Put a copy of the file back, from an export or a backup"):
                bring(memory, talk("a", TALK), dry_run=dry_run)
    assert len(errors(folder)) == 1

    made = key.read_bytes()
    key.write_bytes(old)  # put back
    assert errors(folder) == []
    with open_memory(folder) as memory:
        bring(memory, talk("a", TALK))
        assert TALK not in {trace.content for trace in traces_of(memory)}

    key.write_bytes(made)
    assert cli.main(["--memory", str(folder), "repair"]) == 0  # accepted
    assert "not recognized any more; that is accepted" in capsys.readouterr().out
    assert errors(folder) == []
    with open_memory(folder) as memory:
        bring(memory, talk("c", OTHER))
        memory.forget(match="weather")
    assert errors(folder) == []
    key.unlink()
    (problem,) = errors(folder)
    assert "1 forgetting is gone" in problem  # of the new key: the older one is accepted


def test_tombstones_of_an_unknown_key_are_compared_while_there_is_one(folder: Path) -> None:
    stones, key = folder / "log/tombstones.jsonl", folder / "log/key"
    stone = json.loads(stones.read_text())
    del stone["key"], stone["crc"]
    stones.write_text(json.dumps(stone) + "\n")
    assert errors(folder) == []
    key.unlink()
    assert len(errors(folder)) == 1
    assert cli.main(["--memory", str(folder), "repair"]) == 0
    assert len(key.read_bytes()) == 32
    assert errors(folder) == []
