"""Whether a database is as it must be: asked quickly when a memory is opened, in full by `looseleaf database check`.

Row security keeps memories apart, so the role and the tables are checked: a role that bypasses it, or owns the tables,
is refused; a table without it, or with another policy beside its own, is a finding.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from weakref import WeakSet

from looseleaf.base.errors import Unreadable
from looseleaf.base.immutable import frozen
from looseleaf.store.postgres.database import Database
from looseleaf.store.postgres.migrate import newest_version, read_migrations, refuse_version, version
from looseleaf.store.postgres.probe import SERVER, refuse_server, vectors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from looseleaf.store.postgres.address import Address

SHARED = ("schema", "vectors_tried")
"""The tables without rows of any memory."""

_FIT = """
SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding'),
    r.rolname, r.rolsuper OR r.rolbypassrls, pg_has_role(c.relowner, 'MEMBER'),
    (SELECT coalesce(max(s.version), 0) FROM looseleaf.schema s),
    (SELECT coalesce(max(s.serves_from), 0) FROM looseleaf.schema s)
FROM pg_roles r, pg_class c WHERE r.rolname = current_user AND c.oid = 'looseleaf.memories'::regclass
"""

_fit: WeakSet[Database] = WeakSet()
"""Databases that were found fit."""


def refuse_unfit(database: Database) -> None:
    """Refuse to open memories in a database whose tables this program does not understand, or as a role that row
    security does not stop. The server is asked once, and is not waited for if it is not there: the address may be
    wrong."""
    if database in _fit:
        return
    with database.connect() as wire:
        ((number, encoding, role, passes, owns, found, serves_from),) = database.run(None, _FIT, on=wire)
    refuse_server(database.shown, number, encoding)
    refuse_version(database.shown, found, serves_from)
    if passes:
        raise Unreadable(
            f"No memory was opened: the role {role!r:.80} bypasses row security in {database.shown}, which keeps "
            "memories apart. Give the address with a role that is no superuser and has no BYPASSRLS."
        )
    if owns:
        raise Unreadable(
            f"No memory was opened: the role {role!r:.80} may change the tables in {database.shown}, and so remove "
            "what keeps memories apart. Give the address with the role of the application."
        )
    _fit.add(database)


# --- in full ---------------------------------------------------------------------------


@frozen
class DatabaseFinding:
    """What a check of a database found. `look`: it works, but a person should look at it. `then` says what to do."""

    name: str
    verdict: Literal["ok", "look", "broken"]
    says: str
    then: str = ""


def check_database(address: Address) -> Iterator[DatabaseFinding]:
    """Yield all findings. Raise `Refused` if the database cannot be reached."""
    database = Database(address, size=1)
    database.connect().close()  # a server that is not there is not waited for
    try:
        database.run(None, "SET search_path = ''")  # policies are then shown with whole names
        yield from _server(database)
        yield _role(database)
        found, serves_from = version(database)
        yield _versions(database, found, serves_from)
        if found:
            yield _apart(database)
            yield _rights(database)
            yield _vectors(database)
            yield _room(database)
    finally:
        database.close()


def _server(database: Database) -> Iterator[DatabaseFinding]:
    ((number, encoding),) = database.run(None, SERVER)
    try:
        refuse_server(database.shown, number, encoding)
        yield DatabaseFinding("database", "ok", f"PostgreSQL {number}, {encoding}")
    except Unreadable as refused:
        says, _, then = str(refused).removeprefix("Nothing was done: ").partition(". ")
        yield DatabaseFinding("database", "broken", says, then)
    settings = ("fsync", "full_page_writes", "synchronous_commit")
    off = [name for name in settings if database.run(None, f"SELECT current_setting('{name}')") == [("off",)]]
    if off:
        then = "Turn it on, unless you can lose the last seconds, or the database, in a crash."
        yield DatabaseFinding(
            "durable", "look", f"the server may lose what it acknowledged: {', '.join(off)} off", then
        )
    else:
        yield DatabaseFinding("durable", "ok", "a write is on the disk when it is acknowledged")
    if database.run(None, "SELECT pg_is_in_recovery()") == [(True,)]:
        yield DatabaseFinding(
            "standby", "look", "this is a standby: nothing can be written", "Name the primary."
        )


def _role(database: Database) -> DatabaseFinding:
    ((role, passes),) = database.run(
        None, "SELECT rolname, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    )
    if passes:
        then = "Memories are not opened as this role: make another, with neither SUPERUSER nor BYPASSRLS."
        return DatabaseFinding("role", "look", f"{role} bypasses row security", then)
    return DatabaseFinding("role", "ok", f"{role}, which row security binds")


_MIGRATE = "Run `looseleaf database migrate ADDRESS` as the role that owns them."


def _versions(database: Database, found: int, serves_from: int) -> DatabaseFinding:
    mine = newest_version()
    try:
        refuse_version(database.shown, found, serves_from)
    except Unreadable:
        if not found:
            return DatabaseFinding("tables", "broken", "there are none", _MIGRATE)
        says = f"version {found}; this looseleaf is written for {mine}"
        then = "Install a newer looseleaf." if found > mine else _MIGRATE
        return DatabaseFinding("tables", "broken", says, then)
    known = {each.version: each.sha256 for each in read_migrations()}
    rows = database.run(None, "SELECT version, name, sha256 FROM looseleaf.schema ORDER BY version")
    changed = [name for number, name, digest in rows if known.get(number, digest) != digest]
    if changed:
        says = f"version {found}, but not as this looseleaf has it: {', '.join(changed)}"
        return DatabaseFinding("tables", "look", says, "Find out which program made them.")
    return DatabaseFinding("tables", "ok", f"version {found}, {len(rows)} migrations")


_TABLES = """
SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity,
    (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid),
    (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid AND p.polcmd = '*' AND p.polroles = '{0}'
        AND pg_get_expr(p.polqual, p.polrelid) = '(memory = looseleaf.own())' AND p.polwithcheck IS NULL),
    coalesce((SELECT bool_and(a.attname = 'memory') FROM pg_index i JOIN pg_attribute a
        ON a.attrelid = c.oid AND a.attnum = i.indkey[0] WHERE i.indrelid = c.oid AND i.indisunique), false)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'looseleaf' AND c.relkind IN ('r', 'p') ORDER BY c.relname
