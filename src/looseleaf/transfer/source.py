"""A source: one safe, read-only look at a file, a folder, a zip or a tar, which somebody else made.

Nothing is ever unpacked to disk. A name is judged before it is a name here: one that would lead out of the source, a
link, a device, an encrypted or an oversized file is passed over, and `notes` says so. Of two files of one name the
first counts. Names that differ only in case are two files: nothing is written under them. Archives within archives stay
shut. What cannot be looked at without risk is refused whole: a broken archive, one with too many files, or one that
swells beyond measure.
"""

from __future__ import annotations

import io
import json
import os

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import FARTHEST
from looseleaf.base.paths import is_page
from looseleaf.transfer.archives import LARGEST, Broken, look, packing_errors, told
from looseleaf.transfer.formats.agent_lines import moment_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, BinaryIO

    from looseleaf.base.messages import TraceType


# What a format finds in a source: talks, documents and claims, as values.

if TYPE_CHECKING:
    Note = Callable[[str], None]
    """Told in one sentence of what was passed over, and why."""


@frozen
class Said:
    """One thing that was said or done. `text` is what a user or an assistant said; a call has `name`, `args` and
    `call_id`, a result `result` (or `error`) and `call_id`."""

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
    """One conversation. `said` is gone through once, in the order in which it was said, and may be long."""

    key: str
    title: str
    said: Iterable[Said]


@frozen
class Document:
    """A text. `page`: where it would stand if the user vouches for it (`USER.md`, `days/2026-01-01.md`, `facts/x.md`);
    `topic`: what it is about, if the source says so."""

    key: str
    text: str
    title: str
    ts: float | None = None
    page: str | None = None
    topic: str | None = None


@frozen
class Claim:
    """One remembered statement about a topic."""

    key: str
    topic: str
    text: str
    ts: float | None = None
    relation: str | None = None


if TYPE_CHECKING:
    Item = Talk | Document | Claim


# Reading what others wrote, value by value: whatever it is, there is an answer, and nothing raises.


_TEXTS = ("text", "input_text", "output_text", "summary_text", "refusal", "thinking")


def named(source: Source, *endings: str) -> list[str]:
    """The names of files that end so, without what a Mac puts beside each file and what editors hide."""
    return [
        name
        for name in source.names()
        if name.lower().endswith(endings)
        and not name.startswith("__MACOSX/")
        and not stem(name).startswith(".")
    ]


def to_read(source: Source, found: list[str]) -> list[str]:
    """What was found by its name; a single file is what its user says it is, however it is called."""
    return found or (list(source.names()) if source.kind == "file" else [])


def stem(name: str) -> str:
    """The last part of a name, without its ending."""
    return name.rpartition("/")[2].rsplit(".", 1)[0] if not name.rpartition("/")[2].startswith(".") else "."


def when(value: object) -> float | None:
    """Epoch seconds of a number or an ISO time; a number of milliseconds is taken for one."""
    if isinstance(value, str):
        found = moment_of(value)
        return found if found is not None and abs(found) < FARTHEST else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value != value or abs(value) >= FARTHEST * 1000:
        return None
    return float(value) / 1000 if abs(value) >= FARTHEST else float(value)


def words(value: object) -> str:
    """A text, or "" for anything else."""
    return value if isinstance(value, str) else ""


def members(value: object) -> dict[str, Any]:
    """An object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list, or none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def unwrapped(own: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """An object itself, or those that it has under `conversations`, with their numbers."""
    held = own.get("conversations")
    yield from (
        ((str(number), each) for number, each in enumerate(held)) if isinstance(held, list) else [("", own)]
    )


def spoken(content: object) -> str:
    """The text of a content that is a text, or a list of texts and of blocks that have one."""
    if isinstance(content, list):
        return "\n\n".join(filter(None, (_block(each) for each in content)))
    return words(content)


def _block(block: object) -> str:
    if isinstance(block, dict):
        return next((words(block[name]) for name in _TEXTS if words(block.get(name))), "")
    return words(block)


_MEDIA = {"image_url": "images", "audio_url": "audio", "video_url": "video"}


def media_of(content: object) -> dict[str, list[str]] | None:
    """The addresses of pictures and recordings in a content; what is written out in it is none."""
    found: dict[str, list[str]] = {}
    for block in objects(content):
        for name, kind in _MEDIA.items():
            given = block.get(name)
            address = words(given.get("url")) if isinstance(given, dict) else words(given)
            if address and not address.startswith("data:"):
                found.setdefault(kind, []).append(address)
    return found or None


def loaded(text: object) -> Any:
    """Arguments that were written as JSON; else as they are."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return text


