"""The command `remember`: a person's own words become memory now. Arguments and printing only."""

from __future__ import annotations

from looseleaf.cli.shown import clipped, next_step, open_memory, print_json, print_notes, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.parse import Options
    from looseleaf.place.remember import Remembered


def remember(options: Options) -> int:
    with open_memory(options) as memory:
        done = memory.remember(_words(options), topic=options.topic)
        options.done = "it was remembered; "
        if options.json:
            print_json(done.to_dict())
        else:
            _tell(done)
        print_notes(memory)
        next_step(options, _then(done))
    return 0


def _then(done: Remembered) -> str:
    if done.noted is not None and not done.noted.changed:
        return f"`looseleaf show {done.noted.path}` shows it."
    return "`looseleaf recall` with some of the words finds it; `looseleaf undo` takes it back."


def _words(options: Options) -> str:
    from looseleaf.cli.record import STDIN, decoded, given_bytes

    if options.text != [STDIN]:
        return " ".join(options.text)
    return decoded(given_bytes(STDIN, "remembered"), "standard input", "remembered")


def _tell(done: Remembered) -> None:
    from looseleaf.cli.build import outcome_line

    for outcome in done.placed.outcomes if done.placed is not None and done.noted is None else ():
        say(outcome_line(outcome))
    if done.noted is not None and done.noted.changed:
        say(f"noted on {clipped(done.noted.path)}, as you said it: the rules read no fact in it.")
    elif done.noted is not None:
        say(f"known already: {clipped(done.noted.path)} says it.")
