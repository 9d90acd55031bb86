"""The working state, `memory.state`: read and changed so that it stays sound and small; and who wrote what in it.

Invariant: every change is one journaled edit of `state.json`, made from the bytes that were read. What leaves the state
is on a page first (`promote`); a broken file is left alone; repeating a change has no effect.

The authors come from the journal's edits (FORMAT §13.1). Invariant: a value of the state belongs to its first author
while it stays in every version, however the file is spelled; rewriting a file vouches for nothing in it. A view keeps
the authors by the page's last edit, so that an unchanged page costs nothing.
"""

from __future__ import annotations

import json
import re
from functools import partial

from looseleaf.base import ids as clock
from looseleaf.base.errors import Invalid, NotFound, Refused, Stale
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import PROJECT, STATE
from looseleaf.base.values import Edit, Receipt, sha256, sha256_or_none
from looseleaf.log.journal import (
    AGENT,
    EXTERNAL,
    MERGED,
    PERSON,
    PROGRAM,
    UNKNOWN,
    BrokenEdit,
    backward,
    edit_of,
    forward,
)
from looseleaf.log.talk_streams import journals, machine_of
from looseleaf.pages.outside_edits import load_view, save_view
from looseleaf.state.file import RESTORED, StateFile
from looseleaf.state.rules import (
    CLOSED,
    LISTS,
    WORD,
    Room,
    StateChange,
    StateText,
    Unsound,
    author_of,
    blocker_text,
    compact,
    empty,
    find_blocker,
    find_task,
    for_prompt,
    highest_id,
    items_of,
    moment,
    move,
    require_list,
    short,
    title_of,
)
from looseleaf.store import records
from looseleaf.text.lines import body

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    from looseleaf.base.values import Position
    from looseleaf.pages.pages import Pages
    from looseleaf.state.rules import Item
    from looseleaf.state.rules import State as Values
    from looseleaf.store.context import Context
    from looseleaf.store.protocol import Store

    Value = tuple[str, ...]
    Version = tuple[Edit, bytes | None, bool]
    """An edit, the page after it (None: deleted), and whether that is known."""

    Change = Callable[[Values], StateChange]
    Draft = Callable[[Values, float], StateChange | Values]
    """A change at a time; without a `StateChange`, nothing left the state yet."""

    class Needs(Protocol):
        @property
        def pages(self) -> Pages: ...
        def kept_out(self, topic: str, lines: Iterable[str]) -> str: ...
        def promote(self, change: StateChange, ts: float, author: str, edits: list[str]) -> None:
            """Write on pages what leaves the state. `edits` gets the ids of the edits made, even if it fails."""


# --- provenance: the authors of a page's words ------------------------------------------

VIEW = "views/authors.json"
SCHEMA = "authors.v1"

_SHOWN = ("id", "why", "ts", "status", "updated_at")
_SAVE_EVERY = 8
"""Edits of the state after which the view is written again: fewer are as quickly read. Other pages change seldom."""

_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@frozen
class Origin:
    """Who put a value into the state, and by which edit."""

    author: str
    edit: str


@frozen
class KnownAuthors:
    """The authors of a page up to an edit. For the state: its values, and the highest id number each list ever had;
    for other pages: the author of each line that a person wrote or that was found on disk."""

    edit: str | None
    values: dict[Value, Origin]
    highest: dict[str, int]
    lines: dict[str, str]


NOTHING = KnownAuthors(None, {}, {}, {})

_FOUND = (EXTERNAL, UNKNOWN)
"""The authors of what was found on disk."""


_TOLD = 4
"""The parts of a value that is told of a title: list, title, member, words."""


def values_of(state: Values) -> Iterator[Value]:
    """Yield each value of a state with its name."""
    for name in ("goal", "now"):
        text = state.get(name)
        if isinstance(text, str) and text:
            yield name, text
    for name in LISTS:
        for row in items_of(state, name):
            if title := title_of(row):
                yield name, title
                for member in _SHOWN:
                    if isinstance(row.get(member), str) and row[member]:
                        yield name, title, member, row[member]
    conventions = state.get("conventions")
    for name, value in conventions.items() if isinstance(conventions, dict) else ():
        yield "conventions", name, value if isinstance(value, str) else json.dumps(value)
    for blocker in items_of(state, "blockers"):
        if text := blocker_text(blocker):
            yield "blockers", text


