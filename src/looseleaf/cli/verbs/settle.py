"""The verb `settle`: show what is held, and take a person's word on it. Arguments and printing only.

Every line of a held file is shown after a sign, so that it cannot pass for words of the program.
"""

from __future__ import annotations

import sys

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
)
from looseleaf.pages.held import TAKES, Held, new_lines
from looseleaf.pages.outside_edits import HELD
from looseleaf.pages.settle import Settled, both_texts
from looseleaf.text.diff import diff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
_MEANS_COPY = {
    "keep": "the page stays as it is, and the copy goes",
    "theirs": "the copy takes the place of the page",
    "both": "the page gets the lines that only the copy has",
    "accept": "it is no copy, but a page of its own",
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
            next_step(
                options, "`looseleaf settle FILE --keep` settles one; at a terminal, it asks about each."
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


def _settled_line(settled: Settled) -> str:
    means = (_MEANS_COPY if settled.why == "copy" else _MEANS)[settled.take]
    kept = f" The held file is kept as {settled.aside}." if settled.aside else ""
    return f"{plain(settled.path)} is settled: {means}.{kept}"


def _show(memory: Memory, held: Held) -> None:
    say(f"{plain(held.path)} {plain(held.says)}.")
    lines = list(_diff_lines(memory, held))
    for line in lines[:_SHOWN]:
        say(f"    {clipped(line)}")
    if len(lines) > _SHOWN:
        say(f"    … and {len(lines) - _SHOWN:,} more line{'s' * (len(lines) > _SHOWN + 1)}")
    means = _MEANS_COPY if held.of else _MEANS
    for take in TAKES[held.why]:
        say(f"  --{take:<7} {means[take]}")


def _diff_lines(memory: Memory, held: Held) -> Iterator[str]:
    """Yield the lines by which the file differs from the last good version, each with its sign."""
    for hunk in diff(*both_texts(memory.parts, held)):
        yield from (f"- {line.rstrip()}" for line in hunk.removed)
        yield from (f"+ {line.rstrip()}" for line in hunk.added)


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
            say(_settled_line(memory.review.settle(held.path, take, lines=lines)))
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
