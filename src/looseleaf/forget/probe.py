"""The probe: read every byte of the folder and report where forgotten text still stands (FORMAT §17.7)."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.pages.held import UTF_16
from looseleaf.text.spellings import fold_text, sentences_in, spellings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Blocks = Iterable[tuple[bytes, int]]
    Owner = Callable[[str], str | None]


_WORDS = re.compile(r"\w+")

_BLOCK = 1 << 18
"""Bytes to read at once."""

_ESCAPED = 32
"""Bytes that one character may take: as UTF-8, in an address, escaped again."""

LEAST = 6
"""Fewest letters of a text to look for: a shorter one stands everywhere."""


class Needles:
    """Texts that show that something is still there."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = frozenset(text for text in map(fold_text, texts) if text)
        self._by_word: dict[str, list[str]] = {}
        self._others: list[str] = []
        for text in self.texts:
            # A word in a needle's middle stands whole wherever the needle does: skip texts without it.
            inside = [word[0] for word in _WORDS.finditer(text) if word.start() and word.end() < len(text)]
            if inside:
                self._by_word.setdefault(max(inside, key=len), []).append(text)
            else:
                self._others.append(text)

    @property
    def reach(self) -> int:
        """The most bytes that one of them may take."""
        return _ESCAPED * max(map(len, self.texts), default=1)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def find(self, text: str) -> set[str]:
        """Return those that a text says, in any spelling."""
        found: set[str] = set()
        for spelt in spellings(text):
            found.update(each for each in self._others if each in spelt)
            words = set(_WORDS.findall(spelt)) & self._by_word.keys() if self._by_word else ()
            found.update(each for word in words for each in self._by_word[word] if each in spelt)
        return found

    def hits(self, data: bytes) -> set[str]:
        """Return those that stand in bytes: UTF-8, or UTF-16 that says so."""
        return self.find(data.decode("utf-16" if data[:2] in UTF_16 else "utf-8", "replace"))

    def without(self, texts: Iterable[str]) -> Needles:
        """Return those that stand in none of these texts."""
        left = set(self.texts)
        for text in texts:
            left -= self.find(text)
        return Needles(left)


def telling_sentences(texts: Iterable[str]) -> Iterator[str]:
    """Yield the sentences of each text that are long enough to identify it."""
    for text in texts:
        for sentence in sentences_in(text):
            if sum(map(str.isalnum, sentence)) >= LEAST:
                yield sentence


@frozen
class Probe:
    """How much was read, and the files with hits. `theirs` are files that the program may not change: settings, tests,
    files that people put there, folders among the logs that no machine has. `machines` are those in whose logs it is
    still, until they hear of it; `elsewhere` are the files of these logs, in this folder."""

    files: int
    bytes: int
    hits: tuple[str, ...]
    theirs: tuple[str, ...]
    machines: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"files": self.files, "bytes": self.bytes}
        found |= {"hits": list(self.hits), "theirs": list(self.theirs)}
        others = {"machines": list(self.machines), "elsewhere": list(self.elsewhere)}
        return found | others if self.machines else found


_BESIDE = re.compile(r"log/(?:on/[^/]+/)?(?:aside|staged)/")
"""What a machine puts beside its log: a copy of it is no log, and waits for nothing."""


def probe(folder: str, needles: Needles, owner: Owner = lambda path: "") -> Probe:
    """Read a memory's folder. `owner` returns the other machine whose log or view a file is; None: it looks like one,
    and no machine has that name. Views of others that hold what went are removed: they are made again."""

    def remove(path: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, path))

    def read(path: str, is_file: bool) -> Blocks | None:
        return _read_blocks(os.path.join(folder, path), needles.reach) if is_file else None

    return _probe(
        ((path, read(path, is_file)) for path, is_file in _list_names(folder)), needles, owner, remove
    )


def probe_rows(rows: Iterable[tuple[str, bytes]], needles: Needles, owner: Owner) -> Probe:
    """Read a memory in a database: paths, each with the bytes that its file would have."""
    return _probe(((path, ((data, len(data)),)) for path, data in rows), needles, owner, lambda path: None)


def _probe(
    every: Iterable[tuple[str, Blocks | None]], needles: Needles, owner: Owner, remove: Callable[[str], None]
) -> Probe:
    """`every`: names, each with the blocks of its file, and how many bytes of each are new; None: it is no file."""
    files = total = 0
    machines: set[str] = set()
    hits: list[str] = []
    weak: list[str] = []
    theirs: list[str] = []
    elsewhere: list[str] = []
    for path, blocks in every:
        found = needles.hits(path.encode("utf-8", "replace"))
        try:
            for data, new in blocks or ():
                found |= needles.hits(data)
                total += new
        except FileNotFoundError:
            continue  # SQLite removes its own files
        except OSError as error:
            raise _unproven(path, error) from error
        files += blocks is not None
        if not found:
            continue
        other = owner(path)
        if other != "" and path.startswith("views/"):
            remove(path)
        elif other is None:
            theirs.append("/".join(path.split("/")[:3]))
        elif other and not _BESIDE.match(path):
            machines.add(other)
            elsewhere.append(path)
        elif path.startswith("views/") and all(map(str.isalnum, found)):
            weak.append(path)
        else:
            (hits if _is_ours(path) else theirs).append(path)
    # Views were rebuilt from the rest: a single word in them alone is the program's own.
    found_here = tuple([*hits, *weak] if hits else ())
    yours = tuple(dict.fromkeys(theirs))
    return Probe(files, total, found_here, yours, tuple(sorted(machines)), tuple(elsewhere))


def _read_blocks(path: str, overlap: int) -> Iterator[tuple[bytes, int]]:
    """Yield a file in blocks, and how many bytes of each are new: each begins with the end of the one before."""
    with open(path, "rb") as file:
        end = b""
        while block := file.read(max(_BLOCK, overlap)):
            yield end + block, len(block)
            end = (end + block)[-overlap:]


def _is_ours(path: str) -> bool:
    """True if the program keeps this file; what an editor or a person put beside its pages is theirs."""
    top, _, rest = path.partition("/")
    if top in ("log", "views"):
        return True
    name = path.rpartition("/")[2]
    is_page = name.endswith(".md") and not name.startswith((".", "#"))
    return (is_page and (not rest or top in ("facts", "episodes", "days", "review"))) or path == "state.json"


def _refuse_unread(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):  # removed meanwhile
        raise _unproven(str(error.filename), error) from error


def _unproven(path: str, error: OSError) -> Refused:
    return Refused(
        f"The text was removed, but not proven gone: {path} could not be read ({error.strerror}). "
        "Make it readable and run the same command again."
    )


def _list_names(folder: str) -> Iterator[tuple[str, bool]]:
    """Yield every name, hidden ones too, and whether it is a regular file; link targets are outside this folder."""
    for above, names, files in os.walk(folder, onerror=_refuse_unread):
        names.sort()
        for name in sorted((*names, *files)):
            path = os.path.join(above, name)
            try:
                is_file = stat.S_ISREG(os.lstat(path).st_mode)
            except FileNotFoundError:
                continue
            yield os.path.relpath(path, folder).replace(os.sep, "/"), is_file
