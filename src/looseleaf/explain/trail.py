"""Trails: from words, step by step, back to who said or wrote them.

A line of a page leads to its fact or the edit that brought it, a fact to its entry and traces. Each step names a place
to look at. Nothing is inferred: all of it is read.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from itertools import islice

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.messages import NOTED
from looseleaf.base.values import sha256
from looseleaf.distill.make_entry import sources_of
from looseleaf.explain.writes import DISTILLED
from looseleaf.index.protocol import PAGE, TOPIC
from looseleaf.index.said import fold, parts_of, parts_of_words
from looseleaf.log.said_lines import edits_saying, silent_sources
from looseleaf.log.turns import trace_text
from looseleaf.pages.grammar import parse
from looseleaf.store import JOURNAL
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import DOUBTFUL
from looseleaf.views.essentials import shown_bullet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Edit, Fact
    from looseleaf.explain.sources import Needs
    from looseleaf.index.said import Part
    from looseleaf.log.entries import Entry
    from looseleaf.place.notebook import FactSource

_EXCERPT = 240
"""Characters of a text that a step shows, around the words asked for."""

_SOURCES = 3
"""Traces that a trail names; the others are counted."""

_EDITS = 100
"""The last edits of a page to search for a revision by its text."""


@frozen
class Step:
    """One step of a trail: `what` it leads to (`page`, `fact`, `trace`…), `where` that is, and its text. It follows
    from the last less deep step before it."""

    what: str
    where: str
    text: str
    depth: int = 0

    def to_dict(self) -> dict[str, Any]:
        return members_of(self)


def deepen(steps: Iterable[Step], depth: int = 1) -> Iterator[Step]:
    """Yield the same steps, deeper."""
    return (Step(step.what, step.where, step.text, step.depth + depth) for step in steps)


class Needle:
    """Words to find, wherever they stand and however they are spaced."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = fold(text)
        self.words = {word for word in re.split(r"\W+", self.folded) if word}

    def is_in(self, text: str) -> bool:
        return self.folded in fold(text)

    def has_its_words(self, text: str) -> bool:
        """True if all of its words are in a text, in any order."""
        return bool(self.words) and self.words <= set(re.split(r"\W+", fold(text)))

    def places(self, text: str) -> list[tuple[int, int]]:
        """Return where it stands in a text: start and end of each."""
        return self.places_in(text) if self.is_in(text) else []

    def places_in(self, text: str) -> list[tuple[int, int]]:
        """Return the same of a text that is known to have it."""
        characters: list[str] = []
        at: list[int] = []
        for number, each in enumerate(text):
            if each == "\\":
                continue
            if each.isspace():
                if characters and characters[-1] != " ":
                    characters.append(" ")
                    at.append(number)
                continue
            for part in each.casefold():
                characters.append(part)
                at.append(number)
        plain = "".join(characters)
        found: list[tuple[int, int]] = []
        start = plain.find(self.folded)
        while start >= 0:
            end = start + len(self.folded)
            found.append((at[start], at[end - 1] + 1))
            start = plain.find(self.folded, end)
        return found

    def excerpt(self, text: str, *others: str) -> str:
        """Return a text on one line; of a long one the part around these words, or around the first others in it."""
        start = 0
        for needle in (self, *(Needle(other) for other in others if other.strip())):
            places = needle.places(text) if len(text) > _EXCERPT else ()
            if places:
                start = max(0, min(places[0][0] - _EXCERPT // 4, len(text) - _EXCERPT))
                break
        part = " ".join(text[start : start + _EXCERPT].split())
        return f"{'…' * (start > 0)}{part}{'…' * (start + _EXCERPT < len(text))}"


def line_at(text: str, place: tuple[int, int]) -> str:
    """Return the line, or lines, of a place."""
    start = text.rfind("\n", 0, place[0]) + 1
    end = text.find("\n", place[1])
    return text[start : end if end >= 0 else len(text)]


def strip_bullet(line: str) -> str:
    """Return a line without its bullet, for comparison."""
    return fold(line).removeprefix("- ")


_shown_bullet = lru_cache(1 << 15)(shown_bullet)


def words_of(fact: Fact) -> str:
    """Return what a fact says, as a prompt shows it."""
    return _shown_bullet(fact.relation, fact.object)


class Trail:
    def __init__(self, parts: Needs, needle: Needle) -> None:
        self._parts = parts
        self.needle = needle
        self._silent_by_parts: dict[tuple[Part, ...], dict[str, str]] = {}
        self._revisions: dict[tuple[str, str], tuple[str, str | None]] = {}

    @cached_property
    def facts(self) -> list[Fact]:
        """All facts, current ones first."""
        return self._parts.notebook.of_topics()

    @cached_property
    def facts_asked_for(self) -> list[Fact]:
        """The facts that have the words."""
        return [fact for fact in self.facts_saying() if self.needle.is_in(words_of(fact))]

    def facts_saying(self, text: str | None = None) -> list[Fact]:
        """Return those of them that say a text (None: the words asked for), and others of the same topics."""
        return self._facts_with(parts_of(self.needle.text if text is None else text))

    def facts_with_its_words(self) -> list[Fact]:
        """Return the same for all of its words, in any order."""
        return self._facts_with(parts_of_words(self.needle.words))

    def _facts_with(self, parts: Sequence[Part]) -> list[Fact]:
        silent = self._silent(tuple(parts))
        self._parts.notebook.catch_up()
        every = self._parts.known.topics.items()
        some = {name for name, (*place, _) in every if silent.get(f"{TOPIC}{name}") != "{} {}".format(*place)}
        if len(some) == len(every):
            return self.facts
        return self._parts.notebook.of_topics(some) if some else []

    def likely_pages(self) -> list[str]:
        """Return the pages that may have the words."""
        silent = self._silent(tuple(parts_of(self.needle.text)))
        paths = self._parts.pages.paths()
        heads = self._parts.pages.absorb.heads
        return [path for path in paths if silent.get(f"{PAGE}{path}", "") != heads.get(path).sha256]

    def _silent(self, parts: tuple[Part, ...]) -> dict[str, str]:
        """Return the pages and topics without these parts of words, as the index knows them: each with its mark."""
        if parts not in self._silent_by_parts:
            self._silent_by_parts[parts] = silent_sources(self._parts.context.store, parts)
        return self._silent_by_parts[parts]

    def revision_of(self, path: str, revision: str) -> tuple[str, str | None]:
        """Return the hash of a page's bytes, and what it said; None if that cannot be rebuilt. A prompt may name the
        hash of its text: they differ unless it is UTF-8."""
        if (path, revision) not in self._revisions:
            self._revisions[path, revision] = self._find_revision(path, revision)
        return self._revisions[path, revision]

    def _find_revision(self, path: str, revision: str) -> tuple[str, str | None]:
        page = self._parts.pages.page(path)
        if page.sha256 == revision:
            return revision, page.text
        data = self._parts.pages.history.rebuild(path, revision)
        if data is not None:
            return revision, data.decode("utf-8", "replace")
        for edit in islice(self._edits_of(path), _EDITS):
            data = self._parts.pages.versions(edit)[1] or b""
            text = data.decode("utf-8", "replace")
            if text.encode() != data and sha256(text.encode()) == revision:
                return sha256(data), text
        return revision, None

    def page(self, path: str, revision: str, line: str, *, to_facts: bool = True) -> Iterator[Step]:
        """Follow a line that a prompt shows of a page's revision."""
        own_hash, text = self.revision_of(path, revision)
        if text is None:
            yield Step("page", path, "what it said then cannot be rebuilt from the journal")
            return
        number, own = self.line_of(text, line)
        if not number:
            yield Step("page", path, "the prompt's own words about it")
            return
        yield Step("page", f"{path}:{number}", self.needle.excerpt(own))
        page = self._parts.pages.page(path)
        if page.sha256 != own_hash:
            lines = enumerate(split_lines(page.text), 1)
            now = next((at for at, each in lines if strip_bullet(each) == strip_bullet(own)), None)
            told = f"it says this on line {now} now" if now else "it no longer says this"
            yield Step("changed since", path, told, 1)
        fact = self._find_fact(path, text, number) if to_facts else None
        yield from deepen(self.fact(fact, place=False) if fact else self.edit_of(path, own, revision))

    def line_of(self, text: str, line: str) -> tuple[int, str]:
        """Return the number and text of the page's line that a prompt's line shows; 0 if it shows none."""
        found: list[tuple[int, str]] = []
        starts = [0]
        for each in split_lines(text):
            starts.append(starts[-1] + len(each))
        number = 0
        for start, end in self.needle.places(text):
            while number + 1 < len(starts) and starts[number + 1] <= start:
                number += 1
            found.append((number + 1, line_at(text, (start, end))))
        same = (each for each in found if strip_bullet(each[1]) == strip_bullet(line))
        return next(same, found[0] if found else (0, ""))

    def _find_fact(self, path: str, text: str, number: int) -> Fact | None:
        """Return the fact of a line, by its words: the page may have changed since."""
        own = next((fact for fact in parse(path, text).facts if fact.line == number), None)
        if own is None:
            return None
        wanted = own.topic, fold(own.relation), fold(own.object)
        known = self._parts.notebook.of_topics({own.topic})
        same = [each for each in known if (each.topic, fold(each.relation), fold(each.object)) == wanted]
        on_page = (each for each in same if (each.path, each.line) == (path, number))
        return next(on_page, same[0] if same else None)

    def edit_of(
        self, path: str, line: str, revision: str | None = None, *, gone: bool = False
    ) -> Iterator[Step]:
        """Follow the edit that brought a line to a page, or removed it; with a revision: the last up to that."""

        def has_line(edit: Edit) -> bool:
            lines = (each for hunk in edit.hunks for each in (hunk.removed if gone else hunk.added))
            return strip_bullet(line) in map(strip_bullet, lines)

        return self.last_edit(path, revision, has_line)

    def last_edit(
        self, path: str, revision: str | None = None, fits: Callable[[Edit], bool] = lambda edit: True
    ) -> Iterator[Step]:
        """Follow the last edit of a page, up to a revision, that fits, and the entry it was distilled from. If none
        does (binary edits have no lines in the journal): the last edit."""
        wanted = None if revision is None else self.revision_of(path, revision)[0]
        found: Edit | None = None
        for edit in self._edits_of(path):
            if found is None and wanted not in (None, edit.new):
                continue
            found = found or edit
            if fits(edit):
                found = edit
                break
        if found is not None:
            whose = f"{found.author} for {found.person}" if found.person else found.author
            told = f"{whose}, {format_time(found.ts)}: {found.reason} ({found.path})"
            yield Step("edit", found.id, told)
            entry = DISTILLED.match(found.reason)
            yield from deepen(self.entry(entry[1])) if entry else ()

    def fact(self, fact: Fact, *, place: bool = True) -> Iterator[Step]:
        """Follow a fact: its line, the entry it was placed from, and whose words it rests on."""
        told = self.needle.excerpt(words_of(fact))
        depth = 0
        if place and fact.path and fact.line:
            yield Step("page", f"{fact.path}:{fact.line}", told)
            depth += 1
        said = f"said by {fact.person}" if fact.person else ""
        decided = f"decided by {fact.decided_by}" if fact.decided_by else ""
        doubt = DOUBTFUL if DOUBTFUL in fact.tags else ""
        about = ", ".join(filter(None, (fact.status, fact.level, doubt, said, decided)))
        yield Step("fact", fact.id or "", f"{told} ({about})", depth)
        if fact.entry_id is not None:
            depth += 1
            yield from deepen([self._read_entry(fact.entry_id)[0]], depth)
        sources = self._parts.notebook.sources(fact, self._edits_of)
        yield from deepen(
            (self._step_of_source(each, fact.quote or "") for each in sources[:_SOURCES]), depth + 1
        )
        if fact.entry_id is not None and not sources:
            yield Step("trace", "", "no words were found for it: the distiller inferred it", depth + 1)
        if len(sources) > _SOURCES:
            more = f"and {len(sources) - _SOURCES} more: looseleaf history {fact.id}"
            yield Step("trace", "", more, depth + 1)

    def _edits_of(self, path: str, name: str = "") -> Iterator[Edit]:
        """Yield the edits of a page, newest first; or one of them, by its id."""
        self._parts.pages.absorb_to_read()
        return edits_saying(self._parts.context.store, path, name)

    def _step_of_source(self, source: FactSource, quote: str) -> Step:
        what = "edit" if "@" in source.source else "trace"
        if source.ts is None:
            return Step(what, source.source, "it is no longer in the log")
        told = self.needle.excerpt(source.text, quote)
        whose = f"{source.origin} ({source.person})" if source.person else source.origin
        return Step(what, source.source, f"{whose}, {format_time(source.ts)}: {told}")

    def _read_entry(self, name: str) -> tuple[Step, Entry | None]:
        try:
            entry = self._parts.conversation.entry(name)
        except NotFound:
            return Step("entry", name, "it is no longer in the log: `looseleaf check` says more"), None
        except Refused as refused:
            return Step("entry", name, str(refused)), None
        made = f"{entry.meta.get('distiller')}, {format_time(entry.meta.get('ts'))}"
        told = self.needle.excerpt(str(entry.summary.get("summary", "")))
        came = entry.meta.get("from")
        if isinstance(came, dict):
            way = " ".join(str(came[name]) for name in ("entry", "trace") if came.get(name))
            told += f" (said in {came.get('memory')}{f': {way}' if way else ''})"
        return Step("entry", entry.folder, f"{made}: {told}"), entry

    def entry(self, name: str) -> Iterator[Step]:
        """Follow an entry to its traces that have the words, or that it names for a sentence that has them."""
        step, entry = self._read_entry(name)
        yield step
        if entry is None:
            return
        try:
            traces = list(sources_of(self._parts.context.store, entry))
        except Refused as refused:
            yield Step("trace", "", str(refused), 1)
            return
        found = self.spoken(traces) or self.spoken(traces, self._find_noted(entry))
        yield from deepen(found or [Step("trace", "", f"looseleaf expand {name.rpartition('/')[2]}")])

    def compactions(self) -> Iterator[str]:
        """Yield the entries of the agent's compactions, newest first."""
        for line in self._parts.context.store.read_back(JOURNAL):
            record = line.record
            is_own = record.get("kind") == "mark" and record.get("agent") == self._parts.context.agent
            if is_own and record.get("entry"):
                yield str(record["entry"])

    def _find_noted(self, entry: Entry) -> set[str]:
        """Return the traces that an entry names for sentences that have the words."""
        noted = [each for name in NOTED for each in entry.summary.get(name) or () if isinstance(each, dict)]
        return {str(each.get("source")) for each in noted if self.needle.is_in(str(each.get("text", "")))}

    def spoken(self, traces: Iterable[Trace], named: Collection[str] | None = None) -> list[Step]:
        """Return a few traces that have the words, or those that are named."""
        has = (
            trace
            for trace in traces
            if (self.needle.is_in(trace_text(trace)) if named is None else trace.id in named)
        )
        return [self.trace(trace) for trace in islice(has, _SOURCES)]

    def trace(self, trace: Trace) -> Step:
        told = self.needle.excerpt(trace_text(trace))
        about = ", ".join(filter(None, (trace.origin, trace.person, trace.turn_id, format_time(trace.ts))))
        return Step("trace", trace.id, f"{about}: {told}")


def format_time(ts: object) -> str:
    from looseleaf.text.times import written

    return f"{written(float(ts))[:19]}Z" if isinstance(ts, int | float) else "at an unknown time"
