"""PostgreSQL and writers are killed at any moment: what was acknowledged is there, once, and nothing is half."""

from __future__ import annotations

import random
import shutil
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from database_actors import (
    STREAM,
    DatabaseActor,
    Sweep,
    children,
    forget_one_after_the_other,
    kill_server,
    move_away,
    open_store,
)
from looseleaf.base.errors import NotFound
from looseleaf.base.ids import new_id
from looseleaf.store.postgres.address import database_of, parse_address
from looseleaf.store.postgres.embedded import OWNER
from looseleaf.store.postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postgres import Running


def kill_under_load(running: Running, place: Path, kills: int, writers: int) -> Sweep:
    chance = random.Random(3)
    with Sweep(running.memory(), place, writers) as sweep:
        sweep.wait_for(40)
        for _ in range(kills):
            time.sleep(chance.random() / 4)
            assert kill_server(running.server) > writers
            sweep.kills += 1
            running.server.start()
            sweep.wait_for(40)
        sweep.stop()
    return sweep


def test_a_server_that_is_killed_loses_nothing_it_acknowledged(killed: Running, tmp_path: Path) -> None:
    assert kill_under_load(killed, tmp_path, kills=2, writers=4).judge() == []


@pytest.mark.long
def test_a_server_that_is_killed_often_loses_nothing(killed: Running, tmp_path: Path) -> None:
    assert kill_under_load(killed, tmp_path, kills=20, writers=4).judge() == []


def test_a_server_that_acknowledges_before_the_disk_has_it_is_found_out(
    killed: Running, tmp_path: Path
) -> None:
    killed.execute("ALTER SYSTEM SET synchronous_commit = off")
    killed.execute("SELECT pg_reload_conf()")
    try:
        with Sweep(killed.memory(), tmp_path, 2) as sweep:
            sweep.wait_for(60)
            kill_server(killed.server)
            for path in sweep.told:
                Path(f"{path}.stop").touch()
            sweep.kills += 1
            killed.server.start()
            sweep.stop()
            assert any("acknowledged and lost" in each for each in sweep.judge())
    finally:
        killed.execute("ALTER SYSTEM RESET ALL")
        killed.execute("SELECT pg_reload_conf()")


def test_writers_that_are_killed_leave_nothing_half(durable: Running, tmp_path: Path) -> None:
    chance = random.Random(5)
    with Sweep(durable.memory(), tmp_path, 4) as sweep:
        for number in range(4):
            sweep.wait_for(10)
            time.sleep(chance.random() / 20)
            sweep.actors[number].kill()
            sweep.kills += 1
            if number < 2:
                sweep.actors[number] = sweep.start(number)
                assert sweep.actors[number].hear() == "ready"
        sweep.stop()
        assert sweep.judge() == []
        assert sweep.kills == 4


# --- forgetting ------------------------------------------------------------------------------

WORDS = [f"secret{number:02}" for number in range(30)]


def make_secrets(where: str) -> None:
    with open_store(where) as store:
        for word in WORDS:
            store.append(
                STREAM, [{"id": new_id(), "w": 0, "n": number, "text": f"{word}."} for number in range(3)]
            )
            store.put(f"facts/{word}.md", word.encode(), base=None)


def traces_of(where: str) -> dict[str, int]:
    """In how many of its four places each word still stands."""
    with open_store(where) as store:
        said = " ".join(str(line.record["text"]) for line in store.read(STREAM))
        return {word: said.count(f"{word}.") + (store.get(f"facts/{word}.md") is not None) for word in WORDS}


@pytest.mark.parametrize("whom", ["server", "process"])
def test_a_forgetting_that_is_killed_is_whole_or_not_done_at_all(killed: Running, whom: str) -> None:
    where = killed.memory()
    make_secrets(where)
    with DatabaseActor(forget_one_after_the_other, where, WORDS) as actor:
        assert actor.hear() == "ready"
        heard = [actor.hear() for _ in range(4)]
        time.sleep(0.01)
        if whom == "server":
            assert kill_server(killed.server) > 3
            actor.kill()
            killed.server.start()
        else:
            actor.kill()
        heard += actor.rest()
    found = traces_of(where)
    assert set(found.values()) == {0, 4}
    assert all(found[word] == 0 for word in heard)
    assert sum(times == 0 for times in found.values()) - len(heard) in (0, 1)
    with open_store(where) as store, store.lock():
        assert store.edition() in {(len(heard),), (len(heard) + 1,)}


# --- a move ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from looseleaf.memory import Memory
    from looseleaf.pages.folder import init

    place = tmp_path_factory.mktemp("move") / "memory"
    init(str(place))
    with Memory(str(place)) as memory:
        for number in range(200):
            memory.record(user=f"This is message {number}. " + "Long. " * 200)
    return place


def is_there(where: str) -> bool:
    try:
        PostgresStore.open(parse_address(where)).close()
    except NotFound:
        return False
    return True


@contextmanager
def stopped_half_way(running: Running, where: str) -> Iterator[Callable[[], None]]:
    """Have whoever writes a page wait; yield what waits until one does."""
    name = database_of(where)
    with psycopg.connect(running.address(name, OWNER)) as wire:
        wire.execute("LOCK TABLE looseleaf.documents IN SHARE MODE")

        def wait() -> None:
            deadline = time.monotonic() + 30
            query = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation IS NOT NULL"
            while running.execute(query, database=name) == [(0,)]:
                assert time.monotonic() < deadline, "nothing was written"
                time.sleep(0.005)

        yield wait
        if not wire.closed:
            with suppress(psycopg.OperationalError):
                wire.rollback()


@pytest.mark.parametrize("whom", ["server", "process"])
def test_a_move_that_is_killed_leaves_nothing_and_is_repeated(
    killed: Running, folder: Path, tmp_path: Path, whom: str
) -> None:
    source = tmp_path / "memory"
    shutil.copytree(folder, source)
    where = killed.memory()
    with (
        stopped_half_way(killed, where) as wait,
        DatabaseActor(move_away, str(source), where) as actor,
    ):
        assert actor.hear() == "ready"
        wait()
        if whom == "server":
            assert children(killed.server.pid or 0)
            kill_server(killed.server)
            assert actor.wait() != 0
            killed.server.start()
        else:
            actor.kill()
    assert not is_there(where)
    with DatabaseActor(move_away, str(source), where) as actor:
        assert [actor.hear(), actor.hear()] == ["ready", "moved"]
        kill_server(killed.server)  # at once: the folder says that it is there
    killed.server.start()
    with PostgresStore.open(parse_address(where)) as store:
        assert sum("message" in str(line.record) for line in store.read(STREAM)) == 200
