"""Promotion: what leaves the state goes to a page first. A task that is done becomes an episode, a decision that is
settled a fact, and so does an open task for which the state has no room.

Invariant: it is written before the state shrinks, so a crash in between leaves a copy and never a hole; written again,
it is there once. A fact has the level of whoever put the words into the state, and no higher.
"""

from __future__ import annotations

import json
import time

from looseleaf.core.gate import CONFIDENCE, LONGEST, is_trusted, level_of
from looseleaf.core.grammar import add_episode, as_written, parse, set_summary, summary_of
from looseleaf.core.heads import EXTERNAL, PERSON, PROGRAM
from looseleaf.core.identity import key, slot
from looseleaf.core.ledger import fact_id
from looseleaf.core.lines import heading_words
from looseleaf.core.moments import moment
from looseleaf.core.paths import STATE
from looseleaf.core.placing import PROJECT, Line, Plan, page_of
from looseleaf.core.relations import SALIENCE
from looseleaf.core.state import short, title_of
from looseleaf.core.times import day, written
from looseleaf.page import Rewritten
from looseleaf.values import Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.core.state import Change, Item
    from looseleaf.pages import Pages
    from looseleaf.place.place import Place
    from looseleaf.values import Edit, Kind

REASON = f"settled: moved from {STATE}"

_DAY = 86_400.0
_OWN_IDS = ("D-", "T-")


class Promotion:
    """To be used under the lock. `author`: who makes this change. `trusts`: edits found on disk are a person's."""

    def __init__(self, pages: Pages, place: Place, author: str, *, trusts: bool) -> None:
        self._pages = pages
        self._place = place
        self._author = author
        self._trusts = trusts
        self.edits: list[str] = []
        """The edits that were made."""

    def __call__(self, change: Change, ts: float) -> None:
        """Write what a change takes out of the state, at the time at which it does."""
        for task in change.done:
            self._episode(task, ts)
        if change.settled or change.parked:
            self._facts(change)

    # --- tasks that are done ------------------------------------------------------------------

    def _episode(self, task: Item, ts: float) -> None:
        path = f"episodes/{day(ts)[:7]}.md"
        title = title_of(task)
        own = {"Task": title, "Id": _member(task, "id"), "Since": _member(task, "updated_at")}
        status = _member(task, "status")
        fields = [("Date", day(ts)), ("Task", title)]
        fields += [("Status", status)] if status and status.casefold() not in ("open", "done") else []
        fields += [(name, said) for name, said in own.items() if said and name != "Task"]
        # It may have been written just before midnight, and this be the next try.
        before = f"episodes/{day(ts - _DAY)[:7]}.md"
        if before != path and _has_episode(before, self._pages.page(before).text, own):
            return

        def change(text: str) -> Rewritten:
            if _has_episode(path, text, own):
                return Rewritten(text)
            new = add_episode(text, path, heading_words(title) or "A task", fields)
            old = parse(path, text)
            if not old.summary or old.summary == summary_of(old):
                new = set_summary(new, summary_of(parse(path, new)))
            return Rewritten(new)

        receipt = self._pages.rewrite(path, change, reason=REASON)
        self.edits += [receipt.id] if receipt.changed else []

    # --- decisions that are settled, and tasks for which there is no room ------------------------

    def _facts(self, change: Change) -> None:
        facts = self._place.facts
        facts.catch_up()
        held = facts.of(PROJECT)
        made = [self._fact(item, "Decision", "decision") for item in change.settled]
        made += [self._fact(item, "Plan", "commitment") for item in change.parked]
        plan = Plan("", 0.0, facts.of, lambda proposal: PROJECT)
        for fact in made:
            if not any(_covers(each, fact) for each in held):
                plan.lines.setdefault(page_of(fact), []).append(Line(fact))
                held.append(fact)
        if plan.lines:
            self.edits += self._place.carry_out(plan, reason=REASON)

    def _fact(self, item: Item, relation: str, kind: Kind) -> Fact:
        title = title_of(item)
        name, why = _member(item, "id"), _member(item, "why")
        since = _member(item, "ts") or _member(item, "updated_at")
        said = "; ".join(
            (*([name] if name and name[:2] not in _OWN_IDS else ()), *([f"why: {why}"] if why else ()))
        )
        whole = f"{title} ({short(said, LONGEST)})" if said else title
        relation, said = as_written(relation, whole)
        edit = self._introduced(title)
        origin = self._origin(edit.author if edit is not None else self._author)
        level = level_of(origin)
        held_since = moment(since) if since else None
        return Fact(
            PROJECT,
            PROJECT,
            relation,
            said,
            kind,
            id=fact_id(STATE, relation, said, since),
            confidence=CONFIDENCE[level],
            salience=SALIENCE[kind],
            sources=(f"{STATE}@{edit.id}",) if edit is not None else (),
            quote=title or None,
            origin=origin,
            level=level,
            valid_from=written(held_since if held_since is not None else time.time()),
        )

    def _introduced(self, title: str) -> Edit | None:
        """The edit that last put these words into the state."""
        spellings = [json.dumps(title, ensure_ascii=is_ascii) for is_ascii in (False, True)]

        def holds(lines: Iterable[str]) -> bool:
            return any(each in line for line in lines for each in spellings)

        for edit in self._pages.history.back(STATE):
            if holds(line for hunk in edit.hunks for line in hunk.added) and not holds(
                line for hunk in edit.hunks for line in hunk.removed
            ):
                return edit
        return None

    def _origin(self, author: str) -> str:
        """Whose words they are. The program itself writes only what the user said into the state."""
        if author == PERSON or (author == EXTERNAL and self._trusts):
            return "person"
        return "user" if author == PROGRAM else "assistant"


def _member(item: Item, name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _has_episode(path: str, text: str, own: dict[str, str]) -> bool:
    wanted = {name: short(value, len(value)) for name, value in own.items()}
    return any(
        all((each.get(name) or "") == value for name, value in wanted.items())
        for each in parse(path, text).episodes
    )


def _covers(held: Fact, fact: Fact) -> bool:
    """Whether nothing is to be written: it stands there, a better fact was made of the same sentence, or it was taken
    back since."""
    same = slot(held.topic, held.relation) == slot(fact.topic, fact.relation) and (
        key(held.object, held.relation) == key(fact.object, fact.relation)
    )
    title = (fact.quote or "").casefold()
    told = (
        bool(held.object)
        and is_trusted(held.level)
        and fact.object.casefold() == title  # else the fact says more: why
        and title in (held.quote or "").casefold()
        and held.object.casefold() in title
    )
    if not (same or told):
        return False
    if held.status == "current":
        return True
    ended = held.valid_to or written(held.recorded_at or 0.0)
    return held.status in ("rejected", "superseded") and ended >= (fact.valid_from or "")
