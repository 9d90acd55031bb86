"""Replacing: the held lines that a change contradicts where no slot decides it, and those an order to forget means.

A slot has an address; a line in the user's words has none. So each held line that shares a word, a sort of thing or an
aspect of life with a change gets a chance of being its target. Lines that surely go are superseded or ended; lines that
may have changed are marked as doubtful, and shown with that mark until the user repeats them.

People name what to forget by its words ("forget that I play chess"), by its sort ("the PIN", "my religion"), or by when
they said it ("what I just told you"). Each held line gets a chance of being meant.

The weights behind both are trained on later messages and orders of real people (`training/links.py`). Pure. Linear in
the number of lines, except for sorting.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from functools import lru_cache
from math import exp, log

from looseleaf.base.immutable import frozen
from looseleaf.language.terms import terms
from looseleaf.text.lines import NEVER, NOTE, lazy, undoubted, worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from looseleaf.base.values import Fact, Kind

    Signs = dict[str, float]


PLAIN = 0.3
LIKELY = 0.5
SURE = 0.7
"""At or above these chances of being a change, a sentence plainly, likely, or surely tells of one."""

GONE = 0.75
DOUBT = 0.1
"""At or above these chances of being a change's target, a line goes, or is doubted."""


@frozen
class Replacement:
    """A sentence that may tell of a change. `was`: the value that it says is gone; `is_ending`: it says nothing else;
    `is_of_others`: it is about another person."""

    said: str
    chance: float
    was: str | None = None
    topic: str = ""
    kind: Kind | None = None
    is_ending: bool = False
    is_of_others: bool = False


@frozen
class Lexicon:
    """Knowledge of words. `sorts`: the sorts of thing that a word names (`database`, `editor`); two names of one sort
    are about the same thing; `plain`: terms too common to link lines; `weights`: of the signs that a change is about a
    line. For orders to forget: `matters`, the aspects and private matters that a word reveals;
    `erasing`, the weights of the signs."""

    sorts: Callable[[str], frozenset[str]]
    plain: frozenset[str]
    is_name: Callable[[str], bool]
    weights: Mapping[str, float]
    matters: Callable[[str], frozenset[str]]
    erasing: Mapping[str, float]


@frozen
class Replaced:
    """Facts that a change replaces, and facts that it may have changed."""

    gone: tuple[Fact, ...] = ()
    doubtful: tuple[Fact, ...] = ()


@lru_cache(4096)
def terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(undoubted(text)))


def words_of(fact: Fact) -> frozenset[str]:
    return terms_of(fact.object if fact.relation == NOTE else f"{fact.relation} {fact.object}")


def facts_naming(words: str, held: Sequence[Fact]) -> list[Fact]:
    """Return the current facts that have all of these words."""
    wanted = terms_of(words)
    return [fact for fact in held if fact.status == "current" and wanted and wanted <= words_of(fact)]


def replaced_by(change: Replacement, held: Sequence[Fact], lexicon: Lexicon) -> Replaced:
    """Return the facts that a change replaces, and those that it casts doubt on."""
    current = [fact for fact in held if fact.status == "current"]
    if change.was and (change.is_ending or change.chance >= PLAIN):
        mine, was = terms_of(change.said), terms_of(change.was)
        named = [fact for fact in facts_naming(change.was, current) if fact.relation not in _LASTING]
        named = [fact for fact in named if not mine - was or words_of(fact) != mine]
        is_named = any(map(lexicon.is_name, was)) or bool(_sorts_in(change.was, lexicon.sorts))
        near = _pick_nearest(named, mine)
        # "I left the clinic": other facts about a clinic may hold. And "my brother is not vegan any more" does not
        # touch the user's own diet.
        gone = [fact for fact in near if (is_named if fact.relation == NOTE else not change.is_of_others)]
        if near:
            return Replaced(tuple(gone), tuple(fact for fact in near if fact not in gone))
    # News of a partner or an employer, by name, does not end them.
    found = [
        (chance_of(signs, lexicon.weights), fact)
        for fact, signs in links(change, current, lexicon)
        if not signs["value named"] or change.chance >= LIKELY
    ]
    found.sort(key=lambda pair: -pair[0])
    likely = [(chance, fact) for chance, fact in found if chance >= DOUBT][:_MOST]
    if not found and change.kind is not None and change.chance >= SURE:
        # No word leads to a line. If just one has the same topic and kind, that one is doubted.
        alike = [fact for fact in current if (fact.topic, fact.kind) == (change.topic, change.kind)]
        return Replaced((), tuple(alike)) if len(alike) == 1 else Replaced()
    gone = [fact for chance, fact in likely if chance >= GONE and _may_go(fact)]
    return Replaced(tuple(gone), tuple(fact for _, fact in likely if fact not in gone))


