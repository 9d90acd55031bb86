"""What the user asked to have remembered, and no rule knows as a fact of its own: a note of exactly those words.

An explicit wish needs no form that the rules know. But words that only a piece of work at hand is about ("note that the
output must be JSON"), that point at something else ("remember that"), or that are a play, are no note.
"""

from __future__ import annotations

import re

from looseleaf.core.lazy import lazy
from looseleaf.core.lines import escape
from looseleaf.core.promise_words import LONGEST, place_of
from looseleaf.core.promises import asks_to_forget, bare, is_request
from looseleaf.core.sentences import is_task
from looseleaf.distill.shape import changed, made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from looseleaf.talk import Proposal

_I = re.IGNORECASE
NOTE_CHARS = 300
"""A longer note is a text: it belongs on a page."""

_LEAST = 2
_LEAST_WIDE = 4
_WIDE = lazy(r"[\u3040-\u30ff\u3400-\u9fff]")
_LINK = lazy(r"(?:\b(?:that|dass|que)\s|[:：]\s?)\Z", _I)
"""How a clause is begun that says something. Without it, "don't forget the milk" is a task, "remember the Alamo" none
of our business."""
_NAMED = lazy(r"the\b", _I)
_TO_DO = lazy(r"(?:to|de|d')\s?\b", _I)
_HOLLOW = lazy(
    r"(?:it|it's|its|this|these|those|they|they're|he|he's|she|she's|him|her|them|that|that's|so|what|how|why|when|"
    r"me|you (?:are|should|must|need|have|will|said|told|promised)|you're|your|for (?:later|next time|me|now)|"
    r"es|das (?:ist|war|hier)|dies|ihn|sie ist|er ist|was ich|du|ça|cela|ceci|ce que|il est|elle est|tu|eso|esto|"
    r"lo que|él es|ella es|tú)\b"
    r"|(?:这|那|它|他|她|我说|我刚|刚才|你|これ|それ|あれ|彼|彼女|あなた|今の話)",
    _I,
)
"""Words that say nothing alone: what they point at stands elsewhere."""
_AT_HAND = lazy(
    r"(?:the|each|every|all|any|both) (?:functions?|outputs?|inputs?|answers?|responses?|results?|code|"
    r"files?|texts?|tasks?|questions?|lists?|strings?|arrays?|class(?:es)?|methods?|tests?|format|essay|story|poem|"
    r"email|letter|reader|author|character|above|below|following|example|sentence|paragraph|arguments?|parameters?|"
    r"values?|numbers?|columns?|rows?|solution|user|prompt|conversation|image|graph|equation)\b",
    _I,
)
"""What a piece of work is about that is asked for."""
_THING = lazy(
    r"\bthat (?!i\b|we\b|my\b|our\b)[a-z]+(?<!s)(?: (?:from|in|of|at|on|for|with|about|again|one|thing|where|when|we|i|"
    r"you)\b|\W*\Z)"
)
"""A thing that is pointed at ("remember that bug from yesterday"), no clause."""
_SUPPOSES = lazy(
    r"\b(?:if|unless|when|whenever|once|suppose|imagine|pretend|wenn|falls|quand|lorsque|cuando|si)\b|如果|假如|要是|もし|たら",
    _I,
)
_WORK = lazy(
    r"\b(?:write|draft|compose|translate|rewrite|rephrase|summari[sz]e|generate|explain|create|design|implement|solve|"
    r"calculate|describe|schreibe?|übersetze?|écris|traduis|escribe|traduce)\b|写|翻译|書いて|翻訳",
    _I,
)
_OWN = lazy(r"(?:my|our|i|i'm|i've|we|we're|mein|meine|ich|wir|mon|ma|mes|je|mi|mis|yo)\b|我|私", _I)
_PLAYS = lazy(
    r"\b(?:lol|lmao|haha+|jk|just kidding|joking|pretend|imagine|hypothetically|role-?play|in (?:my|the|this) (?:story|"
    r"novel|game|dream|film|movie|play)|for example|lorem ipsum)\b|😂|🤣",
    _I,
)
_REDACTED = "[redacted "


def is_noted(sentence: str) -> bool:
    """Whether it asks to remember what it says: then it is no task, whatever words it asks with."""
    return _place(sentence) != _NOWHERE


