"""Choose a model when the program made none: by the settings, by its name, else by the environment (a key, or a server
on this machine that answers). A coding agent's command line is only chosen by name: that a program is installed does
not say what it may read.

A memory's settings may come with a foreign folder, so an address in them is not trusted: no key and no conversation
goes there unless it is the provider's own address, is on this machine, or is named in the environment too.
`LOOSELEAF_API_KEY` is for the address in `LOOSELEAF_BASE_URL`. Otherwise it only goes to an address in the settings
that is the provider's own or on this machine, and only if the provider has no key of its own. A program that makes a
model itself gives it the address and the key.
"""

from __future__ import annotations

import re

from looseleaf.base.errors import EXTRAS, Invalid, NotFound, Refused, is_there
from looseleaf.base.immutable import frozen
from looseleaf.models.failures import check_address, full, is_loopback, origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from looseleaf.base.policy import Policy
    from looseleaf.base.replies import Model
    from looseleaf.models.call import Caller
    from looseleaf.models.dialect import Dialect


@frozen
class ProviderInfo:
    """A provider: the variables that hold its key, its own address, and its default model."""

    keys: tuple[str, ...]
    own: str
    model: str | None = None
    addresses: tuple[str, ...] = ()
    """Variables that name another address. A user who sets one trusts it."""
    base_url: str | None = None
    """Its address, where the SDK does not know it."""
    instead: tuple[str, ...] = ()
    """Variables that let its SDK in without a key."""


_OPENAI = ProviderInfo(("OPENAI_API_KEY",), "https://api.openai.com", "gpt-5.5", ("OPENAI_BASE_URL",))

PROVIDERS: dict[str, ProviderInfo] = {
    "anthropic": ProviderInfo(
        ("ANTHROPIC_API_KEY",),
        "https://api.anthropic.com",
        "claude-sonnet-5-5",
        ("ANTHROPIC_BASE_URL",),
        None,
        tuple(f"ANTHROPIC_{name}" for name in "AUTH_TOKEN PROFILE CONFIG_DIR FEDERATION_RULE_ID".split()),
    ),
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "gemini": ProviderInfo(
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "https://generativelanguage.googleapis.com",
        "gemini-3.8-flash",
        ("GOOGLE_GEMINI_BASE_URL",),
        None,
        ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"),
    ),
    "openrouter": ProviderInfo(
        ("OPENROUTER_API_KEY",),
        "https://openrouter.ai",
        "openrouter/auto",
        (),
        "https://openrouter.ai/api/v1",
    ),
    "deepseek": ProviderInfo(
        ("DEEPSEEK_API_KEY",), "https://api.deepseek.com", "deepseek-flash", (), "https://api.deepseek.com"
    ),
    "ollama": ProviderInfo(("OLLAMA_API_KEY",), "https://ollama.com", None, ("OLLAMA_HOST",)),
}
"""In the order in which the environment is searched."""

COMMAND_LINES = {"claude-code": "ClaudeCode", "codex": "Codex", "gemini-cli": "GeminiCLI"}
"""Coding agents that are called as programs, and the class of each."""

_KNOWN = ", ".join((*PROVIDERS, *COMMAND_LINES))

NAMES = ("openai", "openai-chat", "anthropic", "gemini", "ollama")
"""The dialects."""

ADDRESS = "LOOSELEAF_BASE_URL"
KEY = "LOOSELEAF_API_KEY"

LOCAL = "http://127.0.0.1:11434"
"""Where Ollama listens by default."""

SERVERS = ("http://127.0.0.1:8080/v1", "http://127.0.0.1:1234/v1")
"""Where the server of llama.cpp and LM Studio listen by default. Both speak Chat Completions."""

_SECONDS = 0.3
"""How long to wait for a server on this machine, which answers in a few milliseconds."""

_BY_NAME = (
    (re.compile(r"(?!gpt-oss)(?:gpt|chatgpt|codex|o[1-9])(?:-|$|\d)", re.IGNORECASE), "openai"),
    (re.compile(r"claude", re.IGNORECASE), "anthropic"),
    (re.compile(r"gemini", re.IGNORECASE), "gemini"),
    (re.compile(r"deepseek-(?:chat|reasoner|flash|v[\d.]+)", re.IGNORECASE), "deepseek"),
)


def dialect(name: str) -> Dialect:
    """Return the dialect of that name; its module is loaded on first use."""
    if name not in NAMES:
        raise Invalid(f"No model was asked: {name!r} is not a dialect. Use one of {', '.join(NAMES)}.")
    return _class_of(name).speaks


def _class_of(provider: str) -> type[Caller]:
    """Return the class that calls a provider, loaded on first use; most speak Chat Completions."""
    found: type[Caller]
    if provider == "anthropic":
        from looseleaf.models.providers.anthropic import Anthropic as found
    elif provider == "gemini":
        from looseleaf.models.providers.gemini import Gemini as found
    elif provider == "ollama":
        from looseleaf.models.providers.ollama import Ollama as found
    elif provider == "openai":
        from looseleaf.models.providers.openai import OpenAI as found
    else:
        from looseleaf.models.providers.openai_chat import OpenAIChat as found
    return found


