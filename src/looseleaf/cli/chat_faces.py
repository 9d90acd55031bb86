"""Where a chat takes place. Here: the protocol, and a pipe; `chat_terminal` has the terminal.

In a pipe a line is a question, an answer goes to standard output whole, and everything else to standard error. Nothing
that a model or a tool says can steer a terminal.
"""

from __future__ import annotations

import re
import sys

from looseleaf.agent.events import AnswerEvent, Compacted, Done, FailedEvent, Interrupted, ToolReturned
from looseleaf.base.replies import Repaired, Retrying, TextDelta
from looseleaf.cli.output import clipped, harmless, hung

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from looseleaf.agent.events import Event
else:
    Protocol = object


class Face(Protocol):
    """Where a chat takes place. `is_watched`: a person sees it, and can ask again."""

    is_watched: bool

    def read(self) -> str | None:
        """Read the next question; None: there are no more."""

    def ask(self, question: str) -> str | None:
        """Ask the person; None where there is none to ask."""

    def hear(self, event: Event) -> None:
        """Show an event."""

    def tell(self, text: str) -> None:
        """Show a text of the program beside the answers."""


_VOID = " What was said so far is void."
_HASH = re.compile(r"(?<![0-9A-Za-z])([0-9a-f]{12})[0-9a-f]{28,}(?![0-9A-Za-z])")


def event_line(event: Event, *, has_text: bool = False) -> str | None:
    """Return the line that a person sees of an event outside the answer; None: none. `has_text`: part of an answer
    came before it."""
    match event:
        case ToolReturned(call, result, error):
            came = f"failed: {error}" if error is not None else _text(result)
            line = f"· {clipped(f'{call.name} {_text(call.arguments)}')} → {clipped(came)}"
            return _HASH.sub(r"\1…", line)
        case Retrying(why, seconds, attempt):
            cause = why.removesuffix(_VOID)
            void = _VOID if has_text or cause != why else ""
            return f"Asking again in {seconds:.0f} s (attempt {attempt}): {clipped(cause).rstrip('.')}.{void}"
        case Repaired(sentence) | FailedEvent(sentence):
            return sentence
        case Compacted(loss):
            return f"The window was compacted.\n  {hung(loss.text, 2)}"
        case Interrupted(why):
            return f"Interrupted: {clipped(why)}. What was said is kept."
        case Done(stop=("steps" | "length" | "refused") as stop):
            return _ENDS[stop]
    return None


_ENDS = {
    "steps": "It stopped here: the model was asked as often as agent_steps allows. Ask it to go on.",
    "length": "The answer ends here: it is as long as max_tokens allows. Ask it to go on.",
    "refused": "The answer ends here: its provider held the rest back.",
}


def _text(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Pipe:
    """A pipe: a question per line, an answer when it is whole. Text that a retry voids is never printed."""

    is_watched = False

    def __init__(self) -> None:
        self._heard: list[str] = []
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")  # of a line that is not UTF-8, the readable part is asked

    def read(self) -> str | None:
        try:
            line = sys.stdin.readline() if sys.stdin is not None else ""
        except KeyboardInterrupt:
            return None
        return line.removesuffix("\n") if line else None

    def ask(self, question: str) -> str | None:
        return None

    def hear(self, event: Event) -> None:
        line = event_line(event, has_text=bool(self._heard))
        match event:
            case TextDelta(text):
                self._heard.append(text)
            case Retrying():
                self._heard.clear()
            case AnswerEvent(reply):
                self._answer(reply.text)
            case Interrupted() | FailedEvent():
                self._answer("".join(self._heard))
        if line is not None:
            self.tell(line)

    def _answer(self, text: str) -> None:
        self._heard.clear()
        if text.strip():
            sys.stdout.write(f"{harmless(text.strip())}\n")
            sys.stdout.flush()

    def tell(self, text: str) -> None:
        sys.stderr.write(f"{harmless(text)}\n")
        sys.stderr.flush()
