"""The ledger: the facts of each topic, read off the pages and joined with what the journal knows of them.

It is a fold over the journal: the same records give the same ledger, and it may be forgotten at any time. A fact is a
line of a page for as long as that line stands; what is known beyond the line (quote, sources, level, times) came with
the edit that wrote it. A line without such words is its author's own: a person's is confirmed, an agent's inferred.
"""

from __future__ import annotations

from looseleaf.core.diff import split_lines
from looseleaf.core.gate import CONFIDENCE, is_at_least
from looseleaf.core.grammar import drawer, topic_of
from looseleaf.core.heads import EXTERNAL, PERSON, UNKNOWN
from looseleaf.core.identity import key, relation_of
from looseleaf.core.journal import edit_of
from looseleaf.core.sheet import Sheet
from looseleaf.core.times import written
from looseleaf.hashing import sha256
from looseleaf.values import START, Edit, Fact, Hunk, Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looseleaf.values import Level, Record, Status

HIGHEST = 10
"""The highest score that a person gives a fact."""

TICKED = "ticked"
PINNED = "pinned"
APPROVED = "approved"
"""Tags: ticked in review, not to be forgotten, and from review by a person's yes."""

_SOURCES = 20
"""Sources of one fact that are kept: the first, and the latest."""

_RECENT = 256
_RECENT_SECONDS = 120.0
"""Lines that somebody took off one page and put on another are known again for so long: a page that is moved does not
make its lines anybody else's."""

_SET = frozenset({"user_fact_score", "tags", "level", "confidence", "status", "valid_to"})
"""What a record of the kind `fact` may change."""


def fact_id(*parts: str) -> str:
    """Short enough to type, long enough that a million facts do not meet."""
    return f"f_{sha256(chr(10).join(parts).encode('utf-8', 'backslashreplace'))[:12]}"


class Shard:
    """All that is known of one topic; or, under `review/<name>`, the lines of a page of review."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.facts: dict[str, Fact] = {}
        self.sheets: dict[str, Sheet] = {}
        self.entries: dict[str, float] = {}
        self.position = START
        """Behind the last record that changed it. What stands before that has been taken into it."""

    def to_record(self) -> Record:
        return {
            "schema": "facts.v1",
            "name": self.name,
            "position": list(self.position),
            "facts": [self.facts[each].to_dict() for each in sorted(self.facts)],
            "sheets": [self.sheets[path].to_list() for path in sorted(self.sheets)],
            "entries": sorted([name, ts] for name, ts in self.entries.items()),
        }

    @classmethod
    def from_record(cls, raw: Record) -> Shard:
        """KeyError, TypeError or ValueError for what is none."""
        shard = cls(str(raw["name"]))
        shard.position = Position(*map(int, raw["position"]))
        facts = [Fact.from_dict(each) for each in raw["facts"]]
        shard.facts = {fact.id: fact for fact in facts if fact.id is not None}
        sheets = [Sheet.from_list(each) for each in raw["sheets"]]
        shard.sheets = {sheet.path: sheet for sheet in sheets}
        shard.entries = {str(name): float(ts) for name, ts in raw["entries"]}
        return shard

    def placed(self) -> list[Fact]:
        """Every fact, with the line on which it stands."""
        lines = {
            found: (path, at + 1)
            for path, sheet in sorted(self.sheets.items(), reverse=True)
            for at, found in enumerate(sheet.ids)
            if found is not None
        }
        return [
            fact.but(path=lines[name][0], line=lines[name][1]) if name in lines else fact.but(line=None)
            for name, fact in sorted(self.facts.items())
        ]


def shard_of(path: str) -> str | None:
    """The shard that keeps a page's lines; None for pages without facts."""
    where = drawer(path)
    return topic_of(path) if where == "facts" else path.removesuffix(".md") if where == "review" else None


