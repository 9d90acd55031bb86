"""A source: one safe, read-only look at a file, a folder, a zip or a tar, which somebody else made.

Nothing is ever unpacked to disk. A name is judged before it is a name here: one that would lead out of the source, a
link, a device, an encrypted or an oversized file is passed over, and `notes` says so. Of two files of one name the
first counts. Names that differ only in case are two files: nothing is written under them. Archives within archives stay
shut. What cannot be looked at without risk is refused whole: a broken archive, one with too many files, or one that
swells beyond measure.
"""

from __future__ import annotations

import io
import os

from looseleaf.base.errors import Refused
from looseleaf.base.messages import FARTHEST
from looseleaf.base.page_paths import is_page
from looseleaf.transfer.archives import LARGEST, Broken, look, packing_errors, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

__all__ = ["Broken", "Source", "refuse_memory"]

_JOURNAL = "log/journal.jsonl"
_OWN = ("log", "views")
_READ = 1024 * 1024


class Source:
    """`with Source(path) as source: for name in source.names(): source.open(name)`. `kind`: file, folder, zip, tar."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):  # it was meant to be something: `import "$UNSET"`
            raise Refused("Nothing was imported: the path is empty. Give a file or a folder.")
        self.path = os.path.abspath(os.fspath(path))
        self.notes: list[str] = []
        self.kind, self._pack = look(self.path, self.notes.append)
        self._names = tuple(self._pack.files)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self._pack.close()

    def names(self) -> tuple[str, ...]:
        """Relative, with slashes, in order; a single file has its own name. Folders are not among them."""
        return self._names

    def __contains__(self, name: str) -> bool:
        return name in self._pack.files

    def size(self, name: str) -> int:
        """In bytes, unpacked."""
        return self._pack.size(name)

    def modified(self, name: str) -> float | None:
        """When the file was last changed, in epoch seconds, if that is known."""
        found = self._pack.modified(name)
        return found if found is not None and abs(found) < FARTHEST else None  # an archive may say anything

    def open(self, name: str) -> BinaryIO:
        """A stream of the file's bytes. Reading raises `Broken` where it cannot go on."""
        return _Stream(self._pack.open(name), f"{os.path.basename(self.path)}: {name}")

    def read(self, name: str, most: int) -> bytes | None:
        """All of a file; None if it is longer than `most` bytes."""
        with self.open(name) as stream:
            data = stream.read(most + 1)
        return None if len(data) > most else data

    def head(self, name: str, size: int = 65_536) -> bytes:
        """How a file begins; nothing, if it cannot be read."""
        try:
            with self.open(name) as stream:
                return stream.read(size)
        except Broken:
            return b""


class _Stream(io.RawIOBase, BinaryIO if TYPE_CHECKING else object):  # type: ignore[misc]
    """Reads at most a megabyte at once from below, and says in one way what is wrong there."""

    def __init__(self, below: BinaryIO, name: str) -> None:
        self._below = below
        self._name = name

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._below.close()
        super().close()

    def read(self, size: int = -1) -> bytes:
        """As many bytes as were asked for, unless the file ends before."""
        parts: list[bytes] = []
        left = size if size >= 0 else LARGEST
        while left > 0 and (part := self._some(min(left, _READ))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _some(self, size: int) -> bytes:
        try:
            return self._below.read(size)
        except packing_errors() as error:
            raise Broken(f"{self._name} was not read to its end: {told(error)}.") from error


def refuse_memory(source: Source) -> None:
    """Refused for a memory of ours, and for a part of one: it is there already, and its log is nobody's words."""
    names = source.names()
    journal = next((name for name in names if name == _JOURNAL or name.endswith(f"/{_JOURNAL}")), None)
    if journal is not None and not all(name.startswith(journal.removesuffix(_JOURNAL)) for name in names):
        where = os.path.join(source.path, journal.removesuffix(f"/{_JOURNAL}"))
        raise Refused(
            f"Nothing was imported: {source.path} has a memory of looseleaf in it ({where}), which is used as it is. "
            "Give what lies beside it, folder by folder."
        )
    if journal is not None or _is_part(source.path):
        is_one = journal is not None
        what = "is a memory of looseleaf already" if is_one else "is a part of a memory of looseleaf"
        raise Refused(
            f"Nothing was imported: {source.path} {what}. Unpack it, if it is packed, and use it as it is: "
            "looseleaf --memory FOLDER"
        )


def _is_part(path: str) -> bool:
    """Whether it is one of a memory's pages or lies in one of its folders. Other things may lie beside them."""
    path = os.path.realpath(path)
    parts: list[str] = []
    while (above := os.path.dirname(path)) != path:
        parts.insert(0, os.path.basename(path))
        path = above
        if os.path.isfile(os.path.join(path, *_JOURNAL.split("/"))):
            inner = "/".join(parts)
            return parts[0] in _OWN or is_page(inner) or is_page(f"{inner}/x.md")
    return False
