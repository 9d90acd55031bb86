"""The rules of the guard: which lines of an agent's change may stand where it put them.

At the top of the folder, which every prompt shows, an agent writes only what the user said; in a drawer also its
conclusions. Once it has read tool results, lines that do not follow from the user's own words are marked there as
findings; its own episodes are signed. It neither changes nor removes a line that a person wrote or confirmed, nor hides
one in a fence. It removes the user's statements at the top only by another statement of the user, and nowhere once
tools spoke or without the user's words; the same holds for episodes that it did not write. Index lines show nothing
that an agent wrote.

Invariant: the guarded text consists of lines of the old page, and of lines of the new one that may stand, in order.
"""

from __future__ import annotations

from collections import Counter

from looseleaf.base.immutable import frozen, members_of
from looseleaf.language.relations import relation_of, slot
from looseleaf.pages.grammar import (
    LABEL,
    drawer,
    find_covered_lines,
    new_page,
    parse,
    without_agents_episodes,
)
from looseleaf.text.diff import diff, split_lines
from looseleaf.text.lines import body, escape, heading, is_blank, split_relation, worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.base.values import Episode, Fact, Hunk, PageText
    from looseleaf.facts.gate import Spoken

    Said = tuple[str, str]

RULE = "constraint"
_NOTE = 300
_LONGEST = 1000
"""The most characters of a fact in review: a person has to read it."""


@frozen
class Owned:
    """The lines of a page that are not the agent's: facts that a person wrote or confirmed, facts that the user said,
    both as (relation, object), and other lines that a person wrote, without their ends."""

    persons: Collection[Said] = ()
    users: Collection[Said] = ()
    lines: Collection[str] = ()


@frozen
class Guarded:
    """The text that may be written; its lines in the user's own words; the lines held back, as (relation, object);
    lines of others that were to go; lines that an agent may not write at all; its findings from tools, which stand
    apart; and findings for which the page has no room."""

    text: str
    said: tuple[Said, ...] = ()
    held: tuple[Said, ...] = ()
    kept: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    found: tuple[Said, ...] = ()
    crowded: tuple[Said, ...] = ()

    def but(self, **changes: Any) -> Guarded:
        return Guarded(**members_of(self) | changes)


def check_page_change(
    path: str,
    old: str,
    new: str,
    spoken: Spoken,
    owned: Owned | Collection[Said] = (),
    *,
    shared: bool = False,
) -> Guarded:
    """Return what remains of an agent's change of a page. `shared`: several people talk to the memory, so nothing is
    about "the user", and no rule holds for all by one person's word."""
    owned = owned if isinstance(owned, Owned) else Owned(owned)
    change = _GuardedChange(path, old, new, spoken, owned, shared=shared)
    made = change.guard()
    if _hides(path, old, made.text, owned, spoken) or change.uncovers(made.text):
        # A fence, a comment or a heading would turn a person's line into something else.
        return Guarded(old, (), change.everything(), (*made.kept, "all of the page"), made.left)
    return made


