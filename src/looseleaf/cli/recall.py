"""The commands of recall: find, open what was found, run the tests a person wrote. Arguments and printing only."""

from __future__ import annotations

import sys

from looseleaf.cli.shown import PROBLEMS, clipped, hung, open_memory, print_json, print_notes, say
from looseleaf.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.cli.build import Progress
    from looseleaf.cli.parse import Options
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
        with _Watched(memory):
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
            for number, hit in enumerate(found, 1):
                say("\n".join(_lines(number, hit, is_explained=options.explain)))
        print_notes(memory)
    return 0 if found else PROBLEMS


def _lines(number: int, hit: Hit, *, is_explained: bool) -> Iterator[str]:
    """What is ours to say of a hit stands on lines of its own, which no text of a hit can look like."""
    about = f"{hit.topic}: " if hit.kind == "fact" and hit.topic != "user" else ""
    yield f"{number}. {about}{hung(hit.text, 3)}"
    said = [hit.date, hit.speaker if hit.kind == "trace" else hit.kind, hit.level or "", f"{hit.score:.2f}"]
    if hit.is_over:
        so = "no longer so" if hit.status.endswith("superseded") else "a person said no to it"
        so = f"in part {so}" if hit.status.startswith("partly") else so
        said.append(f"{so}; now: {clipped(hit.now)}" if hit.now else so)
    place = f"{hit.where}  {hit.path}" if hit.kind == "fact" and hit.path else hit.where
    yield f"   └ {'  '.join(each for each in said if each)}  {place}"
    if is_explained:
        yield f"     {', '.join(f'{name} {value:.2f}' for name, value in hit.parts.items() if value)}"


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
    from looseleaf.recall.expect import report, run

    with open_memory(options) as memory:
        with _Watched(memory):
            outcomes = run(memory, options.path)
        has_failed = any(not outcome.passed for outcome in outcomes)
        if options.json:
            print_json([outcome.to_dict() for outcome in outcomes])
        else:
            say(report(outcomes))
        print_notes(memory)
    return PROBLEMS if has_failed else 0


class _Watched:
    """A bar on a terminal while the index is made; a pipe is told nothing, and loads nothing for it."""

    def __init__(self, memory: Memory) -> None:
        self._bar: Progress | None = None
        if sys.stderr.isatty():
            from looseleaf.cli.build import Progress

            self._bar = Progress()
            memory.watch_index(self._bar)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: Any) -> None:
        if self._bar is not None:
            self._bar.__exit__(*error)
