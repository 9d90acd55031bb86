"""Make `src/looseleaf/memory/aio.pyi`, the signatures of `AsyncMemory`, from those of `Memory` and its groups."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src/looseleaf"
STUB = PACKAGE / "memory/aio.pyi"

SOURCES = {
    "memory/memory.py": ("Memory",),
    "memory/groups.py": (
        "TalkVerbs",
        "WindowVerbs",
        "PageVerbs",
        "HistoryVerbs",
        "ReviewVerbs",
        "ExplainVerbs",
        "ViewVerbs",
    ),
    "state/state.py": ("State",),
    "models/costs.py": ("Costs",),
}
HEAD = '''"""Made by docs/async_stub.py: the verbs of `Memory`, awaited."""

import os
'''
EXIT = "self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None"
PLAIN = ("path", "agent", "policy", "notes")
BY_HAND = ("__init__", "__repr__", "__enter__", "__exit__", "batch")


def stub() -> str:
    imports: dict[str, set[str]] = {
        "types": {"TracebackType"},
        "typing": {"Self"},
        "looseleaf.log.recorder": {"Batch"},
    }
    classes: list[str] = []
    for path, names in SOURCES.items():
        tree = ast.parse((PACKAGE / path).read_text(encoding="utf-8"))
        found = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name in names]
        own = {alias.rpartition(" ")[2]: (module, alias) for module, alias in _imported(tree)}
        made = [_class(node) for node in found]
        classes += made
        used = {name.id for text in made for name in ast.walk(ast.parse(text)) if isinstance(name, ast.Name)}
        for name in used & own.keys():
            module, alias = own[name]
            imports.setdefault(module, set()).add(alias)
        here = [*tree.body, *(each for node in tree.body if isinstance(node, ast.If) for each in node.body)]
        for name in used:
            local = next((node for node in here if _defines(node, name) and node not in found), None)
            if local is not None:
                imports.setdefault("looseleaf." + path.removesuffix(".py").replace("/", "."), set()).add(name)
    imports.setdefault("collections.abc", set()).add("Awaitable")
    lines = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(imports.items())]
    return HEAD + "\n".join(lines) + "\n\n" + CONSTANTS + "\n\n".join(classes) + BATCH


CONSTANTS = "GROUPS: tuple[str, ...]\nPLAIN: tuple[str, ...]\n\n"
BATCH = """

class AsyncBatch(Batch):
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
"""


def _imported(tree: ast.Module) -> list[tuple[str, str]]:
    return [
        (node.module, f"{alias.name} as {alias.asname}" if alias.asname else alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__"
        for alias in node.names
    ]


def _defines(node: ast.stmt, name: str) -> bool:
    match node:
        case ast.ClassDef(name=own) | ast.FunctionDef(name=own):
            return own == name
        case ast.Assign(targets=[ast.Name(id=own)]) | ast.AnnAssign(target=ast.Name(id=own)):
            return own == name
    return False


def _class(node: ast.ClassDef) -> str:
    members = [
        _member(each)
        for each in node.body
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
        if node.name != "Memory" or each.name not in BY_HAND
    ]
    if node.name == "Memory":
        init = next(
            each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"
        )
        first = f"    def __init__({ast.unparse(init.args)}) -> None: ..."
        more = [
            "    def batch(self) -> AsyncBatch: ...",
            "    async def __aenter__(self) -> Self: ...",
            f"    async def __aexit__({EXIT}) -> None: ...",
        ]
        members = [first, *members, *more]
    return f"class Async{node.name}:\n" + "\n".join(members)


def _member(node: ast.FunctionDef) -> str:
    returned = ast.unparse(node.returns) if node.returns is not None else "None"
    is_property = any(ast.unparse(each) in ("property", "cached_property") for each in node.decorator_list)
    if is_property and node.name in PLAIN:
        return f"    @property\n    def {node.name}(self) -> {returned}: ..."
    if is_property and returned in {name for names in SOURCES.values() for name in names}:
        return f"    @property\n    def {node.name}(self) -> Async{returned}: ..."
    if is_property:
        return f"    @property\n    def {node.name}(self) -> Awaitable[{returned}]: ..."
    returned = f"list[{returned[9:-1]}]" if returned.startswith("Iterator[") else returned
    return f"    async def {node.name}({ast.unparse(node.args)}) -> {returned}: ..."


if __name__ == "__main__":
    import subprocess
    import sys

    draft = STUB.with_name("draft.pyi")
    draft.write_text(stub(), encoding="utf-8")
    try:
        for arguments in (("check", "--fix", "--quiet", "--select", "I"), ("format", "--quiet")):
            subprocess.run([sys.executable, "-m", "ruff", *arguments, draft], check=True)
        draft.replace(STUB)
    finally:
        draft.unlink(missing_ok=True)
