"""Sentences and clauses: where they end, what they deny, ask, suppose, report or end, and about whom they speak.

A sentence may also name a thing only to forbid it, undo it, leave it out, or allow it on a condition: words around the
thing, its frame, reverse its meaning.

Decided by words alone, in six languages, on text in one spelling (`spelled`), in linear time. In doubt a sentence says
less: a claim read as denied or asked, or a frame found too often, only waits for a person; a missed frame turns a
prohibition into a rule.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from unicodedata import normalize

from looseleaf.language.sentences import is_short_form
from looseleaf.language.tables import pattern_of
from looseleaf.text.lines import NEVER, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


# --- spelling ---------------------------------------------------------------------------

_QUOTES = str.maketrans("’‘ʼ“”„«»「」『』", '\'\'\'"""""""""')
_BLANKS = lazy(r"[^\S\n]+")
_PARTS = lazy(r"(?s).{1,1000}(?=\s)|.{1,1000}")


@lru_cache(256)
def spelled(text: str) -> str:
    """Return text in one spelling: case, width, quotes and the number of spaces are unified. Lines stay lines.

    Cached, because many claims are compared with the same text.
    """
    if not text.isascii():
        # In parts: normal form sorts adjacent marks in quadratic time.
        text = "".join(normalize("NFKC", part) for part in _PARTS.findall(text)).casefold().translate(_QUOTES)
    return _BLANKS.sub(" ", text.casefold())


WIDE = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
IS_WIDE = lazy(f"[{WIDE}]", in_ascii=NEVER)

# --- sentences -------------------------------------------------------------------------

_END = pattern_of("clauses", "end")
"""Not after a letter or a day: "J. Meyer" is one name, and "20. Februar" one date."""


def _sentence_ends(text: str, start: int = 0, stop: int | None = None) -> Iterator[re.Match[str]]:
    """Yield the ends of sentences. The full stop of an abbreviation ("approx. 5") is none."""
    for end in _END.finditer(text, start, len(text) if stop is None else stop):
        before = text[max(0, end.start() - _LONGEST_SHORT_FORM) : end.start()]
        if end[0] != "." or not is_short_form(before.rpartition(" ")[2], text[end.end() : end.end() + 2]):
            yield end


