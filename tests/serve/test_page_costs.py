"""The screen Costs: today beside its limit; days, models, purposes; and what a prompt costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compacted_story import looking_at
from looseleaf import Memory
from looseleaf.base.replies import Reply, Usage
from looseleaf.pages.folder import init
from paging import Person

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Server


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Person]]:
    with looking_at(tmp_path_factory) as found:
        yield found


def spend(path: Path, settings: str, *calls: tuple[str, str, float | None]) -> None:
    init(str(path))
    (path / "looseleaf.toml").write_text(settings)
    with Memory(path) as memory:
        for model, purpose, cost in calls:
            usage = Usage(prompt_tokens=1000, cached_tokens=750, output_tokens=200, cost=cost)
            memory.costs.after_invoke([], Reply(usage=usage), model=model, purpose=purpose)


def test_where_no_model_was_called_that_is_said(visit: tuple[Server, Person]) -> None:
    words = visit[1].get("/costs").words
    assert "No model was called in the last 30 days; rules cost nothing." in words
    assert "No model was called; rules cost nothing." in visit[1].get("/costs", days="365").words


def test_today_stands_beside_its_limit(visit: tuple[Server, Person]) -> None:
    path = visit[0].root / "paid"
    spend(path, "day_cost = 2.0\nday_tokens = 10000\n", ("sonnet", "chat", 0.3), ("haiku", "distill", 0.11))
    with Person(visit[0], "paid") as person:
        shown = person.get("/costs")
    assert "$0.41" in shown.words
    assert "of $2.00" in shown.words
    assert "2 calls, 2,400 tokens of 10,000, 75 % cached" in shown.words
    bars = [given for tag, given in shown.tags if tag == "meter"]
    assert bars[0]["max"] == "2.0"
    assert float(bars[0]["value"]) == pytest.approx(0.41)
    for name in ("sonnet", "haiku", "chat", "distill", "main"):
        assert name in shown.words
    assert shown.words.index("sonnet") < shown.words.index("haiku")
    assert shown.problems == []


def test_a_limit_that_is_reached_is_said_and_so_is_none(visit: tuple[Server, Person]) -> None:
    spend(visit[0].root / "over", "day_tokens = 100\n", ("sonnet", "chat", None))
    spend(visit[0].root / "free", "", ("sonnet", "chat", 0.0))
    with Person(visit[0], "over") as person:
        assert "The ceiling is reached: until" in person.get("/costs").words
    with Person(visit[0], "free") as person:
        assert "There is no ceiling." in person.get("/costs").words
        assert person.get("/costs", days="7").status == 200
        assert "The last 30 days" in person.get("/costs", days="8").words


def test_a_prompt_is_counted_by_a_job(visit: tuple[Server, Person]) -> None:
    server, person = visit
    shown = person.get("/costs")
    assert "Never counted." in shown.words
    assert person.send(shown, "/costs/analyze").status == 200
    job = server.serving.jobs.of("mira")[0]
    assert server.serving.jobs.wait(job.id, 60).state == "done"
    words = person.get("/costs").words
    assert "A prompt takes" in words
    assert "all pages in full would take" in words
    with Memory(server.root / "mira") as memory:
        memory.forget(match="pytest")
    assert "something has been forgotten since" in person.get("/costs").words


def test_a_form_without_its_token_counts_nothing(visit: tuple[Server, Person]) -> None:
    with Person(visit[0], "paid") as person:
        refused = person.post(f"{person.home}/costs/analyze")
    assert refused.status == 422
    assert "the form is from an earlier visit" in refused.words
    assert visit[0].serving.jobs.of("paid") == []
