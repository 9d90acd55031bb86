"""The state of the work, the costs of models, and `looseleaf` without a verb. Arguments and printing only."""

from __future__ import annotations

import os
from itertools import zip_longest

from looseleaf.base.errors import Invalid
from looseleaf.cli.output import (
    clipped,
    next_step,
    open_memory,
    plain,
    print_answer,
    print_json,
    print_notes,
    say,
    table,
    when,
)
from looseleaf.log.journal import PERSON
from looseleaf.models.costs import dollars
from looseleaf.pages.deleted import last_deleted, told
from looseleaf.state.rules import for_prompt, items_of, title_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from looseleaf.base.values import Receipt, Record
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.memory import Memory
    from looseleaf.memory.parts import Parts
    from looseleaf.models.costs import Ceiling, Spent


_FIELDS = ("goal", "now")
_CONVENTION = "conventions."


def state(options: CliOptions) -> int:
    if options.act is None:
        return _show(options)
    if options.toon:
        raise Invalid("Nothing was changed: --toon only shows the state. Leave it out.")
    if options.why is not None and options.act != "decide":
        raise Invalid(
            f"Nothing was changed: --why goes with `decide`, not with `{options.act}`. Leave it out."
        )
    with open_memory(options) as memory:
        receipt = _change_state(memory, options)
        options.done = "it was done; "
        print_answer(options, receipt.to_dict(), _change_line(memory, options, receipt))
        print_notes(memory)
    return 0


def _show(options: CliOptions) -> int:
    from looseleaf.state.file import format_for_prompt

    if options.json and options.toon:
        raise Invalid("Nothing was shown: --json and --toon exclude each other. Leave one out.")
    with open_memory(options) as memory:
        if options.json:
            print_json(memory.state.to_dict())
        elif options.toon:
            text = format_for_prompt(memory.state.shown())
            if text:
                say(text)
        else:
            say("\n".join(_state_lines(memory.state.file.now())) or _NOTHING)
        print_notes(memory)
    return 0


_NOTHING = "The state is empty. `looseleaf state set goal TEXT` begins it."


def _state_lines(state: dict[str, Any]) -> Iterator[str]:
    """Yield the state as a prompt carries it, and the reasons for decisions."""
    told = for_prompt(state)
    rows = (each for each in items_of(state, "decisions_recent") if title_of(each))
    whys = [each["why"] if isinstance(each.get("why"), str) else "" for each in rows]
    for name in _FIELDS:
        if name in told:
            yield f"{f'{name}:':<6}{clipped(told[name])}"
    decisions = ((each["id"], each["ts"], each["title"]) for each in told.get("decisions_recent", ()))
    tasks = ((each["id"], each["status"], each["title"]) for each in told.get("tasks_open", ()))
    conventions = ((name, str(value)) for name, value in told.get("conventions", {}).items())
    blockers = ((str(at), text) for at, text in enumerate(told.get("blockers", ()), 1))
    yield from _rows_of("decisions", decisions, whys)
    yield from _rows_of("tasks", tasks)
    yield from _rows_of("conventions", conventions)
    yield from _rows_of("blockers", blockers)


def _rows_of(title: str, rows: Iterator[tuple[str, ...]], whys: Sequence[str] = ()) -> Iterator[str]:
    """Yield rows. The words of others come last on a line: they cannot pass for another column."""
    cells = [tuple(map(clipped, row)) for row in rows]
    if cells:
        yield f"{title}:"
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row, why in zip_longest(cells, whys, fillvalue=""):
            line = "".join(f"  {cell:<{width}}" for cell, width in zip(row, widths, strict=True))
            yield line.rstrip()
            if why:
                yield f"      why: {clipped(why)}"


