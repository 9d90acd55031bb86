"""The import itself: items of a source become traces, or, where the user vouches for them, pages and facts.

It can be repeated and interrupted. An item is noted as begun before anything of it is recorded, and as done after all
of it is; one that is done and has not changed is passed over, one that went on gets only what is new, and of one that
was only begun the log says what is there. What was forgotten does not come back.
"""

from __future__ import annotations

from functools import cached_property

from looseleaf.conversation.asked import imported
from looseleaf.conversation.record import KEY, stream_of
from looseleaf.errors import Refused
from looseleaf.forget.tombstones import Tombstones
from looseleaf.importers.doubtful import ask
from looseleaf.importers.items import Claim, Document, Said, Talk
from looseleaf.importers.ledger import Chain, Hashes, Ledger, Recorded, record_of, sessions_of
from looseleaf.importers.news import New
from looseleaf.importers.reading import clipped, when
from looseleaf.importers.source import Broken
from looseleaf.importers.summary import Tally
from looseleaf.importers.vouched import Vouched
from looseleaf.store import codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from looseleaf.conversation.asked import Asked
    from looseleaf.importers.formats import Format
    from looseleaf.importers.items import Item
    from looseleaf.importers.ledger import Prior
    from looseleaf.importers.source import Source
    from looseleaf.importers.summary import Imported
    from looseleaf.memory import Memory
    from looseleaf.values import Record

AGENT = "import"
"""Under whose name histories are recorded: nobody's window, so that a long one floods none."""

_TRACES = 500
_CHARS = 4_000_000
"""What is written with one sync at most."""

_LONGEST_NAME = 200


def run(
    memory: Memory,
    source: Source,
    format_: Format,
    *,
    mine: bool = False,
    dry_run: bool = False,
    step: Callable[[int, int], None] | None = None,
) -> Imported:
    """Import a source into a memory, as its agent. `mine`: the user vouches for it. `step` is told how many items are
    done (of how many, nobody knows)."""
    return Import(memory, format_.NAME, mine=mine, dry_run=dry_run).run(source, format_, step)


