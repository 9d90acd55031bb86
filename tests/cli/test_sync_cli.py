"""`looseleaf sync`: what came, what went, in words and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def copy(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A whole copy beside the memory, in which another machine learnt something since."""
    with Memory(folder) as memory:
        memory.remember("I like green tea.")
    target = folder.parent / "stick"
    code, out, _ = run("sync", str(target))
    assert code == 0
    assert f"{target} did not exist, and is now a whole copy." in out
    with monkeypatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", "lap")
        with Memory(target) as memory:
            memory.remember("I work at Acme.")
            memory.record(user="What a day!")
    return target


def test_a_sync_says_what_came_and_what_went(copy: Path, run: Run) -> None:
    page = copy / "USER.md"
    page.write_text(page.read_text("utf-8") + "- Instrument: cello\n", "utf-8")
    code, out, _ = run("sync", str(copy))
    assert code == 0
    assert "added: 2 facts\n" in out
    assert "Acme" in out
    assert "Instrument: cello" in out
    assert "talk: 1 turn came" in out
    assert "changed by hand there: USER.md; that was taken in" in out
    assert "sent: 1 file of logs" in out
    assert f"This memory and {copy} are now equal." in out
    assert run("sync", str(copy))[1] == f"There is nothing to do: this memory and {copy} are equal.\n"


def test_turns_say_where_those_of_other_machines_are(copy: Path, run: Run) -> None:
    assert run("turns")[1] == "There are no messages yet.\n"
    run("sync", str(copy))
    told = "What was said on lap: `looseleaf sessions` lists it, `turns --session ID` shows it.\n"
    assert run("turns")[1] == f"Nothing was said on this machine yet.\n{told}"
    session = json.loads(run("sessions", "--json")[1])[0]["session_id"]
    out = run("turns", "--session", session)[1]
    assert "What a day!" in out
    assert told not in out
    run("record", "user", "Here, too.")
    out = run("turns")[1]
    assert "Here, too." in out
    assert out.endswith(told)


def test_a_yes_to_a_contested_value_names_the_one_that_it_ends(folder: Path, run: Run) -> None:
    with Memory(folder) as memory:
        memory.remember("I like green tea.")
    page = folder / "facts/heron.md"
    page.parent.mkdir(exist_ok=True)
    lines = [f"- Database: {name} (from git-bf04fbccdc on 2026-11-18)\n" for name in ("MySQL", "SQLite")]
    page.write_text("# Heron\n\n" + "".join(lines), "utf-8")
    facts = json.loads(run("facts", "--json")[1])
    mysql = next(fact["id"] for fact in facts if fact["object"].startswith("MySQL"))
    out = run("approve", mysql)[1]
    assert "Database: MySQL  (confirmed)" in out
    ended = [line for line in out.splitlines() if "instead of" in line]
    assert len(ended) == 1
    assert "Database: SQLite" in ended[0]


def test_it_is_told_as_json_too(copy: Path, run: Run) -> None:
    code, out, _ = run("sync", str(copy), "--json")
    told = json.loads(out)
    assert code == 0
    assert [fact["object"] for fact in told["came"]["added"]] == ["Acme"]
    assert told["came"]["turns"] == 1
    assert told["kind"] == "folder"
    assert told["left"] == []


def test_a_page_that_is_left_alone_is_named_and_is_a_problem(copy: Path, run: Run) -> None:
    (copy / "USER.md").write_bytes(b"# USER\n\n\xff\xfe\n")
    code, out, _ = run("sync", str(copy))
    assert code == 1
    assert f"left alone: USER.md in {copy} was left as it is: it is not UTF-8 text, from line 3." in out
    assert f"Apart from that, this memory and {copy} are now equal." in out
    code, out, _ = run("sync", str(copy))
    assert code == 1
    assert "There is nothing to do" not in out
    assert f"Apart from that, this memory and {copy} are equal." in out
    command = f"--memory {copy} settle USER.md --keep"
    assert f"`looseleaf {command}` puts the page back" in out
    assert run(*command.split())[0] == 0
    assert run("sync", str(copy))[0] == 0
    assert b"Acme" in (copy / "USER.md").read_bytes()


def test_a_dry_run_says_what_would_come_and_go(copy: Path, run: Run) -> None:
    code, out, err = run("sync", str(copy), "--dry-run")
    assert code == 0
    assert "would be added: 1 fact\n" in out
    assert "talk: 1 turn would come\n" in out
    assert f"This memory and {copy} would be equal.\n" in out
    assert "without `--dry-run`" in err
    assert "Acme" not in run("facts")[1]
    out = run("sync", str(copy.parent / "other"), "--dry-run")[1]
    assert f"{copy.parent / 'other'} does not exist, and would be a whole copy." in out
    assert not (copy.parent / "other").exists()
    run("sync", str(copy))
    assert (
        run("sync", str(copy), "--dry-run")[1]
        == f"There is nothing to do: this memory and {copy} are equal.\n"
    )


def test_an_empty_place_is_called_empty(folder: Path, run: Run) -> None:
    target = folder.parent / "stick"
    target.mkdir()
    assert f"{target} was empty, and is now a whole copy." in run("sync", str(target))[1]
    assert "unrecognized" not in run("sync", str(target), "--new-branch")[2]


def test_facts_that_another_machine_forgot_are_counted_and_not_named(
    copy: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("sync", str(copy))
    with monkeypatch.context() as patch:
        patch.setenv("LOOSELEAF_MACHINE", "lap")
        with Memory(copy) as memory:
            memory.forget(match="Acme")
    out = run("sync", str(copy))[1]
    assert "forgotten: 1 fact, as on the other machine" in out
    assert "Acme" not in out


def test_without_a_place_the_settings_name_it(copy: Path, folder: Path, run: Run) -> None:
    code, _, err = run("sync")
    assert code == 2
    assert "no place was named" in err
    (folder / "looseleaf.toml").write_text('sync = "../stick"\n', "utf-8")
    code, out, _ = run("sync")
    assert code == 0
    assert "This memory and ../stick are now equal." in out
