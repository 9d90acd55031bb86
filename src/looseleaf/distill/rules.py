"""The distiller that needs no model and no network: it selects from what was said and adds no words of its own.

It reads the material once, one trace at a time, and keeps an amount that depends on the tokens requested, not on the
length of the material. The same traces give the same bytes. Nothing in a trace makes it fail, and everything taken from
a trace stands on one line, so that no text can pass for another speaker's.

Room goes first to what cannot be guessed: the user's words and the identifiers; to the assistant's prose last.
"""

from __future__ import annotations

import math
from functools import cache

from looseleaf.base.messages import Distilled
from looseleaf.distill.collect import SENTENCE_CHARS, Collected
from looseleaf.distill.forbidding import permitted_traces
from looseleaf.text.identifiers import joined
from looseleaf.text.patterns import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from looseleaf.base.messages import Material
    from looseleaf.distill.collect import NotedSentence

    Counter = Callable[[str], int]
    T = TypeVar("T")

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


# --- choosing --------------------------------------------------------------------------

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
