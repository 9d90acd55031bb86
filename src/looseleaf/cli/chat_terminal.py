"""A chat on a terminal: lines are edited and can be called back, answers are Markdown, the rest is dim."""

from __future__ import annotations

import re
import time

from looseleaf.agent.events import AnswerEvent, Done, FailedEvent, Interrupted, Prompted, ToolCalled
from looseleaf.base.immutable import frozen
from looseleaf.base.replies import Retrying, TextDelta, Thought
from looseleaf.cli.chat_commands import COMMANDS
from looseleaf.cli.chat_faces import event_line
from looseleaf.cli.output import clipped, harmless, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Literal

    from looseleaf.agent.events import Event

    Kind = Literal["text", "item", "code", "indented", "fence"]


_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_ITEM = re.compile(r"( {0,3})(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_FIRST_ITEM = re.compile(r" {0,3}(?:[-*+]|1[.)])[ \t]")
"""Begins a list in the middle of a paragraph: a number other than 1 is more likely the end of a sentence."""

_CODE = "    "
"""The indent of code without a fence, and of every line of code that is shown."""


@frozen
class MarkdownBlock:
    """A finished part of a text: lines of prose, a list item with all its lines, a line of code, indented code, or the
    line that begins or ends code. `is_apart`: an empty line stands before it."""

    kind: Kind
    text: str
    is_apart: bool = False


class Blocks:
    """A splitter that cuts a text into blocks while it streams."""

    def __init__(self) -> None:
        self._line = ""
        self._lines: list[str] = []
        self._fence = ""
        self._in_list = False
        self._is_apart = False

    def feed(self, text: str) -> Iterator[MarkdownBlock]:
        """Yield the blocks that are finished now."""
        *whole, rest = f"{self._line}{text}".split("\n") if "\n" in text else [self._line + text]
        self._line = rest
        for line in whole:
            yield from self._take_line(f"{line}\n")

    def end(self) -> Iterator[MarkdownBlock]:
        """Yield the rest."""
        if self._line:
            yield from self._take_line(self._line)
            self._line = ""
        yield from self._flush()

    @property
    def waiting(self) -> int:
        """Characters received that are in no finished block yet."""
        return len(self._line) + sum(map(len, self._lines))

    def _take_line(self, line: str) -> Iterator[MarkdownBlock]:
        fence = _FENCE.match(line.rstrip("\n"))
        if self._fence:
            said = line.strip()
            is_end = not said.strip(self._fence[0]) and len(said) >= len(self._fence)
            self._fence = "" if is_end else self._fence
            yield self._make_block("fence" if is_end else "code", line)
        elif fence:
            yield from self._flush()
            self._fence = fence[1]
            yield self._make_block("fence", line)
        elif not line.strip():
            yield from self._flush(line)
        elif self._begins_block(line):
            yield from self._flush()
            self._lines = [line]
            if _HEADING.match(line):
                yield from self._flush()
        else:
            self._lines.append(line)

    def _begins_block(self, line: str) -> bool:
        """Return whether a line begins a block without an empty line before it."""
        if not self._lines or _HEADING.match(line):
            return True
        item, of_list = _ITEM.match(line), _ITEM.match(self._lines[0])
        if item is None:
            return False
        if of_list is not None:
            return len(item[1]) <= len(of_list[1])
        is_of_item = self._in_list and self._lines[0].startswith((" ", "\t"))
        return is_of_item or bool(_FIRST_ITEM.match(line))

    def _flush(self, empty: str = "") -> Iterator[MarkdownBlock]:
        """Yield the waiting lines with the empty line after them, or that line alone."""
        lines, self._lines = self._lines, []
        if lines:
            is_item = bool(_ITEM.match(lines[0]))
            is_indented = lines[0].startswith((" ", "\t"))
            self._in_list = is_item or (self._in_list and is_indented)
            is_code = lines[0].startswith((_CODE, "\t")) and not self._in_list
            kind: Kind = "indented" if is_code else "item" if self._in_list else "text"
            yield self._make_block(kind, "".join(lines) + empty)
        elif empty:
            yield self._make_block("text", empty)
        self._is_apart = self._is_apart or bool(empty)

    def _make_block(self, kind: Kind, text: str) -> MarkdownBlock:
        is_apart = self._is_apart
        self._is_apart = is_apart and kind == "text" and not text.strip()
        return MarkdownBlock(kind, text, is_apart)


class RenderedBlocks:
    """An answer on a terminal, block by block. `before` is called before each block is shown."""

    def __init__(self, console: Any, before: Callable[[], None] = lambda: None) -> None:
        self._console = console
        self._before = before
        self._blocks = Blocks()
        self._last: Kind | None = None

    def feed(self, text: str) -> bool:
        """Take more text; return whether a block was shown."""
        return self._show(self._blocks.feed(text))

    def end(self) -> bool:
        is_shown = self._show(self._blocks.end())
        self.drop()
        return is_shown

    def drop(self) -> None:
        """Discard the rest of this answer, and begin anew."""
        self._blocks, self._last = Blocks(), None

    @property
    def waiting(self) -> int:
        return self._blocks.waiting

    def _show(self, blocks: Iterator[MarkdownBlock]) -> bool:
        is_shown = False
        for block in blocks:
            self._before()
            if block.kind in ("code", "indented"):
                self._print_gap(block)
                self._print_code(block)
                is_shown = True
            elif block.kind == "fence":
                self._print_gap(block)
            elif block.text.strip():
                self._print_gap(block)
                self._console.print(_Harmless(markdown(block.text)))
                is_shown = True
        return is_shown

    def _print_gap(self, block: MarkdownBlock) -> None:
        """Print an empty line where the text has one, and around code."""
        is_fence = block.kind == "fence"
        if self._last is not None and (is_fence or block.is_apart) and self._last != "fence":
            self._console.print()
        if not is_fence or self._last is not None:
            self._last = block.kind

    def _print_code(self, block: MarkdownBlock) -> None:
        """Print code as it is, wrapped by the terminal alone: a copy from there is exact."""
        from rich.text import Text

        is_line = block.kind == "code"
        for line in (block.text.removesuffix("\n") if is_line else block.text.rstrip("\n")).split("\n"):
            shown = plain(line.expandtabs(4))
            self._console.print(Text(f"{_CODE}{shown}" if is_line else shown, "cyan"), soft_wrap=True)


