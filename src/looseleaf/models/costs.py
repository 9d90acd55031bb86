"""Costs: what models took, call by call, and the spending limit of a day (FORMAT §16).

An extension that is told of every call of a model. Invariants: it holds no word of a conversation; every answered call
is in the log, or no further call is made; what other processes spent counts as soon as it is written. Days are UTC
days.
"""

from __future__ import annotations

import time
from _thread import allocate_lock

from looseleaf.base.errors import Invalid, SpendingLimit, is_number
from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen, members_of
from looseleaf.base.values import START

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Literal

    from looseleaf.base.messages import Message
    from looseleaf.base.policy import Policy
    from looseleaf.base.replies import Model, Reply, Usage
    from looseleaf.base.values import LogLine, Record
    from looseleaf.models.model_table import Price
    from looseleaf.store.protocol import Store

    What = Literal["purpose", "model", "agent", "day"]

STREAM = "calls"
SCHEMA = "calls.v1"
WHATS: tuple[What, ...] = ("day", "purpose", "model", "agent")
"""What calls can be grouped by."""

_DAY = 86_400
_MOST = 10**15
"""No time, cost or number of tokens is larger."""

_EXCURSION = 64
"""Records in a row that must be older before reading back ends: a clock may have been wrong for some."""

_COUNTED = ("prompt_tokens", "cached_tokens", "written_tokens", "output_tokens", "reasoning_tokens")
_OTHER = "other"
"""The purpose of a call without one."""


@frozen
class Spent:
    """The sum of some calls, in tokens and US dollars. If `unpriced` is not 0, they cost at least `cost`; `estimated`:
    calls whose tokens the provider did not report, or not all. Members as in `replies.Usage`."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: int = 0
    unpriced: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens read and written, which the limit counts."""
        return self.prompt_tokens + self.output_tokens

    def to_dict(self) -> dict[str, Any]:
        return members_of(self)


@frozen
class Share:
    """The spending of one day, purpose, model or agent; `name` says which."""

    name: str
    spent: Spent


@frozen
class Ceiling:
    """Today's limits and spending; None: no limit. `until` is the end of the day."""

    spent: Spent
    tokens: int | None
    cost: float | None
    until: float

    @property
    def tokens_left(self) -> int | None:
        return None if self.tokens is None else max(0, self.tokens - self.spent.tokens)

    @property
    def cost_left(self) -> float | None:
        return None if self.cost is None else max(0.0, self.cost - self.spent.cost)


