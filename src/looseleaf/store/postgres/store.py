"""A store in PostgreSQL. A write is one statement, one round trip and one commit.

Streams and documents are rows; what the folder would hold follows from them byte for byte (`folder_view.py`). Only the
program writes these rows, so a page is always as the journal has it, and what could only
happen to files (torn ends, a copied folder, a save by an editor) is not looked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from looseleaf.base.errors import Displaced, NotFound, Refused
from looseleaf.store import records as codec
from looseleaf.store.claim import ChoreClaim
from looseleaf.store.machines import DATABASE, OTHERS, is_name, log_of
from looseleaf.store.postgres.address import Address, default_namespace
from looseleaf.store.postgres.check_database import refuse_unfit
from looseleaf.store.postgres.database import database_at, moved_sentence
from looseleaf.store.postgres.document_rows import DocumentRows
from looseleaf.store.postgres.folder_view import check_files, read_all
from looseleaf.store.postgres.lock import AloneInDatabase

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Problem
    from looseleaf.store.postgres.switch import DatabaseSwitch


class PostgresStore(DocumentRows):
    """A `Store` in a database: one memory of it."""

    is_far = True
    edited_outside = False
    """Nothing changes a page but the program."""

    _machine: str | None = None

    @classmethod
    def open(
        cls, address: Address, policy: Policy | None = None, *, make: bool = False, reads_only: bool = False
    ) -> Self:
        """Open a memory; with `make`, make it if it is missing. Raise NotFound if there is none."""
        named = address if address.namespace else address.of(default_namespace())
        database = database_at(named)
        refuse_unfit(database)
        query = "SELECT memory, state, note FROM looseleaf.find_memory(%s, %s)"
        rows = database.run(None, query, (named.namespace, make))
        if not rows:
            raise NotFound(f"There is no memory at {named.shown}. `looseleaf init` makes one.")
        if rows[0][1] == "left":
            raise Displaced(moved_sentence(str(rows[0][2])))
        return cls(database, int(rows[0][0]), named, policy, reads_only=reads_only)

    # --- names -----------------------------------------------------------------------------

    @property
    def machine(self) -> str:
        """The name of the machine whose log this is: the database's own, or that of the folder it came from."""
        if self._machine is None:
            raw = codec.whole(self._document("log/machine") or b"")
            name = raw.get("id")
            self._machine = name if isinstance(name, str) and is_name(name) else DATABASE
        return self._machine

    def machines(self) -> list[str]:
        """Return the other machines that have a log here: they came with a folder."""
        found = {name.split("/")[1] for name in self._ends() if name.startswith("on/")}
        return sorted(name for name in found if is_name(name) and name != self.machine)

    def owner(self, place: str) -> str:
        """Return the other machine whose log a file belongs to; "": none."""
        name = place.removeprefix(f"{OTHERS}/").partition("/")[0]
        return name if place.startswith(f"{OTHERS}/") and name != self.machine else ""

    def place(self, path: str) -> str:
        """Return where a file would lie in the folder."""
        return path

    def is_in_place(self) -> bool:
        return True

    def locate(self, path: str) -> str:
        raise Refused(
            f"{path} is not a file: this memory is in a database, {self.path}. `looseleaf export` writes files."
        )

    # --- chores ----------------------------------------------------------------------------

    def alone(self, path: str) -> AloneInDatabase:
        """Try to be the only one that does a chore, which a path names."""
        self.look_again()  # another may just have done it
        return AloneInDatabase(self.database.claims, self.memory, path)

    def claim(self, path: str) -> ChoreClaim:
        """Do work once for all that need it at the same time: see `ChoreClaim`."""
        patience = 0.0 if self._lock.is_mine() else self.policy.lock_seconds
        return ChoreClaim(self.alone(path), f"{self.path}/{path}", patience)

    # --- what the folder would hold --------------------------------------------------------

    def everything(self) -> Iterator[tuple[str, bytes]]:
        """Yield the path and the bytes of each file that the folder would have, as of one moment."""
        return read_all(self)

    def leave(self, to: str) -> None:
        """Close it to all that write: it moved to `to`. Under the lock."""
        with self.transaction() as wire:
            wire.execute("UPDATE looseleaf.streams SET closed = true WHERE memory = %s", (self.memory,))
            wire.execute(
                "UPDATE looseleaf.memories SET state = 'left', note = %s WHERE memory = %s", (to, self.memory)
            )

    # --- forgetting ------------------------------------------------------------------------

    def switch(self, name: str) -> DatabaseSwitch:
        """Return an act that replaces many files. Only for forget (FORMAT §17.4)."""
        from looseleaf.store.postgres.switch import DatabaseSwitch

        return DatabaseSwitch(self, name)

    def mend_ends(self) -> None:
        """No stream has an unfinished end."""

    def adopt_ends(self) -> None:
        """Drop what was computed of the streams, and read, before."""
        self._drop_read()
        self.look_again()

    def drop_aside(self, is_told: Callable[[bytes], bool]) -> None:
        """Remove bytes that were set aside on other machines, if they say what is forgotten."""
        for machine in self.machines():
            for path, data in self._documents_below(f"{log_of(machine)}/aside"):
                if is_told(data):
                    self.remove_from(machine, path)

    def _documents_below(self, folder: str) -> Iterator[tuple[str, bytes]]:
        rows = self.run(
            "SELECT path, data FROM looseleaf.documents WHERE memory = %s AND (folder = %s OR (folder >= %s AND "
            "folder < %s)) ORDER BY path",
            (self.memory, folder, f"{folder}/", f"{folder}0"),
        )
        for path, data in rows:
            yield str(path), bytes(data)

    def remove_from(self, machine: str, path: str) -> None:
        """Remove a file of another machine's log that it removed itself."""
        if path.startswith(f"{log_of(machine)}/"):
            self._remove(path)

    def _remove(self, path: str) -> None:
        self.run("DELETE FROM looseleaf.documents WHERE memory = %s AND path = %s", (self.memory, path))

    def drop_views_of(self, machine: str) -> None:
        self.run(
            "DELETE FROM looseleaf.documents WHERE memory = %s AND folder >= %s AND folder < %s",
            (self.memory, f"views/on/{machine}", f"views/on/{machine}0"),
        )

    # --- check and repair ------------------------------------------------------------------

    def compare(self, streams: Sequence[str], on_loss: Callable[[str], None]) -> None:
        """A log in a database does not go back."""

    def recover(self) -> None:
        """No change is ever half made."""

    def check(self) -> Iterator[Problem]:
        return check_files(self)

    def repair(self) -> list[str]:
        """Nothing here can be half written. Damage is the database's, and is restored from its backup."""
        for stream in self.all_streams():
            self.seals(stream)
        return []

    def take_out(self, stream: str, numbers: Collection[int]) -> None:
        raise Refused(f"Nothing was changed: {self.path} is in a database, where no log has two beginnings.")

    def distrust(self) -> None:
        """A database is never a copy from anywhere."""

    def close(self) -> None:
        self._is_closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
