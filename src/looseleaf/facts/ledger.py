"""The ledger: the facts of each topic, read from the pages and joined with the journal's knowledge of them; and which
of them are true, now or at a time.

It is a fold over the journal: the same records give the same ledger, however they are divided, and it can be rebuilt at
any time. A fact is a line of a page for as long as that line stands; the rest (quote, sources, level, times) came with
the edit that wrote it. A line without such a record belongs to its author: a person's is confirmed, any other inferred.
Only a person's act raises a level.

What is true now follows from the facts themselves. What was true at a time depends on their neighbors too, by their
addresses. Every reader asks `true_at`.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import CONFIDENCE, level_of, lowest
from looseleaf.base.paths import APPROVED, PINNED, TICKED
from looseleaf.base.values import Edit, Fact, Hunk, sha256
from looseleaf.facts.page_lines import (
    PUT,
    TAKEN,
    MovedLines,
    Moves,
    RemovedFacts,
    Shard,
    Sheet,
    drop_fact,
    is_same_fact,
    keep_latest,
    merge,
    shard_of,
)
from looseleaf.language.relations import relation_name, relation_of, slot
from looseleaf.language.value_keys import base_of, key
from looseleaf.language.words import fold, is_number
from looseleaf.log.journal import AGENT, EXTERNAL, OBEYED, PERSON, UNKNOWN, edit_of
from looseleaf.pages.grammar import drawer
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import is_found
from looseleaf.text.times import last_moment, moment, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from looseleaf.base.values import Level, Record, Status
    from looseleaf.facts.page_lines import LineChange

    Asked = dict[str, tuple[int, Fact]]
    """The lines (from 0) of a page of review, and their facts, by id."""


HIGHEST = 10
"""The highest score that a person can give a fact."""

ENTRIES = 200
"""The number of newest entries that a topic remembers: its state is made of them. The journal has all."""

_SET = frozenset({"user_fact_score", "tags", "level", "confidence", "status", "valid_to"})
"""The members that a record of the kind `fact` may change."""


def fact_id(*parts: str) -> str:
    """Return an id: short enough to type, long enough that a million facts do not collide."""
    return f"f_{sha256(chr(10).join(parts).encode('utf-8', 'backslashreplace'))[:12]}"


def copy_id(name: str) -> str:
    """Return the id of a fact's second line, while it moves from one page of its topic to the other."""
    return fact_id("copy", name)


