"""The verbs of prompts: build one, explain it, show an old one, compare two; why words are in one; what prompts cost.

Arguments and printing only. In tables the words of others are cut to their column, after characters that steer a
terminal are written out: no text can break a line of the program or pass for one.
"""

from __future__ import annotations

from looseleaf.base.errors import Invalid
from looseleaf.cli.output import (
    PROBLEMS,
    STDIN,
    bar,
    cell,
    columns,
    filled,
    on_terminal,
    open_memory,
    plain,
    print_answer,
    print_bytes,
    print_json,
    print_notes,
    read_line,
    say,
    table,
    terminal_width,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.explain.prompt_costs import Analysis, Compared
    from looseleaf.explain.why import Explanation
    from looseleaf.memory import Memory
    from looseleaf.prompt.manifest import Manifest, Omitted, Prompt

_LINES = 12
"""Lines shown of one change; more are counted."""


def prompt(options: CliOptions) -> int:
    _refuse_mixed(options)
    is_given = options.task != STDIN or options.diff is not None
    task = options.task if is_given else read_line("asked")
    with open_memory(options) as memory:
        if options.diff is not None:
            _print_compared(memory, options)
        elif options.replay is not None:
            _print_prompt(memory.explain.replay(options.replay), options)
        else:
            memory.talk.resume()
            made = memory.prompt(task, budget=options.budget, model=options.model, dry_run=options.dry_run)
            options.done = "" if options.dry_run else "the prompt was made and logged; "
            _print_prompt(made, options)
            if not made.messages and not options.explain:
                memory.notes.append("The prompt is empty: there is nothing to tell yet, and no task.")
        print_notes(memory)
    return 0


def _refuse_mixed(options: CliOptions) -> None:
    """Refuse options that do not go together. An old prompt cannot be given another task or budget."""
    if options.explain and options.messages:
        raise Invalid(
            "No prompt was shown: --explain and --messages exclude each other. Leave one out; --json has both."
        )
    old = "--replay" if options.replay is not None else "--diff" if options.diff is not None else None
    if old is None:
        return
    if options.replay is not None and options.diff is not None:
        raise Invalid("No prompt was shown: --replay and --diff exclude each other. Leave one out.")
    given = {"--budget": options.budget is not None, "--model": options.model is not None}
    given |= {"--dry-run": options.dry_run, "a task": old == "--replay" and options.task is not None}
    if old == "--diff":
        given |= {"--explain": options.explain, "--messages": options.messages}
    wrong = next((name for name, is_given in given.items() if is_given), None)
    if wrong is not None:
        raise Invalid(f"No prompt was shown: {wrong} does not go with {old}. Leave one out.")


def _print_prompt(made: Prompt, options: CliOptions) -> None:
    manifest = made.manifest
    if options.explain and options.json:
        print_json(manifest.to_dict())
    elif options.explain:
        _print_explained(manifest, is_logged=not options.dry_run)
    elif options.json or options.messages:
        messages = [message.to_dict() for message in made.messages]
        print_json({"messages": messages, "manifest": manifest.to_dict()} if options.json else messages)
    else:
        print_bytes(made.text.encode("utf-8", "backslashreplace"))


_EMPTY = "The prompt is empty: the memory is empty, and there is no task."


def _print_explained(manifest: Manifest, *, is_logged: bool) -> None:
    width = terminal_width()
    if not on_terminal():
        say("\n".join(explained_lines(manifest, width, is_logged=is_logged)))
        return
    total = manifest.total_tokens
    rows = [
        (slot, name, f"{cost:,}", bar(cost, total), why) for slot, name, cost, why in _item_rows(manifest)
    ]
    if rows:
        table(("slot", "item", "tokens", "share", "reason"), rows, right=("tokens",))
    else:
        say(_EMPTY)
    if manifest.omitted:
        say("")
        left_out = [(each.slot, omitted_words(each), _omitted_reason(each)) for each in manifest.omitted]
        table(("slot", "left out", "why"), left_out)
    say("\n".join(_total_lines(manifest, width, is_logged=is_logged)))


def _item_rows(manifest: Manifest) -> list[tuple[str, str, int, str]]:
    return [
        (item.slot, _short_id(item.id), item.tokens, f"{item.reason} ({item.format})")
        for item in manifest.items
    ]


def _omitted_reason(omitted: Omitted) -> str:
    from looseleaf.explain.why_not import WHY

    return f"{omitted.reason}: {WHY.get(omitted.reason, 'no reason is known')}"


def explained_lines(manifest: Manifest, width: int, *, is_logged: bool = True) -> Iterator[str]:
    rows = _item_rows(manifest)
    yield from _bar_table(("slot", "item", "tokens", "reason"), rows, manifest.total_tokens, width)
    if not rows:
        yield _EMPTY
    if manifest.omitted:
        yield ""
        yield "left out:"
        names = [cell(omitted_words(each), width // 3) for each in manifest.omitted]
        wide = max(map(columns, names))
        for each, name in zip(manifest.omitted, names, strict=True):
            yield f"  {filled(each.slot, 10)}  {filled(name, wide)}  {cell(_omitted_reason(each), width - wide - 16)}"
    yield from _total_lines(manifest, width, is_logged=is_logged)


def _total_lines(manifest: Manifest, width: int, *, is_logged: bool) -> Iterator[str]:
    total = manifest.total_tokens
    known = _percent(manifest.prefix_tokens, total)
    beginning = f"its beginning: {_EPOCHS.get(manifest.epoch, manifest.epoch)}"
    model = "" if manifest.model == "unknown" else f" for {manifest.model}"
    counted = f"counted{model} in tokens of {manifest.tokenizer}"
    yield ""
    yield f"{total:,} of {manifest.budget_tokens:,} tokens ({_percent(total, manifest.budget_tokens)})"
    yield f"{manifest.prefix_tokens:,} of them as the prompt before had them ({known})"
    yield from cut_lines(manifest.cuts, width)
    yield cell(beginning, width)
    yield cell(counted, width)
    yield f"prompt {plain(manifest.id)}" if is_logged else "dry run: nothing was logged"


_EPOCHS = {
    "first": "since the first prompt",
    "compacted": "since the last compaction",
    "long_ago": "since the talk was taken up again",
    "more_room": "since there was much more room",
    "crowded": "since the old one left too little room for talk",
    "lost": "since the journal lost what the old one had shown",
    "no_room": "for this prompt only, there is less room",
}
"""A manifest's `epoch` in words: since when its beginning is unchanged."""

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
"""By slot and id in a manifest, the words for an omitted part."""


def omitted_words(omitted: Omitted) -> str:
    number = len(omitted.of)
    told = _LEFT.get((omitted.slot, omitted.id))
    if told is None or ("{}" in told and (not number or omitted.of == (omitted.id,))):
        return f"{omitted.id} ({number})" if number > 1 else omitted.id
    return told.format(f"{number:,}", s="s" * (number != 1), v="s" * (number == 1))


def _short_id(name: str) -> str:
    """Return a short id: for a message of changes its end, as the beginning is the time."""
    kind, _, drawn = name.partition("/")
    return f"changes …{drawn[-4:]}" if kind == "changes" and len(drawn) > 8 else name


def cut_lines(cuts: Sequence[str], width: int) -> Iterator[str]:
    """Yield all cuts, on as many lines as they take."""
    line = "cuts: "
    for number, each in enumerate(cuts or ("none",)):
        part = cell(each, width - 8) + ("; " if number + 1 < len(cuts) else "")
        if line.strip() != "cuts:" and columns(line) + columns(part.rstrip()) > width:
            yield line.rstrip()
            line = "  "
        line += part
    yield line.rstrip()


def _bar_table(
    titles: Sequence[str], rows: Sequence[tuple[str, str, int, str]], total: int, width: int
) -> Iterator[str]:
    """Yield a table: two names, tokens, a bar as long as their share, and a reason."""
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
        names_and_cost = f"{filled(slot, first)}  {filled(name, second)}  {cost:>{third}}"
        yield f"{names_and_cost}  {drawn[:bar]:<{bar}}  {why}".rstrip()


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def _print_compared(memory: Memory, options: CliOptions) -> None:
    compared = memory.explain.compare(options.diff or "", options.task or "last")
    print_answer(options, compared.to_dict(), "\n".join(compared_lines(compared, terminal_width())))


def compared_lines(compared: Compared, width: int) -> Iterator[str]:
    yield f"from {plain(compared.old)} to {plain(compared.new)}"
    same = f"{compared.messages} message{'s' * (compared.messages != 1)}, {compared.tokens:,} tokens"
    yield f"the same at the beginning: {same}"
    for word, items in (("came", compared.came), ("went", compared.went)):
        for item in items:
            yield cell(f"{word}: {item['slot']} {item['id']}, {item['tokens']:,} tokens", width)
            sign = "+" if word == "came" else "-"
            lines = [f"{sign}{line}" for line in item["text"].splitlines() if line.strip()]
            yield from _first_lines(lines, width)
    for item in compared.changed:
        old, new = item["tokens"]
        yield cell(f"changed: {item['slot']} {item['id']}, {old:,} to {new:,} tokens", width)
        yield from _first_lines(item["lines"], width)
    if not (compared.came or compared.went or compared.changed):
        yield "Nothing came, went or changed."


def _first_lines(lines: Sequence[str], width: int) -> Iterator[str]:
    yield from (f"  {cell(line, width - 2)}" for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"  … and {len(lines) - _LINES:,} more line{'s' * (len(lines) > _LINES + 1)}"


def why_in_prompt(memory: Memory, options: CliOptions) -> int:
    """Print why words are in a prompt or not. 0: they are in it; 1: they are not."""
    answer = memory.explain.why(options.what, options.prompt or "last")
    print_answer(options, answer.to_dict(), "\n".join(answer_lines(answer)))
    print_notes(memory)
    return 0 if answer.is_in else PROBLEMS


def answer_lines(answer: Explanation) -> Iterator[str]:
    first, *_ = answer.chains[0].steps
    is_newer = any(step.what == "later" for chain in answer.chains for step in chain.steps)
    is_in = "in" if answer.is_in else "newer than" if is_newer else "not in"
    yield f"“{cell(answer.text, 80)}” is {is_in} the prompt {plain(first.where)} ({plain(first.text)})."
    for chain in answer.chains:
        yield ""
        for step in chain.steps[1:]:
            where = f" {cell(step.where, 400)}" if step.where not in ("", step.what) else ""
            yield f"{'  ' * step.depth}{plain(step.what)}{where}: {cell(step.text, 400)}"
    if answer.more:
        yield ""
        yield f"{answer.more:,} more place{'s' * (answer.more != 1)}: give more of the words."


def analyze(options: CliOptions) -> int:
    with open_memory(options) as memory:
        memory.talk.resume()
        analysis = memory.explain.costs(options.last)
        if options.json:
            print_json(analysis.to_dict())
        else:
            _print_analysis(analysis)
        print_notes(memory)
    return 0


def _print_analysis(analysis: Analysis) -> None:
    width, total = terminal_width(), analysis.total_tokens
    if not on_terminal():
        say("\n".join(analysis_lines(analysis, width)))
        return
    say(_now_line(analysis))
    rows = [
        (slot, f"{tokens:,}", _percent(tokens, total), bar(tokens, total))
        for slot, tokens in analysis.slots.items()
    ]
    if rows:
        table(("slot", "tokens", "", "share"), rows, right=("tokens", ""))
    say("\n".join(_alternative_lines(analysis)))
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
            "\n".join((_EPOCHS.get(row.epoch, row.epoch), *(cut_lines(row.cuts, width) if row.cuts else ()))),
        )
        for row in reversed(analysis.prompts)
    ]
    figures = ("tokens", "budget", "known")
    table(("prompt", "time", *figures, "beginning"), shown, right=figures)
    say(f"\n{_shares_line(analysis)}")


_NONE_YET = "There are no prompts yet. `looseleaf prompt` makes one."
_LAST_PROMPTS = (
    "The last prompts, newest first. known: the part that the prompt before had at the same place, which a cache\n"
    "may have; beginning: since when charter and memory are unchanged."
)


def _now_line(analysis: Analysis) -> str:
    return f"A prompt now, without a task: {analysis.total_tokens:,} of {analysis.budget_tokens:,} tokens"


def _shares_line(analysis: Analysis) -> str:
    known = f"{100 * analysis.prefix_share:.0f} % stood in the prompt before at the same places"
    cached = f"{100 * analysis.cached_share:.0f} % a cache of five minutes would have known"
    return f"Of {analysis.input_tokens:,} input tokens, {known}; {cached}."


def analysis_lines(analysis: Analysis, width: int) -> Iterator[str]:
    total = analysis.total_tokens
    yield _now_line(analysis)
    rows = [(slot, _percent(tokens, total), tokens, "") for slot, tokens in analysis.slots.items()]
    yield from _bar_table(("slot", "share", "tokens", ""), rows, total, width)
    yield from _alternative_lines(analysis)
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
            yield from (f"  {line}" for line in cut_lines(row.cuts, width - 2))
    yield ""
    yield _shares_line(analysis)


def _alternative_lines(analysis: Analysis) -> Iterator[str]:
    yield ""
    yield f"Its memory: {analysis.memory_tokens:,} tokens, all but the talk. The same memory otherwise:"
    parts = ", ".join(f"{cell(name, 40)} {tokens:,}" for name, tokens in analysis.before.items())
    yield f"  {analysis.before_tokens:>9,}  with the last daily logs whole ({parts or 'nothing'})"
    yield f"  {analysis.everything_tokens:>9,}  with all pages whole"
    yield ""
