"""A build of pgvector that kills the server is found out before anybody connects, and once."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from looseleaf.store.postgres import embedded, probe
from looseleaf.store.postgres.address import Address, parse_address
from looseleaf.store.postgres.database import Database
from looseleaf.store.postgres.embedded import OWNER, SUPERUSER, EmbeddedServer
from looseleaf.store.postgres.migrate import migrate
from looseleaf.store.postgres.probe import vectors
from postgres import FAST, Running, gate, own_server, refuse_without_server, servers

if TYPE_CHECKING:
    from looseleaf.store.postgres.probe import Vectors

KILLS = "COPY (SELECT 1) TO PROGRAM 'kill -ILL $PPID';\nSELECT pg_sleep(1);\n"
"""What an instruction does that the processor does not have: the server's process ends by that signal."""


@pytest.fixture
def deadly(tmp_path: Path) -> Path:
    path = tmp_path / "try_vectors.sql"
    path.write_text(KILLS)
    return path


def found(address: str | Address) -> Vectors:
    database = Database(parse_address(address) if isinstance(address, str) else address)
    try:
        return vectors(database)
    finally:
        database.close()


def wait_for_recovery(running: Running) -> None:
    for _ in range(500):
        try:
            running.execute("SELECT 1")
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return
    pytest.fail("the server did not come back")


# --- the server for trying -------------------------------------------------------------


@pytest.fixture
def place() -> Iterator[Path]:
    refuse_without_server()
    folder = servers() / f"own-{uuid.uuid4().hex[:10]}"
    yield folder
    EmbeddedServer(folder).stop()
    shutil.rmtree(folder, ignore_errors=True)


def test_a_build_that_would_kill_the_server_is_never_asked_for_vectors(
    place: Path, deadly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "TRIAL", deadly)
    server = EmbeddedServer(place, FAST)
    with gate(), server.running():
        log = (server.data / "server.log").read_text()
        assert Running(server).execute("SHOW looseleaf.vectors") == [("off",)]
        first = server.pid
        assert (
            migrate(parse_address(server.address(OWNER))).vectors == "absent"
        )  # not even the extension was made
        Running(server).execute("CREATE EXTENSION vector", database="looseleaf")
        assert migrate(parse_address(server.address(OWNER))).vectors == "fails"
        assert found(server.address()) == "fails"
        assert server.pid == first
    assert "terminated by signal" not in log + (server.data / "server.log").read_text()


def test_it_is_tried_again_on_another_processor_and_only_there(
    place: Path, deadly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = EmbeddedServer(place, FAST)
    with server.running():
        assert found(server.address()) == "works"
    monkeypatch.setattr(embedded, "TRIAL", deadly)
    with server.running():
        assert found(server.address()) == "works"
    monkeypatch.setattr(embedded, "_processor", lambda: "another")
    with server.running():
        assert found(server.address()) == "fails"


# --- another server --------------------------------------------------------------------


def test_a_server_that_a_trial_killed_is_tried_once(deadly: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with own_server(**FAST, **{"looseleaf.vectors": ""}) as running:
        name = running.database(migrated=False)
        address = parse_address(running.address(name, SUPERUSER))
        monkeypatch.setattr(probe, "TRIAL", deadly)
        done = migrate(address)
        assert done.vectors == "fails"
        assert done.applied
        monkeypatch.undo()
        wait_for_recovery(running)
        assert "terminated by signal 4" in (running.server.data / "server.log").read_text()
        again = migrate(parse_address(running.address(name, SUPERUSER)))
        assert (again.applied, again.vectors) == ((), "fails")
        assert found(running.address(name)) == "fails"

        other = running.database(migrated=False)
        assert migrate(parse_address(running.address(other, OWNER))).vectors == "works"
        assert found(running.address(other)) == "works"
        running.execute(f"ALTER DATABASE {other} SET looseleaf.vectors = off")
        assert found(running.address(other)) == "fails"


def test_without_the_extension_there_is_nothing_to_try(postgres: Running) -> None:
    name = postgres.database()
    assert found(postgres.address(name)) == "works"
    postgres.execute("DROP EXTENSION vector CASCADE", database=name)
    assert found(postgres.address(name)) == "absent"
    assert migrate(parse_address(postgres.address(name, OWNER))).vectors == "absent"
