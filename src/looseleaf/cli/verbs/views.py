"""The verbs that make facts of the talk, and show them by topic. Arguments and printing only."""

from __future__ import annotations

import sys

from looseleaf.base.errors import NotFound, Refused
from looseleaf.cli.output import (
    ACTS,
    PROBLEMS,
    SHORT_ID,
    ask,
    clipped,
    decode,
    next_step,
    open_memory,
    outcome_line,
    print_answer,
    print_json,
    print_notes,
    progress,
    read_input,
    say,
    table,
    words_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from looseleaf.base.messages import Distiller
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.memory import Memory
    from looseleaf.place.placer import Placed
    from looseleaf.place.redistill import Difference, FactDiff

_NAMED = 20
"""Topics that are named; more are counted."""


def distill(options: CliOptions) -> int:
    with open_memory(options) as memory:
        with progress("distilling"):
            placed = memory.distill(topic=options.topic)
        options.done = "it was distilled; "
        text = _placed_text(placed) if placed else "There was nothing new to distill."
        print_answer(options, [each.to_dict() for each in placed], text)
        print_notes(memory)
        next_step(options, _next_step(placed))
    return 0


def _next_step(placed: Sequence[Placed]) -> str:
    if any(
        outcome.act == "review" for each in placed for at in (each, *each.home) for outcome in at.outcomes
    ):
        return "`looseleaf review` goes through the facts that wait for your yes."
    if not placed:
        return '`looseleaf record user "…"` records a message; `looseleaf facts` lists the facts.'
    return "`looseleaf facts` lists the facts; `looseleaf why` with an id of these shows why."


def write(options: CliOptions) -> int:
    with open_memory(options) as memory:
        text = decode(read_input(options.path, "written"), options.path or "standard input", "written")
        with progress("distilling"):
            placed = memory.distill(text, topic=options.topic, author="person" if options.mine else None)[0]
        options.done = "it was written; "
        print_answer(options, placed.to_dict(), _placed_text([placed]))
        print_notes(memory)
        next_step(options, _next_step([placed]) if placed.outcomes else _NO_FACTS)
    return 0


_NO_FACTS = (
    "`looseleaf recall WORDS` finds the text; "
    '`looseleaf remember "I prefer green tea."` keeps a fact in your words.'
)


def _placed_text(placed: Sequence[Placed]) -> str:
    """Return the outcome of each proposal, and a summary."""
    outcomes = [outcome for each in placed for outcome in each.outcomes]
    counts = {act: sum(outcome.act == act for outcome in outcomes) for act in ACTS}
    words = ACTS | ({"review": "wait in review"} if counts["review"] > 1 else {})
    told = ", ".join(f"{count} {words[act]}" for act, count in counts.items() if count)
    entries = f"{len(placed)} {'entry' if len(placed) == 1 else 'entries'}"
    hint = " `looseleaf facts --pending` lists those that wait for your yes." if counts["review"] else ""
    home = [outcome for each in placed for sent in each.home for outcome in sent.outcomes]
    elsewhere = ("In the home memory:", *map(outcome_line, home)) if home else ()
    lines = (*map(outcome_line, outcomes), *elsewhere)
    if home and not told:
        told = f"all of {'its' if len(placed) == 1 else 'their'} facts went home"
    elif home:
        told += f", {len(home)} at home"
    return "\n".join((*lines, f"{entries}: {told or 'no facts'}.{hint}"))


def topics(options: CliOptions) -> int:
    with open_memory(options) as memory:
        names = memory.views.topics()
        known = memory.parts.known.topics
        far = {name for _, topics in memory.parts.farther(lambda far: far.known.names) for name in topics}
        found = [(name, len(memory.facts(topic=name)) if name in far else known[name][2]) for name in names]
        if options.json:
            print_json([{"topic": name, "facts": count} for name, count in found])
        elif found:
            lines = (f"{name}  {count} fact{'s' * (count != 1)}" for name, count in found)
            rows = ((f"{count:,}", name) for name, count in found)
            table(("facts", "topic"), rows, right=("facts",), lines=lines)
        else:
            say("There are no topics yet.")
        print_notes(memory)
    return 0


def topic(options: CliOptions) -> int:
    from looseleaf.views.topic_memory import topic_md

    with open_memory(options) as memory:
        found = memory.views.topic(options.name, as_of=options.as_of)
        print_answer(options, found, topic_md(found).removesuffix("\n"))
        print_notes(memory)
    return 0


def whole(options: CliOptions) -> int:
    """Run the verb `global`."""
    from looseleaf.views.essentials import global_md

    with open_memory(options) as memory:
        found = memory.views.overview(as_of=options.as_of)
        print_answer(options, found, global_md(found).removesuffix("\n"))
        print_notes(memory)
    return 0


def index(options: CliOptions) -> int:
    with open_memory(options) as memory:
        found = memory.pages.index()
        rows = [{"path": each.path, "size": each.size, "summary": each.summary} for each in found]
        lines = (f"{each.path}  {each.size:,} bytes  {clipped(each.summary)}".rstrip() for each in found)
        print_answer(options, rows, "\n".join(lines) or "There are no pages in facts/ or episodes/ yet.")
        print_notes(memory)
    return 0


def build(options: CliOptions) -> int:
    with open_memory(options) as memory:
        # Before anything reads: a reader takes a missing page for one that a person removed.
        restored = memory.history.restore() if options.pages else []
        with progress("building", "topics") as step:
            built = memory.views.build(full=options.full, progress=step)
        with progress("indexing", "bytes") as step:
            vectors = memory.views.build_index(full=options.full, progress=step)
        options.done = "it was built; "
        if options.json:
            again = {"restored": restored} if options.pages else {}
            print_json(again | {"made": list(built.made), "topics": built.topics, "vectors": vectors})
        else:
            for path in restored:
                say(f"{path} is restored")
            if options.pages and not restored:
                say(
                    "No page was missing. A page that was gone when another command ran counts as removed by you: "
                    "`looseleaf undo PAGE` brings it back."
                )
            named = ", ".join(built.made[:_NAMED])
            more = f" and {len(built.made) - _NAMED:,} more" if len(built.made) > _NAMED else ""
            done = f"made again: {named}{more}" if built.made else "nothing had changed"
            texts = "1 text was" if vectors == 1 else f"{vectors:,} texts were"
            embedded = f" {texts} embedded." if vectors else ""
            say(f"{built.topics:,} topic{'s' * (built.topics != 1)}; {done}.{embedded}")
        print_notes(memory)
    return 0


def tidy(options: CliOptions) -> int:
    with open_memory(options) as memory:
        with progress("tidying"):
            found = memory.review.tidy(dry_run=options.dry_run)
        options.done = "" if options.dry_run else "it was tidied; "
        if options.json:
            print_json(found.to_dict() | {"dry_run": options.dry_run})
        else:
            joined = {fact.id for fact in found.merged}
            what = "would move" if options.dry_run else "moved"
            for fact in found.moved:
                there = " (stands there already)" if fact.id in joined else ""
                say(f"{what}  {(fact.id or '')[:SHORT_ID]}  {words_of(fact)}{there}")
            count = f"{len(found.moved):,} fact{'s' * (len(found.moved) != 1)}"
            done = f"{count} {what} to facts/user.md: from {found.before:,} to {found.after:,} tokens"
            stays = f"nothing to move: USER.md has {found.before:,} tokens"
            say(f"{done if found.moved else stays}, of at most {found.limit:,}.")
            if found.note:
                say(found.note)
        print_notes(memory)
    return 0


def redistill(options: CliOptions) -> int:
    with open_memory(options) as memory:
        distiller = _load_distiller(memory, options.distiller)
        if options.distiller == "model" and distiller is not None and not options.yes:
            _ask_to_send(memory, distiller)
        with progress("distilling again", "entries") as step:
            found = memory.review.redistill(distiller, apply=options.apply, progress=step)
        options.done = "it was redistilled; " if options.apply else ""
        lines = (*map(_change_line, found.changes), *(f"failed: {clipped(each)}" for each in found.failures))
        text = "\n".join((*lines, _difference_line(found, options)))
        print_answer(options, found.to_dict() | {"applied": options.apply}, text)
        print_notes(memory)
    return PROBLEMS if found.failures else 0


def _ask_to_send(memory: Memory, distiller: Distiller) -> None:
    """Ask a person before words go to a model and cost money."""
    from looseleaf.log.entries import read_entry

    count = 0  # of entries that another distiller made
    memory.parts.placer.catch_up()
    for reference in memory.parts.known.placed():
        try:
            meta = read_entry(memory.parts.context.store, reference).meta
            count += meta.get("distiller") != distiller.name
        except Refused:
            continue  # `check` names it
    if not count:
        return
    entries = "1 entry" if count == 1 else f"up to {count:,} entries"
    model = clipped(memory.parts.model.name if memory.parts.model is not None else distiller.name)
    what = f"the sources of {entries} to {model}"
    ask(
        f"Send {what}?",
        no_terminal=f"Nothing was distilled: there is no terminal to ask whether to send {what}. "
        "Give --yes to send them.",
        no=f"Nothing was distilled: nothing was sent to {model}. Answer `y` to have it sent.",
    )


def _change_line(change: FactDiff) -> str:
    was = f"{clipped(change.was)} → " if change.was is not None else ""
    return f"{change.what:<7}  {clipped(change.topic)}  {clipped(change.relation)}: {was}{clipped(change.object)}"


def _difference_line(found: Difference, options: CliOptions) -> str:
    counts = [
        f"{sum(each.what == what for each in found.changes)} {what}" for what in ("gained", "lost", "changed")
    ]
    if not found.entries:
        return f"{clipped(found.distiller)}: there is no entry of another distiller. Nothing was changed."
    if len(found.failures) == found.entries:
        which = "the only entry" if found.entries == 1 else f"all {found.entries:,} entries"
        return (
            f"{clipped(found.distiller)}: it failed on {which}, so nothing was compared. Nothing was changed."
        )
    read = f"the sources of {found.read:,} of {found.entries:,} entries were read"
    done = "It is applied." if options.apply else "Nothing was changed."
    if found.changes and not options.apply:
        done += f" To switch: looseleaf redistill --with {options.distiller} --apply"
    failed = f"; it failed on {len(found.failures):,}" if found.failures else ""
    return f"{clipped(found.distiller)}: {', '.join(counts)}; {read}{failed}. {done}"


FOREIGN_ERRORS = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, OSError, RuntimeError),
    *(SyntaxError, TypeError, ValueError),
)
"""Errors that loading foreign code may raise."""


def _load_distiller(memory: Memory, name: str) -> Distiller | None:
    """Return the distiller of a name: the rules (None), a model, or a distiller or its class in a module."""
    if name == "rules":
        return None
    if name == "model":
        return memory.parts.model_distiller()
    import os
    import pkgutil

    if not all(part.isidentifier() for part in name.replace(":", ".", 1).split(".")):
        raise NotFound(
            f"Nothing was distilled: there is no distiller {name!r}. Give rules, model (set by `provider` "
            "and `model` in looseleaf.toml), or package.module:attribute."
        )
    try:
        # Last on the path: a module of the project can be named, and shadows nothing.
        sys.path.append(os.getcwd())
        found: Any = pkgutil.resolve_name(name)
        found = found() if isinstance(found, type) else found
        is_one = isinstance(getattr(found, "name", None), str) and callable(getattr(found, "distill", None))
    except FOREIGN_ERRORS as error:
        why = f"it could not be loaded ({type(error).__name__}: {error})"
    else:
        if is_one:
            given: Distiller = found
            return given
        why = "it has no `name` and `distill`"
    raise NotFound(
        f"Nothing was distilled: there is no distiller {name!r}: {why}. Give rules, model, or "
        "package.module:attribute."
    )
