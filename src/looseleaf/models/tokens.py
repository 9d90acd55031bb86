"""Token counts: exact and offline where a vocabulary is loaded, an estimate where that would take too long.

Loading a vocabulary takes longer than a hook may, so a view keeps counts by the hash of the text: readers of a window
find them there and load nothing. Invariant: a count reported as exact is the vocabulary's, for these bytes. The view is
disposable and never makes a count fail: what cannot be read is counted again, what cannot be written is not missed.
"""

from __future__ import annotations

import os
from _thread import RLock
from binascii import crc32

from looseleaf.base.errors import Invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Sequence

    TokenCounter = Callable[[str], int]
    """From a text to its number of tokens. One without `exact` counts as exact."""

DEFAULT = "o200k_base"

VOCABULARIES = (
    *("o200k_base", "cl100k_base", "llama3", "llama2", "qwen3", "gemma3", "gemma2"),
    *("deepseek_v3", "mistral_v3", "mistral_v2", "kimi_k2", "glm4", "phi4"),
)
"""The vocabularies of `load`. All of them take time in proportion to the text, whatever is in it."""

_PIECE = 1 << 20
"""Longer texts are counted in pieces: not all ids are in memory at once, and a fork does not wait for all of them."""


_LOCK = RLock()
"""Held while the tokenizer or SQLite works, and during a fork: a child must not inherit a lock inside one of them."""

os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class Vocabulary:
    """A counter with one vocabulary. `exact` is False if its package is missing: then it estimates."""

    __slots__ = ("_encode", "exact", "name")

    def __init__(self, name: str) -> None:
        self.name, self._encode = name, _encoder(name)
        self.exact = self._encode is not None

    def __call__(self, text: str, /) -> int:
        """Count the tokens. A text of more than a million characters is cut after line ends, or anywhere without them;
        each cut may add a token or two."""
        if self._encode is None:
            return estimate(text)
        count = 0
        for piece in _pieces(text):
            with _LOCK:
                try:
                    count += len(self._encode(piece))
                except UnicodeEncodeError:  # half a surrogate pair
                    count += len(self._encode(_bytes(piece).decode()))
        return count


_loaded: dict[str, Vocabulary] = {}


def load(name: str = DEFAULT) -> Vocabulary:
    """Return the exact counter of a vocabulary, loaded once per process."""
    if name not in VOCABULARIES:
        known = ", ".join(sorted(VOCABULARIES))
        raise Invalid(f"Nothing was counted: {name!r} is not a vocabulary. Use one of: {known}.")
    if name not in _loaded:
        with _LOCK:
            _loaded.setdefault(name, Vocabulary(name))
    return _loaded[name]


def _encoder(name: str) -> Callable[[str], list[int]] | None:
    try:
        from splintr import Tokenizer

        # Ordinary: a text that spells a control token is text, and a user may write one.
        return Tokenizer.from_pretrained(name).encode_ordinary
    except (ImportError, ValueError):  # this version of the package does not have it
        return None


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > _PIECE:
        cut = text.rfind("\n", start, start + _PIECE) + 1 or start + _PIECE
        yield text[start:cut]
        start = cut
    yield text[start:]


