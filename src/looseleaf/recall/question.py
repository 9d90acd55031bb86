"""A question: what may be asked, and of what; refused with a sentence where it makes no sense."""

from __future__ import annotations

import time

from looseleaf.base.errors import Refused
from looseleaf.base.policy import Ranking
from looseleaf.base.values import FOUND
from looseleaf.index.protocol import Only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

RANKING = Ranking()

_END = 253_402_300_800.0
"""The year 10000: there is no such date."""

LONGEST = 20_000
"""Characters of a question. Past that it is a document."""

_K, _K_IN_BUDGET, _MOST = 10, 50, 200


class Question:
    """What was asked, after it was looked at. Times are epoch seconds. `sure`: how sure the best hit must be; `clip`:
    each text has at most about so many tokens."""

    def __init__(
        self,
        query: str,
        k: int | None = None,
        budget: int | None = None,
        topic: str | None = None,
        kinds: Sequence[str] | str | None = None,
        agent: str | None = None,
        as_of: float | None = None,
        since: float | None = None,
        until: float | None = None,
        now: float | None = None,
        sure: float | None = None,
        clip: int | None = None,
        weights: Ranking = RANKING,
    ) -> None:
        self.query = _sound(query)
        self.budget = _at_least_one("budget", budget)
        self.k = min(_at_least_one("k", k) or (_K if budget is None else _K_IN_BUDGET), _MOST)
        as_of, since, until, now = (
            _moment(name, value)
            for name, value in (("as_of", as_of), ("since", since), ("until", until), ("now", now))
        )
        self.as_of = as_of
        self.now = now if now is not None else as_of if as_of is not None else time.time()
        self.weights = weights
        self.least = weights.least if self.k <= _K else weights.least_of_many
        self.sure = weights.abstain if sure is None else _share("sure", sure)
        self.clip = _at_least_one("clip", clip)
        ends = [each for each in (until, as_of) if each is not None]
        if since is not None and until is not None and since > until:
            raise Refused("Nothing was looked for: `since` is later than `until`. Exchange them.")
        self.only = Only(
            kinds=_kinds(kinds),
            topic=_name("topic", topic),
            agent=_name("agent", agent),
            since=since,
            until=min(ends) if ends else None,
            past=as_of is not None,
        )


def _sound(query: object) -> str:
    if not isinstance(query, str):
        raise Refused(f"Nothing was looked for: a question is text, not {type(query).__name__}.")
    if not query.strip():
        raise Refused("Nothing was looked for: the question is empty. Give some words of what you look for.")
    if len(query) > LONGEST:
        raise Refused(
            f"Nothing was looked for: the question has {len(query):,} characters, and at most {LONGEST:,} are read. "
            "Ask for what matters in it."
        )
    return query


def _share(name: str, value: float) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise Refused(f"Nothing was looked for: `{name}` must be a number from 0 to 1, not {value!r}.")
    return float(value)


def _at_least_one(name: str, value: int | None) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise Refused(
            f"Nothing was looked for: `{name}` must be a whole number of at least 1, not {value!r}."
        )
    return value


def _moment(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -_END < value < _END:
        raise Refused(
            f"Nothing was looked for: `{name}` must be a date (2026-02-24) or epoch seconds, not {value!r:.40}."
        )
    return float(value)


def _name(what: str, value: object) -> str:
    """What cannot be written names nothing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Refused(f"Nothing was looked for: `{what}` must be a name, not {value!r:.40}. Or leave it out.")
    return value.encode("utf-8", "replace").decode()


def _kinds(kinds: object) -> tuple[str, ...]:
    if not isinstance(kinds, (str, tuple, list, set, frozenset, type(None))):
        raise Refused(f"Nothing was looked for: kinds are a list of names, not {kinds!r:.40}.")
    given = (kinds,) if isinstance(kinds, str) else tuple(kinds or ())
    for kind in given:
        if kind not in FOUND:
            raise Refused(
                f"Nothing was looked for: there is no kind {kind!r}. There are: {', '.join(FOUND)}."
            )
    return given
