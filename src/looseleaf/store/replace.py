"""The last step of a page's change: the new bytes take the page's name, and what had it is looked at (FORMAT §6.2).

If that was not the `base`, somebody saved in that very moment: their bytes go back under the name, the edit is
declared void, and the caller is told. A displaced file is watched for an editor that still has it open.
"""

from __future__ import annotations

import time

from looseleaf.base.errors import Refused, Stale, Unreadable
from looseleaf.base.hashing import SHA256_OF_NOTHING, sha256, sha256_or_none
from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen
from looseleaf.store import JOURNAL, JOURNAL_SCHEMA, records
from looseleaf.store.root import ASIDE, LATE, PLAN, STAGED, is_committed, remove_staged, unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from looseleaf.base.values import Record
    from looseleaf.store.append_streams import Streams
    from looseleaf.store.root import Root


# Many files replaced and removed as one act (FORMAT §17.4): what is new is made ready aside, one small
# file says that it counts, then it is put in place.

SCHEMA = "forgetting.v1"
SUFFIX = "forget"
_VIEWS = "views"


@frozen
class Put:
    """Bytes that become a file, and, of a page, the hash of what they replace: a save that came since stays."""

    path: str
    data: bytes
    base: str | None = None
    is_page: bool = False


@frozen
class Removal:
    """A file that goes. Of a page: only if it still has this hash."""

    path: str
    base: str | None = None


def switch(root: Root, name: str, puts: Sequence[Put], removals: Sequence[Removal]) -> None:
    """Under the lock. Everything is on disk before it counts; `name` is an id."""
    folder = f"{STAGED}/{name}.{SUFFIX}"
    root.make(STAGED)
    root.make(folder, durable=False)
    try:
        rows = []
        for number, put in enumerate(puts):
            root.stage(f"{name}.{SUFFIX}/{number:06d}", put.data)
            rows.append([f"{number:06d}", put.path, sha256(put.data), put.base, put.is_page])
        root.sync(folder, STAGED)
        plan: Record = {"schema": SCHEMA, "id": name, "put": rows}
        plan["remove"] = [[each.path, each.base] for each in removals]
        root.replace(PLAN, records.encode(plan))
    except BaseException:
        if not is_committed(root):
            remove_staged(root, folder)
        raise
    finish(root)


def finish(root: Root) -> None:
    """Put in place what a committed switch made ready; done again, it does the rest. Under the lock."""
    plan = records.whole(root.read(PLAN) or b"")
    if plan.get("schema") != SCHEMA:
        raise Refused(
            f"Nothing was done: {PLAN} is damaged, so a forgetting that was interrupted cannot be completed. "
            "Restore the memory from a copy, or delete that file and run `looseleaf check`."
        )
    folder = f"{STAGED}/{plan['id']}.{SUFFIX}"
    ready = set(root.names(folder))
    touched: set[str] = {"log"}
    for name, path, digest, base, is_page in plan["put"]:
        above = path.rpartition("/")[0]
        if name in ready:
            root.make(above)
            if not is_page or sha256_or_none(root.read(path)) in (base, digest):
                with root.parent(f"{folder}/{name}") as (source, old), root.parent(path) as (target, new):
                    root.disk.rename(source, old, target, new)
        touched.add(above)
    for path, base in plan["remove"]:
        touched |= _remove(root, path, base)
    remove_tree(root, _VIEWS)
    for above in sorted(touched, key=len, reverse=True):
        try:
            root.sync(above)
        except FileNotFoundError:
            pass  # it went, with all that was in it; the folder above it is synced
    with root.folder("log") as log:
        root.disk.unlink(log, PLAN.rpartition("/")[2])
        root.disk.sync(log)
    remove_staged(root, folder)


def _remove(root: Root, path: str, base: str | None) -> set[str]:
    """The folders that are to be synced; those of entries go when they are empty."""
    above, _, name = path.rpartition("/")
    try:
        if base is not None and sha256_or_none(root.read(path)) != base:
            return set()
        with root.folder(above) as folder:
            root.disk.unlink(folder, name)
    except FileNotFoundError:
        pass  # a crash came after it
    touched = {above}
    while above.startswith("log/entries/") and not root.names(above):
        above, _, name = above.rpartition("/")
        touched.add(above)
        try:
            with root.folder(above) as folder:
                root.disk.rmdir(folder, name)
        except FileNotFoundError:
            pass
    return touched


def remove_tree(root: Root, folder: str) -> None:
    """A folder of ours with all that is in it. What is a link goes, and not what it leads to."""
    for name in root.names(folder):
        path = f"{folder}/{name}"
        with root.folder(folder) as fd:
            try:
                root.disk.unlink(fd, name)
                continue
            except FileNotFoundError:
                continue  # SQLite removes files of its own
            except OSError:
                pass  # a folder
        remove_tree(root, path)
        with root.folder(folder) as fd:
            try:
                root.disk.rmdir(fd, name)
            except FileNotFoundError:
                pass


NO_FILE = "no regular file"
COLLISION = "somebody else saved the page in the same moment"


