"""What the owner of a database may have set for a role, or a person in an address, changes no byte and no sentence."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from looseleaf.base.errors import Refused
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.database import close_all
from looseleaf.store.postgres.embedded import APPLICATION
from looseleaf.store.postgres.store import PostgresStore
from postgres import Running
from store_contract import record_of

STREAM = "traces/main"
SETTINGS = {
    "standard_conforming_strings": "off",
    "bytea_output": "escape",
    "DateStyle": "German",
    "client_encoding": "SQL_ASCII",
    "default_transaction_isolation": "serializable",
    "row_security": "off",
    "search_path": "pg_catalog",
    "extra_float_digits": "-5",
    "TimeZone": "Asia/Kathmandu",
    "backslash_quote": "on",
    "array_nulls": "off",
}


@pytest.fixture
def address(postgres: Running) -> Iterator[str]:
    name = postgres.database()
    for setting, value in SETTINGS.items():
        postgres.execute(f"ALTER ROLE {APPLICATION} IN DATABASE {name} SET {setting} = '{value}'")
    yield postgres.address(name, namespace="acme/agent-7")
    close_all()
    postgres.execute(f"ALTER ROLE {APPLICATION} IN DATABASE {name} RESET ALL")


def test_what_is_written_is_read_back(address: str) -> None:
    odd = ["back\\slash \\x41", "quote ' \"", "Zoë 🦔", "{1,2}", "line\nend", "x" * 300_000]
    with PostgresStore.open(parse_address(address), make=True) as store:
        store.append(STREAM, [record_of(each) for each in odd])
        store.append(STREAM, [record_of("one")])
        store.publish("log/entries/tea/01", {"raw.md": b"\\x00\\' raw", "meta.json": b'{"a":"\\\\"}'})
        store.put("facts/tea.md", b"\\x41 tea", base=None)
        assert [line.record["content"] for line in store.read(STREAM)] == [*odd, "one"]
        document = store.get("log/entries/tea/01/raw.md")
        assert document is not None
        assert document.data == b"\\x00\\' raw"
        assert [each for each in map(str, store.check()) if "damaged" in each or "not those" in each] == []


def test_threads_that_write_at_once_are_not_refused(address: str) -> None:
    refused: list[str] = []
    with PostgresStore.open(parse_address(address), make=True) as store:

        def write() -> None:
            try:
                for _ in range(30):
                    store.append(STREAM, [record_of("x")])
            except Refused as error:
                refused.append(str(error))

        threads = [threading.Thread(target=write) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert refused == []
        assert sum(1 for _ in store.read(STREAM)) == 180


def test_settings_in_an_address_are_kept_beside_ours(postgres: Running) -> None:
    name = postgres.database()
    where = (
        postgres.address(name, namespace="a") + "&options=-c%20application_name%3Dmine%20-c%20work_mem%3D5MB"
    )
    with PostgresStore.open(parse_address(where), make=True) as store:
        query = "SELECT current_setting('work_mem'), current_setting('standard_conforming_strings')"
        assert store.run(query) == [("5MB", "on")]
    close_all()


def test_a_query_that_takes_too_long_there_is_not_told_as_a_lock(postgres: Running) -> None:
    where = postgres.address(postgres.database(), namespace="a") + "&options=-c%20statement_timeout%3D50ms"
    with PostgresStore.open(parse_address(where), make=True) as store:
        with pytest.raises(Refused, match="took too long there") as refused:
            store.run("SELECT pg_sleep(1)")
        assert "another process" not in str(refused.value)
    close_all()
