"""An index in one SQLite file, by its full-text engine FTS5: light to load, and a write is found at once.

It holds terms, words and places but no text: to show an item, the caller reads it where it stands. FTS5's own ranking
visits every row of every word, so common words choose no candidates; they count in the ranking (`recall/ranking.py`).

The file is opened safely, and changed all at once or not at all. It is disposable: one that is damaged, foreign or of
another version is a `DamagedIndex`; the caller removes it and fills a new one.
"""

from __future__ import annotations

import os
from contextlib import nullcontext

from looseleaf.index.choosing import ALIKE, DEEPER, FORMS, HOLDING, LETTERS, SPEAKERS, SPELT, choose_words
from looseleaf.index.protocol import Corpus, Doc, FoundItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Any, Self

    from looseleaf.index.protocol import IndexItem, Only, SaidLine
    from looseleaf.index.said import Part


# --- the file and its tables ------------------------------------------------------------

VIEW = "views/index.sqlite"
"""Where a memory has its index."""

VERSION = 2
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
CREATE VIRTUAL TABLE spelling USING fts5 (term, content = '', tokenize = 'trigram', detail = none);
CREATE TABLE line (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, segment INTEGER NOT NULL, byte INTEGER NOT NULL,
    words TEXT NOT NULL);
CREATE INDEX line_of ON line (source) WHERE words <> '';
CREATE TABLE said (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE verbatim USING fts5 (words, content = '', tokenize = 'ascii', detail = none, columnsize = 0)
""".split(";")
)

_LOGS = "traces"
"""Sources whose items are traces begin so, if need be after `on/<machine>/`."""

BY_HASH = "CREATE INDEX item_hash ON item (hash)"
"""Created at first use: only a search by meaning needs it."""

_SHADOWS = ("text_", "spelling_", "verbatim_")
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
            if self._is_torn():
                raise DamagedIndex("its last page is cut")
            version = self._query("PRAGMA user_version")[0][0]
            if version != VERSION:
                self._create_tables(version)
            elif not self._is_ours():
                raise DamagedIndex("it defines what we do not")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self.close()
            raise error_of(error) from error
        except (DamagedIndex, OSError):
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

    def _is_torn(self) -> bool:
        """True if the last page is cut: SQLite reads what is missing as zeros, and would find too little. While there
        is a log beside the file, that holds the page."""
        if self._path is None:
            return False
        log = f"{self._path}-wal"
        if os.path.exists(log) and os.path.getsize(log):
            return False
        return bool(os.path.getsize(self._path) % self._query("PRAGMA page_size")[0][0])

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
    """Convert SQLite's error: `DamagedIndex` if the file must go, OSError if it cannot be used now."""
    code = getattr(error, "sqlite_errorcode", 11) & 0xFF  # no code: a text in the file is not UTF-8
    return DamagedIndex(str(error)) if code in _DAMAGED else OSError(f"SQLite: {error}")


def uri_of(path: str) -> str:
    """Return a URI that opens the file and never creates it; escape what means something in a URI."""
    return "file://" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=rw"


# --- the index --------------------------------------------------------------------------

_DOC = "item.id, item.terms, session, seq, speaker, role, kind, ts, level"
_FOUND = (
    "item.id, source.name, kind, item.name, hash, coalesce(session.name, ''), speaker, role, ts, level, status, topic, "
    "segment, byte, first, last"
)
_AT_ONCE = 500
"""Values in one SQLite query."""


class SqliteIndex(SqliteFile):
    """An `Index` in a file, or in memory."""

    def __init__(self, path: str | None) -> None:
        super().__init__(path)
        self._sources: dict[str, int] = {}
        self._sessions: dict[tuple[int, str], list[int]] = {}

    def _clear_cache(self) -> None:
        self._sources.clear()
        self._sessions.clear()

    def change(self) -> SqliteIndex:
        return self

    def look(self) -> AbstractContextManager[object]:
        return nullcontext()  # a file answers so fast that nothing need be remembered

    def mark(self, source: str) -> str:
        rows = self._query("SELECT mark FROM source WHERE name = ?", (source,))
        return str(rows[0][0]) if rows else ""

    def marks(self, begin: str) -> dict[str, str]:
        query = "SELECT name, mark FROM source WHERE name >= ? AND name < ?"
        return dict(self._query(query, (begin, begin[:-1] + chr(ord(begin[-1]) + 1))))

    def marks_of(self, sources: Iterable[str]) -> dict[str, str]:
        names = list(dict.fromkeys(sources))
        return dict(self._query_in("SELECT name, mark FROM source WHERE mark <> '' AND name", names))

    def take(
        self,
        source: str,
        mark: str,
        items: Iterable[IndexItem],
        *,
        anew: bool = False,
        over: Iterable[tuple[str, str]] = (),
        said: Iterable[SaidLine] = (),
    ) -> None:
        with self:
            is_known = self._has_source(source)
            number = self._source_id(source)
            if anew and is_known:
                self._remove_items(number, source)
            self._run("UPDATE source SET mark = ? WHERE id = ?", (mark, number))
            self._add_items(number, list(items))
            rows = [(trace, fact, number) for trace, fact in over]
            self._run_all("INSERT OR REPLACE INTO past VALUES (?, ?, ?)", rows)
            self._add_lines(number, list(said), is_kept=not _is_log(source))

    def drop(self, source: str) -> None:
        with self:
            number = self._source_id(source)
            self._remove_items(number, source)
            self._run("DELETE FROM source WHERE id = ?", (number,))
            self._sources.pop(source, None)

    def _has_source(self, name: str) -> bool:
        return name in self._sources or bool(self._query("SELECT 1 FROM source WHERE name = ?", (name,)))

    def _source_id(self, name: str) -> int:
        if name not in self._sources:
            self._run("INSERT OR IGNORE INTO source (name, mark) VALUES (?, '')", (name,))
            self._sources[name] = self._query("SELECT id FROM source WHERE name = ?", (name,))[0][0]
        return self._sources[name]

    def _next_seat(self, source: int, name: str) -> tuple[int | None, int]:
        """Return a session's number, and the next place in it."""
        if not name:
            return None, 0
        if (source, name) not in self._sessions:
            self._run("INSERT OR IGNORE INTO session (source, name, next) VALUES (?, ?, 0)", (source, name))
            row = self._query("SELECT id, next FROM session WHERE source = ? AND name = ?", (source, name))[0]
            self._sessions[source, name] = [*row]
        seat = self._sessions[source, name]
        seat[1] += 1
        return seat[0], seat[1] - 1

    def _add_items(self, source: int, items: list[IndexItem]) -> None:
        rows: list[tuple[Any, ...]] = []
        speakers: dict[str, int] = {}
        for number, item in enumerate(items, self.last() + 1):
            seat = self._next_seat(source, item.session)
            rows.append((number, source, *item[:2], item.hash, *seat, *item[5:], " ".join(item.terms)))
            if item.speaker:
                speakers[item.speaker] = speakers.get(item.speaker, 0) + 1
        self._run_all(f"INSERT INTO item VALUES ({','.join('?' * 18)})", rows)
        self._run_all("INSERT INTO text (rowid, terms) VALUES (?, ?)", [(row[0], row[-1]) for row in rows])
        self._add_counts(1, ((item.terms, item.kind, item.role) for item in items))
        self._run_all(
            "INSERT INTO speaker VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET items = items + excluded.items",
            sorted(speakers.items()),
        )
        seats = [self._sessions[source, name] for name in {item.session for item in items if item.session}]
        self._run_all("UPDATE session SET next = ? WHERE id = ?", [(next_, id_) for id_, next_ in seats])

    def _add_lines(self, source: int, said: list[SaidLine], *, is_kept: bool) -> None:
        """Add what lines say. Of a log, which is never taken from line by line, the words are not kept."""
        last = self._query("SELECT coalesce(max(id), 0) FROM line")[0][0]
        rows = [(number, source, *line) for number, line in enumerate(said, last + 1)]
        kept = rows if is_kept else [(*row[:-1], "") for row in rows]
        self._run_all("INSERT INTO line VALUES (?, ?, ?, ?, ?)", kept)
        self._run_all(
            "INSERT INTO verbatim (rowid, words) VALUES (?, ?)", [(row[0], row[-1]) for row in rows]
        )
        words = {word for row in rows for word in row[-1].split()}
        self._run_all("INSERT OR IGNORE INTO said VALUES (?)", [(word,) for word in sorted(words)])

    def _add_counts(self, sign: int, items: Iterable[tuple[Sequence[str], str, str]]) -> None:
        """Count the terms of items, given with their kinds and roles; with -1 for `sign`, those that are removed."""
        words: dict[str, int] = {}
        means: dict[tuple[str, str], list[int]] = {}
        for terms, kind, role in items:
            for term in set(terms):
                words[term] = words.get(term, 0) + sign
            mean = means.setdefault((kind, role), [0, 0])
            mean[0] += sign
            mean[1] += sign * len(terms)
        last = self._query("SELECT coalesce(max(id), 0) FROM word")[0][0]
        self._run_all(
            "INSERT INTO word (term, items) VALUES (?, ?) "
            "ON CONFLICT (term) DO UPDATE SET items = items + excluded.items",
            sorted(words.items()),
        )
        self._run(
            "INSERT INTO spelling (rowid, term) "
            "SELECT id, term FROM word WHERE id > ? AND length(term) BETWEEN ? AND ?",
            (last, *LETTERS),
        )
        self._run_all(
            "INSERT INTO mean VALUES (?, ?, ?, ?) ON CONFLICT (kind, role) DO UPDATE SET "
            "items = items + excluded.items, terms = terms + excluded.terms",
            [(*key, *counts) for key, counts in means.items()],
        )

    def _remove_items(self, source: int, name: str) -> None:
        """Remove a source's items: FTS5 needs the terms again that it was given."""
        # A log of traces that was rewritten as a whole is searched for in all items; anything else has an index.
        but = "" if _is_log(name) else " AND kind <> 'trace'"
        rows = self._query(f"SELECT id, terms, kind, role FROM item WHERE source = ?{but}", (source,))
        gone = [row[:2] for row in rows]
        self._run_all("INSERT INTO text (text, rowid, terms) VALUES ('delete', ?, ?)", gone)
        self._add_counts(-1, ((terms.split(), kind, role) for _, terms, kind, role in rows))
        self._run_all("DELETE FROM item WHERE id = ?", [row[:1] for row in rows])
        self._run("DELETE FROM session WHERE source = ?", (source,))
        self._run("DELETE FROM past WHERE source = ?", (source,))
        if _is_log(name):  # their words are not known here: they stay, and are of no source
            self._run("UPDATE line SET source = 0 WHERE source = ?", (source,))
        else:
            lines = self._query("SELECT id, words FROM line WHERE source = ? AND words <> ''", (source,))
            self._run_all("INSERT INTO verbatim (verbatim, rowid, words) VALUES ('delete', ?, ?)", lines)
            self._run_all("DELETE FROM line WHERE id = ?", [row[:1] for row in lines])
        self._sessions = {key: seat for key, seat in self._sessions.items() if key[0] != source}

    def corpus(self, terms: Iterable[str]) -> Corpus:
        means: dict[tuple[str, str], float] = {}
        items = total = 0
        rows = self._query("SELECT kind, role, items, terms FROM mean WHERE items > 0")
        for kind, role, count, length in rows:
            means[kind, role] = length / count
            items += count
            total += length
        found = self._query_in("SELECT term, items FROM word WHERE items > 0 AND term", sorted(set(terms)))
        return Corpus(items, total, dict(found), means)

    def _query_in(
        self, query: str, values: Sequence[Any], behind: str = "", more: Sequence[Any] = ()
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query `… IN (values)…`, in as many queries as SQLite's limit of values needs."""
        for start in range(0, len(values), _AT_ONCE):
            some = values[start : start + _AT_ONCE]
            yield from self._query(f"{query} IN ({_marks(some)}){behind}", (*some, *more))

    def spelt_like(self, term: str) -> list[str]:
        return self._match_spellings(term, " OR ", SPELT, "ORDER BY rank")

    def holding(self, part: str) -> list[str]:
        # Unordered: the caller looks at all of them, and ranking takes longer than finding.
        return [term for term in self._match_spellings(part, " AND ", HOLDING) if part in term]

    def _match_spellings(self, term: str, join: str, limit: int, order: str = "") -> list[str]:
        grams = sorted({_quote(term[at : at + 3]) for at in range(len(term) - 2)})
        if not grams:
            return []
        query = (
            "SELECT term FROM word WHERE items > 0 AND id IN "
            f"(SELECT rowid FROM spelling WHERE spelling MATCH ? {order} LIMIT ?)"
        )
        return [str(row[0]) for row in self._query(query, (join.join(grams), limit))]

    def candidates(self, terms: Mapping[str, int], only: Only, limit: int) -> list[Doc]:
        items = self._query("SELECT coalesce(sum(items), 0) FROM mean")[0][0]
        match = _match(*choose_words(terms, int(items)))
        if not match:
            return []
        allowed, values = _filter_of(only)
        query = (
            f"SELECT {_DOC}, source, name, hash FROM text JOIN item ON item.id = text.rowid "
            f"WHERE text MATCH ?{allowed} ORDER BY text.rank LIMIT ?"
        )
        rows = self._query(query, (match, *values, limit))
        kept = _thin_out(rows)
        if len(kept) < len(rows) == limit:  # many passages of one text, or one text said many times
            kept = _thin_out(self._query(query, (match, *values, limit * DEEPER)))[:limit]
        return kept

    def within(self, first: float, last: float, only: Only, limit: int) -> list[Doc]:
        allowed, values = _filter_of(only)
        query = f"SELECT {_DOC} FROM item WHERE ts BETWEEN ? AND ?{allowed} ORDER BY ts DESC LIMIT ?"
        return [Doc(*row) for row in self._query(query, (first, last, *values, limit))]

    def near(self, docs: Sequence[Doc], reach: int) -> list[Doc]:
        """See `Index`. Most neighbors were taken one after the other, so their ids are neighbors too."""
        have, steps = {doc.id for doc in docs}, range(-reach, reach + 1)
        places = {(doc.session, doc.seq) for doc in docs if doc.session is not None}
        wanted = {(session, seq + step) for session, seq in places for step in steps} - places
        ids = {doc.id + step for doc in docs if doc.session is not None for step in steps}
        found: list[Doc] = []
        for row in self._query_in(f"SELECT {_DOC} FROM item WHERE id", sorted(ids - have)):
            if (row[2], row[3]) in wanted:
                wanted.discard((row[2], row[3]))
                found.append(Doc(*row))
        have.update(doc.id for doc in found)
        sessions = sorted({session for session, _ in wanted})
        ends = dict(self._query_in("SELECT id, next FROM session WHERE id", sessions))
        apart: dict[int, list[int]] = {}  # sessions that were recorded at the same time
        for session, seq in wanted:
            if 0 <= seq < ends.get(session, 0):
                apart.setdefault(session, []).append(seq)
        for session, seqs in sorted(apart.items()):
            rows = self._query_in(f"SELECT {_DOC} FROM item WHERE seq", seqs, " AND session = ?", (session,))
            found += [Doc(*row) for row in rows if row[0] not in have]
        return found

    def by_hash(self, hashes: Sequence[int], only: Only) -> list[Doc]:
        try:
            if not self._query("SELECT 1 FROM sqlite_master WHERE sql = ?", (BY_HASH,)):
                self._run(BY_HASH)
        except OSError:
            pass  # only slower
        rows = self._query_in(f"SELECT {_DOC} FROM item WHERE hash", hashes, *_filter_of(only))
        return [Doc(*row) for row in rows]

    def found(self, ids: Sequence[int]) -> list[FoundItem]:
        query = (
            f"SELECT {_FOUND} FROM item JOIN source ON source.id = item.source "
            "LEFT JOIN session ON session.id = item.session WHERE item.id"
        )
        rows = {row[0]: FoundItem(*row) for row in self._query_in(query, ids)}
        return [rows[each] for each in ids if each in rows]

    def speakers(self, agent: str = "") -> list[str]:
        query = "SELECT name FROM speaker WHERE items > 1 ORDER BY items DESC, name LIMIT ?"
        names = [str(row[0]) for row in self._query(query, (SPEAKERS,))]
        if not agent or not names:
            return names
        allowed, values = _filter_of(Only(agent=agent, past=True))
        query = f"SELECT DISTINCT speaker FROM item WHERE kind = 'trace' AND speaker <> ''{allowed}"
        own = {str(row[0]) for row in self._query(query, values)}
        return [name for name in names if name in own]

    def over(self, name: str) -> list[str]:
        rows = self._query("SELECT fact FROM past WHERE trace = ? ORDER BY fact", (name,))
        return [str(row[0]) for row in rows]

    def lines_with(self, parts: Sequence[Part], source: str) -> Iterator[tuple[int, int]] | None:
        match = self._match_parts(parts)
        return self._read_lines(match, source) if match is not None else None

    def _read_lines(self, match: str, source: str) -> Iterator[tuple[int, int]]:
        query = (
            "SELECT line.id, segment, byte FROM verbatim JOIN line ON line.id = verbatim.rowid "
            "WHERE verbatim MATCH ? AND verbatim.rowid < ? AND source = (SELECT id FROM source WHERE name = ?) "
            "ORDER BY verbatim.rowid DESC LIMIT ?"
        )
        before = _NO_LINE
        while match and (rows := self._query(query, (match, before, source, _LINES))):
            yield from (row[1:] for row in rows)
            before = rows[-1][0]

    def sources_with(self, parts: Sequence[Part]) -> set[str] | None:
        match = self._match_parts(parts)
        query = (
            "SELECT DISTINCT source.name FROM verbatim JOIN line ON line.id = verbatim.rowid "
            "JOIN source ON source.id = line.source WHERE verbatim MATCH ? AND line.words <> ''"
        )
        return (
            {str(row[0]) for row in self._query(query, (match,))}
            if match
            else None
            if match is None
            else set()
        )

    def _match_parts(self, parts: Sequence[Part]) -> str | None:
        """Return an FTS5 query for the lines that have all these; "" if none does, None if too many may."""
        groups: list[str] = []
        for part in parts:
            where, values = "instr(word, ?)", [part.text]
            if part.begins:
                where, values = "word >= ? AND word < ?", [part.text, f"{part.text}\U0010ffff"]
            if part.ends:
                where, values = f"{where} AND substr(word, -length(?)) = ?", [*values, part.text, part.text]
            words = self._query(f"SELECT word FROM said WHERE {where} LIMIT ?", (*values, FORMS + 1))
            if not words:
                return ""
            if len(words) <= FORMS:
                groups.append(f"({' OR '.join(_quote(row[0]) for row in words)})")
        return " AND ".join(groups) or None

    def trace(self, name: str) -> FoundItem | None:
        rows = self._query("SELECT min(id) FROM item WHERE kind = 'trace' AND name = ?", (name,))
        return next(iter(self.found([rows[0][0]])), None)

    def hashes(self, after: int, limit: int) -> Iterator[tuple[int, int]]:
        rows = self._query("SELECT id, hash FROM item WHERE id > ? ORDER BY id LIMIT ?", (after, limit))
        return ((row[0], row[1]) for row in rows)

    def hashes_of(self, ids: Sequence[int]) -> dict[int, int]:
        return dict(self._query_in("SELECT id, hash FROM item WHERE id", ids))

    def last(self) -> int:
        return int(self._query("SELECT coalesce(max(id), 0) FROM item")[0][0])

    def faults(self) -> list[str]:
        """Check the whole file; return what is wrong."""
        found = [str(row[0]) for row in self._query("PRAGMA integrity_check") if row[0] != "ok"]
        for table in ("text", "verbatim"):
            self._run(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
        return found


_LINES = 256
"""Lines to look up at once: often the first few are enough."""

_NO_LINE = 1 << 62
"""More than any line's number."""


def _thin_out(rows: Iterable[tuple[Any, ...]]) -> list[Doc]:
    """Keep at most `ALIKE` passages of one text, and `ALIKE` items of the same words."""
    often: dict[object, int] = {}
    kept: list[Doc] = []
    for row in rows:
        # A page holds many texts; a name in a log or an entry is one text.
        keys = ((row[-3], row[-2]) if row[6] in ("trace", "entry") else row[0], row[-1])
        if all(often.get(key, 0) < ALIKE for key in keys):
            kept.append(Doc(*row[:-3]))
        for key in keys:
            often[key] = often.get(key, 0) + 1
    return kept


def _is_log(source: str) -> bool:
    """True if the items of a source are traces."""
    parts = source.split("/", 3)
    return _LOGS in (parts[:1] if parts[0] != "on" else parts[2:3])


def _quote(term: str) -> str:
    return f'"{term}"'


def _match(chosen: Sequence[str], needed: str) -> str:
    """Return the FTS5 query for the items that have these words; "" for none."""
    if needed:
        return f"{_quote(needed)} AND ({' OR '.join(_quote(term) for term in chosen if term != needed)})"
    return " OR ".join(_quote(term) for term in chosen)


def _filter_of(only: Only) -> tuple[str, list[Any]]:
    """Return the filter as a part of an SQL query, and its values."""
    by_time = "(kind = 'fact' OR ts <= ?)" if only.past else "ts <= ?"
    by_agent = (
        "(kind <> 'trace' OR source IN (SELECT id FROM source WHERE name = ? "
        "OR (name > 'on/' AND name < 'on0' AND substr(name, -length(?)) = ?)))"
    )
    by_source = f"source NOT IN (SELECT id FROM source WHERE name IN ({_marks(only.hidden)}))"
    parts: tuple[tuple[object, str, Sequence[Any]], ...] = (
        (only.kinds, f"kind IN ({_marks(only.kinds)})", only.kinds),
        (only.topic, "topic = ?", (only.topic,)),
        (only.agent, by_agent, (f"traces/{only.agent}", *2 * (f"/traces/{only.agent}",))),
        (only.since is not None, "ts >= ?", (only.since,)),
        (only.until is not None, by_time, (only.until,)),
        (not only.past, "status IN ('', 'current')", ()),
        (only.hidden, by_source, only.hidden),
    )
    asked = [(part, values) for is_asked, part, values in parts if is_asked]
    return "".join(f" AND {part}" for part, _ in asked), [each for _, values in asked for each in values]


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))
