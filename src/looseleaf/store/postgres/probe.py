"""What a server must be before its database is used, and whether vectors may be searched in it.

A build of pgvector for another processor does not fail: it kills the whole server, with the work of all that use it. So
it is tried once, before there are memories, and the answer is kept: by the embedded server in its settings, by others
in a table. A trial that did not finish counts as failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from looseleaf.base.errors import Unreadable
from looseleaf.store.postgres.embedded import TRIAL

if TYPE_CHECKING:
    from typing import Any, Literal

    from looseleaf.store.postgres.database import Database, Wire

    Vectors = Literal["works", "fails", "absent", "untried"]

LEAST = 15
"""The oldest supported PostgreSQL."""

SERVER = "SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding')"


def refuse_server(shown: str, version: int, encoding: str) -> None:
    """Refuse a database that cannot hold memories."""
    if version < LEAST:
        raise Unreadable(
            f"Nothing was done: the server of {shown} is PostgreSQL {version}, and looseleaf needs {LEAST} or newer. "
            "Give the address of a newer one."
        )
    if encoding != "UTF8":
        raise Unreadable(
            f"Nothing was done: {shown} keeps its text as {encoding:.40}, which does not have every character. Make a "
            "database for memories with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0."
        )


# --- vectors ---------------------------------------------------------------------------

TRIED = """
CREATE TABLE IF NOT EXISTS looseleaf.vectors_tried (
    server int,
    extension text,
    works boolean NOT NULL,
    tried timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (server, extension)
)
"""

_STATE = """
SELECT e.extversion, n.nspname, current_setting('looseleaf.vectors', true), current_setting('server_version_num')::int
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
"""

_ANSWER = "SELECT works FROM looseleaf.vectors_tried WHERE server = %s AND extension = %s"


def vectors(database: Database) -> Vectors:
    """Return whether vectors may be searched in the database, as far as it is known; nothing is tried.

    `SET looseleaf.vectors = off` for the database or the server settles it too.
    """
    rows = database.run(None, _STATE)
    if not rows:
        return "absent"
    extension, _, setting, server = rows[0]
    if setting in ("on", "off"):
        return "works" if setting == "on" else "fails"
    answer = database.run(None, _ANSWER, (server, extension))
    return "untried" if not answer else "works" if answer[0][0] else "fails"


def try_vectors(wire: Wire) -> Vectors:
    """Try what a search by vectors does, if that was not done yet; as the owner of the tables, outside a transaction.

    If it kills the server, the connection is broken afterwards.
    """
    rows: list[Any] = wire.execute(_STATE).fetchall()
    if not rows:
        return "absent"
    extension, schema, setting, server = rows[0]
    if setting in ("on", "off"):
        return "works" if setting == "on" else "fails"
    answer = wire.execute(_ANSWER, (server, extension)).fetchone()
    if answer is not None:
        return "works" if answer[0] else "fails"
    wire.execute("INSERT INTO looseleaf.vectors_tried VALUES (%s, %s, false)", (server, extension))
    try:
        wire.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(str(schema))))
        wire.execute(TRIAL.read_bytes())
    except psycopg.Error:
        if not wire.broken:
            wire.rollback()
            wire.execute("RESET search_path")
        return "fails"
    wire.execute("RESET search_path")
    works = "UPDATE looseleaf.vectors_tried SET works = true WHERE server = %s AND extension = %s"
    wire.execute(works, (server, extension))
    return "works"
