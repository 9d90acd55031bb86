"""CLI.md, made of the table of verbs.

python docs/cli.py            writes docs/CLI.md
python docs/cli.py --print    prints it
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from looseleaf.cli.verb_table import SHARED, SHORT, VERBS

Arguments = dict[str, dict[str, Any]]

PAGE = Path(__file__).parent / "CLI.md"

HEAD = """\
# The command line

Made of the table of verbs by `python docs/cli.py`; `looseleaf VERB --help` says the same.

Which memory: `--memory PATH`, else `LOOSELEAF_HOME`, else the nearest `.looseleaf/` upward from here, or the memory
that one is in, else `~/.looseleaf`. A date means all of that day: `--as-of` its end, `--since` its beginning.

Exit codes:

- **0**: done.
- **1**: done, and there is something to see to. `check`, `repair` and `doctor` found problems that are still there;
  `recall` found nothing; what `why` was asked for is not in the prompt; a `test`, a turn of `chat` or an entry of
  `redistill` failed; a `tool` answered with an error; of `receipts`, something was only promised; what `forget` took
  out still stands somewhere.
- **2**: refused. A sentence says what did not happen and what to do next; with `--json`, so does `{"error": …}`.
- **130**: interrupted.

`hook EVENT` ends with 0 also where it could do nothing (with 1 where it was mistyped), because 2 would tell a coding
agent to stop.
"""


def page() -> str:
    listed = " · ".join(f"[{verb}](#{verb})" for verb in VERBS)
    shared = "\n".join(rows(SHARED))
    parts = [HEAD, f"Every verb takes these, before it or after it:\n\n{shared}\n", f"{filled(listed)}\n"]
    return "\n".join([*parts, *(section(verb) for verb in VERBS)])


def section(verb: str) -> str:
    _, about, own, example = VERBS[verb]
    told = " ".join(about.split())
    typed = [f"looseleaf {each}" for each in example.splitlines()]
    lines = [f"## {verb}", "", filled(f"{told[0].upper()}{told[1:]}."), "", "```sh", *typed, "```", ""]
    return "\n".join([*lines, *([*rows(own), ""] if own else [])])


def filled(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def rows(arguments: Arguments) -> Iterator[str]:
    yield "| argument | |"
    yield "|---|---|"
    for name, known in arguments.items():
        yield f"| {named(name, known)} | {about(name, known)} |"


def named(name: str, known: dict[str, Any]) -> str:
    """As it is typed: `--limit N`, `-n N`; an argument in capitals, in brackets if it may be left out."""
    value = known.get("metavar") or (name.lstrip("-").upper() if "action" not in known else "")
    if not name.startswith("-"):
        many = "…" if known.get("nargs") == "+" else ""
        return f"`[{value}]`" if known.get("nargs") == "?" else f"`{value}{many}`"
    forms = [name, *(short for short, long in SHORT.items() if long == name)]
    return ", ".join(f"`{form} {value}`" if value else f"`{form}`" for form in forms)


def about(name: str, known: dict[str, Any]) -> str:
    told = str(known.get("help", "")).replace("|", "\\|")
    choices = [each for each in known.get("choices", ()) if each not in told]
    one_of = f"one of {', '.join(f'`{each}`' for each in choices)}" if choices else ""
    return "; ".join(filter(None, (told, one_of)))


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(page())
    else:
        PAGE.write_text(page(), "utf-8")
