"""What a memory does with talk: recording what is said and done, and reading it again."""

from __future__ import annotations

from looseleaf.base.origins import FORBIDDEN
from looseleaf.memory.parts import Parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.base.messages import Block, Session, ToolInteraction, Trace, Turn
    from looseleaf.log.entries import Entry
    from looseleaf.log.recorder import Batch


class TalkVerbs(Parts):
    """Talk: recorded, and read again."""

    @property
    def session(self) -> str | None:
        """The session that is recorded in; None until something is."""
        return self._talk.recorder.session

    def record(self, **asked: Any) -> Trace:
        """Record one thing that was said or done: `user=…`, `assistant=…`, `tool_call=<name>` with `tool_args`, or
        `tool_result=<value>` (or `tool_error=<text>`) with `tool_call_id`. Durable when it returns.

        Also, where they apply: `turn_id, source_event, media, reasoning, tool_call_id, tool_name, tool_result_ref,
        correlation_id, tags, interrupted, ts`. Without a call's id, a result belongs to the oldest open call of its
        tool. Secrets are redacted before anything is written.
        """
        trace = self._talk.record(asked)
        if FORBIDDEN in trace.tags:
            self._book.obey(trace)
        return trace

    def record_user(self, content: str, **more: Any) -> Trace:
        """What the user said. Begins a turn."""
        return self.record(user=content, **more)

    def record_assistant(self, content: str, **more: Any) -> Trace:
        """What the model answered. `interrupted=True` if it was cut short."""
        return self.record(assistant=content, **more)

    def record_tool_call(
        self, name: str, arguments: Any = None, call_id: str | None = None, **more: Any
    ) -> Trace:
        """A tool that the model wants to be called."""
        return self.record(tool_call=name, tool_args=arguments, tool_call_id=call_id, **more)

    def record_tool_result(self, result: Any = None, call_id: str | None = None, **more: Any) -> Trace:
        """What came of a call; `tool_error=…` if it failed. It belongs to the turn of its call, however late it is."""
        return self.record(tool_result=result, tool_call_id=call_id, **more)

    def batch(self) -> Batch:
        """`with memory.batch() as batch: batch.record(…)`: all of it is written at the end, with one sync."""
        from looseleaf.log.recorder import Batch

        return Batch(self._talk.recorder)

    def start_turn(self) -> str:
        """The id of a new turn, which nobody else will get; what is recorded next belongs to it."""
        return self._talk.recorder.start_turn()

    def interrupt(self, reason: str = "") -> list[Trace]:
        """End the open tool calls of this session: their results will not come any more."""
        return self._talk.recorder.interrupt(reason)

    def open_calls(self) -> list[tuple[str, float]]:
        """Tool calls of this agent that have no result yet, in any session: their ids, and when they were recorded."""
        return self._talk.recorder.open_calls()

    def resume(self) -> str | None:
        """Go on in the agent's last session if it is not long ago; the session, if so."""
        self._talk.recorder.resume(self.policy.session_seconds)
        return self.session

    def turns(self, last: int = 20, *, session: str | None = None) -> list[Turn]:
        """The last turns (of a session), oldest first. Reads no more of the log than these."""
        return self._talk.turns(last, session)

    def turn(self, turn_id: str) -> Turn:
        """One turn, with what came late."""
        return self._talk.turn(turn_id)

    def turns_between(self, first: str, last: str) -> list[Turn]:
        """The turns from one to another, both included."""
        return self._talk.between(first, last)

    def session_turns(self, session: str) -> list[Turn]:
        """All turns of a session."""
        return self._talk.session(session)

    def agents(self) -> list[str]:
        """The names of all agents for whom something was recorded."""
        streams = (stream.partition("/") for stream in self.store.streams())
        return sorted(name for kind, _, name in streams if kind == "traces")

    def sessions(self, last: int = 20) -> list[Session]:
        """The last sessions to begin, oldest first."""
        return self._talk.sessions(last)

    def tail(self, turns: int | None = None, exclude: str | None = None) -> list[Trace]:
        """The traces of the last turns, without the excluded one (mostly: the current)."""
        return self._talk.tail(self.policy.tail_turns if turns is None else turns, exclude)

    def interactions(self, turn_id: str | None = None) -> list[ToolInteraction]:
        """Tool calls with their results, of a turn or of the window: PENDING, SUCCESS or ERROR."""
        return self._talk.interactions(turn_id)

    def blocks(self, turn_id: str) -> list[Block]:
        """A turn in the parts that compaction may take."""
        return self._talk.blocks(turn_id)

    def expand(self, name: str) -> list[Trace]:
        """What an entry was made of, whole; or the traces of a turn, or one trace by its id."""
        return self._talk.expand(name)

    def entry(self, name: str) -> Entry:
        """An entry, by its id."""
        return self._talk.entry(name)
