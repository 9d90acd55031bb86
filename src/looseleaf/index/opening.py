"""Views that are searched: files of a folder, or tables of the database that the log is in. Only this file decides."""

from __future__ import annotations

from contextlib import contextmanager
from weakref import WeakKeyDictionary

from looseleaf.index.sqlite import VIEW, DamagedIndex, SqliteIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.index.postgres import PostgresIndex
    from looseleaf.index.protocol import Index, Vectors
    from looseleaf.store.protocol import Store

VECTORS = "views/vectors"
"""Where a memory has its vectors, in a folder for each model."""

_KNOWN: WeakKeyDictionary[Store, PostgresIndex] = WeakKeyDictionary()
"""The index of each open memory in a database: it remembers how words are spelt."""


@contextmanager
def reading_index(store: Store) -> Iterator[Index | None]:
    """Open the index for reading; None if there is none that can be read. If it proves damaged later, DamagedIndex
    or OSError says so."""
    if store.tables is not None:
        yield index_in_database(store)
        return
    index = SqliteIndex(store.locate(VIEW))
    try:
        is_there = index.open(make=False)
    except (DamagedIndex, OSError):
        is_there = False
    try:
        yield index if is_there else None
    finally:
        index.close()


def index_in_database(store: Store) -> PostgresIndex:
    assert store.tables is not None
    found = _KNOWN.get(store)
    if found is None:
        from looseleaf.index.postgres import PostgresIndex

        found = _KNOWN[store] = PostgresIndex(*store.tables)
    return found


def all_files(store: Store) -> Iterator[tuple[str, bytes]]:
    """Yield all files that the folder of a memory in a database would have: paths, each with its bytes."""
    from looseleaf.store.postgres.store import PostgresStore

    assert isinstance(store, PostgresStore)
    yield from store.everything()


_TEXTS = {
    "sources": ("source", "name, mark"),
    "sessions": ("session", "name"),
    "items": ("item", "name, speaker, topic, terms"),
    "speakers": ("source", "name"),
    "past": ("source", "trace, fact"),
    "words": ("word", "term"),
    "lines": ("line", "words"),
}
"""The tables of the index that have words: the number of a row, and its texts."""


def all_rows(store: Store) -> Iterator[tuple[str, bytes]]:
    """Yield all words that a database has of a memory: its files, and then what the tables of its index say."""
    assert store.tables is not None
    yield from all_files(store)
    database, memory = store.tables
    for table, (number, texts) in _TEXTS.items():
        query = (
            f"SELECT string_agg(concat_ws(E'\\n', {texts}), E'\\n') FROM looseleaf.{table} WHERE memory = %s "
            f"GROUP BY {number} / 1000"
        )
        for (text,) in database.run(memory, query, (memory,)):
            yield f"views/index/{table}", str(text).encode()


def open_vectors(store: Store, name: str) -> Vectors:
    """Return the vectors of a model."""
    if store.tables is None:
        from looseleaf.index.vectors import FileVectors

        return FileVectors(store.locate(VECTORS), name, inside=store.locate("views"))
    from looseleaf.index.postgres_vectors import PostgresVectors, are_compared_there

    database, memory = store.tables
    return PostgresVectors(database, memory, name, is_compared_there=are_compared_there(database))


def index_faults(store: Store) -> list[str]:
    """Check the whole index and return its faults; none if there is no index."""
    if store.tables is not None:
        return index_in_database(store).faults()
    index = SqliteIndex(store.locate(VIEW))
    try:
        return index.faults() if index.open(make=False) else []
    except (DamagedIndex, OSError) as error:
        return [str(error)]
    finally:
        index.close()
