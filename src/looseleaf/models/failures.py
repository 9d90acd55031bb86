"""What it means that a call failed: whether it is worth another attempt, after how long, and the sentence for it.

Every SDK has its own errors, and all of them come down to three things: a provider that refused with a status, a line
that could not be made or was cut, and bytes that could not be read. No sentence holds a key: what a provider says is
quoted without whatever was used to authenticate.
"""

from __future__ import annotations

import re

from looseleaf.base.errors import ModelFailed, Refused, TooLong
from looseleaf.base.immutable import frozen
from looseleaf.models.dialect import KEY, MAY_PASS, QUOTED_CHARS, TOO_LONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


# Addresses of providers: which are safe to send to, and which are this machine's.

_PLAIN = re.compile(
    r"(https?)://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?((?:/[A-Za-z0-9._~/%+-]*)?)"
)
"""No name and password, no query, nothing that two readers could read differently."""


def origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None if it is no plain address."""
    found = _PLAIN.fullmatch(url)
    if found is None:
        return None
    scheme, host, port = found[1], found[2].lower().strip("[]").rstrip("."), found[3]
    return scheme, host, int(port) if port else 443 if scheme == "https" else 80


def full(where: str) -> str:
    """`:1234` and `box` mean what they mean to Ollama."""
    host, mark, port = where.partition(":")
    return where if "://" in where else f"http://{host or '127.0.0.1'}:{port if mark else 11434}"


def shown(url: str) -> str:
    """As it may be shown: without a name and a password in it, and without a query."""
    scheme, found, rest = url.partition("://")
    host, slash, path = rest.partition("?")[0].partition("/")
    return f"{scheme}{found}{host.rpartition('@')[2]}{slash}{path}" if found else url


def is_loopback(url: str) -> bool:
    """Whether it is on this machine, by what it says: a name is not looked up."""
    where = origin(url)
    return where is not None and (where[1] == "localhost" or _has_property(where[1], "is_loopback"))


def is_here(url: str) -> bool:
    """Whether whoever connects to it stays on this machine. Also of an address that is not plain, and of the one that
    means all of a machine's own."""
    from urllib.parse import urlsplit

    try:
        host = (urlsplit(full(url)).hostname or "").rstrip(".")
    except ValueError:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return _has_property(host, "is_loopback") or host in ("0.0.0.0", "::")


