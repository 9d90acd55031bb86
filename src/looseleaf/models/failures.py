"""Failed calls: whether another attempt is worth it, after how long, and the sentence for the user.

Every SDK has its own errors, and all come down to three things: a provider that refused with a status, a connection
that failed or was cut, and bytes that could not be read. No sentence holds a key: providers are quoted without
credentials.
"""

from __future__ import annotations

import re

from looseleaf.base.errors import Invalid, ModelFailed, PromptTooLong
from looseleaf.base.immutable import frozen
from looseleaf.models.dialect import KEY, MAY_PASS, QUOTED_CHARS, TOO_LONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


# --- addresses: which are safe to send to, and which are this machine's ------------------------

_PLAIN = re.compile(
    r"(https?)://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?((?:/[A-Za-z0-9._~/%+-]*)?)"
)
"""No name and password, no query, nothing that two parsers could read differently."""


def origin(url: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port; None if it is not a plain address."""
    found = _PLAIN.fullmatch(url)
    if found is None:
        return None
    scheme, host, port = found[1], found[2].lower().strip("[]").rstrip("."), found[3]
    return scheme, host, int(port) if port else 443 if scheme == "https" else 80


def full(where: str) -> str:
    """Return the full address: `:1234` and `box` mean what they mean to Ollama."""
    host, mark, port = where.partition(":")
    return where if "://" in where else f"http://{host or '127.0.0.1'}:{port if mark else 11434}"


def safe_address(url: str) -> str:
    """Return the address without name, password and query, as it may be shown."""
    scheme, found, rest = url.partition("://")
    host, slash, path = rest.partition("?")[0].partition("/")
    return f"{scheme}{found}{host.rpartition('@')[2]}{slash}{path}" if found else url


def is_loopback(url: str) -> bool:
    """True if the address itself says that it is on this machine: names are not looked up."""
    where = origin(url)
    return where is not None and (where[1] == "localhost" or _has_property(where[1], "is_loopback"))


def is_here(url: str) -> bool:
    """True if connections to it stay on this machine. Also takes addresses that are not plain, and the one that means
    all of a machine's own."""
    from urllib.parse import urlsplit

    try:
        host = (urlsplit(full(url)).hostname or "").rstrip(".")
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return _has_property(host, "is_loopback") or host in ("0.0.0.0", "::")


def check_address(url: str, setting: str) -> str:
    """Return the address if it is safe to send to: by https, or by http in a private network."""
    where = origin(url)
    if where is None:
        raise Invalid(
            f"No model was asked: {setting} is not a plain address. Give one like https://example.org/v1, without a "
            "name, a password or a query in it."
        )
    scheme, host, _ = where
    if scheme == "http" and not (is_loopback(url) or _has_property(host, "is_private")):
        raise Invalid(
            f"No model was asked: {setting} is {url}, and http can be read by everyone on the way. Give an https "
            "address; http is for this machine and for private networks."
        )
    return url


def _has_property(host: str, what: str) -> bool:
    from ipaddress import ip_address

    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool(getattr(mapped or address, what)) and not (mapped or address).is_unspecified


AGAIN = frozenset((408, 409, 429))
"""Statuses below 500 that may pass."""

_SPENT = re.compile(r"insufficient_quota|credit balance|exceeded your current quota|billing", re.IGNORECASE)
"""A rate limit that waiting does not end."""

_NO_KEY = re.compile(r"api.?key (?:not valid|expired|not found)|API_KEY_INVALID", re.IGNORECASE)

_OF_MODEL = re.compile(r"model|no endpoints|no allowed providers", re.IGNORECASE)
"""How a 404 says that the address is right, and the model is not."""

_OF_PATH = re.compile(
    r"no such path|page not found|cannot post|unexpected endpoint|invalid url|:streamGenerateContent",
    re.IGNORECASE,
)
"""How it says that the address is wrong, also where the path has `model` in it."""

TO_FIND_IT = "Check that address."
TO_START_IT = "Start the server that should be there (Ollama: `ollama serve`), or give another address."


class Failure(Exception):
    """A failed attempt: what happened, and what to do. `again`: another attempt may succeed, after `wait` seconds if
    the provider names a time, at most `most` times. `may_cost`: the provider has the request and did not refuse it, so
    it may charge. Never leaves `Caller`."""

    def __init__(
        self,
        why: str,
        advice: str,
        *,
        again: bool = False,
        wait: float | None = None,
        kind: type[ModelFailed] = ModelFailed,
        may_cost: bool = False,
        most: int | None = None,
    ) -> None:
        super().__init__(why)
        self.why, self.advice, self.kind = why, advice, kind
        self.again, self.wait, self.most, self.may_cost = again, wait, most, may_cost

    def as_error(self, attempt: int = 1) -> ModelFailed:
        """Return the error that the caller of a model gets."""
        count = f" This was attempt {attempt}." if attempt > 1 else ""
        return self.kind(f"{self.why}{count} {self.advice}")


@frozen
class Provider:
    """The provider that a sentence is about, and advice on its key, model, address and server. `secrets` are never
    quoted."""

    title: str
    model: str
    address: str
    key_advice: str
    model_advice: str
    secrets: tuple[str, ...] = ()
    address_advice: str = TO_FIND_IT
    start_advice: str = TO_START_IT

    def quote(self, said: object) -> str:
        """Return the provider's message in one line, without keys."""
        text = " ".join(str(said).split())
        for secret in self.secrets:
            text = text.replace(secret, "[key]")
        return KEY.sub("[key]", text)[:QUOTED_CHARS] or "it gave no reason"


def of_status(
    provider: Provider,
    status: int,
    said: str,
    code: str = "",
    headers: Mapping[str, str] | None = None,
    wait: float | None = None,
) -> Failure:
    """Return the failure for a status. `code` is the provider's name for the error."""
    who, quoted = provider.title, provider.quote(said)
    told = f"{code} {said}"
    if status in (400, 413, 422, 500) and TOO_LONG.search(told):
        return Failure(
            f"{who} did not answer: what it was sent is longer than {provider.model} takes ({quoted}).",
            "Compact the conversation, or send less of it.",
            kind=PromptTooLong,
        )
    if status in (401, 403) or (status == 400 and _NO_KEY.search(told)):
        return Failure(f"{who} did not answer: it refused the key ({quoted}).", provider.key_advice)
    if status == 404:
        named = re.search(rf"(?<![\w-]){re.escape(provider.model)}(?![\w-])", told)
        is_model = not _OF_PATH.search(told) and (named or _OF_MODEL.search(told))
        missing = f"it has no {provider.model}" if is_model else "it was not found"
        return Failure(
            f"{who} did not answer: {missing} at {provider.address} ({quoted}).",
            provider.model_advice if is_model else provider.address_advice,
        )
    if status == 402 or (status in AGAIN and _SPENT.search(told)):
        return Failure(
            f"{who} did not answer: the account has no credit left ({quoted}).", "Check the account."
        )
    if status in AGAIN or status >= 500:
        why = "it takes no more requests now" if status == 429 else f"it failed with status {status}"
        wait = wait if wait is not None else retry_after(headers or {})
        return Failure(f"{who} did not answer: {why} ({quoted}).", "Ask again later.", again=True, wait=wait)
    return Failure(
        f"{who} did not answer: it refused the request with status {status} ({quoted}).",
        "Change what is asked, or the settings.",
    )


def of_report(provider: Provider, said: str, code: str = "") -> Failure:
    """Return the failure for an error reported inside an answer, where there is no status."""
    return of_status(provider, 500 if MAY_PASS.search(f"{code} {said}") else 400, said, code)


def of_transport(provider: Provider, error: BaseException, begun: bool) -> Failure | None:
    """Return the failure for a connection that failed or broke. httpx and httpx2 use the same names; SDKs wrap them."""
    chain = [error]  # and those that it was raised from
    while len(chain) < 8 and (cause := chain[-1].__cause__ or chain[-1].__context__):
        chain.append(cause)
    names = {cls.__name__ for each in chain for cls in type(each).__mro__}
    who = provider.title
    if "ConnectionRefusedError" in names and is_here(provider.address):
        # Known at once, and it does not pass: one more attempt is for a server that is just starting.
        return Failure(
            f"{who} could not be reached at {provider.address}. Nothing listens there.",
            provider.start_advice,
            again=True,
            most=1,
        )
    if names & _UNREACHED:
        return Failure(
            f"{who} could not be reached at {provider.address}.",
            "Check the address, that it runs there, and this machine's connection.",
            again="UnsupportedProtocol" not in names,
        )
    may_cost = not names & _UNSENT
    if names & {"TimeoutException", "APITimeoutError", "TimeoutError"}:
        return Failure(
            f"{who} did not answer in time: nothing more came over the line.",
            "Ask again later.",
            may_cost=may_cost,
        )
    if names & _CUT:
        half = "its answer ended" if begun else "it answered"
        why = f"{who} did not answer: the line was cut before {half}."
        return Failure(why, "Ask again.", again=True, may_cost=may_cost)
    return None


_UNREACHED = frozenset(
    "ConnectError ConnectTimeout ConnectionRefusedError ProxyError UnsupportedProtocol".split()
)
_CUT = frozenset("TransportError StreamError APIConnectionError ConnectionError RemoteProtocolError".split())
_UNREADABLE = frozenset(("JSONDecodeError", "UnicodeError", "UnknownApiResponseError"))
_UNSENT = frozenset(("LocalProtocolError", "PoolTimeout", "InvalidURL"))
"""Errors of requests that did not leave this machine."""


def of_rest(provider: Provider, error: BaseException, begun: bool) -> Failure:
    """Return the failure for any other error: unexpected bytes, or an SDK that did not send the request."""
    kind = type(error).__name__
    if begun or _UNREADABLE & {cls.__name__ for cls in type(error).__mro__}:
        return Failure(
            f"{provider.title} did not answer: what came back could not be read ({kind}).",
            f"Ask again; if that does not help, check the address {provider.address}.",
            again=True,
            may_cost=True,
        )
    return Failure(
        f"{provider.title} was not asked: its SDK did not take the request ({kind}: {provider.quote(error)}).",
        "Change what is asked, or the settings.",
    )


def without_key(provider: Provider) -> Failure:
    return Failure(f"{provider.title} was not asked: there is no key for it.", provider.key_advice)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the provider asks us to wait: a number, or a date by its own clock."""
    exact = parse_seconds(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1000
    asked = headers.get("retry-after")
    seconds = parse_seconds(asked)
    if seconds is not None or not asked:
        return seconds
    from email.utils import parsedate_to_datetime
    from time import time

    told = headers.get("date")
    try:
        now = parsedate_to_datetime(told).timestamp() if told else time()
        return max(0.0, parsedate_to_datetime(asked).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None


def parse_seconds(text: Any) -> float | None:
    """Parse foreign seconds; None if they are not valid."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if 0 <= value < 1e9 else None
