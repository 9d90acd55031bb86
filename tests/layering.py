"""Two memories, one under the other, for tests of layers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from looseleaf import Memory
from looseleaf.pages.folder import init


class Layered:
    """A home memory, and folders of projects beside it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.home_path = place / "home" / ".looseleaf"

    def make_home(self) -> Path:
        init(str(self.home_path))
        return self.home_path

    def project_path(self, name: str = "heron") -> Path:
        path = self.place / name / ".looseleaf"
        init(str(path))
        return path

    @contextmanager
    def home(self) -> Iterator[Memory]:
        with Memory(self.home_path) as memory:
            yield memory

    @contextmanager
    def project(self, name: str = "heron") -> Iterator[Memory]:
        with Memory(self.project_path(name)) as memory:
            yield memory


def bytes_of(folder: Path, *left_out: str) -> dict[str, bytes]:
    """Return every file of a memory, without its views and locks."""
    names = ("views", *left_out)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] not in names
    }


def said(memory: Memory) -> list[tuple[str, str, str]]:
    """Return what is known: the layer, the relation and the value of each fact."""
    return [(fact.layer or "", fact.relation, fact.object) for fact in memory.facts()]
