"""Sentences about changes of pages that the journal does not explain (FORMAT §5.4)."""

from __future__ import annotations

from looseleaf.base.paths import TICKED
from looseleaf.pages.grammar import drawer, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from looseleaf.base.values import Edit, Fact

_NAMED = 3
"""Pages that a sentence names; more are counted."""

_WHY = "it lost records, it began later, or views/ was deleted"


def sentences(edits: Iterable[Edit]) -> Iterator[str]:
    """Yield what a person must know: how many lines count as inferred, on which pages; and ticks that do not count."""
    lines: dict[str, int] = {}
    is_ticked = False
    for edit in edits:
        new = _facts_in(edit)
        if drawer(edit.path) == "review":
            is_ticked = is_ticked or any(TICKED in fact.tags for fact in new)
        elif new:
            lines[edit.path] = lines.get(edit.path, 0) + len(new)
    if lines:
        count = sum(lines.values())
        them, they, are = ("it", "it counts", "it is") if count == 1 else ("them", "they count", "they are")
        yield (
            f"The journal does not say who wrote {count:,} line{'s' * (count != 1)} on {_names(sorted(lines))} "
            f"({_WHY}), so {they} as inferred. `looseleaf vouch` shows {them}, and you can say that {are} yours."
        )
    if is_ticked:
        why = f"the journal does not say who ticked it ({_WHY})"
        yield f"What was ticked in review was not done: {why}. `looseleaf review` asks again."


def _facts_in(edit: Edit) -> tuple[Fact, ...]:
    """Return the facts in the lines that an edit added, as far as these lines alone tell."""
    return parse(edit.path, "".join(line for hunk in edit.hunks for line in hunk.added)).facts


def _names(paths: list[str]) -> str:
    if len(paths) > _NAMED:
        return f"{', '.join(paths[:_NAMED])} and {len(paths) - _NAMED:,} more page{'s' * (len(paths) > _NAMED + 1)}"
    return f"{', '.join(paths[:-1])} and {paths[-1]}" if paths[1:] else paths[0]
