"""Evidence: whether words support a claim.

One sentence must have every meaningful word of the claim, in the same order, with "not" in both or in neither. Numbers,
addresses and dates match to the last digit. Words that count as the same (names of languages and kin, short forms,
spellings of technical names) are the ones that identity knows.

Nothing here understands a sentence: a claim that only recombines the words of one sentence in their order can pass. A
claim fails if it adds a word, joins two sentences, drops a "not", or relies on something asked, supposed, past, quoted
or about another person. It also fails if it loses the frame around its words (`language/clauses.py`): a frame that
forbids, undoes or excludes them and, for a claim to act on, the condition under which they hold.

Everything takes time linear in the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from looseleaf.language.clauses import (
    ALWAYS,
    IS_WIDE,
    KINDS,
    OF_TIME,
    QUOTED,
    WIDE,
    Clauses,
    corrects,
    denies,
    dislikes,
    is_over,
    is_told,
    located,
    sentences_of,
    spelled,
    stands_in,
)
from looseleaf.language.dates import found as found_dates
from looseleaf.language.relations import RELATIONS, WHOSE
from looseleaf.language.tables import read_rows
from looseleaf.language.value_keys import aliases_of
from looseleaf.language.words import NUMBERS, american, plain, stem
from looseleaf.text.lines import lazy, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


# --- words that count as the same -------------------------------------------------------

_TECHNICAL = aliases_of("technical")
SAME = {word: name for name, words in read_rows("same_words", "languages").items() for word in words} | {
    word: name for word, name in WHOSE.items() if " " not in word
}
SAME |= {word: name for name, words in read_rows("same_words", "kin").items() for word in words}
SAME |= {word: str(number) for word, number in NUMBERS.items()}
"""Names of languages and kin, in English; and numbers as digits."""
SPELT = {" ".join(other): "".join(first) for other, first in (_TECHNICAL | aliases_of("spellings")).items()}
SPELT |= {" ".join(first): "".join(first) for first in _TECHNICAL.values() if len(first) > 1}
SAME |= {other: first for other, first in SPELT.items() if other.isalnum() and first.isalnum()}
SAME |= {"nodejs": "node", "reactjs": "react", "vuejs": "vue", "nextjs": "next"}
"""Other spellings, as identity knows them: one value there is one word here."""
SEVERAL = lazy(
    rf"(?<!\w)(?:{'|'.join(sorted((re.escape(each) for each in SPELT if not each.isalnum()), key=len, reverse=True))})"
    r"(?!\w)"
)
KNOWN = frozenset((*SAME, *SAME.values()))
SAME_WIDE = lazy(one_of(word for word in SAME if IS_WIDE.match(word)))


# --- words -----------------------------------------------------------------------------

_WORD = lazy(
    rf"[{WIDE}]|(?:(?![{WIDE}])[^\W_])+(?:'(?:(?![{WIDE}])[^\W\d_])+)?", in_ascii=r"[^\W_]+(?:'[^\W\d_]+)?"
)

_FREE = frozenset(
    "a an and are as at be been by for from in instead into is it its of on or over since than that the their they to "
    "until use uses used using was when with always never not no do does don't doesn't am my your our i you we me 's "
    "der die das den dem des ein eine einen einem einer und oder am im zu von für mit auf nicht kein keine keinen "
    "immer nie le la les l un une des du de d et ou à au aux en pour avec pas ne jamais toujours el los las lo "
    "unos y o a al del con por para no nunca siempre 的 了 在 是 和 を は が に で と の も へ".split()
)
"""Words that a claim may add: they claim nothing by themselves."""

_FREE_OF: dict[str, frozenset[str]] = {
    "language": frozenset(
        "prefers prefer answer answers answered discussion discuss code comments writes write replies talk "
        "conversation chat explanations documentation docs commit messages names".split()
    ),
    "prefers": frozenset({"prefers", "prefer"}),
    "decision": frozenset({"use", "uses", "using"}),
    "favourite": frozenset({"favourite", "favorite"}),
    "deadline": frozenset({"deadline"}),
    "plan": frozenset({"go", "get", "have"}),
}
"""More of them, for relations that write their objects in words of their own."""

_UNORDERED = frozenset({"language", "pet", "favourite"})
_WORDS_OF_ANOTHER = 4
"""This many words in quotation marks are another speaker's; fewer are a name."""
_ENDINGS = frozenset(
    ("", "e", "n", "en", "s", "es", "t", "te", "st", "em", "d", "ed", "ing", "r", "o", "ar", "er", "ir")
)
_ROOT = 4


