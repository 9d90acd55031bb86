"""The folder that the demo leaves behind: it is yours to look at, and only what the demo wrote is ever written over."""

from __future__ import annotations

import json
import os

from looseleaf.base.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = ".demo.json"
SCHEMA = "demo.v1"

_PASSING = ("views", os.path.join("log", "prompts"), os.path.join("log", "lock"))
"""What looking at the demo changes; all else is somebody's work."""

_RULES = {
    "PROJECT.md": "in every prompt",
    "USER.md": "in every prompt",
    "state.json": "in every prompt",
    "facts": "read on demand; edit it with anything",
    "episodes": "read on demand; edit it with anything",
    "days": "only searched",
    "review": "waits for you: tick a line, or delete it",
    "log": "append-only, the truth everything else is made from",
    "views": "disposable: delete it whenever you like",
}
_FOLDED = ("log", "views")


def make_room(home: str) -> None:
    """See that the folder is free. A demo that nobody changed is made again; anything else is somebody's."""
    if not os.path.lexists(home) or (os.path.isdir(home) and not os.listdir(home)):
        return
    mark = _mark(home)
    if mark is None:
        raise Refused(
            f"Nothing was done: {home} is there already, and is no demo. Give another folder: looseleaf demo PATH"
        )
    if mark.get("files") not in (None, _contents(home)):
        raise Refused(
            f"Nothing was done: {home} is a demo that was changed since. Give another folder (looseleaf demo PATH), "
            "or delete this one."
        )
    import shutil

    shutil.rmtree(home)


def begin(home: str) -> None:
    """Mark a memory that was just made as a demo: one that is interrupted is made again as well."""
    _write(home, {"schema": SCHEMA, "files": None})


def end(home: str) -> None:
    """Note what the demo left, so that a later one can see whether somebody worked with it."""
    _write(home, {"schema": SCHEMA, "files": _contents(home)})


def _mark(home: str) -> dict[str, object] | None:
    try:
        with open(os.path.join(home, MARK), encoding="utf-8") as file:
            mark = json.load(file)
    except (OSError, ValueError):
        return None
    return mark if isinstance(mark, dict) and mark.get("schema") == SCHEMA else None


def _write(home: str, mark: dict[str, object]) -> None:
    path = os.path.join(home, MARK)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(mark, file)
    os.replace(f"{path}.new", path)


def _contents(home: str) -> dict[str, str]:
    """By name, what is in each file: the first part of its hash."""
    return {name: _hash(os.path.join(home, name)) for name in _files(home) if name != MARK}


def _files(home: str) -> Iterator[str]:
    for folder, _, names in os.walk(home):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), home)
            if not path.startswith(_PASSING):
                yield path


def _hash(path: str) -> str:
    from looseleaf.base.hashing import sha256

    with open(path, "rb") as file:
        return sha256(file.read())[:16]


# --- drawing -----------------------------------------------------------------------------


def tree(home: str) -> str:
    """The folder as a drawing; of what is not meant for reading only how much there is."""
    names = sorted(
        (name for name in os.listdir(home) if not name.startswith(".")),
        key=lambda name: (os.path.isdir(os.path.join(home, name)), name in _FOLDED, name),
    )
    return "\n".join([f"{os.path.basename(os.path.abspath(home))}/", *_drawn(home, names, "")])


def _drawn(folder: str, names: list[str], indent: str) -> Iterator[str]:
    for name in names:
        is_last = name == names[-1]
        path = os.path.join(folder, name)
        head = f"{indent}{'└── ' if is_last else '├── '}{name}"
        rule = _RULES.get(name, "") if not indent else ""
        if not os.path.isdir(path):
            yield f"{head:<28}{os.path.getsize(path):>7,} B  {rule}".rstrip()
            continue
        count = sum(len(files) for _, _, files in os.walk(path))
        held = f"{count} file{'s' * (count != 1)}" if name in _FOLDED else ""
        yield f"{head + '/':<28}{held:>9}  {rule}".rstrip()
        if name not in _FOLDED:
            yield from _drawn(path, sorted(os.listdir(path)), f"{indent}{'    ' if is_last else '│   '}")
