"""Topic memory and global memory (FORMAT §11.6): facts by topic, and the few that must not be forgotten.

A topic is made again when its facts or entries changed, or a file of it is missing; all others are left alone. The
global files are made of one short digest a topic, kept in `views/topics.json`: they cost what there are topics, not
what there is history.
"""

from __future__ import annotations

import json

from looseleaf.core.essentials import digest, global_md, global_memory
from looseleaf.core.gate import level_of
from looseleaf.core.identity import true_at
from looseleaf.core.topics import state_inputs_hash, topic_md, topic_memory
from looseleaf.entries import read_entry
from looseleaf.errors import Refused
from looseleaf.frozen import frozen
from looseleaf.store import codec
from looseleaf.talk import NOTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from looseleaf.place.facts import Facts
    from looseleaf.store.protocol import Store
    from looseleaf.values import Record

INDEX = "views/topics.json"
FOLDER = "views/topics"
GLOBAL = "views/GLOBAL_MEMORY"
SCHEMA = "topics.v1"
BY_RULES = "rules/1"

ENTRIES = 200
"""The newest entries of a topic that its state is made of."""


@frozen
class Built:
    """What a build did: the topics that it made again, and how many there are."""

    made: tuple[str, ...]
    topics: int


class Topics:
    def __init__(self, store: Store, facts: Facts) -> None:
        self._store = store
        self._facts = facts

    @property
    def names(self) -> list[str]:
        return sorted(name for name in self._facts.topics if "/" not in name)

    # --- reading -----------------------------------------------------------------------

    def topic(self, name: str, as_of: float | None = None) -> dict[str, Any]:
        """The memory of a topic, as it is now or was at a time."""
        facts = true_at(self._facts.of(name), as_of)
        if as_of is not None:  # what was true then is what is current in that memory
            facts = [fact.but(status="current", valid_to=None, superseded_by=None) for fact in facts]
        entries = self._entries(name, as_of)
        made = topic_memory(name, facts, entries, as_of=as_of)
        return made | {
            "state_by": BY_RULES,
            "state_inputs": state_inputs_hash(name, facts, entries, as_of=as_of),
        }

    def whole(self, as_of: float | None = None) -> dict[str, Any]:
        """The global memory, as it is now or was at a time."""
        return global_memory(self._digest(name, self.topic(name, as_of), as_of) for name in self.names)

    def _digest(self, name: str, memory: Mapping[str, Any], as_of: float | None) -> dict[str, Any]:
        facts = true_at(self._facts.of(name), as_of)
        if as_of is not None:
            facts = [fact.but(status="current", valid_to=None, superseded_by=None) for fact in facts]
        return digest(memory, facts)

    def _entries(self, name: str, as_of: float | None) -> list[dict[str, Any]]:
        placed = sorted(
            self._facts.entries_of(name).items(), key=lambda item: (item[1], item[0]), reverse=True
        )
        found: list[dict[str, Any]] = []
        for reference, ts in placed:
            if len(found) == ENTRIES:
                break
            if as_of is not None and ts > as_of:
                continue
            try:
                entry = read_entry(self._store, reference)
            except Refused:
                continue  # somebody removed or broke it; `check` says so
            summary, trust = entry.summary, str(entry.meta.get("trust", "tainted"))
            if trust == "tainted":
                # What tools said stands in its summary; what the user and the assistant noted does not rest on that.
                origins = entry.meta.get("sources") or {}
                trust = "inferred"
                summary = {"summary": ""} | {
                    name: [
                        each
                        for each in summary.get(name, ())
                        if level_of(str(origins.get(each.get("source"), ""))) != "tainted"
                    ]
                    for name in NOTED
                }
            name_of = reference.rpartition("/")[2]
            found.append({"entry_id": name_of, "ts": ts, "level": trust, "summary": summary})
        return found

    # --- making ------------------------------------------------------------------------

    def build(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> Built:
        """Bring the views up to date; `full`: make all of them again."""
        known = {} if full else self._known()
        made: list[str] = []
        digests: dict[str, list[Any]] = {}
        names = self.names
        for number, name in enumerate(names):
            mark = list(self._facts.topics[name])
            before = known.get(name)
            if before is not None and before[0] == mark and self._is_there(name):
                digests[name] = before
                continue
            memory = self.topic(name)
            self._store.view(f"{FOLDER}/{name}/topic_memory.json", _json(memory))
            self._store.view(f"{FOLDER}/{name}/topic_memory.md", topic_md(memory).encode())
            digests[name] = [mark, self._digest(name, memory, None)]
            made.append(name)
            if progress is not None:
                progress(number + 1, len(names))
        if made or digests.keys() != known.keys() or not self._has_global():
            whole = global_memory(each for _, each in digests.values())
            self._store.view(f"{GLOBAL}.json", _json(whole))
            self._store.view(f"{GLOBAL}.md", global_md(whole).encode())
            self._store.view(INDEX, codec.encode({"schema": SCHEMA, "topics": dict(sorted(digests.items()))}))
        return Built(tuple(made), len(names))

    def _known(self) -> dict[str, list[Any]]:
        """What was built, and behind which record of the journal; nothing if that is not whole."""
        try:
            document = self._store.get(INDEX)
            raw, checked = codec.decode(document.data.rstrip(b"\n") if document else b"")
        except (Refused, codec.Damaged):
            return {}
        topics: Record = raw.get("topics", {}) if checked and raw.get("schema") == SCHEMA else {}
        return {name: [mark, each] for name, (mark, each) in topics.items()}

    def _is_there(self, name: str) -> bool:
        paths = (f"{FOLDER}/{name}/topic_memory.json", f"{FOLDER}/{name}/topic_memory.md")
        return all(self._store.stat(path) is not None for path in paths)

    def _has_global(self) -> bool:
        return all(self._store.stat(f"{GLOBAL}.{end}") is not None for end in ("json", "md"))


def _json(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:  # half a character is no UTF-8
        return f"{json.dumps(value, indent=1)}\n".encode()
