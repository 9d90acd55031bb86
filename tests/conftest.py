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
from typing import Any

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, is_hypothesis_test, settings

import looseleaf
from looseleaf.cli.main import main
from looseleaf.pages.folder import init

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


DRAWN = 16
"""Examples of a test that asks for more than the profile has, in a steady run: the same ones each time."""

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
    # A worker's measuring begins with its session. What its plugin began before that, and kept, is no use: it would go
    # on measuring wherever the other is stopped, and be in the way of the other at the end.
    early = Coverage.current()
    if early is not None and hasattr(config, "workerinput"):
        early.stop()


# --- measuring -------------------------------------------------------------------------

SWEEPS = frozenset(
    "test_compact_crash test_crash test_place_crash test_index_crash test_paths test_damage test_replay "
    "test_errors test_processes test_store_machine test_benchmarks test_prompt test_prompt_fit "
    "test_read_your_writes test_recall_benchmark test_injection test_codec test_build test_build_topics test_fence "
    "test_layers test_outdated test_sealed test_strange_lines test_cache_model test_twice".split()
)
"""Files whose tests run the same lines thousands of times. Measuring that takes as long as running them,
and shows hardly a line that the others do not."""

TABLES = frozenset(
    "test_when test_dates test_terms test_text_calls test_excerpt test_expect test_slot_tables test_own_words "
    "test_replacing test_profile".split()
)
"""Files whose rows each go another way, and are soon done: all of them are measured."""

MEASURED_ROWS = 5
"""Rows of any other table that are measured: the others run the same lines."""

UNTRACED = pytest.StashKey[bool]()
"""Of a test that is run without the tracer, from its fixtures to their end."""


TIMED_ROWS = 2
"""Rows of a timed table in the default run: each takes seconds, on texts made to be slow. The long run has all of
them."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seen: Counter[tuple[Path, str]] = Counter()
    is_steady = settings.get_current_profile_name() == "steady"
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        # Under a tracer, a test that measures time measures the tracer; and what is drawn runs the same lines again.
        is_timed = "growth" in item.function.__code__.co_names
        is_drawn = is_hypothesis_test(item.function)
        is_often = item.path.stem in SWEEPS or item.get_closest_marker("untraced") is not None
        row = (item.path, item.originalname)
        is_again = seen[row] >= MEASURED_ROWS and item.path.stem not in TABLES
        if is_timed or is_drawn or is_often or is_again:
            item.stash[UNTRACED] = True
        if is_drawn and is_steady and item.get_closest_marker("long") is None:
            draw_few(item.function)
        if is_timed and seen[row] >= TIMED_ROWS:
            item.add_marker(pytest.mark.long)
        seen[row] += 1


def draw_few(function: Any) -> None:
    """The steady profile has the last word: a number that a test asks for is for whoever runs it by itself."""
    own = getattr(function, "_hypothesis_internal_use_settings", None)
    if own is not None and own.max_examples > DRAWN:
        function._hypothesis_internal_use_settings = settings(own, max_examples=DRAWN)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with without_tracer(Coverage.current() if UNTRACED in item.stash else None):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Every process collects all tests, which takes as long as some hundred of them; it does so without the tracer, and
    without looking for garbage among what stays anyway."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    measured = Coverage.current()
    gc.disable()
    if measured is not None and worker is None:
        import_all()  # so that what a module does when it is imported is measured, whoever imports it first
    parts = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    is_whole = [Path(each).name for each in session.config.args] == ["tests"]
    with without_tracer(measured):
        if is_whole and worker is not None and not sys.dont_write_bytecode:
            rewrite_part(int(worker[2:]), parts)
        found = yield
    gc.freeze()
    gc.set_threshold(
        20_000, 20, 20
    )  # a test makes much that goes with it, and little that goes round in a circle
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


# --- handles ---------------------------------------------------------------------------

HANDLES = 40
"""Descriptors that a file of tests may leave open: what a package opens once and keeps, connections that wait for the
next use. More is a leak."""


@pytest.fixture(autouse=True, scope="module")
def _handles_come_back(request: pytest.FixtureRequest) -> Iterator[None]:
    """A process that runs all tests has one table of descriptors, and some calls know only the first thousand."""
    before = handles()
    yield
    if len(handles() - before) > HANDLES:
        gc.collect()
        left = handles() - before
        assert len(left) <= HANDLES, f"{request.node.name} left open: {sorted(map(opened, left))}"


def handles() -> set[int]:
    found = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    return {
        int(each) for each in found if os.path.lexists(f"/proc/self/fd/{each}")
    }  # not the one it was read with


def opened(handle: int) -> str:
    return os.readlink(f"/proc/self/fd/{handle}")


# --- fixtures --------------------------------------------------------------------------


@pytest.fixture(autouse=True, scope="session")
def no_terminal() -> None:
    """Output is as wide as in a pipe, also in workers, which are told the width of a terminal that they do not have."""
    os.environ.pop("COLUMNS", None)


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
