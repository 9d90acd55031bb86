"""An index in one SQLite file, by its full-text engine FTS5: light to load, and a write can be found at once.

It holds terms and places and no text, so that nothing that is shown rests on it: whoever shows an item reads it where
it stands. The file is disposable: one that is damaged, foreign or of another version is dropped, and what was in it is
taken again. FTS5's own ranking visits every row of every word, so common words choose no candidates; they count in the
ranking, which is not done here.
"""

from __future__ import annotations

import os

from looseleaf.core.ranking import Corpus, Doc
from looseleaf.index.protocol import Found, Only

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Any

    from looseleaf.index.protocol import Item

VERSION = 1
"""Of the tables and of the terms in them: whoever changes how either is made adds one, and indexes are made anew."""

ANYWHERE = Only()

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
CREATE TABLE speaker (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE past (trace TEXT NOT NULL, fact TEXT NOT NULL, source INTEGER NOT NULL, PRIMARY KEY (trace, fact))
    WITHOUT ROWID;
CREATE VIRTUAL TABLE text USING fts5 (terms, content = '', tokenize = 'ascii');
CREATE VIRTUAL TABLE spelling USING fts5 (term, content = '', tokenize = 'trigram', detail = none)
""".split(";")
)

_BY_HASH = "CREATE INDEX item_hash ON item (hash)"
"""Made when it is first needed: only who searches by meaning needs it."""

_SHADOWS = ("text_", "spelling_")
"""Tables that FTS5 makes for its own."""

_DAMAGED = frozenset({1, 11, 20, 24, 26})
"""What SQLite says of a file that is not as we wrote it: no such table, malformed, wrong type, bad format, none."""

_DOC = "item.id, item.terms, session, seq, speaker, role, kind, ts, level"
_FOUND = (
    "item.id, source.name, kind, item.name, hash, coalesce(session.name, ''), speaker, role, ts, level, status, topic, "
    "segment, byte, first, last"
)
_AT_ONCE = 500
"""Values in one question to SQLite."""

_COMMON = 0.1
"""A word in more than this part of the items chooses no candidates, if there are rarer ones."""

_SMALL = 2000
"""Among so few items every word may choose."""

_POSTINGS = 20_000
"""Items that the words of one question visit: a question must not cost more the more there is to find."""

_BUSY_SECONDS = 30.0


class Damaged(Exception):
    """The file is not as we wrote it. It is to be dropped, and made again."""


class SqliteIndex:
    """See `Index`. `path` None: an index in memory, for as long as it is open."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._file: os.stat_result | None = None
        self._connection: sqlite3.Connection | None = None
        self._depth = 0
        self._sources: dict[str, int] = {}
        self._sessions: dict[tuple[int, str], list[int]] = {}

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
            with self.change():
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
        return own - {_BY_HASH} == set(_SCHEMA)

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
        if not S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise OSError(f"{self._path} is not a regular file with one name")
        self._file = found
        return True

    def _clear_away(self) -> None:
        """What stands beside a file that is gone belongs to it, and would be played into the next one."""
        for ending in ("-wal", "-shm", "-journal"):
            try:
                os.unlink(f"{self._path}{ending}")
            except FileNotFoundError:
                pass

    def remove(self) -> None:
        """Drop the file, if it is still the one that was opened."""
        self.close()
        if self._path is not None:
            try:
                if self._file is None or os.path.samestat(os.lstat(self._path), self._file):
                    os.unlink(self._path)
                    self._clear_away()
            except FileNotFoundError:
                pass

    def close(self) -> None:
        connection, self._connection = self._connection, None
        self._depth = 0
        self._sources.clear()
        self._sessions.clear()
        if connection is not None:
            connection.close()

    # --- changing ----------------------------------------------------------------------

    def change(self) -> SqliteIndex:
        return self

    def __enter__(self) -> SqliteIndex:
        if self._depth == 0:
            self._run("BEGIN IMMEDIATE")
            self._sources.clear()  # another process may have come before us
            self._sessions.clear()
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

    def mark(self, source: str) -> str:
        rows = self._ask("SELECT mark FROM source WHERE name = ?", (source,))
        return str(rows[0][0]) if rows else ""

    def marks(self, begin: str) -> dict[str, str]:
        query = "SELECT name, mark FROM source WHERE name >= ? AND name < ?"
        return dict(self._ask(query, (begin, begin[:-1] + chr(ord(begin[-1]) + 1))))

    def take(
        self,
        source: str,
        mark: str,
        items: Iterable[Item],
        *,
        anew: bool = False,
        over: Iterable[tuple[str, str]] = (),
    ) -> None:
        with self:
            number = self._source(source)
            if anew:
                self._empty(number)
            self._run("UPDATE source SET mark = ? WHERE id = ?", (mark, number))
            self._add(number, list(items))
            rows = [(trace, fact, number) for trace, fact in over]
            self._run_all("INSERT OR REPLACE INTO past VALUES (?, ?, ?)", rows)

    def drop(self, source: str) -> None:
        with self:
            number = self._source(source)
            self._empty(number)
            self._run("DELETE FROM source WHERE id = ?", (number,))
            self._sources.pop(source, None)

    def _source(self, name: str) -> int:
        if name not in self._sources:
            self._run("INSERT OR IGNORE INTO source (name, mark) VALUES (?, '')", (name,))
            self._sources[name] = self._ask("SELECT id FROM source WHERE name = ?", (name,))[0][0]
        return self._sources[name]

    def _seat(self, source: int, name: str) -> tuple[int | None, int]:
        """A session's number, and the next place in it."""
        if not name:
            return None, 0
        if (source, name) not in self._sessions:
            self._run("INSERT OR IGNORE INTO session (source, name, next) VALUES (?, ?, 0)", (source, name))
            row = self._ask("SELECT id, next FROM session WHERE source = ? AND name = ?", (source, name))[0]
            self._sessions[source, name] = [*row]
        seat = self._sessions[source, name]
        seat[1] += 1
        return seat[0], seat[1] - 1

    def _add(self, source: int, items: list[Item]) -> None:
        rows: list[tuple[Any, ...]] = []
        words: dict[str, int] = {}
        means: dict[tuple[str, str], list[int]] = {}
        touched: set[str] = set()
        last = self.last()
        for item in items:
            last += 1
            seat = self._seat(source, item.session)
            touched.add(item.session)
            terms = " ".join(item.terms)
            rows.append((last, source, *item[:2], item.hash, *seat, *item[5:], terms))
            for term in set(item.terms):
                words[term] = words.get(term, 0) + 1
            mean = means.setdefault((item.kind, item.role), [0, 0])
            mean[0] += 1
            mean[1] += len(item.terms)
        self._run_all(f"INSERT INTO item VALUES ({','.join('?' * 18)})", rows)
        self._run_all("INSERT INTO text (rowid, terms) VALUES (?, ?)", [(row[0], row[-1]) for row in rows])
        self._count(words, means)
        speakers = sorted({item.speaker for item in items if item.speaker})
        self._run_all("INSERT OR IGNORE INTO speaker VALUES (?)", [(name,) for name in speakers])
        seats = [
            (self._sessions[source, name][1], self._sessions[source, name][0]) for name in touched if name
        ]
        self._run_all("UPDATE session SET next = ? WHERE id = ?", seats)

    def _count(self, words: Mapping[str, int], means: Mapping[tuple[str, str], Sequence[int]]) -> None:
        last = self._ask("SELECT coalesce(max(id), 0) FROM word")[0][0]
        self._run_all(
            "INSERT INTO word (term, items) VALUES (?, ?) "
            "ON CONFLICT (term) DO UPDATE SET items = items + excluded.items",
            sorted(words.items()),
        )
        self._run(
            "INSERT INTO spelling (rowid, term) "
            "SELECT id, term FROM word WHERE id > ? AND length(term) BETWEEN 4 AND 40",
            (last,),
        )
        self._run_all(
            "INSERT INTO mean VALUES (?, ?, ?, ?) ON CONFLICT (kind, role) DO UPDATE SET "
            "items = items + excluded.items, terms = terms + excluded.terms",
            [(*key, *counts) for key, counts in means.items()],
        )

    def _empty(self, source: int) -> None:
        """Take a source's items out: the full-text table has to be told the terms that it was given."""
        query = "SELECT id, terms, kind, role FROM item WHERE source = ? AND kind <> 'trace'"
        rows = self._ask(query, (source,))
        if (
            not rows
        ):  # traces are never taken out one by one; here it is their whole log that was written anew
            rows = self._ask("SELECT id, terms, kind, role FROM item WHERE source = ?", (source,))
        words: dict[str, int] = {}
        means: dict[tuple[str, str], list[int]] = {}
        for _, terms, kind, role in rows:
            listed = terms.split()
            for term in set(listed):
                words[term] = words.get(term, 0) - 1
            mean = means.setdefault((kind, role), [0, 0])
            mean[0] -= 1
            mean[1] -= len(listed)
        self._run_all(
            "INSERT INTO text (text, rowid, terms) VALUES ('delete', ?, ?)", [row[:2] for row in rows]
        )
        self._count(words, means)
        self._run_all("DELETE FROM item WHERE id = ?", [row[:1] for row in rows])
        self._run("DELETE FROM session WHERE source = ?", (source,))
        self._run("DELETE FROM past WHERE source = ?", (source,))
        self._sessions = {key: seat for key, seat in self._sessions.items() if key[0] != source}

    # --- asking ------------------------------------------------------------------------

    def corpus(self, terms: Iterable[str]) -> Corpus:
        means: dict[tuple[str, str], float] = {}
        items = total = 0
        for kind, role, count, length in self._ask(
            "SELECT kind, role, items, terms FROM mean WHERE items > 0"
        ):
            means[kind, role] = length / count
            items += count
            total += length
        found: dict[str, int] = {}
        for some in _chunks(sorted(set(terms))):
            query = f"SELECT term, items FROM word WHERE items > 0 AND term IN ({','.join('?' * len(some))})"
            found.update(self._ask(query, some))
        return Corpus(items, total, found, means)

    def spelt_like(self, term: str) -> list[str]:
        grams = sorted({term[at : at + 3] for at in range(len(term) - 2)})
        return self._spelt(" OR ".join(map(_quoted, grams)), _SPELT) if grams else []

    def holding(self, part: str) -> list[str]:
        grams = sorted({part[at : at + 3] for at in range(len(part) - 2)})
        found = self._spelt(" AND ".join(map(_quoted, grams)), _HOLDING) if grams else []
        return [term for term in found if part in term]

    def _spelt(self, match: str, limit: int) -> list[str]:
        query = (
            "SELECT term FROM word WHERE items > 0 AND id IN "
            "(SELECT rowid FROM spelling WHERE spelling MATCH ? ORDER BY rank LIMIT ?)"
        )
        return [str(row[0]) for row in self._ask(query, (match, limit))]

    def candidates(self, terms: Mapping[str, int], only: Only, limit: int) -> list[Doc]:
        match = _choice(terms, self._size())
        if not match:
            return []
        allowed, values = _allowed(only)
        query = (
            f"SELECT {_DOC} FROM text JOIN item ON item.id = text.rowid "
            f"WHERE text MATCH ?{allowed} ORDER BY text.rank LIMIT ?"
        )
        return [Doc(*row) for row in self._ask(query, (match, *values, limit))]

    def within(self, first: float, last: float, only: Only, limit: int) -> list[Doc]:
        allowed, values = _allowed(only)
        query = f"SELECT {_DOC} FROM item WHERE ts BETWEEN ? AND ?{allowed} ORDER BY ts DESC LIMIT ?"
        return [Doc(*row) for row in self._ask(query, (first, last, *values, limit))]

    def _size(self) -> int:
        return int(self._ask("SELECT coalesce(sum(items), 0) FROM mean")[0][0])

    def near(self, docs: Sequence[Doc], reach: int) -> list[Doc]:
        """Mostly they were taken one after the other, so that their ids are next to each other too."""
        have = {doc.id for doc in docs}
        places = {(doc.session, doc.seq) for doc in docs if doc.session is not None}
        wanted = {
            (session, seq + step) for session, seq in places for step in range(-reach, reach + 1)
        } - places
        ids = {doc.id + step for doc in docs if doc.session is not None for step in range(-reach, reach + 1)}
        found: list[Doc] = []
        for some in _chunks(sorted(ids - have)):
            query = f"SELECT {_DOC} FROM item WHERE id IN ({','.join('?' * len(some))})"
            for row in self._ask(query, some):
                if (row[2], row[3]) in wanted:
                    wanted.discard((row[2], row[3]))
                    found.append(Doc(*row))
        have.update(doc.id for doc in found)
        ends = self._ends({session for session, _ in wanted})
        apart: dict[int, list[int]] = {}  # others were recorded at the same time
        for session, seq in wanted:
            if 0 <= seq < ends.get(session, 0):
                apart.setdefault(session, []).append(seq)
        for session, seqs in sorted(apart.items()):
            query = f"SELECT {_DOC} FROM item WHERE session = ? AND seq IN ({','.join('?' * len(seqs))})"
            found += [Doc(*row) for row in self._ask(query, (session, *seqs)) if row[0] not in have]
        return found

    def _ends(self, sessions: set[int]) -> dict[int, int]:
        """How many items there are in each session."""
        ends: dict[int, int] = {}
        for some in _chunks(sorted(sessions)):
            query = f"SELECT id, next FROM session WHERE id IN ({','.join('?' * len(some))})"
            ends.update(self._ask(query, some))
        return ends

    def by_hash(self, hashes: Sequence[int], only: Only) -> list[Doc]:
        try:
            if not self._ask("SELECT 1 FROM sqlite_master WHERE sql = ?", (_BY_HASH,)):
                self._run(_BY_HASH)
        except OSError:
            pass  # it is only slower
        allowed, values = _allowed(only)
        found: list[Doc] = []
        for some in _chunks(hashes):
            query = f"SELECT {_DOC} FROM item WHERE hash IN ({','.join('?' * len(some))}){allowed}"
            found += [Doc(*row) for row in self._ask(query, (*some, *values))]
        return found

    def found(self, ids: Sequence[int]) -> list[Found]:
        query = (
            f"SELECT {_FOUND} FROM item JOIN source ON source.id = item.source "
            "LEFT JOIN session ON session.id = item.session WHERE item.id IN "
        )
        rows: dict[int, Found] = {}
        for some in _chunks(list(ids)):
            rows |= {row[0]: Found(*row) for row in self._ask(f"{query}({','.join('?' * len(some))})", some)}
        return [rows[each] for each in ids if each in rows]

    def speakers(self) -> list[str]:
        return [str(row[0]) for row in self._ask("SELECT name FROM speaker LIMIT ?", (_SPEAKERS,))]

    def over(self, names: Sequence[str]) -> dict[str, str]:
        query = f"SELECT trace, fact FROM past WHERE trace IN ({','.join('?' * len(names))})"
        return dict(self._ask(query, names)) if names else {}

    def trace(self, name: str) -> Found | None:
        rows = self._ask("SELECT min(id) FROM item WHERE kind = 'trace' AND name = ?", (name,))
        return next(iter(self.found([rows[0][0]])), None)

    def hashes(self, after: int, limit: int) -> Iterator[tuple[int, int]]:
        rows = self._ask("SELECT id, hash FROM item WHERE id > ? ORDER BY id LIMIT ?", (after, limit))
        return iter([(row[0], row[1]) for row in rows])

    def hashes_of(self, ids: Sequence[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for some in _chunks(ids):
            found.update(
                self._ask(f"SELECT id, hash FROM item WHERE id IN ({','.join('?' * len(some))})", some)
            )
        return found

    def last(self) -> int:
        return int(self._ask("SELECT coalesce(max(id), 0) FROM item")[0][0])

    def faults(self) -> list[str]:
        """What is wrong with the file, looked at as a whole."""
        found = [str(row[0]) for row in self._ask("PRAGMA integrity_check") if row[0] != "ok"]
        self._run("INSERT INTO text (text) VALUES ('integrity-check')")
        return found

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


_SPEAKERS = 1000
"""People that a question may name."""

_SPELT = 60
_HOLDING = 200
"""Terms that are looked at for one word of a question."""


def fault(error: Exception) -> Damaged | OSError:
    """What SQLite's error means to us: the file is to be dropped, or cannot be used now."""
    code = (
        getattr(error, "sqlite_errorcode", 11) & 0xFF
    )  # none of SQLite's codes: text in the file is no text
    return Damaged(str(error)) if code in _DAMAGED else OSError(f"SQLite: {error}")


def _quoted(term: str) -> str:
    return f'"{term}"'


def _choice(terms: Mapping[str, int], size: int) -> str:
    """The words that choose candidates, as FTS5 is asked: the rarer ones, as long as they do not visit too much.

    Where even the rarest stands nearly everywhere, two of them have to stand together.
    """
    ranked = sorted((items, term) for term, items in terms.items() if items)
    if not ranked:
        return ""
    most = size if size <= _SMALL else max(size * _COMMON, ranked[0][0])
    chosen: list[str] = []
    visited = 0
    for items, term in ranked:
        visited += items
        if chosen and (items > most or visited > _POSTINGS):
            break
        chosen.append(_quoted(term))
    if ranked[0][0] > _POSTINGS and len(ranked) > 1:
        first, *others = (_quoted(term) for _, term in ranked[:4])
        return f"{first} AND ({' OR '.join(others)})"
    return " OR ".join(chosen)


def _allowed(only: Only) -> tuple[str, list[Any]]:
    """What may be found, as a part of a question to SQLite."""
    parts: list[str] = []
    values: list[Any] = []
    if only.kinds:
        parts.append(f"kind IN ({','.join('?' * len(only.kinds))})")
        values += only.kinds
    if only.topic:
        parts.append("topic = ?")
        values.append(only.topic)
    if only.agent:
        parts.append("(kind <> 'trace' OR source = (SELECT id FROM source WHERE name = ?))")
        values.append(f"traces/{only.agent}")
    if only.since is not None:
        parts.append("ts >= ?")
        values.append(only.since)
    if only.until is not None:
        parts.append("(kind = 'fact' OR ts <= ?)" if only.past else "ts <= ?")
        values.append(only.until)
    if not only.past:
        parts.append("status IN ('', 'current')")
    if only.hidden:
        marks = ",".join("?" * len(only.hidden))
        parts.append(f"source NOT IN (SELECT id FROM source WHERE name IN ({marks}))")
        values += only.hidden
    return "".join(f" AND {part}" for part in parts), values


def _chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))


def _uri(path: str) -> str:
    """So that the file is opened and never created; what has a meaning in a URI is escaped."""
    if os.sep != "/":  # pragma: no cover - Windows
        path = "/" + path.replace(os.sep, "/")
    return "file://" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=rw"
