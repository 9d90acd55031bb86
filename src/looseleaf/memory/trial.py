"""A trial of a memory: a copy of its journals and pages in a temporary folder, to be changed and thrown away.

Where something was forgotten, the talk is copied too: what is to be forgotten is looked for there. Nothing of the
memory is written to, not even its lock. If it changes while it is copied, copying begins again.
"""

from __future__ import annotations

import os
import shutil
from functools import cached_property
from tempfile import TemporaryDirectory

from looseleaf.base.errors import Busy
from looseleaf.memory.parts import Parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_TRIES = 4
_NOT_TAKEN = frozenset(
    {"staged", "aside", "ends", "agents", "topics", "vectors", "sync"}
    | {"lock", "turn", "writer", "forgetter", "index.sqlite", "tokens.sqlite", "redistill"}
)
"""Below `log/` and `views/`: what is made of the talk, and what matters only to those that write."""
_TALK = frozenset({"traces", "prompts", "calls", "calls.jsonl"})


class _Trial(Parts):
    of: Parts
    """The memory of which this is a trial: where that lies says whether git tracks the pages."""

    def is_tracked(self) -> bool:
        return self.of.is_tracked()

    @cached_property
    def may_be_tracked(self) -> bool:
        return self.of.may_be_tracked


class open_trial:
    """`with open_trial(parts) as trial:` `has_talk`: the talk is copied too."""

    def __init__(self, parts: Parts, *, has_talk: bool = False) -> None:
        self._parts = parts
        self._left = _NOT_TAKEN if has_talk else _NOT_TAKEN | _TALK

    def __enter__(self) -> Parts:
        self._folder = TemporaryDirectory(prefix="looseleaf-")
        try:
            path = os.path.join(self._folder.name, "memory")
            _copy_still(self._parts.files.path, path, self._left)
            context = self._parts.context
            self._trial = _Trial(
                path,
                agent=context.agent,
                policy=context.policy,
                must_exist=True,
                machine=self._parts.files.machine,
            )
            self._trial.of = self._parts
        except BaseException:
            self._folder.cleanup()
            raise
        return self._trial

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._trial.close()
        self._folder.cleanup()


def _copy_still(source: str, target: str, left: frozenset[str]) -> None:
    """Copy what a trial needs, as it was at one moment, without what is `left`."""
    for _ in range(_TRIES):
        before = dict(_walk(source, left))
        try:
            for path in before:
                there = os.path.join(target, path)
                os.makedirs(os.path.dirname(there), mode=0o700, exist_ok=True)
                shutil.copy2(os.path.join(source, path), there, follow_symlinks=False)
        except FileNotFoundError:
            pass
        else:
            if dict(_walk(source, left)) == before:
                return
        shutil.rmtree(target, ignore_errors=True)
    raise Busy(f"{source} kept changing while it was copied. Try again when nothing writes to it.")


def _walk(top: str, left: frozenset[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the files that a trial needs, each with what changes when it does."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        is_ours = folder.split("/", 1)[0] in ("log", "views")
        with os.scandir(os.path.join(top, folder)) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}".lstrip("/")
                if is_ours and entry.name in left:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                elif entry.is_file(follow_symlinks=False):
                    found = entry.stat(follow_symlinks=False)
                    yield path, (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
