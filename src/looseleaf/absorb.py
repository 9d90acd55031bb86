"""Absorb: what people changed in the folder becomes part of the journal before anything is read (FORMAT §5.4).

The journal says what every page is (its *head*). A page whose bytes are not its head's was changed outside; the
difference is journaled as an `external` edit, once. To notice that cheaply, `views/heads.json` remembers the heads up
to a place in the journal, and how each file looked when it was last read. Like every view it may be deleted.
"""

from __future__ import annotations

import json
import time
from _thread import RLock

from looseleaf.core.heads import EXTERNAL, NO_PAGE, Head, fold, refuse_unknown
from looseleaf.core.paths import DRAWERS, is_page, name_fault
from looseleaf.errors import Refused, Unreadable
from looseleaf.store import JOURNAL
from looseleaf.values import START, Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from looseleaf.policy import Policy
    from looseleaf.store import Store
    from looseleaf.values import Document, Edit, Record, Stat

VIEW = "views/heads.json"
COPIES = "views/heads"
SCHEMA = "heads.v1"

_SAVE_EVERY = 64
"""Journal records after which the view is written again: between a file per edit and a long read per start."""

_RACY_NS = 100_000_000
"""A file changed this shortly before it was read may change again without looking different (its times are coarse)."""

_LOOK_AGAIN = 0.02


