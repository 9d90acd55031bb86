"""The commands `tool` and `receipts`, and what `show --who` prints: the memory as a model uses it, and what came of it.

Arguments and printing only. What pages and models say comes last on a line of ours: it claims no author and no level.
"""

from __future__ import annotations

import json

from looseleaf.base.errors import Refused
from looseleaf.cli.output import (
    PROBLEMS,
    at_least_one,
    clipped,
    no_page,
    open_memory,
    plain,
    print_json,
    print_notes,
    say,
    when,
)
from looseleaf.cli.table import table
from looseleaf.cli.verb_table import LAST
from looseleaf.cli.verbs.record import STDIN, decoded, given_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.base.values import Fact
    from looseleaf.cli.arguments import Options
    from looseleaf.explain import Reconciled, Signed, Written
    from looseleaf.tools.tool import Tool


# --- tool ------------------------------------------------------------------------------


def tool(options: Options) -> int:
    """One call, in the agent's last session: what the user said there is what a model may write."""
    from looseleaf.tools.toolset import TOOLS, call

    if options.name is None:
        return _list(options, list(TOOLS.values()))
    given = _arguments(options.args)
    with open_memory(options) as memory:
        memory.resume()
        answer = call(memory, options.name, given)
        if answer.receipt is not None and answer.receipt.id:
            options.done = f"it was written (receipt {answer.receipt.id}); "
        if options.json:
            print_json(answer.data)
        else:
            say(answer.text)
        print_notes(memory)
    return PROBLEMS if answer.is_error else 0


def _list(options: Options, tools: Sequence[Tool]) -> int:
    if options.json:
        print_json([each.to_dict() for each in tools])
        return 0
    for each in tools:
        needed = each.parameters.get("required", ())
        names = (name if name in needed else f"{name}?" for name in each.parameters.get("properties", {}))
        say(f"{each.name}({', '.join(names)})\n    {each.description}")
    return 0


def _arguments(text: str | None) -> dict[str, Any]:
    if text == STDIN:
        text = decoded(given_bytes(STDIN, "done"), "standard input", "done")
    try:
        given = json.loads(text) if text is not None else {}
    except RecursionError:
        raise Refused("Nothing was done: the arguments nest too deep. Give one flat JSON object.") from None
    except ValueError as error:
        raise Refused(
            f"Nothing was done: the arguments are no JSON ({error}). Write one object, such as "
            '\'{"path": "USER.md"}\', with texts and names in double quotes.'
        ) from None
    if not isinstance(given, dict):
        raise Refused(
            f"Nothing was done: the arguments are {type(given).__name__}, not an object. "
            'Write one such as \'{"path": "USER.md"}\'.'
        )
    return given


# --- receipts --------------------------------------------------------------------------


def receipts(options: Options) -> int:
    at_least_one(options.limit, LAST)
    with open_memory(options) as memory:
        if options.turn is not None:
            found = memory.reconcile(options.turn)
            if options.json:
                print_json(found.to_dict())
            else:
                say("\n".join(_reconciled(found, options.limit)))
            code = PROBLEMS if found.flagged else 0
        else:
            written = memory.receipts(options.limit + 1)
            if options.json:
                print_json([each.to_dict() for each in written[: options.limit]])
            else:
                if written:
                    _print_receipts(written[: options.limit])
                else:
                    say("Nothing was written by an agent yet. `looseleaf log` shows all edits.")
                if len(written) > options.limit:
                    say("There are more; -n shows them.")
            code = 0
        print_notes(memory)
    return code


def _reconciled(found: Reconciled, limit: int) -> Iterator[str]:
    if not found.receipts:
        yield f"Nothing was written in {found.turn_id}."
    elif len(found.receipts) > limit:
        yield f"… {len(found.receipts) - limit} earlier ones; -n shows them."
    yield from (_line(each) for each in found.receipts[-limit:])
    for promise in (*found.requests, *found.claims):
        if promise.kept != "nothing":
            by = f" by {promise.receipt}" if promise.receipt else ""
            yield f"{_KEPT[promise.kept]}{by}: {clipped(promise.text)}"
    yield from (f"not kept: {flag.why}" for flag in found.flagged)


_KEPT = {"written": "kept", "waits": "waits in review", "known": "known already"}


def _print_receipts(written: Sequence[Written]) -> None:
    rows = (
        (when(each.ts), each.id, _size(each), each.path, f"{each.author}{_marks(each)}", clipped(each.reason))
        for each in written
    )
    heads = ("time", "receipt", "lines", "page", "who", "why")
    table(heads, rows, right=("lines",), lines=map(_line, written))


def _line(each: Written) -> str:
    about = f"{plain(each.path)}  {plain(each.author)}{_marks(each)}: {clipped(each.reason)}"
    return f"{when(each.ts):>19}  {plain(each.id)}  {_size(each):>8}  {about}"


def _size(each: Written) -> str:
    return "deleted" if each.deleted else f"+{each.added} -{each.removed}"


def _marks(each: Written) -> str:
    marks = ["waits in review"] if each.held else []
    marks += [f"undone by {each.undone_by}"] if each.undone_by else []
    return f" ({', '.join(marks)})" if marks else ""


# --- who -------------------------------------------------------------------------------


def show_who(options: Options) -> int:
    if options.as_of is not None:
        raise Refused(
            "Nothing was shown: --who says who wrote the page as it is now, and --as-of shows another. Leave one out; "
            "`looseleaf log` with the page shows who changed it, and when."
        )
    with open_memory(options) as memory:
        page = memory.page(options.page)
        if not page.exists:
            raise no_page(memory, page.path)
        lines = memory.who(page.path)
        if options.json:
            print_json({"path": page.path, "lines": [each.to_dict() for each in lines]})
        else:
            facts = {fact.line: fact for fact in memory.facts() if fact.path == page.path}
            print_who(lines, facts)
        print_notes(memory)
    return 0


def print_who(lines: Sequence[Signed], facts: Mapping[int | None, Fact] | None = None) -> None:
    """Columns: who, level, day, what else the fact on it says of its time, if there is any; the line itself."""
    rows = [
        (
            plain(each.author or "not known"),
            each.level or "",
            _day(each.ts),
            _times((facts or {}).get(each.line), _day(each.ts)),
            plain(each.text, keep="\t"),
        )
        for each in lines
    ]
    wide = [max((len(row[at]) for row in rows), default=0) for at in range(4)]
    shown = [at for at in range(4) if at < 3 or wide[at]]
    for row in rows:
        marks = "  ".join(f"{row[at]:{wide[at]}}" for at in shown)
        say(f"{marks}  {row[4]}".rstrip())


def _times(fact: Fact | None, written: str) -> str:
    """When a fact began, unless that is when its line was written; when it was said again; and that it is doubtful."""
    from looseleaf.cli.verbs.facts import dates_of
    from looseleaf.text.lines import DOUBTFUL

    if fact is None:
        return ""
    marks = [each for each in dates_of(fact) if each != f"since {written}"]
    return ", ".join(marks + [DOUBTFUL] * (DOUBTFUL in fact.tags))


def _day(ts: float | None) -> str:
    return when(ts)[:10] if ts is not None else ""
