"""Tidy: bring USER.md back to what every prompt can carry, by moving its less essential facts to `facts/user.md`.

No fact changes by it, and that is proved before anything is written. The page that is added to is written first: a
crash between leaves a fact on both pages, never on none, and the next tidying takes one of its lines away.
"""

from __future__ import annotations

from itertools import dropwhile, islice

from looseleaf.base import clock
from looseleaf.base.errors import Refused
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import PINNED
from looseleaf.facts.ledger import copy_id
from looseleaf.facts.placement import PROFILE, USER
from looseleaf.facts.profile import LINES, is_passed
from looseleaf.log.heads import PROGRAM
from looseleaf.log.journal import make_edit
from looseleaf.pages.grammar import parse, set_updated
from looseleaf.pages.page import Rewritten
from looseleaf.place import tidy_plan
from looseleaf.place.placer import known
from looseleaf.place.tidy_plan import PAGE
from looseleaf.store import JOURNAL
from looseleaf.text.times import day, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looseleaf.base.policy import Policy
    from looseleaf.base.values import Edit, Fact, Receipt
    from looseleaf.facts.known_facts import Facts
    from looseleaf.pages.page import Page
    from looseleaf.pages.pages import Pages
    from looseleaf.place.placer import Place
    from looseleaf.place.tidy_plan import Planned
    from looseleaf.store.protocol import Store

    Step = tuple[Page, Rewritten, str]
    """A page as it was read, what becomes of it, and why."""

REASON = "tidy: "
"""How the reasons of these edits begin. By them it is known when USER.md was last tidied."""

_TRIES = 20
"""How often it is planned anew when somebody saves one of the pages in the same moment."""


@frozen
class Tidied:
    """What went to `facts/user.md`, or would go. `merged` are those of `moved` that stood there already; `note` is a
    sentence where USER.md is too long all the same."""

    moved: tuple[Fact, ...]
    merged: tuple[Fact, ...]
    before: int
    after: int
    limit: int
    note: str
    edits: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "moved": [fact.to_dict() for fact in self.moved],
            "merged": [fact.id for fact in self.merged],
            "tokens_before": self.before,
            "tokens_after": self.after,
            "limit": self.limit,
            "note": self.note,
            "edits": list(self.edits),
        }


class _Anew(Exception):
    """A page is not what was planned for: somebody saved it, and his text counts."""


