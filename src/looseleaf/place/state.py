"""State: what `memory.state` is. Reads the working state, and changes it so that it stays sound, small and whole.

Invariant: every change is one journaled edit of `state.json`, made from the bytes that were read. What it takes out of
the state is on a page before (`promote.py`); a broken file is left alone; the same change made again changes nothing.
"""

from __future__ import annotations

import time

from looseleaf.core.heads import AGENT, PROGRAM
from looseleaf.core.lines import escape
from looseleaf.core.paths import STATE
from looseleaf.core.placing import PROJECT
from looseleaf.core.state import (
    CLOSED,
    TITLE,
    WORD,
    Change,
    Room,
    blocker_at,
    blocker_text,
    compact,
    empty,
    items_of,
    moment,
    move,
    short,
    task_named,
    title_of,
)
from looseleaf.core.state_text import Unsound
from looseleaf.errors import Refused, Stale
from looseleaf.place.state_file import StateFile, hash_of
from looseleaf.values import Receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from looseleaf.core.state import Item
    from looseleaf.core.state import State as Values
    from looseleaf.pages import Pages
    from looseleaf.place.place import Place
    from looseleaf.policy import Policy
    from looseleaf.store.protocol import Store

_SENTENCE = 300
"""Characters of a goal, a reason, a convention."""

_SURE, _SURE_ASCII = 250, 500
"""Up to here a guess of the tokens is good enough: scripts that it knows badly take up to three times as many."""

_NAMED = 3
"""What left the state, of which a note says the titles."""

_TRIES = 100
"""How often a change is made anew when somebody saves the file in the same moment, before saying so."""


def sized(count: Callable[[str], int]) -> Callable[[Values], int]:
    """What a state costs in a prompt. Counted only where a guess could be wrong: that loads a vocabulary."""

    def size(state: Values) -> int:
        from looseleaf.llm.tokens import estimate

        text = compact(state)
        guess = estimate(text)
        return guess if guess <= (_SURE_ASCII if text.isascii() else _SURE) else count(text)

    return size


def room_in(policy: Policy, count: Callable[[str], int]) -> Room:
    return Room(sized(count), policy.state_tokens, policy.state_least_tokens)


def refuse_too_large(room: Room, before: Values, after: Values) -> None:
    """What cannot be moved to a page must fit. A state that a person made too large may still get smaller."""
    size = room.size(after)
    if size > room.most and size > room.size(before):
        raise Refused(
            f"{STATE} was left as it is: it would take {size} tokens, and every prompt has room for {room.most}. Say "
            "the goal, conventions and blockers in fewer words, or write them on PROJECT.md or a page in facts/."
        )


