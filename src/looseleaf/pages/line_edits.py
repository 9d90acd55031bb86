"""Adding to a page of facts what somebody wants to have remembered, as a careful person would: what it says already is
not said twice, and another value where there can be only one takes the old one's place.

Invariant: no line goes but one that another value replaces.
"""

from __future__ import annotations

from looseleaf.language.slots import relation_of, slot
from looseleaf.pages.grammar import add_fact, as_written, parse, replace_fact
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import BULLET, NOTE, body, is_blank, statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.values import Fact


def stated(content: str) -> list[tuple[str, str]] | None:
    """The facts that a text states, if it is nothing but a line, or lines that are bullets."""
    lines = [body(line).strip() for line in split_lines(content) if not is_blank(line)]
    bullets = [BULLET.match(line) for line in lines]
    if len(lines) > 1 and not all(bullets):
        return None
    said = [
        statement(line[bullet.end() :] if bullet else line)
        for line, bullet in zip(lines, bullets, strict=True)
    ]
    return None if any(each is None for each in said) else [each for each in said if each is not None]


def with_facts(path: str, text: str, facts: list[tuple[str, str]]) -> str:
    """A page of facts with these as well."""
    for relation, said in facts:
        here = parse(path, text).facts
        if _said(*as_written(relation, said)) in {_said(fact.relation, fact.object) for fact in here}:
            continue
        old = _instead_of(here, relation)
        if old is None:
            text = add_fact(text, path, relation, said)
        else:
            text = replace_fact(text, path, old.line or 0, relation, said)
    return text


def without_known(path: str, text: str, content: str) -> str:
    """A block of lines without the bullets that state what the page says already."""
    known = {(fact.relation, fact.object) for fact in parse(path, text).facts}
    kept = [line for line in split_lines(content) if not _is_known(line, known)]
    return "".join(kept)


def _is_known(line: str, known: set[tuple[str, str]]) -> bool:
    bullet = BULLET.match(body(line))
    return bullet is not None and statement(body(line)[bullet.end() :]) in known


def _said(relation: str, said: str) -> tuple[str, str]:
    """A sentence is the same one with its full stop and without."""
    return relation, said.removesuffix(".") if relation == NOTE else said


def _instead_of(facts: tuple[Fact, ...], relation: str) -> Fact | None:
    """The fact whose place another value takes: the last of its slot, where that holds one."""
    if relation_of(relation).many:
        return None
    address = slot("", relation)
    return next((fact for fact in reversed(facts) if slot("", fact.relation) == address), None)