class Tidy:
    """`count` counts the tokens of a text."""

    def __init__(
        self,
        store: Store,
        pages: Pages,
        facts: Facts,
        place: Place,
        policy: Policy,
        count: Callable[[str], int],
        note: Callable[[str], None],
    ) -> None:
        self._store = store
        self._pages = pages
        self._facts = facts
        self._place = place
        self._policy = policy
        self._count = count
        self._note = note

    def __call__(self, *, dry_run: bool = False) -> Tidied:
        """Move what is less essential, until USER.md is short enough. `dry_run` only says what would move."""
        edits: list[str] = []
        first: int | None = None
        for _ in range(_TRIES):
            with self._pages.absorb.threads, self._store.lock():
                self._place.catch_up()
                profile, page = self._pages.page(PROFILE), self._pages.page(PAGE)
                planned = self._planned(profile, page)
                first = planned.before if first is None else first
                try:
                    if not dry_run:
                        self._write(planned, profile, page, edits)
                except _Anew:
                    continue
                return self._said(planned, first, tuple(edits))
        raise Refused(
            f"{PROFILE} was not tidied: something else keeps saving it. Close the program that does, and repeat."
        )

    def _planned(self, profile: Page, page: Page) -> Planned:
        limit = self._policy.profile_tokens
        target = int(limit * self._policy.tidy_to)
        texts = _decoded(profile), _decoded(page)
        today = day(clock.now())
        return tidy_plan.plan(
            self._facts.of(USER), *texts, self._size, limit, target, self._summarised, today
        )

    def _size(self, text: str) -> int:
        """Its tokens; and a page of many short lines is as long as one of many words."""
        lines = len(parse(PROFILE, text).facts)
        return max(self._count(text), lines * self._policy.profile_tokens // LINES)

    def _summarised(self, text: str) -> str:
        """A summary by rule is of what is left; one that somebody wrote stays, and where there is none there is
        none."""
        sheet = self._facts.sheet(PROFILE)
        is_by_rule = sheet is not None and sheet.is_summary_by_rule
        return self._place.summarised(PROFILE, text) if is_by_rule and parse(PROFILE, text).summary else text

    def _said(self, planned: Planned, before: int, edits: tuple[str, ...]) -> Tidied:
        limit = self._policy.profile_tokens
        note = (
            f"{PROFILE} has {planned.after:,} tokens without them, and should have at most {limit:,}: what is left is "
            "prose, headings and lines that others belong to, which only you may move. Shorten it by hand."
        )
        merged = tuple(fact for fact, _ in planned.merged)
        return Tidied(
            planned.moved, merged, before, planned.after, limit, note if planned.after > limit else "", edits
        )

    # --- writing ---------------------------------------------------------------------------

    def _write(self, planned: Planned, profile: Page, page: Page, edits: list[str]) -> None:
        """Both pages, or nothing. The second page first."""
        now = clock.now()
        told = tuple(known(fact) for fact in planned.told)
        text = planned.page
        if text != page.text:
            text = self._place.summarised(PAGE, set_updated(text, PAGE, day(now)), told)
        number = (
            f"{len(planned.moved)} fact{'s' * (len(planned.moved) != 1)}" if planned.moved else "second lines"
        )
        profile_now = Rewritten(planned.profile, (), planned.ended(written(now)))
        steps = self._in_order(
            (page, Rewritten(text, told), f"{REASON}{number} from {PROFILE}"),
            (profile, profile_now, f"{REASON}{number} to {PAGE}"),
        )
        self._prove(planned, steps, now)
        for old, new, reason in steps:
            if new.text != old.text:
                receipt = self._pages.rewrite(old.path, self._only_from(old, profile, new), reason=reason)
                edits.append(receipt.id)
                self._facts.catch_up()

    def _in_order(self, arrival: Step, departure: Step) -> tuple[Step, Step]:
        """A fact arrives before it departs."""
        return arrival, departure

    def _only_from(self, old: Page, profile: Page, new: Rewritten) -> Callable[[str], Rewritten]:
        """A change that is made to exactly what was read, and while USER.md is what was read."""

        def change(text: str) -> Rewritten:
            if text != old.text or self._pages.absorb.heads.get(PROFILE).sha256 != profile.sha256:
                raise _Anew
            return new

        return change

    def _prove(self, planned: Planned, steps: tuple[Step, ...], now: float) -> None:
        """Fold both edits into a copy of the ledger: the facts after are the facts before, or nothing is done."""
        edits = [
            make_edit(
                f"{REASON}{old.path}",
                now,
                old.path,
                PROGRAM,
                reason,
                old.data if old.exists else None,
                new.text.encode(),
                facts=new.facts,
                ended=new.ended,
            )
            for old, new, reason in steps
            if new.text != old.text
        ]
        sheets = [sheet for sheet in map(self._facts.sheet, (PROFILE, PAGE)) if sheet is not None]
        wrong = tidy_plan.changed_by(edits, self._facts.of(USER), sheets, planned)
        if wrong:
            raise Refused(
                f"{PROFILE} was not tidied: “{wrong[0].relation}: {wrong[0].object}” ({wrong[0].id}) would not be the "
                f"same fact afterwards. Move lines to {PAGE} by hand instead."
            )

    # --- undoing ---------------------------------------------------------------------------

    def undo(self, author: str | None) -> tuple[Edit, Receipt] | None:
        """Take back both edits of a tidying, if it was the last thing that was done; else None."""
        with self._pages.absorb.threads, self._store.lock():
            self._pages.absorb()
            last = self._pages.history.last_to_undo(None)
            first = self._first_of(last) if last is not None and last.path == PROFILE else None
            if last is None or first is None:
                return None
            self._pages.undo(PROFILE, author=author)
            _, receipt = self._pages.undo(PAGE, author=author)
            self._facts.catch_up()
        return last, receipt

    def _first_of(self, last: Edit) -> Edit | None:
        """The other edit of the tidying that this one ended: it stands right before, and its page is still that."""
        edits = dropwhile(lambda edit: edit.id != last.id, self._pages.history.back())
        pair = [edit for edit in islice(edits, 2) if _is_tidying(edit)]
        if len(pair) < 2 or pair[1].path != PAGE:
            return None
        there = self._pages.history.last_to_undo(PAGE)
        return there if there is not None and there.id == pair[1].id else None

    # --- by itself -------------------------------------------------------------------------

    def after_placing(self) -> None:
        """Finish what a crash interrupted; and, where the settings want it, tidy once in a while. What cannot be done
        is said: it is no reason not to go on."""
        try:
            if (
                self._is_unfinished()
                or self._is_crowded()
                or self._is_stale()
                or (self._policy.tidy and self._is_long() and self._is_due())
            ):
                self()
        except Refused as refused:
            self._note(str(refused))

    def _is_unfinished(self) -> bool:
        facts = self._facts.of(USER)
        there = {fact.id for fact in facts if fact.path == PAGE}
        return bool(there) and any(copy_id(fact.id or "") in there for fact in facts)

    def _is_crowded(self) -> bool:
        return len(parse(PROFILE, self._pages.page(PROFILE).text).facts) > LINES

    def _is_stale(self) -> bool:
        """Whether a plan stands there that is over."""
        today = day(clock.now())
        here = (fact for fact in self._facts.of(USER) if fact.path == PROFILE and fact.status == "current")
        return any(is_passed(fact, today) and PINNED not in fact.tags for fact in here)

    def _is_long(self) -> bool:
        """No token is less than a byte: a short page needs no counting."""
        return len(self._pages.page(PROFILE).data) > self._policy.profile_tokens

    def _is_due(self) -> bool:
        since = clock.now() - self._policy.tidy_days * 86_400
        for line in self._store.read_back(JOURNAL):
            record = line.record
            if float(record.get("ts") or 0.0) < since:
                break
            if record.get("author") == PROGRAM and str(record.get("reason")).startswith(REASON):
                return False
        return True


def _is_tidying(edit: Edit) -> bool:
    return edit.author == PROGRAM and edit.reason.startswith(REASON)


def _decoded(page: Page) -> str:
    try:
        return page.data.decode()
    except UnicodeDecodeError:
        raise Refused(
            f"{PROFILE} was not tidied: {page.path} is not UTF-8 text. Save it as UTF-8 with an editor, and repeat."
        ) from None
