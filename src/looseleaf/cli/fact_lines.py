"""Facts as lines: how a fact reads on one line, and how a person names one.

The level and the page of a fact come last on its line, after its words: no text of a fact can claim another level or
place.
"""

from __future__ import annotations

import sys

from looseleaf.base.errors import Invalid, NotFound
from looseleaf.base.paths import REVIEW
from looseleaf.cli.output import ask_which, clipped, plain, when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from looseleaf.base.values import Fact
    from looseleaf.cli.verb_table import CliOptions
    from looseleaf.facts.placement import Outcome
    from looseleaf.memory import Memory

SHORT_ID = 10
"""Characters of an id in a list: among ten thousand facts, one in a million shares them with another."""

ACTS = {
    "add": "added",
    "supersede": "replaced",
    "end": "ended",
    "restate": "known already",
    "older": "kept as past",
    "review": "waits in review",
    "drop": "dropped",
}
"""By outcome of a proposal, the word that people read."""

_MARKS = ("pinned", "unverified", "doubtful")


def line_of(fact: Fact, *more: str) -> str:
    """Return a fact on one line; `more`: further marks."""
    name = (fact.id or "")[:SHORT_ID]
    at = place_of(fact)
    return f"{name}  {words_of(fact)}  ({', '.join((*marks_of(fact), *more))}){f'  {at}' if at else ''}"


def dates_of(fact: Fact) -> Iterator[str]:
    """Yield since when a fact holds, and when it was last repeated. A past fact has its times as a mark."""
    if fact.status == "superseded" or fact.valid_to is not None:
        return
    noted = fact.entry_ts or fact.recorded_at
    if since := _local_time(fact.valid_from) if fact.valid_from else when(noted) if noted else "":
        yield f"since {since[:10]}"
    if fact.said_at:
        yield f"again {when(fact.said_at)[:10]}"


def words_of(fact: Fact) -> str:
    return clipped(f"{fact.relation}: {fact.object}")


def marks_of(fact: Fact) -> Iterator[str]:
    if fact.status != "current":
        yield fact.status
    yield fact.level or "unknown"
    if fact.user_fact_score is not None:
        yield f"score {fact.user_fact_score:g}"
    yield from (mark for mark in _MARKS if mark in fact.tags)
    if fact.status == "superseded" or fact.valid_to is not None:
        yield span_of(fact)


def place_of(fact: Fact) -> str:
    if fact.status == "pending":
        return REVIEW
    return f"{fact.path}:{fact.line}" if fact.path and fact.line else ""


def span_of(fact: Fact) -> str:
    since = when(fact.recorded_at) if fact.recorded_at else ""
    since = _local_time(fact.valid_from) if fact.valid_from else since
    parts = [f"since {since}"] if since else []
    parts += [f"until {_local_time(fact.valid_to)}"] if fact.valid_to else []
    return " ".join(parts) or "at an unknown time"


def _local_time(text: str) -> str:
    """Return a start or end in local time; a date stays a date."""
    from looseleaf.text.times import moment

    ts = moment(text) if "T" in text else None
    return when(ts) if ts is not None else text


def outcome_line(outcome: Outcome) -> str:
    fact = outcome.fact
    # A known or ended fact keeps the id that it has.
    name = (fact.id or "")[:SHORT_ID] if outcome.act in ("add", "supersede", "review") else ""
    what = ACTS.get(outcome.act, outcome.act)
    return f"{what:<15}  {name:<{SHORT_ID}}  {words_of(fact)}  ({fact.level}): {clipped(outcome.why)}"


# --- naming a fact ---------------------------------------------------------------------

_CHOICES = 20
"""Facts to choose from; if more fit, the words say too little."""


def choose_fact(
    memory: Memory, options: CliOptions, words: str, *, done: str = "done", first: Sequence[str] = ()
) -> Fact:
    """Return the fact that words name (`facts.naming`). Where several fit, ask which one; without a terminal, refuse.

    `done`: what the verb does, for a refusal. `first`: the statuses to look at, in their order.
    """
    from looseleaf.facts.naming import is_exact

    found = named_facts(memory, words, first)
    if not found and is_exact(words):
        return memory.fact(words)
    if not found:
        raise NotFound(
            f"Nothing was {done}: no fact fits {clipped(words)!r}. `looseleaf facts` lists them; name one by its id, "
            "`page.md:line`, its relation, or words of it."
        )
    return found[0] if len(found) == 1 else _choose(found, options, words, done)


def named_facts(memory: Memory, words: str, first: Sequence[str] = ()) -> list[Fact]:
    """Return all facts of a memory that words name."""
    from looseleaf.facts.naming import STATUSES, matching

    every = (fact for status in STATUSES for fact in memory.facts(status=status))
    return matching(every, words, first or STATUSES)


def _choose(found: Sequence[Fact], options: CliOptions, words: str, done: str) -> Fact:
    lines = [line_of(fact) for fact in found[:_CHOICES]]
    if len(found) > _CHOICES:
        lines.append(f"… and {len(found) - _CHOICES:,} more")
    if not options.json:
        for number, line in enumerate(lines, 1):
            print(f"{f'{number}. ' if number <= _CHOICES else ''}{plain(line)}", file=sys.stderr)
        chosen = ask_which(min(len(found), _CHOICES))
        if chosen is not None:
            return found[chosen - 1]
    listed = f": {'; '.join(lines)}" if options.json else ""
    raise Invalid(
        f"Nothing was {done}: {len(found):,} facts fit {clipped(words)!r}{listed}. Give the id of one, or more of its "
        "words."
    )
