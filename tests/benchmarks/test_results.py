"""What was measured is what is shown: rows are kept, goals judged, and every table and plot is made of the results."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import plot, readme, report, run

ROOT = Path(__file__).parents[2]
MACHINE = {
    "date": "2026-01-02",
    "processor": "p",
    "cores": "2",
    "memory": "4 GB",
    "system": "Linux 6",
    "python": "3.11",
    "sqlite": "3.40",
    "disk": "ext4",
}


def peer(name: str, ms: float, **more: object) -> dict[str, object]:
    figures = {"cold": {"ms": ms, "looseleaf": ms / 50, "fts5": ms / 20}, "installed": int(ms * 1e6), **more}
    told = {"name": name, "shown": f"**{name}**", "version": "1", "note": "a note", "failed": ""}
    return told | {"searches": True, "has_vectors": False, "figures": figures}


RESULTS: dict[str, Any] = {
    "store": {
        "rows": [
            ["a `b`", "0.62 (mean 0.6)", "≥ 0.6"],
            ["c", "3", "≤ 2.5"],
            ["the same, in ms", "4", "≤ 3"],
            ["d", "9", "–"],
        ],
        "seconds": 3,
        "machine": MACHINE,
        "load": "1.5",
    },
    "peers": {
        "work": {"items": 10, "more": 20, "questions": 4, "cold": 2, "written": 16, "writers": 4},
        "peers": [
            peer("looseleaf", 50.0, found=0.8, rss=30_000_000),
            peer("slow & <big>", 5000.0, found=0.4),
        ],
        "left_out": {"Other": "it needs a model (docs.example.org)"},
        "machine": MACHINE,
        "load": "0.5",
    },
}


# --- goals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("figure", "goal", "expected"),
    [
        ("0.62", "≥ 0.6", True),
        ("0.52", "≥ 0.6", False),
        ("0.82 (mean 9.9)", "≤ 1.3", True),
        ("0.999 of 746", "≥ 0.99", True),
        ("0.0 % of 134", "0", True),
        ("1 of 60", "0", False),
        ("1.00", "0.9 to 1.1", True),
        ("1.20", "0.9 to 1.1", False),
        ("0.985, 0.944", "≥ 0.98, 0.85", True),
        ("0.985, 0.800", "≥ 0.98, 0.85", False),
        ("0.6 %", "≤ 1 %", True),
        ("1,200 (idle 47)", "≤ 150", False),
        ("0.30 (280 and 930 tokens)", "≤ 0.25", False),
        ("skipped: no /proc here", "≤ 150", None),
        ("3.3", "–", None),
    ],
)
def test_a_goal_is_met_missed_or_not_to_be_judged(figure: str, goal: str, expected: bool | None) -> None:
    assert report.met(figure, goal) is expected


@given(st.floats(0, 1000, allow_nan=False).map(lambda x: round(x, 2)), st.integers(0, 1000))
def test_what_is_at_most_and_what_is_at_least_agree_only_on_the_goal_itself(value: float, goal: int) -> None:
    low, high = report.met(f"{value:.2f} (x)", f"≤ {goal}"), report.met(f"{value:.2f} (x)", f"≥ {goal}")
    assert (low and high) == (value == goal)
    assert low or high


# --- keeping -------------------------------------------------------------------------------


def test_rows_are_told_as_they_come_and_kept_only_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.json"
    rows = [("a", "1", "≤ 2"), ("b", "2", report.NO_GOAL)]
    assert report.report("one", iter(rows), save=False, path=path) == rows
    assert not path.exists()
    out, err = capsys.readouterr()
    assert out == "| what | measured | goal |\n|---|---|---|\n| a | 1 | ≤ 2 |\n| b | 2 | – |\n"
    assert err.startswith("a | 1 | ≤ 2\nb | 2 | –\n")
    report.report("one", rows, save=True, path=path)
    report.report("two", rows[:1], save=True, path=path)
    report.report("one", rows[1:], save=True, path=path)
    kept = json.loads(path.read_text())
    assert {name: measured["rows"] for name, measured in kept.items()} == {
        "one": [["b", "2", "–"]],
        "two": [["a", "1", "≤ 2"]],
    }
    assert [each.name for each in tmp_path.iterdir()] == ["results.json"]


def test_the_machine_is_described_without_saying_whose_it_is() -> None:
    told = report.machine()
    assert told.keys() == MACHINE.keys()
    assert told["python"] == sys.version.split()[0]
    import getpass
    import socket

    assert socket.gethostname() not in json.dumps(told)
    assert str(Path.home()) not in json.dumps(told)
    assert getpass.getuser() not in json.dumps(told).split('"')


def test_only_the_parts_that_were_asked_for_are_run() -> None:
    parts = {"a": lambda: [("a", "1", "–")], "b": lambda: [("b", "2", "–")]}
    assert [row[0] for row in report.some(parts, None)] == ["a", "b"]
    assert [row[0] for row in report.some(parts, ["b"])] == ["b"]


def test_having_nothing_to_measure_with_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        report.nothing_measured("a file is not there")
    assert ended.value.code == report.NOTHING
    assert capsys.readouterr().err == "nothing was measured: a file is not there\n"


# --- the page and the tables -----------------------------------------------------------------


def test_the_page_tells_the_machine_every_row_and_every_miss() -> None:
    page = readme.page(RESULTS)
    assert "p, 2 cores, 4 GB, Linux 6, Python 3.11, SQLite 3.40, ext4, 2026-01-02" in page
    assert "wanted to run meanwhile: 0.5 to 1.5." in page
    busy = {**RESULTS, "store": {**RESULTS["store"], "load": "9.5"}}
    assert "0.5 to 9.5 on 2 cores, so that milliseconds are several times" in readme.page(busy)
    assert "Of 3 goals 1 are met, and these are not:" in page
    assert "| store | c | 3 | ≤ 2.5 |\n| store | c; the same, in ms | 4 | ≤ 3 |" in page
    assert "| a `b` | 0.62 (mean 0.6) | ≥ 0.6 | met |" in page
    assert "| c | 3 | ≤ 2.5 | **missed** |" in page
    assert "| d | 9 | – | – |" in page
    assert "- Other is not here: it needs a model (docs.example.org)." in page


def test_a_table_stands_between_its_marks_and_what_was_never_measured_stays() -> None:
    text = (
        "a\n<!-- benchmark: store -->\nold\n<!-- end -->\nb\n"
        "<!-- benchmark: none -->\nkept\n<!-- end -->\n<!-- benchmark: misses -->\n<!-- end -->\n"
    )
    made = readme.filled(text, RESULTS)
    assert "old" not in made
    assert "<!-- benchmark: store -->\n| what | measured | goal |" in made
    assert "| d | 9" not in made  # it has no goal
    assert "<!-- benchmark: none -->\nkept\n<!-- end -->" in made
    assert "| store | c | 3 | ≤ 2.5 |" in made
    assert readme.filled(made, RESULTS) == made


def test_the_figures_that_matter_are_those_that_were_chosen() -> None:
    results = {
        "store": {**RESULTS["store"], "rows": [["x", "1", "–"], [readme.CHOSEN[0][1] + "!", "2", "≥ 1"]]}
    }
    assert readme.chosen(results) == [(readme.CHOSEN[0][2], "2", "≥ 1")]  # by its short name
    assert len(readme.chosen(report.load())) == len(readme.CHOSEN)


def test_figures_of_two_machines_say_which_is_whose() -> None:
    other = {**RESULTS, "store": {**RESULTS["store"], "machine": {**MACHINE, "cores": "8"}}}
    told = readme.machine(other).splitlines()
    assert [line.partition(":")[0] for line in told] == ["- store", "- peers"]


def test_what_is_shown_is_what_was_measured() -> None:
    """README.md, RESULTS.md and the plots are those of results.json: `python benchmarks/readme.py` writes them."""
    results = report.load()
    assert {"store", "recall", "locomo", "peers"} <= results.keys()
    assert [path.name for path in readme.stale(results)] == []
    shown = {path.name for path in readme.PLOTS.glob("*.svg")}
    assert shown == {name for name, _, _ in plot.plots(results)}


def test_a_figure_that_was_changed_by_hand_is_found() -> None:
    """What the test above finds: the mutant of each file differs."""
    results = report.load()
    results["store"]["rows"][0][1] = "9.99"
    assert "RESULTS.md" in [path.name for path in readme.stale(results)]


# --- plots -----------------------------------------------------------------------------------


def test_a_plot_is_a_picture_with_a_bar_for_each_peer_and_words_for_those_who_do_not_see_it() -> None:
    made = {name: (alt, picture) for name, alt, picture in plot.plots(RESULTS)}
    assert made.keys() == {"cold.svg", "memory.svg", "installed.svg", "found.svg"}
    alt, picture = made["cold.svg"]
    assert alt == "First answer of a new process: looseleaf 50.0 ms, slow & <big> 5,000 ms (100 ×)"
    tree = ElementTree.fromstring(picture)
    tags = [each.tag.rpartition("}")[2] for each in tree.iter()]
    assert tags.count("rect") == 2
    assert set(tags) == {"svg", "style", "text", "rect"}
    assert "prefers-color-scheme: dark" in picture
    assert "scale by powers of ten" in picture
    assert "scale by powers of ten" not in made["found.svg"][1]


@given(st.lists(st.floats(0.001, 1e6), min_size=2, max_size=12), st.booleans())
def test_a_bar_is_longer_where_there_is_more_and_never_too_long(values: list[float], by_tens: bool) -> None:
    if min(values) == max(values):
        by_tens = False
    shares = [plot.share(value, values, by_tens=by_tens) for value in sorted(values)]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1.0000001


# --- running all of them -------------------------------------------------------------------------


def test_one_that_fails_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "HERE", tmp_path)
    (tmp_path / "benchmarks").mkdir()
    for name, code in (("broken", 3), ("idle", report.NOTHING), ("good", 0)):
        (tmp_path / f"benchmarks/{name}.py").write_text(f"raise SystemExit({code})")
    ended = run.run(tuple(map(run.Job, ("broken", "idle", "good"))), is_full=False, envs=None)
    assert [how.split(",")[0] for how in ended.values()] == ["failed (3)", "skipped", "done"]
    assert "--- good: done" in capsys.readouterr().out


def test_larger_sizes_are_run_only_if_asked_for() -> None:
    job = run.Job("store", ("--lines", "10"), ("--lines", "99"))
    assert job.command(is_full=False, envs=None)[2:] == ["--save", "--lines", "10"]
    assert job.command(is_full=True, envs=None)[2:] == ["--save", "--lines", "99"]
    envs = Path("/envs")
    assert run.Job("peers").command(is_full=True, envs=envs)[-2:] == ["--envs", "/envs"]


def test_every_benchmark_is_run_and_told() -> None:
    parts = {"run", "readme", "tune_recall", "growth"}  # the last takes hours, and saves nothing
    scripts = {
        path.stem
        for path in (ROOT / "benchmarks").glob("*.py")
        if re.search(r'^if __name__ == "__main__":', path.read_text(), re.MULTILINE)
    }
    named = {job.name for job in run.JOBS}
    assert scripts - parts <= named
    assert named - {"peers"} == readme.ABOUT.keys()
