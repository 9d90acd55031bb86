"""Tables are upgraded while programs write: those from before go on with the new tables, and beside newer programs."""

from __future__ import annotations

import re
import shutil
import threading
from pathlib import Path

import pytest

from database_actors import DatabaseActor, Sweep, read_told, write_everything
from looseleaf.base.errors import Refused
from looseleaf.store.postgres import log_rows, migrate
from looseleaf.store.postgres.address import database_of, parse_address
from looseleaf.store.postgres.check_database import refuse_unfit
from looseleaf.store.postgres.database import Database
from looseleaf.store.postgres.embedded import OWNER
from looseleaf.store.postgres.migrate import Migration, newest_version, read_migrations
from postgres import Running

LAST = newest_version()

APPEND = re.search(
    r"CREATE FUNCTION looseleaf\.append_line\(.*?\n\$\$;|CREATE FUNCTION looseleaf\.append_line\(.*?END \$\$;",
    read_migrations()[0].text,
    re.DOTALL,
)
assert APPEND is not None

EXPANDED = {
    "columns": f"""-- serves: {LAST}
ALTER TABLE looseleaf.records ADD COLUMN said_by text;
ALTER TABLE looseleaf.documents ADD COLUMN said_by text NOT NULL DEFAULT '';
ALTER TABLE looseleaf.streams ADD COLUMN records bigint NOT NULL DEFAULT 0;
""",
    # What old programs call does now what the new one does besides.
    "functions": f"""-- serves: {LAST}
{
        APPEND[0]
        .replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
        .replace("SET next =", "SET records = s.records + 1, next =")
    }
{
        APPEND[0]
        .replace("looseleaf.append_line(", "looseleaf.append_line_of(")
        .replace("SET next =", "SET records = s.records + 1, next =")
        .replace(
            "pos, line) VALUES (m, number, start, line)",
            "pos, line, said_by) VALUES (m, number, start, line, 'new')",
        )
    }
""",
    "index": f"""-- serves: {LAST}
-- transactional: false
CREATE INDEX CONCURRENTLY IF NOT EXISTS documents_0_by ON looseleaf.documents_0 (memory, said_by);
""",
}
CONTRACTED = {"columns": "ALTER TABLE looseleaf.streams DROP COLUMN records CASCADE;\n"}
BROKEN = {"columns": "ALTER TABLE looseleaf.streams RENAME COLUMN last TO latest;\n"}


def write_as_newer(where: str, writer: int, told: str, schema: str) -> None:
    """Write in every way, as a program does that is written for newer tables."""
    migrate._FOLDER = Path(schema)
    log_rows._APPEND_ONE = log_rows._APPEND_ONE.replace("append_line(", "append_line_of(")
    begin(where)
    write_everything(where, writer, told)


def begin(where: str) -> None:
    """Look at a database as a program does that has just been started."""
    database = Database(parse_address(where))
    refuse_unfit(database)
    database.close()


class Upgrade:
    """A database, and the schema of a program that is newer than this one."""

    def __init__(self, postgres: Running, folder: Path) -> None:
        self.where = postgres.address(postgres.database(), namespace="acme/agent-7")
        self.owner = parse_address(postgres.address(database_of(self.where), OWNER))
        self.folder = folder / "schema"
        shutil.copytree(migrate._FOLDER, self.folder)
        self._version = LAST

    def write(self, files: dict[str, str]) -> tuple[Migration, ...]:
        """Add files to the schema; return all."""
        for name, text in files.items():
            self._version += 1
            (self.folder / f"{self._version:04}.{name}.sql").write_text(text)
        return read_migrations(self.folder)

    def run(self, files: dict[str, str]) -> int:
        """Upgrade the tables; return the version that they have then."""
        return migrate.migrate(self.owner, migrations=self.write(files)).after


@pytest.fixture
def upgrade(postgres: Running, tmp_path: Path) -> Upgrade:
    return Upgrade(postgres, tmp_path)


def refusals(sweep: Sweep) -> list[str]:
    return [
        each[2] for each in read_told(path for path in sweep.told if path.exists()) if each[0] == "refused"
    ]


def upgrade_under_load(upgrade: Upgrade, place: Path, *, size: int, writers: int) -> Sweep:
    with Sweep(upgrade.where, place, writers) as sweep:
        sweep.wait_for(size)
        done: list[int] = []
        thread = threading.Thread(target=lambda: done.append(upgrade.run(EXPANDED)))
        thread.start()
        while thread.is_alive():
            sweep.wait_for(1)  # also while tables are changed, somebody writes
        thread.join()
        assert done == [LAST + len(EXPANDED)]
        sweep.wait_for(size)
        for number in range(writers):
            told = place / f"newer-{number}"
            given = upgrade.where, writers + number, str(told), str(upgrade.folder)
            sweep.join(DatabaseActor(write_as_newer, *given), told)
        sweep.wait_for(2 * size)
        sweep.stop()
    return sweep


def test_old_programs_write_on_while_tables_are_upgraded_and_beside_newer_ones(
    postgres: Running, upgrade: Upgrade, tmp_path: Path
) -> None:
    sweep = upgrade_under_load(upgrade, tmp_path, size=60, writers=2)
    assert refusals(sweep) == []
    assert sweep.judge() == []
    database = Database(upgrade.owner)
    memory = database.run(
        None, "SELECT memory FROM looseleaf.find_memory(%s, false)", (parse_address(upgrade.where).namespace,)
    )[0][0]
    by = "SELECT coalesce(said_by, 'old'), count(*) FROM looseleaf.records WHERE memory = %s GROUP BY 1"
    counts = dict(database.run(memory, by, (memory,)))
    database.close()
    assert counts["old"] > 60
    assert counts["new"] > 10, "no newer program wrote"


@pytest.mark.long
def test_an_upgrade_under_much_load_refuses_nothing_and_loses_nothing(
    postgres: Running, upgrade: Upgrade, tmp_path: Path
) -> None:
    sweep = upgrade_under_load(upgrade, tmp_path, size=2_000, writers=4)
    assert refusals(sweep) == []
    assert sweep.judge() == []


def test_a_change_that_is_no_expansion_is_met_by_those_who_write(upgrade: Upgrade, tmp_path: Path) -> None:
    with Sweep(upgrade.where, tmp_path, 2) as sweep:
        sweep.wait_for(20)
        upgrade.run(BROKEN)
        sweep.wait_for(10)
        sweep.stop()
    assert any("looseleaf database migrate" in each for each in refusals(sweep))


def test_when_tables_are_contracted_programs_from_before_are_refused(
    upgrade: Upgrade, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(upgrade.where)
    upgrade.run(EXPANDED)
    begin(upgrade.where)
    contracted = upgrade.run(CONTRACTED)
    with pytest.raises(Refused, match=rf"which no looseleaf before {contracted} understands"):
        begin(upgrade.where)
    monkeypatch.setattr(migrate, "_FOLDER", upgrade.folder)
    begin(upgrade.where)
