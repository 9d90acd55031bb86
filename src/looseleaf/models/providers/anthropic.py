"""Anthropic's models, through the SDK `anthropic`. Requests are sent and events taken as the JSON objects they are."""

from __future__ import annotations

from looseleaf.models import failures
from looseleaf.models.call import Caller, missing
from looseleaf.models.providers.openai import CONNECTING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.models.dialect import Dialect
    from looseleaf.models.failures import Failure
    from looseleaf.models.stream_thread import Line

_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The statuses that errors would have had if they had not come in the middle of a stream."""


class Anthropic(Caller):
    """A model behind the Messages API.

        Anthropic("claude-sonnet-5-5", api_key="…", seconds=60)

    It takes what every `Caller` takes: api_key (else ANTHROPIC_API_KEY), base_url (else ANTHROPIC_BASE_URL; without
    /v1), headers, seconds, retries, pause, patience, extensions, calls.
    """

    dialect = "anthropic"
    title = "Anthropic"
    variable = "ANTHROPIC_API_KEY"
    place = "ANTHROPIC_BASE_URL"
    usual = "https://api.anthropic.com"

    def _spoken(self) -> Dialect:
        from looseleaf.models.providers.anthropic_dialect import DIALECT

        return DIALECT

    def _connect(self) -> Any:
        try:
            import anthropic
        except ImportError:
            raise missing("anthropic", "anthropic") from None
        given: dict[str, Any] = {}
        if self._is_here():
            import httpx2

            # With a transport of its own a client asks the environment for no proxy.
            given["transport"] = httpx2.HTTPTransport()
        return anthropic.Anthropic(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            default_headers=self._headers,
            # A key goes where it was meant to go, and nowhere else.
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False, **given),
        )

    def _open(self, payload: dict[str, Any], seconds: float) -> Line:
        from looseleaf.models.stream_thread import Line

        client = self._connected()
        import anthropic

        stream = client.post(
            "/v1/messages",
            body=payload | {"stream": True},
            cast_to=object,
            options={"timeout": anthropic.Timeout(seconds, connect=min(seconds, CONNECTING))},
            stream=True,
            stream_cls=anthropic.Stream[object],
        )
        return Line(iter(stream), stream.response)

    def _meaning(self, error: BaseException, begun: bool) -> Failure:
        import anthropic

        provider = self._provider()
        if isinstance(error, anthropic.APIStatusError):
            status = error.status_code if error.status_code >= 300 else _STATUSES.get(error.type or "", 500)
            said = error.api_message or error.message
            return failures.of_status(provider, status, said, error.type or "", error.response.headers)
        found = failures.of_transport(provider, error, begun)
        if found is not None:
            return found
        if "authentication" in str(error) or isinstance(error, anthropic.CredentialsError):
            return failures.without_key(provider)
        return failures.of_rest(provider, error, begun)
