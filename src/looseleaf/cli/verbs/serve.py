"""The verb `mcp`: what is asked for, and where the server then is. The servers are in `serve/`."""

from __future__ import annotations

import os
import sys

from looseleaf.base.errors import Refused
from looseleaf.base.values import INSIDE
from looseleaf.cli.output import open_memory, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.arguments import Options


PORT = 8765
"""Where nothing else is known to listen."""


def mcp(options: Options) -> int:
    """Serve until the client closes its end, or the process is told to end."""
    import gc
    import logging

    if os.environ.get(INSIDE):
        raise Refused(
            f"No server was started: this is inside a coding agent that is asked as a model ({INSIDE} is set)."
        )
    if options.json:
        raise Refused(
            "No server was started: --json is for one answer, and a server gives many. Leave it out."
        )
    only_http = {
        "--host": options.host,
        "--port": options.port,
        "--allow-host": options.allow_host,
        "--allow-origin": options.allow_origin,
        "--token-file": options.token_file,
    }
    stray = [name for name, value in only_http.items() if value is not None]
    if stray and not options.http:
        raise Refused(f"No server was started: {stray[0]} is for HTTP. Add --http, or leave it out.")
    gc.enable()  # other commands end before they have litter; a server lives long
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="looseleaf: %(message)s")

    from looseleaf.memory.thread import Keeper
    from looseleaf.serve.mcp import server

    if options.http:
        return _http(options)
    from looseleaf.serve import stdio

    if sys.stdin is None:
        raise Refused("No server was started: standard input is closed. A client asks there; or add --http.")
    if sys.stdin.isatty():
        sys.stderr.write("looseleaf: waiting for an MCP client on standard input; Ctrl-C ends it\n")
    with Keeper(lambda: open_memory(options)) as keeper:
        stdio.serve(server(keeper, read_only=options.read_only), keeper)
    return 0


def _http(options: Options) -> int:
    from looseleaf.memory.thread import Keeper
    from looseleaf.serve import http
    from looseleaf.serve.mcp import server
    from looseleaf.serve.token import default_path, token

    host = "127.0.0.1" if options.host in (None, "localhost") else str(options.host)
    if host not in http.LOOPBACK and not (options.token_file and options.allow_host):
        raise Refused(
            f"No server was started: {host} can be reached from other machines. If that is wanted, name the file of "
            "its token with --token-file PATH and the names it will be asked under with --allow-host NAMES; and put it "
            "behind something that speaks HTTPS, or the token is readable on the way."
        )
    with Keeper(lambda: open_memory(options)) as keeper:
        path = options.token_file or default_path()
        secret = token(path, keeper.path)
        with http.listen(host, PORT if options.port is None else options.port) as sock:
            port = sock.getsockname()[1]
            allowed = http.names(port, options.allow_host, options.allow_origin)
            gate = http.app(server(keeper, read_only=options.read_only), secret, allowed)
            sys.stderr.write(
                f"looseleaf: serving {plain(keeper.path)} at http://{http.address(host, port)}{http.PATH}\n"
                f"looseleaf: send `Authorization: Bearer …` with the token in {plain(os.path.abspath(path))}\n"
            )
            sys.stderr.flush()
            http.serve(gate, sock)
    return 0
