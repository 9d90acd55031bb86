"""The verbs of pages: init, log, show, diff, undo, check, repair; and of agents' writes: tool, receipts.

Arguments and printing only.
"""

from __future__ import annotations

import json
import os
import re
from itertools import islice, takewhile

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.paths import is_address
from looseleaf.cli.output import (
    PROBLEMS,
    STDIN,
    at_least_one,
    clipped,
    dates_of,
    decode,
    edit_dict,
    edit_line,
    edit_size,
    first_path,
    named_facts,
    next_step,
    no_page,
    open_memory,
    page_name,
    plain,
    print_answer,
    print_bytes,
    print_json,
    print_notes,
    progress,
    read_input,
    say,
    shell_word,
    table,
    when,
)
from looseleaf.cli.verb_table import LAST
from looseleaf.log.journal import PERSON
from looseleaf.store.context import shown_name
from looseleaf.store.records import BODIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.base.values import Edit, Fact, Problem
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.explain.promises import Reconciled
    from looseleaf.explain.sources import Signed
    from looseleaf.explain.writes import Written
    from looseleaf.tools.tool import Tool


def tool(options: CliOptions) -> int:
    """Call a tool in the agent's last session: the user's words there decide what a model may write."""
    from looseleaf.tools.catalogue import TOOLS

    if options.name is None:
        tools = TOOLS.values()
        print_answer(options, [each.to_dict() for each in tools], "\n".join(map(_tool_lines, tools)))
        return 0
    from looseleaf.tools.toolset import call

    given = _read_arguments(options.args)
    with open_memory(options) as memory:
        memory.talk.resume()
        answer = call(memory, options.name, given)
        if answer.receipt is not None and answer.receipt.id:
            options.done = f"it was written (receipt {answer.receipt.id}); "
        print_answer(options, answer.data, answer.text)
        print_notes(memory)
    return PROBLEMS if answer.is_error else 0


def _tool_lines(tool: Tool) -> str:
    needed = tool.parameters.get("required", ())
    names = (name if name in needed else f"{name}?" for name in tool.parameters["properties"])
    return f"{tool.name}({', '.join(names)})\n    {tool.description}"


def _read_arguments(text: str | None) -> dict[str, Any]:
    if text == STDIN:
        text = decode(read_input(STDIN, "done"), "standard input", "done")
    try:
        given = json.loads(text) if text is not None else {}
    except RecursionError:
        raise Invalid(
            "Nothing was done: the arguments are nested too deeply. Give one flat JSON object."
        ) from None
    except ValueError as error:
        raise Invalid(
            f"Nothing was done: the arguments are not JSON ({error}). Write one object, such as "
            '\'{"path": "USER.md"}\', with texts and names in double quotes.'
        ) from None
    if not isinstance(given, dict):
        raise Invalid(
            f"Nothing was done: the arguments are {type(given).__name__}, not an object. "
            'Write one such as \'{"path": "USER.md"}\'.'
        )
    return given


def receipts(options: CliOptions) -> int:
    at_least_one(options.limit, LAST)
    with open_memory(options) as memory:
        if options.turn is not None:
            found = memory.explain.promises(options.turn)
            print_answer(options, found.to_dict(), "\n".join(_reconciled_lines(found, options.limit)))
            print_notes(memory)
            return PROBLEMS if found.flagged else 0
        written = memory.explain.receipts(options.limit + 1)
        shown = written[: options.limit]
        if options.json:
            print_json([each.to_dict() for each in shown])
        elif shown:
            rows = (
                (
                    when(each.ts),
                    each.id,
                    _size(each),
                    each.path,
                    f"{each.author}{_marks(each)}",
                    clipped(each.reason),
                )
                for each in shown
            )
            table(_heads("receipt"), rows, right=("lines",), lines=map(_receipt_line, shown))
            if len(written) > len(shown):
                say(_MORE)
        else:
            say("No agent has written anything yet. `looseleaf log` shows all edits.")
        print_notes(memory)
    return 0


_MORE = "There are more; -n shows them."


def _heads(what: str) -> tuple[str, ...]:
    return ("time", what, "lines", "page", "who", "why")


def _reconciled_lines(found: Reconciled, limit: int) -> Iterator[str]:
    if not found.receipts:
        yield f"Nothing was written in {found.turn_id}."
    elif len(found.receipts) > limit:
        yield f"… {len(found.receipts) - limit} earlier ones; -n shows them."
    yield from (_receipt_line(each) for each in found.receipts[-limit:])
    for promise in (*found.requests, *found.claims):
        if promise.kept != "nothing":
            by = f" by {promise.receipt}" if promise.receipt else ""
            yield f"{_PROMISE_WORDS[promise.kept]}{by}: {clipped(promise.text)}"
    yield from (f"not kept: {flag.why}" for flag in found.flagged)


