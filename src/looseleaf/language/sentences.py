"""Text → sentences, and the kind of a sentence: a decision, a constraint, an open task, a question, an intention.

Code and quoted lines are separate: code is no sentence, and a quote is not the speaker's statement. Time is linear in
the text. The cues are patterns in six languages (`sentences.txt`); they miss other wordings, and a sentence that only
asks, supposes or quotes does not count.
"""

from __future__ import annotations

from functools import lru_cache, partial

from looseleaf.base.immutable import frozen
from looseleaf.language.tables import pattern_of, word_set
from looseleaf.text.lines import NEVER, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    PieceKind = Literal["sentence", "quote", "code"]


CHECKED = 2000
"""Characters of a sentence that the detectors read. People write no longer ones."""

# --- splitting -------------------------------------------------------------------------


@frozen
class SentencePart:
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
# A run of marks is read once, from its start: otherwise a line of dots would take quadratic time.
_END = lazy(rf"(?<![.!?…])[.!?…]++[{_CLOSERS}]*+(?=\s)|[。！？｡]++[」』”’）\"]*+")
_LAST_WORD = lazy(r"[\w.]+\Z")
_WORD_REACH = 24


def is_short_form(word: str, following: str) -> bool:
    """Return whether the full stop after a word belongs to it. "No. 5" is a number; "no. use pnpm" is two sentences."""
    return word in _words_of("short forms") and (word != "no" or following.strip()[:1].isdigit())


_AFTER_ORDINAL = lazy(
    r"\s+(?:(?i:jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec|jahrhundert)|[a-zäöü])"
)
_FULL = 50
_WIDE = lazy(r"[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]", in_ascii=NEVER)


def pieces(text: str) -> Iterator[SentencePart]:
    """Yield sentences, quoted sentences and blocks of code, in order."""
    for kind, block in _split_blocks(text):
        if kind == "code":
            yield SentencePart(block, "code")
        else:
            for start, end in spans(block):
                if any(map(str.isalnum, block[start:end])):
                    yield SentencePart(block[start:end], kind)


def sentences(text: str) -> list[str]:
    """Return the sentences that are the writer's own: no code, no quoted lines."""
    return [piece.text for piece in pieces(text) if piece.kind == "sentence"]


def _split_blocks(text: str) -> Iterator[tuple[PieceKind, str]]:
    """Yield paragraphs, list items, headings and rows, each on one line; code whole."""
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
            yield kind, _join_lines(paragraph)
            paragraph = []
        kind = line_kind
        if opening:
            fence = opening[1]
        elif not is_rule:
            paragraph.append(body[start.end() :] if start else body)
            if is_alone or _ends_thought(body):
                yield kind, _join_lines(paragraph)
                paragraph = []
    if paragraph:
        yield kind, _join_lines(paragraph)
    if code:
        yield "code", "\n".join(code)


