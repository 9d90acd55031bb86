"""Whether git tracks the pages of a memory: then others may read them. Asked only before a private line is written."""

from __future__ import annotations

import os

from looseleaf.base.paths import PROFILE
from looseleaf.pages.folder import above

_SECONDS = 10.0
_IGNORED, _TRACKED = 0, 1
"""What `git check-ignore` returns; anything else is a failure."""


def is_tracked(path: str) -> bool:
    """True if a repository above the folder does not ignore its pages. Without git to ask, its ignore files decide."""
    path = os.path.realpath(path)
    top = next(
        (folder for folder in (path, *above(path)) if os.path.lexists(os.path.join(folder, ".git"))), None
    )
    if top is None:
        return False
    import subprocess

    command = [
        "git",
        "-c",
        "core.fsmonitor=false",
        "-C",
        top,
        "check-ignore",
        "-q",
        os.path.join(path, PROFILE),
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return not _is_named_ignored(path, top)
    return done.returncode == _TRACKED if done.returncode in (_IGNORED, _TRACKED) else True


def _is_named_ignored(path: str, top: str) -> bool:
    """True if an ignore file above names the folder itself."""
    name = os.path.basename(path)
    folders = [folder for folder in above(path) if folder.startswith(top)]
    for file in (
        *(os.path.join(each, ".gitignore") for each in folders),
        os.path.join(top, ".git/info/exclude"),
    ):
        try:
            with open(file, encoding="utf-8", errors="replace") as lines:
                if any(line.strip().strip("/") == name for line in lines):
                    return True
        except OSError:
            continue
    return False
