"""Search by meaning: which items are like the question, by vectors of an embedder (extra `semantic`; off by default).

Vectors are a view of the texts, made in the background of a program that recalls, or all at once by `embed`. What has
none yet is found by its words.
"""

from __future__ import annotations

import os

from looseleaf.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.core.ranking import Doc
    from looseleaf.index.background import Background
    from looseleaf.index.embed import Embedder
    from looseleaf.index.protocol import Index, Only
    from looseleaf.index.vectors import Vectors
    from looseleaf.recall.read import Read

VIEW = "views/vectors"
OFF, MINILM = "off", "minilm"
KEY = "LOOSELEAF_SEMANTIC_KEY"
"""The environment variable with the key of an address, if it wants one."""

_LIKEST = 100
"""Items that are candidates because they are like the question."""

_AT_ONCE = 256
"""Texts that are handed to the background for one question: they have to be read first."""

_MARK = "vectors:"


class Meaning:
    """`setting`: minilm, or the address of an endpoint and the name of its model, with a blank between."""

    def __init__(
        self, folder: str, setting: str, embedder: Embedder | None, note: Callable[[str], None]
    ) -> None:
        self._folder = os.path.join(folder, *VIEW.split("/"))
        self._setting = setting
        self._given = embedder
        self._note = note
        self._loaded: tuple[Embedder, Vectors, Background] | None = None
        self._is_broken = False

    def _load(self) -> tuple[Embedder, Vectors, Background]:
        if self._loaded is None:
            from looseleaf.index.background import Background
            from looseleaf.index.vectors import Vectors

            embedder = self._given or made(self._setting)
            vectors = Vectors(self._folder, embedder.name)
            self._loaded = embedder, vectors, Background(embedder, vectors)
        return self._loaded

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded[2].stop()

    def like(
        self, query: str, index: Index, found: Sequence[Doc], only: Only
    ) -> tuple[list[Doc], dict[int, float]]:
        """Items that are like the question and were not found yet; and how like it each of all these is. That it cannot
        be done is said once, and words do."""
        if self._is_broken:
            return [], {}
        try:
            embedder, vectors, _ = self._load()
            if not len(vectors):
                return [], {}
            asked = embedder([query])
            likest = [number for number, _ in vectors.search(asked, _LIKEST)]
            have = {doc.id for doc in found}
            more = [doc for doc in index.by_hash(likest, only) if doc.id not in have]
            hashes = index.hashes_of([*have, *(doc.id for doc in more)])
            cosines = vectors.cosines(asked, set(hashes.values()))
        except (Refused, OSError) as error:
            self._is_broken = True
            self._note(f"What is meant was not compared, only words: {error}")
            return [], {}
        return more, {name: cosines[number] for name, number in hashes.items() if number in cosines}

    # --- making vectors ----------------------------------------------------------------

    def follow(self, index: Index, read: Read) -> None:
        """Go on embedding what has no vector yet, in the background."""
        if self._is_broken:
            return
        try:
            _, vectors, background = self._load()
            if background.wait(0):
                if background.note is not None:
                    self._note(background.note)
                pending, _ = self._missing(index, read, vectors)
                if pending:
                    background.start(lambda: pending)
        except (Refused, OSError) as error:
            self._is_broken = True
            self._note(str(error))

    def embed(self, index: Index, read: Read, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed all that has no vector yet; how many texts that were."""
        embedder, vectors, background = self._load()
        background.stop()
        background.wait()
        done = 0
        while True:
            pending, last = self._missing(index, read, vectors)
            if pending:
                done += vectors.add(
                    [number for number, _ in pending], embedder([text for _, text in pending])
                )
            self._reached(index, embedder, last)
            if progress is not None:
                progress(last, index.last())
            if last >= index.last():
                return done

    def _missing(self, index: Index, read: Read, vectors: Vectors) -> tuple[list[tuple[int, str]], int]:
        """The next texts without a vector, by their hashes; and the last item that was looked at."""
        last = int(index.mark(f"{_MARK}{self._load()[0].name}") or 0)
        pending: dict[int, str] = {}
        while len(pending) < _AT_ONCE:
            rows = dict(index.hashes(last, _AT_ONCE))
            if not rows:
                break
            lacking = set(vectors.missing(rows.values()))
            wanted = [name for name, number in rows.items() if number in lacking]
            for found in index.found(wanted):
                text = read(found)
                if text is not None and found.hash not in pending:
                    pending[found.hash] = _unsigned(text.text, found.speaker)
            last = max(rows)
            if not pending:
                self._reached(index, self._load()[0], last)
        return list(pending.items()), last

    @staticmethod
    def _reached(index: Index, embedder: Embedder, last: int) -> None:
        try:
            index.take(f"{_MARK}{embedder.name}", str(last), ())
        except OSError:
            pass  # it is looked at again


def _unsigned(text: str, speaker: str) -> str:
    """Without the name of who says it before it: to a model, texts that begin alike are alike."""
    begin = f"{speaker}: "
    return text[len(begin) :] if speaker and text[: len(begin)].casefold() == begin else text


def made(setting: str) -> Embedder:
    """The embedder that a setting names."""
    from looseleaf.index import embed

    if setting == MINILM:
        return embed.minilm()
    address, _, model = setting.partition(" ")
    if not model.strip():
        raise Refused(
            f"Nothing was compared by meaning: `semantic` is {setting!r}. Set it to `minilm`, or to the address of an "
            "endpoint and the name of its model, as in `http://localhost:11434/v1 nomic-embed-text`."
        )
    key: Any = os.environ.get(KEY)
    return embed.endpoint(address, model.strip(), key)
