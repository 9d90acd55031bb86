"""Slots: relations of which a sentence says the value in a form that is sure, one table of forms per language.

A table (`data/slots/<language>.txt`) has a line for each form: topic, label and form, parted by tabs. A form is a
pattern of words with one `{type}` for the value. A value that has not the shape of its type is none: in doubt nothing is
read, and the sentence itself is the memory. No language is guessed: a form is tried where its own words stand.

    user	Home	i live in {place}
    user	-Employer	i (?:quit|left) {org}        what ends: a label with a minus
    user	Answers=short	keep (?:it|answers) short    a value that the form itself says
    project	*	our {meeting} is {when}              a label that the sentence names
    -	was	switched from {old} to {thing}           what a change replaces
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from looseleaf.core.lazy import lazy
from looseleaf.frozen import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DATA = Path(__file__).parent / "data"
LONGEST = 400
"""A sentence that is longer states nothing in a sure form."""

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
    """What a form read: the label, the value, and where in the sentence the form stands. `ended`: it holds no more;
    `label` is `was` for what a change replaces."""

    topic: str
    label: str
    value: str
    start: int
    end: int
    ended: bool = False


@frozen
class Form:
    topic: str
    label: str
    source: str
    language: str
    triggers: tuple[str, ...]


class Table:
    """The forms of one language, and its words: that end a value, that take a statement back, that no name begins
    with."""

    def __init__(self, language: str, text: str) -> None:
        self.language = language
        self.words: dict[str, frozenset[str]] = {"ends": frozenset(), "not": frozenset(), "plain": frozenset()}
        self.forms: list[Form] = []
        for line in text.splitlines():
            if line.startswith("@"):
                name, *words = line[1:].split()
                self.words[name] = self.words.get(name, frozenset()) | {*words}
            elif line.strip() and not line.startswith("#"):
                topic, label, form = (part.strip() for part in line.split("\t", 2))
                self.forms.append(Form(topic, label, form, language, _triggers(form)))


_TYPE = lazy(r"\{(\w+)\}")
_GROUP = lazy(r"\((?:\?:)?([^()]*)\)(\??)")
_LITERAL = lazy(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def _triggers(form: str) -> tuple[str, ...]:
    """Words of which one stands wherever the form matches: its longest word outside of brackets, else a whole group."""
    bare = _TYPE.sub(" ", form)
    groups: list[str] = []

    def lift(found: re.Match[str]) -> str:
        if not found[2]:
            groups.append(found[1])
        return " "

    while "(" in bare:
        lifted = _GROUP.sub(lift, bare)
        if lifted == bare:
            break
        bare = lifted
    bare = re.sub(r"\S\?|\\.|\[[^\]]*\]\??", " ", bare)
    literals = sorted(_LITERAL.findall(bare), key=len, reverse=True)
    if literals and (len(literals[0]) > 2 or not groups or not literals[0].isascii()):
        return (literals[0].lower(),)
    for group in sorted(groups, key=len, reverse=True):
        words = [max(_LITERAL.findall(re.sub(r"\S\?|\\.", " ", each)) or [""], key=len) for each in group.split("|")]
        if all(words):
            return tuple(word.lower() for word in words)
    return (literals[0].lower(),) if literals else ()


@cache
def table(language: str) -> Table:
    path = DATA / "slots" / f"{language}.txt"
    return Table(language, path.read_text(encoding="utf-8") if path.is_file() else "")


@cache
def languages() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (DATA / "slots").glob("*.txt")))


@cache
def families() -> dict[str, frozenset[str]]:
    """Names that are of one sort (databases, editors, diets): `sort: name, name`."""
    found: dict[str, frozenset[str]] = {}
    for line in (DATA / "families.txt").read_text(encoding="utf-8").splitlines():
        name, colon, members = line.partition(":")
        if colon and not line.startswith("#"):
            known = {each.strip().lower() for each in members.split(",")} - {""}
            found[name.strip()] = found.get(name.strip(), frozenset()) | known
    return found


@cache
def family_of() -> dict[str, frozenset[str]]:
    """From a name to the sorts that it is of."""
    found: dict[str, set[str]] = {}
    for sort, members in families().items():
        for member in members:
            found.setdefault(member, set()).add(sort)
    return {member: frozenset(sorts) for member, sorts in found.items()}


def sorts_of(name: str) -> frozenset[str]:
    return family_of().get(name, frozenset())


@cache
def common() -> frozenset[str]:
    """Words of everyday talk: none of them is a name, as long as it is written small. Made with the weights."""
    path = DATA / "common.txt"
    return frozenset(path.read_text(encoding="utf-8").split()) if path.is_file() else frozenset()


# --- patterns --------------------------------------------------------------------------

_STOP_MARKS = r"[,.;:!?()\[\]\"“”„«»—–…/]"
_WIDE_MARKS = r"[\s，。、！？,.!?；;：:（）()「」『』“”~～…]"


def _value(kind: str, table: Table) -> str:
    """The pattern of a value, up to where it may end."""
    ends = table.words["ends"]
    if table.language in ("zh", "ja"):
        stop = "|".join(map(re.escape, sorted(ends, key=len, reverse=True)))
        behind = rf"(?=\Z|{_WIDE_MARKS}" + (rf"|{stop})" if stop else ")")
        if kind in families():
            return rf"({_family(kind)})"
        most = 40 if kind in _OPEN else 4 * (_WORDS.get(kind, 3) + 1)
        behind = r"(?=\Z|[。！？!?])" if kind in _OPEN else behind
        return rf"([^\s，。、！？,!?；;：（）()「」『』“”]{{1,{most}}}?){behind}"
    if kind in families():
        return rf"({_family(kind)})(?![\w-])"
    stop = "" if kind in _OPEN else rf"|\s(?:{'|'.join(map(re.escape, sorted(ends)))})(?!\w)"
    marks = _STOP_MARKS if kind not in ("when", "command", "rest", "zone") else r"[,;!?()\"“”—–…]|\.(?:\s|\Z)"
    more = _WORDS.get(kind, 3)
    if kind in _NAMED:
        small = rf"[^\s{_NO_VALUE}]+?(?:\s[^\s{_NO_VALUE}]+?){{0,{more}}}?(?=\s*(?:\Z|{marks}|\s[-–—]\s{stop}))"
        return rf"((?:the )?{_LARGE}|{small})"
    return rf"([^\s,;!?()\[\]\"“”„«»—–…]+?(?:\s[^\s,;!?()\[\]\"“”„«»—–…]+?){{0,{more}}}?)(?=\s*(?:\Z|{marks}|\s[-–—]\s{stop}))"


_NAMED = frozenset({"name", "person", "place", "org"})
_NO_VALUE = r",;!?()\[\]\"“”„«»—–…"
_LARGE = (
    r"(?-i:[A-ZÀ-ÖØ-Þ][\w.'&+-]*\w(?: (?:(?:de|da|di|do|du|del|della|van|von|der|den|la|le|of|&) )*[A-ZÀ-ÖØ-Þ][\w.'&+-]*\w)*)(?![\w])"
)
"""A name in capitals ends where they do."""


@cache
def _family(kind: str) -> str:
    members = sorted(families()[kind], key=lambda each: (-len(each), each))
    return rf"(?:{'|'.join(map(re.escape, members))})(?:[ -]?v?[0-9][\w.]*)?"


@lru_cache(1024)
def _pattern(form: Form) -> re.Pattern[str]:
    parts: list[str] = []
    at = 0
    kept = table(form.language)
    for found in _TYPE.finditer(form.source):
        parts += [form.source[at : found.start()], _value(found[1], kept)]
        at = found.end()
    source = "".join((*parts, form.source[at:]))
    edge = "" if form.language in ("zh", "ja", "ko") else r"(?<![\w'’-])"
    return re.compile(edge + source, _I)


_CAPTURE = lazy(r"\{(\w+)\}|(?<!\\)\((?!\?)")


@lru_cache(1024)
def _kinds(form: Form) -> tuple[str, ...]:
    """The types of a form's values in their order; of one that it spells out itself, none."""
    return tuple(found[1] or "" for found in _CAPTURE.finditer(form.source))


