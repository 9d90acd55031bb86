"""The reference memory server of MCP: a graph as JSON lines, of entities with observations and of relations.

Also what its tool `read_graph` answers: one object with `entities` and `relations`.
"""

from __future__ import annotations

from looseleaf.transfer.formats.statements import Files, is_said, related, topic_of
from looseleaf.transfer.json_stream import lines, members
from looseleaf.transfer.source import Claim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import Note, Source

NAME = "mcp-memory"
ABOUT = "the memory server of MCP: memory.jsonl with entities, observations, relations"

_SURE = 0.9
_LOOKED_AT = 5
"""Lines of a file that say what it is."""


def detect(source: Source) -> float:
    return _SURE if FILES.found(source) else 0.0


def read(source: Source, note: Note) -> Iterator[Claim]:
    return FILES.read(source, note, _claims)


def _is_one(source: Source, name: str) -> bool:
    from io import BytesIO

    if _is_graph(source, name):
        return True
    found = lines(BytesIO(source.head(name)), lambda _: None, name)
    for _, (_, value) in zip(range(_LOOKED_AT), found, strict=False):
        if isinstance(value, dict) and value.get("type") in ("entity", "relation"):
            return "name" in value or "from" in value
    return False


def _is_graph(source: Source, name: str) -> bool:
    """Whether a file is one object that begins with a graph's members."""
    head = "".join(source.head(name, 4096).decode("utf-8-sig", "replace").split())
    return head.startswith(('{"entities":[', '{"relations":['))


def _claims(source: Source, name: str, note: Note) -> Iterator[Claim]:
    for where, value in _records(source, name, note):
        match value:
            case {"type": "entity", "name": str(of), "entityType": str(kind), "observations": list(observed)}:
                yield from _entity(where, of, kind, observed, note)
            case {"type": "relation", "from": str(of), "to": str(to), "relationType": str(relation)} if (
                is_said(to)
            ):
                yield related(of, relation, to)
            case _:
                note(f"{where} was passed over: it is neither an entity nor a relation.")


def _records(source: Source, name: str, note: Note) -> Iterator[tuple[str, Any]]:
    if not _is_graph(source, name):
        with source.open(name) as stream:
            for number, value in lines(stream, note, name):
                yield f"{name}:{number}", value
        return
    for under, kind in (("entities", "entity"), ("relations", "relation")):
        with source.open(name) as stream:
            for key, value in members(stream, note, name, (under,)):
                yield f"{name}: {under} {key}", {**value, "type": kind} if isinstance(value, dict) else value


def _entity(where: str, of: str, kind: str, observed: list[Any], note: Note) -> Iterator[Claim]:
    topic = topic_of(of)
    if is_said(kind) and topic != "user":
        yield Claim(f"type\n{of}", topic, kind, None, "Type")
    for each in observed:
        if is_said(each):
            yield Claim(f"entity\n{of}\n{each}", topic, each)
        else:
            note(f"{where}: an observation was passed over: it is no text.")


FILES = Files((".jsonl", ".json"), _is_one)
