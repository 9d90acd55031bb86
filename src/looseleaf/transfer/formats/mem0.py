"""mem0's memories as JSON: the result of `get_all`, or an export, of the library or the platform.

A list of memories, or an object with them under `results` (or `memories`), perhaps with `relations` of its graph.
"""

from __future__ import annotations

import re

from looseleaf.language.topic_words import topic_name
from looseleaf.transfer.formats.statements import StoreFiles, has_words, relation_claim, topic_of
from looseleaf.transfer.json_stream import members
from looseleaf.transfer.source import ImportClaim, time_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import ImportSource, Note

NAME = "mem0"
ABOUT = "mem0: the result of get_all or an export, as JSON"

_SURE = 0.85
_LIST = re.compile(r'\s*(?:\[|\{(?:[^{}\[\]]{0,2000}?)"(results|memories)"\s*:\s*\[)')
_MEMORY = re.compile(r'"memory"\s*:\s*"')
_ITS_OWN = re.compile(r'"(?:hash|user_id|agent_id|run_id|created_at|categories|metadata)"\s*:')


def detect(source: ImportSource) -> float:
    return _SURE if FILES.find(source) else 0.0


def read(source: ImportSource, note: Note) -> Iterator[ImportClaim]:
    return FILES.read(source, note, _read_claims)


def _read_head(source: ImportSource, name: str) -> str:
    return source.head(name, 16_384).decode("utf-8-sig", "replace")


def _is_store(source: ImportSource, name: str) -> bool:
    head = _read_head(source, name)
    return bool(_LIST.match(head) and _MEMORY.search(head) and _ITS_OWN.search(head))


def _read_claims(source: ImportSource, name: str, note: Note) -> Iterator[ImportClaim]:
    found = _LIST.match(_read_head(source, name))
    under = (found[1],) if found is not None and found[1] else ()
    users = _find_users(source, name, under)
    with source.open(name) as stream:
        for key, value in members(stream, note, name, under):
            match value:
                case {"memory": text} if has_words(text):
                    yield ImportClaim(
                        str(value.get("id") or text), _pick_topic(value, users), text, _time_of(value)
                    )
                case _:
                    note(f"{name}: number {key} was passed over: it is not a memory.")
    if under:
        yield from _read_relations(source, name, note, users)


def _find_users(source: ImportSource, name: str, under: tuple[str, ...]) -> frozenset[str]:
    """Return the users that a store knows: a single one is the user of this memory."""
    with source.open(name) as stream:
        found = (
            value for _, value in members(stream, lambda _: None, name, under) if isinstance(value, dict)
        )
        return frozenset(str(value["user_id"]) for value in found if value.get("user_id"))


def _pick_topic(value: dict[str, Any], users: frozenset[str]) -> str:
    if len(users) > 1 and value.get("user_id"):
        return topic_of(str(value["user_id"]))
    categories = value.get("categories")
    first = categories[0] if isinstance(categories, list) and categories else None
    return topic_name(first.replace("_", " ")) if isinstance(first, str) and first.strip() else "user"


def _time_of(value: dict[str, Any]) -> float | None:
    times = (time_of(value.get(name)) for name in ("updated_at", "created_at"))
    return next((time for time in times if time is not None), None)


def _read_relations(
    source: ImportSource, name: str, note: Note, users: frozenset[str]
) -> Iterator[ImportClaim]:
    with source.open(name) as stream:
        for key, value in members(stream, lambda _: None, name, ("relations",)):
            match value:
                case {"source": str(of), "relationship": str(relation)}:
                    to = value.get("target", value.get("destination"))
                    if has_words(to):
                        yield relation_claim("user" if users == {of} else of, relation, to)
                        continue
            note(f"{name}: relation {key} was passed over: it is not a relation.")


FILES = StoreFiles((".json",), _is_store)
