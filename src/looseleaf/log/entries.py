"""Entries: one distillation each, as three files that are written once and never change (FORMAT §11.2)."""

from __future__ import annotations

import json

from looseleaf.base.errors import NotFound, Unreadable, check_text
from looseleaf.base.immutable import frozen
from looseleaf.base.messages import NOTED, SELDOM_NOTED, Distilled, Noted, Trace
from looseleaf.base.paths import path_fault
from looseleaf.base.values import START, Position
from looseleaf.log.recorder import stream_of
from looseleaf.log.turns import LABELS, trace_text
from looseleaf.store.machines import log_of
from looseleaf.store.machines import stream_of as stream_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from looseleaf.store.protocol import Store


def entry_from_v0(
    reference: str, meta: dict[str, Any], summary: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Convert an `entry.v0` to today's format.

    It had `entry_id` and `entry_ts`, no distiller and no level; its summary had plain sentences, and facts with a
    `type`, a self-made `confidence` (ignored) and no quote. A person vouched for what they scored; the author of the
    rest is unknown, so it waits in review.
    """
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

    def items(member: str, kind: type) -> list[Any]:
        given = summary.get(member)
        return [each for each in given if isinstance(each, kind)] if isinstance(given, list) else []

    text = str(summary.get("summary") or "")
    facts = [_fact_from_v0(each, topic) for each in items("facts", dict)]
    noted = {name: [{"text": each, "source": ""} for each in items(name, str)] for name in NOTED}
    return new_meta, {"schema": "entry_summary.v1", "summary": text, "episode": None, "facts": facts} | noted


def _fact_from_v0(raw: dict[str, Any], topic: str) -> dict[str, Any]:
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


FOLDER = "log/entries"
META = "entry.v1"
SUMMARY = "entry_summary.v1"

_ONE_TEXT = 4000
"""Characters of one trace in `raw.md`: the log has the rest."""


@frozen
class Entry:
    """An entry: its reference `<topic>/<id>` and its two JSON files. `machine`: whose log it is in; "" for this one."""

    reference: str
    meta: dict[str, Any]
    summary: dict[str, Any]
    machine: str = ""

    @property
    def folder(self) -> str:
        return f"{folder_on(self.machine)}/{self.reference}"


def summary_json(distilled: Distilled) -> bytes:
    value: dict[str, Any] = {"schema": SUMMARY, "summary": distilled.summary, "episode": distilled.episode}
    value["facts"] = list(distilled.facts)
    for name in NOTED:
        noted = getattr(distilled, name)
        if noted or name not in SELDOM_NOTED:
            value[name] = [each.to_dict() for each in noted]
    if distilled.private:
        value["private"] = list(distilled.private)
    return as_json(value)


def distilled_of(summary: dict[str, Any]) -> Distilled:
    """Read a summary back; Refused if it is not one."""
    try:
        every = dict.fromkeys(SELDOM_NOTED, ()) | summary
        noted: dict[str, Any] = {name: tuple(map(Noted.from_dict, every[name])) for name in NOTED}
        private = tuple(map(str, summary.get("private", ())))
        facts = tuple(summary["facts"])
        return Distilled(str(summary["summary"]), summary["episode"], facts, **noted, private=private)
    except (KeyError, TypeError) as error:
        raise _unreadable("a summary", f"it is none ({error!r})") from error


def meta_json(meta: dict[str, Any]) -> bytes:
    return as_json({"schema": META} | meta)


def as_json(value: Mapping[str, Any]) -> bytes:
    """Return JSON for people to read; escaped where a text holds half a character, which UTF-8 cannot encode."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(value, indent=1)}\n".encode()


def raw_md(entry_id: str, traces: Iterable[Trace], limit: int) -> bytes:
    """Return the entry's traces as Markdown for people, as many as fit in `limit`. Expanding the entry shows all."""
    parts = [f"# What entry {entry_id} was made of\n"]
    size, turn, left_out = len(parts[0]), None, 0
    for trace in traces:
        if left_out or size > limit:
            left_out += 1
            continue
        text = trace_text(trace)
        if len(text) > _ONE_TEXT:
            text = f"{text[:_ONE_TEXT]} … ({len(text) - _ONE_TEXT:,} characters more in trace {trace.id})"
        head = f"\n## {trace.turn_id}\n" if trace.turn_id != turn else ""
        turn = trace.turn_id
        quoted = "\n".join(f"> {line}" for line in text.splitlines()) or ">"
        parts.append(f"{head}\n{LABELS[trace.trace_type]} ({trace.id}):\n\n{quoted}\n")
        size += len(parts[-1])
    if left_out:
        parts.append(f"\n{left_out} more traces: looseleaf expand {entry_id}\n")
    return "".join(parts).encode("utf-8", "backslashreplace")


@frozen
class EntrySpan:
    """A trace's place in the log, and where the next line begins."""

    id: str
    place: tuple[int, int]
    end: tuple[int, int]


def runs_of(items: Sequence[EntrySpan]) -> list[list[Any]]:
    """Return the runs of adjacent log lines that an entry covers: each as its place and the ids of its first and last
    trace."""
    runs: list[list[Any]] = []
    end: tuple[int, int] | None = None
    for item in items:
        if end == item.place:
            runs[-1][3] = item.id
        else:
            runs.append([*item.place, item.id, item.id])
        end = item.end
    return runs


def read_entry(store: Store, name: str) -> Entry:
    """Read an entry by its id or `<topic>/<id>`, wherever it was made."""
    check_text("name", name, required=True)
    found = _entry_on(store, "", name) or next(
        filter(None, (_entry_on(store, machine, name) for machine in store.machines())), None
    )
    if found is not None:
        return found
    raise NotFound(
        f"Nothing was shown: there is no entry, turn or trace {name}. `looseleaf expand` lists the entries."
    )


def folder_on(machine: str) -> str:
    """Return the folder of a machine's entries."""
    return f"{log_of(machine)}/entries" if machine else FOLDER


def _entry_on(store: Store, machine: str, name: str) -> Entry | None:
    """Read an entry in the log of a machine."""
    entries = folder_on(machine)
    topic, _, entry_id = name.rpartition("/")
    topics = (topic,) if topic else store.folders(entries)
    for topic in topics if path_fault(f"{FOLDER}/{name}") is None else ():
        folder = f"{entries}/{topic}/{entry_id}"
        meta, summary = (store.get(f"{folder}/{file}") for file in ("meta.json", "summary.json"))
        if meta is not None and summary is not None:
            parsed = _parse_object(folder, meta.data), _parse_object(folder, summary.data)
            return _entry_of(folder, f"{topic}/{entry_id}", *parsed, machine)
    return None


def entries_in(store: Store) -> Iterator[str]:
    """Yield the references of all entries, of every agent."""
    for topic in store.folders(FOLDER):
        for entry_id in store.folders(f"{FOLDER}/{topic}"):
            yield f"{topic}/{entry_id}"


def _entry_of(
    folder: str, reference: str, meta: dict[str, Any], summary: dict[str, Any], machine: str
) -> Entry:
    """Return the entry, converted if its format is older; the files stay as they are."""
    schemas = meta.get("schema"), summary.get("schema")
    if schemas == (META, SUMMARY):
        return Entry(reference, meta, summary, machine)
    if schemas == ("entry.v0", "entry_summary.v0"):
        return Entry(reference, *entry_from_v0(reference, meta, summary), machine)
    raise _unreadable(
        folder, f"its format is {schemas[0]!r} and {schemas[1]!r}, and this looseleaf knows {META}"
    )


def _parse_object(folder: str, data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError as error:
        raise _unreadable(folder, f"it is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise _unreadable(folder, "it is not a JSON object")
    return value


def _unreadable(folder: str, why: str) -> Unreadable:
    return Unreadable(f"{folder} was not read: {why}. `looseleaf check` says more.")


def traces_of(store: Store, entry: Entry) -> Iterator[Trace]:
    """Yield the traces an entry was made of, whole, from the log."""
    stream = stream_of(str(entry.meta.get("agent")))
    if entry.machine:
        stream = stream_on(entry.machine, stream)
    try:
        runs = [(Position(int(run[0]), int(run[1])), *run[2:4]) for run in entry.meta["traces"]]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise _unreadable(entry.reference, "it does not say where its traces are") from error
    for place, first, last in runs:
        lines = store.read(stream, place)
        line = next(lines, None)
        if line is None or line.record.get("id") != first:  # repair moved it
            lines = iter(store.read(stream, START))
            line = next((line for line in lines if line.record.get("id") == first), None)
        while line is not None:
            trace = Trace.from_record(line.record)
            if trace is not None:
                yield trace
            if line.record.get("id") == last:
                break
            line = next(lines, None)


def spots_of(store: Store, stream: str, wanted: set[str]) -> list[tuple[Trace, EntrySpan]]:
    """Return the traces with these ids in a stream of talk and their places, oldest first."""
    found: list[tuple[Trace, EntrySpan]] = []
    for line in store.read_back(stream):
        trace = Trace.from_record(line.record)
        if trace is not None and trace.id in wanted:
            found.append((trace, EntrySpan(trace.id, line.position, line.end)))
            if len(found) == len(wanted):
                break
    return found[::-1]
