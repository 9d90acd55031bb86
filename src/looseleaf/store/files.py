"""A store in a folder, the default. Every path is beneath one open folder; every file is private to its owner."""

from __future__ import annotations

import errno
import os
import time
from contextlib import nullcontext

from looseleaf.base.errors import Displaced, Outdated, Refused, Unwritten
from looseleaf.base.policy import Policy
from looseleaf.base.values import START, LogLine, Position, Problem
from looseleaf.store import JOURNAL
from looseleaf.store.disk import Alone, Lock, ViewGate, this_disk
from looseleaf.store.documents import Documents, Switch, finish, remove_tree
from looseleaf.store.ends import Ends
from looseleaf.store.machines import ALONE, FILE, OTHERS, is_name, log_of
from looseleaf.store.reading import OpenReading, Readings
from looseleaf.store.records import Bodies
from looseleaf.store.root import (
    ASIDE,
    GATE,
    GATE_SECONDS,
    LATE,
    LOG,
    MOVED,
    STAGED,
    Root,
    is_committed,
    log_gone,
    remove_staged,
    unreadable,
    unwritten,
)
from looseleaf.store.share import WRITER, ShareClaim
from looseleaf.store.streams import RACY_NS, Segments, Streams, stream_files
from looseleaf.store.this_machine import Machine, claim, find_machines, this_machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    from looseleaf.base.values import Document, Edition, Record, Stat
    from looseleaf.store.claim import ChoreClaim
    from looseleaf.store.disk import Disk
    from looseleaf.store.ends import Point


