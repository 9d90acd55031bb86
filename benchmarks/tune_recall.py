"""Finds the weights of recall (`policy.Ranking`) on the conversations of LoCoMo, and says how much they are worth.

    python benchmarks/tune_recall.py                 tunes on all, prints the table to put into policy.py
    python benchmarks/tune_recall.py --cache FOLDER  keeps what was measured there, or takes what is there
    python benchmarks/tune_recall.py --every N       with every Nth question
    python benchmarks/tune_recall.py --meaning       also what meaning counts (extra `semantic`)
    python benchmarks/tune_recall.py --quick         one conversation, one step: whether it runs

Each weight is made larger and smaller, from round numbers that nobody tuned, and what finds more is taken together.
`leave_one_out` does so for each conversation on the nine others: what is then measured on it says what to expect of
conversations that nobody has seen. Every conversation is looked at once for each setting, so ten searches cost little
more than one. What the data does not show (long messages, roles, kinds) is left as it is in policy.py.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.locomo import Heard, Ours, cosines, vectors  # noqa: E402
from benchmarks.talks import ADVERSARIAL, DATA, Question, conversations  # noqa: E402
from benchmarks.window import QUICK, folder  # noqa: E402

from looseleaf.base.policy import Ranking  # noqa: E402
from looseleaf.recall.ranking import rank  # noqa: E402

START = {
    "repeats": 1.2,
    "short_length": 0.4,
    "before": 0.5,
    "after": 0.5,
    "second_before": 0.25,
    "second_after": 0.25,
    "context": 1.0,
    "own": 0.25,
    "session": 0.5,
    "session_repeats": 1.0,
    "speaker": 0.5,
    "substance": 0.5,
    "date": 1.0,
    "dated": 1.0,
}
MEANING = {"meaning": 0.5}
STEPS = (0.65, 1.5)
ROUNDS = 2
LEAST = 0.0005
"""A gain that is smaller is chance."""

WORTH = {5: 0.25, 10: 0.5, 20: 0.25}
"""What counts, of recall at so many. The adversarial questions count a fifth: they ask for what is not there."""

TWISTED = 0.2

Setting = tuple[tuple[str, float], ...]
Case = tuple[Question, Heard, dict[Any, float] | None]


class Measured:
    """What each setting is worth in each conversation, measured once."""

    def __init__(
        self, ours: Sequence[Ours], known: dict[str, Any] | None, every: int, kept: Path | None
    ) -> None:
        self._ours = ours
        self._known = known
        self._every = every
        self._kept = kept
        self._cases: list[list[Case]] | None = None
        self._values: dict[str, list[list[float]]] = {}
        if kept is not None and kept.exists():
            self._values = json.loads(kept.read_text())

    def value(self, setting: dict[str, float], without: int | None = None) -> float:
        """Over all conversations but one."""
        sums = [each for number, each in enumerate(self._of(setting)) if number != without]
        return sum(total for total, _ in sums) / sum(count for _, count in sums)

    def _of(self, setting: dict[str, float]) -> list[list[float]]:
        name = json.dumps({key: round(value, 4) for key, value in sorted(setting.items())})
        if name not in self._values:
            if self._cases is None:
                self._cases = [_cases(each, self._known, self._every) for each in self._ours]
            weights = Ranking(**setting)
            self._values[name] = [
                _sum(each, cases, weights) for each, cases in zip(self._ours, self._cases, strict=True)
            ]
            if self._kept is not None:
                self._kept.write_text(json.dumps(self._values))
        return self._values[name]


def _cases(ours: Ours, known: dict[str, Any] | None, every: int) -> list[Case]:
    cases: list[Case] = []
    for question in ours.conversation.questions[::every]:
        heard = ours.hear(question.text)
        like = None
        if known is not None:
            heard, like = ours.near(heard, cosines(ours.conversation, question.text, known))
        docs = tuple(ours.docs[doc.id][0] for doc in heard.docs)  # the same for all questions: less to hold
        cases.append((question, Heard(heard.asked, docs, heard.corpus), like))
    return cases


def _sum(ours: Ours, cases: Sequence[Case], weights: Ranking) -> list[float]:
    total = count = 0.0
    for question, heard, like in cases:
        found = ours.turns(rank(heard.asked, heard.docs, heard.corpus, weights, like, limit=max(WORTH)))
        share = TWISTED if question.category == ADVERSARIAL else 1.0
        for k, worth in WORTH.items():
            total += share * worth * len(question.evidence.intersection(found[:k])) / len(question.evidence)
        count += share
    return [total, count]


def search(
    measured: Measured, start: dict[str, float], rounds: int, without: int | None = None
) -> dict[str, float]:
    """Each weight by itself smaller and larger; then what was better of each, together, or the best of them alone."""
    best, setting = measured.value(start, without), dict(start)
    for _ in range(rounds):
        gains: dict[str, tuple[float, float]] = {}
        for name, weight in setting.items():
            for step in STEPS:
                tried = round(weight * step, 4)
                gain = measured.value(setting | {name: tried}, without) - best
                if gain > max(LEAST, gains.get(name, (0.0, 0.0))[0]):
                    gains[name] = gain, tried
        better = {name: tried for name, (_, tried) in gains.items()}
        if not better:
            break
        alone = max(gains, key=lambda name: gains[name])
        found = max(
            (setting | better, setting | {alone: better[alone]}),
            key=lambda each: measured.value(each, without),
        )
        setting, best = found, measured.value(found, without)
        print(f"{without}: {best:.4f} {better}", file=sys.stderr, flush=True)
    return setting


def leave_one_out(
    ours: Sequence[Ours], known: dict[str, Any] | None, cache: Path | None, every: int, rounds: int = 1
) -> list[Ranking]:
    """For each conversation, the weights that are best on the others. One round: its settings are the same for all."""
    words = Measured(ours, None, every, _kept(cache, "words", every))
    found = [search(words, START, rounds, number) for number in range(len(ours))]
    if known is not None:
        meant = Measured(ours, known, every, _kept(cache, "meaning", every))
        for number, setting in enumerate(found):
            tried = [START | {"meaning": meaning} for meaning in (0.4, 0.6, 0.9, 1.3)]
            best = max(tried, key=lambda each: meant.value(each, number))
            found[number] = setting | {"meaning": best["meaning"]}
    return [Ranking(**setting) for setting in found]


def _kept(cache: Path | None, name: str, every: int) -> Path | None:
    return cache / f"measured-{name}-{every}.json" if cache is not None else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--meaning", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if not DATA.exists():
        print(f"nothing was tuned: {DATA} is not there")
        return
    talks = conversations()[: 1 if options.quick else None]
    every = 20 if options.quick else options.every
    known = vectors(talks, options.cache) if options.meaning else None
    name = "meaning" if known is not None else "words"
    with folder(QUICK) as path:
        ours = [Ours(talk, path / talk.name) for talk in talks]
        measured = Measured(ours, known, every, _kept(options.cache, name, every))
        start = START | (MEANING if known is not None else {})
        found = search(measured, start, 1 if options.quick else ROUNDS)
        for each in ours:
            each.memory.close()
        print(f"from {measured.value(start):.4f} to {measured.value(found):.4f}; in policy.py:")
    default = Ranking()
    for weight, value in found.items():
        print(f"    {weight}: float = {value:g}  (is {getattr(default, weight):g})")


if __name__ == "__main__":
    main()
