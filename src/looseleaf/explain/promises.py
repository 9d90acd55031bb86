"""Compare what was promised in a turn (the user asked, or the model claimed) with what was written in it.

Only a write of the same turn keeps a promise, never words. The detectors (`language/promises.py`) know six languages
and miss some forms: no flag is no proof.
"""

from __future__ import annotations

from collections import Counter

from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.origins import RECALLED
from looseleaf.base.paths import page_path
from looseleaf.explain.writes import LAST, Written, is_from_turn, is_writer, span_of, written_in
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
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Literal

    from looseleaf.base.values import Fact
    from looseleaf.explain.sources import Needs
    from looseleaf.explain.writes import Span

    PromiseKind = Literal["request", "claim"]
    Kept = Literal["written", "waits", "known", "nothing"]


@frozen
class Promise:
    """A request by the user or a claim by the model, and its result: `written`, `waits` in review, already `known`, or
    `nothing`. `receipt` is the write that keeps it. A claim of several things counts as the least kept of them:
    `missing` are those that no write says."""

    kind: PromiseKind
    text: str
    kept: Kept
    receipt: str | None = None
    missing: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in ("kind", "text", "kept", "receipt")}
        return told | ({"missing": list(self.missing)} if self.missing else {})


@frozen
class BrokenPromise:
    """An unkept promise; `why` is a sentence that the user or a model can act on."""

    kind: PromiseKind
    text: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        return members_of(self)


@frozen
class Reconciled:
    """A turn's promises beside its receipts."""

    turn_id: str
    requests: tuple[Promise, ...]
    claims: tuple[Promise, ...]
    receipts: tuple[Written, ...]
    flagged: tuple[BrokenPromise, ...]

    def to_dict(self) -> dict[str, Any]:
        lists = {name: getattr(self, name) for name in ("requests", "claims", "receipts", "flagged")}
        return {"turn_id": self.turn_id} | {
            name: [each.to_dict() for each in found] for name, found in lists.items()
        }


def reconcile(parts: Needs, turn: str | None = None) -> Reconciled:
    """Compare the promises of a turn (None: the last one) with what was written."""
    span = span_of(parts, LAST if turn is None else turn)
    told = [each.content for each in span.traces if each.origin == "user" and RECALLED not in each.tags]
    asked = [text for each in told for text in requests_in(each)]
    answers = [each.content for each in span.traces if each.trace_type == "assistant"]
    claimed = [text for each in answers for text in claims_in(each)]
    written = written_in(parts, span)
    lasting = [each for each in written if not each.is_diary and each.undone_by is None]
    keeps = _PromiseCheck(parts, span, lasting)
    requests = [keeps.check_request(text) for text in dict.fromkeys(asked)]
    is_known = any(each.kept == "known" for each in requests)
    claims = [keeps.check_claim(text, is_known=is_known) for text in dict.fromkeys(claimed)]
    flags = [_word_flag(each, span.turn_id) for each in (*requests, *claims) if _is_open(each, answers)]
    return Reconciled(span.turn_id, tuple(requests), tuple(claims), tuple(written), tuple(flags))


def _is_open(promise: Promise, answers: Sequence[str]) -> bool:
    """True if nothing keeps it, or if the model calls it saved while it only waits in review."""
    if promise.kept == "waits" and promise.kind == "claim":
        return not any(map(tells_of_waiting, answers))
    return promise.kept == "nothing"


_SHOWN = 200
"""Most characters of a promise that a flag repeats."""


def _word_flag(promise: Promise, turn_id: str) -> BrokenPromise:
    """Word a flag, for the user (in a message of their coding agent) and for models."""
    text = promise.text if len(promise.text) <= _SHOWN else f"{promise.text[:_SHOWN].rstrip()}…"
    missing = ", ".join(f"“{each}”" for each in promise.missing)
    said = f"“{text}” was {'asked for' if promise.kind == 'request' else 'answered'} in {turn_id}, and"
    if promise.kept == "waits":
        why = f"{said} {missing or 'it'} waits in review ({promise.receipt}): nothing of it is saved before a person "
        why += "says yes. `looseleaf facts --pending` shows what waits, `looseleaf approve` saves it."
    elif promise.kind == "request" and asks_to_forget(promise.text):
        why = f"{said} nothing was removed, or proposed for removal: it is still known. Ask for it again (a model "
        why += "calls memory_forget), or take it off its page."
    else:
        why = f"{said} nothing that says {missing or 'it'} was written: it is not saved. Ask for it again (a model "
        why += "calls remember), or write it down with `looseleaf write --mine`."
    return BrokenPromise(promise.kind, promise.text, why)


