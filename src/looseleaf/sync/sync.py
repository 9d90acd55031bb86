"""Sync with a folder, a git remote or an rsync target: which of them, the name of the place tells."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import closing, suppress
from shlex import quote
from tempfile import TemporaryDirectory

from looseleaf.base.errors import Busy, Invalid, NotFound, Refused
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.paths import is_address
from looseleaf.base.values import sha256
from looseleaf.facts.changes import compare_facts
from looseleaf.store.context import shown_name
from looseleaf.sync.carried import is_carried
from looseleaf.sync.exchange import Exchange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looseleaf.base.values import Fact
    from looseleaf.sync.exchange import Exchanged, Merge, Needs

BRANCH = "main"
_URL = re.compile(r"(?:https?|ssh|git|file)://.+|(?:[^/:\s]+@)?[^/:\s]{2,}:.*\.git/?")
_HOST = re.compile(r"(?:[^/:@\s]+@)?[^/:@\s]{2,}:.*")


@frozen
class Synced:
    """What a sync did. `kind`: folder, git or rsync.

    What came: facts that were added here, replaced (each with the one that took its place), ended and contested; how
    many facts went because another machine forgot them; turns; pages that people had edited there; `pages`, all that
    are different here now, with the state. What went: the files that were put or removed there. `left` has a sentence
    on each file that was left alone. `was_missing`: there was no such folder, and it was made. `is_dry`: all of this
    only would be done.
    """

    where: str
    kind: str
    is_new: bool
    added: tuple[Fact, ...]
    replaced: tuple[tuple[Fact, Fact], ...]
    ended: tuple[Fact, ...]
    contested: tuple[Fact, ...]
    forgotten: int
    turns: int
    edited: tuple[str, ...]
    files: tuple[str, ...]
    left: tuple[str, ...]
    pages: tuple[str, ...] = ()
    was_missing: bool = False
    is_dry: bool = False

    @property
    def is_nothing(self) -> bool:
        """True if both were equal before."""
        facts = self.added or self.replaced or self.ended or self.contested or self.forgotten
        return not (facts or self.turns or self.edited or self.pages or self.files)

    def to_dict(self) -> dict[str, Any]:
        came: dict[str, Any] = {
            name: [fact.to_dict() for fact in getattr(self, name)] for name in ("added", "ended", "contested")
        }
        came["replaced"] = [{"old": old.to_dict(), "new": new.to_dict()} for old, new in self.replaced]
        came |= {"forgotten": self.forgotten, "turns": self.turns}
        came |= {"edited": list(self.edited), "pages": list(self.pages)}
        told = {"where": self.where, "kind": self.kind, "new": self.is_new, "came": came}
        return told | {"went": {"files": list(self.files)}, "left": list(self.left), "dry_run": self.is_dry}


def kind_of(where: str) -> tuple[str, str]:
    """Return what kind of place this names, and its address for the program that carries the files."""
    kind, colon, rest = where.partition(":")
    if colon and kind in ("git", "rsync") and not rest.startswith("//"):
        found = kind, rest
    elif where.startswith("rsync://"):
        found = "rsync", where
    elif os.path.isdir(os.path.expanduser(where)):
        is_bare = all(
            os.path.exists(os.path.join(os.path.expanduser(where), each)) for each in ("HEAD", "objects")
        )
        found = ("git" if is_bare else "folder"), where
    elif _URL.fullmatch(where):
        found = "git", where
    else:
        found = ("rsync" if _HOST.fullmatch(where) else "folder"), where
    address = found[1]
    if not address.strip() or address.startswith("-") or "::" in address or not address.isprintable():
        raise Invalid(
            f"Nothing was synced: {where!r} is no place to sync with. Give a folder, a git remote, or host:path."
        )
    return found


def sync(
    parts: Needs,
    merge: Merge,
    where: str | None = None,
    branch: str = BRANCH,
    *,
    new_branch: bool = False,
    join: bool = False,
    home: str | None = None,
) -> Synced:
    """Make this memory and a copy elsewhere equal. Without a place: the one in the settings. `join`: also if the place
    holds a memory that this one never met. `home`: the memory of which this one is a trial; then nothing is written to
    the place either."""
    given = where if where is not None else parts.context.policy.sync
    if given is None:
        raise Invalid(
            'Nothing was synced: no place was named. Give one, or set it in looseleaf.toml: sync = "/media/stick/notes"'
        )
    memory = home or parts.files.path
    if is_address(given):
        raise Refused(
            f"Nothing was synced: {shown_name(given)} is in a database, to which all machines write at once. "
            "`looseleaf move` puts a memory there."
        )
    kind, address = kind_of(given)
    is_local = kind == "folder" or ":" not in address.partition("/")[0]
    if is_local:
        start = memory if where is None else os.getcwd()
        address = os.path.normpath(os.path.join(start, os.path.expanduser(address)))
    was_missing = False
    if is_local and kind != "git":
        _refuse_nesting(memory, address)
        was_missing = _refuse_missing(address, kind)
    parts.pages.absorb.by_files()  # a fact that a person wrote here did not come from there
    before, pages = parts.notebook.facts(), _versions(parts)
    exchanges: list[Exchange] = []

    def exchange(folder: str) -> Exchanged:
        is_shared = kind == "folder" and home is None
        exchanges.append(Exchange(parts, merge, folder, given, is_shared=is_shared, joins=join))
        return exchanges[-1].run()

    if kind == "folder":
        if home is None:
            done = exchange(address)
        else:
            if not was_missing:
                with closing(Exchange(parts, merge, address, given)) as looked_at:
                    looked_at.refuse_foreign()
            with TemporaryDirectory(prefix="looseleaf-") as folder:
                _copy_carried(address, folder)
                done = exchange(folder)
    else:
        done, was_missing = _with_program(
            parts, kind, address, branch, exchange, new_branch=new_branch, dry_run=home is not None
        )
    told = compare_facts(before, parts.notebook.facts(), {fact.id for fact in parts.known.all()})
    return Synced(
        given,
        kind,
        done.is_new,
        **members_of(told),
        turns=sum(each.turns for each in exchanges),
        edited=tuple(dict.fromkeys(path for each in exchanges for path in each.edited)),
        files=done.files,
        left=done.left,
        pages=tuple(sorted({path for path, _ in pages ^ _versions(parts)})),
        was_missing=was_missing,
        is_dry=home is not None,
    )


def _versions(parts: Needs) -> set[tuple[str, str | None]]:
    """Return the pages, each with the hash of what it says."""
    return {(path, head.sha256) for path, head in parts.pages.absorb.heads.pages.items() if head.sha256}


def _copy_carried(source: str, target: str) -> None:
    """Copy the logs and pages of a place, to be changed and thrown away."""
    for above, _, names in os.walk(source):
        for name in names:
            full = os.path.join(above, name)
            path = os.path.relpath(full, source)
            if is_carried(path.replace(os.sep, "/")) and not os.path.islink(full):
                os.makedirs(os.path.join(target, os.path.dirname(path)), exist_ok=True)
                with suppress(FileNotFoundError):  # another process replaced it just now
                    shutil.copyfile(full, os.path.join(target, path))


def _with_program(
    parts: Needs,
    kind: str,
    address: str,
    branch: str,
    exchange: Callable[[str], Exchanged],
    *,
    new_branch: bool,
    dry_run: bool,
) -> tuple[Exchanged, bool]:
    """Exchange with a copy that git or rsync carries. Return what the last exchange did, and whether the place was
    missing."""
    mirror = parts.files.locate(f"views/sync/{sha256(f'{kind} {address} {branch}'.encode())[:16]}")
    with parts.files.claim("views/sync.lock") as is_alone:
        if not is_alone:
            raise Busy(
                "Nothing was synced: another process is syncing this memory. Wait for it, and repeat the command."
            )
        while True:
            edition = parts.files.edition()
            try:
                if kind == "git":
                    from looseleaf.sync.git_remote import GitRemote

                    remote = GitRemote(address, branch, mirror, parts.files.machine, is_new=new_branch)
                    return remote.run(exchange, dry_run=dry_run), False
                from looseleaf.sync.rsync_target import RsyncTarget

                target = RsyncTarget(address, mirror)
                return target.run(exchange, dry_run=dry_run), target.was_missing
            except Refused:
                if parts.files.edition() == edition:
                    raise
                # Something was forgotten meanwhile, here or by what came: all views went with it, and this is one.


def _refuse_missing(folder: str, kind: str) -> bool:
    """Refuse a place that was probably meant to be there. Return whether the folder is missing, and may be made."""
    if os.path.exists(folder):
        return False
    above = os.path.dirname(folder)
    if not os.path.isdir(above):
        raise NotFound(
            f"Nothing was synced: there is no folder {above}, so {os.path.basename(folder)} is not made in it. If it "
            "is on a disk, connect that; if not, correct the name, or make the folder."
        )
    if kind == "folder" and folder.endswith(".git"):
        raise NotFound(
            f"Nothing was synced: there is no git repository {folder}. `git init --bare {quote(folder)}` makes an "
            "empty one."
        )
    return True


def _refuse_nesting(memory: str, folder: str) -> None:
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise Invalid(
            f"Nothing was synced: {folder} is no folder. Give a folder, a git remote, or host:path."
        )
    one, other = os.path.realpath(memory), os.path.realpath(folder)
    if os.path.commonpath((one, other)) in (one, other):
        how = "is this memory itself" if one == other else "lies in this memory, or around it"
        raise Invalid(f"Nothing was synced: {folder} {how}. Give another folder.")
