"""Stands between the program and a server of tests, and cuts connections: a network, a pooler, a firewall."""

from __future__ import annotations

import select
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from looseleaf.store.postgres.database import close_all

How = Literal["before", "after", "late"]
"""`before`: what is asked never arrives. `after`: it is done, and the answer is lost. `late`: it arrives, and its asker
is gone while the server still works at it."""

_ANSWERED = tuple(b"Z\0\0\0\5" + state for state in (b"I", b"T", b"E"))


class Between:
    """A socket like the server's. `address` is a given one, by way of here; `fired` counts what was cut."""

    def __init__(self, address: str) -> None:
        upstream = address.partition("host=")[2].partition("&")[0]
        self._folder = Path(tempfile.mkdtemp(prefix="looseleaf-"))
        self._server = str(Path(upstream) / ".s.PGSQL.5432")
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(self._folder / ".s.PGSQL.5432"))
        self._door.listen()
        self._orders: list[How] = []
        self._choose: Callable[[], How | None] = lambda: self._orders.pop(0) if self._orders else None
        self._left: list[socket.socket] = []
        self.is_deaf = False
        """While it is, who comes is sent away."""
        self.direct = address
        self.address = self.by_here(address)
        self.fired = 0
        self.asked = 0
        """How often the program asked something."""
        threading.Thread(target=self._admit, daemon=True).start()

    def by_here(self, address: str) -> str:
        """Return the address of a memory of this server, by way of here."""
        before, _, rest = address.partition("host=")
        return f"{before}host={self._folder}{''.join(rest.partition('&')[1:])}"

    def cut(self, *how: How) -> None:
        """Cut the next questions like this, on whichever connection they come."""
        self._orders += how

    def cut_by(self, choose: Callable[[], How | None]) -> None:
        """Cut each question as it is chosen; None: let it pass."""
        self._choose = choose

    def close(self) -> None:
        close_all()
        self._door.shutdown(socket.SHUT_RDWR)  # wakes whoever waits at it
        self._door.close()
        for each in self._left:
            each.close()
        shutil.rmtree(self._folder)

    def __enter__(self) -> Between:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _admit(self) -> None:
        while True:
            try:
                client, _ = self._door.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                if self.is_deaf:
                    raise OSError
                server.connect(self._server)
            except OSError:
                client.close()
                continue
            threading.Thread(target=self._carry, args=(client, server), daemon=True).start()

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        is_known, how, is_left = False, None, False
        with client:
            while True:
                for sender in select.select([client, server], [], [])[0]:
                    try:
                        data = sender.recv(1 << 16)
                        if sender is client and data and is_known and how is None:
                            self.asked += 1
                            how = None if data == b"X\0\0\0\4" else self._choose()
                        if not data or how == "before":
                            is_left = False
                            raise OSError
                        (client if sender is server else server).sendall(
                            b"" if how and sender is server else data
                        )
                        if sender is server and data.endswith(_ANSWERED):
                            is_known = True
                            if how is not None:
                                raise OSError
                        is_left = how == "late" and data.endswith(b"S\0\0\0\4")
                        if is_left:
                            raise OSError
                    except OSError:
                        self.fired += how is not None
                        if is_left:
                            self._left.append(server)  # the server is not told that its asker is gone
                        else:
                            server.close()
                        return
