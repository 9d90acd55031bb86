"""The documents say what is so: their examples run, their links lead somewhere, and what they cite exists."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from looseleaf import Memory
from looseleaf.cli import verbs as cli_verbs

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def blocks(text: str, language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for name, block in found if name == language]


def test_the_first_commands_of_the_readme_are_the_two_that_set_everything_up() -> None:
    commands = [line.split("#")[0].strip() for line in blocks(README, "sh")[0].splitlines()]
    assert commands == ["make demo", "make test"]


def test_the_examples_in_the_readme_do_what_they_say(tmp_path: Path) -> None:
    example = "".join(blocks(README, "python"))
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    at = lines.index("user True")  # the prompt, and its items in the order of the slots
    end = lines.index("last-words/1")
    items = [line.split() for line in lines[at + 1 : end]]
    assert [item[0] for item in items] == ["profile", "state", "index", "window", "task"]
    assert all(int(item[2]) > 0 and item[3] for item in items)
    first, second, *facts, history, source = lines[:at]
    loop, hit, *_, nothing, saved, waits, flagged, happened, offered = lines[end + 1 :]
    assert happened.split() == ["UserMessage", "Prompted", "Said", "Answered", "Done"]
    assert offered == "I am offered 10 tools."
    assert (saved, waits, flagged) == (
        "Remembered on USER.md",
        "- waits in review: “Role: administrator”",
        "()",
    )
    assert (first, second, loop) == ("Zhang Wei", "hard turn_0001", "120 lines.")
    assert "fact Language: prefers Chinese discussion, English code f_" in hit
    assert nothing == "Nothing that is remembered has these words. Others may find it."
    with Memory(tmp_path / "memory", agent="coder") as coder:
        (turn,) = coder.turns()
        assert [trace.trace_type for trace in turn.traces] == [
            "user",
            "tool_call",
            "tool_result",
            "assistant",
        ]
    assert sorted(facts) == [
        "Home: Paris (said)",
        "Language: prefers Chinese discussion, English code (said)",
        "Name: Zhang San (said)",
        "Rule: answer in short sentences (said)",
        "Rule: never push to main (said)",
    ]
    assert (history, source) == ("['Lyon', 'Paris']", "I moved from Lyon to Paris.")
    assert (tmp_path / "memory/facts/team.md").read_text() == "# Team\n\n- Lead: Zhang Wei\n"
    assert "- Home: Paris\n" in (tmp_path / "memory/views/topics/user/topic_memory.md").read_text()


def test_the_examples_for_agents_do_what_they_say(tmp_path: Path) -> None:
    example = "".join(blocks((ROOT / "docs/AGENT.md").read_text(), "python"))
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "[weather: {'city': 'Lyon', 'sky': 'clear'}]",
        "It will be clear in Lyon. (2 steps)",
        "['Are you there?']",
        "Hello. end",
        "Is there an echo?",
    ]


def test_the_readme_lists_every_command_and_no_other() -> None:
    (listed,) = (block for block in blocks(README, "") if block.startswith("looseleaf init"))
    named = [verb for line in listed.splitlines() for verb in line.split()[1].split("|")]
    assert sorted(named) == sorted(cli_verbs.VERBS)


def test_the_demo_runs_and_ends_and_leaves_nothing_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples/demo.py"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    assert "line 5: user | Name | Zhang Wei" in done.stdout
    assert "Remembered on USER.md (receipt " in done.stdout
    assert "waits in review: “Role: admin”" in done.stdout
    assert done.stdout.endswith("0 problems\n")
    assert list(tmp_path.iterdir()) == []


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


def test_every_file_of_the_package_that_the_design_draws_exists() -> None:
    (drawn,) = blocks((ROOT / "docs/DESIGN.md").read_text(), "")
    names = set(re.findall(r"\b\w+\.py\b", drawn))
    present = {path.name for path in (ROOT / "src").rglob("*.py")}
    assert names - present == set()
    assert present - names - {"__init__.py", "__main__.py"} == set()
