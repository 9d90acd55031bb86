"""`looseleaf cost`, as a person runs it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from looseleaf.costs import Costs, Spent
from looseleaf.memory import Memory
from looseleaf.policy import Policy
from looseleaf.reply import Reply, Usage
from looseleaf.store.files import FileStore
from test_cli import EVIL, STEERING, modules_after, snapshot
from test_cli_talk import refuses

Run = Callable[..., tuple[int, str, str]]

DAY = 86_400.0
NO_CEILING = "There is no ceiling; day_tokens or day_cost in looseleaf.toml sets one for each day (UTC).\n"
NOTHING = (
    "No model was asked in the last {}. What models take is written down here, call by call.\n" + NO_CEILING
)
DATE = re.compile(r"\d{4}-\d\d-\d\d")


def spend(folder: Path, *usages: Usage, ago: float = 0.0, agent: str = "main", **about: Any) -> None:
    about = {"model": "gpt-5", "dialect": "openai", "purpose": "chat"} | about
    with FileStore(folder) as store:
        costs = Costs(store, Policy(), agent, now=lambda: time.time() - ago * DAY)
        for usage in usages:
            costs.after_invoke([], Reply(usage=usage), **about)


def told(run: Run, *arguments: str) -> str:
    code, out, err = run("cost", *arguments)
    assert (code, err) == (0, "")
    return DATE.sub("<date>", out)


def fill(folder: Path) -> None:
    spend(folder, Usage(1_200_000, 1_000_000, 0, 30_000), ago=40, model="claude-opus-5", dialect="anthropic")
    spend(folder, Usage(1000, 0, 0, 100), Usage(20_000, 12_000, 0, 900), ago=2)
    spend(folder, Usage(500, output_tokens=50, is_estimated=True), ago=2, agent="coder", purpose="distill")
    spend(folder, Usage(300, output_tokens=30), model="house-model", dialect="openai-chat")


def test_where_no_model_was_asked_it_says_so_and_changes_nothing(run: Run, folder: Path) -> None:
    before = snapshot(folder)
    assert told(run) == NOTHING.format("7 days")
    assert told(run, "--days", "1") == NOTHING.format("day")
    assert snapshot(folder) == before


def test_a_table_of_the_last_days_says_what_was_read_and_written_and_what_it_cost(
    run: Run, folder: Path
) -> None:
    fill(folder)
    assert told(run) == (
        "calls    read  cached  written             price  day\n"
        "    3  21,500  12,000    1,050           $0.0239  <date>\n"
        "    1     300       0       30           unknown  <date>\n"
        "    4  21,800  12,000    1,080  at least $0.0239  all\n"
        "The price of 1 call is not known: price_input, price_cached and price_output in looseleaf.toml say it, in US "
        "dollars for a million tokens.\n"
        "The tokens of 1 call are estimated: the provider did not report all of them.\n" + NO_CEILING
    )


def test_more_days_show_more(run: Run, folder: Path) -> None:
    fill(folder)
    lines = told(run, "--days", "90").splitlines()
    assert len(lines) == 5 + 3
    assert lines[1] == "    1  1,200,000  1,000,000   30,000           $2.25  <date>"
    assert lines[4].split()[:2] == ["5", "1,221,800"]
    assert len(told(run, "--days", "1").splitlines()) == 3 + 2


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("model", ["gpt-5", "house-model"]),
        ("purpose", ["chat", "distill"]),
        ("agent", ["main", "coder"]),
        ("day", ["<date>", "<date>"]),
    ],
)
def test_costs_are_told_apart(run: Run, folder: Path, by: str, names: list[str]) -> None:
    fill(folder)
    head, *rows = [line.split()[-1] for line in told(run, "--by", by).splitlines()[:4]]
    assert (head, rows) == (by, [*names, "all"])


def test_the_ceiling_and_what_is_left_of_it_are_told(run: Run, folder: Path) -> None:
    fill(folder)
    settings = folder / "looseleaf.toml"
    settings.write_text("day_tokens = 1000\nday_cost = 2.5\n")
    assert told(run, "--days", "1").splitlines()[-2:] == [
        "Today: 330 of 1,000 tokens (day_tokens), 670 left.",
        "Today: unknown of $2.50 (day_cost), $2.50 left.",
    ]
    spend(folder, Usage(1_000_000, output_tokens=200_000))
    assert told(run, "--days", "1").splitlines()[-2:] == [
        "Today: 1,200,330 of 1,000 tokens (day_tokens), nothing left; the rules distill.",
        "Today: at least $3.25 of $2.50 (day_cost), nothing left; the rules distill.",
    ]
    settings.write_text("day_cost = 0\n")
    assert told(run).splitlines()[-1] == (
        "Today: at least $3.25 of $0.00 (day_cost), nothing left; the rules distill."
    )


def test_json_says_the_same_in_numbers(run: Run, folder: Path) -> None:
    fill(folder)
    (folder / "looseleaf.toml").write_text("day_tokens = 1000\n")
    found = json.loads(told(run, "--json", "--by", "model", "--days", "3"))
    with Memory(folder) as memory:
        total = memory.costs.total(memory.costs.since(3))
    assert found["total"] == total.to_dict()
    assert found["today"] == Spent(1, 300, output_tokens=30, unpriced=1).to_dict()
    assert [share["name"] for share in found["shares"]] == ["gpt-5", "house-model"]
    assert {
        name: sum(share[name] for share in found["shares"]) for name in total.to_dict()
    } == total.to_dict()
    assert (found["days"], found["by"]) == (3, "model")
    assert found["ceiling"] == {"day_tokens": 1000, "tokens_left": 670, "day_cost": None, "cost_left": None}


def test_names_of_models_cannot_steer_the_terminal(run: Run, folder: Path) -> None:
    spend(folder, Usage(5), model=EVIL, purpose=EVIL)
    for by in ("model", "purpose"):
        out = told(run, "--by", by)
        assert not re.search(STEERING, out.replace("\n", ""))
        assert len(out.splitlines()) == 3 + 2


@pytest.mark.parametrize("days", ["0", "000"])
def test_no_day_at_all_is_refused(run: Run, folder: Path, days: str) -> None:
    assert refuses(run, folder, "cost", "--days", days) == (
        "Nothing was shown: --days must be at least 1. Without it, the last 7 days are shown."
    )


def test_what_costs_cannot_be_told_apart_by_is_named(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run("cost", "--by", "weather")
    assert ended.value.code == 2
    assert "'weather'" in capsys.readouterr().err


def test_showing_costs_loads_no_sdk_and_little_else(run: Run, folder: Path) -> None:
    fill(folder)
    code = "from looseleaf.cli import main\nassert main(['--memory', sys.argv[1], 'cost']) == 0"
    loaded = modules_after(code, folder)
    assert "looseleaf.costs" in loaded
    strangers = {"openai", "anthropic", "google", "ollama", "httpx", "typing", "dataclasses", "threading"}
    assert not strangers & loaded
    assert "looseleaf.llm.prices" not in loaded  # what a call cost was written down when it was made
