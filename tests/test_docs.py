"""Documents are tests: every block of code in them is run, or at least parsed by the program that would read it.

Commands that need a network, a client or a key stand under `<!-- not run: needs … -->`, and are listed here.
Transcripts (`console`) run on the memory that the demo leaves; a `…` in them stands for omitted text.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from blocks import ROOT, Block, Step, all_blocks, blocks, commands, looseleaf_of, pattern, steps
from cli.test_demo import play, somewhere
from looseleaf.base.policy import policy_from
from looseleaf.cli.arguments import parse
from looseleaf.cli.demo import Plain
from looseleaf.cli.main import main
from looseleaf.cli.verb_table import SHARED, VERBS
from looseleaf.recall.recall_tests import load
from masks import masked
from tables import check_rows

HERE = Path(__file__).parent

NOT_RUN = {
    "README.md": {"a network"},
    "docs/AGENT.md": {"a network and a key", "a model and a terminal"},
    "docs/GIT.md": {"a repository"},
    "docs/MACHINES.md": {"a stick"},
    "docs/HOOKS.md": {"Claude Code", "a server"},
    "docs/MCP.md": {"a network", "Claude Code", "a running server"},
    "docs/POSTGRES.md": {"a network", "a server"},
    "docs/RECALL.md": {"a network"},
    "docs/REST.md": {"a network", "a server"},
    "docs/SERVE.md": {"a network", "Claude Code"},
    "docs/TEAMS.md": {"the memories of a team"},
    "docs/WORKERS.md": {"a server"},
}
"""The requirements of blocks that are not run, by document."""

LANGUAGES = frozenset({"", "sh", "console", "python", "toml", "json", "markdown", "mermaid"})


def names(found: list[Block]) -> list[str]:
    return [str(block) for block in found]


# --- no block hides -----------------------------------------------------------------------


def test_every_block_is_of_a_language_that_is_looked_at() -> None:
    assert [(str(block), block.language) for block in all_blocks() if block.language not in LANGUAGES] == []


def test_no_command_hides_in_a_block_without_a_language() -> None:
    command = re.compile(r"^(\$ |looseleaf --?\w|pip |make |curl |from looseleaf|import )", re.MULTILINE)
    assert names([block for block in all_blocks("", "markdown") if command.search(block.text)]) == []


def test_what_is_not_run_is_listed_here() -> None:
    found: dict[str, set[str]] = {}
    for block in all_blocks():
        if block.needs is not None:
            found.setdefault(block.document, set()).add(block.needs)
    assert found == NOT_RUN


def test_no_mark_stands_where_it_marks_nothing() -> None:
    for path in {ROOT / block.document for block in all_blocks()}:
        marks = path.read_text("utf-8").count("<!-- not run:")
        assert marks == sum(block.needs is not None for block in blocks(path)), path


def test_every_document_is_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        path = waiting.pop().resolve()
        if path in reached or not path.exists():
            continue
        reached.add(path)
        if path.is_dir():
            waiting += path.glob("*.md")
        elif path.suffix == ".md":
            waiting += (path.parent / link for link in re.findall(r"\]\(([^)#:]+)", path.read_text("utf-8")))
    shown = set(ROOT.glob("docs/**/*.md"))
    assert {str(path.relative_to(ROOT)) for path in shown - reached} == set()


# --- commands ------------------------------------------------------------------------------


def targets() -> set[str]:
    return set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def fault_of(command: str, block: Block) -> str | None:
    """Return why a command would not work; None: it would, or the block says what it needs."""
    words = command.split()
    if words[0] == "make":
        return None if set(words[1:]) <= targets() else "there is no such target"
    _, arguments = looseleaf_of(command.partition(" -- ")[2] or command)
    if arguments is not None:
        try:
            parse(arguments)
        except SystemExit:
            return "looseleaf does not understand it"
        return None
    return None if block.needs is not None else "it is not run, and the block does not say why"


def test_every_command_for_a_shell_is_one() -> None:
    def check(block: Block) -> None:
        assert commands(block)
        assert [(each, fault) for each in commands(block) if (fault := fault_of(each, block))] == []

    check_rows(check, all_blocks("sh"))


def test_a_command_that_is_none_is_found() -> None:
    def faults(text: str, needs: str | None = None) -> list[str | None]:
        block = Block("x.md", 1, "sh", text, needs)
        return [fault_of(each, block) for each in commands(block)]

    assert faults("make demo\nlooseleaf init  # here\nlooseleaf recall \\\n  'a b'\n") == [None] * 3
    assert faults("make nothing\nlooseleaf recal x\nlooseleaf log --nothing\ncurl x\n").count(None) == 0
    assert faults("claude mcp add x -- looseleaf mpc\n", "Claude Code") != [None]
    assert faults("claude mcp add x -- looseleaf mcp\n", "Claude Code") == [None]


# --- transcripts ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The memory that the demo leaves."""
    place = tmp_path_factory.mktemp("story")
    play(place, "memory", "--json")
    return place / "memory"


