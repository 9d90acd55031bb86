"""What was promised in a turn, by the user's asking or the model's saying so, beside what was written in it.

A promise is kept by a write of its turn that bears on it, never by words. The detectors (`language/promises.py`) know
forms of words in six languages, and miss others: no flag is no proof.
"""

from __future__ import annotations

from collections import Counter

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.origins import RECALLED
from looseleaf.base.paths import page_path
from looseleaf.explain.writes import LAST, Written, is_of, is_writer, span_of, written_in
from looseleaf.language.promises import (
    asks_to_forget,
    bare,
    bears,
    claims_in,
    requests_in,
    tells_of_waiting,
    things_of,
    wanted,
)
from looseleaf.store import JOURNAL
from looseleaf.text.lines import is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Literal

    from looseleaf.base.values import Fact
    from looseleaf.explain.needs import Needs
    from looseleaf.explain.writes import Span

    PromiseKind = Literal["request", "claim"]
    Kept = Literal["written", "waits", "known", "nothing"]


@frozen
class Promise:
    """Something that the user asked for (`request`) or the model says it did (`claim`), and what came of it: it was
    `written`, it `waits` in review, it was `known` already, or `nothing`. `receipt` is the write that keeps it. Of a
    claim that names several things the one counts that is kept least: `missing` are those that nothing says."""

    kind: PromiseKind
    text: str
    kept: Kept
    receipt: str | None = None
    missing: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        told = {"kind": self.kind, "text": self.text, "kept": self.kept, "receipt": self.receipt}
        return told | ({"missing": list(self.missing)} if self.missing else {})


@frozen
class Flag:
    """A promise that nothing keeps; `why` is a sentence that a person or a model can act on."""

    kind: PromiseKind
    text: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "text": self.text, "why": self.why}


@frozen
class Reconciled:
    """A turn's promises beside its receipts."""

    turn_id: str
    requests: tuple[Promise, ...]
    claims: tuple[Promise, ...]
    receipts: tuple[Written, ...]
    flagged: tuple[Flag, ...]

    def to_dict(self) -> dict[str, Any]:
        parts = ("requests", "claims", "receipts", "flagged")
        return {"turn_id": self.turn_id} | {
            name: [each.to_dict() for each in getattr(self, name)] for name in parts
        }


def reconcile(parts: Needs, turn: str | None = None) -> Reconciled:
    """What was promised in a turn (None: the last one), and what of it was written."""
    span = span_of(parts, turn if turn is not None else LAST)
    told = [each.content for each in span.traces if each.origin == "user" and RECALLED not in each.tags]
    asked = [text for each in told for text in requests_in(each)]
    answers = [each.content for each in span.traces if each.trace_type == "assistant"]
    claimed = [text for each in answers for text in claims_in(each)]
    written = written_in(parts, span)
    keeps = _Keeps(parts, span, [each for each in written if not each.is_diary and each.undone_by is None])
    requests = [keeps.request(text) for text in dict.fromkeys(asked)]
    is_known = any(each.kept == "known" for each in requests)
    claims = [keeps.claim(text, is_known=is_known) for text in dict.fromkeys(claimed)]
    flags = [_flag(each, span.turn_id) for each in (*requests, *claims) if _is_open(each, answers)]
    return Reconciled(span.turn_id, tuple(requests), tuple(claims), tuple(written), tuple(flags))


def _is_open(promise: Promise, answers: Sequence[str]) -> bool:
    """Nothing keeps it; or it is called saved where it only waits, and nobody says so."""
    if promise.kept == "waits" and promise.kind == "claim":
        return not any(map(tells_of_waiting, answers))
    return promise.kept == "nothing"


_SHOWN = 200
"""Characters of a promise that a flag repeats."""


_SAVE = "Ask for it again (a model calls remember), or write it down with `looseleaf write --mine`."


def _flag(promise: Promise, turn_id: str) -> Flag:
    """Read by the user, in a message of his coding agent, and by models."""
    text = promise.text if len(promise.text) <= _SHOWN else f"{promise.text[:_SHOWN].rstrip()}…"
    missing = ", ".join(f"“{each}”" for each in promise.missing)
    said = f"“{text}” was {'asked for' if promise.kind == 'request' else 'answered'} in {turn_id}, and"
    if promise.kept == "waits":
        why = f"{said} {missing or 'it'} waits in review ({promise.receipt}): nothing of it is saved before a person "
        why += "says yes. `looseleaf facts --pending` shows what waits, `looseleaf approve` saves it."
    elif promise.kind == "request" and asks_to_forget(promise.text):
        why = f"{said} nothing went, nor was proposed to go: it is still known. Ask for it again (a model calls "
        why += "memory_forget), or take it off its page."
    else:
        why = f"{said} nothing that says {missing or 'it'} was written: it is not saved. {_SAVE}"
    return Flag(promise.kind, promise.text, why)


