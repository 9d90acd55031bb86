"""A worker distills a person's own memory, and sends to the team's only what that person's tokens may write there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory
from looseleaf.cli.verbs.worker import _walls
from looseleaf.memory.layers import nothing
from looseleaf.memory.memory import on_behalf
from looseleaf.serve.access import Access
from looseleaf.serve.shared import SharedState
from looseleaf.store.postgres.address import parse_address
from looseleaf.work.queue import defer
from working import drain, open_store

if TYPE_CHECKING:
    from postgres import Running

AGENT = "claude@mira"


@pytest.fixture
def database(postgres: Running) -> str:
    """A database with the memory of a team, and Mira's own over it, in which she has said something."""
    address = postgres.address(postgres.database())
    for name, settings in (("teams/heron", "shared = true\n"), ("people/mira", 'over = ["teams/heron"]\n')):
        with Memory(parse_address(address).of(name).where) as memory:
            memory.parts.store.put("looseleaf.toml", settings.encode(), base=None)
    where = parse_address(address).of("people/mira").where
    with Memory(where, agent=AGENT) as memory, on_behalf(memory, "Mira", nothing):
        memory.record(user="We deploy on Thursdays.")
        memory.record(assistant="All right.")
    with open_store(where) as store:
        defer(store, "distill", AGENT)
    return address


def known(database: str, name: str) -> list[tuple[str, str | None, str | None]]:
    with Memory(parse_address(database).of(name).where) as memory:
        memory.parts.walls = nothing
        return [(each.object, each.person, each.layer) for each in memory.facts()]


@pytest.mark.parametrize(("scopes", "goes"), [(("read",), False), (("read", "write"), True)])
def test_what_goes_to_the_team_is_what_a_token_may_write(
    database: str, scopes: tuple[str, ...], goes: bool
) -> None:
    address = parse_address(database)
    Access(SharedState(address)).make_token(
        "mira",
        ["people/mira", "teams/heron"],
        ["read", "write"],
        agent="claude",
        person="Mira",
        only={"teams/heron": scopes},
    )
    drain(database, walls=partial(_walls, address))
    fact = [("We deploy on Thursdays", "Mira", None)]
    assert known(database, "teams/heron") == (fact if goes else [])
    assert known(database, "people/mira") == ([] if goes else fact)


def test_a_worker_without_tokens_sends_nothing(database: str) -> None:
    drain(database)
    assert known(database, "teams/heron") == []
    assert known(database, "people/mira") == [("We deploy on Thursdays", "Mira", None)]
