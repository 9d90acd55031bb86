"""The commands of the conversation, once recorded: read it back, see what a model is told, compact it, open it again.

Arguments and printing only. All text goes out through `say`, and further lines of what somebody said stand to the
right of the labels: nothing that was said can steer a terminal, or pass for what another said.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.base.paths import IMPORTER
from looseleaf.cli.output import (
    at_least_one,
    clipped,
    hung,
    next_step,
    on_terminal,
    open_memory,
    print_json,
    print_notes,
    say,
    table,
    when,
)
from looseleaf.cli.verb_table import LAST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from looseleaf.base.messages import Message, Session, Trace, Turn
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.memory import Memory

_REMARKS = ("no_call", "second_result", "interrupted")
_NOTHING = "Nothing was said yet."
_TO_RECORD = '`looseleaf record user "…"` records what is said; `looseleaf import PATH` takes in a history.'
_TO_READ = "`looseleaf turns --session ID` shows what was said in one."
_TO_FIND = "`looseleaf recall WORDS` finds it again; `looseleaf import PATH --mine` vouches for it."
_TO_LEARN = "`looseleaf distill` makes facts of what was said; `looseleaf recall WORDS` finds it again."


# --- reading ---------------------------------------------------------------------------


def turns(options: CliOptions) -> int:
    at_least_one(options.limit, LAST)
    with open_memory(options) as memory:
        if options.turn is not None:
            found = [memory.turn(_turn_id(options.turn))]
        else:
            found = memory.turns(options.limit, session=options.session)
        if options.session is not None and not any(turn.session_id == options.session for turn in found):
            where = f" in {options.turn}" if options.turn is not None else ""
            raise Refused(
                f"Nothing was shown: there is no session {options.session!r}{where}. "
                "`looseleaf sessions` lists the last ones."
            )
        if options.json:
            told = [_turn_dict(turn) for turn in found]
            print_json(told[0] if options.turn is not None else told)
        else:
            shown = [_turn(turn, whole=options.turn is not None) for turn in found]
            if options.turn is None and found and on_terminal():
                table(("turn", "time", "who", "what"), _turn_rows(found))
            else:
                say("\n\n".join(shown) or _elsewhere(memory) or _NOTHING)
        print_notes(memory)
        if options.turn is None:
            _tell_next(
                options, memory, (_TO_LEARN if memory.agent != IMPORTER else _TO_FIND) if found else ""
            )
    return 0


def sessions(options: CliOptions) -> int:
    at_least_one(options.limit, LAST)
    with open_memory(options) as memory:
        found = memory.sessions(options.limit)
        if options.json:
            print_json([session.to_dict() for session in found])
        elif found:
            rows = (
                (
                    each.session_id,
                    when(each.first_ts),
                    when(each.last_ts),
                    str(each.turns),
                    clipped(each.opening),
                )
                for each in found
            )
            heads = ("session", "from", "to", "turns", "began with")
            table(heads, rows, right=("turns",), lines=map(_session_line, found))
        else:
            say(_elsewhere(memory) or _NOTHING)
        print_notes(memory)
        _tell_next(options, memory, _TO_READ if found else "")
    return 0


def _session_line(each: Session) -> str:
    count = f"{each.turns} turn{'s' * (each.turns != 1)}"
    return f"{each.session_id}  {when(each.first_ts)} to {when(each.last_ts)}  {count:>9}  {each.opening}"


def _tell_next(options: CliOptions, memory: Memory, there: str) -> None:
    """What is done with what is there; where nothing is, not even of another agent, how something comes to be."""
    if there or not _elsewhere(memory):
        next_step(options, there or _TO_RECORD)


def _elsewhere(memory: Memory) -> str:
    """Who has said something, where this agent has not: perhaps another is meant."""
    others = [name for name in memory.agents() if name != memory.agent]
    there = f"there are traces of: {', '.join(others)} (--agent {others[0]})" if others else ""
    return f"{memory.agent} has said nothing here; {there}" if there else ""


def _turn_id(text: str) -> str:
    """A turn may be named by its number, with or without zeros in front."""
    number = text.removeprefix("turn_")
    return f"turn_{number:0>4}" if number.isascii() and number.isdecimal() and len(number) <= 12 else text


# --- what left the window --------------------------------------------------------------


def expand(options: CliOptions) -> int:
    from looseleaf.log.turns import turns_of

    with open_memory(options) as memory:
        if options.entry is None:
            _list_entries(memory, options)
        else:
            name = _turn_id(options.entry)
            traces = memory.expand(name)
            if options.json:
                print_json([trace.to_record() for trace in traces])
            else:
                shown = (_turn(turn, whole=True) for turn in turns_of(traces))
                say("\n\n".join([*_about(memory, name), *shown]))
        print_notes(memory)
    return 0


def _list_entries(memory: Memory, options: CliOptions) -> None:
    found = sorted(_entries(memory), key=lambda meta: meta["ts"])
    if options.json:
        print_json(found)
    for each in found if not options.json else ():
        size = f"{each['turns']:,} turn{'s' * (each['turns'] != 1)}, {each['tokens']:,} tokens"
        say(f"{each['id']}  {when(each['ts'])}  {size:>24}  {clipped(each['distiller'])}")
    if not found and not options.json:
        say(f"No turn has left the window of {memory.agent} yet: there is no entry.")


def _entries(memory: Memory) -> Iterator[dict[str, Any]]:
    """The entries that compactions of this agent made. What is damaged is named by `check`."""
    for name in memory.store.folders("log/entries/sessions"):
        try:
            meta = memory.entry(f"sessions/{name}").meta
            if meta["agent"] == memory.agent and not _is_distilled(meta):
                dropped = meta["loss"]["dropped"]
                sizes = {each: int(dropped[each]) for each in ("turns", "traces", "tokens")}
                yield {"id": name, "ts": float(meta["ts"])} | sizes | {"distiller": str(meta["distiller"])}
        except (Refused, KeyError, TypeError, ValueError) as fault:
            why = str(fault) if isinstance(fault, Refused) else "`looseleaf check` says more."
            memory.notes.append(f"The entry {name} is not listed: it could not be read. {why}")


def _is_distilled(meta: dict[str, Any]) -> bool:
    """Whether facts were made of it and nothing left the window: there is no loss to report."""
    return "loss" not in meta and ("trust" in meta or "instead" in meta)


def _about(memory: Memory, name: str) -> Iterator[str]:
    """An entry in a line, and what its compaction lost; nothing for a turn or a trace."""
    from looseleaf.window.compaction_plan import Loss

    try:
        meta = memory.entry(name).meta
    except Refused:
        return
    try:
        turns = meta["turn_ids"]
        head = f"entry {meta['id']} of {meta['agent']}, {when(meta['ts'])}: {turns[0]} to {turns[-1]}"
        if _is_distilled(meta):
            yield clipped(head)
            return
        # Where it is to be found again is known: it follows.
        report = Loss.from_dict(meta["loss"] | {"entry": None})
        yield f"{clipped(head)}\n  {hung(report.text, 2)}"
    except (KeyError, TypeError, ValueError, IndexError):
        yield f"entry {clipped(name)}: its report cannot be read. `looseleaf check` says more."


# --- the window ------------------------------------------------------------------------


def window(options: CliOptions) -> int:
    with open_memory(options) as memory:
        messages, figures = memory.window().messages, _figures(memory, options.model)
        name = options.model or memory.policy.model
        if options.json:
            print_json(figures | {"messages": [message.to_dict() for message in messages]})
        else:
            parts = [_figures_line(len(messages), figures)]
            if not figures["known"] and memory.policy.context_tokens is None:
                size = memory.budget(name).max_context_tokens
                unknown = f"the model {name!r} is not known: {size:,} tokens are assumed; set context_tokens"
                parts[:0] = [unknown]
            if not messages and not figures["mark"] and _elsewhere(memory):
                parts.append(_elsewhere(memory))
            say("\n\n".join([*parts, *("\n".join(_message(message)) for message in messages)]))
        print_notes(memory)
    return 0


def _figures(memory: Memory, name: str | None) -> dict[str, Any]:
    from looseleaf.models.model_table import MODELS, UNKNOWN, model

    now = memory.window()
    tokens, budget = memory.window_tokens(model=name), memory.budget(name)
    # What is counted here may be more elsewhere: the same margin as when messages are made for a call.
    row = model(name or memory.policy.model)
    room = int(budget.input / row.count_margin)
    return {
        "known": row is UNKNOWN or row.name in MODELS,
        "tokens": tokens,
        "budget": room,
        "mark": now.mark.id if now.mark else None,
        "entry": now.mark.entry if now.mark else None,
        "since": now.mark.since if now.mark else None,
        "requested": now.flag,
        "due": now.flag is not None or tokens > room,
    }


def _figures_line(messages: int, figures: dict[str, Any]) -> str:
    since = "since the beginning"
    if figures["mark"]:
        since = f"since the compaction {figures['mark']}"
        if figures["entry"]:
            since += f" (looseleaf expand {figures['entry'].rpartition('/')[2]})"
    asked = f", asked for ({figures['requested']})" if figures["requested"] else ""
    due = f"a compaction is due{asked}" if figures["due"] else "no compaction is due"
    many = "message" if messages == 1 else "messages"
    return f"{messages} {many}, {figures['tokens']:,} of {figures['budget']:,} tokens, {since}; {due}"


def compact(options: CliOptions) -> int:
    from looseleaf.cli.output import progress

    with open_memory(options) as memory:
        with progress("compacting"):
            loss = memory.compact(model=options.model, dry_run=options.dry_run)
        options.done = "it was compacted; " if loss and not options.dry_run else ""
        if options.json:
            print_json(loss.to_dict() if loss else None)
        elif loss is None:
            say("There was nothing to compact: the window holds no more than its last turns, which stay.")
        else:
            if options.dry_run:
                say("A dry run: nothing was written. A compaction would leave this:")
            # The last line says where it is to be found again; after a dry run it is where it was.
            is_found = options.dry_run and loss.expand
            say(loss.text.rpartition("\n")[0] if is_found else loss.text)
        print_notes(memory)
    return 0


# --- as text ---------------------------------------------------------------------------


def _turn_dict(turn: Turn) -> dict[str, Any]:
    return {
        "turn_id": turn.turn_id,
        "session_id": turn.session_id,
        "ts": turn.ts,
        "traces": [trace.to_record() for trace in turn.traces],
    }


def _turn(turn: Turn, *, whole: bool) -> str:
    lines = [f"{clipped(turn.turn_id)}  {when(turn.ts)}  session {clipped(turn.session_id)}"]
    for trace in turn.traces:
        lines += [
            f"  {label}: {hung(text if whole else clipped(text), 4)}" for label, text in _said(trace, whole)
        ]
    return "\n".join(lines)


def _turn_rows(found: Sequence[Turn]) -> Iterator[tuple[str, str, str, str]]:
    """What was said, a row each; a turn is named once."""
    for turn in found:
        name, then = clipped(turn.turn_id), when(turn.ts)
        for trace in turn.traces:
            for label, text in _said(trace, whole=False):
                yield name, then, label, clipped(text)
                name = then = ""


def _said(trace: Trace, whole: bool) -> Iterator[tuple[str, str]]:
    """Labels and texts: what was said, and (of the whole) what came with it."""
    from looseleaf.log.trace_messages import said

    if whole and trace.reasoning:
        yield "Reasoning", trace.reasoning
    remarks = [each for each in (trace.flag, *trace.tags) if each and (whole or each in _REMARKS)]
    label = trace.trace_type.replace("_", " ").capitalize()
    yield f"{label} [{clipped(', '.join(remarks))}]" if remarks else label, said(trace)
    if whole:
        for kind, addresses in (trace.media or {}).items():
            if addresses:
                yield kind.capitalize(), ", ".join(addresses)
        if trace.tool_result_ref:
            yield "Kept in", trace.tool_result_ref


def _message(message: Message) -> Iterator[str]:
    """A message as a model is told it, in lines; each part with its label."""
    for label, text in _parts(message):
        yield f"{label}: {hung(text, 2)}"


def _parts(message: Message) -> Iterator[tuple[str, str]]:
    from looseleaf.base.messages import ToolCallPayload
    from looseleaf.log.trace_messages import as_text

    if message.reasoning_content:
        yield "Reasoning", message.reasoning_content
    if message.content is not None:
        yield message.role.capitalize(), message.content
    for label, addresses in (
        ("Images", message.image_urls),
        ("Audio", message.audio_urls),
        ("Video", message.video_urls),
    ):
        if addresses:
            yield label, ", ".join(addresses)
    payload = message.tool_payload
    if isinstance(payload, ToolCallPayload):
        for call in payload.tool_calls:
            yield f"Tool call ({clipped(call.id)})", f"{call.name} {as_text(call.arguments)}"
    elif payload is not None:
        if payload.tool_result is not None or payload.tool_error is None:
            yield f"Tool result ({clipped(payload.tool_call_id)})", as_text(payload.tool_result)
        if payload.tool_error is not None:
            yield f"Tool error ({clipped(payload.tool_call_id)})", payload.tool_error
