"""What the log knows of a transcript's lines and of the texts that hooks handed over; and when two texts are the same.

Nothing here writes but the list of prompts that came to a locked memory, by their checksums: the transcript will have
them, and they are the user's all the same.
"""

from __future__ import annotations

from zlib import crc32

from looseleaf.base.errors import Refused
from looseleaf.log.read_turns import made, traces_back
from looseleaf.store import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looseleaf.base.values import Record
    from looseleaf.memory import Memory
    from looseleaf.store.protocol import Store

PROMPT, ANSWER = "hook:user-prompt", "hook:stop"
"""The `source_event` of what a hook handed over; what came from a transcript has a key (`correlation_id`)."""

SLACK = 600.0
"""Seconds by which the clock of a transcript may be ahead of the recording: a laptop that slept in between."""

TAIL = 200
"""Characters by which the end of an answer is known."""

_MISSED = 32
_LONGEST = 8_000
"""Characters of a text that is known by itself; a longer one is known by its checksum."""


class Past:
    """Read back as far as is asked for. `keys`: the turn of each line; `foreign`: those of other sessions."""

    def __init__(self, memory: Memory, session: str, stream: str) -> None:
        self._traces = traces_back(memory.store, stream)
        self._session = session
        self._reached = False
        self._since = float("inf")
        self.keys: dict[str, str] = {}
        self.foreign: set[str] = set()
        self.handed: dict[tuple[str, str], str] = {}

    def read(self, since: float | None, *, is_known: bool) -> None:
        """Back to a time; where none is given, to the beginning of the session."""
        while not self._reached and (is_known if since is None else self._since >= since - SLACK):
            trace = next(self._traces, None)
            if trace is None:
                self._reached = True
                return
            self._since = min(self._since, made(trace))
            is_own = trace.session_id == self._session
            if trace.correlation_id is not None:
                self.keys.setdefault(trace.correlation_id, trace.turn_id)
                if not is_own:
                    self.foreign.add(trace.correlation_id)
            if is_own:
                if trace.source_event in (PROMPT, ANSWER):
                    self.handed.setdefault((trace.trace_type, alike(trace.content)), trace.turn_id)
                if since is None and trace.session_start:
                    return


def told(each: dict[str, Any]) -> tuple[str, str]:
    """Who says something in what is to be recorded, and what; nobody, if it is a tool's."""
    role = next((role for role in ("user", "assistant") if isinstance(each.get(role), str)), "")
    return role, each.get(role, "")


def is_call(each: dict[str, Any]) -> bool:
    return "tool_call" in each and isinstance(each.get("tool_call_id"), str)


def is_result(each: dict[str, Any]) -> bool:
    return "tool_result" in each or "tool_error" in each


# --- prompts that could not be recorded ------------------------------------------------


def miss(store: Store, agent: str, session: str, text: str) -> None:
    """Without the lock, which somebody holds: at worst one of two that come in the same moment is forgotten."""
    known = [*_missed(store, agent), [session, checksum(lined(text))]]
    try:
        store.view(_list_of(agent), records.encode({"missed": known[-_MISSED:]}))
    except Refused:
        pass  # it will be recorded as a tool's


def was_missed(store: Store, agent: str, session: str, text: str) -> bool:
    return [session, checksum(lined(text))] in _missed(store, agent)


def _missed(store: Store, agent: str) -> list[Any]:
    found = viewed(store, _list_of(agent)).get("missed")
    return found if isinstance(found, list) else []


def _list_of(agent: str) -> str:
    return f"views/agents/{agent}/missed.json"


def viewed(store: Store, path: str) -> Record:
    """What a view says; nothing, if it is not there or no good."""
    try:
        document = store.get(path)
    except Refused:
        return {}
    return records.whole(document.data) if document is not None else {}


# --- the same --------------------------------------------------------------------------


def ending(role: str, text: str) -> str:
    """How a text ends, by which an answer in parts is known; a prompt is known by the whole of it."""
    own = lined(text)
    return checksum(own) if role == "user" else own[-TAIL:]


def alike(text: str) -> str:
    """The same for texts that differ in white space only; line by line, so that a part of one is found in it."""
    own = lined(text)
    return own if len(own) <= _LONGEST else checksum(own)


def lined(text: str) -> str:
    return "\n".join(found for line in text.splitlines() if (found := " ".join(line.split())))


def checksum(text: str) -> str:
    return f"{crc32(text.encode('utf-8', 'surrogatepass')):08x}-{len(text)}"
