"""For tests of recall: a memory with something of every kind, and what it answers, whatever the threshold is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from looseleaf import Memory
from looseleaf.base.policy import Ranking
from looseleaf.recall.question import Question
from placing import THEN, stub, tell

if TYPE_CHECKING:
    from looseleaf.recall.hits import Recalled

INDEX = "views/index.sqlite"
ANYTHING = Ranking(abstain=0.0)
"""Weights with which nothing is too unsure to be said."""

QUESTIONS = (
    "Where does he live, Home, Berlin or Paris?",
    "violet lantern harbour",
    "frost roses April",
    "copper kettle on shelf 7",
    "Postgres database project",
    "spare key of the cabin",
    "what was said about the quarterly numbers of the bakery",
)


def recall(memory: Memory, query: str, **asked: Any) -> Recalled:
    """Without abstaining: whether a thing is found is one question, whether it is sure enough another."""
    return memory.parts.recall(Question(query, **asked, weights=ANYTHING))


def texts(memory: Memory, query: str, **asked: Any) -> list[str]:
    return [hit.text for hit in recall(memory, query, **asked)]


def answers(memory: Memory) -> list[list[tuple[object, ...]]]:
    """All that is said to all questions."""
    return [
        [
            (hit.where, hit.kind, hit.text, round(hit.score, 9), hit.path, hit.status, hit.now, hit.topic)
            for hit in recall(memory, question)
        ]
        for question in QUESTIONS
    ]


def found(memory: Memory) -> list[set[object]]:
    """The same without the order, and without how sure it is."""
    return [{row[0] for row in rows} for rows in answers(memory)]


def open_memory(folder: str | os.PathLike[str], **more: Any) -> Memory:
    return Memory(folder, distiller=stub(), session="work", **more)


def begin(memory: Memory) -> None:
    tell(memory, "I live in Berlin and I'm Zhang San.")
    with memory.batch() as batch:
        for number in range(20):
            batch.record(user=f"The copper kettle {number} stands on shelf {number}.", ts=THEN + 10 + number)
    memory.pages.edit(
        "facts/garden.md", "# Garden\n\nTulips come in March.\n", reason="notes", author="person"
    )


def go_on(memory: Memory) -> None:
    """More of everything: talk, facts that supersede others, pages, an entry."""
    tell(memory, "I moved from Berlin to Paris. We use Postgres.", at=THEN + 100)
    memory.record(user="The violet lantern hangs in the harbour.", ts=THEN + 200)
    memory.record(assistant="Then the spare key of the cabin hangs there too.", ts=THEN + 201)
    text = "# Garden\n\nRoses must be covered against frost until April.\n"
    memory.pages.edit("facts/garden.md", text, reason="notes", author="person")
    memory.distill("The quarterly numbers of the bakery were good.", topic="bakery")[0]


def outside(folder: str | os.PathLike[str]) -> dict[str, bytes]:
    """Every file of a memory that is no view, no lock, nor kept only until an editor is done with it."""
    top = Path(folder)
    files = {path.relative_to(top).as_posix(): path for path in sorted(top.rglob("*")) if path.is_file()}
    passing = ("views/", "log/aside/late/")
    return {
        name: path.read_bytes()
        for name, path in files.items()
        if not name.startswith(passing) and "lock" not in path.name
    }


def made_afresh(folder: str | os.PathLike[str]) -> list[list[tuple[object, ...]]]:
    """What a copy of the memory answers that never had an index."""
    copy = f"{os.fspath(folder)}-afresh"
    shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns("index.sqlite*"))
    try:
        with open_memory(copy) as memory:
            return answers(memory)
    finally:
        shutil.rmtree(copy)
