"""The words that facts rest on, for many facts at once: traces of an entry and edits of a page are read once.

Of an edit, only the line that says the fact is told: one edit may have brought a page of a thousand others.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import page_path
from looseleaf.distill.material import sources_of
from looseleaf.facts.page_lines import shard_of
from looseleaf.log.entries import read_entry
from looseleaf.log.journal import EXTERNAL, PERSON, PROGRAM
from looseleaf.log.trace_messages import said
from looseleaf.pages.grammar import parse
from looseleaf.place.notebook import Source
from looseleaf.text.diff import diff, split_lines
from looseleaf.text.lines import body, is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Edit, Fact, Hunk, Level
    from looseleaf.explain.needs import Needs


# Who wrote which line: the edits of a page walked back from its text now, until every line has its edit.


def sign(
    text: str, sha256: str | None, edits: Iterable[Edit], after: Callable[[Edit], str | None]
) -> list[Edit | None]:
    """The edit of each line of a page; None: it is not known. `edits` are the page's, newest first, and no more of
    them are read than are needed; `after` gives the text of the page after an edit, or None if nobody has it."""
    walk = _Walk(split_lines(text))
    expected = sha256
    whole: Edit | None = None
    waiting = _Ahead(edits)
    for edit in waiting:
        if edit.new != expected or whole is not None:
            older = after(edit) if edit.new is not None else None
            if older is None:
                break
            walk.back(diff(older, "".join(walk.lines)), whole)
            whole = None
        undone = waiting.find(edit.undoes) if edit.undoes is not None else None
        if undone is not None and undone.base == edit.new:
            waiting.skip(undone)  # the page is again what it was then, and so are its lines
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
    """A version of the page, and where each of its lines stands now (None: it is gone since)."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        self.signed: list[Edit | None] = [None] * len(lines)
        self.left = len(lines)
        self._now: list[int | None] = list(range(len(lines)))

    def fits(self, hunks: Sequence[Hunk]) -> bool:
        """Whether the version has lines where the hunks say that they put some."""
        shift = end = 0
        for hunk in hunks:
            at = hunk.at + shift
            if not end <= at <= len(self.lines) - len(hunk.added):
                return False
            end = at + len(hunk.added)
            shift += len(hunk.added) - len(hunk.removed)
        return True

    def back(self, hunks: Sequence[Hunk], edit: Edit | None) -> None:
        """To the version before these hunks; what they added is signed."""
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
            self.lines[hunk.at : end] = [_text(line, edit) for line in hunk.removed]
        for places in again.values():
            for now in places:
                if now is not None:
                    self.signed[now] = edit
                    self.left -= 1

    def rest(self, edit: Edit | None) -> None:
        """Sign what is left."""
        for now in self._now:
            if now is not None:
                self.signed[now] = edit


_NOWHERE: Iterator[int | None] = iter(())


