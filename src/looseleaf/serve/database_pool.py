"""The memories of a database behind a server: each named by its namespace, and opened when it is asked for.

An open one has no file and no connection of its own, so more of them stay open. Their names are known without asking:
the database tells of new and removed memories, and is asked for all names now and then.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import is_address
from looseleaf.memory import Memory
from looseleaf.memory.layers import nothing
from looseleaf.pages.folder import init, is_memory
from looseleaf.serve.access import Access
from looseleaf.serve.pool import IDLE_SECONDS, KEPT_SECONDS, NAME, Pool, Taken
from looseleaf.serve.shared import MADE, REMOVED, Listening, SharedAudit, SharedState
from looseleaf.serve.state import FORGOTTEN
from looseleaf.store.postgres.address import check_namespace, parse_address
from looseleaf.store.postgres.check_database import refuse_unfit

if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.store.postgres.address import Address

MOST = 500
"""Open memories of a process."""
NAMES_SECONDS = 10.0
"""How often all names are asked for: memories may be made by other programs."""
_NAMES_AT_ONCE = 5_000
_LONGEST = 200
_REMOVED = ".removed"


class DatabasePool(Pool):
    """The memories of the database at `address`."""

    def __init__(
        self,
        address: Address,
        listening: Listening,
        state: SharedState,
        *,
        most: int = MOST,
        idle: float = IDLE_SECONDS,
    ) -> None:
        super().__init__(name="", most=most, idle=idle)
        self.root = address.shown
        self._address = address
        self._state = state
        self._database = listening.database
        self._numbers: dict[str, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._editions: dict[int, list[int]] = {}
        self._asked = 0.0
        self.on_left: list[Callable[[str], None]] = []
        """Told, in the server's own thread, the name of a memory that is gone."""
        listening.on_told.append(self._hear)
        listening.on_beat.append(self._beat)

    # --- names -----------------------------------------------------------------------------

    def names(self) -> list[str]:
        return sorted(self._numbers)

    def path(self, name: str) -> str:
        if name not in self._numbers:
            self._look_for(name)
        return self._address.of(name).where

    async def look_again(self) -> None:
        await asyncio.to_thread(self._read_names)

    async def find(self, name: str) -> None:
        if name not in self._numbers:
            await asyncio.to_thread(self._look_for, name)

    def _look_for(self, name: str) -> None:
        try:
            own = check_namespace(name) == name
        except Invalid:
            own = False
        query = "SELECT memory, state FROM looseleaf.find_memory(%s, false)"
        rows = self._database.run(None, query, (name,)) if own else []
        if not rows or rows[0][1] != "here":
            raise NotFound("There is no memory of this name.")
        self._numbers[name] = int(rows[0][0])

    def edition(self, name: str) -> list[int]:
        """Return how often something was forgotten in a memory; asked for again when the database says that it was."""
        if name not in self._numbers:
            self._look_for(name)
        number = self._numbers[name]
        found = self._editions.get(number)
        if found is None:
            query = "SELECT edition FROM looseleaf.memories WHERE memory = %s"
            rows = self._database.run(number, query, (number,))
            found = self._editions[number] = [int(rows[0][0])] if rows else [-1]
        return found

    def _open_memory(self, path: str) -> Memory:
        if not is_memory(path):
            raise NotFound("There is no memory of this name.")
        memory = Memory(path)
        memory.parts.walls = nothing  # until a request says what its token may do
        return memory

    def name_of(self, where: str) -> str | None:
        if not is_address(where):
            return None
        other = parse_address(where)
        return (
            other.namespace if other.url == self._address.url and other.namespace in self._numbers else None
        )

    def names_of(self, memory: int) -> list[str]:
        """Return the names of a memory, by its number: one, or none if it is not known."""
        return [name for name, number in self._numbers.items() if number == memory]

    def _read_names(self) -> None:
        found: dict[str, int] = {}
        after = ""
        while True:
            query = "SELECT memory, namespace FROM looseleaf.list_memories(%s, %s)"
            rows = self._database.run(None, query, (after, _NAMES_AT_ONCE))
            found |= {str(name): int(number) for number, name in rows}
            if len(rows) < _NAMES_AT_ONCE:
                break
            after = str(rows[-1][1])
        before, self._numbers = self._numbers, found
        self._asked = time.monotonic()
        for name, number in before.items():
            if found.get(name) != number:
                self._leave(name)

    def _beat(self, is_new: bool) -> None:
        if is_new:
            self._editions.clear()
        if is_new or time.monotonic() - self._asked > NAMES_SECONDS:
            self._read_names()

    def _hear(self, memory: int, path: str) -> None:
        if path == FORGOTTEN:
            self._editions.pop(memory, None)
        if path == MADE:
            self._read_names()
        elif path == REMOVED:
            for name in self.names_of(memory):
                del self._numbers[name]
                self._leave(name)

    def _leave(self, name: str) -> None:
        """Close a memory that another server put aside. In any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._close_removed, name)

    def _close_removed(self, name: str) -> None:
        if name in self._open:
            self._close(name)
        for told in self.on_left:
            told(name)

    # --- making and removing ---------------------------------------------------------------

    async def create(self, name: str) -> str:
        if len(name) > _LONGEST or not all(NAME.fullmatch(part) for part in name.split("/")):
            raise Invalid(
                "No memory was made: a name has parts of up to 64 of the characters a-z, 0-9, `.`, `_` and `-`, each "
                "beginning with a letter or a digit, joined by slashes; in all up to 200."
            )
        where = self._address.of(name).where
        if not await asyncio.to_thread(init, where):
            raise Taken(f"No memory was made: there already is one named {name}.")
        await asyncio.to_thread(self._tell_made, name)
        return where

    def _tell_made(self, name: str) -> None:
        self._look_for(name)
        self._database.run(None, "SELECT pg_notify('looseleaf', %s)", (f"{self._numbers[name]} {MADE}",))

    async def remove(self, name: str) -> str:
        await self.find(name)
        while name in self._open and self._open[name].asked:
            await self._wait_for_room(time.monotonic() + 10.0)
        number = self._numbers[name]
        aside = f"{_REMOVED}/{int(time.time())}/{number}"
        rows = await asyncio.to_thread(
            self._database.run, number, "SELECT looseleaf.put_aside(%s, %s)", (number, aside)
        )
        self._numbers.pop(name, None)
        if name in self._open:
            await asyncio.wait((self._close(name),))
        if not rows[0][0]:
            raise NotFound("There is no memory of this name.")
        return aside

    # --- care --------------------------------------------------------------------------------

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        super().start()

    def _clear_aside(self) -> None:
        """Remove what was put aside long ago; one server at a time does this."""
        with self._state.claim("clearing") as is_mine:
            if not is_mine:
                return
            before = int(time.time() - KEPT_SECONDS)
            rows = self._database.run(None, "SELECT memory FROM looseleaf.aside_before(%s, 1000)", (before,))
            for (number,) in rows:
                for table in self._tables():
                    query = f"DELETE FROM looseleaf.{table} WHERE memory = %s"
                    self._database.run(number, query, (number,))
                self._database.run(number, "SELECT looseleaf.end_memory(%s)", (number,))

    def _tables(self) -> list[str]:
        """Return the tables with rows of memories, which need no quoting."""
        query = (
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a "
            "ON a.attrelid = c.oid AND a.attname = 'memory' WHERE n.nspname = 'looseleaf' AND c.relkind IN ('r', 'p') "
            "AND NOT c.relispartition AND c.relname <> 'memories' ORDER BY c.relname"
        )
        return [str(name) for (name,) in self._database.run(None, query)]


@frozen
class Joined:
    """What a server of a database is made of."""

    listening: Listening
    state: SharedState
    pool: DatabasePool
    access: Access
    audit: SharedAudit


def join(address: Address) -> Joined:
    """Begin to listen to a database, and read who may come in and which memories there are. Refuse a database that is
    not as this program needs it."""
    listening = Listening(address)
    refuse_unfit(listening.database)
    state = SharedState(address, listening)
    pool = DatabasePool(address, listening, state)
    joined = Joined(listening, state, pool, Access(state), SharedAudit(state, listening))
    listening.start()
    return joined
