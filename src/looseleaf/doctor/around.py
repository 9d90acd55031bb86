"""What stands around a memory: hooks of a coding agent, extras that are installed, models that could be asked."""

from __future__ import annotations

import json
import os

from looseleaf.doctor.finding import Finding
from looseleaf.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from looseleaf.policy import Policy

EXTRAS = {
    "mcp": ("mcp",),
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "gemini": ("google-genai",),
    "ollama": ("ollama",),
    "semantic": ("numpy", "numkong"),
}
"""By extra, the distributions that it brings."""


# --- hooks -----------------------------------------------------------------------------


def hooks() -> Finding:
    """Whether Claude Code calls this program, and would find it."""
    from looseleaf.integrations import settings

    calls: list[str] = []
    for path in (settings.path_of(user=False), settings.path_of(user=True)):
        try:
            text = settings.read(path)
        except Refused as refused:
            return Finding("hooks", "look", str(refused), f"Mend {path}, or move it away.")
        calls += _commands(text)
    if not calls:
        return Finding("hooks", "ok", "not installed; `looseleaf hook install --claude` is for Claude Code")
    lost = next((each for each in map(_program, calls) if not _is_program(each)), None)
    if lost is not None:
        then = "`looseleaf hook install --claude` writes them anew."
        return Finding("hooks", "broken", f"Claude Code calls {lost}, which is not there", then)
    return Finding("hooks", "ok", f"Claude Code calls {_program(calls[0])}")


def _commands(text: str | None) -> list[str]:
    """Those of our hooks, in the text of a settings file."""
    from looseleaf.integrations.settings import EVENTS

    if text is None or not text.strip():
        return []
    hooks = json.loads(text).get("hooks", {})
    entries = (
        entry for event in EVENTS for group in hooks.get(event, ()) for entry in group.get("hooks", ())
    )
    commands = (entry.get("command") for entry in entries if isinstance(entry, dict))
    return [each for each in commands if isinstance(each, str) and "looseleaf" in each and " hook " in each]


def _program(command: str) -> str:
    import shlex

    try:
        return (shlex.split(command) or [command])[0]
    except ValueError:
        return command


def _is_program(name: str) -> bool:
    from shutil import which

    return which(name) is not None


# --- extras ----------------------------------------------------------------------------


def extras() -> Finding:
    has = {extra: _versions(names) for extra, names in EXTRAS.items()}
    there = ", ".join(f"{extra} ({found})" for extra, found in has.items() if found)
    missing = [extra for extra, found in has.items() if not found]
    then = f"pip install 'looseleaf[NAME]' brings one of: {', '.join(missing)}" if missing else ""
    return Finding("extras", "ok", there or "none is installed, and none is needed", then)


def _versions(names: tuple[str, ...]) -> str:
    """The version of the first, if all of them are installed; nothing is imported for that."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = [version(name) for name in names]
    except PackageNotFoundError:
        return ""
    return found[0]


# --- models ----------------------------------------------------------------------------


def keys(environ: Mapping[str, str] | None = None) -> Finding:
    """Names only: what a key is, nobody is told."""
    environ = os.environ if environ is None else environ
    known = list(dict.fromkeys(_variables()))
    there = [name for name in known if environ.get(name)]
    empty = [name for name in known if environ.get(name) == ""]
    if empty:
        then = "Give it a value, or unset it."
        return Finding("keys", "look", f"{', '.join(empty)} is there, and empty", then)
    return Finding(
        "keys", "ok", ", ".join(there) if there else "none in the environment; the rules need none"
    )


def _variables() -> Iterator[str]:
    from looseleaf.llm.models.choice import ADDRESS, KEY, PROVIDERS

    for provider in PROVIDERS.values():
        yield from provider.keys
        yield from provider.addresses
    yield from (ADDRESS, KEY)


def ollama(environ: Mapping[str, str] | None = None) -> Finding:
    """Only on this machine: nothing else is asked."""
    from looseleaf.llm.models.address import full, is_loopback, shown
    from looseleaf.llm.models.choice import LOCAL, first_model

    environ = os.environ if environ is None else environ
    at = full(environ.get("OLLAMA_HOST") or LOCAL)
    if not is_loopback(at):
        return Finding(
            "ollama", "ok", f"OLLAMA_HOST names another machine, which was not asked ({shown(at)})"
        )
    first = first_model(at)
    if first is None:
        return Finding("ollama", "ok", f"none with a model answers at {shown(at)}")
    return Finding("ollama", "ok", f"answers at {shown(at)}; its first model is {first}")


def model(policy: Policy, environ: Mapping[str, str] | None = None) -> Finding:
    """What a chat, or a distiller that asks a model, would take."""
    from looseleaf.llm.models.address import full, is_loopback
    from looseleaf.llm.models.choice import ADDRESS, choose

    environ = os.environ if environ is None else environ
    far = [name for name in (ADDRESS, "OLLAMA_HOST") if environ.get(name)]
    far = [name for name in far if not is_loopback(full(environ[name]))]
    if far and policy.model is None:
        return Finding(
            "model", "ok", f"one at {far[0]}, which is another machine and was not asked for its name"
        )
    try:
        chosen: Any = choose(policy, None, environ)
    except Refused as refused:
        return Finding(
            "model", "look", str(refused), "Until then the rules distill; `looseleaf chat` needs a model."
        )
    by = "a model" if policy.distiller == "model" else "the rules"
    if chosen is None:
        then = "Set the key of a provider, or start Ollama, to chat or to distill by a model."
        is_wanted = policy.distiller == "model"
        return Finding("model", "look" if is_wanted else "ok", "none is to be had; the rules distill", then)
    return Finding("model", "ok", f"{chosen.name} would be asked; {by} distill{'s' * (by == 'a model')}")
