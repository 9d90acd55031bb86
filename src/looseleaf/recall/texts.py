"""The texts of what can be found, read where they stand: what was said, what is known, what was distilled."""

from __future__ import annotations

import re

from looseleaf.base.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from looseleaf.base.messages import Trace
    from looseleaf.base.values import Fact
    from looseleaf.log.entries import Entry
    from looseleaf.store.protocol import Store

SUMMARY, RAW = 0, 1
"""Which text of an entry an item is of."""

_SPEAKER = "speaker:"
_LONGEST_NAME = 60
_NAMED = r"([^\W\d_]\w{1,20}(?: [^\W\d_]\w{1,20})?): (?=\S)"
"""How somebody is named before what he says, in a talk of several."""

_LABELS = frozenset(
    "note noted notes correction update error warning question answer summary example todo fix result results reason "
    "subject reminder important attention plan goal idea task status step output input user assistant system rule "
    "edit yes no ok okay also and but so first second third finally today yesterday tomorrow".split()
)
"""What stands before a colon as well, and is nobody."""

ROLES = {"user": "user", "assistant": "assistant", "tool_call": "tool", "tool_result": "tool"}


def trace_text(trace: Trace) -> str:
    if trace.trace_type in ("user", "assistant") and not trace.media:
        return trace.content  # as below, without loading how windows are made: most are such
    from looseleaf.log.trace_messages import said

    return said(trace)


def fact_text(fact: Fact) -> str:
    """As its line says it, without the bullet."""
    return fact.object if fact.relation.casefold() == "note" else f"{fact.relation}: {fact.object}"


def summary_text(summary: dict[str, object]) -> str:
    """What an entry says in its own words: the summary, and what it noted."""
    from looseleaf.base.messages import NOTED

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


def speaker_of(trace: Trace) -> str:
    """Who speaks, by name: as its tag says (`speaker:Ann`), or as the text begins (`Ann: …`)."""
    for tag in trace.tags:
        if tag.startswith(_SPEAKER):
            return " ".join(tag.removeprefix(_SPEAKER).casefold().split())[:_LONGEST_NAME]
    if trace.trace_type in ("user", "assistant"):
        named = re.match(_NAMED, trace.content)
        if named is not None and _is_name(named[1].split()):
            return named[1].casefold()
    return ""


def _is_name(words: Sequence[str]) -> bool:
    is_large = all(word[0].isupper() or word.upper() == word.lower() for word in words)
    return is_large and _LABELS.isdisjoint(word.casefold() for word in words)


def fact_time(fact: Fact) -> float | None:
    """The time that a fact is from: when it was last said, else since when it holds, else when it was recorded."""
    from looseleaf.text.moments import moment

    return fact.said_at or moment(fact.valid_from or "") or fact.recorded_at


def entry_time(store: Store, entry: Entry) -> float | None:
    """The time that an entry is from: when the last of what it was made of was said, else when it was made."""
    from looseleaf.log.entries import traces_of

    try:
        said = [trace.ts for trace in traces_of(store, entry)] if entry.meta.get("traces") else []
    except Refused:
        said = []
    made = entry.meta.get("ts")
    return max(said) if said else float(made) if isinstance(made, (int, float)) else None
