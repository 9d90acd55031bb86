"""The plan of tidying: which lines leave an overlong USER.md for the second page of its topic, and the proof that no
fact changes (FORMAT §13.8).

Invariant: only whole lines of facts go; every other line of USER.md stays byte for byte, in its order. The same pages
and facts give the same plan, and a plan for its own result is empty.
"""

from __future__ import annotations

from collections import Counter

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import LEVELS
from looseleaf.facts.ledger import FactLedger, copy_id
from looseleaf.facts.page_lines import Shard, Sheet
from looseleaf.facts.placement import PROFILE, USER, is_passed
from looseleaf.language.relations import slot
from looseleaf.language.value_keys import key
from looseleaf.log.journal import EXTERNAL, PERSON, record_of
from looseleaf.pages.grammar import add_fact, new_page, parse
from looseleaf.text.diff import split_lines
from looseleaf.text.lines import (
    BLOCK_FIRST,
    body,
    bullet_text,
    heading,
    is_blank,
    is_found,
    is_rule,
    kind_named,
    line_end,
)
from looseleaf.views.essentials import PINNED, TIERS, rank, tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from looseleaf.base.values import Edit, Ended, Fact, Kind, PageText

PAGE = f"facts/{USER}.md"
"""The second page of the topic: in no prompt, but listed in each and found by recall."""

_WHO = frozenset(("language",))
"""Relations that say who the user is for every answer, though their kind is not `identity`."""


@frozen
class TidyPlan:
    """A plan: the two texts, the records of the new lines on the second page, and the facts there that equal moved
    ones. `before` and `after`: the tokens of USER.md."""

    profile: str
    page: str
    moved: tuple[Fact, ...]
    told: tuple[Fact, ...]
    merged: tuple[tuple[Fact, Fact], ...]
    before: int
    after: int

    def ended(self, when: str) -> tuple[Ended, ...]:
        """Return the ends of the second edit: facts of the second page that are one with those that move there."""
        return tuple((old.id or "", when, fact.id) for fact, old in self.merged)


def plan(
    facts: Sequence[Fact],
    profile: str,
    page: str,
    count: Callable[[str], int],
    limit: int,
    target: int,
    finish: Callable[[str], str] = lambda text: text,
    today: str = "",
) -> TidyPlan:
    """Plan a tidying. `facts`: all of the topic, with their lines. Ordinary facts go until USER.md has at most `target`
    tokens; dear ones only until it has at most `limit`; and plans that are over by `today`, in any case. `finish`
    completes USER.md if any go."""

    def tokens(text: str) -> int:
        return count(finish(text))

    before = count(profile)
    ordinary, dear = _order_candidates(facts, profile) if before > limit or today else ([], [])
    loose = (fact for fact in (*ordinary, *dear) if today and PINNED not in fact.tags)
    over = [fact for fact in loose if is_passed(fact, today)]
    gone = {fact.id for fact in over}
    ordinary, dear = ([fact for fact in each if fact.id not in gone] for each in (ordinary, dear))
    moved, after = over, tokens(_remove_lines(profile, over)) if over else before
    for found, most in ((ordinary, target), (dear, limit)):
        if after > limit:
            moved, after = _choose(profile, found, moved, tokens, most, after)
    moved.sort(key=lambda fact: fact.line or 0)
    there = {fact.id or "": fact for fact in facts if fact.path == PAGE and fact.line is not None}
    twins = _find_twins(facts)
    going = {fact.id for fact in moved}
    # Second lines, from a tidying that was interrupted or half undone: if the fact stays on USER.md, the line here
    # goes.
    left = [fact for name, fact in there.items() if name in twins and twins[name] not in going]
    alone = (fact for name, fact in there.items() if name not in twins and fact.status == "current")
    same = {_identity_key(fact): fact for fact in alone if not is_found(fact.object)}
    leaving = ((_identity_key(fact), fact) for fact in moved if fact.id not in twins)
    ones = {same[key].id: fact for key, fact in leaving if key in same}
    merged = [(fact, there[name or ""]) for name, fact in ones.items()]
    at_home = {fact.id for fact in ones.values()} | twins.keys()
    told = [fact for fact in moved if fact.id not in at_home]
    text = _add_lines(_remove_lines(page, left), told, split_lines(profile))
    left_over = finish(_remove_lines(profile, moved)) if moved else profile
    return TidyPlan(left_over, text, tuple(moved), tuple(told), tuple(merged), before, after)


