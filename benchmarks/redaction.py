"""How many secrets are found, what is taken for one by mistake, and how long it takes.

    python benchmarks/redaction.py                   all three, on the code of this Python and its packages
    python benchmarks/redaction.py FOLDER …          alarms in the texts of these folders as well
    python benchmarks/redaction.py --samples 5       with so many samples of each kind of alarm
    python benchmarks/redaction.py --save            keeps the figures in results.json as well

Secrets are made by `tests/secret_kinds.py`: fresh ones of every kind, alone in prose, in the output of a tool, in JSON,
a file of settings, an address, a line of a log. Nothing secret is in published code, save for a few keys of examples:
each redaction there counts as an alarm. Time is per kilobyte, against a reading of the same text: whether the words of
a short list are in it.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

HERE = Path(__file__).parent.parent
for _each in (HERE, HERE / "tests"):
    if str(_each) not in sys.path:
        sys.path.insert(0, str(_each))  # the parts of this one are found from wherever it is run

from benchmarks.report import NO_GOAL, Row, options, report  # noqa: E402

from looseleaf.text.secrets import redact  # noqa: E402

KEPT, ALARMS = 5, 100
"""Goals: of a hundred fresh secrets, and of a million lines of code."""

ENDINGS = frozenset(
    ".py .pyi .js .mjs .cjs .ts .tsx .json .md .rst .txt .h .c .hpp .toml .cfg .yaml .yml .sh .html .css".split()
)
KEY = b"a key for a benchmark"
MARK = re.compile(r"\[redacted ([a-z-]+) [0-9a-f]{6}\]")
LONGEST = 1_000_000
"""Of a file, in bytes: what is longer is a bundle or data."""

LINES = 700_000
"""Of a folder: more are not read."""


def texts(folders: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the texts in these folders."""
    for top in folders:
        lines = 0
        for folder, inner, names in os.walk(top):
            inner.sort()
            for name in sorted(names):
                path = Path(folder, name)
                if path.suffix not in ENDINGS or path.is_symlink() or lines > LINES:
                    continue
                if path.stat().st_size < LONGEST:
                    text = path.read_text("utf-8", "replace")
                    if max(map(len, text.splitlines()), default=0) < 20_000:
                        lines += text.count("\n") + 1
                        yield path, text


def count_alarms(folders: Iterable[Path], samples: int) -> tuple[int, Counter[str]]:
    """Return how many lines were read, and how often each kind was redacted."""
    lines, alarms = 0, Counter[str]()
    shown: dict[str, list[str]] = defaultdict(list)
    chance = Random(1)
    for path, text in texts(folders):
        lines += text.count("\n") + 1
        out = redact(text, KEY)
        if out is text:
            continue
        for line in out.split("\n"):
            for kind in MARK.findall(line) if "[redacted " in line else ():
                alarms[kind] += 1
                shown[kind].append(f"{path.name}: {line.strip()[:160]}")
    for kind, each in sorted(shown.items()) if samples else ():
        for line in chance.sample(each, min(samples, len(each))):
            print(f"  {kind:14} {line}")
    return lines, alarms


def count_kept(seeds: Iterable[int]) -> tuple[int, Counter[str]]:
    """Return how many secrets were planted, and how many of each kind came through."""
    from secret_kinds import leaks, planted_everywhere

    planted, kept = 0, Counter[str]()
    for seed in seeds:
        for kind, secret, text in planted_everywhere(seed):
            planted += 1
            if leaks(secret, text, redact(text, KEY)):
                kept[kind] += 1
    return planted, kept


def seconds(work: Callable[[str], object], pieces: list[str]) -> float:
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for piece in pieces:
            work(piece)
        best = min(best, time.process_time() - start)
    return best


_WORDS = (
    "pass secret token key auth contrase kennwort seed wallet login curl cookie bearer mysql discord".split()
)


def against_reading(pieces: list[str]) -> float:
    """Return how many times as long as a search for a few words it takes to redact."""

    def read(text: str) -> object:
        low = text.lower()
        return [word for word in _WORDS if word in low]

    return seconds(lambda text: redact(text, KEY), pieces) / seconds(read, pieces)


def rows(folders: list[Path], samples: int) -> Iterator[Row]:
    planted, kept = count_kept(range(20))
    missed = ", ".join(f"{kind} {count}" for kind, count in kept.most_common(5))
    share = f"{100 * sum(kept.values()) / planted:.1f} (of {planted:,}{': ' if missed else ''}{missed})"
    yield "fresh secrets that came through, of 100", share, f"≤ {KEPT}"
    lines, alarms = count_alarms(folders, samples)
    most = ", ".join(f"{kind} {count}" for kind, count in alarms.most_common(8))
    yield (
        "alarms in a million lines of code",
        f"{sum(alarms.values()) * 1e6 / lines:.0f} ({sum(alarms.values())} in {lines:,} lines: {most})",
        f"≤ {ALARMS}",
    )
    code = [
        text[at : at + 4000] for _, text in list(texts(folders[:1]))[:100] for at in range(0, len(text), 4000)
    ]
    prose = [" ".join(piece.split()) for piece in re.findall(r'"""(.{200,}?)"""', "".join(code), re.DOTALL)]
    yield "time to redact code, against a search for a few words", f"{against_reading(code):.1f}", NO_GOAL
    yield "the same, short texts in prose", f"{against_reading(prose):.1f}", NO_GOAL


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="more texts in which nothing is secret")
    parser.add_argument("--samples", type=int, default=0, help="alarms of each kind to be shown")
    asked = parser.parse_args()
    own = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]
    report("redaction", rows([*own, *asked.folders], asked.samples), save=asked.save)


if __name__ == "__main__":
    main()
