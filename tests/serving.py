"""A server over a folder, on a real port: in this process, or as one of its own."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from looseleaf.serve.access import Access
from looseleaf.serve.app import app
from looseleaf.serve.audit import Audit
from looseleaf.serve.http import allowed_hosts, listen
from looseleaf.serve.pool import Pool
from looseleaf.serve.runner import runner
from looseleaf.serve.serving import Serving

if TYPE_CHECKING:
    from collections.abc import Iterator

SOON = 30.0
"""Seconds in which a process begins, and ends."""


class Server:
    """A running server. `address` is what a browser is given. `database`: it serves the memories of that one."""

    def __init__(self, folder: Path, *, only: Path | None = None, database: str = "") -> None:
        self.root = folder / "memories"
        self.root.mkdir(exist_ok=True)
        self.database = database
        if database:
            from looseleaf.serve.database_pool import join
            from looseleaf.store.postgres.address import parse_address

            joined = join(parse_address(database))
            self.access = joined.access
            self.serving = Serving(joined.pool, joined.access, joined.audit, joined=joined)
        else:
            pool = Pool(str(self.root)) if only is None else Pool(path=str(only), name="notes")
            self.access = Access(str(folder / "access"))
            self.serving = Serving(pool, self.access, Audit(str(folder / "access")))
        self.sock = listen("127.0.0.1", 0)
        self.port = self.sock.getsockname()[1]
        self.host = f"127.0.0.1:{self.port}"
        self.address = f"http://{self.host}"
        self._runner = runner(app(self.serving, allowed_hosts(self.port)), self.serving)
        self._thread = threading.Thread(target=self._runner.run, kwargs={"sockets": [self.sock]})

    def start(self) -> None:
        self._thread.start()
        while not self._runner.started:
            self._thread.join(0.01)
            assert self._thread.is_alive(), "the server ended"

    def run(self) -> None:
        """Serve in this thread: for a child."""
        self._runner.run(sockets=[self.sock])

    def stop(self) -> None:
        self._runner.should_exit = True
        self._thread.join()
        self.sock.close()

    def where(self, name: str) -> str:
        """Return where a memory is: its folder, or its address."""
        if self.database:
            from looseleaf.store.postgres.address import parse_address

            return parse_address(self.database).of(name).where
        return str(self.root / name)

    def take(self, folder: Path, name: str) -> str:
        """Have a copy of a memory's folder among the memories; return where that is."""
        if not self.database:
            return str(shutil.copytree(folder, self.root / name))
        from looseleaf.transfer.move import move

        with tempfile.TemporaryDirectory() as place:
            move(str(shutil.copytree(folder, Path(place) / "memory")), self.where(name))
        return self.where(name)

    def token(self, *memories: str, scopes: tuple[str, ...] = ("read",), **more: str) -> str:
        """Return the secret of a new token."""
        return self.access.make_token("test", memories or ("*",), scopes, **more)[1]  # type: ignore[arg-type]

    def visit(self) -> str:
        """Return the secret of the visit of a person who has just signed in."""
        return self.access.spend(self.access.make_code()) or ""


@contextmanager
def serving(folder: Path, *, only: Path | None = None, database: str = "") -> Iterator[Server]:
    """Run a server while the block runs."""
    server = Server(folder, only=only, database=database)
    server.start()
    try:
        yield server
    finally:
        server.stop()


class Process:
    """A server that runs as a process. `link`: what it printed; `errors`: what it logged, once it has ended."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "looseleaf", "serve", "--port", "0", *options]
        self.process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdout is not None
        self._lines: list[str] = []
        self._ears = threading.Thread(target=self._listen)
        self._ears.start()
        self.link = self.process.stdout.readline().strip()
        self.port = int((re.search(r":(\d+)/", self.link) or [0, 0])[1])
        self.address = f"http://127.0.0.1:{self.port}"

    @property
    def errors(self) -> str:
        self._ears.join()
        return "".join(self._lines)

    def _listen(self) -> None:
        """Read on: a server whose log nobody reads would wait."""
        assert self.process.stderr is not None
        self._lines.extend(self.process.stderr)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; return the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        return self.process.wait(timeout=SOON)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._ears.join()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()


@contextmanager
def served(*options: str) -> Iterator[Process]:
    """Run `looseleaf serve` while the block runs."""
    process = Process(*options)
    try:
        assert process.link, process.errors
        until = time.monotonic() + SOON
        while True:
            try:
                socket.create_connection(("127.0.0.1", process.port)).close()
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.01)
        yield process
    finally:
        process.close()
