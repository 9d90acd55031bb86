"""A server for all tests that kill it, stop it or fill its disk."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from postgres import Running, own_server


@pytest.fixture(scope="session")
def durable() -> Iterator[Running]:
    """It waits for the disk as one does that people use. Who does not wait loses much when it is killed."""
    with own_server(
        fsync="on",
        synchronous_commit="on",
        max_connections="60",
        wal_writer_delay="10s",
        wal_level="minimal",
        max_wal_senders="0",
    ) as running:
        yield running


@pytest.fixture
def killed(durable: Running) -> Iterator[Running]:
    """The same, which runs again afterwards."""
    yield durable
    durable.server.start()
