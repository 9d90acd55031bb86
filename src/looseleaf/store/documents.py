"""Documents: read whole, replaced whole, and only from the bytes the caller knew (FORMAT §6).

A page's change goes: stage the new bytes → journal the edit → exchange the two files in one step → look at what was
displaced. If that is not the `base`, somebody saved in that very moment: their bytes go back under the name, the edit
is declared void, and the caller is told. Whatever step a crash hits, `recover` finishes the change or takes it back.
"""

from __future__ import annotations

import time

from looseleaf.core.paths import canonical, same_name
from looseleaf.errors import Refused, Stale
from looseleaf.hashing import SHA256_OF_NOTHING, sha256
from looseleaf.store.root import ASIDE, STAGED, unreadable, unwritten
from looseleaf.store.ulid import is_id, new_id, time_of
from looseleaf.values import Document, Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from looseleaf.policy import Policy
    from looseleaf.store.lock import Lock
    from looseleaf.store.root import Root
    from looseleaf.store.segments import Segments
    from looseleaf.store.streams import Streams
    from looseleaf.values import Record

LATE = f"{ASIDE}/late"
COLLISION = "somebody else saved the page in the same moment"
JOURNAL_SCHEMA = "journal.v1"
_ABANDONED = 3600.0
"""Seconds after which a staged file cannot belong to a living process any more."""


