"""The logs of another copy of a memory, brought into this one (FORMAT §20.7).

A log that both copies have is brought as far as it goes on from the one here. If the two went apart (a folder that was
copied and used twice), or if the other began as a copy of a log here under another name, its journal is brought whole,
and of its talk the lines that no log here has. Nothing of the other copy is written to, and nothing here before all of
it was looked at. After a kill halfway, a log here is a shorter beginning of the other: the next merge brings the rest.
"""

from __future__ import annotations

import os

from looseleaf.base.errors import Refused
from looseleaf.base.ids import is_id, time_of
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import canonical
from looseleaf.base.values import sha256
from looseleaf.store import IMPORTS, JOURNAL, TOMBSTONES, records
from looseleaf.store.foreign import fault_in, is_newer, stand_in
from looseleaf.store.machines import FILE, OTHERS, is_name, log_of, stem_of
from looseleaf.store.streams import (
    SUMS,
    begins_segment,
    read_start,
    segment_name,
    segment_number,
    stream_files,
)
from looseleaf.store.this_machine import SCHEMA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from looseleaf.base.values import Record
    from looseleaf.store.files import FileStore
    from looseleaf.store.root import Root

_CHUNK = 1 << 20
_TRACES = "traces/"
KEY = "log/key"


class StreamBytes:
    """The whole lines of a stream in a folder of logs, as bytes over its files."""

    def __init__(self, root: Root, log: str, stream: str) -> None:
        self._root = root
        path, archive = stream_files(stream)
        self.path, self.archive = within(log, path), within(log, archive)
        found = map(segment_number, root.names(self.archive))
        self.numbers = sorted(number for number in found if number is not None)
        sealed = [f"{self.archive}/{segment_name(number)}" for number in self.numbers]
        self.files = [(each, self._size_of(each)) for each in sealed]
        if rest := self._find_end():
            self.files.append((self.path, rest))
        self.size = sum(size for _, size in self.files)

    def _size_of(self, path: str) -> int:
        try:
            fd = self._root.open_file(path, os.O_RDONLY)
        except FileNotFoundError:
            return 0
        try:
            return self._root.disk.fstat(fd).st_size
        finally:
            self._root.disk.close(fd)

    def _find_end(self) -> int:
        """Return where the last whole line of the active file ends."""
        end = self._size_of(self.path)
        if end == 0 or begins_segment(
            self._root, read_start(self._root, self.path), self.archive, self.numbers
        ):
            return 0
        fd = self._root.open_file(self.path, os.O_RDONLY)
        try:
            while end > 0:
                begin = max(0, end - 65_536)
                found = self._root.disk.pread(fd, end - begin, begin).rfind(b"\n")
                if found >= 0:
                    return begin + found + 1
                end = begin
            return 0
        finally:
            self._root.disk.close(fd)

    def seals(self) -> bytes:
        return self._root.read(f"{self.archive}/{SUMS}") or b""

    def pieces(self, start: int = 0) -> Iterator[bytes]:
        """Yield the bytes from a place on, in pieces."""
        for path, size in self.files:
            if start >= size:
                start -= size
                continue
            fd = self._root.open_file(path, os.O_RDONLY)
            try:
                while start < size:
                    piece = self._root.disk.pread(fd, min(_CHUNK, size - start), start)
                    if not piece:
                        raise Refused(f"{path} became shorter while it was read. Repeat the command.")
                    start += len(piece)
                    yield piece
            finally:
                self._root.disk.close(fd)
            start = 0

    def lines(self, start: int = 0) -> Iterator[bytes]:
        """Yield the lines from a place on, with their ends."""
        rest = b""
        for piece in self.pieces(start):
            *whole, rest = (rest + piece).split(b"\n")
            yield from (line + b"\n" for line in whole)
        if rest:
            yield rest

    def rows(self) -> Iterator[Record]:
        """Yield the record of each line of the journal; {} for a damaged one, and a stand-in for one that is left
        out."""
        for line in self.lines():
            try:
                record = records.decode(line.removesuffix(b"\n"))[0]
            except records.DamagedRecord:
                yield {}
            else:
                is_whole = "bodies" not in record
                yield stand_in(JOURNAL, record) if is_whole and fault_in(JOURNAL, record) else record

    def count_shared(self, other: StreamBytes) -> int:
        """Return where the common beginning with another stream ends, in bytes: after a whole line, or at the end of
        one of the two. Sealed segments with the same seal are not read."""
        done = 0
        seals = {*self.seals().splitlines()} & {*other.seals().splitlines()}
        for (path, size), (other_path, other_size) in zip(self.files, other.files, strict=False):
            name = path.rpartition("/")[2]
            is_alike = size == other_size and name == other_path.rpartition("/")[2]
            if not is_alike or not any(seal.endswith(b"  " + name.encode()) for seal in seals):
                break
            done += size
        last = done
        ones, twos = self.pieces(done), other.pieces(done)
        one = two = b""
        while True:
            one, two = one or next(ones, b""), two or next(twos, b"")
            length = min(len(one), len(two))
            if length == 0:
                return done
            is_equal = one[:length] == two[:length]
            at = one.rfind(b"\n", 0, length if is_equal else _count_equal(one[:length], two[:length]))
            last = done + at + 1 if at >= 0 else last
            if not is_equal:
                return last
            done += length
            one, two = one[length:], two[length:]


