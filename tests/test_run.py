"""How the tests themselves are run: no handle is left open, and no child of a test goes on as a second worker."""

from __future__ import annotations

import ast
import gc
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from conftest import HANDLES, handles
from forking import RAISED, run_in_child, start_child, start_child_on_terminal
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


# --- children --------------------------------------------------------------------------

TESTS = Path(__file__).parent
HOME_OF_FORKS = TESTS / "forking.py"
FORKS = frozenset("fork forkpty multiprocessing ProcessPoolExecutor preexec_fn".split())
"""Names that make this process two, both of them with Python to run."""

MAY_FORK = re.compile("|".join(FORKS))
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def forks_in(source: str) -> Iterator[int]:
    """The lines that fork. A program in a text forks another process than the one that runs the tests."""
    for node in ast.walk(ast.parse(source)) if MAY_FORK.search(source) else ():
        match node:
            case (
                ast.Attribute(attr=str(name), lineno=line)
                | ast.alias(name=str(name), lineno=line)
                | ast.ImportFrom(module=str(name), lineno=line)
                | ast.keyword(arg=str(name), lineno=line)
            ):
                if not FORKS.isdisjoint(name.split(".")):
                    yield line


def test_no_test_forks_by_itself() -> None:
    files = [file for file in sorted(TESTS.rglob("*.py")) if file != HOME_OF_FORKS]
    assert Path(__file__) in files
    found = [
        f"{file.relative_to(TESTS)}:{line}" for file in files for line in forks_in(file.read_text("utf-8"))
    ]
    assert found == [], "start children with `forking`"


@pytest.mark.parametrize(
    "source",
    [
        "import os\nif os.fork() == 0:\n    pass",
        "import pty\npid, end = pty.fork()",
        "from os import fork",
        "import os\nos.forkpty()",
        "import multiprocessing",
        "from multiprocessing.queues import Queue",
        "import multiprocessing.pool as pool",
        "from concurrent.futures import ProcessPoolExecutor",
        "import subprocess\nsubprocess.run(['ls'], preexec_fn=print)",
    ],
)
def test_a_planted_fork_is_found(source: str) -> None:
    assert list(forks_in(source))


def test_what_forks_nothing_here_is_not_found() -> None:
    assert not list(forks_in("import os\nhas_it = hasattr(os, 'fork')\nPROGRAM = 'import os; os.fork()'"))


def throw(error: BaseException) -> None:
    raise error


@needs_fork
@pytest.mark.parametrize(
    "error",
    [AssertionError("oh"), KeyboardInterrupt("oh"), GeneratorExit("oh"), pytest.fail.Exception("oh")],
    ids=lambda error: type(error).__name__,
)
def test_a_child_that_raises_ends_and_its_parent_is_told(error: BaseException) -> None:
    with pytest.raises(AssertionError, match=rf"(?s)ended with {RAISED}:.*oh"):
        run_in_child(partial(throw, error))


@needs_fork
@pytest.mark.parametrize(("given", "code"), [(None, 0), (0, 0), (3, 3)])
def test_a_child_that_exits_ends_with_that_code(given: int | None, code: int) -> None:
    assert run_in_child(partial(sys.exit, given)) == code
    assert run_in_child(lambda: os._exit(code)) == code


@needs_fork
def test_a_child_that_exits_with_a_sentence_is_in_trouble() -> None:
    child = start_child(partial(sys.exit, "it did not work"))
    assert (child.end(), child.trouble) == (RAISED, "it did not work\n")


@needs_fork
def test_a_child_ends_where_not_even_its_trouble_can_be_told() -> None:
    def close_all_and_raise() -> None:
        os.closerange(3, 1000)
        raise KeyboardInterrupt

    assert start_child(close_all_and_raise).end() == RAISED


@needs_fork
def test_a_child_that_hangs_is_ended_and_it_is_told_where() -> None:
    """As where it waits for a lock that a thread of its parent held. The runner's own alarm would raise in it."""
    lock = threading.Lock()

    def wait_for_ever() -> None:
        lock.acquire()

    with lock:
        child = start_child(wait_for_ever, patience=1)
        assert child.end() == -signal.SIGALRM
    assert "in wait_for_ever" in child.trouble


@needs_fork
def test_a_child_that_nobody_waited_for_ends_with_its_block() -> None:
    with start_child(partial(time.sleep, 60)) as child:
        os.kill(child.pid, 0)
    assert child.end() == -signal.SIGKILL


@needs_fork
def test_a_child_on_a_terminal_raises_nothing_here() -> None:
    child, terminal = start_child_on_terminal(partial(throw, KeyboardInterrupt()))
    assert child.end() == RAISED
    os.close(terminal)
    assert "KeyboardInterrupt" in child.trouble
