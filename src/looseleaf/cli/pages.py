"""The verbs of pages: making a memory, the log, showing, comparing, undoing, checking, repairing."""

from __future__ import annotations

import os
from itertools import islice

from looseleaf.cli.shown import (
    PROBLEMS,
    at_least_one,
    clipped,
    edit_dict,
    edit_line,
    edit_size,
    first_path,
    next_step,
    no_page,
    open_memory,
    plain,
    print_bytes,
    print_json,
    print_notes,
    when,
)
from looseleaf.core.heads import PERSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.cli.parse import Options
    from looseleaf.values import Edit


def init(options: Options) -> int:
    from looseleaf.init import init as make

    path = first_path(options.path, options.memory, os.environ.get("LOOSELEAF_HOME") or ".looseleaf")
    made = make(path)
    options.done = "the memory is made; "
    if options.json:
        print_json({"path": path, "made": made})
    elif made:
        print(
            f"{plain(path)} is a memory now. Its pages are Markdown, for any editor: SOUL.md says who the agent is,\n"
            "PROJECT.md the rules of the work; USER.md and facts/<topic>.md hold facts such as `- Name: Zhang San`.\n"
            ".gitignore there keeps the history (log/) out of git; delete that line to keep it in."
        )
        next_step(options, _BEGIN.format(_naming(path)))
    else:
        print(f"{plain(path)} is a memory already; nothing was changed.")
    return 0


_BEGIN = (
    '`looseleaf{0} remember "I prefer green tea."` tells it something; `looseleaf hook install --claude` has a coding '
    "agent use it."
)


def _naming(path: str) -> str:
    """How the memory is named to a command, where it is not found by itself."""
    from looseleaf.where import find

    if os.path.realpath(path) == os.path.realpath(find()):
        return ""
    from shlex import quote

    return f" --memory {quote(path)}"


def log(options: Options) -> int:
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
            if edits:
                _print_log(edits)
            if not edits:
                print("No edits yet.")
            elif has_more:
                print("There are more; -n shows them.")
        print_notes(memory)
    return 0


def _print_log(edits: Sequence[Edit]) -> None:
    from looseleaf.cli.table import table

    rows = (
        (when(edit.ts), edit.id, edit_size(edit), edit.path, edit.author, clipped(edit.reason))
        for edit in edits
    )
    heads = ("time", "edit", "lines", "page", "who", "why")
    table(heads, rows, right=("lines",), lines=map(edit_line, edits))


def show(options: Options) -> int:
    if options.who:
        from looseleaf.cli.tools import show_who

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


def diff(options: Options) -> int:
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


def undo(options: Options) -> int:
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


def check(options: Options) -> int:
    from looseleaf.cli.progress import progress

    with open_memory(options) as memory, progress("checking"):
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


def repair(options: Options) -> int:
    from looseleaf.cli.progress import progress

    with open_memory(options) as memory, progress("mending"):
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
