"""Adding to a page of facts what somebody wants to have remembered, as a careful person would: what it says already is
not said twice, and another value where there can be only one takes the old one's place.

Invariant: no line goes but one that another value replaces.
"""

from __future__ import annotations

from looseleaf.base.values import PageText
from looseleaf.language.relations import relation_of, slot
from looseleaf.log.journal import AGENT
from looseleaf.pages.grammar import add_fact, as_written, drawer, parse, replace_fact
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import BULLET, NOTE, body, is_blank, statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from looseleaf.base.values import Episode, Fact


# Signing: an episode that an agent wrote on a page says so, where a reader sees it; index lines do not
# tell of it.

LABEL = "Written by"


def signed(path: str, old: str, new: str, author: str, is_said: Callable[[str], bool]) -> str:
    """The new text of a page of episodes that `author` changed, with a line under the title of each episode in which
    there are words of his. `is_said`: whether a line is the user's words."""
    if drawer(path) != "episodes" or not author.startswith(AGENT):
        return new
    name = author.replace(":", " ")
    was = _episodes(path, old)
    before = {tuple(lines): by for lines, by in was}
    titled = {lines[0]: (lines, by) for lines, by in was}
    lines = list(split_lines(new))
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    for episode in reversed(parse(path, new).episodes):
        now = _words(lines, episode)
        old_lines, by = titled.get(now[0], ([], ()))
        names = {value for label, value in episode.fields if label == LABEL}
        wanted = [each for each in by if each not in names]  # whoever wrote it once has
        if before.get(tuple(now)) is None:
            is_users = set(old_lines) <= set(now) and all(
                is_said(_told(line)) for line in now if line not in old_lines
            )
            wanted += [name] if not is_users and name not in names and name not in by else []
        if not wanted:
            continue
        if not lines[episode.line - 1].endswith("\n"):
            lines[episode.line - 1] += end
        lines[episode.line : episode.line] = [f"- {LABEL}: {each}{end}" for each in wanted]
    return "".join(lines)


def unsigned(page: PageText) -> PageText:
    """The page without the episodes that agents wrote."""
    told = tuple(episode for episode in page.episodes if episode.get(LABEL) is None)
    return PageText(
        page.topic,
        page.lines,
        page.roles,
        page.title,
        page.summary,
        page.updated,
        page.facts,
        told,
        page.prose if told == page.episodes else (),
    )


def _told(line: str) -> str:
    """What a line tells, without its mark and its label."""
    words = line.lstrip("#-*+ ")
    return (statement(words) or ("", words))[1]


def _episodes(path: str, text: str) -> list[tuple[list[str], tuple[str, ...]]]:
    """The lines of each episode of a page, and who signed it."""
    lines = split_lines(text)
    return [
        (_words(lines, episode), tuple(value for label, value in episode.fields if label == LABEL))
        for episode in parse(path, text).episodes
    ]


def _words(lines: Sequence[str], episode: Episode) -> list[str]:
    """As they stand: a space before one makes another line of it."""
    found = (body(line).rstrip() for line in lines[episode.line - 1 : episode.end])
    return [line for line in found if line]


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