def _may_go(fact: Fact) -> bool:
    """Return True if a line says one thing. The rest of a line of several clauses may hold. A slot goes only by another
    value or an ending: nothing here knows whose change it is."""
    return fact.relation == NOTE and _CLAUSE.search(undoubted(fact.object)) is None


_LASTING = frozenset({"Name", "Pronouns", "Birthday", "Gender", "Nationality", "Hometown"})
"""Slots that talk about something else never casts doubt on."""

_MOST = 3
"""The most lines that one sentence can contradict."""


def _pick_nearest(named: list[Fact], mine: frozenset[str]) -> list[Fact]:
    """Return all that name it, if they are few; else those that share most with the change."""
    if len(named) <= _MOST:
        return named
    best = max(len(words_of(fact) & mine) for fact in named)
    return [fact for fact in named if len(words_of(fact) & mine) == best][:_MOST]


# --- the signs that a change is about a line --------------------------------------------


def links(change: Replacement, held: Sequence[Fact], lexicon: Lexicon) -> Iterator[tuple[Fact, Signs]]:
    """Yield each line that has a link to a change, with the signs that the change is about it."""
    common = line_counts(map(words_of, held))
    most = log(len(held) + 1)
    mine, names = terms_of(change.said), _sorts_in(change.said, lexicon.sorts)
    was = terms_of(change.was) if change.was else frozenset()

    def telling(words: frozenset[str]) -> set[str]:
        known = (term for term in words if term not in lexicon.plain)
        return {term for term in known if not term.isdigit() and len(term) > 2 - (term > "~")}

    told = telling(mine)
    weighed: list[tuple[float, Fact, set[str], int, int, int]] = []
    for fact in held:
        if fact.relation in _LASTING:
            continue
        shared = told & words_of(fact)
        others, days, aspects = _count_sorts(fact, names, lexicon.sorts)
        if shared or others or days or aspects or (was and was <= words_of(fact)):
            rare = sum(1 - log(common[term]) / most for term in shared)
            weighed.append((rare, fact, shared, others, days, aspects))
    margin = margin_of(change.chance)
    ranked = sorted(-rare for rare, *_ in weighed)
    for rare, fact, shared, others, days, aspects in weighed:
        theirs = words_of(fact)
        better = bisect_left(ranked, -rare - 1e-9)
        yield (
            fact,
            {
                "bias": 1.0,
                "change": margin,
                "shared": min(rare, 3.0),
                "change × shared": margin * min(rare, 3.0),
                "names": min(sum(map(lexicon.is_name, shared)), 2),
                "share of line": len(shared) / max(len(telling(theirs)), 1),
                "share of change": len(shared) / max(len(told), 1),
                "best": float(not better and rare > 0),
                "better ones": min(better, 4),
                "linked ones": min(len(weighed), 10),
                "numbers": float(any(map(has_number, mine)) and any(map(has_number, theirs))),
                "other day": min(days, 2) * rare,
                "other of its sort": min(others, 2),
                "same aspect": min(aspects, 2),
                "named as gone": float(bool(was) and was <= theirs),
                "value named": float(fact.relation != NOTE and terms_of(fact.object) <= mine),
                "plan": float(change.kind == "commitment"),
                "event": float(change.kind == "event"),
                "question": float(change.said.rstrip().endswith(("?", "？"))),
                "length": log(len(change.said) + 1),
                "length of line": log(len(undoubted(fact.object)) + 1),
            },
        )


def margin_of(chance: float) -> float:
    """Return the log-odds, within the range seen in training."""
    chance = min(max(chance, 0.001), 0.95)
    return log(chance / (1 - chance))