_PROMISE_WORDS = {"written": "kept", "waits": "waits in review", "known": "known already"}


def _receipt_line(each: Written) -> str:
    about = f"{plain(each.path)}  {plain(each.author)}{_marks(each)}: {clipped(each.reason)}"
    return f"{when(each.ts):>19}  {plain(each.id)}  {_size(each):>8}  {about}"


def _size(each: Written) -> str:
    return "deleted" if each.deleted else f"+{each.added} -{each.removed}"


def _marks(each: Written) -> str:
    marks = ["waits in review"] if each.held else []
    marks += [f"undone by {each.undone_by}"] if each.undone_by else []
    return f" ({', '.join(marks)})" if marks else ""


def show_who(options: CliOptions) -> int:
    if options.as_of is not None:
        raise Invalid(
            "Nothing was shown: --who is about the page as it is now, and --as-of about the past. Leave one out; "
            "`looseleaf log` with the page shows who changed it, and when."
        )
    with open_memory(options) as memory:
        page = memory.pages.read(options.page)
        path = page_name(memory, options.page, page.path)
        if not page.exists:
            raise no_page(memory, path)
        lines = memory.explain.who(path)
        if options.json:
            print_json({"path": path, "lines": [each.to_dict() for each in lines]})
        else:
            own = memory.parts.at_place(path)[0].notebook.facts()
            facts = {fact.line: fact for fact in own if fact.path == page.path}
            print_who(lines, facts)
        print_notes(memory)
    return 0


def print_who(lines: Sequence[Signed], facts: Mapping[int | None, Fact] | None = None) -> None:
    """Print columns: who, level, day, other times of the fact if any line has some; the line itself."""
    rows = [
        (
            plain(each.author or "not known"),
            each.level or "",
            _day(each.ts),
            fact_times((facts or {}).get(each.line), _day(each.ts)),
            plain(each.text, keep="\t"),
        )
        for each in lines
    ]
    wide = [max((len(row[at]) for row in rows), default=0) for at in range(4)]
    shown = [at for at in range(4) if at < 3 or wide[at]]
    for row in rows:
        marks = "  ".join(f"{row[at]:{wide[at]}}" for at in shown)
        say(f"{marks}  {row[4]}".rstrip())


def fact_times(fact: Fact | None, written: str) -> str:
    """Return when a fact began, unless its line was written then; when it was repeated; and whether it is doubtful."""
    from looseleaf.text.lines import DOUBTFUL

    if fact is None:
        return ""
    marks = [each for each in dates_of(fact) if each != f"since {written}"]
    return ", ".join(marks + [DOUBTFUL] * (DOUBTFUL in fact.tags))


def _day(ts: float | None) -> str:
    return when(ts)[:10] if ts is not None else ""


def init(options: CliOptions) -> int:
    from shlex import quote

    from looseleaf.pages.folder import find_unignored, has_lost_log, has_pages
    from looseleaf.pages.folder import init as make

    path = first_path(options.path, options.memory, os.environ.get("LOOSELEAF_HOME") or ".looseleaf")
    is_folder, shown = not is_address(path), shown_name(path)
    has_lost = is_folder and has_lost_log(path)
    if options.git_log and not is_folder:
        raise Invalid(
            f"Nothing was made: --git-log is for a folder, and {shown} is in a database. Leave it out."
        )
    made = make(path)
    options.done = "the memory is made; "
    shares = False
    if options.git_log:
        from looseleaf.cli.verbs.git import share_log

        shares = share_log(path)
    if options.json:
        print_json({"path": shown, "made": made})
    elif made and not is_folder:
        print(f"{plain(shown)} is a memory now.")
        next_step(options, _BEGIN_THERE.format(_memory_option(path), shell_word(_database_of(path))))
    elif made:
        file = plain(quote(os.path.join(path, ".gitignore")))
        out = "views/ and review/" if options.git_log else "log/, views/ and review/"
        covers = f".gitignore there keeps {out} out of git; the pages, with your words, go in.\n"
        if lacks := find_unignored(path):
            covers = (
                f".gitignore there is yours, and stays as it is: git would take in {', '.join(lacks)}, with all that "
                f"was said.\nTo keep these out: printf '%s\\n' '' {' '.join(lacks)} >> {file}\n"
            )
        print(
            f"{plain(path)} is a memory now. Its pages are Markdown, for any editor: SOUL.md describes the agent,\n"
            "PROJECT.md the rules of the work; USER.md and facts/<topic>.md hold facts such as `- Name: Zhang San`.\n"
            f"{covers}To keep all of it out: echo '*' > {file}"
        )
        if options.git_log:
            print(_WITH_LOG)
        if has_lost:
            print(_WITHOUT_LOG)
        if has_pages(path):
            print(_NOT_YOURS.format(_memory_option(path)))
        next_step(options, _BEGIN.format(_memory_option(path)))
    else:
        changed = "nothing was changed" if not shares else "its log goes into git now"
        print(f"{plain(shown)} is a memory already; {changed}.")
        if shares:
            print(_WITH_LOG)
        next_step(options, f"`looseleaf{_memory_option(path)}` shows its contents.")
    return 0


