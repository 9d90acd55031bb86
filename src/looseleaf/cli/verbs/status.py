"""What `looseleaf` alone says: where the memory is and how it is, or what this program does and how one begins."""

from __future__ import annotations

import os

from looseleaf.cli.output import clipped, next_step, open_memory, plain, print_json, print_notes, say, when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.cli.arguments import Options
    from looseleaf.memory import Memory

_ABOUT = (
    "looseleaf is a memory for LLM agents: a folder of Markdown that you can read, edit, grep, diff and take "
    "with you.\nThere is no memory here, above, or at ~/.looseleaf."
)
_BEGIN = (
    "`looseleaf init` makes a memory here; `looseleaf demo` shows all of it work in some seconds; "
    "`looseleaf --help` lists the verbs."
)


def status(options: Options) -> int:
    if options.memory is None and not os.environ.get("LOOSELEAF_HOME") and _is_nowhere():
        if options.json:
            print_json({"memory": None, "next": _BEGIN})
        else:
            say(_ABOUT)
            next_step(options, _BEGIN)
        return 0
    with open_memory(options) as memory:
        found = _found(memory)
        if options.json:
            print_json(found)
        else:
            say("\n".join(_lines(found)))
        print_notes(memory)
        next_step(options, found["next"])
    return 0


def _is_nowhere() -> bool:
    from looseleaf.pages.folder import find

    return not os.path.lexists(find())


def _found(memory: Memory) -> dict[str, Any]:
    topics = memory.topics()
    known = memory._book.known.topics
    last = next(iter(memory.sessions(1)), None)
    found: dict[str, Any] = {
        "memory": os.path.abspath(memory.path),
        "agent": memory.agent,
        "pages": memory.pages(),
        "facts": sum(known[name][2] for name in topics),
        "topics": sum(known[name][2] > 0 for name in topics),
        "waiting": len(memory.facts(status="pending")),
        "session": last.to_dict() if last is not None else None,
        "others": [name for name in memory.agents() if name != memory.agent],
    }
    return found | {"next": _next(found)}


def _next(found: dict[str, Any]) -> str:
    if found["waiting"]:
        return "`looseleaf review` goes through what waits for your yes."
    if found["session"] and not found["facts"]:
        return "`looseleaf distill` makes facts of what was said."
    if not found["facts"] and found["others"]:
        from shlex import quote

        agent = quote(found["others"][0])
        return f"`looseleaf recall` finds what was said; `looseleaf sessions --agent {agent}` lists it."
    if not found["facts"]:
        return '`looseleaf remember "I prefer green tea."` tells it something; `looseleaf doctor` looks at all of it.'
    return '`looseleaf recall "…"` finds; `looseleaf prompt "…"` makes a prompt of it; `looseleaf facts` lists it.'


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield plain(found["memory"])
    pages, session = found["pages"], found["session"]
    named = f": {', '.join(pages[:4])}{', …' if len(pages) > 4 else ''}" if pages else ""
    yield f"  pages    {len(pages):,}{named}"
    in_topics = f" in {found['topics']:,} topic{'s' * (found['topics'] != 1)}" if found["facts"] else ""
    yield f"  facts    {found['facts']:,}{in_topics}"
    if session:
        turns = f"{session['turns']:,} turn{'s' * (session['turns'] != 1)}"
        yield f"  session  {when(session['last_ts'])}, {turns}: {clipped(session['opening'])}"
    else:
        yield f"  session  {plain(found['agent'])} has said nothing yet"
    if found["others"]:
        yield f"  others   {plain(', '.join(found['others']))}"
    waiting = f"{found['waiting']:,}" if found["waiting"] else "nothing"
    yield f"  review   {waiting} waits for your yes"
