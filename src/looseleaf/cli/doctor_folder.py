"""The checks of `doctor` on where a memory lies, and who else touches it: clouds, shares, clocks, git, machines."""

from __future__ import annotations

import os
import re
import time

from looseleaf.cli.doctor_checks import Finding, is_ignored, repository_of
from looseleaf.pages.folder import above

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from looseleaf.memory import Memory

DAY = 86_400.0


# --- folders that a program synchronizes ------------------------------------------------

_CLOUDS = (
    (re.compile(r"/Library/Mobile Documents(?=/|\Z)"), "iCloud Drive"),
    (re.compile(r"/Library/CloudStorage/([^/]+)"), ""),
    (re.compile(r"/iCloud ?Drive(?=/|\Z)"), "iCloud Drive"),
    (re.compile(r"/OneDrive(?: ?- ?[^/]+)?(?=/|\Z)"), "OneDrive"),
    (re.compile(r"/Dropbox(?: \([^/]+\))?(?=/|\Z)"), "Dropbox"),
    (re.compile(r"/(?:Google ?Drive|GoogleDrive-[^/]+|My Drive)(?=/|\Z)"), "Google Drive"),
    (re.compile(r"/(?:Nextcloud|ownCloud)\d?(?=/|\Z)"), "Nextcloud"),
    (re.compile(r"/pCloud ?(?:Drive|Sync)(?=/|\Z)"), "pCloud"),
    (re.compile(r"/Box(?: |-)(?:Sync|Box)(?=/|\Z)"), "Box"),
)
"""The names of folders that are synchronized, on any level."""

_AT_HOME = {"Box": "Box", "Sync": "Syncthing"}
"""Names that say so only in the home folder."""

_MARKERS = {
    ".stfolder": "Syncthing",
    ".dropbox": "Dropbox",
    ".dropbox.cache": "Dropbox",
    ".nextcloudsync.log": "Nextcloud",
    ".owncloudsync.log": "Nextcloud",
    ".tmp.drivedownload": "Google Drive",
    ".tmp.driveupload": "Google Drive",
    ".849C9593-D756-4E56-8D6E-42412F2A707B": "OneDrive",
    ".boxsync": "Box",
}
"""Names in the top folder of what is synchronized."""


def cloud_of(path: str, home: str) -> tuple[str, str] | None:
    """Return the service that synchronizes a folder, and its top folder, by the names in its path alone."""
    for pattern, name in _CLOUDS:
        found = pattern.search(path)
        if found is not None:
            return name or re.split(r"[-_]", found[1])[0], path[: found.end()]
    top = os.path.relpath(path, home).split(os.sep)[0] if path.startswith(home + os.sep) else ""
    return (_AT_HOME[top], os.path.join(home, top)) if top in _AT_HOME else None


def cloud(path: str) -> Finding:
    """Check that no program synchronizes the folder: it copies file by file, and knows no lock."""
    real, home = os.path.realpath(path), os.path.realpath(os.path.expanduser("~"))
    found = cloud_of(real, home)
    for folder in (real, *above(real)):
        marked = next((name for name in _MARKERS if os.path.lexists(os.path.join(folder, name))), None)
        # The top of Dropbox's settings is the home folder, which is not synchronized itself.
        if found is None and marked is not None and folder != home:
            found = _MARKERS[marked], folder
    if found is None:
        return Finding("cloud", "ok", "no program that synchronizes folders was recognized")
    then = (
        "Move the memory out of it, and keep copies with `looseleaf export`: where two machines write, or an older "
        "file is put back, talk is lost."
    )
    return Finding(
        "cloud", "look", f"it lies in {found[0]} ({found[1]}), which copies each file separately", then
    )


# --- shares, and locks that do not hold -------------------------------------------------

_WITHOUT_LOCKS = frozenset({"nolock", "local_lock=all", "local_lock=flock", "nobrl", "nolocks"})
"""Options of a mount with which no lock reaches another host."""

_TRY = (
    "import fcntl, sys\n"
    "try: fcntl.flock(open(sys.argv[1], 'rb+'), fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
    "except BlockingIOError: sys.exit(3)"
)
_HELD = 3