class Import:
    def __init__(self, memory: Memory, format_: str, *, mine: bool, dry_run: bool) -> None:
        self._memory = memory
        self._store = memory.store
        self._format = format_
        self._is_mine = mine
        self._is_dry = dry_run
        self._origin = None if mine else f"import:{format_}"
        self._recorder = memory._talk.recorder
        self._hashes = Hashes(self._key())
        self._ledger = Ledger(self._store)
        self._tombstones = Tombstones(self._store)
        self._forgot = self._tombstones.are_there
        self._recorded: dict[str, Recorded] = {}
        self._tally = Tally()
        self._asked: list[Asked] = []
        self._chars = 0
        self._begun: list[Record] = []
        self._done: list[Record] = []
        self._claims: list[tuple[Claim, str, str]] = []
        self._names: set[str] = set()
        self._hooked: set[str] = set()
        """Sessions that hooks recorded while they were held."""
        self._shared: set[str] = set()
        """Sessions that another process imports in the same moment."""

    def _key(self) -> bytes:
        """A look leaves nothing behind, also no key."""
        if not self._is_dry:
            return self._recorder.redaction_key()
        found = self._store.get(KEY)
        return (found.data if found is not None else b"")[:32] or b"-"

    @cached_property
    def _vouched(self) -> Vouched:
        return Vouched(self._memory, self._format, self._hashes, self._ledger, self._tally)

    def run(self, source: Source, format_: Format, step: Callable[[int, int], None] | None) -> Imported:
        if getattr(format_, "HOOKED", False):
            self._hooked = sessions_of(self._store)
        self._ledger.catch_up()
        if self._ledger.is_empty:  # it is the first, or somebody lost the ledger: then the log is asked
            last = next(self._store.read_back(stream_of(self._memory.agent)), None)
            self._ledger.is_damaged = last is not None
        for sentence in source.notes:
            self._tally.note(sentence)
        try:
            for item in self._items(source, format_):
                self._take(item)
                if step is not None:
                    step(self._tally.items, 0)
            self._vouch()
        finally:
            self._flush()  # what was read before an error is as good as what would have followed
        return self._tally.done(self._format, self._memory.agent, is_mine=self._is_mine, is_dry=self._is_dry)

    def _items(self, source: Source, format_: Format) -> Iterator[Item]:
        try:
            yield from format_.read(source, self._tally.note)
        except Broken as broken:
            self._tally.note(f"{broken} What follows it was not read.")

    # --- one item ------------------------------------------------------------------------

    def _take(self, item: Item) -> None:
        what = type(item).__name__.lower()
        name = self._hashes.of(self._format, what, item.key)
        session = self._session_of(name)
        if name in self._names:  # the source has it twice
            self._flush()
        self._names.add(name)
        if self._was_forgotten(item, name, session):
            self._pass_over(item, "forgotten")
        elif isinstance(item, Talk):
            self._take_talk(item, name, session)
        elif self._is_mine:
            if not self._is_dry:
                self._vouched.take(item, name)
            else:
                self._vouched.look(item, name)
        else:
            self._take_text(item, name, session)

    def _was_forgotten(self, item: Item, name: str, session: str) -> bool:
        holds = self._tombstones.holds
        if not self._forgot or holds("item", name) or holds("session", session):
            return self._forgot
        return not isinstance(item, Talk) and holds("text", item.text)

    def _pass_over(self, item: Item, fate: str) -> None:
        """A talk is gone through all the same: a format may have to know what was in it, to tell copies of it."""
        self._tally.add(type(item).__name__.lower(), fate)
        try:
            for _ in item.said if isinstance(item, Talk) else ():
                pass
        except Broken as broken:
            self._tally.note(str(broken))

    def _vouch(self) -> None:
        if self._is_mine and not self._is_dry:
            self._vouched.finish()

    def _take_text(self, item: Document | Claim, name: str, session: str) -> None:
        """A text that nobody vouches for is recorded like the answer of a tool: found by recall, and in no prompt."""
        is_claim = isinstance(item, Claim)
        title = item.topic if isinstance(item, Claim) else item.title
        about = {"topic": title, "relation": item.relation} if isinstance(item, Claim) else {"title": title}
        result = {key: value for key, value in about.items() if value} | {"text": item.text}
        said = Said(
            "", "tool_result", "", item.ts, "memory" if is_claim else "document", None, name[:16], result
        )
        prior = self._ledger.prior(name)
        if prior is not None and prior.is_mine:
            self._tally.add(type(item).__name__.lower(), "known")
            return
        self._take_parts(type(item).__name__.lower(), item.text if is_claim else title, [said], name, session)
        if isinstance(item, Claim) and any(record["item"] == name for record in self._done[-1:]):
            self._claims.append((item, self._mark(said, name), session))

    def _take_talk(self, talk: Talk, name: str, session: str) -> None:
        if talk.key in self._hooked:
            self._pass_over(talk, "known")
            return
        prior = self._ledger.prior(name)
        if self._is_mine and prior is not None and prior.is_done and not prior.is_mine:
            self._tally.as_data += 1
        self._take_parts("talk", talk.title, talk.said, name, session)

    def _take_parts(self, what: str, title: str, said: Iterable[Said], name: str, session: str) -> None:
        prior = self._ledger.prior(name)
        chain = Chain()
        marked = ((each, self._mark(each, name)) for each in said)
        new = New(marked, chain, prior, lambda: set(self._marks(session, prior)))
        heard = _Heard(title)
        taken = 0
        is_whole = True
        try:
            for each, mark in new:
                asked = self._cleaned(each, mark, session, heard)
                if asked is None:
                    continue
                if taken == 0:
                    self._pend(self._begun, "begun", name, session=session)
                taken += 1
                self._add(asked)
        except Broken as broken:
            self._tally.note(f"{broken} The rest of it was not taken in.")
            is_whole = False
        if chain.count == 0:
            if not is_whole:
                self._tally.add(what, "bad")
            return
        is_same = (
            prior is not None
            and prior.is_done
            and (prior.content, prior.count) == (chain.content, chain.count)
        )
        if is_whole and (taken or not is_same):
            more = {"content": chain.content, "count": chain.count, "traces": taken, "mine": self._is_mine}
            more |= {"loose": True} if new.is_loose else {}
            self._pend(self._done, "done", name, session=session, **more)
        fate = "known" if not taken else "grown" if prior is not None and prior.is_done else "new"
        self._tally.add(what, fate, heard.title)

    def _pend(self, records: list[Record], kind: str, name: str, **more: Any) -> None:
        if not self._is_dry:
            records.append(record_of(kind, self._format, name, self._memory.agent, **more))

    # --- what of it is new ---------------------------------------------------------------

    def _marks(self, session: str, prior: Prior | None) -> dict[str, str]:
        agent = (prior.agent if prior is not None else "") or self._memory.agent
        if agent not in self._recorded:
            self._recorded[agent] = Recorded(self._store, agent)
        return self._recorded[agent].marks(session)

    def _mark(self, said: Said, name: str) -> str:
        """By which what was recorded is known again, and cannot be guessed."""
        given = (said.role, said.text, said.name, said.args, said.call_id, said.result, said.error)
        try:
            return f"import-{self._hashes.of(name, said.key, list(given))[:20]}"
        except Refused:  # it cannot be written out, and will not be recorded
            return f"import-{self._hashes.of(name, said.key, repr(given)[:1000])[:20]}"

    def _cleaned(self, said: Said, mark: str, session: str, heard: _Heard) -> Asked | None:
        """What is to be recorded; None (which is told) for what cannot be, or was forgotten."""
        if self._forgot:
            texts = (said.text, said.result if isinstance(said.result, str) else "", said.error or "")
            was_forgotten = any(self._tombstones.holds("text", text) for text in texts if text.strip())
            if was_forgotten or self._tombstones.holds("item", mark):
                return None
        ts = heard.hear(said)
        self._tally.at(ts)
        try:
            for value in (said.args, said.result):
                if value is not None and not isinstance(value, str):
                    codec.to_json([value])
            asked = _asked(said, mark, session, self._origin, ts)
            return asked if self._is_dry else self._recorder.cleaned(asked)
        except Refused as refused:
            why = str(refused).partition(": ")[2] or str(refused)
            self._tally.note(f"A message of {heard.title!r} was passed over: {why}")
            return None

    # --- writing -------------------------------------------------------------------------

    def _add(self, asked: Asked) -> None:
        self._tally.traces += 1
        if self._is_dry:
            return
        self._asked.append(asked)
        self._chars += len(asked.content) + len(str(asked.tool_result or "")) + 500
        if len(self._asked) >= _TRACES or self._chars >= _CHARS:
            self._flush()

    def _flush(self) -> None:
        """Begun, recorded, done: in this order, and under one lock, so that of two imports of the same each item is
        taken in once."""
        asked, self._asked, self._chars = self._asked, [], 0
        begun, self._begun = self._begun, []
        done, self._done = self._done, []
        claims, self._claims = self._claims, []
        if not (asked or done):
            return
        with self._store.lock():
            self._shared |= {self._session_of(item) for item in self._ledger.catch_up()}
            for session in {each.session or "" for each in asked} & self._shared:
                there = self._marks(session, None)
                asked = [
                    each for each in asked if each.session != session or each.correlation_id not in there
                ]
            self._ledger.append(begun)
            made = {each.correlation_id: each.id for each in self._recorder.record_clean(asked)}
            if claims:
                self._tally.waiting += ask(self._memory, self._traced(claims, made), self._format)
            self._ledger.append(done)

    def _traced(
        self, claims: list[tuple[Claim, str, str]], made: Mapping[str | None, str]
    ) -> list[tuple[Claim, str]]:
        """Each claim with the trace that says it: one of these, or one of an import that was broken off."""
        return [
            (claim, trace)
            for claim, mark, session in claims
            if (trace := made.get(mark) or self._marks(session, None).get(mark))
        ]

    def _session_of(self, item: str) -> str:
        return f"{self._format}-{item[:16]}"


