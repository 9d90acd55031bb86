"""Text → terms, which recall looks up. The same words in a text and in a question give the same terms.

A term is not empty; its ASCII characters are lower-case letters and digits, so that an ASCII tokenizer keeps it whole.
Any text with a letter, a digit or an emoji has terms; none raises, and time is linear.

Compound things give several terms: the whole, joined (`parse_config` → parseconfig), and its parts (parse, config).
Numbers are joined with a dot in the middle (`3.11.7` → 3·11·7, and 3·11, 3, 11, 7). Scripts without spaces give single
characters and pairs.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import namedtuple
from functools import lru_cache

from looseleaf.language import stems
from looseleaf.language.stems import fold
from looseleaf.language.tables import read_words
from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# --- scripts without spaces: Chinese, Japanese, Korean (few spaces), Thai, Lao, Burmese, Khmer ---

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_SYLLABIC = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"

_PAIR, _SINGLE, _GRAMMAR = 0.7, 0.5, 0.25
"""The weight in a question of a pair of characters, a single one, and a pair that touches grammar."""


@lru_cache(maxsize=1)
def character_map() -> dict[int, int]:
    pairs = {ord(pair[0]): ord(pair[1]) for pair in read_words("han_variants", "")}
    return pairs | {code: code - 0x60 for code in range(0x30A1, 0x30F7)}


_RUNS = lazy(f"([{_HAN}{_KANA}]+|[{_HANGUL}]+|[{_SYLLABIC}]+)")
_BEHIND = "\u0e30-\u0e3a\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
_SYLLABLE = lazy(f"[เแโใไເແໂໃໄ]?[^{_BEHIND}][{_BEHIND}]{{0,6}}|.")
"""A rough syllable: a vowel written first, a letter, the marks around it."""


_fold_unit = lru_cache(maxsize=4096)(fold)


def runs() -> re.Pattern[str]:
    """Return a pattern that splits a text so that every second piece is a run of one such script."""
    return _RUNS


def _split_units(run: str) -> list[str]:
    if "\u0e00" <= run[0] <= "\u17ff" and not "\u1100" <= run[0] <= "\u11ff":
        return [unit for found in _SYLLABLE.findall(run) if (unit := _fold_unit(found))]
    return list(run.translate(character_map()))


def _stands_alone(unit: str) -> bool:
    return not "\u3040" <= unit <= "\u30ff"


def unspaced_terms(run: str) -> Iterator[str]:
    """Yield the terms of a run of a text."""
    units = _split_units(run)
    if len(units) == 1:
        yield units[0]
        return
    stops, _ = stems.unspaced()
    for at, unit in enumerate(units):
        if _stands_alone(unit) and unit not in stops:
            yield unit
        if at + 1 < len(units):
            yield unit + units[at + 1]


def asked(run: str) -> Iterator[tuple[str, float]]:
    """Yield the terms of a run of a question, with their weights."""
    units = _split_units(run)
    last = len(units) - 1
    if last == 0:
        yield units[0], 1.0
        return
    grammar = _mark_grammar(run) if len(units) == len(run) else [0] * len(units)
    if all(mark > 1 for mark in grammar):
        grammar = [0] * len(units)  # a question of only such words asks for them
    for at, unit in enumerate(units):
        cut_off = (at == 0 or grammar[at - 1]) and (at == last or grammar[at + 1])
        if cut_off and not grammar[at] and _stands_alone(unit):
            yield unit, _SINGLE
        if at < last and not grammar[at] > 1 < grammar[at + 1]:
            touched = grammar[at] or grammar[at + 1]
            yield unit + units[at + 1], _GRAMMAR if touched else 1.0 if last == 1 else _PAIR


def _mark_grammar(run: str) -> list[int]:
    """Return a mark per character: 2 in a stop word, 1 for a possible particle."""
    stops, longest = stems.unspaced()
    marks = [1 if char in stems.PARTICLES else 0 for char in run]
    at = 0
    while at < len(run):
        size = next((size for size in range(longest, 0, -1) if run[at : at + size] in stops), 0)
        marks[at : at + size] = [2] * len(run[at : at + size])
        at += size or 1
    return marks


__all__ = ["Word", "fold", "language", "terms", "words"]

Word = namedtuple("Word", "text forms weight")
"""A word of a question. `forms`: the terms that match it, each with a factor of at most 1. `weight`: its share."""

LONGEST = 64
"""The longest term; of a longer one the beginning and a checksum stay."""

_CACHED = 60_000
"""Words whose terms are cached, per language; then the cache is cleared."""

_MANY = 128
"""Words of a question that get all their forms. A longer question is a pasted text."""

_QUESTION_CHARS = 32_768
"""Characters of a question that are read."""

_WHOLE, _PART = 0.6, 0.8
"""The weight of a compound in a question, and of each of its parts."""

_DOUBTFUL = 0.4
"""The weight of a word that may be a stop word of the question's possible language."""

