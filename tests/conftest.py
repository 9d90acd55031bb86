from __future__ import annotations

import gc
import io
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

import drawing  # noqa: F401  the profiles are loaded there: this file runs again where a test imports from it
from layering import Layered
from looseleaf.cli.main import main
from looseleaf.pages.folder import init
from looseleaf.store.this_machine import VARIABLE
from postgres import Running, shared_server
from tables import spread

Run = Callable[..., tuple[int, str, str]]
"""A command: its code, and what it printed."""

ROOM = 1 << 30
"""Bytes that the disk in memory must have free for the whole run to use it; it fills some thirty million."""


def pytest_configure(config: pytest.Config) -> None:
    """`tmp_path` is in memory too, where there is room: much of a run is waiting for a disk to sync what nobody keeps.

    Whoever wants the real disk sets PYTEST_DEBUG_TEMPROOT.
    """
    # Else the name of this machine would be made in the real home of the person who runs the tests.
    os.environ[VARIABLE] = "here"
    config.addinivalue_line(
        "markers",
        "sampled(count): so many rows, spread over the table, are enough by default; the others are long",
    )
    # Threads of the linear algebra do not survive a fork, of which the tests make many.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")


# --- what a run holds -------------------------------------------------------------------

TIMED_ROWS = 2
"""Rows of a timed table in the default run: each takes seconds, on texts made to be slow. The long run has all of
them."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tables: defaultdict[tuple[Path, str], list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function):
            tables[item.path, item.originalname].append(item)
    for rows in tables.values():
        sampled = rows[0].get_closest_marker("sampled")
        if sampled is not None:
            stay = spread(rows, sampled.args[0])
        elif "growth" in rows[0].function.__code__.co_names:
            stay = rows[:TIMED_ROWS]
        else:
            continue
        for row in set(rows).difference(stay):
            row.add_marker(pytest.mark.long)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collecting makes much that stays, and no garbage worth looking for."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.set_threshold(
        20_000, 20, 20
    )  # a test makes much that goes with it, and little that goes round in a circle
    gc.enable()
    return found


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


@pytest.fixture(autouse=True)
def _this_machine_stays() -> Iterator[None]:
    """What a test that is several machines sets is not what the next one finds."""
    before = os.environ[VARIABLE]
    yield
    os.environ[VARIABLE] = before


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
def layered(place: Path, monkeypatch: pytest.MonkeyPatch) -> Layered:
    """A home memory with nothing in it, and no project yet."""
    monkeypatch.delenv("LOOSELEAF_HOME", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("HOME", str(place / "home"))
    made = Layered(place)
    made.make_home()
    return made


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, on the memory, perhaps with something on standard input. A next step names the
    memory as this command did; that is left out here."""

    def call(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(["--memory", str(folder), *arguments])
        out, err = capsys.readouterr()
        return code, out, err.replace(f"`looseleaf --memory {folder}", "`looseleaf")

    return call


@pytest.fixture(scope="session")
def postgres() -> Iterator[Running]:
    """The PostgreSQL server of this run."""
    with shared_server() as running:
        yield running


@pytest.fixture
def distills_here() -> Iterator[None]:
    """What hooks leave to a process in the background is done at once, in this one."""
    from looseleaf.integrations import detached

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(detached, "start", detached.work)
        yield
