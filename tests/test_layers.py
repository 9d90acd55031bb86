"""The order of the house, read off the imports: packages import only what stands before them, and rules touch no world.

The checker is made of functions over a module's name and source, so that the tests below can plant
each fault and see it found.
"""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"

PACKAGES = (
    *("base", "text", "language", "store", "index", "models", "log", "pages", "facts", "state", "views"),
    *(
        "distill",
        "place",
        "window",
        "recall",
        "prompt",
        "explain",
        "forget",
        "sync",
        "memory",
        "tools",
        "agent",
    ),
    *("transfer", "integrations", "work", "serve", "cli", "__main__", ""),
)
"""From bottom to top, along the flow: log, pages, facts, views, prompt. `""` is the package itself, which holds public
names only. A package imports those before it, types included; a new one is placed here, or the test below fails."""

PURE = frozenset(
    "__future__ abc base64 binascii bisect calendar collections copy dataclasses datetime decimal difflib "
    "enum fractions functools graphlib hashlib heapq html itertools json math operator re statistics "
    "string struct textwrap tomllib types typing unicodedata urllib.parse zlib".split()
)
"""What rules may import from outside: modules that read no file, clock, environment or chance."""

PURE_MODULES = frozenset((Path(__file__).parent / "pure_modules.txt").read_text("utf-8").split())
"""The rules of each package: modules without files, clock, environment or chance."""

PURE_LIBRARIES = {
    "looseleaf.language.stems": frozenset({"Stemmer"}),
    "looseleaf.text.notation": frozenset({"toons"}),
}
"""Modules of them that wrap a library which does none of that either."""

WORLDLY_CALLS = frozenset({"open", "input", "print", "exec", "eval", "breakpoint", "hash", "id"})
"""Builtins that reach out of a function, or (hash, id) answer differently in every process."""

CLOCKS = frozenset({"datetime", "date"})
CLOCK_READERS = frozenset({"now", "today", "utcnow"})
LOCAL_ZONE_READERS = {"fromtimestamp": 2, "astimezone": 1}
"""Methods that use the machine's zone when they get fewer arguments than this."""

RUNS_STRANGERS = frozenset(
    {
        "looseleaf.distill.make_entry",
        "looseleaf.index.embed",
        "looseleaf.agent.tool_runner",
        "looseleaf.agent.events",
        "looseleaf.models.stream_thread",
    }
)
"""Modules that call code which somebody else wrote (a distiller, an embedder, a tool, an SDK), and report whatever it
raises."""

NOUN_FOR_VERB = re.compile(r"(Manager|Service|Factory|Builder|Base|Helper)s?$|^Base[A-Z]")
CATCH_ALL_MODULE = re.compile(r"(^|_)(util|helper)s?$")


def unit_of(module: str) -> str:
    """The part of the package that a module belongs to: `looseleaf.store.files` is of `store`."""
    return module.split(".")[1] if "." in module else ""


def rank_of(unit: str) -> int | None:
    return PACKAGES.index(unit) if unit in PACKAGES else None


Nodes = list[ast.AST]
"""What a file is made of, as far as a rule below looks at it: walked through once, and asked by every rule."""

LOOKED_AT = (ast.Import, ast.ImportFrom, ast.Call, ast.Attribute, ast.ClassDef, ast.ExceptHandler)


@cache
def nodes_of(source: str) -> Nodes:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, LOOKED_AT)]


