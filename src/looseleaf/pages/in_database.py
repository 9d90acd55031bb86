"""A memory in a database: open its store, tell whether it is one, read its settings, make one, remove what one left.

It is named by an address (`store/postgres/address.py`), and has no folder. The driver is loaded here, and only for an
address.
"""

from __future__ import annotations

from looseleaf.base import ids as clock
from looseleaf.base.errors import NotFound, Refused, to_get
from looseleaf.base.ids import new_id
from looseleaf.base.paths import SETTINGS
from looseleaf.base.policy import Policy
from looseleaf.base.values import START
from looseleaf.log.journal import SCHEMA
from looseleaf.pages.read_settings import read_settings
from looseleaf.store import JOURNAL
from looseleaf.store.postgres.address import default_namespace, parse_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Record
    from looseleaf.store.postgres.address import Address
    from looseleaf.store.postgres.store import PostgresStore
    from looseleaf.store.protocol import Store


def read_address(where: str) -> Address:
    """Return the address of one memory: that of the environment, or `main`, if none is named."""
    address = parse_address(where)
    return address if address.namespace else address.of(default_namespace())


def open_store(
    where: str, policy: Policy | None = None, *, make: bool = False, reads_only: bool = False
) -> PostgresStore:
    """Open the store of a memory. If there is none of that name, make it, or raise NotFound."""
    try:
        from looseleaf.store.postgres.store import PostgresStore
    except ModuleNotFoundError as error:  # no NotFound: there may be a memory
        raise Refused(
            "Nothing was done: a memory in a database needs packages that are missing. Install them with "
            f"{to_get('postgres')}."
        ) from error
    return PostgresStore.open(read_address(where), policy or Policy(), make=make, reads_only=reads_only)


def open_memory(
    where: str, policy: Policy | None, agent: str, *, must_exist: bool, reads_only: bool
) -> tuple[PostgresStore, Policy]:
    """Open the store of a memory, and read its settings, unless a policy is given. A new one is begun."""
    store = open_store(where, policy, make=not must_exist, reads_only=reads_only)
    try:
        if not _has_journal(store):
            if must_exist:
                raise no_memory(where)
            begin(store)
        if policy is None:
            policy = store.policy = read_settings(store, _settings_of(where), agent)
    except BaseException:
        store.close()
        raise
    return store, policy


def no_memory(where: str) -> NotFound:
    return NotFound(f"There is no memory at {read_address(where).shown}.")


def is_memory(where: str) -> bool:
    """True if a memory of that name was begun."""
    try:
        with open_store(where, reads_only=True) as store:
            return _has_journal(store)
    except NotFound:
        return False


def _has_journal(store: Store) -> bool:
    return store.end(JOURNAL).offset > 0 or next(store.read(JOURNAL), None) is not None


def settings(where: str, agent: str | None = None) -> Policy:
    with open_store(where, reads_only=True) as store:
        return read_settings(store, _settings_of(where), agent)


def _settings_of(where: str) -> str:
    return f"{SETTINGS} of {read_address(where).shown}"


def init(where: str) -> bool:
    """Make a memory; False if there is one."""
    with open_store(where, make=True) as store:
        return begin(store)


def begin(store: PostgresStore) -> bool:
    """Begin a journal; False if there is one. What comes is explained by it from the first."""
    if _has_journal(store):
        return False
    record: Record = {"schema": SCHEMA, "id": new_id(), "ts": clock.now(), "kind": "init"}
    record["machine"] = store.machine
    return (
        store.append_after(JOURNAL, START, [record], store.edition()) is not None
    )  # else another process began it


def clear(where: str) -> str:
    """Remove what a memory left behind when it moved away; return where it is. Its name stays, and tells that to all
    that look for it."""
    from looseleaf.store.postgres.check_database import refuse_unfit
    from looseleaf.store.postgres.database import database_at

    address = read_address(where)
    database = database_at(address)
    refuse_unfit(database)
    query = "SELECT memory FROM looseleaf.find_memory(%s, false)"
    rows = database.run(None, query, (address.namespace,))
    if not rows:
        raise NotFound(f"Nothing was removed: there is no memory at {address.shown}.")
    number = int(rows[0][0])
    with database.transaction(number) as wire:
        wire.execute("SELECT pg_advisory_xact_lock(%s)", (number,))  # it may be on its way back
        query = "SELECT state, note FROM looseleaf.memories WHERE memory = %s"
        found = wire.execute(query, (number,)).fetchone()
        if found is None or found[0] != "left":
            raise Refused(
                f"Nothing was removed: the memory at {address.shown} has not moved away. `looseleaf move` moves it; "
                "DELETE /v1/memories/NAME, at a server, removes it (docs/REST.md)."
            )
        for table in ("records", "documents", "streams"):
            wire.execute(f"DELETE FROM looseleaf.{table} WHERE memory = %s", (number,))
        wire.execute("SELECT looseleaf.clear_views(%s)", (number,))
    return str(found[1])
