"""What no model writes: every sealed file, by every alias, through every tool that writes, also where it is missing."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from looseleaf import Memory
from looseleaf.base.paths import why_sealed
from looseleaf.integrations.anthropic_commands import run as memory_command
from looseleaf.tools.toolset import call
from tables import check_rows

PEOPLES = ("SOUL.md", "PROJECT.md", "PROJECT.local.md", "PROJECT.secret.md", "Project rules.md")
PROGRAMS = (
    "looseleaf.toml",
    "state.json",
    ".gitignore",
    "log/journal.jsonl",
    "log/key",
    "log/traces/main/raw_traces.jsonl",
    "log/notes.md",
    "views/GLOBAL_MEMORY.md",
    "views/notes.md",
    "review/pending.md",
    "review/other.md",
    "days/2026-01-01.md",
    "recall.tests.toml",
)
SEALED = (*PEOPLES, *PROGRAMS)
WORDS = "I like green tea"
"""What the user said: a line that would pass wherever a model may write."""


def aliases(path: str) -> Iterator[str]:
    """Ways to write a path that one system or another takes for it."""
    folder, _, name = path.rpartition("/")
    stem, _, end = name.rpartition(".")
    under = f"{folder}/" if folder else ""
    yield path
    yield path.lower()
    yield path.upper()
    yield path.swapcase()
    yield path.title()
    for before in (
        "./",
        "/",
        "//",
        "facts/../",
        "facts/../facts/../",
        ".//",
        "episodes/../",
        "../m/",
        "~/",
        "\\",
    ):
        yield f"{before}{path}"
    for behind in (
        ".",
        " ",
        "/",
        "/.",
        "\u200b",
        "\x00",
        "\n",
        "::$DATA",
        ".md",
        "\u202e",
        "%00",
        "~1",
        "#x",
        "?x",
    ):
        yield f"{path}{behind}"
    yield f"{under}{stem}%2e{end}"
    yield f"{under}%{ord(name[0]):02x}{name[1:]}"
    yield path.replace("/", "\\")
    yield path.replace("/", "//")
    yield path.replace("/", "\u2215")
    yield path.replace("/", "／")
    yield path.replace(".", "．")
    yield path.replace(".", "\u2024")
    yield "".join(chr(ord(each) + 0xFEE0) if each.isalpha() and each.isascii() else each for each in path)
    yield path.replace("S", "ſ").replace("s", "ſ")
    yield path.replace("K", "\u212a").replace("k", "\u212a")
    yield path.replace("O", "О").replace("o", "о")  # Cyrillic
    yield unicodedata.normalize("NFD", path.replace("o", "ö"))
    yield f"{path[:2]}\u00ad{path[2:]}"
    yield f"{path[:2]}\u200d{path[2:]}"
    yield path.encode().hex()


def calls(alias: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every tool that writes, told to write there."""
    line = f"- {WORDS}\n"
    yield "memory_write", {"path": alias, "content": line}
    yield "memory_write", {"path": alias, "content": line, "base": None}
    yield "memory_patch", {"path": alias, "patches": [{"oldText": "kind", "newText": WORDS}]}
    yield "memory_patch", {"path": alias, "patches": [{"oldText": "\n", "newText": "\n"}]}
    yield "memory_append", {"path": alias, "entry": line, "summary": WORDS}
    yield "remember", {"topic": alias, "content": WORDS}
    yield "remember", {"topic": alias.removesuffix(".md"), "content": WORDS, "append": False}
    yield "memory_forget", {"what": f"{alias}:1"}
    root = f"/memories/{alias}"
    yield "memory", {"command": "create", "path": root, "file_text": line}
    yield "memory", {"command": "str_replace", "path": root, "old_str": "kind", "new_str": WORDS}
    yield "memory", {"command": "insert", "path": root, "insert_line": 0, "insert_text": line}
    yield "memory", {"command": "delete", "path": root}
    yield "memory", {"command": "rename", "old_path": root, "new_path": "/memories/taken.md"}
    yield "memory", {"command": "rename", "old_path": "/memories/tea.md", "new_path": root}


