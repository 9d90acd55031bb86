"""Turn authors' labelled text files into JSONL: one line a sentence.

    python training/convert.py AUTHOR FILE... > training/data/AUTHOR.jsonl

The text format is told in training/README.md: KIND, a tab, the sentence; a blank line ends a message.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

KINDS = frozenset(
    "profile preference rule project decision plan event other change forbid quoted nothing".split()
)
_SPAN = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)


def read(author: str, paths: list[Path]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    message = 0
    for path in paths:
        lang, before, is_open = "en", "", False
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.strip():
                if is_open:
                    before, is_open = "", False
            elif line.startswith("# ") and len(line.strip()) == 4:
                lang = line[2:4]
            elif line.startswith("<") and "\t" not in line:
                before = line[1:].strip()
            else:
                label, tab, text = line.partition("\t")
                kinds = sorted({each.strip() for each in label.strip().split("+")})
                if not tab or not kinds or not set(kinds) <= KINDS or not text.strip():
                    print(f"{path}: passed over: {line[:80]!r}", file=sys.stderr)
                    continue
                if not is_open:
                    message, is_open = message + 1, True
                rows.append(row(author, lang, message, kinds, text, before))
    return rows


def row(author: str, lang: str, message: int, kinds: list[str], text: str, before: str) -> dict[str, object]:
    is_new_line = text.startswith("⏎")
    text = text.removeprefix("⏎").replace("⏎", " ").strip()
    spans: list[list[int]] = []
    plain, at = "", 0
    for found in _SPAN.finditer(text):
        plain += text[at : found.start()]
        spans.append([len(plain), len(plain) + len(found[1])])
        plain += found[1]
        at = found.end()
    plain += text[at:]
    made: dict[str, object] = {
        "author": author,
        "lang": lang,
        "message": message,
        "kinds": kinds,
        "text": plain,
    }
    if spans:
        made["spans"] = spans
    if is_new_line:
        made["line"] = True
    if before:
        made["asked"] = before
    return made


def main() -> None:
    author, *names = sys.argv[1:]
    for each in read(author, [Path(name) for name in names]):
        print(json.dumps(each, ensure_ascii=False))


if __name__ == "__main__":
    main()
