"""What the benchmarks measured (results.json), as RESULTS.md, as plots, and as tables in README.md and docs/PEERS.md.

    python benchmarks/readme.py           writes them
    python benchmarks/readme.py --check   says which are not what the results say, and changes nothing

Nothing here measures anything: the same results make the same bytes, which a test compares. A table in README.md or
docs/PEERS.md stands between `<!-- benchmark: NAME -->` and `<!-- end -->`; NAME is a benchmark (its rows that have a
goal), `figures` (some rows of all of them), `peers`, `misses` (every goal that was not met) or `machine`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.peers import shown  # noqa: E402
from benchmarks.plot import plots  # noqa: E402
from benchmarks.report import NO_GOAL, Row, is_rows, load, met, table, with_goals  # noqa: E402

PAGE, PLOTS = HERE / "benchmarks/RESULTS.md", HERE / "benchmarks/plots"
DOCUMENTS = (HERE / "README.md", HERE / "docs/PEERS.md")
"""Documents with tables between marks."""
MARK = re.compile(r"<!-- benchmark: (\w+) -->\n(.*?)<!-- end -->", re.DOTALL)

ABOUT = {
    "store": "Writing and reading the log, against the least that could do it",
    "window": "What a model is told, and compaction",
    "learn": "What is learnt of what people say, by authors whom nobody tuned on",
    "model": "Distilling with a model: what of its replies becomes memory, from recorded replies",
    "identity": "Whether two facts are the same",
    "redaction": "Whether secrets are found, and nothing else",
    "chains": "What is told as true after somebody changed his mind",
    "build": "Views that are made of the log",
    "growth": "How commands grow with turns, pages, notes and lines",
    "prompt": "Assembling a prompt, sending it, and sending it again",
    "locomo": "Finding the right turn in long conversations (LoCoMo)",
    "bearing": "What a hook adds to prompts: the right thing, or nothing",
    "recall": "What finding costs, against a bare FTS5 table",
    "layers": "What a home memory under the project's costs, against one memory with the same content",
    "belonging": "Where what is said in a project goes: home, here, or where colleagues read it",
    "merge": "What it costs to merge another copy, and to share a memory between four machines",
    "vectors": "Finding by meaning, against a numpy product",
    "hook": "What a hook of a coding agent costs, against starting Python",
    "server": "What a client waits for when it starts the MCP server, against starting Python",
    "rest": "What REST adds to a verb of `Memory`, against the same without",
    "postgres": "The store in PostgreSQL, against bare statements and against a folder",
    "postgres_search": "Searching in PostgreSQL, against SQLite with the same items",
    "workers": "What jobs of a database cost",
    "crowd": "Many memories in one database, asked by several processes while workers distill",
    "screens": "What the screens of a server ask of a large memory, against reading a thousand lines",
    "page": "What a person waits for at the page of a large memory",
    "clients": "What hooks and server add to a turn of a real coding agent",
    "agent": "What the agent's loop costs a turn",
    "cold": "Starting, against starting Python",
}
"""In the order of the page."""

CHOSEN = (
    (
        "store",
        "durable append, one record a sync, against a loop of `json.dumps`",
        "recording: speed of a durable message, relative to a bare write and sync",
    ),
    (
        "window",
        "real talks cut in the middle, before a turn",
        "compaction of a whole conversation: names, paths and ids needed later that are still there",
    ),
    (
        "learn",
        "lines that rest on what is worth keeping",
        "learning without a model: kept lines whose source the author marked as worth keeping",
    ),
    ("learn", "facts found", "learning without a model: marked facts that are known afterwards"),
    (
        "learn",
        "changes after which the old value is told as true",
        "after a natural change of mind: how often the old value is still given as true",
    ),
    (
        "learn",
        "prohibitions that were obeyed",
        "after “don't remember this”: how often nothing of it is left",
    ),
    (
        "prompt",
        "a prompt of 10,000 facts",
        "prompts: time with 10,000 facts and 100,000 turns, relative to 100 of each",
    ),
    (
        "prompt",
        "input tokens that a provider's cache knows in a budget of 16,000",
        "prompts: tokens already in a provider's cache over 500 turns (if each turn rendered the memory anew)",
    ),
    (
        "locomo",
        "evidence found in ten hits, by words",
        "recall: questions on long conversations (LoCoMo) with the evidence in ten hits, by words alone",
    ),
    (
        "locomo",
        "unrelated questions that get no answer",
        "recall: unrelated questions that get a plain no",
    ),
    (
        "recall",
        "a question at 100,000 messages, warm",
        "recall: time of a question among 100,000 messages, relative to a bare full-text table",
    ),
    (
        "hook",
        "`hook user-prompt` at 100,000 turns",
        "hooks: time of one at 100,000 turns, relative to starting Python",
    ),
)
"""The rows that README.md shows: a benchmark, how the row begins, and a label for a newcomer."""


def rows_of(measured: dict[str, Any]) -> list[Row]:
    return [(what, figure, goal) for what, figure, goal in measured["rows"]]


def judged(rows: list[Row]) -> str:
    said = {True: "met", False: "**missed**", None: NO_GOAL}
    with_verdicts = [(*row, said[met(row[1], row[2])]) for row in rows]
    return table(with_verdicts, ("what", "measured", "goal", ""))


def misses(results: dict[str, Any]) -> list[tuple[str, Row]]:
    """Every goal that was not met, with its benchmark. `the same` says of what."""
    found: list[tuple[str, Row]] = []
    for name in ABOUT:
        before = ""
        for what, figure, goal in rows_of(results[name]) if is_rows(results.get(name)) else ():
            same = what.startswith("the same")
            before = before if same else what
            if met(figure, goal) is False:
                found.append((name, (f"{before}; {what}" if same else what, figure, goal)))
    return found


def machine(results: dict[str, Any]) -> str:
    """What they were measured on; more than one line if they were not measured on one."""
    told: dict[str, list[str]] = {}
    for name, measured in results.items():
        made = dict(measured["machine"])
        date = made.pop("date")
        line = (
            f"{made['processor']}, {made['cores']} cores, {made['memory']}, {made['system']}, Python {made['python']}, "
            f"SQLite {made['sqlite']}, {made['disk']}, {date}"
        )
        told.setdefault(line, []).append(name)
    loads = [float(measured["load"]) for measured in results.values() if measured.get("load")]
    busy = f"; processes that wanted to run meanwhile: {min(loads):.1f} to {max(loads):.1f}" if loads else ""
    cores = min(int(measured["machine"]["cores"]) for measured in results.values())
    if loads and max(loads) > cores:
        busy += (
            f" on {cores} cores, so that milliseconds are several times what they would be on an idle machine; ratios "
            "and processor time suffer less"
        )
    if len(told) == 1:
        return f"{next(iter(told))}{busy}."
    return "\n".join(f"- {', '.join(names)}: {line}." for line, names in told.items())


def chosen(results: dict[str, Any]) -> list[Row]:
    """The rows of README.md, as far as they were measured, each by its short name."""
    found: list[Row] = []
    for name, begin, label in CHOSEN:
        rows = rows_of(results[name]) if is_rows(results.get(name)) else []
        found += [(label, figure, goal) for what, figure, goal in rows if what.startswith(begin)][:1]
    return [
        (label, figure, f"{goal} (missed)" if met(figure, goal) is False else goal)
        for label, figure, goal in found
    ]


# --- RESULTS.md -----------------------------------------------------------------------------------


def page(results: dict[str, Any]) -> str:
    return "\n\n".join(_sections(results)) + "\n"


def _sections(results: dict[str, Any]) -> Iterator[str]:
    yield "# What was measured"
    yield (
        "Written by `make bench` (`benchmarks/readme.py`, from `benchmarks/results.json`); not by hand. Each figure is "
        "a ratio to something that ran beside it, or a count; where seconds are shown, they are of this machine:"
    )
    yield machine(results)
    missed = misses(results)
    goals = sum(
        met(row[1], row[2]) is not None
        for measured in results.values()
        if is_rows(measured)
        for row in rows_of(measured)
    )
    yield (
        f"Of {goals} goals {goals - len(missed)} are met, and these are not:"
        if missed
        else f"All {goals} goals are met."
    )
    if missed:
        yield missed_table(results)
    for name, title in ABOUT.items():
        if is_rows(results.get(name)):
            yield f"## {name}: {title}"
            yield judged(rows_of(results[name]))
            for heading, text in results[name].get("more", {}).items():
                yield f"### {heading}"
                yield text
    if "peers" in results:
        yield "## peers: The same work for other memories, in one run"
        yield from shown.tables(results["peers"])
        yield from (f"![{alt}](plots/{name})" for name, alt, _ in plots(results))


def missed_table(results: dict[str, Any]) -> str:
    return table([(name, *row) for name, row in misses(results)], ("benchmark", "what", "measured", "goal"))


# --- tables in documents ----------------------------------------------------------------------------


def tables(results: dict[str, Any]) -> dict[str, Callable[[], str]]:
    """What may stand between marks."""
    made: dict[str, Callable[[], str]] = {
        name: lambda measured=measured: table(with_goals(rows_of(measured)))  # type: ignore[misc]
        for name, measured in results.items()
        if is_rows(measured)
    }
    made |= {"misses": lambda: missed_table(results), "machine": lambda: machine(results)}
    if len(chosen(results)) == len(CHOSEN):
        made["figures"] = lambda: table(chosen(results))
    if "peers" in results:
        made["peers"] = lambda: shown.in_short(results["peers"])
    return made


def filled(text: str, results: dict[str, Any]) -> str:
    """A document with its tables as they are now; one that was never measured stays as it is."""
    known = tables(results)

    def put(found: re.Match[str]) -> str:
        name = found[1]
        return f"<!-- benchmark: {name} -->\n{known[name]()}\n<!-- end -->" if name in known else found[0]

    return MARK.sub(put, text)


# --- all of them ------------------------------------------------------------------------------------


def made(results: dict[str, Any]) -> dict[Path, str]:
    """Every file that is made of the results, with what it should hold."""
    files = {PLOTS / name: picture for name, _, picture in plots(results)}
    shown_in = {path: filled(path.read_text(), results) for path in DOCUMENTS}
    return files | {PAGE: page(results)} | shown_in


def stale(results: dict[str, Any]) -> list[Path]:
    return [path for path, text in made(results).items() if not path.exists() or path.read_text() != text]


def main(arguments: list[str]) -> int:
    results = load()
    if arguments == ["--check"]:
        behind = stale(results)
        print(*(f"not as measured: {path.relative_to(HERE)}" for path in behind), sep="\n")
        return int(bool(behind))
    PLOTS.mkdir(exist_ok=True)
    for path in stale(results):
        path.write_text(made(results)[path])
        print(f"written: {path.relative_to(HERE)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
