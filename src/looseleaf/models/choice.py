"""Which model is asked, when nobody made one: by the settings, by its name, else by what the environment has (a key, a
server on this machine that answers). A coding agent's own command line is asked only by its name: that a program is
installed says nothing about what it may be told.

A memory's settings may come with a folder that somebody else made. So an address in them is not trusted: no key goes
there, and nothing that was said, unless it is the provider's own, or on this machine, or the environment names it too.
`LOOSELEAF_API_KEY` is for the address in `LOOSELEAF_BASE_URL`. Beside that, it only goes where an address in the
settings is the provider's own or on this machine, and there is no key of the provider's. Whoever makes a model himself
gives it the address and the key.
"""

from __future__ import annotations

import re

from looseleaf.base.errors import EXTRAS, Refused, is_there, package_of
from looseleaf.base.immutable import frozen
from looseleaf.models.dialect import Dialect
from looseleaf.models.failures import full, is_loopback, origin, safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from looseleaf.base.policy import Policy
    from looseleaf.base.replies import Model


# Which dialect a provider speaks: one module for each shape.

NAMES = ("openai", "openai-chat", "anthropic", "gemini", "ollama")


def dialect(name: str) -> Dialect:
    """The dialect of that name. Each is loaded when it is first spoken."""
    if name == "openai":
        from looseleaf.models.providers.openai import DIALECT
    elif name == "openai-chat":
        from looseleaf.models.providers.openai_chat import DIALECT
    elif name == "anthropic":
        from looseleaf.models.providers.anthropic import DIALECT
    elif name == "gemini":
        from looseleaf.models.providers.gemini import DIALECT
    elif name == "ollama":
        from looseleaf.models.providers.ollama import DIALECT
    else:
        raise Refused(f"No model was asked: {name!r} is no dialect. Use one of {', '.join(NAMES)}.")
    return DIALECT


@frozen
class Known:
    """A provider: which variables hold its key, where it lives, and which of its models is taken if none is named."""

    keys: tuple[str, ...]
    own: str
    model: str | None = None
    addresses: tuple[str, ...] = ()
    """Variables that say where it is instead. Whoever sets one trusts it."""
    base_url: str | None = None
    """Where it is, where the SDK does not know it."""
    instead: tuple[str, ...] = ()
    """Variables by which its SDK is let in without a key."""


PROVIDERS: dict[str, Known] = {
    "anthropic": Known(
        ("ANTHROPIC_API_KEY",),
        "https://api.anthropic.com",
        "claude-sonnet-5-5",
        ("ANTHROPIC_BASE_URL",),
        None,
        (
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_PROFILE",
            "ANTHROPIC_CONFIG_DIR",
            "ANTHROPIC_FEDERATION_RULE_ID",
        ),
    ),
    "openai": Known(("OPENAI_API_KEY",), "https://api.openai.com", "gpt-5.5", ("OPENAI_BASE_URL",)),
    "openai-chat": Known(("OPENAI_API_KEY",), "https://api.openai.com", "gpt-5.5", ("OPENAI_BASE_URL",)),
    "gemini": Known(
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "https://generativelanguage.googleapis.com",
        "gemini-3.8-flash",
        ("GOOGLE_GEMINI_BASE_URL",),
        None,
        ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"),
    ),
    "openrouter": Known(
        ("OPENROUTER_API_KEY",),
        "https://openrouter.ai",
        "openrouter/auto",
        (),
        "https://openrouter.ai/api/v1",
    ),
    "deepseek": Known(
        ("DEEPSEEK_API_KEY",), "https://api.deepseek.com", "deepseek-flash", (), "https://api.deepseek.com"
    ),
    "ollama": Known(("OLLAMA_API_KEY",), "https://ollama.com", None, ("OLLAMA_HOST",)),
}
"""In the order in which the environment is asked."""

COMMAND_LINES = {"claude-code": "ClaudeCode", "codex": "Codex", "gemini-cli": "GeminiCLI"}
"""Coding agents whose own programs are asked, and the class of each."""

