"""Bring the tables of a database to the version of this program.

The files of `schema/` are applied in the order of their numbers, each with its row in `looseleaf.schema` in one
transaction: a migration that is killed leaves nothing of itself, and no lock. Old programs go on with new tables where
a file says that it still serves them: tables are first expanded, and contracted a release later.
"""

from __future__ import annotations

import hashlib
import re
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg import errors, sql

from looseleaf.base.errors import Busy, Invalid, NotFound, Refused, Unreadable
from looseleaf.base.immutable import frozen
from looseleaf.store.postgres.database import Database
from looseleaf.store.postgres.probe import SERVER, TRIED, refuse_server, try_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.store.postgres.address import Address
    from looseleaf.store.postgres.database import Wire
    from looseleaf.store.postgres.probe import Vectors

_FOLDER = Path(__file__).parent / "schema"

_KEY = 7_813_590_276_401
"""The number of the lock that a migration holds. Locks of memories have the numbers of the memories."""

TABLE_SECONDS = 3
"""The longest wait for a lock on a table: while it is waited for, all others wait behind it."""

TRIES = 20
"""Attempts at a migration whose table is in use."""

WAIT_SECONDS = 120.0
"""The longest wait for another migration."""

_PAUSE = 0.1


@frozen
class Migration:
    """A file of the schema. `serves_from`: the oldest version of the tables whose programs go on with it."""

    version: int
    name: str
    text: str
    serves_from: int
    is_transactional: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@frozen
class Migrated:
    """What a migration did: the names of the files that it applied, and the version before and after. `vectors`:
    whether the database may search them."""

    before: int
    after: int
    applied: tuple[str, ...]
    role: str
    vectors: Vectors


def read_migrations(folder: Path = _FOLDER) -> tuple[Migration, ...]:
    """Read the files, in their order."""
    return tuple(_parse(path) for path in sorted(folder.glob("[0-9]*.sql")))


def newest_version() -> int:
    """Return the version of the tables that this program is written for."""
    return max(int(path.name[:4]) for path in _FOLDER.glob("[0-9]*.sql"))


def _parse(path: Path) -> Migration:
    """Read a file. Its head may say `-- serves: VERSION` and `-- transactional: false`; a file with the latter is one
    statement, which must do no harm a second time."""
    text = path.read_text("utf-8")
    head = re.match(r"(?:[ \t]*(?:--[^\n]*)?\n)*", text)
    said = dict(re.findall(r"(?m)^-- (serves|transactional): *(\w+) *$", head[0] if head is not None else ""))
    version = int(path.name[:4])
    is_transactional = said.get("transactional") != "false"
    return Migration(
        version, path.name.removesuffix(".sql"), text, int(said.get("serves", version)), is_transactional
    )


# --- versions --------------------------------------------------------------------------


def refuse_version(shown: str, version: int, serves_from: int) -> None:
    """Refuse tables that this program is not written for. Newer ones serve it if they were only expanded."""
    mine = newest_version()
    if version < mine:
        raise Unreadable(
            f"Nothing was done: the tables in {shown} have version {version}, and this looseleaf needs {mine}. Run, "
            "as the role that owns them: looseleaf database migrate ADDRESS"
        )
    if mine < serves_from:
        raise Unreadable(
            f"Nothing was done: the tables in {shown} have version {version}, which no looseleaf before {serves_from} "
            f"understands; this one is {mine}. Install a newer looseleaf."
        )


def version(database: Database) -> tuple[int, int]:
    """Return the version of the tables, and the oldest whose programs they serve; (0, 0) if there are none."""
    if not database.run(None, "SELECT 1 WHERE to_regclass('looseleaf.schema') IS NOT NULL"):
        return 0, 0
    ((found, serves_from),) = database.run(
        None, "SELECT coalesce(max(version), 0), coalesce(max(serves_from), 0) FROM looseleaf.schema"
    )
    return int(found), int(serves_from)


