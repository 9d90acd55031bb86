"""A full disk, a read-only database, no connection left, wrong clocks: a sentence, nothing half, and on again."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from clocks import WrongClock
from database_actors import PAGE, STREAM, judge, open_store
from looseleaf import Memory
from looseleaf.base.errors import Refused, Unwritten
from looseleaf.base.ids import new_id
from looseleaf.store.postgres.database import CONNECTIONS, Overloaded, close_all
from looseleaf.store.postgres.embedded import OWNER
from looseleaf.store.postgres.store import PostgresStore
from store_contract import edit_of, hash_of
from tables import check_rows

if TYPE_CHECKING:
    from postgres import Running

Act = Callable[[PostgresStore], object]


def record(text: str = "x") -> dict[str, Any]:
    return {"id": new_id(), "w": 0, "n": 0, "text": text}


WRITES: dict[str, Act] = {
    "append": lambda store: store.append(STREAM, [record()]),
    "batch": lambda store: store.append(STREAM, [record(), record()]),
    "append with a body": lambda store: store.append(STREAM, [record("long" * 2000)]),
    "put": lambda store: store.put("facts/x.md", b"x", base=None, record=edit_of("facts/x.md", None, b"x")),
    "delete": lambda store: store.delete(PAGE, base=hash_of(b"tea")),
    "view": lambda store: store.view("views/x.md", b"x"),
    "publish": lambda store: store.publish("log/entries/x/1", {"raw.md": b"x"}),
    "rotate": lambda store: store.rotate(STREAM),
}


def refusal(act: Callable[[], object]) -> Refused:
    with pytest.raises(Refused) as refused:
        act()
    said = str(refused.value)
    assert "\n" not in said
    assert said.endswith(".")
    return refused.value


def name_of(running: Running) -> str:
    """The database that its memories are in."""
    assert running._own is not None
    return running._own


# --- a full disk -----------------------------------------------------------------------------


@pytest.fixture
def tiny(killed: Running) -> Iterator[Path]:
    """A disk of three megabytes, that the server may write to."""
    place = Path(tempfile.mkdtemp(prefix="looseleaf-"))
    owner = (killed.server.data).stat()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size=3m,uid={owner.st_uid},gid={owner.st_gid},mode=700"]
    try:
        if (
            os.geteuid() != 0
            or subprocess.run([*mounting, "tmpfs", place], check=False, capture_output=True).returncode
        ):
            pytest.skip("no disk may be mounted here")
        yield place
        close_all()
        killed.server.start()
        killed.execute(f"DROP DATABASE IF EXISTS {killed._own} WITH (FORCE)")
        killed._own = None
        killed.execute("DROP TABLESPACE tiny")
        subprocess.run(["umount", place], check=True)
    finally:
        place.rmdir()


def test_on_a_full_disk_nothing_is_half_and_what_was_written_stays(killed: Running, tiny: Path) -> None:
    killed._own = None
    where = killed.memory()
    killed.execute(f"CREATE TABLESPACE tiny OWNER {OWNER} LOCATION '{tiny}'")
    acknowledged: list[list[Any]] = []
    with open_store(where) as store:
        store.put(PAGE, b"tea", base=None)
        for table in ("records", "documents"):
            part = f"SELECT tableoid::regclass::text FROM looseleaf.{table} WHERE memory = {store.memory} LIMIT 1"
            store.append(STREAM, [first := record()])
            acknowledged.append(["record", first["id"]])
            ((name,),) = killed.execute(part, database=name_of(killed))
            killed.execute(f"ALTER TABLE {name} SET TABLESPACE tiny", database=name_of(killed))
        refused: list[str] = []
        for number in range(400):
            try:
                if number % 2:
                    many = [record(os.urandom(1200).hex()) for _ in range(5)]
                    for k, each in enumerate(many):
                        each |= {"k": k, "n": number}
                    store.append(STREAM, many)
                    acknowledged.append(["records", *(each["id"] for each in many)])
                else:
                    data = os.urandom(9000)
                    path = f"facts/{number}.md"
                    edit = edit_of(path, None, data)
                    store.put(path, data, base=None, record=edit)
                    acknowledged.append(["record", edit["id"]])
            except Unwritten as error:
                refused.append(str(error))
                if len(refused) > 10:
                    break
        assert len(refused) > 10, "the disk was never full"
        assert all(
            each.startswith("Nothing was written: ") and "has no room left" in each for each in refused
        )
        assert judge(where, acknowledged) == []
        subprocess.run(["mount", "-o", "remount,size=60m", tiny], check=True)
        store.append(STREAM, [record("x" * 2000)])
    assert judge(where, acknowledged) == []
    print(f"\nacknowledged={len(acknowledged)} refused={len(refused)}")


# --- read-only -------------------------------------------------------------------------------


def test_a_database_that_became_read_only_is_read_and_says_so(killed: Running) -> None:
    where = killed.memory()
    with open_store(where) as store:
        store.append(STREAM, [record()])
        store.put(PAGE, b"tea", base=None)

        def check(name: str) -> None:
            refused = refusal(lambda: WRITES[name](store))
            assert isinstance(refused, Unwritten)
            assert "is a standby, or read-only" in str(refused)
            with store.lock():
                assert "is a standby, or read-only" in str(refusal(lambda: WRITES[name](store)))

        killed.execute(f"ALTER DATABASE {killed._own} SET default_transaction_read_only = on")
        cut = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'looseleaf'"
        killed.execute(cut)
        try:
            check_rows(check, WRITES)
            assert len(list(store.read(STREAM))) == 1
            assert store.get(PAGE) is not None
            assert dict(store.everything())[PAGE] == b"tea"
        finally:
            killed.execute(f"ALTER DATABASE {killed._own} RESET default_transaction_read_only")
            killed.execute(cut)
        for act in WRITES.values():
            act(store)


# --- connections -----------------------------------------------------------------------------


def take_all(held: ExitStack, where: str) -> None:
    while True:
        held.enter_context(psycopg.connect(where))


def test_a_server_without_a_connection_left_is_told_from_one_that_is_away(killed: Running) -> None:
    where = killed.memory()
    with open_store(where) as store:
        store.append(STREAM, [record()])
        close_all()
        with ExitStack() as held:
            with pytest.raises(psycopg.OperationalError, match=r"too many clients|slots"):
                take_all(held, killed.address(name_of(killed)))
            for act in (
                lambda: store.append(STREAM, [record()]),
                lambda: list(store.read(STREAM)),
                lambda: store.lock().__enter__(),
                lambda: store.alone("log/x").try_again(),
            ):
                began = time.monotonic()
                refused = refusal(act)
                assert isinstance(refused, Overloaded)
                assert "takes no more connections" in str(refused)
                assert "Repeat it in a moment." in str(refused)
                assert time.monotonic() - began < 4
        store.append(STREAM, [record()])
        assert len(list(store.read(STREAM))) == 2


def test_who_waits_too_long_for_a_connection_of_this_process_is_told_so(postgres: Running) -> None:
    with open_store(postgres.memory()) as store:
        held = [store.database.hold() for _ in range(CONNECTIONS)]
        began = time.monotonic()
        assert isinstance(refused := refusal(lambda: store.append(STREAM, [record()])), Overloaded)
        assert f"all {CONNECTIONS} connections" in str(refused)
        assert 1.5 < time.monotonic() - began < 4
        threading.Timer(0.5, lambda: [*map(store.database.give_back, held)]).start()
        store.append(STREAM, [record()])


# --- clocks ----------------------------------------------------------------------------------


def test_machines_with_wrong_clocks_write_in_one_order_and_with_ids_of_their_own(
    postgres: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, clock = postgres.memory(), WrongClock(monkeypatch)
    told: list[str] = []
    with Memory(where) as one, Memory(where) as other:
        for number, days in enumerate((0.0, 900.0, -900.0, 0.0, -30_000.0, 3.0) * 3):
            clock.set(days)
            memory = (one, other)[number % 2]
            memory.record(user=f"message {number}")
            told.append(f"message {number}")
            memory.remember(f"Fact number {number} is that box {number} is blue.")
        for memory in (one, other):
            lines = [line.record for line in memory.parts.store.read(STREAM)]
            assert [
                each["content"] for each in lines if str(each.get("content")).startswith("message")
            ] == told
            ids = [each["id"] for each in lines]
            assert len(set(ids)) == len(ids)
            assert {f"box {number} is blue" in str(memory.facts()) for number in range(18)} == {True}
        assert one.check() == []
