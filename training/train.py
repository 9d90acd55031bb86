"""Train the selector: labelled sentences → src/looseleaf/data/distill/selector.bin. The same data give the same bytes.

    python training/train.py            # train on all training authors and write the weights
    python training/train.py --check    # train, and only compare with the shipped bytes
    python training/train.py --dev      # figures on the dev authors; nothing is written

Authors are split whole (`training/authors.json`). All heads but `erase` and `last` see the `train` authors; `change`
also sees those of `pairs`, `forbid` those of `forbidden`, and `erase` and `last` only these. All are calibrated
by leaving out a group of authors at a time.
`dev` is looked at while tuning. The test sets are in benchmarks/data/learn/test.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "src"))

from looseleaf.distill.selector import (  # noqa: E402  # noqa: E402
    HEADS,
    KINDS,
    SCHEMA,
    WEIGHTS,
    Around,
    around_clause,
    clauses_of,
    features,
    has_forbidding_word,
    marks_of,
    orders_of,
)
from looseleaf.distill.statements import parts_of  # noqa: E402
from looseleaf.language.linear_model import LEVELS  # noqa: E402
from looseleaf.language.own_words import mask_quotes, own_zones  # noqa: E402

BITS = {
    "keep": 18,
    "change": 18,
    "forbid": 18,
    "quoted": 17,
    "aside": 15,
    "erase": 16,
    "last": 16,
} | dict.fromkeys(KINDS, 15)
STRENGTH = {
    "keep": 10.0,
    "change": 20.0,
    "forbid": 15.0,
    "quoted": 20.0,
    "aside": 10.0,
    "erase": 10.0,
    "last": 20.0,
} | dict.fromkeys(KINDS, 20.0)
"""The inverse strength of regularisation; found by leaving out groups of training authors."""

BY_RARITY = frozenset({"keep", "change"})
"""Heads whose features are weighted by rarity (inverse document frequency). The others rely on the shape of a message,
whose features are common."""

ALONE = frozenset({"keep", "change", "forbid"})
"""Heads that see each sentence once more as a message of its own: authors put what is worth keeping at the same places
of a message, and these heads are to go by what is said. `quoted` needs the message around."""

NOT_KEPT = frozenset({"nothing", "quoted", "forbid"})
WHAT_OF = {"forbid": "", "erase": "forbid", "last": "erase"}
ASKED = frozenset({"forbidden", "piece"})
"""Heads that learn from messages that may forbid, each with the label that an example needs first; and the parts of
such messages."""
FOLDS = 5


PASTED: Counter[str] = Counter()
LOST: list[tuple[str, str]] = []
"""What the filter of pasted text took, by what it was; and what it should not have taken."""


_WEIGHTS = {"inside": 0.25, "outside": 0.25, "later": 3.0}


class Example:
    """A sentence as the selector sees it, with what is said of it."""

    __slots__ = ("author", "hashes", "is_silent", "kinds", "lang", "message", "part", "text", "weight")

    def __init__(
        self, row: dict[str, Any], text: str, around: Around, kinds: frozenset[str], part: str = ""
    ) -> None:
        self.author, self.lang, self.text, self.kinds, self.part = (
            row["author"],
            row["lang"],
            text,
            kinds,
            part,
        )
        self.message: int = row.get("message", 0)
        self.is_silent = False
        self.weight = _WEIGHTS.get(part, 1.0)
        self.hashes = features(text, around)


def messages(path: Path) -> list[list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[row.get("message", -len(found) - 1)].append(row)
    return list(found.values())


def examples(message: list[dict[str, Any]], *, parts: bool) -> list[Example]:
    """The sentences of a message with what stands around them; with `parts`, also what is marked in them, and the
    rest."""
    whole = ""
    places: list[int] = []
    for row in message:
        whole += ("\n" if row.get("line") else " ") if whole else ""
        places.append(len(whole))
        whole += row["text"]
    lines, marks, seen = whole.count("\n") + 1, marks_of(whole), mask_quotes(whole)
    orders = orders_of([row["text"] for row in message])
    made: list[Example] = []
    before = ""
    for place, row in enumerate(message):
        is_new = bool(row.get("line")) or place == 0
        middle = places[place] + len(row["text"]) // 2
        shown = seen[places[place] : places[place] + len(row["text"])]
        zone = next((each.name for each in own_zones(whole) if each.start <= middle < each.end), None)
        if zone is None or not any(map(str.isalnum, shown)):
            PASTED[
                "quoted" if "quoted" in row["kinds"] else "nothing" if "nothing" in row["kinds"] else "kept"
            ] += 1
            if "quoted" not in row["kinds"] and "nothing" not in row["kinds"]:
                LOST.append((row["text"], whole))
            before = row["text"]
            continue
        if "quoted" in row["kinds"]:
            PASTED[f"left {zone}"] += 1
        around = Around(
            row.get("asked", ""), before, place, len(message), lines, is_new, marks, zone, orders[place]
        )
        kinds = frozenset(row["kinds"])
        made.append(Example(row, shown, around, kinds))
        if parts:
            made.append(
                Example(row, shown, Around(around.asked, is_new_line=True, zone=zone), kinds, "alone")
            )
        if parts and kinds - NOT_KEPT:
            made += clauses(row, shown)
        if parts and row.get("spans"):
            at = 0
            for first, last in [*row["spans"], (len(row["text"]), len(row["text"]))]:
                outside, inside = shown[at:first].strip(" ,.;:-"), shown[first:last]
                if len(outside.split()) > 2:
                    made.append(Example(row, outside, around, frozenset({"nothing"}), "outside"))
                if inside.strip():
                    made.append(Example(row, inside, around, kinds, "inside"))
                at = last
        before = shown
    return made


def clauses(row: dict[str, Any], shown: str) -> list[Example]:
    """The clauses of a kept sentence: whether each is among what is worth keeping, or stands beside it."""
    places = clauses_of(shown)
    spans = row.get("spans") or [(0, len(shown))]
    made = []
    for number, (first, last) in enumerate(places):
        inside = sum(max(0, min(last, end) - max(first, start)) for start, end in spans)
        kinds = frozenset({"aside"}) if 2 * inside < last - first else frozenset({"inner"})
        made.append(Example(row, shown[first:last], around_clause(shown, places, number), kinds, "clause"))
    return made if len(places) > 1 else []


def load(authors: list[str], *, parts: bool) -> list[Example]:
    return [
        each
        for author in authors
        for message in messages(HERE / "data" / f"{author}.jsonl")
        for each in examples(message, parts=parts)
    ]


def told(folder: str, author: str) -> list[dict[str, Any]]:
    """What somebody said, and what was said later (`links.py`)."""
    path = HERE / folder / f"{author}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def later(authors: list[str], rows: list[Example]) -> list[Example]:
    """Sentences of later messages, as examples for `change`. Nobody marked which sentence makes the change, so of a
    message that changes something only the one that `rows` would score highest is taken; of one that changes nothing,
    all are. Messages that raise a doubt are left out."""
    found: list[Example] = []
    weights, bias = fit("change", rows)
    for author in authors:
        for memory in told("pairs", author):
            for message in memory["later"]:
                if message["doubt"]:
                    continue
                kinds = frozenset({"change"} if message["gone"] else {"nothing"})
                row = {"author": author, "lang": memory["lang"]}
                made = [
                    Example(row, text, around, kinds, "later")
                    for _, _, text, around in parts_of(message["say"])
                    if around.zone == "own"
                ]
                if message["gone"] and made:
                    made = [made[int(np.argmax(margins("change", weights, bias, made)))]]
                found += made
    return found


def forbidden(authors: list[str]) -> list[Example]:
    """Sentences of messages that may forbid something, and their clauses, as examples for `forbid`; those that do, for
    `erase`: whether they are about what was said earlier; and of these for `last`: whether that is the message before.
    """
    found: list[Example] = []
    for author in authors:
        for memory in told("forbidden", author):
            for message in memory["said"]:
                if message["asks"] == "unclear":
                    continue
                first, last = message.get("span", (0, 0))
                says = " ".join(message["say"][first:last].split())
                row = {"author": author, "lang": memory["lang"]}
                asks = {"here": {"forbid"}, "last": {"forbid", "erase", "last"}}
                kinds = frozenset(asks.get(str(message["asks"]), {"forbid", "erase"}))
                for start, end, text, around in parts_of(message["say"]):
                    is_said = 2 * _overlap((first, last), (start, end)) > min(last - first, end - start)
                    whole = kinds if is_said else frozenset({"nothing"})
                    found.append(Example(row, text, around, whole, "forbidden"))
                    places = clauses_of(text)
                    at = text.find(says) if is_said else 0
                    for number, place in enumerate(places if len(places) > 1 and at >= 0 else ()):
                        shared = _overlap(place, (at, at + len(says))) if is_said else 0
                        if 0 < 2 * shared <= place[1] - place[0]:
                            continue
                        beside = around_clause(text, places, number)
                        part = kinds if shared > 0 else frozenset({"nothing"})
                        found.append(Example(row, text[slice(*place)], beside, part, "piece"))
    return found


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> int:
    return min(one[1], other[1]) - max(one[0], other[0])


def apart(name: str, rows: list[Example], said: list[Example]) -> dict[str, tuple[np.ndarray, float]]:
    """For each author of `said`, the weights of a head trained without that author's fold."""
    authors = sorted({row.author for row in said})
    found: dict[str, tuple[np.ndarray, float]] = {}
    for fold in range(min(FOLDS, len(authors))):
        out = authors[fold::FOLDS]
        found |= dict.fromkeys(out, fit(name, [*rows, *(row for row in said if row.author not in out)]))
    return found


