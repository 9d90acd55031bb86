"""Sheets and shards. A sheet: the lines of a page, and the fact on each of them, followed through all edits. A shard:
the sheets and the facts of one topic.

A line keeps its fact for as long as it stays a line of the page, and no fact stands on two lines. The cost of reading
an edit depends on its length, unless the page has headings of kinds, fences or comments: their reach needs the whole
page.
"""

from __future__ import annotations

import re
from itertools import count

from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.origins import is_at_least
from looseleaf.base.paths import PINNED, TICKED
from looseleaf.base.values import START, Fact, Position
from looseleaf.log.journal import AGENT, EXTERNAL, PERSON, PROGRAM, summary_author
from looseleaf.pages.grammar import drawer, parse, topic_of
from looseleaf.text.lines import body, is_blank, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from looseleaf.base.values import Edit, Ended, Kind, Record


TAKEN = "-"
PUT = "+"

_SOURCES = 20
"""The number of sources kept for a fact: the first, and the latest."""

_SECONDS = 120.0
_MOST = 20_000
"""The most lines remembered: one person never moved more within two minutes."""


class Moves:
    def __init__(self) -> None:
        self._all: dict[int, list[Any]] = {}
        """[ts, way, relation, object, topic, id], oldest first."""
        self._by_line: dict[tuple[str, str, str], list[int]] = {}
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._all)

    def to_list(self) -> list[list[Any]]:
        return list(self._all.values())

    def extend(self, moves: list[list[Any]]) -> None:
        for move, number in zip(moves, self._numbers, strict=False):
            self._all[number] = move
            self._by_line.setdefault(tuple(move[1:4]), []).append(number)

    def _drop(self, number: int) -> list[Any]:
        move = self._all.pop(number)
        line = tuple(move[1:4])
        self._by_line[line].remove(number)
        if not self._by_line[line]:
            del self._by_line[line]
        return move

    def forget(self, ts: float) -> None:
        """Forget moves that are too old at this time."""
        while self._all:
            oldest = next(iter(self._all))
            if len(self._all) <= _MOST and self._all[oldest][0] >= ts - _SECONDS:
                break
            self._drop(oldest)

    def remember(self, way: str, ts: float, fact: Fact) -> None:
        self.extend([[ts, way, fact.relation, fact.object, fact.topic, fact.id]])

    def find(self, way: str, ts: float, fact: Fact) -> tuple[str, str] | None:
        """Return the topic and id of the same line that moved this way shortly before, and forget the move."""
        for number in self._by_line.get((way, fact.relation, fact.object), ()):
            if abs(self._all[number][0] - ts) <= _SECONDS:
                move = self._drop(number)
                return move[4], move[5]
        return None


class RemovedFacts:
    """The facts whose lines an edit removed, until each is accounted for."""

    def __init__(self, shard: Shard, gone: Iterable[str]) -> None:
        from looseleaf.language.relations import relation_of

        self._facts = {name: shard.facts[name] for name in gone if name in shard.facts}
        self._by_line: dict[tuple[str, str], list[str]] = {}
        self._by_label: dict[str, list[str]] = {}
        for name, fact in reversed(self._facts.items()):
            self._by_line.setdefault((fact.relation, fact.object), []).append(name)
            self._by_label.setdefault(relation_of(fact.relation).label, []).append(name)

    def drop(self, name: str | None) -> None:
        self._facts.pop(name or "", None)

    def take_moved(self, read: Fact) -> Fact | None:
        """Take the fact with the same text."""
        return self._take_first(self._by_line.get((read.relation, read.object), []))

    def take_replaced(self, read: Fact) -> Fact | None:
        """Take the fact that this one replaces: of the same relation and, if it has many values, the only one."""
        from looseleaf.language.relations import relation_of

        relation = relation_of(read.relation)
        if relation.many and len(self._facts) != 1:
            return None
        return self._take_first(self._by_label.get(relation.label, []), only="current")

    def _take_first(self, names: list[str], only: str | None = None) -> Fact | None:
        while names:
            name = names.pop()
            if name in self._facts and only in (None, self._facts[name].status):
                return self._facts.pop(name)
        return None

    def rest(self) -> list[str]:
        return list(self._facts)


# --- lines of one fact on two pages of its topic -----------------------------------------


