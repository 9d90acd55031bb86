"""The verbs `review`, `vouch` and `forget`. Arguments and printing only.

`forget` shows what would go, asks, removes it, and reports what a search of every byte finds afterwards.
"""

from __future__ import annotations

import sys

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.cli.output import (
    ask,
    choose_fact,
    clipped,
    named_facts,
    next_step,
    open_memory,
    plain,
    print_json,
    print_notes,
    progress,
    say,
    table,
    when,
)
from looseleaf.place.placer import PATH, under
from looseleaf.text.lines import worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Fact
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.forget.forget import Forgotten
    from looseleaf.memory import Memory


_KINDS = {
    "traces": ("message or tool call", "messages and tool calls"),
    "entries": ("entry", "entries"),
    "facts": ("fact", "facts"),
    "lines": ("line of pages, now or in their history", "lines of pages, now or in their history"),
    "prompts": ("prompt in the log", "prompts in the log"),
    "others": (
        "file that holds it elsewhere: in a reason, a damaged line, or a copy",
        "files that hold it elsewhere: in a reason, a damaged line, or a copy",
    ),
}
_SHOWN = 3
"""Places that are named; `--json` lists all."""

_LISTED = 100
"""Lines that are listed before asking; `--json` has all."""

_NOT_SEARCHED = (
    "Copies, backups, the history of a git repository and the blocks of the disk are not searched."
)


def vouch(options: CliOptions) -> int:
    with open_memory(options) as memory:
        every = memory.review.unexplained()
        found = [
            fact for fact in every if not options.lines or any(_is_named(fact, at) for at in options.lines)
        ]
        if every and not found:
            raise NotFound(
                "Nothing was vouched for: no line without a known author fits that. `looseleaf vouch` shows them all."
            )
        if found and not options.yes:
            if not options.json:
                _print_lines(found)
            ask(
                "Do you vouch for these lines, as if you had written them?",
                no_terminal="Nothing was vouched for: there is no terminal to ask at. `--yes` does it without asking.",
                no="Nothing was vouched for.",
            )
        done = memory.review.vouch([fact.id or "" for fact in found]) if found else []
        options.done = "you vouched for them; " if done else ""
        if options.json:
            print_json([fact.to_dict() for fact in done])
        elif not done:
            say("There is nothing to vouch for: the journal says who wrote each line.")
        else:
            count = f"{len(done):,} lines are" if done[1:] else "1 line is"
            say(f"{count} confirmed, on your word.")
            next_step(options, "`looseleaf undo` takes that back.")
        print_notes(memory)
    return 0


def _is_named(fact: Fact, at: str) -> bool:
    """Return True if an argument names a fact: by its page, its place, its id, or words of it."""
    if at in (fact.path, f"{fact.path}:{fact.line}"):
        return True
    is_id = at.startswith("f_") and (fact.id or "").startswith(at)
    return is_id or at.casefold() in worded(fact.relation, fact.object).casefold()


def _print_lines(found: list[Fact]) -> None:
    for fact in found[:_LISTED]:
        say(f"{fact.path}:{fact.line}  {clipped(worded(fact.relation, fact.object))}")
    if len(found) > _LISTED:
        say(f"… and {len(found) - _LISTED:,} more; `looseleaf facts --json` has all.")


def forget(options: CliOptions) -> int:
    from looseleaf.transfer.export_folder import last_copy

    if options.what is not None and options.fact is not None:
        raise Invalid("Nothing was forgotten: the fact was given twice. Leave out --fact.")
    given = {
        "fact": options.fact if options.what is None else options.what,
        "topic": options.topic,
        "session": options.session,
        "origin": options.origin,
        "match": options.match,
    }
    with open_memory(options) as memory:
        if given["fact"]:
            given["fact"] = _resolve_fact(memory, options, given["fact"])
        if options.dry_run or not options.yes:
            told = memory.forget(**given, agent=options.agent, dry_run=True)
            if options.dry_run or (told.is_nothing and told.probe is not None):
                print_json(told.to_dict()) if options.json else _print_forgotten(told)
                print_notes(memory)
                if options.dry_run and not told.is_nothing:
                    next_step(options, "nothing has changed. Replace `--dry-run` with `--yes` to do it.")
                return _exit_code(told)
            if not options.json:
                _print_forgotten(told)
            ask(
                "Forget all of this? It cannot be undone.",
                no_terminal="Nothing was forgotten: there is no terminal to ask at. `--dry-run` shows what would go, "
                "`--yes` does it without asking.",
                no="Nothing was forgotten.",
            )
        copy = last_copy(memory.path)  # what is forgotten takes the views with it
        with progress("forgetting"):
            done = memory.forget(**given, agent=options.agent)
        print_json(done.to_dict()) if options.json else _print_forgotten(done)
        if copy is not None and done.id and not options.json:
            day = when(copy[1])[:10]
            say(f"The export of {day} may still hold it: {copy[0]}. Delete it, and export again.")
        print_notes(memory)
        if not done.probe or not done.probe.hits:
            next_step(options, "`looseleaf check` checks the rest; a forgotten text cannot be restored.")
    return _exit_code(done)


def _resolve_fact(memory: Memory, options: CliOptions, words: str) -> str:
    """Return the id of the fact that words name: the line that is shown is the one that goes.

    An id or place stays as it is where nothing is asked: `Memory.forget` knows what was forgotten there before.
    """
    from looseleaf.facts.identity import is_exact

    found = named_facts(memory, words)
    if is_exact(words) and (options.yes or options.dry_run or not found):
        return words
    if not found:
        from shlex import quote

        raise NotFound(
            f"Nothing was forgotten: no fact fits {clipped(words)!r}. `looseleaf forget --match {quote(words)}` "
            "removes every sentence and line with these words."
        )
    return choose_fact(memory, options, words, done="forgotten").id or ""


