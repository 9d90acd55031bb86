"""The main job, from nothing: a memory is made, a person and a program edit the same page, and nothing is lost.

Runs by itself, in a folder of its own that it removes again, with no model and no network.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from looseleaf import Memory, Stale
from looseleaf.core.grammar import add_fact


def say(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def looseleaf(*arguments: str) -> None:
    """Run a command as a person would, and show it."""
    print(f"$ looseleaf {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "looseleaf", *arguments], check=True)


def demo(home: Path) -> None:
    path = "facts/user.md"
    page = home / path

    say("A memory is a folder. This makes one:")
    looseleaf("init", str(home))

    say("A person writes a page, with any editor:")
    page.write_text("# User Facts\n\n> Summary: user name\n\n- Name: Zhang San\n")
    print(page.read_text(), end="")

    with Memory(home) as memory:
        say("A program adds a fact: one line, the rest of the page is left alone.")
        read = memory.page(path)
        receipt = memory.edit(
            path,
            lambda text: add_fact(text, path, "Language", "prefers Chinese discussion, English code"),
            base=read.sha256,
            author="agent:main",
            reason="said so",
        )
        print(f"edit {receipt.id}: +{receipt.added} -{receipt.removed}")

        say("The person saves again meanwhile; the program, still holding the old page, is told so:")
        page.write_text(page.read_text().replace("Zhang San", "Zhang Wei"))
        try:
            memory.patch(path, [("English code", "code in English")], base=receipt.new, reason="tidier")
        except Stale as stale:
            print(stale)

        say("The facts of the page, as the grammar reads them:")
        for fact in memory.page(path).facts:
            print(f"  line {fact.line}: {fact.subject} | {fact.relation} | {fact.object}")

    say("Everything that happened, by whom and why:")
    looseleaf("--memory", str(home), "log")

    say("The last change is taken back, which is a change too:")
    looseleaf("--memory", str(home), "undo", path)
    looseleaf("--memory", str(home), "diff", path)

    say("And all of it is checked: every line re-read, every hash made again.")
    looseleaf("--memory", str(home), "check")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="looseleaf-demo-") as folder:
        demo(Path(folder) / "memory")
