"""The folder of a memory: find it, tell whether it is one, read its settings, make one, open its store.

Where an address is given, the memory is in a database, and `in_database.py` does the same.
Invariant: no folder that holds other files becomes a memory unless a person asks for it.
"""

from __future__ import annotations

import os
import re

from looseleaf.base import ids as clock
from looseleaf.base.errors import Invalid, NotFound, Refused, Unreadable
from looseleaf.base.ids import new_id
from looseleaf.base.paths import DRAWERS, SETTINGS, is_address
from looseleaf.base.policy import Policy
from looseleaf.log.journal import SCHEMA
from looseleaf.store import JOURNAL
from looseleaf.store.files import FileStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.base.values import Record
    from looseleaf.store.protocol import OpenStore

NAME = ".looseleaf"
"""The name of a project's memory, and of the home memory."""

_OURS = re.compile(rb' ?\{"schema": ?"(?:journal|lost|gone)\.v[0-9]+"')
_FIRST_BYTES = 64
"""Bytes by which a journal is recognized."""


class JournalLost(Unreadable):
    """A memory whose journal is gone: the talk is there, but not who changed what."""

    def __init__(self, path: str) -> None:
        self.says = (
            f"{path} is a damaged memory: its log has what was said, but log/journal.jsonl is gone or empty"
        )
        self.then = (
            "Put a copy of that file back, from an export or a backup. Without one, `looseleaf repair` begins a new "
            "journal: pages and talk stay, who changed what and why is lost."
        )
        super().__init__(f"Nothing was done: {self.says}. {self.then}")


class NotDownloaded(Unreadable):
    """A memory whose journal is in the cloud only."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"Nothing was done: the journal of {path} is not downloaded; iCloud left a stub in its place. Download the "
            "folder (in the Finder: Download Now), and repeat this."
        )


class LogGone(Unreadable):
    """A memory whose log is gone: only the pages are there."""

    def __init__(self, path: str) -> None:
        self.says = (
            f"{path} is a memory without its log: pages are there, and log/ is gone or empty, with what was said and "
            "who changed what"
        )
        self.then = (
            "Put log/ back, from an export or a backup: git does not keep it, and `git clean -x` removes it. Without a "
            f"copy, or in a fresh clone, `looseleaf init {path}` begins a new log, with the pages as they are."
        )
        super().__init__(f"Nothing was done: {self.says}. {self.then}")


def open_store(
    where: str, policy: Policy | None = None, machine: str | None = None, *, reads_only: bool = False
) -> OpenStore:
    """Open the store of a memory that exists. `machine`: see `FileStore`."""
    if is_address(where):
        from looseleaf.pages import in_database

        return in_database.open_store(where, policy, reads_only=reads_only)
    if not reads_only:
        return FileStore(where, policy, machine=machine)
    from looseleaf.store.read_only import ReadStore

    return ReadStore(where, policy, machine=machine)


def find() -> str:
    """Return where the memory is: LOOSELEAF_HOME, else the nearest `.looseleaf` or memory upward from here, else
    `~/.looseleaf`."""
    home = os.environ.get("LOOSELEAF_HOME")
    if home:
        return os.path.expanduser(home)
    try:
        here = os.getcwd()
    except FileNotFoundError:
        why = "The current folder is gone. Change to another, or name a memory: --memory PATH."
        raise NotFound(why) from None
    for folder in (here, *above(here)):
        found = os.path.join(folder, NAME)
        if os.path.isdir(found):
            return _require_own(found)
        if _has_journal(os.path.join(folder, "log")):
            return _require_own(folder)
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise NotFound("There is no home folder to look for a memory in. Name one: --memory PATH.")
    return os.path.join(home, NAME)


def is_home(path: str) -> bool:
    """True if a folder is the home memory's, `~/.looseleaf`."""
    return os.path.realpath(path) == os.path.realpath(home_path())


def home_path() -> str:
    return os.path.join(os.path.expanduser("~"), NAME)


def is_at_home(path: str) -> bool:
    """True if a folder is the home memory's, and `~/.looseleaf` is no link to a folder elsewhere."""
    return os.path.realpath(path) == os.path.join(os.path.realpath(os.path.expanduser("~")), NAME)


def is_projects(path: str) -> bool:
    """True if a memory is a project's, under whatever name it is opened: a `.looseleaf` that is not the home memory."""
    return not is_address(path) and os.path.basename(os.path.realpath(path)) == NAME and not is_home(path)


