"""Addresses of providers: which are safe to send to, and which are this machine's. Nothing is looked up."""

from __future__ import annotations

import re

from looseleaf.base.errors import Refused

_PLAIN = re.compile(
    r"(https?)://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?((?:/[A-Za-z0-9._~/%+-]*)?)"
)
"""No name and password, no query, nothing that two readers could read differently."""


def origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None if it is no plain address."""
    found = _PLAIN.fullmatch(url)
    if found is None:
        return None
    scheme, host, port = found[1], found[2].lower().strip("[]").rstrip("."), found[3]
    return scheme, host, int(port) if port else 443 if scheme == "https" else 80


def full(where: str) -> str:
    """`:1234` and `box` mean what they mean to Ollama."""
    host, mark, port = where.partition(":")
    return where if "://" in where else f"http://{host or '127.0.0.1'}:{port if mark else 11434}"


def shown(url: str) -> str:
    """As it may be shown: without a name and a password in it, and without a query."""
    scheme, found, rest = url.partition("://")
    host, slash, path = rest.partition("?")[0].partition("/")
    return f"{scheme}{found}{host.rpartition('@')[2]}{slash}{path}" if found else url


def is_loopback(url: str) -> bool:
    """Whether it is on this machine, by what it says: a name is not looked up."""
    where = origin(url)
    return where is not None and (where[1] == "localhost" or _is(where[1], "is_loopback"))


def is_here(url: str) -> bool:
    """Whether whoever connects to it stays on this machine. Also of an address that is not plain, and of the one that
    means all of a machine's own."""
    from urllib.parse import urlsplit

    try:
        host = (urlsplit(full(url)).hostname or "").rstrip(".")
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return _is(host, "is_loopback") or host in ("0.0.0.0", "::")


def safe(url: str, setting: str) -> str:
    """The address, if it may be sent to: by https, or by http where nobody else listens in."""
    where = origin(url)
    if where is None:
        raise Refused(
            f"No model was asked: {setting} is no plain address. Give one like https://example.org/v1, without a "
            "name, a password or a query in it."
        )
    scheme, host, _ = where
    if scheme == "http" and not (is_loopback(url) or _is(host, "is_private")):
        raise Refused(
            f"No model was asked: {setting} is {url}, and by http everybody on the way reads along. Give an https "
            "address; http is for this machine and for private networks."
        )
    return url


def _is(host: str, what: str) -> bool:
    from ipaddress import ip_address

    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool(getattr(mapped or address, what)) and not (mapped or address).is_unspecified
