"""Pages: reading and changing them.

Every change goes through `_edit`: absorb first, then one journaled edit from the exact bytes that were read. Readers
get what the folder says now.
"""

from __future__ import annotations

import re
from functools import cached_property, partial

from looseleaf.base import ids as clock
from looseleaf.base.errors import (
    Busy,
    Invalid,
    NotFound,
    Outdated,
    Refused,
    Stale,
    Unwritten,
    is_number,
    is_text,
)
from looseleaf.base.ids import new_id
from looseleaf.base.immutable import frozen
from looseleaf.base.paths import DRAWERS, PEOPLE_ONLY, PROFILE, USER, page_path, safe_name, same_name
from looseleaf.base.values import ANY, Edit, Receipt, sha256
from looseleaf.log.journal import AGENT, PERSON, PROGRAM, make_edit, record_of
from looseleaf.pages.outside_edits import TOP, OutsideEdits
from looseleaf.store import JOURNAL
from looseleaf.store.reading import read_and_write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Protocol, TypeVar

    from looseleaf.base.values import Ended, Episode, Fact, PageText, Record
    from looseleaf.pages.history import History
    from looseleaf.pages.outside_edits import Others
    from looseleaf.store.context import Context

    T = TypeVar("T")

    class Needs(Others, Protocol):
        def settle(self) -> None:
            """Apply what a person ticked in review."""

        def undone(self, path: str, edit: str, head: bytes | None) -> bytes | None:
            """Return a page without an edit of this machine, where other machines wrote since."""

    class Door(Protocol):
        """Decides which part of a change may enter a page, and reports the rest. Looking changes nothing."""

        def look(self, path: str, author: str, old: bytes | None, new: bytes | None) -> Entering: ...

        def ask(self, path: str, author: str, made: Any, old: bytes | None) -> tuple[str, tuple[str, ...]]:
            """Ask a person about what was held back; return that edit, and a sentence per line for the receipt."""

    class Entering(Protocol):
        """A change as the door lets it in."""

        @property
        def new(self) -> bytes | None: ...
        @property
        def said(self) -> Rewritten: ...
        @property
        def is_held(self) -> bool:
            """True if part of the change was held back."""


@frozen
class Rewritten:
    """The new text of a page, what is known of its facts, and which are no longer true (`values.Edit`)."""

    text: str
    facts: tuple[Record, ...] = ()
    ended: tuple[Ended, ...] = ()


NOTHING_SAID = Rewritten("")


class Page:
    """A page as it was read. `sha256` is None if there is no page."""

    def __init__(self, path: str, data: bytes | None) -> None:
        self.path = path
        self.data = data or b""
        self.exists = data is not None

    def __repr__(self) -> str:
        return f"Page({self.path!r}, {f'{len(self.data)} bytes' if self.exists else 'which does not exist'})"

    @cached_property
    def sha256(self) -> str | None:
        return sha256(self.data) if self.exists else None

    @cached_property
    def text(self) -> str:
        """The page's text. Bytes that are not UTF-8 show as U+FFFD; the file keeps them."""
        return self.data.decode("utf-8", "replace")

    @cached_property
    def parsed(self) -> PageText:
        from looseleaf.pages.grammar import parse

        return parse(self.path, self.text)

    @property
    def facts(self) -> tuple[Fact, ...]:
        return self.parsed.facts

    @property
    def episodes(self) -> tuple[Episode, ...]:
        return self.parsed.episodes

    @property
    def summary(self) -> str | None:
        return self.parsed.summary


def try_to(act: Callable[[], T], note: Callable[[str], None]) -> T | None:
    """Do an act. A refusal is noted, and stops nothing else; a disk that cannot write stops everything."""
    try:
        return act()
    except (Unwritten, Busy, Outdated):
        raise
    except Refused as refused:
        note(str(refused))
        return None


_TRIES = 100
"""How often a change is retried while something else saves the page, before it is refused."""


def make_edits(context: Context, others: Others) -> OutsideEdits:
    make = OutsideEdits
    if not context.store.edited_outside:
        from looseleaf.pages.program_edits import ProgramEdits as make
    return make(context.store, context.policy, context.note, others)


