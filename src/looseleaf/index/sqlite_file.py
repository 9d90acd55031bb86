"""The SQLite file of an index: opened safely, created with its tables, changed all at once or not at all.

The file is disposable: a damaged or foreign one, or one of another version, is Damaged; the caller removes it and fills
a new one.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any, Self

VERSION = 1
"""The version of the tables and their terms. Raise it with any change to either: indexes are then built anew."""

_SCHEMA = tuple(
    statement.strip()
    for statement in """
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, mark TEXT NOT NULL);
CREATE TABLE session (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, name TEXT NOT NULL, next INTEGER NOT NULL,
    UNIQUE (source, name));
CREATE TABLE item (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    hash INTEGER NOT NULL, session INTEGER, seq INTEGER NOT NULL, speaker TEXT NOT NULL, role TEXT NOT NULL, ts REAL,
    level TEXT NOT NULL, status TEXT NOT NULL, topic TEXT NOT NULL, segment INTEGER NOT NULL, byte INTEGER NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, terms TEXT NOT NULL);
CREATE INDEX item_near ON item (session, seq) WHERE session IS NOT NULL;
CREATE INDEX item_then ON item (ts);
CREATE INDEX item_of ON item (source) WHERE kind <> 'trace';
CREATE TABLE mean (kind TEXT NOT NULL, role TEXT NOT NULL, items INTEGER NOT NULL, terms INTEGER NOT NULL,
    PRIMARY KEY (kind, role)) WITHOUT ROWID;
