"""The verb `settings`: print `looseleaf.toml` of a memory, or replace it, in a folder as well as in a database.

Invariant: what is written can be read, and replaces exactly the bytes that were read before. Settings are not
journaled: they are people's (FORMAT §1).
"""

from __future__ import annotations

import sys
from contextlib import closing

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.paths import SETTINGS
from looseleaf.base.policy import Policy
from looseleaf.cli.output import (
    STDIN,
    existing_path,
    next_step,
    plain,
    print_answer,
    print_bytes,
    print_json,
    read_input,
)
from looseleaf.pages.folder import open_store
from looseleaf.pages.read_settings import parse_settings
from looseleaf.store.context import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.verb_table import CliOptions


def settings(options: CliOptions) -> int:
    where = existing_path(options)
    return _print_settings(options, where) if options.path is None else _write_settings(options, where)


def _print_settings(options: CliOptions, where: str) -> int:
    with closing(open_store(where, reads_only=True)) as store:
        found = store.get(SETTINGS, Policy().page_bytes)
    if options.json:
        text = found.data.decode("utf-8", "replace") if found is not None else None
        print_json({"path": SETTINGS, "memory": shown_name(where), "text": text})
    elif found is not None:
        print_bytes(found.data)
    else:  # as a comment: a pipe makes a settings file of it, to be changed and given back
        print(f"# There is no {SETTINGS} in this memory: the defaults hold.")
        next_step(options, "`looseleaf settings FILE` checks a file and makes it the settings.")
    return 0


def _write_settings(options: CliOptions, where: str) -> int:
    given = "standard input" if options.path == STDIN else str(options.path)
    with closing(open_store(where)) as store:
        found = store.get(SETTINGS, Policy().page_bytes)
        data = read_input(options.path, "changed")
        policy = _check(data, given)
        is_new = found is None or found.data != data
        if is_new:
            store.put(SETTINGS, data, base=found.sha256 if found is not None else None)
            options.done = "the settings are written; "
    file = f"{SETTINGS} of {plain(shown_name(where))}"
    then = "is written. Restart open sessions and servers to apply it."
    is_same = "says so already; nothing was changed."
    told = {"path": SETTINGS, "memory": shown_name(where), "written": is_new}
    print_answer(options, told, f"{file} {then if is_new else is_same}")
    if policy.over:
        _print_missing_layers(where, policy)
    return 0


def _check(data: bytes, file: str) -> Policy:
    """Return what the text sets; refuse it where a memory with these settings would not open."""
    most = Policy().page_bytes
    if len(data) > most:
        raise Invalid(
            f"The settings were not changed: {file} is larger than {most:,} bytes. Give a shorter one."
        )
    try:
        return parse_settings(data, file)
    except Refused as refused:
        said = str(refused).replace("The memory was not opened:", "The settings were not changed:", 1)
        raise Invalid(said) from refused


def _print_missing_layers(where: str, policy: Policy) -> None:
    from looseleaf.memory.layers import find_layers

    notes: list[str] = []
    find_layers(where, policy, notes.append)
    for note in notes:
        print(f"looseleaf: {plain(note)}", file=sys.stderr)
