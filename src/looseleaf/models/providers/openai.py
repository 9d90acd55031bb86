"""OpenAI, and whatever speaks like it, through the SDK `openai`.

Requests are sent and chunks taken as the JSON objects they are: members that this version of the SDK does not know (a
server's own options, reasoning in a server's own words) pass through it.
"""

from __future__ import annotations

from looseleaf.base.errors import ModelFailed
from looseleaf.models import failures
from looseleaf.models.address import origin, shown
from looseleaf.models.call import Caller, missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.models.dialect import Dialect
    from looseleaf.models.failures import Failure
    from looseleaf.models.stream_thread import Line

CONNECTING = 15.0
"""Seconds after which a connection that does not come about is tried anew."""


_OTHERS = {
    "api.openai.com": ("OpenAI", "OPENAI_API_KEY"),
    "openrouter.ai": ("OpenRouter", "OPENROUTER_API_KEY"),
    "api.deepseek.com": ("DeepSeek", "DEEPSEEK_API_KEY"),
}


class OpenAI(Caller):
    """A model behind the Responses API. Nothing is stored there: each call says all that it needs.

        OpenAI("gpt-5.5", api_key="…", seconds=60)

    It takes what every `Caller` takes: api_key (else OPENAI_API_KEY), base_url (else OPENAI_BASE_URL; with /v1),
    headers, seconds, retries, pause, patience, extensions, calls.
    """

    dialect = "openai"
    title = "OpenAI"
    variable = "OPENAI_API_KEY"
    place = "OPENAI_BASE_URL"
    usual = "https://api.openai.com/v1"
    path = "/responses"

    def _spoken(self) -> Dialect:
        from looseleaf.models.providers.openai_responses import DIALECT

        return DIALECT

    def _connect(self) -> Any:
        try:
            import openai
        except ImportError:
            raise missing("openai", "openai") from None
        import os

        key = self._api_key
        if key is None and self._base_url is not None:
            key = os.environ.get(self.variable)
            at = origin(self._base_url)
            if not key and at is not None and at[1] in _OTHERS:
                failure = failures.without_key(self._provider())
                raise ModelFailed(f"{failure.why} {failure.advice}")
            # A server on this machine asks for none, and the SDK does not do without.
            key = key or "none"
        given = {} if self._base_url is None else {"base_url": self._base_url}
        return openai.OpenAI(
            api_key=key,
            max_retries=0,
            default_headers=self._headers,
            # A key goes where it was meant to go, and nowhere else.
            http_client=openai.DefaultHttpxClient(follow_redirects=False, **self._direct()),
            **given,
        )

    def _to_find_it(self) -> str:
        import re

        where = shown(self._where()).rstrip("/")
        if not re.search(r"/v\d", where):
            return f"The address may lack /v1: try {where}/v1."
        if self.path != OpenAI.path:
            return failures.TO_FIND_IT
        return f"{failures.TO_FIND_IT} Most servers only speak Chat Completions: the provider `openai-chat`."

    def _direct(self) -> dict[str, Any]:
        """With a transport of its own a client asks the environment for no proxy."""
        if not self._is_here():
            return {}
        import httpx2

        return {"transport": httpx2.HTTPTransport()}

    def _open(self, payload: dict[str, Any], seconds: float) -> Line:
        from looseleaf.models.stream_thread import Line

        client = self._connected()
        import openai

        stream = client.post(
            self.path,
            body=payload | {"stream": True},
            cast_to=object,
            options={"timeout": openai.Timeout(seconds, connect=min(seconds, CONNECTING))},
            stream=True,
            stream_cls=openai.Stream[object],
        )
        return Line(iter(stream), stream.response)

    def _meaning(self, error: BaseException, begun: bool) -> Failure:
        import openai

        provider = self._provider()
        if isinstance(error, openai.APIStatusError):
            return failures.of_status(
                provider,
                error.status_code,
                _said(error),
                f"{error.code} {error.type}",
                error.response.headers,
            )
        found = failures.of_transport(provider, error, begun)
        if found is not None:
            return found
        if isinstance(error, openai.APIError):
            return failures.of_report(provider, error.message, f"{error.code} {error.type}")
        if isinstance(error, openai.OpenAIError):
            return failures.without_key(provider)
        return failures.of_rest(provider, error, begun)


class OpenAIChat(OpenAI):
    """A model behind Chat Completions: OpenAI's, and those of vLLM, LM Studio, llama.cpp, DeepSeek, OpenRouter…

        OpenAIChat("qwen3-8b", base_url="http://127.0.0.1:8000/v1")

    Such a server is called by its address. Of those that are known by name, the key is their own (OPENROUTER_API_KEY,
    DEEPSEEK_API_KEY). It takes what every `Caller` takes: api_key (else OPENAI_API_KEY), base_url (else
    OPENAI_BASE_URL; most want /v1), headers, seconds, retries, pause, patience, extensions, calls.
    """

    dialect = "openai-chat"
    path = "/chat/completions"

    def _introduce(self) -> None:
        at = origin(self._base_url) if self._base_url else None
        if at is not None:
            self.title, self.variable = _OTHERS.get(at[1], (f"{at[1]}:{at[2]}", self.variable))

    def _spoken(self) -> Dialect:
        from looseleaf.models.providers.openai_chat import DIALECT

        return DIALECT


def _said(error: Any) -> str:
    """The provider's own sentence, where its body has one."""
    body = error.body
    return str(body.get("message") or error.message) if isinstance(body, dict) else str(error.message)
