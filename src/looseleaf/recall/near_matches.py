"""Near matches: terms for a word that no text has (misspelled, within a compound, or a compound itself), and texts
that are like a question by meaning.

The index finds candidates in its vocabulary; this module says which count, and how much (a factor below 1). An exact
term is never here: it is not its own misspelling, nor its own part.
"""

from __future__ import annotations

import os

from looseleaf.base.errors import Invalid, Refused
from looseleaf.language import stems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Any

    from looseleaf.index.embed import Background, Embedder
    from looseleaf.index.protocol import Doc, Index, Only, Vectors
    from looseleaf.recall.hits import HitReader


_LINKS = ("es", "en", "er", "s", "n", "e")
"""Links between the words of a compound: Arbeit-s-vertrag, Sonne-n-schirm."""

_SHORTEST = 9
"""Fewest letters of a compound."""

_LONG = 6
"""Fewest letters of a part in the middle: shorter ones occur by chance."""


def find_misspelled(term: str, candidates: Iterable[str]) -> list[tuple[str, float]]:
    """Return the candidates that `term` may misspell, likeliest first."""
    if len(term) < 4 or not term.isalpha():
        return []  # no letter of a number or of a short word may be wrong
    allowed = 1 if len(term) < 8 else 2
    found = []
    for candidate in dict.fromkeys(candidates):
        if abs(len(candidate) - len(term)) > allowed or not candidate.isalpha():
            continue
        same_start = candidate[:1] == term[:1]
        errors = distance(term, candidate, allowed)
        if errors == 1 and same_start:
            found.append((candidate, 0.8 if len(term) > 4 else 0.6))
        elif errors == 1 and len(term) > 5:
            found.append((candidate, 0.7))  # few people get the first letter wrong
        elif errors == 2 <= allowed and same_start:
            found.append((candidate, 0.6))
    return sorted(found, key=lambda each: (-each[1], each[0]))


def distance(first: str, second: str, most: int) -> int:
    """Count letters dropped, added, changed or swapped with the next; `most + 1` stands for any more."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    start = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        start += 1
    first, second = first[start:], second[start:]
    while first and second and first[-1] == second[-1]:
        first, second = first[:-1], second[:-1]
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first):
        last, before, row = before, row, [i + 1] + [0] * len(second)
        for j, other in enumerate(second):
            cost = min(row[j] + 1, before[j + 1] + 1, before[j] + (letter != other))
            if i and j and letter == second[j - 1] and first[i - 1] == other:
                cost = min(cost, last[j - 1] + 1)
            row[j + 1] = cost
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def find_compounds(term: str, candidates: Iterable[str]) -> list[tuple[str, float]]:
    """Return the compounds among the candidates that end or begin with `term`, or contain a long one; closest first."""
    if len(term) < 4 or not term.isalpha():
        return []
    least = 3 if len(term) > 4 else 4
    found = []
    for candidate in dict.fromkeys(candidates):
        if len(candidate) - len(term) < least or not candidate.isalpha():
            continue
        # The end is the thing itself (a Hausschlüssel is a key); the beginning only its sort.
        if candidate.endswith(term):
            found.append((candidate, 0.7))
        elif candidate.startswith(term):
            found.append((candidate, 0.6))
        elif len(term) >= _LONG and term in candidate[least:-least]:
            found.append((candidate, 0.5))  # Donau-dampfschifffahrt-s-museum
    return sorted(found, key=lambda each: (-each[1], len(each[0]), each[0]))


def cut_pieces(word: str) -> list[str]:
    """Return the terms to look up, which a long word (as asked) may consist of."""
    return list(dict.fromkeys(term for _, _, term in _find_pieces(word)))


def join_pieces(word: str, known: Collection[str]) -> list[tuple[str, float]]:
    """Return the known terms among `cut_pieces(word)` that make up most of the word. The factor is a piece's share.

    The chosen pieces cover the most letters, with the fewest pieces.
    """
    spans: dict[tuple[int, int], str] = {}
    for start, end, term in _find_pieces(word):
        if term in known:
            spans.setdefault((start, end), term)
    length = len(stems.fold(word))
    best: list[tuple[int, list[tuple[int, int]]]] = [(0, [])] * (length + 1)
    for at in range(1, length + 1 if spans else 0):
        choices = [best[at - 1]]
        for start, end in spans:
            if end == at and len(best[start][1]) < 3:
                covered, chosen = best[start]
                choices.append((covered + end - start, [*chosen, (start, end)]))
        best[at] = max(choices, key=lambda choice: (choice[0], -len(choice[1])))
    covered, chosen = best[-1]
    if covered * 2 < length:
        return []
    return [(spans[span], round(0.8 * (span[1] - span[0]) / length, 3)) for span in chosen]


def _find_pieces(word: str) -> list[tuple[int, int, str]]:
    """Return each piece's start and end in the folded word, and its term."""
    plain = stems.fold(word)
    if not _SHORTEST <= len(plain) <= 40 or not plain.isalpha():
        return []
    cuts = range(4, len(plain) - 3)
    spans = [(0, cut) for cut in cuts] + [(cut, len(plain)) for cut in cuts]
    spans += [(start, end) for start in cuts for end in cuts if end - start >= 4]
    found = []
    for start, end in spans:
        piece = plain[start:end]
        found.append((start, end, piece))
        if start == 0 or end == len(plain):
            tongues = ("german", "dutch") if start else ("german",)
            found += [(start, end, stems.stem(piece, tongue)) for tongue in tongues]
        if start == 0:
            links = (link for link in _LINKS if piece.endswith(link) and end - len(link) >= 4)
            found += [(start, end, piece.removesuffix(link)) for link in links]
    return [each for each in found if len(each[2]) >= 4]


