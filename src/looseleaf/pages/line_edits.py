"""Line edits: add facts to a page as a careful person would, and sign agents' episodes.

A fact already there is not added twice, and a new value of a single-valued relation replaces the old one.
Invariant: only a replaced line is removed.
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


LABEL = "Written by"
"""The field that signs an agent's episode, where a reader sees it; index lines leave signed episodes out."""


def signed(path: str, old: str, new: str, author: str, is_said: Callable[[str], bool]) -> str:
    """Sign, in the new text of a page of episodes, each one that has words of the agent `author`. `is_said`: whether
    a line is the user's words."""
    if drawer(path) != "episodes" or not author.startswith(AGENT):
        return new
    name = author.replace(":", " ")
    was = _signed_episodes(path, old)
    before = {tuple(lines): by for lines, by in was}
    titled = {lines[0]: (lines, by) for lines, by in was}
    lines = list(split_lines(new))
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    for episode in reversed(parse(path, new).episodes):
        now = _lines_of(lines, episode)
        old_lines, by = titled.get(now[0], ([], ()))
        names = {value for label, value in episode.fields if label == LABEL}
        wanted = [each for each in by if each not in names]  # a signature stays
        if before.get(tuple(now)) is None:
            is_users = set(old_lines) <= set(now) and all(
                is_said(_statement_of(line)) for line in now if line not in old_lines
            )
            wanted += [name] if not is_users and name not in names and name not in by else []
        if not wanted:
            continue
        if not lines[episode.line - 1].endswith("\n"):
            lines[episode.line - 1] += end
        lines[episode.line : episode.line] = [f"- {LABEL}: {each}{end}" for each in wanted]
    return "".join(lines)


def unsigned(page: PageText) -> PageText:
    """Return the page without agents' episodes."""
    kept = tuple(episode for episode in page.episodes if episode.get(LABEL) is None)
    return PageText(
        page.topic,
        page.lines,
        page.roles,
        page.title,
        page.summary,
        page.updated,
        page.facts,
        kept,
        page.prose if kept == page.episodes else (),
    )


def _statement_of(line: str) -> str:
    """Return a line without its mark and its label."""
    words = line.lstrip("#-*+ ")
    return (statement(words) or ("", words))[1]


def _signed_episodes(path: str, text: str) -> list[tuple[list[str], tuple[str, ...]]]:
    """Return the lines and the signatures of each episode of a page."""
    lines = split_lines(text)
    return [
        (_lines_of(lines, episode), tuple(value for label, value in episode.fields if label == LABEL))
        for episode in parse(path, text).episodes
    ]


def _lines_of(lines: Sequence[str], episode: Episode) -> list[str]:
    """Return an episode's lines unstripped: leading space makes a different line."""
    found = (body(line).rstrip() for line in lines[episode.line - 1 : episode.end])
    return [line for line in found if line]


def stated(content: str) -> list[tuple[str, str]] | None:
    """Return the facts that a text states, if it is a single line or only bullets; else None."""
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
    """Add facts to a page of facts."""
    for relation, said in facts:
        here = parse(path, text).facts
        if _comparable(*as_written(relation, said)) in {
            _comparable(fact.relation, fact.object) for fact in here
        }:
            continue
        old = _fact_to_replace(here, relation)
        if old is None:
            text = add_fact(text, path, relation, said)
        else:
            text = replace_fact(text, path, old.line or 0, relation, said)
    return text


def without_known(path: str, text: str, content: str) -> str:
    """Return a block of lines without the bullets that the page already has."""
    known = {(fact.relation, fact.object) for fact in parse(path, text).facts}
    return "".join(line for line in split_lines(content) if not _is_known(line, known))


def _is_known(line: str, known: set[tuple[str, str]]) -> bool:
    bullet = BULLET.match(body(line))
    return bullet is not None and statement(body(line)[bullet.end() :]) in known


def _comparable(relation: str, said: str) -> tuple[str, str]:
    """Return a fact for comparison: a note is the same with and without its full stop."""
    return relation, said.removesuffix(".") if relation == NOTE else said


def _fact_to_replace(facts: tuple[Fact, ...], relation: str) -> Fact | None:
    """Return the fact that a new value replaces: the last of its slot, if that holds one value."""
    if relation_of(relation).many:
        return None
    address = slot("", relation)
    return next((fact for fact in reversed(facts) if slot("", fact.relation) == address), None)
