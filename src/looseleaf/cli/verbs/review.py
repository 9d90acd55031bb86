"""The command of review: what waits for a yes, one by one; on a terminal it asks. Arguments and printing only."""

from __future__ import annotations

import sys

from looseleaf.base.errors import Refused
from looseleaf.cli.output import next_step, open_memory, plain, print_json, print_notes, say
from looseleaf.cli.table import table
from looseleaf.place.review_page import PATH, under
from looseleaf.text.lines import worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Fact
    from looseleaf.cli.arguments import Options
    from looseleaf.memory import Memory

_ASKED = "yes, no, later or quit? [y/n/l/q] "
_HOW = "`looseleaf approve ID` says yes, `looseleaf reject ID` no; or tick and delete lines in {}."


def review(options: Options) -> int:
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


def _ask(memory: Memory, waiting: list[Fact], reasons: dict[str, str], options: Options) -> None:
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
