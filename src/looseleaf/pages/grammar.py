"""The grammar of a page: parses its lines and changes single ones.

Invariant: `"".join(parse(path, text).lines) == text`, and every line has exactly one role. An edit inserts, replaces or
removes only its own lines and keeps every other byte, and the role of every other line; a page is never rendered anew.

Facts are added as a careful person would: one already there is not added twice, a new value of a single-valued relation
replaces the old one, and only a replaced line is removed.

Lines count from 1 in arguments and results, from 0 inside.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.values import Episode, Fact, PageText, Prose
from looseleaf.language.relations import relation_of, slot
from looseleaf.log.journal import AGENT
from looseleaf.text.diff import changed_stretch, split_lines
from looseleaf.text.lines import (
    BLOCK_FIRST,
    BULLET,
    CHECKBOX,
    FOUND,
    NOTE,
    as_written,
    body,
    bullet_text,
    escape,
    fence,
    heading,
    heading_words,
    is_blank,
    is_doubtful,
    is_rule,
    is_updated,
    kind_named,
    lazy,
    line_end,
    split_relation,
    statement,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Literal

    from looseleaf.base.values import Kind, Role, Status

    Drawer = Literal["facts", "episodes", "review", "text"]


__all__ = ("NOTE", "as_written", "escape")  # of text.lines, for those who edit pages

CHARS_PER_WORD = 8  # bounds a summary in scripts that put no spaces between words
SUMMARY_EPISODES = 4  # with more titles than these, two words each would not stay under ten


def drawer(path: str) -> Drawer:
    """Return which grammar a page follows. In SOUL.md, PROJECT.md and `days/`, bullets are only text."""
    head, slash, _ = path.partition("/")
    if path == "USER.md" or (slash and head == "facts"):
        return "facts"
    if slash and head == "episodes":
        return "episodes"
    return "review" if slash and head == "review" else "text"


def topic_of(path: str) -> str:
    """Return a page's topic: `user` for `facts/user.md` and `USER.md`, `work/api` for `facts/work/api.md`."""
    head, slash, rest = path.removesuffix(".md").partition("/")
    return rest if slash else head.lower()


# --- reading ----------------------------------------------------------------------------------------


class _Page:
    def __init__(self, path: str, text: str, lines: tuple[str, ...], bodies: list[str]) -> None:
        self.place, self.topic = drawer(path), topic_of(path)
        self.text, self.lines, self.bodies = text, lines, bodies
        # `inside`: for each line and the end, the line that opened the region of an insertion there, or -1.
        self.inside, self.opaque = [-1] * (len(lines) + 1), [False] * len(lines)
        self.roles: list[Role] = []
        self.kinds: list[Kind | None] = []
        self.found: list[bool] = []  # lines under the heading for agents' finds
        self.headings: list[tuple[int, int, str]] = []  # line, level, words
        self.facts: list[Fact] = []
        self.episodes: list[Episode] = []
        self.title: str | None = None
        self.summary: str | None = None
        self.updated: str | None = None

    @property
    def end(self) -> int:
        """Where lines can be added: the end, or before a region that is never closed."""
        return self.inside[-1] if self.inside[-1] >= 0 else len(self.lines)

    def last(self, role: Role) -> int:
        """Return the last line with this role, or -1."""
        return len(self.roles) - 1 - self.roles[::-1].index(role) if role in self.roles else -1


def _find_regions(bodies: Sequence[str]) -> tuple[list[int], list[bool]]:
    """Find front matter, fences and comments, which are prose whatever they look like."""
    inside, opaque = [-1] * (len(bodies) + 1), [False] * len(bodies)
    opened, mark = -1, ""
    for i, text in enumerate(bodies):
        if opened >= 0:
            inside[i], opaque[i] = opened, True
            if _closes(mark, text):
                opened = -1
            continue
        if i == 0 and text.rstrip() == "---" and any(_closes("---", later) for later in bodies[1:]):
            mark = "---"
        elif text.lstrip(" \t").startswith("<!--"):
            mark = "<!--"
        else:
            mark = fence(text)
        opaque[i] = mark != ""
        if mark and not (mark == "<!--" and _closes(mark, text)):
            opened = i
    inside[-1] = opened
    return inside, opaque