def run_step(home: Path, step: Step) -> tuple[int, str]:
    """Run a command of a transcript; return its code and its output, masked."""
    kept = io.BytesIO()
    out = Plain(kept, encoding="utf-8", write_through=True)
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(step.stdin.encode()))
    os.environ["LOOSELEAF_HOME"] = str(home)
    try:
        with redirect_stdout(out), redirect_stderr(out):
            code = main(list(step.arguments))
    finally:
        sys.stdin = before
        del os.environ["LOOSELEAF_HOME"]
    return code, masked(kept.getvalue().decode())


def without_hints(printed: str) -> str:
    """Remove the hints at the next step, which a transcript need not show."""
    return re.sub(r"(?m)^Next: .*\n?", "", printed)


MAY_FIND_NOTHING = ("recall", "why")
"""Commands for which 1 is an answer."""

TRANSCRIPTS = sorted({block.document for block in all_blocks("console")})


@pytest.mark.parametrize("document", TRANSCRIPTS)
def test_transcripts_show_what_is_printed(story: Path, tmp_path: Path, document: str) -> None:
    home = tmp_path / "memory"
    shutil.copytree(story, home)
    with somewhere(tmp_path):
        for block in blocks(ROOT / document, "console"):
            for step in steps(block) if block.needs is None else ():
                code, printed = run_step(home, step)
                assert code == 0 or step.arguments[0] in MAY_FIND_NOTHING, (str(block), step, printed)
                if step.shown is not None:
                    printed = printed if "\nNext: " in step.shown else without_hints(printed)
                    assert re.fullmatch(pattern(masked(step.shown)), printed.strip("\n") + "\n"), (
                        f"{block}: looseleaf {' '.join(step.arguments)} printed\n{printed}"
                    )


def test_a_transcript_that_is_not_so_is_found() -> None:
    printed = "1. Home: Lisbon\n   └ f_xxxxxxxx\nmore\nand more\n"
    assert re.fullmatch(pattern("1. Home: Lisbon\n…"), printed)
    assert re.fullmatch(pattern("1. Home: …\n   └ …\n…\nand more"), printed)
    assert not re.fullmatch(pattern("1. Home: Lyon\n…"), printed)
    assert not re.fullmatch(pattern("1. Home: Lisbon"), printed)
    assert without_hints("one\nNext: two\nthree, Next: four\n") == "one\nthree, Next: four\n"
    (one, other) = steps(
        Block("x.md", 1, "console", "$ looseleaf log\nx\n\n$ echo hi | looseleaf write -\n", None)
    )
    assert (one.shown, other.stdin, other.shown) == ("x", "hi\n", None)
    for text in ("x\n$ looseleaf log\n", "$ rm -rf /\n"):
        with pytest.raises(ValueError, match=r"x\.md:1"):
            steps(Block("x.md", 1, "console", text, None))


