"""The verbs that connect a memory: `hook` for coding agents and their settings, `mcp` for MCP clients."""

from __future__ import annotations

import json
import os
import sys

from looseleaf.base.errors import Busy, Invalid, NotFound, Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.values import INSIDE
from looseleaf.cli.output import ask, memory_path, open_memory, plain, print_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.base.policy import Policy
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.integrations.claude_code import Given
    from looseleaf.memory import Memory


PATIENCE = 2.0
"""Seconds that a hook waits for the memory's lock: a person waits for the agent. What it could not record, the next
hook finds in the transcript."""


_LEFT = 2.0
"""Seconds to end a model that took too long."""


def hook(options: CliOptions) -> int:
    if options.event in ("install", "remove"):
        return _change_settings(options)
    if os.environ.get(INSIDE):
        return 0  # a coding agent that runs as a model: no user speaks there
    if options.event == "distill":
        return _distill(options)
    from looseleaf.integrations.claude_code import HELD_UP, PRE_TOOL, HookReply, given_in, handle_event

    given: Given | None = None
    told = HookReply()
    try:
        data = _read_stdin()
        path = _find_memory(options)
        if path is not None:
            from looseleaf.memory import Memory
            from looseleaf.pages.folder import settings

            given = given_in(data)
            agent = options.agent or "main"
            policy = hurried(settings(path, agent))
            with Memory(path, agent=agent, policy=policy, session=given.session) as memory:
                told = handle_event(memory, options.event, given)
    except Refused as refused:
        told = HookReply(message=f"looseleaf: {refused}")
        if isinstance(refused, Busy) and options.event == PRE_TOOL:
            told = HookReply(denied=HELD_UP)
    form = given.form if given is not None else "claude"
    answer = told.to_dict(form)
    try:
        if answer or form == "plain" or options.json:
            sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()
    except (OSError, ValueError):  # the caller is gone
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it is written to until the end
    return 0


def _distill(options: CliOptions) -> int:
    """Run the background process. The next hook reports its messages."""
    import threading

    from looseleaf.integrations.detached import work
    from looseleaf.memory import Memory
    from looseleaf.pages.folder import settings

    path = _find_memory(options)
    if path is not None:
        agent = options.agent or "main"
        with Memory(path, agent=agent, policy=patient(settings(path, agent))) as memory:
            work(memory)
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join(_LEFT)  # a thread that was abandoned ends its program now
    return 0


def hurried(policy: Policy) -> Policy:
    return _changed_policy(policy, lock_seconds=min(policy.lock_seconds, PATIENCE))


def patient(policy: Policy) -> Policy:
    """Give a model in the background the full time of a call: no one waits for it."""
    return _changed_policy(policy, distill_seconds=max(policy.distill_seconds, policy.model_seconds))


def _changed_policy(policy: Policy, **changed: Any) -> Policy:
    from looseleaf.base.policy import Policy

    own = {name: getattr(policy, name) for name in Policy.__match_args__}
    return Policy(**own | changed)


def _read_stdin() -> bytes:
    from looseleaf.integrations.claude_code import LONGEST

    if sys.stdin is None or sys.stdin.isatty():
        raise Refused(
            "The hook did nothing: a coding agent runs it, with JSON on standard input. "
            "`looseleaf hook install --claude` sets that up."
        )
    try:
        return sys.stdin.buffer.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        raise Refused(f"The hook did nothing: standard input could not be read ({error}).") from error


def _find_memory(options: CliOptions) -> str | None:
    """Return the named memory, or the nearest; None where there is none: then a hook has nothing to do."""
    from looseleaf.pages.folder import find, is_memory

    path = options.memory if options.memory is not None else find()
    if path and is_memory(path):
        return path
    if options.memory is None and not os.environ.get("LOOSELEAF_HOME"):
        return None
    raise NotFound(
        f"The hook did nothing: there is no memory at {path!r}. Make it with `looseleaf init`, or name another in the "
        "settings that run this hook."
    )