def _closes(mark: str, text: str) -> bool:
    if mark == "---":
        return text.rstrip() in ("---", "...")
    if mark == "<!--":
        return "-->" in text
    text = text.strip()
    return text.startswith(mark) and not text.strip(mark[0])


_LONG = 200
"""Lines from which on a page is kept as it was read: its next version mostly differs in a few of them."""

_REACHES = lazy(r"^\ufeff?(?:[#>]|---|\.\.\.)|```|~~~|<!--|-->", re.MULTILINE)
"""Marks that decide how other lines are read."""


@lru_cache(4)
def _last_read(path: str) -> list[_Page]:
    """Return the long page that was last read under a path, if any. A new reading takes its place."""
    return []


def _read_page(path: str, text: str) -> _Page:
    """Read a page. Of a long one that was read before, only what changed since is read."""
    last = _last_read(path)
    page = _read_changed(path, text, last[0]) if last else None
    page = page or _read_whole(path, text)
    if len(page.lines) >= _LONG:
        last[:] = [page]
    return page


def _read_changed(path: str, text: str, before: _Page) -> _Page | None:
    """Read a page of which an earlier version is read; None: what changed may change how other lines are read."""
    if text == before.text:
        return before
    begin, old_end, new_end = changed_stretch(before.text, text)
    is_plain = before.place != "episodes" and not any(before.opaque) and not before.bodies[0].startswith("-")
    if not (begin and is_plain) or any(
        _REACHES.search(each) for each in (before.text[begin:old_end], text[begin:new_end])
    ):
        return None
    first = before.text.count("\n", 0, begin)
    stop = first + len(split_lines(before.text[begin:old_end]))
    new = split_lines(text[begin:new_end])
    shift = len(new) - (stop - first)
    lines = (*before.lines[:first], *new, *before.lines[stop:])
    bodies = [*before.bodies[:first], *map(body, new), *before.bodies[stop:]]
    page = _Page(path, text, lines, bodies)
    page.title, page.summary, page.updated = before.title, before.summary, before.updated
    kind = before.kinds[first - 1]
    page.kinds = [*before.kinds[:first], *[kind] * len(new), *before.kinds[stop:]]
    page.found = [*before.found[:first], *[before.found[first - 1]] * len(new), *before.found[stop:]]
    page.headings = [(at + shift * (at >= first), level, words) for at, level, words in before.headings]
    earlier, later = (bisect_right(before.facts, at, key=_line_of) for at in (first, stop))
    page.facts = before.facts[:earlier]
    roles = [_read_prose_or_bullet(page, at, kind) for at in range(first, first + len(new))]
    rest = before.facts[later:]
    page.facts += [fact.but(line=_line_of(fact) + shift) for fact in rest] if shift else rest
    page.roles = [*before.roles[:first], *roles, *before.roles[stop:]]
    if "updated" in (*roles, *before.roles[first:stop]):
        last = page.last("updated")
        page.updated = None
        if last >= 0:
            _read_prose_or_bullet(page, last, None)
    return page


def _line_of(fact: Fact) -> int:
    return fact.line or 0


def _read_prose_or_bullet(page: _Page, i: int, kind: Kind | None) -> Role:
    text = page.bodies[i]
    bullet = BULLET.match(text)
    return _read_bullet(page, i, kind, text[bullet.end() :]) if bullet and not is_rule(text) else "prose"


