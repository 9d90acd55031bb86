"""Who distills, written into `looseleaf.toml`: one line, with every other left as it is.

Invariant: the file says what it said, and this besides; what cannot be done so is refused.
"""

from __future__ import annotations

import os
import re

from looseleaf.base.errors import Refused
from looseleaf.pages.folder import SETTINGS

_LINE = re.compile(r"^[ \t]*distiller[ \t]*=.*$", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def path_in(memory: str) -> str:
    return os.path.join(memory, SETTINGS)


def with_distiller(path: str, text: str, name: str) -> str:
    """The settings with this distiller. `rules` is what holds without a line."""
    import tomllib

    try:
        before = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"it could not be read ({error}). Mend it first") from error
    if before.get("distiller", "rules") == name:
        return text
    wanted = {key: value for key, value in before.items() if key != "distiller"}
    wanted |= {} if name == "rules" else {"distiller": name}
    for made in _candidates(text, name):
        try:
            if tomllib.loads(made) == wanted:
                return made
        except ValueError:
            continue
    raise _refused(
        path, f'it is written in a way that is not known here. Write `distiller = "{name}"` yourself'
    )


def _candidates(text: str, name: str) -> list[str]:
    """Behind the last line that is in no table, or in the place of the line that is there."""
    line = f'distiller = "{name}"'
    found = _LINE.search(text)
    if found is not None and name == "rules":
        return [text[: found.start()] + text[found.end() :].removeprefix("\n")]
    if found is not None:
        return [text[: found.start()] + line + text[found.end() :]]
    table = _TABLE.search(text)
    at = table.start() if table is not None else len(text)
    head = text[:at].rstrip("\n")
    gap = "\n" if table is not None else ""
    return [f"{head}\n{line}\n{gap}{text[at:]}" if head else f"{line}\n{gap}{text[at:]}"]


def _refused(path: str, why: str) -> Refused:
    return Refused(f"The settings were not changed: {path}: {why}.")
