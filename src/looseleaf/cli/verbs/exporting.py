"""The command `export`: the whole memory as one file or a copy, its facts, or what was said as messages."""

from __future__ import annotations

import os
import sys
import time

from looseleaf.base.errors import Refused
from looseleaf.cli.output import next_step, open_memory, plain, print_json, print_notes, say
from looseleaf.cli.progress import progress
from looseleaf.transfer.target import New, private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.cli.arguments import Options
    from looseleaf.memory import Memory
    from looseleaf.transfer.export_folder import Whole

STDOUT = "-"
_USES = {
    "facts": "`jq -r '.relation + \": \" + .object' {}` lists them; a line holds all that is known of one.",
    "messages": "`looseleaf --memory OTHER import {} --as messages` takes it into another memory.",
}
"""What is done with a file of lines."""
LISTED = 5
"""Files that were passed over and are named."""


def export(options: Options) -> int:
    with open_memory(options) as memory:
        if options.format in ("tar", "folder"):
            told = _whole(memory, options)
        else:
            told = _lines(memory, options)
        print_notes(memory)
    if told is not None:
        if options.json:
            print_json(told)
        else:
            _tell(told)
        if "lines" in told:
            from shlex import quote

            next_step(options, _USES[told["format"]].format(quote(told["path"])))
    return 0


# --- the whole memory ------------------------------------------------------------------


def _whole(memory: Memory, options: Options) -> dict[str, Any] | None:
    from looseleaf.transfer.export_folder import Copy, Tar, export_whole

    name = os.path.basename(memory.path).lstrip(".") or "memory"
    if options.format == "tar" and options.path == STDOUT:
        if options.json:
            raise Refused(
                "Nothing was exported: a packed file is no JSON. Leave out --json, or name a file to be told of it."
            )
        _piped(memory, name)
        return None
    if options.path == STDOUT:
        raise Refused(
            "Nothing was exported: a folder has no place in a pipe. Name a new folder, or use --as tar."
        )
    day = time.strftime("%Y-%m-%d")
    path = options.path if options.path is not None else f"{name}-{day}"
    if options.path is None and options.format == "tar":
        path += ".tar.gz"
    with _new(path, memory) as new, progress("exporting", unit="bytes") as step:
        if options.format == "folder":
            new.refuse_nesting()
            taken = export_whole(memory, Copy(new.draft), step)
        else:
            with os.fdopen(private(new.draft), "w+b") as file:
                taken = export_whole(memory, Tar(file, name), step)
                file.flush()
                os.fsync(file.fileno())
    size = os.path.getsize(new.path) if options.format == "tar" else taken.bytes
    options.done = f"{new.path} was written, but "
    return _told(new.path, str(options.format), size) | _what(taken)


def _piped(memory: Memory, name: str) -> None:
    """What is begun anew cannot be taken back out of a pipe: so it goes there when it is whole."""
    from shutil import copyfileobj
    from tempfile import TemporaryFile

    from looseleaf.transfer.export_folder import Tar, export_whole

    if sys.stdout.isatty():
        raise Refused(
            "Nothing was exported: a terminal shows no packed file. Name a file, or give it to a program."
        )
    with TemporaryFile() as file:
        export_whole(memory, Tar(file, name))
        file.seek(0)
        sys.stdout.flush()
        copyfileobj(file, sys.stdout.buffer)


def _what(taken: Whole) -> dict[str, Any]:
    return {"files": taken.files, "left_out": list(taken.left_out)}


# --- lines -----------------------------------------------------------------------------


def _lines(memory: Memory, options: Options) -> dict[str, Any] | None:
    lines = _made(memory, options)
    if options.path in (None, STDOUT):
        _print(_array(lines) if options.json else lines)
        return None
    count = size = 0
    with _new(str(options.path), memory) as new, os.fdopen(private(new.draft), "wb") as file:
        for piece in lines:
            file.write(piece)
            size += len(piece)
            count += piece.endswith(b"\n")
        file.flush()
        os.fsync(file.fileno())
    options.done = f"{new.path} was written, but "
    return _told(new.path, str(options.format), size) | {"lines": count}


def _made(memory: Memory, options: Options) -> Iterator[bytes]:
    if options.format == "facts":
        from looseleaf.transfer.export_rows import fact_lines

        return fact_lines(memory)
    from looseleaf.transfer.messages import message_lines

    return message_lines(memory, options.agent)


def _array(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The same as one JSON document; never more of it at once than one piece."""
    before = b"["
    for piece in lines:
        yield before + piece.removesuffix(b"\n")
        before = b",\n" if piece.endswith(b"\n") else b""
    yield b"]\n" if before != b"[" else b"[]\n"


def _print(lines: Iterator[bytes]) -> None:
    is_terminal = sys.stdout.isatty()
    sys.stdout.flush()
    for piece in lines:
        if is_terminal:
            sys.stdout.write(plain(piece.decode(), keep="\n"))
        else:
            sys.stdout.buffer.write(piece)


# --- telling ---------------------------------------------------------------------------


def _new(path: str, memory: Memory) -> New:
    new = New(path, memory.path)
    for each in new.removed:
        print(f"looseleaf: {plain(each)} was removed: an export that was killed left it.", file=sys.stderr)
    return new


def _told(path: str, form: str, size: int) -> dict[str, Any]:
    return {"path": path, "format": form, "bytes": size}


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _tell(told: dict[str, Any]) -> None:
    from shlex import quote

    if "lines" in told:
        what = "fact" if told["format"] == "facts" else "session"
        say(f"{told['path']}: {_counted(told['lines'], what)}, {_counted(told['bytes'], 'byte')}.")
        return
    much = f"{_counted(told['files'], 'file')}, {_counted(told['bytes'], 'byte')}"
    say(f"{told['path']}: {much}. Only you may read it.")
    if told["left_out"]:
        names = ", ".join(told["left_out"][:LISTED])
        more = len(told["left_out"]) - LISTED
        rest = f" and {more} more" if more > 0 else ""
        say(f"Passed over, because they lead out of the memory or cannot be read: {names}{rest}.")
    if told["format"] == "tar":
        name = quote(os.path.basename(told["path"]))
        say(f"To use it elsewhere: tar -xzf {name}, then looseleaf --memory FOLDER check")
    else:
        say(f"To use it: looseleaf --memory {quote(told['path'])} check")