def _count_equal(one: bytes, two: bytes) -> int:
    """Return with how many equal bytes two different texts of the same length begin."""
    low, high = 0, len(one)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == two[:middle] else (low, middle - 1)
    return low


def missing_forgets(root: Root, log: str) -> list[Record]:
    """Return the tombstones of a log of which its journal has no record: the journal is older than these, as after a
    backup was copied over it."""
    stones = {str(row["id"]): row for row in _rows(StreamBytes(root, log, TOMBSTONES)) if "id" in row}
    for row in _rows(StreamBytes(root, log, JOURNAL)) if stones else ():
        if row.get("kind") == "forgotten":
            stones.pop(str(row.get("id")), None)
    return [*stones.values()]


def _rows(stream: StreamBytes) -> Iterator[Record]:
    """Yield the records of a stream, as they are."""
    for line in stream.lines():
        try:
            yield records.decode(line.removesuffix(b"\n"))[0]
        except records.DamagedRecord:
            continue


class LogTimes:
    """The times of the files of a log, for copies of them: no copy may look newer than what its machine wrote after it,
    or a program that copies newer files over older ones (`cp -u`) would take that back.

    A file is as old as the last record in it, or as the last forget of its machine, which may have changed any file;
    and no newer than the file that is copied. Unlike the time of that file, the first is also known of a file that git
    has carried."""

    def __init__(self, root: Root, log: str) -> None:
        self._root = root
        self._forgot = 0.0
        for line in StreamBytes(root, log, TOMBSTONES).lines():
            self._forgot = _time_in(line) or self._forgot

    def of(self, path: str, data: bytes) -> float | None:
        """Return the time for a copy of a file; None: it cannot be told."""
        try:
            copied = self._root.stat(path).st_mtime
        except FileNotFoundError:
            return None
        said = self._said(path, data)
        return copied if said is None else min(copied, max(said, self._forgot))

    def _said(self, path: str, data: bytes) -> float | None:
        folder, _, name = path.rpartition("/")
        if name == SUMS:  # as old as the last segment that it seals
            sealed = data.rstrip(b"\n").rpartition(b"  ")[2].decode("utf-8", "replace")
            if segment_number(sealed) is None:
                return None
            path, data = f"{folder}/{sealed}", self._root.read(f"{folder}/{sealed}") or b""
        if path.endswith(".jsonl"):
            return _time_in(data[: data.rfind(b"\n") + 1].rstrip(b"\n").rpartition(b"\n")[2])
        made = folder.rpartition("/")[2]
        return time_of(made) if is_id(made) else None  # of an entry


