"""Older formats, read as today's. Nothing is rewritten: what is derived is built again, what is stored stays."""

from __future__ import annotations

from looseleaf.base.messages import NOTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def entry_from_v0(
    reference: str, meta: dict[str, Any], summary: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`entry.v0` had `entry_id` and `entry_ts`, no distiller and no level; its summary had plain sentences, and facts
    with a `type`, a self-made `confidence` (which is not read) and no quote. What a person scored, a person vouched
    for; of the rest nobody knows whose words it was, so it waits in review."""
    topic, _, name = reference.rpartition("/")
    ts = meta.get("entry_ts")
    new_meta = {
        "schema": "entry.v1",
        "id": str(meta.get("entry_id") or name),
        "ts": float(ts) if isinstance(ts, (int, float)) else 0.0,
        "topic": str(meta.get("topic") or topic),
        "agent": str(meta.get("agent") or "main"),
        "origin": "document",
        "turn_ids": [],
        "distiller": str(meta.get("distiller") or "unknown/0"),
        "trust": "tainted",
        "upgraded": "entry.v0",
    }
    facts = summary.get("facts")
    new_summary: dict[str, Any] = {
        "schema": "entry_summary.v1",
        "summary": str(summary.get("summary") or ""),
        "episode": None,
        "facts": [_fact(each, topic) for each in facts if isinstance(each, dict)]
        if isinstance(facts, list)
        else [],
    }
    for member in NOTED:
        given = summary.get(member)
        said = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
        new_summary[member] = [{"text": each, "source": ""} for each in said]
    return new_meta, new_summary


def _fact(raw: dict[str, Any], topic: str) -> dict[str, Any]:
    subject = str(raw.get("subject") or topic)
    said = str(raw.get("object") or "")
    return {
        "topic": "user" if subject.casefold() == "user" else topic,
        "relation": str(raw.get("relation") or "note"),
        "object": said,
        "kind": raw.get("type"),
        "time_span": raw.get("time_span"),
        "user_fact_score": raw.get("user_fact_score"),
        "quote": f"{raw.get('relation') or ''} {said}".strip(),
    }
