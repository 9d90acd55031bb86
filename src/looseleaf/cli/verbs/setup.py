"""The verbs that others call: `hook` by coding agents at their events, `mcp` by MCP clients."""

from __future__ import annotations

import json
import os
import sys

from looseleaf.base.errors import Busy, Invalid, Refused
from looseleaf.base.paths import is_address
from looseleaf.base.values import INSIDE
from looseleaf.cli.output import find_memory, memory_path, open_memory, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.base.policy import Policy
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.integrations.claude_code import Given
    from looseleaf.integrations.spool import Spool
    from looseleaf.memory import Memory


PATIENCE = 2.0
"""Seconds that a hook waits for the memory's lock: a person waits for the agent. What it could not record, the next
hook finds in the transcript."""


_LEFT = 2.0
"""Seconds to end a model that took too long."""


def hook(options: CliOptions) -> int:
    if options.event in ("install", "remove"):
        from looseleaf.cli.verbs.install import change_settings

        return change_settings(options)
    if os.environ.get(INSIDE):
        return 0  # a coding agent that runs as a model: no user speaks there
    if options.event == "distill":
        return _distill(options)
    if options.event == "deliver":
        return _deliver(options)
    from looseleaf.integrations.claude_code import HELD_UP, PRE_TOOL, HookReply, given_in, handle_event
    from looseleaf.integrations.target import target_of

    given: Given | None = None
    told = HookReply()
    try:
        data = _read_stdin()
        target = target_of(options.memory)
        path = find_memory(options) if target is None else None
        if target is not None:
            from looseleaf.integrations.spool import Spool

            given = given_in(data)
            spool = Spool(target, options.agent or "main")
            with _spooled(spool, given.session) as memory:
                told = handle_event(memory, options.event, given, spool)
        elif path is not None:
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

    path: str | None = memory_path(options)
    if not is_address(path):
        path = find_memory(options)
    if path is not None:
        agent = options.agent or "main"
        with Memory(path, agent=agent, policy=patient(settings(path, agent))) as memory:
            work(memory)
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join(_LEFT)  # a thread that was abandoned ends its program now
    return 0


def _spooled(spool: Spool, session: str | None) -> Memory:
    """Open what hooks recorded of a memory that is elsewhere."""
    from looseleaf.memory import Memory
    from looseleaf.pages.folder import settings

    spool.make()
    policy = hurried(settings(spool.path, spool.agent))
    return Memory(spool.path, agent=spool.agent, policy=policy, session=session)


def _deliver(options: CliOptions) -> int:
    """Bring what hooks recorded to where the memory is. The next hook says what failed."""
    from looseleaf.integrations.spool import Spool, remove_old, sender_for
    from looseleaf.integrations.target import target_of

    target = target_of(options.memory)
    if target is None:
        raise Invalid("Nothing was delivered: the memory is a folder, in which hooks record at once.")
    spool = Spool(target, options.agent or "main")
    with _spooled(spool, None) as memory:
        spool.deliver(memory, sender_for(spool))
    remove_old()
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
            "`looseleaf setup` or `looseleaf hook install` sets that up."
        )
    try:
        return sys.stdin.buffer.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        raise Refused(f"The hook did nothing: standard input could not be read ({error}).") from error


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
            gate = http.app(server(lambda _: keeper, read_only=options.read_only), secret, allowed)
            sys.stderr.write(
                f"looseleaf: serving {plain(memory)} at http://{http.address(host, port)}{http.PATH}\n"
                f"looseleaf: send `Authorization: Bearer …` with the token in {plain(os.path.abspath(path))}\n"
            )
            sys.stderr.flush()
            http.serve(gate, sock)
    return 0
