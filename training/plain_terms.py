"""Make src/looseleaf/data/distill/plain_terms.txt: terms by which no two lines are known to speak of the same thing.

    python training/plain_terms.py

Terms (`language/terms.py`) that stand in many sentences of the training authors, whatever they are about; and, in a
second part, those of sentences that forbid to remember, and of cues that do: they say that, and not what.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "src"))

from looseleaf.distill.selector import CUES  # noqa: E402
from looseleaf.distill.slot_tables import aspects, families, matters, matters_of  # noqa: E402
from looseleaf.language.terms import terms  # noqa: E402

TARGET = HERE.parent / "src" / "looseleaf" / "distill" / "data" / "plain_terms.txt"
SHARE = 0.008
LEAST = 10
TELLS = 0.2
"""A term tells what is meant if, in at least this share of the texts that forbid with it, the line meant has it too."""
SAYING = ("forget:", "hold:", "secret:", "deny:")
"""Classes of cues that say that something is to be forgotten, and not what."""


def main() -> None:
    counts: dict[str, Counter[str]] = {}
    sizes: Counter[str] = Counter()
    forbids: Counter[str] = Counter()
    others: Counter[str] = Counter()
    tells: Counter[str] = Counter()
    split = json.loads((HERE / "authors.json").read_text())
    for author in split["train"]:
        for line in (HERE / "data" / f"{author}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found = set(terms(row["text"]))
            counts.setdefault(row["lang"], Counter()).update(found)
            sizes[row["lang"]] += 1
            (forbids if "forbid" in row["kinds"] else others).update(found)
    for author in split["forbidden"]:
        for line in (HERE / "forbidden" / f"{author}.jsonl").read_text(encoding="utf-8").splitlines():
            memory = json.loads(line)
            held = [set(terms(each)) for each in memory["held"]]
            for said in memory["said"]:
                if "span" in said:
                    found = set(terms(said["say"][slice(*said["span"])]))
                    forbids.update(found)
                    meant = said["asks"] if isinstance(said["asks"], list) else []
                    tells.update({term for at in meant for term in held[at] & found})
                else:
                    others.update(set(terms(said["say"])))
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
        if count > 4 and count / total > 2.5 * (others[term] + 0.5) / rest and tells[term] < TELLS * count
    }
    saying = {
        term
        for line in CUES.read_text(encoding="utf-8").splitlines()
        if line.startswith(SAYING)
        for word in line.partition(":")[2].split()
        for term in terms(word.rstrip("*"))
    }
    # "my salary", "my health": however often people forbid these, they are what is meant.
    names = [name for name in {**aspects(), **matters()} if " " not in name and matters_of(name)]
    forbidding = saying | (forbidding - {term for name in names for term in terms(name)})
    TARGET.write_text(
        f"{' '.join(sorted(plain))}\n{' '.join(sorted(forbidding - plain))}\n", encoding="utf-8"
    )
    print(f"{TARGET}: {len(plain):,} plain terms, {len(forbidding - plain):,} of forbidding")


if __name__ == "__main__":
    main()