ADDRESS = "LOOSELEAF_BASE_URL"
KEY = "LOOSELEAF_API_KEY"

LOCAL = "http://127.0.0.1:11434"
"""Where Ollama listens, unless it was told otherwise."""

SERVERS = ("http://127.0.0.1:8080/v1", "http://127.0.0.1:1234/v1")
"""Where the server of llama.cpp and LM Studio listen, unless they were told otherwise. Both speak Chat Completions."""

_SECONDS = 0.3
"""How long a server on this machine has to say that it is there: it answers in a few milliseconds."""

_BY_NAME = (
    (re.compile(r"(?!gpt-oss)(?:gpt|chatgpt|codex|o[1-9])(?:-|$|\d)", re.IGNORECASE), "openai"),
    (re.compile(r"claude", re.IGNORECASE), "anthropic"),
    (re.compile(r"gemini", re.IGNORECASE), "gemini"),
    (re.compile(r"deepseek-(?:chat|reasoner|flash|v[\d.]+)", re.IGNORECASE), "deepseek"),
)


def choose(policy: Policy, name: str | None = None, environ: Mapping[str, str] | None = None) -> Model | None:
    """The model to ask, or None if nobody names one and there is none to be had: then the rules do what they can.

    `name` is a model, or `provider/model`, or `provider:model`. What is named, here or in the settings, and cannot be
    asked is refused, with what is missing.
    """
    import os

    environ = os.environ if environ is None else environ
    provider, model = _named(policy, name)
    if provider in COMMAND_LINES:
        return _command_line(provider, model, policy)
    at_server: str | None = None
    if provider is None:
        base_url = environ.get(ADDRESS) or policy.base_url
        provider = _at(base_url) if base_url else _by_name(model, environ)
    if provider is None:
        given = model
        provider, model = _by_environment(given, environ)
        if provider is None:
            at_server, model = _server_with(given)
            provider = "openai-chat" if at_server is not None else None
        if provider is None:
            if given is not None:
                raise _nobody_has(given)
            return None
    # No key of anybody's goes to a server that was only found.
    found = {"base_url": at_server, "api_key": "none"}
    where = (
        found if at_server else _where(provider, policy, environ)
    )  # refuses before anybody is asked for anything
    _look_for_key(provider, model, where, environ)
    if model is None:
        at = where.get("base_url") or LOCAL
        model = PROVIDERS[provider].model or first_model(at)
        if model is None:
            raise Refused(
                f"No model was chosen: no Ollama with a model answers at {full(at)}. Start it with `ollama serve`, "
                "and get a model with `ollama pull llama3.2`."
            )
    return _made(provider, model, policy, where)


def choose_distiller(policy: Policy, environ: Mapping[str, str] | None = None) -> Model | None:
    """The model that distills, where the settings ask for one: the one that `distiller` names, else as `choose` has
    it."""
    return choose(policy, policy.distiller if policy.distiller not in ("rules", "model") else None, environ)


def _command_line(provider: str, model: str | None, policy: Policy) -> Model:
    from looseleaf.models.providers import command_line

    kind: type[command_line.CommandLine] = getattr(command_line, COMMAND_LINES[provider])
    return kind(model or "", seconds=policy.model_seconds)


def _known() -> str:
    return ", ".join((*PROVIDERS, *COMMAND_LINES))