_LONGEST_SHORT_FORM = 8
_SHORT_LINE = 60
_REACH = 600
"""Characters on either side of a quote searched for the ends of its sentence."""


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of spelled text, each with its end mark. A short line ends one too."""
    start = 0
    for end in _sentence_ends(text):
        yield from _split_lines(text[start : end.end()])
        start = end.end()
    yield from _split_lines(text[start:])


def _split_lines(sentence: str) -> Iterator[str]:
    if "\n" not in sentence.strip():
        yield sentence
        return
    made: list[str] = []
    for line in sentence.split("\n"):
        made.append(line)
        if len(line) < _SHORT_LINE:
            yield " ".join(made)
            made = []
    if made:
        yield " ".join(made)


def located(quote: str, text: str) -> str | None:
    """Return the spelled sentences that hold a quote as whole words, so that cutting off "not" gains nothing. None if
    absent."""
    plain_text, part = spelled(text), spelled(quote).strip()
    flat = plain_text.replace("\n", " ") if "\n" in plain_text else plain_text
    part = _BLANKS.sub(" ", part.replace("\n", " "))
    at = _find_whole(part, flat)
    if at is None and "  " in flat:
        flat = plain_text = _BLANKS.sub(" ", flat)
        at = _find_whole(part, flat)
    return _sentences_around(plain_text, at, at + len(part)) if at is not None else None


def _find_whole(part: str, text: str) -> int | None:
    at = text.find(part) if part else -1
    if at < 0 or _is_whole_at(part, text, at):
        return at if at >= 0 else None
    whole = lazy(rf"(?<![^\W_]){re.escape(part)}(?![^\W_])").search(text)
    return whole.start() if whole else None


def _sentences_around(text: str, start: int, end: int) -> str:
    first = max(0, start - _REACH)
    before = text[first:start]
    begin = max((found.end() for found in _sentence_ends(before)), default=0)
    if before[:-1].endswith((".", "!", "?", "…")) and any(_sentence_ends(before)):
        begin = max(begin, len(before) - 1)
    lines = before.split("\n")
    if len(lines) > 1 and len(lines[-2]) < _SHORT_LINE:  # it ends with a thought, not at the page's width
        begin = max(begin, before.rfind("\n") + 1)
    after = next(_sentence_ends(text, max(end - 1, start), min(len(text), end + _REACH)), None)
    stop = after.end() if after else min(len(text), end + _REACH)
    line = text.find("\n", end, stop)
    stop = line if line >= 0 else stop
    # A quote across a line end makes both sides one sentence.
    return f"{text[first + begin : start]}{text[start:end].replace(chr(10), ' ')}{text[end:stop]}"


def stands_in(part: str, sentence: str) -> bool:
    """Return whether a sentence holds a part as a whole: `evil.com` does not hold `evil.co`."""
    at = sentence.find(part)
    while at >= 0 and not _is_whole_at(part, sentence, at):
        at = sentence.find(part, at + 1)
    return at >= 0


def _is_whole_at(part: str, text: str, at: int) -> bool:
    end = at + len(part)
    return not (at and _is_joined(text[at - 1], part[0])) and not _is_joined(part[-1], text[end : end + 2])


def _is_joined(one: str, other: str) -> bool:
    """Return whether two adjacent characters join their texts into one word or address."""
    if not other or IS_WIDE.match(one[-1]) or IS_WIDE.match(other[0]):
        return False
    return (one[-1].isalnum() or one[-1] in "@/.-_") and (
        other[0].isalnum()
        or other[0] in "@/_"
        or (len(other) > 1 and other[0] in ".-" and other[1].isalnum())
    )


# --- frames: what is denied -------------------------------------------------------------

_NEGATIVE = pattern_of("clauses", "not")
_FORBIDDING = pattern_of("clauses", "forbids")
_TWICE = pattern_of("clauses", "twisted")

# --- frames: what is left out, or wanted less -------------------------------------------

_EXCEPT = pattern_of("clauses", "except")
"""The words after it are left out."""
_RATHER = pattern_of("clauses", "rather")
"""Of two things the other is wanted."""


def marked(sentence: str) -> str:
    """Return the sentence, at the same length, with marks before what it leaves out and what it wants less."""

    def leave_out(found: re.Match[str]) -> str:
        of = found["of"] or ""
        return of + "∖" * (len(found[0]) - len(of))

    def want_less(found: re.Match[str]) -> str:
        before, than = (each for each in found.groups() if each is not None)
        return before + "¬" * len(than)

    return _RATHER.sub(want_less, _EXCEPT.sub(leave_out, sentence))


# --- frames: how clauses reverse each other ---------------------------------------------

_ALONE = pattern_of("clauses", "alone")
"""A clause that only denies: the one before it, or the one that follows it if it comes first."""
_SAYS_OF_IT = pattern_of("clauses", "says of it")
"""A clause that says of the one before it that it is forbidden."""
_IS = pattern_of("clauses", "is")
_AND_IS = pattern_of("clauses", "and is")
_INTRODUCES = pattern_of("clauses", "introduces")
_GOES_ON = pattern_of("clauses", "goes on")
_TO_DO = lazy(r"\W{0,3}[^,;:.]{0,80}\bzu [^\W\d_]+en\b")
_FEW = 24


def polarity(parts: Sequence[str]) -> list[int]:
    """Return how often each clause reverses its meaning: never, once, or twice ("never refuse")."""
    made = [
        2 if _TWICE.search(part) else int(bool(_NEGATIVE.search(part) or _FORBIDDING.search(part)))
        for part in parts
    ]
    for at, part in enumerate(parts):
        if not made[at]:
            continue
        if len(part) < 3 * _FEW and _ALONE.fullmatch(part):
            to = at - 1 if at else 1
        elif at and (_SAYS_OF_IT.match(part) or _denies_back(parts[at - 1], part)):
            to = at - 1
        elif at + 1 < len(parts) and _leads_on(part, parts[at + 1]):
            to = at + 1
        else:
            continue
        if to < len(parts):
            made[to] = made[to] or made[at]
    return made


def _denies_back(before: str, part: str) -> bool:
    """Return whether its "not" is that of the verb before it: "tabs are not wanted" denies the tabs."""
    before = before[-_FEW:]
    return part.startswith("not ") and _IS.search(before) is not None and not _AND_IS.search(before)


def _leads_on(part: str, following: str) -> bool:
    """Return whether the next clause says what a clause denies."""
    if following.lstrip()[:1] in (":", "："):
        forbids = len(part) < _FEW and _FORBIDDING.search(part)
        return bool(forbids or _INTRODUCES.search(part[-_FEW:]))
    if following[:1] not in (",", "，", "、") or not _FORBIDDING.search(part):
        return False
    return _GOES_ON.search(part[-_FEW:]) is not None or _TO_DO.match(following) is not None


# --- frames: conditions -----------------------------------------------------------------

_MERE_TALK = pattern_of("clauses", "mere talk")
_BOUND = pattern_of("clauses", "bound")
"""`behind`: it follows what it binds."""
_ENDS = lazy(r"[,，、;:；：]|\b(?:then|dann|alors|entonces)\b|先|请|請")
_COMMA = lazy("[，、,]")
_LEADS = lazy(r"[\W_]*(?:(?:and|also|please|but|always|so|bitte|und|et|y) )*")
_ASKS_LEAVE = pattern_of("clauses", "asks leave")


class Condition:
    """One condition of a sentence: its kind, its place, and the stretch of its words."""

    __slots__ = ("at", "kind", "start", "stop")

    def __init__(self, kind: str, at: int, start: int, stop: int) -> None:
        self.kind, self.at, self.start, self.stop = kind, at, start, stop

    def holds(self, place: int) -> bool:
        return self.start <= place < self.stop


def conditions(part: str, offset: int = 0) -> Iterator[Condition]:
    """Yield the conditions of a clause that begins at an offset."""
    bare = _MERE_TALK.sub(lambda found: "·" * len(found[0]), part)
    ends = [*(found.start() for found in _ENDS.finditer(bare)), len(bare)]
    commas = [-1, *(found.start() for found in _COMMA.finditer(bare))]
    for found in _BOUND.finditer(bare):
        kind = found.lastgroup or ""
        start, stop = found.start(), found.end()
        if kind == LEAVE:
            start, stop = 0, len(bare)
        elif kind == "behind":
            start = commas[bisect_left(commas, start) - 1] + 1
        else:
            stop = ends[bisect_left(ends, stop)]
        yield Condition(kind, offset + found.start(), offset + start, offset + stop)


def lead(part: str) -> int:
    """Return where the content of a clause begins."""
    found = _LEADS.match(part)
    return found.end() if found else 0


def asks_leave(sentence: str) -> bool:
    return _ASKS_LEAVE.search(sentence) is not None


KINDS = frozenset("without except before until unless only provided leave behind".split())
"""The groups of `_BOUND`."""
LEAVE = "leave"
"""The condition that someone agrees, anywhere in a clause."""
DENYING = frozenset({"without", "except"})
"""Conditions whose own words are denied."""
OF_TIME = frozenset({"before", "until", "behind"})
"""Conditions that may only say when."""


# --- what a clause denies, asks, supposes, reports or ends ------------------------------

_IDIOM = pattern_of("clauses", "idiom")
"""Phrases that look like a negation and are none."""
_AVERSE = pattern_of("clauses", "averse")
_OVER = pattern_of("clauses", "over")
_APART = pattern_of("clauses", "apart")
"""The end of a clause, and so of the reach of a "not". In a list ("no eggs, milk or nuts") it continues."""

ALWAYS = pattern_of("clauses", "always")
"""Words that make a standing rule of a task: they must not be added."""
_UNREAL = pattern_of("clauses", "unreal")
_ASKS = pattern_of("clauses", "asks")
_REQUESTS = pattern_of("clauses", "requests")
_STATED = pattern_of("clauses", "stated")
"""A statement about oneself before a question: "I live in Graz, which tomatoes grow there?" """
_DOUBTED = pattern_of("clauses", "doubted")
"""Words in such a question that doubt the statement, which may be someone else's."""
_OWN_SAYING = pattern_of("clauses", "own saying")
_REPORTED = pattern_of("clauses", "reported")
_CONDITION = pattern_of("clauses", "condition")
_MERE_COURTESY = pattern_of("clauses", "mere courtesy")
_CONDITION_ENDS = lazy(r"[,，、;:]|\b(?:then|dann|alors|entonces|always|never|immer|toujours|siempre)\b")
_ELSE = lazy(r";|\bbut\b")
_AS_IF = pattern_of("clauses", "as if")
_MERE_MOOD = pattern_of("clauses", "mere mood")
_PAST = pattern_of("clauses", "past")
_WISH = pattern_of("clauses", "wish")
QUOTED = lazy(r"\"[^\"\n]{1,600}\"|(?<![\w])'[^'\n]{12,600}'(?![\w])")
_CORRECTS = pattern_of("clauses", "corrects")


