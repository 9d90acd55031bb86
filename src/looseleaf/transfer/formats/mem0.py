"""mem0's memories as JSON: the result of `get_all`, or an export, of the library or the platform.

A list of memories, or an object with them under `results` (or `memories`), perhaps with `relations` of its graph.
"""

from __future__ import annotations

import re

from looseleaf.language.topic_words import topic_name
from looseleaf.transfer.formats.statements import has_words, relation_claim, topic_of
from looseleaf.transfer.json_stream import members
from looseleaf.transfer.source import ImportClaim, dict_of, files_to_read, skip_broken, time_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import ImportSource, Note

NAME = "mem0"
ABOUT = "mem0: the result of get_all or an export, as JSON"

_LIST = re.compile(r'\s*(?:\[|\{(?:[^{}\[\]]{0,2000}?)"(results|memories)"\s*:\s*\[)')
_MEMORY = re.compile(r'"memory"\s*:\s*"')
_ITS_OWN = re.compile(r'"(?:hash|user_id|agent_id|run_id|created_at|categories|metadata)"\s*:')


def detect(source: ImportSource) -> float:
    return 0.85 if _find_files(source) else 0.0


def read(source: ImportSource, note: Note) -> Iterator[ImportClaim]:
    for name in files_to_read(source, _find_files(source)):
        with skip_broken(note):
            yield from _read_claims(source, name, note)


def _find_files(source: ImportSource) -> list[str]:
    return [name for name in source.names() if name.lower().endswith(".json") and _is_store(source, name)]


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
                    times = (time_of(value.get(each)) for each in ("updated_at", "created_at"))
                    ts = next((each for each in times if each is not None), None)
                    yield ImportClaim(str(value.get("id") or text), _pick_topic(value, users), text, ts)
                case _:
                    note(f"{name}: number {key} was passed over: it is not a memory.")
    if under:
        yield from _read_relations(source, name, note, users)


def _find_users(source: ImportSource, name: str, under: tuple[str, ...]) -> frozenset[str]:
    """Return the users that a store knows: a single one is the user of this memory."""
    with source.open(name) as stream:
        found = (dict_of(value).get("user_id") for _, value in members(stream, lambda _: None, name, under))
        return frozenset(str(user) for user in found if user)


def _pick_topic(value: dict[str, Any], users: frozenset[str]) -> str:
    if len(users) > 1 and value.get("user_id"):
        return topic_of(str(value["user_id"]))
    categories = value.get("categories")
    first = categories[0] if isinstance(categories, list) and categories else None
    return topic_name(first.replace("_", " ")) if isinstance(first, str) and first.strip() else "user"


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
