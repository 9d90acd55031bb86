"""Arguments that make no sense: one sentence that says so, and what was meant, perhaps."""

from __future__ import annotations

import re
import sys

from looseleaf.cli.output import REFUSED, plain, print_json
from looseleaf.cli.verb_table import VERBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_UNKNOWN = re.compile(r"argument VERB: invalid choice: (.+?) \(choose from ", re.DOTALL)

_MEANT = {
    "add": "remember",
    "ask": "recall",
    "backup": "export",
    "config": "doctor",
    "delete": "forget",
    "dump": "export",
    "find": "recall",
    "get": "recall",
    "grep": "recall",
    "help": "--help",
    "install": "hook",
    "list": "facts",
    "load": "import",
    "ls": "index",
    "note": "remember",
    "purge": "forget",
    "query": "recall",
    "remove": "forget",
    "revert": "undo",
    "rm": "forget",
    "save": "remember",
    "search": "recall",
    "serve": "mcp",
    "start": "init",
    "stats": "analyze",
    "status": "",
    "tell": "remember",
    "verify": "check",
    "version": "--version",
}
"""What other programs call a verb that has another name here."""


def nearest(word: str) -> str | None:
    """The verb that was meant, by its spelling or by its meaning; None where nobody can tell."""
    from difflib import get_close_matches

    folded = word.casefold().lstrip("-")
    near = get_close_matches(folded, [*VERBS, *_MEANT], 1, 0.7)
    return _MEANT.get(near[0], near[0]) if near else None


def mistaken(message: str, arguments: Sequence[str]) -> NoReturn:
    """End with the sentence; also as JSON, if that was asked for."""
    unknown = _UNKNOWN.match(message)
    if unknown is not None:
        word = next((each for each in arguments if repr(each) == unknown[1]), unknown[1])
        verb = nearest(word)
        meant = f" Did you mean `{f'looseleaf {verb}'.strip()}`?" if verb is not None else ""
        why = f"there is no verb {word!r}.{meant} `looseleaf --help` lists them all."
    else:
        verb = next((each for each in arguments if each in VERBS), None)
        program = f"looseleaf {verb}" if verb else "looseleaf"
        why = f"{message.rstrip('.')}. `{program} --help` says what it takes."
    said = f"Nothing was done: {why}"
    if "--json" in arguments:
        print_json({"error": said})
    print(f"looseleaf: {plain(said)}", file=sys.stderr)
    raise SystemExit(REFUSED)
