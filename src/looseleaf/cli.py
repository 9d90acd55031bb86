"""The command line: arguments and printing only. Exit codes: 0 done, 1 problems found, 2 refused."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from itertools import islice

from looseleaf.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from looseleaf.memory import Memory
    from looseleaf.values import Edit

PROBLEMS = 1
REFUSED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except Refused as refused:
        if options.json:
            _print_json({"error": str(refused)})
        print(f"looseleaf: {_plain(str(refused))}", file=sys.stderr)
        return REFUSED
    except BrokenPipeError:
        # Whoever read our output has enough (`looseleaf log | head`). Nothing may be flushed to them at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


class _Help(argparse.HelpFormatter):
    """A fixed width: argparse asks for the terminal's at every option, and imports five modules to do so."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=100)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="looseleaf",
        description="A memory for LLM agents: a folder of Markdown that never loses what was said.",
        formatter_class=_Help,
    )
    _add_shared(parser, memory=None, agent="main", json=False)
    # With `prog` given, argparse need not format a usage line (and import what that takes) to learn it.
    verbs = parser.add_subparsers(metavar="VERB", required=True, prog="looseleaf")

    def verb(name: str, run: Any, help: str) -> argparse.ArgumentParser:
        each = verbs.add_parser(name, help=help, description=help, formatter_class=_Help)
        _add_shared(each)
        each.set_defaults(run=run)
        return each

    each = verb("init", _init, "make a memory of a folder")
    each.add_argument("path", nargs="?", help="the folder (else --memory, else ./.looseleaf)")
    each = verb("log", _log, "show what was changed, by whom and why, newest first")
    each.add_argument("page", nargs="?", help="only this page")
    each.add_argument("-n", "--limit", type=int, default=50, help="at most so many (50)")
    each = verb("show", _show, "show a page")
    each.add_argument("page")
    each.add_argument("--as-of", metavar="DATE", help="as it was on a day, or at a time")
    each = verb("diff", _diff, "show what the last edit of a page changed")
    each.add_argument("page")
    each.add_argument("--since", metavar="DATE", help="what changed since a day or time instead")
    each = verb("undo", _undo, "take back the last edit; an undo is an edit too")
    each.add_argument("page", nargs="?", help="the last edit of this page")
    verb("check", _check, "re-read and re-hash everything")
    verb("repair", _repair, "mend what check found, keeping a copy of every byte that is moved")
    return parser


def _add_shared(parser: argparse.ArgumentParser, **defaults: Any) -> None:
    """Options that may stand before and after the verb; after it, one that is not given changes nothing."""
    option = parser.add_argument
    nothing = argparse.SUPPRESS
    option(
        "--memory", metavar="PATH", default=defaults.get("memory", nothing), help="the folder of the memory"
    )
    option("--agent", metavar="NAME", default=defaults.get("agent", nothing), help="whose memory (main)")
    option(
        "--json", action="store_true", default=defaults.get("json", nothing), help="print one JSON document"
    )


# --- verbs -----------------------------------------------------------------------------


def _init(options: argparse.Namespace) -> int:
    from looseleaf.memory import init

    path = options.path or options.memory or os.environ.get("LOOSELEAF_HOME") or ".looseleaf"
    made = init(path)
    if options.json:
        _print_json({"path": str(path), "made": made})
    elif made:
        print(
            f"{path} is a memory now. Write SOUL.md there to say who the agent is, PROJECT.md for the rules of"
        )
        print("the work; facts appear in USER.md and facts/. Edit any page with any editor.")
    else:
        print(f"{path} is a memory already; nothing was changed.")
    return 0


def _log(options: argparse.Namespace) -> int:
    if options.limit < 1:
        raise Refused("Nothing was shown: --limit must be at least 1.")
    with _open(options) as memory:
        edits = list(islice(memory.log(options.page), options.limit))
        if options.json:
            _print_json([_edit_dict(edit) for edit in edits])
        for edit in edits if not options.json else ():
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(edit.ts))
            what = f"+{edit.added} -{edit.removed}" if edit.new is not None else "deleted"
            print(
                f"{when}  {edit.id}  {what:>8}  {_plain(edit.path)}  {_plain(edit.author)}: {_plain(edit.reason)}"
            )
        _notes(memory)
    return 0


