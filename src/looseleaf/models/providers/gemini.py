"""Google's models, through the SDK `google-genai`."""

from __future__ import annotations

from looseleaf.models import failures
from looseleaf.models.call import Caller, missing
from looseleaf.models.lines import lines, with_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.models.dialect import Dialect
    from looseleaf.models.failures import Failure
    from looseleaf.models.stream_thread import Line


class Gemini(Caller):
    """A model behind generateContent.

        Gemini("gemini-3.8-flash", api_key="…", seconds=60)

    It takes what every `Caller` takes: api_key (else GEMINI_API_KEY), base_url (else GOOGLE_GEMINI_BASE_URL), headers,
    seconds, retries, pause, patience, extensions, calls.
    """

    dialect = "gemini"
    title = "Gemini"
    variable = "GEMINI_API_KEY"
    place = "GOOGLE_GEMINI_BASE_URL"
    usual = "https://generativelanguage.googleapis.com"

    def _spoken(self) -> Dialect:
        from looseleaf.models.providers.gemini_dialect import DIALECT

        return DIALECT

    def _where(self) -> str:
        # The SDK has two of them, and goes by the environment.
        is_cloud = self._base_url is None and getattr(self._client, "vertexai", False)
        return "https://aiplatform.googleapis.com" if is_cloud else super()._where()

    def _connect(self) -> Any:
        try:
            from google import genai
        except ImportError:
            raise missing("google-genai", "gemini") from None
        given: dict[str, Any] = {} if self._api_key is None else {"api_key": self._api_key, "vertexai": False}
        sent: dict[str, Any] = {"follow_redirects": False, "event_hooks": {"response": [_arrived]}}
        if self._is_here():
            import httpx

            # With a transport of its own a client asks the environment for no proxy.
            sent["transport"] = httpx.HTTPTransport()
        return genai.Client(
            **given,
            http_options={
                "base_url": self._base_url,
                "headers": self._headers,
                # A key goes where it was meant to go, and nowhere else.
                "client_args": sent,
            },
        )

    def _open(self, payload: dict[str, Any], seconds: float) -> Line:
        from looseleaf.models.stream_thread import Line

        client = self._connected()
        config = dict(payload.get("config") or {})
        config["http_options"] = {"timeout": max(1, int(seconds * 1000))} | (config.get("http_options") or {})
        stream = client.models.generate_content_stream(**payload | {"config": config})
        return Line(_plain(stream))

    def _meaning(self, error: BaseException, begun: bool) -> Failure:
        from google.genai import errors

        provider = self._provider()
        if isinstance(error, errors.APIError):
            headers = getattr(error.response, "headers", None) or {}
            said, code = str(error.message or error.details), str(error.status or "")
            reasons = " ".join(str(each.get("reason", "")) for each in _details(error))
            return failures.of_status(
                provider, int(error.code or 500), said, f"{code} {reasons}".strip(), headers, _delay(error)
            )
        found = failures.of_transport(provider, error, begun)
        if found is not None:
            return found
        if isinstance(error, ValueError) and "api key" in str(error).lower().replace("_", " ") and not begun:
            return failures.without_key(provider)
        return failures.of_rest(provider, error, begun)


def _arrived(response: Any) -> None:
    """The SDK keeps its responses to itself, and whoever wants to hang up needs one; and it reads them by lines."""
    from looseleaf.models.stream_thread import ARRIVED

    response.iter_lines = lambda: (with_text(line, "args", _wrapped) for line in lines(response.iter_bytes()))
    ARRIVED.get(lambda response: None)(response)


def _plain(stream: Any) -> Any:
    try:
        for chunk in stream:
            chunk.sdk_http_response = None
            plain = chunk.model_dump(mode="json", by_alias=True, exclude_none=True)
            for candidate in plain.get("candidates", ()):
                for part in candidate.get("content", {}).get("parts", ()):
                    _unwrap(part.get("functionCall"))
            yield plain
    finally:
        stream.close()


_AS_TEXT = "malformed"
"""The only member of arguments that stand for a text. Those that came with such a member are a text on their way, too:
so none can pass for what it is not."""


def _wrapped(text: str) -> dict[str, str] | None:
    """What the SDK, which parses all that comes, is given for arguments that no log could hold."""
    from looseleaf.models.stream_parts import arguments_of

    given = arguments_of(text)
    return {_AS_TEXT: text} if isinstance(given, str) or _AS_TEXT in given else None


def _unwrap(call: Any) -> None:
    if isinstance(call, dict) and isinstance(call.get("args"), dict) and _AS_TEXT in call["args"]:
        call["args"] = call["args"][_AS_TEXT]


def _details(error: Any) -> list[dict[str, Any]]:
    body = error.details if isinstance(error.details, dict) else {}
    told = (body.get("error") or body).get("details")
    return [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []


def _delay(error: Any) -> float | None:
    """Seconds to wait, which Google says in the body: `17s`."""
    asked = next((each["retryDelay"] for each in _details(error) if "retryDelay" in each), "")
    return failures.number(str(asked).removesuffix("s"))