class Documents:
    def __init__(self, root: Root, lock: Lock, policy: Policy, streams: Streams, segments: Segments) -> None:
        self._root = root
        self._disk = root.disk
        self._lock = lock
        self._policy = policy
        self._streams = streams
        self._segments = segments
        self._swept = 0.0

    # --- reading -----------------------------------------------------------------------

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
        return _stat(path, found)

    # --- changing ----------------------------------------------------------------------

    def put(self, path: str, data: bytes, *, base: str | None, record: Record | None = None) -> str:
        self._change(canonical(path), data, base, record)
        return sha256(data)

    def delete(self, path: str, *, base: str, record: Record | None = None) -> None:
        self._change(canonical(path), None, base, record)

    def view(self, path: str, data: bytes) -> None:
        path = canonical(path)
        if not path.startswith("views/"):
            raise Refused(
                f"{path} was not written: only what lies in views/ may be written without a promise."
            )
        try:
            self._root.replace(path, data, durable=False)
        except OSError as error:
            raise unwritten(path, error) from error

    def _change(self, path: str, data: bytes | None, base: str | None, record: Record | None) -> None:
        with self._lock:
            self.recover()
            current = self._hash(path)
            if current != base:
                raise Stale(path, base, current)
            if base is None:
                self._refuse_twin(path)
            try:
                if record is not None:
                    self._edit(path, data, base, record)
                elif data is None:
                    with self._root.parent(path) as (folder, name):
                        self._disk.unlink(folder, name)
                        self._disk.sync(folder)
                else:
                    self._root.replace(path, data)
            except OSError as error:
                raise unwritten(path, error) from error

    def _refuse_twin(self, path: str) -> None:
        """A second name that some systems cannot tell from the first would overwrite it there."""
        folder, _, name = path.rpartition("/")
        for other in self._root.names(folder):
            if other != name and same_name(other, name):
                raise Refused(
                    f"{path} was not made: {other} is there already, and some systems take the two names for one. "
                    f"Change {other}, or choose a name that differs in more than case or accents' spelling."
                )

    def _edit(self, path: str, data: bytes | None, base: str | None, record: Record) -> None:
        edit = str(record["id"])
        self._root.make(STAGED)
        self._root.make(path.rpartition("/")[0])
        staged = self._root.stage(f"{edit}.edit", b"" if data is None else data)
        try:
            self._root.sync(STAGED)
            self._streams.append("journal", [record])
        except BaseException:
            if not self._is_journaled(edit):
                self._root.discard(staged)
            raise
        self._exchange(path, staged, base, None if data is None else sha256(data), edit)

    def _is_journaled(self, edit: str) -> bool:
        """Whether a record whose append failed stands in the log all the same (it could not be taken back)."""
        last = next(self._segments.read_back("journal"), None)
        return last is not None and last.record.get("id") == edit

    # --- the exchange ------------------------------------------------------------------

    def _exchange(self, path: str, staged: str, base: str | None, new: str | None, edit: str) -> None:
        """Only a failure of the first step is taken back here; after it, `recover` knows best what there is."""
        kept: list[str] = []
        try:
            self._swap(path, staged, base, new)
        except (FileExistsError, FileNotFoundError):
            pass  # made or removed by somebody in this very moment; nothing was swapped
        except OSError:
            self._void(path, edit, "the page could not be replaced", [])
            self._root.discard(staged)
            raise
        else:
            displaced = None if base is None else self._hash(staged)
            if displaced == base:
                self._settle(path, staged, base, edit)
                return
            kept = self._give_back(path, staged, displaced, new)
        self._void(path, edit, COLLISION, kept)
        self._retire(staged, edit)
        raise Stale(path, base, self._hash(path))

    def _swap(self, path: str, staged: str, base: str | None, new: str | None) -> None:
        """Put the staged bytes under the page's name, and the page's, if any, under the staged one."""
        with self._root.parent(staged) as (source, old), self._root.parent(path) as (target, name):
            if new is None:
                self._disk.rename(target, name, source, old)
            elif base is None:
                self._disk.rename_new(source, old, target, name)
            else:
                self._disk.exchange(source, old, target, name)

    def _settle(self, path: str, staged: str, base: str | None, edit: str) -> None:
        self._root.sync(path.rpartition("/")[0], STAGED)
        if base is not None:
            self._retire(staged, edit)

    def _give_back(self, path: str, staged: str, displaced: str | None, new: str | None) -> list[str]:
        """Put a racing save back under its name. Saves that were overwritten meanwhile are kept aside; their paths."""
        kept: list[str] = []
        with self._root.parent(staged) as (source, old), self._root.parent(path) as (target, name):
            if new is None:
                try:
                    self._disk.rename_new(source, old, target, name)
                except FileExistsError:
                    kept.append(self._keep(staged))
                return kept
            previous: str | None = new
            while True:
                self._disk.exchange(source, old, target, name)
                under = self._hash(staged)
                if under == previous:
                    return kept
                # Saved once more while we gave back: the newest save belongs on the page, the other one aside.
                kept.append(self._root.put_aside(self._root.read(path) or b"", f"collision-{path}"))
                previous, displaced = displaced, under

    def _keep(self, staged: str) -> str:
        """Move the file itself, not a copy: an editor may still be writing into it."""
        kept = f"{ASIDE}/{new_id()}-kept"
        self._root.make(ASIDE)
        with self._root.parent(staged) as (source, old), self._root.parent(kept) as (target, name):
            self._disk.rename(source, old, target, name)
            self._disk.sync(target)
        return kept

    def _void(self, path: str, edit: str, reason: str, aside: list[str]) -> None:
        """Say in the journal that an edit did not happen."""
        self._note("void", path, edit, reason, aside)

    def _note(self, kind: str, path: str, edit: str, reason: str, aside: list[str]) -> None:
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
        self._streams.append("journal", [record])

    # --- late saves --------------------------------------------------------------------

    def _retire(self, staged: str, edit: str) -> None:
        """Watch a displaced file for a while: an editor that still has it open may yet write into it."""
        with self._root.parent(staged) as (source, old):
            try:
                found = self._disk.stat(source, old)
            except FileNotFoundError:
                return
            self._root.make(LATE)
            with self._root.folder(LATE) as target:
                self._disk.rename(source, old, target, f"{edit}-{found.st_size}-{found.st_mtime_ns}")

    def sweep(self) -> None:
        """Drop displaced files that nobody wrote into; keep and list those that somebody did."""
        now = time.time()
        if 0 <= now - self._swept < 1 or not self._root.names(LATE):
            return
        self._swept = now
        with self._lock, self._root.folder(LATE) as folder:
            for name in self._disk.names(folder):
                edit, _, mark = name.partition("-")
                found = self._disk.stat(folder, name)
                if mark != f"{found.st_size}-{found.st_mtime_ns}":
                    record = self._journaled(edit) or {}
                    path = str(record.get("path", ""))
                    kept = self._keep(f"{LATE}/{name}")
                    self._note(
                        "late", path, edit, "an editor wrote into the file after it was replaced", [kept]
                    )
                elif not is_id(edit) or now - time_of(edit) > self._policy.late_seconds:
                    self._disk.unlink(folder, name)

    # --- after a crash -----------------------------------------------------------------

    def recover(self) -> None:
        if not self._root.names(STAGED):
            return
        with self._lock:
            try:
                for name in self._root.names(STAGED):
                    self._recover_one(name)
            except OSError as error:
                raise unwritten("What an interrupted change left behind", error) from error

    def _recover_one(self, name: str) -> None:
        stem, _, kind = name.partition(".")
        staged = f"{STAGED}/{name}"
        if kind == "edit.was":  # only where names cannot be exchanged in one step (FORMAT §6.6)
            plain = staged.removesuffix(".was")
            if self._hash_of_any(plain) is not None:
                self._root.discard(staged)
            else:
                with self._root.folder(STAGED) as folder:
                    self._disk.rename(folder, name, folder, f"{stem}.edit")
                self._finish(stem, plain)
        elif kind == "edit":
            self._finish(stem, staged)
        elif not is_id(stem) or time.time() - time_of(stem) > _ABANDONED:
            self._remove(staged)

    def _finish(self, edit: str, staged: str) -> None:
        """Complete the change a crash interrupted if the page is still what it was; else declare it void."""
        record = self._journaled(edit)
        if record is None:
            self._keep(staged)
            return
        try:
            path, base, new = canonical(str(record["path"])), record["base"], record["new"]
        except (KeyError, Refused):
            self._keep(staged)  # no edit of ours: a journal that somebody else made may name any file of this machine
            return
        under, page = self._hash(staged), self._hash(path)
        ours = under == (new if new is not None else SHA256_OF_NOTHING)
        if record["kind"] == "void" or (page == new and under == base):
            pass
        elif page == base and ours:
            self._exchange(path, staged, base, new, edit)
            return
        elif page == new and not ours:
            kept = self._give_back(path, staged, under, new)
            self._void(path, edit, COLLISION, kept)
        elif page != new:
            self._void(path, edit, "the page was changed before an interrupted edit could be completed", [])
            if not ours:
                self._keep(staged)
        self._settle(path, staged, "", edit)

    def _journaled(self, edit: str) -> Record | None:
        """The record of an edit; with kind `void` if it was declared so. None: the journal does not know it."""
        voided = False
        oldest = time_of(edit) - _ABANDONED if is_id(edit) else 0.0
        for line in self._segments.read_back("journal"):
            record = line.record
            voided = voided or (record.get("kind") == "void" and record.get("edit") == edit)
            if record.get("id") == edit:
                return record | {"kind": "void"} if voided else record
            if float(record.get("ts", 0)) < oldest:
                return None
        return None

    # --- folders -----------------------------------------------------------------------

    def publish(self, folder: str, files: Mapping[str, bytes]) -> None:
        folder = canonical(folder)
        staged = f"{STAGED}/{new_id()}.dir"
        above = folder.rpartition("/")[0]
        with self._lock:
            self.recover()
            try:
                self._root.make(staged)
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
                        self._disk.sync(target)
                except BaseException:
                    self._remove(staged)
                    raise
            except FileExistsError:
                raise Refused(
                    f"{folder} was not written: it exists, and what was once published never changes."
                ) from None
            except OSError as error:
                raise unwritten(folder, error) from error

    def _remove(self, staged: str) -> None:
        """A staged file or folder of ours; one that cannot be removed is left for the next recovery."""
        try:
            for name in self._root.names(staged):
                self._root.discard(f"{staged}/{name}")
            with self._root.parent(staged) as (folder, name):
                self._disk.rmdir(folder, name)
        except NotADirectoryError:
            self._root.discard(staged)
        except OSError:
            pass

    def _hash(self, path: str) -> str | None:
        data = self._root.read(path)
        return None if data is None else sha256(data)

    def _hash_of_any(self, path: str) -> bool | None:
        with self._root.parent(path) as (folder, name):
            try:
                self._disk.stat(folder, name)
            except FileNotFoundError:
                return None
        return True

    # Last, because its name hides the type of the same name from what follows it.
    def list(self, folder: str = "") -> list[Stat]:
        prefix = f"{canonical(folder)}/" if folder else ""
        try:
            with self._root.folder(folder) as fd:
                found = [
                    _stat(prefix + entry.name, entry.stat(follow_symlinks=False))
                    for entry in self._disk.entries(fd)
                    if entry.is_file(follow_symlinks=False)
                ]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise unreadable(folder or self._root.path, error) from error
        return sorted(found, key=lambda each: each.path)


def _stat(path: str, found: os.stat_result) -> Stat:
    mark = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode)
    return Stat(path, found.st_size, found.st_mtime_ns, mark)
