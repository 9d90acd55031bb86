"""The verbs of the recorded talk: turns, sessions, window, compact, expand.

Arguments and printing only. All text goes out through `say`, and further lines of a message are indented past the
labels: no message can steer a terminal, or pass for another speaker's.
"""

from __future__ import annotations

from looseleaf.base.errors import NotFound, Refused
from looseleaf.base.paths import IMPORTER
from looseleaf.cli.output import (
    at_least_one,
    clipped,
    hung,
    next_step,
    on_terminal,
    open_memory,
    print_answer,
    print_json,
    print_notes,
    progress,
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
_NOTHING = "There are no messages yet."
_NOTHING_HERE = "Nothing was said on this machine yet."
_TO_RECORD = '`looseleaf record user "…"` records a message; `looseleaf import PATH` imports a history.'
_TO_READ = "`looseleaf turns --session ID` shows one."
_TO_FIND = "`looseleaf recall WORDS` finds it again; `looseleaf import PATH --mine` vouches for it."
_TO_LEARN = "`looseleaf distill` makes facts of what was said; `looseleaf recall WORDS` finds it again."


def turns(options: CliOptions) -> int:
    at_least_one(options.limit, LAST)
    with open_memory(options) as memory:
        if options.turn is not None:
            found = [memory.talk.turn(_turn_id(options.turn))]
        else:
            found = memory.talk.turns(options.limit, session=options.session)
        if options.session is not None and not any(turn.session_id == options.session for turn in found):
            where = f" in {options.turn}" if options.turn is not None else ""
            raise NotFound(
                f"Nothing was shown: there is no session {options.session!r}{where}. "
                "`looseleaf sessions` lists the last ones."
            )
        if options.json:
            told = [_turn_dict(turn) for turn in found]
            print_json(told[0] if options.turn is not None else told)
        else:
            is_list = options.turn is None and options.session is None
            elsewhere = _other_machines(memory) if is_list else ""
            if options.turn is None and found and on_terminal():
                table(("turn", "time", "who", "what"), _turn_rows(found))
            else:
                shown = [turn_text(turn, whole=options.turn is not None) for turn in found]
                nothing = _NOTHING_HERE if elsewhere else _NOTHING
                say("\n\n".join(shown) or _other_agents(memory) or nothing)
            if elsewhere:
                say(elsewhere)
        print_notes(memory)
        if options.turn is None:
            then = _TO_LEARN if memory.agent != IMPORTER else _TO_FIND
            _print_next(options, memory, then if found else "")
    return 0


def sessions(options: CliOptions) -> int:
    at_least_one(options.limit, LAST)
    with open_memory(options) as memory:
        found = memory.talk.sessions(options.limit)
        if options.json:
            print_json([session.to_dict() for session in found])
        elif found:
            rows = (
                (
                    each.session_id,
                    when(each.first_ts),
                    when(each.last_ts),
                    str(each.turns),
                    clipped(_opening(each)),
                )
                for each in found
            )
            heads = ("session", "from", "to", "turns", "began with")
            table(heads, rows, right=("turns",), lines=map(_session_line, found))
        else:
            say(_other_agents(memory) or _NOTHING)
        print_notes(memory)
        _print_next(options, memory, _TO_READ if found else "")
    return 0


def _session_line(each: Session) -> str:
    count = f"{each.turns} turn{'s' * (each.turns != 1)}"
    return f"{each.session_id}  {when(each.first_ts)} to {when(each.last_ts)}  {count:>9}  {_opening(each)}"


def _opening(each: Session) -> str:
    return f"(on {each.machine}) {each.opening}" if each.machine else each.opening


def _print_next(options: CliOptions, memory: Memory, there: str) -> None:
    """Print the next step; where no agent has said anything, how to record."""
    if there or not _other_agents(memory):
        next_step(options, there or _TO_RECORD)


def _other_machines(memory: Memory) -> str:
    """Return where the turns of other machines are: each machine numbers its own."""
    from looseleaf.log.talk_streams import agent_of, machine_of, talk_elsewhere

    streams = talk_elsewhere(memory.parts.context.store)
    names = sorted({machine_of(each) for each in streams if agent_of(each) == memory.agent})
    told = (
        f"What was said on {', '.join(names)}: `looseleaf sessions` lists it, `turns --session ID` shows it."
    )
    return told if names else ""


def _other_agents(memory: Memory) -> str:
    """Return which other agents have spoken, where this one has not; perhaps another is meant."""
    others = [name for name in memory.talk.agents() if name != memory.agent]
    there = f"there are traces of: {', '.join(others)} (--agent {others[0]})" if others else ""
    return f"{memory.agent} has said nothing here; {there}" if there else ""


def _turn_id(text: str) -> str:
    """Return the id of a turn, given as an id or a number, with or without leading zeros."""
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
            traces = memory.talk.traces(name)
            shown = (turn_text(turn, whole=True) for turn in turns_of(traces))
            text = "\n\n".join([*_entry_lines(memory, name), *shown])
            print_answer(options, [trace.to_record() for trace in traces], text)
        print_notes(memory)
    return 0


def _list_entries(memory: Memory, options: CliOptions) -> None:
    found = sorted(_read_entries(memory), key=lambda meta: meta["ts"])
    lines = map(_entry_line, found)
    nothing = f"No turn has left the window of {memory.agent} yet: there is no entry."
    print_answer(options, found, "\n".join(lines) or nothing)


def _entry_line(each: dict[str, Any]) -> str:
    size = f"{each['turns']:,} turn{'s' * (each['turns'] != 1)}, {each['tokens']:,} tokens"
    return f"{each['id']}  {when(each['ts'])}  {size:>24}  {clipped(each['distiller'])}"


def _read_entries(memory: Memory) -> Iterator[dict[str, Any]]:
    """Yield the entries of this agent's compactions. `check` names damaged ones."""
    for name in memory.parts.context.store.folders("log/entries/sessions"):
        try:
            meta = memory.talk.entry(f"sessions/{name}").meta
            if meta["agent"] == memory.agent and not _is_distilled(meta):
                dropped = meta["loss"]["dropped"]
                sizes = {each: int(dropped[each]) for each in ("turns", "traces", "tokens")}
                yield {"id": name, "ts": float(meta["ts"])} | sizes | {"distiller": str(meta["distiller"])}
        except (Refused, KeyError, TypeError, ValueError) as fault:
            why = str(fault) if isinstance(fault, Refused) else "`looseleaf check` says more."
            memory.notes.append(f"The entry {name} is not listed: it could not be read. {why}")


def _is_distilled(meta: dict[str, Any]) -> bool:
    """Return whether an entry only made facts and nothing left the window: there is no loss to report."""
    return "loss" not in meta and ("trust" in meta or "instead" in meta)


def _entry_lines(memory: Memory, name: str) -> Iterator[str]:
    """Yield an entry in a line, and the loss of its compaction; nothing for a turn or a trace."""
    from looseleaf.window.compaction_plan import Loss

    try:
        meta = memory.talk.entry(name).meta
    except Refused:
        return
    try:
        turns = meta["turn_ids"]
        head = f"entry {meta['id']} of {meta['agent']}, {when(meta['ts'])}: {turns[0]} to {turns[-1]}"
        if _is_distilled(meta):
            yield clipped(head)
            return
        # The place to find it again is left out: its text follows.
        report = Loss.from_dict(meta["loss"] | {"entry": None})
        yield f"{clipped(head)}\n  {hung(report.text, 2)}"
    except (KeyError, TypeError, ValueError, IndexError):
        yield f"entry {clipped(name)}: its report cannot be read. `looseleaf check` says more."


def window(options: CliOptions) -> int:
    with open_memory(options) as memory:
        messages, figures = memory.window.read().messages, _figures(memory, options.model)
        name = options.model or memory.policy.model
        if options.json:
            print_json(figures | {"messages": [message.to_dict() for message in messages]})
        else:
            parts = [_figures_line(len(messages), figures)]
            if not figures["known"] and memory.policy.context_tokens is None:
                size = memory.window.budget(name).max_context_tokens
                unknown = f"the model {name!r} is not known: {size:,} tokens are assumed; set context_tokens"
                parts[:0] = [unknown]
            if not messages and not figures["mark"] and _other_agents(memory):
                parts.append(_other_agents(memory))
            say("\n\n".join([*parts, *("\n".join(message_lines(message)) for message in messages)]))
        print_notes(memory)
    return 0


def _figures(memory: Memory, name: str | None) -> dict[str, Any]:
    from looseleaf.models.model_table import UNKNOWN, known_models, model

    now = memory.window.read()
    tokens, budget = memory.window.tokens(model=name), memory.window.budget(name)
    # Providers may count more tokens: the same margin as for messages of a call.
    row = model(name or memory.policy.model)
    room = int(budget.input / row.count_margin)
    return {
        "known": row is UNKNOWN or row.name in known_models(),
        "tokens": tokens,
        "budget": room,
        "mark": now.head.mark,
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
    with open_memory(options) as memory:
        with progress("compacting"):
            loss = memory.window.compact(model=options.model, dry_run=options.dry_run)
        options.done = "it was compacted; " if loss and not options.dry_run else ""
        if options.json:
            print_json(loss.to_dict() if loss else None)
        elif loss is None:
            say("There was nothing to compact: the window holds only its last turns, which stay.")
        else:
            if options.dry_run:
                say("A dry run: nothing was written. A compaction would leave this:")
            # The last line says where to find it again; after a dry run it has not moved.
            is_found = options.dry_run and loss.expand
            say(loss.text.rpartition("\n")[0] if is_found else loss.text)
        print_notes(memory)
    return 0


def _turn_dict(turn: Turn) -> dict[str, Any]:
    return {
        "turn_id": turn.turn_id,
        "session_id": turn.session_id,
        "ts": turn.ts,
        "traces": [trace.to_record() for trace in turn.traces],
    }


def turn_text(turn: Turn, *, whole: bool) -> str:
    lines = [f"{clipped(turn.turn_id)}  {when(turn.ts)}  session {clipped(turn.session_id)}"]
    for trace in turn.traces:
        lines += [
            f"  {label}: {hung(text if whole else clipped(text), 4)}"
            for label, text in trace_parts(trace, whole)
        ]
    return "\n".join(lines)


def _turn_rows(found: Sequence[Turn]) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each message; a turn is named once."""
    for turn in found:
        name, then = clipped(turn.turn_id), when(turn.ts)
        for trace in turn.traces:
            for label, text in trace_parts(trace, whole=False):
                yield name, then, label, clipped(text)
                name = then = ""


def trace_parts(trace: Trace, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield labels and texts of a trace; `whole`: also its reasoning, media and files."""
    from looseleaf.log.turns import trace_text

    if whole and trace.reasoning:
        yield "Reasoning", trace.reasoning
    remarks = [each for each in (trace.flag, *trace.tags) if each and (whole or each in _REMARKS)]
    label = trace.trace_type.replace("_", " ").capitalize()
    yield f"{label} [{clipped(', '.join(remarks))}]" if remarks else label, trace_text(trace)
    if whole:
        for kind, addresses in (trace.media or {}).items():
            if addresses:
                yield kind.capitalize(), ", ".join(addresses)
        if trace.tool_result_ref:
            yield "Kept in", trace.tool_result_ref


def message_lines(message: Message) -> Iterator[str]:
    """Yield a message as a model sees it; each part with its label."""
    return (f"{label}: {hung(text, 2)}" for label, text in message_parts(message))


def message_parts(message: Message) -> Iterator[tuple[str, str]]:
    from looseleaf.base.messages import ToolCallPayload
    from looseleaf.log.turns import as_text

    if message.reasoning_content:
        yield "Reasoning", message.reasoning_content
    if message.content is not None:
        yield message.role.capitalize(), message.content
    media = {"Images": message.image_urls, "Audio": message.audio_urls, "Video": message.video_urls}
    yield from ((label, ", ".join(addresses)) for label, addresses in media.items() if addresses)
    payload = message.tool_payload
    if isinstance(payload, ToolCallPayload):
        for call in payload.tool_calls:
            yield f"Tool call ({clipped(call.id)})", f"{call.name} {as_text(call.arguments)}"
    elif payload is not None:
        name = clipped(payload.tool_call_id)
        if payload.tool_result is not None or payload.tool_error is None:
            yield f"Tool result ({name})", as_text(payload.tool_result)
        if payload.tool_error is not None:
            yield f"Tool error ({name})", payload.tool_error
