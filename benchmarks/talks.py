"""The conversations of LoCoMo with their questions, and how much of the right turns was found."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from looseleaf.recall.ranking import strip_speakers

DATA = Path(__file__).parent.parent.parent / "shared/data/locomo10.json"
UNRELATED = Path(__file__).parent / "data/unrelated.txt"
DAY = 86_400.0
RECALLS, BUDGETS = (5, 10, 20), (1_000, 2_000, 4_000)
KINDS = {1: "several turns", 2: "time", 3: "open", 4: "one turn"}
ADVERSARIAL = 5


@dataclass(frozen=True)
class Turn:
    id: str
    session: str
    speaker: str
    text: str
    ts: float

    @property
    def shown(self) -> str:
        return f"{datetime.fromtimestamp(self.ts, UTC):%Y-%m-%d} {self.speaker}: {self.text}"


@dataclass(frozen=True)
class Question:
    text: str
    evidence: frozenset[int]
    """Numbers of turns."""
    category: int


@dataclass(frozen=True)
class Conversation:
    name: str
    turns: list[Turn]
    questions: list[Question]

    @property
    def now(self) -> float:
        return max(turn.ts for turn in self.turns) + DAY

    def meant(self, question: str) -> str:
        """What a question is about, without who is meant."""
        said = {
            word.strip("?.,!'’").removesuffix("'s").removesuffix("’s") for word in question.casefold().split()
        }
        return strip_speakers(question, {turn.speaker.casefold() for turn in self.turns} & said)


def conversations(path: Path = DATA) -> list[Conversation]:
    return [_conversation(raw) for raw in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(raw: dict[str, Any]) -> Conversation:
    talk = raw["conversation"]
    turns: list[Turn] = []
    for name in sorted(
        (key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:])
    ):
        begun = datetime.strptime(talk[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for number, said in enumerate(talk[name]):
            text = f"{said['text']} {said.get('blip_caption') or ''}".strip()
            turns.append(Turn(said["dia_id"], name, said["speaker"], text, begun.timestamp() + number))
    numbers = {turn.id: number for number, turn in enumerate(turns)}
    questions = []
    for asked in raw["qa"]:
        # some evidence names several turns in one text, with zeros or signs too many
        ids = [
            f"D{int(session)}:{int(turn)}"
            for text in asked.get("evidence", ())
            for session, turn in re.findall(r"D:?(\d+):(\d+)", text)
        ]
        evidence = frozenset(numbers[each] for each in ids if each in numbers)
        if evidence:
            questions.append(Question(asked["question"], evidence, asked["category"]))
    return Conversation(raw["sample_id"], turns, questions)


def unrelated() -> list[str]:
    return [line.strip() for line in UNRELATED.read_text(encoding="utf-8").splitlines() if line.strip()]


# --- figures -------------------------------------------------------------------------------


@dataclass
class Figures:
    """What was found of each question's evidence, summed up."""

    of: list[dict[str, float]] = field(default_factory=list)
    categories: list[int] = field(default_factory=list)

    def add(self, question: Question, found: Sequence[int], costs: Sequence[int]) -> None:
        """`found`: turns, best first; `costs`: the tokens of every turn."""
        places = {turn: place for place, turn in enumerate(found)}
        spent, total = [], 0
        for turn in found:
            total += costs[turn]
            spent.append(total)
        there = [places[turn] for turn in question.evidence if turn in places]
        figures = {f"at {k}": sum(place < k for place in there) / len(question.evidence) for k in RECALLS}
        figures["first"] = 1 / (1 + min(there)) if there else 0.0
        for budget in BUDGETS:
            figures[f"in {budget:,}"] = sum(spent[place] <= budget for place in there) / len(
                question.evidence
            )
        self.of.append(figures)
        self.categories.append(question.category)

    def mean(self, name: str, *categories: int) -> float:
        wanted = categories or tuple(KINDS)
        chosen = [each[name] for each, kind in zip(self.of, self.categories, strict=True) if kind in wanted]
        return fmean(chosen) if chosen else float("nan")
