"""Where a memory is: which folder is meant, whether it is one, and what it has set. Opens nothing for writing."""

from __future__ import annotations

import os
import re

from looseleaf.base import ids as clock
from looseleaf.base.errors import Refused, Unreadable
from looseleaf.base.ids import new_id
from looseleaf.base.paths import DRAWERS
from looseleaf.base.policy import Policy, policy_from
from looseleaf.log.journal import SCHEMA
from looseleaf.store import JOURNAL
from looseleaf.store.files import FileStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.base.values import Record

SETTINGS = "looseleaf.toml"

_OURS = re.compile(rb' ?\{"schema": ?"(?:journal|lost|gone)\.v[0-9]+"')
_BEGINNING = 64
"""Bytes of a journal by which it is known."""


class JournalLost(Unreadable):
    """A folder was a memory, and its journal is gone: what was said is there, and who changed what is not."""

    def __init__(self, path: str) -> None:
        self.says = (
            f"{path} is a damaged memory: its log holds what was said, but log/journal.jsonl is gone or empty"
        )
        self.then = (
            "Put a copy of that file back, from an export or a backup. Without one, `looseleaf repair` begins a new "
            "journal: pages and talk stay, who changed what and why is lost."
        )
        super().__init__(f"Nothing was done: {self.says}. {self.then}")


def find() -> str:
    """LOOSELEAF_HOME, else the nearest `.looseleaf` upward from here, or the memory that one is in, else the one at
    home."""
    home = os.environ.get("LOOSELEAF_HOME")
    if home:
        return home
    try:
        here = os.getcwd()
    except FileNotFoundError:
        raise Refused(
            "Nothing was done: the folder you are in is gone. Go to another, or name one: --memory PATH."
        ) from None
    for folder in (here, *above(here)):
        found = os.path.join(folder, ".looseleaf")
        if os.path.isdir(found):
            return _own(found)
        if _has_journal(os.path.join(folder, "log")):
            return _own(folder)
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise Refused(
            "Nothing was done: there is no home folder to look for a memory in. Name one: --memory PATH."
        )
    return os.path.join(home, ".looseleaf")


def _has_journal(log: str) -> bool:
    """Whether a folder `log` holds a journal of ours: others may have files of that name."""
    for name in ("journal.jsonl", os.path.join("archive", "000001.jsonl")):
        try:
            with open(os.path.join(log, name), "rb") as file:
                if _OURS.match(file.read(_BEGINNING)):
                    return True
        except OSError:
            continue
    return False


def _own(path: str) -> str:
    """A memory that was found, not named, must be the user's own: another's could tell the agent anything."""
    owner = getattr(os, "getuid", None)
    if owner is not None and os.stat(path).st_uid != owner():
        raise Refused(
            f"Nothing was done: the memory nearest to here, {path}, belongs to somebody else. "
            f"If you trust it, name it: --memory {path}"
        )
    return path


def above(path: str) -> Iterator[str]:
    """The folders over a path, nearest first."""
    while True:
        folder = os.path.dirname(path)
        if folder == path:
            return
        yield folder
        path = folder


def is_memory(path: str) -> bool:
    """Whether a journal was ever begun there. An empty one is what a crash left of making the memory; where the log
    holds anything else, it was lost."""
    log = os.path.join(path, "log")
    try:
        if os.lstat(os.path.join(log, "journal.jsonl")).st_size > 0:
            return True
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:  # it may be one: what cannot be looked at is not absent
        raise Unreadable(
            f"{path} was not opened ({getattr(error, 'strerror', None) or error}). "
            "Give the path of a folder that you may read."
        ) from error
    if os.path.isdir(os.path.join(log, "archive")):
        return True
    if any(_holds_files(os.path.join(log, name)) for name in ("traces", "entries")):
        raise JournalLost(path)
    return False


def _holds_files(folder: str) -> bool:
    """Whether anything was ever written below a folder: files with bytes in them, two or three folders down."""
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except OSError:
        return False
    return any(
        _holds_files(entry.path)
        if entry.is_dir(follow_symlinks=False)
        else entry.stat(follow_symlinks=False).st_size > 0
        for entry in found
    )


