"""The commands around the prompt: make one, explain it, show an old one again, hold two against each other; why words
are in one; what prompts cost. Arguments and printing only.

In tables the words of others are clipped to their column, and what steers a terminal is written out first: no text can
break a line of ours or pass for one.
"""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.cli.output import (
    PROBLEMS,
    STDIN,
    bar,
    cell,
    columns,
    decode,
    filled,
    on_terminal,
    open_memory,
    plain,
    print_bytes,
    print_json,
    print_notes,
    read_input,
    say,
    table,
    terminal_width,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.values import Record
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.explain.prompt_costs import Analysis, Compared
    from looseleaf.explain.why import Answer
    from looseleaf.memory import Memory
    from looseleaf.prompt.manifest import Manifest, Omitted, Prompt

_LINES = 12
"""Lines of one change that are shown; more are counted."""


# --- prompt ----------------------------------------------------------------------------


def prompt(options: CliOptions) -> int:
    _refuse_mixed(options)
    task = _task(options)
    with open_memory(options) as memory:
        if options.diff is not None:
            _print_compared(memory, options)
        elif options.replay is not None:
            _print_prompt(memory.replay(options.replay), options)
        else:
            memory.resume()
            made = memory.prompt(task, budget=options.budget, model=options.model, dry_run=options.dry_run)
            options.done = "" if options.dry_run else "the prompt was made and logged; "
            _print_prompt(made, options)
            if not made.messages and not options.explain:
                memory.notes.append("The prompt is empty: there is nothing to tell yet, and no task.")
        print_notes(memory)
    return 0


def _refuse_mixed(options: CliOptions) -> None:
    """An old prompt is as it was: what it is made for cannot be said any more."""
    if options.explain and options.messages:
        raise Refused(
            "No prompt was shown: --explain and --messages are two ways to show it. Leave one out, or both for --json, "
            "which has both."
        )
    old = "--replay" if options.replay is not None else "--diff" if options.diff is not None else None
    if old is None:
        return
    if options.replay is not None and options.diff is not None:
        raise Refused(
            "No prompt was shown: --replay and --diff are two ways to look at old ones. Leave one out."
        )
    given = {"--budget": options.budget is not None, "--model": options.model is not None}
    given |= {"--dry-run": options.dry_run, "a task": old == "--replay" and options.task is not None}
    if old == "--diff":
        given |= {"--explain": options.explain, "--messages": options.messages}
    wrong = next((name for name, is_given in given.items() if is_given), None)
    if wrong is not None:
        raise Refused(f"No prompt was shown: {wrong} does not go with {old}. Leave one of them out.")


def _task(options: CliOptions) -> str | None:
    if options.task != STDIN or options.diff is not None:
        return options.task
    text = decode(read_input(STDIN, "asked"), "standard input", "asked")
    # The line end that `echo` and the like put behind everything was not asked.
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def _print_prompt(made: Prompt, options: CliOptions) -> None:
    if options.explain:
        if options.json:
            print_json(made.manifest.to_dict())
        else:
            _print_explained(made.manifest, is_logged=not options.dry_run)
    elif options.json or options.messages:
        messages = [message.to_dict() for message in made.messages]
        manifest = made.manifest.to_dict()
        print_json({"messages": messages, "manifest": manifest} if options.json else messages)
    else:
        print_bytes(made.text.encode("utf-8", "backslashreplace"))


# --- explaining ------------------------------------------------------------------------


_EMPTY = "The prompt is empty: there is nothing to tell, and no task."


def _print_explained(manifest: Manifest, *, is_logged: bool) -> None:
    width = terminal_width()
    if not on_terminal():
        say("\n".join(_explained(manifest, width, is_logged=is_logged)))
        return
    total = manifest.total_tokens
    rows = [(slot, name, f"{cost:,}", bar(cost, total), why) for slot, name, cost, why in _items(manifest)]
    if rows:
        table(("slot", "item", "tokens", "share", "reason"), rows, right=("tokens",))
    else:
        say(_EMPTY)
    if manifest.omitted:
        say("")
        table(
            ("slot", "left out", "why"), [(each.slot, _left(each), _why(each)) for each in manifest.omitted]
        )
    say("\n".join(_totals(manifest, width, is_logged=is_logged)))


def _items(manifest: Manifest) -> list[tuple[str, str, int, str]]:
    return [
        (item.slot, _short(item.id), item.tokens, f"{item.reason} ({item.format})") for item in manifest.items
    ]


def _why(omitted: Omitted) -> str:
    from looseleaf.explain.why_not import WHY

    return f"{omitted.reason}: {WHY.get(omitted.reason, 'no reason is known')}"


def _explained(manifest: Manifest, width: int, *, is_logged: bool = True) -> Iterator[str]:
    rows = _items(manifest)
    yield from _bars(("slot", "item", "tokens", "reason"), rows, manifest.total_tokens, width)
    if not rows:
        yield _EMPTY
    if manifest.omitted:
        yield ""
        yield "left out:"
        names = [cell(_left(each), width // 3) for each in manifest.omitted]
        wide = max(map(columns, names))
        for each, name in zip(manifest.omitted, names, strict=True):
            yield f"  {filled(each.slot, 10)}  {filled(name, wide)}  {cell(_why(each), width - wide - 16)}"
    yield from _totals(manifest, width, is_logged=is_logged)


def _totals(manifest: Manifest, width: int, *, is_logged: bool) -> Iterator[str]:
    total = manifest.total_tokens
    known = _percent(manifest.prefix_tokens, total)
    beginning = f"its beginning: {_EPOCHS.get(manifest.epoch, manifest.epoch)}"
    model = "" if manifest.model == "unknown" else f" for {manifest.model}"
    counted = f"counted{model} in tokens of {manifest.tokenizer}"
    yield ""
    yield f"{total:,} of {manifest.budget_tokens:,} tokens ({_percent(total, manifest.budget_tokens)})"
    yield f"{manifest.prefix_tokens:,} of them as the prompt before had them ({known})"
    yield from _cuts(manifest.cuts, width)
    yield cell(beginning, width)
    yield cell(counted, width)
    yield f"prompt {plain(manifest.id)}" if is_logged else "dry run: nothing was logged"


_EPOCHS = {
    "first": "since the first prompt",
    "compacted": "since the last compaction",
    "long_ago": "since the talk was taken up again",
    "more_room": "since there was much more room",
    "crowded": "since the old one left too little room for talk",
    "no_room": "for this prompt only, there is less room",
}
"""Since when charter and memory have been as they are: a manifest's `epoch` in words."""

_LEFT = {
    ("essentials", "profile"): "{} fact{s} said above",
    ("essentials", "secondary"): "{} fact{s} that matter{v} less",
    ("essentials", "essentials"): "{} fact{s}",
    ("profile", "USER.md"): "{} fact{s} of USER.md",
    ("profile", "USER.md: prose"): "what is no fact in USER.md",
    ("state", "state"): "{} line{s} of the state",
    ("index", "summaries"): "the summaries of pages",
    ("index", "pages"): "{} more page{s}",
    ("index", "index"): "{} page{s}",
    ("index", "days"): "{} daily page{s}",
    ("index", "review"): "what waits in review",
    ("episodes", "details"): "all but the summaries",
    ("episodes", "window"): "{} episode{s} in the window",
    ("episodes", "episodes"): "{} episode{s}",
    ("window", "semantic"): "{} sentence{s} said above",
    ("window", "the ends of results"): "the end{s} of {} result{s}",
    ("window", "earlier turns"): "earlier turns",
    ("window", "what is too long"): "{} long text{s}",
}
"""What a manifest calls what was left out, in words."""


def _left(omitted: Omitted) -> str:
    number = len(omitted.of)
    told = _LEFT.get((omitted.slot, omitted.id))
    if told is None or ("{}" in told and (not number or omitted.of == (omitted.id,))):
        return f"{omitted.id} ({number})" if number > 1 else omitted.id
    return told.format(f"{number:,}", s="s" * (number != 1), v="s" * (number == 1))


def _short(name: str) -> str:
    """A message of changes by how its id ends: the beginning is the time, and much the same in all."""
    kind, _, drawn = name.partition("/")
    return f"changes …{drawn[-4:]}" if kind == "changes" and len(drawn) > 8 else name


def _cuts(cuts: Sequence[str], width: int) -> Iterator[str]:
    """All of them, on as many lines as they take."""
    line = "cuts: "
    for number, each in enumerate(cuts or ("none",)):
        part = cell(each, width - 8) + ("; " if number + 1 < len(cuts) else "")
        if line.strip() != "cuts:" and columns(line) + columns(part.rstrip()) > width:
            yield line.rstrip()
            line = "  "
        line += part
    yield line.rstrip()


def _bars(
    titles: Sequence[str], rows: Sequence[tuple[str, str, int, str]], total: int, width: int
) -> Iterator[str]:
    """A table: two names, tokens, a bar as long as their share, and a reason."""
    if not rows:
        return
    slots, names = (
        [cell(name, width // 4) for name in column] for column in zip(*(row[:2] for row in rows), strict=True)
    )
    tokens = [f"{row[2]:,}" for row in rows]
    first, second, third = (
        max(len(title), *map(columns, cells))
        for title, cells in zip(titles, (slots, names, tokens), strict=False)
    )
    reasons = [cell(row[3], min(width // 3, width - first - second - third - 16)) for row in rows]
    last = max(len(titles[3]), *map(columns, reasons))
    bar = max(8, min(40, width - first - second - third - last - 8))
    yield f"{titles[0]:<{first}}  {titles[1]:<{second}}  {titles[2]:>{third}}  {'':<{bar}}  {titles[3]}".rstrip()
    for slot, name, cost, row, why in zip(slots, names, tokens, rows, reasons, strict=True):
        drawn = "#" * max(int(row[2] > 0), round(bar * row[2] / total)) if total else ""
        cells = (
            filled(slot, first),
            filled(name, second),
            f"{cost:>{third}}",
            f"{drawn[:bar]:<{bar}}",
            why,
        )
        yield "  ".join(cells).rstrip()


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


# --- two prompts -----------------------------------------------------------------------


def _print_compared(memory: Memory, options: CliOptions) -> None:
    compared = memory.compare(options.diff or "", options.task or "last")
    if options.json:
        print_json(compared.to_dict())
    else:
        say("\n".join(_compared(compared, terminal_width())))


def _compared(compared: Compared, width: int) -> Iterator[str]:
    yield f"from {plain(compared.old)} to {plain(compared.new)}"
    same = f"{compared.messages} message{'s' * (compared.messages != 1)}, {compared.tokens:,} tokens"
    yield f"the same at the beginning: {same}"
    for word, items in (("came", compared.came), ("went", compared.went)):
        for item in items:
            yield cell(f"{word}: {item['slot']} {item['id']}, {item['tokens']:,} tokens", width)
            sign = "+" if word == "came" else "-"
            yield from _some([f"{sign}{line}" for line in item["text"].splitlines() if line.strip()], width)
    for item in compared.changed:
        yield from _changed(item, width)
    if not (compared.came or compared.went or compared.changed):
        yield "Nothing came, went or changed."


def _changed(item: Record, width: int) -> Iterator[str]:
    old, new = item["tokens"]
    yield cell(f"changed: {item['slot']} {item['id']}, {old:,} to {new:,} tokens", width)
    yield from _some(item["lines"], width)


def _some(lines: Sequence[str], width: int) -> Iterator[str]:
    yield from (f"  {cell(line, width - 2)}" for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"  … and {len(lines) - _LINES:,} more lines"


# --- why -------------------------------------------------------------------------------


def why_in_prompt(memory: Memory, options: CliOptions) -> int:
    """0: the words are in the prompt; 1: they are not, and here is why."""
    answer = memory.why(options.what, options.prompt or "last")
    if options.json:
        print_json(answer.to_dict())
    else:
        say("\n".join(_answered(answer)))
    print_notes(memory)
    return 0 if answer.is_in else PROBLEMS


def _answered(answer: Answer) -> Iterator[str]:
    first, *_ = answer.chains[0].steps
    is_in = "in" if answer.is_in else "not in"
    yield f"“{cell(answer.text, 80)}” is {is_in} the prompt {plain(first.where)} ({plain(first.text)})."
    for chain in answer.chains:
        yield ""
        for step in chain.steps[1:]:
            where = f" {cell(step.where, 400)}" if step.where not in ("", step.what) else ""
            yield f"{'  ' * step.depth}{plain(step.what)}{where}: {cell(step.text, 400)}"
    if answer.more:
        yield ""
        yield f"{answer.more:,} more place{'s' * (answer.more != 1)}: give more of the words."


# --- analyze ---------------------------------------------------------------------------


def analyze(options: CliOptions) -> int:
    with open_memory(options) as memory:
        memory.resume()
        analysis = memory.analyze(options.last)
        if options.json:
            print_json(analysis.to_dict())
        else:
            _print_analysis(analysis)
        print_notes(memory)
    return 0


def _print_analysis(analysis: Analysis) -> None:
    width, total = terminal_width(), analysis.total_tokens
    if not on_terminal():
        say("\n".join(_analyzed(analysis, width)))
        return
    say(_now(analysis))
    rows = [
        (slot, f"{tokens:,}", _percent(tokens, total), bar(tokens, total))
        for slot, tokens in analysis.slots.items()
    ]
    if rows:
        table(("slot", "tokens", "", "share"), rows, right=("tokens", ""))
    say("\n".join(_otherwise(analysis)))
    if not analysis.prompts:
        say(_NONE_YET)
        return
    say(_LAST_PROMPTS)
    shown = [
        (
            row.id,
            f"{row.timestamp[:19]}Z",
            f"{row.total_tokens:,}",
            f"{row.budget_tokens:,}",
            _percent(row.prefix_tokens, row.total_tokens),
            "\n".join((_EPOCHS.get(row.epoch, row.epoch), *(_cuts(row.cuts, width) if row.cuts else ()))),
        )
        for row in reversed(analysis.prompts)
    ]
    figures = ("tokens", "budget", "known")
    table(("prompt", "time", *figures, "beginning"), shown, right=figures)
    say(f"\n{_shares(analysis)}")


_NONE_YET = "No prompt was made yet: looseleaf prompt."
_LAST_PROMPTS = (
    "The last prompts, newest first. known: what the one before had at the same places, so that a cache may\n"
    "know it; beginning: since when charter and memory have been as they are."
)


def _now(analysis: Analysis) -> str:
    return f"A prompt now, without a task: {analysis.total_tokens:,} of {analysis.budget_tokens:,} tokens"


def _shares(analysis: Analysis) -> str:
    known = f"{100 * analysis.prefix_share:.0f} % stood in the prompt before at the same places"
    cached = f"{100 * analysis.cached_share:.0f} % a cache of five minutes would have known"
    return f"Of {analysis.input_tokens:,} input tokens, {known}; {cached}."


def _analyzed(analysis: Analysis, width: int) -> Iterator[str]:
    total = analysis.total_tokens
    yield _now(analysis)
    rows = [(slot, _percent(tokens, total), tokens, "") for slot, tokens in analysis.slots.items()]
    yield from _bars(("slot", "share", "tokens", ""), rows, total, width)
    yield from _otherwise(analysis)
    if not analysis.prompts:
        yield _NONE_YET
        return
    yield from _LAST_PROMPTS.split("\n")
    yield f"{'prompt':<26}  {'time':<20}  {'tokens':>9}  {'budget':>9}  {'known':>5}  beginning"
    for row in reversed(analysis.prompts):
        name, then = filled(cell(row.id, 26), 26), filled(cell(f"{row.timestamp[:19]}Z", 20), 20)
        share = _percent(row.prefix_tokens, row.total_tokens)
        numbers = f"{row.total_tokens:>9,}  {row.budget_tokens:>9,}  {share:>5}"
        yield f"{name}  {then}  {numbers}  {cell(_EPOCHS.get(row.epoch, row.epoch), 60)}"
        if row.cuts:
            yield from (f"  {line}" for line in _cuts(row.cuts, width - 2))
    yield ""
    yield _shares(analysis)


def _otherwise(analysis: Analysis) -> Iterator[str]:
    yield ""
    yield f"Its memory: {analysis.memory_tokens:,} tokens, all but the talk. The same memory otherwise:"
    parts = ", ".join(f"{cell(name, 40)} {tokens:,}" for name, tokens in analysis.before.items())
    yield f"  {analysis.before_tokens:>9,}  with the last daily logs whole ({parts or 'nothing'})"
    yield f"  {analysis.everything_tokens:>9,}  with all pages whole"
    yield ""
