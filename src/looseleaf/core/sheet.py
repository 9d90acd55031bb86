"""A sheet: the lines of a page, and which fact stands on which of them, carried along through its edits.

A line keeps its fact for as long as it stays a line of the page. Reading an edit costs what the edit is long, unless
the page has headings of kinds, fences or comments, whose reach only the whole page tells.
"""

from __future__ import annotations

import re

from looseleaf.core.grammar import drawer, parse
from looseleaf.core.heads import PROGRAM
from looseleaf.values import Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.values import Edit

_REACHES = re.compile(r"^\ufeff?(?:#{2,6}[ \t]|---[ \t]*$)|```|~~~|<!--|-->", re.MULTILINE)
"""What decides how other lines are read."""

_EVIDENCE = re.compile(r"[ \t]+(f_[0-9a-f]{12})\b")
"""The line under a proposal in review, which begins with the fact's id: content cannot begin a line."""


class Sheet:
    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: list[str] = []
        self.ids: list[str | None] = []
        self.sha256: str | None = None
        self.summary_by: str | None = None
        """Who wrote the summary that the page has now; `program` also where it came with a person's yes."""
        self._is_plain: bool | None = None

    def to_list(self) -> list[Any]:
        return [self.path, self.sha256, self.summary_by, self.lines, self.ids]

    @classmethod
    def from_list(cls, raw: list[Any]) -> Sheet:
        sheet = cls(str(raw[0]))
        sheet.sha256, sheet.summary_by = raw[1], raw[2]
        sheet.lines, sheet.ids = [str(line) for line in raw[3]], list(raw[4])
        if len(sheet.lines) != len(sheet.ids):
            raise ValueError("a sheet has an id, or none, for each line")
        return sheet

    @property
    def is_summary_by_rule(self) -> bool:
        return self.summary_by == PROGRAM

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def take(self, edit: Edit) -> tuple[list[tuple[int, Fact]], list[str]]:
        """The facts that the edit put on the page (by line, from 0, without an id), and the ids of those it took."""
        if edit.new is None:
            gone = [each for each in self.ids if each is not None]
            self.lines, self.ids, self.sha256, self.summary_by = [], [], None, None
            return [], gone
        if edit.whole:
            before = self.ids
            self.lines, self.ids = [], []
        else:
            before = []
        fresh: list[int] = []
        gone = [each for each in before if each is not None]
        shift = 0
        for hunk in edit.hunks:
            at = hunk.at + shift
            stop = at + len(hunk.removed)
            gone += [each for each in self.ids[at:stop] if each is not None]
            added = [_text(line, edit.encoding) for line in hunk.added]
            self.lines[at:stop] = added
            self.ids[at:stop] = [None] * len(added)
            fresh += range(at, at + len(added))
            shift += len(added) - len(hunk.removed)
        self.sha256 = edit.new
        if any(self.lines[at].startswith((">", "\ufeff>")) for at in fresh):
            self.summary_by = PROGRAM if edit.facts else edit.author
        return self._read(edit, fresh, gone)

    def _read(
        self, edit: Edit, fresh: list[int], gone: list[str]
    ) -> tuple[list[tuple[int, Fact]], list[str]]:
        changed = "".join(line for hunk in edit.hunks for line in (*hunk.removed, *hunk.added))
        reaches = _REACHES.search(changed) is not None
        if reaches or not self._is_plain:
            self._is_plain = _REACHES.search(self.text) is None
        if self._is_plain and not reaches:
            found = parse(self.path, "".join(self.lines[at] for at in fresh))
            return [(fresh[(fact.line or 1) - 1], fact) for fact in found.facts], gone
        facts = {(fact.line or 1) - 1: fact for fact in parse(self.path, self.text).facts}
        added: list[tuple[int, Fact]] = []
        for at, known in enumerate(self.ids):
            if known is not None and at not in facts:
                gone.append(known)  # it came to stand in a fence, or under what makes it none
                self.ids[at] = None
            elif known is None and at in facts:
                added.append((at, facts[at]))
        return added, gone

    def pending(self) -> dict[str, tuple[int, Fact]]:
        """On a page of review: what waits there, by the id that the line under it names."""
        found: dict[str, tuple[int, Fact]] = {}
        if drawer(self.path) == "review":
            for fact in parse(self.path, self.text).facts:
                at = fact.line or 1
                named = _EVIDENCE.match(self.lines[at]) if at < len(self.lines) else None
                if named:
                    found.setdefault(named[1], (at - 1, fact))
        return found


def _text(line: str, encoding: str) -> str:
    """A page that is no UTF-8 is journaled a character for each byte; readers see it decoded."""
    return line if encoding == "utf-8" else line.encode("latin-1").decode("utf-8", "replace")