def _read_whole(path: str, page_text: str) -> _Page:
    lines = split_lines(page_text)
    page = _Page(path, page_text, lines, [body(line) for line in lines])
    page.inside, page.opaque = _find_regions(page.bodies)
    kind: Kind | None = None
    depth = 0
    is_found = False
    for i, text in enumerate(page.bodies):
        role: Role = "prose"
        if page.opaque[i]:
            pass
        elif found := heading(text):
            level, words = found
            page.headings.append((i, level, words))
            if level <= 2:
                is_found = level == 2 and words == FOUND and page.place == "facts"
            named = kind_named(words) if page.place in ("facts", "review") and level > 1 else None
            if named or level <= depth:
                kind, depth = named, level if named else 0
            if named:
                role = "kind"
            elif level == 1 and words and page.title is None:
                page.title, role = words, "title"
            elif level == 2 and words and page.place == "episodes":
                role = "episode"
        elif text.startswith(">"):
            labelled = split_relation(escape(text[1:])) if page.summary is None else None
            if labelled and labelled[0].casefold() == "summary":
                page.summary, role = labelled[1], "summary"
        else:
            role = _read_prose_or_bullet(page, i, kind)
        page.roles.append(role)
        page.kinds.append(kind)
        page.found.append(is_found)
    if page.place == "episodes":
        _read_episodes(page)
    return page


def _read_bullet(page: _Page, i: int, kind: Kind | None, text: str) -> Role:
    """Return the role of a bullet; on pages of facts, also add the fact."""
    box = CHECKBOX.match(text) if page.place == "review" else None
    stated = statement(text[box.end() :] if box else text)
    if stated is None or not (box or page.place == "facts"):
        return "prose"
    relation, said = stated
    if is_updated(relation, said) and not box:
        page.updated = said
        return "updated"
    tags = ("ticked",) if box and box[1] != " " else ()
    status: Status = "pending" if box else "current"
    page.facts.append(Fact(page.topic, page.topic, relation, said, kind, i + 1, tags=tags, status=status))
    return "fact"


def _read_episodes(page: _Page) -> None:
    """Add each `## Title` with the bullets up to the next heading of its level or above."""
    bounds = [(i, words) for i, level, words in page.headings if level <= 2]
    for (start, title), (stop, _) in pairwise([*bounds, (len(page.lines), "")]):
        if page.roles[start] != "episode":
            continue
        while is_blank(page.lines[stop - 1]):
            stop -= 1
        fields: list[tuple[str, str]] = []
        notes: list[str] = []
        for i in range(start + 1, stop):
            text = page.bodies[i]
            bullet = None if page.opaque[i] or is_rule(text) else BULLET.match(text)
            if bullet and (stated := statement(text[bullet.end() :])):
                page.roles[i] = "episode"
                if stated[0] == NOTE:
                    notes.append(stated[1])
                else:
                    fields.append(stated)
        page.episodes.append(Episode(title, start + 1, stop, tuple(fields), tuple(notes)))


def parse(path: str, text: str) -> PageText:
    """Parse the page at `path`."""
    page = _read_page(path, text)
    prose: list[Prose] = []
    start = stop = 0  # the run of prose lines being read, without the blank lines around it
    last = -1
    for i in [i for i, role in enumerate(page.roles) if role == "prose"]:
        if stop and last < i - 1:
            prose.append(Prose(start + 1, stop, "".join(page.lines[start:stop])))
            stop = 0
        if not is_blank(page.lines[i]):
            start, stop = (start if stop else i), i + 1
        last = i
    if stop:
        prose.append(Prose(start + 1, stop, "".join(page.lines[start:stop])))
    texts = page.title, page.summary, page.updated
    found = tuple(page.facts), tuple(page.episodes), tuple(prose)
    unclosed = page.end + 1 if page.inside[-1] >= 0 else None
    return PageText(page.topic, page.lines, tuple(page.roles), *texts, *found, unclosed)


def find_covered_lines(text: str) -> list[bool]:
    """Return for each line whether it is in a fence, a comment or the front matter (FORMAT §10.3)."""
    return _read_page("", text).opaque


def find_fenced_lines(text: str) -> list[bool]:
    """Return for each line whether it is in a fence that ends."""
    page = _read_page("", text)
    openers = [at if before < 0 else before for at, before in enumerate(page.inside[:-1])]
    fences = {
        at for at, line in enumerate(page.bodies) if page.opaque[at] and page.inside[at] < 0 and fence(line)
    }
    return [
        is_covered and opener in fences and opener != page.inside[-1]
        for opener, is_covered in zip(openers, page.opaque, strict=True)
    ]


