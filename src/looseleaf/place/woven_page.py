"""One page in the logs of all machines: its edits as changes that are woven, and what comes of them."""

from __future__ import annotations

from collections import Counter
from functools import partial

from looseleaf.base.ids import new_id
from looseleaf.base.paths import STATE
from looseleaf.base.values import sha256
from looseleaf.facts.woven import (
    Verdict,
    Word,
    find_doubles,
    judge,
    name_of,
    part_of,
    repeats,
    summary_of_lines,
)
from looseleaf.log.journal import (
    AGENT,
    EXTERNAL,
    PERSON,
    PROGRAM,
    UNKNOWN,
    BrokenEdit,
    edit_of,
    forward,
    summary_author,
)
from looseleaf.pages.grammar import drawer, new_page, topic_of
from looseleaf.state.rows import judge_rows, rows_of, state_of
from looseleaf.store import JOURNAL
from looseleaf.store.machines import stream_of
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import body, line_end, said_on, statement, undoubted
from looseleaf.text.times import written
from looseleaf.text.weave import Change, Weave, change_between, joined, weave_both

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from looseleaf.base.values import Edit, Record
    from looseleaf.facts.stones import Buried, Stones
    from looseleaf.facts.woven import Whose
    from looseleaf.store.protocol import Store
    from looseleaf.text.weave import Line, LineKey

_LAST = 20
"""With how many versions of each machine a file is compared, to find the one that a person changed."""


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
                        self._put.setdefault(plain_part(line), []).append((name, machine))

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
        is_deleted = any(map(self._deletes, self._logs.values()))
        if all(line.is_held for line in lines) and (is_deleted or self._void):
            return None
        if self.path == STATE:
            return state_of((line.text, line.writer) for line in lines)
        text = weave.text()
        if self._lacks_title(weave, lines):
            text = new_page(self.path) + "\n" + text.lstrip("\r\n")
        return text.encode()

    def _deletes(self, log: PageLog) -> bool:
        """True if the last that a machine did to the page, apart from taking in others' words, was to delete it."""
        own = (
            log.edits[each.id]
            for each in reversed(log.changes)
            if each.id not in self._arrived and log.edits[each.id].merge is None
        )
        last = next(own, None)
        return last is not None and last.new is None

    def _lacks_title(self, weave: Weave, lines: Iterable[Line]) -> bool:
        """True if the program keeps a page, and its title went with an edit that was forgotten or undone, or with the
        page."""
        parts = {part_of(self.path, line): line for line in lines}
        summary = parts.get("summary")
        if summary is None or "title" in parts or self._whose(summary) != "program":
            return False
        took = (by for line, by in weave.removed() if part_of(self.path, line) == "title")
        edits = (self._edits[each] for by in took for each in by if each in self._edits)
        return all(edit.new is None or edit.undoes is not None for edit in edits)

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
        put = self._put.get(plain_part(line.text), [])
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


def woven_page(path: str, logs: Mapping[str, PageLog], own: str, stones: Stones) -> WovenPage:
    """Return a page of these logs. `own`: this machine."""
    unheard = {name: stones.unheard("" if name == own else name) for name in logs}
    return WovenPage(path, logs, {name: buried for name, buried in unheard.items() if buried})


def page_logs(
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
            log = found.setdefault(str(path), {}).setdefault(machine, PageLog(woven_text(str(path))))
            record = line.record if capped is None or machine == own else capped(line.record, machine)
            edit = edit_of(record)
            if edit is not None:
                taken = record.get("taken")
                log.add(edit, owners.get(edit.id), taken if isinstance(taken, str) else None)
                owners.setdefault(edit.id, machine)
            elif line.record.get("kind") == "void":
                log.drop(str(line.record.get("edit")))
    return found


def last_texts(path: str, logs: Iterable[PageLog]) -> Iterator[str | None]:
    """Yield the last versions of a page that machines had, each once."""
    done: set[str | None] = set()
    for log in logs:
        for text in (woven_text(path)(log.page), *[*log.before.values()][: -_LAST - 1 : -1]):
            if text not in done:
                done.add(text)
                yield text


def woven_text(path: str) -> Callable[[bytes | None], str | None]:
    """Return the function that makes of the bytes of a page the text that is woven."""
    return rows_of if path == STATE else _text_of


def _text_of(page: bytes | None) -> str | None:
    try:
        return (page or b"").decode()
    except UnicodeDecodeError:
        return None


def plain_part(part: str) -> str:
    return undoubted(body(part).strip())
