"""Make src/looseleaf/data/distill/common.txt: words of everyday talk, which are no names when they are written small.

    python training/common_words.py

A word counts that three training authors wrote in lower case, four times as often as with a capital inside a sentence.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE.parent / "src" / "looseleaf" / "distill" / "data" / "common.txt"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_WIDE = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def main() -> None:
    small: Counter[str] = Counter()
    large: Counter[str] = Counter()
    authors: dict[str, set[str]] = defaultdict(set)
    for author in json.loads((HERE / "authors.json").read_text())["train"]:
        for line in (HERE / "data" / f"{author}.jsonl").read_text(encoding="utf-8").splitlines():
            for found in _WORD.finditer(json.loads(line)["text"]):
                word = found[0].replace("’", "'")
                if _WIDE.search(word) or len(word) < 2:
                    continue
                if word.islower():
                    small[word] += 1
                    authors[word].add(author)
                elif found.start():
                    large[word.lower()] += 1
    kept = [word for word, count in small.items() if len(authors[word]) > 2 and count > 4 * large[word]]
    TARGET.write_text("\n".join(sorted(kept)) + "\n", encoding="utf-8")
    print(f"{TARGET}: {len(kept):,} words")


if __name__ == "__main__":
    main()
