"""The texts of what can be found, read where they stand: what was said, what is known, what was distilled."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.talk import Trace
    from looseleaf.values import Fact

SUMMARY, RAW = 0, 1
"""Which text of an entry an item is of."""


def trace_text(trace: Trace) -> str:
    if trace.trace_type in ("user", "assistant") and not trace.media:
        return trace.content  # as below, without loading how windows are made: most are such
    from looseleaf.core.window import said

    return said(trace)


def fact_text(fact: Fact) -> str:
    """As its line says it, without the bullet."""
    return fact.object if fact.relation.casefold() == "note" else f"{fact.relation}: {fact.object}"


def summary_text(summary: dict[str, object]) -> str:
    """What an entry says in its own words: the summary, and what it noted."""
    from looseleaf.talk import NOTED

    parts = [str(summary.get("summary") or "")]
    for name in NOTED:
        noted = summary.get(name)
        if isinstance(noted, list):
            parts += [f"- {each['text']}" for each in noted if isinstance(each, dict) and "text" in each]
    return "\n".join(part for part in parts if part.strip())


def decoded(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def writable(text: str) -> str:
    """Another program's log may hold halves of characters, which no database takes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
