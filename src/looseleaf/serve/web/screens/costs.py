"""The screen Costs: what models took today and before, and what a prompt costs."""

from __future__ import annotations

import asyncio

from looseleaf.base.immutable import frozen
from looseleaf.models.costs import WHATS, dollars
from looseleaf.serve.web.ask import ask
from looseleaf.serve.web.forms import Note, done, read_form
from looseleaf.serve.web.render import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from looseleaf.memory import Memory
    from looseleaf.models.costs import Share, Spent
    from looseleaf.serve.jobs import Jobs
    from looseleaf.serve.web.ask import Screen

DAYS = (7, 30, 365)
"""The spans that are summed."""
REFRESH = "2"
"""Seconds after which a screen of a job under way reloads itself."""


@frozen
class Row:
    """What one day, model, purpose or agent took. `share`: of the most that one of them took."""

    name: str
    calls: int
    tokens: int
    cached: int
    cost: str
    share: float


def rows_of(shares: tuple[Share, ...]) -> list[Row]:
    """Return shares as rows, the most costly as the measure."""
    weights = [each.spent.cost or each.spent.tokens / 1e9 for each in shares]
    most = max(weights, default=0.0) or 1.0
    return [
        Row(
            each.name,
            each.spent.calls,
            each.spent.tokens,
            cached_of(each.spent),
            dollars(each.spent),
            weight / most,
        )
        for each, weight in zip(shares, weights, strict=True)
    ]


def _newest_first(what: str, shares: tuple[Share, ...]) -> tuple[Share, ...]:
    return shares[::-1] if what == "day" else shares


def cached_of(spent: Spent) -> int:
    """Return the percentage of the tokens read that came from a provider's cache."""
    return round(100 * spent.cached_tokens / spent.prompt_tokens) if spent.prompt_tokens else 0


async def _costs(request: Request) -> Response:
    given = request.query_params.get("days", "")
    days = int(given) if given in map(str, DAYS) else DAYS[1]

    def read(memory: Memory) -> dict[str, Any]:
        costs = memory.costs
        ceiling, since = costs.ceiling(), costs.since(days)
        spent = costs.total(since)
        return {
            "ceiling": ceiling,
            "today": dollars(ceiling.spent),
            "cached": cached_of(ceiling.spent),
            "spent": spent,
            "cost": dollars(spent),
            "cached_all": cached_of(spent),
            "groups": [(what.title(), rows_of(_newest_first(what, costs.by(what, since)))) for what in WHATS],
            "is_any": bool(spent.calls),
        }

    told = await ask(request, read)
    jobs, name = _jobs(request), request.state.memory
    last = await asyncio.to_thread(jobs.last, name, "analyze")
    job = await asyncio.to_thread(jobs.current, name, "analyze")
    answer = page(request, "costs.html", days=days, spans=DAYS, last=last, job=job, **told)
    if job is not None:
        answer.headers["refresh"] = REFRESH
    return answer


def _jobs(request: Request) -> Jobs:
    return request.app.state.serving.jobs  # type: ignore[no-any-return]


async def _analyze(request: Request) -> Response:
    """Begin to count what a prompt costs."""
    await read_form(request)
    await asyncio.to_thread(_jobs(request).start, request.state.memory, "analyze", {})
    return done(
        request, f"/m/{request.path_params['name']}/costs#prompt", Note("The prompt is being counted.")
    )


ROUTES: list[Screen] = [
    ("/costs", ["GET"], _costs),
    ("/costs/analyze", ["POST"], _analyze),
]
