"""What other machines wrote into their logs, taken in: pages are woven from all machines' changes, and facts joined.

Taking in is the same on every machine: each reads all logs and comes to the same pages. Only this machine's log is
written to: an edit for each page that changes, then a record of the facts of which something else is known now. How far
the other logs were read is kept in a view; read again, they change nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from functools import partial

from looseleaf.base import ids as clock
from looseleaf.base.ids import is_id, new_id, time_of
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import CONFIDENCE, lowest
from looseleaf.base.paths import STATE, same_name
from looseleaf.base.values import START, Position, sha256, sha256_or_none
from looseleaf.facts.joined import join, worth
from looseleaf.facts.known_facts import Facts
from looseleaf.facts.ledger import address_of
from looseleaf.facts.page_lines import shard_of
from looseleaf.facts.woven import (
    Verdict,
    Word,
    find_doubles,
    judge,
    name_of,
    part_of,
    put_on,
    repeats,
    summary_of_lines,
)
from looseleaf.log.journal import (
    AGENT,
    EXTERNAL,
    MERGED,
    PERSON,
    PROGRAM,
    UNKNOWN,
    BrokenEdit,
    edit_of,
    forward,
    make_edit,
    record_of,
    summary_author,
)
from looseleaf.log.talk_streams import journals, talk_elsewhere
from looseleaf.pages.grammar import drawer, new_page, parse, topic_of
from looseleaf.pages.held import copies_among, new_lines, with_lines
from looseleaf.pages.outside_edits import is_same_log
from looseleaf.place.logs_behind import WITHOUT, find_behind, told_behind
from looseleaf.place.proofs import Proofs, without_levels
from looseleaf.state.rows import judge_rows, own_rows, rows_of, state_of
from looseleaf.store import JOURNAL, JOURNAL_SCHEMA
from looseleaf.store.foreign import LEFT_OUT, is_newer, is_page_path
from looseleaf.store.machines import log_of, stream_of
from looseleaf.store.other_log import OtherLog
from looseleaf.store.streams import RACY_NS, stream_files
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import body, line_end, said_on, statement, undoubted
from looseleaf.text.times import written
from looseleaf.text.weave import Change, Weave, change_between, find_base, joined, split_parts, weave_both

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Protocol

    from looseleaf.base.values import Document, Edit, Fact, Level, Record, Stat
    from looseleaf.facts.stones import Buried, Stones
    from looseleaf.facts.woven import Whose
    from looseleaf.pages.held import Held
    from looseleaf.pages.pages import Pages
    from looseleaf.store.context import Context
    from looseleaf.store.files import FileStore
    from looseleaf.store.protocol import Store
    from looseleaf.text.weave import Line, LineKey

    class Needs(Protocol):
        @property
        def files(self) -> FileStore: ...
        @property
        def pages(self) -> Pages: ...
        @property
        def known(self) -> Facts: ...
        @property
        def stones(self) -> Stones: ...


REASON = "merged"
"""The reason of an edit that takes in what other machines wrote."""

KEPT = "kept from a conflict copy"
"""The reason of an edit that puts back what a copier overwrote."""


class PageLog:
    """The edits of one page in one machine's log, as changes of a weave. `text_of` returns, for the bytes of a page,
    the text that is woven; None if these bytes are not woven."""

    def __init__(self, text_of: Callable[[bytes | None], str | None]) -> None:
        self._text_of = text_of
        self.edits: dict[str, Edit] = {}
        self.before: dict[str, str] = {}
        """For each edit, the text that it changed."""
        self._pages: dict[str, bytes | None] = {}
        self._text = ""
        self._copied: dict[str, str] = {}
        """The last edits that were copied with the beginning of another machine's log, by machine, until an own edit
        follows."""
        self.changes: list[Change] = []
        self.page: bytes | None = None
        """The page after all of them; None: there is none, or it is not known."""
        self.versions: set[str | None] = set()
        """The hashes of the page after each of them, and of the files that they took in."""
        self._taken: dict[str, str] = {}

    def add(self, edit: Edit, owner: str | None = None, taken: str | None = None) -> None:
        """Add an edit. `owner`: the machine that made it, if this log began as a copy of that machine's. `taken`: the
        hash of the file whose changes it put on the page."""
        before, text = self.page, self._text
        try:
            self.page = forward(edit, before)
        except BrokenEdit:
            self.page = None
        self.versions.add(edit.new)
        if taken is not None:
            self.versions.add(taken)
            self._taken[edit.id] = taken
        after = self._text_of(self.page) if self.page is not None or edit.new is None else None
        self._text = text if after is None else after
        if owner is not None:
            self._copied[owner] = edit.id
            return
        self.edits[edit.id] = edit
        self._pages[edit.id] = before
        self.before[edit.id] = text
        self.changes.append(_change_of(edit, text, self._text, self._copied))
        self._copied = {}

    def left(self, edit: Edit, version: str | None) -> bool:
        """True if an edit left the page's file like that, or found it so."""
        return version is not None and version in (edit.new, self._taken.get(edit.id))

    @property
    def last(self) -> str | None:
        """The last change that did anything: the others only say what was seen."""
        return next(
            (
                each.id
                for each in reversed(self.changes)
                if each.hunks or each.looks or each.drops or each.contests
            ),
            None,
        )

    def drop(self, edit: str) -> None:
        """Drop the last edit, which is void."""
        if self.changes and self.changes[-1].id == edit:
            self.changes.pop()
            self.versions.discard(self.edits.pop(edit).new)
            self.page, self._text = self._pages.pop(edit), self.before.pop(edit)


def _change_of(edit: Edit, before: str, after: str, copied: Mapping[str, str]) -> Change:
    base = sha256(before.encode())
    if edit.merge is None:
        return change_between(edit.id, before, after, dict(copied), base, edit.cut or "")
    drops, contests = (
        tuple(((str(a), int(m)), (str(b), int(n))) for (a, m), (b, n) in edit.merge.get(name, ()))
        for name in ("drops", "contests")
    )
    seen = {str(machine): str(last) for machine, last in edit.merge.get("seen", {}).items()}
    alone = frozenset(seen) - {str(edit.merge.get("as"))}
    return Change(edit.id, (), {**copied, **seen}, base, drops=drops, contests=contests, alone=alone)


