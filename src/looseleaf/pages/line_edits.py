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

    from looseleaf.base.values import Episode


LABEL = "Written by"
"""The field that signs an agent's episode, where a reader sees it; index lines leave signed episodes out."""


def signed(path: str, old: str, new: str, author: str, is_said: Callable[[str], bool]) -> str:
    """Sign, on a page of episodes, each that has words of the agent `author`. `is_said`: a line is the user's words."""
    if drawer(path) != "episodes" or not author.startswith(AGENT):
        return new
    name = author.replace(":", " ")
    before = split_lines(old)
    was = [(_lines_of(before, episode), _signatures_of(episode)) for episode in parse(path, old).episodes]
    known = {tuple(lines) for lines, _ in was}
    titled = {lines[0]: (lines, by) for lines, by in was}
    lines = list(split_lines(new))
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    for episode in reversed(parse(path, new).episodes):
        now = _lines_of(lines, episode)
        old_lines, by = titled.get(now[0], ([], []))
        names = _signatures_of(episode)
        wanted = [each for each in by if each not in names]  # a signature stays
        if tuple(now) not in known:
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
    texts = page.title, page.summary, page.updated
    prose = page.prose if kept == page.episodes else ()
    return PageText(page.topic, page.lines, page.roles, *texts, page.facts, kept, prose)


def _statement_of(line: str) -> str:
    """Return a line without its mark and its label."""
    words = line.lstrip("#-*+ ")
    return (statement(words) or ("", words))[1]


def _signatures_of(episode: Episode) -> list[str]:
    return [value for label, value in episode.fields if label == LABEL]


def _lines_of(lines: Sequence[str], episode: Episode) -> list[str]:
    """Return an episode's lines unstripped: leading space makes a different line."""
    found = (body(line).rstrip() for line in lines[episode.line - 1 : episode.end])
    return [line for line in found if line]


def stated(content: str) -> list[tuple[str, str]] | None:
    """Return the facts that a text states, if it is a single line or only bullets; else None."""
    lines = [body(line).strip() for line in split_lines(content) if not is_blank(line)]
    if len(lines) > 1 and not all(map(BULLET.match, lines)):
        return None
    found = [each for line in lines if (each := statement(BULLET.sub("", line, count=1))) is not None]
    return found if len(found) == len(lines) else None


def with_facts(path: str, text: str, facts: list[tuple[str, str]]) -> str:
    """Add facts to a page of facts."""
    for relation, said in facts:
        here = parse(path, text).facts
        known = {_comparable(fact.relation, fact.object) for fact in here}
        if _comparable(*as_written(relation, said)) in known:
            continue
        # In a slot that holds one value, a new value replaces the last one.
        is_same = not relation_of(relation).many
        same = [fact for fact in here if is_same and slot("", fact.relation) == slot("", relation)]
        if same:
            text = replace_fact(text, path, same[-1].line or 0, relation, said)
        else:
            text = add_fact(text, path, relation, said)
    return text


def without_known(path: str, text: str, content: str) -> str:
    """Return a block of lines without the bullets that the page already has."""
    known = {(fact.relation, fact.object) for fact in parse(path, text).facts}

    def is_known(line: str) -> bool:
        bullet = BULLET.match(body(line))
        return bullet is not None and statement(body(line)[bullet.end() :]) in known

    return "".join(line for line in split_lines(content) if not is_known(line))


def _comparable(relation: str, said: str) -> tuple[str, str]:
    """Return a fact for comparison: a note is the same with and without its full stop."""
    return relation, said.removesuffix(".") if relation == NOTE else said