def chance_of(signs: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return 1 / (1 + exp(-sum(weights[name] * sign for name, sign in signs.items())))


def _count_sorts(
    fact: Fact, mine: dict[str, set[str]], sorts: Callable[[str], frozenset[str]]
) -> tuple[int, int, int]:
    """Return three counts: sorts of which line and change name different things; the same for sorts that can hold
    several names at once (days, months); and aspects of life that both are about."""
    if not mine:
        return 0, 0, 0
    theirs = _sorts_in(worded(fact.relation, fact.object), sorts)
    if aspect := _ASPECTS.get(fact.relation):
        theirs = theirs | {aspect: theirs.get(aspect, set()) | {fact.object}}
    both = mine.keys() & theirs.keys()
    others = [sort for sort in both if not sort.startswith(ABOUT) and mine[sort].isdisjoint(theirs[sort])]
    days = sum(sort in _COEXISTING for sort in others)
    return len(others) - days, days, sum(sort.startswith(ABOUT) for sort in both)


_COEXISTING = frozenset({"weekday", "month", "season", "condition"})
"""Sorts of which many names hold at once: two of them alone are no change."""

_ASPECTS = {
    "Home": "about_home",
    "Employer": "about_job",
    "Role": "about_job",
    "Partner": "about_partner",
    "Diet": "about_diet",
}
"""The aspect of life that a slot belongs to."""

ABOUT = "about_"
"""The prefix of sorts that stand for an aspect of life, not for names of things."""

WIDE = lazy(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]", in_ascii=NEVER)
"""A character of a script with few or no spaces between words."""


def aspects_of(text: str, sorts: Callable[[str], frozenset[str]]) -> frozenset[str]:
    """Return the aspects of life that a text is about."""
    return frozenset(sort for sort in _sorts_in(text, sorts) if sort.startswith(ABOUT))


def _sorts_in(text: str, sorts: Callable[[str], frozenset[str]]) -> dict[str, set[str]]:
    return _sorts_in_text(undoubted(text).lower(), sorts)


@lru_cache(2048)
def _sorts_in_text(text: str, sorts: Callable[[str], frozenset[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    is_wide = WIDE.search(text) is not None
    words = text if is_wide else re.findall(r"[\w.+#&/'-]*[\w+#]", text)
    for size in range(1, 7 if is_wide else 4):
        for at in range(len(words) - size + 1):
            name = ("" if is_wide else " ").join(words[at : at + size])
            for sort in sorts(name):
                found.setdefault(sort, set()).add(name)
    return found


def has_number(text: str) -> bool:
    return any(map(str.isdigit, text))


def line_counts(lines: Iterable[frozenset[str]]) -> dict[str, int]:
    """Count the lines that have each term."""
    return Counter(term for line in lines for term in line)


_CLAUSE = lazy(
    r"(?<=[,;])\s|\s[-–—]\s|(?<=[，；、])|\s(?:and|but|und|aber|et|mais|y|pero|e|mas|ma|en|maar)\s",
    re.IGNORECASE,
)


def cut_clauses(said: str, is_gone: Callable[[str], bool]) -> str:
    """Return a line without the clauses that are gone. Empty if none is gone, or if the rest says nothing."""
    said = undoubted(said)
    parts: list[str] = []
    at = gone = 0
    for end, behind in (*(joint.span() for joint in _CLAUSE.finditer(said)), (len(said), len(said))):
        clause = said[at:end].strip(" ,;，；、")
        if clause and is_gone(clause):
            gone += 1
        elif clause:
            parts.append(clause)
        at = behind
    kept = ", ".join(parts)
    return kept if gone and any(len(terms_of(part)) > 1 for part in parts) else ""


def words_test(words: str) -> Callable[[str], bool]:
    """Return a test for clauses that have all of these words."""
    wanted = terms_of(words)
    return lambda clause: bool(wanted) and wanted <= terms_of(clause)


def is_from_same_words(fact: Fact, doubtful: Sequence[Fact], said: str) -> bool:
    """Return True if a fact and a doubtful one come from the same words: a note with the doubtful value, or a value
    from the doubtful note that the change names."""
    for each in doubtful:
        if each.quote != fact.quote or each is fact:
            continue
        slot, note = (each, fact) if fact.relation == NOTE else (fact, each)
        if slot.relation != NOTE and note.relation == NOTE:
            return slot.object.casefold() in (note.object if fact is note else said).casefold()
    return False


# --- orders to forget -------------------------------------------------------------------

MEANT = 0.25
SURELY_MEANT = 0.6
"""An order removes a line at or above the first chance, and a line that a person confirmed at or above the second."""

EARLIER = 0.5
"""At or above this chance, an order refers to something said earlier."""


@frozen
class Order:
    """An order to forget: the sentences that give it (`said`), and three chances: that they forbid, that they refer to
    something said earlier, and that this is the message before. `named`: their terms, without the terms of forbidding;
    `rest`: the number of terms in the rest of the message, which may name the target; `is_content`: a clause of the
    order says what to forget."""

    said: str
    forbid: float
    erase: float
    last: float
    named: frozenset[str]
    rest: int = 0
    is_content: bool = False


@frozen
class HeldLine:
    """A line that an order may mean: a fact, or a line of a day. `value`: the value of a slot, and `beside`: the user's
    words next to it; `is_last`: it comes from the message before the order; `is_guarded`: it goes only if the order
    names it."""

    words: str
    value: str = ""
    beside: str = ""
    is_last: bool = False
    is_guarded: bool = False


def told_by(fact: Fact, *, is_last: bool) -> HeldLine:
    words = undoubted(worded(fact.relation, fact.object))
    if fact.relation == NOTE:
        return HeldLine(words, is_last=is_last)
    value = undoubted(fact.object)
    return HeldLine(words, value, words_beside(value, fact.quote or ""), is_last, fact.relation in _GUARDED)


_JOINT = lazy(
    r"[,;:.!?()、，。；：]|\b(?:and|und|et|y|e|en|but|aber|mais|pero|mas|ma|maar|or)\b", re.IGNORECASE
)
_IS = lazy(r"(?:'s|\W*(?:is|ist|est|es|é|è|我的|は))\b\W*", re.IGNORECASE)
_WORDS = 3


def words_beside(value: str, quote: str) -> str:
    """Return the words right before a value, and after it if they define it: "my dog" for "my dog Rex"."""
    before, found, after = quote.partition(value)
    if not found:
        return ""
    words = _JOINT.split(before)[-1].split()[-_WORDS:]
    if (joint := _IS.match(after)) is not None:
        words += _JOINT.split(after[joint.end() :])[0].split()[:_WORDS]
    return " ".join(words)


_GUARDED = frozenset({"Name", "Pronouns", "Birthday", "Allergy", "Condition", "Diet", "Answers", "Language"})
"""Slots that go only if an order names them: too much depends on them."""

_SHARE = 0.6
"""The least share of an order's terms that such a slot must have."""


def find_meant(order: Order, lines: Sequence[HeldLine], lexicon: Lexicon) -> dict[int, float]:
    """Return the numbers of the lines that an order may mean, with the chance of each."""
    return {
        at: chance_of(signs, lexicon.erasing)
        for at, signs in erasing_signs(order, lines, lexicon)
        if not lines[at].is_guarded or signs["share of order"] >= _SHARE
    }


def erasing_signs(order: Order, lines: Sequence[HeldLine], lexicon: Lexicon) -> Iterator[tuple[int, Signs]]:
    """Yield the number of each line that has a link to an order, with the signs that the order means it."""
    # "Forget my dog" means `Pet: Rex`, which comes from "my dog Rex".
    theirs = [terms_of(f"{line.words} {line.beside}" if line.beside else line.words) for line in lines]
    common = line_counts(theirs)
    most = log(len(lines) + 1)
    aspects = aspects_of(order.said, lexicon.matters)
    is_named = any(order.named & each for each in theirs)
    may_be_last = order.erase >= EARLIER and order.rest < _LITTLE and not (is_named or order.is_content)
    # "Forget what I said about my wife": if no line is about her, the message before is not meant.
    may_be_last = may_be_last and (not order.named or order.last >= _LAST)
    weighed: list[tuple[float, int, frozenset[str], int]] = []
    for at, line in enumerate(lines):
        shared = order.named & theirs[at]
        alike = len(aspects & aspects_of(line.words, lexicon.matters)) if aspects and not is_named else 0
        if shared or alike or (line.is_last and may_be_last):
            weighed.append((sum(1 - log(common[term]) / most for term in shared), at, shared, alike))
    ranked = sorted(-rare for rare, *_ in weighed)
    by_aspect = sorted(-alike for *_, alike in weighed)
    forbid, erase, lastly = map(margin_of, (order.forbid, order.erase, max(order.erase * order.last, _LEAST)))
    is_alone = all(lines[at].is_last for _, at, *_ in weighed)
    for rare, at, shared, alike in weighed:
        line = lines[at]
        better = bisect_left(ranked, -rare - 1e-9)
        more_alike = bisect_left(by_aspect, -alike)
        yield (
            at,
            {
                "bias": 1.0,
                "forbid": forbid,
                "erase": erase,
                "shared": min(rare, 3.0),
                "erase × shared": (forbid + erase) * min(rare, 3.0),
                "names": min(sum(map(lexicon.is_name, shared)), 2),
                "share of order": len(shared) / max(len(order.named), 1),
                "best": float(not better and rare > 0),
                "better ones": min(better, 4),
                "aspects": min(alike, 3),
                "aspects alone": min(alike, 3) * (ranked[0] >= 0),
                "most alike": float(not more_alike and alike > 0),
                "more alike ones": min(more_alike, 4),
                "said last": float(line.is_last),
                "said last, meant": lastly * line.is_last,
                "said last, alone": float(line.is_last and is_alone),
                "said last, else named": float(line.is_last and bool(order.named) and not (shared or alike)),
                "said earlier, last meant": lastly * (not line.is_last),
                "number": float("about_code" in aspects and any(map(has_number, theirs[at]))),
                "names little": float(not order.named),
                "value named": float(bool(line.value) and terms_of(line.value) <= order.named),
                "length": log(len(order.said) + 1),
                "length of line": log(len(line.words) + 1),
            },
        )


_LEAST = 0.05
"""A lower chance of meaning the message before counts as this one."""
_LAST = 0.45
"""The least chance of meaning the message before, for an order that names something no line has."""
_LITTLE = 3
"""If the rest of its message has this many terms or more, an order does not mean the message before, unless they share
a term or a matter."""