def noted(
    sentence: str, found: Sequence[Proposal], before: str, propose: Callable[[str], list[Proposal]]
) -> list[Proposal]:
    """What `sentence` asks to remember, unless the rules `found` it: as the facts that its words state by themselves,
    else as a note. "Remember that." is about the sentence `before`, if that states something of which nothing came."""
    start, end = _place(sentence)
    words, quote = sentence[start:end], sentence
    if not words:
        if not (before and is_request(sentence) and not asks_to_forget(sentence) and not bare(sentence)):
            return []
        start, end = _ends(before)
        words = quote = before[start:end]
        if not _STATES.search(words) or _is_unfit(words) or _is_unsaid("", words):
            return []
    parts = _parts(words)
    told = sum(len(said) for said in {each.quote for each in found} if said in words)
    if len(parts) == 1 and 2 * told >= len(words):
        return []
    known = {(each.relation, each.object) for each in found}
    proposed: list[Proposal] = []
    for part in parts:
        stated = propose(_turned(part))
        new = [each for each in stated if (each.relation, each.object) not in known]
        proposed += [changed(each, quote=part) for each in new]
        if not stated:
            proposed.append(made("note", _line(part), quote))
    return proposed


_WRAPPED = lazy(r"[\"“„«「]([^\"“”„«»「」]+)[\"”“»」]")


def _line(words: str) -> str:
    """On one line, and without quotation marks around it all."""
    line = " ".join(escape(words).split())
    wrapped = _WRAPPED.fullmatch(line)
    return wrapped[1].strip() if wrapped else line


_AND = lazy(r",?\s+(?:and|und|et|y)\s+(?:that |dass |que )?|[,;]\s+(?=\w)")


def _parts(words: str) -> list[str]:
    """Statements that stand side by side, each by itself; all of it, where one of them is no statement."""
    parts = [part.strip() for part in _AND.split(words)]
    is_each = all((found := _STATES.search(part)) and found.start() and not _is_unfit(part) for part in parts)
    return parts if is_each else [words]


_STATES = lazy(
    r"\b(?:is|are|was|were|has|have|will|lives?|costs?|needs?|runs?|starts?|ends?|opens?|closes?|goes|ist|sind|hat|"
    r"heißt|liegt|est|sont|s'appelle|es|son|está|están|tiene|se llama)\b|\w's |[是在有叫]|(?:です|ます|だ)\Z",
    _I,
)
_CLAUSE = lazy(r"(?P<s>ich|wir|mein[e]? \w+|unser[e]? \w+) (?P<o>.{2,120}) (?P<v>[a-zäöüß]+)")


def _turned(words: str) -> str:
    """A German clause after "dass", in the order of one that stands alone."""
    clause = _CLAUSE.fullmatch(words)
    return f"{clause['s']} {clause['v']} {clause['o']}" if clause else words


def _ends(text: str) -> tuple[int, int]:
    kept = text.rstrip(" .!。！")
    return len(kept) - len(kept.lstrip()), len(kept)


_NOWHERE = 0, 0


def _place(sentence: str) -> tuple[int, int]:
    """Where the words stand that are to be remembered as they are."""
    if len(sentence) > LONGEST or not is_request(sentence) or asks_to_forget(sentence):
        return _NOWHERE
    start, end = place_of(sentence)
    before, words = sentence[:start], sentence[start:end]
    if _PLAYS.search(sentence) or _THING.search(sentence):
        return _NOWHERE
    todo = _TO_DO.match(words)
    is_said = _STATES.search(words) or _LINK.search(before)
    if (is_task(sentence) and (todo or not is_said)) or (_NAMED.match(words) and not is_said):
        return _NOWHERE
    if todo:
        start += todo.end()
        words = sentence[start:end]
    return _NOWHERE if _is_unfit(words) or _is_unsaid(before, words) else (start, end)


def _is_unfit(words: str) -> bool:
    least = _LEAST_WIDE if _WIDE.search(words) else _LEAST
    size = len(words) if least == _LEAST_WIDE else len(words.split())
    return size < least or len(words) > NOTE_CHARS or _REDACTED in words


def _is_unsaid(before: str, words: str) -> bool:
    """Whether they mean what stands elsewhere: something pointed at, a condition, or the work that is asked for."""
    if _HOLLOW.match(words) or _AT_HAND.match(words) or _SUPPOSES.search(before):
        return True
    return _WORK.search(before or words) is not None and not _OWN.match(words)