class MovedLines:
    """The places of a shard's facts, looked up once per edit: no line moves meanwhile. `ended`: facts that it ends."""

    def __init__(self, shard: Shard, ended: Iterable[Ended]) -> None:
        self._shard = shard
        self._at: dict[str, tuple[Sheet, int]] | None = None
        self._replaced: dict[str | None, list[str]] = {}
        for name, _, by in ended:
            self._replaced.setdefault(by, []).append(name)

    def replaced_by(self, name: str) -> list[str]:
        """Return the facts that the edit says this one replaces."""
        return self._replaced.get(name, [])

    def hand_over(self, name: str, other: str) -> str:
        """Give the line of one fact to another one. Return its page."""
        if self._at is None:
            sheets = self._shard.sheets.values()
            self._at = {each: (sheet, at) for sheet in sheets for at, each in enumerate(sheet.ids) if each}
        sheet, at = self._at[other] = self._at.pop(name)
        sheet.ids[at] = other
        self._shard.standing.discard(name)
        self._shard.standing.add(other)
        return sheet.path


def drop_fact(shard: Shard, name: str) -> None:
    """Remove a fact without a trace."""
    fact = shard.facts.pop(name)
    shard.current -= fact.status == "current"
    shard._like[fact.relation, fact.object].discard(name)


def keep_latest(sources: tuple[str, ...]) -> tuple[str, ...]:
    return sources if len(sources) <= _SOURCES else (sources[0], *sources[-_SOURCES + 1 :])


def is_same_fact(fact: Fact, other: Fact) -> bool:
    from looseleaf.language.relations import slot
    from looseleaf.language.value_keys import key

    return slot(fact.topic, fact.relation) == slot(other.topic, other.relation) and (
        key(fact.object, fact.relation) == key(other.object, other.relation)
    )


def merge(fact: Fact, like: Fact) -> Fact:
    """Merge two facts that say the same, on the line of the second: the result has the sources of both."""
    better = fact if is_at_least(fact.level, like.level or "tainted") else like
    return fact.but(
        relation=like.relation,
        object=like.object,
        sources=keep_latest(tuple(dict.fromkeys((*fact.sources, *like.sources)))),
        tags=tuple(dict.fromkeys((*fact.tags, *(tag for tag in like.tags if tag == PINNED)))),
        level=better.level,
        confidence=better.confidence,
        user_fact_score=fact.user_fact_score if fact.user_fact_score is not None else like.user_fact_score,
    )


_REACHES = lazy(r"^\ufeff?(?:#{2,6}[ \t]|---\s*$)|```|~~~|<!--|-->", re.MULTILINE)
"""Marks that decide how other lines are read."""

_EVIDENCE = lazy(r"[ \t]*(f_[0-9a-f]{12})\b")
"""The line under a proposal in review, which begins with the fact's id: content cannot begin a line."""

_ASKED = 1000
"""The number of proposals whose topic is known if their line comes back to a page of review."""


def shard_of(path: str) -> str | None:
    """Return the shard that holds a page's lines; None for pages without facts."""
    where = drawer(path)
    return topic_of(path) if where == "facts" else path.removesuffix(".md") if where == "review" else None


@frozen
class LineChange:
    """The effect of an edit on the facts of a page.

    `added`: lines (from 0) with a fact that has no id yet, and whether the edit wrote the line; if not, the edit only
    uncovered it (a fence was closed before it). `gone`: the ids of lines that are no longer facts. `kinds`: facts that
    stayed, under a heading that names a kind.
    """

    added: list[tuple[int, Fact, bool]]
    gone: list[str]
    kinds: list[tuple[str, Kind]]