def _named(policy: Policy, name: str | None) -> tuple[str | None, str | None]:
    """The provider and the model, as far as somebody says them."""
    provider = policy.provider
    if provider is not None and provider not in PROVIDERS and provider not in COMMAND_LINES:
        raise Refused(
            f"No model was chosen: {provider!r} is no provider. Set `provider` to one of {_known()}."
        )
    if name is not None and not name.strip():
        raise Refused(
            "No model was chosen: its name is empty. Give one, as in `anthropic/claude-sonnet-5-5`, or leave it out."
        )
    given = name or policy.model
    if not given:
        return provider, None
    before, mark, after = _parted(given)
    if before in COMMAND_LINES and (name is not None or provider in (None, before)):
        return before, after.strip() or None  # they know themselves which model to take
    if before not in PROVIDERS or (not mark and provider is not None):
        return provider, given
    if not after.strip():
        example = f"{before}/{PROVIDERS[before].model or 'llama3.2'}"
        raise Refused(
            f"No model was chosen: {given!r} names a provider, and no model of it. Give both, as in `{example}`."
        )
    # What OpenRouter has is called after those who made it; and a setting says which provider the name is for.
    if provider is not None and (name is None or provider == "openrouter") and before != provider:
        return provider, given
    return before, after


def _parted(name: str) -> tuple[str, str, str]:
    """At the first slash or colon."""
    found = re.search(r"[/:]", name)
    return (name[: found.start()], found[0], name[found.end() :]) if found else (name, "", "")


def _by_name(model: str | None, environ: Mapping[str, str]) -> str | None:
    found = next((provider for pattern, provider in _BY_NAME if model and pattern.match(model)), None)
    return _openai(environ) if found == "openai" else found


def _openai(environ: Mapping[str, str]) -> str:
    """Who is meant by OpenAI where nobody says it in so many words: elsewhere than there, most servers speak Chat
    Completions."""
    foreign = environ.get("OPENAI_BASE_URL")
    is_own = not foreign or origin(foreign) == origin(PROVIDERS["openai"].own)
    return "openai" if is_own else "openai-chat"


def _nobody_has(name: str) -> Refused:
    before, mark, _ = _parted(name)
    known = _known()
    if mark == "/":
        return Refused(
            f"No model was chosen: {before!r} is no provider. Give `provider/model` with one of {known}; for a model "
            f"of OpenRouter's, `openrouter/{name}`."
        )
    return Refused(
        f"No model was chosen: nobody is known who has {name!r}. Say who, as in `ollama/{name}`. Providers are {known}."
    )


def _at(base_url: str) -> str:
    """Who lives at an address that is given without a name: most servers speak Chat Completions."""
    where = origin(base_url)
    for provider, known in PROVIDERS.items():
        if where == origin(known.own):
            return provider
    return "ollama" if where is not None and where[2] == 11434 else "openai-chat"


def _has_key(provider: str, environ: Mapping[str, str]) -> bool:
    if provider == "anthropic" and environ.get("ANTHROPIC_AUTH_TOKEN"):
        return True
    return any(environ.get(key) for key in PROVIDERS[provider].keys)


def _look_for_key(
    provider: str, model: str | None, where: dict[str, Any], environ: Mapping[str, str]
) -> None:
    """Refuse where a provider will: at its own address, without a key. Whoever answers elsewhere may ask for none."""
    known = PROVIDERS[provider]
    at = where.get("base_url") or (LOCAL if provider == "ollama" else known.own)
    if where.get("api_key") or origin(full(at)) != origin(known.own) or any(map(environ.get, known.instead)):
        return
    if provider == "anthropic" and _has_profile(environ):
        return
    what = f"{provider}/{model}" if model else provider
    raise Refused(
        f"No model was chosen: there is no key for {what!r}. Set {' or '.join(known.keys)} in the environment, or name "
        "a model of another provider."
    )


def _has_profile(environ: Mapping[str, str]) -> bool:
    """Whether Anthropic's SDK has a folder of its own here, by which it may be let in."""
    import os

    home, roaming = environ.get("HOME"), environ.get("APPDATA")
    folder = os.path.join(home, ".config", "anthropic") if home else os.path.join(roaming or "", "Anthropic")
    return bool(home or roaming) and os.path.isdir(folder)


