"""Words that ask for memory, and words that claim it: "remember that…", "I've noted it".

Pure, and linear in the text. The cues are patterns in six languages (`promises.txt`). Quotes, pasted text and code make
no promise; nor does a question, unless it is only polite, nor a saved file of the work, nor saved money.
"""

from __future__ import annotations

import re
from functools import cache, partial

from looseleaf.language.tables import pattern_of, read_patterns
from looseleaf.text.lines import NEVER, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


# --- the words to remember: after the asking ones, between them, or before them ---

LONGEST = 600
"""Characters of the longest request written by hand."""

_EDGES = " \t,;:.!?…—–-*_~。！？、，；：，"


@cache
def _request_patterns() -> list[re.Pattern[str]]:
    """Return the patterns whose group `w` is what to remember."""
    return [lazy(pattern, re.IGNORECASE) for pattern in read_patterns("promises", "wanted")]


_cue = partial(pattern_of, "promises")


def place_of(request: str) -> tuple[int, int]:
    """Return the place of the words to remember; (0, 0) if they cannot be separated."""
    text = request.replace("’", "'")
    if len(text) > LONGEST:
        return 0, 0
    for pattern in _request_patterns():
        if found := pattern.search(text):
            start, end = found.span("w")
            if tail := _cue("tail", re.IGNORECASE).search(text[start:end]):
                end = start + tail.start()
            while end > start and text[end - 1] in _EDGES:
                end -= 1
            while start < end and text[start] in _EDGES:
                start += 1
            if start < end:
                return start, end
    return 0, 0


def wanted(request: str) -> str:
    """Return the words of a request that are to remember, as written."""
    start, end = place_of(request)
    return request[start:end]


HINTS = (
    "remember reference note noting memor forg mind save saving stor record writ jot profil prefer keep "
    "merk notier notiz vergiss vergess denk behalt festg halt speicher schreib schrieb gedächtn souv "
    "rappel retien "
    "retenu retenez noté mémo oubli gard enregistr sauvegard recuerd recuérd acuérd olvid anot apunt apúnt "
    "anót cuenta "
    "present guard perfil notas record tendré 记 記 忘 保存 更新 覚 メモ 憶 留 頭 録 资料 档案 偏好 "
    "プロフィール user.md facts/"
).split()
"""A piece of every form in `promises.txt`. Here, not there: a hook looks for them in each message."""

READ = 20_000
"""Characters of a message read from each end: no one wrote the rest by hand."""


def requests_in(text: str) -> list[str]:
    """Return the sentences of a user's message that ask to remember, note or forget something."""
    read = _read_ends(text)
    if not _may_promise(read.lower()) or not any(map(is_request, _split_sentences(read))):
        return []
    # Slow to load: only for what looks like a request.
    from looseleaf.language.own_words import strip_pasted

    ends = (text,) if read == text else (text[:READ], text[-READ:])
    return [each for each in _split_sentences("\n\n".join(map(strip_pasted, ends))) if is_request(each)]


def claims_in(text: str) -> list[str]:
    """Return the sentences of an assistant's message that claim something was, or will be, remembered."""
    text = _read_ends(text)
    return [each for each in _split_sentences(text) if is_claim(each)] if _may_promise(text.lower()) else []


def _read_ends(text: str) -> str:
    return text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"


def _split_sentences(text: str) -> Iterator[str]:
    from looseleaf.language.sentences import sentences

    return iter(dict.fromkeys(sentences(text)))


def _may_promise(words: str) -> bool:
    """Return whether a text has a piece that every promise has. Most texts have none and need no further look:
    loading the reader of sentences takes as long as a hook may take in all."""
    return any(hint in words for hint in HINTS)


def is_request(sentence: str) -> bool:
    from looseleaf.language.sentences import is_question, without_quotes

    words = without_quotes(sentence)
    if not _may_promise(words):
        return False
    found = _cue("asks politely").search(words)
    if found is None and not is_question(sentence):
        found = _cue("asks").search(words)
    if found is None or _cue("idle").search(words):
        return False
    return _cue("reported").search(words[: found.start() + 1]) is None


def asks_to_forget(request: str) -> bool:
    from looseleaf.language.sentences import without_quotes

    words = without_quotes(request)
    return _cue("forgets").search(words) is not None and _cue("keeps").search(words) is None


def is_claim(sentence: str) -> bool:
    from looseleaf.language.sentences import is_question, without_quotes

    if is_question(sentence):
        return False
    words = without_quotes(sentence)
    if not _may_promise(words) or _cue("offers").search(words) or _cue("denies").search(words):
        return False
    if _cue("claims").search(words):
        return True
    of_memory = _cue("memory").search(words) is not None
    if of_memory and _cue("changes").search(words):
        return True
    return bool(_cue("saves").search(words)) and (of_memory or _cue("work").search(words) is None)


def tells_of_waiting(text: str) -> bool:
    """Return whether a text says that something waits for a person."""
    return _cue("waits").search(_read_ends(text).lower()) is not None


def bare(promise: str) -> str:
    """Return a promise without the words that make it one: the rest is its subject."""
    from looseleaf.language.sentences import without_quotes

    words = without_quotes(promise)
    for name in ("memory", "filler"):
        words = _cue(name).sub(" ", words)
    return " ".join(re.sub(r"[^\w'.@/+#-]+", " ", words).split()).strip(" .'-")


def things_of(claim: str) -> list[str]:
    """Return the things that a claim names, if it names several: "your desk", "the deploy step". Text after them that
    is no thing ("so I'll know next time") ends them. Empty if they cannot be separated."""
    from looseleaf.language.terms import terms

    first, *others = _cue("between").split(claim.replace("’", "'"))
    while others and not bare(first):
        first = others.pop(0)
    found = [bare(first)]
    for each in others:
        if not _cue("thing").match(each):
            break
        found.append(each.strip(" .!"))
    found = [each for each in found if bare(each) and terms(bare(each))]
    return found if len(found) > 1 else []


_SHARE = 3
"""One in this many words of a promise must be in lines that bear on it; or this many words of some length."""


def bears(promise: str, lines: str, *, sure: bool = False) -> bool:
    """Return whether lines bear on a promise: they share words with it, in any form. A promise without words of its
    own, or in another language than the lines, cannot be compared: it gets the benefit of the doubt, unless
    `sure`."""
    from looseleaf.language.terms import terms

    asked = set(terms(bare(promise))) if bare(promise) else set()
    if not asked or promise == lines:
        return not sure or bool(asked)
    shared = asked & set(terms(lines))
    if sure:
        return len(shared) * 2 > len(asked)
    is_alike = len(shared) * _SHARE >= len(asked) or sum(len(term) > 2 for term in shared) >= _SHARE
    return is_alike or _is_in_other_language(promise, lines)


def _is_in_other_language(promise: str, lines: str) -> bool:
    from looseleaf.language.terms import language

    if bool(_WIDE.search(promise)) != bool(_WIDE.search(lines)):
        return True
    tongue = language(promise)
    return tongue not in ("", "english") and language(lines) != tongue


_WIDE = lazy(r"[\u3040-\u30ff\u3400-\u9fff]", in_ascii=NEVER)
