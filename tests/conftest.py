from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from looseleaf.cli import main
from looseleaf.init import init

Run = Callable[..., tuple[int, str, str]]
"""A command: its code, and what it printed."""

settings.register_profile(
    "steady",
    derandomize=True,
    max_examples=20,
    deadline=None,  # machines are busy
    suppress_health_check=[HealthCheck.too_slow],
)
"""The same examples each time, and not too many: `make test` says the same of the same code. `make test-long` draws new
ones, and more."""


ROOM = 1 << 30
"""Bytes that the disk in memory must have free for the whole run to use it; it fills some thirty million."""


def pytest_configure(config: pytest.Config) -> None:
    """`tmp_path` is in memory too, where there is room: much of a run is waiting for a disk to sync what nobody keeps.

    Whoever wants the real disk sets PYTEST_DEBUG_TEMPROOT.
    """
    # Threads of the linear algebra do not survive a fork, of which the tests make many.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")


SWEEPS = frozenset(
    "test_compact_crash test_crash test_place_crash test_index_crash test_paths test_damage test_editor test_replay "
    "test_errors test_processes test_store_machine test_recovery test_benchmarks test_compact test_prompt "
    "test_read_your_writes test_recall_benchmark test_injection test_tidy test_secrets test_review test_gate "
    "test_prompt_fit test_topics test_codec test_store_contract".split()
)
"""Files whose tests run the same lines thousands of times. Measuring that takes as long as running them,
and shows hardly a line that the others do not."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # Under a tracer, a test that measures time measures the tracer; and what is drawn runs the same lines again.
        is_timed = isinstance(item, pytest.Function) and "growth" in item.function.__code__.co_names
        is_drawn = isinstance(item, pytest.Function) and is_hypothesis_test(item.function)
        if is_timed or is_drawn or item.path.stem in SWEEPS:
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder for tests that kill and fail thousands of times: in memory where there is such a disk.

    A killed process loses nothing of what it wrote, on any disk; what a power cut loses is another test's matter.
    """
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture
def folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory for commands, in which nothing was said yet."""
    monkeypatch.delenv("LOOSELEAF_HOME", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("HOME", str(place / "home"))
    monkeypatch.chdir(place)
    path = place / "memory"
    init(str(path))
    return path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, on the memory, perhaps with something on standard input."""

    def call(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(["--memory", str(folder), *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call
