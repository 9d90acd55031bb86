"""A chat on a terminal: lines are edited and can be called back, answers are Markdown, the rest is dim."""

from __future__ import annotations

import time

from looseleaf.agent.events import Answered, Done, Failed, Interrupted, Prompted, ToolCalled
from looseleaf.base.replies import Retrying, Said, Thought
from looseleaf.cli.chat import harmless, line_of
from looseleaf.cli.chat_commands import COMMANDS
from looseleaf.cli.markdown import Shown
from looseleaf.cli.output import clipped, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.agent.events import Event

_PROMPT = "> "
_MORE = "… "
_CLEAR = "\r\x1b[2K"
_SECONDS = 0.1
"""How often the line that says that something is going on may change: as often as an eye can follow."""


class Terminal:
    """What was typed is called back with the arrow keys, and kept nowhere else. A line that ends with a backslash goes
    on; what is pasted is one message, on as many lines as it has."""

    is_watched = True

    def __init__(self) -> None:
        from rich.console import Console

        self._console: Any = Console(highlight=False)
        self._shown = Shown(self._console, self._stand)
        self._is_moving = False
        self._is_said = False
        self._moved = 0.0
        self._readline = _editing()

    # --- reading -----------------------------------------------------------------------

    def read(self) -> str | None:
        """None at Ctrl-D, and at Ctrl-C where nothing was typed; else that takes back what was."""
        while True:
            try:
                line = _input(_PROMPT)
                while line.endswith("\\"):
                    line = f"{line[:-1]}\n{_input(_MORE)}"
                return line
            except EOFError:
                self._console.print()
                return None
            except KeyboardInterrupt:
                self._console.print()
                if self._readline is None or not self._readline.get_line_buffer():
                    return None

    def ask(self, question: str) -> str | None:
        """An answer is no question: it is not called back later."""
        if self._readline is not None:
            self._readline.set_auto_history(False)
        try:
            return _input(f"{plain(question)} ")
        except (EOFError, KeyboardInterrupt):
            self._console.print()
            return ""
        finally:
            if self._readline is not None:
                self._readline.set_auto_history(True)

    # --- showing -----------------------------------------------------------------------

    def hear(self, event: Event) -> None:
        line = line_of(event, is_said=self._is_said)
        match event:
            case Said(text):
                self._is_said = True
                if not self._shown.feed(text):
                    self._move(f"writing, {self._shown.waiting:,} characters")
            case Thought():
                self._move("thinking")
            case ToolCalled(call):
                self._end()
                self._move(clipped(call.name), at_once=True)
            case Prompted():
                self._move("asking", at_once=True)
            case Retrying():
                self._is_said = False
                self._stand()
                self._shown.drop()
            case Answered() | Interrupted() | Failed() | Done():
                self._end()
        if line is not None:
            self._tell(line, "" if isinstance(event, Failed) else "dim")

    def tell(self, text: str) -> None:
        self._tell(text, "dim")

    def _tell(self, text: str, style: str) -> None:
        from rich.text import Text

        self._stand()
        self._console.print(Text(harmless(text), style), soft_wrap=True)

    def _end(self) -> None:
        self._is_said = False
        self._stand()
        self._shown.end()

    def _move(self, text: str, *, at_once: bool = False) -> None:
        """Say on the last line that something is going on, and on no terminal that cannot take that back."""
        now = time.monotonic()
        if self._console.is_dumb_terminal or (now - self._moved < _SECONDS and not at_once):
            return
        self._moved, self._is_moving = now, True
        self._console.file.write(f"{_CLEAR}{plain(text)[: self._console.width - 3]} …")
        self._console.file.flush()

    def _stand(self) -> None:
        if self._is_moving:
            self._is_moving = False
            self._console.file.write(_CLEAR)
            self._console.file.flush()


def _input(prompt: str) -> str:
    # Bytes that are no text in the terminal's encoding are replaced: what is asked goes to the log as UTF-8.
    return input(prompt).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _editing() -> Any:
    """Lines that can be edited, where there is readline; what is pasted arrives whole."""
    try:
        import readline
    except ImportError:  # pragma: no cover - windows
        return None
    readline.clear_history()
    readline.parse_and_bind("set enable-bracketed-paste on")
    readline.parse_and_bind("tab: complete")
    readline.set_completer_delims(" \t\n")
    readline.set_completer(_complete)
    return readline


def _complete(text: str, state: int) -> str | None:
    typed = text.lower()
    found = [f"/{name}" for name in COMMANDS if typed.startswith("/") and f"/{name}".startswith(typed)]
    return found[state] if state < len(found) else None