class _Keeps:
    """Which writes keep a promise: those whose lines share its words. A promise without words of its own ("Noted.") is
    kept by any write of its turn; one in another language than the lines, too, as their words cannot be compared."""

    def __init__(self, parts: Needs, span: Span, written: list[Written]) -> None:
        self._parts = parts
        self._span = span
        self._written = written
        self._lines = _left(written)

    def request(self, text: str) -> Promise:
        if asks_to_forget(text):
            return self._promise(
                "request", text, lambda each: self._lines[each.id] if each.held else each.gone
            )
        words = wanted(text)
        about = words if bare(words) else text
        found = self._promise("request", text, lambda each: self._lines[each.id], about)
        is_known = found.kept == "nothing" and any(bears(about, line, sure=True) for line in self._known())
        return Promise("request", text, "known") if is_known else found

    def claim(self, text: str, *, is_known: bool) -> Promise:
        found = self._promise("claim", text, lambda each: (*self._lines[each.id], *each.gone))
        if found.kept == "written":
            return self._least(text, things_of(text)) or found
        if found.kept == "nothing":
            said = bare(text)
            is_known = any(bears(text, line, sure=True) for line in self._known()) if said else is_known
            return Promise("claim", text, "known") if is_known else found
        return found

    def _least(self, text: str, things: Sequence[str]) -> Promise | None:
        """The claim of several things by the one that is kept least; None, where all are, or it cannot be told: a line
        that has to do with none of them may say one in other words."""
        there = [
            line for each in self._written if not each.held for line in (*self._lines[each.id], *each.gone)
        ]
        missing = tuple(each for each in things if not any(bears(each, line) for line in there))
        missing = tuple(
            each for each in missing if not any(bears(each, line, sure=True) for line in self._known())
        )
        if not missing or len(missing) == len(things):
            return None
        waiting = [
            (each, write.id)
            for each in missing
            for write in self._written
            if write.held and bears(each, "\n".join(self._lines[write.id]))
        ]
        if waiting:
            return Promise(
                "claim", text, "waits", waiting[0][1], tuple(dict.fromkeys(each for each, _ in waiting))
            )
        are_all_named = all(
            line.startswith("- Updated:") or any(bears(each, line) for each in things) for line in there
        )
        return Promise("claim", text, "nothing", None, missing) if are_all_named else None

    def _promise(
        self,
        kind: PromiseKind,
        text: str,
        lines: Callable[[Written], Sequence[str]],
        about: str = "",
    ) -> Promise:
        keeping = [
            each for each in self._written if lines(each) and bears(about or text, "\n".join(lines(each)))
        ]
        best = next((each for each in keeping if not each.held), None)
        if best is not None:
            return Promise(kind, text, "written", best.id)
        return Promise(kind, text, "waits", keeping[0].id) if keeping else Promise(kind, text, "nothing")

    def _known(self) -> Iterator[str]:
        """What the user's page says already, and those that a tool was to write; and what the turn only said again."""
        for path in dict.fromkeys(("USER.md", *_pages_of(self._parts, self._span))):
            yield from (line for line in self._parts.pages.page(path).text.splitlines() if not is_blank(line))
        for fact in _restated(self._parts, self._span):
            yield f"{fact.relation}: {fact.object}"


def _pages_of(parts: Needs, span: Span) -> Iterator[str]:
    """The pages that our own tools were asked to write in the turn, whether they had to or not."""
    from looseleaf.pages.pages import page_of_topic

    for trace in span.traces:
        given = trace.tool_args if trace.trace_type == "tool_call" and is_writer(trace.tool_name) else None
        if isinstance(given, dict):
            try:
                if isinstance(given.get("path"), str):
                    yield page_path(given["path"])
                if isinstance(given.get("topic"), str):
                    yield page_of_topic(given["topic"], parts.known.names)
            except Refused:
                continue  # there is no such page, and the tool said so


def _left(written: Sequence[Written]) -> dict[str, list[str]]:
    """Of each write the lines that say something, without those that a later one took away again."""
    found: dict[str, list[str]] = {}
    lost: dict[str, Counter[str]] = {}
    for each in reversed(written):
        gone = lost.setdefault(each.path, Counter())
        found[each.id] = []
        for line in each.lines:
            if gone[line]:
                gone[line] -= 1
            elif not is_blank(line) and not line.startswith(("# ", ">")):
                found[each.id].append(line)
        gone.update(each.gone)
    return found


def _restated(parts: Needs, span: Span) -> Iterator[Fact]:
    """Facts that were distilled of the turn and stood on their pages before."""
    for line in parts.context.store.read_back(JOURNAL):
        record = line.record
        if float(record.get("ts") or 0.0) < span.since:
            break
        said = record.get("restated") if record.get("kind") == "placed" else None
        if isinstance(said, list) and said and is_of(parts, str(record.get("entry")), span.turn_id):
            for each in said:
                try:
                    yield parts.notebook.find(str(each[1]))
                except (Refused, LookupError, TypeError):
                    continue  # it was forgotten since, or somebody else wrote the record
