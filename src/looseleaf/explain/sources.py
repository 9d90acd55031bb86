"""Who wrote each line of a page, and the words that facts rest on.

Many facts are read at once: one pass through the logs finds the places of all their sources. From an edit, only the
line that says the fact is shown: one edit may have brought a page of a thousand others.
"""

from __future__ import annotations

from functools import cached_property

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.messages import Trace
from looseleaf.base.paths import page_path
from looseleaf.facts.page_lines import shard_of
from looseleaf.log.journal import AGENT, EXTERNAL, PERSON, PROGRAM, edit_of
from looseleaf.log.talk_streams import journals, talk_streams
from looseleaf.log.turns import trace_text
from looseleaf.pages.grammar import parse
from looseleaf.place.notebook import FactSource
from looseleaf.text.diff import diff, split_lines
from looseleaf.text.lines import body, is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, Protocol, TypeVar

    from looseleaf.base.values import Edit, Fact, Hunk, Level, Position, Record
    from looseleaf.facts.known_facts import Facts
    from looseleaf.pages.pages import Pages
    from looseleaf.place.notebook import Notebook
    from looseleaf.prompt.prompts import Prompts
    from looseleaf.store.context import Context
    from looseleaf.window.conversation import Conversation

    Brought = tuple[str, float, dict[tuple[str, str], str]]
    """An edit's author, time, and its lines by what each says."""

    T = TypeVar("T")

    class Needs(Protocol):
        """What explaining reads of an open memory."""

        context: Context

        def farther(self, read: Callable[[Any], T]) -> list[tuple[str, T]]: ...
        @property
        def conversation(self) -> Conversation: ...
        @property
        def known(self) -> Facts: ...
        @property
        def notebook(self) -> Notebook: ...
        @property
        def pages(self) -> Pages: ...
        @property
        def prompts(self) -> Prompts: ...


# --- the edit that wrote a line ---------------------------------------------------------


def find_edits(
    text: str, sha256: str | None, edits: Iterable[Edit], after: Callable[[Edit], str | None]
) -> list[Edit | None]:
    """Return the edit of each line of a page; None if unknown. Walks back from its text until every line has one:
    `edits` are the page's, newest first, read only as far as needed; `after` gives the page's text after an edit, or
    None if it is lost."""
    walk = _Walk(split_lines(text))
    expected = sha256
    whole: Edit | None = None
    waiting = _EditQueue(edits)
    for edit in waiting:
        if edit.new != expected or whole is not None:
            older = after(edit) if edit.new is not None else None
            if older is None:
                break
            walk.back(diff(older, "".join(walk.lines)), whole)
            whole = None
        undone = waiting.find(edit.undoes) if edit.undoes is not None else None
        if undone is not None and undone.base == edit.new:
            waiting.skip(undone)  # the page is what it was then, and so are its lines
            expected = edit.new
        elif edit.whole:
            whole, expected = edit, edit.base
        elif walk.fits(edit.hunks):
            walk.back(edit.hunks, edit)
            expected = edit.base
        else:
            break
        if not walk.left or expected is None:
            break
    walk.rest(whole)
    return walk.signed