def imported(nodes: Nodes) -> Iterator[tuple[int, str]]:
    """Every module name that is imported anywhere in the file, with its line; also by literal name."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                # `from looseleaf import values` names the module, `from looseleaf import Memory` the package.
                known = [
                    name.name for name in names if module == "looseleaf" and rank_of(name.name) is not None
                ]
                yield from ((node.lineno, f"{module}.{name}") for name in known)
                if len(known) < len(names):
                    yield node.lineno, module
            case ast.Call(args=[ast.Constant(value=str(name)), *_]) if is_dynamic_import(node):
                yield node.lineno, name


def is_dynamic_import(call: ast.Call) -> bool:
    return called(call) in {"import_module", "__import__"}


def has_literal_name(call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Constant)


def called(call: ast.Call) -> str:
    """The last word of what is called: `open` for `open(…)`, `now` for `datetime.now(…)`."""
    return last_word(call.func)


def last_word(expression: ast.expr) -> str:
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def arrow_faults(module: str, nodes: Nodes) -> Iterator[tuple[int, str]]:
    unit = unit_of(module)
    rank = rank_of(unit)
    if rank is None:
        yield 1, f"`{unit}` is no package of the house; place it in PACKAGES"
        return
    for line, name in imported(nodes):
        if name != "looseleaf" and not name.startswith("looseleaf."):
            continue
        other = rank_of(unit_of(name))
        if other is None:
            yield line, f"imports `{name}`, which is no package of the house"
        elif other > rank:
            yield line, f"imports `{name}`, which is above it"
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "imports relatively; write the whole name"
        elif isinstance(node, ast.Call) and is_dynamic_import(node) and unit and not has_literal_name(node):
            yield node.lineno, "imports a computed name, which hides an arrow"


def purity_faults(module: str, nodes: Nodes) -> Iterator[tuple[int, str]]:
    if module not in PURE_MODULES:
        return
    for line, name in imported(nodes):
        own = PURE | {"looseleaf"} | PURE_LIBRARIES.get(module, frozenset())
        if name.split(".")[0] not in own and name not in PURE:
            yield line, f"a rule imports `{name}`, which is not known to be pure"
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in WORLDLY_CALLS:
                yield node.lineno, f"a rule calls `{name}`"
            case ast.Attribute(attr=name) if name in CLOCK_READERS and last_word(node.value) in CLOCKS:
                yield node.lineno, f"a rule reads the clock: `.{name}`"
            case ast.Call(func=ast.Attribute(attr=name, value=owner)) if name in CLOCK_READERS:
                if last_word(owner) not in CLOCKS:  # an alias; the case above has the plain names
                    yield node.lineno, f"a rule reads the clock: `.{name}`"
            case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords):
                if len(args) + len(keywords) < LOCAL_ZONE_READERS.get(name, 0):
                    yield node.lineno, f"a rule reads the local zone: `.{name}`"


def name_faults(module: str, nodes: Nodes) -> Iterator[tuple[int, str]]:
    for part in module.split("."):
        if CATCH_ALL_MODULE.search(part):
            yield 1, f"a module called `{part}` says nothing; name it after its concept"
    for node in nodes:
        if isinstance(node, ast.ClassDef) and NOUN_FOR_VERB.search(node.name):
            yield node.lineno, f"class `{node.name}` is a noun for a verb; most are one function"


def swallow_faults(module: str, nodes: Nodes) -> Iterator[tuple[int, str]]:
    for node in nodes:
        match node:
            case ast.ExceptHandler(type=None):
                yield node.lineno, "a bare except swallows bugs"
            case ast.ExceptHandler(type=ast.expr() as caught):
                names = {word.id for word in ast.walk(caught) if isinstance(word, ast.Name)}
                if "Exception" in names and module not in RUNS_STRANGERS:
                    yield node.lineno, "`except Exception` swallows bugs"
                if "BaseException" in names and not raises_again(node) and module not in RUNS_STRANGERS:
                    yield node.lineno, "`except BaseException` must end with `raise`"
            case ast.Call(args=args) if called(node) == "suppress":
                if any(
                    isinstance(arg, ast.Name) and arg.id in {"Exception", "BaseException"} for arg in args
                ):
                    yield node.lineno, "suppressing `Exception` swallows bugs"


def raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def faults(module: str, source: str) -> list[str]:
    """Everything this file breaks, as `module:line: message`."""
    nodes = nodes_of(source)
    found = [
        *arrow_faults(module, nodes),
        *purity_faults(module, nodes),
        *name_faults(module, nodes),
        *swallow_faults(module, nodes),
    ]
    return [f"{module}:{line}: {message}" for line, message in sorted(found)]


def modules_under(folder: Path) -> Iterator[tuple[str, str]]:
    """Each module of the package below `folder`, by name, with its source."""
    for file in sorted((folder / "looseleaf").rglob("*.py")):
        parts = file.relative_to(folder).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, file.read_text(encoding="utf-8")


def faults_under(folder: Path) -> list[str]:
    return [fault for name, source in modules_under(folder) for fault in faults(name, source)]


def test_every_import_goes_down_and_rules_are_pure() -> None:
    assert faults_under(SOURCE) == []


def test_the_package_was_really_read() -> None:
    names = {name for name, _ in modules_under(SOURCE)}
    assert {
        "looseleaf.base.errors",
        "looseleaf.base.policy",
        "looseleaf.base.values",
    } <= names
    assert names >= PURE_MODULES


def knots(modules: dict[str, str]) -> list[list[str]]:
    """Modules that import each other, over however many others; types and late imports count too."""
    arrows = {name: set(arrows_of(source, modules)) - {name} for name, source in modules.items()}
    order = graphlib.TopologicalSorter(arrows)
    found: list[list[str]] = []
    while True:
        try:
            order.prepare()
        except graphlib.CycleError as error:
            circle: list[str] = error.args[1]
            found.append(circle)
            arrows[circle[1]].discard(circle[0])
            order = graphlib.TopologicalSorter(arrows)
        else:
            return found


def arrows_of(source: str, modules: dict[str, str]) -> Iterator[str]:
    for node in nodes_of(source):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names if name.name in modules)
            case ast.ImportFrom(module=str(module), names=names):
                for name in names:
                    whole = f"{module}.{name.name}"
                    if whole in modules or module in modules:
                        yield whole if whole in modules else module


def test_no_two_modules_import_each_other() -> None:
    assert knots(dict(modules_under(SOURCE))) == []


def test_a_knot_is_found_also_of_types_and_late_imports() -> None:
    typed = "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from looseleaf.text.one import x\n"
    late = "def f():\n    from looseleaf.text import two\n"
    assert knots({"looseleaf.text.one": late, "looseleaf.text.two": typed}) != []
    assert knots({"looseleaf.text.one": late, "looseleaf.text.two": "import re"}) == []


def test_a_fault_planted_in_a_folder_is_found(tmp_path: Path) -> None:
    package = tmp_path / "looseleaf" / "store"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "files.py").write_text("\nimport looseleaf.memory\n", encoding="utf-8")
    assert faults_under(tmp_path) == [
        "looseleaf.store.files:2: imports `looseleaf.memory`, which is above it",
    ]


@pytest.mark.parametrize(
    ("module", "source", "message"),
    [
        ("looseleaf.base.values", "from looseleaf.pages import grammar", "which is above it"),
        (
            "looseleaf.base.values",
            "from looseleaf import memory",
            "imports `looseleaf.memory`, which is above it",
        ),
        ("looseleaf.pages.grammar", "from looseleaf.facts.gate import judge", "which is above it"),
        ("looseleaf.store.files", "def f():\n    from looseleaf.memory import Memory", "files:2: imports"),
        (
            "looseleaf.store.files",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import looseleaf.cli",
            "above",
        ),
        ("looseleaf.memory", "from looseleaf.cli.main import main", "which is above it"),
        ("looseleaf.memory", "from looseleaf import Memory", "imports `looseleaf`, which is above it"),
        ("looseleaf.memory", "__import__('looseleaf.serve.mcp')", "which is above it"),
        ("looseleaf.memory", "import importlib\nimportlib.import_module(name)", "hides an arrow"),
        ("looseleaf.store.files", "from looseleaf.index import sqlite", "which is above it"),
        ("looseleaf.models", "import looseleaf.distill.rules", "which is above it"),
        ("looseleaf.memory", "from . import values", "imports relatively"),
        ("looseleaf.novelty", "", "`novelty` is no package of the house"),
        (
            "looseleaf.cli",
            "import looseleaf.novelty",
            "imports `looseleaf.novelty`, which is no package of the house",
        ),
        ("looseleaf.text.utils", "", "a module called `utils`"),
        ("looseleaf.store.path_helpers", "", "a module called `path_helpers`"),
        ("looseleaf.memory", "class PageManager: ...", "class `PageManager`"),
        ("looseleaf.store.files", "class BaseStore: ...", "class `BaseStore`"),
        ("looseleaf.store.files", "class StoreBase: ...", "class `StoreBase`"),
        ("looseleaf.agent", "def f():\n    class LoopFactory: ...", "class `LoopFactory`"),
        ("looseleaf.cli", "try: f()\nexcept: pass", "bare except"),
        ("looseleaf.cli", "try: f()\nexcept Exception: pass", "`except Exception`"),
        ("looseleaf.cli", "try: f()\nexcept (ValueError, Exception): raise", "`except Exception`"),
        ("looseleaf.cli", "try: f()\nexcept BaseException: pass", "must end with `raise`"),
        ("looseleaf.cli", "with contextlib.suppress(Exception): f()", "suppressing"),
    ],
)
def test_a_planted_fault_is_found(module: str, source: str, message: str) -> None:
    found = faults(module, source)
    assert len(found) == 1
    assert message in found[0]


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import os.path",
        "import time",
        "import random",
        "import socket",
        "import subprocess",
        "import secrets",
        "import uuid",
        "import sys",
        "import io",
        "import tempfile",
        "import threading",
        "import zoneinfo",
        "import urllib.request",
        "from pathlib import Path",
        "from os import environ",
        "def f():\n    from time import time",
        "open('page.md')",
        "print('page')",
        "hash('page')",
        "datetime.now()",
        "datetime.now(timezone.utc)",
        "datetime.datetime.utcnow()",
        "date.today()",
        "clock = datetime.now",
        "dt.now(UTC)",
        "datetime.fromtimestamp(0)",
        "moment.astimezone()",
    ],
)
def test_the_world_in_a_rule_is_found(source: str) -> None:
    assert len(faults("looseleaf.pages.grammar", source)) == 1
    assert faults("looseleaf.store.files", source) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("looseleaf", "from looseleaf.memory import Memory"),
        ("looseleaf", "import importlib\ndef __getattr__(name): return importlib.import_module(table[name])"),
        ("looseleaf.cli", "import looseleaf.serve.mcp"),
        ("looseleaf.memory", "from looseleaf import pages\nfrom looseleaf.store.files import FileStore"),
        (
            "looseleaf.store.files",
            "import os\nfrom looseleaf.store.records import decode\nfrom looseleaf.text import lines",
        ),
        ("looseleaf.base.policy", "from looseleaf.base.errors import Refused"),
        (
            "looseleaf.facts.identity",
            "import re\nfrom looseleaf.pages.grammar import parse\nfrom looseleaf import base",
        ),
        (
            "looseleaf.prompt.fit",
            "datetime.fromtimestamp(0, UTC)\nmoment.astimezone(UTC)\ndigest.hash\nfact.id\nstate.now",
        ),
        ("looseleaf.store.files", "try: f()\nexcept BaseException:\n    undo()\n    raise"),
        ("looseleaf.store.files", "try: f()\nexcept OSError: pass"),
        ("looseleaf.base.values", "class Database: ...\nclass Baseline: ..."),
    ],
)
def test_what_the_design_allows_is_no_fault(module: str, source: str) -> None:
    assert faults(module, source) == []


def test_every_package_stands_in_the_order_once() -> None:
    assert len(PACKAGES) == len(set(PACKAGES))
