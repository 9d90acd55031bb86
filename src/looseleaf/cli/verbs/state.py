"""The commands of the state: show it, set a goal, take on tasks, decide. Arguments and printing only.

What is set here is a person's word.
"""

from __future__ import annotations

from itertools import zip_longest

from looseleaf.base.errors import Refused
from looseleaf.cli.output import clipped, open_memory, print_json, print_notes, say
from looseleaf.log.heads import PERSON
from looseleaf.state.rules import for_prompt, items_of, title_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from looseleaf.base.values import Receipt
    from looseleaf.cli.arguments import Options
    from looseleaf.memory import Memory

_FIELDS = ("goal", "now")
_CONVENTION = "conventions."


def state(options: Options) -> int:
    if options.act is None:
        return _show(options)
    if options.toon:
        raise Refused(
            "Nothing was changed: --toon shows the state, and here something is to be changed. Leave it out."
        )
    if options.why is not None and options.act != "decide":
        raise Refused(f"Nothing was changed: --why belongs to a decision, and not to `{options.act}`.")
    with open_memory(options) as memory:
        receipt = _change(memory, options)
        options.done = "it was done; "
        if options.json:
            print_json(receipt.to_dict())
        else:
            say(_said(memory, options, receipt))
        print_notes(memory)
    return 0


# --- showing ---------------------------------------------------------------------------


def _show(options: Options) -> int:
    from looseleaf.state.state_view import carried

    if options.json and options.toon:
        raise Refused("Nothing was shown: --json and --toon are two ways to show the same. Give one of them.")
    with open_memory(options) as memory:
        if options.json:
            print_json(memory.state.to_dict())
        elif options.toon:
            text = carried(memory.state.shown())
            if text:
                say(text)
        else:
            say("\n".join(_listed(memory.state.file.now())) or _NOTHING)
        print_notes(memory)
    return 0


_NOTHING = "The state says nothing yet. `looseleaf state set goal TEXT` begins it."


def _listed(state: dict[str, Any]) -> Iterator[str]:
    """What a prompt carries, and beyond that why something was decided."""
    told = for_prompt(state)
    rows = (each for each in items_of(state, "decisions_recent") if title_of(each))
    whys = [each["why"] if isinstance(each.get("why"), str) else "" for each in rows]
    for name in _FIELDS:
        if name in told:
            yield f"{f'{name}:':<6}{clipped(told[name])}"
    yield from _table(
        "decisions",
        ((each["id"], each["ts"], each["title"]) for each in told.get("decisions_recent", ())),
        whys,
    )
    yield from _table(
        "tasks", ((each["id"], each["status"], each["title"]) for each in told.get("tasks_open", ()))
    )
    yield from _table(
        "conventions", ((name, str(value)) for name, value in told.get("conventions", {}).items())
    )
    yield from _table("blockers", ((str(at), text) for at, text in enumerate(told.get("blockers", ()), 1)))


def _table(title: str, rows: Iterator[tuple[str, ...]], whys: Sequence[str] = ()) -> Iterator[str]:
    """The words of others come last on a line: they cannot pass for another column of ours."""
    cells = [tuple(map(clipped, row)) for row in rows]
    if cells:
        yield f"{title}:"
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row, why in zip_longest(cells, whys, fillvalue=""):
            yield (
                "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            )
            if why:
                yield f"      why: {clipped(why)}"


# --- changing --------------------------------------------------------------------------


def _change(memory: Memory, options: Options) -> Receipt:
    state, what, value = memory.state, options.what, options.value
    match options.act, what:
        case "restore", None:
            return state.restore(author=PERSON)
        case "set", str() if value is not None:
            return _set(memory, what, value)
        case "task", "add" if value is not None:
            return state.add_task(value, author=PERSON)
        case "task", "done" if value is not None:
            return state.done(value, author=PERSON)
        case "decide", str() if value is None:
            return state.decide(what, options.why or "", author=PERSON)
        case "block", str() if value is None:
            return state.block(what, author=PERSON)
        case "unblock", str() if value is None:
            return state.unblock(what, author=PERSON)
    raise Refused(f"Nothing was changed: write {_USAGE[options.act or '']}.")


_USAGE = {
    "set": "`looseleaf state set FIELD VALUE`, where FIELD is goal, now or conventions.NAME",
    "task": "`looseleaf state task add TITLE` or `looseleaf state task done ID`",
    "decide": "`looseleaf state decide TITLE`, with --why TEXT if you like",
    "block": "`looseleaf state block TEXT`",
    "unblock": "`looseleaf state unblock TEXT`, or its number",
    "restore": "`looseleaf state restore`",
}


def _set(memory: Memory, field: str, value: str) -> Receipt:
    if field == "goal":
        return memory.state.update(goal=value, author=PERSON)
    if field == "now":
        return memory.state.update(now=value, author=PERSON)
    if field.startswith(_CONVENTION):
        return memory.state.update(conventions={field.removeprefix(_CONVENTION): value}, author=PERSON)
    raise Refused(
        f"Nothing was changed: {clipped(field)!r} is no field to set. Use goal, now or conventions.NAME; tasks, "
        "decisions and blockers have commands of their own."
    )


def _said(memory: Memory, options: Options, receipt: Receipt) -> str:
    if not receipt.changed:
        return "Nothing was changed: it says that already."
    match options.act, options.what:
        case "task", "add":
            return f"{_id(memory.state.tasks_open, options.value)} is open: {clipped(options.value)}"
        case "task", _:
            return f"It is done, and an episode now: {clipped(options.value)}"
        case "decide", title:
            return f"{_id(memory.state.decisions_recent, title)} is decided: {clipped(title)}"
        case "restore", _:
            return "The last sound version is back. `looseleaf diff state.json` shows what changed."
    return f"state.json says it now ({receipt.id})."


def _id(items: list[Any], title: str) -> str:
    """Of the newest: a title may have been cut, or a secret taken out of it."""
    same = [each for each in items if title_of(each).casefold() == title.strip().casefold()]
    return str((same or items)[-1].get("id") or "It") if items else "It"