def _time_in(line: bytes) -> float | None:
    """Return when a record was written."""
    try:
        record = records.decode(line.strip(b"\n"))[0]
    except records.DamagedRecord:
        return None
    name, ts = record.get("id"), record.get("ts")
    if isinstance(name, str) and is_id(name):
        return time_of(name)
    return float(ts) if isinstance(ts, (int, float)) else None


@frozen
class NewLines:
    """What is new in a stream. `is_whole`: its files are brought as they are. `more`: lines that follow them. `start`:
    where in the other copy's stream the new lines begin. `anew`: the files here are replaced."""

    stream: str
    is_whole: bool
    more: bytes = b""
    start: int = 0
    anew: bool = False


@frozen
class NewLog:
    """What is new in a machine's log. `folder`: where that log lies in the other copy. `machine`: the name under which
    it is kept here."""

    machine: str
    folder: str
    news: tuple[NewLines, ...]


@frozen
class Talk:
    """How much was said in what is new."""

    turns: int = 0
    sessions: int = 0


class OtherLogs:
    """The logs of another copy, compared with those here."""

    def __init__(self, files: FileStore, other: Root) -> None:
        self._files = files
        self._root = files.root
        self._other = other
        self._known: dict[str, set[int]] = {}

    def machines(self) -> Iterator[tuple[str, str]]:
        """Yield the machines of the other copy, and the folders of their logs. A log that names no machine was copied
        before logs did so."""
        first = records.whole(self._other.read(FILE) or b"")
        named = first.get("id") if first.get("schema") == SCHEMA else None
        yield (named if isinstance(named, str) and is_name(named) else self._files.machine), "log"
        for name in self._other.names(OTHERS):
            if is_name(name):
                self._other.read(f"{log_of(name)}/machine")  # nothing is brought from beside what is odd
                yield name, log_of(name)

    def find_news(self) -> list[NewLog]:
        """Return what is new in each log. Changes nothing."""
        found = (self._find_news_of(machine, folder) for machine, folder in self.machines())
        return [each for each in found if each is not None]

    def _find_news_of(self, machine: str, folder: str) -> NewLog | None:
        theirs = {stream: self.there(folder, stream) for stream in streams_in(self._other, folder)}
        theirs = {stream: each for stream, each in theirs.items() if each.size}
        here = {stream: self.here(machine, stream) for stream in theirs}
        shared = {stream: here[stream].count_shared(theirs[stream]) for stream in theirs}
        if all(shared[stream] == theirs[stream].size for stream in theirs):
            return self._find_seals(machine, folder, theirs, here)
        if self._is_before_forgetting(machine, folder, theirs):
            return None
        if machine != self._files.machine and self._is_forgotten_since(machine, folder):
            news = [NewLines(stream, True, anew=True) for stream in theirs]
            return NewLog(machine, folder, _journal_last(news))
        goes_on = all(shared[stream] in (here[stream].size, theirs[stream].size) for stream in theirs)
        is_new = not any(each.size for each in here.values())
        if machine != self._files.machine and goes_on and not (is_new and self._begins_here(theirs)):
            news = [
                NewLines(stream, True, start=shared[stream])
                for stream in theirs
                if theirs[stream].size > shared[stream]
            ]
            return NewLog(machine, folder, _journal_last(news))
        lines = {stream: self._lines_new_here(stream, each) for stream, each in theirs.items()}
        lines = {stream: each for stream, each in lines.items() if each}
        if not lines:
            return None
        parted = [stream for stream in theirs if shared[stream] < min(here[stream].size, theirs[stream].size)]
        is_apart = JOURNAL in parted or any(shared[stream] for stream in parted)
        if machine == self._files.machine or is_apart:
            machine = self._name_branch(machine, theirs, lines)
        news = [
            NewLines(stream, True) if stream == JOURNAL else NewLines(stream, False, b"".join(each))
            for stream, each in lines.items()
        ]
        return NewLog(machine, folder, _journal_last(news))

    def _is_before_forgetting(self, machine: str, folder: str, theirs: dict[str, StreamBytes]) -> bool:
        """True if the log here is the other one as its machine rewrote it to forget: the other has no tombstones but
        the first of those here (or all, and a journal that is older), and no talk that is not here. (Of traces that
        went, the ids are left.)"""
        here, there = self.here(machine, TOMBSTONES), self.there(folder, TOMBSTONES)
        if here.count_shared(there) < there.size or self.is_older_here(machine):
            return False
        if here.size == there.size and not missing_forgets(self._other, folder):
            return False
        return all(
            _ids(each) <= _ids(self.here(machine, stream))
            for stream, each in theirs.items()
            if stream.startswith(_TRACES)
        )

    def _is_forgotten_since(self, machine: str, folder: str) -> bool:
        """True if the other log is the one here as its machine rewrote it to forget."""
        here, there = self.here(machine, TOMBSTONES), self.there(folder, TOMBSTONES)
        is_kept = here.count_shared(there) == here.size
        if here.size == there.size:
            is_kept = is_kept and self.is_older_here(machine) and not missing_forgets(self._other, folder)
        has_log = is_kept and self.here(machine, JOURNAL).size > 0
        streams = (f"{_TRACES}{agent}" for agent in self._root.names(f"{log_of(machine)}/traces"))
        return has_log and all(
            _ids(self.here(machine, stream)) <= _ids(self.there(folder, stream)) for stream in streams
        )

    def is_older_here(self, machine: str) -> bool:
        """True if the journal of a machine here is older than what it forgot."""
        log = "log" if machine == self._files.machine else log_of(machine)
        return bool(missing_forgets(self._root, log))

    def _find_seals(
        self,
        machine: str,
        folder: str,
        theirs: dict[str, StreamBytes],
        here: dict[str, StreamBytes],
    ) -> NewLog | None:
        """Return the streams whose seals were not brought, because a merge was killed."""
        if machine == self._files.machine:
            return None
        left = [
            NewLines(stream, True, start=each.size)
            for stream, each in theirs.items()
            if each.numbers == here[stream].numbers and each.seals() != here[stream].seals()
        ]
        return NewLog(machine, folder, _journal_last(left)) if left else None

    def _begins_here(self, theirs: dict[str, StreamBytes]) -> bool:
        """True if a stream begins like one of a log here: the other log began as a copy of it."""
        for stream, each in theirs.items():
            first = next(each.lines(), b"")
            if any(next(log.lines(), b"") == first for log in self._all_here(stream)):
                return True
        return False

    def _lines_new_here(self, stream: str, theirs: StreamBytes) -> list[bytes]:
        """Return the lines that no log here has."""
        if stream not in self._known:
            self._known[stream] = {hash(line) for log in self._all_here(stream) for line in log.lines()}
        return [line for line in theirs.lines() if hash(line) not in self._known[stream]]

    def _all_here(self, stream: str) -> list[StreamBytes]:
        names = [self._files.machine, *self._files.machines()]
        return [self.here(name, stream) for name in names]

    def _name_branch(
        self, machine: str, theirs: dict[str, StreamBytes], lines: dict[str, list[bytes]]
    ) -> str:
        """Return the name for what went apart from a machine's log: the one that an earlier merge gave it, if it goes
        on from there, or a new one: a log that forgot some of it since would have two writers."""
        for name in self.branches(machine):
            here = {stream: self.here(name, stream) for stream in theirs}
            journal = here.get(JOURNAL)
            if journal is not None and journal.size:
                if journal.count_shared(theirs[JOURNAL]) == journal.size:
                    return name
                continue
            first = {next(each.lines(), b"") for each in here.values()} - {b""}
            if any(line in first for each in theirs.values() for line in each.lines()):
                return name
        new = [branch_name(machine, line) for stream in sorted(lines) for line in lines[stream]]
        return next((name for name in new if not self.here(name, TOMBSTONES).size), new[0])

    def branches(self, machine: str) -> list[str]:
        """Return the logs here of what went apart from a machine's log."""
        return [name for name in self._files.machines() if name.startswith(f"{stem_of(machine)}-")]

    def here(self, machine: str, stream: str) -> StreamBytes:
        return StreamBytes(self._root, "log" if machine == self._files.machine else log_of(machine), stream)

    def there(self, folder: str, stream: str) -> StreamBytes:
        return StreamBytes(self._other, folder, stream)

    # --- looking before anything is written ------------------------------------------------

    def look(self, news: Sequence[NewLog]) -> Talk:
        """Read every line that is new, and return how much was said; refuse if one is damaged."""
        turns: set[tuple[str, str]] = set()
        for log in news:
            for each in log.news:
                session: object = ""
                for record in self._records(log.folder, each):
                    session = record.get("session_id", session)
                    if each.stream.startswith(_TRACES) and record.get("turn_id") is not None:
                        turns.add((str(session), str(record["turn_id"])))
                    if each.stream == JOURNAL and is_newer(record):
                        raise Refused(
                            f"Nothing was merged: a newer looseleaf wrote the log of {log.machine} there. Update this "
                            "one, and merge again."
                        )
        return Talk(len(turns), len({session for session, _ in turns}))

    def _records(self, folder: str, new: NewLines) -> Iterator[Record]:
        stream = self.there(folder, new.stream)
        lines = stream.lines(new.start) if new.is_whole else iter(new.more.splitlines(keepends=True))
        for line in lines:
            try:
                if line.strip():
                    yield records.decode(line.removesuffix(b"\n"))[0]
            except records.DamagedRecord as damage:
                raise Refused(
                    f"Nothing was merged: {stream.path} of the other copy, or a segment of it, is damaged ({damage}). "
                    f"Repair it first: looseleaf --memory {self._other.path} repair"
                ) from None

    # --- bringing --------------------------------------------------------------------------

    def bring(self, news: Sequence[NewLog], root: Root, only: Collection[str] = ()) -> None:
        """Write what is new into a folder with the logs of this memory, under its lock. `only`: only these streams."""
        theirs = self._other.read(KEY)
        if theirs is not None and root.read(KEY) is None:
            root.replace(KEY, theirs)
        for log in news:
            target = log_of(log.machine)
            key = self._other.read(f"{log.folder}/key") or theirs
            if key is not None and key not in (root.read(KEY), root.read(f"{target}/key")):
                root.replace(f"{target}/key", key)  # the two began apart
            if log.news:
                times = LogTimes(self._other, log.folder)
                self._copy_rest(root, log.folder, target, times, anew=any(each.anew for each in log.news))
            for each in log.news:
                if not only or each.stream in only:
                    self._bring_stream(root, log.folder, target, each, times)

    def _bring_stream(self, root: Root, folder: str, target: str, new: NewLines, times: LogTimes) -> None:
        here, there = StreamBytes(root, target, new.stream), self.there(folder, new.stream)
        if new.is_whole:
            self._bring_files(root, there, here, times, anew=new.anew)
        if new.more:
            here = StreamBytes(root, target, new.stream)
            data = (root.read(here.path) or b"")[: here.files[-1][1] if here.files else 0] + new.more
            root.replace(canonical(here.path), data, when=times.of(there.path, data))

    def _bring_files(
        self, root: Root, theirs: StreamBytes, here: StreamBytes, times: LogTimes, *, anew: bool
    ) -> None:
        """Bring the files of a stream. After each step, what is here is a beginning of the other copy's stream. If it
        is brought `anew`, that holds only once the tombstones are there, which come last."""
        seals = theirs.seals()
        for number in theirs.numbers:
            name = segment_name(number)
            if number in here.numbers and not anew:
                continue
            source = f"{theirs.archive}/{name}"
            data = self._other.read(source) or b""
            when = times.of(source, data)
            if number in here.numbers:
                root.replace(canonical(f"{here.archive}/{name}"), data, when=when)
                continue
            root.replace(canonical(here.path), data, when=when)
            root.make(here.archive)
            with root.parent(here.path) as (folder, old), root.folder(here.archive) as kept:
                root.disk.rename(folder, old, kept, name)
                root.disk.sync(kept)
                root.disk.sync(folder)
        if seals and seals != here.seals():
            when = times.of(f"{theirs.archive}/{SUMS}", seals)
            root.replace(canonical(f"{here.archive}/{SUMS}"), seals, when=when)
        active = self._other.read(theirs.path)
        if active is not None and active != root.read(here.path):
            root.replace(canonical(here.path), active, when=times.of(theirs.path, active))

    def _copy_rest(self, root: Root, folder: str, target: str, times: LogTimes, *, anew: bool) -> None:
        """Bring bodies and entries, which only a forget changes once they are there. An entry that a log here has is
        not brought again."""
        for name in self._other.names(f"{folder}/bodies"):
            self._copy_new(root, f"{folder}/bodies/{name}", f"{target}/bodies/{name}", times)
        for topic in self._other.names(f"{folder}/entries"):
            own = {*root.names(f"log/entries/{topic}")}
            for entry in self._other.names(f"{folder}/entries/{topic}"):
                for name in (
                    self._other.names(f"{folder}/entries/{topic}/{entry}") if entry not in own else ()
                ):
                    rest = f"entries/{topic}/{entry}/{name}"
                    self._copy_new(root, f"{folder}/{rest}", f"{target}/{rest}", times, anew=anew)

    def _copy_new(self, root: Root, source: str, target: str, times: LogTimes, *, anew: bool = False) -> None:
        try:
            root.stat(target)
            is_there = not anew
        except FileNotFoundError:
            is_there = False
        data = None if is_there else self._other.read(source)
        if data is not None and data != root.read(target):
            root.replace(canonical(target), data, when=times.of(source, data))