def matrix(rows: list[Example], bits: int) -> csr_matrix:
    mask = (1 << bits) - 1
    values, columns, starts = [], [], [0]
    for row in rows:
        share = 1.0 / np.sqrt(max(len(row.hashes), 1))
        columns += [each & mask for each in row.hashes]
        values += [share] * len(row.hashes)
        starts.append(len(columns))
    made = csr_matrix((values, columns, starts), shape=(len(rows), 1 << bits))
    made.sum_duplicates()
    return made


def target(name: str, rows: list[Example]) -> tuple[list[int], np.ndarray]:
    """Which rows a head is trained on, and what it is to say of them."""
    at = [n for n, row in enumerate(rows) if (row.part == "clause") == (name == "aside")]
    at = [n for n in at if rows[n].part != "later" or name == "change"]
    at = [n for n in at if rows[n].part not in ASKED or name in WHAT_OF]
    if WHAT_OF.get(name):
        at = [n for n in at if rows[n].part in ASKED and WHAT_OF[name] in rows[n].kinds]
    at = [n for n in at if rows[n].part != "alone" or name in ALONE]
    if name in ("keep", "change"):  # by itself, it would be the user's word
        at = [n for n in at if rows[n].part != "alone" or "quoted" not in rows[n].kinds]
    if name == "keep":
        return at, np.array([bool(rows[n].kinds - NOT_KEPT) and "forbid" not in rows[n].kinds for n in at])
    if name == "forbid":
        at = [n for n in at if not rows[n].is_silent]
    if name in KINDS:
        at = [n for n in at if rows[n].kinds & {*KINDS}]
    return at, np.array([name in rows[n].kinds for n in at])