class _GuardedChange:
    def __init__(self, path: str, old: str, new: str, spoken: Spoken, owned: Owned, *, shared: bool) -> None:
        self._shared = shared
        self._path, self._old, self._new = path, old, new
        self._spoken, self._owned = spoken, owned
        self._is_top = "/" not in path
        self._is_strict = self._is_top or spoken.tools
        self._is_of_facts = drawer(path) == "facts" and not self._is_top
        self._found: list[Said] = []
        self._before, self._after = parse(path, old), parse(path, new)
        told = without_agents_episodes(self._before).episodes
        titles = {episode.title for episode in told}
        self._others = _lines_of(told)
        self._theirs = _lines_of([each for each in self._after.episodes if each.title in titles])
        own = [each for each in self._after.episodes if each.title not in titles]
        self._episodes = _lines_of(own) if drawer(path) == "episodes" else frozenset()
        self._facts = {fact.line or 0: fact for fact in self._after.facts}
        self._own = {fact.line or 0: fact for fact in self._before.facts}
        self._old_facts = {(fact.relation, fact.object) for fact in self._before.facts}
        persons = (relation for relation, said in self._old_facts if (relation, said) in owned.persons)
        self._taken = {slot("", relation) for relation in persons if not relation_of(relation).many}
        self._hunks = diff(old, new)
        self._gone = self._count_moves()
        self._come = Counter(self._gone)
        self._stood: set[Said] = set()
        self._held: list[Said] = []
        self._kept: list[str] = []
        self._left: list[str] = []

    def guard(self) -> Guarded:
        lines = list(split_lines(self._old))
        made: list[str] = []
        at = 0
        for hunk, first in self._placed_hunks():
            made += lines[at : hunk.at]
            at = hunk.at + len(hunk.removed)
            made += self._guard_hunk(hunk, first)
        made += lines[at:]
        # A line that was the last of its page, and no longer is, gets an end.
        made[:-1] = [line if line.endswith("\n") else f"{line}\n" for line in made[:-1]]
        text = "".join(made)
        is_held = bool(self._held or self._found)
        if is_held and _said_lines(text) == _said_lines(self._old):
            text = self._old  # blank lines, and nothing between them
        if not self._old and is_held and not self._says_anything(text):
            text = ""  # a title, and nothing under it
        if self._is_top and not self._old and text.strip() and parse(self._path, text).title is None:
            text = f"{new_page(self._path)}\n{text.lstrip(chr(10))}"
        text = text if text.strip() or self._old else ""
        kept, left, found = tuple(self._kept), tuple(self._left), tuple(dict.fromkeys(self._found))
        new = self._new_facts(parse(self._path, text)) if self._spoken.user else []
        said = tuple((relation, what) for relation, what in new if self._spoken.has(what, relation))
        return Guarded(text, said, tuple(self._held), kept, left, found)

    def _placed_hunks(self) -> Iterator[tuple[Hunk, int]]:
        """Yield each hunk, and the line of the new page at which it begins."""
        shift = 0
        for hunk in self._hunks:
            yield hunk, hunk.at + shift
            shift += len(hunk.added) - len(hunk.removed)

    def _guard_hunk(self, hunk: Hunk, first: int) -> list[str]:
        """Return the lines of the old page that stay, then those of the new one that may stand."""
        goes, comes = self._apart(hunk, first)
        new = (self._facts.get(number + 1) for number in range(first, first + len(hunk.added)))
        single = (fact for fact in new if fact is not None and not relation_of(fact.relation).many)
        # The user said another value for these slots.
        instead = {slot("", each.relation) for each in single if self._spoken.has(each.object, each.relation)}
        made = [line for number, line in goes if self._stays(number, line, instead)]
        for number, line in enumerate(hunk.added, first):
            fact = self._facts.get(number + 1)
            if number not in comes:
                pass  # only its end differs
            elif fact is not None and self._gone[fact.relation, fact.object] > 0:
                # It stood there, in another form or at another place.
                self._gone[fact.relation, fact.object] -= 1
            elif not is_blank(line) and not self._may_stand(number, line):
                self._hold_line(number, line)
                continue
            made.append(line)
            self._stood |= {(fact.relation, fact.object)} if fact is not None else set()
        return made

    def _apart(self, hunk: Hunk, first: int) -> tuple[list[tuple[int, str]], dict[int, str]]:
        """Return the lines that a hunk removes, and those that it adds, by number, without those that it does both
        with. In a fence, the line of a fact is another line."""
        old = [(at, line, (body(line), at + 1 in self._own)) for at, line in enumerate(hunk.removed, hunk.at)]
        new = [(at, line, (body(line), at + 1 in self._facts)) for at, line in enumerate(hunk.added, first)]
        removed, added = Counter(key for *_, key in old), Counter(key for *_, key in new)
        goes: list[tuple[int, str]] = []
        comes: dict[int, str] = {}
        for at, line, key in old:
            added[key] -= 1
            if added[key] < 0:
                goes.append((at, line))
        for at, line, key in new:
            removed[key] -= 1
            if removed[key] < 0:
                comes[at] = line
        return goes, comes

    def _count_moves(self) -> Counter[Said]:
        """Count the facts on lines that go and come: those in another form or at another place."""
        gone: Counter[Said] = Counter()
        come: Counter[Said] = Counter()
        for hunk, first in self._placed_hunks():
            goes, comes = self._apart(hunk, first)
            old = (self._own.get(number + 1) for number, _ in goes)
            new = (self._facts.get(number + 1) for number in comes)
            gone.update((fact.relation, fact.object) for fact in old if fact is not None)
            come.update((fact.relation, fact.object) for fact in new if fact is not None)
        return gone & come

    def _stays(self, number: int, line: str, instead: Collection[str]) -> bool:
        role, fact = self._before.roles[number], self._own.get(number + 1)
        if role == "updated" or is_blank(line):
            return False
        if fact is not None:
            named = (fact.relation, fact.object)
            if self._come[named] > 0:
                self._come[named] -= 1
                return False  # it comes again elsewhere, or in another form
            is_kept = self._is_top or self._spoken.is_doubtful
            is_users = is_kept and named in self._owned.users
            is_replaced = slot("", fact.relation) in instead
            stays = named in self._owned.persons or (is_users and not is_replaced)
        else:
            stays = body(line) in self._owned.lines or role == "summary" or number in self._others
        if stays and role != "summary":
            self._kept.append(f"{fact.relation}: {fact.object}" if fact else escape(body(line))[:_NOTE])
        return stays

    def _may_stand(self, number: int, line: str) -> bool:
        role, fact = self._after.roles[number], self._facts.get(number + 1)
        if role == "updated" or (role == "kind" and not self._spoken.is_doubtful):
            return True
        if _is_summary(line) or number in self._theirs or _is_signature(self._path, line):
            return False
        if number in self._episodes:
            return True  # it is signed
        if fact is not None and self._is_taken(fact):
            return False
        if self._shared and (self._is_top or (fact is not None and relation_of(fact.relation).kind == RULE)):
            return False
        if not self._is_strict:
            return True
        if fact is not None:
            is_said = self._spoken.has(fact.object, fact.relation)
            return is_said or (self._is_of_facts and self._spoken.is_source_of(fact.object, fact.relation))
        if role == "title" and escape(body(line)) == new_page(self._path).strip():
            return True
        return (role != "title" or self._is_top) and self._spoken.has(body(line))

    def _is_taken(self, fact: Fact) -> bool:
        """Return True if a person says otherwise, and there can be only one value."""
        is_persons = (fact.relation, fact.object) in self._owned.persons
        return slot("", fact.relation) in self._taken and not is_persons

    def _hold_line(self, number: int, line: str) -> None:
        """Hold back a line: a fact by itself; consecutive lines of prose as one note. Lines that could not stand on a
        page of facts either are left out."""
        role, fact = self._after.roles[number], self._facts.get(number + 1)
        words = escape(body(line)).lstrip("#>-*+ ")
        is_taken = fact is not None and self._is_taken(fact)
        held = self._found if self._is_of_facts and self._spoken.tools and not is_taken else self._held
        if role == "title" or _is_summary(line) or _is_signature(self._path, line):
            self._left.append(words[:_NOTE])
        elif fact is not None:
            said = fact.object
            short = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1].rstrip()}…"
            held.append((fact.relation, short))
        elif words:
            # A line of prose belongs to the note before it: a heading begins another.
            before = held[-1] if held and heading(body(line)) is None else ("", "")
            if before[0] == "note" and len(before[1]) + len(words) < _NOTE:
                held[-1] = ("note", f"{before[1]} {words}")
            else:
                held.append(("note", words[:_NOTE]))

    def everything(self) -> tuple[Said, ...]:
        """Return every fact that the change would have added."""
        return tuple(dict.fromkeys(self._new_facts(self._after)))

    def _new_facts(self, page: PageText) -> list[Said]:
        facts = ((fact.relation, fact.object) for fact in page.facts)
        return [fact for fact in facts if fact not in self._old_facts]

    def uncovers(self, text: str) -> bool:
        """Return True if a line became a fact, because what hid it is gone, without being allowed."""
        return not self._stood.issuperset(self._new_facts(parse(self._path, text)))

    def _says_anything(self, text: str) -> bool:
        page = parse(self._path, text)
        prose = (line for line, role in zip(page.lines, page.roles, strict=True) if role == "prose")
        return bool(page.facts or page.episodes) or any(not is_blank(line) for line in prose)