def within(folder: str, path: str) -> str:
    """Return where a file of a log lies in the folder of a log."""
    return f"{folder}/{path.removeprefix('log/')}"


def branch_name(machine: str, line: bytes) -> str:
    """Return the name for what went apart from a machine's log, by its first line that is new."""
    return f"{stem_of(machine)}-{sha256(line)[:6]}"


def streams_in(root: Root, folder: str) -> list[str]:
    """Return the streams of a log in a folder, the journal and then the tombstones last: they speak of what the others
    have. Folders that cannot be an agent's (`.DS_Store`) are none."""
    found = [f"{_TRACES}{agent}" for agent in root.names(f"{folder}/traces")]
    names = root.names(f"{folder}/prompts")
    agents = {name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl")}
    agents |= {*root.names(f"{folder}/prompts/archive")}
    found += (f"prompts/{agent}" for agent in sorted(agents))
    return [*filter(_is_stream, found), "calls", IMPORTS, JOURNAL, TOMBSTONES]


def _is_stream(name: str) -> bool:
    try:
        stream_files(name)
    except Refused:
        return False
    return True


def _journal_last(news: Sequence[NewLines]) -> tuple[NewLines, ...]:
    """The journal comes last: pages are made from it, and from what is there by then. Only the tombstones come after
    it: a journal that is older than these is not read."""
    order = {JOURNAL: 1, TOMBSTONES: 2}
    return tuple(sorted(news, key=lambda each: order.get(each.stream, 0)))


def _ids(stream: StreamBytes) -> set[str]:
    return {str(records.whole(line).get("id")) for line in stream.lines()}