class _Ahead:
    """Edits one after the other, with a look at those that follow."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._edits = iter(edits)
        self._seen: list[Edit] = []
        self._places: dict[str, int] = {}
        self._at = 0

    def __iter__(self) -> Iterator[Edit]:
        while self._at < len(self._seen) or self._more():
            self._at += 1
            yield self._seen[self._at - 1]

    def _more(self) -> bool:
        edit = next(self._edits, None)
        if edit is not None:
            self._places[edit.id] = len(self._seen)
            self._seen.append(edit)
        return edit is not None

    def find(self, name: str) -> Edit | None:
        """One that is to come."""
        while name not in self._places and self._more():
            pass
        at = self._places.get(name, -1)
        return self._seen[at] if at >= self._at else None

    def skip(self, edit: Edit) -> None:
        """To behind this one, which was found."""
        self._at = self._places[edit.id] + 1


def _text(line: str, edit: Edit | None) -> str:
    """A page that is no UTF-8 is journaled a character for each byte; readers see it decoded."""
    if edit is None or edit.encoding == "utf-8":
        return line
    return line.encode("latin-1", "replace").decode("utf-8", "replace")


# Who wrote which line of a page, and how far each may be believed.


@frozen
class Signed:
    """A line of a page, from 1: who wrote it, when and why, by which edit (all None where its record is lost), and its
    level: that of the fact which it is, or else what its author is worth. A line that says nothing has none."""

    line: int
    text: str
    author: str | None
    ts: float | None
    edit: str | None
    level: Level | None
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).__match_args__}


def who(parts: Needs, path: str) -> list[Signed]:
    """The lines of a page as it is now, each with its author."""
    path = page_path(path)
    page = parts.pages.page(path)
    if not page.exists:
        raise Refused(f"Nothing was shown: there is no page {path}. `looseleaf log {path}` shows its edits.")

    def after(edit: Edit) -> str | None:
        try:
            data = parts.pages.history.after(edit, page.data)
        except Refused:
            return None
        return None if data is None else data.decode("utf-8", "replace")

    edits = sign(page.text, page.sha256, parts.pages.log(path), after)
    parts.known.catch_up()
    facts = parts.known.of(shard_of(path) or "")
    levels = {fact.line: fact.level for fact in facts if fact.path == path and fact.line is not None}
    trusts = parts.context.policy.trust_external_edits
    found: list[Signed] = []
    for number, (line, edit) in enumerate(zip(split_lines(page.text), edits, strict=True), 1):
        level = None if is_blank(line) else levels.get(number) or _level(edit, path, trusts=trusts)
        author, ts, name, why = (
            (edit.author, edit.ts, edit.id, edit.reason) if edit is not None else (None, None, None, None)
        )
        found.append(Signed(number, body(line), author, ts, name, level, why))
    return found


def _level(edit: Edit | None, path: str, *, trusts: bool) -> Level:
    """Of a line that is no fact. What the program writes down of talk, it has of the user's words; an episode also of
    what the assistant concluded."""
    author = edit.author if edit is not None else ""
    if author == PERSON or (author == EXTERNAL and trusts):
        return "confirmed"
    return "said" if author == PROGRAM and not path.startswith(("episodes/", "review/")) else "inferred"


if TYPE_CHECKING:
    Brought = tuple[str, float, dict[tuple[str, str], str]]
    """Who made an edit, when, and its lines by what each says."""


_ENTRIES = 32
"""Entries whose traces are held: facts that stand together were mostly distilled together."""


class Words:
    """For facts of one topic."""

    def __init__(self, parts: Needs, facts: Sequence[Fact]) -> None:
        self._parts = parts
        self._edits = self._edits_of({name for fact in facts for name in fact.sources if "@" in name})
        self._said: dict[str, dict[str, Trace]] = {}

    def of(self, fact: Fact) -> list[Source]:
        traces = self._traces(fact.entry_id) if fact.entry_id is not None else {}
        return [self._source(fact, name, traces) for name in fact.sources]

    def _source(self, fact: Fact, name: str, traces: dict[str, Trace]) -> Source:
        if name in traces:
            return Source(name, traces[name].origin, traces[name].ts, said(traces[name]))
        edit = self._edits.get(name)
        if edit is None:  # said by somebody else, or at another time, than what the entry was made of
            return self._parts.notebook.sources(fact.but(sources=(name,), entry_id=None))[0]
        author, ts, lines = edit
        return Source(name, author, ts, lines.get((fact.relation, fact.object), ""))

    def _traces(self, entry: str) -> dict[str, Trace]:
        found = self._said.pop(entry, None)
        if found is None:
            try:
                read = sources_of(self._parts.context.store, read_entry(self._parts.context.store, entry))
                found = {trace.id: trace for trace in read}
            except Refused as refused:
                self._parts.context.note(str(refused))
                found = {}
            if len(self._said) >= _ENTRIES:  # what was not asked for longest goes
                del self._said[next(iter(self._said))]
        self._said[entry] = found
        return found

    def _edits_of(self, names: set[str]) -> dict[str, Brought]:
        found: dict[str, Brought] = {}
        for page in sorted({name.partition("@")[0] for name in names}):
            wanted = {name for name in names if name.startswith(f"{page}@")}
            for edit in self._parts.pages.log(page):
                name = f"{page}@{edit.id}"
                if name in wanted:
                    found[name] = edit.author, edit.ts, _said_by(edit)
                    wanted.remove(name)
                    if not wanted:
                        break
        return found


def _said_by(edit: Edit) -> dict[tuple[str, str], str]:
    """The lines that an edit brought, by what each says."""
    lines = [line for hunk in edit.hunks for line in hunk.added]
    facts = parse(edit.path, "".join(lines)).facts
    return {(fact.relation, fact.object): lines[(fact.line or 1) - 1].strip() for fact in facts}
