"""The command `hook`: what a coding agent calls at its events, and what writes that into its settings.

Invariant: at an event the exit code is 0 and standard output is one JSON object or nothing, whatever was given. To a
coding agent some other codes mean that the user's prompt is to be dropped.
"""

from __future__ import annotations

import json
import os
import sys

from looseleaf.errors import Busy, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.parse import Options
    from looseleaf.integrations.claude_code import Given, Told
    from looseleaf.policy import Policy

PATIENCE = 2.0
"""Seconds that a hook waits for the memory's lock: somebody sits before the agent. What it could not record, the next
one finds in the transcript."""


def hook(options: Options) -> int:
    if options.event in ("install", "remove"):
        return _change(options)
    from looseleaf.integrations.claude_code import HELD_UP, PRE_TOOL, Told, given_in

    given: Given | None = None
    told = Told()
    try:
        data = _stdin()
        path = _memory(options)
        if path is not None:
            given = given_in(data)
            told = _answer(options, path, given)
    except Refused as refused:
        told = Told(message=f"looseleaf: {refused}")
        if isinstance(refused, Busy) and options.event == PRE_TOOL:
            told = Told(denied=HELD_UP)
    _print(told, is_plain=given is not None and given.is_plain, is_always=options.json)
    return 0


def _answer(options: Options, path: str, given: Given) -> Told:
    from looseleaf.integrations.claude_code import happened
    from looseleaf.memory import Memory
    from looseleaf.where import settings

    agent = options.agent or "main"
    policy = hurried(settings(path, agent))
    with Memory(path, agent=agent, policy=policy, session=given.session) as memory:
        return happened(memory, options.event, given)


def hurried(policy: Policy) -> Policy:
    from looseleaf.policy import Policy

    own = {name: getattr(policy, name) for name in Policy.__match_args__}
    return Policy(**own | {"lock_seconds": min(policy.lock_seconds, PATIENCE)})


def _stdin() -> bytes:
    from looseleaf.integrations.claude_code import LONGEST

    if sys.stdin is None or sys.stdin.isatty():
        raise Refused(
            "The hook did nothing: a coding agent calls it, with JSON on standard input. "
            "`looseleaf hook install --claude` has it called."
        )
    try:
        return sys.stdin.buffer.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        raise Refused(f"The hook did nothing: standard input could not be read ({error}).") from error


def _memory(options: Options) -> str | None:
    """The memory that was named, or the nearest; None where there is none: then a hook has nothing to do."""
    from looseleaf.where import find, is_memory

    path = options.memory if options.memory is not None else find()
    if path and is_memory(path):
        return path
    if options.memory is None and not os.environ.get("LOOSELEAF_HOME"):
        return None
    raise Refused(
        f"The hook did nothing: there is no memory at {path!r}. Make it with `looseleaf init`, or name another one in "
        "the settings that call this hook."
    )


def _print(told: Told, *, is_plain: bool, is_always: bool = False) -> None:
    answer = told.to_dict(is_plain=is_plain)
    try:
        if answer or is_plain or is_always:
            sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()
    except (OSError, ValueError):  # whoever asked does not listen any more
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it is written to until the end


# --- settings --------------------------------------------------------------------------


def _change(options: Options) -> int:
    from looseleaf.cli.asking import ask
    from looseleaf.cli.shown import print_json, say
    from looseleaf.core.diff import unified
    from looseleaf.integrations import settings

    if not options.claude:
        raise Refused(
            "The settings were not changed: say whose. --claude: Claude Code's, of this project; with --user, yours."
        )
    path = settings.path_of(user=options.user)
    old = settings.read(path)
    new = old
    if options.event == "install":
        new = settings.installed(old or "", command(options))
    elif old is not None and old.strip():
        left = settings.removed(old)
        new = left if left == old or json.loads(left) else None
    if new == old:
        has = "has them already" if options.event == "install" else "has no hooks of looseleaf"
        if options.json:
            print_json({"path": path, "event": options.event, "written": False})
        else:
            say(f"{path} {has}; nothing was changed.")
        return 0
    if not options.json:
        say(unified(old or "", new or "", path, path if new is not None else os.devnull).rstrip("\n"))
    if not options.yes:
        ask(
            f"Write {path}?",
            nobody=f"The settings were not changed: nobody could be asked whether {path} may be. "
            "Give --yes if it may.",
            no=f"The settings were not changed: {path} is as it was. Answer `y` to have it written.",
        )
    settings.write(path, old, new)
    options.done = "the settings are written; "
    if options.json:
        print_json({"path": path, "event": options.event, "written": new is not None})
    else:
        what = "written" if new is not None else "removed: nothing was left in it"
        say(f"{path} is {what}. A session that is open goes on as it was until it is begun anew.")
        if options.event == "install":
            _say_what_else(options)
    return 0


def _say_what_else(options: Options) -> None:
    from looseleaf.cli.shown import say

    try:
        has_memory = _memory(options) is not None
    except Refused:
        has_memory = False
    if not has_memory:
        say("There is no memory here yet, so the hooks do nothing. `looseleaf init` makes one.")
    from looseleaf.extras import is_there, to_get

    say(f"The model itself reads and writes it through: claude mcp add looseleaf -- {command(options)} mcp")
    if not is_there("mcp"):
        say(f"For that the package mcp is needed, which is not installed: {to_get('mcp')}.")


def command(options: Options) -> str:
    """How the program is called from any folder: by its absolute path, with the memory if one was named."""
    from shlex import quote
    from shutil import which

    own = os.path.abspath(sys.argv[0])
    is_program = os.path.basename(own).startswith("looseleaf") and os.access(own, os.X_OK)
    found = own if is_program else which("looseleaf")
    made = quote(os.path.abspath(found)) if found else f"{quote(sys.executable)} -m looseleaf"
    memory = options.memory or os.environ.get("LOOSELEAF_HOME")
    made += f" --memory {quote(os.path.abspath(memory))}" if memory else ""
    return made + (f" --agent {quote(options.agent)}" if options.agent else "")
