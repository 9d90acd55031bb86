"""The verbs of a server: `serve` starts it, `login` lets a person in, `token` a program.

Who may come in is in a file outside of every memory, so `login` and `token` need not ask a server.
"""

from __future__ import annotations

import os
import sys
import time

from looseleaf.base.errors import Invalid, NotFound, Refused, is_there, to_get
from looseleaf.cli.output import open_memory, plain, print_answer, print_json, say, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.serve.access import Token
    from looseleaf.serve.pool import Pool

PORT = 8765
_GARBAGE = (20_000, 20, 100)
"""When garbage is looked for: a screen of a large memory makes some thousand objects, and no rings of them."""
_DAY = 86_400.0


def serve(options: CliOptions) -> int:
    """Serve until a signal ends the process."""
    import gc

    _refuse_without_extra()
    if options.json:
        raise Invalid("No server was started: a server has no JSON output. --json-log makes its log JSON.")
    gc.enable()  # other commands end before they make garbage; a server lives long
    gc.set_threshold(*_GARBAGE)
    from looseleaf.serve import http
    from looseleaf.serve.access import Access
    from looseleaf.serve.app import app
    from looseleaf.serve.audit import Audit
    from looseleaf.serve.metrics import Log
    from looseleaf.serve.runner import Claim, begin_logging, names_of, raise_files, runner
    from looseleaf.serve.runner import serve as run
    from looseleaf.serve.serving import Serving

    host = "127.0.0.1" if options.host in (None, "localhost") else str(options.host)
    tls = _tls(options)
    if host not in http.LOOPBACK:
        _refuse_open(options, host)
    raise_files()
    pool = _pool(options)
    access = Access(_access_folder(options))
    at = PORT if options.port is None else options.port
    with Claim(access.folder) as claim, http.listen(host, at) as sock:
        port = sock.getsockname()[1]
        names = names_of(port, options.allow_host, proxy=options.proxy, is_tls=tls is not None)
        serving = Serving(pool, access, Audit(access.folder), is_https=names.is_https, warms=True)
        server = runner(app(serving, names.allowed, Log(is_json=options.json_log)), serving, tls=tls)
        begin_logging(is_json=options.json_log)
        claim.tell(names.address)
        what = plain(pool.root or pool.path(pool.only))
        sys.stderr.write(f"looseleaf: serving {what}; to sign in, once, within two minutes, open\n")
        sys.stderr.flush()
        print(f"{names.address}/login/{access.make_code()}", flush=True)
        run(server, sock)
    return 0


def login(options: CliOptions) -> int:
    """Print a link to sign in."""
    _refuse_without_extra()
    from looseleaf.serve.access import Access
    from looseleaf.serve.runner import address_of

    folder = _access_folder(options)
    address = address_of(folder)
    if address is None:
        again = f" --root {plain(options.root)}" if options.root is not None else ""
        raise NotFound(
            "No link was made: no server of this memory runs. Name that of the one that runs with --memory, or its "
            f"--root; or start one with `looseleaf serve{again}`, which prints a link."
        )
    link = f"{address}/login/{Access(folder).make_code()}"
    print_answer(options, {"link": link}, link)
    return 0


# --- tokens -----------------------------------------------------------------------------


def token(options: CliOptions) -> int:
    from looseleaf.serve.access import Access

    _refuse_without_extra()
    pool, access = _pool(options), Access(_access_folder(options))
    if options.act == "list":
        return _list_tokens(options, access.tokens())
    if not options.name:
        what = "what the token is for" if options.act == "new" else "the id of the token"
        raise Invalid(f"Nothing was done: give {what}: `looseleaf token {options.act} NAME`.")
    if options.act == "revoke":
        gone = access.revoke(options.name)
        print_answer(options, _told(gone), f"revoked: {gone.id}, {plain(gone.name)}")
        return 0
    if options.days < 0:
        raise Invalid("No token was made: --days is the number of days until it ends; 0: it never does.")
    made, secret = access.make_token(
        options.name,
        _memories(options, pool),
        _split(options.scopes),
        agent=options.agent or "main",
        voice=options.voice or "",
        expires=time.time() + options.days * _DAY if options.days else None,
    )
    if options.json:
        print_json(_told(made) | {"token": secret})
    else:
        print(secret)
        print(
            f"looseleaf: {made.id} may {', '.join(made.scopes)} in {plain(', '.join(made.memories))}. The token is "
            f"shown only this once; `looseleaf token revoke {made.id}` ends it.",
            file=sys.stderr,
        )
    return 0


