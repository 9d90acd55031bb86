"""Jobs that a server leaves to the workers of its database, where there are any.

A worker carries such a job out like all others of its queue (`looseleaf.work`); a server only looks how it stands. So
it goes on when the server is gone, and another server looks on. Where no worker is left, the server starts one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from looseleaf.base.errors import NotFound, Refused
from looseleaf.store.postgres.address import parse_address
from looseleaf.store.postgres.database import database_at
from looseleaf.store.postgres.store import PostgresStore
from looseleaf.work.queue import FIELDS, cancel, count_workers, defer, job, receive, return_lost
from looseleaf.work.tasks import lasting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from looseleaf.store.postgres.address import Address

KINDS = ("check", "import", "index")

LARGEST = 64 << 20
"""Bytes of an import that a worker is given; a larger one is read where it was received."""

_STATES = {"done": "done", "failed": "refused", "cancelled": "cancelled"}


class Workers:
    """The workers of a database, as a server asks them."""

    def __init__(self, address: Address) -> None:
        self._database = database_at(address)
        self._where = address.database.where
        self._own: subprocess.Popen[bytes] | None = None

    def may_have(self, kind: str, spec: Mapping[str, Any]) -> bool:
        """True if there are workers, and this is for them; a dry run is quicker here."""
        if kind not in KINDS or spec.get("dry_run"):
            return False
        file = spec.get("file")
        if file is not None and os.path.getsize(file) > LARGEST:
            return False
        return self.are_there()

    def are_there(self) -> bool:
        try:
            return count_workers(self._database) > 0
        except Refused:
            return False

    def ask(self, path: str, kind: str, spec: Mapping[str, Any]) -> int:
        """Have a job of a memory done, and return its number in the queue."""
        more = {name: spec[name] for name in FIELDS[kind] if name in spec}
        with PostgresStore.open(parse_address(path)) as store:
            if kind == "import":
                with open(spec["file"], "rb") as file:
                    more["source"] = receive(store, os.path.basename(spec["file"]), file.read())
            return defer(store, kind, spec.get("agent") or "", **more)

    def look(self, path: str, kind: str, number: int) -> tuple[str, dict[str, Any]]:
        """Return the state of a job in the queue (`later`: it is tried again), and what is said of it once it has
        ended."""
        with PostgresStore.open(parse_address(path)) as store:
            edition = list(store.edition() or ())
            try:
                found = job(store, number)
            except NotFound:  # what succeeds leaves the queue, and what came of it goes with a forgetting
                return "done", {"state": "done", "is_outdated": True, "lasting": {}}
        if found.is_live:
            is_later = found.next is not None and found.next > time.time()
            return "later" if is_later else found.state, {}
        said: dict[str, Any] = {"state": _STATES[found.state], "ended": found.ended, "error": found.error}
        if found.result is not None:
            said |= {"result": found.result, "lasting": lasting(kind, found.result), "edition": ["", edition]}
        return found.state, said

    def help(self) -> None:
        """Start a worker, which ends when nothing is left that it could do now. What a killed one had waits again."""
        return_lost(self._database)
        if self._own is not None and self._own.poll() is None:
            return
        self._own = subprocess.Popen(
            [sys.executable, "-P", "-m", "looseleaf", "worker", "--once", "--kinds", ",".join(KINDS)],
            env={**os.environ, "LOOSELEAF_HOME": self._where},  # others could read a password in a command
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        threading.Thread(target=self._own.wait, name="looseleaf-worker", daemon=True).start()

    def take_back(self, path: str, number: int) -> bool:
        """Take a job out of the queue, if no worker has begun it."""
        try:
            with PostgresStore.open(parse_address(path)) as store:
                cancel(store, number)
        except Refused:
            return False
        return True
