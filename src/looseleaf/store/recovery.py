"""Recovery after a crash: finish or undo interrupted changes, and remove old displaced files (FORMAT §6.4, §6.5)."""

from __future__ import annotations

import time

from looseleaf.base.errors import Refused, Stale
from looseleaf.base.hashing import SHA256_OF_NOTHING
from looseleaf.base.ids import is_id, time_of
from looseleaf.base.paths import canonical
from looseleaf.store import JOURNAL
from looseleaf.store.replace import COLLISION, SUFFIX, finish, late_mark
from looseleaf.store.root import LATE, STAGED, is_committed, remove_staged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Record
    from looseleaf.store.append_streams import Streams
    from looseleaf.store.lock import Lock
    from looseleaf.store.read_streams import Segments
    from looseleaf.store.replace import Exchange
    from looseleaf.store.root import Root

_ABANDONED = 3600.0
"""Seconds after which a staged file belongs to no living process."""


class Recovery:
    def __init__(
        self, root: Root, lock: Lock, policy: Policy, streams: Streams, segments: Segments, exchange: Exchange
    ) -> None:
        self._root = root
        self._lock = lock
        self._policy = policy
        self._streams = streams
        self._segments = segments
        self._exchange = exchange

    def recover(self) -> None:
        """Finish or undo every staged change: under the lock, none belongs to a living process."""
        with self._lock:
            if is_committed(self._root):
                finish(self._root)
            # A page with a second name cannot be read, so remove that name first (FORMAT §6.6).
            for name in sorted(self._root.names(STAGED), key=lambda name: not name.endswith(".was")):
                self._recover_one(name)

    def _recover_one(self, name: str) -> None:
        stem, _, kind = name.partition(".")
        staged = f"{STAGED}/{name}"
        if kind == "edit.was":  # only where names are not exchanged in one step (FORMAT §6.6)
            plain = staged.removesuffix(".was")
            if plain.rpartition("/")[2] in self._root.names(STAGED):
                self._root.discard(staged)
            else:
                with self._root.folder(STAGED) as folder:
                    self._root.disk.rename(folder, name, folder, f"{stem}.edit")
                self._finish_edit(stem, plain)
        elif kind == "edit":
            self._finish_edit(stem, staged)
        # An uncommitted forget is abandoned: its process held the lock.
        elif kind == SUFFIX or not is_id(stem) or time.time() - time_of(stem) > _ABANDONED:
            remove_staged(self._root, staged)

    def _finish_edit(self, edit: str, staged: str) -> None:
        """Finish an interrupted change if the page is unchanged; else declare it void."""
        record = self._find_record(edit) or {}
        try:
            path, base, new = canonical(str(record["path"])), record["base"], record["new"]
        except (KeyError, Refused):
            # None, or not an edit of ours: a foreign journal may name any file of this machine.
            self._exchange.keep(staged)
            return
        self._streams.confirm(JOURNAL)
        under, page = self._exchange.hash_or_mark(staged), self._exchange.hash_or_mark(path)
        ours = under == (new if new is not None else SHA256_OF_NOTHING)
        if record.get("kind") == "void":
            if not ours and under != base:
                self._exchange.keep(staged)  # a displaced save that the crash kept from being set aside
        elif page == base and ours:
            self._root.make(path.rpartition("/")[0])
            try:
                self._exchange.replace(path, staged, base, new, edit)
            except Stale:
                pass  # saved meanwhile: that save stands, and the edit is void
        elif under == base:
            pass  # exchanged already; any other text on the page was written later
        elif page == new and not ours:
            kept, under = self._exchange.give_back(path, staged, under, new)
            self._exchange.void(path, edit, COLLISION, kept)
        elif page != new:
            self._exchange.void(
                path, edit, "the page was changed before an interrupted edit could be completed", []
            )
            if not ours:
                self._exchange.keep(staged)
        try:
            self._root.sync(STAGED, path.rpartition("/")[0])
        except FileNotFoundError:
            pass  # the page's folder was removed meanwhile
        self._exchange.retire(staged, edit, under or SHA256_OF_NOTHING)

    def _find_record(self, edit: str) -> Record | None:
        """Return the record of an edit, with kind `void` if it was declared so; None if it is not in the journal."""
        voided = False
        oldest = time_of(edit) - _ABANDONED if is_id(edit) else 0.0
        for line in self._segments.read_back(JOURNAL):
            record = line.record
            voided = voided or (record.get("kind") == "void" and record.get("edit") == edit)
            if record.get("id") == edit:
                return record | {"kind": "void"} if voided else record
            written = record.get("ts")
            if isinstance(written, (int, float)) and written < oldest:
                return None
        return None

    def sweep(self) -> None:
        """Remove displaced files that are unchanged; keep and journal those that an editor wrote into."""
        now = time.time()
        due = [name for name in self._root.names(LATE) if self._is_due(name, now)]
        if due:
            self._sweep_files(due)

    def _is_due(self, name: str, now: float) -> bool:
        """True if a displaced file was written into, or is old enough to remove. Needs no lock."""
        edit, mark, _ = _parse_late_name(name)
        if not is_id(edit) or now - time_of(edit) > self._policy.late_seconds:
            return True
        with self._root.folder(LATE) as folder:
            return mark != late_mark(self._root.disk.stat(folder, name))

    def _sweep_files(self, due: list[str]) -> None:
        with self._lock, self._root.folder(LATE) as folder:
            for name in due:
                edit, mark, known = _parse_late_name(name)
                try:
                    found = self._root.disk.stat(folder, name)
                except FileNotFoundError:
                    continue  # another process swept it
                if mark == late_mark(found) and self._has_hash(f"{LATE}/{name}", known):
                    self._root.disk.unlink(folder, name)
                else:
                    record = self._find_record(edit) or {}
                    kept = self._exchange.keep(f"{LATE}/{name}")
                    reason = "an editor wrote into the file after it was replaced"
                    self._exchange.note("late", str(record.get("path", "")), edit, reason, [kept])

    def _has_hash(self, path: str, known: str) -> bool:
        try:
            return self._exchange.hash(path) == known
        except Refused:
            return False  # unreadable files are kept


def _parse_late_name(name: str) -> tuple[str, str, str]:
    """Return the edit that displaced a file, the file's mark then, and the hash of the bytes that are safe."""
    edit, _, rest = name.partition("-")
    mark, _, known = rest.rpartition("-")
    return edit, mark, known
