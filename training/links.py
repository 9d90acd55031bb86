"""What a later message changes or orders to forget: memories with what was said afterwards → weights of the signs that
a line is meant.

    python training/links.py            # write src/looseleaf/data/distill/links.json
    python training/links.py --check    # only compare with the shipped bytes
    python training/links.py --dev      # figures of each author by the weights of the others; nothing is written

`pairs/<author>.jsonl` has one memory a line: twenty things that somebody said, and sixteen messages afterwards, each
with the numbers (from 0) of those that it makes untrue (`gone`) or that may be untrue now (`doubt`). The chance that a
sentence tells of a change comes from weights that were trained without its author. `forbidden/<author>.jsonl` is
similar: eight things, and sixteen messages, each with what is to be forgotten. Run it after `train.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np
import train
from sklearn.linear_model import LogisticRegression

from looseleaf.base.values import Fact
from looseleaf.distill.forbidding import forbids, order_of
from looseleaf.distill.selector import Scores, head
from looseleaf.distill.slot_tables import LINKS, is_name, matters_of, plain_terms, read, sorts_of
from looseleaf.distill.statements import KINDS_OF_FACTS, kind_of, sentences_of, statements
from looseleaf.facts.gate import Witness, reading_of
from looseleaf.facts.placement import PlacePlan
from looseleaf.facts.replacing import (
    DOUBT,
    GONE,
    MEANT,
    SURELY_MEANT,
    Lexicon,
    Replacement,
    erasing_signs,
    links,
    told_by,
)

START, DAY = 1_767_225_600.0, 86_400.0
STRENGTH = 0.05
"""The inverse strength of regularisation, for signs scaled alike."""

LEXICON = Lexicon(sorts_of, plain_terms()[0], is_name, {}, matters_of, {})
Pair = tuple[tuple[int, int, int], dict[str, float], str]
"""Which memory, message and line; the signs; and what became of the line: `gone`, `doubt` or `calm`."""


def held_facts(said: list[str]) -> list[tuple[Fact, int]]:
    """The facts held after these messages, each with the number of its message. There is no lexicon, so only slots
    replace each other."""
    plan = PlacePlan("", START, lambda topic: [], lambda proposal: proposal.topic)
    for number, text in enumerate(said):
        for proposal in statements(text, START, str(number)):
            witness = Witness(
                str(number), "user", text, START + number * DAY, frozenset({reading_of(proposal)})
            )
            plan.take(proposal, [witness])
    facts = [line.add for lines in plan.lines.values() for line in lines if line.add is not None]
    return [(fact, int(fact.sources[0])) for fact in facts]


def pairs_of(author: str, chance: Any) -> list[Pair]:
    made: list[Pair] = []
    for number, memory in enumerate(train.told("pairs", author)):
        held = held_facts(memory["held"])
        line_of = {fact.id: at for fact, at in held}
        for place, later in enumerate(memory["later"]):
            for sentence in sentences_of(later["say"]):
                if not sentence.is_own:
                    continue
                was = next((each.value for each in read(sentence.text) if each.label == "was"), None)
                kind = KINDS_OF_FACTS[kind_of(sentence.scores)]
                change = Replacement(sentence.text, chance("change", sentence), was, "", kind)
                for fact, signs in links(change, [fact for fact, _ in held], LEXICON):
                    at = line_of[fact.id]
                    label = "gone" if at in later["gone"] else "doubt" if at in later["doubt"] else "calm"
                    made.append(((number, place, at), signs, label))
    return made


def orders_of(author: str, chance: Any) -> list[Pair]:
    """The same for orders to forget: `gone` is what is to be forgotten. `chance`: of each head that is asked."""
    made: list[Pair] = []
    for number, memory in enumerate(train.told("forbidden", author)):
        before = {"say": "", "asks": "none"}
        for place, message in enumerate(memory["said"]):
            last = [before["say"]] if before["asks"] == "none" and before["say"] else []
            before = message
            if message["asks"] == "unclear":
                continue
            held = held_facts([*memory["held"], *last])
            gone = message["asks"] if isinstance(message["asks"], list) else []
            gone = [len(memory["held"])] if message["asks"] == "last" else gone
            every = sentences_of(message["say"])
            asked = [[chance(head, each) for head in ("forbid", "erase", "last")] for each in every]
            scores = [
                Scores(each.scores.keep, each.scores.change, forbid, 0, (), erase, is_last)
                for each, (forbid, erase, is_last) in zip(every, asked, strict=True)
            ]
            says = [
                (each.text, found)
                for each, found in zip(every, scores, strict=True)
                if forbids(each.text, found)
            ]
            order = order_of(says, [each.text for each in every])
            if order is not None:
                lines = [told_by(fact, is_last=at == len(memory["held"])) for fact, at in held]
                for at, signs in erasing_signs(order, lines, LEXICON):
                    label = "gone" if held[at][1] in gone else "calm"
                    made.append(((number, place, held[at][1]), signs, label))
    return made


def meant(pairs: list[Pair]) -> list[Pair]:
    """The pairs to train on: all calm ones, and for each line that is gone the sentence most closely linked to it, by a
    rough score. Doubtful ones are left out."""
    best: dict[tuple[int, int, int], tuple[float, int]] = {}
    for at, (which, signs, label) in enumerate(pairs):
        if label == "gone":
            weight = 2 * signs["shared"] + sum(
                factor * signs.get(name, 0.0)
                for name, factor in (
                    ("change", 1),
                    ("other of its sort", 2),
                    ("same aspect", 1),
                    ("forbid", 1),
                    ("erase", 1),
                )
            )
            if which not in best or weight > best[which][0]:
                best[which] = weight, at
    chosen = {at for _, at in best.values()}
    return [pair for at, pair in enumerate(pairs) if pair[2] == "calm" or at in chosen]


def fit(pairs: list[Pair]) -> dict[str, float]:
    """Weights for the unscaled signs."""
    names = [name for name in pairs[0][1] if name != "bias"]
    rows = np.array([[signs[name] for name in names] for _, signs, _ in pairs])
    wanted = np.array([label == "gone" for _, _, label in pairs])
    middle, scale = rows.mean(axis=0), np.maximum(rows.std(axis=0), 1e-9)
    model = LogisticRegression(C=STRENGTH, max_iter=5000, tol=1e-8).fit((rows - middle) / scale, wanted)
    weights = model.coef_[0] / scale
    bias = float(model.intercept_[0] - (weights * middle).sum())
    return {"bias": round(bias, 4)} | {
        name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)
    }


def chances(weights: dict[str, float], pairs: list[Pair]) -> list[float]:
    return [
        1 / (1 + np.exp(-sum(weights[name] * sign for name, sign in signs.items()))) for _, signs, _ in pairs
    ]


def figures(by_author: dict[str, list[Pair]], bars: tuple[float, ...]) -> None:
    for bar in bars:
        missed = gone = false = 0
        for author, pairs in by_author.items():
            rest = [pair for other, each in by_author.items() if other != author for pair in meant(each)]
            told = {
                which
                for chance, (which, _, _) in zip(chances(fit(rest), pairs), pairs, strict=True)
                if chance >= bar
            }
            wanted = {which for which, _, label in pairs if label == "gone"}
            missed, gone = missed + len(wanted - told), gone + len(wanted)
            false += len({which for which, _, label in pairs if label == "calm"} & told)
        right = (gone - missed) / max(gone - missed + false, 1)
        print(f"{bar:.2f}: missed {missed / gone:.3f} of {gone}, false {false}, right {right:.2f}")


def chances_without(author: str, apart: dict[str, dict[str, tuple[Any, float]]]) -> Any:
    """What the heads, trained without an author, say of a sentence."""

    def chance(name: str, sentence: Any) -> float:
        row = train.Example({"author": author, "lang": ""}, sentence.text, sentence.around, frozenset())
        margin = train.margins(name, *apart[name][author], [row])[0]
        known = head(name)
        return float(1 / (1 + np.exp(-(known.slope * margin + known.shift))))

    return chance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--dev", action="store_true")
    given = parser.parse_args()
    split = json.loads((train.HERE / "authors.json").read_text())
    rows = train.load(split["train"], parts=True)
    train.hush(rows)
    apart = {"change": train.apart("change", rows, train.later(split["pairs"], rows))}
    said = train.forbidden(split["forbidden"])
    apart |= {head: train.apart(head, rows, said) for head in ("forbid", "erase", "last")}
    changes = {author: pairs_of(author, chances_without(author, apart)) for author in split["pairs"]}
    orders = {author: orders_of(author, chances_without(author, apart)) for author in split["forbidden"]}
    if given.dev:
        figures(changes, (0.05, DOUBT, 0.2, 0.3, 0.5, GONE, 0.85))
        figures(orders, (0.1, 0.2, 0.3, MEANT, 0.5, SURELY_MEANT))
        return
    weights = {
        name: fit([pair for pairs in found.values() for pair in meant(pairs)])
        for name, found in (("change", changes), ("erase", orders))
    }
    made = json.dumps(weights, indent=1) + "\n"
    if given.check:
        is_same = LINKS.is_file() and made == LINKS.read_text(encoding="utf-8")
        print("the same bytes" if is_same else "other bytes than the shipped ones")
        sys.exit(0 if is_same else 1)
    LINKS.write_text(made, encoding="utf-8")
    print(f"{LINKS}: {sum(map(len, weights.values()))} signs")


if __name__ == "__main__":
    main()