_JOINED = 0.6
"""The factor of two words written as one."""

_OTHER_TONGUES = 0.6
"""The factor of a stem in a language without evidence."""

_JOINT = r"(?:://|::|->|[-./\\@']|(?<=\d)[:,](?=\d))"
_ASCII_CHUNK = re.compile(rf"[A-Za-z0-9_]+(?:{_JOINT}[A-Za-z0-9_]+)*")
_SIGNED = lazy(r"(?<![A-Za-z0-9_])([A-Za-z])(\+\+|#)(?![A-Za-z0-9_])")
_CAMEL = lazy(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\x00-\x7f]+")
_UNSAFE = lazy(r"[\x00-/:-`{-\x7f\s\ud800-\udfff]+")
_SEGMENTS = lazy(r"://|::|->|[/\\@]")
_POINTS = lazy(r"[-_.:,']+")
_MONTH = lazy(
    r"(?i)\b(?:in|of|since|until|till|last|next|this|early|mid|late|by|before|after|on|and|or)\s+may\b"
    r"|\bmay\s+\d|\d\s+may\b"
)

_NAMES = frozenset(("May", "Will", "MAY", "WILL"))
"""Stop words that are a month or a person when capitalized."""

_CONTRACTED = frozenset("s m re ve d ll t".split())
_ELIDED = frozenset(
    "l d j m t s n c qu jusqu lorsqu puisqu quoiqu dell nell sull all dall coll un quell quest sant".split()
)


_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963"
    "\u0966-\u0df3\u0e00-\u0eff\u0f71-\u0fbc\u1000-\u1049\u1056-\u109f\u135d-\u135f\u1780-\u17d3\u18a9\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u3005\u3007\u3099\u309a\ufe20-\ufe2f"
)
_EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}|[\u2300-\u23ff\u2600-\u2793\u2795-\u2797\u27b0\u27bf\u2b50\u2b55"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
)
_CHUNK = lazy(rf"[\w{_MARKS}]+(?:{_JOINT}[\w{_MARKS}]+)*|{_EMOJI}")


@lru_cache(maxsize=1)
def _cleaning_tables() -> tuple[re.Pattern[str], dict[int, str | None]]:
    # Normal forms sort runs of marks in quadratic time: split long runs.
    crowd = re.compile(r"([^\w\s\x00-\x7f]{16})")
    invisible = [0xAD, 0x34F, 0x61C, 0x180E, 0x640, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F)]
    gone: dict[int, str | None] = dict.fromkeys((*invisible, *range(0x2060, 0x2070), *range(0xFE00, 0xFE10)))
    gone |= dict.fromkeys(map(ord, "’‘ʼʹ´`′＇"), "'") | dict.fromkeys(map(ord, "‐‑−"), "-") | {0x130: "i"}
    return crowd, gone


def _clean(text: str) -> str:
    """Unify characters that look the same."""
    if not text.isascii():
        crowd, gone = _cleaning_tables()
        text = unicodedata.normalize("NFKC", crowd.sub(r"\1 ", text)).translate(gone)
    if "#" in text or "++" in text:
        text = _SIGNED.sub(lambda found: found[1] + ("sharp" if found[2] == "#" else "plusplus"), text)
    return text.lower() if text.isupper() and len(text) > 8 else text


