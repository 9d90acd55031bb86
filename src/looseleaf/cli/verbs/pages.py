"""The verbs of pages: making a memory, the log, showing, comparing, undoing, checking, repairing."""

from __future__ import annotations

import os
from itertools import islice, takewhile

from looseleaf.cli.output import (
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
    say,
    when,
)
from looseleaf.log.heads import PERSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from looseleaf.base.values import Edit
    from looseleaf.cli.arguments import Options


def init(options: Options) -> int:
    from looseleaf.pages.init import init as make

    path = first_path(options.path, options.memory, os.environ.get("LOOSELEAF_HOME") or ".looseleaf")
    made = make(path)
    options.done = "the memory is made; "
    if options.json:
        print_json({"path": path, "made": made})
    elif made:
        print(
            f"{plain(path)} is a memory now. Its pages are Markdown, for any editor: SOUL.md says who the agent is,\n"
            "PROJECT.md the rules of the work; USER.md and facts/<topic>.md hold facts such as `- Name: Zhang San`.\n"
            ".gitignore there keeps log/, views/ and review/ out of git; the pages, with what you said, go in.\n"
            f"To keep all of it out: {plain(_hiding(path))}"
        )
        next_step(options, _BEGIN.format(_naming(path)))
    else:
        print(f"{plain(path)} is a memory already; nothing was changed.")
        next_step(options, f"`looseleaf{_naming(path)}` says what it holds.")
    return 0


_BEGIN = (
    '`looseleaf{0} remember "I prefer green tea."` tells it something; `looseleaf hook install --claude` has a coding '
    "agent use it."
)


def _hiding(path: str) -> str:
    """What a shell is told to keep a whole memory out of git."""
    from shlex import quote

    return f"echo '*' > {quote(os.path.join(path, '.gitignore'))}"


def _naming(path: str) -> str:
    """How the memory is named to a command, where it is not found by itself."""
    from looseleaf.pages.folder import find

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
        from looseleaf.cli.verbs.tools import show_who

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
    from looseleaf.text.diff import unified
    from looseleaf.text.given_times import parse_when

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
        last = next(memory.log(), None)
        edit, receipt = memory.undo(options.page, author=PERSON)
        options.done = "it was undone; "
        made = takewhile(lambda each: last is None or each.id != last.id, memory.log())
        changes = _changes(each for each in made if each.undoes is not None)
        if options.json:
            print_json(
                {"undone": edit_dict(edit), "receipt": receipt.to_dict(), "changes": [*map(vars, changes)]}
            )
            return 0
        # A word on a fact, and an entry, are no edit of one page: they have no text before or after them.
        is_word = receipt.base is None and receipt.new is None
        what = "" if is_word else f" (edit {edit.id})"
        if is_word and edit.path.startswith("f_"):
            fact = memory.fact(edit.path)
            what = " " + clipped(f"(of {fact.relation}: {fact.object}, {fact.id})")
        say(f"Undone: {clipped(edit.reason)}{what}, by {receipt.id}.")
        for change in changes:
            for line in change.lines():
                say(line)
    return 0


class _Change:
    """What undoing made of a page: which lines are back on it, which are gone."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_gone = False
        self.back: list[str] = []
        self.gone: list[str] = []

    def take(self, edit: Edit) -> None:
        """One more edit of it, a later one."""
        self.is_gone = edit.new is None
        for hunk in edit.hunks if self.path.endswith(".md") else ():
            self.gone += _said(hunk.removed)
            for line in _said(hunk.added):
                self.gone.remove(line) if line in self.gone else self.back.append(line)

    def lines(self) -> Iterator[str]:
        for what, said in (("says again", self.back), ("says no longer", self.gone)):
            some = "; ".join(f"“{clipped(line)}”" for line in said[:_SHOWN])
            more = f"; and {len(said) - _SHOWN:,} more" if len(said) > _SHOWN else ""
            if said:
                yield f"{self.path} {what}: {some}{more}"
        if self.is_gone:
            yield f"{self.path} is gone."
        elif not self.back and not self.gone:
            yield f"{self.path} is as it was."


_SHOWN = 5
"""Lines of a page that are named; beyond them, they are counted."""


def _changes(newest_first: Iterable[Edit]) -> list[_Change]:
    """Page by page; that a day lost its line is no news where something else did."""
    made: dict[str, _Change] = {}
    for edit in reversed([*newest_first]):
        made.setdefault(edit.path, _Change(edit.path)).take(edit)
    return [each for path, each in made.items() if not path.startswith("days/")] or [*made.values()]


def _said(lines: Iterable[str]) -> list[str]:
    """What lines of a page say; its summary and date are the program's."""
    some = (line.strip() for line in lines if not line.startswith(("# ", "> Summary:", "- Updated:")))
    return [line.removeprefix("- ") for line in some if line]


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
        print(f"{errors} problem{'s' * (errors != 1)}")
        if errors:
            next_step(
                options, "`looseleaf repair` mends what can be mended; a copy of every byte it moves is kept."
            )
    return PROBLEMS if errors else 0


def repair(options: Options) -> int:
    from looseleaf.cli.progress import progress
    from looseleaf.pages.folder import find
    from looseleaf.pages.init import begin_again

    begun = begin_again(first_path(options.memory) or find())
    with open_memory(options) as memory, progress("mending"):
        done = [*begun, *memory.repair()]
        left = [problem for problem in memory.check() if problem.severity == "error"]
    if options.json:
        print_json({"done": done, "left": [problem.to_dict() for problem in left]})
    else:
        for each in done or ["Nothing had to be mended." if not left else "Nothing could be mended."]:
            print(plain(each))
        for problem in left:
            print(f"not mended: {plain(str(problem))}")
    return PROBLEMS if left else 0