class FactLedger:
    """The fold. `shard` returns the shard of a name, new if there is none; `before` the bytes of an edit's page before
    the edit, or raises Refused if they are unknown. `trusts`: edits found on disk are a person's."""

    def __init__(
        self, shard: Callable[[str], Shard], before: Callable[[Edit], bytes | None], *, trusts: bool = True
    ) -> None:
        self._shard = shard
        self._before = before
        self._trusts = trusts
        self.moves = Moves()
        self.touched: set[str] = set()
        """The shards that changed since this was last cleared."""
        self.torn: dict[str, list[Edit]] = {}
        """Pages with a missing record and unknown text, with their edits since."""
        self.waiting: dict[str, str] = {}
        """The topics of the facts that wait in review, in order of arrival."""

    def take(self, record: Record) -> None:
        """Take one record of the journal that is not void."""
        match record.get("kind"):
            case "edit":
                edit = edit_of(record)
                if edit is not None and shard_of(edit.path) is not None:
                    self.moves.forget(edit.ts)
                    self._take_edit(edit)
            case "fact":
                self._apply_decision(record)
            case "placed":
                self._take_placed(record)
            case "merged":
                self._take_merged(record)

    # --- what stands on pages -----------------------------------------------------------

    def _take_edit(self, edit: Edit) -> None:
        """Take an edit; first fill in the effect of missing records before it."""
        torn = self.torn.get(edit.path)
        if (edit.whole or torn is None) and self._fits(edit):
            self.torn.pop(edit.path, None)
            self._apply_edit(edit)
            return
        # If the text before one edit and before the next is unknown, so is the text before those that follow.
        if torn is None or len(torn) < 2 or torn[-1].new != edit.base:
            try:
                self._read_anew(edit, self._before(edit), edit.base)
            except Refused:
                pass
            else:
                if self._fits(edit):
                    self._apply_edit(edit)
                    return
        self.torn.setdefault(edit.path, []).append(edit)

    def _fits(self, edit: Edit) -> bool:
        sheet = self._shard(shard_of(edit.path) or "").sheets.get(edit.path)
        return (sheet or Sheet(edit.path)).fits(edit)

    def _read_anew(self, edit: Edit, data: bytes | None, new: str | None) -> None:
        """Read a page anew if its edits do not follow each other. New lines on it may be anyone's."""
        torn = self.torn.pop(edit.path, [])
        by = torn[-1] if torn and torn[-1].new == new else edit
        told = tuple(each for edit in torn for each in edit.facts)
        lines = split_lines((data or b"").decode("utf-8", "replace"))
        hunks = (Hunk(0, (), lines),) if lines else ()
        self._apply_edit(Edit(by.id, by.ts, by.path, UNKNOWN, "", None, new, hunks, whole=True, facts=told))

    def mend(self, path: str, data: bytes | None) -> None:
        """Repair a torn page that could not be followed: its text is what its last edit says."""
        last = self.torn[path][-1]
        self._read_anew(last, data, last.new)

    def _apply_edit(self, edit: Edit) -> None:
        shard = self._shard(shard_of(edit.path) or "")
        self.touched.add(shard.name)
        sheet = shard.sheets.setdefault(edit.path, Sheet(edit.path))
        if drawer(edit.path) == "facts":
            self._apply_lines(shard, sheet, edit, sheet.take(edit))
        else:
            before = sheet.pending()
            sheet.take(edit)
            self._apply_review(shard, sheet, edit, before)
        if edit.new is None:
            del shard.sheets[edit.path]

    def _apply_lines(self, shard: Shard, sheet: Sheet, edit: Edit, change: LineChange) -> None:
        shard.standing.difference_update(change.gone)
        left = RemovedFacts(shard, change.gone)
        told: dict[tuple[str, str], list[Record]] = {}
        for each in reversed(edit.facts):
            told.setdefault((str(each.get("relation")), str(each.get("object"))), []).append(each)
        # Knowledge of a line outranks a guess about another.
        known: dict[int, Fact] = {}
        for at, read, is_fresh in change.added:
            more = told.get((read.relation, read.object)) if is_fresh else None
            fact = self._fact_of_record(shard, edit, more.pop()) if more else left.take_moved(read)
            if fact is not None:
                left.drop(fact.id)
                known[at] = fact
        undone: set[str | None] = set()
        for at, read, is_fresh in change.added:
            fact = known.get(at) or self._find_returned(shard, edit, read, is_fresh=is_fresh)
            if fact is None:
                fact = self._make_own(shard, edit, read, left, edit.author if is_fresh else UNKNOWN)
            if fact.id in shard.standing:  # the same line twice
                first = shard.facts[fact.id]
                is_same = (first.relation, first.object) == (read.relation, read.object)
                # On another page it is a copy, until one of the lines goes.
                is_copy = is_same and first.path != edit.path and copy_id(fact.id) not in shard.standing
                fact = fact.but(id=copy_id(fact.id) if is_copy else self._new_id(shard, edit, read))
            elif edit.undoes is not None and fact.id in shard.facts:
                undone.add(shard.facts[fact.id].superseded_by)
            kind = read.kind or fact.kind or relation_of(read.relation).kind
            fact = fact.but(topic=shard.name, subject=fact.subject or shard.name, kind=kind, line=None)
            shard.put(fact.but(relation=read.relation, object=read.object, path=edit.path))
            shard.standing.add(fact.id or "")
            sheet.ids[at] = fact.id
        for name, kind in change.kinds:
            if shard.facts[name].kind != kind:
                shard.put(shard.facts[name].but(kind=kind))
        ended = {name: (when, by) for name, when, by in edit.ended}
        lines = MovedLines(shard, edit.ended)
        for name in left.rest():
            if name not in ended:
                self._remove_line(shard, edit, name, lines, held=name not in undone)
        for name, (when, by) in ended.items():
            if name in shard.facts and shard.facts[name].status == "current":
                self._end(shard, name, when, "superseded", by)

    def _find_returned(self, shard: Shard, edit: Edit, read: Fact, *, is_fresh: bool) -> Fact | None:
        """Return the fact of a line that came back, or that came from another page."""
        if edit.undoes is not None or not is_fresh:
            like = shard.like(read)
            over = [fact for fact in like if fact.status in ("superseded", "rejected")]
            ended = [(_end_of(fact), fact.id or "", fact) for fact in over if fact.id not in shard.standing]
            end, _, back = max(ended, default=("", "", None))
            stand = (fact for fact in like if fact.id in shard.standing and fact.path != edit.path)
            there = next((fact for fact in stand if fact.status == "current"), None)
            if there is not None and edit.undoes is not None and end <= written(there.recorded_at or 0.0):
                return there  # it did not end: it went to the other page of its topic
            if end and back is not None:
                return back.but(status="current", valid_to=None, superseded_by=None)
        return self._find_moved(shard, edit, read) if edit.author == EXTERNAL else None

    def _fact_of_record(self, shard: Shard, edit: Edit, told: Record) -> Fact:
        before = shard.facts.get(str(told.get("id")))
        given = {"topic": shard.name, "subject": shard.name, "relation": "", "object": ""} | told
        name = given.get("id") or fact_id(edit.id, str(told.get("relation")), str(told.get("object")))
        given["id"] = str(name)
        fact = Fact.from_dict(given)
        if before is not None:  # it waited in review, stood on another page, or is back
            if before.status in ("superseded", "rejected"):
                before = before.but(valid_to=None)
            fact = before.but(**{name: getattr(fact, name) for name in told if name in Fact.__match_args__})
        self.waiting.pop(fact.id or "", None)
        return fact.but(
            status="current",
            recorded_at=edit.ts if edit.merge is None else fact.recorded_at,
            valid_from=fact.valid_from or written(edit.ts),
            superseded_by=None,
            tags=tuple(tag for tag in fact.tags if tag != TICKED),
        )

    def _new_id(self, shard: Shard, edit: Edit, read: Fact) -> str:
        """Return a new id. Lines of one edit with the same text are numbered from 0. Doubling and halving finds the
        first free number: a page with one line ten thousand times must not take ten thousand times as long."""

        def name(number: int) -> str:
            return fact_id(edit.id, edit.path, read.relation, read.object, str(number))

        taken, free = -1, 0
        while name(free) in shard.facts:
            taken, free = free, 2 * free + 1
        while free - taken > 1:
            middle = (taken + free) // 2
            taken, free = (middle, free) if name(middle) in shard.facts else (taken, middle)
        return name(free)

    def _make_own(self, shard: Shard, edit: Edit, read: Fact, left: RemovedFacts, author: str) -> Fact:
        """Make a fact of a line without a record: it belongs to its author."""
        level: Level = "confirmed" if self._is_person(author) else "inferred"
        if is_found(
            read.object
        ):  # a copy or a merge may bring what an agent found: carrying it is not a yes to it
            level = "tainted"
        name = self._new_id(shard, edit, read)
        now = written(edit.ts)
        replaced = left.take_replaced(read)
        like = replaced or read  # its kind and weight do not change with its value
        if replaced is not None:
            self._end(shard, replaced.id or "", now, "superseded", name)
        tags = tuple(tag for tag in like.tags if tag == PINNED)
        fact = Fact(
            shard.name, shard.name, read.relation, read.object, like.kind, id=name, level=level, tags=tags
        )
        fact = fact.but(time_span=like.time_span, salience=like.salience, confidence=CONFIDENCE[level])
        fact = fact.but(
            sources=(f"{edit.path}@{edit.id}",), origin=author, valid_from=now, recorded_at=edit.ts
        )
        fact = fact.but(person=edit.person if author == PERSON or author.startswith(AGENT) else None)
        if author == EXTERNAL:
            self.moves.remember(PUT, edit.ts, fact)
        return fact

    def _is_person(self, author: str) -> bool:
        return author == PERSON or (author == EXTERNAL and self._trusts)

    def _remove_line(self, shard: Shard, edit: Edit, name: str, lines: MovedLines, *, held: bool) -> None:
        """Handle a removed line without a replacement. If the value that it replaced came back, it never held."""
        fact = shard.facts[name]
        if self._keep_elsewhere(shard, edit, fact, lines):
            return
        if edit.author == EXTERNAL:
            if self._move_to_new(edit, fact):
                return
            self.moves.remember(TAKEN, edit.ts, fact)
        if fact.status == "current" and edit.undoes is not None and APPROVED in fact.tags:
            # The yes was undone, and with it the level that only a yes can give.
            level = lowest((level_of(fact.origin or ""), fact.level or "tainted"))
            tags = tuple(tag for tag in fact.tags if tag != APPROVED)
            waiting = fact.but(status="pending", level=level, confidence=CONFIDENCE[level], tags=tags)
            self._put_fact(waiting.but(path=None))
        elif fact.status == "current":
            # The user may say again what an order in talk removed.
            is_refused = self._is_person(edit.author) and edit.reason != OBEYED
            status: Status = "rejected" if is_refused else "superseded"
            self._end(shard, name, written(edit.ts) if held else "", status)

    def _end(self, shard: Shard, name: str, when: str, status: Status, by: str | None = None) -> None:
        fact = shard.facts[name]
        # A fact that ends before it began was never true.
        when = max(when, fact.valid_from or when)
        shard.put(fact.but(status=status, valid_to=when, superseded_by=by, path=None))
        if copy_id(name) in shard.standing:  # placing or tidying removes that line
            self._end(shard, copy_id(name), when, status, by)

    # --- lines that move from page to page -----------------------------------------------

    def _keep_elsewhere(self, shard: Shard, edit: Edit, fact: Fact, lines: MovedLines) -> bool:
        """Return True if a fact whose line went stands on another page of its topic, as the same text."""
        name = fact.id or ""
        if any(copy_id(like.id or "") == name for like in shard.like(fact)):
            drop_fact(shard, name)  # it was only a second line
            return True
        heir = copy_id(name)
        # A person's no is to the fact, not to one of its lines.
        is_no = edit.author == PERSON and edit.undoes is None
        if fact.status != "current" or is_no:
            return False
        if heir in shard.standing:
            drop_fact(shard, heir)
            shard.put(fact.but(path=lines.hand_over(heir, name)))
            return True
        for heir in lines.replaced_by(name):
            like = shard.facts.get(heir)
            if heir in shard.standing and like is not None and is_same_fact(fact, like):
                shard.put(merge(fact, like).but(path=lines.hand_over(heir, name)))
                return True
        return False

    def _find_moved(self, shard: Shard, edit: Edit, read: Fact) -> Fact | None:
        """Return the fact of a line just taken off another page: moving a page does not vouch for its lines."""
        while found := self.moves.find(TAKEN, edit.ts, read):
            topic, name = found
            old = self._shard(topic).facts.get(name)
            if old is None or old.status not in ("superseded", "rejected"):
                continue  # it is back already
            new = old.but(status="current", valid_to=None, superseded_by=None)
            if topic == shard.name:
                return new
            new = new.but(id=self._new_id(shard, edit, read), topic=shard.name, subject=shard.name)
            self._supersede_moved(old, new, edit)
            return new
        return None

    def _move_to_new(self, edit: Edit, fact: Fact) -> bool:
        """Do the same if the new page came first: the fact there takes over what was known of the line here."""
        found = self.moves.find(PUT, edit.ts, fact)
        new = self._shard(found[0]).facts.get(found[1]) if found else None
        # It may be the very line that was put there a moment ago.
        if new is None or new.id == fact.id or new.status != "current" or fact.status != "current":
            return False
        self._put_fact(fact.but(id=new.id, topic=new.topic, subject=new.topic, path=new.path, kind=new.kind))
        self._supersede_moved(fact, new, edit)
        return True

    def _supersede_moved(self, old: Fact, new: Fact, edit: Edit) -> None:
        """Supersede the old fact without an end: the new one has held all the time."""
        over = old.but(status="superseded", superseded_by=new.id, valid_to=None, path=None)
        self._put_fact(over.but(recorded_at=edit.ts))

    # --- what waits in review ------------------------------------------------------------

    def _apply_review(self, shard: Shard, sheet: Sheet, edit: Edit, before: Asked) -> None:
        now, nameless = sheet.pending(), sheet.nameless()
        told = {str(each.get("id")): each for each in edit.facts}
        by_person = self._is_person(edit.author)
        for name, (_, read) in now.items():
            if name in told and name not in before:
                given = (
                    {"topic": "", "subject": ""} | told[name] | {"status": "pending", "recorded_at": edit.ts}
                )
                fact = Fact.from_dict(given | {"relation": read.relation, "object": read.object})
                shard.ask(name, fact.topic)
                self._put_fact(fact.but(path=None))
            elif name in before:
                waiting = self._find_pending(name)
                if waiting is not None and by_person and before[name][1] != read:
                    self._put_fact(_apply_answer(waiting, read, before[name][1]))
            elif by_person or edit.undoes is not None:
                self._ask_again(shard, name, read, by_person=by_person)
        for name in sorted(before.keys() - now.keys()):
            waiting = self._find_pending(name)
            read = before[name][1]
            if waiting is not None and by_person and (read.relation, read.object) not in nameless:
                # It never held, so it has no end; the time of the rejection is known.
                self._put_fact(waiting.but(status="rejected", recorded_at=edit.ts))
        sheet.ids = [None] * len(sheet.lines)
        for name, (at, _) in now.items():
            sheet.ids[at] = name

    def _ask_again(self, shard: Shard, name: str, read: Fact, *, by_person: bool) -> None:
        """Let a rejected proposal wait again if its line is back."""
        topic = shard.asked.get(name)
        fact = self._shard(topic).facts.get(name) if topic is not None else None
        if fact is not None and fact.status in ("rejected", "pending") and fact.valid_to is None:
            fact = fact.but(status="pending")
            self._put_fact(_apply_answer(fact, read, read.but(tags=())) if by_person else fact)

    def _find_pending(self, name: str) -> Fact | None:
        topic = self.waiting.get(name)
        fact = self._shard(topic).facts.get(name) if topic is not None else None
        return fact if fact is not None and fact.status == "pending" else None

    def _put_fact(self, fact: Fact) -> None:
        """Put a fact into the shard of its topic."""
        if fact.status == "pending":
            self.waiting[fact.id or ""] = fact.topic
        else:
            self.waiting.pop(fact.id or "", None)
        self._shard(fact.topic).put(fact)
        self.touched.add(fact.topic)

    # --- what was said of facts without touching a page ----------------------------------

    def _apply_decision(self, record: Record) -> None:
        """Apply a person's decision on a fact: its score, a pin, its level."""
        fact = self._shard(str(record.get("topic"))).facts.get(str(record.get("fact")))
        if fact is not None:
            given = {name: value for name, value in record.get("set", {}).items() if name in _SET}
            if "tags" in given:
                given["tags"] = tuple(map(str, given["tags"] or ()))
            if (fact.status, given.get("status")) == ("pending", "rejected"):
                # It never held; this is the time of the rejection.
                given["recorded_at"] = float(record.get("ts") or 0.0)
            by = record["person"] if isinstance(record.get("person"), str) else fact.decided_by
            self._put_fact(fact.but(**given, decided_at=float(record.get("ts") or 0.0), decided_by=by))

    def _take_merged(self, record: Record) -> None:
        """Take what other machines know of facts; on which lines they stand, the pages say. `retold`: facts that take
        the place of others on lines with the same text."""
        for old, raw in record.get("retold", ()):
            self._replace_on_line(str(old), raw, record)
        for raw in record.get("facts", ()):
            fact = Fact.from_dict(raw)
            shard = self._shard(fact.topic)
            held = shard.facts.get(fact.id or "")
            if held is not None and fact.id in shard.standing:  # its line says it, as it is here
                fact = fact.but(relation=held.relation, object=held.object, path=held.path, line=None)
            else:
                fact = fact.but(path=None, line=None)
            self._put_fact(fact)

    def _replace_on_line(self, old: str, raw: Record, record: Record) -> None:
        """Let a fact take the place of another on a line with the same text."""
        shard = self._shard(str(raw.get("topic")))
        sheet = next((each for each in shard.sheets.values() if old in each.ids), None)
        held = shard.facts.get(old)
        if sheet is None or held is None:
            return
        for name, when, by in record.get("ended", ()):
            if str(name) == old:
                self._end(shard, old, str(when), "superseded", by)
        sheet.ids[sheet.ids.index(old)] = str(raw["id"])
        shard.standing.discard(old)
        shard.standing.add(str(raw["id"]))
        line = {"relation": held.relation, "object": held.object, "path": sheet.path}
        self._put_fact(Fact.from_dict({**raw, **line, "status": "current"}))

    def _take_placed(self, record: Record) -> None:
        """Take a placed entry: its topic has it; facts were repeated; others are only history."""
        if record.get("entry") is None:
            return
        shard = self._shard(str(record.get("topic")))
        shard.entries.pop(str(record.get("instead")), None)
        shard.entries[str(record.get("entry"))] = float(record.get("entry_ts") or 0.0)
        if len(shard.entries) > ENTRIES:
            del shard.entries[min(shard.entries, key=lambda name: (shard.entries[name], name))]
        self.touched.add(shard.name)
        for topic, name, source, *said in record.get("restated", ()):
            fact = self._shard(str(topic)).facts.get(str(name))
            if fact is not None and source not in fact.sources:
                again = fact.but(sources=keep_latest((*fact.sources, str(source))))
                self._put_fact(_said_again(again, *said))
        for old, raw in record.get("retold", ()):
            self._replace_on_line(str(old), raw, record)
        for raw in record.get("raised", ()):
            fact = self._shard(str(raw.get("topic"))).facts.get(str(raw.get("id")))
            if fact is not None and fact.status == "current":
                raised = Fact.from_dict({**raw, "status": "current"})
                self._put_fact(raised.but(path=fact.path, line=fact.line))
        for raw in record.get("history", ()):
            self._put_fact(Fact.from_dict({"subject": raw.get("topic", ""), **raw}))