def mount_options(mountinfo: str, major: int, minor: int) -> frozenset[str]:
    """Return the options of a device's mount, from the text of /proc/self/mountinfo."""
    for line in mountinfo.splitlines():
        left, dash, right = line.partition(" - ")
        parts, rest = left.split(" "), right.split(" ")
        if dash and len(parts) > 5 and parts[2] == f"{major}:{minor}":
            return frozenset((*parts[5].split(","), *(rest[2].split(",") if len(rest) > 2 else ())))
    return frozenset()


def mac_share(mounts: str, path: str) -> str | None:
    """Return the type of the share that a path lies on, from what `mount` prints on macOS."""
    best, kind = "", ""
    for found in re.finditer(r"^.+? on (/.*?) \((\w+)", mounts, re.MULTILINE):
        top = found[1].rstrip("/")
        if (path == top or path.startswith(f"{top}/")) and len(top) >= len(best):
            best, kind = top, found[2]
    return (
        kind if kind in ("afpfs", "ftp", "nfs", "smbfs", "webdav", "macfuse", "osxfuse", "fusefs") else None
    )


def share(kind: str, options: frozenset[str]) -> Finding:
    """Make the finding on a network share of a kind."""
    then = "Move the memory to a local disk, or let only one machine write to it."
    if without := sorted(options & _WITHOUT_LOCKS):
        return Finding(
            "disk", "look", f"a network share ({kind}), mounted without locks ({without[0]})", then
        )
    return Finding("disk", "look", f"a network share ({kind}), on which locks may not hold", then)