class Ledger:
    """`shard` gives the shard of a name, made if there is none. `trusts`: edits found on disk are a person's."""

    def __init__(self, shard: Callable[[str], Shard], *, trusts: bool = True) -> None:
        self._shard = shard
        self._trusts = trusts
        self.moved: list[list[Any]] = []
        """Lately taken from a page by hand (`-`), or put on one (`+`): [ts, way, relation and key, topic, id]."""
        self.touched: set[str] = set()
        """The shards that were changed since this was last emptied."""
        self.torn: dict[str, list[Edit]] = {}
        """Pages of which a record is missing, with their edits since."""
        self.waiting: dict[str, str] = {}
        """The topics of the facts that wait in review."""

    def take(self, record: Record, position: Position) -> None:
        """One record of the journal that happened."""
        match record.get("kind"):
            case "edit":
                edit = edit_of(record)
                name = shard_of(edit.path) if edit is not None else None
                if edit is not None and name is not None and self._shard(name).position <= position:
                    if self._follows(name, edit):
                        self._edit(name, edit, position)
                    else:
                        self.touched.add(name)
            case "fact":
                self._set(record, position)
            case "placed":
                self._placed(record, position)

    # --- what stands on pages -----------------------------------------------------------

    def _follows(self, name: str, edit: Edit) -> bool:
        """Whether the edit starts from the lines that are known. If a record is missing before it, the page is read
        anew when all others have been taken (`mend`)."""
        sheet = self._shard(name).sheets.get(edit.path)
        if edit.path not in self.torn and (edit.whole or edit.base == (sheet.sha256 if sheet else None)):
            return True
        self.torn.setdefault(edit.path, []).append(edit)
        return False

    def mend(self, path: str, text: str | None, position: Position) -> None:
        """Read a page anew whose edits do not follow each other. What is new on it may be anybody's."""
        edits = self.torn.pop(path)
        last = edits[-1]
        told = tuple(each for edit in edits for each in edit.facts)
        lines = tuple(split_lines(text or ""))
        new = last.new if text is not None else None
        whole = Edit(
            last.id, last.ts, path, UNKNOWN, "", None, new, (Hunk(0, (), lines),), whole=True, facts=told
        )
        self._edit(shard_of(path) or "", whole, position)

    def _edit(self, name: str, edit: Edit, position: Position) -> None:
        shard = self._shard(name)
        self.touched.add(shard.name)
        sheet = shard.sheets.setdefault(edit.path, Sheet(edit.path))
        if name == topic_of(edit.path):
            added, gone = sheet.take(edit)
            self._lines(shard, sheet, edit, added, gone)
        else:
            before = sheet.pending()
            sheet.take(edit)
            self._review(sheet, edit, position, before)
        if edit.new is None:
            del shard.sheets[edit.path]

    def _lines(
        self, shard: Shard, sheet: Sheet, edit: Edit, added: list[tuple[int, Fact]], gone: list[str]
    ) -> None:
        known = [dict(each) for each in edit.facts]
        ended = {name: (when, by) for name, when, by in edit.ended}
        for at, read in added:
            fact = self._recognised(shard, edit, read, known, gone) or self._own(shard, edit, read, gone)
            fact = fact.but(
                topic=shard.name,
                subject=fact.subject or shard.name,
                relation=read.relation,
                object=read.object,
                kind=read.kind or fact.kind or relation_of(read.relation).kind,
                line=None,
                path=edit.path,
            )
            if fact.id in gone:
                gone.remove(fact.id)
            shard.facts[fact.id or ""] = fact
            sheet.ids[at] = fact.id
        for each in gone:
            if each not in ended:
                self._gone(shard, edit, each)
        for each, (when, by) in ended.items():
            if each in shard.facts and shard.facts[each].status == "current":
                self._end(shard, each, when, "superseded", by)

    def _recognised(
        self, shard: Shard, edit: Edit, read: Fact, known: list[Record], gone: list[str]
    ) -> Fact | None:
        """A line that the edit itself says more of, that was moved or brought back, or that came from another page."""
        told = next(
            (
                each
                for each in known
                if (each.get("relation"), each.get("object")) == (read.relation, read.object)
            ),
            None,
        )
        if told is not None:
            known.remove(told)
            return self._told(shard, edit, told)
        same = [
            fact
            for fact in shard.facts.values()
            if (fact.relation, fact.object) == (read.relation, read.object) and fact.status != "pending"
        ]
        moved = next((fact for fact in same if fact.id in gone), None)
        if moved is not None:
            return moved
        if edit.undoes is not None:
            back = max(
                (fact for fact in same if fact.valid_to), key=lambda fact: fact.valid_to or "", default=None
            )
            if back is not None:
                return back.but(status="current", valid_to=None, superseded_by=None)
        return self._carried(shard, edit, read) if edit.author == EXTERNAL else None

    def _told(self, shard: Shard, edit: Edit, told: Record) -> Fact:
        before = shard.facts.get(str(told.get("id")))
        given = {"topic": shard.name, "subject": shard.name, "relation": "", "object": ""} | told
        fact = Fact.from_dict(given)
        if before is not None:  # it waited in review, or stood on another page
            fact = before.but(**{name: given[name] for name in told if name in Fact.__match_args__})
            fact = fact.but(tags=tuple(fact.tags), sources=tuple(fact.sources))
        return fact.but(
            status="current",
            recorded_at=edit.ts,
            valid_from=fact.valid_from or written(edit.ts),
            superseded_by=None,
            tags=tuple(tag for tag in fact.tags if tag != TICKED),
        )

    def _own(self, shard: Shard, edit: Edit, read: Fact, gone: list[str]) -> Fact:
        """A line that nobody says more of: it is its author's."""
        level = self._level(edit.author)
        number = 0
        while (name := fact_id(edit.id, edit.path, read.relation, read.object, str(number))) in shard.facts:
            number += 1  # the same line twice
        relation = relation_of(read.relation)
        now = written(edit.ts)
        for each in gone:
            old = shard.facts.get(each)
            if (
                old is not None
                and old.status == "current"
                and relation_of(old.relation).label == relation.label
                and (not relation.many or len(gone) == 1)
            ):
                self._end(shard, each, now, "superseded", name)
                gone.remove(each)
                break
        fact = Fact(
            shard.name,
            shard.name,
            read.relation,
            read.object,
            id=name,
            confidence=CONFIDENCE[level],
            sources=(f"{edit.path}@{edit.id}",),
            origin=edit.author if edit.author != EXTERNAL or self._trusts else "external",
            level=level,
            valid_from=now,
            recorded_at=edit.ts,
        )
        if edit.author == EXTERNAL:
            self._remember("+", edit, fact)
        return fact

    def _level(self, author: str) -> Level:
        is_person = author == PERSON or (author == EXTERNAL and self._trusts)
        return "confirmed" if is_person else "inferred"

    def _gone(self, shard: Shard, edit: Edit, name: str) -> None:
        """A line that went, and that nothing is said to replace."""
        fact = shard.facts.get(name)
        if fact is None or any(name in sheet.ids for sheet in shard.sheets.values()):
            return  # it stands on another page of the topic
        if edit.author == EXTERNAL:
            self._arrived(edit, fact)
            self._remember("-", edit, fact)
        if fact.status == "current" and edit.undoes is not None and APPROVED in fact.tags:
            waiting = fact.but(status="pending", tags=tuple(tag for tag in fact.tags if tag != APPROVED))
            self._put(waiting.but(path=None), shard.position)
        elif fact.status == "current":
            by_person = edit.author == PERSON or (edit.author == EXTERNAL and self._trusts)
            self._end(shard, name, written(edit.ts), "rejected" if by_person else "superseded")

    def _end(self, shard: Shard, name: str, when: str, status: Status, by: str | None = None) -> None:
        fact = shard.facts[name]
        # What ends before it began was never true at any time.
        when = max(when, fact.valid_from or when)
        shard.facts[name] = fact.but(status=status, valid_to=when, superseded_by=by, path=None)

    # --- lines that move from page to page -----------------------------------------------

    def _remember(self, way: str, edit: Edit, fact: Fact) -> None:
        self.moved.append([edit.ts, way, _mark(fact), fact.topic, fact.id])
        del self.moved[:-_RECENT]

    def _find(self, way: str, edit: Edit, fact: Fact) -> list[Any] | None:
        mark = _mark(fact)
        for each in self.moved:
            if each[1] == way and each[2] == mark and abs(each[0] - edit.ts) <= _RECENT_SECONDS:
                self.moved.remove(each)
                return each
        return None

    def _carried(self, shard: Shard, edit: Edit, read: Fact) -> Fact | None:
        """A line that was just taken off another page: whoever moves a page does not vouch for its lines."""
        found = self._find("-", edit, read)
        old = self._shard(found[3]).facts.get(found[4]) if found else None
        if old is None:
            return None
        name = fact_id(edit.id, edit.path, read.relation, read.object)
        if old.topic != shard.name:
            self.touched.add(old.topic)
            self._shard(old.topic).facts[old.id or ""] = old.but(status="superseded", superseded_by=name)
        else:
            name = old.id or name
        return old.but(
            id=name, topic=shard.name, subject=shard.name, status="current", valid_to=None, superseded_by=None
        )

    def _arrived(self, edit: Edit, fact: Fact) -> None:
        """The same, where the new page came first: what stands there is what was known of the line here."""
        found = None if is_at_least(fact.level, "confirmed") else self._find("+", edit, fact)
        if found is None:
            return
        shard = self._shard(found[3])
        new = shard.facts.get(found[4])
        if new is not None and new.topic != fact.topic:
            self.touched.add(shard.name)
            shard.facts[found[4]] = fact.but(
                id=new.id, topic=new.topic, subject=new.topic, path=new.path, status=new.status, kind=new.kind
            )

    # --- what waits in review ------------------------------------------------------------

    def _review(
        self, sheet: Sheet, edit: Edit, position: Position, before: dict[str, tuple[int, Fact]]
    ) -> None:
        now = sheet.pending()
        told = {str(each.get("id")): each for each in edit.facts}
        by_person = edit.author == PERSON or (edit.author == EXTERNAL and self._trusts)
        for name, (_, read) in now.items():
            waiting = self._pending(name)
            if name in told and name not in before:
                given = {"subject": "", **told[name], "status": "pending", "recorded_at": edit.ts}
                fact = Fact.from_dict(given).but(relation=read.relation, object=read.object, path=None)
                self._put(fact, position)
            elif waiting is not None and name in before and by_person and before[name][1] != read:
                tags = tuple(tag for tag in waiting.tags if tag != TICKED)
                tags += (TICKED,) if TICKED in read.tags else ()
                self._put(waiting.but(relation=read.relation, object=read.object, tags=tags), position)
        for name in sorted(before.keys() - now.keys()):
            waiting = self._pending(name)
            if waiting is not None and by_person:
                # It never held, so it has no end; when it was turned down is known.
                self._put(waiting.but(status="rejected", recorded_at=edit.ts), position)
        for at in range(len(sheet.ids)):
            sheet.ids[at] = None
        for name, (at, _) in now.items():
            sheet.ids[at] = name

    def _pending(self, name: str) -> Fact | None:
        topic = self.waiting.get(name)
        fact = self._shard(topic).facts.get(name) if topic is not None else None
        return fact if fact is not None and fact.status == "pending" else None

    def _put(self, fact: Fact, position: Position) -> None:
        """Into the shard of its topic, unless that has been brought further already."""
        if fact.status == "pending":
            self.waiting[fact.id or ""] = fact.topic
        else:
            self.waiting.pop(fact.id or "", None)
        shard = self._shard(fact.topic)
        if shard.position <= position:
            shard.facts[fact.id or ""] = fact
            self.touched.add(shard.name)

    # --- what was said of facts without touching a page ----------------------------------

    def _set(self, record: Record, position: Position) -> None:
        """A person's word on a fact: its score, a pin, its level."""
        shard = self._shard(str(record.get("topic")))
        fact = shard.facts.get(str(record.get("fact")))
        if fact is not None and shard.position <= position:
            given = {name: value for name, value in record.get("set", {}).items() if name in _SET}
            if "tags" in given:
                given["tags"] = tuple(map(str, given["tags"]))
            shard.facts[fact.id or ""] = fact.but(**given)
            self.touched.add(shard.name)

    def _placed(self, record: Record, position: Position) -> None:
        """An entry was placed: its topic has it; facts were said again; others are only of the past."""
        if record.get("entry") is None:
            return
        shard = self._shard(str(record.get("topic")))
        if shard.position <= position:
            shard.entries.pop(str(record.get("instead")), None)
            shard.entries[str(record.get("entry"))] = float(record.get("entry_ts") or 0.0)
            self.touched.add(shard.name)
        for topic, name, source in record.get("restated", ()):
            fact = self._shard(str(topic)).facts.get(str(name))
            if fact is not None and source not in fact.sources:
                sources = (*fact.sources, str(source))
                if len(sources) > _SOURCES:
                    sources = (sources[0], *sources[-_SOURCES + 1 :])
                self._put(fact.but(sources=sources), position)
        for raw in record.get("history", ()):
            self._put(Fact.from_dict({"subject": raw.get("topic", ""), **raw}), position)


def _mark(fact: Fact) -> str:
    relation = relation_of(fact.relation).label
    return f"{relation}: {key(fact.object, relation)}"