def _change_state(memory: Memory, options: CliOptions) -> Receipt:
    state, what, value = memory.state, options.what, options.value
    match options.act, what:
        case "restore", None:
            return state.restore(author=PERSON)
        case "set", str() if value is not None:
            return _set_field(memory, what, value, here=options.here)
        case "task", "add" if value is not None:
            return state.add_task(value, author=PERSON, here=options.here)
        case "task", "done" if value is not None:
            return state.done(value, author=PERSON)
        case "decide", str() if value is None:
            return state.decide(what, options.why or "", author=PERSON, here=options.here)
        case "block", str() if value is None:
            return state.block(what, author=PERSON, here=options.here)
        case "unblock", str() if value is None:
            return state.unblock(what, author=PERSON)
    raise Invalid(f"Nothing was changed: write {_USAGE[options.act or '']}.")


_USAGE = {
    "set": "`looseleaf state set FIELD VALUE`, where FIELD is goal, now or conventions.NAME",
    "task": "`looseleaf state task add TITLE` or `looseleaf state task done ID`",
    "decide": "`looseleaf state decide TITLE`, with --why TEXT if you like",
    "block": "`looseleaf state block TEXT`",
    "unblock": "`looseleaf state unblock TEXT`, or its number",
    "restore": "`looseleaf state restore`",
}


def _set_field(memory: Memory, field: str, value: str, *, here: bool) -> Receipt:
    if field == "goal":
        return memory.state.update(goal=value, author=PERSON, here=here)
    if field == "now":
        return memory.state.update(now=value, author=PERSON, here=here)
    if field.startswith(_CONVENTION):
        named = {field.removeprefix(_CONVENTION): value}
        return memory.state.update(conventions=named, author=PERSON, here=here)
    raise Invalid(
        f"Nothing was changed: {clipped(field)!r} is not a field to set. Use goal, now or conventions.NAME; tasks, "
        "decisions and blockers have commands of their own."
    )


def _change_line(memory: Memory, options: CliOptions, receipt: Receipt) -> str:
    if not receipt.changed:
        return "Nothing was changed: the state says that already."
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
    """Return the id of the newest: its title may have been cut, or a secret removed."""
    same = [each for each in items if title_of(each).casefold() == title.strip().casefold()]
    return str((same or items)[-1].get("id") or "It") if items else "It"


def cost(options: CliOptions) -> int:
    if options.days < 1:
        raise Invalid("Nothing was shown: --days must be at least 1. Without it, the last 7 days are shown.")
    with open_memory(options) as memory:
        show_costs(memory, options)
        print_notes(memory)
    return 0


def show_costs(memory: Memory, options: CliOptions) -> None:
    """Print the costs of all agents, or of the named one; the ceiling holds for all together."""
    agent, costs = options.agent, memory.costs
    since = costs.since(options.days)
    shares, total = costs.by(options.by, since, agent=agent), costs.total(since, agent=agent)
    ceiling = costs.ceiling()
    if options.json:
        print_json(
            {
                "days": options.days,
                "by": options.by,
                "agent": agent,
                "shares": [{"name": share.name} | share.spent.to_dict() for share in shares],
                "total": total.to_dict(),
                "today": ceiling.spent.to_dict(),
                "ceiling": {
                    "day_tokens": ceiling.tokens,
                    "tokens_left": ceiling.tokens_left,
                    "day_cost": ceiling.cost,
                    "cost_left": ceiling.cost_left,
                },
            }
        )
        return
    by = f" by {clipped(agent)}" if agent is not None else ""
    if shares:
        # Numbers first: the words of others come last on a line.
        heads = ("calls", "read", "cached", "written", "price", options.by)
        rows = [*(_row(share.spent, clipped(share.name)) for share in shares), _row(total, f"all{by}")]
        table(heads, rows, right=heads[:5])
    else:
        days = "day" if options.days == 1 else f"{options.days} days"
        say(f"No model was called{by} in the last {days}. Each call is listed here with its cost.")
    whose = "" if agent is None else " by all agents"
    say("\n".join([*_doubt_lines(total), *_ceiling_lines(ceiling, whose)]))


def _row(spent: Spent, name: str) -> tuple[str, ...]:
    counts = (spent.calls, spent.prompt_tokens, spent.cached_tokens, spent.output_tokens)
    return *(f"{count:,}" for count in counts), dollars(spent), name


