"""Our queue has the tables and functions of procrastinate, and the real one works with them."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import procrastinate
import pytest
from procrastinate.exceptions import AlreadyEnqueued

import looseleaf.store.postgres as place
from looseleaf import Memory
from looseleaf.store.postgres.address import parse_address
from looseleaf.work.queue import cancel, defer, jobs_of
from postgres import Running
from working import drain, open_store

SCHEMA = Path(place.__file__).parent / "schema" / "0003.jobs.sql"


def test_its_tables_are_as_its_own_schema_makes_them() -> None:
    """When this fails with a newer one: apply its migrations in a file of our schema, and raise the version."""
    own = resources.files("procrastinate").joinpath("sql/schema.sql").read_text("utf-8")
    assert own[own.index("-- Enums") :].strip() in SCHEMA.read_text("utf-8")


@pytest.fixture
def memory(postgres: Running) -> str:
    address = postgres.address(postgres.database(), namespace="acme/one")
    with Memory(address):
        return address


def test_it_defers_lists_and_retries_jobs_that_our_worker_does(memory: str) -> None:
    options = {"options": "-c search_path=looseleaf_jobs"}
    connector = procrastinate.SyncPsycopgConnector(conninfo=parse_address(memory).url, kwargs=options)
    with procrastinate.App(connector=connector).open() as app, open_store(memory) as store:
        number = str(store.memory)
        job = app.configure_task("build", queue="build", lock=number, queueing_lock=f"build/{number}/")
        made = job.defer(agent="")
        assert [(each.id, each.kind, each.state) for each in jobs_of(store)] == [(made, "build", "waiting")]
        assert defer(store, "build") == made
        with pytest.raises(AlreadyEnqueued):
            job.defer(agent="")
        (listed,) = app.job_manager.list_jobs()
        assert (listed.task_name, listed.lock, listed.status) == ("build", number, "todo")
        assert drain(memory).done == 1
        other = defer(store, "check")
        cancel(store, other)
        assert [(each.id, each.status) for each in app.job_manager.list_jobs()] == [(other, "cancelled")]
