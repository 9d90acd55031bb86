"""The command `import`: a history from elsewhere. Arguments and printing only."""

from __future__ import annotations

from looseleaf.cli.shown import clipped, next_step, open_memory, print_json, print_notes, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.parse import Options
    from looseleaf.importers.summary import Counts, Imported


def import_(options: Options) -> int:
    from looseleaf.cli.progress import progress
    from looseleaf.importers.formats import detect, named
    from looseleaf.importers.run import AGENT, run
    from looseleaf.importers.source import Source

    options.agent = options.agent or AGENT
    with Source(options.path or "") as source, open_memory(options) as memory:
        format_ = named(options.format) if options.format is not None else detect(source).format
        if not options.json:
            by = "as you say" if options.format is not None else "by what is in it"
            say(f"format: {format_.NAME}, {by} ({format_.ABOUT})")
        with progress("looking" if options.dry_run else "importing", unit="items") as step:
            done = run(memory, source, format_, mine=options.mine, dry_run=options.dry_run, step=step)
        placed = 0
        if options.mine and not options.dry_run:  # also what an import left that was broken off
            with progress("distilling"):
                placed = len(memory.distill())
        if not options.dry_run and not done.is_nothing:
            options.done = "it was imported; "
            with progress("indexing", unit="bytes") as step:
                memory.build_index(progress=step)
        if options.json:
            print_json(done.to_dict() | {"entries": placed})
        else:
            _tell(done, placed)
            next_step(options, _next(done))
        print_notes(memory)
    return 0


def _tell(done: Imported, placed: int) -> None:
    said = "would be " if done.is_dry else ""
    for name, counts in (
        ("conversations", done.talks),
        ("documents", done.documents),
        ("claims", done.claims),
    ):
        if any(counts.to_dict().values()):
            say(f"{name}: {_counted(counts)}")
    if done.traces:
        say(f"traces: {done.traces:,} {said}recorded for the agent {done.agent}{_times(done)}")
    if done.pages:
        more = f" and {len(done.pages) - 10} more" if len(done.pages) > 10 else ""
        say(f"pages: {', '.join(map(clipped, done.pages[:10]))}{more} {said}written, as yours")
    if placed:
        say(f"distilled: {placed:,} {'entry' if placed == 1 else 'entries'}")
    if done.waiting:
        say(f"review: {done.waiting:,} wait for your yes")
    for title in done.titles:
        say(f"  {clipped(title)}")
    if done.as_data:
        say(
            f"{done.as_data:,} of the conversations were imported as data before and stay that; only what is new in "
            "them counts as yours."
        )
    if done.passed_over:
        say(f"passed over: {done.passed_over:,}")
        for note in done.notes:
            say(f"  {clipped(note)}")


def _counted(counts: Counts) -> str:
    words = {
        "new": "new",
        "grown": "gone on",
        "known": "there already",
        "forgotten": "forgotten, and stay so",
    }
    words |= {"bad": "that could not be taken"}
    return ", ".join(f"{count:,} {words[name]}" for name, count in counts.to_dict().items() if count)


def _times(done: Imported) -> str:
    from looseleaf.core.times import day

    if done.since is None or done.until is None:
        return ""
    return f", from {day(done.since)} to {day(done.until)}"


def _next(done: Imported) -> str:
    if done.is_nothing:
        return "there is nothing to do: all of it is there already."
    if done.is_dry:
        return "the same without --dry-run; add --mine if you vouch for it: your words in it count as yours then."
    if done.is_mine:
        return '`looseleaf facts` shows what is known now, `looseleaf recall "…"` finds any of it.'
    review = "`looseleaf review` shows what waits for you; " if done.waiting else ""
    return (
        f'{review}`looseleaf recall "…"` finds any of it. It is data that nobody vouches for: nothing of it is in '
        "a prompt or was distilled."
    )
