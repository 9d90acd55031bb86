"""Other programs that carry files, and the folder in which they leave them."""

from __future__ import annotations

import os
import re
import shutil

from looseleaf.base.errors import Refused
from looseleaf.sync.carried import is_carried

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from subprocess import CompletedProcess

_LONGEST = 300
"""How many characters of a program's message are repeated in a message."""


class Failed(Refused):
    """A program that was needed could not do its work. `may_pass`: the same may succeed the next time."""

    def __init__(self, program: str, stderr: bytes, code: int | None = None) -> None:
        why = telling_line(stderr)
        super().__init__(f"{program} failed: {why or f'exit code {code}'}")
        self.may_pass = _PASSES.search(why) is not None


def run(
    command: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str] | None = None,
    data: bytes = b"",
    accept: Sequence[int] = (0,),
) -> CompletedProcess[bytes]:
    """Run a program to its end. `accept`: the exit codes that do not mean failure."""
    import subprocess

    clean = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT
    }
    clean |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **(env or {})}
    try:
        done = subprocess.run(command, cwd=cwd, env=clean, input=data, capture_output=True, check=False)
    except FileNotFoundError:
        raise Refused(f"Nothing was synced: {command[0]} is not installed.") from None
    if done.returncode not in accept:
        raise Failed(command[0], done.stderr, done.returncode)
    return done


_KEPT = frozenset({"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_SSL_CAINFO"})
"""What a person told git about connections. The rest is about the repository in which this process was started."""


_TELLING = tuple(
    re.compile(pattern)
    for pattern in (
        (
            r"(?i)could not resolve host|permission denied|host key verification failed|authentication failed"
            r"|connection (?:refused|reset|timed out)|no route to host|network is unreachable|no space left"
            r"|read-only file system|no such file or directory|does not appear to be a git repository"
        ),
        r"^(?:remote: )?(?:fatal|error): |^ssh: ",
        r"^rsync: ",
    )
)
"""What marks the line that says why, the surest first: ssh says it before git and rsync say that they gave up."""

_PASSES = re.compile(
    r"(?i)connection (?:reset|timed out|closed|unexpectedly closed)|timed? ?out|broken pipe|temporary failure"
    r"|network is unreachable|hung up|early eof|vanished"
)


def telling_line(stderr: bytes) -> str:
    """Return the line of a program's messages that says why it failed: its last one, if none is known to."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").split("\n") if line.strip()]
    told = next(
        (line for each in _TELLING for line in lines if each.search(line)), lines[-1] if lines else ""
    )
    return "".join(each if each.isprintable() else " " for each in told)[:_LONGEST].rstrip(".")


def files_below(folder: str) -> Iterator[str]:
    """Yield the paths of all regular files of a folder. Links are removed: nothing is read or written through them."""
    for path, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            full = os.path.join(path, name)
            if os.path.islink(full):
                os.unlink(full)
                if name in folders:
                    folders.remove(name)
            elif name in names:
                yield os.path.relpath(full, folder)


def prune(folder: str, wanted: Mapping[str, str] | None = None) -> None:
    """Remove what is not carried, or not wanted."""
    for path in list(files_below(folder)):
        if not is_carried(path) if wanted is None else path not in wanted:
            os.unlink(os.path.join(folder, path))
    for path, _, _ in os.walk(folder, topdown=False):
        if path != folder and not os.listdir(path):
            os.rmdir(path)


def make_private(folder: str) -> str:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


def remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
