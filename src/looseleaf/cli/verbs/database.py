"""The verb `database`: prepare a PostgreSQL database for memories, check it, or run a server to try it out."""

from __future__ import annotations

import os

from looseleaf.base.errors import Invalid
from looseleaf.base.paths import is_address
from looseleaf.cli.output import (
    PROBLEMS,
    next_step,
    plain,
    print_answer,
    print_json,
    progress,
    require_postgres,
    say,
    shell_word,
    table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.store.postgres.address import Address
    from looseleaf.store.postgres.migrate import Migrated


def database(options: CliOptions) -> int:
    require_postgres()
    acts = {
        "migrate": _migrate,
        "check": _check,
        "index": _index,
        "clear": _clear,
        "start": _start,
        "stop": _stop,
    }
    return acts[str(options.act)](options)


def _address(options: CliOptions) -> Address:
    """Return the database that is named, else that of the named memory."""
    from looseleaf.store.postgres.address import parse_address

    where = options.where or options.memory or os.environ.get("LOOSELEAF_HOME", "")
    if not is_address(where):
        raise Invalid(
            f"Nothing was done: give the address of the database: `looseleaf database {options.act} "
            "postgresql://host/database`. Its password is better kept in ~/.pgpass or PGPASSWORD."
        )
    return parse_address(where)


def _migrate(options: CliOptions) -> int:
    from looseleaf.store.postgres.migrate import migrate

    address = _address(options)
    with progress("migrating"):
        done = migrate(address, options.role)
    print_answer(options, _told(done), _words(done))
    return 0


def _told(done: Migrated) -> dict[str, Any]:
    return {
        "before": done.before,
        "after": done.after,
        "applied": list(done.applied),
        "role": done.role,
        "vectors": done.vectors,
    }


def _words(done: Migrated) -> str:
    what = f"applied: {', '.join(done.applied)}" if done.applied else "nothing to apply"
    text = f"The tables have version {done.after} ({what}). Memories are used as the role {plain(done.role)}."
    if done.vectors == "fails":
        text += (
            "\npgvector does not run on this server's processor: vectors are searched in the process instead."
        )
    return text


def _check(options: CliOptions) -> int:
    from looseleaf.store.postgres.check_database import check_database

    with progress("checking"):
        found = list(check_database(_address(options)))
    broken = sum(each.verdict == "broken" for each in found)
    if options.json:
        rows = [{name: getattr(each, name) for name in type(each).__match_args__} for each in found]
        print_json({"broken": broken, "findings": rows})
    else:
        says = [(each.verdict, each.name, f"{each.says.rstrip('.')}. {each.then}".strip()) for each in found]
        table(("", "what", "finding, and what to do"), [tuple(map(plain, row)) for row in says])
    return PROBLEMS if broken else 0


def _index(options: CliOptions) -> int:
    from looseleaf.index.postgres_vectors import index_all
    from looseleaf.store.postgres.database import database_at

    found = []
    with progress("indexing"):
        found = list(index_all(database_at(_address(options))))
    print_answer(options, {"done": found}, "\n".join(map(plain, found)) or "There was nothing to do.")
    return 0


def _clear(options: CliOptions) -> int:
    from looseleaf.pages.in_database import clear

    to = clear(_address(options).where)
    print_answer(
        options, {"cleared": True, "to": to}, f"What was left is removed. The memory is at {plain(to)}."
    )
    return 0


# --- a server to try it out --------------------------------------------------------------


def _start(options: CliOptions) -> int:
    from looseleaf.store.postgres.address import parse_address
    from looseleaf.store.postgres.embedded import OWNER, EmbeddedServer, default_folder
    from looseleaf.store.postgres.migrate import migrate

    server = EmbeddedServer(_folder(options) or default_folder())
    with progress("starting"):
        is_new = server.start()
        migrate(parse_address(server.address(OWNER)))
    address = server.address()
    print_answer(options, {"address": address, "folder": str(server.folder), "started": is_new}, address)
    memory = shell_word(server.address(namespace="main"))
    again = f" {shell_word(str(options.where))}" if options.where else ""
    next_step(
        options,
        f"`looseleaf --memory {memory} init` makes a memory in it; `looseleaf database stop{again}` stops it.",
    )
    return 0


def _stop(options: CliOptions) -> int:
    from looseleaf.store.postgres.embedded import EmbeddedServer, default_folder

    server = EmbeddedServer(_folder(options) or default_folder())
    is_stopped = server.stop()
    if options.json:
        print_json({"folder": str(server.folder), "stopped": is_stopped})
    else:
        say(f"stopped: {server.folder}" if is_stopped else f"No server ran in {server.folder}.")
    return 0


def _folder(options: CliOptions) -> str | None:
    if is_address(options.where):
        raise Invalid(
            f"Nothing was done: `looseleaf database {options.act}` is for a server in a folder of this machine. Give "
            "the folder, or nothing."
        )
    where: str | None = options.where
    return where
