"""Make src/looseleaf/distill/data/plain_terms.txt: terms by which no two lines are known to speak of the same thing.

    python training/plain_terms.py

Terms (`core/terms.py`) that stand in many sentences of the training authors, whatever they are about; and, in a second
part, those of sentences that forbid to remember, which say that and not what.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "src"))

from looseleaf.core.terms import terms  # noqa: E402
from looseleaf.distill.sorts import families  # noqa: E402

TARGET = HERE.parent / "src" / "looseleaf" / "distill" / "data" / "plain_terms.txt"
SHARE = 0.008
LEAST = 10


def main() -> None:
    counts: dict[str, Counter[str]] = {}
    sizes: Counter[str] = Counter()
    forbids: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for author in json.loads((HERE / "authors.json").read_text())["train"]:
        for line in (HERE / "data" / f"{author}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found = set(terms(row["text"]))
            counts.setdefault(row["lang"], Counter()).update(found)
            sizes[row["lang"]] += 1
            (forbids if "forbid" in row["kinds"] else others).update(found)
    plain = {
        term
        for lang, found in counts.items()
        for term, count in found.items()
        if count >= max(LEAST, SHARE * sizes[lang])
    }
    # Days and months: two lines that name the same one need not speak of the same thing.
    times = " ".join(families()["weekday"] | families()["month"] | families()["season"]).split()
    plain |= {term for name in times for each in (name, f"{name}s") for term in terms(each)}
    total, rest = sum(forbids.values()), sum(others.values())
    forbidding = {
        term
        for term, count in forbids.items()
        if count > 4 and count / total > 2.5 * (others[term] + 0.5) / rest
    }
    TARGET.write_text(
        f"{' '.join(sorted(plain))}\n{' '.join(sorted(forbidding - plain))}\n", encoding="utf-8"
    )
    print(f"{TARGET}: {len(plain):,} plain terms, {len(forbidding - plain):,} of forbidding")


if __name__ == "__main__":
    main()
