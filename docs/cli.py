"""CLI.md, made of the table of verbs.

.venv/bin/python docs/cli.py            writes docs/CLI.md
.venv/bin/python docs/cli.py --print    prints it
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

Made of the table of verbs by `.venv/bin/python docs/cli.py`. `looseleaf VERB --help` prints the same.

```
looseleaf init [PATH]                 make a memory (default: ./.looseleaf)
looseleaf settings [FILE]             print the settings, or check a file and make it the settings
looseleaf remember TEXT               remember something in your own words, now
looseleaf recall QUESTION             find what bears on it, or say that nothing does; -k, --budget, --as-of, --explain
looseleaf open HIT                    show the conversation, page or entry around a hit
looseleaf why WHAT                    why a fact is believed, or a line is in the prompt (or not): back to the words
looseleaf demo [PATH]                 see it work on a story of three sessions
looseleaf doctor                      check the machine, the memory, hooks and models, and say what to do

looseleaf log [PAGE]                  what changed, by whom and why
looseleaf show PAGE [--as-of DATE]    a page, now or then; --who: the author of each line
looseleaf diff PAGE [--since DATE]    what its last edit changed
looseleaf undo [PAGE]                 reverse the last edit; again, the one before it

looseleaf record ROLE [TEXT]          record what was said or done (user, assistant, tool_call, tool_result, jsonl)
looseleaf turns [TURN]                the last turns, or one turn whole
looseleaf sessions                    the last sessions
looseleaf window                      the conversation that a model sees now, and its cost
looseleaf compact [--dry-run]         make the window shorter, and report the loss
looseleaf expand [ENTRY]              what left the window: the entries, or one of them whole

looseleaf distill                     make facts of what was said since the last time
looseleaf write [FILE]                make facts of a text; they wait in review, unless --mine
looseleaf facts [--as-of DATE]        what is known; also --topic, --kind, --pending, --superseded
looseleaf history FACT                every value it had
looseleaf review                      what waits for your yes, one by one
looseleaf settle [PAGE]               pages that were emptied, cut off or left in conflict, and conflict copies
looseleaf approve|reject|pin FACT     say yes, no, never forget
looseleaf vouch [LINE …]              vouch for lines whose author the journal does not know
looseleaf score FACT 0-10             how much it matters to you
looseleaf correct FACT "…"            replace a wrong value
looseleaf topics|topic|global|index   what is known by topic, and across topics
looseleaf redistill --with rules      what another distiller would change; --apply switches
looseleaf tidy [--dry-run]            move lesser facts from a long USER.md to facts/user.md

looseleaf prompt [TASK]               the whole prompt; --explain: what, why, how many tokens
looseleaf analyze                     what prompts cost, and how much of them a cache knows
looseleaf state                       goal, current work, tasks, decisions; set, task add|done, decide, block
looseleaf chat [--model NAME]         talk to a model that has the memory; in a pipe, a line is a question
looseleaf cost [--by WHAT]            calls, tokens and dollars of models, and the day's ceiling
looseleaf test [FILE]                 your own recall tests: what must be found, what must not

looseleaf serve [--root FOLDER]       the page in the browser, REST and MCP, on one port of this machine
looseleaf login                       another link to sign in to the page
looseleaf token new|list|revoke       who may come in over REST and MCP
looseleaf mcp [--http]                serve the memory to any MCP client
looseleaf worker --postgres ADDRESS   do the jobs of a PostgreSQL database; --once: until none is left
looseleaf database migrate ADDRESS    make or update the tables of a PostgreSQL database; also check, start, stop
looseleaf setup                       connect the coding agents on this machine: hooks and MCP; --dry-run, --remove
looseleaf hook EVENT                  called by a coding agent; `setup` or `hook install` sets it up
looseleaf merge-file                  called by git to merge a page by its facts; `hook install --git` sets it up
looseleaf tool [NAME] [JSON]          call a memory tool as a model would, or list them
looseleaf receipts [TURN|last]        what was written, by whom; for a turn, also promises without a write

looseleaf import PATH                 take in a history from elsewhere; --dry-run, --mine
looseleaf export [PATH] [--as WHAT]   the whole folder as one file, its facts, or its conversations as messages
looseleaf move FROM TO                a memory goes from a folder into a database, or back, byte for byte
looseleaf merge PATH [--dry-run]      another copy of this memory becomes one with it; nothing of either is lost
looseleaf sync [WHERE]                this memory and a copy in a folder, a git remote or at host:path become equal
looseleaf forget --match TEXT         remove it everywhere, and prove that it is gone; also a fact, topic, session
looseleaf build [--full]              rebuild the views
looseleaf check                       re-read and re-hash everything
looseleaf repair                      repair what it can; every byte it moves is kept
looseleaf completion SHELL            completion for bash, zsh, fish
```

`looseleaf` alone says what the memory holds and what to do next.

Which memory: `--memory PATH`, else `LOOSELEAF_HOME`, else the nearest `.looseleaf/` upward from here (or the memory
that you are in), else `~/.looseleaf`. A date means the whole day: `--as-of` its end, `--since` its beginning.

Exit codes:

- **0**: done.
- **1**: done, and something needs your attention. `check`, `repair` or `doctor` found problems that remain; `recall`
  found nothing; the words that `why` looked for are not in the prompt; a `test`, a turn of `chat` or an entry of
  `redistill` failed; a `tool` answered with an error; `receipts` found a promise without a write; `forget` still finds
  words that it removed.
- **2**: refused. A sentence says what did not happen and what to do next; with `--json`, so does `{"error": …}`.
- **130**: interrupted.

`hook EVENT` ends with 0 even if it could do nothing (1 if the event is mistyped), because 2 would tell a coding agent
to stop.
"""


