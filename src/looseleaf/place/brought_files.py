"""Files of pages that a copier brought: older versions, conflict copies, forgotten words. They are told from what a
person wrote by the versions and times in the logs, and take nothing away."""

from __future__ import annotations

from looseleaf.base import ids as clock
from looseleaf.base.ids import new_id
from looseleaf.base.paths import STATE
from looseleaf.base.values import sha256_or_none
from looseleaf.facts.page_lines import shard_of
from looseleaf.log.journal import EXTERNAL, PROGRAM, UNKNOWN, make_edit, record_of
from looseleaf.log.talk_streams import journals
from looseleaf.pages.grammar import parse
from looseleaf.pages.held import new_lines, with_lines
from looseleaf.place.woven_page import page_logs, woven_page, woven_text
from looseleaf.state.rows import state_of
from looseleaf.store import JOURNAL
from looseleaf.store.foreign import is_page_path
from looseleaf.text.diff import split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Protocol

    from looseleaf.base.values import Fact, Record, Stat
    from looseleaf.facts.known_facts import Facts
    from looseleaf.facts.stones import Stones
    from looseleaf.pages.held import Held
    from looseleaf.pages.pages import Pages
    from looseleaf.place.woven_page import PageLog, WovenPage
    from looseleaf.store.context import Context
    from looseleaf.store.protocol import OpenStore

    class Needs(Protocol):
        @property
        def store(self) -> OpenStore: ...
        @property
        def pages(self) -> Pages: ...
        @property
        def known(self) -> Facts: ...
        @property
        def stones(self) -> Stones: ...


KEPT = "kept from a conflict copy"
"""The reason of an edit that puts back what a copier overwrote."""

_AT_ONCE = 10.0
"""Seconds: how long after its edit was journaled a page is put in place, at most, on most days."""
_CARRIED_NS = 50_000_000
"""By how much the time of a carried file, which it had where it was written, is before its coming."""
_OF_LINE = frozenset({"path", "line", "status", "valid_to", "superseded_by"})


def told_of(fact: Fact) -> Record:
    """Return what an edit that puts a line on a page says of its fact."""
    return {name: value for name, value in fact.to_dict().items() if name not in _OF_LINE}


class BroughtFiles:
    def __init__(self, context: Context, parts: Needs) -> None:
        self._store, self._policy, self._note = context.store, context.policy, context.note
        self._parts = parts

    def brought(self, path: str, version: str, stat: Stat) -> bool:
        """True if a program that copies newer files over older ones brought a file, with its time: it is a version that
        another machine left, as old as its edit; or a known one that was left after the edit that made the page here,
        by a machine whose log is still on its way. (A person who takes a version back saves it then.)"""
        if stat.mark[4] - stat.mark[3] < _CARRIED_NS:
            return False
        when, edited = stat.mtime_ns / 1e9, self._parts.pages.absorb.heads.edited(path)
        is_later = edited is not None and when > edited
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
        since = self._parts.pages.absorb.heads.edited(path) or 0.0
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

    def without_forgotten(self, path: str, head: bytes | None, data: bytes) -> bytes:
        """Return a page that was changed outside, without the lines that are forgotten here: a copier brought an old
        file. A person can still say such a thing again."""
        buried = self._parts.stones.heard()
        text_of = woven_text(path)
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

    def drop_known(self, copies: Sequence[Held]) -> list[str]:
        """Remove conflict copies whose bytes a log has as a version of their page. The file that a copier put in place
        of such a version did not build on it: lines that disappeared that way are put back."""
        logs = page_logs(
            self._store,
            self._parts.store.machine,
            self._parts.store.machines(),
            {held.of or "" for held in copies},
        )
        dropped: list[str] = []
        for held in copies:
            path = held.of or ""
            own = logs.get(path, {})
            document = self._parts.store.get(held.path, self._policy.page_bytes)
            if document is None or all(document.sha256 not in log.versions for log in own.values()):
                continue
            if not self._is_past(path, document.sha256, own):
                continue
            lost = _overwritten(
                document.sha256, woven_page(path, own, self._parts.store.machine, self._parts.stones), own
            )
            if lost and not self.put_back(path, document.data.decode("utf-8", "replace"), lost):
                continue
            self._store.delete(held.path, base=document.sha256)
            if held.path in self._parts.pages.absorb.heads.copies:
                self._parts.pages.absorb.note_copy(held.path, None)
            dropped.append(held.path)
        return dropped

    def _is_past(self, path: str, version: str, logs: Mapping[str, PageLog]) -> bool:
        """True if all machines that wrote a version say what came after it, or the file here is still that. Before
        that, what was written over it is not known."""
        document = self._parts.store.get(path, self._policy.page_bytes)
        stays = {self._parts.store.machine} if document is not None and document.sha256 == version else set()
        had = {name: log for name, log in logs.items() if version in log.versions}
        wrote = {
            name
            for name, log in had.items()
            for edit in log.edits.values()
            if edit.new == version and edit.merge is None
        }
        past = {name for name, log in had.items() for edit in log.edits.values() if edit.base == version}
        return (wrote or {*had}) <= past | stays

    def put_back(self, path: str, copy: str, lines: Collection[str], author: str = PROGRAM) -> bool:
        """Put lines of a copy on its page again; False if a change of it is to be absorbed first."""
        with self._store.lock():
            absorb = self._parts.pages.absorb
            document = self._parts.store.get(path, self._policy.page_bytes)
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
                    told.append(told_of(max(like, key=lambda each: each.valid_to or "")))
            edit = make_edit(new_id(), clock.now(), path, author, KEPT, head, made, facts=tuple(told))
            self._store.put(path, made, base=document.sha256, record=record_of(edit))
            absorb.heads.catch_up()
            return True

    def absorb_reversal(self, path: str, logs: Mapping[str, PageLog]) -> bool:
        """Journal that a person made a page here what it was before: what they took out must not come back with the
        news. Return whether that was so. (What a copier brings is older than its place, or another machine's.)"""
        if not self._store.edited_outside:
            return False
        absorb, machine = self._parts.pages.absorb, self._parts.store.machine
        stat = self._store.stat(path) if is_page_path(path) else None
        edited = absorb.heads.edited(path)
        if stat is None or absorb.heads.has_seen(stat) or edited is None or machine not in logs:
            return False
        if stat.mark[4] - stat.mark[3] >= _CARRIED_NS or stat.mtime_ns / 1e9 < edited:
            return False
        document = self._parts.store.get(path, self._policy.page_bytes)
        there = [log for name, log in logs.items() if name != machine]
        elsewhere = {edit.new for log in there for edit in log.edits.values() if edit.merge is None}
        elsewhere |= {sha256_or_none(log.page) for log in there}
        past = (
            {edit.new for edit in logs[machine].edits.values()} - elsewhere - {absorb.heads.get(path).sha256}
        )
        if document is None or document.sha256 not in past:
            return False
        if absorb.hold(path, document):
            return False
        absorb.journal_edit(path, document.data, *absorb.heads.author(path))
        return True


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
