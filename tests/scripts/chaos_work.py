"""Eight processes at one memory, each with a trade of its own, killed at any moment; and the judge of what is left.

    python chaos_work.py MEMORY TOLD TRADE SEED    work until told to stop, or killed

`TOLD` is a folder. Each process appends to a file of its own there, one line of JSON when a thing was acknowledged (or,
for a forgetting, also before it is asked for). A token is a word that occurs once: it was said, noted, written by a
model or saved by an editor, and its first letter tells which.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from looseleaf import Distilled, Memory, Refused
from looseleaf.tools.toolset import call
from scripts.editing import SAVES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from looseleaf.base.messages import Material

SAID, NOTED, WRITTEN, SAVED = "Sa", "No", "Wr", "Ed"
"""How tokens begin: said by the user, remembered by a person, written by a model, saved by an editor."""

GARDEN = "facts/garden.md"
"""The editor's page. Programs write there too; what is on it is never forgotten, because an editor that read the page
before a forgetting brings back what it holds, as a person may."""

KEPT_LINES = 60
MODEL_LEVELS = ("inferred", "tainted")
"""As much as a model's own line may become."""


class Slow:
    """A distiller that takes its time, as a model does, and repeats what it read."""

    name = "slow/1"

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def distill(self, material: Material, tokens: int) -> Distilled:
        said = " ".join(str(trace.content) for trace in material.traces())
        time.sleep(self._chance.uniform(0.1, 1.5))
        return Distilled(summary=said[-2_000:])


