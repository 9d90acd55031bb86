"""Provenance: whose words stand on a page, by what the journal says of its edits (FORMAT §13.1).

Invariant: a value of the state is its who first wrote it, for as long as it stays there in one version after the other,
however the file is spelled; rewriting a file vouches for nothing in it. What was read of a page is kept in a view, by
the edit that made the page what it is, so that a page that did not change costs nothing.
"""

from __future__ import annotations

import json
import re

from looseleaf.base.errors import Refused
from looseleaf.base.hashing import sha256_or_none
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import STATE
from looseleaf.log.journal import EXTERNAL, PERSON, UNKNOWN
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
    """An edit, the page after it (None: it is gone), and whether that is known."""

VIEW = "views/authors.json"
SCHEMA = "authors.v1"

LISTS = {"decisions_recent": "D", "tasks_open": "T"}
"""The lists of a state whose rows have ids, and how these begin."""

_SHOWN = ("id", "why", "ts", "status", "updated_at")
_OFTEN = 8
"""The view is written again when so many edits of the state were read on from it: fewer are read as quickly. Those of
other pages stand far apart."""

_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@frozen
class Origin:
    """Who put a value into the state, and by which edit."""

    author: str
    edit: str


@frozen
class Known:
    """What was read of a page up to an edit. Of the state: its values, and the highest number of an id that each of its
    lists ever had; of other pages: the lines that a person wrote or that were found on disk, and as whose."""

    edit: str | None
    values: dict[Value, Origin]
    highest: dict[str, int]
    lines: dict[str, str]


NOTHING = Known(None, {}, {}, {})


def values_of(state: State) -> Iterator[Value]:
    """What a state says, each value by the name under which it does."""
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


