"""Whose words a message holds: what the user wrote, and what was pasted or quoted.

One filter for all that is learned from a message: facts, decisions, tasks, goals, episodes, evidence. It reads line
by line, in linear time. Code, logs, mails, talk of others and texts to work on are not the user's words. After such a
text the message may return to the user's own words: that part is a zone of its own, `after`."""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.base.immutable import frozen
from looseleaf.language.tables import pattern_of, word_set
from looseleaf.text.elements import elements_in, fences_in
from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    ZoneName = Literal["own", "loose", "after"]

READ_CHARS = (20_000, 4_000)
"""How much of a longer message to read at its beginning and end: no one typed the rest."""

_WORDS_OF_ANOTHER = 4
"""At least this many words in quotation marks are someone else's; fewer are a name."""

_LOOSE_LINES = 4
"""A message with more lines may be a pasted text as a whole."""

_I = re.IGNORECASE


@frozen
class Zone:
    """A stretch of a message from `start` to `end`. `own`: written for it; `loose`: one of many lines without a sign
    of their author; `after`: after a lead-in or a pasted text, where only a reader of sentences can tell."""

    start: int
    end: int
    name: ZoneName


# --- lines that no one writes to an assistant ------------------------------------------

_HARD = pattern_of("own_words", "hard")
_INDENTED = lazy(r"(?: {4,}+|\t++)(?![ \t]*(?:[-*+•]|[0-9]{1,3}[.)])[ \t])\S")
_CHANGED = lazy(r"[+-](?![+-])\s*\S")
_HEADER = pattern_of("own_words", "header", _I)
_MAIL = pattern_of("own_words", "mail", _I)
_SPEAKER = pattern_of("own_words", "speaker", _I)
_NO_SPEAKER = pattern_of("own_words", "no speaker", _I)
_OF_SELF = pattern_of("own_words", "of self")
"""A speaker named before a colon, in the first person: a line of talk, even if it is the only one."""
_GREETING = pattern_of("own_words", "greeting", _I)
_CLOSING = pattern_of("own_words", "closing", _I)

_LETTER = pattern_of("own_words", "letter")
"""The salutation of a letter, with text after it on the line."""

# --- lines that bring a text -----------------------------------------------------------

