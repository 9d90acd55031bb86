"""The ledger of calls: nothing lost, nothing said twice, no word of what was said; and the ceiling of a day."""

from __future__ import annotations

import errno
import json
import math
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults import FaultyDisk
from looseleaf.base.errors import Invalid, ModelFailed, PromptTooLong, SpendingLimit, Unwritten
from looseleaf.base.messages import Distilled, Material, Message
from looseleaf.base.policy import Policy
from looseleaf.base.replies import Reply, Usage
from looseleaf.memory import Memory
from looseleaf.models import Anthropic, OpenAI, OpenAIChat, ScriptedModel
from looseleaf.models.costs import STREAM, Ceiling, Costs, Share, Spent, dollars
from looseleaf.models.model_table import cost_of, known_prices
from looseleaf.pages.folder import init
from looseleaf.store.files import FileStore
from providing import KEY, Answer, Provider, Status
from tables import check_rows

DAY = 86_400.0
NOON = 20_000 * DAY + DAY / 2
TODAY, YESTERDAY = "2024-10-04", "2024-10-03"
GPT = {"model": "gpt-5", "dialect": "openai", "purpose": "chat"}
"""What a call is about: a model that has a price."""
HOME = {"model": "qwen3:8b", "dialect": "ollama", "purpose": "distill"}
"""One that costs nothing."""
STRANGE = {"model": "unheard-of", "dialect": "openai-chat", "purpose": "reflect"}
"""One whose price nobody knows."""


class Clock:
    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Counted(FileStore):
    """Counts the records that are read."""

    reads = 0

    def _counted(self, lines: Iterator[Any]) -> Iterator[Any]:
        for line in lines:
            self.reads += 1
            yield line

    def read(self, *given: Any, **more: Any) -> Iterator[Any]:
        return self._counted(super().read(*given, **more))

    def read_back(self, *given: Any, **more: Any) -> Iterator[Any]:
        return self._counted(super().read_back(*given, **more))


@pytest.fixture
def store(place: Path) -> Iterator[Counted]:
    made = new_store(place / "m")
    with made:
        yield made


def new_store(path: Path) -> Counted:
    init(str(path))
    return Counted(path)


def called(costs: Costs, usage: Usage, about: dict[str, Any] = GPT, **more: Any) -> None:
    costs.before_invoke([], {}, **about)
    costs.after_invoke([], Reply(usage=usage, **more), **about)


def records(store: FileStore) -> list[dict[str, Any]]:
    return [line.record for line in store.read(STREAM)]


def reached(costs: Costs, **about: Any) -> str:
    with pytest.raises(SpendingLimit) as ceiling:
        costs.before_invoke([], {}, **about or GPT)
    return str(ceiling.value)


# --- what is written -------------------------------------------------------------------


def test_a_call_is_one_record_with_all_that_is_known_of_it(store: Counted) -> None:
    costs = Costs(store, Policy(), "coder", now=Clock())
    usage = Usage(1000, 600, 0, 200, 150, is_estimated=True)
    costs.after_invoke([], Reply(usage=usage, stop="tools", model="gpt-5-2025-08-07"), seconds=1.23456, **GPT)
    (record,) = records(store)
    assert len(record.pop("id")) == 26
    assert record == {
        "schema": "calls.v1",
        "ts": NOON,
        "kind": "call",
        "agent": "coder",
        "model": "gpt-5",
        "dialect": "openai",
        "purpose": "chat",
        "prompt_tokens": 1000,
        "cached_tokens": 600,
        "written_tokens": 0,
        "output_tokens": 200,
        "reasoning_tokens": 150,
        "is_estimated": True,
        "stop": "tools",
        "cost": (400 * 1.25 + 600 * 0.125 + 200 * 10) / 1e6,
        "seconds": 1.235,
    }


def test_a_call_of_which_little_is_known_is_a_record_too(store: Counted) -> None:
    Costs(store, Policy(), "main").after_invoke([], Reply(stop="cut", model="unheard-of"))
    (record,) = records(store)
    assert (record["model"], record["purpose"], record["stop"]) == ("unheard-of", "other", "cut")
    assert (record["cost"], record["seconds"]) == (None, None)