# --- migrating -------------------------------------------------------------------------

_VERSIONS = """
CREATE TABLE IF NOT EXISTS looseleaf.schema (
    version int PRIMARY KEY,
    name text NOT NULL,
    sha256 text NOT NULL,
    serves_from int NOT NULL,
    applied timestamptz NOT NULL DEFAULT now()
)
"""


def migrate(
    address: Address, role: str = "looseleaf", *, migrations: tuple[Migration, ...] | None = None
) -> Migrated:
    """Apply the migrations that are missing, and let the application's role use the tables.

    `address` is that of the role that owns the tables. Any number may run at once, and one may be killed: what it did
    whole stays, and the next one goes on.
    """
    database = Database(address)
    with database.connect() as wire, _explained(database):
        ((number, encoding),) = wire.execute(SERVER).fetchall()
        refuse_server(database.shown, int(str(number)), str(encoding))
        _refuse_role(wire, role)
        _end_with_client(wire)
        with _alone(wire):
            done = _applied(wire)
            before = max(done, default=0)
            missing = [each for each in migrations or read_migrations() if each.version not in done]
            for each in missing:
                _apply_patiently(wire, each, database.shown)
            after = max(_applied(wire), default=0)
            wire.execute(TRIED)
            _grant(wire, role)
            found = try_vectors(wire)  # the last thing done: it may end the connection
            if found == "works":
                wire.execute("CALL looseleaf.use_pgvector()")
    return Migrated(before, after, tuple(each.name for each in missing), role, found)


@contextmanager
def _explained(database: Database) -> Iterator[None]:
    try:
        yield
    except errors.InsufficientPrivilege as error:
        raise Refused(
            f"Nothing was migrated: this role may not change the tables in {database.shown} "
            f"({error.diag.message_primary}). Give the address with the role that owns the database."
        ) from error
    except psycopg.Error as error:
        raise database.explain(error) from error


def _refuse_role(wire: Wire, role: str) -> None:
    ((exists, mine, can_pass),) = wire.execute(
        "SELECT count(*) > 0, %(role)s::text = current_user, coalesce(bool_or(rolsuper OR rolbypassrls), false) "
        "FROM pg_roles WHERE rolname = %(role)s",
        {"role": role},
    ).fetchall()
    if not exists:
        raise NotFound(
            f"Nothing was migrated: the server has no role {role!r:.80} for the application. Make it there with "
            f"CREATE ROLE {role:.80} LOGIN, or name another with --role."
        )
    if mine:
        raise Invalid(
            f"Nothing was migrated: the tables must not belong to {role!r:.80}, the role that memories are used as. "
            "Give the address with another role, which owns the database."
        )
    if can_pass:
        raise Invalid(
            f"Nothing was migrated: the role {role!r:.80} bypasses row security, which keeps memories apart. Take "
            "that right from it, or name another with --role."
        )


def _end_with_client(wire: Wire) -> None:
    """Have the server check that this process is still there: else what a killed one began would go on for long."""
    try:
        wire.execute("SET client_connection_check_interval = '500ms'")
    except (errors.InvalidParameterValue, errors.UndefinedObject):
        return  # a server on a system that cannot


