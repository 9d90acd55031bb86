"""Train what is private, and what is about the user: labelled sentences → src/looseleaf/data/language/belonging.bin.

    python training/belonging.py            # train on all authors and write the weights
    python training/belonging.py --check    # train, and only compare with the shipped bytes
    python training/belonging.py --dev      # figures on authors left out, a group at a time; nothing is written

The sentences (`belonging/<author>.jsonl`) are some of `data/` and `pairs/`, labelled again by readers who knew no code,
and others by authors of talk that is private, or only sounds like it. The same data give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

from train import packed, quantised  # noqa: E402

from looseleaf.language.linear_model import LEVELS  # noqa: E402
from looseleaf.language.private_kinds import HEADS, KINDS, SCHEMA, WEIGHTS, features  # noqa: E402

BITS = {"private": 16, "home": 16} | dict.fromkeys(KINDS, 15)
STRENGTH, FOLDS = 20.0, 8


class Row:
    def __init__(self, told: dict[str, str]) -> None:
        self.author, self.lang, self.text = told["author"], told["lang"], told["text"]
        self.where, self.private = told["where"], told["private"].split()
        self.hashes = features(self.text)

    def says(self, name: str) -> bool:
        if name == "home":
            return self.where == "home"
        return bool(self.private) if name == "private" else name in self.private


def load() -> list[Row]:
    files = sorted((HERE / "belonging").glob("*.jsonl"))
    return [Row(json.loads(line)) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def chosen(name: str, rows: list[Row]) -> list[Row]:
    """The rows that a head learns from: what is worth nothing belongs nowhere."""
    return [row for row in rows if row.where != "nothing"] if name == "home" else rows


def matrix(name: str, rows: list[Row]) -> csr_matrix:
    values, columns, starts = [], [], [0]
    for row in rows:
        columns += [each & ((1 << BITS[name]) - 1) for each in row.hashes]
        values += [1.0 / np.sqrt(max(len(row.hashes), 1))] * len(row.hashes)
        starts.append(len(columns))
    made = csr_matrix((values, columns, starts), shape=(len(rows), 1 << BITS[name]))
    made.sum_duplicates()
    return made


def fit(name: str, rows: list[Row]) -> tuple[np.ndarray, float]:
    used = chosen(name, rows)
    model = LogisticRegression(
        C=STRENGTH, solver="liblinear", random_state=0, tol=1e-4, max_iter=1000, dual=True
    )
    given = matrix(name, used)
    rarity = np.log((len(used) + 1) / (np.bincount(given.indices, minlength=given.shape[1]) + 1)) / 5
    model.fit(given @ diags(rarity), np.array([row.says(name) for row in used]))
    return model.coef_[0] * rarity, float(model.intercept_[0])


def margins(name: str, weights: np.ndarray, bias: float, rows: list[Row]) -> np.ndarray:
    codes, scale = quantised(weights)
    signed = np.array([*LEVELS, *(-level for level in LEVELS)])
    return matrix(name, rows) @ (signed[codes] * scale) + bias


def left_out(name: str, rows: list[Row]) -> tuple[list[Row], np.ndarray]:
    """The margins of each row by a model that has not seen its author."""
    authors = sorted({row.author for row in rows})
    held: list[Row] = []
    found: list[np.ndarray] = []
    for fold in range(FOLDS):
        out = set(authors[fold::FOLDS])
        part = chosen(name, [row for row in rows if row.author in out])
        held += part
        found.append(margins(name, *fit(name, [row for row in rows if row.author not in out]), part))
    return held, np.concatenate(found)


def calibrated(name: str, rows: list[Row]) -> tuple[float, float]:
    held, found = left_out(name, rows)
    model = LogisticRegression(C=1e6, solver="lbfgs", tol=1e-10)
    model.fit(found.reshape(-1, 1), np.array([row.says(name) for row in held]))
    return float(model.coef_[0][0]), float(model.intercept_[0])


def train(rows: list[Row]) -> bytes:
    heads, parts = [], []
    for name in HEADS:
        weights, bias = fit(name, rows)
        codes, scale = quantised(weights)
        slope, shift = calibrated(name, rows)
        parts.append(packed(codes))
        told = {"scale": scale, "bias": bias, "slope": slope, "shift": shift}
        heads.append(
            {"name": name, "bits": BITS[name], "bytes": len(parts[-1])}
            | {key: round(value, 9) for key, value in told.items()}
        )
    rest = b"".join(parts)
    return json.dumps({"schema": SCHEMA, "crc": zlib.crc32(rest), "heads": heads}).encode() + b"\n" + rest


def figures(rows: list[Row]) -> None:
    for name in HEADS:
        slope, shift = calibrated(name, rows)
        held, found = left_out(name, rows)
        chance = 1 / (1 + np.exp(-(slope * found + shift)))
        wanted = np.array([row.says(name) for row in held])
        for bar in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7):
            taken = chance >= bar
            print(
                f"{name} {bar}: found {(wanted & taken).sum() / wanted.sum():.3f} of {wanted.sum()}, "
                f"wrongly {(~wanted & taken).sum() / (~wanted).sum():.3f} of {(~wanted).sum()}"
            )
    print(Counter(row.lang for row in rows), Counter(kind for row in rows for kind in row.private), KINDS)


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--check", action="store_true")
    asked.add_argument("--dev", action="store_true")
    options = asked.parse_args()
    rows = load()
    if options.dev:
        figures(rows)
        return 0
    made = train(rows)
    if options.check:
        print("the same bytes" if (same := made == WEIGHTS.read_bytes()) else "other bytes")
        return 0 if same else 1
    WEIGHTS.write_bytes(made)
    print(f"{len(rows)} sentences, {len(made):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