"""


def _apart(database: Database) -> DatabaseFinding:
    """Check that each table shows a session one memory only."""
    faults, tables = [], set()
    for table, is_on, is_forced, policies, own, by_memory in database.run(None, _TABLES):
        if table in SHARED:
            continue
        tables.add(re.sub(r"_\d+$", "", table))
        if not is_on or (not is_forced and table != "memories"):
            faults.append(f"{table} without row security")
        elif (policies, own) != (1, 1):
            faults.append(f"{table} without its one policy")
        elif not by_memory and table != "memories":
            faults.append(f"{table} with a key that does not begin with the memory")
    if faults:
        more = f" and {len(faults) - 3} more" if len(faults) > 3 else ""
        then = "Restore it before anybody uses the database: memories are not kept apart."
        return DatabaseFinding("apart", "broken", f"{', '.join(faults[:3])}{more}", then)
    return DatabaseFinding("apart", "ok", f"row security on all {len(tables)} tables and their parts")


def _rights(database: Database) -> DatabaseFinding:
    """Check that a role other than the owner may use the tables."""
    roles = [
        role
        for (role,) in database.run(
            None,
            "SELECT DISTINCT r.rolname FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee "
            "WHERE c.oid = 'looseleaf.records'::regclass AND a.privilege_type = 'INSERT' AND r.oid <> c.relowner "
            "ORDER BY 1",
        )
    ]
    if not roles:
        then = "Run `looseleaf database migrate ADDRESS --role ROLE` with the role of the application."
        return DatabaseFinding("rights", "broken", "no role but the owner may write", then)
    return DatabaseFinding("rights", "ok", f"memories are used as {', '.join(roles)}")


def _vectors(database: Database) -> DatabaseFinding:
    found = vectors(database)
    says = {
        "works": "pgvector works",
        "fails": "pgvector is there and fails on this server: vectors are searched in the process",
        "absent": "no pgvector: vectors are searched in the process",
        "untried": "pgvector is there and was not tried",
    }[found]
    if found == "untried":
        return DatabaseFinding(
            "vectors", "look", says, "Run `looseleaf database migrate ADDRESS`, which tries it."
        )
    return DatabaseFinding("vectors", "ok", says)


_ROOM = """
SELECT pg_database_size(current_database()), current_setting('max_connections')::int,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
    (SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'looseleaf.records'::regclass)
"""


def _room(database: Database) -> DatabaseFinding:
    ((size, most, used, records),) = database.run(None, _ROOM)
    says = f"{size / 1e6:,.0f} MB, about {records:,} records; {used} of {most} connections in use"
    if used > 0.8 * most:
        return DatabaseFinding("room", "look", says, "Raise max_connections, or put a pooler in front of it.")
    return DatabaseFinding("room", "ok", says)
