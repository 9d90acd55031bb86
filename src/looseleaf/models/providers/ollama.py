"""Models that Ollama runs, through the client of the SDK `ollama`.

Its `chat` is not used: it leaves out what it does not know of a tool's schema, takes an image that is the name of a
file for that file, and tears lines. The client's address, headers and connection are.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.models import failures
from looseleaf.models.call import Caller, missing
from looseleaf.models.lines import lines, with_text
from looseleaf.models.providers.openai import CONNECTING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.models.dialect import Dialect
    from looseleaf.models.failures import Failure
    from looseleaf.models.stream_thread import Line


class _Status(Exception):
    """An answer that is none. `headers` say how long to wait."""

    def __init__(self, status: int, said: str, headers: Any) -> None:
        super().__init__(said)
        self.status = status
        self.headers = headers


class Ollama(Caller):
    """A model of a local Ollama, or of one elsewhere.

        Ollama("llama3.2", base_url="http://192.168.1.20:11434")

    It takes what every `Caller` takes: base_url (else OLLAMA_HOST, else this machine; without /v1), api_key (for
    ollama.com; else OLLAMA_API_KEY), headers, seconds, retries, pause, patience, extensions, calls.
    """

    dialect = "ollama"
    title = "Ollama"
    variable = "OLLAMA_API_KEY"
    place = "OLLAMA_HOST"
    usual = "http://127.0.0.1:11434"

    def _spoken(self) -> Dialect:
        from looseleaf.models.providers.ollama_dialect import DIALECT

        return DIALECT

    def _connect(self) -> Any:
        try:
            import ollama
        except ImportError:
            raise missing("ollama", "ollama") from None
        headers = dict(self._headers)
        if self._api_key is not None:
            headers["Authorization"] = f"Bearer {self._api_key}"
        given: dict[str, Any] = {}
        if self._is_here():
            import httpx

            # With a transport of its own a client asks the environment for no proxy.
            given["transport"] = httpx.HTTPTransport()
        client = ollama.Client(host=self._base_url, headers=headers, follow_redirects=False, **given)
        if not hasattr(client, "_client"):
            raise Refused(
                "No model was asked: this version of the package 'ollama' is not known. Install ollama 0.6."
            )
        return client

    def _open(self, payload: dict[str, Any], seconds: float) -> Line:
        import httpx

        from looseleaf.models.stream_thread import Line

        client = self._connected()._client
        request = client.build_request(
            "POST",
            "/api/chat",
            json=payload | {"stream": True},
            timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECTING)),
        )
        response = client.send(request, stream=True)
        if response.status_code != 200:
            response.read()
            raise _Status(response.status_code, _said(response.text), response.headers)
        return Line(_lines(response), response)

    def _meaning(self, error: BaseException, begun: bool) -> Failure:
        provider = self._provider()
        if isinstance(error, _Status):
            return failures.of_status(provider, error.status, str(error), headers=error.headers)
        return failures.of_transport(provider, error, begun) or failures.of_rest(provider, error, begun)

    def _to_have_it(self) -> str:
        return f"Get it with `ollama pull {self.name}`, or give the name of one that `ollama list` shows."

    def _to_start_it(self) -> str:
        return (
            "Start it with `ollama serve`, or give the address at which it runs (OLLAMA_HOST, or `base_url`)."
        )


def _lines(response: Any) -> Iterator[dict[str, Any]]:
    import json

    for line in lines(response.iter_bytes()):
        if line.strip():
            # Arguments that cannot be read are those of one call: the rest of the answer is read all the same.
            chunk = json.loads(with_text(line, "arguments", _unreadable))
            if isinstance(chunk, dict) and chunk.get("error"):
                raise _Status(500, str(chunk["error"]), response.headers)
            yield chunk


def _unreadable(text: str) -> str | None:
    from looseleaf.models.stream_parts import arguments_of

    return text if isinstance(arguments_of(text), str) else None


def _said(text: str) -> str:
    import json

    try:
        return str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        return text