class FileStore:
    """A `Store` in a folder."""

    reads_only = False
    edited_outside = True
    tables = None
    is_far = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        policy: Policy | None = None,
        disk: Disk | None = None,
        machine: str | None = None,
    ) -> None:
        """`machine`: read or write as this one, instead of the machine that this is."""
        policy = policy or Policy()
        self.veil: Callable[[str], Callable[[Record], Record]] = lambda machine: lambda record: record
        """Returns what another machine recorded, or a stand-in for what is forgotten."""
        self._disk = disk or this_disk()
        self._root = Root(self._disk, os.fspath(path))
        self._on_loss: Callable[[str], None] = lambda sentence: None
        self._root.on_odd = self._pass_over
        self._odd: dict[str, str] = {}
        """What lies in the logs of other machines and is not read, as it is no folder or file of its own."""
        self._patience = policy.lock_seconds
        self._log_path = os.path.join(os.path.abspath(os.fspath(path)), LOG)
        try:
            self._log = self._find_log()
            self._root.has_log = self._log is not None
            self._root.machines, self._is_claimed = find_machines(
                self._root, this_machine() if machine is None else Machine(machine, is_new=False)
            )
        except OSError as error:
            self._root.close()
            raise unreadable(FILE, error) from error
        except BaseException:
            self._root.close()
            raise
        self._lock = Lock(self._disk, self._open_lock, self._stat_lock, self._admit, policy.lock_seconds)
        self._readings = Readings()
        bodies = Bodies(self._root, policy.body_bytes)
        self._segments = Segments(self._root, bodies)
        self._ends = Ends(self._root, self._segments, self._lose)
        self._others: tuple[tuple[int, ...], list[str]] = (), []
        """How the folder of other machines' logs looked, and the machines in it."""
        self._losses: list[Record] = []
        """What streams were found to lack, and is not journaled yet."""
        told = (self._ends.wrote, self._compare_own)
        self._streams = Streams(self._root, self._lock, policy, bodies, self._segments, *told)
        self._documents = Documents(self._root, self._lock, policy, self._streams, self._segments)
        self._share = ShareClaim(self._root)
        try:
            self._edition = self.edition()
            if is_committed(self._root):
                self.recover()  # so that no reader sees half of a forget
        except BaseException:
            self.close()
            raise

    @classmethod
    def make(
        cls, path: str | os.PathLike[str], policy: Policy | None = None, disk: Disk | None = None
    ) -> FileStore:
        """Open the store in a folder; make the folder if it is missing."""
        disk = disk or this_disk()
        try:
            disk.make_root(os.fspath(path))
        except OSError as error:
            raise unwritten(os.fspath(path), error) from error
        return cls(path, policy, disk)

    def furnish(self, folders: Sequence[str], files: Mapping[str, bytes]) -> None:
        """Make the folders, and those of the files that are missing."""
        try:
            for folder in folders:
                self._root.make(folder)
            present = set(self._root.names(""))
            for name, data in files.items():
                if name not in present:
                    self._root.replace(name, data)
        except OSError as error:
            raise unwritten(self.path, error) from error

    @property
    def path(self) -> str:
        return self._root.path

    @property
    def root(self) -> Root:
        """The folder, for what brings whole files into it."""
        return self._root

    @property
    def machine(self) -> str:
        """The name of this machine."""
        return self._root.machines.own

    def machines(self) -> list[str]:
        """Return the other machines that have a log here."""
        first, own = self._root.machines.first, self._root.machines.own
        seen_ns = time.time_ns()
        try:
            there = self._root.stat(OTHERS)
        except FileNotFoundError:
            return [first] if first not in (own, "") else []
        look = there.st_dev, there.st_ino, there.st_mtime_ns, there.st_ctime_ns
        if look != self._others[0]:
            names = {
                name for name in self._root.names(OTHERS) if is_name(name) and self._is_log(log_of(name))
            }
            is_settled = max(look[2:]) < seen_ns - RACY_NS
            self._others = (look if is_settled else ()), sorted((names | {first}) - {own, ""})
        return [*self._others[1]]

    def _is_log(self, path: str) -> bool:
        """True if a log is a folder that can be read."""
        try:
            return self._root.is_folder(path)
        except OSError:
            return False

    def names(self, folder: str) -> Sequence[str]:
        return self._root.names(folder)

    def locate(self, path: str) -> str:
        """Return the full path of a file, for what opens files by itself."""
        return os.path.join(self.path, *self.place(path).split("/"))

    def place(self, path: str) -> str:
        """Return where a file lies in the folder."""
        return self._root.machines.place(path)

    def lock(self) -> Lock:
        return self._lock

    def alone(self, path: str) -> Alone:
        """Try to be the only one that does a chore, which a file names: see `Alone`."""
        return Alone(self._disk, self._open_lock, path)

    def claim(self, path: str) -> ChoreClaim:
        """Do work once for all that need it at the same time: see `ChoreClaim`. The holder of the lock does not wait:
        the one that works may need it."""
        from looseleaf.store.claim import ChoreClaim

        patience = 0.0 if self._lock.is_mine() else self._patience
        return ChoreClaim(self.alone(path), f"{self.path}/{path}", patience)

    def distrust(self) -> None:
        """Read this machine's own log like another's: it lies in a copy from anywhere."""
        self._segments.distrusts = True

    # --- the log in its place --------------------------------------------------------------

    def _find_log(self) -> tuple[int, int] | None:
        """Return which folder the log is, by the memory's path; None: there is none."""
        try:
            found = self._disk.stat_path(self._log_path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unreadable(self._log_path, error) from error
        return found.st_dev, found.st_ino

    def is_in_place(self) -> bool:
        """True if the memory's path still leads to the log that was opened."""
        return self._log is None or self._find_log() == self._log

    def _require_place(self) -> None:
        """Refuse to write to a log that is no longer under the memory's name: what is written there is lost."""
        now = self._find_log()
        if self._log is None:
            self._log = now
        elif now is None:
            raise log_gone(self.path)
        elif now != self._log:
            raise Displaced(
                f"Nothing was written: {self.path}, or its log, was replaced by another folder while this memory was "
                "open. Open the memory again."
            )

    def _admit(self) -> None:
        """Let this thread have the lock that it has just taken, if it may write."""
        self._require_place()
        if (to := self.moved_to()) is not None:
            raise Displaced(f"Nothing was written: this memory moved to {to}. {_MOVED_BACK}")
        self._check_share()
        try:
            if not self._is_claimed:
                claim(self._root)
                self._is_claimed = True
        except OSError as error:
            raise unwritten(FILE, error) from error
        try:
            if is_committed(self._root):
                finish(self._root)  # first: it replaces the files that are written now
            if self._readings.began not in ((), self.edition()):
                raise Outdated
        except OSError as error:
            raise unwritten("The rest of an interrupted forget", error) from error

    def moved_to(self) -> str | None:
        """Return where the memory moved to, as people may see it; None: it is here."""
        try:
            self._root.stat(MOVED)
        except FileNotFoundError:
            return None  # mostly, and this is quick
        except OSError as error:
            raise unreadable(MOVED, error) from error
        return (self._root.read(MOVED) or b"").decode("utf-8", "replace").strip() or None

    def leave(self, to: str) -> None:
        """Send all that write elsewhere: the memory moved there. Under the lock."""
        try:
            self._root.replace(MOVED, f"{to}\n".encode())
        except OSError as error:
            raise unwritten(MOVED, error) from error

    def _stat_lock(self, path: str) -> os.stat_result | None:
        try:
            return self._root.stat(path)
        except FileNotFoundError:
            return None

    def _open_lock(self, path: str) -> int:
        try:
            return self._root.open_lock(path)
        except OSError as error:
            if error.errno in (errno.EBADF, errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO):
                raise unreadable(path, error) from error
            raise Unwritten(
                f"The memory's lock, {path}, could not be opened ({error.strerror or error}), so the memory can only "
                "be read. Check the folder's permissions and the disk, or copy the memory to a folder you may write to."
            ) from error

    # --- one writer on a network share -------------------------------------------------

    def _check_share(self) -> None:
        """On a network share, let only the first writer write.

        This runs each time the lock is taken, because a forked child is another process, and because a person may
        have handed the claim to another. On one host the lock holds, and guards the claim.
        """
        try:
            self._share.take()
        except OSError as error:
            raise unwritten(WRITER, error) from error

    def close(self) -> None:
        # A thread that is writing finishes first, with its handles open.
        with self._lock.threads():
            self._keep_ends()
            self._share.drop()
            self._close_handles()

    def _keep_ends(self) -> None:
        """Remember where this process left each stream. If another process is writing, leave it to that one."""
        try:
            if self._ends.has_unsaved and not self._root.closed and self._lock.is_free():
                with self._lock:
                    self._heed_edition()
                    self._ends.remember_own()
                    if self._losses:
                        self._journal_losses()
        except (OSError, Refused):
            pass

    def _close_handles(self) -> None:
        self._streams.close()
        self._lock.close()
        self._root.close()

    def __del__(self) -> None:
        """Close the handles of a store that was dropped without `close`, as a file does."""
        if "_streams" in self.__dict__:  # else the folder could not be opened
            self._close_handles()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, stream: str, records: Sequence[Record]) -> list[Position]:
        if self._readings.began == ():
            positions = self._streams.append(stream, records)
        else:
            with self._lock:  # no other thread, whose reading is younger, may write this
                positions = self._streams.append(stream, records)
        if self._losses:
            self._journal_losses()
        return positions

    def append_after(
        self, stream: str, last: Position, records: Sequence[Record], of: Edition
    ) -> list[Position] | None:
        with self._lock:
            line = next(self.read_back(stream), None)
            is_last = (line.position if line is not None else START) == last
            return self.append(stream, records) if is_last and self.edition() == of else None

    # --- a log that went back --------------------------------------------------------------

    def compare(self, streams: Sequence[str], on_loss: Callable[[str], None]) -> None:
        """Look, by a line of each stream, whether it still has what was remembered of it. `on_loss` is told what is
        missing, now and later; the next write journals it."""
        self._on_loss = on_loss
        try:
            to = self.moved_to()
        except Refused:
            to = None  # who writes is told
        if to is not None:
            on_loss(f"This memory moved to {to}: what is read here is as it was then. {_MOVED_BACK}")
        for path, what in self._odd.items():
            on_loss(f"{self.place(path)} is {what}{_NOT_READ}.")
        self._ends.compare(streams)

    def _pass_over(self, path: str, what: str) -> None:
        if path not in self._odd:
            self._odd[path] = what
            self._on_loss(f"{self.place(path)} is {what}{_NOT_READ}.")

    def _compare_own(self, stream: str) -> None:
        self._heed_edition()
        self._ends.compare_own(stream)

    def _heed_edition(self) -> None:
        """Where a forget rewrote the log, it may have taken records of this process: that is no loss."""
        edition = self.edition()
        if edition != self._edition:
            self._edition = edition
            self._ends.drop_own()

    def _lose(self, stream: str, points: Sequence[Point]) -> None:
        from looseleaf.store.losses import find_loss, told

        if any(each["stream"] == stream for each in self._losses):
            return
        if self._ends.has_gap(stream) or self._ends.is_missing(stream, points[-1]):
            self._on_loss(_segments_missing(stream_files(stream)[1]))
            return
        loss = find_loss(self._ends, self._segments, stream, points)
        if loss is not None:
            self._losses.append(loss)
            self._on_loss(told(loss, is_gone=not self._segments.has_stream(stream)))

    def sum(self, stream: str, position: Position) -> str | None:
        """Return the checksum of a stream up to a place."""
        self._heed_edition()
        try:
            return self._ends.sum(stream, position)[0]
        except OSError as error:
            raise unreadable(stream_files(stream)[0], error) from error

    def line_before(self, stream: str, position: Position) -> Record | None:
        return self._segments.line_before(stream, position)

    def _journal_losses(self) -> None:
        from looseleaf.store.losses import is_journaled

        with self._lock:
            found, self._losses = self._losses, []
            for loss in found:
                stream = str(loss["stream"])
                if not is_journaled(self._segments, loss):  # else another process did it
                    self._streams.append(JOURNAL, [loss])
                points = self._ends.points(stream)
                self._ends.adopt(stream, [each for each in points if self._ends.agrees(stream, each)])

    def _accept_losses(self, *, is_mended: bool) -> list[str]:
        """Take the streams as they are now, by a person's wish; return a sentence for each that had lost something.
        `is_mended`: damage was, which explains other checksums."""
        from looseleaf.store.losses import AS_IT_IS, acceptance, check_ends, unaccepted

        if self._losses:
            self._journal_losses()
        lost = unaccepted(self._segments)
        if lost:
            self._streams.append(JOURNAL, [acceptance(lost)])
        paths = {stream_files(str(each["stream"]))[0] for each in lost}
        for stream in dict.fromkeys([*self.streams(), *self._ends.streams()]):
            try:
                if (
                    next(check_ends(self._ends, self._segments, stream, is_damaged=is_mended), None)
                    is not None
                ):
                    paths.add(stream_files(stream)[0])
            except (OSError, Refused):
                continue  # unreadable: reported as not repaired
            self._ends.adopt(stream)
        return [f"{path}: {AS_IT_IS}" for path in sorted(paths)]

    def read(
        self, stream: str, start: Position = START, on_problem: Callable[[Problem], None] | None = None
    ) -> Iterator[LogLine]:
        lines = self._segments.read(stream, start, on_problem)
        return self._as_shown(stream, lines) if "/traces/" in stream else lines

    def read_back(self, stream: str, end: Position | None = None) -> Iterator[LogLine]:
        lines = self._segments.read_back(stream, end)
        return self._as_shown(stream, lines) if "/traces/" in stream else lines

    def _as_shown(self, stream: str, lines: Iterator[LogLine]) -> Iterator[LogLine]:
        """Yield the talk of another machine, as it is shown here."""
        show = self.veil(stream.split("/")[1])
        for line in lines:
            record = show(line.record)
            yield line if record is line.record else LogLine(record, line.position, line.end, line.checked)

    def shown(self, machine: str, record: Record) -> Record:
        return self.veil(machine)(record)

    def owner(self, place: str) -> str:
        """Return the other machine whose log or view a file of the folder is; "": none."""
        return self._root.machines.owner(place)

    def remove_from(self, machine: str, path: str) -> None:
        """Remove a file or a folder of another machine's log that it removed itself."""
        if path.startswith(f"{log_of(machine)}/"):
            remove_staged(self._root, path)

    def drop_views_of(self, machine: str) -> None:
        """Remove another machine's views: they were made here in its name, and it makes its own."""
        shared = {"on", GATE.rpartition("/")[2]} if machine == self._root.machines.first else set()
        remove_tree(self._root, f"views/on/{machine}", shared)

    def drop_aside(self, is_told: Callable[[bytes], bool]) -> None:
        """Remove bytes that other machines set aside, if they say what is forgotten: their copies here are of no use to
        these machines. Displaced versions of pages go in any case: the journals have them."""
        for machine in self.machines():
            for stat in [
                each for folder in (ASIDE, STAGED, LATE) for each in self.list(self._beside(machine, folder))
            ]:
                document = self.get(stat.path)
                if document is None:
                    continue
                is_version = f"/{LATE.removeprefix('log/')}/" in stat.path and stat.path.endswith(
                    f"-{document.sha256}"
                )
                if is_version or is_told(document.data):
                    self.remove_from(machine, stat.path)

    def _beside(self, machine: str, folder: str) -> str:
        return f"{log_of(machine)}/{folder.removeprefix('log/')}"

    def is_locked(self) -> bool:
        """True if this thread holds the lock."""
        return self._lock.is_mine()

    def end(self, stream: str) -> Position:
        return self._segments.end(stream)

    def rotate(self, stream: str) -> None:
        self._streams.rotate(stream)

    def streams(self) -> list[str]:
        return self._segments.streams()

    def get(self, path: str, limit: int | None = None) -> Document | None:
        return self._documents.get(path, limit)

    def stat(self, path: str) -> Stat | None:
        return self._documents.stat(path)

    def put(
        self,
        path: str,
        data: bytes,
        *,
        base: str | None,
        record: Record | None = None,
        when: float | None = None,
    ) -> str:
        return self._documents.put(path, data, base=base, record=record, when=when)

    def delete(self, path: str, *, base: str, record: Record | None = None) -> None:
        self._documents.delete(path, base=base, record=record)

    def view(self, path: str, data: bytes, *, of: Edition | tuple[()] = ()) -> None:
        if self._lock.is_mine():
            self._view(path, data, of)
            return
        try:
            with ViewGate(self._disk, self._root.open_lock(GATE), GATE_SECONDS):
                self._view(path, data, of)
        except OSError as error:
            raise unwritten(path, error) from error

    def _view(self, path: str, data: bytes, of: Edition | tuple[()]) -> None:
        """Write a view. No forget, which removes all views, is at work meanwhile."""
        edition = self.edition()
        if self._readings.began not in ((), edition):
            raise Outdated
        if of in ((), edition):
            self._documents.view(path, data)

    def publish(self, folder: str, files: Mapping[str, bytes], *, again: bool = False) -> None:
        self._documents.publish(folder, files, again=again)

    def folders(self, folder: str) -> tuple[str, ...]:
        return self._documents.folders(folder)

    def edition(self) -> Edition:
        return self._documents.edition()

    def put_aside(self, data: bytes, label: str) -> str:
        """Copy bytes that are about to be replaced to `log/aside/`; return the copy's path."""
        try:
            return self._root.put_aside(data, label)
        except OSError as error:
            raise unwritten("A copy of the bytes", error) from error

    def reading(self, of: Edition | tuple[()] = ()) -> OpenReading:
        if is_committed(self._root):
            self.recover()  # so that no reader sees half of a forget
        return OpenReading(self._readings, self.edition() if of == () else of)

    def look(self) -> AbstractContextManager[object]:
        return _NO_LOOK

    def fetch(self, places: Iterable[tuple[str, Position]]) -> None:
        """Files are read where they stand."""

    def look_again(self) -> None:
        """Files are looked at anew each time."""

    def mend_ends(self) -> None:
        """Cut the unfinished last record of each stream, keeping a copy, as its next append would."""
        try:
            with self._lock:
                for stream in self.streams():
                    self._streams.mend_end(stream)
        except OSError as error:
            raise unwritten("The end of a log", error) from error

    def adopt_ends(self) -> None:
        """Take the streams as forget left them: what was remembered of them went with the views."""
        self._edition = self.edition()
        for stream in self.streams():
            self._ends.adopt(stream)

    def switch(self, name: str) -> Switch:
        """Return an act that replaces many files. Only for forget (FORMAT §17.4)."""
        return Switch(self._root, name)

    def segments(self, stream: str) -> dict[int, tuple[str, tuple[int, int], int]]:
        """Return the path, the identity and the size of each segment's file, by number. Under the lock they stay."""
        return self._segments.files(stream)

    def segment(self, stream: str, number: int, start: int = 0) -> bytes:
        """Return the bytes of a segment from a place on, wherever it is by now."""
        return self._segments.whole(stream, number, start)

    def recover(self) -> None:
        self._documents.recover()
        self._documents.sweep()
        if self._losses:
            self._journal_losses()

    def check(self) -> Iterator[Problem]:
        from looseleaf.store.check_repair import check_log, check_other_log

        self._heed_edition()
        yield from check_log(self._root, self._segments, self._ends)
        self._odd, self._others = {}, ((), [])
        for machine in self.machines():
            yield from check_other_log(self._root, self._segments, machine)
        for path, what in self._odd.items():
            yield Problem(path, None, f"this is {what}{_NOT_READ}")

    def repair(self) -> list[str]:
        from looseleaf.store.check_repair import repair_log

        with self._lock:
            self._documents.recover()
            self._documents.sweep()
            self._heed_edition()
            done = repair_log(self._root, self._segments, self._streams)
            done += self._accept_losses(is_mended=bool(done))
        return done + list(filter(None, map(self._unrepaired, self.machines())))

    def take_out(self, stream: str, numbers: Collection[int]) -> None:
        """Take lines out of a stream, by their numbers from its beginning. Copies of the files are kept aside."""
        from looseleaf.store.check_repair import take_out_lines

        try:
            with self._lock:
                self._streams.close_stream(stream)
                take_out_lines(self._root, self._segments, stream, numbers)
                self._ends.adopt(stream)
        except OSError as error:
            raise unwritten(stream_files(stream)[0], error) from error

    def _unrepaired(self, machine: str) -> str:
        """Return what to do about a damaged log of another machine."""
        from looseleaf.store.check_repair import WRITTEN, check_other_log

        problems = check_other_log(self._root, self._segments, machine)
        count = sum(
            problem.severity == "error" and not problem.message.endswith(WRITTEN) for problem in problems
        )
        many = f"{count:,} problem{'s' * (count != 1)}"
        told = f"{self.place(log_of(machine))}: not repaired ({many}): it is the log of {machine}. Repair it there."
        return told if count else ""

    # Last: its name hides the type `list` from the lines below it.
    def list(self, folder: str = "") -> list[Stat]:
        return self._documents.list(folder)


_MOVED_BACK = f"Open that one, or delete {MOVED} to go on here, without what was written there."
_NO_LOOK = nullcontext()
_NOT_READ = (
    ", so nothing of another machine is read from it. Put the real file or folder in its place, or remove it"
)


def locate_in(folder: str, path: str) -> str:
    """Return the full path of a file of this machine in a memory that is not open."""
    machines = ALONE
    try:
        root = Root(this_disk(), folder)
        try:
            machines, _ = find_machines(root, this_machine())
        finally:
            root.close()
    except Refused:
        pass  # there is no memory
    return os.path.join(folder, *machines.place(path).split("/"))


def _segments_missing(archive: str) -> str:
    return f"Segments are missing in {archive}. Put them back from a copy; `looseleaf check` names them."
