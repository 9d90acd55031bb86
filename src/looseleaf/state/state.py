"""The working state, `memory.state`: read and changed so that it stays sound and small.

Invariant: every change is one journaled edit of `state.json`, made from the bytes that were read. What leaves the state
is on a page first (`promote`); a broken file is left alone; repeating a change has no effect.
"""

from __future__ import annotations

from functools import partial

from looseleaf.base import ids as clock
from looseleaf.base.errors import Invalid, NotFound, Refused, Stale
from looseleaf.base.hashing import sha256
from looseleaf.base.paths import PROJECT, STATE
from looseleaf.base.values import Receipt
from looseleaf.log.journal import AGENT, PROGRAM
from looseleaf.state.file import RESTORED, StateFile
from looseleaf.state.provenance import Provenance
from looseleaf.state.rules import (
    CLOSED,
    WORD,
    Room,
    StateChange,
    blocker_text,
    compact,
    empty,
    find_blocker,
    find_task,
    for_prompt,
    items_of,
    moment,
    move,
    short,
    title_of,
)
from looseleaf.state.text import StateText, Unsound, author_of, require_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Protocol

    from looseleaf.pages.pages import Pages
    from looseleaf.state.rules import Item
    from looseleaf.state.rules import State as Values
    from looseleaf.store.context import Context

    Change = Callable[[Values], StateChange]
    Draft = Callable[[Values, float], StateChange | Values]
    """A change at a time; without a `StateChange`, nothing left the state yet."""

    class Needs(Protocol):
        @property
        def pages(self) -> Pages: ...
        def promote(self, change: StateChange, ts: float, author: str, edits: list[str]) -> None:
            """Write on pages what leaves the state. `edits` gets the ids of the edits made, even if it fails."""


_TITLES_SHOWN = 3
"""Titles that a note names of what left the state."""

_TRIES = 100
"""How often a change is retried while something else saves the file, before it is refused."""