def _said_again(fact: Fact, ts: float | None = None, order: float | None = None) -> Fact:
    """Return a fact that was repeated: with the time of its last repetition, and with its place in the order."""
    last = max(fact.said_at or 0.0, fact.order or 0.0)
    if ((ts if order is None else order) or 0.0) <= last:
        return fact
    return fact.but(said_at=ts, order=fact.order if order is None else order)


def _end_of(fact: Fact) -> str:
    """Return when a fact's line went; empty if it never had one."""
    return fact.valid_to or (written(fact.recorded_at or 0.0) if fact.superseded_by else "")


def _apply_answer(waiting: Fact, read: Fact, before: Fact) -> Fact:
    """Apply a person's change of a proposal's line. An earlier tick counts only if it counted then."""
    is_ticked = TICKED in read.tags and (TICKED not in before.tags or TICKED in waiting.tags)
    tags = (*(tag for tag in waiting.tags if tag != TICKED), *((TICKED,) if is_ticked else ()))
    return waiting.but(relation=read.relation, object=read.object, tags=tags)


# --- what is true, now or at a time -----------------------------------------------------


@frozen
class Address:
    """Where a fact lives, and its value there: every comparison of facts uses it. `many`: other values may live beside
    it.

    A favorite color and the deadline of one thing live `within` their slot, at an address of their own.
    """

    slot: str
    within: str
    relation: str
    value: str
    key: str
    many: bool