class WovenPage:
    """A page in the logs of all machines."""

    def __init__(self, path: str, logs: Mapping[str, PageLog], unheard: Mapping[str, Buried]) -> None:
        self.path = path
        self._unheard = unheard
        """By machine, what is forgotten and it has not heard of; without those that have heard of all."""
        self._logs = {machine: log for machine, log in logs.items() if log.changes}
        self._edits = {name: edit for log in logs.values() for name, edit in log.edits.items()}
        self._arrived: set[str] = set()
        self._void: Mapping[str, Collection[LineKey]] = {}
        self._put: dict[str, list[tuple[str, str]]] = {}
        """By the words of a line, the edits that put it on the page and are no undo, and their machines."""
        for machine, log in logs.items():
            for name, edit in log.edits.items():
                if edit.undoes is None and edit.merge is None:
                    for line in (line for hunk in edit.hunks for line in hunk.added):
                        self._put.setdefault(_plain(line), []).append((name, machine))

    def undone(self, machine: str, target: str, head: bytes | None) -> bytes | None:
        """Return the page as if a machine had not made an edit, nor those after it that it undid. What the edit took
        away comes back, unless another machine has taken away what it put there instead. `head`: the page now."""
        edits = self._logs[machine].edits
        names = [*edits]
        since = [edits[name] for name in names[names.index(target) :]]
        undone = {edit.undoes for edit in since}
        void = {edit.id for edit in since if edit.undoes is not None or edit.id in undone} | {target}
        before = self.weave()
        self._void = {name: before.replaced_since(name, void) for name in void}
        try:
            weave = self.weave()
            found = self.judge(weave)
            drops = Change(new_id(), (), self.seen, drops=found.drops, alone=frozenset(self.seen) - {machine})
            weave = self.weave((machine, drops))
            made = self.made(weave)
            if made is not None and self.path != STATE:
                there = {
                    line.key for line in before.lines()
                }  # a mark is for what stood before, and has a rival yet
                made = joined(
                    text if line.key in there or part_of(self.path, line) else line.text
                    for line, text in weave.rows()
                ).encode()
        finally:
            self._void = {}
        now = self.made(before)
        if now == head or made is None or now is None or head is None or self.path == STATE:
            return made
        return weave_both(now.decode(), head.decode(), made.decode(), repeats(self.path)).encode()

    @property
    def seen(self) -> dict[str, str]:
        """The last change of each machine."""
        return {machine: log.changes[-1].id for machine, log in self._logs.items()}

    def weave(self, *more: tuple[str, Change]) -> Weave:
        changes = {machine: [*log.changes] for machine, log in self._logs.items()}
        for machine, change in more:
            changes.setdefault(machine, []).append(change)
        hooks = self._text_before, self._shown, self._hidden, self._renewed, self._holds
        named = partial(name_of, self.path) if self.path != STATE else None
        return Weave(changes, *hooks, named, self._void)

    def take_arrivals(self) -> dict[str, tuple[str, Edit]]:
        """Find edits that only recorded a file which another machine had written, because that machine's log came after
        the file. They no longer count as changes, and are returned with that machine and its edit."""
        found: dict[str, tuple[str, Edit]] = {}
        outside = [
            (machine, number, log.edits[change.id])
            for machine, log in self._logs.items()
            for number, change in enumerate(log.changes)
            if log.edits[change.id].author in (EXTERNAL, UNKNOWN) and log.edits[change.id].new is not None
        ]
        versions = Counter(each for log in self._logs.values() for each in log.versions)
        likely = [each for each in outside if versions[each[2].new] > 1]
        # Clocks may be wrong, so they only say which to look at first: no edit may come of one that came of it.
        for by_clock in (True, False):
            for machine, number, edit in likely:
                origin = None if edit.id in found else self._find_origin(machine, edit, by_clock=by_clock)
                if origin is not None:
                    found[edit.id] = origin
                    changes = self._logs[machine].changes
                    seen = {**changes[number].seen, origin[0]: origin[1].id}
                    changes[number] = Change(edit.id, (), seen, changes[number].base)
        self._arrived.update(found)
        return found

    def _find_origin(self, machine: str, edit: Edit, *, by_clock: bool) -> tuple[str, Edit] | None:
        weave = self.weave()
        for other, log in self._logs.items():
            for each in log.edits.values() if other != machine else ():
                if not log.left(each, edit.new) or weave.comes_of(each.id, edit.id):
                    continue
                if weave.knows(edit.id, each.id) or (each.merge or {}).get("as") == machine:
                    continue  # no news: a person took back what came after that version
                if each.id < edit.id if by_clock else each.author not in (EXTERNAL, UNKNOWN):
                    return other, each
        return None

    def latest(self, weave: Weave) -> PageLog | None:
        """Return the log of a machine that knew all others' words when it last wrote: the page is as it left it. None:
        there is no such machine, two of them left it differently, or one has not heard of what is forgotten. A machine
        that only found a file did not write."""
        if not self._unheard.keys().isdisjoint(self._logs):
            return None
        last = self.seen
        told = [log.last for log in self._logs.values() if log.last is not None]
        found = [
            log
            for machine, log in self._logs.items()
            if self._has_written(log) and all(weave.knows(last[machine], each) for each in told)
        ]
        return found[0] if len({log.page for log in found}) == 1 else None

    def _has_written(self, log: PageLog) -> bool:
        """True if a machine's page has all that it knew: no file that it only found took its place since a merge."""
        for change in reversed(log.changes):
            if change.id in self._arrived or log.edits[change.id].merge is not None:
                return change.id not in self._arrived
        return True

    def machine_of(self, log: PageLog | None) -> str | None:
        return next((machine for machine, each in self._logs.items() if each is log), None)

    def is_told(self, weave: Weave, machine: str) -> bool:
        """True if a machine's log says that it knows what all others wrote."""
        own = self.seen.get(machine)
        told = [log.last for name, log in self._logs.items() if name != machine and log.last is not None]
        return all(own is not None and weave.knows(own, each) for each in told)

    def judge(self, weave: Weave) -> Verdict:
        if self.path == STATE:
            return Verdict(judge_rows(weave, lambda line: self._edits[line.change].ts))
        return judge(self.path, weave, self._word)

    def made(self, weave: Weave) -> bytes | None:
        """Return the page; None if nothing on it stands, and a machine deleted it."""
        lines = weave.lines()
        is_deleted = any(log.edits[log.changes[-1].id].new is None for log in self._logs.values())
        if all(line.is_held for line in lines) and (is_deleted or self._void):
            return None
        if self.path == STATE:
            return state_of((line.text, line.writer) for line in lines)
        text = weave.text()
        if self._lacks_title(weave, lines):
            text = new_page(self.path) + "\n" + text.lstrip("\r\n")
        return text.encode()

    def _lacks_title(self, weave: Weave, lines: Iterable[Line]) -> bool:
        """True if the program keeps a page, and its title went with an edit that was forgotten, or with the page."""
        parts = {part_of(self.path, line): line for line in lines}
        summary = parts.get("summary")
        if summary is None or "title" in parts or self._whose(summary) != "program":
            return False
        took = (by for line, by in weave.removed() if part_of(self.path, line) == "title")
        return all(self._edits[each].new is None for by in took for each in by if each in self._edits)

    def _hidden(self, weave: Weave, lines: list[Line]) -> dict[Line, Line]:
        """Return the lines that only repeat others, and those that are forgotten, for which no other line stands."""
        gone = {line: line for line in lines if self._is_forgotten(line)} if self._unheard else {}
        stay = [line for line in lines if line not in gone]
        if self.path == STATE:
            return gone
        return find_doubles(self.path, stay, self._whose) | repeats(self.path)(weave, stay) | gone

    def _renewed(
        self, weave: Weave, lines: list[Line], texts: list[str], past: Mapping[str, int] | None
    ) -> list[str]:
        """Return the texts of lines, with the program's own summary as it follows from them. Nothing was changed apart
        from it: it is as its machine wrote it."""
        if drawer(self.path) not in ("facts", "episodes"):
            return texts
        at = next((at for at, line in enumerate(lines) if part_of(self.path, line) == "summary"), None)
        if at is None or self._whose(lines[at]) != "program":
            return texts
        if not (self._void or weave.is_rewritten(lines[at], past) or self._is_buried(lines[at])):
            return texts
        said = summary_of_lines(self.path, lines, texts, lambda line: self._word(line).is_persons)
        before = texts[at].removesuffix(split_lines(texts[at])[-1])
        end = line_end(texts[at])
        rest = texts[at + 1 :]
        if rest and rest[0][:1] not in "\r\n":  # the line that stood here went, and the blank one with it
            rest[0] = (end or "\n") + rest[0]
        return [*texts[:at], f"{before}> Summary: {said}".rstrip(" ") + end, *rest]

    def _holds(self, change: str, line: Line) -> bool:
        """True if a change that deleted the page (or, undone, that made it) leaves the program's own line there, as
        long as anything else stands."""
        edit = self._edits.get(change)
        if edit is None or not (edit.new is None or (change in self._void and edit.base is None)):
            return False
        return self.path != STATE and part_of(self.path, line) is not None and self._whose(line) == "program"

    def _origin(self, line: Line) -> tuple[str, Edit]:
        """Return the machine and the edit that a line comes from. An undo says nothing of its own."""
        edit = self._edits[line.change]
        if edit.undoes is None:
            return line.writer, edit
        put = self._put.get(_plain(line.text), [])
        name, machine = max(
            (each for each in put if each[0] < edit.id), default=max(put, default=(edit.id, line.writer))
        )
        return machine, self._edits[name]

    def summary_author(self, weave: Weave) -> str | None:
        """Return whose the summary of the page is, if not the program's."""
        lines = () if self.path == STATE else weave.lines()
        line = next((line for line in lines if part_of(self.path, line) == "summary"), None)
        author = summary_author(self._origin(line)[1]) if line is not None else PROGRAM
        return author if author != PROGRAM else None

    def _whose(self, line: Line) -> Whose:
        author = summary_author(self._origin(line)[1])
        return "program" if author == PROGRAM else "agent" if author.startswith(AGENT) else "person"

    def _is_forgotten(self, line: Line) -> bool:
        buried = self._unheard.get(line.writer)
        if buried is None or not line.text.strip():
            return False
        if self.path != STATE and part_of(self.path, line) is not None and self._whose(line) == "program":
            return False  # it says what stands on the page
        return self._is_buried(line)

    def _is_buried(self, line: Line) -> bool:
        buried = self._unheard.get(line.writer)
        if buried is None:
            return False
        if self._origin(line)[1].reason.rpartition("/")[2] in buried.gone:
            return True  # distilled from what is gone
        told = self._told_of(line)
        if told is not None and buried.has_told({"topic": topic_of(self.path)} | told):
            return True
        return buried.has_line(self.path, line.text.strip())

    def _text_before(self, change: str) -> str | None:
        return next((log.before[change] for log in self._logs.values() if change in log.before), None)

    def _shown(self, line: Line, past: Mapping[str, int] | None) -> str:
        text = line.text_in(past)
        machine, edit = self._origin(line)
        return said_on(body(text), machine, written(edit.ts)[:10]) + line_end(text)

    def _told_of(self, line: Line) -> Record | None:
        """Return what the edit that put a line there says of its fact."""
        said = statement(body(line.text).strip()[1:].strip())
        facts = self._origin(line)[1].facts
        return next((each for each in facts if (each.get("relation"), each.get("object")) == said), None)

    def _word(self, line: Line) -> Word:
        edit, told = self._origin(line)[1], self._told_of(line)
        if told is None:
            return Word(edit.author in (PERSON, EXTERNAL), edit.ts)
        when = max(float(told.get(name) or 0.0) for name in ("order", "said_at", "entry_ts"))
        return Word(told.get("level") in ("said", "confirmed"), when or edit.ts)