def settings(path: str, agent: str | None = None) -> Policy:
    """The policy of the memory at a path: the defaults, with what its settings file changes (for an agent)."""
    file = os.path.join(path, SETTINGS)
    if not os.path.lexists(file):
        return Policy()
    import tomllib

    with FileStore(path) as store:  # by the same door as a page: no link, no pipe that would never answer
        settings = store.get(SETTINGS, Policy().page_bytes)
    try:
        return policy_from(tomllib.loads(settings.data.decode() if settings else ""), file, agent)
    except (ValueError, RecursionError) as error:
        raise Refused(
            f"The memory was not opened: {file} could not be read ({error}). Mend it, or delete it to use the defaults."
        ) from error


# Making a memory of a folder: the skeleton, a first record in the journal, and nothing else.

PRIVATE = "PROJECT.local.md\nlog/\nviews/\nreview/\n"
"""The .gitignore of a memory: what is private stays out of a shared repository."""

_IGNORE = ".gitignore"
_FOLDERS = (*DRAWERS, "log", "views")
_SKELETON = frozenset({*_FOLDERS, _IGNORE, SETTINGS})
"""What a folder may hold that becomes a memory unasked: a memory half made, or settings that were written first."""


def init_if_free(path: str) -> None:
    """Make a memory of a folder that is missing, empty, half made or only has settings; no other is taken unasked."""
    # Asked twice: somebody may have made it, and written to it, between the two questions.
    if _holds_other_things(path) and not is_memory(path):
        raise Refused(
            f"{path} was not opened: it is not a memory, and it is not empty. "
            f"To make it one, run: looseleaf init {path}"
        )
    init(path)


def _holds_other_things(path: str) -> bool:
    """Whether a folder is in use for something else; a memory that is being made in this moment is not."""
    try:
        names = os.listdir(path)
        drawers = (os.path.join(path, drawer) for drawer in DRAWERS if drawer in names)
        return not _SKELETON.issuperset(names) or any(map(os.listdir, drawers))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Refused(
            f"{path} was not opened ({error.strerror}). Give the path of a folder that you may read."
        ) from error


def init(path: str) -> bool:
    """Make a memory of a folder; False if it was one. Files that are there stay as they are."""
    if is_memory(path):
        return False
    for folder in above(os.path.realpath(path)):
        if _is_known_memory(folder):
            raise Refused(
                f"{path} was not made a memory: it lies inside the memory {folder}, and memories do not nest. "
                "Choose a folder outside it."
            )
    if os.path.lexists(path) and not os.path.isdir(path):
        raise Refused(f"{path} was not made a memory: it is no folder. Choose one.")
    below = _memory_below(path)
    if below is not None:
        raise Refused(
            f"{path} was not made a memory: {below} in it is one, and memories do not nest. Choose another folder."
        )
    with FileStore.make(path) as store:
        store.furnish(_FOLDERS, {_IGNORE: PRIVATE.encode()})
        _begin(store)
    return True


def begin_again(path: str) -> list[str]:
    """Where the journal was lost, begin a new one: the next command takes the pages as they are. Says what was done."""
    try:
        is_memory(path)
        return []
    except JournalLost:
        pass
    with FileStore(path) as store:
        _begin(store)
    return [_BEGUN]


_BEGUN = (
    "log/journal.jsonl was gone or empty, and a new one is begun: pages and talk are as they were, who changed what "
    "before is lost. `looseleaf distill` reads again what was said."
)


def _begin(store: FileStore) -> None:
    record: Record = {"schema": SCHEMA, "id": new_id(), "ts": clock.now(), "kind": "init"}
    with store.lock():
        if next(store.read(JOURNAL), None) is None:
            store.append(JOURNAL, [record])


def _memory_below(path: str) -> str | None:
    """A memory directly in a folder. Deeper ones are not looked for: the folder may be somebody's whole disk."""
    try:
        with os.scandir(path) as entries:
            folders = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return None  # not there yet, or nothing that could be looked into: making it will say so
    return next((folder for folder in folders if _is_known_memory(folder)), None)


def _is_known_memory(path: str) -> bool:
    """Of other folders than the one that is to be made: what may not be looked at is not in the way."""
    try:
        return is_memory(path)
    except JournalLost:
        return True
    except Unreadable:
        return False
