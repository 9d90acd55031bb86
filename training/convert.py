"""Turn authors' labelled text files into JSONL: a line for each sentence, or for each memory with what was asked of it.

    python training/convert.py AUTHOR FILE... > training/data/AUTHOR.jsonl
    python training/convert.py --forbidden AUTHOR FILE... > training/forbidden/AUTHOR.jsonl

Both text formats are described in training/README.md.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

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


def read_forbidden(paths: list[Path]) -> list[dict[str, Any]]:
    """Memories, each with messages that may forbid something."""
    found: list[dict[str, Any]] = []
    for path in paths:
        for block in path.read_text(encoding="utf-8").split("\n---"):
            memory: dict[str, Any] = {"lang": "en", "held": [], "said": []}
            for line in block.splitlines():
                if line.startswith("# ") and len(line.strip()) == 4:
                    memory["lang"] = line[2:4]
                elif re.match(r"\d+\t", line):
                    memory["held"].append(line.partition("\t")[2].strip())
                elif line.startswith(">\t"):
                    asks, _, text = line[2:].partition("\t")
                    memory["said"].append(_message(asks.strip(), text.strip(), len(memory["held"])))
            found += [memory] if memory["held"] else []
    return found


def _message(asks: str, text: str, held: int) -> dict[str, Any]:
    """What somebody said, with what it asks for and the stretch that says so. `unclear`, where these do not fit."""
    text = text.replace("⏎", "\n")
    spans = list(_SPAN.finditer(text))
    numbers = [int(each) - 1 for each in re.findall(r"\d+", asks)]
    is_sound = (asks in ("here", "last", "none") or bool(numbers)) and len(spans) == (asks != "none")
    made: dict[str, Any] = {"say": _SPAN.sub(r"\1", text), "asks": numbers or asks}
    if not is_sound or max(numbers, default=0) >= held:
        print(f"passed over: {asks} {text[:80]!r}", file=sys.stderr)
        made["asks"] = "unclear"
    elif spans:
        made["span"] = [spans[0].start(), spans[0].end() - 4]
    return made


def main() -> None:
    is_forbidden = sys.argv[1] == "--forbidden"
    author, *names = sys.argv[1 + is_forbidden :]
    paths = [Path(name) for name in names]
    for each in read_forbidden(paths) if is_forbidden else read(author, paths):
        print(json.dumps(each, ensure_ascii=False))


if __name__ == "__main__":
    main()
