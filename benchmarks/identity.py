"""How well two facts are told to be the same, one after the other, or two: measured on labelled pairs.

    python benchmarks/identity.py            prints the figures of the half for tuning, of the half held back, of all
    python benchmarks/identity.py --save     keeps the figures in results.json as well
    python benchmarks/identity.py --misses   and the pairs of the half for tuning that were judged unlike their label

Each pair goes through the one function that the memory uses (`core.identity.decide`): the first fact is held, the
second comes a day later, both said by the user. A merge is precise when the pair is labelled the same; a pair that is
sent to review is neither merged nor lost, but found late: it counts against recall.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # the parts of this one are found from wherever it is run

from benchmarks.report import Row, options, report  # noqa: E402

from looseleaf.base.values import Fact  # noqa: E402
from looseleaf.facts.identity import decide  # noqa: E402

PAIRS = Path(__file__).parent / "data/pairs.jsonl"
PRECISION, RECALL = 0.98, 0.85
"""What a change to the matcher must keep, over all pairs."""

LABELS = ("same", "replaces", "other")
JUDGED = {"restate": "same", "supersede": "replaces", "add": "other", "review": "review"}


@dataclass(frozen=True)
class Pair:
    """Two facts, what they are to each other, and what they were judged to be."""

    id: str
    a: Fact
    b: Fact
    label: str
    judged: str
    why: str

    @property
    def is_held_back(self) -> bool:
        return int(sha256(self.id.encode()).hexdigest(), 16) % 2 == 1


@dataclass(frozen=True)
class Figures:
    """The share of merges that were right, of the same that were merged, of the newer that replaced; and all counts."""

    pairs: int
    precision: float
    recall: float
    replaced: float
    confusion: dict[tuple[str, str], int]


def judged(path: Path = PAIRS) -> list[Pair]:
    with path.open(encoding="utf-8") as lines:
        return [_judge(json.loads(line)) for line in lines if line.strip()]


def _judge(raw: dict[str, Any]) -> Pair:
    a, b = _fact(raw["a"], "a", "2026-01-01"), _fact(raw["b"], "b", "2026-01-02")
    decision = decide(b, [a])
    return Pair(raw["id"], a, b, raw["label"], JUDGED.get(decision.act, decision.act), decision.why)


def _fact(raw: dict[str, str], name: str, day: str) -> Fact:
    return Fact(
        raw["topic"], raw["topic"], raw["relation"], raw["object"], id=name, level="said", valid_from=day
    )


def figures(pairs: Iterable[Pair]) -> Figures:
    confusion = Counter((pair.label, pair.judged) for pair in pairs)
    merged = sum(count for (_, verdict), count in confusion.items() if verdict == "same")
    right = confusion["same", "same"]

    def share(count: int, label: str) -> float:
        of = sum(number for (name, _), number in confusion.items() if name == label)
        return count / of if of else 1.0

    return Figures(
        confusion.total(),
        right / merged if merged else 1.0,
        share(right, "same"),
        share(confusion["replaces", "replaces"], "replaces"),
        dict(confusion),
    )


def table(found: Figures) -> Iterator[str]:
    verdicts = ("same", "replaces", "other", "review")
    yield f"  {found.pairs} pairs: merge precision {found.precision:.3f}, recall {found.recall:.3f}"
    yield f"  replacements seen as such: {found.replaced:.3f}"
    yield "  labelled   " + "".join(f"{'-> ' + verdict:>13}" for verdict in verdicts)
    for label in LABELS:
        counts = (found.confusion.get((label, verdict), 0) for verdict in verdicts)
        yield f"  {label:<11}" + "".join(f"{count:>13}" for count in counts)


def rows(held_back: Figures, whole: Figures) -> Iterator[Row]:
    of = f"of {whole.pairs} labelled pairs"
    yield f"facts that are merged: rightly so, {of}", f"{whole.precision:.3f}", f"≥ {PRECISION}"
    yield "the same facts in other words: merged", f"{whole.recall:.3f}", f"≥ {RECALL}"
    both = f"{held_back.precision:.3f}, {held_back.recall:.3f}"
    yield f"both, of the {held_back.pairs} pairs held back", both, f"≥ {PRECISION}, {RECALL}"


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--misses", action="store_true")
    asked = parser.parse_args()
    pairs = judged()
    tuned = [pair for pair in pairs if not pair.is_held_back]
    held_back = [pair for pair in pairs if pair.is_held_back]
    for name, part in (("for tuning", tuned), ("held back", held_back), ("all", pairs)):
        print(name, *table(figures(part)), sep="\n")
    report("identity", rows(figures(held_back), figures(pairs)), save=asked.save)
    if asked.misses:
        for pair in tuned:
            if pair.label != pair.judged:
                a, b = (f"{fact.topic}/{fact.relation}: {fact.object}" for fact in (pair.a, pair.b))
                print(f"{pair.id} {pair.label} -> {pair.judged}: {a} | {b} ({pair.why})")


if __name__ == "__main__":
    main()