def markdown(text: str) -> Any:
    """Render prose for a console. Nothing disappears: HTML stays text, and a link shows its address."""
    from textwrap import dedent

    from markdown_it import MarkdownIt
    from rich.markdown import Markdown
    from rich.padding import Padding

    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    parser.disable(["html_block", "html_inline", "entity", "image", "reference", "code"])
    indent = len(text) - len(text.lstrip(" "))
    shown = Markdown("", hyperlinks=False)
    shown.parsed = parser.parse(plain(dedent(text), keep="\n\t"))
    for token in shown.parsed:
        if token.tag == "h1":  # a console centers it
            token.tag = "h2"
    return Padding(shown, (0, 0, 0, indent)) if indent else shown


class _Harmless:
    """A renderable without empty lines around it. Every character that could steer a terminal is written out, also
    those that parsing produced."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from rich.segment import Segment

        lines = [
            [Segment(plain(each.text), each.style) for each in line]
            for line in console.render_lines(self._inner, options, pad=False)
        ]
        full = [bool("".join(each.text for each in line).strip()) for line in lines]
        if any(full):
            for line in lines[full.index(True) : len(full) - full[::-1].index(True)]:
                yield from _strip_line(line)
                yield Segment.line()


def _strip_line(line: list[Any]) -> list[Any]:
    """Return a line without its trailing spaces."""
    from rich.segment import Segment

    while line and not line[-1].text.strip():
        line = line[:-1]
    return [*line[:-1], *(Segment(each.text.rstrip(), each.style) for each in line[-1:])]


_PROMPT = "> "
_MORE = "… "
_CLEAR = "\r\x1b[2K"
_SECONDS = 0.1
"""Seconds between two changes of the progress line: as often as an eye can follow."""


class Terminal:
    """A terminal. Arrow keys call typed lines back; they are kept nowhere else. A line that ends with a backslash goes
    on; a paste is one message, however many lines it has."""

    is_watched = True

    def __init__(self) -> None:
        from rich.console import Console

        self._console: Any = Console(highlight=False)
        self._shown = RenderedBlocks(self._console, self._clear)
        self._is_moving = False
        self._has_text = False
        self._moved = 0.0
        self._readline = _set_up_readline()

    def read(self) -> str | None:
        """Read a question; None at Ctrl-D, and at Ctrl-C on an empty line. Elsewhere Ctrl-C clears the line."""
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
                if not self._readline.get_line_buffer():
                    return None

    def ask(self, question: str) -> str | None:
        """Ask the person. The answer is not called back later: it is not a question."""
        self._readline.set_auto_history(False)
        try:
            return _input(f"{plain(question)} ")
        except (EOFError, KeyboardInterrupt):
            self._console.print()
            return ""
        finally:
            self._readline.set_auto_history(True)

    def hear(self, event: Event) -> None:
        line = event_line(event, has_text=self._has_text)
        match event:
            case TextDelta(text):
                self._has_text = True
                if not self._shown.feed(text):
                    self._show_progress(f"writing, {self._shown.waiting:,} characters")
            case Thought():
                self._show_progress("thinking")
            case ToolCalled(call):
                self._end_answer()
                self._show_progress(clipped(call.name), at_once=True)
            case Prompted():
                self._show_progress("asking", at_once=True)
            case Retrying():
                self._has_text = False
                self._clear()
                self._shown.drop()
            case AnswerEvent() | Interrupted() | FailedEvent() | Done():
                self._end_answer()
        if line is not None:
            self._print(line, "" if isinstance(event, FailedEvent) else "dim")

    def tell(self, text: str) -> None:
        self._print(text, "dim")

    def _print(self, text: str, style: str) -> None:
        from rich.text import Text

        self._clear()
        self._console.print(Text(harmless(text), style), soft_wrap=True)

    def _end_answer(self) -> None:
        self._has_text = False
        self._clear()
        self._shown.end()

    def _show_progress(self, text: str, *, at_once: bool = False) -> None:
        """Show progress on the last line, unless the terminal cannot erase it."""
        now = time.monotonic()
        if self._console.is_dumb_terminal or (now - self._moved < _SECONDS and not at_once):
            return
        self._moved, self._is_moving = now, True
        self._console.file.write(f"{_CLEAR}{plain(text)[: self._console.width - 3]} …")
        self._console.file.flush()

    def _clear(self) -> None:
        if self._is_moving:
            self._is_moving = False
            self._console.file.write(_CLEAR)
            self._console.file.flush()


def _input(prompt: str) -> str:
    # Bytes that the terminal's encoding cannot decode are replaced: the log takes UTF-8.
    return input(prompt).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _set_up_readline() -> Any:
    """Set up line editing; a paste arrives whole."""
    import readline

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
