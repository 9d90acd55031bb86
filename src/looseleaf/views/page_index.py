"""The page index: a line for each page that a prompt leaves out, so that a model knows what it can read."""

from __future__ import annotations

import re
from itertools import islice

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import is_trusted
from looseleaf.facts.ledger import true_at
from looseleaf.facts.page_lines import shard_of
from looseleaf.log.journal import AGENT, EXTERNAL, UNKNOWN
from looseleaf.pages.grammar import parse
from looseleaf.pages.pages import Page
from looseleaf.text.lines import FOUND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from looseleaf.base.values import PageText
    from looseleaf.facts.known_facts import Facts
    from looseleaf.pages.pages import Pages
    from looseleaf.store.context import Context

    class Needs(Protocol):
        @property
        def known(self) -> Facts: ...
        @property
        def pages(self) -> Pages: ...
        def summary_of(self, path: str, page: PageText) -> str:
            """Return a summary by rule of a page's trusted content."""


FACTS, EPISODES = "facts/", "episodes/"
_MONTH = re.compile(r"episodes/[0-9]{4}-[0-9]{2}\.md")


@frozen
class IndexLine:
    """A page that a prompt leaves out: path, bytes and summary."""

    path: str
    size: int
    summary: str

    def but(self, *, path: str) -> IndexLine:
        """Return the same line under another path."""
        return IndexLine(path, self.size, self.summary)


class PageIndex:
    """The index of pages, from the journal and the facts, which the caller has brought up to date."""

    def __init__(self, context: Context, parts: Needs) -> None:
        self._trusts = context.policy.trust_external_edits
        self._parts = parts
        self._made: dict[str, tuple[str | None, IndexLine]] = {}

    def _listed_paths(self) -> list[str]:
        there = self._parts.pages.absorb.heads.pages.there()
        return [path for path in there if path.startswith((FACTS, EPISODES))]

    def lines(self, paths: Iterable[str] | None = None) -> list[IndexLine]:
        """Return the lines of all listed pages, or of these. An unreadable page has none."""
        wanted = sorted(paths if paths is not None else self._listed_paths())
        wanted.sort(key=lambda path: not path.startswith(FACTS))
        return [line for line in map(self._make_line, wanted) if line is not None]

    def newest(self, most: int) -> tuple[list[IndexLine], list[str]]:
        """Return at most so many lines, of the pages changed last, newest first; and the paths of the others. Months
        of episodes come first: their names are dates."""
        paths = self._listed_paths()
        months = sorted((path for path in paths if path.startswith(EPISODES)), reverse=True)
        topics = sorted((path for path in paths if path.startswith(FACTS)), key=self._age_key)
        ranked = (path for path in (*months[: most // 4], *topics) if self.is_vouched_for(path))
        chosen = list(islice(ranked, most))
        lines = {line.path: line for line in self.lines(chosen)}
        further = sorted(set(paths) - set(chosen))
        return [lines[path] for path in chosen if path in lines], further

    def is_vouched_for(self, path: str) -> bool:
        """True if a page's name may be listed. Where edits on disk are not trusted, names are not either: then only
        pages with a trusted fact are listed, and months, whose names are dates."""
        if self._trusts:
            return True
        if path.startswith(EPISODES):
            return _MONTH.fullmatch(path) is not None
        facts = true_at(self._parts.known.of(shard_of(path) or ""))
        return any(fact.path == path and is_trusted(fact.level) for fact in facts)

    def _age_key(self, path: str) -> tuple[int, int, str]:
        topic = path[len(FACTS) : -len(".md")]
        segment, offset, _ = self._parts.known.topics.get(topic, (0, 0, 0))
        return -segment, -offset, path

    def _make_line(self, path: str) -> IndexLine | None:
        """Return a page's line. Its summary rests on people's words: a model's own is replaced by one made by rule."""
        head = self._parts.pages.absorb.heads.get(path).sha256
        made = self._made.get(path)
        if made is None or made[0] != head:
            try:
                page = Page(path, self._parts.pages.absorb.head_bytes(path))
            except Refused:
                return None
            summary = page.summary or ""
            if self._is_doubtful(path):
                # Only a signature names an episode's author.
                is_known = path.startswith(FACTS) or self._trusts
                summary = self._parts.summary_of(path, parse(path, page.text)) if is_known else ""
            found = page.text.count(" (found by ") if f"## {FOUND}" in page.text else 0
            if found:  # their number, none of their words
                summary = f"{summary}{'; ' if summary else ''}{found} found by agents"
            made = self._made[path] = head, IndexLine(path, len(page.data), summary)
        return made[1]

    def _is_doubtful(self, path: str) -> bool:
        """True if a model wrote a page's summary, or it came from disk where such edits are not trusted."""
        sheet = self._parts.known.sheet(path)
        if sheet is None:
            return not self._trusts
        by = sheet.summary_by or ""
        return by.startswith(AGENT) or (not self._trusts and by in (EXTERNAL, UNKNOWN))
