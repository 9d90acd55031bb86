"""One agent's talk: recorded, read back, and sent to a model within its budget.

Two counters answer two questions. *What fits* is counted here, before a call. *When to compact* follows from the usage
that the provider reports after one: a flag in the journal, which the next call obeys.
"""

from __future__ import annotations

import time
from functools import cached_property

from looseleaf.base.errors import Invalid, NotFound, Refused, check_count, check_text
from looseleaf.base.ids import new_id
from looseleaf.base.messages import Message
from looseleaf.base.values import Position
from looseleaf.log.journal import EARLY, FLAGS, HARD, SCHEMA
from looseleaf.log.recorder import Recorder, ask, given_in, stream_of
from looseleaf.log.talk_streams import agent_of, is_imported, machine_of, talk_elsewhere
from looseleaf.log.turns import (
    interactions,
    last_turns,
    mark_record,
    one_turn,
    recent,
    traces_back,
    turn_range,
)
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any, Protocol

    from looseleaf.base.messages import Session, ToolInteraction, Trace, Turn
    from looseleaf.facts.gate import Spoken
    from looseleaf.log.entries import Entry
    from looseleaf.log.journal import AgentHead
    from looseleaf.log.last_sessions import LastSessions
    from looseleaf.log.turns import Mark
    from looseleaf.models.model_table import Budget, ModelInfo
    from looseleaf.models.tokens import TokenCounts
    from looseleaf.store.context import Context
    from looseleaf.window.compact import Compact, CompactNeeds
    from looseleaf.window.compaction_plan import Loss
    from looseleaf.window.cut import LogEnd, WindowCut
    from looseleaf.window.window import Count, Window

    class Needs(CompactNeeds, Protocol):
        @property
        def session(self) -> str | None:
            """The session to continue; None: begin one."""

        @property
        def counter(self) -> Callable[[str], int] | None:
            """The caller's own token counter."""

        def forbids(self, text: str) -> bool:
            """Return True if the user's words forbid remembering something."""

        def place(self, entry: str) -> None:
            """Place the entry of a compaction."""

        def claim(self, chore: str) -> AbstractContextManager[bool]: ...


COMPACTING = "compacting"
"""The chore that one process or thread does at a time."""

COUNTS = "views/tokens.sqlite"

_LONGEST = 16
"""Characters per token of the budget to read before compacting a window: hardly any text has so many, and the unread
rest needs no memory."""

_REACH, _AT_ONCE = 8, 64 * 1024
"""Characters per token of the budget, and at least so many, of a window that is compacted whole: one that is compacted
as it grows has half of that. A longer one is cut, and about so many are compacted: more would take too long."""

_FULL, _SURE = 4, 3
"""Characters per token: from so many on a window may be full, and with so many it fits; mostly."""

_LONGEST_WINDOW = 1_000_000
"""Characters of a window that are read where nothing is compacted, if `_REACH` does not give more for its model."""

_RAISED = (
    *(ArithmeticError, AssertionError, AttributeError, BufferError, LookupError, NameError, OSError),
    *(RuntimeError, TypeError, ValueError),
)
"""What a custom counter may raise and gets a `Refused` for. Other exceptions pass through."""

_TRIES = 4
"""Compactions to try while other processes record and compact."""


