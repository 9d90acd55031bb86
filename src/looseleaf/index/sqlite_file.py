"""The SQLite file of an index: opened safely, made with its tables, changed all at once or not at all.

The file is disposable: one that is damaged, foreign or of another version is Damaged, and whoever holds it drops it and
takes what was in it again.
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
"""Of the tables and of the terms in them: whoever changes how either is made adds one, and indexes are made anew."""

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
"""Made when it is first needed: only who searches by meaning needs it."""

_SHADOWS = ("text_", "spelling_")
"""Tables that FTS5 makes for its own."""

_DAMAGED = frozenset({1, 11, 20, 24, 26})
"""What SQLite says of a file that is not as we wrote it: no such table, malformed, wrong type, bad format, none."""

_BUSY_SECONDS = 3.0
"""Whoever writes holds the memory's lock: a file that is busy for longer is held by somebody who has no business there,
and nobody who wants to record must wait for him."""


class Damaged(Exception):
    """The file is not as we wrote it. It is to be dropped, and made again."""


class SqliteFile:
    """`path` None: tables in memory, for as long as it is open. A `with` block is a change: all of it or nothing, and
    nobody else meanwhile."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._file: os.stat_result | None = None
        self._connection: sqlite3.Connection | None = None
        self._depth = 0

    # --- opening -----------------------------------------------------------------------

    def open(self, *, make: bool) -> bool:
        """Whether there is an index to ask. A file that was exchanged or removed under us is let go.

        OSError where it cannot be opened or made; Damaged where it is not ours.
        """
        if self._connection is not None and self._is_there():
            return True
        self.close()
        if self._path is not None and not self._furnish(make):
            return False
        import sqlite3

        try:
            self._connection = sqlite3.connect(
                _uri(self._path) if self._path is not None else ":memory:",
                uri=True,
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("PRAGMA trusted_schema = OFF")
            version = self._ask("PRAGMA user_version")[0][0]
            if version != VERSION:
                self._make(version)
            elif not self._is_ours():
                raise Damaged("it defines what we do not")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self.close()
            raise fault(error) from error
        except Damaged:
            self.close()
            raise
        return True

    def _make(self, version: int) -> None:
        """The tables, in a file that is empty; another's are not ours to change."""
        assert self._connection is not None
        if version == 0 and not self._ask("SELECT 1 FROM sqlite_master LIMIT 1"):
            if self._path is not None:
                self._ask("PRAGMA journal_mode = WAL")  # readers and the writer do not wait for each other
            with self:
                if self._ask("SELECT 1 FROM sqlite_master LIMIT 1"):  # another process was quicker
                    return
                for statement in _SCHEMA:
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {VERSION}")
        else:
            raise Damaged("it is of another version")

    def _is_ours(self) -> bool:
        """Whether the file defines what we do and nothing else: a view or a trigger of somebody's might do anything."""
        rows = self._ask("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        own = {sql for kind, name, sql in rows if not (kind == "table" and name.startswith(_SHADOWS))}
        return own - {BY_HASH} == set(_SCHEMA)

    def _is_there(self) -> bool:
        if self._path is None:
            return True
        try:
            now = os.lstat(self._path)
        except OSError:
            return False
        return self._file is not None and os.path.samestat(now, self._file)

    @property
    def which(self) -> tuple[int, int] | None:
        """The file that is open, whatever has its name by now."""
        return (self._file.st_dev, self._file.st_ino) if self._file is not None else None

    def _furnish(self, make: bool) -> bool:
        """The file, made if it is missing: SQLite would give it the mode of the umask. A link could lead anywhere."""
        from stat import S_ISREG

        assert self._path is not None
        self._refuse_links()
        try:
            found = os.lstat(self._path)
        except FileNotFoundError:
            if not make:
                return False
            self._clear_away()
            try:
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            except FileExistsError:  # another process was quicker
                pass
            found = os.lstat(self._path)
        self._file = found
        for path in (self._path, *self._beside()):
            try:
                there = os.lstat(path)
            except FileNotFoundError:
                continue
            if not S_ISREG(there.st_mode) or there.st_nlink > 1:
                raise OSError(f"{path} is not a regular file with one name")
        return True

    def _beside(self) -> list[str]:
        """Files that SQLite makes for its own beside this one."""
        return [f"{self._path}{ending}" for ending in ("-wal", "-shm", "-journal")]

    def _refuse_links(self) -> None:
        """A folder that is a link could lead anywhere."""
        from stat import S_ISDIR

        assert self._path is not None
        folder = os.path.dirname(self._path)
        if os.path.lexists(folder) and not S_ISDIR(os.lstat(folder).st_mode):
            raise OSError(f"{folder} is not a folder")

    def _clear_away(self) -> None:
        """What stands beside a file that is gone belongs to it, and would be played into the next one."""
        for path in self._beside():
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass

    def remove(self) -> None:
        """Drop the file, if it is still the one that was opened."""
        self.close()
        if self._path is not None:
            self._refuse_links()
            try:
                if self._file is None or os.path.samestat(os.lstat(self._path), self._file):
                    os.unlink(self._path)
                    self._clear_away()
            except FileNotFoundError:
                pass

    def close(self) -> None:
        connection, self._connection = self._connection, None
        self._depth = 0
        self._forget()
        if connection is not None:
            connection.close()

    def _forget(self) -> None:
        """What was remembered of the file is not known any more."""

    # --- changing ----------------------------------------------------------------------

    def __enter__(self) -> Self:
        if self._depth == 0:
            self._run("BEGIN IMMEDIATE")
            self._forget()  # another process may have come before us
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

    # --- SQLite ------------------------------------------------------------------------

    def _ask(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        import sqlite3

        assert self._connection is not None
        try:
            return self._connection.execute(query, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise fault(error) from error

    def _run(self, statement: str, values: Sequence[Any] = ()) -> None:
        self._ask(statement, values)

    def _run_all(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        import sqlite3

        assert self._connection is not None
        if rows:
            try:
                self._connection.executemany(statement, rows)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                raise fault(error) from error


def fault(error: Exception) -> Damaged | OSError:
    """What SQLite's error means to us: the file is to be dropped, or cannot be used now."""
    code = (
        getattr(error, "sqlite_errorcode", 11) & 0xFF
    )  # none of SQLite's codes: text in the file is no text
    return Damaged(str(error)) if code in _DAMAGED else OSError(f"SQLite: {error}")


def _uri(path: str) -> str:
    """So that the file is opened and never created; what has a meaning in a URI is escaped."""
    return "file://" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=rw"