# --- reading ---------------------------------------------------------------------------


def read(sentence: str, *, languages: Sequence[str] = ()) -> list[Reading]:
    """What the forms read in a sentence, in its order; of two that overlap under one label, the first and longer."""
    if len(sentence) > LONGEST:
        return []
    text = sentence.replace("’", "'")
    small = text.lower()
    found: list[Reading] = []
    for language in languages or _languages_of(small):
        kept = table(language)
        for form in kept.forms:
            if any(trigger in small for trigger in form.triggers):
                found += _read(form, kept, text, small)
    found.sort(key=lambda each: (each.start, -each.end))
    clear: list[Reading] = []
    for each in found:
        if not any(_is_in(each, other) for other in clear):
            clear.append(each)
    return clear


_WIDE = lazy(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_KANA = lazy(r"[\u3041-\u30ff]")
_HANGUL = lazy(r"[\uac00-\ud7af]")


def _languages_of(text: str) -> Sequence[str]:
    """The tables worth trying: by script, and among those of one script all of them."""
    if _WIDE.search(text) is None:
        return _latin()
    if _HANGUL.search(text):
        return ("ko",)
    return ("ja",) if _KANA.search(text) else ("zh",)


@cache
def _latin() -> tuple[str, ...]:
    return ("en", *(each for each in languages() if each not in ("en", "zh", "ja", "ko")))


def _is_in(one: Reading, other: Reading) -> bool:
    same = one.label == other.label and one.topic == other.topic
    return same and one.start < other.end and other.start < one.end


def _read(form: Form, kept: Table, text: str, small: str) -> Iterator[Reading]:
    kinds = _kinds(form)
    for found in _pattern(form).finditer(text):
        if _is_taken_back(kept, small, found.start()):
            continue
        values = [found[number].strip(" .'’-") for number in range(1, len(kinds) + 1)]
        if not all(is_sound(kind, value, kept) for kind, value in zip(kinds, values, strict=True)):
            continue
        label, _, constant = form.label.partition("=")
        ended = label.startswith("-")
        label = label.removeprefix("-")
        if label == "*":
            label, values = values[0][:1].upper() + values[0][1:], values[1:]
        value = constant or (values[0] if values else "")
        yield Reading(form.topic, label, value, found.start(), found.end(), ended)


def _is_taken_back(kept: Table, small: str, start: int) -> bool:
    """Whether a word before the form says that it is not so: supposed, denied, wished, or another's word."""
    clause = re.split(r"[,.;!?。！？，]", small[max(0, start - 60) : start])[-1]
    if kept.language in ("zh", "ja", "ko"):
        return any(word in clause for word in kept.words["not"])
    words = _LITERAL.findall(clause)
    return any(word in kept.words["not"] for word in words[-5:])


# --- shapes ----------------------------------------------------------------------------

_NAME = lazy(r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*)*")
_TRADE = lazy(
    r".*(?:er|or|ist|ian|ant|ent|man|woman|nurse|chef|cook|vet|coach|clerk|judge|pilot|guide|intern|trainee|apprentice|lead|"
    r"head|cto|ceo|cfo|pm|dev|sre|devops|po|qa|freelance|midwife|student|mechanic|analyst|smith|wright|herd|guard|lawyer|"
    r"scientist|architect|professor|postdoc|phd|researcher|founder|manager|director|artist|designer|butcher|baker)s?\Z",
    _I,
)
_NO_TRADE = frozenset(
    "er her other another beginner newcomer customer user fan supporter lover reader member owner sucker prayer number letter "
    "computer paper parent owner person winner loser killer hater believer different sort of kind man woman human".split()
)
_DATE_LIKE = lazy(r".*[0-9]|.*\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", _I)
_ZONE = lazy(
    r"(?:utc|gmt)(?: ?[+-] ?\d{1,2}(?::?\d\d)?)?|(?:c|e|w|m|p|ak|h|b|i|j|k|s|hk|nz|ae|ac|aw|ms|br|ar|a|n)[sd]?[est]?t|cest|"
    r"aest|aedt|acst|awst|nzst|nzdt|[a-z]+/[a-z_]+|(?:eastern|pacific|central|mountain|atlantic)(?: time)?",
    _I,
)
_COMMAND = lazy(
    r"`[^`]+`|(?:\./|(?:npm|npx|pnpm|yarn|bun|make|just|task|pytest|tox|nox|uv|poetry|pdm|hatch|cargo|go|mvn|gradle|\./gradlew|"
    r"docker|docker-compose|podman|kubectl|helm|fly|flyctl|vercel|netlify|heroku|rake|bundle|bin/|mix|dotnet|ctest|cmake|ninja|"
    r"bazel|sbt|php|composer|vitest|jest|rspec|deno|python|python3|sh|bash|terraform|ansible-playbook|git|gcloud|aws|az)\b).*",
    _I,
)


@lru_cache(4096)
def _is_plain(word: str, language: str) -> bool:
    """Whether a word is one of everyday talk, and no name."""
    return word.islower() and (word in common() or word in table(language).words["plain"])


def _is_trade(word: str, kept: Table) -> bool:
    """Whether a word names what people do: by the table's own `@trades`, words and endings (`-erin`)."""
    known = kept.words.get("trades")
    if known is None:
        return _TRADE.fullmatch(word) is not None and word not in _NO_TRADE
    return word in known or any(each[0] == "-" and word.endswith(each[1:]) for each in known)


def is_sound(kind: str, value: str, kept: Table) -> bool:
    """Whether a value has the shape of its type."""
    if not value or not any(map(str.isalnum, value)):
        return False
    if kind in families() or kind in ("", "rest", "when", "thing", "old", "word", "people"):
        return kind != "word" or value.isalnum()
    words = value.split()
    language, plain = kept.language, kept.words["plain"]
    if language in ("zh", "ja"):
        return 1 <= len(value) <= 20 and value not in plain and not any(each in value for each in kept.words["never"])
    if len(words) > 1 and words[0].lower() == "the" and words[1][0].isupper():
        words = words[1:]
    first, last = words[0].lower(), words[-1].lower()
    if kind == "date":
        return _DATE_LIKE.match(value) is not None
    if kind == "zone":
        return _ZONE.fullmatch(value) is not None
    if kind == "command":
        return _COMMAND.fullmatch(value) is not None
    if kind == "trade":
        return _is_trade(last, kept) and first not in kept.words["never"]
    if first in plain or last in plain:
        return False
    if kind in ("name", "person"):
        return _NAME.fullmatch(value) is not None and not any(_is_plain(each, language) for each in words)
    has_name = any(each[:1].isupper() or not _is_plain(each, language) for each in words)
    return has_name and not (kind == "place" and any(map(str.isdigit, value)))