class _PromiseCheck:
    """Finds the writes that keep a promise: those whose lines share its words. Any write of the turn keeps a promise
    without words of its own ("Noted."), or one in another language, whose words cannot be compared."""

    def __init__(self, parts: Needs, span: Span, written: list[Written]) -> None:
        self._parts = parts
        self._span = span
        self._written = written
        self._lines = _lines_left(written)

    def check_request(self, text: str) -> Promise:
        if asks_to_forget(text):
            forgets = {each.id: self._lines[each.id] if each.held else each.gone for each in self._written}
            return self._find_promise("request", text, forgets)
        words = wanted(text)
        about = words if bare(words) else text
        found = self._find_promise("request", text, self._lines, about)
        is_known = found.kept == "nothing" and self._is_known(about)
        return Promise("request", text, "known") if is_known else found

    def check_claim(self, text: str, *, is_known: bool) -> Promise:
        changes = {each.id: (*self._lines[each.id], *each.gone) for each in self._written}
        found = self._find_promise("claim", text, changes)
        if found.kept == "written":
            return self._find_least_kept(text, things_of(text)) or found
        if found.kept == "nothing" and (self._is_known(text) if bare(text) else is_known):
            return Promise("claim", text, "known")
        return found

    def _find_least_kept(self, text: str, things: Sequence[str]) -> Promise | None:
        """Return a claim of several things as its least kept one; None if all are kept, or if it is unclear: a line
        about none of them may say one in other words."""
        there = [
            line for each in self._written if not each.held for line in (*self._lines[each.id], *each.gone)
        ]
        missing = tuple(
            each
            for each in things
            if not any(bears(each, line) for line in there) and not self._is_known(each)
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
            return Promise("claim", text, "waits", waiting[0][1], tuple(dict(waiting)))
        are_all_named = all(
            line.startswith("- Updated:") or any(bears(each, line) for each in things) for line in there
        )
        return Promise("claim", text, "nothing", None, missing) if are_all_named else None

    def _find_promise(
        self, kind: PromiseKind, text: str, lines: Mapping[str, Sequence[str]], about: str = ""
    ) -> Promise:
        there = (each for each in self._written if lines[each.id])
        keeping = [each for each in there if bears(about or text, "\n".join(lines[each.id]))]
        best = next((each for each in keeping if not each.held), None)
        if best is not None:
            return Promise(kind, text, "written", best.id)
        return Promise(kind, text, "waits", keeping[0].id) if keeping else Promise(kind, text, "nothing")

    def _is_known(self, text: str) -> bool:
        return any(bears(text, line, sure=True) for line in self._read_known())

    def _read_known(self) -> Iterator[str]:
        """Yield what the user's page and the tools' pages already say, and what the turn only repeated."""
        for path in dict.fromkeys(("USER.md", *_read_tool_pages(self._parts, self._span))):
            yield from (line for line in self._parts.pages.page(path).text.splitlines() if not is_blank(line))
        for fact in _read_restated(self._parts, self._span):
            yield f"{fact.relation}: {fact.object}"


def _read_tool_pages(parts: Needs, span: Span) -> Iterator[str]:
    """Yield the pages that our own tools were asked to write in the turn, written or not."""
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
                continue  # no such page, as the tool said


def _lines_left(written: Sequence[Written]) -> dict[str, list[str]]:
    """Return the lines of each write that say something, without those that a later write removed."""
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


def _read_restated(parts: Needs, span: Span) -> Iterator[Fact]:
    """Yield facts distilled from the turn that already stood on their pages."""
    for line in parts.context.store.read_back(JOURNAL):
        record = line.record
        if float(record.get("ts") or 0.0) < span.since:
            break
        said = record.get("restated") if record.get("kind") == "placed" else None
        if isinstance(said, list) and said and is_from_turn(parts, str(record.get("entry")), span.turn_id):
            for each in said:
                try:
                    yield parts.notebook.find(str(each[1]))
                except (Refused, LookupError, TypeError):
                    continue  # forgotten since, or a foreign record
