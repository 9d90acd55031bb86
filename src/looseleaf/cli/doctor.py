"""The verb `doctor`: everything that may keep a memory from working, in a table."""

from __future__ import annotations

import os
import sys

from looseleaf.base.errors import Refused
from looseleaf.cli import doctor_checks as checks
from looseleaf.cli.doctor_checks import Finding
from looseleaf.cli.output import PROBLEMS, first_path, next_step, print_json, progress, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from looseleaf.cli.verb_table import CliOptions


# --- the machine: Python, SQLite, the disk ----------------------------------------------

LEAST = (3, 11)
"""The oldest supported Python."""

_MEGABYTE = 1 << 20
SCARCE, TIGHT = 64 * _MEGABYTE, 1024 * _MEGABYTE
"""Free bytes: below the first a write may fail any moment; below the second, soon."""


def python(version: tuple[int, ...] | None = None) -> Finding:
    import platform

    found = tuple(version or sys.version_info[:3])
    said = f"{'.'.join(map(str, found))} on {platform.system()} {platform.machine()}"
    if found < LEAST:
        return Finding("python", "broken", said, "Use Python 3.11 or newer.")
    return Finding("python", "ok", said)


def sqlite() -> Finding:
    """Check SQLite: recall needs its full text search."""
    import sqlite3

    said = f"SQLite {sqlite3.sqlite_version}"
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except sqlite3.Error as error:
        then = "Use a Python whose SQLite has FTS5: recall needs it."
        return Finding("sqlite", "broken", f"{said} without full text search ({error})", then)
    finally:
        connection.close()
    return Finding("sqlite", "ok", f"{said} with full text search")


def selector() -> Finding:
    """Check the trained selector: the rules distill with it."""
    from looseleaf.distill.selector import heads

    return Finding("selector", "ok", f"its trained data is complete ({len(heads())} parts)")


def disk(path: str) -> Finding:
    """Check whether locks hold on the disk of the memory."""
    from looseleaf.store.disk import mount_type, this_disk

    here = this_disk()
    root = here.open_root(_existing_folder(path))
    try:
        share, device = here.network_type(root), here.fstat(root).st_dev
    finally:
        here.close(root)
    if share is not None:
        then = "Move the memory to a local disk, or let only one machine write to it."
        return Finding("disk", "look", f"a network share ({share}), on which locks may not hold", then)
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            kind = mount_type(mounts.read(), os.major(device), os.minor(device))
    except OSError:  # pragma: no cover - not Linux
        kind = None
    return Finding("disk", "ok", f"local ({kind})" if kind else "local")


def space(path: str) -> Finding:
    import shutil

    free = shutil.disk_usage(_existing_folder(path)).free
    said = f"{free / _MEGABYTE:,.0f} MB are free" if free < 1e10 else f"{free / 1e9:,.0f} GB are free"
    if free < SCARCE:
        return Finding("space", "broken", said, "Make room: a write that does not fit is refused.")
    if free < TIGHT:
        return Finding("space", "look", said, "Make room before the disk is full.")
    return Finding("space", "ok", said)


def _existing_folder(path: str) -> str:
    """Return the folder, or the nearest existing one above it."""
    path = os.path.abspath(path)
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


# --- all checks in order, each for a limited time ---------------------------------------

SECONDS = 3.0
"""For one check. Most take milliseconds; a dead network share takes forever."""

SOUND_SECONDS = 10.0
"""For reading everything again, if that can be done in this time."""


def examine(path: str, agent: str, named_by: str | None) -> Iterator[Finding]:
    """Yield all findings on the memory at a path, each when it is made."""
    from looseleaf.base.policy import Policy

    yield within(SECONDS, "python", python)
    yield within(SECONDS, "sqlite", sqlite)
    yield within(SECONDS, "selector", selector)
    yield within(SECONDS, "disk", lambda: disk(path))
    yield within(SECONDS, "space", lambda: space(path))
    there = within(SECONDS, "memory", lambda: checks.where(path, named_by))
    yield there
    policy = Policy()
    if there.verdict == "ok":
        settings = within(SECONDS, "settings", lambda: checks.settings(path, agent))
        yield settings
        yield within(SECONDS, "permissions", lambda: checks.permissions(path))
        yield within(SECONDS, "lock", lambda: checks.lock(path))
        if settings.verdict == "ok":
            from looseleaf.pages.folder import settings as read

            policy = read(path, agent)
            yield within(SECONDS, "index", lambda: checks.index(path, agent))
            yield within(SECONDS, "held", lambda: checks.held(path, agent))
            yield within(SOUND_SECONDS, "sound", lambda: checks.sound(path, agent))
        yield within(SECONDS, "git", lambda: checks.git(path))
    yield within(SECONDS, "hooks", checks.hooks)
    yield within(SECONDS, "server", checks.servers)
    yield within(SECONDS, "extras", checks.extras)
    yield within(SECONDS, "keys", checks.keys)
    yield within(SECONDS, "ollama", checks.ollama)
    yield within(SECONDS, "model", lambda: checks.model(policy))


def within(seconds: float, name: str, look: Callable[[], Finding]) -> Finding:
    """Return the finding of a check, if it ends in time."""
    import threading

    found: list[Finding] = []
    thread = threading.Thread(target=lambda: found.append(_run_check(name, look)), daemon=True)
    thread.start()
    thread.join(seconds)
    if found:
        return found[0]
    then = "`looseleaf check` takes the time that it needs." if name == "sound" else "Check it by hand."
    return Finding(name, "look", f"no answer within {seconds:g} seconds", then)


def _run_check(name: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except Refused as refused:
        return Finding(name, "broken", str(refused), "Do what it says, and run this again.")
    except OSError as error:
        why = f"it could not be checked ({error.strerror or error})"
        return Finding(name, "look", why, "Check that you may read it, and that the disk answers.")


def doctor(options: CliOptions) -> int:
    from looseleaf.pages.folder import find
    from looseleaf.text.secrets import redact_value

    named = "--memory" if options.memory is not None else None
    named = named or ("LOOSELEAF_HOME" if os.environ.get("LOOSELEAF_HOME") else None)
    path = first_path(options.memory) or find()
    with progress("checking"):
        found = [each.to_dict() for each in examine(path, options.agent or "main", named)]
    # No key is read above, but an address or a file may hold one.
    found = redact_value(found, os.urandom(16))
    counts = {verdict: sum(each["verdict"] == verdict for each in found) for verdict in ("broken", "look")}
    if options.json:
        print_json({"broken": counts["broken"], "look": counts["look"], "findings": found})
    else:
        rows = [
            (each["verdict"], each["name"], _join_sentences(each["says"], each["then"])) for each in found
        ]
        table(("", "what", "finding, and what to do"), rows)
        next_step(options, _next_step(counts))
    return PROBLEMS if counts["broken"] else 0


def _join_sentences(*said: str) -> str:
    """Join sentences, each with one full stop."""
    return " ".join(f"{each.rstrip('.')}." for each in said if each)


def _next_step(counts: dict[str, int]) -> str:
    if counts["broken"]:
        return f"fix what is broken ({counts['broken']}), then run `looseleaf doctor` again."
    if counts["look"]:
        return f"nothing is broken; {counts['look']} to look at."
    return "nothing to do."
