"""The token of a server, in a file that only its owner can read. A client that can read the file may use the server.

It is never in the memory's folder: that folder is copied, synced and committed, and the token would go along.
Invariant: a token that other users may have read or written is not used.
"""

from __future__ import annotations

import os
import stat

from looseleaf.base.errors import Invalid, Refused

_BYTES = 32
"""Random bytes in a generated token."""
_SHORTEST = 20
"""Characters. A token must not be guessable."""
_LONGEST = 512
_VISIBLE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=")
"""Characters allowed after `Bearer` in a header (RFC 6750)."""

_NEXT = "Name another file with --token-file PATH; a missing one is created."


def default_path() -> str:
    """Return the default path: in the user's settings folder, outside of any memory."""
    home = os.environ.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(home):  # the XDG specification ignores a relative path
        home = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "looseleaf", "token")


def token(path: str, memory: str) -> str:
    """Return the token in a file, which is created if missing."""
    place = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
    if place.startswith(os.path.join(os.path.realpath(memory), "")):
        raise Invalid(
            f"No server was started: the token file {path} is in the memory's folder, which is copied, synced and "
            f"committed, and the token would go along. {_NEXT}"
        )
    try:
        if not os.path.lexists(place):
            _create_file(place)
        return _read_file(path, place)
    except OSError as error:
        why = error.strerror or error
        raise Refused(
            f"No server was started: the token file {path} cannot be read or created ({why}). {_NEXT}"
        ) from None


def _create_file(place: str) -> None:
    """Create the file in one step; if two servers start together, both read the same token."""
    import secrets

    folder = os.path.dirname(place)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    draft = os.path.join(folder, f".token-{os.getpid()}-{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_urlsafe(_BYTES).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, place)  # unlike a rename, never overwrites another file
        except FileExistsError:
            pass
    finally:
        os.unlink(draft)


def _read_file(path: str, place: str) -> str:
    def refused(why: str, then: str = _NEXT) -> Refused:
        return Refused(f"No server was started: the token file {path} {why}. {then}")

    if os.path.islink(place):
        raise refused("is a symbolic link, whose target may change")
    # Neither follows a link created meanwhile nor waits on a pipe without a writer.
    handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise refused("is not a regular file")
        if found.st_uid != os.geteuid():
            raise refused("belongs to another user")
        if found.st_mode & 0o077:
            raise refused(
                f"can be read by other users (mode {found.st_mode & 0o777:04o})",
                f"Delete it, and a new one is created; or, if no one has read it, `chmod 600 {path}`.",
            )
        text = file.read(_LONGEST + 2).decode("ascii", "replace").strip()
    if not text:
        raise refused("is empty", "Delete it, and a new one is created.")
    if not _SHORTEST <= len(text) <= _LONGEST or not _VISIBLE.issuperset(text):
        raise refused(
            f"does not hold a token: one word of {_SHORTEST} to {_LONGEST} letters, digits and -._~+/=",
            "Delete it, and a new one is created.",
        )
    return text
