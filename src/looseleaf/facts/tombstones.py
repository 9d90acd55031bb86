"""Tombstones: what was forgotten, so that it does not come back; in hashes that nobody can read (FORMAT §17.5).

Each forgetting leaves one record in `log/tombstones.jsonl`: ids, counts and keyed hashes, and no word of what it was
about. The key is `log/key`: without it not even a guess can be tried. A memory that never forgot has no such file, and
asking costs one look for it.
"""

from __future__ import annotations

from looseleaf.store import TOMBSTONES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from looseleaf.base.values import Record
    from looseleaf.store.protocol import Store

    Kind = Literal["item", "text", "sentence", "fact", "session", "asked"]

FILE = "log/tombstones.jsonl"
SCHEMA = "tombstones.v1"
KEY = "log/key"
_BYTES = 16


def hashed(key: bytes, kind: str, text: str) -> str:
    """What a tombstone holds of a text: the same words give the same hash, in whichever normal form they are."""
    from hashlib import blake2b
    from unicodedata import normalize

    words = normalize("NFC", text).strip()
    data = f"{kind}\n{words}".encode("utf-8", "surrogatepass")
    return blake2b(data, key=key, digest_size=_BYTES).hexdigest()


def sentence_text(sentence: str) -> str:
    """A sentence as tombstones of the kind `sentence` know it: folded, without what makes it a line of a page before
    it, and without its stop."""
    from looseleaf.text.spellings import folded

    return folded(sentence).lstrip("-*+#> ").removeprefix("[ ] ").removeprefix("[x] ").rstrip(" .!?…。！？")


def fact_text(topic: str, relation: str, said: str) -> str:
    """A fact as tombstones of the kind `fact` know it: its slot and its object, in their normal forms."""
    from looseleaf.language.relations import slot
    from looseleaf.language.value_keys import key

    return f"{slot(topic, relation)}\n{key(said, relation)}"


class Tombstones:
    """What was forgotten in a store, as it is when first asked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._look: object = ()
        self._hashes: dict[str, float] = {}
        self._key = b""

    def holds(self, kind: Kind, text: str) -> bool:
        """Whether this was forgotten: an importer's key of an `item`, a document's whole `text`, a `sentence` (as
        `sentence_text` has it), a `fact` (as `fact_text` has it), the name of a `session`, what was `asked` to be
        forgotten."""
        return self.since(kind, text) is not None

    def since(self, kind: Kind, text: str) -> float | None:
        """When it was last forgotten; None: it was not. What is said later may be remembered."""
        self._read()
        return self._hashes.get(hashed(self._key, kind, text)) if self._hashes else None

    @property
    def are_there(self) -> bool:
        """Whether anything was ever forgotten here."""
        self._read()
        return bool(self._hashes)

    @property
    def last(self) -> float | None:
        """When something was last forgotten."""
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
            for each in _hashes_of(line.record):
                self._hashes[each] = max(ts, self._hashes.get(each, ts))


def _hashes_of(record: Record) -> Iterable[str]:
    hashes = record.get("hashes")
    return [str(each) for each in hashes] if isinstance(hashes, list) else []
