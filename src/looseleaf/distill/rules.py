"""The distiller that needs no model and no network: it selects from what was said and adds no words of its own.

It reads the material once, one trace at a time, and collects sentences by weight, calls, identifiers and notes: an
amount that depends on the tokens requested, not on the length of the material. The same traces give the same bytes.
Nothing in a trace makes it fail, and everything taken from a trace stands on one line, so that no text can pass for
another speaker's.

Room goes first to what cannot be guessed: the user's words and the identifiers; to the assistant's prose last.
"""

from __future__ import annotations

import math
import re
from collections import deque
from functools import cache

from looseleaf.base.immutable import frozen
from looseleaf.base.messages import Distilled, Noted
from looseleaf.base.origins import RECALLED, bare_name, is_own
from looseleaf.distill.forbidding import permitted_traces
from looseleaf.distill.statements import asked_to_keep, sentences_of, statements
from looseleaf.language.sentences import (
    closes,
    content,
    is_conclusion,
    is_constraint,
    is_decision,
    is_done,
    is_fault,
    is_filler,
    is_intention,
    is_lesson,
    is_phatic,
    is_question,
    is_request,
    is_sure_lesson,
    is_task,
    pieces,
)
from looseleaf.text.identifiers import clipped, from_json, identifiers, joined
from looseleaf.text.lines import escape, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    from looseleaf.base.messages import Material, Proposal, Trace
    from looseleaf.distill.statements import Sentence

    Counter = Callable[[str], int]
    T = TypeVar("T")


# --- noted sentences --------------------------------------------------------------------

NOTED = 500
"""The most decisions, constraints and so on that are kept of one material."""


class NotedSentences:
    """Sentences worth keeping, each once, the newest last; of too many the oldest go."""

    def __init__(self) -> None:
        self._found: dict[str, Noted] = {}

    def add(self, text: str, source: str) -> None:
        key = text.casefold()
        self._found.pop(key, None)
        self._found[key] = Noted(text, source)
        if len(self._found) > NOTED:
            del self._found[next(iter(self._found))]

    def clear(self) -> None:
        self._found.clear()

    def all(self) -> tuple[Noted, ...]:
        return tuple(self._found.values())


class OpenTasks(NotedSentences):
    """Open tasks. A task reported as done is closed."""

    def close(self, text: str) -> None:
        done = content(text)
        for key in [key for key in self._found if closes(done, content(key))]:
            del self._found[key]


# --- stated facts -----------------------------------------------------------------------

_WRITERS = frozenset({"memory", "memory_append", "memory_patch", "memory_write", "remember"})
_MOST_CALLS = 100
ASKED_CHARS = 400
"""Characters kept of the assistant's last message: its end, where it asks."""


class StatedFacts:
    """Facts that users stated, each once, the newest last; of too many the oldest go. `everything`: the user gave the
    material to be remembered, so every sentence of it is kept."""

    def __init__(self, limit: int, *, everything: bool = False) -> None:
        self._limit = limit
        self._everything = everything
        self._found: dict[tuple[str, str, str, bool], Proposal] = {}
        self._told: dict[str, str] = {}
        self.asked = ""
        """The assistant's last message: an answer is read with it."""

    def heard(self, trace: Trace) -> None:
        """Remember the assistant's message."""
        self.asked = trace.content[-ASKED_CHARS:]

    def take(self, trace: Trace) -> None:
        """Take a user's message. Only words written as the user count (the gate asks by whom), and not recalled
        ones."""
        asked, self.asked = self.asked, ""
        if trace.trace_type != "user" or RECALLED in trace.tags:
            return
        for each in statements(trace.content, trace.ts, trace.id, asked=asked, everything=self._everything):
            key = (each.topic, each.relation.casefold(), each.object.casefold(), each.ended)
            self._found.pop(key, None)
            self._found[key] = each
            if len(self._found) > self._limit:
                del self._found[next(iter(self._found))]

    def used(self, trace: Trace) -> None:
        """Take a call or a result of one of our own tools. A fact that the model just wrote needs no note as well."""
        call = str(trace.tool_call_id)
        if trace.trace_type == "tool_call":
            if bare_name(trace.tool_name) in _WRITERS and len(self._told) < _MOST_CALLS:
                self._told[call] = str(trace.tool_args)
            return
        said = self._told.pop(call, "")
        if not said or trace.tool_error:
            return
        from looseleaf.language.promises import bears, tells_of_waiting

        if tells_of_waiting(str(trace.tool_result or trace.content)):
            return  # not approved: the user's own words stand
        for key in [key for key in self._found if key[1] == "note" and bears(key[2], said, sure=True)]:
            del self._found[key]

    def all(self) -> tuple[Proposal, ...]:
        return tuple(self._found.values())


