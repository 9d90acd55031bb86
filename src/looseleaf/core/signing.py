"""Signing: an episode that an agent wrote on a page says so, where a reader sees it; index lines do not tell of it.

Invariant: an episode that an agent changed by words that are not the user's is signed with that agent's name.
"""

from __future__ import annotations

from looseleaf.core.diff import split_lines
from looseleaf.core.grammar import drawer, parse
from looseleaf.core.heads import AGENT
from looseleaf.core.lines import body, is_blank, statement
from looseleaf.values import PageText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from looseleaf.values import Episode

LABEL = "Written by"


def signed(path: str, old: str, new: str, author: str, is_said: Callable[[str], bool]) -> str:
    """The new text of a page of episodes that `author` changed, with a line under the title of each episode in which
    there are words of his. `is_said`: whether a line is the user's words."""
    if drawer(path) != "episodes" or not author.startswith(AGENT):
        return new
    name = author.replace(":", " ")
    before = [_words(old, episode) for episode in parse(path, old).episodes]
    lines = list(split_lines(new))
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    for episode in reversed(parse(path, new).episodes):
        now = _words(new, episode)
        if now in before or episode.get(LABEL) == name:
            continue
        was = next((lines for lines in before if lines[0] == now[0]), [])
        if set(was) <= set(now) and all(is_said(_told(line)) for line in now if line not in was):
            continue
        if not lines[episode.line - 1].endswith("\n"):
            lines[episode.line - 1] += end
        lines.insert(episode.line, f"- {LABEL}: {name}{end}")
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


def _words(text: str, episode: Episode) -> list[str]:
    lines = split_lines(text)[episode.line - 1 : episode.end]
    return [body(line).strip() for line in lines if not is_blank(line)]
