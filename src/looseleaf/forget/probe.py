"""The probe: reads every byte of the folder and says where something that was forgotten still stands (FORMAT §17.7)."""

from __future__ import annotations

import os
import stat

from looseleaf.errors import Refused
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.forget.needles import Needles

_OWN = ("log", "views", "facts", "episodes", "days", "review")


@frozen
class Probe:
    """How much was read, and the files in which something was found. `theirs` are those that are not the program's to
    change: settings, tests, files that somebody put there."""

    files: int
    bytes: int
    hits: tuple[str, ...]
    theirs: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "bytes": self.bytes,
            "hits": list(self.hits),
            "theirs": list(self.theirs),
        }


def probe(folder: str, needles: Needles) -> Probe:
    files = total = 0
    hits: list[str] = []
    theirs: list[str] = []
    for path in _files(folder):
        try:
            with open(os.path.join(folder, path), "rb") as file:
                data = file.read()
        except FileNotFoundError:
            continue  # SQLite removes files of its own
        except OSError as error:
            raise Refused(
                f"What was to be forgotten is gone from where it was, and the proof was not made: {path} could not be "
                f"read ({error.strerror}). Mend that and run the same command again."
            ) from error
        files += 1
        total += len(data)
        if needles.hits(data) or needles.hits(path.encode("utf-8", "replace")):
            (hits if _is_ours(path) else theirs).append(path)
    return Probe(files, total, tuple(hits), tuple(theirs))


def _is_ours(path: str) -> bool:
    return (
        path.partition("/")[0] in _OWN or (path.endswith(".md") and "/" not in path) or path == "state.json"
    )


def _files(folder: str) -> Iterator[str]:
    """Every regular file, hidden ones too; what a link leads to is not of this folder."""
    for above, names, files in os.walk(folder):
        names.sort()
        for name in sorted(files):
            path = os.path.join(above, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                yield os.path.relpath(path, folder).replace(os.sep, "/")
