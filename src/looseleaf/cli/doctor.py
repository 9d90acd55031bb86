"""The verb `doctor`: everything that may keep a memory from working, in a table."""

from __future__ import annotations

import os
import sys
from functools import partial

from looseleaf.base.errors import Refused, hint, is_there
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import is_address
from looseleaf.cli import doctor_checks as checks
from looseleaf.cli import doctor_folder as folder
from looseleaf.cli.doctor_checks import Finding
from looseleaf.cli.output import PROBLEMS, first_path, next_step, print_json, progress, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from looseleaf.base.policy import Policy
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
    """Check SQLite: recall needs its full-text search."""
    import sqlite3

    said = f"SQLite {sqlite3.sqlite_version}"
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except sqlite3.Error as error:
        then = "Use a Python whose SQLite has FTS5: recall needs it."
        return Finding("sqlite", "broken", f"{said} without full-text search ({error})", then)
    finally:
        connection.close()
    return Finding("sqlite", "ok", f"{said} with full-text search")


def selector() -> Finding:
    """Check the trained data: with it the rules distill, and tell what is private."""
    from looseleaf.distill.selector import heads
    from looseleaf.language import private_kinds as private

    parts = len(heads()) + len(private.heads())
    return Finding("selector", "ok", f"its trained data is complete ({parts} parts)")


def disk(path: str) -> Finding:
    """Check whether locks hold on the disk of the memory: by what it is, and by trying."""
    from looseleaf.store.disk import LOCK, mount_type, this_disk
    from looseleaf.store.files import locate_in

    here = this_disk()
    root = here.open_root(_existing_folder(path))
    try:
        kind, device = here.network_type(root), here.fstat(root).st_dev
    finally:
        here.close(root)
    number = os.major(device), os.minor(device)
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            mounted = mounts.read()
    except OSError:  # pragma: no cover - not Linux
        mounted = ""
        kind = kind or folder.mac_share(_mounts(), os.path.realpath(path))
    if folder.holds_locks(locate_in(path, LOCK)) is False:
        then = "Move the memory to a local disk: here two programs can write over each other."
        return Finding("disk", "broken", "two processes got the same lock at once", then)
    if kind is not None:
        return folder.share(kind, folder.mount_options(mounted, *number))
    local = mount_type(mounted, *number)
    return Finding("disk", "ok", f"local ({local})" if local else "local")


def _mounts() -> str:  # pragma: no cover - not Linux
    import subprocess

    try:
        return subprocess.run(["mount"], capture_output=True, text=True, timeout=2, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


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


@frozen
class Case:
    """What is examined. `named_by`: the option or variable that names the memory; None: it was searched for."""

    path: str
    agent: str
    named_by: str | None


def _policy_of(case: Case) -> Policy:
    from looseleaf.base.policy import Policy
    from looseleaf.pages.folder import settings as read

    try:
        return read(case.path, case.agent)
    except Refused:
        return Policy()


_MEMORY: tuple[str, ...] = ("memory",)
_OPENED: tuple[str, ...] = ("memory", "settings")

CHECKS: tuple[tuple[str, tuple[str, ...], Callable[[Case], Finding]], ...] = (
    ("python", (), lambda case: python()),
    ("sqlite", (), lambda case: sqlite()),
    ("selector", (), lambda case: selector()),
    ("disk", (), lambda case: disk(case.path)),
    ("space", (), lambda case: space(case.path)),
    ("memory", (), lambda case: checks.where(case.path, case.named_by)),
    ("settings", _MEMORY, lambda case: checks.settings(case.path, case.agent)),
    ("permissions", _MEMORY, lambda case: checks.permissions(case.path)),
    ("cloud", _MEMORY, lambda case: folder.cloud(case.path)),
    ("lock", _MEMORY, lambda case: checks.lock(case.path)),
    ("index", _OPENED, lambda case: checks.index(case.path, case.agent)),
    ("held", _OPENED, lambda case: checks.held(case.path, case.agent)),
    ("sound", _OPENED, lambda case: checks.sound(case.path, case.agent)),
    ("clock", _OPENED, lambda case: folder.clock(case.path, case.agent)),
    ("machines", _OPENED, lambda case: folder.machines(case.path, case.agent)),
    ("git", _MEMORY, lambda case: checks.git(case.path)),
    ("copy", _MEMORY, lambda case: folder.copy(case.path)),
    ("hooks", (), lambda case: checks.hooks()),
    ("server", (), lambda case: checks.servers()),
    ("extras", (), lambda case: checks.extras()),
    ("keys", (), lambda case: checks.keys()),
    ("ollama", (), lambda case: checks.ollama()),
    ("model", (), lambda case: checks.model(_policy_of(case))),
)
"""Each check in its order: its name, the checks that must be ok before it makes sense, and what it does."""

_OF_FOLDERS = frozenset({"disk", "space", "permissions", "cloud", "lock", "held", "git"})
"""Checks that say nothing of a memory in a database."""


def examine(path: str, agent: str, named_by: str | None) -> Iterator[Finding]:
    """Yield all findings on the memory at a path, each when it is made."""
    case = Case(path, agent, named_by)
    fine: set[str] = set()
    if is_address(path):
        yield from _database(path)
    for name, needs, look in CHECKS:
        if is_address(path) and name in _OF_FOLDERS:
            continue
        if fine.issuperset(needs):
            found = within(SOUND_SECONDS if name == "sound" else SECONDS, name, partial(look, case))
            fine |= {name} if found.verdict == "ok" else set()
            yield found


def _database(where: str) -> Iterator[Finding]:
    """Yield what a check of the database finds."""
    if not is_there("postgres"):
        yield Finding(
            "database", "broken", "needs packages that are missing", f"Get them: {hint('postgres')}"
        )
        return
    from looseleaf.store.postgres.address import parse_address
    from looseleaf.store.postgres.check_database import check_database

    try:
        for each in check_database(parse_address(where)):
            yield Finding(each.name, each.verdict, each.says, each.then)
    except Refused as refused:
        yield Finding("database", "broken", str(refused), "Do what it says, and run this again.")


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
