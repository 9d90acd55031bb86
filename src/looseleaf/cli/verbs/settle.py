"""The verb `settle`: show what is held, and take a person's word on it. Arguments and printing only.

Every line of a held file is shown after a sign, so that it cannot pass for words of the program.
"""

from __future__ import annotations

import os
import sys
from itertools import islice

from looseleaf.base.errors import Invalid, NotFound, Refused
from looseleaf.cli.output import (
    clipped,
    next_step,
    open_memory,
    plain,
    print_answer,
    print_json,
    print_notes,
    say,
    shell_word,
)
from looseleaf.pages.held import TAKES, Held, find_markers, new_lines
from looseleaf.pages.outside_edits import HELD
from looseleaf.pages.settle import Settled, both_texts
from looseleaf.text.diff import diff, split_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.values import Fact
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.memory import Memory

_SHOWN = 20
"""Lines that are shown of a difference; `--json` has all."""

_MEANS = {
    "keep": "go on with the last good version",
    "accept": "the file is right as it is",
    "ours": "the upper side of each conflict",
    "theirs": "the lower side of each conflict",
    "both": "both sides of each conflict",
}
_DONE = {
    "keep": "the last good version is used again",
    "accept": "the file is taken as it is",
    "ours": "the upper side of each conflict is kept",
    "theirs": "the lower side of each conflict is kept",
    "both": "both sides of each conflict are kept",
}
_MEANS_COPY = {
    "keep": "the page stays as it is, and the copy goes",
    "theirs": "the copy takes the place of the page",
    "both": "the page gets the lines that only the copy has",
    "accept": "it is no copy, but a page of its own",
}


_DONE_COPY = {
    "keep": "the page stays as it is, and the copy is gone",
    "theirs": "the copy has taken the place of the page",
    "both": "the page has the lines that only the copy had",
    "accept": "it is a page of its own now",
}


def settle(options: CliOptions) -> int:
    given = [take for take in _MEANS if getattr(options, take)]
    if len(given) > 1:
        raise Invalid(
            f"Nothing was settled: --{given[0]} and --{given[1]} exclude each other. Leave one out."
        )
    with open_memory(options) as memory:
        waiting = memory.review.held()
        some = _choose(waiting, options.page)
        if given:
            _settle_all(memory, options, some, given[0])
        elif options.json:
            print_json([each.to_dict() | {"diff": list(_diff_lines(memory, each))} for each in some])
        elif not some:
            say("Nothing is held: every page is what its file says.")
        elif sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
            _ask_each(memory, options, some)
        else:
            for each in some:
                _show(memory, each)
            which, it = (shell_word(some[0].path), "it") if len(some) == 1 else ("FILE", "one")
            asked = "at a terminal, it asks about each."
            next_step(
                options, f"`looseleaf settle {which} --keep`, or another of these, settles {it}; {asked}"
            )
        memory.notes[:] = [note for note in memory.notes if not note.startswith(HELD)]  # said above
        print_notes(memory)
    return 0


def _choose(waiting: list[Held], path: str | None) -> list[Held]:
    """Return the held files of a page: its own, and copies of it."""
    some = [each for each in waiting if path in (None, each.path, each.of)]
    if path is not None and not some:
        raise NotFound(f"Nothing was settled: {path} is not held. `looseleaf settle` lists what is.")
    return some


def _settle_all(memory: Memory, options: CliOptions, some: Sequence[Held], take: str) -> None:
    """Do the same with each, if all are held for the same reason."""
    kinds = dict.fromkeys(each.why for each in some)
    if len(kinds) > 1:
        named = ", ".join(f"{each.path} ({each.why})" for each in some[:_SHOWN])
        raise Invalid(f"Nothing was settled: these are held for different reasons. Name one of {named}.")
    done: list[Settled] = []
    if take == "keep" and "gone" in kinds and len(some) > 1:
        done = [Settled(path, "gone", take) for path in memory.history.restore()]  # all in one pass
        some = ()
    for each in some:
        done.append(memory.review.settle(each.path, take))
        options.done = f"{len(done)} settled; "
    lines = "\n".join(map(_settled_line, done)) or "Nothing is held: every page is what its file says."
    print_answer(options, [each.to_dict() for each in done], lines)
    if not options.json:
        _tell_doubles(memory, options, done)
        _tell_git(memory, [each.path for each in done])


def _tell_git(memory: Memory, paths: Sequence[str]) -> None:
    """Say what is left to do where git has an unfinished merge of these pages."""
    from looseleaf.cli.doctor_checks import repository_of
    from looseleaf.cli.verbs.git import unmerged

    if not paths or not memory.parts.store.edited_outside:
        return
    waiting = unmerged(memory.path, paths) if repository_of(memory.path) is not None else []
    if waiting:
        names = " ".join(shell_word(os.path.join(memory.path, each)) for each in waiting)
        say(
            f"Git still waits for its merge: `git add {names}`, and then `git commit` (after a rebase: `git rebase "
            "--continue`)."
        )