def _change_settings(options: CliOptions) -> int:
    """Show the changes, ask, and write them: the agent's settings, and the distiller in ours."""
    if not options.claude and (options.distill_with is None or options.event == "remove"):
        raise Invalid(
            "The settings were not changed: say which. --claude: of Claude Code in this project; with --user, your own."
        )
    wanted = _distiller_change(options) if options.distill_with is not None else None
    changed = [_claude_change(options)] if options.claude else []
    changed += [wanted] if wanted is not None else []
    if wanted is not None and not options.json:
        say(_privacy_notice(options))  # before the person agrees to it
    written = [_write_change(options, each) for each in changed]
    if options.json:
        told = [
            {"path": each.path, "event": options.event, "written": is_written and each.new is not None}
            for each, is_written in zip(changed, written, strict=True)
        ]
        print_json(told[0] if len(told) == 1 else {"settings": told})
    elif options.event == "install" and options.claude and written[0]:
        _print_hints(options)
    return 0


@frozen
class _Settings:
    """A settings file: its text now and wanted (None: no file), and the message if both are the same.
    `is_read_once`: the agent reads it only when a session begins."""

    path: str
    old: str | None
    new: str | None
    same: str
    is_read_once: bool = False


def _claude_change(options: CliOptions) -> _Settings:
    from looseleaf.integrations import claude_settings

    path = claude_settings.path_of(user=options.user)
    old = claude_settings.read(path)
    new = old
    if options.event == "install":
        new = claude_settings.installed(old or "", command_line(options))
    elif old is not None and old.strip():
        left = claude_settings.removed(old)
        new = left if left == old or json.loads(left) else None
    has = "has them already" if options.event == "install" else "has no hooks of looseleaf"
    return _Settings(path, old, new, has, is_read_once=True)


def _distiller_change(options: CliOptions) -> _Settings:
    """Return the settings with the wanted distiller. Refused without a memory, and for an unknown name."""
    from looseleaf.base.policy import COMMAND_LINES, is_distiller
    from looseleaf.integrations import claude_settings

    name = str(options.distill_with)
    if options.event == "remove" or not is_distiller(name) or any(each in name for each in '"\\\n'):
        raise Invalid(
            f"The settings were not changed: --distill-with {name!r} does not name a distiller. With `hook install` "
            f"give {', '.join(COMMAND_LINES)}, a model as in `ollama/llama3.2`, `model`, or `rules`."
        )
    memory = _find_memory(options)
    if memory is None:
        raise NotFound(
            "The settings were not changed: there is no memory here. Make one with `looseleaf init`."
        )
    path = claude_settings.path_in(memory)
    old = claude_settings.read_text(path)
    new = claude_settings.with_distiller(path, old or "", name)
    return _Settings(path, old, new if new or old is not None else None, f"says so already ({name} distills)")


def _write_change(options: CliOptions, changed: _Settings) -> bool:
    """Ask, and write a settings file; return whether it was written."""
    from looseleaf.integrations import claude_settings
    from looseleaf.text.diff import unified

    path, old, new = changed.path, changed.old, changed.new
    if new == old:
        if not options.json:
            say(f"{path} {changed.same}; nothing was changed.")
        return False
    if not options.json:
        say(unified(old or "", new or "", path, path if new is not None else os.devnull).rstrip("\n"))
    if not options.yes:
        ask(
            f"Write {path}?",
            no_terminal=f"The settings were not changed: there is no terminal to ask whether to write {path}. "
            "Give --yes to write it.",
            no=f"The settings were not changed: {path} is as it was. Answer `y` to write it.",
        )
    claude_settings.write(path, old, new)
    options.done = "the settings are written; "
    if not options.json:
        what = "written" if new is not None else "removed: it was empty"
        then = " Restart open sessions to apply it." if changed.is_read_once else ""
        say(f"{path} is {what}.{then}")
    return True


def _privacy_notice(options: CliOptions) -> str:
    """Return who will read the talk, and what that costs."""
    from shutil import which

    from looseleaf.models.choice import COMMAND_LINES
    from looseleaf.models.providers import command_line as programs

    name = str(options.distill_with)
    if name == "rules":
        return "The rules distill: nothing leaves this machine."
    what = "your prompts, the agent's answers, and the beginnings of tool results"
    after = f"After each answer, what is new ({what}) is sent"
    off = "`looseleaf hook install --distill-with rules` stops that."
    provider, _, _ = name.partition("/")
    if provider not in COMMAND_LINES:
        to = "the model of the settings and the environment" if name == "model" else name
        return f"{after} to {to}. {off}"
    kind = getattr(programs, COMMAND_LINES[provider])
    said = (
        f"{after} to {kind.sends_to} through `{kind.program}` on this machine, with the login that {kind.title} has; "
        f"it counts as use of that subscription or key. {off}"
    )
    if which(kind.program) is None:
        said += f"\n`{kind.program}` is not on PATH yet: until it is, the rules distill. {kind.to_install}"
    return said


