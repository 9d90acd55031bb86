"""The MCP reference memory server: a graph as JSON lines, with entities, their observations, and relations.

Also reads the answer of its tool `read_graph`: one object with `entities` and `relations`.
"""

from __future__ import annotations

from looseleaf.transfer.formats.statements import has_words, relation_claim, topic_of
from looseleaf.transfer.json_stream import json_lines, members
from looseleaf.transfer.source import ImportClaim, files_to_read, skip_broken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import ImportSource, Note

NAME = "mcp-memory"
ABOUT = "the MCP memory server: memory.jsonl with entities, observations, relations"

_LOOKED_AT = 5
"""Lines looked at to recognize a file."""


def detect(source: ImportSource) -> float:
    return 0.9 if _find_files(source) else 0.0


def read(source: ImportSource, note: Note) -> Iterator[ImportClaim]:
    for name in files_to_read(source, _find_files(source)):
        with skip_broken(note):
            yield from _read_claims(source, name, note)


def _find_files(source: ImportSource) -> list[str]:
    return [
        name
        for name in source.names()
        if name.lower().endswith((".jsonl", ".json")) and _is_store(source, name)
    ]


def _is_store(source: ImportSource, name: str) -> bool:
    from io import BytesIO

    if _is_graph(source, name):
        return True
    found = json_lines(BytesIO(source.head(name)), lambda _: None, name)
    for _, (_, value) in zip(range(_LOOKED_AT), found, strict=False):
        if isinstance(value, dict) and value.get("type") in ("entity", "relation"):
            return "name" in value or "from" in value
    return False


def _is_graph(source: ImportSource, name: str) -> bool:
    """True for a file that is one object and begins with a graph's members."""
    head = "".join(source.head(name, 4096).decode("utf-8-sig", "replace").split())
    return head.startswith(('{"entities":[', '{"relations":['))


def _read_claims(source: ImportSource, name: str, note: Note) -> Iterator[ImportClaim]:
    for where, value in _read_records(source, name, note):
        match value:
            case {"type": "entity", "name": str(of), "entityType": str(kind), "observations": list(observed)}:
                yield from _read_entity(where, of, kind, observed, note)
            case {"type": "relation", "from": str(of), "to": str(to), "relationType": str(relation)} if (
                has_words(to)
            ):
                yield relation_claim(of, relation, to)
            case _:
                note(f"{where} was passed over: it is neither an entity nor a relation.")


def _read_records(source: ImportSource, name: str, note: Note) -> Iterator[tuple[str, Any]]:
    if not _is_graph(source, name):
        with source.open(name) as stream:
            for number, value in json_lines(stream, note, name):
                yield f"{name}:{number}", value
        return
    for under, kind in (("entities", "entity"), ("relations", "relation")):
        with source.open(name) as stream:
            for key, value in members(stream, note, name, (under,)):
                yield f"{name}: {under} {key}", {**value, "type": kind} if isinstance(value, dict) else value


def _read_entity(where: str, of: str, kind: str, observed: list[Any], note: Note) -> Iterator[ImportClaim]:
    topic = topic_of(of)
    if has_words(kind) and topic != "user":
        yield ImportClaim(f"type\n{of}", topic, kind, None, "Type")
    for each in observed:
        if has_words(each):
            yield ImportClaim(f"entity\n{of}\n{each}", topic, each)
        else:
            note(f"{where}: an observation was passed over: it is not text.")
