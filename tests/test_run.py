"""How the tests themselves are run: no handle is left open."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from conftest import HANDLES, handles
from looseleaf import Memory
from looseleaf.store.files import FileStore

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="handles are counted in /proc")


def left_by(folder: Path) -> int:
    """Handles that are open after many memories were made and dropped, and none was closed."""
    before = handles()
    for _ in range(HANDLES + 1):
        Memory(folder).record(user="I like green tea.")
    gc.collect()
    return len(handles() - before)


@needs_proc
def test_a_memory_that_is_dropped_gives_its_handles_back(tmp_path: Path) -> None:
    assert left_by(tmp_path / "memory") == 0


@needs_proc
def test_a_store_that_keeps_them_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[FileStore] = []
    monkeypatch.setattr(FileStore, "__del__", lambda store: kept.append(store))  # noqa: PLW0108
    assert left_by(tmp_path / "memory") > HANDLES
    monkeypatch.undo()
    for store in kept:
        store.close()
