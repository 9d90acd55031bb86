"""The machine: Python, its SQLite, the disk that the memory is on."""

from __future__ import annotations

import os
import sys

from looseleaf.cli.finding import Finding

LEAST = (3, 11)
"""The first Python that this runs on."""

_MEGABYTE = 1 << 20
SCARCE, TIGHT = 64 * _MEGABYTE, 1024 * _MEGABYTE
"""Bytes free: with less than the first a write may fail any moment; with less than the second, soon."""


def python(version: tuple[int, ...] | None = None) -> Finding:
    import platform

    found = tuple(version or sys.version_info[:3])
    said = f"{'.'.join(map(str, found))} on {platform.system()} {platform.machine()}"
    if found < LEAST:
        return Finding("python", "broken", said, "Use Python 3.11 or newer.")
    return Finding("python", "ok", said)


def sqlite() -> Finding:
    """Recall needs full text search in it."""
    import sqlite3

    said = f"SQLite {sqlite3.sqlite_version}"
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except sqlite3.Error as error:
        then = "Use a Python whose SQLite has FTS5: nothing can be recalled without it."
        return Finding("sqlite", "broken", f"{said} without full text search ({error})", then)
    finally:
        connection.close()
    return Finding("sqlite", "ok", f"{said} with full text search")


def learnt() -> Finding:
    """Rules distil by it, and a message is read by it before it is recorded."""
    from looseleaf.distill.selector import heads

    return Finding("selector", "ok", f"its trained data is complete ({len(heads())} parts)")


def disk(path: str) -> Finding:
    """Whether locks hold there."""
    from looseleaf.store.disk import mount_type, this_disk

    here = this_disk()
    root = here.open_root(_existing(path))
    try:
        share, device = here.network_type(root), here.fstat(root).st_dev
    finally:
        here.close(root)
    if share is not None:
        then = "Move the memory to a local disk, or see to it that only one machine writes to it."
        return Finding("disk", "look", f"a network share ({share}), on which locks may not hold", then)
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            kind = mount_type(mounts.read(), os.major(device), os.minor(device))
    except OSError:  # pragma: no cover - not Linux
        kind = None
    return Finding("disk", "ok", f"local ({kind})" if kind else "local")


def space(path: str) -> Finding:
    import shutil

    free = shutil.disk_usage(_existing(path)).free
    said = f"{free / _MEGABYTE:,.0f} MB are free" if free < 1e10 else f"{free / 1e9:,.0f} GB are free"
    if free < SCARCE:
        return Finding("space", "broken", said, "Make room: a write that does not fit is refused.")
    if free < TIGHT:
        return Finding("space", "look", said, "Make room before the disk is full.")
    return Finding("space", "ok", said)


def _existing(path: str) -> str:
    """The folder itself, or the nearest one over it that is there."""
    path = os.path.abspath(path)
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path