@frozen
class News:
    """What is new in another machine's log: the pages and topics that it changed, where it ends, and how many records
    are left out. `is_newer`: it has records of a newer program, which may mean anything."""

    machine: str
    pages: frozenset[str]
    topics: frozenset[str]
    end: list[object]
    left_out: int = 0
    is_newer: bool = False


class OtherMachines:
    """Takes in, when called, what other machines wrote since."""

    def __init__(self, context: Context, parts: Needs) -> None:
        self._store, self._policy, self._note = context.store, context.policy, context.note
        self._parts = parts
        self._facts: dict[str, Facts] = {}
        self._looks: dict[str, tuple[tuple[int, ...], list[object] | None]] = {}
        """By machine, how its journal's file looked, and where the journal ended."""
        self._logs: Mapping[str, Mapping[str, PageLog]] = {}
        self._proofs = Proofs(self._store, trusts=self._policy.trust_external_edits)
        self._newer: set[str] = set()
        self._behind: set[str] = set()
        """The machines whose logs lack something, and of which that was said."""
        self._works = self._keeps = False
        """`keeps`: lines of a page that no log has stay on it."""

    def __call__(self) -> None:
        absorb = self._parts.pages.absorb
        if self._works or not self._has_news():
            return
        self._works = True
        try:
            with absorb.threads, self._store.lock():
                absorb.know(recovers=True)
                freed = self._freed()
                machines = self._parts.files.machines()
                for machine in absorb.heads.doubted:
                    absorb.heads.taken.pop(machine, None)  # all of it again: more may be proven now
                news = [each for each in map(self._read, machines) if each is not None]
                if self._refuse_newer(news) or self._wait(news):
                    return
                for each in news:
                    self._drop_gone(each.machine)
                if (news or freed) and all(map(self._is_whole, machines)):
                    self._take(news, freed)
                    self._tell_left_out(news)
        finally:
            self._works = False

    def _refuse_newer(self, news: Sequence[News]) -> bool:
        """True if a newer program wrote one of the logs: until this one is as new, nothing is taken in."""
        newer = [each.machine for each in news if each.is_newer]
        for machine in newer:
            if machine not in self._newer:
                self._newer.add(machine)
                self._note(
                    f"The log of {machine} has records of a newer looseleaf. Until this one is updated, nothing of "
                    "other machines is taken in."
                )
        return bool(newer)

    def _wait(self, news: Sequence[News]) -> bool:
        """True if a log lacks what was taken in of it."""
        taken = self._parts.pages.absorb.heads.taken
        places = {name: place for name, place in taken.items() if not name.endswith(".md")}
        behind = find_behind(self._store, self._parts.files.machine, places) if news else {}
        for machine in sorted(behind.keys() - self._behind):
            self._behind.add(machine)
            self._note(told_behind(machine))
        return bool(behind)

    def go_on(self) -> list[str]:
        """Take in what there is, though logs lack what was taken in of them; what only pages have of that stays on
        them. Return a sentence for each log."""
        absorb = self._parts.pages.absorb
        with absorb.threads, self._store.lock():
            behind = find_behind(self._store, self._parts.files.machine)
            if not behind:
                return []
            record: Record = {"schema": JOURNAL_SCHEMA, "id": new_id(), "ts": clock.now(), "kind": WITHOUT}
            self._keeps = True
            try:
                for machine in behind:
                    absorb.heads.taken.pop(machine, None)
                machines = self._parts.files.machines()
                news = [each for each in map(self._read, machines) if each is not None]
                paths = [path for path in absorb.heads.pages if is_page_path(path)]
                self._take(news, paths)
            finally:
                self._keeps = False
            self._store.append(JOURNAL, [record | {"machines": behind}])
        return [f"what is here goes on without what the log of {name} lacks" for name in sorted(behind)]

    def _tell_left_out(self, news: Sequence[News]) -> None:
        for each in news:
            if each.left_out:
                many = "1 record" if each.left_out == 1 else f"{each.left_out:,} records"
                self._note(f"{many} in the log of {each.machine} {MAKE_NO_SENSE}")

    def drop_known(self, copies: Sequence[Held]) -> list[str]:
        """Remove conflict copies whose bytes a log has as a version of their page. The file that a copier put in place
        of such a version did not build on it: lines that disappeared that way are put back."""
        logs = _page_logs(
            self._store,
            self._parts.files.machine,
            self._parts.files.machines(),
            {held.of or "" for held in copies},
        )
        dropped: list[str] = []
        for held in copies:
            path = held.of or ""
            own = logs.get(path, {})
            document = self._parts.files.get(held.path, self._policy.page_bytes)
            if document is None or all(document.sha256 not in log.versions for log in own.values()):
                continue
            if not self._is_past(path, document.sha256, own):
                continue
            lost = _overwritten(document.sha256, self._page(path, own), own)
            if lost and not self._put_back(path, document.data.decode("utf-8", "replace"), lost):
                continue
            self._store.delete(held.path, base=document.sha256)
            if held.path in self._parts.pages.absorb.heads.copies:
                self._parts.pages.absorb.note_copy(held.path, None)
            dropped.append(held.path)
        return dropped

    def without_forgotten(self, path: str, head: bytes | None, data: bytes) -> bytes:
        """Return a page that was changed outside, without the lines that are forgotten here: a copier brought an old
        file. A person can still say such a thing again."""
        buried = self._parts.stones.heard()
        text_of = _woven_text(path)
        text, before = text_of(data), text_of(head)
        if not buried or text is None:
            return data
        known = {*split_lines(before or "")}
        lines = list(split_lines(text))
        left = [
            line
            for line in lines
            if line in known or not line.strip() or not buried.has_line(path, line.strip())
        ]
        if left == lines:
            return data
        count = len(lines) - len(left)
        lost = "a forgotten line, which was" if count == 1 else f"{count} forgotten lines, which were"
        self._note(f"{path} came back with {lost} left out. To have it again, use `looseleaf remember`.")
        return state_of((line, "") for line in left) if path == STATE else "".join(left).encode()

    def brought(self, path: str, version: str, stat: Stat) -> bool:
        """True if a program that copies newer files over older ones brought a file, with its time: it is a version that
        another machine left, as old as its edit; or a known one that was left after the edit that made the page here,
        by a machine whose log is still on its way. (A person who takes a version back saves it then.)"""
        if stat.mark[4] - stat.mark[3] < _CARRIED_NS:
            return False
        when, head = stat.mtime_ns / 1e9, self._parts.pages.absorb.heads.get(path)
        is_later = is_id(head.edit or "") and when > time_of(head.edit or "")
        for stream in journals(self._store):
            for line in self._store.read(stream):
                record = line.record
                left = record.get("new"), record.get("taken")
                if record.get("path") == path and version in (*left, record.get("base")):
                    is_elsewhere = stream != JOURNAL and version in left
                    if is_later or (is_elsewhere and abs(when - float(record.get("ts") or 0.0)) < _AT_ONCE):
                        return True
        return False

    def tell_put_back(self, path: str, version: str) -> None:
        """Say that a page is as before again, if no other machine is known to have left that version since."""
        head = self._parts.pages.absorb.heads.get(path).edit or ""
        since = time_of(head) if is_id(head) else 0.0
        others = (line.record for stream in journals(self._store)[1:] for line in self._store.read(stream))
        left = (
            each
            for each in others
            if each.get("path") == path and version in (each.get("new"), each.get("taken"))
        )
        if not any(float(each.get("ts") or 0.0) > since for each in left):
            self._note(
                f"{path} was an earlier version again, brought by a program that copies files, as it seems. It is as "
                "before now; if you took that version back, save it once more."
            )

    def _is_past(self, path: str, version: str, logs: Mapping[str, PageLog]) -> bool:
        """True if all machines that wrote a version say what came after it, or the file here is still that. Before
        that, what was written over it is not known."""
        document = self._parts.files.get(path, self._policy.page_bytes)
        stays = {self._parts.files.machine} if document is not None and document.sha256 == version else set()
        had = {name: log for name, log in logs.items() if version in log.versions}
        wrote = {
            name
            for name, log in had.items()
            for edit in log.edits.values()
            if edit.new == version and edit.merge is None
        }
        past = {name for name, log in had.items() for edit in log.edits.values() if edit.base == version}
        return (wrote or {*had}) <= past | stays

    def _put_back(self, path: str, copy: str, lines: Collection[str]) -> bool:
        """Put lines of a copy on its page again; False if a change of it is to be absorbed first."""
        with self._store.lock():
            absorb = self._parts.pages.absorb
            document = self._parts.files.get(path, self._policy.page_bytes)
            head = absorb.head_bytes(path)
            if document is None or document.sha256 != sha256_or_none(head):
                return False
            text = document.data.decode("utf-8", "replace")
            made = with_lines(text, copy, set(lines) & set(new_lines(text, copy))).encode()
            if made == document.data:
                return True
            self._parts.known.catch_up()
            there = {(fact.relation, fact.object) for fact in parse(path, text).facts}
            back = [
                each for each in parse(path, made.decode()).facts if (each.relation, each.object) not in there
            ]
            known = self._parts.known.of(shard_of(path) or "")
            told: list[Record] = []
            for read in back:
                like = [
                    each for each in known if (each.relation, each.object) == (read.relation, read.object)
                ]
                if like:
                    last = max(like, key=lambda each: each.valid_to or "")
                    told.append(
                        {name: value for name, value in last.to_dict().items() if name not in _OF_LINE}
                    )
            edit = make_edit(new_id(), clock.now(), path, PROGRAM, KEPT, head, made, facts=tuple(told))
            self._store.put(path, made, base=document.sha256, record=record_of(edit))
            absorb.heads.catch_up()
            return True

    def _page(self, path: str, logs: Mapping[str, PageLog]) -> WovenPage:
        own, stones = self._parts.files.machine, self._parts.stones
        found = {name: stones.unheard("" if name == own else name) for name in logs}
        return WovenPage(path, logs, {name: each for name, each in found.items() if each})

    def undone(self, path: str, edit: str, head: bytes | None) -> bytes | None:
        """Return a page without an edit of this machine, where others wrote since."""
        own = self._parts.files.machine
        capped = Proofs(self._store, trusts=self._policy.trust_external_edits).capped
        logs = _page_logs(self._store, own, self._parts.files.machines(), {path}, capped).get(path, {})
        page = self._page(path, logs)
        page.take_arrivals()
        return page.undone(own, edit, head)

    # --- what is new -----------------------------------------------------------------------

    def _has_news(self) -> bool:
        taken = self._parts.pages.absorb.heads.taken
        others = self._parts.files.machines()
        if any(self._end(name) not in (None, taken.get(name)) for name in others):
            return True
        doubted = self._parts.pages.absorb.heads.doubted
        return bool(self._freed()) or any(each != self._find_talk() for each in doubted.values())

    def _find_talk(self) -> str:
        """Return what changes when talk or entries of other machines arrive: what their logs claim may rest on it."""
        machines = self._parts.files.machines()
        stats = (self._store.stat(stream_files(each)[0]) for each in talk_elsewhere(self._store))
        folders = (f"{log_of(machine)}/entries" for machine in machines)
        topics = [f"{folder}/{topic}" for folder in folders for topic in self._store.folders(folder)]
        entries = [name for topic in topics for name in self._store.folders(topic)]
        return sha256(repr(([stat and stat.mark for stat in stats], entries)).encode())

    def _freed(self) -> list[str]:
        """Return the pages that waited for a name, and can have it now."""
        waiting = [path for path in self._parts.pages.absorb.heads.taken if path.endswith(".md")]
        return [path for path in waiting if self._twin_of(path) is None]

    def _twin_of(self, path: str) -> str | None:
        """Return the file whose name some systems take for that of a page that has no file here."""
        folder, slash, name = path.rpartition("/")
        names = self._parts.files.root.names(folder)
        twins = (each for each in names if same_name(each, name)) if name not in names else iter(())
        return next((f"{folder}{slash}{each}" for each in sorted(twins)), None)

    def _is_whole(self, machine: str) -> bool:
        """True if the journal that is here knows what its machine has forgotten. If not, it is older than the
        tombstones beside it, and the newer one is on its way."""
        stones = {stone.id for stone in self._parts.stones.of(machine)}
        if stones:
            for line in self._store.read(stream_of(machine, JOURNAL)):
                if line.record.get("kind") == "forgotten":
                    stones.discard(str(line.record.get("id")))
        return not stones

    def _drop_gone(self, machine: str) -> None:
        """Drop entries and bodies that a machine removed when it forgot: not every copier carries that. So the versions
        of pages that it had displaced."""
        buried = self._parts.stones.heard(machine)
        if not buried:
            return
        self._parts.files.drop_aside(lambda data: False)
        log, remove = log_of(machine), self._parts.files.remove_from
        for topic in self._store.folders(f"{log}/entries"):
            for entry in buried.gone.intersection(self._store.folders(f"{log}/entries/{topic}")):
                remove(machine, f"{log}/entries/{topic}/{entry}")
        for stat in self._store.list(f"{log}/bodies"):
            if buried.holds("body", stat.path.rpartition("/")[2]):
                remove(machine, stat.path)

    def _end(self, machine: str) -> list[object] | None:
        """Return where the journal of a machine ends. It is read only if its file looks different."""
        path = stream_files(stream_of(machine, JOURNAL))[0]
        stat = self._store.stat(path)
        looked = self._looks.get(machine)
        if looked is not None and stat is not None and looked[0] == stat.mark:
            return looked[1]
        last = next(self._store.read_back(stream_of(machine, JOURNAL)), None)
        end = None if last is None else [*last.end, last.record.get("id")]
        if stat is not None and max(stat.mark[3:5]) < time.time_ns() - RACY_NS:
            self._looks[machine] = stat.mark, end
        return end

    def _read(self, machine: str) -> News | None:
        """Return what is new in a log. If it is no longer the log that was read, all of it is new."""
        stream = stream_of(machine, JOURNAL)
        place = self._parts.pages.absorb.heads.taken.get(machine)
        start = START
        if place is not None and is_same_log(self._store, Position(place[0], place[1]), place[2], stream):
            start = Position(place[0], place[1])
        pages: set[str] = set()
        topics: set[str] = set()
        end: list[object] | None = None
        left_out = 0
        for line in self._store.read(stream, start):
            record = line.record
            end = [*line.end, record.get("id")]
            if is_newer(record):
                return News(machine, frozenset(), frozenset(), end, is_newer=True)
            left_out += record.get("kind") == LEFT_OUT
            if record.get("kind") in ("edit", "void"):
                pages.add(str(record.get("path")))
                topics.add(shard_of(str(record.get("path"))) or "")
                topics.update(str(raw.get("topic")) for raw in record.get("facts", ()))  # an item of review
            elif record.get("kind") in ("fact", "placed"):
                topics.add(str(record.get("topic")))
                for raw in (*record.get("raised", ()), *record.get("history", ())):
                    topics.add(str(raw.get("topic")))
                topics.update(str(topic) for topic, *_ in record.get("restated", ()))
            elif record.get("kind") == MERGED:
                topics.update(str(raw.get("topic")) for raw in record.get("facts", ()))
        if end is None:
            return None
        return News(machine, frozenset(pages), frozenset(topics - {""}), end, left_out)

    # --- taking it in ----------------------------------------------------------------------

    def _take(self, news: list[News], freed: Sequence[str] = ()) -> None:
        absorb = self._parts.pages.absorb
        self._parts.known.catch_up()
        talk = self._find_talk()  # before it is read: what comes meanwhile is looked at the next time
        self._proofs = Proofs(self._store, trusts=self._policy.trust_external_edits)
        paths = {*freed, *(path for each in news for path in each.pages)}
        files = self._parts.files
        logs = _page_logs(self._store, files.machine, files.machines(), paths, self._proofs.capped)
        reversed_here = [path for path in sorted(paths) if self._absorb_reversal(path, logs.get(path, {}))]
        if reversed_here:
            logs = _page_logs(self._store, files.machine, files.machines(), paths, self._proofs.capped)
        for machine in (self._parts.files.machine, *self._parts.files.machines()):
            self._facts_of(machine).catch_up()
        arrived: dict[str, tuple[str, Edit]] = {}
        self._logs = logs
        for path in sorted(paths):
            page = self._page(path, logs.get(path, {}))
            arrived |= page.take_arrivals()
            self._weave_page(page, logs.get(path, {}))
        self._parts.known.catch_up()
        authors = {
            name: edit.author
            for page in logs.values()
            for log in page.values()
            for name, edit in log.edits.items()
        }
        told = self._join_facts(news, arrived, authors)
        if told:
            record: Record = {"schema": JOURNAL_SCHEMA, "id": new_id(), "ts": clock.now(), "kind": MERGED}
            self._store.append(JOURNAL, [record | told])
        self._drop_states()
        absorb.heads.catch_up()
        absorb.heads.doubted = dict.fromkeys(sorted(self._proofs.doubted), talk)
        absorb.heads.take_in({each.machine: each.end for each in news})

    def _absorb_reversal(self, path: str, logs: Mapping[str, PageLog]) -> bool:
        """Journal that a person made a page here what it was before: what they took out must not come back with the
        news. Return whether that was so. (What a copier brings is older than its place, or another machine's.)"""
        absorb, machine = self._parts.pages.absorb, self._parts.files.machine
        stat = self._store.stat(path) if is_page_path(path) else None
        head = absorb.heads.get(path)
        if stat is None or absorb.heads.has_seen(stat) or not is_id(head.edit or "") or machine not in logs:
            return False
        if stat.mark[4] - stat.mark[3] >= _CARRIED_NS or stat.mtime_ns / 1e9 < time_of(head.edit or ""):
            return False
        document = self._parts.files.get(path, self._policy.page_bytes)
        there = [log for name, log in logs.items() if name != machine]
        elsewhere = {edit.new for log in there for edit in log.edits.values() if edit.merge is None}
        elsewhere |= {sha256_or_none(log.page) for log in there}
        past = {edit.new for edit in logs[machine].edits.values()} - elsewhere - {head.sha256}
        if document is None or document.sha256 not in past:
            return False
        if absorb.hold(path, document):
            return False
        absorb.journal_edit(path, document.data, *absorb.heads.author(path))
        return True

    def _drop_states(self) -> None:
        """Remove conflict copies of the state that a log has as a version of it: what they say is woven in."""
        names = [stat.path for stat in self._store.list()]
        copies = [name for name, original in copies_among(names) if original == STATE]
        files = self._parts.files
        logs = _page_logs(self._store, files.machine, files.machines(), {STATE} if copies else ())
        for name in copies:
            document = files.get(name, self._policy.page_bytes)
            if document is not None and any(document.sha256 in log.versions for log in logs[STATE].values()):
                self._store.delete(name, base=document.sha256)

    def _weave_page(self, page: WovenPage, logs: Mapping[str, PageLog]) -> None:
        absorb, machine, path = self._parts.pages.absorb, self._parts.files.machine, page.path
        edit_id, found = new_id(), Verdict()
        weave = page.weave()
        latest = page.latest(weave)
        if latest is None:
            found = page.judge(weave)
            if found != Verdict():
                there = frozenset(page.seen) - {machine}
                change = Change(
                    edit_id, (), page.seen, drops=found.drops, contests=found.contests, alone=there
                )
                weave = page.weave((machine, change))
        new = page.made(weave) if latest is None else latest.page
        head = absorb.head_bytes(path)
        absorb.heads.taken.pop(path, None)
        if head is None and new is not None and (twin := self._twin_of(path)) is not None:
            absorb.heads.take_in({path: [0, 0, None]})
            self._note(f"{path} of {', '.join(sorted(page.seen))} waits: {twin} {TAKE_FOR_ONE}")
            return
        seen = {name: last for name, last in page.seen.items() if name != machine}
        if new == head and found == Verdict() and page.is_told(weave, machine):
            return
        writers = {undoubted(body(line.text).strip()): line.writer for line in weave.lines()}
        told = self._told(path, head, new, writers)
        edit = make_edit(edit_id, clock.now(), path, PROGRAM, REASON, head, new, facts=told).but(
            merge=_merge_of(seen, found, page.machine_of(latest)), summary=page.summary_author(weave)
        )
        self._put(path, logs, edit, head, new)
        if self._keeps and head is not None:
            self._keep(path, head, weave)

    def _keep(self, path: str, head: bytes, weave: Weave) -> None:
        """Put lines that no log has any more on their page again."""
        text_of = _woven_text(path)
        now = self._parts.pages.absorb.head_bytes(path)
        text, before = (text_of(each) or "" for each in (now, head))
        told = {line.text.strip() for line in (*weave.lines(), *(line for line, _ in weave.removed()))}
        lost = [line for line in new_lines(text, before) if line not in told]
        if path != STATE:
            self._put_back(path, before, lost)
        elif lost:
            made = state_of((row, "") for row in (*split_lines(text), *lost))
            edit = self._parts.pages.absorb.edit_from_head(path, made, PROGRAM, KEPT)
            self._store.put(path, made, base=sha256_or_none(now), record=record_of(edit))

    def _put(
        self, path: str, logs: Mapping[str, PageLog], edit: Edit, head: bytes | None, new: bytes | None
    ) -> None:
        """Journal a merged page, and put it in place of a file that is a known version. Any other file has words of a
        person: they are put on the merged page, as an edit of their own."""
        if not is_page_path(path):
            return  # only pages are made of logs
        absorb = self._parts.pages.absorb
        document = self._parts.files.get(path, self._policy.page_bytes)
        there = document.sha256 if document is not None else None
        known = {
            sha256_or_none(head),
            sha256_or_none(new),
            *(each for log in logs.values() for each in log.versions),
        }
        if there in known and there is not None and there != sha256_or_none(new):
            if new is None:
                self._store.delete(path, base=there, record=record_of(edit))
            else:
                self._store.put(path, new, base=there, record=record_of(edit))
            absorb.heads.catch_up()
            return
        if there is None and head is None and new is not None:
            self._store.put(path, new, base=None, record=record_of(edit))
            absorb.heads.catch_up()
            return
        author, reason = absorb.heads.author(path)
        self._store.append(JOURNAL, [record_of(edit)])
        absorb.heads.catch_up()
        absorb.keep_copy(path, new)
        if document is not None and there not in known and not absorb.hold(path, document):
            versions = [_woven_text(path)(head), *_last_texts(path, logs.values())]
            self._put_on(path, document, versions, new, author, reason)

    def _put_on(
        self,
        path: str,
        document: Document,
        versions: Iterable[str | None],
        new: bytes | None,
        author: str,
        reason: str,
    ) -> None:
        """Put what a person did to a file on the merged page. The version most like the file is taken for the one that
        the person changed."""
        text_of = _woven_text(path)
        file, merged = text_of(document.data), text_of(new)
        if file is None or merged is None:
            return  # it stays as it is, and is absorbed as an outside edit
        texts = [text for text in versions if text is not None]
        base = find_base(texts, file)
        if path == STATE:
            rows = weave_both(base, merged, own_rows(file, base, [merged, *texts]))
            machine = self._parts.files.machine
            made = state_of((row, machine) for row in split_lines(rows) if row.strip())
        else:
            file = _own_words(file, base, [merged, *texts])
            made = put_on(path, base, merged, file).encode()
        if made == new:
            self._store.put(path, made, base=document.sha256)
        elif made != document.data:
            outside = self._parts.pages.absorb.edit_from_head(path, made, author, reason)
            record = record_of(outside) | {"taken": document.sha256}
            self._store.put(path, made, base=document.sha256, record=record)
            self._parts.pages.absorb.heads.catch_up()

    def _told(
        self, path: str, head: bytes | None, new: bytes | None, writers: Mapping[str, str]
    ) -> tuple[Record, ...]:
        """Return what the machines know of the facts on the lines that are new here, or marked. `writers`: by line, the
        machine that wrote it, which knows best."""
        text, before = (new or b"").decode(), (head or b"").decode("utf-8", "replace")
        lines = text.splitlines()
        old = {(fact.relation, fact.object) for fact in parse(path, before).facts}
        known = {name: self._facts_by_words(name, path) for name in {self._parts.files.machine, *self._facts}}
        found: list[Record] = []
        for read in parse(path, text).facts:
            if (read.relation, read.object) in old:
                continue
            line = undoubted(lines[(read.line or 1) - 1].strip())
            machines = sorted(known, key=lambda name: name != writers.get(line))
            words = sorted({read.object, undoubted(read.object)})
            like = [
                fact
                for name in machines
                for said in words
                for fact in known[name].get((read.relation, said), ())
            ]
            # One that is on no page gave way to one that is gone: it is again what it was.
            on_page = next((fact for fact in like if fact.path == path), None)
            fact = on_page or max(like, key=worth, default=None)
            if fact is not None:
                for each in like:  # what one machine decided is not taken back by what another knows
                    fact = join(fact, each, stands=True) if each.id == fact.id else fact
                told = {name: value for name, value in fact.to_dict().items() if name not in _OF_LINE}
                found.append(told | {"relation": read.relation, "object": read.object})
        return tuple(found)

    def _facts_by_words(self, machine: str, path: str) -> Mapping[tuple[str, str], list[Fact]]:
        """Return what a machine knows, or knew, of the lines of a page, by their words."""
        found: dict[tuple[str, str], list[Fact]] = {}
        for fact in self._proven_facts(machine, shard_of(path) or ""):
            found.setdefault((fact.relation, fact.object), []).append(fact)
        return found

    def _proven_facts(self, machine: str, topic: str) -> list[Fact]:
        """Return the facts of a topic as a machine knows them, with no higher level than is proven now."""
        found = self._facts_of(machine).of(topic)
        if machine == self._parts.files.machine:
            return found
        return [self._proofs.capped_fact(fact, machine) for fact in found]

    def _facts_of(self, machine: str) -> Facts:
        if machine == self._parts.files.machine:
            return self._parts.known
        if machine not in self._facts:
            log = OtherLog(self._store, machine, without_levels)

            def head(path: str) -> bytes | None:
                from looseleaf.pages.history import History

                return History(log).texts().get(path)

            trusts = self._policy.trust_external_edits
            self._facts[machine] = Facts(log, head, trusts=trusts)
        return self._facts[machine]

    def _join_facts(
        self, news: Iterable[News], arrived: Mapping[str, tuple[str, Edit]], authors: Mapping[str, str]
    ) -> Record:
        """Return the facts of which this machine knows something else once it has read the others' logs. Also those
        that take the place of another on their line, because two machines made a fact of the same words: of the two,
        the one with the lower id."""
        before: dict[tuple[str, str], Fact] = {}
        now: dict[tuple[str, str], Fact] = {}
        lines: dict[tuple[str, str, str], str] = {}
        retold: dict[str, str] = {}
        for topic in {topic for each in news for topic in each.topics}:
            for fact in self._parts.known.of(topic):
                before[topic, fact.id or ""] = fact
                now[topic, fact.id or ""] = self._attributed(fact, arrived, authors)
                if fact.path is not None:
                    lines[fact.path, fact.relation, fact.object] = fact.id or ""
        for each in news:
            unheard = self._parts.stones.unheard(each.machine)
            for topic in sorted(each.topics):
                for told in self._proven_facts(each.machine, topic):
                    fact = self._attributed(told, arrived, authors)
                    at = topic, fact.id or ""
                    held = now.get(at)
                    if held is None and unheard and unheard.has_told(fact.to_dict()):
                        continue
                    if held is not None and held.path is not None:  # it says what its line says here
                        both = join(held, fact, stands=True)
                        now[at] = both.but(object=held.object, path=held.path)
                    else:
                        now[at] = join(held or fact, fact, stands=False).but(path=None)
                    line = fact.path or "", fact.relation, fact.object
                    other = lines.get(line)
                    if other is not None and other != fact.id:
                        first, last = sorted((other, fact.id or ""))
                        mine, theirs = now[topic, first], now[topic, last]
                        now[topic, first] = join(mine, theirs.but(id=first), stands=True).but(path=fact.path)
                        now[topic, last] = theirs.but(
                            status="superseded", superseded_by=first, valid_to=None, path=None
                        )
                        if other != first:
                            retold[first] = retold.pop(other, other)
                            lines[line] = first
        self._end_replaced(now)
        changed = {
            at: fact.but(path=None, line=None)
            for at, fact in sorted(now.items())
            if at not in before or fact.but(path=None, line=None) != before[at].but(path=None, line=None)
        }
        record: Record = {"facts": [fact.to_dict() for fact in changed.values()]}
        record["retold"] = [
            [old, now[at].to_dict()] for at in sorted(now) if (old := retold.get(at[1])) is not None
        ]
        return {name: value for name, value in record.items() if value}

    def _end_replaced(self, facts: dict[tuple[str, str], Fact]) -> None:
        """Say of values that gave way to one of another machine to which, and when: when that one began."""
        stand: dict[tuple[str, str, str], list[Fact]] = {}
        for (topic, _), fact in facts.items():
            at = address_of(fact)
            if fact.path is not None and fact.status == "current" and not at.many:
                stand.setdefault((topic, at.slot, at.within), []).append(fact)
        for key, fact in facts.items():
            if fact.status != "superseded" or fact.valid_to is not None or fact.superseded_by is not None:
                continue
            at = address_of(fact)
            found = stand.get((key[0], at.slot, at.within), ())
            if len(found) == 1 and found[0].valid_from is not None and not address_of(fact).many:
                end = max(found[0].valid_from, fact.valid_from or "")
                facts[key] = fact.but(superseded_by=found[0].id, valid_to=end)

    def _attributed(
        self, fact: Fact, arrived: Mapping[str, tuple[str, Edit]], authors: Mapping[str, str]
    ) -> Fact:
        """Return a fact with the level that it really has, if it only seemed to be a person's because the file came
        before the log that explains it."""
        edits = [source.rpartition("@")[2] for source in fact.sources]
        found = [arrived[name] for name in edits if name in arrived]
        if not found or any(name not in arrived and authors.get(name, PERSON) in _PERSONS for name in edits):
            return fact
        machine, edit = found[0]
        while edit.id in arrived:  # it only passed on what had come there
            machine, edit = arrived[edit.id]
        level = lowest(
            (fact.level or "tainted", _level_at(fact, edit, self._logs[edit.path][machine], arrived))
        )
        if level == fact.level:
            return fact  # its level was not too high
        return fact.but(level=level, confidence=CONFIDENCE[level], decided_at=edit.ts)


