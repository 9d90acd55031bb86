"""The import: items of a source become traces or, where the user vouches for them, pages and facts.

It can be repeated and interrupted. The ledger notes an item as begun before any of it is recorded, and as done after
all of it is. An item that is done and unchanged is passed over, one that grew gets only its new parts, and of one that
was only begun the log says which parts are recorded. Forgotten content does not come back.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain

from looseleaf.base.errors import Invalid, Refused
from looseleaf.base.paths import IMPORTER
from looseleaf.facts.known_facts import count_uncompared, told_uncompared
from looseleaf.log.recorder import KEY, imported, stream_of
from looseleaf.store import records as codec
from looseleaf.transfer.import_ledger import (
    Hashes,
    ImportChain,
    ImportLedger,
    ImportTally,
    RecordedMarks,
    line_mark,
    record_of,
    recorded_lines,
)
from looseleaf.transfer.place_items import Doubt, ForgottenFilter, NewParts, VouchedItems, ask_person
from looseleaf.transfer.source import (
    BrokenArchive,
    ImportClaim,
    ImportDocument,
    ImportMessage,
    Talk,
    clip_title,
    refuse_memory,
    time_of,
    tool_result,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.log.recorder import RecordRequest
    from looseleaf.memory import Memory
    from looseleaf.transfer.formats import Format
    from looseleaf.transfer.import_ledger import Imported, Prior
    from looseleaf.transfer.source import ImportSource, Item

_LONGEST_NAME = 200


def request_of(
    said: ImportMessage, mark: str, session: str, origin: str | None, ts: float | None
) -> RecordRequest:
    given: dict[str, Any] = {"correlation_id": mark, "ts": ts}
    if said.role in ("user", "assistant"):
        given |= {said.role: said.text, "media": said.media}
        given |= {"reasoning": said.reasoning} if said.reasoning else {}
        return imported(origin, session, **given)
    name, call_id = ((each or "")[:_LONGEST_NAME] or None for each in (said.name, said.call_id))
    given |= {"tool_call_id": call_id, "content": said.text, "media": said.media}
    if said.role == "tool_call":
        given |= {"tool_call": name or "tool", "tool_args": said.args, "reasoning": said.reasoning}
        return imported(origin, session, **given)
    given |= {"tool_name": name, "tool_error": said.error}
    if said.error is None or said.result is not None:
        given["tool_result"] = said.result
    return imported(origin, session, **given)


_TRACES = 500
_CHARS = 4_000_000
"""The most that is written with one sync."""


def run(
    memory: Memory,
    source: ImportSource,
    format_: Format,
    *,
    mine: bool = False,
    here: bool = False,
    dry_run: bool = False,
    step: Callable[[int, int], None] | None = None,
) -> Imported:
    """Import a source into a memory, as its agent. `mine`: the user vouches for it; `here`: also for what is private,
    where git tracks the folder. `step` gets the number of items done, and 0 for the unknown total."""
    return Import(memory, format_.NAME, mine=mine, here=here, dry_run=dry_run).run(source, format_, step)


class Import:
    def __init__(self, memory: Memory, format_: str, *, mine: bool, here: bool, dry_run: bool) -> None:
        self._memory = memory
        self._store = memory.parts.context.store
        self._format = format_
        self._is_mine = mine
        self._is_here = here
        self._is_dry = dry_run
        self._origin = None if mine else f"import:{format_}"
        self._recorder = memory.parts.conversation.recorder
        lost, _ = count_uncompared(self._store)
        if lost:
            raise Refused(f"Nothing was imported: {told_uncompared(lost)}")
        self._hashes = Hashes(self._read_key())
        self._ledger = ImportLedger(self._store)
        self._forgotten = ForgottenFilter(self._store, memory.parts.redact)
        self._recorded: dict[str, RecordedMarks] = {}
        self._tally = ImportTally()
        self._requests: list[RecordRequest] = []
        self._chars = 0
        self._begun: list[Record] = []
        self._done: list[Record] = []
        self._doubts: list[Doubt] = []
        self._is_full = False
        """True when review takes no more."""
        self._names: set[str] = set()
        self._hooked: dict[str, set[int]] = {}
        """Sessions that hooks recorded live, and the marks of their lines."""
        self._shared: set[str] = set()
        """Sessions that another process imports at the same time."""

    def _read_key(self) -> bytes:
        """Return the key of hashes. A dry run writes nothing, so it makes no key."""
        if not self._is_dry:
            return self._recorder.redaction_key()
        found = self._store.get(KEY)
        return (found.data if found is not None else b"")[:32] or b"-"

    @cached_property
    def _vouched(self) -> VouchedItems:
        tools = self._hashes, self._ledger, self._tally, self._forgotten
        return VouchedItems(self._memory, self._format, *tools, here=self._is_here)

    def run(self, source: ImportSource, format_: Format, step: Callable[[int, int], None] | None) -> Imported:
        if not self._is_mine and self._memory.agent != IMPORTER:
            raise Invalid(
                f"Nothing was imported: without --mine, a history is recorded for the agent `{IMPORTER}` only, not for "
                f"{self._memory.agent!r}. Leave out --agent, or add --mine if you vouch for the history."
            )
        refuse_memory(source)
        if getattr(format_, "HOOKED", False):
            self._hooked = recorded_lines(self._store)
        self._ledger.catch_up()
        if self._ledger.is_empty:  # the first import, or a lost ledger: then ask the log
            last = next(self._store.read_back(stream_of(self._memory.agent)), None)
            self._ledger.is_damaged = last is not None
        for sentence in source.notes:
            self._tally.note(sentence)
        try:
            for item in self._read_items(source, format_):
                self._take_item(item)
                if step is not None:
                    step(self._tally.items, 0)
            if self._is_mine and not self._is_dry:
                self._vouched.finish()
        finally:
            self._flush()  # items read before an error are good
        return self._tally.done(self._format, self._memory.agent, is_mine=self._is_mine, is_dry=self._is_dry)

    def _read_items(self, source: ImportSource, format_: Format) -> Iterator[Item]:
        try:
            yield from format_.read(source, self._tally.note)
        except BrokenArchive as broken:
            self._tally.note(f"{broken} The rest of the source was not read.")

    def _take_item(self, item: Item) -> None:
        what = item.KIND
        first = self._hashes.of(self._format, what, item.key)
        if first in self._names:  # twice in the source
            self._flush()
        self._names.add(first)
        name = self._ledger_name(item, what, first)
        session = self._session_of(name)
        if self._forgotten.has(item, name, session):
            self._pass_over(item, "forgotten")
        elif isinstance(item, Talk):
            self._take_talk(item, name, session, first)
        elif not self._is_mine:
            self._take_text(item, name, session, first)
        elif self._is_dry:
            self._vouched.preview(item, name)
        else:
            self._vouched.take(item, name)

    def _ledger_name(self, item: Item, what: str, first: str) -> str:
        """Return the item's name in the ledger. Data that the user vouches for now, and a vouched page whose source
        changed without a new vouching, are items of their own: the earlier ones stay as they are."""
        prior = self._ledger.prior(first)
        if isinstance(item, Talk):
            other = self._hashes.of(self._format, what, item.key, "mine")
            is_data = prior is not None and bool(prior.agent) and not prior.is_mine
            return other if self._is_mine and (is_data or self._ledger.has(other)) else first
        is_page = prior is not None and prior.is_mine and not self._is_mine
        if is_page and prior is not None and prior.content != self._vouched.content(item):
            return self._hashes.of(self._format, what, item.key, "data")
        return first

    def _pass_over(self, item: Item, fate: str) -> None:
        """Count an item, and still read a talk: a format may need its lines to recognize copies."""
        self._tally.add(item.KIND, fate)
        try:
            for _ in item.said if isinstance(item, Talk) else ():
                pass
        except BrokenArchive as broken:
            self._tally.note(str(broken))

    def _take_text(self, item: ImportDocument | ImportClaim, name: str, session: str, first: str) -> None:
        """Record an unvouched text like a tool's answer: recall finds it, and no prompt shows it."""
        if isinstance(item, ImportClaim):
            tool, title, about = "memory", item.text, {"topic": item.topic, "relation": item.relation}
        else:
            tool, title, about = "document", item.title, {"title": item.title}
        result = {key: value for key, value in about.items() if value} | {"text": item.text}
        said = tool_result("", item.ts, tool, name[:16], result)
        prior = self._ledger.prior(name)
        if prior is not None and prior.is_mine:
            self._tally.add(item.KIND, "known")
            return
        taken = self._take_parts(item.KIND, title, [said], name, session)
        self._tally.outdated += bool(taken and name != first)
        if not isinstance(item, ImportClaim) or self._is_dry:
            return
        is_new = any(record["item"] == name for record in self._done[-1:])
        was_full = prior is not None and prior.is_unasked and not self._is_full
        if is_new or was_full:
            again = None if is_new or prior is None else prior
            self._doubts.append(Doubt(item, self._mark_of(said, name), session, name, again))
            if len(self._doubts) >= _TRACES:
                self._flush()

    def _take_talk(self, talk: Talk, name: str, session: str, first: str) -> None:
        said = talk.said
        if talk.key in self._hooked:
            new = self._without_recorded(talk, self._hooked[talk.key])
            one = next(new, None)
            if one is None:
                self._tally.add("talk", "known")
                return
            said = chain((one,), new)
        is_first = not self._ledger.has(name)
        if self._take_parts("talk", talk.title, said, name, session) and name != first and is_first:
            self._tally.copies.append(self._session_of(first))

    def _without_recorded(self, talk: Talk, recorded: set[int]) -> Iterator[ImportMessage]:
        """Yield what hooks did not record of a session: one that was killed has a tail that no hook read."""
        try:
            for each in talk.said:
                text = self._memory.parts.redact(each.text)
                marks = (line_mark(each.key.rpartition("-")[0], "", ""), line_mark("", each.role, text))
                if marks[0] not in recorded and not (each.text and marks[1] in recorded):
                    yield each
        except BrokenArchive as broken:
            self._tally.note(str(broken))

    def _take_parts(
        self, what: str, title: str, said: Iterable[ImportMessage], name: str, session: str
    ) -> int:
        """Take the new parts of an item, and return the number of traces."""
        prior = self._ledger.prior(name)
        parts = ImportChain()
        gone: set[str] = set()
        marked = self._with_marks(said, name, gone)
        new = NewParts(marked, parts, prior, lambda: set(self._recorded_marks(session, prior)))
        title = clip_title(title)
        ts: float | None = None
        taken = 0
        is_whole = True
        is_mine = self._is_mine or (prior is not None and prior.is_mine)
        try:
            for each, mark in new:
                if mark in gone:
                    continue
                if not title and each.role == "user":
                    title = clip_title(each.text)
                if each.ts is not None:  # else the time of the message before
                    ts = time_of(each.ts)
                asked = self._clean_request(each, mark, session, ts, title, gone)
                if asked is None:
                    continue
                if taken == 0:
                    self._queue_record(self._begun, "begun", name, session=session, mine=is_mine)
                taken += 1
                self._add_request(asked)
        except BrokenArchive as broken:
            self._tally.note(f"{broken} The rest of it was not imported.")
            is_whole = False
        if parts.count == 0:
            if not is_whole:
                self._tally.add(what, "bad")
            return taken
        if is_whole and (taken or not parts.is_of(prior)):
            more = {"content": parts.content, "count": parts.count, "traces": taken, "mine": is_mine}
            more |= {"loose": True} if new.is_loose else {}
            self._queue_record(self._done, "done", name, session=session, **more)
        self._tally.forgotten += len(gone)
        fate = "known" if len(gone) < parts.count else "forgotten"
        if taken:
            fate = "grown" if prior is not None and prior.is_done else "new"
        self._tally.add(what, fate, title)
        return taken

    def _with_marks(
        self, said: Iterable[ImportMessage], name: str, gone: set[str]
    ) -> Iterator[tuple[ImportMessage, str]]:
        """Yield each part with its mark, and add the marks of forgotten parts to `gone`, new or not."""
        for each in said:
            mark = self._mark_of(each, name)
            if self._forgotten.has_item(mark):
                gone.add(mark)
            yield each, mark

    def _queue_record(self, records: list[Record], kind: str, name: str, **more: Any) -> None:
        if not self._is_dry:
            records.append(record_of(kind, self._format, name, self._memory.agent, **more))

    def _recorded_marks(self, session: str, prior: Prior | None) -> dict[str, str]:
        agent = (prior.agent if prior is not None else "") or self._memory.agent
        if agent not in self._recorded:
            self._recorded[agent] = RecordedMarks(self._store, agent)
        return self._recorded[agent].marks(session)

    def _mark_of(self, said: ImportMessage, name: str) -> str:
        """Return the mark that identifies a recorded part, and that cannot be guessed."""
        given = (said.role, said.text, said.name, said.args, said.call_id, said.result, said.error)
        try:
            return f"import-{self._hashes.of(name, said.key, list(given))[:20]}"
        except Refused:  # not JSON, so it will not be recorded either
            return f"import-{self._hashes.of(name, said.key, repr(given)[:1000])[:20]}"

    def _clean_request(
        self, said: ImportMessage, mark: str, session: str, ts: float | None, title: str, gone: set[str]
    ) -> RecordRequest | None:
        """Return what is to be recorded; None (which is noted) for what cannot be, or was forgotten."""
        try:
            for value in (said.args, said.result):
                if value is not None and not isinstance(value, str):
                    codec.to_json([value])
            asked = request_of(said, mark, session, self._origin, ts)
            if self._is_dry and not self._forgotten.is_any:  # a dry run makes no key
                self._tally.add_time(ts)
                return asked
            clean = self._recorder.cleaned(asked)
        except Refused as refused:
            why = str(refused).partition(": ")[2] or str(refused)
            self._tally.note(f"A message of {title!r} was passed over: {why}")
            return None
        left = self._forgotten.strip_request(clean)
        if left is None:
            gone.add(mark)
        else:
            self._tally.forgotten += left is not clean
            self._tally.add_time(ts)
        return left

    def _add_request(self, asked: RecordRequest) -> None:
        self._tally.traces += 1
        if self._is_dry:
            return
        self._requests.append(asked)
        self._chars += len(asked.content) + len(str(asked.tool_result or "")) + 500
        if len(self._requests) >= _TRACES or self._chars >= _CHARS:
            self._flush()

    def _flush(self) -> None:
        """Write begun, traces, done, in this order and under one lock, so that two imports of the same source take each
        item once."""
        asked, self._requests, self._chars = self._requests, [], 0
        begun, self._begun = self._begun, []
        done, self._done = self._done, []
        doubts, self._doubts = self._doubts, []
        if not (asked or done or doubts):
            return
        with self._store.lock():
            self._shared |= {self._session_of(item) for item in self._ledger.catch_up()}
            count = len(asked)
            if self._forgotten.has_more():  # since they were read
                asked = [left for each in asked if (left := self._forgotten.strip_request(each)) is not None]
                doubts = [
                    each for each in doubts if not self._forgotten.has(each.claim, each.name, each.session)
                ]
            for session in {each.session or "" for each in asked} & self._shared:
                there = {(session, mark) for mark in self._recorded_marks(session, None)}
                asked = [each for each in asked if (each.session, each.correlation_id) not in there]
            self._tally.traces -= count - len(asked)
            self._ledger.append(begun)
            made = {each.correlation_id: each.id for each in self._recorder.record_clean(asked)}
            done = self._ask_person(doubts, made, done) if doubts else done
            self._ledger.append(done)

    def _ask_person(
        self, doubts: list[Doubt], made: dict[str | None, str], done: list[Record]
    ) -> list[Record]:
        """Put claims into review. One without a place there is noted as unasked, and a later import asks again."""
        traced = [
            (doubt, trace)
            for doubt in doubts
            if (trace := made.get(doubt.mark) or self._recorded_marks(doubt.session, None).get(doubt.mark))
        ]
        added, unasked = ask_person(self._memory, traced, self._format)
        self._tally.waiting += added
        self._is_full = self._is_full or bool(unasked)
        done = [record | {"unasked": True} if record["item"] in unasked else record for record in done]
        for doubt in doubts:
            if doubt.again is not None and doubt.name not in unasked:
                more = {"content": doubt.again.content, "count": 1, "traces": 0, "mine": False}
                self._queue_record(done, "done", doubt.name, session=doubt.session, **more)
        return done

    def _session_of(self, item: str) -> str:
        return f"{self._format}-{item[:16]}"