def fit(name: str, rows: list[Example]) -> tuple[np.ndarray, float]:
    at, wanted = target(name, rows)
    chosen = [rows[n] for n in at]
    model = LogisticRegression(
        C=STRENGTH[name], solver="liblinear", random_state=0, tol=1e-4, max_iter=1000, dual=True
    )
    given = matrix(chosen, BITS[name])
    rarity = np.ones(given.shape[1])
    if name in BY_RARITY:
        rows_with = np.bincount(given.indices, minlength=given.shape[1])
        rarity = np.log((len(chosen) + 1) / (rows_with + 1)) / 5
    model.fit(given @ diags(rarity), wanted, sample_weight=np.array([row.weight for row in chosen]))
    return model.coef_[0] * rarity, float(model.intercept_[0])


def quantised(weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Codes of four bits, and what a level is worth. The largest weight sets it: to cut the largest ones costs more
    than all rounding."""
    scale = float(np.abs(weights).max()) / LEVELS[-1] or 1.0
    steps = np.rint(np.sqrt(np.abs(weights) / (scale * LEVELS[-1])) * (len(LEVELS) - 1)).astype(np.uint8)
    return np.where((weights < 0) & (steps > 0), steps + len(LEVELS), steps).astype(np.uint8), scale


def packed(codes: np.ndarray) -> bytes:
    half = len(codes) // 2
    return zlib.compress((codes[:half] | codes[half:] << 4).astype(np.uint8).tobytes(), 9)


def margins(name: str, weights: np.ndarray, bias: float, rows: list[Example]) -> np.ndarray:
    codes, scale = quantised(weights)
    signed = np.array([*LEVELS, *(-level for level in LEVELS)])
    return matrix(rows, BITS[name]) @ (signed[codes] * scale) + bias


def calibrated(name: str, rows: list[Example]) -> tuple[float, float]:
    """How a margin becomes a probability: by authors that were left out, one group at a time."""
    authors = sorted({rows[n].author for n in target(name, rows)[0]})
    found: list[np.ndarray] = []
    truth: list[np.ndarray] = []
    for fold in range(min(FOLDS, len(authors))):
        out = set(authors[fold::FOLDS])
        rest = [row for row in rows if row.author not in out]
        held = [
            row
            for row in rows
            if row.author in out
            and row.part in (("clause",) if name == "aside" else ("", "later", "forbidden"))
        ]
        at, wanted = target(name, held)
        if not rest or not wanted.any() or wanted.all() or not target(name, rest)[1].any():
            continue
        found.append(margins(name, *fit(name, rest), [held[n] for n in at]))
        truth.append(wanted)
    model = LogisticRegression(C=1e6, solver="lbfgs", tol=1e-10)
    model.fit(np.concatenate(found).reshape(-1, 1), np.concatenate(truth))
    return float(model.coef_[0][0]), float(model.intercept_[0])


def hush(rows: list[Example]) -> int:
    """Authors label the private sentence like the one that forbids it. If a sentence of the message has a forbidding
    word, those labelled so without one are left out when `forbid` is trained."""
    says: set[tuple[str, int]] = set()
    has_word: dict[int, bool] = {}
    for at, row in enumerate(rows):
        if "forbid" in row.kinds and row.part not in ASKED:
            has_word[at] = has_forbidding_word(row.text)
            if has_word[at]:
                says.add((row.author, row.message))
    for at, is_said in has_word.items():
        rows[at].is_silent = not is_said and (rows[at].author, rows[at].message) in says
    return sum(row.is_silent for row in rows)


def train(rows: list[Example]) -> bytes:
    print(
        f"{hush(rows)} sentences and clauses without a forbidding word are left out of `forbid`",
        file=sys.stderr,
    )
    heads, parts = [], []
    for name in HEADS:
        weights, bias = fit(name, rows)
        codes, scale = quantised(weights)
        slope, shift = calibrated(name, rows)
        parts.append(packed(codes))
        head = {
            "name": name,
            "bits": BITS[name],
            "bytes": len(parts[-1]),
            "scale": scale,
            "bias": bias,
            "slope": slope,
            "shift": shift,
        }
        heads.append(
            {key: round(value, 9) if isinstance(value, float) else value for key, value in head.items()}
        )
        print(f"{name}: {len(rows)} rows, slope {slope:.2f}, shift {shift:.2f}", file=sys.stderr)
    rest = b"".join(parts)
    return json.dumps({"schema": SCHEMA, "crc": zlib.crc32(rest), "heads": heads}).encode() + b"\n" + rest


# --- looking ---------------------------------------------------------------------------


def figures(authors: list[str]) -> None:
    from looseleaf.distill.selector import head

    rows = load(authors, parts=False)
    by: dict[str, list[Example]] = defaultdict(list)
    for row in rows:
        by[row.lang].append(row)
        by["all"].append(row)
        by[row.author].append(row)
    for name in ("keep", "change", "forbid", "quoted"):
        for group, held in sorted(by.items()):
            wanted = target(name, held)[1]
            scores = np.array([head(name).score(row.hashes) for row in held])
            line = []
            for bar in (0.3, 0.5, 0.7, 0.85):
                hit = int((wanted & (scores >= bar)).sum())
                taken = int((scores >= bar).sum())
                right, found = hit / max(taken, 1), hit / max(int(wanted.sum()), 1)
                f1 = 2 * right * found / max(right + found, 1e-9)
                line.append(f"{bar}: p {right:.2f} r {found:.2f} f {f1:.2f}")
            print(f"{name:8} {group:5} {len(held):5} {int(wanted.sum()):5}  " + " | ".join(line))
    kept = [row for row in rows if row.kinds & {*KINDS}]
    right = sum(
        KINDS[int(np.argmax([head(name).score(row.hashes) for name in KINDS]))] in row.kinds for row in kept
    )
    print(f"kind right: {right / max(len(kept), 1):.3f} of {len(kept)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--dev", action="store_true")
    given = parser.parse_args()
    split = json.loads((HERE / "authors.json").read_text())
    if given.dev:
        figures(split["dev"])
        return
    rows = load(split["train"], parts=True)
    made = train(rows + later(split["pairs"], rows) + forbidden(split["forbidden"]))
    if given.check:
        is_same = made == WEIGHTS.read_bytes()
        print("the same bytes" if is_same else "other bytes than the shipped ones")
        sys.exit(0 if is_same else 1)
    WEIGHTS.parent.mkdir(exist_ok=True)
    WEIGHTS.write_bytes(made)
    print(f"{WEIGHTS}: {len(made):,} bytes")


if __name__ == "__main__":
    main()