@contextmanager
def _alone(wire: Wire) -> Iterator[None]:
    """Hold the lock of migrations. It ends with the connection, whatever becomes of this process.

    It is tried again and again: a wait in the database would hold a snapshot, for which an index that is being made
    concurrently waits in turn.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    while not _is_true(wire, "SELECT pg_try_advisory_lock(%s)"):
        if time.monotonic() > deadline:
            raise Busy("Nothing was migrated: another migration runs. Repeat the command when it has ended.")
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        if not wire.closed and not wire.broken:
            _is_true(wire, "SELECT pg_advisory_unlock(%s)")


def _is_true(wire: Wire, query: str) -> bool:
    row = wire.execute(query.encode(), (_KEY,)).fetchone()
    return row is not None and row[0] is True


def _applied(wire: Wire) -> set[int]:
    row = wire.execute("SELECT to_regclass('looseleaf.schema') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        return set()
    rows = wire.execute("SELECT version FROM looseleaf.schema").fetchall()
    return {found for (found,) in rows if isinstance(found, int)}


def _apply_patiently(wire: Wire, migration: Migration, shown: str) -> None:
    for left in reversed(range(TRIES)):
        try:
            _apply(wire, migration)
            return
        except (errors.LockNotAvailable, errors.DeadlockDetected) as error:
            if not left:
                raise Busy(
                    f"The migration {migration.name} did nothing in {shown}: a table that it changes is in use. Repeat "
                    "the command when less is going on; what was migrated before it stays."
                ) from error
            time.sleep(_PAUSE)
        except errors.InsufficientPrivilege:
            raise
        except errors.DatabaseError as error:
            if wire.closed:
                raise
            raise Refused(
                f"The migration {migration.name} failed in {shown} and did nothing ({error.diag.message_primary}). "
                "Report that; what was migrated before it stays."
            ) from error


def _apply(wire: Wire, migration: Migration) -> None:
    if migration.is_transactional:
        with wire.transaction():
            wire.execute(f"SET LOCAL lock_timeout = '{TABLE_SECONDS}s'")
            wire.execute(migration.text.encode())
            _note(wire, migration)
        return
    # Nobody waits behind this one, so it may wait for long. What a killed one left is of no use.
    wire.execute("SET lock_timeout = '15min'")
    for (index,) in wire.execute(_UNFINISHED).fetchall():
        wire.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(sql.SQL(str(index))))
    wire.execute(migration.text.encode())
    with wire.transaction():
        _note(wire, migration)


_UNFINISHED = """
SELECT format('%I.%I', n.nspname, c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT i.indisvalid AND n.nspname = 'looseleaf' AND c.relkind = 'i'
"""


def _note(wire: Wire, migration: Migration) -> None:
    wire.execute(_VERSIONS)
    wire.execute(
        "INSERT INTO looseleaf.schema (version, name, sha256, serves_from) VALUES (%s, %s, %s, %s)",
        (migration.version, migration.name, migration.sha256, migration.serves_from),
    )


# --- rights ----------------------------------------------------------------------------

_RIGHTS = """
GRANT USAGE ON SCHEMA looseleaf TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA looseleaf TO {role};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA looseleaf TO {role};
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA looseleaf FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA looseleaf TO {role};
REVOKE ALL ON looseleaf.memories, looseleaf.schema, looseleaf.vectors_tried FROM {role};
GRANT SELECT, UPDATE ON looseleaf.memories TO {role};
GRANT SELECT ON looseleaf.schema, looseleaf.vectors_tried TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA looseleaf GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA looseleaf GRANT USAGE ON SEQUENCES TO {role};
ALTER DEFAULT PRIVILEGES IN SCHEMA looseleaf GRANT EXECUTE ON FUNCTIONS TO {role};
"""
"""A program lists and makes memories only through the functions for that."""

_JOBS = """
GRANT USAGE ON SCHEMA looseleaf_jobs TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA looseleaf_jobs TO {role};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA looseleaf_jobs TO {role};
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA looseleaf_jobs FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA looseleaf_jobs TO {role};
"""


def _grant(wire: Wire, role: str) -> None:
    with wire.transaction():
        wire.execute(f"SET LOCAL lock_timeout = '{TABLE_SECONDS}s'")
        wire.execute(sql.SQL(_RIGHTS).format(role=sql.Identifier(role)))
        if wire.execute("SELECT FROM pg_namespace WHERE nspname = 'looseleaf_jobs'").fetchone() is not None:
            wire.execute(sql.SQL(_JOBS).format(role=sql.Identifier(role)))