def _list_tokens(options: CliOptions, tokens: list[Token]) -> int:
    if options.json:
        print_json([_told(each) for each in tokens])
        return 0
    rows = [
        (
            each.id,
            plain(each.name),
            plain(", ".join(each.memories)),
            ", ".join(each.scopes),
            plain(each.agent),
            "user" if each.voice else "",
            _until(each),
        )
        for each in tokens
    ]
    if rows:
        table(("id", "name", "memories", "may", "agent", "voice", "until"), rows)
    else:
        say("No tokens. `looseleaf token new NAME` makes one.")
    return 0


def _until(token: Token) -> str:
    if token.expires is None:
        return ""
    day = time.strftime("%Y-%m-%d", time.localtime(token.expires))
    return f"ended {day}" if token.expires <= time.time() else f"to {day}"


def _told(token: Token) -> dict[str, object]:
    return {name: getattr(token, name) for name in type(token).__match_args__}


def _memories(options: CliOptions, pool: Pool) -> list[str]:
    from looseleaf.serve.access import EVERY

    if options.memories is None:
        if pool.root is None:
            return [pool.only]
        raise Invalid("No token was made: name its memories with --memories NAMES (*: all).")
    names = _split(options.memories)
    unknown = [name for name in names if name != EVERY and name not in pool.names()]
    if unknown:
        raise NotFound(
            f"No token was made: there is no memory {plain(unknown[0])!r}. There are: {', '.join(pool.names())}."
        )
    return names


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


# --- what is served ---------------------------------------------------------------------


def _refuse_without_extra() -> None:
    if not is_there("serve"):
        raise Refused(
            f"Nothing was done: a server needs packages that are missing. Install them with {to_get('serve')}."
        )


def _pool(options: CliOptions) -> Pool:
    """Return the memories that the options name; refuse where there are none."""
    from looseleaf.pages.folder import is_memory
    from looseleaf.serve.pool import Pool, name_for

    if options.root is None:
        with open_memory(options) as memory:
            path = memory.path
        return Pool(path=path, name=name_for(path))
    if options.memory is not None:
        raise Invalid("Nothing was done: --root serves many memories, --memory one. Give one of the two.")
    root = _root(options)
    if not os.path.isdir(root):
        raise NotFound(f"Nothing was done: there is no folder {plain(root)}. Make it, and then serve it.")
    if is_memory(root):
        raise Invalid(
            f"Nothing was done: {plain(root)} is a memory, and not a folder of memories. Serve it with --memory."
        )
    return Pool(root)


def _root(options: CliOptions) -> str:
    return os.path.abspath(os.path.expanduser(options.root or ""))


def _access_folder(options: CliOptions) -> str:
    from looseleaf.cli.output import memory_path
    from looseleaf.serve.access import access_folder

    if options.root is not None:
        return access_folder(_root(options))
    return access_folder(os.path.abspath(memory_path(options)))


def _tls(options: CliOptions) -> tuple[str, str] | None:
    if (options.tls_cert is None) != (options.tls_key is None):
        raise Invalid("No server was started: --tls-cert and --tls-key go together. Give both, or neither.")
    return (options.tls_cert, options.tls_key or "") if options.tls_cert is not None else None


def _refuse_open(options: CliOptions, host: str) -> None:
    """Refuse to listen for other machines without a name for the server, and without encryption."""
    lacks = []
    if options.allow_host is None and options.proxy is None:
        lacks.append("its name with --allow-host NAME")
    if options.tls_cert is None and options.proxy is None:
        lacks.append(
            "a certificate with --tls-cert and --tls-key, or the name of an HTTPS proxy with --proxy"
        )
    if lacks:
        raise Invalid(
            f"No server was started: {plain(host)} can be reached from other machines. If you want that, give "
            f"{'; and '.join(lacks)}."
        )
