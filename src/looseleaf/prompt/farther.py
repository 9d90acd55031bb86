"""Lines of farther layers in a prompt: shown, and never copied into the log (FORMAT §19).

A record of the log has a hole for each such line, and names the fact: `home:f_…`. To render the prompt again, each is
read from its layer. So a line that is forgotten there stands in no other memory.
"""

from __future__ import annotations

from looseleaf.log.turns import guard
from looseleaf.views.essentials import shown_bullet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from looseleaf.base.values import Fact

    Lines = Sequence[tuple[str, str]]
    """The lines of farther layers, each with the name of its fact."""

_CUT = "…"
_LEAD = "- "


def line_of(fact: Fact) -> str:
    """Return a fact as its line in a prompt, without the bullet."""
    return guard(shown_bullet(fact.relation, fact.object))


def cut_lines(text: str, lines: Lines) -> tuple[str, list[list[Any]]]:
    """Return a text without the lines of farther layers, and the holes that they leave: the number of the line, the
    fact, what stands before it, and how many characters of it are shown (None: all)."""
    if not lines:
        return text, []
    whole = dict(lines)
    kept = text.split("\n")
    holes: list[list[Any]] = []
    for number, line in enumerate(kept):
        for before in _beginnings(line):
            rest = line[len(before) :]
            name, shown = whole.get(rest), None
            if name is None and rest.endswith(_CUT) and len(rest) > 1:
                bare = rest.removesuffix(_CUT)
                name = next((each for told, each in lines if told.startswith(bare)), None)
                shown = len(bare)
            if name is not None:
                holes.append([number, name, before, shown])
                kept[number] = ""
                break
    return "\n".join(kept), holes


def _beginnings(line: str) -> Iterable[str]:
    """Yield what may stand before a fact: a bullet, or a bullet and a label."""
    if line.startswith(_LEAD):
        yield _LEAD
        label, colon, _ = line.partition(": ")
        if colon:
            yield f"{label}: "


def fill_lines(text: str, holes: Sequence[Sequence[Any]], read: Callable[[str], str]) -> tuple[str, Lines]:
    """Return a text with the lines of farther layers, which `read` finds by the names of their facts, and these."""
    kept = text.split("\n")
    lines: list[tuple[str, str]] = []
    for number, name, before, shown in holes:
        told = read(str(name))
        lines.append((told, str(name)))
        kept[int(number)] = f"{before}{told if shown is None else f'{told[: int(shown)]}{_CUT}'}"
    return "\n".join(kept), lines