def slot_of(fact: Fact) -> str:
    return _slot_name(fact.topic, fact.relation)


@lru_cache(1024)
def _slot_name(topic: str, relation: str) -> str:
    is_favourite = relation_name(relation).startswith("favorite ")
    return slot(topic, "Favourite" if is_favourite else relation)


def address_of(fact: Fact) -> Address:
    return _make_address(fact.topic, fact.relation, fact.object)


@lru_cache(8192)
def _make_address(topic: str, label: str, value: str) -> Address:
    relation, many = relation_name(label), relation_of(label).many
    within = ""
    if relation == "favourite" and ":" in value:
        thing, _, value = value.partition(":")
        relation, many = relation_name(f"favourite {thing.strip()}"), False
    elif relation == "pet" and (species := fold(label)) in ("dog", "cat"):
        value = f"{value} ({species})"  # the label says it
    made = key(value, relation)
    if relation.startswith("favorite "):
        within = relation
    elif relation == "deadline":
        within = " ".join(word for word in made.split() if not is_number(word))
    return Address(_slot_name(topic, label), within, relation, value, made, many)


def true_at(facts: Iterable[Fact], when: str | float | None = None) -> list[Fact]:
    """Return the facts that are true at a time, in the order given.

    Without a time: the current ones. That includes values that begin later (a plan is held now), but not those that had
    ended when they were recorded.

    With one: a fact holds from `valid_from`, or else from its recording, until just before `valid_to`. A date means its
    first moment in a fact and its last in `when`. An event stays true after its end. A superseded fact held until its
    end and, in a slot of one value, at the latest until the next value began; without any end it is not known to have
    held. A rejected fact counts only where an end says that it once held; pending and forgotten facts never do. A
    person may have written two values into a slot of one: both are current, and both are returned. A fact on two pages
    of its topic is returned once.
    """
    if when is None:
        return _drop_copies([fact for fact in facts if fact.status == "current" and not is_past(fact)])
    at = last_moment(when) if isinstance(when, str) else float(when)
    if at is None:
        raise Invalid(f"{when!r} is not a time. Give a date (2026-03-05) or a time (2026-03-05T10:00:00Z).")
    everything = list(facts)
    next_starts = _next_starts(everything)
    return _drop_copies(
        [fact for number, fact in enumerate(everything) if _is_true_at(fact, at, next_starts.get(number))]
    )


