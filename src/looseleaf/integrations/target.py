"""Where the memory is that hooks record into: in a folder, or elsewhere, at a server or in a database."""

from __future__ import annotations

import os

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import is_address

SERVER, TOKEN = "LOOSELEAF_SERVER", "LOOSELEAF_TOKEN"
"""The address of a server, with or without `/m/NAME`; and a token that may read and write there."""


@frozen
class Target:
    """Where a memory is: at a server, or in a database (`where`). `name`: of the memory at that server."""

    server: str
    token: str
    name: str
    where: str = ""

    @property
    def key(self) -> str:
        """What tells it apart from others, without a password."""
        if self.server:
            return f"{self.server} {self.name}"
        from urllib.parse import urlsplit

        parts = urlsplit(self.where)
        return f"{parts.hostname}:{parts.port}{parts.path}?{parts.query}"


def target_of(named: str | None) -> Target | None:
    """Return where the memory is that hooks record into, if that is not a folder."""
    server = os.environ.get(SERVER, "").rstrip("/")
    where = named or os.environ.get("LOOSELEAF_HOME", "")
    if server:
        base, _, name = server.partition("/m/")
        if not base.startswith(("http://", "https://")):
            raise Invalid(
                f"Nothing was done: {SERVER} is not an address such as https://memory.example/m/NAME."
            )
        name = name.replace(":", "/") or (_namespace(where) if is_address(where) else "")
        if not name:
            raise NotFound(f"Nothing was done: no memory is named. Give its address: {SERVER}={base}/m/NAME.")
        return Target(base, os.environ.get(TOKEN, ""), name)
    return Target("", "", "", where) if is_address(where) else None


def _namespace(where: str) -> str:
    from urllib.parse import parse_qs, urlsplit

    return (parse_qs(urlsplit(where).query).get("namespace") or [""])[0]
