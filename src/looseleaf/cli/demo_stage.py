"""The stage: commands are shown as a person would type them, run in this process, and their own words are what is seen.

They run as of the story's time, so that what they write has its dates. On a terminal there are colours, and a moment to
read; in a pipe neither.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper

from looseleaf.base.clock import at
from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any, TextIO

_BOLD, _COMMAND, _DIM, _END = "\x1b[1m", "\x1b[1;36m", "\x1b[2m", "\x1b[0m"
_INTERRUPTED = 130
"""How a command ends that somebody stopped."""

_PACE = 20.0
"""Seconds of the story from one command to the next."""

_MOMENT = 0.35
"""Seconds before a scene, on a terminal: enough to see that there is one."""


@frozen
class Shown:
    """A command, how it ended, and what it printed (where that was kept)."""

    command: str
    code: int
    output: str


class Plain(TextIOWrapper):
    """Standard output that nobody takes for a terminal."""

    def isatty(self) -> bool:
        return False


class Stage:
    """Where the story is seen. `run` carries out a command line, `out` is where its words go; without one they are
    kept, for whoever wants them as values."""

    def __init__(self, run: Callable[[list[str]], int], out: TextIO | None) -> None:
        self._run = run
        self._out = out
        self._is_watched = out is not None and out.isatty()
        self._is_coloured = self._is_watched and not os.environ.get("NO_COLOR")
        self.now: float | None = None
        """What time it is in the story; None: what the clock says."""
        self.shown: list[Shown] = []

    def scene(self, title: str) -> None:
        if self._is_watched:
            import time

            time.sleep(_MOMENT)
        self._print(f"\n{self._in(_BOLD, f'── {title} ' + '─' * max(0, 76 - len(title)))}\n")

    def tell(self, text: str) -> None:
        """What the reader should know before a command is seen."""
        self._print(f"\n{self._in(_BOLD, text)}\n")

    def aside(self, text: str) -> None:
        self._print(f"{self._in(_DIM, text)}\n")

    def show(self, text: str) -> None:
        self._print(f"{text}\n")

    def command(self, *arguments: str, code: int = 0) -> None:
        """Run a command. `code` is how it ends if the story is true."""
        line = " ".join(["looseleaf", *map(_quoted, arguments)])
        self._print(f"{self._in(_COMMAND, f'$ {line}')}\n")
        kept = BytesIO()
        out: Any = self._out if self._out is not None else Plain(kept, encoding="utf-8", write_through=True)
        with redirect_stdout(out), redirect_stderr(out), self._then(arguments[0]):
            ended = self._run([*arguments])
        out.flush()
        self.shown.append(Shown(line, ended, kept.getvalue().decode()))
        if ended == _INTERRUPTED:
            raise KeyboardInterrupt
        if ended != code:
            why = f" ({' '.join(self.shown[-1].output.split())})" if self._out is None else ""
            raise Refused(
                f"The demo stopped: `{line}` ended with {ended}, and not with {code}{why}. Nothing but the folder "
                "of the demo was touched; `looseleaf doctor` looks at this machine."
            )

    def _then(self, verb: str) -> AbstractContextManager[None]:
        """It is the story's time, and a moment later than at the command before."""
        if self.now is None:
            return nullcontext()
        self.now += _PACE
        return at(self.now, verb)

    def _in(self, style: str, text: str) -> str:
        return f"{style}{text}{_END}" if self._is_coloured else text

    def _print(self, text: str) -> None:
        if self._out is not None:
            self._out.write(text)
            self._out.flush()


@contextmanager
def plain_output() -> Iterator[Plain]:
    """Standard output, as if it went to a pipe."""
    sys.stdout.flush()
    out = Plain(
        sys.stdout.buffer, encoding=sys.stdout.encoding, errors="backslashreplace", write_through=True
    )
    try:
        yield out
    finally:
        out.flush()
        out.detach()  # or it would close what is not its own


def _quoted(argument: str) -> str:
    if argument and not set(argument) & set(" \"'$`\\|&;<>()*?[]{}#~!"):
        return argument
    return (
        f'"{argument}"' if not set(argument) & set('"$`\\!') else "'" + argument.replace("'", "'\\''") + "'"
    )
