"""Another copy of a memory, merged into this one: its logs are brought here (`store.bring`), each as the log of the
machine that wrote it, and taken in like any other machine's (`place.other_machines`).

What people changed on pages there, and no journal has yet, comes as the log of a machine of its own. For a dry run, the
same is done to a copy of this memory, which is thrown away.
"""

from __future__ import annotations

import errno
import os
from itertools import takewhile

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.paths import REVIEW, is_address
from looseleaf.facts.changes import compare_facts
from looseleaf.log.journal import edit_of, forward, record_of
from looseleaf.log.two_heads import find_heads
from looseleaf.memory.forget_again import JOURNAL_FILE, OLDER
from looseleaf.memory.other_copy import OtherCopy
from looseleaf.memory.part_heads import TWO_HEADS
from looseleaf.memory.parts import Parts
from looseleaf.pages.grammar import topic_of
from looseleaf.pages.unjournaled import REASON, UnjournaledChanges
from looseleaf.place.other_machines import MAKE_NO_SENSE, TAKE_FOR_ONE
from looseleaf.store import JOURNAL, TOMBSTONES, records
from looseleaf.store.bring import (
    NewLines,
    NewLog,
    OtherLogs,
    StreamBytes,
    Talk,
    branch_name,
    missing_forgets,
    within,
)
from looseleaf.store.context import shown_name
from looseleaf.store.machines import OTHERS
from looseleaf.store.read_only import ReadStore
from looseleaf.store.root import unwritten
from looseleaf.text.diff import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from looseleaf.base.values import Edit, Fact
    from looseleaf.pages.held import Held
    from looseleaf.store.root import Root


_LINKS = (errno.ELOOP, errno.EXDEV, errno.EMLINK)
_ODD = (*_LINKS, errno.ENOTDIR)
_SHOWN = 5
"""Private lines that a note names."""


@frozen
class Merged:
    """What a merge did, or would do (`is_dry`). `machines`: those whose logs were brought or went on. `replaced`:
    facts, each with the one that took its place. `ended`: facts that are no longer true. `contested`: facts of which
    several values stand. `forgotten`: how many facts the other copy had forgotten. `pages`: those that change here.
    `edited`: pages that people had changed there. `held`: files there that wait for a person."""

    machines: tuple[str, ...]
    added: tuple[Fact, ...]
    replaced: tuple[tuple[Fact, Fact], ...]
    ended: tuple[Fact, ...]
    contested: tuple[Fact, ...]
    forgotten: int = 0
    talk: Talk = Talk()
    pages: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()
    is_dry: bool = False

    @property
    def is_nothing(self) -> bool:
        """True if there was nothing new."""
        return not self.machines

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            name: [fact.to_dict() for fact in getattr(self, name)] for name in ("added", "ended", "contested")
        }
        told["replaced"] = [{"old": old.to_dict(), "new": new.to_dict()} for old, new in self.replaced]
        told |= {"turns": self.talk.turns, "sessions": self.talk.sessions, "machines": list(self.machines)}
        told |= {"forgotten": self.forgotten, "pages": list(self.pages)}
        told |= {"edited": list(self.edited), "held": [held.to_dict() for held in self.held]}
        return told | {"dry_run": self.is_dry}


def merge(parts: Parts, where: str, *, dry_run: bool = False, has_pages: bool = True) -> Merged:
    """Merge another copy into this memory. `has_pages`: its pages were written from its logs, so that any difference is
    a person's."""
    memory = parts.files.path
    if is_address(where):
        raise Refused(
            f"Nothing was merged: {shown_name(where)} is in a database. `looseleaf export --as folder` writes a copy; "
            "merge that."
        )
    try:
        with OtherCopy(where, memory, parts.context.policy.lock_seconds) as copy:
            if not dry_run:
                return _Merge(parts, parts, copy, has_pages=has_pages).merge()
            from looseleaf.memory.trial import open_trial

            has_talk = _has_forgotten(parts.files.root) or _has_forgotten(copy.root)
            with open_trial(parts, has_talk=has_talk) as trial:
                return _Merge(parts, trial, copy, has_talk=has_talk).merge()
    except OSError as error:
        if error.errno not in _ODD:
            raise
        raise _odd_met(where, error) from error