def _is_summary(line: str) -> bool:
    """Return True if it is a summary, or would be one without the summary before it."""
    text = body(line)
    labelled = split_relation(escape(text[1:])) if text.startswith(">") else None
    return labelled is not None and labelled[0].casefold() == "summary"


def _said_lines(text: str) -> list[str]:
    return [body(line) for line in split_lines(text) if not is_blank(line)]


def _hides(path: str, old: str, new: str, owned: Owned, spoken: Spoken) -> bool:
    """Return True if a person's fact would disappear or change its kind (in doubt, also a fact of the user's), if a
    person's words would stand in a fence, or if the page would get another summary."""
    before, after = parse(path, old), parse(path, new)
    if after.summary is not None and after.summary != before.summary:
        return True
    now = _kinds_of(after, {*owned.persons, *owned.users})
    if any(said not in now or now[said] != kind for said, kind in _kinds_of(before, owned.persons).items()):
        return True
    if spoken.is_doubtful:
        stand = set(map(body, after.lines))
        for fact in before.facts:
            said = (fact.relation, fact.object)
            is_there = said in now or body(before.lines[(fact.line or 1) - 1]) in stand
            if said in owned.users and is_there and now.get(said, "") != fact.kind:
                return True
    stood, stands = _count_standing(old, owned.lines), _count_standing(new, owned.lines)
    return any(not one <= other for one, other in zip(stood, stands, strict=True))