class Sheet:
    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: list[str] = []
        self.ids: list[str | None] = []
        self.people: set[str] = set()
        """The lines, without their ends, that a person wrote and that still stand."""
        self.sha256: str | None = None
        self.summary_by: str | None = None
        """The author of the current summary; `program` also if it came with a person's yes."""
        self._is_plain: bool | None = None

    def to_list(self) -> list[Any]:
        return [self.path, self.sha256, self.summary_by, self.lines, self.ids, sorted(self.people)]

    @classmethod
    def from_list(cls, raw: list[Any]) -> Sheet:
        path, sheet_sha256, summary_by, lines, ids, people = raw
        sheet = cls(str(path))
        sheet.sha256, sheet.summary_by = sheet_sha256, summary_by
        sheet.lines, sheet.ids = [str(line) for line in lines], list(ids)
        sheet.people = {str(line) for line in people}
        if len(sheet.lines) != len(sheet.ids):
            raise ValueError("a sheet has an id, or none, for each line")
        return sheet

    @property
    def is_summary_by_rule(self) -> bool:
        return self.summary_by == PROGRAM

    @property
    def is_summary_free(self) -> bool:
        """True if the program may rewrite the summary: its own, or an agent's, which index lines never show."""
        return self.is_summary_by_rule or (self.summary_by or "").startswith(AGENT)

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def fits(self, edit: Edit) -> bool:
        """Return True if the edit starts from these lines and leaves whole lines."""
        if not edit.whole and edit.base != self.sha256:
            return False
        lines = [] if edit.whole else self.lines
        done = 0
        for hunk in edit.hunks:
            try:
                removed = [_decode_line(line, edit.encoding) for line in hunk.removed]
                added = [_decode_line(line, edit.encoding) for line in hunk.added]
            except UnicodeEncodeError:
                return False
            stop = hunk.at + len(removed)
            is_end = stop == len(lines) and hunk is edit.hunks[-1]
            if not done <= hunk.at <= len(lines) or lines[hunk.at : stop] != removed:
                return False
            if not _are_lines(added, is_end=is_end):
                return False
            done = stop
        return True

    def take(self, edit: Edit) -> LineChange:
        """Take an edit that `fits`."""
        gone: list[str] = []
        left: set[str] = set()
        if edit.whole or edit.new is None:
            gone = [each for each in self.ids if each is not None]
            left.update(map(body, self.lines))
            self.lines, self.ids = [], []
        self.sha256 = edit.new
        if edit.new is None:
            self.summary_by = None
            self.people.clear()
            return LineChange([], gone, [])
        fresh: list[int] = []
        shift = 0
        for hunk in edit.hunks:
            at = hunk.at + shift
            stop = at + len(hunk.removed)
            gone += [each for each in self.ids[at:stop] if each is not None]
            left.update(map(body, self.lines[at:stop]))
            added = [_decode_line(line, edit.encoding) for line in hunk.added]
            self.lines[at:stop] = added
            self.ids[at:stop] = [None] * len(added)
            fresh += range(at, at + len(added))
            shift += len(added) - len(hunk.removed)
        if edit.author in (PERSON, EXTERNAL):
            self.people.update(body(self.lines[at]) for at in fresh if not is_blank(self.lines[at]))
        if not left.isdisjoint(self.people):  # the same may stand on another line
            self.people -= left.difference(map(body, self.lines))
        if any(self.lines[at].startswith((">", "\ufeff>")) for at in fresh):
            self.summary_by = summary_author(edit)
        return self._read_facts(edit, fresh, gone)

    def _read_facts(self, edit: Edit, fresh: list[int], gone: list[str]) -> LineChange:
        # A last line may have no end; what is joined to it must still begin a line.
        changed = "\n".join(line for hunk in edit.hunks for line in (*hunk.removed, *hunk.added))
        reaches = _REACHES.search(changed) is not None
        if reaches or not self._is_plain:
            self._is_plain = _REACHES.search(self.text) is None
        if self._is_plain and not reaches:
            found = parse(self.path, "".join(self.lines[at] for at in fresh))
            return LineChange([(fresh[(fact.line or 1) - 1], fact, True) for fact in found.facts], gone, [])
        facts = {(fact.line or 1) - 1: fact for fact in parse(self.path, self.text).facts}
        written = set(fresh)
        added: list[tuple[int, Fact, bool]] = []
        kinds: list[tuple[str, Kind]] = []
        for at, known in enumerate(self.ids):
            read = facts.get(at)
            if known is not None and read is None:
                gone.append(known)  # it now stands in a fence, or under a mark that makes it no fact
                self.ids[at] = None
            elif known is None and read is not None:
                added.append((at, read, at in written))
            elif known is not None and read is not None and read.kind is not None:
                kinds.append((known, read.kind))
        return LineChange(added, gone, kinds)

    def pending(self) -> dict[str, tuple[int, Fact]]:
        """Return the facts that wait on a page of review, by the id below them. Of copies, prefer a ticked one."""
        found: dict[str, tuple[int, Fact]] = {}
        for at, fact, name in self._review_items():
            is_better = name not in found or (TICKED in fact.tags and TICKED not in found[name][1].tags)
            if name is not None and is_better:
                found[name] = at, fact
        return found

    def nameless(self) -> set[tuple[str, str]]:
        """Return the facts on a page of review without such a line: they mean nothing, nor does their removal."""
        return {(fact.relation, fact.object) for _, fact, name in self._review_items() if name is None}

    def _review_items(self) -> Iterable[tuple[int, Fact, str | None]]:
        if drawer(self.path) == "review":
            for fact in parse(self.path, self.text).facts:
                at = fact.line or 1
                named = _EVIDENCE.match(self.lines[at]) if at < len(self.lines) else None
                yield at - 1, fact, named[1] if named else None


