"""A memory with the story of the demo in it, compacted once, with a prompt in its log; and a person who looks at it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from looseleaf import Memory
from looseleaf.base.ids import at
from looseleaf.cli.demo import FEBRUARY, MAY, PROJECT, SEPTEMBER, SETTINGS, tell
from looseleaf.pages.folder import init
from looseleaf.serve.serving import Limits
from paging import Person
from serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pytest

    from serving import Server


def make_compacted(path: Path) -> Path:
    """Make a memory whose window was compacted after the first session."""
    init(str(path))
    (path / "looseleaf.toml").write_text(SETTINGS)
    (path / "PROJECT.md").write_text(PROJECT)
    for session in (FEBRUARY, MAY, SEPTEMBER):
        with at(tell(str(path), session) + 20, session.id), Memory(path) as memory:
            if session is FEBRUARY:
                memory.window.compact()
            memory.distill()
    with Memory(path) as memory:
        memory.prompt("Read gzip files too", budget=2000)
    return path


@contextmanager
def looking_at(
    folders: pytest.TempPathFactory, make: Callable[[Path], object] = make_compacted
) -> Iterator[tuple[Server, Person]]:
    """Serve a memory of the name `mira`, to a person who may ask as often as tests do."""
    with serving(folders.mktemp("page")) as server:
        server.serving.limits = Limits(rate=1e6)
        make(server.root / "mira")
        with Person(server, "mira") as person:
            yield server, person
