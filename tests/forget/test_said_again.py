"""Random lives of machines that say things, forget them, say them again, and hear of each other in any order: what was
said after all forgettings that its machine knew stays on all machines; of what nobody said since, no byte is left."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from looseleaf import NotFound
from looseleaf.facts.stones import Stone
from machines import NAMES, Machines

WORDS = ("quokka", "zebu")
WAYS = {
    "fact": ("My brother keeps a {}.", "brother keeps a {}"),
    "topic": ("The zoo has a {} pair.", "has a {} pair"),
    "task": ("Walk the {} of Ann", "walk the {} of ann"),
    "talk": ("I love {} music.", "{} music"),
}


@dataclass
class Life:
    """What was said and forgotten, each with the forgettings that its machine knew of then."""

    machines: Machines
    chance: random.Random
    ways: list[str]
    said: list[tuple[str, str, frozenset[int]]] = field(default_factory=list)
    forgotten: list[tuple[int, str, str]] = field(default_factory=list)
    """Number, machine, word."""
    arrived: dict[str, set[int]] = field(default_factory=lambda: {name: set() for name in NAMES})
    heard: dict[str, set[int]] = field(default_factory=lambda: {name: set() for name in NAMES})
    told: list[str] = field(default_factory=list)

    def step(self) -> None:
        name = self.chance.choice(NAMES)
        word = self.chance.choice(WORDS)
        act = self.chance.choices(("say", "forget", "carry", "look"), (4, 2, 5, 2))[0]
        self.told.append(f"{act} {name} {word}")
        if act == "carry":
            other = self.chance.choice([each for each in NAMES if each != name])
            self.told[-1] = f"carry {name} to {other}"
            self.machines.carry(name, other)
            self.arrived[other] |= {number for number, by, _ in self.forgotten if by == name}
            return
        with self.machines.open(name) as memory:
            memory.facts()
            self.heard[name] |= self.arrived[name]
            if act == "say":
                way = self.chance.choice(self.ways)
                self.told[-1] += f" {way}"
                text = WAYS[way][0].format(word)
                if way == "task":
                    if text in [task["title"] for task in memory.state.to_dict()["tasks_open"]]:
                        return
                    memory.state.add_task(text, author="person")
                elif way == "talk":
                    memory.record(user=text)
                    memory.distill()
                else:
                    memory.remember(text, **({"topic": "zoo"} if way == "topic" else {}))
                self.said.append((word, way, frozenset(self.heard[name])))
            elif act == "forget":
                try:
                    done = memory.forget(match=word)
                except NotFound:
                    return
                if done.id:
                    number = len(self.forgotten)
                    self.forgotten.append((number, name, word))
                    self.heard[name].add(number)

    def meet(self, rounds: int) -> None:
        for _ in range(rounds):
            self.machines.carry_all()
            for name in NAMES:
                with self.machines.open(name) as memory:
                    memory.facts()

    def judge(self) -> list[str]:
        """Return what is wrong once all have met."""
        self.meet(5)
        logs = self._logs()
        self.meet(1)
        wrong = ["the logs still grow"] if self._logs() != logs else []
        for word in WORDS:
            asked = {number for number, _, each in self.forgotten if each == word}
            for way in self.ways:
                stays = any(asked <= known for each, how, known in self.said if (each, how) == (word, way))
                plain = WAYS[way][1].format(word).encode()
                for name in NAMES:
                    files = self._files(name, plain)
                    if stays and not any(path.split("/")[0] not in ("log", "views") for path in files):
                        wrong.append(f"lost on {name}: {way} {word}")
                    if asked and not stays and files:
                        wrong.append(f"left on {name}: {way} {word} in {files[:3]}")
        both = {"pages": self.machines.pages, "facts": self.machines.facts}
        wrong += [
            f"{what} differ" for what, of in both.items() if any(of(name) != of(NAMES[0]) for name in NAMES)
        ]
        for name in NAMES:
            with self.machines.open(name) as memory:
                wrong += [f"{name}: {each}" for each in memory.check() if each.severity == "error"]
        return wrong

    def _logs(self) -> list[bytes]:
        files = [self.machines.log(name, name) / "tombstones.jsonl" for name in NAMES]
        files += [self.machines.log(name, name) / "journal.jsonl" for name in NAMES]
        return [file.read_bytes() if file.exists() else b"" for file in files]

    def _files(self, name: str, plain: bytes) -> list[str]:
        top = self.machines[name]
        return [
            str(path.relative_to(top))
            for path in sorted(top.rglob("*"))
            if path.is_file() and "late" not in path.parts and plain in path.read_bytes().lower()
        ]


def live(folder: Path, seed: int) -> Life:
    chance = random.Random(seed)
    ways = chance.choice([["fact"], ["fact", "task"], ["talk", "topic"], [*WAYS]])
    folder.mkdir()
    life = Life(Machines(folder), chance, ways)
    for _ in range(22):
        life.step()
    return life


@pytest.mark.parametrize("first", [0, 1000, pytest.param(2000, marks=pytest.mark.long)])
def test_forgetting_and_saying_again_in_any_order_comes_to_what_was_meant(tmp_path: Path, first: int) -> None:
    count = int(os.environ.get("LOOSELEAF_LIVES", "60")) if first == 2000 else 3
    met = 0
    for seed in range(first, first + count):
        life = live(tmp_path / str(seed), seed)
        met += bool(life.forgotten)
        assert life.judge() == [], "\n".join([f"{seed}:", *life.told])
    assert met >= count // 2


@pytest.mark.long
def test_a_machine_that_hears_by_hashes_alone_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stone, "is_asked", False)
    assert any(live(tmp_path / str(seed), seed).judge() for seed in range(3000, 3030))
