"""The log of one machine as files, in two copies of a memory: which copy is behind, and how it catches up.

Only what the machine wrote is brought: a stream that goes on is extended, one that a forget of that machine rewrote is
replaced. After each step, the log can be read, and the next run does the rest.
"""

from __future__ import annotations

from looseleaf.store import JOURNAL, TOMBSTONES, records
from looseleaf.store.bring import LogTimes, StreamBytes, missing_forgets, streams_in
from looseleaf.store.documents import remove_tree
from looseleaf.store.streams import SUMS, begins_segment, segment_name, segment_number, stream_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from looseleaf.store.root import Root


class LogFiles:
    """A log in a folder of a memory. `views` is where its machine keeps its views there."""

    def __init__(self, root: Root, folder: str, views: str = "") -> None:
        self.root = root
        self.folder = folder
        self._views = views

    def streams(self) -> list[str]:
        return streams_in(self.root, self.folder)

    def stream(self, name: str) -> StreamFiles:
        path, archive = (f"{self.folder}/{each.removeprefix('log/')}" for each in stream_files(name))
        return StreamFiles(self.root, path, archive)

    def lines(self, stream: str) -> set[bytes]:
        return set(self.stream(stream).lines())

    @property
    def forgets(self) -> list[bytes]:
        """What its machine forgot. A log with more of it was written later."""
        return list(self.stream(TOMBSTONES).lines())

    @property
    def is_whole(self) -> bool:
        """True if the journal knows of all tombstones."""
        return not missing_forgets(self.root, self.folder)

    @property
    def begins(self) -> bytes:
        """The first line of the journal, which no other memory has."""
        return next(StreamBytes(self.root, self.folder, JOURNAL).lines(), b"")

    @property
    def has_words(self) -> bool:
        """True if anything was said, or a page was written."""
        said = (StreamBytes(self.root, self.folder, name) for name in self.streams() if name[:7] == "traces/")
        journal = StreamBytes(self.root, self.folder, JOURNAL)
        return any(each.size for each in said) or any(row.get("kind") == "edit" for row in journal.rows())

    def parts(self) -> Iterator[str]:
        """Yield the files that are written once: bodies and entries."""
        for name in self.root.names(f"{self.folder}/bodies"):
            yield f"bodies/{name}"
        for topic in self.root.names(f"{self.folder}/entries"):
            for entry in self.root.names(f"{self.folder}/entries/{topic}"):
                for name in self.root.names(f"{self.folder}/entries/{topic}/{entry}"):
                    yield f"entries/{topic}/{entry}/{name}"

    def drop_views(self) -> None:
        """Remove the views that its machine made from the log, which has been replaced."""
        if self._views:
            remove_tree(self.root, self._views)


class StreamFiles:
    """The files of a stream: sealed segments, and the active one, which has the next number."""

    def __init__(self, root: Root, active: str, archive: str) -> None:
        self.root, self.active, self.archive = root, active, archive
        found = map(segment_number, root.names(archive))
        self.sealed = sorted(number for number in found if number is not None)

    @property
    def last(self) -> int:
        return self.sealed[-1] + 1 if self.sealed else 1

    @property
    def sums(self) -> str:
        return f"{self.archive}/{SUMS}"

    def segment(self, number: int) -> str:
        return f"{self.archive}/{segment_name(number)}"

    def path(self, number: int) -> str:
        """Return the path of a segment, sealed or not."""
        return self.segment(number) if number in self.sealed else self.active

    def read(self, number: int) -> bytes:
        """Return the bytes of a segment, sealed or not."""
        if number in self.sealed:
            return self.root.read(self.segment(number)) or b""
        data = self.root.read(self.active) or b""
        return b"" if begins_segment(self.root, data[:4096], self.archive, self.sealed) else data

    def size(self, path: str) -> int:
        try:
            return self.root.stat(path).st_size
        except FileNotFoundError:
            return -1

    def lines(self) -> Iterator[bytes]:
        """Yield the whole lines."""
        for number in (*self.sealed, self.last):
            yield from (line for line in self.read(number).splitlines(keepends=True) if line[-1:] == b"\n")

    def is_behind(self, other: StreamFiles) -> bool:
        """True if the other is this stream, or goes on from it."""
        count = len(self.sealed)
        if self.sealed != other.sealed[:count] or any(
            self.size(self.segment(each)) != other.size(other.segment(each)) for each in self.sealed
        ):
            return False
        sums, others = self.root.read(self.sums) or b"", other.root.read(other.sums) or b""
        mine = self.read(self.last)
        return others.startswith(sums) and other.read(self.last).startswith(mine[: mine.rfind(b"\n") + 1])

    def equals(self, other: StreamFiles) -> bool:
        """True if the files are the same, given that this stream is not ahead of the other."""
        paths = ((self.active, other.active), (self.sums, other.sums))
        return self.sealed == other.sealed and all(self.size(a) == other.size(b) for a, b in paths)


