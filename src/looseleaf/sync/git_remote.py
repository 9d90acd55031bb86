"""A git remote as a copy of the memory: one branch, whose files are those of the memory's folder.

Git keeps the objects in a repository without a work tree; which of its files are written out, and where, is decided
here. So nothing that the remote says (attributes, filters, hooks, links, submodules) has any effect. What came is
exchanged with the memory and committed on top of what was there. If another machine pushed first, git refuses the push,
and everything is done again on top of what is there then.
"""

from __future__ import annotations

import hashlib
import os
from functools import cached_property

from looseleaf.base.errors import NotFound, Refused
from looseleaf.sync.carried import is_carried
from looseleaf.sync.programs import Failed, files_below, make_private, prune, remove, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.sync.exchange import Exchanged

TRIES = 8
_GIT = (
    *(
        "git",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "protocol.ext.allow=never",
        "-c",
        "core.fsmonitor=false",
    ),
    *("-c", "fetch.fsckObjects=true", "-c", "gc.auto=0", "-c", "core.autocrlf=false"),
)
_HEADS = "refs/heads/"
_THERE = "refs/looseleaf/there"
_SHOWN = 5
"""Branches that a message names."""
_FILES = ("100644", "100755")


class GitRemote:
    """`mirror` is a folder of this machine's own, which may be removed at any time. `is_new`: the branch may be begun
    beside others."""

    def __init__(self, url: str, branch: str, mirror: str, machine: str, *, is_new: bool = False) -> None:
        self._url, self._branch, self._machine = url, f"{_HEADS}{branch}", machine
        self._is_new = is_new
        self._mirror = mirror
        self._repository = os.path.join(mirror, "objects")
        self._tree = os.path.join(mirror, "tree")
        self._check_branch(branch)

    def run(self, exchange: Callable[[str], Exchanged], *, dry_run: bool = False) -> Exchanged:
        """Exchange until the remote has what came of it; return what the last exchange did. `dry_run`: send nothing."""
        for _ in range(TRIES):
            there = self._find_head()
            try:
                self._lay_out(there)
            except (Failed, OSError):  # a mirror that is damaged is made again
                remove(self._mirror)
                self._lay_out(there)
            done = exchange(self._tree)
            if dry_run:
                return done
            made = self._commit(there, done.files)
            if made is None or self._push(there, made):
                return done
        raise Refused(
            f"What {self._url} has is here now, but nothing was sent: others kept sending to it. Sync again."
        )

    def _git(self, *words: str, data: bytes = b"", env: dict[str, str] | None = None) -> bytes:
        make_private(self._tree)
        given = {"GIT_DIR": self._repository, "GIT_INDEX_FILE": os.path.join(self._mirror, "index")}
        return run((*_GIT, *words), cwd=self._tree, env=given | (env or {}), data=data).stdout

    def _check_branch(self, branch: str) -> None:
        try:
            self._git("check-ref-format", "--branch", branch)
        except Failed:
            raise Refused(f"Nothing was synced: {branch!r} cannot be the name of a branch.") from None

    def _find_head(self) -> str | None:
        """Return the last commit of the branch there."""
        try:
            rows = self._git("ls-remote", "-q", "--heads", "--", self._url).decode().split("\n")
        except Failed as failed:
            again = " Sync again." if failed.may_pass else ""
            raise Refused(f"Nothing was synced with {self._url}: {failed}.{again}") from failed
        heads = {name: head for head, _, name in (row.partition("\t") for row in rows) if name}
        if heads and self._branch not in heads and not self._is_new:
            names = sorted(name.removeprefix(_HEADS) for name in heads)
            told = f"{', '.join(names[:_SHOWN])}{' and others' if names[_SHOWN:] else ''}"
            raise NotFound(
                f"Nothing was synced: {self._url} has no branch {self._branch.removeprefix(_HEADS)}. It has {told}: "
                "--branch takes one of them. --new-branch begins a second copy of the memory on a branch of its own."
            )
        return heads.get(self._branch)

    # --- what came ---------------------------------------------------------------------------

    def _lay_out(self, there: str | None) -> None:
        """Write out those files of a commit that are carried, and no others."""
        if not os.path.isdir(os.path.join(self._repository, "refs")):
            self._git("init", "-q", "--bare", "--template=", "--", self._repository)
        wanted: dict[str, str] = {}
        if there is not None:
            self._git("fetch", "-q", "--no-tags", "--depth=1", "--", self._url, f"+{self._branch}:{_THERE}")
            for row in self._git("ls-tree", "-r", "-z", "--full-tree", there).split(b"\0")[:-1]:
                about, _, raw = row.partition(b"\t")
                mode, _, name = about.decode().split(" ")
                path = os.fsdecode(raw)
                if mode in _FILES and is_carried(path):
                    wanted[path] = name
        prune(self._tree, wanted)
        present = {path: self._name_of(path, len(there or "")) for path in files_below(self._tree)}
        self._write({path: name for path, name in wanted.items() if present.get(path) != name})

    def _name_of(self, path: str, length: int) -> str:
        """Return the name that git gives the bytes of a file."""
        with open(os.path.join(self._tree, path), "rb") as file:
            data = file.read()
        made = hashlib.sha256() if length == 64 else hashlib.sha1(usedforsecurity=False)
        made.update(b"blob %d\0" % len(data) + data)
        return made.hexdigest()

    def _write(self, wanted: dict[str, str]) -> None:
        import subprocess
        from tempfile import TemporaryFile

        if not wanted:
            return
        with TemporaryFile() as names:
            names.write("".join(f"{name}\n" for name in wanted.values()).encode())
            names.seek(0)
            command = ("git", f"--git-dir={self._repository}", "cat-file", "--batch")
            with subprocess.Popen(
                command, stdin=names, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as git:
                assert git.stdout is not None
                for path in wanted:
                    head = git.stdout.readline().split()
                    if len(head) != 3 or head[1] != b"blob":
                        raise Failed("git", b"it has lost an object")
                    data = git.stdout.read(int(head[2]))
                    git.stdout.read(1)
                    self._put(path, data)

    def _put(self, path: str, data: bytes) -> None:
        full = os.path.join(self._tree, path)
        make_private(os.path.dirname(full))
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(full, flags, 0o600), "wb") as file:
            file.write(data)

    # --- what goes ---------------------------------------------------------------------------

    def _commit(self, there: str | None, paths: tuple[str, ...]) -> str | None:
        """Commit these files on top of what is there; None if that changes nothing."""
        self._git("read-tree", there if there is not None else "--empty")
        put = [path for path in paths if os.path.isfile(os.path.join(self._tree, path))]
        data = "".join(f"{path}\n" for path in put).encode()
        names = self._git("hash-object", "-w", "--no-filters", "--stdin-paths", data=data).decode().split()
        gone = "0" * len(self._empty)
        rows = [f"100644 {name}\t{path}\0" for path, name in zip(put, names, strict=True)]
        rows += (f"0 {gone}\t{path}\0" for path in paths if path not in put)
        self._git("update-index", "-z", "--index-info", data="".join(rows).encode())
        tree = self._git("write-tree").decode().strip()
        before = (
            self._git("rev-parse", f"{there}^{{tree}}").decode().strip() if there is not None else self._empty
        )
        if tree == before:
            return None
        by = {"NAME": "looseleaf", "EMAIL": f"{self._machine}@localhost"}
        env = {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in by.items()}
        parent = ("-p", there) if there is not None else ()
        message = f"looseleaf: sync of {self._machine}\n".encode()
        return self._git("commit-tree", *parent, tree, data=message, env=env).decode().strip()

    @cached_property
    def _empty(self) -> str:
        """The name of a tree without files."""
        return self._git("hash-object", "-t", "tree", "--stdin").decode().strip()

    def _push(self, there: str | None, made: str) -> bool:
        """Send a commit; False if something else came first."""
        try:
            self._git("push", "-q", "--no-verify", "--", self._url, f"{made}:{self._branch}")
        except Failed as failed:
            if self._find_head() == there:
                raise Refused(
                    f"What {self._url} has is here now, but nothing was sent: {failed}. Sync again once that is mended."
                ) from failed
            return False
        return True
