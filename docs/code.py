"""CODE.md, made of the packages and their modules.

.venv/bin/python docs/code.py            writes docs/CODE.md
.venv/bin/python docs/code.py --print    prints it
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src/looseleaf"
PAGE = ROOT / "docs/CODE.md"

PACKAGES = {
    "base": "shared values, names and rules",
    "text": "characters and lines; how untrusted text is shown",
    "language": "words, sentences, dates, relations",
    "store": "durable bytes: streams and documents",
    "index": "search data, by words and by meaning",
    "models": "providers, tokens, prices",
    "log": "what was said and done; every change",
    "pages": "Markdown, read and edited; versions",
    "facts": "what is known, and what is true",
    "state": "`state.json`",
    "views": "built from facts: topics, essentials, index",
    "distill": "conversation becomes an entry, by rules or a model",
    "place": "an entry becomes lines on pages",
    "window": "the conversation that a model still sees",
    "recall": "find and rank",
    "prompt": "slots, budget, manifest",
    "explain": "why, who, from where",
    "forget": "remove, and prove it",
    "sync": "a copy elsewhere, made equal in both directions",
    "memory": "the public object",
    "tools": "what a model may call",
    "agent": "the loop",
    "transfer": "import and export",
    "integrations": "one host each",
    "work": "jobs and workers, where memories are in a database",
    "serve": "a page, REST and MCP, for people and programs elsewhere",
    "cli": "arguments in, an exit code out",
}
"""The purpose of each package, in the order of `tests/test_layers.py`."""

HEAD = """\
# The code

Made of the packages by `.venv/bin/python docs/code.py`. Lowest first: each package imports only the ones above it here,
and `tests/test_layers.py` checks that. `tests/pure_modules.txt` lists the modules without files, clock, environment or
chance.
"""


def page() -> str:
    drawn = "\n".join(line for package in PACKAGES for line in section(package))
    return f"{HEAD}\n```\nsrc/looseleaf/\n{drawn}\n```\n"


def section(package: str) -> Iterator[str]:
    yield f"{package + '/':16}{PACKAGES[package]}"
    yield from textwrap.wrap(
        ", ".join(modules(SOURCE / package)), 100, initial_indent=" " * 16, subsequent_indent=" " * 16
    )


def modules(folder: Path) -> list[str]:
    """The modules of a folder, and its folders with theirs."""
    inner = ((each.name, modules(each)) for each in sorted(folder.iterdir()) if each.is_dir())
    own = sorted(path.name for path in folder.glob("*.py") if path.name != "__init__.py")
    return own + [f"{name}/ ({', '.join(found)})" for name, found in inner if found]


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(page())
    else:
        PAGE.write_text(page(), "utf-8")
