"""The command of costs: what models took, day by day or otherwise told apart, and what may still be spent. Arguments
and printing only."""

from __future__ import annotations

from looseleaf.base.errors import Refused
from looseleaf.cli.output import clipped, open_memory, print_json, print_notes, say
from looseleaf.cli.table import table
from looseleaf.models.costs import dollars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.cli.arguments import Options
    from looseleaf.memory import Memory
    from looseleaf.models.costs import Ceiling, Share, Spent

_NOTHING = "No model was asked{by} in the last {days}. What models take is written down here, call by call."


def cost(options: Options) -> int:
    if options.days < 1:
        raise Refused("Nothing was shown: --days must be at least 1. Without it, the last 7 days are shown.")
    with open_memory(options) as memory:
        tell(memory, options)
        print_notes(memory)
    return 0


def tell(memory: Memory, options: Options) -> None:
    """What everybody spent, or the agent that is named; the ceiling is that of all together."""
    agent, costs = options.agent, memory.costs
    since = costs.since(options.days)
    shares, total = costs.by(options.by, since, agent=agent), costs.total(since, agent=agent)
    ceiling = costs.ceiling()
    if options.json:
        print_json(
            {
                "days": options.days,
                "by": options.by,
                "agent": agent,
                "shares": [{"name": share.name} | share.spent.to_dict() for share in shares],
                "total": total.to_dict(),
                "today": ceiling.spent.to_dict(),
                "ceiling": {
                    "day_tokens": ceiling.tokens,
                    "tokens_left": ceiling.tokens_left,
                    "day_cost": ceiling.cost,
                    "cost_left": ceiling.cost_left,
                },
            }
        )
    else:
        days = "day" if options.days == 1 else f"{options.days} days"
        by = f" by {clipped(agent)}" if agent is not None else ""
        nothing = _NOTHING.format(days=days, by=by)
        if shares:
            _print_shares(options.by, shares, total, f"all{by}")
        else:
            say(nothing)
        say("\n".join([*_doubts(total), *_left(ceiling, "" if agent is None else " by all agents")]))


def _print_shares(by: str, shares: Sequence[Share], total: Spent, all_of: str) -> None:
    """Numbers first: the words of others come last on a line."""
    heads = ("calls", "read", "cached", "written", "price", by)
    table(
        heads,
        [*(_row(share.spent, clipped(share.name)) for share in shares), _row(total, all_of)],
        right=heads[:5],
    )


def _row(spent: Spent, name: str) -> tuple[str, ...]:
    counts = (spent.calls, spent.prompt_tokens, spent.cached_tokens, spent.output_tokens)
    return *(f"{count:,}" for count in counts), dollars(spent), name


def _doubts(total: Spent) -> Iterator[str]:
    if total.unpriced:
        calls = "1 call" if total.unpriced == 1 else f"{total.unpriced:,} calls"
        yield (
            f"The price of {calls} is not known: price_input, price_cached and price_output in looseleaf.toml say it, "
            "in US dollars for a million tokens."
        )
    if total.estimated:
        calls = "1 call" if total.estimated == 1 else f"{total.estimated:,} calls"
        yield f"The tokens of {calls} are estimated: the provider did not report all of them."


def _left(ceiling: Ceiling, whose: str) -> Iterator[str]:
    spent = ceiling.spent
    if ceiling.tokens is not None:
        left = f"{ceiling.tokens_left:,} left" if ceiling.tokens_left else "nothing left; the rules distill"
        yield f"Today: {spent.tokens:,} of {ceiling.tokens:,} tokens{whose} (day_tokens), {left}."
    if ceiling.cost is not None:
        left = f"${ceiling.cost_left:,.2f} left" if ceiling.cost_left else "nothing left; the rules distill"
        yield f"Today: {dollars(spent)} of ${ceiling.cost:,.2f}{whose} (day_cost), {left}."
    if ceiling.tokens is None and ceiling.cost is None:
        yield "There is no ceiling; day_tokens or day_cost in looseleaf.toml sets one for each day (UTC)."
