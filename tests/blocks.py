"""The blocks of code in the documents: where each stands, its language, and whether it is marked as not run."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])

_BLOCK = re.compile(
    r"^(?:<!-- not run: needs (?P<needs>.+?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    document: str
    line: int
    language: str
    text: str
    needs: str | None
    """What a machine needs to run it, if the test's does not have it."""

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


@dataclass(frozen=True)
class Step:
    """A command of a transcript, its standard input, and the output shown (None: none)."""

    arguments: tuple[str, ...]
    stdin: str
    shown: str | None


def blocks(path: Path, *languages: str) -> list[Block]:
    """Return the blocks of a document, in all languages or in these (`""`: without one)."""
    text = path.read_text("utf-8")
    found = [
        Block(
            str(path.relative_to(ROOT)),
            text.count("\n", 0, match.start("language")) + 1,
            match["language"],
            match["text"],
            match["needs"],
        )
        for match in _BLOCK.finditer(text)
    ]
    return [block for block in found if not languages or block.language in languages]


def all_blocks(*languages: str) -> list[Block]:
    return [block for path in DOCUMENTS for block in blocks(path, *languages)]


def commands(block: Block) -> list[str]:
    """Return the commands of a shell block, without comments, each whole even if it spans lines."""
    found: list[str] = []
    begun = ""
    for line in block.text.replace("\\\n", " ").splitlines():
        begun = f"{begun}\n{line}" if begun else re.sub(r"(^|\s)#.*$", "", line).strip()
        if begun and _is_whole(begun):
            found.append(begun)
            begun = ""
    return [*found, begun] if begun else found


def _is_whole(command: str) -> bool:
    try:
        shlex.split(command)
    except ValueError:
        return False  # a quotation is still open
    return True


def steps(block: Block) -> list[Step]:
    """Return the commands of a transcript, each with the output under it."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    if parts[0].strip():
        raise ValueError(f"{block}: a transcript begins with a command")
    return [_step(block, part) for part in parts[1:]]


def _step(block: Block, part: str) -> Step:
    command, _, shown = part.partition("\n")
    stdin, arguments = looseleaf_of(command)
    if arguments is None:
        raise ValueError(f"{block}: only looseleaf runs here, not {command!r}")
    return Step(arguments, stdin, shown.strip("\n") or None)


def looseleaf_of(command: str) -> tuple[str, tuple[str, ...] | None]:
    """Split a command line into looseleaf's standard input and its arguments (None: it is not called)."""
    words = shlex.split(re.sub(r"\s#\s.*$", "", command))
    stdin = ""
    if words[0] == "echo" and "|" in words:
        at = words.index("|")
        stdin, words = " ".join(words[1:at]) + "\n", words[at + 1 :]
    return (stdin, tuple(words[1:])) if words and words[0] == "looseleaf" else ("", None)


def pattern(shown: str) -> str:
    """Return the pattern of a shown output: `…` alone on a line stands for any lines, else for any text of a line."""
    lines = [
        r"(?:.*\n)*?" if line.strip() == "…" else r"[^\n]*?".join(map(re.escape, line.split("…"))) + r"\n"
        for line in shown.split("\n")
    ]
    return "".join(lines)
