"""What an agent wrote, or asked to have written, by calls of tools that go: it goes with them.

A write is known by the receipt that its result names, or by its time: between the call and the result.
"""

from __future__ import annotations

import re

from looseleaf.base.own_tools import is_own
from looseleaf.log.heads import AGENT, PROGRAM
from looseleaf.text.words import each_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from looseleaf.base.values import Edit, Record

_RECEIPT = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")


class Writes:
    """Of the calls in these traces, oldest first, that are `gone`. What was imported wrote nothing here."""

    def __init__(
        self, traces: Iterable[tuple[str, Record]] = (), is_gone: Callable[[str, Record], bool] | None = None
    ) -> None:
        self._receipts: set[str] = set()
        self._spans: list[tuple[str, float, float]] = []
        calls: dict[tuple[str, str], float] = {}
        for stream, record in traces:
            name = stream, str(record.get("tool_call_id"))
            kind, origin = record.get("trace_type"), str(record.get("origin"))
            if kind == "tool_call":
                calls.pop(name, None)
                is_ours = is_own(record.get("tool_name")) and not origin.startswith("import")
                if is_gone is not None and is_ours and is_gone(stream, record):
                    calls[name] = float(record.get("ts") or 0.0)
            elif kind == "tool_result" and name in calls:
                texts = each_text([record.get("tool_result"), record.get("content")])
                self._receipts.update(each for text in texts for each in _RECEIPT.findall(text))
                agent = f"{AGENT}{stream.partition('/')[2]}"
                self._spans.append((agent, calls.pop(name), float(record.get("ts") or 0.0)))

    def has(self, edit: Edit) -> bool:
        """Whether an edit was made by one of them: by the agent itself, or by the program, which asks for it."""
        author = edit.author
        if author == PROGRAM and edit.path.startswith("review/") and edit.facts:
            asking = {str(each.get("origin")) for each in edit.facts}
            author = asking.pop() if len(asking) == 1 else ""
        if not author.startswith(AGENT):
            return False
        if edit.id in self._receipts:
            return True
        return any(agent == author and begin <= edit.ts <= end for agent, begin, end in self._spans)
