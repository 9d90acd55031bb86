"""`memory.talk`: the recorded talk: sessions, turns and tool calls."""

from __future__ import annotations

from looseleaf.memory.parts import Verbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.messages import Session, ToolInteraction, Trace, Turn
    from looseleaf.log.entries import Entry


class TalkVerbs(Verbs):
    """The recorded talk."""

    @property
    def session(self) -> str | None:
        """The session being recorded; None until something is."""
        return self._parts.conversation.recorder.session

    def start_turn(self) -> str:
        """Begin a new turn and return its id; the next traces belong to it."""
        return self._parts.conversation.recorder.start_turn()

    def interrupt(self, reason: str = "") -> list[Trace]:
        """End the open tool calls of this session: no results will come."""
        return self._parts.conversation.recorder.interrupt(reason)

    def resume(self) -> str | None:
        """Continue the agent's last session, if it is recent; return the session."""
        self._parts.conversation.recorder.resume(self._parts.context.policy.session_seconds)
        return self.session

    def turns(
        self,
        last: int | None = None,
        *,
        session: str | None = None,
        first: str | None = None,
        until: str | None = None,
    ) -> list[Turn]:
        """Return turns, oldest first: the last 20, or `last`; all of a `session`, or its last ones; or those from the
        id `first` to the id `until`, both included. Reads no more of the log than these."""
        talk = self._parts.conversation
        if first is not None or until is not None:
            return talk.between(first or until or "", until or first or "")
        return talk.turns(20 if last is None and session is None else last, session)

    def turn(self, turn_id: str) -> Turn:
        """Return one turn, with late results."""
        return self._parts.conversation.turn(turn_id)

    def sessions(self, last: int = 20) -> list[Session]:
        """Return the last sessions to begin, oldest first."""
        return self._parts.conversation.sessions(last)

    def tail(self, turns: int | None = None, exclude: str | None = None) -> list[Trace]:
        """Return the traces of the last turns, without the excluded one (mostly: the current)."""
        last = self._parts.context.policy.tail_turns if turns is None else turns
        return self._parts.conversation.tail(last, exclude)

    def tool_calls(self, turn_id: str | None = None) -> list[ToolInteraction]:
        """Return tool calls with their results, of a turn or of the window: PENDING, SUCCESS or ERROR."""
        return self._parts.conversation.interactions(turn_id)

    def open_calls(self) -> list[tuple[str, float]]:
        """Return this agent's tool calls without a result, in any session: their ids, and when they were recorded."""
        return self._parts.conversation.recorder.open_calls()

    def traces(self, name: str) -> list[Trace]:
        """Return the traces of an entry, whole, or of a turn, or one trace by its id."""
        return self._parts.conversation.expand(name)

    def entry(self, name: str) -> Entry:
        """Return an entry, by its id."""
        return self._parts.conversation.entry(name)

    def agents(self) -> list[str]:
        """Return the names of all agents with recorded talk."""
        streams = (stream.partition("/") for stream in self._parts.context.store.streams())
        return sorted(name for kind, _, name in streams if kind == "traces")