def _kinds_of(page: PageText, wanted: Collection[Said]) -> dict[Said, str | None]:
    facts = ((fact.relation, fact.object, fact.kind) for fact in page.facts)
    return {(relation, said): kind for relation, said, kind in facts if (relation, said) in wanted}


def _count_standing(text: str, lines: Collection[str]) -> tuple[Counter[str], Counter[str]]:
    """Count how often these lines stand as what they are, and how often in a fence or a comment."""
    open_, shut = Counter[str](), Counter[str]()
    if lines:
        for line, is_covered in zip(split_lines(text), find_covered_lines(text), strict=True):
            if body(line) in lines:
                (shut if is_covered else open_)[body(line)] += 1
    return open_, shut


def _lines_of(episodes: Iterable[Episode]) -> frozenset[int]:
    """Return the lines, from 0, of episodes."""
    return frozenset(at for each in episodes for at in range(each.line - 1, each.end))


def _is_signature(path: str, line: str) -> bool:
    """Return True if it names the author of an episode: only the program writes that."""
    words = escape(body(line)).lstrip("#>-*+ ").casefold()
    return drawer(path) == "episodes" and words.startswith(f"{LABEL.casefold()}:")


FATES = {
    "asked": "waits in review",
    "pending": "waits in review",
    "current": "is known already",
    "rejected": "was left out, as a person said no to it",
    "full": "was left out, as too much waits in review already",
    "noted": "stands in a drawer, as what an agent concluded",
    "found": "stands in a drawer, under what agents found",
    "crowded": "was left out, as the page has as much as it holds of what agents found",
}
"""The fates of a held-back line, in the words of a receipt."""


def fate_words(fate: str, page: str | None = None) -> str:
    """Return the fate of a line in words. `page`: the drawer's page on which it stands."""
    return FATES[fate].replace("a drawer", f"a drawer ({page})") if page is not None else FATES[fate]


def sentences_of(guarded: Guarded, fates: Mapping[Said, str] | None = None) -> Sequence[str]:
    """Return a receipt's sentences on lines that did not go where they were put. `fates`: what became of each."""
    fates = fates or {}
    waits = (f"{fates.get(line, FATES['asked'])}: “{worded(*line)}”" for line in guarded.held)
    apart = (f"{FATES['found']}: “{worded(*line)}”" for line in guarded.found)
    crowded = (f"{FATES['crowded']}: “{worded(*line)}”" for line in guarded.crowded)
    stays = (f"stays, as a person or the user put it: “{line}”" for line in guarded.kept)
    left = (
        f"the page {line} was not made: its name would stand in every prompt, and the user did not say it"
        if line.endswith(".md")
        else f"was left out, as an index line would show it: “{line}”"
        for line in guarded.left
    )
    return (*waits, *apart, *crowded, *stays, *left)
