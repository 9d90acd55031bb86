"""What a distiller holds of the facts that users stated while it reads."""

from __future__ import annotations

from looseleaf.base.own_tools import PREFIX, RECALLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.base.messages import Proposal, Trace

_WRITERS = frozenset({"memory", "memory_append", "memory_patch", "memory_write", "remember"})
_MOST_CALLS = 100
ASKED_CHARS = 400
"""Of what the assistant said last: its end, where it asks."""


class Stating:
    """What users stated, each once, the newest last; of too many the oldest go. `everything`: the material was given to
    be remembered, and every sentence of it is kept."""

    def __init__(self, limit: int, *, everything: bool = False) -> None:
        self._limit = limit
        self._everything = everything
        self._found: dict[tuple[str, str, str, bool], Proposal] = {}
        self._told: dict[str, str] = {}
        self.asked = ""
        """What the assistant said last: an answer is read with it."""

    def heard(self, trace: Trace) -> None:
        """The assistant spoke."""
        self.asked = trace.content[-ASKED_CHARS:]

    def take(self, trace: Trace) -> None:
        """Only what was written as the user counts (the gate asks by whom), and not what was recalled."""
        asked, self.asked = self.asked, ""
        if trace.trace_type != "user" or RECALLED in trace.tags:
            return
        # The weights take a moment to load: talk without a user needs none of them.
        from looseleaf.distill.statements import statements

        for each in statements(trace.content, trace.ts, trace.id, asked=asked, everything=self._everything):
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
        from looseleaf.language.promises import bears, tells_of_waiting

        if tells_of_waiting(str(trace.tool_result or trace.content)):
            return  # nobody said yes to it: the user's own words stand
        for key in [key for key in self._found if key[1] == "note" and bears(key[2], said, sure=True)]:
            del self._found[key]

    def all(self) -> tuple[Proposal, ...]:
        return tuple(self._found.values())
