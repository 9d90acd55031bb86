"""everyday."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager

from looseleaf.base.errors import Refused
from looseleaf.cli.fact_lines import outcome_line
from looseleaf.cli.output import (
    PROBLEMS,
    STDIN,
    clipped,
    decode,
    hung,
    next_step,
    open_memory,
    print_json,
    print_notes,
    read_input,
    say,
    table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.facts.placement import Outcome
    from looseleaf.memory import Memory
    from looseleaf.place.remember import Remembered
    from looseleaf.recall.hits import Hit


# The command `record`: what was said or done, from arguments, a file or standard input.

_FOR = {
    "args": ("tool_call",),
    "result": ("tool_result",),
    "call_id": ("tool_call", "tool_result"),
    "name": ("tool_result",),
    "error": ("tool_result",),
}
"""CliOptions of `record` that go with some of its roles only."""


def record(options: CliOptions) -> int:
    for name, roles in _FOR.items():
        if getattr(options, name) not in (None, False) and options.role not in roles:
            option = f"--{name.replace('_', '-')}"
            raise Refused(f"Nothing was recorded: {option} goes with {' or '.join(roles)}. Leave it out.")
    with open_memory(options, options.session) as memory:
        many = options.role == "jsonl"
        asked = _read_lines(options) if many else [_asked(options)]
        if options.session is None:
            memory.resume()
        with memory.batch() as batch:
            for each in asked:
                batch.record(**each)
        options.done = "it was recorded; "
        if options.json:
            records = [trace.to_record() for trace in batch.traces]
            print_json(records if many else records[0])
        else:
            for trace in batch.traces:
                say(" ".join((trace.turn_id, trace.id, *([trace.flag] if trace.flag else []))))
            if sys.stderr.isatty():  # programs record too, and often
                next_step(options, "`looseleaf distill` makes facts of what was said.")
        print_notes(memory)
    return 0


def _asked(options: CliOptions) -> dict[str, Any]:
    """The arguments of `Memory.record`, of the options of one command."""
    asked: dict[str, Any] = {"turn_id": options.turn} if options.turn is not None else {}
    given = {"tool_call_id": options.call_id, "tool_name": options.name}
    asked |= {name: value for name, value in given.items() if value is not None}
    if options.role == "tool_call":
        asked["tool_call"] = _text(options, options.args).strip()
        if options.args is not None:
            asked["tool_args"] = _value("--args", options.args)
    elif options.role == "tool_result":
        if options.error:
            asked["tool_error"] = _text(options, options.result)
        elif options.result is None:
            asked["tool_result"] = _text(options)
        elif options.text is not None:
            raise Refused(
                "Nothing was recorded: the result was given twice, as text and by --result. Leave one of them out."
            )
        if options.result is not None:
            asked["tool_result"] = _value("--result", options.result)
    else:
        asked[options.role] = _text(options)
        if not asked[options.role] and options.text != "":
            raise Refused(
                "Nothing was recorded: there was nothing on standard input. Give the text there, or as an argument."
            )
    return asked


def _read_lines(options: CliOptions) -> list[dict[str, Any]]:
    """The arguments of `Memory.record`, one time a line. Every line is looked at before the first is recorded."""
    from looseleaf.log.record_request import ask

    found: list[dict[str, Any]] = []
    for number, line in enumerate(read_input(options.text).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            members = _loaded(decode(line, "it"), "it")
            if not isinstance(members, dict):
                raise Refused('Nothing was recorded: it is no object. Write one such as {"user": "hello"}.')
            if options.turn is not None:
                members.setdefault("turn_id", options.turn)
            ask(**members)
        except Refused as refused:
            why = str(refused).removeprefix("Nothing was recorded: ")
            raise Refused(f"Nothing was recorded: line {number}: {why}") from refused
        found.append(members)
    return found


def _text(options: CliOptions, other: str | None = None) -> str:
    """The text that was given. `other` is a second thing that may be asked to come from standard input."""
    if options.text not in (None, STDIN):
        return str(options.text)
    if other == STDIN:
        raise Refused(
            "Nothing was recorded: two things at once cannot come from standard input. Give one as an argument."
        )
    text = decode(read_input(STDIN), "standard input")
    # The line end that `echo` and the like put behind everything was not said.
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def _value(option: str, given: str) -> Any:
    return _loaded(decode(read_input(STDIN), option) if given == STDIN else given, option)


def _loaded(text: str, what: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        why = f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1}"
    except RecursionError:
        why = "it nests too deep"
    except ValueError as error:
        why = str(error)
    raise Refused(
        f"Nothing was recorded: {what} is no JSON ({why}). Write texts, names too, in double quotes."
    )


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


# The command `remember`: a person's own words become memory now.


def remember(options: CliOptions) -> int:
    with open_memory(options) as memory:
        done = memory.remember(_read_words(options), topic=options.topic)
        options.done = "it was remembered; "
        if options.json:
            print_json(done.to_dict())
        else:
            _tell(done)
        print_notes(memory)
        next_step(options, _next_step(done))
    return 0


def _next_step(done: Remembered) -> str:
    if done.noted is not None and not done.noted.changed and not _told(done):
        return f"`looseleaf show {done.noted.path}` shows it."
    if done.noted is None and all(each.act in ("restate", "drop") for each in _told(done)):
        return (
            "`looseleaf facts` lists what is known; `looseleaf why` with some of the words says since when."
        )
    undo = "`looseleaf undo`, twice," if _told(done) and done.noted is not None else "`looseleaf undo`"
    return f"`looseleaf recall` with some of the words finds it; {undo} takes it back."


def _read_words(options: CliOptions) -> str:

    if options.text != [STDIN]:
        return " ".join(options.text)
    return decode(read_input(STDIN, "remembered"), "standard input", "remembered")


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
    from looseleaf.text.lines import NOTE

    line = outcome_line(outcome)
    if outcome.act != "add" or outcome.fact.relation != NOTE:
        return line
    return line.replace("added", "noted", 1).rpartition(": ")[0] + ": as you said it"


# The commands of recall: find, open what was found, run the tests a person wrote.

_CLIP = 40
"""Tokens of each hit in a list: two or three lines of a terminal, around what was asked for."""


def recall(options: CliOptions) -> int:
    if options.raw and options.kind is not None:
        raise Refused(
            "Nothing was looked for: --raw is what was said and done, and --kind something else. Leave one out."
        )
    with open_memory(options) as memory:
        with _watched(memory):
            found = memory.recall(
                " ".join(options.query),
                options.k,
                budget=options.budget,
                topic=options.topic,
                kinds="trace" if options.raw else options.kind,
                as_of=options.as_of,
                agent=options.agent,
                since=options.since,
                until=options.until,
                now=options.now,
                sure=0.0 if options.all else None,
                clip=None if options.raw or options.json or options.budget is not None else _CLIP,
                quick=True,
            )
        if options.json:
            print_json(found.to_dict())
        elif not found:
            say(found.why)
        else:
            numbered, explain = list(enumerate(found, 1)), options.explain
            lines = ("\n".join(_hit_lines(number, hit, is_explained=explain)) for number, hit in numbered)
            rows = (_row(number, hit, is_explained=explain) for number, hit in numbered)
            table(("", "where", "what"), rows, lines=lines)
        print_notes(memory)
        next_step(options, _what_became(found[0]) if found else _OTHERWISE)
    return 0 if found else PROBLEMS


_OTHERWISE = "other words; or --all, for what is not sure enough to be an answer."


def _hit_lines(number: int, hit: Hit, *, is_explained: bool) -> Iterator[str]:
    """What is ours to say of a hit stands on lines of its own, which no text of a hit can look like."""
    yield f"{number}. {hung(_hit_words(hit), 3)}"
    place = f"{hit.where}  {hit.path}" if hit.kind == "fact" and hit.path else hit.where
    yield f"   └ {'  '.join((*_said(hit), *_over(hit)))}  {place}"
    if is_explained:
        yield f"     {_parts(hit)}"


def _row(number: int, hit: Hit, *, is_explained: bool) -> tuple[str, str, str]:
    """The same for a terminal: what is ours to say stands in a column of its own."""
    about = [hit.where, *([hit.path] if hit.kind == "fact" and hit.path else []), " ".join(_said(hit))]
    about += [*_over(hit), *([_parts(hit)] if is_explained else [])]
    return f"{number}.", "\n".join(about), _hit_words(hit)


def _hit_words(hit: Hit) -> str:
    about = f"{hit.topic}: " if hit.kind == "fact" and hit.topic != "user" else ""
    return f"{about}{hit.text}"


def _said(hit: Hit) -> list[str]:
    """When, by whom or of what kind, how far it is believed, how sure."""
    said = (hit.date, hit.speaker if hit.kind == "trace" else hit.kind, hit.level or "", f"{hit.score:.2f}")
    return [each for each in said if each]


def _over(hit: Hit) -> Iterator[str]:
    if hit.is_over:
        so = "no longer so" if hit.status.endswith("superseded") else "a person said no to it"
        so = f"in part {so}" if hit.status.startswith("partly") else so
        yield f"{so}; now: {clipped(hit.now)}" if hit.now else so


def _parts(hit: Hit) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items() if value)


def _what_became(hit: Hit) -> str:
    name = hit.where if " " not in hit.where else "…"
    if hit.kind == "fact":
        return f"`looseleaf why {name}` says why it is believed; `looseleaf open {name}` shows what it stands in."
    return f"`looseleaf open {name}` shows what it stands in."


def open_hit(options: CliOptions) -> int:
    with open_memory(options) as memory:
        opened = memory.open(options.where)
        if options.json:
            print_json(opened.to_dict())
        else:
            say(opened.text)
        print_notes(memory)
    return 0


def test(options: CliOptions) -> int:
    from looseleaf.recall.recall_tests import report, run

    with open_memory(options) as memory:
        with _watched(memory):
            outcomes = run(memory, options.path)
        has_failed = any(not outcome.passed for outcome in outcomes)
        if options.json:
            print_json([outcome.to_dict() for outcome in outcomes])
        else:
            say(report(outcomes))
        print_notes(memory)
    return PROBLEMS if has_failed else 0


@contextmanager
def _watched(memory: Memory) -> Iterator[None]:
    """While the index is made, a terminal is shown how far that is; a pipe loads nothing for it."""
    if not sys.stderr.isatty():
        yield
        return
    from looseleaf.cli.output import progress

    with progress("indexing", "bytes") as step:
        memory.watch_index(step)
        yield