def _chunks(text: str) -> list[str]:
    return _ASCII_CHUNK.findall(text) if text.isascii() else _CHUNK.findall(text)


def language(text: str) -> str:
    """Return the language of a text's Latin words (`german`); "" if they do not tell."""
    tongue: str = stems.language(map(str.lower, _chunks(_clean(text)))).tongue
    return tongue


_caches: dict[stems.Heard, dict[str, tuple[str, ...]]] = {}


def terms(text: str) -> list[str]:
    """Return the terms of a text, in order."""
    chunks = _chunks(_clean(text))
    heard = stems.language(map(str.lower, chunks[:200]))
    if not heard.tongue:
        heard = stems.ENGLISH
    cache = _caches.setdefault(heard, {})
    found: list[str] = []
    for chunk in chunks:
        known = cache.get(chunk)
        if known is None:
            known = _terms_of(chunk, heard.tongue, _stop_words(heard))
            if len(chunk) <= LONGEST:
                if len(cache) >= _CACHED:
                    cache.clear()
                cache[chunk] = known
        found += known
    # A text of only stop words can still be quoted.
    return found or [
        term for chunk in chunks for word in _split_chunk(chunk)[1] if (term := _safe_term(fold(word)))
    ]


def _stop_words(heard: stems.Heard) -> frozenset[str]:
    """Return the words to drop. A word with a meaning in English stays unless others show that the text is not
    English."""
    if heard.tongue and not heard.is_sure:
        return stems.useless_words(heard.tongue)
    return stems.by_language()[heard.tongue or "english"]


def _terms_of(chunk: str, tongue: str, stops: frozenset[str]) -> tuple[str, ...]:
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle()):
        word = chunk.lower()
        if word in stops and chunk not in _NAMES:
            return ()
        return (_safe_term(stems.stem(word, tongue)),)
    if chunk.isupper() and chunk.lower() in stops and len(chunk) > 1:
        return (_safe_term(fold(chunk)),)  # IT, US, WHO
    if not chunk.isascii() and _RUNS.search(chunk):
        return tuple(_terms_of_mixed(chunk, tongue, stops))
    wholes, parts = _split_chunk(chunk)
    found = [*wholes, *(stems.stem(part, tongue) for part in parts if not _is_stop(part, stops))]
    return tuple(term for each in found if (term := _safe_term(each)))


def _terms_of_mixed(chunk: str, tongue: str, stops: frozenset[str]) -> Iterator[str]:
    for at, piece in enumerate(_RUNS.split(chunk)):
        if at % 2:
            yield from unspaced_terms(piece)
        else:
            for rest in _chunks(piece):
                yield from _terms_of(rest, tongue, stops)


def _is_stop(word: str, stops: frozenset[str]) -> bool:
    if word in stops:
        return True
    own = "latin" if word.isascii() else stems.language_of_script(word)
    return word in stems.by_language().get(own, ())


def _safe_term(text: str) -> str:
    if not (text.isascii() and text.isalnum()):
        text = _UNSAFE.sub("", text)
    if len(text) > LONGEST:
        checksum = zlib.crc32(text.encode("utf-8", "surrogatepass"))
        text = f"{text[: LONGEST - 8]}{checksum:08x}"
    return text


# --- words with spaces between them ---


def _split_chunk(chunk: str) -> tuple[list[str], list[str]]:
    """Return a chunk's compounds, as terms, and its single words in lower case."""
    if "'" in chunk:
        chunk, joined = _cut_apostrophe(chunk)
        if joined:
            return [joined], _split_chunk(chunk)[1]
    if chunk.isalpha() and (chunk.islower() or chunk.istitle() or chunk.isupper()):
        return [], [chunk.lower()]
    _, address, place = chunk.partition("://")
    if address:
        chunk = place.removeprefix("www.")  # the scheme says nothing about the target
    segments = [segment for segment in _SEGMENTS.split(chunk) if segment.strip("_-.'")]
    wholes, parts = [], []
    for segment in segments:
        whole, pieces = _split_segment(segment)
        wholes += whole
        parts += pieces
    if len(segments) > 1 and len(chunk) <= LONGEST:
        wholes.insert(0, _join([piece for segment in segments for piece in _POINTS.split(fold(segment))]))
    return wholes, parts


