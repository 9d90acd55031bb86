"""The documents say what is so: their links lead somewhere, and what they cite, list and count is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from blocks import DOCUMENTS, ROOT, blocks
from looseleaf.cli import verbs as cli_verbs

README = (ROOT / "README.md").read_text()


def test_the_first_commands_of_the_readme_are_the_two_that_set_everything_up() -> None:
    commands = [line.split("#")[0].strip() for line in blocks(ROOT / "README.md", "sh")[0].text.splitlines()]
    assert commands == ["make demo", "make test"]


def test_the_readme_lists_every_command_and_no_other() -> None:
    (listed,) = (
        block.text for block in blocks(ROOT / "README.md", "") if block.text.startswith("looseleaf init")
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
        "<!-- benchmark: peers -->",
        "<!-- benchmark: figures -->",
        "## Plug it in",
        "## In Python",
        "## Commands",
        "## In, out, and gone",
    ]
    assert [README.index(each) for each in order] == sorted(README.index(each) for each in order)


def test_no_line_of_the_readme_is_too_long_to_be_read_in_a_terminal() -> None:
    lines = [
        line for line in README.splitlines() if not line.startswith("|")
    ]  # a table's row cannot be broken
    assert [line for line in lines if len(line) > 120] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_between_documents_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []


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
    named = set(re.findall(r"(?:tests|benchmarks)/\w+\.py", (ROOT / "docs/seeds.md").read_text()))
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
    """The promises of a seed: what, where, shown by."""
    text = (ROOT / "docs/seeds.md").read_text().partition(f"\n## {seed}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if re.match(r"\| (?!\*\*|promise)", line)]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize("seed", ["000", "001", "002", "003", "004"])
def test_every_promise_of_a_seed_has_a_test(seed: str) -> None:
    rows = rows_of(seed)
    assert len(rows) > 20
    assert [row for row in rows if len(row) != 3] == []
    untested = [row for row in rows if not re.search(r"(?:tests|benchmarks)/\w+\.py", row[2])]
    assert [row for row in untested if row[2] != "not built yet"] == []
    if seed in ("002", "004"):
        assert [row for row in rows if "not built yet" in row[2]] == []


def test_the_table_of_promises_counts_right() -> None:
    rows = [row for seed in ("000", "001", "002", "003", "004") for row in rows_of(seed)]
    none = sum(row[2] == "not built yet" for row in rows)
    part = sum("not built yet" in row[2] for row in rows) - none
    kept = len(rows) - part - none
    said = re.search(
        r"Of (\d+) promises (\d+) are kept.*?(\d+) in part, and (\d+)", (ROOT / "docs/seeds.md").read_text()
    )
    assert said is not None
    assert tuple(map(int, said.groups())) == (len(rows), kept, part, none)


def test_what_is_installed_with_it_is_little() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=3.11"
    names = [re.split(r"[<>=]", each)[0] for each in project["dependencies"]]
    assert sorted(names) == ["PyStemmer", "jsonschema-rs", "rich", "splintr-rs", "toons"]


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = sorted(int(path.name[:4]) for path in (ROOT / "docs/decisions").glob("*.md"))
    assert numbers == list(range(1, len(numbers) + 1))


FOLDED = frozenset("cli demo doctor exporters forget importers memory".split())
"""Packages that the design draws as one: a file for each verb, format or step, named by what it does."""


def test_every_file_of_the_package_that_the_design_draws_exists() -> None:
    drawn = blocks(ROOT / "docs/DESIGN.md", "")[0].text
    names = set(re.findall(r"\b\w+\.py\b", drawn))
    files = [path.relative_to(ROOT / "src/looseleaf") for path in (ROOT / "src").rglob("*.py")]
    assert names - {path.name for path in files} == set()
    one_by_one = {path.name for path in files if path.parts[0] not in FOLDED}
    assert one_by_one - names - {"__init__.py", "__main__.py"} == set()
    assert {name for name in FOLDED if f"── {name}/" not in drawn and f"  {name}/" not in drawn} == set()
