"""What was said elsewhere, as it is asked to be recorded here: its members, its time, and what it is called."""

from __future__ import annotations

from looseleaf.log.record_request import imported
from looseleaf.transfer.reading import clipped, when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.log.record_request import Asked
    from looseleaf.transfer.items import Said

_LONGEST_NAME = 200


class Heard:
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


def asked_of(said: Said, mark: str, session: str, origin: str | None, ts: float | None) -> Asked:
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