class Clauses:
    """A sentence by its clauses: which of them deny something. A dividing word belongs to the clause after it."""

    def __init__(self, sentence: str, apart: Sequence[int] = ()) -> None:
        """Split a sentence. `apart`: more places where clauses begin."""
        sentence = marked(_IDIOM.sub(lambda found: "·" * len(found[0]), sentence))
        self._starts = sorted({0, *(found.start() for found in _APART.finditer(sentence)), *apart})
        stops = [*self._starts[1:], len(sentence)]
        parts = [sentence[start:stop] for start, stop in zip(self._starts, stops, strict=True)]
        self._sentence, self._parts = sentence, parts
        self._denies = polarity(parts)
        self._dislikes = [_AVERSE.search(part) is not None for part in parts]

    def denied(self, places: Sequence[int]) -> list[int]:
        """Return how often each place is denied: "never refuse" denies twice."""
        return [self._denies[self._clause_at(at)] for at in places]

    def deny(self, places: Sequence[int]) -> bool:
        return any(self.denied(places))

    def each(self) -> list[tuple[str, bool]]:
        return [(part, bool(times)) for part, times in zip(self._parts, self._denies, strict=True)]

    def dislike(self, places: Sequence[int]) -> bool:
        return any(self._dislikes[self._clause_at(at)] for at in places)

    def around(self, places: Sequence[int]) -> str:
        """Return the clauses that hold these places."""
        return " ".join(self._parts[of] for of in sorted({self._clause_at(at) for at in places}))

    def is_supposed(self, places: Sequence[int], *, anywhere: bool = False) -> bool:
        """Return whether these places depend on a condition outside them, or are that condition. `anywhere`: even one
        after them, where most are mere talk ("if that helps")."""
        bare = _MERE_COURTESY.sub(lambda found: "·" * len(found[0]), self._sentence)
        for found in _CONDITION.finditer(bare):
            stop = _CONDITION_ENDS.search(bare, found.end())
            inside = [found.end() <= at < (stop.start() if stop else len(bare)) for at in places]
            if all(inside) or (not any(inside) and (anywhere or min(places) >= found.start())):
                return True
        return False

    def kinds_of_conditions(self) -> set[str]:
        kinds = {each.kind for part in self._parts for each in conditions(part)}
        return kinds | ({LEAVE} if asks_leave(self._sentence) else set())

    def is_bound(self, places: Sequence[int], kinds: Collection[str], whole: Collection[str]) -> bool:
        """Return whether these places drop a condition, or are one without the word that makes it one. `kinds`: the
        named kinds; `whole`: the kinds that may not be dropped. Of the others, only those that wait for permission
        bind."""
        of = {self._clause_at(at) for at in places}
        waits = asks_leave(self._sentence)
        for number, part in enumerate(self._parts):
            start = self._starts[number]
            first = start + lead(part)
            for each in conditions(part, start):
                bound = {number}
                if each.at <= first:
                    bound |= {number - 1} if each.at == start else set()
                    bound |= {number + 1} if each.stop >= start + len(part) else set()
                inside = [each.holds(at) for at in places]
                if not of & bound or (all(inside) and each.kind in DENYING):
                    continue
                if each.kind in whole:
                    is_lost = each.kind not in kinds or not any(inside)
                else:
                    is_lost = each.kind not in kinds and waits and all(inside)
                if is_lost:
                    return True
        return False

    def is_reported(self, places: Sequence[int]) -> bool:
        """Return whether these places follow a report of someone else's words."""
        bare = _OWN_SAYING.sub(lambda found: "·" * len(found[0]), self._sentence)
        found, first = _REPORTED.search(bare), min(places)
        return found is not None and found.start() < first and not _ELSE.search(bare, found.end(), first)

    def is_unreal(self, places: Sequence[int]) -> bool:
        """Return whether a clause describes what could be, or could have been."""
        return _AS_IF.search(_MERE_MOOD.sub(" ", self.around(places))) is not None

    def is_past(self, places: Sequence[int]) -> bool:
        """Return whether it describes the past, or another time."""
        return _PAST.search(self.around(places)) is not None

    def is_wished(self, places: Sequence[int]) -> bool:
        return _WISH.search(self.around(places)) is not None

    def is_done_by_another(self, at: int) -> bool:
        """Return whether the clause up to a place describes what only someone else does."""
        number = self._clause_at(at)
        return _DOES.search(self._parts[number][: at - self._starts[number]]) is not None

    def is_of_oneself(self, places: Sequence[int], *, among_others: bool = False) -> bool:
        """Return whether these words are about the speaker: by name, where others are mentioned; else if a word for
        it is in the sentence, or none is needed."""
        clause = self.around(places)
        if among_others or _OTHERS.search(clause):
            return _SELF.search(_MY_KIN.sub(" ", _THINKS.sub(" ", clause))) is not None
        return any(found.search(self._sentence) for found in (_OWN, IS_WIDE, _SUBJECTLESS))

    def _clause_at(self, at: int) -> int:
        return bisect_right(self._starts, at) - 1


