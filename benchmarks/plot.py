"""Bars in SVG, readable on light and dark pages: the figures of results.json as pictures, and nothing but text inside.

A scale is by powers of ten where the longest bar is more than twenty times the shortest, and then says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape

WIDTH, LABEL, BAR, GAP, TOP = 760, 170, 18, 8, 54
ROOM = WIDTH - LABEL - 130
"""What the longest bar takes; after it stands its figure."""

STYLE = """<style>
text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f; }
.title { font-size: 15px; font-weight: 600; }
.note { fill: #6e7781; font-size: 12px; }
.bar { fill: #9aa4af; }
.ours { fill: #2f7d5b; }
.own { font-weight: 600; }
@media (prefers-color-scheme: dark) {
  text { fill: #d7dde3; }
  .note { fill: #9aa4af; }
  .bar { fill: #5d6873; }
  .ours { fill: #4fae84; }
}
</style>"""

Bar = tuple[str, float, str]
"""Its name, its length, and the figure that is shown."""


def bars(title: str, note: str, rows: Sequence[Bar], ours: str) -> str:
    """One bar a row; ours in another colour."""
    values = [value for _, value, _ in rows if value > 0]
    by_tens = max(values) / min(values) > 20
    how = f"{note} (a bar twice as long is not twice as much: scale by powers of ten)" if by_tens else note
    height = TOP + len(rows) * (BAR + GAP) + 10
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    label = escape(title, {'"': "&quot;"})
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">',
        STYLE,
        f'<text class="title" x="0" y="18">{escape(title)}</text>',
        f'<text class="note" x="0" y="38">{escape(how)}</text>',
    ]
    for number, (name, value, figure) in enumerate(rows):
        y = TOP + number * (BAR + GAP)
        own = name == ours
        length = max(2.0, ROOM * share(value, values, by_tens=by_tens)) if value > 0 else 0.0
        kind = "bar ours" if own else "bar"
        weight = ' class="own"' if own else ""
        out += [
            f'<text{weight} x="{LABEL - 10}" y="{y + 14}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="{kind}" x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>',
            f'<text{weight} x="{LABEL + length + 8:.1f}" y="{y + 14}">{escape(figure)}</text>',
        ]
    return "\n".join([*out, "</svg>", ""])


def share(value: float, values: Sequence[float], *, by_tens: bool) -> float:
    """How long a bar is of the longest. By tens, the shortest keeps a twentieth, so that it can be seen."""
    if not by_tens:
        return value / max(values)
    low, high = math.log10(min(values)), math.log10(max(values))
    return 0.05 + 0.95 * (math.log10(value) - low) / (high - low)


# --- the pictures --------------------------------------------------------------------------------


def plots(results: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """File name, what it shows in words, the picture."""
    if "peers" not in results:
        return
    peers, work = results["peers"]["peers"], results["peers"]["work"]
    for name, key, title, note in (
        ("cold.svg", "cold", "First answer of a new process", f"milliseconds, {work['items']:,} texts"),
        (
            "ask.svg",
            "ask",
            "A question in a process that runs",
            f"milliseconds, {work['items']:,} texts, median",
        ),
        ("add.svg", "add", "One more text, acknowledged", "milliseconds; RESULTS.md says who syncs"),
    ):
        rows = [
            (_name(peer), peer["figures"][key]["ms"], _took(peer["figures"][key]))
            for peer in peers
            if key in peer["figures"]
        ]
        yield from _picture(name, title, note, rows)
    for name, key, title, unit in (
        ("memory.svg", "rss", "Memory of a process that was asked", 1e6),
        ("installed.svg", "installed", "Installed on disk", 1e6),
    ):
        rows = [
            (_name(peer), peer["figures"][key] / unit, f"{peer['figures'][key] / unit:,.0f} MB")
            for peer in peers
            if peer["figures"].get(key)
        ]
        yield from _picture(name, title, "megabytes", rows)
    found = [
        (_name(peer), peer["figures"]["found"], f"{peer['figures']['found']:.3f}")
        for peer in peers
        if "found" in peer["figures"]
    ]
    yield from _picture("found.svg", "Evidence found in ten hits (LoCoMo)", "more is better", found)


def _took(figure: dict[str, float]) -> str:
    """Milliseconds, and how many times ours."""
    ms = figure["ms"]
    times = figure.get("looseleaf", 1.0)
    of_ours = "" if times == 1 else f" ({times:.2f} ×)" if times < 10 else f" ({times:,.0f} ×)"
    return (f"{ms:.1f} ms" if ms < 100 else f"{ms:,.0f} ms") + of_ours


def _picture(name: str, title: str, note: str, rows: list[Bar]) -> Iterator[tuple[str, str, str]]:
    if not any(value > 0 for _, value, _ in rows):
        return
    ordered = sorted(rows, key=lambda row: row[1], reverse=name == "found.svg")
    alt = f"{title}: " + ", ".join(f"{each} {figure}" for each, _, figure in ordered)
    yield name, alt, bars(title, note, ordered, "looseleaf")


def _name(peer: dict[str, Any]) -> str:
    return str(peer["shown"]).strip("*")