WORDS = st.text(st.characters(codec="ascii", categories=["Lu"]), min_size=12, max_size=20)


@given(WORDS, WORDS, WORDS, WORDS)
def test_no_word_of_what_was_said_is_in_the_ledger(
    tmp_path_factory: pytest.TempPathFactory, asked: str, said: str, thought: str, secret: str
) -> None:
    folder = tmp_path_factory.mktemp("ledger") / "m"
    init(str(folder))
    with FileStore(folder) as store:
        costs = Costs(store, Policy(), "main")
        messages = [Message("user", asked)]
        reply = Reply(said, thought, opaque={"dialect": "openai", "secret": secret}, usage=Usage(5, 0, 0, 5))
        costs.before_invoke(messages, {"input": asked, "key": secret}, **GPT)
        costs.after_invoke(messages, reply, **GPT)
        assert len(records(store)) == 1
    ledger = (folder / "log/calls.jsonl").read_text()
    assert not any(word in ledger for word in (asked, said, thought, secret))


def test_the_price_is_that_of_the_model_that_answered_else_of_the_one_that_was_asked(store: Counted) -> None:
    costs = Costs(store, Policy(), "main")
    usage = Usage(1_000_000)
    assert costs.cost_of(usage, "gpt-5-mini", "openai", asked="gpt-5") == 0.25
    assert costs.cost_of(usage, "router-7", "openai", asked="gpt-5") == 1.25
    assert costs.cost_of(usage, "router-7", "openai", asked="router") is None
    assert costs.cost_of(usage, "anything", "ollama") == 0
    costs.after_invoke([], Reply(usage=usage, model="gpt-5-mini-2025-08-07"), **GPT)
    costs.after_invoke([], Reply(usage=usage), **GPT)
    assert [record["cost"] for record in records(store)] == [0.25, 1.25]


def test_a_price_in_the_settings_is_the_price(store: Counted) -> None:
    costs = Costs(store, Policy(price_input=7.0, price_cached=1.0, price_output=9.0), "main")
    called(costs, Usage(2_000_000, 1_000_000, 0, 1_000_000), STRANGE)
    assert (costs.today().cost, costs.today().unpriced) == (17.0, 0)


# --- sums --------------------------------------------------------------------------------

COUNTS = st.integers(0, 50_000)
CALLS = st.lists(
    st.tuples(
        st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, st.booleans()),
        st.sampled_from([GPT, HOME, STRANGE]),
        st.integers(-3, 0),
        st.sampled_from(["main", "coder"]),
    ),
    max_size=12,
)


def expected(calls: list[tuple[Usage, dict[str, Any], int, str]]) -> Spent:
    usages = [usage for usage, *_ in calls]
    priced = [cost_of(usage, known_prices()["gpt-5"]) for usage, about, *_ in calls if about is GPT]
    return Spent(
        len(calls),
        sum(usage.prompt_tokens for usage in usages),
        sum(usage.cached_tokens for usage in usages),
        sum(usage.written_tokens for usage in usages),
        sum(usage.output_tokens for usage in usages),
        sum(usage.reasoning_tokens for usage in usages),
        sum(usage.is_estimated for usage in usages),
        sum(about is STRANGE for _, about, *_ in calls),
        math.fsum(priced),
    )


def same(found: Spent, wanted: Spent) -> bool:
    rest = {"cost": 0.0}
    return found.to_dict() | rest == wanted.to_dict() | rest and math.isclose(
        found.cost, wanted.cost, abs_tol=1e-12
    )