_AT_ONCE = 10.0
"""Seconds: how long after its edit was journaled a page is put in place, at most, on most days."""
MAKE_NO_SENSE = (
    "make no sense, or are about files that are no pages, and are left out. `looseleaf check` names them."
)
TAKE_FOR_ONE = (
    "is here, and some systems take the two names for one. Rename one of them, on the machine that has it."
)
_CARRIED_NS = 50_000_000
"""By how much the time of a carried file, which it had where it was written, is before its coming."""
_LAST = 20
"""With how many versions of each machine a file is compared, to find the one that a person changed."""
_PERSONS = (PERSON, EXTERNAL)
_OF_LINE = frozenset({"path", "line", "status", "valid_to", "superseded_by"})


def _text_of(page: bytes | None) -> str | None:
    try:
        return (page or b"").decode()
    except UnicodeDecodeError:
        return None


def _level_at(fact: Fact, edit: Edit, log: PageLog, arrived: Collection[str]) -> Level:
    """Return the level of a fact on the page that an edit left, by the edit that put its line there. (What its machine
    says of it may come from one that took a file for a person's.)"""
    said = undoubted(fact.object)
    level: Level = "inferred"
    for each in log.edits.values():
        told = [
            raw
            for raw in each.facts
            if raw.get("relation") == fact.relation and undoubted(raw["object"]) == said
        ]
        if told:
            level = told[0].get("level") or level
        elif each.id not in arrived and any(
            _plain(line).removeprefix("- ") in (said, f"{fact.relation}: {said}")
            for hunk in each.hunks
            for line in hunk.added
        ):
            level = "confirmed" if each.author in _PERSONS else "inferred"
        if each.id == edit.id:
            break
    return level


