"""The documents are right: their links lead somewhere, and everything they cite, list and count exists."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from blocks import DOCUMENTS, ROOT, blocks
from looseleaf.cli import verb_table as cli_verbs
from looseleaf.cli.main import main
from tables import check_rows
from test_layers import PACKAGES

README = (ROOT / "README.md").read_text()
SEEDS = ("000", "001", "002", "003", "004")


def test_the_first_commands_of_the_readme_are_the_two_that_set_everything_up() -> None:
    commands = [line.split("#")[0].strip() for line in blocks(ROOT / "README.md", "sh")[0].text.splitlines()]
    assert commands == ["make demo", "make test"]


def test_the_page_of_commands_begins_with_a_list_of_every_command_and_no_other() -> None:
    (listed,) = (
        block.text for block in blocks(ROOT / "docs/CLI.md", "") if block.text.startswith("looseleaf init")
    )
    lines = [line for line in listed.splitlines() if line]
    named = [verb for line in lines for verb in line.split()[1].split("|")]
    assert sorted(named) == sorted(cli_verbs.VERBS)


def test_the_readme_is_in_the_order_in_which_a_reader_decides() -> None:
    order = [
        "docs/pictures/demo.svg",
        "\nmake demo ",
        "from looseleaf import Memory\n",
        "## The folder",
        "## Plug it in",
        "docs/HOOKS.md",
        "docs/MCP.md",
        "looseleaf chat",
        "## Every day",
        "<!-- benchmark: figures -->",
        "## Read on",
    ]
    assert [README.index(each) for each in order] == sorted(README.index(each) for each in order)
    assert len(README.splitlines()) <= 250
    assert "<!-- benchmark: peers -->" in (ROOT / "docs/PEERS.md").read_text()


def test_no_line_of_the_readme_is_too_long_to_be_read_in_a_terminal() -> None:
    lines = [
        line for line in README.splitlines() if not line.startswith("|")
    ]  # a table's row cannot be broken
    assert [line for line in lines if len(line) > 120] == []


def test_commands_end_as_their_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = " ".join((ROOT / "docs/CLI.md").read_text().split())
    assert "Exit codes: - **0**: done. - **1**: done, and something needs your attention." in codes
    monkeypatch.setenv("LOOSELEAF_HOME", str(tmp_path / "memory"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"no JSON")))
    codes_of = {
        command: main(command.split())
        for command in ("init", "check", "recall tungsten", "why tungsten", "show NONE.md", "hook stop")
    }
    assert list(codes_of.values()) == [0, 0, 1, 1, 2, 0], codes_of
    with pytest.raises(SystemExit) as mistyped:
        main(["hook", "nonsense"])
    assert mistyped.value.code == 1
    assert "Nothing was shown: there is no page NONE.md" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_takes_what_the_readme_says_and_nothing_if_it_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def added_paths() -> set[str]:
        """Files and folders at the top of the memory that `git add` would add."""
        done = subprocess.run(
            ["git", "-C", str(tmp_path), "add", "-A", "-n", "."], capture_output=True, text=True, check=True
        )
        paths = re.findall(r"^add '\.looseleaf/(.*)'$", done.stdout, re.MULTILINE)
        return {f"{path.partition('/')[0]}{'/' * ('/' in path)}" for path in paths}

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LOOSELEAF_HOME", raising=False)
    assert main(["init"]) == 0
    home = tmp_path / ".looseleaf"
    for path in home.iterdir():
        if path.is_dir():
            (path / "some.md").write_text("words\n")
    for name in ("USER.md", "PROJECT.local.md", "state.json"):
        (home / name).write_text("words\n")
    left_out, goes_in = re.search(
        r"leaves out (.*?)\.\n\*\*All other pages go in\*\*: (.*?), with", README, re.DOTALL
    ).groups()  # type: ignore[union-attr]
    named = set(re.findall(r"`([^`]+)`", goes_in))
    assert added_paths() - {".gitignore"} == named
    assert set(re.findall(r"`([^`]+)`", left_out)) == {"log/", "views/", "review/", "PROJECT.local.md"}
    (how,) = re.findall(r"out of git altogether: `echo '(.)' > \.looseleaf/\.gitignore`", README)
    (home / ".gitignore").write_text(f"{how}\n")
    assert added_paths() == set()


def anchors_of(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#{1,6} (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_between_documents_leads_somewhere() -> None:
    def check(document: Path) -> None:
        links = re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", document.read_text())
        assert [link for link, _ in links if not (document.parent / link).exists()] == []
        inner = [(document.parent / link if link else document, anchor) for link, anchor in links if anchor]
        assert [(str(path), anchor) for path, anchor in inner if anchor not in anchors_of(path)] == []

    check_rows(check, DOCUMENTS)


def test_every_section_of_the_format_that_is_cited_exists() -> None:
    text = (ROOT / "docs/FORMAT.md").read_text()
    sections = set(re.findall(r"^#{2,3} ([\d.]+)\. ", text, re.MULTILINE))
    sections |= set(re.findall(r"^(\d+\.\d+)\. ", text, re.MULTILINE))
    cited = {
        (path.name, section)
        for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")]
        for section in re.findall(r"FORMAT §(\d+(?:\.\d+)?)", path.read_text())
    }
    assert cited
    assert {each for each in cited if each[1] not in sections} == set()


def test_every_test_that_the_table_of_promises_names_exists() -> None:
    named = set(re.findall(r"(?:tests|benchmarks)/[\w/]+\.py", (ROOT / "docs/seeds.md").read_text()))
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_every_module_that_the_table_of_promises_names_exists_or_is_said_not_to() -> None:
    lines = (ROOT / "docs/seeds.md").read_text().splitlines()
    named = {
        name
        for line in lines
        for name in re.findall(r"`([\w/]+\.py)`", line)
        if "not built yet" not in line and not (ROOT / name).exists()
    }
    assert {name for name in named if not (ROOT / "src/looseleaf" / name).exists()} == set()


def rows_of(seed: str) -> list[list[str]]:
    """Return the promises of a seed: what, where, shown by."""
    text = (ROOT / "docs/seeds.md").read_text().partition(f"\n## {seed}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if re.match(r"\| (?!\*\*|promise)", line)]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_promise_of_a_seed_has_a_test() -> None:
    def check(seed: str) -> None:
        rows = rows_of(seed)
        assert len(rows) > 20
        assert [row for row in rows if len(row) != 3] == []
        untested = [row for row in rows if not re.search(r"(?:tests|benchmarks)/[\w/]+\.py", row[2])]
        assert [row for row in untested if row[2] != "not built yet"] == []
        if seed in ("002", "004"):
            assert [row for row in rows if "not built yet" in row[2]] == []

    check_rows(check, SEEDS)


def test_the_table_of_promises_counts_right() -> None:
    rows = [row for seed in SEEDS for row in rows_of(seed)]
    none = sum(row[2] == "not built yet" for row in rows)
    part = sum("not built yet" in row[2] for row in rows) - none
    kept = len(rows) - part - none
    counts = re.search(
        r"Of (\d+) promises (\d+) are kept.*?(\d+) in part, and (\d+)", (ROOT / "docs/seeds.md").read_text()
    )
    assert counts is not None
    assert tuple(map(int, counts.groups())) == (len(rows), kept, part, none)


def test_what_is_installed_with_it_is_little() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=3.11"
    names = [re.split(r"[<>=]", each)[0] for each in project["dependencies"]]
    assert sorted(names) == ["PyStemmer", "jsonschema-rs", "rich", "splintr-rs", "toons"]


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = sorted(int(path.name[:4]) for path in (ROOT / "docs/decisions").glob("*.md"))
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_page_of_the_code_draws_every_file_of_the_package_and_no_other() -> None:
    """`python docs/code.py` writes it again."""
    made = subprocess.run(
        [sys.executable, ROOT / "docs/code.py", "--print"], capture_output=True, text=True, check=True
    )
    assert (ROOT / "docs/CODE.md").read_text("utf-8") == made.stdout
    drawn = blocks(ROOT / "docs/CODE.md", "")[0].text
    packages = re.findall(r"^(\w+)/", drawn.partition("\n")[2], re.MULTILINE)
    assert packages == [name for name in PACKAGES if (ROOT / "src/looseleaf" / name).is_dir() and name]
    names = set(re.findall(r"\b\w+\.py\b", drawn))
    files = [path.relative_to(ROOT / "src/looseleaf") for path in (ROOT / "src").rglob("*.py")]
    assert names - {path.name for path in files} == set()
    assert {path.name for path in files} - names - {"__init__.py", "__main__.py"} == set()