def _drop_copies(facts: list[Fact]) -> list[Fact]:
    """Drop the second lines of facts: of two lines, the one at the top of the folder counts."""
    keys = [(fact.topic, fact.relation, fact.object) for fact in facts]
    if len(set(keys)) == len(keys):
        return facts
    often = Counter(keys)
    twice = [fact for fact, key in zip(facts, keys, strict=True) if often[key] > 1]
    by_name = {fact.id: fact for fact in twice}
    copies = {fact.id: by_name[name] for fact in twice if fact.id and (name := copy_id(fact.id)) in by_name}
    left_out = {copy.id for copy in copies.values()}

    def at_top(fact: Fact) -> Fact:
        copy = copies.get(fact.id or "")
        is_better = copy is not None and "/" in (fact.path or "/") and "/" not in (copy.path or "/")
        return fact.but(path=copy.path, line=copy.line) if copy and is_better else fact

    return [at_top(fact) for fact in facts if fact.id not in left_out]


def _is_true_at(fact: Fact, at: float, next_start: float | None) -> bool:
    start = start_of(fact)
    end = moment(fact.valid_to) if not _is_event(fact) else None
    if fact.status == "superseded":
        end = min((time for time in (end, next_start) if time is not None), default=None)
    if fact.status not in ("current", "superseded", "rejected") or (end is None and fact.status != "current"):
        return False
    return (start is None or start <= at) and (end is None or at < end)