class _Word:
    """A word of a text: as written, and in the form used to compare it."""

    __slots__ = ("at", "form", "surface")

    def __init__(self, surface: str, at: int) -> None:
        self.surface, self.at, self.form = surface, at, _form_of(surface)


@lru_cache(8192)
def _form_of(surface: str) -> str:
    word = plain(surface.removesuffix("'s"))
    return SAME.get(surface) or stem(american(SAME.get(word, word)))


_ELSEWHERE = lazy(r"[^\s@]{0,80}@[^\s,;]{1,250}|\b[a-z]{2,10}://[^\s,;]{1,400}|\bwww\.[^\s,;]{1,250}")
"""Addresses: their parts are not words."""


def _words_of(text: str) -> list[_Word]:
    return [_Word(found[0], found.start()) for found in _WORD.finditer(_mask(text))]


def _mask(sentence: str) -> str:
    """Return a sentence with words at the places that `_words_of` counts."""
    if "@" in sentence or "://" in sentence or "www." in sentence:
        sentence = _ELSEWHERE.sub(lambda found: "·" * len(found[0]), sentence)
    sentence = _join_names(sentence)
    return SAME_WIDE.sub(lambda found: f" {SAME[found[0]]} ", sentence)


def _join_names(text: str) -> str:
    """Join each technical name of several words into one: `vs code` becomes `vscode`."""
    return SEVERAL.sub(lambda found: SPELT[found[0]], text)


def _is_same_word(claimed: _Word, said: _Word) -> bool:
    """Return True if two words differ only in their endings. Numbers have no endings."""
    if claimed.form == said.form:
        return True
    one, other = claimed.surface, said.surface
    if one[:_ROOT] != other[:_ROOT] or len(one) < _ROOT or not (one.isalpha() and other.isalpha()):
        return False
    pairs = enumerate(zip(one, other, strict=False))
    size = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    return size >= _ROOT and one[size:] in _ENDINGS and other[size:] in _ENDINGS


@lru_cache(512)
def forms_of(text: str) -> frozenset[str]:
    """Return the words of a text, each in the form used to compare it."""
    return frozenset(word.form for word in _words_of(spelled(text)))


_NAME = lazy(r"(?<=[^\s.!?:;(\"'“-] )[^\W\d_a-z]\w+")
_FEW = 2


def has_new_details(claim: str, text: str) -> bool:
    """Return True if a claim has a number, an address, or a name inside its sentence that the text lacks."""
    said = forms_of(text)
    words = _words_of(spelled(claim))
    exact = {word.form for word in words if any(map(str.isdigit, word.form))}
    exact |= {_form_of(spelled(found[0])) for found in _NAME.finditer(claim)}
    if len(words) <= _FEW and claim[:1].isupper():
        exact |= {words[0].form} if words else set()  # "Mallory" alone is a name
    own = _join_names(spelled(text))
    addresses = _addresses_in(_join_names(spelled(claim)))
    return not exact <= said or any(not stands_in(each, own) for each in addresses)


def _addresses_in(text: str) -> list[str]:
    """Return paths, commands and other names that must match exactly, without quotes and full stop."""
    found = (each.strip("'`\"").rstrip(":!?") for each in _ADDRESS.findall(text))
    bare = (each.removesuffix(".") if not each.endswith("..") else each for each in found)
    return [each for each in bare if _IS_ADDRESS.search(each)]