def _exit_code(told: Forgotten) -> int:
    return 0 if told.is_complete else 1


def _print_forgotten(told: Forgotten) -> None:
    if told.layers or told.unwritten:
        _print_layers(told)
        return
    if told.layer:
        say(f"In the layer {told.layer}:")
    if told.is_nothing:
        say(f"Nothing is left of the {told.by}: it was forgotten before.")
    else:
        say("Forgotten:" if told.id else "What would go:")
    for name, (one, many) in _KINDS.items():
        count = told.counts.get(name, 0)
        if count:
            say(f"  {count:,} {one if count == 1 else many}")
            if not told.id:
                shown = told.first.get(name, ())[:_LISTED]
                for text in shown:
                    say(f"      {clipped(text)}")
                if shown and count > len(shown):
                    say(f"      … and {count - len(shown):,} more")
    if told.mentions:
        count = len(told.mentions)
        more = f" and {count - _SHOWN:,} more" if count > _SHOWN else ""
        say(
            f"Its value is also named in {count:,} other {'place' if count == 1 else 'places'}, which "
            f"{'stays' if count == 1 else 'stay'}: {', '.join(told.mentions[:_SHOWN])}{more}. "
            "`forget --match` with the value removes these too."
        )
    if told.probe is not None:
        read = f"{told.probe.files:,} files, {told.probe.bytes:,} bytes"
        say(f"Every byte was read ({read}): {_probe_result(told)}")
        if told.probe.theirs:
            say(f"Still in files of yours: {', '.join(told.probe.theirs)}")
        if told.id:
            say(f"{_NOT_SEARCHED} Receipt {told.id}.")


def _print_layers(told: Forgotten) -> None:
    own = told.but(layers=(), unwritten=())
    if own.is_nothing:
        say("In this memory: nothing.")
    else:
        _print_forgotten(own)
    for each in told.layers:
        _print_forgotten(each)
    for why in told.unwritten:
        say(f"Not complete: the layer {why}")


def _probe_result(told: Forgotten) -> str:
    assert told.probe is not None
    if not told.probe.hits:
        return "0 hits." if not told.mentions else "0 hits, not counting the places that stay."
    hits = told.probe.hits
    more = (
        f" and {len(hits) - _SHOWN:,} more file{'s' * (len(hits) > _SHOWN + 1)}" if len(hits) > _SHOWN else ""
    )
    where = f"it is still in {', '.join(hits[:_SHOWN])}{more}."
    if told.names:
        return f"{where} It is a name there, of {'; '.join(told.names)}, and names stay."
    return (
        f"{where} If it was written meanwhile, running this again removes it; if not, other programs left "
        "these files: delete them, or move them out of the memory."
    )


_QUESTION = "yes, no, later or quit? [y/n/l/q] "
_HOW = "`looseleaf approve ID` or `looseleaf reject ID` decides; or tick and delete lines in {}."


def review(options: CliOptions) -> int:
    with open_memory(options) as memory:
        waiting = memory.facts(status="pending")
        reasons = under(memory.pages.read(PATH).text)
        if options.json:
            print_json([fact.to_dict() | {"why": reasons.get(fact.id or "", "")} for fact in waiting])
        elif not waiting:
            say("Nothing waits for review.")
            next_step(options, "`looseleaf facts` lists the facts.")
        elif sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
            _ask_each(memory, waiting, reasons, options)
        else:
            rows = (
                (
                    str(number),
                    fact.id or "",
                    fact.level or "",
                    reasons.get(fact.id or "", ""),
                    _words_of(fact),
                )
                for number, fact in enumerate(waiting, 1)
            )
            lines = (_fact_lines(number, fact, reasons) for number, fact in enumerate(waiting, 1))
            table(("", "id", "level", "why it waits", "fact"), rows, lines=lines)
            next_step(options, _HOW.format(PATH))
        print_notes(memory)
    return 0


def _fact_lines(number: int, fact: Fact, reasons: dict[str, str]) -> str:
    """Return a fact with the program's words on the line below, so that its own words cannot imitate them."""
    mark = " (tainted)" if fact.level == "tainted" else ""
    why = reasons.get(fact.id or "", "")
    return f"{number}. {plain(_words_of(fact))}\n   └ {fact.id}{mark}  {plain(why)}"


def _words_of(fact: Fact) -> str:
    return worded(fact.relation, fact.object)


def _ask_each(memory: Memory, waiting: list[Fact], reasons: dict[str, str], options: CliOptions) -> None:
    done = {"y": 0, "n": 0}
    for number, fact in enumerate(waiting, 1):
        say(_fact_lines(number, fact, reasons))
        answer = _read_answer()
        if answer == "q":
            break
        if answer in done:
            try:
                (memory.review.approve if answer == "y" else memory.review.reject)(fact.id or "")
                done[answer] += 1
                options.done = f"{done['y']} approved, {done['n']} rejected; "
            except Refused as refused:
                say(f"   {refused}")
    left = len(waiting) - done["y"] - done["n"]
    back = " `looseleaf undo` undoes the last one." if done["y"] + done["n"] else ""
    say(f"{done['y']} approved, {done['n']} rejected, {left} left.{back}")


def _read_answer() -> str:
    """Return the first letter of the answer; `q` at the end of the input."""
    while True:
        sys.stdout.write(f"   {_QUESTION}")
        sys.stdout.flush()
        line = sys.stdin.readline()
        letter = line.strip()[:1].lower()
        if not line:
            return "q"
        if letter in ("y", "n", "l", "q"):
            return letter
