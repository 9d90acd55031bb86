"""Behind a real PgBouncer that lends connections for a transaction: memories stay apart, and writes stand once."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from looseleaf.base.errors import Refused
from looseleaf.memory import Memory
from looseleaf.store.postgres.address import Address, database_of, parse_address
from looseleaf.store.postgres.database import close_all
from looseleaf.store.postgres.embedded import APPLICATION, OWNER
from looseleaf.store.postgres.migrate import migrate
from looseleaf.store.postgres.store import PostgresStore
from postgres import Running
from store_contract import record_of

PGBOUNCER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
pytestmark = pytest.mark.skipif(PGBOUNCER is None, reason="PgBouncer is not installed")

STREAM = "traces/main"
PORT = 6432
ROLE, PASSWORD = f"pooled_{os.getpid()}", "of-the-pooled-role"  # roles are the whole server's


class Pooler:
    """A PgBouncer in front of a server, with two connections to it."""

    def __init__(self, folder: Path, address: str) -> None:
        self._folder = folder
        self._direct = address.partition("host=")[2].partition("&")[0]
        self._name = database_of(address)
        (folder / "users").write_text(f'"{ROLE}" "{PASSWORD}"\n')
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n{self._name} = host={self._direct} dbname={self._name} pool_size=2\n[pgbouncer]\n"
            f"listen_port = {PORT}\nunix_socket_dir = {folder}\nauth_type = trust\nauth_file = {folder}/users\n"
            f"pool_mode = transaction\nadmin_users = {ROLE}\nlogfile = {folder}/log\npidfile = {folder}/pid\n"
            "ignore_startup_parameters = extra_float_digits\n"
        )
        folder.chmod(0o777)
        self.start()

    def start(self) -> None:
        assert PGBOUNCER is not None
        owner = pwd.getpwuid(os.stat(self._direct).st_uid).pw_name  # the server's door is open to nobody else
        user = ["-u", owner] if os.getuid() == 0 else []
        self._process = subprocess.Popen(
            [PGBOUNCER, "-q", *user, str(self._folder / "pgbouncer.ini")],
            cwd=self._folder,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 20
        while not (self._folder / f".s.PGSQL.{PORT}").exists():
            assert time.monotonic() < deadline, (self._folder / "log").read_text()
            time.sleep(0.02)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        (self._folder / f".s.PGSQL.{PORT}").unlink()

    def address(self, namespace: str = "", role: str = f"{ROLE}:{PASSWORD}") -> str:
        more = f"&namespace={namespace}" if namespace else ""
        return (
            f"postgresql://{role}@/{self._name}?host={quote(str(self._folder))}&port={PORT}&pooler=transaction"
            f"&direct={quote(self._direct)}{more}"
        )

    def queries(self) -> int:
        """How many queries came through it."""
        url = f"postgresql://{ROLE}:{PASSWORD}@/pgbouncer?host={quote(str(self._folder))}&port={PORT}"
        with psycopg.connect(url, autocommit=True) as wire:
            rows = wire.execute("SHOW STATS").fetchall()
        return sum(int(row[1]) for row in rows if row[0] == self._name)

    def stop(self) -> None:
        close_all()
        self._process.terminate()
        self._process.wait()


@pytest.fixture
def pooler(postgres: Running, place: Path) -> Iterator[Pooler]:
    postgres.execute(f"DROP ROLE IF EXISTS {ROLE}")
    postgres.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}' IN ROLE {APPLICATION}")
    found = Pooler(place, postgres.address(postgres.database()))
    yield found
    found.stop()
    postgres.execute(f"DROP ROLE {ROLE}")


def test_a_memory_is_used_through_it_as_without_it(pooler: Pooler) -> None:
    where = pooler.address("acme/agent-7")
    with Memory(where) as memory:
        memory.record(user="I live in Lyon.")
        memory.record(assistant="Noted.")
        memory.distill()
        assert "Lyon" in str(memory.facts())
        assert len(memory.recall("Where do I live?")) > 0
        memory.remember("My cat is called Mimi.")
        memory.forget(match="Mimi")
        assert "Mimi" not in memory.prompt("What is my cat called?").text
    assert pooler.queries() > 0, "nothing went through it"
    with Memory(parse_address(where).of("acme/agent-7").where) as memory:
        assert "Lyon" in str(memory.facts())


def test_memories_that_share_its_connections_see_nothing_of_each_other(pooler: Pooler) -> None:
    names = [f"team/m{number}" for number in range(8)]
    wrong: list[str] = []

    def use(name: str) -> None:
        with PostgresStore.open(parse_address(pooler.address(name)), make=True) as store:
            for number in range(25):
                store.append(STREAM, [record_of(f"{name} {number}")])
                said = [line.record["content"] for line in store.read(STREAM)]
                if said != [f"{name} {each}" for each in range(number + 1)]:
                    wrong.append(f"{name} saw {said}")

    threads = [threading.Thread(target=use, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert pooler.queries() > 100


def test_what_is_written_while_it_is_killed_stands_once(pooler: Pooler) -> None:
    stop = threading.Event()
    said: list[str] = []

    def write() -> None:
        with PostgresStore.open(parse_address(pooler.address("one")), make=True) as store:
            while not stop.is_set() or len(said) < 50:
                try:
                    store.append(STREAM, [record_of(f"{len(said)}")])
                    list(store.read_back(STREAM))
                    said.append(f"{len(said)}")
                except Refused:
                    continue

    thread = threading.Thread(target=write)
    thread.start()
    for _ in range(3):
        time.sleep(0.2)
        pooler.kill()
        time.sleep(0.1)
        pooler.start()
    stop.set()
    thread.join()
    with PostgresStore.open(parse_address(pooler.address("one"))) as store:
        found = [line.record["content"] for line in store.read(STREAM)]
    assert sorted(set(found), key=int) == found == said


def test_tables_are_migrated_and_locks_are_kept_past_it(pooler: Pooler) -> None:
    assert migrate(parse_address(pooler.address(role=OWNER))).applied == ()
    with PostgresStore.open(parse_address(pooler.address("one")), make=True) as store, store.lock():
        store.append(STREAM, [record_of("held")])
        other = PostgresStore.open(parse_address(pooler.address("one")))
        assert isinstance(other.address, Address)
        with other.alone("log/x") as is_alone:
            assert is_alone
            with store.alone("log/x") as is_second:
                assert not is_second
        with store.alone("log/x") as is_third:
            assert is_third
