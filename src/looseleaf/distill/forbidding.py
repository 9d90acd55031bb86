"""Forbidding: which sentences say not to remember something, or to forget it, and what they mean.

The selector finds the sentences that forbid. It also tells whether such a sentence is about its own message ("off the
record: …") or about something said earlier, and whether that is the message before. `facts/replacing.py` finds the held
lines that an order to forget means.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from looseleaf.base.immutable import frozen
from looseleaf.base.origins import RECALLED
from looseleaf.distill.selector import (
    KEEPS,
    cue_words,
    has_forbidding_word,
    is_formed,
    is_of_work,
    says_to_forget,
)
from looseleaf.distill.slot_tables import plain_terms
from looseleaf.distill.statements import asked_to_keep, has_words, sentences_of
from looseleaf.facts.replacing import EARLIER, WIDE, Order
from looseleaf.language.stems import fold
from looseleaf.language.tables import pattern_of
from looseleaf.language.terms import terms
from looseleaf.text.lines import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from looseleaf.base.messages import Trace
    from looseleaf.distill.selector import Scores
    from looseleaf.distill.statements import Sentence

FORBIDS = 0.6
SURELY = 0.95
OF_WORK = 0.99
FOR_A_MODEL = 0.9
CERTAIN = 0.6
WHOLE = 0.9
PLAINLY = 0.95
FORMED = 0.02
MAY_BE_EARLIER = 0.2
ONLY_EARLIER = 0.8
LAST = 0.5
ANOTHERS = 0.9
"""Least chances. `FORBIDS`: a sentence forbids; `SURELY`: it does so without a forbidding word; `OF_WORK`: it does so
while it speaks of work; `FOR_A_MODEL`: it does so even for a model, which reads the rest and says itself what is
private; `WHOLE`: all of its message is not to be remembered; `CERTAIN`: it is an order, whatever its form; `PLAINLY`:
it forbids, although it is phrased as a question or as a request to remember; `FORMED`: it forbids, and its form says
so. `MAY_BE_EARLIER`: it may be about earlier talk; `ONLY_EARLIER`: it is about that alone, so the rest of its message
may be remembered. `LAST`: it means the message before. `ANOTHERS`: it is another's, and not obeyed."""

_I = re.IGNORECASE

_ORDER = pattern_of("forbidding", "order", _I)
"""An order to the reader: not one to another person, and not something the user does."""
_ELSE = pattern_of("forbidding", "else", _I)
"""Removals from a list, a plan or a table; and things given up for others."""
_POLITE = pattern_of("forbidding", "polite", _I)
"""A question that is an order."""
_SUPPOSES = pattern_of("forbidding", "supposes", _I)
_REPORTS = pattern_of("forbidding", "reports", _I)
_HABIT = pattern_of("forbidding", "habit", _I)
"""Things that the user does or does not do, as a rule."""
_OTHERS = pattern_of("forbidding", "others", _I)
"""Reports of forgetting, and words of others."""
_CLAUSE = lazy(r"[,;.!?—–] *|\s-\s")
_NAME = lazy(r"\W*[A-ZÄÖÜ][\w'-]+")
_TO_ANOTHER = pattern_of("forbidding", "to another")
"""A name before a comma: the person spoken to."""
_OTHERWISE = pattern_of("forbidding", "otherwise", _I)
"""Words of a form in another sense, and permission to remember."""
_THAT_I = pattern_of("forbidding", "that i", _I)
"""A clause in which an order says what to forget: "that I play chess"."""


@frozen
class Forbidden:
    """What a message forbids. `cut`: its stretches that are not to be remembered; `named`: the terms to forget, a set
    for each sentence; `words`: those sentences; `order`: the order that may remove held lines; `before`: it means the
    message before, too; `is_all`: it means everything held about the user; `is_session`: it means all that the user
    said in this session."""

    cut: tuple[tuple[int, int], ...]
    named: tuple[frozenset[str], ...]
    words: tuple[str, ...]
    order: Order | None = None
    before: bool = False
    is_all: bool = False
    is_session: bool = False


@lru_cache(4096)
def telling_terms(text: str) -> frozenset[str]:
    """Return the terms that show what a text is about."""
    plain, _ = plain_terms()
    return frozenset(
        term for term in terms(text) if term not in plain and (len(term) > 1 or not term.isascii())
    )


def named_terms(text: str) -> frozenset[str]:
    """Return the terms that an order names, without those of forbidding."""
    said = [fold(word) for word in cue_words(text, _SAYING)]
    found = telling_terms(text) - plain_terms()[1]
    return frozenset(term for term in found if not any(word.startswith(term) for word in said))