def _show(options: argparse.Namespace) -> int:
    with _open(options) as memory:
        page = memory.page_as_of(options.page, options.as_of) if options.as_of else memory.page(options.page)
        if not page.exists:
            then = f" as of {options.as_of}" if options.as_of else ""
            known = ", ".join(memory.pages()) or "none yet"
            raise Refused(f"Nothing was shown: there is no page {page.path}{then}. Pages: {known}.")
        if options.json:
            _print_json({"path": page.path, "sha256": page.sha256, "as_of": options.as_of, "text": page.text})
        elif sys.stdout.isatty():
            sys.stdout.write(_plain(page.text, keep="\n\t"))
        else:
            sys.stdout.buffer.write(page.data)
        _notes(memory)
    return 0


def _diff(options: argparse.Namespace) -> int:
    from looseleaf.core.diff import unified

    with _open(options) as memory:
        if options.since:
            old: bytes | None = memory.page_as_of(options.page, options.since).data
            page = memory.page(options.page)
            path, new = page.path, page.data
            labels = (f"{path} {options.since}", f"{path} now")
        else:
            edit = next(memory.log(options.page), None)
            if edit is None:
                raise Refused(f"Nothing was shown: {options.page} has no history.")
            path = edit.path
            old, new = (data or b"" for data in memory.versions(edit))
            labels = (f"{path} before {edit.id}", f"{path} after {edit.id}")
        text = unified((old or b"").decode("utf-8", "replace"), new.decode("utf-8", "replace"), *labels)
        if options.json:
            _print_json({"path": path, "from": labels[0], "to": labels[1], "diff": text})
        else:
            sys.stdout.write(_plain(text, keep="\n\t\r"))
        _notes(memory)
    return 0


def _undo(options: argparse.Namespace) -> int:
    with _open(options) as memory:
        edit, receipt = memory.undo(options.page)
        if options.json:
            _print_json({"undone": _edit_dict(edit), "receipt": receipt.to_dict()})
        else:
            print(
                f"{_plain(edit.path)}: the edit {edit.id} ({_plain(edit.reason)}) is undone by {receipt.id}."
            )
    return 0


def _check(options: argparse.Namespace) -> int:
    with _open(options) as memory:
        problems = memory.check()
    errors = sum(problem.severity == "error" for problem in problems)
    if options.json:
        _print_json({"errors": errors, "problems": [problem.to_dict() for problem in problems]})
    else:
        for problem in problems:
            print(_plain(str(problem)))
        print(f"{errors} problem{'s' * (errors != 1)}" + (": run looseleaf repair" if errors else ""))
    return PROBLEMS if errors else 0


def _repair(options: argparse.Namespace) -> int:
    with _open(options) as memory:
        done = memory.repair()
        left = [problem for problem in memory.check() if problem.severity == "error"]
    if options.json:
        _print_json({"done": done, "left": [problem.to_dict() for problem in left]})
    else:
        for each in done or ["Nothing had to be mended."]:
            print(_plain(each))
        for problem in left:
            print(f"not mended: {_plain(str(problem))}")
    return PROBLEMS if left else 0


# --- printing --------------------------------------------------------------------------


def _open(options: argparse.Namespace) -> Memory:
    """A command looks at a memory that is there; only `init` makes one."""
    from looseleaf.memory import Memory, find, is_memory

    path = options.memory or find()
    if not is_memory(path):
        raise Refused(
            f"Nothing was done: there is no memory at {path}. To make one, run: looseleaf init {path}"
        )
    return Memory(path, agent=options.agent)


def _edit_dict(edit: Edit) -> dict[str, Any]:
    names = ("id", "ts", "path", "author", "reason", "base", "new", "added", "removed", "undoes")
    return {name: getattr(edit, name) for name in names}


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def _notes(memory: Memory) -> None:
    for note in memory.notes:
        print(f"looseleaf: {_plain(note)}", file=sys.stderr)


def _plain(text: str, keep: str = "") -> str:
    """Text for a terminal: what a page or a name holds must not steer it."""
    return "".join(
        character if character.isprintable() or character in keep else f"\\x{ord(character):02x}"
        for character in text
    )


if __name__ == "__main__":  # pragma: no cover - the installed script calls main
    sys.exit(main())