@given(CALLS)
def test_sums_are_those_of_the_calls_however_they_are_told_apart(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[Usage, dict[str, Any], int, str]]
) -> None:
    calls.sort(key=lambda call: call[2])
    folder = tmp_path_factory.mktemp("sums") / "m"
    init(str(folder))
    with FileStore(folder, Policy(segment_bytes=1500)) as store:
        clock = Clock()
        ledgers = {name: Costs(store, Policy(), name, now=clock) for name in ("main", "coder")}
        for usage, about, ago, agent in calls:
            clock.now = NOON + ago * DAY
            called(ledgers[agent], usage, about)
        clock.now = NOON
        for costs in (*ledgers.values(), Costs(store, Policy(), "other", now=clock)):
            assert same(costs.total(), expected(calls))
            assert same(costs.today(), expected([call for call in calls if call[2] == 0]))
            for days in (1, 2, 9):
                recent = [call for call in calls if call[2] > -days]
                assert same(costs.total(costs.since(days)), expected(recent))
                assert sum(share.spent.calls for share in costs.days(days)) == len(recent)
            for what in ("purpose", "model", "agent", "day"):
                shares = costs.by(what)
                assert sum(share.spent.calls for share in shares) == len(calls)
                assert sum(share.spent.tokens for share in shares) == expected(calls).tokens
        assert not list(store.check())


def test_days_come_in_their_order_and_the_rest_by_what_it_cost(store: Counted) -> None:
    clock = Clock(NOON - DAY)
    costs = Costs(store, Policy(), "main", now=clock)
    called(costs, Usage(1_000_000), GPT)
    clock.now = NOON
    called(costs, Usage(3_000_000), HOME)
    called(costs, Usage(5_000_000), STRANGE)
    assert [share.name for share in costs.days(7)] == [YESTERDAY, TODAY]
    assert [share.name for share in costs.days(1)] == [TODAY]
    assert [share.name for share in costs.by("model")] == ["gpt-5", "unheard-of", "qwen3:8b"]
    assert [share.name for share in costs.by("purpose", costs.since(1))] == ["reflect", "distill"]
    assert costs.by("agent", until=NOON) == (Share("main", Spent(1, 1_000_000, cost=1.25)),)
    unknown: Any = "week"
    with pytest.raises(
        Invalid, match=r"'week' is not a group of calls\. Use one of day, purpose, model, agent"
    ):
        costs.by(unknown)
    with pytest.raises(Invalid, match=r"are not times\. Give seconds since 1970"):
        costs.total(unknown)
    with pytest.raises(Invalid, match="'week' is not a number of days"):
        costs.since(unknown)


def test_a_price_that_is_not_known_is_said_to_be_at_least_what_is() -> None:
    def check(spent: Spent, said: str) -> None:
        assert dollars(spent) == said

    check_rows(
        check,
        [
            (Spent(), "$0.00"),
            (Spent(2, cost=0.02134), "$0.0213"),
            (Spent(2, cost=1234.5), "$1,234.50"),
            (Spent(2, unpriced=1, cost=0.5), "at least $0.5000"),
            (Spent(2, unpriced=1), "at least $0.00"),
            (Spent(2, unpriced=2), "unknown"),
        ],
    )


# --- reading no more than is new ---------------------------------------------------------


def test_the_sums_of_today_cost_what_is_new(store: Counted) -> None:
    costs = Costs(store, Policy(day_tokens=10**9), "main", now=Clock())
    for _ in range(200):
        called(costs, Usage(1))
    costs.today()
    store.reads = 0
    for _ in range(50):
        called(costs, Usage(1))
    assert costs.today().calls == 250
    assert store.reads <= 2 * 51
    store.reads = 0
    assert Costs(store, Policy(), "other", now=Clock()).today().calls == 250
    assert store.reads >= 250  # the counter counts


def test_a_new_day_begins_with_nothing_and_reads_no_more_than_the_day_before(store: Counted) -> None:
    clock = Clock(NOON - 50 * DAY)
    costs = Costs(store, Policy(day_tokens=10), "main", now=clock)
    for _ in range(600):
        clock.now += DAY / 12
        if clock.now < NOON:
            costs.after_invoke([], Reply(usage=Usage(10)), **GPT)
    clock.now = NOON + DAY
    store.reads = 0
    costs.before_invoke([], {}, **GPT)
    assert costs.today() == Spent()
    assert store.reads <= 64 + 2 * 24  # and some more: a clock may have been wrong for a while


