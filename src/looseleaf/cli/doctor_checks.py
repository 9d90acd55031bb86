"""The memory's folder: which one it is, who may read it, whether it is locked, indexed, sound and kept out of git."""

from __future__ import annotations

import os
import stat
import time

from looseleaf.base.errors import Refused, Unreadable
from looseleaf.cli.finding import Finding, refused

_LOCKED_SECONDS = 1.0
"""How long a lock must be held to be worth a word: a write takes some milliseconds."""

_MOST = 3
"""Problems that are named; `check` names all."""

_PRIVATE = ("log", "views", "review", "PROJECT.local.md")


def where(path: str, named_by: str | None) -> Finding:
    """`named_by`: the option or variable that names it; None where it was looked for."""
    from looseleaf.pages.folder import JournalLost, is_memory

    why = f"named by {named_by}" if named_by else _found_at(path)
    try:
        is_there = is_memory(path)
    except JournalLost as lost:
        return Finding("memory", "broken", f"{lost.says} ({why})", lost.then)
    except Unreadable as error:
        return Finding(
            "memory", "broken", str(error), "See who owns the folder, and what its permissions are."
        )
    if is_there:
        return Finding("memory", "ok", f"{os.path.abspath(path)} ({why})")
    if named_by:
        then = f"Make it with `looseleaf init {path}`, or name another one."
        return Finding("memory", "broken", f"there is none at {path} ({why})", then)
    then = "`looseleaf init` makes one here."
    return Finding("memory", "look", "there is none here, above, or at ~/.looseleaf", then)


def _found_at(path: str) -> str:
    is_home = os.path.abspath(path) == os.path.join(os.path.expanduser("~"), ".looseleaf")
    return "the one at home" if is_home else "the nearest one upward from here"


def settings(path: str, agent: str) -> Finding:
    from looseleaf.pages.folder import SETTINGS
    from looseleaf.pages.folder import settings as read

    try:
        read(path, agent)
    except Refused as error:
        return refused("settings", "broken", error, "The memory was not opened: ")
    has = os.path.lexists(os.path.join(path, SETTINGS))
    return Finding("settings", "ok", f"{SETTINGS} can be read" if has else "the defaults")


def permissions(path: str) -> Finding:
    """Others on the machine must not read it. Pages in a folder that only you may enter are safe with any mode."""
    if os.name != "posix":  # pragma: no cover - Windows
        return Finding("permissions", "ok", "as the folder's owner set them")
    kept = [path, *(os.path.join(path, name) for name in ("log", "views", "review", "log/key"))]
    found = [(each, os.lstat(each)) for each in kept if os.path.lexists(each)]
    if found[0][1].st_uid not in (os.geteuid(), 0):
        then = "Take a memory of your own, or make this one yours (chown)."
        return Finding("permissions", "look", f"{path} belongs to somebody else", then)
    wide = [(each, stat.S_IMODE(of.st_mode)) for each, of in found if stat.S_IMODE(of.st_mode) & 0o077]
    if wide and wide[0][0] == path:
        named = ", ".join(f"{each} ({mode:04o})" for each, mode in wide[:_MOST])
        then = f"Close it with: chmod -R go= {path}"
        return Finding("permissions", "look", f"others on this machine may look into {named}", then)
    return Finding("permissions", "ok", "only you may enter it (0700)")


def lock(path: str) -> Finding:
    """Free, or held for longer than any write takes."""
    from looseleaf.store.disk import this_disk

    here = this_disk()
    try:
        fd = os.open(os.path.join(path, "log", "lock"), os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return Finding("lock", "ok", "nobody has written here yet")
    try:
        until = time.monotonic() + _LOCKED_SECONDS
        while not here.try_lock(fd):
            if time.monotonic() > until:
                then = "Wait for it; if it hangs, end it. What was acknowledged is not lost."
                return Finding("lock", "look", f"held by {_holder(fd)} right now", then)
            time.sleep(0.02)
        here.unlock(fd)
    finally:
        os.close(fd)
    return Finding("lock", "ok", "free")


def _holder(fd: int) -> str:
    """Which process it is, where the system tells."""
    number = os.fstat(fd).st_ino
    try:
        with open("/proc/locks", encoding="ascii", errors="replace") as file:
            rows = [line.split() for line in file]
    except OSError:
        return "another process"
    pid = next((row[4] for row in rows if len(row) > 5 and row[5].endswith(f":{number}")), "")
    return f"process {pid}" if pid.isdecimal() and pid != "0" else "another process"


def index(path: str, agent: str) -> Finding:
    from looseleaf.index.sqlite_file import Damaged
    from looseleaf.memory import Memory
    from looseleaf.recall.index_sync import VIEW

    file = os.path.join(path, *VIEW.split("/"))
    if not os.path.lexists(file):
        return Finding("index", "ok", "not made yet; the first recall makes it")
    size = f"{os.lstat(file).st_size / (1 << 20):,.1f} MB"
    with Memory(path, agent=agent) as memory:
        memory.pages()  # what people changed is looked at, as by every command that reads
        try:
            is_current = memory._recall.keep.is_current()
        except Damaged as damaged:
            then = "`looseleaf build --full` makes it again; nothing else is touched by it."
            return Finding("index", "look", f"{size}, and damaged ({damaged})", then)
    return Finding(
        "index", "ok", f"{size}, {'up to date' if is_current else 'behind; the next recall catches up'}"
    )


def sound(path: str, agent: str) -> Finding:
    """Everything re-read and re-hashed, as `check` does."""
    from looseleaf.memory import Memory

    with Memory(path, agent=agent) as memory:
        problems = [each for each in memory.check() if each.severity == "error"]
    if not problems:
        return Finding("sound", "ok", "everything was read and hashed again")
    named = "; ".join(str(each) for each in problems[:_MOST])
    more = f"; and {len(problems) - _MOST} more" if len(problems) > _MOST else ""
    then = "`looseleaf check` names all of it, `looseleaf repair` mends what can be mended."
    return Finding("sound", "broken", f"{named}{more}", then)


def git(path: str) -> Finding:
    """In a repository, what is private must be ignored."""
    from looseleaf.pages.folder import above

    inside = next((each for each in (path, *above(os.path.realpath(path))) if _has_git(each)), None)
    if inside is None:
        return Finding("git", "ok", "the memory is in no repository")
    shown = [name for name in _PRIVATE if not _is_ignored(path, name)]
    if shown:
        then = f"Add to {os.path.join(path, '.gitignore')}: {' '.join(shown)}"
        return Finding("git", "look", f"{inside} would commit {', '.join(shown)}", then)
    return Finding("git", "ok", "what is private is ignored")


def _has_git(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, ".git"))


def _is_ignored(path: str, name: str) -> bool:
    import subprocess

    # Hooks and settings of whoever calls us are no part of the question.
    own = {each: value for each, value in os.environ.items() if not each.startswith("GIT_")}
    try:
        asked = ["git", "-C", path, "check-ignore", "--quiet", "--no-index", f"{name}"]
        code = subprocess.run(asked, env=own, capture_output=True, timeout=2, check=False).returncode
    except (OSError, subprocess.TimeoutExpired):
        code = -1
    return code == 0 if code in (0, 1) else _stands_in_ignore(path, name)


def _stands_in_ignore(path: str, name: str) -> bool:
    """As far as one can tell without git."""
    try:
        with open(os.path.join(path, ".gitignore"), encoding="utf-8", errors="replace") as file:
            lines = {line.strip().strip("/") for line in file}
    except OSError:
        return False
    return name in lines