def _odd_met(where: str, error: OSError) -> Refused:
    """Return what to say of a link in another copy, which nothing is read through, or of a file for a folder."""
    path = os.path.abspath(os.path.expanduser(where))
    found = [
        os.path.join(folder, name)
        for folder, *kinds in os.walk(os.path.join(path, "log"))
        for name in sorted(name for names in kinds for name in names)
    ]
    if error.errno == errno.ENOTDIR:
        named = (each for each in found if os.path.basename(each) == error.filename)
        odd = next((os.path.relpath(each, path) for each in named if not os.path.isdir(each)), None)
        if odd is None:
            return unwritten("What the other copy has", error)
        return Refused(
            f"Nothing was merged: {odd} in {where} is not a folder. Put the real folder in its place."
        )
    link = next((os.path.relpath(each, path) for each in found if os.path.islink(each)), "a file")
    return Refused(
        f"Nothing was merged: {link} in {where} is, or lies behind, a symbolic link, and nothing is read through one. "
        "Put the real file or folder in its place."
    )


def _has_forgotten(root: Root) -> bool:
    """True if a machine that has a log in a folder has forgotten something."""
    logs = ["log", *(f"{OTHERS}/{name}" for name in root.names(OTHERS))]
    return any(StreamBytes(root, log, TOMBSTONES).size for log in logs)


