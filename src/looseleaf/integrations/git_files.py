"""What git is told about a memory, as text: how its files are merged, which stay out, and the command that merges.

What is put into a file can be taken out again to the byte.
"""

from __future__ import annotations

from shlex import join

from looseleaf.pages.folder import LOG_ITSELF, PRIVATE, PRIVATE_BUT_LOG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ATTRIBUTES = ".gitattributes"
IGNORE = ".gitignore"

PAGES = (
    "# looseleaf merges these by their facts. Once in each clone: looseleaf hook install --git",
    *(
        f"{name} merge=looseleaf"
        for name in ("/*.md", "/facts/*.md", "/episodes/*.md", "/days/*.md", "/state.json")
    ),
)
"""Lines for `.gitattributes`. A clone without the driver merges these files as text."""

LOG = (
    "# Logs have checksums: git must not change their bytes, nor merge them.",
    "/log/** -text -merge",
)

TITLE = "looseleaf: pages by their facts, state.json by its members"


def driver(program: Sequence[str]) -> str:
    """Return the command that git runs for a file that both sides changed. What the program cannot merge, git merges as
    text and reports as a conflict; so does git if the program is gone."""
    text = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
    return f"{join(program).replace('%', '%%')} merge-file -- %O %A %B %P || {{ {text}; false; }}"


def with_lines(text: str | None, lines: Sequence[str]) -> str:
    """Return a file with these lines at its end, unless it has them. If its last line has no line end, that stays
    so."""
    block = "\n".join(lines)
    if text is None or _start(text, block) >= 0:
        return f"{block}\n" if text is None else text
    return f"{text}{block}\n" if not text or text.endswith("\n") else f"{text}\n{block}"


def without_lines(text: str | None, lines: Sequence[str]) -> str | None:
    """Return a file as it was before; None if there was none."""
    block = "\n".join(lines)
    start = _start(text, block) if text is not None else -1
    if text is None or start < 0:
        return text
    before, after = text[:start], text[start + len(block) :]
    made = before.removesuffix("\n") if not after else before + after.removeprefix("\n")
    return made or None


def _start(text: str, block: str) -> int:
    """Return where a block of whole lines begins in a text; -1 if it is not there."""
    return f"\n{text}\n".find(f"\n{block}\n")


def sharing_log(text: str | None) -> str:
    """Return a memory's `.gitignore` that lets the log in, without what is only for this machine and this moment."""
    if text is None or text == PRIVATE:
        return PRIVATE_BUT_LOG
    lines = [line for line in text.split("\n") if line.strip() not in LOG_ITSELF]
    missing = [line for line in PRIVATE_BUT_LOG.split("\n")[:-1] if line not in lines]
    return with_lines("\n".join(lines), missing) if missing else "\n".join(lines)
