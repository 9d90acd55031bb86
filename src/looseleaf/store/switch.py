"""Many files replaced and removed as one act (FORMAT §17.4): what is new is made ready aside, one small file says that
it counts, then it is put in place. A crash before that file leaves all as it was; after it, whoever opens the memory
next puts the rest in place. Only forgetting needs this: everything else appends.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.hashing import sha256, sha256_or_none
from looseleaf.base.immutable import frozen
from looseleaf.store import records
from looseleaf.store.root import PLAN, STAGED, is_committed, remove_staged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.values import Record
    from looseleaf.store.root import Root

SCHEMA = "forgetting.v1"
SUFFIX = "forget"
_VIEWS = "views"


@frozen
class Put:
    """Bytes that become a file, and, of a page, the hash of what they replace: a save that came since stays."""

    path: str
    data: bytes
    base: str | None = None
    is_page: bool = False


@frozen
class Removal:
    """A file that goes. Of a page: only if it still has this hash."""

    path: str
    base: str | None = None


def switch(root: Root, name: str, puts: Sequence[Put], removals: Sequence[Removal]) -> None:
    """Under the lock. Everything is on disk before it counts; `name` is an id."""
    folder = f"{STAGED}/{name}.{SUFFIX}"
    root.make(STAGED)
    root.make(folder, durable=False)
    try:
        rows = []
        for number, put in enumerate(puts):
            root.stage(f"{name}.{SUFFIX}/{number:06d}", put.data)
            rows.append([f"{number:06d}", put.path, sha256(put.data), put.base, put.is_page])
        root.sync(folder, STAGED)
        plan: Record = {"schema": SCHEMA, "id": name, "put": rows}
        plan["remove"] = [[each.path, each.base] for each in removals]
        root.replace(PLAN, records.encode(plan))
    except BaseException:
        if not is_committed(root):
            remove_staged(root, folder)
        raise
    finish(root)


def finish(root: Root) -> None:
    """Put in place what a committed switch made ready; done again, it does the rest. Under the lock."""
    plan = records.whole(root.read(PLAN) or b"")
    if plan.get("schema") != SCHEMA:
        raise Refused(
            f"Nothing was done: {PLAN} is damaged, so a forgetting that was interrupted cannot be completed. "
            "Restore the memory from a copy, or delete that file and run `looseleaf check`."
        )
    folder = f"{STAGED}/{plan['id']}.{SUFFIX}"
    ready = set(root.names(folder))
    touched: set[str] = {"log"}
    for name, path, digest, base, is_page in plan["put"]:
        above = path.rpartition("/")[0]
        if name in ready:
            root.make(above)
            if not is_page or sha256_or_none(root.read(path)) in (base, digest):
                with root.parent(f"{folder}/{name}") as (source, old), root.parent(path) as (target, new):
                    root.disk.rename(source, old, target, new)
        touched.add(above)
    for path, base in plan["remove"]:
        touched |= _remove(root, path, base)
    remove_tree(root, _VIEWS)
    for above in sorted(touched, key=len, reverse=True):
        try:
            root.sync(above)
        except FileNotFoundError:
            pass  # it went, with all that was in it; the folder above it is synced
    with root.folder("log") as log:
        root.disk.unlink(log, PLAN.rpartition("/")[2])
        root.disk.sync(log)
    remove_staged(root, folder)


def _remove(root: Root, path: str, base: str | None) -> set[str]:
    """The folders that are to be synced; those of entries go when they are empty."""
    above, _, name = path.rpartition("/")
    try:
        if base is not None and sha256_or_none(root.read(path)) != base:
            return set()
        with root.folder(above) as folder:
            root.disk.unlink(folder, name)
    except FileNotFoundError:
        pass  # a crash came after it
    touched = {above}
    while above.startswith("log/entries/") and not root.names(above):
        above, _, name = above.rpartition("/")
        touched.add(above)
        try:
            with root.folder(above) as folder:
                root.disk.rmdir(folder, name)
        except FileNotFoundError:
            pass
    return touched


def remove_tree(root: Root, folder: str) -> None:
    """A folder of ours with all that is in it. What is a link goes, and not what it leads to."""
    for name in root.names(folder):
        path = f"{folder}/{name}"
        with root.folder(folder) as fd:
            try:
                root.disk.unlink(fd, name)
                continue
            except FileNotFoundError:
                continue  # SQLite removes files of its own
            except OSError:
                pass  # a folder
        remove_tree(root, path)
        with root.folder(folder) as fd:
            try:
                root.disk.rmdir(fd, name)
            except FileNotFoundError:
                pass
