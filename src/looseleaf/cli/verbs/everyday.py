"""The everyday verbs: record, remember, recall, open, test. Arguments and printing only."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager

from looseleaf.base.errors import Invalid, Refused
from looseleaf.cli.output import (
    PROBLEMS,
    STDIN,
    clipped,
    decode,
    hung,
    next_step,
    open_memory,
    outcome_line,
    print_answer,
    print_json,
    print_notes,
    progress,
    read_input,
    read_line,
    say,
    shell_word,
    table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.facts.placement import Outcome
    from looseleaf.memory import Memory
    from looseleaf.place.distill_and_place import Remembered
    from looseleaf.recall.hits import Hit


_FOR = {
    "args": ("tool_call",),
    "result": ("tool_result",),
    "call_id": ("tool_call", "tool_result"),
    "name": ("tool_result",),
    "error": ("tool_result",),
}
"""By option of `record`, the roles that it goes with."""


def record(options: CliOptions) -> int:
    for name, roles in _FOR.items():
        if getattr(options, name) not in (None, False) and options.role not in roles:
            option = f"--{name.replace('_', '-')}"
            raise Invalid(f"Nothing was recorded: {option} goes with {' or '.join(roles)}. Leave it out.")
    with open_memory(options, options.session) as memory:
        many = options.role == "jsonl"
        asked = _read_lines(options) if many else [_record_request(options)]
        if options.session is None:
            memory.talk.resume()
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


def _record_request(options: CliOptions) -> dict[str, Any]:
    """Return the arguments of `Memory.record` for the options of one command."""
    asked: dict[str, Any] = {"turn_id": options.turn} if options.turn is not None else {}
    given = {"tool_call_id": options.call_id, "tool_name": options.name}
    asked |= {name: value for name, value in given.items() if value is not None}
    if options.role == "tool_call":
        asked["tool_call"] = _read_text(options, options.args).strip()
        if options.args is not None:
            asked["tool_args"] = _read_json_option("--args", options.args)
    elif options.role == "tool_result":
        if options.error:
            asked["tool_error"] = _read_text(options, options.result)
        elif options.result is None:
            asked["tool_result"] = _read_text(options)
        elif options.text is not None:
            raise Invalid(
                "Nothing was recorded: the result was given twice, as text and by --result. Leave one out."
            )
        if options.result is not None:
            asked["tool_result"] = _read_json_option("--result", options.result)
    else:
        asked[options.role] = _read_text(options)
        if not asked[options.role] and options.text != "":
            raise Invalid(
                "Nothing was recorded: standard input was empty. Give the text there, or as an argument."
            )
    return asked


def _read_lines(options: CliOptions) -> list[dict[str, Any]]:
    """Return the arguments of `Memory.record` for each line. Every line is checked before the first is recorded."""
    from looseleaf.log.recorder import ask

    found: list[dict[str, Any]] = []
    for number, line in enumerate(read_input(options.text).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            members = _load_json(decode(line, "it"), "it")
            if not isinstance(members, dict):
                raise Invalid(
                    'Nothing was recorded: it is not an object. Write one such as {"user": "hello"}.'
                )
            if options.turn is not None:
                members.setdefault("turn_id", options.turn)
            ask(**members)
        except Refused as refused:
            why = str(refused).removeprefix("Nothing was recorded: ")
            raise Refused(f"Nothing was recorded: line {number}: {why}") from refused
        found.append(members)
    return found


def _read_text(options: CliOptions, other: str | None = None) -> str:
    """Return the given text. `other`: a second argument that may ask for standard input."""
    if options.text not in (None, STDIN):
        return str(options.text)
    if other == STDIN:
        raise Invalid(
            "Nothing was recorded: two texts cannot both come from standard input. Give one as an argument."
        )
    return read_line()


def _read_json_option(option: str, given: str) -> Any:
    return _load_json(decode(read_input(STDIN), option) if given == STDIN else given, option)


def _load_json(text: str, what: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        why = f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1}"
    except RecursionError:
        why = "it is nested too deeply"
    except ValueError as error:
        why = str(error)
    raise Invalid(f"Nothing was recorded: {what} is not JSON ({why}). Put texts and names in double quotes.")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def remember(options: CliOptions) -> int:
    if options.here and options.home:
        raise Invalid("Nothing was remembered: --here and --home exclude each other. Leave one out.")
    where = "here" if options.here else "home" if options.home else None
    with open_memory(options) as memory:
        done = memory.remember(_read_words(options), topic=options.topic, where=where)
        options.done = "it was remembered; "
        print_answer(options, done.to_dict(), "\n".join(_remembered_lines(done)))
        print_notes(memory)
        next_step(options, _next_step(done))
    return 0


def _next_step(done: Remembered) -> str:
    if done.layer:
        return "`looseleaf facts` lists it with its layer; with `--here`, what you say stays in this memory."
    outcomes = _outcomes_to_print(done)
    if done.noted is not None and not done.noted.changed and not outcomes:
        return f"`looseleaf show {shell_word(done.noted.path)}` shows it."
    if done.noted is None and all(each.act in ("restate", "drop") for each in outcomes):
        return "`looseleaf facts` lists the facts; `looseleaf why` with some of the words shows since when."
    undo = "`looseleaf undo`, twice," if outcomes and done.noted is not None else "`looseleaf undo`"
    return f"`looseleaf recall` with some of the words finds it; {undo} undoes it."


def _read_words(options: CliOptions) -> str:
    if options.text != [STDIN]:
        return " ".join(options.text)
    return decode(read_input(STDIN, "remembered"), "standard input", "remembered")


def _remembered_lines(done: Remembered) -> Iterator[str]:
    if done.layer:
        yield f"In the {done.layer} memory:"
    yield from map(_outcome_line, _outcomes_to_print(done))
    if done.noted is not None:
        path, is_new = clipped(done.noted.path), done.noted.changed
        yield from (
            f"{'noted' if is_new else 'known already'} on {path}: {clipped(each)}" for each in done.rest
        )
        if not done.rest:
            how = "except for a secret" if done.redacted else "in your own words"
            noted = f"noted on {path}, {how}."
            yield noted if is_new else f"known already: {path} says it."
    yield from (f"passed over: {clipped(words)}" for words in done.passed_over)
    if done.redacted:
        yield "A secret was removed before anything was written: it is kept nowhere."
    if done.elsewhere is not None:
        yield from _remembered_lines(done.elsewhere)


def _outcomes_to_print(done: Remembered) -> tuple[Outcome, ...]:
    """Return the outcomes to print; none where all were dropped: the text was noted instead."""
    outcomes = done.placed.outcomes if done.placed is not None else ()
    return outcomes if any(each.act != "drop" for each in outcomes) else ()


def _outcome_line(outcome: Outcome) -> str:
    from looseleaf.text.lines import NOTE

    line = outcome_line(outcome)
    if outcome.act != "add" or outcome.fact.relation != NOTE:
        return line
    return line.replace("added", "noted", 1).rpartition(": ")[0] + ": as you said it"


_CLIP = 40
"""Tokens of each hit in a list: two or three lines of a terminal around the match."""


def recall(options: CliOptions) -> int:
    if options.raw and options.kind is not None:
        raise Invalid("Nothing was searched: --raw and --kind exclude each other. Leave one out.")
    with open_memory(options) as memory:
        with _index_progress(memory):
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
            if found.why:
                say(found.why)
            numbered = [(f"{number}.", hit) for number, hit in enumerate(found, 1)]
            lines = (_hit_lines(number, hit, options.explain) for number, hit in numbered)
            rows = (_hit_row(number, hit, options.explain) for number, hit in numbered)
            table(("", "where", "what"), rows, lines=lines)
        print_notes(memory)
        next_step(options, _step_after_hit(found[0]) if found else _OTHERWISE)
    return 0 if found else PROBLEMS


_OTHERWISE = "try other words, or --all for hits that are not sure enough to be an answer."


def _hit_lines(number: str, hit: Hit, is_explained: bool) -> str:
    """Return the lines of a hit. The program's words have lines of their own, which no text of a hit can imitate."""
    about = "  ".join((*_hit_facts(hit), *_hit_status(hit), *_hit_place(hit)))
    score = f"\n     {_score_parts(hit)}" if is_explained else ""
    return f"{number} {hung(_hit_words(hit), 3)}\n   └ {about}{score}"


