"""A text shortened around what matched, and the best of several texts within a budget of tokens.

What is shown of a text are pieces of it, word for word and in their order, with "…" wherever something is left out.
Never more than the limit, by the counter that the caller gives; that counter may be any, also one for which two texts
together cost more or less than each of them. Nothing is cut inside of what a reader sees as one character.
"""

from __future__ import annotations

import re
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence


# Where one character ends, as a reader sees it: letters with their marks, emoji that are joined, flags,
# syllables.

_JOINER = "\u200d"


def floor(text: str, at: int) -> int:
    """The last place up to `at` that is not inside of a character as a reader sees it."""
    while 0 < at < len(text) and not _is_bound(text, at):
        at -= 1
    return at


def ceil(text: str, at: int) -> int:
    """The first such place from `at` on."""
    while 0 < at < len(text) and not _is_bound(text, at):
        at += 1
    return at


def is_whole(character: str) -> bool:
    return not _extends(character) and character != _JOINER and not "\ud800" <= character <= "\udfff"


def _is_bound(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return (before, after) != ("\r", "\n")
    if _extends(after) or before == _JOINER:
        return False
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff":
        return _flags_before(text, at) % 2 == 0
    if "\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff":
        return False  # the letters of one Korean syllable
    if "\uac00" <= before <= "\ud7a3" and "\u1160" <= after <= "\u11ff":
        return False
    return not ("\u0900" <= before <= "\u1cff" and _is_virama(before) and after.isalpha())


def _flags_before(text: str, at: int) -> int:
    """The letters of flags that end there: two make one flag."""
    start = at
    while start > 0 and "\U0001f1e6" <= text[start - 1] <= "\U0001f1ff":
        start -= 1
    return at - start


def _extends(character: str) -> bool:
    """Whether it belongs to the character before it."""
    if character < "\u0300":
        return False
    if character in "\u200c\u200d\u0e33\u0eb3" or "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    if "\U000e0020" <= character <= "\U000e007f":
        return True
    from unicodedata import category

    return category(character)[0] == "M"


def _is_virama(character: str) -> bool:
    from unicodedata import combining

    return combining(character) == 9


if TYPE_CHECKING:
    Count = Callable[[str], int]
    Wanted = Callable[[str], bool] | Collection[str]
    Hit = tuple[int, int, str]


LEAST = 24
"""Tokens below which a shortened text tells too little to be worth its place."""

_SHARE = 3
_WINDOWS = 4
_TRIES = 12
_LONGEST_WORD = 24
"""Characters that are looked through for the end of a word; what is longer is cut where it must be."""
_LONGEST_SENTENCE = 400
_MOST_WORDS = 64
"""Words of unspaced scripts that are looked for, each by a search of its own."""

_JOIN = "\n\n"
_LEFT_OUT = "…"


def excerpt(text: str, wanted: Wanted, limit: int, count: Count) -> str:
    """`text` in at most `limit` tokens: whole if it fits, else the pieces around most of the words that matched.

    `wanted` says of a word whether it matched, or holds those that did, in any case; in scripts without spaces it is
    asked about each pair of characters. Something is always shown, if one character of it fits the limit.
    """
    if limit < 1 or not text.strip():
        return ""
    tokens = count(text)
    if tokens <= limit:
        return text
    hits = list(_hits(text, wanted))
    room = max(1, len(text) * limit // tokens)
    for _ in range(_TRIES):
        made = _shown(text, _windows(text, hits, room))
        cost = count(made)
        if cost <= limit:
            return made
        room = min(room - 1, room * limit * 9 // (cost * 10))
        if room < 1:
            break
    return _least(text, hits, limit, count)


def pack(
    texts: Sequence[str], budget: int, count: Count, shorten: Callable[[str, int], str]
) -> list[tuple[int, str]]:
    """Which of `texts`, the best first, are shown in `budget` tokens, and how: their index and text, in their order.

    A text that does not fit is shortened (`shorten(text, limit)`), to a third of the room where others wait for theirs,
    and in the end gets back what nobody took. What is shown never costs more than `budget`, counted as one text with
    blank lines between.
    """
    chosen: list[tuple[int, str]] = []
    whole = {index for index, text in enumerate(texts) if text.strip()}
    used = 0
    for index in sorted(whole):
        room = budget - used
        if chosen and room < 1:
            break
        text = texts[index]
        fitted = _fitted(text, chosen, room, budget, count, shorten, waits=index < max(whole))
        if fitted is None:
            continue
        chosen.append((index, fitted))
        used = count(_together(chosen))
    return _grown(texts, chosen, budget, count, shorten)


def _fitted(
    text: str,
    chosen: list[tuple[int, str]],
    room: int,
    budget: int,
    count: Count,
    shorten: Callable[[str, int], str],
    waits: bool,
) -> str | None:
    """`text` so that it fits beside what was chosen, whole or shortened; None if it does not."""

    def fits(shown: str) -> bool:
        return bool(shown.strip()) and count(_together([*chosen, (0, shown)])) <= budget

    if count(text) <= room and fits(text):
        return text
    if chosen and room < LEAST:
        return None
    limit = min(room, max(LEAST, room // _SHARE)) if waits else room
    while limit >= (LEAST // 2 if chosen else 1):
        shown = shorten(text, limit)
        if fits(shown):
            return shown
        limit = limit * 3 // 4
    if chosen:
        return None
    shown = excerpt(text, (), budget, count)
    return shown if fits(shown) else None


def _grown(
    texts: Sequence[str],
    chosen: list[tuple[int, str]],
    budget: int,
    count: Count,
    shorten: Callable[[str, int], str],
) -> list[tuple[int, str]]:
    """What was shortened, longer again where room is left: the best first."""
    for place, (index, shown) in enumerate(chosen):
        if shown == texts[index]:
            continue
        left = budget - count(_together(chosen))
        if left < 1:
            break
        for more in (left, left * 3 // 4):
            longer = shorten(texts[index], count(shown) + more)
            tried = [*chosen[:place], (index, longer), *chosen[place + 1 :]]
            if len(longer) > len(shown) and count(_together(tried)) <= budget:
                chosen = tried
                break
    return chosen


def _together(chosen: Iterable[tuple[int, str]]) -> str:
    return _JOIN.join(text for _, text in chosen)


# --- what matched ----------------------------------------------------------------------

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)


@lru_cache(maxsize=2)
def _words(is_ascii: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Words, and what is written without spaces. Compiled on use: such classes take long, and most texts need none."""
    if is_ascii:
        return re.compile(r"[A-Za-z0-9_]+"), re.compile(r"(?!)")
    return re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+"), re.compile(f"[{_UNSPACED}]")


def _is_unspaced(character: str) -> bool:
    return not character.isascii() and _words(False)[1].match(character) is not None


def _hits(text: str, wanted: Wanted) -> Iterator[Hit]:
    """Where words matched, in their order, each with what it is counted as."""
    if not callable(wanted):
        yield from _of_set(text, {word.casefold() for word in wanted if word})
        return
    known: dict[str, bool] = {}
    words, unspaced = _words(text.isascii())
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


def _of_set(text: str, wanted: set[str]) -> Iterator[Hit]:
    wide = sorted(word for word in wanted if _words(word.isascii())[1].search(word))[:_MOST_WORDS]
    found = [
        (match.start(), match.end(), match[0].casefold())
        for match in _words(text.isascii())[0].finditer(text)
        if match[0].casefold() in wanted
    ]
    for word in wide:
        at = text.find(word)
        while at >= 0:
            found.append((at, at + len(word), word))
            at = text.find(word, at + len(word))
    yield from sorted(set(found))


# --- windows ---------------------------------------------------------------------------


def _windows(text: str, hits: Sequence[Hit], room: int) -> list[tuple[int, int]]:
    """Pieces of about `room` characters in all: the one with most matched words first, then what it lacks."""
    seen: set[str] = set()
    cores: list[tuple[int, int]] = []
    left = room
    while len(cores) < _WINDOWS and left > 0:
        core = _core([hit for hit in hits if hit[2] not in seen], left)
        if core is None:
            break
        cores.append(core)
        seen |= {key for start, end, key in hits if core[0] <= start and end <= core[1]}
        left -= core[1] - core[0] + len(f" {_LEFT_OUT} ")
    if not cores:
        cores, left = [(0, 0)], room
    for widen in (_sentence, _around):
        for place, core in enumerate(cores):
            wider = widen(text, core, max(left, 0) if place == len(cores) - 1 else max(left, 0) // 2)
            left -= core[0] - wider[0] + wider[1] - core[1]
            cores[place] = wider
    return _merged(text, cores)


def _core(hits: Sequence[Hit], room: int) -> tuple[int, int] | None:
    """The stretch of at most `room` characters with most different words: the shortest, the earliest of these."""
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


def _sentence(text: str, core: tuple[int, int], room: int) -> tuple[int, int]:
    """`core` up to the ends of its sentences, as far as there is room for each."""
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


def _around(text: str, core: tuple[int, int], room: int) -> tuple[int, int]:
    """`core` with as much around it as there is room for: the sentences after it, and what led to it."""
    start, end = core
    is_begin = _is_sentence_start(text, start)
    begin = max(0, start - (0 if is_begin else room // 3))
    finish = min(len(text), end + room - (start - begin))
    begin = max(0, start - (room - (finish - end)))
    if is_begin and begin > 0:
        # No end of a sentence in front of a whole one.
        after = _SENTENCE_END.search(text, begin, start)
        begin = after.end() if after else start
    return _word_start(text, begin, start), _word_end(text, finish, end)


def _is_sentence_start(text: str, at: int) -> bool:
    ends = list(_SENTENCE_END.finditer(text, max(0, at - 4), at))
    return not at or (bool(ends) and not text[ends[-1].end() : at].strip())


def _merged(text: str, pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """In their order, on whole characters; one where they touch or only blanks are between them."""
    made: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        start, end = floor(text, start), ceil(text, end)
        if made and not text[made[-1][1] : start].strip():
            made[-1] = made[-1][0], max(made[-1][1], end)
        else:
            made.append((start, end))
    return made


def _word_start(text: str, at: int, latest: int) -> int:
    """The first start of a word from `at` on; `at` itself if there is none near, or in a script without spaces."""
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


def _shown(text: str, pieces: Sequence[tuple[int, int]]) -> str:
    """The pieces with "…" where something is left out: after a blank, or close to a word that is cut."""
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


def _least(text: str, hits: Sequence[Hit], limit: int, count: Count) -> str:
    """As much as fits of the first word that matched, or of the first that there is: at least a character of it."""
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