def state_authors(
    versions: Iterable[Version], known: KnownAuthors, sound: Callable[[str | None, bytes], Values | None]
) -> KnownAuthors:
    """Return the authors of the state after these versions, oldest first. `sound` reads one; None: it is broken.

    A broken version is skipped; what first appears in it belongs to its author, even if another fixes the file. What
    an undo or a restore brings back keeps its author.
    """
    held, highest, last = known.values, dict(known.highest), known.edit
    before: dict[str, dict[Value, Origin]] = {}
    unread: list[tuple[Edit, str]] = []
    for edit, data, is_known in versions:
        last = edit.id
        if is_known and data is None:
            held = {}
            unread.clear()
            continue
        state = sound(edit.new, data) if data is not None else None
        if state is None:
            unread.append((edit, _plain_text(edit, data)))
            continue
        again = before.get(edit.new or "") if _is_restore(edit) else None
        if again is None:
            again = {each: held.get(each) or _first_author(each, unread, edit) for each in values_of(state)}
        held = before[edit.new or ""] = again
        unread.clear()
        for name in LISTS:
            highest[name] = max(highest.get(name, 0), highest_id(items_of(state, name)))
    return KnownAuthors(last, held, highest, {})


def first_authors(
    versions: Iterable[Version], sound: Callable[[str | None, bytes], Values | None]
) -> dict[Value, Origin]:
    """Return the author of each value that a machine put into the state itself, at any time. Files that it only found
    count if nothing else does: a copier may have brought them."""
    own: dict[Value, Origin] = {}
    found: dict[Value, Origin] = {}
    before: set[Value] = set()
    for edit, data, _ in versions:
        state = sound(edit.new, data) if data is not None else None
        if state is None and data is not None:
            continue
        now = set(values_of(state or {}))
        if edit.merge is None:
            first = found if edit.author in _FOUND else own
            for value in now - before:
                first.setdefault(value, Origin(edit.author, edit.id))
        before = now
    return found | own


def _first_author(value: Value, unread: Sequence[tuple[Edit, str]], edit: Edit) -> Origin:
    """Return the author of a new value: of the first broken version that has it, rather than who fixed the file."""
    parts = value[1:2] + value[3:]
    found = next((each for each, text in unread if all(part in text for part in parts)), edit)
    return Origin(found.author if found.merge is None else MERGED, found.id)