class Pages:
    """The pages of a memory, as its agent reads and changes them."""

    def __init__(self, context: Context, parts: Needs) -> None:
        self._store, self._policy = context.store, context.policy
        self._agent, self._note = context.agent, context.note
        self._parts = parts
        self.absorb = make_edits(context, parts)
        """Called, it journals people's changes in the folder; it also knows the head of each page."""
        self.in_a_row = False
        """Set while several pages are edited in a row: only the edited page is checked, and the rest of the folder if
        that page changed. The caller absorbs before, and now and then."""

    def close(self) -> None:
        """Save the heads for the next process."""
        self.absorb.heads.save(now=True)

    @cached_property
    def history(self) -> History:
        from looseleaf.pages.history import History

        return History(self._store)

    # --- reading -----------------------------------------------------------------------

    def absorb_to_read(self, folders: Sequence[str] = ("", *DRAWERS)) -> None:
        """Absorb before reading. A full or read-only disk does not prevent reading: changes are journaled later.

        Applies what a person ticked in review first, so that the reader sees it.
        """
        try:
            if any(edit.path.startswith("review/") for edit in self.absorb(folders)):
                self._parts.settle()
        except (Unwritten, Busy) as error:
            self._note(str(error))

    def are_absorbed(self, *paths: str) -> bool:
        """True if nothing has to be absorbed before these pages are read."""
        try:
            return self.absorb.are_absorbed(paths)
        except Refused:
            return False  # absorbing says why

    def page(self, path: str) -> Page:
        """Return a page as it is now."""
        path = page_path(path)
        if not self.are_absorbed(path):
            self.absorb_to_read()
        return Page(path, self.absorb.read(path))

    def top(self, path: str) -> Page:
        """Return a top-level page as it is now; checks no drawer."""
        self.absorb_to_read(TOP)
        return Page(path, self.absorb.read(path))

    def texts(self, paths: Sequence[str]) -> list[str]:
        """Return the last journaled texts of pages; "" for a missing one."""
        return [Page(path, self.absorb.head_bytes(path)).text for path in paths]

    def paths(self) -> list[str]:
        """Return the paths of all pages."""
        self.absorb_to_read()
        return self.absorb.pages()

    def page_as_of(self, path: str, when: str | float) -> Page:
        """Return a page as of a time: an ISO date or date and time (its last moment), or epoch seconds."""
        path = page_path(path)
        if isinstance(when, str):
            from looseleaf.text.times import parse_when

            when = parse_when(when)
        if not is_number(when):
            raise Invalid(f"{when!r} is not a time. Give a date (2026-03-05) or seconds since 1970.")
        self.absorb_to_read()
        data, is_sure = self.history.as_of(path, when, self.absorb.head_bytes(path))
        if not is_sure:
            self._note(
                f"{path} may have been different then: a later record of its journal is missing. "
                "`looseleaf check` shows where."
            )
        return Page(path, data)

    def log(self, path: str | None = None) -> Iterator[Edit]:
        """Yield the edits of a page, or of all, newest first."""
        if path is not None:
            path = page_path(path)
        self.absorb_to_read()
        return self.history.back(path)

    def versions(self, edit: Edit) -> tuple[bytes | None, bytes | None]:
        """Return a page before and after one of its edits."""
        self.absorb_to_read()
        now = self.absorb.head_bytes(edit.path)
        return self.history.before(edit, now), self.history.after(edit, now)

    def restore(self) -> list[str]:
        """Restore missing pages from the journal; return their paths. Nothing is journaled: they are as they were."""
        restored: list[str] = []
        with self.absorb.threads, self._store.lock():
            self.absorb.know()
            for path, head in sorted(self.absorb.heads.pages.items()):
                if head.sha256 is None or self._store.stat(path) is not None:
                    continue
                data = self.absorb.head_bytes(path)
                if data is None:
                    self._note(f"{path} was not restored: a record of its journal is damaged.")
                    continue
                self.absorb.put_back(path, data, None)
                restored.append(path)
            self.absorb.note_found(restored)
        return restored

    # --- changing ----------------------------------------------------------------------

    def edit(
        self,
        path: str,
        change: Callable[[str], str] | str,
        *,
        base: str | None = ANY,
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Change a page. `change` is its new text, or a function from the old text to the new; `reason` says why.

        The author is this memory's agent unless given: `person`, `program`, `agent:<name>`.

        With `base` (the `sha256` that was read; None: there was no page), a page changed since is left alone: Stale.
        Without it, the change is made to the page as it is now, again if need be.
        """
        return self._edit(page_path(path), _to_bytes(path, change), base, author, reason)

    def edit_through(
        self,
        door: Door,
        path: str,
        change: Callable[[str], str] | str | None,
        *,
        base: str | None = ANY,
        reason: str,
    ) -> Receipt:
        """Change a page (None: remove it) as far as a door lets the change in."""
        to_bytes = _to_bytes(path, change) if change is not None else _remove_page
        return self._edit(page_path(path), to_bytes, base, None, reason, door)

    def patch(
        self,
        path: str,
        patches: Sequence[tuple[str, str]],
        *,
        base: str | None = ANY,
        reason: str,
        author: str | None = None,
    ) -> Receipt:
        """Replace texts one after another, each found exactly once in the page by then; all or none."""
        from looseleaf.text.diff import patched

        change = _to_bytes(path, lambda text: patched(path, text, patches))
        return self._edit(page_path(path), change, base, author, reason)

    def delete(self, path: str, *, base: str | None = ANY, reason: str, author: str | None = None) -> Receipt:
        """Remove a page. Its history stays, and `undo` brings it back."""
        return self._edit(page_path(path), _remove_page, base, author, reason)

    def undo(self, path: str | None = None, *, author: str | None = None) -> tuple[Edit, Receipt]:
        """Undo the last edit (of a page) not yet undone; return that edit and the receipt of the undo."""
        return read_and_write(self._store, lambda: self._undo(path, author))

    def _undo(self, path: str | None, author: str | None) -> tuple[Edit, Receipt]:
        self.absorb()
        target = self.history.last_to_undo(page_path(path) if path is not None else None)
        if target is None:
            raise NotFound(
                f"Nothing was undone: {path or 'this memory'} has no edit left to undo. `looseleaf log` shows all."
            )

        since = self.history.merged_since(target)

        def change(old: bytes | None) -> bytes | None:
            return (
                self._parts.undone(target.path, target.id, old) if since else self.history.before(target, old)
            )

        head = ANY if since else target.new
        return target, self._edit(
            target.path, change, head, author, f"undo: {target.reason}", undoes=target.id
        )

    def rewrite(
        self, path: str, change: Callable[[str], Rewritten], *, reason: str, author: str = PROGRAM
    ) -> Receipt:
        """Change a page, with more about its facts than the page says. `change` may be called again."""
        return self._edit(page_path(path), lambda old: change(_decode_page(path, old)), ANY, author, reason)

    def _edit(
        self,
        path: str,
        change: Callable[[bytes | None], bytes | Rewritten | None],
        base: str | None,
        author: str | None,
        reason: str,
        door: Door | None = None,
        undoes: str | None = None,
    ) -> Receipt:
        author = self._check_author(author)
        if not is_text(reason) or not reason.strip():
            why = "no reason was given. Say in a few words why, for the journal."
            raise Invalid(f"{path} was not changed: {why}")
        if author != PERSON and any(same_name(path, only) for only in PEOPLE_ONLY):
            why = "only people write it. Propose the change to the user instead."
            raise Refused(f"{path} was not changed: {why}")
        for attempt in range(_TRIES):
            with self.absorb.threads:
                if attempt or not self.in_a_row:
                    self.absorb()
                self.absorb.refuse_held(path)
                try:
                    receipt = self._try_edit(path, change, base, author, reason, undoes, door)
                except Stale:
                    if base != ANY:
                        raise
                    continue  # saved meanwhile: apply ours on top of that
            if receipt is not None:
                return receipt
        raise Refused(
            f"{path} was not changed: something else keeps saving it. Close the program that does, and try again."
        )

    def _check_author(self, author: str | None) -> str:
        """Return the author to record. Only edits found on disk are `external`; no caller may claim that."""
        if author is None:
            return f"{AGENT}{self._agent}"
        if author in (PERSON, PROGRAM):
            return author
        if is_text(author) and author.startswith(AGENT):
            return AGENT + safe_name(author.removeprefix(AGENT), "agent's name")
        raise Invalid(
            f"Nothing was changed: the author {author!r} is not known. Use person, program or agent:<name>."
        )

    def _try_edit(
        self,
        path: str,
        change: Callable[[bytes | None], bytes | Rewritten | None],
        base: str | None,
        author: str,
        reason: str,
        undoes: str | None,
        door: Door | None,
    ) -> Receipt | None:
        """Try once; None if the page was changed outside since it was absorbed."""
        with self._store.lock():
            heads = self.absorb.heads
            heads.catch_up()
            document = self._store.get(path, self._policy.page_bytes)
            old, current = (document.data, document.sha256) if document else (None, None)
            if current != heads.get(path).sha256:
                return None
            if base not in (ANY, current):
                raise Stale(path, base, current)
            changed = change(old)
            said = changed if isinstance(changed, Rewritten) else NOTHING_SAID
            new = encode_page(path, changed.text) if isinstance(changed, Rewritten) else changed
            entering: Entering | None = None
            if door is not None and new != old:
                entering = door.look(path, author, old, new)
                new, said = entering.new, entering.said
            is_held = entering is not None and entering.is_held
            if old is None and new == b"" and (changed is said or is_held):
                new = None  # nothing was written on a missing page
            if new is not None and len(new) > self._policy.page_bytes:
                raise Invalid(
                    f"{path} was not changed: it would have {len(new):,} bytes, and a page has at most "
                    f"{self._policy.page_bytes:,}. Put part of it on another page."
                )
            asked, held = door.ask(path, author, entering, old) if door and entering else ("", ())
            if new == old and undoes is None:
                return Receipt(asked, path, current, current, 0, 0, changed=False, held=held)
            make = partial(make_edit, undoes=undoes, known_base=current, facts=said.facts, ended=said.ended)
            edit = make(new_id(), clock.now(), path, author, reason, old, new)
            if undoes is not None:
                edit = self.history.with_summary_author(edit)
            if new == old:  # what is undone does not stand any more
                self._store.append(JOURNAL, [record_of(edit)])
            elif new is not None:
                self._store.put(path, new, base=edit.base, record=record_of(edit))
            else:
                self._store.delete(path, base=edit.base or "", record=record_of(edit))
            heads.catch_up()
            if edit.new is not None:
                heads.seen[path] = edit.new
            return Receipt(edit.id, path, edit.base, edit.new, edit.added, edit.removed, held=held)


def _to_bytes(path: str, change: Callable[[str], str] | str) -> Callable[[bytes | None], bytes]:
    if not isinstance(change, str) and not callable(change):
        raise Invalid(
            f"{path} was not changed: {change!r} is not text. Give the new text, or a function of the old one."
        )
    return lambda old: encode_page(
        path, change if isinstance(change, str) else change(_decode_page(path, old))
    )


def _remove_page(old: bytes | None) -> bytes | None:
    return None


def _decode_page(path: str, old: bytes | None) -> str:
    try:
        return (old or b"").decode()
    except UnicodeDecodeError:
        raise Refused(
            f"{path} was not changed: it is not UTF-8 text. Save it as UTF-8 with an editor, and try again."
        ) from None


def encode_page(path: str, text: str) -> bytes:
    if not isinstance(text, str):
        raise Invalid(f"{path} was not changed: {text!r} is not text. Give a text.")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(
            f"{path} was not changed: the new text holds {text[error.start]!r}, half of a character. "
            "Leave it out, and try again."
        ) from None


_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def page_of_topic(topic: str, topics: Sequence[str]) -> str:
    """Return the page of a topic: `user` is the profile, a date is that day, a page's own path is itself."""
    from looseleaf.language.topic_words import topic_name

    name = topic.strip()
    if not name:
        raise Invalid("The topic is empty. Give a word or two, such as cooking, or user.")
    if name.casefold() in (USER, PROFILE.casefold()):
        return PROFILE
    if name.endswith(".md") or "/" in name:
        return page_path(name)
    if _DATE.fullmatch(name):
        return f"days/{name}.md"
    return page_path(f"facts/{topic_name(name, topics)}.md")
