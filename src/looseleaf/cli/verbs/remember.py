"""The command `remember`: a person's own words become memory now. Arguments and printing only."""

from __future__ import annotations

from looseleaf.cli.output import clipped, next_step, open_memory, print_json, print_notes, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.arguments import Options
    from looseleaf.facts.placement import Outcome
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
    if done.noted is not None and not done.noted.changed and not _told(done):
        return f"`looseleaf show {done.noted.path}` shows it."
    if done.noted is None and all(each.act in ("restate", "drop") for each in _told(done)):
        return (
            "`looseleaf facts` lists what is known; `looseleaf why` with some of the words says since when."
        )
    undo = "`looseleaf undo`, twice," if _told(done) and done.noted is not None else "`looseleaf undo`"
    return f"`looseleaf recall` with some of the words finds it; {undo} takes it back."


def _words(options: Options) -> str:
    from looseleaf.cli.verbs.record import STDIN, decoded, given_bytes

    if options.text != [STDIN]:
        return " ".join(options.text)
    return decoded(given_bytes(STDIN, "remembered"), "standard input", "remembered")


def _tell(done: Remembered) -> None:
    for outcome in _told(done):
        say(_outcome_line(outcome))
    if done.noted is not None:
        path, is_new = clipped(done.noted.path), done.noted.changed
        for words in done.rest:
            say(
                f"noted on {path}: {clipped(words)}"
                if is_new
                else f"known already on {path}: {clipped(words)}"
            )
        if not done.rest:
            how = "but for a secret" if done.redacted else "as you said it"
            noted = f"noted on {path}, {how}: the rules read no fact in it."
            say(noted if is_new else f"known already: {path} says it.")
    for words in done.passed_over:
        say(f"passed over: {clipped(words)}")
    if done.redacted:
        say("What looks like a secret was taken out before anything was written: it is kept nowhere.")


def _told(done: Remembered) -> tuple[Outcome, ...]:
    """Where all of it was dropped, it was noted instead."""
    outcomes = done.placed.outcomes if done.placed is not None else ()
    return outcomes if any(each.act != "drop" for each in outcomes) else ()


def _outcome_line(outcome: Outcome) -> str:
    from looseleaf.cli.verbs.views import outcome_line
    from looseleaf.text.lines import NOTE

    line = outcome_line(outcome)
    if outcome.act != "add" or outcome.fact.relation != NOTE:
        return line
    return line.replace("added", "noted", 1).rpartition(": ")[0] + ": as you said it"
