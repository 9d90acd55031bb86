"""An rsync target as a copy of the memory: its files are fetched, exchanged with the memory, and sent back.

Only files that the exchange changed are sent: what is written once first, then what grows, then the pages. rsync puts
each in place in one step. If another machine sends something between two looks at the target, everything is done again.
"""

from __future__ import annotations

import os
import re

from looseleaf.base.errors import Refused
from looseleaf.base.paths import DRAWERS
from looseleaf.sync.carried import stage_of
from looseleaf.sync.programs import Failed, make_private, prune, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.sync.exchange import Exchanged

TRIES = 8
_UNDER_WAY = ("lock", "turn", "writer", "forgetter", "staged", "aside")
_FILTERS = (
    "--exclude=.*",
    *(f"--exclude=/log/{each}{name}" for name in _UNDER_WAY for each in ("", "on/*/")),
    *(
        f"--include=/{each}"
        for each in ("*.md", "state.json", "log/***", *(f"{name}/***" for name in DRAWERS))
    ),
    "--exclude=*",
)
_WILD, _ESCAPED = r"([\[*?\\])", r"\\\1"
_MISSING = 23
"""rsync could not read something."""


class RsyncTarget:
    """`mirror` is a folder of this machine's own, which may be removed at any time."""

    def __init__(self, target: str, mirror: str) -> None:
        self._target = target.rstrip("/") + "/"
        self._mirror = mirror
        self._tree = os.path.join(mirror, "tree")
        self.was_missing = False

    def run(self, exchange: Callable[[str], Exchanged], *, dry_run: bool = False) -> Exchanged:
        """Exchange until the target has what came of it; return what the last exchange did. `dry_run`: send nothing."""
        for _ in range(TRIES):
            before = self._look()
            self.was_missing = before is None
            self._fetch(is_there=before is not None)
            done = exchange(self._tree)
            if dry_run or not done.files:
                return done
            if self._look() == before:
                self._send(done.files)
                return done
        raise Refused(
            f"What {self._target} has is here now, but nothing was sent: others kept sending to it. Sync again."
        )

    def _rsync(
        self, *words: str, data: bytes = b"", accept: tuple[int, ...] = (0,)
    ) -> tuple[int, bytes, str]:
        make_private(self._tree)
        command = ("rsync", "-r", "--checksum", "--protect-args", *words)
        done = run(command, cwd=self._mirror, data=data, accept=accept)
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")

    def _look(self) -> bytes | None:
        """Return the names, sizes and times of the files there; None if there is no such folder."""
        try:
            code, listing, errors = self._rsync(
                "--list-only", "--no-h", *_FILTERS, "--", self._target, accept=(0, _MISSING)
            )
        except Failed as failed:
            raise self._not_reached(failed) from failed
        if code == 0:
            return listing
        if "No such file or directory" in errors and not listing:
            return None
        raise self._not_reached(Failed("rsync", errors.encode()))

    def _not_reached(self, failed: Failed) -> Refused:
        again = " Sync again." if failed.may_pass else ""
        return Refused(f"Nothing was synced with {self._target}: {failed}.{again}")

    def _fetch(self, *, is_there: bool) -> None:
        if is_there:
            try:
                self._rsync("--delete", "--chmod=D700,F600", *_FILTERS, "--", self._target, "tree/")
            except Failed as failed:
                raise self._not_reached(failed) from failed
            prune(self._tree)
            self._drop_halves()
        else:
            prune(self._tree, {})

    def _drop_halves(self) -> None:
        """Drop the active file of a stream whose last segment was sent before that file was: it is still the beginning
        of the segment, and nothing is active."""
        from looseleaf.store.disk import this_disk
        from looseleaf.store.machines import OTHERS, log_of
        from looseleaf.store.root import Root
        from looseleaf.sync.log_files import LogFiles

        root = Root(this_disk(), self._tree)
        try:
            for folder in ("log", *map(log_of, root.names(OTHERS))):
                log = LogFiles(root, folder)
                for name in log.streams():
                    stream = log.stream(name)
                    active = root.read(stream.active) if stream.sealed else None
                    if active and stream.read(stream.sealed[-1]).startswith(active):
                        root.discard(stream.active)
        finally:
            root.close()

    def _send(self, paths: tuple[str, ...]) -> None:
        try:
            self._send_files(paths)
        except Failed as failed:
            told = f"What {self._target} has is here now, but not everything was sent"
            if self.was_missing:
                told = f"{self._target} did not exist, and is no whole copy yet"
            raise Refused(f"{told}: {failed}. Sync again once that is mended.") from failed

    def _send_files(self, paths: tuple[str, ...]) -> None:
        put = [path for path in paths if os.path.isfile(os.path.join(self._tree, path))]
        self._remove([path for path in paths if path not in put])
        for stage in range(3):
            names = "".join(f"{path}\0" for path in put if stage_of(path) == stage)
            if names:
                self._rsync(
                    *("--perms", "--delay-updates", "--from0", "--files-from=-"),
                    *("--", "tree/", self._target),
                    data=names.encode(),
                )

    def _remove(self, paths: list[str]) -> None:
        """Remove files there: rsync deletes what is not here, and looks at nothing but these files. This comes first:
        once the tombstones are there, nothing tells that these files are to go."""
        if not paths:
            return
        folders = {path[: at + 1] for path in paths for at, letter in enumerate(path) if letter == "/"}
        names = "".join(f"/{re.sub(_WILD, _ESCAPED, each)}\0" for each in (*sorted(folders), *paths))
        self._rsync(
            *("--delete", "--existing", "--ignore-existing", "--from0", "--include-from=-", "--exclude=*"),
            *("--", "tree/", self._target),
            data=names.encode(),
        )
