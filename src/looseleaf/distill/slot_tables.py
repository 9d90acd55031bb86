r"""Slots: relations whose value a sentence states in an unambiguous form; one table of forms per language.

A table (`data/distill/slots/<language>.txt`) has a line for each form: topic, label and form, separated by tabs. A
form is a regular expression; `{type}`, or a capture group, marks the value. A value without the shape of its type is
discarded: when in doubt nothing is read, and the sentence itself is the memory. The language is only narrowed down;
then every form whose own words occur is tried.

    user	Home	i live in {place}
    user	-Employer	i (?:quit|left) {org}        an ending: a label with a minus
    user	Answers=short	keep (?:it|answers) short    a value that the form itself says
    user	!Name	\Amy name is {name}\Z            so plain that it counts whatever the selector says
    project	*	our {meeting} is {when}              a label that the sentence names
    -	was	switched from {old} to {thing}           the value that a change replaces
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from functools import cache
from itertools import pairwise
from pathlib import Path

from looseleaf.base.immutable import frozen
from looseleaf.facts.replacing import WIDE, Lexicon
from looseleaf.language.tables import pattern_of, word_set
from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


# --- names of things, aspects of life, and plain words ----------------------------------

DATA = Path(__file__).parents[1] / "data/distill"


@cache
def families() -> dict[str, frozenset[str]]:
    """Names by sort (databases, editors, diets): `sort: name, name`."""
    return _read_sorts("families.txt")


@cache
def family_of() -> dict[str, frozenset[str]]:
    """The sorts of each name."""
    return _invert(families())


def _read_sorts(file: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in (DATA / file).read_text(encoding="utf-8").splitlines():
        name, colon, members = line.partition(":")
        if colon and not line.startswith("#"):
            known = {each.strip().lower() for each in members.split(",")} - {""}
            found[name.strip()] = found.get(name.strip(), frozenset()) | known
    return found


def _invert(sorts: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for sort, members in sorts.items():
        for member in members:
            found.setdefault(member, set()).add(sort)
    return {member: frozenset(each) for member, each in found.items()}


def sorts_of(name: str) -> frozenset[str]:
    """Return the sorts that a word names, and the aspects of life that it reveals (`about_home`)."""
    return family_of().get(name, frozenset()) | aspects().get(name, frozenset())


@cache
def aspects() -> dict[str, frozenset[str]]:
    return _invert(_read_sorts("aspects.txt"))


def matters_of(name: str) -> frozenset[str]:
    """Return the aspects of life and the private matters that a word reveals."""
    return (aspects().get(name, frozenset()) | matters().get(name, frozenset())) - _OF_MEMORY


_OF_MEMORY = frozenset({"about_answers", "about_notes", "about_logs", "about_database"})
"""Aspects that orders to a memory mention, whatever they mean."""


@cache
def matters() -> dict[str, frozenset[str]]:
    """Matters that people want forgotten: codes, faith, money. Read only for an order to forget."""
    return _invert(_read_sorts("matters.txt"))


def is_name(term: str) -> bool:
    """Return True if a term is probably a name: it begins no known word of everyday talk."""
    if not term.isascii():
        return True
    words = _common_in_order()
    at = bisect_left(words, term)
    return at == len(words) or not words[at].startswith(term)


@cache
def _common_in_order() -> list[str]:
    return sorted(common())


@cache
def common() -> frozenset[str]:
    """Words of everyday talk: in lower case, none of them is a name. Made with the weights."""
    path = DATA / "common.txt"
    return frozenset(path.read_text(encoding="utf-8").split()) if path.is_file() else frozenset()


@cache
def plain_terms() -> tuple[frozenset[str], frozenset[str]]:
    """Return the terms too common to distinguish anything, and the terms of forbidding."""
    plain, forbidding = (DATA / "plain_terms.txt").read_text(encoding="utf-8").splitlines()[:2]
    return frozenset(plain.split()), frozenset(forbidding.split())


LINKS = DATA / "links.json"
"""Weights of the signs that a change is about a line (`change`), and that an order to forget means it (`erase`)."""


@cache
def lexicon() -> Lexicon:
    weights = json.loads(LINKS.read_text(encoding="utf-8"))
    return Lexicon(sorts_of, plain_terms()[0], is_name, weights["change"], matters_of, weights["erase"])


# --- types of values: a common noun is not a name, a pronoun not a place, half a phrase not a thing ---

_I = re.IGNORECASE
_HOLLOW = word_set("slot_values", "hollow")
_TITLES = frozenset("dr mr mrs ms prof st sr jr mme mlle hr fr sra dott".split())
"""A value that ends in a title was cut short, and is no name."""
_NAME = lazy(r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*)*")
_TRADE = pattern_of("slot_values", "trade", _I)
_NO_TRADE = word_set("slot_values", "no trade")
_DATE_LIKE = lazy(
    r".*[0-9]|.*\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", _I
)
_ZONE = pattern_of("slot_values", "zone", _I)
_COMMAND = pattern_of("slot_values", "command", _I)


def _is_plain_word(word: str, kept: Table) -> bool:
    """Return True if a word is an everyday word, not a name."""
    return word.islower() and (word in common() or word in kept.words["plain"])


def _is_trade(word: str, kept: Table) -> bool:
    """Return True if a word names a trade: by the table's `@trades`, words and endings (`-erin`), or else by the
    English endings."""
    known = kept.words.get("trades")
    if known is None:
        return _TRADE.fullmatch(word) is not None and word not in _NO_TRADE
    return word in known or any(each[0] == "-" and word.endswith(each[1:]) for each in known)


def has_shape(kind: str, value: str, kept: Table) -> bool:
    """Return True if a value has the shape of its type."""
    if not value or not any(map(str.isalnum, value)):
        return False
    words = value.split()
    if kind in ("old", "thing") and kept.language not in ("zh", "ja"):
        return words[0].lower() not in _HOLLOW and words[-1].lower() not in kept.words["plain"]
    if kind == "" and words[0].lower() in _HOLLOW:
        return False
    if kind in families() or kind in ("", "rest", "when", "thing", "old", "word", "people"):
        return kind != "word" or value.isalnum()
    language, plain = kept.language, kept.words["plain"]
    if language in ("zh", "ja"):
        return (
            1 <= len(value) <= 20
            and value not in plain
            and not any(each in value for each in kept.words["never"])
        )
    if len(words) > 1 and words[0].lower() == "the" and words[1][0].isupper():
        words = words[1:]
    first, last = words[0].lower(), words[-1].lower()
    if kind == "date":
        return _DATE_LIKE.match(value) is not None
    if kind == "zone":
        return len(value) > 2 and _ZONE.fullmatch(value) is not None
    if kind == "command":
        return _COMMAND.fullmatch(value) is not None
    if kind == "trade":
        return last not in families()["diet"] and _is_trade(last, kept) and first not in kept.words["never"]
    if (
        first in plain
        or last in plain
        or last.rstrip(".") in _TITLES
        or (len(value) == 1 and value.isascii())
    ):
        return False
    if kind in ("name", "person"):
        return _NAME.fullmatch(value) is not None and not any(_is_plain_word(each, kept) for each in words)
    has_name = any(each[:1].isupper() or not _is_plain_word(each, kept) for each in words)
    # "We moved from MySQL to Postgres": the name of something else is no place.
    is_none = kind == "place" and (any(map(str.isdigit, value)) or value.lower() in family_of())
    return has_name and not is_none


LONGEST = 400
"""Longer sentences are not read."""

_WORDS = {
    "name": 2, "person": 2, "place": 3, "org": 3, "trade": 4, "thing": 5, "when": 9, "old": 4, "word": 0, "people": 9,
    "date": 5, "zone": 2, "command": 11, "rest": 17,
}  # fmt: skip
"""The types of values, with the number of words beyond the first that each may have. Any other type is a family of
names."""

_OPEN = frozenset({"when", "rest", "command", "people"})
"""Types that reach to the end of their clause: no word ends them."""


@frozen
class Reading:
    """A value read by a form: the label, the value, and the place of the form in the sentence. `ended`: it is no longer
    true; `is_plain`: the form is the whole statement, and counts without the selector; `label` is `was` for the value
    that a change replaces."""

    topic: str
    label: str
    value: str
    start: int
    end: int
    ended: bool = False
    is_plain: bool = False


@frozen
class Form:
    topic: str
    label: str
    source: str
    language: str


class Table:
    """The forms of one language and its lists of words: `ends` end a value; `not` before a form cancels it; `plain`
    neither begin nor end a name; `never` begin no trade (in Chinese and Japanese: stand in no value); `trades` are
    trades, or their endings."""

    def __init__(self, language: str, text: str) -> None:
        self.language = language
        self.words: dict[str, frozenset[str]] = dict.fromkeys(("ends", "not", "plain", "never"), frozenset())
        self.forms: list[Form] = []
        for line in text.splitlines():
            if line.startswith("@"):
                name, *words = line[1:].split()
                self.words[name] = self.words.get(name, frozenset()) | {*words}
            elif line.strip() and not line.startswith("#"):
                topic, label, form = (part.strip() for part in line.split("\t", 2))
                self.forms.append(Form(topic, label, form, language))


_TYPE = lazy(r"\{([a-z_]+)\}")
_LITERAL = lazy(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_LOOSE = lazy(r"\[[^\]]*\](?:[?*+]|\{[^}]*\})?|\\.[?*+]?|[^\s)][?*]|\{[^}]*\}")
"""Pieces of a form that are no word of its own: sets, escapes, and letters that may be missing."""


def may_match(form: str, small: str) -> bool:
    """Check cheaply before a form is compiled: return True if a text in lower case has every word that stands outside
    the form's brackets, and one of each group that must match and has a word in all its alternatives."""
    words, groups = _outer_words(form)
    for word in words:
        if word not in small:
            return False
    return all(any(word in small for word in one) for one in _group_words(groups))


