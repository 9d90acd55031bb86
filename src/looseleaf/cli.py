"""The command line: arguments and printing only. Exit codes: 0 done, 1 problems found, 2 refused.

Here are `main`, what all verbs share, and the verbs of the pages. The others stand in modules loaded on demand;
`cli_verbs` has the table of all of them.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from itertools import islice

from looseleaf.cli_parse import parse
from looseleaf.core.heads import PERSON
from looseleaf.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.cli_parse import Options
    from looseleaf.memory import Memory
    from looseleaf.values import Edit

PROBLEMS = 1
REFUSED = 2
INTERRUPTED = 130

_LISTED = 20
"""How many pages are named to a person who asked for one that is not there."""

_CLIPPED = 160
"""Characters of what somebody said, in a list: two lines of a terminal."""

# What can move a terminal's cursor, colour it, or turn the order of what it shows. Spaces of other scripts and
# the joiners inside an emoji are text.
_STEERING = (
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_END = "\r(?=\n)"


def run() -> int:
    """The command as a process: what it made is let go of with it, not piece by piece. A hook runs one each prompt."""
    import gc

    gc.disable()
    # For one question at a time, threads of the linear algebra (extra `semantic`) wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = main()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    try:
        options = parse(given)
    except SystemExit as ended:
        if ended.code == REFUSED and "hook" in given:
            raise SystemExit(PROBLEMS) from None  # a coding agent takes 2 for a reason to stop
        raise
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # closed by whoever started us
            return REFUSED
        # Pages hold every script; a terminal that has not all of them shows the rest written out.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = _carrier(options.run)(options)
        sys.stdout.flush()
        return code
    except Refused as refused:
        if options.json:
            print_json({"error": str(refused)})
        print(f"looseleaf: {plain(str(refused))}", file=sys.stderr)
        return REFUSED
    except BrokenPipeError:
        # Whoever read our output has enough (`looseleaf log | head`). Nothing may be flushed to them at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:  # of the output: the memory's own are sentences
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # Whoever gave the command must not give it again for want of an answer.
        why = f"the answer could not be written ({error.strerror or error})."
        print(f"looseleaf: {options.done}{why}", file=sys.stderr)
        return REFUSED


# --- verbs -----------------------------------------------------------------------------


def _init(options: Options) -> int:
    from looseleaf.init import init

    path = _first(options.path, options.memory, os.environ.get("LOOSELEAF_HOME") or ".looseleaf")
    made = init(path)
    options.done = "the memory is made; "
    if options.json:
        print_json({"path": path, "made": made})
    elif made:
        print(
            f"{plain(path)} is a memory now. Its pages are Markdown, for any editor: SOUL.md says who the agent is,\n"
            "PROJECT.md the rules of the work; USER.md and facts/<topic>.md hold facts such as `- Name: Zhang San`.\n"
            ".gitignore there keeps the history (log/) out of git; delete that line to keep it in."
        )
    else:
        print(f"{plain(path)} is a memory already; nothing was changed.")
    return 0


def _log(options: Options) -> int:
    at_least_one(options.limit, 50)
    with open_memory(options) as memory:
        edits = list(islice(memory.log(options.page), options.limit + 1))
        has_more = len(edits) > options.limit
        edits = edits[: options.limit]
        if options.page is not None and not edits and not memory.page(options.page).exists:
            raise no_page(memory, options.page)
        if options.json:
            print_json([edit_dict(edit) for edit in edits])
        else:
            for edit in edits:
                print(edit_line(edit))
            if not edits:
                print("No edits yet.")
            elif has_more:
                print("There are more; -n shows them.")
        print_notes(memory)
    return 0


def _show(options: Options) -> int:
    if options.who:
        from looseleaf.cli_tools import show_who

        return show_who(options)
    with open_memory(options) as memory:
        if options.as_of is None:
            page = memory.page(options.page)
        else:
            page = memory.page_as_of(options.page, options.as_of)
        if not page.exists:
            raise no_page(memory, page.path, options.as_of)
        if options.json:
            print_json({"path": page.path, "sha256": page.sha256, "as_of": options.as_of, "text": page.text})
        else:
            print_bytes(page.data)
        print_notes(memory)
    return 0


def _diff(options: Options) -> int:
    from looseleaf.core.diff import unified
    from looseleaf.history import parse_when

    with open_memory(options) as memory:
        if options.since is None:
            edit = next(memory.log(options.page), None)
            if edit is None:
                raise no_page(memory, options.page)
            path = edit.path
            old, new = (data or b"" for data in memory.versions(edit))
            labels = (f"{path} before {edit.id}", f"{path} after {edit.id}")
        else:
            since = parse_when(options.since, start=True)
            before, now = memory.page_as_of(options.page, since), memory.page(options.page)
            if not before.exists and not now.exists:
                raise no_page(memory, now.path)
            path, old, new = now.path, before.data, now.data
            labels = (f"{path} {options.since}", f"{path} now")
        # One character for each byte that is no UTF-8, and back: `patch` gets the page's own bytes.
        text = unified(
            old.decode("utf-8", "surrogateescape"), new.decode("utf-8", "surrogateescape"), *labels
        )
        shown = text.encode("utf-8", "surrogateescape")
        if options.json:
            diff = shown.decode("utf-8", "replace")
            print_json({"path": path, "from": labels[0], "to": labels[1], "diff": diff})
        else:
            print_bytes(shown)
        print_notes(memory)
    return 0


def _undo(options: Options) -> int:
    with open_memory(options) as memory:
        edit, receipt = memory.undo(options.page, author=PERSON)
        options.done = "it was undone; "
        if options.json:
            print_json({"undone": edit_dict(edit), "receipt": receipt.to_dict()})
        else:
            # A word on a fact changed no page: it has no text before or after it.
            is_word = receipt.base is None and receipt.new is None
            gone = " The page is gone." if receipt.new is None and not is_word else ""
            kind = "edit" if not is_word else "word" if edit.path.startswith("f_") else "entry"
            what = f"the {kind} {plain(edit.id)} ({plain(edit.reason)})"
            print(f"{plain(edit.path)}: {what} is undone by {receipt.id}.{gone}")
    return 0


def _check(options: Options) -> int:
    with open_memory(options) as memory:
        problems = memory.check()
    errors = sum(problem.severity == "error" for problem in problems)
    if options.json:
        print_json({"errors": errors, "problems": [problem.to_dict() for problem in problems]})
    else:
        for problem in problems:
            print(plain(str(problem)))
        hint = "; looseleaf repair mends what can be mended" if errors else ""
        print(f"{errors} problem{'s' * (errors != 1)}{hint}")
    return PROBLEMS if errors else 0


def _repair(options: Options) -> int:
    with open_memory(options) as memory:
        done = memory.repair()
        left = [problem for problem in memory.check() if problem.severity == "error"]
    if options.json:
        print_json({"done": done, "left": [problem.to_dict() for problem in left]})
    else:
        for each in done or ["Nothing had to be mended." if not left else "Nothing could be mended."]:
            print(plain(each))
        for problem in left:
            print(f"not mended: {plain(str(problem))}")
    return PROBLEMS if left else 0


def _carrier(run: str) -> Callable[[Options], int]:
    """The function that carries out a verb, from a module that is loaded for it."""
    unit, _, name = run.partition(".")
    module: Any
    match unit:
        case "cli":
            return _PAGES[name]
        case "cli_record":
            from looseleaf import cli_record

            module = cli_record
        case "cli_talk":
            from looseleaf import cli_talk

            module = cli_talk
        case "cli_facts":
            from looseleaf import cli_facts

            module = cli_facts
        case "cli_prompt":
            from looseleaf import cli_prompt

            module = cli_prompt
        case "cli_recall":
            from looseleaf import cli_recall

            module = cli_recall
        case "cli_tools":
            from looseleaf import cli_tools

            module = cli_tools
        case "cli_review":
            from looseleaf import cli_review

            module = cli_review
        case "cli_serve":
            from looseleaf import cli_serve

            module = cli_serve
        case "cli_hook":
            from looseleaf import cli_hook

            module = cli_hook
        case "cli_cost":
            from looseleaf import cli_cost

            module = cli_cost
        case "cli_chat":
            from looseleaf import cli_chat

            module = cli_chat
        case "cli_state":
            from looseleaf import cli_state

            module = cli_state
        case _:
            from looseleaf import cli_build

            module = cli_build
    found: Callable[[Options], int] = getattr(module, name)
    return found


_PAGES: dict[str, Callable[[Options], int]] = {
    "init": _init,
    "log": _log,
    "show": _show,
    "diff": _diff,
    "undo": _undo,
    "check": _check,
    "repair": _repair,
}


# --- opening ---------------------------------------------------------------------------


def open_memory(options: Options, session: str | None = None) -> Memory:
    """A command looks at a memory that is there; only `init` makes one."""
    from looseleaf.memory import Memory
    from looseleaf.where import find, is_memory

    path = _first(options.memory) or find()
    if not is_memory(path):
        is_named = options.memory is not None or os.environ.get("LOOSELEAF_HOME")
        if not is_named and not os.path.lexists(path):
            raise Refused(
                "Nothing was done: there is no memory here, above, or at ~/.looseleaf: `looseleaf init` makes one "
                "here; or name one with --memory PATH."
            )
        raise Refused(
            f"Nothing was done: there is no memory at {path}. Name another with --memory PATH, or make this one "
            f"(of the pages that are there, if any) with: looseleaf init {path}"
        )
    return Memory(path, agent=options.agent or "main", session=session)


def _first(*paths: str | None) -> str:
    """The first path that was given. One that is empty was meant to be something: `--memory "$UNSET"`."""
    path = next((path for path in paths if path is not None), None)
    if path == "":
        raise Refused("Nothing was done: the path of the memory is empty. Give a folder, or leave it out.")
    return path or ""


def at_least_one(limit: int, default: int) -> None:
    if limit < 1:
        why = f"--limit must be at least 1. Without it, the last {default} are shown."
        raise Refused(f"Nothing was shown: {why}")


# --- printing --------------------------------------------------------------------------


def no_page(memory: Memory, path: str, then: str | None = None) -> Refused:
    edits = list(memory.log(path))
    if edits:
        first, last = when(edits[-1].ts), when(edits[0].ts)
        what = f"{path} did not exist as of {then}" if then else f"{path} does not exist any more"
        return Refused(
            f"Nothing was shown: {what}; its edits are from {first} to {last}. `looseleaf log {path}` shows them."
        )
    pages = memory.pages()
    more = f" and {len(pages) - _LISTED} more" if len(pages) > _LISTED else ""
    known = ", ".join(pages[:_LISTED])
    next_step = f"There are: {known}{more}." if pages else "There is none yet: write one with any editor."
    return Refused(f"Nothing was shown: there is no page {path}. {next_step}")


def when(ts: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ts))
    except (OverflowError, ValueError, OSError):
        return f"{ts:g}"  # no time of this world; the rest of the log is shown all the same


def edit_line(edit: Edit) -> str:
    what = f"+{edit.added} -{edit.removed}" if edit.new is not None else "deleted"
    about = f"{plain(edit.path)}  {plain(edit.author)}: {plain(edit.reason)}"
    return f"{when(edit.ts):>19}  {plain(edit.id)}  {what:>8}  {about}"


def edit_dict(edit: Edit) -> dict[str, Any]:
    names = ("id", "ts", "path", "author", "reason", "base", "new", "added", "removed", "undoes")
    return {name: getattr(edit, name) for name in names}


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def print_bytes(data: bytes) -> None:
    """To a pipe or a file the bytes as they are; to a terminal as text that cannot steer it."""
    if sys.stdout.isatty():
        sys.stdout.write(plain(re.sub(_LINE_END, "", data.decode("utf-8", "backslashreplace")), keep="\n\t"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def say(text: str) -> None:
    """Print what may hold the words of others, on the lines that it has."""
    print(plain(re.sub(_LINE_END, "", text), keep="\n\t"))


def hung(text: str, indent: int) -> str:
    """Further lines stand to the right, so that none can pass for a line of ours."""
    return f"\n{' ' * indent}".join(text.split("\n"))


def clipped(text: str) -> str:
    """On one line, its beginning if it is long."""
    line = " ".join(text[: 8 * _CLIPPED].split())
    if len(line) <= _CLIPPED and len(text) <= 8 * _CLIPPED:
        return line
    return f"{line[:_CLIPPED].rstrip()} … ({len(text):,} characters)"


def print_notes(memory: Memory) -> None:
    for note in memory.notes:
        print(f"looseleaf: {plain(note)}", file=sys.stderr)


def plain(text: str, keep: str = "") -> str:
    """Text for a terminal: what a page or a name holds must not steer it."""
    return re.sub(_STEERING, lambda match: match[0] if match[0] in keep else _written_out(match[0]), text)


def _written_out(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
