"""The commands of recall: find, open what was found, run the tests a person wrote. Arguments and printing only."""

from __future__ import annotations

import sys

from looseleaf.cli import PROBLEMS, clipped, hung, open_memory, plain, print_json, print_notes, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from looseleaf.cli_parse import Options
    from looseleaf.memory import Memory
    from looseleaf.recall.hits import Hit


def recall(options: Options) -> int:
    with open_memory(options) as memory:
        show_progress(memory)
        found = memory.recall(
            options.query,
            options.k,
            budget=options.budget,
            topic=options.topic,
            kinds="trace" if options.raw else options.kind,
            as_of=options.as_of,
            agent=options.agent,
            since=options.since,
            until=options.until,
            now=options.now,
            quick=True,
        )
        if options.json:
            print_json(found.to_dict())
        elif not found:
            say(found.why)
        else:
            for number, hit in enumerate(found, 1):
                text = hit.text if options.raw or options.budget is not None else clipped(hit.text)
                say("\n".join(_lines(number, hit, text, is_explained=options.explain)))
        print_notes(memory)
    return 0


def _lines(number: int, hit: Hit, text: str, *, is_explained: bool) -> Iterator[str]:
    """What is ours to say of a hit stands on lines of its own, which no text of a hit can look like."""
    yield f"{number}. {hung(text, 3)}"
    said = [hit.date, hit.speaker if hit.kind == "trace" else hit.kind, hit.level or "", f"{hit.score:.2f}"]
    if hit.status == "superseded":
        said.append(f"no longer so; now: {clipped(hit.now)}" if hit.now else "no longer so")
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
        show_progress(memory)
        outcomes = run(memory, options.path)
        has_failed = any(not outcome.passed for outcome in outcomes)
        if options.json:
            print_json([outcome.to_dict() for outcome in outcomes])
        else:
            say(report(outcomes))
        print_notes(memory)
    return PROBLEMS if has_failed else 0


def show_progress(memory: Memory) -> None:
    """On a terminal, how far a long rebuild of the index is; a pipe is left alone."""
    if not sys.stderr.isatty():
        return
    width = 30

    def progress(done: int, whole: int) -> None:
        part = min(done / whole, 1.0) if whole else 1.0
        bar = "#" * round(part * width)
        sys.stderr.write(f"\r{plain('looseleaf: indexing')} [{bar:<{width}}] {part:4.0%}")
        if part >= 1.0:
            sys.stderr.write("\n")
        sys.stderr.flush()

    memory.watch_index(progress)
