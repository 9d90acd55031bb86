"""`looseleaf cost`, as a person runs it."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.test_main import EVIL, STEERING, modules_after, snapshot
from cli.test_window import refuses
from looseleaf.base.policy import Policy
from looseleaf.base.replies import Reply, Usage
from looseleaf.cli.main import main
from looseleaf.memory import Memory
from looseleaf.models.costs import Costs, Spent
from looseleaf.store.files import FileStore
from providing import Answer, Provider

Run = Callable[..., tuple[int, str, str]]

DAY = 86_400.0
NO_CEILING = "There is no ceiling; day_tokens or day_cost in looseleaf.toml sets one for each day (UTC).\n"
NOTHING = "No model was called in the last {}. Each call is listed here with its cost.\n" + NO_CEILING
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
        "The price of 1 call is not known: price_input, price_cached and price_output in looseleaf.toml set it, in US "
        "dollars per million tokens.\n"
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


def test_of_one_agent_only_what_it_spent_is_told(run: Run, folder: Path) -> None:
    fill(folder)
    head, row, last = told(run, "--agent", "coder", "--by", "purpose").splitlines()[:3]
    assert (head.split()[-1], row.split()[0], row.split()[-1]) == ("purpose", "1", "distill")
    assert last.split()[:2] == ["1", "500"]
    assert last.endswith("all by coder")
    assert told(run, "--agent", "bob") == NOTHING.format("7 days").replace("called", "called by bob")
    whole = [
        json.loads(told(run, "--json", *each)) for each in ([], ["--agent", "main"], ["--agent", "coder"])
    ]
    calls = [found["total"]["calls"] for found in whole]
    assert (calls, [found["agent"] for found in whole]) == ([4, 3, 1], [None, "main", "coder"])
    # What is left of the day is left to all of them.
    (folder / "looseleaf.toml").write_text("day_tokens = 1000\n")
    assert told(run, "--agent", "coder").splitlines()[-1] == (
        "Today: 330 of 1,000 tokens by all agents (day_tokens), 670 left."
    )


def test_help_says_what_costs_can_be_told_apart_by(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("cost", "--help")
    assert "--by {day,purpose,model,agent}" in capsys.readouterr().out


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


# --- what would be spent ---------------------------------------------------------------


class Person(io.StringIO):
    """Somebody at a terminal, who has this to say."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def provider(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A model that makes nothing of what it is told, and a memory of two entries of the rules."""
    (folder / "looseleaf.toml").write_text('provider = "ollama"\nmodel = "tea-1"\n')
    with Memory(folder) as memory:
        memory.distill("My name is Zhang San.", author="person")[0]
        memory.distill("I live in Lyon.", author="person")[0]
    with Provider(lambda asked: Answer("No idea.")) as made:
        monkeypatch.setenv("OLLAMA_HOST", made.address)
        yield made


def test_where_nobody_can_be_asked_nothing_is_sent_to_a_model(
    run: Run, folder: Path, provider: Provider
) -> None:
    assert refuses(run, folder, "redistill", "--with", "model") == (
        "Nothing was distilled: there is no terminal to ask whether to send the sources of up to 2 entries to tea-1. "
        "Give --yes to send them."
    )
    assert provider.requests == 0


@pytest.mark.parametrize("answer", ["", "n\n", "maybe\n"])
def test_nothing_is_sent_to_a_model_unless_a_person_says_yes(
    folder: Path,
    provider: Provider,
    answer: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", Person(answer))
    assert main(["--memory", str(folder), "redistill", "--with", "model"]) == 2
    assert capsys.readouterr().err == (
        "Send the sources of up to 2 entries to tea-1? [y/N] looseleaf: Nothing was distilled: nothing was sent to "
        "tea-1. Answer `y` to have it sent.\n"
    )
    assert provider.requests == 0


def test_where_a_model_fails_on_everything_that_is_what_is_said(
    run: Run,
    folder: Path,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = "it failed on all 2 entries, so nothing was compared. Nothing was changed."
    code, out, _ = run("redistill", "--with", "model", "--yes")
    assert code == 1
    assert out.splitlines()[-1].endswith(failed)
    assert (out.count("failed: "), "gained" in out) == (2, False)
    sent = provider.requests
    assert sent > 0
    monkeypatch.setattr(sys, "stdin", Person("y\n"))
    assert main(["--memory", str(folder), "redistill", "--with", "model"]) == 1
    assert capsys.readouterr().out == out
    assert provider.requests > sent


def test_a_memory_without_entries_sends_nothing_and_nobody_is_asked(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "looseleaf.toml").write_text('provider = "ollama"\nmodel = "tea-1"\n')
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    code, out, _ = run("redistill", "--with", "model")
    assert code == 0
    assert out.endswith("there is no entry of another distiller. Nothing was changed.\n")


@pytest.mark.parametrize("name", ["gpt-5", "ollama/qwen3", "a b", "", "a:b:c", "."])
def test_a_name_that_no_distiller_can_have_is_answered_with_those_that_there_are(
    run: Run, folder: Path, name: str
) -> None:
    assert refuses(run, folder, "redistill", "--with", name) == (
        f"Nothing was distilled: there is no distiller {name!r}. Give rules, model (set by `provider` and `model` "
        "in looseleaf.toml), or package.module:attribute."
    )


def test_showing_costs_loads_no_sdk_and_little_else(run: Run, folder: Path) -> None:
    fill(folder)
    code = "from looseleaf.cli.main import main\nassert main(['--memory', sys.argv[1], 'cost']) == 0"
    loaded = modules_after(code, folder)
    assert "looseleaf.models.costs" in loaded
    strangers = {"openai", "anthropic", "google", "ollama", "httpx", "typing", "dataclasses", "threading"}
    assert not strangers & loaded
    assert "looseleaf.models.model_table" not in loaded  # what a call cost was written down when it was made
