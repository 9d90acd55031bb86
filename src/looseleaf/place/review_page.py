"""`review/pending.md`, the page that waits for a person: a line to tick or delete for each doubtful fact (FORMAT §13).

Under each stands where it would go, whence it comes and why it is asked; that line begins with the fact's id, by which
the two are known together. Content cannot begin a line, so nothing in a proposal can pass for another one.
"""

from __future__ import annotations

import re

from looseleaf.base.immutable import frozen
from looseleaf.base.paths import REVIEW
from looseleaf.facts.page_lines import Sheet
from looseleaf.pages.grammar import add_fact, new_page, parse
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import escape
from looseleaf.text.times import day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from looseleaf.base.values import Fact

PATH = REVIEW
HELP = "Tick a line to say yes; delete it, with the line under it, to say no. The next looseleaf command does it.\n"

MOST = 200
"""Lines that wait at most: nobody reads more. What comes then stays in its entry. Half of the places are for what the
user said: one session that somebody steers could fill them all, and nobody would be asked of that."""

_QUOTE = 160
_TICK = re.compile(r"^([ \t]*[-*+][ \t]+)\[[xX]\]")


@frozen
class Asked:
    """What became of facts that were to be put before a person, by their ids. `edit`: the edit of the page, if any."""

    edit: str = ""
    added: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    """They wait already."""
    rejected: tuple[str, ...] = ()
    """A person has said no to them."""
    full: tuple[str, ...] = ()
    """As many wait as may."""

    def but(self, **changes: Any) -> Asked:
        """The same, except for these members."""
        return Asked(**{name: getattr(self, name) for name in type(self).__match_args__} | changes)


def with_waiting(
    text: str, items: Iterable[tuple[Fact, str]], known: Mapping[str, Fact] | None = None
) -> tuple[str, Asked]:
    """The page with more to decide. `known`: what waits, by id; what is on the page and is not among it has no share in
    the places of others."""
    text = text or f"{new_page(PATH)}\n{HELP}"
    here = set(_waiting(text))
    others = sum(not _is_users(fact) for name, fact in (known or {}).items() if name in here)
    added: list[str] = []
    waiting: list[str] = []
    full: list[str] = []
    for fact, why in items:
        name = fact.id or ""
        if name in here:
            waiting.append(name)
            continue
        if len(here) >= MOST or (not _is_users(fact) and others >= MOST // 2):
            full.append(name)
            continue
        text = add_fact(text, PATH, fact.relation, fact.object)
        at = parse(PATH, text).facts[-1].line or 0
        lines = split_lines(text)
        end = "\r\n" if lines[0].endswith("\r\n") else "\n"
        text = "".join((*lines[:at], f"  {_evidence(fact, why)}{end}", *lines[at:]))
        here.add(name)
        others += not _is_users(fact)
        added.append(name)
    return text, Asked("", tuple(added), tuple(waiting), (), tuple(full))


def _is_users(fact: Fact) -> bool:
    return fact.origin == "user"


def too_many(count: int) -> str:
    """What is said of proposals that found no place."""
    return (
        f"{count} {'proposal was' if count == 1 else 'proposals were'} not put into {PATH}: as many wait there as a "
        f"person reads ({MOST}; {MOST // 2} of what the user did not say). Decide some of them."
    )


def _evidence(fact: Fact, why: str) -> str:
    when = f" on {day(fact.recorded_at)}" if fact.recorded_at else ""
    from looseleaf.facts.page_changes import page_of

    goes = page_of(fact.but(level="confirmed"))
    said = f" · “{escape(fact.quote)[:_QUOTE]}”" if fact.quote else ""
    return escape(f"{fact.id} · for {goes} · from {fact.origin or 'nobody'}{when} · {why}{said}")


def under(text: str) -> dict[str, str]:
    """What stands under each that waits, without its id: where it would go, whence it comes, why it is asked."""
    lines = split_lines(text)
    return {name: lines[at + 1].strip().removeprefix(f"{name} · ") for name, at in _waiting(text).items()}


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
