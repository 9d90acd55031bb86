"""What a distiller holds of the facts that users stated while it reads."""

from __future__ import annotations

from looseleaf.core.gate import RECALLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.talk import Proposal, Trace


class Stating:
    """What users stated, each once, the newest last; of too many the oldest go."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._found: dict[tuple[str, str, str, bool], Proposal] = {}

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

    def all(self) -> tuple[Proposal, ...]:
        return tuple(self._found.values())