def _has_journal(log: str) -> bool:
    """True if a folder `log` has a looseleaf journal: other programs may use that name too."""
    for name in ("journal.jsonl", "archive/000001.jsonl"):
        try:
            with open(os.path.join(log, name), "rb") as file:
                if _OURS.match(file.read(_FIRST_BYTES)):
                    return True
        except OSError:
            continue
    return False


def _require_own(path: str) -> str:
    """Refuse a memory that was found, not named, if another user owns it: it could tell the agent anything."""
    if os.stat(path).st_uid != os.getuid():
        raise Refused(
            f"The nearest memory, {path}, belongs to another user. If you trust it, name it: --memory {path}"
        )
    return path


def above(path: str) -> Iterator[str]:
    """Yield the folders above a path, nearest first."""
    while (folder := os.path.dirname(path)) != path:
        yield folder
        path = folder


def is_memory(path: str) -> bool:
    """True if the folder has a journal. An empty one is left by a crash while making the memory; if the log holds
    anything else, the journal was lost."""
    if is_address(path):
        from looseleaf.pages import in_database

        return in_database.is_memory(path)
    log = os.path.join(path, "log")
    if os.path.lexists(os.path.join(log, ".journal.jsonl.icloud")):
        raise NotDownloaded(path)
    try:
        if os.lstat(os.path.join(log, "journal.jsonl")).st_size > 0:
            return True
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:  # unreadable is not absent: it may be one
        raise Unreadable(
            f"{path} was not opened ({getattr(error, 'strerror', None) or error}). "
            "Give the path of a folder that you may read."
        ) from error
    if os.path.isdir(os.path.join(log, "archive")):
        return True
    if any(_has_files(os.path.join(log, name)) for name in ("traces", "entries")):
        raise JournalLost(path)
    return False


def _has_files(folder: str) -> bool:
    """True if any file below a folder has bytes."""
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except OSError:
        return False
    return any(
        _has_files(entry.path)
        if entry.is_dir(follow_symlinks=False)
        else entry.stat(follow_symlinks=False).st_size > 0
        for entry in found
    )


def settings(path: str, agent: str | None = None) -> Policy:
    """Return the policy of the memory at a path: the defaults with its settings file's changes (for an agent)."""
    if is_address(path):
        from looseleaf.pages import in_database

        return in_database.settings(path, agent)
    file = os.path.join(path, SETTINGS)
    if not os.path.lexists(file):
        return Policy()
    from looseleaf.pages.read_settings import read_settings

    with FileStore(path) as store:  # read like a page: no link, no pipe that would block
        return read_settings(store, file, agent)


# --- making a memory: the skeleton and a first record in the journal ---------------------

PRIVATE = "PROJECT.local.md\nlog/\nviews/\nreview/\n"
"""The .gitignore of a memory: private files stay out of a shared repository."""

LOG_ITSELF = ("log/", "log", "/log/", "/log")
"""How a .gitignore says that the log stays out."""

_OF_THE_MOMENT = ("lock", "turn", "writer", "forgetter", "forgetting.json", "staged/", "aside/")
PRIVATE_BUT_LOG = "PROJECT.local.md\nviews/\nreview/\n" + "".join(
    f"{log}/{name}\n" for log in ("log", "log/on/*") for name in _OF_THE_MOMENT
)
"""The same where a person wants the log in the repository: locks and what is under way stay out."""

_IGNORE = ".gitignore"
_FOLDERS = (*DRAWERS, "log", "views")
_SKELETON = frozenset({*_FOLDERS, _IGNORE, ".gitattributes", SETTINGS})
"""Names that a folder may hold and still become a memory unasked: a half-made one, or settings written first."""


def refuse_lost_log(path: str) -> None:
    """Refuse a folder that is no memory any more because its log is gone."""
    if has_lost_log(path):
        raise LogGone(path)


def init_if_free(path: str) -> None:
    """Make a memory of a folder that is missing, empty, half made or only has settings; refuse any other."""
    refuse_lost_log(path)
    # Check both: another process may make it, and write to it, between the two checks.
    if _is_in_use(path) and not is_memory(path):
        raise Refused(
            f"{path} was not opened: it is not a memory, and it is not empty. "
            f"To make it one, run: looseleaf init {path}"
        )
    init(path)


