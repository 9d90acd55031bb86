"""Build: views made from the log, the same bytes whenever they are made (FORMAT §11.6).

`views/agents/<agent>/episodic.jsonl` has a line for each compaction of the agent, `semantic.jsonl` one for each thing
that had to be kept. What is there already is only added to.
"""

from __future__ import annotations

import json

from looseleaf.core.window import Mark
from looseleaf.entries import read_entry
from looseleaf.errors import Refused
from looseleaf.store import JOURNAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from looseleaf.entries import Entry
    from looseleaf.store.protocol import Store

_KEPT = (("constraints", "constraint", 0.9), ("decisions", "decision", 0.8), ("tasks", "task", 0.7))
"""What of an entry is a line of its own, its tag, and how much it matters (salience)."""

_EPISODE_SALIENCE = 0.5
_CONFIDENCE = 0.8
"""That the rules understood a sentence as it was meant; that it was said is certain."""


def build_agent(store: Store, agent: str, mark: Mark | None = None) -> None:
    """Bring an agent's views up to date; `mark`: the one that was just made, if nothing else is new."""
    try:
        _build(store, f"views/agents/{agent}", agent, mark)
    except Refused:
        pass  # made again another time; nothing that was asked for rests on it


def _build(store: Store, folder: str, agent: str, mark: Mark | None) -> None:
    episodic, semantic = (_lines(store, f"{folder}/{name}.jsonl") for name in ("episodic", "semantic"))
    before = mark.episodic[-2][0] if mark and len(mark.episodic) > 1 else None
    if mark is not None and episodic and episodic[-1].get("entry") == before:
        new = [mark.entry] if mark.entry else []
    else:
        episodic, semantic = [], []
        new = list(_entries_of(store, agent))
    for reference in new:
        try:
            entry = read_entry(store, str(reference))
            episode, facts = _episode(entry, len(episodic) + 1), _facts(entry, len(semantic) + 1)
        except (Refused, KeyError, TypeError):
            continue  # somebody removed or broke it; `check` says so
        episodic.append(episode)
        semantic += facts
    store.view(f"{folder}/episodic.jsonl", _jsonl(episodic))
    store.view(f"{folder}/semantic.jsonl", _jsonl(semantic))


def _entries_of(store: Store, agent: str) -> Iterator[str]:
    """The entries that the agent's marks name, in their order. One that a crash left without a mark is none."""
    for line in store.read(JOURNAL):
        if (
            line.record.get("kind") == "mark"
            and line.record.get("agent") == agent
            and line.record.get("entry")
        ):
            yield str(line.record["entry"])


def _episode(entry: Entry, number: int) -> dict[str, Any]:
    return {
        "id": f"ep_{number:04d}",
        "ts": entry.meta["ts"],
        "turn_ids": entry.meta["turn_ids"],
        "summary": entry.summary["summary"],
        "tags": ["compaction", entry.meta["level"]],
        "salience": _EPISODE_SALIENCE,
        "entry": entry.reference,
    }


def _facts(entry: Entry, number: int) -> list[dict[str, Any]]:
    found = [(each, tag, salience) for name, tag, salience in _KEPT for each in entry.summary.get(name, ())]
    return [
        {
            "id": f"sem_{number + offset:04d}",
            "ts": entry.meta["ts"],
            "fact": each["text"],
            "tags": [tag],
            "confidence": _CONFIDENCE,
            "salience": salience,
            "source": each["source"],
            "entry": entry.reference,
        }
        for offset, (each, tag, salience) in enumerate(found)
    ]


def _lines(store: Store, path: str) -> list[dict[str, Any]]:
    try:
        document = store.get(path)
        found = [json.loads(line) for line in document.data.splitlines()] if document else []
    except (Refused, ValueError):
        return []
    return found if all(isinstance(each, dict) for each in found) else []


def _jsonl(lines: Sequence[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()
