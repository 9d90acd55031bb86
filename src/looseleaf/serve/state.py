"""What a server keeps beside its memories: documents by name, each replaced whole.

For folders they are files that only their owner can read, outside of every memory: a memory's folder is copied, synced
and committed. For a database, `shared.py` keeps them there, for all servers of it.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from contextlib import contextmanager

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import Protocol

    from looseleaf.serve.handed import Workers
else:
    Protocol = object

FORGOTTEN = "log/tombstones.jsonl"
"""The path that a database tells of when something was forgotten in a memory."""
_LOCK = "access.lock"


@frozen
class Seen:
    """A document as it was seen. `data`: None where there is none. A changed one has another `mark`."""

    mark: object
    data: bytes | None


class Draft:
    """A document while it is changed."""

    def __init__(self, data: bytes | None) -> None:
        self.data = data


class State(Protocol):
    """The documents of a server. Any thread may ask."""

    folder: str
    """A folder of this machine, for what is received to be imported."""

    is_shared: bool
    """Whether other servers have the same documents: then a change may be here a moment later."""

    @property
    def workers(self) -> Workers | None:
        """The workers to which a server leaves jobs; None: it does them itself."""

    def see(self, name: str, before: Seen | None = None) -> Seen:
        """Return a document; `before` itself if it has not changed since. It never waits for another machine."""

    def changing(self, name: str) -> AbstractContextManager[Draft]:
        """Change a document as the only one of all servers: `see` is up to date inside the block. At its end, the draft
        is durable."""

    def put(self, name: str, data: bytes | None) -> None:
        """Replace a document that only this process changes; None: it goes."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the documents directly in a folder, in their order."""

    def look_again(self, name: str = "") -> None:
        """Ask for a document that another server may just have changed, else for all; wait for it."""

    def hold(self, name: str) -> AbstractContextManager[object]:
        """Say that this process lives, by a name, as long as it does and the block runs."""

    def is_held(self, name: str) -> bool:
        """True while a process says so."""

    def told(self) -> dict[str, str]:
        """Return what another process needs to open the same state."""

    def place(self, name: str) -> str:
        """Say where a document is, to a person."""


class FolderState:
    """Files in a folder; any process may change them, and a running server sees it at once."""

    is_shared = False
    workers = None

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def place(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def see(self, name: str, before: Seen | None = None) -> Seen:
        path = self.place(name)
        try:
            found = os.stat(path)
            mark = (found.st_mtime_ns, found.st_ino, found.st_size)
            if before is not None and before.mark == mark:
                return before
            with open(path, "rb") as file:
                if "/" not in name:  # who may come in; what became of jobs opens nothing
                    self._refuse_open_file(os.fstat(file.fileno()), path)
                return Seen(mark, file.read())
        except FileNotFoundError:
            return Seen(None, None)

    def _refuse_open_file(self, found: os.stat_result, path: str) -> None:
        if found.st_mode & 0o077 or found.st_uid != os.geteuid():
            raise Refused(
                f"Nobody was let in: {path} can be read by other users, or belongs to one. Only its owner may read it "
                "(`chmod 600`)."
            )

    @contextmanager
    def changing(self, name: str) -> Iterator[Draft]:
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        lock = os.open(self.place(_LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            draft = Draft(self.see(name).data)
            before = draft.data
            yield draft
            if draft.data is not before:
                self.put(name, draft.data)
        finally:
            os.close(lock)

    def put(self, name: str, data: bytes | None) -> None:
        path = self.place(name)
        if data is None:
            remove(path)
            return
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        replace(path, data)

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(f"{folder}/{name}" for name in os.listdir(self.place(folder)))
        except FileNotFoundError:
            return []

    def look_again(self, name: str = "") -> None:
        """What is seen is the file itself."""

    @contextmanager
    def hold(self, name: str) -> Iterator[int]:
        """Also yield the open file: a process that is given it holds it too."""
        path = f"{self.place(name)}.lock"
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield fd
        finally:
            os.close(fd)

    def is_held(self, name: str) -> bool:
        try:
            fd = os.open(f"{self.place(name)}.lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False

    def told(self) -> dict[str, str]:
        return {"folder": self.folder}


def replace(path: str, data: bytes) -> None:
    """Replace a file that only its owner can read, so that it is whole after any crash."""
    staged = f"{path}.{os.getpid()}.{secrets.token_hex(4)}"
    fd = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(staged, path)
    except BaseException:
        os.unlink(staged)
        raise
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