def _bytes(text: str) -> bytes:
    """Return the text in UTF-8, with broken surrogate pairs replaced, as a provider would."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-8")


def at_most(text: str) -> int:
    """Return an upper bound for every vocabulary; a text within a limit by this number needs no counting.

    A token covers at least a byte of UTF-8; one more, because some vocabularies put a space before the text.
    """
    return len(text.encode("utf-8", "surrogatepass")) + 1 if text else 0


# Characters by the first byte of their UTF-8: up to and including this byte, this kind. That gives the script, which
# is most of what an estimate needs.
_KINDS = (
    *((0x08, "X"), (0x09, "t"), (0x0A, "n"), (0x0C, "X"), (0x0D, "n"), (0x1F, "X"), (0x20, "s")),
    *((0x2F, "p"), (0x39, "d"), (0x40, "p"), (0x5A, "A"), (0x60, "p"), (0x7A, "a"), (0x7F, "p")),
    (0xBF, "-"),  # a further byte of a character: dropped
    *((0xC3, "L"), (0xCB, "E"), (0xCD, "X")),  # é ü; ł ő; marks over letters
    *((0xCF, "G"), (0xD3, "Y"), (0xDF, "H")),  # Greek; Cyrillic; Armenian, Hebrew, Arabic
    *((0xE0, "I"), (0xE1, "J")),  # Indic, Thai; Georgian, the rest of Vietnamese
    *((0xE2, "P"), (0xE3, "K"), (0xE9, "Z"), (0xED, "O")),  # dashes, quotes, arrows; kana; Han; Hangul
    *((0xEF, "X"), (0xFF, "S")),  # full-width forms; emoji, rare characters
)
_KIND = "".join(next(kind for last, kind in _KINDS if byte <= last) for byte in range(256)).encode("ascii")
_FURTHER = bytes(range(0x80, 0xC0))


def _only(kinds: str) -> bytes:
    return bytes(ord("x") if chr(kind) in kinds else ord(" ") for kind in range(256))


# Thousandths of a token, fitted to o200k_base on some forty kinds of text (chats, code, JSON, logs, twenty languages,
# base64) so that few estimates are too low.
_EACH = (
    *((b"a", 185), (b"A", 500), (b"d", 410), (b"p", 100)),
    *((b"t", 650), (b"s", 10), (b"n", 70), (b"X", 1000)),
)
_FOREIGN = (
    *((b"L", 1700), (b"E", 2000), (b"G", 430), (b"Y", 370), (b"H", 400), (b"I", 450), (b"J", 500)),
    *((b"P", 1250), (b"K", 780), (b"Z", 900), (b"O", 840), (b"S", 2400)),
)
_RUNS = ((_only("aALEGYHJ"), 280), (_only("d"), 800), (_only("p"), 720), (_only("n"), 1200))
_BLANK = bytes(ord(" ") if chr(kind) == "s" else ord("x") for kind in range(256))


def estimate(text: str) -> int:
    """Estimate the tokens without a vocabulary: mostly within a fifth of o200k_base, and rather more than less.

    Every step is one pass in C over the text as a string of kinds.
    """
    data = text.encode("utf-8", "surrogatepass")
    kinds = data.translate(_KIND) if len(data) == len(text) else data.translate(_KIND, _FURTHER)
    total = sum(weight * kinds.count(kind) for kind, weight in _EACH)
    if len(data) > len(text):
        foreign = kinds.translate(None, b"aAdptsn")
        total += sum(weight * foreign.count(kind) for kind, weight in _FOREIGN)
    for alike, weight in _RUNS:
        total += weight * (b" " + kinds.translate(alike)).count(b" x")
    total += 1300 * kinds.count(b"aA")  # a new word, in camelCase as in base64
    total += 700 * kinds.translate(_BLANK).count(b"  x")  # indentation
    return -(-total // 1000)


_REMEMBERED = 1 << 16
"""Counts kept in the process: more than the messages of a window; a few megabytes."""


class TokenCounts:
    """Counts of texts in one vocabulary, kept in the process and in a file that any process may use.

    Nothing stays open between calls: the file may be deleted or replaced at any time, and a fork inherits nothing.
    `exact` is True if every number of the last `count` came from the vocabulary. `inside`: the folder that is not made
    again if it is gone; else the one around the file's folder.
    """

    def __init__(
        self,
        path: str | None,
        vocabulary: str = DEFAULT,
        *,
        inside: str | None = None,
        loader: Callable[[str], TokenCounter] = load,
    ) -> None:
        self.vocabulary, self.exact, self._loader = vocabulary, True, loader
        self._view = None if path is None else _View(path, vocabulary, inside)
        self._known: dict[bytes, int] = {}

    def count(self, texts: Sequence[str], *, quick: bool = False) -> list[int]:
        """Return the tokens of each text. `quick`: unknown ones are estimated, and not kept."""
        from hashlib import blake2b

        keys = [blake2b(_bytes(text), digest_size=16).digest() for text in texts]
        counted = {key: known for key in keys if (known := self._known.get(key)) is not None}
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in counted}
        view = self._view
        if unknown and view is not None:
            found = view.read(unknown)
            if found is None:
                view = None
            else:
                counted |= self._remember(found)
                unknown = {key: text for key, text in unknown.items() if key not in found}
        self.exact = True
        if unknown:
            counter: TokenCounter = estimate if quick else self._loader(self.vocabulary)
            new = {key: counter(text) for key, text in unknown.items()}
            counted |= new
            self.exact = not quick and getattr(counter, "exact", True)
            if self.exact:
                self._remember(new)
                if view is not None:
                    view.write(new)
        return [counted[key] for key in keys]

    def close(self) -> None:
        """Drop the counts kept in the process. The file is not open."""
        self._known = {}

    def _remember(self, counts: dict[bytes, int]) -> dict[bytes, int]:
        if len(self._known) + len(counts) > _REMEMBERED:
            self._known = {}
        self._known.update(counts)
        return counts


_SCHEMA = (
    "CREATE TABLE counts (vocabulary TEXT, text BLOB, tokens INTEGER, crc INTEGER, "
    "PRIMARY KEY (vocabulary, text)) WITHOUT ROWID"
)
_BUSY_SECONDS = 0.2
"""Longer than any process writes. Past that, counting again is quicker than waiting."""

_AT_ONCE = 500
"""Keys in one query; old versions of SQLite take no more than 999."""

_LARGEST = 64 * 1024 * 1024
"""Past this, more than a million texts, the file is started again."""


class _View:
    """The file. Every error of SQLite or of the disk ends here.

    There is no journal beside it: one that outlives a deleted file would be played into the next one. A file torn by a
    crash is found damaged, and made again.
    """

    def __init__(self, path: str, vocabulary: str, inside: str | None = None) -> None:
        self._path, self._vocabulary = path, vocabulary
        self._inside = os.path.dirname(os.path.dirname(path)) if inside is None else inside

    def read(self, keys: Iterable[bytes]) -> dict[bytes, int] | None:
        """Return the known counts. None if the file cannot be used now: then writing is pointless too."""
        return self._use(lambda connection: self._select(connection, list(keys)), make=False)

    def write(self, counts: dict[bytes, int]) -> None:
        for _ in range(2):  # once more if it was damaged and is gone, or was deleted just now
            written = self._use(lambda connection: self._insert(connection, counts), make=True)
            if written is None or written:
                break

    def _use(
        self, work: Callable[[sqlite3.Connection], dict[bytes, int]], *, make: bool
    ) -> dict[bytes, int] | None:
        """Return what `work` returns; empty if the file is missing or was damaged; None if it cannot be used now."""
        import sqlite3

        from looseleaf.index.sqlite import DamagedIndex, error_of, uri_of

        with _LOCK:
            try:
                before = self._file(make)
                if before is None:
                    return {}
                where = uri_of(self._path)
                connection = sqlite3.connect(where, timeout=_BUSY_SECONDS, isolation_level=None, uri=True)
            except (sqlite3.Error, OSError):
                return None
            try:
                return work(connection)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                if not isinstance(error_of(error), DamagedIndex):
                    return None
            finally:
                connection.close()
            try:
                if os.path.samestat(os.lstat(self._path), before):  # else another process was quicker
                    os.unlink(self._path)
            except OSError:
                return None
            return {}

    def _file(self, make: bool) -> os.stat_result | None:
        """Return the file, made if missing. OSError unless it is a file in a folder: a link could lead anywhere."""
        from stat import S_ISDIR, S_ISREG

        folder = os.path.dirname(self._path)
        try:
            if not S_ISDIR(os.lstat(folder).st_mode):
                raise NotADirectoryError(folder)
            found = os.lstat(self._path)
            if not S_ISREG(found.st_mode):
                raise OSError(self._path)
            if not make or found.st_size <= _LARGEST:
                return found
            os.unlink(self._path)
        except FileNotFoundError:
            if not make:
                return None
        try:
            if not os.path.lexists(folder):
                from looseleaf.store.disk import make_folders

                make_folders(folder, self._inside)
            # SQLite would give it the mode of the umask.
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:  # another process was quicker
            pass
        return self._file(False)

    def _select(self, connection: sqlite3.Connection, keys: list[bytes]) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        if _schema(connection) == [_SCHEMA]:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                query = f"SELECT text, tokens, crc FROM counts WHERE vocabulary = ? AND text IN ({marks})"
                rows = connection.execute(query, (self._vocabulary, *some))
                found |= {key: tokens for key, tokens, crc in rows if crc == self._crc(key, tokens)}
        return found

    def _insert(self, connection: sqlite3.Connection, counts: dict[bytes, int]) -> dict[bytes, int]:
        if _schema(connection) in ([], [_SCHEMA]):
            for statement in ("PRAGMA journal_mode = MEMORY", "PRAGMA synchronous = OFF", "BEGIN IMMEDIATE"):
                connection.execute(statement)
            if not _schema(connection):  # read again: now no other process can be making it
                connection.execute(_SCHEMA)
            rows = ((self._vocabulary, key, tokens, self._crc(key, tokens)) for key, tokens in counts.items())
            connection.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)", rows)
            connection.execute("COMMIT")
        return counts

    def _crc(self, key: object, tokens: object) -> int:
        """Return a checksum: SQLite does not check its pages, and a flipped bit must not pass for a count."""
        return crc32(f"{self._vocabulary} {key!r} {tokens!r}".encode())


def _schema(connection: sqlite3.Connection) -> list[str]:
    """Return all definitions in the file. Anything but our one table makes it foreign: not read, since a view in it may
    never end, and not written."""
    return [str(row[0]) for row in connection.execute("SELECT sql FROM sqlite_master")]