# --- search by meaning: vectors of an embedder (extra `semantic`; off by default) -----------

OFF, MINILM = "off", "minilm"
KEY = "LOOSELEAF_SEMANTIC_KEY"
"""The environment variable with an endpoint's key, if it needs one."""

_LIKEST = 100
"""Candidates by likeness."""

_AT_ONCE = 256
"""Texts to give the background for one question, or to embed at once: they must be read first."""

_AGAIN = 1024
"""Items to check again for each question: a replacement gets the number of the newest."""

_LOOKED = 8192
"""Items to check at once in a full pass: each check reads all vectors."""

_MARK = "vectors:"
_DIGITS = 18
"""Digits of a number that SQLite takes."""


class Meaning:
    """Search by meaning. `open_vectors` opens those of a model; `setting`: minilm, or an endpoint's address and its
    model's name, separated by a blank."""

    def __init__(
        self,
        open_vectors: Callable[[str], Vectors],
        setting: str,
        embedder: Embedder | None,
        note: Callable[[str], None],
    ) -> None:
        self._open_vectors = open_vectors
        self._setting = setting
        self._given = embedder
        self._note = note
        self._loaded: tuple[Embedder, Vectors, Background] | None = None
        self._pid = os.getpid()
        self._is_broken = False

    def _load(self) -> tuple[Embedder, Vectors, Background]:
        if self._pid != os.getpid():  # the thread stayed in the parent, and may have held a lock
            self._loaded, self._pid = None, os.getpid()
        if self._loaded is None:
            from looseleaf.index.embed import Background, embedder_name, need_numpy

            need_numpy()
            embedder = self._given or create_embedder(self._setting)
            vectors = self._open_vectors(embedder_name(embedder))
            self._loaded = embedder, vectors, Background(embedder, vectors)
        return self._loaded

    def close(self) -> None:
        if self._loaded is not None and self._pid == os.getpid():
            _, vectors, background = self._loaded
            background.stop()
            vectors.close()

    def _disable(self, error: Refused) -> None:
        """Stop trying: what fails once fails slowly for each question."""
        self._is_broken = True
        self._note(str(error))

    def find_like(
        self, query: str, index: Index, found: Sequence[Doc], only: Only
    ) -> tuple[list[Doc], dict[int, float]]:
        """Return new items that are like the question, and how like it each item is. If that fails, note it once and
        search by words alone."""
        if self._is_broken or not query.strip() or not index.last():
            return [], {}
        try:
            from looseleaf.index.embed import embedded

            embedder, vectors, _ = self._load()
            asked = embedded(embedder, [query])  # even without vectors: reports a missing embedder
            likest = [number for number, _ in vectors.search(asked, _LIKEST)]
            have = {doc.id for doc in found}
            more = [doc for doc in index.by_hash(likest, only) if doc.id not in have]
            hashes = index.hashes_of([*have, *(doc.id for doc in more)])
            cosines = vectors.cosines(asked, set(hashes.values()))
        except Refused as error:
            self._disable(error)
            return [], {}
        return more, {name: cosines[number] for name, number in hashes.items() if number in cosines}

    def embed_later(self, index: Index, read: HitReader) -> None:
        """Embed texts without a vector, in the background."""
        if self._is_broken:
            return
        try:
            _, vectors, background = self._load()
            if background.wait(0):
                if background.note is not None:
                    self._note(background.note)
                pending = self._find_pending(index, read, vectors)
                if pending:
                    background.start(lambda: pending)
        except Refused as error:
            self._disable(error)

    def _find_pending(self, index: Index, read: HitReader, vectors: Vectors) -> list[tuple[int, str]]:
        """Return the next texts without a vector, by hash."""
        known = _read_progress(index, vectors)
        last = max(0, min(known, index.last()) - _AGAIN)
        pending: dict[int, str] = {}
        while not pending and (rows := list(index.hashes(last, _AGAIN))):
            pending = _read_texts(index, read, _find_missing(vectors, rows)[:_AT_ONCE])
            if not pending:
                last = rows[-1][0]
        if last > known:
            _save_progress(index, vectors, last)
        return list(pending.items())

    def embed(self, index: Index, read: HitReader, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed all texts without a sound vector; return how many. Check every item, also those checked before."""
        from looseleaf.index.embed import embedded

        embedder, vectors, background = self._load()
        background.stop()
        background.wait()
        done = last = 0
        while rows := list(index.hashes(last, _LOOKED)):
            lacking = _find_missing(vectors, rows)
            for first in range(0, len(lacking), _AT_ONCE):
                some = lacking[first : first + _AT_ONCE]
                texts = _read_texts(index, read, some)
                numbers = vectors.missing(texts)  # another process may embed as well
                if numbers:
                    done += vectors.add(numbers, embedded(embedder, [texts[number] for number in numbers]))
                if progress is not None:
                    progress(some[-1], index.last())
            last = rows[-1][0]
            _save_progress(index, vectors, last)
        if progress is not None:
            progress(last, last)
        self._is_broken = False  # it works again
        return done


def _find_missing(vectors: Vectors, rows: Sequence[tuple[int, int]]) -> list[int]:
    """Return the items without a vector."""
    missing = set(vectors.missing(number for _, number in rows))
    return [name for name, number in rows if number in missing]


def _read_texts(index: Index, read: HitReader, names: Sequence[int]) -> dict[int, str]:
    """Return the texts to embed of these items, by hash."""
    texts: dict[int, str] = {}
    for found in index.found(names):
        if found.hash not in texts and (text := read(found)) is not None:
            unsigned = _strip_speaker(text.text, found.speaker)
            if unsigned.strip():  # some servers refuse an empty text, and the whole batch with it
                texts[found.hash] = unsigned
    return texts


def _read_progress(index: Index, vectors: Vectors) -> int:
    """Return the last item up to which all have vectors in these files; 0 for other files or a foreign mark."""
    making, _, last = index.mark(f"{_MARK}{vectors.name}").partition(" ")
    known = making == vectors.making != "" and last.isascii() and last.isdecimal() and len(last) < _DIGITS
    return int(last) if known else 0


def _save_progress(index: Index, vectors: Vectors, last: int) -> None:
    try:
        index.take(f"{_MARK}{vectors.name}", f"{vectors.making} {last}", ())
    except OSError:
        pass  # it is checked again


def _strip_speaker(text: str, speaker: str) -> str:
    """Drop the speaker's name before a text: to a model, texts that begin alike are alike."""
    begin = f"{speaker}: "
    return text[len(begin) :] if speaker and text[: len(begin)].casefold() == begin else text


def create_embedder(setting: str) -> Embedder:
    """Create the embedder that a setting names."""
    from looseleaf.index import embed

    if setting == MINILM:
        return embed.minilm()
    address, _, model = setting.partition(" ")
    if not model.strip():
        raise Invalid(
            f"`semantic` is {setting!r}. Set it to `minilm`, or to the address of an "
            "endpoint and the name of its model, as in `http://localhost:11434/v1 nomic-embed-text`."
        )
    key: Any = os.environ.get(KEY)
    return embed.endpoint(address, model.strip(), key)