class Conversation:
    def __init__(self, context: Context, parts: Needs) -> None:
        self._context, self._parts = context, parts
        self._store, self._policy = context.store, context.policy
        self._agent, self._note = context.agent, context.note
        self._stream = stream_of(context.agent)
        self._counts: dict[str, TokenCounts] = {}
        self.last_loss: Loss | None = None
        """What the last compaction lost."""
        self.call: tuple[str, Any, str] | None = None
        """The call of a client that is being answered: the tool, its arguments, and the client's id of the call. The
        session in which a hook recorded it judges what is written."""
        self._spoken_cache: tuple[tuple[object, ...], Spoken] | None = None
        """The session's words up to a trace: one page change by a model asks several times."""
        self.recorder = Recorder(context.store, context.agent, parts.session, parts.forbids)

    @cached_property
    def _last_sessions(self) -> LastSessions:
        from looseleaf.log.last_sessions import LastSessions

        return LastSessions(self._store, self._agent, self._stream)

    @cached_property
    def window(self) -> Window:
        from looseleaf.window.window import Window

        return Window(self._store, self._stream, self.read_head)

    def read_head(self) -> AgentHead:
        return self._parts.pages.absorb.agent(self._agent)

    def close(self) -> None:
        self.recorder.save(now=True)
        self.close_views()

    def close_views(self) -> None:
        """Close the open views until they are needed again."""
        for counts in self._counts.values():
            counts.close()
        self._counts.clear()

    def read_window(self) -> Window:
        """Read the window, of one that is too long the end."""
        with self.window.alone():
            if self.window.read(self.longest):
                self._log_end.forget()
                return self.window
            cut = self._make_cut(self.longest, self._count_room(None), self.counter(None), log=self._log_end)
            if cut is None:
                self.window.read()
            else:
                self.window.read_end(cut, self._log_end.after(Position(*cut.until)))
                self._note(
                    f"The window has more than {self.longest:,} characters, and only its end is shown. The next "
                    "prompt cuts it."
                )
        return self.window

    def record(self, asked: dict[str, Any]) -> Trace:
        return self.recorder.record([ask(**given_in(asked))])[0]

    def spoken(self) -> Spoken:
        """Return the words of the session being recorded, which judge an agent's writes. A server, where a model writes
        while hooks record, has none: then of the session in which the call was recorded or, if that is unknown, all
        that the agent's sessions said in the last hour."""
        from looseleaf.base.origins import NOTED, is_news
        from looseleaf.facts.gate import Spoken

        session = self.recorder.session or self._calling_session()
        last = next(traces_back(self._store, self._stream), None)
        minute = int(time.time() // 60) if session is None else 0
        key = (session, last.id if last is not None else "", minute, self._store.edition())
        if self._spoken_cache is not None and self._spoken_cache[0] == key:
            return self._spoken_cache[1]
        if session is not None:
            traces = [trace for turn in self.turns(None, session) for trace in turn.traces]
        else:
            since = time.time() - self._policy.session_seconds
            traces = recent(self._store, self._stream, since)
        user = tuple(trace.content for trace in traces if trace.origin == "user" and trace.content)
        others = (trace for trace in traces if trace.origin not in ("user", "assistant"))
        told = ((each, f"{each.content}{each.tool_result or ''}{each.tool_error or ''}") for each in others)
        news = [
            ("" if each.tool_name == NOTED else each.tool_name or "", text)
            for each, text in told
            if is_news(each.tool_name, each.tags, text)
        ]
        spoken = Spoken(user, bool(news), _read_statements, news)
        self._spoken_cache = key, spoken
        return spoken

    def _calling_session(self) -> str | None:
        """Return the session in which a hook recorded the tool call that is being answered."""
        if self.call is None:
            return None
        from looseleaf.base.origins import NOTED, is_served

        name, arguments, call_id = self.call
        recorded = recent(self._store, self._stream, time.time() - self._policy.session_seconds)
        answered = {trace.tool_call_id for trace in recorded if trace.trace_type == "tool_result"}
        found: set[str] = set()
        for trace in recorded:
            is_noted = trace.tool_name == NOTED and bool(call_id)  # a sub-agent's call is known by its note
            is_same = is_served(trace.tool_name) and str(trace.tool_name).endswith(f"_{name}")
            is_call = trace.trace_type == "tool_call" and is_same and trace.tool_args == arguments
            if trace.tool_call_id == call_id if call_id else trace.tool_call_id not in answered:
                found |= {trace.session_id} if is_call or is_noted else set()
        return found.pop() if len(found) == 1 else None

    def turns(self, last: int | None, session: str | None) -> list[Turn]:
        """Return the last turns (None: all) of a session or of all."""
        found = last_turns(self._store, self._stream, last, session)
        for stream in self._elsewhere() if session is not None and not found else ():
            found = found or last_turns(self._store, stream, last, session)
        return found

    def _elsewhere(self) -> list[str]:
        """Return the streams of this agent on other machines."""
        return [each for each in talk_elsewhere(self._store) if agent_of(each) == self._agent]

    def turn(self, turn_id: str) -> Turn:
        check_text("turn_id", turn_id, required=True)
        found = one_turn(self._store, self._stream, turn_id)
        if found is None:
            raise NotFound(f"There is no turn {turn_id!r}. `looseleaf turns` lists the last ones.")
        return found

    def between(self, first: str, last: str) -> list[Turn]:
        check_text("first", first)
        check_text("until", last)
        return turn_range(self._store, self._stream, first, last)

    def sessions(self, last: int) -> list[Session]:
        found = self._last_sessions(last)
        elsewhere = self._elsewhere()
        if not elsewhere:
            return found
        from looseleaf.log.last_sessions import sessions

        taken = {each.session_id: each.traces for each in found if is_imported(each.session_id)}
        for stream in elsewhere:
            for each in sessions(self._store, stream, last, machine_of(stream)):
                if each.traces > taken.get(each.session_id, 0):  # else both machines imported it
                    found.append(each)
        return sorted(found, key=lambda each: each.first_ts)[-last:]

    def tail(self, count: int, exclude: str | None) -> list[Trace]:
        """Return the traces of the last `count` turns, without the excluded one."""
        check_count("turns", count)
        found = [turn for turn in self.turns(count + 1, None) if turn.turn_id != exclude]
        return [trace for turn in found[max(0, len(found) - count) :] for trace in turn.traces]

    def interactions(self, turn_id: str | None) -> list[ToolInteraction]:
        if turn_id is not None:
            return interactions(self.turn(turn_id).traces)
        self.read_window()
        return interactions([*self.window.tail, *self.window.traces])

    def expand(self, name: str) -> list[Trace]:
        """Return the traces of an entry or a turn, or one trace."""
        from looseleaf.log.entries import traces_of

        check_text("name", name, required=True)
        if name.startswith("turn_"):
            return list(self.turn(name).traces)
        try:
            entry = self.entry(name)
        except Refused:
            every = (traces_back(self._store, stream) for stream in (self._stream, *self._elsewhere()))
            found = next((each for traces in every for each in traces if each.id == name), None)
            if found is None:
                raise
            return [found]
        return list(traces_of(self._store, entry))

    def entry(self, name: str) -> Entry:
        from looseleaf.log.entries import read_entry

        return read_entry(self._store, name)

    # --- the budget --------------------------------------------------------------------

    # Token counters and model tables load on first use: recording needs neither.

    def model(self, name: str | None) -> ModelInfo:
        from looseleaf.models.model_table import model

        check_text("model", name)
        return model(name or self._policy.model)

    def unit(self, name: str | None) -> str:
        """Return the unit in which a model's texts are counted here."""
        return "custom" if self._parts.counter is not None else self.model(name).vocabulary

    def budget(self, name: str | None) -> Budget:
        from looseleaf.models.model_table import budget

        names = ("context_tokens", "max_tokens", "safety_margin_tokens", "compaction_ratio")
        return budget(self.model(name), **{each: getattr(self._policy, each) for each in names})

    def _count_room(self, name: str | None) -> int:
        """Return the input budget in tokens as counted here."""
        return int(self.budget(name).input / self.model(name).count_margin)

    def usage(self, prompt_tokens: int, name: str | None, system: str | None) -> str | None:
        if type(prompt_tokens) is not int or prompt_tokens < 0:
            said = f"prompt_tokens must be a number of tokens, not {prompt_tokens!r}."
            raise Invalid(f"{said} Give what the provider reported.")
        budget = self.budget(name)
        flag = HARD if prompt_tokens > budget.input else EARLY if prompt_tokens > budget.early else None
        if flag is not None:
            self.flag(flag)
        elif prompt_tokens > self._policy.prepare_ratio * budget.input and self._parts.distiller is not None:
            self.prepare(system, name)
        return flag

    def flag(self, flag: str | None, before: AgentHead | None = None) -> None:
        """Request a compaction before the next call, or cancel the request (if the head is still `before`).

        A weaker flag does not replace a stronger one.
        """
        with self._parts.pages.absorb.threads, self._store.lock():
            head = self.read_head()
            rank = [None, *FLAGS]
            is_stronger = flag is None or rank.index(flag) > rank.index(head.flag)
            if flag != head.flag and is_stronger and before in (None, head):
                record = {"schema": SCHEMA, "id": new_id(), "ts": time.time(), "kind": "flag"}
                self._store.append(JOURNAL, [record | {"agent": self._agent, "flag": flag}])

    @property
    def flagged(self) -> str | None:
        return self.read_head().flag

    def counter(self, name: str | None, *, quick: bool = False) -> Count:
        """Return a model's counter: a custom one, or its vocabulary's, with earlier counts cached in a view."""
        own = self._parts.counter
        if own is not None:
            return lambda texts: [_call_counter(own, text) for text in texts]
        from looseleaf.models.tokens import TokenCounts

        vocabulary = self.model(name).vocabulary
        if vocabulary not in self._counts:
            self._counts[vocabulary] = (
                TokenCounts(self._store.locate(COUNTS), vocabulary, inside=self._context.path)
                if self._store.tables is None
                else TokenCounts(None, vocabulary)
            )
        counts = self._counts[vocabulary]
        return lambda texts: counts.count(texts, quick=quick)

    def messages(self, system: str | None, name: str | None) -> list[Message]:
        check_text("system", system)
        limit: int | None = _LONGEST * self._count_room(name)
        for _ in range(_TRIES):
            with self.window.alone():
                head = self.read_head()
                is_whole = head.flag is None and self.window.read(limit)
                if is_whole and self.window.flag is None and self._fits(system, name):
                    return [*([Message("system", system)] if system else []), *self.window.messages]
            # Outside the lock: a custom distiller may read messages too.
            if not self.make_room(system, name, seen=head.mark, is_over=is_whole, must=True):
                limit = None  # nothing to compact: a long window may still fit
        raise Refused(
            "No messages were returned: other processes record for this agent faster than its window can be compacted. "
            "Give each process its own agent name."
        )

    def _fits(self, system: str | None, name: str | None) -> bool:
        """True if the window fits; skip exact counting if it fits even at one token per byte."""
        from looseleaf.models.tokens import at_most

        room = self._count_room(name)
        at_worst = self._weigh(system, "bytes", lambda texts: [at_most(text) for text in texts])
        return at_worst <= room or self._weigh(system, self.unit(name), self.counter(name)) <= room

    def tokens(self, system: str | None, name: str | None, *, quick: bool) -> int:
        """Return what the window costs, with its system prompt."""
        check_text("system", system)
        with self.window.alone():
            self.read_window()
            unit = "estimate" if quick else self.unit(name)
            return self._weigh(system, unit, self.counter(name, quick=quick))

    def _weigh(self, system: str | None, unit: str, count: Count) -> int:
        own = 0
        if system:
            from looseleaf.window.window import costs_of

            own = costs_of([Message("system", system)], count)[0]
        return own + self.window.weigh(unit, count)

    @cached_property
    def _compact(self) -> Compact:
        from looseleaf.distill.rules import Rules
        from looseleaf.window.compact import Compact

        return Compact(self._context, self._parts, Rules)

    def make_room(
        self,
        system: str | None,
        name: str | None,
        *,
        seen: str | None,
        room: int | None = None,
        is_over: bool = False,
        must: bool = False,
    ) -> bool:
        """Have the window compacted that had the mark `seen`, once for all that ask at the same time. Return whether to
        look at it again. Past the time limit of the wait, compact it here if it `must` fit; else return False."""
        with self._parts.claim(COMPACTING) as is_alone:
            if self.read_head().mark != seen or self.cut(name, room=room):
                return True
            if not is_alone and not must:
                return False
            return self._compact_now(system, name, room=room, is_over=is_over) is not None

    def compact(self, system: str | None, name: str | None, *, dry_run: bool = False) -> Loss | None:
        """Compact the window to the model's budget; None if there was nothing to do, or another one just did."""
        check_text("system", system)
        if dry_run:
            return self._compact_now(system, name, dry_run=True)
        seen = self.read_head().mark
        with self._parts.claim(COMPACTING):
            if self.read_head().mark != seen:
                return None
            self.cut(name)
            return self._compact_now(system, name)

    @property
    def longest(self) -> int:
        """The characters of a window that is read whole where nothing is compacted."""
        return max(_LONGEST_WINDOW, _REACH * self._count_room(None))

    def cut_if_long(self, name: str | None) -> None:
        """Cut a window that no model could be shown."""
        if self._is_longer(self.longest):
            self._cut(self.longest, self._count_room(name), self.counter(name))

    def cut_ahead(self) -> None:
        """Cut a window that is getting full, if all that leaves it was distilled, so that the next prompt need not
        compact it. For the background."""
        if self._is_longer(int(_FULL * self.budget(None).early)):
            room = self._count_room(None)
            with self._parts.claim(COMPACTING) as is_alone:
                if is_alone:
                    self._cut(self._near(room), room, self.counter(None, quick=True), is_ahead=True)

    def cut(self, name: str | None, *, room: int | None = None) -> bool:
        """Cut the window if it is too long to be compacted for so much `room`: to what fits, if all before that was
        distilled; else to so much more, which is then compacted. Return whether to look at it again."""
        room = self._count_room(name) if room is None else room
        count, most = self.counter(name), max(_AT_ONCE, _REACH * room)
        if not self._cutter.is_longer(self.read_head(), most):
            return False
        near = self._near(room)
        return self._cut(near, room, count, is_ahead=True) or self._cut(near + _AT_ONCE, room, count)

    def _is_longer(self, limit: int) -> bool:
        with self.window.alone():
            return not self.window.read(limit) or self.window.size > limit

    def _near(self, room: int) -> int:
        """The characters of talk that surely fit after a cut."""
        return int(_SURE * self._policy.compact_to * room)

    def _cut(self, reach: int, room: int, count: Count, *, is_ahead: bool = False) -> bool:
        """Write the mark of a cut, unless the window has another since, or something was forgotten meanwhile. Return
        False if there is nothing to cut; if it `is_ahead`, also if something would leave that was not distilled."""
        head, edition = self.read_head(), self._store.edition()
        mark = self._make_cut(reach, room, count, new_id())
        if mark is None or (is_ahead and mark.left):
            return False
        with self._store.lock():
            if (self.read_head().mark, self._store.edition()) == (head.mark, edition):
                record = mark_record(self._store, self._stream, mark, time.time())
                # A request stays: the talk that is left may still have to be compacted.
                flag = {"schema": SCHEMA, "id": new_id(), "ts": time.time(), "kind": "flag"}
                flags = [flag | {"agent": self._agent, "flag": head.flag}] if head.flag is not None else []
                self._store.append(JOURNAL, [record, *flags])
        return True

    @cached_property
    def _cutter(self) -> WindowCut:
        from looseleaf.window.cut import WindowCut

        return WindowCut(self._store, self._policy, self._agent, self.recorder.find_open_calls)

    @cached_property
    def _log_end(self) -> LogEnd:
        from looseleaf.window.cut import LogEnd

        return LogEnd(self._store, self._stream)

    def _make_cut(
        self, reach: int, room: int, count: Count, mark_id: str | None = None, log: LogEnd | None = None
    ) -> Mark | None:
        return self._cutter(self.read_head(), reach, room, count, self._parts.outdated, mark_id, log)

    def _compact_now(
        self,
        system: str | None,
        name: str | None,
        *,
        room: int | None = None,
        dry_run: bool = False,
        is_over: bool = False,
    ) -> Loss | None:
        """Compact the window to the model's budget, or to `room` tokens."""
        before = self.read_head()
        count = self.counter(name)
        room = self._count_room(name) if room is None else room
        loss = self._compact(room, system, count, dry_run=dry_run, is_over=is_over)
        if loss is None:
            if not dry_run:
                self.flag(None, before)  # there was nothing to compact
            return None
        if not dry_run:
            self.last_loss = loss
            if loss.entry is not None:
                self._parts.place(loss.entry)
        for failure in loss.failures:
            self._note(f"The last compaction did without its distiller: {failure.rstrip('.')}.")
        return loss

    def prepare(self, system: str | None, name: str | None) -> None:
        check_text("system", system)
        self._compact.prepare(self._count_room(name), system, self.counter(name))


def _read_statements(text: str) -> list[tuple[str, str]]:
    """Return the facts that the rules read in a user's message."""
    from looseleaf.distill.statements import statements

    return [(each.relation, each.object) for each in statements(text, time.time()) if not each.ended]


def _call_counter(counter: Callable[[str], int], text: str) -> int:
    """Call a custom counter and check that it returns a number of tokens."""
    try:
        found: object = counter(text)
    except _RAISED as error:
        raise Invalid(
            f"The token counter raised {type(error).__name__} for a text of {len(text):,} characters. "
            "Give one that returns a number for every text."
        ) from error
    if type(found) is not int or found < 0:
        kind = "a negative number" if type(found) is int else type(found).__name__
        raise Invalid(
            f"The token counter returned {kind}, which is not a number of tokens. "
            "Give one that returns a whole number, 0 or more, for every text."
        )
    return found
