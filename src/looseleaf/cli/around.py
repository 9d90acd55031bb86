"""What stands around a memory: hooks of a coding agent, extras that are installed, models that could be asked."""

from __future__ import annotations

import json
import os
import re

from looseleaf.base.errors import Refused
from looseleaf.base.extras import EXTRAS, hint
from looseleaf.cli.finding import Finding, refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from looseleaf.base.policy import Policy


# --- hooks -----------------------------------------------------------------------------


def hooks() -> Finding:
    """Whether Claude Code calls this program, and would find it."""
    from looseleaf.integrations import claude_settings

    calls: list[str] = []
    for path in (claude_settings.path_of(user=False), claude_settings.path_of(user=True)):
        try:
            text = claude_settings.read(path)
        except Refused as error:
            return refused("hooks", "look", error, "The settings were not changed: ")
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
    from looseleaf.integrations.claude_settings import EVENTS

    if text is None or not text.strip():
        return []
    hooks = json.loads(text).get("hooks", {})
    entries = (
        entry for event in EVENTS for group in hooks.get(event, ()) for entry in group.get("hooks", ())
    )
    commands = (entry.get("command") for entry in entries if isinstance(entry, dict))
    return [each for each in commands if isinstance(each, str) and "looseleaf" in each and " hook " in each]


_SETS = re.compile(r"[A-Za-z_]\w*=")
_APART = frozenset({"&&", "||", ";", "|", "&"})


def _program(command: str) -> str:
    """What a shell would start: not what is set before it, nor what is done before in the same line."""
    import shlex

    try:
        words = shlex.split(command)
    except ValueError:
        return command
    ours = next((at for at, word in enumerate(words) if "looseleaf" in word and not _SETS.match(word)), 0)
    begins = max((at + 1 for at, word in enumerate(words[:ours]) if word in _APART), default=0)
    started = (word for word in words[begins:] if not _SETS.match(word) and word != "env")
    return next(started, command)


def _is_program(name: str) -> bool:
    from shutil import which

    name = os.path.expandvars(os.path.expanduser(name))
    return "$" in name or which(name) is not None  # what only the coding agent knows cannot be looked for


# --- extras ----------------------------------------------------------------------------


def extras() -> Finding:
    has = {extra: _versions(names) for extra, names in EXTRAS.items()}
    there = ", ".join(f"{extra} ({found})" for extra, found in has.items() if found)
    missing = [extra for extra, found in has.items() if not found]
    then = "; ".join(f"for {extra}: {hint(extra)}" for extra in missing)
    return Finding("extras", "ok", there or "none is installed, and none is needed", then)


def _versions(names: tuple[str, ...]) -> str:
    """The version of the first, if all of them are installed; nothing is imported for that."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = [version(name.partition(">")[0]) for name in names]
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
    from looseleaf.models.choice import ADDRESS, KEY, PROVIDERS

    for provider in PROVIDERS.values():
        yield from provider.keys
        yield from provider.addresses
    yield from (ADDRESS, KEY)


_LIKE = "Give one like 127.0.0.1:11434 or https://example.org/v1, or unset it."
_HOST = re.compile(r"[\w.:%-]+")


def _is_address(url: str) -> bool:
    """Whether it names a machine at all."""
    from urllib.parse import urlsplit

    try:
        found = urlsplit(url)
        host, _ = found.hostname or "", found.port
    except ValueError:
        return False
    return found.scheme in ("http", "https") and _HOST.fullmatch(host) is not None


def ollama(environ: Mapping[str, str] | None = None) -> Finding:
    """Only on this machine: nothing else is asked."""
    from looseleaf.models.address import full, is_loopback, shown
    from looseleaf.models.choice import LOCAL, first_model

    environ = os.environ if environ is None else environ
    at = full(environ.get("OLLAMA_HOST") or LOCAL)
    if not _is_address(at):
        return Finding("ollama", "look", "OLLAMA_HOST is no address", _LIKE)
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
    from looseleaf.models.address import full, is_loopback
    from looseleaf.models.choice import ADDRESS, choose_distiller

    environ = os.environ if environ is None else environ
    given = {name: full(environ[name]) for name in (ADDRESS, "OLLAMA_HOST") if environ.get(name)}
    lost = [name for name, at in given.items() if not _is_address(at)]
    if lost and policy.model is None:
        return Finding("model", "look", f"{lost[0]} is no address", _LIKE)
    far = [name for name, at in given.items() if not is_loopback(at)]
    if far and policy.model is None:
        return Finding(
            "model", "ok", f"one at {far[0]}, which is another machine and was not asked for its name"
        )
    try:
        chosen: Any = choose_distiller(policy, environ)
        if hasattr(chosen, "program"):  # no other is asked for by looking
            chosen.ready()
    except Refused as refused:
        return Finding(
            "model", "look", str(refused), "Until then the rules distill; `looseleaf chat` needs a model."
        )
    by = "a model" if policy.distiller != "rules" else "the rules"
    if chosen is None:
        then = "Set the key of a provider, or start Ollama, to chat or to distill by a model."
        is_wanted = policy.distiller != "rules"
        return Finding("model", "look" if is_wanted else "ok", "none is to be had; the rules distill", then)
    return Finding("model", "ok", f"{chosen.name} would be asked; {by} distill{'s' * (by == 'a model')}")