def _doubt_lines(total: Spent) -> Iterator[str]:
    if total.unpriced:
        calls = "1 call" if total.unpriced == 1 else f"{total.unpriced:,} calls"
        yield (
            f"The price of {calls} is not known: price_input, price_cached and price_output in looseleaf.toml set it, "
            "in US dollars per million tokens."
        )
    if total.estimated:
        calls = "1 call" if total.estimated == 1 else f"{total.estimated:,} calls"
        yield f"The tokens of {calls} are estimated: the provider did not report all of them."


def _ceiling_lines(ceiling: Ceiling, whose: str) -> Iterator[str]:
    spent = ceiling.spent
    if ceiling.tokens is not None:
        left = f"{ceiling.tokens_left:,} left" if ceiling.tokens_left else "nothing left; the rules distill"
        yield f"Today: {spent.tokens:,} of {ceiling.tokens:,} tokens{whose} (day_tokens), {left}."
    if ceiling.cost is not None:
        left = f"${ceiling.cost_left:,.2f} left" if ceiling.cost_left else "nothing left; the rules distill"
        yield f"Today: {dollars(spent)} of ${ceiling.cost:,.2f}{whose} (day_cost), {left}."
    if ceiling.tokens is None and ceiling.cost is None:
        yield "There is no ceiling; day_tokens or day_cost in looseleaf.toml sets one for each day (UTC)."


_ABOUT = (
    "looseleaf is a memory for LLM agents: a folder of Markdown that you can read, edit, grep, diff and take "
    "with you.\nThere is no memory here, above, or at ~/.looseleaf."
)
_BEGIN = (
    "`looseleaf init` makes a memory here; `looseleaf demo` shows it work in a few seconds; "
    "`looseleaf --help` lists the verbs."
)


def status(options: CliOptions) -> int:
    from looseleaf.pages.folder import find

    is_named = options.memory is not None or os.environ.get("LOOSELEAF_HOME")
    if not is_named and not os.path.lexists(find()):
        if options.json:
            print_json({"memory": None, "next": _BEGIN})
        else:
            say(_ABOUT)
            next_step(options, _BEGIN)
        return 0
    with open_memory(options) as memory:
        found = _read_status(memory)
        print_answer(options, found, "\n".join(_status_lines(found)))
        if found["gone"]:
            memory.notes[:] = [note for note in memory.notes if note != told(found["gone"])]  # said above
        print_notes(memory)
        next_step(options, found["next"])
    return 0


def _read_status(memory: Memory) -> dict[str, Any]:
    memory.parts.notebook.catch_up()  # looks at all pages: what follows need not
    topics = memory.parts.known.names
    known = memory.parts.known.topics
    last = next(iter(memory.talk.sessions(1)), None)
    absorb = memory.parts.pages.absorb
    found: dict[str, Any] = {
        "memory": memory.name,
        "agent": memory.agent,
        "pages": absorb.pages(),
        "facts": sum(known[name][2] for name in topics),
        "topics": sum(known[name][2] > 0 for name in topics),
        "unexplained": len(memory.review.unexplained()) if absorb.heads.has_unknown else 0,
        "gone": last_deleted(memory.parts.pages.history.back()),
        "held": [held.to_dict() for _, held in sorted(absorb.held.items())],
        "lost": [_loss_dict(memory, loss) for loss in absorb.losses()],
        "waiting": len(memory.parts.known.waiting())
        + sum(count for _, count in memory.parts.farther(_waiting_in)),
        "contested": len(memory.review.contested()),
        "session": last.to_dict() if last is not None else None,
        "others": [name for name in memory.talk.agents() if name != memory.agent],
    }
    layers = memory.parts.layers
    if layers is not None and layers.found:
        found["layers"] = [{"name": layer.name, "path": layer.path} for layer in layers.found]
    return found | {"next": _next_step(found)}


def _waiting_in(parts: Parts) -> int:
    parts.notebook.catch_up()
    return len(parts.known.waiting())


