"""The probe: reads every byte of the folder and says where something that was forgotten still stands (FORMAT §17.7)."""

from __future__ import annotations

import os
import stat

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.forget.needles import Needles

_DRAWERS = ("facts", "episodes", "days", "review")


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
    weak: list[str] = []
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
        found = needles.hits(data) | needles.hits(path.encode("utf-8", "replace"))
        if not found:
            continue
        if path.startswith("views/") and all(map(str.isalnum, found)):
            weak.append(path)
        else:
            (hits if _is_ours(path) else theirs).append(path)
    # Views were made anew of the rest: a single word that stands in them alone is the program's own.
    return Probe(files, total, tuple([*hits, *weak] if hits else ()), tuple(theirs))


def _is_ours(path: str) -> bool:
    """Whether the program keeps this file; what an editor or a person put beside its pages is theirs."""
    top, _, rest = path.partition("/")
    if top in ("log", "views"):
        return True
    name = path.rpartition("/")[2]
    is_page = name.endswith(".md") and not name.startswith((".", "#"))
    return (is_page and (not rest or top in _DRAWERS)) or path == "state.json"


def _files(folder: str) -> Iterator[str]:
    """Every regular file, hidden ones too; what a link leads to is not of this folder."""
    for above, names, files in os.walk(folder):
        names.sort()
        for name in sorted(files):
            path = os.path.join(above, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                yield os.path.relpath(path, folder).replace(os.sep, "/")
