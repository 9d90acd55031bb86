"""The command of review: what waits for a yes, one by one; on a terminal it asks. Arguments and printing only."""

from __future__ import annotations

import sys

from looseleaf.base.errors import Refused
from looseleaf.cli.output import clipped, next_step, open_memory, plain, print_json, print_notes, say, table
from looseleaf.place.entry_pages import PATH, under
from looseleaf.text.lines import worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Fact
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.forget.forget import Forgotten
    from looseleaf.memory import Memory


# The command that forgets: it shows what would go, asks, does it, and says what reading every byte found
# then.

_KINDS = {
    "traces": ("thing that was said or done", "things that were said or done"),
    "entries": ("entry", "entries"),
    "facts": ("fact", "facts"),
    "lines": ("line of pages, now or in their history", "lines of pages, now or in their history"),
    "prompts": ("prompt in the log", "prompts in the log"),
    "others": (
        "file that holds it elsewhere: in a reason, a damaged line, or what was put aside",
        "files that hold it elsewhere: in a reason, a damaged line, or what was put aside",
    ),
}
_SHOWN = 3
"""Places that are named; `--json` has all."""

_LISTED = 100
"""Facts that are listed before one is asked; `--json` has all."""

_PATIENCE = "Copies, backups, the history of a git repository and the blocks of the disk are not looked at."


def forget(options: CliOptions) -> int:
    if options.what is not None and options.fact is not None:
        raise Refused("Nothing was forgotten: the fact was given twice. Leave out --fact.")
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
        told = memory.forget(**given, agent=options.agent, dry_run=True)
        if options.dry_run or (told.is_nothing and told.probe is not None):
            print_json(told.to_dict()) if options.json else _print(told)
            print_notes(memory)
            if options.dry_run and not told.is_nothing:
                next_step(
                    options, "nothing has changed. The same with `--yes` in place of `--dry-run` does it."
                )
            return _code(told)
        if not options.yes:
            from looseleaf.cli.output import ask

            if not options.json:
                _print(told)
            ask(
                "Forget all of this? It cannot be undone.",
                nobody="Nothing was forgotten: there is no terminal to ask at. `--dry-run` shows what would go, "
                "`--yes` does it without asking.",
                no="Nothing was forgotten.",
            )
        from looseleaf.cli.output import progress

        with progress("forgetting"):
            done = memory.forget(**given, agent=options.agent)
        print_json(done.to_dict()) if options.json else _print(done)
        print_notes(memory)
        if not done.probe or not done.probe.hits:
            next_step(options, "`looseleaf check` looks through what is left; nothing brings back what went.")
    return _code(done)


def _resolve_fact(memory: Memory, options: CliOptions, words: str) -> str:
    """Return the id of the fact that words name: the line that is shown is the one that goes.

    An id or place stays as it is where nothing is asked: `Memory.forget` knows what was forgotten there before.
    """
    from looseleaf.cli.fact_lines import choose_fact, named_facts
    from looseleaf.facts.naming import is_exact

    found = named_facts(memory, words)
    if is_exact(words) and (options.yes or options.dry_run or not found):
        return words
    if not found:
        from shlex import quote

        raise Refused(
            f"Nothing was forgotten: no fact fits {clipped(words)!r}. `looseleaf forget --match {quote(words)}` "
            "removes every sentence and line with these words."
        )
    return choose_fact(memory, options, words, done="forgotten").id or ""


def _code(told: Forgotten) -> int:
    return 1 if told.probe is not None and told.probe.hits else 0


def _print(told: Forgotten) -> None:
    if told.is_nothing:
        say(f"Nothing of the {told.by} is here: it was forgotten before.")
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
            "`forget --match` with the value takes these too."
        )
    if told.probe is not None:
        read = f"{told.probe.files:,} files, {told.probe.bytes:,} bytes"
        say(f"Every byte was read ({read}): {_found(told)}")
        if told.probe.theirs:
            say(f"These are yours, and still hold it: {', '.join(told.probe.theirs)}")
        if told.id:
            say(f"{_PATIENCE} Receipt {told.id}.")


def _found(told: Forgotten) -> str:
    assert told.probe is not None
    if not told.probe.hits:
        return "0 hits." if not told.mentions else "0 hits. What was looked for is what went, not what stays."
    hits = told.probe.hits
    more = f" and {len(hits) - _SHOWN:,} more files" if len(hits) > _SHOWN else ""
    where = f"it still stands in {', '.join(hits[:_SHOWN])}{more}."
    if told.names:
        return f"{where} It is a name there, of {'; '.join(told.names)}, and names stay."
    return f"{where} Somebody wrote there meanwhile, or the log is damaged: run this again."


_ASKED = "yes, no, later or quit? [y/n/l/q] "
_HOW = "`looseleaf approve ID` says yes, `looseleaf reject ID` no; or tick and delete lines in {}."


def review(options: CliOptions) -> int:
    with open_memory(options) as memory:
        waiting = memory.facts(status="pending")
        reasons = under(memory.page(PATH).text)
        if options.json:
            print_json([fact.to_dict() | {"why": reasons.get(fact.id or "", "")} for fact in waiting])
        elif not waiting:
            say("Nothing waits for you.")
            next_step(options, "`looseleaf facts` lists what is known.")
        elif sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
            _ask(memory, waiting, reasons, options)
        else:
            rows = (
                (str(number), fact.id or "", fact.level or "", reasons.get(fact.id or "", ""), _worded(fact))
                for number, fact in enumerate(waiting, 1)
            )
            lines = (_shown(number, fact, reasons) for number, fact in enumerate(waiting, 1))
            table(("", "id", "level", "why it waits", "fact"), rows, lines=lines)
            next_step(options, _HOW.format(PATH))
        print_notes(memory)
    return 0


def _shown(number: int, fact: Fact, reasons: dict[str, str]) -> str:
    """The words of others come first on a line, and what is ours to say under them."""
    mark = " (tainted)" if fact.level == "tainted" else ""
    why = reasons.get(fact.id or "", "")
    return f"{number}. {plain(_worded(fact))}\n   └ {fact.id}{mark}  {plain(why)}"


def _worded(fact: Fact) -> str:
    return worded(fact.relation, fact.object)


def _ask(memory: Memory, waiting: list[Fact], reasons: dict[str, str], options: CliOptions) -> None:
    done = {"y": 0, "n": 0}
    for number, fact in enumerate(waiting, 1):
        say(_shown(number, fact, reasons))
        answer = _answer()
        if answer == "q":
            break
        if answer in done:
            try:
                (memory.approve if answer == "y" else memory.reject)(fact.id or "")
                done[answer] += 1
                options.done = f"{done['y']} were approved, {done['n']} rejected; "
            except Refused as refused:
                say(f"   {refused}")
    left = len(waiting) - done["y"] - done["n"]
    back = " `looseleaf undo` takes the last one back." if done["y"] + done["n"] else ""
    say(f"{done['y']} approved, {done['n']} rejected, {left} left.{back}")


def _answer() -> str:
    """The first letter of what was typed; the end of the input ends the asking."""
    while True:
        sys.stdout.write(f"   {_ASKED}")
        sys.stdout.flush()
        line = sys.stdin.readline()
        letter = line.strip()[:1].lower()
        if not line:
            return "q"
        if letter in ("y", "n", "l", "q"):
            return letter
