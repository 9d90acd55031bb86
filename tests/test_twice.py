"""Nothing stands twice in the package."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src/looseleaf"
LINES = 6
"""So many lines in a row that stand elsewhere too are one piece of code, written twice."""

Place = tuple[str, int]


def passed_over(tree: ast.Module) -> Iterator[range]:
    """Lines that say what there is and do nothing: imports, docstrings, signatures, members of a value."""
    for node in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield range(first, node.body[0].lineno)
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.AnnAssign):
                    yield lines_of(member)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield lines_of(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield lines_of(node)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield lines_of(node)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement below, and what holds some; expressions, which are most of a tree, hold none."""
    for members in ("body", "orelse", "finalbody", "handlers", "cases"):
        for each in getattr(node, members, ()):
            yield each
            yield from statements(each)


def lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def code_of(text: str) -> list[tuple[int, str]]:
    """The lines of code with their numbers, without those that are passed over, comments and lone brackets."""
    over = {number for each in passed_over(ast.parse(text)) for number in each}
    return [
        (number, " ".join(line.split()))
        for number, line in enumerate(text.splitlines(), 1)
        if number not in over and not line.lstrip().startswith("#") and any(map(str.isalnum, line))
    ]


def twins(texts: dict[str, str]) -> list[tuple[Place, Place]]:
    """Where a run of lines begins that stands elsewhere too, and where it stood first."""
    first: dict[tuple[str, ...], Place] = {}
    found: dict[tuple[str, str], tuple[Place, Place]] = {}
    for name, text in texts.items():
        code = code_of(text)
        seen: dict[tuple[str, ...], Place] = {}
        for at in range(len(code) - LINES + 1):
            run = tuple(line for _, line in code[at : at + LINES])
            here = (name, code[at][0])
            there = first.get(run) or seen.get(run)
            if there is not None:
                found.setdefault((there[0], name), (there, here))
            seen.setdefault(run, here)
        first = seen | first
    return list(found.values())


def package() -> dict[str, str]:
    return {str(path.relative_to(PACKAGE)): path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def test_no_six_lines_of_the_package_stand_twice() -> None:
    assert twins(package()) == []


def test_a_planted_twin_is_found() -> None:
    texts = package()
    name = max(texts, key=lambda each: len(texts[each]))
    whole = code_of(texts[name])
    found: dict[Place, list[Place]] = defaultdict(list)
    lines = [line for _, line in whole[20 : 20 + LINES]]
    planted = "TABLE = '''\n" + "\n\n".join(f"   {line}" for line in lines) + "\n'''\n"
    for there, here in twins({name: texts[name], "planted.py": planted}):
        found[here].append(there)
    assert list(found.values()) == [[(name, whole[20][0])]]


@pytest.mark.parametrize(
    "text",
    [
        "from a import (\n    b,\n    c,\n    d,\n    e,\n    f,\n    g,\n)\n",
        "def f(\n    a: int,\n    b: int,\n    c: int,\n    d: int,\n    e: int,\n) -> None:\n    return\n",
        '"""One.\n\nTwo.\nThree.\nFour.\nFive.\nSix.\nSeven.\n"""\n',
        "class A:\n    a: int\n    b: int\n    c: int\n    d: int\n    e: int\n    f: int\n",
        "(\n)\n[\n]\n{\n}\n# a\n# b\n# c\n# d\n# e\n# f\n",
    ],
    ids=["imports", "signature", "docstring", "members", "nothing"],
)
def test_what_only_says_what_there_is_may_stand_twice(text: str) -> None:
    assert twins({"a.py": text, "b.py": text}) == []


def test_a_run_within_one_file_counts_and_five_lines_do_not() -> None:
    lines = [f"x{number} = f({number})" for number in range(LINES)]
    once = "\n".join(lines)
    assert twins({"a.py": f"{once}\ny = 1\n{once}\n"}) == [(("a.py", 1), ("a.py", LINES + 2))]
    less = "\n".join(lines[:-1])
    assert twins({"a.py": f"{less}\ny = 1\n", "b.py": f"{less}\nz = 1\n"}) == []