# --- episodes: a request that was worked on and finished --------------------------------

TITLE_WORDS = 8
SUMMARY_WORDS = 9
"""A summary has fewer than ten words, as the format says."""
TITLE_CHARS = 80
_LEAST_WORDS = 2
"""The least content words of a request that makes an episode: "then fix it" has too few."""

_POLITE = lazy(
    r"\A\W*(?:(?:hi|hello|hey|ok|okay|so|now|then|please|kindly|can you|could you|would you|will you|i'd like you to|"
    r"i need you to|i want you to|let's|help me(?: to)?)\b[\s,!:]*)+",
    re.IGNORECASE,
)


class Work:
    """One request, the work it took, and how it ended."""

    def __init__(self, request: str, fault: str) -> None:
        self.request, self.fault = request, fault
        self.calls = self.answers = 0
        self.solution = self.lesson = ""


class EpisodeFinder:
    """Follows the talk, message by message; holds the current work and the longest that was finished."""

    def __init__(self) -> None:
        self._now: Work | None = None
        self._best: Work | None = None

    def asked(self, sentences: list[str]) -> None:
        """Take a user's message. A request begins new work; a fault in the same message is the problem."""
        requests = (each for each in sentences if is_request(each) and len(content(each)) >= _LEAST_WORDS)
        request = next(requests, "")
        if request:
            self._finish_work()
            self._now = Work(request, next((each for each in sentences if is_fault(each)), ""))
        self._find_lesson(sentences)

    def called(self) -> None:
        if self._now is not None:
            self._now.calls += 1

    def answered(self, sentences: list[str]) -> None:
        if self._now is None or not sentences:
            return
        self._now.answers += 1
        done = [each for each in sentences if is_done(each)]
        if done:
            about = content(self._now.request)
            best = max(done, key=lambda each: len(about & content(each)))
            if self._now.calls or about & content(best):
                self._now.solution = best
        self._find_lesson(sentences)

    def _find_lesson(self, sentences: list[str]) -> None:
        work = self._now
        if work is None:
            return
        for each in sentences:
            # A mere reason gives way to a sentence that is called a lesson or a cause.
            if each != work.request and is_lesson(each) and (is_sure_lesson(each) or not work.lesson):
                work.lesson = each

    def _finish_work(self) -> None:
        work, self._now = self._now, None
        is_finished = work is not None and work.solution and (work.calls > 0 or work.answers > 1)
        if work is not None and is_finished and (self._best is None or work.calls >= self._best.calls):
            self._best = work

    def told(self) -> dict[str, str] | None:
        """Return the episode, or None if nothing was finished."""
        self._finish_work()
        work = self._best
        if work is None:
            return None
        title = first_words(_POLITE.sub("", work.request) or work.request, TITLE_WORDS)
        told = {
            "title": clipped(title[:1].upper() + title[1:], TITLE_CHARS, "…"),
            "summary": first_words(work.solution, SUMMARY_WORDS),
        }
        told |= {"problem": work.fault} if work.fault else {"task": work.request}
        told["solution"] = work.solution
        if work.lesson:
            told["lesson"] = work.lesson
        return told


def first_words(text: str, most: int) -> str:
    """Return the beginning of a sentence; without spaces, up to ten times as many characters as words."""
    words = text.split()
    if len(words) > most:
        return " ".join(words[:most]).rstrip(",;:.") + "…"
    return clipped(" ".join(words).rstrip(".?!"), 10 * most, "…")


# --- what is kept while reading ---------------------------------------------------------

SENTENCE_CHARS = 300
"""A sentence is cut here: longer ones are lists, or were pasted."""

READ_CHARS = 30_000
"""The characters at either end of a longer message that are read as sentences: no one types the rest by hand."""

VALUE_CHARS = 80
ARGUMENTS_CHARS = 400
OUTCOME_CHARS = 160
"""A result in plain words up to this length is kept whole."""

