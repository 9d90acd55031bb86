"""Making a memory of a folder: the skeleton, a first record in the journal, and nothing else."""

from __future__ import annotations

import os

from looseleaf.base import clock
from looseleaf.base.errors import Refused, Unreadable
from looseleaf.base.ids import new_id
from looseleaf.base.page_paths import DRAWERS
from looseleaf.log.heads import SCHEMA
from looseleaf.pages.folder import SETTINGS, JournalLost, above, is_memory
from looseleaf.store import JOURNAL
from looseleaf.store.files import FileStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Record

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
