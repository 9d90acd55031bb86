"""One writer on a network share: locks may not hold between hosts there (FORMAT §7.3)."""

from __future__ import annotations

import os

from looseleaf.base.errors import Refused, Unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.store.root import Root

WRITER = "log/writer"


class ShareClaim:
    """Once taken, it keeps other processes from writing if the folder lies on a network share; otherwise it does
    nothing."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._disk = root.disk
        self._share: str | None = None
        self._looked = False

    def take(self) -> None:
        if not self._looked:
            self._share = self._disk.network_type(self._root.fd)
            self._looked = True
        if self._share is not None:
            self._take(self._share)

    def _take(self, share: str) -> None:
        me = self._own_claim()
        found = self._root.read(WRITER)
        if found == me:
            return
        if found is not None:
            host, _, pid = found.decode("utf-8", "replace").strip().rpartition(" ")
            if host != self._disk.host() or not pid.isdecimal() or self._disk.is_alive(int(pid)):
                raise _share_taken(share, f"process {pid or '?'} on {host or 'an unknown host'}")
            self._root.discard(WRITER)  # its writer died here
        try:
            fd = self._root.open_file(WRITER, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            raise _share_taken(share, "a process on another host") from None
        try:
            self._root.write_all(fd, me)
            self._disk.sync(fd)
        except BaseException:
            self._root.discard(WRITER)
            raise
        finally:
            self._disk.close(fd)

    def drop(self) -> None:
        if self._share is not None and not self._root.closed:
            try:
                if self._root.read(WRITER) == self._own_claim():
                    self._root.discard(WRITER)
            except Refused:
                pass  # unreadable: left for the next process

    def _own_claim(self) -> bytes:
        return f"{self._disk.host()} {os.getpid()}\n".encode()


def _share_taken(share: str, who: str) -> Unwritten:
    return Unwritten(
        f"The memory lies on a network share ({share}), and {who} is writing to it. Locks may not hold between hosts "
        f"there, so only one process may write. End that process (or delete {WRITER} in the memory if it is gone), or "
        "move the memory to a local disk."
    )
