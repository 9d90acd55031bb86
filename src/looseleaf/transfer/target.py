"""Where an export goes: a new file or folder that appears under its name whole, or not at all.

Invariant: nothing that is there is written over, and nothing is written into the memory that is exported.

A draft says in its name which process writes it: where that was killed, the next export there removes what is left.
"""

from __future__ import annotations

import os
import re
import time

from looseleaf.base.errors import Refused
from looseleaf.base.ids import is_id, new_id, time_of
from looseleaf.pages.folder import above, is_memory
from looseleaf.store.disk import this_disk
from looseleaf.store.root import unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

STALE_SECONDS = 86_400.0
"""After which no export writes any more, whoever began it."""

_DRAFT = re.compile(r"\.looseleaf-([0-9A-Z]{26})(?:-(\d{1,10})@(.+))?\.part")


class New:
    """`with New(path, memory) as new:` write to `new.draft`, which becomes `path` at the end of the block; if the block
    fails, nothing is left of it. The draft lies beside the path, so that one rename is enough."""

    def __init__(self, path: str, memory: str) -> None:
        self.path = os.path.abspath(path)
        self._folder, self._name = os.path.split(self.path)
        if not path or not self._name:
            raise Refused("Nothing was exported: the path is empty. Name a new file or folder.")
        if not os.path.isdir(self._folder):
            raise Refused(
                f"Nothing was exported: there is no folder {self._folder}. Make it first, or name another place."
            )
        real, within = os.path.realpath(self._folder), os.path.realpath(memory)
        if within in (real, *above(real)):
            raise Refused(
                f"Nothing was exported: {self.path} lies inside the memory, and the next export would hold this one. "
                "Name a place outside of it."
            )
        if os.path.lexists(self.path):
            raise Refused(
                f"Nothing was exported: {self.path} is there already, and is not written over. "
                "Name another, or move it away first."
            )
        self._real = real
        self.removed = _sweep(self._folder)
        """Drafts of exports that were killed, and are gone now."""
        self.draft = os.path.join(self._folder, f".looseleaf-{new_id()}-{os.getpid()}@{_host()}.part")

    def refuse_nesting(self) -> None:
        """A folder that is exported is a memory, and memories do not nest."""
        around = next((folder for folder in (self._real, *above(self._real)) if is_memory(folder)), None)
        if around is not None:
            raise Refused(
                f"Nothing was exported: {self.path} would lie inside the memory {around}, and memories do not nest. "
                "Name a place outside of it."
            )

    def __enter__(self) -> New:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._appear()
        except FileExistsError:
            raise Refused(
                f"Nothing was exported: {self.path} was made by somebody else meanwhile. Name another."
            ) from None
        except OSError as failed:
            raise unwritten(self.path, failed) from failed
        finally:
            _remove(self.draft)
        if isinstance(error, OSError):
            raise unwritten(self.path, error) from error

    def _appear(self) -> None:
        disk = this_disk()
        folder = disk.open_root(self._folder)
        try:
            disk.rename_new(folder, os.path.basename(self.draft), folder, self._name)
            disk.sync(folder)
        finally:
            disk.close(folder)


def private(path: str) -> int:
    """A handle on a new file that only its owner may read."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)


def _remove(draft: str) -> None:
    if os.path.isdir(draft):
        from shutil import rmtree

        rmtree(draft, ignore_errors=True)
    elif os.path.lexists(draft):
        os.unlink(draft)


# --- what was left -----------------------------------------------------------------------


def _host() -> str:
    return re.sub(r"[^\w.-]", "_", this_disk().host())[:100]


def _sweep(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []  # one may write into a folder that one may not list
    stale = (os.path.join(folder, name) for name in names if _is_stale(name))
    return [path for path in stale if _is_own(path) and _is_removed(path)]


def _is_stale(name: str) -> bool:
    """Whether it is a draft that nobody writes: its process is dead, or it was begun too long ago."""
    draft = _DRAFT.fullmatch(name)
    if draft is None or not is_id(draft[1]):
        return False
    if time.time() - time_of(draft[1]) > STALE_SECONDS:
        return True
    return draft[3] == _host() and not this_disk().is_alive(int(draft[2]))


def _is_own(path: str) -> bool:
    """A file or folder of the user's own: no link, and nothing that somebody else put there under such a name."""
    user = getattr(os, "geteuid", None)
    try:
        return not os.path.islink(path) and (user is None or os.lstat(path).st_uid == user())
    except OSError:
        return False


def _is_removed(path: str) -> bool:
    try:
        _remove(path)
    except OSError:
        return False
    return not os.path.lexists(path)