def denies(claim: str) -> bool:
    """Return whether a claim denies something."""
    return any(denied for _, denied in Clauses(claim).each())


def clauses_of(sentence: str) -> list[tuple[str, bool]]:
    """Return the clauses of a sentence, each with whether it denies something."""
    return Clauses(sentence).each()


def dislikes(sentence: str) -> bool:
    return _AVERSE.search(sentence) is not None


def is_over(sentence: str) -> bool:
    """Return whether it says that something is no longer true."""
    return _OVER.search(sentence) is not None


def is_told(sentence: str, last: int) -> bool:
    """Return whether the text up to a place is stated at all: not asked, supposed, or quoted line by line."""
    if sentence.lstrip().startswith((">", "|")) or _UNREAL.search(sentence):
        return False
    if not _ASKS.search(sentence) or _REQUESTS.search(sentence) is not None:
        return True
    stated = _STATED.match(sentence)
    return stated is not None and last < stated.end() and not _DOUBTED.search(sentence, stated.end())


def corrects(sentence: str) -> bool:
    """Return whether it corrects something said before."""
    return _CORRECTS.search(sentence) is not None


# --- about whom a clause speaks -----------------------------------------------------------

_SELF = pattern_of("clauses", "self")
_MY_KIN = lazy("(?:我|私|僕|俺)(?:的|の|家的?)?(?= )")
_OWN = pattern_of("clauses", "own")
_DOES = pattern_of("clauses", "does")
"""What only someone else does."""
_OTHERS = pattern_of("clauses", "others")
_THINKS = lazy(r"\b(?:i|we) (?:think|know|guess|believe|heard|hear|hope|suppose|see|bet)\b")
_SUBJECTLESS = pattern_of("clauses", "subjectless")
"""One's own, though no word says so: short forms, labels, and Spanish, whose verbs do."""