def _plain_text(edit: Edit, data: bytes | None) -> str:
    """Return the readable text of a broken version, with its escapes resolved."""
    if data is not None:
        text = data.decode("utf-8", "replace")
    else:
        text = "".join(line for hunk in edit.hunks for line in hunk.added)

    def unescape(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else _LETTERS.get(found[2], found[2])

    text = _ESCAPED.sub(unescape, text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # join surrogate halves


def _is_restore(edit: Edit) -> bool:
    is_ours = edit.author not in _FOUND
    return edit.undoes is not None or (is_ours and edit.reason.startswith(RESTORED))


def line_authors(edits: Iterable[Edit], known: KnownAuthors) -> KnownAuthors:
    """Return the authors of another page's lines, without lines that an agent or the program wrote too."""
    lines, last = dict(known.lines), known.edit
    for edit in edits:
        last = edit.id
        added = {line.strip() for hunk in edit.hunks for line in hunk.added} - {""}
        if edit.author in (PERSON, EXTERNAL, UNKNOWN):
            lines |= dict.fromkeys(added, edit.author)
        else:
            for line in added:
                lines.pop(line, None)
    return KnownAuthors(last, {}, {}, lines)


class Provenance:
    """The authors of a memory's pages. `trusts`: edits found on disk are a person's."""

    def __init__(self, store: Store, pages: Pages, file: StateFile, *, trusts: bool) -> None:
        self._store = store
        self._file = file
        self._pages = pages
        self._trusts = trusts
        self._known: dict[str, KnownAuthors] = {}
        self._view: dict[str, Any] | None = None
        self._elsewhere: tuple[tuple[Position, ...], dict[Value, Origin]] | None = None

    def values(self) -> dict[Value, Origin]:
        """Return the author of each value of the state (while it is broken: of its last sound version). What came from
        other machines, with their logs or as a file, belongs to who wrote it there."""
        values = self._known_of(STATE).values
        came = {value for value, by in values.items() if by.author == MERGED or by.author in _FOUND}
        if not came or not self._store.machines():
            return values
        there = self._find_authors_elsewhere()
        return {value: there.get(value, by) if value in came else by for value, by in values.items()}

    def _find_authors_elsewhere(self) -> dict[Value, Origin]:
        """Return the first author of each value that other machines wrote. Cached while their journals are the same."""
        streams = journals(self._store)[1:]
        ends = tuple(self._store.end(each) for each in streams)
        if self._elsewhere is None or self._elsewhere[0] != ends:
            found: dict[Value, Origin] = {}
            for stream in streams:
                lines = (line.record for line in self._store.read(stream) if line.record.get("path") == STATE)
                shown = (self._store.shown(machine_of(stream), record) for record in lines)
                edits = [edit for record in shown if (edit := edit_of(record)) is not None]
                for value, by in first_authors(_versions(edits, None), self._file.sound).items():
                    if value not in found or _rank(by) < _rank(found[value]):
                        found[value] = by
            self._elsewhere = ends, found
        return self._elsewhere[1]

    def highest(self, name: str) -> int:
        """Return the highest id number that a list of the state ever had."""
        return self._known_of(STATE).highest.get(name, 0)

    def doubtful(self, path: str) -> list[str]:
        """Return the lines of a page, or the values of the state, without a trusted author. An edit journaled as
        unknown stays so, whatever the setting is now."""
        if path == STATE:
            return [": ".join(value) for value, by in self.values().items() if self._is_doubtful(by.author)]
        lines = self._known_of(path).lines
        if not any(map(self._is_doubtful, lines.values())):
            return []
        return [line for line in self._lines_now(path) if self._is_doubtful(lines.get(line, ""))]

    def people(self, path: str) -> set[str]:
        """Return the lines of a page that a person wrote, without their ends."""
        lines = {line for line, by in self._known_of(path).lines.items() if by in (PERSON, EXTERNAL)}
        (text,) = self._pages.texts([path])
        return {line for line in map(body, text.split("\n")) if line.strip() in lines}

    def _is_doubtful(self, author: str) -> bool:
        return author == UNKNOWN or (author == EXTERNAL and not self._trusts)

    def _lines_now(self, path: str) -> list[str]:
        (text,) = self._pages.texts([path])
        return [line for line in map(str.strip, text.splitlines()) if line]

    def _known_of(self, path: str) -> KnownAuthors:
        head = self._pages.absorb.heads.get(path)
        known = self._known.get(path) or self._load_known(path)
        if head.edit is None and head.sha256 is None:
            return NOTHING  # it never existed, or its only edit did not happen
        if head.edit is None or known.edit != head.edit:
            is_first = known is NOTHING  # the whole journal was read
            with self._store.reading():
                known, count = self._catch_up(path, known, head.edit)
                if count >= (_SAVE_EVERY if path == STATE and not is_first else 1):
                    self._remember(path, known)
        self._known[path] = known
        return known

    def _catch_up(self, path: str, known: KnownAuthors, head: str | None) -> tuple[KnownAuthors, int]:
        edits = self._edits_since(path, known.edit, head)
        if edits is None or (path == STATE and any(map(_is_restore, edits))):
            known, edits = NOTHING, self._edits_since(path, None, head) or []
        if path == STATE:
            now = self._pages.absorb.head_bytes(path)
            return state_authors(_versions(edits, now), known, self._file.sound), len(edits)
        known = line_authors(edits, known)
        if known.lines:
            there = set(self._lines_now(path))
            lines = {line: author for line, author in known.lines.items() if line in there}
            known = KnownAuthors(known.edit, {}, {}, lines)
        return known, len(edits)

    def _edits_since(self, path: str, last: str | None, head: str | None) -> list[Edit] | None:
        """Return a page's edits after `last` (None: all), up to its head, oldest first; None if `last` is not found."""
        found: list[Edit] = []
        for edit in self._pages.history.back(path):
            if edit.id == last:
                return found[::-1]
            if edit.id == head:
                found.clear()  # edits after the head are not absorbed yet
            found.append(edit)
        return found[::-1] if last is None else None

    def _load_known(self, path: str) -> KnownAuthors:
        try:
            raw = self._read_view()[path]
            by_value = ((tuple(map(str, value)), author, edit) for value, author, edit in raw["values"])
            values = {value: Origin(str(author), str(edit)) for value, author, edit in by_value}
            highest = {str(name): int(number) for name, number in dict(raw["highest"]).items()}
            lines = {str(line): str(author) for line, author in dict(raw["lines"]).items()}
            return KnownAuthors(str(raw["edit"]), values, highest, lines)
        except (LookupError, TypeError, ValueError):
            return NOTHING

    def _read_view(self) -> dict[str, Any]:
        if self._view is None:
            pages = load_view(self._store, VIEW, SCHEMA).get("pages")
            self._view = pages if isinstance(pages, dict) else {}
        return self._view

    def _remember(self, path: str, known: KnownAuthors) -> None:
        self._view = None  # other processes write it too
        pages = self._read_view()
        pages[path] = {
            "edit": known.edit,
            "values": [[list(value), by.author, by.edit] for value, by in known.values.items()],
            "highest": known.highest,
            "lines": known.lines,
        }
        save_view(self._store, VIEW, records.encode({"schema": SCHEMA, "pages": pages}))


def _rank(by: Origin) -> tuple[bool, str]:
    return by.author in _FOUND, by.edit


def _versions(edits: Sequence[Edit], now: bytes | None) -> list[Version]:
    """Return the page after each of its edits where the journal has it: backwards from now, else forwards. What a
    missing record wrote has an unknown author."""
    found: list[Version] = []
    page, is_known = now, True
    for at, edit in reversed(list(enumerate(edits))):
        if edit.new is None:
            page, is_known = None, True
        is_known = is_known and sha256_or_none(page) == edit.new
        found.append((edit, page if is_known else None, is_known))
        try:
            page = backward(edit, page) if is_known else None
        except BrokenEdit:
            is_known = False
        if is_known and page is not None and at and edits[at - 1].new != edit.base:
            lost = Edit(edit.id, edit.ts, edit.path, UNKNOWN, "", None, edit.base, ())
            found.append((lost, page, True))
    found.reverse()
    page = None
    for at, (edit, data, is_known) in enumerate(found):
        try:
            page = data if is_known else forward(edit, page)
            found[at] = edit, page, True
        except BrokenEdit:
            page = None
    return found


# --- the state --------------------------------------------------------------------------

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
        here: bool = False,
    ) -> Receipt:
        """Set the goal and the current work; "" clears. Conventions are merged into the present ones, and None or ""
        removes one. Blockers replace all present ones. `here`: even what is private, where git tracks the folder."""
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
        reason = f"set: {', '.join(names)}" if names else "nothing set"
        return self._edit(change, author, reason, words.said, here=here)

    def add_task(
        self, title: str, status: str = "open", *, author: str | None = None, here: bool = False
    ) -> Receipt:
        """Add a task. A title is there once; a status other than `open` replaces the present one. `here`: as in
        `update`."""
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

        return self._edit(change, author, f"task: {title}", words.said, here=here)

    def done(self, name: str, *, author: str | None = None) -> Receipt:
        """Mark a task as done, by id or title: it becomes an episode."""
        which = StateText(self._redact).which(name, "id or title of a task")

        def change(state: Values, ts: float) -> StateChange:
            task = find_task(items_of(state, "tasks_open"), name)
            return self._move(state, ts, is_done=lambda each: each is task)

        return self._edit(change, author, f"task done: {which}", [])

    def decide(self, title: str, why: str = "", *, author: str | None = None, here: bool = False) -> Receipt:
        """Add a decision. The same one is there once. `here`: as in `update`."""
        words = StateText(self._redact)
        title, why = words.title(title, "decision"), words.line(why, "why")

        def change(state: Values, ts: float) -> StateChange:
            return self._move(state, ts, decided=[(title, why)])

        return self._edit(change, author, f"decided: {title}", words.said, here=here)

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

    def block(self, text: str, *, author: str | None = None, here: bool = False) -> Receipt:
        """Add a blocker. `here`: as in `update`."""
        words = StateText(self._redact)
        text = words.title(text, "blocker")

        def change(state: Values, ts: float) -> Values:
            there = items_of(state, "blockers")
            is_there = any(blocker_text(each).casefold() == text.casefold() for each in there)
            return state if is_there else state | {"blockers": [*there, text]}

        return self._edit(change, author, f"blocker: {text}", words.said, here=here)

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

    def _edit(
        self, change: Draft, author: str | None, reason: str, said: list[str], *, here: bool = False
    ) -> Receipt:
        author = author_of(author)

        def make(state: Values) -> StateChange:
            ts = clock.now()
            found = change(state, ts)
            found = found if isinstance(found, StateChange) else self._move(found, ts)
            if found.state == state:
                return found
            if not here:
                self._refuse_private(state, found.state)
            state = found.state | {"updated_at": moment(ts)}
            return StateChange(state, found.settled, found.parked, found.done)

        receipt = self._change(make, clock.now(), author, reason, [])
        for sentence in said:
            self._note(sentence)
        return receipt if not said else receipt.but(held=(*receipt.held, *said))

    def _refuse_private(self, before: Values, after: Values) -> None:
        """Refuse new words that are private, if git tracks the folder."""
        held = set(values_of(before))
        # A title is a value of its own; what is told of it is judged by itself.
        lines = (
            ": ".join(each[1:] if len(each) < _TOLD else each[-1:])
            for each in values_of(after)
            if each not in held
        )
        kinds = self._parts.kept_out("", lines)
        if kinds:
            raise Refused(
                f"{STATE} was not changed: this is private ({kinds}), and git tracks the folder. Say it without that. "
                "`looseleaf remember --home` keeps it in the home memory; `--here` writes it here all the same."
            )

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