def bring_log(
    source: LogFiles,
    target: LogFiles,
    done: Files,
    is_known: Callable[[str], bool],
    kept: Collection[str] = (),
    is_there: Callable[[str], bool] = lambda _: False,
) -> list[str]:
    """Bring a log up to another copy of it. `is_known(stream)`: all that a stream of the target has is kept elsewhere,
    so that it may be replaced where the source does not go on from it. `kept`: bodies and entries that stay.
    `is_there(stream)`: all that a stream of the source has lies beside the target, so that neither needs to be the
    other. Return the streams that were left alone, because they have records that are nowhere else."""
    is_rewritten = is_older(target, source)
    times = LogTimes(source.root, source.folder)
    streams = source.streams()
    ahead, left = [], []
    for name in (*(each for each in target.streams() if each not in streams), *streams):
        there, here = target.stream(name), source.stream(name)
        if there.is_behind(here):
            if not there.equals(here):
                ahead.append((there, here, True))
        elif not (is_rewritten or is_known(name)):
            left.append(name)
        elif is_rewritten or not (here.is_behind(there) or is_there(name)):
            ahead.append((there, here, False))
    begun = next((pair for pair in ahead if pair[0].active.endswith("/journal.jsonl")), None)
    if begun is not None and begun[2] and not begun[0].sealed and begun[0].size(begun[0].active) < 1:
        # Its first line: a log without a journal cannot be opened, and the rest of the journal comes last.
        begin = begun[1].read(1)
        begin = begin[: begin.find(b"\n") + 1]
        done.put(target.root, begun[0].active, begin, times.of(begun[1].path(1), begin))
    _bring_parts(source, target, done, kept, times, anew=is_rewritten)
    for there, here, goes_on in ahead:
        if not goes_on:
            target.drop_views()
        _bring_stream(here, there, done, times, goes_on=goes_on)
    return left


def is_older(one: LogFiles, other: LogFiles) -> bool:
    """True if a log was written before its machine forgot something, and the other after that. Its tombstones may be
    newer than the rest, where a backup was copied over it."""
    mine, theirs = one.forgets, other.forgets
    if len(mine) == len(theirs):
        return bool(mine) and mine == theirs and not one.is_whole and other.is_whole
    return len(mine) < len(theirs) and theirs[: len(mine)] == mine


def are_strangers(ours: Collection[LogFiles], theirs: Collection[LogFiles]) -> bool:
    """True if two memories, each with its logs, have nothing in common, and both have words."""
    if {log.begins for log in ours} & {log.begins for log in theirs} - {b""}:
        return False
    mine = {line for log in ours for line in log.lines(JOURNAL)}
    is_known = any(not mine.isdisjoint(log.lines(JOURNAL)) for log in theirs)
    return not is_known and all(any(log.has_words for log in logs) for logs in (ours, theirs))


def turns_in(log: LogFiles) -> set[tuple[str, object]]:
    """Return the turns of which a log still has something, each by its stream and its id."""
    found: set[tuple[str, object]] = set()
    for name in log.streams():
        for line in log.stream(name).lines() if name.startswith("traces/") else ():
            record = records.whole(line)
            if record.get("kind") != "gone" and record.get("turn_id") is not None:
                found.add((name, record["turn_id"]))
    return found


def _bring_parts(
    source: LogFiles, target: LogFiles, done: Files, kept: Collection[str], times: LogTimes, *, anew: bool
) -> None:
    """`anew`: a forget changed entries, and removed others and bodies."""
    ours, there = list(source.parts()), set(target.parts())
    for part in ours:
        if anew or part not in there:
            path = f"{source.folder}/{part}"
            data = source.root.read(path)
            if data is not None:
                done.put(target.root, f"{target.folder}/{part}", data, times.of(path, data))
    for part in sorted(there.difference(ours, kept)) if anew else ():
        done.remove(target.root, f"{target.folder}/{part}")


def _bring_stream(
    source: StreamFiles, target: StreamFiles, done: Files, times: LogTimes, *, goes_on: bool
) -> None:
    def put(path: str, data: bytes, copied: str) -> None:
        done.put(target.root, path, data, times.of(copied, data))

    if goes_on and target.last in source.sealed and target.size(target.active) >= 0:
        # Completed, and sealed as its machine did: no reader sees a line twice, or misses one.
        put(target.active, source.read(target.last), source.path(target.last))
        done.move(target.root, target.active, target.segment(target.last))
        target = StreamFiles(target.root, target.active, target.archive)
    for number in source.sealed:
        if not goes_on or number not in target.sealed:
            put(target.segment(number), source.read(number), source.path(number))
    for number in () if goes_on else target.sealed:
        if number not in source.sealed:
            done.remove(target.root, target.segment(number))
    for path, copied in ((target.sums, source.sums), (target.active, source.active)):
        data = source.root.read(copied)
        if data is not None:
            put(path, data, copied)
        elif not goes_on:
            done.remove(target.root, path)


class Files:
    """Files that are put and removed, and their names. `durable`: they must survive a crash."""

    def __init__(self, *, durable: bool = True) -> None:
        self._durable = durable
        self.names: dict[str, None] = {}

    def put(self, root: Root, path: str, data: bytes, when: float | None = None) -> None:
        """Write these bytes to a file, unless it has them already. `when`: its time."""
        from looseleaf.base.paths import canonical

        if root.read(path) != data:
            root.replace(canonical(path), data, durable=self._durable, when=when)
            self.names[path] = None

    def move(self, root: Root, old: str, new: str) -> None:
        root.make(new.rpartition("/")[0], durable=self._durable)
        with root.parent(old) as (source, name), root.parent(new) as (target, other):
            root.disk.rename_new(source, name, target, other)
            if self._durable:
                root.disk.sync(target)
                root.disk.sync(source)
        self.names |= {old: None, new: None}

    def remove(self, root: Root, path: str) -> None:
        try:
            with root.parent(path) as (folder, name):
                root.disk.unlink(folder, name)
        except FileNotFoundError:
            return
        self.names[path] = None


def known_in(logs: Collection[LogFiles], target: LogFiles) -> Callable[[str], bool]:
    """Return a function that tells whether one of these logs has every line of a stream of the target."""

    def is_known(stream: str) -> bool:
        lines = target.lines(stream)
        for log in logs:
            if not lines:
                break
            lines -= log.lines(stream)
        return not lines

    return is_known
