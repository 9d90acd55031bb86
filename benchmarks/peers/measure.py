"""The same work for every peer, in turns where it is timed: the same texts and questions, one machine, one run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.peers import vectors
from benchmarks.peers.catalog import Entry
from benchmarks.peers.environments import Environment
from benchmarks.peers.talking import Failed, Talking, without_paths
from benchmarks.peers.wire import disk
from benchmarks.recall import Talk
from benchmarks.talks import DATA, KINDS, Conversation, conversations

K = 10
WRITERS = 4
SETTLE = 20.0
"""Seconds after which a text that was acknowledged and cannot be read yet is lost."""


@dataclass(frozen=True)
class Work:
    """How much of everything."""

    items: int = 1_000
    more: int = 10_000
    """The larger size, for those that take less than a minute to get there."""
    minute: float = 60.0
    questions: int = 100
    cold: int = 9
    most: float = 120.0
    """Seconds of its own that a peer may take for a part; what is too slow is measured on less, which is said."""
    written: int = 400
    """Texts that four processes write at once, together."""
    synced: int = 20
    talks: int = 3
    """Conversations of LoCoMo."""


QUICK = Work(items=12, more=24, questions=4, cold=1, written=16, synced=3, talks=0)


@dataclass
class Side:
    """A peer while it is measured. One that fails once is asked nothing more."""

    entry: Entry
    environment: Environment
    figures: dict[str, Any] = field(default_factory=dict)
    failed: str = ""

    def start(self, folder: Path, file: Path, under: Sequence[str] = ()) -> Talking:
        return Talking(self.environment, self.entry.adapter, folder, file, under)


def say(*words: object) -> None:
    print(*words, file=sys.stderr, flush=True)


@contextmanager
def blamed(side: Side) -> Iterator[None]:
    """What fails is told of its peer, and the others go on."""
    try:
        yield
    except Failed as error:
        side.failed = side.failed or str(error)
        say(f"{side.entry.name} failed: {error}")


def going(sides: list[Side], is_asked: bool = False) -> list[Side]:
    return [side for side in sides if not side.failed and (side.entry.searches or not is_asked)]


def timed(sides: list[Side]) -> list[Side]:
    return [side for side in sides if side.entry.is_timed]


# --- one by one, warm, and what it takes ------------------------------------------------------


class Bench:
    """The peers that are measured, and what they are given."""

    def __init__(self, sides: list[Side], folder: Path, work: Work) -> None:
        self.sides, self.folder, self.work = sides, folder, work
        talk = Talk(seed=11)
        self.texts = [talk.text() for _ in range(work.more)]
        chosen = [self.texts[at % work.items] for at in range(7, 7 * (work.questions + 10), 7)]
        self.questions = [talk.question(text) for text in chosen]
        self.file = folder / "chance.vectors"
        vectors.write(self.file, vectors.of_chance([*self.texts, *self.questions]))

    def all(self) -> None:
        for part in (self.warm, self.cold, self.larger, self.at_once, self.synced):
            say(f"part: {part.__name__}")
            part()

    def _opened(self, sides: list[Side]) -> dict[str, Talking]:
        opened = {}
        for side in sides:
            with blamed(side):
                opened[side.entry.name] = side.start(self.folder / side.entry.name, self.file)
        return opened

    def warm(self) -> None:
        opened = self._opened(self.sides)
        self._add(opened, self.texts[: self.work.items], 50, "add")
        self._ask(opened, self.questions[: self.work.questions], "ask")
        for side in going(self.sides):
            with blamed(side):
                side.figures["rss"] = opened[side.entry.name].ask("rss")["bytes"]
        for side in self.sides:
            if side.entry.name in opened:
                opened[side.entry.name].close()
            items = side.figures.get("items", self.work.items)
            side.figures["disk"] = disk(str(self.folder / side.entry.name)) / items

    def _add(self, opened: dict[str, Talking], texts: list[str], step: int, name: str) -> None:
        """In turns, some at a time; each text is a call of its own."""
        for at in range(0, len(texts), step):
            say(f"adding {at:,} of {len(texts):,}")
            for side in going(self.sides):
                if side.entry.name not in opened:
                    continue
                if not side.entry.is_reference and step * sum(side.figures.get(name, ())) > self.work.most:
                    side.figures.setdefault("items", at)
                    continue
                with blamed(side):
                    told = opened[side.entry.name].ask("add", texts=texts[at : at + step])
                    if told["refused"]:
                        raise Failed(told["refused"][0])
                    side.figures.setdefault(name, []).append(fmean(told["took"]))

    def _ask(self, opened: dict[str, Talking], questions: list[str], name: str) -> None:
        warming = questions[:3]
        for number, question in enumerate([*warming, *questions]):
            for side in going(self.sides, is_asked=True):
                if side.entry.name not in opened:
                    continue
                with blamed(side):
                    told = opened[side.entry.name].ask("search", query=question, k=K)
                    if number >= len(warming):
                        side.figures.setdefault(name, []).append(told["took"])

    # --- a process for one question ---------------------------------------------------------

    def cold(self) -> None:
        asked = going(self.sides, is_asked=True)
        for number in range(self.work.cold + 1):  # the first writes bytecode
            question = self.questions[number % len(self.questions)]
            for side in asked:
                if number > 3 and sum(side.figures.get("cold", ())) > self.work.most / 4:
                    continue
                with blamed(side):
                    took = self._one(side, question)
                    if number:
                        side.figures.setdefault("cold", []).append(took)

    def _one(self, side: Side, question: str) -> float:
        folder = self.folder / side.entry.name
        command = [*side.environment.command(side.entry.adapter), str(folder), str(self.file), question]
        began = time.perf_counter()
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=side.environment.variables(),
            cwd=folder,
            check=False,
        )
        took = time.perf_counter() - began
        if done.returncode or not json.loads(done.stdout or "[]"):
            raise Failed(f"a cold question found nothing: {done.stderr.decode(errors='replace')[-200:]}")
        return took

    # --- ten times as much ------------------------------------------------------------------

    def larger(self) -> None:
        rest = self.work.more - self.work.items
        quick = [
            side
            for side in going(self.sides)
            if side.entry.is_reference
            or ("items" not in side.figures and fmean(side.figures["add"]) * rest < self.work.minute)
        ]
        opened = self._opened(quick)
        self._add(opened, self.texts[self.work.items :], 500, "add_more")
        self._ask(opened, self.questions[: self.work.questions // 2], "ask_more")
        for talking in opened.values():
            talking.close()

    # --- four at once -----------------------------------------------------------------------

    def at_once(self) -> None:
        for side in going(self.sides):
            with blamed(side):
                side.figures["at_once"] = self._four(side)
                say(side.entry.name, "four at once", side.figures["at_once"])

    def _four(self, side: Side) -> dict[str, Any]:
        folder = self.folder / f"{side.entry.name}-four"
        with_one = side.start(folder, self.file)  # makes what there is to make, before they race for it
        with_one.close()
        writers: list[Talking] = []
        refused: list[str] = []
        for _ in range(WRITERS):
            try:
                writers.append(side.start(folder, self.file))
            except Failed as error:
                refused.append(f"not opened: {error}")
        for number, writer in enumerate(writers):
            writer.tell("add", texts=self.texts[number : self.work.written : WRITERS])
        kept: list[str] = []
        for writer in writers:
            try:
                told = writer.answer()
                kept += told["kept"]
                refused += told["refused"]
            except Failed as error:
                refused.append(str(error))
        for writer in writers:
            writer.close()
        lost = self._unread(side, folder, kept)
        return {
            "asked": self.work.written,
            "kept": len(kept),
            "lost": lost,
            "opened": len(writers),
            "refused": without_paths(refused[0]) if refused else "",
        }

    def _unread(self, side: Side, folder: Path, kept: list[str]) -> int:
        """Texts that were acknowledged and that a new process does not have, even after a while."""
        reader = side.start(folder, self.file)
        until = time.monotonic() + SETTLE
        while missing := set(kept) - set(reader.ask("all")["texts"]):
            if time.monotonic() > until:
                break
            time.sleep(1)
        reader.close()
        return len(missing)

    # --- on the disk when it says yes ---------------------------------------------------------

    def synced(self) -> None:
        """Syncs for each text, as the system sees them."""
        if shutil.which("strace") is None:
            return
        for side in going(self.sides):
            with blamed(side):
                seen = self.folder / f"{side.entry.name}.strace"
                under = ["strace", "-f", "-qq", "-o", str(seen), "-e", "trace=fsync,fdatasync,msync"]
                talking = side.start(self.folder / f"{side.entry.name}-synced", self.file, under)
                talking.ask("add", texts=self.texts[:5])
                before = _syncs(seen)
                talking.ask("add", texts=self.texts[5 : 5 + self.work.synced])
                side.figures["syncs"] = (_syncs(seen) - before) / self.work.synced
                talking.close()


def _syncs(path: Path) -> int:
    lines = path.read_text(errors="replace").splitlines()
    return sum("sync(" in line for line in lines)  # one that was cut into two lines begins once


# --- the right turns of long conversations --------------------------------------------------------


def found(sides: list[Side], folder: Path, talks: Sequence[Conversation], most: float) -> int:
    """The share of the turns that answer a question among ten hits, averaged over questions. How many were asked."""
    asked = [
        (talk, [question for question in talk.questions if question.category in KINDS]) for talk in talks
    ]
    texts = {_shown(turn.shown) for talk in talks for turn in talk.turns}
    file = folder / "meaning.vectors"
    known = vectors.of_meaning(texts | {_shown(question.text) for _, some in asked for question in some})
    if known is not None:
        vectors.write(file, known)
    for side in going(sides, is_asked=True):
        turns = sum(len(talk.turns) for talk in talks)
        if side.entry.has_vectors and known is None:
            continue
        if turns * fmean(side.figures.get("add", [0.0])) > 3 * most:
            continue
        with blamed(side):
            shares = [share for talk, some in asked for share in _shares(side, folder, file, talk, some)]
            side.figures["found"] = fmean(shares)
            say(side.entry.name, "evidence in ten hits", side.figures["found"])
    return sum(len(some) for _, some in asked)


def _shares(side: Side, folder: Path, file: Path, talk: Conversation, questions: Any) -> Iterator[float]:
    turns: dict[str, int] = {}
    for number, turn in enumerate(talk.turns):
        turns.setdefault(_shown(turn.shown), number)
    talking = side.start(folder / f"{side.entry.name}-{talk.name}", file)
    try:
        told = talking.ask("add", texts=list(turns))
        if told["refused"]:
            raise Failed(told["refused"][0])
        for question in questions:
            hits = talking.ask("search", query=_shown(question.text), k=K)["texts"]
            numbers = {turns.get(text) for text in hits}
            yield len(numbers & question.evidence) / len(question.evidence)
    finally:
        talking.close()


def _shown(text: str) -> str:
    """In one line, without blanks too many: every peer is told the same, also those that trim it."""
    return " ".join(text.split())


def measured(sides: list[Side], folder: Path, work: Work) -> dict[str, Any]:
    """What there is to tell of a run, beside the figures of each side."""
    Bench(timed(sides), folder, work).all()
    told: dict[str, Any] = {"items": work.items, "more": work.more, "questions": work.questions}
    told |= {"cold": work.cold, "written": work.written, "writers": WRITERS}
    if work.talks and DATA.exists():
        talks = conversations()[: work.talks]
        told["found"] = {"talks": len(talks), "turns": sum(len(talk.turns) for talk in talks)}
        told["found"]["questions"] = found(sides, folder, talks, work.most)
    return told
