"""Text → sentences, and what a sentence is: a decision, a constraint, work left, a question, an intention.

Code and quoted lines are kept apart: code is no sentence, and what somebody quotes he does not say. Everything takes
time linear in the text. The cues are forms of words, in six languages; they miss what is said in other ways, and a
sentence that only asks, supposes or quotes is not taken for the thing itself.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from looseleaf.base.immutable import frozen
from looseleaf.language.tables import read_pattern, read_words
from looseleaf.text.patterns import NEVER, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

if TYPE_CHECKING:
    PieceKind = Literal["sentence", "quote", "code"]


CHECKED = 2000
"""Characters of a sentence that the detectors look at. What is longer is no sentence that a person wrote."""

# --- splitting -------------------------------------------------------------------------


@frozen
class Piece:
    """A sentence on one line, a quoted sentence, or a whole block of code."""

    text: str
    kind: PieceKind = "sentence"


_FENCE = lazy(r" {0,3}(`{3,}|~{3,})")
_QUOTE = lazy(r"[ \t]*(?:>[ \t]?)+")
_ITEM = lazy(r"[ \t]*(?:[-*+•]|[0-9]{1,3}[.)])[ \t]+")
_HEADING = lazy(r"[ \t]*#{1,6}[ \t]+")
_ROW = lazy(r"[ \t]*\|.*\|[ \t]*\Z")
_RULE = lazy(r"[\s|:=_*-]*\Z")

_CLOSERS = "\"')\\]*_»”’"
# A run of marks is looked at once, from where it begins: otherwise a line of dots would take quadratic time.
_END = lazy(rf"(?<![.!?…])[.!?…]++[{_CLOSERS}]*+(?=\s)|[。！？｡]++[」』”’）\"]*+")
_LAST_WORD = lazy(r"[\w.]+\Z")
_WORD_REACH = 24


def is_short_form(word: str, following: str) -> bool:
    """Whether the full stop after a word belongs to it. "No. 5" is a number; "no. use pnpm" is two sentences."""
    return word in _cue_words("short forms") and (word != "no" or following.strip()[:1].isdigit())


_AFTER_ORDINAL = lazy(
    r"\s+(?:(?i:jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec|jahrhundert)|[a-zäöü])"
)
_FULL = 50
_WIDE = lazy(r"[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]", in_ascii=NEVER)


def pieces(text: str) -> Iterator[Piece]:
    """Sentences, quoted sentences and blocks of code, in their order."""
    for kind, block in _blocks(text):
        if kind == "code":
            yield Piece(block, "code")
        else:
            for sentence in _split(block):
                yield Piece(sentence, kind)


def sentences(text: str) -> list[str]:
    """The sentences that are the writer's own: no code, no quoted lines."""
    return [piece.text for piece in pieces(text) if piece.kind == "sentence"]


def _blocks(text: str) -> Iterator[tuple[PieceKind, str]]:
    """Paragraphs, list items, headings and rows, each on one line; code whole."""
    fence = ""
    code: list[str] = []
    paragraph: list[str] = []
    kind: PieceKind = "sentence"
    for line in text.splitlines():
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                yield "code", "\n".join(code)
                fence, code = "", []
            else:
                code.append(line)
            continue
        quote = _QUOTE.match(line)
        body = line[quote.end() :] if quote else line
        line_kind: PieceKind = "quote" if quote else "sentence"
        opening = _FENCE.match(line)
        is_rule = _RULE.match(body) is not None
        heading = _HEADING.match(body)
        start = heading or _ITEM.match(body)
        is_alone = heading or _ROW.match(body)
        if paragraph and (line_kind != kind or is_rule or opening or start or is_alone):
            yield kind, _one_line(paragraph)
            paragraph = []
        kind = line_kind
        if opening:
            fence = opening[1]
        elif not is_rule:
            paragraph.append(body[start.end() :] if start else body)
            if is_alone or _ends_short(body):
                yield kind, _one_line(paragraph)
                paragraph = []
    if paragraph:
        yield kind, _one_line(paragraph)
    if code:
        yield "code", "\n".join(code)