class State:
    """The working state of a memory, read and changed."""

    def __init__(self, context: Context, parts: Needs) -> None:
        self._store, self._note, self._redact = context.store, context.note, context.redact
        self._parts = parts
        self._pages = parts.pages
        self._count, policy = context.count, context.policy
        self._room = Room(self._size, policy.state_tokens, policy.state_least_tokens)
        self.file = StateFile(context.store, parts.pages, context.note)
        trusts = policy.trust_external_edits
        self.provenance = Provenance(context.store, parts.pages, self.file, trusts=trusts)

    def _size(self, state: Values) -> int:
        """Count a state's tokens in a prompt. Counting loads a vocabulary: estimate where none exceeds the room."""
        from looseleaf.models.tokens import at_most, estimate

        text = compact(state)
        highest = at_most(text)
        return min(estimate(text), highest) if highest <= self._room.most else self._count(text)

    def __repr__(self) -> str:
        return f"State({self.shown()!r})"

    # --- reading -------------------------------------------------------------------------------

    def to_dict(self) -> Values:
        """Return all of it. A broken file is Refused, with the place of the fault; `shown` has its last version."""
        try:
            found = self.file.read()[0] or {}
        except Unsound as unsound:
            raise self.file.refused(unsound) from None
        whole = empty(0.0) | found
        if "updated_at" not in found:
            del whole["updated_at"]
        return whole

    def shown(self) -> Values:
        """Return the part that a prompt carries; while the file is broken, of its last sound version, with a note."""
        return for_prompt(self.file.now())

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
        """Set the goal and the current work; "" clears. Conventions are merged into the present ones, and None or ""
        removes one. Blockers replace all present ones."""
        words = StateText(self._redact)
        texts = words.aims(goal, now)
        named = words.conventions(conventions)
        stops = words.blockers(blockers)

        def change(state: Values, ts: float) -> Values:
            new = state | texts
            if named:
                known = state.get("conventions")
                merged = (known if isinstance(known, dict) else {}) | named
                new["conventions"] = {key: value for key, value in merged.items() if value not in (None, "")}
            return new if stops is None else new | {"blockers": [each for each in stops if each]}

        names = [*texts, *(f"conventions.{name}" for name in named)]
        names += ["blockers"] if stops is not None else []
        return self._edit(change, author, f"set: {', '.join(names)}" if names else "nothing set", words.said)

    def add_task(self, title: str, status: str = "open", *, author: str | None = None) -> Receipt:
        """Add a task. A title is there once; a status other than `open` replaces the present one."""
        words = StateText(self._redact)
        title, status = words.title(title, "task"), words.word(status, "status") or "open"
        if status.casefold() in CLOSED:
            raise Invalid(
                f"No task was added: {status!r} is the status of a closed task. Give an open one, such as open."
            )

        def change(state: Values, ts: float) -> StateChange:
            made = self._move(state, ts, tasks=[(title, status)])
            tasks = items_of(made.state, "tasks_open")
            old = next((each for each in tasks if title_of(each).casefold() == title.casefold()), None)
            if old is None or status == "open" or old.get("status") == status:
                return made
            tasks = [each | {"status": status} if each is old else each for each in tasks]
            return StateChange(made.state | {"tasks_open": tasks}, made.settled, made.parked, made.done)

        return self._edit(change, author, f"task: {title}", words.said)

    def done(self, name: str, *, author: str | None = None) -> Receipt:
        """Mark a task as done, by id or title: it becomes an episode."""
        which = StateText(self._redact).which(name, "id or title of a task")

        def change(state: Values, ts: float) -> StateChange:
            task = find_task(items_of(state, "tasks_open"), name)
            return self._move(state, ts, is_done=lambda each: each is task)

        return self._edit(change, author, f"task done: {which}", [])

    def decide(self, title: str, why: str = "", *, author: str | None = None) -> Receipt:
        """Add a decision. The same one is there once."""
        words = StateText(self._redact)
        title, why = words.title(title, "decision"), words.line(why, "why")

        def change(state: Values, ts: float) -> StateChange:
            return self._move(state, ts, decided=[(title, why)])

        return self._edit(change, author, f"decided: {title}", words.said)

    def revise(
        self,
        *,
        goal: str | None = None,
        now: str | None = None,
        tasks: Sequence[str] = (),
        done: Sequence[str] = (),
        decided: Sequence[tuple[str, str]] = (),
        author: str | None = None,
    ) -> Receipt:
        """Make one edit of all this, or none: the goal, the current work, new tasks, finished tasks (by id or title),
        and decisions with reasons."""
        words = StateText(self._redact)
        texts = words.aims(goal, now)
        taken = [(words.title(title, "task"), "open") for title in require_list(tasks, "tasks")]
        over = [words.which(name, "id or title of a task") for name in require_list(done, "finished tasks")]
        pairs = require_list(decided, "decisions")
        if any(len(require_list(pair, "decisions with reasons")) != 2 for pair in pairs):
            raise Invalid(
                f'{STATE} was not changed: give each decision with a reason, as in ("use tea", "").'
            )
        settled = [(words.title(title, "decision"), words.line(why, "why")) for title, why in pairs]

        def change(state: Values, ts: float) -> StateChange:
            finished = [find_task(items_of(state, "tasks_open"), name) for name in over]
            new = state | texts

            def is_done(each: Item) -> bool:
                return any(each is task for task in finished)

            return self._move(new, ts, tasks=taken, decided=settled, is_done=is_done)

        names = [*texts, *("task" for _ in taken), *("done" for _ in over), *("decision" for _ in settled)]
        return self._edit(change, author, f"set: {', '.join(dict.fromkeys(names))}", words.said)

    def block(self, text: str, *, author: str | None = None) -> Receipt:
        """Add a blocker."""
        words = StateText(self._redact)
        text = words.title(text, "blocker")

        def change(state: Values, ts: float) -> Values:
            there = items_of(state, "blockers")
            is_there = any(blocker_text(each).casefold() == text.casefold() for each in there)
            return state if is_there else state | {"blockers": [*there, text]}

        return self._edit(change, author, f"blocker: {text}", words.said)

    def unblock(self, name: str | int, *, author: str | None = None) -> Receipt:
        """Remove a blocker, by its text, its id, or its number from 1."""
        wanted = str(name) if type(name) is int else name
        which = StateText(self._redact).which(wanted, "blocker")

        def change(state: Values, ts: float) -> Values:
            there = items_of(state, "blockers")
            at = find_blocker(there, str(wanted))
            return state | {"blockers": [*there[:at], *there[at + 1 :]]}

        return self._edit(change, author, f"unblocked: {which}", [])

    def restore(self, *, author: str | None = None) -> Receipt:
        """Restore the last sound version of a broken or missing file."""
        author = author_of(author)
        with self._pages.absorb.threads, self._store.lock():
            base = None
            try:
                state, base = self.file.read()
                if base is not None and state is not None:
                    raise Refused(
                        f"Nothing was restored: {STATE} is sound. `looseleaf undo {STATE}` takes back its last edit."
                    )
            except Unsound as unsound:
                if unsound.line is None:  # unreadable, so its text could not be kept
                    raise self.file.refused(unsound) from None
                base = self._pages.page(STATE).sha256
            good = self.file.last_good()
            if good is None:
                raise NotFound(
                    f"Nothing was restored: no earlier version of {STATE} was sound. Fix it with an editor."
                )
            reason = f"{RESTORED}the version of {good.when}"
            receipt = self._pages.edit(STATE, good.data.decode(), base=base, reason=reason, author=author)
            self.file.build_views(good.state, receipt.new)
        return receipt

    # --- one change ----------------------------------------------------------------------------

    def _edit(self, change: Draft, author: str | None, reason: str, said: list[str]) -> Receipt:
        author = author_of(author)

        def make(state: Values) -> StateChange:
            ts = clock.now()
            found = change(state, ts)
            found = found if isinstance(found, StateChange) else self._move(found, ts)
            if found.state == state:
                return found
            state = found.state | {"updated_at": moment(ts)}
            return StateChange(state, found.settled, found.parked, found.done)

        receipt = self._change(make, clock.now(), author, reason, [])
        for sentence in said:
            self._note(sentence)
        return receipt if not said else receipt.but(held=(*receipt.held, *said))

    def _move(self, state: Values, ts: float, **given: Any) -> StateChange:
        return move(state, ts, room=self._room, highest=self.provenance.highest, **given)

    def move(self, change: Callable[..., StateChange], ts: float, reason: str, edits: list[str]) -> None:
        """Change the state as talk of a time says: `change` gets it with the `room` and the `highest` ids. `edits`
        gets the ids of all edits made, even if it fails."""
        make = partial(change, room=self._room, highest=self.provenance.highest)
        receipt = self._change(make, ts, PROGRAM, reason, edits)
        edits += [receipt.id] if receipt.changed else []

    def _change(
        self, change: Change, ts: float, author: str | None, reason: str, edits: list[str]
    ) -> Receipt:
        for _ in range(_TRIES):
            with self._pages.absorb.threads, self._store.lock():
                try:
                    return self._try(change, ts, author, reason, edits)
                except Stale:
                    continue  # saved meanwhile: apply ours on top of that
        raise Refused(
            f"{STATE} was not changed: something else keeps saving it. Close the program that does, and try again."
        )

    def _try(self, change: Change, ts: float, author: str | None, reason: str, edits: list[str]) -> Receipt:
        """Make the change once; what leaves the state is written on a page first."""
        try:
            found, base = self.file.read()
        except Unsound as unsound:
            raise self.file.refused(unsound) from None
        before = found if found is not None else empty(ts)
        made = change(before)
        text = self._text_of(before, made.state) if made.state != before else ""
        if made.done or made.settled or made.parked:
            self._promote(made, ts, author or AGENT, edits)
        if made.state == before:
            return Receipt("", STATE, base, base, 0, 0, changed=False)
        receipt = self._pages.edit(STATE, text, base=base, reason=reason, author=author)
        self.file.build_views(made.state, sha256(text.encode()))
        return receipt

    def _text_of(self, before: Values, after: Values) -> str:
        """Return the text of a new state, if it fits. One that a person made too large may still get smaller."""
        size, most = self._size(after), self._room.most
        if size > most and size > self._size(before):
            raise Refused(
                f"{STATE} was left as it is: it would take {size} tokens, and every prompt has room for {most}. "
                "Shorten the goal, conventions and blockers, or write them on PROJECT.md or a page in facts/."
            )
        return self.file.text_of(after)

    def _promote(self, made: StateChange, ts: float, author: str, edits: list[str]) -> None:
        self._parts.promote(made, ts, author, edits)
        moved = [title_of(each) for each in (*made.settled, *made.parked)]
        if moved:
            what = ", ".join(f"“{short(title, WORD)}”" for title in moved[:_TITLES_SHOWN])
            more = f" and {len(moved) - _TITLES_SHOWN} more" if len(moved) > _TITLES_SHOWN else ""
            self._note(f"{STATE} is full: {what}{more} moved to facts/{PROJECT}.md.")
