"""The guard: of a page that an agent changed, the lines that may stand where it put them.

At the top of the folder, which every prompt shows, an agent writes only what the user said; on a page of facts also
what it concluded, unless it had read what tools brought. A line that a person wrote or confirmed it neither changes nor
removes. Whatever is held back waits for a person.
"""

from __future__ import annotations

from looseleaf.core.diff import diff, split_lines
from looseleaf.core.gate import says
from looseleaf.core.grammar import drawer, new_page, parse
from looseleaf.core.lines import body, escape, is_blank
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from looseleaf.values import Fact

_NOTE = 300


@frozen
class Spoken:
    """What was said in the session in which an agent writes: the user's messages, and whether a tool spoke."""

    user: tuple[str, ...] = ()
    tools: bool = False

    def has(self, line: str) -> bool:
        """Whether one message of the user says it."""
        return any(says(line, text) for text in self.user)


@frozen
class Guarded:
    """The text that may be written; the lines of it that are the user's own words; what was held back, as
    (relation, object); and whether a line of a person was to go."""

    text: str
    said: tuple[tuple[str, str], ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    kept: tuple[str, ...] = ()


def is_guarded(path: str) -> bool:
    """Whether it matters who wrote a page's lines: those at the top, and those of facts."""
    return path.endswith(".md") and ("/" not in path or drawer(path) == "facts")


def guarded(path: str, old: str, new: str, spoken: Spoken, persons: Collection[tuple[str, str]]) -> Guarded:
    """What an agent's change of a page comes to. `persons`: the facts there that a person wrote or confirmed."""
    is_top = "/" not in path
    if not is_top and not spoken.tools and not persons:
        return Guarded(new, _said(path, new, spoken))
    lines = list(split_lines(old))
    roles = parse(path, new).roles
    facts = {fact.line or 0: fact for fact in parse(path, new).facts}
    own = {fact.line or 0: fact for fact in parse(path, old).facts}
    made: list[str] = []
    held: list[tuple[str, str]] = []
    kept: list[str] = []
    at = shift = 0
    for hunk in diff(old, new):
        made += lines[at : hunk.at]
        at = hunk.at + len(hunk.removed)
        first = hunk.at + shift
        shift += len(hunk.added) - len(hunk.removed)
        again = {
            (fact.relation, fact.object)
            for number in range(first, first + len(hunk.added))
            if (fact := facts.get(number + 1))
        }
        for number in range(hunk.at, at):
            fact = own.get(number + 1)
            if fact and (fact.relation, fact.object) in persons and (fact.relation, fact.object) not in again:
                made.append(lines[number])
                kept.append(f"{fact.relation}: {fact.object}")
        for number, line in enumerate(hunk.added, first):
            if is_blank(line) or _may_stand(
                line, roles[number], facts.get(number + 1), spoken, is_top=is_top
            ):
                made.append(line)
            elif roles[number] != "title" and roles[number] != "summary":
                _hold(held, line, facts.get(number + 1))
    made += lines[at:]
    text = "".join(made)
    if is_top and not old and text.strip() and parse(path, text).title is None:
        text = f"{new_page(path)}\n{text.lstrip(chr(10))}"
    text = text if text.strip() or old else ""
    return Guarded(text, _said(path, text, spoken), tuple(held), tuple(kept))


def _may_stand(line: str, role: str, fact: Fact | None, spoken: Spoken, *, is_top: bool) -> bool:
    if role == "updated":
        return True
    if fact is not None:
        claim = f"{fact.relation} {fact.object}" if fact.relation != "note" else fact.object
        return spoken.has(claim) or (spoken.has(fact.object) and _is_label(fact.relation))
    if not is_top and role in ("title", "summary", "kind"):
        return True  # the index does not show what an agent wrote there
    return spoken.has(body(line))


def _is_label(relation: str) -> bool:
    from looseleaf.core.identity import relation_of
    from looseleaf.core.relations import BY_LABEL

    return relation_of(relation).label.casefold() in BY_LABEL


def _said(path: str, text: str, spoken: Spoken) -> tuple[tuple[str, str], ...]:
    """The facts of a page that are the user's own words."""
    if not spoken.user:
        return ()
    return tuple(
        (fact.relation, fact.object)
        for fact in parse(path, text).facts
        if _may_stand("", "fact", fact, spoken, is_top=True)
    )


def _hold(held: list[tuple[str, str]], line: str, fact: Fact | None) -> None:
    """A fact by itself; lines of prose that follow each other as one note."""
    if fact is not None:
        held.append((fact.relation, fact.object))
        return
    words = escape(body(line)).lstrip("#>-*+ ")
    if held and held[-1][0] == "note" and len(held[-1][1]) + len(words) < _NOTE:
        held[-1] = ("note", f"{held[-1][1]} {words}")
    elif words:
        held.append(("note", words[:_NOTE]))


def sentences_of(guarded: Guarded) -> Sequence[str]:
    """What a receipt says of lines that did not go where they were put."""
    waits = (f"waits in review: “{relation}: {said}”" for relation, said in guarded.held)
    stays = (f"stays, as a person wrote it: “{line}”" for line in guarded.kept)
    return (*waits, *stays)