class _Merge:
    """A merge into this memory, or into a trial of it. `has_talk`: the trial has the talk."""

    def __init__(
        self, parts: Parts, target: Parts, copy: OtherCopy, *, has_pages: bool = True, has_talk: bool = True
    ) -> None:
        self._parts, self._target, self._copy = parts, target, copy
        self._has_pages = has_pages
        self._is_dry = target is not parts
        self._only = () if has_talk else (JOURNAL,)

    def merge(self) -> Merged:
        self._target.pages.absorb.by_files()  # those of the other copy have such times, too
        before = self._target.notebook.facts()
        last = next(self._target.pages.log(), None)
        logs = OtherLogs(self._parts.files, self._copy.root)
        try:
            with self._target.files.lock():
                news = logs.find_news()
                talk = logs.look(news)
                self._refuse_two_heads(logs, news)
                self._refuse_older(logs, news)
                logs.bring(news, self._target.files.root, self._only)
                edited, held, more = self._find_unjournaled() if self._has_pages else ((), (), None)
                if more is not None:
                    logs.bring([more], self._target.files.root)
        except OSError as error:
            if error.errno in _ODD:
                raise
            raise unwritten("What the other copy has", error) from error
        self._target.others()
        for note in self._target.notes if self._is_dry else ():
            if note.endswith((MAKE_NO_SENSE, TAKE_FOR_ONE)):
                self._parts.note(note)
        machines = dict.fromkeys((*(each.machine for each in news), *([more.machine] if more else ())))
        now = self._target.notebook.facts()
        told = compare_facts(before, now, {fact.id for fact in self._target.known.all()})
        pages = {edit.path for edit in self._edits_since(last)}
        self._note_private(last)
        return Merged(
            tuple(machines),
            **members_of(told),
            talk=talk,
            pages=tuple(sorted(pages)),
            edited=edited,
            held=tuple(held),
            is_dry=self._is_dry,
        )

    def _edits_since(self, last: Edit | None) -> Iterator[Edit]:
        return takewhile(lambda each: last is None or each.id != last.id, self._target.pages.log())

    def _note_private(self, last: Edit | None) -> None:
        """Note the private lines that came onto pages since the last edit, if git tracks the folder."""
        lines: dict[str, set[str]] = {}
        for edit in self._edits_since(last):
            if edit.path != REVIEW:  # which git does not keep
                lines.setdefault(edit.path, set()).update(line for hunk in edit.hunks for line in hunk.added)
        found: list[str] = []
        for path, added in sorted(lines.items()):
            for number, line in enumerate(split_lines(self._target.pages.texts([path])[0]), 1):
                kinds = self._parts.kept_out(topic_of(path), [line]) if line in added else ""
                found += [f"{path}:{number} ({kinds})"] if kinds else []
        if found:
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            self._parts.note(
                f"Private lines came in, and git tracks the folder: {', '.join(found[:_SHOWN])}{more}. They stay. "
                "`looseleaf remember --home` keeps such a line in the home memory; then `looseleaf forget` removes it "
                "here."
            )

    def _refuse_two_heads(self, logs: OtherLogs, news: Sequence[NewLog]) -> None:
        """Refuse a journal, here or there, that has the records of two copies: these must be separated first."""
        if not news:
            return
        own = self._parts.files
        brought = [log for log in news if any(new.stream == JOURNAL for new in log.news)]
        there = [logs.there(log.folder, JOURNAL) for log in brought]
        journals = [(self._copy.path, each.path, each) for each in there]
        here = logs.here(own.machine, JOURNAL)
        for path, name, journal in [*journals, (own.path, own.place(here.path), here)]:
            if len(find_heads(journal.rows())) > 1:
                raise Refused(
                    f"Nothing was merged: {name} in {path} is not the journal of one copy: {TWO_HEADS}. Separate "
                    f"them first; nothing is lost: looseleaf --memory {path} repair"
                )

    def _refuse_older(self, logs: OtherLogs, news: Sequence[NewLog]) -> None:
        """Refuse a journal, here or there, that is older than what its machine forgot: it would bring that back."""
        own = self._parts.files
        older = [(own.path, own.place(JOURNAL_FILE))] if news and logs.is_older_here(own.machine) else []
        older += (
            (self._copy.path, within(log.folder, JOURNAL_FILE))
            for log in news
            if log.news and missing_forgets(self._copy.root, log.folder)
        )
        for path, name in older:
            raise Refused(
                f"Nothing was merged: {name} in {path} {OLDER}. That forgets it there again, and keeps what was said "
                f"since: looseleaf --memory {path} repair"
            )

    # --- what people changed there -----------------------------------------------------------

    def _find_unjournaled(self) -> tuple[tuple[str, ...], Sequence[Held], NewLog | None]:
        """Return the pages that people changed there, the files that wait for a person, and these changes as the end of
        a log: that of the machine that used the copy. If one machine's journal explains all pages, nobody changed any;
        else it is the one whose pages are most like the files. That a machine once compared the pages with its journal
        says less: it may have been in the folder that this one was copied from."""
        logs = OtherLogs(self._target.files, self._copy.root)
        policy = self._parts.context.policy
        found: list[tuple[tuple[object, ...], str, str, UnjournaledChanges]] = []
        stores: list[ReadStore] = []
        try:
            for machine, folder in logs.machines():
                stores.append(ReadStore(self._copy.path, policy, machine=machine))
                stores[-1].distrust()
                changes = UnjournaledChanges(stores[-1], policy)
                likely = bool(changes.pages), changes.size, not changes.is_proven
                found.append((likely, machine, folder, changes))
                if not changes.pages:
                    break
            _, machine, folder, changes = min(found, key=lambda each: each[0])
            name, known = self._find_branch(logs, machine, folder)
            new = changes.find(known, [each[3] for each in found if each[3] is not changes])
        finally:
            for store in stores:
                store.close()
        if not new.edits:
            return (), new.held, None
        lines = [records.encode(record_of(edit)) for edit in new.edits]
        news = NewLines(JOURNAL, is_whole=name is None, more=b"".join(lines))
        log = NewLog(name or branch_name(machine, lines[0]), folder, (news,))
        return tuple(edit.path for edit in new.edits), new.held, log

    def _find_branch(
        self, logs: OtherLogs, machine: str, folder: str
    ) -> tuple[str | None, dict[str, bytes | None]]:
        """Return the log that an earlier merge made of changes there, if it still goes on from the journal there; and
        its pages."""
        theirs = logs.there(folder, JOURNAL)
        for name in logs.branches(machine):
            branch = logs.here(name, JOURNAL)
            if not theirs.size == branch.count_shared(theirs) < branch.size:
                continue
            edits = [edit_of(records.decode(line.strip(b"\n"))[0]) for line in branch.lines(theirs.size)]
            if all(edit is not None and edit.reason == REASON for edit in edits):
                pages: dict[str, bytes | None] = {}
                for edit in filter(None, edits):
                    pages[edit.path] = forward(edit, pages.get(edit.path, self._head(name, edit)))
                return name, pages
        return None, {}

    def _head(self, machine: str, edit: Edit) -> bytes | None:
        """Return a page as it was before an edit of a machine."""
        from looseleaf.pages.history import History
        from looseleaf.store.other_log import OtherLog

        if edit.base is None:
            return None
        return History(OtherLog(self._target.files, machine)).rebuild(edit.path, edit.base)
