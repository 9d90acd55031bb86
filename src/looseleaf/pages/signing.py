"""Signing: an episode that an agent wrote on a page says so, where a reader sees it; index lines do not tell of it.

Invariant: an episode that an agent changed by words that are not the user's is signed with that agent's name.
"""

from __future__ import annotations

from looseleaf.base.values import PageText
from looseleaf.log.heads import AGENT
from looseleaf.pages.grammar import drawer, parse
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import body, statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from looseleaf.base.values import Episode

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
