"""One block, while it comes: where it ends, and what it is then."""

from __future__ import annotations

import re

from looseleaf.models.blocks import (
    CDATA,
    END_OF_CDATA,
    UNENDED,
    json_calls,
    malformed,
    whole_calls,
    xml_arguments,
    xml_calls,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from looseleaf.base.replies import ToolSpec
    from looseleaf.models.blocks import Call, Opener

    Found = tuple[list[Call], str, str]
    """Calls, the text that they (or, where there are none, nothing) stand in, and what follows that."""

_ENDS = 4
"""Ends that are tried for one block: the first may stand in a string of its JSON."""

_SEEN = 64
"""No end is longer."""


class Block:
    """Its `body` grows until an end is found; whoever reads it may want another."""

    def __init__(self, opener: Opener, found: re.Match[str]) -> None:
        self._opener, self._text = opener, found[1]
        self._name: str | None = found[2] if found.re.groups > 1 else None
        self._parts: list[str] = []
        self._size = 0
        self._ends: list[tuple[int, int]] = []
        # A fence is closed by a line of its own; the one that opens it ends with a line break.
        self._seen = "\n" if opener.tag is None else ""
        self._in_data = False
        if opener.tag is None:
            mark = found[1].lstrip()[0]
            run = len(found[1]) - len(found[1].lstrip(mark))
            line = f"\n[ \\t]{{0,16}}{mark}{{{run},16}}[ \\t]{{0,16}}"
            self._closes = re.compile(rf"{line}(?=\r?\n)")
            self._closes_all = re.compile(rf"{line}\Z")
        else:
            data = r"|<!\[CDATA\[" if opener.form == "xml" else ""
            self._closes = re.compile(f"</{opener.tag}>{data}")

    def take(self, text: str, at: int) -> int | None:
        """The place in the text behind the block's next end; None: all of the text is of the block."""
        window, shift = self._seen + text[at:], at - len(self._seen)
        begin = self._size - len(self._seen)
        found = self._next(window)
        if found is None:
            self._put(text[at:])
            return None
        self._put(text[at : found.end() + shift])
        self._ends.append((begin + found.start(), self._size))
        self._seen = ""
        return found.end() + shift

    def _next(self, window: str) -> re.Match[str] | None:
        at = 0
        while True:
            if self._in_data:
                end = window.find(END_OF_CDATA, at)
                if end < 0:
                    break
                self._in_data, at = False, end + len(END_OF_CDATA)
            found = self._closes.search(window, at)
            if found is None or found[0] != CDATA:
                if found is not None:
                    return found
                break
            self._in_data, at = True, found.end()
        self._seen = window[max(at, len(window) - _SEEN) :]
        return None

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._size += len(text)

    def end(self) -> None:
        """No more comes. A fence may be closed by the last line, which has no end."""
        if self._opener.tag is None and (found := self._closes_all.search(self._seen)):
            self._ends.append((self._size - len(self._seen) + found.start(), self._size))

    def read(
        self, tools: Mapping[str, ToolSpec], *, final: bool = False, is_whole: bool = True
    ) -> Found | None:
        """What it is; None: it may end further on. `is_whole`: nothing was broken off behind it."""
        whole = "".join(self._parts)
        self._parts = [whole]
        if not self._ends:
            return self._unclosed(whole, tools) if is_whole else ([], self._text + whole, "")
        until, end = self._ends[-1]
        body = whole[: max(until, 0)]
        raw = self._text + whole[:end]
        if self._opener.form == "xml":
            return xml_calls(body, self._name, tools), raw, whole[end:]
        calls = json_calls(body, self._opener)
        if calls == UNENDED and len(self._ends) < _ENDS and not final:
            return None
        if isinstance(calls, list) or (calls is None and len(self._ends) == 1):
            return calls or [], raw, whole[end:]
        # What is wrong with it is not that a string holds its end: so the first one was that.
        until, end = self._ends[0]
        return malformed(whole[: max(until, 0)]), self._text + whole[:end], whole[end:]

    def _unclosed(self, whole: str, tools: Mapping[str, ToolSpec]) -> Found:
        """A provider may take the end for its sign to stop, and keep it: what is whole is a call all the same. (Of a
        reply that was broken off nobody knows what the call was to be: one more argument may have been to come.)"""
        if self._opener.form == "json":
            found = whole_calls(whole, self._opener)
            if found is not None:
                calls, rest = found
                return calls, self._text + whole[: len(whole) - len(rest)], rest
        elif self._name is not None and (given := xml_arguments(whole, tools.get(self._name))):
            return [(self._name, given)], self._text + whole, ""
        return [], self._text + whole, ""