def _decode_line(line: str, encoding: str) -> str:
    """Decode a line: a page that is not UTF-8 is journaled with one character per byte."""
    return line if encoding == "utf-8" else line.encode("latin-1").decode("utf-8", "replace")


def _are_lines(lines: list[str], *, is_end: bool) -> bool:
    """Return True if each is one line; only the last of a page may lack its end."""
    last = len(lines) - 1
    return all(
        line.find("\n") == len(line) - 1 if at < last or not is_end else "\n" not in line[:-1]
        for at, line in enumerate(lines)
    )


class Shard:
    """All facts of one topic; or, under `review/<name>`, the lines of a page of review."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.facts: dict[str, Fact] = {}
        self.sheets: dict[str, Sheet] = {}
        self.entries: dict[str, float] = {}
        self.asked: dict[str, str] = {}
        """On a page of review: the topics of recent proposals."""
        self.standing: set[str] = set()
        """The facts that have a line."""
        self.position = START
        """The end of the last record that changed it."""
        self.current = 0
        """The number of current facts."""
        self._like: dict[tuple[str, str], set[str]] = {}

    def to_record(self) -> Record:
        return {
            "schema": "facts.v1",
            "name": self.name,
            "position": list(self.position),
            "facts": [self.facts[each].to_dict() for each in sorted(self.facts)],
            "sheets": [self.sheets[path].to_list() for path in sorted(self.sheets)],
            "entries": sorted([name, ts] for name, ts in self.entries.items()),
            "asked": [[name, topic] for name, topic in self.asked.items()],
        }

    @classmethod
    def from_record(cls, raw: Record) -> Shard:
        """Raise LookupError, TypeError or ValueError if the record is invalid."""
        shard = cls(str(raw["name"]))
        shard.position = Position(*map(int, raw["position"]))
        for each in raw["facts"]:
            each |= {name: tuple(map(str, each.get(name, ()))) for name in ("tags", "sources")}
            shard.put(Fact(**each))
        for sheet in map(Sheet.from_list, raw["sheets"]):
            shard.sheets[sheet.path] = sheet
            shard.standing.update(each for each in sheet.ids if each is not None)
        shard.entries = {str(name): float(ts) for name, ts in raw["entries"]}
        shard.asked = {str(name): str(topic) for name, topic in raw["asked"]}
        return shard

    def put(self, fact: Fact) -> None:
        name = fact.id or ""
        old = self.facts.get(name)
        if old is not None:
            self.current -= old.status == "current"
            self._like[old.relation, old.object].discard(name)
        self.current += fact.status == "current"
        self.facts[name] = fact
        self._like.setdefault((fact.relation, fact.object), set()).add(name)

    def like(self, read: Fact) -> list[Fact]:
        """Return the facts with the same text, word for word."""
        return [self.facts[name] for name in sorted(self._like.get((read.relation, read.object), ()))]

    def ask(self, name: str, topic: str) -> None:
        self.asked.pop(name, None)
        self.asked[name] = topic
        while len(self.asked) > _ASKED:
            del self.asked[next(iter(self.asked))]

    def placed(self) -> list[Fact]:
        """Return every fact, with its line."""
        lines = {
            found: (path, at + 1)
            for path, sheet in sorted(self.sheets.items())
            for at, found in enumerate(sheet.ids)
            if found is not None
        }
        found: list[Fact] = []
        for name, fact in sorted(self.facts.items()):
            path, line = lines.get(name, (fact.path, None))
            found.append(fact if (fact.path, fact.line) == (path, line) else _put_at(fact, path, line))
        return found


def _put_at(fact: Fact, path: str | None, line: int | None) -> Fact:
    """Return a fact with its line: as `but` does, quicker, for there are many."""
    members = members_of(fact)
    members["path"], members["line"] = path, line
    return Fact(*members.values())
