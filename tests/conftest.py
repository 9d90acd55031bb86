from __future__ import annotations

import gc
import importlib
import io
import os
import pkgutil
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, is_hypothesis_test, settings

import looseleaf
from looseleaf.cli.main import main
from looseleaf.init import init

Run = Callable[..., tuple[int, str, str]]
"""A command: its code, and what it printed."""

settings.register_profile(
    "steady",
    derandomize=True,
    max_examples=8,
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


# --- measuring -------------------------------------------------------------------------

SWEEPS = frozenset(
    "test_compact_crash test_crash test_place_crash test_index_crash test_paths test_damage test_editor test_replay "
    "test_errors test_processes test_store_machine test_recovery test_benchmarks test_compact test_prompt "
    "test_read_your_writes test_recall_benchmark test_injection test_tidy test_secrets test_review test_gate "
    "test_prompt_fit test_topics test_codec test_store_contract test_build test_build_topics test_fence test_layers "
    "test_outdated test_pages test_snapshot test_sealed test_recall_hostile test_recall_truth test_state_authors "
    "test_strange_lines test_page_edits test_toon test_cache_model test_ledger test_evidence_frames".split()
)
"""Files whose tests run the same lines thousands of times. Measuring that takes as long as running them,
and shows hardly a line that the others do not."""

UNTRACED = pytest.StashKey[bool]()
"""Of a test that is run without the tracer, from its fixtures to their end."""


TIMED_ROWS = 2
"""Rows of a timed table in the default run: each takes seconds, on texts made to be slow. The long run has all of
them."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seen: Counter[tuple[Path, str]] = Counter()
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        # Under a tracer, a test that measures time measures the tracer; and what is drawn runs the same lines again.
        is_timed = "growth" in item.function.__code__.co_names
        is_drawn = is_hypothesis_test(item.function)
        # So do the rows of a table: of those the first is measured.
        row = (item.path, item.originalname)
        if is_timed or is_drawn or row in seen or item.path.stem in SWEEPS:
            item.stash[UNTRACED] = True
        if is_timed and seen[row] >= TIMED_ROWS:
            item.add_marker(pytest.mark.long)
        seen[row] += 1


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with without_tracer(Coverage.current() if UNTRACED in item.stash else None):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Every process collects all tests, which takes as long as some hundred of them; it does so without the tracer, and
    without looking for garbage among what stays anyway."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    measured = Coverage.current()
    gc.disable()
    if measured is not None and worker == "gw0":
        import_all()  # so that what a module does when it is imported is measured, whoever imports it first
    parts = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    is_whole = [Path(each).name for each in session.config.args] == ["tests"]
    with without_tracer(measured):
        if is_whole and parts > 1 and not sys.dont_write_bytecode:
            rewrite_part(int(worker[2:]), parts)
        found = yield
    gc.freeze()
    gc.enable()
    return found


@contextmanager
def without_tracer(measured: Coverage | None) -> Iterator[None]:
    if measured is None:
        yield
        return
    measured.stop()
    try:
        yield
    finally:
        measured.start()


def import_all() -> None:
    for module in pkgutil.walk_packages(looseleaf.__path__, "looseleaf."):
        if module.name not in ("looseleaf.__main__", "looseleaf.store.windows"):
            importlib.import_module(module.name)


def rewrite_part(part: int, parts: int) -> None:
    """Import one part of the test files, which rewrites their assertions and keeps that on disk: so processes that
    begin together do not all rewrite all of them. What cannot be imported is left to be told of by collecting."""
    for path in sorted(Path(__file__).parent.glob("test_*.py"))[part::parts]:
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(path.stem)


# --- fixtures --------------------------------------------------------------------------


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
