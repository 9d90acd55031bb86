"""The documents of a memory as rows: read whole, and changed from the exact bytes that the caller read."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from looseleaf.base.errors import Invalid, Outdated, Refused, Stale, Unwritten
from looseleaf.base.ids import random_id
from looseleaf.base.paths import canonical, fold_name
from looseleaf.base.values import Document, Stat, sha256
from looseleaf.store import JOURNAL
from looseleaf.store.machines import OTHERS
from looseleaf.store.postgres.database import Lost
from looseleaf.store.postgres.log_rows import TRIES, LogRows
from looseleaf.store.postgres.look import stat_of
from looseleaf.store.postgres.places import unpack
from looseleaf.store.root import ASIDE, over_limit
from looseleaf.store.streams import stream_of_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from looseleaf.base.values import Edition, Record

_PUT = (
    "SELECT outcome, present, other, line_at FROM looseleaf.put(%s, %s, %s, %s, %s::bytea, %s::bytea, %s::bytea, "
    "%s::bytea, %s, %s, %s::timestamptz)"
)
_VIEW = "SELECT looseleaf.view(%s, %s, %s, %s, %s, %s)"
_PUBLISH = "SELECT looseleaf.publish(%s, %s, %s::text[], %s::text[], %s::bytea[], %s::bytea[], %s)"
_STAT = "path, octet_length(data), sha256, extract(epoch FROM changed)::float8"


class DocumentRows(LogRows):
    """The documents of a memory, besides its streams."""

    def get(self, path: str, limit: int | None = None) -> Document | None:
        path = canonical(path)
        most = (1 << 31) - 1 if limit is None else limit
        stat = self._known_stat(path)
        if stat is not None:
            if stat.size > most:
                raise over_limit(path, most)
            data = self._asked.get(stat)
            if data is not None:
                return Document(path, data)
        elif self._is_known(path):
            return self._log_file(path)
        query = (
            f"SELECT {_STAT}, CASE WHEN octet_length(data) <= %s THEN data END FROM looseleaf.documents "
            "WHERE memory = %s AND path = %s"
        )
        rows = self.run(query, (most, self.memory, path))
        if not rows:
            self._note_gone(path)
            return self._log_file(path)
        *row, found = rows[0]
        stat = stat_of(*row)
        if self._looks.seen is not None:
            self._looks.seen.note(stat)
        if found is None:
            raise over_limit(path, most)
        if self._looks.depth:
            self._asked.keep(path, stat.mark[0], bytes(found))
        return Document(path, bytes(found))

    def _log_file(self, path: str) -> Document | None:
        data = self.log_file(path)
        return None if data is None else Document(path, data)

    def _known_stat(self, path: str) -> Stat | None:
        seen = self._seen()
        if seen is not None:
            self._asked.path(path)
        return seen.stats.get(path) if seen is not None else None

    def _is_known(self, path: str) -> bool:
        """True if this thread's look saw whether the document is there."""
        return self._looks.seen is not None and self._looks.seen.knows(path)

    def _note_gone(self, path: str) -> None:
        if self._looks.seen is not None:
            self._looks.seen.note_gone(path)

    def stat(self, path: str) -> Stat | None:
        path = canonical(path)
        found = stream_of_file(path)
        if found is not None and found[1] is None:
            end = self._ends().get(found[0])
            return None if end is None else Stat(path, unpack(end).offset, 0, (self._edition_number(), end))
        stat = self._known_stat(path)
        if stat is not None or self._is_known(path):
            return stat
        query = f"SELECT {_STAT} FROM looseleaf.documents WHERE memory = %s AND path = %s"
        rows = self.run(query, (self.memory, path))
        stat = stat_of(*rows[0]) if rows else None
        if self._looks.seen is not None:
            self._looks.seen.stats[path] = stat
        return stat

    def names(self, folder: str) -> list[str]:
        """Return the names of all that lies directly in a folder."""
        documents = (stat.path.rpartition("/")[2] for stat in self.list(folder))
        return sorted({*documents, *self.folders(folder)})

    def put(
        self,
        path: str,
        data: bytes,
        *,
        base: str | None,
        record: Record | None = None,
        when: float | None = None,
    ) -> str:
        new = str(record["new"]) if record is not None and record.get("new") else sha256(data)
        self._change(canonical(path), data, base, new, record, when)
        return new

    def delete(self, path: str, *, base: str, record: Record | None = None) -> None:
        self._change(canonical(path), None, base, None, record)

    def _change(
        self,
        path: str,
        data: bytes | None,
        base: str | None,
        new: str | None,
        record: Record | None,
        when: float | None = None,
    ) -> None:
        if data is None and base is None:
            raise Stale(path, base, None)
        since, bodies = self._since(), dict[str, bytes]()
        line = self._encode(record, bodies) if record is not None else None
        values: tuple[object, ...] = (
            self.memory,
            path,
            path.rpartition("/")[0],
            fold_name(path),
            data,
            bytes.fromhex(new) if new is not None else None,
            bytes.fromhex(base) if base is not None else None,
            line,
            self.policy.segment_bytes,
            since,
            None if when is None else datetime.datetime.fromtimestamp(when, datetime.UTC),
        )
        query, values = self._with_bodies(_PUT, values, bodies, "w.outcome = 'done'")
        generation = self._lines_read.generation
        for _ in range(100):
            try:
                outcome, present, other, line_at = self._write(query, values)[0]
            except Lost as lost:
                if self._is_done(lost, path, new, record, line):
                    return
                continue
            if outcome == "done":
                if line is not None:
                    self._note_appended(JOURNAL, [(int(line_at), line)], generation)
                if data is None or new is None:
                    self._note_gone(path)
                else:
                    self._note_written(path, data, bytes.fromhex(new))
                return
            self.look_again()
            if outcome == "outdated":
                raise Outdated
            if outcome == "twin":
                raise Refused(
                    f"{path} was not made: {other} exists, and some systems take the two names for one. "
                    f"Change {other}, or choose a name that differs in more than case or accents."
                )
            if outcome == "stale":
                raise Stale(path, base, bytes(present).hex() if present is not None else None)
        raise Unwritten(f"{path} was not written: it changes all the time. Repeat it.")

    def _is_done(
        self, lost: Lost, path: str, new: str | None, record: Record | None, line: bytes | None
    ) -> bool:
        """True if a change was made before its connection broke."""
        if record is not None and line is not None:
            return self._find_written(lost, JOURNAL, record.get("id"), [line]) is not None
        self._end_lost(lost)
        data = self._committed(path)
        is_done = (None if data is None else sha256(data)) == new
        if not is_done:
            self._require_lock()
        return is_done

    def _committed(self, path: str) -> bytes | None:
        """Return a document as a connection sees it that does not hold the lock."""
        query = "SELECT data FROM looseleaf.documents WHERE memory = %s AND path = %s"
        rows = self.database.run(self.memory, query, (self.memory, path))
        return bytes(rows[0][0]) if rows else None

    def view(self, path: str, data: bytes, *, of: Edition | tuple[()] = ()) -> None:
        path = canonical(path)
        if not path.startswith("views/"):
            raise Invalid(
                f"{path} was not written: only files in views/ may be written without a base. Use put."
            )
        since = self._since()
        asked = since if since is not None else of[0] if of else None
        digest = bytes.fromhex(sha256(data))
        values = self.memory, path, path.rpartition("/")[0], data, digest, asked
        if self.run(_VIEW, values)[0][0]:
            self._note_written(path, data, digest)
            return
        self.look_again()
        if since is not None:
            raise Outdated

    def publish(self, folder: str, files: Mapping[str, bytes], *, again: bool = False) -> None:
        folder = canonical(folder)
        paths = {f"{folder}/{canonical(name)}": data for name, data in files.items()}
        rows = [
            (path, path.rpartition("/")[0], bytes.fromhex(sha256(data)), data) for path, data in paths.items()
        ]
        paths_of, folders, hashes, bodies = (
            (list(each) for each in zip(*rows, strict=True)) if rows else ([],) * 4
        )
        for _ in range(TRIES):
            try:
                values = self.memory, folder, paths_of, folders, hashes, bodies, self._since()
                is_new = self._write(_PUBLISH, values)[0][0]
                break
            except Lost as lost:
                self._end_lost(lost)
                if all(self._committed(path) == data for path, data in paths.items()):
                    return
                self._require_lock()
        else:
            raise self._never_answered(folder)
        self.look_again()
        if is_new is None:
            raise Outdated
        if not is_new and not again:
            raise Refused(
                f"{folder} was not written: it exists, and a published folder never changes. Use a new name."
            )

    def put_aside(self, data: bytes, label: str) -> str:
        """Keep bytes that are about to be replaced below `log/aside/`; return the copy's path."""
        path = f"{ASIDE}/{random_id()}-{label.replace('/', '.')}"
        self._upsert(path, data)
        return path

    def furnish(self, folders: Sequence[str], files: Mapping[str, bytes]) -> None:
        """Write those of the files that are missing."""
        for name, data in files.items():
            if self.stat(name) is None:
                self._upsert(name, data)

    def folders(self, folder: str) -> tuple[str, ...]:
        """Return the names of the folders directly in a folder. It skips from one to the next, whatever they hold."""
        prefix = f"{canonical(folder)}/" if folder else ""
        if prefix in ("log/traces/", OTHERS + "/"):  # of logs only
            return tuple(sorted(self.log_folders(folder)))
        query = (
            "WITH RECURSIVE f(folder) AS ((SELECT folder FROM looseleaf.documents WHERE memory = %s AND folder >= %s "
            "AND folder < %s ORDER BY folder LIMIT 1) UNION ALL SELECT (SELECT d.folder FROM looseleaf.documents d "
            "WHERE d.memory = %s AND d.folder >= CASE WHEN strpos(substr(f.folder, %s), '/') = 0 THEN f.folder || "
            "chr(1) ELSE left(f.folder, %s) || split_part(substr(f.folder, %s), '/', 1) || '0' END COLLATE \"C\" "
            "AND d.folder < %s ORDER BY d.folder LIMIT 1) FROM f WHERE f.folder IS NOT NULL) "
            "SELECT DISTINCT split_part(substr(folder, %s), '/', 1) FROM f WHERE folder IS NOT NULL"
        )
        at, last = len(prefix) + 1, f"{prefix[:-1]}0" if prefix else "\U0010ffff"
        values = (self.memory, prefix, last, self.memory, at, at - 1, at, last, at)
        found = {str(row[0]) for row in self.run(query, values)} - {""}
        return tuple(sorted(found | self.log_folders(folder)))

    # Last: its name hides the type `list` from the lines below it.
    def list(self, folder: str = "") -> list[Stat]:
        name = canonical(folder) if folder else ""
        seen = self._seen()
        if seen is not None:
            self._asked.folder(name)
            if name in seen.lists:
                return [stat for _, stat in sorted(seen.lists[name].items())]
        query = f"SELECT {_STAT} FROM looseleaf.documents WHERE memory = %s AND folder = %s ORDER BY path"
        found = [stat_of(*row) for row in self.run(query, (self.memory, name))]
        if seen is not None:
            seen.lists[name] = {stat.path: stat for stat in found}
            seen.stats |= seen.lists[name]
        return found
