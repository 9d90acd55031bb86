"""The hash that names bytes everywhere: SHA-256, in lower-case hexadecimal."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_SHORT = 1 << 16
"""Up to this many bytes, Python's own SHA-256 is quicker than loading OpenSSL's, which uses processor instructions."""


def sha256(data: bytes) -> str:
    if len(data) > _SHORT or "hashlib" in sys.modules:
        import hashlib  # not at the top: loading it costs a command that hashes little

        return hashlib.sha256(data).hexdigest()
    made: str = _hash_without_openssl(data).hexdigest()
    return made


def _hash_without_openssl(data: bytes) -> Any:
    """Hash with the module that `hashlib` uses without OpenSSL. It has another name since Python 3.12."""
    try:
        if sys.version_info >= (3, 12):  # pragma: no cover - a newer Python
            from _sha2 import sha256 as own
        else:
            from _sha256 import sha256 as own  # type: ignore[import-not-found]
    except ImportError:  # pragma: no cover - a Python without it
        from hashlib import sha256 as own
    return own(data)


def sha256_or_none(data: bytes | None) -> str | None:
    """Return the hash of a document, or None for no document."""
    return None if data is None else sha256(data)


def text_hash(text: str) -> int:
    """Return a number that names a text: 64 bits of its hash, signed as in SQLite, never 0."""
    digest = bytes.fromhex(sha256(text.encode("utf-8", "surrogatepass"))[:16])
    return int.from_bytes(digest, "big", signed=True) or 1


SHA256_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