class Exchange:
    """Works under the memory's lock, on pages whose edit is journaled and whose bytes are staged."""

    def __init__(self, root: Root, streams: Streams) -> None:
        self._root = root
        self._disk = root.disk
        self._streams = streams

    def replace(self, path: str, staged: str, base: str | None, new: str | None, edit: str) -> None:
        """Only a failure of the first step is taken back here; after it, `recover` knows best what there is."""
        kept: list[str] = []
        under = new
        try:
            self._swap(path, staged, base, new)
        except (FileExistsError, FileNotFoundError):
            pass  # made or removed by somebody in this very moment; nothing was swapped
        except OSError as error:
            # Where names are exchanged in several steps (FORMAT §6.6), the page may be the new one already.
            if base is not None and new is not None and self.hash(path) == new:
                raise
            try:
                self.void(path, edit, "the page could not be replaced", [])
            except Refused:
                raise error from None
            self._root.discard(staged)
            raise unwritten(path, error) from error
        else:
            displaced = None if base is None else self.what(staged)
            if displaced == base:
                self._root.sync(path.rpartition("/")[0], STAGED)
                if base is not None:
                    self._retire_later(staged, edit, base)
                return
            kept, under = self.give_back(path, staged, displaced, new)
        self.void(path, edit, COLLISION, kept)
        self.retire(staged, edit, under or SHA256_OF_NOTHING)
        raise Stale(path, base, self.hash(path))

    def _swap(self, path: str, staged: str, base: str | None, new: str | None) -> None:
        """Put the staged bytes under the page's name, and the page's, if any, under the staged one."""
        with self._root.parent(staged) as (source, old), self._root.parent(path) as (target, name):
            if new is None:
                self._disk.rename(target, name, source, old)
            elif base is None:
                self._disk.rename_new(source, old, target, name)
            else:
                self._disk.exchange(source, old, target, name)

    def give_back(
        self, path: str, staged: str, displaced: str | None, new: str | None
    ) -> tuple[list[str], str | None]:
        """Put a racing save back under its name, and a copy aside; the paths of what is aside, and what is staged now.

        The copy, because the new text stood under the name for a moment: an editor that read it then will save that
        over the save which we put back, and so the latter would never have been seen by anybody.
        """
        kept: list[str] = []
        with self._root.parent(staged) as (source, old), self._root.parent(path) as (target, name):
            if new is None:
                data = self._bytes_of(staged)
                try:
                    self._disk.rename_new(source, old, target, name)
                except FileExistsError:
                    return [self.keep(staged)], None
                return self._copy_aside(path, data), None
            previous: str | None = new
            while True:
                data = self._bytes_of(staged)
                try:
                    self._disk.exchange(source, old, target, name)
                except FileNotFoundError:
                    # Removed, or renamed away, while we gave back: that was the last word.
                    return [*kept, self.keep(staged)], None
                kept += self._copy_aside(path, data)
                under = self.what(staged)
                if under == previous:
                    return kept, under
                # Saved once more while we gave back: the newest save belongs on the page.
                previous, displaced = displaced, under

    def _copy_aside(self, path: str, data: bytes) -> list[str]:
        return [self._root.put_aside(data, f"collision-{path}")] if data else []

    def keep(self, staged: str) -> str:
        """Move the file itself, not a copy: an editor may still be writing into it."""
        kept = f"{ASIDE}/{new_id()}-kept"
        self._root.make(ASIDE)
        with self._root.parent(staged) as (source, old), self._root.parent(kept) as (target, name):
            self._disk.rename(source, old, target, name)
            self._disk.sync(target)
        return kept

    def void(self, path: str, edit: str, reason: str, aside: list[str]) -> None:
        """Say in the journal that an edit did not happen."""
        self.note("void", path, edit, reason, aside)

    def note(self, kind: str, path: str, edit: str, reason: str, aside: list[str]) -> None:
        record: Record = {
            "schema": JOURNAL_SCHEMA,
            "id": new_id(),
            "ts": time.time(),
            "kind": kind,
            "path": path,
            "edit": edit,
            "reason": reason,
        }
        if aside:
            record["aside"] = aside
        self._streams.append(JOURNAL, [record])

    # --- late saves --------------------------------------------------------------------

    def retire(self, staged: str, edit: str, known: str) -> None:
        """Watch a displaced file for a while: an editor that still has it open may yet write into it.

        `known` is the hash of the bytes that are safe. An editor may have written others since they were hashed, or
        may write them within one tick of the file's time: so it is by `known` that the file is dropped in the end.
        """
        with self._root.parent(staged) as (source, old):
            try:
                found = self._disk.stat(source, old)
            except FileNotFoundError:
                return
            self._root.make(LATE)
            with self._root.folder(LATE) as target:
                self._disk.rename(source, old, target, f"{edit}-{late_mark(found)}-{known}")

    def _retire_later(self, staged: str, edit: str, known: str) -> None:
        """The change is made and on disk: it is not undone because the old file could not be moved away."""
        try:
            self.retire(staged, edit, known)
        except OSError:
            pass  # recovery finds it, and knows by its bytes that the change was made

    def hash(self, path: str) -> str | None:
        data = self._root.read(path)
        return None if data is None else sha256(data)

    def what(self, path: str) -> str | None:
        """The hash of a file, or that it is none: somebody may have put a link under the name."""
        try:
            return self.hash(path)
        except Unreadable:
            raise
        except Refused:
            return NO_FILE

    def _bytes_of(self, path: str) -> bytes:
        return b"" if self.what(path) == NO_FILE else self._root.read(path) or b""


def late_mark(found: os.stat_result) -> str:
    """How a displaced file looks from outside: it changes when somebody writes into it."""
    return f"{found.st_size}-{found.st_mtime_ns}"