def summary_of(page: PageText, words: int = 10) -> str:
    """Return a summary by rule of fewer than `words` words: a page's relations, or its episodes."""
    room = max(words - 1, 1)
    relations: dict[str, str] = {}
    for fact in page.facts:
        if fact.relation != NOTE:
            relations.setdefault(fact.relation.casefold(), fact.relation)
    if page.episodes:
        parts = [_lower_first(episode.title) for episode in page.episodes]
        if sum(len(part.split()) for part in parts) > room:
            parts = parts[-SUMMARY_EPISODES:]
            share = max(room // len(parts), 1)
            parts = [" ".join(part.split()[:share]) for part in parts]
    elif relations:
        parts = [_lower_first(relation) for relation in relations.values()]
        parts[0] = f"{page.topic} {parts[0]}"
    elif page.facts:
        # Cutting the summary might lose the mark that a fact is doubtful.
        parts = [fact.object for fact in page.facts if not is_doubtful(fact.object)]
    else:
        said = [run.text.lstrip("#>-*+ \t") for run in page.prose]
        parts = [escape(said[0])] if said else []
    cut = " ".join(", ".join(parts).split()[:room])
    return cut[: words * CHARS_PER_WORD].rstrip(" ,")


def summary_of_shown(page: PageText, facts: tuple[Fact, ...]) -> str:
    """Return a summary by rule of these facts of a page, and of episodes that no agent wrote."""
    told_of = without_agents_episodes(page).episodes
    return summary_of(PageText(page.topic, page.lines, page.roles, page.title, None, None, facts, told_of))


def _lower_first(name: str) -> str:
    """Return `Name` as `name`, for a list; `API key` and `Zhang San` stay as they are."""
    return name if name[1:] != name[1:].lower() else name.lower()


# --- editing ----------------------------------------------------------------------------------------


def new_page(path: str, title: str | None = None, summary: str = "") -> str:
    """Return the text of a new page: a title and perhaps a summary."""
    words = heading_words(title or "") or heading_words(_default_title(path)) or "Page"
    text = f"# {words}\n"
    return set_summary(text, summary) if escape(summary) else text


def _default_title(path: str) -> str:
    place, topic = drawer(path), topic_of(path)
    if place == "episodes":
        return f"{topic} Episodes"
    words = topic.replace("-", " ").replace("_", " ").replace("/", " ") if place == "facts" else topic
    name = " ".join(word[:1].upper() + word[1:] for word in words.split(" "))
    return f"{name} Facts" if place == "facts" else name


def add_fact(
    text: str,
    path: str,
    relation: str,
    object: str,
    kind: Kind | None = None,
    before: int | None = None,
    *,
    found: bool = False,
) -> str:
    """Add a fact where a careful person would; on a review page, an item to tick.

    It goes under the heading of its kind if there is one, else after the last fact under no heading, or before the
    one on line `before`. `found`: an agent found it, so it goes under the heading for agents' finds.
    """
    place = drawer(path)
    if place not in ("facts", "review"):
        raise Invalid(
            f"No fact was added to {path}: it is not a page of facts. Add it to facts/<topic>.md instead."
        )
    bullet = ("- [ ] " if place == "review" else "- ") + bullet_text(relation, object)
    page = _read_page(path, text or new_page(path))
    start = _found_heading(page)
    if found and (last := _last_fact(page, found=True)):
        return _insert(page.lines, _end_of_bullet(page, _line_of(last) - 1), [bullet])
    if found and start:
        return _insert(page.lines, start[0] + 1, [bullet])
    if found:
        return _insert(page.lines, page.end, [f"## {FOUND}", bullet], apart=True)
    headings = [i for i, _, _ in page.headings if page.roles[i] == "kind"]
    section = kind if any(page.kinds[i] == kind for i in headings) else None
    if before is not None and section is None:
        at = bisect_right(page.facts, before - 1, key=_line_of)
        here = page.facts[at] if at < len(page.facts) else None
        if here and (here.line, here.kind, page.found[before - 1]) == (before, None, False):
            return _insert(page.lines, before - 1, [bullet])
    updated = page.last("updated")
    if last := _last_fact(page, found=False, kinds=(section,)):
        return _insert(page.lines, _end_of_bullet(page, _line_of(last) - 1), [bullet])
    if section:
        under = max(i for i in headings if page.kinds[i] == section)
        at = min((i for i, _, _ in page.headings if i > under), default=page.end)
        while is_blank(page.lines[at - 1]):
            at -= 1
        return _insert(page.lines, at, [bullet], apart=True)
    if updated >= 0 and page.kinds[updated] is None and not page.found[updated]:
        return _insert(page.lines, updated, [bullet])
    return _insert(page.lines, min([*headings, *start], default=page.end), [bullet], apart=True)


def _last_fact(page: _Page, *, found: bool, kinds: Sequence[Kind | None] | None = None) -> Fact | None:
    """Return the last fact that an agent `found`, or not, of these kinds if given."""
    facts = (fact for fact in reversed(page.facts) if page.found[_line_of(fact) - 1] == found)
    return next((fact for fact in facts if kinds is None or fact.kind in kinds), None)


def _found_heading(page: _Page) -> list[int]:
    """Return the line of the heading for agents' finds, if there is one."""
    return [i for i, level, _ in page.headings if level == 2 and page.found[i]][:1]


def replace_fact(text: str, path: str, line: int, relation: str, object: str) -> str:
    """Replace the fact on a line. Keeps the bullet mark, and the look of an unchanged label."""
    page = _read_page(path, text)
    number = bisect_right(page.facts, line - 1, key=_line_of)
    old = page.facts[number] if number < len(page.facts) else None
    if old is None or old.line != line:
        raise NotFound(
            f"{path} was not changed: its line {line} is not a fact. Read the page again and use its line numbers."
        )
    new = as_written(relation, object)
    was = page.bodies[line - 1].rstrip()
    if new[0] == old.relation and was.endswith(old.object):
        line_now = was.removesuffix(old.object) + new[1]
        found = [(fact.relation, fact.object) for fact in _read_whole(path, line_now).facts]
        if found == [new]:
            return _replace(page.lines, line - 1, line_now)
    mark = BULLET.match(was)
    start = mark.end() if mark else 0
    box = CHECKBOX.match(was, start) if page.place == "review" else None
    return _replace(page.lines, line - 1, was[: box.end() if box else start] + bullet_text(*new))


def remove_line(text: str, line: int) -> str:
    """Remove a line, whatever it is."""
    lines = split_lines(text)
    if not 1 <= line <= len(lines):
        raise NotFound(
            f"Nothing was removed: there is no line {line}; the page has {len(lines)}. Read it again."
        )
    kept = "\ufeff" if line == 1 and text.startswith("\ufeff") else ""
    return kept + "".join(lines[: line - 1]) + "".join(lines[line:])


def set_summary(text: str, summary: str) -> str:
    """Set the summary: in place of the old one, else after the title, else at the top."""
    page = _read_page("", text)
    line = f"> Summary: {escape(summary)}".rstrip()
    at = page.last("summary")
    if at >= 0:
        return text if page.summary == escape(summary) else _replace(page.lines, at, line)
    if not escape(summary):
        return text
    at = page.last("title") + 1
    if at == 0 and page.lines and page.opaque[0] and page.bodies[0].startswith("---"):
        at = next(i for i, opened in enumerate(page.inside) if i and opened)  # below the front matter
    return _insert(page.lines, at, [line], apart=True)


def set_updated(text: str, path: str, date: str) -> str:
    """Set the date of the last `- Updated:` line. Only pages of facts have one."""
    if not is_updated("updated", date):
        raise Invalid(f"not a date: {date!r}")
    if drawer(path) != "facts":
        return text
    page = _read_page(path, text or new_page(path))
    at = page.last("updated")
    if at >= 0 and page.updated is not None:
        return _replace(page.lines, at, page.bodies[at].rstrip().removesuffix(page.updated) + date)
    if last := _last_fact(page, found=False):
        return _insert(page.lines, _end_of_bullet(page, _line_of(last) - 1), [f"- Updated: {date}"])
    at = min(_found_heading(page), default=page.end)
    return _insert(page.lines, at, [f"- Updated: {date}"], apart=True)


def add_episode(text: str, path: str, title: str, fields: Iterable[tuple[str, str]]) -> str:
    """Add an episode at the end. A field without a label is a free bullet; empty ones are left out."""
    if drawer(path) != "episodes":
        raise Invalid(
            f"No episode was added to {path}: episodes belong in episodes/<yyyy-mm>.md. Add it there."
        )
    words = heading_words(title)
    if not words:
        raise Invalid(f"No episode was added to {path}: it has no title. Say in a few words what was done.")
    lines = [f"## {words}", *(f"- {bullet_text(label, said)}" for label, said in fields if escape(said))]
    page = _read_page(path, text or new_page(path))
    return _insert(page.lines, page.end, lines, apart=True)


def _end_of_bullet(page: _Page, i: int) -> int:
    """Return where the next bullet goes: after the lines that continue the one on line `i`.

    If these open a region that never closes, that is before line `i`.
    """
    at = i + 1
    while at < len(page.lines):
        near = at
        while near < len(page.lines) and page.inside[near] < 0 and is_blank(page.lines[near]):
            near += 1
        if near == len(page.lines):
            break
        first = page.lines[near][0]
        lazy = near == at and first not in BLOCK_FIRST
        if page.inside[near] < 0 and not (page.roles[near] == "prose" and (first in " \t" or lazy)):
            break
        at = near + 1
    return i if page.inside[at] >= 0 else at


def _insert(lines: Sequence[str], at: int, new: Sequence[str], apart: bool = False) -> str:
    """Insert `new` before line `at`, with the page's own line ends; `apart`: between blank lines."""
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    before, block, after = "".join(lines[:at]), "".join(line + end for line in new), "".join(lines[at:])
    if at == 0 and after.startswith("\ufeff"):
        before, after = "\ufeff", after[1:]
    if apart and at > 0 and not is_blank(lines[at - 1]):
        block = end + block
    if apart and at < len(lines) and not is_blank(lines[at]):
        block += end
    if before.strip("\ufeff") and not before.endswith("\n"):
        block = end + block
    return before + block + after


def _replace(lines: Sequence[str], at: int, line: str) -> str:
    """Replace line `at`; its line end and byte order mark stay."""
    start = "\ufeff" if lines[at].startswith("\ufeff") else ""
    return "".join((*lines[:at], start, line, line_end(lines[at]), *lines[at + 1 :]))


# --- episodes of agents, and facts added together ---------------------------------------

LABEL = "Written by"
"""The field that signs an agent's episode, where a reader sees it; index lines leave signed episodes out."""


def sign_episodes(path: str, old: str, new: str, author: str, is_said: Callable[[str], bool]) -> str:
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


def without_agents_episodes(page: PageText) -> PageText:
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


def read_stated_facts(content: str) -> list[tuple[str, str]] | None:
    """Return the facts that a text states, if it is a single line or only bullets; else None."""
    lines = [body(line).strip() for line in split_lines(content) if not is_blank(line)]
    if len(lines) > 1 and not all(map(BULLET.match, lines)):
        return None
    found = [each for line in lines if (each := statement(BULLET.sub("", line, count=1))) is not None]
    return found if len(found) == len(lines) else None


def with_facts(path: str, text: str, facts: list[tuple[str, str]]) -> str:
    """Add facts to a page of facts."""
    for relation, said in facts:
        here = _read_page(path, text).facts
        label, words = as_written(relation, said)
        # A note is the same with and without its full stop.
        forms = (words.removesuffix("."), f"{words.removesuffix('.')}.") if label == NOTE else (words,)
        said_here = [fact.object for fact in here]  # a page may have thousands, and mostly none says this
        if any(form in said_here for form in forms) and any(
            fact.object in forms and fact.relation == label for fact in here
        ):
            continue
        # In a slot that holds one value, a new value replaces the last one.
        name = slot("", relation)
        is_one = not relation_of(relation).many
        same = (
            next((fact for fact in reversed(here) if slot("", fact.relation) == name), None)
            if is_one
            else None
        )
        if same:
            text = replace_fact(text, path, _line_of(same), relation, said)
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
