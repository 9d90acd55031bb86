"""What is told of the peers: figures summed up, and the tables of them. Made of results.json alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from textwrap import fill
from typing import TYPE_CHECKING, Any

from benchmarks.report import NO_GOAL, table

if TYPE_CHECKING:
    from benchmarks.peers.measure import Side

TIMED = ("cold", "add", "ask", "add_more", "ask_more")
OURS, FLOOR = "looseleaf", "fts5"


def summed(side: Side, sides: Sequence[Side]) -> dict[str, Any]:
    """Of times: the median in milliseconds, and what each is of ours and of the floor that ran next to it."""
    figures: dict[str, Any] = {"installed": side.environment.bytes} if side.entry.is_timed else {}
    named = {each.entry.name: each.figures for each in sides}
    for name, value in side.figures.items():
        if name not in TIMED:
            figures[name] = value
            continue
        figures[name] = {"ms": round(1000 * median(value), 3)}
        for other in (OURS, FLOOR):
            if times := named.get(other, {}).get(name):
                figures[name][other] = round(against(times, value), 3)
    entry = side.entry
    return {
        "name": entry.name,
        "shown": entry.shown,
        "version": side.environment.version,
        "note": entry.note,
        "searches": entry.searches,
        "has_vectors": entry.has_vectors,
        "failed": side.failed,
        "figures": figures,
    }


def against(ours: Sequence[float], others: Sequence[float]) -> float:
    """The median of what each of the others took of the one of ours that ran next to it."""
    return median(other / one for one, other in zip(ours, others, strict=False) if one)


# --- the tables --------------------------------------------------------------------------------


def tables(result: dict[str, Any]) -> Iterator[str]:
    yield against_ours(result)
    yield against_floor(result)
    yield notes(result)


Column = Callable[[dict[str, Any]], str]


def in_short(result: dict[str, Any]) -> str:
    """The table of docs/PEERS.md: some of the columns, and what its marks mean."""
    made = columns(result)
    kept = [name for name in made if not name.startswith(("at ", "disk", "syncs"))]
    rows = [[peer["shown"], *(made[name](peer) for name in kept)] for peer in result["peers"]]
    failed = {str(peer["shown"]).strip("*") for peer in result["peers"] if peer["failed"]}
    left_out = [*result["left_out"], *sorted(failed)]
    fewer = (
        f"{peer['shown'].strip('*')} {peer['figures']['items']:,}"
        for peer in result["peers"]
        if "items" in peer["figures"]
    )
    legend = (
        f"{result['work']['items']:,} texts{''.join(f' ({each})' for each in [', '.join(fewer)] if each)}. {NO_GOAL}: "
        "no search, nothing kept in memory, or (`semantic`) measured for evidence only. ᵛ: vectors were made "
        "beforehand; times and sizes exclude the embedder. Not run, or not to the end (RESULTS.md gives the reasons): "
        f"{', '.join(left_out)}."
    )
    return table(rows, ("", *kept)) + f"\n\n{fill(legend, 120)}\n"


def columns(result: dict[str, Any]) -> dict[str, Column]:
    work = result["work"]
    return {
        "first answer of a new process": lambda peer: _time(peer, "cold", OURS),
        "one more text": lambda peer: _time(peer, "add", OURS),
        "a question, warm": lambda peer: _time(peer, "ask", OURS),
        f"at {work['more']:,}": lambda peer: _time(peer, "ask_more", OURS),
        "memory": lambda peer: _megabytes(result, peer, "rss"),
        "disk a text": _kilobytes,
        "installed": lambda peer: _megabytes(result, peer, "installed"),
        "syncs a text": lambda peer: _plain(peer, "syncs", "{:.1f}"),
        f"lost of {work['written']:,}, {work['writers']} writers": _lost,
        "evidence in 10 hits": lambda peer: _plain(peer, "found", "{:.3f}"),
    }


def against_ours(result: dict[str, Any]) -> str:
    """What each takes of what looseleaf takes."""
    made = columns(result)
    rows = [[peer["shown"], *(cell(peer) for cell in made.values())] for peer in result["peers"]]
    return table(rows, ("", *made))


def against_floor(result: dict[str, Any]) -> str:
    """The same times against plain FTS5."""
    names = {
        "cold": "first answer of a new process",
        "add": "one more text",
        "ask": "a question, warm",
        "add_more": f"one more text, up to {result['work']['more']:,}",
        "ask_more": f"a question at {result['work']['more']:,}",
    }
    rows = [[peer["shown"], *(_time(peer, name, FLOOR) for name in names)] for peer in result["peers"]]
    return table(rows, ("against plain FTS5", *names.values()))


def notes(result: dict[str, Any]) -> str:
    """How it was measured, and how each peer was run."""
    work, lines = result["work"], []
    lines.append(
        f"{work['items']:,} texts of made-up talk, added one call at a time; {work['questions']} questions, each to "
        f"every peer in turn; {work['cold']} new processes each. Times are medians of what each took of looseleaf's "
        "next to it; in brackets milliseconds and megabytes. The vectors of those marked ᵛ were made before, so that "
        "no embedder and no model is in their times, memory or size."
    )
    if asked := work.get("found"):
        lines.append(
            f"Evidence: {asked['questions']} questions of {asked['talks']} LoCoMo conversations ({asked['turns']:,} "
            "turns), the share of the turns that answer a question among ten hits. Every peer is told the same line "
            "with date and speaker; those with vectors compare by MiniLM, the others by words. looseleaf's weights "
            "were chosen on these conversations; what it finds held back stands in the table `locomo`."
        )
    for peer in result["peers"]:
        failed = f" It failed: {peer['failed']}." if peer["failed"] else ""
        if "items" in peer["figures"]:
            failed += (
                f" Measured with {peer['figures']['items']:,} texts, because more would have taken minutes."
            )
        lines.append(
            f"- {peer['shown'].strip('*')} {peer['version']}: {peer['note']}.{failed}{_refusals(peer)}"
        )
    lines += [f"- {name.strip('*')} is not here: {reason}." for name, reason in result["left_out"].items()]
    lines.append(
        f"{NO_GOAL}: it has no search, or nothing stays in memory, or it failed, or {work['more']:,} texts would have "
        "taken it more than a minute."
    )
    return "\n".join(lines)


def _refusals(peer: dict[str, Any]) -> str:
    told = peer["figures"].get("at_once")
    if not told or not told["refused"]:
        return ""
    refused = f"{told['asked'] - told['kept']:,} texts ({told['refused'][:120]})"
    return f" With {told['opened']} of 4 writers open it refused {refused}."


def _time(peer: dict[str, Any], name: str, other: str) -> str:
    found = peer["figures"].get(name)
    if not found or other not in found:
        return NO_GOAL
    ms = found["ms"]
    shown = f"{ms:.2f}" if ms < 1 else f"{ms:.1f}" if ms < 100 else f"{ms:,.0f}"
    mark = "ᵛ" if peer["has_vectors"] else ""
    return f"{ratio(found[other])}{mark} ({shown} ms)"


def ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def _megabytes(result: dict[str, Any], peer: dict[str, Any], name: str) -> str:
    value, ours = peer["figures"].get(name), _ours(result).get(name)
    if not value or not ours:
        return "0" if name == "installed" and value == 0 else NO_GOAL
    return f"{ratio(value / ours)} ({value / 1e6:.0f} MB)"


def _ours(result: dict[str, Any]) -> dict[str, Any]:
    return next((peer["figures"] for peer in result["peers"] if peer["name"] == OURS), {})


def _kilobytes(peer: dict[str, Any]) -> str:
    value = peer["figures"].get("disk")
    return f"{value / 1000:.1f} KB" if value else NO_GOAL


def _plain(peer: dict[str, Any], name: str, form: str) -> str:
    value = peer["figures"].get(name)
    return NO_GOAL if value is None else form.format(value)


def _lost(peer: dict[str, Any]) -> str:
    told = peer["figures"].get("at_once")
    if not told:
        return NO_GOAL
    refused = told["asked"] - told["kept"]
    return f"{told['lost']}" + (f" ({refused:,} refused)" if refused else "")
