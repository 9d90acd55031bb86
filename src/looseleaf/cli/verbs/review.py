"""The verbs `review`, `vouch` and `forget`. Arguments and printing only.

`forget` shows what would go, asks, removes it, and reports what a search of every byte finds afterwards.
"""

from __future__ import annotations

import os
import sys

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.cli.output import (
    ask,
    choose_fact,
    clipped,
    name_of,
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
from looseleaf.cli.verbs.facts import split_mark, undo_of
from looseleaf.memory.layers import HOME
from looseleaf.place.placer import PATH, under
from looseleaf.store.machines import log_with
from looseleaf.text.lines import worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.base.values import Fact, Record
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.forget.forget import Forgotten
    from looseleaf.memory import Memory


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
    if options.in_place_of is not None:
        return _forget_in_place(options, given)
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
        copy = last_copy(memory.where)  # what is forgotten takes the views with it
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


def _forget_in_place(options: CliOptions, given: dict[str, str | None]) -> int:
    name = str(options.in_place_of)
    with open_memory(options) as memory:
        own = memory.agent if options.agent is not None else None
        told = memory.forget(**given, agent=own, in_place_of=name, dry_run=True)
        if not options.dry_run and not options.yes:
            if not options.json:
                _print_in_place(told)
            ask(
                f"Will {name} never open this memory again? If it does, two machines have written one log. Forget in "
                "its place?",
                no_terminal="Nothing was forgotten: there is no terminal to ask at. `--dry-run` shows what would go, "
                f"`--yes` does it without asking. Only do this if {name} will never open this memory again.",
                no="Nothing was forgotten.",
            )
        if not options.dry_run:
            with progress("forgetting"):
                told = memory.forget(in_place_of=name)
            options.done = "it was forgotten; " if told.id else ""
        print_json(told.to_dict()) if options.json else _print_in_place(told)
        print_notes(memory)
    return _exit_code(told)


def _print_in_place(told: Forgotten) -> None:
    if told.is_nothing:
        done = "; that is noted there now" if told.id else ""
        say(f"The log of {told.what} has nothing of what was forgotten{done}.")
        return
    say(f"Forgotten in place of {told.what}:" if told.id else f"What would go from the log of {told.what}:")
    _print_counts(told)
    if told.probe is not None:
        _print_probe(told)


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
        own = " in what this machine wrote" if told.unheard or (told.probe and told.probe.machines) else ""
        say(f"Nothing is left of the {told.by}{own}: it was forgotten before.")
    else:
        say("Forgotten:" if told.id else "What would go:")
    _print_counts(told, shows=not told.id)
    if told.mentions:
        count = len(told.mentions)
        more = f" and {count - _SHOWN:,} more" if count > _SHOWN else ""
        say(
            f"Its value is also named in {count:,} other {'place' if count == 1 else 'places'}, which "
            f"{'stays' if count == 1 else 'stay'}: {', '.join(told.mentions[:_SHOWN])}{more}. "
            "`forget --match` with the value removes these too."
        )
    if told.probe is not None:
        _print_probe(told)


def _print_counts(told: Forgotten, *, shows: bool = False) -> None:
    from looseleaf.forget.forget import COUNTED

    for name, (one, many) in COUNTED.items():
        count = told.counts.get(name, 0)
        if count:
            say(f"  {count:,} {one if count == 1 else many}")
            if shows:
                shown = told.first.get(name, ())[:_LISTED]
                for text in shown:
                    say(f"      {clipped(text)}")
                if shown and count > len(shown):
                    say(f"      … and {count - len(shown):,} more")


def _print_probe(told: Forgotten) -> None:
    assert told.probe is not None
    read = f"{told.probe.files:,} files, {told.probe.bytes:,} bytes"
    say(f"Every byte of the folder was read ({read}): {_probe_result(told)}")
    if told.probe.theirs:
        say(f"Still in files of yours: {', '.join(told.probe.theirs)}")
    if told.probe.machines:
        say(_tell_machines(told))
    elif told.unheard:
        say(
            f"It may still be in the {_logs_of(told.unheard)}, in this folder: what the words were is not known any "
            "more, so nobody can look. These machines find it when they next open this memory."
        )
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


def _logs_of(names: tuple[str, ...]) -> str:
    return f"log{'s' * (len(names) > 1)} of {', '.join(names)}"


def _tell_machines(told: Forgotten) -> str:
    assert told.probe is not None
    names, files = told.probe.machines, told.probe.elsewhere
    one = len(names) == 1
    folders = dict.fromkeys(log_with(path) for path in files)
    memory = " --memory ITS-FOLDER" if told.layer else ""
    return (
        f"It is still in this folder, in {len(files):,} file{'s' * (len(files) > 1)} of the {_logs_of(names)} "
        f"({', '.join(folders)}): a machine changes only its own log, and does so when it next opens this memory and "
        "hears of this. Until then nothing of it is shown here. If "
        f"{'that machine is' if one else 'one of them is'} gone for good, `looseleaf{memory} forget --in-place-of "
        f"{names[0]}` does it in its place."
    )


def _probe_result(told: Forgotten) -> str:
    assert told.probe is not None
    if not told.probe.hits:
        others = f" outside the {_logs_of(told.probe.machines)}" if told.probe.machines else ""
        return f"0 hits{others}{', not counting the places that stay' if told.mentions else ''}."
    hits = told.probe.hits
    more = (
        f" and {len(hits) - _SHOWN:,} more file{'s' * (len(hits) > _SHOWN + 1)}" if len(hits) > _SHOWN else ""
    )
    where = f"it is still in {', '.join(hits[:_SHOWN])}{more}."
    if told.names:
        return f"{where} It is a name there, of {'; '.join(told.names)}, and names stay."
    again = "If it was written meanwhile, running this again removes it; if not, other programs left these files: "
    again = again if told.by != "machine" else "Other programs left these files: "
    return f"{where} {again}delete them, or move them out of the memory."


_QUESTION = "yes, no, later or quit? [y/n/l/q] "
_QUESTION_HOME = "yes, no, at home, later or quit? [y/n/h/l/q] "
_HOME = (
    " What is private stands where git looks once it is approved; `looseleaf approve ID --home` keeps it in the home "
    "memory instead."
)
_HOW = "`looseleaf approve ID` or `looseleaf reject ID` decides; or tick and delete lines in {}."


def review(options: CliOptions) -> int:
    with open_memory(options) as memory:
        waiting, contested = memory.facts(status="pending"), memory.review.contested()
        pages = {
            layer: f"{layer}:{PATH}" if layer else PATH for layer in {fact.layer or "" for fact in waiting}
        }
        reasons = {
            name: why for page in pages.values() for name, why in under(memory.pages.read(page).text).items()
        }
        if options.json:
            told = [fact.to_dict() | {"why": reasons.get(fact.id or "", "")} for fact in waiting]
            print_json(told + [_contested_dict(fact, values) for values in contested for fact in values])
        elif not waiting:
            say("Nothing waits for review.")
            if not contested:
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
            how = _HOW.format(" and ".join(_file_of(memory, layer) for layer in sorted(pages)))
            next_step(options, how + (_HOME if any(map(memory.review.private_kinds, waiting)) else ""))
        if contested and not options.json:
            say("\n".join(_contested_lines(contested)))
            next_step(options, _WHICH)
        print_notes(memory)
    return 0


def _file_of(memory: Memory, layer: str) -> str:
    """Return the file of what waits in a layer, for a person to open."""
    if layer == HOME:
        return f"~/.looseleaf/{PATH}"
    layers = memory.parts.layers
    found = layers.named(layer) if layers is not None else None
    return os.path.join(found.path, PATH) if found is not None else PATH


_WHICH = "`looseleaf approve ID` keeps a contested value, and ends the others; `looseleaf reject ID` takes one away."


def _contested_dict(fact: Fact, values: list[Fact]) -> Record:
    return fact.to_dict() | {"contested": [name_of(each) for each in values if each is not fact]}


def _contested_lines(contested: list[list[Fact]]) -> Iterator[str]:
    yield "Contested: machines noted different values, and no person said which is right."
    for values in contested:
        yield f"{clipped(values[0].topic)}: {clipped(values[0].relation)}"
        for fact in values:
            value, said_on = split_mark(fact.object)
            yield f"  {name_of(fact)}  {clipped(value)}  ({', '.join(said_on) or fact.level})"


def _fact_lines(number: int, fact: Fact, reasons: dict[str, str]) -> str:
    """Return a fact with the program's words on the line below, so that its own words cannot imitate them."""
    mark = " (tainted)" if fact.level == "tainted" else ""
    why = reasons.get(fact.id or "", "")
    return f"{number}. {plain(_words_of(fact))}\n   └ {name_of(fact)}{mark}  {plain(why)}"


def _words_of(fact: Fact) -> str:
    return worded(fact.relation, fact.object)


def _ask_each(memory: Memory, waiting: list[Fact], reasons: dict[str, str], options: CliOptions) -> None:
    done = {"y": 0, "n": 0, "h": 0}
    last: Fact | None = None
    for number, fact in enumerate(waiting, 1):
        say(_fact_lines(number, fact, reasons))
        kinds = memory.review.private_kinds(fact)
        if kinds:
            say(f"   This is private ({kinds}): yes puts it where git looks, `h` into the home memory.")
        answer = _read_answer(has_home=bool(kinds))
        if answer == "q":
            break
        if answer in done:
            try:
                _decide(memory, answer, fact.id or "")
                done[answer] += 1
                last = fact
                options.done = f"{done['y'] + done['h']} approved, {done['n']} rejected; "
            except Refused as refused:
                say(f"   {refused}")
    left = len(waiting) - sum(done.values())
    back = f" `{undo_of(memory, last)}` undoes the last one." if last is not None else ""
    home = f" ({done['h']} at home)" if done["h"] else ""
    say(f"{done['y'] + done['h']} approved{home}, {done['n']} rejected, {left} left.{back}")


def _decide(memory: Memory, answer: str, name: str) -> None:
    if answer == "n":
        memory.review.reject(name)
    else:
        memory.review.approve(name, where="home" if answer == "h" else None)


def _read_answer(*, has_home: bool) -> str:
    """Return the first letter of the answer; `q` at the end of the input."""
    while True:
        sys.stdout.write(f"   {_QUESTION_HOME if has_home else _QUESTION}")
        sys.stdout.flush()
        line = sys.stdin.readline()
        letter = line.strip()[:1].lower()
        if not line:
            return "q"
        if letter in ("y", "n", "l", "q") or (letter == "h" and has_home):
            return letter
