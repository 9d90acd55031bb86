"""Tombstones: hashes of forgotten content, so that it does not come back (FORMAT §17.5).

Each forget leaves one record in `log/tombstones.jsonl`: ids, counts and keyed hashes, and no word of the content. The
key is `log/key`: without it, not even guesses can be tested. A memory that never forgot has no such file, and a lookup
costs one stat.
"""

from __future__ import annotations

from looseleaf.store import TOMBSTONES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from looseleaf.store.protocol import Store

    Kind = Literal["item", "text", "sentence", "fact", "session", "asked"]

FILE = "log/tombstones.jsonl"
SCHEMA = "tombstones.v1"
KEY = "log/key"
_BYTES = 16


def hashed(key: bytes, kind: str, text: str) -> str:
    """Hash a text for a tombstone: the same words give the same hash, in any normal form."""
    from hashlib import blake2b
    from unicodedata import normalize

    words = normalize("NFC", text).strip()
    data = f"{kind}\n{words}".encode("utf-8", "surrogatepass")
    return blake2b(data, key=key, digest_size=_BYTES).hexdigest()


def sentence_text(sentence: str) -> str:
    """Normalize a sentence for tombstones (`sentence`): folded, without list marks and closing punctuation."""
    from looseleaf.text.spellings import folded

    return folded(sentence).lstrip("-*+#> ").removeprefix("[ ] ").removeprefix("[x] ").rstrip(" .!?…。！？")


def fact_text(topic: str, relation: str, said: str) -> str:
    """Normalize a fact for tombstones of the kind `fact`: its slot and its object."""
    from looseleaf.language.relations import slot
    from looseleaf.language.value_keys import key

    return f"{slot(topic, relation)}\n{key(said, relation)}"


class Tombstones:
    """The forgotten content of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._look: object = ()
        self._hashes: dict[str, float] = {}
        self._key = b""

    def holds(self, kind: Kind, text: str) -> bool:
        """Return True if this was forgotten: an importer's key of an `item`, a document's whole `text`, a `sentence`
        (see `sentence_text`), a `fact` (see `fact_text`), the name of a `session`, or the words `asked` to be
        forgotten."""
        return self.since(kind, text) is not None

    def since(self, kind: Kind, text: str) -> float | None:
        """Return when it was last forgotten; None: never. Words said later may be remembered."""
        self._read()
        return self._hashes.get(hashed(self._key, kind, text)) if self._hashes else None

    @property
    def are_there(self) -> bool:
        """True if anything was ever forgotten here."""
        self._read()
        return bool(self._hashes)

    @property
    def last(self) -> float | None:
        """The time of the last forget."""
        self._read()
        return max(self._hashes.values(), default=None)

    def _read(self) -> None:
        found = self._store.stat(FILE)
        look = found.mark if found is not None else None
        if look == self._look:
            return
        self._look, self._hashes = look, {}
        if found is None:
            return
        key = self._store.get(KEY)
        self._key = key.data if key is not None else b""
        for line in self._store.read(TOMBSTONES):
            ts = float(line.record.get("ts") or 0.0)
            hashes = line.record.get("hashes")
            for each in map(str, hashes if isinstance(hashes, list) else ()):
                self._hashes[each] = max(ts, self._hashes.get(each, ts))