def test_a_call_belongs_to_the_day_on_which_it_was_answered(store: Counted) -> None:
    midnight = NOON + DAY / 2
    clock = Clock(midnight - 0.001)
    costs = Costs(store, Policy(), "main", now=clock)
    called(costs, Usage(1))
    clock.now = midnight
    called(costs, Usage(10))
    assert [share.spent.tokens for share in costs.days(2)] == [1, 10]
    assert costs.today().tokens == 10
    assert costs.total(until=midnight).tokens == 1
    assert costs.total(since=midnight).tokens == 10


# --- the ceiling -------------------------------------------------------------------------


def test_at_the_ceiling_of_tokens_nobody_is_asked_until_the_day_is_over(store: Counted) -> None:
    clock = Clock()
    costs = Costs(store, Policy(day_tokens=1000), "main", now=clock)
    called(costs, Usage(900, output_tokens=99))
    called(costs, Usage(40, output_tokens=5), HOME)
    assert reached(costs) == (
        "No model was asked: the ceiling of the day is reached (1,044 tokens spent, day_tokens is 1,000). Until "
        "2024-10-05 00:00 UTC the rules distill, and no model answers. To go on now, raise day_tokens in "
        "looseleaf.toml; `looseleaf cost` shows what was spent."
    )
    assert costs.ceiling() == Ceiling(costs.today(), 1000, None, NOON + DAY / 2)
    assert (costs.ceiling().tokens_left, costs.ceiling().cost_left) == (0, None)
    clock.now += DAY / 2
    called(costs, Usage(1))
    assert costs.ceiling().tokens_left == 999


def test_at_the_ceiling_of_dollars_only_what_is_free_is_asked(store: Counted) -> None:
    costs = Costs(store, Policy(day_cost=1.0), "main", now=Clock())
    called(costs, Usage(400_000, output_tokens=10_000))  # 0.60
    assert math.isclose(costs.ceiling().cost_left or 0, 0.4)
    called(costs, Usage(400_000, output_tokens=10_000))
    assert "($1.20 spent, day_cost is $1.00)" in reached(costs)
    assert "day_cost" in reached(costs, **STRANGE)
    called(costs, Usage(5), HOME)
    assert costs.today().calls == 3


def test_a_ceiling_of_no_dollars_lets_only_free_models_be_asked(store: Counted) -> None:
    costs = Costs(store, Policy(day_cost=0.0), "main", now=Clock())
    called(costs, Usage(5), HOME)
    assert "($0.00 spent, day_cost is $0.00)" in reached(costs)


def test_without_a_ceiling_anything_may_be_spent(store: Counted) -> None:
    costs = Costs(store, Policy(), "main")
    called(costs, Usage(10**12))
    called(costs, Usage(10**12))
    assert costs.ceiling().tokens is costs.ceiling().cost is None


# --- several at once -----------------------------------------------------------------------

CALLER = """
import sys
from looseleaf.models.costs import Costs
from looseleaf.base.policy import Policy
from looseleaf.base.replies import Reply, Usage
from looseleaf.store.files import FileStore
with FileStore(sys.argv[1], Policy(segment_bytes=3000)) as store:
    costs = Costs(store, Policy(), sys.argv[2])
    print("ready", flush=True)
    sys.stdin.read()
    for _ in range(int(sys.argv[3])):
        about = {"model": "gpt-5", "dialect": "openai", "purpose": "chat"}
        costs.before_invoke([], {}, **about)
        costs.after_invoke([], Reply(usage=Usage(1, output_tokens=1)), **about)
"""


def called_often(costs: Costs, times: int) -> None:
    for _ in range(times):
        called(costs, Usage(1, output_tokens=1))


