"""A source: a safe, read-only view of a foreign file, folder, zip or tar, and the items that formats find in it.

Nothing is unpacked to disk. Every name is checked first: one that leads out of the source, a link, a device, an
encrypted or an oversized file is passed over, and `notes` says so. Of two files of one name the first counts. Names
that differ only in case are two files: nothing is written under them. Archives within archives stay shut. A broken
archive, one with too many files, or one that unpacks to far more than its size is refused whole.
"""

from __future__ import annotations

import io
import json
import os
from contextlib import contextmanager

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import FARTHEST
from looseleaf.base.paths import is_address, is_page
from looseleaf.store.context import shown_name
from looseleaf.transfer.archives import LARGEST, BrokenArchive, open_pack, reason_of, unpacking_errors
from looseleaf.transfer.formats.agent_lines import parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, BinaryIO

    from looseleaf.base.messages import TraceType

    Note = Callable[[str], None]
    """Takes a sentence that says what was passed over, and why."""

__all__ = ["BrokenArchive", "ImportSource", "refuse_memory"]


@frozen
class ImportMessage:
    """One message, call or result. Users and assistants have `text`; a call has `name`, `args` and `call_id`, a result
    `result` (or `error`) and `call_id`."""

    key: str
    role: TraceType
    text: str = ""
    ts: float | None = None
    name: str | None = None
    args: Any = None
    call_id: str | None = None
    result: Any = None
    error: str | None = None
    reasoning: str | None = None
    media: dict[str, list[str]] | None = None


@frozen
class Talk:
    """One conversation. `said` is read once, in order, and may be long."""

    KIND = "talk"

    key: str
    title: str
    said: Iterable[ImportMessage]


@frozen
class ImportDocument:
    """A text. `page`: its place, if vouched for (`USER.md`, `days/2026-01-01.md` or `facts/x.md`). `topic`: its
    subject, if the source names one."""

    KIND = "document"

    key: str
    text: str
    title: str
    ts: float | None = None
    page: str | None = None
    topic: str | None = None


@frozen
class ImportClaim:
    """A remembered statement about a topic."""

    KIND = "claim"

    key: str
    topic: str
    text: str
    ts: float | None = None
    relation: str | None = None


if TYPE_CHECKING:
    Item = Talk | ImportDocument | ImportClaim


def tool_call(
    key: str, ts: float | None, name: str, args: Any, call: str | None, reasoning: str | None = None
) -> ImportMessage:
    return ImportMessage(key, "tool_call", "", ts, name, args, call, reasoning=reasoning)


def tool_result(
    key: str,
    ts: float | None,
    name: str | None,
    call: str | None,
    result: Any,
    *,
    is_error: bool = False,
    media: dict[str, list[str]] | None = None,
) -> ImportMessage:
    error = result if is_error else None
    result = None if is_error else result
    return ImportMessage(key, "tool_result", "", ts, name, None, call, result, error, media=media)


# --- reading foreign values: any value gives an answer, and nothing raises --------------

_TITLE = 80
_TEXTS = ("text", "input_text", "output_text", "summary_text", "refusal", "thinking")


def files_ending(source: ImportSource, *endings: str) -> list[str]:
    """Return the names with these endings, without hidden files and those that macOS adds beside each file."""
    found = (name for name in source.names() if name.lower().endswith(endings))
    return [name for name in found if not name.startswith("__MACOSX/") and not stem(name).startswith(".")]


def files_to_read(source: ImportSource, found: list[str]) -> list[str]:
    """Return the files found by name; a single file counts whatever its name, because the user chose the format."""
    return found or (list(source.names()) if source.kind == "file" else [])


def stem(name: str) -> str:
    """Return the last part of a name, without its ending."""
    return name.rpartition("/")[2].rsplit(".", 1)[0] if not name.rpartition("/")[2].startswith(".") else "."


def time_of(value: object) -> float | None:
    """Return the epoch seconds of a number (also of milliseconds) or an ISO time."""
    if isinstance(value, str):
        found = parse_time(value)
        return found if found is not None and abs(found) < FARTHEST else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value != value or abs(value) >= FARTHEST * 1000:
        return None
    return float(value) / 1000 if abs(value) >= FARTHEST else float(value)


def text_of(value: object) -> str:
    """Return a text, or "" for anything else."""
    return value if isinstance(value, str) else ""


def dict_of(value: object) -> dict[str, Any]:
    """Return an object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def dicts_of(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list, or none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def content_text(content: object) -> str:
    """Return the text of a message's content: a text, or a list of texts and blocks."""
    if not isinstance(content, list):
        return text_of(content)
    blocks = (each if isinstance(each, dict) else {"text": each} for each in content)
    return join_texts(next(filter(None, (text_of(each.get(name)) for name in _TEXTS)), "") for each in blocks)


def join_texts(texts: Iterable[str]) -> str:
    """Join texts as paragraphs, without empty ones."""
    return "\n\n".join(filter(None, texts))


_MEDIA = {"image_url": "images", "audio_url": "audio", "video_url": "video"}


def media_of(content: object) -> dict[str, list[str]] | None:
    """Return the addresses of pictures and recordings in a content, without those that are written out in it."""
    found: dict[str, list[str]] = {}
    for block in dicts_of(content):
        for name, kind in _MEDIA.items():
            given = block.get(name)
            address = text_of(given.get("url")) if isinstance(given, dict) else text_of(given)
            if address and not address.startswith("data:"):
                found.setdefault(kind, []).append(address)
    return found or None