def _own_words(file: str, base: str, versions: Iterable[str]) -> str:
    """Return a file without the lines that machines wrote and that its base does not have: a program that merges files
    (git) brought them, or marked the lines that are there."""
    before = {_plain(part) for part in split_parts(base)}
    brought = {_plain(part) for text in versions for part in split_parts(text)} - before - {""}
    own: list[str] = []
    for part in split_parts(file):
        plain = _plain(part)
        if plain not in brought:
            own.append(part.replace(body(part).strip(), plain) if plain in before else part)
    return joined(own)


def _plain(part: str) -> str:
    return undoubted(body(part).strip())


def _woven_text(path: str) -> Callable[[bytes | None], str | None]:
    """Return the function that makes of the bytes of a page the text that is woven."""
    return rows_of if path == STATE else _text_of


def _last_texts(path: str, logs: Iterable[PageLog]) -> Iterator[str | None]:
    """Yield the last versions of a page that machines had, each once."""
    done: set[str | None] = set()
    for log in logs:
        for text in (_woven_text(path)(log.page), *[*log.before.values()][: -_LAST - 1 : -1]):
            if text not in done:
                done.add(text)
                yield text


def _overwritten(version: str, page: WovenPage, logs: Mapping[str, PageLog]) -> set[str]:
    """Return the lines of a version that disappeared when a file found on disk took its place."""
    arrived = page.take_arrivals()
    return {
        line.strip()
        for log in logs.values()
        for edit in log.edits.values()
        if edit.base == version and edit.author in (EXTERNAL, UNKNOWN) and edit.id not in arrived
        for hunk in edit.hunks
        for line in hunk.removed
        if line.strip()
    }