NAMES = 4096
ARGUMENT_NAMES = 40
"""The most identifiers taken from one trace, and from the arguments of one call: they may be a whole file."""

HELD = (256, 20_000)
"""The fewest and the most sentences, and calls, that are held; between them, one for each token requested."""

TOOLS = 64
"""The most tools whose dropped calls are counted apart."""

_AFTER_ALL = 1 << 30
_REPLY = 24
"""A sentence no longer than this may mean something else each time."""


@frozen
class NotedSentence:
    """A sentence that may stand in the summary. `order`: the place of its trace, and its own within it."""

    order: tuple[int, int]
    text: str
    weight: float


class SentencePool:
    """The weightiest sentences, of equal ones the newest; each long one once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: list[NotedSentence] = []
        self.chars = 0

    def add(self, said: Iterable[NotedSentence]) -> None:
        for each in said:
            self.chars += len(each.text)
            self._held.append(each)
        if len(self._held) > 2 * self._limit:
            self._held = self.ranked()[: self._limit]

    def ranked(self) -> list[NotedSentence]:
        found: dict[object, NotedSentence] = {}
        for said in sorted(self._held, key=lambda said: (said.weight, said.order), reverse=True):
            key = said.text if len(said.text) > _REPLY else said.order
            first = found.setdefault(key, said)
            if said.order > first.order:  # the last place counts: what came between is over
                found[key] = NotedSentence(said.order, said.text, first.weight)
        return list(found.values())


class CallOutcome:
    """A tool call, and its outcome in a few words."""

    def __init__(self, order: int, name: str, arguments: str) -> None:
        self.order, self.name, self.arguments = order, name, arguments
        self.outcome = ""
        self.has_failed = False

    def told(self, named: Iterable[str] = ()) -> str:
        outcome = " ".join(filter(None, (self.outcome, joined(named))))
        return f"({self.arguments})" + (f": {outcome}" if outcome else "")


class IdentifierUse:
    """Where an identifier was first named (the order of the call and the place in its result), when last, how often."""

    def __init__(self, order: int, place: int) -> None:
        self.order, self.place = order, place
        self.last = order
        self.uses = 1


class Collected:
    """The material kept so far."""

    def __init__(self, tokens: int, *, everything: bool = False) -> None:
        least, most = HELD
        most = min(max(tokens, least), most)
        self.decisions, self.tasks, self.constraints = NotedSentences(), OpenTasks(), NotedSentences()
        self.facts, self.episodes = StatedFacts(NOTED, everything=everything), EpisodeFinder()
        self.questions, self.next_actions = NotedSentences(), NotedSentences()
        self.user, self.assistant = SentencePool(most), SentencePool(most)
        self.calls: deque[CallOutcome] = deque(maxlen=most)
        self.earlier: dict[str, int] = {}
        self.names: list[tuple[str, IdentifierUse]] = []
        self._seen: dict[str, IdentifierUse] = {}
        self._most_names = 4 * most
        self._open: dict[str, list[CallOutcome]] = {}
        self._last_user: list[NotedSentence] = []
        self._last_assistant: list[NotedSentence] = []
        self._has_begun = False
        self.order = 0

    def take(self, trace: Trace) -> None:
        self.order += 1
        if trace.trace_type in ("tool_call", "tool_result") and is_own(_text_of(trace.tool_name)):
            self.facts.used(trace)  # their arguments and answers are memory already, or wait to be
            return
        match trace.trace_type:
            case "user":
                self._take_user(trace)
            case "assistant":
                self._take_assistant(trace)
            case "tool_call":
                self._take_call(trace)
            case "tool_result":
                self._take_result(trace)

    def end(self) -> None:
        """Finish: the last messages weigh more, because the talk goes on from there."""
        self.user.add(NotedSentence(said.order, said.text, said.weight + 3) for said in self._last_user)
        for said in self._last_assistant:
            is_next = is_question(said.text) or is_intention(said.text)
            more = 2.5 if is_next else 1 if said.text[-1] in ".!。！" else 0.25
            self.assistant.add([NotedSentence(said.order, said.text, said.weight + more)])
        self.names = self._rank_names()

    def _take_user(self, trace: Trace) -> None:
        found: list[NotedSentence] = []
        own = {
            _shorten(each.text): each for each in sentences_of(trace.content, self.facts.asked) if each.is_own
        }
        self.facts.take(trace)
        for each in own.values():
            self._note(each, trace.id)
        for place, (text, kind) in enumerate(_read_pieces(trace.content)):
            if kind == "sentence" and is_phatic(text):
                continue
            weight = _weigh_sentence(text, own.get(text)) if kind == "sentence" else 0.5
            found.append(
                NotedSentence((self.order, place), text, weight + 2 * (not self._has_begun and place < 8))
            )
        if media := _describe_media(trace.media):
            found.append(NotedSentence((self.order, _AFTER_ALL), media, 1.0))
        self.episodes.asked(list(own))
        self._has_begun = self._has_begun or bool(found)
        self._count_names(identifiers(trace.content, NAMES), self.order)
        self.user.add(self._last_user)
        self._last_user = found

    def _note(self, sentence: Sentence, source: str) -> None:
        """Note a sentence of the user's own under what it is."""
        text, scores = _shorten(sentence.text), sentence.scores
        is_kept = sentence.is_kept and sentence.is_surely_own
        if _is_rule(sentence):
            self.constraints.add(text, source)
        if is_kept and (scores.of("decision") >= 0.6 or (scores.of("decision") >= 0.2 and is_decision(text))):
            self.decisions.add(text, source)
        if is_task(text) and asked_to_keep(text) is None:
            self.tasks.add(text, source)
        if is_question(text):
            self.questions.add(text, source)
        if is_done(text):
            self.tasks.close(text)

    def _take_assistant(self, trace: Trace) -> None:
        if not trace.content.strip():
            return
        self.facts.heard(trace)
        self.questions.clear()
        self.next_actions.clear()
        found: list[NotedSentence] = []
        for place, (text, kind) in enumerate(_read_pieces(trace.content)):
            if kind != "sentence" or is_phatic(text):
                continue
            weight = 1.0 * is_conclusion(text) - 1.5 * is_filler(text) - 1.0 * is_question(text)
            weight -= 0.5 * (text[-1] not in ".!?。！？" or text.count(" ") < 4)
            if is_decision(text, by_user=False):
                self.decisions.add(text, trace.id)
                weight += 2
            if is_task(text):
                self.tasks.add(text, trace.id)
                weight += 1
            if is_done(text):
                self.tasks.close(text)
            if is_intention(text):
                self.next_actions.add(text, trace.id)
            found.append(NotedSentence((self.order, place), text, weight))
        self.episodes.answered([said.text for said in found])
        self._count_names(identifiers(trace.content, NAMES))
        self.assistant.add(self._last_assistant)
        self._last_assistant = found

    def _take_call(self, trace: Trace) -> None:
        # Without a space a name cannot look like a speaker's label.
        name = "_".join(_text_of(trace.tool_name).split())[:VALUE_CHARS]
        call = CallOutcome(self.order, escape(name) or "tool", _describe_arguments(trace.tool_args))
        if len(self.calls) == self.calls.maxlen:
            gone = self.calls[0].name
            if gone not in self.earlier and len(self.earlier) >= TOOLS:
                gone = "other tools"
            self.earlier[gone] = self.earlier.get(gone, 0) + 1
        self.calls.append(call)
        self.episodes.called()
        self._count_names(identifiers(trace.tool_args, ARGUMENT_NAMES), self.order)
        if isinstance(trace.tool_call_id, str):
            self._open.setdefault(trace.tool_call_id, []).append(call)
            if len(self._open) > NOTED:
                del self._open[next(iter(self._open))]

    def _take_result(self, trace: Trace) -> None:
        call_id = _text_of(trace.tool_call_id)
        if call_id not in self._open:
            self._take_call(trace)
        waiting = self._open.get(call_id) or [self.calls[-1]]
        call = waiting.pop(0)
        if not waiting:
            self._open.pop(call_id, None)
        value = trace.tool_result if trace.tool_result is not None else trace.content
        failure = _text_of(trace.tool_error) or _find_failure(value)
        if failure:
            call.outcome = "failed: " + _shorten(failure)
            call.has_failed = True
        if isinstance(value, str) and len(value) <= OUTCOME_CHARS and from_json(value) is None:
            call.outcome = call.outcome or escape(value)
            call.has_failed = call.has_failed or value[:16].lower().lstrip().startswith("error")
        else:
            self._count_names(identifiers(value, NAMES), call.order)

    def _count_names(self, names: Iterable[str], order: int = 0) -> None:
        """Count named identifiers. Without an order, only those already known count."""
        for place, name in enumerate(names):
            seen = self._seen.get(name)
            if seen is not None:
                seen.uses += 1
                seen.last = self.order
            elif order:
                self._seen[name] = IdentifierUse(order, place)
        if len(self._seen) > 2 * self._most_names:
            self._seen = dict(self._rank_names()[: self._most_names])

    def _rank_names(self) -> list[tuple[str, IdentifierUse]]:
        """Return the identifiers that a later call may need most: ids before numbers, the newest and most used
        first."""

        def rank(item: tuple[str, IdentifierUse]) -> tuple[float, int, int]:
            name, seen = item
            return (
                -_weigh_name(name) - math.log2(seen.uses) / 2 - 2 * seen.last / self.order,
                -seen.order,
                seen.place,
            )

        return sorted(self._seen.items(), key=rank)