def json_of(text: object) -> Any:
    """Return the value of a JSON text; anything else as it is."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return text


def object_in(line: bytes) -> dict[str, Any] | None:
    """Return the object in a JSON line, an empty one for another value; None if it is not JSON."""
    try:
        return dict_of(json.loads(line))
    except (ValueError, RecursionError):
        return None


def clip_title(text: str) -> str:
    """Return the beginning of a text as a title."""
    line = " ".join(text[:400].split())
    return line if len(line) <= _TITLE else f"{line[:_TITLE].rstrip()}…"


# --- the source ------------------------------------------------------------------------

_JOURNAL = "log/journal.jsonl"
_OWN = ("log", "views")
_READ = 1024 * 1024


class ImportSource:
    """`with Source(path) as source: for name in source.names(): source.open(name)`. `kind`: file, folder, zip, tar."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise Invalid(f"Nothing was imported: a path is text, not {type(path).__name__}.")
        if not os.fspath(path):  # the caller meant a path: `import "$UNSET"`
            raise Invalid("Nothing was imported: the path is empty. Give a file or a folder.")
        if is_address(path):
            raise Refused(
                f"Nothing was imported: {shown_name(str(path))} is in a database. `looseleaf export` writes what is in "
                "it; import that."
            )
        self.path = os.path.abspath(os.fspath(path))
        self.notes: list[str] = []
        self.kind, self._pack = open_pack(self.path, self.notes.append)
        self._names = tuple(self._pack.files)

    def __enter__(self) -> ImportSource:
        return self

    def __exit__(self, *_: object) -> None:
        self._pack.close()

    def names(self) -> tuple[str, ...]:
        """Return the names of all files: relative, with slashes, in order. A single file has its own name."""
        return self._names

    def modified(self, name: str) -> float | None:
        """Return the time of the last change in epoch seconds, if known."""
        found = self._pack.modified(name)
        return found if found is not None and abs(found) < FARTHEST else None  # an archive may say anything

    def open(self, name: str) -> BinaryIO:
        """Open a file. Reading raises `BrokenArchive` where it cannot go on."""
        return _Stream(self._pack.open(name), f"{os.path.basename(self.path)}: {name}")

    def read(self, name: str, most: int) -> bytes | None:
        """Return a whole file; None if it is longer than `most` bytes."""
        with self.open(name) as stream:
            data = stream.read(most + 1)
        return None if len(data) > most else data

    def head(self, name: str, size: int = 65_536) -> bytes:
        """Return the first bytes of a file; none if it cannot be read."""
        try:
            with self.open(name) as stream:
                return stream.read(size)
        except BrokenArchive:
            return b""


class _Stream(io.RawIOBase, BinaryIO if TYPE_CHECKING else object):  # type: ignore[misc]
    """A stream that reads a megabyte at a time, and raises one kind of error for all that can be wrong."""

    def __init__(self, below: BinaryIO, name: str) -> None:
        self._below = below
        self._name = name

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._below.close()
        super().close()

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, or fewer where the file ends."""
        parts: list[bytes] = []
        left = size if size >= 0 else LARGEST
        try:
            while left > 0 and (part := self._below.read(min(left, _READ))):
                parts.append(part)
                left -= len(part)
        except unpacking_errors() as error:
            raise BrokenArchive(f"{self._name} was not read to its end: {reason_of(error)}.") from error
        return b"".join(parts)


@contextmanager
def skip_broken(note: Note) -> Iterator[None]:
    """Note a file that cannot be read (to its end), and go on after the block."""
    try:
        yield
    except BrokenArchive as broken:
        note(str(broken))


def refuse_memory(source: ImportSource) -> None:
    """Refuse a looseleaf memory, or a part of one: it can be used as it is, and its log holds no new words."""
    names = source.names()
    journal = next((name for name in names if name == _JOURNAL or name.endswith(f"/{_JOURNAL}")), None)
    if journal is not None and not all(name.startswith(journal.removesuffix(_JOURNAL)) for name in names):
        where = os.path.join(source.path, journal.removesuffix(f"/{_JOURNAL}"))
        raise Invalid(
            f"Nothing was imported: {source.path} contains a looseleaf memory ({where}), which needs no import. "
            "Import the other folders one by one."
        )
    if journal is not None or _is_part_of_memory(source.path):
        what = "is already a looseleaf memory" if journal is not None else "is part of a looseleaf memory"
        raise Invalid(
            f"Nothing was imported: {source.path} {what}. Unpack it, if it is packed, and use it directly: "
            "looseleaf --memory FOLDER"
        )


def _is_part_of_memory(path: str) -> bool:
    """True for a memory's page, and for anything in one of its folders. Other files may lie beside them."""
    path = os.path.realpath(path)
    parts: list[str] = []
    while (above := os.path.dirname(path)) != path:
        parts.insert(0, os.path.basename(path))
        path = above
        if os.path.isfile(os.path.join(path, *_JOURNAL.split("/"))):
            inner = "/".join(parts)
            return parts[0] in _OWN or is_page(inner) or is_page(f"{inner}/x.md")
    return False
