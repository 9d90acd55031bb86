"""The picture in the README: a terminal that runs the demo, drawn from its real output.

    python docs/pictures/make.py            writes docs/pictures/demo.svg
    python docs/pictures/make.py --print    prints it

The text is `tests/golden/demo.txt`, which a test compares with the demo. Screens follow each other; without animation,
or if the reader prefers reduced motion, the last one stays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
GOLDEN = HERE.parent.parent / "tests/golden/demo.txt"
PICTURE = HERE / "demo.svg"

SCREENS: tuple[tuple[tuple[str, int], ...], ...] = (
    (("$ looseleaf turns\n", 19),),
    (("$ looseleaf compact\n", 9), ("$ looseleaf distill\n", 4)),
    (("$ looseleaf turns --session heron-may\n", 8), ("$ looseleaf show facts/user.md\n", 7)),
    (("$ looseleaf show USER.md\n", 14),),
    (
        ('$ looseleaf recall "Where do I live?" -k 1\n', 3),
        ('$ looseleaf recall "Where do I live?" --as-of', 3),
        ('$ looseleaf recall "Which database', 3),
        ("$ looseleaf recall \"What is Mira's", 2),
    ),
    (("$ looseleaf prompt ", 18),),
    (("looseleaf-demo/\n", 18),),
)
"""The passages of each screen: how each begins, and how many lines are shown."""

LAST_TIME = ("$ looseleaf show USER.md\n",)
"""Commands that run twice; the second run is shown."""

COLUMNS, ROWS = 100, 19
SECONDS = 5.0
"""How long a screen stays."""

WIDE, HIGH, LEFT, TOP = 8.4, 19.0, 20.0, 58.0
COLORS = {"command": "#7dcfff", "told": "#e6edf3", "note": "#8b949e", "good": "#7ee787", "bad": "#ffa657"}


def screens() -> list[list[str]]:
    text = GOLDEN.read_text("utf-8")
    return ["\n\n".join(passage(text, *each) for each in passages).split("\n")[:ROWS] for passages in SCREENS]


def passage(text: str, begin: str, count: int) -> str:
    at = text.rindex(begin) if begin in LAST_TIME else text.index(begin)
    lines = text[at:].split("\n")[:count]
    return "\n".join(line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…" for line in lines)


def color_of(line: str) -> str:
    if line.startswith("$ "):
        return "command"
    if line.lstrip().startswith(("└", "- [ ]")) or "collector.example" in line:
        return "bad" if "collector.example" in line else "note"
    if line.startswith(("added", "replaced")) or " in, " in line or "Home: " in line:
        return "good"
    return "told"


def draw_screen(screen: Sequence[str], number: int, of: int) -> Iterator[str]:
    classes = "screen last" if number == of - 1 else "screen"
    yield f'<g class="{classes}" style="animation-delay:{number * SECONDS:g}s">'
    yield '<text xml:space="preserve">'
    for row, line in enumerate(screen):
        y = TOP + row * HIGH
        yield f'<tspan x="{LEFT:g}" y="{y:g}" fill="{COLORS[color_of(line)]}">{escape(line, quote=False)}</tspan>'
    yield "</text>"
    yield "</g>"


def picture() -> str:
    shown = screens()
    width, height = round(2 * LEFT + COLUMNS * WIDE), round(TOP + ROWS * HIGH)
    share = 100 / len(shown)
    # Hidden screens are hidden from screen readers, too.
    style = (
        "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
        f".screen{{visibility:hidden;animation:turn {len(shown) * SECONDS:g}s step-end infinite}}"
        f"@keyframes turn{{0%{{visibility:visible}}{share:.3f}%{{visibility:hidden}}}}"
        "@media (prefers-reduced-motion:reduce){.screen{animation:none}.last{visibility:visible}}"
    )
    dots = "".join(
        f'<circle cx="{LEFT + 6 + 20 * at:g}" cy="22" r="6" fill="{fill}"/>'
        for at, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>looseleaf demo, in a terminal</title>",
        f"<style>{style}</style>",
        f'<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>',
        dots,
        f'<text x="{width / 2:g}" y="27" fill="#8b949e" text-anchor="middle">looseleaf demo</text>',
    ]
    for number, screen in enumerate(shown):
        lines += draw_screen(screen, number, len(shown))
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(picture())
    else:
        PICTURE.write_text(picture(), "utf-8")
