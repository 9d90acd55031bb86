"""The token of a server: a file that only its owner can read holds it, and whoever can read the file may ask.

It is never in the memory's folder: that folder is copied, synced and committed, and the token would go along.
Invariant: a token that others may have read, or that somebody else wrote, is not used.
"""

from __future__ import annotations

import os
import stat

from looseleaf.base.errors import Refused

_BYTES = 32
"""Of chance, in a token of ours."""
_SHORTEST = 20
"""Characters. A person's own token must not be one that can be tried."""
_LONGEST = 512
_VISIBLE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=")
"""What may stand behind `Bearer` in a header (RFC 6750)."""

_NEXT = "Name another file with --token-file PATH; if there is none, it is made."


def default_path() -> str:
    """Where settings of a person's programs are, outside of any memory."""
    home = os.environ.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(home):  # a relative one is to be ignored, says the specification of these folders
        home = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "looseleaf", "token")


def token(path: str, memory: str) -> str:
    """The token in a file, which is made if it is missing."""
    place = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
    inside = os.path.normcase(os.path.join(os.path.realpath(memory), ""))
    if os.path.normcase(place).startswith(inside):
        raise Refused(
            f"No server was started: the token file {path} is in the memory's folder, which is copied, synced and "
            f"committed, and the token would go along. {_NEXT}"
        )
    try:
        if not os.path.lexists(place):
            _make(place)
        return _read(path, place)
    except OSError as error:
        why = error.strerror or error
        raise Refused(
            f"No server was started: the token file {path} cannot be read or made ({why}). {_NEXT}"
        ) from None


def _make(place: str) -> None:
    """All of it appears at once, or nothing does; if two servers start together, both read the same."""
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
            os.link(draft, place)  # unlike a rename, never over somebody else's
        except FileExistsError:
            pass
    finally:
        os.unlink(draft)


def _read(path: str, place: str) -> str:
    def refused(why: str, then: str = _NEXT) -> Refused:
        return Refused(f"No server was started: the token file {path} {why}. {then}")

    if os.path.islink(place):
        raise refused("is a symbolic link, and where it leads may change")
    # Neither a link that came in between nor a pipe that nobody writes to is waited for.
    handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise refused("is no regular file")
        if os.name == "posix":
            if found.st_uid != os.geteuid():
                raise refused("belongs to somebody else")
            if found.st_mode & 0o077:
                raise refused(
                    f"may be read by others (mode {found.st_mode & 0o777:04o})",
                    f"Who has seen it can use it: delete it, and it is made again; or `chmod 600 {path}`.",
                )
        text = file.read(_LONGEST + 2).decode("ascii", "replace").strip()
    if not text:
        raise refused("is empty", "Delete it, and it is made again.")
    if not _SHORTEST <= len(text) <= _LONGEST or not _VISIBLE.issuperset(text):
        raise refused(
            f"holds no token: that is one word of {_SHORTEST} to {_LONGEST} letters, digits and -._~+/=",
            "Delete it, and it is made again.",
        )
    return text
