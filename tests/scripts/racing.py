"""One act on a memory, in a process of its own, which stops in its middle: it says `reading`, and goes on when it is
told to. At the end it says what it returned.

    python racing.py ACT FOLDER
"""

from __future__ import annotations

import json
import sys
from typing import Any

from looseleaf import Agent, Distilled, Memory
from looseleaf.base.messages import Material
from looseleaf.base.policy import Policy
from looseleaf.models import ScriptedModel

POLICY = Policy(settle_seconds=0.01, quiet_seconds=0.0)


def pause() -> None:
    """Say that it is in the middle, and wait to be told to go on; after that, never again."""
    print("reading", flush=True)
    if not pause.is_over:  # type: ignore[attr-defined]
        sys.stdin.readline()
    pause.is_over = True  # type: ignore[attr-defined]


pause.is_over = False  # type: ignore[attr-defined]


class Slow:
    """A distiller that repeats all that it reads, and takes its time."""

    name = "slow/1"

    def distill(self, material: Material, tokens: int) -> Distilled:
        said = " ".join(str(trace.content) for trace in material.traces())
        pause()
        return Distilled(summary=said[:2000] or "Nothing.")


def repeat_slowly(messages: Any, tools: Any) -> str:
    """Answer like a model that repeats all that it is asked, and takes its time."""
    pause()
    return " ".join(str(each.content) for each in messages)


def count_slowly(text: str) -> int:
    if "Nightingale" in text:
        pause()
    return len(text) // 4 + 1


def distill(folder: str) -> object:
    return len(Memory(folder, policy=POLICY, distiller=Slow()).distill())


def write_turns(folder: str) -> object:
    memory = Memory(folder, policy=POLICY)
    return len(memory.distill(memory.talk.turns(50), distiller=Slow()))


def compact(folder: str) -> object:
    with Memory(folder, policy=Policy(context_tokens=2000), distiller=Slow()) as memory:
        return memory.window.compact() is not None


def prepare(folder: str) -> object:
    """What was prepared for a compaction is kept for minutes."""
    with Memory(folder, policy=Policy(context_tokens=2000), distiller=Slow()) as memory:
        compacting = memory.parts.conversation._compact
        memory.parts.conversation.prepare(None, None)
        compacting.wait()
        return memory.window.compact() is not None


def redistill(folder: str) -> object:
    memory = Memory(folder, policy=POLICY)
    return memory.parts.making.redistill(Slow(), apply=True).read


def prompt(folder: str) -> object:
    memory = Memory(folder, policy=POLICY, counter=count_slowly)
    return [str(each.content) for each in memory.prompt("What now?", budget=50_000).messages]


def build(folder: str) -> object:
    memory = Memory(folder, policy=POLICY)
    memory.parts.build(full=True, progress=lambda done, whole: pause())
    return len(memory.parts.topics.names)


def agent(folder: str) -> object:
    memory = Memory(folder, policy=POLICY)
    asked = Agent(memory, ScriptedModel(repeat_slowly), reflect=False).run("What do you know?")
    return [type(event).__name__ for event in asked]


def reader(folder: str) -> object:
    """A process that has read everything, and goes on reading."""
    memory = Memory(folder, policy=POLICY)

    def read() -> list[str]:
        shown = [*memory.prompt("Nightingale?", budget=50_000).messages, *memory.window.messages()]
        found = [hit.text for hit in memory.recall("Nightingale budget")]
        facts = [f"{fact.relation} {fact.object}" for fact in memory.facts()]
        turns = [trace.content for turn in memory.talk.turns(99) for trace in turn.traces]
        pages = [memory.pages.read(path).text for path in memory.pages.list()]
        views = [memory.views.snapshot().text, json.dumps(memory.parts.topics.whole())]
        return [*(str(each.content) for each in shown), *found, *facts, *turns, *pages, *views]

    assert any("Nightingale" in text for text in read()[:-1])
    pause()
    told = read()
    memory.record(user="Something else.")
    memory.distill()
    memory.close()
    return told


def take(folder: str) -> object:
    """An import of a talk, of which half is in."""
    return _import(folder, f"{folder}.json", mine=False)


def take_notes(folder: str) -> object:
    """An import of a person's notes, of which half is in."""
    return _import(folder, f"{folder}.notes", mine=True)


def _import(folder: str, source: str, *, mine: bool) -> object:
    from looseleaf.base.paths import IMPORTER
    from looseleaf.transfer.formats import detect
    from looseleaf.transfer.import_run import run
    from looseleaf.transfer.source import ImportSource

    memory = Memory(folder, policy=POLICY, agent="main" if mine else IMPORTER)
    with ImportSource(source) as found:
        return run(memory, found, detect(found).format, mine=mine, step=lambda *_: pause()).to_dict()


if __name__ == "__main__":
    came = globals()[sys.argv[1]](sys.argv[2])
    print(json.dumps(came), flush=True)