class State:
    """`clean` takes secrets out of a text, `count` counts its tokens, `note` is told what could not be done."""

    def __init__(
        self,
        store: Store,
        pages: Pages,
        policy: Policy,
        clean: Callable[[Any], Any],
        count: Callable[[str], int],
        note: Callable[[str], None],
        place: Callable[[], Place],
    ) -> None:
        self._place = place
        self._store = store
        self._pages = pages
        self._policy = policy
        self._clean = clean
        self._note = note
        self._room = room_in(policy, count)
        self.file = StateFile(store, pages, note)

    def __repr__(self) -> str:
        return f"State({self.shown()!r})"

    # --- reading -------------------------------------------------------------------------------

    def to_dict(self) -> Values:
        """All of it. A file that is broken is Refused, with the place of the fault; there, `shown` says what it was."""
        try:
            found = self.file.read()[0] or {}
        except Unsound as unsound:
            raise self.file.refused(unsound) from None
        whole = empty(0.0) | found
        if "updated_at" not in found:
            del whole["updated_at"]
        return whole

    def shown(self) -> Values:
        """What of it a prompt carries; while the file is broken, of what it last was, and `memory.notes` says so."""
        return self.file.shown()

    @property
    def goal(self) -> str:
        return str(self.to_dict()["goal"])

    @property
    def now(self) -> str:
        return str(self.to_dict()["now"])

    @property
    def decisions_recent(self) -> list[Item]:
        return list(self.to_dict()["decisions_recent"])

    @property
    def tasks_open(self) -> list[Item]:
        return list(self.to_dict()["tasks_open"])

    @property
    def conventions(self) -> dict[str, Any]:
        return dict(self.to_dict()["conventions"])

    @property
    def blockers(self) -> list[Any]:
        return list(self.to_dict()["blockers"])

    # --- changing ------------------------------------------------------------------------------

    def update(
        self,
        *,
        goal: str | None = None,
        now: str | None = None,
        conventions: Mapping[str, str | int | float | bool | None] | None = None,
        blockers: Sequence[str | Mapping[str, Any]] | None = None,
        author: str | None = None,
    ) -> Receipt:
        """Say what is wanted and what is being done; "" clears. Conventions are laid over those that are there, and one
        that is None or "" goes. Blockers are given all together."""
        said: list[str] = []
        texts = {
            name: self._line(text, said, name)
            for name, text in (("goal", goal), ("now", now))
            if text is not None
        }
        named = {
            self._name(name): self._value(name, value, said) for name, value in (conventions or {}).items()
        }
        stops = [self._blocker(each, said) for each in blockers] if blockers is not None else None

        def change(state: Values, ts: float) -> Values:
            new = state | texts
            if named:
                merged = {**_members(state, "conventions"), **named}
                new["conventions"] = {
                    name: value for name, value in merged.items() if value not in (None, "")
                }
            return new if stops is None else new | {"blockers": [each for each in stops if each]}

        names = [
            *texts,
            *(f"conventions.{name}" for name in named),
            *(["blockers"] if stops is not None else []),
        ]
        return self._edit(change, author, f"set: {', '.join(names)}" if names else "nothing set", said)

    def add_task(self, title: str, status: str = "open", *, author: str | None = None) -> Receipt:
        """Take on a task. One of the same title is there once; another status than `open` is then the new one."""
        said: list[str] = []
        title, status = self._title(title, "task", said), short(self._clean(str(status)), WORD) or "open"
        if status.casefold() in CLOSED:
            raise Refused(
                f"No task was added: the status {status!r} is of one that is over, and {STATE} has open ones."
            )

        def change(state: Values, ts: float) -> Change:
            made = move(state, ts, tasks=[(title, status)], room=self._room)
            tasks = items_of(made.state, "tasks_open")
            old = next((each for each in tasks if title_of(each).casefold() == title.casefold()), None)
            if old is None or status == "open" or old.get("status") == status:
                return made
            new = old | {"status": status}
            tasks = [new if each is old else each for each in tasks]
            return Change(made.state | {"tasks_open": tasks}, made.settled, made.parked, made.done)

        return self._edit(change, author, f"task: {title}", said)

    def done(self, name: str, *, author: str | None = None) -> Receipt:
        """A task is done, by its id or its title: it becomes an episode."""

        def change(state: Values, ts: float) -> Change:
            task = task_named(items_of(state, "tasks_open"), name)
            return move(state, ts, is_done=lambda each: each is task, room=self._room)

        return self._edit(change, author, f"task done: {short(self._clean(name))}", [])

    def decide(self, title: str, why: str = "", *, author: str | None = None) -> Receipt:
        """Something was decided. The same decision is there once."""
        said: list[str] = []
        title, why = self._title(title, "decision", said), self._line(why, said, "why")
        return self._edit(
            lambda state, ts: move(state, ts, decided=[(title, why)], room=self._room),
            author,
            f"decided: {title}",
            said,
        )

    def block(self, text: str, *, author: str | None = None) -> Receipt:
        """Something stands in the way."""
        said: list[str] = []
        text = self._title(text, "blocker", said)

        def change(state: Values, ts: float) -> Values:
            there = items_of(state, "blockers")
            is_there = any(blocker_text(each).casefold() == text.casefold() for each in there)
            return state if is_there else state | {"blockers": [*there, text]}

        return self._edit(change, author, f"blocker: {text}", said)

    def unblock(self, name: str, *, author: str | None = None) -> Receipt:
        """A blocker is out of the way: by its text, its id, or its number from 1."""

        def change(state: Values, ts: float) -> Values:
            there = items_of(state, "blockers")
            at = blocker_at(there, name)
            return state | {"blockers": [*there[:at], *there[at + 1 :]]}

        return self._edit(change, author, f"unblocked: {short(self._clean(name))}", [])

    def restore(self, *, author: str | None = None) -> Receipt:
        """Put the last sound version in place of a file that is broken, or gone."""
        with self._pages.absorb.threads, self._store.lock():
            base = None
            try:
                state, base = self.file.read()
                if base is not None and state is not None:
                    raise Refused(
                        f"Nothing was restored: {STATE} is sound. `looseleaf undo {STATE}` takes back its last edit."
                    )
            except Unsound as unsound:
                if unsound.line is None:  # it cannot even be read, so nothing could keep what it says
                    raise self.file.refused(unsound) from None
                base = self._pages.page(STATE).sha256
            good = self.file.last_good()
            if good is None:
                raise Refused(
                    f"Nothing was restored: no earlier version of {STATE} was sound. Mend it with an editor."
                )
            receipt = self._pages.edit(
                STATE,
                good.data.decode(),
                base=base,
                reason=f"restored: the version of {good.when}",
                author=author,
            )
            self.file.built(good.state, receipt.new)
        return receipt

    # --- one change ----------------------------------------------------------------------------

    def _edit(
        self,
        change: Callable[[Values, float], Change | Values],
        author: str | None,
        reason: str,
        said: list[str],
    ) -> Receipt:
        def made(state: Values) -> Change:
            ts = time.time()
            found = change(state, ts)
            found = found if isinstance(found, Change) else move(found, ts, room=self._room)
            if found.state == state:
                return found
            state = found.state | {"updated_at": moment(ts)}
            return Change(state, found.settled, found.parked, found.done)

        receipt = self._change(made, time.time(), author, reason, [])
        for sentence in said:
            self._note(sentence)
        return receipt if not said else receipt.but(held=(*receipt.held, *said))

    def move(self, change: Callable[..., Change], ts: float, reason: str, edits: list[str]) -> None:
        """As talk of a time moves it: `change` makes of a state, and the `room` there is, what it is then. `edits` gets
        the ids of all edits that were made, also if it is not finished."""
        receipt = self._change(lambda state: change(state, room=self._room), ts, PROGRAM, reason, edits)
        edits += [receipt.id] if receipt.changed else []

    def _change(
        self,
        change: Callable[[Values], Change],
        ts: float,
        author: str | None,
        reason: str,
        edits: list[str],
    ) -> Receipt:
        for _ in range(_TRIES):
            with self._pages.absorb.threads, self._store.lock():
                try:
                    return self._try(change, ts, author, reason, edits)
                except Stale:
                    continue  # somebody saved in this moment: their change first, then ours on top of it
        raise Refused(
            f"{STATE} was not changed: something else keeps saving it. Close the program that does, and repeat."
        )

    def _try(
        self,
        change: Callable[[Values], Change],
        ts: float,
        author: str | None,
        reason: str,
        edits: list[str],
    ) -> Receipt:
        """What leaves the state is on a page before it does."""
        try:
            found, base = self.file.read()
        except Unsound as unsound:
            raise self.file.refused(unsound) from None
        before = found if found is not None else empty(ts)
        made = change(before)
        text = ""
        if made.state != before:
            refuse_too_large(self._room, before, made.state)
            text = self.file.text_of(made.state)
        if made.done or made.settled or made.parked:
            self._promote(made, ts, author or AGENT, edits)
        if made.state == before:
            return Receipt("", STATE, base, base, 0, 0, changed=False)
        receipt = self._pages.edit(STATE, text, base=base, reason=reason, author=author)
        self.file.built(made.state, hash_of(text))
        return receipt

    def _promote(self, made: Change, ts: float, author: str, edits: list[str]) -> None:
        from looseleaf.place.promote import Promotion  # mostly the state is only read

        promotion = Promotion(self._pages, self._place(), author, trusts=self._policy.trust_external_edits)
        try:
            promotion(made, ts)
        finally:
            edits += promotion.edits
        moved = [title_of(each) for each in (*made.settled, *made.parked)]
        if moved:
            what = ", ".join(f"“{short(title, WORD)}”" for title in moved[:_NAMED])
            more = f" and {len(moved) - _NAMED} more" if len(moved) > _NAMED else ""
            self._note(f"There was no more room in {STATE}: {what}{more} stands on facts/{PROJECT}.md now.")

    # --- what goes in --------------------------------------------------------------------------

    def _line(self, text: str, said: list[str], what: str, most: int = _SENTENCE) -> str:
        """One line without secrets, cut where it is too long; `said` then says so."""
        line = escape(self._clean(str(text)))
        if len(line) > most:
            said.append(
                f"The {what} was cut after {most} characters: it had {len(line)}, and {STATE} is in every prompt. "
                "Write the rest on a page."
            )
        return short(line, most)

    def _title(self, title: str, what: str, said: list[str]) -> str:
        line = self._line(title, said, what, TITLE)
        if not line:
            raise Refused(f"{STATE} was not changed: the {what} says nothing. Say it in a few words.")
        return line

    def _name(self, name: str) -> str:
        line = escape(self._clean(str(name)))
        if not line or len(line) > WORD:
            raise Refused(
                f"{STATE} was not changed: {short(line, WORD)!r} is no name for a convention. Give a word or two."
            )
        return line

    def _value(self, name: str, value: Any, said: list[str]) -> str | int | float | bool | None:
        if isinstance(value, str):
            return self._line(value, said, f"convention {short(name, WORD)}")
        if value is None or isinstance(value, (bool, int, float)):
            return value
        raise Refused(
            f"{STATE} was not changed: the convention {short(str(name), WORD)!r} is a {type(value).__name__}. Give a "
            "text, a number, or true or false."
        )

    def _blocker(self, blocker: str | Mapping[str, Any], said: list[str]) -> Any:
        if isinstance(blocker, str):
            return self._line(blocker, said, "blocker", TITLE)
        kept: dict[str, Any] = self._clean(dict(blocker))
        return kept | {"title": self._title(blocker_text(kept), "blocker", said)}


def _members(state: Values, name: str) -> dict[str, Any]:
    found = state.get(name)
    return found if isinstance(found, dict) else {}
