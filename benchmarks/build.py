"""How the views that are made from the log grow with it, measured in one run.

    python benchmarks/build.py               prints the table
    python benchmarks/build.py --readme      writes the rows that have a goal into README.md as well
    python benchmarks/build.py --entries N   with another size of the largest memory (10,000 entries; not below 1,000)
    python benchmarks/build.py --profile     where the time of one build after a new entry goes, in the largest memory

Three memories, each ten times the one before it, of topics with ten entries each. Machines differ and are noisy, so
each figure is a ratio of two sides that took turns. The memories lie in memory where that can be had: on a disk, the
time of a sync would hide what the length of the log costs.

A build first looks at every page, whether somebody changed it, and at every view, whether somebody deleted it. That
look costs what there are files, is needed by every command, and is told apart from the build.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from looseleaf import Memory
from looseleaf.core.journal import make_edit, record_of
from looseleaf.core.ledger import fact_id
from looseleaf.core.times import written
from looseleaf.entries import meta_json, summary_json
from looseleaf.store import JOURNAL
from looseleaf.store.ulid import id_of, new_id
from looseleaf.talk import Distilled, Material, Noted, Proposal

HERE = Path(__file__).parent.parent
BEGIN, END = "<!-- benchmark: build -->", "<!-- end -->"
NO_GOAL = "–"
QUICK = Path("/dev/shm") if os.path.isdir("/dev/shm") else HERE
START = 1_740_000_000.0
PER_TOPIC = 10
RELATIONS = ("Database", "Rule", "Decision", "Deadline", "Plan", "Uses", "Event", "Port", "Goal", "Version")

Row = tuple[str, str, str]


@contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix=".bench-", dir=QUICK))
    try:
        yield path
    finally:
        shutil.rmtree(path)


# --- what is remembered --------------------------------------------------------------------


class Sayings:
    """A distiller that takes each line `Relation: object` of the material for a fact, and notes the others."""

    name = "sayings/1"

    def distill(self, material: Material, tokens: int) -> Distilled:
        facts: list[dict[str, Any]] = []
        noted: dict[str, list[Noted]] = {"decisions": [], "tasks": [], "open_questions": []}
        texts: list[str] = []
        for trace in material.traces():
            for line in trace.content.splitlines():
                relation, colon, said = line.partition(": ")
                if colon:
                    facts.append(Proposal(relation, said, line, "project", source=trace.id).to_dict())
                    continue
                texts.append(line)
                name = "open_questions" if line.endswith("?") else "tasks" if "TODO" in line else "decisions"
                noted[name].append(Noted(line, trace.id))
        return Distilled(
            " ".join(texts), None, tuple(facts), **{name: tuple(found) for name, found in noted.items()}
        )


def topic_of(number: int, entries: int) -> str:
    """Entries go round the topics, so that each is as old as the others."""
    return f"topic-{number % max(1, entries // PER_TOPIC):04d}"


def saying(number: int) -> str:
    """The text of an entry: a fact of its own, and three sentences."""
    return (
        f"{RELATIONS[number // 7 % len(RELATIONS)]}: choice {number} of several\n"
        f"We decided to keep choice {number} because part {number % 13} failed.\n"
        f"TODO: look at part {number} again\n"
        f"Which of the {number % 17} parts is next?\n"
    )


def fill(path: Path, entries: int) -> None:
    """A memory of so many entries, each with its fact on the page of its topic, as if they had been written one after
    the other. The pages are edited once an entry, and their files are made at the end."""
    with Memory(path) as memory:
        texts: dict[str, str] = {}
        records: list[dict[str, Any]] = []
        for number in range(entries):
            topic, ts = topic_of(number, entries), START + 60.0 * number
            entry = id_of(ts, number.to_bytes(32, "big"))
            _publish(path, topic, entry, ts, saying(number))
            page = f"facts/{topic}.md"
            line = saying(number).partition("\n")[0]
            old = texts.get(page)
            texts[page] = (old or f"# {topic}\n\n> Summary: choices\n\n") + f"- {line}\n"
            records.append(_edit(page, old, texts[page], topic, entry, ts, line))
            records.append(_placed(topic, entry, ts))
            if len(records) >= 2000 or number == entries - 1:
                memory.store.append(JOURNAL, records)
                records = []
        for page, text in texts.items():
            (path / page).parent.mkdir(exist_ok=True)
            (path / page).write_text(text)
        time.sleep(0.2)  # so that no page is too young to be trusted by its times
        assert memory.absorb() == []


def _publish(path: Path, topic: str, entry: str, ts: float, text: str) -> None:
    made = Sayings().distill(_Said(text), 0)
    where = path / "log/entries" / topic / entry
    where.mkdir(parents=True)
    (where / "raw.md").write_text(text)
    meta = {"id": entry, "ts": ts, "topic": topic, "distiller": Sayings.name, "level": "distiller"}
    meta |= {"model": None, "tokens": 0, "cost": 0, "failures": [], "agent": "main", "origin": "user"}
    meta |= {"turn_ids": [], "trust": "said", "sources": {}}
    (where / "meta.json").write_bytes(meta_json(meta))
    (where / "summary.json").write_bytes(summary_json(made))


class _Said:
    """A text as material."""

    def __init__(self, text: str) -> None:
        self._text = text

    def traces(self) -> Iterator[Any]:
        yield _Trace(self._text)


class _Trace:
    id = "raw.md#L1-L4"

    def __init__(self, content: str) -> None:
        self.content = content


def _edit(
    page: str, old: str | None, new: str, topic: str, entry: str, ts: float, line: str
) -> dict[str, Any]:
    relation, _, said = line.partition(": ")
    fact = {"topic": topic, "subject": topic, "relation": relation, "object": said, "quote": line}
    fact |= {"id": fact_id(entry, topic, relation, said), "entry_id": entry, "entry_ts": ts, "level": "said"}
    fact |= {"confidence": 0.9, "sources": [f"log/entries/{topic}/{entry}/raw.md#L1-L4"], "origin": "user"}
    fact |= {"valid_from": written(ts), "recorded_at": ts, "time_span": "long_term"}
    edit = make_edit(
        new_id(),
        ts,
        page,
        "program",
        f"distilled from {topic}/{entry}",
        None if old is None else old.encode(),
        new.encode(),
    )
    return record_of(edit) | {"facts": [fact]}


def _placed(topic: str, entry: str, ts: float) -> dict[str, Any]:
    record = {"schema": "journal.v1", "id": new_id(), "ts": ts, "kind": "placed", "agent": "main"}
    record |= {"entry": f"{topic}/{entry}", "entry_ts": ts, "topic": topic}
    return record | {"restated": [], "history": [], "dropped": []}