_SAYING = frozenset({"forget", "hold", "secret", "deny"})
"""Classes of cues that say to forget something, but not what."""


@lru_cache(256)
def forbidden(text: str, *, for_a_model: bool = False) -> Forbidden | None:
    """Return what a user's message says not to remember; None for most. `for_a_model`: only plain orders."""
    every = sentences_of(text)
    found = [each for each in every if _forbids(each) and (not for_a_model or _is_plain(each))]
    if not found:
        return None
    named = [named_terms(each.text) for each in found]
    cut: tuple[tuple[int, int], ...] = ((0, len(text)),)
    if all(_leaves_the_rest(each, for_a_model) for each in found):
        others = (each for each in every if each not in found)
        about = [each for each in others if any(telling_terms(each.text) & one for one in named)]
        cut = tuple(sorted((each.start, each.end) for each in (*found, *about)))
    asks = next((each for each in every if each.text.endswith(_ASKING)), None)
    says = [each for each in found if _is_said_to_memory(each, asks)]
    order = order_of([(each.text, each.scores) for each in says], [each.text for each in every])
    orders = [each.text for each in says if _is_order(each.text, 0)]
    return Forbidden(
        cut,
        tuple(one for one in named if one),
        tuple(each.text for each in found),
        order,
        order is not None and order.last >= LAST and not order.named,
        any(map(_ALL.search, orders)),
        any(map(_ALL_SAID.search, orders)),
    )


def _leaves_the_rest(sentence: Sentence, for_a_model: bool) -> bool:
    """Return True if the rest of the message may be remembered: the sentence is about earlier talk alone, or less than
    sure; or it is an aside with its own target, and a model reads the rest."""
    if sentence.text.endswith(_LEADING):
        return False
    if for_a_model and len(named_terms(sentence.text)) >= _CONTENT and _ASIDE.match(sentence.text):
        return True
    is_sure = sentence.scores.forbid >= WHOLE or is_formed(sentence.text)
    return sentence.scores.erase >= ONLY_EARLIER or not is_sure


def order_of(says: Sequence[tuple[str, Scores]], every: Sequence[str]) -> Order | None:
    """Return the order that these sentences of a message give. If they name nothing ("Delete that.") and the message is
    short, the sentences around them do."""
    if not says:
        return None
    said = " ".join(text for text, _ in says)
    scores = max((each for _, each in says), key=lambda each: each.forbid)
    named = named_terms(said)
    others = [text for text in every if text not in said]
    rest = sum(len(telling_terms(text)) for text in others)
    if not named and len(every) <= _FEW:
        said, rest = " ".join(every), 0
        named = named_terms(said)
    is_content = any(_THAT_I.search(text) for text, _ in says)
    return Order(said, scores.forbid, scores.erase, scores.last, named, rest, is_content)


_CONTENT = 3
_ASIDE = pattern_of("forbidding", "aside", _I)
"""The least telling terms of an aside in brackets, not about the message, for it to have its own target."""

_FEW = 4
"""In a message of at most this many sentences, those around an order may name its target."""


def _forbids(sentence: Sentence) -> bool:
    if sentence.scores.quoted >= ANOTHERS:
        return False
    is_kept = asked_to_keep(sentence.text) is not None and sentence.scores.forbid < PLAINLY
    return not is_kept and forbids(sentence.text, sentence.scores)


def _is_plain(sentence: Sentence) -> bool:
    """Return True if a sentence that forbids has a form or a word of forbidding, or introduces what is forbidden:
    nothing is left for a model to judge."""
    is_worded = sentence.scores.forbid >= FOR_A_MODEL and has_forbidding_word(sentence.text)
    return is_worded or is_formed(sentence.text) or sentence.text.endswith(_LEADING)


def forbids(text: str, scores: Scores) -> bool:
    """Return True if a sentence forbids: that is likelier than that it tells something to keep or a change, or its form
    says so."""
    if _OTHERWISE.search(text):
        return False
    if scores.forbid >= FORMED and is_formed(text):
        return True
    if scores.forbid < max(FORBIDS, scores.keep, scores.change):
        return False
    if is_of_work(text):
        return scores.forbid >= OF_WORK
    return scores.forbid >= SURELY or says_to_forget(text)


