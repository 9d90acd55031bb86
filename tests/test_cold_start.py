"""The cold start is a promise: what a command does not need, it does not load. benchmarks/cold.py has the figures."""

from __future__ import annotations

import copy
import hashlib
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.test_main import HEAVY, modules_after
from looseleaf.base.immutable import frozen
from looseleaf.base.values import sha256
from looseleaf.text.lines import lazy

if TYPE_CHECKING:
    from conftest import Run

COMMAND = "from looseleaf.cli.main import main\nmain(sys.argv[1:])"

JUDGING = ("language.frames", "language.clauses", "facts.evidence", "language.datewords")
"""Modules that judge words, with hundreds of patterns."""


@pytest.mark.parametrize("verb", ["facts", "turns", "receipts"])
def test_a_command_that_lists_in_a_pipe_loads_no_judging_and_nothing_of_a_terminal(
    verb: str, run: Run, folder: Path
) -> None:
    run("record", "user", "I live in Lyon.")
    run("distill")
    run(verb)
    loaded = modules_after(COMMAND, "--memory", folder, verb)
    assert "looseleaf.cli.output" in loaded
    apart = {f"looseleaf.{name}" for name in JUDGING} | {"rich", "argparse", "threading", "hashlib"}
    assert sorted(loaded & apart) == []


def test_completing_a_name_loads_nothing_heavy(run: Run, folder: Path) -> None:
    run("remember", "I live in Lyon.")
    loaded = modules_after(COMMAND, "--memory", folder, "completion", "--list", "pages")
    apart = {*HEAVY, "rich", "argparse", "looseleaf.place.notebook"} - {
        "ctypes"
    }  # by which a late save is watched
    assert sorted(loaded & apart) == []


def test_a_memory_in_a_folder_loads_nothing_of_a_database(folder: Path) -> None:
    for words in (("facts",), ("init",), ("recall", "garden"), ("hook", "stop")):
        loaded = modules_after(COMMAND, "--memory", folder, *words)
        assert "looseleaf.cli.main" in loaded
        assert sorted(each for each in loaded if "psycopg" in each or "postgres" in each) == []


def test_the_benchmark_of_the_cold_start_names_every_verb() -> None:
    from benchmarks.cold import HEAVY, LIGHT

    from looseleaf.cli.verb_table import VERBS

    without = {
        "chat",
        "mcp",
        "database",
        "demo",
        "forget",
        "import",
        "merge",
        "move",
        "redistill",
        "repair",
        "serve",
        "login",
        "token",
        "worker",
        "sync",
        "test",
        "write",
    }
    without |= {"correct", "reject", "approve"}  # as `score` and `pin`
    assert set(VERBS) - without == (LIGHT.keys() | HEAVY.keys()) - {"", "--help"}


@pytest.mark.long
def test_the_benchmark_of_the_cold_start_runs() -> None:
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, root / "benchmarks" / "cold.py", "--quick"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "| `looseleaf show` |" in done.stdout


# --- what it rests on ---------------------------------------------------------------------


def test_a_lazy_pattern_is_compiled_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    compile_ = re.compile

    def counted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        made.append(pattern)
        return compile_(pattern, flags)

    monkeypatch.setattr(re, "compile", counted)
    found = lazy("(?P<word>a+)", re.IGNORECASE)
    assert made == []
    assert found.pattern == "(?P<word>a+)"
    assert made == []
    assert [found.findall("xAay"), found.findall("")] == [["Aa"], []]
    assert found.groupindex["word"] == 1
    assert len(made) == 2  # once for each of its members that was asked for


@given(st.binary(max_size=200) | st.integers(1 << 16, (1 << 16) + 2).map(bytes))
def test_a_hash_is_the_same_whoever_makes_it(data: bytes) -> None:
    wanted = hashlib.sha256(data).hexdigest()
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "hashlib")
        assert sha256(data) == wanted
    assert sha256(data) == wanted


def test_the_first_values_of_a_class_are_like_all_others() -> None:
    @frozen
    class Point:
        x: int
        y: int = 2

    ways: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((1,), {}),
        ((1, 2), {}),
        ((1,), {"y": 2}),
        ((), {"y": 2, "x": 1}),
    ]
    values = [Point(*given, **named) for given, named in ways * 2]
    assert len(set(values)) == 1
    assert copy.copy(values[0]) == values[-1]
    with pytest.raises(AttributeError, match="a Point does not change: x"):
        values[0].x = 3  # type: ignore[misc]


@pytest.mark.parametrize("made", [0, 1, 9])
@pytest.mark.parametrize(
    ("given", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 1}), ((1,), {"z": 1}), ((), {"y": 1})]
)
def test_values_that_do_not_fit_are_refused_from_the_first(
    made: int, given: tuple[Any, ...], named: dict[str, Any]
) -> None:
    @frozen
    class Point:
        x: int
        y: int = 2

    for number in range(made):
        Point(number)
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) "):
        Point(*given, **named)


def test_values_of_the_package_are_pickled_whether_compiled_or_not() -> None:
    from looseleaf.cli.doctor_checks import Finding

    assert pickle.loads(pickle.dumps(Finding("a", "ok", "b"))) == Finding("a", "ok", "b")
