"""The last step of a page's change: new bytes take the page's name, and the displaced file is checked (FORMAT §6.2).

If that is not the `base`, an editor saved meanwhile: its bytes go back under the name, the edit is declared void, and
the caller gets Stale. A displaced file is watched for an editor that still has it open.
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


# --- many files as one act (FORMAT §17.4): stage the new files, commit with one small file, put in place ---

SCHEMA = "forgetting.v1"
SUFFIX = "forget"
_VIEWS = "views"


@frozen
class Put:
    """New bytes of a file. Of a page, `base` is the hash of the bytes they replace: a later save stays."""

    path: str
    data: bytes
    base: str | None = None
    is_page: bool = False


@frozen
class Removal:
    """A file to remove. Of a page: only if it still has this hash."""

    path: str
    base: str | None = None


def switch(root: Root, name: str, puts: Sequence[Put], removals: Sequence[Removal]) -> None:
    """Replace and remove files as one act, under the lock. Everything is on disk before the commit; `name` is an id."""
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
    """Put the staged files of a committed switch in place, under the lock; repeated, do the rest."""
    plan = records.whole(root.read(PLAN) or b"")
    if plan.get("schema") != SCHEMA:
        raise Refused(
            f"{PLAN} is damaged, so an interrupted forget cannot be finished. Restore the memory from a copy, or "
            "delete that file and run `looseleaf check`."
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
        touched |= _remove_file(root, path, base)
    remove_tree(root, _VIEWS)
    for above in sorted(touched, key=len, reverse=True):
        try:
            root.sync(above)
        except FileNotFoundError:
            pass  # removed; the folder above it is synced
    with root.folder("log") as log:
        root.disk.unlink(log, PLAN.rpartition("/")[2])
        root.disk.sync(log)
    remove_staged(root, folder)


def _remove_file(root: Root, path: str, base: str | None) -> set[str]:
    """Remove a file, and its entry's folders if they are empty; return the folders to sync."""
    above, _, name = path.rpartition("/")
    try:
        if base is not None and sha256_or_none(root.read(path)) != base:
            return set()
        with root.folder(above) as folder:
            root.disk.unlink(folder, name)
    except FileNotFoundError:
        pass  # removed before a crash
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
    """Remove a folder and everything in it. Remove a link, and not its target."""
    for name in root.names(folder):
        path = f"{folder}/{name}"
        with root.folder(folder) as fd:
            try:
                root.disk.unlink(fd, name)
                continue
            except FileNotFoundError:
                continue  # SQLite removes its own files
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
    """The exchange of pages, under the memory's lock; their edits are journaled and their bytes staged."""

    def __init__(self, root: Root, streams: Streams) -> None:
        self._root = root
        self._disk = root.disk
        self._streams = streams

    def replace(self, path: str, staged: str, base: str | None, new: str | None, edit: str) -> None:
        """Exchange a page and its staged bytes. Undo a failure of the first step only; later ones are `recover`'s."""
        kept: list[str] = []
        under = new
        try:
            self._swap(path, staged, base, new)
        except (FileExistsError, FileNotFoundError):
            pass  # the page was made or removed meanwhile; nothing was swapped
        except OSError as error:
            # Where the exchange takes several steps (FORMAT §6.6), the page may be the new one already.
            if base is not None and new is not None and self.hash(path) == new:
                raise
            try:
                self.void(path, edit, "the page could not be replaced", [])
            except Refused:
                raise error from None
            self._root.discard(staged)
            raise unwritten(path, error) from error
        else:
            displaced = None if base is None else self.hash_or_mark(staged)
            if displaced == base:
                self._root.sync(path.rpartition("/")[0], STAGED)
                try:
                    if base is not None:
                        self.retire(staged, edit, base)
                except OSError:
                    pass  # recovery finds the file, and sees by its bytes that the change was made
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
        """Put a racing save back under its name, and a copy aside; return the copies' paths and what is staged now.

        The copy is needed because the new text had the name for a moment: an editor that read it then will save it
        over the save we put back, which no one would ever have seen.
        """
        kept: list[str] = []
        with self._root.parent(staged) as (source, old), self._root.parent(path) as (target, name):
            if new is None:
                data = self._read_bytes(staged)
                try:
                    self._disk.rename_new(source, old, target, name)
                except FileExistsError:
                    return [self.keep(staged)], None
                return self._copy_aside(path, data), None
            previous: str | None = new
            while True:
                data = self._read_bytes(staged)
                try:
                    self._disk.exchange(source, old, target, name)
                except FileNotFoundError:
                    # Removed or renamed meanwhile: that was the last word.
                    return [*kept, self.keep(staged)], None
                kept += self._copy_aside(path, data)
                under = self.hash_or_mark(staged)
                if under == previous:
                    return kept, under
                # Saved once more meanwhile: the newest save belongs on the page.
                previous, displaced = displaced, under

    def _copy_aside(self, path: str, data: bytes) -> list[str]:
        return [self._root.put_aside(data, f"collision-{path}")] if data else []

    def keep(self, staged: str) -> str:
        """Move a staged file aside: the file itself, because an editor may still be writing into it."""
        kept = f"{ASIDE}/{new_id()}-kept"
        self._root.make(ASIDE)
        with self._root.parent(staged) as (source, old), self._root.parent(kept) as (target, name):
            self._disk.rename(source, old, target, name)
            self._disk.sync(target)
        return kept

    def void(self, path: str, edit: str, reason: str, aside: list[str]) -> None:
        """Journal that an edit did not happen."""
        self.note("void", path, edit, reason, aside)

    def note(self, kind: str, path: str, edit: str, reason: str, aside: list[str]) -> None:
        record: Record = {"schema": JOURNAL_SCHEMA, "id": new_id(), "ts": time.time(), "kind": kind}
        record |= {"path": path, "edit": edit, "reason": reason} | ({"aside": aside} if aside else {})
        self._streams.append(JOURNAL, [record])

    def retire(self, staged: str, edit: str, known: str) -> None:
        """Move a displaced file to where it is watched: an editor that still has it open may write into it.

        `known` is the hash of the bytes that are safe. An editor may have written since they were hashed, or may write
        within one tick of the file's time, so the file is removed in the end only if it still has this hash.
        """
        with self._root.parent(staged) as (source, old):
            try:
                found = self._disk.stat(source, old)
            except FileNotFoundError:
                return
            self._root.make(LATE)
            with self._root.folder(LATE) as target:
                self._disk.rename(source, old, target, f"{edit}-{late_mark(found)}-{known}")

    def hash(self, path: str) -> str | None:
        return sha256_or_none(self._root.read(path))

    def hash_or_mark(self, path: str) -> str | None:
        """Return a file's hash, or NO_FILE for anything else, such as a link put under the name."""
        try:
            return self.hash(path)
        except Unreadable:
            raise
        except Refused:
            return NO_FILE

    def _read_bytes(self, path: str) -> bytes:
        return b"" if self.hash_or_mark(path) == NO_FILE else self._root.read(path) or b""


def late_mark(found: os.stat_result) -> str:
    """Return a displaced file's size and time: a write changes them."""
    return f"{found.st_size}-{found.st_mtime_ns}"