def authors(
    versions: Iterable[Version], known: Known, sound: Callable[[str | None, bytes], State | None]
) -> Known:
    """What is known of the state after these versions, the oldest first. `sound` reads one; None: it is no state.

    A version that is no state breaks nothing; what first appears in it is its author's, also if another one mends it.
    What an undo or a restoring brings back is whose it was.
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
            unread.append((edit, _plain(edit, data)))
            continue
        again = before.get(edit.new or "") if _brings_back(edit) else None
        if again is None:
            again = {each: held.get(each) or _first(each, unread, edit) for each in values_of(state)}
        held = before[edit.new or ""] = again
        unread.clear()
        for name in LISTS:
            highest[name] = max(highest.get(name, 0), highest_id(items_of(state, name)))
    return Known(last, held, highest, {})


def _first(value: Value, unread: Sequence[tuple[Edit, str]], edit: Edit) -> Origin:
    """Rather whoever may have written it than whoever mended the file."""
    found = next(
        (each for each, text in unread if all(part in text for part in value[1:2] + value[3:])), edit
    )
    return Origin(found.author, found.id)


def _plain(edit: Edit, data: bytes | None) -> str:
    """What can be read of a version that is no state, however its characters are spelled."""
    text = (
        data.decode("utf-8", "replace")
        if data is not None
        else "".join(line for hunk in edit.hunks for line in hunk.added)
    )
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else _letter(found[2]), text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # two halves are one character


def _letter(letter: str) -> str:
    return _LETTERS.get(letter, letter)


def _brings_back(edit: Edit) -> bool:
    return edit.undoes is not None or (
        edit.reason.startswith(RESTORED) and edit.author not in (EXTERNAL, UNKNOWN)
    )


def found_on_disk(edits: Iterable[Edit], known: Known) -> Known:
    """The same of the lines of any other page, without those that somebody else wrote too."""
    lines, last = dict(known.lines), known.edit
    for edit in edits:
        last = edit.id
        added = {line.strip() for hunk in edit.hunks for line in hunk.added} - {""}
        if edit.author in (PERSON, EXTERNAL, UNKNOWN):
            lines |= dict.fromkeys(added, edit.author)
        else:
            for line in added:
                lines.pop(line, None)
    return Known(last, {}, {}, lines)


class Provenance:
    """`trusts`: edits found on disk are a person's."""

    def __init__(self, store: Store, pages: Pages, file: StateFile, *, trusts: bool) -> None:
        self._store = store
        self._file = file
        self._pages = pages
        self._trusts = trusts
        self._known: dict[str, Known] = {}
        self._view: dict[str, Any] | None = None

    def values(self) -> dict[Value, Origin]:
        """The values of the state (while it is broken: of what it last was), and whose they are."""
        return self._of(STATE).values

    def highest(self, name: str) -> int:
        """The highest number of an id that a list of the state ever had."""
        return self._of(STATE).highest.get(name, 0)

    def doubtful(self, path: str) -> list[str]:
        """The lines of a page, or the values of the state, that nobody vouches for. An edit that was journaled as
        nobody's stays that, whatever the setting is now."""
        if path == STATE:
            return [": ".join(value) for value, by in self.values().items() if self._is_doubtful(by.author)]
        lines = self._of(path).lines
        if not any(map(self._is_doubtful, lines.values())):
            return []
        return [line for line in self._now(path) if self._is_doubtful(lines.get(line, ""))]

    def people(self, path: str) -> set[str]:
        """The lines of a page that a person wrote, without their ends."""
        lines = {line for line, by in self._of(path).lines.items() if by in (PERSON, EXTERNAL)}
        text = (self._pages.absorb.head_bytes(path) or b"").decode("utf-8", "replace")
        return {line for line in map(body, text.split("\n")) if line.strip() in lines}

    def _is_doubtful(self, author: str) -> bool:
        return author == UNKNOWN or (author == EXTERNAL and not self._trusts)

    def _now(self, path: str) -> list[str]:
        text = (self._pages.absorb.head_bytes(path) or b"").decode("utf-8", "replace")
        return [line for line in map(str.strip, text.splitlines()) if line]

    # --- keeping up --------------------------------------------------------------------------

    def _of(self, path: str) -> Known:
        head = self._pages.absorb.heads.get(path)
        known = self._known.get(path) or self._remembered(path)
        if head.edit is None and head.sha256 is None:
            # It was never there, or its only edit did not happen.
            return NOTHING
        if head.edit is None or known.edit != head.edit:
            is_first = known is NOTHING  # all of the journal was read for it
            known, count = self._read_on(path, known, head.edit)
            if count >= (_OFTEN if path == STATE and not is_first else 1):
                self._remember(path, known)
        self._known[path] = known
        return known

    def _read_on(self, path: str, known: Known, head: str | None) -> tuple[Known, int]:
        edits = self._since(path, known.edit, head)
        if edits is None or (path == STATE and any(map(_brings_back, edits))):
            known, edits = NOTHING, self._since(path, None, head) or []
        if path == STATE:
            now = self._pages.absorb.head_bytes(path)
            return authors(_versions(edits, now), known, self._file.sound), len(edits)
        known = found_on_disk(edits, known)
        if known.lines:
            there = set(self._now(path))
            lines = {line: author for line, author in known.lines.items() if line in there}
            known = Known(known.edit, {}, {}, lines)
        return known, len(edits)

    def _since(self, path: str, last: str | None, head: str | None) -> list[Edit] | None:
        """The edits of a page behind one of them (None: all), up to its head, oldest first. None: it is not there."""
        found: list[Edit] = []
        for edit in self._pages.history.back(path):
            if edit.id == last:
                return found[::-1]
            if edit.id == head:
                found.clear()  # what came behind it is not looked at yet
            found.append(edit)
        return found[::-1] if last is None else None

    # --- the view ----------------------------------------------------------------------------

    def _remembered(self, path: str) -> Known:
        try:
            return _from_raw(self._read()[path])
        except (LookupError, TypeError, ValueError):
            return NOTHING

    def _read(self) -> dict[str, Any]:
        if self._view is None:
            try:
                document = self._store.get(VIEW)
                raw = records.whole(document.data if document else b"")
                self._view = dict(raw["pages"]) if raw["schema"] == SCHEMA else {}
            except (Refused, LookupError, TypeError, ValueError):
                self._view = {}
        return self._view

    def _remember(self, path: str, known: Known) -> None:
        self._view = None  # others write it too
        pages = self._read()
        pages[path] = {
            "edit": known.edit,
            "values": [[list(value), by.author, by.edit] for value, by in known.values.items()],
            "highest": known.highest,
            "lines": known.lines,
        }
        try:
            self._store.view(VIEW, records.encode({"schema": SCHEMA, "pages": pages}))
        except Refused:
            pass  # read again another time


def _from_raw(raw: Any) -> Known:
    values = {tuple(map(str, value)): Origin(str(author), str(edit)) for value, author, edit in raw["values"]}
    highest = {str(name): int(number) for name, number in dict(raw["highest"]).items()}
    return Known(
        str(raw["edit"]),
        values,
        highest,
        {str(line): str(author) for line, author in dict(raw["lines"]).items()},
    )


def _versions(edits: Sequence[Edit], now: bytes | None) -> list[Version]:
    """The page after each of its edits, where the journal tells: backwards from what it is now, else forwards. Where a
    record is missing between two of them, what was there is nobody's."""
    from looseleaf.base.values import Edit
    from looseleaf.log.journal import Broken, backward, forward

    found: list[Version] = []
    page, is_known = now, True
    for at, edit in reversed(list(enumerate(edits))):
        if edit.new is None:
            page, is_known = None, True
        is_known = is_known and sha256_or_none(page) == edit.new
        found.append((edit, page if is_known else None, is_known))
        try:
            page = backward(edit, page) if is_known else None
        except Broken:
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
        except Broken:
            page = None
    return found
