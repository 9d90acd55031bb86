"""Where an export goes: a new file or folder that appears under its name whole, or not at all.

Invariant: nothing that is there is written over, and nothing is written into the memory that is exported.
"""

from __future__ import annotations

import os

from looseleaf.errors import Refused
from looseleaf.store.disk import this_disk
from looseleaf.store.root import unwritten
from looseleaf.store.ulid import new_id
from looseleaf.where import above, is_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


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
        self.draft = os.path.join(self._folder, f".looseleaf-{new_id()}.part")

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
