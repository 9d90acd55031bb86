"""A chat on a terminal: lines are edited and can be called back, answers are Markdown, the rest is dim."""

from __future__ import annotations

import re
import time

from looseleaf.agent.events import Answered, Done, Failed, Interrupted, Prompted, ToolCalled
from looseleaf.base.immutable import frozen
from looseleaf.base.replies import Retrying, Said, Thought
from looseleaf.cli.chat import harmless, line_of
from looseleaf.cli.chat_commands import COMMANDS
from looseleaf.cli.output import clipped, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Literal

    from looseleaf.agent.events import Event


# Markdown on a terminal while it is still being written: whole blocks, one after the other.

if TYPE_CHECKING:
    Kind = Literal["text", "item", "code", "indented", "fence"]


_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_ITEM = re.compile(r"( {0,3})(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_FIRST_ITEM = re.compile(r" {0,3}(?:[-*+]|1[.)])[ \t]")
"""What begins a list in the middle of a paragraph: a number other than 1 is more likely the end of a sentence."""

_CODE = "    "
"""What stands before a line that is code without a fence, and before every line of code that is shown."""


@frozen
class Block:
    """A finished part of a text: lines of prose, an item of a list with all that belongs to it, a line of code, lines
    that are code because they are indented, or the line that begins or ends code. `is_apart`: an empty line stands
    before it."""

    kind: Kind
    text: str
    is_apart: bool = False


class Blocks:
    """Cuts a text into blocks while it comes."""

    def __init__(self) -> None:
        self._line = ""
        self._lines: list[str] = []
        self._fence = ""
        self._in_list = False
        self._is_apart = False

    def feed(self, text: str) -> Iterator[Block]:
        """What is finished now."""
        *whole, rest = f"{self._line}{text}".split("\n") if "\n" in text else [self._line + text]
        self._line = rest
        for line in whole:
            yield from self._take(f"{line}\n")

    def end(self) -> Iterator[Block]:
        """All that is left."""
        if self._line:
            yield from self._take(self._line)
            self._line = ""
        yield from self._flush()

    @property
    def waiting(self) -> int:
        """Characters that came and are in no finished block yet."""
        return len(self._line) + sum(map(len, self._lines))

    def _take(self, line: str) -> Iterator[Block]:
        fence = _FENCE.match(line.rstrip("\n"))
        if self._fence:
            if (
                line.strip()
                and not line.strip().strip(self._fence[0])
                and len(line.strip()) >= len(self._fence)
            ):
                self._fence = ""
                yield self._made("fence", line)
            else:
                yield self._made("code", line)
        elif fence:
            yield from self._flush()
            self._fence = fence[1]
            yield self._made("fence", line)
        elif not line.strip():
            yield from self._flush(line)
        elif self._begins(line):
            yield from self._flush()
            self._lines = [line]
            if _HEADING.match(line):
                yield from self._flush()
        else:
            self._lines.append(line)

    def _begins(self, line: str) -> bool:
        """Whether a line is the first of a block, though no empty one stands before it."""
        if not self._lines or _HEADING.match(line):
            return True
        item, of_list = _ITEM.match(line), _ITEM.match(self._lines[0])
        if item is None:
            return False
        if of_list is not None:
            return len(item[1]) <= len(of_list[1])
        is_of_item = self._in_list and self._lines[0].startswith((" ", "\t"))
        return is_of_item or bool(_FIRST_ITEM.match(line))

    def _flush(self, empty: str = "") -> Iterator[Block]:
        """What waits; with the empty line behind it, which is a block by itself where nothing waits."""
        lines, self._lines = self._lines, []
        if lines:
            is_item = bool(_ITEM.match(lines[0]))
            is_indented = lines[0].startswith((" ", "\t"))
            self._in_list = is_item or (self._in_list and is_indented)
            is_code = lines[0].startswith((_CODE, "\t")) and not self._in_list
            kind: Kind = "indented" if is_code else "item" if self._in_list else "text"
            yield self._made(kind, "".join(lines) + empty)
        elif empty:
            yield self._made("text", empty)
        self._is_apart = self._is_apart or bool(empty)

    def _made(self, kind: Kind, text: str) -> Block:
        is_apart, self._is_apart = self._is_apart, False
        if not text.strip() and kind == "text":
            self._is_apart = is_apart
        return Block(kind, text, is_apart)


class Shown:
    """An answer on a terminal, block by block. `before` is called before something is shown."""

    def __init__(self, console: Any, before: Callable[[], None] = lambda: None) -> None:
        self._console = console
        self._before = before
        self._blocks = Blocks()
        self._last: Kind | None = None

    def feed(self, text: str) -> bool:
        """Whether something was shown."""
        return self._show(self._blocks.feed(text))

    def end(self) -> bool:
        is_shown = self._show(self._blocks.end())
        self.drop()
        return is_shown

    def drop(self) -> None:
        """Show no more of this one, and begin anew."""
        self._blocks, self._last = Blocks(), None

    @property
    def waiting(self) -> int:
        return self._blocks.waiting

    def _show(self, blocks: Iterator[Block]) -> bool:
        is_shown = False
        for block in blocks:
            self._before()
            if block.kind == "fence":
                self._apart(block, is_apart=True)
                continue
            if block.kind in ("code", "indented"):
                self._apart(block, is_apart=False)
                self._code(block)
            elif block.text.strip():
                self._apart(block, is_apart=False)
                self._console.print(_Harmless(markdown(block.text)))
            else:
                continue
            is_shown = True
        return is_shown

    def _apart(self, block: Block, *, is_apart: bool) -> None:
        """An empty line where the text has one, and around code."""
        if self._last is not None and (is_apart or block.is_apart) and self._last != "fence":
            self._console.print()
        if block.kind != "fence" or self._last is not None:
            self._last = block.kind

    def _code(self, block: Block) -> None:
        """As it is, and wrapped by the terminal alone: what is copied from there is what was written."""
        from rich.text import Text

        is_line = block.kind == "code"
        for line in (block.text.removesuffix("\n") if is_line else block.text.rstrip("\n")).split("\n"):
            shown = plain(line.expandtabs(4))
            self._console.print(Text(f"{_CODE}{shown}" if is_line else shown, "cyan"), soft_wrap=True)


def markdown(text: str) -> Any:
    """Prose for a console. Nothing of it disappears: HTML stays text, and of a link one sees where it leads."""
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
        if token.tag == "h1":  # which a console puts into the middle
            token.tag = "h2"
    return Padding(shown, (0, 0, 0, indent)) if indent else shown


class _Harmless:
    """What a console is told, without empty lines around it, and with every character written out that could steer it:
    also those that only came about in parsing."""

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
                yield from _without_end(line)
                yield Segment.line()


def _without_end(line: list[Any]) -> list[Any]:
    """A line without the spaces that fill it up."""
    from rich.segment import Segment

    while line and not line[-1].text.strip():
        line = line[:-1]
    return [*line[:-1], *(Segment(each.text.rstrip(), each.style) for each in line[-1:])]


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
