"""How often a verb asks the database: each time is a way to a server and back."""

from __future__ import annotations

import select
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from looseleaf import Memory
from looseleaf.store.postgres.database import close_all

if TYPE_CHECKING:
    from postgres import Running


class Trips:
    """Stands between the program and the server, and counts how often the program speaks after it was answered."""

    def __init__(self, folder: Path, address: str) -> None:
        before, _, rest = address.partition("host=")
        upstream, amp, rest = rest.partition("&")
        name = ".s.PGSQL.5432"
        self.address = f"{before}host={folder}{amp}{rest}"
        self.count = 0
        self._server = str(Path(upstream) / name)
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(folder / name))
        self._door.listen()
        threading.Thread(target=self._admit, daemon=True).start()

    def close(self) -> None:
        self._door.close()

    def of(self, act: Callable[[], object]) -> int:
        before = self.count
        act()
        return self.count - before

    def _admit(self) -> None:
        while True:
            try:
                client, _ = self._door.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
            threading.Thread(target=self._carry, args=(client, server), daemon=True).start()

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        is_asking = False
        with client, server:
            while True:
                for sender in select.select([client, server], [], [])[0]:
                    data = sender.recv(1 << 16)
                    if not data:
                        return
                    if sender is client:
                        self.count += not is_asking and data != b"X\0\0\0\4"
                        is_asking = True
                        server.sendall(data)
                    else:
                        is_asking = False
                        client.sendall(data)


@pytest.fixture
def trips(postgres: Running) -> Iterator[Trips]:
    with tempfile.TemporaryDirectory() as folder:
        trips = Trips(Path(folder), postgres.memory())
        yield trips
        close_all()
        trips.close()


@pytest.fixture
def memory(trips: Trips) -> Iterator[Memory]:
    """A memory that this process knows: each verb was used once, and again after something new was said."""
    with Memory(trips.address) as memory:
        for text in ("I live in Lyon.", "My sister lives in Bonn.", "I work as a nurse."):
            memory.record(user=text)
            memory.record(assistant="Noted.")
            memory.distill()
            memory.prompt("Where do I live?")
            memory.recall("Where do I live?")
            memory.facts()
        yield memory


def test_a_message_is_recorded_in_one_trip(memory: Memory, trips: Trips) -> None:
    for text in ("My brother lives in Ulm.", "He likes trains."):
        assert trips.of(lambda text=text: memory.record(user=text)) == 1  # type: ignore[misc]


def test_a_prompt_takes_at_most_four_trips(memory: Memory, trips: Trips) -> None:
    assert trips.of(lambda: memory.prompt("Where do I live?")) <= 4
    memory.record(user="My brother lives in Ulm.")
    assert trips.of(lambda: memory.prompt("And my brother?")) <= 4


def test_a_question_takes_at_most_six_trips(memory: Memory, trips: Trips) -> None:
    assert trips.of(lambda: memory.recall("Where do I live?")) <= 6
    assert trips.of(lambda: memory.recall("What is my work?", k=3)) <= 6


def test_a_question_about_something_new_takes_at_most_twelve(memory: Memory, trips: Trips) -> None:
    memory.record(user="My brother lives in Ulm.")
    assert trips.of(lambda: memory.recall("Where does my brother live?")) <= 12


def test_all_facts_are_read_in_two_trips(memory: Memory, trips: Trips) -> None:
    assert trips.of(memory.facts) <= 2


def test_the_count_sees_each_way(memory: Memory, trips: Trips) -> None:
    store = memory.parts.store
    for _ in range(3):  # the driver takes a way more when it prepares a statement
        store.edition()
    assert trips.of(store.edition) == 1
    with store.look():
        assert trips.of(lambda: [store.edition(), store.end("journal"), store.edition()]) == 1
    with store.lock():
        assert trips.of(lambda: [store.edition(), store.end("journal")]) == 0

    def lock_and_write() -> None:
        with store.lock():
            store.append("calls", [{"id": "c1"}])

    assert trips.of(lock_and_write) == 3