def _ends_thought(line: str) -> bool:
    """Return whether a line ends with a thought: people break lines there, programs where a line is full."""
    return len(line) < (_FULL // 2 if _WIDE.search(line) else _FULL) and line.rstrip()[-1:] not in ",;-，、；"


def _join_lines(lines: list[str]) -> str:
    parts: list[str] = []
    for line in lines:
        line = " ".join(line.split())
        if parts and not (_WIDE.match(line) and _WIDE.match(parts[-1][-1:])):
            parts.append(" ")
        parts.append(line)
    return "".join(parts)


def spans(block: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the sentences of a block, without surrounding blanks."""
    start = 0
    ends = [found.end() for found in _END.finditer(block) if _is_end(block, found.start(), found.end())]
    for end in (*ends, len(block)):
        words = block[start:end].strip()
        if words:
            first = block.index(words, start)
            yield first, first + len(words)
        start = end


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
        # An abbreviation still ends a sentence when nothing can follow it in one.
        return last in ("etc", "usw", "a.m", "p.m", "u.s", "u.k", "inc", "ltd") and following.isupper()
    return not (last.isdigit() and len(last) < 3 and _AFTER_ORDINAL.match(block, after))


# --- kinds of sentences ----------------------------------------------------------------

_QUOTED = lazy(
    r"\"[^\"]{1,400}\"|“[^”]{1,400}”|„[^“”]{1,400}[“”]|«[^»]{1,400}»|「[^」]{1,400}」|『[^』]{1,400}』|`[^`]{1,400}`"
    r"|(?<!\w)'[^']{1,400}'(?!\w)"
)
_ASKS = lazy(rf"[?？][{_CLOSERS}」』）\s.]*\Z|(?:ですか|ますか|でしょうか|吗|嗎)[。.\s]*\Z")
_SPACES = lazy(r"[\s,.!…，。！、]+")


_cue = partial(pattern_of, "sentences")
_words_of = partial(word_set, "sentences")


def without_quotes(sentence: str) -> str:
    """Return the sentence without quotes, in lower case, with one apostrophe."""
    return _QUOTED.sub('""', sentence[:CHECKED].replace("’", "'")).lower()


def is_question(sentence: str) -> bool:
    return bool(_ASKS.search(sentence[-60:]))


def is_decision(sentence: str, *, by_user: bool = True) -> bool:
    """Return whether something was settled. What an assistant will do itself is a next step, no decision."""
    if is_question(sentence):
        return False
    words = without_quotes(sentence)
    if _cue("supposes").search(words) or _cue("reports").search(words):
        return False
    return bool(_cue("decides").search(words) or (by_user and _cue("user decides").search(words)))


def is_constraint(sentence: str) -> bool:
    """Return whether it is a rule for the future: never, always, must not. A condition makes it no less of one."""
    words = without_quotes(sentence)
    if is_question(sentence):
        return bool(_cue("polite").search(words))
    if _cue("reports").search(words) or words.startswith(("what if", "suppose", "imagine")):
        return False
    return bool(_cue("constrains").search(words)) and not _cue("forgets").search(words)


@lru_cache(256)
def is_task(sentence: str) -> bool:
    """Return whether it names open work."""
    if is_question(sentence):
        return False
    words = without_quotes(sentence)
    return bool(_cue("tasks").search(words)) and not _cue("nothing left").search(words)


def is_intention(sentence: str) -> bool:
    """Return whether the speaker says what they do next."""
    return not is_question(sentence) and bool(_cue("intends").search(without_quotes(sentence)))


def is_conclusion(sentence: str) -> bool:
    """Return whether it states a result, or a reason."""
    return bool(_cue("concludes").search(without_quotes(sentence)))


def is_filler(sentence: str) -> bool:
    """Return whether it is an assistant's courtesy, or its request for details."""
    return bool(_cue("fills").search(without_quotes(sentence)))


def is_phatic(sentence: str) -> bool:
    """Return whether it is only a greeting or thanks."""
    words = set(_SPACES.split(sentence[:120].lower().replace("’", "'"))) - {""}
    greetings, beside = _words_of("greetings"), _words_of("beside greetings")
    return len(sentence) < 120 and not words.isdisjoint(greetings) and words <= greetings | beside


# --- how work ends: requests, results, lessons; and which open task a sentence closes ---


def is_done(sentence: str) -> bool:
    """Return whether something is finished now; not that it will be, or is not yet."""
    if is_question(sentence) or is_task(sentence):
        return False
    words = without_quotes(sentence)
    return bool(_cue("finished").search(words)) and not _cue("undone").search(words)


def is_lesson(sentence: str) -> bool:
    """Return whether it states a lesson or a cause."""
    return not is_question(sentence) and bool(_cue("learnt").search(without_quotes(sentence)))


def is_sure_lesson(sentence: str) -> bool:
    """Return whether it says explicitly that it is a lesson."""
    return bool(_cue("sure lesson").search(without_quotes(sentence)))


def is_request(sentence: str) -> bool:
    """Return whether it requests an action."""
    return bool(_cue("asked").search(without_quotes(sentence)))


def is_fault(sentence: str) -> bool:
    """Return whether it reports that something does not work."""
    return bool(_cue("fault").search(without_quotes(sentence)))


# --- tasks ------------------------------------------------------------------------

_WORD = lazy(r"[^\W_][\w'-]*")
_UNSPACED_RUN = lazy(r"[\u3041-\u30ff\u3400-\u9fff]{2,}", in_ascii=NEVER)
_SHARE = 0.75
"""The share of a task's own words that a sentence must name to close it."""


def content(text: str) -> frozenset[str]:
    """Return the words of a text's subject, without endings; pairs of characters in scripts without spaces."""
    lowered = without_quotes(text)
    wide = {run[place : place + 2] for run in _UNSPACED_RUN.findall(lowered) for place in range(len(run) - 1)}
    words = {word for word in _WORD.findall(lowered) if word.isascii() or word < "\u3000"}
    kept = {
        _strip_ending(word)
        for word in words
        if (len(word) > 2 or word.isdigit()) and word not in _words_of("cues")
    }
    return frozenset(kept | (wide - _words_of("wide cues")))


def _strip_ending(word: str) -> str:
    for ending in ("'s", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word[: -len(ending)]
    return word


def closes(done: frozenset[str], task: frozenset[str]) -> bool:
    """Return whether a sentence about `done` is about a task of these words."""
    return bool(task) and len(task & done) >= _SHARE * len(task)