@cache
def _outer_words(form: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a form outside its brackets, the longest (likely the rarest) first, and the groups that must
    match."""
    outside, groups = _split_groups(form)
    return tuple(sorted(_words_of(outside), key=len, reverse=True)), tuple(groups)


@cache
def _group_words(groups: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return, for each group with a word in every alternative, the longest word of each."""
    every = [
        tuple(max(_words_of(_split_groups(each)[0]), key=len, default="") for each in _alternatives(group))
        for group in groups
    ]
    return tuple(words for words in every if all(words))


def _words_of(outside: str) -> list[str]:
    return _LITERAL.findall(_LOOSE.sub(" ", outside).lower())


_LETTERS = lazy(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""An escape or a set: a bracket or a bar within it is a letter like any other."""
_FLAT = r"[^()]*+"
_NESTED = rf"\({_FLAT}(?>(?:\({_FLAT}(?>(?:\({_FLAT}(?>(?:\({_FLAT}\){_FLAT})*)\){_FLAT})*)\){_FLAT})*)\)"
_GROUP = lazy(_NESTED)
_BAR = lazy(rf"{_NESTED}|\|")
"""`_GROUP`: a group, nested at most four deep; `_BAR` also finds the bars outside groups."""


def _mask_letters(form: str) -> str:
    return _LETTERS.sub(lambda found: "\0" * len(found[0]), form) if "[" in form or "\\" in form else form


def _split_groups(form: str) -> tuple[str, list[str]]:
    """Return a form without its groups, and the groups that must match."""
    if "(" not in form:
        return form, []
    outside: list[str] = []
    groups: list[str] = []
    at = 0
    for found in _GROUP.finditer(_mask_letters(form)):
        start, end = found.span()
        outside.append(form[at:start])
        at = end
        if not form.startswith(("?", "*", "{0"), end) and not form.startswith(("?=", "?!", "?<"), start + 1):
            groups.append(form[start + 1 : end - 1].removeprefix("?:").removeprefix("?-i:"))
    return " ".join((*outside, form[at:])), groups


def _alternatives(group: str) -> list[str]:
    """Return the alternatives of a group, split at its own bars."""
    bars = [found.start() for found in _BAR.finditer(_mask_letters(group)) if found[0] == "|"]
    return [group[start + 1 : end] for start, end in pairwise((-1, *bars, len(group)))]


@cache
def table(language: str) -> Table:
    path = DATA / "slots" / f"{language}.txt"
    return Table(language, path.read_text(encoding="utf-8") if path.is_file() else "")


@cache
def languages() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (DATA / "slots").glob("*.txt")))


# --- patterns --------------------------------------------------------------------------

_WORD = r"[^\s,;!?()\[\]\"“”„«»—–…]+"
_WIDE_MARKS = r"[\s，。、！？,.!?；;：:（）()「」『』“”~～…]"
_NAMED = frozenset({"name", "person", "place", "org"})


def _value_pattern(kind: str, table: Table, *, is_last: bool) -> str:
    """Return the pattern of a value. The last one of a form is matched greedily: `_cut_value` shortens it."""
    if table.language in ("zh", "ja"):
        if kind in families():
            return rf"((?<![A-Za-z]){_family_pattern(kind)})"
        stop = "|".join(map(re.escape, sorted(table.words["ends"], key=len, reverse=True)))
        behind = rf"(?=\Z|{_WIDE_MARKS}" + (rf"|{stop})" if stop else ")")
        behind = r"(?=\Z|[。！？!?])" if kind in _OPEN else behind
        most = 40 if kind in _OPEN else 4 * (_WORDS.get(kind, 3) + 1)
        return rf"([^\s，。、！？,!?；;：（）()「」『』“”]{{1,{most}}}?){behind}"
    more = 3 if kind in families() else _WORDS.get(kind, 3)
    if is_last:
        return rf"({_WORD}(?:\s{_WORD}){{0,{more}}})"
    return rf"({_WORD}?(?:\s{_WORD}?){{0,{more}}}?)"


@cache
def _family_pattern(kind: str) -> str:
    members = sorted(families()[kind], key=lambda each: (-len(each), each))
    return rf"(?:{'|'.join(map(re.escape, members))})(?:[ -]?v?[0-9][0-9A-Za-z.]*)?"


@cache
def _compile_form(form: Form) -> re.Pattern[str]:
    parts: list[str] = []
    at = 0
    kept = table(form.language)
    for found in _TYPE.finditer(form.source):
        is_last = _is_end(form.source[found.end() :])
        parts += [form.source[at : found.start()], _value_pattern(found[1], kept, is_last=is_last)]
        at = found.end()
    source = "".join((*parts, form.source[at:]))
    if form.language in ("zh", "ja", "ko"):
        # These scripts have no case, and ignoring case in large sets compiles slowly.
        return re.compile(_LETTERS.sub(_without_case, source), _I)
    return re.compile(rf"(?<![\w'’-]){source}", _I)


def _without_case(letters: re.Match[str]) -> str:
    given = letters[0]
    if not given.startswith("[") or max(given) < "\u2e80":
        return given
    both = given.replace("a-z", "A-Za-z") if "A-Z" not in given else given
    return f"(?-i:{both})"


def _is_end(rest: str) -> bool:
    """Return True if the rest of a form may be missing."""
    outside, groups = _split_groups(rest)
    return not groups and not outside.strip(" ?")


_LARGE = lazy(
    r"(?:the )?[A-ZÀ-ÖØ-Þ][\w.'&+-]*(?: (?:(?:de|di|do|du|del|della|van|von|der|den|la|le|of|&) "
    r")*[A-ZÀ-ÖØ-Þ][\w.'&+-]*)*"
)
"""A capitalized name ends with its last capitalized word."""
_NUMBERED = lazy(r"v?[0-9][0-9a-z.]*\Z", _I)


def _cut_value(kind: str, value: str, kept: Table) -> str:
    """Cut a value where its type ends."""
    if kept.language in ("zh", "ja") or kind in ("", "command"):
        return value
    if kind in families():
        return _family_member(kind, value)
    if kind in _NAMED and (large := _LARGE.match(value)):
        value = large[0]
    words: list[str] = []
    for word in value.split(" "):
        if (
            words
            and (word.lower().rstrip(".:") in kept.words["ends"] or word in ("-", "–"))
            and kind not in _OPEN
        ):
            break
        words.append(word)
        if word[-1:] in ".:" and not (kind in _OPEN and len(word) < 4):
            break
    return " ".join(words).strip(" .:'’-")


def _family_member(kind: str, value: str) -> str:
    """Return the name of the family that a text begins with, and its version; empty if there is none."""
    words = value.split(" ")
    for size in range(min(3, len(words)), 0, -1):
        name = " ".join(words[:size]).strip(".:'’/")
        if name.lower() in families()[kind]:
            version = words[size].strip(".,") if size < len(words) and _NUMBERED.match(words[size]) else ""
            return f"{name} {version}".strip()
        if _VERSION.sub("", name.lower()) in families()[kind]:
            return name
    return ""


_CAPTURE = lazy(r"\{([a-z_]+)\}|(?<!\\)\((?!\?)")


@cache
def _kinds(form: Form) -> tuple[str, ...]:
    """Return the type of each capture, in order; none for a plain group."""
    return tuple(found[1] or "" for found in _CAPTURE.finditer(form.source))


# --- reading ---------------------------------------------------------------------------


def read(sentence: str, *, languages: Sequence[str] = ()) -> list[Reading]:
    """Return the readings of a sentence, in order; of two that overlap under one label, the one that starts first, then
    the longer."""
    if len(sentence) > LONGEST:
        return []
    text = sentence.replace("’", "'")
    small = text.lower()
    here = _sorts_of_words(small)
    found: list[Reading] = []
    for language in languages or _languages_of(small):
        kept = table(language)
        for form in kept.forms:
            # A form is compiled only if its words, and a name of each sort that it needs, occur.
            if may_match(form.source, small) and _sorts_in(form) <= here:
                found += _read_form(form, kept, text, small)
    clear: list[Reading] = []
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        same = (other for other in clear if other.label == each.label and other.topic == each.topic)
        if not any(each.start < other.end and other.start < each.end for other in same):
            clear.append(each)
    return clear


@cache
def _sorts_in(form: Form) -> frozenset[str]:
    return frozenset(kind for kind in _kinds(form) if kind in families())


_NAME_WORD = lazy(r"[\w+#&][\w.+#&:/-]*")


def _sorts_of_words(small: str) -> frozenset[str]:
    """Return the sorts of which a text has a name. Without spaces between words, any name in it counts."""
    if WIDE.search(small):
        return frozenset(sort for name, sorts in family_of().items() if name in small for sort in sorts)
    words = [word.rstrip(".:/-") for word in _NAME_WORD.findall(small)]
    found: set[str] = set()
    for size in (1, 2, 3):
        for at in range(len(words) - size + 1):
            name = " ".join(words[at : at + size])
            for each in (name, _VERSION.sub("", name), name.removesuffix("s")):
                found |= _sorts_by_words().get(each, frozenset())
    return frozenset(found)


@cache
def _sorts_by_words() -> dict[str, frozenset[str]]:
    """Map the words of a name to its sorts: `point d'équipe` is three words, `.net` is one."""
    found: dict[str, frozenset[str]] = {}
    for name, sorts in family_of().items():
        words = " ".join(word.rstrip(".:/-") for word in _NAME_WORD.findall(name))
        found[words] = found.get(words, frozenset()) | sorts
    return found


_VERSION = lazy(r"[ -]?v?[0-9][0-9a-z.]*\Z")
_KANA = lazy(r"[\u3041-\u30ff]")
_HANGUL = lazy(r"[\uac00-\ud7af]")

_CODES = {
    "german": "de", "french": "fr", "spanish": "es", "portuguese": "pt", "italian": "it", "dutch": "nl",
}  # fmt: skip


def _languages_of(text: str) -> Sequence[str]:
    """Return the tables worth trying: by script; for Latin letters, English and the language the text seems to be in,
    or every likely one."""
    if WIDE.search(text):
        if _HANGUL.search(text):
            return ("ko",)
        return ("ja",) if _KANA.search(text) else ("zh",)
    from looseleaf.language.stems import language, languages_by_word

    words = _LITERAL.findall(text)
    heard = language(words).tongue
    if heard == "english":
        return ("en",)
    if heard in _CODES:
        return ("en", _CODES[heard])
    speaking = languages_by_word()
    likely = {tongue for word in words for tongue in speaking.get(word, ())}
    return ("en", *(code for tongue, code in _CODES.items() if tongue in likely and code in languages()))


def _read_form(form: Form, kept: Table, text: str, small: str) -> Iterator[Reading]:
    kinds = _kinds(form)
    pattern = _compile_form(form)
    found = pattern.search(text)
    while found is not None:
        raw = [(found[number] or "").strip(" .'’-") for number in range(1, len(kinds) + 1)]
        values = [_cut_value(kind, value, kept) for kind, value in zip(kinds, raw, strict=True)]
        is_read = all(has_shape(kind, value, kept) for kind, value in zip(kinds, values, strict=True))
        if not is_read or _is_taken_back(kept, small, found.start()):
            found = pattern.search(text, found.start() + 1)
            continue
        end = found.end()
        if values and end == found.end(len(kinds)) and raw[-1].startswith(values[-1]):
            end = found.start(len(kinds)) + len(values[-1])
        label, _, constant = form.label.partition("=")
        is_plain, label = label.startswith("!"), label.removeprefix("!")
        ended = label.startswith("-")
        label = label.removeprefix("-")
        if label == "*":
            label, values = values[0][:1].upper() + values[0][1:], values[1:]
        yield Reading(
            form.topic, label, constant or (values[0] if values else ""), found.start(), end, ended, is_plain
        )
        found = pattern.search(text, max(end, found.start() + 1))


def _is_taken_back(kept: Table, small: str, start: int) -> bool:
    """Return True if a word shortly before the form, in its clause, makes it supposed, denied, wished for, or
    another's."""
    clause = re.split(r"[,.;!?。！？，]", small[max(0, start - 60) : start])[-1]
    if kept.language in ("zh", "ja", "ko"):
        return any(word in clause for word in kept.words["not"])
    words = _LITERAL.findall(clause)
    return any(word in kept.words["not"] for word in words[-5:])


# --- lists in a sentence: `peanuts, eggs and kiwi` --------------------------------------

_AND = r"(?:and|or|und|oder|et|ou|y|e|o|en|of)"
_LIST_ITEM = lazy(
    rf"(?:\s*,\s*(?:{_AND}\s+)?|\s+{_AND}\s+)([^\W\d_][\w'-]*(?: [\w'-]+)?)(?=\s*(?:[,.;!)]|\Z|{_AND}\s))",
    re.IGNORECASE,
)
_NO_ITEM = word_set("slot_values", "no item")
"""Words that begin something else."""


def with_items(text: str, readings: Iterable[Reading]) -> Iterator[Reading]:
    """Yield the readings, and the other items of a list that a value begins: for slots where a missing item is
    grave."""
    for first in readings:
        yield first
        if first.label == "Allergy" and not first.ended:
            at = max(text.find(first.value, first.start), 0) + len(first.value)
            while (item := _LIST_ITEM.match(text, at)) and item[1].lower().split()[0] not in _NO_ITEM:
                at = item.end(1)
                yield Reading(first.topic, first.label, item[1], item.start(1), at, is_plain=first.is_plain)
