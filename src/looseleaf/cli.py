"""The command line: arguments and printing only. Exit codes: 0 done, 1 problems found, 2 refused.

The verbs stand in one table, at the end. Those of the conversation are carried out by `cli_talk`, loaded on demand.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from itertools import islice

from looseleaf.core.heads import PERSON
from looseleaf.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looseleaf.memory import Memory
    from looseleaf.values import Edit

PROBLEMS = 1
REFUSED = 2
INTERRUPTED = 130

LAST = 20
"""How many turns and sessions are listed to a person who gives no number."""

_LISTED = 20
"""How many pages are named to a person who asked for one that is not there."""

# What can move a terminal's cursor, colour it, or turn the order of what it shows. Spaces of other scripts and
# the joiners inside an emoji are text.
_STEERING = (
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_END = "\r(?=\n)"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # closed by whoever started us
            return REFUSED
        # Pages hold every script; a terminal that has not all of them shows the rest written out.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code: int = options.run(options)
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


class Options:
    """What was asked for: `run`, and a value for every option and argument of the verb."""

    run: Callable[[Options], int]
    memory: str | None
    agent: str
    json: bool
    path: str | None
    page: Any  # text, or None where the verb can do without
    limit: int
    as_of: str | None
    since: str | None
    role: str
    text: str | None
    args: str | None
    result: str | None
    call_id: str | None
    name: str | None
    error: bool
    session: str | None
    turn: str | None
    model: str | None
    dry_run: bool
    entry: str | None

    done = ""
    """What a command has done, once that is durable: said if the answer cannot be written."""


def _parse(arguments: Sequence[str]) -> Options:
    """The table at the end of this file, read in a few lines. Help and mistakes are left to argparse.

    argparse with all it imports takes a third as long as starting Python; a hook runs a command for every prompt.
    """
    options = Options()
    verb = ""
    own: dict[str, dict[str, Any]] = {}
    free: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "--" and verb:
            rest = list(waiting)  # whatever they look like, these are no options
            if not 0 < len(rest) <= len(free) or any(
                each not in own[name].get("choices", (each,)) for name, each in zip(free, rest, strict=False)
            ):
                return _explain(arguments)
            for each in rest:
                setattr(options, free.pop(0), each)
            break
        name, equals, value = _SHORT.get(argument, argument).partition("=")
        known = _SHARED.get(name) or (own.get(name) if name.startswith("-") else None)
        if not verb and argument in _VERBS:
            verb = argument
            options.run, _, own = _VERBS[verb]
            free = [each for each in own if not each.startswith("-")]
        elif known is None and verb and free and (argument == "-" or not argument.startswith("-")):
            if argument not in own[free[0]].get("choices", (argument,)):
                return _explain(arguments)
            setattr(options, free.pop(0), argument)
        elif known is None or (equals and "action" in known):
            return _explain(arguments)
        elif "action" in known:
            setattr(options, _attribute(name), True)
        else:
            value = value if equals else next(waiting, "--")
            if value.startswith("-") and value != "-":
                return _explain(arguments)
            if "type" in known and not (value.isdecimal() and len(value) < 10):
                return _explain(arguments)
            setattr(options, _attribute(name), known.get("type", str)(value))
    for name, known in (_SHARED | own).items():
        if not hasattr(options, _attribute(name)):
            if "nargs" not in known and not name.startswith("-"):
                return _explain(arguments)
            setattr(options, _attribute(name), known.get("default", False if "action" in known else None))
    return options if verb else _explain(arguments)


def _attribute(name: str) -> str:
    return name.lstrip("-").replace("-", "_")


def _explain(arguments: Sequence[str]) -> Options:
    """The same table as argparse's: it prints help, or says what is wrong, and ends the program."""
    import argparse  # not at the top, for the reason above

    class Mixed(argparse.ArgumentParser):
        """Options may stand between arguments, also between one that must be there and one that may be left out."""

        is_mixing = False

        def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
            if self.is_mixing:
                return super().parse_known_args(args, namespace)
            self.is_mixing = True
            return self.parse_known_intermixed_args(args, namespace)

    about = "A memory for LLM agents: a folder of Markdown that never loses what was written."
    parser = argparse.ArgumentParser(prog="looseleaf", description=about, allow_abbrev=False)
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Mixed)
    for name, shared in _SHARED.items():
        parser.add_argument(name, **shared)
    for verb, (run, help, own) in _VERBS.items():
        each = verbs.add_parser(verb, help=help, description=help, allow_abbrev=False)
        each.set_defaults(run=run)
        for name, shared in _SHARED.items():
            each.add_argument(name, **shared | {"default": argparse.SUPPRESS})
        for name, option in own.items():
            each.add_argument(name, *(short for short, long in _SHORT.items() if long == name), **option)
    return parser.parse_args(arguments, Options())


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
            raise _no_page(memory, options.page)
        if options.json:
            print_json([_edit_dict(edit) for edit in edits])
        else:
            for edit in edits:
                print(_edit_line(edit))
            if not edits:
                print("No edits yet.")
            elif has_more:
                print("There are more; -n shows them.")
        print_notes(memory)
    return 0


