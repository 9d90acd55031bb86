"""How the tests themselves are run: what is measured, what is drawn, and that no handle is left open."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from coverage import Coverage
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import DRAWN, HANDLES, handles
from looseleaf import Memory
from looseleaf.store.files import FileStore

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="handles are counted in /proc")
drawn: list[int] = []


@pytest.mark.untraced
def test_what_is_not_to_be_measured_runs_without_any_tracer() -> None:
    assert Coverage.current() is None


@settings(max_examples=500)
@given(st.integers(0, 10**9))
def test_a_steady_run_draws_few_of_many(number: int) -> None:
    drawn.append(number)


def test_so_few_were_drawn() -> None:
    if settings.get_current_profile_name() != "steady" or not drawn:
        pytest.skip("only a steady run draws few")
    assert len(drawn) <= DRAWN


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