def forbidden_by(trace: Trace, *, for_a_model: bool = False) -> Forbidden | None:
    """Return what a trace says not to remember. Only the user can: recalled text may hold anyone's words."""
    is_said = trace.trace_type == "user" and trace.origin == "user" and RECALLED not in trace.tags
    return forbidden(trace.content, for_a_model=for_a_model) if is_said else None


_LEADING = (":", "：")
_ASKING = ("?", "？", *_LEADING)
"""Ends of a sentence that introduces what follows it, and of one that may ask for something."""

_ALL = pattern_of("forbidding", "all", _I)


_ALL_SAID = pattern_of("forbidding", "all said", _I)


def _may_be_order(text: str) -> bool:
    """Return True if a sentence can be an order to the memory: it asks nothing, supposes nothing, reports no orders."""
    is_question = text.rstrip().endswith(("?", "？")) and _POLITE.search(text) is None
    return not is_question and _may_be_told(text)


def _may_be_told(text: str) -> bool:
    """Do the same as `_may_be_order`, but allow a question mark: "unsay the wifi thing, ok?" only looks like a
    question."""
    if _REPORTS.match(text) or _HABIT.search(text) or (_TO_ANOTHER.match(text) and not _ORDER.match(text)):
        return False
    return not any(form.search(text) for form in (_SUPPOSES, _OTHERS, _ELSE, KEEPS))


def _is_order(text: str, clauses: int = 99) -> bool:
    """Return True if a sentence, or one of its first clauses, begins with an order. A name before a comma is another
    person, who is spoken to."""
    if is_of_work(text):
        return False
    joints = (joint for joint in _CLAUSE.finditer(text) if not _NAME.fullmatch(text[: joint.start()]))
    starts = (0, *(joint.end() for joint in islice(joints, clauses)))
    return any(_ORDER.match(text, start) for start in starts)


def _is_said_to_memory(sentence: Sentence, asks: Sentence | None) -> bool:
    """Return True if the user surely says it, to the memory, about something said earlier: only then may held lines go.
    `asks`: the first sentence of the message that asks for something; its object may be another's words."""
    if sentence.around.lines > 1 and asks is not None and asks.start < sentence.start:
        return False
    text, scores = sentence.text, sentence.scores
    if scores.erase < MAY_BE_EARLIER or text.endswith(_LEADING) or not sentence.is_surely_own:
        return False
    if _WRITES.match(text) or not (_may_be_order(text) or (scores.forbid >= PLAINLY and _may_be_told(text))):
        return False
    if _is_order(text):
        return True
    return scores.erase >= EARLIER and (scores.forbid >= CERTAIN or WIDE.search(text) is not None)


_WRITES = pattern_of("forbidding", "writes", _I)
"""Text to be written down for others is not an order to the memory."""


def cut_forbidden(text: str, found: Forbidden | None) -> str:
    """Return a message without the parts that it says not to remember."""
    if found is None:
        return text
    kept: list[str] = []
    at = 0
    for start, end in found.cut:
        kept.append(text[at:start])
        at = max(at, end)
    kept.append(text[at:])
    return "".join(kept).strip()


def permitted_traces(traces: Iterable[Trace], *, for_a_model: bool = False) -> Iterator[Trace]:
    """Yield traces without what the user says not to remember: the rest of such a message, if any; without the message
    before it, if that is meant; and without the assistant's words about it. `for_a_model`: only without what is plainly
    forbidden."""
    waiting: list[Trace] = []
    named: tuple[frozenset[str], ...] = ()
    for trace in traces:
        if trace.trace_type == "user":
            found = forbidden_by(trace, for_a_model=for_a_model)
            if found is not None and found.before:
                waiting = [each for each in waiting if each.trace_type not in ("user", "assistant")]
            yield from waiting
            waiting, named = [], found.named if found is not None else ()
            if found is not None:
                rest = cut_forbidden(trace.content, found)
                if not has_words(rest):
                    continue
                trace = trace.but(content=rest)
        elif trace.trace_type == "assistant" and any(bears_on(trace.content, each) for each in named):
            continue
        waiting.append(trace)
    yield from waiting


_MANY = 4


def bears_on(text: str, named: frozenset[str]) -> bool:
    """Return True if a text is about what these terms name: it has one of a few, or a sixth of many."""
    said = telling_terms(text)
    # Of one word, one text may hold the stem: only one was taken for a word of its language.
    pairs = ((term, each) for term in named for each in said if min(len(term), len(each)) >= _MANY)
    shared = (said & named) or {
        term for term, each in pairs if term.startswith(each) or each.startswith(term)
    }
    return bool(shared) and (len(named) < _MANY or 6 * len(shared) >= len(named))
