"""Excerpts: a text shortened around its matches, and the best of several texts within a token budget.

An excerpt is made of pieces of the text, word for word and in order, with "…" where something is left out. It never
exceeds the limit by the caller's counter, which may be any, even one for which two texts together cost more or less
than each of them. Cuts never fall inside what a reader sees as one character.
"""

from __future__ import annotations

import re
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence


# --- characters as a reader sees them: letters with marks, joined emoji, flags, syllables ---

_JOINER = "\u200d"


def floor(text: str, at: int) -> int:
    """Return the last place up to `at` that is not inside a character as a reader sees it."""
    while 0 < at < len(text) and not _is_bound(text, at):
        at -= 1
    return at


def ceil(text: str, at: int) -> int:
    """Return the first such place from `at` on."""
    while 0 < at < len(text) and not _is_bound(text, at):
        at += 1
    return at


def is_whole(character: str) -> bool:
    return not _is_extending(character) and character != _JOINER and not "\ud800" <= character <= "\udfff"


def _is_bound(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return (before, after) != ("\r", "\n")
    if _is_extending(after) or before == _JOINER:
        return False
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff":
        return _count_flags_before(text, at) % 2 == 0
    if "\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff":
        return False  # the letters of one Korean syllable
    if "\uac00" <= before <= "\ud7a3" and "\u1160" <= after <= "\u11ff":
        return False
    if not ("\u0900" <= before <= "\u1cff" and after.isalpha()):
        return True
    from unicodedata import combining

    return combining(before) != _VIRAMA


def _count_flags_before(text: str, at: int) -> int:
    """Return the number of flag letters that end at a place: two make one flag."""
    start = at
    while start > 0 and "\U0001f1e6" <= text[start - 1] <= "\U0001f1ff":
        start -= 1
    return at - start


def _is_extending(character: str) -> bool:
    """Return whether a character belongs to the one before it."""
    if character < "\u0300":
        return False
    if character in "\u200c\u200d\u0e33\u0eb3" or "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    if "\U000e0020" <= character <= "\U000e007f":
        return True
    from unicodedata import category

    return category(character)[0] == "M"


_VIRAMA = 9
"""The combining class of the sign that joins two consonants."""


if TYPE_CHECKING:
    Count = Callable[[str], int]
    Wanted = Callable[[str], bool] | Collection[str]
    Hit = tuple[int, int, str]


LEAST = 24
"""Tokens below which an excerpt is too short to be useful."""

_SHARE = 3
_WINDOWS = 4
_TRIES = 12
_LONGEST_WORD = 24
"""Characters searched for the end of a word; longer words are cut anywhere."""
_LONGEST_SENTENCE = 400
_MOST_WORDS = 64
"""Words of unspaced scripts to look for, each by its own search."""

_JOIN = "\n\n"
_LEFT_OUT = "…"


def excerpt(text: str, wanted: Wanted, limit: int, count: Count) -> str:
    """Return `text` in at most `limit` tokens: whole if it fits, else the pieces around most of the matched words.

    `wanted` tests a word, or holds the matching words, in any case; in scripts without spaces it gets each pair of
    characters. The excerpt is never empty if one character fits the limit.
    """
    if limit < 1 or not text.strip():
        return ""
    tokens = count(text)
    if tokens <= limit:
        return text
    hits = list(_find_hits(text, wanted))
    room = max(1, len(text) * limit // tokens)
    for _ in range(_TRIES):
        made = _join_pieces(text, _choose_windows(text, hits, room))
        cost = count(made)
        if cost <= limit:
            return made
        room = min(room - 1, room * limit * 9 // (cost * 10))
        if room < 1:
            break
    return _shortest_excerpt(text, hits, limit, count)


def pack(
    texts: Sequence[str], budget: int, count: Count, shorten: Callable[[str, int], str]
) -> list[tuple[int, str]]:
    """Return which of `texts`, the best first, fit `budget` tokens, and how: index and text, in order.

    A text that does not fit is shortened (`shorten(text, limit)`), to a third of the room while others wait, and grows
    again if room is left over. The result never costs more than `budget`, counted as one text with blank lines
    between.
    """
    chosen: list[tuple[int, str]] = []

    def fits(shown: str) -> bool:
        return bool(shown.strip()) and count(_join_texts([*chosen, (0, shown)])) <= budget

    def fit(text: str, room: int, *, waits: bool) -> str:
        """Return a text, whole or shortened, so that it fits next to the chosen ones; empty if it cannot."""
        if count(text) <= room and fits(text):
            return text
        if chosen and room < LEAST:
            return ""
        limit = min(room, max(LEAST, room // _SHARE)) if waits else room
        while limit >= (LEAST // 2 if chosen else 1):
            shown = shorten(text, limit)
            if fits(shown):
                return shown
            limit = limit * 3 // 4
        shown = excerpt(text, (), budget, count) if not chosen else ""
        return shown if fits(shown) else ""

    whole = [index for index, text in enumerate(texts) if text.strip()]
    used = 0
    for index in whole:
        if chosen and used >= budget:
            break
        if fitted := fit(texts[index], budget - used, waits=index < whole[-1]):
            chosen.append((index, fitted))
            used = count(_join_texts(chosen))
    for place, (index, shown) in enumerate(chosen):  # lengthen the shortened ones, the best first
        if shown == texts[index]:
            continue
        left = budget - count(_join_texts(chosen))
        if left < 1:
            break
        for more in (left, left * 3 // 4):
            longer = shorten(texts[index], count(shown) + more)
            tried = [*chosen[:place], (index, longer), *chosen[place + 1 :]]
            if len(longer) > len(shown) and count(_join_texts(tried)) <= budget:
                chosen[place] = index, longer
                break
    return chosen


def _join_texts(chosen: Iterable[tuple[int, str]]) -> str:
    return _JOIN.join(text for _, text in chosen)


# --- matches ----------------------------------------------------------------------

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)


@lru_cache(maxsize=2)
def _word_patterns(is_ascii: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns for words and for unspaced scripts. Compiled on use: slow, and most texts need none."""
    if is_ascii:
        return re.compile(r"[A-Za-z0-9_]+"), re.compile(r"(?!)")
    return re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+"), re.compile(f"[{_UNSPACED}]")


def _is_unspaced(character: str) -> bool:
    return not character.isascii() and _word_patterns(False)[1].match(character) is not None


def _find_hits(text: str, wanted: Wanted) -> Iterator[Hit]:
    """Yield the places of matched words, in order, each with the key it counts under."""
    if not callable(wanted):
        yield from _find_words(text, {word.casefold() for word in wanted if word})
        return
    known: dict[str, bool] = {}
    words, unspaced = _word_patterns(text.isascii())
    for match in words.finditer(text):
        start, end = match.span()
        if unspaced.match(text, start) and end - start > 2:
            spans = [(at, at + 2) for at in range(start, end - 1)]
        else:
            spans = [(start, end)]
        for first, last in spans:
            word = text[first:last]
            if word not in known:
                known[word] = wanted(word)
            if known[word]:
                yield first, last, word.casefold()


def _find_words(text: str, wanted: set[str]) -> Iterator[Hit]:
    wide = sorted(word for word in wanted if _word_patterns(word.isascii())[1].search(word))[:_MOST_WORDS]
    found = [
        (match.start(), match.end(), match[0].casefold())
        for match in _word_patterns(text.isascii())[0].finditer(text)
        if match[0].casefold() in wanted
    ]
    for word in wide:
        at = text.find(word)
        while at >= 0:
            found.append((at, at + len(word), word))
            at = text.find(word, at + len(word))
    yield from sorted(set(found))


# --- windows ---------------------------------------------------------------------------


def _choose_windows(text: str, hits: Sequence[Hit], room: int) -> list[tuple[int, int]]:
    """Return pieces of about `room` characters in all: first the one with most matched words, then those for the
    rest."""
    seen: set[str] = set()
    cores: list[tuple[int, int]] = []
    left = room
    while len(cores) < _WINDOWS and left > 0:
        core = _find_core([hit for hit in hits if hit[2] not in seen], left)
        if core is None:
            break
        cores.append(core)
        seen |= {key for start, end, key in hits if core[0] <= start and end <= core[1]}
        left -= core[1] - core[0] + len(f" {_LEFT_OUT} ")
    if not cores:
        cores, left = [(0, 0)], room
    for widen in (_widen_to_sentence, _widen_around):
        for place, core in enumerate(cores):
            wider = widen(text, core, max(left, 0) if place == len(cores) - 1 else max(left, 0) // 2)
            left -= core[0] - wider[0] + wider[1] - core[1]
            cores[place] = wider
    return _merge_pieces(text, cores)


def _find_core(hits: Sequence[Hit], room: int) -> tuple[int, int] | None:
    """Return the stretch of at most `room` characters with most different words; of several the shortest, then the
    first."""
    best: tuple[int, int, int] | None = None
    inside: dict[str, int] = {}
    first = 0
    for start, end, key in hits:
        inside[key] = inside.get(key, 0) + 1
        while (
            first < len(hits)
            and hits[first][0] < start
            and (end - hits[first][0] > room or inside[hits[first][2]] > 1)
        ):
            inside[hits[first][2]] -= 1
            if not inside[hits[first][2]]:
                del inside[hits[first][2]]
            first += 1
        found = (-len(inside), end - hits[first][0], hits[first][0])
        if best is None or found < best:
            best = found
    return None if best is None else (best[2], best[2] + best[1])


_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*\s|[。！？]|\n")


def _widen_to_sentence(text: str, core: tuple[int, int], room: int) -> tuple[int, int]:
    """Widen `core` to the ends of its sentences, as far as room allows."""
    start, end = core
    from_here = max(0, start - min(room, _LONGEST_SENTENCE))
    starts = [match.end() for match in _SENTENCE_END.finditer(text, from_here, start)]
    begin = starts[-1] if starts else 0 if from_here == 0 else start
    room -= start - begin
    after = _SENTENCE_END.search(
        text, max(begin, end - 1), min(len(text), end + min(max(room, 0), _LONGEST_SENTENCE))
    )
    finish = max(after.end(), end) if after else len(text) if len(text) - end <= room else end
    return begin, finish


def _widen_around(text: str, core: tuple[int, int], room: int) -> tuple[int, int]:
    """Widen `core` as far as room allows: the sentences after it, and those that led to it."""
    start, end = core
    is_begin = _is_sentence_start(text, start)
    begin = max(0, start - (0 if is_begin else room // 3))
    finish = min(len(text), end + room - (start - begin))
    begin = max(0, start - (room - (finish - end)))
    if is_begin and begin > 0:
        # No fragment of a sentence before a whole one.
        after = _SENTENCE_END.search(text, begin, start)
        begin = after.end() if after else start
    return _word_start(text, begin, start), _word_end(text, finish, end)


def _is_sentence_start(text: str, at: int) -> bool:
    ends = list(_SENTENCE_END.finditer(text, max(0, at - 4), at))
    return not at or (bool(ends) and not text[ends[-1].end() : at].strip())


def _merge_pieces(text: str, pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort the pieces, align them to whole characters, and join those with at most blanks between."""
    made: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        start, end = floor(text, start), ceil(text, end)
        if made and not text[made[-1][1] : start].strip():
            made[-1] = made[-1][0], max(made[-1][1], end)
        else:
            made.append((start, end))
    return made


def _word_start(text: str, at: int, latest: int) -> int:
    """Return the first start of a word from `at` on; `at` itself if none is near, or in a script without spaces."""
    if at == 0 or text[at - 1].isspace() or at >= latest:
        return at
    for place in range(at, min(latest, at + _LONGEST_WORD)):
        if text[place].isspace():
            return place + 1
        if _is_unspaced(text[place : place + 1]):
            return place
    return latest if latest <= at + _LONGEST_WORD else at


def _word_end(text: str, at: int, earliest: int) -> int:
    if at >= len(text) or text[at].isspace() or at <= earliest:
        return at
    for place in range(at, max(earliest, at - _LONGEST_WORD), -1):
        if text[place - 1].isspace():
            return place - 1
        if _is_unspaced(text[place - 1 : place]):
            return place
    return earliest if earliest >= at - _LONGEST_WORD else at


def _join_pieces(text: str, pieces: Sequence[tuple[int, int]]) -> str:
    """Return the pieces with "…" where something is left out: after a blank, or close to a word that is cut."""
    made: list[str] = []
    end = 0
    for start, stop in pieces:
        piece = text[start:stop]
        if not piece.strip():
            continue
        if text[end:start].strip():
            made.append(" …" if made else "…")
            made.append("" if _is_cut(text, start) and not made[:-1] else " ")
        made.append(piece.strip())
        end = stop
    if text[end:].strip():
        made.append("…" if _is_cut(text, end) else " …")
    return "".join(made)


def _is_cut(text: str, at: int) -> bool:
    return 0 < at < len(text) and not text[at - 1].isspace() and not text[at].isspace()


def _shortest_excerpt(text: str, hits: Sequence[Hit], limit: int, count: Count) -> str:
    """Return as much as fits of the first matched word, or of the first word: at least one character."""
    start = floor(text, hits[0][0]) if hits else len(text) - len(text.lstrip())
    end = _word_end(text, min(len(text), start + _LONGEST_WORD), start)
    end = end if end > start else min(len(text), start + _LONGEST_WORD)
    for mark in (_LEFT_OUT, ""):
        stop = floor(text, end)
        while stop > start:
            shown = f"{text[start:stop].rstrip()}{mark if text[stop:].strip() else ''}"
            if count(shown) <= limit:
                return shown
            stop = floor(text, stop - 1)
    for shown in (*dict.fromkeys(text[:_LONGEST_SENTENCE]), _LEFT_OUT):
        if shown.strip() and is_whole(shown) and count(shown) <= limit:
            return shown
    return ""