def _show(options: Options) -> int:
    with open_memory(options) as memory:
        if options.as_of is None:
            page = memory.page(options.page)
        else:
            page = memory.page_as_of(options.page, options.as_of)
        if not page.exists:
            raise _no_page(memory, page.path, options.as_of)
        if options.json:
            print_json({"path": page.path, "sha256": page.sha256, "as_of": options.as_of, "text": page.text})
        else:
            _print_bytes(page.data)
        print_notes(memory)
    return 0


def _diff(options: Options) -> int:
    from looseleaf.core.diff import unified
    from looseleaf.history import parse_when

    with open_memory(options) as memory:
        if options.since is None:
            edit = next(memory.log(options.page), None)
            if edit is None:
                raise _no_page(memory, options.page)
            path = edit.path
            old, new = (data or b"" for data in memory.versions(edit))
            labels = (f"{path} before {edit.id}", f"{path} after {edit.id}")
        else:
            since = parse_when(options.since, start=True)
            before, now = memory.page_as_of(options.page, since), memory.page(options.page)
            if not before.exists and not now.exists:
                raise _no_page(memory, now.path)
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
            _print_bytes(shown)
        print_notes(memory)
    return 0


def _undo(options: Options) -> int:
    with open_memory(options) as memory:
        edit, receipt = memory.undo(options.page, author=PERSON)
        options.done = "it was undone; "
        if options.json:
            print_json({"undone": _edit_dict(edit), "receipt": receipt.to_dict()})
        else:
            gone = "" if receipt.new else " The page is gone."
            what = f"the edit {plain(edit.id)} ({plain(edit.reason)})"
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


def _talk(verb: str) -> Callable[[Options], int]:
    """A verb of the conversation."""

    def run(options: Options) -> int:
        from looseleaf import cli_talk

        code: int = getattr(cli_talk, verb)(options)
        return code

    return run


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
    return Memory(path, agent=options.agent, session=session)


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


def _no_page(memory: Memory, path: str, then: str | None = None) -> Refused:
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


def _edit_line(edit: Edit) -> str:
    what = f"+{edit.added} -{edit.removed}" if edit.new is not None else "deleted"
    about = f"{plain(edit.path)}  {plain(edit.author)}: {plain(edit.reason)}"
    return f"{when(edit.ts):>19}  {plain(edit.id)}  {what:>8}  {about}"