def _find_twins(facts: Sequence[Fact]) -> dict[str, str]:
    """Return, for facts with two lines, the id of each line's fact and that of the other. Also for second lines whose
    fact has ended meanwhile."""
    known = {fact.id or "": fact for fact in facts}
    pairs = [(name, copy_id(name)) for name in known if copy_id(name) in known]
    return {one: other for pair in pairs for one, other in (pair, pair[::-1])}


def _order_candidates(facts: Sequence[Fact], text: str) -> tuple[list[Fact], list[Fact]]:
    """Return the facts that may go, the first to go first: ordinary ones, and dear ones."""
    page = parse(PROFILE, text)
    read = {fact.line: fact for fact in page.facts}
    often = Counter(map(body, page.lines))
    found: list[Fact] = []
    for fact in facts:
        line = read.get(fact.line) if fact.path == PROFILE and fact.status == "current" else None
        if line is None or (line.relation, line.object) != (fact.relation, fact.object):
            continue
        # Of identical lines, it would be unclear which of them went.
        at = fact.line or 0
        if often[body(page.lines[at - 1])] == 1 and not _is_held(page, at):
            found.append(fact)
    # Of two with equal weight the lower one goes: an id is chance, and the same pages should give the same result.
    found.sort(key=lambda fact: rank(fact.but(id=f"{fact.line:09}")), reverse=True)
    found.sort(key=_weight)
    return [fact for fact in found if not _dearness(fact)], [fact for fact in found if _dearness(fact)]


def _weight(fact: Fact) -> tuple[int, int, bool]:
    """Weigh a fact. Of equally important facts, handwritten ones go last."""
    which = tier(fact)
    weight = TIERS.index(which) if which is not None else len(TIERS)
    return _dearness(fact), -weight, fact.origin in (PERSON, EXTERNAL)


def _dearness(fact: Fact) -> int:
    """Return 2 for a pinned fact, 1 for one that must not be forgotten or says who the user is."""
    if PINNED in fact.tags:
        return 2
    return int(tier(fact) == "core" or fact.relation.casefold() in _WHO)


def _is_held(page: PageText, line: int) -> bool:
    """Return True if other lines need this one: those that continue it; and a page's first line, which all need."""
    near = line
    while near < len(page.lines) and is_blank(page.lines[near]):
        near += 1
    if line == 1 or near == len(page.lines):
        return line == 1
    first = page.lines[near][0]
    continues = first in " \t" or (near == line and first not in BLOCK_FIRST)
    # Without a bullet before it, a line across the page makes a heading of the words above.
    underlines = near == line and (first == "=" or is_rule(body(page.lines[near])))
    return (page.roles[near] == "prose" and continues) or underlines


def _choose(
    text: str, found: list[Fact], gone: list[Fact], count: Callable[[str], int], most: int, now: int
) -> tuple[list[Fact], int]:
    """Choose as few of the first, beside those already gone, as bring the text down to so many tokens; return both."""

    def tokens(first: int) -> int:
        return count(_remove_lines(text, [*gone, *found[:first]])) if first else now

    low, high = 0, len(found)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if tokens(middle) <= most else (middle + 1, high)
    return [*gone, *found[:low]], tokens(low)


# --- the texts ---------------------------------------------------------------------------


def _remove_lines(text: str, facts: Iterable[Fact]) -> str:
    gone = {(fact.line or 0) - 1 for fact in facts}
    return "".join(line for at, line in enumerate(split_lines(text)) if at not in gone) if gone else text


