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


class TestPostgresStoreInALook(TestPostgresStore):
    """Inside a look a thread sees what it writes itself. What other handles and threads write, it need not see."""

    @pytest.fixture
    def new_memory(self, postgres: Running) -> NewMemory:
        def new_memory() -> OpenStore:
            address = parse_address(postgres.memory())

            def open_store() -> PostgresStore:
                store = PostgresStore.open(address, self.policy, make=True)
                store.look().__enter__()
                return store

            return open_store

        return new_memory

    test_two_handles_see_each_other_s_work = None  # type: ignore[assignment]
    test_another_handle_waits_for_the_lock_and_readers_do_not = None  # type: ignore[assignment]
    test_a_bet_is_written_only_behind_the_record_it_was_made_on = None  # type: ignore[assignment]
    test_threads_append_together_and_nothing_is_lost_or_reordered = None  # type: ignore[assignment]
