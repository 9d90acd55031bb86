"""Provenance: the authors of a page's words, from the journal's edits (FORMAT §13.1).

Invariant: a value of the state belongs to its first author while it stays in every version, however the file is
spelled; rewriting a file vouches for nothing in it. A view keeps the authors by the page's last edit, so that an
unchanged page costs nothing.
"""

from __future__ import annotations

import json
import re

from looseleaf.base.hashing import sha256_or_none
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import STATE
from looseleaf.log.journal import EXTERNAL, PERSON, UNKNOWN
from looseleaf.pages.outside_edits import load_view, save_view
from looseleaf.state.file import RESTORED
from looseleaf.state.rules import blocker_text, highest_id, items_of, title_of
from looseleaf.store import records
from looseleaf.text.lines import body

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from looseleaf.base.values import Edit
    from looseleaf.pages.pages import Pages
    from looseleaf.state.file import StateFile
    from looseleaf.state.rules import State
    from looseleaf.store.protocol import Store

    Value = tuple[str, ...]
    Version = tuple[Edit, bytes | None, bool]
    """An edit, the page after it (None: deleted), and whether that is known."""

VIEW = "views/authors.json"
SCHEMA = "authors.v1"

LISTS = {"decisions_recent": "D", "tasks_open": "T"}
"""The lists of a state whose rows have ids, and the letter of these."""

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


def values_of(state: State) -> Iterator[Value]:
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
    versions: Iterable[Version], known: KnownAuthors, sound: Callable[[str | None, bytes], State | None]
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


def _first_author(value: Value, unread: Sequence[tuple[Edit, str]], edit: Edit) -> Origin:
    """Return the author of a new value: of the first broken version that has it, rather than who fixed the file."""
    parts = value[1:2] + value[3:]
    found = next((each for each, text in unread if all(part in text for part in parts)), edit)
    return Origin(found.author, found.id)


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
    is_ours = edit.author not in (EXTERNAL, UNKNOWN)
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

    def values(self) -> dict[Value, Origin]:
        """Return the author of each value of the state (while it is broken: of its last sound version)."""
        return self._known_of(STATE).values

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


def _versions(edits: Sequence[Edit], now: bytes | None) -> list[Version]:
    """Return the page after each of its edits where the journal has it: backwards from now, else forwards. What a
    missing record wrote has an unknown author."""
    from looseleaf.base.values import Edit
    from looseleaf.log.journal import BrokenEdit, backward, forward

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