def _split_segment(segment: str) -> tuple[list[str], list[str]]:
    points = [piece for piece in _POINTS.split(segment) if piece]
    if all(piece.isdecimal() for piece in points):
        return _split_number(segment, [fold(piece) for piece in points])
    pieces: list[str] = []
    for point in points:
        if len(point) > LONGEST:
            pieces.append(point)
            continue
        camel = _CAMEL.findall(point)
        # A checksum or a key alternates constantly, and its parts mean nothing.
        pieces += camel if len(camel) <= 6 else [point]
    words = [piece.lower() for piece in pieces]
    if len(words) == 1:
        return [], words
    whole = _join(fold(piece) for piece in points)
    kept = [word for word in words if len(word) > 1 or word.isdecimal()]
    if not kept:
        return ([whole], []) if len(whole) <= LONGEST else ([], words)
    return ([whole] if len(whole) <= 2 * LONGEST else []), [
        word.lstrip("0") or "0" if word.isdecimal() else word for word in kept
    ]


def _split_number(segment: str, groups: list[str]) -> tuple[list[str], list[str]]:
    """Split a number: `1,000` is a thousand; `3.11.7` and 2024-03-05 also match by their beginnings."""
    plain = [group.lstrip("0") or "0" for group in groups]
    if len(groups) < 2:
        return [], plain
    thousands = all(len(group) == 3 for group in groups[1:]) and 0 < len(groups[0]) <= 3
    if thousands and "," in segment and "." not in segment:
        return [], ["".join(groups)]
    wholes = ["".join(groups)] if thousands and "." in segment else []
    wholes += ["·".join(plain[:count]) for count in range(min(len(plain), 5), 1, -1)]
    return wholes, plain


def _join(pieces: Iterable[str]) -> str:
    found = ""
    for piece in pieces:
        if found and piece and found[-1].isdecimal() and piece[0].isdecimal():
            found += "·"
        found += piece
    return found


def _cut_apostrophe(chunk: str) -> tuple[str, str]:
    """Cut off possessives, contractions, elisions and Turkish endings; else return the joined whole with the parts."""
    first, _, rest = chunk.partition("'")
    if "'" not in rest:
        small = rest.lower()
        if small in _CONTRACTED:
            if small == "t" and first[-1:].lower() == "n":
                return first + rest, ""  # don't → dont, a stop word
            return first, ""
        if fold(first) in _ELIDED:
            return rest, ""
        if len(first) > 2 and len(rest) <= 5 and rest.islower():
            return first, ""
    return chunk.replace("'", "-"), _join(fold(chunk).split("'")) if len(chunk) <= LONGEST else ""


# --- questions ---


_Question = namedtuple("_Question", "tongue tongues stops doubtful opening")
"""A question: its language, the languages of the texts, its stop words, the doubtful ones, and its first word."""


def words(query: str, tongues: Iterable[str] = ()) -> tuple[Word, ...]:
    """Return the words of a question, with their forms. `tongues`: languages known to occur in the searched texts."""
    clean = _clean(query[:_QUESTION_CHARS])
    if month := "may" in clean.lower() and _MONTH.search(clean):
        clean = clean[: month.start()] + re.sub(r"(?i)\bmay\b", "May", month[0]) + clean[month.end() :]
    chunks = list(dict.fromkeys(_chunks(clean)))
    small = [chunk.lower() for chunk in chunks[:200]]
    heard = stems.language(small)
    # A question that begins with Will or May asks whether, unless the month was recognized.
    opening = "" if month or not chunks else chunks[0]
    doubtful = stems.doubtful(small, heard)
    question = _Question(heard.tongue, tuple(tongues), _stop_words(heard), doubtful, opening)
    return _words_of_chunks(chunks, question) or _words_of_chunks(
        chunks, question._replace(stops=frozenset())
    )