CREATE TABLE word (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, items INTEGER NOT NULL);
CREATE TABLE speaker (name TEXT PRIMARY KEY, items INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE past (trace TEXT NOT NULL, fact TEXT NOT NULL, source INTEGER NOT NULL, PRIMARY KEY (trace, fact))
    WITHOUT ROWID;
CREATE VIRTUAL TABLE text USING fts5 (terms, content = '', tokenize = 'ascii');
CREATE VIRTUAL TABLE spelling USING fts5 (term, content = '', tokenize = 'trigram', detail = none)
""".split(";")
)

BY_HASH = "CREATE INDEX item_hash ON item (hash)"
"""Created at first use: only a search by meaning needs it."""

_SHADOWS = ("text_", "spelling_")
"""Prefixes of FTS5's own tables."""

_DAMAGED = frozenset({1, 11, 20, 24, 26})
"""SQLite's error codes for a file not as we wrote it: no such table, malformed, wrong type, bad format, no database."""

_BUSY_SECONDS = 3.0
"""Writers hold the memory's lock, so a file that stays busy longer is held by a foreign process, and recording must not
wait for that."""


class DamagedIndex(Exception):
    """The file is not as we wrote it. Remove it and build it again."""


class SqliteFile:
    """Tables in a file, or in memory while open (`path` None). A `with` block is a change: all or nothing, alone."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._file: os.stat_result | None = None
        self._connection: sqlite3.Connection | None = None
        self._depth = 0

    def open(self, *, make: bool) -> bool:
        """True if there is an index to query. A file that was replaced or removed meanwhile is closed first.

        Raise OSError if it cannot be opened or made, Damaged if it is not ours.
        """
        if self._connection is not None and (self._path is None or self._is_there()):
            return True
        self.close()
        if self._path is not None and not self._check_file(make):
            return False
        import sqlite3

        where = uri_of(self._path) if self._path is not None else ":memory:"
        try:
            self._connection = sqlite3.connect(
                where, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True
            )
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("PRAGMA trusted_schema = OFF")
            version = self._query("PRAGMA user_version")[0][0]
            if version != VERSION:
                self._create_tables(version)
            elif not self._is_ours():
                raise DamagedIndex("it defines what we do not")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self.close()
            raise error_of(error) from error
        except DamagedIndex:
            self.close()
            raise
        return True

    def _create_tables(self, version: int) -> None:
        """Create the tables in an empty file; never change a foreign one."""
        is_filled = "SELECT 1 FROM sqlite_master LIMIT 1"
        if version != 0 or self._query(is_filled):
            raise DamagedIndex("it is of another version")
        if self._path is not None:
            self._query("PRAGMA journal_mode = WAL")  # readers and the writer never wait for each other
        with self:
            if not self._query(is_filled):  # else another process was quicker
                for statement in (*_SCHEMA, f"PRAGMA user_version = {VERSION}"):
                    self._run(statement)

    def _is_ours(self) -> bool:
        """True if the file defines exactly our tables: a foreign view or trigger could do anything."""
        rows = self._query("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        own = {sql for kind, name, sql in rows if not (kind == "table" and name.startswith(_SHADOWS))}
        return own - {BY_HASH} == set(_SCHEMA)

    def _is_there(self) -> bool:
        """True if the file is still the one that was opened."""
        try:
            return self._file is not None and os.path.samestat(os.lstat(str(self._path)), self._file)
        except OSError:
            return False

    @property
    def which(self) -> tuple[int, int] | None:
        """The identity of the open file, even if another has its name by now."""
        return (self._file.st_dev, self._file.st_ino) if self._file is not None else None

    def _check_file(self, make: bool) -> bool:
        """Check that the file is a regular one, or make it: SQLite would give it the umask's mode. A link could lead
        anywhere."""
        from stat import S_ISREG

        assert self._path is not None
        self._refuse_links()
        try:
            found = os.lstat(self._path)
        except FileNotFoundError:
            if not make:
                return False
            self._remove_side_files()
            try:
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            except FileExistsError:  # another process was quicker
                pass
            found = os.lstat(self._path)
        self._file = found
        for path in (self._path, *self._side_files()):
            try:
                there = os.lstat(path)
            except FileNotFoundError:
                continue
            if not S_ISREG(there.st_mode) or there.st_nlink > 1:
                raise OSError(f"{path} is not a regular file with one name")
        return True

    def _side_files(self) -> list[str]:
        """Return the paths of SQLite's own files beside this one."""
        return [f"{self._path}{ending}" for ending in ("-wal", "-shm", "-journal")]

    def _refuse_links(self) -> None:
        """Refuse a folder that is a link, which could lead anywhere."""
        from stat import S_ISDIR

        assert self._path is not None
        folder = os.path.dirname(self._path)
        if os.path.lexists(folder) and not S_ISDIR(os.lstat(folder).st_mode):
            raise OSError(f"{folder} is not a folder")

    def _remove_side_files(self) -> None:
        """Remove the side files of a removed file: SQLite would apply them to the next one."""
        for path in self._side_files():
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass

    def remove(self) -> None:
        """Remove the file, if it is still the one that was opened."""
        self.close()
        if self._path is not None:
            self._refuse_links()
            try:
                if self._file is None or os.path.samestat(os.lstat(self._path), self._file):
                    os.unlink(self._path)
                    self._remove_side_files()
            except FileNotFoundError:
                pass

    def close(self) -> None:
        connection, self._connection = self._connection, None
        self._depth = 0
        self._clear_cache()
        if connection is not None:
            connection.close()

    def _clear_cache(self) -> None:
        """Drop what was cached of the file."""

    def __enter__(self) -> Self:
        if self._depth == 0:
            self._run("BEGIN IMMEDIATE")
            self._clear_cache()  # another process may have written meanwhile
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._depth == 0:
            return  # closed inside the block
        self._depth -= 1
        if self._depth == 0:
            try:
                if kind is None:
                    self._run("COMMIT")
            finally:
                assert self._connection is not None
                if self._connection.in_transaction:  # a full disk ends some by itself
                    self._run("ROLLBACK")

    def _query(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        import sqlite3

        assert self._connection is not None
        try:
            return self._connection.execute(query, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise error_of(error) from error

    def _run(self, statement: str, values: Sequence[Any] = ()) -> None:
        self._query(statement, values)

    def _run_all(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        import sqlite3

        assert self._connection is not None
        if rows:
            try:
                self._connection.executemany(statement, rows)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                raise error_of(error) from error


def error_of(error: Exception) -> DamagedIndex | OSError:
    """Convert SQLite's error: Damaged if the file must go, OSError if it cannot be used now."""
    code = getattr(error, "sqlite_errorcode", 11) & 0xFF  # no code: a text in the file is not UTF-8
    return DamagedIndex(str(error)) if code in _DAMAGED else OSError(f"SQLite: {error}")


def uri_of(path: str) -> str:
    """Return a URI that opens the file and never creates it; escape what means something in a URI."""
    return "file://" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=rw"