def check_address(url: str, setting: str) -> str:
    """The address, if it may be sent to: by https, or by http where nobody else listens in."""
    where = origin(url)
    if where is None:
        raise Refused(
            f"No model was asked: {setting} is no plain address. Give one like https://example.org/v1, without a "
            "name, a password or a query in it."
        )
    scheme, host, _ = where
    if scheme == "http" and not (is_loopback(url) or _has_property(host, "is_private")):
        raise Refused(
            f"No model was asked: {setting} is {url}, and by http everybody on the way reads along. Give an https "
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
"""Statuses below 500 that pass by themselves."""

_SPENT = re.compile(r"insufficient_quota|credit balance|exceeded your current quota|billing", re.IGNORECASE)
"""A rate limit that waiting does not lift."""

_NO_KEY = re.compile(r"api.?key (?:not valid|expired|not found)|API_KEY_INVALID", re.IGNORECASE)

_OF_MODEL = re.compile(r"model|no endpoints|no allowed providers", re.IGNORECASE)
"""How a 404 says that the address is right, and the model is not."""

_OF_PATH = re.compile(
    r"no such path|page not found|cannot post|unexpected endpoint|invalid url|:streamGenerateContent",
    re.IGNORECASE,
)
"""How it says that the address is wrong, also where the path has `model` in it."""

TO_FIND_IT = "Look whether that address is right."
TO_START_IT = "Start the server that should be there (Ollama: `ollama serve`), or give another address."


@frozen
class Failure:
    """What happened, and what to do about it. `again`: another attempt may do better, after `wait` seconds if the
    provider names a time, and `most` so many times. `may_cost`: the provider has the request, and did not refuse it: it
    may ask to be paid."""

    why: str
    advice: str
    again: bool = False
    wait: float | None = None
    error: type[ModelFailed] = ModelFailed
    may_cost: bool = False
    most: int | None = None


@frozen
class Provider:
    """Whom a sentence is about, and what has to be done to be let in, to have the model, to find the address right, and
    to have somebody listen there. `secrets` are never quoted."""

    title: str
    model: str
    address: str
    key_advice: str
    model_advice: str
    secrets: tuple[str, ...] = ()
    address_advice: str = TO_FIND_IT
    start_advice: str = TO_START_IT

    def quote(self, said: object) -> str:
        """What the provider said, in one line, without keys."""
        text = " ".join(str(said).split())
        for secret in self.secrets:
            text = text.replace(secret, "[key]")
        return KEY.sub("[key]", text)[:QUOTED_CHARS] or "it gave no reason"


class CallFailure(Exception):
    """An attempt failed. Never leaves the caller."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.why)
        self.failure = failure


def of_status(
    provider: Provider,
    status: int,
    said: str,
    code: str = "",
    headers: Mapping[str, str] | None = None,
    wait: float | None = None,
) -> Failure:
    """A provider that answered with a status. `code` is its own name for what went wrong."""
    who, quoted = provider.title, provider.quote(said)
    told = f"{code} {said}"
    if status in (400, 413, 422, 500) and TOO_LONG.search(told):
        return Failure(
            f"{who} did not answer: what it was sent is longer than {provider.model} takes ({quoted}).",
            "Compact the conversation, or send less of it.",
            error=TooLong,
        )
    if status in (401, 403) or (status == 400 and _NO_KEY.search(told)):
        return Failure(f"{who} did not answer: it does not let us in ({quoted}).", provider.key_advice)
    if status == 404 and _is_about_path(provider, told):
        return Failure(
            f"{who} did not answer: it was not found at {provider.address} ({quoted}).",
            provider.address_advice,
        )
    if status == 404:
        return Failure(
            f"{who} did not answer: it has no {provider.model} at {provider.address} ({quoted}).",
            provider.model_advice,
        )
    if status == 402 or (status in AGAIN and _SPENT.search(told)):
        return Failure(
            f"{who} did not answer: there is nothing left to spend there ({quoted}).", "Look at the account."
        )
    if status in AGAIN or status >= 500:
        why = "it takes no more requests just now" if status == 429 else f"it failed with status {status}"
        asked = wait if wait is not None else retry_after(headers or {})
        return Failure(f"{who} did not answer: {why} ({quoted}).", "Ask again later.", True, asked)
    return Failure(
        f"{who} did not answer: it refused the request with status {status} ({quoted}).",
        "Change what is asked, or the settings.",
    )


def _is_about_path(provider: Provider, told: str) -> bool:
    """Whether a 404 is about the address, and not about the model."""
    named = re.search(rf"(?<![\w-]){re.escape(provider.model)}(?![\w-])", told)
    return _OF_PATH.search(told) is not None or not (named or _OF_MODEL.search(told))


def of_report(provider: Provider, said: str, code: str = "") -> Failure:
    """A provider that reported a fault in the middle of its answer, where there is no status any more."""
    return of_status(provider, 500 if MAY_PASS.search(f"{code} {said}") else 400, said, code)


def of_transport(provider: Provider, error: BaseException, begun: bool) -> Failure | None:
    """A line that could not be made, or broke. httpx and httpx2 name their errors alike; SDKs wrap them."""
    names = {cls.__name__ for each in _error_chain(error) for cls in type(each).__mro__}
    who = provider.title
    if "ConnectionRefusedError" in names and is_here(provider.address):
        # Known at once, and it does not pass by itself: one more attempt is for a server that is just starting.
        return Failure(
            f"{who} could not be reached at {provider.address}. Nothing listens there.",
            provider.start_advice,
            again=True,
            most=1,
        )
    if names & {
        "ConnectError",
        "ConnectTimeout",
        "ConnectionRefusedError",
        "ProxyError",
        "UnsupportedProtocol",
    }:
        return Failure(
            f"{who} could not be reached at {provider.address}.",
            "Look whether that address is right, whether it runs there, and whether this machine is connected.",
            again="UnsupportedProtocol" not in names,
        )
    may_cost = not names & _UNSENT
    if names & {"TimeoutException", "APITimeoutError", "TimeoutError"}:
        return Failure(
            f"{who} did not answer in time: nothing came over the line any more.",
            "Ask again later.",
            may_cost=may_cost,
        )
    if names & {
        "TransportError",
        "StreamError",
        "APIConnectionError",
        "ConnectionError",
        "RemoteProtocolError",
    }:
        half = "its answer ended" if begun else "it answered"
        why = f"{who} did not answer: the line was cut before {half}."
        return Failure(why, "Ask again.", again=True, may_cost=may_cost)
    return None


_UNSENT = frozenset(("LocalProtocolError", "PoolTimeout", "InvalidURL"))
"""Errors of a request that did not leave this machine."""


_UNREADABLE = frozenset(("JSONDecodeError", "UnicodeError", "UnknownApiResponseError"))


def of_rest(provider: Provider, error: BaseException, begun: bool) -> Failure:
    """Anything else: bytes that are not what the provider should send, or an SDK that would not send it at all."""
    kind = type(error).__name__
    if begun or _UNREADABLE & {cls.__name__ for cls in type(error).__mro__}:
        return Failure(
            f"{provider.title} did not answer: what came back could not be read ({kind}).",
            f"Ask again; if that does not help, look whether {provider.address} is the right address.",
            again=True,
            may_cost=True,
        )
    return Failure(
        f"{provider.title} was not asked: its SDK did not take the request ({kind}: {provider.quote(error)}).",
        "Change what is asked, or the settings.",
    )


def without_key(provider: Provider) -> Failure:
    return Failure(f"{provider.title} was not asked: there is no key for it.", provider.key_advice)


def _error_chain(error: BaseException) -> Iterable[BaseException]:
    """The error and those that it was raised from."""
    each: BaseException | None = error
    for _ in range(8):
        if each is None:
            return
        yield each
        each = each.__cause__ or each.__context__


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks us to wait: a number, or a date that is held against its own clock."""
    exact = parse_seconds(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1000
    asked = headers.get("retry-after")
    seconds = parse_seconds(asked)
    if seconds is not None or not asked:
        return seconds
    from email.utils import parsedate_to_datetime
    from time import time

    try:
        then = parsedate_to_datetime(asked).timestamp()
        told = headers.get("date")
        now = parsedate_to_datetime(told).timestamp() if told else time()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, then - now)


def parse_seconds(text: Any) -> float | None:
    """Seconds that somebody else wrote; None if they are none."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if 0 <= value < 1e9 else None
