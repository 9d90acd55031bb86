"""The commands of recall: find, open what was found, run the tests a person wrote. Arguments and printing only."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from looseleaf.base.errors import Refused
from looseleaf.cli.output import PROBLEMS, clipped, hung, next_step, open_memory, print_json, print_notes, say
from looseleaf.cli.table import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.cli.arguments import Options
    from looseleaf.memory import Memory
    from looseleaf.recall.hits import Hit


_CLIP = 40
"""Tokens of each hit in a list: two or three lines of a terminal, around what was asked for."""


def recall(options: Options) -> int:
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
            lines = ("\n".join(_lines(number, hit, is_explained=explain)) for number, hit in numbered)
            rows = (_row(number, hit, is_explained=explain) for number, hit in numbered)
            table(("", "where", "what"), rows, lines=lines)
        print_notes(memory)
        next_step(options, _then(found[0]) if found else _OTHERWISE)
    return 0 if found else PROBLEMS


_OTHERWISE = "other words; or --all, for what is not sure enough to be an answer."


def _lines(number: int, hit: Hit, *, is_explained: bool) -> Iterator[str]:
    """What is ours to say of a hit stands on lines of its own, which no text of a hit can look like."""
    yield f"{number}. {hung(_words(hit), 3)}"
    place = f"{hit.where}  {hit.path}" if hit.kind == "fact" and hit.path else hit.where
    yield f"   └ {'  '.join((*_said(hit), *_over(hit)))}  {place}"
    if is_explained:
        yield f"     {_parts(hit)}"


def _row(number: int, hit: Hit, *, is_explained: bool) -> tuple[str, str, str]:
    """The same for a terminal: what is ours to say stands in a column of its own."""
    about = [hit.where, *([hit.path] if hit.kind == "fact" and hit.path else []), " ".join(_said(hit))]
    about += [*_over(hit), *([_parts(hit)] if is_explained else [])]
    return f"{number}.", "\n".join(about), _words(hit)


def _words(hit: Hit) -> str:
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


def _then(hit: Hit) -> str:
    name = hit.where if " " not in hit.where else "…"
    if hit.kind == "fact":
        return f"`looseleaf why {name}` says why it is believed; `looseleaf open {name}` shows what it stands in."
    return f"`looseleaf open {name}` shows what it stands in."


def open_hit(options: Options) -> int:
    with open_memory(options) as memory:
        opened = memory.open(options.where)
        if options.json:
            print_json(opened.to_dict())
        else:
            say(opened.text)
        print_notes(memory)
    return 0


def test(options: Options) -> int:
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
    from looseleaf.cli.progress import progress

    with progress("indexing", "bytes") as step:
        memory.watch_index(step)
        yield