class _Walk:
    """A version of the page, and where each of its lines stands now (None: gone since)."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        self.signed: list[Edit | None] = [None] * len(lines)
        self.left = len(lines)
        self._now: list[int | None] = list(range(len(lines)))

    def fits(self, hunks: Sequence[Hunk]) -> bool:
        """True if the version has lines where the hunks say they added some."""
        shift = end = 0
        for hunk in hunks:
            at = hunk.at + shift
            if not end <= at <= len(self.lines) - len(hunk.added):
                return False
            end = at + len(hunk.added)
            shift += len(hunk.added) - len(hunk.removed)
        return True

    def back(self, hunks: Sequence[Hunk], edit: Edit | None) -> None:
        """Go back before these hunks, and sign what they added."""
        added: dict[str, list[int | None]] = {}
        shift = 0
        for hunk in hunks:
            at = hunk.at + shift
            for line, now in zip(hunk.added, self._now[at : at + len(hunk.added)], strict=True):
                added.setdefault(body(line), []).append(now)
            shift += len(hunk.added) - len(hunk.removed)
        again = {line: iter(places) for line, places in added.items()}
        for hunk in hunks:
            end = hunk.at + len(hunk.added)
            self._now[hunk.at : end] = [next(again.get(body(line), _NOWHERE), None) for line in hunk.removed]
            self.lines[hunk.at : end] = [_decode_line(line, edit) for line in hunk.removed]
        for places in again.values():
            for now in places:
                if now is not None:
                    self.signed[now] = edit
                    self.left -= 1

    def rest(self, edit: Edit | None) -> None:
        """Sign the remaining lines."""
        for now in self._now:
            if now is not None:
                self.signed[now] = edit


_NOWHERE: Iterator[int | None] = iter(())


class _EditQueue:
    """Edits in order, with lookahead."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._edits = iter(edits)
        self._seen: list[Edit] = []
        self._places: dict[str, int] = {}
        self._at = 0

    def __iter__(self) -> Iterator[Edit]:
        while self._at < len(self._seen) or self._read_more():
            self._at += 1
            yield self._seen[self._at - 1]

    def _read_more(self) -> bool:
        edit = next(self._edits, None)
        if edit is not None:
            self._places[edit.id] = len(self._seen)
            self._seen.append(edit)
        return edit is not None

    def find(self, name: str) -> Edit | None:
        """Return an edit still to come."""
        while name not in self._places and self._read_more():
            pass
        at = self._places.get(name, -1)
        return self._seen[at] if at >= self._at else None

    def skip(self, edit: Edit) -> None:
        """Continue after this found edit."""
        self._at = self._places[edit.id] + 1


def _decode_line(line: str, edit: Edit | None) -> str:
    """Decode a line of a page that is not UTF-8: the journal stores a character per byte."""
    if edit is None or edit.encoding == "utf-8":
        return line
    return line.encode("latin-1", "replace").decode("utf-8", "replace")


# --- who wrote a page -------------------------------------------------------------------


@frozen
class Signed:
    """A line of a page, numbered from 1: its author, time, reason and edit (all None if the record is lost), and its
    level: the fact's, or else the author's. A blank line has none."""

    line: int
    text: str
    author: str | None
    ts: float | None
    edit: str | None
    level: Level | None
    reason: str | None
    person: str | None = None
    """Who said what a line says, or wrote it, where several people are told apart."""

    def to_dict(self) -> dict[str, Any]:
        told = members_of(self)
        return (
            told
            if self.person is not None
            else {name: each for name, each in told.items() if name != "person"}
        )


def who(parts: Needs, path: str) -> list[Signed]:
    """Return the lines of a page as it is now, each with its author."""
    path = page_path(path)
    page = parts.pages.page(path)
    if not page.exists:
        raise NotFound(f"There is no page {path}. `looseleaf log {path}` shows its edits.")

    def after(edit: Edit) -> str | None:
        try:
            data = parts.pages.history.after(edit, page.data)
        except Refused:
            return None
        return None if data is None else data.decode("utf-8", "replace")

    edits = find_edits(page.text, page.sha256, parts.pages.log(path), after)
    parts.known.catch_up()
    facts = parts.known.of(shard_of(path) or "")
    levels = {fact.line: fact.level for fact in facts if fact.path == path and fact.line is not None}
    persons = {fact.line: fact.person for fact in facts if fact.path == path and fact.line is not None}
    trusts = parts.context.policy.trust_external_edits
    found: list[Signed] = []
    for number, (line, edit) in enumerate(zip(split_lines(page.text), edits, strict=True), 1):
        level = None if is_blank(line) else levels.get(number) or _level_of(edit, path, trusts=trusts)
        if edit is None:
            found.append(Signed(number, body(line), None, None, None, level, None))
        else:
            is_own = edit.author == PERSON or edit.author.startswith(AGENT)
            person = persons.get(number) or (edit.person if is_own else None)
            found.append(
                Signed(number, body(line), edit.author, edit.ts, edit.id, level, edit.reason, person)
            )
    return found


