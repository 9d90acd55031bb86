"""What people changed in a copy of the folder, and its journal does not have yet, found without writing to the copy.

Each change becomes an edit that any machine makes alike: its time is its file's, and its id follows from that and from
both versions. So it is one edit, whether its own machine journals it or another finds it in the copy.
"""

from __future__ import annotations

import time

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.log.journal import UNKNOWN, make_edit
from looseleaf.pages.held import Held, vanished_together
from looseleaf.pages.outside_edits import OutsideEdits, at_file
from looseleaf.text.weave import distance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Document, Edit, Stat
    from looseleaf.store.protocol import Store

REASON = "changed outside, and found in another copy"


@frozen
class Unjournaled:
    """The edits, and the files that are not believed."""

    edits: tuple[Edit, ...]
    held: tuple[Held, ...]


class _Alone:
    """There is no other machine to hear of."""

    def take_in(self) -> None: ...

    def without_forgotten(self, path: str, head: bytes | None, data: bytes) -> bytes:
        return data

    def brought(self, path: str, version: str, stat: Stat) -> bool:
        return False

    def tell_put_back(self, path: str, version: str) -> None:
        pass

    def drop_known(self, copies: Sequence[Held]) -> list[str]:
        return []


class UnjournaledChanges:
    """The pages of a copy that differ from their heads, for the machine whose journal the store has."""

    def __init__(self, store: Store, policy: Policy) -> None:
        self._store, self._policy = store, policy
        self._absorb = OutsideEdits(store, policy, lambda note: None, _Alone())
        self._absorb.know()
        found: set[str] = set()
        for _ in self._absorb.files(found=found):
            pass
        missing = [path for path in self._absorb.heads.pages.there() if path not in found]
        if missing and policy.settle_seconds:
            time.sleep(policy.settle_seconds)  # an editor may be saving one
            missing = [path for path in missing if store.stat(path) is None]
        self._is_emptied = vanished_together(len(missing), len(self._absorb.heads.pages.there()))
        heads = self._absorb.heads
        there = {path: self._read(path) for path in sorted(found)}
        self.pages: dict[str, Document | None] = dict.fromkeys(missing)
        """The pages that differ; None: gone."""
        self.pages |= {
            path: document
            for path, document in there.items()
            if document is not None and document.sha256 != heads.get(path).sha256
        }

    @property
    def is_proven(self) -> bool:
        """True if the machine used this copy itself."""
        return self._absorb.heads.is_proven

    @property
    def size(self) -> int:
        """By how many lines the files differ from their heads. A page that is gone does not count: a machine that never
        had it knows least of it."""
        there = {path: document for path, document in self.pages.items() if document is not None}
        heads = ((self._absorb.head_bytes(path), document.data) for path, document in there.items())
        return sum(1 + distance(_text(head), _text(data)) for head, data in heads)

    def why_held(self, document: Document) -> Held | None:
        """Return why a file cannot be what a person made of the page that this machine has; None: it can."""
        absorb, path = self._absorb, document.path
        return absorb.held[path] if path in self.pages and absorb.hold(path, document) else None

    def _read(self, path: str) -> Document | None:
        try:
            return self._store.get(path, self._policy.page_bytes)
        except Refused:
            self._absorb.unread[path] = Held(path, "unread")
            return None

    def find(
        self, known: Mapping[str, bytes | None], others: Sequence[UnjournaledChanges] = ()
    ) -> Unjournaled:
        """Return the edits. `known`: pages as they were when they were last found in this copy. `others`: the same for
        the other machines that have a log in it: what no person can have made of a page of theirs is held, too."""
        edits: list[Edit] = []
        absorb = self._absorb
        for path, document in self.pages.items():
            if document is None and self._is_emptied:
                absorb.held[path] = Held(path, "gone")
                continue
            new = document.data if document is not None else None
            old = known[path] if path in known else absorb.head_bytes(path)
            if new == old or absorb.hold(path, document):
                continue
            if document is not None and (
                held := next(filter(None, (each.why_held(document) for each in others)), None)
            ):
                absorb.held[path] = held
                continue
            is_trusted = self._policy.trust_external_edits
            author = absorb.heads.author(path)[0] if is_trusted else UNKNOWN
            with at_file(path, self._store.stat(path), old, new):
                if path in known:
                    edit = make_edit(clock.new_id(), clock.now(), path, author, REASON, old, new)
                else:
                    edit = absorb.edit_from_head(path, new, author, REASON)
            edits.append(edit)
        return Unjournaled(tuple(edits), (*absorb.held.values(), *absorb.unread.values()))


def _text(page: bytes | None) -> str:
    return (page or b"").decode("utf-8", "replace")
