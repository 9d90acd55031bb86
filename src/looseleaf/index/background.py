"""Embedding while the program does something else: what has no vector yet gets one, some texts at a time.

An embedder is anybody's code: it is called here only, and whatever it raises or gives is a sentence. The background
never keeps a process from ending and never raises into it; what went wrong is kept as a sentence. Ended at any
moment, it has lost the texts it was at, which the next one finds missing.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.index.embed import unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import Thread

    from looseleaf.index.embed import Embedder
    from looseleaf.index.nearest import Matrix
    from looseleaf.index.vectors import Vectors

    Pending = Callable[[], list[tuple[int, str]]]
    """What is to have vectors, as far as is known: hashes and texts. Asked again until it names nothing new."""

_AT_ONCE = 32
_LONGEST_SENTENCE = 300


def named(embedder: Embedder) -> str:
    """The name of an embedder, under which its vectors are kept."""
    try:
        name = embedder.name
        if name.encode("utf-8"):
            return name
        fault = "is empty"
    except Exception as error:  # noqa: BLE001 - anybody's code
        fault = f"could not be read ({_told(error)})"
    raise Refused(
        f"Nothing was embedded: the name of the embedder {fault}. Give it a `name` that says which model it is; until "
        "then recall finds by words."
    )


def embedded(embedder: Embedder, texts: Sequence[str]) -> Matrix:
    """As many rows of length 1 as texts. Refused, whatever else the embedder does."""
    try:
        import numpy

        with numpy.errstate(all="ignore"):  # too large for float32 is no number, which is told below
            rows = numpy.asarray(embedder(texts), dtype=numpy.float32)
            if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1]:
                fault = f"gave the shape {rows.shape} in place of a row for each text ({len(texts)})"
            elif (units := unit(rows)) is None:
                fault = "gave a row that is zero or no number"
            else:
                return units
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001 - anybody's code
        fault = f"raised {_told(error)}"
    raise Refused(
        f"Nothing was embedded: the embedder {named(embedder)} {fault}. Look at it; until then recall finds by words."
    )


class Background:
    """`done` counts what it embedded; `note` is what went wrong last, or None."""

    def __init__(self, embedder: Embedder, vectors: Vectors, at_once: int = _AT_ONCE) -> None:
        from threading import Lock

        self.done = 0
        self.note: str | None = None
        self._embedder = embedder
        self._vectors = vectors
        self._at_once = at_once
        self._lock = Lock()
        self._thread: Thread | None = None
        self._pending: Pending | None = None
        self._stopped = False

    def start(self, pending: Pending) -> None:
        """Embed what is missing of what it names. While that goes on already, it is asked as well when that is done."""
        from threading import Thread

        with self._lock:
            self._pending = pending
            self._stopped, self.note = False, None
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, name="looseleaf-embeds", daemon=True)
                self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it is done, or has been stopped, within so many seconds."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout)
        return thread is None or not thread.is_alive()

    def stop(self) -> None:
        """No more than what it is at: that is finished, which `wait` waits for."""
        with self._lock:
            self._stopped = True

    def _run(self) -> None:
        while (pending := self._next()) is not None:
            try:
                self._embed(pending)
            except BaseException as error:  # noqa: BLE001 - an embedder is anybody's code; what it raised is kept
                self.note = _sentence(error)

    def _next(self) -> Pending | None:
        with self._lock:
            pending, self._pending = self._pending, None
            if pending is None or self._stopped:
                self._thread = pending = None
            return pending

    def _embed(self, pending: Pending) -> None:
        tried: set[int] = set()
        while not self._stopped:
            texts = {each: text for each, text in pending() if each not in tried}
            missing = self._vectors.missing(texts)
            if not missing:
                return
            for first in range(0, len(missing), self._at_once):
                if self._stopped:
                    return
                some = self._vectors.missing(
                    missing[first : first + self._at_once]
                )  # another process embeds as well
                if some:
                    self.done += self._vectors.add(
                        some, embedded(self._embedder, [texts[each] for each in some])
                    )
            tried.update(texts)


def _sentence(error: BaseException) -> str:
    if isinstance(error, Refused):
        return str(error)
    return f"Embedding stopped: {_told(error)}. What has no vector is found by words."


def _told(error: BaseException) -> str:
    said = " ".join(str(error).split())[:_LONGEST_SENTENCE].rstrip(".")
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
