"""Migrations: each whole or not at all, one process at a time, and old programs go on where a schema says so."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import psycopg
import pytest

from looseleaf.base.errors import Refused
from looseleaf.store.postgres import migrate as migrations
from looseleaf.store.postgres.address import Address, parse_address
from looseleaf.store.postgres.database import Database
from looseleaf.store.postgres.embedded import APPLICATION, OWNER
from looseleaf.store.postgres.migrate import (
    Migrated,
    migrate,
    newest_version,
    read_migrations,
    refuse_version,
    version,
)
from postgres import Running
from tables import check_rows

NAMES = tuple(each.name for each in read_migrations())
LAST = newest_version()


def owner_of(postgres: Running, name: str) -> Address:
    return parse_address(postgres.address(name, OWNER))


def files(folder: Path, **texts: str) -> tuple[migrations.Migration, ...]:
    """Write further files after those that there are, and return all."""
    for name, text in texts.items():
        number = int(name.removeprefix("m"))
        (folder / f"{LAST + number:04}.more.sql").write_text(text)
    return (*read_migrations(), *read_migrations(folder))


def versions(postgres: Running, name: str) -> list[int]:
    return [
        row[0] for row in postgres.execute("SELECT version FROM looseleaf.schema ORDER BY 1", database=name)
    ]


def test_an_empty_database_gets_every_file_once_and_a_second_run_finds_nothing(postgres: Running) -> None:
    name = postgres.database(migrated=False)
    database = Database(parse_address(postgres.address(name, OWNER)))
    assert version(database) == (0, 0)
    assert migrate(owner_of(postgres, name)) == Migrated(0, LAST, NAMES, APPLICATION, "works")
    assert migrate(owner_of(postgres, name)) == Migrated(LAST, LAST, (), APPLICATION, "works")
    assert version(database)[0] == LAST
    database.close()


def test_of_many_that_migrate_at_once_each_file_is_applied_by_one(postgres: Running) -> None:
    name = postgres.database(migrated=False)
    done: list[Migrated] = []
    threads = [
        threading.Thread(target=lambda: done.append(migrate(owner_of(postgres, name)))) for _ in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(each.applied for each in done) == [(), (), (), NAMES]
    assert versions(postgres, name) == list(range(1, LAST + 1))


SLOW = "CREATE TABLE looseleaf.half (n int);\nSELECT pg_sleep(30);\nCREATE TABLE looseleaf.whole (n int);\n"

KILLED = """
import sys
from pathlib import Path
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.migrate import migrate, read_migrations
print("begins", flush=True)
migrate(parse_address(sys.argv[1]), migrations=(*read_migrations(), *read_migrations(Path(sys.argv[2]))))
"""


def test_a_migration_that_is_killed_leaves_nothing_and_the_next_one_goes_on(
    postgres: Running, tmp_path: Path
) -> None:
    name = postgres.database()
    files(tmp_path, m1=SLOW)
    address = postgres.address(name, OWNER)
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, address, str(tmp_path)], stdout=subprocess.PIPE
    ) as killed:
        asleep = "SELECT 1 FROM pg_stat_activity WHERE datname = %s AND wait_event = 'PgSleep'"
        while not postgres.execute(asleep, (name,)):
            time.sleep(0.01)
        killed.kill()
    began = time.monotonic()
    all_of_them = files(tmp_path, m1=SLOW.replace("30", "0"))
    assert migrate(owner_of(postgres, name), migrations=all_of_them).after == LAST + 1
    assert time.monotonic() - began < 5
    assert postgres.execute("SELECT to_regclass('looseleaf.half') IS NOT NULL", database=name) == [(True,)]


def test_a_file_that_fails_in_its_middle_leaves_nothing_of_itself(postgres: Running, tmp_path: Path) -> None:
    name = postgres.database()
    broken = files(
        tmp_path,
        m1="CREATE TABLE looseleaf.fine (n int);",
        m2="CREATE TABLE looseleaf.half (n int);\nSELECT 1/0;",
    )
    with pytest.raises(
        Refused, match=r"0*\d+\.more failed in .* and did nothing \(division by zero\)\. Report"
    ):
        migrate(owner_of(postgres, name), migrations=broken)
    assert versions(postgres, name)[-1] == LAST + 1
    assert postgres.execute("SELECT to_regclass('looseleaf.half')", database=name) == [(None,)]


CONCURRENTLY = """\
-- Made while others write.
-- transactional: false
-- serves: 1
CREATE INDEX CONCURRENTLY IF NOT EXISTS streams_again ON looseleaf.streams (memory, next);
"""


def test_an_index_is_made_concurrently_and_one_that_was_left_unfinished_is_made_anew(
    postgres: Running, tmp_path: Path
) -> None:
    name = postgres.database()
    more = files(tmp_path, m1=CONCURRENTLY)
    with psycopg.connect(postgres.address(name, "postgres")) as writer:
        writer.execute("LOCK TABLE looseleaf.streams IN ROW EXCLUSIVE MODE")
        with psycopg.connect(postgres.address(name, OWNER), autocommit=True) as maker:
            maker.execute("SET lock_timeout = '50ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                maker.execute(CONCURRENTLY.encode())
    is_valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'looseleaf.streams_again'::regclass"
    assert postgres.execute(is_valid, database=name) == [(False,)]
    assert migrate(owner_of(postgres, name), migrations=more).applied == (more[-1].name,)
    assert postgres.execute(is_valid, database=name) == [(True,)]
    assert postgres.execute("SELECT max(serves_from) FROM looseleaf.schema", database=name)[0][0] <= LAST


def test_two_that_make_an_index_concurrently_do_not_wait_for_each_other(
    postgres: Running, tmp_path: Path
) -> None:
    name = postgres.database()
    more = files(tmp_path, m1=CONCURRENTLY)
    done: list[Migrated] = []
    threads = [
        threading.Thread(target=lambda: done.append(migrate(owner_of(postgres, name), migrations=more)))
        for _ in range(2)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert sorted(len(each.applied) for each in done) == [0, 1]


def test_a_table_in_use_is_tried_again_and_then_named(
    postgres: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "TABLE_SECONDS", "0.05")
    name = postgres.database()
    more = files(tmp_path, m1="ALTER TABLE looseleaf.streams ADD COLUMN more int;")
    with psycopg.connect(postgres.address(name, "postgres")) as user:
        user.execute("LOCK TABLE looseleaf.streams")
        timer = threading.Timer(0.4, user.rollback)
        timer.start()
        assert migrate(owner_of(postgres, name), migrations=more).applied == (more[-1].name,)
        timer.join()
        monkeypatch.setattr(migrations, "TRIES", 2)
        user.execute("LOCK TABLE looseleaf.streams")
        again = files(tmp_path, m2="ALTER TABLE looseleaf.streams DROP COLUMN more;")
        with pytest.raises(Refused, match=r"did nothing in .*: a table that it changes is in use\."):
            migrate(owner_of(postgres, name), migrations=again)


# --- versions --------------------------------------------------------------------------


def test_a_program_goes_on_with_newer_tables_that_still_serve_it() -> None:
    def check(found: int, serves_from: int, says: str) -> None:
        if not says:
            refuse_version("postgresql://host/db", found, serves_from)
            return
        with pytest.raises(Refused, match=says):
            refuse_version("postgresql://host/db", found, serves_from)

    check_rows(
        check,
        [
            (LAST, LAST, ""),
            (LAST + 3, LAST, ""),
            (LAST + 3, 1, ""),
            (
                LAST - 1,
                LAST - 1,
                rf"have version {LAST - 1}, and this looseleaf needs {LAST}\. Run, as the role that owns them: ",
            ),
            (0, 0, "as the role that owns them: looseleaf database migrate ADDRESS"),
            (
                LAST + 3,
                LAST + 1,
                rf"no looseleaf before {LAST + 1} understands; this one is {LAST}\. Install a newer",
            ),
        ],
    )


def test_the_files_are_numbered_without_gaps_and_say_whom_they_serve(tmp_path: Path) -> None:
    assert [each.version for each in read_migrations()] == list(range(1, LAST + 1))
    assert all(each.serves_from <= each.version for each in read_migrations())
    (tmp_path / "0007.expand.sql").write_text("-- More room.\n-- serves: 5\n\nSELECT 1;\n-- serves: 2\n")
    (tmp_path / "0008.contract.sql").write_text("SELECT 2;\n-- transactional: false\n")
    told = [(each.version, each.serves_from, each.is_transactional) for each in read_migrations(tmp_path)]
    assert told == [(7, 5, True), (8, 8, True)]


# --- roles -----------------------------------------------------------------------------


def test_the_application_reads_and_writes_rows_and_changes_nothing_else(postgres: Running) -> None:
    name = postgres.database()
    forbidden = (
        "CREATE TABLE looseleaf.mine (n int)",
        "ALTER TABLE looseleaf.records DISABLE ROW LEVEL SECURITY",
        "DROP POLICY own ON looseleaf.records",
        "TRUNCATE looseleaf.records",
        "INSERT INTO looseleaf.memories (namespace) VALUES ('x')",
        "SET looseleaf.memory = 1; DELETE FROM looseleaf.memories",
        "UPDATE looseleaf.schema SET version = 9",
        "CREATE SCHEMA mine",
        f"SET ROLE {OWNER}",
    )

    def check(query: str) -> None:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            postgres.execute(query, database=name, role=APPLICATION)

    check_rows(check, forbidden)
    postgres.execute("SELECT * FROM looseleaf.schema", database=name, role=APPLICATION)
    postgres.execute("CREATE TABLE looseleaf.later (n serial)", database=name, role=OWNER)
    postgres.execute("INSERT INTO looseleaf.later DEFAULT VALUES", database=name, role=APPLICATION)


def test_a_role_without_rights_calls_no_function(postgres: Running) -> None:
    name = postgres.database()
    postgres.execute("CREATE ROLE guest LOGIN PASSWORD 'g'")
    address = postgres.address(name, "guest").replace("guest@", "guest:g@")
    postgres.execute("GRANT USAGE ON SCHEMA looseleaf TO guest", database=name)
    with psycopg.connect(address) as guest, pytest.raises(psycopg.errors.InsufficientPrivilege):
        guest.execute("SELECT looseleaf.find_memory('a', true)")
    postgres.execute("DROP OWNED BY guest", database=name)
    postgres.execute("DROP ROLE guest")


def test_what_cannot_be_migrated_is_refused_with_a_sentence(postgres: Running) -> None:
    name = postgres.database(migrated=False)
    postgres.execute("CREATE ROLE passes BYPASSRLS")

    def check(address: str, role: str, says: str) -> None:
        with pytest.raises(Refused, match=says):
            migrate(parse_address(address), role)

    try:
        check_rows(
            check,
            [
                (postgres.address(name, OWNER), "nobody-here", "no role 'nobody-here' .* CREATE ROLE"),
                (postgres.address(name, OWNER), "a'; DROP ROLE x", 'no role "a\'; DROP ROLE x"'),
                (postgres.address(name, OWNER), OWNER, "must not belong to 'looseleaf_owner'"),
                (postgres.address(name, OWNER), "passes", "'passes' bypasses row security"),
                (postgres.address(name, APPLICATION), OWNER, "may not change the tables .* role that owns"),
            ],
        )
    finally:
        postgres.execute("DROP ROLE passes")
    assert postgres.execute("SELECT to_regclass('looseleaf.schema')", database=name) == [(None,)]