class Costs:
    """The ledger of one memory, as one agent writes it, from any thread."""

    def __init__(
        self, store: Store, policy: Policy, agent: str, *, now: Callable[[], float] = time.time
    ) -> None:
        self._store, self._policy, self._agent, self._now = store, policy, agent, now
        self._guard = allocate_lock()
        self._unwritten: list[Record] = []
        self._day = -1
        self._spent = Spent()
        self._last: LogLine | None = None

    def before_invoke(self, messages: Sequence[Message], payload: dict[str, Any], **about: Any) -> None:
        """Raise if no more may be spent today, or if earlier spending could not be written."""
        with self._guard:
            self._write()
            spent = self._today()
        tokens, cost = self._policy.day_tokens, self._policy.day_cost
        if tokens is not None and spent.tokens >= tokens:
            raise self._limit_error("day_tokens", f"{spent.tokens:,} tokens", f"{tokens:,}")
        if cost is not None and spent.cost >= cost:
            from looseleaf.models.model_table import FREE

            if self._price_of(about.get("model"), about.get("dialect")) != FREE:
                raise self._limit_error("day_cost", dollars(spent), f"${cost:,.2f}")

    def after_invoke(self, messages: Sequence[Message], response: Reply, **about: Any) -> None:
        """Write the call, durably. If that fails, raise; the record is kept and written before the next call."""
        usage, seconds = response.usage, about.get("seconds")
        model, dialect = str(about.get("model") or response.model), str(about.get("dialect") or "")
        record: Record = {
            "schema": SCHEMA,
            "id": new_id(),
            "ts": self._now(),
            "kind": "call",
            "agent": self._agent,
            "model": model,
            "dialect": dialect,
            "purpose": str(about.get("purpose") or _OTHER),
            **usage.to_dict(),
            "stop": response.stop,
            "cost": self.cost_of(usage, response.model or model, dialect, asked=model),
            "seconds": round(seconds, 3) if isinstance(seconds, float | int) else None,
        }
        with self._guard:
            self._unwritten.append(record)
            self._write()

    def _write(self) -> None:
        if self._unwritten:
            self._store.append(STREAM, self._unwritten)
            self._unwritten.clear()

    def _limit_error(self, setting: str, spent: str, allowed: str) -> SpendingLimit:
        until = f"{_day_of(self._end())} 00:00 UTC"
        return SpendingLimit(
            f"No model was asked: the ceiling of the day is reached ({spent} spent, {setting} is {allowed}). "
            f"Until {until} the rules distill, and no model answers. To go on now, raise {setting} in "
            "looseleaf.toml; `looseleaf cost` shows what was spent."
        )

    def warn(self, model: str, dialect: str, note: Callable[[str], None]) -> None:
        """Note it if a limit in dollars cannot hold."""
        if self._policy.day_cost is not None and self._price_of(model, dialect) is None:
            note(
                f"day_cost cannot hold: no price is known for {model}. Set price_input and price_output in "
                "looseleaf.toml, or a ceiling in tokens, day_tokens."
            )

    def cost_of(self, usage: Usage, model: str, dialect: str = "", *, asked: str = "") -> float | None:
        """Return the US dollars of one call, by its provider or the table; None if the price is unknown. `asked`: the
        name to try if the other has no price."""
        if usage.cost is not None:
            return usage.cost
        price = self._price_of(model, dialect) or self._price_of(asked, dialect)
        if price is None:
            return None
        from looseleaf.models.model_table import cost_of

        return cost_of(usage, price)

    def _price_of(self, model: str | None, dialect: str | None) -> Price | None:
        from looseleaf.models.model_table import apply_settings, price_of

        return apply_settings(price_of(model, dialect), self._policy)

    def today(self) -> Spent:
        """Return what all agents spent today. Reads only what is new."""
        with self._guard:
            return self._today()

    def ceiling(self) -> Ceiling:
        """Return today's limits and spending."""
        return Ceiling(self.today(), self._policy.day_tokens, self._policy.day_cost, self._end())

    def total(
        self, since: float | None = None, until: float | None = None, *, agent: str | None = None
    ) -> Spent:
        """Return what was spent from `since` until before `until`, by all agents or one."""
        spent = Spent()
        for record in self._records(since, until, agent):
            spent = _add_record(spent, record)
        return spent

    def by(
        self, what: What, since: float | None = None, until: float | None = None, *, agent: str | None = None
    ) -> tuple[Share, ...]:
        """Return the same, grouped: days in order, else the most expensive first."""
        if what not in WHATS:
            raise Invalid(
                f"Nothing was summed: {what!r} is not a group of calls. Use one of {', '.join(WHATS)}."
            )
        found: dict[str, Spent] = {}
        for record in self._records(since, until, agent):
            name = _day_of(_ts(record)) if what == "day" else str(record.get(what) or _OTHER)
            found[name] = _add_record(found.get(name, Spent()), record)
        shares = [Share(name, spent) for name, spent in sorted(found.items())]
        if what != "day":
            shares.sort(key=lambda share: (-share.spent.cost, -share.spent.tokens))
        return tuple(shares)

    def days(self, count: int) -> tuple[Share, ...]:
        """Return what was spent on each of the last days, today last, without days that had no call."""
        return self.by("day", self.since(count), self._end())

    def since(self, days: int) -> float:
        """Return when the last `days` days began, today included."""
        if not is_number(days):
            raise Invalid(f"Nothing was summed: {days!r} is not a number of days.")
        return self._end() - max(1, days) * float(_DAY)

    def _end(self) -> float:
        return (self._now() // _DAY + 1) * float(_DAY)

    def _records(self, since: float | None, until: float | None, agent: str | None) -> Iterator[Record]:
        """Yield the calls of a period, in any order. Reads back no further than it must."""
        times: tuple[Any, ...] = (since, until)
        if not all(each is None or is_number(each) for each in times):
            raise Invalid(f"Nothing was summed: {times} are not times. Give seconds since 1970, as numbers.")
        for line in self._store.read(STREAM, START) if since is None else self._since(since):
            is_own = agent is None or line.record.get("agent") == agent
            ts = _ts(line.record)
            is_between = (since is None or ts >= since) and (until is None or ts < until)
            if is_own and is_between and _is_call(line.record):
                yield line.record

    def _since(self, since: float) -> Iterator[LogLine]:
        older = 0
        for line in self._store.read_back(STREAM):
            # A day and some records more: clocks are set, and processes overtake each other. A line written by hand,
            # with any time, hides nothing before it.
            if line.checked and _is_call(line.record):
                older = older + 1 if _ts(line.record) < since - _DAY else 0
                if older > _EXCURSION:
                    return
            yield line

    def _today(self) -> Spent:
        """Return today's sum, brought up to date. Starts again on another day, and if the last record moved: repair
        moves records (FORMAT §8.2)."""
        day = int(self._now() // _DAY)
        if day != self._day or self._last is None or not self._read_on(self._last):
            spent, last = Spent(), None
            for line in self._since(float(day * _DAY)):
                last = last or line
                spent = self._add_line(spent, line, day)
            # Only now: an interrupted sum would stand for the whole day.
            self._day, self._spent, self._last = day, spent, last
        return self._spent

    def _read_on(self, last: LogLine) -> bool:
        lines = self._store.read(STREAM, last.position)
        first = next(lines, None)
        if first is None or first.record.get("id") != last.record.get("id"):
            return False
        for line in lines:
            self._spent, self._last = self._add_line(self._spent, line, self._day), line
        return True

    @staticmethod
    def _add_line(spent: Spent, line: LogLine, day: int) -> Spent:
        is_of_day = _is_call(line.record) and _ts(line.record) // _DAY == day
        return _add_record(spent, line.record) if is_of_day else spent


class CallCosts:
    """The ledger as an extension of one call. A custom model may not tell its extensions: then `count` records it."""

    def __init__(self, costs: Costs, model: Model, purpose: str) -> None:
        self._costs = costs
        self._about = {"model": model.name, "dialect": str(getattr(model, "dialect", "")), "purpose": purpose}
        self._is_told = False

    def check(self, messages: Sequence[Message]) -> None:
        """Raise if nothing more may be spent today."""
        self._costs.before_invoke(messages, {}, **self._about)

    def before_invoke(self, messages: Sequence[Message], payload: dict[str, Any], **about: Any) -> None:
        self._is_told = True
        self._costs.before_invoke(messages, payload, **about)

    def after_invoke(self, messages: Sequence[Message], response: Reply, **about: Any) -> None:
        self._costs.after_invoke(messages, response, **about)

    def count(self, messages: Sequence[Message], reply: Reply) -> None:
        """Record the call, unless the model reported it."""
        if not self._is_told:
            self._costs.after_invoke(messages, reply, **self._about)


def dollars(spent: Spent) -> str:
    """Return `$0.0213`, or `at least $0.0213` if a price is missing, or `unknown` without any price."""
    if spent.unpriced and not spent.cost:
        return "unknown" if spent.unpriced == spent.calls else "at least $0.00"
    amount = f"${spent.cost:,.2f}" if spent.cost >= 1 or not spent.cost else f"${spent.cost:.4f}"
    return f"at least {amount}" if spent.unpriced else amount


def _is_call(record: Record) -> bool:
    return record.get("kind") == "call"


def _ts(record: Record) -> float:
    return _number(record.get("ts"))


def _number(value: object) -> float:
    """Return a foreign number; 0 if it is not plausible."""
    return float(value) if isinstance(value, int | float) and -_MOST < value < _MOST else 0.0


def _day_of(ts: float) -> str:
    from looseleaf.text.times import day

    return day(ts)


def _add_record(spent: Spent, record: Record) -> Spent:
    """Add a record to a sum. A line written by hand stops no sum, whatever it says."""
    counted = {name: getattr(spent, name) for name in _COUNTED}
    for name in _COUNTED:
        tokens = record.get(name)
        if type(tokens) is int and 0 < tokens < _MOST:
            counted[name] += tokens
    cost = record.get("cost")
    is_priced = isinstance(cost, int | float) and 0 <= cost < _MOST
    return Spent(
        calls=spent.calls + 1,
        estimated=spent.estimated + (record.get("is_estimated") is True),
        unpriced=spent.unpriced + (not is_priced),
        cost=spent.cost + (_number(cost) if is_priced else 0.0),
        **counted,
    )