_BEGIN = (
    '`looseleaf{0} remember "I prefer green tea."` adds a fact; `looseleaf{0} setup` connects coding agents.'
)


_BEGIN_THERE = (
    '`looseleaf{0} remember "I prefer green tea."` adds a fact; `looseleaf serve --postgres {1}` serves it to coding '
    "agents and other programs: docs/HOOKS.md, docs/SERVE.md."
)


def _database_of(where: str) -> str:
    """Return the address of a memory's database, without a password."""
    from looseleaf.store.postgres.address import parse_address

    return parse_address(where).database.shown


_WITH_LOG = (
    "The history is then in git, with everything that was said, and what review/ and PROJECT.local.md say: `forget`\n"
    "does not reach commits."
)

_WITHOUT_LOG = (
    "It was a memory, and log/ was gone: the new log begins without what was said, who changed what, and the marks of\n"
    "what was forgotten (an import can bring that back). If you find a copy of log/, put it in the place of this one."
)

_NOT_YOURS = (
    "Pages were there before: their facts count as inferred, because no journal says who wrote them.\n"
    "`looseleaf{0} vouch` shows them, and you can say that they are yours."
)


def _memory_option(path: str) -> str:
    """Return the option that names the memory, where it is not found by itself."""
    from shlex import quote

    from looseleaf.pages.folder import find

    return (
        "" if os.path.realpath(path) == os.path.realpath(find()) else f" --memory {quote(shown_name(path))}"
    )


def log(options: CliOptions) -> int:
    at_least_one(options.limit, 50)
    with open_memory(options) as memory:
        found = list(islice(memory.history.edits(options.page), options.limit + 1))
        edits = found[: options.limit]
        if options.page is not None and not edits and not memory.pages.read(options.page).exists:
            raise no_page(memory, options.page)
        if options.json:
            print_json([edit_dict(edit) for edit in edits])
        elif edits:
            rows = (
                (when(edit.ts), edit.id, edit_size(edit), edit.path, edit.author, clipped(edit.reason))
                for edit in edits
            )
            table(_heads("edit"), rows, right=("lines",), lines=map(edit_line, edits))
            if len(found) > len(edits):
                say(_MORE)
        else:
            say("No edits yet.")
        print_notes(memory)
    return 0


def show(options: CliOptions) -> int:
    if options.who:
        return show_who(options)
    with open_memory(options) as memory:
        try:
            then = options.as_of
            page = (
                memory.pages.read(options.page)
                if then is None
                else memory.history.page_at(options.page, then)
            )
            path = page_name(memory, options.page, page.path)
            if not page.exists:
                raise no_page(memory, path, then)
        except Refused:
            from looseleaf.cli.verbs.facts import show_fact

            if options.as_of is not None or not named_facts(memory, options.page):
                raise
            show_fact(memory, options)
            print_notes(memory)
            return 0
        if options.json:
            print_json({"path": path, "sha256": page.sha256, "as_of": options.as_of, "text": page.text})
        else:
            print_bytes(page.data)
        print_notes(memory)
    return 0


def diff(options: CliOptions) -> int:
    from looseleaf.text.diff import unified
    from looseleaf.text.times import parse_when

    with open_memory(options) as memory:
        if options.since is None:
            edit = next(memory.history.edits(options.page), None)
            if edit is None:
                raise no_page(memory, options.page)
            path = edit.path
            old, new = (data or b"" for data in memory.history.versions(edit))
            labels = (f"{path} before {edit.id}", f"{path} after {edit.id}")
        else:
            since = parse_when(options.since, start=True)
            before, now = memory.history.page_at(options.page, since), memory.pages.read(options.page)
            path = page_name(memory, options.page, now.path)
            if not before.exists and not now.exists:
                raise no_page(memory, path)
            old, new = before.data, now.data
            labels = (f"{path} {options.since}", f"{path} now")
        # One character for each byte that is not UTF-8, and back: `patch` gets the page's own bytes.
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