def _by_environment(model: str | None, environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Who is there. For a model whose name says nothing only those come into question that have everybody's."""
    if model is None:
        for provider in PROVIDERS:
            if provider != "ollama" and _has_key(provider, environ):
                return (_openai(environ) if provider == "openai" else provider), None
    elif environ.get("OPENROUTER_API_KEY") and "/" in model:
        return "openrouter", model
    where = environ.get("OLLAMA_HOST") or LOCAL
    first = first_model(where)
    if first is not None:
        return "ollama", model or first
    if model is not None and environ.get("OPENAI_BASE_URL"):
        return "openai-chat", model
    return None, None


def _server_with(model: str | None) -> tuple[str | None, str | None]:
    """A server on this machine and its model: the first one of the first that answers, or the one that is asked for."""
    for where in SERVERS:
        names = models_at(where)
        taken = model if model in names else names[0] if names and model is None else None
        if taken is not None:
            return where, taken
    return None, None


def first_model(where: str) -> str | None:
    """The first model that an Ollama has; None if none answers in time. No SDK is needed to ask for that."""
    names = _names(full(where), "/api/tags", "models", "name")
    return names[0] if names else None


def models_at(where: str) -> list[str]:
    """The models of a server that speaks as OpenAI does, without those that only embed; none if it does not answer in
    time."""
    path = where.partition("://")[2].partition("/")[2]
    names = _names(where, f"/{path}/models", "data", "id")
    return [name for name in names if not re.match(r"text-embedding|.*\bembed", name, re.IGNORECASE)]


def _names(where: str, path: str, many: str, one: str) -> list[str]:
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


# --- making it ------------------------------------------------------------------------


def _made(provider: str, model: str, policy: Policy, where: dict[str, Any]) -> Model:
    from looseleaf import models

    extra = provider if provider in EXTRAS else "openai"  # most speak as OpenAI does
    if not is_there(extra):  # told before anything is typed, and not after it
        from looseleaf.models.call import missing

        raise missing(package_of(extra), extra)
    given: dict[str, Any] = {"base_url": PROVIDERS[provider].base_url} | where
    given |= {"seconds": policy.model_seconds, "retries": policy.model_retries}
    if provider == "anthropic":
        return models.Anthropic(model, **given)
    if provider == "openai":
        return models.OpenAI(model, **given)
    if provider == "gemini":
        return models.Gemini(model, **given)
    if provider == "ollama":
        return models.Ollama(model, **given)
    return models.OpenAIChat(model, **given)


def _where(provider: str, policy: Policy, environ: Mapping[str, str]) -> dict[str, Any]:
    """The address and the key. A key is always given by hand where the address is: an SDK would take any that the
    environment has."""
    known = PROVIDERS[provider]
    key = next((environ[name] for name in known.keys if environ.get(name)), None)
    given = environ.get(ADDRESS)
    if given:
        return {"base_url": safe(given, ADDRESS), "api_key": environ.get(KEY) or key}
    by_environment = next((environ[name] for name in known.addresses if environ.get(name)), None)
    base_url = policy.base_url if policy.base_url and _applies(provider, policy) else None
    if base_url is None:
        named = {} if by_environment is None else {"base_url": by_environment}
        return named | {"api_key": key}
    base_url = safe(base_url, "base_url")
    where = origin(base_url)
    trusted = [origin(known.own)] + ([origin(full(by_environment))] if by_environment else [])
    if is_loopback(base_url) or where == trusted[0]:
        return {"base_url": base_url, "api_key": key or environ.get(KEY)}
    if where in trusted:
        return {"base_url": base_url, "api_key": key}
    raise Refused(
        f"No model was asked: the settings of this memory send what is said to {base_url}, which is not {provider}'s "
        f"own address. If you trust it, set {ADDRESS}={base_url} in the environment, and {KEY} to a key that is for "
        "it; otherwise delete `base_url` from looseleaf.toml."
    )


def _applies(provider: str, policy: Policy) -> bool:
    """An address in the settings is that of the provider in the settings."""
    return policy.provider is None or policy.provider == provider