class _Heard:
    """What was heard of an item so far: a title, and the last time."""

    def __init__(self, title: str) -> None:
        self.title = clipped([title])
        self._last: float | None = None

    def hear(self, said: Said) -> float | None:
        """When it was said; what has no time was said when the last thing was."""
        if not self.title and said.role == "user":
            self.title = clipped([said.text])
        self._last = when(said.ts) if said.ts is not None else self._last
        return self._last


def _asked(said: Said, mark: str, session: str, origin: str | None, ts: float | None) -> Asked:
    given: dict[str, Any] = {"correlation_id": mark, "ts": ts}
    if said.role in ("user", "assistant"):
        given |= {said.role: said.text, "media": said.media}
        given |= {"reasoning": said.reasoning} if said.reasoning else {}
        return imported(origin, session, **given)
    given |= {"tool_call_id": _name(said.call_id), "content": said.text, "media": said.media}
    if said.role == "tool_call":
        given |= {
            "tool_call": _name(said.name) or "tool",
            "tool_args": said.args,
            "reasoning": said.reasoning,
        }
        return imported(origin, session, **given)
    given |= {"tool_name": _name(said.name), "tool_error": said.error}
    if said.error is None or said.result is not None:
        given["tool_result"] = said.result
    return imported(origin, session, **given)


def _name(name: str | None) -> str | None:
    return name[:_LONGEST_NAME] or None if name is not None else None