def _next_starts(facts: list[Fact]) -> dict[int, float]:
    """Return, for each fact in a slot of one value, when the next value began there. Slots without a superseded value
    are left out: making the key of a value costs more than all the rest."""
    slots: dict[tuple[str, str], list[tuple[float, int]]] = {}
    replaced = {(fact.topic, slot_of(fact)) for fact in facts if fact.status == "superseded"}
    topics = {topic for topic, _ in replaced}
    for number, fact in enumerate(facts):
        if fact.topic not in topics or (fact.topic, slot_of(fact)) not in replaced:
            continue
        start = start_of(fact)
        # Checked first, since it makes no key: a favorite color has one value, whatever else is a favorite.
        may_hold_one = not relation_of(fact.relation).many or relation_name(fact.relation) == "favourite"
        if start is not None and fact.status in ("current", "superseded") and may_hold_one:
            place = address_of(fact)
            if not place.many:
                slots.setdefault((place.slot, place.within), []).append((start, number))
    starts: dict[int, float] = {}
    for values in slots.values():
        values.sort(reverse=True)
        later: float | None = None
        for at, (start, number) in enumerate(values):
            if at and values[at - 1][0] > start:
                later = values[at - 1][0]
            if later is not None:
                starts[number] = later
    return starts


def first_known(*times: float | None) -> float | None:
    return next((time for time in times if time is not None), None)


def start_of(fact: Fact) -> float | None:
    return first_known(moment(fact.valid_from), fact.entry_ts, fact.recorded_at)


def _is_event(fact: Fact) -> bool:
    """Return True if it is an event: its end is when that was over, not when it ceased to be true."""
    return fact.status == "current" and (fact.kind == "event" or base_of(fact.relation) == "event")


def is_past(fact: Fact) -> bool:
    """Return True if it had ended when it was said. If that is unknown, an end counts as past."""
    if not fact.valid_to:
        return False
    end, said = moment(fact.valid_to), first_known(fact.entry_ts, fact.recorded_at)
    return end is not None and (said is None or end <= said) and not _is_event(fact)
