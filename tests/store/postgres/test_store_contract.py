"""The store in PostgreSQL keeps the contract of stores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from looseleaf.base.policy import Policy
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.store import PostgresStore
from store_contract import NewMemory, OpenStore, StoreContract

if TYPE_CHECKING:
    from postgres import Running


class TestPostgresStore(StoreContract):
    policy = Policy()

    @pytest.fixture
    def new_memory(self, postgres: Running) -> NewMemory:
        def new_memory() -> OpenStore:
            address = parse_address(postgres.memory())
            return partial(PostgresStore.open, address, self.policy, make=True)

        return new_memory


class TestPostgresStoreOfTinySegments(TestPostgresStore):
    """Almost every append rotates, and most texts become bodies."""

    policy = Policy(segment_bytes=200, body_bytes=300)
