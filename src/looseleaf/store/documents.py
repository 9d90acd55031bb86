"""Documents: read whole, and replaced whole from the bytes that the caller read (FORMAT §6).

A page's change goes: stage the new bytes → journal the edit → exchange the two files in one step → check the
displaced one (`replace.py`). Whichever step a crash hits, `recovery.py` finishes the change or undoes it.
"""

from __future__ import annotations

import time
from functools import cached_property

from looseleaf.base.errors import Busy, Invalid, Refused, Stale, Unwritten
from looseleaf.base.hashing import sha256
from looseleaf.base.ids import chance_id
from looseleaf.base.paths import canonical, same_name
from looseleaf.base.values import Document, Stat
from looseleaf.store import JOURNAL, TOMBSTONES
from looseleaf.store.root import LATE, STAGED, remove_staged, unreadable, unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Record
    from looseleaf.store.append_streams import Streams
    from looseleaf.store.lock import Lock
    from looseleaf.store.read_streams import Segments
    from looseleaf.store.recovery import Recovery
    from looseleaf.store.replace import Exchange
    from looseleaf.store.root import Root


class Documents:
    def __init__(self, root: Root, lock: Lock, policy: Policy, streams: Streams, segments: Segments) -> None:
        self._root = root
        self._disk = root.disk
        self._lock = lock
        self._policy = policy
        self._streams = streams
        self._segments = segments
        self._swept = 0.0
        self._edition: tuple[int, ...] | None = ()
        """The edition when this process last recovered, before it read what it writes now; (): not yet known."""

    @cached_property
    def _exchange(self) -> Exchange:
        from looseleaf.store.replace import Exchange

        return Exchange(self._root, self._streams)

    @cached_property
    def _recovery(self) -> Recovery:
        from looseleaf.store.recovery import Recovery

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

    def put(self, path: str, data: bytes, *, base: str | None, record: Record | None = None) -> str:
        self._change_document(canonical(path), data, base, record)
        return sha256(data)

    def delete(self, path: str, *, base: str, record: Record | None = None) -> None:
        self._change_document(canonical(path), None, base, record)

    def view(self, path: str, data: bytes) -> None:
        path = view_path(path)
        try:
            if self._edition not in ((), self.edition()):
                return  # it was made from text that is forgotten by now
            self._root.replace(path, data, durable=False)
        except OSError as error:
            raise unwritten(path, error) from error

    def edition(self) -> tuple[int, ...] | None:
        """Return the identity of the tombstone file, which each forget replaces (FORMAT §17.6)."""
        try:
            found = self._disk.stat(self._root.fd, f"log/{TOMBSTONES}.jsonl")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unreadable(f"log/{TOMBSTONES}.jsonl", error) from error
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _change_document(
        self, path: str, data: bytes | None, base: str | None, record: Record | None
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
                    self._write_edit(path, data, base, record)
                elif data is None:
                    with self._root.parent(path) as (folder, name):
                        self._disk.unlink(folder, name)
                        self._disk.sync(folder)
                else:
                    self._root.replace(path, data)
            except OSError as error:
                raise unwritten(path, error) from error

    def _refuse_twin(self, path: str) -> None:
        """Refuse a name that some systems cannot tell from an existing one: it would overwrite that file there."""
        folder, _, name = path.rpartition("/")
        for other in self._root.names(folder):
            if other != name and same_name(other, name):
                raise Refused(
                    f"{path} was not made: {other} exists, and some systems take the two names for one. "
                    f"Change {other}, or choose a name that differs in more than case or accents."
                )

    def _write_edit(self, path: str, data: bytes | None, base: str | None, record: Record) -> None:
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
        try:
            self._exchange.replace(path, staged, base, None if data is None else sha256(data), edit)
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
            self._edition = self.edition()
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
        staged = f"{STAGED}/{chance_id()}.dir"
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