def undo(options: CliOptions) -> int:
    with open_memory(options) as memory:
        last = next(memory.history.edits(), None)
        edit, receipt = memory.history.undo(options.page, author=PERSON)
        options.done = "it was undone; "
        made = takewhile(lambda each: last is None or each.id != last.id, memory.history.edits())
        changes = _undone_changes(each for each in made if each.undoes is not None)
        if options.json:
            print_json(
                {"undone": edit_dict(edit), "receipt": receipt.to_dict(), "changes": [*map(vars, changes)]}
            )
            return 0
        # An act on a fact, and an entry, are not edits of one page: they have no text before or after.
        is_word = receipt.base is None and receipt.new is None
        what = "" if is_word else f" (edit {edit.id})"
        if is_word and edit.path.startswith("f_"):
            fact = memory.fact(edit.path)
            what = " " + clipped(f"(of {fact.relation}: {fact.object}, {fact.id})")
        say(f"Undone: {clipped(edit.reason)}{what}, by {receipt.id}.")
        for line in (line for change in changes for line in change.lines()):
            say(line)
        print_notes(memory)
        if any(change.gone and not change.path.startswith(("days/", "review/")) for change in changes):
            say("What is gone does not come back by itself: you said no to it.")
            next_step(options, "`looseleaf remember` with the same words brings it back.")
    return 0


class _UndoneChange:
    """The effect of an undo on a page: the lines that are back, and those that are gone."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_gone = False
        self.back: list[str] = []
        self.gone: list[str] = []

    def take(self, edit: Edit) -> None:
        """Add a later edit."""
        self.is_gone = edit.new is None
        for hunk in edit.hunks if self.path.endswith(".md") else ():
            self.gone += _text_lines(hunk.removed)
            for line in _text_lines(hunk.added):
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
"""Lines of a page that are named; more are counted."""


def _undone_changes(newest_first: Iterable[Edit]) -> list[_UndoneChange]:
    """Return the changes page by page; those of daily pages only where there are no others."""
    made: dict[str, _UndoneChange] = {}
    for edit in reversed([*newest_first]):
        made.setdefault(edit.path, _UndoneChange(edit.path)).take(edit)
    return [each for path, each in made.items() if not path.startswith("days/")] or [*made.values()]


def _text_lines(lines: Iterable[str]) -> list[str]:
    """Return the text of page lines, without the program's own: summary and date."""
    some = (line.strip() for line in lines if not line.startswith(("# ", "> Summary:", "- Updated:")))
    return [line.removeprefix("- ") for line in some if line]


def check(options: CliOptions) -> int:
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
            next_step(options, _step_after_check(problems))
    return PROBLEMS if errors else 0


_LOST = re.compile(r"\b[Pp]ut .*\bback\b")
_ENTRIES = "log/entries/"


def _step_after_check(problems: Sequence[Problem]) -> str:
    """Return what mends these: a lost file is put back before repair goes on without it; a person settles what is held;
    repair mends the log, and nothing else."""
    errors = [problem for problem in problems if problem.severity == "error"]
    lost = [each for each in errors if _LOST.search(each.message)]
    held = [each for each in errors if "`looseleaf settle`" in each.message]
    mendable = [each for each in errors if each not in lost and each not in held and _is_mendable(each)]
    steps = ["put back what was lost, from an export or a backup"] if lost else []
    steps += (
        ["`looseleaf settle` shows the files that are held, and asks what to do with each"] if held else []
    )
    if mendable:
        steps.append("`looseleaf repair` repairs what it can; it keeps a copy of every byte it moves")
    elif any("`looseleaf repair`" in each.message for each in lost):
        steps.append("without a copy, `looseleaf repair` goes on without it")
    return "; ".join(steps or [_BY_HAND]) + "."


_BY_HAND = (
    "put these right as they say, or put the files back from an export or a backup; "
    "`looseleaf repair` cannot mend them"
)


def _is_mendable(problem: Problem) -> bool:
    """True for a damaged record, segment, seal or body. Where records follow from none, or a copy lies, repair has
    nothing to go by."""
    from looseleaf.store.check_repair import ELSEWHERE
    from looseleaf.store.machines import as_own

    path = as_own(problem.path)
    if problem.message.endswith(ELSEWHERE):
        return False
    is_part = problem.line is not None or "/archive/" in path or path.startswith(f"{BODIES}/")
    is_log = path.startswith("log/") and not path.startswith(_ENTRIES)
    return (is_log and is_part) or "`looseleaf repair`" in problem.message


def repair(options: CliOptions) -> int:
    from looseleaf.pages.folder import begin_again, find

    begun = begin_again(first_path(options.memory) or find())
    with open_memory(options) as memory, progress("repairing"):
        done = [*begun, *memory.repair()]
        left = [problem for problem in memory.check() if problem.severity == "error"]
    if options.json:
        print_json({"done": done, "left": [problem.to_dict() for problem in left]})
    else:
        for each in done or ["Nothing to repair." if not left else "Nothing could be repaired."]:
            print(plain(each))
        for problem in left:
            print(f"not repaired: {plain(str(problem))}")
    print_notes(memory)
    return PROBLEMS if left else 0
