"""What all verbs share: opening a memory, and printing what may hold the words of others."""

from __future__ import annotations

import json
import os
import re
import sys
import time

from looseleaf.base.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.base.values import Edit
    from looseleaf.cli.arguments import Options
    from looseleaf.memory import Memory

PROBLEMS = 1
REFUSED = 2
INTERRUPTED = 130

_LISTED = 20
"""How many pages are named to a person who asked for one that is not there."""

_CLIPPED = 160
"""Characters of what somebody said, in a list: two lines of a terminal."""

# What can move a terminal's cursor, colour it, or turn the order of what it shows. Spaces of other scripts and
# the joiners inside an emoji are text.
_STEERING = (
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_END = "\r(?=\n)"


# --- opening ---------------------------------------------------------------------------


def open_memory(options: Options, session: str | None = None) -> Memory:
    """A command looks at a memory that is there; only `init` makes one."""
    from looseleaf.memory import Memory
    from looseleaf.pages.folder import find, is_memory

    path = first_path(options.memory) or find()
    if not is_memory(path):
        is_named = options.memory is not None or os.environ.get("LOOSELEAF_HOME")
        if not is_named and not os.path.lexists(path):
            raise Refused(
                "Nothing was done: there is no memory here, above, or at ~/.looseleaf: `looseleaf init` makes one "
                "here; or name one with --memory PATH."
            )
        raise Refused(
            f"Nothing was done: there is no memory at {path}. Name another with --memory PATH, or make this one "
            f"(of the pages that are there, if any) with: looseleaf init {path}"
        )
    return Memory(path, agent=options.agent or "main", session=session)


def first_path(*paths: str | None) -> str:
    """The first path that was given. One that is empty was meant to be something: `--memory "$UNSET"`."""
    path = next((path for path in paths if path is not None), None)
    if path == "":
        raise Refused("Nothing was done: the path of the memory is empty. Give a folder, or leave it out.")
    return path or ""


def at_least_one(limit: int, default: int) -> None:
    if limit < 1:
        why = f"--limit must be at least 1. Without it, the last {default} are shown."
        raise Refused(f"Nothing was shown: {why}")


# --- printing --------------------------------------------------------------------------


def no_page(memory: Memory, path: str, then: str | None = None) -> Refused:
    edits = list(memory.log(path))
    if edits:
        first, last = when(edits[-1].ts), when(edits[0].ts)
        what = f"{path} did not exist as of {then}" if then else f"{path} does not exist any more"
        return Refused(
            f"Nothing was shown: {what}; its edits are from {first} to {last}. `looseleaf log {path}` shows them."
        )
    pages = memory.pages()
    more = f" and {len(pages) - _LISTED} more" if len(pages) > _LISTED else ""
    known = ", ".join(pages[:_LISTED])
    next_step = f"There are: {known}{more}." if pages else "There is none yet: write one with any editor."
    return Refused(f"Nothing was shown: there is no page {path}. {next_step}")


def when(ts: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ts))
    except (OverflowError, ValueError, OSError):
        return f"{ts:g}"  # no time of this world; the rest of the log is shown all the same


def edit_line(edit: Edit) -> str:
    about = f"{plain(edit.path)}  {plain(edit.author)}: {plain(edit.reason)}"
    return f"{when(edit.ts):>19}  {plain(edit.id)}  {edit_size(edit):>8}  {about}"


def edit_size(edit: Edit) -> str:
    return f"+{edit.added} -{edit.removed}" if edit.new is not None else "deleted"


def edit_dict(edit: Edit) -> dict[str, Any]:
    names = ("id", "ts", "path", "author", "reason", "base", "new", "added", "removed", "undoes")
    return {name: getattr(edit, name) for name in names}


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def print_bytes(data: bytes) -> None:
    """To a pipe or a file the bytes as they are; to a terminal as text that cannot steer it."""
    if sys.stdout.isatty():
        sys.stdout.write(plain(re.sub(_LINE_END, "", data.decode("utf-8", "backslashreplace")), keep="\n\t"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def say(text: str) -> None:
    """Print what may hold the words of others, on the lines that it has."""
    print(plain(re.sub(_LINE_END, "", text) if "\r" in text else text, keep="\n\t"))


def hung(text: str, indent: int) -> str:
    """Further lines stand to the right, so that none can pass for a line of ours."""
    return f"\n{' ' * indent}".join(text.split("\n"))


def clipped(text: str) -> str:
    """On one line, its beginning if it is long."""
    line = " ".join(text[: 8 * _CLIPPED].split())
    if len(line) <= _CLIPPED and len(text) <= 8 * _CLIPPED:
        return line
    return f"{line[:_CLIPPED].rstrip()} … ({len(text):,} characters)"


def print_notes(memory: Memory) -> None:
    for note in memory.notes:
        print(f"looseleaf: {plain(note)}", file=sys.stderr)


def next_step(options: Options, text: str) -> None:
    """What a person does next, on a line of its own; whoever asked for JSON is none."""
    if not options.json:
        sys.stdout.flush()
        print(f"Next: {plain(text)}", file=sys.stderr)


def plain(text: str, keep: str = "") -> str:
    """Text for a terminal: what a page or a name holds must not steer it."""
    if text.isascii() and "".join(text.split("\n") if "\n" in keep else (text,)).isprintable():
        return text  # most is; no pattern is made for it
    return re.sub(_STEERING, lambda match: match[0] if match[0] in keep else _written_out(match[0]), text)


def _written_out(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
