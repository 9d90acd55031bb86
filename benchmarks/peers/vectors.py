"""Vectors for those peers that need them, made before anything is timed: of meaning where that is measured, and else
of chance, which costs them the same."""

from __future__ import annotations

import math
import random
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.peers.wire import DIMENSIONS, digest


def write(path: Path, vectors: Mapping[str, Sequence[float]]) -> None:
    records = sorted((digest(text), vector) for text, vector in vectors.items())
    with path.open("wb") as file:
        for key, vector in records:
            file.write(key + array("f", vector).tobytes())


def of_chance(texts: Iterable[str]) -> dict[str, list[float]]:
    """Unit vectors, the same for the same text."""
    made = {}
    for text in texts:
        numbers = array("b", random.Random(text).randbytes(DIMENSIONS)).tolist()
        length = math.sqrt(sum(number * number for number in numbers))
        made[text] = [number / length for number in numbers]
    return made


def of_meaning(texts: Iterable[str]) -> dict[str, list[float]] | None:
    """By MiniLM in this process; None where the extra `semantic` is not installed."""
    from looseleaf.base.errors import Refused

    ordered = sorted(set(texts), key=lambda text: (len(text), text))
    try:
        from looseleaf.index.embed import minilm

        embed = minilm()
    except (ImportError, Refused) as error:
        print(f"vectors of meaning are left out: {error}", file=sys.stderr)
        return None
    made: dict[str, list[float]] = {}
    for at in range(0, len(ordered), 64):
        part = ordered[at : at + 64]
        made |= {text: [float(x) for x in row] for text, row in zip(part, embed(part), strict=True)}
    return made