def holds_locks(file: str) -> bool | None:
    """Return whether a second process is kept from a lock that this one holds. None: not known, the file is missing or
    another process has the lock."""
    import subprocess
    import sys

    from looseleaf.store.disk import this_disk

    here = this_disk()
    try:
        fd = os.open(file, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if not here.try_lock(fd):
            return None
        asked = [sys.executable, "-I", "-S", "-c", _TRY, file]
        code = subprocess.run(asked, capture_output=True, timeout=2, check=False).returncode
        return {0: False, _HELD: True}.get(code)
    except (OSError, subprocess.TimeoutExpired):
        return None
    finally:
        os.close(fd)


# --- a clock that jumped ----------------------------------------------------------------

_JUMP = 300.0
"""Seconds that a clock may go back, or be ahead, before it counts as wrong."""

_LATELY = 30 * DAY
_MOST = 20_000
"""Days, in seconds, and lines of each log that are looked at."""


def jumps(times: Iterable[float], now: float) -> tuple[list[float], list[tuple[float, float]]]:
    """Return the times that are still to come, and each time at which the clock went back, with the seconds. `times`:
    when each line was recorded, in the order of the log."""
    ahead: list[float] = []
    back: list[tuple[float, float]] = []
    last: float | None = None
    for ts in times:
        if ts > now + _JUMP:
            ahead.append(ts)
        if last is not None and last - ts > _JUMP:
            back.append((ts, last - ts))
        last = ts
    return ahead, back


def clock(path: str, agent: str) -> Finding:
    """Check the times of the log: those that no clock can have shown yet, and steps back."""
    from looseleaf.memory import Memory
    from looseleaf.text.times import day

    now = time.time()
    ahead: list[float] = []
    back: list[tuple[float, float]] = []
    with Memory(path, agent=agent) as memory:
        for name in memory.parts.context.store.folders("log/traces"):
            found = jumps(_recorded_times(memory, name), now)
            ahead, back = ahead + found[0], back + found[1]
    lately = [each for each in back if each[0] > now - _LATELY]
    traces = f"{len(ahead):,} trace{'s' * (len(ahead) != 1)}"
    said = [f"{traces} dated later than now, up to {day(max(ahead))}"] if ahead else []
    if back:
        at, by = max(back, key=lambda each: each[1])
        said.append(f"went back {_count_times(len(back))}, by at most {_say_long(by)}, on {day(at)}")
    if not said:
        return Finding("clock", "ok", "it never jumped while something was recorded")
    then = "Set this machine's clock. What was said later still counts as later, but the dates of that time are wrong."
    return Finding(
        "clock", "look" if ahead or lately else "ok", "; ".join(said), then if ahead or lately else ""
    )


def _recorded_times(memory: Memory, agent: str) -> Iterator[float]:
    from itertools import islice

    from looseleaf.log.recorder import stream_of
    from looseleaf.log.turns import recorded_at, traces_back

    back = traces_back(memory.parts.context.store, stream_of(agent))
    return reversed([recorded_at(trace) for trace in islice(back, _MOST)])


def _count_times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _say_long(seconds: float) -> str:
    for unit, name in ((DAY, "day"), (3600.0, "hour"), (60.0, "minute")):
        if seconds >= 2 * unit or unit == 60.0:
            return f"{seconds / unit:,.0f} {name}s"
    raise AssertionError  # pragma: no cover - the last unit always fits


# --- a log that one command of git deletes ----------------------------------------------


def copy(path: str) -> Finding:
    """Check that a log that git ignores is also elsewhere: `git clean -fdX` deletes what is ignored."""
    repository = repository_of(path)
    made = _last_copy(path)
    when = f"the last export was made on {made}" if made else "no export is known"
    if repository is None or not is_ignored(path, "log"):
        return Finding("copy", "ok", when)
    if made:
        return Finding("copy", "ok", f"git ignores log/; {when}")
    then = "`looseleaf export` makes a copy; keep it outside the repository."
    said = f"git ignores log/, and {when}: `git clean -fdX` in {repository} would delete everything that was said"
    return Finding("copy", "look", said, then)


def _last_copy(path: str) -> str | None:
    """Return the day of the last export, if it is still there."""
    from looseleaf.text.times import day
    from looseleaf.transfer.export_folder import last_copy

    found = last_copy(path)
    return day(found[1]) if found is not None else None


# --- other machines ---------------------------------------------------------------------

_CONFLICT = re.compile(
    r"conflicted copy|\.sync-conflict-|\(conflict(?:ing copy)?[ )]|_conf\(\d+\)", re.IGNORECASE
)
"""How programs name the second of two versions that two machines wrote."""


def machines(path: str, agent: str) -> Finding:
    """List the machines that share the memory, and check that no two wrote the same file."""
    from looseleaf.memory import Memory

    with Memory(path, agent=agent) as memory:
        own = memory.parts.store.machine
        others = [_describe_machine(memory, name) for name in memory.parts.store.machines()]
    known = [f"this is {own}", *others] if others else []
    said = []
    if (host := _claimed_by(path)) is not None:
        said.append(f"{host} has claimed it (log/writer)")
    if twice := sorted(_conflict_copies(path)):
        more = f" and {len(twice) - 1} more" if len(twice) > 1 else ""
        said.append(f"two machines wrote {twice[0]}{more}")
    if not said:
        return Finding("machines", "ok", "; ".join(known) or "only this one is known to write here")
    then = "Let one machine write at a time to the same files: no lock reaches another machine."
    return Finding("machines", "look", "; ".join((*known, *said)), then)


def _describe_machine(memory: Memory, name: str) -> str:
    """Return another machine and the day of the last record of its that is here."""
    from looseleaf.log.talk_streams import machine_of, talk_elsewhere
    from looseleaf.store import JOURNAL
    from looseleaf.store.machines import stream_of
    from looseleaf.text.times import day

    store = memory.parts.context.store
    streams = (each for each in talk_elsewhere(store) if machine_of(each) == name)
    ends = (next(store.read_back(each), None) for each in (stream_of(name, JOURNAL), *streams))
    times = [float(end.record.get("ts") or 0.0) for end in ends if end is not None]
    return f"{name} wrote last on {day(max(times))}" if times else f"nothing of {name} is here"


def _claimed_by(path: str) -> str | None:
    """Return the other host that has claimed a memory on a share."""
    from looseleaf.store.share import WRITER

    try:
        with open(os.path.join(path, *WRITER.split("/")), encoding="utf-8", errors="replace") as file:
            host = file.read(1000).strip().rpartition(" ")[0]
    except OSError:
        return None
    return host if host and host != os.uname().nodename else None


def _conflict_copies(path: str) -> Iterator[str]:
    for folder in ("", "facts", "episodes", "days", "review", "log"):
        try:
            names = os.listdir(os.path.join(path, folder))
        except OSError:
            continue
        yield from (os.path.join(folder, name) for name in names if _CONFLICT.search(name))