def _settled_line(settled: Settled) -> str:
    means = (_DONE_COPY if settled.why == "copy" else _DONE)[settled.take]
    kept = f" The held file is kept as {settled.aside}." if settled.aside else ""
    return f"{plain(settled.path)} is settled: {means}.{kept}"


def _tell_doubles(memory: Memory, options: CliOptions, done: Sequence[Settled]) -> None:
    """Name the slots for one value that have more since both sides were kept."""
    from looseleaf.facts.ledger import address_of

    both = {each.edit for each in done if each.take == "both" and each.edit}
    pages = {edit.path for edit in islice(memory.history.edits(), len(done)) if edit.id in both}
    slots: dict[tuple[str | None, str, str], list[Fact]] = {}
    for fact in memory.parts.notebook.facts() if pages else ():
        place = address_of(fact)
        if fact.path in pages and not place.many:
            slots.setdefault((fact.path, place.slot, place.within), []).append(fact)
    doubled = [facts for facts in slots.values() if len(facts) > 1]
    for facts in doubled:
        values = ", ".join(f"“{clipped(fact.object)}” ({fact.id})" for fact in facts)
        say(
            f"{plain(facts[0].path or '')} has {len(facts)} values for {clipped(facts[0].relation)} now: {values}."
        )
    if doubled:
        which = doubled[0][-1].id
        next_step(
            options,
            f"`looseleaf reject {which}` takes one away; `looseleaf correct {which} TEXT` corrects it.",
        )


def _show(memory: Memory, held: Held) -> None:
    lines = list(_diff_lines(memory, held))
    is_same = held.of is not None and not lines
    same = ", and identical to it" if is_same else ""
    say(f"{plain(held.path)} {plain(held.says)}{same}.")
    for line in lines[:_SHOWN]:
        say(f"    {clipped(line)}")
    if len(lines) > _SHOWN:
        say(f"    … and {len(lines) - _SHOWN:,} more line{'s' * (len(lines) > _SHOWN + 1)}")
    means = _MEANS_COPY if held.of else _MEANS
    for take in TAKES[held.why]:
        if not is_same or take in ("keep", "accept"):
            say(f"  --{take:<7} {means[take]}")


def _diff_lines(memory: Memory, held: Held) -> Iterator[str]:
    """Yield the lines by which the file differs from the last good version, each with its sign; and both sides of each
    conflict: `=` marks what both versions have."""
    good, found = both_texts(memory.parts, held)
    lines = split_lines(found)
    shown = _conflict_lines(found) if held.why == "conflict" else frozenset[int]()
    at = before = 0  # lines of the file and of the good version so far
    for hunk in (*diff(good, found), None):
        same = len(lines) - at if hunk is None else hunk.at - before
        yield from (f"= {lines[number].rstrip()}" for number in range(at, at + same) if number in shown)
        if hunk is not None:
            yield from (f"- {line.rstrip()}" for line in hunk.removed)
            yield from (f"+ {line.rstrip()}" for line in hunk.added)
            at += same + len(hunk.added)
            before = hunk.at + len(hunk.removed)


def _conflict_lines(text: str) -> frozenset[int]:
    """Return the numbers, from 0, of the lines from the first marker of each conflict to its last."""
    found: set[int] = set()
    begun = None
    for number, mark in find_markers(text.encode("utf-8", "replace")):
        begun = number if mark.startswith(b"<") else begun
        if mark.startswith(b">") and begun is not None:
            found.update(range(begun - 1, number))
            begun = None
    return frozenset(found)


def _ask_each(memory: Memory, options: CliOptions, some: Sequence[Held]) -> None:
    done = 0
    for held in some:
        _show(memory, held)
        take = _read_take(held)
        if take == "quit":
            break
        if take == "later":
            continue
        try:
            lines = _choose_lines(memory, held) if held.of is not None and take == "both" else None
            settled = memory.review.settle(held.path, take, lines=lines)
            say(_settled_line(settled))
            _tell_doubles(memory, options, [settled])
            _tell_git(memory, [settled.path])
            done += 1
            options.done = f"{done} settled; "
        except Refused as refused:
            say(f"  {refused}")
    say(f"{done} settled, {len(some) - done} left.")


def _read_take(held: Held) -> str:
    """Return the answer, or `quit` at the end of the input. An answer is the beginning of one of these words."""
    answers = (*TAKES[held.why], "later", "quit")
    while True:
        answer = _read_word(f"  {', '.join(answers[:-1])} or quit? ")
        if answer is None:
            return "quit"
        fits = [each for each in answers if answer and each.startswith(answer)]
        if len(fits) == 1:
            return fits[0]


def _choose_lines(memory: Memory, held: Held) -> list[str]:
    """Ask for each line that only the copy has."""
    return [
        line
        for line in new_lines(*both_texts(memory.parts, held))
        if (_read_word(f"    + {clipped(line)}  [y/N] ") or "").startswith("y")
    ]


def _read_word(question: str) -> str | None:
    sys.stdout.write(plain(question))
    sys.stdout.flush()
    line = sys.stdin.readline()
    return line.strip().lower() if line else None