def _level_of(edit: Edit | None, path: str, *, trusts: bool) -> Level:
    """Return the level of a line that is no fact. The program writes what the user said; an episode also what the
    assistant concluded."""
    author = edit.author if edit is not None else ""
    if author == PERSON or (author == EXTERNAL and trusts):
        return "confirmed"
    return "said" if author == PROGRAM and not path.startswith(("episodes/", "review/")) else "inferred"


# --- the words that a fact rests on -----------------------------------------------------

_RAW = "/raw.md#"


class SourcePlaces:
    """Where in the logs the sources of facts stand: one pass through each log, however many facts there are."""

    def __init__(self, context: Context, facts: Iterable[Fact]) -> None:
        self._context = context
        names = {name for fact in facts for name in fact.sources if _RAW not in name}
        self._edits = {name for name in names if "@" in name}
        self._traces = names - self._edits

    def edit(self, name: str) -> Edit | None:
        found = self._edit_places.get(name)
        return edit_of(self._read(*found)) if found is not None else None

    def trace(self, name: str) -> Trace | None:
        found = self._trace_places.get(name)
        return Trace.from_record(self._read(*found)) if found is not None else None

    def _read(self, stream: str, place: Position) -> Record:
        line = next(self._context.store.read(stream, place), None)
        return line.record if line is not None and line.position == place else {}

    @cached_property
    def _edit_places(self) -> dict[str, tuple[str, Position]]:
        found: dict[str, tuple[str, Position]] = {}
        store = self._context.store
        for stream in journals(store) if self._edits else ():
            for line in store.read(stream):
                name = f"{line.record.get('path')}@{line.record.get('id')}"
                if name in self._edits:
                    found[name] = stream, line.position
        return found

    @cached_property
    def _trace_places(self) -> dict[str, tuple[str, Position]]:
        found: dict[str, tuple[str, Position]] = {}
        store = self._context.store
        for stream in talk_streams(store, self._context.agent) if self._traces else ():
            for line in store.read(stream):
                name = line.record.get("id")
                if name in self._traces and found.get(name, (stream,))[0] == stream:
                    found[name] = stream, line.position
        return found


class FactWords:
    """The words behind the facts of one topic."""

    def __init__(self, parts: Needs, places: SourcePlaces) -> None:
        self._parts = parts
        self._places = places
        self._brought: dict[str, Brought | None] = {}

    def of(self, fact: Fact) -> list[FactSource]:
        return [self._source_of(fact, name) for name in fact.sources]

    def _source_of(self, fact: Fact, name: str) -> FactSource:
        if _RAW in name:
            return self._parts.notebook.sources(fact.but(sources=(name,)))[0]
        if "@" not in name:
            trace = self._places.trace(name)
            return (
                FactSource(name, trace.origin, trace.ts, trace_text(trace), trace.person or "")
                if trace is not None
                else FactSource(name, "", None, "")
            )
        if name not in self._brought:
            self._brought[name] = self._read_edit(name)
        author, ts, lines = self._brought[name] or ("", None, {})
        return FactSource(name, author, ts, lines.get((fact.relation, fact.object), ""))

    def _read_edit(self, name: str) -> Brought | None:
        edit = self._places.edit(name)
        if edit is None:
            return None
        lines = [line for hunk in edit.hunks for line in hunk.added]
        facts = parse(edit.path, "".join(lines)).facts
        says = {(fact.relation, fact.object): lines[(fact.line or 1) - 1].strip() for fact in facts}
        return edit.author, edit.ts, says