def test_processes_and_threads_that_call_at_once_lose_nothing_and_see_each_other(place: Path) -> None:
    init(str(place / "m"))
    others = [
        subprocess.Popen(
            [sys.executable, "-c", CALLER, str(place / "m"), name, "40"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for name in ("one", "two")
    ]
    for other in others:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
    with FileStore(place / "m", Policy(segment_bytes=3000)) as store:
        costs = Costs(store, Policy(day_tokens=10**6), "three")
        threads = [threading.Thread(target=called_often, args=(costs, 20)) for _ in range(3)]
        for other in others:
            assert other.stdin is not None
            other.stdin.close()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for other in others:
            assert other.wait() == 0
            assert other.stdout is not None
            other.stdout.close()
        assert {share.name: share.spent.calls for share in costs.by("agent")} == {
            "one": 40,
            "two": 40,
            "three": 60,
        }
        assert len({record["id"] for record in records(store)}) == 140
        spent = costs.total()
        assert (spent.calls, spent.tokens) == (140, 280)
        assert costs.today() == costs.total(costs.since(1))
        assert not list(store.check())
        assert len(list((place / "m/log/calls/archive").glob("0*.jsonl"))) > 5


# --- what goes wrong -------------------------------------------------------------------------


def test_a_call_that_could_not_be_written_down_is_written_before_the_next_one_is_made(place: Path) -> None:
    init(str(place / "m"))
    disk = FaultyDisk()
    with FileStore(place / "m", disk=disk) as store:
        costs = Costs(store, Policy(day_tokens=50), "main", now=Clock())
        called(costs, Usage(20))
        disk.arm(errno.ENOSPC, 1, short=True)
        with pytest.raises(Unwritten):
            costs.after_invoke([], Reply(usage=Usage(40)), **GPT)
        with pytest.raises(Unwritten):
            costs.before_invoke([], {}, **GPT)
        assert disk.fired.count("write") >= 2
        disk.heal()
        assert len(records(store)) == 1
        assert "60 tokens spent" in reached(costs)
        assert [record["prompt_tokens"] for record in records(store)] == [20, 40]


def test_damage_costs_the_record_it_hit_and_repair_moves_the_others_under_our_feet(place: Path) -> None:
    init(str(place / "m"))
    ledger = place / "m/log/calls.jsonl"
    with Memory(place / "m") as memory:
        costs = Costs(memory.parts.context.store, memory.policy, "main", now=Clock())
        for tokens in (1, 10, 100):
            called(costs, Usage(tokens))
        assert costs.today().tokens == 111
        lines = ledger.read_bytes().splitlines(keepends=True)
        lines[1] = lines[1].replace(b'"prompt_tokens":10', b'"prompt_tokens":99')
        ledger.write_bytes(b"".join(lines))
        assert [problem.path for problem in memory.check() if problem.severity == "error"] == [
            "log/calls.jsonl"
        ]
        assert memory.repair()
        assert not [problem for problem in memory.check() if problem.severity == "error"]
        another = Costs(memory.parts.context.store, memory.policy, "main", now=Clock())
        called(another, Usage(1000))
        called(another, Usage(10_000))
        assert another.today().tokens == 11_101
        assert costs.today().tokens == 11_101  # what it had read last stands elsewhere now: it looks again
        assert costs.total().tokens == 11_101


def test_a_line_written_by_hand_stops_no_sum(place: Path) -> None:
    def check(line: dict[str, Any]) -> None:
        with new_store(Path(mkdtemp(dir=place)) / "m") as store:
            costs = Costs(store, Policy(day_tokens=100), "main", now=Clock())
            called(costs, Usage(5))
            with (Path(store.path) / "log/calls.jsonl").open("a") as ledger:
                ledger.write(json.dumps(line) + "\n")
            called(costs, Usage(6))
            fresh = Costs(store, Policy(), "main", now=Clock())
            assert (costs.today().tokens, fresh.today().tokens, costs.total().tokens) == (11, 11, 11)
            assert costs.today().cost == costs.total().cost == cost_of(Usage(11), known_prices()["gpt-5"])
            for what in ("purpose", "model", "agent", "day"):
                assert sum(share.spent.tokens for share in costs.by(what)) == 11

    check_rows(
        check,
        [
            {},
            {"kind": "call"},
            {"kind": "call", "ts": "soon", "prompt_tokens": "many", "cost": "much"},
            {
                "kind": "call",
                "ts": NOON,
                "prompt_tokens": -5,
                "output_tokens": 1.5,
                "cost": -1,
                "agent": None,
            },
            {
                "kind": "call",
                "ts": NOON,
                "prompt_tokens": True,
                "cost": [],
                "model": {"a": 1},
                "is_estimated": 1,
            },
            {"kind": "other", "ts": NOON, "prompt_tokens": 5, "cost": 5.0},
            {"kind": "call", "ts": 0.0, "agent": "somebody who wants the day to begin anew"},
        ],
    )


# --- over the wire -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "name"), [("openai", "gpt-5"), ("openai-chat", "gpt-4.1"), ("anthropic", "claude-sonnet-5")]
)
def test_the_ledger_says_what_the_provider_reported_and_a_call_that_is_held_back_never_reaches_it(
    store: Counted, wire: str, name: str
) -> None:
    kinds: dict[str, Any] = {"openai": OpenAI, "openai-chat": OpenAIChat, "anthropic": Anthropic}
    costs = Costs(store, Policy(day_tokens=2000), "main", now=Clock())
    told = Answer("It is so.", usage=Usage(700, 300, 0 if wire == "openai-chat" else 100, 40))
    with Provider(lambda asked: told, faults=[Status(503)]) as provider:
        model = kinds[wire](
            name, base_url=provider.base_url(wire), api_key=KEY, pause=0.001, extensions=(costs,)
        )
        for _ in range(3):
            assert model.send([Message("user", "Is it so?")]).text == "It is so."
        spent = costs.today()
        reported = {key: value for key, value in provider.usage.to_dict().items() if key in spent.to_dict()}
        assert {key: spent.to_dict()[key] for key in reported} == reported
        assert (spent.calls, spent.tokens, spent.estimated, spent.unpriced) == (3, 3 * 740, 0, 0)
        assert math.isclose(spent.cost, cost_of(provider.usage, known_prices()[name]))
        assert len(provider.fired) == 1
        before = len(provider.asked)
        assert before == 4  # one was refused, and cost nothing
        with pytest.raises(SpendingLimit):
            model.send([Message("user", "Is it so?")])
        assert len(provider.asked) == before
    assert KEY not in (Path(store.path) / "log/calls.jsonl").read_text()


def test_a_model_that_answers_by_a_script_costs_nothing_and_is_in_the_ledger(store: Counted) -> None:
    costs = Costs(store, Policy(day_cost=0.0), "main")
    model = ScriptedModel(["Yes.", Reply("No.", usage=Usage(50, output_tokens=5))])
    model.send([Message("user", "Is it so?")], extensions=(costs,), purpose="distill")
    model.send([Message("user", "Is it so?")], extensions=(costs,), purpose="distill")
    first, second = records(store)
    assert (first["is_estimated"], second["is_estimated"]) == (True, False)
    assert (second["prompt_tokens"], second["cost"], second["purpose"]) == (50, 0, "distill")


# --- when the rules take over ------------------------------------------------------------------


class Spending:
    """A distiller that asks a model, as far as costs are concerned: the ledger is asked before, and told after."""

    name = "model/gpt-5/1"

    def __init__(self, memory: Callable[[], Memory]) -> None:
        self._memory = memory
        self.asked = 0

    def distill(self, material: Material, tokens: int) -> Distilled:
        costs = self._memory().costs
        self.asked += 1
        costs.before_invoke([], {}, **GPT)
        costs.after_invoke([], Reply(usage=Usage(1000)), **GPT)
        return Distilled("The user spoke of himself.")


def spending(folder: Path, **settings: Any) -> tuple[Memory, Spending]:
    held: list[Memory] = []
    distiller = Spending(lambda: held[0])
    held.append(Memory(folder, policy=Policy(**settings), distiller=distiller))
    return held[0], distiller


def day_lines(memory: Memory) -> list[str]:
    pages = [memory.pages.read(path).text for path in memory.pages.list() if path.startswith("days/")]
    return [line for page in pages for line in page.splitlines() if line.startswith("- ")]


def test_at_the_ceiling_the_rules_distill_and_the_day_says_so(place: Path) -> None:
    memory, distiller = spending(place / "m", day_tokens=1500)
    with memory:
        for said in ("My name is Zhang San.", "I live in Lyon.", "I work at Acme."):
            memory.record(user=said)
            memory.record(assistant="Noted.")
            memory.distill()
        assert distiller.asked == 3
        assert memory.costs.total().calls == 2  # 1,000 and 2,000: the third was not made
        first, second, third = day_lines(memory)
        assert "by the rules" not in first + second
        assert third.split("(")[1].startswith(
            "1 fact; by the rules: the ceiling of the day was reached; entry 0"
        )
        assert "- Employer: Acme\n" in memory.pages.read("USER.md").text
        (note,) = memory.notes
        assert note.startswith(
            "The rules distilled instead: model/gpt-5/1 raised SpendingLimit: No model was asked"
        )
        entries = [memory.talk.entry(line.rpartition("entry ")[2].rstrip(")")) for line in day_lines(memory)]
        assert [entry.meta["level"] for entry in entries] == ["distiller", "distiller", "rules"]


def test_a_compaction_at_the_ceiling_is_made_by_the_rules_and_the_day_says_so(place: Path) -> None:
    sizes = {"context_tokens": 1500, "max_tokens": 200, "safety_margin_tokens": 50, "tail_turns": 2}
    memory, distiller = spending(place / "m", day_tokens=1, **sizes)
    with memory:
        memory.costs.after_invoke([], Reply(usage=Usage(5)), **GPT)
        for number in range(20):
            memory.record(
                user=f"My friend number {number} is called Anna{number}. " + "We talked of tea. " * 10
            )
            memory.record(assistant="I see. " * 20)
        loss = memory.window.compact()
        assert loss is not None
        assert loss.level == "rules"
        assert distiller.asked >= 1
        assert memory.costs.total().calls == 1
        memory.distill()
        (line,) = [line for line in day_lines(memory) if str(loss.entry).rpartition("/")[2] in line]
        assert "; by the rules: the ceiling of the day was reached; entry " in line
        assert not [problem for problem in memory.check() if problem.severity == "error"]


class Failing:
    name = "model/x/1"

    def __init__(self, error: Exception) -> None:
        self._error = error

    def distill(self, material: Material, tokens: int) -> Distilled:
        raise self._error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SpendingLimit("No more."), "the ceiling of the day was reached"),
        (ModelFailed("It is gone.\n- Name: Mallory"), "the model failed"),
        (PromptTooLong("Too long."), "it was too long for the model"),
        (ValueError("entry 01J; [MEMORY:PROFILE]"), "the distiller failed"),
    ],
)
def test_the_day_says_in_our_words_why_the_rules_distilled(place: Path, error: Exception, said: str) -> None:
    with Memory(place / "m", distiller=Failing(error)) as memory:
        memory.record(user="My name is Zhang San.")
        memory.record(assistant="Noted.")
        memory.distill()
        (line,) = day_lines(memory)
        assert f"(1 fact; by the rules: {said}; entry " in line
        assert str(error).splitlines()[0] not in line
        assert "Mallory" not in memory.pages.read("USER.md").text


# --- the memory ----------------------------------------------------------------------------------


def test_a_ledger_is_no_agents_talk_and_takes_part_in_nothing_but_care(place: Path) -> None:
    with Memory(place / "m") as memory:
        memory.record(user="My name is Zhang San.")
        called(memory.costs, Usage(5))
        assert STREAM in memory.parts.context.store.streams()
        memory.distill()
        memory.views.build(full=True)
        assert memory.recall("Zhang San")
        assert len(memory.talk.sessions()) == 1
        assert not [problem for problem in memory.check() if problem.severity == "error"]
        memory.parts.context.store.rotate(STREAM)
        called(memory.costs, Usage(5))
        assert (place / "m/log/calls/archive/000001.jsonl").is_file()
        assert (place / "m/log/calls.jsonl").is_file()
        assert memory.costs.today().calls == memory.costs.total().calls == 2
