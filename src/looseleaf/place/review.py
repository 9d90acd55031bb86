"""`review/pending.md`, the page that waits for a person: a line to tick or delete for each doubtful fact (FORMAT §13).

Under each stands where it would go, whence it comes and why it is asked; that line begins with the fact's id, by which
the two are known together. Content cannot begin a line, so nothing in a proposal can pass for another one.
"""

from __future__ import annotations

import re

from looseleaf.core.diff import split_lines
from looseleaf.core.grammar import add_fact, new_page, parse
from looseleaf.core.lines import escape
from looseleaf.core.placing import page_of
from looseleaf.core.sheet import Sheet
from looseleaf.core.times import day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from looseleaf.values import Fact

PATH = "review/pending.md"
HELP = "Tick a line to say yes; delete it, with the line under it, to say no. The next looseleaf command does it.\n"

MOST = 200
"""Lines that wait at most: nobody reads more. What comes then stays in its entry."""

_QUOTE = 160
_TICK = re.compile(r"^([ \t]*[-*+][ \t]+)\[[xX]\]")


def with_waiting(text: str, items: Iterable[tuple[Fact, str]]) -> tuple[str, list[Fact]]:
    """The page with more to decide, and what was put on it."""
    text = text or f"{new_page(PATH)}\n{HELP}"
    waiting = len(parse(PATH, text).facts)
    added: list[Fact] = []
    for fact, why in items:
        if waiting + len(added) >= MOST or (fact.id or "") in text:
            continue
        text = add_fact(text, PATH, fact.relation, fact.object)
        at = parse(PATH, text).facts[-1].line or 0
        lines = split_lines(text)
        end = "\r\n" if lines[0].endswith("\r\n") else "\n"
        lines = (*lines[:at], f"  {_evidence(fact, why)}{end}", *lines[at:])
        text = "".join(lines)
        added.append(fact)
    return text, added


def _evidence(fact: Fact, why: str) -> str:
    when = f" on {day(fact.recorded_at)}" if fact.recorded_at else ""
    goes = page_of(fact.but(level="confirmed"))
    said = f" · “{escape(fact.quote)[:_QUOTE]}”" if fact.quote else ""
    return escape(f"{fact.id} · for {goes} · from {fact.origin or 'nobody'}{when} · {why}{said}")


def line_of(text: str, name: str) -> int | None:
    """The number of the line, from 1, on which a fact waits."""
    found = _waiting(text).get(name)
    return None if found is None else found + 1


def unticked(text: str, name: str) -> str:
    """The page with this one as it was before a person ticked it."""
    lines = list(split_lines(text))
    at = _waiting(text).get(name)
    if at is not None:
        lines[at] = _TICK.sub(r"\1[ ]", lines[at])
    return "".join(lines)


def without(text: str, ids: Collection[str]) -> str:
    """The page without these, and without what stands under them."""
    gone = {line for name, at in _waiting(text).items() if name in ids for line in (at, at + 1)}
    return "".join(line for at, line in enumerate(split_lines(text)) if at not in gone)


def _waiting(text: str) -> dict[str, int]:
    sheet = Sheet(PATH)
    sheet.lines = list(split_lines(text))
    return {name: at for name, (at, _) in sheet.pending().items()}