def _loss_dict(memory: Memory, loss: Record) -> dict[str, Any]:
    from looseleaf.store.streams import stream_files

    log = memory.parts.store.place(stream_files(str(loss["stream"]))[0])
    return {"log": log} | {name: loss.get(name) for name in _OF_LOSS}


_OF_LOSS = ("missing", "since", "until")


def _next_step(found: dict[str, Any]) -> str:
    if found["gone"]:
        return told(found["gone"])
    if found["held"]:
        return "`looseleaf settle` shows the files that are held, and asks what to do with each."
    if found["lost"]:
        return "put the log back from an export or a backup, or accept the loss with `looseleaf repair`."
    if found["waiting"]:
        return "`looseleaf review` goes through the facts that wait for your yes."
    if found["contested"]:
        return "`looseleaf review` shows the contested values, and you say which is right."
    if found["unexplained"]:
        return (
            "`looseleaf vouch` shows the lines without a known author, and you can say that they are yours."
        )
    if found["session"] and not found["facts"]:
        return "`looseleaf distill` makes facts of what was said."
    if not found["facts"] and found["others"]:
        from shlex import quote

        agent = quote(found["others"][0])
        return f"`looseleaf recall` finds what was said; `looseleaf sessions --agent {agent}` lists it."
    if not found["facts"]:
        return '`looseleaf remember "I prefer green tea."` adds a fact; `looseleaf doctor` checks the setup.'
    return '`looseleaf recall "…"` finds; `looseleaf prompt "…"` makes a prompt of it; `looseleaf facts` lists it.'


def _status_lines(found: dict[str, Any]) -> Iterator[str]:
    yield plain(found["memory"])
    pages, session = found["pages"], found["session"]
    named = f": {', '.join(pages[:4])}{', …' if len(pages) > 4 else ''}" if pages else ""
    yield f"  pages    {len(pages):,}{named}"
    in_topics = f" in {found['topics']:,} topic{'s' * (found['topics'] != 1)}" if found["facts"] else ""
    yield f"  facts    {found['facts']:,}{in_topics}"
    if session:
        turns = f"{session['turns']:,} turn{'s' * (session['turns'] != 1)}"
        yield f"  session  {when(session['last_ts'])}, {turns}: {clipped(session['opening'])}"
    elif not any(f"/traces/{found['agent']}/" in loss["log"] for loss in found["lost"]):
        yield f"  session  {plain(found['agent'])} has said nothing yet"
    if found["others"]:
        yield f"  others   {plain(', '.join(found['others']))}"
    if "layers" in found:
        yield f"  over     {plain(', '.join(layer['name'] + ': ' + layer['path'] for layer in found['layers']))}"
    waiting = f"{found['waiting']:,}" if found["waiting"] else "nothing"
    count = found["contested"]
    contested = f", {count:,} contested value{'s' * (count != 1)}" if count else ""
    yield f"  review   {waiting} waiting for your yes{contested}"
    if found["unexplained"]:
        they_count = "it counts" if found["unexplained"] == 1 else "they count"
        yield f"  vouch    {found['unexplained']:,} without a known author; {they_count} as inferred"
    if found["gone"]:
        facts = sum(found["gone"].values())
        yield f"  gone     {plain(', '.join(found['gone']))}, deleted outside, with {facts:,} fact{'s' * (facts != 1)}"
    for loss in found["lost"]:
        count = (
            "records"
            if loss["missing"] is None
            else f"{loss['missing']:,} record{'s' * (loss['missing'] != 1)}"
        )
        is_gone = not os.path.lexists(os.path.join(found["memory"], loss["log"]))
        yield f"  lost     {count} of {plain(loss['log'])}{', which is gone' * is_gone}"
    if found["held"]:
        named = f"{plain(found['held'][0]['path'])}{', …' * (len(found['held']) > 1)}"
        it = "it" if len(found["held"]) == 1 else "them"
        yield f"  held     {len(found['held']):,} until you settle {it}: {named}"