class Worker:
    """One process: its memory, its chance, and where it tells what was acknowledged."""

    def __init__(self, memory: Path, told: Path, trade: str, seed: int) -> None:
        self.path = memory
        self.told = told
        self.chance = random.Random(seed)
        slow = Slow(self.chance) if trade in ("learner", "prompter") else None
        self.memory = Memory(memory, agent="main", distiller=slow)
        name = f"{trade}-{seed}-{os.getpid()}.jsonl"
        self._file = os.open(told / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(self, what: str, **more: object) -> None:
        os.write(self._file, json.dumps({"what": what, **more}).encode() + b"\n")

    def token(self, kind: str) -> str:
        return kind + "".join(self.chance.choices("bcdfghjklmnpqrtvwxz", k=10))

    # --- the trades --------------------------------------------------------------------

    def record(self) -> None:
        token = self.token(SAID)
        text = self.chance.choice(
            [
                f"I live in {token}.",
                f"My cat is called {token}.",
                f"We met {token} at the station and had coffee with him.",
                f"I work at {token}. Please remember that.",
            ]
        )
        trace = self.memory.record(user=text)
        self.tell("recorded", token=token, id=trace.id)
        self.memory.record(assistant=f"Good to know about {token}.")

    def note(self) -> None:
        token = self.token(NOTED)
        if self.chance.random() < 0.3:
            self.memory.remember(f"The {token} grows beside the fence.", topic="garden")
            self.tell("noted", token=token, kept=True)
        else:
            self.memory.remember(f"The {token} meeting is on Monday.")
            self.tell("noted", token=token)

    def distill(self) -> None:
        self.memory.distill()
        self.tell("distilled")

    def prompt(self) -> None:
        self.memory.prompt("What do you know about me?", budget=self.chance.choice([3_000, 6_000, 50_000]))
        self.tell("prompted")

    def recall(self) -> None:
        self.memory.recall("Where do I live, and what is my cat called?")
        self.tell("recalled")

    def compact(self) -> None:
        self.memory.window.compact()
        self.tell("compacted")

    def write(self) -> None:
        token = self.token(WRITTEN)
        page = f"facts/{self.chance.choice(['payments', 'servers', 'habits'])}.md"
        answer = call(
            self.memory, "memory_append", {"path": page, "entry": f"- Rule: {token} always comes first\n"}
        )
        if not answer.is_error:
            self.tell("written", token=token)

    def look(self) -> None:
        """Report a model's line that rose."""
        for fact in self.memory.facts():
            if WRITTEN in fact.object and fact.level not in MODEL_LEVELS:
                self.tell("risen", object=fact.object, level=fact.level)
        self.tell("looked")

    def forget(self) -> None:
        mine = {SAID: "recorded", NOTED: "noted", WRITTEN: "written"}
        done = {row["token"] for row in read_told(self.told) if row["what"] in ("forgetting", "forgotten")}
        open_ones = [
            row["token"]
            for row in read_told(self.told)
            if row["what"] in mine.values() and not row.get("kept") and row["token"] not in done
        ]
        if not open_ones:
            time.sleep(0.2)
            return
        token = str(self.chance.choice(open_ones))
        self.tell("forgetting", token=token)
        for _ in range(4):
            found = self.memory.forget(match=token)
            if not found.is_nothing and found.probe is not None and not found.probe.hits:
                self.tell("forgotten", token=token)
                return
        self.tell("forget left", token=token, hits=str(found)[:400])

    def edit(self) -> None:
        page = self.path / GARDEN
        text = page.read_text() if page.exists() else ""
        buffer = self.told / "garden.buffer"
        if not text.strip():
            # The editor that was killed in the middle of a save: the next one begins with what that one had.
            text = buffer.read_text() if buffer.exists() else "# Garden\n\n"
        head, lines = "# Garden\n\n", [line for line in text.splitlines() if line.startswith("- ")]
        token = self.token(SAVED)
        whole = head + "".join(f"{line}\n" for line in [*lines[-KEPT_LINES:], f"- Bed: {token} is sown"])
        beside = buffer.with_suffix(f".{os.getpid()}")
        beside.write_text(whole)
        beside.replace(buffer)
        page.parent.mkdir(exist_ok=True)
        self.chance.choice(SAVES)(page, whole.encode(), self.chance.random() * 0.02)
        self.memory.pages.absorb()
        self.tell("saved", token=token)
        time.sleep(self.chance.random() * 0.3)


TRADES: dict[str, tuple[Callable[[Worker], None], ...]] = {
    "recorder": (Worker.record,),
    "talker": (Worker.record, Worker.record, Worker.prompt),
    "learner": (Worker.note, Worker.distill),
    "prompter": (Worker.prompt, Worker.recall),
    "model": (Worker.write, Worker.recall, Worker.look),
    "forgetter": (Worker.forget,),
    "editor": (Worker.edit,),
    "any": (Worker.record, Worker.note, Worker.distill, Worker.compact, Worker.write, Worker.look),
}


def work(memory: Path, told: Path, trade: str, seed: int) -> None:
    worker = Worker(memory, told, trade, seed)
    while not (told / "stop").exists():
        act = worker.chance.choice(TRADES[trade])
        began = time.monotonic()
        try:
            act(worker)
        except Refused as error:
            worker.tell("refused", by=act.__name__, kind=type(error).__name__, why=str(error)[:300])
        except Exception:  # noqa: BLE001 - the judge reports it
            worker.tell("broke", by=act.__name__, why=traceback.format_exc()[-3000:])
        worker.tell("took", by=act.__name__, seconds=round(time.monotonic() - began, 3))
    worker.memory.close()
    worker.tell("stopped")


# --- the judge -------------------------------------------------------------------------


def read_told(told: Path) -> Iterator[dict[str, object]]:
    """What was told. The last line of a killed process may be half a one."""
    for file in told.glob("*.jsonl"):
        for line in file.read_bytes().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue


def judge(memory: Path, told: Path) -> tuple[dict[str, int], list[str]]:
    """Return what happened, in counts, and every broken promise."""
    rows = list(read_told(told))
    counts = Counter(str(row["what"]) for row in rows)
    with Memory(memory) as opened:
        opened.pages.absorb()
        faults = [f"check: {each}" for each in opened.check() if each.severity == "error"]
        levels = [(fact.object, fact.level) for fact in opened.facts(status="current")]
    faults += [
        f"a level rose: {text} is {level}"
        for text, level in levels
        if WRITTEN in text and level not in MODEL_LEVELS
    ]
    faults += [f"{row['what']}: {row}" for row in rows if row["what"] in ("broke", "risen", "forget left")]
    journal = b"".join(
        path.read_bytes() for path in [*memory.glob("log/archive/*.jsonl"), memory / "log/journal.jsonl"]
    )
    faults += [
        f"a log is said to have gone back: {line!r}"
        for line in journal.splitlines()
        if b'"kind":"back"' in line
    ]
    bytes_of = {path: path.read_bytes() for path in memory.rglob("*") if path.is_file()}
    every = b"\n".join(bytes_of.values())
    traces = b"\n".join(data for path, data in bytes_of.items() if "traces" in path.parts)
    touched = {row["token"] for row in rows if row["what"] in ("forgetting", "forgotten")}
    for row in rows:
        token = str(row.get("token", "")).encode()
        if row["what"] == "forgotten":
            where = [str(path.relative_to(memory)) for path, data in bytes_of.items() if token in data]
            if where:
                faults.append(f"forgotten and found: {token.decode()} in {where}")
        elif row["what"] == "recorded" and row["token"] not in touched:
            times = traces.count(b'"id":"' + str(row["id"]).encode())
            if times != 1 or token not in traces:
                faults.append(f"recorded and there {times} times: {row}")
        elif (
            row["what"] in ("noted", "written", "saved")
            and row["token"] not in touched
            and token not in every
        ):
            faults.append(f"{row['what']} and lost: {row}")
    return dict(counts), faults


if __name__ == "__main__":
    work(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
