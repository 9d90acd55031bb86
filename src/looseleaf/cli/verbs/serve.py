"""The verbs of a server: `serve` starts it, `login` lets a person in, `token` a program.

Who may come in is kept outside of every memory: in a file, or in the database whose memories are served. So `login` and
`token` need not ask a server.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager

from looseleaf.base.errors import Invalid, NotFound, Refused, is_there, to_get
from looseleaf.base.paths import is_address
from looseleaf.cli.output import (
    memory_path,
    open_memory,
    plain,
    print_answer,
    print_json,
    require_postgres,
    say,
    shell_word,
    table,
)
from looseleaf.store.context import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import Protocol

    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.serve.access import Access, Token
    from looseleaf.serve.pool import Pool
    from looseleaf.serve.serving import Serving
    from looseleaf.serve.shared import SharedState
    from looseleaf.store.postgres.address import Address

else:
    Protocol = object

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
    from looseleaf.serve.app import app
    from looseleaf.serve.metrics import Log
    from looseleaf.serve.runner import begin_logging, names_of, raise_files, runner
    from looseleaf.serve.runner import serve as run

    host = "127.0.0.1" if options.host in (None, "localhost") else str(options.host)
    tls = _tls(options)
    if host not in http.LOOPBACK:
        _refuse_open(options, host)
    raise_files()
    at = PORT if options.port is None else options.port
    served = _serving_of_folder(options) if options.postgres is None else _serving_of_database(options)
    with served as (serving, claim), http.listen(host, at) as sock:
        port = sock.getsockname()[1]
        names = names_of(port, options.allow_host, proxy=options.proxy, is_tls=tls is not None)
        serving.is_https = names.is_https
        server = runner(app(serving, names.allowed, Log(is_json=options.json_log)), serving, tls=tls)
        begin_logging(is_json=options.json_log)
        with claim.tell(names.address):
            what = plain(serving.pool.root or serving.pool.path(serving.pool.only))
            if options.postgres == "":
                sys.stderr.write(f"looseleaf: the address of its first memory is {plain(first_of(what))}\n")
            sys.stderr.write(f"looseleaf: serving {what}; to sign in, once, within two minutes, open\n")
            sys.stderr.flush()
            print(f"{names.address}/login/{serving.access.make_code()}", flush=True)
            run(server, sock)
    return 0


class _Told(Protocol):
    """What says where a server runs, while the block that it returns runs."""

    def tell(self, address: str) -> AbstractContextManager[object]: ...


@contextmanager
def _serving_of_folder(options: CliOptions) -> Iterator[tuple[Serving, _Told]]:
    from looseleaf.serve.access import Access
    from looseleaf.serve.audit import Audit
    from looseleaf.serve.runner import Claim
    from looseleaf.serve.serving import Serving

    pool, access = _pool(options), Access(_access_folder(options))
    with Claim(access.folder) as claim:
        yield Serving(pool, access, Audit(access.folder), warms=True), claim


# --- a database -------------------------------------------------------------------------


@contextmanager
def _serving_of_database(options: CliOptions) -> Iterator[tuple[Serving, _Told]]:
    with _database(options) as address:
        from looseleaf.serve.database_pool import join
        from looseleaf.serve.serving import Serving
        from looseleaf.store.postgres.database import close_all

        joined = join(address)
        if not options.postgres and not joined.pool.names():
            _make_first(address)
        try:
            yield Serving(joined.pool, joined.access, joined.audit, warms=True, joined=joined), joined.state
        finally:
            joined.listening.close()
            close_all()


def _make_first(address: Address) -> None:
    """Make a memory in a new server for trying, so that there is something to look at."""
    from looseleaf.pages.folder import init
    from looseleaf.store.postgres.address import default_namespace

    init(address.of(default_namespace()).where)


def first_of(database: str) -> str:
    """Return the address of the memory that a new server for trying has, as a word of a shell."""
    from looseleaf.store.postgres.address import default_namespace, parse_address

    return shell_word(parse_address(database).of(default_namespace()).shown)


@contextmanager
def _database(options: CliOptions) -> Iterator[Address]:
    """Have the database there that is named, or a server for trying; its tables are brought to this version."""
    require_postgres()
    if options.root is not None:
        raise Invalid("Nothing was done: --root serves folders, --postgres a database. Give one of the two.")
    from looseleaf.store.postgres.address import parse_address

    if options.postgres:
        found = parse_address(options.postgres)
        if found.namespace:
            raise Invalid(
                f"Nothing was done: a server has all memories of a database. Leave out namespace={found.namespace}; a "
                "token may see only some of them."
            )
        yield found.database
        return
    from looseleaf.store.postgres.embedded import OWNER, EmbeddedServer, default_folder
    from looseleaf.store.postgres.migrate import migrate

    server = EmbeddedServer(default_folder())
    with server.running():
        migrate(parse_address(server.address(OWNER)))
        yield parse_address(server.address())


@contextmanager
def _access(options: CliOptions) -> Iterator[Access]:
    from looseleaf.serve.access import Access

    if options.postgres is None:
        yield Access(_access_folder(options))
        return
    with _shared(options) as state:
        yield Access(state)


@contextmanager
def _shared(options: CliOptions) -> Iterator[SharedState]:
    with _database(options) as address:
        from looseleaf.serve.shared import SharedState
        from looseleaf.store.postgres.check_database import refuse_unfit
        from looseleaf.store.postgres.database import database_at

        refuse_unfit(database_at(address))
        yield SharedState(address)


def login(options: CliOptions) -> int:
    """Print a link to sign in."""
    _refuse_without_extra()
    if options.postgres is not None:
        return _login_to_database(options)
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
    link = f"{address}/login/{Access(folder).make_code(options.person or '')}"
    print_answer(options, {"link": link}, link)
    return 0


def _login_to_database(options: CliOptions) -> int:
    from looseleaf.serve.access import Access

    with _shared(options) as state:
        servers = state.servers()
        if not servers:
            raise NotFound(
                "No link was made: no server of this database runs. Start one with `looseleaf serve --postgres`, which "
                "prints a link."
            )
        link = f"{servers[-1]}/login/{Access(state).make_code(options.person or '')}"
        print_answer(options, {"link": link}, link)
    return 0


# --- tokens -----------------------------------------------------------------------------


def token(options: CliOptions) -> int:
    _refuse_without_extra()
    with _access(options) as access:
        return _do_token(options, access)


def _do_token(options: CliOptions, access: Access) -> int:
    pool = _pool(options) if options.postgres is None else None
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
    options.memories, only = _split_only(options.memories)
    made, secret = access.make_token(
        options.name,
        _memories(options, pool) if pool is not None else _memories_there(options),
        _split(options.scopes),
        person=options.person or "",
        only=only,
        agent=options.agent or "main",
        voice=options.voice or "",
        expires=time.time() + options.days * _DAY if options.days else None,
    )
    if options.json:
        print_json(_told(made) | {"token": secret})
    else:
        print(secret)
        may = f"{', '.join(made.scopes)} in {', '.join(_with_limit(made, name) for name in made.memories)}"
        print(
            f"looseleaf: {made.id} may {plain(may)}. The token is shown only this once; "
            f"`looseleaf token revoke {made.id}{plain(_same_place(options))}` ends it.",
            file=sys.stderr,
        )
    return 0


def _same_place(options: CliOptions) -> str:
    """Return the options that name the same tokens in another command."""
    if options.postgres:
        return f" --postgres {shell_word(shown_name(options.postgres))}"
    if options.postgres is not None:
        return " --postgres"
    if options.root is not None:
        return f" --root {shell_word(options.root)}"
    return f" --memory {shell_word(options.memory)}" if options.memory is not None else ""


def _list_tokens(options: CliOptions, tokens: list[Token]) -> int:
    if options.json:
        print_json([_told(each) for each in tokens])
        return 0
    rows = [
        (
            each.id,
            plain(each.name),
            plain(", ".join(_with_limit(each, name) for name in each.memories)),
            ", ".join(each.scopes),
            plain(each.person),
            plain(each.agent),
            "user" if each.voice else "",
            _until(each),
        )
        for each in tokens
    ]
    if rows:
        table(("id", "name", "memories", "may", "person", "agent", "voice", "until"), rows)
    else:
        say("No tokens. `looseleaf token new NAME` makes one.")
    return 0


def _with_limit(token: Token, memory: str) -> str:
    less = dict(token.only).get(memory)
    return memory if less is None else f"{memory}={'+'.join(less)}"


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


def _memories_there(options: CliOptions) -> list[str]:
    """Return the named memories of a database. One that is not there yet may be named: a token may come before it."""
    from looseleaf.serve.access import EVERY
    from looseleaf.store.postgres.address import check_namespace

    if options.memories is None:
        raise Invalid("No token was made: name its memories with --memories NAMES (*: all).")
    return [name if name == EVERY else check_namespace(name) for name in _split(options.memories)]


def _split_only(text: str | None) -> tuple[str | None, dict[str, list[str]]]:
    """Split `mira,heron=read+write` into the names, and what may be done where that is less than elsewhere."""
    pairs = [each.partition("=") for each in _split(text or "")]
    names = ",".join(name for name, _, _ in pairs) if text is not None else None
    return names, {name: less.split("+") for name, mark, less in pairs if mark}


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
        if is_address(memory_path(options)):
            raise Invalid(
                "Nothing was done: this memory is in a database. `looseleaf serve --postgres ADDRESS` serves all that "
                "are there."
            )
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