class Heads:
    """The heads, and the place in the journal they stand for."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.pages: dict[str, Head] = {}
        self.marks: dict[str, tuple[int, ...]] = {}
        self.position = START
        self.last: str | None = None
        self.unsaved = 0

    def load(self) -> None:
        """From the view, if it belongs to this journal; else from nothing."""
        try:
            document = self.store.get(VIEW)
            raw: Any = json.loads(document.data) if document else None
        except (Unreadable, ValueError):
            return  # a view that cannot be read is made again
        if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
            return
        try:
            position = Position(*map(int, raw["position"]))
            pages = {path: Head(*head) for path, head in raw["pages"].items()}
            marks = {path: tuple(map(int, mark)) for path, mark in raw["marks"].items()}
        except (KeyError, TypeError, ValueError, AttributeError):
            return
        before = next(self.store.read_back(JOURNAL, position), None)
        if before is not None and before.end == position and before.record.get("id") == raw.get("last"):
            self.pages, self.marks, self.position, self.last = pages, marks, position, raw["last"]

    def catch_up(self) -> None:
        for line in self.store.read(JOURNAL, self.position):
            self.take(line.record)
            self.position = line.end

    def take(self, record: Record) -> None:
        refuse_unknown(record)
        fold(self.pages, record)
        self.marks.pop(str(record.get("path")), None)
        self.last = record.get("id")
        self.unsaved += 1

    def get(self, path: str) -> Head:
        return self.pages.get(path, NO_PAGE)

    def remember(self, stat: Stat | None, seen_ns: int) -> None:
        """How a page that is its head looks from outside; only if a later change must look different."""
        if (
            stat is not None
            and max(stat.mark[3:5]) < seen_ns - _RACY_NS
            and self.marks.get(stat.path) != stat.mark
        ):
            self.marks[stat.path] = stat.mark
            self.unsaved += _SAVE_EVERY

    def save(self, *, now: bool = False) -> None:
        if self.unsaved >= _SAVE_EVERY or (now and self.unsaved):
            view = {
                "schema": SCHEMA,
                "position": list(self.position),
                "last": self.last,
                "pages": {
                    path: [head.sha256, head.edit, head.base] for path, head in sorted(self.pages.items())
                },
                "marks": {path: list(mark) for path, mark in sorted(self.marks.items())},
            }
            self.store.view(VIEW, json.dumps(view, separators=(",", ":")).encode())
            self.unsaved = 0


class Absorb:
    def __init__(self, store: Store, policy: Policy) -> None:
        self._store = store
        self._policy = policy
        self.heads = Heads(store)
        self.threads = RLock()
        self._loaded = False

    def __call__(self) -> list[Edit]:
        """Journal what was changed outside; the edits. Nothing found costs a look at each file's times and no lock."""
        with self.threads:
            if not self._loaded:
                self.heads.load()
                self._loaded = True
            self._store.recover()
            self.heads.catch_up()
            changed = self._changed()
            edits = self._absorb(changed) if changed else []
            self.heads.save()
            return edits

    def _changed(self) -> set[str]:
        """The pages whose files do not look as they did when they were last seen to be their heads."""
        heads, marks = self.heads.pages, self.heads.marks
        found = {stat.path: stat for stat in self.pages()}
        changed = {path for path, stat in found.items() if marks.get(path) != stat.mark}
        return changed | {
            path for path, head in heads.items() if head.sha256 is not None and path not in found
        }

    def pages(self) -> Iterable[Stat]:
        """Every file that is a page, by path."""
        for folder in ("", *DRAWERS):
            for stat in self._store.list(folder):
                if is_page(stat.path) and name_fault(stat.path.rpartition("/")[2]) is None:
                    yield stat

    def _absorb(self, paths: set[str]) -> list[Edit]:
        edits: list[Edit] = []
        deadline = time.monotonic() + self._policy.settle_seconds
        while paths:
            with self._store.lock():
                self._store.recover()
                self.heads.catch_up()
                paths = {path for path in sorted(paths) if not self._settled(path, deadline, edits)}
            if paths:
                time.sleep(_LOOK_AGAIN)  # not while holding the lock: others have work to do
        return edits

    def _settled(self, path: str, deadline: float, edits: list[Edit]) -> bool:
        """Whether a page could be dealt with; False: look again in a moment."""
        seen_ns = time.time_ns()
        try:
            stat = self._store.stat(path)
            document = self._store.get(path, self._policy.page_bytes)
        except Refused:
            return True  # too large, a link, unreadable: no page to absorb, and never an empty one; `check` says so
        head = self.heads.get(path)
        if (document.sha256 if document else None) == head.sha256:
            self.heads.remember(stat, seen_ns)
            return True
        if time.monotonic() < deadline and self._doubtful(document, stat, head):
            return False
        from looseleaf.core.journal import make_edit, record_of
        from looseleaf.store.ulid import new_id

        old = self.head_bytes(path)
        edit = make_edit(
            new_id(),
            time.time(),
            path,
            EXTERNAL,
            "changed outside",
            old,
            document.data if document else None,
            lost_base=head.sha256 if old is None else None,
        )
        record = record_of(edit)
        self._store.append(JOURNAL, [record])
        self.heads.catch_up()
        self.keep_copy(path, document.data if document else None)
        edits.append(edit)
        return True

    def _doubtful(self, document: Document | None, stat: Stat | None, head: Head) -> bool:
        """An editor may be at work: it has truncated and not yet written, or renamed away and not yet created."""
        if document is None or not document.data.strip():
            return head.sha256 is not None
        age = time.time() - stat.mtime_ns / 1e9 if stat is not None else 0.0
        return 0 <= age < self._policy.quiet_seconds

    # --- the last journaled bytes of a page --------------------------------------------

    def head_bytes(self, path: str) -> bytes | None:
        """What the journal last said the page is. None: there was no page, or its text cannot be rebuilt."""
        head = self.heads.get(path)
        if head.sha256 is None:
            return None
        try:
            copy = self._store.get(f"{COPIES}/{path}")
        except Refused:
            copy = None
        if copy is not None and copy.sha256 == head.sha256:
            return copy.data
        from looseleaf.history import History

        return History(self._store).rebuild(path, head.sha256)

    def keep_copy(self, path: str, data: bytes | None) -> None:
        """A copy of a page's head, from which the next outside change is told without replaying the journal."""
        if data is not None:
            self._store.view(f"{COPIES}/{path}", data)
