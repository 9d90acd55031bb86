"""Children of the tests: each does one thing and ends, whatever that raises.

A child that left its work would go on as a second worker: it would run the tests that are left, and report them through
its parent's pipe. So no test forks by itself.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import tempfile
import traceback
import warnings
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

RAISED = 70
"""The exit code of a child that raised."""

PATIENCE = 120
"""Seconds after which a child that still runs is ended: fewer than a test has."""


class Child:
    """A child at work. It is waited for, or killed at the end of its block."""

    def __init__(self, pid: int, told: IO[bytes]) -> None:
        self.pid = pid
        self.trouble = ""
        self._told = told
        self._code: int | None = None

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)
            self.end()

    def __del__(self) -> None:
        self._told.close()

    def end(self) -> int:
        """Wait for its end: its exit code, or minus the signal. `trouble` is what it raised, or where it hung."""
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            with self._told as told:
                told.seek(0)
                self.trouble = told.read().decode(errors="replace")
        return self._code

    def wait(self) -> int:
        """The same; trouble is a failure here."""
        code = self.end()
        assert not self.trouble, f"the child ended with {code}:\n{self.trouble}"
        return code


def run_in_child(act: Callable[[], object]) -> int:
    """Do this in a child: its exit code, or minus the signal that ended it. What it raises is a failure here."""
    return start_child(act).wait()


def start_child(act: Callable[[], object], *, patience: int = PATIENCE) -> Child:
    """Have a child do this. It ends with 0, or with the code of a `SystemExit`."""
    return _fork(lambda: (os.fork(), -1), act, patience)[0]


def start_child_on_terminal(act: Callable[[], object]) -> tuple[Child, int]:
    """The same on a terminal of its own, and our end of that."""
    import pty  # late: Windows has none

    return _fork(pty.fork, act, PATIENCE)


def _fork(fork: Callable[[], tuple[int, int]], act: Callable[[], object], patience: int) -> tuple[Child, int]:
    told = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - the child's end closes it
    parent, code = os.getpid(), RAISED
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # of forking with threads: every worker has some
            pid, terminal = fork()
        if pid == 0:
            code = _do(act, told, patience)
    finally:
        if os.getpid() != parent:
            os._exit(code)
    return Child(pid, told), terminal


def _do(act: Callable[[], object], told: IO[bytes], patience: int) -> int:
    """In the child: do it; return the exit code."""
    for number in (signal.SIGALRM, signal.SIGINT):  # the runner's own would raise here
        signal.signal(number, signal.SIG_DFL)
    faulthandler.register(signal.SIGALRM, told, chain=True)  # tells where it hangs; the signal then ends it
    signal.alarm(patience)
    try:
        act()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        told.write(f"{end.code}\n".encode())
    except BaseException:  # noqa: BLE001 - nothing may leave a child
        told.write(traceback.format_exc().encode(errors="replace"))
    else:
        return 0
    return RAISED
