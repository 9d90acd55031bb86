"""A memory that is moved into a database: all of it in one transaction, which commits once it is proven.

Until then nobody sees it, and a move that is killed leaves nothing behind. It is opened once the source is closed, so
at no moment are both open.
"""

from __future__ import annotations

from contextlib import ExitStack
from hashlib import sha256
from typing import TYPE_CHECKING

import psycopg

from looseleaf.base.errors import Refused
from looseleaf.base.paths import fold_name
from looseleaf.store.postgres.check_database import refuse_unfit
from looseleaf.store.postgres.database import database_at
from looseleaf.store.postgres.folder_view import read_files
from looseleaf.store.postgres.places import FIRST, begin_of
from looseleaf.store.postgres.switch import insert_lines, split_lines
from looseleaf.store.streams import stream_of_file

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from looseleaf.store.postgres.address import Address


class Arrival:
    """A `with` block. What was put in is kept only if it was proven and the block ends well."""

    def __init__(self, address: Address, source: str, *, is_repeated: bool) -> None:
        """`source`: where it comes from; `is_repeated`: that has been closed already, by a move that was killed."""
        self._address = address
        self._source, self._is_repeated = source, is_repeated
        self._database = database_at(address)
        self._held = ExitStack()
        self._active: dict[str, bytes] = {}
        self._segments: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self.is_there = False
        """True if a memory is there already: a repeated move, if it is the same."""

    def __enter__(self) -> Self:
        refuse_unfit(self._database)
        self._wire = self._database.hold()
        self._held.callback(self._database.give_back, self._wire)
        try:
            self._held.enter_context(self._wire.transaction())
            self._find()
        except psycopg.Error as error:
            self._close(error)
            raise self._database.explain(error) from error
        except BaseException as error:
            self._close(error)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._held.__exit__(kind, error, trace)
        except psycopg.Error as failed:
            raise self._database.explain(failed) from failed
        finally:
            self._wire.memory = None
        if isinstance(error, psycopg.Error):
            raise self._database.explain(error) from error

    def _close(self, error: BaseException) -> None:
        self._held.__exit__(type(error), error, error.__traceback__)

    def _find(self) -> None:
        row = self._wire.execute(
            "SELECT memory, state FROM looseleaf.find_memory(%s, true)", (self._address.namespace,)
        ).fetchone()
        assert row is not None
        self.memory = int(str(row[0]))
        self._wire.memory = None
        self._wire.execute("SELECT set_config('looseleaf.memory', %s, true)", (str(self.memory),))
        self._wire.execute("SELECT pg_advisory_xact_lock(%s)", (self.memory,))
        found = self._wire.execute(
            "SELECT EXISTS (SELECT FROM looseleaf.streams WHERE memory = %s)", (self.memory,)
        ).fetchone()
        self.is_there = (row[1] == "here" or self._is_repeated) and found is not None and bool(found[0])
        if not self.is_there:
            self.begin()

    def begin(self) -> None:
        """Start empty. What a memory left behind when it moved away is removed: it is elsewhere, and proven there."""
        self._active, self._segments, self._numbers = {}, {}, {}
        if self.is_there:
            return
        for table in ("records", "documents", "streams"):
            self._wire.execute(f"DELETE FROM looseleaf.{table} WHERE memory = %s", (self.memory,))
        self._wire.execute("SELECT looseleaf.clear_views(%s)", (self.memory,))

    def put(self, path: str, data: bytes) -> None:
        """Put in a file of the folder."""
        if self.is_there:
            return
        found = stream_of_file(path)
        if found is None:
            self._wire.execute(
                "INSERT INTO looseleaf.documents (memory, path, folder, twin, sha256, version, data) "
                "SELECT %s, %s, %s, (SELECT %s WHERE NOT EXISTS (SELECT FROM looseleaf.documents "
                "WHERE memory = %s AND twin = %s)), %s, nextval('looseleaf.versions'), %s",
                (
                    *(self.memory, path, path.rpartition("/")[0], fold_name(path)),
                    *(self.memory, fold_name(path), sha256(data).digest(), data),
                ),
            )
            return
        stream, number = found
        if number is None:
            self._active[stream] = data  # its number follows from those of the sealed ones
        else:
            self._segments[stream] = max(number, self._segments.get(stream, 0))
            self._put_lines(stream, number, data)

    def _put_lines(self, stream: str, segment: int, data: bytes) -> None:
        number = self._numbers.get(stream)
        if number is None:
            number = self._numbers[stream] = len(self._numbers) + 1
            self._wire.execute(
                "INSERT INTO looseleaf.streams (memory, name, stream, next) VALUES (%s, %s, %s, %s)",
                (self.memory, stream, number, FIRST),
            )
        size = insert_lines(self._wire, self.memory, number, begin_of(segment), split_lines(data))
        self._wire.execute(
            "UPDATE looseleaf.streams SET next = greatest(next, %s), last = greatest(last, coalesce((SELECT max(pos) "
            "FROM looseleaf.records WHERE memory = %s AND stream = %s), 0)) WHERE memory = %s AND stream = %s",
            (begin_of(segment) + size, self.memory, number, self.memory, number),
        )

    def prove(self, sums: dict[str, bytes]) -> None:
        """Put the open ends in, read all back, and compare it with the hashes of what came; refuse any difference."""
        if not self.is_there:
            for stream, data in self._active.items():
                self._put_lines(stream, self._segments.get(stream, 0) + 1, data)
            for stream, last in self._segments.items():
                if stream not in self._active:  # sealed, and nothing since
                    self._wire.execute(
                        "UPDATE looseleaf.streams SET next = %s WHERE memory = %s AND name = %s",
                        (begin_of(last + 1), self.memory, stream),
                    )
        found = {path: sha256(data).digest() for path, data in read_files(self._wire, self.memory)}
        if self.is_there:
            found = {path: digest for path, digest in found.items() if not path.startswith("views/")}
        expected = {
            path: digest for path, digest in sums.items() if digest != _EMPTY or stream_of_file(path) is None
        }
        if found != expected:
            if self.is_there:
                raise Refused(
                    f"Nothing was moved: there is another memory at {self._address.shown}. Choose another namespace."
                )
            odd = sorted(path for path in found.keys() | sums.keys() if found.get(path) != sums.get(path))
            raise Refused(
                f"Nothing was moved: {odd[0]} is not the same in {self._address.shown}. The folder stays as it is. Run "
                "`looseleaf check` there, then repeat it."
            )
        if self.is_there:
            return
        # It is there, and closed: until the source is closed too, everybody goes on there.
        self._wire.execute("UPDATE looseleaf.streams SET closed = true WHERE memory = %s", (self.memory,))
        self._wire.execute(
            "UPDATE looseleaf.memories SET state = 'left', note = %s, edition = edition + 1 WHERE memory = %s",
            (self._source, self.memory),  # who knew it before it left has read other lines
        )

    def open(self) -> None:
        """Open it to all, once the source is closed. It brings its talk."""
        with self._database.transaction(self.memory) as wire:
            wire.execute("UPDATE looseleaf.streams SET closed = false WHERE memory = %s", (self.memory,))
            wire.execute(
                "UPDATE looseleaf.memories SET state = 'here', note = NULL WHERE memory = %s", (self.memory,)
            )
            wire.execute(
                "SELECT looseleaf_jobs.note_talk(memory, name) FROM looseleaf.streams "
                "WHERE memory = %s AND left(name, 7) = 'traces/' AND next > %s AND NOT is_due",
                (self.memory, FIRST),
            )


_EMPTY = sha256(b"").digest()
"""An empty log has no lines, and makes no file."""