def _merge_of(seen: Mapping[str, str], found: Verdict, like: str | None) -> Record:
    merge: Record = {"seen": dict(sorted(seen.items()))}
    if like in seen:
        merge["as"] = like
    pairs = {"drops": found.drops, "contests": found.contests}
    return merge | {
        name: [[list(one), list(other)] for one, other in each] for name, each in pairs.items() if each
    }


def _page_logs(
    store: Store,
    own: str,
    others: Iterable[str],
    paths: Collection[str],
    capped: Callable[[Record, str], Record] | None = None,
) -> dict[str, dict[str, PageLog]]:
    """Return the edits of some pages in all logs, by page and machine. Two logs may begin alike, because one was
    copied: an edit belongs to the first log that has it. `capped`: returns a record of another machine without levels
    that are not proven."""
    found: dict[str, dict[str, PageLog]] = {}
    owners: dict[str, str] = {}
    for machine, stream in ((own, JOURNAL), *((name, stream_of(name, JOURNAL)) for name in others)):
        for line in store.read(stream):
            path = line.record.get("path")
            if path not in paths:
                continue
            log = found.setdefault(str(path), {}).setdefault(machine, PageLog(_woven_text(str(path))))
            record = line.record if capped is None or machine == own else capped(line.record, machine)
            edit = edit_of(record)
            if edit is not None:
                taken = record.get("taken")
                log.add(edit, owners.get(edit.id), taken if isinstance(taken, str) else None)
                owners.setdefault(edit.id, machine)
            elif line.record.get("kind") == "void":
                log.drop(str(line.record.get("edit")))
    return found
