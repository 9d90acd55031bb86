"""Reading what others wrote, value by value: whatever it is, there is an answer, and nothing raises."""

from __future__ import annotations

import json

from looseleaf.base.messages import FARTHEST
from looseleaf.transfer.formats.agent_lines import moment_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looseleaf.transfer.source import Source

_TEXTS = ("text", "input_text", "output_text", "summary_text", "refusal", "thinking")


def named(source: Source, *endings: str) -> list[str]:
    """The names of files that end so, without what a Mac puts beside each file and what editors hide."""
    return [
        name
        for name in source.names()
        if name.lower().endswith(endings)
        and not name.startswith("__MACOSX/")
        and not stem(name).startswith(".")
    ]


def to_read(source: Source, found: list[str]) -> list[str]:
    """What was found by its name; a single file is what its user says it is, however it is called."""
    return found or (list(source.names()) if source.kind == "file" else [])


def stem(name: str) -> str:
    """The last part of a name, without its ending."""
    return name.rpartition("/")[2].rsplit(".", 1)[0] if not name.rpartition("/")[2].startswith(".") else "."


def when(value: object) -> float | None:
    """Epoch seconds of a number or an ISO time; a number of milliseconds is taken for one."""
    if isinstance(value, str):
        found = moment_of(value)
        return found if found is not None and abs(found) < FARTHEST else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value != value or abs(value) >= FARTHEST * 1000:
        return None
    return float(value) / 1000 if abs(value) >= FARTHEST else float(value)


def words(value: object) -> str:
    """A text, or "" for anything else."""
    return value if isinstance(value, str) else ""


def members(value: object) -> dict[str, Any]:
    """An object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list, or none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def unwrapped(own: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """An object itself, or those that it has under `conversations`, with their numbers."""
    held = own.get("conversations")
    yield from (
        ((str(number), each) for number, each in enumerate(held)) if isinstance(held, list) else [("", own)]
    )


def spoken(content: object) -> str:
    """The text of a content that is a text, or a list of texts and of blocks that have one."""
    if isinstance(content, list):
        return "\n\n".join(filter(None, (_block(each) for each in content)))
    return words(content)


def _block(block: object) -> str:
    if isinstance(block, dict):
        return next((words(block[name]) for name in _TEXTS if words(block.get(name))), "")
    return words(block)


_MEDIA = {"image_url": "images", "audio_url": "audio", "video_url": "video"}


def media_of(content: object) -> dict[str, list[str]] | None:
    """The addresses of pictures and recordings in a content; what is written out in it is none."""
    found: dict[str, list[str]] = {}
    for block in objects(content):
        for name, kind in _MEDIA.items():
            given = block.get(name)
            address = words(given.get("url")) if isinstance(given, dict) else words(given)
            if address and not address.startswith("data:"):
                found.setdefault(kind, []).append(address)
    return found or None


def loaded(text: object) -> Any:
    """Arguments that were written as JSON; else as they are."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return text


def clipped(texts: Iterator[str] | list[str], most: int = 80) -> str:
    """A title of the first text that has words."""
    line = next((" ".join(text[:400].split()) for text in texts if text.strip()), "")
    return line if len(line) <= most else f"{line[:most].rstrip()}…"