def _words_of_chunks(chunks: list[str], question: _Question) -> tuple[Word, ...]:
    found: dict[str, Word] = {}
    before = previous = ""
    for chunk in chunks:
        plain = ""
        for word in _words_of_chunk(chunk, question, len(found) < _MANY):
            key = word.forms[0][0]
            if key not in found or found[key].weight < word.weight:
                found[key] = word
            is_plain = 3 <= len(word.text) <= LONGEST // 4 and word.text.isascii() and word.text.isalpha()
            if len(found) < _MANY and is_plain and word.weight == 1.0:
                plain = word.text
                # `data base` for database: two words that may be written as one.
                joined = (
                    _safe_term(stems.stem(before + plain, question.tongue or "english")) if before else ""
                )
                for each in (previous, key) if joined else ():
                    if joined not in dict(found[each].forms):
                        found[each] = found[each]._replace(forms=(*found[each].forms, (joined, _JOINED)))
                previous = key
        before = plain
    return tuple(found.values())


def _words_of_chunk(chunk: str, question: _Question, thorough: bool) -> Iterator[Word]:
    if not chunk.isascii() and _RUNS.search(chunk):
        for at, piece in enumerate(_RUNS.split(chunk)):
            if at % 2:
                yield from (Word(term, ((term, 1.0),), weight) for term, weight in asked(piece))
            else:
                for rest in _chunks(piece):
                    yield from _words_of_chunk(rest, question, thorough)
        return
    stops = question.stops
    if chunk.lower() in stops and _is_capitalized(chunk, chunk == question.opening):
        yield Word(chunk, ((_safe_term(fold(chunk)), 1.0),), 1.0)
        return
    wholes, parts = _split_chunk(chunk)
    kept = [part for part in dict.fromkeys(parts) if not (stops and _is_stop(part, stops))]
    for whole in dict.fromkeys(wholes):
        if term := _safe_term(whole):
            yield Word(chunk, ((term, 1.0),), _WHOLE if kept else 1.0)
    for at, part in enumerate(kept):
        if forms := _forms_of(part, question, thorough and at < _MANY):
            yield Word(
                part, forms, (_PART if wholes else 1.0) * (_DOUBTFUL if part in question.doubtful else 1.0)
            )


def _is_capitalized(chunk: str, opening: bool) -> bool:
    """Return whether a stop word is written like a name: May, IT."""
    return (chunk in _NAMES and not opening) or (chunk.isupper() and len(chunk) > 1)


def _forms_of(word: str, question: _Question, thorough: bool) -> tuple[tuple[str, float], ...]:
    first = question.tongue or "english"
    forms: dict[str, float] = {}

    def add(term: str, factor: float) -> None:
        if term := _safe_term(term):
            forms.setdefault(term, factor)

    add(stems.stem(word, first), 1.0)
    add(fold(word), 0.9)
    if thorough and word.isalpha() and (word.isascii() or stems.language_of_script(word) == "latin"):
        add(stems.stem(word, "english"), 0.9)
        near = tuple(dict.fromkeys((*question.tongues, *stems.shapes(word))))
        for other in near:
            add(stems.stem(word, other), 0.8)
        for variant in stems.accented(word):
            for other in dict.fromkeys((first, *near)):
                add(stems.stem(variant, other), 0.7)
        if not question.tongue and not question.tongues:
            for other in stems.latin_languages():
                stemmed = stems.stem(word, other)
                # A much shorter stem is more often another word than this one.
                short = 3 * len(stemmed) < 2 * len(word)
                add(stemmed if len(stemmed) > 1 else "", _OTHER_TONGUES / 2 if short else _OTHER_TONGUES)
    return tuple(forms.items())