# --- claims ----------------------------------------------------------------------------

_YEAR = lazy(r"(?<![\w-])[12]\d{3}(?![\w-])", re.ASCII)
_SEASON = lazy(r"\b(?:spring|summer|autumn|fall|winter) [12]\d{3}\b", re.ASCII)
_OF_DATES = frozenset({"week", "weekend"})
_ADDRESS = lazy(r"[^\s,;，；、。()\"]{1,300}")
_IS_ADDRESS = lazy(r"[^\W_][^\w\s'’:-]+[^\W_]|[_@/\\$%&=+#~^<>{}\[\]|`]")
_HIDDEN = lazy("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_GAP = 7
_WIDE_GAP = 3
_LONGEST_SENTENCE = 1000
_LIKINGS = frozenset({"likes", "prefers", "favourite", "hobby"})
_LEADS = {"prefers": ("", "prefer ", "rather ")}
"""Openings that a claim may leave out: "tea than coffee" is what a speaker would rather have."""
_WHOLE = {"rule": KINDS, "prefers": KINDS} | {
    each.label.casefold(): KINDS - OF_TIME for each in RELATIONS if each.kind == "decision"
}
"""Relations whose values are acted on: without a condition of these kinds, such a claim says something else."""

_OF_ONESELF = frozenset(
    "name pronouns age birthday gender nationality home hometown address role employer education email phone religion "
    "diet".split()
)
"""Relations that are the speaker's own, unless the words name another person."""
_PEOPLE = (
    "neighbour neighbor client customer nachbar voisin vecino parent parents children intern roommate cousin"
)
_KIN = frozenset(form for word in (*WHOSE.values(), *_PEOPLE.split()) for form in (word, stem(word)))
_AGE = lazy(r"\b(?:i'm|im|i am|aged?|years?|old|turn\w*|bin|jahre|alt|ans|âge|años|edad)\b|岁|歳|才|龄|齢")
"""Without these words, a number counts something else."""


_FREE_FORM = frozenset({"", "note"})
"""Claims without a relation to frame them: their own words must say whom they are about."""
_NEARLY = lazy(r"\b(?:nearly|almost|beinahe|presque|casi|quase|quasi|bijna)\b|差点|差一点|もう少しで")
"""Words that say a thing was not done."""

OF_A_PERSON = _OF_ONESELF | set(
    "likes,dislikes,trait,skill,hobby,allergy,condition,owns,speaks,marital status".split(",")
)
_OF_KIN = frozenset("partner manager child sibling parent friend colleague".split())
_HOPES = frozenset("plan goal appointment prefers rule language event".split())
_NOT_OF = {
    "name": lazy(r"\b(?:call|name|named|nenn\w*|appeler|llamar) (?:my|our|the|him|her|it|them|this)\b"),
    "allergy": lazy(r"\b(?:lol|haha\w*|jk|kidding)\b"),
}
"""These words say that it is about another person, or a joke."""


class Claim:
    """A claim to find in words. `relation`: the canonical name of its relation, in lower case, if any; `was`: the value
    that it corrects, whose words need not be repeated; `ended`: it no longer holds; `only_named`: its words count in
    any order, also denied or in a question; `is_own`: it is about the speaker."""

    def __init__(
        self,
        claim: str,
        relation: str = "",
        *,
        was: str = "",
        ended: bool = False,
        only_named: bool = False,
        is_own: bool = False,
    ) -> None:
        self._relation, self._ended, self._only_named, self._is_own = relation, ended, only_named, is_own
        self._was = " ".join(spelled(was).split())
        self._is_corrected = False
        self.hidden = {each for each in claim if not each.isprintable() and not each.isspace()}
        self.hidden |= set(_HIDDEN.findall(claim))
        text = " ".join(spelled(claim).split())
        self._denies = denies(text)
        self._is_standing = ALWAYS.search(text) is not None
        text, self._dates = _without_dates(text)
        self._addresses = _addresses_in(text)
        free = _FREE | _FREE_OF.get(relation, frozenset()) | (_OF_DATES if self._dates else frozenset())
        words = _words_of(text)
        # "MIT" is a license, "mit" is nothing: words that claim nothing count only if the claim has no others.
        self.words = [word for word in words if word.surface not in free] or words
        self._is_of_another = any(word.form in _KIN for word in self.words)
        self._denied = [
            Clauses(lead + _mask(text)).denied([len(lead) + word.at for word in self.words])
            for lead in _LEADS.get(relation, ("",))
        ]
        self._is_averse = dislikes(text)
        self._kinds = Clauses(_mask(text)).kinds_of_conditions()
        self.is_empty = not (self.words or self._dates or self._addresses)

    def corrected(self) -> Claim | None:
        """Return the claim without the value that it corrects; None if nothing is left, or only one denies."""
        less = Claim("", self._relation, was=self._was)
        before = {word.form for word in _words_of(self._was)}
        less.words = [word for word in self.words if word.form not in before]
        less._dates = [date for date in self._dates if date[2] not in self._was]
        less._addresses = [address for address in self._addresses if address not in self._was]
        less.hidden, less._is_corrected = self.hidden, True
        less.is_empty = not (less.words or less._dates or less._addresses)
        return None if less.is_empty or self._denies != denies(self._was) else less

    def is_in(self, sentence: str, ts: float | None = None) -> bool:
        """Return True if a sentence of spelled text, said at `ts`, supports the claim."""
        said = _words_of(sentence[:_LONGEST_SENTENCE])
        places = self._find_places(said)
        if places is None or not all(stands_in(address, sentence) for address in self._addresses):
            return False
        if not self._has_dates(sentence, ts):
            return False
        if self._only_named:
            return True
        dates = [max(sentence.find(date[2]), 0) for date in self._dates]
        at = [said[place].at for place in places] or dates or [0]
        clauses = Clauses(_mask(sentence[:_LONGEST_SENTENCE]))
        around = [*at, *(date for date in dates if date)]
        return (
            is_told(_mask(sentence), max(at))
            and self._is_asserted(clauses, at)
            and not clauses.is_bound(around, self._kinds, _WHOLE.get(self._relation, ()))
            and self._is_of_the_speaker(sentence, clauses, at)
            and (not self._is_corrected or corrects(sentence))
            and (not self._is_standing or ALWAYS.search(sentence) is not None)
            and self._denies_alike(_mask(sentence), at)
            and not _is_quoted(sentence, at)
        )

    def is_said_in(self, text: str, ts: float | None = None, spelt: str | None = None) -> bool:
        """Return True if a sentence of a text, said at `ts`, supports the claim. `spelt`: the text, already spelled."""
        if self.is_empty or not self.hidden <= set(text if self.hidden else ""):
            return False
        spelt = spelt or spelled(text)
        # Most sentences lack even the beginnings of its words.
        marks = {word.surface[:2] for word in self.words if word.surface not in KNOWN}
        if not all(mark in spelt for mark in marks):
            return False
        likely = (each for each in sentences_of(spelt) if all(mark in each for mark in marks))
        return any(self.is_in(sentence, ts) for sentence in likely)

    def _has_dates(self, sentence: str, ts: float | None) -> bool:
        dates = [date for date in self._dates if not stands_in(date[2], sentence)]
        if not dates or ts is None:
            return not dates
        title = sentence.title()  # "march" and "may" are months only in capitals
        named = [each for past in (False, True) for each in found_dates(title, ts, past=past)]
        return all(
            any(first == each.first or last == each.last or text == each.written for each in named)
            for first, last, text in dates
        )

    def _find_places(self, said: Sequence[_Word]) -> list[int] | None:
        """Return the places of its words, in their order and near each other. None if they are not there."""
        words = self.words
        if self._only_named or self._relation in _UNORDERED:
            return _find_anywhere(words, said)
        places = _find_in_order(words, said)
        if places is not None or len(words) < 2:
            return places
        if self._relation == "plan" or all(words[-1].surface != each.surface for each in said):
            # A verb that the claim puts last, mostly in another form: "fliege ich nach Japan", "nach Japan fliegen".
            last, others = _find_anywhere(words[-1:], said), _find_in_order(words[:-1], said)
            places = others + last if last is not None and others is not None else None
        return places

    def _is_asserted(self, clauses: Clauses, at: Sequence[int]) -> bool:
        """Return True if the speaker says that it is so: not supposed, reported, past or wished."""
        relation = self._relation
        if clauses.is_supposed(at, anywhere=relation == "rule") or clauses.is_reported(at):
            return False
        if relation not in _HOPES and clauses.is_unreal(at):
            return False
        if relation in _FREE_FORM and (clauses.is_wished(at) or _NEARLY.search(clauses.around(at))):
            return False
        if not self._is_own or self._ended or relation not in OF_A_PERSON:
            return True
        return not clauses.is_past(at) and not (relation in _OF_ONESELF and clauses.is_wished(at))

    def _is_of_the_speaker(self, sentence: str, clauses: Clauses, at: Sequence[int]) -> bool:
        """Return True if a claim about the speaker is said of the speaker: "my sister lives in Graz" is not."""
        relation = self._relation
        if relation in _FREE_FORM and self._is_told_of_kin(clauses, at):
            return False
        is_labelled = relation != "" and f"{relation}: " in sentence  # "Home: Lyon" is about its writer
        if self._is_of_another or not self._is_own or corrects(sentence) or is_labelled:
            return True
        if relation not in OF_A_PERSON:
            return relation not in _OF_KIN or not clauses.is_done_by_another(min(at))
        other = _NOT_OF.get(relation)
        if (relation == "age" and not _AGE.search(sentence)) or (other and other.search(sentence)):
            return False
        has_kin = any(word.form in _KIN for word in _words_of(clauses.around(at)))
        return not clauses.is_done_by_another(min(at)) and clauses.is_of_oneself(at, among_others=has_kin)

    def _is_told_of_kin(self, clauses: Clauses, at: Sequence[int]) -> bool:
        """Return True if its clause is about one of the speaker's people, whom a free claim does not name."""
        mine = {word.form for word in self.words}
        words = _words_of(clauses.around(at))
        followed = zip(words, [*words[1:], None], strict=True)
        return any(
            word.form in _KIN | {"ex"}
            and word.form not in mine
            and (after is None or after.form not in mine)
            and before.surface in ("my", "our")
            for before, (word, after) in zip(words, list(followed)[1:], strict=False)
        )

    def _denies_alike(self, sentence: str, at: Sequence[int]) -> bool:
        if self._ended:
            return is_over(sentence)
        # "No, not Berlin, Munich": after the old value, another clause begins.
        gone = sentence.find(self._was) if self._was else -1
        clauses = Clauses(sentence, (gone + len(self._was),) if gone >= 0 else ())
        if self._relation == "dislikes" and not self._denies:
            return clauses.deny(at) or dislikes(sentence)
        alike = self._denied if any(self._denied) else [[int(self._denies)] * len(at)]
        if clauses.denied(at) not in alike:
            return False
        is_averse = self._relation in _LIKINGS or (self._relation in _WHOLE and not self._is_averse)
        return self._denies or not is_averse or not clauses.dislike(at)


def _without_dates(claim: str) -> tuple[str, list[tuple[str, str, str]]]:
    """Return a claim without its dates, and the dates: the first day, the last, and how the claim writes them."""
    dates: list[tuple[str, str, str]] = []
    for dated in reversed(found_dates(claim.title(), 0.0)):
        if not dated.is_relative:
            dates.append((dated.first, dated.last, claim[dated.start : dated.end]))
            claim = f"{claim[: dated.start]} {claim[dated.end :]}"
    dates += [("", "", date) for date in _SEASON.findall(claim)]
    claim = _SEASON.sub(" ", claim)
    dates += [(f"{date}-01-01", f"{date}-12-31", date) for date in _YEAR.findall(claim)]
    return _YEAR.sub(" ", claim), dates


def _find_in_order(words: Sequence[_Word], said: Sequence[_Word]) -> list[int] | None:
    if not words:
        return []
    for start, first in enumerate(said):
        if not _is_same_word(words[0], first):
            continue
        places = [start]
        for before, word in pairwise(words):
            is_run = IS_WIDE.match(word.surface) and IS_WIDE.match(before.surface)
            last = places[-1] + 1 + (_WIDE_GAP if is_run else _GAP)
            here = (at for at in range(places[-1] + 1, min(last, len(said))) if _is_same_word(word, said[at]))
            at = next(here, None)
            if at is None:
                break
            places.append(at)
        if len(places) == len(words):
            return places
    return None


def _find_anywhere(words: Sequence[_Word], said: Sequence[_Word]) -> list[int] | None:
    """Return a place for each word, in any order."""
    places: list[int] = []
    for word in words:
        free = ((at, each) for at, each in enumerate(said) if at not in places)
        at = next((at for at, each in free if _is_same_word(word, each)), None)
        if at is None:
            return None
        places.append(at)
    return places


def _is_quoted(sentence: str, at: Sequence[int]) -> bool:
    """Return True if all of it stands in quotation marks, among enough words to be another speaker's."""
    quotes = QUOTED.finditer(_mask(sentence))
    around = (each for each in quotes if each.start() <= min(at) and max(at) < each.end())
    return any(len(_WORD.findall(each[0])) >= _WORDS_OF_ANOTHER for each in around)


_JOINTS = (
    "so|and|but|also|btw|fyi|ok|okay|oh|hey|well|yeah|yes|no|right|sorry|actually|pls|please|und|aber|et|mais|y|pero|"
    "mas|ma|en|maar"
)
_REASONS = "bcs|because|since|cause|cuz|as|weil|da|denn|parce|car|porque|perché|omdat"
_IT_IS = r"(?:(?:it|that|this|there|here)(?:'?s| is)|its|(?:we|they)(?:'re| are)|i'?m|i am)\s+"
_BEGINS = lazy(rf"(?:\A|[,;:.!?()—–]|\s-|\b(?:{_JOINTS}))\s*(?:{_IT_IS})?\Z")
_ENDS = lazy(rf"\s*(?:\Z|[,;:.!()—–]|-\s|(?:{_JOINTS}|{_REASONS})\b)")
_LEAST_COPIED = 4
"""Fewer words say little alone."""


def is_copied(claim: str, text: str) -> bool:
    """Return True if a claim is a clause of a text, or several in a row, word for word: whole clauses (or all but "it
    is") that tell something. The words are there, so their order and their denials need no check."""
    wanted = " ".join(spelled(claim).split()).strip(" .!,;")
    if len(_words_of(wanted)) < _LEAST_COPIED:
        return False
    flat = " ".join(spelled(text).split())
    if not stands_in(wanted, flat):
        return False
    around = located(wanted, flat) or ""
    at = around.find(wanted)
    end = at + len(wanted)
    if at < 0 or not _BEGINS.search(around[:at]) or not _ENDS.match(around, end):
        return False
    sentence = _mask(around[:_LONGEST_SENTENCE])
    clauses = Clauses(sentence)
    is_framed = clauses.is_supposed([at]) or clauses.is_reported([at]) or clauses.is_unreal([at])
    is_asked = around[end:].lstrip(" ,;:").startswith("?") or around.rstrip().endswith("?")
    if is_framed or is_asked:
        return False
    return is_told(sentence, end - 1) and not _is_quoted(around, [at, end - 1])
