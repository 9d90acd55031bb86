"""What the tests of imports share: samples, archives made on the spot, and what a memory holds afterwards."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from looseleaf.base.messages import Trace
from looseleaf.base.paths import IMPORTER
from looseleaf.memory import Memory
from looseleaf.transfer.formats import detect, format_named
from looseleaf.transfer.import_ledger import Imported
from looseleaf.transfer.import_run import run
from looseleaf.transfer.source import (
    BrokenArchive,
    ImportClaim,
    ImportDocument,
    ImportMessage,
    ImportSource,
    Talk,
)

SAMPLES = Path(__file__).parent / "exports"
TALKS = {
    "chatgpt": "chatgpt",
    "claude": "claude",
    "claude_code": "claude-code",
    "codex": "codex",
    "messages.jsonl": "messages",
    "messages.json": "messages",
}
"""Samples of conversations, and what each must be taken for."""


def open_memory(folder: Path | str, agent: str = IMPORTER) -> Memory:
    return Memory(folder, agent=agent)


def take(memory: Memory, path: Path, form: str | None = None, **how: Any) -> Imported:
    with ImportSource(path) as source:
        return run(memory, source, format_named(form) if form else detect(source).format, **how)


def read(path: Path, form: str) -> tuple[list[Talk | ImportDocument | ImportClaim], list[str]]:
    """All items of a source, talks heard to their end, and what was passed over."""
    told: list[str] = []
    with ImportSource(path) as source:
        items = [
            Talk(item.key, item.title, tuple(item.said)) if isinstance(item, Talk) else item
            for item in format_named(form).read(source, told.append)
        ]
    return items, told


def line_of(said: ImportMessage) -> str:
    """One thing that was said, short enough for a list of them."""
    if said.role == "tool_call":
        return f"call {said.call_id}: {said.name} {json.dumps(said.args)}"
    if said.role == "tool_result":
        what = (
            f"error {said.error}" if said.error is not None else json.dumps(said.result, ensure_ascii=False)
        )
        return f"result {said.call_id}: {what}"
    more = "".join(f" [{kind} {', '.join(own)}]" for kind, own in (said.media or {}).items())
    return f"{said.role}: {said.text}{more}"


def traces_of(memory: Memory, agent: str = IMPORTER) -> list[Trace]:
    found = (Trace.from_record(line.record) for line in memory.parts.context.store.read(f"traces/{agent}"))
    return [trace for trace in found if trace is not None]


def log_of(memory: Memory) -> dict[str, bytes]:
    """What is the truth of a memory, byte for byte."""
    top = Path(memory.path)
    paths = (path for path in top.rglob("*") if path.is_file())
    names = {path.relative_to(top).as_posix(): path for path in paths}
    return {
        name: path.read_bytes() for name, path in names.items() if not name.startswith(("views/", "log/lock"))
    }


def zip_of(path: Path, files: Mapping[str, bytes | str], **how: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **how) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tar_of(
    path: Path, files: Mapping[str, bytes], change: Callable[[tarfile.TarInfo], None] | None = None
) -> Path:
    mode = "w:gz" if path.suffix in (".gz", ".tgz") else "w"
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            if change is not None:
                change(info)
            archive.addfile(info, io.BytesIO(data))
    return path


def files_of(sample: str) -> dict[str, bytes]:
    """A sample as files by name."""
    top = SAMPLES / sample
    return {
        path.relative_to(top).as_posix(): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }


def conversation(
    key: str, *said: tuple[str, str], title: str = "", ts: float = 1_760_000_000.0
) -> dict[str, Any]:
    """One of ChatGPT's, in which each thing follows the one before."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    before = "root"
    for number, (role, text) in enumerate(said):
        name = f"{key}-{number}"
        message = {
            "id": name,
            "author": {"role": role},
            "create_time": ts + number,
            "content": {"content_type": "text", "parts": [text]},
            "weight": 1.0,
            "metadata": {},
            "recipient": "all",
        }
        mapping[name] = {"id": name, "message": message, "parent": before, "children": []}
        mapping[before]["children"].append(name)
        before = name
    own = {"title": title, "create_time": ts, "update_time": ts, "mapping": mapping, "current_node": before}
    return own | {"conversation_id": key}


def export(path: Path, *conversations: dict[str, Any]) -> Path:
    path.write_text(json.dumps(list(conversations)), encoding="utf-8")
    return path


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


KEY = "sk-ant-api03-" + "Ab3" * 30 + "-AAAAAAAA"
HELLO = (("user", "hello there"), ("assistant", "good day"))


class Made:
    """A format whose items the test makes."""

    NAME = "made"
    ABOUT = "what a test makes"

    def __init__(self, *items: Talk | ImportDocument | ImportClaim) -> None:
        self._items = items

    def detect(self, source: ImportSource) -> float:
        return 1.0

    def read(self, source: ImportSource, note: Any) -> Any:
        yield from self._items


def bring(memory: Memory, *items: Talk | ImportDocument | ImportClaim, **how: Any) -> Imported:
    with ImportSource(SAMPLES / "mem0.json") as source:
        return run(memory, source, Made(*items), **how)  # type: ignore[arg-type]


def talk(key: str, *texts: str) -> Talk:
    roles = ("user", "assistant")
    said = [
        ImportMessage(f"{key}{at}", roles[at % 2], text, 1_760_000_000.0 + at)  # type: ignore[arg-type]
        for at, text in enumerate(texts)
    ]
    return Talk(key, key, said)


def ledger(memory: Memory) -> list[dict[str, Any]]:
    return [line.record for line in memory.parts.context.store.read("imports")]


def broken_off(*said: ImportMessage) -> Any:
    yield from said
    raise BrokenArchive("it.zip: talk was not read to its end: Bad CRC.")
