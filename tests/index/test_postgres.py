"""The index in PostgreSQL keeps the contract."""
from __future__ import annotations

from typing import TYPE_CHECKING
import uuid
import pytest
from index_contract import IndexContract
from looseleaf.index import postgres
from looseleaf.index.postgres import PostgresIndex
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.database import database_at
if TYPE_CHECKING:
    from collections.abc import Iterator

D = "postgresql://looseleaf@127.0.0.1:55441/work"

class TestIndexInPostgres(IndexContract):
    @pytest.fixture
    def index(self) -> Iterator[PostgresIndex]:
        database = database_at(parse_address(D))
        number = database.run(None, "SELECT (looseleaf.find_memory(%s, true)).memory", (uuid.uuid4().hex,))[0][0]
        index = PostgresIndex(database, int(number))
        yield index
        assert index.faults() == []
