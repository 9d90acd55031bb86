"""What a command on a database tells a person to do next can be done as it stands: with the same database, the same
folder, the same memory."""

from __future__ import annotations

import re
import shlex

import pytest

from looseleaf.cli.main import main
from looseleaf.cli.verbs.serve import first_of
from looseleaf.pages.folder import init, is_memory
from looseleaf.store.context import shown_name
from postgres import Running, own_server


def test_a_new_memory_is_not_told_to_run_what_is_refused_there(
    postgres: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    where = postgres.memory()
    database = shlex.quote(where.partition("&namespace=")[0])
    assert main(["init", where]) == 0
    out, err = capsys.readouterr()
    assert out == f"{shown_name(where)} is a memory now.\n"
    assert err == (
        f'Next: `looseleaf --memory {shlex.quote(shown_name(where))} remember "I prefer green tea."` adds a fact; '
        f"`looseleaf serve --postgres {database}` serves it to coding agents and other programs: docs/HOOKS.md, "
        "docs/SERVE.md.\n"
    )


def test_where_no_memory_has_the_name_the_name_is_said(
    postgres: Running, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the one that an address without a name means."""
    database = postgres.address(postgres.database())
    monkeypatch.delenv("LOOSELEAF_NAMESPACE", raising=False)
    for where, name in ((database, "main"), (f"{database}&namespace=acme/agent-7", "acme/agent-7")):
        assert main(["--memory", where, "facts"]) == 2
        err = capsys.readouterr().err
        assert f"there is no memory of the name {name} in {database}." in err
        command = shlex.split(err.partition("make this one with: ")[2])
        assert main(command[1:]) == 0
        assert is_memory(where)
        capsys.readouterr()


def test_a_server_of_a_folder_is_stopped_by_the_command_that_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with own_server() as running:
        folder = running.server.folder
        assert main(["database", "start", str(folder)]) == 0
        stop = re.search(r"`looseleaf (database stop [^`]*)` stops it", capsys.readouterr().err)
        assert stop is not None
        assert shlex.split(stop[1]) == ["database", "stop", str(folder)]
        assert main(shlex.split(stop[1])) == 0
        assert capsys.readouterr().out == f"stopped: {folder}\n"


def test_a_token_says_what_it_may_where_and_how_it_ends(
    postgres: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    database = postgres.address(postgres.database())
    init(f"{database}&namespace=mira")
    given = ["--memories", "mira,heron=read+write", "--scopes", "read,write,review"]
    assert main(["token", "new", "mira", "--postgres", database, *given]) == 0
    err = capsys.readouterr().err
    assert " may read, write, review in mira, heron=read+write. " in err
    revoke = re.search(r"`looseleaf (token revoke [^`]*)` ends it", err)
    assert revoke is not None
    assert shlex.split(revoke[1])[-2:] == ["--postgres", database]
    assert main(shlex.split(revoke[1])) == 0
    assert capsys.readouterr().out.startswith("revoked: ")


def test_the_address_that_a_server_for_trying_prints_is_one_of_a_memory(
    postgres: Running, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOOSELEAF_NAMESPACE", raising=False)
    assert (
        first_of("postgresql://db.example.org/memories")
        == "'postgresql://db.example.org/memories?namespace=main'"
    )
    database = postgres.address(postgres.database())
    assert "?host=" in database
    (where,) = shlex.split(first_of(database))
    assert where == f"{database}&namespace=main"
    init(where)
    assert main(["--memory", where, "remember", "I prefer green tea."]) == 0