def _ends_short(line: str) -> bool:
    """People break a line where a thought ends, programs where it is full."""
    return len(line) < (_FULL // 2 if _WIDE.search(line) else _FULL) and line.rstrip()[-1:] not in ",;-，、；"


def _one_line(lines: list[str]) -> str:
    parts: list[str] = []
    for line in lines:
        line = " ".join(line.split())
        if parts and not (_WIDE.match(line) and _WIDE.match(parts[-1][-1:])):
            parts.append(" ")
        parts.append(line)
    return "".join(parts)


def _split(block: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(block):
        if _is_end(block, end.start(), end.end()):
            yield from _kept(block[start : end.end()])
            start = end.end()
    yield from _kept(block[start:])


def spans(block: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a block stand, without the blanks around them."""
    start = 0
    for end in (
        *(each.end() for each in _END.finditer(block) if _is_end(block, each.start(), each.end())),
        len(block),
    ):
        words = block[start:end].strip()
        if words:
            first = block.index(words, start)
            yield first, first + len(words)
        start = end


def _kept(sentence: str) -> Iterator[str]:
    sentence = sentence.strip()
    if any(map(str.isalnum, sentence)):
        yield sentence


def _is_end(block: str, mark: int, after: int) -> bool:
    following = block[after : after + _WORD_REACH].lstrip()[:1]
    is_closed = block[after - 1] not in ".!?…。！？｡"
    if following.islower() and (is_closed or block[mark] == "…" or block.startswith("..", mark)):
        return False
    if block[mark] != "." or block[mark : mark + 2] in ("..", ".!", ".?"):
        return True
    word = _LAST_WORD.search(block[max(0, mark - _WORD_REACH) : mark])
    if word is None:
        return True
    last = word[0].lower()
    if is_short_form(last, following) or (len(last) == 1 and last.isalpha() and word[0] != "I"):
        # An abbreviation ends a sentence all the same when nothing can follow it in one.
        return last in ("etc", "usw", "a.m", "p.m", "u.s", "u.k", "inc", "ltd") and following.isupper()
    return not (last.isdigit() and len(last) < 3 and _AFTER_ORDINAL.match(block, after))


# --- what a sentence is ----------------------------------------------------------------

_QUOTED = lazy(
    r"\"[^\"]{1,400}\"|“[^”]{1,400}”|„[^“”]{1,400}[“”]|«[^»]{1,400}»|「[^」]{1,400}」|『[^』]{1,400}』|`[^`]{1,400}`"
    r"|(?<!\w)'[^']{1,400}'(?!\w)"
)
_ASKS = lazy(rf"[?？][{_CLOSERS}」』）\s.]*\Z|(?:ですか|ますか|でしょうか|吗|嗎)[。.\s]*\Z")


_SPACES = lazy(r"[\s,.!…，。！、]+")


@cache
def _cue(name: str) -> re.Pattern[str]:
    """Return a pattern of `sentences.txt`."""
    return lazy(read_pattern("sentences", name))


@cache
def _cue_words(name: str) -> frozenset[str]:
    return frozenset(read_words("sentences", name))


def own_words(sentence: str) -> str:
    """Without what is quoted, in one case, with one apostrophe."""
    return _QUOTED.sub('""', sentence[:CHECKED].replace("’", "'")).lower()


def is_question(sentence: str) -> bool:
    return bool(_ASKS.search(sentence[-60:]))


def is_decision(sentence: str, *, by_user: bool = True) -> bool:
    """Something was settled. What an assistant says it will do itself is its next step, no decision."""
    if is_question(sentence):
        return False
    words = own_words(sentence)
    if _cue("supposes").search(words) or _cue("reports").search(words):
        return False
    return bool(_cue("decides").search(words) or (by_user and _cue("user decides").search(words)))


def is_constraint(sentence: str) -> bool:
    """A rule for what comes: never, always, must not. A condition does not make it less of one."""
    words = own_words(sentence)
    if is_question(sentence):
        return bool(_cue("polite").search(words))
    if _cue("reports").search(words) or words.startswith(("what if", "suppose", "imagine")):
        return False
    return bool(_cue("constrains").search(words)) and not _cue("forgets").search(words)


@lru_cache(256)
def is_task(sentence: str) -> bool:
    """Work that is left."""
    if is_question(sentence):
        return False
    words = own_words(sentence)
    return bool(_cue("tasks").search(words)) and not _cue("nothing left").search(words)


def is_intention(sentence: str) -> bool:
    """The speaker says what he does next."""
    return not is_question(sentence) and bool(_cue("intends").search(own_words(sentence)))


def is_conclusion(sentence: str) -> bool:
    """It says what came out, or why."""
    return bool(_cue("concludes").search(own_words(sentence)))


def is_filler(sentence: str) -> bool:
    """An assistant's courtesy, or its asking for what it was then told."""
    return bool(_cue("fills").search(own_words(sentence)))


def is_phatic(sentence: str) -> bool:
    """Only a greeting or thanks: nothing is lost with it."""
    words = set(_SPACES.split(sentence[:120].lower().replace("’", "'"))) - {""}
    greetings, beside = _cue_words("greetings"), _cue_words("beside greetings")
    return len(sentence) < 120 and not words.isdisjoint(greetings) and words <= greetings | beside


# How work ends in talk: what was asked for, what is done, what was learnt; and which open task a sentence
# closes.


def is_done(sentence: str) -> bool:
    """It says that something is finished now; not that it will be, or is not yet."""
    if is_question(sentence) or is_task(sentence):
        return False
    words = own_words(sentence)
    return bool(_cue("finished").search(words)) and not _cue("undone").search(words)


def is_lesson(sentence: str) -> bool:
    """It says what was learnt, or why something was so."""
    return not is_question(sentence) and bool(_cue("learnt").search(own_words(sentence)))


def is_sure_lesson(sentence: str) -> bool:
    """It says so in as many words."""
    return bool(_cue("sure lesson").search(own_words(sentence)))


def is_request(sentence: str) -> bool:
    """Somebody is asked to do something."""
    return bool(_cue("asked").search(own_words(sentence)))


def is_fault(sentence: str) -> bool:
    """It tells of something that does not work."""
    return bool(_cue("fault").search(own_words(sentence)))


# --- which task ------------------------------------------------------------------------

_WORD = lazy(r"[^\W_][\w'-]*")
_UNSPACED_RUN = lazy(r"[\u3041-\u30ff\u3400-\u9fff]{2,}", in_ascii=NEVER)
_SHARE = 0.75
"""So much of a task's own words must be named by what closes it."""


def content(text: str) -> frozenset[str]:
    """The words that say what it is about: without their endings; pairs of characters where there are no spaces."""
    lowered = own_words(text)
    wide = {run[place : place + 2] for run in _UNSPACED_RUN.findall(lowered) for place in range(len(run) - 1)}
    words = {word for word in _WORD.findall(lowered) if word.isascii() or word < "\u3000"}
    kept = {
        _stem(word) for word in words if (len(word) > 2 or word.isdigit()) and word not in _cue_words("cues")
    }
    return frozenset(kept | (wide - _cue_words("wide cues")))


def _stem(word: str) -> str:
    for ending in ("'s", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word[: -len(ending)]
    return word


def closes(done: frozenset[str], task: frozenset[str]) -> bool:
    """Whether a sentence about `done` is about a task of these words."""
    return bool(task) and len(task & done) >= _SHARE * len(task)