def _add_lines(text: str, facts: Sequence[Fact], lines: Sequence[str]) -> str:
    """Return the page with the lines of these facts, as written: each kind where a careful person would put it."""
    text = text or new_page(PAGE) if facts else text
    page = parse(PAGE, text)
    titles = (line for line, role in zip(page.lines, page.roles, strict=True) if role == "kind")
    headings = (heading(body(line)) for line in titles)
    sections = {kind_named(found[1]) for found in headings if found is not None}
    groups: dict[Kind | None, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(fact.kind if fact.kind in sections else None, []).append(fact)
    for kind, group in groups.items():
        first = group[0]
        before = split_lines(text)
        after = list(split_lines(add_fact(text, PAGE, first.relation, first.object, kind)))
        at = next(i for i, line in enumerate(after) if i >= len(before) or line != before[i])
        while body(after[at]) != f"- {bullet_text(first.relation, first.object)}":
            at += 1
        end = line_end(after[at])
        after[at : at + 1] = [body(lines[(fact.line or 0) - 1]) + end for fact in group]
        text = "".join(after)
    return text


# --- the proof ---------------------------------------------------------------------------


def find_changed(
    edits: Sequence[Edit], facts: Iterable[Fact], sheets: Iterable[Sheet], planned: TidyPlan
) -> list[Fact]:
    """Return the facts of the topic that these edits would change, folded as the ledger will fold them: there should be
    none. Facts that are one with another are checked for what must not be lost."""
    before = _make_shard(facts, sheets)
    after = _make_shard(before.facts.values(), before.sheets.values())
    others: dict[str, Shard] = {}

    def shard(name: str) -> Shard:
        return after if name == USER else others.setdefault(name, Shard(name))

    def refuse_unknown(edit: Edit) -> bytes | None:
        raise Refused(f"The text of {edit.path} before that edit is unknown.")

    ledger = FactLedger(shard, refuse_unknown)
    for edit in edits:
        ledger.take(record_of(edit))
    old, new = _facts_without_copies(before), _facts_without_copies(after)
    wrong = [old.get(name) or new[name] for name in sorted(old.keys() ^ new.keys())]
    one = {name or "" for fact, same in planned.merged for name in (fact.id, same.id)}
    both = sorted((old.keys() & new.keys()) - one)
    wrong += [old[name] for name in both if _known_members(old[name]) != _known_members(new[name])]
    wrong += [fact for fact, same in planned.merged if not _is_merged(fact, same, new)]
    stand = {name for name, fact in new.items() if fact.line is not None}
    stand |= {same.id or "" for _, same in planned.merged}
    lost = {name for name, fact in old.items() if fact.line is not None} - stand
    return wrong + [old[name] for name in sorted(lost)] + _find_unread(after)


def _make_shard(facts: Iterable[Fact], sheets: Iterable[Sheet]) -> Shard:
    shard = Shard(USER)
    for fact in facts:
        shard.put(fact)
    for sheet in sheets:
        shard.sheets[sheet.path] = Sheet.from_list(sheet.to_list())
        shard.standing.update(name for name in sheet.ids if name is not None)
    return shard


def _facts_without_copies(shard: Shard) -> dict[str, Fact]:
    """Return the facts without copies: those are second lines of other facts."""
    copies = {copy_id(name) for name in shard.facts}
    return {fact.id or "": fact for fact in shard.placed() if fact.id not in copies}


def _known_members(fact: Fact) -> dict[str, Any]:
    return fact.but(path=None, line=None).to_dict()


def _is_merged(fact: Fact, same: Fact, new: dict[str, Fact]) -> bool:
    """Return True if one is left of two that said the same, with the sources of both and no lower level."""
    left, over = new.get(fact.id or ""), new.get(same.id or "")
    if left is None or over is None:
        return False
    levels = [LEVELS.index(each.level or "tainted") for each in (fact, same, left)]
    return (
        (left.status, over.status, over.superseded_by) == ("current", "superseded", left.id)
        and _identity_key(left) == _identity_key(fact)
        and left.kind == fact.kind
        and left.line is not None
        and levels[2] >= max(levels)
    )


def _find_unread(shard: Shard) -> list[Fact]:
    """Return facts that a page has and the ledger lacks on that line, or the reverse."""
    wrong: list[Fact] = []
    for path, sheet in sorted(shard.sheets.items()):
        read = {(fact.line or 0) - 1: fact for fact in parse(path, sheet.text).facts}
        for at, name in enumerate(sheet.ids):
            known = shard.facts.get(name) if name is not None else None
            said = read.get(at)
            if (known is None) != (said is None):
                wrong += [each for each in (known, said) if each is not None]
    return wrong


def _identity_key(fact: Fact) -> tuple[Any, ...]:
    """Return a key that is equal for facts that say the same."""
    return slot(fact.topic, fact.relation), key(fact.object, fact.relation)
