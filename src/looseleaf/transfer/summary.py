"""What an import did, or would do: counts, times, first titles, and what was passed over."""

from __future__ import annotations

from looseleaf.base.immutable import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAMED = 10
"""Titles, and things that were passed over, that are named; the rest is counted."""


@frozen
class Counts:
    """Items of one kind. `new` were not there, `grown` were and had more to say, `known` had nothing new; `forgotten`
    ones do not come back; `bad` ones could not be taken."""

    new: int = 0
    grown: int = 0
    known: int = 0
    forgotten: int = 0
    bad: int = 0

    def to_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__match_args__}


@frozen
class Imported:
    """`since`, `until`: the first and the last time that anything new has, if any has one. `copies`: sessions of talks
    that were imported before as data, and were recorded again now as the user's. `outdated`: pages of the user that
    their source has changed, whose new text was taken as data. `forgotten`: parts of items that do not come back."""

    format: str
    is_mine: bool
    is_dry: bool
    agent: str
    talks: Counts
    documents: Counts
    claims: Counts
    traces: int
    since: float | None
    until: float | None
    titles: tuple[str, ...]
    pages: tuple[str, ...]
    facts: int
    waiting: int
    copies: tuple[str, ...]
    outdated: int
    forgotten: int
    passed_over: int
    notes: tuple[str, ...]

    @property
    def is_nothing(self) -> bool:
        """Whether nothing was new."""
        kinds = (self.talks, self.documents, self.claims)
        return not any(each.new or each.grown for each in kinds)

    @property
    def is_useless(self) -> bool:
        """Whether nothing could be taken, and nothing of it was there."""
        kinds = (self.talks, self.documents, self.claims)
        return self.is_nothing and not any(each.known or each.forgotten for each in kinds)

    def to_dict(self) -> dict[str, Any]:
        names: tuple[str, ...] = ("format", "agent", "traces", "since", "until", "facts", "waiting")
        names += ("outdated", "forgotten", "passed_over")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        found |= {"mine": self.is_mine, "dry_run": self.is_dry}
        found |= {name: getattr(self, name).to_dict() for name in ("talks", "documents", "claims")}
        return found | {name: list(getattr(self, name)) for name in ("titles", "pages", "copies", "notes")}


class Tally:
    """The same while it is being counted."""

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, int]] = {"talk": {}, "document": {}, "claim": {}}
        self.traces = self.facts = self.waiting = self.outdated = self.forgotten = self.passed_over = 0
        self.since: float | None = None
        self.until: float | None = None
        self.titles: list[str] = []
        self.pages: list[str] = []
        self.copies: list[str] = []
        self.notes: list[str] = []

    @property
    def items(self) -> int:
        return sum(sum(own.values()) for own in self.counts.values())

    def add(self, what: str, fate: str, title: str = "") -> None:
        self.counts[what][fate] = self.counts[what].get(fate, 0) + 1
        if fate in ("new", "grown") and title and len(self.titles) < NAMED:
            self.titles.append(title)

    def note(self, sentence: str) -> None:
        """Something was passed over."""
        self.passed_over += 1
        if len(self.notes) < NAMED:
            self.notes.append(sentence)

    def at(self, ts: float | None) -> None:
        if ts is not None:
            self.since = ts if self.since is None else min(self.since, ts)
            self.until = ts if self.until is None else max(self.until, ts)

    def done(self, format_: str, agent: str, *, is_mine: bool, is_dry: bool) -> Imported:
        own = {f"{what}s": Counts(**counts) for what, counts in self.counts.items()}
        return Imported(
            format=format_,
            is_mine=is_mine,
            is_dry=is_dry,
            agent=agent,
            traces=self.traces,
            since=self.since,
            until=self.until,
            titles=tuple(self.titles),
            pages=tuple(self.pages),
            facts=self.facts,
            waiting=self.waiting,
            copies=tuple(self.copies),
            outdated=self.outdated,
            forgotten=self.forgotten,
            passed_over=self.passed_over,
            notes=tuple(self.notes),
            **own,
        )