def has_lost_log(path: str) -> bool:
    """True if a folder was made a memory, and has no log, or no journal and no talk in it. A memory is made with its
    log before its `.gitignore`, and with its journal before its first page."""
    try:
        names = os.listdir(path)
    except OSError:
        return False
    if not (_ignores(path, PRIVATE) or shares_log(path)):
        return False
    if "log" in names:
        return _is_in_use(path) and not is_memory(path)  # in this order: another process may be making it
    return not _SKELETON.issuperset(names) or not set(DRAWERS).isdisjoint(names)


def shares_log(path: str) -> bool:
    """True if the log of a memory is to be in a repository (`init --git-log`)."""
    return _ignores(path, PRIVATE_BUT_LOG) and not _ignores(path, PRIVATE)


def _ignores(path: str, lines: str) -> bool:
    """True if the .gitignore of a folder has all of these lines."""
    return set(lines.encode().split(b"\n")) <= {*_read_ignored(path), b""}


def find_unignored(path: str) -> list[str]:
    """Return the lines that the .gitignore of a memory lacks to keep private files out of git, however it is spelled.
    One that a person wrote before is left as it is."""
    ignored = {line.strip().strip(b"/") for line in _read_ignored(path)}
    lines = (PRIVATE_BUT_LOG if shares_log(path) else PRIVATE).split()
    return [] if b"*" in ignored else [each for each in lines if each.strip("/").encode() not in ignored]


def _read_ignored(path: str) -> list[bytes]:
    try:
        with open(os.path.join(path, _IGNORE), "rb") as file:
            return file.read(_FIRST_BYTES * 64).split(b"\n")
    except OSError:
        return []


def _is_in_use(path: str) -> bool:
    """True if a folder is used for something else; a memory being made right now is not."""
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
    """Make a memory of a folder; False if it already is one. Existing files stay as they are."""
    if is_address(path):
        from looseleaf.pages import in_database

        return in_database.init(path)
    if is_memory(path):
        return False
    for folder in above(os.path.realpath(path)):
        if _is_known_memory(folder):
            raise Invalid(
                f"{path} was not made a memory: it lies inside the memory {folder}, and memories do not nest. "
                "Choose a folder outside it."
            )
    if os.path.lexists(path) and not os.path.isdir(path):
        raise Invalid(f"{path} was not made a memory: it is not a folder. Choose one.")
    below = _memory_below(path)
    if below is not None:
        raise Invalid(
            f"{path} was not made a memory: {below} in it is one, and memories do not nest. Choose another folder."
        )
    with FileStore.make(path) as store:
        store.furnish(_FOLDERS, {_IGNORE: PRIVATE.encode()})
        _begin_journal(store, is_new=True)
    return True


def has_pages(path: str) -> bool:
    """True if a memory has a page."""
    from looseleaf.pages.outside_edits import page_files

    store = open_store(path)
    try:
        return next(page_files(store), None) is not None
    finally:
        store.close()


def begin_again(path: str) -> list[str]:
    """Begin a new journal where it was lost, and report it; the next command takes the pages as they are."""
    try:
        is_memory(path)
        return []
    except JournalLost:
        with FileStore(path) as store:
            _begin_journal(store)
        begun = (
            "log/journal.jsonl was gone or empty, and a new one is begun: pages and talk are as they were, who changed "
            "what before is lost. `looseleaf distill` reads the talk again."
        )
        return [begun]


def _begin_journal(store: FileStore, *, is_new: bool = False) -> None:
    """Begin the journal. In a new memory without a page, everything that comes is explained by it (FORMAT §5.4)."""
    from looseleaf.pages.outside_edits import Heads, page_files

    record: Record = {"schema": SCHEMA, "id": new_id(), "ts": clock.now(), "kind": "init"}
    record["machine"] = store.machine
    with store.lock():
        if next(store.read(JOURNAL), None) is None:
            if is_new and next(page_files(store), None) is None:
                heads = Heads(store)
                heads.prove()
                heads.save()
            store.append(JOURNAL, [record])


def _memory_below(path: str) -> str | None:
    """Return a memory directly in a folder. It looks no deeper: the folder may be a whole disk."""
    try:
        with os.scandir(path) as entries:
            folders = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return None  # missing or unreadable: making it will report that
    return next((folder for folder in folders if _is_known_memory(folder)), None)


def _is_known_memory(path: str) -> bool:
    """True if another folder is a memory; an unreadable one is not in the way."""
    try:
        return is_memory(path)
    except JournalLost:
        return True
    except Unreadable:
        return False
