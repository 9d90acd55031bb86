"""Slots: relations whose value a sentence states in an unambiguous form; one table of forms per language.

A table (`data/slots/<language>.txt`) has a line for each form: topic, label and form, separated by tabs. A form is a
regular expression; `{type}`, or a capture group, marks the value. A value without the shape of its type is discarded:
when in doubt nothing is read, and the sentence itself is the memory. The language is only narrowed down; then every
form whose own words occur is tried.

    user	Home	i live in {place}
    user	-Employer	i (?:quit|left) {org}        what ends: a label with a minus
    user	Answers=short	keep (?:it|answers) short    a value that the form itself says
    user	!Name	\\Amy name is {name}\\Z            so plain that it is believed whatever the selector says
    project	*	our {meeting} is {when}              a label that the sentence names
    -	was	switched from {old} to {thing}           what a change replaces
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from looseleaf.base.immutable import frozen
from looseleaf.distill.sorts import DATA, families, family_of
from looseleaf.distill.sound import is_sound
from looseleaf.facts.replacing import WIDE
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST = 400
"""Longer sentences are not read."""

_I = re.IGNORECASE
_WORDS = {
    "name": 2, "person": 2, "place": 3, "org": 3, "trade": 4, "thing": 5, "when": 9, "old": 4, "word": 0, "people": 9,
    "date": 5, "zone": 2, "command": 11, "rest": 17,
}  # fmt: skip
"""The types of values, with how many words more than one each may have. Any other type is a family of names."""

_OPEN = frozenset({"when", "rest", "command", "people"})
"""Types that reach to the end of their clause: no word ends them."""


@frozen
class Reading:
    """What a form read: the label, the value, and where in the sentence the form stands. `ended`: it is no longer true;
    `is_plain`: the form is the whole statement, and is believed without the selector; `label` is `was` for what a
    change replaces."""

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
    """The forms of one language and its lists of words: `ends` end a value; `not` before a form takes it back; `plain`
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
    """A cheap check before a form is compiled: whether a text in lower case has every word that stands outside the
    form's brackets, and one of each group that must match and has a word in all its alternatives."""
    words, groups = _outside(form)
    for word in words:
        if word not in small:
            return False
    return all(any(word in small for word in one) for one in _inside(groups))