def _print_hints(options: CliOptions) -> None:
    try:
        has_memory = _find_memory(options) is not None
    except Refused:
        has_memory = False
    if not has_memory:
        say("There is no memory here yet, so the hooks do nothing. `looseleaf init` makes one.")
    command = f"claude mcp add looseleaf -- {command_line(options)} mcp"
    say(f"The model itself reads and writes it through: {command}")


def command_line(options: CliOptions) -> str:
    """Return the command line that runs this program from any folder, with the memory if one was named."""
    from shlex import quote
    from shutil import which

    own = os.path.abspath(sys.argv[0])
    is_program = os.path.basename(own).startswith("looseleaf") and os.access(own, os.X_OK)
    found = own if is_program else which("looseleaf")
    made = quote(os.path.abspath(found)) if found else f"{quote(sys.executable)} -m looseleaf"
    memory = options.memory or os.environ.get("LOOSELEAF_HOME")
    made += f" --memory {quote(os.path.abspath(memory))}" if memory else ""
    return made + (f" --agent {quote(options.agent)}" if options.agent else "")


PORT = 8765
"""A port that no known program uses."""


def mcp(options: CliOptions) -> int:
    """Serve until the client closes its end, or a signal ends the process."""
    import gc

    if os.environ.get(INSIDE):
        raise Refused(
            f"No server was started: this is a coding agent that runs as a model ({INSIDE} is set)."
        )
    if options.json:
        raise Invalid("No server was started: a server has no JSON output. Leave out --json.")
    only_http = {
        "--host": options.host,
        "--port": options.port,
        "--allow-host": options.allow_host,
        "--allow-origin": options.allow_origin,
        "--token-file": options.token_file,
    }
    stray = [name for name, value in only_http.items() if value is not None]
    if stray and not options.http:
        raise Invalid(f"No server was started: {stray[0]} is for HTTP. Add --http, or leave it out.")
    gc.enable()  # other commands end before they make garbage; a server lives long
    if options.http:
        return _serve_http(options)
    from looseleaf.serve import stdio

    if sys.stdin is None:
        raise Refused("No server was started: standard input is closed. A client asks there; or add --http.")
    if sys.stdin.isatty():
        sys.stderr.write("looseleaf: waiting for an MCP client on standard input; Ctrl-C ends it\n")
    stdio.serve(lambda: memory_path(options), lambda: _open_logging(options), read_only=options.read_only)
    return 0


def _open_logging(options: CliOptions) -> Memory:
    """Open the memory of a server, whose log is on standard error."""
    import logging

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="looseleaf: %(message)s")
    return open_memory(options)


def _serve_http(options: CliOptions) -> int:
    from looseleaf.memory.thread import MemoryThread
    from looseleaf.serve import http
    from looseleaf.serve.http import default_path, token
    from looseleaf.serve.mcp import server

    host = "127.0.0.1" if options.host in (None, "localhost") else str(options.host)
    if host not in http.LOOPBACK and not (options.token_file and options.allow_host):
        raise Invalid(
            f"No server was started: {host} can be reached from other machines. If you want that, name its token file "
            "with --token-file PATH and its host names with --allow-host NAMES; and put it behind an HTTPS proxy, or "
            "the token can be read on the way."
        )
    with MemoryThread(lambda: _open_logging(options)) as keeper:
        memory, path = keeper.path(), options.token_file or default_path()
        secret = token(path, memory)
        with http.listen(host, PORT if options.port is None else options.port) as sock:
            port = sock.getsockname()[1]
            allowed = http.allowed_hosts(port, options.allow_host, options.allow_origin)
            gate = http.app(server(keeper, read_only=options.read_only), secret, allowed)
            sys.stderr.write(
                f"looseleaf: serving {plain(memory)} at http://{http.address(host, port)}{http.PATH}\n"
                f"looseleaf: send `Authorization: Bearer …` with the token in {plain(os.path.abspath(path))}\n"
            )
            sys.stderr.flush()
            http.serve(gate, sock)
    return 0
