"""Entries that are gone, or lack a file: `check` names them, `repair` makes again what it can and accepts the rest."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from looseleaf import Memory
from looseleaf.cli import main as cli

ENTRIES = "log/entries"


@pytest.fixture
def folder(place: Path) -> Path:
    """A memory with an entry of written words, one of distilled talk, and one of a compaction."""
    with Memory(place / "memory") as memory:
        memory.remember("I live in Lyon.")
        memory.record(user="My dog is called Rex.")
        memory.record(assistant="A fine name.")
        memory.distill()
        for turn in range(8):
            memory.record(user=f"I planted {turn} trees. " + "word " * 300)
            memory.record(assistant="Noted. " + "word " * 300)
        memory.window.compact()
    assert errors(place / "memory") == []
    return place / "memory"


def errors(folder: Path) -> list[str]:
    with Memory(folder) as memory:
        return [str(each) for each in memory.check() if each.severity == "error"]


def entries(folder: Path) -> dict[str, Path]:
    return {str(each.relative_to(folder)): each for each in sorted((folder / ENTRIES).glob("*/*"))}


def repaired(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert cli.main(["--memory", str(folder), "repair"]) == 0
    return capsys.readouterr().out


def test_each_entry_that_is_gone_is_named_until_it_is_back_or_accepted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = entries(folder)
    assert {name.split("/")[2] for name in every} == {"user", "sessions"}
    assert len(every) >= 3
    for name, path in every.items():
        path.rename(folder.parent / "away")
        (problem,) = errors(folder)
        assert problem.startswith(f"{name}: this entry is gone; the journal names it. Put a copy of it back")
        (folder.parent / "away").rename(path)
        assert errors(folder) == []
    shutil.rmtree(folder / ENTRIES)
    assert {each.partition(":")[0] for each in errors(folder)} == {*every}
    assert cli.main(["--memory", str(folder), "check"]) == 1
    assert repaired(folder, capsys).count("what is missing is accepted") == len(every)
    assert errors(folder) == []
    assert repaired(folder, capsys) == "Nothing to repair.\n"


def test_what_was_learned_from_an_entry_that_is_gone_says_so_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(folder / ENTRIES / "user")
    with Memory(folder) as memory:
        (home,) = (fact for fact in memory.facts() if fact.relation == "Home")
    for verb in ("why", "history"):
        assert cli.main(["--memory", str(folder), verb, home.id or ""]) == 0
        out, err = capsys.readouterr()
        assert "no entry, turn or trace" not in out + err
        assert err.count("is gone from the log. `looseleaf check`") == 1


def test_forgetting_and_making_anew_raise_no_alarm(folder: Path) -> None:
    with Memory(folder) as memory:
        memory.forget(match="Rex")
        assert memory.check() == [each for each in memory.check() if each.severity == "note"]
        memory.forget(topic="user")
        memory.distill("The kitchen was painted blue in 2019.", topic="house")
        memory.review.redistill(apply=True)
        memory.parts.build(full=True)
    assert errors(folder) == []
    shutil.rmtree(folder / "views")
    assert errors(folder) == []


@pytest.mark.parametrize("name", ["raw.md", "meta.json", "summary.json"])
def test_a_missing_file_of_an_entry_is_put_back_made_again_or_accepted(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    before = {entry: (path / name).read_bytes() for entry, path in entries(folder).items()}
    for entry, path in entries(folder).items():
        (path / name).unlink()
        (problem,) = errors(folder)
        assert problem.startswith(
            f"{entry}/{name}: this file of the entry is missing. Put a copy of the file back"
        )
        (path / name).write_bytes(before[entry])
        assert errors(folder) == []
        (path / name).unlink()
        said = repaired(folder, capsys)
        if name == "raw.md" and "/sessions/" in entry:
            assert f"{entry}/raw.md: made again from what was said" in said
            assert (path / name).read_bytes() == before[entry]
        else:
            assert f"{entry}: what is missing is accepted" in said
        assert errors(folder) == []
        assert repaired(folder, capsys) == "Nothing to repair.\n"


def test_a_raw_file_is_not_made_again_of_other_talk_than_was_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for archive in (folder / "log/traces/main").rglob("*.jsonl"):
        archive.unlink()
    raw = next((folder / ENTRIES / "sessions").glob("*/raw.md"))
    raw.unlink()
    assert f"{raw.parent.relative_to(folder)}: what is missing is accepted" in repaired(folder, capsys)
    assert not raw.exists()
