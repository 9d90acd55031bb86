"""Documents: read whole, and replaced whole from the bytes that the caller read (FORMAT §6).

A page's change goes: stage the new bytes → journal the edit → copy them to `views/heads/` → exchange the two files in
one step → check the displaced one (§6.2). Whichever step a crash hits, recovery finishes the change or undoes it
(§6.4, §6.5).

If the displaced file is not the `base`, an editor saved meanwhile: its bytes go back under the name, the edit is
declared void, and the caller gets Stale. A displaced file is watched for an editor that still has it open.
"""

from __future__ import annotations

import time
from functools import cached_property

from looseleaf.base.errors import Busy, Invalid, Refused, Stale, Unreadable, Unwritten
from looseleaf.base.ids import is_id, new_id, random_id, time_of
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import canonical, fold_name
from looseleaf.base.values import SHA256_OF_NOTHING, Document, Stat, sha256, sha256_or_none
from looseleaf.store import COPIES, JOURNAL, JOURNAL_SCHEMA, TOMBSTONES, records
from looseleaf.store.disk import Alone, ViewGate
from looseleaf.store.root import (
    ASIDE,
    FORGETTER,
    GATE,
    GATE_SECONDS,
    LATE,
    PLAN,
    STAGED,
    is_committed,
    remove_staged,
    unreadable,
    unwritten,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Mapping

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Edition, Record
    from looseleaf.store.disk import Lock
    from looseleaf.store.root import Root
    from looseleaf.store.streams import Segments, Streams


# --- the exchange of one page -----------------------------------------------------------

NO_FILE = "no regular file"
COLLISION = "something else saved the page at the same moment"


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

    def keep_copy(self, path: str, data: bytes | None) -> None:
        """Keep the bytes that are about to be the page: should the journal lose this edit, they tell that the program
        wrote them (FORMAT §5.4). Like every view it may fail."""
        copy = f"{COPIES}/{path}"
        try:
            if data is None:
                self._root.discard(copy)
            else:
                self._root.replace(copy, data, durable=False)
        except (OSError, Refused):
            pass

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


# --- many files as one act (FORMAT §17.4): stage the new files, commit with one small file, put in place ---

SCHEMA = "forgetting.v1"
SUFFIX = "forget"
_VIEWS = "views"


@frozen
class Removal:
    """A file to remove. Of a page: only if it still has this hash."""

    path: str
    base: str | None = None


class StagedFile:
    """New bytes of a file. Of a page, `base` is the hash of the bytes they replace: a later save stays."""

    def __init__(self, name: str, path: str, data: bytes, base: str | None, *, is_page: bool) -> None:
        from hashlib import sha256

        self.name, self.path, self.base, self.is_page = name, path, base, is_page
        self._hash = sha256(data)
        self.size = len(data)

    def extend(self, data: bytes) -> None:
        self._hash.update(data)
        self.size += len(data)

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


class Switch:
    """Files that are replaced and removed as one act. Staging takes no lock, `commit` does; `name` is an id."""

    def __init__(self, root: Root, name: str) -> None:
        self._root = root
        self.name = name
        self._folder = f"{STAGED}/{name}.{SUFFIX}"
        self._files: list[StagedFile] = []
        self._removals: list[Removal] = []

    def put(self, path: str, data: bytes, base: str | None = None, *, is_page: bool = False) -> StagedFile:
        """Stage the new bytes of a file, durably."""
        if not self._files:
            self._root.make(STAGED)
            self._root.make(self._folder, durable=False)
        file = StagedFile(f"{len(self._files):06d}", path, data, base, is_page=is_page)
        self._root.stage(f"{self.name}.{SUFFIX}/{file.name}", data)
        self._files.append(file)
        return file

    def extend(self, file: StagedFile, data: bytes) -> None:
        """Add bytes to a staged file, durably."""
        self._root.extend(f"{self._folder}/{file.name}", data)
        file.extend(data)

    def remove(self, *removals: Removal) -> None:
        self._removals += removals

    @property
    def paths(self) -> set[str]:
        """All files that change or go."""
        return {each.path for each in self._files} | {each.path for each in self._removals}

    @property
    def pages(self) -> list[str]:
        """The pages that change or go."""
        gone = [each.path for each in self._removals if each.base is not None]
        return [*(each.path for each in self._files if each.is_page), *gone]

    def commit(self, first: str) -> None:
        """Replace and remove all, under the lock, the file with this path first."""
        self._root.sync(self._folder, STAGED)
        files = sorted(self._files, key=lambda each: each.path != first)
        rows = [[each.name, each.path, each.sha256, each.base, each.is_page] for each in files]
        plan: Record = {"schema": SCHEMA, "id": self.name, "put": rows}
        plan["remove"] = [[each.path, each.base] for each in self._removals]
        self._root.replace(PLAN, records.encode(plan))
        finish(self._root)

    def drop(self) -> None:
        """Remove what was staged, unless it is committed."""
        if self._files and not is_committed(self._root):
            remove_staged(self._root, self._folder)


def finish(root: Root) -> None:
    """Put the staged files of a committed switch in place, under the lock; repeated, do the rest. No view is written
    meanwhile: it may rest on what goes."""
    with ViewGate(root.disk, root.open_lock(GATE), GATE_SECONDS, alone=True):
        _finish(root)


def _finish(root: Root) -> None:
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


def remove_tree(root: Root, folder: str, but: Collection[str] = ()) -> None:
    """Remove everything in a folder, but some names. Remove a link, and not its target."""
    for name in root.names(folder):
        if name in but:
            continue
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


# --- recovery after a crash: finish or undo changes, and remove old displaced files -----

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
        elif kind == SUFFIX:
            with Alone(self._root.disk, self._root.open_lock, FORGETTER) as is_alone:
                if is_alone:  # else its process is still preparing it
                    remove_staged(self._root, staged)
        elif not is_id(stem) or time.time() - time_of(stem) > _ABANDONED:
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
            self._exchange.keep_copy(path, None if new is None else self._root.read(staged))
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


# --- documents --------------------------------------------------------------------------


class Documents:
    def __init__(self, root: Root, lock: Lock, policy: Policy, streams: Streams, segments: Segments) -> None:
        self._root = root
        self._disk = root.disk
        self._lock = lock
        self._policy = policy
        self._streams = streams
        self._segments = segments
        self._swept = 0.0
        self._names: tuple[str, int | None, dict[str, str]] | None = None
        """A folder, when it last changed, and the names in it by one form of each."""

    @cached_property
    def _exchange(self) -> Exchange:

        return Exchange(self._root, self._streams)

    @cached_property
    def _recovery(self) -> Recovery:

        return Recovery(self._root, self._lock, self._policy, self._streams, self._segments, self._exchange)

    def get(self, path: str, limit: int | None = None) -> Document | None:
        path = canonical(path)
        data = self._root.read(path, limit)
        return None if data is None else Document(path, data)

    def stat(self, path: str) -> Stat | None:
        path = canonical(path)
        try:
            with self._root.parent(path) as (folder, name):
                found = self._disk.stat(folder, name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unreadable(path, error) from error
        return _stat_of(path, found)

    def put(
        self,
        path: str,
        data: bytes,
        *,
        base: str | None,
        record: Record | None = None,
        when: float | None = None,
    ) -> str:
        new = str(record["new"]) if record is not None and record.get("new") else sha256(data)
        self._change_document(canonical(path), data, base, new, record, when)
        return new

    def delete(self, path: str, *, base: str, record: Record | None = None) -> None:
        self._change_document(canonical(path), None, base, None, record)

    def view(self, path: str, data: bytes) -> None:
        path = view_path(path)
        try:
            self._root.replace(path, data, durable=False)
        except OSError as error:
            raise unwritten(path, error) from error

    def edition(self) -> Edition:
        """Return the identity of the tombstone file, which each forget replaces (FORMAT §17.6)."""
        try:
            found = self._root.stat(f"log/{TOMBSTONES}.jsonl")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unreadable(f"log/{TOMBSTONES}.jsonl", error) from error
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _change_document(
        self,
        path: str,
        data: bytes | None,
        base: str | None,
        new: str | None,
        record: Record | None,
        when: float | None = None,
    ) -> None:
        with self._lock:
            self.recover()
            found = self.get(path)
            current = found.sha256 if found else None
            if current != base:
                raise Stale(path, base, current)
            try:
                if base is None:
                    self._refuse_twin(path)
                if record is not None:
                    self._write_edit(path, data, base, new, record)
                elif data is None:
                    with self._root.parent(path) as (folder, name):
                        self._disk.unlink(folder, name)
                        self._disk.sync(folder)
                else:
                    self._root.replace(path, data, when=when)
                self._note_name(path, is_there=data is not None)
            except OSError as error:
                raise unwritten(path, error) from error

    def _refuse_twin(self, path: str) -> None:
        """Refuse a name that some systems cannot tell from an existing one: it would overwrite that file there."""
        folder, _, name = path.rpartition("/")
        changed = self._changed_at(folder)
        if changed is None or self._names is None or self._names[:2] != (folder, changed):
            self._names = folder, changed, {fold_name(each): each for each in self._root.names(folder)}
        other = self._names[2].get(fold_name(name), name)
        if other != name:
            raise Refused(
                f"{path} was not made: {other} exists, and some systems take the two names for one. "
                f"Change {other}, or choose a name that differs in more than case or accents."
            )

    def _changed_at(self, folder: str) -> int | None:
        """Return when a name in a folder last changed; None: not known."""
        try:
            return self._root.stat(folder).st_mtime_ns if folder else None
        except OSError:
            return None

    def _note_name(self, path: str, *, is_there: bool) -> None:
        """Keep the names of a folder in which one page after the other is made: listing it for each takes longest."""
        folder, _, name = path.rpartition("/")
        if self._names is None or self._names[0] != folder:
            return
        changed, names = self._changed_at(folder), self._names[2]
        if is_there:
            names[fold_name(name)] = name
        self._names = (folder, changed, names) if is_there and changed is not None else None

    def _write_edit(
        self, path: str, data: bytes | None, base: str | None, new: str | None, record: Record
    ) -> None:
        edit = str(record["id"])
        self._root.make(STAGED)
        self._root.make(path.rpartition("/")[0])
        staged = self._root.stage(f"{edit}.edit", b"" if data is None else data)
        try:
            self._root.sync(STAGED)
            self._streams.append(JOURNAL, [record])
        except BaseException as error:
            if self._may_be_journaled(edit):
                raise _unfinished_error(path, error) from error
            self._root.discard(staged)
            raise
        self._exchange.keep_copy(path, data)
        try:
            self._exchange.replace(path, staged, base, new, edit)
        except OSError as error:
            raise _unfinished_error(path, error) from error

    def _may_be_journaled(self, edit: str) -> bool:
        """True if a record whose append failed may still stand in the log, because undoing the write failed too."""
        try:
            last = next(self._segments.read_back(JOURNAL), None)
        except Refused:
            return True  # recovery reads the journal again, and decides
        return last is not None and last.record.get("id") == edit

    def recover(self) -> None:
        """Finish or undo interrupted changes. Usually there are none, and this loads nothing to find that out."""
        try:
            if self._root.names(STAGED):
                self._recovery.recover()
        except OSError as error:
            raise unwritten("The rest of an interrupted change", error) from error

    def sweep(self) -> None:
        """Remove old displaced files. Where that fails (a read-only memory), they stay."""
        now = time.time()
        if 0 <= now - self._swept < 1:
            return
        self._swept = now
        try:
            if self._root.names(LATE) and self._lock.is_free():
                self._recovery.sweep()
        except (OSError, Unwritten, Busy):
            pass

    def publish(self, folder: str, files: Mapping[str, bytes], *, again: bool = False) -> None:
        folder = canonical(folder)
        staged = f"{STAGED}/{random_id()}.dir"
        above = folder.rpartition("/")[0]
        with self._lock:
            self.recover()
            try:
                if again and self._root.is_folder(folder):
                    self._root.sync(above)  # its writer may have died before this
                    return
                self._root.make(staged, durable=False)  # temporary; the final name is synced below
                try:
                    for name, data in files.items():
                        self._root.stage(f"{staged.rpartition('/')[2]}/{canonical(name)}", data)
                    self._root.sync(staged, STAGED)
                    self._root.make(above)
                    with (
                        self._root.parent(staged) as (source, old),
                        self._root.parent(folder) as (target, name),
                    ):
                        self._disk.rename_new(source, old, target, name)
                        try:
                            self._disk.sync(target)
                        except OSError:
                            # Not acknowledged, so not there: the caller may repeat it under the same name.
                            self._disk.rename_new(target, name, source, old)
                            raise
                except BaseException:
                    remove_staged(self._root, staged)
                    raise
            except FileExistsError:
                raise Refused(
                    f"{folder} was not written: it exists, and a published folder never changes. Use a new name."
                ) from None
            except OSError as error:
                raise unwritten(folder, error) from error

    def folders(self, folder: str) -> tuple[str, ...]:
        try:
            with self._root.folder(canonical(folder)) as fd:
                entries = self._disk.entries(fd)
                return tuple(sorted(each.name for each in entries if each.is_dir(follow_symlinks=False)))
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise unreadable(folder, error) from error

    # Last: its name hides the type `list` from the lines below it.
    def list(self, folder: str = "") -> list[Stat]:
        prefix = f"{canonical(folder)}/" if folder else ""
        try:
            with self._root.folder(folder) as fd:
                found = [each for entry in self._disk.entries(fd) if (each := _stat_of_entry(prefix, entry))]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise unreadable(folder or self._root.path, error) from error
        return sorted(found, key=lambda each: each.path)


def view_path(path: str) -> str:
    """Return the canonical path of a view; refuse any other."""
    path = canonical(path)
    if not path.startswith("views/"):
        raise Invalid(f"{path} was not written: only files in views/ may be written without a base. Use put.")
    return path


def _unfinished_error(path: str, error: BaseException) -> Unwritten:
    why = error.strerror or error if isinstance(error, OSError) else error
    return Unwritten(
        f"{path} may or may not have changed: the disk failed in the middle ({why}). Nothing is lost: "
        "the next command finishes the change or undoes it. Read the page again before you repeat it."
    )


def _stat_of_entry(prefix: str, entry: os.DirEntry[str]) -> Stat | None:
    """Return None for anything but a file, and for a file that an editor has just removed."""
    try:
        if entry.is_file(follow_symlinks=False):
            return _stat_of(prefix + entry.name, entry.stat(follow_symlinks=False))
    except FileNotFoundError:
        pass
    return None


def _stat_of(path: str, found: os.stat_result) -> Stat:
    mark = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode)
    return Stat(path, found.st_size, found.st_mtime_ns, mark)