def clipped(texts: Iterator[str] | list[str], most: int = 80) -> str:
    """A title of the first text that has words."""
    line = next((" ".join(text[:400].split()) for text in texts if text.strip()), "")
    return line if len(line) <= most else f"{line[:most].rstrip()}…"


__all__ = ["Broken", "Source", "refuse_memory"]

_JOURNAL = "log/journal.jsonl"
_OWN = ("log", "views")
_READ = 1024 * 1024


class Source:
    """`with Source(path) as source: for name in source.names(): source.open(name)`. `kind`: file, folder, zip, tar."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):  # it was meant to be something: `import "$UNSET"`
            raise Refused("Nothing was imported: the path is empty. Give a file or a folder.")
        self.path = os.path.abspath(os.fspath(path))
        self.notes: list[str] = []
        self.kind, self._pack = look(self.path, self.notes.append)
        self._names = tuple(self._pack.files)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self._pack.close()

    def names(self) -> tuple[str, ...]:
        """Relative, with slashes, in order; a single file has its own name. Folders are not among them."""
        return self._names

    def __contains__(self, name: str) -> bool:
        return name in self._pack.files

    def size(self, name: str) -> int:
        """In bytes, unpacked."""
        return self._pack.size(name)

    def modified(self, name: str) -> float | None:
        """When the file was last changed, in epoch seconds, if that is known."""
        found = self._pack.modified(name)
        return found if found is not None and abs(found) < FARTHEST else None  # an archive may say anything

    def open(self, name: str) -> BinaryIO:
        """A stream of the file's bytes. Reading raises `Broken` where it cannot go on."""
        return _Stream(self._pack.open(name), f"{os.path.basename(self.path)}: {name}")

    def read(self, name: str, most: int) -> bytes | None:
        """All of a file; None if it is longer than `most` bytes."""
        with self.open(name) as stream:
            data = stream.read(most + 1)
        return None if len(data) > most else data

    def head(self, name: str, size: int = 65_536) -> bytes:
        """How a file begins; nothing, if it cannot be read."""
        try:
            with self.open(name) as stream:
                return stream.read(size)
        except Broken:
            return b""


class _Stream(io.RawIOBase, BinaryIO if TYPE_CHECKING else object):  # type: ignore[misc]
    """Reads at most a megabyte at once from below, and says in one way what is wrong there."""

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
        """As many bytes as were asked for, unless the file ends before."""
        parts: list[bytes] = []
        left = size if size >= 0 else LARGEST
        while left > 0 and (part := self._some(min(left, _READ))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _some(self, size: int) -> bytes:
        try:
            return self._below.read(size)
        except packing_errors() as error:
            raise Broken(f"{self._name} was not read to its end: {told(error)}.") from error


def refuse_memory(source: Source) -> None:
    """Refused for a memory of ours, and for a part of one: it is there already, and its log is nobody's words."""
    names = source.names()
    journal = next((name for name in names if name == _JOURNAL or name.endswith(f"/{_JOURNAL}")), None)
    if journal is not None and not all(name.startswith(journal.removesuffix(_JOURNAL)) for name in names):
        where = os.path.join(source.path, journal.removesuffix(f"/{_JOURNAL}"))
        raise Refused(
            f"Nothing was imported: {source.path} has a memory of looseleaf in it ({where}), which is used as it is. "
            "Give what lies beside it, folder by folder."
        )
    if journal is not None or _is_part(source.path):
        is_one = journal is not None
        what = "is a memory of looseleaf already" if is_one else "is a part of a memory of looseleaf"
        raise Refused(
            f"Nothing was imported: {source.path} {what}. Unpack it, if it is packed, and use it as it is: "
            "looseleaf --memory FOLDER"
        )


def _is_part(path: str) -> bool:
    """Whether it is one of a memory's pages or lies in one of its folders. Other things may lie beside them."""
    path = os.path.realpath(path)
    parts: list[str] = []
    while (above := os.path.dirname(path)) != path:
        parts.insert(0, os.path.basename(path))
        path = above
        if os.path.isfile(os.path.join(path, *_JOURNAL.split("/"))):
            inner = "/".join(parts)
            return parts[0] in _OWN or is_page(inner) or is_page(f"{inner}/x.md")
    return False
