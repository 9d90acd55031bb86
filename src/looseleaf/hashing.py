"""The hash that names bytes everywhere: SHA-256, in lower-case hexadecimal."""

from __future__ import annotations


def sha256(data: bytes) -> str:
    import hashlib  # not at the top: loading it costs a command that hashes nothing

    return hashlib.sha256(data).hexdigest()


def sha256_or_none(data: bytes | None) -> str | None:
    """None for None: there is no document, so there is no hash of it."""
    return None if data is None else sha256(data)


def text_hash(text: str) -> int:
    """A number that names a text: 64 bits of its hash, signed as SQLite has whole numbers, and never 0."""
    digest = bytes.fromhex(sha256(text.encode("utf-8", "surrogatepass"))[:16])
    return int.from_bytes(digest, "big", signed=True) or 1


SHA256_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