# --- reading a trace --------------------------------------------------------------------


def _is_rule(sentence: Sentence) -> bool:
    """Return True if a sentence is a standing order. Within a talk, an order also counts if it deserves no line of
    memory: a prohibition must not be lost with the words."""
    return sentence.scores.kind == "rule" and (sentence.is_kept or is_constraint(sentence.text))


def _weigh_sentence(text: str, own: Sentence | None) -> float:
    """Weigh a user's sentence for a summary: kept sentences more, pasted ones less."""
    if own is None:
        return 0.5
    is_kept = own.is_kept or _is_rule(own)
    more = _is_rule(own) + 2 * is_task(text) + 0.5 * is_question(text)
    return 1.0 + 0.5 * bool(identifiers(text, 1)) + 3 * is_kept + more


_STRONG = lazy(r"(?<!\w)\*\*([^*]{1,200})\*\*(?!\w)")
_LETTER = lazy(r"[^\W\d_]")
_DIGIT = lazy(r"[0-9]")
_MOMENT = lazy(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+|[0-9]{1,2}:[0-9]{2}")
_FAILED = lazy(r"(?im)^[ \t]*(?:[\w.]{0,60}(?:error|exception)|fatal|failed|failure|panic)\b.{0,200}")


def _text_of(value: Any) -> str:
    """Return a value as text: handmade lines may hold anything where a text belongs."""
    return value if isinstance(value, str) else joined(identifiers(value, 20))


def _shorten(text: str) -> str:
    return clipped(escape(text), SENTENCE_CHARS, "…")


def _read_pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield (text on one line, kind) for each piece; of code only the first line and the last."""
    if len(text) > 2 * READ_CHARS:
        text = text[:READ_CHARS] + "\n\n" + text[-READ_CHARS:]
    for piece in pieces(text):
        if piece.kind == "code":
            lines = [line for line in piece.text.split("\n") if line.strip()]
            ends = " … ".join(escape(line)[:VALUE_CHARS] for line in (*lines[:1], *lines[1:][-1:]))
            if ends:
                yield f"[code: {ends}]", "code"
        else:
            yield _shorten(_STRONG.sub(r"\1", piece.text)), piece.kind


def _describe_media(media: Any) -> str:
    kinds = [kind for kind in media.values() if isinstance(kind, list)] if isinstance(media, dict) else []
    names = [escape(_text_of(name))[:VALUE_CHARS] for kind in kinds for name in kind]
    return f"[media: {', '.join(names[:4])}{', …' * (len(names) > 4)}]" if names else ""


def _describe_arguments(arguments: Any) -> str:
    """Return the values of a call's arguments; a number or a boolean with its name, as it says nothing alone."""
    if isinstance(arguments, str):
        arguments = from_json(arguments) or arguments
    found: list[str] = []
    waiting: list[tuple[str, Any]] = [("", arguments)]
    room = ARGUMENTS_CHARS
    while waiting and room > 0:
        key, value = waiting.pop()
        text = ""
        match value:
            case dict():
                waiting.extend((_text_of(name), item) for name, item in reversed(value.items()))
            case list() | tuple():
                waiting.extend((key, item) for item in reversed(value))
            case str():
                text = clipped(escape(value[: 4 * SENTENCE_CHARS]), VALUE_CHARS, "…")
            case bool() | float() | int() if isinstance(value, bool | float) or value.bit_length() < 256:
                text = f"{escape(key)[:VALUE_CHARS]}={value}".lstrip("=")
        if text:
            found.append(text)
            room -= len(text)
    return joined(found) + " …" * bool(waiting)


def _find_failure(value: Any) -> str:
    """Return the failure that a result describes, if the tool did not report it as an error."""
    if isinstance(value, str):
        if value.lstrip()[:1] not in ("{", "["):
            failed = _FAILED.search(value[-4000:]) if len(value) > OUTCOME_CHARS else None
            return failed[0].strip() if failed else ""
        value = from_json(value) if len(value) < 4000 else None
    return _text_of(value.get("error")) if isinstance(value, dict) else ""


def _weigh_name(name: str) -> float:
    """Weigh an identifier: an id cannot be guessed, a word sometimes; numbers and times are seldom needed again."""
    if _MOMENT.match(name) or "=" in name:
        return 0.0
    if not _LETTER.search(name):
        return 1.5 if "-" in name else 0.0
    if _DIGIT.search(name) or "@" in name or "/" in name:
        return 1.0 if " " in name else 2.0
    return 1.5 if name.isupper() else 1.0


# --- the distiller ----------------------------------------------------------------------

USER = "User: "
ASSISTANT = "Assistant: "

USER_SHARE = 0.3
CALL_SHARE = 0.2
"""The first shares of the user's words and of the calls, if the room is too small for everything."""

PROSE_SHARE = 0.3
"""The share of the assistant's own words worth repeating, however much room there is."""

_TOKEN = lazy(r"[A-Z]+(?![a-z])|[A-Za-z]+|[0-9]{1,3}|\s(?=[0-9])|[^\sA-Za-z0-9]")


def estimate(text: str) -> int:
    """Estimate the tokens of a text; rather too many than too few, as summaries are dense in codes."""
    total = 0.0
    for token in _TOKEN.findall(text):
        if token.isascii():
            total += 1 + (len(token) - 1) // (2 if token.isupper() else 7)
        else:
            total += 0.3 if token < "\u2000" else 0.8 if token < "\U00010000" else 2
    return math.ceil(total)


class Rules:
    """A `Distiller`. `count` returns the number of tokens of a text."""

    name = "rules/1"

    def __init__(self, count: Counter = estimate, *, everything: bool = False) -> None:
        """`everything`: the user gave the material to be remembered, so every sentence of it is kept."""
        self._count = count
        self._everything = everything

    def distill(self, material: Material, tokens: int) -> Distilled:
        gathered = Collected(tokens, everything=self._everything)
        for trace in permitted_traces(material.traces()):
            gathered.take(trace)
        gathered.end()
        return Distilled(
            summary=self._write_summary(gathered, tokens),
            episode=gathered.episodes.told(),
            facts=tuple(fact.to_dict() for fact in gathered.facts.all()),
            decisions=gathered.decisions.all(),
            tasks=gathered.tasks.all(),
            open_questions=gathered.questions.all(),
            next_actions=gathered.next_actions.all(),
            constraints=gathered.constraints.all(),
        )

    def _write_summary(self, gathered: Collected, tokens: int) -> str:
        # The costs of the parts do not quite add up to the cost of the whole, so adjust the room until it fits.
        best, room = "", float(tokens)
        count = cache(self._count)
        for _ in range(12):
            choice = _Choice(gathered, int(room), count)
            used = count(choice.text)
            if used <= tokens:
                best = max(best, choice.text, key=len)
                if choice.is_all or used > 0.95 * tokens:
                    break
            room *= min(0.98 * tokens / max(used, 1), 2)
            if room < 1:
                break
        if best:
            return best
        # No whole sentence fits, or none is worth more: the beginning of the weightiest.
        pools = ((USER, gathered.user), (ASSISTANT, gathered.assistant))
        for label, said in ((label, said) for label, pool in pools for said in pool.ranked()[:1]):
            text, words = label + said.text, said.text.split()
            while words and self._count(text) > tokens:
                words.pop()
                text = f"{label}{' '.join(words)}…"
            return text if words else ""
        return ""


# --- what stands in a summary -----------------------------------------------------------

_TOO_LONG = 4
_APART = lazy(r"[\s,;()=]+")


class _NamesIn:
    """Tells whether an identifier stands in a text as whole words."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts)
        self._words = {word.strip(".:!?…*\"'") for word in _APART.split(self._text)}

    def __contains__(self, name: str) -> bool:
        return name in self._words or (("=" in name or " " in name) and name in self._text)


class _Choice:
    """The contents of a summary of about so many tokens."""

    def __init__(self, gathered: Collected, room: int, count: Counter) -> None:
        self._gathered, self._count, self._left = gathered, count, room
        user = gathered.user.ranked()
        # A failure counts as a quarter of the talk later: it tells what not to try again.
        late = gathered.order / 4
        calls = sorted(gathered.calls, key=lambda call: call.order + late * call.has_failed, reverse=True)
        self._user, user = self._take_fitting(user, USER_SHARE * room, lambda said: said.text)
        self._calls, calls = self._take_fitting(
            calls, CALL_SHARE * room, lambda call: call.name + call.told()
        )
        told = _NamesIn([said.text for said in self._user] + [call.told() for call in self._calls])
        names = [item for item in gathered.names if item[0] not in told]
        self._names, names = self._take_fitting(names, self._left, lambda item: item[0], 1)
        more, user = self._take_fitting(user, self._left, lambda said: said.text)
        self._user += more
        earlier, calls = self._take_fitting(calls, self._left, lambda call: call.name + call.told())
        self._calls += earlier
        self._prose, prose = self._take_fitting(self._worthy_prose(), self._left, lambda said: said.text)
        self.is_all = not (user or calls or names or prose)
        self.text = self._render()

    def _take_fitting(
        self, ranked: list[T], room: float, text: Callable[[T], str], apart: int = 3
    ) -> tuple[list[T], list[T]]:
        """Return (as many of the first as fit, the others). A few that are too long do not keep out the next."""
        taken: list[T] = []
        others: list[T] = []
        for place, each in enumerate(ranked):
            cost = self._count(text(each)) + apart
            if cost <= room:
                room -= cost
                self._left -= cost
                taken.append(each)
            else:
                others.append(each)
                if len(others) > _TOO_LONG:
                    return taken, others + ranked[place + 1 :]
        return taken, others

    def _worthy_prose(self) -> list[NotedSentence]:
        pool = self._gathered.assistant
        room = max(PROSE_SHARE * pool.chars, SENTENCE_CHARS)
        found: list[NotedSentence] = []
        for said in pool.ranked():
            room -= len(said.text)
            if said.weight <= 0 or room < 0:
                break
            found.append(said)
        return found

    def _render(self) -> str:
        """Write the summary in the order of the talk: a line for each message, and for each run of calls of one
        tool."""
        known = {call.order for call in self._calls}
        named: dict[int, list[tuple[tuple[int, int], str]]] = {}
        told = _NamesIn(
            [said.text for said in (*self._user, *self._prose)] + [call.told() for call in self._calls]
        )
        for name, seen in self._names:
            if name not in told:
                where = seen.order if seen.order in known else 0
                named.setdefault(where, []).append(((seen.order, seen.place), name))
        ordered = {order: [name for _, name in sorted(names)] for order, names in named.items()}
        lines = []
        if 0 in ordered:
            lines.append("Named earlier: " + joined(ordered[0]))
        events = [
            *((said.order, USER, said.text) for said in self._user),
            *((said.order, ASSISTANT, said.text) for said in self._prose),
            *(((call.order, 0), call.name, call.told(ordered.get(call.order, ()))) for call in self._calls),
        ]
        previous: tuple[str, int] | None = None
        for (order, _), label, text in sorted(events):
            is_call = order in known
            run = label, 0 if is_call else order
            if run == previous:
                lines[-1] += ("; " if is_call else " ") + text
            else:
                lines.append(label + text)
            previous = run
        earlier = self._describe_earlier(known)
        if earlier and self._count(earlier) < self._left:
            lines.insert(0, earlier)
        return "\n".join(lines)

    def _describe_earlier(self, known: set[int]) -> str:
        """Summarize the calls that are not listed one by one."""
        times = dict(self._gathered.earlier)
        for call in self._gathered.calls:
            if call.order not in known:
                times[call.name] = times.get(call.name, 0) + 1
        listed = ", ".join(f"{name} ×{each}" for name, each in times.items())
        return f"Earlier calls: {listed}" if times else ""
