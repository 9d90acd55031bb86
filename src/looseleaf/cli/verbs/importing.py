"""The command `import`: a history from elsewhere. Arguments and printing only."""

from __future__ import annotations

from looseleaf.cli.output import clipped, next_step, open_memory, print_json, print_notes, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.cli.arguments import Options
    from looseleaf.transfer.summary import Counts, Imported


def import_(options: Options) -> int:
    from looseleaf.base.paths import IMPORTER
    from looseleaf.cli.progress import progress
    from looseleaf.transfer.formats import detect, named
    from looseleaf.transfer.import_run import run
    from looseleaf.transfer.source import Source

    options.agent = options.agent or IMPORTER
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
    return 1 if done.is_useless else 0


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
    if done.copies:
        _tell_copies(done)
    if done.outdated:
        say(
            f"{done.outdated:,} of these are pages of yours that their source has changed: the new text was taken as "
            "data beside them. With --mine the pages follow."
        )
    if done.forgotten:
        parts = (
            "part that was forgotten, and stays so" if done.forgotten == 1 else "parts that were forgotten"
        )
        say(f"left out: {done.forgotten:,} {parts}")
    if done.passed_over:
        say(f"passed over: {done.passed_over:,}")
        for note in done.notes:
            say(f"  {clipped(note)}")


def _tell_copies(done: Imported) -> None:
    said = "would be recorded" if done.is_dry else "are recorded"
    remove = f"--session {done.copies[0]}" if len(done.copies) == 1 else f"--origin import:{done.format}"
    say(
        f"{len(done.copies):,} of the conversations were imported as data before: they {said} again as yours, and the "
        f"first copies stay data. `looseleaf forget {remove}` removes what is there as data."
    )


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
    from looseleaf.text.times import day

    if done.since is None or done.until is None:
        return ""
    return f", from {day(done.since)} to {day(done.until)}"


def _next(done: Imported) -> str:
    if done.is_useless:
        why = "above stands why" if done.passed_over else "there is nothing in it that can be"
        return f"nothing was taken: {why}."
    review = "`looseleaf review` shows what waits for you; " if done.waiting else ""
    if done.is_nothing and not review:
        much = "what could be read of it" if done.passed_over else "all of it"
        kinds = (done.talks, done.documents, done.claims)
        gone = ", or was forgotten" if any(each.forgotten for each in kinds) else ""
        return f"there is nothing to do: {much} is there already{gone}."
    if done.is_dry:
        vouch = "; add --mine if you vouch for it: your words in it count as yours then"
        return f"the same without --dry-run{'' if done.is_mine else vouch}."
    if done.is_mine:
        return '`looseleaf facts` shows what is known now, `looseleaf recall "…"` finds any of it.'
    return (
        f'{review}`looseleaf recall "…"` finds any of it. It is data that nobody vouches for: nothing of it is in '
        "a prompt or was distilled."
    )