def page() -> str:
    listed = " · ".join(f"[{verb}](#{verb})" for verb in VERBS)
    shared = "\n".join(rows(SHARED))
    parts = [
        HEAD,
        f"Every verb takes these options, before or after it:\n\n{shared}\n",
        f"{wrap(listed)}\n",
    ]
    return "\n".join([*parts, *(section(verb) for verb in VERBS)])


def section(verb: str) -> str:
    _, about, own, example = VERBS[verb]
    sentence = " ".join(about.split())
    typed = [f"looseleaf {each}" for each in example.splitlines()]
    lines = [f"## {verb}", "", wrap(f"{sentence[0].upper()}{sentence[1:]}."), "", "```sh", *typed, "```", ""]
    return "\n".join([*lines, *([*rows(own), ""] if own else [])])


def wrap(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def rows(arguments: Arguments) -> Iterator[str]:
    yield "| argument | |"
    yield "|---|---|"
    for name, known in arguments.items():
        yield f"| {argument_form(name, known)} | {about(name, known)} |"


def argument_form(name: str, known: dict[str, Any]) -> str:
    """Return an argument as typed: `--limit N`, `-n N`; in capitals, and in brackets if optional."""
    value = known.get("metavar") or (name.lstrip("-").upper() if "action" not in known else "")
    if not name.startswith("-"):
        many = "…" if known.get("nargs") == "+" else ""
        return f"`[{value}]`" if known.get("nargs") == "?" else f"`{value}{many}`"
    forms = [name, *(short for short, long in SHORT.items() if long == name)]
    return ", ".join(f"`{form} {value}`" if value else f"`{form}`" for form in forms)


def about(name: str, known: dict[str, Any]) -> str:
    text = str(known.get("help", "")).replace("%%", "%").replace("|", "\\|")
    choices = [each for each in known.get("choices", ()) if each not in text]
    one_of = f"one of {', '.join(f'`{each}`' for each in choices)}" if choices else ""
    return "; ".join(filter(None, (text, one_of)))


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(page())
    else:
        PAGE.write_text(page(), "utf-8")