def _hit_row(number: str, hit: Hit, is_explained: bool) -> tuple[str, str, str]:
    """Return the same for a terminal: the program's words have a column of their own."""
    score = [_score_parts(hit)] if is_explained else []
    about = (*_hit_place(hit), " ".join(_hit_facts(hit)), *_hit_status(hit), *score)
    return number, "\n".join(about), _hit_words(hit)


def _hit_place(hit: Hit) -> list[str]:
    return [hit.where, hit.path] if hit.kind == "fact" and hit.path else [hit.where]


def _hit_words(hit: Hit) -> str:
    about = f"{hit.topic}: " if hit.kind == "fact" and hit.topic != "user" else ""
    return f"{about}{_split_hit(hit)[0]}"


def _split_hit(hit: Hit) -> tuple[str, list[str]]:
    """Return the text of a hit and, of a contested value, its mark."""
    from looseleaf.cli.verbs.facts import split_mark

    return split_mark(hit.text) if hit.kind == "fact" else (hit.text, [])


def _hit_facts(hit: Hit) -> list[str]:
    """Return the date, the speaker or kind, the level, the score."""
    said = (hit.date, hit.speaker if hit.kind == "trace" else hit.kind, hit.level or "", f"{hit.score:.2f}")
    return [*(each for each in said if each), *_split_hit(hit)[1]]


def _hit_status(hit: Hit) -> Iterator[str]:
    if hit.is_over:
        so = "no longer so" if hit.status.endswith("superseded") else "rejected by a person"
        so = f"in part {so}" if hit.status.startswith("partly") else so
        yield f"{so}; now: {clipped(hit.now)}" if hit.now else so


def _score_parts(hit: Hit) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items() if value)


def _step_after_hit(hit: Hit) -> str:
    name = shell_word(hit.where)
    if hit.kind == "fact":
        return f"`looseleaf why {name}` shows why it is believed; `looseleaf open {name}` shows its context."
    return f"`looseleaf open {name}` shows its context."


def open_hit(options: CliOptions) -> int:
    with open_memory(options) as memory:
        opened = memory.open(options.where)
        print_answer(options, opened.to_dict(), opened.text)
        print_notes(memory)
    return 0


def test(options: CliOptions) -> int:
    from looseleaf.recall.recall_tests import report, run

    with open_memory(options) as memory:
        with _index_progress(memory):
            outcomes = run(memory.parts, options.path)
        print_answer(options, [outcome.to_dict() for outcome in outcomes], report(outcomes))
        print_notes(memory)
    return 0 if all(outcome.passed for outcome in outcomes) else PROBLEMS


@contextmanager
def _index_progress(memory: Memory) -> Iterator[None]:
    """Show progress on a terminal while the index is built; a pipe loads nothing for it."""
    if not sys.stderr.isatty():
        yield
        return
    with progress("indexing", "bytes") as step:
        memory.views.watch_index(step)
        yield