def choose(policy: Policy, name: str | None = None, environ: Mapping[str, str] | None = None) -> Model | None:
    """Return the model to ask, or None if none is named and none is available: then the rules do what they can.

    `name` is a model, or `provider/model`, or `provider:model`. A model that is named, here or in the settings, and is
    not available is refused with what is missing.
    """
    import os

    environ = os.environ if environ is None else environ
    provider, model = _resolve_model(policy, name)
    if provider in COMMAND_LINES:
        from looseleaf.models.providers import command_line

        kind: type[command_line.CommandLine] = getattr(command_line, COMMAND_LINES[provider])
        return kind(model or "", seconds=policy.model_seconds)
    at_server: str | None = None
    if provider is None:
        base_url = environ.get(ADDRESS) or policy.base_url
        provider = _provider_at(base_url) if base_url else _provider_of_name(model, environ)
    if provider is None:
        given = model
        provider, model, at_server = _find_available(given, environ)
        if provider is None:
            if given is not None:
                raise _unknown_model(given)
            return None
    if at_server:
        where: dict[str, Any] = {
            "base_url": at_server,
            "api_key": "none",
        }  # it was only found, and gets no key
    else:
        where = _address_and_key(provider, policy, environ)  # refuses before any request
    _check_key(provider, model, where, environ)
    if model is None:
        at = where.get("base_url") or LOCAL
        model = PROVIDERS[provider].model or first_model(at)
        if model is None:
            raise Refused(
                f"No model was chosen: no Ollama with a model answers at {full(at)}. Start it with `ollama serve`, "
                "and get a model with `ollama pull llama3.2`."
            )
    extra = provider if provider in EXTRAS else "openai"  # most speak as OpenAI does
    if not is_there(extra):  # reported before the user types anything
        from looseleaf.models.call import missing_package

        raise missing_package(extra)
    where = {"base_url": PROVIDERS[provider].base_url} | where
    return _class_of(provider)(model, seconds=policy.model_seconds, retries=policy.model_retries, **where)


def choose_distiller(policy: Policy, environ: Mapping[str, str] | None = None) -> Model | None:
    """Return the model that distills: the one that the setting `distiller` names, else the one of `choose`."""
    return choose(policy, policy.distiller if policy.distiller not in ("rules", "model") else None, environ)


def _resolve_model(policy: Policy, name: str | None) -> tuple[str | None, str | None]:
    """Return the provider and the model, as far as the name and the settings give them."""
    provider = policy.provider
    if provider is not None and provider not in PROVIDERS and provider not in COMMAND_LINES:
        fault = f"{provider!r} is not a provider. Set `provider` to one of {_KNOWN}."
        raise Invalid(f"No model was chosen: {fault}")
    asked: Any = name
    if asked is not None and (not isinstance(asked, str) or not asked.strip()):
        fault = "its name is empty" if isinstance(asked, str) else f"{asked!r} is not a name"
        advice = "Give one, as in `anthropic/claude-sonnet-5-5`, or leave it out."
        raise Invalid(f"No model was chosen: {fault}. {advice}")
    given = name or policy.model
    if not given:
        return provider, None
    before, mark, after = _split_name(given)
    if before in COMMAND_LINES and (name is not None or provider in (None, before)):
        return before, after.strip() or None  # without a model they take their own default
    if before not in PROVIDERS or (not mark and provider is not None):
        return provider, given
    if not after.strip():
        example = f"{before}/{PROVIDERS[before].model or 'llama3.2'}"
        raise Invalid(
            f"No model was chosen: {given!r} names a provider without a model. Give both, as in `{example}`."
        )
    # OpenRouter's models are named after their makers; and a setting says which provider the name is for.
    if provider is not None and (name is None or provider == "openrouter") and before != provider:
        return provider, given
    return before, after


def _split_name(name: str) -> tuple[str, str, str]:
    """Split at the first slash or colon."""
    found = re.search(r"[/:]", name)
    return (name[: found.start()], found[0], name[found.end() :]) if found else (name, "", "")


def _provider_of_name(model: str | None, environ: Mapping[str, str]) -> str | None:
    found = next((provider for pattern, provider in _BY_NAME if model and pattern.match(model)), None)
    return _openai_provider(environ) if found == "openai" else found


def _openai_provider(environ: Mapping[str, str]) -> str:
    """Return the provider that an OpenAI name means: at foreign addresses most servers speak Chat Completions."""
    given = environ.get("OPENAI_BASE_URL")
    return "openai" if not given or origin(given) == origin(_OPENAI.own) else "openai-chat"