@cache
def _outside(form: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a form outside its brackets, the longest (likely the rarest) first, and the groups that must
    match."""
    outside, groups = _split_groups(form)
    return tuple(sorted(_words_of(outside), key=len, reverse=True)), tuple(groups)


@cache
def _inside(groups: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """For each group with a word in every alternative, the longest word of each."""
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
_NESTED = rf"\({_FLAT}(?:\({_FLAT}(?:\({_FLAT}(?:\({_FLAT}\){_FLAT})*+\){_FLAT})*+\){_FLAT})*+\)"
_GROUP = lazy(_NESTED)
_BAR = lazy(rf"{_NESTED}|\|")
"""`_GROUP`: a group, nested at most four deep; `_BAR` also finds the bars outside groups."""


def _masked(form: str) -> str:
    return _LETTERS.sub(lambda found: "\0" * len(found[0]), form) if "[" in form or "\\" in form else form


def _split_groups(form: str) -> tuple[str, list[str]]:
    """A form without its groups, and the groups that must match."""
    if "(" not in form:
        return form, []
    outside: list[str] = []
    groups: list[str] = []
    at = 0
    for found in _GROUP.finditer(_masked(form)):
        start, end = found.span()
        outside.append(form[at:start])
        at = end
        if not form.startswith(("?", "*", "{0"), end) and not form.startswith(("?=", "?!", "?<"), start + 1):
            groups.append(form[start + 1 : end - 1].removeprefix("?:").removeprefix("?-i:"))
    return " ".join((*outside, form[at:])), groups


def _alternatives(group: str) -> list[str]:
    """The alternatives of a group, split at its own bars."""
    bars = [found.start() for found in _BAR.finditer(_masked(group)) if found[0] == "|"]
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


def _value(kind: str, table: Table, *, is_last: bool) -> str:
    """The pattern of a value. The last one of a form is matched greedily: `_cut` shortens it afterwards."""
    if table.language in ("zh", "ja"):
        if kind in families():
            return rf"((?<![A-Za-z]){_family(kind)})"
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
def _family(kind: str) -> str:
    members = sorted(families()[kind], key=lambda each: (-len(each), each))
    return rf"(?:{'|'.join(map(re.escape, members))})(?:[ -]?v?[0-9][0-9A-Za-z.]*)?"


@cache
def _pattern(form: Form) -> re.Pattern[str]:
    parts: list[str] = []
    at = 0
    kept = table(form.language)
    for found in _TYPE.finditer(form.source):
        is_last = _is_end(form.source[found.end() :])
        parts += [form.source[at : found.start()], _value(found[1], kept, is_last=is_last)]
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
    """Whether the rest of a form may be missing."""
    outside, groups = _split_groups(rest)
    return not groups and not outside.strip(" ?")


_LARGE = lazy(
    r"(?:the )?[A-ZÀ-ÖØ-Þ][\w.'&+-]*(?: (?:(?:de|di|do|du|del|della|van|von|der|den|la|le|of|&) "
    r")*[A-ZÀ-ÖØ-Þ][\w.'&+-]*)*"
)
"""A capitalised name ends with its last capitalised word."""
_NUMBERED = lazy(r"v?[0-9][0-9a-z.]*\Z", _I)


def _cut(kind: str, value: str, kept: Table) -> str:
    """A value up to where its type ends."""
    if kept.language in ("zh", "ja") or kind in ("", "command"):
        return value
    if kind in families():
        return _member(kind, value)
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


def _member(kind: str, value: str) -> str:
    """The name of the family that a text begins with, and its version; or nothing."""
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
    """The type of each capture, in order; none for a plain group."""
    return tuple(found[1] or "" for found in _CAPTURE.finditer(form.source))


# --- reading ---------------------------------------------------------------------------


def read(sentence: str, *, languages: Sequence[str] = ()) -> list[Reading]:
    """What the forms read in a sentence, in its order; of two that overlap under one label, the one that starts first,
    then the longer."""
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
                found += _read(form, kept, text, small)
    found.sort(key=lambda each: (each.start, -each.end))
    clear: list[Reading] = []
    for each in found:
        if not any(_is_in(each, other) for other in clear):
            clear.append(each)
    return clear


@cache
def _sorts_in(form: Form) -> frozenset[str]:
    return frozenset(kind for kind in _kinds(form) if kind in families())


_NAME_WORD = lazy(r"[\w+#&][\w.+#&:/-]*")


def _sorts_of_words(small: str) -> frozenset[str]:
    """The sorts of which a text has a name. Where words are not parted, any name that stands in it counts."""
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
    """From the words of a name to its sorts: `point d'équipe` is three of them, `.net` is one."""
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
    """The tables worth trying: by script; for Latin letters, English and the language the text seems to be in,
    or every likely one."""
    if WIDE.search(text):
        if _HANGUL.search(text):
            return ("ko",)
        return ("ja",) if _KANA.search(text) else ("zh",)
    from looseleaf.language.stems import language
    from looseleaf.language.stopwords import speaking_for

    words = _LITERAL.findall(text)
    heard = language(words).tongue
    if heard == "english":
        return ("en",)
    if heard in _CODES:
        return ("en", _CODES[heard])
    speaking = speaking_for()
    likely = {tongue for word in words for tongue in speaking.get(word, ())}
    return ("en", *(code for tongue, code in _CODES.items() if tongue in likely and code in languages()))


def _is_in(one: Reading, other: Reading) -> bool:
    same = one.label == other.label and one.topic == other.topic
    return same and one.start < other.end and other.start < one.end


def _read(form: Form, kept: Table, text: str, small: str) -> Iterator[Reading]:
    kinds = _kinds(form)
    pattern = _pattern(form)
    found = pattern.search(text)
    while found is not None:
        raw = [(found[number] or "").strip(" .'’-") for number in range(1, len(kinds) + 1)]
        values = [_cut(kind, value, kept) for kind, value in zip(kinds, raw, strict=True)]
        is_read = all(is_sound(kind, value, kept) for kind, value in zip(kinds, values, strict=True))
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
    """Whether a word shortly before the form, in its clause, makes it supposed, denied, wished for, or another's."""
    clause = re.split(r"[,.;!?。！？，]", small[max(0, start - 60) : start])[-1]
    if kept.language in ("zh", "ja", "ko"):
        return any(word in clause for word in kept.words["not"])
    words = _LITERAL.findall(clause)
    return any(word in kept.words["not"] for word in words[-5:])