# --- Python --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[int, str, list[str]]]]:
    """By document, the output of its statements, and the output that their comments claim."""
    place = tmp_path_factory.mktemp("examples")
    found: dict[str, str] = {}
    for block in all_blocks("python"):
        found[block.document] = found.get(block.document, "") + block.text
    requests = [
        {"name": name, "text": text, "folder": str(place / str(at))}
        for at, (name, text) in enumerate(found.items())
    ]
    done = subprocess.run(
        [sys.executable, HERE / "examples.py"],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "HOME": str(place), "TZ": "UTC"},
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(found, json.loads(done.stdout), strict=True))


def test_examples_print_what_they_say(examples: dict[str, list[tuple[int, str, list[str]]]]) -> None:
    def check(document: str) -> None:
        compared = 0
        for line, printed, comments in examples[document]:
            for comment in comments:
                compared += 1
                wanted = pattern(masked(comment))
                assert any(
                    re.fullmatch(wanted, f"{masked(each).rstrip()}\n") for each in printed.splitlines()
                ), f"{document}, statement {line} printed {printed!r}, and not {comment!r}"
        assert compared, f"{document} prints nothing that could be compared"

    check_rows(check, sorted({block.document for block in all_blocks("python")}))


# --- settings ------------------------------------------------------------------------------


def servers(settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the servers that a client's settings name."""
    for name in ("mcpServers", "context_servers", "mcp_servers"):
        yield from settings.get(name, {}).values()


def test_settings_are_accepted() -> None:
    def check(block: Block) -> None:
        settings = tomllib.loads(block.text)
        if "test" in settings:
            assert load(block.text, str(block))
        elif list(servers(settings)):
            assert_starts(settings)
        else:
            policy_from(settings, str(block), None)

    check_rows(check, all_blocks("toml"))


def test_the_recall_tests_that_are_shown_pass(story: Path, tmp_path: Path) -> None:
    (block,) = (block for block in all_blocks("toml") if "[[test]]" in block.text)
    home = tmp_path / "memory"
    shutil.copytree(story, home)
    (home / "recall.tests.toml").write_text(block.text)
    code, printed = run_step(home, Step(("test",), "", None))
    assert code == 0, printed


def test_json_is_json_and_starts_what_there_is() -> None:
    def check(block: Block) -> None:
        settings = json.loads(block.text)
        if isinstance(settings, dict):
            assert_starts(settings)

    check_rows(check, all_blocks("json"))


def assert_starts(settings: dict[str, Any]) -> None:
    for server in servers(settings):
        if "command" in server:
            assert server["command"] == "looseleaf"
            assert parse(server["args"]).run == "setup.mcp"
        else:
            assert server["url"].endswith("/mcp")


# --- the list of commands --------------------------------------------------------------------


def test_the_page_of_commands_is_made_of_the_table() -> None:
    """`python docs/cli.py` writes it again."""
    made = subprocess.run(
        [sys.executable, ROOT / "docs/cli.py", "--print"], capture_output=True, text=True, check=True
    )
    assert (ROOT / "docs/CLI.md").read_text("utf-8") == made.stdout
    for verb, (_, _, own, example) in VERBS.items():
        section = made.stdout.partition(f"\n## {verb}\n")[2].partition("\n## ")[0]
        assert [each for each in example.splitlines() if f"\nlooseleaf {each}\n" not in section] == []
        assert [name for name in own if name.startswith("-") and f"`{name}" not in section] == []
    assert [name for name in SHARED if f"`{name}" not in made.stdout] == []


# --- the picture -----------------------------------------------------------------------------


def test_the_picture_is_made_of_what_the_demo_prints(tmp_path: Path) -> None:
    """`python docs/pictures/make.py` draws it again."""
    made = subprocess.run(
        [sys.executable, ROOT / "docs/pictures/make.py", "--print"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (ROOT / "docs/pictures/demo.svg").read_text("utf-8") == made.stdout
    golden = (HERE / "golden/demo.txt").read_text("utf-8")
    import html

    drawn = [html.unescape(each) for each in re.findall(r">([^<>\n]+)</tspan>", made.stdout)]
    assert len(drawn) > 50
    assert [line for line in drawn if line.strip() and line.rstrip("…").strip() not in golden] == []