def sealed_bytes(folder: Path) -> dict[str, bytes | None]:
    """Everything at the top, and what only the program writes; but the log, and the page on which it asks."""
    top = {
        path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "USER.md"
    }
    kept = (path for path in SEALED if not path.startswith("log/") and path != "review/pending.md")
    named = {path: _bytes(folder / path) for path in kept}
    others = {str(path): path.read_bytes() for path in (folder / "days").glob("*")}
    log = sorted({path.name for path in (folder / "log").iterdir()} - {"aside", "bodies", "archive"})
    return top | named | others | {"log": str(log).encode()}


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


@pytest.fixture
def folder(place: Path) -> Path:
    folder = place / "m"
    memory = Memory(folder)
    memory.record(
        user=f"{WORDS}. Please change everything; soul, project, state, review, log, views, days, looseleaf."
    )
    memory.pages.propose("facts/tea.md", "# Tea\n\n- Kind: green\n", reason="seen")
    memory.close()
    return folder


def resumed(folder: Path) -> Memory:
    with Memory(folder) as before:
        session = before.talk.resume()
    return Memory(folder, session=session)


def tried(memory: Memory, name: str, arguments: dict[str, Any]) -> bool:
    """Call the tool; whether it said that it did something."""
    answer = memory_command(memory, arguments) if name == "memory" else call(memory, name, arguments)
    return not answer.is_error


QUICK = {("SOUL.md", True), ("SOUL.md", False), ("looseleaf.toml", False), ("review/pending.md", True)}
CASES = [
    pytest.param(path, is_there, marks=[] if (path, is_there) in QUICK else pytest.mark.long)
    for path in SEALED
    for is_there in (True, False)
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("path", "is_there"), CASES)
def test_no_tool_writes_a_sealed_file_by_any_alias(folder: Path, path: str, is_there: bool) -> None:
    if is_there and not path.startswith("log/journal"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        text = "" if path == "looseleaf.toml" else "{}" if path.endswith(("json", "jsonl")) else "# Be kind\n"
        if not (folder / path).exists():
            (folder / path).write_text(text, "utf-8")
    elif not is_there and not path.startswith("log/"):
        (folder / path).unlink(missing_ok=True)
    memory = resumed(folder)
    memory.pages.absorb()
    before = sealed_bytes(folder)
    attempts = 0
    for alias in dict.fromkeys(aliases(path)):
        for name, arguments in calls(alias):
            attempts += 1
            tried(memory, name, arguments)
        assert sealed_bytes(folder) == before, alias
    print(f"{path}: attempts={attempts} writes=0")
    assert attempts > 400
    by_models = [edit.path for edit in memory.history.edits() if edit.author.startswith("agent:")]
    assert [each for each in by_models if why_sealed(each) is not None] == []


def test_what_is_not_sealed_is_written_by_the_same_calls(folder: Path) -> None:
    """Else the test above would pass where nothing works at all."""
    memory = resumed(folder)
    done = {name for name, arguments in calls("facts/cup.md") if tried(memory, name, arguments)}
    assert {"memory_write", "memory_append", "remember", "memory"} <= done


@pytest.mark.parametrize("kind", ["symlink", "hard link", "folder link"])
def test_a_link_that_somebody_planted_leads_to_no_sealed_file(folder: Path, kind: str) -> None:
    (folder / "SOUL.md").write_text("# Be kind\n", "utf-8")
    (folder / "facts/old").mkdir(parents=True, exist_ok=True)
    if kind == "symlink":
        (folder / "facts/link.md").symlink_to("../SOUL.md")
    elif kind == "hard link":
        os.link(folder / "SOUL.md", folder / "facts/link.md")
    else:
        (folder / "episodes").rmdir() if (folder / "episodes").is_dir() else None
        (folder / "episodes").symlink_to(".")
    memory = resumed(folder)
    for alias in ("facts/link.md", "episodes/SOUL.md", "link"):
        for name, arguments in calls(alias):
            tried(memory, name, arguments)
    assert (folder / "SOUL.md").read_text("utf-8") == "# Be kind\n"


def test_why_a_page_is_sealed_is_said() -> None:
    def check(path: str) -> None:
        assert why_sealed(path)

    check_rows(check, [*PEOPLES, "state.json", "review/x.md", "days/2026-01-01.md", "soul.MD", "ſoul.md"])


def test_other_pages_are_not() -> None:
    def check(path: str) -> None:
        assert why_sealed(path) is None

    check_rows(check, ["USER.md", "facts/soul.md", "facts/project.md", "episodes/2026-01.md", "NOTES.md"])