def _edit_dict(edit: Edit) -> dict[str, Any]:
    names = ("id", "ts", "path", "author", "reason", "base", "new", "added", "removed", "undoes")
    return {name: getattr(edit, name) for name in names}


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def _print_bytes(data: bytes) -> None:
    """To a pipe or a file the bytes as they are; to a terminal as text that cannot steer it."""
    if sys.stdout.isatty():
        sys.stdout.write(plain(re.sub(_LINE_END, "", data.decode("utf-8", "backslashreplace")), keep="\n\t"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def say(text: str) -> None:
    """Print what may hold the words of others, on the lines that it has."""
    print(plain(re.sub(_LINE_END, "", text), keep="\n\t"))


def print_notes(memory: Memory) -> None:
    for note in memory.notes:
        print(f"looseleaf: {plain(note)}", file=sys.stderr)


def plain(text: str, keep: str = "") -> str:
    """Text for a terminal: what a page or a name holds must not steer it."""
    return re.sub(_STEERING, lambda match: match[0] if match[0] in keep else _written_out(match[0]), text)


def _written_out(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# --- the table of verbs ----------------------------------------------------------------

_SHARED: dict[str, dict[str, Any]] = {
    "--memory": {"metavar": "PATH", "help": "the folder of the memory"},
    "--agent": {"metavar": "NAME", "default": "main", "help": "whose memory (main)"},
    "--json": {"action": "store_true", "help": "print one JSON document"},
}
"""Options that may stand before and after the verb."""

_SHORT = {"-n": "--limit"}

_ROLES = ("user", "assistant", "tool_call", "tool_result", "jsonl")
_LAST = {"metavar": "N", "type": int, "default": LAST, "help": f"at most so many ({LAST})"}
_MODEL = {"metavar": "NAME", "help": "for the context of this model (else the one in the settings)"}

_VERBS: dict[str, tuple[Callable[[Options], int], str, dict[str, dict[str, Any]]]] = {
    "init": (
        _init,
        "make a memory of a folder",
        {"path": {"nargs": "?", "help": "the folder (else --memory, else ./.looseleaf)"}},
    ),
    "log": (
        _log,
        "show what was changed, by whom and why, newest first",
        {
            "page": {"nargs": "?", "help": "only this page"},
            "--limit": {"metavar": "N", "type": int, "default": 50, "help": "at most so many (50)"},
        },
    ),
    "show": (
        _show,
        "show a page",
        {"page": {}, "--as-of": {"metavar": "DATE", "help": "as it was on a day, or at a time"}},
    ),
    "diff": (
        _diff,
        "show what the last edit of a page changed",
        {"page": {}, "--since": {"metavar": "DATE", "help": "what changed since a day or time instead"}},
    ),
    "undo": (
        _undo,
        "take back the last edit; an undo is an edit too",
        {"page": {"nargs": "?", "help": "the last edit of this page"}},
    ),
    "record": (
        _talk("record"),
        "record what was said or done",
        {
            "role": {"choices": _ROLES, "help": "whose words; jsonl: many at once, one JSON object a line"},
            "text": {"nargs": "?", "help": "the words, the tool's name or its result; else standard input"},
            "--args": {"metavar": "JSON", "help": "the arguments of a tool call"},
            "--result": {"metavar": "JSON", "help": "a tool's result that is more than text"},
            "--call-id": {"metavar": "ID", "help": "the id of a tool call, for it and its result"},
            "--name": {"metavar": "TOOL", "help": "the tool of a result, where there is no call's id"},
            "--error": {"action": "store_true", "help": "the call failed; the text says why"},
            "--session": {"metavar": "ID", "help": "in this session (else the last, if it is not long ago)"},
            "--turn": {"metavar": "ID", "help": "in this turn (else the current one)"},
        },
    ),
    "turns": (
        _talk("turns"),
        "show what was said last, or one turn whole",
        {
            "turn": {"nargs": "?", "help": "this one, whole"},
            "--limit": _LAST,
            "--session": {"metavar": "ID", "help": "only of this session"},
        },
    ),
    "sessions": (_talk("sessions"), "list the last sessions", {"--limit": _LAST}),
    "window": (_talk("window"), "show what a model is told now, and what it costs", {"--model": _MODEL}),
    "compact": (
        _talk("compact"),
        "make the window shorter, and say what it lost",
        {"--dry-run": {"action": "store_true", "help": "only say"}, "--model": _MODEL},
    ),
    "expand": (
        _talk("expand"),
        "list what left the window, or show one of it again, whole",
        {"entry": {"nargs": "?", "help": "an entry, a turn or a trace, by its id (else: the entries)"}},
    ),
    "check": (_check, "re-read and re-hash everything", {}),
    "repair": (_repair, "mend what check found, keeping a copy of every byte that is moved", {}),
}