def _unknown_model(name: str) -> NotFound:
    before, mark, _ = _split_name(name)
    if mark == "/":
        return NotFound(
            f"No model was chosen: {before!r} is not a provider. Give `provider/model` with one of {_KNOWN}; for a "
            f"model of OpenRouter's, `openrouter/{name}`."
        )
    return NotFound(
        f"No model was chosen: no known provider has {name!r}. Name the provider, as in `ollama/{name}`. Providers "
        f"are {_KNOWN}."
    )


def _provider_at(base_url: str) -> str:
    """Return the provider at an address without a name: most servers speak Chat Completions."""
    where = origin(base_url)
    usual = "ollama" if where is not None and where[2] == 11434 else "openai-chat"
    return next((name for name, known in PROVIDERS.items() if where == origin(known.own)), usual)


def _check_key(provider: str, model: str | None, where: dict[str, Any], environ: Mapping[str, str]) -> None:
    """Refuse where the provider would: at its own address without a key. Servers elsewhere may not need one."""
    known = PROVIDERS[provider]
    at = where.get("base_url") or (LOCAL if provider == "ollama" else known.own)
    if where.get("api_key") or origin(full(at)) != origin(known.own) or any(map(environ.get, known.instead)):
        return
    if provider == "anthropic" and environ.get("HOME"):
        import os

        if os.path.isdir(os.path.join(environ["HOME"], ".config", "anthropic")):
            return  # its SDK's own folder, which may hold a login
    what = f"{provider}/{model}" if model else provider
    raise Refused(
        f"No model was chosen: there is no key for {what!r}. Set {' or '.join(known.keys)} in the environment, or name "
        "a model of another provider."
    )


def _find_available(
    model: str | None, environ: Mapping[str, str]
) -> tuple[str | None, str | None, str | None]:
    """Return an available provider, a model, and the address if it is a server that was only found on this machine. A
    name that hints at no provider needs one that serves any model."""
    if model is None:
        for provider, known in PROVIDERS.items():
            keys = (*known.keys, "ANTHROPIC_AUTH_TOKEN") if provider == "anthropic" else known.keys
            if provider != "ollama" and any(map(environ.get, keys)):
                return (_openai_provider(environ) if provider == "openai" else provider), None, None
    elif environ.get("OPENROUTER_API_KEY") and "/" in model:
        return "openrouter", model, None
    first = first_model(environ.get("OLLAMA_HOST") or LOCAL)
    if first is not None:
        return "ollama", model or first, None
    if model is not None and environ.get("OPENAI_BASE_URL"):
        return "openai-chat", model, None
    for where in SERVERS:
        names = models_at(where)
        if names and (model is None or model in names):
            return "openai-chat", model or names[0], where
    return None, None, None


def first_model(where: str) -> str | None:
    """Return the first model of an Ollama, without its SDK; None if none answers in time."""
    names = _request_names(full(where), "/api/tags", "models", "name")
    return names[0] if names else None


def models_at(where: str) -> list[str]:
    """Return the models of a server that speaks OpenAI's API, without those that only embed; none if it does not answer
    in time."""
    path = where.partition("://")[2].partition("/")[2]
    names = _request_names(where, f"/{path}/models", "data", "id")
    return [name for name in names if not re.match(r"text-embedding|.*\bembed", name, re.IGNORECASE)]


def _request_names(where: str, path: str, many: str, one: str) -> list[str]:
    import http.client
    import json

    found = origin(where)
    if found is None:
        return []
    scheme, host, port = found
    kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
    connection = kind(host, port, timeout=_SECONDS)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        told = json.loads(response.read(1 << 22)) if response.status == 200 else {many: []}
        return [str(each[one]) for each in told[many]]
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, RecursionError):
        return []
    finally:
        connection.close()


def _address_and_key(provider: str, policy: Policy, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the address and the key. A given address always comes with a key: an SDK would take any from the
    environment."""
    known = PROVIDERS[provider]
    key = next((environ[name] for name in known.keys if environ.get(name)), None)
    given = environ.get(ADDRESS)
    if given:
        return {"base_url": check_address(given, ADDRESS), "api_key": environ.get(KEY) or key}
    by_environment = next((environ[name] for name in known.addresses if environ.get(name)), None)
    if not policy.base_url or (policy.provider or provider) != provider:  # it is another provider's
        named = {} if by_environment is None else {"base_url": by_environment}
        return named | {"api_key": key}
    base_url = check_address(policy.base_url, "base_url")
    where = origin(base_url)
    if is_loopback(base_url) or where == origin(known.own):
        return {"base_url": base_url, "api_key": key or environ.get(KEY)}
    if by_environment and where == origin(full(by_environment)):
        return {"base_url": base_url, "api_key": key}
    raise Refused(
        f"No model was asked: the settings of this memory send conversations to {base_url}, which is not {provider}'s "
        f"own address. If you trust it, set {ADDRESS}={base_url} in the environment, and {KEY} to its key; otherwise "
        "delete `base_url` from looseleaf.toml."
    )
