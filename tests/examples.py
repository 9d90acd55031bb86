"""Runs the examples of documents: each document's in its own folder, statement by statement, in one process.

    python examples.py < [{"folder": …, "text": …}, …]    prints, for each, [[line, output, comments], …]

A comment beside a `print` claims its output. The caller compares the two.
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

Statements = list[tuple[int, str, list[str]]]


def run_statements(text: str, name: str) -> Statements:
    """Run a text; return the output of each statement, and the output that its comments claim."""
    remarks = comments(text)
    space: dict[str, Any] = {"__name__": "example"}
    found: Statements = []
    for statement in ast.parse(text).body:
        kept = io.StringIO()
        code = compile(ast.Module([statement], []), name, "exec")
        with redirect_stdout(kept):
            exec(code, space)
        last = statement.end_lineno or statement.lineno
        claimed = [remarks[line] for line in range(statement.lineno, last + 1) if line in remarks]
        found.append((statement.lineno, kept.getvalue(), claimed))
    return found


def comments(text: str) -> dict[int, str]:
    """Return the comments after a `print`, or after the bracket that ends one, by line."""
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
    results: list[Statements] = []
    for each in json.load(sys.stdin):
        os.makedirs(each["folder"])
        os.chdir(each["folder"])
        results.append(run_statements(each["text"], each["name"]))
    json.dump(results, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # memories that an example left open end with the process


if __name__ == "__main__":
    main()
