"""Documents: read whole, replaced whole, and only from the bytes the caller knew (FORMAT §6).

A page's change goes: stage the new bytes → journal the edit → exchange the two files in one step → look at what was
displaced. If that is not the `base`, somebody saved in that very moment: their bytes go back under the name, the edit
is declared void, and the caller is told. Whatever step a crash hits, `recover` finishes the change or takes it back.
"""

from __future__ import annotations

import time

from looseleaf.core.paths import canonical, same_name
from looseleaf.errors import Refused, Stale, Unreadable, Unwritten
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
NO_FILE = "no regular file"
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
                f"{path} was not written: only what lies in views/ may be written without a promise. Use put."
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
            try:
                if base is None:
                    self._refuse_twin(path)
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
        except BaseException as error:
            if self._may_be_journaled(edit):
                raise _unfinished(path, error) from error
            self._root.discard(staged)
            raise
        try:
            self._exchange(path, staged, base, None if data is None else sha256(data), edit)
        except OSError as error:
            raise _unfinished(path, error) from error

    def _may_be_journaled(self, edit: str) -> bool:
        """Whether a record whose append failed stands in the log all the same (it could not be taken back)."""
        try:
            last = next(self._segments.read_back("journal"), None)
        except Refused:
            return True  # recovery will know: it reads the journal again before it does anything
        return last is not None and last.record.get("id") == edit

    # --- the exchange ------------------------------------------------------------------

    def _exchange(self, path: str, staged: str, base: str | None, new: str | None, edit: str) -> None:
        """Only a failure of the first step is taken back here; after it, `recover` knows best what there is."""
        kept: list[str] = []
        under = new
        try:
            self._swap(path, staged, base, new)
        except (FileExistsError, FileNotFoundError):
            pass  # made or removed by somebody in this very moment; nothing was swapped
        except OSError as error:
            # Where names are exchanged in several steps (FORMAT §6.6), the page may be the new one already.
            if base is not None and new is not None and self._hash(path) == new:
                raise
            try:
                self._void(path, edit, "the page could not be replaced", [])
            except Refused:
                raise error from None
            self._root.discard(staged)
            raise unwritten(path, error) from error
        else:
            displaced = None if base is None else self._what(staged)
            if displaced == base:
                self._root.sync(path.rpartition("/")[0], STAGED)
                if base is not None:
                    self._retire_later(staged, edit, base)
                return
            kept, under = self._give_back(path, staged, displaced, new)
        self._void(path, edit, COLLISION, kept)
        self._retire(staged, edit, under or SHA256_OF_NOTHING)
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

    def _give_back(
        self, path: str, staged: str, displaced: str | None, new: str | None
    ) -> tuple[list[str], str | None]:
        """Put a racing save back under its name, and a copy aside; the paths of what is aside, and what is staged now.

        The copy, because the new text stood under the name for a moment: an editor that read it then will save that
        over the save which we put back, and so the latter would never have been seen by anybody.
        """
        kept: list[str] = []
        with self._root.parent(staged) as (source, old), self._root.parent(path) as (target, name):
            if new is None:
                data = self._bytes(staged)
                try:
                    self._disk.rename_new(source, old, target, name)
                except FileExistsError:
                    return [self._keep(staged)], None
                return self._copy_aside(path, data), None
            previous: str | None = new
            while True:
                data = self._bytes(staged)
                try:
                    self._disk.exchange(source, old, target, name)
                except FileNotFoundError:
                    # Removed, or renamed away, while we gave back: that was the last word.
                    return [*kept, self._keep(staged)], None
                kept += self._copy_aside(path, data)
                under = self._what(staged)
                if under == previous:
                    return kept, under
                # Saved once more while we gave back: the newest save belongs on the page.
                previous, displaced = displaced, under

    def _copy_aside(self, path: str, data: bytes) -> list[str]:
        return [self._root.put_aside(data, f"collision-{path}")] if data else []

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

    def _retire(self, staged: str, edit: str, known: str) -> None:
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
                self._disk.rename(source, old, target, f"{edit}-{_late_mark(found)}-{known}")

    def _retire_later(self, staged: str, edit: str, known: str) -> None:
        """The change is made and on disk: it is not undone because the old file could not be moved away."""
        try:
            self._retire(staged, edit, known)
        except OSError:
            pass  # recovery finds it, and knows by its bytes that the change was made

    def sweep(self) -> None:
        """Drop displaced files that nobody wrote into; keep and list those that somebody did.

        A chore that nobody asked for: where it cannot be done (a memory that may only be read), the files stay.
        """
        now = time.time()
        if 0 <= now - self._swept < 1:
            return
        self._swept = now
        try:
            due = [name for name in self._root.names(LATE) if self._is_due(name, now)]
            if due:
                self._sweep(due)
        except (OSError, Unwritten):
            pass

    def _is_due(self, name: str, now: float) -> bool:
        """Whether somebody wrote into a displaced file, or has had long enough to. Found without the lock."""
        edit, mark, _ = _late_parts(name)
        if not is_id(edit) or now - time_of(edit) > self._policy.late_seconds:
            return True
        with self._root.folder(LATE) as folder:
            return mark != _late_mark(self._disk.stat(folder, name))

    def _sweep(self, due: list[str]) -> None:
        with self._lock, self._root.folder(LATE) as folder:
            for name in due:
                edit, mark, known = _late_parts(name)
                try:
                    found = self._disk.stat(folder, name)
                except FileNotFoundError:
                    continue  # another process swept it
                if mark == _late_mark(found) and self._is_still(f"{LATE}/{name}", known):
                    self._disk.unlink(folder, name)
                else:
                    record = self._journaled(edit) or {}
                    kept = self._keep(f"{LATE}/{name}")
                    reason = "an editor wrote into the file after it was replaced"
                    self._note("late", str(record.get("path", "")), edit, reason, [kept])

    def _is_still(self, path: str, known: str) -> bool:
        try:
            return self._hash(path) == known
        except Refused:
            return False  # what cannot be read is kept

    # --- after a crash -----------------------------------------------------------------

    def recover(self) -> None:
        try:
            if not self._root.names(STAGED):
                return
            with self._lock:
                # A page that has a second name may not be read: that name goes first (FORMAT §6.6).
                for name in sorted(self._root.names(STAGED), key=lambda name: not name.endswith(".was")):
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
            # No edit of ours: a journal that somebody else made may name any file of this machine.
            self._keep(staged)
            return
        self._streams.confirm("journal")
        under, page = self._what(staged), self._what(path)
        ours = under == (new if new is not None else SHA256_OF_NOTHING)
        if record.get("kind") == "void":
            if not ours and under != base:
                self._keep(staged)  # a save that was displaced, and not yet kept when the crash came
        elif page == base and ours:
            self._exchange_again(path, staged, base, new, edit)
        elif under == base:
            pass  # it was exchanged: whatever else the page says by now, somebody wrote later
        elif page == new and not ours:
            kept, under = self._give_back(path, staged, under, new)
            self._void(path, edit, COLLISION, kept)
        elif page != new:
            self._void(path, edit, "the page was changed before an interrupted edit could be completed", [])
            if not ours:
                self._keep(staged)
        try:
            self._root.sync(STAGED, path.rpartition("/")[0])
        except FileNotFoundError:
            pass  # the page's folder was removed since
        self._retire(staged, edit, under or SHA256_OF_NOTHING)

    def _exchange_again(self, path: str, staged: str, base: str | None, new: str | None, edit: str) -> None:
        self._root.make(path.rpartition("/")[0])
        try:
            self._exchange(path, staged, base, new, edit)
        except Stale:
            pass  # somebody saved in this very moment: their save stands, and the edit is declared void

    def _journaled(self, edit: str) -> Record | None:
        """The record of an edit; with kind `void` if it was declared so. None: the journal does not know it."""
        voided = False
        oldest = time_of(edit) - _ABANDONED if is_id(edit) else 0.0
        for line in self._segments.read_back("journal"):
            record = line.record
            voided = voided or (record.get("kind") == "void" and record.get("edit") == edit)
            if record.get("id") == edit:
                return record | {"kind": "void"} if voided else record
            written = record.get("ts")
            if isinstance(written, (int, float)) and written < oldest:
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
                self._root.make(staged, durable=False)  # it is to vanish; what counts is synced below
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
                    self._remove(staged)
                    raise
            except FileExistsError:
                raise Refused(
                    f"{folder} was not written: it exists, and what was once published never changes. Use a new name."
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

    def _what(self, path: str) -> str | None:
        """The hash of a file, or that it is none: somebody may have put a link under the name."""
        try:
            return self._hash(path)
        except Unreadable:
            raise
        except Refused:
            return NO_FILE

    def _bytes(self, path: str) -> bytes:
        return b"" if self._what(path) == NO_FILE else self._root.read(path) or b""

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


def _unfinished(path: str, error: BaseException) -> Unwritten:
    why = error.strerror or error if isinstance(error, OSError) else error
    return Unwritten(
        f"{path} may or may not have been changed: the disk failed in the middle of it ({why}). Nothing is lost: "
        "the next command completes the change or takes it back. Read the page again before you repeat it."
    )


def _late_parts(name: str) -> tuple[str, str, str]:
    """The edit that displaced a file, how the file looked then, and the hash of the bytes that are safe."""
    edit, _, rest = name.partition("-")
    mark, _, known = rest.rpartition("-")
    return edit, mark, known


def _late_mark(found: os.stat_result) -> str:
    return f"{found.st_size}-{found.st_mtime_ns}"


def _stat(path: str, found: os.stat_result) -> Stat:
    mark = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode)
    return Stat(path, found.st_size, found.st_mtime_ns, mark)
