"""A memory in a database, as the code above the store sees it: named by an address, without a folder, and with a
password that nobody is shown."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli.test_main import modules_after
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.policy import Policy
from looseleaf.cli.main import main
from looseleaf.index.opening import all_rows
from looseleaf.integrations import detached
from looseleaf.memory.layers import find_layers
from looseleaf.pages.folder import init, is_memory, is_projects, settings
from looseleaf.transfer.source import ImportSource

if TYPE_CHECKING:
    from postgres import Running

SECRET = "red-herring"
NOWHERE = f"postgresql://ann:{SECRET}@127.0.0.1:1/notes?namespace=acme/agent-7"
COMMAND = "from looseleaf.cli.main import main\nmain(sys.argv[1:])"


# --- names, without a server --------------------------------------------------------------


def test_what_would_need_a_folder_says_what_to_do_and_no_password(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        for act, then in (
            (lambda: memory.merge(NOWHERE), "`looseleaf export --as folder` writes a copy"),
            (lambda: memory.sync(NOWHERE), "`looseleaf move` puts a memory there"),
            (lambda: ImportSource(NOWHERE), "`looseleaf export` writes what is in it"),
        ):
            with pytest.raises(Refused) as refused:
                act()
            assert then in str(refused.value)
            assert "acme/agent-7" in str(refused.value)
            assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "words",
    [
        ["facts"],
        ["init"],
        ["setup", "claude"],
        ["hook", "install", "--claude"],
        ["hook", "install", "--git"],
        ["doctor"],
        ["doctor", "--json"],
    ],
    ids=" ".join,
)
def test_no_verb_shows_a_password(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert main(["--memory", NOWHERE, *words]) in (1, 2)
    said = "".join(capsys.readouterr())
    assert "postgresql://ann@127.0.0.1:1/notes" in said
    assert SECRET not in said


def test_a_hook_refuses_a_database_without_loading_its_driver(tmp_path: Path) -> None:
    loaded = modules_after(COMMAND, "--memory", NOWHERE, "hook", "user-prompt")
    assert "looseleaf.cli.verbs.setup" in loaded
    assert not {each for each in loaded if each.startswith("psycopg")}


def test_an_address_is_no_project_whatever_it_ends_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not is_projects("postgresql://127.0.0.1:1/.looseleaf")


def test_a_layer_that_no_server_has_is_left_out_with_a_note(tmp_path: Path) -> None:
    notes: list[str] = []
    missed: list[str] = []
    assert find_layers(str(tmp_path), Policy(over=(NOWHERE,)), notes.append, missed) == []
    assert missed[0].startswith("agent-7: ")
    assert SECRET not in "".join((*notes, *missed))


# --- with one -----------------------------------------------------------------------------


def test_a_memory_in_a_database_is_begun_found_and_named(postgres: Running) -> None:
    where = postgres.memory()
    assert not is_memory(where)
    assert init(where) is True
    assert init(where) is False
    assert is_memory(where)
    with Memory(where, agent="ann") as memory:
        assert memory.where == where
        assert repr(memory) == f"Memory({memory.name!r}, agent='ann')"
        with pytest.raises(Refused, match=r"is in a database, .* and has no folder"):
            _ = memory.path
        with pytest.raises(Refused, match="has no folder"):
            memory.merge("/tmp")
        with pytest.raises(Refused, match="has no folder"):
            memory.sync("/tmp", dry_run=True)


def test_the_settings_of_a_memory_are_a_document_of_it(postgres: Running) -> None:
    where = postgres.memory()
    with Memory(where) as memory:
        memory.parts.store.put("looseleaf.toml", b"lock_seconds = 7.5\n", base=None)
    assert settings(where).lock_seconds == 7.5
    with Memory(where) as memory:
        assert memory.policy.lock_seconds == 7.5


def test_a_child_process_is_told_the_address_where_others_do_not_see_it(
    postgres: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[list[str], dict[str, Any]]] = []

    class Started:
        def __init__(self, command: list[str], **given: Any) -> None:
            started.append((command, given))

    monkeypatch.setattr(subprocess, "Popen", Started)
    with Memory(postgres.memory()) as memory:
        detached.start(memory)
        [(command, given)] = started
        assert not any("postgresql" in each for each in command)
        assert given["env"]["LOOSELEAF_HOME"] == memory.where


def _say(memory: Memory, *texts: str) -> None:
    for text in texts:
        memory.record(user=text)
        memory.record(assistant="Noted.")
    memory.distill()


def test_a_folder_lies_over_a_database_and_a_database_over_a_folder(
    tmp_path: Path, postgres: Running
) -> None:
    below = postgres.memory()
    with Memory(below) as memory:
        memory.remember("I prefer green tea.")
    with Memory(tmp_path / "top", policy=Policy(over=(below,))) as memory:
        memory.remember("I live in Lyon.")
        assert {fact.object for fact in memory.facts()} == {"Lyon", "green tea"}
        [layer] = memory.parts.layers.found if memory.parts.layers is not None else []
        assert memory.recall("green tea")[0].where.startswith(f"{layer.name}:")
        assert memory.forget(match="green tea").layers[0].is_complete
        assert {fact.object for fact in memory.facts()} == {"Lyon"}
    with Memory(below, policy=Policy(over=(str(tmp_path / "top"),))) as memory:
        assert {fact.object for fact in memory.facts()} == {"Lyon"}


def test_a_layer_in_a_database_is_only_read_from_above(tmp_path: Path, postgres: Running) -> None:
    below = postgres.memory()
    init(below)
    with Memory(tmp_path / "top", policy=Policy(over=(below,))) as memory:
        layers = memory.parts.layers
        assert layers is not None
        with pytest.raises(Refused, match="only read from here"):
            layers.reading(layers.found[0]).store.append("journal", [{"id": "x"}])


def test_forgetting_proves_that_no_row_has_it(postgres: Running) -> None:
    where = postgres.memory()
    with Memory(where) as memory:
        _say(memory, "My sister Zora is allergic to peanuts.", "I live in Lyon.")
        assert memory.recall("Who is allergic?")  # now the index has it
        said = {path for path, data in all_rows(memory.parts.store) if b"zora" in data.lower()}
        assert {
            "USER.md",
            "log/traces/main/raw_traces.jsonl",
            "views/index/items",
            "views/index/lines",
        } <= said
        done = memory.forget(match="Zora")
        assert done.probe is not None
        assert done.probe.hits == ()
        assert done.probe.bytes > 1000
        assert not memory.recall("Zora")
        assert not [path for path, data in all_rows(memory.parts.store) if b"zora" in data.lower()]
        assert memory.check() == []


def test_a_page_that_is_not_as_its_last_edit_left_it_is_found_and_put_back(postgres: Running) -> None:
    where = postgres.memory()
    with Memory(where) as memory:
        memory.remember("I prefer green tea.")
        good = memory.pages.read("USER.md").data
        database = str(memory.parts.store.tables and memory.parts.store.tables[0].url)
    name = database.partition("?")[0].rpartition("/")[2]
    postgres.execute(
        "UPDATE looseleaf.documents SET data = '# Foreign'::bytea, sha256 = sha256('# Foreign'::bytea) "
        "WHERE path = 'USER.md' AND memory = (SELECT memory FROM looseleaf.memories WHERE namespace = %s)",
        (where.rpartition("namespace=")[2],),
        database=name,
    )
    with Memory(where) as memory:
        assert [str(each.path) for each in memory.check()] == ["USER.md"]
        assert memory.pages.read("USER.md").data == good  # from the journal
        [done] = memory.repair()
        assert done.startswith("USER.md: as its last edit left it; what was there is in log/aside/")
        assert memory.check() == []
        assert memory.pages.read("USER.md").data == good


def test_verbs_work_by_the_address_of_the_environment(
    tmp_path: Path, postgres: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOOSELEAF_HOME", postgres.memory())
    monkeypatch.chdir(tmp_path)
    for words in (
        ["init"],
        ["remember", "I live in Lyon."],
        ["recall", "Where do I live?"],
        ["check"],
        ["--json"],
    ):
        assert main(words) == 0
    assert main(["export", "--as", "folder", "copy"]) == 0
    capsys.readouterr()
    monkeypatch.setenv("LOOSELEAF_HOME", str(tmp_path / "copy"))
    assert main(["facts"]) == 0
    assert "Home: Lyon" in capsys.readouterr().out
    assert not os.path.exists(tmp_path / "postgresql:")