_WORKS_ON = pattern_of("own_words", "works on", _I)
_BRING = pattern_of("own_words", "bring", _I)
_COLON = lazy(r"[:：]\s*\Z")
_OF_MINE = pattern_of("own_words", "of mine", _I)
"""A line that ends in a colon and brings the user's own list: "my setup:"."""
_INLINE = pattern_of("own_words", "inline", _I)
"""The rest of its line is someone else's, or a text to work on; and so may be all that follows."""
_HOW_TO_SAY = pattern_of("own_words", "how to say", _I)
_ASKS_ABOUT = pattern_of("own_words", "asks about", _I)
"""A line that refers to a text: to the message before it, if that asked for nothing."""
_SENTENCE_END = lazy(r"[.!…](?=\s)|[。！]")
_QUOTED = pattern_of("own_words", "quoted")
_WORD = lazy(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+", in_ascii=r"[^\W_]+")
_MARKS = frozenset("\"'`“„«»‚‹‘「『")
"""Characters that can open a quotation."""
_INSIDE = lazy(r"[^\n]")
_RECALLED = lazy(r"[ \t]*<(/?)(?:recalled|memory|memories|looseleaf)[\w-]*[^<>\n]{0,200}>[ \t]*\Z", _I)


class _Lines:
    """Properties of a message's lines, known before they are read one by one."""

    def __init__(self, lines: list[str]) -> None:
        self.count = sum(1 for line in lines if line.strip())
        has_colon = any(":" in line or "：" in line for line in lines)
        self.headers = sum(_HEADER.match(line) is not None for line in lines) if has_colon else 0
        self.is_mail = self.headers > 0 and any(_MAIL.match(line) for line in lines)
        self.talk = self._find_speakers(lines) if has_colon else frozenset()
        self.last = max((at for at, line in enumerate(lines) if line.strip()), default=-1)
        closing = (at for at, line in enumerate(lines) if _CLOSING.match(line))
        self.last_closing = max(closing, default=-1) if self.count > 2 or self.is_mail else -1
        self.is_letter = self.count > 2 and self.last_closing >= 0
        self.is_diff = any(line.startswith(("diff --git", "@@ ", "+++ ")) for line in lines)
        self.is_asked_about = self._is_asked_about(lines[: self.last + 1])

    @staticmethod
    def _is_asked_about(lines: list[str]) -> bool:
        """Return whether the last paragraph is about the text before it, which asked for nothing."""
        at = next((at for at in range(len(lines) - 1, 0, -1) if not lines[at].strip()), None)
        before = lines[: len(lines) - 1 if at is None else at]
        if any("?" in line or "？" in line or _WORKS_ON.search(line) for line in before):
            return False
        asked = " ".join(lines[len(before) :])
        is_text = at is not None and len(_SENTENCE_END.findall(" ".join(before))) > 1
        return bool(before) and (
            _ASKS_ABOUT.search(asked) is not None or (is_text and "?" in asked.replace("？", "?"))
        )

    @staticmethod
    def _find_speakers(lines: list[str]) -> frozenset[int]:
        """Return the lines that name a speaker, if there are several."""
        spoken = [at for at, line in enumerate(lines) if _SPEAKER.match(line) and not _is_heading(line)]
        return frozenset(spoken if len(spoken) > 1 else [at for at in spoken if _OF_SELF.match(lines[at])])


def _is_heading(line: str) -> bool:
    """Return whether the words before a colon announce what follows, and are no speaker."""
    from looseleaf.language.relations import SYNONYMS

    label = line.partition(":")[0].strip(" \t*").casefold()
    return (
        _NO_SPEAKER.match(line) is not None
        or label in SYNONYMS
        or label.split(" ")[0] in word_set("own_words", "headings")
    )


@lru_cache(256)
def own_zones(text: str) -> tuple[Zone, ...]:
    """Return the stretches of a message that are, or may be, the user's. `masked` removes quotes within them."""
    text = mask_quotes(text)
    first, last = READ_CHARS
    if len(text) <= first + last:
        return tuple(_split_zones(text, 0))
    end = text.find("\n", len(text) - last) + 1 or len(text)
    # No one types this much: the end may be the user's question, but it comes after pasted text.
    tail = (Zone(each.start, each.end, "after") for each in _split_zones(text[end:], end))
    return (*_split_zones(text[:first], 0), *tail)


_MEMORY = lazy(r"\[MEMORY:[A-Z]+\][ \t]*(?:\r?\n|\Z)[\s\S]*")
"""A prompt of a memory, whose end is unknown."""


@lru_cache(256)
def mask_quotes(text: str) -> str:
    """Return the message at the same length, with blanks for quotations that are more than a name, and for what stands
    between marks: elements, fences, a prompt of a memory."""
    for spans in (fences_in(text), elements_in(text)):
        kept, at = [], 0
        for start, end, _ in spans:
            kept += [text[at:start], _INSIDE.sub(" ", text[start:end])]
            at = end
        text = "".join((*kept, text[at:]))
    if "[MEMORY:" in text:
        text = _MEMORY.sub(lambda found: _INSIDE.sub(" ", found[0]), text)
    if len(text) > sum(READ_CHARS):
        return _mask(text[: READ_CHARS[0]]) + text[READ_CHARS[0] :]
    return _mask(text)


def _mask(text: str) -> str:
    def blank(found: re.Match[str]) -> str:
        if len(_WORD.findall(found[0])) < _WORDS_OF_ANOTHER:
            return found[0]
        return found[0][0] + _INSIDE.sub(" ", found[0][1:-1]) + found[0][-1]

    return text if _MARKS.isdisjoint(text) else _QUOTED.sub(blank, text)


def _split_zones(text: str, offset: int) -> Iterator[Zone]:
    lines = text.splitlines(keepends=True)
    known = _Lines(lines)
    name: ZoneName = "loose" if known.count > _LOOSE_LINES else "own"
    fence, is_recalled, is_mail, opened_by = "", False, False, False
    at = offset
    for place, line in enumerate(lines):
        start, at = at, at + len(line)
        bare = line.strip()
        mark = _RECALLED.match(line.rstrip("\r\n")) if "<" in line else None
        if mark:
            is_recalled = not mark[1]
            continue
        opened = bare[:3] if bare.startswith(("```", "~~~")) else ""
        if opened and fence in ("", opened):
            fence = "" if fence else opened
            continue
        if not bare and not fence and name != "after" and opened_by:
            name = "after"  # a paragraph after a request may be its subject
        if not bare or fence or is_recalled:
            continue
        if is_mail and not _CLOSING.match(line):
            continue
        if is_mail:
            is_mail, name = False, "after"
            continue
        has_more = place < known.last
        has_header = known.is_mail and (_MAIL.match(line) or (known.headers > 1 and _HEADER.match(line)))
        is_letter = known.is_letter and place > 0 and _GREETING.match(line)
        if has_header or is_letter:
            is_mail = place < known.last_closing
            name = "after"
            continue
        if has_more and _LETTER.match(line):
            name = "after"
            continue
        if place in known.talk or _HARD.match(line) or (known.is_diff and _CHANGED.match(line)):
            name = "after" if place in known.talk or bare.startswith("#") or name == "after" else name
            continue
        if known.count > 1 and _INDENTED.match(line):
            continue
        opened_by = True
        is_text = name == "own" and known.is_asked_about and has_more
        yield from _split_line(line, start, "loose" if is_text else name)
        if has_more and (_find_inline(line) or _WORKS_ON.search(line) or _brings_text(line)):
            name = "after"


def _find_inline(text: str) -> re.Match[str] | None:
    return _INLINE.search(text) if ":" in text or "：" in text else None


def _brings_text(line: str) -> bool:
    """Return whether another text may follow a line."""
    return _BRING.search(line) is not None or (
        _COLON.search(line) is not None and _OF_MINE.search(line) is None
    )


def _split_line(line: str, start: int, name: ZoneName) -> Iterator[Zone]:
    """Yield a line up to where it brings another text, and the rest if that text is quoted."""
    inline = _find_inline(line)
    asks = _HOW_TO_SAY.search(line, 0, inline.end() if inline else len(line))
    if asks:
        yield Zone(start, start + asks.start(), name)
    elif inline is None:
        yield Zone(start, start + len(line), name)
    else:
        yield Zone(start, start + inline.end(), name)
        blank = _BLANK.match(line, inline.end())
        if blank:
            yield Zone(start + blank.end(), start + len(line), name)


_BLANK = lazy(r"\s*[\"“„«「『'‘]\s{8,}[\"“”»」』'’]")
"""A quotation, as `masked` leaves it."""


_ON_LANGUAGE = pattern_of("own_words", "on language", _I)


def works_on_language(text: str) -> bool:
    """Return whether a message asks for work on the wording of a text."""
    return _ON_LANGUAGE.search(text[:2000]) is not None


def speaks_of_text(text: str) -> bool:
    """Return whether a message asks for work on a text, brings one, or has lines that no one writes to an assistant."""
    text = text[:2000]
    if _WORKS_ON.search(text) is not None or _find_inline(text) is not None:
        return True
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return False
    known = _Lines(lines)
    is_odd = known.is_mail or known.is_diff or bool(known.talk) or known.is_asked_about
    return is_odd or any(map(_brings_text, lines[:-1])) or any(_HARD.match(line) for line in lines)


_PASTED = "\n·\n"


@lru_cache(64)
def strip_pasted(text: str) -> str:
    """Return a message without text that was, or may have been, pasted."""
    kept: list[str] = []
    end = 0
    found, text = own_zones(text), mask_quotes(text)
    for zone in found:
        if zone.name == "after":
            continue
        if kept and text[end : zone.start].strip():
            kept.append(_PASTED)
        kept.append(text[zone.start : zone.end])
        end = zone.end
    return "".join(kept)
