"""Runs examples of documents: each document's in a folder of its own, statement by statement, in one process.

    python examples.py < [{"folder": …, "text": …}, …]    prints, for each, [[line, what it printed, comments], …]

A comment beside a `print` says what it prints. Whoever reads this compares the two.
"""

from __future__ import annotations

import ast
import io
import json
import os
import sys
import tokenize
from contextlib import redirect_stdout
from typing import Any

Told = list[tuple[int, str, list[str]]]


def told(text: str, name: str) -> Told:
    """Run a text; of each statement, what it printed, and what its comments say that it prints."""
    remarks = comments(text)
    space: dict[str, Any] = {"__name__": "example"}
    found: Told = []
    for statement in ast.parse(text).body:
        kept = io.StringIO()
        code = compile(ast.Module([statement], []), name, "exec")
        with redirect_stdout(kept):
            exec(code, space)
        last = statement.end_lineno or statement.lineno
        said = [remarks[line] for line in range(statement.lineno, last + 1) if line in remarks]
        found.append((statement.lineno, kept.getvalue(), said))
    return found


def comments(text: str) -> dict[int, str]:
    """By line, the comments that stand behind a `print`, or behind the bracket that ends one."""
    lines = text.splitlines()
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            before = lines[line - 1][:column].strip()
            if "print(" in before or before == ")":
                found[line] = token.string.lstrip("# ")
    return found


def main() -> None:
    results: list[Told] = []
    for each in json.load(sys.stdin):
        os.makedirs(each["folder"])
        os.chdir(each["folder"])
        results.append(told(each["text"], each["name"]))
    json.dump(results, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # memories that an example left open are let go of with the process


if __name__ == "__main__":
    main()
