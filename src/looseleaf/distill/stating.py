"""What a distiller holds of the facts that users stated while it reads."""

from __future__ import annotations

from looseleaf.core.own_tools import PREFIX, RECALLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.talk import Proposal, Trace

_WRITERS = frozenset({"memory", "memory_append", "memory_patch", "memory_write", "remember"})
_MOST_CALLS = 100


class Stating:
    """What users stated, each once, the newest last; of too many the oldest go."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._found: dict[tuple[str, str, str, bool], Proposal] = {}
        self._told: dict[str, str] = {}

    def take(self, trace: Trace) -> None:
        """Only what somebody wrote as the user counts (the gate asks whether he did), and not what was recalled."""
        if trace.trace_type != "user" or RECALLED in trace.tags:
            return
        # The forms of six languages take a while to compile: a talk without a user needs none of them.
        from looseleaf.distill.statements import BEFORE, statements

        before = list(self._found.values())[-BEFORE:]
        for each in statements(trace.content, trace.ts, trace.id, before):
            key = (each.topic, each.relation.casefold(), each.object.casefold(), each.ended)
            self._found.pop(key, None)
            self._found[key] = each
            if len(self._found) > self._limit:
                del self._found[next(iter(self._found))]

    def used(self, trace: Trace) -> None:
        """A tool of ours was called, or answered. What the model wrote down at once needs no note of the same."""
        call = str(trace.tool_call_id)
        if trace.trace_type == "tool_call":
            if str(trace.tool_name).removeprefix(PREFIX) in _WRITERS and len(self._told) < _MOST_CALLS:
                self._told[call] = str(trace.tool_args)
            return
        said = self._told.pop(call, "")
        if not said or trace.tool_error:
            return
        from looseleaf.core.promises import bears, tells_of_waiting

        if tells_of_waiting(str(trace.tool_result or trace.content)):
            return  # nobody said yes to it: the user's own words stand
        for key in [key for key in self._found if key[1] == "note" and bears(key[2], said, sure=True)]:
            del self._found[key]

    def all(self) -> tuple[Proposal, ...]:
        return tuple(self._found.values())
